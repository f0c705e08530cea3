//! Feet of walks that are known in closed form: they stand where they should, and knees do not pop.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use anim_ik::{
    Foot, FootLockOptions, FootLockReport, FootMotion, FootPlant, Ground, TwoBone, TwoBoneGoal,
};
use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::{Globals, JointId, JointSpec, Pose, Skeleton};

const FPS: f32 = 30.0;
/// Frames of a stance and of a swing.
const HALF: usize = 15;
const STRIDE: f32 = 1.2;
const FRAMES: usize = 8 * HALF;
/// Heights of ankle and ball over the sole, and how far the ball is ahead, m.
const ANKLE: f32 = 0.1;
const BALL: f32 = 0.02;
const AHEAD: f32 = 0.15;

/// A walk of a biped on legs of 0.9 m.
struct Walk {
    skeleton: Skeleton,
    feet: FootPlant,
    poses: Vec<Pose>,
    placements: Vec<Affine>,
}

impl Walk {
    /// * `drift`: how far a standing foot slides in one stance, m. * `pitch`: of the foot over a stance from 0 to 1, rad.
    fn new(drift: f32, pitch: impl Fn(f32) -> f32) -> Self {
        let joint = |parent, at: [f32; 3]| JointSpec {
            name: None,
            parent,
            rest: Transform::from_translation(Vec3::from(at)),
        };
        let mut joints = vec![joint(None, [0.0, 0.98, 0.0])];
        for x in [0.1, -0.1] {
            let first = joints.len();
            joints.push(joint(Some(0), [x, 0.0, 0.0]));
            joints.push(joint(Some(first), [0.0, -0.44, 0.06]));
            joints.push(joint(Some(first + 1), [0.0, -0.44, -0.06]));
            joints.push(joint(Some(first + 2), [0.0, BALL - ANKLE, AHEAD]));
        }
        let skeleton = Skeleton::new(joints).unwrap();
        let foot = |side: usize| {
            let ankle = skeleton.joint(side * 4 + 3);
            Foot {
                leg: TwoBone::new(&skeleton, ankle).unwrap(),
                ankle,
                toes: Some(skeleton.joint(side * 4 + 4)),
            }
        };
        let feet = FootPlant {
            hips: skeleton.joint(0),
            feet: (0..2).map(foot).collect(),
        };
        let mut walk = Self {
            skeleton,
            feet,
            poses: Vec::new(),
            placements: Vec::new(),
        };
        for frame in 0..FRAMES {
            walk.step(frame, drift, &pitch);
        }
        walk
    }

    fn step(&mut self, frame: usize, drift: f32, pitch: &impl Fn(f32) -> f32) {
        let way = STRIDE * frame as f32 / (2 * HALF) as f32;
        let placement = Affine {
            translation: Vec3::new(0.0, 0.0, way),
            ..Affine::IDENTITY
        };
        let mut pose = self.skeleton.rest().clone();
        let hips = pose.translation(self.feet.hips) - Vec3::y() * 0.12;
        pose.set_translation(self.feet.hips, hips);
        let mut globals = Globals::new(&self.skeleton);
        self.skeleton.globals(&pose, &mut globals);
        for (side, foot) in self.feet.feet.iter().enumerate() {
            let phase = (frame + HALF * side) % (2 * HALF);
            let step = ((frame + HALF * side) / (2 * HALF)) as f32 - 0.5 * side as f32;
            let part = (phase % HALF) as f32 / HALF as f32;
            let (along, lift, turn) = if phase < HALF {
                (0.25 + drift * part, 0.0, pitch(part))
            } else {
                let eased = part * part * (3.0 - 2.0 * part);
                let turn = pitch(1.0) + (pitch(0.0) - pitch(1.0)) * eased;
                let back = drift * (1.0 - eased);
                (
                    0.25 + back + eased,
                    0.12 * (std::f32::consts::PI * part).sin(),
                    turn,
                )
            };
            let x = 0.1 - 0.2 * side as f32;
            let sole = Vec3::new(x, lift, STRIDE * (step + along) - way);
            let rotation = quat::from_axis_angle(Vec3::x(), turn);
            // Toes up: about the heel. Heel up: about the ball.
            let pivot = Vec3::new(0.0, BALL, AHEAD) * f32::from(turn > 0.0);
            let ankle = sole + pivot + rotation * (Vec3::y() * ANKLE - pivot);
            let goal = TwoBoneGoal {
                rotation: Some(rotation),
                ..TwoBoneGoal::new(ankle)
            };
            let outcome = foot
                .leg
                .solve(&self.skeleton, &goal, &mut pose, &mut globals);
            assert!(
                outcome.reached,
                "the walk itself, frame {frame}: {outcome:?}"
            );
        }
        self.poses.push(pose);
        self.placements.push(placement);
    }

