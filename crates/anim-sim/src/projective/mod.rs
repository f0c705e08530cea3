//! Quasi-Newton steps with a matrix that is factored once: the quality mode of cloth.
//!
//! Projective dynamics minimises implicit Euler's potential with the constant matrix A = M/h² + Σ w SᵀS in place of the
//! Hessian: a factorisation when the pins change, then a cheap pair of triangular solves an iteration, for all three
//! coordinates at once. A few pairs of the last moves and changes of the gradient (L-BFGS) bend A towards the Hessian: A
//! alone resists the swing of a stiff sheet as if it were stretch, so that it falls as through syrup. A line search on the
//! potential keeps every iteration going down. Any element with an energy takes part. Use it where a hanging sheet must not
//! look like rubber and a frame may cost tens of milliseconds.
//!
//! | element | honoured |
//! |---|---|
//! | links | as springs; rigid ones are of 10⁸ N/m |
//! | hinges, flexes, areas | yes; rigid ones as of a compliance of 10⁻⁸ |
//! | membranes | yes, without their strain limits |
//! | tets | every law as stable Neo-Hookean, without viscosity and yield |
//! | tethers | after the solve of each substep |
//! | fibers, volumes, clusters, self-contact | no |
//! | pins, loads, gravity, damping, drag | yes |
//! | colliders | after the solve of each substep, swept and with friction, as by [`Xpbd`](crate::Xpbd) |
//!
//! Source: Bouaziz, Martin, Liu, Kavan, Pauly, "Projective dynamics", SIGGRAPH 2014, for A; Liu, Bouaziz, Kavan,
//! "Quasi-Newton methods for real-time simulation of hyperelastic materials", TOG 2017, algorithm 1.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::cloth::{self, ClothSpec};
//! use anim_sim::{Drive, Projective, ProjectiveOptions, Solver, State};
//!
//! let square = ClothSpec {
//!     positions: vec![Vec3::zeros(), Vec3::x(), Vec3::z(), Vec3::x() + Vec3::z()],
//!     triangles: vec![[0, 2, 1], [1, 2, 3]],
//!     pinned: vec![0, 1],
//!     ..ClothSpec::default()
//! };
//! let model = cloth::build(&square)?;
//! let mut state = State::new(&model);
//! let mut solver = Projective::new(&model, ProjectiveOptions::default());
//! for _ in 0..30 {
//!     solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
//! }
//! assert!(state.positions[3].y < -0.5, "the free edge fell");
//! let length = (state.positions[3] - state.positions[1]).norm();
//! assert!((length - 1.0).abs() < 1e-3, "and did not stretch");
//! # Ok::<(), anim_sim::SimError>(())
//! ```

mod history;
mod system;

use crate::drive::{Drive, Outcome, Solver};
use crate::element::Tether;
use crate::energy::Elements;
use crate::energy::spring::shortest_tethers;
use crate::inertia::{Inertia, Vec3d};
use crate::model::{Model, State};
use history::{History, dot};
use system::{Factor, potential};

/// How hard [`Projective`] tries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectiveOptions {
    /// Substeps a step, at least 1.
    pub substeps: u32,
    /// Most iterations a substep, at least 1.
    pub iterations: u32,
    /// It stops when no particle would move further than this, m.
    pub tolerance: f32,
    /// How many of the last moves shape the next; 0 is plain projective dynamics, which stretches no more but lags behind
    /// the more the stiffer the cloth is.
    pub history: u32,
}

impl Default for ProjectiveOptions {
    /// For cloth of 100 vertices across, at 36 ms a frame: the mean stretch is within 0.01 % of the exact step's.
    fn default() -> Self {
        Self {
            substeps: 1,
            iterations: 20,
            tolerance: 1e-6,
            history: 4,
        }
    }
}

/// The part of the slope that a step must go down by.
const DESCENT: f64 = 1e-4;

/// Halvings of a step that leads up.
const MAX_HALVINGS: u32 = 12;

/// The solver; owns the factor and the scratch of one body.
///
/// It remembers how that body accelerated, to begin each search nearer to its end. Factors again when other particles are
/// pinned or the step changes, and allocates only then and in the first solve after. One thread; an iteration costs about 1.8 ms at
/// 10,000 particles and 30,000 links.
#[derive(Debug)]
pub struct Projective {
    options: ProjectiveOptions,
    elements: Elements,
    tethers: Vec<Tether>,
    inertia: Inertia,
    factor: Option<Factor>,
    history: History,
    /// P each: of the potential at the positions, and at those that are tried, N.
    gradient: Vec<Vec3d>,
    next_gradient: Vec<Vec3d>,
    /// P, where the particles were before the iteration.
    before: Vec<Vec3d>,
    /// P, which way they go.
    direction: Vec<Vec3d>,
}

