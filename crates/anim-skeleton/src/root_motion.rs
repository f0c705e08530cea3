//! Root motion: where a clip carries its character, taken out of the pose and given to whoever moves the character.
//!
//! [`RootMotion::extract`] splits a clip into a motion over the ground and the same clip on the spot, so that the motion
//! times the pose is what it was. Each frame [`RootMotion::delta`] tells how far the character went, through any number
//! of loops and either way: per-loop displacements are composed as rigid motions, not added, so a clip that walks a curve
//! walks a circle. [`blend_deltas`] mixes the deltas of clips as [`blend`](crate::blend()) mixes their poses.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track};
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Channel, ClipSpec, JointSpec, JointTrack, Passage, RootMotion, RootMotionOptions, Skeleton, Wrap};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! let keys = vec![Key::new(0.0, Vec3::zeros()), Key::new(1.0, Vec3::new(0.0, 0.1, 1.5))];
//! let track = JointTrack::Translation(Track::new(keys, Interpolation::Linear)?);
//! let walk = ClipSpec { channels: vec![Channel { joint: 0, track }], ..ClipSpec::default() };
//!
//! let options = RootMotionOptions::new(skeleton.joint(0));
//! let (motion, on_the_spot) = RootMotion::extract(&walk, &skeleton, &options)?;
//! let four_turns = Passage::new(0.5, 4.5, 1.0, Wrap::Loop);
//! assert_eq!(motion.delta(&four_turns).translation, Vec3::new(0.0, 0.0, 6.0)); // but not up
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::nalgebra::{Quaternion, Vector3, Vector4};
use anim_math::{Affine, Mat3, Quat, Transform, Vec3, quat};
use serde::{Deserialize, Serialize};

use crate::passage::Moment;
use crate::{Passage, SkeletonError, Wrap};

/// A rigid motion with turns about +Y only, as uniform samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct RootMotion(Parts);

/// Where the motion is at one of its even times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MotionSample {
    /// Metres, model space.
    pub translation: Vec3,
    /// The turn about +Y, rad; counted on through whole turns.
    pub yaw: f32,
}

impl RootMotion {
    /// A motion of `samples` that are `duration` / (their number − 1) seconds apart.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::BrokenClip`] without samples, if something is not finite, or if the duration is negative.
    pub fn new(duration: f32, samples: Vec<MotionSample>) -> Result<Self, SkeletonError> {
        Self::try_from(Parts { duration, samples })
    }

    /// The motion at `time`, s, clamped to the clip: model space then from model space at the reference.
    pub fn at(&self, time: f32) -> Transform {
        self.motion_at(f64::from(time)).to_transform()
    }

    /// How far the character goes in one step, seen from where it stands at the step's beginning.
    ///
    /// `world_from_model · delta` is where it stands after the step. Deltas of consecutive passages compose to that of
    /// the whole; the way back is the inverse. The identity where nothing is crossed, as after a seek. O(log loops).
    pub fn delta(&self, passage: &Passage) -> Transform {
        if passage.from == passage.to || !passage.is_finite() {
            return Transform::IDENTITY;
        }
        let (from, to) = (
            self.inside(passage, passage.from),
            self.inside(passage, passage.to),
        );
        let turns = self.turn().power(to.0.saturating_sub(from.0));
        let from = self.motion_at(from.1);
        let to = self.motion_at(to.1);
        from.inverse().then(&turns).then(&to).to_transform()
    }

    /// Mean speed along the way, m/s; 0 for a clip without length.
    pub fn speed(&self) -> f32 {
        let ways = self
            .samples()
            .windows(2)
            .map(|pair| f64::from((pair[1].translation - pair[0].translation).norm()));
        let way: f64 = ways.sum();
        if self.0.duration > 0.0 {
            (way / f64::from(self.0.duration)) as f32
        } else {
            0.0
        }
    }

    /// Length of the clip, s.
    pub fn duration(&self) -> f32 {
        self.0.duration
    }

    /// At least one.
    pub fn samples(&self) -> &[MotionSample] {
        &self.0.samples
    }

    /// From one turn of the loop to the next.
    fn turn(&self) -> Motion {
        let end = self.motion_at(f64::from(self.0.duration));
        end.then(&self.motion_at(0.0).inverse())
    }

    /// Whole turns and the time inside the clip.
    fn inside(&self, passage: &Passage, time: f64) -> (i64, f64) {
        let moment = Moment::at(time, passage.duration, passage.wrap);
        match passage.wrap {
            Wrap::Clamp => (0, moment.since),
            Wrap::Loop => (moment.leg, moment.since),
            Wrap::PingPong if moment.leg & 1 == 1 => {
                (0, f64::from(passage.duration) - moment.since)
            }
            Wrap::PingPong => (0, moment.since),
        }
    }

    pub(crate) fn motion_at(&self, time: f64) -> Motion {
        let last = self.0.samples.len() - 1;
        let place = time / f64::from(self.0.duration) * last as f64;
        // NaN, of a clip without length, is the start.
        let place = place.max(0.0).min(last as f64);
        let (from, to) = (
            Motion::from(&self.0.samples[place as usize]),
            Motion::from(&self.0.samples[(place as usize + 1).min(last)]),
        );
        let alpha = place.fract();
        Motion {
            yaw: from.yaw + (to.yaw - from.yaw) * alpha,
            translation: from.translation + (to.translation - from.translation) * alpha,
        }
    }
}

