//! Closest points on segments and triangles.
//!
//! The pieces that distance queries are made of: colliders, attachment of one surface to another and contact tests.
//! Every function answers for degenerate input too (coincident ends, triangles without area).
//!
//! ```
//! use anim_geom::closest::{self, Feature};
//! use anim_math::Vec3;
//!
//! let corners = [Vec3::zeros(), Vec3::x(), Vec3::y()];
//! let nearest = closest::on_triangle(Vec3::new(0.25, 0.25, 2.0), corners);
//! assert_eq!(nearest.point, Vec3::new(0.25, 0.25, 0.0));
//! assert_eq!(nearest.feature, Feature::Face);
//! ```

use anim_math::Vec3;

/// The part of a triangle that a point on it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The interior.
    Face,
    /// The edge from corner i to corner (i + 1) mod 3, ends excluded.
    Edge(u8),
    /// Corner i.
    Corner(u8),
}

/// The point of a triangle that is closest to a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrianglePoint {
    /// Where it is.
    pub point: Vec3,
    /// Its weights at the three corners: not negative, sum 1.
    pub barycentric: [f32; 3],
    /// The part of the triangle it lies on.
    pub feature: Feature,
}

/// The parameter in [0, 1] of the closest point to `point` on the segment from `a` (0) to `b` (1).
///
/// A segment without length answers 0.
pub fn segment_parameter(point: Vec3, a: Vec3, b: Vec3) -> f32 {
    let along = b - a;
    let length_squared = along.norm_squared();
    if length_squared > 0.0 {
        ((point - a).dot(&along) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// The closest point to `point` on the segment from `a` to `b`.
pub fn on_segment(point: Vec3, a: Vec3, b: Vec3) -> Vec3 {
    let parameter = segment_parameter(point, a, b);
    // The far end is returned exactly, so that contacts at a shared joint agree to the bit.
    if parameter == 1.0 {
        b
    } else {
        a + (b - a) * parameter
    }
}

/// The distance from `point` to the segment from `a` to `b`, metres.
pub fn distance_to_segment(point: Vec3, a: Vec3, b: Vec3) -> f32 {
    (point - on_segment(point, a, b)).norm()
}

/// The distance from `point` to a triangle, metres.
pub fn distance_to_triangle(point: Vec3, corners: [Vec3; 3]) -> f32 {
    (point - on_triangle(point, corners).point).norm()
}

/// The closest point to `point` on the triangle `corners`.
///
/// Walks the seven Voronoi regions (three corners, three edges, the face); a triangle without area is treated as its
/// three edges.
///
/// Source: Ericson, "Real-Time Collision Detection", 2005, section 5.1.5.
pub fn on_triangle(point: Vec3, corners: [Vec3; 3]) -> TrianglePoint {
    if is_degenerate(corners) {
        on_outline(point, corners)
    } else {
        on_proper_triangle(point, corners)
    }
}

/// [`on_triangle`] for a triangle that is known to have an area.
#[inline]
pub(crate) fn on_proper_triangle(point: Vec3, corners: [Vec3; 3]) -> TrianglePoint {
    let [a, b, c] = corners;
    let (ab, ac) = (b - a, c - a);
    let ap = point - a;
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return corner(corners, 0);
    }
    let bp = point - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return corner(corners, 1);
    }
    let cp = point - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return corner(corners, 2);
    }
    let weight_c = d1 * d4 - d3 * d2;
    if weight_c <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return edge(corners, 0, d1 / (d1 - d3));
    }
    let weight_a = d3 * d6 - d5 * d4;
    if weight_a <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return edge(corners, 1, (d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let weight_b = d5 * d2 - d1 * d6;
    if weight_b <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return edge(corners, 2, d6 / (d6 - d2));
    }
    let scale = 1.0 / (weight_a + weight_b + weight_c);
    let (v, w) = (weight_b * scale, weight_c * scale);
    TrianglePoint {
        point: a + ab * v + ac * w,
        barycentric: [(1.0 - v - w).max(0.0), v, w],
        feature: Feature::Face,
    }
}

/// True if a triangle has no area beyond rounding: its height is below ε times its longest edge, or it is not finite.
pub fn is_degenerate(corners: [Vec3; 3]) -> bool {
    let [a, b, c] = corners;
    let longest = (b - a)
        .norm_squared()
        .max((c - b).norm_squared())
        .max((a - c).norm_squared());
    let double_area = (b - a).cross(&(c - a)).norm();
    let has_area = double_area > 4.0 * f32::EPSILON * longest && double_area.is_finite();
    !has_area
}

fn corner(corners: [Vec3; 3], index: u8) -> TrianglePoint {
    let mut barycentric = [0.0; 3];
    barycentric[usize::from(index)] = 1.0;
    TrianglePoint {
        point: corners[usize::from(index)],
        barycentric,
        feature: Feature::Corner(index),
    }
}

