//! A solid made of cubes: which cells of a grid a surface passes through, and which it encloses.
//!
//! Distances through a body, lattices to solve on and inside tests all want a volume where files give a surface. A cell
//! is on the boundary if a triangle touches it, exactly. Inside a closed surface the signed crossings of a line decide,
//! summed so that they cancel edge by edge whatever the rounding; a surface that is not closed has no such count, so
//! there a [winding number](crate::winding) beyond a half does. Either sign counts: a mesh turned inside out is as solid.
//!
//! The grid is centred on the surface's own box and odd along every axis, so that mirrored meshes get mirrored cells.
//!
//! ```
//! use anim_geom::{Cell, VoxelGrid, VoxelOptions, primitives};
//! use anim_math::Vec3;
//!
//! let grid = VoxelGrid::new(&primitives::sphere(1.0, 32, 16), &VoxelOptions { resolution: 33 })?;
//! let cell = grid.index_of(Vec3::zeros()).unwrap_or_default();
//! assert_eq!(grid.cell(cell), Cell::Inside);
//! assert_eq!(grid.cell([0, 0, 0]), Cell::Outside);
//! # Ok::<(), anim_geom::GeomError>(())
//! ```

mod boundary;
mod interior;
mod segment;

use anim_math::Vec3;
use anim_math::nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::mesh_bvh::LARGEST;
use crate::{GeomError, Mesh};

/// Cells of the largest grid: a byte each.
const MOST_CELLS: u64 = 1 << 28;

/// How a grid is laid over a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoxelOptions {
    /// Cells along the longest side of the mesh's box; raised to an odd number of at least 3.
    pub resolution: u32,
}

impl Default for VoxelOptions {
    fn default() -> Self {
        Self { resolution: 129 }
    }
}

/// Where a cell lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    /// Beyond the surface.
    #[default]
    Outside,
    /// Touched by a triangle.
    Boundary,
    /// Enclosed, and touched by none.
    Inside,
}

/// Cubic cells over the box of a mesh; immutable. A byte a cell.
#[derive(Clone, Debug)]
pub struct VoxelGrid {
    center: Vector3<f64>,
    cell_size: f64,
    size: [u32; 3],
    /// x fastest.
    cells: Vec<Cell>,
}

impl VoxelGrid {
    /// Makes a solid of the triangles of `mesh`, whatever they are: closed, open, or a soup.
    ///
    /// Vertices that no triangle names do not count. O(cells + F) if the mesh is closed, else a winding number a cell that
    /// is not on the boundary.
    ///
    /// Source: boundary by the separating axes of Akenine-Möller, "Fast 3D triangle-box overlap testing", JGT 6(1), 2001.
    ///
    /// # Errors
    ///
    /// What [`Mesh::check`] finds; [`GeomError::TooFar`] for a coordinate beyond 10¹⁵ m; [`GeomError::Empty`] without
    /// triangles; [`GeomError::TooManyCells`] beyond 2²⁸ cells.
    pub fn new(mesh: &Mesh, options: &VoxelOptions) -> Result<Self, GeomError> {
        mesh.check()?;
        let positions = &mesh.rest.positions;
        if let Some(vertex) = positions.iter().position(|p| p.amax() > LARGEST) {
            return Err(GeomError::TooFar { vertex });
        }
        if mesh.triangles.is_empty() {
            return Err(GeomError::Empty("triangles"));
        }
        let corner = |v: u32| positions[v as usize].map(f64::from);
        let first = corner(mesh.triangles[0][0]);
        let (low, high) = mesh
            .triangles
            .iter()
            .flatten()
            .map(|v| corner(*v))
            .fold((first, first), |(low, high), p| (low.inf(&p), high.sup(&p)));
        let longest_cells = u64::from(options.resolution.max(3)) | 1;
        let longest = (high - low).max();
        // The outermost vertices lie in the middle of the outermost cells.
        let cell_size = if longest > 0.0 {
            longest / (longest_cells - 1) as f64
        } else {
            1.0
        };
        // Half the cells on either side of the middle one; a hair less, so that the longest side rounds to its own number.
        let size: [u64; 3] = (high - low)
            .map(|side| 2 * ((side / cell_size * 0.5 - 1e-9).max(0.0).ceil() as u64) + 1)
            .into();
        if longest_cells > 1 << 16 || size.iter().product::<u64>() > MOST_CELLS {
            return Err(GeomError::TooManyCells { size });
        }
        let mut grid = Self {
            center: (low + high) * 0.5,
            cell_size,
            size: size.map(|n| n as u32),
            cells: vec![Cell::Outside; size.iter().product::<u64>() as usize],
        };
        let corners: Vec<_> = mesh
            .triangles
            .iter()
            .map(|triangle| triangle.map(|v| (corner(v) - grid.center) / cell_size))
            .collect();
        boundary::mark(&mut grid, &corners);
        interior::fill(&mut grid, mesh, &corners)?;
        Ok(grid)
    }

