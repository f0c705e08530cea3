//! Neighbour search: which points lie near a place.
//!
//! One type, two indices. [`Neighbors::rebuild`] sorts the points into a grid: the per-frame path of particles, cloth
//! and flocks, where one radius serves all and the index is rebuilt each step. [`Neighbors::rebuild_tree`] bulk-loads
//! an R*-tree: slower to build and to ask at one radius, but the nearest k and radii of any size cost what they find.
//! Every query answers the same in both; only the cost and the order differ.
//!
//! ```
//! use anim_geom::Neighbors;
//! use anim_math::Vec3;
//!
//! let points = [Vec3::zeros(), Vec3::x(), Vec3::x() * 5.0];
//! let mut neighbors = Neighbors::default();
//! neighbors.rebuild(&points, 1.5);
//! let mut found = Vec::new();
//! neighbors.within(Vec3::zeros(), |point| found.push(point));
//! assert_eq!(found, [0, 1], "a point is its own neighbour");
//! ```

mod grid;

use std::ops::ControlFlow;

use anim_math::Vec3;
use rstar::primitives::GeomWithData;
use rstar::{AABB, RTree};

use grid::Grid;

/// A point of the tree and its index.
type Site = GeomWithData<[f32; 3], u32>;

/// An index of points, answering which lie near a place.
///
/// Points that are NaN or infinite are never found; a query at such a place finds nothing. Coincident points are all
/// found, and so is the point that a query stands on.
#[derive(Clone, Debug, Default)]
pub struct Neighbors {
    radius: f32,
    index: Index,
    /// The last grid, kept while the tree is in use, so that its buffers are not allocated anew.
    spare: Grid,
}

#[derive(Clone, Debug)]
enum Index {
    Grid(Grid),
    Tree(RTree<Site>),
}

impl Default for Index {
    fn default() -> Self {
        Self::Grid(Grid::default())
    }
}

impl Neighbors {
    /// Indexes `points` in a grid for [`within`](Self::within) `radius`, metres.
    ///
    /// O(P) time and memory wherever the points are, also with a few far astray. Allocates nothing once it has seen as
    /// many points. A radius that is NaN or not positive indexes nothing.
    pub fn rebuild(&mut self, points: &[Vec3], radius: f32) {
        if let Index::Tree(_) = self.index {
            self.index = Index::Grid(std::mem::take(&mut self.spare));
        }
        self.radius = radius;
        if let Index::Grid(grid) = &mut self.index {
            grid.rebuild(points, radius);
        }
    }

    /// Indexes `points` in an R*-tree; `radius` is what [`within`](Self::within) uses.
    ///
    /// O(P log P), some ten times the cost of [`rebuild`](Self::rebuild), and it allocates: for points that stay, or
    /// for questions that have no single radius. A radius that is NaN or not positive indexes nothing.
    ///
    /// Source: Beckmann, Kriegel, Schneider, Seeger, "The R*-tree", SIGMOD 1990, as in the crate rstar.
    pub fn rebuild_tree(&mut self, points: &[Vec3], radius: f32) {
        let sites: Vec<Site> = (0..)
            .zip(points)
            .filter(|(_, point)| radius > 0.0 && is_finite(**point))
            .map(|(index, point)| Site::new((*point).into(), index))
            .collect();
        self.radius = radius;
        let tree = Index::Tree(RTree::bulk_load(sites));
        if let Index::Grid(grid) = std::mem::replace(&mut self.index, tree) {
            self.spare = grid;
        }
    }

    /// The radius of [`within`](Self::within), metres.
    pub fn radius(&self) -> f32 {
        self.radius
    }

    /// Number of points that can be found.
    pub fn len(&self) -> usize {
        match &self.index {
            Index::Grid(grid) => grid.entries().len(),
            Index::Tree(tree) => tree.size(),
        }
    }

