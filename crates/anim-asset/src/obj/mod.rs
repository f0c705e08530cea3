//! Wavefront OBJ: meshes as modelling programs hand them over.
//!
//! Read for what it has that moves: positions, normals, texture coordinates and faces of any number of corners, as one
//! mesh; groups and materials are left out. A corner of a face names position, texture coordinate and normal apart, so a
//! position becomes as many vertices as it has different corners. Vertices keep the order of their positions: where a file
//! has no seams, a vertex has its position's number.
//!
//! ```
//! let text = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
//! let obj = anim_asset::obj::read_mesh(text)?;
//! assert_eq!(obj.mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
//! assert_eq!(obj.mesh.rest.normals[0].z, 1.0);
//!
//! let error = anim_asset::obj::read_mesh(b"v 0 0 0\nv 1 0\n").unwrap_err();
//! assert_eq!(error.to_string(), "line 2 column 1: v has 2 numbers of 3");
//! # Ok::<(), anim_asset::AssetError>(())
//! ```

mod polygon;
mod statement;
mod write;

use anim_geom::{Mesh, Vertices};
use anim_math::Vec3;

use self::statement::{Statements, Token};
pub use self::write::{ObjObject, write};
use crate::{AssetError, Document, Finding, MeshSpec, Node, Primitive, Severity, gltf};

/// A mesh as it was in an OBJ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjMesh {
    /// Polygons cut into triangles; normals unit, smooth ones where the file has none.
    pub mesh: Mesh,
    /// V: the place of each vertex's position among the file's `v` lines, ascending. None is left out.
    pub position_from_vertex: Vec<u32>,
    /// What was left out.
    pub findings: Vec<Finding>,
}

/// Reads an OBJ as a document of one node that carries one mesh.
///
/// # Errors
///
/// Those of [`read_mesh`].
pub fn read(bytes: &[u8]) -> Result<Document, AssetError> {
    let obj = read_mesh(bytes)?;
    let primitive = Primitive {
        mesh: obj.mesh,
        color: [1.0; 3],
        ..Primitive::default()
    };
    Ok(Document {
        nodes: vec![Node {
            mesh: Some(0),
            ..Node::default()
        }],
        scenes: vec![vec![0]],
        meshes: vec![MeshSpec {
            primitives: vec![primitive],
            ..MeshSpec::default()
        }],
        findings: obj.findings,
        ..Document::default()
    })
}

/// Reads an OBJ as one mesh.
///
/// Indices may count back from the end; a concave polygon is cut from a corner that sees all others where there is one.
/// Texture coordinates are turned to have their origin above, as glTF's. Never panics; O(n log n) time and memory in
/// proportion to the file.
///
/// # Errors
///
/// With `line L column C`: `OBJ_NUMBER` for a missing, unreadable or infinite number, `OBJ_INDEX` for a corner that names
/// what no earlier line has, `OBJ_EMPTY` for a file without positions.
pub fn read_mesh(bytes: &[u8]) -> Result<ObjMesh, AssetError> {
    let mut file = File::default();
    let mut statements = Statements::new(bytes);
    while let Some(tokens) = statements.next_line() {
        file.take(tokens).map_err(|fault| fault.in_file(bytes))?;
    }
    if file.positions.is_empty() {
        return Err(AssetError {
            code: "OBJ_EMPTY",
            location: "line 1 column 1".to_owned(),
            message: "no vertices".to_owned(),
        });
    }
    Ok(file.finish(bytes))
}

/// Of a corner without texture coordinate or normal.
const NONE: u32 = u32::MAX;

/// Position, texture coordinate and normal of a corner.
type Corner = [u32; 3];

/// What is wrong at a byte of the file.
struct Fault {
    code: &'static str,
    byte: usize,
    message: String,
}

impl Fault {
    fn new(code: &'static str, token: Token<'_>, message: String) -> Self {
        Self {
            code,
            byte: token.byte,
            message,
        }
    }

    fn in_file(self, bytes: &[u8]) -> AssetError {
        AssetError {
            code: self.code,
            location: statement::place(bytes, self.byte),
            message: self.message,
        }
    }
}

