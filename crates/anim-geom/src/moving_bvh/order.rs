//! The order of triangles in which every aligned eight, sixty-four and so on of them lie close together.
//!
//! Halving along the longest axis at multiples of powers of eight makes a balanced tree that needs no links: box `i` of a
//! level holds the boxes `8i` to `8i + 7` of the level below. It is at most logarithmically deep whatever the mesh.

use anim_math::Vec3;
use anim_math::lanes::LANES;

/// Reorders the indices of `centers`; ties go by index, so that the result is one and the same everywhere.
pub(super) fn cluster(centers: &[Vec3], order: &mut [u32]) {
    if order.len() <= LANES {
        order.sort_unstable();
        return;
    }
    let mut unit = LANES;
    while unit * LANES < order.len() {
        unit *= LANES;
    }
    let middle = order.len().div_ceil(unit) / 2 * unit;
    let (mut low, mut high) = (Vec3::repeat(f32::MAX), Vec3::repeat(f32::MIN));
    for index in order.iter() {
        low = low.inf(&centers[*index as usize]);
        high = high.sup(&centers[*index as usize]);
    }
    let axis = (high - low).imax();
    order.select_nth_unstable_by(middle, |a, b| {
        let [x, y] = [a, b].map(|index| centers[*index as usize][axis]);
        x.total_cmp(&y).then(a.cmp(b))
    });
    let (left, right) = order.split_at_mut(middle);
    cluster(centers, left);
    cluster(centers, right);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_aligned_eight_of_a_row_is_contiguous() {
        let count = 1000u32;
        let centers: Vec<Vec3> = (0..count)
            .map(|i| Vec3::x() * (i * 337 % count) as f32)
            .collect();
        let mut order: Vec<u32> = (0..count).collect();
        cluster(&centers, &mut order);
        for unit in [8, 64, 512] {
            for (index, chunk) in order.chunks(unit).enumerate() {
                let range = (index * unit) as f32..((index + 1) * unit) as f32;
                assert!(
                    chunk
                        .iter()
                        .all(|i| range.contains(&centers[*i as usize].x))
                );
            }
        }
    }

    #[test]
    fn what_lies_in_one_place_goes_by_index() {
        let mut order: Vec<u32> = (0..100).rev().collect();
        cluster(&[Vec3::zeros(); 100], &mut order);
        assert!(order.is_sorted());
    }
}
