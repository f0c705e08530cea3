//! The potential of a substep, its gradient, and the constant matrix in place of its Hessian.

use anim_geom::sparse::{Cholesky, SolveScratch};

use crate::energy::{Elements, Energy};
use crate::inertia::{Inertia, Vec3d};

/// Σ m |x − y|² / 2h² + E(x).
///
/// Adds the gradient of the elements to what inertia gives; zero for held particles.
pub(super) fn potential(
    elements: &Elements,
    inertia: &Inertia,
    positions: &[Vec3d],
    gradient: &mut [Vec3d],
) -> f64 {
    let inverse_h2 = 1.0 / (inertia.h * inertia.h);
    let mut kinetic = 0.0;
    for (place, gradient) in gradient.iter_mut().enumerate() {
        let mass = inertia.masses[place];
        *gradient = Vec3d::zeros();
        if mass.is_finite() {
            let offset = positions[place] - inertia.targets[place];
            *gradient = offset * (mass * inverse_h2);
            kinetic += offset.dot(gradient);
        }
    }
    let elastic = add(&elements.springs, positions, gradient)
        + add(&elements.flexes, positions, gradient)
        + add(&elements.hinges, positions, gradient)
        + add(&elements.areas, positions, gradient)
        + add(&elements.membranes, positions, gradient)
        + add(&elements.tets, positions, gradient);
    for (gradient, mass) in gradient.iter_mut().zip(&inertia.masses) {
        if mass.is_infinite() {
            *gradient = Vec3d::zeros();
        }
    }
    0.5 * kinetic + elastic
}

fn add<E: Energy<N>, const N: usize>(
    elements: &[E],
    positions: &[Vec3d],
    gradient: &mut [Vec3d],
) -> f64 {
    let mut total = 0.0;
    for element in elements {
        let x = element.corners().map(|place| positions[place as usize]);
        let (energy, slopes) = element.gradient(&x);
        total += energy;
        for (place, slope) in element.corners().iter().zip(&slopes) {
            gradient[*place as usize] += slope;
        }
    }
    total
}

/// The factored matrix M/h² + Σ W of the particles that are free.
#[derive(Debug)]
pub(super) struct Factor {
    /// `None` only if it could not be factored; then masses alone stand in for it.
    cholesky: Option<Cholesky>,
    h: f64,
    /// The particle of each row.
    free: Vec<u32>,
    /// 3 columns of the solve.
    columns: Vec<f64>,
    scratch: SolveScratch,
}

impl Factor {
    pub(super) fn new(elements: &Elements, inertia: &Inertia) -> Self {
        let masses = &inertia.masses;
        let is_free = |place: &u32| masses[*place as usize].is_finite();
        let free: Vec<u32> = (0..masses.len() as u32).filter(is_free).collect();
        let mut rows = vec![u32::MAX; masses.len()];
        for (row, place) in free.iter().enumerate() {
            rows[*place as usize] = row as u32;
        }
        let inverse_h2 = 1.0 / (inertia.h * inertia.h);
        let mut lower: Vec<(u32, u32, f64)> = (0u32..)
            .zip(&free)
            .map(|(row, place)| (row, row, masses[*place as usize] * inverse_h2))
            .collect();
        entries(&elements.springs, &rows, &mut lower);
        entries(&elements.flexes, &rows, &mut lower);
        entries(&elements.hinges, &rows, &mut lower);
        entries(&elements.areas, &rows, &mut lower);
        entries(&elements.membranes, &rows, &mut lower);
        entries(&elements.tets, &rows, &mut lower);
        Self {
            cholesky: Cholesky::new(free.len(), &lower).ok(),
            h: inertia.h,
            columns: vec![0.0; 3 * free.len()],
            scratch: SolveScratch::default(),
            free,
        }
    }

    /// True if it was made for the same substep and the same particles are free.
    pub(super) fn fits(&self, inertia: &Inertia) -> bool {
        let mut free = self.free.iter().copied();
        self.h == inertia.h
            && inertia
                .masses
                .iter()
                .enumerate()
                .filter(|(_, mass)| mass.is_finite())
                .all(|(place, _)| free.next() == Some(place as u32))
            && free.next().is_none()
    }

    /// Multiplies by the inverse.
    pub(super) fn solve(&mut self, inertia: &Inertia, vector: &mut [Vec3d]) {
        let Some(cholesky) = &self.cholesky else {
            for (v, mass) in vector.iter_mut().zip(&inertia.masses) {
                *v *= inertia.h * inertia.h / mass;
            }
            return;
        };
        let count = self.free.len().max(1);
        for (axis, column) in self.columns.chunks_exact_mut(count).enumerate() {
            for (value, place) in column.iter_mut().zip(&self.free) {
                *value = vector[*place as usize][axis];
            }
        }
        cholesky.solve_with(&mut self.scratch, &mut self.columns);
        for (axis, column) in self.columns.chunks_exact(count).enumerate() {
            for (value, place) in column.iter().zip(&self.free) {
                vector[*place as usize][axis] = *value;
            }
        }
    }
}

fn entries<E: Energy<N>, const N: usize>(
    elements: &[E],
    rows: &[u32],
    lower: &mut Vec<(u32, u32, f64)>,
) {
    for element in elements {
        let weights = element.majorant();
        let corners = element.corners().map(|place| rows[place as usize]);
        for (i, row) in corners.iter().enumerate() {
            for (j, column) in corners.iter().enumerate() {
                if *row != u32::MAX && *column <= *row {
                    lower.push((*row, *column, weights[i][j]));
                }
            }
        }
    }
}
