//! Conjugate gradients for one Newton step: symmetric positive definite, matrix in blocks, no factorisation.
//!
//! Preconditioned by the blocks of the diagonal. Costs one product with the matrix an iteration, and fewer iterations the
//! more masses outweigh stiffness, that is the shorter the step.
//!
//! Source: Hestenes, Stiefel, J. Res. Nat. Bur. Standards 49, 1952; negative curvature as in Steihaug, SIAM J. Numer.
//! Anal. 1983.

use anim_math::nalgebra::Matrix3;

use super::{DVec3, Jacobian};

/// Residual, as a part of the right-hand side, at which it is enough: Newton's next iteration takes the rest.
const TOLERANCE: f64 = 1e-10;

/// The vectors of the method.
#[derive(Clone, Debug, Default)]
pub(super) struct ConjugateGradients {
    preconditioner: Vec<Matrix3<f64>>,
    residual: Vec<DVec3>,
    scaled: Vec<DVec3>,
    direction: Vec<DVec3>,
    image: Vec<DVec3>,
}

impl ConjugateGradients {
    /// Replaces `x`, the right-hand side, by the solution; false if the matrix is not positive definite.
    pub(super) fn solve(&mut self, matrix: &Jacobian, x: &mut [DVec3]) -> bool {
        self.preconditioner.clear();
        for block in matrix.diagonal() {
            match block.cholesky() {
                Some(factor) => self.preconditioner.push(factor.inverse()),
                None => return false,
            }
        }
        self.residual.clear();
        self.residual.extend_from_slice(x);
        x.fill(DVec3::zeros());
        self.scaled.resize(x.len(), DVec3::zeros());
        self.image.resize(x.len(), DVec3::zeros());
        self.direction.clear();
        self.direction.resize(x.len(), DVec3::zeros());
        let enough = TOLERANCE * TOLERANCE * dot(&self.residual, &self.residual);
        let mut before = 1.0;
        for iteration in 0..30 * x.len() + 30 {
            if dot(&self.residual, &self.residual) <= enough {
                break;
            }
            let all = self.scaled.iter_mut().zip(&self.residual);
            for ((scaled, r), inverse) in all.zip(&self.preconditioner) {
                *scaled = inverse * r;
            }
            let now = dot(&self.residual, &self.scaled);
            let turn = if iteration == 0 { 0.0 } else { now / before };
            for (direction, scaled) in self.direction.iter_mut().zip(&self.scaled) {
                *direction = scaled + turn * *direction;
            }
            matrix.multiply(&self.direction, &mut self.image);
            let curvature = dot(&self.direction, &self.image);
            // Also where it is no number.
            if !(curvature > 0.0 && now > 0.0) {
                return false;
            }
            let length = now / curvature;
            let steps = x.iter_mut().zip(&self.direction);
            for ((x, direction), (r, image)) in steps.zip(self.residual.iter_mut().zip(&self.image))
            {
                *x += length * direction;
                *r -= length * image;
            }
            before = now;
        }
        true
    }
}

/// Σ aᵢ·bᵢ, in order.
pub(super) fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of masses with springs between; the solution is known because it was chosen.
    #[test]
    fn the_solution_that_was_chosen_is_found() {
        let count = 40_u32;
        let stiffness = Matrix3::new(-9.0, 2.0, 0.0, 2.0, -7.0, 1.0, 0.0, 1.0, -3.0);
        let mut matrix = Jacobian::default();
        matrix.reset(&vec![2.0; count as usize], 3.0, false);
        for i in 1..count {
            matrix.add_pair([i, i - 1], &stiffness, &Matrix3::zeros());
        }
        let chosen: Vec<_> = (0..count)
            .map(|i| DVec3::new(f64::from(i), 1.0, -f64::from(i * i % 7)))
            .collect();
        let mut x = vec![DVec3::zeros(); count as usize];
        matrix.multiply(&chosen, &mut x);
        assert!(ConjugateGradients::default().solve(&matrix, &mut x));
        for (x, chosen) in x.iter().zip(&chosen) {
            // Condition about 4·100 / 0.5, times the tolerance, times 40 of size.
            assert!((x - chosen).norm() < 1e-5, "{x} {chosen}");
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let mut matrix = Jacobian::default();
        matrix.reset(&[1.0, 1.0], 1.0, false);
        matrix.add_pair(
            [0, 1],
            &Matrix3::from_diagonal_element(0.9),
            &Matrix3::zeros(),
        );
        let mut x = [DVec3::x(), -DVec3::x()];
        assert!(!ConjugateGradients::default().solve(&matrix, &mut x));
    }
}
