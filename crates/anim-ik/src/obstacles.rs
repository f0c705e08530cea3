//! What limbs must not pass through: colliders of the world, and each other.

use anim_geom::shape::Placed;
use anim_geom::{Collider, Contact};
use anim_math::nalgebra::Vector3;

use crate::rows::Rows;
use crate::{Frames, IkError, Mechanism};

/// A capsule on a joint: a thigh, a forearm, a hand; a ball where both ends are one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limb {
    /// The joint it moves with.
    pub joint: usize,
    /// Its ends in the joint's frame, metres.
    pub ends: [Vector3<f64>; 2],
    /// Metres.
    pub radius: f64,
}

/// Limbs and what they keep clear of.
///
/// Where a gap is smaller than `margin` it becomes an error to be removed; elsewhere it costs nothing. The distance of a
/// limb from a collider is the least along the limb: exact for planes, spheres and capsules, sampled for meshes.
#[derive(Clone, Copy, Debug)]
pub struct Obstacles<'a> {
    /// What must stay clear.
    pub limbs: &'a [Limb],
    /// Of what, in model space.
    pub colliders: &'a [Collider],
    /// And which limbs of which, by their places in `limbs`.
    pub pairs: &'a [[usize; 2]],
    /// How clear, metres.
    pub margin: f64,
    /// Factor on the errors; goals weigh 1.
    pub weight: f64,
}

impl Default for Obstacles<'_> {
    fn default() -> Self {
        Self {
            limbs: &[],
            colliders: &[],
            pairs: &[],
            margin: 0.0,
            weight: 10.0,
        }
    }
}

impl Obstacles<'_> {
    /// Checks that all numbers are finite and joints and limbs exist.
    pub(crate) fn check(&self, mechanism: &Mechanism) -> Result<(), IkError> {
        for (limb, spec) in self.limbs.iter().enumerate() {
            let numbers = spec.ends.iter().flatten().chain([&spec.radius]);
            let what = if spec.joint >= mechanism.len() {
                "its joint does not exist in this mechanism"
            } else if !numbers.clone().all(|v| v.is_finite()) {
                "a number is not finite"
            } else {
                continue;
            };
            return Err(IkError::BadLimb { limb, what });
        }
        let missing = |pair: &&[usize; 2]| pair.iter().any(|limb| *limb >= self.limbs.len());
        match self.pairs.iter().position(|pair| missing(&pair)) {
            Some(limb) => Err(IkError::BadLimb {
                limb,
                what: "a pair of limbs that do not exist",
            }),
            None => Ok(()),
        }
    }
}

impl Obstacles<'_> {
    /// Adds a row for each gap smaller than the margin; the deepest one.
    pub(crate) fn evaluate(&self, frames: &Frames, rows: &mut Rows) -> f64 {
        let mut deepest: f64 = 0.0;
        let ends = |limb: &Limb| {
            let frame = frames.get(limb.joint);
            limb.ends
                .map(|end| frame.rotation * end + frame.translation.vector)
        };
        for collider in self.colliders {
            let Some(placed) = collider.placed() else {
                continue;
            };
            for limb in self.limbs {
                let clear = limb.radius + self.margin;
                let ends = ends(limb);
                if let Some((at, contact)) = nearest_along(&placed, ends, clear + ahead(ends)) {
                    let gap = f64::from(contact.distance) - clear;
                    let normal = contact.normal.cast();
                    let depth = rows.above(limb.joint, at, normal, gap, self.weight);
                    deepest = deepest.max(depth);
                }
            }
        }
        for pair in self.pairs {
            let [a, b] = pair.map(|limb| &self.limbs[limb]);
            let (ends_a, ends_b) = (ends(a), ends(b));
            let (at_a, at_b) = nearest_points(ends_a, ends_b);
            let off = at_a - at_b;
            let distance = off.norm();
            let gap = distance - a.radius - b.radius - self.margin;
            if gap < ahead(ends_a).max(ahead(ends_b)) {
                let away = if distance > 0.0 {
                    off / distance
                } else {
                    Vector3::x()
                };
                let row = rows.push_gap(gap * self.weight);
                let force = away * self.weight;
                rows.pull(row, a.joint, None, at_a, force);
                rows.pull(row, b.joint, None, at_b, -force);
                deepest = deepest.max(-gap);
            }
        }
        deepest
    }
}

/// How far a step is looked ahead for what it might run into: half the limb's length, what it sweeps in half a radian.
fn ahead([start, end]: [Vector3<f64>; 2]) -> f64 {
    0.5 * (end - start).norm()
}

/// Steps of the golden section: the last interval is a ten-thousandth of the limb.
const SECTIONS: usize = 20;

