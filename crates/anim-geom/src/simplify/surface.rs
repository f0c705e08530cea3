//! A triangle surface whose vertices can be merged along edges.

use anim_math::Vec3;
use nalgebra::Vector3;

use crate::Mesh;
use crate::topology::{half_edges, is_paired, weld};

/// Ends a list of corners.
const NONE: u32 = u32::MAX;

/// cos² of the angle that a face may turn by in one collapse, 75°.
const TURN_SQUARED: f64 = 0.067;

/// Which edges a vertex may leave along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freedom {
    /// Any.
    Free,
    /// Edges of the border.
    Border,
    /// None: edges of one triangle or two do not describe its surroundings.
    Locked,
}

/// Height over length below which a triangle is a line; source coordinates are rounded to 2⁻²⁴ of their size.
const SLIVER: f64 = 1e-5;

/// An edge at which the surface or an attribute ends, seen from one triangle: its ends and the third corner.
pub(super) type RimSide = [u32; 3];

/// Vertices are the first of those that coincide; the others are their copies, which differ in attributes.
#[derive(Debug)]
pub(super) struct Surface {
    shape_count: usize,
    /// V × shapes, about the middle of each shape.
    points: Vec<Vector3<f64>>,
    centers: Vec<Vector3<f64>>,
    /// F: vertices.
    pub(super) corners: Vec<[u32; 3]>,
    /// F: the copies at the corners.
    pub(super) copies: Vec<[u32; 3]>,
    alive: Vec<bool>,
    /// Triangles that are left.
    pub(super) live_count: usize,
    /// V: the first corner (3 · triangle + side) of each vertex's list.
    heads: Vec<u32>,
    /// 3F: the next corner of the same vertex.
    links: Vec<u32>,
    pub(super) freedom: Vec<Freedom>,
    /// For each source vertex its vertex.
    pub(super) vertex_of: Vec<u32>,
    /// For each source vertex its copy.
    copy_of: Vec<u32>,
    /// What each copy was merged into, itself if it was not.
    merged: Vec<u32>,
}

impl Surface {
    /// Welds `mesh` by rest position and group, leaves out what is no triangle, and finds the borders and seams.
    pub(super) fn new(mesh: &Mesh, shapes: &[&[Vec3]], groups: &[u32]) -> (Self, Vec<RimSide>) {
        let vertex_count = mesh.vertex_count();
        let (vertex_of, copy_of) = identify(mesh, groups);
        let finite = |v: u32| {
            let mut shapes = shapes.iter();
            shapes.all(|shape| shape[v as usize].iter().all(|c| c.is_finite()))
        };
        let (mut corners, mut copies) = (Vec::new(), Vec::new());
        for triangle in &mesh.triangles {
            if triangle.iter().any(|v| *v as usize >= vertex_count) {
                continue;
            }
            let [a, b, c] = triangle.map(|v| vertex_of[v as usize]);
            if a != b && b != c && c != a && [a, b, c].into_iter().all(finite) {
                corners.push([a, b, c]);
                copies.push(triangle.map(|v| copy_of[v as usize]));
            }
        }
        let centers: Vec<_> = shapes.iter().map(|shape| middle(shape, &corners)).collect();
        let mut points = Vec::with_capacity(vertex_count * shapes.len());
        for vertex in 0..vertex_count {
            let shapes = shapes.iter().zip(&centers);
            points.extend(shapes.map(|(shape, center)| shape[vertex].cast::<f64>() - center));
        }
        let mut surface = Self {
            shape_count: shapes.len(),
            points,
            centers,
            alive: vec![true; corners.len()],
            live_count: corners.len(),
            heads: vec![NONE; vertex_count],
            links: vec![NONE; corners.len() * 3],
            freedom: vec![Freedom::Free; vertex_count],
            merged: (0..vertex_count as u32).collect(),
            corners,
            copies,
            vertex_of,
            copy_of,
        };
        for corner in 0..surface.links.len() {
            let vertex = surface.corners[corner / 3][corner % 3] as usize;
            surface.links[corner] = surface.heads[vertex];
            surface.heads[vertex] = corner as u32;
        }
        let rim = surface.find_rim();
        (surface, rim)
    }

    /// Number of shapes, S.
    pub(super) fn shape_count(&self) -> usize {
        self.shape_count
    }

