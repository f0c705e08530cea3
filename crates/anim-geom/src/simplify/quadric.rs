//! Sums of squared distances to planes, as functions of a point.

use nalgebra::{Matrix3, Vector3};

/// Σ w (n·x + d)² = xᵀA x + 2 b·x + c, and the area of the faces in the sum.
///
/// Source: Garland and Heckbert, "Surface simplification using quadric error metrics", SIGGRAPH 1997, section 5.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quadric {
    /// xx, yy, zz, xy, xz, yz of A.
    second: [f64; 6],
    first: Vector3<f64>,
    constant: f64,
    /// Square metres; borders weigh without adding to it.
    pub(super) area: f64,
}

impl Quadric {
    /// `weight` times the squared distance to the plane through `point` with the unit normal `normal`.
    pub(super) fn plane(normal: &Vector3<f64>, point: &Vector3<f64>, weight: f64) -> Self {
        let offset = -normal.dot(point);
        let scaled = normal * weight;
        Self {
            second: [
                scaled.x * normal.x,
                scaled.y * normal.y,
                scaled.z * normal.z,
                scaled.x * normal.y,
                scaled.x * normal.z,
                scaled.y * normal.z,
            ],
            first: scaled * offset,
            constant: weight * offset * offset,
            area: 0.0,
        }
    }

    /// Adds another sum to this.
    pub(super) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.second.iter_mut().zip(&other.second) {
            *mine += theirs;
        }
        self.first += other.first;
        self.constant += other.constant;
        self.area += other.area;
    }

    /// The sum at `x`, never negative.
    #[inline]
    pub(super) fn at(&self, x: &Vector3<f64>) -> f64 {
        let [xx, yy, zz, xy, xz, yz] = self.second;
        let squares = xx * x.x * x.x + yy * x.y * x.y + zz * x.z * x.z;
        let products = xy * x.x * x.y + xz * x.x * x.z + yz * x.y * x.z;
        (squares + 2.0 * (products + self.first.dot(x)) + self.constant).max(0.0)
    }

    /// The point of the smallest sum; where several are as good, the one nearest to `near`.
    pub(super) fn minimiser(&self, near: &Vector3<f64>) -> Vector3<f64> {
        let [xx, yy, zz, xy, xz, yz] = self.second;
        let matrix = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        // A weak pull towards `near` decides where flat regions and straight edges do not.
        let pull = 1e-3 * matrix.trace();
        let pulled = matrix + Matrix3::identity() * pull;
        let inverse = pulled.try_inverse();
        let found = inverse.map(|inverse| inverse * (near * pull - self.first));
        found
            .filter(|x| x.iter().all(|c| c.is_finite()))
            .unwrap_or(*near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_squared_distances() {
        let mut sum = Quadric::plane(&Vector3::x(), &Vector3::new(2.0, 5.0, 7.0), 3.0);
        sum.add(&Quadric::plane(
            &Vector3::y(),
            &Vector3::new(0.0, -1.0, 0.0),
            0.5,
        ));
        let x = Vector3::new(1.0, 3.0, 9.0);
        assert!((sum.at(&x) - (3.0 * 1.0 + 0.5 * 16.0)).abs() < 1e-12);
        let best = sum.minimiser(&x);
        // The pull is a thousandth, and z is free.
        assert!((best - Vector3::new(2.0, -1.0, 9.0)).norm() < 0.05);
        assert!(sum.at(&best) < 0.01 * sum.at(&x));
    }
}
