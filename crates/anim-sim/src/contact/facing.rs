//! Which parts of the surface face one way, so that their triangles cannot meet each other.
//!
//! Seen from that way they are a map without folds. Nearly all of a cloth is like that at any time, and what need not be
//! compared with its neighbours leaves only true contacts to the rest of the search.
//!
//! Source of the criterion: Volino and Magnenat-Thalmann, "Efficient self-collision detection on smoothly discretized
//! surface animations using geometrical shape regularity", Eurographics 1994.

use anim_math::Vec3;
use anim_math::lanes::{
    LANES, Level, Select, Simd, SimdBase, SimdFloat, SimdMask, dispatch, f32x8, rows_from_lanes,
    splat,
};

use super::lines::Lines;
use super::surface::{RING, Surface};
use crate::xpbd::batch::gather;
use crate::xpbd::real::{add, cross, scale, sub};

/// How the surface faces throughout a motion.
#[derive(Clone, Debug)]
pub(super) struct Facing {
    level: Level,
    /// In which directions each triangle faces; the last is no triangle's and changes no view.
    ///
    /// Twice the area of a triangle times its normal is quadratic in time; the directions of its three Bernstein
    /// coefficients bound it: the unit normal at the start and the longest chord from there to another of the three.
    cones: Vec<[f32; 4]>,
    /// Of each cone: what corners that stray may take, as part of the shortest coefficient.
    needs: Vec<f32>,
    /// By slot: the triangles around it and beyond them the last cone; of none where they are no fan or too many.
    fans: Vec<[u32; LANES]>,
    /// By slot: which way its triangles face, and the chord from there to the farthest view in which all of them still do
    /// so; not positive where there is none.
    views: Vec<[f32; 4]>,
    /// Of each triangle: it and all triangles up to two vertices away face one way.
    is_smooth: Vec<bool>,
    /// All slots or all triangles, whichever are more.
    numbers: Vec<u32>,
    /// Scratch: vertices.
    slots: Marks,
    /// Scratch: triangles.
    again: Marks,
}

/// Faces nowhere and is far behind any view.
const NO_CONE: [f32; 4] = [0.0, 0.0, 0.0, -4.0];

/// A set of indices that is emptied at once.
#[derive(Clone, Debug, Default)]
struct Marks {
    /// Of each index: the round in which it was last put in.
    round_of: Vec<u32>,
    round: u32,
    items: Vec<u32>,
}

impl Marks {
    fn new(count: usize) -> Self {
        Self {
            round_of: vec![0; count],
            ..Self::default()
        }
    }

    fn clear(&mut self) {
        self.items.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.round_of.fill(0);
            self.round = 1;
        }
    }

    /// Holds each of some indices once.
    fn collect(&mut self, indices: impl Iterator<Item = u32>) {
        self.clear();
        for index in indices {
            if !self.contains(index) {
                self.round_of[index as usize] = self.round;
                self.items.push(index);
            }
        }
    }

    #[inline]
    fn contains(&self, index: u32) -> bool {
        self.round_of[index as usize] == self.round
    }
}

impl Facing {
    pub(super) fn new(surface: &Surface) -> Self {
        let (vertices, triangles) = (surface.rest.len(), surface.triangles.len());
        let none = triangles as u32;
        let fan = |vertex| {
            let around = surface.around(vertex);
            let is_whole = surface.is_fan[vertex as usize] && around.len() <= LANES;
            let shown = if is_whole { around } else { &[] };
            std::array::from_fn(|i| shown.get(i).copied().unwrap_or(none))
        };
        Self {
            level: Level::new(),
            cones: vec![NO_CONE; triangles + 1],
            needs: vec![0.0; triangles + 1],
            fans: (0..vertices as u32).map(fan).collect(),
            views: vec![[0.0; 4]; vertices],
            is_smooth: vec![false; triangles],
            numbers: (0..vertices.max(triangles) as u32).collect(),
            slots: Marks::new(vertices),
            again: Marks::new(triangles),
        }
    }

    /// Looks at all triangles on their lines, where each corner may stray by `slack`.
    pub(super) fn look(&mut self, surface: &Surface, lines: &Lines, span: [f32; 2], slack: f32) {
        let numbers = std::mem::take(&mut self.numbers);
        let triangles = &numbers[..self.is_smooth.len()];
        self.face(surface, lines, span, slack, triangles);
        self.view(surface, &numbers[..self.views.len()]);
        self.smooth(surface, triangles);
        self.numbers = numbers;
    }

