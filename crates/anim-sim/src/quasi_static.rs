//! Equilibria: where a body comes to rest under its pins, its weight and its muscles, without the way there.
//!
//! [`solve`] finds one from where the state is; [`sweep`] finds one after the other for a sequence of pins, each from the
//! last, as a body that follows a slow character: what learned skin is trained on. It minimises the same energy as
//! [`Implicit`](crate::Implicit) and honours the same elements; colliders, air and damping have no part in it, nor has
//! plastic flow.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::{Drive, Link, Model, ModelSpec, State, quasi_static};
//!
//! let spring = Model::new(ModelSpec {
//!     positions: vec![Vec3::zeros(), Vec3::y() * -1.0],
//!     inverse_masses: vec![0.0, 1.0],
//!     links: vec![Link { vertices: [0, 1], rest_length: 1.0, compliance: 0.01 }],
//!     ..ModelSpec::default()
//! })?;
//! let mut state = State::new(&spring);
//! let outcome = quasi_static::solve(&spring, &Drive::default(), &mut state, &Default::default());
//! assert!(outcome.residual < 1e-6);
//! assert!((state.positions[1].y + 1.0981).abs() < 1e-6);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use anim_math::Vec3;

use crate::drive::{Drive, Outcome};
use crate::fem::Vec3d;
use crate::implicit::system::System;
use crate::model::{Model, State};
use crate::xpbd::{finite_or_zero, usable_pins};

/// How well and how long to look for an equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuasiStaticOptions {
    /// It is found when no particle would move further than this, m.
    pub tolerance: f32,
    /// Steps of Newton's method.
    pub max_iterations: u32,
    /// See [`ImplicitOptions::direct_limit`](crate::ImplicitOptions::direct_limit).
    pub direct_limit: u32,
}

impl Default for QuasiStaticOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            max_iterations: 200,
            direct_limit: 30_000,
        }
    }
}

/// What a body came to under one pose of its pins.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// P, m.
    pub positions: Vec<Vec3>,
    /// It was found if the residual is at most the tolerance.
    pub outcome: Outcome,
}

/// Ways in parts that are tried for a pose that is too far to reach at once.
const PARTS: [u32; 3] = [1, 4, 16];

/// Moves a state to an equilibrium near it, at rest; `residual` is how far it would still have gone, m.
///
/// A body that nothing holds falls as far as its steps take it.
///
/// # Panics
///
/// If the state was made for a model of another number of particles.
pub fn solve(
    model: &Model,
    drive: &Drive<'_>,
    state: &mut State,
    options: &QuasiStaticOptions,
) -> Outcome {
    assert_eq!(
        (state.positions.len(), state.velocities.len()),
        (model.vertex_count(), model.vertex_count()),
        "the state was made for another model"
    );
    let mut statics = Statics::new(model, options);
    for (x, position) in statics.positions.iter_mut().zip(&state.positions) {
        if position.iter().all(|c| c.is_finite()) {
            *x = position.cast();
        }
    }
    let outcome = statics.solve(model, drive, options);
    state.positions = statics.result();
    state.velocities.fill(Vec3::zeros());
    outcome
}

/// An equilibrium for each pose of the pins, each found from the one before, the first from rest.
///
/// * `drive`: what else acts; its own pins are not used.
///
/// A pose that cannot be reached at once is approached in parts; the residual of one that is not reached at all says so,
/// and the next begins from what there is.
pub fn sweep<Pins: AsRef<[(u32, Vec3)]>>(
    model: &Model,
    poses: impl IntoIterator<Item = Pins>,
    drive: &Drive<'_>,
    options: &QuasiStaticOptions,
) -> Vec<Equilibrium> {
    let mut statics = Statics::new(model, options);
    poses
        .into_iter()
        .map(|pins| statics.reach(model, pins.as_ref(), drive, options))
        .collect()
}

/// A body between equilibria.
struct Statics {
    system: System,
    starts: Vec<Vec3d>,
    positions: Vec<Vec3d>,
}

impl Statics {
    fn new(model: &Model, options: &QuasiStaticOptions) -> Self {
        let rest: Vec<Vec3d> = model.rest().iter().map(|x| x.cast()).collect();
        let mut system = System::new(model, options.direct_limit);
        system.targets.copy_from_slice(&rest);
        Self {
            system,
            starts: rest.clone(),
            positions: rest,
        }
    }

    fn solve(&mut self, model: &Model, drive: &Drive<'_>, options: &QuasiStaticOptions) -> Outcome {
        let system = &mut self.system;
        system.activate(drive.activations);
        let gravity = finite_or_zero(drive.gravity).cast::<f64>();
        for (place, inverse_mass) in model.spec().inverse_masses.iter().enumerate() {
            system.fixed[place] = *inverse_mass == 0.0;
            system.forces[place] = if *inverse_mass == 0.0 {
                Vec3d::zeros()
            } else {
                gravity / f64::from(*inverse_mass)
            };
        }
        for (vertex, force) in drive.loads {
            if let Some(sum) = system.forces.get_mut(*vertex as usize) {
                *sum += finite_or_zero(*force).cast();
            }
        }
        self.starts.copy_from_slice(&self.positions);
        for (vertex, goal) in usable_pins(drive, model) {
            system.fixed[vertex as usize] = true;
            self.positions[vertex as usize] = goal.cast();
        }
        let tolerance = f64::from(options.tolerance);
        system.minimize(
            &self.starts,
            &mut self.positions,
            tolerance,
            options.max_iterations,
        )
    }

    /// Follows the pins to a pose.
    fn reach(
        &mut self,
        model: &Model,
        pins: &[(u32, Vec3)],
        drive: &Drive<'_>,
        options: &QuasiStaticOptions,
    ) -> Equilibrium {
        let before = self.positions.clone();
        let mut outcome = Outcome::default();
        for parts in PARTS {
            self.positions.copy_from_slice(&before);
            let mut iterations = 0;
            for part in 1..=parts {
                let alpha = part as f32 / parts as f32;
                let on_the_way: Vec<(u32, Vec3)> = pins
                    .iter()
                    .filter(|(vertex, _)| (*vertex as usize) < before.len())
                    .map(|(vertex, goal)| {
                        let from = before[*vertex as usize].cast::<f32>();
                        let way = if part == parts {
                            *goal
                        } else {
                            from + (goal - from) * alpha
                        };
                        (*vertex, way)
                    })
                    .collect();
                let drive = Drive {
                    pins: &on_the_way,
                    ..*drive
                };
                outcome = self.solve(model, &drive, options);
                iterations += outcome.iterations;
            }
            outcome.iterations = iterations;
            if outcome.residual <= options.tolerance {
                break;
            }
        }
        Equilibrium {
            positions: self.result(),
            outcome,
        }
    }

    fn result(&self) -> Vec<Vec3> {
        self.positions.iter().map(|x| x.cast()).collect()
    }
}
