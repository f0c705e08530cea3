//! A solid as a graph of cells, and distances that run through it.
//!
//! Distances solve |∇d| = 1 by first-order upwind differences over the six face neighbours: unlike sums of steps along
//! edges and diagonals they converge to the true distance, and cells that touch at an edge only do not leak.

use anim_geom::{Cell, Neighbors, VoxelGrid};
use anim_math::Vec3;
use anim_math::nalgebra::Vector3;

/// Width of a bucket of the queue, in cells.
const BUCKET: f32 = 0.5;

/// Buckets at most: what is farther shares the last, so that a source far astray costs no memory.
const MOST_BUCKETS: usize = 1 << 16;

/// Cells that are not outside, with what they touch.
#[derive(Debug)]
pub(super) struct Solid {
    /// Index in the grid.
    pub(super) cells: Vec<[u32; 3]>,
    /// The neighbours over −x, +x, −y, +y, −z, +z; the number of cells where there is none.
    pub(super) sides: Vec<[u32; 6]>,
    /// Which part of the solid a cell belongs to: cells joined over faces.
    pub(super) parts: Vec<u32>,
    /// Bridges from parts with bones to parts without: from, to, length in cells; sorted.
    bridges: Vec<(u32, u32, f32)>,
    /// The first cell of each row of the grid along x, and the number of cells after the last: cells are sorted.
    rows: Vec<u32>,
    /// Rows of a layer of the grid.
    layer: usize,
}

impl Solid {
    pub(super) fn new(grid: &VoxelGrid) -> Self {
        let [nx, ny, _] = grid.size().map(|n| n as usize);
        let mut cells = Vec::new();
        let mut rows = vec![0];
        for (row, along) in grid.cells().chunks_exact(nx).enumerate() {
            let solid = (0..).zip(along).filter(|(_, c)| **c != Cell::Outside);
            cells.extend(solid.map(|(x, _)| [x, (row % ny) as u32, (row / ny) as u32]));
            rows.push(cells.len() as u32);
        }
        let none = cells.len() as u32;
        let mut solid = Self {
            cells,
            sides: Vec::new(),
            parts: Vec::new(),
            bridges: Vec::new(),
            rows,
            layer: ny,
        };
        let side = |neighbor: Option<[u32; 3]>| {
            let cell = neighbor.and_then(|index| solid.cell_at(index));
            cell.unwrap_or(none)
        };
        let sides: Vec<[u32; 6]> = solid
            .cells
            .iter()
            .map(|index| grid.face_neighbors(*index).map(side))
            .collect();
        let mut parts = vec![u32::MAX; sides.len()];
        let mut open = Vec::new();
        let mut part = 0;
        for cell in 0..sides.len() {
            if parts[cell] != u32::MAX {
                continue;
            }
            parts[cell] = part;
            open.push(cell as u32);
            while let Some(cell) = open.pop() {
                for neighbor in sides[cell as usize] {
                    if neighbor != none && parts[neighbor as usize] == u32::MAX {
                        parts[neighbor as usize] = part;
                        open.push(neighbor);
                    }
                }
            }
            part += 1;
        }
        solid.sides = sides;
        solid.parts = parts;
        solid
    }

    /// The solid cell at an index of the grid.
    pub(super) fn cell_at(&self, [x, y, z]: [u32; 3]) -> Option<u32> {
        let row = z as usize * self.layer + y as usize;
        let first = self.rows[row];
        let along = &self.cells[first as usize..self.rows[row + 1] as usize];
        let place = along.binary_search_by_key(&x, |cell| cell[0]).ok()?;
        Some(first + place as u32)
    }

    /// Joins every part for which `anchored` is false to the anchored ones where they are closest; ties all count.
    pub(super) fn bridge(&mut self, anchored: &[bool]) {
        let place = |cell: usize| Vec3::from(self.cells[cell].map(|c| c as f32));
        let (inside, outside): (Vec<usize>, Vec<usize>) =
            (0..self.cells.len()).partition(|cell| anchored[self.parts[*cell] as usize]);
        if outside.is_empty() {
            return;
        }
        let points: Vec<Vec3> = inside.iter().map(|cell| place(*cell)).collect();
        let mut tree = Neighbors::default();
        tree.rebuild_tree(&points, 1.0);
        let mut shortest = vec![f32::INFINITY; anchored.len()];
        let mut found = Vec::new();
        let mut gaps = Vec::with_capacity(outside.len());
        for cell in &outside {
            tree.k_nearest(place(*cell), 1, &mut found);
            let gap = found.first().map_or(f32::INFINITY, |nearest| {
                (points[*nearest as usize] - place(*cell)).norm()
            });
            let shortest = &mut shortest[self.parts[*cell] as usize];
            *shortest = shortest.min(gap);
            gaps.push(gap);
        }
        let mut bridges = Vec::new();
        for (cell, gap) in outside.iter().zip(gaps) {
            if gap <= shortest[self.parts[*cell] as usize] {
                tree.within_radius(place(*cell), gap * 1.000_01, |from| {
                    bridges.push((inside[from as usize] as u32, *cell as u32, gap));
                });
            }
        }
        bridges.sort_unstable_by_key(|(from, to, _)| (*from, *to));
        self.bridges = bridges;
    }

