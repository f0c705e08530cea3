//! When two features of a moving surface meet: a point and a triangle, or two edges, each on its way in a straight line.
//!
//! [`Features::time_of_impact`] limits a step so that the two stay apart; it is fast, errs only towards stopping early,
//! and knows neither parallel nor coplanar exceptions. [`Features::separated_throughout`] is a certificate for the many
//! pairs that an axis keeps apart, at the cost of a few products. [`Features::impact_interval`] encloses the true time
//! by interval arithmetic: it is slow and serves as the judge of the others.
//!
//! ```
//! use anim_geom::ccd::Features;
//! use anim_math::Vec3;
//!
//! // A point falls from 1 m above a triangle to 1 m below.
//! let corners = [Vec3::x(), Vec3::z(), -Vec3::x()];
//! let with = |point: Vec3| [point, corners[0], corners[1], corners[2]];
//! let (start, end) = (with(Vec3::new(0.1, 1.0, 0.1)), with(Vec3::new(0.1, -1.0, 0.1)));
//! let time = Features::PointTriangle.time_of_impact(&start, &end, 0.0).ok_or("it would pass")?;
//! assert!((0.4..0.5).contains(&time), "it stops short of the triangle");
//! let aside = with(Vec3::new(2.0, -1.0, 2.0));
//! assert_eq!(Features::PointTriangle.time_of_impact(&start, &aside, 0.0), None);
//! # Ok::<(), &str>(())
//! ```

mod additive;
mod inclusion;
mod nearest;

use anim_math::Vec3;
use nalgebra::Vector3;

/// Which two features four points make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// The first point and the triangle of the other three.
    PointTriangle,
    /// The edge of the first two points and that of the last two.
    EdgeEdge,
}

impl Features {
    /// How many of the four points belong to the first feature.
    #[inline]
    pub fn split(self) -> usize {
        match self {
            Self::PointTriangle => 1,
            Self::EdgeEdge => 2,
        }
    }

    /// Weights w such that Σ wᵢ xᵢ is the shortest way from the second feature to the first, metres.
    ///
    /// Those of the first feature sum to 1, those of the second to −1; they are also how the length of that way grows with
    /// each point, in units of its direction. Computed in f64. Features without extent are points and segments; parallel
    /// edges answer with one of their nearest pairs.
    #[inline]
    pub fn weights(self, points: &[Vec3; 4]) -> [f32; 4] {
        let [a, b, c, d] = self.exact_weights(&widen_all(points));
        [a as f32, b as f32, c as f32, d as f32]
    }

    /// A time in [0, 1], as a fraction of the motion, up to which the two stay more than `separation` metres apart, or
    /// `None` if they do throughout.
    ///
    /// It leaves up to a tenth of the distance that there is at the start, and stops motion that would graze by less than a
    /// thousandth of it. Two that start nearer than `separation` are kept from coming nearer than they start; two
    /// that touch at the start may not move relative to each other. Points that are not finite may not move.
    ///
    /// Costs 0.1 to 1 µs.
    ///
    /// Source: Li, Kaufman, Jiang, "Codimensional incremental potential contact", SIGGRAPH 2021, algorithm 1 (additive CCD).
    pub fn time_of_impact(
        self,
        start: &[Vec3; 4],
        end: &[Vec3; 4],
        separation: f32,
    ) -> Option<f32> {
        additive::time_of_impact(
            self,
            &widen_all(start),
            &widen_all(end),
            f64::from(separation),
        )
    }

    /// True if `axis` keeps the first feature more than `separation` metres above the second both at the start and at the
    /// end, and therefore in between; false where it does not, whether they meet or not.
    ///
    /// `axis` is of unit length. Its best choice is the direction of the way that [`weights`](Self::weights) makes.
    #[inline]
    pub fn separated_throughout(
        self,
        start: &[Vec3; 4],
        end: &[Vec3; 4],
        axis: Vec3,
        separation: f32,
    ) -> bool {
        self.gap(start, axis) > separation && self.gap(end, axis) > separation
    }

    /// How far the first feature lies above the second along `axis`, metres; negative where they overlap.
    #[inline]
    pub fn gap(self, points: &[Vec3; 4], axis: Vec3) -> f32 {
        // Relative to one of them, the heights keep the bits that large coordinates would cost.
        let height = |i: usize| (points[i] - points[0]).dot(&axis);
        let (a, b, c) = (height(1), height(2), height(3));
        match self {
            Self::PointTriangle => -a.max(b).max(c),
            Self::EdgeEdge => a.min(0.0) - b.max(c),
        }
    }

