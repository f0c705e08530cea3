//! Arms in the plane: the smallest machine on which every idea of inverse kinematics shows.
//!
//! m links turn about parallel axes, each angle measured from the link before: φₖ = θ₁ + … + θₖ is where link k points and
//! the end is Σ ℓₖ (cos φₖ, sin φₖ). Two links have a closed form with two answers, more links have infinitely many, and a
//! straight arm has none for pulling it further: its Jacobian loses a rank. Use it for cranks, lamps, diagrams and to try a
//! method by hand; limbs in space are [`TwoBone`](crate::TwoBone)'s. Double precision throughout.
//!
//! ```
//! use anim_ik::{Elbow, PlanarArm};
//! use anim_math::nalgebra::Vector2;
//!
//! let arm = PlanarArm::new(vec![3.0, 4.0])?;
//! let angles = arm.reach(Vector2::new(5.0, 0.0), Elbow::Down).unwrap_or_default();
//! assert!((angles[0].to_degrees() + 53.130102).abs() < 1e-6);
//! assert!((angles[1].to_degrees() - 90.0).abs() < 1e-6);
//! assert_eq!(arm.annulus(), [1.0, 7.0]);
//! # Ok::<(), anim_ik::IkError>(())
//! ```

use std::f64::consts::PI;

use anim_math::nalgebra::{Matrix2, Vector2};

use crate::IkError;

/// Links of fixed lengths in a row, the first turning about the origin.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanarArm {
    lengths: Vec<f64>,
}

/// Which of the two answers of a two-link arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elbow {
    /// The second link turns counter-clockwise from the first, θ₂ ≥ 0: seen along the line to the target, the elbow is on
    /// its right.
    Down,
    /// The mirror image about the line to the target, θ₂ ≤ 0.
    Up,
}

impl PlanarArm {
    /// An arm of links of these lengths, m.
    ///
    /// # Errors
    ///
    /// [`IkError::Link`] if a length is negative or not finite, or there is none (then link 0, NaN).
    pub fn new(lengths: Vec<f64>) -> Result<Self, IkError> {
        let bad = |length: &f64| !(length.is_finite() && *length >= 0.0);
        let bad_link = match lengths.iter().position(bad) {
            Some(link) => Some((link, lengths[link])),
            None => lengths.is_empty().then_some((0, f64::NAN)),
        };
        match bad_link {
            Some((link, length)) => Err(IkError::Link { link, length }),
            None => Ok(Self { lengths }),
        }
    }

    /// m lengths, m.
    pub fn lengths(&self) -> &[f64] {
        &self.lengths
    }

    /// Forward kinematics: the m points where the links end, m; the last one is the end of the arm.
    ///
    /// * `angles`: m, rad, each from the link before.
    ///
    /// # Panics
    ///
    /// If there are not m angles.
    pub fn points(&self, angles: &[f64]) -> impl Iterator<Item = Vector2<f64>> {
        assert_eq!(angles.len(), self.lengths.len(), "one angle a link");
        let links = self.lengths.iter().zip(angles);
        links.scan((Vector2::zeros(), 0.0), |(at, heading), (length, angle)| {
            *heading += angle;
            *at += Vector2::new(libm::cos(*heading), libm::sin(*heading)) * *length;
            Some(*at)
        })
    }

    /// The end of the arm, m.
    ///
    /// # Panics
    ///
    /// If there are not m angles.
    pub fn end(&self, angles: &[f64]) -> Vector2<f64> {
        self.points(angles).last().unwrap_or_default()
    }

    /// The m columns of the 2×m Jacobian ∂end/∂θ, m/rad: column k is the way from joint k to the end, turned by +90°.
    ///
    /// # Panics
    ///
    /// If there are not m angles.
    pub fn jacobian(&self, angles: &[f64]) -> impl Iterator<Item = Vector2<f64>> {
        let end = self.end(angles);
        let joints = std::iter::once(Vector2::zeros()).chain(self.points(angles));
        joints.take(angles.len()).map(move |joint| {
            let lever = end - joint;
            Vector2::new(-lever.y, lever.x)
        })
    }

