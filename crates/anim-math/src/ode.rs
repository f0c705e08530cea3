//! Time integrators: explicit and semi-implicit Euler, velocity Verlet and Runge-Kutta 4.
//!
//! Each is one step as a pure function, for any state that adds and scales ([`Linear`]). For motion under forces take
//! [`semi_implicit_euler`] (cheap, first order) or [`velocity_verlet`] (one force evaluation a step, second order): both
//! keep the energy of an undamped oscillator bounded for Δt < 2/ω. [`explicit_euler`] gains energy at *every* Δt, because
//! its amplification |1 + iωΔt| exceeds 1; it is here to be compared with. [`runge_kutta_4`] is for smooth systems that
//! need accuracy; over very long times it loses energy slowly.
//!
//! ```
//! use anim_math::ode;
//!
//! // A unit spring, a quarter of its period: from (1, 0) to (0, -1).
//! let (mut position, mut velocity, mut acceleration) = (1.0_f64, 0.0, -1.0);
//! let dt = std::f64::consts::FRAC_PI_2 / 100.0;
//! for _ in 0..100 {
//!     (position, velocity, acceleration) = ode::velocity_verlet(position, velocity, acceleration, dt, |x| -x);
//! }
//! assert!(position.abs() < 1e-4 && (velocity + 1.0).abs() < 1e-4);
//! ```

use nalgebra::SVector;

/// A state that can be added and scaled: numbers, vectors of them, and pairs of such.
pub trait Linear: Copy {
    /// `self + factor · other`.
    fn add_scaled(self, factor: f64, other: Self) -> Self;
}

impl Linear for f64 {
    fn add_scaled(self, factor: f64, other: Self) -> Self {
        self + factor * other
    }
}

impl Linear for f32 {
    fn add_scaled(self, factor: f64, other: Self) -> Self {
        self + factor as f32 * other
    }
}

impl<const N: usize> Linear for SVector<f32, N> {
    fn add_scaled(self, factor: f64, other: Self) -> Self {
        self + other * factor as f32
    }
}

impl<const N: usize> Linear for SVector<f64, N> {
    fn add_scaled(self, factor: f64, other: Self) -> Self {
        self + other * factor
    }
}

impl<A: Linear, B: Linear> Linear for (A, B) {
    fn add_scaled(self, factor: f64, other: Self) -> Self {
        (
            self.0.add_scaled(factor, other.0),
            self.1.add_scaled(factor, other.1),
        )
    }
}

/// y′ = y + Δt·f(t, y); first order, one evaluation. Times in s.
pub fn explicit_euler<Y: Linear>(
    state: Y,
    time: f64,
    dt: f64,
    derivative: impl FnOnce(f64, Y) -> Y,
) -> Y {
    state.add_scaled(dt, derivative(time, state))
}

/// v′ = v + Δt·a(x, v), x′ = x + Δt·v′; first order, symplectic if a does not depend on v. Returns (x′, v′).
pub fn semi_implicit_euler<Y: Linear>(
    position: Y,
    velocity: Y,
    dt: f64,
    acceleration: impl FnOnce(Y, Y) -> Y,
) -> (Y, Y) {
    let velocity = velocity.add_scaled(dt, acceleration(position, velocity));
    (position.add_scaled(dt, velocity), velocity)
}

/// x′ = x + Δt·v + ½Δt²·a(x), v′ = v + ½Δt·(a(x) + a(x′)); second order, symplectic, one evaluation.
///
/// `acceleration_now` is a(x), which the step before has returned. Returns (x′, v′, a(x′)). Step lengths may vary.
///
/// Source: Swope et al., J. Chem. Phys. 1982, eq. 5.
pub fn velocity_verlet<Y: Linear>(
    position: Y,
    velocity: Y,
    acceleration_now: Y,
    dt: f64,
    acceleration: impl FnOnce(Y) -> Y,
) -> (Y, Y, Y) {
    let half = velocity.add_scaled(0.5 * dt, acceleration_now);
    let position = position.add_scaled(dt, half);
    let acceleration = acceleration(position);
    (
        position,
        half.add_scaled(0.5 * dt, acceleration),
        acceleration,
    )
}

