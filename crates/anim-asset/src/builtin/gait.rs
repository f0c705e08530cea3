//! One walking cycle in closed form: where feet, hips and arms are at any phase.
//!
//! A foot strikes with the heel, rolls flat, stays, rolls off over the ball and swings to the next print. What touches the
//! ground does not move: the heel's contact, then the whole sole, then the joint of the toes. Everything else follows.

use anim_math::nalgebra::Vector3;

use super::figure::{Arm, Foot, Posture, Side, cos_turns, turn};
use super::rig::{ANKLE, TOES};
use super::surface::{Point, smoothstep};

/// Seconds a cycle (two steps): 32 frames at 30 Hz.
pub(super) const PERIOD: f64 = 32.0 / 30.0;
/// Metres a second.
pub(super) const SPEED: f64 = 1.2;
const STRIDE: f64 = SPEED * PERIOD;

// Phases of one foot, as fractions of the cycle from its heel strike; whole frames, so that keys fall on them.
const FLAT: f64 = 3.0 / 32.0;
const HEEL_OFF: f64 = 11.0 / 32.0;
const TOE_OFF: f64 = 19.0 / 32.0;

/// How far ahead of the hips the sole lies when the heel strikes, metres.
const REACH: f64 = 0.335;
/// Distance of a foot from the middle, metres.
const TRACK: f64 = 0.072;
/// How much a swinging foot rises above the way from print to print, metres.
const LIFT: f64 = 0.062;
/// How far feet point outward, rad.
const TOE_OUT: f64 = 0.09;
/// Where the sole meets the ground when the heel strikes, behind the ankle, metres.
const HEEL: f64 = 0.058;

/// The person at `time`, s, the left heel striking at 0.
pub(super) fn walk(time: f64) -> Posture {
    let phase = time / PERIOD;
    let root_z = SPEED * time;
    // Waves of one and of two periods a cycle, greatest at a phase.
    let once = |at: f64| cos_turns(phase - at);
    let twice = |at: f64| cos_turns(2.0 * (phase - at));
    let turns = |y: f64, z: f64, x: f64| {
        turn(Vector3::y(), y) * turn(Vector3::z(), z) * turn(Vector3::x(), x)
    };
    let yaw = once(0.02);
    let lean = once(0.27);
    let own_phase = |side: Side| phase + side.index() as f64 * 0.5;
    let arm = |side: Side| Arm {
        swing: 0.06 + 0.40 * cos_turns(own_phase(side) - 0.03),
        spread: 0.19,
        elbow: 0.38 - 0.20 * cos_turns(own_phase(side) - 0.08),
        shoulder: 0.05 * cos_turns(own_phase(side) - 0.03),
    };
    Posture {
        root_z,
        // Over the standing leg, lowest when both feet are down.
        hips: Point::new(
            0.017 * once(0.29),
            -0.0325 - 0.020 * twice(0.03),
            0.012 * twice(0.2),
        ),
        // The hip of the swinging leg goes forward, and sinks a little.
        pelvis: turns(-0.10 * yaw, 0.045 * lean, 0.05 + 0.012 * twice(0.1)),
        // The chest turns against the pelvis and leans over the standing leg; the head looks ahead.
        spine: [turns(0.075 * yaw, -0.022 * lean, -0.008); 3],
        neck: turns(-0.055 * yaw, 0.0, 0.0),
        head: turns(-0.05 * yaw, 0.0, -0.02 + 0.012 * twice(0.12)),
        arms: Side::BOTH.map(arm),
        feet: Side::BOTH.map(|side| foot(side, own_phase(side), root_z)),
        raised: None,
    }
}

/// One foot at `phase` cycles after its heel struck; the sole then lies `REACH` ahead of the hips.
fn foot(side: Side, phase: f64, root_z: f64) -> Foot {
    let own = phase - phase.floor();
    // Where the root was when this heel struck tells where the sole lies in the world.
    let struck_z = root_z - own * STRIDE;
    let print = struck_z + REACH;
    let landing = placed(side, print, own);
    let mut foot = if own <= TOE_OFF {
        landing
    } else {
        swing(side, print, own)
    };
    foot.toes = toes(own);
    foot
}

/// The foot on its print: ankle and pitch during stance.
fn placed(side: Side, print: f64, own: f64) -> Foot {
    let pitch = pitch(own);
    let rotation = turn(Vector3::y(), side.sign() * TOE_OUT) * turn(Vector3::x(), pitch);
    let flat = turn(Vector3::y(), side.sign() * TOE_OUT);
    let ankle = Point::new(side.sign() * TRACK, ANKLE[1], print);
    // The pivot from the ankle: the heel's contact before the sole is flat, the joint of the toes after.
    let pivot = if own < HEEL_OFF {
        Point::new(0.0, -ANKLE[1], -HEEL)
    } else {
        Point::from(TOES) - Point::from(ANKLE)
    };
    Foot {
        ankle: ankle + flat * pivot - rotation * pivot,
        rotation,
        toes: 0.0,
    }
}

/// The foot in the air, from where it left its print to where it strikes the next.
fn swing(side: Side, print: f64, own: f64) -> Foot {
    let alpha = (own - TOE_OFF) / (1.0 - TOE_OFF);
    let span = 1.0 - TOE_OFF;
    let step = 1e-4;
    let from = placed(side, print, TOE_OFF);
    let leaving = (from.ankle - placed(side, print, TOE_OFF - step).ankle) / step * span;
    let to = placed(side, print + STRIDE, 0.0);
    let reaching = (placed(side, print + STRIDE, step).ankle - to.ankle) / step * span;
    let (a2, a3) = (alpha * alpha, alpha * alpha * alpha);
    let mut ankle = from.ankle * (2.0 * a3 - 3.0 * a2 + 1.0)
        + leaving * (a3 - 2.0 * a2 + alpha)
        + to.ankle * (3.0 * a2 - 2.0 * a3)
        + reaching * (a3 - a2);
    // The toes point down early in the swing and must clear the ground: a lift that is greatest at two fifths.
    let rest = 1.0 - alpha;
    ankle.y += LIFT * a2 * rest * rest * rest / 0.03456;
    Foot {
        ankle,
        rotation: turn(Vector3::y(), side.sign() * TOE_OUT) * turn(Vector3::x(), pitch(own)),
        toes: 0.0,
    }
}

/// How far the foot points down, rad, from one level to the next.
fn pitch(own: f64) -> f64 {
    const STRIKE: f64 = -0.33;
    const PUSH: f64 = 1.05;
    let ease = |from: f64, to: f64| smootherstep((own - from) / (to - from));
    let rise = STRIKE * (1.0 - ease(0.0, FLAT));
    let push = PUSH * ease(HEEL_OFF, 0.70);
    let recover = (STRIKE - PUSH) * ease(0.68, 0.98);
    rise + push + recover
}

/// How far the toes bend up against the foot, rad: they stay on the ground while the heel rises.
fn toes(own: f64) -> f64 {
    let bend = |own: f64| if own < HEEL_OFF { 0.0 } else { pitch(own) };
    if own <= TOE_OFF {
        bend(own)
    } else {
        bend(TOE_OFF) * (1.0 - smoothstep((own - TOE_OFF) / 0.14))
    }
}

/// 0 to 1 with level, uncurved ends.
fn smootherstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}
