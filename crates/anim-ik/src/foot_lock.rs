//! Feet that stand: a whole clip's feet held still while they bear, on flat or uneven ground.
//!
//! Clips that were captured, retargeted or blended slide on their feet. Here the frames in which a heel or a ball
//! [stands](crate::contact) are found on the clip's own plane; each such plant gets one place on the real ground, and the foot
//! is carried there: the heel stands from the strike until the ball comes down, the ball from then until it leaves, while
//! the foot rolls about it as the clip has it. Before and after, the correction is blended in and out; between two plants
//! the foot goes from one ground to the next and is lifted over what lies between. The hips follow the lower foot, smoothly,
//! and come down in time where a leg would be too short. All of the clip is at hand, so nothing lags and nothing depends on
//! earlier calls; [`FootPlant`] is for the live case.
//!
//! ```
//! use anim_ik::{Foot, FootLockOptions, FootMotion, FootPlant, Ground, TwoBone};
//! use anim_math::{Affine, Transform, Vec3};
//! use anim_skeleton::{JointSpec, Skeleton};
//!
//! let joint = |parent, at: [f32; 3]| JointSpec {
//!     name: None,
//!     parent,
//!     rest: Transform::from_translation(Vec3::from(at)),
//! };
//! let skeleton = Skeleton::new(vec![
//!     joint(None, [0.0, 1.0, 0.0]),           // hips
//!     joint(Some(0), [0.1, 0.0, 0.0]),        // upper leg
//!     joint(Some(1), [0.0, -0.45, 0.02]),     // knee
//!     joint(Some(2), [0.0, -0.45, -0.02]),    // ankle
//! ])?;
//! let ankle = skeleton.joint(3);
//! let feet = FootPlant {
//!     hips: skeleton.joint(0),
//!     feet: vec![Foot { leg: TwoBone::new(&skeleton, ankle)?, ankle, toes: None }],
//! };
//! // Someone who stands, and is carried off by 1 mm a frame.
//! let place = |frame: i32| Affine { translation: Vec3::x() * (0.001 * frame as f32), ..Affine::IDENTITY };
//! let world_from_model: Vec<Affine> = (-10..=10).map(place).collect();
//! let mut poses = vec![skeleton.rest().clone(); 21];
//! let hole = |_| Some(Ground { height: -0.05, normal: Vec3::y() });
//! let motion = FootMotion { fps: 30.0, world_from_model: &world_from_model, round: None, ground: &hole };
//! let report = feet.lock(&skeleton, &motion, &FootLockOptions::default(), &mut poses);
//! assert_eq!(report.plants[0][0].frames, 0..21);
//! assert!(report.slide < 1e-5 && (report.drop - 0.05).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::ops::Range;

use anim_math::{Affine, Quat, Vec3, quat};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};

use crate::contact::{ContactOptions, contacts};
use crate::plants::{Plant, Track};
use crate::{Foot, FootPlant, Ground, TwoBoneGoal};

/// How feet are locked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootLockOptions {
    /// When a foot stands; `None` for [`ContactOptions::of_clip`] of each heel and ball.
    pub contact: Option<ContactOptions>,
    /// Frames over which a correction comes and goes; 3 to 5 look right.
    pub blend_frames: usize,
    /// Frames to either side over which the hips are smoothed.
    pub hip_frames: usize,
    /// The part of a leg's length that it may be stretched to, unless its clip stretches it as far; nearer to 1 the knee
    /// snaps, for it turns without bound as the leg straightens.
    pub reach: f32,
}

impl Default for FootLockOptions {
    fn default() -> Self {
        Self {
            contact: None,
            blend_frames: 4,
            hip_frames: 12,
            reach: 0.97,
        }
    }
}

