//! Fills a surface with tetrahedra of guaranteed shape: isosurface stuffing.
//!
//! A body-centred cubic lattice is laid over the surface. Lattice points that lie too close to the surface are moved onto
//! it, which is what bounds the angles; the tetrahedra that it still cuts are then trimmed by stencils. Sizes are even,
//! no tetrahedron is flat, and it is fast and cannot fail where meshers that keep the given triangles do. The boundary is
//! a new surface: carry the given one along with an [`Embedding`](super::Embedding).

use anim_math::Vec3;
use anim_math::nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::lattice::right_handed;
use super::stencil::{Cut, Place};
use super::{TetMesh, manifold};
use crate::{GeomError, Mesh, MeshBvh, WindingNumber};

/// How densely a surface is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuffOptions {
    /// Cells of the lattice along the longest side of the surface's box, at least 1. A cell holds twelve tetrahedra.
    pub resolution: u32,
}

impl Default for StuffOptions {
    fn default() -> Self {
        Self { resolution: 16 }
    }
}

/// Cells of the largest lattice.
const MOST_CELLS: u64 = 1 << 26;

/// How close to a lattice point the surface may cut an edge, in parts of the edge, before the point moves onto it.
const ALPHA_LONG: f32 = 0.24999;
const ALPHA_SHORT: f32 = 0.41189;

/// Steps to a neighbour along an edge, in half cells; direction d ^ 1 is opposite to d. Long edges first.
const STEPS: [[i32; 3]; 14] = [
    [2, 0, 0],
    [-2, 0, 0],
    [0, 2, 0],
    [0, -2, 0],
    [0, 0, 2],
    [0, 0, -2],
    [1, 1, 1],
    [-1, -1, -1],
    [-1, 1, 1],
    [1, -1, -1],
    [1, -1, 1],
    [-1, 1, -1],
    [1, 1, -1],
    [-1, -1, 1],
];

/// Fills the inside of `surface`.
///
/// Every dihedral angle is at least 10.7° and at most 164.8°, and no tetrahedron is inverted. The boundary is a closed
/// manifold; if the surface is closed its vertices lie on it to 10⁻⁴ of a cell, and the volume is right to the second
/// order. Details smaller than a cell are rounded off or lost. Inside is where the [winding number](crate::winding) exceeds a half, of either sign: surfaces with
/// holes, doubled faces and parts that cross each other have an inside too. Vertices that no triangle names do not count.
///
/// Costs a distance and a winding number for each lattice point near the surface, for every one if it is not closed.
///
/// Source: Labelle and Shewchuk, "Isosurface stuffing: fast tetrahedral meshes with good dihedral angles", SIGGRAPH 2007,
/// with uniform cells, α = 0.24999 for long and 0.41189 for short edges.
///
/// # Errors
///
/// What [`MeshBvh::new`] finds; [`GeomError::TooManyCells`]; [`GeomError::Empty`] if the surface has no inside that holds
/// a lattice point.
pub fn stuff(surface: &Mesh, options: &StuffOptions) -> Result<TetMesh, GeomError> {
    let solid = Solid {
        winding: WindingNumber::new(surface)?,
        bvh: MeshBvh::new(surface)?,
    };
    let mut lattice = Lattice::over(surface, options.resolution.max(1))?;
    lattice.classify(&solid);
    lattice.cut(&solid);
    lattice.snap();
    let mut mesh = lattice.fill();
    manifold::separate(&mut mesh);
    if mesh.tets.is_empty() {
        return Err(GeomError::Empty(
            "tetrahedra inside the surface at this resolution",
        ));
    }
    Ok(mesh)
}

/// A surface that is asked for its inside.
struct Solid {
    winding: WindingNumber,
    bvh: MeshBvh,
}

impl Solid {
    fn contains(&self, point: Vec3) -> bool {
        self.winding.at(point).abs() > 0.5
    }

    /// Metres, positive inside.
    fn depth(&self, point: Vec3) -> f32 {
        let distance = self.bvh.nearest(point).distance.abs();
        if self.contains(point) {
            distance
        } else {
            -distance
        }
    }
}

/// A body-centred cubic lattice: the points of a grid of half cells whose coordinates are all even or all odd.
struct Lattice {
    /// Of half cell (0, 0, 0).
    origin: Vector3<f64>,
    /// Length of a long edge, metres.
    cell: f64,
    /// Cells along each axis.
    cells: [i32; 3],
    /// The even points, then the odd ones; the two outermost layers of both are outside.
    places: Vec<Place>,
    /// Where points went that moved onto the surface: index of the point, sorted.
    moved: Vec<(usize, Vec3)>,
    /// The cut edges: inner point · 14 + direction outwards, sorted.
    cuts: Vec<(usize, CutPoint)>,
}

