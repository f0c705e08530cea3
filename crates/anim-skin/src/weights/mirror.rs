//! Mirrored weights: one side of a mesh made the reflection of the other.
//!
//! Three steps that can be looked at one by one: [`JointMirror`] says which joints are each other's reflection, by their
//! names and then by where they are; [`VertexMirror`] the same for vertices; [`mirror`] copies. Vertices without a partner
//! keep their weights and are listed.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_skin::weights::mirror::{JointMirror, MirrorPlane, Side, VertexMirror, mirror};
//! use anim_skin::weights::{SkinWeights, SurfaceGraph};
//!
//! let graph = SurfaceGraph::new(&primitives::grid(2, 1, 1.0))?;
//! let vertices = VertexMirror::new(&graph, MirrorPlane::default(), 0.1)?;
//! let joints = JointMirror::from_pairs(3, &[[1, 2]])?;
//! let painted = SkinWeights::from_rows(3, [0, 0, 1, 0, 0, 1].map(|joint| [(joint, 1.0)]))?;
//! let both = mirror(&painted, &vertices, &joints, Side::Positive)?;
//! assert_eq!([both.weight(0, 2), both.weight(1, 0), both.weight(2, 1)], [1.0; 3]);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_geom::Neighbors;
use anim_math::Vec3;
use anim_skeleton::{Globals, JointId, SideNames, Skeleton};

use super::rows::check_joint_count;
use super::surface_graph::extent;
use super::{SkinWeights, SurfaceGraph};
use crate::SkinError;

/// The plane of a mirror, model space; x = 0 by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MirrorPlane {
    /// A point of it, metres.
    pub point: Vec3,
    /// Across it, any length.
    pub normal: Vec3,
}

impl Default for MirrorPlane {
    fn default() -> Self {
        Self {
            point: Vec3::zeros(),
            normal: Vec3::x(),
        }
    }
}

/// The side that is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where the plane's normal points.
    Positive,
    /// The other.
    Negative,
}

/// Which joint reflects which, as places in a skin's joint list; each way round the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointMirror {
    partners: Vec<u16>,
    unmatched: Vec<u16>,
}

impl JointMirror {
    /// Joints in `pairs` reflect each other, all others themselves.
    ///
    /// # Errors
    ///
    /// [`SkinError::TooManyJoints`] above 65,536, [`SkinError::NoSuchJoint`] for a joint that is not below `joint_count`,
    /// [`SkinError::PairedTwice`] for one in two pairs.
    pub fn from_pairs(joint_count: usize, pairs: &[[u16; 2]]) -> Result<Self, SkinError> {
        check_joint_count(joint_count)?;
        let mut partners: Vec<Option<u16>> = vec![None; joint_count];
        for [a, b] in pairs {
            for (joint, partner) in [(*a, *b), (*b, *a)] {
                let slot = partners
                    .get_mut(usize::from(joint))
                    .ok_or(SkinError::NoSuchJoint {
                        joint: usize::from(joint),
                        joint_count,
                    })?;
                if slot.replace(partner).is_some() {
                    return Err(SkinError::PairedTwice {
                        joint: usize::from(joint),
                    });
                }
            }
        }
        let partners = (0..=u16::MAX)
            .zip(partners)
            .map(|(joint, partner)| partner.unwrap_or(joint));
        Ok(Self {
            partners: partners.collect(),
            unmatched: Vec::new(),
        })
    }

