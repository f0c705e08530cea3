//! Bending as a quadratic: ½ k |Σ cᵢ xᵢ|².
//!
//! Source: Bergou, Wardetzky, Harmon, Zorin, Grinspun, "A quadratic bending model for inextensible surfaces", SGP 2006,
//! section 3: K = (c₀₃ + c₀₄, c₀₁ + c₀₂, −c₀₁ − c₀₃, −c₀₂ − c₀₄) of cotangents at the ends of the edge. Their
//! Q = 3 / (A₀ + A₁) Kᵀ K shares the curvature out to all three edges of a triangle, but a bent mesh of flat triangles has
//! it in few of them, and costs three times what the sheet does, on square and on equilateral meshes alike; so here
//! Q = 1 / (A₀ + A₁) Kᵀ K, and the stiffness is that of the sheet.

use anim_math::Vec3;

use super::{Energy, Local};
use crate::element::Flex;
use crate::inertia::Vec3d;

/// A flex with its coefficients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuadraticBend {
    corners: [u32; 4],
    coefficients: [f64; 4],
    stiffness: f64,
}

impl QuadraticBend {
    /// * `rest`: P. Triangles without area give coefficients of 0.
    pub(crate) fn new(flex: &Flex, rest: &[Vec3]) -> Self {
        let [a, b, c, d] = flex.vertices.map(|v| rest[v as usize].cast::<f64>());
        let area = ((b - a).cross(&(c - a)).norm() + (b - a).cross(&(d - a)).norm()) * 0.5;
        let cot = |from: Vec3d, to: Vec3d| from.dot(&to) / from.cross(&to).norm();
        let [at_a_c, at_a_d] = [c, d].map(|far| cot(b - a, far - a));
        let [at_b_c, at_b_d] = [c, d].map(|far| cot(a - b, far - b));
        let scale = libm::sqrt(1.0 / area);
        let coefficients = [
            at_b_c + at_b_d,
            at_a_c + at_a_d,
            -at_a_c - at_b_c,
            -at_a_d - at_b_d,
        ]
        .map(|c| c * scale);
        let is_finite = coefficients.iter().all(|c| c.is_finite());
        Self {
            corners: flex.vertices,
            coefficients: if is_finite { coefficients } else { [0.0; 4] },
            stiffness: f64::from(flex.stiffness),
        }
    }

    #[inline]
    fn laplacian(&self, x: &[Vec3d; 4]) -> Vec3d {
        let [a, b, c, d] = self.coefficients;
        x[0] * a + x[1] * b + x[2] * c + x[3] * d
    }
}

impl Energy<4> for QuadraticBend {
    fn corners(&self) -> &[u32; 4] {
        &self.corners
    }

    fn corners_mut(&mut self) -> &mut [u32; 4] {
        &mut self.corners
    }

    #[inline]
    fn gradient(&self, x: &[Vec3d; 4]) -> (f64, [Vec3d; 4]) {
        let bend = self.laplacian(x);
        let energy = 0.5 * self.stiffness * bend.norm_squared();
        (
            energy,
            self.coefficients.map(|c| bend * (self.stiffness * c)),
        )
    }

    #[inline]
    fn add_local(&self, x: &[Vec3d; 4], corner: usize, local: &mut Local) {
        let weight = self.stiffness * self.coefficients[corner];
        local.gradient += self.laplacian(x) * weight;
        local.add_isotropic(weight * self.coefficients[corner]);
    }

    fn majorant(&self) -> [[f64; 4]; 4] {
        self.coefficients
            .map(|a| self.coefficients.map(|b| self.stiffness * a * b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forces_are_the_slope_of_the_energy() {
        let rest = [
            Vec3::zeros(),
            Vec3::x() * 2.0,
            Vec3::new(0.5, 1.0, 0.0),
            Vec3::new(0.9, -2.0, 0.0),
        ];
        let flex = Flex {
            vertices: [0, 1, 2, 3],
            stiffness: 3.0,
        };
        let bend = QuadraticBend::new(&flex, &rest);
        assert!(bend.gradient(&rest.map(|x| x.cast())).0 < 1e-12);
        let mut x = rest.map(|x| x.cast::<f64>());
        x[2].z = 0.6;
        x[3].z = -0.2;
        check_derivatives_of_flat(&bend, &x);
    }

    /// The moment of a flex is 0 only where the sheet has its rest metric: it is exact for bending without stretching.
    fn check_derivatives_of_flat(bend: &QuadraticBend, x: &[Vec3d; 4]) {
        let (_, gradient) = bend.gradient(x);
        let total: Vec3d = gradient.iter().sum();
        assert!(total.norm() < 1e-12);
        let step = 1e-5;
        for corner in 0..4 {
            let mut above = *x;
            above[corner].z += step;
            let mut below = *x;
            below[corner].z -= step;
            let slope = (bend.gradient(&above).0 - bend.gradient(&below).0) / (2.0 * step);
            assert!((slope - gradient[corner].z).abs() < 1e-8 * slope.abs().max(1.0));
            let mut local = Local::new(0.0, Vec3d::zeros());
            bend.add_local(x, corner, &mut local);
            assert_eq!(local.gradient, gradient[corner]);
        }
    }

    #[test]
    fn a_cylinder_costs_half_its_squared_curvature() {
        // A strip of n × 4 cells, rolled to radius 1: ½ k κ² a unit of area, of the inner edges' share.
        let (n, cell) = (40u32, 0.05f32);
        let flat = |i: u32, j: u32| Vec3::new(i as f32 * cell, j as f32 * cell, 0.0);
        let index = |i: u32, j: u32| i + j * (n + 1);
        let rest: Vec<Vec3> = (0..5)
            .flat_map(|j| (0..=n).map(move |i| flat(i, j)))
            .collect();
        let rolled: Vec<Vec3d> = rest
            .iter()
            .map(|x| {
                let x = x.cast::<f64>();
                Vec3d::new(x.x.sin(), x.y, x.x.cos())
            })
            .collect();
        let mut energy = 0.0;
        let mut add = |vertices: [u32; 4]| {
            let bend = QuadraticBend::new(
                &Flex {
                    vertices,
                    stiffness: 2.0,
                },
                &rest,
            );
            energy += bend.gradient(&vertices.map(|v| rolled[v as usize])).0;
        };
        // One column of cells in the middle, one row in the middle: its three kinds of inner edges.
        let (i, j) = (20, 2);
        add([
            index(i + 1, j),
            index(i, j + 1),
            index(i, j),
            index(i + 1, j + 1),
        ]);
        add([
            index(i, j),
            index(i + 1, j),
            index(i, j + 1),
            index(i + 1, j - 1),
        ]);
        add([
            index(i, j),
            index(i, j + 1),
            index(i + 1, j),
            index(i - 1, j + 1),
        ]);
        let expected = 0.5 * 2.0 * f64::from(cell * cell);
        assert!(
            (energy / expected - 1.0).abs() < 0.01,
            "{energy} {expected}"
        );
    }
}
