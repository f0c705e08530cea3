//! Tangents for normal maps, and how morph targets displace them.

use anim_geom::Mesh;
use anim_math::{Vec3, quat};
use anim_skin::tangents::TangentTarget;

use super::element::Component;
use super::json::Json;
use super::mesh::UNIT_TOLERANCE;
use super::read::Reader;
use super::{attribute, morph};
use crate::{AssetError, TangentSpec};

/// The tangents of the primitive `json` at `place`, which was read as `mesh`; `None` if it has none. The caller knows which
/// mesh and primitive it is.
///
/// # Errors
///
/// `TOO_LARGE`.
pub(super) fn tangents(
    reader: &Reader<'_>,
    json: &Json<'_>,
    place: &str,
    mesh: &Mesh,
) -> Result<Option<TangentSpec>, AssetError> {
    let count = mesh.vertex_count();
    let accessor = json
        .get("attributes")
        .and_then(|attributes| attribute::find(reader, attributes, "TANGENT", 4, count))
        .filter(|accessor| !accessor.is_zeros());
    let Some(accessor) = accessor else {
        return Ok(None);
    };
    let Some(mut rest) = accessor.floats::<4>(reader.budget)? else {
        return Ok(None);
    };
    let is_float = accessor.component == Component::F32;
    for (vertex, tangent) in rest.iter_mut().enumerate() {
        let mut report = |code, message: std::fmt::Arguments<'_>| {
            let place = format!("{place}/attributes/TANGENT");
            reader
                .log
                .error(code, place, format_args!("vertex {vertex}: {message}"));
        };
        *tangent = legal(*tangent, mesh.rest.normals[vertex], is_float, &mut report);
    }
    let targets = json.list("targets");
    reader
        .budget
        .take(targets.len(), size_of::<TangentTarget>(), place)?;
    let mut displaced = Vec::with_capacity(targets.len());
    for target in targets {
        let mut moved = TangentTarget::default();
        if let Some(accessor) = attribute::find(reader, target, "TANGENT", 3, count) {
            let deltas = morph::deltas(reader, accessor)?;
            reader
                .budget
                .take(deltas.len(), size_of::<Vec3>() + 4, place)?;
            moved.vertices = deltas.iter().map(|(vertex, _)| *vertex as u32).collect();
            moved.tangents = deltas.into_iter().map(|(_, delta)| delta).collect();
        }
        displaced.push(moved);
    }
    if displaced.iter().all(|target| target.vertices.is_empty()) {
        displaced.clear();
    }
    Ok(Some(TangentSpec {
        mesh: 0,
        primitive: 0,
        rest,
        targets: displaced,
    }))
}

/// The tangent unit and with a handedness of ±1; one that has no direction is any across the normal.
fn legal(
    [x, y, z, sign]: [f32; 4],
    normal: Vec3,
    is_float: bool,
    report: &mut impl FnMut(&'static str, std::fmt::Arguments<'_>),
) -> [f32; 4] {
    let along = Vec3::new(x, y, z);
    let norm = along.norm();
    let is_usable = norm.is_finite() && norm > 1e-6;
    if !is_usable || (is_float && (norm - 1.0).abs() > UNIT_TOLERANCE) {
        let done = if is_usable { "normalised" } else { "replaced" };
        let message = format_args!("a tangent of length {norm}, {done}");
        report("ACCESSOR_VECTOR3_NON_UNIT", message);
    }
    if is_float && sign.abs() != 1.0 {
        let message = format_args!("a handedness of {sign} instead of 1 or -1");
        report("ACCESSOR_INVALID_SIGN", message);
    }
    let unit = if is_usable {
        along / norm
    } else {
        quat::any_perpendicular(normal)
    };
    [unit.x, unit.y, unit.z, if sign < 0.0 { -1.0 } else { 1.0 }]
}
