//! Simulated bodies that stand by themselves in the world: flags, curtains, ropes, soft toys.
//!
//! A [`Body`] is a model of anim-sim with a solver of its own. Holders move some of its particles: frames that you place each
//! frame, or joints of actors, and muscles of actors make its fibres pull. It meets the colliders of the [`World`](crate::World), and a body of one model meets itself if the model says so.
//!
//! ```
//! use std::sync::Arc;
//! use anim_engine::body::{BodyOptions, HeldBy, Holder};
//! use anim_engine::math::{Affine, Vec3};
//! use anim_engine::sim::{Link, Model, ModelSpec, Xpbd};
//! use anim_engine::{Config, Engine};
//!
//! let rope = Arc::new(Model::new(ModelSpec {
//!     positions: vec![Vec3::zeros(), Vec3::x()],
//!     inverse_masses: vec![1.0, 1.0],
//!     links: vec![Link { vertices: [0, 1], rest_length: 1.0, compliance: 0.0 }],
//!     ..ModelSpec::default()
//! })?);
//! let mut engine = Engine::new(Config::default())?;
//! let body = engine.spawn_body(BodyOptions {
//!     name: "rope".to_owned(),
//!     solver: Box::new(Xpbd::new(&rope, 10)),
//!     model: rope,
//!     holders: vec![Holder { by: HeldBy::Frame(Affine::IDENTITY), vertices: vec![0] }],
//!     muscles: Vec::new(),
//! });
//! engine.step(0.1);
//! let positions = engine.body(body).ok_or("gone")?.positions();
//! assert_eq!(positions[0], Vec3::zeros(), "it is held");
//! assert!(positions[1].y < -0.01, "it falls");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use anim_geom::Collider;
use anim_math::{Affine, Transform, Vec3, quat};
use anim_sim::{Drive, Model, Outcome, Solver, State};
use anim_skeleton::JointId;

use crate::ActorId;
use crate::engine::Slots;
use crate::world::Passing;

/// What a body is made of.
#[derive(Debug)]
pub struct BodyOptions {
    /// For people; need not be unique.
    pub name: String,
    /// What it is; it starts at its rest positions, world space.
    pub model: Arc<Model>,
    /// What moves it; made for this model.
    pub solver: Box<dyn Solver>,
    /// What holds it.
    pub holders: Vec<Holder>,
    /// Whose activation each muscle of the model has; see [`Drive::activations`].
    pub muscles: Vec<BodyMuscle>,
}

/// A muscle of an actor that is active in a body, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyMuscle {
    /// Whose.
    pub actor: ActorId,
    /// Place in [`Character::muscles`](crate::Character::muscles). While it is not there, the activation stays as it is.
    pub muscle: usize,
}

/// Moves some particles of a body rigidly.
#[derive(Clone, Debug, PartialEq)]
pub struct Holder {
    /// What they are fixed to.
    pub by: HeldBy,
    /// Which particles; those that do not exist are ignored.
    pub vertices: Vec<u32>,
}

/// What particles are fixed to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HeldBy {
    /// A frame in the world; place it with [`Body::place_holder`].
    Frame(Affine),
    /// A joint of an actor; while the actor is not there, they stay where they are.
    Joint(ActorId, JointId),
}

/// A body that moves.
#[derive(Debug)]
pub struct Body {
    name: String,
    model: Arc<Model>,
    solver: Box<dyn Solver>,
    state: State,
    last_finite: State,
    holders: Vec<Held>,
    muscles: Vec<Pulling>,
    /// Of each muscle, at the end of a step.
    activations: Vec<f32>,
    /// Where each held particle is to be.
    pins: Vec<(u32, Vec3)>,
    colliders_from: Vec<Collider>,
    colliders_to: Vec<Collider>,
    outcome: Outcome,
    quarantined: bool,
}

/// A holder on its way through a frame.
#[derive(Debug)]
struct Held {
    holder: Holder,
    /// Where its particles are in its frame; empty until it is first seen.
    local: Vec<Vec3>,
    from: Affine,
    to: Affine,
}

/// A muscle on its way through a frame.
#[derive(Debug)]
struct Pulling {
    muscle: BodyMuscle,
    from: f32,
    to: f32,
}

