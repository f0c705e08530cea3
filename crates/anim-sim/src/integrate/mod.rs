//! Time integrators in f64: eight ways to the next moment of the same particles under the same forces.
//!
//! For tools, tests and teaching: a [`System`] of masses and [`forces`](crate::force) moves a [`Motion`], and every
//! [`Integrator`] answers the same question, so that they can be exchanged and compared. Bodies that must run in a frame are
//! [`Xpbd`](crate::Xpbd)'s. Which one to take:
//!
//! | integrator | order | forces a step | use it for |
//! |---|---|---|---|
//! | [`ExplicitEuler`] | 1 | 1 | nothing: undamped, it gains energy at every step, however small |
//! | [`SemiImplicitEuler`] | 1 | 1 | games: bounded energy for Δt < 2/ω |
//! | [`VelocityVerlet`], [`StormerVerlet`] | 2 | 1 | orbits, springs without damping; bounded energy for Δt < 2/ω |
//! | [`RungeKutta4`] | 4 | 4 | smooth and short; loses energy slowly |
//! | [`DormandPrince`] | 5 | 6 | a wanted accuracy, the step follows |
//! | [`ImplicitEuler`] | 1 | Newton | stiff and damped; any step is stable, and motion dies |
//! | [`ImplicitMidpoint`] | 2 | Newton | stiff and lively; keeps the energy of linear springs exactly |
//! | [`Bdf2`] | 2 | Newton | stiff, with far less loss than implicit Euler |
//!
//! [`Damped`] adds drag that is exact for any step, [`Substeps`] divides steps.
//!
//! ```
//! use anim_sim::force::{Spring, Springs};
//! use anim_sim::integrate::{DVec3, Integrator, Motion, System, VelocityVerlet};
//!
//! // A kilogram on a spring of 1 N/m, drawn out by a metre: x = cos t.
//! let spring = Spring { vertices: [0, 1], stiffness: 1.0, ..Spring::default() };
//! let system = System::new(vec![0.0, 1.0], DVec3::zeros(), vec![Box::new(Springs::from(vec![spring]))])?;
//! let mut motion = Motion::at_rest(vec![DVec3::zeros(), DVec3::x()]);
//! let mut integrator = VelocityVerlet::default();
//! for _ in 0..1000 {
//!     integrator.step(&system, 0.01, &mut motion);
//! }
//! assert!((motion.positions[1].x - 10_f64.cos()).abs() < 3e-5);
//! assert!((system.energy(&motion) - 0.5).abs() < 2e-5);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

mod adaptive;
mod bdf2;
mod conjugate_gradients;
mod damped;
mod explicit_euler;
mod implicit_euler;
mod implicit_midpoint;
mod jacobian;
mod newton;
mod runge_kutta_4;
mod semi_implicit_euler;
mod stages;
mod substeps;
mod system;
mod verlet;

pub use adaptive::{AdaptiveOptions, DormandPrince};
pub use bdf2::Bdf2;
pub use damped::Damped;
pub use explicit_euler::ExplicitEuler;
pub use implicit_euler::ImplicitEuler;
pub use implicit_midpoint::ImplicitMidpoint;
pub use jacobian::Jacobian;
pub use newton::{LinearSolve, NewtonOptions};
pub use runge_kutta_4::RungeKutta4;
pub use semi_implicit_euler::SemiImplicitEuler;
pub use substeps::Substeps;
pub use system::System;
pub use verlet::{StormerVerlet, VelocityVerlet};

use anim_math::nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::{Outcome, State};

/// A point, velocity or force in f64.
pub type DVec3 = Vector3<f64>;

/// Where particles are at a time and how they move.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// s.
    pub time: f64,
    /// P, world space, m.
    pub positions: Vec<DVec3>,
    /// P, world space, m/s.
    pub velocities: Vec<DVec3>,
}

impl Motion {
    /// At time 0, without velocity.
    pub fn at_rest(positions: Vec<DVec3>) -> Self {
        Self {
            time: 0.0,
            velocities: vec![DVec3::zeros(); positions.len()],
            positions,
        }
    }

    /// True if nothing in it is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        let mut all = self.positions.iter().chain(&self.velocities);
        self.time.is_finite() && all.all(|v| v.iter().all(|c| c.is_finite()))
    }

    /// Becomes a copy of `other`, without allocating if the two have as many particles.
    fn copy_from(&mut self, other: &Self) {
        self.time = other.time;
        self.positions.clone_from(&other.positions);
        self.velocities.clone_from(&other.velocities);
    }
}

impl From<&State> for Motion {
    /// At time 0.
    fn from(state: &State) -> Self {
        let wide = |vectors: &[anim_math::Vec3]| vectors.iter().map(|v| v.cast()).collect();
        Self {
            time: 0.0,
            positions: wide(&state.positions),
            velocities: wide(&state.velocities),
        }
    }
}

/// Moves particles in time; owns the scratch that this takes.
pub trait Integrator: Send {
    /// Advances `motion` by `dt`, s. It may be negative, then time runs backward; if it is 0 or not finite, nothing changes.
    ///
    /// Integrators that remember their last step start anew if `motion` is not where they left it; for another system
    /// take another integrator.
    ///
    /// # Panics
    ///
    /// If `motion` does not have as many particles as `system`.
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome;
}

/// What every step checks first: false if there is nothing to do.
fn begins(system: &System, dt: f64, motion: &Motion) -> bool {
    let count = system.vertex_count();
    assert_eq!(
        (motion.positions.len(), motion.velocities.len()),
        (count, count),
        "the motion is of another system"
    );
    dt != 0.0 && dt.is_finite()
}

/// What a step of a method without iterations reports.
fn one_step() -> Outcome {
    Outcome {
        iterations: 1,
        ..Outcome::default()
    }
}
