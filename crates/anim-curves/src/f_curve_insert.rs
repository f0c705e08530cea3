//! A key more in a curve with weighted handles, and the curve as it was.
//!
//! A Bézier span is cut by de Casteljau's construction, in time and value alike, so that both parts are the old curve. See
//! [`FCurve::insert_key`].

use crate::bezier::solve_rising;
use crate::f_curve::weighted;
use crate::{CurveError, FCurve, FCurveSpec, FKey, Handle, Interpolation, Linear};

impl<T: Linear> FCurve<T> {
    /// This curve with a key at `time`, s, going on as its span does; itself if it has one there.
    ///
    /// Samples stay, to rounding. In a cubic span the handles on both sides are shortened to make room, and those that were
    /// longer than the span become what was used of them. Only where the two handles of a span overlap in time, so that the
    /// curve is steepest in between, may a part of it need handles longer than itself; those are cut, and it moves a little.
    ///
    /// # Errors
    ///
    /// [`CurveError::Outside`] unless `time` is between the first and the last key, past which a key would change how the
    /// curve goes on.
    pub fn insert_key(&self, time: f32) -> Result<Self, CurveError> {
        let mut keys = self.keys().to_vec();
        let (start, end) = (keys[0].time, keys[keys.len() - 1].time);
        if !(start <= time && time <= end) {
            return Err(CurveError::Outside { time, start, end });
        }
        let next = keys.partition_point(|key| key.time < time);
        if keys[next].time != time {
            let key = cut(&mut keys[next - 1..=next], time, self.sample(time));
            keys.insert(next, key);
        }
        let outside = self.outside();
        Self::new(FCurveSpec { keys, outside })
    }
}

/// The key at `time` between the two of `span`, whose handles are shortened to it.
fn cut<T: Linear>(span: &mut [FKey<T>], time: f32, value: T) -> FKey<T> {
    let (from, to) = (span[0], span[1]);
    let mut key = FKey {
        interpolation: from.interpolation,
        ..FKey::new(time, value)
    };
    if from.interpolation != Interpolation::Cubic {
        return key;
    }
    let ([x1, x2], values) = weighted(&from, &to).parts();
    let (start, length) = (
        f64::from(from.time),
        f64::from(to.time) - f64::from(from.time),
    );
    let x = ((f64::from(time) - start) / length).clamp(0.0, 1.0);
    let u = solve_rising(x1, x2, x);
    let mix = |a: f64, b: f64| a + (b - a) * u;
    let (first, second, third) = (mix(0.0, x1), mix(x1, x2), mix(x2, 1.0));
    let [left, right] = values.split(u as f32).map(|part| part.0);
    let handle = |alpha: f64, from: f64, dv: T| Handle {
        dt: ((alpha - from) * length) as f32,
        dv,
    };
    key.handles = [
        handle(mix(first, second), x, left[2] - left[3]),
        handle(mix(second, third), x, right[1] - right[0]),
    ];
    span[0].handles[1] = handle(first, 0.0, left[1] - left[0]);
    span[1].handles[0] = handle(third, 1.0, right[2] - right[3]);
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::f_curve::tests::{any_curve, curve, mixed};

    #[test]
    fn a_third_handle_is_cut_where_the_construction_says() {
        // Handles of a third, so that u is α: halves of the polygon 0, 3, 0, 0.
        let mut keys = [(0.0, 0.0), (3.0, 0.0)].map(|(time, value)| FKey {
            interpolation: Interpolation::Cubic,
            ..FKey::new(time, value)
        });
        keys[0].handles[1] = Handle { dt: 1.0, dv: 3.0 };
        keys[1].handles[0] = Handle { dt: -1.0, dv: 0.0 };
        let finer = curve(keys.to_vec()).insert_key(1.5).unwrap();
        let [first, middle, last] = [0, 1, 2].map(|key| finer.keys()[key]);
        assert_eq!(first.handles[1], Handle { dt: 0.5, dv: 1.5 });
        assert_eq!(middle.value, 1.125);
        assert_eq!(
            middle.handles[0],
            Handle {
                dt: -0.5,
                dv: 0.375
            }
        );
        assert_eq!(
            middle.handles[1],
            Handle {
                dt: 0.5,
                dv: -0.375
            }
        );
        assert_eq!(last.handles[0], Handle { dt: -0.5, dv: 0.0 });
    }

    #[test]
    fn keys_go_between_the_ends_only_and_once() {
        let curve = curve(mixed());
        assert_eq!(curve.insert_key(1.0).unwrap(), curve);
        for time in [-0.5, 4.5, f32::NAN] {
            let error = curve.insert_key(time).unwrap_err();
            assert!(matches!(error, CurveError::Outside { .. }));
        }
        let held = curve.insert_key(0.5).unwrap();
        assert_eq!(
            (held.keys()[1].value, held.keys()[1].interpolation),
            (1.0, Interpolation::Step)
        );
    }

    proptest! {
        #[test]
        fn an_inserted_key_keeps_the_curve(curve in any_curve(), parts in prop::collection::vec(0.0_f32..1.0, 1..4)) {
            let (start, end) = (curve.keys()[0].time, curve.keys()[curve.keys().len() - 1].time);
            let mut finer = curve.clone();
            for part in parts {
                finer = finer.insert_key((start + (end - start) * part).min(end)).unwrap();
            }
            for pair in curve.keys().windows(2) {
                let [x1, x2] = weighted(&pair[0], &pair[1]).parts().0;
                let is_overlapping = pair[0].interpolation == Interpolation::Cubic && x1 > x2;
                for n in (0..20).filter(|_| !is_overlapping) {
                    let time = pair[0].time + (pair[1].time - pair[0].time) * (n as f32 * 0.05);
                    let error = (finer.sample(time) - curve.sample(time)).abs();
                    // As steep as a handle that fills its span, times the rounding of times up to 15 s.
                    let cliff = (curve.sample(time + 8e-6) - curve.sample(time - 8e-6)).abs();
                    prop_assert!(error < cliff + 16.0 * 10.0 * f32::EPSILON, "{error} at {time}");
                }
            }
        }
    }
}
