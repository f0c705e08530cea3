//! Eight elements of one kind side by side, and how their constraints are solved.
//!
//! An element has R scalar constraints C with compliances α, solved together: (∇C W ∇Cᵀ + α̃) Δλ = −C − α̃λ with
//! α̃ = α / h², then x ← x + W ∇Cᵀ Δλ. Solving the constraints of one element together matters where they oppose each
//! other, as the two of a rubber do at rest: one after the other they would shake it. Each gradient sums to zero and
//! turns nothing, so both momenta are conserved.
//!
//! Viscosity τ acts on velocities after the substep: a dashpot of τ / α beside each spring, implicit, (τh ∇C W ∇Cᵀ + α) Δλ =
//! −τh ∇C v, v ← v + W ∇Cᵀ Δλ. It takes nothing where nothing moves. As a term of the projection (eq. 26 of the source)
//! it would also take what other elements have yet to correct in the substep for motion, and shift equilibria.
//!
//! Source: Macklin, Müller, Chentanez, "XPBD", MIG 2016, eq. 18.

use anim_math::lanes::{
    LANES, Lanes, Simd, SimdBase, f32x8, lanes_from_rows, load, load_all, rows_from_lanes, store,
};

use super::real::{Real, add, dot, scale};

/// One scalar constraint of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<T, const V: usize> {
    /// C.
    pub(crate) value: T,
    /// ∇C by each particle.
    pub(crate) gradient: [[T; 3]; V],
    /// α; energy is C² / 2α.
    pub(crate) compliance: T,
}

/// A kind of element: V particles, P parameters, R constraints.
pub(crate) trait Kind<const V: usize, const P: usize, const R: usize> {
    fn rows<T: Real>(rest: &[T; P], x: &[[T; 3]; V]) -> [Row<T, V>; R];

    /// Damping time of the element, s, where `shared` is the model's.
    #[inline(always)]
    fn viscosity<T: Real>(_rest: &[T; P], shared: T) -> T {
        shared
    }
}

/// Eight elements that share no particle.
///
/// A colour that does not fill its last batch repeats an element there: the copies read the same positions and write
/// the same results.
#[derive(Clone, Debug)]
pub(crate) struct Batch<const V: usize, const P: usize> {
    pub(crate) slots: [[u32; LANES]; V],
    pub(crate) rest: [Lanes; P],
}

/// What all constraints of a substep have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass<'a> {
    /// Length of the substep, s.
    pub(crate) h: f32,
    /// Damping time of the model, s.
    pub(crate) viscosity: f32,
    /// How far a seam may close in the substep, m.
    pub(crate) seam_step: f32,
    /// By slot: what positions are counted from, near them; empty if that is the origin.
    ///
    /// A number near 0 has more bits behind the point than one near 1. Particles that many stiff elements share move by
    /// less than the last bit of their coordinates for each of them, which would add up to nothing.
    pub(crate) base: &'a [[f32; 4]],
}

/// Solves each element once, batch after batch.
///
/// * `lambdas`: R for each batch, what earlier iterations of the substep added up; empty if there are none.
/// * `positions`: x, y, z in metres and the inverse mass in 1/kg. * `HAS_BASE`: whether [`Pass::base`] is there.
#[inline(always)]
pub(crate) fn project<S, K, const HAS_BASE: bool, const V: usize, const P: usize, const R: usize>(
    simd: S,
    batches: &[Batch<V, P>],
    pass: &Pass<'_>,
    lambdas: &mut [Lanes],
    positions: &mut [[f32; 4]],
) where
    S: Simd,
    K: Kind<V, P, R>,
{
    let inverse_h2 = 1.0 / (pass.h * pass.h);
    let mut lambdas = lambdas.chunks_exact_mut(R);
    for batch in batches {
        let rest = load_all(simd, &batch.rest);
        let (mut x, w) = gather_all(simd, positions, &batch.slots);
        let rows = K::rows(
            &rest,
            &absolute::<_, HAS_BASE, V>(simd, pass, &batch.slots, x),
        );
        let mut matrix = [[f32x8::splat(simd, 0.0); R]; R];
        let mut delta = [f32x8::splat(simd, 0.0); R];
        for i in 0..R {
            for (entry, other) in matrix[i].iter_mut().zip(&rows[..=i]) {
                *entry = coupling(&rows[i].gradient, &other.gradient, &w);
            }
            delta[i] = -rows[i].value;
        }
        let stored = lambdas.next();
        for i in 0..R {
            let compliance = rows[i].compliance * inverse_h2;
            matrix[i][i] += compliance;
            if let Some(stored) = &stored {
                delta[i] -= compliance * load(simd, &stored[i]);
            }
        }
        solve(&mut matrix, &mut delta);
        if let Some(stored) = stored {
            for i in 0..R {
                store(load(simd, &stored[i]) + delta[i], &mut stored[i]);
            }
        }
        for v in 0..V {
            for (row, delta) in rows.iter().zip(delta) {
                x[v] = add(x[v], scale(row.gradient[v], delta * w[v]));
            }
        }
        for v in 0..V {
            scatter(
                simd,
                [x[v][0], x[v][1], x[v][2], w[v]],
                positions,
                &batch.slots[v],
            );
        }
    }
}

