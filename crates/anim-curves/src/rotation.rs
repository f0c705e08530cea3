//! Smooth tracks of rotations: velocities for keys that have none.
//!
//! A cubic track of rotations needs a four-component velocity at each key, as glTF stores it. [`fill_tangents`] takes any
//! of the [`tangents`](crate::tangents) and applies it to angular velocities, so that rotations are shaped by the same
//! words as positions: smooth, at rest, by tension, continuity and bias. Keep keys under half a turn apart: an even turn is
//! met within 2e-4 rad where keys are a quarter turn apart, within 3e-3 rad near half a turn.
//! [`SquadTrack`](crate::SquadTrack) is the alternative that never leaves the sphere, at three slerps a sample.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track, rotation, tangents};
//! use anim_math::{Vec3, quat};
//!
//! let angles = [0.0, 0.5, 1.0, 1.5];
//! let mut keys: Vec<_> = (0..)
//!     .zip(angles)
//!     .map(|(n, angle)| Key::new(n as f32, quat::from_axis_angle(Vec3::y(), angle)))
//!     .collect();
//! rotation::fill_tangents(&mut keys, tangents::catmull_rom);
//! let track = Track::new(keys, Interpolation::Cubic)?;
//! assert!((quat::log(track.sample(1.5)).y - 0.75).abs() < 1e-4);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use anim_math::{Quat, Vec3, quat};
use nalgebra::{Quaternion, Vector4};

use crate::Key;

/// Fills the velocities of `keys` from what `tangents` makes of the angular velocity at each, rad/s.
///
/// The keys are unrolled into a path of rotation vectors, Pₖ₊₁ = Pₖ + log(qₖ⁻¹ qₖ₊₁), which seen from each key is exact
/// towards both neighbours; its velocity ω there becomes q̇ = ½ q ω, at a right angle to q. Signs are aligned first by
/// [`align_hemispheres`]. Any function of [`tangents`](crate::tangents) will do, a closure for Kochanek and Bartels.
///
/// Allocates a key a key. Keys that are unsorted or not finite are left to [`Track::new`](crate::Track::new) to refuse.
///
/// Source of the derivative: Kim, Kim and Shin, "A general construction scheme for unit quaternion curves with simple
/// high order derivatives", SIGGRAPH 1995.
pub fn fill_tangents(keys: &mut [Key<Quat>], tangents: impl FnOnce(&mut [Key<Vec3>])) {
    align_hemispheres(keys);
    let mut turned = unrolled(keys);
    tangents(&mut turned);
    for (key, turned) in keys.iter_mut().zip(turned) {
        let velocity = |angular| velocity_from_angular(key.value, angular);
        key.velocity = turned.velocity.map(|sides| sides.map(velocity));
    }
}

/// Negates quaternions, with their velocities, so that none points away from the one before; rotations stay the same.
///
/// A cubic track goes through its keys as they are written (glTF does not flip signs), and from q to near −q would be the
/// long way round.
pub fn align_hemispheres(keys: &mut [Key<Quat>]) {
    for key in 1..keys.len() {
        let before = keys[key - 1].value.coords;
        let key = &mut keys[key];
        if key.value.coords.dot(&before) < 0.0 {
            key.value = Quat::new_unchecked(-key.value.into_inner());
            key.velocity = key.velocity.map(|sides| sides.map(|velocity| -velocity));
        }
    }
}

/// ½ q ω: the derivative of `q` turning by `angular`, rad/s, about axes that turn with it.
pub fn velocity_from_angular(q: Quat, angular: Vec3) -> Vector4<f32> {
    (q.into_inner() * Quaternion::from_imag(angular * 0.5)).coords
}

/// 2 q⁻¹ q̇, without what changes its length: the angular velocity, rad/s, about axes that turn with `q`.
pub fn angular_from_velocity(q: Quat, velocity: Vector4<f32>) -> Vec3 {
    (q.conjugate().into_inner() * Quaternion::from_vector(velocity)).imag() * 2.0
}

