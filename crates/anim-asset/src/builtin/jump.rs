//! A jump on the spot in closed form: crouch, flight along a parabola, landing.

use anim_math::nalgebra::Vector3;

use super::figure::{Arm, Foot, Posture, Side, turn};
use super::rig::ANKLE;
use super::surface::{Point, smoothstep};

/// Seconds from the first bend to standing again.
pub(super) const DURATION: f64 = 1.2;
/// When the toes leave the ground, s.
const TAKE_OFF: f64 = 0.4;
/// When they touch it again, s.
const LANDING: f64 = 0.8;
/// m/s².
const GRAVITY: f64 = 9.81;
/// How far the hips sink in the crouch, metres.
const CROUCH: f64 = 0.22;

/// Jumping at `time`, s.
pub(super) fn jump(time: f64) -> Posture {
    let ease = |from: f64, to: f64| smoothstep((time - from) / (to - from));
    // 1 where the knees are bent most, before the flight and after it.
    let before = ease(0.0, 0.22) - ease(0.22, TAKE_OFF);
    let after = ease(LANDING - 0.02, 0.92) - ease(0.92, DURATION);
    let flight = (time - TAKE_OFF).clamp(0.0, LANDING - TAKE_OFF);
    let height = 0.5 * GRAVITY * flight * (LANDING - TAKE_OFF - flight);
    let bend = before + after;
    // The feet hang, pointed, and are drawn up a little.
    let hang = ease(TAKE_OFF - 0.06, TAKE_OFF + 0.08) - ease(LANDING - 0.14, LANDING);
    let nod = |angle: f64| turn(Vector3::x(), angle);
    let swing = 0.9 * before - 1.1 * (ease(0.26, 0.46) - ease(0.7, 1.05)) + 0.1 * after;
    Posture {
        root_z: 0.0,
        hips: Point::new(0.0, -0.012 - CROUCH * bend + height, -0.05 * bend),
        pelvis: nod(0.30 * bend),
        spine: [nod(0.10 * bend - 0.03 * hang); 3],
        neck: nod(-0.12 * bend),
        head: nod(-0.20 * bend),
        arms: [Arm {
            swing,
            spread: 0.22 + 0.25 * hang,
            elbow: 0.25 + 0.35 * bend + 0.3 * hang,
            shoulder: 0.05 * before,
        }; 2],
        feet: Side::BOTH.map(|side| Foot {
            ankle: Point::new(
                side.sign() * 0.095,
                ANKLE[1] + height + 0.05 * hang,
                ANKLE[2] - 0.06 * hang,
            ),
            rotation: turn(Vector3::y(), side.sign() * 0.12) * nod(0.55 * hang),
            toes: 0.0,
        }),
        raised: None,
    }
}
