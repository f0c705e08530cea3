//! Simple surfaces with normals and texture coordinates: grid, tube, cylinder, sphere, capsule, cuboid.
//!
//! For tests, examples and proxies of colliders. Every one is centred on the origin; round ones turn about y; the
//! closed ones face outward. Counts below the least that makes a surface are raised to it. Texture coordinates start
//! at the upper left of the picture, as in glTF, so round shapes repeat the vertices of their seam.
//!
//! ```
//! use anim_geom::primitives;
//!
//! let sheet = primitives::grid(10, 20, 0.1);
//! assert_eq!(sheet.vertex_count(), 11 * 21);
//! assert_eq!(sheet.triangles.len(), 2 * 10 * 20);
//! ```

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use anim_math::Vec3;

use crate::{Mesh, Vertices};

/// A flat sheet of `columns` × `rows` square cells of `cell` metres in the xz plane, facing +Y.
///
/// Vertices run row by row, x first: vertex `row * (columns + 1) + column`. Diagonals alternate, so that a cloth made
/// of it prefers no direction.
pub fn grid(columns: u32, rows: u32, cell: f32) -> Mesh {
    let (columns, rows) = (columns.max(1), rows.max(1));
    let mut mesh = Mesh::default();
    for row in 0..=rows {
        for column in 0..=columns {
            let x = column as f32 - 0.5 * columns as f32;
            let z = row as f32 - 0.5 * rows as f32;
            let uv = [column as f32 / columns as f32, row as f32 / rows as f32];
            push_vertex(&mut mesh, Vec3::new(x * cell, 0.0, z * cell), Vec3::y(), uv);
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let a = row * (columns + 1) + column;
            let [b, c] = [a + 1, a + columns + 1];
            let d = c + 1;
            if (row + column) % 2 == 0 {
                mesh.triangles.extend([[a, c, d], [a, d, b]]);
            } else {
                mesh.triangles.extend([[a, c, b], [b, c, d]]);
            }
        }
    }
    mesh
}

/// The open side of a cylinder about y: `rings` bands of `sides` quads, from −`half_length` to +`half_length`.
///
/// Vertices run ring by ring from below, `sides + 1` each.
pub fn tube(radius: f32, half_length: f32, sides: u32, rings: u32) -> Mesh {
    let mut mesh = Mesh::default();
    revolve(
        &mut mesh,
        &tube_profile(radius, half_length, rings.max(1)),
        sides,
    );
    mesh
}

/// A closed cylinder about y, with sharp rims: a [`tube`] and two caps.
pub fn cylinder(radius: f32, half_length: f32, sides: u32, rings: u32) -> Mesh {
    let mut mesh = tube(radius, half_length, sides, rings);
    let cap = |radius: f32, end: f32, v: f32| Ring {
        radius,
        y: end * half_length,
        normal: [0.0, end],
        v,
    };
    revolve(
        &mut mesh,
        &[cap(0.0, -1.0, 0.0), cap(radius, -1.0, 1.0)],
        sides,
    );
    revolve(
        &mut mesh,
        &[cap(radius, 1.0, 0.0), cap(0.0, 1.0, 1.0)],
        sides,
    );
    mesh
}

/// A sphere of `sides` meridians and `rings` bands from pole to pole.
pub fn sphere(radius: f32, sides: u32, rings: u32) -> Mesh {
    let rings = rings.max(2);
    let profile: Vec<Ring> = (0..=rings)
        .map(|i| latitude(i, rings, -FRAC_PI_2, PI, radius, 0.0))
        .collect();
    let mut mesh = Mesh::default();
    revolve(&mut mesh, &profile, sides);
    mesh
}

/// A capsule about y: a tube from −`half_length` to +`half_length` closed by half spheres of `rings` bands each.
pub fn capsule(radius: f32, half_length: f32, sides: u32, rings: u32) -> Mesh {
    let rings = rings.max(1);
    let lower =
        (0..=rings).map(|i| latitude(i, rings, -FRAC_PI_2, FRAC_PI_2, radius, -half_length));
    let upper = (0..=rings).map(|i| latitude(i, rings, 0.0, FRAC_PI_2, radius, half_length));
    let mut profile: Vec<Ring> = lower.chain(upper).collect();
    let height = 2.0 * (radius + half_length);
    for ring in &mut profile {
        ring.v = (ring.y + radius + half_length) / height;
    }
    let mut mesh = Mesh::default();
    revolve(&mut mesh, &profile, sides);
    mesh
}

