//! From a document to a character.

use std::ops::Range;
use std::sync::Arc;

use anim_asset::Document;
use anim_math::{Affine, Vec3};
use anim_skeleton::{BakeOptions, Clip, Drivers, Events, Globals, JointId, Skeleton, SkeletonLod};
use anim_skin::{Influences, JointBounds, SkinnedMesh};

use crate::deformer::USUAL_WEIGHTS;
use crate::{Character, CharacterClip, Deformer, EngineError, Surface, SurfaceTangents};

/// Bytes that the clips of one character may take together beyond what their keys warrant.
const SPARE_BYTES: usize = 64 << 20;
/// Vertices that surfaces may have beyond those that the meshes hold: nodes may share a mesh, but not without end.
const SHARED_VERTICES: usize = 2_000_000;

impl Character {
    /// How exact clips should be for a character of the size of `document`'s, whatever its unit of length, and however
    /// many clips it has.
    ///
    /// The size is the largest extent, at rest, of the joints of one skin; without skins of all meshes; without meshes
    /// of all nodes. The half millimetre of a human 1.8 m tall is for a fox of 100 units 0.03 units.
    ///
    /// # Errors
    ///
    /// [`EngineError::Skeleton`] for more than 65535 nodes.
    pub fn bake_options(document: &Document) -> Result<BakeOptions, EngineError> {
        let options = BakeOptions::for_size(size_of_rest(document, &document.skeleton()?));
        let spare = SPARE_BYTES / document.clips.len().max(1);
        Ok(BakeOptions {
            spare_bytes: options.spare_bytes.min(spare),
            ..options
        })
    }

    /// Builds the model of everything in `document`, baking its clips; its spring bones are the drivers.
    ///
    /// # Errors
    ///
    /// [`EngineError::Skeleton`] for more than 65535 nodes, [`EngineError::TooManyVertices`] for one mesh at too many
    /// nodes, [`EngineError::Skin`] for geometry that is not sound and [`EngineError::Driver`] for drivers that do not fit,
    /// which no reader returns.
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
                clip: Arc::new(clip),
                morphs: morphs.collect(),
                report,
                events: Events::default(),
                markers: Events::default(),
                motion: None,
            });
        }
        let character = Self {
            drivers: Drivers::new(&skeleton, Vec::new())?,
            levels: SkeletonLod::new(&skeleton, &[]),
            skeleton,
            clips,
            surfaces,
            cloths: Vec::new(),
            hairs: Vec::new(),
            muscles: Vec::new(),
            fleshes: Vec::new(),
            weight_names: weight_names(document, rest_weights.len()),
            rest_weights,
            sockets: Vec::new(),
            output_weights: Vec::new(),
        };
        character.with_drivers(document.drivers.clone())
    }
}

/// The largest extent of a document's characters at rest.
fn size_of_rest(document: &Document, skeleton: &Skeleton) -> f32 {
    let mut globals = Globals::new(skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    let place = |node: usize| globals.get(skeleton.joint(node)).translation;
    let skins = document.skins.iter().filter(|skin| skin.joints.len() > 1);
    let largest = skins
        .map(|skin| extent(skin.joints.iter().map(|joint| place(*joint))))
        .reduce(f32::max);
    let meshes = || {
        document.surfaces().flat_map(|surface| {
            let primitive = &document.meshes[surface.mesh].primitives[surface.primitive];
            let world_from_node = globals.get(skeleton.joint(surface.node));
            let positions = primitive.mesh.rest.positions.iter();
            positions.map(move |position| world_from_node.transform_point(*position))
        })
    };
    largest
        .or_else(|| Some(extent(meshes())).filter(|size| *size > 0.0))
        .unwrap_or_else(|| extent((0..document.nodes.len()).map(place)))
}

/// The longest side of the box around points; 0 around none.
fn extent(points: impl Iterator<Item = Vec3>) -> f32 {
    let boxes = points.map(|point| (point, point));
    let around = boxes.reduce(|a, b| (a.0.inf(&b.0), a.1.sup(&b.1)));
    around.map_or(0.0, |(low, high)| (high - low).max())
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

/// The names of all morph weights: those of the targets of the longest primitive, node by node.
fn weight_names(document: &Document, count: usize) -> Vec<Option<String>> {
    let names = |node: usize| {
        let mesh = document.nodes[node]
            .mesh
            .and_then(|m| document.meshes.get(m));
        let primitives = mesh.into_iter().flat_map(|mesh| &mesh.primitives);
        let longest = primitives.max_by_key(|primitive| primitive.targets.len());
        let targets = longest.into_iter().flat_map(|primitive| &primitive.targets);
        targets.map(|target| target.name.clone())
    };
    let mut all: Vec<_> = (0..document.nodes.len()).flat_map(names).collect();
    all.resize(count, None);
    all
}

/// The surfaces of a document, in node order.
fn surfaces_of(
    document: &Document,
    skeleton: &Skeleton,
    ranges: &[Range<usize>],
) -> Result<Vec<Surface>, EngineError> {
    let held = document.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let held: usize = held.map(|primitive| primitive.mesh.vertex_count()).sum();
    let max = held + SHARED_VERTICES;
    let mut vertices = 0;
    let mut surfaces = Vec::new();
    for spec in document.surfaces() {
        let primitive = &document.meshes[spec.mesh].primitives[spec.primitive];
        vertices += primitive.mesh.vertex_count();
        if vertices > max {
            let node = spec.node;
            return Err(EngineError::TooManyVertices {
                node,
                vertices,
                max,
            });
        }
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
        let unsound = |source| EngineError::Skin {
            node: spec.node,
            primitive: spec.primitive,
            source,
        };
        let mesh = built.map_err(unsound)?.with_skeleton(skeleton);
        let tangents = document.tangents_of(spec.mesh, spec.primitive);
        let tangents = tangents
            .map(|tangents| SurfaceTangents::new(&mesh, &tangents.rest, &tangents.targets))
            .transpose()
            .map_err(unsound)?;
        surfaces.push(Surface {
            deformer: Deformer::default(),
            bounds: JointBounds::new(&mesh, USUAL_WEIGHTS),
            tangents,
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
