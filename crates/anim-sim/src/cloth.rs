//! Cloth from a triangle mesh.
//!
//! Edges resist stretch, or threads of a [`Weave`] do; [`Bending`] is by springs across edges or by angles; and each vertex
//! is tethered to the pinned vertex that is nearest along the cloth, so that a hanging sheet does not look like rubber.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::cloth::{ClothSpec, build};
//!
//! let triangle = ClothSpec {
//!     positions: vec![Vec3::zeros(), Vec3::x(), Vec3::z()],
//!     triangles: vec![[0, 2, 1]],
//!     pinned: vec![0],
//!     density: 0.2,
//!     ..ClothSpec::default()
//! };
//! let model = build(&triangle)?;
//! // Half a square metre of 0.2 kg/m², shared by three corners.
//! assert!((1.0 / model.spec().inverse_masses[1] - 0.1 / 3.0).abs() < 1e-6);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use crate::bend::{crossings, diagonals, edges_and_hinges, skips};
use crate::check::{check_range, check_vertices};
use crate::element::{Flex, Hinge, Membrane};
use crate::model::vertex_areas;
use crate::{Link, Model, ModelSpec, SelfContact, SimError, Tether};

/// How a sheet resists bending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bending {
    /// Springs between the corners across each edge, of [`ClothSpec::bend_compliance`]. Cheapest, and they spread corrections
    /// fast; they resist stretch across the edge as well, and bending only to second order.
    #[default]
    Springs,
    /// The quadratic energy of a flat sheet of this stiffness, N·m: the material's own, on any mesh of it.
    Isometric(f32),
    /// Angles keep their rest, for sheets with folds or curves in them; by this compliance of each edge, rad/(N·m).
    Dihedral(f32),
}

/// Woven cloth: stiffness by direction, instead of that of edges.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weave {
    /// Along the warp at rest; each triangle has it laid into its plane. Need not be of unit length.
    pub warp: Vec3,
    /// Along the warp, along the weft, in shear: N/m, not negative.
    pub stiffness: [f32; 3],
    /// As [`Membrane::limits`].
    pub limits: [f32; 2],
}

/// A piece of cloth; edit it, then [`build`] it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClothSpec {
    /// V, where the vertices rest, metres.
    pub positions: Vec<Vec3>,
    /// The surface; may be degenerate, may be several pieces.
    pub triangles: Vec<[u32; 3]>,
    /// Vertices that move only as [`Drive::pins`](crate::Drive::pins) says.
    pub pinned: Vec<u32>,
    /// kg/m², positive.
    pub density: f32,
    /// How far an edge stretches under a unit of force, m/N; 0 does not stretch.
    pub stretch_compliance: f32,
    /// How far two triangles fold under a unit of force at their far corners, m/N; infinite: folds freely, costs nothing.
    /// Of [`Bending::Springs`] alone.
    pub bend_compliance: f32,
    /// How it resists bending.
    pub bending: Bending,
    /// Of links along the second diagonals of quadrilaterals, m/N; infinite: none, the first diagonals are edges anyway.
    pub shear_compliance: f32,
    /// Of links that skip a vertex, m/N, which stiffen fine meshes at few substeps, and against bending; infinite: none.
    pub skip_compliance: f32,
    /// Threads that resist stretch instead of edges.
    pub weave: Option<Weave>,
    /// Pairs of vertices to sew together.
    pub seams: Vec<[u32; 2]>,
    /// How fast seams close, m/s.
    pub seam_speed: f32,
    /// Internal damping, s; see [`ModelSpec::viscosity`].
    pub viscosity: f32,
    /// Rate at which velocity is lost, 1/s.
    pub damping: f32,
    /// How far vertices stay from colliders, metres.
    pub thickness: f32,
    /// Coulomb coefficient; a contact has the geometric mean of this and the collider's.
    pub friction: f32,
    /// Force of the air on a unit of area at a unit of speed across it, N·s/m³.
    pub drag: f32,
    /// The same for the force at right angles to the air.
    pub lift: f32,
    /// How it keeps off itself; `None`: it passes through.
    pub self_contact: Option<SelfContact>,
    /// By what fraction the way to the nearest pinned vertex may lengthen; infinite: no tethers.
    pub max_stretch: f32,
}

