//! When a foot bears: the frames in which a point stays low and slow.
//!
//! A captured or hand-made clip does not say when its feet stand, and they never stand quite still. A contact begins where
//! the point is both low and slow and ends where it is clearly neither, so that noise about one threshold does not tear it
//! apart; what lasts only a few frames is a brush, not a step. Made for whole clips: it looks one frame ahead.
//!
//! What is low and slow depends on the clip: feet of a good capture stand still, those of a creature drawn by hand may drift by
//! a leg's length a second while they bear. [`ContactOptions::of_clip`] reads it off the clip.
//!
//! ```
//! use anim_ik::{ContactOptions, contacts};
//! use anim_math::Vec3;
//!
//! // Ten frames on the floor, ten in the air, ten on the floor again, 0.6 m ahead.
//! let point = |frame: u32| match frame {
//!     0..10 => Vec3::zeros(),
//!     10..20 => Vec3::new(0.0, 0.15, 0.06 * (frame - 9) as f32),
//!     _ => Vec3::new(0.0, 0.0, 0.66),
//! };
//! let points: Vec<Vec3> = (0..30).map(point).collect();
//! let found = contacts(&points, 30.0, 0.0, &ContactOptions::for_leg(0.9));
//! assert_eq!(found, [0..9, 21..30]);
//! ```

use std::ops::Range;

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

/// What counts as standing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactOptions {
    /// A contact begins below this height over the floor, m.
    pub height: f32,
    /// And below this speed, m/s.
    pub speed: f32,
    /// It ends above this many times either, 1 or more.
    pub release: f32,
    /// What lasts fewer frames is none.
    pub least_frames: usize,
    /// Contacts fewer frames apart than this are one.
    pub bridge: usize,
}

impl ContactOptions {
    /// For a foot that goes as `points` do, on a leg of `length`, m.
    ///
    /// A foot that walks or runs stands in three frames of ten at least. So what it does in the lowest and in the slowest three
    /// of ten is how high and how fast it is where it stands, and twice as much still counts. Neither is less than
    /// [`for_leg`](Self::for_leg) has it, which feet that stand still then get, nor more than twice that, where no foot stands.
    ///
    /// * `points`: one a frame, in the world or any other space in which standing feet are slow, m, +Y up; those that are
    ///   not finite do not count. * `fps`: frames a second.
    ///
    /// O(frames · log frames).
    pub fn of_clip(points: &[Vec3], fps: f32, length: f32) -> Self {
        let usual = Self::for_leg(length);
        let is_finite = |point: &&Vec3| point.iter().all(|v| v.is_finite());
        let heights: Vec<f32> = points
            .iter()
            .filter(is_finite)
            .map(|point| point.y)
            .collect();
        let speeds = (0..points.len()).map(|frame| speed(points, fps, frame));
        let speeds: Vec<f32> = speeds.filter(|speed| speed.is_finite()).collect();
        let lowest = heights.iter().copied().fold(f32::INFINITY, f32::min);
        let near = |usual: f32, own: Option<f32>| {
            let own = own.map_or(usual, |own| 2.0 * own);
            own.max(usual).min(2.0 * usual)
        };
        Self {
            height: near(usual.height, low(heights).map(|low| low - lowest)),
            speed: near(usual.speed, low(speeds)),
            ..usual
        }
    }

    /// For a leg of `length`, m: 4 % of it high, half of it a second, released at half as much again, five frames.
    pub fn for_leg(length: f32) -> Self {
        Self {
            height: 0.04 * length,
            speed: 0.5 * length,
            release: 1.5,
            least_frames: 5,
            bridge: 2,
        }
    }
}

/// The frames in which a point stands, in order.
///
/// * `points`: one a frame, world space, m, +Y up. * `fps`: frames a second. * `floor`: the height of the point where it
///   stands, m.
///
/// Points that are not finite do not stand. O(frames).
pub fn contacts(
    points: &[Vec3],
    fps: f32,
    floor: f32,
    options: &ContactOptions,
) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut since = None;
    for frame in 0..=points.len() {
        let slack = if since.is_some() {
            options.release
        } else {
            1.0
        };
        let stands = frame < points.len() && {
            let height = points[frame].y - floor;
            height <= slack * options.height && speed(points, fps, frame) <= slack * options.speed
        };
        match since {
            None if stands => since = Some(frame),
            Some(first) if !stands => {
                match found.last_mut() {
                    Some(last) if first - last.end < options.bridge => last.end = frame,
                    _ => found.push(first..frame),
                }
                since = None;
            }
            _ => {}
        }
    }
    found.retain(|contact| contact.len() >= options.least_frames.max(1));
    found
}

/// What three of ten values are not above; `None` of none.
fn low(mut values: Vec<f32>) -> Option<f32> {
    let last = values.len().checked_sub(1)?;
    values.sort_by(f32::total_cmp);
    Some(values[last * 3 / 10])
}

