//! Random numbers from a counter: the same draw for the same seed, stream and step, on any thread and in any order.
//!
//! A [`Random`] is keyed, not shared: give every particle its own stream and every frame its own step, and results do
//! not depend on how many there are or who is asked first. The generator is Philox 4×32-10; the shapes use [`libm`], so
//! the bits are the same everywhere.
//!
//! ```
//! use anim_math::random::Random;
//!
//! let (seed, particle, step) = (7, 42, 3);
//! let mut random = Random::new(seed, particle, step);
//! let speed = random.range(1.0, 2.0);
//! assert!((1.0..=2.0).contains(&speed));
//! assert_eq!(Random::new(seed, particle, step).range(1.0, 2.0), speed);
//! ```

use std::f32::consts::TAU;

use crate::Vec3;

/// Ten rounds of Philox on four 32-bit words: a bijection of `counter` for each `key`, whose output passes BigCrush.
///
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3.
pub fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let (mut c, mut k) = (counter, key);
    for _ in 0..10 {
        let (high0, low0) = wide_mul(0xD251_1F53, c[0]);
        let (high1, low1) = wide_mul(0xCD9E_8D57, c[2]);
        c = [high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0];
        k[0] = k[0].wrapping_add(0x9E37_79B9);
        k[1] = k[1].wrapping_add(0xBB67_AE85);
    }
    c
}

/// The high and low words of a product.
fn wide_mul(a: u32, b: u32) -> (u32, u32) {
    let product = u64::from(a) * u64::from(b);
    ((product >> 32) as u32, product as u32)
}

/// A sequence of draws that belongs to one (seed, stream, step); 2³⁴ words long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    key: [u32; 2],
    counter: [u32; 4],
    words: [u32; 4],
    used: u8,
}

impl Random {
    /// The draws of `stream` (a particle, a strand, an emitter) at `step` (a frame, a substep).
    pub fn new(seed: u64, stream: u64, step: u32) -> Self {
        Self {
            key: [seed as u32, (seed >> 32) as u32],
            counter: [0, step, stream as u32, (stream >> 32) as u32],
            words: [0; 4],
            used: 4,
        }
    }

    /// 32 random bits.
    pub fn bits(&mut self) -> u32 {
        if self.used == 4 {
            self.words = philox4x32(self.counter, self.key);
            self.counter[0] = self.counter[0].wrapping_add(1);
            self.used = 0;
        }
        let word = self.words[usize::from(self.used)];
        self.used += 1;
        word
    }

    /// Uniform in [0, 1), a multiple of 2⁻²⁴.
    pub fn uniform(&mut self) -> f32 {
        const STEP: f32 = 1.0 / (1 << 24) as f32;
        (self.bits() >> 8) as f32 * STEP
    }

    /// Uniform between `low` and `high`; rounding may give `high` itself.
    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        let alpha = self.uniform();
        low * (1.0 - alpha) + high * alpha
    }

    /// Normally distributed with mean 0 and variance 1.
    ///
    /// Source: Box, Muller, "A note on the generation of random normal deviates", 1958.
    pub fn normal(&mut self) -> f32 {
        let radius = (-2.0 * libm::logf(1.0 - self.uniform())).sqrt();
        radius * libm::cosf(TAU * self.uniform())
    }

    /// A direction, uniform on the unit sphere.
    ///
    /// Source: Archimedes: the height of a uniform point on a sphere is uniform.
    pub fn on_sphere(&mut self) -> Vec3 {
        self.around_z(-1.0)
    }

    /// A point, uniform in the unit ball.
    pub fn in_ball(&mut self) -> Vec3 {
        let direction = self.on_sphere();
        direction * libm::cbrtf(self.uniform())
    }

    /// A point, uniform in the unit disk of the xy plane.
    pub fn in_disk(&mut self) -> Vec3 {
        let radius = self.uniform().sqrt();
        let (sine, cosine) = libm::sincosf(TAU * self.uniform());
        Vec3::new(radius * cosine, radius * sine, 0.0)
    }

    /// A direction within `half_angle`, rad, of the unit `axis`, uniform by solid angle.
    pub fn in_cone(&mut self, axis: Vec3, half_angle: f32) -> Vec3 {
        let local = self.around_z(libm::cosf(half_angle));
        let (x, y) = basis(axis);
        x * local.x + y * local.y + axis * local.z
    }

    /// A direction, uniform by solid angle among those with a z of at least `lowest`.
    fn around_z(&mut self, lowest: f32) -> Vec3 {
        let z = 1.0 - self.uniform() * (1.0 - lowest);
        let radius = (1.0 - z * z).max(0.0).sqrt();
        let (sine, cosine) = libm::sincosf(TAU * self.uniform());
        Vec3::new(radius * cosine, radius * sine, z)
    }
}