impl Default for ClothSpec {
    /// Cotton: does not stretch, folds easily, and comes to rest in the air.
    fn default() -> Self {
        Self {
            positions: Vec::new(),
            triangles: Vec::new(),
            pinned: Vec::new(),
            density: 0.2,
            stretch_compliance: 1e-6,
            bend_compliance: 1e-2,
            bending: Bending::Springs,
            shear_compliance: f32::INFINITY,
            skip_compliance: f32::INFINITY,
            weave: None,
            seams: Vec::new(),
            seam_speed: 1.0,
            viscosity: 0.0,
            damping: 0.5,
            thickness: 0.005,
            friction: 0.5,
            drag: 0.1,
            lift: 0.0,
            self_contact: None,
            max_stretch: 0.02,
        }
    }
}

/// Makes a model of a piece of cloth.
///
/// A vertex has a third of the mass of each of its triangles; one without area has the mean mass. Costs a few
/// microseconds a vertex.
///
/// # Errors
///
/// [`SimError::Empty`] without vertices; [`SimError::NotFinite`]; [`SimError::VertexOutOfRange`] for a triangle or a
/// pin; [`SimError::OutOfRange`] for a density that is not positive or another quantity that is negative or NaN.
pub fn build(spec: &ClothSpec) -> Result<Model, SimError> {
    check(spec)?;
    let (edges, hinges) = edges_and_hinges(&spec.triangles);
    let crossings = crossings(&hinges);
    let length = |[a, b]: [u32; 2]| {
        let [a, b] = [a, b].map(|v| spec.positions[v as usize].cast::<f64>());
        (a - b).norm()
    };
    let mut links = Vec::new();
    let mut push = |pairs: &[[u32; 2]], compliance: f32| {
        links.extend(pairs.iter().map(|vertices| Link {
            vertices: *vertices,
            rest_length: length(*vertices) as f32,
            compliance,
        }));
    };
    if spec.weave.is_none() {
        push(&edges, spec.stretch_compliance);
    }
    if spec.bending == Bending::Springs {
        push(&crossings, spec.bend_compliance);
    }
    if spec.shear_compliance.is_finite() {
        push(&diagonals(&hinges, length), spec.shear_compliance);
    }
    if spec.skip_compliance.is_finite() {
        push(&skips(&edges, &spec.positions), spec.skip_compliance);
    }
    // Of several links between two vertices the stiffest counts.
    links.sort_by(|a: &Link, b| {
        (a.vertices.cmp(&b.vertices)).then(a.compliance.total_cmp(&b.compliance))
    });
    links.dedup_by_key(|link| link.vertices);

    let mut model = ModelSpec {
        inverse_masses: inverse_masses(spec),
        links,
        positions: spec.positions.clone(),
        triangles: spec.triangles.clone(),
        seams: spec.seams.clone(),
        seam_speed: spec.seam_speed,
        damping: spec.damping,
        viscosity: spec.viscosity,
        thickness: spec.thickness,
        friction: spec.friction,
        drag: spec.drag,
        lift: spec.lift,
        self_contact: spec.self_contact,
        ..ModelSpec::default()
    };
    match spec.bending {
        Bending::Springs => {}
        Bending::Isometric(stiffness) => model.flexes.extend(hinges.iter().map(|vertices| Flex {
            vertices: *vertices,
            stiffness,
        })),
        Bending::Dihedral(compliance) => model.hinges.extend(hinges.iter().map(|vertices| Hinge {
            vertices: *vertices,
            rest_angle: Hinge::angle(vertices.map(|v| spec.positions[v as usize])),
            compliance,
        })),
    }
    if let Some(weave) = &spec.weave {
        let membranes = spec.triangles.iter();
        let membranes =
            membranes.filter_map(|triangle| membrane(weave, *triangle, &spec.positions));
        model.membranes.extend(membranes);
    }
    let paths: Vec<_> = edges
        .iter()
        .chain(&crossings)
        .map(|pair| (*pair, length(*pair)))
        .collect();
    model.tethers = tethers(spec, &paths);
    Model::new(model)
}

/// A triangle laid out along the warp; `None` without area.
fn membrane(weave: &Weave, vertices: [u32; 3], positions: &[Vec3]) -> Option<Membrane> {
    let [a, b, c] = vertices.map(|v| positions[v as usize].cast::<f64>());
    let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
    let warp = weave.warp.cast::<f64>();
    let in_plane = warp - normal * normal.dot(&warp);
    // A warp across the plane lies nowhere in it: along the first edge is as good as any.
    let along = if in_plane.norm() > 1e-6 * warp.norm() {
        in_plane.normalize()
    } else {
        (b - a).normalize()
    };
    let across = normal.cross(&along);
    let material = [a, b, c].map(|x| [along.dot(&(x - a)) as f32, across.dot(&(x - a)) as f32]);
    let [_, p, q] = material.map(|m| m.map(f64::from));
    (p[0] * q[1] > p[1] * q[0]).then_some(Membrane {
        vertices,
        material,
        stiffness: weave.stiffness,
        limits: weave.limits,
    })
}