    /// The inner and outer radius of what the end reaches, m.
    ///
    /// The outer one is the sum of all lengths. The inner one is what the longest link exceeds the others by, 0 if it does
    /// not: |ℓ₁ − ℓ₂| for two links.
    pub fn annulus(&self) -> [f64; 2] {
        let sum: f64 = self.lengths.iter().sum();
        let longest = self.lengths.iter().copied().fold(0.0, f64::max);
        [(2.0 * longest - sum).max(0.0), sum]
    }

    /// The two angles, rad, of a two-link arm that ends in `target`, m; outside the annulus, those that come nearest to it.
    ///
    /// With r the distance, 4ℓ₁ℓ₂ sin²(θ₂/2) = (ℓ₁ + ℓ₂)² − r² and 4ℓ₁ℓ₂ cos²(θ₂/2) = r² − (ℓ₁ − ℓ₂)²; then θ₁ = atan2(y, x)
    /// − atan2(ℓ₂ sin θ₂, ℓ₁ + ℓ₂ cos θ₂). Half angles keep their digits where the arm is straight or folded, where the law
    /// of cosines has none left. `None` if the arm has not two links or the target is not finite.
    pub fn reach(&self, target: Vector2<f64>, elbow: Elbow) -> Option<[f64; 2]> {
        let [l1, l2] = *self.lengths.as_slice() else {
            return None;
        };
        let far = target.norm();
        if !far.is_finite() {
            return None;
        }
        let sine2 = ((l1 + l2 - far) * (l1 + l2 + far)).max(0.0);
        let cosine2 = ((far - l1 + l2) * (far + l1 - l2)).max(0.0);
        let opening = 2.0 * libm::atan2(sine2.sqrt(), cosine2.sqrt());
        let second = match elbow {
            Elbow::Down => opening,
            Elbow::Up => -opening,
        };
        let toward = libm::atan2(target.y, target.x);
        let lead = libm::atan2(l2 * libm::sin(second), l1 + l2 * libm::cos(second));
        Some([wrapped(toward - lead), second])
    }

    /// The smallest singular value of the Jacobian, m/rad: how far the end goes at least for a change of the angles by 1 rad.
    ///
    /// 0 where the arm is straight or folded, for then no angle moves it along itself; with two links the Jacobian's
    /// determinant is ℓ₁ℓ₂ sin θ₂, the product of both singular values.
    ///
    /// # Panics
    ///
    /// If there are not m angles.
    pub fn smallest_singular_value(&self, angles: &[f64]) -> f64 {
        let a = self.normal_matrix(angles);
        let (mean, half) = (0.5 * (a.m11 + a.m22), 0.5 * (a.m11 - a.m22));
        let largest = mean + libm::hypot(half, a.m12);
        // The product of both eigenvalues is the sum of all squared 2×2 minors, in which nothing cancels.
        let columns: Vec<_> = self.jacobian(angles).collect();
        let minors = columns.iter().enumerate().flat_map(|(k, a)| {
            let later = &columns[k + 1..];
            later.iter().map(move |b| a.perp(b) * a.perp(b))
        });
        let product: f64 = minors.sum();
        if largest > 0.0 {
            (product / largest).sqrt()
        } else {
            0.0
        }
    }

    /// E = |end − target|² / 2, m².
    ///
    /// # Panics
    ///
    /// If there are not m angles.
    pub fn energy(&self, angles: &[f64], target: Vector2<f64>) -> f64 {
        0.5 * (self.end(angles) - target).norm_squared()
    }

    /// One step of gradient descent: θ ← θ − η Jᵀe with e = end − target.
    ///
    /// * `rate`: η, rad/m². It converges for any below 2 / σ², σ the largest singular value of J, and then slowly.
    ///
    /// # Panics
    ///
    /// If there are not m angles.
    pub fn gradient_step(&self, angles: &mut [f64], target: Vector2<f64>, rate: f64) {
        let step = (self.end(angles) - target) * -rate;
        self.pull(angles, step);
    }

    /// One step of damped least squares: θ ← θ − Jᵀ(JJᵀ + λI)⁻¹e, which equals −(JᵀJ + λI)⁻¹Jᵀe.
    ///
    /// * `damping`: λ, m²/rad². 0 is a Gauss-Newton step, the shortest that removes the linearised error; where that does
    ///   not exist the angles stay.
    ///
    /// # Panics
    ///
    /// If there are not m angles.
    pub fn damped_step(&self, angles: &mut [f64], target: Vector2<f64>, damping: f64) {
        let matrix = self.normal_matrix(angles) + Matrix2::identity() * damping;
        if let Some(inverse) = matrix.try_inverse() {
            let step = inverse * (target - self.end(angles));
            self.pull(angles, step);
        }
    }

