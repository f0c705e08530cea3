//! Hair with levels of detail in motion: chooses the level, and lets one fade into the next.
//!
//! A level begins in the pose and with the velocity of the one before: each of its guides follows those as a drawn strand
//! would. Both are then simulated, and what is drawn goes from one to the other smoothly. Use
//! [`HairSolver`] where there is one level.

use anim_geom::Collider;
use anim_math::{Transform, Vec3};

use super::binding::GuideTurns;
use super::guide::{Fading, Lead, Led};
use super::lod::{HairLod, Level};
use super::model::{Hair, HairState, Strand};
use super::outside::Bodies;
use super::path;
use super::solver::{HairDrive, HairSolver};
use super::sway::HairSway;
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
    /// How hair leans and sways on a level that is not simulated.
    pub sway: HairSway,
}

impl HairLodState {
    /// At rest in the groom, levels that are not simulated as they hang; the first step chooses the level without fading.
    pub fn new(lod: &HairLod) -> Self {
        Self {
            level: 0,
            states: lod.levels.iter().map(at_rest).collect(),
            fading: None,
            begun: false,
            sway: HairSway::default(),
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
            match &level.hang {
                Some(hang) => state.clone_from(&hang.state),
                None => state.reset(&level.hair),
            }
        }
        self.fading = None;
        self.begun = false;
        self.sway = HairSway::default();
    }
}

/// Where the hair of a level begins.
fn at_rest(level: &Level) -> HairState {
    match &level.hang {
        Some(hang) => hang.state.clone(),
        None => HairState::new(&level.hair),
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
        let sway = state.sway;
        state.sway.advance(&lod.levels[0].hair, drive, dt);
        if state.fading.is_none() {
            let next = level.min(count - 1);
            if next != state.level {
                self.begin(lod, drive, sway, dt, state, next);
                let fades = state.begun && lod.fade > 0.0;
                state.fading = fades.then_some((state.level, 0.0));
                state.level = next;
            }
        }
        state.begun = true;
        let mut step = |level: usize, states: &mut [HairState]| {
            let Level {
                hair, guides, hang, ..
            } = &lod.levels[level];
            if hang.is_some() {
                return Outcome::default();
            }
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
            let Level { hair, hang, .. } = &lod.levels[level];
            if hang.is_none() {
                self.turns[level].update(hair, &state.states[level]);
            }
        }
        let waves = state.sway.waves();
        let lead = |index: usize| {
            let Level { hair, hang, .. } = &lod.levels[index];
            let hang = hang.as_ref();
            Lead {
                hair,
                turns: hang.map_or(&self.turns[index], |hang| &hang.turns),
                sway: hang.map(|hang| (waves, &*hang.ways)),
            }
        };
        let fading = state.fading.map(|(old, progress)| Fading {
            lead: lead(old),
            followers: &lod.levels[old].followers,
            // Without a jump of velocity at either end.
            left: 1.0 - progress * progress * (3.0 - 2.0 * progress),
        });
        let followers = &lod.levels[state.level].followers;
        let bodies = Bodies::new(colliders, clearance);
        followers.follow(&lead(state.level), fading.as_ref(), &bodies, positions);
    }

    /// Begins a level in the pose and motion of the one that is shown.
    ///
    /// * `sway`: how that leans and sways at the beginning of the step; at its end as the state says.
    fn begin(
        &mut self,
        lod: &HairLod,
        drive: &HairDrive<'_>,
        sway: HairSway,
        dt: f32,
        state: &mut HairLodState,
        to: usize,
    ) {
        let from = state.level;
        let (source, target) = (&lod.levels[from], &lod.levels[to]);
        if target.hang.is_some() {
            return;
        }
        let waves = [sway, state.sway].map(|sway| sway.waves());
        let Ok([old, begun]) = state.states.get_disjoint_mut([from, to]) else {
            return;
        };
        let old: &HairState = old;
        let turns = &mut self.turns[from];
        turns.update(&source.hair, old);
        let turns = source.hang.as_ref().map_or(&*turns, |hang| &hang.turns);
        let guides = target.hair.strands.iter().zip(&target.guides);
        for ((strand, guide), binding) in guides.zip(&target.sources[from]) {
            let mut led = Led {
                leaders: binding.leaders(&source.hair, turns),
                bend: None,
            };
            if source.hang.is_none() {
                led.lay(&target.hair, strand, begun);
                for index in 1..=strand.segments {
                    let fraction = index as f32 / strand.segments as f32;
                    let velocity = binding.velocity(&source.hair, old, fraction);
                    begun.velocities[strand.first_vertex + index] = velocity;
                }
                continue;
            }
            led.lay(&target.hair, strand, begun);
            let [root, end] =
                [0, strand.segments].map(|k| begun.positions[strand.first_vertex + k]);
            let bends = waves.map(|waves| waves.bend(*guide as u32, root, end - root));
            let vertices = strand.first_vertex..strand.first_vertex + strand.segments + 1;
            // Where it would be at the end of the step, then where it is now: the way between is its velocity.
            let roots = path::usable(drive.root(*guide));
            led.bend = Some(bends[1]);
            led.lay(&target.hair, strand, begun);
            for vertex in vertices.clone() {
                begun.velocities[vertex] = roots[1].rotation * begun.positions[vertex];
            }
            led.bend = Some(bends[0]);
            led.lay(&target.hair, strand, begun);
            for vertex in vertices {
                let turned = begun.velocities[vertex] - roots[0].rotation * begun.positions[vertex];
                let way = roots[1].translation - roots[0].translation + turned;
                begun.velocities[vertex] = roots[0].rotation.inverse() * way / dt;
            }
        }
    }
}

impl Led<'_> {
    /// Puts a guide where a drawn strand of its groom would be.
    fn lay(&self, hair: &Hair, strand: &Strand, state: &mut HairState) {
        let mut position = hair.points[strand.first_vertex];
        state.positions[strand.first_vertex] = position;
        for index in 0..strand.segments {
            let (segment, vertex) = (
                strand.first_segment + index,
                strand.first_vertex + index + 1,
            );
            let turned = self.turn(index, strand.segments);
            position += turned * (hair.points[vertex] - hair.points[vertex - 1]);
            state.positions[vertex] = position;
            state.orientations[segment] = turned * hair.frames[segment];
            state.tensions[segment] = 0.0;
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
        let sway = state.sway;
        solver.begin(&lod, &drive, sway, FRAME, &mut state, 1);
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