/// What [`Model::new`] cannot check because it is gone by then.
fn check(spec: &ClothSpec) -> Result<(), SimError> {
    let vertex_count = spec.positions.len();
    for (vertex, position) in spec.positions.iter().enumerate() {
        if !position.iter().all(|c| c.is_finite()) {
            return Err(SimError::NotFinite { vertex });
        }
    }
    for (index, triangle) in spec.triangles.iter().enumerate() {
        check_vertices("triangle", index, triangle, vertex_count)?;
    }
    for (index, vertex) in spec.pinned.iter().enumerate() {
        check_vertices("pin", index, &[*vertex], vertex_count)?;
    }
    if !(spec.density > 0.0 && spec.density.is_finite()) {
        return Err(SimError::OutOfRange {
            what: "density",
            index: 0,
            value: spec.density,
        });
    }
    check_range(
        "stretch compliance",
        0,
        spec.stretch_compliance,
        f32::INFINITY,
    )?;
    check_range("bend compliance", 0, spec.bend_compliance, f32::INFINITY)?;
    check_range("shear compliance", 0, spec.shear_compliance, f32::INFINITY)?;
    check_range("skip compliance", 0, spec.skip_compliance, f32::INFINITY)?;
    if let Some(weave) = &spec.weave
        && !weave.warp.iter().all(|c| c.is_finite())
    {
        return Err(SimError::OutOfRange {
            what: "warp",
            index: 0,
            value: weave.warp.sum(),
        });
    }
    check_range("largest stretch", 0, spec.max_stretch, f32::INFINITY)
}

fn inverse_masses(spec: &ClothSpec) -> Vec<f32> {
    let areas = vertex_areas(&spec.positions, &spec.triangles);
    let with_area: Vec<f64> = areas.iter().copied().filter(|area| *area > 0.0).collect();
    let mean = if with_area.is_empty() {
        1.0
    } else {
        with_area.iter().sum::<f64>() / with_area.len() as f64
    };
    let mut inverse_masses: Vec<f32> = areas
        .iter()
        .map(|area| {
            let area = if *area > 0.0 { *area } else { mean };
            // A sliver of nearly no area still gets a finite inverse.
            (1.0 / (f64::from(spec.density) * area)).min(f64::from(f32::MAX)) as f32
        })
        .collect();
    for vertex in &spec.pinned {
        inverse_masses[*vertex as usize] = 0.0;
    }
    inverse_masses
}

/// Ties each vertex to the pinned vertex that is nearest along the paths (Dijkstra, all pins at once).
fn tethers(spec: &ClothSpec, paths: &[([u32; 2], f64)]) -> Vec<Tether> {
    if spec.max_stretch.is_infinite() || spec.pinned.is_empty() {
        return Vec::new();
    }
    let vertex_count = spec.positions.len();
    let mut neighbors = vec![Vec::new(); vertex_count];
    for &([a, b], length) in paths {
        neighbors[a as usize].push((b, length));
        neighbors[b as usize].push((a, length));
    }
    let mut nearest = vec![(f64::INFINITY, u32::MAX); vertex_count];
    // Non-negative floats sort as their bits do.
    let mut queue: BinaryHeap<Reverse<(u64, u32, u32)>> = spec
        .pinned
        .iter()
        .map(|pin| Reverse((0, *pin, *pin)))
        .collect();
    while let Some(Reverse((bits, vertex, anchor))) = queue.pop() {
        let distance = f64::from_bits(bits);
        if nearest[vertex as usize].0 <= distance {
            continue;
        }
        nearest[vertex as usize] = (distance, anchor);
        for (neighbor, length) in &neighbors[vertex as usize] {
            let distance = distance + length;
            if distance < nearest[*neighbor as usize].0 {
                queue.push(Reverse((distance.to_bits(), *neighbor, anchor)));
            }
        }
    }
    let longer = 1.0 + f64::from(spec.max_stretch);
    nearest
        .iter()
        .enumerate()
        .filter(|(_, (distance, anchor))| *anchor != u32::MAX && *distance > 0.0)
        .map(|(vertex, (distance, anchor))| Tether {
            vertex: vertex as u32,
            anchor: *anchor,
            max_length: (distance * longer) as f32,
        })
        .collect()
}
