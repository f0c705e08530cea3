//! What a clip does, frame by frame, as its character sees it: the raw features, in natural units.

use anim_math::{Affine, Vec3};
use anim_skeleton::{Clip, Globals, JointId, Pose, Skeleton};

use super::MatchingError;
use super::features::{FeatureKind, Layout};
use super::ground::{Ground, smooth, wrap_angle};
use super::spec::ClipEnds;

/// A root that leans over so far that less than this part of its forward axis is level keeps its heading.
const LEVEL: f64 = 0.1;

/// What is needed of a skeleton to read motions.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    skeleton: &'a Skeleton,
    root: JointId,
    /// The direction that the character faces, in the root's own axes.
    root_forward: Vec3,
    /// The greatest distance of a joint from the root at rest.
    pub(crate) reach: f64,
    pose: Pose,
    globals: Globals,
}

/// The frames of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frames {
    pub(crate) count: usize,
    /// Seconds between frames.
    pub(crate) step: f64,
    /// If so, frame `count` is frame 0 a turn later.
    pub(crate) loops: bool,
}

impl Frames {
    /// The frames of `clip` at about `rate` a second: of a loop as many as come out even, at least one.
    pub(crate) fn of(clip: &Clip, rate: f32, looping: bool) -> Self {
        let length = f64::from(clip.duration()) * f64::from(rate);
        let count = if looping {
            libm::round(length).max(1.0)
        } else {
            libm::floor(length + 1e-3) + 1.0
        };
        let step = if looping && length >= 1.0 {
            f64::from(clip.duration()) / count
        } else {
            1.0 / f64::from(rate)
        };
        Self {
            count: count as usize,
            step,
            loops: looping,
        }
    }
}

/// A clip as sampled: where its character and joints are at each frame, model space.
#[derive(Debug)]
pub(crate) struct Motion {
    frames: Frames,
    /// `count` of them, and of a loop one more.
    samples: Vec<Ground>,
    /// For each sample the joints of the layout, in order.
    joints: Vec<[f64; 3]>,
    joint_count: usize,
    /// Frames before and after the clip in `smoothed`.
    pad: usize,
    smoothed: Vec<Ground>,
}

impl<'a> Reader<'a> {
    /// # Errors
    ///
    /// [`MatchingError::NoHeading`].
    pub(crate) fn new(
        skeleton: &'a Skeleton,
        root: JointId,
        forward: Vec3,
    ) -> Result<Self, MatchingError> {
        let mut globals = Globals::new(skeleton);
        skeleton.globals(skeleton.rest(), &mut globals);
        let rest = globals.get(root);
        let root_forward = rest
            .inverse()
            .filter(|_| forward.x != 0.0 || forward.z != 0.0)
            .map(|root_from_model| root_from_model.transform_vector(forward))
            .filter(|direction| direction.norm().is_finite() && direction.norm() > 0.0)
            .ok_or_else(|| MatchingError::NoHeading {
                name: skeleton.name(root).unwrap_or_default().to_owned(),
            })?;
        let away = |joint| f64::from((globals.get(joint).translation - rest.translation).norm());
        Ok(Self {
            skeleton,
            root,
            root_forward,
            reach: skeleton.joints().map(away).fold(0.0, f64::max),
            pose: skeleton.rest().clone(),
            globals,
        })
    }

    /// Samples `clip`.
    pub(crate) fn read(
        &mut self,
        clip: &Clip,
        frames: Frames,
        layout: &Layout,
        smoothing: f32,
    ) -> Motion {
        let count = frames.count + usize::from(frames.loops);
        let mut samples = Vec::with_capacity(count);
        let mut joints = Vec::with_capacity(count * layout.joints.len());
        let mut heading = 0.0;
        for frame in 0..count {
            clip.sample((frame as f64 * frames.step) as f32, &mut self.pose);
            self.skeleton.globals(&self.pose, &mut self.globals);
            let root = self.globals.get(self.root);
            heading = turned(heading, &root, self.root_forward);
            samples.push(Ground {
                x: f64::from(root.translation.x),
                z: f64::from(root.translation.z),
                heading,
            });
            joints.extend(layout.joints.iter().map(|joint| {
                let place = self.globals.get(*joint).translation;
                [place.x, place.y, place.z].map(f64::from)
            }));
        }
        let half = libm::round(f64::from(smoothing) / frames.step) as usize;
        let reach = layout
            .times
            .iter()
            .fold(0.0_f32, |far, time| far.max(time.abs()));
        let pad = libm::ceil(f64::from(reach) / frames.step) as usize + 1;
        let mut motion = Motion {
            frames,
            samples,
            joints,
            joint_count: layout.joints.len(),
            pad,
            smoothed: Vec::new(),
        };
        let margin = (pad + half) as i64;
        let extended: Vec<Ground> = (-margin..frames.count as i64 + margin)
            .map(|frame| motion.raw(frame, half.max(1)))
            .collect();
        motion.smoothed = smooth(&extended, half);
        motion
    }
}

impl Motion {
    /// Where the character is at `frame` of the clip.
    pub(crate) fn ground(&self, frame: usize) -> Ground {
        self.smoothed[frame + self.pad]
    }

