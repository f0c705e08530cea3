//! Positions of least energy: Newton's method with a line search.
//!
//! The energy is Σ ½ wᵢ|xᵢ − tᵢ|² − fᵢ·(xᵢ − tᵢ) of the particles plus that of the elements. With w = m/h² and t where
//! inertia would take a particle, its minimum is one step of implicit Euler; with w = 0 it is an equilibrium. Each step of
//! Newton's method solves with a Hessian without negative eigenvalues and is shortened until the energy falls, so that
//! the energy never rises and no step is too large. Where steps must be much shortened, the Hessian is stiffened, as
//! Levenberg and Marquardt do.
//!
//! Source: Martin, Thomaszewski, Grinspun, Gross, "Example-based elastic materials", SIGGRAPH 2011, section 5, for the
//! incremental potential; Teran, Sifakis, Irving, Fedkiw, "Robust quasistatic finite elements", SCA 2005, for the projection.

use super::contact::Contact;
use super::matrix::{BlockMatrix, ConjugateGradients, dot};
use super::solid::Solid;
use super::term::Terms;
use crate::energy::area::AreaSpring;
use crate::energy::flex::QuadraticBend;
use crate::energy::hinge::DihedralSpring;
use crate::energy::membrane::WovenTriangle;
use crate::energy::spring::{Spring, shortest_tethers};
use crate::energy::{Elements, Energy};
use crate::fem::{Fiber, Vec3d};
use crate::{Model, Outcome};

/// Share of the decrease that the gradient promises that a step must bring.
const ARMIJO: f64 = 1e-4;
/// A step of less than a millionth of Newton's is not worth taking.
const MAX_HALVINGS: u32 = 20;
/// Shorter steps than this say that the Hessian is too flat to trust.
const MIN_LENGTH: f64 = 0.1;

/// The elements of a model and the scratch to minimise their energy.
#[derive(Debug)]
pub(crate) struct System {
    pub(super) solids: Terms<Solid, 4>,
    springs: Terms<Spring, 2>,
    flexes: Terms<QuadraticBend, 4>,
    hinges: Terms<DihedralSpring, 4>,
    areas: Terms<AreaSpring, 3>,
    membranes: Terms<WovenTriangle, 3>,
    /// P: stays where it is put.
    pub(crate) fixed: Vec<bool>,
    /// P, w, N/m.
    pub(crate) weights: Vec<f64>,
    /// P, t, m.
    pub(crate) targets: Vec<Vec3d>,
    /// P, f, N.
    pub(crate) forces: Vec<Vec3d>,
    /// P: surfaces that particles are on.
    pub(super) contacts: Vec<Contact>,
    /// Added to the diagonal of the Hessian where the energy is nearly flat and steps are too long, N/m.
    shift: f64,
    matrix: BlockMatrix,
    gradient: Vec<Vec3d>,
    step: Vec<Vec3d>,
    trial: Vec<Vec3d>,
    iterative: ConjugateGradients,
    #[cfg(feature = "solve")]
    direct: Option<super::direct::Direct>,
}

impl System {
    /// * `direct_limit`: the most unknowns that are solved for by factoring, where the feature `solve` is on.
    pub(crate) fn new(model: &Model, direct_limit: u32) -> Self {
        let spec = model.spec();
        let count = model.vertex_count();
        let rest = |v: u32| spec.positions[v as usize].cast::<f64>();
        let mut solids: Vec<(Solid, [u32; 4])> = spec
            .tets
            .iter()
            .map(|tet| {
                let material = &spec.materials[tet.material as usize];
                (Solid::new(&tet.vertices.map(rest), material), tet.vertices)
            })
            .collect();
        for fiber in &spec.fibers {
            let muscle = Fiber {
                direction: fiber.direction.cast().normalize(),
                max_stress: f64::from(fiber.max_stress),
            };
            solids[fiber.tet as usize].0.fiber = Some((muscle, fiber.muscle));
        }
        let elements = Elements::new(spec);
        let tethers = shortest_tethers(spec, count);
        let springs = elements.springs.into_iter();
        let springs = springs.chain(tethers.iter().map(Spring::of_tether));
        let mut out = Self {
            solids: Terms::new(solids),
            springs: terms(springs),
            flexes: terms(elements.flexes.into_iter()),
            hinges: terms(elements.hinges.into_iter()),
            areas: terms(elements.areas.into_iter()),
            membranes: terms(elements.membranes.into_iter()),
            fixed: vec![false; count],
            weights: vec![0.0; count],
            targets: vec![Vec3d::zeros(); count],
            forces: vec![Vec3d::zeros(); count],
            contacts: vec![Contact::NONE; count],
            shift: 0.0,
            matrix: BlockMatrix::new(0, std::iter::empty()),
            gradient: vec![Vec3d::zeros(); count],
            step: vec![Vec3d::zeros(); count],
            trial: vec![Vec3d::zeros(); count],
            iterative: ConjugateGradients::new(count),
            #[cfg(feature = "solve")]
            direct: None,
        };
        out.matrix = BlockMatrix::new(
            count,
            out.solids
                .pairs()
                .chain(out.springs.pairs())
                .chain(out.flexes.pairs())
                .chain(out.hinges.pairs())
                .chain(out.areas.pairs())
                .chain(out.membranes.pairs()),
        );
        out.solids.locate(&out.matrix);
        out.springs.locate(&out.matrix);
        out.flexes.locate(&out.matrix);
        out.hinges.locate(&out.matrix);
        out.areas.locate(&out.matrix);
        out.membranes.locate(&out.matrix);
        out.set_direct_limit(direct_limit);
        out
    }

