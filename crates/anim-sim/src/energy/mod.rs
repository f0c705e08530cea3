//! Energies of elements and their derivatives, for solvers that minimise.
//!
//! One kind of element a file, all behind [`Energy`]: the value, the gradient at one corner with a block of the Hessian,
//! and the constant matrix that majorises it. Hessians are positive semi-definite, exact where the energy's own is and
//! the Gauss-Newton part elsewhere, so that a step along them goes down.

pub(crate) mod area;
pub(crate) mod flex;
pub(crate) mod hinge;
pub(crate) mod membrane;
pub(crate) mod spring;
pub(crate) mod tet;

use anim_math::nalgebra;

use crate::inertia::Vec3d;
use crate::model::ModelSpec;
use area::AreaSpring;
use flex::QuadraticBend;
use hinge::DihedralSpring;
use membrane::WovenTriangle;
use spring::Spring;
use tet::NeoHookeanTet;

/// The elements of a model that have an energy, without its tethers; corners are vertices.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    pub(crate) springs: Vec<Spring>,
    pub(crate) flexes: Vec<QuadraticBend>,
    pub(crate) hinges: Vec<DihedralSpring>,
    pub(crate) areas: Vec<AreaSpring>,
    pub(crate) membranes: Vec<WovenTriangle>,
    pub(crate) tets: Vec<NeoHookeanTet>,
}

impl Elements {
    /// Those of infinite compliance hold nothing and are left out.
    pub(crate) fn new(spec: &ModelSpec) -> Self {
        let rest = &spec.positions;
        let links = spec.links.iter().filter(|l| l.compliance.is_finite());
        let hinges = spec.hinges.iter().filter(|h| h.compliance.is_finite());
        let areas = spec.areas.iter().filter(|a| a.compliance.is_finite());
        let flexes = spec.flexes.iter();
        let tets = spec
            .tets
            .iter()
            .map(|tet| NeoHookeanTet::new(tet, &spec.materials[tet.material as usize], rest));
        Self {
            springs: links.map(Spring::of_link).collect(),
            flexes: flexes.map(|flex| QuadraticBend::new(flex, rest)).collect(),
            hinges: hinges.map(|h| DihedralSpring::new(h, rest)).collect(),
            areas: areas.map(AreaSpring::new).collect(),
            membranes: spec.membranes.iter().map(WovenTriangle::new).collect(),
            tets: tets.collect(),
        }
    }
}

/// Rigid elements are as stiff as this compliance makes them, in the units of each: a rigid link is a spring of
/// 10⁸ N/m, which a tonne stretches by a tenth of a millimetre.
const MIN_COMPLIANCE: f32 = 1e-8;

/// 1 / compliance, finite.
fn stiffness(compliance: f32) -> f64 {
    1.0 / f64::from(compliance.max(MIN_COMPLIANCE))
}

/// An element of N corners.
pub(crate) trait Energy<const N: usize> {
    /// The particles at its corners.
    fn corners(&self) -> &[u32; N];

    /// To rename them.
    fn corners_mut(&mut self) -> &mut [u32; N];

    /// J, and the gradient at each corner, N, which points where the energy grows.
    fn gradient(&self, x: &[Vec3d; N]) -> (f64, [Vec3d; N]);

    /// Adds the gradient and the Hessian with respect to one corner.
    fn add_local(&self, x: &[Vec3d; N], corner: usize, local: &mut Local);

    /// Weights W of a matrix W ⊗ 1 that is at least about the Hessian in any configuration near rest, N/m.
    fn majorant(&self) -> [[f64; N]; N];
}

/// Gradient and Hessian of an energy with respect to one particle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    /// N.
    pub(crate) gradient: Vec3d,
    /// N/m: xx, yy, zz, xy, xz, yz.
    hessian: [f64; 6],
}

impl Local {
    /// ½ stiffness |offset|².
    #[inline]
    pub(crate) fn new(stiffness: f64, offset: Vec3d) -> Self {
        Self {
            gradient: offset * stiffness,
            hessian: [stiffness, stiffness, stiffness, 0.0, 0.0, 0.0],
        }
    }

    /// The Hessian so far, N/m.
    #[inline]
    pub(crate) fn hessian(&self) -> nalgebra::Matrix3<f64> {
        let [xx, yy, zz, xy, xz, yz] = self.hessian;
        nalgebra::Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }

    /// Adds stiffness · 1 to the Hessian.
    #[inline]
    pub(crate) fn add_isotropic(&mut self, stiffness: f64) {
        for diagonal in &mut self.hessian[..3] {
            *diagonal += stiffness;
        }
    }

