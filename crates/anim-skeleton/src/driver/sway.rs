//! Sway: the slow drift of whoever stands still, of branches and of lamps on a ship.
//!
//! Each axis is a sum of four sines, smooth and band-limited, whose frequencies are in the golden ratio: no two of their
//! periods fit into each other, so it never repeats, unless it is given a period to repeat after.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skeleton::driver::Sway;
//!
//! let spine: Sway = Sway {
//!     joint: "spine".into(),
//!     frequency: 0.4,
//!     turn: Vec3::new(0.01, 0.02, 0.015),
//!     offset: Vec3::zeros(),
//!     seed: 7,
//!     period: Some(20.0),
//! };
//! assert_eq!(spine.wave(1, 3.0), spine.wave(1, 23.0));
//! assert!(spine.wave(1, 3.0).abs() <= 1.0);
//! ```

use std::f32::consts::TAU;

use anim_math::random::Random;
use anim_math::{Vec3, quat};
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::scene::{Scene, Target};
use super::spec::{Binder, JointRef};
use crate::JointId;

/// Frequencies as parts of the highest: powers of the golden ratio.
const OCTAVES: [f64; 4] = [1.0, 0.618_033_99, 0.381_966_01, 0.236_067_98];

/// Turns and moves a joint by smooth noise, a function of the state's clock and the seed alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sway<J = JointRef> {
    /// What sways.
    pub joint: J,
    /// The highest frequency in it, Hz, ≥ 0; the lowest is a quarter of that.
    pub frequency: f32,
    /// The furthest turn about each of the joint's own axes, rad.
    #[serde(default = "Vec3::zeros")]
    pub turn: Vec3,
    /// The furthest move along each of its parent's axes, m.
    #[serde(default = "Vec3::zeros")]
    pub offset: Vec3,
    /// Tells sways apart.
    #[serde(default)]
    pub seed: u64,
    /// Seconds, above 0, after which it repeats exactly: frequencies become the nearest that fit, at least one round.
    #[serde(default)]
    pub period: Option<f32>,
}

impl<J> Sway<J> {
    /// The noise of one axis at `time`, s, in [−1, 1]; axes 0 to 2 turn, 3 to 5 move.
    pub fn wave(&self, axis: u64, time: f64) -> f32 {
        let mut random = Random::new(self.seed, axis, 0);
        let rounds = |octave: f64| {
            let frequency = f64::from(self.frequency) * octave;
            match self.period.map(f64::from) {
                Some(period) => fraction(time / period) * (frequency * period).round().max(1.0),
                None => frequency * time,
            }
        };
        let sine = |octave: f64| {
            let part = fraction(rounds(octave)) as f32 + random.uniform();
            libm::sinf(TAU * part)
        };
        let sum = OCTAVES.map(sine).into_iter().sum::<f32>();
        sum / OCTAVES.len() as f32
    }

    /// The noise of three axes, scaled; axes that do not move cost nothing.
    fn waves(&self, size: Vec3, first: u64, time: f64) -> Vec3 {
        let mut value = Vec3::zeros();
        for (axis, (value, size)) in (first..).zip(value.iter_mut().zip(size.iter())) {
            if *size != 0.0 {
                *value = size * self.wave(axis, time);
            }
        }
        value
    }
}

fn fraction(x: f64) -> f64 {
    x - x.floor()
}

impl Sway {
    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Sway<JointId>, DriverError> {
        binder.require((0.0..=f32::MAX).contains(&self.frequency), "frequency")?;
        binder.finite(self.turn, "turn")?;
        binder.finite(self.offset, "offset")?;
        let is_period = |period: f32| period > 0.0 && period.is_finite();
        binder.require(self.period.is_none_or(is_period), "period")?;
        Ok(Sway {
            joint: binder.joint(&self.joint)?,
            frequency: self.frequency,
            turn: self.turn,
            offset: self.offset,
            seed: self.seed,
            period: self.period,
        })
    }
}

impl Sway<JointId> {
    fn turns(&self) -> bool {
        self.turn != Vec3::zeros()
    }

    fn moves(&self) -> bool {
        self.offset != Vec3::zeros()
    }

    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        if self.moves() {
            touched.write(self.joint, Part::Translation);
        }
        if self.turns() {
            touched.write(self.joint, Part::Rotation);
        }
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let turn = self.waves(self.turn, 0, scene.time);
        let offset = self.waves(self.offset, 3, scene.time);
        let local = scene.pose.get(self.joint);
        let target = Target {
            translation: self.moves().then(|| local.translation + offset),
            rotation: self.turns().then(|| local.rotation * quat::exp(turn)),
            scale: None,
        };
        scene.write(self.joint, target);
    }
}
