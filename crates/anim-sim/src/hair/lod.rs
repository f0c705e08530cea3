//! Levels of detail: fewer guides of fewer segments where hair is small on the screen, without a pop.
//!
//! Every level is hair of its own, of the same groom and material: its guides are those of the finest that lie farthest
//! apart, cut into fewer segments. One guide of one segment is a damped spring that the whole head of hair lags by, and
//! without guides nothing is simulated: strands follow the root as they hang, and sway. The strands that are drawn are the
//! same on every level. When the size on the screen leaves a level by more than a margin, the next begins in the pose and
//! with the velocity of the one before, both are simulated while one fades into the other, and then the old one is dropped:
//! so that what is drawn is continuous, and so is its velocity.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::hair::{HairDrive, HairLevel, HairLod, HairLodSolver, HairLodSpec, HairLodState, HairSpec};
//!
//! let strand = |x: f32| vec![Vec3::x() * x, Vec3::new(x, 0.2, 0.0)];
//! let lod = HairLod::new(&HairLodSpec {
//!     hair: HairSpec { guides: vec![strand(0.0), strand(0.01), strand(0.02)], ..HairSpec::default() },
//!     followers: vec![strand(0.004), strand(0.013)],
//!     levels: vec![
//!         HairLevel { guides: 3, segments: 16, pixels: 300.0 },
//!         HairLevel { guides: 2, segments: 6, pixels: 80.0 },
//!         HairLevel { guides: 1, segments: 1, pixels: 20.0 },
//!         HairLevel { guides: 0, segments: 1, pixels: 0.0 },
//!     ],
//!     ..HairLodSpec::default()
//! })?;
//! let mut state = HairLodState::new(&lod);
//! let mut solver = HairLodSolver::new(&lod);
//! solver.step(&lod, &HairDrive::default(), 50.0, 1.0 / 60.0, &mut state);
//! assert_eq!(state.level(), 2);
//! assert!(!lod.is_simulated(3));
//! let mut positions = vec![Vec3::zeros(); lod.followers().vertex_count()];
//! solver.place(&lod, &state, &mut positions);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use anim_geom::Collider;
use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use super::binding::{Binding, GuideTurns};
use super::guide::Followers;
use super::model::{Hair, HairState};
use super::spec::HairSpec;
use super::sway;
use crate::SimError;

/// Hair with levels of detail; edit it, then make it a [`HairLod`].
#[derive(Clone, Debug)]
pub struct HairLodSpec {
    /// The finest hair; how its guides are cut is up to the levels.
    pub hair: HairSpec,
    /// The strands that are drawn, from root to tip, metres, in the space of the root.
    pub followers: Vec<Vec<Vec3>>,
    /// Guides that each of them follows, at most 4.
    pub followed: usize,
    /// From the finest to the coarsest; without any, the finest hair as it is serves every size.
    pub levels: Vec<HairLevel>,
    /// By what fraction of a level's size on the screen the size must be beyond it to switch, in [0, 1).
    pub margin: f32,
    /// How long one level fades into another, s, not negative.
    ///
    /// Meanwhile a drawn point moves in a step of `dt` no farther than the levels move it, and 2 `dt` / `fade` of how far
    /// they disagree: the distances between the segments on its way from the root as the one and as the other has them,
    /// summed up. That is twice the length of the strand at most, and nothing at the beginning and at the end.
    pub fade: f32,
    /// Gravity under which hair hangs that is not simulated, m/s², in the space of the root.
    pub gravity: Vec3,
    /// What it lies on then, in the space of the root.
    pub colliders: Vec<Collider>,
}

/// One level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HairLevel {
    /// Guides of the finest hair that are simulated; as many as there are if there are fewer.
    ///
    /// 0: none, at the cost of placing strands alone. They follow the root as the level before hangs when it has come to
    /// rest, the finest hair if there is none, and lean and sway in the wind and as the root moves.
    pub guides: usize,
    /// Segments of each, at least 1.
    pub segments: u32,
    /// The size on the screen from which the level serves; the last serves below its own too.
    pub pixels: f32,
}

impl Default for HairLodSpec {
    /// No levels yet; a quarter of a second to fade.
    fn default() -> Self {
        Self {
            hair: HairSpec::default(),
            followers: Vec::new(),
            followed: 4,
            levels: Vec::new(),
            margin: 0.1,
            fade: 0.25,
            gravity: Vec3::new(0.0, -9.81, 0.0),
            colliders: Vec::new(),
        }
    }
}

/// Valid hair with levels of detail.
#[derive(Clone, Debug)]
pub struct HairLod {
    pub(super) levels: Vec<Level>,
    margin: f32,
    pub(super) fade: f32,
}