    /// Pairs the joints of a skin: by left and right in their names, the others by where they rest.
    ///
    /// * `joints`: the skin's joint list. Joints within a hundredth of the skeleton's extent of the plane reflect themselves,
    ///   others their mutually nearest reflection if it is as near as that. What is left is [`unmatched`](Self::unmatched).
    ///
    /// # Errors
    ///
    /// [`SkinError::NoDirection`] for a plane without a normal, [`SkinError::TooManyJoints`].
    ///
    /// # Panics
    ///
    /// If `joints` are of another skeleton.
    pub fn of_skeleton(
        skeleton: &Skeleton,
        joints: &[JointId],
        plane: MirrorPlane,
    ) -> Result<Self, SkinError> {
        let plane = Reflection::new(plane)?;
        check_joint_count(joints.len())?;
        let mut globals = Globals::new(skeleton);
        skeleton.globals(skeleton.rest(), &mut globals);
        let places: Vec<Vec3> = joints
            .iter()
            .map(|joint| globals.get(*joint).translation)
            .collect();
        let place_of = |joint: JointId| joints.iter().position(|other| *other == joint);
        let mut partners: Vec<Option<usize>> = vec![None; joints.len()];
        for [left, right] in skeleton.side_pairs(&SideNames::common()) {
            if let (Some(left), Some(right)) = (place_of(left), place_of(right)) {
                (partners[left], partners[right]) = (Some(right), Some(left));
            }
        }
        let tolerance = 0.01 * extent(&places) as f32;
        let free: Vec<usize> = (0..joints.len())
            .filter(|joint| partners[*joint].is_none())
            .collect();
        // Where several joints share a place (a hip and its twist), the first that is as near counts.
        let nearest = |joint: usize| {
            let image = plane.image(places[joint]);
            let distances = free
                .iter()
                .map(|other| ((places[*other] - image).norm(), *other));
            let best = distances.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            best.filter(|(distance, _)| *distance <= tolerance)
                .map(|(_, other)| other)
        };
        for joint in &free {
            partners[*joint] = if plane.distance(places[*joint]).abs() <= tolerance {
                Some(*joint)
            } else {
                nearest(*joint).filter(|other| nearest(*other) == Some(*joint))
            };
        }
        let unmatched = (0..=u16::MAX)
            .zip(&partners)
            .filter(|(_, partner)| partner.is_none());
        Ok(Self {
            unmatched: unmatched.map(|(joint, _)| joint).collect(),
            partners: (0..)
                .zip(&partners)
                .map(|(joint, partner)| partner.unwrap_or(joint) as u16)
                .collect(),
        })
    }

    /// The reflection of `joint`; itself on the plane, and where it has none.
    ///
    /// # Panics
    ///
    /// If there is no such joint.
    pub fn partner(&self, joint: u16) -> u16 {
        self.partners[usize::from(joint)]
    }

    /// Joints off the plane without a partner, ascending.
    pub fn unmatched(&self) -> &[u16] {
        &self.unmatched
    }
}

/// Which vertex reflects which.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexMirror {
    /// For each vertex its reflection, itself on the plane.
    partners: Vec<Option<u32>>,
    /// For each vertex, how far it is out along the normal, metres.
    heights: Vec<f32>,
}

impl VertexMirror {
    /// Pairs vertices that are each other's nearest reflection and no farther off than `tolerance` mean edges (0.25 is usual).
    ///
    /// Vertices at one position have one partner. Those that are nearest to their own reflection lie on the plane.
    /// O(V log V).
    ///
    /// # Errors
    ///
    /// [`SkinError::NoDirection`] for a plane without a normal.
    pub fn new(
        graph: &SurfaceGraph,
        plane: MirrorPlane,
        tolerance: f64,
    ) -> Result<Self, SkinError> {
        let plane = Reflection::new(plane)?;
        let positions = graph.positions();
        let places: Vec<u32> = (0..positions.len() as u32)
            .filter(|v| graph.place(*v as usize) == *v as usize)
            .collect();
        let points: Vec<Vec3> = places
            .iter()
            .map(|place| positions[*place as usize])
            .collect();
        let mut neighbors = Neighbors::default();
        neighbors.rebuild_tree(&points, 1.0);
        let reach = (tolerance * graph.mean_edge()) as f32;
        let mut found = Vec::new();
        let mut nearest = |point: &Vec3| {
            let image = plane.image(*point);
            neighbors.k_nearest(image, 1, &mut found);
            let nearest = found.first().map(|index| *index as usize);
            nearest.filter(|index| (points[*index] - image).norm() <= reach)
        };
        let images: Vec<Option<usize>> = points.iter().map(&mut nearest).collect();
        let mut partners = vec![None; positions.len()];
        for (index, image) in images.iter().enumerate() {
            partners[places[index] as usize] = image
                .filter(|image| images[*image] == Some(index))
                .map(|image| places[image]);
        }
        for vertex in 0..positions.len() {
            partners[vertex] = partners[graph.place(vertex)];
            if partners[vertex] == Some(graph.place(vertex) as u32) {
                partners[vertex] = Some(vertex as u32);
            }
        }
        Ok(Self {
            partners,
            heights: positions
                .iter()
                .map(|position| plane.distance(*position))
                .collect(),
        })
    }

