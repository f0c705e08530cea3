//! Hair of a character: guides rooted on a joint that fall over its body, and the strands between them that are drawn.
//!
//! [`Character::with_hair`] makes a head of hair a part of the model; every [`Actor`](crate::Actor) then has an
//! [`ActorHair`], which moves in [`Stage::Simulate`](crate::Stage::Simulate) by the clock of all that is simulated, while its
//! root, the body and the obstacles of the world move through the frame. It is kept relative to its root: whoever puts the
//! actor elsewhere calls [`Actor::restart`](crate::Actor::restart), and the hair comes along as it is.
//!
//! ```
//! use std::sync::Arc;
//! use anim_engine::math::Vec3;
//! use anim_engine::sim::hair::HairSpec;
//! use anim_engine::{Character, Config, Engine, HairOptions, asset};
//!
//! let character = Character::from_document(&asset::builtin::tube(2), &Default::default())?;
//! let tip = character.joint_named("bone_1")?;
//! let tuft = |x: f32| vec![Vec3::new(x, 0.25, 0.0), Vec3::new(x, 0.35, 0.0)];
//! let character = character.with_hair(HairOptions {
//!     hair: HairSpec { guides: vec![tuft(-0.02), tuft(0.02)], segments: Some(8), ..HairSpec::default() },
//!     strands: vec![tuft(-0.01), tuft(0.0), tuft(0.01)],
//!     ..HairOptions::new(tip)
//! })?;
//! let mut engine = Engine::new(Config::default())?;
//! let id = engine.spawn(Arc::new(character));
//! for _ in 0..10 {
//!     engine.step(1.0 / 60.0);
//! }
//! let actor = engine.actor(id).ok_or("gone")?;
//! let strands = actor.hairs()[0].strands();
//! assert!((strands[1] - Vec3::new(-0.01, 0.6, 0.0)).norm() < 1e-3, "it stands as it was groomed");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::Range;

use anim_geom::{Collider, Vertices, chunks};
use anim_math::{Affine, Transform, Vec3};
use anim_sim::Outcome;
use anim_sim::hair::{Followers, GuideTurns, Hair, HairDrive, HairSolver, HairSpec, HairState};
use anim_skeleton::{Globals, JointId};

use crate::body::mix;
use crate::capsule::{MovingCapsules, Posed};
use crate::cloth::Phase;
use crate::world::Passing;
use crate::{BodyCapsule, Character, EngineError, strands};

/// How a character wears hair.
#[derive(Clone, Debug)]
pub struct HairOptions {
    /// What its roots move with; the space of all grooms.
    pub joint: JointId,
    /// The guides and their material.
    pub hair: HairSpec,
    /// The strands that are drawn, from root to tip, m; the guides themselves if there are none.
    pub strands: Vec<Vec<Vec3>>,
    /// Guides that each of them follows, at most 4.
    pub followed: usize,
    /// The body that it falls over.
    pub body: Vec<BodyCapsule>,
    /// Of a drawn strand at its root, m.
    pub radius: f32,
    /// Linear RGB.
    pub color: [f32; 3],
}

/// Strands further from their joint than this, m, are a mistake.
const FAR: f32 = 1e4;
/// Of a drawn strand at its root, m.
pub(crate) const RADIUS: f32 = 5e-4;
/// Brown, linear RGB.
pub(crate) const COLOR: [f32; 3] = [0.09, 0.04, 0.015];

impl HairOptions {
    /// Brown hair that has no guides yet, half a millimetre thick where it is drawn.
    pub fn new(joint: JointId) -> Self {
        Self {
            joint,
            hair: HairSpec::default(),
            strands: Vec::new(),
            followed: 3,
            body: Vec::new(),
            radius: RADIUS,
            color: COLOR,
        }
    }
}

/// One head of hair; part of the model of a character.
#[derive(Debug)]
pub struct CharacterHair {
    /// What its roots move with.
    pub joint: JointId,
    /// Of a drawn strand at its root, m.
    pub radius: f32,
    /// Linear RGB.
    pub color: [f32; 3],
    hair: Hair,
    followers: Followers,
    triangles: Vec<[u32; 3]>,
    body: Vec<BodyCapsule>,
}

impl CharacterHair {
    /// The guides.
    pub fn guides(&self) -> &Hair {
        &self.hair
    }

    /// The strands that are drawn.
    pub fn followers(&self) -> &Followers {
        &self.followers
    }

    /// The triangles of [`ActorHair::tubes`], counter-clockwise from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The triangles of [`ActorHair::guide_tubes`].
    pub fn guide_triangles(&self) -> Vec<[u32; 3]> {
        strands::triangles(self.guide_ranges())
    }

