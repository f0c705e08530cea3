//! What a clip does, joint by joint, at uniform times: what is to be written.

use anim_curves::wavelet::Row;
use anim_math::nalgebra::Vector4;

use super::layout::PARTS;
use super::rotation::continuous;
use crate::bake::{Source, part_of, value_at};
use crate::clip::{Part, StepTrack};
use crate::{JointId, Pose};

/// What a part of a joint does; a rotation is xyzw, a vector leaves the fourth number alone.
#[derive(Clone, Debug)]
pub(crate) enum Curve {
    /// Stays as the skeleton has it.
    Rest,
    /// Stays at a value.
    Constant(Row),
    /// One value a sample; rotations keep to one hemisphere.
    Moving(Vec<Row>),
    /// Jumps at its own times.
    Steps(StepTrack),
}

/// A clip sampled from its exact curves.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    /// Seconds.
    pub(crate) duration: f32,
    pub(crate) samples: usize,
    /// For each joint, breadth-first, its [`PARTS`].
    pub(crate) joints: Vec<[Curve; 3]>,
}

impl Motion {
    /// Takes `samples` samples of the curves.
    ///
    /// What stays within `stray`, model space, of the rest pose rests. `reach`: for each joint the distance to the
    /// farthest point that turns with it.
    pub(crate) fn new(source: &Source<'_>, samples: usize, reach: &[f32], stray: f32) -> Self {
        let rest = source.skeleton.rest();
        let still = |joint: JointId| {
            PARTS.map(|part| {
                let (here, there) = (value(&source.base, joint, part), value(rest, joint, part));
                let off = distance(part, here, there, reach[joint.index()]);
                if off <= stray {
                    Curve::Rest
                } else {
                    Curve::Constant(here)
                }
            })
        };
        let mut joints: Vec<_> = source.skeleton.joints().map(still).collect();
        let mut put = |joint: JointId, part, curve| joints[joint.index()][part as usize] = curve;
        for (joint, track) in source.rotations.iter().chain(&source.vectors) {
            let times = (0..samples).map(|sample| time_of(sample, samples, source.duration));
            let mut rows: Vec<Row> = times.map(|time| value_at(track, time)).collect();
            if part_of(track) == Part::Rotation {
                continuous(&mut rows);
            }
            put(*joint, part_of(track), Curve::Moving(rows));
        }
        for steps in &source.steps {
            put(steps.joint, steps.part, Curve::Steps(steps.clone()));
        }
        Self {
            duration: source.duration,
            samples,
            joints,
        }
    }
}

/// The time of a sample, s.
pub(crate) fn time_of(sample: usize, samples: usize, duration: f32) -> f32 {
    (f64::from(duration) * sample as f64 / (samples - 1).max(1) as f64) as f32
}

fn value(pose: &Pose, joint: JointId, part: Part) -> Row {
    match part {
        Part::Translation => pose.translation(joint).push(0.0).into(),
        Part::Rotation => pose.rotation(joint).coords.into(),
        Part::Scale => pose.scale(joint).push(0.0).into(),
    }
}

/// How far apart two values of a part put a point at `reach` from the joint.
fn distance(part: Part, a: Row, b: Row, reach: f32) -> f32 {
    let (a, b) = (Vector4::from(a), Vector4::from(b));
    match part {
        Part::Translation => (a - b).norm(),
        Part::Rotation => 2.0 * reach * (a - b).norm().min((a + b).norm()),
        Part::Scale => reach * (a - b).norm(),
    }
}
