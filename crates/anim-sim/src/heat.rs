//! Heat in a solid: linear finite elements on the tetrahedra that also deform it.
//!
//! ρc ∂T/∂t = ∇·(k∇T), with temperatures held at vertices and heat exchanged through faces: the spoon whose handle
//! grows warm. Assembled and factored once; a step is then one back substitution. In `f64`, for tools. Behind the
//! feature `solve`. Kelvin or °C, as you like: only differences count.
//!
//! ```
//! use anim_geom::tet::{Split, lattice};
//! use anim_math::Vec3;
//! use anim_sim::heat::{HeatModel, HeatSpec, Substance};
//!
//! // A bar between 0 and 100 degrees.
//! let mesh = lattice([4, 1, 1], Vec3::new(0.4, 0.1, 0.1), Split::Five);
//! let ends = (0..).zip(&mesh.positions).filter(|(_, p)| p.x < 0.01 || p.x > 0.39);
//! let fixed = ends.map(|(v, p)| (v, if p.x > 0.2 { 100.0 } else { 0.0 })).collect();
//! let bar = HeatModel::new(&HeatSpec { mesh, substance: Substance::STEEL, fixed, ..HeatSpec::default() })?;
//! let temperatures = bar.steady()?;
//! assert!((temperatures[1] - 25.0).abs() < 1e-5);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use anim_geom::TetMesh;
use anim_geom::sparse::Cholesky;
use anim_math::nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::SimError;

/// What conducts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Substance {
    /// k, W/(m·K), positive.
    pub conductivity: f64,
    /// c, J/(kg·K), positive.
    pub heat_capacity: f64,
    /// ρ, kg/m³, positive.
    pub density: f64,
}

impl Substance {
    /// Stainless steel.
    pub const STEEL: Self = Self {
        conductivity: 16.0,
        heat_capacity: 500.0,
        density: 8000.0,
    };
    /// Silver.
    pub const SILVER: Self = Self {
        conductivity: 429.0,
        heat_capacity: 235.0,
        density: 10490.0,
    };

    /// k / ρc, m²/s: how fast temperatures even out.
    pub fn diffusivity(&self) -> f64 {
        self.conductivity / (self.density * self.heat_capacity)
    }
}

/// Faces through which heat passes: flux + coefficient · (ambient − T) into the body, W/m².
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exchange {
    /// Faces of the mesh; faces that no exchange names are insulated.
    pub triangles: Vec<[u32; 3]>,
    /// W/m², positive heats.
    pub flux: f64,
    /// Of convection, W/(m²·K), not negative: about 10 in still air, 1000 in stirred water.
    pub coefficient: f64,
    /// What flows past.
    pub ambient: f64,
}

/// How the heat capacity of a tetrahedron is shared among its corners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capacity {
    /// A quarter each: more robust under steep changes.
    #[default]
    Lumped,
    /// As the linear functions have it.
    Consistent,
}

/// A body that conducts heat; edit it, then make it a [`HeatModel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeatSpec {
    /// The body; its vertices carry the temperatures.
    pub mesh: TetMesh,
    /// What it is made of.
    pub substance: Substance,
    /// Vertices whose temperature is held; of several on one vertex the last counts.
    pub fixed: Vec<(u32, f64)>,
    /// Where heat passes through the surface; they add up.
    pub exchanges: Vec<Exchange>,
    /// How heat capacity is shared.
    pub capacity: Capacity,
}

impl Default for HeatSpec {
    fn default() -> Self {
        Self {
            mesh: TetMesh::default(),
            substance: Substance::STEEL,
            fixed: Vec::new(),
            exchanges: Vec::new(),
            capacity: Capacity::default(),
        }
    }
}

