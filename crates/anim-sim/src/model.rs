//! What a simulated body is, checked and sorted for speed, and where one instance of it is.
//!
//! A [`Model`] is particles held together by elements. [`cloth::build`](crate::cloth::build) makes one from a triangle
//! mesh; a [`ModelSpec`] makes one from anything else: a rope, a chain, a net. One model serves any number of
//! [`State`]s on any number of threads.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::{Link, Model, ModelSpec};
//!
//! let pendulum = Model::new(ModelSpec {
//!     positions: vec![Vec3::zeros(), Vec3::x()],
//!     inverse_masses: vec![0.0, 1.0],
//!     links: vec![Link { vertices: [0, 1], rest_length: 1.0, compliance: 0.0 }],
//!     ..ModelSpec::default()
//! })?;
//! assert_eq!(pendulum.vertex_count(), 2);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use anim_math::{Transform, Vec3};
use serde::{Deserialize, Serialize};

use crate::SimError;
use crate::check::check;
use crate::element::{
    Area, Cluster, Fiber, Flex, Hinge, Link, Material, Membrane, SelfContact, Tet, Tether, Volume,
};
use crate::order::{bandwidth, cuthill_mckee};
use crate::xpbd::elements::elements;
use crate::xpbd::sweep::{Element, Sweep};
use crate::xpbd::{cluster, volume};

/// Particles and what holds them together; edit it, then make it a [`Model`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSpec {
    /// P, where the particles rest, metres.
    pub positions: Vec<Vec3>,
    /// P, 1/kg, not negative; 0 pins.
    pub inverse_masses: Vec<f32>,
    /// In any order.
    pub links: Vec<Link>,
    /// In any order; of several on one vertex the shortest counts.
    pub tethers: Vec<Tether>,
    /// In any order.
    pub hinges: Vec<Hinge>,
    /// In any order.
    pub flexes: Vec<Flex>,
    /// In any order.
    pub areas: Vec<Area>,
    /// In any order.
    pub membranes: Vec<Membrane>,
    /// In any order.
    pub tets: Vec<Tet>,
    /// What the tetrahedra are made of.
    pub materials: Vec<Material>,
    /// At most one for each tetrahedron.
    pub fibers: Vec<Fiber>,
    /// Each a closed surface.
    pub volumes: Vec<Volume>,
    /// May overlap.
    pub clusters: Vec<Cluster>,
    /// The surface that air pushes on and that meets itself; may be empty.
    pub triangles: Vec<[u32; 3]>,
    /// How the surface keeps off itself; `None`: it passes through.
    pub self_contact: Option<SelfContact>,
    /// Pairs of particles that are sewn together; see `seam_speed`.
    pub seams: Vec<[u32; 2]>,
    /// How fast a seam closes, m/s; infinite closes it at once. It holds with whatever force that takes.
    pub seam_speed: f32,
    /// Rate at which velocity is lost, 1/s.
    pub damping: f32,
    /// Viscosity of links, hinges, flexes, areas and membranes in units of their elasticity, s: it damps what changes
    /// their shape, and leaves rigid motion and equilibria alone. Solids have that of their material.
    pub viscosity: f32,
    /// How far particles stay from colliders, metres.
    pub thickness: f32,
    /// Coulomb coefficient; a contact has the geometric mean of this and the collider's.
    pub friction: f32,
    /// Force of the air on a unit of area at a unit of speed across it, N·s/m³.
    pub drag: f32,
    /// The same for the force at right angles to the air, which a sheet feels that is neither along nor across it.
    pub lift: f32,
}

/// A valid body: nothing in it can make a step fail.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "ModelSpec", into = "ModelSpec")]
pub struct Model {
    pub(crate) spec: ModelSpec,
    /// P, the vertex in each slot: slots are the order in which the solver keeps particles.
    pub(crate) vertex_of_slot: Vec<u32>,
    /// P, the slot of each vertex.
    pub(crate) slot_of_vertex: Vec<u32>,
    /// Slots in a block.
    pub(crate) block: usize,
    /// Elements inside blocks that begin at multiples of `block`.
    pub(crate) even: Vec<Sweep>,
    /// The other elements, inside blocks that begin half a block later.
    pub(crate) odd: Vec<Sweep>,
    /// The links of no compliance, which the residual is about.
    pub(crate) rigid_links: Vec<u32>,
    /// Elements of any size, solved one after the other.
    pub(crate) volumes: Vec<volume::Volume>,
    pub(crate) clusters: Vec<cluster::Cluster>,
    /// P by slot.
    pub(crate) tethers: Vec<SlotTether>,
    /// The pinned vertices that tethers hang from, by slot.
    pub(crate) anchors: Vec<u32>,
    /// By slot.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// P by slot: area of surface by mass, m²/kg; 0 of what is pinned.
    pub(crate) surface_rates: Vec<f32>,
}

