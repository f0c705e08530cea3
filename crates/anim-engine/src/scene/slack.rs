//! Where a rope lies that is longer than the way between its ends: bowed, not pressed together.

use anim_math::Vec3;

/// Halvings that find the depth of the bow: to a rounding of it.
const HALVINGS: usize = 40;

/// Points from one end to the other, on a parabola that is about as long as the rope; straight if that is no longer than the way.
///
/// It bows down, -y, or aside where one end is above the other.
pub(super) fn bowed([from, to]: [Vec3; 2], segments: u32, length: Option<f32>) -> Vec<Vec3> {
    let way = to - from;
    let straight = way.norm();
    let across = |v: Vec3| v - way * (v.dot(&way) / way.norm_squared());
    let down = across(-Vec3::y()).try_normalize(1e-3);
    let down = down.or_else(|| across(Vec3::x()).try_normalize(1e-3));
    let bow = |depth: f32| -> Vec<Vec3> {
        let along = |i: u32| {
            let t = i as f32 / segments as f32;
            from + way * t + down.unwrap_or_default() * (4.0 * depth * t * (1.0 - t))
        };
        (0..=segments).map(along).collect()
    };
    let slack = length.filter(|length| *length > straight && length.is_finite());
    let Some(length) = slack.filter(|_| segments > 1 && down.is_some()) else {
        return bow(0.0);
    };
    // Down and up again is longer than the rope.
    let (mut low, mut high) = (0.0, length);
    for _ in 0..HALVINGS {
        let depth = 0.5 * (low + high);
        let lies: f32 = bow(depth).windows(2).map(|p| (p[1] - p[0]).norm()).sum();
        if lies < length {
            low = depth;
        } else {
            high = depth;
        }
    }
    bow(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(points: &[Vec3]) -> f32 {
        points.windows(2).map(|p| (p[1] - p[0]).norm()).sum()
    }

    #[test]
    fn a_slack_rope_is_as_long_as_it_is_and_hangs_between_its_ends() {
        let ends = [Vec3::new(-1.0, 2.0, 0.4), Vec3::new(1.0, 2.0, 0.4)];
        let points = bowed(ends, 60, Some(2.5));
        // 60 lengths, each of roundings of two metres.
        assert!((length(&points) - 2.5).abs() < 2e-5, "{}", length(&points));
        assert_eq!((points[0], points[60]), (ends[0], ends[1]));
        // A catenary of these hangs by 0.664 m, a parabola by little else.
        assert!((2.0 - points[30].y - 0.664).abs() < 0.02, "{}", points[30]);
        let plumb = [Vec3::y(), Vec3::zeros()];
        assert!((length(&bowed(plumb, 20, Some(1.5))) - 1.5).abs() < 2e-5);
    }

    #[test]
    fn a_rope_that_is_not_slack_lies_straight() {
        for longer in [None, Some(0.5), Some(f32::NAN), Some(f32::INFINITY)] {
            let points = bowed([Vec3::zeros(), Vec3::x()], 4, longer);
            assert_eq!(points[1], Vec3::x() * 0.25);
            assert_eq!(points[4], Vec3::x());
        }
        assert_eq!(bowed([Vec3::zeros(), Vec3::x()], 1, Some(2.0)).len(), 2);
    }
}