/// The motion whose feet are locked.
#[derive(Clone, Copy)]
pub struct FootMotion<'a> {
    /// Frames a second.
    pub fps: f32,
    /// Rigid and upright, one a frame: where the character goes. The clip's plane is y = 0 of the model.
    pub world_from_model: &'a [Affine],
    /// For a clip that loops, the rigid way of one round: its frame 0 comes again a frame after the last, placed at
    /// `round * world_from_model[0]`. Feet that stand then stand over the seam, and what was a loop stays one, on ground that
    /// repeats itself along that way. `None` for a clip that ends.
    pub round: Option<Affine>,
    /// The ground above or below a point, world space, m; `None` where there is none: the clip's plane.
    pub ground: &'a dyn Fn(Vec3) -> Option<Ground>,
}

impl fmt::Debug for FootMotion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FootMotion")
            .field("fps", &self.fps)
            .field("world_from_model", &self.world_from_model)
            .field("round", &self.round)
            .finish_non_exhaustive()
    }
}

/// What was locked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FootLockReport {
    /// For each foot, the frames in which it stands and on which point; of a loop those that begin in it, which may end
    /// beyond the last frame.
    pub plants: Vec<Vec<Plant>>,
    /// The farthest that a standing point is from where it should stand, m: 0 but for rounding where legs reach.
    pub slide: f32,
    /// How far the hips came down at most, m, below the clip's.
    pub drop: f32,
}

impl FootPlant {
    /// Locks the feet of a clip in place.
    ///
    /// * `poses`: one a frame, changed. * `motion`: as many frames.
    ///
    /// Three passes over the frames, each of a forward pass or two and a two-bone solve a foot. Feet that never stand are left
    /// to the hips. The same input gives the same bits.
    ///
    /// # Panics
    ///
    /// If there is not one `world_from_model` a pose, or a pose belongs to another skeleton.
    pub fn lock(
        &self,
        skeleton: &Skeleton,
        motion: &FootMotion<'_>,
        options: &FootLockOptions,
        poses: &mut [Pose],
    ) -> FootLockReport {
        assert_eq!(
            poses.len(),
            motion.world_from_model.len(),
            "a placement a pose"
        );
        if poses.is_empty() {
            return FootLockReport {
                plants: vec![Vec::new(); self.feet.len()],
                ..FootLockReport::default()
            };
        }
        let rounds = Rounds::new(motion, options);
        let placements = rounds.placements(motion);
        let long = FootMotion {
            world_from_model: &placements,
            ..*motion
        };
        let mut globals = Globals::new(skeleton);
        let mut tracks: Vec<Track> = Vec::with_capacity(self.feet.len());
        for foot in &self.feet {
            let heel = foot.heel(skeleton, &mut globals);
            let mut track = Track::default();
            for (pose, world_from_model) in poses.iter().cycle().zip(&placements) {
                skeleton.globals(pose, &mut globals);
                track.push(foot, heel, world_from_model, &globals);
            }
            let length = track.leg_length();
            let stands = |points: &[Vec3]| {
                let floor = points
                    .iter()
                    .map(|point| point.y)
                    .fold(f32::INFINITY, f32::min);
                let of_clip = || ContactOptions::of_clip(points, motion.fps, length);
                let contact = options.contact.unwrap_or_else(of_clip);
                contacts(points, motion.fps, floor, &contact)
            };
            let (heel, ball) = (stands(&track.heel), stands(&track.ball));
            track.plan(&heel, &ball, &long, options.blend_frames);
            tracks.push(track);
        }
        let rises = hip_rises(&tracks, &long, options);
        let own = rounds.own();
        let mut report = FootLockReport {
            drop: rises[own.clone()]
                .iter()
                .fold(0.0, |drop, rise| drop.max(-rise)),
            ..FootLockReport::default()
        };
        for (frame, pose) in own.clone().zip(poses.iter_mut()) {
            let world_from_model = &placements[frame];
            skeleton.globals(pose, &mut globals);
            self.lower_hips(skeleton, rises[frame], pose, &mut globals);
            for (foot, track) in self.feet.iter().zip(&tracks) {
                let left = track.solve(foot, skeleton, world_from_model, frame, pose, &mut globals);
                report.slide = report.slide.max(left);
            }
        }
        let of_own = |track: Track| {
            let plants = track.plants.into_iter();
            plants.filter_map(|plant| plant.of_round(&own)).collect()
        };
        report.plants = tracks.into_iter().map(of_own).collect();
        report
    }
}

