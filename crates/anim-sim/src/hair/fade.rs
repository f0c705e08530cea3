//! Hair with levels of detail in motion: chooses the level, and lets one fade into the next.
//!
//! A level begins in the pose and with the velocity of the one before: each of its guides follows those as a drawn strand
//! would. Both are then simulated, and what is drawn goes from one to the other smoothly. Use
//! [`HairSolver`] where there is one level.

use anim_geom::Collider;
use anim_math::{Transform, Vec3};

use super::binding::GuideTurns;
use super::guide::{Fading, Lead};
use super::lod::{HairLod, Level};
use super::model::HairState;
use super::outside::Bodies;
use super::solver::{HairDrive, HairSolver};
use crate::Outcome;

/// Where one head of hair with levels of detail is.
#[derive(Clone, Debug, PartialEq)]
pub struct HairLodState {
    /// The level that is simulated, or fades in.
    pub level: usize,
    /// For each level; only that of the level and of the one that fades are in motion.
    pub states: Vec<HairState>,
    /// The level before, and how far its fading is, in [0, 1].
    pub fading: Option<(usize, f32)>,
    /// False until the first step, which chooses the level without fading.
    pub begun: bool,
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
    /// Of the guides of a level, at the beginning and at the end of the step.
    roots: [Vec<Transform>; 2],
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
            roots: Default::default(),
        }
    }

    /// Chooses the level for the hair's size on the screen, `pixels`, and advances `state` by `dt`, s.
    ///
    /// As [`step_at`](Self::step_at) otherwise.
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
        let level = lod.choose(state.level, pixels);
        self.step_at(lod, drive, level, dt, state)
    }

    /// Goes over to `level`, the last if there are fewer, and advances `state` by `dt`, s.
    ///
    /// A level that fades is stepped as well, and no other is chosen until it is gone. Loads are on the vertices of the
    /// level that is simulated, roots those of the guides of the finest hair, [`HairLodSpec::hair`](super::HairLodSpec::hair). Otherwise as [`HairSolver::step`]; the outcome is that of the level.
    ///
    /// # Panics
    ///
    /// If the solver or the state was made for other hair.
    pub fn step_at(
        &mut self,
        lod: &HairLod,
        drive: &HairDrive<'_>,
        level: usize,
        dt: f32,
        state: &mut HairLodState,
    ) -> Outcome {
        let count = lod.levels.len();
        let is_own = |level: usize| level < count;
        assert!(
            self.solvers.len() == count
                && state.states.len() == count
                && is_own(state.level)
                && state.fading().is_none_or(is_own),
            "the solver or the state was made for other hair"
        );
        if !(dt > 0.0 && dt.is_finite()) {
            return Outcome::default();
        }
        if state.fading.is_none() {
            let next = level.min(count - 1);
            if next != state.level {
                self.transfer(lod, state, next);
                let fades = state.begun && lod.fade > 0.0;
                state.fading = fades.then_some((state.level, 0.0));
                state.level = next;
            }
        }
        state.begun = true;
        let mut step = |level: usize, states: &mut [HairState]| {
            let Level { hair, guides, .. } = &lod.levels[level];
            let mut drive = *drive;
            if !drive.world_from_roots.is_empty() {
                let [starts, ends] = &mut self.roots;
                starts.clear();
                starts.extend(guides.iter().map(|guide| drive.root(*guide)[0]));
                ends.clear();
                ends.extend(guides.iter().map(|guide| drive.root(*guide)[1]));
                drive.previous_world_from_roots = starts;
                drive.world_from_roots = ends;
            }
            self.solvers[level].step(hair, &drive, dt, &mut states[level])
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
        self.place_outside(lod, state, &[], 0.0, positions);
    }

    /// As [`place`](Self::place), and keeps the strands out of colliders as [`Followers::place_outside`] does.
    ///
    /// # Panics
    ///
    /// As [`place`](Self::place).
    ///
    /// [`Followers::place_outside`]: super::Followers::place_outside
    pub fn place_outside(
        &mut self,
        lod: &HairLod,
        state: &HairLodState,
        colliders: &[Collider],
        clearance: f32,
        positions: &mut [Vec3],
    ) {
        let levels = [Some(state.level), state.fading()];
        for level in levels.into_iter().flatten() {
            self.turns[level].update(&lod.levels[level].hair, &state.states[level]);
        }
        let fading = state.fading.map(|(old, progress)| Fading {
            hair: &lod.levels[old].hair,
            turns: &self.turns[old],
            followers: &lod.levels[old].followers,
            // Without a jump of velocity at either end.
            left: 1.0 - progress * progress * (3.0 - 2.0 * progress),
        });
        let Level {
            hair, followers, ..
        } = &lod.levels[state.level];
        let lead = Lead {
            hair,
            turns: &self.turns[state.level],
            fading,
        };
        followers.follow(&lead, &Bodies::new(colliders, clearance), positions);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hair::lod::tests::lod;
    use anim_math::quat;

    const FRAME: f32 = 1.0 / 60.0;

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
}
