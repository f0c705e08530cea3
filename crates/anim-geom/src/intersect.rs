//! Whether triangles meet, exactly: no tolerance, no rounding, no case left out.
//!
//! The signs of orientation determinants are computed with as many bits as it takes, so an answer is right for every
//! input, coplanar, touching or without area. It is the judge of what a simulation of contact has left behind. Sets are
//! closed: touching is meeting.
//!
//! ```
//! use anim_geom::intersect;
//! use anim_math::Vec3;
//!
//! let triangle = [Vec3::zeros(), Vec3::x(), Vec3::z()];
//! let through = [Vec3::new(0.2, -1.0, 0.2), Vec3::new(0.2, 1.0, 0.2)];
//! assert!(intersect::segment_triangle(through, triangle));
//! assert!(!intersect::segment_triangle(through.map(|p| p + Vec3::x()), triangle));
//! ```
//!
//! Source: Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997 (crate
//! robust).

use anim_math::Vec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

use crate::{GeomError, MovingBvh};

/// True if a segment and a triangle have a point in common.
pub fn segment_triangle(segment: [Vec3; 2], triangle: [Vec3; 3]) -> bool {
    let [p, q] = segment;
    let [a, b, c] = triangle;
    let (below, above) = (side(triangle, p), side(triangle, q));
    if below * above > 0.0 {
        return false;
    }
    if below != 0.0 || above != 0.0 {
        // The line crosses the plane at one point; it is inside if it passes all edges on the same side.
        let turns = [[a, b], [b, c], [c, a]].map(|[from, to]| side([p, q, from], to));
        return turns.iter().all(|t| *t >= 0.0) || turns.iter().all(|t| *t <= 0.0);
    }
    if is_flat(triangle) {
        return [[a, b], [b, c], [c, a]]
            .iter()
            .any(|edge| segments(segment, *edge));
    }
    // In the plane of the triangle: sets meet if their shadows on all three planes of coordinates do, since one shadow at
    // least is faithful.
    PLANES.iter().all(|plane| {
        let [p, q] = segment.map(|v| shadow(v, *plane));
        let corners = triangle.map(|v| shadow(v, *plane));
        segment_triangle_2d([p, q], corners)
    })
}

/// True if two triangles have a point in common.
pub fn triangles(a: [Vec3; 3], b: [Vec3; 3]) -> bool {
    if is_on_one_side(a, &b) || is_on_one_side(b, &a) {
        return false;
    }
    let meets = |t: [Vec3; 3], other| {
        let [p, q, r] = t;
        [[p, q], [q, r], [r, p]]
            .iter()
            .any(|edge| segment_triangle(*edge, other))
    };
    meets(a, b) || meets(b, a)
}

/// The pairs of triangles of a mesh that meet elsewhere than in the vertices they share, each once and sorted.
///
/// Triangles that share an edge meet elsewhere if they are folded flat onto each other, those that share a vertex if they
/// also pass through each other. Triangles of the same three vertices are one, and triangles that repeat a vertex are
/// none. Costs a few microseconds a triangle.
///
/// # Errors
///
/// As [`MovingBvh::new`]; [`GeomError::TooManyPairs`] if more than 1000 pairs a triangle are near each other.
pub fn self_intersections(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
) -> Result<Vec<[u32; 2]>, GeomError> {
    let mut bvh = MovingBvh::new(positions, triangles)?;
    let mut pairs = Vec::new();
    bvh.self_pairs(triangles.len().saturating_mul(1000), &mut pairs)?;
    pairs.retain(|pair| mesh_triangles(positions, pair.map(|t| triangles[t as usize])));
    pairs.sort_unstable();
    Ok(pairs)
}

