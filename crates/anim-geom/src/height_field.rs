//! Ground as heights over a grid: contacts and rays as exact as those of its triangles, at 5 bytes a sample.
//!
//! The surface is that of [`primitives::grid`] with its vertices raised: two triangles a cell,
//! diagonals alternating. Boxes over 2, 4, 8 … cells are kept, so that a search looks at a few cells only and never
//! misses one. Below the surface is inside, at any depth; beside its border there is nothing.
//!
//! ```
//! use anim_geom::HeightField;
//! use anim_math::Vec3;
//!
//! let slope = HeightField::new(2, 1, 1.0, vec![0.0, 1.0, 2.0, 0.0, 1.0, 2.0])?;
//! assert_eq!(slope.height(0.5, 0.25), Some(1.5));
//! let contact = slope.nearest(Vec3::new(0.0, 2.0, 0.0));
//! assert!((contact.distance - 0.5_f32.sqrt()).abs() < 1e-6);
//! # Ok::<(), anim_geom::GeomError>(())
//! ```

use anim_math::Vec3;

use crate::mesh_bvh::LARGEST;
use crate::mesh_bvh::tree::{Ray, box_distance_squared};
use crate::shape::{Contact, RayHit};
use crate::{GeomError, Mesh, closest, normals, primitives};

/// A surface y = height(x, z) over a rectangle about the origin; immutable.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField {
    columns: u32,
    rows: u32,
    cell: f32,
    /// (columns + 1) · (rows + 1), row by row, x first.
    heights: Vec<f32>,
    /// The lowest and highest point of squares of 1, 2, 4 … cells, the last of them one square.
    levels: Vec<Level>,
}

#[derive(Clone, Debug, PartialEq)]
struct Level {
    columns: u32,
    spans: Vec<[f32; 2]>,
}

/// A square of 2^level cells a side.
#[derive(Clone, Copy)]
struct Square {
    level: usize,
    column: u32,
    row: u32,
}

impl HeightField {
    /// Ground of `columns` × `rows` square cells of `cell` metres, about the origin.
    ///
    /// * `heights`: (columns + 1) · (rows + 1), metres; that at column i of row j stands at x = (i − columns / 2) · cell,
    ///   z = (j − rows / 2) · cell and has the index j · (columns + 1) + i.
    ///
    /// # Errors
    ///
    /// [`GeomError::Empty`] without cells; [`GeomError::Count`] for another number of heights; [`GeomError::NotFinite`] and
    /// [`GeomError::TooFar`] name the height; [`GeomError::OutOfRange`] unless `cell` is positive and at most 10¹⁰.
    pub fn new(columns: u32, rows: u32, cell: f32, heights: Vec<f32>) -> Result<Self, GeomError> {
        if columns == 0 || rows == 0 {
            return Err(GeomError::Empty("cells"));
        }
        let samples = [columns, rows].map(|n| n as usize + 1);
        let expected = samples[0].saturating_mul(samples[1]);
        if heights.len() != expected || u32::try_from(expected).is_err() {
            return Err(GeomError::Count {
                what: "heights",
                found: heights.len(),
                vertex_count: expected,
            });
        }
        if !(cell > 0.0 && cell <= 1.0e10) {
            return Err(GeomError::OutOfRange {
                what: "cell",
                value: cell,
            });
        }
        if let Some(vertex) = heights.iter().position(|h| !h.is_finite()) {
            return Err(GeomError::NotFinite { vertex });
        }
        if let Some(vertex) = heights.iter().position(|h| h.abs() > LARGEST) {
            return Err(GeomError::TooFar { vertex });
        }
        let levels = levels(columns, rows, &heights);
        Ok(Self {
            columns,
            rows,
            cell,
            heights,
            levels,
        })
    }

    /// The same surface as triangles.
    pub fn mesh(&self) -> Mesh {
        let mut mesh = primitives::grid(self.columns, self.rows, self.cell);
        for (position, height) in mesh.rest.positions.iter_mut().zip(&self.heights) {
            position.y = *height;
        }
        normals::smooth(
            &mesh.rest.positions,
            &mesh.triangles,
            &mut mesh.rest.normals,
        );
        mesh
    }

