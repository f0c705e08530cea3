//! Meshes, their skin influences, morph targets and colours.

use anim_math::Vec3;
use anim_skin::{Influences, MorphTarget};

use super::buffer::{ARRAY_BUFFER, Buffer};
use super::schema::{self, Attributes, Material, Pbr};
use super::{finite_or, legal_normal};
use crate::{Document, MeshSpec, Primitive, TangentSpec};

/// A mesh as it is written.
pub(super) struct Written {
    pub(super) json: schema::Mesh,
    pub(super) target_count: usize,
}

/// Where a mesh of the document went, and what its nodes must know.
pub(super) struct Place {
    pub(super) index: usize,
    pub(super) target_count: usize,
    /// All primitives have influences.
    pub(super) skinned: bool,
}

/// The meshes that have something to write, and where each of the document's meshes went.
pub(super) fn write_meshes(
    document: &Document,
    buffer: &mut Buffer,
    materials: &mut Vec<Material>,
) -> (Vec<Written>, Vec<Option<Place>>) {
    let mut meshes = Vec::new();
    let mut places = Vec::new();
    for (index, mesh) in document.meshes.iter().enumerate() {
        let legal = mesh
            .primitives
            .iter()
            .enumerate()
            .filter(|(_, p)| is_legal(p));
        let (numbers, primitives): (Vec<usize>, Vec<&Primitive>) = legal.unzip();
        if primitives.is_empty() {
            places.push(None);
            continue;
        }
        // glTF wants as many targets in every primitive; the missing ones are zero.
        let target_count = primitives
            .iter()
            .map(|p| p.targets.len())
            .max()
            .unwrap_or(0);
        let joint_count = joint_count(document, index);
        // All or none: glTF forbids a skin where one primitive has no influences.
        let skinned = joint_count > 0 && primitives.iter().all(|p| influences(p).is_some());
        let mut write = |(primitive, number): (&&Primitive, &usize)| {
            let tangents = document.tangents_of(index, *number);
            let tangents = tangents.filter(|t| t.rest.len() == primitive.mesh.vertex_count());
            let mut written = write_primitive(primitive, tangents, target_count, buffer);
            if let Some(influences) = influences(primitive).filter(|_| skinned) {
                write_influences(influences, joint_count, buffer, &mut written.attributes);
            }
            written.material = material(primitive.color, materials);
            written
        };
        places.push(Some(Place {
            index: meshes.len(),
            target_count,
            skinned,
        }));
        meshes.push(Written {
            json: schema::Mesh {
                name: mesh.name.clone(),
                primitives: primitives.iter().zip(&numbers).map(&mut write).collect(),
                weights: mesh_weights(mesh, target_count),
                extras: target_names(&primitives),
            },
            target_count,
        });
    }
    (meshes, places)
}

/// glTF has no empty arrays and no numbers that are not finite.
fn is_legal(primitive: &Primitive) -> bool {
    primitive.mesh.vertex_count() > 0 && primitive.mesh.check().is_ok()
}

/// The influences, if there are any and their counts agree.
fn influences(primitive: &Primitive) -> Option<&Influences> {
    primitive.influences.as_ref().filter(|influences| {
        influences.per_vertex > 0
            && influences.joints.len() == influences.weights.len()
            && influences.joints.len() == influences.per_vertex * primitive.mesh.vertex_count()
    })
}

/// Joints of the smallest skin that moves the mesh; 0 where none does.
fn joint_count(document: &Document, mesh: usize) -> usize {
    let nodes = document.nodes.iter().filter(|node| node.mesh == Some(mesh));
    let skins = nodes.filter_map(|node| document.skins.get(node.skin?));
    skins.map(|skin| skin.joints.len()).min().unwrap_or(0)
}

