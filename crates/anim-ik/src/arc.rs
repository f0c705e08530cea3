//! The shortest arc from one direction to another, and a roll after it, without a root.
//!
//! With s = from + to, the arc is half a turn about `from` followed by half a turn about s. Its quaternion
//! (from × s, |s|²/2) loses no digits near opposite directions, and a roll about `to` by θ with (a, b) = (sin θ/2, cos θ/2)
//! makes of it (a s + b from × s, b |s|²/2). Both are left unnormalised: whoever multiplies them on normalises once.

use anim_math::nalgebra::Quaternion;
use anim_math::{Vec3, quat};

use crate::real::{Real, Turn, Vector, add, cross, dot};

/// The shortest arc between unit vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arc {
    from: Vec3,
    sum: Vec3,
    /// |s|²/2.
    half: f32,
}

impl Arc {
    /// From `from` to `to`; if they are opposite, about what of `axis` is at a right angle to them.
    #[inline(always)]
    pub(crate) fn new(from: Vec3, to: Vec3, axis: Vec3) -> Self {
        let mut sum = from + to;
        if sum.norm_squared() < 0.25 {
            sum = small_sum(from, to, axis);
        }
        let half = 0.5 * sum.norm_squared();
        Self { from, sum, half }
    }

    /// The vector, taken along.
    #[inline(always)]
    pub(crate) fn carry(&self, vector: Vec3) -> Vec3 {
        let turned = self.from * (2.0 * self.from.dot(&vector)) - vector;
        self.sum * (self.sum.dot(&turned) / self.half) - turned
    }

    /// Its quaternion, times a positive factor.
    #[inline(always)]
    pub(crate) fn quaternion(&self) -> Quaternion<f32> {
        let v = self.from.cross(&self.sum);
        Quaternion::new(self.half, v.x, v.y, v.z)
    }

    /// The quaternion of the arc and then `roll` about its end, times a positive factor.
    #[inline(always)]
    pub(crate) fn rolled(&self, Roll { sine, cosine }: Roll) -> Quaternion<f32> {
        let v = self.sum * sine + self.from.cross(&self.sum) * cosine;
        Quaternion::new(self.half * cosine, v.x, v.y, v.z)
    }
}

/// The quaternion of the shortest arc between vectors, times a positive factor, and whether to use it.
///
/// * `product`: of their lengths.
///
/// It is (|a| |b| + a · b, a × b). Not to be used where that cancels, toward opposite directions, and where it is not finite.
#[inline(always)]
pub(crate) fn arc_of<T: Real>(a: Vector<T>, b: Vector<T>, product: T) -> (Turn<T>, T::Mask) {
    let w = product + dot(a, b);
    let v = cross(a, b);
    (Turn { w, v }, w.exceeds(product * w.constant(0.125)))
}

/// The quaternion of the rotation from one pair of unit vectors at right angles to another, times a positive factor, and
/// whether to use it.
///
/// With the cross products for third axes, R = Σ bᵢ aᵢᵀ; its trace gives 4 w² = 1 + Σ aᵢ · bᵢ and its skew part
/// 4 w v = Σ aᵢ × bᵢ, so that the factor is 4 w, twice the root of the first. Not to be used where that cancels, toward half
/// a turn, and where it is not finite.
///
/// Source: Shepperd, "Quaternion from rotation matrix", Journal of Guidance and Control 1(3), 1978.
#[inline(always)]
pub(crate) fn between_pairs<T: Real>(a: [Vector<T>; 2], b: [Vector<T>; 2]) -> (Turn<T>, T::Mask) {
    let (third_a, third_b) = (cross(a[0], a[1]), cross(b[0], b[1]));
    let one = a[0][0].constant(1.0);
    let w = one + dot(a[0], b[0]) + dot(a[1], b[1]) + dot(third_a, third_b);
    let v = add(
        add(cross(a[0], b[0]), cross(a[1], b[1])),
        cross(third_a, third_b),
    );
    (Turn { w, v }, w.exceeds(w.constant(0.25)))
}

/// `vector` turned by the rotation whose quaternion is `q` times a factor; times the square of the factor.
#[inline(always)]
pub(crate) fn carried(q: Quaternion<f32>, vector: Vec3) -> Vec3 {
    let v = q.imag();
    v * (2.0 * v.dot(&vector))
        + vector * (q.w * q.w - v.norm_squared())
        + v.cross(&vector) * (2.0 * q.w)
}

/// The sum of directions that are nearly opposite, where their lengths, 1 but for rounding, tell.
///
/// The half turns need from/|from| + to/|to|, which is s + to (|from|² − |to|²)/2 but for length; the difference of squares
/// is (from − to) · s = |s|² − 2 to · s. Directions that are opposite get a sum a rounding error long, on the side from which
/// the arc turns about `axis`.
#[cold]
fn small_sum(from: Vec3, to: Vec3, axis: Vec3) -> Vec3 {
    let sum = from + to;
    let sum = sum + to * (0.5 * sum.norm_squared() - to.dot(&sum));
    if sum.norm_squared() > 2e-13 {
        return sum;
    }
    let aside = axis.cross(&from).try_normalize(1e-3);
    aside.unwrap_or_else(|| quat::any_perpendicular(from)) * 4e-7
}

