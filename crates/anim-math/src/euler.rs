//! Euler angles in all twelve orders, to and from quaternions.
//!
//! Angles are what motion files and artists write; nothing here computes with them longer than it must. Both directions
//! are total: at gimbal lock, where only the sum or difference of the outer angles is defined, the third angle is 0.
//!
//! ```
//! use anim_math::euler::{self, EulerOrder};
//!
//! let angles = [0.1, 0.2, 0.3];
//! let rotation = euler::to_quat(angles, EulerOrder::Zxy);
//! let back = euler::from_quat(rotation, EulerOrder::Zxy);
//! assert!(angles.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-6));
//! ```

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI, TAU};

use nalgebra::{Quaternion, Vector4};
use serde::{Deserialize, Serialize};

use crate::Quat;

/// The axes of three successive rotations.
///
/// Intrinsic: `Xyz` turns about x, then about the new y, then about the newest z, so R = Rx(θ₁)·Ry(θ₂)·Rz(θ₃). The same
/// matrix reads extrinsically from right to left: first θ₃ about the fixed z, then θ₂ about the fixed y, then θ₁ about
/// the fixed x. A tool that speaks of extrinsic order "xyz" therefore means `Zyx` here, with its angles reversed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EulerOrder {
    /// Rx·Ry·Rz.
    #[default]
    Xyz,
    /// Rx·Rz·Ry.
    Xzy,
    /// Ry·Rx·Rz.
    Yxz,
    /// Ry·Rz·Rx.
    Yzx,
    /// Rz·Rx·Ry.
    Zxy,
    /// Rz·Ry·Rx.
    Zyx,
    /// Rx·Ry·Rx.
    Xyx,
    /// Rx·Rz·Rx.
    Xzx,
    /// Ry·Rx·Ry.
    Yxy,
    /// Ry·Rz·Ry.
    Yzy,
    /// Rz·Rx·Rz.
    Zxz,
    /// Rz·Ry·Rz.
    Zyz,
}

impl EulerOrder {
    /// Every order: six with three different axes (Tait-Bryan), then six whose first and third axis agree (proper Euler).
    pub const ALL: [Self; 12] = [
        Self::Xyz,
        Self::Xzy,
        Self::Yxz,
        Self::Yzx,
        Self::Zxy,
        Self::Zyx,
        Self::Xyx,
        Self::Xzx,
        Self::Yxy,
        Self::Yzy,
        Self::Zxz,
        Self::Zyz,
    ];

    /// The three axes, 0 = x, 1 = y, 2 = z, in intrinsic order.
    pub fn axes(self) -> [usize; 3] {
        match self {
            Self::Xyz => [0, 1, 2],
            Self::Xzy => [0, 2, 1],
            Self::Yxz => [1, 0, 2],
            Self::Yzx => [1, 2, 0],
            Self::Zxy => [2, 0, 1],
            Self::Zyx => [2, 1, 0],
            Self::Xyx => [0, 1, 0],
            Self::Xzx => [0, 2, 0],
            Self::Yxy => [1, 0, 1],
            Self::Yzy => [1, 2, 1],
            Self::Zxz => [2, 0, 2],
            Self::Zyz => [2, 1, 2],
        }
    }
}

/// The rotation of three angles, rad, in the sequence of `order`.
///
/// Computed in f64, so the result is within half a unit in the last place of each component. Angles that are not finite
/// give the identity.
pub fn to_quat(angles: [f32; 3], order: EulerOrder) -> Quat {
    let mut product = Quaternion::<f64>::identity();
    for (angle, axis) in angles.into_iter().zip(order.axes()) {
        let (sine, cosine) = libm::sincos(f64::from(angle) * 0.5);
        let mut turn = Vector4::new(0.0, 0.0, 0.0, cosine);
        turn[axis] = sine;
        product *= Quaternion::from_vector(turn);
    }
    let xyzw = product.coords.cast::<f32>();
    crate::quat::from_xyzw(xyzw.into()).unwrap_or_else(Quat::identity)
}

