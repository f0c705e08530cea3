//! Simulated surfaces: which vertices are pinned, what they collide with, and how they go back into the mesh.

use anim_geom::{normals, topology};
use anim_math::Vec3;
use anim_sim::cloth::ClothSpec;
use anim_sim::{Drive, Model, Solver, State, Xpbd};
use anim_skeleton::Globals;
use anim_skin::{Palette, SkinnedMesh, VertexBlocks};

use crate::body::copy;
use crate::capsule::{MovingCapsules, Posed};
use crate::surface_tangents::{ActorTangents, ClothTangents};
use crate::world::Passing;
use crate::{BodyCapsule, Character, EngineError};

/// How a surface of a character is simulated.
#[derive(Clone, Debug)]
pub struct ClothOptions {
    /// Place in [`Character::surfaces`].
    pub surface: usize,
    /// Which vertices follow the joints.
    pub pins: Pins,
    /// Material; positions, triangles and pins are filled in.
    pub material: ClothSpec,
    /// Solver steps in each fixed step.
    pub substeps: u32,
    /// The body that it lies on.
    pub body: Vec<BodyCapsule>,
}

/// Which vertices of a cloth follow the joints.
#[derive(Clone, Debug, PartialEq)]
pub enum Pins {
    /// All at most this far, m, below the highest vertex at rest.
    Top(f32),
    /// These, in the order of the file.
    Vertices(Vec<u32>),
}

/// A simulated surface; part of the model of a character.
#[derive(Debug)]
pub struct Cloth {
    /// Place in [`Character::surfaces`].
    pub surface: usize,
    model: Model,
    substeps: u32,
    body: Vec<BodyCapsule>,
    triangles: Vec<[u32; 3]>,
    /// Vertices at the same place are one particle.
    particle_from_vertex: Vec<u32>,
    /// A vertex of each particle.
    vertex_from_particle: Vec<u32>,
    pinned: Vec<u32>,
    /// If the surface has some.
    tangents: Option<ClothTangents>,
}

impl Cloth {
    /// What it is: particles, and what holds them together.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Its surface, as triangles of particles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }
}

impl Character {
    /// Simulates a surface as cloth.
    ///
    /// # Errors
    ///
    /// [`EngineError::Scene`] if there is no such surface or vertex, [`EngineError::Sim`] if the material or mesh cannot
    /// be simulated.
    pub fn with_cloth(mut self, options: ClothOptions) -> Result<Self, EngineError> {
        let Some(surface) = self.surfaces.get(options.surface) else {
            return Err(EngineError::Scene {
                place: "surface".to_owned(),
                message: format!(
                    "{} of {} does not exist",
                    options.surface,
                    self.surfaces.len()
                ),
            });
        };
        let mesh = &surface.mesh;
        let mut globals = Globals::new(&self.skeleton);
        self.skeleton.globals(self.skeleton.rest(), &mut globals);
        let rest = posed(mesh, &globals);
        let mut palette = mesh.palette_buffer();
        mesh.palette(&globals, &mut palette);
        let (particle_from_vertex, vertex_from_particle) = particles(&rest);
        let pinned_vertices = options.pins.vertices(mesh, &rest)?;
        let mut pinned: Vec<u32> = pinned_vertices
            .into_iter()
            .map(|vertex| particle_from_vertex[vertex as usize])
            .collect();
        pinned.sort_unstable();
        pinned.dedup();
        let triangles: Vec<[u32; 3]> = mesh
            .triangles()
            .iter()
            .map(|corners| corners.map(|vertex| particle_from_vertex[vertex as usize]))
            .filter(|[a, b, c]| a != b && b != c && a != c)
            .collect();
        let positions: Vec<Vec3> = vertex_from_particle
            .iter()
            .map(|v| rest[*v as usize])
            .collect();
        let tangents = surface.tangents.as_ref().map(|tangents| {
            let particles = (&positions[..], &triangles[..]);
            ClothTangents::new(tangents, mesh, &palette, particles, &particle_from_vertex)
        });
        let model = anim_sim::cloth::build(&ClothSpec {
            positions,
            triangles: triangles.clone(),
            pinned: pinned.clone(),
            ..options.material
        })?;
        self.cloths.push(Cloth {
            surface: options.surface,
            model,
            substeps: options.substeps.max(1),
            body: options.body,
            triangles,
            particle_from_vertex,
            vertex_from_particle,
            pinned,
            tangents,
        });
        Ok(self)
    }
}