/// A box with sharp edges: 24 vertices, 12 triangles, from −`half_extents` to +`half_extents`.
pub fn cuboid(half_extents: Vec3) -> Mesh {
    let mut mesh = Mesh::default();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let mut normal = Vec3::zeros();
            normal[axis] = side;
            // u × v = normal, so the corners below run counter-clockwise seen from outside.
            let mut u = Vec3::zeros();
            u[(axis + 1) % 3] = side;
            let mut v = Vec3::zeros();
            v[(axis + 2) % 3] = 1.0;
            let first = mesh.vertex_count() as u32;
            for [s, t] in [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] {
                let position = (normal + u * s + v * t).component_mul(&half_extents);
                push_vertex(&mut mesh, position, normal, [0.5 + 0.5 * s, 0.5 - 0.5 * t]);
            }
            mesh.triangles
                .extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    mesh
}

/// One circle of a surface of revolution.
struct Ring {
    radius: f32,
    y: f32,
    /// Radial and y components, unit length.
    normal: [f32; 2],
    /// From 0 at the lowest ring to 1 at the highest.
    v: f32,
}

fn tube_profile(radius: f32, half_length: f32, rings: u32) -> Vec<Ring> {
    (0..=rings)
        .map(|i| {
            let v = i as f32 / rings as f32;
            Ring {
                radius,
                y: (2.0 * v - 1.0) * half_length,
                normal: [1.0, 0.0],
                v,
            }
        })
        .collect()
}

/// Ring `index` of `count` of an arc from latitude `start` over `span` rad, about a centre at `center_y`.
fn latitude(index: u32, count: u32, start: f32, span: f32, radius: f32, center_y: f32) -> Ring {
    let v = index as f32 / count as f32;
    let angle = start + v * span;
    let (sin, cos) = libm::sincosf(angle);
    // Poles are points: the cosine of a rounded π/2 is not zero.
    let cos = if angle.abs() >= FRAC_PI_2 { 0.0 } else { cos };
    Ring {
        radius: radius * cos,
        y: center_y + radius * sin,
        normal: [cos, sin],
        v,
    }
}

/// Appends the surface swept by `profile`, lowest ring first, around y.
fn revolve(mesh: &mut Mesh, profile: &[Ring], sides: u32) {
    let sides = sides.max(3);
    let first = mesh.vertex_count() as u32;
    for ring in profile {
        for side in 0..=sides {
            let angle = TAU * (side % sides) as f32 / sides as f32;
            let (sin, cos) = libm::sincosf(angle);
            let [radial, up] = ring.normal;
            let uv = [side as f32 / sides as f32, 1.0 - ring.v];
            push_vertex(
                mesh,
                Vec3::new(ring.radius * cos, ring.y, -ring.radius * sin),
                Vec3::new(radial * cos, up, -radial * sin),
                uv,
            );
        }
    }
    for (band, pair) in (0u32..).zip(profile.windows(2)) {
        for side in 0..sides {
            let a = first + band * (sides + 1) + side;
            let [b, c] = [a + 1, a + sides + 1];
            let d = c + 1;
            if pair[0].radius != 0.0 {
                mesh.triangles.push([a, b, d]);
            }
            if pair[1].radius != 0.0 {
                mesh.triangles.push([a, d, c]);
            }
        }
    }
}

