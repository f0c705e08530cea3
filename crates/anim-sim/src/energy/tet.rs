//! Solids: tetrahedra of the stable Neo-Hookean law, whose Hessian has one positive block a corner.
//!
//! Source of solving by these blocks: Chen, Liu, Yang, Yuksel, "Vertex block descent", SIGGRAPH 2024.

use anim_math::Vec3;

use super::{Energy, Local};
use crate::element::{Material, Tet};
use crate::fem::{Element, Mat3d, NeoHookean, cofactor, green_strain};
use crate::inertia::Vec3d;

/// A tetrahedron.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeoHookeanTet {
    corners: [u32; 4],
    element: Element,
    /// By corner: the gradient of its shape function, 1/m.
    shape: [Vec3d; 4],
    /// Times the volume at rest, J.
    law: NeoHookean,
    /// Viscosity over elasticity, s.
    pub(crate) damping: f64,
}

impl NeoHookeanTet {
    /// * `rest`: P.
    pub(crate) fn new(tet: &Tet, material: &Material, rest: &[Vec3]) -> Self {
        let element = Element::new(&tet.vertices.map(|v| rest[v as usize].cast()));
        let [shear, first] = material.lame().map(f64::from);
        Self {
            corners: tet.vertices,
            element,
            shape: element.gradients(),
            law: NeoHookean::new(shear * element.volume, first * element.volume),
            damping: f64::from(material.damping),
        }
    }

    /// Green's strain, ½ (FᵀF − 1).
    #[inline]
    pub(crate) fn strain(&self, x: &[Vec3d; 4]) -> Mat3d {
        green_strain(&self.element.deformation(x))
    }

    /// Adds the viscous force and its Hessian, as of the potential (damping / h) V (μ|ΔE|² + ½ λ (tr ΔE)²) of the strain
    /// since the beginning of the substep: nothing for a rigid motion, nothing at rest.
    #[inline]
    pub(crate) fn add_viscous(
        &self,
        x: &[Vec3d; 4],
        corner: usize,
        before: &Mat3d,
        h: f64,
        local: &mut Local,
    ) {
        let f = self.element.deformation(x);
        let change = green_strain(&f) - before;
        let g = &self.shape[corner];
        let viscosity = self.damping / h;
        let NeoHookean { shear, bulk } = self.law;
        let (shear, first) = (shear * viscosity, (bulk - shear) * viscosity);
        let fg = f * g;
        local.gradient += f * (change * g) * (2.0 * shear) + fg * (first * change.trace());
        // |ΔE|² changes by ½ (|Fᵀd|²|g|² + (Fg·d)²).
        for column in f.column_iter() {
            local.add_along(shear * g.norm_squared(), &column.into());
        }
        local.add_along(shear + first, &fg);
    }
}

impl Energy<4> for NeoHookeanTet {
    fn corners(&self) -> &[u32; 4] {
        &self.corners
    }

    fn corners_mut(&mut self) -> &mut [u32; 4] {
        &mut self.corners
    }

    #[inline]
    fn gradient(&self, x: &[Vec3d; 4]) -> (f64, [Vec3d; 4]) {
        let f = self.element.deformation(x);
        let stress = self.law.stress(&f);
        let [_, b, c, d] = self.shape.map(|g| stress * g);
        (self.law.energy(&f), [-(b + c + d), b, c, d])
    }

    #[inline]
    fn add_local(&self, x: &[Vec3d; 4], corner: usize, local: &mut Local) {
        let f = self.element.deformation(x);
        let (cofactor, volume_ratio) = cofactor(&f);
        let NeoHookean { shear, bulk } = self.law;
        let g = &self.shape[corner];
        let normal = cofactor * g;
        local.gradient += f * g * shear + normal * self.law.pressure(volume_ratio);
        local.add_isotropic(shear * g.norm_squared());
        local.add_along(bulk, &normal);
    }

    /// V (2μ + λ) g gᵀ: the stiffness to stretching one way, in every direction.
    fn majorant(&self) -> [[f64; 4]; 4] {
        let weight = self.law.shear + self.law.bulk;
        self.shape.map(|a| self.shape.map(|b| weight * a.dot(&b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::tests::check_derivatives;

    fn element(damping: f32) -> (NeoHookeanTet, [Vec3d; 4], Material) {
        let rest = [
            Vec3::zeros(),
            Vec3::new(1.0, 0.1, 0.0),
            Vec3::new(0.2, 0.9, 0.1),
            Vec3::new(0.1, 0.2, 1.2),
        ];
        let material = Material {
            young: 30.0,
            poisson: 0.4,
            damping,
            ..Material::default()
        };
        let tet = Tet {
            vertices: [0, 1, 2, 3],
            material: 0,
        };
        let element = NeoHookeanTet::new(&tet, &material, &rest);
        (element, rest.map(|x| x.cast()), material)
    }

    #[test]
    fn forces_are_the_slope_of_the_energy_inside_out_too() {
        let (element, mut x, _) = element(0.0);
        let (energy, gradient) = element.gradient(&x);
        assert!(energy.abs() < 1e-12 && gradient.iter().all(|g| g.norm() < 1e-12));
        x[3] = Vec3d::new(0.3, 0.1, 0.8);
        check_derivatives(&element, &x, true);
        x[3].z = -0.7;
        check_derivatives(&element, &x, true);
    }

    #[test]
    fn small_strains_cost_what_hooke_says() {
        let (element, rest, material) = element(0.0);
        let [shear, first] = material.lame().map(f64::from);
        let volume = rest[1].dot(&rest[2].cross(&rest[3])) / 6.0;
        let e = 1e-4;
        // ε = diag(e, −2e, 0.5e): W = μ|ε|² + ½λ(tr ε)².
        let x = rest.map(|x| {
            Vec3d::new(
                x.x * (1.0 + e),
                x.y * (1.0 - 2.0 * e),
                x.z * (1.0 + 0.5 * e),
            )
        });
        let expected = volume * (shear * 5.25 + 0.5 * first * 0.25) * e * e;
        let (energy, _) = element.gradient(&x);
        assert!((energy / expected - 1.0).abs() < 1e-3, "{energy}");
    }

    #[test]
    fn viscosity_resists_strain_but_no_rigid_motion() {
        let (element, rest, _) = element(0.1);
        let before = element.strain(&rest);
        let h = 0.01;
        let viscous = |x: &[Vec3d; 4], corner: usize| {
            let mut local = Local::new(0.0, Vec3d::zeros());
            element.add_viscous(x, corner, &before, h, &mut local);
            local.gradient
        };
        let (sin, cos) = 0.7f64.sin_cos();
        let turned =
            rest.map(|x| Vec3d::new(cos * x.x - sin * x.y, sin * x.x + cos * x.y, x.z + 3.0));
        let mut work = 0.0;
        for corner in 0..4 {
            assert!(viscous(&turned, corner).norm() < 1e-12);
            let stretched = rest.map(|x| Vec3d::new(x.x * 1.001, x.y, x.z));
            work += viscous(&stretched, corner).dot(&(stretched[corner] - rest[corner]));
        }
        // Twice the potential of the strain E_xx = 0.001: η/h V (2μ + λ) E².
        let expected = element.damping / h * (element.law.shear + element.law.bulk) * 1e-6;
        assert!((work / expected - 1.0).abs() < 2e-3, "{work} {expected}");
    }
}
