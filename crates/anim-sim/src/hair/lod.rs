//! Levels of detail: fewer guides of fewer segments where hair is small on the screen, without a pop.
//!
//! Every level is hair of its own, of the same groom and material: its guides are those of the finest that lie farthest
//! apart, cut into fewer segments. The last may be one guide of one segment, a damped spring that the whole head of hair
//! lags by. The strands that are drawn are the same on every level. When the size on the screen leaves a level by more than
//! a margin, the next begins in the pose and with the velocity of the one before, both are simulated while one fades into
//! the other, and then the old one is dropped: so that what is drawn is continuous, and so is its velocity.
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
//!         HairLevel { guides: 1, segments: 1, pixels: 0.0 },
//!     ],
//!     ..HairLodSpec::default()
//! })?;
//! let mut state = HairLodState::new(&lod);
//! let mut solver = HairLodSolver::new(&lod);
//! solver.step(&lod, &HairDrive::default(), 50.0, 1.0 / 60.0, &mut state);
//! assert_eq!(state.level(), 2);
//! let mut positions = vec![Vec3::zeros(); lod.followers().vertex_count()];
//! solver.place(&lod, &state, &mut positions);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use anim_geom::chunks;
use anim_math::Vec3;

use super::guide::{Binding, Followers, GuideTurns};
use super::model::{Hair, HairState};
use super::solver::{HairDrive, HairSolver};
use super::spec::HairSpec;
use crate::{Outcome, SimError};

/// Hair with levels of detail; edit it, then make it a [`HairLod`].
#[derive(Clone, Debug, PartialEq)]
pub struct HairLodSpec {
    /// The finest hair; how its guides are cut is up to the levels.
    pub hair: HairSpec,
    /// The strands that are drawn, from root to tip, metres, in the space of the root.
    pub followers: Vec<Vec<Vec3>>,
    /// From the finest to the coarsest.
    pub levels: Vec<HairLevel>,
    /// By what fraction of a level's size on the screen the size must be beyond it to switch, in [0, 1).
    pub margin: f32,
    /// How long one level fades into another, s, not negative.
    pub fade: f32,
}

/// One level of detail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HairLevel {
    /// Guides of the finest hair that are simulated, at least 1; as many as there are if there are fewer.
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
            levels: Vec::new(),
            margin: 0.1,
            fade: 0.25,
        }
    }
}

/// Valid hair with levels of detail.
#[derive(Clone, Debug)]
pub struct HairLod {
    levels: Vec<Level>,
    margin: f32,
    fade: f32,
}

#[derive(Clone, Debug)]
struct Level {
    pixels: f32,
    hair: Hair,
    followers: Followers,
    /// For each other level, the guides there of each guide here.
    sources: Vec<Vec<Binding>>,
}