    /// The reflection of `vertex`: itself on the plane, `None` where there is none.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    pub fn partner(&self, vertex: usize) -> Option<u32> {
        self.partners[vertex]
    }

    /// Vertices without a partner, ascending.
    pub fn unmatched(&self) -> Vec<u32> {
        (0..self.partners.len() as u32)
            .filter(|vertex| self.partners[*vertex as usize].is_none())
            .collect()
    }
}

/// Makes the vertices across the plane the reflection of those on `from`; on the plane, the average of both sides.
///
/// Vertices without a partner keep their rows. Mirroring twice is mirroring once, to the bit. O(V k).
///
/// # Errors
///
/// [`SkinError::Count`] if weights, vertices and joints do not belong together.
pub fn mirror(
    weights: &SkinWeights,
    vertices: &VertexMirror,
    joints: &JointMirror,
    from: Side,
) -> Result<SkinWeights, SkinError> {
    weights.check_vertices(vertices.partners.len())?;
    if joints.partners.len() != weights.joint_count() {
        return Err(SkinError::Count {
            what: "joint partners",
            found: joints.partners.len(),
            vertex_count: weights.joint_count(),
        });
    }
    let sign = match from {
        Side::Positive => 1.0,
        Side::Negative => -1.0,
    };
    weights.edit_rows(|vertex, row| {
        let Some(partner) = vertices.partners[vertex] else {
            return false;
        };
        let partner = partner as usize;
        if partner == vertex {
            let is_symmetric = |(joint, weight): &(u16, f64)| {
                weights.weight(vertex, joints.partner(*joint)) == *weight
            };
            if row.iter().all(is_symmetric) {
                return false;
            }
            let count = row.len();
            row.extend_from_within(..);
            for (joint, _) in &mut row[count..] {
                *joint = joints.partner(*joint);
            }
            true
        } else if sign * vertices.heights[vertex] < sign * vertices.heights[partner] {
            row.clear();
            row.extend(
                weights
                    .row(partner)
                    .map(|(joint, weight)| (joints.partner(joint), weight)),
            );
            true
        } else {
            false
        }
    })
}

/// A checked plane.
#[derive(Clone, Copy, Debug)]
struct Reflection {
    point: Vec3,
    /// Unit length.
    normal: Vec3,
}

impl Reflection {
    fn new(plane: MirrorPlane) -> Result<Self, SkinError> {
        let normal = plane.normal.cast::<f64>().try_normalize(1e-30);
        let normal = normal.filter(|n| {
            n.iter()
                .chain(plane.point.cast().iter())
                .all(|c| c.is_finite())
        });
        let normal = normal.ok_or(SkinError::NoDirection("mirror plane"))?;
        Ok(Self {
            point: plane.point,
            normal: normal.cast(),
        })
    }

    fn distance(&self, position: Vec3) -> f32 {
        (position - self.point).dot(&self.normal)
    }

    fn image(&self, position: Vec3) -> Vec3 {
        position - self.normal * (2.0 * self.distance(position))
    }
}

#[cfg(test)]
mod tests {
    use anim_geom::primitives;
    use anim_math::Transform;
    use anim_skeleton::JointSpec;
    use proptest::prelude::*;

    use super::*;

    /// Joints under a root at the origin.
    fn skeleton(joints: &[(&str, Vec3)]) -> (Skeleton, Vec<JointId>) {
        let root = JointSpec {
            name: Some("root".into()),
            parent: None,
            rest: Transform::IDENTITY,
        };
        let joint = |(name, place): &(&str, Vec3)| JointSpec {
            name: Some((*name).into()),
            parent: Some(0),
            rest: Transform::from_translation(*place),
        };
        let skeleton = Skeleton::new(
            std::iter::once(root)
                .chain(joints.iter().map(joint))
                .collect(),
        )
        .unwrap();
        let list = (0..=joints.len())
            .map(|source| skeleton.joint(source))
            .collect();
        (skeleton, list)
    }

    #[test]
    fn names_as_tools_write_them_are_paired() {
        let pairs = [
            ("UpperLeg.L", "UpperLeg.R"),
            ("Left_arm", "Right_arm"),
            ("arm_l", "arm_r"),
            ("mixamorig:LeftArm", "mixamorig:RightArm"),
            ("l_hand", "r_hand"),
        ];
        for (left, right) in pairs {
            // Where they are does not matter.
            let (skeleton, joints) =
                skeleton(&[(left, Vec3::y()), (right, Vec3::new(3.0, 1.0, 2.0))]);
            let mirror =
                JointMirror::of_skeleton(&skeleton, &joints, MirrorPlane::default()).unwrap();
            assert_eq!(
                [mirror.partner(0), mirror.partner(1), mirror.partner(2)],
                [0, 2, 1],
                "{left}"
            );
        }
    }