    /// As [`look`](Self::look) where lines have changed for some triangles; what was seen of the others holds.
    pub(super) fn look_again(
        &mut self,
        surface: &Surface,
        lines: &Lines,
        span: [f32; 2],
        slack: f32,
        triangles: &[u32],
    ) {
        self.face(surface, lines, span, slack, triangles);
        let (mut slots, mut again) = (
            std::mem::take(&mut self.slots),
            std::mem::take(&mut self.again),
        );
        let triangles = triangles.iter().map(|t| *t as usize);
        slots.collect(triangles.clone().flat_map(|t| surface.triangles[t]));
        self.view(surface, &slots.items);
        // Whatever reaches one of those vertices has a corner among those that are reached from there.
        let reached = triangles.flat_map(|t| surface.reached_from(t)).copied();
        slots.collect(reached);
        let around = slots.items.iter().flat_map(|v| surface.around(*v));
        again.collect(around.copied());
        self.smooth(surface, &again.items);
        (self.slots, self.again) = (slots, again);
    }

    /// Finds the cones of some triangles.
    fn face(
        &mut self,
        surface: &Surface,
        lines: &Lines,
        span: [f32; 2],
        slack: f32,
        triangles: &[u32],
    ) {
        let (cones, needs) = (&mut self.cones, &mut self.needs);
        dispatch!(self.level, simd =>
            face(simd, surface, lines, span, slack, triangles, cones, needs));
    }

    /// Finds the views of some vertices.
    fn view(&mut self, surface: &Surface, slots: &[u32]) {
        let (fans, cones, needs, views) = (&self.fans, &self.cones, &self.needs, &mut self.views);
        dispatch!(self.level, simd => view(simd, fans, cones, needs, slots, views));
        for slot in slots.iter().copied() {
            let around = surface.around(slot);
            if around.len() > LANES && surface.is_fan[slot as usize] {
                self.views[slot as usize] = large_fan_view(around, &self.cones, &self.needs);
            }
        }
    }

    /// Finds out whether some triangles are smooth.
    fn smooth(&mut self, surface: &Surface, triangles: &[u32]) {
        let (views, is_smooth) = (&self.views, &mut self.is_smooth);
        dispatch!(self.level, simd => smooth(simd, surface, views, triangles, is_smooth));
        for triangle in triangles.iter().map(|t| *t as usize) {
            let reached = surface.reached_from(triangle);
            if reached.len() > RING && self.is_smooth[triangle] {
                let [x, y, z, _] = self.views[surface.triangles[triangle][0] as usize];
                self.is_smooth[triangle] = reached[RING..].iter().all(|v| {
                    let [ox, oy, oz, room] = self.views[*v as usize];
                    let way = Vec3::new(ox - x, oy - y, oz - z);
                    way.norm_squared() < room * room
                });
            }
        }
    }

    /// True if the triangles around a vertex face one way.
    #[inline]
    pub(super) fn is_open(&self, vertex: u32) -> bool {
        self.views[vertex as usize][3] > 0.0
    }

    /// True if two triangles lie in one patch that faces one way: seen from there it is a map without folds, too small to
    /// wind around, so that they cannot meet.
    #[inline(always)]
    pub(super) fn are_in_one_patch(&self, surface: &Surface, [a, b]: [u32; 2]) -> bool {
        let (a, b) = match self.is_smooth[a as usize] {
            true => (a, b),
            false => (b, a),
        };
        self.is_smooth[a as usize] && surface.reaches(a, b)
    }

    /// True if the plane of one of two triangles keeps them more than `margin` apart on their lines.
    #[inline]
    pub(super) fn are_apart(
        &self,
        surface: &Surface,
        lines: &Lines,
        span: [f32; 2],
        pair: [u32; 2],
        margin: f32,
    ) -> bool {
        let [a, b] = pair.map(|t| surface.triangles[t as usize]);
        pair.iter().any(|t| {
            let [x, y, z, _] = self.cones[*t as usize];
            let normal = Vec3::new(x, y, z);
            let [above, below] = clearances(lines, span[0], a, b, normal);
            let [above_after, below_after] = clearances(lines, span[1], a, b, normal);
            above.min(above_after).max(below.min(below_after)) > margin
        })
    }
}

