//! Tetrahedra: elasticity, muscle and viscosity of one element together.
//!
//! Viscosity is Kelvin's, in Green's strain: the elasticity of the same Lamé's constants times the damping time
//! resists its rate. No rotation changes Green's strain, so rigid motion is not damped at all, however fast it turns.

use super::term::{Derivatives, Term};
use crate::element::Material;
use crate::fem::{Elasticity, Element, Fiber, Mat3d, Plasticity, Vec3d};

/// One tetrahedron.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solid {
    pub(super) element: Element,
    pub(super) elasticity: Elasticity,
    pub(super) plasticity: Option<Plasticity>,
    /// The element's inverse rest shape before anything flowed.
    rest: Mat3d,
    /// Inverse of the plastic deformation; the element's inverse rest shape contains it.
    inverse_plastic: Mat3d,
    /// Its muscle, by place in the activations.
    pub(super) fiber: Option<(Fiber, u32)>,
    pub(super) activation: f64,
    /// Damping time, s.
    pub(super) damping: f64,
    /// Damping time over the length of the step; 0 is not damped.
    pub(super) viscosity: f64,
    /// Green's strain that the rate is measured from.
    pub(super) strain_before: Mat3d,
}

impl Solid {
    pub(super) fn new(corners: &[Vec3d; 4], material: &Material) -> Self {
        let element = Element::new(corners);
        Self {
            rest: element.inverse_rest,
            element,
            elasticity: Elasticity::new(material),
            plasticity: Plasticity::new(material),
            inverse_plastic: Mat3d::identity(),
            fiber: None,
            activation: 0.0,
            damping: f64::from(material.damping),
            viscosity: 0.0,
            strain_before: Mat3d::zeros(),
        }
    }

    /// Green's strain now.
    pub(super) fn strain(&self, corners: &[Vec3d; 4]) -> Mat3d {
        crate::fem::green_strain(&self.element.deformation(corners))
    }

    /// Lets it flow for a time, s.
    pub(super) fn flow(&mut self, corners: &[Vec3d; 4], dt: f64) {
        let Some(plasticity) = &self.plasticity else {
            return;
        };
        let elastic = self.element.deformation(corners);
        if let Some(factor) = plasticity.flow(&elastic, &self.inverse_plastic, dt) {
            self.inverse_plastic *= factor;
            self.element.inverse_rest = self.rest * self.inverse_plastic;
        }
    }

    /// Takes back all that has flowed.
    pub(super) fn reset(&mut self) {
        self.inverse_plastic = Mat3d::identity();
        self.element.inverse_rest = self.rest;
    }

    /// Twice the stress in Green's strain that resists its rate, Pa.
    fn drag(&self, f: &Mat3d) -> Mat3d {
        let change = crate::fem::green_strain(f) - self.strain_before;
        let Elasticity { shear, first, .. } = self.elasticity;
        (change * (2.0 * shear) + Mat3d::identity() * (first * change.trace())) * self.viscosity
    }

    fn add_viscosity(&self, f: &Mat3d, gradients: &[Vec3d; 4], out: &mut [[Mat3d; 4]; 4]) {
        let Elasticity { shear, first, .. } = self.elasticity;
        let weight = self.viscosity * self.element.volume;
        let square = f * f.transpose() * (shear * weight);
        let carried = gradients.map(|g| f * g);
        for a in 0..4 {
            for b in a..4 {
                out[a][b] += square * gradients[a].dot(&gradients[b])
                    + carried[b] * carried[a].transpose() * (shear * weight)
                    + carried[a] * carried[b].transpose() * (first * weight);
            }
        }
    }
}

impl Term<4> for Solid {
    fn energy(&self, corners: &[Vec3d; 4]) -> f64 {
        let f = self.element.deformation(corners);
        let mut density = self.elasticity.energy(&f);
        if let Some((fiber, _)) = &self.fiber {
            density += fiber.energy(&f, self.activation);
        }
        if self.viscosity > 0.0 {
            let change = crate::fem::green_strain(&f) - self.strain_before;
            density += 0.5 * self.drag(&f).dot(&change);
        }
        density * self.element.volume
    }

    fn derivatives(&self, corners: &[Vec3d; 4], exact: bool) -> Derivatives<4> {
        let f = self.element.deformation(corners);
        let gradients = self.element.gradients();
        let mut stress = self.elasticity.stress(&f);
        let mut stiffness = self.elasticity.stiffness(&f);
        if !exact {
            stiffness = stiffness.projected();
        }
        let mut blocks = stiffness.blocks(&gradients);
        for block in blocks.iter_mut().flatten() {
            *block *= self.element.volume;
        }
        if let Some((fiber, _)) = &self.fiber {
            stress += fiber.stress(&f, self.activation);
            let stiffness = fiber.stiffness(&f, self.activation, exact) * self.element.volume;
            let along = gradients.map(|gradient| gradient.dot(&fiber.direction));
            for a in 0..4 {
                for b in a..4 {
                    blocks[a][b] += stiffness * (along[a] * along[b]);
                }
            }
        }
        if self.viscosity > 0.0 {
            stress += f * self.drag(&f);
            self.add_viscosity(&f, &gradients, &mut blocks);
        }
        Derivatives {
            gradient: self.element.gather(&stress),
            blocks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::term::check_derivatives;
    use super::*;
    use crate::element::Law;

    fn rest() -> [Vec3d; 4] {
        [
            Vec3d::new(0.1, 0.2, 0.0),
            Vec3d::new(1.1, 0.0, 0.3),
            Vec3d::new(0.0, 0.9, 0.1),
            Vec3d::new(0.2, 0.1, 1.3),
        ]
    }

    fn moved() -> [Vec3d; 4] {
        let map = Mat3d::new(0.2, -1.1, 0.1, 0.9, 0.1, 0.3, 0.0, 0.1, 1.2);
        rest().map(|x| map * x)
    }

    #[test]
    fn forces_and_stiffness_are_the_energys_derivatives() {
        for law in [
            Law::Linear,
            Law::Corotational,
            Law::StableNeoHookean,
            Law::StVenantKirchhoff,
        ] {
            let material = Material {
                law,
                young: 1.0,
                poisson: 0.3,
                ..Material::default()
            };
            let mut solid = Solid::new(&rest(), &material);
            check_derivatives(&solid, &moved(), 1.0, true);
            let fiber = Fiber {
                direction: Vec3d::new(0.0, 0.6, 0.8),
                max_stress: 2.0,
            };
            solid.fiber = Some((fiber, 0));
            solid.activation = 0.5;
            check_derivatives(&solid, &moved(), 1.0, true);
            solid.viscosity = 0.5;
            check_derivatives(&solid, &moved(), 1.0, false);
            // Where the strain did not change yet, Gauss-Newton is exact.
            solid.strain_before = solid.strain(&moved());
            check_derivatives(&solid, &moved(), 1.0, true);
        }
    }
}