    fn lock(&mut self, ground: &dyn Fn(Vec3) -> Option<Ground>) -> FootLockReport {
        self.lock_round(ground, None)
    }

    fn lock_round(
        &mut self,
        ground: &dyn Fn(Vec3) -> Option<Ground>,
        round: Option<Affine>,
    ) -> FootLockReport {
        let motion = FootMotion {
            fps: FPS,
            world_from_model: &self.placements,
            round,
            ground,
        };
        let options = FootLockOptions::default();
        self.feet
            .lock(&self.skeleton, &motion, &options, &mut self.poses)
    }

    fn globals(&self, frame: usize) -> Globals {
        let mut globals = Globals::new(&self.skeleton);
        self.skeleton.globals(&self.poses[frame], &mut globals);
        globals
    }

    fn world(&self, frame: usize, joint: JointId) -> Affine {
        self.placements[frame] * self.globals(frame).get(joint)
    }

    /// Degrees of each knee in each frame.
    fn knees(&self) -> Vec<[f32; 2]> {
        let bend = |globals: &Globals, foot: &Foot| {
            let at = |joint| globals.get(joint).translation;
            let (hip, knee, ankle) = (at(foot.leg.root), at(foot.leg.mid), at(foot.ankle));
            (knee - hip).angle(&(ankle - knee)).to_degrees()
        };
        let frames = (0..FRAMES).map(|frame| self.globals(frame));
        frames
            .map(|globals| [0, 1].map(|side| bend(&globals, &self.feet.feet[side])))
            .collect()
    }

    /// The farthest that standing points move within their plants, m.
    fn slide(&self, report: &FootLockReport) -> f32 {
        let mut most = 0.0_f32;
        for (foot, plants) in self.feet.feet.iter().zip(&report.plants) {
            let ball = |frame| self.world(frame, foot.toes.unwrap()).translation;
            let heel = |frame| {
                self.world(frame, foot.ankle)
                    .transform_point(-Vec3::y() * ANKLE)
            };
            for plant in plants {
                let ball_from = plant.ball_from.min(plant.frames.end);
                for frame in plant.frames.start..ball_from {
                    most = most.max((heel(frame) - heel(plant.frames.start)).norm());
                }
                for frame in ball_from..plant.frames.end {
                    most = most.max((ball(frame) - ball(ball_from)).norm());
                }
            }
        }
        most
    }
}

/// What each knee does in a frame beyond what it did before, degrees.
fn worst_pop(before: &[[f32; 2]], after: &[[f32; 2]]) -> f32 {
    let steps = before.windows(2).zip(after.windows(2));
    let pops = steps.flat_map(|(old, new)| {
        [0, 1].map(|side| (new[1][side] - new[0][side]).abs() - (old[1][side] - old[0][side]).abs())
    });
    pops.fold(0.0, f32::max)
}

fn level(_: Vec3) -> Option<Ground> {
    Some(Ground {
        height: 0.0,
        normal: Vec3::y(),
    })
}

/// Waves of 6 cm, 1.5 m long along the way and 0.7 m across.
fn waves(at: Vec3) -> Option<Ground> {
    let (a, b) = (4.2, 9.0);
    let height = 0.03 * ((a * at.z).sin() + (b * at.x).cos());
    let (dx, dz) = (-0.03 * b * (b * at.x).sin(), 0.03 * a * (a * at.z).cos());
    let normal = Vec3::new(-dx, 1.0, -dz).normalize();
    Some(Ground { height, normal })
}

/// Stairs up and down again, 12 cm each.
fn stairs(at: Vec3) -> Option<Ground> {
    let step = (at.z / 0.6).floor();
    let height = 0.12 * step.min(6.0 - step).max(0.0);
    Some(Ground {
        height,
        normal: Vec3::y(),
    })
}