    #[cfg(feature = "solve")]
    fn set_direct_limit(&mut self, limit: u32) {
        let is_small = self.fixed.len() * 3 <= limit as usize;
        self.direct = is_small.then(|| super::direct::Direct::new(&self.matrix));
    }

    #[cfg(not(feature = "solve"))]
    #[allow(clippy::unused_self, reason = "there is nothing to factor with")]
    fn set_direct_limit(&mut self, _limit: u32) {}

    /// How much each muscle is at work; those missing are at rest.
    pub(crate) fn activate(&mut self, activations: &[f32]) {
        for solid in &mut self.solids.terms {
            if let Some((_, muscle)) = solid.fiber {
                let activation = activations.get(muscle as usize).copied().unwrap_or(0.0);
                solid.activation = if activation.is_nan() {
                    0.0
                } else {
                    f64::from(activation.clamp(0.0, 1.0))
                };
            }
        }
    }

    /// Energy at these positions, J.
    pub(crate) fn energy(&self, positions: &[Vec3d]) -> f64 {
        let mut particles = 0.0;
        for (place, x) in positions.iter().enumerate() {
            if !self.fixed[place] {
                let offset = x - self.targets[place];
                particles += 0.5 * self.weights[place] * offset.norm_squared()
                    - self.forces[place].dot(&offset)
                    + self.contacts[place].energy(x);
            }
        }
        particles
            + self.solids.energy(positions)
            + self.springs.energy(positions)
            + self.flexes.energy(positions)
            + self.hinges.energy(positions)
            + self.areas.energy(positions)
            + self.membranes.energy(positions)
    }

    /// Moves the positions that are not fixed to the nearest minimum of the energy.
    ///
    /// * `starts`: P, where they were, from which fixed ones may have moved. * `positions`: P, a guess, with fixed ones
    ///   where they must be. * `tolerance`: of the last step, m. * `most`: steps.
    ///
    /// `residual` is the largest move, m, that Newton's method would still have made.
    pub(crate) fn minimize(
        &mut self,
        starts: &[Vec3d],
        positions: &mut [Vec3d],
        tolerance: f64,
        most: u32,
    ) -> Outcome {
        let mut energy = self.choose_start(starts, positions);
        let mut first_size = 0.0;
        self.shift = 0.0;
        let mut outcome = Outcome::default();
        while outcome.iterations < most {
            outcome.iterations += 1;
            self.linearize(positions, self.is_direct());
            let size = dot(&self.gradient, &self.gradient).sqrt();
            if outcome.iterations == 1 {
                first_size = size;
            }
            if size == 0.0 {
                outcome.residual = 0.0;
                break;
            }
            // Solved loosely while far away, closely in the end, so that convergence stays superlinear.
            let tolerance_inside = (size / first_size).sqrt().clamp(1e-4, 1e-2);
            self.solve(positions, tolerance_inside);
            let largest = self
                .step
                .iter()
                .map(Vec3d::norm_squared)
                .fold(0.0, f64::max);
            outcome.residual = largest.sqrt() as f32;
            if !largest.is_finite() {
                outcome.residual = f32::INFINITY;
                break;
            }
            let is_last = largest.sqrt() <= tolerance && self.shift == 0.0;
            let length = self.search(positions, &mut energy);
            if is_last {
                break;
            }
            let stiffness = self.mean_stiffness();
            if length < MIN_LENGTH {
                if self.shift > stiffness {
                    break;
                }
                self.shift = (self.shift * 10.0).max(1e-4 * stiffness);
            } else if largest.sqrt() <= tolerance || self.shift < 1e-6 * stiffness {
                self.shift = 0.0;
            } else {
                self.shift *= 0.1;
            }
        }
        self.shift = 0.0;
        outcome
    }

