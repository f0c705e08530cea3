//! Published characters walk over waves and stairs while their feet stand, and hold on to what moves.
#![cfg(feature = "asset")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a broken test should say where"
)]

use std::path::{Path, PathBuf};

use anim_engine::ik::{
    ContactOptions, Effector, FootLockOptions, FootLockReport, FootMotion, FullBody, Ground, Root,
    TwoBone,
};
use anim_engine::math::{Affine, Vec3, quat};
use anim_engine::skeleton::{Globals, JointId, Pose, Skeleton};
use anim_engine::{Foot, FootPlant, asset};

/// The file `name` of the shared data, or `None`, with a printed line, if it is not there and `ANIM_REQUIRE_DATA` does not
/// demand it.
fn data(name: &str) -> Option<PathBuf> {
    let beside_project = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("ANIM_DATA").map_or_else(beside_project, PathBuf::from);
    let file = directory.join(name);
    if file.is_file() {
        return Some(file);
    }
    let demanded = std::env::var_os("ANIM_REQUIRE_DATA").is_some_and(|value| value == "1");
    assert!(!demanded, "no {}", file.display());
    eprintln!("skipped: no {}", file.display());
    None
}

const FPS: f32 = 30.0;
/// Rounds of the clip.
const ROUNDS: f32 = 3.0;

/// A clip that walks in place, set going.
struct Walk {
    skeleton: Skeleton,
    feet: FootPlant,
    poses: Vec<Pose>,
    placements: Vec<Affine>,
    /// Of the first leg at rest.
    leg: f32,
}

impl Walk {
    /// * `legs`: hip, knee, ankle and ball of each.
    fn new(file: &Path, clip: &str, hips: &str, legs: &[[&str; 4]]) -> Self {
        let document = asset::load(file).unwrap();
        let skeleton = document.skeleton().unwrap();
        let clip = document
            .clips
            .iter()
            .find(|c| c.name.as_deref() == Some(clip));
        let clip = clip.unwrap();
        let joint = |name: &str| skeleton.find(name).unwrap();
        let foot = |[hip, knee, ankle, ball]: &[&str; 4]| Foot {
            leg: TwoBone::of(&skeleton, joint(hip), joint(knee), joint(ankle)).unwrap(),
            ankle: joint(ankle),
            toes: (ball != ankle).then(|| joint(ball)),
        };
        let feet = FootPlant {
            hips: joint(hips),
            feet: legs.iter().map(foot).collect(),
        };
        let frames = (ROUNDS * clip.duration() * FPS) as usize;
        let poses: Vec<Pose> = (0..frames)
            .map(|frame| {
                let mut pose = skeleton.rest().clone();
                let time = frame as f32 / FPS;
                clip.sample(&skeleton, time % clip.duration(), &mut pose);
                pose
            })
            .collect();
        let mut walk = Self {
            placements: vec![Affine::IDENTITY; frames],
            skeleton,
            feet,
            poses,
            leg: 0.0,
        };
        let first = &walk.feet.feet[0].leg;
        let [hip, knee, ankle] = [first.root, first.mid, first.end].map(|joint| walk.at(0, joint));
        walk.leg = (knee - hip).norm() + (ankle - knee).norm();
        let velocity = walk.velocity();
        for (frame, placement) in walk.placements.iter_mut().enumerate() {
            placement.translation = velocity * (frame as f32 / FPS);
        }
        walk
    }

    fn globals(&self, frame: usize) -> Globals {
        let mut globals = Globals::new(&self.skeleton);
        self.skeleton.globals(&self.poses[frame], &mut globals);
        globals
    }

    fn at(&self, frame: usize, joint: JointId) -> Vec3 {
        (self.placements[frame] * self.globals(frame).get(joint)).translation
    }

    /// What the ground would have to do under low feet, the other way round: the median on each axis.
    fn velocity(&self) -> Vec3 {
        let globals: Vec<Globals> = (0..self.poses.len())
            .map(|frame| self.globals(frame))
            .collect();
        let mut steps: [Vec<f32>; 2] = Default::default();
        for foot in &self.feet.feet {
            let at = |frame: usize| {
                globals[frame]
                    .get(foot.toes.unwrap_or(foot.ankle))
                    .translation
            };
            let floor = (0..globals.len())
                .map(|frame| at(frame).y)
                .fold(f32::MAX, f32::min);
            for frame in 1..globals.len() {
                let (from, to) = (at(frame - 1), at(frame));
                if from.y.max(to.y) < floor + 0.04 * self.leg {
                    steps[0].push((from.x - to.x) * FPS);
                    steps[1].push((from.z - to.z) * FPS);
                }
            }
        }
        let [x, z] = steps.map(|mut steps| {
            steps.sort_by(f32::total_cmp);
            steps[steps.len() / 2]
        });
        Vec3::new(x, 0.0, z)
    }

