//! A surface, or any points, carried along with a solid: each follows the tetrahedron it lies in.
//!
//! Simulate a coarse solid and draw the fine surface in it. The map is linear in each tetrahedron and continuous across
//! them, so that affine motions are followed exactly. Points outside, as the surface's own details often are, follow the
//! nearest tetrahedron beyond its faces.
//!
//! ```
//! use anim_geom::tet::{Embedding, Split, lattice};
//! use anim_math::Vec3;
//!
//! let mut block = lattice([1, 1, 1], Vec3::repeat(1.0), Split::Five);
//! let embedding = Embedding::new(&block, &[Vec3::repeat(0.25)])?;
//! for position in &mut block.positions {
//!     position.x *= 2.0;
//! }
//! let mut out = [Vec3::zeros()];
//! embedding.apply(&block.positions, &mut out);
//! assert!((out[0] - Vec3::new(0.5, 0.25, 0.25)).norm() < 1e-6);
//! # Ok::<(), anim_geom::GeomError>(())
//! ```

use anim_math::Vec3;
use anim_math::nalgebra::{Matrix3, Vector3};

use super::{FACES, TetMesh};
use crate::mesh_bvh::tree::Tree;
use crate::{GeomError, chunks, closest};

/// N points bound to the tetrahedra of a mesh; immutable.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    bindings: Vec<Binding>,
    /// Of the mesh.
    vertex_count: usize,
}

/// The tetrahedron that a point follows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Binding {
    vertices: [u32; 4],
    /// Of the corners after the first, whose weight is what is missing to 1.
    weights: Vec3,
}

impl Embedding {
    /// Binds each of `points` to the tetrahedron of `mesh` that holds it or is nearest; of several, to the first.
    ///
    /// O(T log T + N log T).
    ///
    /// # Errors
    ///
    /// [`GeomError::Empty`] without tetrahedra; [`GeomError::VertexOutOfRange`], its triangle the tetrahedron;
    /// [`GeomError::NotFinite`] with the index of a vertex or point; [`GeomError::OutOfRange`] for a tetrahedron without volume.
    pub fn new(mesh: &TetMesh, points: &[Vec3]) -> Result<Self, GeomError> {
        let tets = Tets::new(mesh)?;
        let is_finite = |p: &Vec3| p.iter().all(|c| c.is_finite());
        if let Some(vertex) = points.iter().position(|p| !is_finite(p)) {
            return Err(GeomError::NotFinite { vertex });
        }
        let mut bindings = vec![
            Binding {
                vertices: [0; 4],
                weights: Vec3::zeros(),
            };
            points.len()
        ];
        chunks::for_each_mut(&mut bindings, |first, bindings| {
            for (binding, point) in bindings.iter_mut().zip(&points[first..]) {
                let tet = tets.nearest(*point);
                *binding = Binding {
                    vertices: mesh.tets[tet],
                    weights: tets.weights(tet, *point).cast(),
                };
            }
        });
        Ok(Self {
            bindings,
            vertex_count: mesh.positions.len(),
        })
    }

    /// Number of points, N.
    pub fn len(&self) -> usize {
        self.bindings.len()
    }

    /// True without points.
    pub fn is_empty(&self) -> bool {
        self.bindings.is_empty()
    }

    /// The vertices that point `index` follows and their weights, which sum to 1 and are not negative inside.
    ///
    /// # Panics
    ///
    /// If there is no such point.
    pub fn weights(&self, index: usize) -> ([u32; 4], [f32; 4]) {
        let Binding { vertices, weights } = self.bindings[index];
        let [b, c, d] = weights.into();
        (vertices, [1.0 - (b + c + d), b, c, d])
    }

    /// Where the points are when the vertices of the mesh are at `tet_positions`. Allocates nothing.
    ///
    /// * `tet_positions`: P, those of the mesh. * `out`: N.
    ///
    /// # Panics
    ///
    /// If either has another length.
    pub fn apply(&self, tet_positions: &[Vec3], out: &mut [Vec3]) {
        assert_eq!(
            tet_positions.len(),
            self.vertex_count,
            "positions of the mesh"
        );
        assert_eq!(out.len(), self.len(), "one place a point");
        chunks::for_each_mut(out, |first, out| {
            for (out, binding) in out.iter_mut().zip(&self.bindings[first..]) {
                let (origin, edges) = binding.frame(tet_positions);
                let [b, c, d] = edges;
                let Vec3 { data, .. } = binding.weights;
                let [[wb, wc, wd]] = data.0;
                *out = origin + (b * wb + c * wc + d * wd);
            }
        });
    }

    /// Prepares the normals of the points for [`apply_normals`](Self::apply_normals): their products with the edges of
    /// the tetrahedra, which a deformation of both keeps.
    ///
    /// * `tet_positions`: P, at rest. * `normals`: N, of the points at rest.
    ///
    /// # Panics
    ///
    /// If either has another length.
    pub fn bind_normals(&self, tet_positions: &[Vec3], normals: &[Vec3]) -> Vec<Vec3> {
        assert_eq!(
            tet_positions.len(),
            self.vertex_count,
            "positions of the mesh"
        );
        assert_eq!(normals.len(), self.len(), "one normal a point");
        let bound = self.bindings.iter().zip(normals).map(|(binding, normal)| {
            let (_, [b, c, d]) = binding.frame(tet_positions);
            Vec3::new(b.dot(normal), c.dot(normal), d.dot(normal))
        });
        bound.collect()
    }