    /// Where `vertex` is in each shape.
    #[inline]
    pub(super) fn points(&self, vertex: u32) -> &[Vector3<f64>] {
        let start = vertex as usize * self.shape_count;
        &self.points[start..start + self.shape_count]
    }

    /// Moves `vertex` of the only shape to `point` about the middle, and gives the place in space.
    pub(super) fn place(&mut self, vertex: u32, point: Vector3<f64>) -> Vec3 {
        self.points[vertex as usize * self.shape_count] = point;
        (point + self.centers[0]).cast()
    }

    /// True if `triangle` is left.
    #[inline]
    pub(super) fn is_alive(&self, triangle: usize) -> bool {
        self.alive[triangle]
    }

    /// The other two vertices of the triangle of `corner`, in its order.
    #[inline]
    pub(super) fn others(&self, corner: u32) -> [u32; 2] {
        let (triangle, side) = (corner as usize / 3, corner as usize % 3);
        let corners = &self.corners[triangle];
        [corners[(side + 1) % 3], corners[(side + 2) % 3]]
    }

    /// Lists the corners of the live triangles at `vertex`, and forgets the dead ones.
    pub(super) fn star(&mut self, vertex: u32, out: &mut Vec<u32>) {
        out.clear();
        let mut corner = self.heads[vertex as usize];
        let mut before = NONE;
        while corner != NONE {
            let following = self.links[corner as usize];
            if self.alive[corner as usize / 3] {
                self.link(vertex, before, corner);
                before = corner;
                out.push(corner);
            }
            corner = following;
        }
        self.link(vertex, before, NONE);
    }

    fn link(&mut self, vertex: u32, before: u32, corner: u32) {
        match before {
            NONE => self.heads[vertex as usize] = corner,
            before => self.links[before as usize] = corner,
        }
    }

    /// The copy at `corner`.
    #[inline]
    pub(super) fn copy(&self, corner: u32) -> u32 {
        self.copies[corner as usize / 3][corner as usize % 3]
    }

    /// The copy of `to` in the triangle of `corner`.
    pub(super) fn copy_of_neighbor(&self, corner: u32, to: u32) -> u32 {
        let triangle = corner as usize / 3;
        let side = self.corners[triangle].iter().position(|v| *v == to);
        self.copies[triangle][side.unwrap_or(0)]
    }

    /// True if the triangle of `corner` keeps an area and faces much the same way in each shape with its corner at
    /// `points`.
    #[inline]
    pub(super) fn keeps_facing(&self, corner: u32, points: &[Vector3<f64>]) -> bool {
        let [b, c] = self.others(corner);
        let from = self.corners[corner as usize / 3][corner as usize % 3];
        let ends = self.points(b).iter().zip(self.points(c));
        let corners = self.points(from).iter().zip(points);
        ends.zip(corners).all(|((b, c), (from, to))| {
            let edge = c - b;
            let (before, after) = ((b - from).cross(&edge), (b - to).cross(&edge));
            if is_sliver(&before, &edge, &(b - from)) {
                return true;
            }
            let along = before.dot(&after);
            let limit = TURN_SQUARED * before.norm_squared() * after.norm_squared();
            along > 0.0 && along * along > limit && !is_sliver(&after, &edge, &(b - to))
        })
    }

    /// Removes the triangles of `star` (that of `from`) that hold `to`, and gives the others' corners to `to`.
    ///
    /// `renamed` are the copies of `from` and what they become.
    pub(super) fn merge(&mut self, from: u32, to: u32, star: &[u32], renamed: &[(u32, u32)]) {
        for &corner in star {
            let (triangle, side) = (corner as usize / 3, corner as usize % 3);
            if self.others(corner).contains(&to) {
                self.alive[triangle] = false;
                self.live_count -= 1;
                continue;
            }
            let copy = self.copies[triangle][side];
            if let Some((_, becomes)) = renamed.iter().find(|(old, _)| *old == copy) {
                self.copies[triangle][side] = *becomes;
            }
            self.corners[triangle][side] = to;
            self.links[corner as usize] = self.heads[to as usize];
            self.heads[to as usize] = corner;
        }
        self.heads[from as usize] = NONE;
        for (old, becomes) in renamed {
            self.merged[*old as usize] = *becomes;
        }
    }

