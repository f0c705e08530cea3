//! Whether something stands between two points: any triangle will do, so the walk ends at the first.

use anim_math::Vec3;

use super::check_reach;
use super::tree::{Ray, Tree};
use crate::{GeomError, Mesh, normals};

/// How close to its ends, in parts of its length, a segment does not count.
const ENDS: f32 = 1.0e-4;

/// The triangles of a mesh as what hides points from each other, prepared for many questions.
///
/// It knows neither signs nor normals, so it is made in half the time of a [`MeshBvh`](super::MeshBvh).
///
/// ```
/// use anim_geom::{Occluder, primitives};
/// use anim_math::Vec3;
///
/// let ball = Occluder::new(&primitives::sphere(1.0, 12, 8))?;
/// assert!(ball.blocks(Vec3::zeros(), Vec3::x() * 2.0, |_| false));
/// assert!(!ball.blocks(Vec3::zeros(), Vec3::x() * 0.5, |_| false));
/// # Ok::<(), anim_geom::GeomError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Occluder {
    tree: Tree,
    /// Corners, and the place in the mesh, in the order of the leaves.
    triangles: Vec<([Vec3; 3], u32)>,
}

impl Occluder {
    /// Indexes the triangles of `mesh` that have an area. O(F log F).
    ///
    /// # Errors
    ///
    /// What [`Mesh::check`] finds; [`GeomError::TooFar`] for a coordinate beyond 10¹⁵ m; [`GeomError::Empty`] if no
    /// triangle has an area.
    pub fn new(mesh: &Mesh) -> Result<Self, GeomError> {
        mesh.check()?;
        let positions = &mesh.rest.positions;
        check_reach(positions)?;
        let corners = |triangle: &[u32; 3]| triangle.map(|v| positions[v as usize]);
        let triangles: Vec<([Vec3; 3], u32)> = (0..)
            .zip(&mesh.triangles)
            .map(|(place, triangle)| (corners(triangle), place))
            .filter(|(corners, _)| normals::face(*corners).is_some())
            .collect();
        if triangles.is_empty() {
            return Err(GeomError::Empty("triangles with an area"));
        }
        let corners: Vec<[Vec3; 3]> = triangles.iter().map(|(corners, _)| *corners).collect();
        let (tree, order) = Tree::new(&corners);
        Ok(Self {
            tree,
            triangles: order.iter().map(|&place| triangles[place]).collect(),
        })
    }

    /// True if a triangle that `ignore` does not name stands between `from` and `to`.
    ///
    /// The first and the last ten-thousandth of the way are open, so that points of the surface see out of it. Ends that
    /// coincide or are not finite have nothing between them.
    pub fn blocks(&self, from: Vec3, to: Vec3, ignore: impl Fn(u32) -> bool) -> bool {
        let way = to - from;
        let Some(ray) = Ray::new(from, way) else {
            return false;
        };
        let length = way.norm();
        let open = ENDS * length..length - ENDS * length;
        let mut stack = vec![self.tree.root()];
        while let Some(node) = stack.pop() {
            if self.tree.entry(node, &ray).is_none_or(|t| t >= open.end) {
                continue;
            }
            if let Some(range) = self.tree.leaf(node) {
                let blocks = self.triangles[range].iter().any(|(corners, triangle)| {
                    let hit = ray.triangle(*corners);
                    hit.is_some_and(|(t, _)| open.contains(&t)) && !ignore(*triangle)
                });
                if blocks {
                    return true;
                }
            } else {
                let (left, right) = self.tree.children(node);
                stack.extend([right, left]);
            }
        }
        false
    }
}