    /// * `loose`: how many times faster and higher than usual a foot may be that is meant to stand.
    fn lock(&mut self, ground: &dyn Fn(Vec3) -> Option<Ground>, loose: f32) -> FootLockReport {
        let motion = FootMotion {
            fps: FPS,
            world_from_model: &self.placements,
            ground,
        };
        let usual = ContactOptions::for_leg(self.leg);
        let contact = ContactOptions {
            height: loose * usual.height,
            speed: loose * usual.speed,
            ..usual
        };
        let options = FootLockOptions {
            contact: Some(contact),
            ..FootLockOptions::default()
        };
        self.feet
            .lock(&self.skeleton, &motion, &options, &mut self.poses)
    }

    /// Degrees of each knee, frame by frame.
    fn knees(&self, side: usize) -> Vec<f32> {
        let leg = &self.feet.feet[side].leg;
        let bend = |frame: usize| {
            let globals = self.globals(frame);
            let at = |joint: JointId| globals.get(joint).translation;
            let (thigh, shin) = (at(leg.mid) - at(leg.root), at(leg.end) - at(leg.mid));
            thigh.angle(&shin).to_degrees()
        };
        (0..self.poses.len()).map(bend).collect()
    }

    /// The farthest that balls move while they stand, of the leg's length.
    fn slide(&self, report: &FootLockReport) -> f32 {
        let mut most = 0.0_f32;
        for (foot, plants) in self.feet.feet.iter().zip(&report.plants) {
            for plant in plants
                .iter()
                .filter(|plant| plant.ball_from < plant.frames.end)
            {
                let at = |frame| self.at(frame, foot.toes.unwrap_or(foot.ankle));
                for frame in plant.ball_from..plant.frames.end {
                    most = most.max((at(frame) - at(plant.ball_from)).norm());
                }
            }
        }
        most / self.leg
    }
}

/// The most that a knee moves in a frame beyond what it did before, degrees.
fn pop(before: &[f32], after: &[f32]) -> f32 {
    let steps = before.windows(2).zip(after.windows(2));
    steps
        .map(|(old, new)| (new[1] - new[0]).abs() - (old[1] - old[0]).abs())
        .fold(0.0, f32::max)
}

type Terrain = fn(Vec3) -> (f32, Vec3);

/// Heights and normals of a leg 1 m long: flat, waves, stairs.
const TERRAINS: [(&str, Terrain); 3] = [
    ("flat", |_| (0.0, Vec3::y())),
    ("waves", |at| {
        let (a, b) = (3.1, 7.0);
        let height = 0.04 * ((a * at.z).sin() + (b * at.x).cos() - 1.0);
        let (dx, dz) = (-0.04 * b * (b * at.x).sin(), 0.04 * a * (a * at.z).cos());
        (height, Vec3::new(-dx, 1.0, -dz).normalize())
    }),
    ("stairs", |at| {
        let step = (at.z / 0.7).floor();
        (0.12 * step.min(5.0 - step).max(0.0), Vec3::y())
    }),
];

/// * `loose`: as for [`Walk::lock`]. * `most`: how far knees may pop, degrees.
fn feet_stand(file: &str, clip: &str, hips: &str, legs: &[[&str; 4]], loose: f32, most: f32) {
    let Some(path) = data(file) else { return };
    for (name, terrain) in TERRAINS {
        let mut walk = Walk::new(&path, clip, hips, legs);
        let before: Vec<Vec<f32>> = (0..legs.len()).map(|side| walk.knees(side)).collect();
        let leg = walk.leg;
        let ground = |at: Vec3| {
            let (height, normal) = terrain(at / leg);
            Some(Ground {
                height: height * leg,
                normal,
            })
        };
        let report = walk.lock(&ground, loose);
        let pops = (0..legs.len()).map(|side| pop(&before[side], &walk.knees(side)));
        let pop = pops.fold(0.0, f32::max);
        let slide = walk.slide(&report);
        let counts: Vec<usize> = report.plants.iter().map(Vec::len).collect();
        println!(
            "{file} {clip} on {name}: {counts:?} plants, slide {:.2} mm of a leg of 1 m, pop {pop:.1} degrees, hips down {:.3}",
            slide * 1000.0,
            report.drop / leg
        );
        assert!(counts.iter().all(|count| *count >= 2), "{name}: {counts:?}");
        assert!(slide < 0.002, "{name}: {slide}");
        assert!(pop < most, "{name}: {pop} degrees");
    }
}