/// Damps how fast the constraints of each element change, once, batch after batch.
///
/// * `positions`: as for [`project`], from the origin. * `velocities`: m/s, the last lane 0.
#[inline(always)]
pub(crate) fn damp<S, K, const V: usize, const P: usize, const R: usize>(
    simd: S,
    batches: &[Batch<V, P>],
    pass: &Pass<'_>,
    positions: &[[f32; 4]],
    velocities: &mut [[f32; 4]],
) where
    S: Simd,
    K: Kind<V, P, R>,
{
    let zero = f32x8::splat(simd, 0.0);
    for batch in batches {
        let rest = load_all(simd, &batch.rest);
        let (x, w) = gather_all(simd, positions, &batch.slots);
        let (mut v, _) = gather_all(simd, velocities, &batch.slots);
        let rows = K::rows(&rest, &x);
        let time = K::viscosity(&rest, f32x8::splat(simd, pass.viscosity)) * pass.h;
        let mut matrix = [[zero; R]; R];
        let mut delta = [zero; R];
        for i in 0..R {
            for (entry, other) in matrix[i].iter_mut().zip(&rows[..=i]) {
                *entry = coupling(&rows[i].gradient, &other.gradient, &w) * time;
            }
            matrix[i][i] += rows[i].compliance;
            for (gradient, v) in rows[i].gradient.iter().zip(&v) {
                delta[i] -= dot(*gradient, *v);
            }
            delta[i] *= time;
        }
        solve(&mut matrix, &mut delta);
        for k in 0..V {
            for (row, delta) in rows.iter().zip(delta) {
                v[k] = add(v[k], scale(row.gradient[k], delta * w[k]));
            }
            scatter(
                simd,
                [v[k][0], v[k][1], v[k][2], zero],
                velocities,
                &batch.slots[k],
            );
        }
    }
}

/// Σ w ∇C · ∇C′.
#[inline(always)]
fn coupling<T: Real, const V: usize>(a: &[[T; 3]; V], b: &[[T; 3]; V], w: &[T; V]) -> T {
    let mut sum = dot(a[0], b[0]) * w[0];
    for v in 1..V {
        sum = sum + dot(a[v], b[v]) * w[v];
    }
    sum
}

/// Solves a symmetric system of which the lower half is given, by LDLᵀ. Directions without stiffness stay where they are.
#[inline(always)]
fn solve<T: Real, const R: usize>(matrix: &mut [[T; R]; R], b: &mut [T; R]) {
    let mut inverse = [b[0]; R];
    for j in 0..R {
        // What rounding leaves of a pivot is not one.
        let least = matrix[j][j] * matrix[j][j].constant(1e-6);
        let mut pivot = matrix[j][j];
        for k in 0..j {
            pivot = pivot - matrix[j][k] * matrix[j][k] * inverse[k];
        }
        inverse[j] = (pivot - least)
            .choose(pivot, pivot.constant(0.0))
            .inverse_or_zero();
        for i in j + 1..R {
            let mut entry = matrix[i][j];
            for k in 0..j {
                entry = entry - matrix[i][k] * matrix[j][k] * inverse[k];
            }
            matrix[i][j] = entry;
        }
    }
    for i in 0..R {
        for k in 0..i {
            b[i] = b[i] - matrix[i][k] * b[k] * inverse[k];
        }
    }
    for i in (0..R).rev() {
        b[i] = b[i] * inverse[i];
        for k in i + 1..R {
            b[i] = b[i] - matrix[k][i] * b[k] * inverse[i];
        }
    }
}

