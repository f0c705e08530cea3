//! Which cells a triangle touches: those that no axis separates from it.

use anim_math::nalgebra::Vector3;

use super::{Cell, VoxelGrid};

/// What touching may miss by: roundings of a grid of 2¹⁶ cells a side.
const TOUCH: f64 = 1e-9;

/// A direction along which a triangle and a cell may be apart: the cells whose middle projects within `reach` of `middle`
/// are not.
struct Slab {
    axis: Vector3<f64>,
    middle: f64,
    reach: f64,
}

/// Marks the cells that triangles touch, corners in cells about the grid's centre.
pub(super) fn mark(grid: &mut VoxelGrid, triangles: &[[Vector3<f64>; 3]]) {
    for corners in triangles {
        let slabs = slabs(corners);
        let [a, b, c] = corners;
        let (low, high) = (a.inf(b).inf(c), a.sup(b).sup(c));
        let range = |axis: usize| {
            let middle = f64::from(grid.size[axis] / 2);
            let last = f64::from(grid.size[axis] - 1);
            let first = (low[axis] - 0.5 - TOUCH + middle).ceil().clamp(0.0, last);
            let end = (high[axis] + 0.5 + TOUCH + middle).floor().clamp(0.0, last);
            first as u32..=end as u32
        };
        let [xs, ys, zs] = [range(0), range(1), range(2)];
        for z in zs {
            for y in ys.clone() {
                for x in xs.clone() {
                    let middle = grid.middle([x, y, z]);
                    let touches =
                        |slab: &Slab| (slab.axis.dot(&middle) - slab.middle).abs() <= slab.reach;
                    if slabs.iter().all(touches) {
                        let place = grid.linear([x, y, z]);
                        grid.cells[place] = Cell::Boundary;
                    }
                }
            }
        }
    }
}

/// The triangle's normal and the products of its edges with the axes; the axes themselves are the ranges of the loops.
fn slabs(corners: &[Vector3<f64>; 3]) -> [Slab; 10] {
    let [a, b, c] = corners;
    let edges = [b - a, c - b, a - c];
    std::array::from_fn(|index| {
        let axis = match index {
            0 => edges[0].cross(&edges[1]),
            _ => Vector3::ith((index - 1) % 3, 1.0).cross(&edges[(index - 1) / 3]),
        };
        let places = corners.map(|corner| axis.dot(&corner));
        let low = places[0].min(places[1]).min(places[2]);
        let high = places[0].max(places[1]).max(places[2]);
        let radius = 0.5 * axis.abs().sum();
        Slab {
            axis,
            middle: 0.5 * (low + high),
            reach: (0.5 * (high - low) + radius) * (1.0 + TOUCH) + axis.amax() * TOUCH,
        }
    })
}