    fn guide_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        (0..self.hair.guide_count()).map(|guide| self.hair.guide(guide))
    }

    fn strands(&self) -> impl Iterator<Item = Range<usize>> {
        (0..self.followers.len()).map(|strand| self.followers.strand(strand))
    }
}

impl Character {
    /// Lets hair grow on a joint.
    ///
    /// Grooms that run through the body, as it is in the rest pose, are combed out of it.
    ///
    /// # Errors
    ///
    /// [`EngineError::Scene`] for a joint of another skeleton, a strand kilometres away and a thickness that is not positive,
    /// [`EngineError::Sim`] for hair that cannot be simulated.
    pub fn with_hair(mut self, mut options: HairOptions) -> Result<Self, EngineError> {
        let refuse = |place: &str, message: String| EngineError::Scene {
            place: place.to_owned(),
            message,
        };
        let mut joints = options.body.iter().map(|capsule| capsule.joint);
        if options.joint.index() >= self.skeleton.len()
            || joints.any(|joint| joint.index() >= self.skeleton.len())
        {
            return Err(refuse("joint", "is of another skeleton".to_owned()));
        }
        if !(options.radius > 0.0 && options.radius.is_finite()) {
            let message = format!("{} m is not positive", options.radius);
            return Err(refuse("radius", message));
        }
        let grooms = options.hair.guides.iter().chain(&options.strands);
        let is_far = |point: &&Vec3| point.amax() > FAR;
        if let Some(point) = grooms.flatten().find(is_far) {
            return Err(refuse("groom", format!("a point at {} m", point.amax())));
        }
        let mut globals = Globals::new(&self.skeleton);
        self.skeleton.globals(self.skeleton.rest(), &mut globals);
        let rest = Posed {
            globals: &globals,
            world_from_model: Affine::IDENTITY,
        };
        let mut body = MovingCapsules::new(&options.body);
        body.follow(&options.body, &rest);
        let bodies = body.places(&options.body);
        let model_from_root = Affine::from(root_of(&rest, options.joint));
        let comb = |strands: &mut Vec<Vec<Vec3>>, margin: f32| {
            for strand in strands {
                comb_out(strand, &bodies, &model_from_root, margin);
            }
        };
        comb(&mut options.hair.guides, options.hair.thickness);
        comb(&mut options.strands, options.radius);
        let hair = Hair::new(options.hair)?;
        let guides = || {
            let guides = (0..hair.guide_count()).map(|guide| hair.guide(guide));
            guides.map(|guide| hair.groom()[guide].to_vec()).collect()
        };
        let strands = match options.strands.is_empty() {
            true => guides(),
            false => options.strands,
        };
        let followers = Followers::new(&hair, &strands, options.followed)?;
        let ranges = (0..followers.len()).map(|strand| followers.strand(strand));
        self.hairs.push(CharacterHair {
            joint: options.joint,
            radius: options.radius,
            color: options.color,
            triangles: strands::triangles(ranges),
            hair,
            followers,
            body: options.body,
        });
        Ok(self)
    }
}

/// A head of hair of one actor.
#[derive(Debug)]
pub struct ActorHair {
    state: HairState,
    solver: HairSolver,
    turns: GuideTurns,
    strands: Vec<Vec3>,
    capsules: MovingCapsules,
    before: Transform,
    after: Transform,
    phase: Phase,
    outcome: Outcome,
    reset: usize,
}

impl ActorHair {
    pub(crate) fn new(hair: &CharacterHair) -> Self {
        Self {
            state: HairState::new(&hair.hair),
            solver: HairSolver::new(&hair.hair),
            turns: GuideTurns::new(&hair.hair),
            strands: hair.followers.groom().to_vec(),
            capsules: MovingCapsules::new(&hair.body),
            before: Transform::IDENTITY,
            after: Transform::IDENTITY,
            phase: Phase::Loose,
            outcome: Outcome::default(),
            reset: 0,
        }
    }

    /// Where the guides are and how they move, seen from the root.
    pub fn state(&self) -> &HairState {
        &self.state
    }

    /// Puts the guides into a state, such as one of an earlier run.
    ///
    /// # Panics
    ///
    /// If the state is of other hair.
    pub fn set_state(&mut self, state: &HairState) {
        self.state.positions.copy_from_slice(&state.positions);
        self.state.velocities.copy_from_slice(&state.velocities);
        self.state.orientations.copy_from_slice(&state.orientations);
        self.state.tensions.copy_from_slice(&state.tensions);
    }

