//! Colliders as meshes, to see what cloth, hair and feet collide with.
//!
//! ```
//! use anim_geom::{Collider, MeshBvh, Shape};
//! use anim_math::{Affine, Vec3};
//! use anim_view::{Camera, Canvas, Style};
//!
//! let camera = Camera::framing(Vec3::repeat(-1.0), Vec3::repeat(1.0), 0.3, 0.2, 1.0);
//! let mut canvas = Canvas::new(64, 64, 2)?;
//! let empty = canvas.finish();
//! let ball = Collider::new(Shape::Sphere { radius: 0.8 }, Affine::IDENTITY);
//! canvas.collider(&camera, &ball, &Style { opacity: 0.5, ..Style::default() });
//! assert_ne!(canvas.finish(), empty);
//! # Ok::<(), anim_view::ViewError>(())
//! ```

use std::f32::consts::{FRAC_PI_2, TAU};

use anim_geom::{Collider, MeshBvh, Shape};
use anim_math::Vec3;

use crate::{Camera, Canvas, Style};

/// Vertices around.
const AROUND: u32 = 48;
/// Rings from the equator to a pole.
const RINGS: u32 = 12;
/// What is drawn of a plane, to each side, m.
const PLANE: f32 = 5.0;

impl Canvas {
    /// Draws the surface of a collider; of a plane, a square of 10 m about its origin. Shapes it does not know are left
    /// out.
    pub fn collider(&mut self, camera: &Camera, collider: &Collider, style: &Style) {
        let (points, normals, triangles) = match collider.shape {
            Shape::Plane => plane(),
            Shape::Sphere { radius } => capsule(radius, 0.0),
            Shape::Capsule {
                radius,
                half_length,
            } => capsule(radius, half_length),
            Shape::Mesh(ref bvh) => facets(bvh),
            _ => return,
        };
        let world_from_shape = collider.world_from_shape;
        let positions: Vec<Vec3> = points
            .iter()
            .map(|point| world_from_shape.transform_point(*point))
            .collect();
        let normals: Vec<Vec3> = normals
            .iter()
            .map(|normal| world_from_shape.transform_vector(*normal))
            .collect();
        self.mesh(camera, &positions, &normals, &triangles, style);
    }
}

type Surface = (Vec<Vec3>, Vec<Vec3>, Vec<[u32; 3]>);

/// Each triangle apart, so that edges stay sharp.
fn facets(bvh: &MeshBvh) -> Surface {
    let (mut points, mut normals) = (Vec::new(), Vec::new());
    for [a, b, c] in bvh.triangles() {
        points.extend([a, b, c]);
        normals.extend([(b - a).cross(&(c - a)).normalize(); 3]);
    }
    let triangles = (0..points.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    let triangles = triangles.collect();
    (points, normals, triangles)
}

fn plane() -> Surface {
    let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0)];
    let points = corners.map(|(x, z)| Vec3::new(x, 0.0, z) * PLANE);
    (
        points.to_vec(),
        vec![Vec3::y(); 4],
        vec![[0, 1, 2], [0, 2, 3]],
    )
}

/// Rings about y from the lower pole to the upper; the equator is there twice, `half_length` down and up.
fn capsule(radius: f32, half_length: f32) -> Surface {
    let (mut points, mut normals, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
    for ring in 0..2 * (RINGS + 1) {
        let upper = ring > RINGS;
        let step = ring as f32 - (RINGS + u32::from(upper)) as f32;
        let (sin, cos) = libm::sincosf(FRAC_PI_2 * step / RINGS as f32);
        let shift = Vec3::y() * if upper { half_length } else { -half_length };
        for place in 0..AROUND {
            let (x, z) = libm::sincosf(TAU * place as f32 / AROUND as f32);
            let normal = Vec3::new(cos * x, sin, cos * z);
            points.push(normal * radius + shift);
            normals.push(normal);
        }
    }
    for ring in 0..2 * RINGS + 1 {
        for place in 0..AROUND {
            let (a, b) = (ring * AROUND + place, ring * AROUND + (place + 1) % AROUND);
            triangles.extend([[a, b, b + AROUND], [a, b + AROUND, a + AROUND]]);
        }
    }
    (points, normals, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anim_math::Affine;

    #[test]
    fn points_lie_on_the_surface_and_normals_agree_with_the_collider() {
        let (radius, half_length) = (0.3, 0.7);
        let shape = Shape::Capsule {
            radius,
            half_length,
        };
        let collider = Collider::new(shape, Affine::IDENTITY);
        let (points, normals, _) = capsule(radius, half_length);
        for (point, normal) in points.iter().zip(&normals) {
            let contact = collider.contact(*point);
            assert!(contact.distance.abs() < 1e-6);
            assert!((contact.normal - normal).norm() < 1e-5);
        }
    }

    #[test]
    fn triangles_face_outwards() {
        for (points, normals, triangles) in [plane(), capsule(0.3, 0.7), capsule(1.0, 0.0)] {
            for corners in triangles {
                let [a, b, c] = corners.map(|v| points[v as usize]);
                let outwards: Vec3 = corners.iter().map(|v| normals[*v as usize]).sum();
                // The poles' rings are as wide as the rounding of a cosine, on either side of zero.
                assert!((b - a).cross(&(c - a)).dot(&outwards) > -1e-7);
            }
        }
    }
}
