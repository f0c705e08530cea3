//! Hill's muscle: fibres that contract, passive tissue beside them and a tendon in series.
//!
//! F = F₀ (a f_L(l̃) f_V(ṽ) + f_P(l̃)) cos α, with the curves of [`Curves`] and fibres that stand at the pennation angle α to
//! the tendon and keep the thickness of the muscle. With a rigid tendon, the default, the fibres follow from the path's
//! length and speed at once ([`Muscle::contract`]). An elastic tendon makes the fibre length a state of its own
//! ([`Muscle::settle`]): needed where tendons are long against the fibres, as at the ankle.
//!
//! ```
//! use anim_sim::muscle::{Muscle, MuscleSpec};
//!
//! let biceps = Muscle::new(MuscleSpec {
//!     max_force: 600.0,
//!     optimal_length: 0.12,
//!     tendon_length: 0.25,
//!     ..MuscleSpec::default()
//! })?;
//! let held = biceps.contract(0.12 + 0.25, 0.0, 1.0); // at its best length, not moving, fully active
//! assert!((held.force - 600.0).abs() < 1e-6);
//! assert_eq!(held.power, 0.0);
//! assert!(held.metabolic_rate > 0.0, "holding still is work, too");
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use serde::{Deserialize, Serialize};

use super::activation::unit;
use super::curves::{Curves, Sample, tendon};
use super::{Activation, metabolism};
use crate::SimError;

/// A muscle as data; edit it, then make it a [`Muscle`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MuscleSpec {
    /// F₀: largest isometric force of the fibres, N, positive.
    pub max_force: f64,
    /// Fibre length at which they are strongest, m, positive.
    pub optimal_length: f64,
    /// Largest shortening speed, optimal lengths a second, positive.
    pub max_speed: f64,
    /// Angle between fibres and tendon at the optimal length, rad, in [0, 1.4].
    pub pennation: f64,
    /// Length of the tendon where it just goes slack, m, ≥ 0; both ends together.
    pub tendon_length: f64,
    /// How the tendon gives; `None` is rigid.
    pub tendon: Option<Tendon>,
    /// Of the fibres.
    pub curves: Curves,
    /// How force follows the nerve.
    pub activation: Activation,
}

impl Default for MuscleSpec {
    /// A strong spindle of 10 cm without a tendon.
    fn default() -> Self {
        Self {
            max_force: 1000.0,
            optimal_length: 0.1,
            max_speed: 10.0,
            pennation: 0.0,
            tendon_length: 0.0,
            tendon: None,
            curves: Curves::default(),
            activation: Activation::default(),
        }
    }
}

/// What an elastic tendon adds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tendon {
    /// Strain under the muscle's `max_force`, positive.
    pub strain: f64,
    /// Viscosity of the fibres, in `max_force` at `max_speed`, positive: without it an inactive muscle has no equilibrium.
    pub damping: f64,
}

impl Default for Tendon {
    /// 4.9 % and 0.1, as Millard et al. have them.
    fn default() -> Self {
        Self {
            strain: 0.049,
            damping: 0.1,
        }
    }
}

/// A valid muscle; one serves any number of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "MuscleSpec", into = "MuscleSpec")]
pub struct Muscle {
    spec: MuscleSpec,
    /// Thickness across the fibres, m: constant.
    thickness: f64,
    /// Fibres shorter than this would stand more steeply than [`STEEPEST`], or vanish, m.
    shortest: f64,
}

/// What a muscle does at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contraction {
    /// Tension of the tendon, N, ≥ 0.
    pub force: f64,
    /// How `force` answers to the length of the path, N/m: at a steady speed, or if the tendon is elastic with the fibres held.
    pub stiffness: f64,
    /// Length of the fibres, m.
    pub fiber_length: f64,
    /// Lengthening speed of the fibres, m/s.
    pub fiber_velocity: f64,
    /// cos α.
    pub cosine: f64,
    /// Mechanical power that the fibres give to tendon and skeleton, W: negative where they are stretched and brake.
    pub power: f64,
    /// Chemical power it spends, W, ≥ 0.
    pub metabolic_rate: f64,
}

/// Sine of the steepest pennation angle: its cosine is 0.1.
const STEEPEST: f64 = 0.994_987_437_106_62;
/// Fibres do not get shorter than this many optimal lengths.
const SHORTEST: f64 = 0.01;
/// Halvings of an interval of f64 that is no wider than a body end well before.
const MAX_ITERATIONS: usize = 80;

