//! How nodes, meshes and skins fit together.

use anim_math::Transform;

use super::json::Json;
use super::mesh;
use super::read::Reader;
use crate::{Document, Node};

/// Reports skins and meshes that do not belong together, and fits the weights of nodes to their meshes.
pub(super) fn check(reader: &Reader<'_>, document: &mut Document) {
    let root_of = roots(&document.nodes);
    check_skins(reader, document, &root_of);
    let is_skinned = skinned_meshes(reader);
    for index in 0..document.nodes.len() {
        check_weights(reader, document, index);
        if let Some(mesh) = document.nodes[index].mesh {
            check_skin_of_node(reader, document, index, is_skinned[mesh], &root_of);
        }
    }
}

/// The topmost ancestor of every node; linear.
fn roots(nodes: &[Node]) -> Vec<usize> {
    let mut roots: Vec<Option<usize>> = vec![None; nodes.len()];
    for start in 0..nodes.len() {
        let mut at = start;
        let root = loop {
            match (roots[at], nodes[at].parent) {
                (Some(root), _) => break root,
                (None, Some(parent)) => at = parent,
                (None, None) => break at,
            }
        };
        let mut at = Some(start);
        while let Some(node) = at.filter(|node| roots[*node].is_none()) {
            roots[node] = Some(root);
            at = nodes[node].parent;
        }
    }
    roots.into_iter().map(Option::unwrap_or_default).collect()
}

fn check_skins(reader: &Reader<'_>, document: &Document, root_of: &[usize]) {
    let log = reader.log;
    for (index, skin) in document.skins.iter().enumerate() {
        let place = format!("/skins/{index}");
        let mut roots = skin.joints.iter().map(|joint| root_of[*joint]);
        let first = roots.next();
        if roots.any(|root| Some(root) != first) {
            let message = "the joints are of different trees";
            log.error("SKIN_NO_COMMON_ROOT", format!("{place}/joints"), message);
            continue;
        }
        let json = &reader.root.list("skins")[index];
        let skeleton = json.count("skeleton");
        let Some(skeleton) = skeleton.filter(|node| *node < document.nodes.len()) else {
            continue;
        };
        let below = |joint: usize| {
            let mut at = Some(joint);
            while let Some(node) = at.filter(|node| *node != skeleton) {
                at = document.nodes[node].parent;
            }
            at.is_some()
        };
        // Walking up from every joint may be quadratic in a hostile file.
        let work = skin.joints.len().saturating_mul(document.nodes.len());
        if reader.budget.may_scan(work) && !skin.joints.iter().all(|joint| below(*joint)) {
            let message = "not an ancestor of all joints; ignored";
            let place = format!("{place}/skeleton");
            log.error("SKIN_SKELETON_INVALID", place, message);
        }
    }
}

/// Weights of a node must be those of its mesh's targets.
fn check_weights(reader: &Reader<'_>, document: &mut Document, index: usize) {
    let node = &mut document.nodes[index];
    if node.weights.is_empty() {
        return;
    }
    let mesh = node.mesh.and_then(|mesh| document.meshes.get(mesh));
    let count = mesh.map_or(0, mesh::target_count);
    if node.weights.len() != count && mesh.is_some() {
        let message = format_args!("{} weights for {count} targets", node.weights.len());
        let place = format!("/nodes/{index}/weights");
        reader.log.error("NODE_WEIGHTS_INVALID", place, message);
    }
    node.weights.resize(count, 0.0);
}

/// For each mesh whether any of its primitives names joints; what could not be read counts too.
fn skinned_meshes(reader: &Reader<'_>) -> Vec<bool> {
    let has_joints = |primitive: &Json<'_>| {
        let attributes = primitive.get("attributes");
        attributes.is_some_and(|attributes| attributes.get("JOINTS_0").is_some())
    };
    let meshes = reader.root.list("meshes").iter();
    meshes
        .map(|mesh| mesh.list("primitives").iter().any(has_joints))
        .collect()
}

fn check_skin_of_node(
    reader: &Reader<'_>,
    document: &Document,
    index: usize,
    is_skinned: bool,
    root_of: &[usize],
) {
    let log = reader.log;
    let node = &document.nodes[index];
    let place = format!("/nodes/{index}");
    let Some(skin) = node.skin else {
        if is_skinned {
            let message = "the mesh has joints and weights, but the node no skin";
            log.warning("NODE_SKINNED_MESH_WITHOUT_SKIN", place, message);
        }
        return;
    };
    if !is_skinned {
        let message = "the mesh has no joints and weights; it follows the node";
        log.error("NODE_SKIN_WITH_NON_SKINNED_MESH", &place, message);
        return;
    }
    if node.parent.is_some() {
        let message = "a skinned mesh follows its joints alone, not its parents";
        log.info("NODE_SKINNED_MESH_NON_ROOT", &place, message);
    }
    if node.rest != Transform::IDENTITY {
        let message = "a skinned mesh follows its joints alone, not its node";
        log.warning("NODE_SKINNED_MESH_LOCAL_TRANSFORMS", &place, message);
    }
    let joint = document.skins[skin].joints.first();
    let joint_root = joint.map_or(index, |joint| root_of[*joint]);
    let mesh_root = root_of[index];
    let scenes = &document.scenes;
    // Looking through all scenes for every node may be quadratic in a hostile file.
    let work = scenes.iter().map(|scene| scene.len() + 1).sum();
    let apart = joint_root != mesh_root
        && reader.budget.may_scan(work)
        && scenes
            .iter()
            .any(|scene| scene.contains(&mesh_root) && !scene.contains(&joint_root));
    if apart {
        let message = "the joints are not in the scene of the mesh";
        log.error("NODE_SKIN_NO_SCENE", place, message);
    }
}