    /// Where the root is in this frame.
    pub fn world_from_root(&self) -> Transform {
        self.after
    }

    /// The points of the drawn strands, [`CharacterHair::followers`], world space, m; after [`Stage::Skin`](crate::Stage::Skin)
    /// those of this frame.
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
        let world_from_root = Affine::from(self.after);
        let points = self.state.positions.iter();
        let points: Vec<Vec3> = points
            .map(|p| world_from_root.transform_point(*p))
            .collect();
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
        for guide in hair.guide_ranges() {
            let (rest, now) = (
                &hair.hair.groom()[guide.clone()],
                &self.state.positions[guide],
            );
            for (rest, now) in rest.windows(2).zip(now.windows(2)) {
                let ratio = (now[1] - now[0]).norm() / (rest[1] - rest[0]).norm();
                worst = worst.max((ratio - 1.0).abs());
            }
        }
        worst
    }

    /// How far each point of a guide beyond its root is inside of the [`colliders`](Self::colliders), m; negative outside.
    pub fn depths(&self, hair: &CharacterHair) -> impl Iterator<Item = f32> {
        let world_from_root = Affine::from(self.after);
        let guides = hair.guide_ranges();
        let points = guides.flat_map(|guide| &self.state.positions[guide.start + 1..guide.end]);
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
            let outcome = self.solver.step(&hair.hair, &drive, step, &mut self.state);
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
        state: &HairState,
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
        self.set_state(state);
    }

    /// Puts the strands where they are drawn.
    pub(crate) fn place(&mut self, hair: &CharacterHair) {
        self.turns.update(&hair.hair, &self.state);
        hair.followers
            .place(&hair.hair, &self.turns, &mut self.strands);
        let world_from_root = Affine::from(self.after);
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
        let vertices = self.state.positions.iter().zip(&mut self.state.velocities);
        for (position, velocity) in vertices {
            let way = after.transform_point(*position) - before.transform_point(*position);
            *velocity = root_from_world * way / seconds;
        }
        self.phase = Phase::Moving;
    }

    /// Guides that the solver will put back into the groom.
    fn unusable_guides(&self, hair: &CharacterHair) -> usize {
        let is_finite = |v: &Vec3| v.iter().all(|c| c.is_finite());
        let is_usable = |index: usize| {
            let vertices = hair.hair.guide(index);
            // Every guide has a segment less than it has vertices.
            let segments = vertices.start - index..vertices.end - index - 1;
            let turns = &self.state.orientations[segments.clone()];
            self.state.velocities[vertices].iter().all(is_finite)
                && turns
                    .iter()
                    .all(|q| (0.5..2.0).contains(&q.coords.norm_squared()))
                && self.state.tensions[segments].iter().all(|t| t.is_finite())
        };
        let guides = 0..hair.hair.guide_count();
        guides.filter(|guide| !is_usable(*guide)).count()
    }
}

/// Where hair on a joint is rooted: scale is left out.
fn root_of(posed: &Posed<'_>, joint: JointId) -> Transform {
    Transform {
        scale: Vec3::repeat(1.0),
        ..posed.world_from_joint(joint).to_transform()
    }
}

/// Looks at one point of a strand that lies in two capsules at most.
const COMBS: usize = 8;

/// Turns the segments of a strand, from its root on, so that it stays `margin`, m, out of bodies; lengths stay.
fn comb_out(strand: &mut [Vec3], bodies: &[Collider], model_from_root: &Affine, margin: f32) {
    let Some(root_from_model) = model_from_root.inverse() else {
        return;
    };
    let mut offset = Vec3::zeros();
    for index in 1..strand.len() {
        let [last, groomed] = [strand[index - 1], strand[index] + offset];
        let length = (groomed - last).norm();
        let mut point = groomed;
        for _ in 0..COMBS {
            let place = model_from_root.transform_point(point);
            let contacts = bodies.iter().map(|body| body.contact(place));
            let deepest = contacts.min_by(|a, b| a.distance.total_cmp(&b.distance));
            let Some(contact) = deepest.filter(|contact| contact.distance < margin) else {
                break;
            };
            let out = contact.normal * (margin - contact.distance + 1e-5);
            let way = root_from_model.transform_point(place + out) - last;
            match way.try_normalize(1e-9) {
                Some(way) if way.iter().all(|c| c.is_finite()) => point = last + way * length,
                _ => break,
            }
        }
        // What follows is carried along, so that the strand keeps its curls.
        offset += point - groomed;
        strand[index] = point;
    }
}