/// Two unit vectors that make a right-handed frame with the unit vector `z`.
///
/// Source: Duff et al., "Building an orthonormal basis, revisited", JCGT 2017, listing 3.
pub fn basis(z: Vec3) -> (Vec3, Vec3) {
    let sign = if z.z < 0.0 { -1.0 } else { 1.0 };
    let a = -1.0 / (sign + z.z);
    let b = z.x * z.y * a;
    (
        Vec3::new(1.0 + sign * z.x * z.x * a, sign * b, -sign * z.x),
        Vec3::new(b, sign + z.y * z.y * a, -z.y),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_its_published_answers() {
        let cases = [
            (
                [0; 4],
                [0; 2],
                [0x6627_E8D5, 0xE169_C58D, 0xBC57_AC4C, 0x9B00_DBD8],
            ),
            (
                [u32::MAX; 4],
                [u32::MAX; 2],
                [0x408F_276D, 0x41C8_3B0E, 0xA20B_C7C6, 0x6D54_51FD],
            ),
            // The digits of π.
            (
                [0x243F_6A88, 0x85A3_08D3, 0x1319_8A2E, 0x0370_7344],
                [0xA409_3822, 0x299F_31D0],
                [0xD16C_FE09, 0x94FD_CCEB, 0x5001_E420, 0x2412_6EA1],
            ),
        ];
        for (counter, key, expected) in cases {
            assert_eq!(philox4x32(counter, key), expected);
        }
    }

    #[test]
    fn draws_depend_on_seed_stream_step_and_nothing_else() {
        let first = |seed, stream, step| Random::new(seed, stream, step).bits();
        assert_eq!(first(1, 2, 3), first(1, 2, 3));
        let all = [
            first(1, 2, 3),
            first(2, 2, 3),
            first(1, 3, 3),
            first(1, 2, 4),
            first(1 << 32, 2, 3),
            first(1, 1 << 32, 3),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }

    /// Means of n samples stray by more than four standard errors once in 16000: with a fixed seed, never again.
    fn check_mean(samples: impl Iterator<Item = f32>, mean: f32, deviation: f32) {
        let samples: Vec<f32> = samples.collect();
        let n = samples.len() as f32;
        let measured = samples.iter().map(|x| f64::from(*x)).sum::<f64>() as f32 / n;
        let bound = 4.0 * deviation / n.sqrt();
        assert!((measured - mean).abs() < bound, "{measured} for {mean}");
    }

    fn streams() -> impl Iterator<Item = Random> {
        (0..20_000).map(|stream| Random::new(9, stream, 0))
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        check_mean(streams().map(|mut r| r.uniform()), 0.5, 0.2887);
        check_mean(streams().map(|mut r| r.range(-1.0, 3.0)), 1.0, 1.155);
        check_mean(streams().map(|mut r| r.normal()), 0.0, 1.0);
        check_mean(streams().map(|mut r| r.normal().powi(2)), 1.0, 1.415);
        for axis in 0..3 {
            check_mean(streams().map(|mut r| r.on_sphere()[axis]), 0.0, 0.5774);
            check_mean(
                streams().map(|mut r| r.on_sphere()[axis].powi(2)),
                1.0 / 3.0,
                0.2982,
            );
        }
        // In the ball |p|³ is uniform, in the disk |p|².
        check_mean(
            streams().map(|mut r| r.in_ball().norm().powi(3)),
            0.5,
            0.2887,
        );
        check_mean(
            streams().map(|mut r| r.in_disk().norm_squared()),
            0.5,
            0.2887,
        );
        // In a cone the cosine is uniform above its least.
        let axis = Vec3::new(2.0, -1.0, -2.0) / 3.0;
        check_mean(
            streams().map(|mut r| r.in_cone(axis, 1.0).dot(&axis)),
            0.5 * (1.0 + 1_f32.cos()),
            0.2887 * (1.0 - 1_f32.cos()),
        );
    }

    #[test]
    fn shapes_keep_their_bounds() {
        for mut random in streams().take(2000) {
            assert!((0.0..1.0).contains(&random.uniform()));
            assert!((random.on_sphere().norm() - 1.0).abs() < 1e-6);
            assert!(random.in_ball().norm() < 1.0 + 1e-6);
            let axis = random.on_sphere();
            let direction = random.in_cone(axis, 0.3);
            assert!((direction.norm() - 1.0).abs() < 2e-6);
            assert!(direction.dot(&axis) > 0.3_f32.cos() - 2e-6);
        }
    }

    #[test]
    fn a_basis_is_right_handed() {
        for mut random in streams().take(1000) {
            let z = random.on_sphere();
            let (x, y) = basis(z);
            assert!((x.cross(&y) - z).norm() < 1e-6);
            assert!(x.dot(&z).abs() < 1e-6 && (x.norm() - 1.0).abs() < 1e-6);
        }
    }
}
