//! Animation curves as film tools edit them: each key says how the curve goes on, with handles that have lengths.
//!
//! Maya's, Blender's and FBX's curves mix stepped, straight and Bézier spans, and a handle's length is how long the curve
//! clings to its slope. [`FCurve`] keeps all of that and samples it exactly, at the cost of a small solve; a
//! [`Track`] has one interpolation and handles of a third, and is what the run time bakes from. [`FCurve::to_track`] goes
//! there, exactly where it can and within a tolerance elsewhere.
//!
//! ```
//! use anim_curves::{FCurve, FCurveSpec, FKey, Handle, Interpolation, Outside, tangents};
//!
//! let mut spec = FCurveSpec {
//!     keys: vec![FKey::new(0.0, 0.0_f32), FKey::new(1.0, 4.0), FKey::new(2.0, 4.0)],
//!     outside: Outside::default(),
//! };
//! spec.auto_handles(tangents::monotone); // what editors call auto-clamped
//! spec.keys[0].interpolation = Interpolation::Cubic;
//! spec.keys[0].handles[1] = Handle { dt: 0.8, dv: 0.0 }; // hold on, then hurry
//! let curve = FCurve::new(spec)?;
//! assert!(curve.sample(0.5) < 1.3);
//! let track = curve.to_track(1e-3)?;
//! assert!((track.sample(0.7) - curve.sample(0.7)).abs() < 1e-3);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::f_curve_track::Timed;
use crate::interpolate::fraction;
use crate::track::check_times;
use crate::{Cursor, CurveError, Interpolation, Key, Linear, Outside, Track, WeightedSpan};

/// Where a Bézier handle ends, from its key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Handle<T: Linear> {
    /// Seconds: 0 or less on the way into the key, 0 or more on the way out.
    pub dt: f32,
    /// Difference of value.
    pub dv: T,
}

/// A key of an [`FCurve`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct FKey<T: Linear> {
    /// Seconds.
    pub time: f32,
    /// The value there.
    pub value: T,
    /// The way to the next key; cubic is the Bézier curve of the handles.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Into the key and out of it; used by cubic spans.
    pub handles: [Handle<T>; 2],
}

impl<T: Linear> FKey<T> {
    /// A key that goes straight on, without handles.
    pub fn new(time: f32, value: T) -> Self {
        let none = Handle {
            dt: 0.0,
            dv: value * 0.0,
        };
        Self {
            time,
            value,
            interpolation: Interpolation::Linear,
            handles: [none; 2],
        }
    }
}

/// What an [`FCurve`] is made of, for editing and serde.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct FCurveSpec<T: Linear> {
    /// Strictly rising times.
    pub keys: Vec<FKey<T>>,
    /// How it goes on before the first and after the last.
    #[serde(default)]
    pub outside: Outside,
}

impl<T: Linear> FCurveSpec<T> {
    /// Gives every key handles of a third of their spans, along the velocities of `tangents`: any function of
    /// [`tangents`](crate::tangents), so flat, smooth, or monotone, which is the editors' "auto-clamped".
    ///
    /// An end key has the handle of its one span on both sides. Interpolations stay.
    pub fn auto_handles(&mut self, tangents: impl FnOnce(&mut [Key<T>])) {
        let key = |key: &FKey<T>| Key::new(key.time, key.value);
        let mut keys: Vec<_> = self.keys.iter().map(key).collect();
        tangents(&mut keys);
        for (n, key) in self.keys.iter_mut().enumerate() {
            key.handles = thirds(&keys, n);
        }
    }
}

/// The handles of the `key`-th of `keys` that make its velocities; none if it has none.
fn thirds<T: Linear>(keys: &[Key<T>], key: usize) -> [Handle<T>; 2] {
    let third = |from: usize| {
        let pair = keys.get(from).zip(keys.get(from + 1));
        pair.map(|(from, to)| (to.time - from.time) / 3.0)
    };
    let (before, after) = (key.checked_sub(1).and_then(third), third(key));
    let rest = [keys[key].value * 0.0; 2];
    let [reach, leave] = keys[key].velocity.unwrap_or(rest);
    let handle = |dt: f32, velocity: T| Handle {
        dt,
        dv: velocity * dt,
    };
    [
        handle(-before.or(after).unwrap_or(0.0), reach),
        handle(after.or(before).unwrap_or(0.0), leave),
    ]
}

/// A validated animation curve: at least one key, times strictly rising, everything finite.
///
/// Time never runs back along it: a handle that is longer than its span is cut to it along its own direction, and one
/// that points the other way in time is dropped. That is done on sampling; the keys stay as they were drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "FCurveSpec<T>", into = "FCurveSpec<T>", bound = "")]
pub struct FCurve<T: Linear> {
    times: Vec<f32>,
    spec: FCurveSpec<T>,
}

