//! A head of hair of one actor: where its guides and the strands that are drawn are, and how they move through a frame.

use anim_geom::{Collider, Vertices, chunks};
use anim_math::{Affine, Transform, Vec3};
use anim_sim::Outcome;
use anim_sim::hair::{GuideTurns, HairDrive, HairLodSolver, HairLodState, HairState, Releases};

use crate::body::mix;
use crate::capsule::{MovingCapsules, Posed};
use crate::cloth::Phase;
use crate::hair::{CharacterHair, guide_ranges, root_of};
use crate::strands;
use crate::world::Passing;

/// A head of hair of one actor.
#[derive(Debug)]
pub struct ActorHair {
    state: HairLodState,
    solver: HairLodSolver,
    strands: Vec<Vec3>,
    capsules: MovingCapsules,
    releases: Releases,
    /// What drawn strands are kept out of, in the space of the root.
    near: Vec<Collider>,
    before: Transform,
    after: Transform,
    phase: Phase,
    outcome: Outcome,
    reset: usize,
}

impl ActorHair {
    pub(crate) fn new(hair: &CharacterHair) -> Self {
        Self {
            state: HairLodState::new(&hair.lod),
            solver: HairLodSolver::new(&hair.lod),
            strands: hair.followers().groom().to_vec(),
            releases: Releases::new(hair.followers()),
            capsules: MovingCapsules::new(&hair.body),
            near: Vec::new(),
            before: Transform::IDENTITY,
            after: Transform::IDENTITY,
            phase: Phase::Loose,
            outcome: Outcome::default(),
            reset: 0,
        }
    }

    /// Where the guides are and how they move, seen from the root: those of the level of detail that is simulated.
    pub fn state(&self) -> &HairState {
        self.state.hair()
    }

    /// Where all levels of detail are, and which of them is simulated.
    pub fn levels(&self) -> &HairLodState {
        &self.state
    }

    /// Puts the guides of the level that is simulated into a state, such as one of an earlier run.
    ///
    /// # Panics
    ///
    /// If the state is of other hair.
    pub fn set_state(&mut self, state: &HairState) {
        let level = self.state.level;
        copy(state, &mut self.state.states[level]);
    }

    /// Puts all levels into a state, such as one of an earlier run.
    ///
    /// # Panics
    ///
    /// As [`set_state`](Self::set_state).
    pub fn set_levels(&mut self, state: &HairLodState) {
        for (from, to) in state.states.iter().zip(&mut self.state.states) {
            copy(from, to);
        }
        self.state.level = state.level;
        self.state.fading = state.fading;
        self.state.begun = state.begun;
        self.state.sway = state.sway;
    }

    /// Where the root is in this frame.
    pub fn world_from_root(&self) -> Transform {
        self.after
    }

    /// The points of the drawn strands, [`CharacterHair::followers`], world space, m; after [`Stage::Skin`](crate::Stage::Skin)
    /// those of this frame. They are outside of the body and of obstacles by the radius of a strand, but for roots inside, and
    /// go round them: see [`Releases`].
    pub fn strands(&self) -> &[Vec3] {
        &self.strands
    }

    /// Writes the drawn strands as tubes, world space; their triangles are [`CharacterHair::triangles`].
    ///
    /// # Panics
    ///
    /// If `hair` is not what it was made of.
    pub fn tubes(&self, hair: &CharacterHair, out: &mut Vertices) {
        strands::place(hair.strands(), &self.strands, hair.radius, out);
    }

    /// Writes the guides as tubes of `radius`, m, world space: few and coarse, for files that are to stay small.
    pub fn guide_tubes(&self, hair: &CharacterHair, radius: f32, out: &mut Vertices) {
        let (world_from_root, level) = (Affine::from(self.after), self.state.level);
        let mut points = vec![Vec3::zeros(); hair.guides().vertex_count()];
        if level == 0 {
            points.copy_from_slice(&self.state().positions);
        } else {
            let mut turns = GuideTurns::new(hair.lod.hair(level));
            turns.update(hair.lod.hair(level), self.state());
            hair.guides[level].place(hair.lod.hair(level), &turns, &mut points);
        }
        for point in &mut points {
            *point = world_from_root.transform_point(*point);
        }
        strands::place(hair.guide_ranges(), &points, radius, out);
    }

