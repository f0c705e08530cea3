//! What every consumer of a document relies on, checked in one place.

use std::fmt::Display;

use anim_geom::GeomError;
use anim_math::Vec3;
use anim_skeleton::driver::{DriverKind, DriverSpec, Drivers};
use anim_skeleton::{Skeleton, SkeletonError};
use anim_skin::{Influences, MorphTarget};

use crate::{AssetError, Document, MeshSpec, Primitive, TangentSpec};

/// Joints that drivers may name, times the number of joints above each: sorting drivers lists them all.
const MOST_JOINTS_READ: usize = 1 << 20;

impl Document {
    /// Checks that every index names something, counts agree, parents form no cycle and numbers are finite.
    ///
    /// A document that passes makes no later stage panic. Readers give only such documents; check those you build.
    ///
    /// # Errors
    ///
    /// The first thing wrong, with a JSON pointer into the document.
    pub fn check(&self) -> Result<(), AssetError> {
        self.check_nodes()?;
        for (scene, roots) in self.scenes.iter().enumerate() {
            let place = || format!("/scenes/{scene}");
            in_range(roots, self.nodes.len(), "node", place)?;
        }
        for (index, mesh) in self.meshes.iter().enumerate() {
            check_mesh(mesh, &format!("/meshes/{index}"))?;
        }
        for (index, skin) in self.skins.iter().enumerate() {
            let place = || format!("/skins/{index}");
            in_range(&skin.joints, self.nodes.len(), "node", place)?;
            let (joints, matrices) = (skin.joints.len(), skin.joint_from_bind.len());
            if joints != matrices {
                return Err(invalid(
                    place(),
                    format!("{matrices} matrices for {joints} joints"),
                ));
            }
            if let Some(bad) = skin.joint_from_bind.iter().position(|m| !m.is_finite()) {
                return Err(invalid(place(), format!("matrix {bad} is not finite")));
            }
        }
        for (index, clip) in self.clips.iter().enumerate() {
            let joints = clip.channels.iter().map(|channel| channel.joint);
            let morphs = clip.morphs.iter().map(|channel| channel.joint);
            let place = || format!("/clips/{index}");
            in_range(
                &joints.chain(morphs).collect::<Vec<_>>(),
                self.nodes.len(),
                "node",
                place,
            )?;
        }
        self.check_tangents()?;
        self.check_drivers()
    }

    fn check_tangents(&self) -> Result<(), AssetError> {
        let key = |tangents: &TangentSpec| (tangents.mesh, tangents.primitive);
        if !self.tangents.is_sorted_by(|a, b| key(a) < key(b)) {
            let message = "meshes and primitives do not ascend".to_owned();
            return Err(invalid("/tangents".to_owned(), message));
        }
        for (index, tangents) in self.tangents.iter().enumerate() {
            let mesh = self.meshes.get(tangents.mesh);
            let primitive = mesh.and_then(|mesh| mesh.primitives.get(tangents.primitive));
            let checked = match primitive {
                Some(primitive) => check_tangents(tangents, primitive),
                None => Err("the primitive does not exist".to_owned()),
            };
            checked.map_err(|message| invalid(format!("/tangents/{index}"), message))?;
        }
        Ok(())
    }

    fn check_drivers(&self) -> Result<(), AssetError> {
        if self.drivers.is_empty() {
            return Ok(());
        }
        let refuse = |error: &dyn Display| invalid("/drivers".to_owned(), error.to_string());
        let skeleton = self.skeleton().map_err(|error| refuse(&error))?;
        if read_too_much(&self.drivers, &skeleton) {
            return Err(refuse(&"too many of joints too deep"));
        }
        Drivers::new(&skeleton, self.drivers.clone()).map_err(|error| refuse(&error))?;
        Ok(())
    }

    fn check_nodes(&self) -> Result<(), AssetError> {
        self.skeleton().map_err(|error| {
            let location = match error {
                SkeletonError::Cycle { joint }
                | SkeletonError::NoParent { joint, .. }
                | SkeletonError::NotFinite { joint } => format!("/nodes/{joint}"),
                _ => "/nodes".to_owned(),
            };
            invalid(location, error.to_string())
        })?;
        for (index, node) in self.nodes.iter().enumerate() {
            let place = || format!("/nodes/{index}");
            in_range(node.mesh.as_slice(), self.meshes.len(), "mesh", place)?;
            in_range(node.skin.as_slice(), self.skins.len(), "skin", place)?;
            let targets = node.mesh.map_or(0, |mesh| target_count(&self.meshes[mesh]));
            check_weights(&node.weights, targets, place)?;
        }
        Ok(())
    }
}

