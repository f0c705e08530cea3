//! The Delaunay triangulation of a few points: the one whose triangles are the least pointed.
//!
//! Points are integers, so every decision is exact, and points on one line or one circle, which grids are full of, cannot
//! go wrong. A sweep makes some triangulation of the convex hull, then edges are flipped until every circle is empty.
//!
//! Source: Lawson, "Software for C¹ surface interpolation", 1977 (the flips).

use std::collections::BTreeMap;

/// Counter-clockwise triangles of indices that fill the convex hull; none if all points are on one line.
///
/// Points must differ and have coordinates of at most 2²⁸. About O(n²).
pub(crate) fn triangulate(points: &[[i64; 2]]) -> Vec<[usize; 3]> {
    let mut triangles = sweep(points);
    while flip(points, &mut triangles) {}
    triangles.sort_unstable();
    triangles
}

/// Some triangulation: each point from left to right is connected to what it sees of the hull before it.
fn sweep(points: &[[i64; 2]]) -> Vec<[usize; 3]> {
    let mut order: Vec<_> = (0..points.len()).collect();
    order.sort_by_key(|index| points[*index]);
    let turn = |a: usize, b: usize, c: usize| turn(points[a], points[b], points[c]);
    let on_line = |apex: &usize| turn(order[0], order[1], *apex) == 0;
    let Some(bent) = order.iter().skip(2).position(|index| !on_line(index)) else {
        return Vec::new();
    };
    // The points before the first bend are a fan of that one, and with it the first hull, counter-clockwise.
    let (line, rest) = order.split_at(bent + 2);
    let apex = rest[0];
    let mut hull = line.to_vec();
    if turn(line[0], line[1], apex) < 0 {
        hull.reverse();
    }
    let mut triangles: Vec<_> = hull.windows(2).map(|e| [e[0], e[1], apex]).collect();
    hull.push(apex);
    for &point in &rest[1..] {
        let edge = |start: usize| (hull[start], hull[(start + 1) % hull.len()]);
        let sees = |start: usize| {
            let (a, b) = edge(start);
            turn(a, b, point) < 0
        };
        // The edges that the point is to the right of are neighbours on the hull.
        let count = hull.len();
        let Some(first) = (0..count).find(|i| sees(*i) && !sees((i + count - 1) % count)) else {
            continue;
        };
        let seen = (0..count).take_while(|n| sees((first + n) % count)).count();
        for n in 0..seen {
            let (a, b) = edge((first + n) % count);
            triangles.push([b, a, point]);
        }
        // What lay between the ends of those edges is inside now.
        hull.rotate_left(first);
        hull.splice(1..seen, [point]);
    }
    triangles
}

/// Gives pairs of triangles with an edge in common the other diagonal where a corner lies in the other's circle; false if
/// there are none. Each triangle changes at most once, as its neighbours are known from before.
fn flip(points: &[[i64; 2]], triangles: &mut [[usize; 3]]) -> bool {
    let mut across = BTreeMap::new();
    for (index, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let [a, b, c] = [corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]];
            across.insert((a, b), (index, c));
        }
    }
    let mut changed = vec![false; triangles.len()];
    for (&(a, b), &(first, c)) in across.iter().filter(|(edge, _)| edge.0 < edge.1) {
        let Some(&(second, d)) = across.get(&(b, a)) else {
            continue;
        };
        let [pa, pb, pc, pd] = [a, b, c, d].map(|index| points[index]);
        if !changed[first] && !changed[second] && in_circle(pa, pb, pc, pd) {
            triangles[first] = [a, d, c];
            triangles[second] = [d, b, c];
            changed[first] = true;
            changed[second] = true;
        }
    }
    changed.contains(&true)
}

/// Positive if a → b → c turns left.
fn turn(a: [i64; 2], b: [i64; 2], c: [i64; 2]) -> i64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// True if `d` is inside the circle through the counter-clockwise `a`, `b`, `c`, not on it.
fn in_circle(a: [i64; 2], b: [i64; 2], c: [i64; 2], d: [i64; 2]) -> bool {
    let [a, b, c] = [a, b, c].map(|p| [i128::from(p[0] - d[0]), i128::from(p[1] - d[1])]);
    let cross = |p: [i128; 2], q: [i128; 2]| p[0] * q[1] - p[1] * q[0];
    let lift = |p: [i128; 2]| p[0] * p[0] + p[1] * p[1];
    lift(a) * cross(b, c) - lift(b) * cross(a, c) + lift(c) * cross(a, b) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_filled_by_two_triangles_a_cell() {
        let points: Vec<_> = (0..20_i64).map(|n| [n % 5, n / 5]).collect();
        let triangles = triangulate(&points);
        assert_eq!(triangles.len(), 2 * 4 * 3);
        let area = |t: &[usize; 3]| turn(points[t[0]], points[t[1]], points[t[2]]);
        assert!(triangles.iter().all(|triangle| area(triangle) == 1));
    }

    #[test]
    fn the_short_diagonal_of_a_kite_is_taken() {
        let triangles = triangulate(&[[0, 0], [10, 1], [20, 0], [10, -1]]);
        let short = |t: &[usize; 3]| t.contains(&1) && t.contains(&3);
        assert!(triangles.len() == 2 && triangles.iter().all(short));
    }

    #[test]
    fn points_on_one_line_have_no_triangles() {
        for count in 0..5 {
            let points: Vec<_> = (0..count).map(|n| [2 * n, -3 * n]).collect();
            assert!(triangulate(&points).is_empty());
        }
    }
}
