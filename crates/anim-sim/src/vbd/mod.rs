//! Vertex block descent: implicit Euler minimised one particle at a time; stable at any step, whatever the stiffness.
//!
//! Each iteration moves each particle to the minimum of the quadratic model of its own energy, a 3×3 system, while the
//! others wait, colour by colour. The energy of a step goes down with every move, so a body never explodes and a solid
//! never collapses, however few the iterations; what few iterations cost is softness, since a push travels one particle
//! an iteration. Use it for solids of high stiffness ratios in few large steps; for cloth at equal cost
//! [`Xpbd`](crate::Xpbd) stretches less.
//!
//! | element | honoured |
//! |---|---|
//! | links | as springs; rigid ones are of 10⁸ N/m |
//! | tethers | as springs of 10⁸ N/m that only pull; of several on one vertex the shortest |
//! | hinges, flexes, areas | yes; rigid ones as of a compliance of 10⁻⁸ |
//! | membranes | yes, without their strain limits |
//! | tets | every law as stable Neo-Hookean; viscosity ([`Material::damping`](crate::element::Material)) yes, yield no |
//! | fibers, volumes, clusters, self-contact | no |
//! | pins, loads, gravity, damping, drag | yes |
//! | colliders | after the solve of each substep, swept and with friction, as by [`Xpbd`](crate::Xpbd) |
//!
//! Source: Chen, Liu, Yang, Yuksel, "Vertex block descent", SIGGRAPH 2024, algorithm 1; the Hessians of springs under
//! compression are projected, and viscosity is a potential of strain, so that it damps no rigid motion.
//!
//! ```
//! use anim_geom::tet::{Split, lattice};
//! use anim_math::Vec3;
//! use anim_sim::element::{Material, Tet};
//! use anim_sim::{Drive, Model, ModelSpec, Solver, State, Vbd, VbdOptions};
//!
//! let bar = lattice([4, 1, 1], Vec3::new(0.4, 0.1, 0.1), Split::Five);
//! let count = bar.positions.len();
//! let model = Model::new(ModelSpec {
//!     inverse_masses: (0..count).map(|v| if v % 5 == 0 { 0.0 } else { 5.0 }).collect(),
//!     tets: bar.tets.iter().map(|tet| Tet { vertices: *tet, material: 0 }).collect(),
//!     materials: vec![Material { young: 1e5, ..Material::default() }],
//!     positions: bar.positions,
//!     ..ModelSpec::default()
//! })?;
//! let mut state = State::new(&model);
//! let mut solver = Vbd::new(&model, VbdOptions::default());
//! for _ in 0..10 {
//!     solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
//! }
//! assert!(state.positions[4].y < -0.001, "the free end sags");
//! # Ok::<(), anim_sim::SimError>(())
//! ```

mod plan;

use anim_geom::chunks;

use crate::drive::{Drive, Outcome, Solver};
use crate::energy::{Energy, Local};
use crate::fem::Mat3d;
use crate::inertia::{Inertia, Vec3d};
use crate::model::{Model, State};
use plan::{Incidence, Plan};

/// How hard [`Vbd`] tries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VbdOptions {
    /// Substeps a step, at least 1. They improve accuracy more than iterations do, at the same cost.
    pub substeps: u32,
    /// Sweeps over all particles a substep, at least 1.
    pub iterations: u32,
    /// Estimate of how much of the error an iteration leaves, in [0, 1), for Chebyshev's acceleration: 0.95 suits ten
    /// iterations or more; 0 is none, which alone is sure to go down.
    pub spectral_radius: f32,
}

impl Default for VbdOptions {
    /// For soft solids: 5 substeps of 4 iterations.
    fn default() -> Self {
        Self {
            substeps: 5,
            iterations: 4,
            spectral_radius: 0.0,
        }
    }
}

/// The solver; owns the scratch of one body.
///
/// It remembers how that body accelerated, to begin each search nearer to its end. After the first step, stepping
/// allocates nothing, unless there are more colliders than ever before. An iteration costs about 15 ns for each
/// end of a link and 30 ns for each corner of a tetrahedron.
#[derive(Clone, Debug)]
pub struct Vbd {
    options: VbdOptions,
    plan: Plan,
    inertia: Inertia,
    /// P, where the particles of a colour go.
    moved: Vec<Vec3d>,
    /// P each, where they were one and two iterations ago; empty without acceleration.
    history: [Vec<Vec3d>; 2],
    /// Of each tetrahedron at the beginning of the substep; empty without viscosity.
    strains: Vec<Mat3d>,
}

impl Vbd {
    /// Scratch for one body. Costs about a microsecond an element.
    pub fn new(model: &Model, options: VbdOptions) -> Self {
        let plan = Plan::new(model);
        let count = model.vertex_count();
        let spectral_radius = if (0.0..1.0).contains(&options.spectral_radius) {
            options.spectral_radius
        } else {
            0.0
        };
        let options = VbdOptions {
            substeps: options.substeps.max(1),
            iterations: options.iterations.max(1),
            spectral_radius,
        };
        let remembered = if spectral_radius > 0.0 { count } else { 0 };
        let tets = &plan.tets.elements;
        let has_viscosity = tets.iter().any(|tet| tet.damping > 0.0);
        Self {
            inertia: Inertia::new(model, plan.vertex_of_place.clone(), options.substeps),
            moved: vec![Vec3d::zeros(); count],
            history: [(); 2].map(|()| vec![Vec3d::zeros(); remembered]),
            strains: vec![Mat3d::zeros(); if has_viscosity { tets.len() } else { 0 }],
            options,
            plan,
        }
    }

