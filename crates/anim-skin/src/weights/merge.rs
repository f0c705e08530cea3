//! Weights for skeletons with fewer joints: what a dropped joint moved follows its nearest kept ancestor.
//!
//! The twin of [`SkeletonLod`](anim_skeleton::SkeletonLod), which updates fewer joints: dropped joints there follow rigidly,
//! so their matrices are their ancestor's, and merging the weights gives the same surface with fewer influences a vertex, if
//! the mesh was bound at rest. [`crossfade`] mixes the weights of two levels for the frames between them.
//!
//! ```
//! use anim_skin::weights::{SkinWeights, merge_joints};
//!
//! // An arm, a hand and two fingers; the fingers go.
//! let weights = SkinWeights::from_rows(4, [vec![(1, 0.5), (2, 0.25), (3, 0.25)], vec![(0, 1.0)]])?;
//! let merged = merge_joints(&weights, &[0, 1, 1, 1])?;
//! assert_eq!(merged.row(0).collect::<Vec<_>>(), [(1, 1.0)]);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_skeleton::{JointId, Skeleton};

use super::SkinWeights;
use crate::SkinError;

/// New weights in which each joint's are those of all joints that go to it.
///
/// * `ancestor_of`: for each place of the skin's joint list the place that takes its weight, itself for joints that stay;
///   see [`kept_ancestors`].
///
/// Rows still sum to 1, and places stay what they were: joints that were dropped have no weight left.
///
/// # Errors
///
/// [`SkinError::BindCount`] if `ancestor_of` is not one a joint, [`SkinError::NoJoint`] if it names a place that the skin
/// does not have and a vertex would go there.
pub fn merge_joints(weights: &SkinWeights, ancestor_of: &[u16]) -> Result<SkinWeights, SkinError> {
    if ancestor_of.len() != weights.joint_count() {
        return Err(SkinError::BindCount {
            found: ancestor_of.len(),
            joint_count: weights.joint_count(),
        });
    }
    weights.map_rows(|_, row| {
        for (joint, _) in row {
            *joint = ancestor_of[usize::from(*joint)];
        }
    })
}

/// For each joint of a skin its nearest ancestor among the first `kept_count` joints of the skeleton, as a place in `joints`.
///
/// * `joints`: the skin's joint list. * `kept_count`: see
///   [`SkeletonLod::joint_count`](anim_skeleton::SkeletonLod::joint_count).
///
/// A joint that stays, or whose nearest kept ancestor is not in the list, keeps its place: its own matrix is right still.
pub fn kept_ancestors(skeleton: &Skeleton, joints: &[JointId], kept_count: usize) -> Vec<u16> {
    let mut place_of = vec![None; skeleton.len()];
    for (place, joint) in (0..=u16::MAX).zip(joints) {
        place_of[joint.index()].get_or_insert(place);
    }
    let ancestor = |joint: JointId| {
        let mut up = std::iter::successors(Some(joint), |joint| skeleton.parent(*joint));
        up.find(|joint| joint.index() < kept_count)
    };
    let places = (0..=u16::MAX).zip(joints);
    places
        .map(|(place, joint)| match ancestor(*joint) {
            Some(kept) if kept != *joint => place_of[kept.index()].unwrap_or(place),
            _ => place,
        })
        .collect()
}

/// The weights between two levels: those of `from` at `alpha` 0, of `to` at 1; outside, the nearer end.
///
/// Rows stay on the simplex, since it is convex; a vertex moves on a straight line between its two places.
///
/// # Errors
///
/// [`SkinError::Count`] if the two differ in their number of vertices, [`SkinError::BindCount`] in their number of joints.
pub fn crossfade(
    from: &SkinWeights,
    to: &SkinWeights,
    alpha: f64,
) -> Result<SkinWeights, SkinError> {
    if from.vertex_count() != to.vertex_count() {
        return Err(SkinError::Count {
            what: "weights",
            found: to.vertex_count(),
            vertex_count: from.vertex_count(),
        });
    }
    if from.joint_count() != to.joint_count() {
        return Err(SkinError::BindCount {
            found: to.joint_count(),
            joint_count: from.joint_count(),
        });
    }
    // A NaN shows the first.
    let alpha = if alpha > 0.0 { alpha.min(1.0) } else { 0.0 };
    from.map_rows(|vertex, row| {
        for (_, weight) in row.iter_mut() {
            *weight *= 1.0 - alpha;
        }
        row.extend(
            to.row(vertex)
                .map(|(joint, weight)| (joint, weight * alpha)),
        );
    })
}

#[cfg(test)]
mod tests {
    use anim_math::{Affine, Transform, Vec3, quat};
    use anim_skeleton::{Globals, JointSpec, Mask, SkeletonLod};

    use super::*;

