//! The frame index: rows of features in lanes of eight frames, under boxes that bound them.
//!
//! A search looks for the row nearest to a query. Eight neighbouring frames lie side by side, so their costs are
//! computed at once; each eight have a box (the least and greatest value of every dimension), and so have each 64. What
//! is farther than the best frame so far is passed over, eight boxes at a time: motion is continuous, so neighbours are
//! alike and boxes are tight. The costs and bounds are added up in the same order, and rounding is monotone, so a bound
//! never exceeds a cost inside it even in the last bit: the search finds the very frame that an exhaustive one finds.
//!
//! Source: Holden, Kanoun, Perepichka, Popa, "Learned Motion Matching", SIGGRAPH 2020, section 3 (two layers of boxes).

use std::ops::Range;

use anim_math::lanes::{LANES, Lanes, Level, Simd, SimdBase, dispatch, f32x8, load, splat, store};

/// Which frames a search may return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed<'a> {
    /// Bits that a frame must carry, all of them.
    pub(crate) tags: u32,
    /// Frames to leave out.
    pub(crate) ignore: &'a [Range<usize>],
}

/// A frame and its squared distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearest {
    pub(crate) cost: f32,
    pub(crate) frame: usize,
}

/// The least and greatest value of one dimension in eight neighbouring boxes.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: Lanes,
    high: Lanes,
}

impl Bounds {
    /// Eight boxes with nothing inside: infinitely far from everything.
    const NOTHING: Self = Self {
        low: [f32::INFINITY; LANES],
        high: [f32::NEG_INFINITY; LANES],
    };
}

/// N frames of D dimensions, in blocks of eight frames.
#[derive(Clone, Debug)]
pub(crate) struct FrameIndex {
    /// The dimensions of each feature; D in all.
    groups: Vec<usize>,
    dimensions: usize,
    /// ⌈N / 8⌉ × D: the values of eight frames.
    rows: Vec<Lanes>,
    /// ⌈N / 64⌉ × D: boxes around eight frames.
    small: Vec<Bounds>,
    /// ⌈N / 512⌉ × D: boxes around 64 frames.
    large: Vec<Bounds>,
    /// N: the bits of frames that may be found.
    tags: Vec<Option<u32>>,
}

impl FrameIndex {
    /// Of N rows of D values, of which `groups` make one feature each, and of the tags of those that may be found.
    pub(crate) fn new(groups: Vec<usize>, values: &[f32], tags: Vec<Option<u32>>) -> Self {
        let dimensions = groups.iter().sum::<usize>();
        let blocks = tags.len().div_ceil(LANES);
        let mut index = Self {
            rows: vec![[0.0; LANES]; blocks * dimensions],
            small: vec![Bounds::NOTHING; blocks.div_ceil(LANES) * dimensions],
            large: vec![Bounds::NOTHING; blocks.div_ceil(LANES * LANES) * dimensions],
            groups,
            dimensions,
            tags,
        };
        for frame in 0..index.tags.len() {
            let values = &values[frame * dimensions..(frame + 1) * dimensions];
            let found = index.tags[frame].is_some();
            for (dimension, value) in values.iter().enumerate() {
                let (block, lane) = (frame / LANES, frame % LANES);
                index.rows[block * dimensions + dimension][lane] = *value;
                if found {
                    include(&mut index.small, block, dimensions, dimension, *value);
                    include(
                        &mut index.large,
                        block / LANES,
                        dimensions,
                        dimension,
                        *value,
                    );
                }
            }
        }
        index
    }

    /// N.
    pub(crate) fn len(&self) -> usize {
        self.tags.len()
    }

    /// True if a search for frames with all of `tags` may return `frame`.
    pub(crate) fn carries(&self, frame: usize, tags: u32) -> bool {
        self.tags[frame].is_some_and(|own| own & tags == tags)
    }

    /// The D values of `frame`.
    pub(crate) fn row(&self, frame: usize) -> impl ExactSizeIterator<Item = f32> {
        let lane = frame % LANES;
        self.block(frame / LANES).iter().map(move |row| row[lane])
    }

    /// The squared distance of `frame` to `query` in each feature; added up in order they are the cost, to the bit.
    pub(crate) fn costs(&self, frame: usize, query: &[f32]) -> impl Iterator<Item = f32> {
        let lane = frame % LANES;
        let mut pairs = self.block(frame / LANES).iter().zip(query);
        self.groups.iter().map(move |group| {
            let mut sum = 0.0;
            for (row, value) in pairs.by_ref().take(*group) {
                let difference = row[lane] - *value;
                sum += difference * difference;
            }
            sum
        })
    }

    /// The allowed frame nearest to `query` and nearer than `limit`, squared; of equally near ones the first.
    pub(crate) fn nearest(
        &self,
        level: Level,
        query: &[f32],
        allowed: Allowed<'_>,
        limit: f32,
    ) -> Option<Nearest> {
        let mut search = Search::new(self, query, allowed, limit);
        dispatch!(level, simd => search_boxes(simd, &mut search));
        search.found()
    }

