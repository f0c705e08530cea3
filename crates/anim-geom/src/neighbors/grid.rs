//! A uniform grid in space that repeats itself, filled by counting sort.
//!
//! Cells are a little wider than the radius and numbered modulo a power of two along each axis, as many as the points
//! need and never more than twice their number: where the points fit, this is a plain dense grid, and a particle far
//! astray shares the cell of another instead of costing memory or crowding everything else into one cell. Neighbouring
//! cells stay distinct, so no point is visited twice, and runs along x are contiguous in memory.

use anim_math::Vec3;

use super::{distance_squared, is_finite};

/// Marks a point that is in no cell.
const NOWHERE: u32 = u32::MAX;
/// Widens cells and queries, so that rounding never moves a neighbour two cells away.
const GUARD: f64 = 1.0 + 1.0 / 4096.0;

/// A point in cell order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) position: [f32; 3],
    pub(super) index: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// Points, sorted by cell, ascending within a cell.
    entries: Vec<Entry>,
    /// For each cell, its first entry; one more for the end.
    starts: Vec<u32>,
    /// The cell of each point; scratch.
    cells: Vec<u32>,
    origin: [f64; 3],
    cells_per_metre: f64,
    /// Cells along each axis: powers of two.
    shape: [u32; 3],
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            starts: vec![0; 2],
            cells: Vec::new(),
            origin: [0.0; 3],
            cells_per_metre: 0.0,
            shape: [1; 3],
        }
    }
}

impl Grid {
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn rebuild(&mut self, points: &[Vec3], radius: f32) {
        let usable = radius > 0.0;
        let finite = points.iter().filter(|p| usable && is_finite(**p));
        let (mut count, mut low, mut high) = (0, Vec3::repeat(f32::MAX), Vec3::repeat(f32::MIN));
        for point in finite {
            count += 1;
            low = low.inf(point);
            high = high.sup(point);
        }
        self.entries.clear();
        self.cells.clear();
        self.cells_per_metre = if usable {
            1.0 / (f64::from(radius) * GUARD)
        } else {
            0.0
        };
        self.shape = [1; 3];
        self.origin = low.map(f64::from).into();
        if count > 0 {
            let extent: [f64; 3] = (high.map(f64::from) - low.map(f64::from)).into();
            self.shape = shape(extent.map(|e| e * self.cells_per_metre), 2 * count);
        }
        self.starts.clear();
        self.starts
            .resize(self.shape.iter().product::<u32>() as usize + 1, 0);
        if count == 0 {
            return;
        }
        for point in points {
            let cell = if is_finite(*point) {
                self.cell(*point)
            } else {
                NOWHERE
            };
            self.cells.push(cell);
            if cell != NOWHERE {
                self.starts[cell as usize] += 1;
            }
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        // Filling each cell from its end, last point first, leaves `starts` at the first entry of each.
        let nothing = Entry {
            position: [0.0; 3],
            index: NOWHERE,
        };
        self.entries.resize(count, nothing);
        for (index, (point, &cell)) in points.iter().zip(&self.cells).enumerate().rev() {
            if cell != NOWHERE {
                let slot = &mut self.starts[cell as usize];
                *slot -= 1;
                self.entries[*slot as usize] = Entry {
                    position: (*point).into(),
                    index: index as u32,
                };
            }
        }
    }

    pub(super) fn within(&self, center: Vec3, radius: f32, mut visit: impl FnMut(u32)) {
        let radius_squared = radius * radius;
        let reach = f64::from(radius) * GUARD;
        let [x, y, z] = [0, 1, 2].map(|axis| self.run(axis, f64::from(center[axis]), reach));
        let [nx, ny, _] = self.shape;
        // A run that passes the last cell of its row goes on at the first.
        let straight = x.count.min(nx - x.first);
        let pieces = [(x.first, straight), (0, x.count - straight)];
        for z in z.cells() {
            for y in y.cells() {
                let row = (z * ny + y) * nx;
                for (first, count) in pieces {
                    let cell = (row + first) as usize;
                    let range =
                        self.starts[cell] as usize..self.starts[cell + count as usize] as usize;
                    for entry in &self.entries[range] {
                        if distance_squared(entry.position, center) <= radius_squared {
                            visit(entry.index);
                        }
                    }
                }
            }
        }
    }

    /// The cell that holds `point`.
    fn cell(&self, point: Vec3) -> u32 {
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let number = self.number(axis, f64::from(point[axis]));
            number as u32 & (self.shape[axis] - 1)
        });
        (z * self.shape[1] + y) * self.shape[0] + x
    }

    /// The unbounded number of a cell along one axis. In f64: at 2²⁴ cells from the origin f32 would be off by one.
    fn number(&self, axis: usize, coordinate: f64) -> i64 {
        let scaled = (coordinate - self.origin[axis]) * self.cells_per_metre;
        // `floor` is a library call on machines without its instruction.
        let truncated = scaled as i64;
        truncated.saturating_sub(i64::from(truncated as f64 > scaled))
    }

    /// The cells along one axis that `center` ± `reach` touches, each once.
    fn run(&self, axis: usize, center: f64, reach: f64) -> Run {
        let shape = self.shape[axis];
        let first = self.number(axis, center - reach);
        let last = self.number(axis, center + reach);
        let count = last.saturating_sub(first).saturating_add(1);
        Run {
            first: first as u32 & (shape - 1),
            count: count.clamp(0, i64::from(shape)) as u32,
            shape,
        }
    }
}

