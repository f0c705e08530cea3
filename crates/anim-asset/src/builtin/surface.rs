//! Smooth solids of tapered limbs, and their surface as triangles.
//!
//! A [`Solid`] is a signed field: limbs blended by a polynomial minimum. [`triangulate`] takes its zero set on a grid
//! (naive surface nets: a vertex a cell that the surface crosses, a quad a grid edge), evens the vertices out along the
//! surface and takes normals from the field. Closed and outward by construction.
//!
//! Source: Gibson, "Constrained elastic surface nets", MICCAI 1998; Quílez, "smooth minimum", 2013.

use anim_geom::{Mesh, Vertices};
use anim_math::nalgebra::Vector3;

pub(super) type Point = Vector3<f64>;

/// A capsule whose radius eases from one end to the other.
pub(super) struct Limb {
    pub(super) from: [f64; 3],
    pub(super) to: [f64; 3],
    /// At both ends, metres.
    pub(super) radii: [f64; 2],
    /// Factors along x and z about `from`; 1 is round.
    pub(super) squash: [f64; 2],
    /// How far it blends into the limbs before it, metres.
    pub(super) blend: f64,
    /// The end at `to` is cut flat instead of rounded.
    pub(super) flat: bool,
}

/// Limbs on the left (+x), mirrored to the right, above a cutting plane.
pub(super) struct Solid {
    pub(super) limbs: Vec<Limb>,
    /// Normal, and distance from the origin along it; what lies on the normal's side stays.
    pub(super) cut: Option<([f64; 3], f64)>,
}

/// How often vertices are evened out.
const SMOOTHINGS: usize = 4;
/// Rounding of cuts, metres.
const CUT_BLEND: f64 = 0.03;

impl Solid {
    /// Negative inside, near the distance close to the surface.
    pub(super) fn field(&self, point: Point) -> f64 {
        let point = Point::new(point.x.abs(), point.y, point.z);
        let mut field = f64::INFINITY;
        for limb in &self.limbs {
            field = smooth_min(field, limb.field(point), limb.blend);
        }
        match self.cut {
            Some((normal, offset)) => {
                let outside = offset - Point::from(normal).dot(&point);
                -smooth_min(-field, -outside, CUT_BLEND)
            }
            None => field,
        }
    }

    /// The derivative of the field by position.
    pub(super) fn gradient(&self, point: Point) -> Point {
        const STEP: f64 = 1e-4;
        let along = |axis: usize| {
            let mut step = Point::zeros();
            step[axis] = STEP;
            (self.field(point + step) - self.field(point - step)) / (2.0 * STEP)
        };
        Point::new(along(0), along(1), along(2))
    }

    /// The point moved towards where the field is `level`, by so many of Newton's steps.
    pub(super) fn project(&self, mut point: Point, level: f64, steps: usize) -> Point {
        for _ in 0..steps {
            let gradient = self.gradient(point);
            let slope = gradient.norm_squared().max(0.05);
            point -= gradient * ((self.field(point) - level) / slope);
        }
        point
    }
}

impl Limb {
    fn field(&self, point: Point) -> f64 {
        let from = Point::from(self.from);
        let scale = Point::new(1.0 / self.squash[0], 1.0, 1.0 / self.squash[1]);
        let axis = (Point::from(self.to) - from).component_mul(&scale);
        let offset = (point - from).component_mul(&scale);
        let length_squared = axis.norm_squared().max(1e-12);
        let along = offset.dot(&axis) / length_squared;
        let t = along.clamp(0.0, 1.0);
        let radius = self.radii[0] + (self.radii[1] - self.radii[0]) * smoothstep(t);
        let round = (offset - axis * t).norm() - radius;
        if self.flat {
            let beyond = (along - 1.0) * length_squared.sqrt();
            -smooth_min(-round, -beyond, CUT_BLEND)
        } else {
            round
        }
    }
}

/// 0 to 1 with level ends.
pub(super) fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn smooth_min(a: f64, b: f64, blend: f64) -> f64 {
    if a.is_infinite() {
        return b;
    }
    let overlap = (blend - (a - b).abs()).max(0.0);
    let rounding = if blend > 0.0 {
        overlap * overlap / (4.0 * blend)
    } else {
        0.0
    };
    a.min(b) - rounding
}

/// The surface of `solid` inside the box ±`half_width` × `y` × `z`, in cells of `cell` metres.
pub(super) fn triangulate(
    solid: &Solid,
    half_width: f64,
    y: [f64; 2],
    z: [f64; 2],
    cell: f64,
) -> Mesh {
    let grid = Grid::new(half_width, y, z, cell);
    let values: Vec<f64> = (0..grid.corner_count())
        .map(|i| solid.field(grid.corner(i)))
        .collect();
    let (mut points, cells) = grid.cross(&values);
    let triangles = grid.connect(&values, &cells, &points);
    for _ in 0..SMOOTHINGS {
        let means = neighbour_means(&points, &triangles);
        for (point, mean) in points.iter_mut().zip(means) {
            *point = solid.project((*point + mean) * 0.5, 0.0, 1);
        }
    }
    for point in &mut points {
        *point = solid.project(*point, 0.0, 3);
    }
    let normal = |p: &Point| {
        solid
            .gradient(*p)
            .try_normalize(1e-9)
            .unwrap_or_else(Point::y)
    };
    Mesh {
        rest: Vertices {
            positions: points.iter().map(|p| p.cast()).collect(),
            normals: points.iter().map(|p| normal(p).cast()).collect(),
        },
        uvs: Vec::new(),
        triangles,
    }
}