    /// Takes the best of three guesses: the one given, where everything was, and, if fixed particles move, where the
    /// others would follow to first order. Returns its energy.
    fn choose_start(&mut self, starts: &[Vec3d], positions: &mut [Vec3d]) -> f64 {
        let mut best = finite_or_infinite(self.energy(positions));
        let mut moves = false;
        for (place, trial) in self.trial.iter_mut().enumerate() {
            let is_fixed = self.fixed[place];
            *trial = if is_fixed {
                positions[place]
            } else {
                starts[place]
            };
            moves |= is_fixed && positions[place] != starts[place];
        }
        let energy = self.energy(&self.trial);
        if energy < best {
            best = energy;
            positions.copy_from_slice(&self.trial);
        }
        if moves {
            self.linearize(starts, false);
            // What the fixed ones' moves pull on the others.
            for (place, trial) in self.trial.iter_mut().enumerate() {
                *trial = if self.fixed[place] {
                    positions[place] - starts[place]
                } else {
                    Vec3d::zeros()
                };
            }
            self.matrix.multiply(&self.trial, &mut self.step);
            for (place, gradient) in self.gradient.iter_mut().enumerate() {
                if !self.fixed[place] {
                    *gradient += self.step[place];
                }
            }
            self.solve(starts, 1e-3);
            for (place, trial) in self.trial.iter_mut().enumerate() {
                *trial = if self.fixed[place] {
                    positions[place]
                } else {
                    starts[place] + self.step[place]
                };
            }
            let energy = self.energy(&self.trial);
            if energy < best {
                best = energy;
                positions.copy_from_slice(&self.trial);
            }
        }
        best
    }

    /// Finds gradient and Hessian; fixed particles have no gradient.
    fn linearize(&mut self, positions: &[Vec3d], exact: bool) {
        self.matrix.clear();
        for (place, gradient) in self.gradient.iter_mut().enumerate() {
            let weight = self.weights[place];
            *gradient = (positions[place] - self.targets[place]) * weight - self.forces[place];
            self.matrix
                .diagonal_mut(place)
                .fill_diagonal(weight + self.shift);
            let contact = &self.contacts[place];
            if contact.stiffness > 0.0 {
                let (force, stiffness) = contact.derivatives(&positions[place]);
                *gradient += force;
                *self.matrix.diagonal_mut(place) += stiffness;
            }
        }
        let (gradient, matrix) = (&mut self.gradient, &mut self.matrix);
        self.solids
            .add_derivatives(positions, exact, gradient, matrix);
        self.springs
            .add_derivatives(positions, exact, gradient, matrix);
        self.flexes
            .add_derivatives(positions, exact, gradient, matrix);
        self.hinges
            .add_derivatives(positions, exact, gradient, matrix);
        self.areas
            .add_derivatives(positions, exact, gradient, matrix);
        self.membranes
            .add_derivatives(positions, exact, gradient, matrix);
        for (gradient, is_fixed) in gradient.iter_mut().zip(&self.fixed) {
            if *is_fixed {
                *gradient = Vec3d::zeros();
            }
        }
    }

    /// True if equations are solved by factoring, which says whether a Hessian is positive: so the exact one may be tried.
    fn is_direct(&self) -> bool {
        #[cfg(feature = "solve")]
        return self.direct.is_some();
        #[cfg(not(feature = "solve"))]
        false
    }

    /// Newton's step, down the energy as linearised at `positions`; turns the gradient round.
    fn solve(&mut self, positions: &[Vec3d], tolerance: f64) {
        self.reverse();
        #[cfg(feature = "solve")]
        for _ in 0..2 {
            let Some(direct) = &mut self.direct else {
                break;
            };
            let (fixed, step) = (&self.fixed, &mut self.step);
            if direct.solve(&self.matrix, fixed, &self.gradient, step) {
                return;
            }
            // Not positive: once more with the projected one.
            self.linearize(positions, false);
            self.reverse();
        }
        #[cfg(not(feature = "solve"))]
        let _ = positions;
        let (matrix, fixed) = (&self.matrix, &self.fixed);
        self.iterative
            .solve(matrix, fixed, &self.gradient, tolerance, &mut self.step);
    }