/// Adds the base that coordinates are counted from, if there is one.
#[inline(always)]
pub(crate) fn absolute<S: Simd, const HAS_BASE: bool, const V: usize>(
    simd: S,
    pass: &Pass<'_>,
    slots: &[[u32; LANES]; V],
    mut x: [[f32x8<S>; 3]; V],
) -> [[f32x8<S>; 3]; V] {
    if HAS_BASE {
        let (base, _) = gather_all(simd, pass.base, slots);
        for v in 0..V {
            x[v] = add(base[v], x[v]);
        }
    }
    x
}

/// The coordinates of the particles of eight elements, and their inverse masses.
#[inline(always)]
pub(crate) fn gather_all<S: Simd, const V: usize>(
    simd: S,
    positions: &[[f32; 4]],
    slots: &[[u32; LANES]; V],
) -> ([[f32x8<S>; 3]; V], [f32x8<S>; V]) {
    let zero = f32x8::splat(simd, 0.0);
    let (mut x, mut w) = ([[zero; 3]; V], [zero; V]);
    for v in 0..V {
        let [px, py, pz, pw] = gather(simd, positions, &slots[v]);
        x[v] = [px, py, pz];
        w[v] = pw;
    }
    (x, w)
}

/// The coordinates of eight particles, lane by lane.
#[inline(always)]
pub(crate) fn gather<S: Simd>(
    simd: S,
    positions: &[[f32; 4]],
    slots: &[u32; LANES],
) -> [f32x8<S>; 4] {
    let mut rows = [[0.0; 4]; LANES];
    for (row, slot) in rows.iter_mut().zip(slots) {
        *row = positions[*slot as usize];
    }
    lanes_from_rows(simd, &rows)
}

#[inline(always)]
pub(crate) fn scatter<S: Simd>(
    simd: S,
    values: [f32x8<S>; 4],
    positions: &mut [[f32; 4]],
    slots: &[u32; LANES],
) {
    let rows = rows_from_lanes(simd, values);
    for (row, slot) in rows.iter().zip(slots) {
        positions[*slot as usize] = *row;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::real::cross;
    use super::*;

    /// Differentiates every constraint numerically in f64, and sums its forces and torques.
    pub(crate) fn check_gradients<K, const V: usize, const P: usize, const R: usize>(
        rest: [f32; P],
        x: [[f64; 3]; V],
    ) where
        K: Kind<V, P, R>,
    {
        let rest = rest.map(f64::from);
        let rows = K::rows(&rest, &x);
        let size = |row: &Row<f64, V>| {
            row.gradient
                .iter()
                .flatten()
                .fold(0.0, |m: f64, g| m.max(g.abs()))
        };
        for (i, row) in rows.iter().enumerate() {
            let step = 1e-4;
            for v in 0..V {
                for axis in 0..3 {
                    // Fourth order: wrong by step⁴ and by eps / step.
                    let at = |k: f64| {
                        let mut moved = x;
                        moved[v][axis] += k * step;
                        K::rows(&rest, &moved)[i].value
                    };
                    let slope = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
                    let error = (slope - row.gradient[v][axis]).abs();
                    assert!(
                        error < 1e-8 * size(row).max(1.0),
                        "row {i} vertex {v}: {slope}"
                    );
                }
            }
            let force = row.gradient.iter().fold([0.0; 3], |sum, g| add(sum, *g));
            let torque = x
                .iter()
                .zip(&row.gradient)
                .fold([0.0; 3], |sum, (x, g)| add(sum, cross(*x, *g)));
            for part in force.iter().chain(&torque) {
                assert!(
                    part.abs() < 1e-12 * size(row).max(1.0),
                    "row {i}: {force:?} {torque:?}"
                );
            }
        }
    }
}