    /// The height over (x, z), or `None` beyond the border.
    pub fn height(&self, x: f32, z: f32) -> Option<f32> {
        let across = x / self.cell + 0.5 * self.columns as f32;
        let along = z / self.cell + 0.5 * self.rows as f32;
        let over = (0.0..=self.columns as f32).contains(&across)
            && (0.0..=self.rows as f32).contains(&along);
        if !over {
            return None;
        }
        let column = (across as u32).min(self.columns - 1);
        let row = (along as u32).min(self.rows - 1);
        let (u, v) = (across - column as f32, along - row as f32);
        let at = |i: u32, j: u32| self.heights[self.sample(column + i, row + j)];
        let (a, b, c, d) = (at(0, 0), at(1, 0), at(0, 1), at(1, 1));
        Some(if (row + column).is_multiple_of(2) {
            // Divided from a to d.
            if u >= v {
                a + (b - a) * u + (d - b) * v
            } else {
                a + (d - c) * u + (c - a) * v
            }
        } else if u + v <= 1.0 {
            a + (b - a) * u + (c - a) * v
        } else {
            d + (c - d) * (1.0 - u) + (b - d) * (1.0 - v)
        })
    }

    /// The nearest point of the surface: its distance, metres, negative below the surface, and the normal there, along
    /// the way to `point` above and against it below. A point that is not finite is far away.
    pub fn nearest(&self, point: Vec3) -> Contact {
        self.nearest_within(point, f32::INFINITY)
            .unwrap_or(Contact::FAR)
    }

    /// [`nearest`](Self::nearest), or `None` if the point is above and farther away than `max_distance` metres.
    pub fn nearest_within(&self, point: Vec3, max_distance: f32) -> Option<Contact> {
        if !point.iter().all(|c| c.is_finite()) {
            return None;
        }
        let gap = self.height(point.x, point.z).map(|height| point.y - height);
        let below = gap.is_some_and(|gap| gap < 0.0);
        if !below && (max_distance < 0.0 || max_distance.is_nan()) {
            return None;
        }
        // Straight up or down there is surface for certain.
        let mut reach = gap.map_or(f32::INFINITY, |gap| gap.abs() * 1.000_01);
        if !below {
            reach = reach.min(max_distance);
        }
        let mut best = (reach * reach, None);
        self.search(self.top(), point, &mut best);
        let nearest = match (best.1, gap) {
            (Some(nearest), _) => nearest,
            // Straight up or down to rounding.
            (None, Some(gap)) if gap.abs() <= max_distance || below => point - Vec3::y() * gap,
            _ => return None,
        };
        let offset = point - nearest;
        let distance = offset.norm();
        let sign = if below { -1.0 } else { 1.0 };
        let normal = if distance > 4.0 * f32::EPSILON * point.amax() {
            offset * (sign / distance)
        } else {
            self.normal_at(nearest)
        };
        Some(Contact {
            distance: sign * distance,
            normal,
        })
    }

