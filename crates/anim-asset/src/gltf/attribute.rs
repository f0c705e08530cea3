//! Vertex attributes: which formats each meaning may have, and access by name.

use super::accessor::Accessor;
use super::element::Component;
use super::json::Json;
use super::read::{Reader, Usage};

use Component::{F32, I8, I16, U8, U16};

/// Reports attributes of unknown meaning, of formats that theirs does not allow, or badly aligned.
///
/// Pass the map of one primitive, or of one morph target (`is_target`), which lies at `place`.
pub(super) fn check(reader: &Reader<'_>, attributes: &Json<'_>, place: &str, is_target: bool) {
    for (name, index) in attributes.members() {
        let place = format!("{place}/{name}");
        let Some(formats) = formats(name, is_target) else {
            if !name.starts_with('_') {
                let message = "the format has no such attribute";
                let code = "MESH_PRIMITIVE_INVALID_ATTRIBUTE";
                reader.log.error(code, place, message);
            }
            continue;
        };
        let Some(accessor) = index.as_count().and_then(|index| reader.accessor(index)) else {
            continue;
        };
        check_format(reader, accessor, &formats, &place);
        if name == "POSITION" && !accessor.has_bounds {
            let message = "positions need min and max";
            let code = "MESH_PRIMITIVE_POSITION_ACCESSOR_WITHOUT_BOUNDS";
            reader.log.error(code, &place, message);
        }
        reader.note_usage(accessor, Usage::Vertices, &place);
    }
}

fn check_format(reader: &Reader<'_>, accessor: &Accessor<'_>, formats: &Formats, place: &str) {
    let format = (accessor.component, accessor.normalized);
    let allowed = formats.plain.contains(&format)
        || (reader.is_quantized && formats.quantized.contains(&format));
    if !(allowed && formats.widths.contains(&accessor.shape.len())) {
        let message = if formats.quantized.contains(&format) {
            "a format that KHR_mesh_quantization allows, which the file does not declare; read all the same"
        } else {
            "a format that this attribute may not have"
        };
        let code = "MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_INVALID_FORMAT";
        reader.log.error(code, place, message);
    }
    let element = accessor.shape.len() * accessor.component.size();
    if let Some(view) = reader.view(accessor) {
        let stride = view.stride.unwrap_or(element);
        if !accessor.offset.is_multiple_of(4) || !stride.is_multiple_of(4) {
            let message = "vertices must start at multiples of 4 bytes";
            let code = "MESH_PRIMITIVE_ACCESSOR_UNALIGNED";
            reader.log.error(code, place, message);
        }
    }
}

/// The attribute `name`, if its elements have `width` components and there are `count` of them.
pub(super) fn find<'r, 'a>(
    reader: &'r Reader<'a>,
    attributes: &Json<'_>,
    name: &str,
    width: usize,
    count: usize,
) -> Option<&'r Accessor<'a>> {
    let accessor = reader.accessor_of(attributes, name)?;
    let fits = accessor.shape.len() == width && accessor.count == count;
    (fits && accessor.is_readable()).then_some(accessor)
}

/// What an attribute may be made of.
struct Formats {
    /// Components of an element.
    widths: &'static [usize],
    /// Component types, and whether they are normalised.
    plain: &'static [(Component, bool)],
    /// Further ones with KHR_mesh_quantization.
    quantized: &'static [(Component, bool)],
}

const FLOAT: (Component, bool) = (F32, false);
const SIGNED: &[(Component, bool)] = &[(I8, true), (I16, true)];
const FRACTIONS: &[(Component, bool)] = &[FLOAT, (U8, true), (U16, true)];

/// The formats of attribute `name`, or `None` if there is no such attribute.
fn formats(name: &str, is_target: bool) -> Option<Formats> {
    let formats = |widths, plain, quantized| Formats {
        widths,
        plain,
        quantized,
    };
    let (base, set) = match name.split_once('_') {
        Some((base, set)) => (base, Some(set)),
        None => (name, None),
    };
    let is_numbered = set.is_some_and(|set| !set.is_empty() && set.bytes().all(is_digit));
    Some(match (base, is_numbered) {
        ("POSITION", false) if set.is_none() && is_target => formats(
            &[3],
            &[FLOAT],
            &[(I8, false), (I8, true), (I16, false), (I16, true)],
        ),
        ("POSITION", false) if set.is_none() => formats(&[3], &[FLOAT], INTEGERS),
        ("NORMAL", false) if set.is_none() => formats(&[3], &[FLOAT], SIGNED),
        ("TANGENT", false) if set.is_none() && is_target => formats(&[3], &[FLOAT], SIGNED),
        ("TANGENT", false) if set.is_none() => formats(&[4], &[FLOAT], SIGNED),
        ("TEXCOORD", true) if is_target => formats(
            &[2],
            &[FLOAT, (I8, true), (I16, true), (U8, true), (U16, true)],
            INTEGERS,
        ),
        ("TEXCOORD", true) => formats(&[2], FRACTIONS, INTEGERS),
        ("COLOR", true) if is_target => formats(
            &[3, 4],
            &[FLOAT, (I8, true), (I16, true), (U8, true), (U16, true)],
            &[],
        ),
        ("COLOR", true) => formats(&[3, 4], FRACTIONS, &[]),
        ("JOINTS", true) if !is_target => formats(&[4], &[(U8, false), (U16, false)], &[]),
        ("WEIGHTS", true) if !is_target => formats(&[4], FRACTIONS, &[]),
        _ => return None,
    })
}

const INTEGERS: &[(Component, bool)] = &[
    (I8, false),
    (I8, true),
    (U8, false),
    (U8, true),
    (I16, false),
    (I16, true),
    (U16, false),
    (U16, true),
];

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}