impl Body {
    pub(crate) fn new(options: BodyOptions) -> Self {
        let count = options.model.vertex_count();
        let holders: Vec<Held> = options
            .holders
            .into_iter()
            .map(|mut holder| {
                holder.vertices.retain(|vertex| (*vertex as usize) < count);
                Held {
                    local: Vec::with_capacity(holder.vertices.len()),
                    holder,
                    from: Affine::IDENTITY,
                    to: Affine::IDENTITY,
                }
            })
            .collect();
        let held = holders.iter().map(|held| held.holder.vertices.len()).sum();
        let state = State::new(&options.model);
        Self {
            name: options.name,
            solver: options.solver,
            last_finite: state.clone(),
            state,
            model: options.model,
            holders,
            activations: Vec::with_capacity(options.muscles.len()),
            muscles: (options.muscles.into_iter())
                .map(|muscle| Pulling {
                    muscle,
                    from: 0.0,
                    to: 0.0,
                })
                .collect(),
            pins: Vec::with_capacity(held),
            colliders_from: Vec::new(),
            colliders_to: Vec::new(),
            outcome: Outcome::default(),
            quarantined: false,
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Where it is and how it moves.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where its particles are, world space, m.
    pub fn positions(&self) -> &[Vec3] {
        &self.state.positions
    }

    /// What the solver said in the last frame: the worst residual, and the sums of the counts.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// True if it produced NaN or infinity; it was put back to its last finite state and stopped.
    pub fn is_quarantined(&self) -> bool {
        self.quarantined
    }

    /// Puts it into a state, such as one of an earlier run, and lets it move again.
    ///
    /// # Panics
    ///
    /// If the state is of another number of particles.
    pub fn set_state(&mut self, state: &State) {
        copy(state, &mut self.state);
        self.quarantined = false;
    }

    /// Moves the frame of a holder to where it is at the end of the next step; joints follow their actor.
    pub fn place_holder(&mut self, holder: usize, world_from_holder: Affine) {
        if let Some(held) = self.holders.get_mut(holder)
            && let HeldBy::Frame(frame) = &mut held.holder.by
        {
            *frame = world_from_holder;
        }
    }

    /// Finds where the holders are now, and how active the muscles.
    pub(crate) fn follow(&mut self, actors: &Slots) {
        for Pulling { muscle, to, .. } in &mut self.muscles {
            let actor = actors.get(muscle.actor.0 as usize);
            let actor = actor.and_then(Option::as_deref);
            if let Some(muscle) = actor.and_then(|actor| actor.muscles().get(muscle.muscle)) {
                *to = muscle.activation() as f32;
            }
        }
        for held in &mut self.holders {
            let place = match held.holder.by {
                HeldBy::Frame(frame) => Some(frame),
                HeldBy::Joint(actor, joint) => {
                    let actor = actors.get(actor.0 as usize).and_then(Option::as_deref);
                    actor.map(|actor| actor.world_from_joint(joint))
                }
            };
            let Some(place) = place.filter(Affine::is_finite) else {
                continue;
            };
            if held.local.is_empty()
                && let Some(holder_from_world) = place.inverse()
            {
                held.from = place;
                held.local.extend(held.holder.vertices.iter().map(|vertex| {
                    holder_from_world.transform_point(self.state.positions[*vertex as usize])
                }));
            }
            held.to = place;
        }
    }

    /// Puts it into a kept state at the end of `steps` steps.
    pub(crate) fn recall(&mut self, steps: u32, state: &State) {
        self.set_state(state);
        self.outcome = Outcome::default();
        if steps > 0 {
            self.arrive();
        }
    }

    /// Advances by `steps` of `step` seconds while holders, muscles and colliders go from where they were to where they are.
    pub(crate) fn simulate(&mut self, passing: &Passing<'_>, steps: u32, step: f32) {
        self.outcome = Outcome::default();
        if self.quarantined || steps == 0 {
            return;
        }
        copy(&self.state, &mut self.last_finite);
        self.colliders_to.clear();
        passing.append_colliders(0.0, &mut self.colliders_to);
        for index in 0..steps {
            let alpha = (index + 1) as f32 / steps as f32;
            self.pins.clear();
            for held in &self.holders {
                let place = between(&held.from, &held.to, alpha);
                let goals = held.holder.vertices.iter().zip(&held.local);
                self.pins
                    .extend(goals.map(|(vertex, local)| (*vertex, place.transform_point(*local))));
            }
            self.activations.clear();
            let ways = self.muscles.iter();
            self.activations
                .extend(ways.map(|pull| pull.from + (pull.to - pull.from) * alpha));
            std::mem::swap(&mut self.colliders_from, &mut self.colliders_to);
            self.colliders_to.clear();
            passing.append_colliders(alpha, &mut self.colliders_to);
            let drive = Drive {
                gravity: passing.world.gravity,
                wind: passing.world.wind,
                pins: &self.pins,
                activations: &self.activations,
                colliders: &self.colliders_to,
                previous_colliders: &self.colliders_from,
                ..Drive::default()
            };
            let outcome = self.solver.step(&self.model, &drive, step, &mut self.state);
            self.outcome.residual = self.outcome.residual.max(outcome.residual);
            self.outcome.iterations += outcome.iterations;
            self.outcome.slowed += outcome.slowed;
            self.outcome.pinched += outcome.pinched;
        }
        self.arrive();
        if !self.state.is_finite() {
            copy(&self.last_finite, &mut self.state);
            self.quarantined = true;
        }
    }

    /// Goes on from where holders and muscles are.
    fn arrive(&mut self) {
        self.holders.iter_mut().for_each(|held| held.from = held.to);
        self.muscles.iter_mut().for_each(|pull| pull.from = pull.to);
    }
}

/// A frame on its way: straight, turning and growing evenly. The end is exact.
pub(crate) fn between(from: &Affine, to: &Affine, alpha: f32) -> Affine {
    if alpha >= 1.0 || from == to {
        return *to;
    }
    Affine::from(mix(&from.to_transform(), &to.to_transform(), alpha))
}

/// As [`between`], of transforms.
pub(crate) fn mix(from: &Transform, to: &Transform, alpha: f32) -> Transform {
    if alpha >= 1.0 {
        return *to;
    }
    Transform {
        translation: from.translation + (to.translation - from.translation) * alpha,
        rotation: quat::slerp(from.rotation, to.rotation, alpha),
        scale: from.scale + (to.scale - from.scale) * alpha,
    }
}

/// Copies the state of a body without allocating.
pub(crate) fn copy(from: &State, to: &mut State) {
    to.positions.copy_from_slice(&from.positions);
    to.velocities.copy_from_slice(&from.velocities);
}