/// The path of rotation vectors whose steps are those from key to key.
pub(crate) fn unrolled(keys: &[Key<Quat>]) -> Vec<Key<Vec3>> {
    let mut place = Vec3::zeros();
    (0..keys.len())
        .map(|key| {
            if key > 0 {
                place += quat::log(keys[key - 1].value.inverse() * keys[key].value);
            }
            Key::new(keys[key].time, place)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Interpolate, Interpolation, Tcb, Track, tangents};

    fn keys(vectors: &[(f32, Vec3)]) -> Vec<Key<Quat>> {
        let key = |(time, vector): &(f32, Vec3)| Key::new(*time, quat::exp(*vector));
        vectors.iter().map(key).collect()
    }

    fn any_keys() -> impl Strategy<Value = Vec<Key<Quat>>> {
        // Steps of up to 1.7 rad, either sign of the quaternion.
        let step = (
            0.1_f32..2.0,
            prop::array::uniform3(-1.0_f32..1.0),
            any::<bool>(),
        );
        prop::collection::vec(step, 2..12).prop_map(|steps| {
            let (mut time, mut q) = (0.0, Quat::identity());
            let key = |(span, step, flip): (f32, [f32; 3], bool)| {
                time += span;
                q *= quat::exp(Vec3::from(step));
                let value = if flip {
                    Quat::new_unchecked(-q.into_inner())
                } else {
                    q
                };
                Key::new(time, value)
            };
            steps.into_iter().map(key).collect()
        })
    }

    #[test]
    fn an_even_turn_stays_one_at_uneven_times() {
        let axis = Vec3::new(2.0, -1.0, 2.0) / 3.0;
        let times = [0.0, 0.3, 1.0, 1.2, 2.0];
        let mut keys = keys(&times.map(|time| (time, axis * time)));
        fill_tangents(&mut keys, tangents::catmull_rom);
        for key in &keys {
            let [reach, leave] = key.velocity.unwrap();
            let angular = angular_from_velocity(key.value, leave);
            // Angles of 1e-1 and more, each with the rounding of a unit quaternion.
            assert!((angular - axis).norm() < 20.0 * f32::EPSILON);
            assert_eq!(reach, leave);
        }
        let track = Track::new(keys, Interpolation::Cubic).unwrap();
        for n in 0..=40 {
            let time = n as f32 * 0.05;
            let error = quat::angle_between(track.sample(time), quat::exp(axis * time));
            // Hermite's bound (h ω/2)⁴/384 in four dimensions, with h of 0.8 s, twice that as an angle.
            assert!(error < 0.4_f32.powi(4) / 192.0 + 1e-6, "{error}");
        }
    }

    #[test]
    fn full_tension_rests_at_each_key() {
        let mut keys = keys(&[(0.0, Vec3::x()), (1.0, Vec3::y()), (2.0, Vec3::z())]);
        let rest = Tcb {
            tension: 1.0,
            ..Tcb::default()
        };
        fill_tangents(&mut keys, |keys| tangents::kochanek_bartels(keys, |_| rest));
        assert!(
            keys.iter()
                .all(|key| key.velocity.unwrap() == [Vector4::zeros(); 2])
        );
    }

    #[test]
    fn no_key_and_one_key_are_no_trouble() {
        fill_tangents(&mut [], tangents::monotone);
        let mut one = keys(&[(0.0, Vec3::x())]);
        fill_tangents(&mut one, tangents::catmull_rom);
        assert_eq!(one[0].velocity, Some([Vector4::zeros(); 2]));
    }

    proptest! {
        #[test]
        fn the_curve_meets_its_keys_with_the_same_velocity_on_both_sides(keys in any_keys()) {
            let mut filled = keys.clone();
            fill_tangents(&mut filled, tangents::catmull_rom);
            let track = Track::new(filled.clone(), Interpolation::Cubic).unwrap();
            for (key, given) in filled.iter().zip(&keys) {
                prop_assert!(quat::angle_between(track.sample(key.time), given.value) < 8.0 * f32::EPSILON);
                let [reach, leave] = key.velocity.unwrap();
                prop_assert_eq!(reach, leave);
                prop_assert!(key.value.coords.dot(&leave).abs() <= 4.0 * f32::EPSILON * leave.norm());
            }
            for pair in filled.windows(2) {
                prop_assert!(pair[0].value.coords.dot(&pair[1].value.coords) >= 0.0);
            }
        }

        #[test]
        fn speed_is_bounded_by_that_of_the_keys(keys in any_keys()) {
            let mut keys = keys;
            fill_tangents(&mut keys, tangents::catmull_rom);
            for pair in keys.windows(2) {
                let span = pair[1].time - pair[0].time;
                let (from, to) = ((pair[0].value, pair[0].velocity.unwrap()[1]), (pair[1].value, pair[1].velocity.unwrap()[0]));
                // In four dimensions |ḣ| ≤ 1.5 chord/h + max |b|: the weights' largest sums over α.
                let chord = (to.0.coords - from.0.coords).norm() / span;
                let bound = 1.5 * chord + from.1.norm().max(to.1.norm());
                for n in 0..=16 {
                    let alpha = n as f32 / 16.0;
                    let [v0, b0, v1, a1] = crate::interpolate::hermite_weights(span, alpha);
                    let length = (from.0.coords * v0 + from.1 * b0 + to.0.coords * v1 + to.1 * a1).norm();
                    let speed = Quat::hermite_velocity(from, to, span, alpha).norm();
                    prop_assert!(speed * length <= bound * (1.0 + 16.0 * f32::EPSILON));
                }
            }
        }

        #[test]
        fn angular_velocity_survives_its_four_components(
            q in prop::array::uniform3(-3.0_f32..3.0), angular in prop::array::uniform3(-9.0_f32..9.0),
        ) {
            let (q, angular) = (quat::exp(Vec3::from(q)), Vec3::from(angular));
            let back = angular_from_velocity(q, velocity_from_angular(q, angular));
            prop_assert!((back - angular).norm() < 16.0 * 16.0 * f32::EPSILON);
        }
    }
}