/// The point of edge `index` at `parameter`; its ends are corners.
fn edge(corners: [Vec3; 3], index: u8, parameter: f32) -> TrianglePoint {
    let next = (index + 1) % 3;
    if parameter <= 0.0 {
        return corner(corners, index);
    }
    if parameter >= 1.0 {
        return corner(corners, next);
    }
    let (from, to) = (corners[usize::from(index)], corners[usize::from(next)]);
    let mut barycentric = [0.0; 3];
    barycentric[usize::from(index)] = 1.0 - parameter;
    barycentric[usize::from(next)] = parameter;
    TrianglePoint {
        point: from + (to - from) * parameter,
        barycentric,
        feature: Feature::Edge(index),
    }
}

/// The closest point on the three edges.
fn on_outline(point: Vec3, corners: [Vec3; 3]) -> TrianglePoint {
    let on_edge = |index: u8| {
        let (from, to) = (usize::from(index), usize::from((index + 1) % 3));
        let parameter = segment_parameter(point, corners[from], corners[to]);
        let nearest = edge(corners, index, parameter);
        ((point - nearest.point).norm_squared(), nearest)
    };
    let mut best = on_edge(0);
    for index in [1, 2] {
        let candidate = on_edge(index);
        if candidate.0 < best.0 {
            best = candidate;
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CORNERS: [Vec3; 3] = [
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(4.0, 0.0, 0.0),
        Vec3::new(0.0, 4.0, 0.0),
    ];

    #[test]
    fn all_seven_regions_of_a_triangle_answer_exactly() {
        let half = 0.5;
        let cases = [
            ([1.0, 1.0, 3.0], [1.0, 1.0, 0.0], Feature::Face),
            ([-1.0, -2.0, 1.0], [0.0, 0.0, 0.0], Feature::Corner(0)),
            ([6.0, -1.0, 1.0], [4.0, 0.0, 0.0], Feature::Corner(1)),
            ([-1.0, 7.0, -1.0], [0.0, 4.0, 0.0], Feature::Corner(2)),
            ([1.0, -2.0, half], [1.0, 0.0, 0.0], Feature::Edge(0)),
            ([3.0, 3.0, half], [2.0, 2.0, 0.0], Feature::Edge(1)),
            ([-2.0, 3.0, -half], [0.0, 3.0, 0.0], Feature::Edge(2)),
        ];
        for (query, expected, feature) in cases {
            let nearest = on_triangle(Vec3::from(query), CORNERS);
            assert_eq!(nearest.point, Vec3::from(expected), "{feature:?}");
            assert_eq!(nearest.feature, feature);
        }
    }

    #[test]
    fn segments_clamp_to_their_ends() {
        let (a, b) = (Vec3::zeros(), Vec3::new(2.0, 0.0, 0.0));
        assert_eq!(on_segment(Vec3::new(-1.0, 1.0, 0.0), a, b), a);
        assert_eq!(on_segment(Vec3::new(5.0, 1.0, 0.0), a, b), b);
        assert_eq!(distance_to_segment(Vec3::new(1.0, 3.0, 4.0), a, b), 5.0);
        assert_eq!(on_segment(Vec3::new(1.0, 0.0, 0.0), a, a), a);
    }

    #[test]
    fn a_triangle_without_area_is_its_longest_edge() {
        let line = [
            Vec3::zeros(),
            Vec3::new(1.0, 0.0, 0.0),
            Vec3::new(3.0, 0.0, 0.0),
        ];
        let nearest = on_triangle(Vec3::new(2.0, 1.0, 0.0), line);
        assert_eq!(nearest.point, Vec3::new(2.0, 0.0, 0.0));
        let dot = on_triangle(Vec3::y(), [Vec3::x(); 3]);
        assert_eq!(dot.point, Vec3::x());
    }

    fn vector() -> impl Strategy<Value = Vec3> {
        [-10.0f32..10.0, -10.0f32..10.0, -10.0f32..10.0].prop_map(Vec3::from)
    }

    proptest! {
        #[test]
        fn no_sampled_point_of_the_triangle_is_closer(
            point in vector(), a in vector(), b in vector(), c in vector(), u in 0.0f32..1.0, v in 0.0f32..1.0,
        ) {
            let nearest = on_triangle(point, [a, b, c]);
            let [x, y, z] = nearest.barycentric;
            // A sliver's face point comes from quotients of cancelled products: ε times a height of 1e-2 of its edges.
            prop_assume!((b - a).cross(&(c - a)).norm() > 1.0);
            prop_assert!((a * x + b * y + c * z - nearest.point).norm() < 1e-4);
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let sample = a + (b - a) * u + (c - a) * v;
            prop_assert!((point - nearest.point).norm() <= (point - sample).norm() + 1e-3);
        }
    }
}
