//! Strands as thin tubes, for renderers that draw triangles.
//!
//! Three sides are enough for what is a pixel wide, and unlike a ribbon a tube looks the same from everywhere. A tube thins
//! out to a fifth at its tip.

use std::ops::Range;

use anim_geom::Vertices;
use anim_math::{Vec3, quat};

/// Sides of a tube.
const SIDES: usize = 3;
/// Directions to the corners of a section; they sum to nothing.
const CORNERS: [[f32; 2]; SIDES] = [[1.0, 0.0], [-0.5, 0.866_025_4], [-0.5, -0.866_025_4]];
/// How thick a tube is at its tip.
const TIP: f32 = 0.2;

/// The triangles of tubes around strands of so many points, counter-clockwise from outside.
pub(crate) fn triangles(strands: impl Iterator<Item = Range<usize>>) -> Vec<[u32; 3]> {
    let corner = |point: usize, side: usize| (point * SIDES + side % SIDES) as u32;
    let quads = move |point: usize| {
        (0..SIDES).flat_map(move |side| {
            let [a, b] = [corner(point, side), corner(point, side + 1)];
            let [c, d] = [corner(point + 1, side), corner(point + 1, side + 1)];
            [[a, b, c], [b, d, c]]
        })
    };
    let segments = |strand: Range<usize>| strand.start..strand.end.saturating_sub(1);
    strands.flat_map(segments).flat_map(quads).collect()
}

/// Writes the vertices of tubes of `radius`, m, at the root, around strands of `points`.
pub(crate) fn place(
    strands: impl Iterator<Item = Range<usize>>,
    points: &[Vec3],
    radius: f32,
    out: &mut Vertices,
) {
    out.positions.clear();
    out.normals.clear();
    for strand in strands {
        let strand = &points[strand];
        let mut along = Vec3::y();
        let mut across = Vec3::x();
        for (index, point) in strand.iter().enumerate() {
            let before = strand[index.saturating_sub(1)];
            let after = strand[(index + 1).min(strand.len() - 1)];
            if let Some(way) = (after - before).try_normalize(1e-12) {
                // Carried along without twist.
                across = quat::between(along, way) * across;
                along = way;
            }
            let other = along.cross(&across);
            let fraction = index as f32 / (strand.len() - 1).max(1) as f32;
            let radius = radius * (1.0 - (1.0 - TIP) * fraction);
            for [x, y] in CORNERS {
                let outward = across * x + other * y;
                out.positions.push(point + outward * radius);
                out.normals.push(outward);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tube_is_as_thick_as_it_is_asked_to_be_and_looks_outward() {
        let points: Vec<Vec3> = (0..=10_u8)
            .map(|i| {
                let angle = f32::from(i) * 0.3;
                Vec3::new(libm::cosf(angle), libm::sinf(angle), 0.1 * angle)
            })
            .collect();
        let strands = || [0..4, 4..11].into_iter();
        let triangles = triangles(strands());
        let mut tube = Vertices::default();
        place(strands(), &points, 0.01, &mut tube);
        assert_eq!(tube.positions.len(), 33);
        assert_eq!(triangles.len(), (3 + 6) * 6);
        assert!(((tube.positions[0] - points[0]).norm() - 0.01).abs() < 1e-6);
        assert!(((tube.positions[32] - points[10]).norm() - 0.002).abs() < 1e-6);
        for triangle in triangles {
            let [a, b, c] = triangle.map(|v| tube.positions[v as usize]);
            let outward = (b - a).cross(&(c - a));
            let normals = triangle.map(|v| tube.normals[v as usize]);
            assert!(normals.iter().all(|n| n.dot(&outward) > 0.0));
        }
    }
}
