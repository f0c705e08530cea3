//! Eight boxes in motion side by side: how they are packed, and which of them come near another one.

use anim_math::lanes::{
    LANES, Lanes, Simd, SimdBase, SimdCombine, SimdMask, SimdSplit, f32x4, f32x8, load, load_all,
    splat, store,
};

/// Eight boxes: in each array x, y, z at the start, then at the end, of all eight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Boxes {
    low: [Lanes; 6],
    high: [Lanes; 6],
}

/// A box at the start and at the end of a motion: x, y, z, 0 at the start, x, y, z, 0 at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct MovingBox {
    pub(super) low: Lanes,
    pub(super) high: Lanes,
}

impl MovingBox {
    /// A box of nothing, apart from all others.
    pub(super) const EMPTY: Self = Self {
        low: [f32::INFINITY; LANES],
        high: [f32::NEG_INFINITY; LANES],
    };

    #[inline(always)]
    pub(super) fn load<S: Simd>(&self, simd: S) -> (f32x8<S>, f32x8<S>) {
        (load(simd, &self.low), load(simd, &self.high))
    }
}

/// What the boxes in eight lanes are compared with: one box in all of them, or eight: x, y, z at the start, then at the end.
#[derive(Clone, Copy)]
pub(super) struct Probe<S: Simd> {
    low: [f32x8<S>; 6],
    high: [f32x8<S>; 6],
}

impl<S: Simd> Probe<S> {
    #[inline(always)]
    pub(super) fn new(simd: S, query: &MovingBox) -> Self {
        let (l, h) = (&query.low, &query.high);
        let low = [l[0], l[1], l[2], l[4], l[5], l[6]];
        let high = [h[0], h[1], h[2], h[4], h[5], h[6]];
        Self {
            low: splat_all(simd, low),
            high: splat_all(simd, high),
        }
    }
}

impl Boxes {
    pub(super) const EMPTY: Self = Self {
        low: [[f32::INFINITY; LANES]; 6],
        high: [[f32::NEG_INFINITY; LANES]; 6],
    };

    /// One of the eight.
    #[inline(always)]
    pub(super) fn probe<S: Simd>(&self, simd: S, lane: usize) -> Probe<S> {
        let (l, h) = (&self.low, &self.high);
        let [low, high] = [
            [
                l[0][lane], l[1][lane], l[2][lane], l[3][lane], l[4][lane], l[5][lane],
            ],
            [
                h[0][lane], h[1][lane], h[2][lane], h[3][lane], h[4][lane], h[5][lane],
            ],
        ];
        Probe {
            low: splat_all(simd, low),
            high: splat_all(simd, high),
        }
    }

    /// A bit for each box that no axis and side separates from the probe both at the start and at the end.
    #[inline(always)]
    pub(super) fn near<S: Simd>(&self, simd: S, probe: &Probe<S>) -> u32 {
        let mut gap = splat(simd, f32::NEG_INFINITY);
        for axis in 0..3 {
            let (start, end) = (axis, axis + 3);
            let above = (load(simd, &self.low[start]) - probe.high[start])
                .min(load(simd, &self.low[end]) - probe.high[end]);
            let below = (probe.low[start] - load(simd, &self.high[start]))
                .min(probe.low[end] - load(simd, &self.high[end]));
            gap = gap.max(above).max(below);
        }
        let is_near = simd.simd_le_f32x8(gap, splat(simd, 0.0));
        is_near.to_bitmask() as u32 & 0xff
    }

    /// All eight, turned by N: lane n is box n + N.
    #[inline(always)]
    pub(super) fn turned<S: Simd, const N: usize>(&self, simd: S) -> Probe<S> {
        Probe {
            low: turn::<S, N>(simd, &self.low),
            high: turn::<S, N>(simd, &self.high),
        }
    }

    /// Replaces one of the eight.
    pub(super) fn set(&mut self, lane: usize, to: &MovingBox) {
        for (row, from) in [0, 1, 2, 4, 5, 6].into_iter().enumerate() {
            self.low[row][lane] = to.low[from];
            self.high[row][lane] = to.high[from];
        }
    }

    /// The box about all eight.
    pub(super) fn whole(&self) -> MovingBox {
        let mut whole = MovingBox::EMPTY;
        for (row, to) in [0, 1, 2, 4, 5, 6].into_iter().enumerate() {
            whole.low[to] = self.low[row].into_iter().fold(f32::INFINITY, f32::min);
            whole.high[to] = self.high[row].into_iter().fold(f32::NEG_INFINITY, f32::max);
        }
        whole
    }

    /// Packs eight boxes and answers the box about all of them.
    #[inline(always)]
    pub(super) fn pack<S: Simd>(
        &mut self,
        low: &[f32x8<S>; LANES],
        high: &[f32x8<S>; LANES],
    ) -> (f32x8<S>, f32x8<S>) {
        transpose(low, &mut self.low);
        transpose(high, &mut self.high);
        let (mut whole_low, mut whole_high) = (low[0], high[0]);
        for k in 1..LANES {
            whole_low = whole_low.min(low[k]);
            whole_high = whole_high.max(high[k]);
        }
        (whole_low, whole_high)
    }
}

/// Not a closure, which would miss the instruction set.
#[inline(always)]
fn splat_all<S: Simd>(simd: S, values: [f32; 6]) -> [f32x8<S>; 6] {
    let [a, b, c, d, e, f] = values;
    [
        splat(simd, a),
        splat(simd, b),
        splat(simd, c),
        splat(simd, d),
        splat(simd, e),
        splat(simd, f),
    ]
}

#[inline(always)]
fn turn<S: Simd, const N: usize>(simd: S, rows: &[Lanes; 6]) -> [f32x8<S>; 6] {
    let [a, b, c, d, e, f] = load_all(simd, rows);
    [
        a.rotate_elements_left::<N>(),
        b.rotate_elements_left::<N>(),
        c.rotate_elements_left::<N>(),
        d.rotate_elements_left::<N>(),
        e.rotate_elements_left::<N>(),
        f.rotate_elements_left::<N>(),
    ]
}

/// From x, y, z, 0, x, y, z, 0 of each of eight to six rows of eight.
#[inline(always)]
fn transpose<S: Simd>(boxes: &[f32x8<S>; LANES], out: &mut [Lanes; 6]) {
    let (mut starts, mut ends) = ([boxes[0].split().0; LANES], [boxes[0].split().1; LANES]);
    for ((start, end), row) in starts.iter_mut().zip(&mut ends).zip(boxes) {
        (*start, *end) = row.split();
    }
    for (first, rows) in [(0, starts), (3, ends)] {
        let left = three_of_four([rows[0], rows[1], rows[2], rows[3]]);
        let right = three_of_four([rows[4], rows[5], rows[6], rows[7]]);
        for axis in 0..3 {
            store(left[axis].combine(right[axis]), &mut out[first + axis]);
        }
    }
}

/// The first three columns of four rows.
#[inline(always)]
fn three_of_four<S: Simd>(rows: [f32x4<S>; 4]) -> [f32x4<S>; 3] {
    let (a, b) = (rows[0].zip_low(rows[2]), rows[1].zip_low(rows[3]));
    let (c, d) = (rows[0].zip_high(rows[2]), rows[1].zip_high(rows[3]));
    [a.zip_low(b), a.zip_high(b), c.zip_low(d)]
}
