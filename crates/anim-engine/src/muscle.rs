//! Muscles of a character: excited by whoever steers it, as long as the skeleton poses them, pulling and swelling.
//!
//! [`Character::with_muscle`] lays a muscle over the joints; every [`Actor`](crate::Actor) then has an [`ActorMuscle`]. In
//! each step of [`Stage::Simulate`](crate::Stage::Simulate) its activation follows
//! [`Actor::excitations`](crate::Actor::excitations), its length the pose, which moves through the frame, and its force both;
//! in [`Stage::Skin`](crate::Stage::Skin) its belly lifts the skin. The force moves nothing by itself: a controller that turns
//! joints by it reads it between two frames.
//!
//! ```
//! use std::sync::Arc;
//! use anim_engine::math::Vec3;
//! use anim_engine::{Character, Config, Engine, MuscleOptions, asset};
//!
//! let arm = Character::from_document(&asset::builtin::arm(), &Default::default())?;
//! let [upper, lower] = [arm.joint_named("upper_arm")?, arm.joint_named("lower_arm")?];
//! let mut biceps = MuscleOptions::between("biceps", (upper, Vec3::new(-0.01, 0.03, 0.0)), (lower, Vec3::new(-0.01, 0.03, 0.0)));
//! biceps.muscle.optimal_length = 0.14;
//! biceps.muscle.tendon_length = 0.15;
//! let mut engine = Engine::new(Config::default())?;
//! let id = engine.spawn(Arc::new(arm.with_muscle(biceps)?));
//! let actor = engine.actor_mut(id).ok_or("gone")?;
//! actor.play("bend")?;
//! actor.excitations[0] = 1.0;
//! for _ in 0..30 {
//!     engine.step(1.0 / 60.0);
//! }
//! let muscle = &engine.actor(id).ok_or("gone")?.muscles()[0];
//! assert!(muscle.activation() > 0.9 && muscle.force() > 100.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::{Affine, Vec3};
use anim_sim::muscle::{
    Attachment, Belly, BellySpec, Contraction, Muscle, MuscleSpec, Path, PathSpec, Route,
};
use anim_skeleton::{Globals, JointId};

use crate::body::between;
use crate::flesh::Flesh;
use crate::{Character, EngineError};

/// How a character is muscled.
#[derive(Clone, Debug)]
pub struct MuscleOptions {
    /// For people; need not be unique.
    pub name: String,
    /// What it pulls with.
    pub muscle: MuscleSpec,
    /// Where it runs: bones are places among `joints`, points are in their spaces.
    pub path: PathSpec,
    /// The bones of the path.
    pub joints: Vec<JointId>,
    /// Its flesh, which lifts the skin; none if left out.
    pub belly: Option<BellySpec>,
    /// How far from the surface of the belly skin is lifted, m, fading out over that distance.
    pub reach: f32,
}

impl MuscleOptions {
    /// A spindle from a point of one joint to a point of another, without a belly.
    pub fn between(name: &str, origin: (JointId, Vec3), insertion: (JointId, Vec3)) -> Self {
        let at = |bone, point| Attachment { bone, point };
        Self {
            name: name.to_owned(),
            muscle: MuscleSpec::default(),
            path: PathSpec {
                points: vec![at(0, origin.1), at(1, insertion.1)],
                wraps: Vec::new(),
            },
            joints: vec![origin.0, insertion.0],
            belly: None,
            reach: 0.03,
        }
    }
}

/// One muscle; part of the model of a character.
#[derive(Debug)]
pub struct CharacterMuscle {
    /// For people; need not be unique.
    pub name: String,
    muscle: Muscle,
    path: Path,
    joints: Vec<JointId>,
    belly: Option<Belly>,
    /// Along its path in the rest pose, m.
    rest_length: f64,
}

/// A belly is not shorter than this many optimal fibre lengths: fibres that are slack buckle.
const SHORTEST: f64 = 0.3;

impl CharacterMuscle {
    /// What it pulls with.
    pub fn muscle(&self) -> &Muscle {
        &self.muscle
    }

    /// Where it runs; bones are places among [`joints`](Self::joints).
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bones of the path.
    pub fn joints(&self) -> &[JointId] {
        &self.joints
    }

    /// Its flesh.
    pub fn belly(&self) -> Option<&Belly> {
        self.belly.as_ref()
    }

    /// Length of the path in the rest pose, m.
    pub fn rest_length(&self) -> f64 {
        self.rest_length
    }