/// Consecutive cells along one axis, modulo its length.
#[derive(Clone, Copy)]
struct Run {
    first: u32,
    count: u32,
    shape: u32,
}

impl Run {
    fn cells(self) -> impl Iterator<Item = u32> {
        (self.first..self.first + self.count).map(move |cell| cell & (self.shape - 1))
    }
}

/// Cells along each axis for points that span `spans` cells: powers of two whose product is at most about `budget`.
fn shape(spans: [f64; 3], budget: usize) -> [u32; 3] {
    let budget = budget.clamp(1, 1 << 26) as u64;
    let mut shape = spans.map(|span| ((span + 1.0).min(budget as f64) as u64).next_power_of_two());
    while shape.iter().product::<u64>() > budget.next_power_of_two() {
        let largest = if shape[0] >= shape[1] && shape[0] >= shape[2] {
            0
        } else if shape[1] >= shape[2] {
            1
        } else {
            2
        };
        shape[largest] /= 2;
    }
    shape.map(|cells| cells as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_worlds_apart_cost_a_handful_of_cells() {
        let points = [Vec3::repeat(-1.0e9), Vec3::repeat(1.0e9)];
        let mut grid = Grid::default();
        grid.rebuild(&points, 1.0e-3);
        assert!(grid.starts.len() <= 5);
    }

    #[test]
    fn a_stray_particle_does_not_crowd_the_others() {
        let mut points: Vec<Vec3> = (0..8000)
            .map(|i| Vec3::new((i % 20) as f32, (i / 20 % 20) as f32, (i / 400) as f32))
            .collect();
        points.push(Vec3::repeat(1.0e12));
        let mut grid = Grid::default();
        grid.rebuild(&points, 1.0);
        let fullest = grid.starts.windows(2).map(|w| w[1] - w[0]).max();
        // Two points an axis where a coordinate falls on a border, twice for the axis that wraps.
        assert!(fullest <= Some(16), "{fullest:?}");
    }

    #[test]
    fn neighbours_come_in_ascending_order_within_a_cell() {
        let points = [Vec3::repeat(0.5); 50];
        let mut grid = Grid::default();
        grid.rebuild(&points, 1.0);
        let mut found = Vec::new();
        grid.within(points[0], 1.0, |i| found.push(i));
        assert!(found.iter().copied().eq(0..50));
    }

    #[test]
    fn rebuilding_keeps_the_buffers() {
        let points: Vec<Vec3> = (0..1000).map(|i| Vec3::repeat(i as f32 * 0.01)).collect();
        let mut grid = Grid::default();
        grid.rebuild(&points, 0.1);
        let before = (
            grid.entries.as_ptr(),
            grid.starts.as_ptr(),
            grid.cells.as_ptr(),
        );
        for _ in 0..3 {
            grid.rebuild(&points, 0.1);
            assert_eq!(
                before,
                (
                    grid.entries.as_ptr(),
                    grid.starts.as_ptr(),
                    grid.cells.as_ptr()
                )
            );
        }
    }
}
