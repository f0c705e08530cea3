//! The engine: owns actors, effects and their surroundings, and runs the stages in order.

use std::sync::Arc;

use anim_math::Affine;
use anim_particles::{Effect, Emission, Particles};
use anim_sim::State;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::animate::animate;
use crate::attach::each_after_its_carrier;
use crate::body::{Body, BodyOptions};
use crate::clock::FixedClock;
use crate::hash::Fnv;
use crate::kept::{Kept, Recall};
use crate::world::Passing;
use crate::{Actor, Character, EngineError, Stage, Timings, World, stage};

/// How an engine runs; results do not depend on `threads`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Seconds of one simulation step.
    pub sim_dt: f32,
    /// Simulation steps in one frame at most; a longer stall is dropped.
    pub max_steps: u32,
    /// Threads that share the work; `None` is one a core, 1 uses the caller's alone.
    pub threads: Option<usize>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            sim_dt: 1.0 / 120.0,
            max_steps: 16,
            threads: None,
        }
    }
}

/// More threads than this are a mistake.
const MAX_THREADS: usize = 256;

/// An actor of one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(pub(crate) u32);

/// A particle effect of one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId(u32);

/// A simulated body of one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(u32);

/// A running effect: its particles, and what it emits next.
#[derive(Debug)]
struct Running {
    effect: Effect,
    particles: Particles,
    emissions: Vec<Emission>,
    /// Actors whose landing feet kick up a burst of this many particles.
    steps: Option<(ActorId, u32)>,
    /// Bursts that wait for the next simulation step.
    bursts: Vec<Emission>,
    /// What this step emits.
    due: Vec<Emission>,
}

/// Everything that moves.
#[derive(Debug)]
pub struct Engine {
    /// What surrounds the actors.
    pub world: World,
    pub(crate) actors: Vec<Option<Box<Actor>>>,
    /// The longest chain of attachments.
    pub(crate) deepest: usize,
    bodies: Vec<Option<Body>>,
    effects: Vec<Running>,
    /// Where the world's colliders were when simulation last ran.
    previous: Vec<Affine>,
    clock: FixedClock,
    timings: Timings,
    pool: Option<Arc<ThreadPool>>,
}

impl Engine {
    /// An empty engine.
    ///
    /// # Errors
    ///
    /// [`EngineError::Scene`] if `sim_dt` is not a positive number or `threads` is over 256, [`EngineError::Threads`] if threads cannot start.
    pub fn new(config: Config) -> Result<Self, EngineError> {
        if !(config.sim_dt.is_finite() && config.sim_dt > 0.0) {
            return Err(EngineError::Scene {
                place: "sim_dt".to_owned(),
                message: format!("{} s is not a positive time", config.sim_dt),
            });
        }
        let pool = match config.threads {
            Some(0 | 1) => None,
            Some(threads) if threads > MAX_THREADS => {
                return Err(EngineError::Scene {
                    place: "threads".to_owned(),
                    message: format!("{threads} are more than {MAX_THREADS}"),
                });
            }
            threads => {
                let builder = ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
                Some(Arc::new(builder.build()?))
            }
        };
        Ok(Self {
            world: World::default(),
            actors: Vec::new(),
            deepest: 0,
            bodies: Vec::new(),
            effects: Vec::new(),
            previous: Vec::new(),
            clock: FixedClock::new(config.sim_dt, config.max_steps),
            timings: Timings::default(),
            pool,
        })
    }

    /// Puts a character into the world, at rest at the origin.
    pub fn spawn(&mut self, character: Arc<Character>) -> ActorId {
        let id = ActorId(self.actors.len() as u32);
        self.actors.push(Some(Box::new(Actor::new(character))));
        id
    }

    /// Takes an actor out of the world; its id is not used again, and what hung on it stays where it is.
    pub fn remove(&mut self, id: ActorId) {
        self.drop_all_from(id);
        if let Some(slot) = self.actors.get_mut(id.0 as usize) {
            *slot = None;
        }
    }

    /// An actor, unless it was removed.
    pub fn actor(&self, id: ActorId) -> Option<&Actor> {
        self.actors.get(id.0 as usize)?.as_deref()
    }

    /// An actor to give goals and layers to, unless it was removed.
    pub fn actor_mut(&mut self, id: ActorId) -> Option<&mut Actor> {
        self.actors.get_mut(id.0 as usize)?.as_deref_mut()
    }

    /// All actors with their ids.
    pub fn actors(&self) -> impl Iterator<Item = (ActorId, &Actor)> {
        let slots = self.actors.iter().enumerate();
        slots.filter_map(|(index, slot)| Some((ActorId(index as u32), slot.as_deref()?)))
    }

    /// Puts a simulated body into the world.
    pub fn spawn_body(&mut self, options: BodyOptions) -> BodyId {
        let id = BodyId(self.bodies.len() as u32);
        self.bodies.push(Some(Body::new(options)));
        id
    }