/// The tether of one slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotTether {
    /// Index among the anchors; `u32::MAX`: none.
    pub(crate) anchor: u32,
    pub(crate) max_length: f32,
}

/// A block is small enough for a core's first cache and large enough to be worth a task.
const MIN_BLOCK: usize = 1024;

impl Model {
    /// Checks a body and sorts it for the solver. Costs about a microsecond a link.
    ///
    /// Duplicate positions, particles without links and links of length 0 are accepted; elements of infinite compliance
    /// or no stiffness hold nothing and are dropped, and so are flexes of a triangle without area.
    ///
    /// # Errors
    ///
    /// [`SimError::Empty`]; [`SimError::Count`] if positions and masses differ in number; [`SimError::NotFinite`];
    /// [`SimError::OutOfRange`] for a negative or NaN quantity; [`SimError::VertexOutOfRange`];
    /// [`SimError::SelfLink`]; [`SimError::FreeAnchor`]; [`SimError::Repeated`] for another element that names a vertex
    /// twice; [`SimError::Inverted`]; [`SimError::Missing`].
    pub fn new(spec: ModelSpec) -> Result<Self, SimError> {
        check(&spec)?;
        let vertex_count = spec.positions.len();
        let elements = elements(&spec);
        let vertex_of_slot = cuthill_mckee(&pairs(&elements), vertex_count);
        let mut slot_of_vertex = vec![0; vertex_count];
        for (slot, vertex) in vertex_of_slot.iter().enumerate() {
            slot_of_vertex[*vertex as usize] = slot as u32;
        }
        let slot = |vertex: u32| slot_of_vertex[vertex as usize];

        let elements: Vec<Element> = elements.into_iter().map(|e| e.map(slot)).collect();
        // An element that spans at most half a block and crosses the end of one block lies inside a block that begins
        // half a block later: two rounds of independent blocks cover every element.
        let width = bandwidth(elements.iter().map(Element::vertices));
        let block = (2 * width).next_multiple_of(64).max(MIN_BLOCK);
        let (even, odd): (Vec<_>, Vec<_>) = elements.into_iter().partition(|element| {
            let mut blocks = element.vertices().iter().map(|slot| *slot as usize / block);
            let first = blocks.next();
            blocks.all(|other| Some(other) == first)
        });
        let even = blocks(&even, 0, block, vertex_count);
        let odd = blocks(&odd, block / 2, block, vertex_count);
        let volumes = spec.volumes.iter();
        let volumes = volumes
            .map(|v| volume::Volume::new(v, &slot_of_vertex))
            .collect();
        let clusters = spec.clusters.iter();
        let clusters = clusters
            .map(|c| cluster::Cluster::new(c, &spec.positions, &slot_of_vertex))
            .collect();

        let is_rigid = |i: &u32| spec.links[*i as usize].compliance == 0.0;
        let rigid_links = (0..spec.links.len() as u32).filter(is_rigid).collect();
        let (tethers, anchors) = tethers_by_slot(&spec, &slot_of_vertex);
        let triangles = spec.triangles.iter().map(|t| t.map(slot)).collect();
        let surface_rates = surface_rates(&spec, &vertex_of_slot);
        Ok(Self {
            vertex_of_slot,
            slot_of_vertex,
            block,
            even,
            odd,
            rigid_links,
            volumes,
            clusters,
            tethers,
            anchors,
            triangles,
            surface_rates,
            spec,
        })
    }

    /// Number of particles, P.
    pub fn vertex_count(&self) -> usize {
        self.spec.positions.len()
    }

    /// P, where the particles rest, metres.
    pub fn rest(&self) -> &[Vec3] {
        &self.spec.positions
    }

    /// What it was made from.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }
}

impl TryFrom<ModelSpec> for Model {
    type Error = SimError;

    fn try_from(spec: ModelSpec) -> Result<Self, SimError> {
        Self::new(spec)
    }
}

