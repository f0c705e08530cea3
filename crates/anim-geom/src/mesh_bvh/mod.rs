//! Bounding volume hierarchies over a mesh: signed distance and rays, and what stands between two points.
//!
//! Built once from a [`Mesh`] and shared by every collider that uses it. The sign of a distance comes from
//! pseudonormals, so it is right next to edges and corners too, where the normal of the nearest face alone is not. An
//! open surface, such as a height field, has two sides rather than an inside: distances are negative behind it.
//!
//! ```
//! use anim_geom::{MeshBvh, primitives};
//! use anim_math::Vec3;
//!
//! let bvh = MeshBvh::new(&primitives::cuboid(Vec3::new(1.0, 1.0, 1.0)))?;
//! assert_eq!(bvh.nearest(Vec3::new(0.0, 3.0, 0.0)).distance, 2.0);
//! assert_eq!(bvh.nearest(Vec3::new(0.0, 0.9, 0.5)).normal, Vec3::y());
//! # Ok::<(), anim_geom::GeomError>(())
//! ```

mod face;
mod occluder;
mod ridge;
pub(crate) mod tree;

use anim_math::Vec3;

use crate::closest::{self, Feature, TrianglePoint};
use crate::topology::weld;
use crate::{GeomError, Mesh};
use face::{Face, faces};
pub use occluder::Occluder;
pub use ridge::Ridge;
use tree::{Ray, Tree};

/// The largest coordinate whose products stay finite in f32, metres.
pub(crate) const LARGEST: f32 = 1.0e15;

/// A triangle mesh, indexed for nearest points and rays; immutable.
#[derive(Clone, Debug)]
pub struct MeshBvh {
    tree: Tree,
    /// In the order of the tree.
    faces: Vec<Face>,
    closed: bool,
    ridges: Vec<Ridge>,
}

/// The point of a mesh nearest to a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshPoint {
    /// Metres, negative inside or behind.
    pub distance: f32,
    /// Unit length, out of the surface: along the way from `point` to a query outside, against it inside.
    pub normal: Vec3,
    /// The nearest point.
    pub point: Vec3,
    /// The triangle it lies on; of several, the one with the smallest index.
    pub triangle: u32,
    /// Its weights at the triangle's corners.
    pub barycentric: [f32; 3],
}

/// Where a ray meets a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshHit {
    /// Metres from the origin of the ray.
    pub distance: f32,
    /// The unit normal of the triangle, on its outer side.
    pub normal: Vec3,
    /// The triangle.
    pub triangle: u32,
    /// The weights of the hit at the triangle's corners.
    pub barycentric: [f32; 3],
}

impl MeshBvh {
    /// Indexes the triangles of `mesh`. O(F log F).
    ///
    /// Vertices at the same position count as one, so seams of texture coordinates do not open the surface; triangles
    /// without area are left out.
    ///
    /// Source: hierarchy by surface area (crate bvh); pseudonormals by Bærentzen and Aanæs, "Signed distance computation
    /// using the angle weighted pseudonormal", IEEE TVCG 11(3), 2005.
    ///
    /// # Errors
    ///
    /// What [`Mesh::check`] finds; [`GeomError::TooFar`] for a coordinate beyond 10¹⁵ m; [`GeomError::Empty`] if no
    /// triangle has an area.
    pub fn new(mesh: &Mesh) -> Result<Self, GeomError> {
        mesh.check()?;
        let positions = &mesh.rest.positions;
        check_reach(positions)?;
        let welded = weld(positions);
        let triangles: Vec<[u32; 3]> = mesh
            .triangles
            .iter()
            .map(|t| t.map(|v| welded[v as usize]))
            .collect();
        let (faces, closed) = faces(positions, &triangles);
        if faces.is_empty() {
            return Err(GeomError::Empty("triangles with an area"));
        }
        let ridges = if closed {
            ridge::ridges(&faces, &triangles, positions.len())
        } else {
            Vec::new()
        };
        let corners: Vec<[Vec3; 3]> = faces.iter().map(|face| face.corners).collect();
        let (tree, order) = Tree::new(&corners);
        Ok(Self {
            tree,
            faces: order.iter().map(|&face| faces[face]).collect(),
            closed,
            ridges,
        })
    }

