//! How hair moves that is not simulated: it hangs from its root, leans with the air and sways.
//!
//! For hair that is too small on the screen to be worth a step. It leans as far as what drags it is strong beside what holds
//! it, and waves run through the lean; a segment turns the more the nearer it is to the tip, so that lengths hold. What
//! the root's own motion stirs up counts as wind. In still air a root that rests, or goes on evenly without drag, carries its hair rigidly.

use anim_math::nalgebra::Quaternion;
use anim_math::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::model::{Hair, HairState};
use super::path;
use super::solver::{HairDrive, HairSolver};
use anim_geom::Collider;

/// How quickly the lean follows the wind, 1/s: about as a strand of 20 cm swings.
const RESPONSE: f32 = 6.0;
/// Waves of the lean, 1/s.
const WAVES: [f64; 2] = [1.1, 1.7];
/// How far they change the lean, and turn it aside, as a fraction.
const FLUTTER: [f32; 2] = [0.3, 0.2];
/// Waves over the head, 1/m: neighbours sway alike.
const RIPPLE: Vec3 = Vec3::new(3.0, 2.0, 4.0);
/// The part of a wave by which one strand and the next differ at most.
const APART: f32 = 0.15;
/// Golden ratio: strands that follow each other differ, and none alike.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// How hair that is not simulated leans: a part of [`HairLodState`](super::HairLodState).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HairSway {
    /// Seconds since the beginning.
    pub time: f64,
    /// What drags over what holds and drags, along the axes of the root's space; shorter than 1.
    pub lean: Vec3,
}

impl HairSway {
    /// Goes on by `dt`, s.
    pub(super) fn advance(&mut self, hair: &Hair, drive: &HairDrive<'_>, dt: f32) {
        let [before, after] = path::usable(drive.root(0));
        let moved = (after.translation - before.translation) / dt;
        let drag = (drive.wind - moved) * hair.spec.material.drag;
        let holds = drive.gravity.norm() + hair.spec.hold;
        let goal = drag / (holds + drag.norm());
        let goal = if goal.iter().all(|c| c.is_finite()) {
            goal
        } else {
            Vec3::zeros()
        };
        let lean = before.rotation * self.lean;
        let lean = lean + (goal - lean) * (1.0 - libm::expf(-RESPONSE * dt));
        self.lean = after.rotation.inverse() * lean;
        self.time += f64::from(dt);
    }

    /// The phases of this moment.
    pub(super) fn waves(&self) -> Waves {
        Waves {
            lean: self.lean,
            phases: WAVES.map(|rate| fraction(self.time * rate)),
        }
    }
}

/// How all strands sway at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waves {
    lean: Vec3,
    phases: [f32; 2],
}

impl Waves {
    /// How a strand with this root and number that hangs `along` is bent: a rotation vector, rad, of its tip.
    pub(super) fn bend(&self, strand: u32, root: Vec3, along: Vec3) -> Vec3 {
        let Some(along) = along.try_normalize(0.0) else {
            return Vec3::zeros();
        };
        let own = APART * fraction(f64::from(strand) * GOLDEN) + root.dot(&RIPPLE);
        let [swell, aside] = self.phases.map(|phase| wave(phase + own));
        let bend = along.cross(&self.lean);
        bend * (1.0 + FLUTTER[0] * swell) + along.cross(&bend) * (FLUTTER[1] * aside)
    }
}

/// The turn of a bent strand's segment `index` of `segments`.
#[inline]
pub(super) fn turn(bend: Vec3, index: usize, segments: usize) -> Quat {
    let half = bend * (0.5 * (index as f32 + 0.5) / segments as f32);
    let norm = (1.0 + half.norm_squared()).sqrt();
    Quat::new_unchecked(Quaternion::from_parts(1.0 / norm, half / norm))
}

/// Nearly a sine of period 1, of two parabolas: smooth, and the same on every machine.
fn wave(phase: f32) -> f32 {
    let from_middle = phase - phase.floor() - 0.5;
    -8.0 * from_middle * (1.0 - 2.0 * from_middle.abs())
}

fn fraction(x: f64) -> f32 {
    (x - x.floor()) as f32
}

/// Most frames that hair is given to come to rest.
const MOST_FRAMES: f32 = 240.0;
const FRAME: f32 = 1.0 / 60.0;

/// How hair hangs under `gravity`, m/s², on colliders, both in the space of its root: simulated from the groom until it rests.
pub(super) fn hang(hair: &Hair, gravity: Vec3, colliders: &[Collider]) -> HairState {
    let reach = hair.groups.iter().flat_map(|group| group.reach);
    let longest = reach.fold(0.0, f32::max);
    // Of a rod that swings about its end, and as much drag as brings it to rest soonest.
    let frequency = (1.5 * gravity.norm() / longest).sqrt();
    let mut heavy = hair.clone();
    heavy.spec.material.drag = hair.spec.material.drag.max(2.0 * frequency);
    let frames = (10.0 / (frequency * FRAME)).min(MOST_FRAMES);
    let drive = HairDrive {
        gravity,
        colliders,
        ..HairDrive::default()
    };
    let mut state = HairState::new(hair);
    let mut solver = HairSolver::new(&heavy);
    for _ in 0..frames as u32 {
        solver.step(&heavy, &drive, FRAME, &mut state);
    }
    state.velocities.fill(Vec3::zeros());
    state.tensions.fill(0.0);
    state
}