    /// Adds stiffness · v vᵀ to the Hessian.
    #[inline]
    pub(crate) fn add_along(&mut self, stiffness: f64, v: &Vec3d) {
        let s = v * stiffness;
        self.hessian[0] += s.x * v.x;
        self.hessian[1] += s.y * v.y;
        self.hessian[2] += s.z * v.z;
        self.hessian[3] += s.x * v.y;
        self.hessian[4] += s.x * v.z;
        self.hessian[5] += s.y * v.z;
    }

    /// The Newton step −H⁻¹ g, by LDLᵀ, whose pivots stay accurate however stiff one direction is.
    ///
    /// Zero where H is not positive definite, which rounding alone can cause, or nothing is finite.
    #[inline]
    pub(crate) fn step(&self) -> Vec3d {
        let [xx, yy, zz, xy, xz, yz] = self.hessian;
        let (l10, l20) = (xy / xx, xz / xx);
        let d1 = yy - l10 * xy;
        let l21 = (yz - l20 * xy) / d1;
        let d2 = zz - l20 * xz - l21 * l21 * d1;
        if !(xx > 0.0 && d1 > 0.0 && d2 > 0.0) {
            return Vec3d::zeros();
        }
        let g = &self.gradient;
        let y1 = g.y - l10 * g.x;
        let y2 = g.z - l20 * g.x - l21 * y1;
        let z = -y2 / d2;
        let y = -y1 / d1 - l21 * z;
        let x = -g.x / xx - l10 * y - l20 * z;
        Vec3d::new(x, y, z)
    }
}

/// What tests of energies ask.
#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use anim_math::nalgebra::Matrix3;

    /// Gradients are the differences of the energy, blocks of the Hessian those of the gradient where `exact`, and never
    /// less than nothing; forces have no resultant and no moment.
    pub(crate) fn check_derivatives<const N: usize, E: Energy<N>>(
        element: &E,
        x: &[Vec3d; N],
        exact: bool,
    ) {
        let (_, gradient) = element.gradient(x);
        let scale = gradient.iter().map(Vec3d::norm).fold(1e-9, f64::max);
        let step = 1e-6;
        let (mut force, mut moment) = (Vec3d::zeros(), Vec3d::zeros());
        for corner in 0..N {
            force += gradient[corner];
            moment += x[corner].cross(&gradient[corner]);
            let mut local = Local::new(0.0, Vec3d::zeros());
            element.add_local(x, corner, &mut local);
            assert!((local.gradient - gradient[corner]).norm() < 1e-12 * scale + 1e-15);
            let [xx, yy, zz, xy, xz, yz] = local.hessian;
            let hessian = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
            let least = hessian.symmetric_eigenvalues().min();
            assert!(least > -1e-9 * hessian.norm(), "{least}");
            for axis in 0..3 {
                let (mut below, mut above) = (*x, *x);
                below[corner][axis] -= step;
                above[corner][axis] += step;
                let ((low, g_low), (high, g_high)) =
                    (element.gradient(&below), element.gradient(&above));
                let slope = (high - low) / (2.0 * step);
                assert!(
                    (slope - gradient[corner][axis]).abs() < 1e-6 * scale,
                    "corner {corner} axis {axis}: {slope} {}",
                    gradient[corner][axis]
                );
                if exact {
                    let column = (g_high[corner] - g_low[corner]) / (2.0 * step);
                    let error = (column - hessian.column(axis)).norm();
                    assert!(error < 1e-5 * hessian.norm(), "{error}");
                }
            }
        }
        assert!(force.norm() < 1e-9 * scale, "{force}");
        assert!(moment.norm() < 1e-9 * scale, "{moment}");
    }

    #[test]
    fn a_newton_step_solves_its_system_however_stiff() {
        for stiffness in [0.0, 1.0, 1e6, 1e12] {
            let direction = Vec3d::new(0.36, 0.48, 0.8);
            let mut local = Local::new(1.0, Vec3d::new(0.1, -0.7, 0.3));
            local.add_along(stiffness, &direction);
            let step = local.step();
            // Along: divided by 1 + stiffness; across: untouched.
            let along = step.dot(&direction) * (1.0 + stiffness);
            assert!((along - 0.06).abs() < 1e-4, "{stiffness}: {along}");
            let across = step - direction * step.dot(&direction);
            let expected = -(local.gradient + direction * 0.06);
            // Rounding of the stiff entries, 1e-16 × stiffness, against the soft ones, 1.
            let tolerance = 1e-12 + 1e-15 * stiffness;
            assert!((across - expected).norm() < tolerance, "{stiffness}");
        }
    }

    #[test]
    fn what_has_no_minimum_stays() {
        assert_eq!(Local::new(0.0, Vec3d::x()).step(), Vec3d::zeros());
        assert_eq!(Local::new(f64::NAN, Vec3d::x()).step(), Vec3d::zeros());
    }
}
