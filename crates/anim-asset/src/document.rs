//! What a file holds, in the file's own order: nodes, meshes, skins and clips.
//!
//! ```
//! use anim_asset::{Document, MeshSpec, Node, Primitive};
//!
//! let mesh = MeshSpec { primitives: vec![Primitive::default(); 2], ..MeshSpec::default() };
//! let node = Node { mesh: Some(0), ..Node::default() };
//! let document = Document { nodes: vec![node], meshes: vec![mesh], ..Document::default() };
//! assert_eq!(document.surfaces().count(), 2);
//! ```

use anim_geom::Mesh;
use anim_math::{Affine, Transform};
use anim_skeleton::{ClipSpec, DriverSpec, JointSpec, Skeleton, SkeletonError};
use anim_skin::tangents::TangentTarget;
use anim_skin::{Influences, MorphTarget};
use serde::{Deserialize, Serialize};

use crate::Finding;

/// Everything animation needs of a file.
///
/// All nodes together are one [`Skeleton`] whose source order is the node order, so node indices are joint indices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// In file order; parents form no cycle.
    pub nodes: Vec<Node>,
    /// Nodes at the top of each scene.
    pub scenes: Vec<Vec<usize>>,
    /// Geometry.
    pub meshes: Vec<MeshSpec>,
    /// Which joints move which meshes.
    pub skins: Vec<SkinSpec>,
    /// Animations; their joints are node indices.
    pub clips: Vec<ClipSpec>,
    /// What was wrong with the file and was repaired or left out.
    pub findings: Vec<Finding>,
    /// Joints that follow from others, by node index: spring bones of VRM. Not written to glTF.
    pub drivers: Vec<DriverSpec>,
    /// Tangents of the primitives that have some, by ascending mesh and primitive.
    pub tangents: Vec<TangentSpec>,
}

/// One node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Optional, and need not be unique.
    pub name: Option<String>,
    /// Index of the parent node.
    pub parent: Option<usize>,
    /// Rest transform in the parent.
    pub rest: Transform,
    /// Index of the mesh that it carries.
    pub mesh: Option<usize>,
    /// Index of the skin of that mesh; the node's own transform does not move a skinned mesh.
    pub skin: Option<usize>,
    /// Morph weights at rest; the mesh's own where empty.
    pub weights: Vec<f32>,
}

/// Geometry that nodes carry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeshSpec {
    /// Optional.
    pub name: Option<String>,
    /// Parts.
    pub primitives: Vec<Primitive>,
    /// Morph weights at rest; zeros where empty.
    pub weights: Vec<f32>,
}

/// One part of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Primitive {
    /// Vertices in file order; strips and fans are triangulated; points and lines have no triangles.
    pub mesh: Mesh,
    /// Raw influences of all JOINTS_n and WEIGHTS_n sets, or `None`.
    pub influences: Option<Influences>,
    /// Morph targets, in file order.
    pub targets: Vec<MorphTarget>,
    /// Linear RGB base colour.
    pub color: [f32; 3],
}

/// The tangents of one primitive, for normal maps: what [`TangentBlocks`](anim_skin::TangentBlocks) and
/// [`TangentMorphs`](anim_skin::TangentMorphs) are made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TangentSpec {
    /// Index of the mesh.
    pub mesh: usize,
    /// Place of the primitive in the mesh.
    pub primitive: usize,
    /// One a vertex: x, y, z unit, and the handedness 1 or −1 of the bitangent.
    pub rest: Vec<[f32; 4]>,
    /// What the morph targets do to them, one a target; empty where none moves any.
    pub targets: Vec<TangentTarget>,
}

/// The joints of a skin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkinSpec {
    /// Optional.
    pub name: Option<String>,
    /// Node indices.
    pub joints: Vec<usize>,
    /// One a joint; identities where the file has none.
    pub joint_from_bind: Vec<Affine>,
}

/// One primitive of one node's mesh: what is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurfaceSpec {
    /// Node that carries the mesh.
    pub node: usize,
    /// Its mesh.
    pub mesh: usize,
    /// Place of the primitive in the mesh.
    pub primitive: usize,
    /// Its skin; `None`, or a primitive without influences, follows the node.
    pub skin: Option<usize>,
}

impl Document {
    /// All nodes as one skeleton.
    ///
    /// # Errors
    ///
    /// What [`Skeleton::new`] refuses; documents that a reader made are never refused, but for more than 65535 nodes.
    pub fn skeleton(&self) -> Result<Skeleton, SkeletonError> {
        let joints = self.nodes.iter().map(|node| JointSpec {
            name: node.name.clone(),
            parent: node.parent,
            rest: node.rest,
        });
        Skeleton::new(joints.collect())
    }

    /// Every primitive of every node that carries a mesh, in node order.
    pub fn surfaces(&self) -> impl Iterator<Item = SurfaceSpec> {
        self.nodes.iter().enumerate().flat_map(|(index, node)| {
            let primitives = node
                .mesh
                .and_then(|mesh| self.meshes.get(mesh))
                .map_or(0, |mesh| mesh.primitives.len());
            (0..primitives).map(move |primitive| SurfaceSpec {
                node: index,
                mesh: node.mesh.unwrap_or_default(),
                primitive,
                skin: node.skin,
            })
        })
    }

    /// The tangents of a primitive, if it has some.
    pub fn tangents_of(&self, mesh: usize, primitive: usize) -> Option<&TangentSpec> {
        let key = (mesh, primitive);
        let found = self
            .tangents
            .binary_search_by_key(&key, |tangents| (tangents.mesh, tangents.primitive));
        found.ok().map(|place| &self.tangents[place])
    }

    /// The morph weights of `node` at rest, one a target of its mesh.
    pub fn rest_weights(&self, node: usize) -> &[f32] {
        let node = &self.nodes[node];
        match node.mesh {
            Some(mesh) if node.weights.is_empty() => &self.meshes[mesh].weights,
            _ => &node.weights,
        }
    }
}
