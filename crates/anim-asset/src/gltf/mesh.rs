//! Meshes and their primitives.

use anim_geom::{Mesh, Vertices};
use anim_math::Vec3;
use anim_math::nalgebra::Vector3;

use super::json::Json;
use super::read::Reader;
use super::{attribute, influence, morph, tangent, triangle};
use crate::{AssetError, MeshSpec, Node, Primitive, SkinSpec, TangentSpec};

/// How far the length of a unit vector may be from 1: what the official validator tolerates.
pub(super) const UNIT_TOLERANCE: f32 = 0.006_74;

/// All meshes, and the tangents that primitives have; primitives without positions are left out.
///
/// # Errors
///
/// `TOO_LARGE`.
pub(super) fn meshes(
    reader: &Reader<'_>,
    nodes: &[Node],
    skins: &[SkinSpec],
) -> Result<(Vec<MeshSpec>, Vec<TangentSpec>), AssetError> {
    let list = reader.root.list("meshes");
    reader
        .budget
        .take(list.len(), size_of::<MeshSpec>(), "/meshes")?;
    // The joints that a mesh may name: those that every skin has that it is used with.
    let mut joint_counts: Vec<Option<usize>> = vec![None; list.len()];
    for node in nodes {
        if let Some((mesh, skin)) = node.mesh.zip(node.skin) {
            let count = skins[skin].joints.len();
            let known = joint_counts[mesh].get_or_insert(count);
            *known = count.min(*known);
        }
    }
    let mut meshes = Vec::with_capacity(list.len());
    let mut tangents = Vec::new();
    for (index, json) in list.iter().enumerate() {
        let place = format!("/meshes/{index}");
        let first = tangents.len();
        meshes.push(mesh(
            reader,
            json,
            &place,
            joint_counts[index],
            &mut tangents,
        )?);
        for tangents in &mut tangents[first..] {
            tangents.mesh = index;
        }
    }
    Ok((meshes, tangents))
}

fn mesh(
    reader: &Reader<'_>,
    json: &Json<'_>,
    place: &str,
    joint_count: Option<usize>,
    tangents: &mut Vec<TangentSpec>,
) -> Result<MeshSpec, AssetError> {
    let names: Vec<Option<&str>> = json
        .get("extras")
        .map(|extras| extras.list("targetNames"))
        .unwrap_or_default()
        .iter()
        .map(Json::as_text)
        .collect();
    let list = json.list("primitives");
    let target_count = check_target_counts(reader, list, place);
    reader
        .budget
        .take(list.len(), size_of::<Primitive>(), place)?;
    let mut primitives = Vec::with_capacity(list.len());
    for (index, json) in list.iter().enumerate() {
        let place = format!("{place}/primitives/{index}");
        let Some(mut primitive) = primitive(reader, json, &place, joint_count)? else {
            continue;
        };
        let padding = target_count.saturating_sub(primitive.targets.len());
        reader
            .budget
            .take(padding, size_of::<anim_skin::MorphTarget>(), &place)?;
        primitive
            .targets
            .resize_with(target_count, Default::default);
        for (target, name) in primitive.targets.iter_mut().zip(&names) {
            target.name = name.map(str::to_owned);
        }
        if let Some(mut found) = tangent::tangents(reader, json, &place, &primitive.mesh)? {
            found.primitive = primitives.len();
            if !found.targets.is_empty() {
                found.targets.resize_with(target_count, Default::default);
            }
            reader.budget.take(1, size_of::<TangentSpec>(), &place)?;
            tangents.push(found);
        }
        primitives.push(primitive);
    }
    let mut weights = json.numbers("weights");
    if !weights.is_empty() && weights.len() != target_count {
        let message = format_args!("{} weights for {target_count} targets", weights.len());
        let place = format!("{place}/weights");
        reader
            .log
            .error("MESH_INVALID_WEIGHTS_COUNT", place, message);
        weights.resize(target_count, 0.0);
    }
    Ok(MeshSpec {
        name: Reader::name(json),
        primitives,
        weights,
    })
}

/// The number of morph targets of a mesh, which all its primitives share.
pub(super) fn target_count(mesh: &MeshSpec) -> usize {
    // Primitives with fewer have been given empty ones.
    let first = mesh.primitives.first();
    first.map_or(0, |primitive| primitive.targets.len())
}

