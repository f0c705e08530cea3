//! Triangles of a primitive: lists, strips and fans, with or without indices.

use super::accessor::Accessor;
use super::element::Component;
use super::json::Json;
use super::read::{Reader, Usage};
use crate::AssetError;

/// The triangles of the primitive `json` at `place`, whose vertices are `vertex_count`.
///
/// Those that name a vertex that does not exist are left out. Points and lines have none.
///
/// # Errors
///
/// `TOO_LARGE`.
pub(super) fn triangles(
    reader: &Reader<'_>,
    json: &Json<'_>,
    place: &str,
    vertex_count: usize,
) -> Result<Vec<[u32; 3]>, AssetError> {
    let mode = json.count("mode").filter(|mode| *mode <= 6).unwrap_or(4);
    let indices = match json.get("indices") {
        Some(_) => match indices(reader, json, &format!("{place}/indices"), vertex_count)? {
            Some(indices) => Some(indices),
            None => return Ok(Vec::new()),
        },
        None => None,
    };
    let count = indices.as_ref().map_or(vertex_count, Vec::len);
    check_count(reader, mode, count, place);
    let index = |at: usize| match &indices {
        Some(indices) => indices[at][0],
        None => at as u32,
    };
    let triangle_count = match mode {
        4 => count / 3,
        5 | 6 => count.saturating_sub(2),
        _ => 0,
    };
    let budget = reader.budget;
    budget.take(triangle_count, size_of::<[u32; 3]>(), place)?;
    let mut triangles = Vec::with_capacity(triangle_count);
    for i in 0..triangle_count {
        let corners = match mode {
            4 => [3 * i, 3 * i + 1, 3 * i + 2],
            // Every other triangle of a strip is turned, so that all wind alike.
            5 => [i, i + 1 + i % 2, i + 2 - i % 2],
            _ => [i + 1, i + 2, 0],
        };
        let triangle = corners.map(index);
        let exists = triangle.iter().all(|v| (*v as usize) < vertex_count);
        // Strips are stitched together by triangles without area; in a list they are the author's own.
        let stitches = mode == 5
            && (triangle[0] == triangle[1]
                || triangle[1] == triangle[2]
                || triangle[2] == triangle[0]);
        if exists && !stitches {
            triangles.push(triangle);
        }
    }
    triangles.shrink_to_fit();
    if let Some(indices) = &indices {
        budget.give_back(indices.len(), size_of::<[u32; 1]>());
    }
    Ok(triangles)
}

/// All indices, or `None` if they cannot be read; wrong ones are reported and stay.
fn indices(
    reader: &Reader<'_>,
    json: &Json<'_>,
    place: &str,
    vertex_count: usize,
) -> Result<Option<Vec<[u32; 1]>>, AssetError> {
    let log = reader.log;
    let Some(accessor) = reader.accessor_of(json, "indices") else {
        return Ok(None);
    };
    reader.note_usage(accessor, Usage::Indices, place);
    if reader.is_strided(accessor) {
        let message = "indices must be packed";
        let code = "MESH_PRIMITIVE_INDICES_ACCESSOR_WITH_BYTESTRIDE";
        log.error(code, place, message);
    }
    if !is_index_format(accessor) {
        let message = "not unsigned integers; the primitive is left without triangles";
        let code = "MESH_PRIMITIVE_INDICES_ACCESSOR_INVALID_FORMAT";
        log.error(code, place, message);
        return Ok(None);
    }
    let Some(indices) = accessor.integers::<1>(reader.budget)? else {
        return Ok(None);
    };
    let restart = match accessor.component {
        Component::U8 => 0xFF,
        Component::U16 => 0xFFFF,
        _ => u32::MAX,
    };
    for (at, [index]) in indices.iter().enumerate() {
        if *index as usize >= vertex_count {
            let message = format_args!(
                "index {index} at place {at}, but {vertex_count} vertices; its triangles are left out"
            );
            log.push(
                accessor.value_severity(),
                "ACCESSOR_INDEX_OOB",
                place,
                message,
            );
        }
        if *index == restart {
            let message = format_args!("the value at place {at} is reserved");
            log.error("ACCESSOR_INDEX_PRIMITIVE_RESTART", place, message);
        }
    }
    Ok(Some(indices))
}

fn is_index_format(accessor: &Accessor<'_>) -> bool {
    let is_unsigned = matches!(
        accessor.component,
        Component::U8 | Component::U16 | Component::U32
    );
    is_unsigned && !accessor.normalized && accessor.shape.len() == 1
}

/// Reports numbers of vertices that do not make whole points, lines or triangles.
fn check_count(reader: &Reader<'_>, mode: usize, count: usize, place: &str) {
    let fits = match mode {
        1 => count > 0 && count.is_multiple_of(2),
        2 | 3 => count >= 2,
        4 => count > 0 && count.is_multiple_of(3),
        5 | 6 => count >= 3,
        _ => true,
    };
    if !fits {
        let message = format_args!("{count} vertices do not fit mode {mode}");
        let code = "MESH_PRIMITIVE_INCOMPATIBLE_MODE";
        reader.log.warning(code, place, message);
    }
}
