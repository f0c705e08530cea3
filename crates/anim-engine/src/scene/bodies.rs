//! Simulated bodies of a scene: cloth, ropes and soft solids that stand by themselves.

use std::sync::Arc;

use anim_asset::{AssetError, Document};
use anim_geom::TetMesh;
use anim_geom::tet::{Split, StuffOptions, lattice, stuff};
use anim_geom::{Mesh, primitives, topology};
use anim_math::{Affine, Transform, Vec3, quat};
use anim_sim::cloth::{self, ClothSpec};
use anim_sim::element::Material;
use anim_sim::rope::{self, RopeSpec};
use anim_sim::soft::{self, SoftSpec};
use anim_sim::{
    Implicit, ImplicitOptions, Model, ModelSpec, SelfContact, Solver, Vbd, VbdOptions, Xpbd,
};
#[cfg(feature = "solve")]
use anim_sim::{Projective, ProjectiveOptions};
use serde::{Deserialize, Serialize};

use super::check::{inside, placed, refusal};
use super::fibers::{FiberUse, fibers_of, muscles_of};
use super::motion::{Motion, MotionSpec};
use super::slack::bowed;
use crate::body::{BodyOptions, HeldBy, Holder};
use crate::{ActorId, BodyId, Engine, EngineError};

/// A body that stands by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodySpec {
    /// For people.
    #[serde(default)]
    pub name: String,
    /// What it is.
    pub made_of: BodyKind,
    /// Where its origin is, m.
    #[serde(default = "Vec3::zeros")]
    pub position: Vec3,
    /// How it is turned: the axis times degrees.
    #[serde(default = "Vec3::zeros")]
    pub rotation_deg: Vec3,
    /// What holds it.
    #[serde(default)]
    pub holds: Vec<HoldSpec>,
    /// What moves it.
    #[serde(default)]
    pub solver: SolverSpec,
}

/// What a body is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BodyKind {
    /// Sheets, all of one model, so that they keep off each other if the material keeps off itself.
    Cloth {
        /// The surfaces.
        meshes: Vec<PlacedMesh>,
        /// Positions, triangles and pins are filled in.
        #[serde(default)]
        material: ClothSpec,
    },
    /// A solid of tetrahedra.
    Soft {
        /// Its shape.
        shape: SolidShape,
        /// What it is made of.
        #[serde(default)]
        material: Material,
        /// How its surface keeps off itself; if left out, it passes through.
        #[serde(default)]
        self_contact: Option<SelfContact>,
        /// Muscle in it, which the implicit method alone knows.
        #[serde(default)]
        fibers: Vec<FiberUse>,
    },
    /// A rope along a line.
    Rope {
        /// From where to where, m.
        ends: [Vec3; 2],
        /// Pieces between them.
        segments: u32,
        /// Points and pins are filled in.
        #[serde(default)]
        material: RopeSpec,
    },
}

/// The shape of a solid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SolidShape {
    /// A block from the origin.
    Block {
        /// Along x, y and z.
        cells: [u32; 3],
        /// Metres.
        size: Vec3,
    },
    /// The inside of a surface.
    Inside {
        /// The surface.
        mesh: MeshSource,
        /// Cells along its longest side.
        resolution: u32,
    },
}

/// A surface, seen from its body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacedMesh {
    /// Its shape.
    pub mesh: MeshSource,
    /// Metres.
    #[serde(default = "Vec3::zeros")]
    pub position: Vec3,
    /// The axis times degrees.
    #[serde(default = "Vec3::zeros")]
    pub rotation_deg: Vec3,
}

/// Where a surface comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MeshSource {
    /// A flat sheet in the xz plane about the origin.
    Grid {
        /// Cells along x.
        columns: u32,
        /// Cells along z.
        rows: u32,
        /// Edge of a cell, m.
        cell: f32,
    },
    /// An open tube along y.
    Tube {
        /// Metres.
        radius: f32,
        /// Half its length, m.
        half_length: f32,
        /// Around.
        sides: u32,
        /// Along.
        rings: u32,
    },
    /// A closed ball.
    Sphere {
        /// Metres.
        radius: f32,
        /// Around.
        sides: u32,
        /// From pole to pole.
        rings: u32,
    },
    /// The mesh of a node of a file, as it rests there.
    File {
        /// Relative to the scene.
        file: String,
        /// Name of the node; the first mesh of the file if left out.
        #[serde(default)]
        node: Option<String>,
    },
}