    /// Appends the values of all features at `frame`, metres, metres a second and unit directions.
    pub(crate) fn features(
        &self,
        frame: usize,
        layout: &Layout,
        ends: ClipEnds,
        out: &mut Vec<f64>,
    ) {
        let here = self.ground(frame);
        for kind in layout.kinds() {
            match kind {
                FeatureKind::TrajectoryPosition => {
                    for time in &layout.times {
                        let there = self.later(frame, *time, ends).seen_from(here);
                        out.extend([there.x, there.z]);
                    }
                }
                FeatureKind::TrajectoryDirection => {
                    for time in &layout.times {
                        let turn = self.later(frame, *time, ends).heading - here.heading;
                        let (sine, cosine) = libm::sincos(turn);
                        out.extend([sine, cosine]);
                    }
                }
                FeatureKind::JointPosition(joint) => {
                    let [x, y, z] = self.joint(frame as i64, layout.place(joint));
                    let [x, z] = here.into_frame([x - here.x, z - here.z]);
                    out.extend([x, y, z]);
                }
                FeatureKind::JointVelocity(joint) => {
                    let [x, y, z] = self.velocity(frame, layout.place(joint));
                    let [x, z] = here.into_frame([x, z]);
                    out.extend([x, y, z]);
                }
            }
        }
    }

    /// Where the character is `time` s after `frame`.
    fn later(&self, frame: usize, time: f32, ends: ClipEnds) -> Ground {
        let mut place = frame as f64 + f64::from(time) / self.frames.step;
        if ends == ClipEnds::Hold && !self.frames.loops {
            place = place.clamp(0.0, (self.frames.count - 1) as f64);
        }
        let below = libm::floor(place);
        let index = (below + self.pad as f64) as usize;
        let from = self.smoothed[index];
        match self.smoothed.get(index + 1) {
            Some(to) => from.lerp(*to, place - below),
            None => from,
        }
    }

    /// Where the character is at any frame, before smoothing; the arc of the last `window` frames goes on beyond an end.
    fn raw(&self, frame: i64, window: usize) -> Ground {
        let last = self.frames.count - 1;
        if self.frames.loops {
            let (turns, inside) = self.turns(frame);
            let start = self.samples[0];
            let turn = self.samples[self.frames.count].seen_from(start);
            let along = self.samples[inside].seen_from(start);
            return start.then(turn.power(turns as f64)).then(along);
        }
        let window = window.min(last);
        let beyond = frame - frame.clamp(0, last as i64);
        if beyond == 0 || window == 0 {
            return self.samples[frame.clamp(0, last as i64) as usize];
        }
        let [from, to, end] = if beyond < 0 {
            [0, window, 0]
        } else {
            [last - window, last, last]
        };
        let arc = self.samples[to].seen_from(self.samples[from]);
        self.samples[end].then(arc.power(beyond as f64 / window as f64))
    }

    /// How often a loop has come round before `frame`, and the frame inside it.
    fn turns(&self, frame: i64) -> (i64, usize) {
        let count = self.frames.count as i64;
        (frame.div_euclid(count), frame.rem_euclid(count) as usize)
    }

    /// Model space; of a loop at any frame.
    fn joint(&self, frame: i64, place: usize) -> [f64; 3] {
        let sample = |sample: usize| self.joints[sample * self.joint_count + place];
        if !self.frames.loops || (0..=self.frames.count as i64).contains(&frame) {
            return sample(frame as usize);
        }
        let (_, inside) = self.turns(frame);
        let [x, y, z] = sample(inside);
        let (from, to) = (self.samples[inside], self.raw(frame, 1));
        let [x, z] = to.out(from.into_frame([x - from.x, z - from.z]));
        [x + to.x, y, z + to.z]
    }

    /// By central differences, one-sided at the ends of a clip that does not loop; 0 in a still.
    fn velocity(&self, frame: usize, place: usize) -> [f64; 3] {
        let last = self.frames.count as i64 - 1;
        let (mut before, mut after) = (frame as i64 - 1, frame as i64 + 1);
        if !self.frames.loops {
            (before, after) = (before.max(0), after.min(last));
        }
        let seconds = (after - before) as f64 * self.frames.step;
        if after == before {
            return [0.0; 3];
        }
        let (from, to) = (self.joint(before, place), self.joint(after, place));
        std::array::from_fn(|axis| (to[axis] - from[axis]) / seconds)
    }
}

/// The heading of `root`, rad, by the short way from the last one.
fn turned(last: f64, root: &Affine, root_forward: Vec3) -> f64 {
    let ahead = root.transform_vector(root_forward).cast::<f64>();
    if libm::hypot(ahead.x, ahead.z) > LEVEL * ahead.norm() {
        last + wrap_angle(libm::atan2(ahead.x, ahead.z) - last)
    } else {
        last
    }
}

#[cfg(test)]
mod tests {
    use anim_math::quat;

    use super::*;

    /// What `turned` says of a root that is pitched and then turned about the vertical.
    fn heading(last: f64, yaw: f32, pitch: f32) -> f64 {
        let rotation =
            quat::from_axis_angle(Vec3::y(), yaw) * quat::from_axis_angle(Vec3::x(), pitch);
        let root = Affine::from(anim_math::Transform::from_rotation(rotation));
        turned(last, &root, Vec3::z())
    }

    #[test]
    fn headings_go_on_by_the_short_way() {
        let mut last = 0.0;
        for step in 1..=20 {
            last = heading(last, 0.5 * step as f32, 0.2);
        }
        assert!((last - 10.0).abs() < 1e-5);
    }

    #[test]
    fn who_lies_on_the_back_keeps_the_heading() {
        let up = -std::f32::consts::FRAC_PI_2;
        assert_eq!(heading(7.0, 1.0, up), 7.0);
        assert!((heading(7.0, 1.0, 0.5 * up) - (1.0 + std::f64::consts::TAU)).abs() < 1e-6);
    }
}
