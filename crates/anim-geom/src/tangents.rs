//! Tangents that follow a surface whose points something moves freely, such as cloth.
//!
//! What follows joints has matrices that turn tangents. A simulated surface has points only, so a tangent is kept as what
//! it is made of: t = a (p₁ − p₀) + b (p₂ − p₀) on a triangle at its vertex, and is made of the same edges wherever they go.
//! Whatever is linear about the vertex (any motion, stretch or shear) moves it exactly as it moves the texture.
//!
//! ```
//! use anim_geom::tangents::TangentFrames;
//! use anim_math::Vec3;
//!
//! let flat = [Vec3::zeros(), Vec3::x(), Vec3::y()];
//! let frames = TangentFrames::new(&flat, &[[0, 1, 2]], [(0, Vec3::x())]);
//! // The sheet turns by a quarter about z, and its normal stays.
//! let turned = [Vec3::zeros(), Vec3::y(), -Vec3::x()];
//! assert_eq!(frames.at(0, &turned, Vec3::z()), Some(Vec3::y()));
//! ```

use anim_math::Vec3;
use anim_math::nalgebra::Vector3;

use crate::normals;

/// Some tangents, each by the edges of a triangle. 20 bytes each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TangentFrames {
    frames: Vec<Frame>,
}

/// a (p₁ − p₀) + b (p₂ − p₀), with p₀ the point of the tangent; a = b = 0 where there is no triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Frame {
    corners: [u32; 3],
    parts: [f32; 2],
}

impl TangentFrames {
    /// Tangents on a surface at rest.
    ///
    /// * `positions`: metres. * `triangles`: of these positions. * `tangents`: the position that each sits at, and where it
    ///   points; several may sit at one, as on two sides of a seam.
    ///
    /// Each takes the triangle at its position that it lies flattest in, by |t in the plane| · sin(angle of the corner).
    /// O(F + tangents · triangles a vertex).
    ///
    /// # Panics
    ///
    /// If a triangle or tangent names a position that does not exist.
    pub fn new(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        tangents: impl IntoIterator<Item = (u32, Vec3)>,
    ) -> Self {
        let mut around = vec![Vec::new(); positions.len()];
        for &[a, b, c] in triangles {
            for corners in [[a, b, c], [b, c, a], [c, a, b]] {
                around[corners[0] as usize].push(corners);
            }
        }
        let frames = tangents.into_iter().map(|(vertex, tangent)| {
            let mut best = (0.0, Frame::default());
            for &corners in &around[vertex as usize] {
                let points = corners.map(|corner| positions[corner as usize]);
                if let Some((quality, parts)) = parts(points, tangent)
                    && quality > best.0
                {
                    best = (quality, Frame { corners, parts });
                }
            }
            best.1
        });
        Self {
            frames: frames.collect(),
        }
    }

    /// Tangent `index` where its points are now: unit, perpendicular to the unit vector `normal`; `None` where the triangle
    /// or its direction is lost.
    ///
    /// # Panics
    ///
    /// If there is no such tangent, or there are fewer positions than at rest.
    pub fn at(&self, index: usize, positions: &[Vec3], normal: Vec3) -> Option<Vec3> {
        let Frame { corners, parts } = self.frames[index];
        let [origin, first, second] = corners.map(|corner| positions[corner as usize]);
        let tangent = (first - origin) * parts[0] + (second - origin) * parts[1];
        (tangent - normal * normal.dot(&tangent)).try_normalize(f32::MIN_POSITIVE)
    }
}

/// How well a triangle carries a tangent at its first corner, and the parts of its edges there: the least squares, in f64,
/// since slivers are what meshes are made of.
fn parts(corners: [Vec3; 3], tangent: Vec3) -> Option<(f64, [f32; 2])> {
    normals::face(corners)?;
    let [origin, first, second] = corners.map(|corner| corner.cast::<f64>());
    let (u, v): (Vector3<f64>, Vector3<f64>) = (first - origin, second - origin);
    let tangent = tangent.cast::<f64>();
    let (uu, uv, vv) = (u.dot(&u), u.dot(&v), v.dot(&v));
    let area_squared = uu * vv - uv * uv;
    let (along_u, along_v) = (tangent.dot(&u), tangent.dot(&v));
    let a = (vv * along_u - uv * along_v) / area_squared;
    let b = (uu * along_v - uv * along_u) / area_squared;
    let sine = (area_squared / (uu * vv)).sqrt();
    let quality = (u * a + v * b).norm() * sine;
    let parts = [a as f32, b as f32];
    let is_sound = quality.is_finite() && parts.iter().all(|part| part.is_finite());
    is_sound.then_some((quality, parts))
}