/// What holds some particles of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldSpec {
    /// Those in this box, seen from the body at rest: low corner, high corner, m.
    pub within: [Vec3; 2],
    /// The joint they follow; if left out, `motion` moves them.
    #[serde(default)]
    pub joint: Option<JointPlace>,
    /// How they move about the body's origin.
    #[serde(default)]
    pub motion: MotionSpec,
}

/// A joint of a character.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointPlace {
    /// The place of the character.
    pub character: usize,
    /// Its name.
    pub joint: String,
}

/// What moves a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SolverSpec {
    /// Which method.
    pub method: Method,
    /// Steps of the method in each simulation step.
    pub substeps: u32,
}

impl Default for SolverSpec {
    fn default() -> Self {
        Self {
            method: Method::Xpbd,
            substeps: 10,
        }
    }
}

/// A method of moving bodies; see the modules of anim-sim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Small steps of extended position-based dynamics: cloth, ropes and soft solids at a fixed price.
    #[default]
    Xpbd,
    /// Vertex block descent: nothing explodes or collapses, however large the step.
    Vbd,
    /// Newton's method: solids as stiff as their material says.
    Implicit,
    /// Quasi-Newton steps on a matrix factored once: cloth that hardly stretches.
    #[cfg(feature = "solve")]
    Projective,
}

/// Vertices of a body of a scene at most.
const MOST_VERTICES: usize = 4_000_000;

/// A holder of a body that moves as the file says.
#[derive(Clone, Debug)]
pub(super) struct HeldMotion {
    body: BodyId,
    holder: usize,
    world_from_body: Affine,
    motion: Motion,
}

impl HeldMotion {
    /// Moves the holder to where it is at `time`, s.
    pub(super) fn apply(&self, engine: &mut Engine, time: f64) {
        if let Some(body) = engine.body_mut(self.body) {
            body.place_holder(self.holder, self.world_from_body * self.motion.at(time));
        }
    }
}