/// How far triangle `a` lies above `b` along an axis, and how far below.
#[inline]
fn clearances(lines: &Lines, time: f32, a: [u32; 3], b: [u32; 3], axis: Vec3) -> [f32; 2] {
    let base = lines.at(a[0], time);
    let height = |v: u32| (lines.at(v, time) - base).dot(&axis);
    let (a1, a2) = (height(a[1]), height(a[2]));
    let (b0, b1, b2) = (height(b[0]), height(b[1]), height(b[2]));
    [
        a1.min(a2).min(0.0) - b0.max(b1).max(b2),
        b0.min(b1).min(b2) - a1.max(a2).max(0.0),
    ]
}

/// Eight numbers of a list; the last ones again where there are fewer.
#[inline(always)]
fn eight(numbers: &[u32]) -> [u32; LANES] {
    let mut eight = [numbers[numbers.len() - 1]; LANES];
    for (to, from) in eight.iter_mut().zip(numbers) {
        *to = *from;
    }
    eight
}

#[inline(always)]
fn norm_squared<S: Simd>([x, y, z]: [f32x8<S>; 3]) -> f32x8<S> {
    x * x + y * y + z * z
}

/// The first three corners of lines at a time, each from where the line of the first leads.
#[inline(always)]
fn sides<S: Simd>(
    starts: &[[f32x8<S>; 4]; 3],
    velocities: &[[f32x8<S>; 4]; 3],
    time: f32,
) -> [[f32x8<S>; 3]; 2] {
    let mut sides = [[starts[0][0]; 3]; 2];
    for axis in 0..3 {
        let base = starts[0][axis] + velocities[0][axis] * time;
        sides[0][axis] = starts[1][axis] + velocities[1][axis] * time - base;
        sides[1][axis] = starts[2][axis] + velocities[2][axis] * time - base;
    }
    sides
}

/// The cones of triangles, and what straying takes of them.
#[inline(always)]
#[allow(
    clippy::too_many_arguments,
    reason = "what it reads and what it writes, entered from one place"
)]
fn face<S: Simd>(
    simd: S,
    surface: &Surface,
    lines: &Lines,
    span: [f32; 2],
    slack: f32,
    triangles: &[u32],
    cones: &mut [[f32; 4]],
    needs: &mut [f32],
) {
    let one = splat(simd, 1.0);
    let tiny = splat(simd, f32::MIN_POSITIVE);
    for triangles in triangles.chunks(LANES) {
        let mut corners = [[0; LANES]; 3];
        for (lane, triangle) in eight(triangles).into_iter().enumerate() {
            for (slots, slot) in corners.iter_mut().zip(surface.triangles[triangle as usize]) {
                slots[lane] = slot;
            }
        }
        let [a, b, c] = &corners;
        let starts = [
            gather(simd, &lines.start, a),
            gather(simd, &lines.start, b),
            gather(simd, &lines.start, c),
        ];
        let velocities = [
            gather(simd, &lines.velocity, a),
            gather(simd, &lines.velocity, b),
            gather(simd, &lines.velocity, c),
        ];
        let [u0, v0] = sides(&starts, &velocities, span[0]);
        let [u1, v1] = sides(&starts, &velocities, span[1]);
        let first = cross(u0, v0);
        let last = cross(u1, v1);
        let middle = scale(add(cross(u0, v1), cross(u1, v0)), splat(simd, 0.5));
        // Each side changes by what both of its ends stray.
        let long = norm_squared(u0).max(norm_squared(v0));
        let long = long.max(norm_squared(u1)).max(norm_squared(v1)).sqrt() * 2.0;
        let stray = long * (2.0 * slack) + 4.0 * slack * slack;
        let shrink_first = one / norm_squared(first).max(tiny).sqrt();
        let shrink_middle = one / norm_squared(middle).max(tiny).sqrt();
        let shrink_last = one / norm_squared(last).max(tiny).sqrt();
        let normal = scale(first, shrink_first);
        let chord = norm_squared(sub(scale(middle, shrink_middle), normal))
            .max(norm_squared(sub(scale(last, shrink_last), normal)))
            .sqrt();
        let need = stray * shrink_first.max(shrink_middle).max(shrink_last);
        let [x, y, z] = normal;
        let rows = rows_from_lanes(simd, [x, y, z, chord]);
        let need: [f32; LANES] = need.into();
        for (triangle, (row, need)) in triangles.iter().zip(rows.into_iter().zip(need)) {
            cones[*triangle as usize] = row;
            needs[*triangle as usize] = need;
        }
    }
}

