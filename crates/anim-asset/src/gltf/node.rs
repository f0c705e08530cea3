//! Nodes, their hierarchy, and scenes.

use anim_math::nalgebra::Matrix4;
use anim_math::{Affine, Transform, Vec3, quat};

use super::json::Json;
use super::read::Reader;
use crate::{AssetError, Node};

/// How far the length of a unit quaternion may be from 1: what the official validator tolerates.
const UNIT_TOLERANCE: f32 = 0.007_69;

/// All nodes, and the roots of all scenes.
///
/// # Errors
///
/// `NODE_PARENT_OVERRIDE` for two parents, `NODE_LOOP` for a cycle, `TOO_LARGE`.
pub(super) fn nodes(reader: &Reader<'_>) -> Result<(Vec<Node>, Vec<Vec<usize>>), AssetError> {
    let list = reader.root.list("nodes");
    let scenes = reader.root.list("scenes");
    let budget = reader.budget;
    budget.take(list.len(), size_of::<Node>(), "/nodes")?;
    budget.take(scenes.len(), size_of::<Vec<usize>>(), "/scenes")?;
    let mut nodes: Vec<Node> = list
        .iter()
        .enumerate()
        .map(|(index, json)| node(reader, json, &format!("/nodes/{index}")))
        .collect();
    link(&mut nodes, list)?;
    refuse_loops(&nodes)?;
    let scenes = scenes.iter().enumerate();
    let scenes = scenes.map(|(index, json)| roots(reader, &nodes, json, index));
    let scenes = scenes.collect();
    Ok((nodes, scenes))
}

fn node(reader: &Reader<'_>, json: &Json<'_>, place: &str) -> Node {
    let existing = |name: &str, list: &str| {
        json.count(name)
            .filter(|index| *index < reader.root.list(list).len())
    };
    let mesh = existing("mesh", "meshes");
    Node {
        name: Reader::name(json),
        parent: None,
        rest: rest(reader, json, place),
        mesh,
        skin: mesh.and_then(|_| existing("skin", "skins")),
        weights: json.numbers("weights"),
    }
}

/// The transform of a node, from a matrix or from its parts.
fn rest(reader: &Reader<'_>, json: &Json<'_>, place: &str) -> Transform {
    let log = reader.log;
    let translation = json.floats::<3>("translation");
    let scale = json.floats::<3>("scale");
    let rotation = json.floats::<4>("rotation");
    let has_parts = ["translation", "rotation", "scale"]
        .iter()
        .any(|part| json.get(part).is_some());
    if let Some(matrix) = json.floats::<16>("matrix") {
        let place = format!("{place}/matrix");
        if has_parts {
            let message = "a matrix beside translation, rotation or scale; the matrix is used";
            log.error("NODE_MATRIX_TRS", &place, message);
        }
        return decompose(reader, &Matrix4::from_column_slice(&matrix), &place);
    }
    let rotation = rotation.map(|xyzw| {
        let norm = xyzw.iter().map(|c| c * c).sum::<f32>().sqrt();
        let unit = quat::from_xyzw(xyzw);
        if unit.is_none() || (norm - 1.0).abs() > UNIT_TOLERANCE {
            let place = format!("{place}/rotation");
            let done = if unit.is_some() {
                "normalised"
            } else {
                "taken to be the identity"
            };
            let message = format_args!("a quaternion of length {norm}, {done}");
            log.error("ROTATION_NON_UNIT", place, message);
        }
        unit.unwrap_or_default()
    });
    Transform {
        translation: translation.map(Vec3::from).unwrap_or_default(),
        rotation: rotation.unwrap_or_default(),
        scale: scale.map_or(Transform::IDENTITY.scale, Vec3::from),
    }
}

fn decompose(reader: &Reader<'_>, matrix: &Matrix4<f32>, place: &str) -> Transform {
    if *matrix == Matrix4::identity() {
        let message = "the identity need not be written";
        reader.log.info("NODE_MATRIX_DEFAULT", place, message);
    }
    let affine = Affine::from_mat4(matrix);
    let transform = affine.to_transform();
    // Relative to the longest axis, f32 decompositions of true products err by a few ulp; shear is larger.
    let size = affine.linear.column_iter().map(|c| c.norm());
    let size = size.fold(f32::MIN_POSITIVE, f32::max);
    let error = (Affine::from(transform).linear - affine.linear).norm() / size;
    let last_row = matrix.row(3);
    let is_affine = (last_row - Matrix4::identity().row(3)).norm() <= 1e-6;
    let is_regular = affine.linear.determinant() != 0.0;
    let within = error <= 1e-3;
    if !(within && is_affine && is_regular) {
        let message = "not a product of translation, rotation and scale; the nearest one is used";
        reader.log.error("NODE_MATRIX_NON_TRS", place, message);
    }
    if transform.is_finite() {
        transform
    } else {
        Transform::IDENTITY
    }
}

/// Sets the parents.
fn link(nodes: &mut [Node], list: &[Json<'_>]) -> Result<(), AssetError> {
    for (parent, json) in list.iter().enumerate() {
        for (at, child) in json.list("children").iter().enumerate() {
            let Some(child) = child.as_count().filter(|child| *child < nodes.len()) else {
                continue;
            };
            match nodes[child].parent {
                None => nodes[child].parent = Some(parent),
                // Repeats within one list are reported, and harmless.
                Some(other) if other == parent => {}
                Some(other) => {
                    return Err(AssetError {
                        code: "NODE_PARENT_OVERRIDE",
                        location: format!("/nodes/{parent}/children/{at}"),
                        message: format!("node {child} is already a child of node {other}"),
                    });
                }
            }
        }
    }
    Ok(())
}

/// Refuses nodes that are their own ancestors. Linear: every node is passed once.
fn refuse_loops(nodes: &[Node]) -> Result<(), AssetError> {
    // The walk that first met each node; 0 is none.
    let mut met = vec![0; nodes.len()];
    for start in 0..nodes.len() {
        let walk = start + 1;
        let mut at = Some(start);
        while let Some(node) = at.filter(|node| met[*node] == 0) {
            met[node] = walk;
            at = nodes[node].parent;
        }
        if let Some(node) = at.filter(|node| met[*node] == walk) {
            return Err(AssetError {
                code: "NODE_LOOP",
                location: format!("/nodes/{node}"),
                message: "the node is its own ancestor".to_owned(),
            });
        }
    }
    Ok(())
}

/// The roots of one scene.
fn roots(reader: &Reader<'_>, nodes: &[Node], json: &Json<'_>, scene: usize) -> Vec<usize> {
    let mut roots = Vec::new();
    for (at, root) in json.list("nodes").iter().enumerate() {
        let Some(root) = root.as_count().filter(|root| *root < nodes.len()) else {
            continue;
        };
        if let Some(parent) = nodes[root].parent {
            let place = format!("/scenes/{scene}/nodes/{at}");
            let message = format_args!("node {root} is a child of node {parent}, and left out");
            reader.log.error("SCENE_NON_ROOT_NODE", place, message);
        } else {
            roots.push(root);
        }
    }
    roots
}
