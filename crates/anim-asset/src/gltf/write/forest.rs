//! What glTF demands of the trees of nodes: no cycles, a skin's joints in one tree, and that tree in the mesh's scene.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::{Document, Node};

/// The document with legal trees; indices of nodes stay, new ones come last.
///
/// Nodes whose parents never end lose them. Where the joints of a skin stand in several trees, a new node at rest becomes
/// the parent of those, in every scene that had one of them. A scene that shows a skinned mesh gets its joints.
pub(super) fn mend_forest(mut document: Cow<'_, Document>) -> Cow<'_, Document> {
    let mut roots = roots_of(&document.nodes);
    for (node, root) in roots.iter_mut().enumerate() {
        if root.is_none() {
            document.to_mut().nodes[node].parent = None;
            *root = Some(node);
        }
    }
    for skin in 0..document.skins.len() {
        let several = roots_of_skin(&document, &roots, skin);
        if several.len() > 1 {
            unite(document.to_mut(), &several);
            roots = roots_of(&document.nodes);
        }
    }
    for scene in 0..document.scenes.len() {
        let mut shown: BTreeSet<usize> = document.scenes[scene].iter().copied().collect();
        let is_shown = |(node, root): &(&Node, &Option<usize>)| {
            node.mesh.is_some() && root.is_some_and(|root| shown.contains(&root))
        };
        let nodes = document.nodes.iter().zip(&roots).filter(is_shown);
        let skins: BTreeSet<usize> = nodes.filter_map(|(node, _)| node.skin).collect();
        for skin in skins {
            for root in roots_of_skin(&document, &roots, skin) {
                if shown.insert(root) {
                    document.to_mut().scenes[scene].push(root);
                }
            }
        }
    }
    document
}

/// Makes a new node the parent of `roots`.
fn unite(document: &mut Document, roots: &BTreeSet<usize>) {
    let top = document.nodes.len();
    document.nodes.push(Node::default());
    for root in roots {
        document.nodes[*root].parent = Some(top);
    }
    for scene in &mut document.scenes {
        let before = scene.len();
        scene.retain(|node| !roots.contains(node));
        if scene.len() < before {
            scene.push(top);
        }
    }
}

/// The roots of the trees that the joints of a skin stand in.
fn roots_of_skin(document: &Document, roots: &[Option<usize>], skin: usize) -> BTreeSet<usize> {
    let joints = document
        .skins
        .get(skin)
        .map_or(&[][..], |skin| &skin.joints);
    joints
        .iter()
        .filter_map(|joint| *roots.get(*joint)?)
        .collect()
}

/// The root above each node; `None` where parents do not exist or never end.
fn roots_of(nodes: &[Node]) -> Vec<Option<usize>> {
    let mut roots = vec![None; nodes.len()];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut met = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        match node.parent {
            None => {
                roots[index] = Some(index);
                met.push(index);
            }
            Some(parent) => {
                if let Some(children) = children.get_mut(parent) {
                    children.push(index);
                }
            }
        }
    }
    while let Some(node) = met.pop() {
        for child in &children[node] {
            roots[*child] = roots[node];
            met.push(*child);
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SkinSpec;

    fn nodes(parents: &[Option<usize>]) -> Vec<Node> {
        let node = |parent: &Option<usize>| Node {
            parent: *parent,
            ..Node::default()
        };
        parents.iter().map(node).collect()
    }

    #[test]
    fn a_sound_document_is_not_copied() {
        let document = Document {
            nodes: nodes(&[None, Some(0)]),
            ..Document::default()
        };
        assert!(matches!(
            mend_forest(Cow::Borrowed(&document)),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn cycles_and_missing_parents_are_cut() {
        let document = Document {
            nodes: nodes(&[Some(1), Some(0), Some(9), None, Some(3)]),
            ..Document::default()
        };
        let mended = mend_forest(Cow::Borrowed(&document));
        let parents: Vec<_> = mended.nodes.iter().map(|node| node.parent).collect();
        assert_eq!(parents, [None, None, None, None, Some(3)]);
    }

    #[test]
    fn joints_of_two_trees_get_one_root_in_the_scene_of_the_mesh() {
        let mut document = Document {
            nodes: nodes(&[None, None, None]),
            scenes: vec![vec![2]],
            skins: vec![SkinSpec {
                joints: vec![0, 1],
                ..SkinSpec::default()
            }],
            ..Document::default()
        };
        document.nodes[2].mesh = Some(0);
        document.nodes[2].skin = Some(0);
        let mended = mend_forest(Cow::Borrowed(&document));
        assert_eq!(mended.nodes[0].parent, Some(3));
        assert_eq!(mended.nodes[1].parent, Some(3));
        assert_eq!(mended.scenes, [vec![2, 3]]);
    }
}
