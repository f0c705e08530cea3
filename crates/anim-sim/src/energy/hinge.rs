//! Dihedral angles: (θ − rest)² / (2 · compliance).

use std::f64::consts::{PI, TAU};

use super::{Energy, Local, stiffness};
use crate::element::Hinge;
use crate::inertia::Vec3d;

/// A hinge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DihedralSpring {
    corners: [u32; 4],
    rest_angle: f64,
    /// N·m/rad.
    pub(crate) stiffness: f64,
    /// Of the angle at rest, by corner, signed: what the angle changes when a corner moves across the surface, 1/m.
    slopes: [f64; 4],
}

impl DihedralSpring {
    /// * `rest`: P.
    pub(crate) fn new(hinge: &Hinge, rest: &[anim_math::Vec3]) -> Self {
        let x = hinge.vertices.map(|v| rest[v as usize].cast());
        let slopes = angle(&x).map_or([0.0; 4], |(_, gradient)| {
            gradient.map(|g| g.norm() * g.dot(&gradient[2]).signum())
        });
        Self {
            corners: hinge.vertices,
            rest_angle: f64::from(hinge.rest_angle),
            stiffness: stiffness(hinge.compliance),
            slopes,
        }
    }

    /// θ − rest, the short way round, and its gradient.
    #[inline]
    pub(crate) fn deviation(&self, x: &[Vec3d; 4]) -> Option<(f64, [Vec3d; 4])> {
        let (angle, gradient) = angle(x)?;
        let mut deviation = angle - self.rest_angle;
        if deviation > PI {
            deviation -= TAU;
        } else if deviation < -PI {
            deviation += TAU;
        }
        Some((deviation, gradient))
    }
}

/// The angle between the normals, and its gradient at each corner; `None` where a triangle has no area.
///
/// ∇θ at a far corner is −|e| n / |n|² with the normal n = e × (corner − end) of length twice the area; the ends of the
/// edge take up the force and the moment in the shares of the lever.
#[inline]
fn angle(x: &[Vec3d; 4]) -> Option<(f64, [Vec3d; 4])> {
    let edge = x[1] - x[0];
    let left = edge.cross(&(x[2] - x[0]));
    let right = (x[3] - x[0]).cross(&edge);
    let (length, l2, r2) = (edge.norm(), left.norm_squared(), right.norm_squared());
    if !(l2 > 0.0 && r2 > 0.0 && (length / l2).is_finite() && (length / r2).is_finite()) {
        return None;
    }
    let sine = left.cross(&right).dot(&edge) / length;
    let angle = libm::atan2(sine, left.dot(&right));
    let (at_left, at_right) = (left * (-length / l2), right * (-length / r2));
    let squared = length * length;
    let along_left = (x[2] - x[0]).dot(&edge) / squared;
    let along_right = (x[3] - x[0]).dot(&edge) / squared;
    let first = -at_left * (1.0 - along_left) - at_right * (1.0 - along_right);
    let second = -at_left * along_left - at_right * along_right;
    Some((angle, [first, second, at_left, at_right]))
}

impl Energy<4> for DihedralSpring {
    fn corners(&self) -> &[u32; 4] {
        &self.corners
    }

    fn corners_mut(&mut self) -> &mut [u32; 4] {
        &mut self.corners
    }

    #[inline]
    fn gradient(&self, x: &[Vec3d; 4]) -> (f64, [Vec3d; 4]) {
        let Some((deviation, gradient)) = self.deviation(x) else {
            return (0.0, [Vec3d::zeros(); 4]);
        };
        let moment = self.stiffness * deviation;
        (0.5 * moment * deviation, gradient.map(|g| g * moment))
    }

    #[inline]
    fn add_local(&self, x: &[Vec3d; 4], corner: usize, local: &mut Local) {
        if let Some((deviation, gradient)) = self.deviation(x) {
            local.gradient += gradient[corner] * (self.stiffness * deviation);
            local.add_along(self.stiffness, &gradient[corner]);
        }
    }

    fn majorant(&self) -> [[f64; 4]; 4] {
        self.slopes
            .map(|a| self.slopes.map(|b| self.stiffness * a * b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::tests::check_derivatives;
    use anim_math::Vec3;

    /// Two triangles on the edge from the origin along x, folded by `angle` away from their normals, +z.
    fn folded(angle: f64) -> [Vec3d; 4] {
        [
            Vec3d::zeros(),
            Vec3d::x() * 1.5,
            Vec3d::new(0.4, 1.0, 0.0),
            Vec3d::new(1.1, -0.7 * angle.cos(), -0.7 * angle.sin()),
        ]
    }

    #[test]
    fn angles_are_measured_and_differentiated_all_the_way_round() {
        let rest = folded(0.0).map(|x| x.cast::<f32>());
        for degrees in [-175.0f64, -120.0, -20.0, 5.0, 60.0, 90.0, 130.0, 170.0] {
            let x = folded(degrees.to_radians());
            let (found, _) = angle(&x).unwrap();
            assert!((found - degrees.to_radians()).abs() < 1e-12, "{degrees}");
            let hinge = Hinge {
                vertices: [0, 1, 2, 3],
                rest_angle: 0.1,
                compliance: 0.5,
            };
            check_derivatives(&DihedralSpring::new(&hinge, &rest), &x, false);
        }
    }

    #[test]
    fn a_hinge_turns_the_short_way_and_ignores_slivers() {
        let hinge = Hinge {
            vertices: [0, 1, 2, 3],
            rest_angle: 3.0,
            compliance: 1.0,
        };
        let rest: Vec<Vec3> = folded(0.0).iter().map(|x| x.cast()).collect();
        let spring = DihedralSpring::new(&hinge, &rest);
        let (energy, _) = spring.gradient(&folded(-3.0));
        let expected = 0.5 * (TAU - 6.0) * (TAU - 6.0);
        assert!((energy - expected).abs() < 1e-6);
        assert_eq!(spring.gradient(&[Vec3d::zeros(); 4]).0, 0.0);
    }
}