/// True if two triangles of a mesh meet elsewhere than in the vertices they share; see [`self_intersections`].
pub fn mesh_triangles(positions: &[Vec3], pair: [[u32; 3]; 2]) -> bool {
    let repeats = |[a, b, c]: [u32; 3]| a == b || b == c || c == a;
    if pair.into_iter().any(repeats) {
        return false;
    }
    let at = |v: u32| positions[v as usize];
    let [first, second] = pair;
    let corners = pair.map(|t| t.map(at));
    let shared = |v: &u32| second.contains(v);
    match first.iter().filter(|v| shared(v)).count() {
        0 => triangles(corners[0], corners[1]),
        1 => {
            // From the shared vertex the two run along a line until one of them ends, at its far edge.
            let far_edge = |t: [u32; 3], other: [u32; 3]| {
                let place = t.iter().position(|v| other.contains(v)).unwrap_or(0);
                [t[(place + 1) % 3], t[(place + 2) % 3]].map(at)
            };
            let far = [far_edge(first, second), far_edge(second, first)];
            let strictly_aside = |t: [Vec3; 3], [p, q]: [Vec3; 2]| side(t, p) * side(t, q) > 0.0;
            !strictly_aside(corners[0], far[1])
                && !strictly_aside(corners[1], far[0])
                && (segment_triangle(far[0], corners[1]) || segment_triangle(far[1], corners[0]))
        }
        2 => {
            let tip = |t: [u32; 3], other: [u32; 3]| t.into_iter().find(|v| !other.contains(v));
            let (Some(c), Some(d)) = (tip(first, second), tip(second, first)) else {
                return false;
            };
            let ends: Vec<Vec3> = first.into_iter().filter(|v| shared(v)).map(at).collect();
            side([ends[0], ends[1], at(c)], at(d)) == 0.0
                && is_folded(ends[0], ends[1], at(c), at(d))
        }
        _ => false,
    }
}

/// The sign of the volume of a triangle and a point: positive below it, where its corners are seen clockwise.
fn side([a, b, c]: [Vec3; 3], point: Vec3) -> f64 {
    let coord = |v: Vec3| Coord3D {
        x: f64::from(v.x),
        y: f64::from(v.y),
        z: f64::from(v.z),
    };
    // The sign alone: products of tiny values would vanish.
    let value = orient3d(coord(a), coord(b), coord(c), coord(point));
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

fn is_on_one_side(triangle: [Vec3; 3], points: &[Vec3; 3]) -> bool {
    let [a, b, c] = points.map(|p| side(triangle, p));
    a != 0.0 && a == b && b == c
}

/// The planes of coordinates, by their axes.
const PLANES: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 0]];

fn shadow(v: Vec3, [x, y]: [usize; 2]) -> Coord<f64> {
    Coord {
        x: f64::from(v[x]),
        y: f64::from(v[y]),
    }
}

/// True if a triangle has no area at all.
fn is_flat(triangle: [Vec3; 3]) -> bool {
    PLANES.iter().all(|plane| {
        let [a, b, c] = triangle.map(|v| shadow(v, *plane));
        orient2d(a, b, c) == 0.0
    })
}