/// A loop as a long clip: what is done in one round knows of those before and after.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    frames: usize,
    /// Rounds before the own one, and as many after.
    around: usize,
}

impl Rounds {
    fn new(motion: &FootMotion<'_>, options: &FootLockOptions) -> Self {
        let frames = motion.world_from_model.len();
        // As far as hips and blends look, and a step more that the plants there are whole.
        let far = 2 * (options.hip_frames + options.blend_frames);
        Self {
            frames,
            around: motion.round.map_or(0, |_| 1 + far / frames),
        }
    }

    /// Where the character is in all of them.
    fn placements(&self, motion: &FootMotion<'_>) -> Vec<Affine> {
        let own = || motion.world_from_model.iter().copied();
        let Some((round, back)) = motion
            .round
            .and_then(|round| Some((round, round.inverse()?)))
        else {
            return own()
                .cycle()
                .take(self.frames * (2 * self.around + 1))
                .collect();
        };
        let mut start = (0..self.around).fold(Affine::IDENTITY, |start, _| start * back);
        let mut all = Vec::with_capacity(self.frames * (2 * self.around + 1));
        for n in 0..=2 * self.around {
            // Its own round keeps its bits.
            if n == self.around {
                start = Affine::IDENTITY;
            }
            all.extend(own().map(|place| start * place));
            start = start * round;
        }
        all
    }

    /// The frames of the own round.
    fn own(&self) -> Range<usize> {
        let start = self.around * self.frames;
        start..start + self.frames
    }
}

impl Foot {
    /// A point on the sole below the ankle at rest, in the ankle's frame; the ankle itself if it does not stand over y = 0.
    fn heel(&self, skeleton: &Skeleton, globals: &mut Globals) -> Vec3 {
        skeleton.globals(skeleton.rest(), globals);
        let at = |joint: JointId| globals.get(joint).translation;
        let (ankle, knee) = (at(self.ankle), at(self.leg.mid));
        let is_over_floor = ankle.y > 0.0 && ankle.y < 0.5 * (knee - ankle).norm();
        let back = globals.get(self.ankle).inverse();
        match back.filter(|_| is_over_floor && self.toes.is_some()) {
            Some(back) => back.transform_point(Vec3::new(ankle.x, 0.0, ankle.z)),
            None => Vec3::zeros(),
        }
    }
}

/// How much of what the clip stretches a leg beyond reach is lost for what it would be stretched further, m/m.
const YIELD: f32 = 8.0;

/// A swinging leg is folded to no less than this part of its length, a bend of 145 degrees, unless its clip does.
const FOLDED: f32 = 0.3;

/// How far the hips go up in each frame, m.
fn hip_rises(tracks: &[Track], motion: &FootMotion<'_>, options: &FootLockOptions) -> Vec<f32> {
    let frames = motion.world_from_model.len();
    // The lowest ground that anything stands on.
    let wanted: Vec<Option<f32>> = (0..frames)
        .map(|frame| {
            let standing = tracks.iter().filter(|track| track.stands(frame));
            standing.map(|track| track.rise[frame]).reduce(f32::min)
        })
        .collect();
    let mut rises = smoothed(&wanted, options.hip_frames);
    // Where a leg is too short for that, the hips come down around that frame, so that they do not jerk.
    let missing: Vec<f32> = (0..frames)
        .map(|frame| {
            let most = tracks
                .iter()
                .filter_map(|track| track.most_rise(frame, options.reach, rises[frame]));
            let most = most.fold(f32::INFINITY, f32::min);
            (rises[frame] - most).max(0.0)
        })
        .collect();
    let reach = options.hip_frames + 1;
    for (frame, rise) in rises.iter_mut().enumerate() {
        let window = window(frame, reach, frames);
        let down = window.map(|at| missing[at] * bell(at.abs_diff(frame), reach));
        *rise -= down.fold(0.0, f32::max);
    }
    rises
}