#[derive(Clone, Debug)]
pub(super) struct Level {
    pixels: f32,
    pub(super) hair: Hair,
    /// Of each guide, which one of the finest hair it is.
    pub(super) guides: Vec<usize>,
    pub(super) followers: Followers,
    /// For each other level, the guides there of each guide here.
    pub(super) sources: Vec<Vec<Binding>>,
    /// Of hair that is not simulated, how it hangs.
    pub(super) hang: Option<Hang>,
}

/// How hair hangs that is not simulated.
#[derive(Clone, Debug)]
pub(super) struct Hang {
    pub(super) state: HairState,
    pub(super) turns: GuideTurns,
    /// Of each strand that is drawn, from root to tip, m.
    pub(super) ways: Vec<Vec3>,
}

impl HairLod {
    /// Makes the levels. Costs what making their hair does; for one without guides, a second or two of simulating the one
    /// before.
    ///
    /// # Errors
    ///
    /// What [`Hair::new`] and [`Followers::new`] refuse; [`SimError::OutOfRange`] for a level whose size on the screen
    /// is not below that of the one before, and for a margin or fade out of its range.
    pub fn new(spec: &HairLodSpec) -> Result<Self, SimError> {
        check(spec)?;
        let mut hairs = Vec::new();
        let finest = Hair::new(spec.hair.clone())?;
        let apart = apart(&finest);
        let mut chosen = Vec::new();
        let mut pixels = Vec::new();
        let mut hangs: Vec<Option<HairState>> = Vec::new();
        for level in &spec.levels {
            pixels.push(level.pixels);
            if level.guides == 0 {
                let hair: &Hair = hairs.last().unwrap_or(&finest);
                hangs.push(Some(sway::hang(hair, spec.gravity, &spec.colliders)));
                let all = || (0..finest.guide_count()).collect();
                chosen.push(chosen.last().cloned().unwrap_or_else(all));
                hairs.push(hair.clone());
                continue;
            }
            hangs.push(None);
            let mut order = apart.clone();
            order.truncate(level.guides);
            if order.len() == apart.len() {
                // All of them, as they are.
                order.sort_unstable();
            }
            let guides = order.iter();
            let guides = guides.map(|guide| spec.hair.guides[*guide].clone());
            hairs.push(Hair::new(HairSpec {
                guides: guides.collect(),
                segments: Some(level.segments.max(1)),
                ..spec.hair.clone()
            })?);
            chosen.push(order);
        }
        if hairs.is_empty() {
            chosen.push((0..finest.guide_count()).collect());
            pixels.push(0.0);
            hangs.push(None);
            hairs.push(finest);
        }
        let bind = |from: &Hair, to: &Hair| {
            let roots = to.strands.iter().map(|s| to.points[s.first_vertex]);
            roots.map(|root| Binding::new(from, root, 4)).collect()
        };
        let sources: Vec<Vec<_>> = hairs
            .iter()
            .map(|to| hairs.iter().map(|from| bind(from, to)).collect())
            .collect();
        let levels = pixels
            .into_iter()
            .zip(chosen)
            .zip(hairs.into_iter().zip(sources).zip(hangs));
        let levels = levels.map(|((pixels, guides), ((hair, sources), hang))| {
            let followers = Followers::new(&hair, &spec.followers, spec.followed)?;
            let hang = hang.map(|state| {
                let mut turns = GuideTurns::new(&hair);
                turns.update(&hair, &state);
                let ways = followers.ways(&hair, &turns);
                Hang { state, turns, ways }
            });
            Ok(Level {
                pixels,
                guides,
                followers,
                hair,
                sources,
                hang,
            })
        });
        Ok(Self {
            levels: levels.collect::<Result<_, SimError>>()?,
            margin: spec.margin,
            fade: spec.fade,
        })
    }

    /// Number of levels.
    pub fn level_count(&self) -> usize {
        self.levels.len()
    }

    /// The hair of a level, 0 is the finest.
    ///
    /// # Panics
    ///
    /// If there is no such level.
    pub fn hair(&self, level: usize) -> &Hair {
        &self.levels[level].hair
    }

    /// False for a level without guides: its hair is that of the level before, as it hangs.
    ///
    /// # Panics
    ///
    /// If there is no such level.
    pub fn is_simulated(&self, level: usize) -> bool {
        self.levels[level].hang.is_none()
    }

    /// The strands that are drawn.
    pub fn followers(&self) -> &Followers {
        &self.levels[0].followers
    }

