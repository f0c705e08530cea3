//! The last moves of a minimisation and what they did to the gradient (L-BFGS).
//!
//! Source: Nocedal, "Updating quasi-Newton matrices with limited storage", Mathematics of Computation 1980.

use crate::inertia::Vec3d;

/// At most a fixed number of pairs; the newest replaces the oldest.
#[derive(Clone, Debug)]
pub(super) struct History {
    pairs: Vec<Pair>,
    /// Pairs in use, and where the next one goes.
    count: usize,
    next: usize,
}

#[derive(Clone, Debug)]
struct Pair {
    /// How far each particle moved.
    step: Vec<Vec3d>,
    /// What that added to the gradient.
    change: Vec<Vec3d>,
    /// 1 / step · change.
    inverse: f64,
    /// Between the two passes.
    alpha: f64,
}

impl History {
    pub(super) fn new(window: usize, particles: usize) -> Self {
        let pair = Pair {
            step: vec![Vec3d::zeros(); particles],
            change: vec![Vec3d::zeros(); particles],
            inverse: 0.0,
            alpha: 0.0,
        };
        Self {
            pairs: vec![pair; window],
            count: 0,
            next: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Remembers that `step` turned the gradient `before` into `after`. A step without curvature is not remembered.
    pub(super) fn push(&mut self, step: &[Vec3d], before: &[Vec3d], after: &[Vec3d]) {
        let Some(pair) = self.pairs.get_mut(self.next) else {
            return;
        };
        pair.step.copy_from_slice(step);
        for ((change, after), before) in pair.change.iter_mut().zip(after).zip(before) {
            *change = after - before;
        }
        let curvature = dot(&pair.step, &pair.change);
        if curvature > 0.0 {
            pair.inverse = 1.0 / curvature;
            self.next = (self.next + 1) % self.pairs.len();
            self.count = (self.count + 1).min(self.pairs.len());
        }
    }

    /// Turns `vector` = −gradient into the direction −H⁻¹ gradient, where `solve` multiplies by the inverse of the
    /// matrix that is refined.
    pub(super) fn direct(&mut self, vector: &mut [Vec3d], solve: impl FnOnce(&mut [Vec3d])) {
        let size = self.pairs.len();
        for age in 0..self.count {
            let pair = &mut self.pairs[(self.next + size - 1 - age) % size];
            pair.alpha = pair.inverse * dot(&pair.step, vector);
            add_scaled(vector, -pair.alpha, &pair.change);
        }
        solve(vector);
        for age in (0..self.count).rev() {
            let pair = &self.pairs[(self.next + size - 1 - age) % size];
            let beta = pair.inverse * dot(&pair.change, vector);
            add_scaled(vector, pair.alpha - beta, &pair.step);
        }
    }
}

/// Σ aᵢ · bᵢ, in order.
pub(super) fn dot(a: &[Vec3d], b: &[Vec3d]) -> f64 {
    a.iter()
        .zip(b)
        .fold(Vec3d::zeros(), |sum, (a, b)| sum + a.component_mul(b))
        .sum()
}

fn add_scaled(to: &mut [Vec3d], scale: f64, vectors: &[Vec3d]) {
    for (to, vector) in to.iter_mut().zip(vectors) {
        *to += vector * scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a quadratic of n dimensions n exact line searches build the exact inverse.
    #[test]
    fn a_full_history_is_the_inverse_of_a_quadratic() {
        let stiffness = Vec3d::new(1.0, 7.0, 30.0);
        let mut history = History::new(3, 1);
        let mut x = [Vec3d::new(1.0, 1.0, 1.0)];
        for _ in 0..3 {
            let gradient = x.map(|x| x.component_mul(&stiffness));
            let mut step = gradient.map(|g| -g);
            history.direct(&mut step, |_| {});
            let curvature = dot(&step, &step.map(|s| s.component_mul(&stiffness)));
            let length = -dot(&gradient, &step) / curvature;
            let step = step.map(|s| s * length);
            x[0] += step[0];
            history.push(&step, &gradient, &x.map(|x| x.component_mul(&stiffness)));
        }
        assert!(x[0].norm() < 1e-12, "{}", x[0]);
        let mut vector = [Vec3d::new(1.0, 7.0, 30.0)];
        history.direct(&mut vector, |_| {});
        assert!((vector[0] - Vec3d::repeat(1.0)).norm() < 1e-10);
        history.clear();
        let mut vector = [Vec3d::x()];
        history.direct(&mut vector, |v| v[0] *= 2.0);
        assert_eq!(vector[0], Vec3d::x() * 2.0);
    }
}