    #[test]
    fn nameless_sides_are_paired_by_place_and_the_rest_told() {
        let (skeleton, joints) = skeleton(&[
            ("a", Vec3::new(0.5, 1.0, 0.0)),
            ("b", Vec3::new(-0.501, 1.0, 0.0)),
            ("spine", Vec3::new(0.001, 1.5, 0.0)),
            ("sword", Vec3::new(0.9, 0.2, 0.4)),
        ]);
        let mirror = JointMirror::of_skeleton(&skeleton, &joints, MirrorPlane::default()).unwrap();
        assert_eq!(
            (0..5)
                .map(|joint| mirror.partner(joint))
                .collect::<Vec<_>>(),
            [0, 2, 1, 3, 4]
        );
        assert_eq!(mirror.unmatched(), [4]);
    }

    #[test]
    fn pairs_are_checked() {
        assert_eq!(
            JointMirror::from_pairs(3, &[[0, 1], [1, 2]]),
            Err(SkinError::PairedTwice { joint: 1 })
        );
        assert_eq!(
            JointMirror::from_pairs(3, &[[2, 2]]),
            Err(SkinError::PairedTwice { joint: 2 })
        );
        assert_eq!(
            JointMirror::from_pairs(3, &[[0, 3]]),
            Err(SkinError::NoSuchJoint {
                joint: 3,
                joint_count: 3
            })
        );
    }

    #[test]
    fn vertices_without_a_reflection_keep_their_rows() {
        let mut mesh = primitives::grid(4, 2, 0.1);
        mesh.rest.positions[0].y = 1.0;
        let graph = SurfaceGraph::new(&mesh).unwrap();
        let vertices = VertexMirror::new(&graph, MirrorPlane::default(), 0.25).unwrap();
        assert_eq!(vertices.unmatched(), [0, 4]);
        assert_eq!(vertices.partner(2), Some(2));
        assert_eq!(vertices.partner(6), Some(8));
        let weights =
            SkinWeights::from_rows(2, (0..15).map(|v| [(u16::from(v == 4), 1.0)])).unwrap();
        let joints = JointMirror::from_pairs(2, &[]).unwrap();
        assert_eq!(
            mirror(&weights, &vertices, &joints, Side::Positive).unwrap(),
            weights
        );
        let no_plane = MirrorPlane {
            normal: Vec3::zeros(),
            ..MirrorPlane::default()
        };
        assert_eq!(
            VertexMirror::new(&graph, no_plane, 0.25).err(),
            Some(SkinError::NoDirection("mirror plane"))
        );
    }

    proptest! {
        #[test]
        fn twice_is_once_and_both_sides_agree(
            raw in prop::collection::vec(prop_oneof![Just(0.0), 0.001..1.0], 45 * 4), negative: bool,
        ) {
            let graph = SurfaceGraph::new(&primitives::cylinder(0.3, 0.5, 8, 1)).unwrap();
            let count = graph.vertex_count();
            let rows = (0..count).map(|v| (0_u16..).zip(raw[v % 45 * 4..][..4].iter().map(|w| w + 1e-9)));
            let weights = SkinWeights::from_rows(4, rows).unwrap();
            let vertices = VertexMirror::new(&graph, MirrorPlane::default(), 0.1).unwrap();
            prop_assert!(vertices.unmatched().is_empty());
            let joints = JointMirror::from_pairs(4, &[[1, 3]]).unwrap();
            let side = if negative { Side::Negative } else { Side::Positive };
            let once = mirror(&weights, &vertices, &joints, side).unwrap();
            prop_assert_eq!(&mirror(&once, &vertices, &joints, side).unwrap(), &once);
            prop_assert!(once.max_sum_error() < 1e-15);
            for vertex in 0..count {
                let partner = vertices.partner(vertex).unwrap() as usize;
                let image = graph.place(vertex) == vertex;
                for (joint, weight) in once.row(vertex).filter(|_| image) {
                    prop_assert!((once.weight(partner, joints.partner(joint)) - weight).abs() < 1e-15);
                }
            }
        }
    }
}