/// The classical fourth-order step: y′ = y + Δt/6·(k₁ + 2k₂ + 2k₃ + k₄); four evaluations. Times in s.
///
/// Source: Kutta, "Beitrag zur näherungsweisen Integration totaler Differentialgleichungen", 1901.
pub fn runge_kutta_4<Y: Linear>(
    state: Y,
    time: f64,
    dt: f64,
    mut derivative: impl FnMut(f64, Y) -> Y,
) -> Y {
    let middle = time + 0.5 * dt;
    let k1 = derivative(time, state);
    let k2 = derivative(middle, state.add_scaled(0.5 * dt, k1));
    let k3 = derivative(middle, state.add_scaled(0.5 * dt, k2));
    let k4 = derivative(time + dt, state.add_scaled(dt, k3));
    state
        .add_scaled(dt / 6.0, k1)
        .add_scaled(dt / 3.0, k2)
        .add_scaled(dt / 3.0, k3)
        .add_scaled(dt / 6.0, k4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec3;

    /// Position and velocity.
    type Phase = (f64, f64);
    type Step = fn(Phase, f64) -> Phase;

    fn oscillate(_: f64, (x, v): Phase) -> Phase {
        (v, -x)
    }

    fn explicit((x, v): Phase, dt: f64) -> Phase {
        explicit_euler((x, v), 0.0, dt, oscillate)
    }

    fn semi_implicit((x, v): Phase, dt: f64) -> Phase {
        semi_implicit_euler(x, v, dt, |x, _| -x)
    }

    fn verlet((x, v): Phase, dt: f64) -> Phase {
        let (x, v, _) = velocity_verlet(x, v, -x, dt, |x| -x);
        (x, v)
    }

    fn rk4((x, v): Phase, dt: f64) -> Phase {
        runge_kutta_4((x, v), 0.0, dt, oscillate)
    }

    fn run(step: Step, dt: f64, steps: usize) -> Phase {
        (0..steps).fold((1.0, 0.0), |phase, _| step(phase, dt))
    }

    fn energy((x, v): Phase) -> f64 {
        0.5 * (x * x + v * v)
    }

    /// Distance from the exact solution (cos 10, −sin 10).
    fn error_at_10(step: Step, steps: usize) -> f64 {
        let (x, v) = run(step, 10.0 / steps as f64, steps);
        ((x - 10_f64.cos()).powi(2) + (v + 10_f64.sin()).powi(2)).sqrt()
    }

    #[test]
    fn halving_the_step_divides_the_error_by_two_to_the_order() {
        let cases: [(Step, f64); 4] = [
            (explicit, 1.0),
            (semi_implicit, 1.0),
            (verlet, 2.0),
            (rk4, 4.0),
        ];
        for (step, order) in cases {
            let measured = (error_at_10(step, 1000) / error_at_10(step, 2000)).log2();
            assert!((measured - order).abs() < 0.1, "{measured} for {order}");
        }
    }

    #[test]
    fn the_energy_of_a_hundred_seconds_is_as_known() {
        // Closed form for explicit Euler: E·(1 + Δt²)^n.
        assert!((energy(run(explicit, 0.1, 1000)) - 0.5 * 1.01_f64.powi(1000)).abs() < 1e-6);
        assert!((energy(run(semi_implicit, 0.1, 1000)) - 0.5213).abs() < 1e-4);
        assert!((energy(run(verlet, 0.1, 1000)) - 0.4997).abs() < 1e-4);
        assert!((energy(run(rk4, 0.1, 1000)) - 0.499_993).abs() < 1e-6);
    }

    #[test]
    fn symplectic_steps_are_stable_up_to_two_over_omega() {
        for step in [semi_implicit, verlet] {
            let within: f64 = (1..=1000)
                .map(|n| run(step, 1.99, n).0.abs())
                .fold(0.0, f64::max);
            assert!(within < 20.0, "{within}");
            assert!(energy(run(step, 2.01, 1000)) > 1e60);
        }
    }

    #[test]
    fn explicit_euler_gains_energy_at_any_step() {
        let ratio = energy(run(explicit, 0.01, 1000)) / 0.5;
        assert!((ratio - 1.0001_f64.powi(1000)).abs() < 1e-9);
    }

    #[test]
    fn verlet_keeps_the_period_it_should() {
        // x = cos(nθ) with sin(θ/2) = ωΔt/2, so the period shrinks by (ωΔt/2) / asin(ωΔt/2).
        let theta = 2.0 * 0.25_f64.asin();
        let (x, _) = run(verlet, 0.5, 100);
        assert!((x - (100.0 * theta).cos()).abs() < 1e-11);
    }

    #[test]
    fn a_fall_is_exact_in_verlet() {
        let gravity = Vec3::new(0.0, -9.75, 0.0);
        let (mut x, mut v) = (Vec3::zeros(), Vec3::new(1.0, 2.0, 0.0));
        for _ in 0..8 {
            (x, v, _) = velocity_verlet(x, v, gravity, 0.25, |_| gravity);
        }
        // Two seconds: x = v·t + ½·g·t².
        assert!((x - Vec3::new(2.0, 4.0 - 19.5, 0.0)).norm() < 1e-5);
        assert!((v - Vec3::new(1.0, 2.0 - 19.5, 0.0)).norm() < 1e-5);
    }

    #[test]
    fn polynomials_up_to_degree_four_are_exact_in_runge_kutta() {
        // y′ = 4t³ depends on time alone: the step is Simpson's rule, exact to cubics.
        let y = runge_kutta_4(0.0_f64, 1.0, 2.0, |t, _| 4.0 * t * t * t);
        assert!((y - 80.0).abs() < 1e-12);
        let y = explicit_euler(1.0_f32, 0.0, 0.5, |_, _| 2.0);
        assert_eq!(y, 2.0);
    }
}
