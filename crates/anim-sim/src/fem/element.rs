//! A tetrahedron whose deformation is the same all through: the linear finite element.
//!
//! Cheap and robust, and too stiff in bending where there are few across: a bar of one element across bends a third as
//! far as it should, of four nine tenths. Refine where a figure matters.
//!
//! Source: Sifakis, Barbič, "FEM simulation of 3D deformable solids", SIGGRAPH course 2012, chapter 4.

use super::{Mat3d, Vec3d};

/// The rest shape of one tetrahedron.
///
/// ```
/// use anim_sim::fem::{Element, Vec3d};
///
/// let corners = [Vec3d::zeros(), Vec3d::x(), Vec3d::y(), Vec3d::z()];
/// let element = Element::new(&corners);
/// assert_eq!(element.volume, 1.0 / 6.0);
/// let doubled = corners.map(|corner| corner * 2.0);
/// assert_eq!(element.deformation(&doubled)[(1, 1)], 2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// Inverse of the matrix whose columns are the edges from the first corner at rest, 1/m.
    pub inverse_rest: Mat3d,
    /// m³.
    pub volume: f64,
}

impl Element {
    /// From the corners at rest, right-handed. One without volume has no stiffness.
    pub fn new(corners: &[Vec3d; 4]) -> Self {
        let edges = edges(corners);
        let volume = edges.determinant() / 6.0;
        match edges.try_inverse() {
            Some(inverse_rest) => Self {
                inverse_rest,
                volume,
            },
            None => Self {
                inverse_rest: Mat3d::identity(),
                volume: 0.0,
            },
        }
    }

    /// The deformation gradient F.
    pub fn deformation(&self, corners: &[Vec3d; 4]) -> Mat3d {
        edges(corners) * self.inverse_rest
    }

    /// The gradients of the corners' shape functions, 1/m: F = Σ xₐ gₐᵀ.
    pub fn gradients(&self) -> [Vec3d; 4] {
        let [b, c, d] = [0, 1, 2].map(|i| self.inverse_rest.row(i).transpose());
        [-(b + c + d), b, c, d]
    }

    /// ∂E/∂xₐ, N, of a first Piola stress, Pa: the force on each corner, reversed.
    pub fn gather(&self, stress: &Mat3d) -> [Vec3d; 4] {
        let columns = stress * self.inverse_rest.transpose() * self.volume;
        let [b, c, d] = [0, 1, 2].map(|i| Vec3d::from(columns.column(i)));
        [-(b + c + d), b, c, d]
    }
}

fn edges([a, b, c, d]: &[Vec3d; 4]) -> Mat3d {
    Mat3d::from_columns(&[b - a, c - a, d - a])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_of_an_affine_map_is_its_matrix() {
        let corners = [
            Vec3d::new(0.1, 0.2, 0.0),
            Vec3d::new(1.1, 0.0, 0.3),
            Vec3d::new(0.0, 0.9, 0.1),
            Vec3d::new(0.2, 0.1, 1.3),
        ];
        let element = Element::new(&corners);
        let map = Mat3d::new(1.0, 2.0, 0.0, -0.5, 1.5, 0.3, 0.0, 0.1, 0.7);
        let moved = corners.map(|x| map * x + Vec3d::repeat(3.0));
        assert!((element.deformation(&moved) - map).norm() < 1e-14);
        let g = element.gradients();
        let sum: Mat3d = (0..4).map(|a| moved[a] * g[a].transpose()).sum();
        assert!((sum - map).norm() < 1e-13);
        let forces = element.gather(&map);
        for a in 0..4 {
            assert!((forces[a] - map * g[a] * element.volume).norm() < 1e-14);
        }
    }
}