    /// True if nothing can be found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Visits every point at most the index's radius from `center`.
    ///
    /// The order is a function of the points and of `center` alone: in the grid cell by cell, ascending within a cell;
    /// in the tree its own. Allocates nothing in the grid.
    pub fn within(&self, center: Vec3, visit: impl FnMut(u32)) {
        self.within_radius(center, self.radius, visit);
    }

    /// Visits every point at most `radius` metres from `center`, in the order of [`within`](Self::within).
    ///
    /// In the grid the cost grows with the cells covered, (`radius` / index radius)³ at most, up to all of them.
    pub fn within_radius(&self, center: Vec3, radius: f32, mut visit: impl FnMut(u32)) {
        if !(is_finite(center) && radius >= 0.0) {
            return;
        }
        match &self.index {
            Index::Grid(grid) => grid.within(center, radius, visit),
            Index::Tree(tree) => {
                // A box that rounding cannot make too small; the distance then decides, as in the grid.
                let reach = center.map(|c| radius + 4.0 * f32::EPSILON * (radius + c.abs()));
                let envelope = AABB::from_corners((center - reach).into(), (center + reach).into());
                let _: ControlFlow<()> = tree.locate_in_envelope_int(envelope, |site| {
                    if distance_squared(*site.geom(), center) <= radius * radius {
                        visit(site.data);
                    }
                    ControlFlow::Continue(())
                });
            }
        }
    }

    /// Writes the `count` points nearest to `center` into `out`, nearest first, equal distances by index.
    ///
    /// Fewer if there are fewer. O(log P + `count`) in the tree; the grid looks at every point. Allocates.
    pub fn k_nearest(&self, center: Vec3, count: usize, out: &mut Vec<u32>) {
        out.clear();
        if !is_finite(center) || count == 0 {
            return;
        }
        let mut ranked: Vec<(f32, u32)> = match &self.index {
            Index::Grid(grid) => {
                let rank =
                    |entry: &grid::Entry| (distance_squared(entry.position, center), entry.index);
                grid.entries().iter().map(rank).collect()
            }
            Index::Tree(tree) => {
                let mut ranked: Vec<(f32, u32)> = Vec::with_capacity(count.min(tree.size()));
                for site in tree.nearest_neighbor_iter(center.into()) {
                    let distance = distance_squared(*site.geom(), center);
                    // The tree yields equal distances in any order: take them all, then sort.
                    if ranked.len() >= count && ranked.last().is_some_and(|last| distance > last.0)
                    {
                        break;
                    }
                    ranked.push((distance, site.data));
                }
                ranked
            }
        };
        ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        out.extend(ranked.iter().take(count).map(|(_, index)| *index));
    }
}

fn is_finite(point: Vec3) -> bool {
    point.iter().all(|c| c.is_finite())
}

