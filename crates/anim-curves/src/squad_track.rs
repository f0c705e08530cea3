//! A track of rotations by squad: smooth through its keys at uneven times, on the sphere all the way.
//!
//! [`squad::between`] works out inner rotations at every call and is smooth where times are even. A
//! [`SquadTrack`] works them out once, two a key, one for each side, so that both spans leave with the same angular
//! velocity however long they are. A cubic [`Track`] with [`rotation::fill_tangents`] is cheaper than its three slerps a
//! sample, and is what files store; this one turns evenly about a fixed axis however far its keys are apart.
//!
//! ```
//! use anim_curves::{Interpolation, Key, SquadTrack, Track};
//! use anim_math::{Vec3, quat};
//!
//! let keys = [0.0_f32, 1.0, 4.0].map(|time| Key::new(time, quat::from_axis_angle(Vec3::y(), 0.5 * time)));
//! let track = Track::new(keys.to_vec(), Interpolation::Linear)?;
//! let smooth = SquadTrack::new(&track);
//! assert!((quat::log(smooth.sample(3.0)).y - 1.5).abs() < 1e-6); // even turning stays even at uneven times
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use std::f32::consts::PI;

use anim_math::{Quat, Vec3, quat};

use crate::interpolate::fraction;
use crate::{Cursor, Interpolation, Key, Track, rotation, squad, tangents};

/// Rotation keys with the inner rotations of squad.
#[derive(Clone, Debug, PartialEq)]
pub struct SquadTrack {
    times: Vec<f32>,
    values: Vec<Quat>,
    /// On reaching and on leaving each key.
    inner: Vec<[Quat; 2]>,
}

impl SquadTrack {
    /// The squad through the keys of `track`.
    ///
    /// The angular velocity at each key is the track's own if it is cubic, and otherwise that of
    /// [`catmull_rom`](tangents::catmull_rom) for uneven times. With it, ω, and the rotation vectors L₋ and L₊ of the spans h₋
    /// and h₊ before and after a key q, the inner rotations are q exp((L₋ − h₋ω)/2) and q exp((h₊ω − L₊)/2): the
    /// derivative of squad at its ends is L + 2 log(q⁻¹ inner), and −2 on reaching. At even times both are Shoemake's.
    ///
    /// Where the inner rotation would be over a quarter turn from its key, because a fast short span meets a slow long one,
    /// the velocity is lowered on both sides alike until it is not: half a turn on, the sphere closes.
    pub fn new(track: &Track<Quat>) -> Self {
        let (times, values) = (track.times().to_vec(), track.values().to_vec());
        let angular = angular_velocities(track);
        let inner = (0..times.len())
            .map(|key| {
                // An end key is its own neighbour, at no time from it.
                let turn = |from: usize, to: usize| Turn {
                    span: times[to] - times[from],
                    vector: quat::log(values[from].inverse() * values[to]),
                };
                let before = turn(key.saturating_sub(1), key);
                let after = turn(key, (key + 1).min(times.len() - 1));
                let [reach, leave] = angular[key];
                let share = before.share(reach).min(after.share(leave));
                let bends = [-before.bend(reach * share), after.bend(leave * share)];
                bends.map(|bend| values[key] * quat::exp(bend))
            })
            .collect();
        Self {
            times,
            values,
            inner,
        }
    }

    /// The rotation at `time`, s; clamped to the first and last key, and NaN holds the first. O(log keys), stateless.
    pub fn sample(&self, time: f32) -> Quat {
        self.sample_from(time, &mut Cursor::default())
    }

    /// As [`sample`](Self::sample), but starts looking where `cursor` stands: amortised O(1) in playback either way.
    pub fn sample_from(&self, time: f32, cursor: &mut Cursor) -> Quat {
        let span = cursor.find(&self.times, time);
        let is_between = time > self.times[span] && span + 1 < self.times.len();
        if !is_between {
            return self.values[span];
        }
        let alpha = fraction(self.times[span], self.times[span + 1], time);
        let (leave, reach) = (self.inner[span][1], self.inner[span + 1][0]);
        squad::squad(
            [self.values[span], leave, reach, self.values[span + 1]],
            alpha,
        )
    }

    /// Key times, s, strictly rising, at least one.
    pub fn times(&self) -> &[f32] {
        &self.times
    }
}

/// The short arc between two keys.
struct Turn {
    /// Seconds.
    span: f32,
    /// rad.
    vector: Vec3,
}

impl Turn {
    /// From a key to the inner rotation that lets squad leave it with `angular`, rad/s.
    fn bend(&self, angular: Vec3) -> Vec3 {
        (angular * self.span - self.vector) * 0.5
    }

    /// The largest share, up to 1, of `angular` that bends by a quarter turn at most: |s h ω − L| = π.
    fn share(&self, angular: Vec3) -> f32 {
        let whole = angular * self.span;
        let (a, b) = (whole.norm_squared(), whole.dot(&self.vector));
        // The arc is at most half a turn, so that no velocity at all is always allowed.
        let c = (PI * PI - self.vector.norm_squared()).max(0.0);
        if a - 2.0 * b <= c {
            return 1.0;
        }
        (b + (b * b + a * c).sqrt()) / a
    }
}