impl<T: Linear> FCurve<T> {
    /// Validates `spec`.
    ///
    /// # Errors
    ///
    /// [`CurveError::Empty`] without keys, [`CurveError::Unsorted`] if times do not rise strictly,
    /// [`CurveError::NotFinite`] for NaN or infinity in a key or its handles.
    pub fn new(spec: FCurveSpec<T>) -> Result<Self, CurveError> {
        check_times(spec.keys.iter().map(|key| key.time))?;
        let is_handle_finite = |handle: &Handle<T>| handle.dt.is_finite() && handle.dv.is_finite();
        let is_finite =
            |key: &FKey<T>| key.value.is_finite() && key.handles.iter().all(is_handle_finite);
        if let Some(key) = spec.keys.iter().position(|key| !is_finite(key)) {
            return Err(CurveError::NotFinite { key });
        }
        let times = spec.keys.iter().map(|key| key.time).collect();
        Ok(Self { times, spec })
    }

    /// The keys, at least one.
    pub fn keys(&self) -> &[FKey<T>] {
        &self.spec.keys
    }

    /// How it goes on before its first key and after its last.
    pub fn outside(&self) -> Outside {
        self.spec.outside
    }

    /// The value at any `time`, s. O(log keys) and, in a cubic span, a solve of about six steps; stateless.
    ///
    /// Keys are met exactly; NaN holds the first. Straight on outside means along the handle of the end key that points into
    /// the curve, or towards what comes next where there is none.
    pub fn sample(&self, time: f32) -> T {
        self.sample_from(time, &mut Cursor::default())
    }

    /// As [`sample`](Self::sample), but starts looking where `cursor` stands: amortised O(1) in playback either way.
    pub fn sample_from(&self, time: f32, cursor: &mut Cursor) -> T {
        let keys = &self.spec.keys;
        let ends = [&keys[0], &keys[keys.len() - 1]].map(|key| (key.time, key.value));
        let inside = |time| self.inside(cursor.find(&self.times, time), time);
        let velocity = |is_last| self.end_velocity(is_last);
        self.spec.outside.extend(ends, time, inside, velocity)
    }

    fn inside(&self, span: usize, time: f32) -> T {
        let from = &self.spec.keys[span];
        match self.spec.keys.get(span + 1) {
            Some(to) if time > from.time => match from.interpolation {
                Interpolation::Step => from.value,
                Interpolation::Linear => {
                    let alpha = fraction(from.time, to.time, time);
                    from.value.lerp(to.value, alpha)
                }
                Interpolation::Cubic => weighted(from, to).sample(time),
            },
            _ => from.value,
        }
    }

    /// The velocity inside the curve at its first key, or its last.
    fn end_velocity(&self, is_last: bool) -> T {
        let keys = &self.spec.keys;
        let rest = keys[0].value * 0.0;
        let Some(span) = keys.len().checked_sub(2) else {
            return rest;
        };
        let span = if is_last { span } else { 0 };
        let (from, to) = (&keys[span], &keys[span + 1]);
        match from.interpolation {
            Interpolation::Step => rest,
            Interpolation::Linear => chord(from, to),
            Interpolation::Cubic => Timed::new(from, to).velocity(if is_last { 1.0 } else { 0.0 }),
        }
    }
}

impl<T: Linear> From<&Track<T>> for FCurveSpec<T> {
    /// The same curve, to rounding, for editing; it holds outside, as a track does.
    fn from(track: &Track<T>) -> Self {
        let keys: Vec<_> = (0..track.times().len())
            .map(|key| Key {
                time: track.times()[key],
                value: track.values()[key],
                velocity: track.velocities().get(key).copied(),
            })
            .collect();
        let f_key = |key: usize| FKey {
            interpolation: track.interpolation(),
            handles: thirds(&keys, key),
            ..FKey::new(keys[key].time, keys[key].value)
        };
        Self {
            keys: (0..keys.len()).map(f_key).collect(),
            outside: Outside::default(),
        }
    }
}

impl<T: Linear> TryFrom<FCurveSpec<T>> for FCurve<T> {
    type Error = CurveError;

    fn try_from(spec: FCurveSpec<T>) -> Result<Self, CurveError> {
        Self::new(spec)
    }
}

impl<T: Linear> From<FCurve<T>> for FCurveSpec<T> {
    fn from(curve: FCurve<T>) -> Self {
        curve.spec
    }
}