    /// The lowest corner of the lowest cell, in the mesh's space.
    pub fn origin(&self) -> Vector3<f64> {
        let half = self.size.map(|n| f64::from(n) * 0.5 * self.cell_size);
        self.center - Vector3::from(half)
    }

    /// The side of a cell, metres.
    pub fn cell_size(&self) -> f64 {
        self.cell_size
    }

    /// Number of cells along x, y and z, all odd.
    pub fn size(&self) -> [u32; 3] {
        self.size
    }

    /// Number of cells.
    pub fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// Where the cell at `index` lies.
    ///
    /// # Panics
    ///
    /// If the grid has no such cell, here and below.
    pub fn cell(&self, index: [u32; 3]) -> Cell {
        self.cells[self.linear(index)]
    }

    /// All cells, x fastest, then y, then z.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The place of a cell in [`cells`](Self::cells).
    pub fn linear(&self, [x, y, z]: [u32; 3]) -> usize {
        let [nx, ny, _] = self.size.map(|n| n as usize);
        (z as usize * ny + y as usize) * nx + x as usize
    }

    /// The index of the cell at a place in [`cells`](Self::cells).
    pub fn index_at(&self, linear: usize) -> [u32; 3] {
        let [nx, ny, _] = self.size.map(|n| n as usize);
        [linear % nx, linear / nx % ny, linear / nx / ny].map(|n| n as u32)
    }

    /// The middle of a cell, in the mesh's space.
    pub fn center(&self, index: [u32; 3]) -> Vector3<f64> {
        self.center + self.middle(index) * self.cell_size
    }

    /// The cell that holds `point`, or `None` beyond the grid and for a point that is not finite.
    pub fn index_of(&self, point: Vec3) -> Option<[u32; 3]> {
        self.index_within(self.to_cells(point))
    }

    /// The six cells that share a face with one, −x, +x, −y, +y, −z, +z; `None` beyond the grid.
    pub fn face_neighbors(&self, index: [u32; 3]) -> [Option<[u32; 3]>; 6] {
        std::array::from_fn(|side| {
            let mut neighbor = index;
            let along = &mut neighbor[side / 2];
            *along = if side % 2 == 0 {
                along.checked_sub(1)?
            } else {
                *along + 1
            };
            (*along < self.size[side / 2]).then_some(neighbor)
        })
    }

    /// The up to 26 cells that share a face, an edge or a corner with one, x fastest.
    pub fn neighbors(&self, index: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
        let size = self.size;
        (0..27)
            .filter(|step| *step != 13)
            .filter_map(move |step: i64| {
                let steps = [step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1];
                let moved: [i64; 3] = std::array::from_fn(|a| i64::from(index[a]) + steps[a]);
                let inside = (0..3).all(|a| moved[a] >= 0 && moved[a] < i64::from(size[a]));
                inside.then(|| moved.map(|n| n as u32))
            })
    }

    /// The cells that the segment from `a` to `b` passes, in its order; none where it is beyond the grid.
    ///
    /// Where it passes exactly through an edge or corner, it steps along x before y before z.
    ///
    /// Source: Amanatides and Woo, "A fast voxel traversal algorithm for ray tracing", Eurographics 1987.
    pub fn cells_on_segment(&self, a: Vec3, b: Vec3) -> Vec<[u32; 3]> {
        segment::cells(self, self.to_cells(a), self.to_cells(b))
    }

    /// A point relative to the grid's centre, in cells.
    fn to_cells(&self, point: Vec3) -> Vector3<f64> {
        (point.map(f64::from) - self.center) / self.cell_size
    }

    /// The middle of a cell relative to the grid's centre, in cells: whole numbers.
    fn middle(&self, index: [u32; 3]) -> Vector3<f64> {
        Vector3::from_fn(|a, _| f64::from(index[a]) - f64::from(self.size[a] / 2))
    }

    /// The cell at a point in cells; halves go outward, so that mirrored points get mirrored cells.
    fn index_within(&self, point: Vector3<f64>) -> Option<[u32; 3]> {
        let index = Vector3::from_fn(|a, _| point[a].round() + f64::from(self.size[a] / 2));
        let inside = (0..3).all(|a| index[a] >= 0.0 && index[a] < f64::from(self.size[a]));
        inside.then(|| index.map(|n| n as u32).into())
    }
}