    /// Takes a body out of the world; its id is not used again.
    pub fn remove_body(&mut self, id: BodyId) {
        if let Some(slot) = self.bodies.get_mut(id.0 as usize) {
            *slot = None;
        }
    }

    /// A body, unless it was removed.
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.bodies.get(id.0 as usize)?.as_ref()
    }

    /// A body to move the holders of, unless it was removed.
    pub fn body_mut(&mut self, id: BodyId) -> Option<&mut Body> {
        self.bodies.get_mut(id.0 as usize)?.as_mut()
    }

    /// All bodies with their ids.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyId, &Body)> {
        let slots = self.bodies.iter().enumerate();
        slots.filter_map(|(index, slot)| Some((BodyId(index as u32), slot.as_ref()?)))
    }

    /// Starts an effect; it emits what [`emissions_mut`](Self::emissions_mut) holds, and, if `steps` is set, a burst of
    /// that many particles wherever a foot of that actor lands.
    pub fn spawn_effect(&mut self, effect: Effect, steps: Option<(ActorId, u32)>) -> EffectId {
        let id = EffectId(self.effects.len() as u32);
        self.effects.push(Running {
            particles: Particles::new(&effect),
            effect,
            emissions: Vec::new(),
            steps,
            bursts: Vec::new(),
            due: Vec::new(),
        });
        id
    }

    /// The particles of an effect.
    pub fn particles(&self, id: EffectId) -> Option<&Particles> {
        self.effects
            .get(id.0 as usize)
            .map(|running| &running.particles)
    }

    /// The particles of all effects.
    pub fn all_particles(&self) -> impl Iterator<Item = &Particles> {
        self.effects.iter().map(|running| &running.particles)
    }

    /// What an effect emits from now on; rates go on, bursts happen once.
    pub fn emissions_mut(&mut self, id: EffectId) -> Option<&mut Vec<Emission>> {
        self.effects
            .get_mut(id.0 as usize)
            .map(|running| &mut running.emissions)
    }

    /// One frame of `dt` seconds: all four stages.
    pub fn step(&mut self, dt: f32) {
        match self.pool.clone() {
            Some(pool) => pool.install(|| Stage::ALL.map(|stage| self.run_here(stage, dt))),
            None => Stage::ALL.map(|stage| self.run_here(stage, dt)),
        };
    }

    /// One stage of a frame of `dt` seconds; run your own work between them.
    pub fn run(&mut self, stage: Stage, dt: f32) {
        match self.pool.clone() {
            Some(pool) => pool.install(|| self.run_here(stage, dt)),
            None => self.run_here(stage, dt),
        }
    }

    /// The states of all particles of cloths and bodies: cloths of actors, then bodies, in the order of their ids.
    pub fn simulated(&self) -> impl Iterator<Item = &State> {
        let cloths = self.actors().flat_map(|(_, actor)| &actor.cloths);
        let cloths = cloths.map(|cloth| &cloth.state);
        cloths.chain(self.bodies().map(|(_, body)| body.state()))
    }

    /// One frame like [`step`](Self::step) in which what [`kept`](Self::kept) lists is put into `states` instead of being simulated: for
    /// going on with a run whose frames were kept.
    ///
    /// The next `step` goes on from there as if it had been simulated, but for what a solver itself remembers: plastic
    /// strain starts anew.
    ///
    /// # Panics
    ///
    /// If the states are not those of as many cloths, heads of hair, muscles and bodies, or one is of another size.
    pub fn step_to(&mut self, dt: f32, states: &[Kept]) {
        self.run(Stage::Animate, dt);
        self.run(Stage::Ik, dt);
        let steps = self.clock.advance(dt);
        let mut states = Recall(states.iter());
        let passing = Passing {
            world: &self.world,
            previous: &self.previous,
        };
        for actor in self.actors.iter_mut().flatten() {
            stage::recall(actor, &passing, steps, &mut states);
        }
        for body in self.bodies.iter_mut().flatten() {
            body.follow(&self.actors);
            body.recall(steps, states.body());
        }
        assert!(states.0.next().is_none(), "too many states");
        let step = self.clock.step();
        for running in &mut self.effects {
            running.advance(&self.actors, &self.world, steps, step);
        }
        self.settle(steps);
        self.run(Stage::Skin, dt);
    }

    /// Remembers where the colliders were when simulation last ran.
    fn settle(&mut self, steps: u32) {
        if steps > 0 {
            self.previous.clear();
            let places = self.world.colliders.iter().map(|c| c.world_from_shape);
            self.previous.extend(places);
        }
    }

    fn run_here(&mut self, stage: Stage, dt: f32) {
        let mut simulated = 0;
        let Self {
            world,
            actors,
            deepest,
            bodies,
            effects,
            previous,
            clock,
            timings,
            pool,
        } = self;
        let parallel = pool.is_some();
        let world = &*world;
        timings.measure(stage, || match stage {
            Stage::Animate => each(actors, parallel, |actor| animate(actor, dt)),
            Stage::Ik => each_after_its_carrier(actors, *deepest, parallel, |actor| {
                stage::ik(actor, world, dt);
            }),
            Stage::Simulate => {
                let steps = clock.advance(dt);
                simulated = steps;
                let step = clock.step();
                let passing = Passing { world, previous };
                each(actors, parallel, |actor| {
                    stage::simulate(actor, &passing, steps, step)
                });
                each_body(bodies, parallel, |body| {
                    body.follow(actors);
                    body.simulate(&passing, steps, step);
                });
                for running in effects {
                    running.advance(actors, world, steps, step);
                }
            }
            Stage::Skin => each(actors, parallel, |actor| stage::skin(actor, dt)),
        });
        self.settle(simulated);
    }

    /// Seconds that each stage of the last frame took.
    pub fn timings(&self) -> Timings {
        self.timings
    }

    /// Seconds that simulation left out so far, because frames took longer than [`Config::max_steps`] allow.
    pub fn dropped_time(&self) -> f64 {
        self.clock.dropped()
    }

    /// Actors that produced NaN or infinity, were put back to their last finite state and stopped.
    pub fn quarantined(&self) -> impl Iterator<Item = ActorId> {
        self.actors()
            .filter(|(_, actor)| actor.is_quarantined())
            .map(|(id, _)| id)
    }

    /// FNV-1a 64 over the bits of all places, joints, surfaces, tangents, cloths, hair, muscles, bodies and particles: the same for any
    /// number of threads.
    pub fn hash(&self) -> u64 {
        let mut hash = Fnv::new();
        for (_, actor) in self.actors() {
            hash.floats(actor.world_from_model.linear.iter());
            hash.floats(actor.world_from_model.translation.iter());
            hash.floats(
                actor
                    .globals
                    .slots()
                    .iter()
                    .flat_map(|slot| slot.0.as_flattened()),
            );
            for surface in &actor.surfaces {
                let blocks = surface.blocks().iter();
                hash.floats(blocks.flat_map(|b| b.position.iter().chain(&b.normal).flatten()));
            }
            for tangents in actor.tangents.iter().flatten() {
                let vertices = 0..tangents.out.len();
                vertices.for_each(|vertex| hash.floats(&tangents.out.tangent(vertex)));
            }
            for cloth in &actor.cloths {
                hash.floats(cloth.state.positions.iter().flat_map(|p| p.iter()));
            }
            for hair in &actor.hairs {
                hash.floats(hair.state().positions.iter().flat_map(|p| p.iter()));
                hash.floats(hair.strands().iter().flat_map(|p| p.iter()));
            }
            for muscle in &actor.muscles {
                hash.doubles([muscle.activation(), muscle.force(), muscle.length()]);
            }
        }
        for (_, body) in self.bodies() {
            hash.floats(body.positions().iter().flat_map(|p| p.iter()));
        }
        for particles in self.all_particles() {
            hash.floats(particles.positions.iter().flat_map(|p| p.iter()));
        }
        hash.finish()
    }
}

