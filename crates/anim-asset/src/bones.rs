//! Bones of a skin, for binding its mesh anew.
//!
//! ```
//! use anim_asset::builtin;
//!
//! let person = builtin::humanoid();
//! let bones = person.bones(&person.skins[0])?;
//! assert_eq!(bones.joint_count(), person.skins[0].joints.len());
//! # Ok::<(), anim_asset::AssetError>(())
//! ```

use anim_math::{Affine, Transform, Vec3};
use anim_skeleton::{JointSpec, Skeleton};
use anim_skin::weights::{Bone, Bones};

use crate::document_check::invalid;
use crate::{AssetError, Document, SkinSpec};

impl Document {
    /// The bones of a skin where it was bound, in the space of its mesh: from each joint to the next ones below it.
    ///
    /// Nodes that are no joints of the skin are passed over. A joint without others below it goes on as
    /// [`Bones::from_skeleton`] says.
    ///
    /// # Errors
    ///
    /// `DOCUMENT_INVALID` at the joint that is no node of this document or whose matrix has no inverse, or at the skin if
    /// it has no joints.
    pub fn bones(&self, skin: &SkinSpec) -> Result<Bones, AssetError> {
        let joint_at = |place: usize| format!("/joints/{place}");
        let mut place_of = vec![None; self.nodes.len()];
        for (place, node) in skin.joints.iter().enumerate().rev() {
            let slot = place_of.get_mut(*node);
            *slot.ok_or_else(|| invalid(joint_at(place), format!("no node {node}")))? = Some(place);
        }
        let mut heads = Vec::with_capacity(skin.joints.len());
        for place in 0..skin.joints.len() {
            let inverse = skin.joint_from_bind.get(place).and_then(Affine::inverse);
            let bind_from_joint = inverse.filter(Affine::is_finite);
            let head = bind_from_joint.map(|bind_from_joint| bind_from_joint.translation);
            heads.push(head.ok_or_else(|| invalid(joint_at(place), "no inverse".to_owned()))?);
        }
        // The joints alone, each moved from the next one above it: bones end at joints only.
        let alone = skin.joints.iter().zip(&heads).map(|(node, head)| {
            let above = std::iter::successors(self.nodes[*node].parent, |node| {
                self.nodes.get(*node).and_then(|node| node.parent)
            });
            // Parents of a document that was never checked may go round in circles.
            let above = above.take(self.nodes.len());
            let parent = above.filter_map(|node| *place_of.get(node)?).next();
            JointSpec {
                name: None,
                parent,
                rest: Transform::from_translation(
                    head - parent.map_or(Vec3::zeros(), |p| heads[p]),
                ),
            }
        });
        let unusable = |error: &dyn std::error::Error| invalid("/joints".into(), error.to_string());
        let alone = Skeleton::new(alone.collect()).map_err(|error| unusable(&error))?;
        let bones = Bones::from_skeleton(&alone).map_err(|error| unusable(&error))?;
        let places: Vec<u16> = alone.joints().map(|j| alone.source(j) as u16).collect();
        let segments = bones.segments().iter().map(|bone| Bone {
            joint: places[usize::from(bone.joint)],
            ..*bone
        });
        Bones::new(segments.collect(), skin.joints.len()).map_err(|error| unusable(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Node;

    fn document(nodes: &[(Option<usize>, f32)]) -> Document {
        let node = |(parent, y): &(Option<usize>, f32)| Node {
            parent: *parent,
            rest: Transform::from_translation(Vec3::y() * *y),
            ..Node::default()
        };
        Document {
            nodes: nodes.iter().map(node).collect(),
            ..Document::default()
        }
    }

    fn skin(joints: &[usize], heights: &[f32]) -> SkinSpec {
        let bind = |y: &f32| Transform::from_translation(Vec3::y() * -*y).into();
        SkinSpec {
            joints: joints.to_vec(),
            joint_from_bind: heights.iter().map(bind).collect(),
            ..SkinSpec::default()
        }
    }

    #[test]
    fn bones_go_from_joint_to_joint_over_what_lies_between() {
        // The skin lists the lower joint first, and a node between the two is none of its joints.
        let chain = document(&[(None, 1.0), (Some(0), 1.0), (Some(1), 1.0)]);
        let bones = chain.bones(&skin(&[2, 0], &[3.0, 1.0])).unwrap();
        let found: Vec<_> = bones
            .segments()
            .iter()
            .map(|bone| (bone.head.y, bone.tail.y, bone.joint))
            .collect();
        assert_eq!(found, [(1.0, 3.0, 1), (3.0, 4.0, 0)]);
    }

    #[test]
    fn what_is_no_skin_is_refused_with_its_place() {
        let one = document(&[(None, 0.0)]);
        let mut flat = skin(&[0], &[0.0]);
        flat.joint_from_bind[0].linear.fill(0.0);
        for (skin, location) in [
            (skin(&[], &[]), "/joints"),
            (skin(&[1], &[0.0]), "/joints/0"),
            (skin(&[0], &[]), "/joints/0"),
            (flat, "/joints/0"),
        ] {
            assert_eq!(one.bones(&skin).unwrap_err().location, location);
        }
        let mut circle = document(&[(Some(1), 0.0), (Some(0), 0.0)]);
        assert_eq!(
            circle
                .bones(&skin(&[0, 1], &[0.0, 1.0]))
                .unwrap_err()
                .location,
            "/joints"
        );
        circle.nodes[0].parent = Some(9);
        assert!(circle.bones(&skin(&[0], &[0.0])).is_ok());
    }
}
