//! The person at ease: breathes, shifts its weight, and may wave.

use anim_math::nalgebra::Vector3;

use super::figure::{Arm, Foot, Posture, Side, cos_turns, turn};
use super::rig::ANKLE;
use super::surface::Point;

/// Seconds a breath, after which everything repeats.
pub(super) const BREATH: f64 = 4.0;
/// Waves a second; a whole number of them in a breath.
const WAVES: f64 = 1.5;

/// Standing at `time`, s, the chest full at 0.
pub(super) fn idle(time: f64) -> Posture {
    let breath = cos_turns(time / BREATH);
    let sway = cos_turns(time / BREATH - 0.2);
    let nod = |angle: f64| turn(Vector3::x(), angle);
    let lean = |angle: f64| turn(Vector3::z(), angle);
    Posture {
        root_z: 0.0,
        hips: Point::new(0.010 * sway, -0.012 + 0.002 * breath, 0.004 * breath),
        pelvis: lean(0.012 * sway),
        spine: [
            lean(-0.008 * sway),
            nod(0.010 * breath),
            nod(0.014 * breath),
        ],
        neck: nod(-0.010 * breath),
        head: turn(Vector3::y(), 0.05 * sway) * nod(-0.010 * breath),
        arms: [Arm {
            swing: 0.02 + 0.012 * breath,
            spread: 0.17 + 0.01 * breath,
            elbow: 0.22 - 0.02 * breath,
            shoulder: 0.02 * breath,
        }; 2],
        feet: Side::BOTH.map(|side| Foot {
            ankle: Point::new(side.sign() * 0.095, ANKLE[1], ANKLE[2]),
            rotation: turn(Vector3::y(), side.sign() * 0.12),
            toes: 0.0,
        }),
        raised: None,
    }
}

/// As [`idle`], the right hand raised and waving.
pub(super) fn wave(time: f64) -> Posture {
    Posture {
        raised: Some(0.35 * cos_turns(WAVES * time)),
        ..idle(time)
    }
}

/// Standing upright at 0 and 2 s, leaning to the left with the whole trunk at 1 s: for additive layers.
pub(super) fn lean(time: f64) -> Posture {
    let lean = 0.5 - 0.5 * cos_turns(time / 2.0);
    let still = idle(0.0);
    let tilt = turn(Vector3::z(), -0.09 * lean);
    Posture {
        pelvis: turn(Vector3::z(), -0.05 * lean) * still.pelvis,
        spine: still.spine.map(|joint| tilt * joint),
        head: turn(Vector3::z(), 0.16 * lean) * still.head,
        ..still
    }
}
