//! Meshes of which a skin moves only a part, which glTF forbids: the rest goes to a mesh and a node of its own.

use std::borrow::Cow;

use anim_skeleton::MorphChannel;

use crate::{Document, Node, TangentSpec};

/// The document with every skinned mesh skinned as a whole.
///
/// Primitives without influences follow the node that carries them; here they go to a new mesh at a new last child of
/// that node, with the same morph weights, so that all other indices stay.
pub(super) fn split_partly_skinned(document: &Document) -> Cow<'_, Document> {
    let mut document = Cow::Borrowed(document);
    for mesh in 0..document.meshes.len() {
        let carries = |node: &Node| node.mesh == Some(mesh) && node.skin.is_some();
        let carriers: Vec<usize> = (0..document.nodes.len())
            .filter(|node| carries(&document.nodes[*node]))
            .collect();
        let primitives = &document.meshes[mesh].primitives;
        let is_rigid: Vec<bool> = primitives.iter().map(|p| p.influences.is_none()).collect();
        if carriers.is_empty() || !is_rigid.contains(&true) || !is_rigid.contains(&false) {
            continue;
        }
        let document = document.to_mut();
        let mut rest = document.meshes[mesh].clone();
        rest.primitives
            .retain(|primitive| primitive.influences.is_none());
        document.meshes[mesh]
            .primitives
            .retain(|primitive| primitive.influences.is_some());
        document.meshes.push(rest);
        move_tangents(document, mesh, &is_rigid);
        for carrier in carriers {
            let child = document.nodes.len();
            document.nodes.push(Node {
                parent: Some(carrier),
                mesh: Some(document.meshes.len() - 1),
                weights: document.nodes[carrier].weights.clone(),
                ..Node::default()
            });
            for clip in &mut document.clips {
                let of_carrier = clip
                    .morphs
                    .iter()
                    .filter(|channel| channel.joint == carrier);
                let copies: Vec<MorphChannel> = of_carrier
                    .map(|channel| MorphChannel {
                        joint: child,
                        track: channel.track.clone(),
                    })
                    .collect();
                clip.morphs.extend(copies);
            }
        }
    }
    document
}

/// Tangents follow the primitives of `mesh`: the rigid ones to the last mesh, the others up.
fn move_tangents(document: &mut Document, mesh: usize, is_rigid: &[bool]) {
    let last = document.meshes.len() - 1;
    for tangents in &mut document.tangents {
        let Some(rigid) = is_rigid.get(tangents.primitive) else {
            continue;
        };
        if tangents.mesh == mesh {
            let before = &is_rigid[..tangents.primitive];
            tangents.primitive = before.iter().filter(|other| *other == rigid).count();
            tangents.mesh = if *rigid { last } else { mesh };
        }
    }
    let key = |tangents: &TangentSpec| (tangents.mesh, tangents.primitive);
    document.tangents.sort_by_key(key);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MeshSpec, Primitive, SkinSpec};

    #[test]
    fn rigid_primitives_move_to_a_child_of_the_node() {
        let primitive = |influences| Primitive {
            influences,
            ..Primitive::default()
        };
        let document = Document {
            nodes: vec![Node {
                mesh: Some(0),
                skin: Some(0),
                ..Node::default()
            }],
            meshes: vec![MeshSpec {
                primitives: vec![primitive(None), primitive(Some(Default::default()))],
                ..MeshSpec::default()
            }],
            skins: vec![SkinSpec::default()],
            ..Document::default()
        };
        let split = split_partly_skinned(&document);
        assert_eq!(split.nodes[1].parent, Some(0));
        assert_eq!((split.nodes[1].mesh, split.nodes[1].skin), (Some(1), None));
        assert!(split.meshes[0].primitives[0].influences.is_some());
        assert!(split.meshes[1].primitives[0].influences.is_none());
        assert_eq!(*split_partly_skinned(&split), *split);
    }
}
