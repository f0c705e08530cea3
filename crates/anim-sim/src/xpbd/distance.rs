//! Distances between particles, and seams that close.
//!
//! C(x) = |xₐ − x_b| − L, Δλ = (−C − α̃λ) / (wₐ + w_b + α̃), Δxₐ = wₐ Δλ ∇ₐC; see [`batch`](super::batch) for α̃ and the
//! viscosity, of which this is the case that is worth its own lines.
//!
//! Source: Macklin, Müller, Chentanez, "XPBD", MIG 2016, eq. 18.

use anim_math::lanes::{
    LANES, Lanes, Select, Simd, SimdBase, SimdFloat, SimdMask, f32x8, load, load_all, store,
};
use anim_math::random::Random;

use super::batch::{Batch, Pass, absolute, gather, gather_all, scatter};
use super::real::{add, dot, scale, sub};

/// Ends closer than this part of the rest length have no direction.
const COINCIDENT: f32 = 1e-9;

/// Squares of lengths below this divide by what rounding has left of them.
const NO_LENGTH: f32 = 1e-30;

/// Projects each link once; parameters are the rest length and the compliance, multipliers one a batch.
///
/// As [`batch::project`](super::batch::project). Coincident ends that should be apart move along an axis that depends on
/// their slots alone. Two pinned ends are left alone.
#[inline(always)]
pub(crate) fn project<S: Simd, const HAS_BASE: bool>(
    simd: S,
    batches: &[Batch<2, 2>],
    pass: &Pass<'_>,
    lambdas: &mut [Lanes],
    positions: &mut [[f32; 4]],
) {
    let zero = f32x8::splat(simd, 0.0);
    let inverse_h2 = f32x8::splat(simd, 1.0 / (pass.h * pass.h));
    let mut lambdas = lambdas.iter_mut();
    for batch in batches {
        let [ax, ay, az, aw] = gather(simd, positions, &batch.slots[0]);
        let [bx, by, bz, bw] = gather(simd, positions, &batch.slots[1]);
        let [rest, compliance] = load_all(simd, &batch.rest);
        let compliance = compliance * inverse_h2;
        let ends = [[ax, ay, az], [bx, by, bz]];
        let ends = absolute::<_, HAS_BASE, 2>(simd, pass, &batch.slots, ends);
        let [mut dx, mut dy, mut dz] = sub(ends[0], ends[1]);
        let mut length = (dx * dx + dy * dy + dz * dz).sqrt();
        let mut violation = length - rest;
        let lost = length.simd_lt(rest * COINCIDENT);
        if lost.any_true() {
            let axis = axes(&batch.slots);
            let [x, y, z] = load_all(simd, &axis);
            (dx, dy, dz) = (lost.select(x, dx), lost.select(y, dy), lost.select(z, dz));
            length = lost.select(f32x8::splat(simd, 1.0), length);
        }
        let stored = lambdas.next();
        if let Some(stored) = &stored {
            violation += compliance * load(simd, stored);
        }
        let denominator = length * (aw + bw + compliance);
        // False for NaN as well, so that it goes no further than the pair.
        let valid = simd.simd_gt_f32x8(denominator, zero);
        let scale = simd.select_f32x8(valid, violation / denominator, zero);
        if let Some(stored) = stored {
            store(load(simd, stored) - scale * length, stored);
        }
        let (sa, sb) = (scale * aw, scale * bw);
        let a = [ax - dx * sa, ay - dy * sa, az - dz * sa, aw];
        let b = [bx + dx * sb, by + dy * sb, bz + dz * sb, bw];
        scatter(simd, a, positions, &batch.slots[0]);
        scatter(simd, b, positions, &batch.slots[1]);
    }
}

/// Damps how fast each link changes its length, once.
///
/// As [`batch::damp`](super::batch::damp). Links without a direction are left alone.
#[inline(always)]
pub(crate) fn damp<S: Simd>(
    simd: S,
    batches: &[Batch<2, 2>],
    pass: &Pass<'_>,
    positions: &[[f32; 4]],
    velocities: &mut [[f32; 4]],
) {
    let zero = f32x8::splat(simd, 0.0);
    let time = f32x8::splat(simd, pass.viscosity * pass.h);
    for batch in batches {
        let [_, compliance] = load_all(simd, &batch.rest);
        let (x, [aw, bw]) = gather_all(simd, positions, &batch.slots);
        let ([va, vb], _) = gather_all(simd, velocities, &batch.slots);
        let way = sub(x[0], x[1]);
        // ∇C is the way divided by its length, once in the speed and once in what is given back.
        let squared = dot(way, way);
        let has_direction = squared.simd_gt(f32x8::splat(simd, NO_LENGTH));
        let denominator = squared * (time * (aw + bw) + compliance);
        let valid = has_direction & denominator.simd_gt(zero);
        let speed = dot(way, sub(va, vb));
        let push = valid.select(time * speed / denominator, zero);
        let [ax, ay, az] = sub(va, scale(way, push * aw));
        let [bx, by, bz] = add(vb, scale(way, push * bw));
        scatter(simd, [ax, ay, az, zero], velocities, &batch.slots[0]);
        scatter(simd, [bx, by, bz, zero], velocities, &batch.slots[1]);
    }
}