impl Muscle {
    /// Checks a muscle.
    ///
    /// # Errors
    ///
    /// [`SimError::OutOfRange`] with the quantity.
    pub fn new(spec: MuscleSpec) -> Result<Self, SimError> {
        let positive = f64::MIN_POSITIVE..1e9;
        let in_range = |what, value: f64, is_met: bool| match is_met {
            true => Ok(()),
            false => Err(SimError::OutOfRange {
                what,
                index: 0,
                value: value as f32,
            }),
        };
        let is_positive = |what, value: f64| in_range(what, value, positive.contains(&value));
        is_positive("muscle's force", spec.max_force)?;
        is_positive("muscle's optimal length", spec.optimal_length)?;
        is_positive("muscle's speed", spec.max_speed)?;
        let pennation = spec.pennation;
        in_range("pennation", pennation, (0.0..=1.4).contains(&pennation))?;
        let slack = spec.tendon_length;
        in_range("tendon's length", slack, (0.0..1e9).contains(&slack))?;
        if let Some(tendon) = &spec.tendon {
            is_positive("tendon's length", slack)?;
            is_positive("tendon's strain", tendon.strain)?;
            is_positive("tendon's damping", tendon.damping)?;
        }
        spec.curves.check()?;
        spec.activation.check()?;
        let thickness = spec.optimal_length * libm::sin(pennation);
        Ok(Self {
            shortest: (thickness / STEEPEST).max(SHORTEST * spec.optimal_length),
            thickness,
            spec,
        })
    }

    /// What it was made of.
    pub fn spec(&self) -> &MuscleSpec {
        &self.spec
    }

    /// What the muscle does if its tendon is rigid.
    ///
    /// * `length`: of the whole muscle along its path, m. * `velocity`: at which that grows, m/s. * `activation`: in [0, 1].
    ///
    /// A path too short for the tendon is slack: no force. So is one whose length or speed is not finite.
    pub fn contract(&self, length: f64, velocity: f64, activation: f64) -> Contraction {
        let along = length - self.spec.tendon_length;
        let fiber_length = (along * along + self.thickness * self.thickness).sqrt();
        let is_taut = along > 0.0 && fiber_length > self.shortest && velocity.is_finite();
        if !is_taut || !fiber_length.is_finite() {
            return self.slack(activation);
        }
        let cosine = along / fiber_length;
        // Neither the tendon nor the thickness gives: only the component along the fibre is left.
        let fiber_velocity = velocity * cosine;
        let (force, by_length, by_velocity) =
            self.fiber_force(fiber_length, fiber_velocity, activation, 0.0);
        // d(F cos α)/dx at a fixed path speed; cos α grows by sin²α / l, and the speed along the fibre with it.
        let bend = (1.0 - cosine * cosine) / fiber_length;
        let stiffness =
            (by_length * cosine + by_velocity * velocity * bend) * cosine + force * bend;
        self.contraction(
            force * cosine,
            stiffness,
            fiber_length,
            fiber_velocity,
            activation,
        )
    }

    /// What the muscle does after `dt`, s, in which its path has come to `length`, m, and its fibres from the length
    /// `fiber_length`, m: the damped equilibrium of fibres and tendon at the end of the step.
    ///
    /// Start with the optimal length or with [`rest_length`](Self::rest_length); hand in what comes out. The step is
    /// implicit, so it is stable whatever its length; its error is of first order in `dt`. A step that is not positive and a
    /// path that is not finite leave the fibres where they are. A rigid tendon ignores `fiber_length`. At most 80 iterations.
    ///
    /// Source: the damped equilibrium of Millard et al., "Flexing computational muscle", J. Biomech. Eng. 2013, solved here for
    /// the length at the end of the step rather than for the speed at its start.
    pub fn settle(&self, length: f64, fiber_length: f64, activation: f64, dt: f64) -> Contraction {
        let before = match fiber_length.is_finite() {
            true => fiber_length.max(self.shortest),
            false => self.spec.optimal_length,
        };
        let Some(elastic) = self.spec.tendon else {
            let along = (length - self.spec.tendon_length).max(0.0);
            let after = (along * along + self.thickness * self.thickness).sqrt();
            let velocity = match dt > 0.0 && after > self.shortest {
                true => (after - before) / dt * (after / along),
                false => 0.0,
            };
            return self.contract(length, velocity, activation);
        };
        if !length.is_finite() {
            return self.slack_at(before, activation);
        }
        let (after, velocity) = match dt > 0.0 {
            true => {
                let after = self.equilibrium(length, before, activation, dt, elastic);
                (after, (after - before) / dt)
            }
            false => (before, 0.0),
        };
        let stretch = self.tendon_force(length, after, elastic);
        self.contraction(stretch.value, stretch.slope, after, velocity, activation)
    }

    /// The fibre length at which a muscle of `length` and steady `activation` comes to rest, m; of a rigid tendon the one
    /// there is.
    pub fn rest_length(&self, length: f64, activation: f64) -> f64 {
        // So long a step that speeds are nil.
        self.settle(length, self.spec.optimal_length, activation, 1e6)
            .fiber_length
    }

