//! The part of the glTF 2.0 schema that is written, as serde structs; empty arrays and defaults are left out.

use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Root {
    pub(super) asset: Asset,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scene: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) scenes: Vec<Scene>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) nodes: Vec<Node>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) meshes: Vec<Mesh>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) materials: Vec<Material>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) skins: Vec<Skin>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) animations: Vec<Animation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) accessors: Vec<Accessor>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) buffer_views: Vec<BufferView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) buffers: Vec<Buffer>,
}

#[derive(Serialize)]
pub(super) struct Asset {
    pub(super) version: &'static str,
    pub(super) generator: &'static str,
}

#[derive(Serialize)]
pub(super) struct Scene {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) nodes: Vec<usize>,
}

#[derive(Serialize)]
pub(super) struct Node {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) children: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mesh: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skin: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) weights: Vec<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) translation: Option<[f32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rotation: Option<[f32; 4]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scale: Option<[f32; 3]>,
}

#[derive(Serialize)]
pub(super) struct Mesh {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) primitives: Vec<Primitive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) weights: Vec<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extras: Option<MeshExtras>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MeshExtras {
    pub(super) target_names: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Primitive {
    /// In a fixed order, as `Attributes` serialises.
    pub(super) attributes: Attributes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) indices: Option<usize>,
    pub(super) material: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) targets: Vec<Attributes>,
}

/// Attribute names and accessors.
pub(super) type Attributes = std::collections::BTreeMap<String, usize>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Material {
    pub(super) pbr_metallic_roughness: Pbr,
    pub(super) double_sided: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pbr {
    pub(super) base_color_factor: [f32; 4],
    pub(super) metallic_factor: f32,
    pub(super) roughness_factor: f32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) joints: Vec<usize>,
    pub(super) inverse_bind_matrices: usize,
}

#[derive(Serialize)]
pub(super) struct Animation {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) channels: Vec<Channel>,
    pub(super) samplers: Vec<Sampler>,
}

#[derive(Serialize)]
pub(super) struct Channel {
    pub(super) sampler: usize,
    pub(super) target: Target,
}

#[derive(Serialize)]
pub(super) struct Target {
    pub(super) node: usize,
    pub(super) path: &'static str,
}

#[derive(Serialize)]
pub(super) struct Sampler {
    pub(super) input: usize,
    pub(super) interpolation: &'static str,
    pub(super) output: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) buffer_view: Option<usize>,
    pub(super) component_type: u32,
    pub(super) count: usize,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) min: Vec<f32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) max: Vec<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sparse: Option<Sparse>,
}

#[derive(Serialize)]
pub(super) struct Sparse {
    pub(super) count: usize,
    pub(super) indices: SparseIndices,
    pub(super) values: SparseValues,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub(super) buffer_view: usize,
    pub(super) component_type: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub(super) buffer_view: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: usize,
    pub(super) byte_offset: usize,
    pub(super) byte_length: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub(super) byte_length: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uri: Option<String>,
}
