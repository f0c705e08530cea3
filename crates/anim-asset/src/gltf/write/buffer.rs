//! The one binary buffer: every array gets its own view, aligned to four bytes, and its accessor.

use anim_math::Vec3;

use super::schema::{Accessor, BufferView, Sparse, SparseIndices, SparseValues};

const UNSIGNED_BYTE: u32 = 5121;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const FLOAT: u32 = 5126;

/// Vertex attributes, as a view's target.
pub(super) const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    views: Vec<BufferView>,
    accessors: Vec<Accessor>,
}

impl Buffer {
    pub(super) fn finish(self) -> (Vec<Accessor>, Vec<BufferView>, Vec<u8>) {
        (self.accessors, self.views, self.bytes)
    }

    /// Elements of N floats; `bounds` asks for `min` and `max`. Never empty.
    pub(super) fn floats<const N: usize>(
        &mut self,
        kind: &'static str,
        elements: &[[f32; N]],
        target: Option<u32>,
        bounds: bool,
    ) -> usize {
        let bytes = elements.iter().flatten().flat_map(|v| v.to_le_bytes());
        let view = self.view(bytes, target);
        let (min, max) = if bounds {
            min_max(elements)
        } else {
            Default::default()
        };
        self.accessor(Accessor {
            buffer_view: Some(view),
            component_type: FLOAT,
            count: elements.len(),
            kind,
            min,
            max,
            sparse: None,
        })
    }

    /// Four joints an element, in bytes where all fit.
    pub(super) fn joints(&mut self, elements: &[[u16; 4]]) -> usize {
        let all = || elements.iter().flatten();
        let (view, component_type) = if all().all(|joint| *joint < 256) {
            let bytes = all().map(|joint| *joint as u8);
            (self.view(bytes, Some(ARRAY_BUFFER)), UNSIGNED_BYTE)
        } else {
            let bytes = all().flat_map(|joint| joint.to_le_bytes());
            (self.view(bytes, Some(ARRAY_BUFFER)), UNSIGNED_SHORT)
        };
        self.accessor(plain(Some(view), component_type, elements.len(), "VEC4"))
    }

    /// The corners of triangles over `vertex_count` vertices; the largest u16 is a restart value and stays unused.
    pub(super) fn triangles(&mut self, triangles: &[[u32; 3]], vertex_count: usize) -> usize {
        let short = vertex_count <= usize::from(u16::MAX);
        let component_type = if short { UNSIGNED_SHORT } else { UNSIGNED_INT };
        let corners = triangles.iter().flatten().copied();
        let view = self.indices(corners, component_type, Some(ELEMENT_ARRAY_BUFFER));
        let count = 3 * triangles.len();
        self.accessor(plain(Some(view), component_type, count, "SCALAR"))
    }

    /// Displacements of some of `vertex_count` vertices, zero elsewhere: sparse where that is smaller.
    pub(super) fn displacements(
        &mut self,
        vertices: &[u32],
        values: &[Vec3],
        vertex_count: usize,
        bounds: bool,
    ) -> usize {
        let mut dense = vec![[0.0_f32; 3]; vertex_count];
        for (vertex, value) in vertices.iter().zip(values) {
            dense[*vertex as usize] = (*value).into();
        }
        let index_type = match vertex_count {
            0..=255 => UNSIGNED_BYTE,
            256..=65535 => UNSIGNED_SHORT,
            _ => UNSIGNED_INT,
        };
        let index_size = match index_type {
            UNSIGNED_BYTE => 1,
            UNSIGNED_SHORT => 2,
            _ => 4,
        };
        if vertices.len() * (12 + index_size) >= vertex_count * 12 {
            return self.floats("VEC3", &dense, Some(ARRAY_BUFFER), bounds);
        }
        let (min, max) = if bounds {
            min_max(&dense)
        } else {
            Default::default()
        };
        let sparse = (!vertices.is_empty()).then(|| {
            let values = values
                .iter()
                .flat_map(|v| v.iter().flat_map(|c| c.to_le_bytes()));
            Sparse {
                count: vertices.len(),
                indices: SparseIndices {
                    buffer_view: self.indices(vertices.iter().copied(), index_type, None),
                    component_type: index_type,
                },
                values: SparseValues {
                    buffer_view: self.view(values, None),
                },
            }
        });
        self.accessor(Accessor {
            min,
            max,
            sparse,
            ..plain(None, FLOAT, vertex_count, "VEC3")
        })
    }

    fn indices(
        &mut self,
        indices: impl Iterator<Item = u32>,
        component_type: u32,
        target: Option<u32>,
    ) -> usize {
        match component_type {
            UNSIGNED_BYTE => self.view(indices.map(|i| i as u8), target),
            UNSIGNED_SHORT => self.view(indices.flat_map(|i| (i as u16).to_le_bytes()), target),
            _ => self.view(indices.flat_map(u32::to_le_bytes), target),
        }
    }

    fn view(&mut self, bytes: impl Iterator<Item = u8>, target: Option<u32>) -> usize {
        let byte_offset = self.bytes.len();
        self.bytes.extend(bytes);
        self.views.push(BufferView {
            buffer: 0,
            byte_offset,
            byte_length: self.bytes.len() - byte_offset,
            target,
        });
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.len() - 1
    }

    fn accessor(&mut self, accessor: Accessor) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }
}

fn plain(
    buffer_view: Option<usize>,
    component_type: u32,
    count: usize,
    kind: &'static str,
) -> Accessor {
    Accessor {
        buffer_view,
        component_type,
        count,
        kind,
        min: Vec::new(),
        max: Vec::new(),
        sparse: None,
    }
}

fn min_max<const N: usize>(elements: &[[f32; N]]) -> (Vec<f32>, Vec<f32>) {
    let mut min = [f32::INFINITY; N];
    let mut max = [f32::NEG_INFINITY; N];
    for element in elements {
        for (i, value) in element.iter().enumerate() {
            min[i] = min[i].min(*value);
            max[i] = max[i].max(*value);
        }
    }
    (min.to_vec(), max.to_vec())
}

/// `bytes` as a data URI in base64 (RFC 4648, with padding).
pub(super) fn data_uri(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut uri = String::from("data:application/octet-stream;base64,");
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            let padding = digit > three.len();
            uri.push(if padding {
                '='
            } else {
                char::from(DIGITS[value as usize])
            });
        }
    }
    uri
}

/// A relative path as a URI reference: everything but unreserved characters and slashes is percent-encoded (RFC 3986).
pub(super) fn encode_uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_agrees_with_the_vectors_of_rfc_4648() {
        let check = |bytes: &str, expected: &str| {
            let uri = data_uri(bytes.as_bytes());
            assert_eq!(uri.split_once(',').unwrap().1, expected);
        };
        check("", "");
        check("f", "Zg==");
        check("fo", "Zm8=");
        check("foo", "Zm9v");
        check("foob", "Zm9vYg==");
        check("fooba", "Zm9vYmE=");
        check("foobar", "Zm9vYmFy");
    }

    #[test]
    fn paths_become_uris() {
        assert_eq!(encode_uri("a b/ü#.bin"), "a%20b/%C3%BC%23.bin");
    }

    #[test]
    fn views_start_at_multiples_of_four() {
        let mut buffer = Buffer::default();
        buffer.triangles(&[[0, 1, 2]], 3);
        buffer.floats("SCALAR", &[[1.0]], None, true);
        let (_, views, bytes) = buffer.finish();
        assert_eq!(views[0].byte_length, 6);
        assert_eq!(views[1].byte_offset, 8);
        assert_eq!(bytes.len(), 12);
    }
}