/// The assembled equations C dT/dt = q − K T; immutable.
#[derive(Clone, Debug)]
pub struct HeatModel {
    /// Lower triangle; entries of one place add up.
    entries: Vec<Entry>,
    /// q, W at each vertex.
    loads: Vec<f64>,
    /// The held temperature of each vertex.
    fixed: Vec<Option<f64>>,
    /// The place of each free vertex among the free.
    unknowns: Vec<Option<u32>>,
    unknown_count: usize,
}

/// What one vertex has to do with another, `row` ≥ `column`.
#[derive(Clone, Copy, Debug)]
struct Entry {
    row: u32,
    column: u32,
    /// J/K.
    capacity: f64,
    /// W/K.
    conductance: f64,
}

impl HeatModel {
    /// Assembles the equations of a body.
    ///
    /// K_ij = ∫ k ∇φᵢ·∇φⱼ + ∫ h φᵢφⱼ over exchanging faces, C_ij = ∫ ρc φᵢφⱼ or its row sums.
    ///
    /// # Errors
    ///
    /// [`SimError::Empty`]; [`SimError::VertexOutOfRange`]; [`SimError::NotFinite`]; [`SimError::Inverted`] for a
    /// tetrahedron without positive volume; [`SimError::OutOfRange`] for a quantity.
    pub fn new(spec: &HeatSpec) -> Result<Self, SimError> {
        check(spec)?;
        let count = spec.mesh.positions.len();
        let mut model = Self {
            entries: Vec::with_capacity(spec.mesh.tets.len() * 10),
            loads: vec![0.0; count],
            fixed: vec![None; count],
            unknowns: vec![None; count],
            unknown_count: 0,
        };
        for index in 0..spec.mesh.tets.len() {
            model.add_tet(spec, index)?;
        }
        for exchange in &spec.exchanges {
            for triangle in &exchange.triangles {
                model.add_face(spec, exchange, *triangle);
            }
        }
        for &(vertex, temperature) in &spec.fixed {
            model.fixed[vertex as usize] = Some(temperature);
        }
        for (unknown, fixed) in model.unknowns.iter_mut().zip(&model.fixed) {
            if fixed.is_none() {
                *unknown = Some(model.unknown_count as u32);
                model.unknown_count += 1;
            }
        }
        Ok(model)
    }

    /// Number of vertices, P.
    pub fn vertex_count(&self) -> usize {
        self.loads.len()
    }

    /// The P temperatures that last.
    ///
    /// # Errors
    ///
    /// [`SimError::Undetermined`] if a part of the body has no vertex held and no convection, or a vertex no tetrahedron.
    pub fn steady(&self) -> Result<Vec<f64>, SimError> {
        let factor = self.factor(|entry| entry.conductance)?;
        let mut temperatures: Vec<f64> = self
            .fixed
            .iter()
            .map(|fixed| fixed.unwrap_or(0.0))
            .collect();
        let mut residual = self.loads.clone();
        self.subtract_product(|entry| entry.conductance, &temperatures, &mut residual);
        self.solve_free(&factor, &residual, &mut temperatures);
        Ok(temperatures)
    }

    /// The heat that the body holds above temperature 0, J.
    ///
    /// # Panics
    ///
    /// If `temperatures` are not P.
    pub fn energy(&self, temperatures: &[f64]) -> f64 {
        assert_eq!(
            temperatures.len(),
            self.vertex_count(),
            "one temperature a vertex"
        );
        let share = |entry: &Entry| {
            let (a, b) = (
                temperatures[entry.row as usize],
                temperatures[entry.column as usize],
            );
            entry.capacity * if entry.row == entry.column { a } else { a + b }
        };
        self.entries.iter().map(share).sum()
    }