/// The largest number of targets, which all primitives of a mesh should have.
fn check_target_counts(reader: &Reader<'_>, primitives: &[Json<'_>], place: &str) -> usize {
    let count = |json: &Json<'_>| json.list("targets").len();
    let first = primitives.first().map_or(0, count);
    for (index, json) in primitives.iter().enumerate() {
        if count(json) != first {
            let what = if count(json) == 0 { "" } else { "/targets" };
            let place = format!("{place}/primitives/{index}{what}");
            let message = format_args!(
                "{} targets, but the first primitive has {first}; empty ones are added",
                count(json)
            );
            let code = "MESH_PRIMITIVES_UNEQUAL_TARGETS_COUNT";
            reader.log.error(code, place, message);
        }
    }
    primitives.iter().map(count).max().unwrap_or(0)
}

fn primitive(
    reader: &Reader<'_>,
    json: &Json<'_>,
    place: &str,
    joint_count: Option<usize>,
) -> Result<Option<Primitive>, AssetError> {
    let Some(attributes) = json.get("attributes") else {
        return Ok(None);
    };
    let attributes_place = format!("{place}/attributes");
    attribute::check(reader, attributes, &attributes_place, false);
    let Some(positions) = positions(reader, json, attributes, place)? else {
        // Indices are worth a look even if there is nothing to show.
        triangle::triangles(reader, json, place, 0)?;
        return Ok(None);
    };
    let count = positions.len();
    check_counts(reader, attributes, &attributes_place, count);
    let triangles = triangle::triangles(reader, json, place, count)?;
    let normals = normals(reader, attributes, place, &positions, &triangles)?;
    let mut uvs = match attribute::find(reader, attributes, "TEXCOORD_0", 2, count) {
        Some(accessor) => accessor.floats::<2>(reader.budget)?.unwrap_or_default(),
        None => Vec::new(),
    };
    let is_bad = |uv: &&mut [f32; 2]| !uv.iter().all(|c| c.is_finite());
    uvs.iter_mut().filter(is_bad).for_each(|uv| *uv = [0.0; 2]);
    let targets = morph::targets(reader, json, place, count)?;
    let influences = influence::influences(reader, attributes, place, count, joint_count)?;
    Ok(Some(Primitive {
        mesh: Mesh {
            rest: Vertices { positions, normals },
            uvs,
            triangles,
        },
        influences,
        targets,
        color: color(reader, json),
    }))
}

/// The positions, or `None` if the primitive has to be left out.
fn positions(
    reader: &Reader<'_>,
    json: &Json<'_>,
    attributes: &Json<'_>,
    place: &str,
) -> Result<Option<Vec<Vec3>>, AssetError> {
    let log = reader.log;
    let Some(index) = attributes.get("POSITION") else {
        let message = "no positions; the primitive is left out";
        let place = format!("{place}/attributes");
        log.warning("MESH_PRIMITIVE_NO_POSITION", place, message);
        return Ok(None);
    };
    let accessor = index.as_count().and_then(|index| reader.accessor(index));
    let is_compressed = json
        .get("extensions")
        .is_some_and(|extensions| extensions.get(DRACO).is_some());
    if is_compressed && accessor.is_none_or(|accessor| accessor.view.is_none()) {
        let message = "the primitive is only there compressed, and is left out";
        let place = format!("{place}/extensions/{DRACO}");
        log.error("UNSUPPORTED_EXTENSION", place, message);
        return Ok(None);
    }
    let positions = match accessor {
        Some(accessor) => accessor.floats::<3>(reader.budget)?,
        None => None,
    };
    let Some(positions) = positions else {
        let message = "the positions cannot be read; the primitive is left out";
        log.info("LEFT_OUT", place, message);
        return Ok(None);
    };
    // The accessor's check has named the values that are not finite.
    let repair = |[x, y, z]: [f32; 3]| {
        if x.is_finite() && y.is_finite() && z.is_finite() {
            Vec3::new(x, y, z)
        } else {
            Vec3::zeros()
        }
    };
    Ok(Some(positions.into_iter().map(repair).collect()))
}

const DRACO: &str = "KHR_draco_mesh_compression";

/// Reports attributes of another length than the positions.
fn check_counts(reader: &Reader<'_>, attributes: &Json<'_>, place: &str, count: usize) {
    for (name, index) in attributes.members() {
        let accessor = index.as_count().and_then(|index| reader.accessor(index));
        if let Some(accessor) = accessor.filter(|accessor| accessor.count != count) {
            let message = format_args!("{} for {count} positions; not used", accessor.count);
            let place = format!("{place}/{name}");
            let code = "MESH_PRIMITIVE_UNEQUAL_ACCESSOR_COUNT";
            reader.log.error(code, place, message);
        }
    }
}

