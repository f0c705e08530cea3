//! Polygons as triangles: a fan from a corner that sees all others.

use anim_math::Vec3;
use anim_math::nalgebra::Vector3;

/// Polygons of more corners are cut from their first one, as looking for a better one takes the square of their number.
const MOST_CORNERS: usize = 256;

/// Cuts a polygon of n ≥ 3 corners into n − 2 triangles of the same turn, appended to `out`.
///
/// The fan starts at the first corner from which no triangle is turned over; at the first of all where there is none, or
/// where the polygon has no area.
pub(super) fn triangulate(
    corners: &[u32],
    position: impl Fn(u32) -> Vec3,
    out: &mut Vec<[u32; 3]>,
) {
    let count = corners.len();
    let at = |corner: usize| position(corners[corner % count]).cast::<f64>();
    let area = |a, b, c| {
        let [a, b, c]: [Vector3<f64>; 3] = [at(a), at(b), at(c)];
        (b - a).cross(&(c - a))
    };
    let is_fan = |first: &usize| {
        let normal: Vector3<f64> = (1..count - 1).map(|n| area(0, n, n + 1)).sum();
        let mut fan = (1..count - 1).map(|n| area(*first, first + n, first + n + 1));
        fan.all(|area| area.dot(&normal) > 0.0)
    };
    let first = if (4..=MOST_CORNERS).contains(&count) {
        (0..count).find(is_fan).unwrap_or(0)
    } else {
        0
    };
    let corner = |n: usize| corners[(first + n) % count];
    out.extend((1..count - 1).map(|n| [corner(0), corner(n), corner(n + 1)]));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area_of_parts(corners: &[[f32; 2]]) -> (f32, f32) {
        let position = |v: u32| Vec3::new(corners[v as usize][0], corners[v as usize][1], 0.0);
        let all: Vec<u32> = (0..corners.len() as u32).collect();
        let mut triangles = Vec::new();
        triangulate(&all, position, &mut triangles);
        let areas = triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.map(position);
            0.5 * (b - a).cross(&(c - a)).z
        });
        let areas: Vec<f32> = areas.collect();
        (
            areas.iter().sum(),
            areas.iter().map(|area| area.abs()).sum(),
        )
    }

    #[test]
    fn a_dart_is_cut_at_its_notch_wherever_it_starts() {
        let dart = [[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [0.5, 1.0]];
        for turn in 0..4 {
            let mut dart = dart;
            dart.rotate_left(turn);
            // 2 of the triangle less 0.5 of the notch.
            assert_eq!(area_of_parts(&dart), (1.5, 1.5), "{turn}");
        }
    }

    #[test]
    fn polygons_without_area_are_cut_too() {
        assert_eq!(area_of_parts(&[[0.0, 0.0]; 5]), (0.0, 0.0));
    }
}
