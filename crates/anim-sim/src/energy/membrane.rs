//! Woven cloth: ½ (k₀E₀₀² + k₁E₁₁² + 4k₂E₀₁²) a unit of area, with Green's strain E = ½ (FᵀF − 1).
//!
//! Strain limits are not part of the energy.

use super::{Energy, Local};
use crate::element::Membrane;
use crate::inertia::Vec3d;

/// A membrane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WovenTriangle {
    corners: [u32; 3],
    /// By corner: what the deformation gradient takes of its position along warp and weft, 1/m.
    pub(crate) shape: [[f64; 2]; 3],
    /// Along warp, weft and in shear, times the area at rest: N·m.
    pub(crate) stiffness: [f64; 3],
}

impl WovenTriangle {
    pub(crate) fn new(membrane: &Membrane) -> Self {
        let [a, b, c] = membrane.material.map(|m| m.map(f64::from));
        let double_area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        let slope = |from: [f64; 2], to: [f64; 2]| {
            [
                (from[1] - to[1]) / double_area,
                (to[0] - from[0]) / double_area,
            ]
        };
        Self {
            corners: membrane.vertices,
            shape: [slope(b, c), slope(c, a), slope(a, b)],
            stiffness: membrane.stiffness.map(|k| f64::from(k) * double_area * 0.5),
        }
    }

    /// The columns of F, and the derivatives of the energy by E₀₀, E₁₁ and 2E₀₁.
    #[inline]
    pub(crate) fn stress(&self, x: &[Vec3d; 3]) -> (f64, [Vec3d; 2], [f64; 3]) {
        let [a, b, c] = &self.shape;
        let warp = x[0] * a[0] + x[1] * b[0] + x[2] * c[0];
        let weft = x[0] * a[1] + x[1] * b[1] + x[2] * c[1];
        let strain = [
            0.5 * (warp.norm_squared() - 1.0),
            0.5 * (weft.norm_squared() - 1.0),
            warp.dot(&weft),
        ];
        let stress: [f64; 3] = std::array::from_fn(|i| self.stiffness[i] * strain[i]);
        let energy = 0.5 * (stress[0] * strain[0] + stress[1] * strain[1] + stress[2] * strain[2]);
        (energy, [warp, weft], stress)
    }
}

impl Energy<3> for WovenTriangle {
    fn corners(&self) -> &[u32; 3] {
        &self.corners
    }

    fn corners_mut(&mut self) -> &mut [u32; 3] {
        &mut self.corners
    }

    #[inline]
    fn gradient(&self, x: &[Vec3d; 3]) -> (f64, [Vec3d; 3]) {
        let (energy, [warp, weft], [along, across, shear]) = self.stress(x);
        let by_warp = warp * along + weft * shear;
        let by_weft = weft * across + warp * shear;
        (energy, self.shape.map(|g| by_warp * g[0] + by_weft * g[1]))
    }

    #[inline]
    fn add_local(&self, x: &[Vec3d; 3], corner: usize, local: &mut Local) {
        let (_, [warp, weft], [along, across, shear]) = self.stress(x);
        let [g0, g1] = self.shape[corner];
        let by_warp = warp * along + weft * shear;
        let by_weft = weft * across + warp * shear;
        local.gradient += by_warp * g0 + by_weft * g1;
        let [k0, k1, k2] = self.stiffness;
        local.add_along(k0 * g0 * g0, &warp);
        local.add_along(k1 * g1 * g1, &weft);
        local.add_along(k2, &(weft * g0 + warp * g1));
        // The stress itself stiffens what it pulls on; what it pushes on it would soften, which is left out.
        let tension = along * g0 * g0 + across * g1 * g1 + 2.0 * shear * g0 * g1;
        local.add_isotropic(tension.max(0.0));
    }

    fn majorant(&self) -> [[f64; 3]; 3] {
        let [k0, k1, k2] = self.stiffness;
        let (warp, weft) = (k0 + k2, k1 + k2);
        self.shape
            .map(|a| self.shape.map(|b| warp * a[0] * b[0] + weft * a[1] * b[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::tests::check_derivatives;

    #[test]
    fn forces_are_the_slope_of_the_energy_and_strain_costs_what_it_should() {
        let membrane = WovenTriangle::new(&Membrane {
            vertices: [0, 1, 2],
            material: [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]],
            stiffness: [30.0, 20.0, 5.0],
            limits: [0.0, f32::INFINITY],
        });
        let at = |warp: Vec3d, weft: Vec3d| [Vec3d::zeros(), warp * 2.0, weft];
        // E₀₀ = ½(1.21 − 1), over an area of 1 m².
        let (energy, _) = membrane.gradient(&at(Vec3d::x() * 1.1, Vec3d::z()));
        assert!((energy - 0.5 * 30.0 * 0.105 * 0.105).abs() < 1e-12);
        // 2E₀₁ = 0.6.
        let (energy, _) = membrane.gradient(&at(Vec3d::x(), Vec3d::new(0.6, 0.0, 0.8)));
        assert!((energy - 0.5 * 5.0 * 0.36).abs() < 1e-12);
        let stretched = at(Vec3d::new(1.2, 0.1, 0.2), Vec3d::new(0.3, 1.1, 0.0));
        check_derivatives(&membrane, &stretched, true);
        let shrunk = at(Vec3d::new(0.7, 0.1, 0.2), Vec3d::new(0.1, 0.8, 0.0));
        check_derivatives(&membrane, &shrunk, false);
    }
}