/// Where a segment comes nearest to a collider, if that is within `reach`.
///
/// The distance from a convex shape is convex along a segment, so that golden sections close in on its least value; for
/// meshes the search starts from the best of a few samples.
fn nearest_along(
    placed: &Placed<'_>,
    [start, end]: [Vector3<f64>; 2],
    reach: f64,
) -> Option<(Vector3<f64>, Contact)> {
    let length = (end - start).norm();
    // No point of the segment is farther from its middle than half its length.
    let middle = (start + end) * 0.5;
    placed.contact_within(middle.cast(), (reach + 0.5 * length) as f32)?;
    let at = |part: f64| start + (end - start) * part;
    let contact = |part: f64| placed.contact_within(at(part).cast(), f32::INFINITY);
    let distance = |part: f64| contact(part).map_or(f32::MAX, |contact| contact.distance);
    let parts = if length > 0.0 {
        golden_section(&distance)
    } else {
        [0.0; 3]
    };
    // An end is met exactly, where the search only comes near.
    let nearer = |a: f64, b: f64| if distance(b) < distance(a) { b } else { a };
    let part = parts.into_iter().reduce(nearer)?;
    let contact = contact(part).filter(|contact| f64::from(contact.distance) < reach)?;
    Some((at(part), contact))
}

/// The ends and the middle of the last interval that a golden-section search for the least `distance` comes to.
///
/// Source: Kiefer, "Sequential minimax search for a maximum", Proc. AMS 4, 1953.
fn golden_section(distance: &impl Fn(f64) -> f32) -> [f64; 3] {
    const SAMPLES: usize = 8;
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut nearest, mut least) = (0.0, f32::MAX);
    for part in (0..=SAMPLES).map(|k| k as f64 / SAMPLES as f64) {
        let here = distance(part);
        if here < least {
            (nearest, least) = (part, here);
        }
    }
    let width = 1.0 / SAMPLES as f64;
    let (mut low, mut high) = (
        f64::max(nearest - width, 0.0),
        f64::min(nearest + width, 1.0),
    );
    let (mut a, mut b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_a, mut at_b) = (distance(a), distance(b));
    for _ in 0..SECTIONS {
        if at_a < at_b {
            high = b;
            (b, at_b) = (a, at_a);
            a = high - GOLDEN * (high - low);
            at_a = distance(a);
        } else {
            low = a;
            (a, at_a) = (b, at_b);
            b = low + GOLDEN * (high - low);
            at_b = distance(b);
        }
    }
    [low, 0.5 * (low + high), high]
}

/// The nearest points of two segments.
///
/// Source: Ericson, "Real-Time Collision Detection", 2005, section 5.1.9.
fn nearest_points(
    [a, a_end]: [Vector3<f64>; 2],
    [b, b_end]: [Vector3<f64>; 2],
) -> (Vector3<f64>, Vector3<f64>) {
    let (u, v, w) = (a_end - a, b_end - b, a - b);
    let (uu, vv, uv) = (u.dot(&u), v.dot(&v), u.dot(&v));
    let (uw, vw) = (u.dot(&w), v.dot(&w));
    let ratio = |over: f64, under: f64| {
        if under > 0.0 {
            (over / under).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let across = uu * vv - uv * uv;
    let s = if across > 1e-12 * uu * vv {
        ratio(uv * vw - uw * vv, across)
    } else {
        0.0
    };
    let t = if vv > 0.0 { (uv * s + vw) / vv } else { 0.0 };
    // Beyond an end of the second segment the first is searched again from that end.
    let (s, t) = if t < 0.0 {
        (ratio(-uw, uu), 0.0)
    } else if t > 1.0 {
        (ratio(uv - uw, uu), 1.0)
    } else if vv > 0.0 {
        (s, t)
    } else {
        (ratio(-uw, uu), 0.0)
    };
    (a + u * s, b + v * t)
}

#[cfg(test)]
mod tests {
    use anim_geom::Shape;
    use anim_math::{Affine, random::Random};

    use super::*;

    fn point(random: &mut Random) -> Vector3<f64> {
        random.in_ball().cast()
    }

    #[test]
    fn no_two_points_of_segments_are_nearer_than_the_nearest() {
        for n in 0..2000 {
            let mut random = Random::new(1, n, 0);
            let a = [point(&mut random), point(&mut random)];
            let mut b = [point(&mut random), point(&mut random)];
            match n % 4 {
                0 => b[1] = b[0],
                1 => b[1] = b[0] + (a[1] - a[0]) * 0.7,
                _ => {}
            }
            let (p, q) = nearest_points(a, b);
            for i in 0..=20 {
                for j in 0..=20 {
                    let on_a = a[0] + (a[1] - a[0]) * (f64::from(i) / 20.0);
                    let on_b = b[0] + (b[1] - b[0]) * (f64::from(j) / 20.0);
                    assert!((p - q).norm() <= (on_a - on_b).norm() + 1e-9);
                }
            }
        }
    }

    #[test]
    fn a_segment_is_as_far_from_a_ball_as_its_nearest_point() {
        let ball = Collider::new(Shape::Sphere { radius: 0.5 }, Affine::IDENTITY);
        for n in 0..500 {
            let mut random = Random::new(2, n, 0);
            let segment = [point(&mut random), point(&mut random)];
            let centre = [Vector3::zeros(); 2];
            let expected = nearest_points(segment, centre).0.norm() - 0.5;
            let (_, contact) = nearest_along(&ball.placed().unwrap(), segment, 10.0).unwrap();
            // Twice the rounding of single precision, and a ten-thousandth off the foot, squared.
            assert!((f64::from(contact.distance) - expected).abs() < 1e-6);
        }
    }
}