    /// As [`nearest`](Self::nearest), looking at every frame.
    pub(crate) fn nearest_of_all(
        &self,
        level: Level,
        query: &[f32],
        allowed: Allowed<'_>,
        limit: f32,
    ) -> Option<Nearest> {
        let mut search = Search::new(self, query, allowed, limit);
        dispatch!(level, simd => search_all(simd, &mut search));
        search.found()
    }

    fn block(&self, block: usize) -> &[Lanes] {
        &self.rows[block * self.dimensions..(block + 1) * self.dimensions]
    }
}

/// Widens box number `place` in one dimension.
fn include(boxes: &mut [Bounds], place: usize, dimensions: usize, dimension: usize, value: f32) {
    let bounds = &mut boxes[place / LANES * dimensions + dimension];
    let lane = place % LANES;
    bounds.low[lane] = bounds.low[lane].min(value);
    bounds.high[lane] = bounds.high[lane].max(value);
}

/// A search under way.
#[derive(Debug)]
struct Search<'a> {
    index: &'a FrameIndex,
    query: &'a [f32],
    allowed: Allowed<'a>,
    limit: f32,
    /// What to beat: at first `limit`, at frame 0 so that a tie does not.
    best: Nearest,
}

impl<'a> Search<'a> {
    fn new(index: &'a FrameIndex, query: &'a [f32], allowed: Allowed<'a>, limit: f32) -> Self {
        // Empty boxes are infinitely far, and must not be looked into.
        let limit = limit.min(f32::MAX);
        let best = Nearest {
            cost: limit,
            frame: 0,
        };
        Self {
            index,
            query,
            allowed,
            limit,
            best,
        }
    }

    fn found(&self) -> Option<Nearest> {
        (self.best.cost < self.limit).then_some(self.best)
    }

    /// Takes the best of eight frames from `first` on.
    fn offer(&mut self, first: usize, costs: &Lanes) {
        for (frame, cost) in (first..self.index.len()).zip(costs) {
            let Nearest {
                cost: best,
                frame: place,
            } = self.best;
            if (*cost < best || *cost == best && frame < place)
                && self.index.carries(frame, self.allowed.tags)
                && !self
                    .allowed
                    .ignore
                    .iter()
                    .any(|range| range.contains(&frame))
            {
                self.best = Nearest { cost: *cost, frame };
            }
        }
    }
}

#[inline(always)]
fn search_all<S: Simd>(simd: S, search: &mut Search<'_>) {
    for block in 0..search.index.len().div_ceil(LANES) {
        visit_block(simd, block, search);
    }
}

#[inline(always)]
fn search_boxes<S: Simd>(simd: S, search: &mut Search<'_>) {
    let index = search.index;
    // A good frame to begin with, from the nearest box, spares most of the others a second look.
    let mut nearest = Nearest {
        cost: search.limit,
        frame: usize::MAX,
    };
    for (group, boxes) in index.large.chunks_exact(index.dimensions).enumerate() {
        if let Some(bounds) = distances(simd, index, boxes, search.query, nearest.cost) {
            for (lane, bound) in bounds.iter().enumerate() {
                if *bound < nearest.cost {
                    nearest = Nearest {
                        cost: *bound,
                        frame: group * LANES + lane,
                    };
                }
            }
        }
    }
    if nearest.frame == usize::MAX {
        return;
    }
    visit_large(simd, nearest.frame, search);
    for (group, boxes) in index.large.chunks_exact(index.dimensions).enumerate() {
        if let Some(bounds) = distances(simd, index, boxes, search.query, search.best.cost) {
            for (lane, bound) in bounds.iter().enumerate() {
                if *bound <= search.best.cost {
                    visit_large(simd, group * LANES + lane, search);
                }
            }
        }
    }
}

/// Looks into a box of 64 frames.
#[inline(always)]
fn visit_large<S: Simd>(simd: S, large: usize, search: &mut Search<'_>) {
    let index = search.index;
    let blocks = index.len().div_ceil(LANES);
    let boxes = &index.small[large * index.dimensions..(large + 1) * index.dimensions];
    if let Some(bounds) = distances(simd, index, boxes, search.query, search.best.cost) {
        for (block, bound) in (large * LANES..blocks).zip(&bounds) {
            if *bound <= search.best.cost {
                visit_block(simd, block, search);
            }
        }
    }
}

/// Looks at eight frames.
#[inline(always)]
fn visit_block<S: Simd>(simd: S, block: usize, search: &mut Search<'_>) {
    let index = search.index;
    let rows = index.block(block);
    if let Some(costs) = distances(simd, index, rows, search.query, search.best.cost) {
        search.offer(block * LANES, &costs);
    }
}

/// One dimension of eight frames or boxes.
trait Dimension {
    /// How far eight values or intervals are from `value`; of either sign.
    fn difference<S: Simd>(&self, simd: S, value: f32) -> f32x8<S>;
}

