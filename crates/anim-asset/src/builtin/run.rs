//! One running cycle in closed form: short stances, both feet in the air between them.

use anim_math::nalgebra::Vector3;

use super::figure::{Arm, Foot, Posture, Side, cos_turns, turn};
use super::rig::{ANKLE, TOES};
use super::surface::{Point, smoothstep};

/// Seconds a cycle (two steps): 20 frames at 30 Hz.
pub(super) const PERIOD: f64 = 20.0 / 30.0;
/// Metres a second.
pub(super) const SPEED: f64 = 3.0;
const STRIDE: f64 = SPEED * PERIOD;

// Phases of one foot, as fractions of the cycle from its strike; whole frames, so that keys fall on them.
const HEEL_OFF: f64 = 3.0 / 20.0;
const TOE_OFF: f64 = 6.0 / 20.0;
/// How far the foot points down when it leaves the ground, rad.
const PUSH: f64 = 0.95;
/// How far ahead of the hips the ankle is at the strike, metres.
const REACH: f64 = 0.24;
/// Distance of a foot from the middle, metres.
const TRACK: f64 = 0.06;
/// How high a swinging heel is drawn, metres.
const LIFT: f64 = 0.26;

/// The person at `time`, s, the left foot striking at 0.
pub(super) fn run(time: f64) -> Posture {
    let phase = time / PERIOD;
    let root_z = SPEED * time;
    let once = |at: f64| cos_turns(phase - at);
    let twice = |at: f64| cos_turns(2.0 * (phase - at));
    let nod = |angle: f64| turn(Vector3::x(), angle);
    let yaw = |angle: f64| turn(Vector3::y(), angle);
    let own_phase = |side: Side| phase + side.index() as f64 * 0.5;
    let twist = once(0.0);
    Posture {
        root_z,
        // Lowest in the middle of each stance.
        hips: Point::new(0.008 * once(0.15), -0.075 - 0.035 * twice(0.15), 0.0),
        pelvis: yaw(-0.14 * twist) * nod(0.12),
        spine: [yaw(0.10 * twist) * nod(0.03); 3],
        neck: yaw(-0.08 * twist) * nod(-0.06),
        head: yaw(-0.08 * twist) * nod(-0.10),
        arms: Side::BOTH.map(|side| Arm {
            swing: 0.12 + 0.62 * cos_turns(own_phase(side) - 0.02),
            spread: 0.24,
            elbow: 1.35 - 0.20 * cos_turns(own_phase(side) - 0.05),
            shoulder: 0.08 * cos_turns(own_phase(side) - 0.02),
        }),
        feet: Side::BOTH.map(|side| foot(side, own_phase(side), root_z)),
        raised: None,
    }
}

/// One foot at `phase` cycles after it struck.
fn foot(side: Side, phase: f64, root_z: f64) -> Foot {
    let own = phase - phase.floor();
    let print = root_z - own * STRIDE + REACH;
    if own <= TOE_OFF {
        return placed(side, print, own);
    }
    let span = 1.0 - TOE_OFF;
    let alpha = (own - TOE_OFF) / span;
    let step = 1e-4;
    let from = placed(side, print, TOE_OFF).ankle;
    let leaving = (from - placed(side, print, TOE_OFF - step).ankle) / step * span;
    let to = placed(side, print + STRIDE, 0.0).ankle;
    let (a2, a3) = (alpha * alpha, alpha * alpha * alpha);
    let mut ankle = from * (2.0 * a3 - 3.0 * a2 + 1.0)
        + leaving * (a3 - 2.0 * a2 + alpha)
        + to * (3.0 * a2 - 2.0 * a3);
    // Drawn up behind, greatest at two fifths.
    let rest = 1.0 - alpha;
    ankle.y += LIFT * a2 * rest * rest * rest / 0.03456;
    // The sole turns up behind, and is level again before it strikes.
    let pitch =
        PUSH * (1.0 - smoothstep((alpha - 0.3) / 0.6)) + 0.5 * a2 * rest * rest * 16.0 / 2.0;
    Foot {
        ankle,
        rotation: turn(Vector3::x(), pitch),
        toes: PUSH * (1.0 - smoothstep(alpha / 0.2)),
    }
}

/// The foot on its print: flat, then over the joint of the toes.
fn placed(side: Side, print: f64, own: f64) -> Foot {
    let pitch = PUSH * smoothstep((own - HEEL_OFF) / (TOE_OFF - HEEL_OFF));
    let rotation = turn(Vector3::x(), pitch);
    let ankle = Point::new(side.sign() * TRACK, ANKLE[1], print);
    let pivot = Point::from(TOES) - Point::from(ANKLE);
    Foot {
        ankle: ankle + pivot - rotation * pivot,
        rotation,
        toes: pitch,
    }
}