    fn add_tet(&mut self, spec: &HeatSpec, index: usize) -> Result<(), SimError> {
        let tet = spec.mesh.tets[index];
        let [a, b, c, d] = tet.map(|v| spec.mesh.positions[v as usize].cast::<f64>());
        let volume = (b - a).dot(&(c - a).cross(&(d - a))) / 6.0;
        if volume <= 0.0 || !volume.is_normal() {
            return Err(SimError::Inverted {
                what: "tetrahedron",
                index,
            });
        }
        // Six volumes times the gradient of each corner's function: the inward area of the opposite face, doubled.
        let mut slopes = [
            Vector3::zeros(),
            (c - a).cross(&(d - a)),
            (d - a).cross(&(b - a)),
            (b - a).cross(&(c - a)),
        ];
        slopes[0] = -(slopes[1] + slopes[2] + slopes[3]);
        let Substance {
            conductivity,
            heat_capacity,
            density,
        } = spec.substance;
        let held = density * heat_capacity * volume;
        for i in 0..4 {
            for j in 0..=i {
                let capacity = match (spec.capacity, i == j) {
                    (Capacity::Lumped, true) => held / 4.0,
                    (Capacity::Lumped, false) => 0.0,
                    (Capacity::Consistent, true) => held / 10.0,
                    (Capacity::Consistent, false) => held / 20.0,
                };
                let conductance = conductivity * slopes[i].dot(&slopes[j]) / (36.0 * volume);
                self.add(tet[i], tet[j], capacity, conductance);
            }
        }
        Ok(())
    }

    fn add_face(&mut self, spec: &HeatSpec, exchange: &Exchange, triangle: [u32; 3]) {
        let [a, b, c] = triangle.map(|v| spec.mesh.positions[v as usize].cast::<f64>());
        let area = 0.5 * (b - a).cross(&(c - a)).norm();
        let inflow = (exchange.flux + exchange.coefficient * exchange.ambient) * area / 3.0;
        for (i, &row) in triangle.iter().enumerate() {
            self.loads[row as usize] += inflow;
            for (j, &column) in triangle[..=i].iter().enumerate() {
                let share = if i == j { 6.0 } else { 12.0 };
                self.add(row, column, 0.0, exchange.coefficient * area / share);
            }
        }
    }

    fn add(&mut self, a: u32, b: u32, capacity: f64, conductance: f64) {
        self.entries.push(Entry {
            row: a.max(b),
            column: a.min(b),
            capacity,
            conductance,
        });
    }

    /// Factors the matrix of `value` over the free vertices.
    fn factor(&self, value: impl Fn(&Entry) -> f64) -> Result<Cholesky, SimError> {
        let lower: Vec<(u32, u32, f64)> = self
            .entries
            .iter()
            .filter_map(|entry| {
                let row = self.unknowns[entry.row as usize]?;
                Some((row, self.unknowns[entry.column as usize]?, value(entry)))
            })
            .collect();
        Cholesky::new(self.unknown_count, &lower).map_err(|_| SimError::Undetermined)
    }

    /// out −= A x.
    fn subtract_product(&self, value: impl Fn(&Entry) -> f64, x: &[f64], out: &mut [f64]) {
        for entry in &self.entries {
            let (row, column) = (entry.row as usize, entry.column as usize);
            let value = value(entry);
            out[row] -= value * x[column];
            if row != column {
                out[column] -= value * x[row];
            }
        }
    }

    /// Adds to the free temperatures what the factored matrix answers to the residual.
    fn solve_free(&self, factor: &Cholesky, residual: &[f64], temperatures: &mut [f64]) {
        let free = residual
            .iter()
            .zip(&self.unknowns)
            .filter(|(_, unknown)| unknown.is_some());
        let mut solution: Vec<f64> = free.map(|(residual, _)| *residual).collect();
        factor.solve_in_place(&mut solution);
        for (temperature, unknown) in temperatures.iter_mut().zip(&self.unknowns) {
            if let Some(unknown) = unknown {
                *temperature += solution[*unknown as usize];
            }
        }
    }
}

/// How a step in time is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// First order; never oscillates.
    #[default]
    ImplicitEuler,
    /// Second order; sudden changes ring where steps are long.
    CrankNicolson,
}