    /// How long the belly is along a path of `length`, m.
    fn flesh_length(&self, length: f64, state: &MuscleState) -> f64 {
        let MuscleState {
            activation,
            contraction,
        } = state;
        // In no time an elastic tendon leaves the fibres as they are, and a rigid one says how long they are.
        let now = self
            .muscle
            .settle(length, contraction.fiber_length, *activation, 0.0);
        (now.fiber_length * now.cosine).max(SHORTEST * self.muscle.spec().optimal_length)
    }
}

impl Character {
    /// The surfaces that muscles lift.
    pub fn lifted_surfaces(&self) -> impl Iterator<Item = usize> {
        self.fleshes.iter().map(|flesh| flesh.surface)
    }

    /// Adds a muscle, and binds the skin to its belly in the rest pose.
    ///
    /// Costs some microseconds a vertex of the skin.
    ///
    /// # Errors
    ///
    /// [`EngineError::Scene`] for a joint of another skeleton, a bone that is not among the joints and a reach that is no
    /// number; [`EngineError::Sim`] for a muscle, path or belly that is out of range.
    pub fn with_muscle(mut self, options: MuscleOptions) -> Result<Self, EngineError> {
        let refuse = |place: &str, message: &str| EngineError::Scene {
            place: place.to_owned(),
            message: message.to_owned(),
        };
        let path = Path::new(options.path)?;
        if options
            .joints
            .iter()
            .any(|joint| joint.index() >= self.skeleton.len())
        {
            return Err(refuse("joints", "one is of another skeleton"));
        }
        if path.bone_count() > options.joints.len() {
            return Err(refuse("path", "a bone is not among the joints"));
        }
        if !(options.reach > 0.0 && options.reach.is_finite()) {
            return Err(refuse("reach", "is not positive"));
        }
        let mut muscle = CharacterMuscle {
            name: options.name,
            muscle: Muscle::new(options.muscle)?,
            path,
            joints: options.joints,
            belly: options.belly.map(Belly::new).transpose()?,
            rest_length: 0.0,
        };
        let mut globals = Globals::new(&self.skeleton);
        self.skeleton.globals(self.skeleton.rest(), &mut globals);
        let mut rest = ActorMuscle::new(&muscle);
        rest.lay(&muscle, &globals);
        muscle.rest_length = rest.route.length();
        if let Some(belly) = &muscle.belly {
            let index = self.muscles.len();
            Flesh::grow(&mut self.fleshes, &self.surfaces, &globals, index, |skin| {
                belly.bind(&rest.route, rest.flesh_length, skin, options.reach.into())
            });
        }
        self.muscles.push(muscle);
        Ok(self)
    }
}

/// What a muscle of an actor does, and all that it remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MuscleState {
    /// In [0, 1].
    pub activation: f64,
    /// Its force, its fibres, its power.
    pub contraction: Contraction,
}

/// A muscle of one actor.
#[derive(Debug)]
pub struct ActorMuscle {
    state: MuscleState,
    /// In model space, as all that follows.
    route: Route,
    flesh_length: f64,
    bones_before: Vec<Affine>,
    bones_after: Vec<Affine>,
    bones_now: Vec<Affine>,
    is_laid: bool,
}

impl ActorMuscle {
    pub(crate) fn new(muscle: &CharacterMuscle) -> Self {
        let bones = vec![Affine::IDENTITY; muscle.joints.len()];
        Self {
            state: MuscleState::default(),
            route: Route::default(),
            flesh_length: muscle.muscle.spec().optimal_length,
            bones_before: bones.clone(),
            bones_after: bones.clone(),
            bones_now: bones,
            is_laid: false,
        }
    }

    /// All that it remembers.
    pub fn state(&self) -> MuscleState {
        self.state
    }

    /// In [0, 1].
    pub fn activation(&self) -> f64 {
        self.state.activation
    }

    /// Tension of its tendon, N.
    pub fn force(&self) -> f64 {
        self.state.contraction.force
    }

    /// Length of its path, m.
    pub fn length(&self) -> f64 {
        self.route.length()
    }

    /// Where it runs, model space: gives moment arms and the pulls on its bones.
    pub fn route(&self) -> &Route {
        &self.route
    }

    /// Length of its belly along the path, m.
    pub fn flesh_length(&self) -> f64 {
        self.flesh_length
    }