    /// True if the surface encloses a volume, so that a negative distance means inside.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The edges and corners that turn outwards by more than 20°, if the surface is closed; none otherwise.
    pub fn ridges(&self) -> &[Ridge] {
        &self.ridges
    }

    /// Number of triangles that have an area.
    pub fn triangle_count(&self) -> usize {
        self.faces.len()
    }

    /// The corners of the triangles that have an area, counter-clockwise from outside, in no particular order.
    pub fn triangles(&self) -> impl Iterator<Item = [Vec3; 3]> {
        self.faces.iter().map(|face| face.corners)
    }

    /// The point of the surface nearest to `point`; ties go to the triangle with the smallest index.
    ///
    /// A query that is not finite is infinitely far from the first triangle.
    pub fn nearest(&self, point: Vec3) -> MeshPoint {
        self.nearest_within(point, f32::INFINITY)
            .unwrap_or(MeshPoint {
                distance: f32::MAX,
                normal: self.faces[0].normal,
                point: self.faces[0].corners[0],
                triangle: self.faces[0].triangle,
                barycentric: [1.0, 0.0, 0.0],
            })
    }

    /// The point of the surface nearest to `point`, or `None` if it is more than `max_distance` metres away on either
    /// side. The smaller `max_distance`, the faster.
    pub fn nearest_within(&self, point: Vec3, max_distance: f32) -> Option<MeshPoint> {
        let limit = max_distance * max_distance;
        if !(max_distance >= 0.0 && point.iter().all(|c| c.is_finite())) {
            return None;
        }
        let mut best = Candidate {
            squared: limit,
            nearest: None,
        };
        self.search(self.tree.root(), point, &mut best);
        let (face, nearest) = best.nearest?;
        let face = &self.faces[face];
        let pseudonormal = match nearest.feature {
            Feature::Face => face.normal,
            Feature::Edge(edge) => face.edge_normals[usize::from(edge)],
            Feature::Corner(corner) => face.corner_normals[usize::from(corner)],
        };
        let offset = point - nearest.point;
        let sign = if offset.dot(&pseudonormal) < 0.0 {
            -1.0
        } else {
            1.0
        };
        let distance = offset.norm();
        // Closer than the rounding of the coordinates, the offset has no direction.
        let normal = if distance > 4.0 * f32::EPSILON * point.amax() {
            offset * (sign / distance)
        } else {
            pseudonormal
        };
        Some(MeshPoint {
            distance: sign * distance,
            normal,
            point: nearest.point,
            triangle: face.triangle,
            barycentric: nearest.barycentric,
        })
    }