impl From<Model> for ModelSpec {
    fn from(model: Model) -> Self {
        model.spec
    }
}

/// Where one instance of a model is and how it moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// P, world space, metres.
    pub positions: Vec<Vec3>,
    /// P, world space, m/s.
    pub velocities: Vec<Vec3>,
}

impl State {
    /// At rest where the model rests.
    pub fn new(model: &Model) -> Self {
        Self {
            positions: model.rest().to_vec(),
            velocities: vec![Vec3::zeros(); model.vertex_count()],
        }
    }

    /// Puts the particles somewhere else, at rest: for cuts and respawns.
    ///
    /// # Panics
    ///
    /// If there are not P positions.
    pub fn reset(&mut self, positions: &[Vec3]) {
        self.positions.copy_from_slice(positions);
        self.velocities.fill(Vec3::zeros());
    }

    /// Moves the whole instance rigidly, motion included, as if the world had moved the other way.
    ///
    /// Without it, a character that teleports drags its cape across the world.
    pub fn teleport(&mut self, world_from_old: &Transform) {
        let rotation = world_from_old.rotation;
        for (position, velocity) in self.positions.iter_mut().zip(&mut self.velocities) {
            *position = rotation * *position + world_from_old.translation;
            *velocity = rotation * *velocity;
        }
    }

    /// True if no position and no velocity is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        let finite = |v: &Vec3| v.iter().all(|c| c.is_finite());
        self.positions.iter().all(finite) && self.velocities.iter().all(finite)
    }
}

/// Every two vertices that an element joins, once.
fn pairs(elements: &[Element]) -> Vec<[u32; 2]> {
    let mut pairs: Vec<[u32; 2]> = Vec::with_capacity(elements.len());
    for element in elements {
        let vertices = element.vertices();
        for (place, a) in vertices.iter().enumerate() {
            pairs.extend(vertices[..place].iter().map(|b| [*a.min(b), *a.max(b)]));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The elements of each block that begins at `offset` plus a multiple of `block`, numbered from its first slot.
fn blocks(elements: &[Element], offset: usize, block: usize, vertex_count: usize) -> Vec<Sweep> {
    let count = vertex_count.saturating_sub(offset).div_ceil(block);
    let mut by_block = vec![Vec::new(); count];
    for element in elements {
        let first = element.vertices().iter().min().copied().unwrap_or(0) as usize - offset;
        let index = first / block;
        let start = (index * block + offset) as u32;
        by_block[index].push(element.map(|slot| slot - start));
    }
    by_block
        .iter()
        .map(|elements| Sweep::new(elements, block))
        .collect()
}

fn tethers_by_slot(spec: &ModelSpec, slot_of_vertex: &[u32]) -> (Vec<SlotTether>, Vec<u32>) {
    let free = SlotTether {
        anchor: u32::MAX,
        max_length: f32::INFINITY,
    };
    let mut tethers = vec![free; spec.positions.len()];
    let mut anchors: Vec<u32> = spec
        .tethers
        .iter()
        .map(|tether| slot_of_vertex[tether.anchor as usize])
        .collect();
    anchors.sort_unstable();
    anchors.dedup();
    for tether in &spec.tethers {
        let slot = &mut tethers[slot_of_vertex[tether.vertex as usize] as usize];
        if tether.max_length < slot.max_length {
            let anchor = slot_of_vertex[tether.anchor as usize];
            *slot = SlotTether {
                anchor: anchors.partition_point(|a| *a < anchor) as u32,
                max_length: tether.max_length,
            };
        }
    }
    (tethers, anchors)
}

/// Area / mass, where a vertex has a third of each of its triangles.
fn surface_rates(spec: &ModelSpec, vertex_of_slot: &[u32]) -> Vec<f32> {
    let areas = vertex_areas(&spec.positions, &spec.triangles);
    vertex_of_slot
        .iter()
        .map(|v| areas[*v as usize] as f32 * spec.inverse_masses[*v as usize])
        .collect()
}

/// A third of the area of each triangle goes to each of its corners, m².
pub(crate) fn vertex_areas(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<f64> {
    let mut areas = vec![0.0; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize].cast::<f64>());
        let third = (b - a).cross(&(c - a)).norm() / 6.0;
        for v in triangle {
            areas[*v as usize] += third;
        }
    }
    areas
}