    /// What it was made with, within its ranges.
    pub fn options(&self) -> VbdOptions {
        self.options
    }
}

impl Solver for Vbd {
    /// The residual is the longest move of the last iteration.
    fn step(&mut self, model: &Model, drive: &Drive<'_>, dt: f32, state: &mut State) -> Outcome {
        if !self.inertia.load(model, drive, dt, state) {
            return Outcome::default();
        }
        let mut residual = 0.0;
        for index in 0..self.options.substeps {
            self.inertia.begin(model);
            self.inertia.guess();
            self.measure_strains();
            for iteration in 0..self.options.iterations {
                residual = self.iterate(iteration);
            }
            self.inertia.end(model, index);
        }
        self.inertia.store(model, drive, state);
        Outcome {
            residual: residual as f32,
            iterations: self.options.substeps * self.options.iterations,
            ..Outcome::default()
        }
    }
}

impl Vbd {
    fn measure_strains(&mut self) {
        let (tets, starts) = (&self.plan.tets.elements, &self.inertia.starts);
        chunks::for_each_mut(&mut self.strains, |first, strains| {
            for (strain, tet) in strains.iter_mut().zip(&tets[first..]) {
                *strain = tet.strain(&tet.corners().map(|place| starts[place as usize]));
            }
        });
    }

    /// One sweep over all particles; the longest move, m.
    fn iterate(&mut self, iteration: u32) -> f64 {
        let mut longest = 0.0f64;
        let [old, older] = &mut self.history;
        if !old.is_empty() {
            std::mem::swap(old, older);
            old.copy_from_slice(&self.inertia.positions);
        }
        for color in &self.plan.colors {
            let moved = &mut self.moved[..color.len()];
            let descent = Descent {
                plan: &self.plan,
                inertia: &self.inertia,
                strains: &self.strains,
                inverse_h2: 1.0 / (self.inertia.h * self.inertia.h),
            };
            chunks::for_each_mut(moved, |first, moved| {
                for (place, moved) in (color.start + first..).zip(moved) {
                    *moved = descent.minimum(place);
                }
            });
            for (position, moved) in self.inertia.positions[color.clone()].iter_mut().zip(moved) {
                longest = longest.max((*moved - *position).norm_squared());
                *position = *moved;
            }
        }
        let [_, older] = &self.history;
        if !older.is_empty() && iteration > 0 {
            let weight = chebyshev_weight(self.options.spectral_radius, iteration);
            for (position, older) in self.inertia.positions.iter_mut().zip(older) {
                *position = older + (*position - older) * weight;
            }
        }
        longest.sqrt()
    }
}

/// ω of iteration n, counted from 0: 1, 2 / (2 − ρ²), then 4 / (4 − ρ² ω) of the one before (section 3.8).
fn chebyshev_weight(radius: f32, iteration: u32) -> f64 {
    let squared = f64::from(radius) * f64::from(radius);
    let first = 2.0 / (2.0 - squared);
    (1..iteration).fold(first, |weight, _| 4.0 / (4.0 - squared * weight))
}

/// What one move needs to know.
struct Descent<'a> {
    plan: &'a Plan,
    inertia: &'a Inertia,
    strains: &'a [Mat3d],
    inverse_h2: f64,
}

impl Descent<'_> {
    /// Where the particle minimises the quadratic model of its energy while the others rest.
    #[inline]
    fn minimum(&self, place: usize) -> Vec3d {
        let inertia = self.inertia;
        let (x, mass) = (inertia.positions[place], inertia.masses[place]);
        if mass.is_infinite() {
            return x;
        }
        let mut local = Local::new(mass * self.inverse_h2, x - inertia.targets[place]);
        let plan = self.plan;
        self.add(&plan.springs, place, &mut local);
        self.add(&plan.flexes, place, &mut local);
        self.add(&plan.hinges, place, &mut local);
        self.add(&plan.areas, place, &mut local);
        self.add(&plan.membranes, place, &mut local);
        if self.strains.is_empty() {
            self.add(&plan.tets, place, &mut local);
        } else {
            plan.tets.at(place, |tet, corner, index| {
                let x = tet.corners().map(|place| inertia.positions[place as usize]);
                tet.add_local(&x, corner, &mut local);
                tet.add_viscous(&x, corner, &self.strains[index], inertia.h, &mut local);
            });
        }
        x + local.step()
    }

    #[inline]
    fn add<E: Energy<N>, const N: usize>(
        &self,
        incidence: &Incidence<E, N>,
        place: usize,
        local: &mut Local,
    ) {
        incidence.at(place, |element, corner, _| {
            let x = element
                .corners()
                .map(|place| self.inertia.positions[place as usize]);
            element.add_local(&x, corner, local);
        });
    }
}