    /// What the solver said in the last frame, counts summed up.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Guides that were found without a finite state so far, and were put back into the groom.
    pub fn reset_guides(&self) -> usize {
        self.reset
    }

    /// What the hair fell over at the end of the last frame, world space: its body, then the obstacles of the world.
    pub fn colliders(&self) -> &[Collider] {
        &self.capsules.to
    }

    /// How much longer or shorter than in the groom the worst segment of a guide is, as a fraction.
    pub fn worst_stretch(&self, hair: &CharacterHair) -> f32 {
        let mut worst = 0.0_f32;
        let level = hair.lod.hair(self.state.level);
        for guide in guide_ranges(level) {
            let (rest, now) = (
                &level.groom()[guide.clone()],
                &self.state().positions[guide],
            );
            for (rest, now) in rest.windows(2).zip(now.windows(2)) {
                let ratio = (now[1] - now[0]).norm() / (rest[1] - rest[0]).norm();
                worst = worst.max((ratio - 1.0).abs());
            }
        }
        worst
    }

    /// How far each point of a guide beyond its root is inside of the [`colliders`](Self::colliders), m; negative outside.
    /// Nothing on a level that is not simulated: its guides are only what strands follow, and those are kept out.
    pub fn depths(&self, hair: &CharacterHair) -> impl Iterator<Item = f32> {
        let world_from_root = Affine::from(self.after);
        let level = self.state.level;
        let guides =
            guide_ranges(hair.lod.hair(level)).filter(move |_| hair.lod.is_simulated(level));
        let points = guides.flat_map(|guide| &self.state().positions[guide.start + 1..guide.end]);
        points.map(move |point| {
            let point = world_from_root.transform_point(*point);
            let colliders = self.capsules.to.iter();
            let depths = colliders.map(|collider| -collider.contact(point).distance);
            depths.fold(f32::NEG_INFINITY, f32::max)
        })
    }

    /// Goes on where the root is, however far that is.
    pub(crate) fn restart(&mut self) {
        self.phase = Phase::Loose;
        self.releases.forget();
    }

    /// Finds where root and body are now.
    fn follow(&mut self, hair: &CharacterHair, posed: &Posed<'_>) {
        self.capsules.follow(&hair.body, posed);
        let root = root_of(posed, hair.joint);
        if root.is_finite() {
            self.after = root;
        }
    }

    /// Advances by `steps` of `step` seconds while root and body move from where they were to where they are.
    pub(crate) fn simulate(
        &mut self,
        hair: &CharacterHair,
        posed: &Posed<'_>,
        passing: &Passing<'_>,
        level: usize,
        steps: u32,
        step: f32,
    ) {
        self.follow(hair, posed);
        self.outcome = Outcome::default();
        if self.phase == Phase::Loose {
            self.phase = Phase::Laid;
            self.settle();
            self.capsules.advance(&hair.body, passing, 1.0);
            return;
        }
        if steps == 0 {
            // What is drawn follows the body all the same.
            self.capsules.advance(&hair.body, passing, 1.0);
            return;
        }
        if self.phase == Phase::Laid {
            self.set_off(steps as f32 * step);
        }
        self.reset += self.unusable_guides(hair);
        self.capsules.advance(&hair.body, passing, 0.0);
        let mut root = self.before;
        for index in 0..steps {
            let alpha = (index + 1) as f32 / steps as f32;
            self.capsules.advance(&hair.body, passing, alpha);
            let previous = root;
            root = mix(&self.before, &self.after, alpha);
            let drive = HairDrive {
                world_from_root: root,
                previous_world_from_root: previous,
                gravity: passing.world.gravity,
                wind: passing.world.wind,
                colliders: &self.capsules.to,
                previous_colliders: &self.capsules.from,
                ..HairDrive::default()
            };
            let state = &mut self.state;
            let outcome = self.solver.step_at(&hair.lod, &drive, level, step, state);
            self.outcome.iterations += outcome.iterations;
            self.outcome.slowed += outcome.slowed;
            self.outcome.pinched += outcome.pinched;
        }
        self.settle();
    }