pub(crate) fn weighted<T: Linear>(from: &FKey<T>, to: &FKey<T>) -> WeightedSpan<T> {
    let (leave, reach) = (from.handles[1], to.handles[0]);
    WeightedSpan {
        from: (from.time, from.value),
        leave: (from.time + leave.dt, from.value + leave.dv),
        reach: (to.time + reach.dt, to.value + reach.dv),
        to: (to.time, to.value),
    }
}

/// The slope of the straight line between two keys.
pub(crate) fn chord<T: Linear>(from: &FKey<T>, to: &FKey<T>) -> T {
    (to.value - from.value) * (1.0 / (to.time - from.time))
}

#[cfg(test)]
pub(crate) mod tests {
    use anim_math::Vec3;
    use proptest::prelude::*;

    use super::*;
    use crate::{Extrapolation, tangents};

    pub(crate) fn key(time: f32, value: f32, interpolation: Interpolation) -> FKey<f32> {
        FKey {
            interpolation,
            ..FKey::new(time, value)
        }
    }

    pub(crate) fn curve(keys: Vec<FKey<f32>>) -> FCurve<f32> {
        let outside = Outside::default();
        FCurve::new(FCurveSpec { keys, outside }).unwrap()
    }

    pub(crate) fn mixed() -> Vec<FKey<f32>> {
        let mut keys = vec![
            key(0.0, 1.0, Interpolation::Step),
            key(1.0, 3.0, Interpolation::Linear),
            key(2.0, 5.0, Interpolation::Cubic),
            key(4.0, 1.0, Interpolation::Step),
        ];
        keys[2].handles[1] = Handle { dt: 1.5, dv: 3.0 };
        keys[3].handles[0] = Handle { dt: -0.25, dv: 1.0 };
        keys
    }

    #[test]
    fn each_key_says_how_the_curve_goes_on() {
        let curve = curve(mixed());
        let samples = [-1.0, 0.0, 0.999, 1.0, 1.5, 2.0, 4.0, 9.0, f32::NAN];
        let expected = [1.0, 1.0, 1.0, 3.0, 4.0, 5.0, 1.0, 1.0, 1.0];
        assert_eq!(samples.map(|time| curve.sample(time)), expected);
        // At u = 1/2: t = (2 + 3 · 3.5 + 3 · 3.75 + 4) / 8, and v by the same weights of 5, 8, 2 and 1.
        let middle = curve.sample((2.0 + 10.5 + 11.25 + 4.0) / 8.0);
        assert!((middle - (5.0 + 24.0 + 6.0 + 1.0) / 8.0).abs() < 16.0 * f32::EPSILON);
    }

    #[test]
    fn flat_handles_ease_in_and_out() {
        let mut spec = FCurveSpec {
            keys: vec![
                key(0.0, 0.0, Interpolation::Cubic),
                key(2.0, 1.0, Interpolation::Cubic),
            ],
            outside: Outside::default(),
        };
        spec.auto_handles(tangents::flat);
        let curve = FCurve::new(spec).unwrap();
        for n in 0..=20 {
            let alpha = n as f32 * 0.05;
            let smoothstep = alpha * alpha * (3.0 - 2.0 * alpha);
            assert!((curve.sample(2.0 * alpha) - smoothstep).abs() < 8.0 * f32::EPSILON);
        }
    }

    #[test]
    fn auto_handles_are_the_track_of_the_same_tangents() {
        let values = [(0.0, 0.0), (1.0, 4.0), (1.5, 4.5), (4.0, -2.0)];
        let mut keys: Vec<_> = values.iter().map(|(t, v)| Key::new(*t, *v)).collect();
        let f_keys = values
            .iter()
            .map(|(t, v)| key(*t, *v, Interpolation::Cubic));
        let mut spec = FCurveSpec {
            keys: f_keys.collect(),
            outside: Outside::default(),
        };
        spec.auto_handles(tangents::monotone);
        tangents::monotone(&mut keys);
        let track = Track::new(keys, Interpolation::Cubic).unwrap();
        let curve = FCurve::new(spec).unwrap();
        let back = curve.to_track(1e-5).unwrap();
        assert_eq!(back.times(), track.times());
        let same = FCurve::new(FCurveSpec::from(&track)).unwrap();
        for n in 0..=40 {
            let (time, slack) = (n as f32 * 0.1, 8.0 * 6.5 * f32::EPSILON);
            let expected = track.sample(time);
            for found in [curve.sample(time), back.sample(time), same.sample(time)] {
                assert!((found - expected).abs() < slack, "{found} for {expected}");
            }
        }
    }