    /// An interval that holds the first time in [0, 1] at which the two come within `separation` metres of each other along
    /// every axis, or `None` if that is certain never to happen.
    ///
    /// The interval is at most `tolerance` wide unless the pair is degenerate and the search gives up early, which widens
    /// it to 1. Costs 10 to 1000 µs: for tests and offline checks.
    ///
    /// Source: Wang, Ferguson, Schneider, Jiang, Attene, Panozzo, "A large-scale benchmark and an inclusion-based algorithm
    /// for continuous collision detection", ACM TOG 40(5), 2021.
    pub fn impact_interval(
        self,
        start: &[Vec3; 4],
        end: &[Vec3; 4],
        separation: f32,
        tolerance: f64,
    ) -> Option<[f64; 2]> {
        let (start, end) = (widen_all(start), widen_all(end));
        inclusion::impact_interval(self, &start, &end, f64::from(separation), tolerance)
    }

    #[inline]
    fn exact_weights(self, points: &[Vector3<f64>; 4]) -> [f64; 4] {
        match self {
            Self::PointTriangle => nearest::point_triangle(points),
            Self::EdgeEdge => nearest::edge_edge(points),
        }
    }
}

/// Spelled out, because `map` over arrays of this size is not inlined.
#[inline]
fn widen_all([a, b, c, d]: &[Vec3; 4]) -> [Vector3<f64>; 4] {
    [widen(a), widen(b), widen(c), widen(d)]
}