/// Puts a body into the engine.
pub(super) fn spawn(
    engine: &mut Engine,
    actors: &[ActorId],
    spec: &BodySpec,
    place: &str,
    load: &mut dyn FnMut(&str) -> Result<Document, AssetError>,
) -> Result<Vec<HeldMotion>, EngineError> {
    let world_from_body = turned(spec.position, spec.rotation_deg);
    let mut muscles = Vec::new();
    let mut model = match &spec.made_of {
        BodyKind::Cloth { meshes, material } => {
            cloth_model(meshes, material, &format!("{place}/made_of/cloth"), load)?
        }
        BodyKind::Soft {
            shape,
            material,
            self_contact,
            fibers,
        } => {
            let place = format!("{place}/made_of/soft");
            let in_body = format!("{place}/fibers");
            if !fibers.is_empty() && spec.solver.method != Method::Implicit {
                let message = "only the implicit method knows them".to_owned();
                return Err(refusal(&in_body, message));
            }
            muscles = muscles_of(fibers, engine, actors, &in_body)?;
            let mesh = solid_mesh(shape, &format!("{place}/shape"), load)?;
            let spec = SoftSpec {
                fibers: fibers_of(fibers, &mesh, &in_body)?,
                mesh,
                material: *material,
                self_contact: *self_contact,
                ..SoftSpec::default()
            };
            let model = soft::build(&spec).map_err(EngineError::from);
            model.map_err(placed(place))?.spec().clone()
        }
        BodyKind::Rope {
            ends,
            segments,
            material,
        } => {
            let place = format!("{place}/made_of/rope");
            rope_model(*ends, *segments, material, &place)?
        }
    };
    let mut holders = Vec::new();
    let mut motions = Vec::new();
    for (index, hold) in spec.holds.iter().enumerate() {
        let place = format!("{place}/holds/{index}");
        let vertices: Vec<u32> = (0..model.positions.len() as u32)
            .filter(|v| inside(&hold.within, &model.positions[*v as usize]))
            .collect();
        if vertices.is_empty() {
            let message = "holds no vertex".to_owned();
            return Err(refusal(&format!("{place}/within"), message));
        }
        let motion = Motion::new(&hold.motion, &format!("{place}/motion"))?;
        let by = match &hold.joint {
            None => HeldBy::Frame(world_from_body * motion.at(0.0)),
            Some(joint) => {
                let (actor, id) = actors
                    .get(joint.character)
                    .and_then(|id| Some((engine.actor(*id)?, *id)))
                    .ok_or_else(|| {
                        let message = format!("character {} does not exist", joint.character);
                        refusal(&format!("{place}/joint/character"), message)
                    })?;
                let named = actor.character().joint_named(&joint.joint);
                HeldBy::Joint(id, named.map_err(placed(format!("{place}/joint/joint")))?)
            }
        };
        if hold.joint.is_none() {
            motions.push((holders.len(), motion));
        }
        holders.push(Holder { by, vertices });
    }
    for position in &mut model.positions {
        *position = world_from_body.transform_point(*position);
    }
    for fiber in &mut model.fibers {
        fiber.direction = world_from_body.transform_vector(fiber.direction);
    }
    let model = Arc::new(
        Model::new(model)
            .map_err(EngineError::from)
            .map_err(placed(place))?,
    );
    let body = engine.spawn_body(BodyOptions {
        name: spec.name.clone(),
        solver: solver(&model, &spec.solver),
        model,
        holders,
        muscles,
    });
    let motions = motions.into_iter().map(|(holder, motion)| HeldMotion {
        body,
        holder,
        world_from_body,
        motion,
    });
    Ok(motions.collect())
}

fn solver(model: &Model, spec: &SolverSpec) -> Box<dyn Solver> {
    match spec.method {
        Method::Xpbd => Box::new(Xpbd::new(model, spec.substeps)),
        Method::Vbd => Box::new(Vbd::new(
            model,
            VbdOptions {
                substeps: spec.substeps,
                ..VbdOptions::default()
            },
        )),
        Method::Implicit => Box::new(Implicit::new(
            model,
            ImplicitOptions {
                substeps: spec.substeps,
                ..ImplicitOptions::default()
            },
        )),
        #[cfg(feature = "solve")]
        Method::Projective => Box::new(Projective::new(
            model,
            ProjectiveOptions {
                substeps: spec.substeps,
                ..ProjectiveOptions::default()
            },
        )),
    }
}

fn turned(position: Vec3, rotation_deg: Vec3) -> Affine {
    Affine::from(Transform {
        translation: position,
        ..Transform::from_rotation(quat::exp(rotation_deg.map(f32::to_radians)))
    })
}

/// All sheets as one cloth; vertices of one mesh at the same place are one particle.
fn cloth_model(
    meshes: &[PlacedMesh],
    material: &ClothSpec,
    place: &str,
    load: &mut dyn FnMut(&str) -> Result<Document, AssetError>,
) -> Result<ModelSpec, EngineError> {
    let mut positions: Vec<Vec3> = Vec::new();
    let mut triangles = Vec::new();
    for (index, part) in meshes.iter().enumerate() {
        let place = format!("{place}/meshes/{index}");
        let mesh = mesh_of(&part.mesh, &format!("{place}/mesh"), load)?;
        let body_from_mesh = turned(part.position, part.rotation_deg);
        let welded = topology::weld(&mesh.rest.positions);
        let mut particle = vec![0; welded.len()];
        for (vertex, first) in welded.iter().enumerate() {
            if *first as usize == vertex {
                particle[vertex] = positions.len() as u32;
                positions.push(body_from_mesh.transform_point(mesh.rest.positions[vertex]));
            } else {
                particle[vertex] = particle[*first as usize];
            }
        }
        triangles.extend(
            mesh.triangles
                .iter()
                .map(|t| t.map(|v| particle[v as usize])),
        );
    }
    let spec = ClothSpec {
        positions,
        triangles,
        ..material.clone()
    };
    let model = cloth::build(&spec)
        .map_err(EngineError::from)
        .map_err(placed(place))?;
    Ok(model.spec().clone())
}