    #[test]
    fn straight_on_follows_the_inner_handle_and_cycles_repeat() {
        let mut keys = vec![
            key(0.0, 0.0, Interpolation::Cubic),
            key(2.0, 4.0, Interpolation::Cubic),
        ];
        keys[0].handles = [Handle { dt: -1.0, dv: 9.0 }, Handle { dt: 0.5, dv: 1.5 }];
        let sample = |mode, time| {
            let outside = Outside {
                before: mode,
                after: mode,
            };
            let keys = keys.clone();
            FCurve::new(FCurveSpec { keys, outside })
                .unwrap()
                .sample(time)
        };
        assert_eq!(sample(Extrapolation::Linear, -2.0), -6.0);
        // The last key has no handle, so the way goes on from where the other's handle points: (1.5, 2.5) to (2, 4).
        let after = sample(Extrapolation::Linear, 3.0);
        assert!((after - (4.0 + 2.5 / 1.5)).abs() < 4.0 * 4.0 * f32::EPSILON);
        let (now, later) = (0.75, 4.75);
        let inside = sample(Extrapolation::Hold, now);
        assert_eq!(sample(Extrapolation::Cycle, later), inside);
        assert_eq!(sample(Extrapolation::CycleOffset, later), inside + 8.0);
    }

    #[test]
    fn vectors_and_one_key_work_too() {
        let keys = vec![FKey {
            interpolation: Interpolation::Cubic,
            ..FKey::new(1.0, Vec3::y())
        }];
        let outside = Outside::default();
        let one = FCurve::new(FCurveSpec { keys, outside }).unwrap();
        assert_eq!(one.sample(7.0), Vec3::y());
        assert_eq!(one.to_track(0.1).unwrap().sample(-1.0), Vec3::y());
        let keys: Vec<FKey<f32>> = vec![];
        let none = FCurve::new(FCurveSpec { keys, outside });
        assert_eq!(none.unwrap_err(), CurveError::Empty);
    }

    pub(crate) fn any_curve() -> impl Strategy<Value = FCurve<f32>> {
        let handle = || (-0.5_f32..3.0, -5.0_f32..5.0);
        let key = (0.05_f32..2.0, -5.0_f32..5.0, 0..5_u8, handle(), handle());
        prop::collection::vec(key, 1..8).prop_map(|keys| {
            let mut time = -1.0;
            let keys = keys.into_iter().map(|(span, value, kind, into, out)| {
                time += span;
                let interpolation = match kind {
                    0 => Interpolation::Step,
                    1 => Interpolation::Linear,
                    _ => Interpolation::Cubic,
                };
                FKey {
                    interpolation,
                    handles: [
                        Handle {
                            dt: -into.0,
                            dv: into.1,
                        },
                        Handle {
                            dt: out.0,
                            dv: out.1,
                        },
                    ],
                    ..FKey::new(time, value)
                }
            });
            curve(keys.collect())
        })
    }

    proptest! {
        #[test]
        fn a_sample_is_within_the_hull_of_its_span(curve in any_curve(), time in -2.0_f32..15.0) {
            let reach = |key: &FKey<f32>| key.handles.iter().map(|h| h.dv.abs()).fold(key.value.abs(), |a, b| a + b);
            let bound = curve.keys().iter().map(reach).fold(0.0, f32::max);
            prop_assert!(curve.sample(time).abs() <= bound * (1.0 + 8.0 * f32::EPSILON));
        }

        #[test]
        fn playback_is_the_same_as_seeking(curve in any_curve()) {
            let mut cursor = Cursor::default();
            for n in (0..100).chain((0..100).rev()) {
                let time = n as f32 * 0.1 - 1.5;
                prop_assert_eq!(curve.sample_from(time, &mut cursor), curve.sample(time));
            }
        }

        #[test]
        fn any_numbers_either_fail_or_sample(
            keys in prop::collection::vec((any::<f32>(), any::<f32>(), prop::array::uniform4(any::<f32>())), 0..5),
            time: f32, tolerance: f32,
        ) {
            let mut keys: Vec<_> = keys.into_iter().map(|(time, value, [a, b, c, d])| FKey {
                handles: [Handle { dt: a, dv: b }, Handle { dt: c, dv: d }],
                ..key(time, value, Interpolation::Cubic)
            }).collect();
            keys.sort_by(|a, b| a.time.total_cmp(&b.time));
            let outside = Outside { before: Extrapolation::Linear, after: Extrapolation::Mirror };
            if let Ok(curve) = FCurve::new(FCurveSpec { keys, outside }) {
                curve.sample(time);
                // Overflow in between is refused or shows as infinity, but does not panic.
                let _ = curve.to_track(tolerance);
            }
        }

        #[test]
        fn a_curve_survives_its_spec(curve in any_curve()) {
            let spec = FCurveSpec::from(curve.clone());
            prop_assert_eq!(FCurve::try_from(spec).unwrap(), curve);
        }
    }
}