    /// The distance of every cell from the nearest of `sources`, in cells; infinite where none leads.
    ///
    /// Whatever improves a cell puts it back into its bucket, so the result solves the difference equations and does not
    /// depend on the width of buckets. The entry past the last cell is infinite.
    ///
    /// Source: Sethian, "A fast marching level set method for monotonically advancing fronts", PNAS 93, 1996; buckets
    /// as in Yatziv, Bartesaghi, Sapiro, "O(N) implementation of the fast marching algorithm", JCP 212, 2006.
    pub(super) fn distances(&self, sources: &[(u32, f32)]) -> Vec<f32> {
        let none = self.cells.len();
        let mut distances = vec![f32::INFINITY; none + 1];
        let base = sources.iter().map(|s| s.1).fold(f32::INFINITY, f32::min);
        let mut buckets: Vec<Vec<(u32, f32)>> = Vec::new();
        let push = |buckets: &mut Vec<Vec<(u32, f32)>>, least: usize, cell: u32, value: f32| {
            let bucket = (((value - base) / BUCKET) as usize)
                .min(MOST_BUCKETS)
                .max(least);
            if bucket >= buckets.len() {
                buckets.resize_with(bucket + 1, Vec::new);
            }
            buckets[bucket].push((cell, value));
        };
        for (cell, value) in sources {
            if *value < distances[*cell as usize] {
                distances[*cell as usize] = *value;
                push(&mut buckets, 0, *cell, *value);
            }
        }
        let mut bucket = 0;
        while bucket < buckets.len() {
            let mut next = 0;
            while let Some((cell, value)) = buckets[bucket].get(next).copied() {
                next += 1;
                if value > distances[cell as usize] {
                    continue;
                }
                for neighbor in self.sides[cell as usize] {
                    if neighbor as usize == none || distances[neighbor as usize] <= value {
                        continue;
                    }
                    let found =
                        upwind(self.sides[neighbor as usize].map(|s| distances[s as usize]));
                    if found < distances[neighbor as usize] {
                        distances[neighbor as usize] = found;
                        push(&mut buckets, bucket, neighbor, found);
                    }
                }
                let first = self.bridges.partition_point(|b| b.0 < cell);
                for (_, to, length) in self.bridges[first..].iter().take_while(|b| b.0 == cell) {
                    if value + length < distances[*to as usize] {
                        distances[*to as usize] = value + length;
                        push(&mut buckets, bucket, *to, value + length);
                    }
                }
            }
            buckets[bucket] = Vec::new();
            bucket += 1;
        }
        distances
    }

    /// Heat flow for a while, none of it over the solid's surface: a Gaussian of `deviation` cells that leaks nowhere.
    pub(super) fn smooth(&self, field: &mut Vec<f32>, deviation: f32) {
        // A pass adds 1/6 to the variance along each axis.
        let passes = (6.0 * deviation * deviation).ceil().clamp(0.0, 600.0) as usize;
        let mut smoothed = field.clone();
        for _ in 0..passes {
            for (cell, sides) in self.sides.iter().enumerate() {
                let here = field[cell];
                // In pairs, so that mirrored solids round alike.
                let flow = |s: u32| {
                    let there = field[s as usize];
                    if there.is_finite() { there - here } else { 0.0 }
                };
                let [x, y, z] = [0, 2, 4].map(|a| flow(sides[a]) + flow(sides[a + 1]));
                smoothed[cell] = here + (x + y + z) / 12.0;
            }
            std::mem::swap(field, &mut smoothed);
        }
    }

    /// A field at a point `offset` (in cells) from the middle of a cell, to first order by neighbours in the solid.
    pub(super) fn sample(&self, field: &[f32], cell: u32, offset: Vector3<f64>) -> f32 {
        let here = field[cell as usize];
        let sides = self.sides[cell as usize].map(|s| field[s as usize]);
        let slope = |axis: usize| -> f32 {
            let (before, after) = (sides[2 * axis], sides[2 * axis + 1]);
            match (before.is_finite(), after.is_finite()) {
                (true, true) => 0.5 * (after - before),
                (true, false) => here - before,
                (false, true) => after - here,
                (false, false) => 0.0,
            }
        };
        let [x, y, z] = [0, 1, 2].map(|axis| slope(axis) * offset[axis] as f32);
        (here + x + y + z).max(0.0)
    }
}

/// The solution of Σ (d − dᵢ)² = 1 over the axes whose neighbour dᵢ is below d.
#[inline]
fn upwind(sides: [f32; 6]) -> f32 {
    let axes = [0, 2, 4].map(|a| sides[a].min(sides[a + 1]));
    let (low, high) = (axes[0].min(axes[1]), axes[0].max(axes[1]));
    let (a, b, c) = (
        low.min(axes[2]),
        low.max(axes[2].min(high)),
        high.max(axes[2]),
    );
    // Relative to the least, which keeps the digits far from the source.
    let (u, v) = (b - a, c - a);
    if u >= 1.0 || u.is_nan() {
        return a + 1.0;
    }
    let two = 0.5 * (u + (2.0 - u * u).sqrt());
    if v >= two {
        return a + two;
    }
    let sum = u + v;
    let discriminant = (sum * sum - 3.0 * (u * u + v * v - 1.0)).max(0.0);
    a + (sum + discriminant.sqrt()) / 3.0
}

#[cfg(test)]
mod tests {
    use anim_geom::{VoxelOptions, primitives};

    use super::*;

    #[test]
    fn every_cell_that_is_not_outside_is_found_and_no_other() {
        let options = VoxelOptions { resolution: 17 };
        let grid = VoxelGrid::new(&primitives::tube(0.3, 1.0, 16, 4), &options).unwrap();
        let solid = Solid::new(&grid);
        let mut next = 0;
        for place in 0..grid.cell_count() {
            let index = grid.index_at(place);
            let is_solid = grid.cell(index) != Cell::Outside;
            assert_eq!(solid.cell_at(index), is_solid.then_some(next));
            next += u32::from(is_solid);
        }
        assert_eq!(solid.cells.len(), next as usize);
    }
}