/// The lists of a file, as far as it is read.
#[derive(Default)]
struct File {
    positions: Vec<Vec3>,
    uvs: Vec<[f32; 2]>,
    normals: Vec<Vec3>,
    corners: Vec<Corner>,
    /// Where each polygon's corners end.
    ends: Vec<usize>,
    /// The first byte and the number of faces with less than three corners, and of lines that say nothing here.
    thin: Option<(usize, usize)>,
    unknown: Option<(usize, usize)>,
}

impl File {
    fn take(&mut self, tokens: &[Token<'_>]) -> Result<(), Fault> {
        let Some((keyword, rest)) = tokens.split_first() else {
            return Ok(());
        };
        match keyword.text {
            b"v" => {
                let position = numbers::<3>(*keyword, rest, 3)?;
                self.positions.push(position.into());
            }
            b"vt" => {
                let [u, v] = numbers::<2>(*keyword, rest, 1)?;
                self.uvs.push([u, 1.0 - v]);
            }
            b"vn" => {
                let normal = numbers::<3>(*keyword, rest, 3)?;
                self.normals.push(normal.into());
            }
            b"f" | b"fo" if rest.len() < 3 => note(&mut self.thin, *keyword),
            b"f" | b"fo" => {
                for token in rest {
                    let corner = self.corner(*token)?;
                    self.corners.push(corner);
                }
                self.ends.push(self.corners.len());
            }
            b"g" | b"o" | b"s" | b"usemtl" | b"mtllib" | b"l" | b"p" => {}
            _ => note(&mut self.unknown, *keyword),
        }
        Ok(())
    }

    /// `p`, `p/t`, `p//n` or `p/t/n`.
    fn corner(&self, token: Token<'_>) -> Result<Corner, Fault> {
        let counts = [self.positions.len(), self.uvs.len(), self.normals.len()];
        let mut corner = [NONE; 3];
        let mut parts = token.text.split(|byte| *byte == b'/');
        for (slot, (count, what)) in corner
            .iter_mut()
            .zip(counts.into_iter().zip(["v", "vt", "vn"]))
        {
            let Some(part) = parts.next() else { break };
            if part.is_empty() && what != "v" {
                continue;
            }
            let text = String::from_utf8_lossy(part);
            let fault = |message| Fault::new("OBJ_INDEX", token, message);
            let number: i64 = text
                .parse()
                .map_err(|_| fault(format!("'{text}' is not an index")))?;
            let place = if number < 0 {
                number + count as i64
            } else {
                number - 1
            };
            if !(0..count as i64).contains(&place) {
                return Err(fault(format!("{what} {number} of {count}")));
            }
            *slot = place as u32;
        }
        if parts.next().is_some() {
            let message = "more than position, texture coordinate and normal".to_owned();
            return Err(Fault::new("OBJ_INDEX", token, message));
        }
        Ok(corner)
    }

    fn finish(self, bytes: &[u8]) -> ObjMesh {
        let mut vertices = self.corners.clone();
        let mut is_used = vec![false; self.positions.len()];
        for [position, ..] in &self.corners {
            is_used[*position as usize] = true;
        }
        let unused = (0..).zip(&is_used).filter(|(_, is_used)| !**is_used);
        vertices.extend(unused.map(|(position, _)| [position, NONE, NONE]));
        vertices.sort_unstable();
        vertices.dedup();
        let vertex = |corner: &Corner| vertices.binary_search(corner).unwrap_or_default() as u32;
        let named: Vec<u32> = self.corners.iter().map(vertex).collect();

        let at = |v: u32| self.positions[vertices[v as usize][0] as usize];
        let mut triangles = Vec::new();
        let mut start = 0;
        for end in &self.ends {
            polygon::triangulate(&named[start..*end], at, &mut triangles);
            start = *end;
        }
        let normals = self.vertex_normals(&vertices, &triangles);
        let uv = |vertex: &Corner| self.uvs.get(vertex[1] as usize).copied();
        let has_uvs = vertices.iter().any(|vertex| uv(vertex).is_some());
        let uvs = vertices
            .iter()
            .filter(|_| has_uvs)
            .map(|vertex| uv(vertex).unwrap_or_default());
        let mesh = Mesh {
            uvs: uvs.collect(),
            rest: Vertices {
                positions: (0..vertices.len() as u32).map(at).collect(),
                normals,
            },
            triangles,
        };
        ObjMesh {
            mesh,
            position_from_vertex: vertices.iter().map(|[position, ..]| *position).collect(),
            findings: self.findings(bytes),
        }
    }

    /// The file's normals made unit; where it has none, smooth over seams.
    fn vertex_normals(&self, vertices: &[Corner], triangles: &[[u32; 3]]) -> Vec<Vec3> {
        let given = |[_, _, normal]: &Corner| {
            let normal = self.normals.get(*normal as usize)?.cast::<f64>();
            let norm = normal.norm();
            (norm > 0.0).then(|| (normal / norm).cast::<f32>())
        };
        let mut smooth = None;
        let normal = |vertex: &Corner| {
            given(vertex).unwrap_or_else(|| {
                let normals = smooth.get_or_insert_with(|| {
                    let position = |v: u32| vertices[v as usize][0];
                    let welded: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(position)).collect();
                    gltf::smooth_normals(&self.positions, &welded)
                });
                normals[vertex[0] as usize]
            })
        };
        vertices.iter().map(normal).collect()
    }

