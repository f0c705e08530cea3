//! The shortest way between two features, as weights of their points.

use nalgebra::Vector3;

/// Below this share of its edges' products a cross product is rounding.
const FLAT: f64 = 1e-24;

/// Weights of a point (1) and of a triangle (sum −1).
#[inline]
pub(super) fn point_triangle([p, a, b, c]: &[Vector3<f64>; 4]) -> [f64; 4] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(&ac);
    let squared = normal.norm_squared();
    if squared > FLAT * ab.norm_squared() * ac.norm_squared() {
        let wb = ap.cross(&ac).dot(&normal) / squared;
        let wc = ab.cross(&ap).dot(&normal) / squared;
        let wa = 1.0 - wb - wc;
        if wa >= 0.0 && wb >= 0.0 && wc >= 0.0 {
            return [1.0, -wa, -wb, -wc];
        }
    }
    // The nearest point is on the outline.
    let mut best = (f64::INFINITY, [1.0, -1.0, 0.0, 0.0]);
    for (first, [from, to]) in [[a, b], [b, c], [c, a]].into_iter().enumerate() {
        let (squared, t) = on_segment(p, from, to);
        if squared < best.0 {
            let mut weights = [1.0, 0.0, 0.0, 0.0];
            weights[1 + first] = t - 1.0;
            weights[1 + (first + 1) % 3] = -t;
            best = (squared, weights);
        }
    }
    best.1
}

/// Weights of one edge (sum 1) and of another (sum −1).
#[inline]
pub(super) fn edge_edge([a, b, c, d]: &[Vector3<f64>; 4]) -> [f64; 4] {
    let (u, v, r) = (b - a, d - c, a - c);
    let (uu, uv, vv) = (u.norm_squared(), u.dot(&v), v.norm_squared());
    let (ur, vr) = (u.dot(&r), v.dot(&r));
    let determinant = uu * vv - uv * uv;
    if determinant > 1e-12 * uu * vv {
        let s = (uv * vr - vv * ur) / determinant;
        let t = (uu * vr - uv * ur) / determinant;
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            return [1.0 - s, s, t - 1.0, -t];
        }
    }
    // One end of one of them is nearest.
    let mut best = (f64::INFINITY, [1.0, 0.0, -1.0, 0.0]);
    for (end, point) in [a, b].into_iter().enumerate() {
        let (squared, t) = on_segment(point, c, d);
        if squared < best.0 {
            best = (squared, [1.0 - end as f64, end as f64, t - 1.0, -t]);
        }
    }
    for (end, point) in [c, d].into_iter().enumerate() {
        let (squared, s) = on_segment(point, a, b);
        if squared < best.0 {
            best = (squared, [1.0 - s, s, end as f64 - 1.0, -(end as f64)]);
        }
    }
    best.1
}

/// The squared distance of a point to a segment, and where on the segment the nearest point lies, 0 to 1.
#[inline]
fn on_segment(p: &Vector3<f64>, a: &Vector3<f64>, b: &Vector3<f64>) -> (f64, f64) {
    let (ab, ap) = (b - a, p - a);
    let squared = ab.norm_squared();
    let t = if squared > 0.0 {
        (ab.dot(&ap) / squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    ((ap - ab * t).norm_squared(), t)
}