/// The weighted mean over what is known near each frame; the nearest known one where nothing is, 0 if nothing is at all.
fn smoothed(values: &[Option<f32>], reach: usize) -> Vec<f32> {
    let frames = values.len();
    let mean = |frame: usize| {
        let mut reach = reach + 1;
        while reach < 2 * frames {
            let (mut sum, mut weights) = (0.0, 0.0);
            for at in window(frame, reach, frames) {
                if let Some(value) = values[at] {
                    let weight = bell(at.abs_diff(frame), reach);
                    sum += weight * value;
                    weights += weight;
                }
            }
            if weights > 0.0 {
                return sum / weights;
            }
            reach *= 2;
        }
        0.0
    };
    (0..frames).map(mean).collect()
}

fn window(frame: usize, reach: usize, frames: usize) -> Range<usize> {
    frame.saturating_sub(reach)..(frame + reach + 1).min(frames)
}

/// 1 at 0, 0 at `reach`, level at both.
fn bell(distance: usize, reach: usize) -> f32 {
    1.0 - smoothstep(distance as f32 / reach as f32)
}

/// 0 below 0, 1 above 1, 3x² − 2x³ between.
pub(crate) fn smoothstep(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

impl Track {
    /// Brings the foot of one frame to where it should be; how far off a standing point is left, m.
    fn solve(
        &self,
        foot: &Foot,
        skeleton: &Skeleton,
        world_from_model: &Affine,
        frame: usize,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> f32 {
        let Some((ankle, slope)) = self.wanted(frame) else {
            return 0.0;
        };
        let Some(model_from_world) = world_from_model.inverse() else {
            return 0.0;
        };
        let turn = model_from_world.to_transform().rotation;
        let rotation: Quat = turn * slope * self.rotation[frame];
        let hip = globals.get(foot.leg.root).translation;
        let mut way = model_from_world.transform_point(ankle) - hip;
        if !self.stands(frame) {
            // Lifted over an edge, a foot must not fold its leg flat.
            let drawn = (self.ankle[frame] - self.hip[frame]).norm();
            let near = drawn.min(FOLDED * self.length(frame));
            way *= (near / way.norm().max(f32::MIN_POSITIVE)).max(1.0);
        }
        let goal = TwoBoneGoal {
            rotation: Some(rotation),
            ..TwoBoneGoal::new(hip + way)
        };
        let outcome = foot.leg.solve(skeleton, &goal, pose, globals);
        if self.stands(frame) {
            outcome.residual
        } else {
            0.0
        }
    }

    /// Of thigh and shin together, m.
    fn length(&self, frame: usize) -> f32 {
        let [hip, knee, ankle] = [self.hip[frame], self.knee[frame], self.ankle[frame]];
        (knee - hip).norm() + (ankle - knee).norm()
    }

    /// How far the hips may rise, m, for the leg to reach; `None` where the foot is left to them.
    ///
    /// The clip may stretch the leg beyond `reach`, but the more that `rise`, m, would stretch it beyond the clip, the less of
    /// that is granted: one straight frame at the end of a stance would let the knee snap open.
    fn most_rise(&self, frame: usize, reach: f32, rise: f32) -> Option<f32> {
        let (ankle, _) = self.wanted(frame)?;
        let (hip, source) = (self.hip[frame], self.ankle[frame]);
        let most = reach * self.length(frame);
        let (drawn, way) = ((source - hip).norm(), ankle - hip);
        let beyond = ((way - Vec3::y() * rise).norm() - drawn).max(0.0);
        let length = most.max(drawn - YIELD * beyond);
        let level_squared = way.x * way.x + way.z * way.z;
        Some(way.y + (length * length - level_squared).max(0.0).sqrt())
    }
}

/// The turn from level to the ground.
pub(crate) fn slope(normal: Vec3) -> Quat {
    quat::between(Vec3::y(), normal)
}