    /// The normals when the vertices of the mesh are at `tet_positions`, of unit length. Allocates nothing.
    ///
    /// They turn as areas do, by the cofactors of the deformation gradient; where it is singular to rounding the answer is
    /// +Y. Constant in each tetrahedron but for what the normals at rest differ: [`crate::normals::smooth`] on the moved
    /// points is smoother where cells are coarse.
    ///
    /// * `bound`: N, of [`bind_normals`](Self::bind_normals). * `tet_positions`: P. * `out`: N.
    ///
    /// # Panics
    ///
    /// If one has another length.
    pub fn apply_normals(&self, bound: &[Vec3], tet_positions: &[Vec3], out: &mut [Vec3]) {
        assert_eq!(
            tet_positions.len(),
            self.vertex_count,
            "positions of the mesh"
        );
        assert_eq!(
            (bound.len(), out.len()),
            (self.len(), self.len()),
            "one normal a point"
        );
        chunks::for_each_mut(out, |first, out| {
            let bindings = self.bindings[first..].iter().zip(&bound[first..]);
            for (out, (binding, bound)) in out.iter_mut().zip(bindings) {
                let (_, [b, c, d]) = binding.frame(tet_positions);
                let normal = c.cross(&d) * bound.x + d.cross(&b) * bound.y + b.cross(&c) * bound.z;
                // Scaling first keeps the length of normals in tiny cells.
                let scaled = normal / normal.amax();
                *out = scaled.try_normalize(0.5).unwrap_or(Vec3::y());
            }
        });
    }
}

impl Binding {
    /// The first corner and the edges from it to the others.
    #[inline]
    fn frame(&self, positions: &[Vec3]) -> (Vec3, [Vec3; 3]) {
        let [a, b, c, d] = self.vertices.map(|v| positions[v as usize]);
        (a, [b - a, c - a, d - a])
    }
}

/// The tetrahedra of a mesh, searched by their boxes.
struct Tets {
    tree: Tree,
    /// In the order of the tree, the index in the mesh.
    order: Vec<usize>,
    /// In the order of the mesh.
    corners: Vec<[Vec3; 4]>,
    /// From space to weights.
    inverses: Vec<Matrix3<f64>>,
}

impl Tets {
    fn new(mesh: &TetMesh) -> Result<Self, GeomError> {
        let vertex_count = mesh.positions.len();
        if mesh.tets.is_empty() {
            return Err(GeomError::Empty("tetrahedra"));
        }
        if let Some(vertex) = mesh
            .positions
            .iter()
            .position(|p| !p.iter().all(|c| c.is_finite()))
        {
            return Err(GeomError::NotFinite { vertex });
        }
        let mut corners = Vec::with_capacity(mesh.tets.len());
        let mut inverses = Vec::with_capacity(mesh.tets.len());
        for (triangle, tet) in mesh.tets.iter().enumerate() {
            if let Some(&vertex) = tet.iter().find(|v| **v as usize >= vertex_count) {
                return Err(GeomError::VertexOutOfRange {
                    triangle,
                    vertex,
                    vertex_count,
                });
            }
            let places = tet.map(|v| mesh.positions[v as usize]);
            let [a, b, c, d] = places.map(|p| p.cast::<f64>());
            let edges = Matrix3::from_columns(&[b - a, c - a, d - a]);
            let inverse = edges
                .try_inverse()
                .filter(|m| m.iter().all(|e| e.is_finite()));
            inverses.push(inverse.ok_or(GeomError::OutOfRange {
                what: "volume of a tetrahedron",
                value: 0.0,
            })?);
            corners.push(places);
        }
        // The tree is one of boxes: two opposite corners stand for each.
        let boxes: Vec<[Vec3; 3]> = corners
            .iter()
            .map(|[a, b, c, d]| {
                let low = a.inf(b).inf(c).inf(d);
                [low, a.sup(b).sup(c).sup(d), low]
            })
            .collect();
        let (tree, order) = Tree::new(&boxes);
        Ok(Self {
            tree,
            order,
            corners,
            inverses,
        })
    }

    /// Weights of the corners after the first.
    fn weights(&self, tet: usize, point: Vec3) -> Vector3<f64> {
        self.inverses[tet] * (point.cast::<f64>() - self.corners[tet][0].cast::<f64>())
    }

    fn distance_squared(&self, tet: usize, point: Vec3) -> f32 {
        let weights = self.weights(tet, point);
        if weights.min() >= 0.0 && weights.sum() <= 1.0 {
            return 0.0;
        }
        let corners = self.corners[tet];
        FACES
            .iter()
            .map(|face| {
                let nearest = closest::on_triangle(point, face.map(|corner| corners[corner]));
                (point - nearest.point).norm_squared()
            })
            .fold(f32::INFINITY, f32::min)
    }

    fn nearest(&self, point: Vec3) -> usize {
        let mut best = (f32::INFINITY, usize::MAX);
        let mut stack = vec![(0.0, self.tree.root())];
        while let Some((squared, node)) = stack.pop() {
            if squared > best.0 {
                continue;
            }
            if let Some(range) = self.tree.leaf(node) {
                for &tet in &self.order[range] {
                    let candidate = (self.distance_squared(tet, point), tet);
                    if candidate.0 < best.0 || candidate.0 == best.0 && tet < best.1 {
                        best = candidate;
                    }
                }
                continue;
            }
            let (left, right) = self.tree.children(node);
            let distance = |child| (self.tree.distance_squared(child, point), child);
            let (near, far) = (distance(left), distance(right));
            // The nearer one is taken first.
            if near.0 <= far.0 {
                stack.extend([far, near]);
            } else {
                stack.extend([near, far]);
            }
        }
        best.1.min(self.corners.len() - 1)
    }
}
