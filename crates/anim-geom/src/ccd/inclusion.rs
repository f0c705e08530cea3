//! Tight inclusion: cuts the box of time and place on both features until what may hold an impact is small.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use nalgebra::Vector3;

use super::Features;

/// Boxes to look at before giving up.
const MAX_BOXES: u32 = 1 << 20;

/// A box of (time, place, place), each in [0, 1]; ordered so that the earliest comes out of a heap first.
#[derive(Clone, Copy, PartialEq)]
struct Cell {
    low: [f64; 3],
    size: [f64; 3],
}

impl Eq for Cell {}

impl Ord for Cell {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |cell: &Self| {
            [
                cell.low[0],
                cell.size[0],
                cell.low[1],
                cell.low[2],
                cell.size[1],
                cell.size[2],
            ]
        };
        let (a, b) = (key(self), key(other));
        let unequal = a
            .iter()
            .zip(&b)
            .map(|(a, b)| b.total_cmp(a))
            .find(|order| order.is_ne());
        unequal.unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// See [`Features::impact_interval`].
pub(super) fn impact_interval(
    features: Features,
    start: &[Vector3<f64>; 4],
    end: &[Vector3<f64>; 4],
    separation: f64,
    tolerance: f64,
) -> Option<[f64; 2]> {
    let largest = start
        .iter()
        .chain(end)
        .map(|p| p.amax())
        .fold(0.0, f64::max);
    // Each corner value is a sum of a dozen products of coordinates.
    let reach = separation.max(0.0) + 32.0 * f64::EPSILON * largest;
    let mut heap = BinaryHeap::from([Cell {
        low: [0.0; 3],
        size: [1.0; 3],
    }]);
    let mut looked = 0;
    while let Some(cell) = heap.pop() {
        let (low, high) = range(features, start, end, &cell);
        if low.max() > reach || high.min() < -reach {
            continue;
        }
        let in_triangle = features == Features::EdgeEdge || cell.low[1] + cell.low[2] <= 1.0;
        if !in_triangle {
            continue;
        }
        looked += 1;
        let is_small = (high - low).amax() <= reach.max(tolerance * 1e-3);
        if cell.size.iter().all(|s| *s <= tolerance) || is_small && cell.size[0] <= tolerance {
            return Some([cell.low[0], cell.low[0] + cell.size[0]]);
        }
        if looked > MAX_BOXES {
            return Some([cell.low[0], 1.0]);
        }
        let axis = (0..3)
            .max_by(|a, b| cell.size[*a].total_cmp(&cell.size[*b]))
            .unwrap_or(0);
        for half in 0..2 {
            let mut part = cell;
            part.size[axis] *= 0.5;
            part.low[axis] += part.size[axis] * f64::from(half);
            heap.push(part);
        }
    }
    None
}

/// Bounds of the way from the second feature to the first over a cell: it is linear in each of the three coordinates, so
/// the corners bound it.
fn range(
    features: Features,
    start: &[Vector3<f64>; 4],
    end: &[Vector3<f64>; 4],
    cell: &Cell,
) -> (Vector3<f64>, Vector3<f64>) {
    let (mut low, mut high) = (
        Vector3::repeat(f64::INFINITY),
        Vector3::repeat(f64::NEG_INFINITY),
    );
    for corner in 0..8 {
        let [t, u, v] = [0, 1, 2].map(|i: usize| {
            cell.low[i]
                + if corner >> i & 1 == 1 {
                    cell.size[i]
                } else {
                    0.0
                }
        });
        let [a, b, c, d]: [Vector3<f64>; 4] =
            std::array::from_fn(|i| start[i] * (1.0 - t) + end[i] * t);
        let way = match features {
            Features::PointTriangle => a - (b + (c - b) * u + (d - b) * v),
            Features::EdgeEdge => a + (b - a) * u - (c + (d - c) * v),
        };
        low = low.inf(&way);
        high = high.sup(&way);
    }
    (low, high)
}
