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

use anim_curves::{Interpolation, Key, Track};
use anim_math::nalgebra::{Quaternion, Vector3, Vector4};
use anim_math::{Affine, Mat3, Quat, Transform, Vec3, quat};

use crate::passage::Moment;
use crate::resample::EvenTimes;
use crate::{Channel, ClipSpec, JointId, JointTrack, Passage, Pose, Skeleton, SkeletonError, Wrap};

/// What of a clip is root motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootMotionOptions {
    /// The joint that carries the character, such as the hips.
    pub joint: JointId,
    /// Along which of the model's axes it carries.
    pub translation: [bool; 3],
    /// Whether its turns about the model's +Y turn the character.
    pub yaw: bool,
    /// Where the clip on the spot stands.
    pub reference: MotionReference,
    /// Whether the motion shall end where it began: the difference is spread over the clip, in which the joint then slides.
    pub close_loop: bool,
    /// Samples of the motion per second; clips of over 65536 samples get fewer.
    pub rate: f32,
}

impl RootMotionOptions {
    /// `joint` over the ground: along x and z, and turns, relative to the first frame, 60 samples a second.
    pub fn new(joint: JointId) -> Self {
        Self {
            joint,
            translation: [true, false, true],
            yaw: true,
            reference: MotionReference::FirstFrame,
            close_loop: false,
            rate: 60.0,
        }
    }
}

/// Where the joint is kept by a clip whose motion was taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MotionReference {
    /// Where it rests: the motion begins with the way from there to the first frame.
    Rest,
    /// Where the clip begins: the motion begins with the identity.
    #[default]
    FirstFrame,
}

/// A rigid motion with turns about +Y only, as uniform samples.
#[derive(Clone, Debug, PartialEq)]
pub struct RootMotion {
    duration: f32,
    /// At least one.
    samples: Vec<Sample>,
}

impl RootMotion {
    /// Splits `spec` into its root motion and the clip that is left.
    ///
    /// In model space, motion(t) · left(t) is the original for the joint and what is below it, to rounding, at the keys of
    /// either; between keys the joint runs straight. Other joints stay as they are. Parents of the joint may move,
    /// turn, mirror and scale evenly; a scale that differs between axes is followed by the position but not by the turn.
    ///
    /// For tools; O((samples + keys) · depth of the joint).
    ///
    /// # Errors
    ///
    /// [`SkeletonError::NoJoint`] for channels and [`SkeletonError::ForeignJoint`] for a joint that `skeleton` lacks;
    /// [`SkeletonError::BadTrack`] if positions overflow.
    pub fn extract(
        spec: &ClipSpec,
        skeleton: &Skeleton,
        options: &RootMotionOptions,
    ) -> Result<(Self, ClipSpec), SkeletonError> {
        spec.check(skeleton)?;
        if options.joint.index() >= skeleton.len() {
            let joint = options.joint.index();
            return Err(SkeletonError::ForeignJoint { joint });
        }
        let mut chain = Chain::new(spec, skeleton, options.joint);
        let motion = Self::of(&mut chain, options);
        let channels = chain.left(&motion, options)?;
        let source = skeleton.source(options.joint);
        let replaced = |channel: &Channel| {
            channel.joint == source
                && channels.iter().any(|new| {
                    std::mem::discriminant(&new.track) == std::mem::discriminant(&channel.track)
                })
        };
        let mut left = spec.clone();
        left.channels.retain(|channel| !replaced(channel));
        left.channels.extend(channels);
        Ok((motion, left))
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
            .samples
            .windows(2)
            .map(|pair| f64::from((pair[1].translation - pair[0].translation).norm()));
        let way: f64 = ways.sum();
        if self.duration > 0.0 {
            (way / f64::from(self.duration)) as f32
        } else {
            0.0
        }
    }

    /// Length of the clip, s.
    pub fn duration(&self) -> f32 {
        self.duration
    }

