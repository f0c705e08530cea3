//! Morph targets, kept sparse: only the vertices that move.

use anim_math::Vec3;
use anim_skin::MorphTarget;

use super::accessor::Accessor;
use super::attribute;
use super::json::Json;
use super::read::Reader;
use crate::AssetError;

/// The morph targets of the primitive `json` at `place`, which has `vertex_count` vertices.
///
/// # Errors
///
/// `TOO_LARGE`.
pub(super) fn targets(
    reader: &Reader<'_>,
    json: &Json<'_>,
    place: &str,
    vertex_count: usize,
) -> Result<Vec<MorphTarget>, AssetError> {
    let list = json.list("targets");
    let budget = reader.budget;
    budget.take(list.len(), size_of::<MorphTarget>(), place)?;
    let mut targets = Vec::with_capacity(list.len());
    for (index, target) in list.iter().enumerate() {
        let place = format!("{place}/targets/{index}");
        attribute::check(reader, target, &place, true);
        check_counts(reader, json, target, &place, vertex_count);
        let deltas = |name: &str| {
            let has_base = json
                .get("attributes")
                .is_some_and(|base| base.get(name).is_some());
            let accessor = attribute::find(reader, target, name, 3, vertex_count);
            accessor
                .filter(|_| has_base)
                .map_or(Ok(Vec::new()), |accessor| deltas(reader, accessor))
        };
        let positions = deltas("POSITION")?;
        let normals = deltas("NORMAL")?;
        targets.push(merge(reader, &positions, &normals, &place)?);
    }
    Ok(targets)
}

/// The displacements that are not zero, by ascending vertex.
pub(super) type Deltas = Vec<(usize, Vec3)>;

pub(super) fn deltas(reader: &Reader<'_>, accessor: &Accessor<'_>) -> Result<Deltas, AssetError> {
    let budget = reader.budget;
    // Values that are not finite are already named, and move nothing.
    let moving = |(vertex, delta): (usize, [f32; 3])| {
        let moves = delta.iter().any(|c| *c != 0.0) && delta.iter().all(|c| c.is_finite());
        moves.then_some((vertex, Vec3::from(delta)))
    };
    if let Some(stored) = accessor.stored::<3>(budget)? {
        budget.give_back(stored.len(), size_of::<(usize, [f32; 3])>());
        return Ok(stored.into_iter().filter_map(moving).collect());
    }
    let Some(dense) = accessor.floats::<3>(budget)? else {
        return Ok(Vec::new());
    };
    budget.give_back(dense.len(), size_of::<[f32; 3]>());
    Ok(dense.into_iter().enumerate().filter_map(moving).collect())
}

/// One target of the vertices that either list moves.
fn merge(
    reader: &Reader<'_>,
    positions: &Deltas,
    normals: &Deltas,
    place: &str,
) -> Result<MorphTarget, AssetError> {
    let count = positions.len() + normals.len();
    reader
        .budget
        .take(count, 2 * size_of::<Vec3>() + 4, place)?;
    let mut target = MorphTarget::default();
    let (mut position, mut normal) = (positions.iter().peekable(), normals.iter().peekable());
    loop {
        let next = match (position.peek(), normal.peek()) {
            (Some((p, _)), Some((n, _))) => *p.min(n),
            (Some((p, _)), None) => *p,
            (None, Some((n, _))) => *n,
            (None, None) => break,
        };
        let at = |(vertex, _): &&(usize, Vec3)| *vertex == next;
        let delta = |found: Option<&(usize, Vec3)>| found.map_or_else(Vec3::zeros, |(_, d)| *d);
        target.vertices.push(next as u32);
        target.positions.push(delta(position.next_if(at)));
        let normal = delta(normal.next_if(at));
        if !normals.is_empty() {
            target.normals.push(normal);
        }
    }
    target.vertices.shrink_to_fit();
    target.positions.shrink_to_fit();
    target.normals.shrink_to_fit();
    let unused = count - target.vertices.len();
    reader.budget.give_back(unused, 2 * size_of::<Vec3>() + 4);
    Ok(target)
}

/// Reports displacements of another number of vertices, or of what the primitive has not.
fn check_counts(
    reader: &Reader<'_>,
    json: &Json<'_>,
    target: &Json<'_>,
    place: &str,
    vertex_count: usize,
) {
    for (name, index) in target.members() {
        let place = format!("{place}/{name}");
        let base = json.get("attributes").and_then(|base| base.get(name));
        if base.is_none() {
            let message = "displaces what the primitive does not have; not used";
            let code = "MESH_PRIMITIVE_MORPH_TARGET_NO_BASE_ACCESSOR";
            reader.log.error(code, &place, message);
        }
        let accessor = index.as_count().and_then(|index| reader.accessor(index));
        if let Some(accessor) = accessor.filter(|accessor| accessor.count != vertex_count) {
            let message = format_args!("{} for {vertex_count} vertices; not used", accessor.count);
            let code = "MESH_PRIMITIVE_MORPH_TARGET_INVALID_ATTRIBUTE_COUNT";
            reader.log.error(code, &place, message);
        }
    }
}