    /// Puts the hair into a kept state at the end of `steps` steps.
    pub(crate) fn recall(
        &mut self,
        hair: &CharacterHair,
        posed: &Posed<'_>,
        passing: &Passing<'_>,
        steps: u32,
        state: &HairLodState,
    ) {
        self.follow(hair, posed);
        self.outcome = Outcome::default();
        if self.phase == Phase::Loose || steps > 0 {
            self.settle();
            self.capsules.advance(&hair.body, passing, 1.0);
        }
        self.phase = match self.phase {
            Phase::Loose => Phase::Laid,
            _ if steps > 0 => Phase::Moving,
            phase => phase,
        };
        self.set_levels(state);
    }

    /// A ball about all that the strands can reach in this frame, world space.
    pub(crate) fn reach(&self, hair: &CharacterHair) -> (Vec3, f32) {
        let (middle, radius) = hair.reach;
        (Affine::from(self.after).transform_point(middle), radius)
    }

    /// Forgets where strands were drawn: they are not in this frame.
    pub(crate) fn forget(&mut self) {
        self.releases.forget();
    }

    /// Puts the strands where they are drawn.
    pub(crate) fn place(&mut self, hair: &CharacterHair, dt: f32) {
        let world_from_root = Affine::from(self.after);
        self.near.clear();
        if let Some(root_from_world) = world_from_root.inverse() {
            let (middle, radius) = self.reach(hair);
            let near = (self.capsules.to.iter())
                .filter(|collider| collider.contact_within(middle, radius).is_some());
            self.near.extend(near.map(|collider| Collider {
                world_from_shape: root_from_world * collider.world_from_shape,
                ..collider.clone()
            }));
        }
        let strands = &mut self.strands;
        self.solver.place(&hair.lod, &self.state, strands);
        let (followers, near) = (hair.followers(), &self.near);
        self.releases
            .keep_outside(followers, near, hair.radius, dt, strands);
        chunks::for_each_mut(&mut self.strands, |_, points| {
            for point in points {
                *point = world_from_root.transform_point(*point);
            }
        });
    }

    /// Goes on from where root and body are.
    fn settle(&mut self) {
        self.before = self.after;
        self.capsules.settle();
    }

    /// Gives hair the motion of its root over its first `seconds`, so that it is not left behind with a jerk.
    fn set_off(&mut self, seconds: f32) {
        let [before, after] = [self.before, self.after].map(Affine::from);
        let root_from_world = self.before.rotation.inverse();
        let level = self.state.level;
        let HairState {
            positions,
            velocities,
            ..
        } = &mut self.state.states[level];
        let vertices = positions.iter().zip(velocities);
        for (position, velocity) in vertices {
            let way = after.transform_point(*position) - before.transform_point(*position);
            *velocity = root_from_world * way / seconds;
        }
        self.phase = Phase::Moving;
    }

    /// Guides that the solver will put back into the groom.
    fn unusable_guides(&self, hair: &CharacterHair) -> usize {
        let (guides, state) = (hair.lod.hair(self.state.level), self.state());
        let is_finite = |v: &Vec3| v.iter().all(|c| c.is_finite());
        let is_usable = |index: usize| {
            let vertices = guides.guide(index);
            // Every guide has a segment less than it has vertices.
            let segments = vertices.start - index..vertices.end - index - 1;
            let turns = &state.orientations[segments.clone()];
            state.velocities[vertices].iter().all(is_finite)
                && turns
                    .iter()
                    .all(|q| (0.5..2.0).contains(&q.coords.norm_squared()))
                && state.tensions[segments].iter().all(|t| t.is_finite())
        };
        let all = 0..guides.guide_count();
        all.filter(|guide| !is_usable(*guide)).count()
    }
}

/// Copies the state of guides without allocating.
fn copy(from: &HairState, to: &mut HairState) {
    to.positions.copy_from_slice(&from.positions);
    to.velocities.copy_from_slice(&from.velocities);
    to.orientations.copy_from_slice(&from.orientations);
    to.tensions.copy_from_slice(&from.tensions);
}
