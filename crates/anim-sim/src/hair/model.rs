//! Hair, checked and sorted for speed, and where one head of it is.

use anim_math::lanes::{LANES, Lanes};
use anim_math::nalgebra::UnitQuaternion;
use anim_math::{Quat, Vec3, quat};
use serde::{Deserialize, Serialize};

use super::groom;
use super::spec::{HairSpec, checked_guides};
use crate::SimError;

/// A valid head of hair: nothing in it can make a step fail. Shared by any number of [`HairState`]s.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "HairSpec", into = "HairSpec")]
pub struct Hair {
    pub(super) spec: HairSpec,
    pub(super) strands: Vec<Strand>,
    /// V, the groom.
    pub(super) points: Vec<Vec3>,
    /// Of each segment, z along it, in the space of the root.
    pub(super) frames: Vec<Quat>,
    pub(super) groups: Vec<Group>,
}

/// Where a guide's vertices and segments are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Strand {
    pub(super) first_vertex: usize,
    pub(super) first_segment: usize,
    pub(super) segments: usize,
}

/// Eight strands of equally many segments, side by side.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// In the order of lanes; lanes that are left over repeat the last strand.
    pub(super) strands: [u32; LANES],
    /// Strands that are not repeated.
    pub(super) used: usize,
    /// Where the root holds the strand to, in the root's space: a frame with z along it.
    pub(super) clamps: [Lanes; 4],
    /// Lengths of the strands, m.
    pub(super) reach: Lanes,
    pub(super) segments: Vec<Segment>,
}

/// One segment of eight strands, the joint at its root end and the vertex at its other.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    pub(super) length: Lanes,
    /// Half the rest rotation of the joint.
    pub(super) rest_half: [Lanes; 4],
    /// EI over the length that the joint stands for, N·m.
    pub(super) bend: Lanes,
    /// (GJ − EI) over that length, N·m.
    pub(super) twist_excess: Lanes,
    /// Of the vertex, kg.
    pub(super) mass: Lanes,
    /// The frame that the segment is held to, in the root's space.
    pub(super) target: [Lanes; 4],
    /// Moment that holds the segment to it, N·m for a radian.
    pub(super) hold: Lanes,
}

impl Hair {
    /// Checks hair and finds its rest shape. Costs about a microsecond a segment.
    ///
    /// # Errors
    ///
    /// [`SimError::Empty`] without guides; [`SimError::NotFinite`] for a point, counted over all guides;
    /// [`SimError::OutOfRange`] for a guide without length, a segment shorter than a micrometre (let
    /// [`HairSpec::segments`] cut it anew) and a quantity that is negative, NaN or absurd.
    pub fn new(spec: HairSpec) -> Result<Self, SimError> {
        let guides = checked_guides(&spec)?;
        let gravity = spec.groom_gravity.cast::<f64>();
        let rests: Vec<_> = guides
            .iter()
            .map(|points| groom::rest(points, &spec, gravity))
            .collect();

        let (mut vertex, mut segment) = (0, 0);
        let mut strands = Vec::with_capacity(guides.len());
        for points in &guides {
            strands.push(Strand {
                first_vertex: vertex,
                first_segment: segment,
                segments: points.len() - 1,
            });
            vertex += points.len();
            segment += points.len() - 1;
        }

        let mut order: Vec<u32> = (0..guides.len() as u32).collect();
        order.sort_by_key(|strand| strands[*strand as usize].segments);
        let groups = order
            .chunk_by(|a, b| strands[*a as usize].segments == strands[*b as usize].segments)
            .flat_map(|equal| equal.chunks(LANES))
            .map(|members| Group::new(members, &guides, &rests, &spec))
            .collect();
        let frames = rests
            .iter()
            .flat_map(|rest| &rest.frames)
            .map(single)
            .collect();
        Ok(Self {
            strands,
            points: guides.into_iter().flatten().collect(),
            frames,
            groups,
            spec,
        })
    }

    /// Number of guides, G.
    pub fn guide_count(&self) -> usize {
        self.strands.len()
    }

    /// Number of vertices of all guides, V.
    pub fn vertex_count(&self) -> usize {
        self.points.len()
    }

    /// Number of segments of all guides: V − G.
    pub fn segment_count(&self) -> usize {
        self.frames.len()
    }

    /// V, the groom: guide after guide from root to tip, metres, in the space of the root.
    pub fn groom(&self) -> &[Vec3] {
        &self.points
    }

    /// Where the vertices of a guide are among all.
    ///
    /// # Panics
    ///
    /// If there is no such guide.
    pub fn guide(&self, index: usize) -> std::ops::Range<usize> {
        let strand = self.strands[index];
        strand.first_vertex..strand.first_vertex + strand.segments + 1
    }

    /// What it was made from.
    pub fn spec(&self) -> &HairSpec {
        &self.spec
    }
}

impl TryFrom<HairSpec> for Hair {
    type Error = SimError;

    fn try_from(spec: HairSpec) -> Result<Self, SimError> {
        Self::new(spec)
    }
}

impl From<Hair> for HairSpec {
    fn from(hair: Hair) -> Self {
        hair.spec
    }
}