#[cfg(test)]
mod tests {
    use anim_math::{Mat3, quat};
    use proptest::prelude::*;

    use super::*;
    use crate::primitives;

    /// A linear map takes tangents along with the plane that they lie in.
    #[test]
    fn any_linear_motion_of_a_flat_sheet_moves_them_exactly() {
        let sheet = primitives::grid(3, 3, 0.1);
        let along = Vec3::new(0.6, 0.0, 0.8);
        let count = sheet.vertex_count() as u32;
        let rest = (0..count).map(|vertex| (vertex, along));
        let frames = TangentFrames::new(&sheet.rest.positions, &sheet.triangles, rest);
        let map = Mat3::new(1.2, 0.3, 0.1, -0.2, 0.7, 0.4, 0.5, 0.1, 0.9);
        let moved: Vec<Vec3> = sheet.rest.positions.iter().map(|p| map * p).collect();
        let normal = (map * Vec3::z()).cross(&(map * Vec3::x())).normalize();
        let expected = (map * along).normalize();
        for vertex in 0..sheet.vertex_count() {
            let tangent = frames.at(vertex, &moved, normal).unwrap();
            // Differences of positions below 1 m in f32, over edges of 0.1 m.
            assert!((tangent - expected).norm() < 2e-6, "{vertex}: {tangent}");
        }
    }

    /// Where a surface is curved, a tangent comes back as it was at rest, and turns with it.
    #[test]
    fn a_ball_keeps_its_own_and_turns_them() {
        let ball = primitives::sphere(0.5, 24, 16);
        let rest = &ball.rest;
        let east = |normal: &Vec3| Vec3::y().cross(normal).try_normalize(1e-3);
        let tangents: Vec<(u32, Vec3)> = (0..)
            .zip(&rest.normals)
            .filter_map(|(vertex, normal)| Some((vertex, east(normal)?)))
            .collect();
        assert!(tangents.len() > 300);
        let frames = TangentFrames::new(&rest.positions, &ball.triangles, tangents.clone());
        let turn = quat::from_axis_angle(Vec3::new(0.6, 0.8, 0.0), 2.0);
        let turned: Vec<Vec3> = rest.positions.iter().map(|p| turn * p).collect();
        for (index, (vertex, tangent)) in tangents.iter().enumerate() {
            let normal = rest.normals[*vertex as usize];
            let same = frames.at(index, &rest.positions, normal).unwrap();
            // The sine of half of the 15 degrees between facets, squared, is what lies out of the plane.
            assert!((same - tangent).norm() < 0.03, "{vertex}: {same}");
            let moved = frames.at(index, &turned, turn * normal).unwrap();
            assert!((moved - turn * same).norm() < 1e-5, "{vertex}: {moved}");
        }
    }

    #[test]
    fn what_has_no_triangle_or_collapses_has_none() {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let rest = [(0, Vec3::x()), (3, Vec3::x()), (0, Vec3::z())];
        let frames = TangentFrames::new(&corners, &[[0, 1, 2], [1, 1, 2]], rest);
        assert_eq!(frames.at(0, &corners, Vec3::z()), Some(Vec3::x()));
        assert_eq!(frames.at(1, &corners, Vec3::z()), None);
        assert_eq!(frames.at(2, &corners, Vec3::z()), None);
        assert_eq!(frames.at(0, &[Vec3::y(); 4], Vec3::z()), None);
    }

    proptest! {
        #[test]
        fn what_is_given_back_is_unit_and_lies_flat(
            coordinates in prop::collection::vec(-1.0_f32..1.0, 24),
            corners in prop::collection::vec(0_u32..6, 18),
        ) {
            let points: Vec<Vec3> = coordinates.chunks(3).map(|p| Vec3::new(p[0], p[1], p[2])).collect();
            let triangles: Vec<[u32; 3]> = corners.chunks(3).map(|c| [c[0], c[1], c[2]]).collect();
            let tangents = (0..6).map(|vertex| (vertex, points[6]));
            let frames = TangentFrames::new(&points[..6], &triangles, tangents);
            let normal = points[7].try_normalize(0.0).unwrap_or_else(Vec3::y);
            for index in 0..6 {
                if let Some(tangent) = frames.at(index, &points[..6], normal) {
                    prop_assert!((tangent.norm() - 1.0).abs() < 1e-6);
                }
            }
        }
    }
}