#[inline(always)]
fn distance_squared(position: [f32; 3], center: Vec3) -> f32 {
    let [x, y, z] = position;
    let (dx, dy, dz) = (x - center.x, y - center.y, z - center.z);
    dx * dx + dy * dy + dz * dz
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn brute_force(points: &[Vec3], center: Vec3, radius: f32) -> Vec<u32> {
        (0..)
            .zip(points)
            .filter(|(_, p)| distance_squared((**p).into(), center) <= radius * radius)
            .map(|(i, _)| i)
            .collect()
    }

    fn found(neighbors: &Neighbors, center: Vec3, radius: f32) -> Vec<u32> {
        let mut found = Vec::new();
        neighbors.within_radius(center, radius, |i| found.push(i));
        found.sort_unstable();
        found
    }

    fn both(points: &[Vec3], radius: f32) -> [Neighbors; 2] {
        let [mut grid, mut tree] = [Neighbors::default(), Neighbors::default()];
        grid.rebuild(points, radius);
        tree.rebuild_tree(points, radius);
        [grid, tree]
    }

    /// Clusters near the origin, far from it, and with coordinates that coincide.
    fn points() -> impl Strategy<Value = Vec<Vec3>> {
        let coordinate = prop_oneof![
            -2.0f32..2.0,
            9_999.0f32..10_001.0,
            -3.0e6f32..3.0e6,
            Just(1.0f32)
        ];
        let point = [coordinate.clone(), coordinate.clone(), coordinate].prop_map(Vec3::from);
        proptest::collection::vec(point, 0..60)
    }

    proptest! {
        #[test]
        fn both_indices_find_what_brute_force_finds(
            points in points(), radius in 0.01f32..3.0, other in 0.0f32..20.0,
        ) {
            for neighbors in both(&points, radius) {
                for &center in &points {
                    let mut within = Vec::new();
                    neighbors.within(center, |i| within.push(i));
                    within.sort_unstable();
                    prop_assert_eq!(within, brute_force(&points, center, radius));
                    let found = found(&neighbors, center + Vec3::repeat(0.3), other);
                    prop_assert_eq!(found, brute_force(&points, center + Vec3::repeat(0.3), other));
                }
            }
        }

        #[test]
        fn the_nearest_k_are_those_of_a_full_sort(points in points(), count in 0usize..70) {
            for neighbors in both(&points, 1.0) {
                for &center in points.iter().take(5) {
                    let mut order: Vec<u32> = (0..points.len() as u32).collect();
                    let key = |i: u32| distance_squared(points[i as usize].into(), center);
                    order.sort_by(|a, b| key(*a).total_cmp(&key(*b)));
                    order.truncate(count);
                    let mut nearest = Vec::new();
                    neighbors.k_nearest(center, count, &mut nearest);
                    prop_assert_eq!(nearest, order);
                }
            }
        }
    }

    #[test]
    fn non_finite_points_are_never_found() {
        let points = [
            Vec3::zeros(),
            Vec3::new(f32::NAN, 0.0, 0.0),
            Vec3::new(0.0, f32::INFINITY, 0.0),
            Vec3::new(0.1, 0.0, 0.0),
        ];
        for neighbors in both(&points, 1.0) {
            assert_eq!(neighbors.len(), 2);
            assert_eq!(found(&neighbors, Vec3::zeros(), f32::INFINITY), [0, 3]);
            assert_eq!(found(&neighbors, Vec3::repeat(f32::NAN), 1.0), []);
            assert_eq!(found(&neighbors, Vec3::zeros(), f32::NAN), []);
        }
    }

    #[test]
    fn impossible_radii_index_nothing_and_an_infinite_one_everything() {
        let points = [Vec3::zeros(), Vec3::repeat(3.0e38), Vec3::repeat(-3.0e38)];
        for radius in [0.0, -1.0, f32::NAN] {
            for neighbors in both(&points, radius) {
                assert!(neighbors.is_empty());
                assert_eq!(found(&neighbors, Vec3::zeros(), 10.0), []);
            }
        }
        for neighbors in both(&points, f32::INFINITY) {
            assert_eq!(found(&neighbors, Vec3::zeros(), f32::INFINITY), [0, 1, 2]);
        }
        for neighbors in both(&points, 1.0e-40) {
            assert_eq!(found(&neighbors, Vec3::zeros(), 1.0e-40), [0]);
        }
    }

    #[test]
    fn modes_can_be_switched_and_rebuilt() {
        let mut neighbors = Neighbors::default();
        assert_eq!(found(&neighbors, Vec3::zeros(), 1.0), []);
        let points = [Vec3::zeros(), Vec3::x()];
        for _ in 0..2 {
            neighbors.rebuild_tree(&points, 1.0);
            assert_eq!(found(&neighbors, Vec3::zeros(), 1.0), [0, 1]);
            neighbors.rebuild(&points[..1], 2.0);
            assert_eq!(found(&neighbors, Vec3::zeros(), 1.0), [0]);
            assert_eq!(neighbors.radius(), 2.0);
        }
    }
}