impl Projective {
    /// Scratch for one body; the first step factors.
    pub fn new(model: &Model, options: ProjectiveOptions) -> Self {
        let count = model.vertex_count();
        let zeros = vec![Vec3d::zeros(); count];
        let options = ProjectiveOptions {
            substeps: options.substeps.max(1),
            iterations: options.iterations.max(1),
            ..options
        };
        Self {
            elements: Elements::new(model.spec()),
            tethers: shortest_tethers(model.spec(), count),
            inertia: Inertia::new(model, (0..count as u32).collect(), options.substeps),
            factor: None,
            history: History::new(options.history as usize, count),
            gradient: zeros.clone(),
            next_gradient: zeros.clone(),
            before: zeros.clone(),
            direction: zeros,
            options,
        }
    }

    /// What it was made with, within its ranges.
    pub fn options(&self) -> ProjectiveOptions {
        self.options
    }
}

impl Solver for Projective {
    /// The residual is the longest move of the last iteration.
    fn step(&mut self, model: &Model, drive: &Drive<'_>, dt: f32, state: &mut State) -> Outcome {
        if !self.inertia.load(model, drive, dt, state) {
            return Outcome::default();
        }
        if !self.factor.as_ref().is_some_and(|f| f.fits(&self.inertia)) {
            self.factor = Some(Factor::new(&self.elements, &self.inertia));
            self.history.clear();
        }
        let mut outcome = Outcome::default();
        for index in 0..self.options.substeps {
            self.inertia.begin(model);
            self.inertia.guess();
            let (iterations, residual) = self.minimise();
            outcome.iterations += iterations;
            outcome.residual = residual as f32;
            self.pull_tethers();
            self.inertia.end(model, index);
        }
        self.inertia.store(model, drive, state);
        outcome
    }
}

impl Projective {
    /// Goes down the potential; the iterations it took and the longest move of the last one, m.
    fn minimise(&mut self) -> (u32, f64) {
        let mut potential = self.evaluate();
        std::mem::swap(&mut self.gradient, &mut self.next_gradient);
        let mut longest = 0.0;
        for iteration in 1..=self.options.iterations {
            let slope = self.direct();
            self.before.copy_from_slice(&self.inertia.positions);
            let mut length = 1.0;
            let mut lower = None;
            for _ in 0..=MAX_HALVINGS {
                self.go(length);
                let there = self.evaluate();
                if there <= potential + DESCENT * length * slope {
                    lower = Some(there);
                    break;
                }
                length *= 0.5;
            }
            let Some(lower) = lower else {
                // Rounding hides what is left of the slope.
                self.inertia.positions.copy_from_slice(&self.before);
                return (iteration, longest_of(&self.direction));
            };
            potential = lower;
            for direction in &mut self.direction {
                *direction *= length;
            }
            longest = longest_of(&self.direction);
            self.history
                .push(&self.direction, &self.gradient, &self.next_gradient);
            std::mem::swap(&mut self.gradient, &mut self.next_gradient);
            if longest <= f64::from(self.options.tolerance) {
                return (iteration, longest);
            }
        }
        (self.options.iterations, longest)
    }

    /// The potential at the positions; its gradient goes to `next_gradient`.
    fn evaluate(&mut self) -> f64 {
        let positions = &self.inertia.positions;
        potential(
            &self.elements,
            &self.inertia,
            positions,
            &mut self.next_gradient,
        )
    }

    /// Finds the direction; the slope of the potential along it, which is negative.
    fn direct(&mut self) -> f64 {
        loop {
            for (direction, gradient) in self.direction.iter_mut().zip(&self.gradient) {
                *direction = -gradient;
            }
            let (factor, inertia) = (&mut self.factor, &self.inertia);
            self.history.direct(&mut self.direction, |vector| {
                if let Some(factor) = factor {
                    factor.solve(inertia, vector);
                }
            });
            let slope = dot(&self.gradient, &self.direction);
            if slope < 0.0 || self.history.is_empty() {
                return slope;
            }
            self.history.clear();
        }
    }

    fn go(&mut self, length: f64) {
        let from = self.before.iter().zip(&self.direction);
        for (position, (before, direction)) in self.inertia.positions.iter_mut().zip(from) {
            *position = before + direction * length;
        }
    }

    /// Moves particles back that are too far from their anchors.
    fn pull_tethers(&mut self) {
        for tether in &self.tethers {
            let anchor = self.inertia.positions[tether.anchor as usize];
            let position = &mut self.inertia.positions[tether.vertex as usize];
            let offset = *position - anchor;
            let (length, most) = (offset.norm(), f64::from(tether.max_length));
            if length > most {
                *position = anchor + offset * (most / length);
            }
        }
    }
}

/// The greatest length; 0 of none.
fn longest_of(vectors: &[Vec3d]) -> f64 {
    let squares = vectors.iter().map(Vec3d::norm_squared);
    squares.fold(0.0, f64::max).sqrt()
}