fn push_vertex(mesh: &mut Mesh, position: Vec3, normal: Vec3, uv: [f32; 2]) {
    let Vertices { positions, normals } = &mut mesh.rest;
    positions.push(position);
    normals.push(normal);
    mesh.uvs.push(uv);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{half_edges, is_closed, weld};

    fn welded_triangles(mesh: &Mesh) -> Vec<[u32; 3]> {
        let welded = weld(&mesh.rest.positions);
        let named = |t: &[u32; 3]| t.map(|v| welded[v as usize]);
        mesh.triangles.iter().map(named).collect()
    }

    /// Enclosed volume by the divergence theorem.
    fn volume(mesh: &Mesh) -> f32 {
        let position = |v: u32| mesh.rest.positions[v as usize].cast::<f64>();
        let parts = mesh.triangles.iter().map(|t| {
            let [a, b, c] = t.map(position);
            a.dot(&b.cross(&c)) / 6.0
        });
        parts.sum::<f64>() as f32
    }

    fn euler_characteristic(mesh: &Mesh) -> i64 {
        let triangles = welded_triangles(mesh);
        let mut vertices: Vec<u32> = triangles.iter().flatten().copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        let edges = half_edges(&triangles)
            .chunk_by(|a, b| a.ends == b.ends)
            .count();
        vertices.len() as i64 - edges as i64 + triangles.len() as i64
    }

    /// The area of the regular polygon that stands for a circle.
    fn polygon(radius: f32, sides: u32) -> f32 {
        0.5 * sides as f32 * radius * radius * (TAU / sides as f32).sin()
    }

    /// The volume of a ball's stack of pyramid frusta.
    fn ball(radius: f32, sides: u32, rings: u32) -> f32 {
        let ring = |i: u32| {
            let angle = PI * i as f32 / rings as f32 - FRAC_PI_2;
            (polygon(radius * angle.cos(), sides), radius * angle.sin())
        };
        (0..rings)
            .map(|i| {
                let ((lower, y0), (upper, y1)) = (ring(i), ring(i + 1));
                (y1 - y0) / 3.0 * (lower + upper + (lower * upper).sqrt())
            })
            .sum()
    }

    fn solids() -> [(&'static str, Mesh, f32); 4] {
        [
            ("cuboid", cuboid(Vec3::new(1.0, 2.0, 0.5)), 8.0),
            (
                "cylinder",
                cylinder(0.5, 1.5, 12, 3),
                polygon(0.5, 12) * 3.0,
            ),
            ("sphere", sphere(2.0, 16, 8), ball(2.0, 16, 8)),
            (
                "capsule",
                capsule(0.5, 1.0, 10, 4),
                ball(0.5, 10, 8) + polygon(0.5, 10) * 2.0,
            ),
        ]
    }

    #[test]
    fn solids_are_closed_and_enclose_their_closed_form_volume() {
        for (name, mesh, expected) in solids() {
            assert_eq!(mesh.check(), Ok(()), "{name}");
            assert!(is_closed(&welded_triangles(&mesh)), "{name}");
            assert_eq!(euler_characteristic(&mesh), 2, "{name}");
            let found = volume(&mesh);
            assert!(
                (found - expected).abs() < 1e-5 * expected,
                "{name}: {found} {expected}"
            );
        }
    }

    #[test]
    fn sheets_have_the_topology_of_a_disc_and_of_an_annulus() {
        assert_eq!(euler_characteristic(&grid(5, 3, 0.1)), 1);
        assert_eq!(euler_characteristic(&tube(1.0, 1.0, 7, 2)), 0);
    }

    #[test]
    fn normals_are_unit_and_on_the_side_of_their_triangles() {
        let open = [("grid", grid(3, 3, 1.0)), ("tube", tube(1.0, 1.0, 7, 2))];
        let closed = solids().map(|(name, mesh, _)| (name, mesh));
        for (name, mesh) in open.into_iter().chain(closed) {
            for normal in &mesh.rest.normals {
                assert!((normal.norm() - 1.0).abs() < 4.0 * f32::EPSILON, "{name}");
            }
            for triangle in &mesh.triangles {
                let corners = triangle.map(|v| mesh.rest.positions[v as usize]);
                let face = crate::normals::face(corners).unwrap();
                for vertex in triangle {
                    assert!(
                        face.dot(&mesh.rest.normals[*vertex as usize]) > 0.5,
                        "{name}"
                    );
                }
            }
        }
    }

    #[test]
    fn counts_too_small_are_raised_and_uvs_stay_in_the_unit_square() {
        let meshes = [
            grid(0, 0, 1.0),
            tube(1.0, 1.0, 0, 0),
            cylinder(1.0, 1.0, 0, 0),
            sphere(1.0, 0, 0),
            capsule(1.0, 1.0, 0, 0),
        ];
        for mesh in meshes {
            assert!(mesh.check().is_ok() && !mesh.triangles.is_empty());
            assert!(mesh.uvs.iter().flatten().all(|c| (0.0..=1.0).contains(c)));
        }
    }
}