    fn reverse(&mut self) {
        for gradient in &mut self.gradient {
            *gradient = -*gradient;
        }
    }

    /// Of one particle, N/m, with its inertia.
    pub(super) fn stiffness(&self, place: usize) -> f64 {
        self.matrix.diagonal(place).trace() / 3.0
    }

    /// Of the particles, N/m.
    fn mean_stiffness(&self) -> f64 {
        let count = self.fixed.len();
        let traces = (0..count).map(|place| self.matrix.diagonal(place).trace());
        traces.sum::<f64>() / (3 * count) as f64
    }

    /// Goes along the step as far as the energy falls; returns the share of it, 0 if it does not fall at all.
    fn search(&mut self, positions: &mut [Vec3d], energy: &mut f64) -> f64 {
        // The gradient was turned round to solve with.
        let promised = dot(&self.gradient, &self.step);
        // Near the minimum the energy changes by less than its rounding.
        let rounding = 1e-13 * energy.abs() + f64::MIN_POSITIVE;
        let mut length = 1.0;
        for _ in 0..MAX_HALVINGS {
            for (place, trial) in self.trial.iter_mut().enumerate() {
                *trial = positions[place] + self.step[place] * length;
            }
            let lower = self.energy(&self.trial);
            if lower <= *energy - ARMIJO * length * promised + rounding {
                positions.copy_from_slice(&self.trial);
                *energy = lower.min(*energy);
                return length;
            }
            length *= 0.5;
        }
        0.0
    }
}

/// Terms of elements that know their corners.
fn terms<T, const N: usize>(elements: impl Iterator<Item = T>) -> Terms<T, N>
where
    T: Energy<N> + super::term::Term<N>,
{
    Terms::new(
        elements
            .map(|e| (*e.corners(), e))
            .map(|(c, e)| (e, c))
            .collect(),
    )
}

fn finite_or_infinite(energy: f64) -> f64 {
    if energy.is_finite() {
        energy
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{Law, Material};
    use crate::fem::Mat3d;
    use crate::soft::{self, SoftSpec};
    use anim_geom::tet::{Split, lattice};
    use anim_math::Vec3;

    /// The patch test: with its surface moved by an affine map, the inside follows it exactly.
    #[test]
    fn an_affine_map_of_the_surface_is_one_of_the_whole() {
        let mut mesh = lattice([3, 3, 3], Vec3::repeat(1.0), Split::Six);
        let is_inner = |x: &Vec3| x.iter().all(|c| *c > 0.1 && *c < 0.9);
        for (index, x) in mesh.positions.iter_mut().enumerate() {
            if is_inner(x) {
                *x += Vec3::new(0.05, -0.04, 0.03) * (index % 3) as f32;
            }
        }
        let map = Mat3d::new(1.1, 0.2, 0.0, -0.1, 0.9, 0.1, 0.05, 0.0, 1.05);
        let rest: Vec<Vec3d> = mesh.positions.iter().map(|x| x.cast()).collect();
        for law in [
            Law::Linear,
            Law::Corotational,
            Law::StableNeoHookean,
            Law::StVenantKirchhoff,
        ] {
            let material = Material {
                law,
                young: 1e3,
                poisson: 0.3,
                ..Material::default()
            };
            let spec = SoftSpec {
                mesh: mesh.clone(),
                material,
                ..SoftSpec::default()
            };
            let mut system = System::new(&soft::build(&spec).unwrap(), 0);
            let mut positions = rest.clone();
            for (place, x) in positions.iter_mut().enumerate() {
                system.fixed[place] = !is_inner(&mesh.positions[place]);
                if system.fixed[place] {
                    *x = map * *x;
                }
            }
            let outcome = system.minimize(&rest, &mut positions, 1e-10, 50);
            assert!(outcome.residual <= 1e-10, "{law:?} {outcome:?}");
            for (x, rest) in positions.iter().zip(&rest) {
                assert!((x - map * rest).norm() < 1e-10, "{law:?}");
            }
        }
    }
}