/// The mean direction in which the triangles around a vertex face, and how far from it others may look at them.
///
/// Seen at the angle θ an area counts cos θ of its size: more than a half, within which angles do not grow so much that the
/// fan could wind around twice, and more than what straying corners take. The chord 2 sin θ/2 between unit vectors obeys
/// the triangle inequality.
#[inline(always)]
fn view<S: Simd>(
    simd: S,
    fans: &[[u32; LANES]],
    cones: &[[f32; 4]],
    needs: &[f32],
    slots: &[u32],
    views: &mut [[f32; 4]],
) {
    let zero = splat(simd, 0.0);
    let one = splat(simd, 1.0);
    let none = needs.len() as u32 - 1;
    for slots in slots.chunks(LANES) {
        // In each row one triangle of each of eight fans.
        let mut rows = [[none; LANES]; LANES];
        let mut count = 0;
        for (lane, slot) in slots.iter().enumerate() {
            for (place, triangle) in fans[*slot as usize].into_iter().enumerate() {
                rows[place][lane] = triangle;
                count = if triangle == none {
                    count
                } else {
                    count.max(place + 1)
                };
            }
        }
        let rows = &rows[..count];
        let mut sum = [zero; 3];
        for row in rows {
            let [x, y, z, _] = gather(simd, cones, row);
            sum = add(sum, [x, y, z]);
        }
        let squared = norm_squared(sum);
        let is_some = squared.simd_gt(zero);
        let shrink = is_some.select(one / squared.sqrt(), zero);
        let view = scale(sum, shrink);
        let (mut farthest, mut least_cosine) = (zero, splat(simd, 0.5));
        for row in rows {
            let [x, y, z, chord] = gather(simd, cones, row);
            farthest = farthest.max(norm_squared(sub([x, y, z], view)).sqrt() + chord);
            let mut need = [0.0; LANES];
            for (need, triangle) in need.iter_mut().zip(row) {
                *need = needs[*triangle as usize];
            }
            least_cosine = least_cosine.max(f32x8::from_slice(simd, &need));
        }
        let chord = ((one - least_cosine) * 2.0).max(zero).sqrt();
        let room = is_some.select((chord - farthest).max(zero), zero);
        let [x, y, z] = view;
        let rows = rows_from_lanes(simd, [x, y, z, room]);
        for (slot, row) in slots.iter().zip(rows) {
            views[*slot as usize] = row;
        }
    }
}

/// [`view`] of a fan of any size.
fn large_fan_view(around: &[u32], cones: &[[f32; 4]], needs: &[f32]) -> [f32; 4] {
    let normal = |triangle: u32| {
        let [x, y, z, _] = cones[triangle as usize];
        Vec3::new(x, y, z)
    };
    let sum: Vec3 = around.iter().map(|t| normal(*t)).sum();
    let Some(view) = sum.try_normalize(0.0) else {
        return [0.0; 4];
    };
    let (mut farthest, mut least_cosine) = (0.0f32, 0.5f32);
    for triangle in around {
        let chord = cones[*triangle as usize][3];
        farthest = farthest.max((normal(*triangle) - view).norm() + chord);
        least_cosine = least_cosine.max(needs[*triangle as usize]);
    }
    let chord = (2.0 * (1.0 - least_cosine)).max(0.0).sqrt();
    [view.x, view.y, view.z, (chord - farthest).max(0.0)]
}

/// Whether the view from the first corner of a triangle serves all vertices in its ring.
#[inline(always)]
fn smooth<S: Simd>(
    simd: S,
    surface: &Surface,
    views: &[[f32; 4]],
    triangles: &[u32],
    is_smooth: &mut [bool],
) {
    for triangles in triangles.chunks(LANES) {
        let mut corners = [0; LANES];
        let mut rings = [[0; LANES]; RING];
        let mut count = 0;
        for (lane, triangle) in eight(triangles).into_iter().enumerate() {
            corners[lane] = surface.triangles[triangle as usize][0];
            let ring = &surface.ring[triangle as usize];
            count = count.max(ring.count.min(RING));
            for (row, slot) in rings.iter_mut().zip(ring.slots) {
                row[lane] = slot;
            }
        }
        let [x, y, z, room] = gather(simd, views, &corners);
        let mut is_served = room.simd_gt(splat(simd, 0.0));
        for row in &rings[..count] {
            let [ox, oy, oz, room] = gather(simd, views, row);
            let way = norm_squared(sub([ox, oy, oz], [x, y, z]));
            is_served &= way.simd_lt(room * room);
        }
        let bits = is_served.to_bitmask();
        for (lane, triangle) in triangles.iter().enumerate() {
            is_smooth[*triangle as usize] = bits >> lane & 1 == 1;
        }
    }
}