/// The sine and cosine of half the angle of a roll, times a positive factor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roll {
    pub(crate) sine: f32,
    pub(crate) cosine: f32,
}

impl Roll {
    /// By the angle that has this sine and cosine, times a positive factor; none if both are zero or as good as.
    #[inline(always)]
    pub(crate) fn by(sine: f32, cosine: f32) -> Self {
        let norm = (sine * sine + cosine * cosine).sqrt();
        // tan(θ/2) = sin / (norm + cos) = (norm − cos) / sin: whichever does not cancel.
        let (sine, cosine) = if norm < 1e-18 {
            (0.0, 1.0)
        } else if cosine < 0.0 {
            (norm - cosine, sine)
        } else {
            (sine, norm + cosine)
        };
        Self { sine, cosine }
    }

    /// Its quaternion about the unit `axis`, times a positive factor.
    #[inline(always)]
    pub(crate) fn about(&self, axis: Vec3) -> Quaternion<f32> {
        let v = axis * self.sine;
        Quaternion::new(self.cosine, v.x, v.y, v.z)
    }

    /// This roll and another by `angle`, rad.
    #[cold]
    pub(crate) fn then(self, angle: f32) -> Self {
        let (sine, cosine) = (libm::sinf(0.5 * angle), libm::cosf(0.5 * angle));
        Self {
            sine: self.sine * cosine + self.cosine * sine,
            cosine: self.cosine * cosine - self.sine * sine,
        }
    }

    /// The part `alpha` of it, the shorter way.
    #[cold]
    pub(crate) fn part(self, alpha: f32) -> Self {
        let sign = if self.cosine < 0.0 { -alpha } else { alpha };
        let half = sign * libm::atan2f(self.sine, self.cosine.abs());
        Self {
            sine: libm::sinf(half),
            cosine: libm::cosf(half),
        }
    }
}

#[cfg(test)]
mod tests {
    use anim_math::random::Random;
    use anim_math::{Quat, Vec3, quat};

    use super::*;

    #[test]
    fn an_arc_carries_as_its_quaternion_turns() {
        let mut random = Random::new(1, 0, 0);
        for n in 0..1000 {
            let (from, other) = (random.on_sphere(), random.on_sphere());
            let axis = from.cross(&random.on_sphere()).normalize();
            let to = if n % 10 == 0 {
                -from
            } else {
                random.on_sphere()
            };
            let arc = Arc::new(from, to, axis);
            let turn = Quat::from_quaternion(arc.quaternion());
            assert!((turn * from - to).norm() < 1e-6);
            assert!((turn * other - arc.carry(other)).norm() < 2e-6);
            let expected = quat::between_equal(from, to, axis);
            assert!(quat::angle_between(turn, expected) < 2e-6);
        }
    }

    #[test]
    fn pairs_are_taken_to_pairs() {
        let mut random = Random::new(3, 0, 0);
        let mut tried = 0;
        for _ in 0..1000 {
            let pair = |random: &mut Random| {
                let first = random.on_sphere();
                [first, first.cross(&random.on_sphere()).normalize()]
            };
            let (a, b) = (pair(&mut random), pair(&mut random));
            let pairs = [a, b].map(|pair| pair.map(<[f32; 3]>::from));
            let (turn, true) = between_pairs(pairs[0], pairs[1]) else {
                continue;
            };
            tried += 1;
            assert!((turn.norm() / (2.0 * turn.w.sqrt()) - 1.0).abs() < 2e-6);
            let turn = Quat::from_quaternion(turn.into());
            assert!((turn * a[0] - b[0]).norm() < 2e-6 && (turn * a[1] - b[1]).norm() < 2e-6);
        }
        // Of all rotations, (θ − sin θ)/π turn by less than θ: 69 % by so little that 4 cos²(θ/2) > 1/4.
        assert!((600..800).contains(&tried), "{tried}");
    }

    #[test]
    fn what_rounding_left_is_no_roll() {
        let roll = Roll::by(1e-20, -1e-20);
        assert_eq!((roll.sine, roll.cosine), (0.0, 1.0));
    }

    #[test]
    fn a_roll_after_an_arc_is_the_product_of_both() {
        let mut random = Random::new(2, 0, 0);
        for _ in 0..1000 {
            let (from, to) = (random.on_sphere(), random.on_sphere());
            let arc = Arc::new(from, to, Vec3::y());
            let angle = random.range(-3.1, 3.1);
            let roll = Roll::by(libm::sinf(angle) * 3.0, libm::cosf(angle) * 3.0);
            let rolled = Quat::from_quaternion(arc.rolled(roll));
            let expected = quat::from_axis_angle(to, angle) * quat::between(from, to);
            assert!(quat::angle_between(rolled, expected) < 3e-6);
        }
    }
}