    /// Force of the fibres along themselves, N, ≥ 0, and its derivatives by length, N/m, and velocity, N·s/m.
    fn fiber_force(
        &self,
        length: f64,
        velocity: f64,
        activation: f64,
        damping: f64,
    ) -> (f64, f64, f64) {
        let spec = &self.spec;
        let (optimal, top) = (spec.optimal_length, spec.optimal_length * spec.max_speed);
        let activation = unit(activation);
        let active = spec.curves.active_length(length / optimal);
        let passive = spec.curves.passive_length(length / optimal);
        let speed = spec.curves.velocity(velocity / top);
        let force =
            activation * active.value * speed.value + passive.value + damping * velocity / top;
        let by_length = activation * active.slope * speed.value + passive.slope;
        let by_velocity = activation * active.value * speed.slope + damping;
        (
            spec.max_force * force,
            spec.max_force * by_length / optimal,
            spec.max_force * by_velocity / top,
        )
    }

    /// Force of the tendon, N, beside fibres of `fiber_length` and its derivative by the path's length, N/m.
    fn tendon_force(&self, length: f64, fiber_length: f64, elastic: Tendon) -> Sample {
        let slack = self.spec.tendon_length;
        let along = (fiber_length * fiber_length - self.thickness * self.thickness).max(0.0);
        let strain = (length - along.sqrt()) / slack - 1.0;
        let Sample { value, slope } = tendon(strain, elastic.strain);
        Sample {
            value: self.spec.max_force * value,
            slope: self.spec.max_force * slope / slack,
        }
    }

    /// The fibre length in balance with the tendon, m: Newton's method that falls back on halving.
    ///
    /// Fibres pull less than the tendon at the shortest length, or stay there, and not less where the tendon is slack and they
    /// do not shorten; between is a root, and an interval around it is kept.
    fn equilibrium(
        &self,
        length: f64,
        before: f64,
        activation: f64,
        dt: f64,
        elastic: Tendon,
    ) -> f64 {
        let imbalance = |fiber: f64| {
            let along = (fiber * fiber - self.thickness * self.thickness)
                .max(0.0)
                .sqrt();
            let cosine = along / fiber;
            let velocity = (fiber - before) / dt;
            let (force, by_length, by_velocity) =
                self.fiber_force(fiber, velocity, activation, elastic.damping);
            let pull = self.tendon_force(length, fiber, elastic);
            let by_cosine = (1.0 - cosine * cosine) / fiber;
            Sample {
                value: force * cosine - pull.value,
                slope: (by_length + by_velocity / dt) * cosine
                    + force * by_cosine
                    + pull.slope / cosine,
            }
        };
        let along = (length - self.spec.tendon_length).max(0.0);
        let where_slack = (along * along + self.thickness * self.thickness).sqrt();
        let (mut low, mut high) = (self.shortest, where_slack.max(before));
        if imbalance(low).value >= 0.0 {
            return low;
        }
        let mut fiber = before.clamp(low, high);
        for _ in 0..MAX_ITERATIONS {
            let at = imbalance(fiber);
            match at.value < 0.0 {
                true => low = fiber,
                false => high = fiber,
            }
            let newton = fiber - at.value / at.slope;
            let next = match newton > low && newton < high {
                true => newton,
                false => 0.5 * (low + high),
            };
            let is_there = (next - fiber).abs() <= 4.0 * f64::EPSILON * fiber;
            fiber = next;
            if is_there {
                break;
            }
        }
        fiber
    }

    fn contraction(
        &self,
        force: f64,
        stiffness: f64,
        fiber_length: f64,
        fiber_velocity: f64,
        activation: f64,
    ) -> Contraction {
        let top = self.spec.optimal_length * self.spec.max_speed;
        let sine = self.thickness / fiber_length;
        let cosine = (1.0 - sine * sine).max(0.0).sqrt();
        // What goes along the tendon comes from the fibres: F cos α · v / cos α.
        let power = match cosine > 0.0 {
            true => -force * fiber_velocity / cosine,
            false => 0.0,
        };
        let spent = metabolism::rate(fiber_velocity / top, unit(activation));
        Contraction {
            force,
            stiffness,
            fiber_length,
            fiber_velocity,
            cosine,
            power,
            metabolic_rate: self.spec.max_force * top * spent,
        }
    }

    fn slack(&self, activation: f64) -> Contraction {
        self.slack_at(self.shortest, activation)
    }

    fn slack_at(&self, fiber_length: f64, activation: f64) -> Contraction {
        self.contraction(0.0, 0.0, fiber_length, 0.0, activation)
    }
}

impl TryFrom<MuscleSpec> for Muscle {
    type Error = SimError;

    fn try_from(spec: MuscleSpec) -> Result<Self, SimError> {
        Self::new(spec)
    }
}

impl From<Muscle> for MuscleSpec {
    fn from(muscle: Muscle) -> Self {
        muscle.spec
    }
}