fn check_mesh(mesh: &MeshSpec, place: &str) -> Result<(), AssetError> {
    check_weights(&mesh.weights, target_count(mesh), || place.to_owned())?;
    for (index, primitive) in mesh.primitives.iter().enumerate() {
        let place = format!("{place}/primitives/{index}");
        check_primitive(primitive).map_err(|message| invalid(place, message))?;
    }
    Ok(())
}

fn check_primitive(primitive: &Primitive) -> Result<(), String> {
    let mesh = &primitive.mesh;
    mesh.check().map_err(|error: GeomError| error.to_string())?;
    if let Some(bad) = mesh.uvs.iter().position(|uv| !all_finite(uv)) {
        return Err(format!("texture coordinate {bad} is not finite"));
    }
    if !all_finite(&primitive.color) {
        return Err("the colour is not finite".to_owned());
    }
    if let Some(influences) = &primitive.influences {
        check_influences(influences, mesh.vertex_count())?;
    }
    for (index, target) in primitive.targets.iter().enumerate() {
        check_target(target, mesh.vertex_count())
            .map_err(|what| format!("target {index}: {what}"))?;
    }
    Ok(())
}

fn check_influences(influences: &Influences, vertex_count: usize) -> Result<(), String> {
    let expected = influences.per_vertex.checked_mul(vertex_count);
    let (joints, weights) = (influences.joints.len(), influences.weights.len());
    if expected != Some(joints) || expected != Some(weights) {
        let per_vertex = influences.per_vertex;
        return Err(format!(
            "{joints} joints and {weights} weights for {vertex_count} vertices with {per_vertex} influences each"
        ));
    }
    match influences.weights.iter().position(|w| !w.is_finite()) {
        Some(bad) => Err(format!("weight {bad} is not finite")),
        None => Ok(()),
    }
}

fn check_target(target: &MorphTarget, vertex_count: usize) -> Result<(), String> {
    let displacements = (&target.vertices[..], &target.positions[..]);
    check_displacements(displacements, &target.normals, vertex_count)
}

/// That `vertices` ascend and exist and each has a value, and a normal if any has one.
fn check_displacements(
    (vertices, values): (&[u32], &[Vec3]),
    normals: &[Vec3],
    vertex_count: usize,
) -> Result<(), String> {
    let moved = vertices.len();
    if !vertices.is_sorted_by(|a, b| a < b) {
        return Err("vertices do not ascend".to_owned());
    }
    if let Some(last) = vertices.last().filter(|v| **v as usize >= vertex_count) {
        return Err(format!("vertex {last} of {vertex_count} does not exist"));
    }
    if values.len() != moved || !(normals.is_empty() || normals.len() == moved) {
        return Err(format!("displacements do not match its {moved} vertices"));
    }
    let all = values.iter().chain(normals);
    let finite = all.into_iter().all(|v| all_finite(v.as_slice()));
    if finite {
        Ok(())
    } else {
        Err("a displacement is not finite".to_owned())
    }
}

fn check_tangents(tangents: &TangentSpec, primitive: &Primitive) -> Result<(), String> {
    let vertex_count = primitive.mesh.vertex_count();
    let (found, targets) = (tangents.rest.len(), tangents.targets.len());
    if found != vertex_count {
        return Err(format!("{found} tangents for {vertex_count} vertices"));
    }
    if !(targets == 0 || targets == primitive.targets.len()) {
        let expected = primitive.targets.len();
        return Err(format!("{targets} targets for {expected} morph targets"));
    }
    if let Some(bad) = tangents.rest.iter().position(|t| !all_finite(t)) {
        return Err(format!("tangent {bad} is not finite"));
    }
    for (index, target) in tangents.targets.iter().enumerate() {
        let displacements = (&target.vertices[..], &target.tangents[..]);
        check_displacements(displacements, &[], vertex_count)
            .map_err(|what| format!("target {index}: {what}"))?;
    }
    Ok(())
}

fn check_weights(
    weights: &[f32],
    targets: usize,
    place: impl Fn() -> String,
) -> Result<(), AssetError> {
    if !(weights.is_empty() || weights.len() == targets) {
        let message = format!("{} weights for {targets} morph targets", weights.len());
        return Err(invalid(place(), message));
    }
    if !all_finite(weights) {
        return Err(invalid(place(), "a morph weight is not finite".to_owned()));
    }
    Ok(())
}