/// The actors of an engine, by id.
pub(crate) type Slots = [Option<Box<Actor>>];

/// Does `work` on every actor, side by side if `parallel`.
pub(crate) fn each(actors: &mut Slots, parallel: bool, work: impl Fn(&mut Actor) + Sync) {
    if parallel {
        let chunks = actors.par_chunks_mut(ACTORS_AT_ONCE);
        chunks.for_each(|chunk| chunk.iter_mut().flatten().for_each(|actor| work(actor)));
    } else {
        actors.iter_mut().flatten().for_each(|actor| work(actor));
    }
}

/// Does `work` on every body, side by side if `parallel`; a large one shares out its own work, too.
fn each_body(bodies: &mut [Option<Body>], parallel: bool, work: impl Fn(&mut Body) + Send + Sync) {
    if parallel {
        bodies.par_iter_mut().flatten().for_each(work);
    } else {
        bodies.iter_mut().flatten().for_each(work);
    }
}

/// Actors that one task works on: enough that a task outweighs its start, few enough to share out.
const ACTORS_AT_ONCE: usize = 8;

impl Running {
    fn advance(&mut self, actors: &Slots, world: &World, steps: u32, step: f32) {
        if let Some((id, count)) = self.steps {
            let actor = actors.get(id.0 as usize).and_then(Option::as_deref);
            let landed = actor
                .into_iter()
                .flat_map(|a| &a.contacts)
                .filter(|c| c.landed);
            self.bursts.extend(landed.map(|contact| Emission {
                position: contact.position,
                burst: count,
                ..Emission::default()
            }));
        }
        for _ in 0..steps {
            self.due.clear();
            self.due.extend_from_slice(&self.emissions);
            self.due.append(&mut self.bursts);
            self.effect
                .step(step, &self.due, &world.colliders, &mut self.particles);
            self.emissions
                .iter_mut()
                .for_each(|emission| emission.burst = 0);
        }
    }
}
