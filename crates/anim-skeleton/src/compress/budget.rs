//! How coarsely each joint may be quantised: as coarsely as keeps every joint within the tolerance.
//!
//! A joint's rounding moves everything below it. Each joint starts with a part of the tolerance; then the clip is written,
//! read back and measured, and every joint whose descendants all stay below the tolerance gets more, every joint above
//! one that exceeds it less, until nearly every joint has a descendant at the tolerance. The best clip of all rounds wins.

use anim_curves::range_coder::Models;

use super::layout::{EXPONENTS, exponent_of};
use super::motion::{Curve, Motion};
use super::read::Head;
use super::write::write;
use crate::bake::Source;
use crate::object_error::{Deviation, ObjectError};
use crate::{Clip, Pose, Skeleton, SkeletonError};

/// Rounds in which joints trade.
const ROUNDS: usize = 24;
/// Rounds in which all become finer, if none of those was within the tolerance.
const MORE_ROUNDS: usize = 24;
/// What each of those leaves of the budgets.
const ALL_FINER: f64 = 0.7;
/// The power of the factor that would meet the target, taken in the first round and less and less after it.
const FIRST_EAGERNESS: f64 = 0.7;
/// What joints aim at after a round within the tolerance, times what they aimed at before.
const RAISE: f64 = 1.01;
/// And after one that was not: the largest of thousands of errors is above most joints' aim.
const LOWER: f64 = 0.985;

/// A clip written and read back.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) bytes: Vec<u8>,
    pub(crate) clip: Clip,
    pub(crate) error: Deviation,
}

/// The smallest file within `tolerance`; if none is, the most exact one.
pub(crate) fn search(
    source: &Source<'_>,
    motion: &Motion,
    head: &[u8],
    (tolerance, shell): (f32, f32),
    reach: &[f32],
) -> Result<Attempt, SkeletonError> {
    let models = Models::new();
    let mut gauge = Gauge::new(source, motion.samples, shell);
    let mut budgets = vec![f64::from(tolerance) * 0.5; reach.len()];
    let mut target = f64::from(tolerance);
    let mut best: Option<Attempt> = None;
    for round in 0..ROUNDS + MORE_ROUNDS {
        let is_found = best.as_ref().is_some_and(|best| best.is_within(tolerance));
        if round >= ROUNDS && is_found {
            break;
        }
        let bytes = write(head, motion, &exponents(motion, &budgets, reach), &models);
        let clip = Head::read(&bytes, &models)?.clip(source.skeleton.rest())?;
        let error = gauge.measure(&clip);
        let attempt = Attempt { bytes, clip, error };
        let eagerness = FIRST_EAGERNESS / (1.0 + 0.2 * round as f64);
        target *= if attempt.is_within(tolerance) {
            RAISE
        } else {
            LOWER
        };
        if best
            .as_ref()
            .is_none_or(|best| attempt.is_better(best, tolerance))
        {
            best = Some(attempt);
        }
        for (budget, below) in budgets.iter_mut().zip(gauge.below()) {
            let factor = if round < ROUNDS {
                (target / f64::from(below)).powf(eagerness).clamp(0.5, 1.5)
            } else {
                ALL_FINER
            };
            *budget = (*budget * factor).min(8.0 * f64::from(tolerance));
        }
    }
    best.ok_or(SkeletonError::BrokenClip { what: "stream" })
}

impl Attempt {
    fn is_within(&self, tolerance: f32) -> bool {
        self.error.distance <= tolerance
    }

    /// Smaller, or if not within the tolerance, more exact.
    fn is_better(&self, other: &Self, tolerance: f32) -> bool {
        match (self.is_within(tolerance), other.is_within(tolerance)) {
            (true, true) => self.bytes.len() < other.bytes.len(),
            (false, false) => self.error.distance < other.error.distance,
            (is_within, _) => is_within,
        }
    }
}

/// The steps that keep to each joint's budget, a distance.
fn exponents(motion: &Motion, budgets: &[f64], reach: &[f32]) -> Vec<[i32; 3]> {
    let joints = motion.joints.iter().zip(budgets).zip(reach);
    let exponents = joints.map(|((curves, budget), reach)| {
        let reach = f64::from(*reach).max(1e-9);
        // Half the angle is what an imaginary number of a quaternion moves by.
        let steps = [*budget, budget / (2.0 * reach), budget / reach];
        let mut steps = steps.into_iter().zip(curves);
        [(); 3].map(|()| match steps.next() {
            Some((step, curve)) => exponent_of(step.max(finest(curve))),
            None => *EXPONENTS.end(),
        })
    });
    exponents.collect()
}

/// Below this a step is lost in the rounding of the numbers themselves.
fn finest(curve: &Curve) -> f64 {
    let largest = match curve {
        Curve::Moving(rows) => rows
            .as_flattened()
            .iter()
            .fold(0.0, |a: f32, b| a.max(b.abs())),
        Curve::Constant(row) => row.iter().fold(0.0, |a: f32, b| a.max(b.abs())),
        Curve::Rest | Curve::Steps(_) => 0.0,
    };
    f64::from(largest) / f64::from(1 << 21)
}

/// Measures one clip after another against the same exact poses.
struct Gauge<'a> {
    skeleton: &'a Skeleton,
    shell: f32,
    exact: Vec<(f32, Pose)>,
    pose: Pose,
    /// For each joint the largest error.
    errors: Vec<f32>,
}

impl<'a> Gauge<'a> {
    fn new(source: &Source<'a>, samples: usize, shell: f32) -> Self {
        let pose = source.skeleton.rest().clone();
        let exact = source.check_times(samples - 1).map(|time| {
            let mut exact = pose.clone();
            source.exact_pose(time, &mut exact);
            (time, exact)
        });
        Self {
            skeleton: source.skeleton,
            shell,
            exact: exact.collect(),
            errors: vec![0.0; pose.len()],
            pose,
        }
    }

    fn measure(&mut self, clip: &Clip) -> Deviation {
        let mut error = ObjectError::new(self.skeleton, self.shell);
        self.errors.fill(0.0);
        for (time, exact) in &self.exact {
            clip.sample(*time, &mut self.pose);
            error.add(*time, exact, &self.pose);
            for (most, distance) in self.errors.iter_mut().zip(error.distances()) {
                *most = most.max(distance);
            }
        }
        error.worst()
    }

    /// For each joint the largest error at it or below it, found by the last measurement.
    fn below(&mut self) -> impl Iterator<Item = f32> {
        for joint in self.skeleton.joints().rev() {
            if let Some(parent) = self.skeleton.parent(joint) {
                let error = self.errors[joint.index()];
                let above = &mut self.errors[parent.index()];
                *above = above.max(error);
            }
        }
        self.errors.iter().map(|error| error.max(1e-12))
    }
}
