//! Vertex normals of a triangle mesh.
//!
//! [`smooth`] weights each face by its angle at the vertex, so the result depends on the surface and not on how it was
//! cut into triangles: use it for anything that is kept. [`smooth_by_area`] needs no arc tangents and is some eight times
//! faster: use it for meshes that move every frame and are tessellated evenly, such as cloth. Neither allocates.
//!
//! ```
//! use anim_geom::normals;
//! use anim_math::Vec3;
//!
//! let positions = [Vec3::zeros(), Vec3::z(), Vec3::x()];
//! let mut normals = [Vec3::zeros(); 3];
//! normals::smooth(&positions, &[[0, 1, 2]], &mut normals);
//! assert_eq!(normals, [Vec3::y(); 3]);
//! ```

use std::f32::consts::PI;

use anim_math::Vec3;

use crate::closest::is_degenerate;

/// Angle-weighted vertex normals: n = normalise(Σ angle · face normal).
///
/// * `positions`: V, metres. * `triangles`: counter-clockwise seen from outside. * `out`: V, overwritten with unit
///   vectors.
///
/// Triangles without area count for nothing; a vertex without any other, or whose faces cancel, gets +Y. O(V + F).
///
/// Source: Thürmer and Wüthrich, "Computing vertex normals from polygonal facets", Journal of Graphics Tools 3(1), 1998.
///
/// # Panics
///
/// If `out` and `positions` differ in length, or a triangle names a vertex beyond them.
pub fn smooth(positions: &[Vec3], triangles: &[[u32; 3]], out: &mut [Vec3]) {
    assert_eq!(out.len(), positions.len(), "one normal a vertex");
    out.fill(Vec3::zeros());
    for &triangle in triangles {
        let corners = triangle.map(|v| positions[v as usize]);
        if let Some(normal) = face(corners) {
            for (vertex, angle) in triangle.into_iter().zip(corner_angles(corners)) {
                out[vertex as usize] += normal * angle;
            }
        }
    }
    normalize(out);
}

/// Area-weighted vertex normals: n = normalise(Σ area · face normal), at an eighth of the cost of [`smooth`].
///
/// Same arguments and same treatment of degenerate input as [`smooth`].
///
/// # Panics
///
/// If `out` and `positions` differ in length, or a triangle names a vertex beyond them.
pub fn smooth_by_area(positions: &[Vec3], triangles: &[[u32; 3]], out: &mut [Vec3]) {
    assert_eq!(out.len(), positions.len(), "one normal a vertex");
    out.fill(Vec3::zeros());
    for &triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        let twice_area = (b - a).cross(&(c - a));
        for vertex in triangle {
            out[vertex as usize] += twice_area;
        }
    }
    normalize(out);
}

/// The unit normal of a triangle, counter-clockwise seen from its tip, or `None` if it has no area.
pub fn face(corners: [Vec3; 3]) -> Option<Vec3> {
    let [a, b, c] = corners;
    (!is_degenerate(corners)).then(|| (b - a).cross(&(c - a)).normalize())
}

/// The inner angles of a triangle at its corners, rad, in [0, π].
pub(crate) fn corner_angles(corners: [Vec3; 3]) -> [f32; 3] {
    let [a, b, c] = corners;
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let double_area = ab.cross(&ca).norm();
    // The arc tangent stays exact for angles near 0 and π, where the arc cosine loses half its digits.
    let at_a = libm::atan2f(double_area, -ab.dot(&ca));
    let at_b = libm::atan2f(double_area, -bc.dot(&ab));
    [at_a, at_b, (PI - at_a - at_b).max(0.0)]
}

/// Makes every vector a unit one; +Y where there is no direction.
fn normalize(normals: &mut [Vec3]) {
    for normal in normals {
        let length = normal.norm();
        *normal = if length > 0.0 && length.is_finite() {
            *normal / length
        } else {
            Vec3::y()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives;

    #[test]
    fn the_normals_of_a_sphere_are_its_radii() {
        let mesh = primitives::sphere(2.0, 48, 24);
        let welded = crate::topology::weld(&mesh.rest.positions);
        let triangles: Vec<_> = mesh
            .triangles
            .iter()
            .map(|t| t.map(|v| welded[v as usize]))
            .collect();
        let mut normals = vec![Vec3::zeros(); mesh.vertex_count()];
        smooth(&mesh.rest.positions, &triangles, &mut normals);
        // A facet of h rad tilts its share by up to h²: (2π/48)² = 0.017.
        for &vertex in &welded {
            let radius = mesh.rest.positions[vertex as usize] / 2.0;
            assert!((normals[vertex as usize] - radius).norm() < 0.017);
        }
    }

    /// A cube's corner where one face is one triangle, the others two: angles still sum to 90° a face.
    #[test]
    fn angle_weights_do_not_see_the_diagonals_of_a_cube() {
        let cube = primitives::cuboid(Vec3::new(1.0, 1.0, 1.0));
        let welded = crate::topology::weld(&cube.rest.positions);
        let triangles: Vec<_> = cube
            .triangles
            .iter()
            .map(|t| t.map(|v| welded[v as usize]))
            .collect();
        let mut normals = vec![Vec3::zeros(); cube.vertex_count()];
        smooth(&cube.rest.positions, &triangles, &mut normals);
        for &vertex in &welded {
            let expected = cube.rest.positions[vertex as usize].normalize();
            assert!((normals[vertex as usize] - expected).norm() < 4.0 * f32::EPSILON);
        }
    }

    #[test]
    fn both_weights_agree_on_an_even_flat_grid() {
        let mesh = primitives::grid(4, 3, 0.5);
        let mut by_angle = vec![Vec3::zeros(); mesh.vertex_count()];
        let mut by_area = by_angle.clone();
        smooth(&mesh.rest.positions, &mesh.triangles, &mut by_angle);
        smooth_by_area(&mesh.rest.positions, &mesh.triangles, &mut by_area);
        assert_eq!(by_angle, vec![Vec3::y(); mesh.vertex_count()]);
        assert_eq!(by_area, by_angle);
    }

    #[test]
    fn vertices_without_area_point_up() {
        let positions = [
            Vec3::zeros(),
            Vec3::x(),
            Vec3::x() * 2.0,
            Vec3::repeat(f32::NAN),
        ];
        for triangles in [&[[0, 1, 2]][..], &[[0, 1, 3]], &[]] {
            let mut normals = [Vec3::zeros(); 4];
            smooth(&positions, triangles, &mut normals);
            assert_eq!(normals, [Vec3::y(); 4]);
            smooth_by_area(&positions, triangles, &mut normals);
            assert_eq!(normals, [Vec3::y(); 4]);
        }
    }

    #[test]
    fn the_angles_of_the_3_4_5_triangle_are_known() {
        let angles = corner_angles([Vec3::zeros(), Vec3::x() * 3.0, Vec3::y() * 4.0]);
        for (angle, cosine) in angles.into_iter().zip([0.0f32, 0.6, 0.8]) {
            assert!((angle - cosine.acos()).abs() < 4.0 * f32::EPSILON);
        }
    }
}
