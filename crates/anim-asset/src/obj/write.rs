//! OBJ as it is written: named objects of triangles and lines.

use std::fmt::Write as _;

use anim_math::Vec3;

/// One object of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjObject {
    /// Its name; what would break a line is written as an underscore.
    pub name: String,
    /// V, metres.
    pub positions: Vec<Vec3>,
    /// V, or none.
    pub normals: Vec<Vec3>,
    /// Counter-clockwise.
    pub triangles: Vec<[u32; 3]>,
    /// Straight pieces, such as of a rope.
    pub lines: Vec<[u32; 2]>,
}

/// The text of a file. Numbers are the shortest that read back to the same bits.
///
/// ```
/// use anim_asset::obj::{ObjObject, read_mesh, write};
/// use anim_math::Vec3;
///
/// let sheet = ObjObject {
///     name: "sheet".to_owned(),
///     positions: vec![Vec3::zeros(), Vec3::x(), Vec3::y() / 3.0],
///     triangles: vec![[0, 1, 2]],
///     ..ObjObject::default()
/// };
/// let text = write(&[sheet.clone()]);
/// assert_eq!(read_mesh(text.as_bytes())?.mesh.rest.positions, sheet.positions);
/// # Ok::<(), anim_asset::AssetError>(())
/// ```
pub fn write(objects: &[ObjObject]) -> String {
    let mut text = String::from("# metres, +Y up\n");
    // Writing to a string cannot fail.
    let mut line = |arguments: std::fmt::Arguments<'_>| {
        let _ = text.write_fmt(arguments);
    };
    let (mut first, mut first_normal) = (1, 1);
    for object in objects {
        let name: String = object
            .name
            .chars()
            .map(|c| {
                if c.is_whitespace() || c.is_control() {
                    '_'
                } else {
                    c
                }
            })
            .collect();
        line(format_args!("o {name}\n"));
        for v in &object.positions {
            line(format_args!("v {} {} {}\n", v.x, v.y, v.z));
        }
        for n in &object.normals {
            line(format_args!("vn {} {} {}\n", n.x, n.y, n.z));
        }
        for triangle in &object.triangles {
            let [a, b, c] = triangle.map(|v| v as usize + first);
            if object.normals.is_empty() {
                line(format_args!("f {a} {b} {c}\n"));
            } else {
                let [i, j, k] = triangle.map(|v| v as usize + first_normal);
                line(format_args!("f {a}//{i} {b}//{j} {c}//{k}\n"));
            }
        }
        for piece in &object.lines {
            let [a, b] = piece.map(|v| v as usize + first);
            line(format_args!("l {a} {b}\n"));
        }
        first += object.positions.len();
        first_normal += object.normals.len();
    }
    text
}