/// Half the distance, in quaternion components, to a pole at which the outer angles cannot be told apart.
///
/// A quaternion of f32 is known to about 6e-8. This near the pole, giving the third angle to the first may turn the two
/// small components to their opposite: 2 · `POLE` in the quaternion, 4 · `POLE` in the rotation.
const POLE: f64 = 1e-7;

/// The angles, rad, in the sequence of `order`: the first and third in (−π, π], the second in [−π/2, π/2] for three
/// different axes and in [0, π] for proper Euler orders.
///
/// Total: at gimbal lock the third angle is 0. q and −q give the same angles. `to_quat` of the result is `q` to 1e-6 rad.
///
/// Source: Bernardes, Viollet, "Quaternion to Euler angles conversion: a direct, general and computationally efficient
/// method", PLOS ONE 2022: three different axes reduce to the proper case by a quarter turn about the second axis.
pub fn from_quat(q: Quat, order: EulerOrder) -> [f32; 3] {
    let [i, j, third] = order.axes();
    let proper = i == third;
    let k = 3 - i - j;
    let parity = if (j + 3 - i) % 3 == 1 { 1.0 } else { -1.0 };
    let mut q = Quaternion::from_vector(q.coords.cast::<f64>());
    if !proper {
        let mut quarter = Vector4::new(0.0, 0.0, 0.0, FRAC_1_SQRT_2);
        quarter[j] = FRAC_1_SQRT_2;
        q *= Quaternion::from_vector(quarter);
    }
    // Ri(θ₁)·Rj(θ₂)·Ri(θ₃) has w = cos(θ₂/2)·cos(sum), i = cos(θ₂/2)·sin(sum), j = sin(θ₂/2)·cos(difference) and
    // k = ±sin(θ₂/2)·sin(difference), with half the sum and half the difference of the outer angles.
    let (w, i, j, k) = (q.w, q.coords[i], q.coords[j], parity * q.coords[k]);
    let cosine = (w * w + i * i).sqrt();
    let sine = (j * j + k * k).sqrt();
    let half_sum = libm::atan2(i, w);
    let half_difference = libm::atan2(k, j);
    let second = 2.0 * libm::atan2(sine, cosine);
    let (first, third) = if sine < POLE {
        (2.0 * half_sum, 0.0)
    } else if cosine < POLE {
        (2.0 * half_difference, 0.0)
    } else {
        (half_sum + half_difference, half_sum - half_difference)
    };
    let (second, third) = if proper {
        (second, third)
    } else {
        (second - FRAC_PI_2, -parity * third)
    };
    [wrap(first) as f32, second as f32, wrap(third) as f32]
}

