//! Links, hinges, flexes, areas and membranes with the blocks between their corners.

use super::term::{Derivatives, Term};
use crate::energy::area::AreaSpring;
use crate::energy::flex::QuadraticBend;
use crate::energy::hinge::DihedralSpring;
use crate::energy::membrane::WovenTriangle;
use crate::energy::spring::Spring;
use crate::energy::{Energy, Local};
use crate::fem::{Mat3d, Vec3d};

impl Term<2> for Spring {
    fn energy(&self, corners: &[Vec3d; 2]) -> f64 {
        self.gradient(corners).0
    }

    fn derivatives(&self, corners: &[Vec3d; 2], _exact: bool) -> Derivatives<2> {
        let mut local = Local::new(0.0, Vec3d::zeros());
        self.add_local(corners, 0, &mut local);
        let block = local.hessian();
        Derivatives {
            gradient: self.gradient(corners).1,
            blocks: [[block, -block], [-block, block]],
        }
    }
}

impl Term<4> for QuadraticBend {
    fn energy(&self, corners: &[Vec3d; 4]) -> f64 {
        self.gradient(corners).0
    }

    fn derivatives(&self, corners: &[Vec3d; 4], _exact: bool) -> Derivatives<4> {
        Derivatives {
            gradient: self.gradient(corners).1,
            // Of a quadratic energy the majorant is the Hessian.
            blocks: self
                .majorant()
                .map(|row| row.map(|weight| Mat3d::identity() * weight)),
        }
    }
}

impl Term<4> for DihedralSpring {
    fn energy(&self, corners: &[Vec3d; 4]) -> f64 {
        self.gradient(corners).0
    }

    fn derivatives(&self, corners: &[Vec3d; 4], _exact: bool) -> Derivatives<4> {
        let Some((deviation, gradient)) = self.deviation(corners) else {
            return Derivatives::ZERO;
        };
        Derivatives::of_quantity(self.stiffness * deviation, self.stiffness, &gradient)
    }
}

impl Term<3> for AreaSpring {
    fn energy(&self, corners: &[Vec3d; 3]) -> f64 {
        self.gradient(corners).0
    }

    fn derivatives(&self, corners: &[Vec3d; 3], _exact: bool) -> Derivatives<3> {
        let Some((deviation, gradient)) = self.deviation(corners) else {
            return Derivatives::ZERO;
        };
        Derivatives::of_quantity(self.stiffness * deviation, self.stiffness, &gradient)
    }
}

impl Term<3> for WovenTriangle {
    fn energy(&self, corners: &[Vec3d; 3]) -> f64 {
        self.gradient(corners).0
    }

    fn derivatives(&self, corners: &[Vec3d; 3], exact: bool) -> Derivatives<3> {
        let (_, [warp, weft], stress) = self.stress(corners);
        let [k0, k1, k2] = self.stiffness;
        let [along, across, shear] = if exact { stress } else { tension(stress) };
        let mut out = Derivatives {
            gradient: self.gradient(corners).1,
            ..Derivatives::ZERO
        };
        for a in 0..3 {
            for b in a..3 {
                let ([a0, a1], [b0, b1]) = (self.shape[a], self.shape[b]);
                let (sheared_a, sheared_b) = (weft * a0 + warp * a1, weft * b0 + warp * b1);
                let geometric = along * a0 * b0 + across * a1 * b1 + shear * (a0 * b1 + a1 * b0);
                out.blocks[a][b] = warp * warp.transpose() * (k0 * a0 * b0)
                    + weft * weft.transpose() * (k1 * a1 * b1)
                    + sheared_a * sheared_b.transpose() * k2
                    + Mat3d::identity() * geometric;
            }
        }
        out
    }
}

/// The part of a plane stress (xx, yy, xy) that pulls.
fn tension([xx, yy, xy]: [f64; 3]) -> [f64; 3] {
    let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
    let radius = (half * half + xy * xy).sqrt();
    let (high, low) = ((mean + radius).max(0.0), (mean - radius).max(0.0));
    if radius == 0.0 {
        return [high, high, 0.0];
    }
    let (middle, scale) = (0.5 * (high + low), 0.5 * (high - low) / radius);
    [middle + half * scale, middle - half * scale, xy * scale]
}

#[cfg(test)]
mod tests {
    use super::super::term::check_derivatives;
    use super::*;
    use crate::element::{Area, Flex, Hinge, Link, Membrane};
    use anim_math::Vec3;

    const REST: [Vec3; 4] = [
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(1.5, 0.0, 0.0),
        Vec3::new(0.4, 1.0, 0.0),
        Vec3::new(1.1, -0.7, 0.1),
    ];

    fn moved() -> [Vec3d; 4] {
        [
            Vec3d::new(0.0, 0.1, 0.2),
            Vec3d::new(1.8, 0.0, 0.0),
            Vec3d::new(0.4, 1.2, 0.5),
            Vec3d::new(1.1, -0.8, -0.3),
        ]
    }

    #[test]
    fn derivatives_are_those_of_the_energies() {
        let [a, b, c, _] = moved();
        let link = Spring::of_link(&Link {
            vertices: [0, 1],
            rest_length: 1.5,
            compliance: 0.5,
        });
        check_derivatives(&link, &[a, b], 1.0, true);
        let membrane = WovenTriangle::new(&Membrane {
            vertices: [0, 1, 2],
            material: [[0.0, 0.0], [1.5, 0.0], [0.4, 1.0]],
            stiffness: [3.0, 2.0, 0.5],
            limits: [0.0, f32::INFINITY],
        });
        check_derivatives(&membrane, &[a, b, c], 10.0, true);
        let flex = Flex {
            vertices: [0, 1, 2, 3],
            stiffness: 2.0,
        };
        check_derivatives(&QuadraticBend::new(&flex, &REST), &moved(), 10.0, true);
        let hinge = Hinge {
            vertices: [0, 1, 2, 3],
            rest_angle: 0.3,
            compliance: 0.5,
        };
        check_derivatives(&DihedralSpring::new(&hinge, &REST), &moved(), 10.0, false);
        let area = AreaSpring::new(&Area {
            vertices: [0, 1, 2],
            rest_area: 0.5,
            compliance: 0.5,
        });
        check_derivatives(&area, &[a, b, c], 10.0, false);
    }

    #[test]
    fn tension_drops_what_pushes() {
        assert_eq!(tension([2.0, -3.0, 0.0]), [2.0, 0.0, 0.0]);
        assert_eq!(tension([-1.0, -1.0, 0.0]), [0.0; 3]);
        // Pure shear pulls along one diagonal with its full size.
        assert_eq!(tension([0.0, 0.0, 2.0]), [1.0, 1.0, 1.0]);
    }
}
