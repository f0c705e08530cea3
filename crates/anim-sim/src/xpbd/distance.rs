//! Distance constraints, projected eight at a time.
//!
//! C(x) = |xₐ − x_b| − L. With one iteration a substep the multiplier λ starts at 0 and is used once, so it is not
//! stored: Δλ = −C / (wₐ + w_b + α̃), α̃ = compliance / h², and Δxₐ = wₐ Δλ ∇ₐC.
//!
//! Source: Macklin, Müller, Chentanez, "XPBD", MIG 2016, eq. 18; one iteration and many substeps as in Macklin et al.,
//! "Small steps in physics simulation", SCA 2019.

use anim_math::lanes::{LANES, Lanes, Simd, SimdBase, SimdFloat, f32x8};

use crate::coloring::color;
use crate::element::Link;

/// Eight constraints that share no particle.
///
/// A colour that does not fill its last batch repeats a constraint there: the copies read the same positions and write
/// the same results.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    a: [u32; LANES],
    b: [u32; LANES],
    rest_length: Lanes,
    compliance: Lanes,
}

/// Sorts links into batches, colour by colour.
///
/// * `links`: between slots below `slot_count`.
pub(crate) fn batches(links: &[Link], slot_count: usize) -> Vec<Batch> {
    let pairs: Vec<_> = links.iter().map(|link| link.vertices).collect();
    let colors = color(&pairs, slot_count);
    let mut order: Vec<usize> = (0..links.len()).collect();
    order.sort_by_key(|i| colors[*i]);
    order
        .chunk_by(|i, j| colors[*i] == colors[*j])
        .flat_map(|of_one_color| of_one_color.chunks(LANES))
        .map(|chunk| {
            let lane: [&Link; LANES] =
                std::array::from_fn(|k| &links[chunk[k.min(chunk.len() - 1)]]);
            Batch {
                a: lane.map(|link| link.vertices[0]),
                b: lane.map(|link| link.vertices[1]),
                rest_length: lane.map(|link| link.rest_length),
                compliance: lane.map(|link| link.compliance),
            }
        })
        .collect()
}

/// Projects each constraint once, batch after batch.
///
/// * `inverse_h2`: 1/h², 1/s². * `positions`: x, y, z in metres and the inverse mass in 1/kg.
///
/// Coincident endpoints have no direction and are left alone, and so are two pinned ones.
#[inline(always)]
pub(crate) fn project<S: Simd>(
    simd: S,
    batches: &[Batch],
    inverse_h2: f32,
    positions: &mut [[f32; 4]],
) {
    let zero = f32x8::splat(simd, 0.0);
    let inverse_h2 = f32x8::splat(simd, inverse_h2);
    for batch in batches {
        let [ax, ay, az, aw] = gather(simd, positions, &batch.a);
        let [bx, by, bz, bw] = gather(simd, positions, &batch.b);
        let (dx, dy, dz) = (ax - bx, ay - by, az - bz);
        let length = (dx * dx + dy * dy + dz * dz).sqrt();
        let violation = length - f32x8::from_slice(simd, &batch.rest_length);
        let compliance = f32x8::from_slice(simd, &batch.compliance) * inverse_h2;
        let denominator = length * (aw + bw + compliance);
        // False for NaN as well, so that it goes no further than the pair.
        let valid = simd.simd_gt_f32x8(denominator, zero);
        let scale = simd.select_f32x8(valid, violation / denominator, zero);
        let (sa, sb) = (scale * aw, scale * bw);
        let a = [ax - dx * sa, ay - dy * sa, az - dz * sa, aw];
        let b = [bx + dx * sb, by + dy * sb, bz + dz * sb, bw];
        scatter(simd, a, positions, &batch.a);
        scatter(simd, b, positions, &batch.b);
    }
}

/// The coordinates of eight particles, lane by lane.
#[inline(always)]
fn gather<S: Simd>(simd: S, positions: &[[f32; 4]], slots: &[u32; LANES]) -> [f32x8<S>; 4] {
    let [s0, s1, s2, s3, s4, s5, s6, s7] = *slots;
    let low = gather_four(simd, positions, [s0, s1, s2, s3]);
    let high = gather_four(simd, positions, [s4, s5, s6, s7]);
    [
        simd.combine_f32x4(low[0], high[0]),
        simd.combine_f32x4(low[1], high[1]),
        simd.combine_f32x4(low[2], high[2]),
        simd.combine_f32x4(low[3], high[3]),
    ]
}

#[inline(always)]
fn gather_four<S: Simd>(
    simd: S,
    positions: &[[f32; 4]],
    slots: [u32; 4],
) -> [anim_math::lanes::f32x4<S>; 4] {
    let mut rows = [0.0; 16];
    for (row, slot) in rows.chunks_exact_mut(4).zip(slots) {
        row.copy_from_slice(&positions[slot as usize]);
    }
    simd.load_four_interleaved_f32x4(&rows)
}

#[inline(always)]
fn scatter<S: Simd>(
    simd: S,
    values: [f32x8<S>; 4],
    positions: &mut [[f32; 4]],
    slots: &[u32; LANES],
) {
    let [s0, s1, s2, s3, s4, s5, s6, s7] = *slots;
    let (x0, x1) = simd.split_f32x8(values[0]);
    let (y0, y1) = simd.split_f32x8(values[1]);
    let (z0, z1) = simd.split_f32x8(values[2]);
    let (w0, w1) = simd.split_f32x8(values[3]);
    scatter_four(simd, [x0, y0, z0, w0], positions, [s0, s1, s2, s3]);
    scatter_four(simd, [x1, y1, z1, w1], positions, [s4, s5, s6, s7]);
}

#[inline(always)]
fn scatter_four<S: Simd>(
    simd: S,
    values: [anim_math::lanes::f32x4<S>; 4],
    positions: &mut [[f32; 4]],
    slots: [u32; 4],
) {
    let mut rows = [0.0; 16];
    simd.store_four_interleaved_f32x4(values, &mut rows);
    for (row, slot) in rows.chunks_exact(4).zip(slots) {
        positions[slot as usize].copy_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anim_math::Vec3;
    use anim_math::lanes::{Level, dispatch};

    /// Eleven disjoint links between points scattered over a few metres.
    fn scene() -> (Vec<Batch>, Vec<[f32; 4]>) {
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
        (batches(&links, 22), positions)
    }

    fn solve(level: Level, batches: &[Batch], positions: &mut [[f32; 4]]) {
        dispatch!(level, simd => project(simd, batches, 3600.0, positions));
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
    fn coincident_and_pinned_ends_are_left_alone() {
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
            &batches(&[link([0, 1]), link([2, 3])], 4),
            &mut positions,
        );
        assert_eq!(positions, start);
    }
}
