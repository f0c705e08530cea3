//! Lasting deformation: what is strained beyond its yield flows, and keeps its volume while it does.
//!
//! F is the product of an elastic and a plastic part, and only the elastic one has energy. Flow moves stretch from the
//! elastic to the plastic part.
//!
//! Source: Irving, Teran, Fedkiw, "Invertible finite elements for robust simulation of large deformation", SCA 2004,
//! section 6; the yield and limit as in O'Brien, Bargteil, Hodgins, "Graphical modeling and animation of ductile
//! fracture", SIGGRAPH 2002.

use super::{Mat3d, Svd, Vec3d};
use crate::element::Material;

/// When and how fast a material flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plasticity {
    /// Elastic strain ‖S − 1‖ from which it flows, where S is the stretch.
    pub yield_strain: f64,
    /// Rate at which strain beyond the yield becomes plastic, 1/s.
    pub creep: f64,
    /// Largest plastic strain.
    pub max_strain: f64,
}

impl Plasticity {
    /// That of a material; `None` if it never flows.
    pub fn new(material: &Material) -> Option<Self> {
        let flows = material.yield_strain.is_finite()
            && material.creep > 0.0
            && material.max_plastic_strain > 0.0;
        flows.then(|| Self {
            yield_strain: f64::from(material.yield_strain),
            creep: f64::from(material.creep),
            max_strain: f64::from(material.max_plastic_strain),
        })
    }

    /// What to multiply the inverse of the plastic deformation with, from the right, after `dt`, s; `None`: nothing flows.
    ///
    /// * `elastic`: elastic deformation gradient. * `inverse`: inverse of the plastic one.
    ///
    /// Inverted elements do not flow.
    pub fn flow(&self, elastic: &Mat3d, inverse: &Mat3d, dt: f64) -> Option<Mat3d> {
        let Svd {
            singular, right, ..
        } = Svd::new(elastic);
        let strain = singular.add_scalar(-1.0).norm();
        let volume = singular.product();
        if !(strain > self.yield_strain && volume > 0.0) {
            return None;
        }
        let share = 1.0 - libm::exp(-self.creep * dt);
        let mut amount = share * (strain - self.yield_strain) / strain;
        let uniform = libm::cbrt(volume);
        for _ in 0..8 {
            let back = singular.map(|stretch| libm::pow(stretch / uniform, -amount));
            let factor = right * Mat3d::from_diagonal(&back) * right.transpose();
            if plastic_strain(&(inverse * factor)) <= self.max_strain {
                return Some(factor);
            }
            amount *= 0.5;
        }
        None
    }
}

/// ‖S − 1‖ of the plastic deformation with this inverse.
fn plastic_strain(inverse: &Mat3d) -> f64 {
    let stretch: Vec3d = Svd::new(inverse).singular.map(|value| 1.0 / value);
    stretch.add_scalar(-1.0).norm()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_keeps_volume_and_stops_at_the_yield_and_at_the_limit() {
        let elastic = Mat3d::new(1.4, 0.1, 0.0, 0.0, 0.9, 0.2, 0.0, 0.0, 0.8);
        let fast = Plasticity {
            yield_strain: 0.1,
            creep: 1e6,
            max_strain: 1.0,
        };
        let inverse = fast.flow(&elastic, &Mat3d::identity(), 0.1).unwrap();
        assert!((inverse.determinant() - 1.0).abs() < 1e-13);
        let left = Svd::new(&(elastic * inverse)).singular.add_scalar(-1.0);
        assert!(left.norm() < 0.12, "{left}");
        let limited = Plasticity {
            max_strain: 0.2,
            ..fast
        };
        let inverse = limited.flow(&elastic, &Mat3d::identity(), 0.1).unwrap();
        assert!(plastic_strain(&inverse) <= 0.2);
        assert_eq!(fast.flow(&Mat3d::identity(), &Mat3d::identity(), 0.1), None);
    }
}