#[derive(Clone, Copy)]
struct CutPoint {
    /// From the inner end, 0, to the outer, 1.
    fraction: f32,
    position: Vec3,
}

impl Lattice {
    fn over(surface: &Mesh, resolution: u32) -> Result<Self, GeomError> {
        let corners = surface.triangles.iter().flatten();
        let mut corners = corners.map(|v| surface.rest.positions[*v as usize].cast::<f64>());
        let first = corners.next().unwrap_or_default();
        let (low, high) =
            corners.fold((first, first), |(low, high), p| (low.inf(&p), high.sup(&p)));
        let cell = (high - low).max() / f64::from(resolution);
        // Two cells more on each side hold the points that are outside for certain.
        let size: [u64; 3] = (high - low)
            .map(|side| (side / cell - 1e-9).ceil().max(1.0) as u64 + 4)
            .into();
        if resolution > 1 << 16 || size.iter().product::<u64>() > MOST_CELLS {
            return Err(GeomError::TooManyCells { size });
        }
        let cells = size.map(|n| n as i32);
        let extent = Vector3::from(size.map(|n| n as f64)) * cell;
        let even: usize = size.iter().map(|n| *n as usize + 1).product();
        let odd: usize = size.iter().map(|n| *n as usize).product();
        Ok(Self {
            origin: (low + high - extent) * 0.5,
            cell,
            cells,
            places: vec![Place::Outside; even + odd],
            moved: Vec::new(),
            cuts: Vec::new(),
        })
    }

    /// The index of a point, given in half cells.
    fn index(&self, [x, y, z]: [i32; 3]) -> usize {
        let [nx, ny, nz] = self.cells.map(|n| n as usize);
        let [i, j, k] = [x, y, z].map(|c| (c / 2) as usize);
        if x % 2 == 0 {
            i + (nx + 1) * (j + (ny + 1) * k)
        } else {
            (nx + 1) * (ny + 1) * (nz + 1) + i + nx * (j + ny * k)
        }
    }

    fn position(&self, point: [i32; 3]) -> Vec3 {
        let half = self.cell * 0.5;
        (self.origin + Vector3::from(point.map(f64::from)) * half).cast()
    }

    /// Calls `visit` with every point but the outermost ones, in the order of their indices.
    fn for_each_inner(&mut self, mut visit: impl FnMut(&mut Self, [i32; 3])) {
        let [nx, ny, nz] = self.cells.map(|n| 2 * n - 1);
        for first in [2, 3] {
            for z in (first..nz).step_by(2) {
                for y in (first..ny).step_by(2) {
                    for x in (first..nx).step_by(2) {
                        visit(self, [x, y, z]);
                    }
                }
            }
        }
    }

    /// True in the two outermost layers.
    fn is_outermost(&self, point: [i32; 3]) -> bool {
        let mut coordinates = point.iter().zip(self.cells);
        coordinates.any(|(c, n)| *c < 4 || *c > 2 * n - 4)
    }

    /// Finds which points are inside.
    fn classify(&mut self, solid: &Solid) {
        let closed = solid.bvh.is_closed();
        let cell = self.cell as f32;
        // Along a row, what is nearer than the surface is on the same side of it.
        let mut known = (Place::Outside, 0);
        self.for_each_inner(|lattice, point| {
            let index = lattice.index(point);
            if point[0] <= 3 {
                known.1 = 0;
            }
            if known.1 == 0 {
                let position = lattice.position(point);
                let place = if solid.contains(position) {
                    Place::Inside
                } else {
                    Place::Outside
                };
                let reach = if closed {
                    solid.bvh.nearest(position).distance.abs() * 0.999 / cell
                } else {
                    0.0
                };
                known = (place, reach as u32);
            } else {
                known.1 -= 1;
            }
            let outermost = lattice.is_outermost(point);
            lattice.places[index] = if outermost { Place::Outside } else { known.0 };
        });
    }

    /// Finds where the surface cuts the edges from inside to outside.
    fn cut(&mut self, solid: &Solid) {
        self.for_each_inner(|lattice, point| {
            let index = lattice.index(point);
            if lattice.places[index] != Place::Inside {
                return;
            }
            let inner = lattice.position(point);
            for (direction, step) in STEPS.iter().enumerate() {
                let neighbor = plus(point, *step);
                if lattice.places[lattice.index(neighbor)] == Place::Outside {
                    let outer = lattice.position(neighbor);
                    let cut = crossing(solid, inner, outer, lattice.cell as f32 * 1e-4);
                    lattice.cuts.push((index * 14 + direction, cut));
                }
            }
        });
    }

