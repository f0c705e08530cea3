//! Which cells a surface encloses: by signed crossings of lines along x if it is closed, else by winding numbers.
//!
//! A closed surface crosses every line as often inward as outward. Each triangle is counted through its edges: one that
//! spans the line's height adds its direction if the line passes on its left. Two triangles see their common edge from
//! opposite sides and with the same answer, so the sum over a line is 0 in spite of every rounding.

use anim_math::Vec3;
use anim_math::nalgebra::Vector3;

use super::{Cell, VoxelGrid};
use crate::topology::{is_closed, weld};
use crate::winding::WindingNumber;
use crate::{GeomError, Mesh, chunks};

/// Marks what is inside and not on the boundary.
pub(super) fn fill(
    grid: &mut VoxelGrid,
    mesh: &Mesh,
    triangles: &[[Vector3<f64>; 3]],
) -> Result<(), GeomError> {
    let welded = weld(&mesh.rest.positions);
    let named: Vec<[u32; 3]> = mesh
        .triangles
        .iter()
        .map(|triangle| triangle.map(|v| welded[v as usize]))
        .collect();
    if is_closed(&named) {
        fill_closed(grid, triangles);
        Ok(())
    } else {
        fill_open(grid, &WindingNumber::new(mesh)?);
        Ok(())
    }
}

fn fill_open(grid: &mut VoxelGrid, winding: &WindingNumber) {
    let mut cells = std::mem::take(&mut grid.cells);
    let shape: &VoxelGrid = grid;
    chunks::for_each_mut(&mut cells, |first, chunk| {
        for (place, cell) in (first..).zip(chunk) {
            let center: Vec3 = shape.center(shape.index_at(place)).map(|c| c as f32);
            if *cell == Cell::Outside && winding.at(center).abs() > 0.5 {
                *cell = Cell::Inside;
            }
        }
    });
    grid.cells = cells;
}

fn fill_closed(grid: &mut VoxelGrid, triangles: &[[Vector3<f64>; 3]]) {
    let [nx, ny, nz] = grid.size;
    let half = grid.size.map(|n| f64::from(n / 2));
    // Line, first cell behind the crossing, and its sign.
    let mut crossings: Vec<(u32, u32, i32)> = Vec::new();
    for corners in triangles {
        let rows = |axis: usize, count: u32| {
            let [a, b, c] = corners.map(|corner| corner[axis]);
            let first = (a.min(b).min(c) + half[axis]).ceil().max(0.0) as u32;
            let end = (a.max(b).max(c) + half[axis]).floor().max(-1.0) + 1.0;
            first..(end as u32).min(count)
        };
        for z in rows(2, nz) {
            for y in rows(1, ny) {
                let line = [f64::from(y) - half[1], f64::from(z) - half[2]];
                let turns = turns(corners, line);
                if turns != 0 {
                    let behind = (depth(corners, line) + half[0]).ceil();
                    crossings.push((z * ny + y, behind.clamp(0.0, f64::from(nx)) as u32, turns));
                }
            }
        }
    }
    crossings.sort_unstable();
    for on_line in crossings.chunk_by(|a, b| a.0 == b.0) {
        let mut depth = 0;
        for pair in on_line.windows(2) {
            let [(line, from, sign), (_, to, _)] = [pair[0], pair[1]];
            depth += sign;
            if depth != 0 {
                let start = line as usize * nx as usize;
                let between = &mut grid.cells[start + from as usize..start + to as usize];
                for cell in between.iter_mut().filter(|cell| **cell == Cell::Outside) {
                    *cell = Cell::Inside;
                }
            }
        }
    }
}

/// How often a triangle, seen along x, goes round a line: 1, −1 or 0.
fn turns(corners: &[Vector3<f64>; 3], [y, z]: [f64; 2]) -> i32 {
    (0..3)
        .map(|side| {
            let (from, to) = (corners[side], corners[(side + 1) % 3]);
            let (low, high, sign) = match (from.z <= z, to.z <= z) {
                (true, false) => (from, to, 1),
                (false, true) => (to, from, -1),
                _ => return 0,
            };
            let left = (high.y - low.y) * (z - low.z) - (y - low.y) * (high.z - low.z);
            if left > 0.0 { sign } else { 0 }
        })
        .sum()
}

/// Where a line along x meets a triangle's plane, within the triangle's own range.
fn depth(corners: &[Vector3<f64>; 3], [y, z]: [f64; 2]) -> f64 {
    let [a, b, c] = corners;
    let normal = (b - a).cross(&(c - a));
    let (low, high) = (a.x.min(b.x).min(c.x), a.x.max(b.x).max(c.x));
    let depth = a.x - ((y - a.y) * normal.y + (z - a.z) * normal.z) / normal.x;
    // Seen edge on, the whole range is boundary and any place in it will do.
    if depth.is_finite() {
        depth.clamp(low, high)
    } else {
        low
    }
}

#[cfg(test)]
mod tests {
    use crate::{Cell, VoxelGrid, VoxelOptions, primitives};
    use anim_math::Vec3;

    fn grid(mesh: &crate::Mesh, resolution: u32) -> VoxelGrid {
        VoxelGrid::new(mesh, &VoxelOptions { resolution }).unwrap()
    }

    #[test]
    fn crossings_and_winding_numbers_agree_on_closed_surfaces() {
        for mesh in [
            primitives::sphere(1.0, 24, 12),
            primitives::cuboid(Vec3::new(1.0, 0.7, 0.3)),
            primitives::capsule(0.4, 1.0, 20, 8),
        ] {
            let by_crossings = grid(&mesh, 25);
            let mut by_winding = by_crossings.clone();
            for cell in &mut by_winding.cells {
                if *cell == Cell::Inside {
                    *cell = Cell::Outside;
                }
            }
            super::fill_open(&mut by_winding, &crate::WindingNumber::new(&mesh).unwrap());
            assert_eq!(by_crossings.cells, by_winding.cells);
        }
    }

    #[test]
    fn a_sphere_has_its_volume_and_an_inverted_one_too() {
        let mut sphere = primitives::sphere(1.0, 48, 24);
        let solid = grid(&sphere, 41);
        let count = |kind| solid.cells().iter().filter(|c| **c == kind).count() as f64;
        let cell = solid.cell_size().powi(3);
        let volume = 4.0 / 3.0 * std::f64::consts::PI;
        assert!(count(Cell::Inside) * cell < volume);
        assert!((count(Cell::Inside) + count(Cell::Boundary)) * cell > volume);
        for triangle in &mut sphere.triangles {
            triangle.swap(1, 2);
        }
        assert_eq!(grid(&sphere, 41).cells, solid.cells);
    }

    #[test]
    fn a_tube_without_ends_is_solid_all_the_same() {
        let tube = grid(&primitives::tube(0.5, 2.0, 24, 8), 41);
        let middle = tube.index_of(Vec3::zeros()).unwrap();
        assert_eq!(tube.cell(middle), Cell::Inside);
    }
}
