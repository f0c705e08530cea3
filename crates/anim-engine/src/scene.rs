//! Scene files: characters, what they play and aim at, their cloth, hair and muscles, the ground and the dust, as JSON.
//!
//! A [`SceneSpec`] is the file; [`Scene`] is it made ready, with an [`Engine`] inside. Metres, seconds, degrees in fields
//! that end in `_deg`. Everything but `characters` has a default.
//!
//! ```
//! use anim_engine::{Config, Scene, SceneSpec, asset};
//!
//! let spec = SceneSpec {
//!     characters: vec![anim_engine::scene::CharacterSpec {
//!         file: "humanoid".to_owned(),
//!         ..Default::default()
//!     }],
//!     ..SceneSpec::default()
//! };
//! let mut scene = Scene::new(&spec, Config::default(), &mut |_| Ok(asset::builtin::humanoid()))?;
//! scene.step(1.0 / 30.0);
//! # Ok::<(), anim_engine::EngineError>(())
//! ```

mod bodies;
mod build;
mod check;
mod direct;
mod fibers;
mod groom;
mod ground;
mod grown;
mod gusts;
mod motion;
mod slack;
mod spec;

use anim_curves::Track;
use anim_graph::ParameterId;
use anim_math::Vec3;

use self::bodies::HeldMotion;
use self::grown::{HairSize, Nerve};
use self::motion::Motion;
use crate::{ActorId, BodyId, Engine};

pub use bodies::{
    BodyKind, BodySpec, HoldSpec, JointPlace, MeshSource, Method, PlacedMesh, SolidShape,
    SolverSpec,
};
pub use fibers::{FiberUse, MusclePlace};
pub use groom::{GroomSpec, ScalpSpec};
pub use ground::GroundSpec;
pub use grown::{ExcitationSpec, HairUse, MusclePoint, MuscleUse, MuscleWrap};
pub use gusts::GustSpec;
pub use motion::{MotionSpec, ObstacleShape, ObstacleSpec};
pub use spec::{
    AttachmentSpec, CameraSpec, CapsuleSpec, CharacterSpec, ClipUse, ClothUse, FeetSpec, FootSpec,
    GoalSpec, ParticlesSpec, PinSpec, SceneSpec, SocketSpec, TargetSpec,
};

/// A scene that plays.
#[derive(Debug)]
pub struct Scene {
    /// Everything in it.
    pub engine: Engine,
    /// The characters, in the order of the file.
    pub actors: Vec<ActorId>,
    /// The simulated bodies, in the order of the file.
    pub bodies: Vec<BodyId>,
    /// Places of the obstacles among the colliders of the world, in the order of the file.
    pub obstacles: Vec<usize>,
    /// The mesh of the ground, for pictures; a plane has none.
    pub ground: Option<anim_geom::Mesh>,
    targets: Vec<Target>,
    aims: Vec<Aim>,
    controls: Vec<Control>,
    nerves: Vec<Nerve>,
    hair_sizes: Vec<HairSize>,
    wind: Vec3,
    gusts: Option<GustSpec>,
    obstacle_motions: Vec<Motion>,
    held_motions: Vec<HeldMotion>,
    time: f64,
}

/// A parameter of an actor's graph over time.
#[derive(Clone, Debug)]
struct Control {
    actor: ActorId,
    parameter: ParameterId,
    kind: Kind,
    track: Track<f32>,
    /// Whether a trigger's curve was up.
    was_up: bool,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Float,
    Bool,
    Trigger,
}

impl Control {
    /// Sets the parameter to what it is at `time`, s.
    fn apply(&mut self, engine: &mut Engine, time: f64) {
        let actor = engine.actor_mut(self.actor);
        let Some(parameters) = actor.and_then(|actor| actor.parameters_mut()) else {
            return;
        };
        let value = self.track.sample(time as f32);
        let is_up = value > 0.5;
        let set = match self.kind {
            Kind::Float => parameters.set(self.parameter, value),
            Kind::Bool => parameters.set(self.parameter, is_up),
            Kind::Trigger if is_up && !self.was_up => parameters.fire(self.parameter),
            Kind::Trigger => Ok(()),
        };
        self.was_up = is_up;
        debug_assert!(set.is_ok(), "checked when the scene was made");
    }
}

/// A point that moves.
#[derive(Clone, Debug)]
struct Target {
    track: Track<Vec3>,
    /// The actor whose travel carries it along.
    follow: Option<ActorId>,
}

/// Which goal of which actor follows which target.
#[derive(Clone, Copy, Debug)]
struct Aim {
    actor: ActorId,
    goal: usize,
    target: usize,
}

impl Scene {
    /// One frame of `dt` seconds.
    pub fn step(&mut self, dt: f32) {
        self.direct(dt);
        self.engine.step(dt);
    }

    /// One frame of a run whose simulated states were kept; see [`Engine::step_to`].
    ///
    /// # Panics
    ///
    /// If the states are not those of this scene.
    pub fn step_to(&mut self, dt: f32, states: &[crate::Kept]) {
        self.direct(dt);
        self.engine.step_to(dt, states);
    }

    /// Moves on in time and sets what the file moves.
    fn direct(&mut self, dt: f32) {
        if dt.is_finite() {
            self.time += f64::from(dt);
        }
        for control in &mut self.controls {
            control.apply(&mut self.engine, self.time);
        }
        for nerve in &self.nerves {
            nerve.apply(&mut self.engine, self.time);
        }
        for size in &self.hair_sizes {
            size.apply(&mut self.engine, self.time);
        }
        for aim in &self.aims {
            let position = self.targets[aim.target].position(&self.engine, self.time);
            if let Some(goal) = self
                .engine
                .actor_mut(aim.actor)
                .and_then(|actor| actor.goals.get_mut(aim.goal))
            {
                goal.set_target(position);
            }
        }
        if let Some(gusts) = &self.gusts {
            self.engine.world.wind = self.wind + gusts.at(self.time);
        }
        for (index, motion) in self.obstacles.iter().zip(&self.obstacle_motions) {
            if let Some(collider) = self.engine.world.colliders.get_mut(*index) {
                collider.world_from_shape = motion.at(self.time);
            }
        }
        for held in &self.held_motions {
            held.apply(&mut self.engine, self.time);
        }
    }

    /// Seconds since the start.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Where the targets are now, world space, by name order of the file.
    pub fn targets(&self) -> impl Iterator<Item = Vec3> {
        self.targets
            .iter()
            .map(|target| target.position(&self.engine, self.time))
    }
}

impl Target {
    fn position(&self, engine: &Engine, time: f64) -> Vec3 {
        let carried = self.follow.and_then(|id| engine.actor(id));
        let origin = carried.map_or(Vec3::zeros(), |actor| actor.world_from_model().translation);
        origin + self.track.sample(time as f32)
    }
}
