//! Taking root motion out of a clip: what carries the character, and the clip on the spot that is left.
//!
//! The motion is taken where it is seen, in model space, and taken off the joint's own curves, so that joints above it and
//! beside it stay as they are and the joint itself stays near where it rests, which is where clips blend well.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track};
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Channel, ClipSpec, JointSpec, JointTrack, RootMotion, RootMotionOptions, Skeleton};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! let keys = vec![Key::new(0.0, Vec3::zeros()), Key::new(1.0, Vec3::new(1.5, 0.1, 0.0))];
//! let track = JointTrack::Translation(Track::new(keys, Interpolation::Linear)?);
//! let step_up = ClipSpec { channels: vec![Channel { joint: 0, track }], ..ClipSpec::default() };
//!
//! let hips = skeleton.joint(0);
//! let options = RootMotionOptions { yaw: false, ..RootMotionOptions::new(hips) };
//! let (motion, on_the_spot) = RootMotion::extract(&step_up, &skeleton, &options)?;
//! let mut pose = skeleton.rest().clone();
//! on_the_spot.sample(&skeleton, 1.0, &mut pose);
//! assert_eq!(motion.at(1.0).translation, Vec3::new(1.5, 0.0, 0.0));
//! assert_eq!(pose.translation(hips), Vec3::new(0.0, 0.1, 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_curves::{Interpolation, Key, Track};
use anim_math::nalgebra::Vector3;
use anim_math::{Affine, Quat, Transform};

use crate::resample::EvenTimes;
use crate::root_motion::{Motion, turned};
use crate::{
    Channel, ClipSpec, JointId, JointTrack, MotionSample, Pose, RootMotion, Skeleton, SkeletonError,
};

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
    /// Whether the motion shall end where it began: the difference is spread over the clip, in which the joint then
    /// slides.
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
    /// [`SkeletonError::BadTrack`] or [`SkeletonError::BrokenClip`] if positions overflow.
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
        let motion = Self::of(&mut chain, options)?;
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

    fn of(chain: &mut Chain<'_>, options: &RootMotionOptions) -> Result<Self, SkeletonError> {
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
        let samples = motions.iter().map(|motion| MotionSample {
            translation: motion.translation.cast(),
            yaw: motion.yaw as f32,
        });
        Self::new(duration, samples.collect())
    }
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