    /// The first triangle that the ray from `origin` meets within `max_distance` metres, from either side.
    ///
    /// `direction` need not be of unit length. Watertight: no ray slips between two triangles that share an edge. A
    /// zero or non-finite ray meets nothing.
    ///
    /// Source: Woop, Benthin, Wald, "Watertight ray/triangle intersection", JCGT 2(1), 2013.
    pub fn ray(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<MeshHit> {
        let ray = Ray::new(origin, direction)?;
        let mut best = None;
        let mut limit = if max_distance >= 0.0 {
            max_distance
        } else {
            return None;
        };
        self.cast(self.tree.root(), &ray, &mut limit, &mut best);
        best
    }

    fn search(&self, node: usize, point: Vec3, best: &mut Candidate) {
        if let Some(range) = self.tree.leaf(node) {
            for face in range {
                let nearest = closest::on_proper_triangle(point, self.faces[face].corners);
                let squared = (point - nearest.point).norm_squared();
                let wins = squared < best.squared
                    || squared == best.squared
                        && best.nearest.is_none_or(|(old, _)| {
                            self.faces[face].triangle < self.faces[old].triangle
                        });
                if wins {
                    *best = Candidate {
                        squared,
                        nearest: Some((face, nearest)),
                    };
                }
            }
            return;
        }
        let (mut near, mut far) = self.tree.children(node);
        let mut near_squared = self.tree.distance_squared(near, point);
        let mut far_squared = self.tree.distance_squared(far, point);
        if far_squared < near_squared {
            (near, far) = (far, near);
            (near_squared, far_squared) = (far_squared, near_squared);
        }
        if near_squared <= best.squared {
            self.search(near, point, best);
        }
        if far_squared <= best.squared {
            self.search(far, point, best);
        }
    }

    fn cast(&self, node: usize, ray: &Ray, limit: &mut f32, best: &mut Option<MeshHit>) {
        if let Some(range) = self.tree.leaf(node) {
            for face in &self.faces[range] {
                let Some((distance, barycentric)) = ray.triangle(face.corners) else {
                    continue;
                };
                let tie = distance == *limit && best.is_none_or(|hit| face.triangle < hit.triangle);
                if distance < *limit || tie {
                    *limit = distance;
                    *best = Some(MeshHit {
                        distance,
                        normal: face.normal,
                        triangle: face.triangle,
                        barycentric,
                    });
                }
            }
            return;
        }
        let (left, right) = self.tree.children(node);
        let entry = |child| self.tree.entry(child, ray).filter(|t| *t <= *limit);
        match (entry(left), entry(right)) {
            (Some(a), Some(b)) => {
                let (near, far, far_entry) = if b < a {
                    (right, left, a)
                } else {
                    (left, right, b)
                };
                self.cast(near, ray, limit, best);
                if far_entry <= *limit {
                    self.cast(far, ray, limit, best);
                }
            }
            (Some(_), None) => self.cast(left, ray, limit, best),
            (None, Some(_)) => self.cast(right, ray, limit, best),
            (None, None) => {}
        }
    }
}

/// The best answer so far of a search.
struct Candidate {
    squared: f32,
    nearest: Option<(usize, TrianglePoint)>,
}

/// Refuses coordinates of which products would overflow.
fn check_reach(positions: &[Vec3]) -> Result<(), GeomError> {
    match positions.iter().position(|p| p.amax() > LARGEST) {
        Some(vertex) => Err(GeomError::TooFar { vertex }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Vertices, primitives};
    use proptest::prelude::*;

    fn mesh(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
        let normals = vec![Vec3::y(); positions.len()];
        Mesh {
            rest: Vertices { positions, normals },
            uvs: Vec::new(),
            triangles,
        }
    }

    /// Signed distance to a box about the origin.
    fn box_distance(point: Vec3, half: Vec3) -> f32 {
        let q = point.abs() - half;
        q.sup(&Vec3::zeros()).norm() + q.max().min(0.0)
    }

    #[test]
    fn any_number_of_threads_builds_the_same_hierarchy() {
        let ball = primitives::sphere(1.0, 40, 30);
        let expected = format!("{:?}", MeshBvh::new(&ball).unwrap());
        for threads in 1..4 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let built = pool.build().unwrap().install(|| MeshBvh::new(&ball));
            assert_eq!(format!("{:?}", built.unwrap()), expected);
        }
    }

    fn vector(size: f32) -> impl Strategy<Value = Vec3> {
        let c = -size..size;
        [c.clone(), c.clone(), c].prop_map(Vec3::from)
    }

    proptest! {
        #[test]
        fn the_distance_to_a_box_is_its_closed_form(point in vector(4.0)) {
            let half = Vec3::new(1.0, 2.0, 0.5);
            let bvh = MeshBvh::new(&primitives::cuboid(half)).unwrap();
            let nearest = bvh.nearest(point);
            prop_assert!((nearest.distance - box_distance(point, half)).abs() < 1e-5);
            prop_assert!((nearest.normal.norm() - 1.0).abs() < 1e-5);
            prop_assert!((nearest.point + nearest.normal * nearest.distance - point).norm() < 1e-5);
        }

        #[test]
        fn the_hierarchy_finds_what_a_full_scan_finds(
            vertices in proptest::collection::vec(vector(5.0), 3..40), point in vector(8.0), direction in vector(1.0),
        ) {
            let triangles: Vec<_> = (0..vertices.len() as u32 - 2).map(|i| [i, i + 1, i + 2]).collect();
            let soup = mesh(vertices.clone(), triangles.clone());
            let bvh = MeshBvh::new(&soup).unwrap();
            let corners = |t: &[u32; 3]| t.map(|v| vertices[v as usize]);
            let nearest = triangles
                .iter()
                .map(|t| closest::distance_to_triangle(point, corners(t)))
                .fold(f32::INFINITY, f32::min);
            prop_assert_eq!(bvh.nearest(point).distance.abs(), nearest);
            prop_assert!(bvh.nearest_within(point, nearest * 0.999).is_none() || nearest == 0.0);
            prop_assert!(bvh.nearest_within(point, nearest * 1.001).is_some());

            let Some(ray) = Ray::new(point, direction) else { return Ok(()) };
            let first = triangles
                .iter()
                .filter_map(|t| Some(ray.triangle(corners(t))?.0))
                .fold(f32::INFINITY, f32::min);
            let hit = bvh.ray(point, direction, f32::INFINITY).map_or(f32::INFINITY, |hit| hit.distance);
            prop_assert_eq!(hit, first);
        }
    }

    /// The wedge where the nearest face's own normal gives the wrong sign: pseudonormals must not.
    #[test]
    fn the_sign_is_right_around_every_feature_of_a_sharp_spike() {
        let spike = mesh(
            vec![
                Vec3::new(-0.1, 0.0, -0.1),
                Vec3::new(0.1, 0.0, -0.1),
                Vec3::new(0.0, 0.0, 0.1),
                Vec3::new(0.02, 5.0, 0.01),
            ],
            vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]],
        );
        let bvh = MeshBvh::new(&spike).unwrap();
        assert!(bvh.is_closed());
        let inside = |p: Vec3| {
            spike.triangles.iter().all(|t| {
                let [a, b, c] = t.map(|v| spike.rest.positions[v as usize].cast::<f64>());
                (b - a).cross(&(c - a)).dot(&(p.cast() - a)) < 0.0
            })
        };
        for i in 0..40_000 {
            let [x, y, z] = [i % 40, i / 40 % 25, i / 1000].map(|k| k as f32);
            let p = Vec3::new(x * 0.0153 - 0.3, y * 0.283 - 0.5, z * 0.0131 - 0.26);
            let nearest = bvh.nearest(p);
            if nearest.distance.abs() > 1e-5 {
                assert_eq!(nearest.distance < 0.0, inside(p), "{p:?} {nearest:?}");
            }
        }
    }

    #[test]
    fn an_open_sheet_is_negative_behind_also_beyond_its_border() {
        let bvh = MeshBvh::new(&primitives::grid(4, 4, 0.5)).unwrap();
        assert!(!bvh.is_closed());
        for x in [0.1, 3.0] {
            assert!(bvh.nearest(Vec3::new(x, 0.5, 0.2)).distance > 0.0);
            assert!(bvh.nearest(Vec3::new(x, -0.5, 0.2)).distance < 0.0);
        }
        assert_eq!(bvh.nearest(Vec3::new(0.1, 0.0, 0.2)).normal, Vec3::y());
    }

    #[test]
    fn seams_of_a_sphere_do_not_open_it() {
        let bvh = MeshBvh::new(&primitives::sphere(1.0, 24, 12)).unwrap();
        assert!(bvh.is_closed());
        for i in 0..200 {
            let angle = i as f32 * 0.1;
            let direction =
                Vec3::new(angle.cos(), 0.3 * (3.0 * angle).sin(), angle.sin()).normalize();
            assert!(bvh.nearest(direction * 1.1).distance > 0.09);
            assert!(bvh.nearest(direction * 0.8).distance < -0.1);
        }
    }

    #[test]
    fn no_ray_slips_through_an_edge_or_a_vertex() {
        let sphere = primitives::sphere(1.0, 20, 10);
        let bvh = MeshBvh::new(&sphere).unwrap();
        for triangle in &sphere.triangles {
            for side in 0..3 {
                let [a, b] = [triangle[side], triangle[(side + 1) % 3]]
                    .map(|v| sphere.rest.positions[v as usize]);
                for target in [a, (a + b) * 0.5, a * 0.7 + b * 0.3] {
                    let origin = Vec3::new(0.013, -0.007, 0.021);
                    let hit = bvh.ray(origin, target - origin, 10.0).unwrap();
                    assert!((hit.distance - (target - origin).norm()).abs() < 1e-5);
                    assert!(hit.normal.dot(&target) > 0.5);
                }
            }
        }
    }

    #[test]
    fn rays_stop_at_their_length_and_bad_ones_meet_nothing() {
        let bvh = MeshBvh::new(&primitives::cuboid(Vec3::repeat(1.0))).unwrap();
        let above = Vec3::new(0.3, 3.0, 0.2);
        let hit = bvh.ray(above, -2.0 * Vec3::y(), 5.0).unwrap();
        assert_eq!((hit.distance, hit.normal), (2.0, Vec3::y()));
        assert_eq!(bvh.ray(above, -Vec3::y(), 1.9), None);
        assert_eq!(bvh.ray(above, Vec3::y(), f32::INFINITY), None);
        assert_eq!(bvh.ray(above, Vec3::zeros(), 5.0), None);
        assert_eq!(bvh.ray(above, Vec3::repeat(f32::NAN), 5.0), None);
        assert_eq!(bvh.ray(above, -Vec3::y(), f32::NAN), None);
    }

    #[test]
    fn degenerate_meshes_are_errors_and_degenerate_triangles_are_not() {
        assert_eq!(
            MeshBvh::new(&Mesh::default()).err(),
            Some(GeomError::Empty("triangles with an area"))
        );
        let line = vec![Vec3::zeros(), Vec3::x(), Vec3::x() * 2.0, Vec3::y()];
        assert!(MeshBvh::new(&mesh(line.clone(), vec![[0, 1, 2]; 9])).is_err());
        let bvh = MeshBvh::new(&mesh(line, vec![[0, 1, 2], [0, 1, 3]])).unwrap();
        assert_eq!(bvh.triangle_count(), 1);
        assert_eq!(bvh.nearest(Vec3::new(0.1, 0.1, 1.0)).triangle, 1);
        let far = vec![Vec3::zeros(), Vec3::x() * 1e16, Vec3::y()];
        assert_eq!(
            MeshBvh::new(&mesh(far, vec![[0, 1, 2]])).err(),
            Some(GeomError::TooFar { vertex: 1 })
        );
    }

    #[test]
    fn ties_go_to_the_smallest_triangle() {
        let points = vec![Vec3::zeros(), Vec3::x(), Vec3::z()];
        let bvh = MeshBvh::new(&mesh(points, vec![[0, 2, 1]; 17])).unwrap();
        assert_eq!(bvh.nearest(Vec3::new(0.2, 1.0, 0.2)).triangle, 0);
        let hit = bvh.ray(Vec3::new(0.2, 1.0, 0.2), -Vec3::y(), 2.0).unwrap();
        assert_eq!(hit.triangle, 0);
    }

    #[test]
    fn queries_that_are_not_finite_are_far_away() {
        let bvh = MeshBvh::new(&primitives::cuboid(Vec3::repeat(1.0))).unwrap();
        let nearest = bvh.nearest(Vec3::new(f32::NAN, 0.0, 0.0));
        assert_eq!(nearest.distance, f32::MAX);
        assert!(bvh.nearest_within(Vec3::zeros(), f32::NAN).is_none());
    }
}
