//! The solid of a mesh as nodes that share faces: the domain that bounded biharmonic weights are solved on.

use anim_geom::{Cell, Mesh, VoxelGrid, VoxelOptions};
use anim_math::Vec3;
use anim_math::nalgebra::Vector3;

use crate::SkinError;

/// No node.
const NONE: u32 = u32::MAX;
/// Cells along the longest side of the first try.
const FIRST_RESOLUTION: u32 = 33;

/// N nodes at the centres of the cells of a solid.
pub(super) struct Lattice {
    grid: VoxelGrid,
    /// For each node, its cell.
    cells: Vec<[u32; 3]>,
    /// For each cell of the grid, its node.
    node_of_cell: Vec<u32>,
}

impl Lattice {
    /// As fine as about `nodes` nodes allow.
    ///
    /// # Errors
    ///
    /// What [`VoxelGrid::new`] finds.
    pub(super) fn new(mesh: &Mesh, nodes: usize) -> Result<Self, SkinError> {
        let solid = |resolution| VoxelGrid::new(mesh, &VoxelOptions { resolution });
        let count = |grid: &VoxelGrid| grid.cells().iter().filter(|c| **c != Cell::Outside).count();
        let mut resolution = FIRST_RESOLUTION;
        let mut grid = solid(resolution)?;
        for _ in 0..3 {
            let ratio = nodes as f64 / count(&grid).max(1) as f64;
            // A step of two cells changes a solid's nodes by some 2 · 3 / 33.
            let next = (f64::from(resolution) * ratio.cbrt())
                .round()
                .clamp(3.0, 511.0) as u32
                | 1;
            if next == resolution || (0.85..1.15).contains(&ratio) {
                break;
            }
            resolution = next;
            grid = solid(resolution)?;
        }
        let mut node_of_cell = vec![NONE; grid.cell_count()];
        let mut cells = Vec::new();
        for (linear, cell) in grid.cells().iter().enumerate() {
            if *cell != Cell::Outside {
                node_of_cell[linear] = cells.len() as u32;
                cells.push(grid.index_at(linear));
            }
        }
        Ok(Self {
            grid,
            cells,
            node_of_cell,
        })
    }

    /// N.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Distance between nodes that share a face, metres.
    pub(super) fn spacing(&self) -> f64 {
        self.grid.cell_size()
    }

    /// Where a node is, in the mesh's space.
    pub(super) fn position(&self, node: usize) -> Vector3<f64> {
        self.grid.center(self.cells[node])
    }

    /// The nodes that share a face with one.
    pub(super) fn neighbors(&self, node: usize) -> impl Iterator<Item = usize> {
        let around = self
            .grid
            .face_neighbors(self.cells[node])
            .into_iter()
            .flatten();
        around.filter_map(|cell| self.node(cell))
    }

    /// The graph Laplacian of one column: Σ (wᵢ − wₖ) over the neighbours k of each node i; free at the boundary.
    pub(super) fn laplacian(&self, values: &[f64], out: &mut [f64]) {
        for (node, out) in out.iter_mut().enumerate() {
            *out = self.neighbors(node).map(|k| values[node] - values[k]).sum();
        }
    }

    /// For each node, which part of the solid it belongs to, and the number of parts.
    pub(super) fn parts(&self) -> (Vec<u32>, usize) {
        let mut labels = vec![NONE; self.len()];
        let mut count = 0;
        let mut stack = Vec::new();
        for start in 0..self.len() {
            if labels[start] != NONE {
                continue;
            }
            labels[start] = count;
            stack.push(start);
            while let Some(node) = stack.pop() {
                for next in self.neighbors(node) {
                    if labels[next] == NONE {
                        labels[next] = count;
                        stack.push(next);
                    }
                }
            }
            count += 1;
        }
        (labels, count as usize)
    }

    /// The nodes around `point` that hang together with its own, and their trilinear shares, which sum to 1.
    ///
    /// A point beyond the solid belongs to the nearest node.
    pub(super) fn around(&self, point: Vec3) -> Vec<(usize, f64)> {
        let own = self.grid.index_of(point);
        let Some(node) = own.and_then(|cell| self.node(cell)) else {
            return vec![(self.nearest(point.cast()), 1.0)];
        };
        let cell = self.cells[node];
        let offset = (point.cast::<f64>() - self.position(node)) / self.spacing();
        // The corners of the cube of eight centres, as bits of the axes along which they differ from the own cell.
        let corner = |bits: usize| -> Option<usize> {
            let mut index = cell;
            for axis in (0..3).filter(|axis| bits >> axis & 1 == 1) {
                index[axis] = if offset[axis] < 0.0 {
                    index[axis].checked_sub(1)?
                } else {
                    index[axis] + 1
                };
            }
            let is_inside = (0..3).all(|axis| index[axis] < self.grid.size()[axis]);
            is_inside.then(|| self.node(index)).flatten()
        };
        let corners: [Option<usize>; 8] = std::array::from_fn(corner);
        let mut is_joined = [false; 8];
        is_joined[0] = true;
        // No path in a cube is longer than seven edges.
        for _ in 0..7 {
            for bits in 1..8 {
                let reached = (0..3).any(|axis| is_joined[bits ^ 1 << axis]);
                is_joined[bits] |= reached && corners[bits].is_some();
            }
        }
        let share = |bits: usize| -> f64 {
            let along = |axis: usize| {
                let far = offset[axis].abs();
                if bits >> axis & 1 == 1 {
                    far
                } else {
                    1.0 - far
                }
            };
            (0..3).map(along).product()
        };
        let joined = || (0..8).filter(|bits| is_joined[*bits]);
        let total: f64 = joined().map(share).sum();
        let shares = joined().filter_map(|bits| Some((corners[bits]?, share(bits) / total)));
        shares.filter(|(_, share)| *share > 0.0).collect()
    }

    /// The node nearest to a point, the lowest of several.
    pub(super) fn nearest(&self, point: Vector3<f64>) -> usize {
        let distance = |node: usize| (self.position(node) - point).norm_squared();
        let nearest = (0..self.len()).min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
        nearest.unwrap_or(0)
    }

    fn node(&self, cell: [u32; 3]) -> Option<usize> {
        let node = self.node_of_cell[self.grid.linear(cell)];
        (node != NONE).then_some(node as usize)
    }
}
