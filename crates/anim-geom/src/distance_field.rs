//! A solid as a grid of signed distances: contact at the cost of eight numbers, however many triangles it has.
//!
//! Worth it for bodies that many particles touch in every substep. Distances are exact at the nodes and trilinear between
//! them, so that edges and corners are rounded at the scale of a cell and walls thinner than two cells may be lost; where
//! they matter use a [`MeshBvh`]. A node takes 4 bytes.
//!
//! ```
//! use anim_geom::{DistanceField, primitives};
//! use anim_math::Vec3;
//!
//! let field = DistanceField::new(&primitives::sphere(1.0, 48, 24), 0.1)?;
//! let (distance, gradient) = field.sample(Vec3::new(0.0, 1.15, 0.0));
//! assert!((distance - 0.15).abs() < 0.01);
//! assert!((gradient - Vec3::y()).norm() < 0.1);
//! # Ok::<(), anim_geom::GeomError>(())
//! ```

use anim_math::Vec3;

use crate::mesh_bvh::tree::Ray;
use crate::shape::RayHit;
use crate::{GeomError, Mesh, MeshBvh, WindingNumber, chunks};

/// Nodes of the largest field: 1 GiB.
const MOST_NODES: u64 = 1 << 28;

/// Cells between the surface's box and the border of the grid.
const MARGIN: f32 = 2.0;

/// Signed distances to a surface at the nodes of a grid; immutable.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceField {
    origin: Vec3,
    cell: f32,
    /// Nodes along each axis, at least two.
    size: [u32; 3],
    /// The box of the surface.
    low: Vec3,
    high: Vec3,
    /// x fastest, metres, negative inside.
    distances: Vec<f32>,
}

impl DistanceField {
    /// Measures the distances to `mesh` on a grid of cubic cells of `cell` metres that reaches two cells beyond it.
    ///
    /// The sign is that of [`MeshBvh`] if the mesh is closed, otherwise that of the [winding number](crate::winding),
    /// so that holes are closed over. Costs a query a node, shared out in a thread pool.
    ///
    /// # Errors
    ///
    /// What [`MeshBvh::new`] finds; [`GeomError::OutOfRange`] unless `cell` is positive and finite;
    /// [`GeomError::TooManyCells`] beyond 2²⁸ nodes.
    pub fn new(mesh: &Mesh, cell: f32) -> Result<Self, GeomError> {
        let bvh = MeshBvh::new(mesh)?;
        if !(cell > 0.0 && cell.is_finite()) {
            return Err(GeomError::OutOfRange {
                what: "cell",
                value: cell,
            });
        }
        let winding = if bvh.is_closed() {
            None
        } else {
            Some(WindingNumber::new(mesh)?)
        };
        let corners = || {
            mesh.triangles
                .iter()
                .flatten()
                .map(|v| mesh.rest.positions[*v as usize])
        };
        let low = corners().fold(Vec3::repeat(f32::MAX), |low, p| low.inf(&p));
        let high = corners().fold(Vec3::repeat(f32::MIN), |high, p| high.sup(&p));
        let size: [u64; 3] = (high - low)
            .map(|side| (side / cell + 2.0 * MARGIN).ceil() as u64 + 1)
            .into();
        let nodes = size
            .iter()
            .try_fold(1u64, |product, n| product.checked_mul(*n));
        if nodes.is_none_or(|nodes| nodes > MOST_NODES) {
            return Err(GeomError::TooManyCells { size });
        }
        let mut field = Self {
            origin: Vec3::zeros(),
            cell,
            size: size.map(|n| n as u32),
            low,
            high,
            distances: vec![0.0; size.iter().product::<u64>() as usize],
        };
        let extent = Vec3::from(field.size.map(|n| (n - 1) as f32)) * cell;
        field.origin = (low + high - extent) * 0.5;
        let mut distances = std::mem::take(&mut field.distances);
        chunks::for_each_mut(&mut distances, |first, distances| {
            // A neighbour in the row is nearer or farther by a cell at most, which spares most of the search.
            let mut reach = f32::INFINITY;
            for (index, out) in (first..).zip(distances) {
                let node = field.node(index);
                if index.is_multiple_of(field.size[0] as usize) {
                    reach = f32::INFINITY;
                }
                let nearest = bvh.nearest_within(node, reach);
                let distance = nearest.unwrap_or_else(|| bvh.nearest(node)).distance;
                reach = distance.abs() + 1.001 * cell;
                *out = match &winding {
                    Some(winding) if winding.at(node).abs() > 0.5 => -distance.abs(),
                    Some(_) => distance.abs(),
                    None => distance,
                };
            }
        });
        field.distances = distances;
        Ok(field)
    }

