//! From a document to a character.

use std::ops::Range;

use anim_asset::Document;
use anim_math::Affine;
use anim_skeleton::{BakeOptions, Clip, JointId, Skeleton};
use anim_skin::{Influences, SkinnedMesh};

use crate::{Character, CharacterClip, EngineError, Surface};

impl Character {
    /// Builds the model of everything in `document`, baking its clips.
    ///
    /// # Errors
    ///
    /// [`EngineError::Skeleton`] for more than 65535 nodes, [`EngineError::Skin`] for geometry that is not sound;
    /// documents that a reader made have neither fault but the first.
    pub fn from_document(document: &Document, options: &BakeOptions) -> Result<Self, EngineError> {
        let skeleton = document.skeleton()?;
        let (ranges, rest_weights) = weights_of(document);
        let surfaces = surfaces_of(document, &skeleton, &ranges)?;
        let mut clips = Vec::with_capacity(document.clips.len());
        for spec in &document.clips {
            let (clip, report) = Clip::bake(spec, &skeleton, options)?;
            let morphs = spec.morphs.iter().filter_map(|channel| {
                let range = ranges.get(channel.joint)?.clone();
                (!range.is_empty()).then(|| (range, channel.track.clone()))
            });
            clips.push(CharacterClip {
                name: spec.name.clone(),
                clip,
                morphs: morphs.collect(),
                report,
            });
        }
        Ok(Self {
            skeleton,
            clips,
            surfaces,
            cloths: Vec::new(),
            rest_weights,
        })
    }
}

/// Each node's places among the morph weights, and the weights at rest.
fn weights_of(document: &Document) -> (Vec<Range<usize>>, Vec<f32>) {
    let mut rest_weights = Vec::new();
    let range = |node| {
        let start = rest_weights.len();
        rest_weights.extend(target_weights(document, node));
        start..rest_weights.len()
    };
    let ranges = (0..document.nodes.len()).map(range).collect();
    (ranges, rest_weights)
}

/// The surfaces of a document, in node order.
fn surfaces_of(
    document: &Document,
    skeleton: &Skeleton,
    ranges: &[Range<usize>],
) -> Result<Vec<Surface>, EngineError> {
    let mut surfaces = Vec::new();
    for spec in document.surfaces() {
        let primitive = &document.meshes[spec.mesh].primitives[spec.primitive];
        let skin = spec.skin.and_then(|skin| document.skins.get(skin));
        let joint = skeleton.joint(spec.node);
        let built = match (skin, &primitive.influences) {
            (Some(skin), Some(influences)) => {
                let joints: Vec<JointId> = skin.joints.iter().map(|j| skeleton.joint(*j)).collect();
                SkinnedMesh::new(
                    &primitive.mesh,
                    &joints,
                    &skin.joint_from_bind,
                    influences,
                    &primitive.targets,
                )
            }
            _ => SkinnedMesh::new(
                &primitive.mesh,
                &[joint],
                &[Affine::IDENTITY],
                &Influences::rigid(primitive.mesh.vertex_count()),
                &primitive.targets,
            ),
        };
        let mesh = built.map_err(|source| EngineError::Skin {
            node: spec.node,
            primitive: spec.primitive,
            source,
        })?;
        surfaces.push(Surface {
            joint,
            source: (spec.node, spec.primitive),
            name: document.nodes[spec.node].name.clone(),
            mesh,
            weights: ranges[spec.node].clone(),
            color: primitive.color,
        });
    }
    Ok(surfaces)
}

/// The rest weights of a node, one for each target of its mesh, whatever the file's own list holds.
fn target_weights(document: &Document, node: usize) -> Vec<f32> {
    let mesh = document.nodes[node]
        .mesh
        .and_then(|mesh| document.meshes.get(mesh));
    let primitives = mesh.iter().flat_map(|mesh| &mesh.primitives);
    let count = primitives
        .map(|primitive| primitive.targets.len())
        .max()
        .unwrap_or(0);
    let mut weights = document.rest_weights(node).to_vec();
    weights.resize(count, 0.0);
    weights
}
