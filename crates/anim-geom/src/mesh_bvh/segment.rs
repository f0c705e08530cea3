//! Whether something stands between two points: any triangle will do, so the walk ends at the first.

use anim_math::Vec3;

use super::MeshBvh;
use super::tree::Ray;

/// How close to its ends, in parts of its length, a segment does not count.
const ENDS: f32 = 1.0e-4;

impl MeshBvh {
    /// True if a triangle that `ignore` does not name stands between `from` and `to`.
    ///
    /// The first and the last ten-thousandth of the way are open, so that points of the surface see out of it. Ends that
    /// coincide or are not finite have nothing between them.
    ///
    /// ```
    /// use anim_geom::{MeshBvh, primitives};
    /// use anim_math::Vec3;
    ///
    /// let bvh = MeshBvh::new(&primitives::sphere(1.0, 12, 8))?;
    /// assert!(bvh.blocks(Vec3::zeros(), Vec3::x() * 2.0, |_| false));
    /// assert!(!bvh.blocks(Vec3::zeros(), Vec3::x() * 0.5, |_| false));
    /// # Ok::<(), anim_geom::GeomError>(())
    /// ```
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
                let blocks = self.faces[range].iter().any(|face| {
                    let hit = ray.triangle(face.corners);
                    hit.is_some_and(|(t, _)| open.contains(&t)) && !ignore(face.triangle)
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