fn target_count(mesh: &MeshSpec) -> usize {
    mesh.primitives
        .iter()
        .map(|p| p.targets.len())
        .max()
        .unwrap_or(0)
}

fn in_range(
    indices: &[usize],
    count: usize,
    what: &str,
    place: impl Fn() -> String,
) -> Result<(), AssetError> {
    match indices.iter().find(|index| **index >= count) {
        Some(index) => Err(invalid(
            place(),
            format!("{what} {index} of {count} does not exist"),
        )),
        None => Ok(()),
    }
}

fn all_finite(values: &[f32]) -> bool {
    values.iter().all(|v| v.is_finite())
}

pub(crate) fn invalid(location: String, message: String) -> AssetError {
    AssetError {
        code: "DOCUMENT_INVALID",
        location,
        message,
    }
}

/// True if sorting `drivers` would take memory out of proportion.
pub(crate) fn read_too_much(drivers: &[DriverSpec], skeleton: &Skeleton) -> bool {
    let mut depths = vec![1_usize; skeleton.len()];
    for joint in skeleton.joints() {
        if let Some(parent) = skeleton.parent(joint) {
            depths[joint.index()] = depths[parent.index()] + 1;
        }
    }
    let deepest = depths.into_iter().max().unwrap_or(0);
    let joints: usize = drivers.iter().map(joint_count).sum();
    joints.saturating_mul(deepest) > MOST_JOINTS_READ
}

/// How many joints a driver names, at most.
fn joint_count(spec: &DriverSpec) -> usize {
    let listed = match &spec.kind {
        DriverKind::Twist(twist) => twist.helpers.len(),
        DriverKind::Aim(aim) => aim.sources.len(),
        DriverKind::Orient(orient) => orient.sources.len(),
        DriverKind::Parent(parent) => parent.sources.len(),
        DriverKind::Point(point) => point.sources.len(),
        DriverKind::Scale(scale) => scale.sources.len(),
        DriverKind::SpringBone(spring) => spring.joints.len() + spring.colliders.len(),
        _ => 0,
    };
    // No other kind names more, and these few beside their lists.
    listed + 4
}

#[cfg(test)]
mod tests {
    use anim_geom::Vertices;
    use anim_math::Vec3;

    use super::*;
    use crate::Node;

    fn check(change: impl Fn(&mut Document), location: &str) {
        let vertices = Vertices {
            positions: vec![Vec3::zeros(), Vec3::x(), Vec3::y()],
            normals: vec![Vec3::z(); 3],
        };
        let mut document = Document {
            nodes: vec![Node {
                mesh: Some(0),
                ..Node::default()
            }],
            meshes: vec![MeshSpec {
                primitives: vec![Primitive {
                    mesh: anim_geom::Mesh {
                        rest: vertices,
                        uvs: Vec::new(),
                        triangles: vec![[0, 1, 2]],
                    },
                    influences: Some(Influences::rigid(3)),
                    ..Primitive::default()
                }],
                ..MeshSpec::default()
            }],
            ..Document::default()
        };
        assert_eq!(document.check(), Ok(()));
        change(&mut document);
        assert_eq!(document.check().unwrap_err().location, location);
    }

    #[test]
    fn every_broken_reference_is_named() {
        check(|d| d.nodes[0].mesh = Some(1), "/nodes/0");
        check(|d| d.nodes[0].skin = Some(0), "/nodes/0");
        check(|d| d.nodes[0].parent = Some(0), "/nodes/0");
        check(|d| d.nodes[0].parent = Some(9), "/nodes/0");
        check(|d| d.nodes[0].rest.scale.x = f32::NAN, "/nodes/0");
        check(|d| d.nodes[0].weights = vec![1.0], "/nodes/0");
        check(|d| d.scenes = vec![vec![3]], "/scenes/0");
        check(|d| d.meshes[0].weights = vec![0.5], "/meshes/0");
        let primitive = "/meshes/0/primitives/0";
        check(
            |d| d.meshes[0].primitives[0].mesh.triangles[0][1] = 3,
            primitive,
        );
        check(
            |d| d.meshes[0].primitives[0].influences = Some(Influences::rigid(2)),
            primitive,
        );
        let target = |vertices: &[u32]| MorphTarget {
            vertices: vertices.to_vec(),
            positions: vec![Vec3::x(); vertices.len()],
            ..MorphTarget::default()
        };
        check(
            |d| d.meshes[0].primitives[0].targets = vec![target(&[0, 0])],
            primitive,
        );
        check(
            |d| d.meshes[0].primitives[0].targets = vec![target(&[3])],
            primitive,
        );
    }
}