    /// Where the ray from `origin` along `direction`, of any length, first meets the surface within `max_distance` metres,
    /// from either side; the normal is the upper one. No ray slips between two triangles.
    pub fn ray(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<RayHit> {
        let ray = Ray::new(origin, direction)?;
        if max_distance < 0.0 || max_distance.is_nan() {
            return None;
        }
        let mut best = None;
        let mut limit = max_distance;
        self.cast(self.top(), &ray, &mut limit, &mut best);
        best
    }

    fn sample(&self, column: u32, row: u32) -> usize {
        (row * (self.columns + 1) + column) as usize
    }

    fn vertex(&self, column: u32, row: u32) -> Vec3 {
        Vec3::new(
            (column as f32 - 0.5 * self.columns as f32) * self.cell,
            self.heights[self.sample(column, row)],
            (row as f32 - 0.5 * self.rows as f32) * self.cell,
        )
    }

    fn triangles(&self, column: u32, row: u32) -> [[Vec3; 3]; 2] {
        let at = |i: u32, j: u32| self.vertex(column + i, row + j);
        let (a, b, c, d) = (at(0, 0), at(1, 0), at(0, 1), at(1, 1));
        if (row + column).is_multiple_of(2) {
            [[a, c, d], [a, d, b]]
        } else {
            [[a, c, b], [b, c, d]]
        }
    }

    /// The mean normal of the triangles that touch a point of the surface.
    fn normal_at(&self, point: Vec3) -> Vec3 {
        let [across, along] = [
            (point.x / self.cell + 0.5 * self.columns as f32).clamp(0.0, self.columns as f32),
            (point.z / self.cell + 0.5 * self.rows as f32).clamp(0.0, self.rows as f32),
        ];
        let around = |place: f32, count: u32| {
            // A point on the border of two cells belongs to both.
            let low = (place - 1e-4).max(0.0) as u32;
            let high = (place + 1e-4) as u32;
            low.min(count - 1)..=high.min(count - 1)
        };
        let mut sum = Vec3::zeros();
        for row in around(along, self.rows) {
            for column in around(across, self.columns) {
                for corners in self.triangles(column, row) {
                    let near = closest::distance_to_triangle(point, corners) <= 1e-4 * self.cell;
                    if let Some(normal) = normals::face(corners).filter(|_| near) {
                        sum += normal;
                    }
                }
            }
        }
        sum.try_normalize(1.0e-6).unwrap_or(Vec3::y())
    }

    fn top(&self) -> Square {
        Square {
            level: self.levels.len() - 1,
            column: 0,
            row: 0,
        }
    }

    /// The box around a square, or `None` beyond the border.
    fn bounds(&self, square: Square) -> Option<[Vec3; 2]> {
        let level = &self.levels[square.level];
        let index = (square.row * level.columns + square.column) as usize;
        if square.column >= level.columns {
            return None;
        }
        let [lowest, highest] = *level.spans.get(index)?;
        let side = 1 << square.level;
        let edge = |place: u32, count: u32| ((place as f32) - 0.5 * count as f32) * self.cell;
        let (left, back) = (square.column * side, square.row * side);
        let (right, front) = (
            (left + side).min(self.columns),
            (back + side).min(self.rows),
        );
        Some([
            Vec3::new(edge(left, self.columns), lowest, edge(back, self.rows)),
            Vec3::new(edge(right, self.columns), highest, edge(front, self.rows)),
        ])
    }

    fn children(square: Square) -> [Square; 4] {
        [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[i, j]| Square {
            level: square.level - 1,
            column: 2 * square.column + i,
            row: 2 * square.row + j,
        })
    }

    /// The children of a square and what `key` says of their boxes, smallest first.
    fn sorted_children(
        &self,
        square: Square,
        key: impl Fn([&Vec3; 2]) -> Option<f32>,
    ) -> [Option<(f32, Square)>; 4] {
        let mut children = Self::children(square).map(|child| {
            let [low, high] = self.bounds(child)?;
            Some((key([&low, &high])?, child))
        });
        let order = |child: &Option<(f32, Square)>| child.map_or(f32::INFINITY, |(key, _)| key);
        children.sort_by(|a, b| order(a).total_cmp(&order(b)));
        children
    }

    fn search(&self, square: Square, point: Vec3, best: &mut (f32, Option<Vec3>)) {
        if square.level == 0 {
            for corners in self.triangles(square.column, square.row) {
                let nearest = closest::on_triangle(point, corners).point;
                let squared = (point - nearest).norm_squared();
                if squared < best.0 || squared == best.0 && best.1.is_none() {
                    *best = (squared, Some(nearest));
                }
            }
            return;
        }
        let children =
            self.sorted_children(square, |bounds| Some(box_distance_squared(bounds, point)));
        for (squared, child) in children.into_iter().flatten() {
            if squared <= best.0 {
                self.search(child, point, best);
            }
        }
    }

    fn cast(&self, square: Square, ray: &Ray, limit: &mut f32, best: &mut Option<RayHit>) {
        if square.level == 0 {
            for corners in self.triangles(square.column, square.row) {
                let hit = ray
                    .triangle(corners)
                    .filter(|(distance, _)| *distance <= *limit);
                if let Some(((distance, _), normal)) = hit.zip(normals::face(corners)) {
                    *limit = distance;
                    *best = Some(RayHit { distance, normal });
                }
            }
            return;
        }
        let children = self.sorted_children(square, |bounds| ray.enters(bounds));
        for (entry, child) in children.into_iter().flatten() {
            if entry <= *limit {
                self.cast(child, ray, limit, best);
            }
        }
    }
}

fn levels(columns: u32, rows: u32, heights: &[f32]) -> Vec<Level> {
    let join = |a: [f32; 2], b: [f32; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let (mut width, mut depth) = (columns, rows);
    // The samples themselves are the first: a cell spans two by two of them.
    let mut below = Level {
        columns: columns + 1,
        spans: heights.iter().map(|h| [*h, *h]).collect(),
    };
    let mut stride = 1;
    let mut levels: Vec<Level> = Vec::new();
    loop {
        let last = [
            below.columns - 1,
            below.spans.len() as u32 / below.columns - 1,
        ];
        let spans = (0..width * depth).map(|index| {
            let (i, j) = (index % width * stride, index / width * stride);
            let at = |i: u32, j: u32| {
                below.spans[(j.min(last[1]) * below.columns + i.min(last[0])) as usize]
            };
            join(
                join(at(i, j), at(i + 1, j)),
                join(at(i, j + 1), at(i + 1, j + 1)),
            )
        });
        let level = Level {
            columns: width,
            spans: spans.collect(),
        };
        levels.push(level.clone());
        below = level;
        if width == 1 && depth == 1 {
            return levels;
        }
        (width, depth) = (width.div_ceil(2), depth.div_ceil(2));
        stride = 2;
    }
}