impl Pins {
    /// The pinned vertices in skin-block order.
    fn vertices(&self, mesh: &SkinnedMesh, rest: &[Vec3]) -> Result<Vec<u32>, EngineError> {
        match self {
            Self::Top(depth) => {
                let top = rest.iter().map(|p| p.y).fold(f32::NEG_INFINITY, f32::max);
                let near = |vertex: &u32| rest[*vertex as usize].y >= top - depth;
                Ok((0..rest.len() as u32).filter(near).collect())
            }
            Self::Vertices(list) => list
                .iter()
                .map(|source| {
                    let vertex = mesh.vertex_from_source().get(*source as usize);
                    vertex.copied().ok_or_else(|| EngineError::Scene {
                        place: "pins".to_owned(),
                        message: format!("vertex {source} of {} does not exist", rest.len()),
                    })
                })
                .collect(),
        }
    }
}

/// A surface as its joints alone pose it, model space, skin-block order.
pub(crate) fn posed(mesh: &SkinnedMesh, globals: &Globals) -> Vec<Vec3> {
    let mut palette = mesh.palette_buffer();
    mesh.palette(globals, &mut palette);
    (0..mesh.rest().len())
        .map(|vertex| mesh.linear_vertex(vertex, mesh.rest(), &palette).0)
        .collect()
}

/// Joins vertices at exactly the same place: the particle of each vertex, and the first vertex of each particle.
pub(crate) fn particles(positions: &[Vec3]) -> (Vec<u32>, Vec<u32>) {
    let first = topology::weld(positions);
    let mut particle_from_vertex = vec![0; positions.len()];
    let mut vertex_from_particle = Vec::new();
    for vertex in 0..positions.len() {
        // A vertex is never before the first at its place.
        if first[vertex] as usize == vertex {
            particle_from_vertex[vertex] = vertex_from_particle.len() as u32;
            vertex_from_particle.push(vertex as u32);
        } else {
            particle_from_vertex[vertex] = particle_from_vertex[first[vertex] as usize];
        }
    }
    (particle_from_vertex, vertex_from_particle)
}

/// How far what an actor wears has come since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It is nowhere yet.
    Loose,
    /// It lies where the skin alone would put it.
    Laid,
    /// It moves.
    Moving,
}

/// The state of one cloth of one actor; world space.
#[derive(Debug)]
pub(crate) struct ClothState {
    pub(crate) state: State,
    last_finite: State,
    solver: Xpbd,
    phase: Phase,
    pins_before: Vec<(u32, Vec3)>,
    pins_after: Vec<(u32, Vec3)>,
    pins_now: Vec<(u32, Vec3)>,
    capsules: MovingCapsules,
    normals: Vec<Vec3>,
}

impl ClothState {
    pub(crate) fn new(cloth: &Cloth) -> Self {
        let pins: Vec<(u32, Vec3)> = cloth.pinned.iter().map(|p| (*p, Vec3::zeros())).collect();
        let state = State::new(&cloth.model);
        Self {
            last_finite: state.clone(),
            normals: vec![Vec3::y(); state.positions.len()],
            state,
            solver: Xpbd::new(&cloth.model, cloth.substeps),
            phase: Phase::Loose,
            pins_before: pins.clone(),
            pins_after: pins.clone(),
            pins_now: pins,
            capsules: MovingCapsules::new(&cloth.body),
        }
    }

    /// Lets the cloth start again from its skinned shape.
    pub(crate) fn restart(&mut self) {
        self.phase = Phase::Loose;
    }

    /// True if every particle is where numbers are.
    pub(crate) fn is_finite(&self) -> bool {
        self.state.is_finite()
    }

    /// Goes back to the last finite state.
    pub(crate) fn roll_back(&mut self) {
        copy(&self.last_finite, &mut self.state);
    }

    /// Advances by `steps` of `step` seconds while pins and body move from where they were to where they are.
    pub(crate) fn simulate(
        &mut self,
        cloth: &Cloth,
        body: &Wearer<'_>,
        passing: &Passing<'_>,
        steps: u32,
        step: f32,
    ) {
        self.follow(cloth, body);
        if self.phase == Phase::Loose {
            self.lay(cloth, body);
            return;
        }
        if self.phase == Phase::Laid && steps > 0 {
            self.set_off(cloth, body, steps as f32 * step);
        }
        copy(&self.state, &mut self.last_finite);
        self.capsules.advance(&cloth.body, passing, 0.0);
        for index in 0..steps {
            let alpha = (index + 1) as f32 / steps as f32;
            let ways = self.pins_before.iter().zip(&self.pins_after);
            for (now, (from, to)) in self.pins_now.iter_mut().zip(ways) {
                now.1 = from.1 + (to.1 - from.1) * alpha;
            }
            self.capsules.advance(&cloth.body, passing, alpha);
            let drive = Drive {
                gravity: passing.world.gravity,
                wind: passing.world.wind,
                pins: &self.pins_now,
                colliders: &self.capsules.to,
                previous_colliders: &self.capsules.from,
                ..Drive::default()
            };
            self.solver
                .step(&cloth.model, &drive, step, &mut self.state);
        }
        if steps > 0 {
            self.pins_before.copy_from_slice(&self.pins_after);
            self.capsules.settle();
        }
    }

