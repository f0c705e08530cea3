//! Writes a document as glTF 2.0: GLB in one piece, or JSON with its buffer beside it or inside.
//!
//! The result obeys the specification whatever the document holds: what glTF forbids (empty meshes, numbers that are not
//! finite, weights that do not sum to 1, keys before time 0) is repaired or left out piece by piece, so that every
//! program can read what was written. Check a document first to hear of such things.
//!
//! ```
//! use anim_asset::{Document, Node, gltf};
//!
//! let document = Document {
//!     nodes: vec![Node { name: Some("hips".into()), ..Node::default() }],
//!     ..Document::default()
//! };
//! assert_eq!(&gltf::write(&document)[..4], b"glTF");
//! let (json, buffer) = gltf::write_json(&document, None);
//! assert!(json.contains("hips") && buffer.is_empty());
//! ```

mod animation;
mod buffer;
mod forest;
mod mesh;
mod schema;
mod split;

use std::collections::BTreeSet;

use anim_math::{Affine, Quat, Transform, Vec3, quat};

use self::buffer::{Buffer, data_uri, encode_uri};
use self::schema::Root;
use crate::{Document, Node};

/// The document as a GLB file; up to 4 GiB, which is the container's limit.
pub fn write(document: &Document) -> Vec<u8> {
    let (mut root, buffer) = convert(document);
    if !buffer.is_empty() {
        root.buffers = vec![schema::Buffer {
            byte_length: buffer.len(),
            uri: None,
        }];
    }
    let mut json = serde_json::to_vec(&root).unwrap_or_default();
    json.resize(json.len().next_multiple_of(4), b' ');

    let mut out = Vec::with_capacity(28 + json.len() + buffer.len());
    out.extend(b"glTF");
    out.extend(2_u32.to_le_bytes());
    out.extend([0; 4]);
    push_chunk(&mut out, b"JSON", &json);
    if !buffer.is_empty() {
        push_chunk(&mut out, b"BIN\0", &buffer);
    }
    let length = out.len() as u32;
    out[8..12].copy_from_slice(&length.to_le_bytes());
    out
}

/// The document as glTF JSON, and the bytes of its buffer.
///
/// With `buffer_uri` the JSON refers to that path, relative to itself, where the caller puts the bytes. Without, the
/// buffer is inside the JSON as a data URI and the bytes are empty.
pub fn write_json(document: &Document, buffer_uri: Option<&str>) -> (String, Vec<u8>) {
    let (mut root, mut buffer) = convert(document);
    if !buffer.is_empty() {
        root.buffers = vec![schema::Buffer {
            byte_length: buffer.len(),
            uri: Some(buffer_uri.map_or_else(|| data_uri(&buffer), encode_uri)),
        }];
    }
    if buffer_uri.is_none() {
        buffer.clear();
    }
    let json = serde_json::to_string_pretty(&root).unwrap_or_default();
    (json, buffer)
}

fn push_chunk(out: &mut Vec<u8>, kind: &[u8; 4], content: &[u8]) {
    out.extend((content.len() as u32).to_le_bytes());
    out.extend(kind);
    out.extend(content);
}

/// The JSON without its buffer entry, and the buffer's bytes.
fn convert(document: &Document) -> (Root, Vec<u8>) {
    let document = &*forest::mend_forest(split::split_partly_skinned(document));
    let mut buffer = Buffer::default();
    let mut materials = Vec::new();
    let (skins, skin_places) = write_skins(document, &mut buffer);
    let (meshes, mesh_places) = mesh::write_meshes(document, &mut buffer, &mut materials);
    let nodes = write_nodes(document, &mesh_places, &skin_places);
    let animations = animation::write_animations(document, &nodes, &meshes, &mut buffer);
    let (accessors, buffer_views, bytes) = buffer.finish();
    let scenes = write_scenes(document);
    let root = Root {
        asset: schema::Asset {
            version: "2.0",
            generator: "anim",
        },
        scene: (!scenes.is_empty()).then_some(0),
        scenes,
        nodes,
        meshes: meshes.into_iter().map(|mesh| mesh.json).collect(),
        materials,
        skins,
        animations,
        accessors,
        buffer_views,
        buffers: Vec::new(),
    };
    (root, bytes)
}