    /// Writes the surface of its belly, model space, as [`Belly::surface`] does; nothing without a belly.
    pub fn belly_surface(
        &self,
        muscle: &CharacterMuscle,
        rings: usize,
        sides: usize,
        out: &mut Vec<Vec3>,
    ) {
        out.clear();
        if let Some(belly) = &muscle.belly {
            belly.surface(&self.route, self.flesh_length, rings, sides, out);
        }
    }

    /// By how much the mesh of its belly holds more than its flesh is, a fraction; 0 without a belly. Allocates the mesh.
    pub fn volume_error(&self, muscle: &CharacterMuscle) -> f64 {
        let Some(belly) = &muscle.belly else {
            return 0.0;
        };
        let [rings, sides] = [16, 16];
        let mut points = Vec::new();
        self.belly_surface(muscle, rings, sides, &mut points);
        let corner = |v: u32| (points[v as usize] - points[0]).cast::<f64>();
        let six_times = |[a, b, c]: [u32; 3]| corner(a).dot(&corner(b).cross(&corner(c)));
        let triangles = Belly::triangles(rings, sides).into_iter();
        triangles.map(six_times).sum::<f64>() / (6.0 * belly.spec().volume) - 1.0
    }

    /// Puts it into a state, such as one of an earlier run; what is no number is left as it is.
    pub fn set_state(&mut self, state: MuscleState) {
        let MuscleState {
            activation,
            contraction,
        } = state;
        let numbers = [activation, contraction.force, contraction.fiber_length];
        if numbers.iter().all(|x| x.is_finite()) {
            self.state = state;
        }
    }

    /// Goes on from where the bones are, however far that is.
    pub(crate) fn restart(&mut self) {
        self.is_laid = false;
    }

    /// Begins at the length that the pose asks for, at rest.
    fn lay(&mut self, muscle: &CharacterMuscle, globals: &Globals) {
        self.follow(muscle, globals);
        self.bones_before.copy_from_slice(&self.bones_after);
        muscle.path.follow(&self.bones_after, &mut self.route);
        let (length, activation) = (self.route.length(), self.state.activation);
        let fibers = muscle.muscle.rest_length(length, activation);
        self.state.contraction = muscle.muscle.settle(length, fibers, activation, 0.0);
        self.flesh_length = muscle.flesh_length(length, &self.state);
        self.is_laid = true;
    }

    fn follow(&mut self, muscle: &CharacterMuscle, globals: &Globals) {
        for (bone, joint) in self.bones_after.iter_mut().zip(&muscle.joints) {
            *bone = globals.get(*joint);
        }
    }

    /// Advances by `steps` of `step` seconds while the bones move from where they were to where they are.
    pub(crate) fn simulate(
        &mut self,
        muscle: &CharacterMuscle,
        globals: &Globals,
        excitation: f32,
        steps: u32,
        step: f32,
    ) {
        if !self.is_laid {
            self.lay(muscle, globals);
            return;
        }
        self.follow(muscle, globals);
        let (excitation, step) = (f64::from(excitation), f64::from(step));
        let dynamics = muscle.muscle.spec().activation;
        for index in 0..steps {
            let alpha = (index + 1) as f32 / steps as f32;
            let ways = self.bones_before.iter().zip(&self.bones_after);
            for (now, (from, to)) in self.bones_now.iter_mut().zip(ways) {
                *now = between(from, to, alpha);
            }
            muscle.path.follow(&self.bones_now, &mut self.route);
            let MuscleState {
                activation,
                contraction,
            } = &mut self.state;
            *activation = dynamics.advance(*activation, excitation, step);
            *contraction = muscle.muscle.settle(
                self.route.length(),
                contraction.fiber_length,
                *activation,
                step,
            );
        }
        if steps > 0 {
            self.bones_before.copy_from_slice(&self.bones_after);
        }
        self.swell(muscle);
    }

    /// Puts it into a kept state at the end of `steps` steps.
    pub(crate) fn recall(
        &mut self,
        muscle: &CharacterMuscle,
        globals: &Globals,
        steps: u32,
        state: MuscleState,
    ) {
        self.follow(muscle, globals);
        if !self.is_laid || steps > 0 {
            self.bones_before.copy_from_slice(&self.bones_after);
        }
        self.is_laid = true;
        self.set_state(state);
        self.swell(muscle);
    }

    /// Follows the pose that is shown.
    fn swell(&mut self, muscle: &CharacterMuscle) {
        muscle.path.follow(&self.bones_after, &mut self.route);
        self.flesh_length = muscle.flesh_length(self.route.length(), &self.state);
    }
}
