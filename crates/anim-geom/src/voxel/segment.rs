//! The cells along a segment, one face at a time.

use anim_math::nalgebra::Vector3;

use super::VoxelGrid;

/// The cells from `a` to `b`, which are in cells about the grid's centre.
pub(super) fn cells(grid: &VoxelGrid, a: Vector3<f64>, b: Vector3<f64>) -> Vec<[u32; 3]> {
    let along = b - a;
    // Clipping to the grid: far ends must not cost steps.
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for axis in 0..3 {
        let half = f64::from(grid.size[axis]) * 0.5;
        if along[axis] == 0.0 {
            if a[axis].abs() > half {
                return Vec::new();
            }
            continue;
        }
        let (s, t) = (
            (-half - a[axis]) / along[axis],
            (half - a[axis]) / along[axis],
        );
        enter = enter.max(s.min(t));
        leave = leave.min(s.max(t));
    }
    let finite = along.iter().chain(&a).all(|c| c.is_finite());
    if !finite || enter > leave {
        return Vec::new();
    }
    let within = |parameter: f64| {
        let point = a + along * parameter;
        Vector3::from_fn(|axis, _| {
            let half = f64::from(grid.size[axis] / 2);
            point[axis].round().clamp(-half, half)
        })
    };
    let (mut cell, last) = (within(enter), within(leave));
    let step = (last - cell).map(|c| if c == 0.0 { 0.0 } else { c.signum() });
    let mut out = Vec::new();
    out.extend(grid.index_within(cell));
    while cell != last {
        // The face that is met first, of those between here and the last cell.
        let meets = |axis: usize| {
            if cell[axis] == last[axis] {
                f64::INFINITY
            } else {
                (cell[axis] + 0.5 * step[axis] - a[axis]) / along[axis]
            }
        };
        let (x, y, z) = (meets(0), meets(1), meets(2));
        let axis = if x <= y && x <= z {
            0
        } else if y <= z {
            1
        } else {
            2
        };
        cell[axis] += step[axis];
        out.extend(grid.index_within(cell));
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::{VoxelGrid, VoxelOptions, primitives};
    use anim_math::Vec3;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_segment_walks_over_faces_and_holds_its_own_points(
            a in prop::array::uniform3(-1.0_f32..1.0), b in prop::array::uniform3(-1.0_f32..1.0), t in 0.0_f32..1.0,
        ) {
            let cube = primitives::cuboid(Vec3::repeat(1.0));
            let grid = VoxelGrid::new(&cube, &VoxelOptions { resolution: 15 }).unwrap();
            let (a, b) = (Vec3::from(a), Vec3::from(b));
            let cells = grid.cells_on_segment(a, b);
            prop_assert_eq!(Some(cells[0]), grid.index_of(a));
            prop_assert_eq!(cells.last().copied(), grid.index_of(b));
            for pair in cells.windows(2) {
                prop_assert!(grid.face_neighbors(pair[0]).contains(&Some(pair[1])));
            }
            let point = (a + (b - a) * t).map(f64::from);
            let near = |c: &[u32; 3]| (grid.center(*c) - point).amax() < 0.5 * grid.cell_size() + 1e-6;
            prop_assert!(cells.iter().any(near));
        }
    }

    #[test]
    fn far_ends_cost_nothing_and_a_miss_is_empty() {
        let cube = primitives::cuboid(Vec3::repeat(1.0));
        let grid = VoxelGrid::new(&cube, &VoxelOptions { resolution: 9 }).unwrap();
        let through = grid.cells_on_segment(Vec3::x() * -1e14, Vec3::x() * 1e14);
        assert_eq!(through.len(), 9);
        assert!(
            grid.cells_on_segment(Vec3::y() * 2.0, Vec3::new(1.0, 2.0, 0.0))
                .is_empty()
        );
        assert_eq!(
            grid.cells_on_segment(Vec3::zeros(), Vec3::zeros()),
            [[4, 4, 4]]
        );
    }
}