    fn findings(&self, bytes: &[u8]) -> Vec<Finding> {
        let thin = ("OBJ_THIN_FACE", "faces of less than three corners left out");
        let unknown = ("OBJ_UNKNOWN_LINE", "lines that say nothing here left out");
        [(self.thin, thin), (self.unknown, unknown)]
            .into_iter()
            .filter_map(|(noted, (code, what))| {
                let (byte, count) = noted?;
                Some(Finding {
                    code: code.to_owned(),
                    severity: Severity::Warning,
                    location: statement::place(bytes, byte),
                    message: format!("{what}: {count}"),
                })
            })
            .collect()
    }
}

fn note(noted: &mut Option<(usize, usize)>, token: Token<'_>) {
    noted.get_or_insert((token.byte, 0)).1 += 1;
}

/// The first `N` finite numbers of a line, of which `least` must be there; more, such as colours, say nothing.
fn numbers<const N: usize>(
    keyword: Token<'_>,
    rest: &[Token<'_>],
    least: usize,
) -> Result<[f32; N], Fault> {
    if rest.len() < least {
        let name = String::from_utf8_lossy(keyword.text);
        let message = format!("{name} has {} numbers of {least}", rest.len());
        return Err(Fault::new("OBJ_NUMBER", keyword, message));
    }
    let mut out = [0.0; N];
    for (out, token) in out.iter_mut().zip(rest) {
        let text = String::from_utf8_lossy(token.text);
        let number = text.parse().ok().filter(|number: &f32| number.is_finite());
        *out = number
            .ok_or_else(|| Fault::new("OBJ_NUMBER", *token, format!("'{text}' is not a number")))?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error(text: &str) -> String {
        let error = read_mesh(text.as_bytes()).unwrap_err();
        format!("{} {error}", error.code)
    }

    const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

    #[test]
    fn what_cannot_be_read_is_named_with_its_place() {
        for (text, expected) in [
            ("", "OBJ_EMPTY line 1 column 1: no vertices"),
            ("v 0 0 x", "OBJ_NUMBER line 1 column 7: 'x' is not a number"),
            (
                "#\n v 0 NaN 0",
                "OBJ_NUMBER line 2 column 6: 'NaN' is not a number",
            ),
            (
                "v 0 1e99 0",
                "OBJ_NUMBER line 1 column 5: '1e99' is not a number",
            ),
            ("v 0 0 0\nf 1 1 2", "OBJ_INDEX line 2 column 7: v 2 of 1"),
            ("v 0 0 0\nf 0 1 1", "OBJ_INDEX line 2 column 3: v 0 of 1"),
            ("v 0 0 0\nf 1 -2 1", "OBJ_INDEX line 2 column 5: v -2 of 1"),
            ("v 0 0 0\nf 1/1 1 1", "OBJ_INDEX line 2 column 3: vt 1 of 0"),
            (
                "v 0 0 0\nf / 1 1",
                "OBJ_INDEX line 2 column 3: '' is not an index",
            ),
            (
                "v 0 0 0\r\nf 1 1 1///",
                "OBJ_INDEX line 2 column 7: more than position, texture coordinate and normal",
            ),
        ] {
            assert_eq!(error(text), expected, "{text}");
        }
    }

    #[test]
    fn indices_count_from_the_end_too_and_lines_go_on_after_a_backslash() {
        let forward = read_mesh(format!("{SQUARE}f 1 2 3 4").as_bytes()).unwrap();
        let backward = read_mesh(format!("{SQUARE}f -4 -3 \\\r\n -2 -1 # a face").as_bytes());
        assert_eq!(backward, Ok(forward));
    }

    #[test]
    fn a_position_is_as_many_vertices_as_it_has_different_corners() {
        let text = format!(
            "{SQUARE}v 9 9 9\nvt 0 0\nvt 1 0.25\nvn 0 0 2\nf 1/1/1 2/1/1 3/1/1\nf 1/2/1 3/1/1 4/1/1"
        );
        let obj = read_mesh(text.as_bytes()).unwrap();
        assert_eq!(obj.position_from_vertex, [0, 0, 1, 2, 3, 4]);
        assert_eq!(obj.mesh.triangles, [[0, 2, 3], [1, 3, 4]]);
        assert_eq!(obj.mesh.uvs[..2], [[0.0, 1.0], [1.0, 0.75]]);
        assert_eq!(obj.mesh.rest.normals[0], Vec3::z());
        assert_eq!(obj.mesh.check(), Ok(()));
    }

    #[test]
    fn normals_are_smooth_over_seams() {
        // A ridge along the y axis whose two sides have texture coordinates of their own.
        let text =
            "v 0 0 0\nv 0 1 0\nv -1 0 -1\nv 1 0 -1\nvt 0 0\nvt 1 1\nf 1/1 2/1 3/1\nf 1/2 4/2 2/2";
        let mesh = read_mesh(text.as_bytes()).unwrap().mesh;
        assert_eq!(mesh.vertex_count(), 6);
        assert_eq!(mesh.rest.normals[..4], [Vec3::z(); 4]);
    }

    #[test]
    fn what_says_nothing_here_is_counted() {
        let text = format!("{SQUARE}o x\ng a b\nf 1 2\ncurv 1 2\ncurv 2 3\nl 1 2");
        let findings = read_mesh(text.as_bytes()).unwrap().findings;
        let told: Vec<_> = findings
            .iter()
            .map(|f| (f.location.as_str(), f.message.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (
                    "line 7 column 1",
                    "faces of less than three corners left out: 1"
                ),
                ("line 8 column 1", "lines that say nothing here left out: 2"),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(v|f|vt|vn|-|[0-9]|/|\\.|e|\\\\|#| |\n|\r|é){0,60}") {
            if let Ok(obj) = read_mesh(text.as_bytes()) {
                prop_assert_eq!(obj.mesh.check(), Ok(()));
            }
        }

        #[test]
        fn any_faces_of_earlier_vertices_make_a_sound_mesh(
            points in prop::collection::vec(prop::array::uniform3(-9.0_f32..9.0), 1..9),
            faces in prop::collection::vec(prop::collection::vec(1_usize..9, 3..8), 0..9),
        ) {
            let mut text = String::new();
            for [x, y, z] in &points {
                text += &format!("v {x} {y} {z}\n");
            }
            let mut expected = 0;
            for face in &faces {
                text += "f";
                face.iter().for_each(|c| text += &format!(" {}", (c - 1) % points.len() + 1));
                text += "\n";
                expected += face.len() - 2;
            }
            let obj = read_mesh(text.as_bytes()).unwrap();
            prop_assert_eq!(obj.mesh.check(), Ok(()));
            prop_assert_eq!(obj.mesh.triangles.len(), expected);
            for (point, position) in points.iter().zip(&obj.mesh.rest.positions) {
                prop_assert_eq!(Vec3::from(*point), *position);
            }
        }
    }
}