    fn find_cut(&self, inner: usize, direction: usize) -> Option<usize> {
        self.cuts
            .binary_search_by_key(&(inner * 14 + direction), |cut| cut.0)
            .ok()
    }

    /// Moves points onto the surface where it cuts one of their edges too close to them.
    fn snap(&mut self) {
        self.for_each_inner(|lattice, point| {
            let index = lattice.index(point);
            let place = lattice.places[index];
            let mut nearest: Option<(f32, Vec3)> = None;
            for (direction, step) in STEPS.iter().enumerate() {
                let other = lattice.index(plus(point, *step));
                let cut = match (place, lattice.places[other]) {
                    (Place::Inside, Place::Outside) => lattice.find_cut(index, direction),
                    (Place::Outside, Place::Inside) => lattice.find_cut(other, direction ^ 1),
                    _ => continue,
                };
                let Some((_, cut)) = cut.map(|cut| lattice.cuts[cut]) else {
                    continue;
                };
                let fraction = if place == Place::Inside {
                    cut.fraction
                } else {
                    1.0 - cut.fraction
                };
                let (alpha, length) = if direction < 6 {
                    (ALPHA_LONG, 1.0)
                } else {
                    (ALPHA_SHORT, 0.866_025_4)
                };
                if fraction < alpha && nearest.is_none_or(|(best, _)| fraction * length < best) {
                    nearest = Some((fraction * length, cut.position));
                }
            }
            if let Some((_, position)) = nearest {
                lattice.places[index] = Place::On;
                lattice.moved.push((index, position));
            }
        });
    }

    /// Fills what is inside.
    fn fill(&self) -> TetMesh {
        let mut mesh = TetMesh::default();
        let mut vertex_of_point = vec![u32::MAX; self.places.len()];
        let mut vertex_of_cut = vec![u32::MAX; self.cuts.len()];
        let [nx, ny, nz] = self.cells;
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    for axis in 0..3 {
                        if [x, y, z][axis] + 1 < self.cells[axis] {
                            let center = [2 * x + 1, 2 * y + 1, 2 * z + 1];
                            for points in around_long_edge(center, axis) {
                                self.fill_one(
                                    points,
                                    &mut vertex_of_point,
                                    &mut vertex_of_cut,
                                    &mut mesh,
                                );
                            }
                        }
                    }
                }
            }
        }
        mesh
    }

    fn fill_one(
        &self,
        points: [[i32; 3]; 4],
        vertex_of_point: &mut [u32],
        vertex_of_cut: &mut [u32],
        mesh: &mut TetMesh,
    ) {
        let indices = points.map(|point| self.index(point));
        let places = indices.map(|index| self.places[index]);
        if !places.contains(&Place::Inside) {
            return;
        }
        let mut add = |known: &mut u32, position: Vec3| {
            if *known == u32::MAX {
                *known = mesh.positions.len() as u32;
                mesh.positions.push(position);
            }
            *known
        };
        let mut corners = [u32::MAX; 4];
        let mut cuts = [[u32::MAX; 4]; 4];
        let mut parity = [[false; 4]; 4];
        for a in 0..4 {
            if places[a] != Place::Outside {
                let moved = self
                    .moved
                    .binary_search_by_key(&indices[a], |moved| moved.0);
                let position =
                    moved.map_or_else(|_| self.position(points[a]), |at| self.moved[at].1);
                corners[a] = add(&mut vertex_of_point[indices[a]], position);
            }
            for b in 0..4 {
                if places[a] == Place::Inside && places[b] == Place::Outside {
                    let step = minus(points[b], points[a]);
                    let direction = STEPS.iter().position(|s| *s == step);
                    if let Some(cut) = direction.and_then(|d| self.find_cut(indices[a], d)) {
                        cuts[a][b] = add(&mut vertex_of_cut[cut], self.cuts[cut].1.position);
                    }
                }
                parity[a][b] = diagonal_parity(points[a], points[a ^ 1], points[b]);
            }
        }
        let cut = Cut {
            places,
            corners,
            cuts: &cuts,
            parity: &parity,
        };
        cut.fill(|tet| mesh.tets.push(right_handed(tet, &mesh.positions)));
    }
}