fn write_primitive(
    primitive: &Primitive,
    tangents: Option<&TangentSpec>,
    target_count: usize,
    buffer: &mut Buffer,
) -> schema::Primitive {
    let mesh = &primitive.mesh;
    let vertex_count = mesh.vertex_count();
    let positions: Vec<[f32; 3]> = mesh.rest.positions.iter().map(|p| (*p).into()).collect();
    let normals: Vec<[f32; 3]> = mesh
        .rest
        .normals
        .iter()
        .map(|n| legal_normal(*n).into())
        .collect();
    let mut attributes = Attributes::new();
    let mut add = |name: &str, accessor| attributes.insert(name.to_owned(), accessor);
    add(
        "POSITION",
        buffer.floats("VEC3", &positions, Some(ARRAY_BUFFER), true),
    );
    add(
        "NORMAL",
        buffer.floats("VEC3", &normals, Some(ARRAY_BUFFER), false),
    );
    if let Some(tangents) = tangents {
        let tangents: Vec<[f32; 4]> = tangents.rest.iter().map(legal_tangent).collect();
        add(
            "TANGENT",
            buffer.floats("VEC4", &tangents, Some(ARRAY_BUFFER), false),
        );
    }
    if !mesh.uvs.is_empty() {
        let uvs: Vec<[f32; 2]> = mesh
            .uvs
            .iter()
            .map(|uv| uv.map(|c| finite_or(c, 0.0)))
            .collect();
        add(
            "TEXCOORD_0",
            buffer.floats("VEC2", &uvs, Some(ARRAY_BUFFER), false),
        );
    }
    let points = mesh.triangles.is_empty();
    let indices = (!points).then(|| buffer.triangles(&mesh.triangles, vertex_count));
    let with_normals = primitive
        .targets
        .iter()
        .any(|target| !target.normals.is_empty());
    let moved = tangents.map_or(&[][..], |tangents| &tangents.targets[..]);
    let targets = (0..target_count)
        .map(|place| {
            let target = primitive.targets.get(place);
            let mut attributes = write_target(target, vertex_count, with_normals, buffer);
            if !moved.is_empty() {
                let target = moved.get(place);
                let (vertices, values) =
                    target.map_or_else(Default::default, |t| (&t.vertices[..], &t.tangents[..]));
                let accessor = write_displacements(vertices, values, vertex_count, false, buffer);
                attributes.insert("TANGENT".to_owned(), accessor);
            }
            attributes
        })
        .collect();
    schema::Primitive {
        attributes,
        indices,
        material: 0,
        mode: points.then_some(0),
        targets,
    }
}

/// A morph target; zero where there is none or it is not in order.
fn write_target(
    target: Option<&MorphTarget>,
    vertex_count: usize,
    with_normals: bool,
    buffer: &mut Buffer,
) -> Attributes {
    let empty = MorphTarget::default();
    let target = target.unwrap_or(&empty);
    let mut write = |values: &[Vec3], bounds| {
        write_displacements(&target.vertices, values, vertex_count, bounds, buffer)
    };
    let mut attributes = Attributes::new();
    attributes.insert("POSITION".to_owned(), write(&target.positions, true));
    if with_normals {
        attributes.insert("NORMAL".to_owned(), write(&target.normals, false));
    }
    attributes
}

/// Displacements of `vertices`; zero where they are not in order, not one a vertex or not finite.
fn write_displacements(
    vertices: &[u32],
    values: &[Vec3],
    vertex_count: usize,
    bounds: bool,
    buffer: &mut Buffer,
) -> usize {
    let is_legal = vertices.is_sorted_by(|a, b| a < b)
        && vertices.last().is_none_or(|v| (*v as usize) < vertex_count)
        && values.len() == vertices.len()
        && values.iter().flatten().all(|c| c.is_finite());
    if is_legal {
        buffer.displacements(vertices, values, vertex_count, bounds)
    } else {
        buffer.displacements(&[], &[], vertex_count, bounds)
    }
}

/// glTF has unit tangents and handedness 1 or −1.
fn legal_tangent([x, y, z, sign]: &[f32; 4]) -> [f32; 4] {
    let along = legal_normal(Vec3::new(*x, *y, *z));
    [
        along.x,
        along.y,
        along.z,
        if *sign < 0.0 { -1.0 } else { 1.0 },
    ]
}