    fn of(chain: &mut Chain<'_>, options: &RootMotionOptions) -> Self {
        let duration = chain.duration;
        let times = EvenTimes::new(duration, options.rate).iter();
        let mut motions: Vec<Motion> = Vec::with_capacity(times.len());
        let reference = match options.reference {
            MotionReference::Rest => chain.rest(),
            MotionReference::FirstFrame => chain.model_at(0.0),
        };
        for time in times {
            let model = chain.model_at(time);
            let before = motions.last().map_or(0.0, |motion| motion.yaw);
            let yaw = match options.yaw {
                // Equal rotations make no turn, to the bit.
                true if model.rotation == reference.rotation => yaw_near(Quat::identity(), before),
                true => yaw_near(model.rotation * reference.rotation.inverse(), before),
                false => 0.0,
            };
            let way = model.translation.cast() - turned(yaw, reference.translation.cast());
            let mut translation = Vector3::zeros();
            for (axis, carries) in options.translation.into_iter().enumerate() {
                if carries {
                    translation[axis] = way[axis];
                }
            }
            motions.push(Motion { yaw, translation });
        }
        if options.close_loop {
            close(&mut motions);
        }
        let samples = motions.iter().map(|motion| Sample {
            translation: motion.translation.cast(),
            yaw: motion.yaw as f32,
        });
        Self {
            duration,
            samples: samples.collect(),
        }
    }