impl Dimension for Lanes {
    #[inline(always)]
    fn difference<S: Simd>(&self, simd: S, value: f32) -> f32x8<S> {
        load(simd, self) - splat(simd, value)
    }
}

impl Dimension for Bounds {
    #[inline(always)]
    fn difference<S: Simd>(&self, simd: S, value: f32) -> f32x8<S> {
        let value = splat(simd, value);
        let outside = (load(simd, &self.low) - value).max(value - load(simd, &self.high));
        outside.max(splat(simd, 0.0))
    }
}

/// The squared distances of eight frames or boxes to the query; `None` as soon as all are greater than `limit`.
#[inline(always)]
fn distances<S: Simd, D: Dimension>(
    simd: S,
    index: &FrameIndex,
    mut dimensions: &[D],
    mut query: &[f32],
    limit: f32,
) -> Option<Lanes> {
    let limit = splat(simd, limit);
    let mut total = splat(simd, 0.0);
    for group in &index.groups {
        let (own, others) = dimensions.split_at(*group);
        let (values, later) = query.split_at(*group);
        (dimensions, query) = (others, later);
        let mut sum = splat(simd, 0.0);
        for (dimension, value) in own.iter().zip(values) {
            let difference = dimension.difference(simd, *value);
            sum += difference * difference;
        }
        total += sum;
        if !simd.any_true_mask32x8(total.simd_le(limit)) {
            return None;
        }
    }
    let mut out = [0.0; LANES];
    store(total, &mut out);
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    struct Case {
        groups: Vec<usize>,
        values: Vec<f32>,
        tags: Vec<Option<u32>>,
        query: Vec<f32>,
        wanted: u32,
        ignore: Vec<Range<usize>>,
        limit: f32,
    }

    /// Few distinct values, so that ties abound; or walks, so that boxes are tight.
    fn case() -> impl Strategy<Value = Case> {
        (
            prop::collection::vec(1_usize..4, 1..5),
            0_usize..700,
            any::<u64>(),
        )
            .prop_map(|(groups, frames, seed)| {
                let mut random = anim_math::Random::new(seed, 0, 0);
                let dimensions: usize = groups.iter().sum();
                let walks = random.uniform() < 0.5;
                let mut whole = || (random.uniform() * 4.0).floor();
                let mut values: Vec<f32> = (0..frames * dimensions).map(|_| whole()).collect();
                let query = (0..dimensions).map(|_| whole() + 0.5).collect();
                if walks {
                    for place in dimensions..values.len() {
                        values[place] = values[place - dimensions] + (values[place] - 1.5) * 0.1;
                    }
                }
                let tags = (0..frames)
                    .map(|_| (random.uniform() < 0.8).then(|| random.bits() & 3))
                    .collect();
                let start = random.range(0.0, 1.0 + frames as f32) as usize;
                Case {
                    groups,
                    values,
                    tags,
                    query,
                    wanted: [0, 0, 2, 4][random.bits() as usize % 4],
                    ignore: vec![start..start + 40, 0..3],
                    limit: if random.uniform() < 0.5 {
                        f32::INFINITY
                    } else {
                        random.range(-1.0, 9.0)
                    },
                }
            })
    }

    /// The plainest search there is.
    fn naive(case: &Case) -> Option<Nearest> {
        let dimensions = case.query.len();
        let mut best: Option<Nearest> = None;
        for (frame, tags) in case.tags.iter().enumerate() {
            let row = &case.values[frame * dimensions..];
            let mut pairs = row.iter().zip(&case.query);
            let mut cost = 0.0;
            for group in &case.groups {
                let feature = pairs.by_ref().take(*group);
                cost += feature.fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b));
            }
            let carries = tags.is_some_and(|tags| tags & case.wanted == case.wanted);
            let ignored = case.ignore.iter().any(|range| range.contains(&frame));
            let to_beat = best.map_or(case.limit, |best| best.cost);
            if carries && !ignored && cost < to_beat {
                best = Some(Nearest { cost, frame });
            }
        }
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn boxes_and_blocks_find_the_frame_of_a_plain_search(case in case()) {
            let index = FrameIndex::new(case.groups.clone(), &case.values, case.tags.clone());
            let allowed = Allowed { tags: case.wanted, ignore: &case.ignore };
            let expected = naive(&case);
            for level in [Level::new(), Level::baseline()] {
                prop_assert_eq!(index.nearest(level, &case.query, allowed, case.limit), expected);
                prop_assert_eq!(index.nearest_of_all(level, &case.query, allowed, case.limit), expected);
            }
        }

        #[test]
        fn the_costs_of_features_add_up_to_the_cost(case in case()) {
            let index = FrameIndex::new(case.groups.clone(), &case.values, case.tags.clone());
            let allowed = Allowed { tags: 0, ignore: &[] };
            if let Some(found) = index.nearest(Level::new(), &case.query, allowed, f32::INFINITY) {
                let sum = index.costs(found.frame, &case.query).fold(0.0, |sum, cost| sum + cost);
                prop_assert_eq!(sum, found.cost);
            }
        }
    }
}
