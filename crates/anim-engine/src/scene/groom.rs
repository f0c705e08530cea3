//! Grooms: how hair grows on a head, by a few numbers, or strand by strand.

use std::f32::consts::PI;

use anim_math::{Random, Vec3};
use anim_sim::hair::style::{self, Curl, Frizz};
use serde::{Deserialize, Serialize};

/// How hair grows, in the space of its joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GroomSpec {
    /// All over a round head that looks along +z, but the face.
    Scalp(ScalpSpec),
    /// Point by point from root to tip, m.
    Strands {
        /// What is simulated.
        guides: Vec<Vec<Vec3>>,
        /// What is drawn; the guides if left out.
        #[serde(default)]
        strands: Vec<Vec<Vec3>>,
    },
}

/// Hair that is parted in front, combed back and drawn in to the neck.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScalpSpec {
    /// Middle of the head, m.
    pub center: Vec3,
    /// Of the head, m.
    pub radius: f32,
    /// Of the longest strands, m.
    pub length: f32,
    /// Strands that are simulated: about so many.
    pub guides: u32,
    /// Strands that are drawn: about so many.
    pub strands: u32,
    /// How far strands gather in wisps at their tips, from 0 to 1.
    pub clump: f32,
    /// How rough a strand is, m.
    pub frizz: f32,
    /// Radius of its curls, m.
    pub curl: f32,
    /// Other seeds grow other hair.
    pub seed: u64,
}

impl Default for ScalpSpec {
    /// Long hair on a head about the origin.
    fn default() -> Self {
        Self {
            center: Vec3::zeros(),
            radius: 0.095,
            length: 0.26,
            guides: 60,
            strands: 1500,
            clump: 0.6,
            frizz: 0.004,
            curl: 0.0,
            seed: 11,
        }
    }
}

/// Segments of a groomed strand.
const STEPS: u8 = 24;
/// Bumps of a rough strand, and turns of a curl, a metre.
const BUMPS: f32 = 18.0;
const TURNS: f32 = 25.0;
/// Strands that a wisp gathers, about.
const WISP: u32 = 7;

/// Guides, and what is drawn.
pub(super) type Strands = [Vec<Vec<Vec3>>; 2];

impl GroomSpec {
    /// All strands, in the space of the joint.
    pub(super) fn grow(&self) -> Strands {
        match self {
            Self::Strands { guides, strands } => [guides.clone(), strands.clone()],
            Self::Scalp(scalp) => {
                let mut strands = scalp.strands(scalp.strands);
                if scalp.clump > 0.0 {
                    let wisps = scalp.strands(scalp.strands.div_ceil(WISP));
                    style::clump(&mut strands, &wisps, scalp.clump, 1.5);
                }
                if scalp.frizz > 0.0 {
                    let frizz = Frizz {
                        amplitude: scalp.frizz,
                        frequency: BUMPS,
                    };
                    style::frizz(&mut strands, &frizz, scalp.seed);
                }
                if scalp.curl > 0.0 {
                    let curl = Curl {
                        radius: scalp.curl,
                        turns: TURNS,
                        start: 0.3,
                    };
                    style::curl(&mut strands, &curl, scalp.seed);
                }
                [scalp.strands(scalp.guides), strands]
            }
        }
    }
}

impl ScalpSpec {
    /// About so many strands, evenly spread: up and out of the head, then down.
    fn strands(&self, count: u32) -> Vec<Vec<Vec3>> {
        // Hair covers about half of a head.
        let total = 2 * count.max(1);
        let golden = PI * (3.0 - 5.0_f32.sqrt());
        let mut random = Random::new(self.seed, u64::from(count), 0);
        let mut strands = Vec::new();
        for n in 0..total {
            let y = 1.0 - 2.0 * (n as f32 + 0.5) / total as f32;
            let (sin, cos) = libm::sincosf(golden * n as f32);
            let around = (1.0 - y * y).sqrt();
            let out = Vec3::new(around * cos, y, around * sin);
            // The hair line: from the forehead over the ears to the nape.
            if out.y >= 0.55 * out.z + 0.12 - 0.35 * (1.0 - out.z).min(1.0) {
                let length = self.length * random.range(0.94, 1.0);
                strands.push(self.strand(out, length));
            }
        }
        strands
    }

    /// A strand whose root is in the direction `out` from the middle of the head.
    fn strand(&self, out: Vec3, length: f32) -> Vec<Vec3> {
        // Proportions are those of a head of 0.095 m.
        let unit = self.radius / 0.095;
        let parted = if out.x < 0.0 { -0.35 } else { 0.35 };
        let side = parted * (out.z + 0.5).clamp(0.0, 1.0);
        let level = Vec3::new(out.x + side, 0.0, out.z - 0.75);
        let away = level.try_normalize(1e-6).unwrap_or_else(Vec3::x);
        let mut at = out * self.radius;
        let mut points = vec![self.center + at];
        for step in 0..STEPS {
            let along = f32::from(step) / f32::from(STEPS);
            let from_neck = Vec3::new(at.x, 0.0, at.z + 0.02 * unit);
            let beyond = (from_neck.norm() - 0.075 * unit) / (0.04 * unit);
            let drawn_in = 0.45 * beyond.clamp(0.0, 1.0) * (3.0 * along).min(1.0);
            let mut way = out * (0.5 - 6.0 * along).max(0.0)
                + away * 0.9 * (1.0 - 2.6 * along).max(0.0)
                - Vec3::y() * (0.15 + (3.0 * along).min(1.0))
                - from_neck.try_normalize(1e-6).unwrap_or_default() * drawn_in;
            // It lies on the head.
            if at.norm() < self.radius + 0.006 * unit
                && let Some(up) = at.try_normalize(1e-6)
            {
                way -= up * way.dot(&up).min(0.0);
            }
            let way = way.try_normalize(1e-6).unwrap_or(-Vec3::y());
            at += way * (length / f32::from(STEPS));
            points.push(self.center + at);
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalp_grows_the_strands_asked_for_out_of_the_head() {
        let scalp = ScalpSpec {
            center: Vec3::new(0.0, 0.1, 0.0),
            ..ScalpSpec::default()
        };
        let [guides, strands] = GroomSpec::Scalp(scalp).grow();
        // The hair line is not exactly at half of the sphere.
        assert!((45..=75).contains(&guides.len()), "{}", guides.len());
        assert!((1200..=1800).contains(&strands.len()), "{}", strands.len());
        for strand in guides.iter().chain(&strands) {
            let way = strand[0] - scalp.center;
            assert!((way.norm() - scalp.radius).abs() < 1e-6, "roots lie on it");
            let length: f32 = strand.windows(2).map(|p| (p[1] - p[0]).norm()).sum();
            assert!((0.24..=0.261).contains(&length), "{length}");
        }
        for point in guides.iter().flatten() {
            let depth = scalp.radius - (point - scalp.center).norm();
            assert!(depth < 1e-3, "a guide starts {depth} m inside the head");
        }
    }
}