#[inline]
fn widen(v: &Vec3) -> Vector3<f64> {
    Vector3::new(f64::from(v.x), f64::from(v.y), f64::from(v.z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CORNERS: [Vec3; 3] = [
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(0.0, 0.0, 1.0),
    ];

    fn point(from: [f32; 3], to: [f32; 3], corners: [Vec3; 3]) -> [[Vec3; 4]; 2] {
        [from, to].map(|p| [Vec3::from(p), corners[0], corners[1], corners[2]])
    }

    /// Both methods find the impact where it is.
    fn check_hit(features: Features, [start, end]: [[Vec3; 4]; 2], expected: f64) {
        let time = features.time_of_impact(&start, &end, 0.0).unwrap();
        // A tenth of the first distance may be left, and it is left no later than that.
        assert!(f64::from(time) <= expected, "{time} {expected}");
        assert!(f64::from(time) > expected * 0.85, "{time} {expected}");
        let [low, high] = features.impact_interval(&start, &end, 0.0, 1e-6).unwrap();
        assert!(
            (low..=high).contains(&expected) || (low - expected).abs() < 1e-5,
            "{low} {high}"
        );
    }

    fn check_miss(features: Features, [start, end]: [[Vec3; 4]; 2]) {
        assert_eq!(features.time_of_impact(&start, &end, 0.0), None);
        assert_eq!(features.impact_interval(&start, &end, 0.0, 1e-6), None);
    }

    #[test]
    fn a_point_meets_the_face_an_edge_and_a_corner() {
        for [x, z] in [[0.3, 0.3], [0.5, 0.0], [0.5, 0.5], [0.0, 0.0], [1.0, 0.0]] {
            check_hit(
                Features::PointTriangle,
                point([x, 1.0, z], [x, -1.0, z], CORNERS),
                0.5,
            );
        }
    }

    #[test]
    fn a_point_in_the_plane_of_a_triangle_meets_its_edge() {
        // From x = −1 to 0.2 the edge at 0 is met at 5/6.
        check_hit(
            Features::PointTriangle,
            point([-1.0, 0.0, 0.3], [0.2, 0.0, 0.3], CORNERS),
            1.0 / 1.2,
        );
    }

    #[test]
    fn a_point_meets_triangles_without_area() {
        let line = [Vec3::zeros(), Vec3::x() * 0.5, Vec3::x()];
        check_hit(
            Features::PointTriangle,
            point([0.3, 1.0, 0.0], [0.3, -1.0, 0.0], line),
            0.5,
        );
        let dot = [Vec3::x(); 3];
        check_hit(
            Features::PointTriangle,
            point([1.0, 1.0, 0.0], [1.0, -1.0, 0.0], dot),
            0.5,
        );
    }

    #[test]
    fn parallel_and_crossing_edges_meet() {
        let edges = |y: f32, other: [Vec3; 2]| {
            [Vec3::y() * y, Vec3::x() + Vec3::y() * y, other[0], other[1]]
        };
        let parallel = [Vec3::x() * 0.2, Vec3::x() * 1.3];
        let crossing = [Vec3::new(0.5, 0.0, -1.0), Vec3::new(0.4, 0.0, 1.0)];
        let at_ends = [Vec3::x(), Vec3::x() + Vec3::z()];
        for other in [parallel, crossing, at_ends] {
            check_hit(
                Features::EdgeEdge,
                [edges(1.0, other), edges(-1.0, other)],
                0.5,
            );
        }
    }

    #[test]
    fn a_miss_by_a_hundredth_is_a_miss() {
        let miss = point([-0.01, 1.0, 0.3], [-0.01, -1.0, 0.3], CORNERS);
        check_miss(Features::PointTriangle, miss);
        let edges = |y: f32| {
            let shift = Vec3::new(-0.01, y, 0.0);
            [shift - Vec3::x(), shift, -Vec3::z(), Vec3::z()]
        };
        check_miss(Features::EdgeEdge, [edges(1.0), edges(-1.0)]);
    }

    #[test]
    fn what_moves_together_never_meets() {
        // Parallel strips a hair apart, moved rigidly a kilometre.
        let start = [
            Vec3::zeros(),
            Vec3::x(),
            Vec3::y() * 1e-3,
            Vec3::x() + Vec3::y() * 1e-3,
        ];
        let end = start.map(|p| p + Vec3::new(512.0, 0.0, 1024.0));
        assert_eq!(Features::EdgeEdge.time_of_impact(&start, &end, 1e-4), None);
        assert!(Features::EdgeEdge.separated_throughout(&start, &end, -Vec3::y(), 9e-4));
    }

    #[test]
    fn two_bullets_that_cross_are_stopped() {
        let start = [
            Vec3::new(-10.0, 0.0, 0.0),
            Vec3::new(10.0, 1.0, 0.0),
            Vec3::new(10.0, -1.0, 1.0),
            Vec3::new(10.0, -1.0, -1.0),
        ];
        let end = start.map(|p| -p);
        let end = [
            end[0],
            end[1] + Vec3::y() * 2.0,
            end[2] - Vec3::y() * 2.0,
            end[3] - Vec3::y() * 2.0,
        ];
        let time = Features::PointTriangle
            .time_of_impact(&start, &end, 0.0)
            .unwrap();
        assert!((0.42..=0.5).contains(&time), "{time}");
    }

    #[test]
    fn touching_and_broken_points_may_not_move() {
        let [start, end] = point([0.3, 0.0, 0.3], [0.3, 1.0, 0.3], CORNERS);
        assert_eq!(
            Features::PointTriangle.time_of_impact(&start, &end, 0.0),
            Some(0.0)
        );
        let [start, end] = point([0.3, 1.0, 0.3], [0.3, f32::NAN, 0.3], CORNERS);
        assert_eq!(
            Features::PointTriangle.time_of_impact(&start, &end, 0.0),
            Some(0.0)
        );
        let [start, end] = point([0.3, 1.0, 0.3], [0.3, f32::MAX, 0.3], CORNERS);
        assert_ne!(
            Features::PointTriangle.time_of_impact(&start, &end, 0.0),
            Some(1.0)
        );
    }

    fn points() -> impl Strategy<Value = [Vec3; 4]> {
        let c = -1.0f32..1.0;
        let v = [c.clone(), c.clone(), c].prop_map(Vec3::from);
        [v.clone(), v.clone(), v.clone(), v]
    }

    fn distance(features: Features, points: &[Vec3; 4]) -> f32 {
        let weights = features.weights(points);
        (0..4)
            .fold(Vec3::zeros(), |sum, i| sum + points[i] * weights[i])
            .norm()
    }

    proptest! {
        #[test]
        fn the_shortest_way_is_no_longer_than_any_other(x in points(), u in 0.0f32..1.0, v in 0.0f32..1.0) {
            let (s, t) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let other = (x[0] - (x[1] * (1.0 - s - t) + x[2] * s + x[3] * t)).norm();
            prop_assert!(distance(Features::PointTriangle, &x) <= other + 1e-6);
            let other = (x[0] + (x[1] - x[0]) * u - x[2] - (x[3] - x[2]) * v).norm();
            prop_assert!(distance(Features::EdgeEdge, &x) <= other + 1e-6);
        }

        #[test]
        fn a_step_up_to_the_impact_is_free_of_it(start in points(), end in points()) {
            for features in [Features::PointTriangle, Features::EdgeEdge] {
                let interval = features.impact_interval(&start, &end, 0.0, 1e-4);
                match features.time_of_impact(&start, &end, 0.0) {
                    None => prop_assert!(interval.is_none_or(|[_, high]| high >= 1.0 - 1e-4), "{:?}", interval),
                    Some(time) => {
                        let there: [Vec3; 4] = std::array::from_fn(|i| start[i] + (end[i] - start[i]) * time);
                        let left = distance(features, &there);
                        prop_assert!(left > 0.0);
                        // The judge is blind to what is nearer than its cells are wide.
                        let before = features.impact_interval(&start, &there, 0.0, 1e-5);
                        prop_assert!(before.is_none() || left < 1e-4, "{:?} {}", before, left);
                    }
                }
                let weights = features.weights(&start);
                let axis = (0..4).fold(Vec3::zeros(), |sum, i| sum + start[i] * weights[i]).normalize();
                if features.separated_throughout(&start, &end, axis, 1e-4) {
                    prop_assert_eq!(interval, None);
                }
            }
        }
    }
}
