//! Where a character stands on the ground, and which way it faces.
//!
//! Motion is compared as the character sees it: from a frame on the ground below its root that faces where the root
//! faces. Such frames move by planar rigid motions (the group SE(2)), which compose, invert and have fractional powers;
//! those continue an arc beyond the end of a clip.

use anim_math::{Transform, Vec3, quat};

/// A planar frame, `model_from_character` on the ground: its z axis points ahead and its x axis to the left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ground {
    /// Metres.
    pub(crate) x: f64,
    /// Metres.
    pub(crate) z: f64,
    /// The turn about +Y from +Z towards +X, rad; any number of turns.
    pub(crate) heading: f64,
}

impl Ground {
    /// The motion `self · local`: `local` as seen from here.
    pub(crate) fn then(self, local: Self) -> Self {
        let [x, z] = self.out([local.x, local.z]);
        Self {
            x: self.x + x,
            z: self.z + z,
            heading: self.heading + local.heading,
        }
    }

    /// The motion `origin⁻¹ · self`: this frame as `origin` sees it.
    pub(crate) fn seen_from(self, origin: Self) -> Self {
        let [x, z] = origin.into_frame([self.x - origin.x, self.z - origin.z]);
        Self {
            x,
            z,
            heading: self.heading - origin.heading,
        }
    }

    /// A direction in the plane, `[x, z]`, from model axes to those of this frame.
    pub(crate) fn into_frame(self, [x, z]: [f64; 2]) -> [f64; 2] {
        let (sine, cosine) = libm::sincos(self.heading);
        [x * cosine - z * sine, x * sine + z * cosine]
    }

    /// A direction in the plane, `[x, z]`, from the axes of this frame to those of the model.
    pub(crate) fn out(self, [x, z]: [f64; 2]) -> [f64; 2] {
        let (sine, cosine) = libm::sincos(self.heading);
        [x * cosine + z * sine, z * cosine - x * sine]
    }

    /// This motion carried on for `times` as long, along its arc.
    ///
    /// With w = z + ix and the turn h, wₛ = w (exp(ihs) − 1) / (exp(ih) − 1), which is w turned by h (s − 1) / 2 and
    /// scaled by sin(hs / 2) / sin(h / 2). After no turn, or whole turns, that is s w.
    pub(crate) fn power(self, times: f64) -> Self {
        let half = self.heading * 0.5;
        let sine = libm::sin(half);
        let (scale, heading) = if sine.abs() < 1e-9 {
            (times, 0.0)
        } else {
            (libm::sin(half * times) / sine, half * (times - 1.0))
        };
        let turned = Self {
            heading,
            ..Self::default()
        };
        let [x, z] = turned.out([self.x * scale, self.z * scale]);
        Self {
            x,
            z,
            heading: self.heading * times,
        }
    }

    /// The way from this frame to `to`, `alpha` of it.
    pub(crate) fn lerp(self, to: Self, alpha: f64) -> Self {
        let mix = |a: f64, b: f64| a + (b - a) * alpha;
        Self {
            x: mix(self.x, to.x),
            z: mix(self.z, to.z),
            heading: mix(self.heading, to.heading),
        }
    }

    /// As a rigid transform.
    pub(crate) fn transform(self) -> Transform {
        Transform {
            translation: Vec3::new(self.x as f32, 0.0, self.z as f32),
            rotation: quat::from_axis_angle(Vec3::y(), wrap_angle(self.heading) as f32),
            ..Transform::IDENTITY
        }
    }
}

/// The same direction in [−π, π].
pub(crate) fn wrap_angle(angle: f64) -> f64 {
    angle - std::f64::consts::TAU * libm::rint(angle / std::f64::consts::TAU)
}

/// Smooths by fitting a parabola to each value and `half` neighbours on both sides; the first and last `half` values are
/// left out.
///
/// The weights at distance i are 3 (3m² + 3m − 1 − 5i²) / ((2m − 1) (2m + 1) (2m + 3)) with m = `half`: they keep lines
/// and parabolas, so that steady motion and steady turns are not changed.
///
/// Source: Savitzky, Golay, "Smoothing and differentiation of data by simplified least squares procedures", 1964.
pub(crate) fn smooth(values: &[Ground], half: usize) -> Vec<Ground> {
    let m = half as f64;
    let scale = 3.0 / ((2.0 * m - 1.0) * (2.0 * m + 1.0) * (2.0 * m + 3.0));
    let weights: Vec<f64> = (0..2 * half + 1)
        .map(|place| {
            let distance = place as f64 - m;
            scale * (3.0 * m * m + 3.0 * m - 1.0 - 5.0 * distance * distance)
        })
        .collect();
    values
        .windows(weights.len())
        .map(|window| {
            let mut sum = Ground::default();
            for (value, weight) in window.iter().zip(&weights) {
                sum.x += value.x * weight;
                sum.z += value.z * weight;
                sum.heading += value.heading * weight;
            }
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Ground, b: Ground) {
        let error = (a.x - b.x).abs() + (a.z - b.z).abs() + (a.heading - b.heading).abs();
        assert!(error < 1e-12 * 100.0, "{a:?} {b:?}");
    }

    fn ground(x: f64, z: f64, heading: f64) -> Ground {
        Ground { x, z, heading }
    }

    #[test]
    fn a_quarter_turn_to_the_left_faces_plus_x() {
        let [x, z] = ground(0.0, 0.0, std::f64::consts::FRAC_PI_2).out([0.0, 1.0]);
        assert!((x - 1.0).abs() < 1e-15 && z.abs() < 1e-15);
        let transform = ground(1.0, 2.0, 0.5).transform();
        let [x, z] = ground(1.0, 2.0, 0.5).out([0.0, 1.0]);
        let ahead = transform.rotation * Vec3::z();
        assert!((ahead - Vec3::new(x as f32, 0.0, z as f32)).norm() < 1e-6);
    }

    #[test]
    fn frames_compose_and_undo() {
        let (a, b) = (ground(1.0, -2.0, 0.7), ground(0.3, 0.4, -2.5));
        near(a.then(b).seen_from(a), b);
    }

    #[test]
    fn powers_follow_the_arc() {
        for turn in [0.2, 0.0, -1e-7, std::f64::consts::TAU] {
            let step = ground(0.1, 0.3, turn);
            let mut walked = Ground::default();
            for count in 0..8 {
                near(step.power(f64::from(count)), walked);
                walked = walked.then(step);
            }
            if turn < 6.0 {
                near(step.power(0.5).then(step.power(0.5)), step);
            }
            near(step.power(-1.0).then(step), Ground::default());
        }
    }

    #[test]
    fn smoothing_keeps_parabolas() {
        let curve = |t: f64| ground(1.0 + t, 0.3 * t * t - t, 0.2 - 0.1 * t);
        let values: Vec<_> = (0..20).map(|i| curve(f64::from(i))).collect();
        for half in [0, 1, 4] {
            let smoothed = smooth(&values, half);
            assert_eq!(smoothed.len(), values.len() - 2 * half);
            for (place, value) in smoothed.iter().enumerate() {
                near(*value, curve((place + half) as f64));
            }
        }
    }
}