impl Group {
    fn new(members: &[u32], guides: &[Vec<Vec3>], rests: &[groom::Rest], spec: &HairSpec) -> Self {
        let [bend, twist] = spec.material.rigidity();
        let density = spec.material.linear_density();
        let segment_count = rests[members[0] as usize].frames.len();
        let mut group = Self {
            strands: [0; LANES],
            used: members.len(),
            clamps: [[0.0; LANES]; 4],
            reach: [0.0; LANES],
            segments: vec![Segment::default(); segment_count],
        };
        for lane in 0..LANES {
            let strand = members[lane.min(members.len() - 1)];
            let (points, rest) = (&guides[strand as usize], &rests[strand as usize]);
            group.strands[lane] = strand;
            put(&mut group.clamps, lane, single(&rest.frames[0]));
            let lengths = groom::lengths(points);
            let reach: f64 = lengths.iter().sum();
            group.reach[lane] = reach as f32;
            let cells = groom::cells(&lengths);
            let masses = groom::masses(&lengths, density);
            for (index, segment) in group.segments.iter_mut().enumerate() {
                segment.length[lane] = lengths[index] as f32;
                segment.bend[lane] = (bend / cells[index]) as f32;
                segment.twist_excess[lane] = ((twist - bend) / cells[index]) as f32;
                segment.mass[lane] = masses[index] as f32;
                put(&mut segment.rest_half, lane, single(&rest.halves[index]));
                put(&mut segment.target, lane, single(&rest.targets[index]));
                let hold = groom::hold(spec, lengths[index], reach);
                segment.hold[lane] = hold as f32;
            }
        }
        group
    }
}

/// Where one head of hair is, relative to its root: a head that moves while nothing is simulated takes it along.
///
/// So a teleport needs no call: step from the new place to the new place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HairState {
    /// V, metres, in the space of the root. Results: a step begins from the orientations.
    pub positions: Vec<Vec3>,
    /// V, m/s: how vertices move in the world, along the axes of the root's space; that of a root is not used.
    pub velocities: Vec<Vec3>,
    /// Of each segment, guide after guide: z along it, in the space of the root.
    pub orientations: Vec<Quat>,
    /// Of each segment, N: what it pulled at the end of the last step, negative where it was pushed.
    pub tensions: Vec<f32>,
}

impl HairState {
    /// At rest in the groom.
    pub fn new(hair: &Hair) -> Self {
        let mut state = Self {
            positions: hair.points.clone(),
            velocities: vec![Vec3::zeros(); hair.vertex_count()],
            orientations: hair.frames.clone(),
            tensions: vec![0.0; hair.segment_count()],
        };
        state.reset(hair);
        state
    }

    /// Puts every guide back into the groom, at rest: for cuts and respawns.
    ///
    /// # Panics
    ///
    /// If the state was made for other hair.
    pub fn reset(&mut self, hair: &Hair) {
        self.check(hair);
        for strand in &hair.strands {
            self.reset_guide(hair, strand);
        }
    }

    /// True if everything in it is a number.
    pub fn is_finite(&self) -> bool {
        let finite = |v: &Vec3| v.iter().all(|c| c.is_finite());
        self.positions.iter().all(finite)
            && self.velocities.iter().all(finite)
            && self
                .orientations
                .iter()
                .all(|q| q.coords.iter().all(|c| c.is_finite()))
            && self.tensions.iter().all(|t| t.is_finite())
    }

    pub(super) fn check(&self, hair: &Hair) {
        assert_eq!(
            (
                self.positions.len(),
                self.velocities.len(),
                self.orientations.len(),
                self.tensions.len()
            ),
            (
                hair.vertex_count(),
                hair.vertex_count(),
                hair.segment_count(),
                hair.segment_count()
            ),
            "the state was made for other hair"
        );
    }

    pub(super) fn reset_guide(&mut self, hair: &Hair, strand: &Strand) {
        let vertices = strand.first_vertex..strand.first_vertex + strand.segments + 1;
        let segments = strand.first_segment..strand.first_segment + strand.segments;
        self.positions[vertices.clone()].copy_from_slice(&hair.points[vertices.clone()]);
        self.velocities[vertices].fill(Vec3::zeros());
        self.orientations[segments.clone()].copy_from_slice(&hair.frames[segments.clone()]);
        self.tensions[segments].fill(0.0);
    }

    /// True if a step can begin from this guide.
    pub(super) fn is_usable(&self, strand: &Strand) -> bool {
        let finite = |v: &Vec3| v.iter().all(|c| c.is_finite());
        let vertices = strand.first_vertex..strand.first_vertex + strand.segments + 1;
        let segments = strand.first_segment..strand.first_segment + strand.segments;
        self.velocities[vertices].iter().all(finite)
            && self.orientations[segments.clone()].iter().all(|q| {
                let squared = q.coords.norm_squared();
                (0.5..2.0).contains(&squared)
            })
            && self.tensions[segments].iter().all(|t| t.is_finite())
    }
}

/// Writes a quaternion to one lane.
pub(super) fn put(lanes: &mut [Lanes; 4], lane: usize, q: Quat) {
    for (lanes, value) in lanes.iter_mut().zip(q.coords.iter()) {
        lanes[lane] = *value;
    }
}

fn single(q: &UnitQuaternion<f64>) -> Quat {
    let coords = q.coords;
    quat::from_xyzw([0, 1, 2, 3].map(|i| coords[i] as f32)).unwrap_or_default()
}
