//! Flight under constant gravity and linear drag, in closed form.
//!
//! dv/dt = g − c (v − wind) has the solution v(t) = v₀ e^(−ct) + s φ₁, x(t) = x₀ + v₀ φ₁ + s φ₂ with s = g + c wind,
//! φ₁ = (1 − e^(−ct)) / c and φ₂ = (t − φ₁) / c. Two half steps are a whole one, and a negative time flies back.

use anim_math::Vec3;

/// Below this |c t|, φ₂ loses more to cancellation than its series loses to truncation.
const SMALL: f64 = 1e-4;

/// The map from a particle at the beginning of a time to the same one at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// e^(−ct).
    kept: f32,
    /// s φ₁, m/s.
    gained: Vec3,
    /// φ₁, s.
    carried: f32,
    /// s φ₂, m.
    fallen: Vec3,
}

impl Flight {
    /// * `gravity`: m/s². * `drag`: c, 1/s, not negative. * `wind`: m/s. * `time`: s, either sign.
    pub(crate) fn new(gravity: Vec3, drag: f32, wind: Vec3, time: f32) -> Self {
        let (c, t) = (f64::from(drag), f64::from(time));
        let source = gravity + wind * drag;
        let ct = c * t;
        let (phi1, phi2) = if ct.abs() < SMALL {
            (
                t * (1.0 - ct / 2.0 + ct * ct / 6.0),
                t * t * (0.5 - ct / 6.0 + ct * ct / 24.0),
            )
        } else {
            let phi1 = -libm::expm1(-ct) / c;
            (phi1, (t - phi1) / c)
        };
        Self {
            kept: libm::exp(-ct) as f32,
            gained: source * phi1 as f32,
            carried: phi1 as f32,
            fallen: source * phi2 as f32,
        }
    }

    /// The position at the end, from position and velocity at the beginning.
    #[inline]
    pub(crate) fn position(&self, position: Vec3, velocity: Vec3) -> Vec3 {
        position + (velocity * self.carried + self.fallen)
    }

    /// The velocity at the end.
    #[inline]
    pub(crate) fn velocity(&self, velocity: Vec3) -> Vec3 {
        velocity * self.kept + self.gained
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_drag_it_is_a_parabola() {
        let flight = Flight::new(Vec3::y() * -10.0, 0.0, Vec3::zeros(), 2.0);
        let (x, v) = (Vec3::x(), Vec3::new(3.0, 4.0, 0.0));
        assert_eq!(flight.position(x, v), Vec3::new(7.0, -12.0, 0.0));
        assert_eq!(flight.velocity(v), Vec3::new(3.0, -16.0, 0.0));
    }

    #[test]
    fn the_series_meets_the_closed_form() {
        let [below, above] = [0.999, 1.001].map(|near| {
            let drag = SMALL as f32 * near;
            Flight::new(Vec3::y() * -9.81, drag, Vec3::x(), 1.0)
        });
        assert!((below.fallen - above.fallen).norm() < 1e-5);
        assert!((below.carried - above.carried).abs() < 1e-6);
    }

    #[test]
    fn flying_back_returns() {
        let [there, back] = [0.3, -0.3].map(|t| Flight::new(Vec3::y() * -9.81, 2.0, Vec3::x(), t));
        let (x, v) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(-4.0, 5.0, 6.0));
        let (x1, v1) = (there.position(x, v), there.velocity(v));
        assert!((back.velocity(v1) - v).norm() < 1e-5);
        assert!((back.position(x1, v1) - x).norm() < 1e-5);
    }
}