impl HairLod {
    /// Makes the levels. Costs what making their hair does.
    ///
    /// # Errors
    ///
    /// What [`Hair::new`] and [`Followers::new`] refuse; [`SimError::OutOfRange`] without levels, for a level whose size on
    /// the screen is not below that of the one before, and for a margin or fade out of its range.
    pub fn new(spec: &HairLodSpec) -> Result<Self, SimError> {
        check(spec)?;
        let mut hairs = Vec::new();
        let finest = Hair::new(spec.hair.clone())?;
        let order = apart(&finest);
        for level in &spec.levels {
            let guides = order
                .iter()
                .take(level.guides.max(1))
                .map(|guide| spec.hair.guides[*guide].clone())
                .collect();
            hairs.push(Hair::new(HairSpec {
                guides,
                segments: Some(level.segments.max(1)),
                ..spec.hair.clone()
            })?);
        }
        let bind = |from: &Hair, to: &Hair| {
            let roots = to.strands.iter().map(|s| to.points[s.first_vertex]);
            roots.map(|root| Binding::new(from, root, 4)).collect()
        };
        let sources: Vec<Vec<_>> = hairs
            .iter()
            .map(|to| hairs.iter().map(|from| bind(from, to)).collect())
            .collect();
        let levels = spec.levels.iter().zip(hairs).zip(sources);
        let levels = levels.map(|((level, hair), sources)| {
            Ok(Level {
                pixels: level.pixels,
                followers: Followers::new(&hair, &spec.followers, 4)?,
                hair,
                sources,
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

    /// The strands that are drawn.
    pub fn followers(&self) -> &Followers {
        &self.levels[0].followers
    }

    /// The level that serves a size on the screen, coming from another.
    fn choose(&self, level: usize, pixels: f32) -> usize {
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

/// Where one head of hair with levels of detail is.
#[derive(Clone, Debug, PartialEq)]
pub struct HairLodState {
    level: usize,
    /// For each level; only that of the level and of the one that fades are in motion.
    states: Vec<HairState>,
    /// The level before, and how far its fading is, in [0, 1].
    fading: Option<(usize, f32)>,
    begun: bool,
}

impl HairLodState {
    /// At rest in the groom; the first step chooses the level without fading.
    pub fn new(lod: &HairLod) -> Self {
        Self {
            level: 0,
            states: lod.levels.iter().map(|l| HairState::new(&l.hair)).collect(),
            fading: None,
            begun: false,
        }
    }

    /// The level that is simulated, or fades in.
    pub fn level(&self) -> usize {
        self.level
    }

    /// The level that fades out, if one does.
    pub fn fading(&self) -> Option<usize> {
        self.fading.map(|(level, _)| level)
    }

    /// The hair of the level.
    pub fn hair(&self) -> &HairState {
        &self.states[self.level]
    }

    /// Puts the hair back into the groom, at rest; the next step chooses the level without fading.
    ///
    /// # Panics
    ///
    /// If the state was made for other hair.
    pub fn reset(&mut self, lod: &HairLod) {
        for (state, level) in self.states.iter_mut().zip(&lod.levels) {
            state.reset(&level.hair);
        }
        self.fading = None;
        self.begun = false;
    }
}

/// Moves hair with levels of detail; owns the scratch of one head.
#[derive(Clone, Debug)]
pub struct HairLodSolver {
    solvers: Vec<HairSolver>,
    /// Of each level.
    turns: Vec<GuideTurns>,
    faded: Vec<Vec3>,
}

impl HairLodSolver {
    /// Scratch for one head of hair.
    pub fn new(lod: &HairLod) -> Self {
        Self {
            solvers: lod
                .levels
                .iter()
                .map(|l| HairSolver::new(&l.hair))
                .collect(),
            turns: lod
                .levels
                .iter()
                .map(|l| GuideTurns::new(&l.hair))
                .collect(),
            faded: vec![Vec3::zeros(); lod.followers().vertex_count()],
        }
    }

    /// Chooses the level for the hair's size on the screen, `pixels`, and advances `state` by `dt`, s.
    ///
    /// A level that fades is stepped as well, and no other is chosen until it is gone. Loads are on the vertices of the
    /// level that is simulated. Otherwise as [`HairSolver::step`]; the outcome is that of the level.
    ///
    /// # Panics
    ///
    /// If the solver or the state was made for other hair.
    pub fn step(
        &mut self,
        lod: &HairLod,
        drive: &HairDrive<'_>,
        pixels: f32,
        dt: f32,
        state: &mut HairLodState,
    ) -> Outcome {
        assert!(
            self.solvers.len() == lod.levels.len() && state.states.len() == lod.levels.len(),
            "the solver or the state was made for other hair"
        );
        if !(dt > 0.0 && dt.is_finite()) {
            return Outcome::default();
        }
        if state.fading.is_none() {
            let next = lod.choose(state.level, pixels);
            if next != state.level {
                self.transfer(lod, state, next);
                let fades = state.begun && lod.fade > 0.0;
                state.fading = fades.then_some((state.level, 0.0));
                state.level = next;
            }
        }
        state.begun = true;
        let mut step = |level: usize, states: &mut [HairState]| {
            self.solvers[level].step(&lod.levels[level].hair, drive, dt, &mut states[level])
        };
        let outcome = step(state.level, &mut state.states);
        if let Some((old, progress)) = state.fading {
            step(old, &mut state.states);
            let progress = progress + dt / lod.fade;
            state.fading = (progress < 1.0).then_some((old, progress));
        }
        outcome
    }

    /// Writes where the strands that are drawn are, in the space of the root. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If `positions` has not one element for each of their points, or the solver or the state was made for other hair.
    pub fn place(&mut self, lod: &HairLod, state: &HairLodState, positions: &mut [Vec3]) {
        let mut place = |level: usize, positions: &mut [Vec3]| {
            let Level {
                hair, followers, ..
            } = &lod.levels[level];
            self.turns[level].update(hair, &state.states[level]);
            followers.place(hair, &self.turns[level], positions);
        };
        place(state.level, positions);
        if let Some((old, progress)) = state.fading {
            place(old, &mut self.faded);
            // Without a jump of velocity at either end.
            let weight = progress * progress * (3.0 - 2.0 * progress);
            chunks::for_each_mut(positions, |first, chunk| {
                for (position, old) in chunk.iter_mut().zip(&self.faded[first..]) {
                    *position = old + (*position - old) * weight;
                }
            });
        }
    }

    /// Begins a level in the pose and motion of the one that is simulated.
    fn transfer(&mut self, lod: &HairLod, state: &mut HairLodState, to: usize) {
        let from = state.level;
        let (source, target) = (&lod.levels[from].hair, &lod.levels[to].hair);
        let Ok([old, begun]) = state.states.get_disjoint_mut([from, to]) else {
            return;
        };
        let old: &HairState = old;
        let turns = &mut self.turns[from];
        turns.update(source, old);
        for (strand, binding) in target.strands.iter().zip(&lod.levels[to].sources[from]) {
            let leaders = binding.leaders(source, turns);
            let mut position = target.points[strand.first_vertex];
            begun.positions[strand.first_vertex] = position;
            for index in 0..strand.segments {
                let (segment, vertex) = (
                    strand.first_segment + index,
                    strand.first_vertex + index + 1,
                );
                let turned = leaders.turn(index, strand.segments);
                let along = target.points[vertex] - target.points[vertex - 1];
                position += turned * along;
                let fraction = (index + 1) as f32 / strand.segments as f32;
                begun.positions[vertex] = position;
                begun.velocities[vertex] = binding.velocity(source, old, fraction);
                begun.orientations[segment] = turned * target.frames[segment];
                begun.tensions[segment] = 0.0;
            }
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
    if spec.levels.is_empty() {
        return out_of_range("number of levels", 0, 0.0);
    }
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
mod tests {
    use super::*;
    use anim_math::{Transform, quat};

    const FRAME: f32 = 1.0 / 60.0;

    fn lod() -> HairLod {
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

    /// The largest step of any drawn point from frame to frame, over a swing of the head at these sizes.
    fn jumps(lod: &HairLod, pixels: impl Fn(i32) -> f32) -> Vec<f32> {
        let mut state = HairLodState::new(lod);
        let mut solver = HairLodSolver::new(lod);
        let mut positions = vec![Vec3::zeros(); lod.followers().vertex_count()];
        let mut last = positions.clone();
        let at = |frame: i32| {
            let angle = 0.5 * libm::sinf(frame as f32 * 0.2);
            Transform::from_rotation(quat::from_axis_angle(Vec3::x(), angle))
        };
        let steps = (0..120).map(|frame| {
            let drive = HairDrive {
                previous_world_from_root: at(frame),
                world_from_root: at(frame + 1),
                ..HairDrive::default()
            };
            solver.step(lod, &drive, pixels(frame), FRAME, &mut state);
            solver.place(lod, &state, &mut positions);
            let steps = positions.iter().zip(&last).map(|(a, b)| (a - b).norm());
            let step = steps.fold(0.0, f32::max);
            last.copy_from_slice(&positions);
            step
        });
        steps.skip(1).collect()
    }

    #[test]
    fn nothing_pops_when_the_level_changes() {
        let lod = lod();
        let most = |jumps: &[f32]| jumps.iter().copied().fold(0.0, f32::max);
        let fine = most(&jumps(&lod, |_| 400.0));
        let coarse = most(&jumps(&lod, |_| 10.0));
        let switching = most(&jumps(&lod, |frame| {
            [400.0, 10.0, 150.0][frame as usize / 25 % 3]
        }));
        assert!(
            switching < 1.5 * fine.max(coarse),
            "{switching} {fine} {coarse}"
        );
    }

    #[test]
    fn a_switch_takes_the_pose_and_the_velocity_along() {
        let lod = lod();
        let mut state = HairLodState::new(&lod);
        let mut solver = HairLodSolver::new(&lod);
        let drive = HairDrive {
            wind: Vec3::new(20.0, 0.0, 0.0),
            ..HairDrive::default()
        };
        for _ in 0..6 {
            solver.step(&lod, &drive, 400.0, FRAME, &mut state);
        }
        solver.transfer(&lod, &mut state, 1);
        // The guides of the coarse level are guides of the fine one.
        let (fine, coarse) = (&lod.levels[0].hair, &lod.levels[1].hair);
        for guide in 0..coarse.guide_count() {
            let range = coarse.guide(guide);
            let root = coarse.groom()[range.start];
            let same = (0..fine.guide_count())
                .map(|g| fine.guide(g))
                .find(|r| fine.groom()[r.start] == root)
                .unwrap();
            let (tip, fine_tip) = (range.end - 1, same.end - 1);
            let (a, b) = (&state.states[1], &state.states[0]);
            assert!((a.positions[tip] - b.positions[fine_tip]).norm() < 5e-3);
            assert_eq!(a.velocities[tip], b.velocities[fine_tip]);
            assert!(b.velocities[fine_tip].norm() > 0.2);
        }
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
        assert_eq!(error(&spec), "number of levels 0: 0 is out of range");
        let level = HairLevel {
            guides: 1,
            segments: 1,
            pixels: 5.0,
        };
        spec.levels = vec![level; 2];
        assert_eq!(error(&spec), "level's size 1: 5 is out of range");
    }
}