    /// JJᵀ, m²/rad².
    fn normal_matrix(&self, angles: &[f64]) -> Matrix2<f64> {
        self.jacobian(angles)
            .map(|column| column * column.transpose())
            .sum()
    }

    /// θ ← θ + Jᵀ·force.
    fn pull(&self, angles: &mut [f64], force: Vector2<f64>) {
        let turns: Vec<f64> = self.jacobian(angles).map(|c| c.dot(&force)).collect();
        for (angle, turn) in angles.iter_mut().zip(turns) {
            *angle += turn;
        }
    }
}

/// `angle` less whole turns, in [−π, π].
fn wrapped(angle: f64) -> f64 {
    angle - 2.0 * PI * libm::round(angle / (2.0 * PI))
}

#[cfg(test)]
mod tests {
    use anim_math::random::Random;

    use super::*;

    fn arm(lengths: &[f64]) -> PlanarArm {
        PlanarArm::new(lengths.to_vec()).unwrap()
    }

    fn uniform(random: &mut Random, low: f64, high: f64) -> f64 {
        low + (high - low) * f64::from(random.uniform())
    }

    #[test]
    fn three_four_five_has_two_elbows_a_right_angle_apart() {
        let arm = arm(&[3.0, 4.0]);
        let target = Vector2::new(5.0, 0.0);
        for (elbow, side) in [(Elbow::Down, 1.0), (Elbow::Up, -1.0)] {
            let [first, second] = arm.reach(target, elbow).unwrap();
            assert!((first.to_degrees() + 53.130_102_354_155_98 * side).abs() < 1e-12);
            assert!((second.to_degrees() - 90.0 * side).abs() < 1e-12);
            let points: Vec<_> = arm.points(&[first, second]).collect();
            assert!((points[0] - Vector2::new(1.8, -2.4 * side)).norm() < 1e-15 * 7.0);
            assert!((points[1] - target).norm() < 1e-15 * 7.0);
        }
    }

    #[test]
    fn every_point_of_the_annulus_is_reached_by_both_elbows() {
        let mut random = Random::new(1, 0, 0);
        for _ in 0..20_000 {
            let lengths = [0.0; 2].map(|_| uniform(&mut random, 0.1, 2.0));
            let arm = arm(&lengths);
            let [near, far] = arm.annulus();
            let distance = uniform(&mut random, near, far);
            let heading = uniform(&mut random, -PI, PI);
            let target = Vector2::new(heading.cos(), heading.sin()) * distance;
            for elbow in [Elbow::Down, Elbow::Up] {
                let angles = arm.reach(target, elbow).unwrap();
                assert!((arm.end(&angles) - target).norm() <= 1e-14 * far);
            }
        }
    }

    #[test]
    fn beyond_the_annulus_the_nearest_point_is_reached() {
        for (lengths, target, nearest) in [
            ([1.0, 1.0], [3.0, 0.0], [2.0, 0.0]),
            ([1.0, 1.0], [2.0, 0.0], [2.0, 0.0]),
            ([3.0, 1.0], [1.0, 0.0], [2.0, 0.0]),
            ([1.0, 3.0], [0.0, -1.0], [0.0, -2.0]),
            ([1.0, 1.0], [0.0, 0.0], [0.0, 0.0]),
        ] {
            let arm = arm(&lengths);
            for elbow in [Elbow::Down, Elbow::Up] {
                let angles = arm.reach(target.into(), elbow).unwrap();
                assert!(angles.iter().all(|angle| angle.is_finite()));
                assert!((arm.end(&angles) - Vector2::from(nearest)).norm() < 1e-15 * 4.0);
            }
        }
    }