    /// From one turn of the loop to the next.
    fn turn(&self) -> Motion {
        let end = self.motion_at(f64::from(self.duration));
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

    fn motion_at(&self, time: f64) -> Motion {
        let last = self.samples.len() - 1;
        let place = time / f64::from(self.duration) * last as f64;
        // NaN, of a clip without length, is the start.
        let place = place.max(0.0).min(last as f64);
        let (from, to) = (
            Motion::from(&self.samples[place as usize]),
            Motion::from(&self.samples[(place as usize + 1).min(last)]),
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
    let total: f32 = shares().map(|(_, weight)| weight).sum();
    let rest = (Transform::IDENTITY, (1.0 - total).max(0.0));
    let share_of_weight = 1.0 / total.max(1.0);
    let mut heaviest = rest;
    for (delta, weight) in shares() {
        if weight * share_of_weight > heaviest.1 {
            heaviest = (*delta, weight * share_of_weight);
        }
    }
    let mut translation = Vec3::zeros();
    let mut rotation = rest.0.rotation.coords * side(&heaviest.0, &rest.0) * rest.1;
    for (delta, weight) in shares() {
        let share = weight * share_of_weight;
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

#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    translation: Vec3,
    /// Unwrapped, rad.
    yaw: f32,
}

/// A rigid motion: a turn about +Y, then a translation.
#[derive(Clone, Copy, Debug)]
struct Motion {
    yaw: f64,
    translation: Vector3<f64>,
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

    fn inverse(&self) -> Self {
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

    fn to_affine(self) -> Affine {
        let columns = [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| turned(self.yaw, axis));
        Affine {
            linear: Mat3::from_columns(&columns.map(|column| column.cast())),
            translation: self.translation.cast(),
        }
    }
}

impl From<&Sample> for Motion {
    fn from(sample: &Sample) -> Self {
        Self {
            yaw: f64::from(sample.yaw),
            translation: sample.translation.cast(),
        }
    }
}

/// `vector` turned about +Y by `yaw`, rad; untouched, to the bit, by 0.
fn turned(yaw: f64, vector: Vector3<f64>) -> Vector3<f64> {
    let (sine, cosine) = libm::sincos(yaw);
    Vector3::new(
        cosine * vector.x + sine * vector.z,
        vector.y,
        cosine * vector.z - sine * vector.x,
    )
}

/// The twist of `turn` about +Y, rad, in the turn that is nearest to `before`.
fn yaw_near(turn: Quat, before: f64) -> f64 {
    let (y, w) = (f64::from(turn.coords.y), f64::from(turn.coords.w));
    if y.abs() + w.abs() < 1e-6 {
        // Upside down no yaw is better than another.
        return before;
    }
    let yaw = 2.0 * libm::atan2(y, w);
    let turns = ((before - yaw) / std::f64::consts::TAU).round();
    yaw + turns * std::f64::consts::TAU
}

/// Spreads the difference between the last and the first motion evenly over all.
fn close(motions: &mut [Motion]) {
    let (Some(first), Some(last)) = (motions.first().copied(), motions.last().copied()) else {
        return;
    };
    let intervals = motions.len().max(2) - 1;
    for (sample, motion) in motions.iter_mut().enumerate() {
        let alpha = sample as f64 / intervals as f64;
        motion.yaw -= (last.yaw - first.yaw) * alpha;
        motion.translation -= (last.translation - first.translation) * alpha;
    }
}

/// A joint and its ancestors in a clip.
struct Chain<'a> {
    skeleton: &'a Skeleton,
    joint: JointId,
    duration: f32,
    /// The channels of these joints only.
    spec: ClipSpec,
    pose: Pose,
}

impl<'a> Chain<'a> {
    fn new(spec: &ClipSpec, skeleton: &'a Skeleton, joint: JointId) -> Self {
        let is_in_chain = |channel: &&Channel| {
            let other = skeleton.joint(channel.joint);
            other == joint || skeleton.is_below(joint, other)
        };
        Self {
            skeleton,
            joint,
            duration: spec.duration(),
            spec: ClipSpec {
                channels: spec.channels.iter().filter(is_in_chain).cloned().collect(),
                ..ClipSpec::default()
            },
            pose: skeleton.rest().clone(),
        }
    }

    /// Parts of `model_from_joint` at rest.
    fn rest(&mut self) -> Transform {
        self.pose.copy_from(self.skeleton.rest());
        self.model()
    }

    /// Parts of `model_from_joint` at `time`.
    fn model_at(&mut self, time: f32) -> Transform {
        self.spec.sample(self.skeleton, time, &mut self.pose);
        self.model()
    }

    fn model(&self) -> Transform {
        let local = self.pose.get(self.joint);
        match self.skeleton.parent(self.joint) {
            Some(parent) => (self.model_from(parent) * Affine::from(local)).to_transform(),
            None => local,
        }
    }

    fn model_from(&self, joint: JointId) -> Affine {
        let mut model_from_joint = Affine::from(self.pose.get(joint));
        let mut at = joint;
        while let Some(parent) = self.skeleton.parent(at) {
            model_from_joint = Affine::from(self.pose.get(parent)) * model_from_joint;
            at = parent;
        }
        model_from_joint
    }

    /// What is left of the joint's own curves without `motion`.
    fn left(
        &mut self,
        motion: &RootMotion,
        options: &RootMotionOptions,
    ) -> Result<Vec<Channel>, SkeletonError> {
        let carries = options.yaw || options.translation.contains(&true);
        if self.spec.channels.is_empty() || !carries {
            return Ok(Vec::new());
        }
        let mut translations = Vec::new();
        let mut rotations = Vec::new();
        let keys = self.spec.channels.iter();
        let keys = keys.flat_map(|channel| channel.track.times().iter().copied());
        for time in EvenTimes::new(self.duration, options.rate).with_keys(keys) {
            self.spec.sample(self.skeleton, time, &mut self.pose);
            let local = self.pose.get(self.joint);
            let back = motion.motion_at(f64::from(time)).inverse().to_affine();
            let back = self.seen_by_parent(back);
            let turn = back.to_transform().rotation;
            translations.push(Key::new(time, back.transform_point(local.translation)));
            rotations.push(Key::new(time, turn * local.rotation));
        }
        let joint = self.skeleton.source(self.joint);
        let bad = |error| SkeletonError::BadTrack { joint, error };
        let translation = Track::new(translations, Interpolation::Linear).map_err(bad)?;
        let mut tracks = vec![JointTrack::Translation(translation)];
        if options.yaw {
            let rotation = Track::new(rotations, Interpolation::Linear).map_err(bad)?;
            tracks.push(JointTrack::Rotation(rotation));
        }
        let channels = tracks.into_iter().map(|track| Channel { joint, track });
        Ok(channels.collect())
    }

    /// A motion of the model as a motion in the joint's parent: P⁻¹ M P.
    fn seen_by_parent(&self, motion: Affine) -> Affine {
        let Some(parent) = self.skeleton.parent(self.joint) else {
            return motion;
        };
        let model_from_parent = self.model_from(parent);
        match model_from_parent.inverse() {
            Some(parent_from_model) => parent_from_model * (motion * model_from_parent),
            // What is scaled to nothing goes nowhere.
            None => Affine::from(Transform::IDENTITY),
        }
    }
}