/// Moves the temperatures of one model on by steps of one length.
#[derive(Debug)]
pub struct HeatSolver<'a> {
    model: &'a HeatModel,
    dt: f64,
    factor: Cholesky,
    residual: Vec<f64>,
}

impl<'a> HeatSolver<'a> {
    /// Factors C/dt + θK once, θ = 1 for implicit Euler and ½ for Crank-Nicolson.
    ///
    /// # Errors
    ///
    /// [`SimError::OutOfRange`] unless `dt`, s, is positive and finite; [`SimError::Undetermined`] for a vertex of no
    /// tetrahedron.
    pub fn new(model: &'a HeatModel, dt: f64, scheme: Scheme) -> Result<Self, SimError> {
        positive("dt", 0, dt)?;
        let theta = match scheme {
            Scheme::ImplicitEuler => 1.0,
            Scheme::CrankNicolson => 0.5,
        };
        Ok(Self {
            model,
            dt,
            factor: model.factor(|entry| entry.capacity / dt + theta * entry.conductance)?,
            residual: Vec::new(),
        })
    }

    /// The length of a step, s.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Moves the P temperatures on by one step; held ones are set to what they are held at.
    ///
    /// (C/dt + θK) ΔT = q − K T.
    ///
    /// # Panics
    ///
    /// If `temperatures` are not P.
    pub fn step(&mut self, temperatures: &mut [f64]) {
        let model = self.model;
        assert_eq!(
            temperatures.len(),
            model.vertex_count(),
            "one temperature a vertex"
        );
        for (temperature, fixed) in temperatures.iter_mut().zip(&model.fixed) {
            *temperature = fixed.unwrap_or(*temperature);
        }
        self.residual.clone_from(&model.loads);
        model.subtract_product(|entry| entry.conductance, temperatures, &mut self.residual);
        model.solve_free(&self.factor, &self.residual, temperatures);
    }
}

fn positive(what: &'static str, index: usize, value: f64) -> Result<(), SimError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(SimError::OutOfRange {
        what,
        index,
        value: value as f32,
    })
}

fn check(spec: &HeatSpec) -> Result<(), SimError> {
    let vertex_count = spec.mesh.positions.len();
    if spec.mesh.tets.is_empty() {
        return Err(SimError::Empty);
    }
    positive("conductivity", 0, spec.substance.conductivity)?;
    positive("heat capacity", 0, spec.substance.heat_capacity)?;
    positive("density", 0, spec.substance.density)?;
    if let Some(vertex) = spec
        .mesh
        .positions
        .iter()
        .position(|p| !p.iter().all(|c| c.is_finite()))
    {
        return Err(SimError::NotFinite { vertex });
    }
    let exists = |what, index, vertices: &[u32]| {
        let missing = vertices.iter().find(|v| **v as usize >= vertex_count);
        missing.map_or(Ok(()), |&vertex| {
            Err(SimError::VertexOutOfRange {
                what,
                index,
                vertex,
                vertex_count,
            })
        })
    };
    for (index, tet) in spec.mesh.tets.iter().enumerate() {
        exists("tetrahedron", index, tet)?;
    }
    for (index, (vertex, temperature)) in spec.fixed.iter().enumerate() {
        exists("held temperature", index, &[*vertex])?;
        finite("held temperature", index, *temperature)?;
    }
    for (index, exchange) in spec.exchanges.iter().enumerate() {
        for triangle in &exchange.triangles {
            exists("exchange", index, triangle)?;
        }
        finite("flux", index, exchange.flux)?;
        finite("ambient temperature", index, exchange.ambient)?;
        if exchange.coefficient != 0.0 {
            positive("exchange coefficient", index, exchange.coefficient)?;
        }
    }
    Ok(())
}

fn finite(what: &'static str, index: usize, value: f64) -> Result<(), SimError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(SimError::OutOfRange {
        what,
        index,
        value: value as f32,
    })
}