    #[test]
    fn the_annulus_of_many_links_is_what_they_reach() {
        assert_eq!(arm(&[3.0, 1.0, 1.0]).annulus(), [1.0, 5.0]);
        assert_eq!(arm(&[1.0, 2.0, 1.5]).annulus(), [0.0, 4.5]);
        let (arm, mut random) = (arm(&[0.5, 2.5, 0.7]), Random::new(2, 0, 0));
        let [near, far] = arm.annulus();
        for _ in 0..20_000 {
            let angles = [0.0; 3].map(|_| uniform(&mut random, -PI, PI));
            let distance = arm.end(&angles).norm();
            assert!(distance > near - 1e-14 && distance < far + 1e-14);
        }
        assert!((arm.end(&[0.0, PI, PI]).norm() - near).abs() < 1e-14);
    }

    #[test]
    fn the_jacobian_is_the_derivative_of_the_end() {
        let arm = arm(&[0.8, 0.5, 0.3, 0.9]);
        let angles = [0.3, -1.1, 2.0, 0.4];
        for (k, column) in arm.jacobian(&angles).enumerate() {
            let at = |step: f64| {
                let mut moved = angles;
                moved[k] += step;
                arm.end(&moved)
            };
            // A central difference errs by h²/6 of the third derivative and eps/h of the values.
            assert!(((at(1e-5) - at(-1e-5)) / 2e-5 - column).norm() < 1e-9);
        }
    }

    #[test]
    fn a_straight_arm_is_singular() {
        let (one, lengths) = (arm(&[1.5, 0.7]), [1.5, 0.7]);
        for second in [0.0, 1e-6, 0.5, 1.0, -2.0, PI] {
            let angles = [0.4, second];
            let columns: Vec<_> = one.jacobian(&angles).collect();
            let det = columns[0].perp(&columns[1]);
            assert!((det - lengths[0] * lengths[1] * second.sin()).abs() < 1e-15);
            let matrix = Matrix2::from_columns(&columns);
            let expected = matrix.singular_values().min();
            assert!((one.smallest_singular_value(&angles) - expected).abs() < 1e-15);
        }
        assert!(arm(&[1.0, 1.0, 1.0]).smallest_singular_value(&[0.3, 0.0, 0.0]) < 1e-15);
    }

    #[test]
    fn gradient_descent_lowers_the_energy_to_nothing() {
        let (arm, target) = (arm(&[1.0, 1.0, 1.0]), Vector2::new(1.0, 1.5));
        let mut angles = [0.3, 0.4, 0.5];
        let mut before = arm.energy(&angles, target);
        for _ in 0..300 {
            arm.gradient_step(&mut angles, target, 0.1);
            let now = arm.energy(&angles, target);
            assert!(now <= before || before < 1e-25);
            before = now;
        }
        assert!(before < 1e-20, "{before}");
    }

    #[test]
    fn undamped_steps_converge_quadratically_and_damped_ones_are_short_where_it_is_singular() {
        let (arm, target) = (arm(&[1.0, 1.0, 1.0]), Vector2::new(1.0, 1.5));
        let mut angles = [0.3, 0.4, 0.5];
        for _ in 0..8 {
            arm.damped_step(&mut angles, target, 0.0);
        }
        assert!(arm.energy(&angles, target) < 1e-28);
        // Nearly straight and asked to go further: |Δθ| <= |e| / (2 √λ) whatever the Jacobian.
        let mut damped = [0.2, 1e-9, 1e-9];
        let error = (arm.end(&damped) - Vector2::new(4.0, 0.5)).norm();
        let before = damped;
        arm.damped_step(&mut damped, Vector2::new(4.0, 0.5), 0.01);
        let step: f64 = before
            .iter()
            .zip(damped)
            .map(|(a, b)| (a - b) * (a - b))
            .sum();
        assert!(step.sqrt() <= error / (2.0 * 0.1));
    }

    #[test]
    fn links_that_are_no_lengths_are_refused() {
        assert_eq!(
            PlanarArm::new(vec![1.0, -2.0]),
            Err(IkError::Link {
                link: 1,
                length: -2.0
            })
        );
        assert!(PlanarArm::new(vec![1.0, f64::INFINITY]).is_err());
        assert!(PlanarArm::new(Vec::new()).is_err());
        assert_eq!(arm(&[1.0]).reach(Vector2::x(), Elbow::Up), None);
        assert_eq!(
            arm(&[1.0; 2]).reach(Vector2::x() * f64::NAN, Elbow::Up),
            None
        );
    }
}
