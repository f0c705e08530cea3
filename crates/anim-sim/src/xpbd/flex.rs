//! Resistance to bending away from flat, quadratic in the positions.
//!
//! E = ½ k |L|² with L = Σ cᵢ xᵢ, the same for each coordinate, so the three coordinates of L are three constraints with
//! compliance 1/k that are linear and do not touch each other: one division solves all of them exactly. (The square root
//! of the energy as one constraint, as isometric bending is often done, has no gradient where the sheet is flat.)
//! Σ cᵢ = 0 conserves momentum and Σ xᵢ × cᵢ L = L × L = 0 angular momentum.
//!
//! Source: Bergou, Wardetzky, Harmon, Zorin, Grinspun, "A quadratic bending model for inextensible surfaces", SGP 2006,
//! eq. 4, with c = K / √A of the cotangents K of the rest shape and the area A of both triangles. The paper has 3/A, with
//! which a sheet rolled to a cylinder costs 3 (rows of squares) to 3.4 times (equilateral) what its stiffness says.

use anim_math::Vec3;
use anim_math::lanes::{Lanes, Simd, SimdBase, f32x8, load, load_all, store};

use super::batch::{Batch, Pass, absolute, gather_all, scatter};
use super::real::{Real, add, dot, negate, scale, sub};

/// c₀ to c₃, or `None` for corners without area.
///
/// * `corners`: at rest, in the order of [`Flex::vertices`](crate::element::Flex::vertices).
pub(crate) fn coefficients(corners: [Vec3; 4]) -> Option<[f64; 4]> {
    let [x0, x1, x2, x3] = corners.map(|x| x.cast::<f64>());
    let edge = x1 - x0;
    let double_areas = [edge.cross(&(x2 - x0)).norm(), edge.cross(&(x3 - x0)).norm()];
    // Of the angle of a triangle at an end of the edge, between the edge from there and the side to the far corner.
    let cotangent = |from_end: f64, triangle: usize| from_end / double_areas[triangle];
    let c02 = cotangent(edge.dot(&(x2 - x0)), 0);
    let c03 = cotangent(edge.dot(&(x3 - x0)), 1);
    let c12 = cotangent(-edge.dot(&(x2 - x1)), 0);
    let c13 = cotangent(-edge.dot(&(x3 - x1)), 1);
    let scale = (2.0 / (double_areas[0] + double_areas[1])).sqrt();
    let coefficients = [c12 + c13, c02 + c03, -c02 - c12, -c03 - c13].map(|c| c * scale);
    coefficients
        .iter()
        .all(|c| c.is_finite())
        .then_some(coefficients)
}

/// L, from differences, which keep the bits that positions have.
#[inline(always)]
pub(crate) fn curvature<T: Real>(c: &[T; 4], x: &[[T; 3]; 4]) -> [T; 3] {
    add(
        add(scale(sub(x[1], x[0]), c[1]), scale(sub(x[2], x[0]), c[2])),
        scale(sub(x[3], x[0]), c[3]),
    )
}

/// Projects each element once; parameters are c₀ to c₃ and the compliance, multipliers three a batch.
///
/// As [`batch::project`](super::batch::project).
#[inline(always)]
pub(crate) fn project<S: Simd, const HAS_BASE: bool>(
    simd: S,
    batches: &[Batch<4, 5>],
    pass: &Pass<'_>,
    lambdas: &mut [Lanes],
    positions: &mut [[f32; 4]],
) {
    let inverse_h2 = 1.0 / (pass.h * pass.h);
    let mut lambdas = lambdas.chunks_exact_mut(3);
    for batch in batches {
        let [c0, c1, c2, c3, compliance] = load_all(simd, &batch.rest);
        let c = [c0, c1, c2, c3];
        let compliance = compliance * inverse_h2;
        let (mut x, w) = gather_all(simd, positions, &batch.slots);
        let now = curvature(&c, &absolute::<_, HAS_BASE, 4>(simd, pass, &batch.slots, x));
        let mut delta = negate(now);
        let stiffness = c0 * c0 * w[0] + c1 * c1 * w[1] + (c2 * c2 * w[2] + c3 * c3 * w[3]);
        let stored = lambdas.next();
        if let Some(stored) = &stored {
            for axis in 0..3 {
                delta[axis] -= compliance * load(simd, &stored[axis]);
            }
        }
        let inverse = (stiffness + compliance).inverse_or_zero();
        for part in &mut delta {
            *part *= inverse;
        }
        if let Some(stored) = stored {
            for axis in 0..3 {
                store(load(simd, &stored[axis]) + delta[axis], &mut stored[axis]);
            }
        }
        for v in 0..4 {
            let share = c[v] * w[v];
            x[v] = add(x[v], scale(delta, share));
            scatter(
                simd,
                [x[v][0], x[v][1], x[v][2], w[v]],
                positions,
                &batch.slots[v],
            );
        }
    }
}