/// The same angle in (−π, π]; the argument is within two turns of it.
fn wrap(angle: f64) -> f64 {
    if angle > PI {
        angle - TAU
    } else if angle <= -PI {
        angle + TAU
    } else {
        angle
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::f32::consts::{FRAC_PI_2, PI};

    use super::*;
    use crate::{Vec3, quat};

    fn axis(index: usize) -> Vec3 {
        Vec3::ith(index, 1.0)
    }

    fn any_order() -> impl Strategy<Value = EulerOrder> {
        (0..12_usize).prop_map(|index| EulerOrder::ALL[index])
    }

    #[test]
    fn angles_compose_left_to_right() {
        for order in EulerOrder::ALL {
            let angles = [0.3, -0.7, 1.9];
            let product = angles
                .iter()
                .zip(order.axes())
                .fold(Quat::identity(), |q, (angle, i)| {
                    q * quat::from_axis_angle(axis(i), *angle)
                });
            let angle = quat::angle_between(to_quat(angles, order), product);
            assert!(angle < 1e-6, "{order:?}: {angle}");
        }
    }

    #[test]
    fn yaw_pitch_roll_of_a_known_matrix() {
        // Ry(90°)·Rx(90°) takes y to x: Rx(90°) sends y to z, Ry(90°) sends z to x.
        let q = to_quat([FRAC_PI_2, FRAC_PI_2, 0.0], EulerOrder::Yxz);
        assert!((q * Vec3::y() - Vec3::x()).norm() < 1e-6);
    }

    #[test]
    fn at_gimbal_lock_the_third_angle_is_zero() {
        for order in EulerOrder::ALL {
            let [i, _, k] = order.axes();
            let poles = if i == k {
                [0.0, PI]
            } else {
                [FRAC_PI_2, -FRAC_PI_2]
            };
            for pole in poles {
                let q = to_quat([0.4, pole, -1.1], order);
                let back = from_quat(q, order);
                assert_eq!(back[2], 0.0, "{order:?} {pole}");
                assert!((back[1] - pole).abs() < 1e-6, "{order:?} {pole}: {back:?}");
                assert!(quat::angle_between(to_quat(back, order), q) < 1e-6);
            }
        }
    }

    #[test]
    fn no_rotation_has_no_angles() {
        for order in EulerOrder::ALL {
            assert_eq!(from_quat(Quat::identity(), order), [0.0; 3], "{order:?}");
        }
    }

    #[test]
    fn extrinsic_order_is_intrinsic_order_reversed() {
        let [a, b, c] = [0.5, -0.25, 1.0];
        let turn = |i, angle| quat::from_axis_angle(axis(i), angle);
        let extrinsic_xyz = turn(2, c) * turn(1, b) * turn(0, a);
        let q = to_quat([c, b, a], EulerOrder::Zyx);
        assert!(quat::angle_between(q, extrinsic_xyz) < 1e-6);
    }

    /// Measured in f64, so that the measure has no share in the error.
    fn angle_between(a: Quat, b: Quat) -> f64 {
        let [a, b] = [a, b].map(|q| Quaternion::from_vector(q.coords.cast::<f64>()));
        let difference = a.conjugate() * b;
        2.0 * libm::atan2(difference.imag().norm(), difference.w.abs())
    }

    proptest! {
        // Each of three angles is rounded by at most 2⁻²³ rad, each of two quaternions turned by at most 2⁻²³ rad by the
        // rounding of its components (2⁻²⁵ each where all are 1/2), and a pole may cost 4e-7 rad: 1e-6 in all.
        #[test]
        fn rotations_survive_the_round_trip(
            x in -1.0_f32..1.0, y in -1.0_f32..1.0, z in -1.0_f32..1.0, w in -1.0_f32..1.0, order in any_order(),
        ) {
            prop_assume!(x * x + y * y + z * z + w * w > 1e-4);
            let q = quat::from_xyzw([x, y, z, w]).unwrap();
            let back = to_quat(from_quat(q, order), order);
            prop_assert!(angle_between(q, back) < 1e-6);
            prop_assert_eq!(from_quat(Quat::new_unchecked(-q.into_inner()), order), from_quat(q, order));
        }

        #[test]
        fn rotations_survive_near_the_poles(
            first in -3.0_f32..3.0, third in -3.0_f32..3.0, off in -1e-5_f32..1e-5, order in any_order(),
        ) {
            for pole in [0.0, FRAC_PI_2, -FRAC_PI_2, PI] {
                let q = to_quat([first, pole + off, third], order);
                let back = from_quat(q, order);
                prop_assert!(back.iter().all(|a| a.is_finite() && a.abs() < PI + 1e-6));
                prop_assert!(angle_between(q, to_quat(back, order)) < 1e-6);
            }
        }

        #[test]
        fn angles_survive_away_from_the_poles(
            first in -3.1_f32..3.1, middle in 0.1_f32..1.4, third in -3.1_f32..3.1, order in any_order(),
        ) {
            let back = from_quat(to_quat([first, middle, third], order), order);
            // Within 0.1 rad of a pole the outer angles lose at most a factor 1 / sin 0.05.
            for (a, b) in [first, middle, third].into_iter().zip(back) {
                prop_assert!((a - b).abs() < 4e-6, "{} {}", a, b);
            }
        }
    }
}