fn mesh_of(
    source: &MeshSource,
    place: &str,
    load: &mut dyn FnMut(&str) -> Result<Document, AssetError>,
) -> Result<Mesh, EngineError> {
    let few = |counts: [u32; 2]| {
        if counts.contains(&0) || !are_few(&counts) {
            let message = format!("{counts:?} is not in [1, 1] to {MOST_VERTICES} vertices");
            return Err(refusal(place, message));
        }
        Ok(())
    };
    match source {
        MeshSource::Grid {
            columns,
            rows,
            cell,
        } => {
            few([*columns, *rows])?;
            Ok(primitives::grid(*columns, *rows, *cell))
        }
        MeshSource::Tube {
            radius,
            half_length,
            sides,
            rings,
        } => {
            few([*sides, *rings])?;
            Ok(primitives::tube(*radius, *half_length, *sides, *rings))
        }
        MeshSource::Sphere {
            radius,
            sides,
            rings,
        } => {
            few([*sides, *rings])?;
            Ok(primitives::sphere(*radius, *sides, *rings))
        }
        MeshSource::File { file, node } => {
            let document = load(file).map_err(|source| EngineError::Asset {
                file: file.clone(),
                source,
            })?;
            let found = document.nodes.iter().find(|candidate| {
                candidate.mesh.is_some() && (node.is_none() || candidate.name == *node)
            });
            let mesh = found
                .and_then(|node| document.meshes.get(node.mesh?))
                .and_then(|mesh| mesh.primitives.first())
                .ok_or_else(|| refusal(place, "no such mesh in the file".to_owned()))?;
            Ok(mesh.mesh.clone())
        }
    }
}

/// True if a grid of so many cells along each side has no more vertices than a body may.
fn are_few(cells: &[u32]) -> bool {
    let vertices = cells
        .iter()
        .try_fold(1u64, |sum, n| sum.checked_mul(u64::from(*n) + 1));
    vertices.is_some_and(|vertices| vertices <= MOST_VERTICES as u64)
}

fn solid_mesh(
    shape: &SolidShape,
    place: &str,
    load: &mut dyn FnMut(&str) -> Result<Document, AssetError>,
) -> Result<TetMesh, EngineError> {
    match shape {
        SolidShape::Block { cells, size } => {
            if cells.contains(&0) || !are_few(cells) {
                let message = format!("{cells:?} is not in [1, 1, 1] to {MOST_VERTICES} vertices");
                return Err(refusal(&format!("{place}/block/cells"), message));
            }
            Ok(lattice(*cells, *size, Split::Five))
        }
        SolidShape::Inside { mesh, resolution } => {
            let surface = mesh_of(mesh, &format!("{place}/inside/mesh"), load)?;
            let options = StuffOptions {
                resolution: *resolution,
            };
            stuff(&surface, &options)
                .map_err(EngineError::from)
                .map_err(placed(format!("{place}/inside")))
        }
    }
}

fn rope_model(
    ends: [Vec3; 2],
    segments: u32,
    material: &RopeSpec,
    place: &str,
) -> Result<ModelSpec, EngineError> {
    if segments == 0 || segments as usize >= MOST_VERTICES {
        let message = format!("{segments} is not in 1 to {MOST_VERTICES}");
        return Err(refusal(&format!("{place}/segments"), message));
    }
    let spec = RopeSpec {
        points: bowed(ends, segments, material.length),
        pinned: Vec::new(),
        ..material.clone()
    };
    let model = rope::build(&spec).map_err(EngineError::from);
    Ok(model.map_err(placed(place))?.spec().clone())
}
