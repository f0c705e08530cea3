//! Solids: stable Neo-Hookean, ½ μ (|F|² − 3) − μ (J − 1) + ½ λ′ (J − 1)² a unit of volume.
//!
//! With λ′ = λ + μ the rest shape has no stress and small strains cost what Hooke's law says. J is linear in each corner
//! alone, so a corner's block of the Hessian, V (μ|g|² 1 + λ′ (cof F g)(cof F g)ᵀ), is exact and positive for any shape,
//! inverted ones too.
//!
//! Source: Smith, de Goes, Kim, "Stable Neo-Hookean flesh simulation", TOG 2018, without the logarithm; the block as in
//! Chen, Liu, Yang, Yuksel, "Vertex block descent", SIGGRAPH 2024.

use anim_math::Vec3;

use super::{Energy, Local};
use crate::element::{Material, Tet};
use crate::inertia::Vec3d;

/// A tetrahedron.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeoHookeanTet {
    corners: [u32; 4],
    /// By corner: the gradient of its barycentric coordinate at rest, 1/m.
    shape: [Vec3d; 4],
    /// Times the volume at rest, J: μ.
    shear: f64,
    /// Times the volume at rest, J: λ′.
    bulk: f64,
    /// Viscosity over elasticity, s.
    pub(crate) damping: f64,
}

/// Entries xx, yy, zz, xy, xz, yz of Green's strain.
pub(crate) type Strain = [f64; 6];

impl NeoHookeanTet {
    /// * `rest`: P.
    pub(crate) fn new(tet: &Tet, material: &Material, rest: &[Vec3]) -> Self {
        let [a, b, c, d] = tet.vertices.map(|v| rest[v as usize].cast::<f64>());
        let (ab, ac, ad) = (b - a, c - a, d - a);
        let six_volumes = ab.dot(&ac.cross(&ad));
        let [gb, gc, gd] = [ac.cross(&ad), ad.cross(&ab), ab.cross(&ac)].map(|g| g / six_volumes);
        let [shear, first] = material.lame().map(f64::from);
        let volume = six_volumes / 6.0;
        Self {
            corners: tet.vertices,
            shape: [-(gb + gc + gd), gb, gc, gd],
            shear: shear * volume,
            bulk: (first + shear) * volume,
            damping: f64::from(material.damping),
        }
    }

    /// The columns of the deformation gradient.
    #[inline]
    fn deformation(&self, x: &[Vec3d; 4]) -> [Vec3d; 3] {
        let (b, c, d) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let [_, gb, gc, gd] = &self.shape;
        std::array::from_fn(|axis| b * gb[axis] + c * gc[axis] + d * gd[axis])
    }

    /// ½ (FᵀF − 1).
    #[inline]
    pub(crate) fn strain(&self, x: &[Vec3d; 4]) -> Strain {
        let [f0, f1, f2] = self.deformation(x);
        [
            0.5 * (f0.norm_squared() - 1.0),
            0.5 * (f1.norm_squared() - 1.0),
            0.5 * (f2.norm_squared() - 1.0),
            0.5 * f0.dot(&f1),
            0.5 * f0.dot(&f2),
            0.5 * f1.dot(&f2),
        ]
    }

    /// Adds the viscous force and its Hessian, as of the potential (damping / h) V (μ|ΔE|² + ½ λ (tr ΔE)²) of the strain
    /// since the beginning of the substep: nothing for a rigid motion, nothing at rest.
    #[inline]
    pub(crate) fn add_viscous(
        &self,
        x: &[Vec3d; 4],
        corner: usize,
        before: &Strain,
        h: f64,
        local: &mut Local,
    ) {
        let f = self.deformation(x);
        let now = self.strain(x);
        let [xx, yy, zz, xy, xz, yz]: Strain = std::array::from_fn(|i| now[i] - before[i]);
        let g = &self.shape[corner];
        let times = |v: &Vec3d| f[0] * v.x + f[1] * v.y + f[2] * v.z;
        let rate = Vec3d::new(
            xx * g.x + xy * g.y + xz * g.z,
            xy * g.x + yy * g.y + yz * g.z,
            xz * g.x + yz * g.y + zz * g.z,
        );
        let viscosity = self.damping / h;
        let (shear, first) = (self.shear * viscosity, (self.bulk - self.shear) * viscosity);
        let fg = times(g);
        local.gradient += times(&rate) * (2.0 * shear) + fg * (first * (xx + yy + zz));
        // |ΔE|² changes by ½ (|Fᵀd|²|g|² + (Fg·d)²).
        for column in &f {
            local.add_along(shear * g.norm_squared(), column);
        }
        local.add_along(shear + first, &fg);
    }
}

/// The columns of the cofactor matrix, the gradient of J = f₀ · (f₁ × f₂).
#[inline]
fn cofactors(f: &[Vec3d; 3]) -> [Vec3d; 3] {
    [f[1].cross(&f[2]), f[2].cross(&f[0]), f[0].cross(&f[1])]
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
        let f = self.deformation(x);
        let cof = cofactors(&f);
        let swell = f[0].dot(&cof[0]) - 1.0;
        let squared = f[0].norm_squared() + f[1].norm_squared() + f[2].norm_squared();
        let energy = self.shear * (0.5 * (squared - 3.0) - swell) + 0.5 * self.bulk * swell * swell;
        let pressure = self.bulk * swell - self.shear;
        let stress: [Vec3d; 3] =
            std::array::from_fn(|axis| f[axis] * self.shear + cof[axis] * pressure);
        let force = |g: &Vec3d| stress[0] * g.x + stress[1] * g.y + stress[2] * g.z;
        let [_, b, c, d] = self.shape.each_ref().map(force);
        (energy, [-(b + c + d), b, c, d])
    }

    #[inline]
    fn add_local(&self, x: &[Vec3d; 4], corner: usize, local: &mut Local) {
        let f = self.deformation(x);
        let cof = cofactors(&f);
        let pressure = self.bulk * (f[0].dot(&cof[0]) - 1.0) - self.shear;
        let g = &self.shape[corner];
        let along = f[0] * g.x + f[1] * g.y + f[2] * g.z;
        let normal = cof[0] * g.x + cof[1] * g.y + cof[2] * g.z;
        local.gradient += along * self.shear + normal * pressure;
        local.add_isotropic(self.shear * g.norm_squared());
        local.add_along(self.bulk, &normal);
    }

    /// V (2μ + λ) g gᵀ: the stiffness to stretching one way, in every direction.
    fn majorant(&self) -> [[f64; 4]; 4] {
        let weight = self.shear + self.bulk;
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
        let expected = element.damping / h * (element.shear + element.bulk) * 1e-6;
        assert!((work / expected - 1.0).abs() < 2e-3, "{work} {expected}");
    }
}
