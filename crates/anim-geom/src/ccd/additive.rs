//! Additive continuous collision detection: steps by what the distance allows until little of it is left.

use nalgebra::Vector3;

use super::Features;

/// The share of the first distance that a step which is cut may leave.
const REST: f64 = 0.1;
/// The share below which two that come near each other count as meeting.
const MET: f64 = 1e-3;
/// The share of the distance that is taken in one step.
const STRIDE: f64 = 0.9;
/// The share of a first distance below the separation that is kept.
const HELD: f64 = 0.999;
/// Steps; what needs more is grazing and is stopped where it is.
const MAX_STEPS: u32 = 256;

/// See [`Features::time_of_impact`].
pub(super) fn time_of_impact(
    features: Features,
    start: &[Vector3<f64>; 4],
    end: &[Vector3<f64>; 4],
    separation: f64,
) -> Option<f32> {
    let mut paths: [Vector3<f64>; 4] = std::array::from_fn(|i| end[i] - start[i]);
    let mean = (paths[0] + paths[1] + paths[2] + paths[3]) * 0.25;
    if !mean.iter().all(|c| c.is_finite()) {
        return Some(0.0);
    }
    for path in &mut paths {
        *path -= mean;
    }
    let longest = |paths: &[Vector3<f64>]| paths.iter().map(|p| p.norm()).fold(0.0, f64::max);
    let (first, second) = paths.split_at(features.split());
    let speed = longest(first) + longest(second);
    // Differences of what moves together are rounding.
    if speed <= 1e-12 * longest(&[mean]) {
        return None;
    }
    let way = |time: f64| {
        let points: [Vector3<f64>; 4] = std::array::from_fn(|i| start[i] + paths[i] * time);
        let weights = features.exact_weights(&points);
        (0..4)
            .fold(Vector3::zeros(), |sum, i| sum + points[i] * weights[i])
            .norm()
    };
    let began = way(0.0);
    let separation = if began > separation {
        separation.max(0.0)
    } else {
        HELD * began
    };
    let allowed = began - separation;
    if allowed <= 1e-12 {
        return Some(0.0);
    }
    let (mut time, mut left) = (0.0, allowed);
    let mut cut = None;
    for _ in 0..MAX_STEPS {
        let next = time + STRIDE * left / speed;
        if next >= 1.0 {
            return None;
        }
        let distance = way(next) - separation;
        if distance < REST * allowed && cut.is_none() {
            // What rounding has taken from the last bit of the way counts as met.
            cut = Some(if distance > 0.0 { next } else { time });
        }
        if distance < MET * allowed {
            break;
        }
        (time, left) = (next, distance);
    }
    Some(round_down(cut.unwrap_or(time)))
}

/// The largest f32 that is surely no later.
fn round_down(time: f64) -> f32 {
    (time as f32) * (1.0 - f32::EPSILON)
}