    /// Nodes along x, y and z.
    pub fn size(&self) -> [u32; 3] {
        self.size
    }

    /// Edge of a cell, metres.
    pub fn cell(&self) -> f32 {
        self.cell
    }

    /// Bytes that the distances take: 4 a node.
    pub fn bytes(&self) -> usize {
        self.distances.len() * size_of::<f32>()
    }

    /// The signed distance at `point`, metres, and its gradient.
    ///
    /// Inside the grid, the trilinear interpolant, whose error is at most 3/8 · cell² · curvature of the exact distance, and at
    /// most a cell at its ridges. Outside, a lower bound that joins it continuously. Constant time.
    pub fn sample(&self, point: Vec3) -> (f32, Vec3) {
        let local = (point - self.origin) / self.cell;
        let last = Vec3::from(self.size.map(|n| (n - 1) as f32));
        let clamped = local.sup(&Vec3::zeros()).inf(&last);
        let (distance, gradient) = self.trilinear(clamped);
        let beyond = (local - clamped) * self.cell;
        let away = beyond.norm();
        if away == 0.0 {
            return (distance, gradient);
        }
        // The surface is as far as its box; and no distance changes faster than its point moves.
        let from_box = point - point.sup(&self.low).inf(&self.high);
        let to_box = from_box.norm();
        (to_box.max(distance - away), from_box / to_box)
    }

    /// Where the ray from `origin` along `direction`, of unit length, first meets the surface of the interpolant.
    pub(crate) fn ray(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<RayHit> {
        let ray = Ray::new(origin, direction)?;
        let enter = ray.enters([
            &self.low.add_scalar(-self.cell),
            &self.high.add_scalar(self.cell),
        ])?;
        let at = |travelled: f32| origin + direction * travelled;
        let end = max_distance.min(enter + (self.high - self.low).norm() + 4.0 * self.cell);
        let mut travelled = enter;
        let (mut before, _) = self.sample(at(travelled));
        let smallest = self.cell * 0.01;
        while travelled <= end {
            // The interpolant changes by √3 at most per metre.
            let step = (before.abs() * 0.577).max(smallest);
            let (distance, _) = self.sample(at(travelled + step));
            if (distance < 0.0) != (before < 0.0) || distance == 0.0 {
                let (mut low, mut high) = (travelled, travelled + step);
                for _ in 0..24 {
                    let middle = 0.5 * (low + high);
                    if (self.sample(at(middle)).0 < 0.0) == (before < 0.0) {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                let normal = self.sample(at(high)).1.try_normalize(1.0e-6)?;
                return Some(RayHit {
                    distance: high,
                    normal,
                });
            }
            travelled += step;
            before = distance;
        }
        None
    }

    fn node(&self, index: usize) -> Vec3 {
        let [nx, ny, _] = self.size.map(|n| n as usize);
        let place = [index % nx, index / nx % ny, index / (nx * ny)];
        self.origin + Vec3::from(place.map(|c| c as f32)) * self.cell
    }

    /// Value and gradient at a point in units of cells, within the grid.
    #[inline]
    fn trilinear(&self, point: Vec3) -> (f32, Vec3) {
        let [nx, ny, nz] = self.size.map(|n| n as usize);
        let first = |c: f32, n: usize| (c as usize).min(n - 2);
        let [i, j, k] = [first(point.x, nx), first(point.y, ny), first(point.z, nz)];
        let [u, v, w] = [point.x - i as f32, point.y - j as f32, point.z - k as f32];
        let base = i + nx * (j + ny * k);
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        // Along x on the four edges of the cell: value and slope.
        let edge = |offset: usize| {
            let (a, b) = (
                self.distances[base + offset],
                self.distances[base + offset + 1],
            );
            (mix(a, b, u), b - a)
        };
        let [e00, e10] = [edge(0), edge(nx)];
        let [e01, e11] = [edge(nx * ny), edge(nx * ny + nx)];
        let (near, far) = (mix(e00.0, e10.0, v), mix(e01.0, e11.0, v));
        let gradient = Vec3::new(
            mix(mix(e00.1, e10.1, v), mix(e01.1, e11.1, v), w),
            mix(e10.0 - e00.0, e11.0 - e01.0, w),
            far - near,
        );
        (mix(near, far, w), gradient / self.cell)
    }
}
