//! Wind that is never quite the same.

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

/// How the wind varies about its mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GustSpec {
    /// Most that each part of the velocity differs from the mean, m/s.
    pub speed: f32,
    /// Of the slowest wave, s.
    pub period: f32,
}

/// Frequencies, weights and phases of the waves of one axis: no two frequencies have a common period.
const WAVES: [(f32, f32); 3] = [(1.0, 0.5), (2.236, 0.3), (4.123, 0.2)];

impl GustSpec {
    /// What is added to the wind at `time`, s: three waves an axis, the same in every run.
    pub(super) fn at(&self, time: f64) -> Vec3 {
        let turn = std::f64::consts::TAU * time / f64::from(self.period);
        Vec3::from_fn(|axis, _| {
            let sum: f64 = WAVES
                .iter()
                .enumerate()
                .map(|(index, (frequency, weight))| {
                    let phase = 1.7 * axis as f64 + 2.9 * index as f64;
                    f64::from(*weight) * libm::sin(turn * f64::from(*frequency) + phase)
                })
                .sum();
            self.speed * sum as f32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gusts_stay_within_their_speed_and_average_out() {
        let gusts = GustSpec {
            speed: 2.0,
            period: 1.5,
        };
        let count = 100_000;
        let mut sum = Vec3::zeros();
        for i in 0..count {
            let gust = gusts.at(f64::from(i) * 0.01);
            assert!(gust.amax() <= 2.0);
            sum += gust;
        }
        // 667 periods of the slowest wave.
        assert!((sum / count as f32).amax() < 0.01);
    }
}