/// Mixes the deltas of several clips by the weights of their poses.
///
/// The weights are those [`blend`](crate::blend()) takes: more than 1 in all is scaled down, so 0.8 and 0.8 is half of
/// each; what is missing to 1 stands still, as the rest pose fills up there; negative ones and those not finite are 0.
/// Translations are averaged, rotations along the short arc from the heaviest. O(deltas), allocates nothing.
pub fn blend_deltas(deltas: &[(Transform, f32)]) -> Transform {
    let valid = |weight: f32| weight > 0.0 && weight.is_finite();
    let shares = || deltas.iter().filter(|(_, weight)| valid(*weight));
    // In f64, where no sum of them is infinite.
    let total: f64 = shares().map(|(_, weight)| f64::from(*weight)).sum();
    let rest = (Transform::IDENTITY, (1.0 - total).max(0.0) as f32);
    let share_of = |weight: f32| (f64::from(weight) / total.max(1.0)) as f32;
    let mut heaviest = rest;
    for (delta, weight) in shares() {
        if share_of(*weight) > heaviest.1 {
            heaviest = (*delta, share_of(*weight));
        }
    }
    let mut translation = Vec3::zeros();
    let mut rotation = rest.0.rotation.coords * side(&heaviest.0, &rest.0) * rest.1;
    for (delta, weight) in shares() {
        let share = share_of(*weight);
        translation += delta.translation * share;
        rotation += delta.rotation.coords * side(&heaviest.0, delta) * share;
    }
    Transform {
        translation,
        rotation: quat::from_xyzw(rotation.into()).unwrap_or(heaviest.0.rotation),
        scale: Vec3::repeat(1.0),
    }
}

/// −1 if the quaternions are on different sides.
fn side(reference: &Transform, other: &Transform) -> f32 {
    1.0_f32.copysign(reference.rotation.coords.dot(&other.rotation.coords))
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    duration: f32,
    /// At least one.
    samples: Vec<MotionSample>,
}

impl TryFrom<Parts> for RootMotion {
    type Error = SkeletonError;

    fn try_from(parts: Parts) -> Result<Self, SkeletonError> {
        let is_finite = |sample: &MotionSample| {
            sample.yaw.is_finite() && sample.translation.iter().all(|part| part.is_finite())
        };
        let broken = |what| Err(SkeletonError::BrokenClip { what });
        if !(parts.duration.is_finite() && parts.duration >= 0.0) {
            return broken("duration of the root motion");
        }
        if parts.samples.is_empty() || !parts.samples.iter().all(is_finite) {
            return broken("samples of the root motion");
        }
        Ok(Self(parts))
    }
}

impl From<RootMotion> for Parts {
    fn from(motion: RootMotion) -> Self {
        motion.0
    }
}

/// A rigid motion: a turn about +Y, then a translation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub(crate) yaw: f64,
    pub(crate) translation: Vector3<f64>,
}

impl Motion {
    const IDENTITY: Self = Self {
        yaw: 0.0,
        translation: Vector3::new(0.0, 0.0, 0.0),
    };

    /// `self · next`.
    fn then(&self, next: &Self) -> Self {
        Self {
            yaw: self.yaw + next.yaw,
            translation: self.translation + turned(self.yaw, next.translation),
        }
    }

    pub(crate) fn inverse(&self) -> Self {
        Self {
            yaw: -self.yaw,
            translation: -turned(-self.yaw, self.translation),
        }
    }

    /// `self` composed with itself `times` times, by squaring; the inverse for negative ones.
    fn power(&self, times: i64) -> Self {
        let mut square = if times < 0 { self.inverse() } else { *self };
        let mut left = times.unsigned_abs();
        let mut product = Self::IDENTITY;
        while left > 0 {
            if left & 1 == 1 {
                product = product.then(&square);
            }
            square = square.then(&square);
            left >>= 1;
        }
        product
    }

    fn rotation(&self) -> Quat {
        // The half angle, in f64 so that many turns cost no digits.
        let (sine, cosine) = libm::sincos(self.yaw * 0.5);
        let coords = Vector4::new(0.0, sine as f32, 0.0, cosine as f32);
        Quat::new_unchecked(Quaternion::from_vector(coords))
    }

    fn to_transform(self) -> Transform {
        Transform {
            translation: self.translation.cast(),
            rotation: self.rotation(),
            scale: Vec3::repeat(1.0),
        }
    }

    pub(crate) fn to_affine(self) -> Affine {
        let columns = [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| turned(self.yaw, axis));
        Affine {
            linear: Mat3::from_columns(&columns.map(|column| column.cast())),
            translation: self.translation.cast(),
        }
    }
}

impl From<&MotionSample> for Motion {
    fn from(sample: &MotionSample) -> Self {
        Self {
            yaw: f64::from(sample.yaw),
            translation: sample.translation.cast(),
        }
    }
}

/// `vector` turned about +Y by `yaw`, rad; untouched, to the bit, by 0.
pub(crate) fn turned(yaw: f64, vector: Vector3<f64>) -> Vector3<f64> {
    let (sine, cosine) = libm::sincos(yaw);
    Vector3::new(
        cosine * vector.x + sine * vector.z,
        vector.y,
        cosine * vector.z - sine * vector.x,
    )
}