/// Unit normals: the file's, or smooth ones where it has none.
fn normals(
    reader: &Reader<'_>,
    attributes: &Json<'_>,
    place: &str,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
) -> Result<Vec<Vec3>, AssetError> {
    let log = reader.log;
    let count = positions.len();
    // What the sums of smooth normals need for a while.
    let scratch = size_of::<Vector3<f64>>();
    reader.budget.take(count, scratch, place)?;
    reader.budget.give_back(count, scratch);
    let accessor = attribute::find(reader, attributes, "NORMAL", 3, count);
    let stored = match accessor {
        Some(accessor) if !accessor.is_zeros() => accessor.floats::<3>(reader.budget)?,
        _ => None,
    };
    let (Some(accessor), Some(stored)) = (accessor, stored) else {
        if !triangles.is_empty() {
            let message = "no normals; smooth ones are computed";
            log.info("NORMALS_COMPUTED", place, message);
        }
        reader.budget.take(count, size_of::<Vec3>(), place)?;
        return Ok(smooth_normals(positions, triangles));
    };
    let mut smooth = None;
    let is_float = accessor.component == super::element::Component::F32;
    let mut repair = |(vertex, normal): (usize, [f32; 3])| {
        let normal = Vec3::from(normal);
        let norm = normal.norm();
        let is_usable = norm.is_finite() && norm > 1e-6;
        if !is_usable || (is_float && (norm - 1.0).abs() > UNIT_TOLERANCE) {
            let done = if is_usable {
                "normalised"
            } else {
                "replaced by a smooth one"
            };
            let message = format_args!("vertex {vertex}: a normal of length {norm}, {done}");
            let place = format!("{place}/attributes/NORMAL");
            log.error("ACCESSOR_VECTOR3_NON_UNIT", place, message);
        }
        if is_usable {
            normal / norm
        } else {
            smooth.get_or_insert_with(|| smooth_normals(positions, triangles))[vertex]
        }
    };
    Ok(stored.into_iter().enumerate().map(&mut repair).collect())
}

/// The area-weighted mean of the normals of the triangles at each vertex; +Z where there is none.
pub(crate) fn smooth_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    // In f64 no product of f32 lengths overflows or vanishes, however large or small the model.
    let mut sums = vec![Vector3::<f64>::zeros(); positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| positions[vertex as usize].cast::<f64>());
        let twice_area = (b - a).cross(&(c - a));
        for vertex in triangle {
            sums[*vertex as usize] += twice_area;
        }
    }
    let unit = |sum: Vector3<f64>| {
        let norm = sum.norm();
        if norm > 0.0 {
            (sum / norm).cast()
        } else {
            Vec3::z()
        }
    };
    sums.into_iter().map(unit).collect()
}

/// The linear base colour of the primitive's material.
fn color(reader: &Reader<'_>, json: &Json<'_>) -> [f32; 3] {
    let material = json
        .count("material")
        .and_then(|index| reader.root.list("materials").get(index));
    let factor = material
        .and_then(|material| material.get("pbrMetallicRoughness"))
        .and_then(|metallic| metallic.floats::<4>("baseColorFactor"));
    factor.map_or([1.0; 3], |[r, g, b, _]| [r, g, b])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooth_normals_weigh_triangles_by_their_area() {
        // Two faces at a right angle share the edge on the x axis; one is twice as large as the other.
        let positions = [Vec3::zeros(), Vec3::x(), Vec3::y() * 2.0, -Vec3::z()];
        let normals = smooth_normals(&positions, &[[0, 1, 2], [0, 3, 1]]);
        let expected = (Vec3::z() * 2.0 - Vec3::y()).normalize();
        assert!((normals[0] - expected).norm() < 1e-6, "{}", normals[0]);
        assert!((normals[2] - Vec3::z()).norm() < 1e-6);
    }

    #[test]
    fn smooth_normals_do_not_depend_on_the_size_of_the_model() {
        for size in [1e-30, 1.0, 1e30] {
            let positions = [Vec3::zeros(), Vec3::x() * size, Vec3::y() * size];
            let normals = smooth_normals(&positions, &[[0, 1, 2]]);
            assert_eq!(normals, [Vec3::z(); 3], "{size}");
        }
    }
}