/// JOINTS_n and WEIGHTS_n, strongest first, as many sets as the vertex with the most influences needs.
fn write_influences(
    influences: &Influences,
    joint_count: usize,
    buffer: &mut Buffer,
    attributes: &mut Attributes,
) {
    let joints = influences.joints.chunks_exact(influences.per_vertex);
    let weights = influences.weights.chunks_exact(influences.per_vertex);
    let vertices: Vec<Vec<(u16, f32)>> = joints
        .zip(weights)
        .map(|(joints, weights)| legal_influences(joints, weights, joint_count))
        .collect();
    let most = vertices.iter().map(Vec::len).max().unwrap_or(0);
    for set in 0..most.div_ceil(4) {
        let part = |vertex: &Vec<(u16, f32)>, lane| {
            vertex.get(4 * set + lane).copied().unwrap_or_default()
        };
        let four = |vertex| -> [(u16, f32); 4] { std::array::from_fn(|lane| part(vertex, lane)) };
        let joints: Vec<[u16; 4]> = vertices
            .iter()
            .map(|v| four(v).map(|(joint, _)| joint))
            .collect();
        let weights: Vec<[f32; 4]> = vertices.iter().map(|v| four(v).map(|(_, w)| w)).collect();
        attributes.insert(format!("JOINTS_{set}"), buffer.joints(&joints));
        let weights = buffer.floats("VEC4", &weights, Some(ARRAY_BUFFER), false);
        attributes.insert(format!("WEIGHTS_{set}"), weights);
    }
}

/// Each joint once, weights positive and summing to 1; joint 0 alone where nothing is left.
fn legal_influences(joints: &[u16], weights: &[f32], joint_count: usize) -> Vec<(u16, f32)> {
    let mut kept: Vec<(u16, f64)> = Vec::new();
    for (joint, weight) in joints.iter().zip(weights) {
        if !(weight.is_finite() && *weight > 0.0 && usize::from(*joint) < joint_count) {
            continue;
        }
        match kept.iter_mut().find(|(kept, _)| kept == joint) {
            Some((_, sum)) => *sum += f64::from(*weight),
            None => kept.push((*joint, f64::from(*weight))),
        }
    }
    let total: f64 = kept.iter().map(|(_, weight)| weight).sum();
    // What differs less from 1 is rounding, and is written as it is.
    let rounding = f64::from(f32::EPSILON);
    let divisor = if (total - 1.0).abs() <= rounding {
        1.0
    } else {
        total
    };
    kept.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut legal: Vec<(u16, f32)> = kept
        .iter()
        .map(|(joint, weight)| (*joint, (weight / divisor) as f32))
        .filter(|(_, weight)| *weight > 0.0)
        .collect();
    if legal.is_empty() {
        legal.push((0, 1.0));
    }
    legal
}

/// The weights at rest, if there is one a target.
fn mesh_weights(mesh: &MeshSpec, target_count: usize) -> Vec<f32> {
    if mesh.weights.len() != target_count {
        return Vec::new();
    }
    mesh.weights.iter().map(|w| finite_or(*w, 0.0)).collect()
}

/// The names of the targets, if any has one; others are empty.
fn target_names(primitives: &[&Primitive]) -> Option<schema::MeshExtras> {
    let longest = primitives.iter().max_by_key(|p| p.targets.len())?;
    let named = longest.targets.iter().any(|target| target.name.is_some());
    named.then(|| schema::MeshExtras {
        target_names: longest
            .targets
            .iter()
            .map(|target| target.name.clone().unwrap_or_default())
            .collect(),
    })
}

/// The material of a colour, one for each that differs.
fn material(color: [f32; 3], materials: &mut Vec<Material>) -> usize {
    let [r, g, b] = color.map(|c| finite_or(c, 0.0).clamp(0.0, 1.0));
    let base_color_factor = [r, g, b, 1.0];
    let found = materials
        .iter()
        .position(|m| m.pbr_metallic_roughness.base_color_factor == base_color_factor);
    found.unwrap_or_else(|| {
        materials.push(Material {
            pbr_metallic_roughness: Pbr {
                base_color_factor,
                metallic_factor: 0.0,
                roughness_factor: 0.8,
            },
            // Cloth is seen from both sides.
            double_sided: true,
        });
        materials.len() - 1
    })
}