/// Squares of lengths below this divide by what rounding has left of them.
const FLAT: f32 = 1e-30;

/// Damps how fast each element bends, once; as [`batch::damp`](super::batch::damp).
///
/// That is how fast |L| changes: L itself turns with a bent sheet that turns as a whole.
#[inline(always)]
pub(crate) fn damp<S: Simd>(
    simd: S,
    batches: &[Batch<4, 5>],
    pass: &Pass<'_>,
    positions: &[[f32; 4]],
    velocities: &mut [[f32; 4]],
) {
    let zero = f32x8::splat(simd, 0.0);
    let time = f32x8::splat(simd, pass.viscosity * pass.h);
    for batch in batches {
        let [c0, c1, c2, c3, compliance] = load_all(simd, &batch.rest);
        let c = [c0, c1, c2, c3];
        let (x, w) = gather_all(simd, positions, &batch.slots);
        let (mut v, _) = gather_all(simd, velocities, &batch.slots);
        let bent = curvature(&c, &x);
        let squared = dot(bent, bent);
        // What is as good as flat has no direction.
        let squared = (squared - FLAT).choose(squared, zero);
        let rate = dot(bent, curvature(&c, &v)) * squared.inverse_or_zero();
        let stiffness = c0 * c0 * w[0] + c1 * c1 * w[1] + (c2 * c2 * w[2] + c3 * c3 * w[3]);
        let push = time * (time * stiffness + compliance).inverse_or_zero();
        let taken = scale(bent, rate * push);
        for k in 0..4 {
            v[k] = sub(v[k], scale(taken, c[k] * w[k]));
            let [x, y, z] = v[k];
            scatter(simd, [x, y, z, zero], velocities, &batch.slots[k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::real::cross;
    use super::*;

    const REST: [[f32; 3]; 4] = [
        [0.0, 0.1, 0.0],
        [0.1, 1.2, 0.0],
        [-0.9, 0.4, 0.0],
        [0.7, 0.9, 0.0],
    ];

    #[test]
    fn a_flat_sheet_has_no_curvature_wherever_it_lies() {
        let c = coefficients(REST.map(Vec3::from)).unwrap();
        let turned = REST.map(|[x, y, z]| [f64::from(y) + 1.0, f64::from(z), f64::from(x)]);
        assert!(curvature(&c, &turned).iter().all(|l| l.abs() < 1e-6));
        assert!(c.iter().sum::<f64>().abs() < 1e-12);
    }

    #[test]
    fn forces_turn_nothing() {
        let c = coefficients(REST.map(Vec3::from)).unwrap();
        let x: [[f64; 3]; 4] = [
            [0.3, 0.0, 0.1],
            [0.0, 1.0, 0.4],
            [-1.0, 0.0, 0.2],
            [0.5, 0.5, -0.5],
        ];
        let l = curvature(&c, &x);
        let torque = (0..4).fold([0.0; 3], |sum, v| add(sum, cross(x[v], scale(l, c[v]))));
        assert!(torque.iter().all(|t| t.abs() < 1e-12), "{torque:?}");
    }

    #[test]
    fn the_energy_of_a_fold_is_that_of_its_angle_to_second_order() {
        // E = ½ k θ² |e|² / A for small θ.
        let c = coefficients(REST.map(Vec3::from)).unwrap();
        let edge = sub(REST[1].map(f64::from), REST[0].map(f64::from));
        let squared = edge[0] * edge[0] + edge[1] * edge[1];
        let area = |v: usize| {
            let d = sub(REST[v].map(f64::from), REST[0].map(f64::from));
            0.5 * (edge[0] * d[1] - edge[1] * d[0]).abs()
        };
        let height = 2.0 * area(3) / squared.sqrt();
        let mut x = REST.map(|x| x.map(f64::from));
        let angle = 1e-3;
        x[3][2] = -height * angle;
        let l = curvature(&c, &x);
        let energy = l[0] * l[0] + l[1] * l[1] + l[2] * l[2];
        let expected = squared / (area(2) + area(3)) * angle * angle;
        assert!(
            (energy / expected - 1.0).abs() < 1e-4,
            "{}",
            energy / expected
        );
    }

    #[test]
    fn a_triangle_without_area_does_not_bend() {
        let mut flat = REST;
        (flat[2], flat[3]) = ([0.0, 0.1, 0.0], [0.0, 0.1, 0.0]);
        assert_eq!(coefficients(flat.map(Vec3::from)), None);
    }
}