    /// The level that serves a size on the screen, coming from another; that one as long as it is within the margin.
    ///
    /// For [`HairLodSolver::step_at`](super::HairLodSolver::step_at), whose caller knows levels.
    pub fn choose(&self, level: usize, pixels: f32) -> usize {
        let level = level.min(self.levels.len() - 1);
        let serves = |level: &Level, factor: f32| pixels >= level.pixels * factor;
        let last = self.levels.len() - 1;
        let finer = self
            .levels
            .iter()
            .position(|l| serves(l, 1.0 + self.margin));
        match finer {
            Some(finer) if finer < level => finer,
            _ if serves(&self.levels[level], 1.0 - self.margin) => level,
            _ => self
                .levels
                .iter()
                .position(|l| serves(l, 1.0))
                .unwrap_or(last)
                .max(level),
        }
    }
}

/// The guides in an order in which each has its root farthest from those before it.
fn apart(hair: &Hair) -> Vec<usize> {
    let roots: Vec<Vec3> = hair
        .strands
        .iter()
        .map(|s| hair.points[s.first_vertex])
        .collect();
    let center = roots.iter().sum::<Vec3>() / roots.len() as f32;
    // First the one in the middle.
    let mut gaps: Vec<f32> = roots.iter().map(|r| -(r - center).norm()).collect();
    let mut order = Vec::with_capacity(roots.len());
    let mut is_taken = vec![false; roots.len()];
    for turn in 0..roots.len() {
        let free = (0..roots.len()).filter(|guide| !is_taken[*guide]);
        let Some(next) = free.reduce(|a, b| if gaps[b] > gaps[a] { b } else { a }) else {
            break;
        };
        is_taken[next] = true;
        order.push(next);
        for (gap, root) in gaps.iter_mut().zip(&roots) {
            let distance = (root - roots[next]).norm();
            *gap = if turn == 0 {
                distance
            } else {
                gap.min(distance)
            };
        }
    }
    order
}

fn check(spec: &HairLodSpec) -> Result<(), SimError> {
    let out_of_range = |what, index, value| Err(SimError::OutOfRange { what, index, value });
    if !(0.0..1.0).contains(&spec.margin) {
        return out_of_range("levels' margin", 0, spec.margin);
    }
    if !(0.0..=f32::MAX).contains(&spec.fade) {
        return out_of_range("levels' fade", 0, spec.fade);
    }
    for (index, pair) in spec.levels.windows(2).enumerate() {
        if pair[1].pixels.partial_cmp(&pair[0].pixels) != Some(std::cmp::Ordering::Less) {
            return out_of_range("level's size", index + 1, pair[1].pixels);
        }
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::hair) fn lod() -> HairLod {
        let strand = |i: usize| {
            let root = Vec3::new((i % 6) as f32, 0.0, (i / 6) as f32) * 0.02;
            vec![
                root,
                root + Vec3::y() * 0.05,
                root + Vec3::new(0.05, 0.02, 0.1),
            ]
        };
        let level = |guides, segments, pixels| HairLevel {
            guides,
            segments,
            pixels,
        };
        HairLod::new(&HairLodSpec {
            hair: HairSpec {
                guides: (0..24).map(strand).collect(),
                ..HairSpec::default()
            },
            followers: (0..24).map(strand).collect(),
            levels: vec![level(24, 16, 300.0), level(8, 8, 100.0), level(1, 1, 0.0)],
            ..HairLodSpec::default()
        })
        .unwrap()
    }

    #[test]
    fn sizes_within_the_margin_do_not_switch() {
        let lod = lod();
        for (level, pixels, next) in [
            (0, 300.0, 0),
            (0, 275.0, 0),
            (0, 265.0, 1),
            (1, 320.0, 1),
            (1, 335.0, 0),
            (0, 5.0, 2),
            (2, 105.0, 2),
            (2, 115.0, 1),
            (2, 1e6, 0),
            (1, f32::NAN, 2),
        ] {
            assert_eq!(lod.choose(level, pixels), next, "{level} {pixels}");
        }
    }

    #[test]
    fn guides_that_are_kept_lie_apart() {
        let lod = lod();
        let coarse = &lod.levels[1].hair;
        let roots: Vec<_> = coarse
            .strands
            .iter()
            .map(|s| coarse.points[s.first_vertex])
            .collect();
        for (index, root) in roots.iter().enumerate() {
            for other in &roots[..index] {
                assert!((root - other).norm() > 0.027, "not direct neighbours");
            }
        }
    }

    #[test]
    fn levels_out_of_order_are_named() {
        let mut spec = HairLodSpec {
            hair: HairSpec {
                guides: vec![vec![Vec3::zeros(), Vec3::x()]],
                ..HairSpec::default()
            },
            ..HairLodSpec::default()
        };
        let error = |spec: &HairLodSpec| HairLod::new(spec).unwrap_err().to_string();
        assert_eq!(HairLod::new(&spec).unwrap().level_count(), 1);
        let level = HairLevel {
            guides: 1,
            segments: 1,
            pixels: 5.0,
        };
        spec.levels = vec![level; 2];
        assert_eq!(error(&spec), "level's size 1: 5 is out of range");
    }
}