#[test]
fn a_clip_that_stands_still_on_flat_ground_stays_as_it_is() {
    let mut walk = Walk::new(0.0, |_| 0.0);
    let before = Walk::new(0.0, |_| 0.0);
    let report = walk.lock(&level);
    for frame in 0..FRAMES {
        let (old, new) = (before.globals(frame), walk.globals(frame));
        for joint in walk.skeleton.joints() {
            let moved = new.get(joint).translation - old.get(joint).translation;
            // Rounding of a body of 1 m some 5 m from the origin.
            assert!(moved.norm() < 2e-5, "frame {frame}: {moved:?}");
        }
    }
    let counts: Vec<usize> = report.plants.iter().map(Vec::len).collect();
    assert_eq!(counts, [4, 4]);
    assert!(report.drop < 1e-5, "{}", report.drop);
}

#[test]
fn feet_that_slid_stand_and_knees_do_not_pop() {
    for ground in [level, waves, stairs] {
        // A fifth of the speed of the walk.
        let mut walk = Walk::new(0.06, |_| 0.0);
        let before = walk.knees();
        let report = walk.lock(&ground);
        assert!(walk.slide(&report) < 1e-4, "{}", walk.slide(&report));
        assert!(report.slide < 1e-4, "{}", report.slide);
        let pop = worst_pop(&before, &walk.knees());
        assert!(pop < 15.0, "{pop} degrees in a frame");
    }
}

#[test]
fn the_heel_strikes_and_the_toes_roll_off_without_sliding() {
    let steepest = (0.03_f32 * 9.0).hypot(0.03 * 4.2).atan();
    // Toes up by 20 degrees at the strike, heel up by 30 at the end.
    let pitch = |part: f32| {
        let down = (1.0 - part / 0.35).max(0.0);
        let off = ((part - 0.65) / 0.35).max(0.0);
        0.52 * off - 0.35 * down
    };
    let mut walk = Walk::new(0.03, pitch);
    let before: Vec<Quat> = turns(&walk);
    let report = walk.lock(&waves);
    let struck = report.plants.iter().flatten();
    let struck = struck
        .filter(|plant| plant.ball_from > plant.frames.start)
        .count();
    assert!(struck >= 4, "{struck} heels strike of {:?}", report.plants);
    // While the heel stands, the ball comes AHEAD · (1 − cos 0.35) nearer over the plane, which the slope foreshortens.
    let foreshortened = 0.15 * (1.0 - 0.35_f32.cos()) * (1.0 - steepest.cos());
    assert!(
        walk.slide(&report) < foreshortened + 1e-4,
        "{}",
        walk.slide(&report)
    );
    // The foot rolls as the clip has it, turned by no more than the ground is.
    for (old, new) in before.iter().zip(turns(&walk)) {
        assert!(quat::angle_between(*old, new) < steepest + 1e-3);
    }
}

/// World rotations of both feet over all frames.
fn turns(walk: &Walk) -> Vec<Quat> {
    let feet = || walk.feet.feet.iter();
    let all = (0..FRAMES).flat_map(|frame| feet().map(move |foot| (frame, foot.ankle)));
    all.map(|(frame, ankle)| walk.world(frame, ankle).to_transform().rotation)
        .collect()
}

#[test]
fn soles_stand_on_the_ground_and_swings_clear_it() {
    let mut walk = Walk::new(0.02, |_| 0.0);
    let report = walk.lock(&stairs);
    for (foot, plants) in walk.feet.feet.iter().zip(&report.plants) {
        for frame in 0..FRAMES {
            let ball = walk.world(frame, foot.toes.unwrap()).translation;
            let over = ball.y - stairs(ball).unwrap().height;
            let stands = plants.iter().any(|plant| plant.frames.contains(&frame));
            if stands {
                assert!((over - BALL).abs() < 1e-4, "frame {frame}: {over}");
            }
        }
        // In the middle of each swing the foot is over the stairs.
        for pair in plants.windows(2) {
            let middle = (pair[0].frames.end + pair[1].frames.start) / 2;
            let ball = walk.world(middle, foot.toes.unwrap()).translation;
            assert!(ball.y > stairs(ball).unwrap().height, "frame {middle}");
        }
        // At the ends too, where the clip shows half a swing; early in it the toes may still be behind the edge.
        let (first, last) = (&plants[0].frames, &plants[plants.len() - 1].frames);
        let ends = (0..first.start / 2).chain(last.end.midpoint(FRAMES)..FRAMES);
        for frame in ends {
            let ball = walk.world(frame, foot.toes.unwrap()).translation;
            assert!(
                ball.y > stairs(ball).unwrap().height - 1e-3,
                "frame {frame}"
            );
        }
    }
}

