//! The matrix of one Newton step of an implicit integrator, in blocks of 3 × 3.
//!
//! M − Δt·∂f/∂v − Δt²·∂f/∂x, where M holds the masses. Forces add what they know ([`Force::add_jacobian`]); the matrix is
//! symmetric, so one of each two mirrored blocks is enough. It serves both ways to solve: products with vectors, block
//! by block, and triplets for a sparse factorisation.
//!
//! [`Force::add_jacobian`]: crate::force::Force::add_jacobian

use anim_math::nalgebra::Matrix3;

use super::DVec3;

/// A symmetric matrix of P × P blocks, most of them zero. Rows and columns of held particles are those of the identity.
#[derive(Clone, Debug, Default)]
pub struct Jacobian {
    dt: f64,
    is_definite: bool,
    is_held: Vec<bool>,
    diagonal: Vec<Matrix3<f64>>,
    /// Row, column and block; rows are below columns, and a place may occur more than once.
    lower: Vec<([u32; 2], Matrix3<f64>)>,
}

impl Jacobian {
    /// The masses alone, for a step of `dt`.
    pub(super) fn reset(&mut self, inverse_masses: &[f64], dt: f64, is_definite: bool) {
        self.dt = dt;
        self.is_definite = is_definite;
        self.is_held.clear();
        self.is_held
            .extend(inverse_masses.iter().map(|w| *w == 0.0));
        self.diagonal.clear();
        let mass = |w: &f64| if *w > 0.0 { 1.0 / w } else { 1.0 };
        self.diagonal.extend(
            inverse_masses
                .iter()
                .map(|w| Matrix3::from_diagonal_element(mass(w))),
        );
        self.lower.clear();
    }

    /// True if what is added must not make energy fall: the caller then leaves out, or makes 0, the negative stiffness of
    /// squeezed springs and the like, for a matrix that is positive definite.
    pub fn is_definite(&self) -> bool {
        self.is_definite
    }

    /// Adds the derivatives of the force on particle `row` by the position and velocity of particle `column`, N/m and N·s/m.
    ///
    /// Of two places mirrored at the diagonal give one.
    ///
    /// # Panics
    ///
    /// If there is no such particle.
    pub fn add(
        &mut self,
        [row, column]: [u32; 2],
        by_position: &Matrix3<f64>,
        by_velocity: &Matrix3<f64>,
    ) {
        if self.is_held[row as usize] || self.is_held[column as usize] {
            return;
        }
        let block = -(by_position * (self.dt * self.dt) + by_velocity * self.dt);
        if row == column {
            self.diagonal[row as usize] += block;
        } else if row > column {
            self.lower.push(([row, column], block));
        } else {
            self.lower.push(([column, row], block.transpose()));
        }
    }

    /// Adds the derivatives of a force that depends on the difference of two particles: it pulls `a` and pushes `b`.
    ///
    /// * `by_position`, `by_velocity`: of the force on `a` by the position and velocity of `a`; symmetric.
    pub fn add_pair(
        &mut self,
        [a, b]: [u32; 2],
        by_position: &Matrix3<f64>,
        by_velocity: &Matrix3<f64>,
    ) {
        self.add([a, a], by_position, by_velocity);
        self.add([b, b], by_position, by_velocity);
        self.add([a, b], &-by_position, &-by_velocity);
    }

    /// `out` = A·`vector`.
    pub(super) fn multiply(&self, vector: &[DVec3], out: &mut [DVec3]) {
        for ((out, x), block) in out.iter_mut().zip(vector).zip(&self.diagonal) {
            *out = block * x;
        }
        for ([row, column], block) in &self.lower {
            let [row, column] = [*row as usize, *column as usize];
            out[row] += block * vector[column];
            out[column] += block.tr_mul(&vector[row]);
        }
    }

    /// P, the blocks of the diagonal.
    pub(super) fn diagonal(&self) -> &[Matrix3<f64>] {
        &self.diagonal
    }

    /// The lower triangle, entry by entry.
    #[cfg(feature = "solve")]
    pub(super) fn triplets(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        let diagonal = self.diagonal.iter().enumerate().flat_map(|(n, block)| {
            let entries = (0..3).flat_map(move |row| (0..=row).map(move |column| (row, column)));
            let n = 3 * n as u32;
            entries.map(move |(row, column)| {
                let value = block[(row as usize, column as usize)];
                (n + row, n + column, value)
            })
        });
        let lower = self.lower.iter().flat_map(|([i, j], block)| {
            let entries = (0..3).flat_map(|row| (0..3).map(move |column| (row, column)));
            entries.map(move |(row, column)| {
                let value = block[(row as usize, column as usize)];
                (3 * i + row, 3 * j + column, value)
            })
        });
        diagonal.chain(lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_acts_on_differences_and_leaves_the_held_alone() {
        let stiffness = Matrix3::from_diagonal_element(-8.0);
        let damping = Matrix3::from_diagonal_element(-2.0);
        let mut jacobian = Jacobian::default();
        jacobian.reset(&[1.0, 0.5, 0.0], 0.5, false);
        jacobian.add_pair([0, 1], &stiffness, &damping);
        jacobian.add_pair([1, 2], &stiffness, &damping);
        let [x, y, z] = [DVec3::x(), DVec3::x() * 2.0, DVec3::y()];
        let mut out = [DVec3::zeros(); 3];
        jacobian.multiply(&[x, y, z], &mut out);
        // Each spring weighs 0.25·8 + 0.5·2 = 3; what is held neither moves nor answers.
        let expected = [x + 3.0 * (x - y), 2.0 * y + 3.0 * (y - x) + 3.0 * y, z];
        assert_eq!(out, expected);
    }
}