/// True if two coplanar triangles on the edge a b with tips c and d lie on the same side of it.
fn is_folded(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> bool {
    let mut is_any = false;
    for plane in PLANES {
        let [a, b, c, d] = [a, b, c, d].map(|v| shadow(v, plane));
        let (turn_c, turn_d) = (orient2d(a, b, c), orient2d(a, b, d));
        if turn_c != 0.0 && turn_d != 0.0 {
            is_any = true;
            if (turn_c > 0.0) != (turn_d > 0.0) {
                return false;
            }
        }
    }
    is_any
}

/// True if two segments in space meet.
fn segments([p, q]: [Vec3; 2], [r, s]: [Vec3; 2]) -> bool {
    side([p, q, r], s) == 0.0
        && PLANES.iter().all(|plane| {
            let [p, q, r, s] = [p, q, r, s].map(|v| shadow(v, *plane));
            segments_2d([p, q], [r, s])
        })
}

fn segments_2d([p, q]: [Coord<f64>; 2], [r, s]: [Coord<f64>; 2]) -> bool {
    let overlap = |a: f64, b: f64, c: f64, d: f64| a.min(b) <= c.max(d) && c.min(d) <= a.max(b);
    let straddles = |a, b, c, d| {
        let (c, d) = (orient2d(a, b, c), orient2d(a, b, d));
        c == 0.0 || d == 0.0 || (c > 0.0) != (d > 0.0)
    };
    overlap(p.x, q.x, r.x, s.x)
        && overlap(p.y, q.y, r.y, s.y)
        && straddles(p, q, r, s)
        && straddles(r, s, p, q)
}

fn segment_triangle_2d(segment: [Coord<f64>; 2], [a, b, c]: [Coord<f64>; 3]) -> bool {
    if [[a, b], [b, c], [c, a]]
        .iter()
        .any(|edge| segments_2d(segment, *edge))
    {
        return true;
    }
    let turns = [[a, b], [b, c], [c, a]].map(|[from, to]| orient2d(from, to, segment[0]));
    turns.iter().all(|t| *t > 0.0) || turns.iter().all(|t| *t < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives;
    use proptest::prelude::*;

    const FLOOR: [Vec3; 3] = [
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(4.0, 0.0, 0.0),
        Vec3::new(0.0, 0.0, 4.0),
    ];

    fn v(x: f32, y: f32, z: f32) -> Vec3 {
        Vec3::new(x, y, z)
    }

    #[test]
    fn segments_meet_faces_edges_and_corners() {
        let down = |x: f32, z: f32| segment_triangle([v(x, 1.0, z), v(x, -1.0, z)], FLOOR);
        assert!(
            down(1.0, 1.0) && down(2.0, 0.0) && down(2.0, 2.0) && down(0.0, 0.0) && down(4.0, 0.0)
        );
        let beside = f32::from_bits(2f32.to_bits() + 1);
        assert!(!down(2.0, -1e-30) && !down(beside, 2.0) && !down(-1e-30, 1.0));
        assert!(
            segment_triangle([v(1.0, 1.0, 1.0), v(1.0, 0.0, 1.0)], FLOOR),
            "it touches"
        );
        assert!(!segment_triangle(
            [v(1.0, 1.0, 1.0), v(1.0, 1e-38, 1.0)],
            FLOOR
        ));
    }

    #[test]
    fn coplanar_segments_meet_inside_across_and_along() {
        let flat = |x: f32, z: f32, x2: f32, z2: f32| {
            segment_triangle([v(x, 0.0, z), v(x2, 0.0, z2)], FLOOR)
        };
        assert!(flat(1.0, 1.0, 1.5, 1.0), "inside");
        assert!(flat(-1.0, 1.0, 9.0, 1.0), "across");
        assert!(
            flat(5.0, 0.0, 3.0, 0.0) && flat(4.0, 0.0, 5.0, 0.0),
            "along an edge and at a corner"
        );
        assert!(!flat(5.0, 0.0, 6.0, 0.0) && !flat(3.0, 3.0, 2.1, 2.0));
    }

    #[test]
    fn triangles_without_area_are_segments_and_points() {
        let line = [v(0.0, 0.0, 0.0), v(2.0, 2.0, 2.0), v(1.0, 1.0, 1.0)];
        assert!(segment_triangle([v(1.0, 1.0, 0.0), v(1.0, 1.0, 2.0)], line));
        // Skew, though all three shadows cross.
        assert!(!segment_triangle(
            [v(0.5, 1.0, 1.2), v(1.5, 1.0, 0.9)],
            line
        ));
        let dot = [v(1.0, 0.0, 1.0); 3];
        assert!(triangles(dot, FLOOR) && triangles(FLOOR, dot) && triangles(dot, dot));
        assert!(!triangles([v(1.0, 0.5, 1.0); 3], FLOOR));
        assert!(!triangles(line, [v(5.0, 5.0, 5.0); 3]));
    }

    #[test]
    fn triangles_meet_piercing_coplanar_and_touching() {
        let wall = [v(1.0, -1.0, 1.0), v(1.0, 1.0, 1.0), v(1.0, 0.0, 9.0)];
        assert!(triangles(FLOOR, wall) && triangles(wall, FLOOR));
        assert!(!triangles(FLOOR, wall.map(|p| p + v(4.0, 0.0, 0.0))));
        let inner = [v(0.5, 0.0, 0.5), v(1.0, 0.0, 0.5), v(0.5, 0.0, 1.0)];
        assert!(triangles(FLOOR, inner) && triangles(inner, FLOOR));
        assert!(!triangles(FLOOR, inner.map(|p| p + v(3.0, 0.0, 3.0))));
        let on_corner = [v(4.0, 0.0, 0.0), v(5.0, 1.0, 0.0), v(5.0, -1.0, 0.0)];
        assert!(triangles(FLOOR, on_corner));
        assert!(!triangles(FLOOR, inner.map(|p| p + v(0.0, 1e-30, 0.0))));
    }

    #[test]
    fn neighbours_meet_only_when_they_fold_flat_or_pass_through() {
        let positions = [
            v(0.0, 0.0, 0.0),
            v(1.0, 0.0, 0.0),
            v(0.0, 0.0, 1.0),
            v(1.0, 0.0, 1.0),
            v(0.6, 1.0, 0.6),
            v(0.3, -1.0, 0.2),
            v(-1.0, 0.0, -1.0),
        ];
        let check = |positions: &[Vec3], a, b| mesh_triangles(positions, [a, b]);
        assert!(!check(&positions, [0, 1, 2], [1, 3, 2]), "a flat square");
        let mut folded = positions;
        folded[3] = v(0.2, 0.0, 0.2);
        assert!(check(&folded, [0, 1, 2], [1, 3, 2]), "folded over");
        folded[3] = v(0.2, 1e-30, 0.2);
        assert!(!check(&folded, [0, 1, 2], [1, 3, 2]), "almost");
        assert!(
            !check(&positions, [0, 1, 2], [0, 4, 6]),
            "one vertex in common"
        );
        let mut pierced = positions;
        pierced[4] = v(0.2, 1.0, 0.2);
        assert!(
            check(&pierced, [0, 1, 2], [0, 4, 5]),
            "one in common, and its far edge goes through"
        );
        assert!(
            !check(&positions, [0, 1, 2], [2, 0, 1]) && !check(&positions, [0, 0, 2], [2, 0, 1])
        );
    }

    #[test]
    fn a_sheet_has_no_self_intersections_and_a_crossed_one_has() {
        let sheet = primitives::grid(20, 20, 0.1);
        let mut positions = sheet.rest.positions.clone();
        assert_eq!(
            self_intersections(&positions, &sheet.triangles).unwrap(),
            [[0u32; 2]; 0]
        );
        // One corner is pulled through the middle.
        positions[0] = v(0.01, -0.1, 0.02);
        positions[1] = v(0.012, 0.1, 0.03);
        let found = self_intersections(&positions, &sheet.triangles).unwrap();
        assert!(
            !found.is_empty() && found.iter().all(|[a, b]| *a < 4 && *b > 4),
            "{found:?}"
        );
    }

    fn corner() -> impl Strategy<Value = Vec3> {
        // Few values, so that touching and coplanar cases abound.
        let c = (-3i8..4).prop_map(f32::from);
        [c.clone(), c.clone(), c].prop_map(Vec3::from)
    }

    fn triangle() -> impl Strategy<Value = [Vec3; 3]> {
        [corner(), corner(), corner()]
    }

    /// An independent answer: the least distance of two convex sets, by alternating projection in f64 on small integers.
    fn distance_is_zero(a: [Vec3; 3], b: [Vec3; 3]) -> bool {
        let mut least = f32::INFINITY;
        for (t, other) in [(a, b), (b, a)] {
            for i in 0..3 {
                least = least.min(crate::closest::distance_to_triangle(t[i], other));
                for j in 0..3 {
                    let edges = [t[i], t[(i + 1) % 3], other[j], other[(j + 1) % 3]];
                    let w = crate::ccd::Features::EdgeEdge.weights(&edges);
                    least = least.min(
                        (0..4)
                            .fold(Vec3::zeros(), |sum, k| sum + edges[k] * w[k])
                            .norm(),
                    );
                }
            }
        }
        let pierces = |t: [Vec3; 3], other: [Vec3; 3]| {
            let normal = (other[1] - other[0])
                .cross(&(other[2] - other[0]))
                .cast::<f64>();
            (0..3).any(|i| {
                let (p, q) = (t[i], t[(i + 1) % 3]);
                let height = |v: Vec3| (v - other[0]).cast::<f64>().dot(&normal);
                let (hp, hq) = (height(p), height(q));
                hp * hq < 0.0 && {
                    let hit = p.cast::<f64>() + (q - p).cast::<f64>() * (hp / (hp - hq));
                    crate::closest::distance_to_triangle(hit.cast(), other) < 1e-5
                }
            })
        };
        // Rational numbers of small integers that are not 0 are at least some 1e-3 apart.
        least < 1e-5 || pierces(a, b) || pierces(b, a)
    }

    proptest! {
        #[test]
        fn it_agrees_with_distances_on_small_integers(a in triangle(), b in triangle()) {
            prop_assert_eq!(triangles(a, b), distance_is_zero(a, b), "{:?} {:?}", a, b);
            prop_assert_eq!(triangles(a, b), triangles(b, a));
            prop_assert_eq!(triangles(a, b), triangles([a[1], a[2], a[0]], [b[2], b[1], b[0]]));
        }
    }
}