/// Closes each seam by at most the seam step: a rigid link of no length whose correction is capped.
#[inline(always)]
pub(crate) fn close<S: Simd, const HAS_BASE: bool>(
    simd: S,
    batches: &[Batch<2, 0>],
    pass: &Pass<'_>,
    positions: &mut [[f32; 4]],
) {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    for batch in batches {
        let [ax, ay, az, aw] = gather(simd, positions, &batch.slots[0]);
        let [bx, by, bz, bw] = gather(simd, positions, &batch.slots[1]);
        let ends = [[ax, ay, az], [bx, by, bz]];
        let ends = absolute::<_, HAS_BASE, 2>(simd, pass, &batch.slots, ends);
        let [dx, dy, dz] = sub(ends[0], ends[1]);
        let length = (dx * dx + dy * dy + dz * dz).sqrt();
        let denominator = length * (aw + bw);
        let valid = simd.simd_gt_f32x8(denominator, zero);
        let step = (one * pass.seam_step).min(length);
        let scale = simd.select_f32x8(valid, step / denominator, zero);
        let (sa, sb) = (scale * aw, scale * bw);
        let a = [ax - dx * sa, ay - dy * sa, az - dz * sa, aw];
        let b = [bx + dx * sb, by + dy * sb, bz + dz * sb, bw];
        scatter(simd, a, positions, &batch.slots[0]);
        scatter(simd, b, positions, &batch.slots[1]);
    }
}

/// A direction for each pair that lost its own.
#[cold]
#[inline(never)]
fn axes(slots: &[[u32; LANES]; 2]) -> [Lanes; 3] {
    let mut axes = [[0.0; LANES]; 3];
    for lane in 0..LANES {
        let pair = u64::from(slots[0][lane]) << 32 | u64::from(slots[1][lane]);
        let axis = Random::new(0, pair, 0).on_sphere();
        for (part, lanes) in axis.iter().zip(&mut axes) {
            lanes[lane] = *part;
        }
    }
    axes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Link;
    use crate::xpbd::sweep::{Element, Sweep};
    use anim_math::Vec3;
    use anim_math::lanes::Level;

    /// Eleven disjoint links between points scattered over a few metres.
    fn scene() -> (Sweep, Vec<[f32; 4]>) {
        let positions = (0..22)
            .map(|i| {
                let k = i as f32;
                [
                    (k * 1.7).sin() * 3.0,
                    (k * 2.9).cos() * 3.0,
                    (k * 0.3).sin(),
                    0.5 + k,
                ]
            })
            .collect();
        let links: Vec<_> = (0..11)
            .map(|i| Link {
                vertices: [i, 21 - i],
                rest_length: 0.3,
                compliance: 1e-4 * i as f32,
            })
            .collect();
        (sweep(&links, 22), positions)
    }

    fn sweep(links: &[Link], slot_count: usize) -> Sweep {
        let elements: Vec<_> = links.iter().map(Element::link).collect();
        Sweep::new(&elements, slot_count)
    }

    fn solve(level: Level, sweep: &Sweep, positions: &mut [[f32; 4]]) {
        let pass = Pass {
            h: 1.0 / 60.0,
            viscosity: 0.0,
            seam_step: 0.0,
            base: &[],
        };
        sweep.project(level, &pass, &mut [], positions);
    }

    #[test]
    fn a_projection_conserves_both_momenta() {
        let (batches, before) = scene();
        let mut after = before.clone();
        solve(Level::new(), &batches, &mut after);
        let (mut linear, mut angular, mut size) = (Vec3::zeros(), Vec3::zeros(), 0.0);
        for (a, b) in after.iter().zip(&before) {
            let x = Vec3::new(b[0], b[1], b[2]);
            let impulse = (Vec3::new(a[0], a[1], a[2]) - x) / b[3];
            linear += impulse;
            angular += x.cross(&impulse);
            size += impulse.norm();
        }
        // Each position is rounded at 3e-7 m against corrections of metres.
        assert!(size > 1.0);
        assert!(linear.norm() < 1e-6 * size, "{linear:?} of {size}");
        assert!(angular.norm() < 5e-6 * size, "{angular:?} of {size}");
    }

    #[test]
    fn a_rigid_link_is_exact_after_one_projection() {
        let (batches, mut positions) = scene();
        solve(Level::new(), &batches, &mut positions);
        let [a, b] = [positions[0], positions[21]].map(|p| Vec3::new(p[0], p[1], p[2]));
        assert!(((a - b).norm() - 0.3).abs() < 1e-6);
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let (batches, start) = scene();
        let (mut best, mut plain) = (start.clone(), start);
        solve(Level::new(), &batches, &mut best);
        solve(Level::baseline(), &batches, &mut plain);
        assert_eq!(best, plain);
    }

    #[test]
    fn coincident_ends_part_along_some_axis_and_pinned_ones_stay() {
        let link = |vertices| Link {
            vertices,
            rest_length: 1.0,
            compliance: 0.0,
        };
        let start = vec![
            [1.0, 1.0, 1.0, 1.0],
            [1.0, 1.0, 1.0, 1.0],
            [0.0, 0.0, 0.0, 0.0],
            [5.0, 0.0, 0.0, 0.0],
        ];
        let mut positions = start.clone();
        solve(
            Level::new(),
            &sweep(&[link([0, 1]), link([2, 3])], 4),
            &mut positions,
        );
        let [a, b] = [positions[0], positions[1]].map(|p| Vec3::new(p[0], p[1], p[2]));
        assert!(((a - b).norm() - 1.0).abs() < 1e-6);
        assert!((a + b - Vec3::new(2.0, 2.0, 2.0)).norm() < 1e-6);
        assert_eq!(positions[2..], start[2..]);
    }
}