    /// The copy that stands for `source` now.
    pub(super) fn standing_for(&self, source: usize) -> u32 {
        let mut copy = self.copy_of[source];
        while self.merged[copy as usize] != copy {
            copy = self.merged[copy as usize];
        }
        copy
    }

    /// Sets what each vertex is free to do, and lists the sides of borders and seams.
    fn find_rim(&mut self) -> Vec<RimSide> {
        let mut rim = Vec::new();
        let mut border_edges = vec![0_u8; self.freedom.len()];
        let edges = half_edges(&self.corners);
        for shared in edges.chunk_by(|a, b| a.ends == b.ends) {
            let ends = shared[0].ends.map(|v| v as usize);
            let side_of = |triangle: u32, side: u8| -> RimSide {
                let corners = &self.corners[triangle as usize];
                [0, 1, 2].map(|k| corners[(usize::from(side) + k) % 3])
            };
            if let [only] = shared {
                for end in ends {
                    border_edges[end] = border_edges[end].saturating_add(1);
                }
                rim.push(side_of(only.triangle, only.side));
            } else if is_paired(shared) {
                let copies = |k: usize| {
                    let edge = &shared[k];
                    let copies = self.copies[edge.triangle as usize];
                    let side = usize::from(edge.side);
                    let pair = [copies[side], copies[(side + 1) % 3]];
                    if edge.forward {
                        pair
                    } else {
                        [pair[1], pair[0]]
                    }
                };
                if copies(0) != copies(1) {
                    rim.extend(shared.iter().map(|edge| side_of(edge.triangle, edge.side)));
                }
            } else {
                for end in ends {
                    self.freedom[end] = Freedom::Locked;
                }
            }
        }
        for (freedom, edges) in self.freedom.iter_mut().zip(border_edges) {
            match (*freedom, edges) {
                (Freedom::Locked, _) | (_, 0) => {}
                (_, 2) => *freedom = Freedom::Border,
                _ => *freedom = Freedom::Locked,
            }
        }
        rim
    }
}

/// True if a triangle of that doubled area and those two sides has no direction beyond the rounding of its corners.
#[inline]
fn is_sliver(double_area: &Vector3<f64>, a: &Vector3<f64>, b: &Vector3<f64>) -> bool {
    let longest = a.norm_squared().max(b.norm_squared());
    double_area.norm_squared() <= SLIVER * SLIVER * longest * longest
}

/// For each source vertex the first at the same place in the same group, and the first of those with its attributes.
fn identify(mesh: &Mesh, groups: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let welded = weld(&mesh.rest.positions);
    let count = mesh.vertex_count();
    let group = |v: u32| groups.get(v as usize).copied().unwrap_or(0);
    let attributes = |v: u32| {
        let normal = mesh.rest.normals.get(v as usize);
        let uv = mesh.uvs.get(v as usize);
        (
            normal.map(|n| [n.x, n.y, n.z].map(f32::to_bits)),
            uv.map(|uv| uv.map(f32::to_bits)),
        )
    };
    let place = |v: u32| (welded[v as usize], group(v));
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.sort_by_cached_key(|v| (place(*v), attributes(*v), *v));
    let (mut vertex_of, mut copy_of) = (vec![0; count], vec![0; count]);
    for same_place in order.chunk_by(|a, b| place(*a) == place(*b)) {
        let first = same_place.iter().copied().min().unwrap_or(0);
        for same in same_place.chunk_by(|a, b| attributes(*a) == attributes(*b)) {
            for &vertex in same {
                vertex_of[vertex as usize] = first;
                copy_of[vertex as usize] = same[0];
            }
        }
    }
    (vertex_of, copy_of)
}

/// The middle of the box around the vertices that `corners` name.
fn middle(shape: &[Vec3], corners: &[[u32; 3]]) -> Vector3<f64> {
    let mut used = corners.iter().flatten().map(|v| shape[*v as usize]);
    let Some(first) = used.next() else {
        return Vector3::zeros();
    };
    let (low, high) = used.fold((first, first), |(low, high), point| {
        (low.inf(&point), high.sup(&point))
    });
    (low.cast::<f64>() + high.cast::<f64>()) * 0.5
}