#[test]
fn a_knight_stands_on_its_feet() {
    let legs = [
        ["upperleg.l", "lowerleg.l", "foot.l", "toes.l"],
        ["upperleg.r", "lowerleg.r", "foot.r", "toes.r"],
    ];
    for clip in ["Walking_A", "Walking_B"] {
        feet_stand("gltf/kaykit_knight.glb", clip, "hips", &legs, 1.0, 15.0);
    }
}

#[test]
fn a_fox_stands_on_its_paws() {
    let legs = [
        [
            "b_LeftLeg01_015",
            "b_LeftLeg02_016",
            "b_LeftFoot02_018",
            "b_LeftFoot02_018",
        ],
        [
            "b_RightLeg01_019",
            "b_RightLeg02_020",
            "b_RightFoot02_022",
            "b_RightFoot02_022",
        ],
        [
            "b_LeftUpperArm_09",
            "b_LeftForeArm_010",
            "b_LeftHand_011",
            "b_LeftHand_011",
        ],
        [
            "b_RightUpperArm_06",
            "b_RightForeArm_07",
            "b_RightHand_08",
            "b_RightHand_08",
        ],
    ];
    // As drawn they slide by more than the length of a leg in a second, so that to stand takes wider thresholds.
    feet_stand("gltf/Fox.glb", "Walk", "b_Hip_01", &legs, 2.0, 15.0);
}

#[test]
fn a_human_holds_a_moving_prop_with_both_hands_and_stands() {
    let Some(path) = data("gltf/mpfb_human_mixamo_names.glb") else {
        return;
    };
    let skeleton = asset::load(&path).unwrap().skeleton().unwrap();
    let joint = |name: &str| skeleton.find(&format!("mixamorig:{name}")).unwrap();
    let mut rest = Globals::new(&skeleton);
    skeleton.globals(skeleton.rest(), &mut rest);
    let hands = [joint("LeftHand"), joint("RightHand")];
    let feet = [joint("LeftFoot"), joint("RightFoot")];
    let mut body = FullBody::new(&skeleton, &[], Root::Free).unwrap();
    // The figure stands still, its hips do not.
    let figure = skeleton
        .joints()
        .filter(|joint| skeleton.parent(*joint).is_none());
    figure.for_each(|joint| body.stiffness[joint.index()] = 1.0);
    let (mut off, mut turn) = (0.0_f32, 0.0_f32);
    let mut last: Option<Pose> = None;
    for frame in 0..60 {
        let angle = frame as f32 / 60.0 * std::f32::consts::TAU;
        let middle = Vec3::new(0.2 * angle.sin(), 1.15 - 0.2 * angle.cos(), 0.35);
        let tilt = quat::from_axis_angle(Vec3::z(), 0.4 * angle.sin());
        let mut effectors = Vec::new();
        for (side, x) in [0.18, -0.18].into_iter().enumerate() {
            effectors.push(Effector::at(hands[side], middle + tilt * (Vec3::x() * x)));
            let standing = rest.get(feet[side]);
            effectors.push(Effector {
                rotation: Some(standing.to_transform().rotation),
                ..Effector::at(feet[side], standing.translation)
            });
        }
        let mut pose = skeleton.rest().clone();
        body.solve(&effectors, &mut pose);
        let mut globals = Globals::new(&skeleton);
        skeleton.globals(&pose, &mut globals);
        for effector in &effectors {
            let at = globals.get(effector.joint).translation;
            off = off.max((at - effector.position.unwrap()).norm());
        }
        if let Some(last) = &last {
            for joint in skeleton.joints() {
                let step = quat::angle_between(last.rotation(joint), pose.rotation(joint));
                turn = turn.max(step.to_degrees());
            }
        }
        last = Some(pose);
    }
    println!(
        "off by {:.3} mm at most, no joint turns by more than {turn:.1} degrees a frame",
        off * 1e3
    );
    assert!(off < 1e-3, "{off} m");
    // The prop goes at most 3 cm a frame at an arm's length of 0.5 m.
    assert!(turn < 20.0, "{turn} degrees a frame");
}