/// By central differences, m/s.
fn speed(points: &[Vec3], fps: f32, frame: usize) -> f32 {
    let (before, after) = (frame.saturating_sub(1), (frame + 1).min(points.len() - 1));
    let frames = (after - before).max(1) as f32;
    if !points[frame].iter().all(|v| v.is_finite()) {
        return f32::INFINITY;
    }
    (points[after] - points[before]).norm() * fps / frames
}

#[cfg(test)]
mod tests {
    use super::*;

    const FPS: f32 = 30.0;

    fn options() -> ContactOptions {
        ContactOptions {
            height: 0.03,
            speed: 0.3,
            ..ContactOptions::for_leg(1.0)
        }
    }

    fn at_heights(heights: &[f32]) -> Vec<Vec3> {
        heights.iter().map(|y| Vec3::new(0.0, *y, 0.0)).collect()
    }

    #[test]
    fn noise_about_the_threshold_does_not_tear_a_contact() {
        // 0.02 to 0.04 m: across the height of entry, below that of release; 0.3 m/s at 30 Hz is 0.02 m in two frames.
        let heights: Vec<f32> = (0..30).map(|n| 0.03 + 0.01 * (n % 2) as f32).collect();
        let found = contacts(&at_heights(&heights), FPS, 0.005, &options());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0], 0..30);
    }

    #[test]
    fn a_brush_of_four_frames_is_none_and_five_are_one() {
        for (frames, expected) in [(4, 0), (5, 1)] {
            let mut heights = vec![0.5; 40];
            // A frame more on either side, for its speed is that of leaving.
            heights[10..12 + frames].fill(0.0);
            let found = contacts(&at_heights(&heights), FPS, 0.0, &options());
            assert_eq!(found.len(), expected, "{found:?}");
        }
    }

    #[test]
    fn a_foot_that_slides_over_the_floor_does_not_stand() {
        let points: Vec<Vec3> = (0..30)
            .map(|n| Vec3::new(0.0, 0.0, 0.05 * n as f32))
            .collect();
        assert!(contacts(&points, FPS, 0.0, &options()).is_empty());
    }

    /// Ten frames at `drift` m/s, ten that make 1 m and `lift` m high, four times.
    fn steps(drift: f32, lift: f32) -> Vec<Vec3> {
        let mut at = 0.0;
        let point = |frame: i32| {
            let swing = frame % 20 >= 10;
            at += if swing { 0.1 } else { drift / FPS };
            Vec3::new(0.0, if swing { lift } else { 0.0 }, at)
        };
        (0..80).map(point).collect()
    }

    #[test]
    fn thresholds_of_a_clip_follow_how_its_foot_stands_within_bounds() {
        let usual = ContactOptions::for_leg(1.0);
        let of_clip = |points: &[Vec3]| ContactOptions::of_clip(points, FPS, 1.0);
        // Who stands still, or never moves, gets what is usual.
        assert_eq!(of_clip(&steps(0.0, 0.3)), usual);
        assert_eq!(of_clip(&[Vec3::zeros(); 30]), usual);
        let drifting = of_clip(&steps(0.4, 0.3));
        assert!((drifting.speed - 0.8).abs() < 1e-3, "{drifting:?}");
        assert_eq!(drifting.height, usual.height);
        // Two frames on the floor, eighteen 3 cm above it, then up.
        let heights: Vec<f32> = [[0.0; 2].as_slice(), &[0.03; 18], &[0.3; 20]].concat();
        let height = of_clip(&at_heights(&heights)).height;
        assert!((height - 0.06).abs() < 1e-6, "{height}");
        // What never stands counts for no more than twice the usual.
        assert_eq!(of_clip(&steps(3.0, 0.3)).speed, 2.0 * usual.speed);
        assert_eq!(of_clip(&[]), usual);
        assert_eq!(of_clip(&[Vec3::repeat(f32::NAN); 9]), usual);
    }

    #[test]
    fn feet_that_drift_while_they_stand_are_found_by_the_thresholds_of_their_clip() {
        let points = steps(0.8, 0.3);
        assert!(contacts(&points, FPS, 0.0, &ContactOptions::for_leg(1.0)).is_empty());
        let own = ContactOptions::of_clip(&points, FPS, 1.0);
        assert_eq!(contacts(&points, FPS, 0.0, &own).len(), 4);
    }

    #[test]
    fn what_is_not_finite_does_not_stand() {
        let mut points = vec![Vec3::zeros(); 30];
        points[14].x = f32::NAN;
        let found = contacts(&points, FPS, 0.0, &options());
        assert!(
            found.iter().all(|contact| !contact.contains(&14)),
            "{found:?}"
        );
        assert!(contacts(&[], FPS, 0.0, &options()).is_empty());
    }
}