/// For each point, the mean of the points it shares an edge with.
fn neighbour_means(points: &[Point], triangles: &[[u32; 3]]) -> Vec<Point> {
    let mut sums = vec![(Point::zeros(), 0.0); points.len()];
    for [a, b, c] in triangles {
        for (from, to) in [(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)] {
            let (sum, count) = &mut sums[*from as usize];
            *sum += points[*to as usize];
            *count += 1.0;
        }
    }
    sums.into_iter()
        .map(|(sum, count)| sum / f64::max(count, 1.0))
        .collect()
}

/// Corners at multiples of `cell`, symmetric about x = 0, x fastest.
struct Grid {
    size: [usize; 3],
    origin: Point,
    cell: f64,
}

impl Grid {
    fn new(half_width: f64, y: [f64; 2], z: [f64; 2], cell: f64) -> Self {
        let count = |length: f64| (length / cell).ceil() as usize + 1;
        let half = (half_width / cell).ceil();
        Self {
            size: [
                2 * half as usize + 1,
                count(y[1] - y[0]),
                count(z[1] - z[0]),
            ],
            origin: Point::new(-half * cell, y[0], z[0]),
            cell,
        }
    }

    fn corner_count(&self) -> usize {
        self.size.iter().product()
    }

    fn strides(&self) -> [usize; 3] {
        [1, self.size[0], self.size[0] * self.size[1]]
    }

    fn place(&self, corner: usize) -> [usize; 3] {
        let [_, y, z] = self.strides();
        [corner % y, corner % z / y, corner / z]
    }

    fn corner(&self, corner: usize) -> Point {
        let [x, y, z] = self.place(corner);
        self.origin + Point::new(x as f64, y as f64, z as f64) * self.cell
    }

    /// A point in each cell that the surface crosses, the mean of its crossings with the cell's edges, and its index by
    /// the cell's lowest corner.
    fn cross(&self, values: &[f64]) -> (Vec<Point>, Vec<Option<u32>>) {
        let mut points = Vec::new();
        let mut cells = vec![None; values.len()];
        for (corner, cell) in cells.iter_mut().enumerate() {
            let place = self.place(corner);
            if (0..3).any(|axis| place[axis] + 1 >= self.size[axis]) {
                continue;
            }
            let (sum, count) =
                self.edges_of_cell(corner)
                    .fold((Point::zeros(), 0.0), |(sum, count), (a, b)| {
                        if (values[a] < 0.0) == (values[b] < 0.0) {
                            return (sum, count);
                        }
                        let t = values[a] / (values[a] - values[b]);
                        (
                            sum + self.corner(a) * (1.0 - t) + self.corner(b) * t,
                            count + 1.0,
                        )
                    });
            if count > 0.0 {
                *cell = Some(points.len() as u32);
                points.push(sum / count);
            }
        }
        (points, cells)
    }

    fn edges_of_cell(&self, corner: usize) -> impl Iterator<Item = (usize, usize)> {
        let strides = self.strides();
        (0..3).flat_map(move |axis| {
            let (u, v) = (strides[(axis + 1) % 3], strides[(axis + 2) % 3]);
            [0, u, v, u + v].map(|offset| (corner + offset, corner + offset + strides[axis]))
        })
    }

    /// Two triangles around each grid edge that the surface crosses, split along the shorter diagonal.
    fn connect(&self, values: &[f64], cells: &[Option<u32>], points: &[Point]) -> Vec<[u32; 3]> {
        let strides = self.strides();
        let mut triangles = Vec::new();
        for corner in 0..values.len() {
            let place = self.place(corner);
            for axis in 0..3 {
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                if place[axis] + 1 >= self.size[axis] || place[u] == 0 || place[v] == 0 {
                    continue;
                }
                let inside = values[corner] < 0.0;
                if inside == (values[corner + strides[axis]] < 0.0) {
                    continue;
                }
                let around = [strides[u] + strides[v], strides[v], 0, strides[u]];
                let [Some(a), Some(b), Some(c), Some(d)] = around.map(|back| cells[corner - back])
                else {
                    continue;
                };
                // Seen along the axis from inside to outside the four cells go counter-clockwise.
                let [a, b, c, d] = if inside { [a, b, c, d] } else { [d, c, b, a] };
                let length =
                    |p: u32, q: u32| (points[p as usize] - points[q as usize]).norm_squared();
                if length(a, c) <= length(b, d) {
                    triangles.extend([[a, b, c], [a, c, d]]);
                } else {
                    triangles.extend([[a, b, d], [b, c, d]]);
                }
            }
        }
        triangles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_has_its_area_and_volume() {
        let ball = Solid {
            limbs: vec![Limb {
                from: [0.0; 3],
                to: [0.0; 3],
                radii: [1.0; 2],
                squash: [1.0; 2],
                blend: 0.0,
                flat: false,
            }],
            cut: None,
        };
        let mesh = triangulate(&ball, 1.3, [-1.3, 1.3], [-1.3, 1.3], 0.1);
        let volume: f32 = mesh
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| mesh.rest.positions[v as usize]);
                a.dot(&b.cross(&c)) / 6.0
            })
            .sum();
        // An inscribed polyhedron of edge h misses about (h / 2)² / 3 of the radius.
        assert!((volume / (4.0 / 3.0 * std::f32::consts::PI) - 1.0).abs() < 0.01);
        for (position, normal) in mesh.rest.positions.iter().zip(&mesh.rest.normals) {
            assert!((position.norm() - 1.0).abs() < 1e-4);
            assert!(position.dot(normal) > 0.999);
        }
    }
}