/// On reaching and on leaving each key, rad/s.
fn angular_velocities(track: &Track<Quat>) -> Vec<[Vec3; 2]> {
    if track.interpolation() == Interpolation::Cubic {
        let sides = track.values().iter().zip(track.velocities());
        return sides
            .map(|(q, sides)| sides.map(|v| rotation::angular_from_velocity(*q, v)))
            .collect();
    }
    let keys = track.times().iter().zip(track.values());
    let keys: Vec<_> = keys.map(|(time, q)| Key::new(*time, *q)).collect();
    let mut turned = rotation::unrolled(&keys);
    tangents::catmull_rom(&mut turned);
    let at_rest = [Vec3::zeros(); 2];
    turned
        .iter()
        .map(|key| key.velocity.unwrap_or(at_rest))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTORS: [[f32; 3]; 6] = [
        [0.1, 0.2, 0.0],
        [0.9, -0.3, 0.4],
        [0.2, 1.1, -0.5],
        [-0.8, 0.6, 0.7],
        [0.0, -0.4, 1.2],
        [0.5, 0.5, 0.5],
    ];

    fn keys(times: [f32; 6]) -> Vec<Key<Quat>> {
        let values = VECTORS.map(|v| quat::exp(Vec3::from(v)));
        times
            .iter()
            .zip(values)
            .map(|(t, q)| Key::new(*t, q))
            .collect()
    }

    fn linear(times: [f32; 6]) -> Track<Quat> {
        Track::new(keys(times), Interpolation::Linear).unwrap()
    }

    const UNEVEN: [f32; 6] = [0.0, 1.0, 1.25, 3.0, 3.5, 5.0];

    #[test]
    fn keys_are_met_exactly_and_ends_hold() {
        let track = linear(UNEVEN);
        let smooth = SquadTrack::new(&track);
        for (time, value) in track.times().iter().zip(track.values()) {
            assert_eq!(smooth.sample(*time), *value);
        }
        let ends = [-1.0, f32::NAN, 9.0].map(|time| smooth.sample(time));
        assert_eq!(ends, [0, 0, 5].map(|key| track.values()[key]));
    }

    #[test]
    fn even_times_are_shoemakes_squad() {
        let track = linear([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let smooth = SquadTrack::new(&track);
        let values = track.values();
        for n in 0..=20 {
            let alpha = n as f32 * 0.05;
            let expected = squad::between([1, 2, 3, 4].map(|key| values[key]), alpha);
            let error = quat::angle_between(smooth.sample(2.0 + alpha), expected);
            assert!(error < 16.0 * f32::EPSILON, "{error}");
        }
    }

    /// How much the angular velocity changes across each inner key, rad/s, by one-sided second-order differences.
    fn kinks(step: f32, sample: impl Fn(f32) -> Quat) -> f32 {
        let kink = |time: f32| {
            let key = sample(time);
            let turn = |step: f32| quat::log(key.inverse() * sample(time + step));
            let velocity = |step: f32| (turn(step) * 4.0 - turn(2.0 * step)) / (2.0 * step);
            (velocity(step) - velocity(-step)).norm()
        };
        UNEVEN[1..5]
            .iter()
            .map(|time| kink(*time))
            .fold(0.0, f32::max)
    }

    #[test]
    fn angular_velocity_is_continuous_at_uneven_times() {
        let track = linear(UNEVEN);
        let smooth = SquadTrack::new(&track);
        let smooth = |step| kinks(step, |time| smooth.sample(time));
        // The differences are of second order: what is left quarters with half the step, where a kink would stay.
        assert!(smooth(5e-3) < 0.3 * smooth(1e-2) && smooth(5e-3) < 0.02);
        assert!(kinks(5e-3, |time| track.sample(time)) > 1.0);
    }

    #[test]
    fn a_cubic_track_keeps_its_angular_velocities() {
        let mut keys = keys(UNEVEN);
        rotation::fill_tangents(&mut keys, tangents::flat);
        let rests = SquadTrack::new(&Track::new(keys, Interpolation::Cubic).unwrap());
        for time in &UNEVEN[1..] {
            let turned = quat::angle_between(rests.sample(time - 1e-3), rests.sample(*time));
            // At rest the way back is quadratic: accelerations here are below 150 rad/s².
            assert!(turned < 150.0 * 1e-6, "{turned}");
        }
    }

    #[test]
    fn one_key_and_half_turns_are_no_trouble() {
        let one = Track::new(vec![Key::new(1.0, Quat::identity())], Interpolation::Cubic);
        assert!(one.is_err(), "a cubic key needs velocities");
        let one = Track::new(vec![Key::new(1.0, Quat::identity())], Interpolation::Step).unwrap();
        assert_eq!(SquadTrack::new(&one).sample(7.0), Quat::identity());
        let half = quat::exp(Vec3::x() * std::f32::consts::PI);
        let keys = [Quat::identity(), half, Quat::identity()];
        let keys: Vec<_> = (0..)
            .zip(keys)
            .map(|(n, q)| Key::new(n as f32, q))
            .collect();
        let smooth = SquadTrack::new(&Track::new(keys, Interpolation::Linear).unwrap());
        for n in 0..=20 {
            assert!((smooth.sample(n as f32 * 0.1).coords.norm() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_sample_does_not_depend_on_the_cursor() {
        let smooth = SquadTrack::new(&linear(UNEVEN));
        let mut cursor = Cursor::default();
        for n in (0..60).chain((0..60).rev()) {
            let time = n as f32 * 0.1 - 0.5;
            assert_eq!(smooth.sample_from(time, &mut cursor), smooth.sample(time));
        }
    }
}