    /// Finds where pins and body are now.
    fn follow(&mut self, cloth: &Cloth, body: &Wearer<'_>) {
        for (pin, particle) in self.pins_after.iter_mut().zip(&cloth.pinned) {
            pin.1 = body.vertex(cloth.vertex_from_particle[*particle as usize] as usize);
        }
        self.capsules.follow(&cloth.body, &body.posed);
    }

    /// Puts the cloth into a kept state at the end of `steps` steps.
    pub(crate) fn recall(&mut self, cloth: &Cloth, body: &Wearer<'_>, steps: u32, state: &State) {
        self.follow(cloth, body);
        if self.phase == Phase::Loose || steps > 0 {
            self.pins_before.copy_from_slice(&self.pins_after);
            self.capsules.settle();
        }
        self.phase = match self.phase {
            Phase::Loose => Phase::Laid,
            _ if steps > 0 => Phase::Moving,
            phase => phase,
        };
        copy(state, &mut self.state);
    }

    /// Lays the cloth where the skin alone would put it, at rest.
    fn lay(&mut self, cloth: &Cloth, body: &Wearer<'_>) {
        for (position, vertex) in self
            .state
            .positions
            .iter_mut()
            .zip(&cloth.vertex_from_particle)
        {
            *position = body.vertex(*vertex as usize);
        }
        self.state.velocities.fill(Vec3::zeros());
        self.pins_before.copy_from_slice(&self.pins_after);
        self.capsules.settle();
        self.phase = Phase::Laid;
    }

    /// Gives a laid cloth the body's motion over its first `seconds`, so that it is not left behind with a jerk.
    fn set_off(&mut self, cloth: &Cloth, body: &Wearer<'_>, seconds: f32) {
        let State {
            positions,
            velocities,
        } = &mut self.state;
        let particles = positions
            .iter()
            .zip(velocities)
            .zip(&cloth.vertex_from_particle);
        for ((position, velocity), vertex) in particles {
            *velocity = (body.vertex(*vertex as usize) - *position) / seconds;
        }
        self.phase = Phase::Moving;
    }

    /// Writes the simulated surface into `out` and its tangents, model space; pinned vertices sit exactly on the body.
    pub(crate) fn write(
        &mut self,
        cloth: &Cloth,
        body: &Wearer<'_>,
        out: &mut VertexBlocks,
        tangents: Option<&mut ActorTangents>,
    ) {
        let Some(model_from_world) = body.posed.world_from_model.inverse() else {
            return;
        };
        normals::smooth(&self.state.positions, &cloth.triangles, &mut self.normals);
        for (vertex, particle) in cloth.particle_from_vertex.iter().enumerate() {
            let position = self.state.positions[*particle as usize];
            out.set_position(vertex, model_from_world.transform_point(position));
            let normal = model_from_world.transform_vector(self.normals[*particle as usize]);
            out.set_normal(vertex, normal.try_normalize(0.0).unwrap_or_else(Vec3::y));
        }
        if let (Some(model), Some(tangents)) = (&cloth.tangents, tangents) {
            let positions = &self.state.positions;
            tangents.carry(model, positions, &self.normals, &model_from_world);
        }
    }
}

/// What a cloth hangs on: a skinned surface of an actor in the world.
#[derive(Debug)]
pub(crate) struct Wearer<'a> {
    pub(crate) mesh: &'a SkinnedMesh,
    pub(crate) palette: &'a Palette,
    pub(crate) posed: Posed<'a>,
}

impl Wearer<'_> {
    /// Where the skin alone would put a vertex, world space.
    fn vertex(&self, vertex: usize) -> Vec3 {
        let (position, _) = self
            .mesh
            .linear_vertex(vertex, self.mesh.rest(), self.palette);
        self.posed.world_from_model.transform_point(position)
    }
}