/// The four tetrahedra around the long edge from a cell's centre to that of the next cell along `axis`.
fn around_long_edge(center: [i32; 3], axis: usize) -> [[[i32; 3]; 4]; 4] {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let corner = |[s, t]: [i32; 2]| {
        let mut step = [1; 3];
        (step[u], step[v]) = (s, t);
        plus(center, step)
    };
    let mut far = center;
    far[axis] += 2;
    let ring = [[-1, -1], [1, -1], [1, 1], [-1, 1]];
    [0, 1, 2, 3].map(|i| [center, far, corner(ring[i]), corner(ring[(i + 1) % 4])])
}

/// For the long edge a–b and a third corner, which end the diagonal of their face adjoins: true for a, and then false for
/// b. The two faces of one tetrahedron on the same long edge get opposite ends.
fn diagonal_parity(a: [i32; 3], b: [i32; 3], third: [i32; 3]) -> bool {
    let mut sign = true;
    for axis in 0..3 {
        if a[axis] == b[axis] {
            sign ^= third[axis] < a[axis];
        } else {
            sign ^= a[axis] > b[axis];
        }
    }
    sign
}

/// Where the surface crosses the segment between two lattice points, by false position (Illinois).
fn crossing(solid: &Solid, inner: Vec3, outer: Vec3, tolerance: f32) -> CutPoint {
    let at = |fraction: f32| inner + (outer - inner) * fraction;
    let (mut low, mut high) = (0.0, 1.0);
    let mut depth_low = solid.depth(inner).max(0.0);
    let mut depth_high = solid.depth(outer).min(0.0);
    let mut fraction = 0.5;
    let mut last = 0.0_f32;
    for _ in 0..16 {
        let drop = depth_low - depth_high;
        fraction = if drop > 0.0 {
            low + (high - low) * (depth_low / drop)
        } else {
            0.5 * (low + high)
        };
        let depth = solid.depth(at(fraction));
        if depth.abs() <= tolerance {
            break;
        }
        let side = depth.signum();
        if side > 0.0 {
            (low, depth_low) = (fraction, depth);
            depth_high *= if last == side { 0.5 } else { 1.0 };
        } else {
            (high, depth_high) = (fraction, depth);
            depth_low *= if last == side { 0.5 } else { 1.0 };
        }
        last = side;
    }
    CutPoint {
        fraction,
        position: at(fraction),
    }
}

fn plus(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn minus(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[cfg(test)]
mod tests {
    use anim_math::random::Random;

    use super::*;
    use crate::topology::is_closed;

    /// A lattice whose points are inside or outside by chance and whose edges are cut anywhere: worse than any surface.
    fn noise(seed: u64, share: f32) -> Lattice {
        let surface = crate::primitives::cuboid(Vec3::repeat(0.5));
        let mut lattice = Lattice::over(&surface, 8).unwrap();
        let mut random = Random::new(seed, 0, 0);
        lattice.for_each_inner(|lattice, point| {
            let index = lattice.index(point);
            if !lattice.is_outermost(point) && random.uniform() < share {
                lattice.places[index] = Place::Inside;
            }
        });
        lattice.for_each_inner(|lattice, point| {
            let index = lattice.index(point);
            for (direction, step) in STEPS.iter().enumerate() {
                let neighbor = plus(point, *step);
                let crosses = lattice.places[index] == Place::Inside
                    && lattice.places[lattice.index(neighbor)] == Place::Outside;
                if crosses {
                    let (inner, outer) = (lattice.position(point), lattice.position(neighbor));
                    let fraction = random.uniform();
                    let position = inner + (outer - inner) * fraction;
                    lattice
                        .cuts
                        .push((index * 14 + direction, CutPoint { fraction, position }));
                }
            }
        });
        lattice
    }

    #[test]
    fn angles_keep_their_bounds_whatever_the_surface() {
        for seed in 0..30 {
            let mut lattice = noise(seed, [0.1, 0.3, 0.5, 0.8, 0.95][seed as usize % 5]);
            lattice.snap();
            let mut mesh = lattice.fill();
            assert!(mesh.volumes().all(|volume| volume > 0.0));
            let angles = mesh.dihedral_angles().flatten().map(f64::to_degrees);
            let (least, most) = angles.fold((180.0_f64, 0.0_f64), |(least, most), angle| {
                (least.min(angle), most.max(angle))
            });
            assert!(least > 10.7 && most < 164.8, "{seed}: {least} {most}");
            // The diagonals agree across faces, or the boundary would have holes.
            manifold::separate(&mut mesh);
            assert!(is_closed(&mesh.surface()), "{seed}");
        }
    }
}
