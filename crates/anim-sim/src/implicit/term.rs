//! One element as the solver sees it: energy, force and stiffness of a few corners.

use anim_geom::chunks;

use super::matrix::BlockMatrix;
use crate::fem::{Mat3d, Vec3d};

/// Gradient and Hessian of one term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derivatives<const N: usize> {
    /// ∂E/∂xₐ, N.
    pub(super) gradient: [Vec3d; N],
    /// ∂²E/∂xₐ∂x_b, N/m, for a ≤ b; the others are not read.
    pub(super) blocks: [[Mat3d; N]; N],
}

impl<const N: usize> Derivatives<N> {
    pub(super) const ZERO: Self = Self {
        gradient: [Vec3d::new(0.0, 0.0, 0.0); N],
        blocks: [[Mat3d::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0); N]; N],
    };

    /// Those of an energy φ(c) of a quantity c: slope φ′, curvature φ″, and c's gradient. c's own curvature is left out
    /// (Gauss-Newton), so that the Hessian is never negative.
    pub(super) fn of_quantity(slope: f64, curvature: f64, gradient: &[Vec3d; N]) -> Self {
        let mut out = Self::ZERO;
        for a in 0..N {
            out.gradient[a] = gradient[a] * slope;
            for b in a..N {
                out.blocks[a][b] = gradient[a] * gradient[b].transpose() * curvature;
            }
        }
        out
    }
}

/// An energy of N corners.
pub(super) trait Term<const N: usize>: Sync {
    /// J.
    fn energy(&self, corners: &[Vec3d; N]) -> f64;
    /// The Hessian without negative eigenvalues, or if `exact` with them.
    fn derivatives(&self, corners: &[Vec3d; N], exact: bool) -> Derivatives<N>;
}

/// All terms of one kind.
#[derive(Clone, Debug)]
pub(super) struct Terms<T, const N: usize> {
    pub(super) terms: Vec<T>,
    pub(super) vertices: Vec<[u32; N]>,
    /// Of each term's blocks, in the matrix: row a, column b.
    places: Vec<[[u32; N]; N]>,
    /// Where threads leave their results.
    scratch: Vec<Derivatives<N>>,
}

impl<T: Term<N>, const N: usize> Terms<T, N> {
    pub(super) fn new(terms: Vec<(T, [u32; N])>) -> Self {
        let (terms, vertices): (Vec<T>, Vec<[u32; N]>) = terms.into_iter().unzip();
        Self {
            places: Vec::new(),
            scratch: vec![Derivatives::ZERO; terms.len().min(4 * chunks::CHUNK)],
            terms,
            vertices,
        }
    }

    /// Each term with its corners.
    pub(super) fn each_mut(&mut self) -> impl Iterator<Item = (&mut T, &[u32; N])> {
        self.terms.iter_mut().zip(&self.vertices)
    }

    /// The pairs of vertices that the terms join, both ways.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        self.vertices
            .iter()
            .flat_map(|vertices| vertices.iter().flat_map(|a| vertices.map(|b| [*a, b])))
    }

    /// Finds the blocks in the matrix that was made for these pairs.
    pub(super) fn locate(&mut self, matrix: &BlockMatrix) {
        self.places = self
            .vertices
            .iter()
            .map(|vertices| vertices.map(|a| vertices.map(|b| matrix.place(a, b))))
            .collect();
    }

    pub(super) fn energy(&self, positions: &[Vec3d]) -> f64 {
        chunks::ordered_reduce(
            &self.terms,
            0.0,
            |first, terms| {
                let zipped = terms.iter().zip(&self.vertices[first..]);
                zipped.fold(0.0, |sum, (term, vertices)| {
                    sum + term.energy(&corners(positions, vertices))
                })
            },
            |a, b| a + b,
        )
    }

    /// Adds gradient and Hessian of all terms.
    pub(super) fn add_derivatives(
        &mut self,
        positions: &[Vec3d],
        exact: bool,
        gradient: &mut [Vec3d],
        matrix: &mut BlockMatrix,
    ) {
        let Self {
            terms,
            vertices,
            places,
            scratch,
        } = self;
        let one =
            |index: usize| terms[index].derivatives(&corners(positions, &vertices[index]), exact);
        let mut add = |index: usize, derivatives: &Derivatives<N>| {
            let (vertices, places) = (&vertices[index], &places[index]);
            for (a, row) in derivatives.blocks.iter().enumerate() {
                gradient[vertices[a] as usize] += derivatives.gradient[a];
                for (b, block) in row.iter().enumerate().skip(a) {
                    *matrix.block_mut(places[a][b]) += block;
                    if a != b {
                        *matrix.block_mut(places[b][a]) += block.transpose();
                    }
                }
            }
        };
        if !chunks::in_pool() {
            for index in 0..terms.len() {
                add(index, &one(index));
            }
            return;
        }
        // Threads share the arithmetic; sums are made in order, so that they do not depend on the threads.
        for begin in (0..terms.len()).step_by(scratch.len().max(1)) {
            let count = scratch.len().min(terms.len() - begin);
            let batch = &mut scratch[..count];
            chunks::for_each_mut(batch, |first, chunk| {
                for (index, out) in (begin + first..).zip(chunk) {
                    *out = one(index);
                }
            });
            for (index, derivatives) in (begin..).zip(batch.iter()) {
                add(index, derivatives);
            }
        }
    }
}

/// Where the corners are.
#[inline(always)]
pub(super) fn corners<const N: usize>(positions: &[Vec3d], vertices: &[u32; N]) -> [Vec3d; N] {
    vertices.map(|vertex| positions[vertex as usize])
}

/// Checks a term's derivatives against differences of its energy.
#[cfg(test)]
pub(super) fn check_derivatives<const N: usize>(
    term: &impl Term<N>,
    corners: &[Vec3d; N],
    scale: f64,
    is_exact: bool,
) {
    let e = 1e-5;
    let moved = |vertex: usize, axis: usize, by: f64| {
        let mut moved = *corners;
        moved[vertex][axis] += by;
        moved
    };
    let here = term.derivatives(corners, true);
    for a in 0..N {
        for i in 0..3 {
            let slope = (term.energy(&moved(a, i, e)) - term.energy(&moved(a, i, -e))) / (2.0 * e);
            let exact = here.gradient[a][i];
            assert!((slope - exact).abs() < 1e-7 * scale, "{slope} {exact}");
            if !is_exact {
                continue;
            }
            let plus = term.derivatives(&moved(a, i, e), true).gradient;
            let minus = term.derivatives(&moved(a, i, -e), true).gradient;
            for b in 0..N {
                let change = (plus[b] - minus[b]) / (2.0 * e);
                for j in 0..3 {
                    let exact = if a <= b {
                        here.blocks[a][b][(i, j)]
                    } else {
                        here.blocks[b][a][(j, i)]
                    };
                    assert!((change[j] - exact).abs() < 1e-6 * scale, "{a} {b}");
                }
            }
        }
    }
}