    /// A chain of five joints with a side branch at the second.
    fn skeleton() -> Skeleton {
        let joint = |parent| JointSpec {
            name: None,
            parent,
            rest: Transform::from_translation(Vec3::new(0.1, 1.0, 0.0)),
        };
        let parents = [None, Some(0), Some(1), Some(2), Some(1), Some(3)];
        Skeleton::new(parents.map(joint).to_vec()).unwrap()
    }

    fn weights() -> SkinWeights {
        let rows = (0..40_u16).map(|vertex| {
            (0..6_u16).map(move |joint| (joint, f64::from((vertex * 7 + joint * 5) % 11)))
        });
        SkinWeights::from_rows(6, rows).unwrap()
    }

    fn skinned(weights: &SkinWeights, palette: &[Affine], vertex: usize) -> Vec3 {
        let at = Vec3::new(0.3, vertex as f32 * 0.1, -0.2);
        let row = weights.row(vertex);
        row.map(|(joint, weight)| palette[usize::from(joint)].transform_point(at) * weight as f32)
            .sum()
    }

    #[test]
    fn a_far_skeleton_moves_merged_weights_as_it_moves_the_full_ones() {
        let skeleton = skeleton();
        // The skin lists its joints in another order than the skeleton.
        let joints = [5, 3, 0, 1, 4, 2].map(|source| skeleton.joint(source));
        let mut keep = Mask::uniform(&skeleton, 0.0);
        keep.set(skeleton.joint(2), 1.0);
        let lod = SkeletonLod::new(&skeleton, &[keep]);
        let count = lod.joint_count(1);
        let ancestors = kept_ancestors(&skeleton, &joints, count);
        assert!(
            ancestors
                .iter()
                .zip(0..)
                .any(|(ancestor, place)| *ancestor != place)
        );

        let mut rest = Globals::new(&skeleton);
        skeleton.globals(skeleton.rest(), &mut rest);
        let mut pose = skeleton.rest().clone();
        for (index, joint) in skeleton.joints().enumerate() {
            let turn = quat::from_axis_angle(Vec3::z(), 0.4 + 0.1 * index as f32);
            pose.set_rotation(joint, turn);
        }
        let mut globals = Globals::new(&skeleton);
        skeleton.globals_prefix(count, &pose, &mut globals);
        let palette = joints.map(|joint| globals.get(joint) * rest.get(joint).inverse().unwrap());

        let full = weights();
        let merged = merge_joints(&full, &ancestors).unwrap();
        assert!(merged.max_sum_error() < 1e-15 && merged.max_influences() <= 4);
        for vertex in 0..full.vertex_count() {
            let [a, b] = [&full, &merged].map(|weights| skinned(weights, &palette, vertex));
            // Six places some metres from the origin, rounded in f32.
            assert!((a - b).norm() < 1e-5, "vertex {vertex}: {a} {b}");
        }
    }

    #[test]
    fn an_ancestor_that_the_skin_lacks_changes_nothing() {
        let skeleton = skeleton();
        let joints = [0, 3, 5].map(|source| skeleton.joint(source));
        // Joints 0 and 1 stay, and 1, the nearest of both others, is not in the list.
        assert_eq!(kept_ancestors(&skeleton, &joints, 2), [0, 1, 2]);
        assert_eq!(kept_ancestors(&skeleton, &joints, 1), [0, 0, 0]);
        assert_eq!(kept_ancestors(&skeleton, &joints, 6), [0, 1, 2]);
    }

    #[test]
    fn fading_starts_and_ends_at_the_two_levels() {
        let full = weights();
        let merged = merge_joints(&full, &[0, 0, 2, 2, 2, 2]).unwrap();
        let at = |alpha| crossfade(&full, &merged, alpha).unwrap();
        assert!(at(0.0).mean_difference(&full) < 1e-15);
        assert!(at(f64::NAN).mean_difference(&full) < 1e-15);
        assert!(at(7.0).mean_difference(&merged) < 1e-15);
        let middle = at(0.5);
        assert!(middle.max_sum_error() < 1e-15);
        let whole = full.mean_difference(&merged);
        assert!((middle.mean_difference(&full) - 0.5 * whole).abs() < 1e-14);
        assert!((middle.mean_difference(&merged) - 0.5 * whole).abs() < 1e-14);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let full = weights();
        let short = SkinError::BindCount {
            found: 1,
            joint_count: 6,
        };
        assert_eq!(merge_joints(&full, &[0]), Err(short));
        let missing = merge_joints(&full, &[9; 6]);
        assert!(matches!(missing, Err(SkinError::NoJoint { joint: 9, .. })));
        let other = SkinWeights::from_rows(6, [[(0, 1.0)]]).unwrap();
        assert!(matches!(
            crossfade(&full, &other, 0.5),
            Err(SkinError::Count { .. })
        ));
    }
}
