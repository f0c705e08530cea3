//! Blocks of eight vertices and the joint list each shares: what makes skinning free of gathers.
//!
//! Vertices are sorted by the joints that move them, so neighbours share most of their joints. A block stores the union
//! of its vertices' joints and, for each, eight weights (0 where a vertex does not follow that joint). A matrix is then
//! loaded once for eight vertices, and any number of influences is the same loop.

use anim_math::lanes::{LANES, Lanes};

use crate::weight_rows::WeightRows;

/// Eight weights of one joint, aligned so that a load never crosses a cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct WeightLanes(pub(crate) Lanes);

/// ⌈V / 8⌉ joint lists and their weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkinBlocks {
    ends: Vec<usize>,
    joints: Vec<u16>,
    weights: Vec<WeightLanes>,
    lists: Vec<JointList>,
}

/// What a kernel may do with the joint list of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum JointList {
    /// Some vertex does not follow the first joint, or the list is long: only sums over all joints are exact.
    Mixed,
    /// All eight vertices follow the first joint, so that the others count as departures from it.
    Anchored,
    /// The same, and the list is that of the block before.
    Repeated,
}

/// Departures from the first joint that a kernel has room for.
pub(crate) const MAX_DEPARTURES: usize = 7;

impl SkinBlocks {
    /// Packs `rows` in the order given by `source_from_vertex`; spare lanes repeat the last vertex.
    pub(crate) fn new(rows: &WeightRows, source_from_vertex: &[u32]) -> Self {
        let mut blocks = Self::default();
        let mut union = Vec::new();
        let mut before = 0;
        for sources in source_from_vertex.chunks(LANES) {
            union.clear();
            for source in sources {
                union.extend_from_slice(rows.joints(*source as usize));
            }
            union.sort_unstable();
            union.dedup();
            let start = blocks.joints.len();
            blocks.joints.extend_from_slice(&union);
            blocks
                .weights
                .resize(start + union.len(), WeightLanes([0.0; LANES]));
            for lane in 0..LANES {
                let source = sources[lane.min(sources.len() - 1)] as usize;
                for (joint, weight) in rows.row(source) {
                    let place = union.partition_point(|other| *other < joint);
                    blocks.weights[start + place].0[lane] = weight;
                }
            }
            blocks.ends.push(blocks.joints.len());
            blocks.push_list(before, start);
            before = start;
        }
        blocks
    }

    /// Says what the joint list of the last block is like, which begins at `start`, and the one before it at `before`.
    fn push_list(&mut self, before: usize, start: usize) {
        let (last, list) = (&self.joints[before..start], &self.joints[start..]);
        let is_anchored = list.len() <= 1 + MAX_DEPARTURES
            && self.weights[start].0.iter().all(|weight| *weight != 0.0);
        self.lists.push(match self.lists.last() {
            _ if !is_anchored => JointList::Mixed,
            Some(JointList::Anchored | JointList::Repeated) if last == list => JointList::Repeated,
            _ => JointList::Anchored,
        });
    }

    /// Where in `joints` and `weights` each of the blocks from `first` on ends, and where the first begins.
    #[inline(always)]
    pub(crate) fn ends_from(&self, first: usize) -> (usize, &[usize]) {
        let start = if first == 0 { 0 } else { self.ends[first - 1] };
        (start, &self.ends[first..])
    }

    /// What the joint lists of the blocks from `first` on are like.
    #[inline(always)]
    pub(crate) fn lists_from(&self, first: usize) -> &[JointList] {
        &self.lists[first..]
    }

    /// The places and weights of the joints of the block of `vertex`, block order.
    pub(crate) fn influences(&self, vertex: usize) -> impl Iterator<Item = (usize, f32)> + Clone {
        let (start, ends) = self.ends_from(vertex / LANES);
        let entries = start..ends[0];
        let joints = self.joints[entries.clone()].iter();
        let weights = self.weights[entries].iter();
        let weights = weights.map(move |weights| weights.0[vertex % LANES]);
        joints.map(|joint| usize::from(*joint)).zip(weights)
    }

    /// The joints of all blocks, block by block.
    pub(crate) fn joints(&self) -> &[u16] {
        &self.joints
    }

    /// The weights of those joints.
    pub(crate) fn weights(&self) -> &[WeightLanes] {
        &self.weights
    }

    /// Mean length of the joint lists; 0 without blocks.
    pub(crate) fn mean_joints(&self) -> f32 {
        match self.ends.len() {
            0 => 0.0,
            count => self.joints.len() as f32 / count as f32,
        }
    }
}

/// Source vertices in block order: by joint set, then by source index.
pub(crate) fn block_order(rows: &WeightRows) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    order.sort_unstable_by(|a, b| {
        let joints = |vertex: u32| rows.joints(vertex as usize);
        joints(*a).cmp(joints(*b)).then(a.cmp(b))
    });
    order
}
