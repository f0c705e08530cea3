//! Drivers: joints that follow from other joints, after animation and IK have had their say.
//!
//! Twist and corrective joints keep a skin's volume, constraints tie props and eyes to what they belong to, breath, sway,
//! jiggle and spring bones bring life to a still pose. [`Drivers::new`] sorts a set by what each reads and writes and refuses a
//! cycle, so one pass in that order is exact and the order of the list does not matter, but for drivers that write the
//! same channel of the same joint: those run as given, each on what the one before left.
//!
//! Constraints replace what a joint was posed as; correctives, breath, sway, jiggle and spring bones are added to it, so the pose must
//! be sampled anew each frame.
//!
//! ```
//! use anim_math::{Transform, Vec3, quat};
//! use anim_skeleton::driver::{DriverSpec, DriverState, Drivers, Share, Twist};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let bone = |name: &str, parent| JointSpec {
//!     name: Some(name.into()),
//!     parent,
//!     rest: Transform::from_translation(Vec3::x()),
//! };
//! let skeleton = Skeleton::new(vec![bone("forearm", None), bone("roll", Some(0)), bone("hand", Some(0))])?;
//! let twist = Twist {
//!     source: "hand".into(),
//!     axis: Vec3::x(),
//!     helpers: vec![Share { joint: "roll".into(), fraction: 0.5 }],
//! };
//! let drivers = Drivers::new(&skeleton, vec![DriverSpec::new("forearm twist", twist)])?;
//! let mut state = DriverState::new(&drivers);
//!
//! let (mut pose, mut globals) = (skeleton.rest().clone(), Globals::new(&skeleton));
//! pose.set_rotation(skeleton.joint(2), quat::from_axis_angle(Vec3::x(), 1.0));
//! skeleton.globals(&pose, &mut globals);
//! drivers.evaluate(&skeleton, 1.0 / 60.0, &mut state, &mut pose, &mut globals);
//! let roll = quat::log(pose.rotation(skeleton.joint(1)));
//! assert!((roll - Vec3::new(0.5, 0.0, 0.0)).norm() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod aim;
pub mod breathe;
pub mod corrective;
mod error;
pub mod jiggle;
pub mod measure;
mod order;
pub mod orient;
pub mod parent;
pub mod point;
pub mod pole;
pub mod roll;
pub mod scale;
mod scene;
pub mod spec;
pub mod spring_bone;
pub mod spring_collider;
mod spring_motion;
pub mod sway;
pub mod twist;

use anim_math::Affine;

pub use aim::{Aim, Toward, Up};
pub use breathe::{Breath, Breathe};
pub use corrective::{Corrective, Effect};
pub use error::DriverError;
pub use jiggle::Jiggle;
pub use measure::Measure;
pub use orient::{Orient, Space};
pub use parent::Parent;
pub use point::Point;
pub use pole::Pole;
pub use roll::Roll;
pub use scale::Scale;
pub use spec::{DriverKind, DriverSpec, JointRef, Source};
pub use spring_bone::{SpringBone, SpringJoint, SpringTip};
pub use spring_collider::{SpringCollider, SpringShape};
pub use sway::Sway;
pub use twist::{Share, Twist};

use jiggle::Spring;
use order::Touched;
use scene::{Rest, Scene};
use spec::Binder;
use spring_bone::Chain;

use crate::{Globals, JointId, Pose, Skeleton};

/// A validated set of drivers, bound to one skeleton and sorted.
#[derive(Clone, Debug)]
pub struct Drivers {
    /// As given.
    names: Vec<String>,
    weights: Vec<f32>,
    outputs: Vec<String>,
    /// As they run.
    order: Vec<Bound>,
    rest: Rest,
}

#[derive(Clone, Debug)]
struct Bound {
    /// Its place in the list it came from.
    given: usize,
    /// Its place among the outputs.
    output: Option<usize>,
    kind: DriverKind<JointId>,
}