/// The skins that have joints, and where each of the document's skins went.
fn write_skins(
    document: &Document,
    buffer: &mut Buffer,
) -> (Vec<schema::Skin>, Vec<Option<usize>>) {
    let mut skins = Vec::new();
    let mut places = Vec::new();
    for skin in &document.skins {
        if skin.joints.is_empty() || skin.joints.iter().any(|j| *j >= document.nodes.len()) {
            places.push(None);
            continue;
        }
        let matrices: Vec<[f32; 16]> = (0..skin.joints.len())
            .map(|joint| {
                let bind = skin.joint_from_bind.get(joint).copied();
                let bind = bind.filter(Affine::is_finite).unwrap_or_default();
                std::array::from_fn(|i| bind.to_mat4()[i])
            })
            .collect();
        places.push(Some(skins.len()));
        skins.push(schema::Skin {
            name: skin.name.clone(),
            joints: skin.joints.clone(),
            inverse_bind_matrices: buffer.floats("MAT4", &matrices, None, false),
        });
    }
    (skins, places)
}

fn write_nodes(
    document: &Document,
    mesh_places: &[Option<mesh::Place>],
    skin_places: &[Option<usize>],
) -> Vec<schema::Node> {
    let mut children = vec![Vec::new(); document.nodes.len()];
    for (index, node) in document.nodes.iter().enumerate() {
        if let Some(list) = node.parent.and_then(|parent| children.get_mut(parent)) {
            list.push(index);
        }
    }
    let node = |(node, children): (&Node, Vec<usize>)| {
        let mesh = node.mesh.and_then(|mesh| mesh_places.get(mesh)?.as_ref());
        let skin = node.skin.and_then(|skin| *skin_places.get(skin)?);
        let weights: Vec<f32> = node.weights.iter().map(|w| finite_or(*w, 0.0)).collect();
        let targets = mesh.map_or(0, |mesh| mesh.target_count);
        let rest = legal_transform(node.rest);
        schema::Node {
            name: node.name.clone(),
            children,
            mesh: mesh.map(|mesh| mesh.index),
            skin: skin.filter(|_| mesh.is_some_and(|mesh| mesh.skinned)),
            weights: if weights.len() == targets {
                weights
            } else {
                Vec::new()
            },
            translation: unless(rest.translation.into(), [0.0; 3]),
            rotation: unless(rest.rotation.coords.into(), [0.0, 0.0, 0.0, 1.0]),
            scale: unless(rest.scale.into(), [1.0; 3]),
        }
    };
    document.nodes.iter().zip(children).map(node).collect()
}

/// The document's scenes without what is no root, or one of all roots.
fn write_scenes(document: &Document) -> Vec<schema::Scene> {
    let is_root = |index: &usize| {
        let node = document.nodes.get(*index);
        node.is_some_and(|node| node.parent.is_none())
    };
    let all_roots = || (0..document.nodes.len()).filter(is_root).collect();
    let mut scenes = document.scenes.clone();
    if scenes.is_empty() && !document.nodes.is_empty() {
        scenes.push(all_roots());
    }
    let scene = |mut nodes: Vec<usize>| {
        let mut kept = BTreeSet::new();
        nodes.retain(|node| is_root(node) && kept.insert(*node));
        schema::Scene { nodes }
    };
    scenes.into_iter().map(scene).collect()
}

/// The identity for a transform that is not finite; the rotation of unit length.
fn legal_transform(transform: Transform) -> Transform {
    if !transform.is_finite() {
        return Transform::IDENTITY;
    }
    Transform {
        rotation: legal_rotation(transform.rotation),
        ..transform
    }
}

/// What differs less from unit length is rounding, and is written as it is, so that files read back bit by bit.
const UNIT_TOLERANCE: f32 = 1e-6;

/// Of unit length; the identity where no rotation is meant.
fn legal_rotation(rotation: Quat) -> Quat {
    if (rotation.coords.norm_squared() - 1.0).abs() < UNIT_TOLERANCE {
        return rotation;
    }
    quat::from_xyzw(rotation.coords.into()).unwrap_or_default()
}

/// Of unit length; up where no direction is meant.
fn legal_normal(normal: Vec3) -> Vec3 {
    if (normal.norm_squared() - 1.0).abs() < UNIT_TOLERANCE {
        return normal;
    }
    let normal = normal.cast::<f64>().try_normalize(1e-30);
    normal.map_or_else(Vec3::y, |normal| normal.cast())
}

fn finite_or(value: f32, other: f32) -> f32 {
    if value.is_finite() { value } else { other }
}

/// `None` for the default, which need not be written.
fn unless<T: PartialEq>(value: T, default: T) -> Option<T> {
    (value != default).then_some(value)
}