/// Waves along the way, one a stride.
fn waves_a_stride(at: Vec3) -> Option<Ground> {
    let k = std::f32::consts::TAU / STRIDE;
    let normal = Vec3::new(0.0, 1.0, -0.03 * k * (k * at.z).cos()).normalize();
    Some(Ground {
        height: 0.03 * (k * at.z).sin(),
        normal,
    })
}

#[test]
fn a_loop_stays_one_and_feet_stand_over_its_seam() {
    let round = Affine {
        translation: Vec3::z() * STRIDE,
        ..Affine::IDENTITY
    };
    // One stride, begun in the middle of a stance.
    let (begin, stride) = (HALF / 2, 2 * HALF);
    let mut once = Walk::new(0.04, |_| 0.0);
    once.poses = once.poses[begin..begin + stride].to_vec();
    once.placements = once.placements[begin..begin + stride].to_vec();
    let report = once.lock_round(&waves_a_stride, Some(round));
    let seam: Vec<bool> = report
        .plants
        .iter()
        .map(|plants| plants.len() == 1 && plants[0].frames.end > stride)
        .collect();
    assert_eq!(
        seam.iter().filter(|over| **over).count(),
        1,
        "{:?}",
        report.plants
    );
    // In the middle of many strides the ends do not matter.
    let mut often = Walk::new(0.04, |_| 0.0);
    often.lock(&waves_a_stride);
    for frame in 0..stride {
        let [short, long] = [once.globals(frame), often.globals(begin + stride + frame)];
        for joint in once.skeleton.joints() {
            let apart = short.get(joint).translation - long.get(joint).translation;
            // Rounding of a walk some metres from the origin, and of a leg bent by it.
            assert!(apart.norm() < 1e-4, "frame {frame}: {apart:?}");
        }
    }
    let standing = Walk::new(0.0, |_| 0.0).poses[0].clone();
    let mut still = Walk::new(0.0, |_| 0.0);
    still.poses = vec![standing; 10];
    still.placements = vec![Affine::IDENTITY; 10];
    let report = still.lock_round(&level, Some(Affine::IDENTITY));
    for plants in &report.plants {
        assert_eq!(plants.len(), 1, "{plants:?}");
        assert_eq!(plants[0].frames, 0..10);
    }
}

#[test]
fn an_empty_clip_stays_empty() {
    let mut walk = Walk::new(0.0, |_| 0.0);
    (walk.poses, walk.placements) = (Vec::new(), Vec::new());
    assert_eq!(walk.lock(&level).plants, [vec![], vec![]]);
    let round = walk.lock_round(&level, Some(Affine::IDENTITY));
    assert_eq!(round.plants, [vec![], vec![]]);
}

#[test]
fn the_same_input_gives_the_same_bits_and_a_second_time_changes_little() {
    let lock = || {
        let mut walk = Walk::new(0.04, |_| 0.0);
        walk.lock(&level);
        walk
    };
    let (mut a, b) = (lock(), lock());
    assert!(a.poses == b.poses);
    a.lock(&level);
    for frame in 0..FRAMES {
        for joint in a.skeleton.joints() {
            let (once, twice) = (b.world(frame, joint), a.world(frame, joint));
            let moved = (once.translation - twice.translation).norm();
            // What was locked may now count as standing a frame longer.
            assert!(moved < 0.02, "frame {frame}: {moved}");
        }
    }
}

#[test]
fn feet_that_never_stand_are_left_alone() {
    let mut walk = Walk::new(0.0, |_| 0.0);
    // Where the character goes twice as fast, no foot stands.
    for (frame, placement) in walk.placements.iter_mut().enumerate() {
        placement.translation.z = 4.0 * frame as f32 / FPS;
    }
    let before = walk.poses.clone();
    let report = walk.lock(&level);
    assert!(
        report.plants.iter().all(Vec::is_empty),
        "{:?}",
        report.plants
    );
    assert!(walk.poses == before);
}