impl Drivers {
    /// Binds drivers to the joints of `skeleton` and sorts them; no driver at all is fine.
    ///
    /// # Errors
    ///
    /// [`DriverError::SameName`], [`DriverError::NoJoint`], [`DriverError::Empty`], [`DriverError::Axis`],
    /// [`DriverError::OutOfRange`] and [`DriverError::NotBelow`] with the driver's name, [`DriverError::Cycle`] with the names of those that need each
    /// other.
    pub fn new(skeleton: &Skeleton, specs: Vec<DriverSpec>) -> Result<Self, DriverError> {
        let names: Vec<_> = specs.iter().map(|spec| spec.name.clone()).collect();
        let mut sorted: Vec<_> = names.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let driver = pair[0].clone();
            return Err(DriverError::SameName { driver });
        }
        let weights = specs.iter().map(|spec| spec.weight).collect();
        let mut outputs = Vec::new();
        let mut bound = Vec::with_capacity(specs.len());
        for (given, spec) in specs.into_iter().enumerate() {
            let binder = Binder {
                skeleton,
                driver: &spec.name,
            };
            binder.require((0.0..=1.0).contains(&spec.weight), "weight")?;
            let kind = spec.kind.bind(&binder)?;
            let is_output = matches!(&kind, DriverKind::Corrective(c) if c.effect == Effect::Output)
                || matches!(&kind, DriverKind::Breathe(breathe) if breathe.output);
            let output = is_output.then_some(outputs.len());
            outputs.extend(is_output.then_some(spec.name));
            bound.push(Bound {
                given,
                output,
                kind,
            });
        }
        let touched = |bound: &Bound| {
            let mut touched = Touched::new(skeleton);
            bound.kind.touch(&mut touched);
            touched
        };
        let touched: Vec<_> = bound.iter().map(touched).collect();
        let name = |given: &usize| names[*given].clone();
        let order = order::sort(skeleton, &touched).map_err(|cycle| DriverError::Cycle {
            drivers: cycle.iter().map(name).collect(),
        })?;
        Ok(Self {
            order: order.iter().map(|given| bound[*given].clone()).collect(),
            rest: Rest::new(skeleton),
            names,
            weights,
            outputs,
        })
    }

    /// Number of drivers, D.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True without drivers.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names of the D drivers, in the order they were given, which is that of [`DriverState::weights`].
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of the D drivers, in the order they run.
    pub fn order(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(|b| self.names[b.given].as_str())
    }

    /// The names of the drivers with an output, in the order they were given.
    pub fn output_names(&self) -> &[String] {
        &self.outputs
    }

    /// The outputs of the last evaluation, as [`output_names`](Self::output_names): morph weights, for instance.
    pub fn outputs<'a>(&self, state: &'a DriverState) -> &'a [f32] {
        &state.outputs
    }

    /// What their chains start with, in the order they were given.
    fn chains(&self) -> Vec<Chain> {
        let mut chains = vec![Chain::default(); self.len()];
        for bound in &self.order {
            if let DriverKind::SpringBone(spring) = &bound.kind {
                chains[bound.given] = spring.chain();
            }
        }
        chains
    }

    /// Runs all drivers once: what they move is changed in `pose`, and everything below it in `globals`.
    ///
    /// * `dt`: seconds since the last evaluation; negative or not finite counts as 0. * `globals`: those of `pose`.
    ///
    /// A driver of weight 0 changes no bit. What is finite stays finite: a part that would not be, and a joint whose
    /// parent is flat, is left as posed. O(D and the joints below those driven); allocates nothing.
    ///
    /// # Panics
    ///
    /// If skeleton, state, pose or globals have other sizes than those the drivers were made for.
    pub fn evaluate(
        &self,
        skeleton: &Skeleton,
        dt: f32,
        state: &mut DriverState,
        pose: &mut Pose,
        globals: &mut Globals,
    ) {
        assert_eq!(state.weights.len(), self.len(), "state of other drivers");
        let dt = if dt.is_finite() { dt.max(0.0) } else { 0.0 };
        state.time += f64::from(dt);
        state.breath.advance(dt);
        for bound in &self.order {
            let weight = state.weights[bound.given];
            let mut output = 0.0;
            if weight > 0.0 {
                bound.kind.evaluate(&mut Scene {
                    skeleton,
                    rest: &self.rest,
                    pose,
                    globals,
                    weight: weight.min(1.0),
                    dt,
                    time: state.time,
                    breath: state.breath,
                    world_from_model: state.world_from_model,
                    spring: &mut state.springs[bound.given],
                    chain: &mut state.chains[bound.given],
                    output: &mut output,
                });
            } else {
                state.springs[bound.given] = None;
                state.chains[bound.given].settle();
            }
            if let Some(place) = bound.output {
                state.outputs[place] = output;
            }
        }
    }
}

/// What a set of drivers keeps from frame to frame, one for each character.
#[derive(Clone, Debug, PartialEq)]
pub struct DriverState {
    /// D weights in the order the drivers were given, for fading them in and out; what is not above 0 is off, what is
    /// above 1 counts as 1. Jiggles and spring bones that were off start anew.
    pub weights: Vec<f32>,
    /// The clock of sway, s.
    pub time: f64,
    /// The clock of breath, how fast that runs, and how deep breaths are.
    pub breath: Breath,
    /// Where the character stands, for jiggles and spring bones to feel its motion; the identity if it does not move.
    pub world_from_model: Affine,
    springs: Vec<Option<Spring>>,
    chains: Vec<Chain>,
    outputs: Vec<f32>,
}

impl DriverState {
    /// At time 0, with the weights of the specifications, jiggles and spring bones at rest.
    pub fn new(drivers: &Drivers) -> Self {
        Self {
            weights: drivers.weights.clone(),
            time: 0.0,
            breath: Breath::default(),
            world_from_model: Affine::IDENTITY,
            springs: vec![None; drivers.len()],
            chains: drivers.chains(),
            outputs: vec![0.0; drivers.outputs.len()],
        }
    }

    /// Puts all jiggles and spring bones to rest where the next evaluation finds them: call it after a cut.
    pub fn settle(&mut self) {
        self.springs.fill(None);
        self.chains.iter_mut().for_each(Chain::settle);
    }
}
