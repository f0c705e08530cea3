//! Published characters that walk: their clips set going over terrains, and the clip of one given to another.
#![allow(dead_code, reason = "each test and example uses a part")]

use std::error::Error;
use std::path::{Path, PathBuf};

use anim_engine::asset::{self, Document};
use anim_engine::geom::Mesh;
use anim_engine::ik::{Effector, FullBody, Ground, IkError, Root, TwoBone};
use anim_engine::math::{Affine, Quat, Vec3, quat};
use anim_engine::skeleton::{Globals, JointId, Pose, Skeleton};
use anim_engine::{Foot, FootPlant};

pub(crate) const FPS: f32 = 30.0;
/// Rounds of the clip.
const ROUNDS: f32 = 3.0;

/// Where a character is, and what its joints are called.
#[derive(Clone, Copy)]
pub(crate) struct Walker {
    pub(crate) name: &'static str,
    file: &'static str,
    clip: &'static str,
    hips: &'static str,
    /// Hip, knee, ankle and ball of each; the ankle twice where nothing is below it.
    legs: &'static [[&'static str; 4]],
    hands: Option<[&'static str; 2]>,
    /// For a character without a clip of its own, whose to take.
    donor: Option<(&'static Walker, &'static JointMap)>,
}

/// Which joints of one character are which of another, by name: theirs, then those of the donor.
struct JointMap {
    /// Three joints each, whose two bones should point where the donor's do.
    limbs: &'static [[(&'static str, &'static str); 3]],
    /// What turns as the donor's does.
    others: &'static [(&'static str, &'static str)],
}

/// The one that is built in; its clip goes by itself, and comes back at its end.
pub(crate) const FIGURE: Walker = Walker {
    name: "figure",
    file: "",
    clip: "walk",
    hips: "hips",
    legs: &[
        ["upper_leg_l", "lower_leg_l", "foot_l", "toes_l"],
        ["upper_leg_r", "lower_leg_r", "foot_r", "toes_r"],
    ],
    hands: Some(["hand_l", "hand_r"]),
    donor: None,
};

pub(crate) const KNIGHT: Walker = Walker {
    name: "knight",
    file: "gltf/kaykit_knight.glb",
    clip: "Walking_A",
    hips: "hips",
    legs: &[
        ["upperleg.l", "lowerleg.l", "foot.l", "toes.l"],
        ["upperleg.r", "lowerleg.r", "foot.r", "toes.r"],
    ],
    hands: Some(["hand.l", "hand.r"]),
    donor: None,
};

pub(crate) const OTHER_KNIGHT: Walker = Walker {
    clip: "Walking_B",
    ..KNIGHT
};

pub(crate) const FOX: Walker = Walker {
    name: "fox",
    file: "gltf/Fox.glb",
    clip: "Walk",
    hips: "b_Hip_01",
    legs: &[
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
    ],
    hands: None,
    donor: None,
};

pub(crate) const HUMAN: Walker = Walker {
    name: "human",
    file: "gltf/mpfb_human_mixamo_names.glb",
    clip: "Walking_A",
    hips: "mixamorig:Hips",
    legs: &[
        [
            "mixamorig:LeftUpLeg",
            "mixamorig:LeftLeg",
            "mixamorig:LeftFoot",
            "mixamorig:LeftToeBase",
        ],
        [
            "mixamorig:RightUpLeg",
            "mixamorig:RightLeg",
            "mixamorig:RightFoot",
            "mixamorig:RightToeBase",
        ],
    ],
    hands: Some(["mixamorig:LeftHand", "mixamorig:RightHand"]),
    donor: Some((&KNIGHT, &HUMAN_FROM_KNIGHT)),
};

const HUMAN_FROM_KNIGHT: JointMap = JointMap {
    limbs: &[
        [
            ("mixamorig:LeftUpLeg", "upperleg.l"),
            ("mixamorig:LeftLeg", "lowerleg.l"),
            ("mixamorig:LeftFoot", "foot.l"),
        ],
        [
            ("mixamorig:RightUpLeg", "upperleg.r"),
            ("mixamorig:RightLeg", "lowerleg.r"),
            ("mixamorig:RightFoot", "foot.r"),
        ],
        [
            ("mixamorig:LeftArm", "upperarm.l"),
            ("mixamorig:LeftForeArm", "lowerarm.l"),
            ("mixamorig:LeftHand", "wrist.l"),
        ],
        [
            ("mixamorig:RightArm", "upperarm.r"),
            ("mixamorig:RightForeArm", "lowerarm.r"),
            ("mixamorig:RightHand", "wrist.r"),
        ],
    ],
    others: &[
        ("mixamorig:Hips", "hips"),
        ("mixamorig:Spine", "spine"),
        ("mixamorig:Spine2", "chest"),
        ("mixamorig:Head", "head"),
        ("mixamorig:LeftFoot", "foot.l"),
        ("mixamorig:LeftToeBase", "toes.l"),
        ("mixamorig:RightFoot", "foot.r"),
        ("mixamorig:RightToeBase", "toes.r"),
    ],
};

pub(crate) type Terrain = fn(Vec3) -> (f32, Vec3);

/// Heights and normals for a leg 1 m long.
pub(crate) const TERRAINS: [(&str, Terrain); 3] =
    [("flat", flat), ("waves", waves), ("stairs", stairs)];

fn flat(_: Vec3) -> (f32, Vec3) {
    (0.0, Vec3::y())
}

fn waves(at: Vec3) -> (f32, Vec3) {
    let (a, b) = (3.1, 7.0);
    let height = 0.04 * (libm::sinf(a * at.z) + libm::cosf(b * at.x) - 1.0);
    let (dx, dz) = (
        -0.04 * b * libm::sinf(b * at.x),
        0.04 * a * libm::cosf(a * at.z),
    );
    (height, Vec3::new(-dx, 1.0, -dz).normalize())
}

/// Five up and five down again.
fn stairs(at: Vec3) -> (f32, Vec3) {
    let step = (at.z / 0.7).floor();
    (0.12 * step.min(5.0 - step).max(0.0), Vec3::y())
}

/// The ground of a character whose legs are `leg` m long.
pub(crate) fn ground(terrain: Terrain, leg: f32) -> impl Fn(Vec3) -> Option<Ground> {
    move |at: Vec3| {
        let (height, normal) = terrain(at / leg);
        Some(Ground {
            height: height * leg,
            normal,
        })
    }
}

/// The ground of a box, in strips across the way.
pub(crate) fn land(terrain: Terrain, leg: f32, low: Vec3, high: Vec3) -> Mesh {
    const ROWS: u16 = 400;
    const COLUMNS: u16 = 8;
    let mut mesh = Mesh::default();
    for row in 0..=ROWS {
        let z = low.z + (high.z - low.z) * f32::from(row) / f32::from(ROWS);
        for column in 0..=COLUMNS {
            let x = low.x + (high.x - low.x) * f32::from(column) / f32::from(COLUMNS);
            let height = terrain(Vec3::new(x, 0.0, z) / leg).0 * leg;
            mesh.rest.positions.push(Vec3::new(x, height, z));
        }
    }
    let width = u32::from(COLUMNS) + 1;
    for row in 0..u32::from(ROWS) {
        for column in 0..u32::from(COLUMNS) {
            let at = row * width + column;
            mesh.triangles.push([at, at + width, at + 1]);
            mesh.triangles.push([at + 1, at + width, at + width + 1]);
        }
    }
    mesh
}

/// A file of the data that lies beside the project, or where `ANIM_DATA` says; `None` if it is not there.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let beside_project = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("ANIM_DATA").map_or_else(beside_project, PathBuf::from);
    Some(directory.join(name)).filter(|file| file.is_file())
}

impl Walker {
    /// The files it needs.
    pub(crate) fn files(&self) -> impl Iterator<Item = &'static str> {
        let files = [Some(self.file), self.donor.map(|(donor, _)| donor.file)];
        files.into_iter().flatten().filter(|file| !file.is_empty())
    }
}

/// A clip that walks in place, set going.
pub(crate) struct Walk {
    pub(crate) document: Document,
    pub(crate) skeleton: Skeleton,
    pub(crate) feet: FootPlant,
    pub(crate) hands: Option<[JointId; 2]>,
    pub(crate) poses: Vec<Pose>,
    pub(crate) placements: Vec<Affine>,
    /// Of the first leg at rest, m.
    pub(crate) leg: f32,
}

impl Walk {
    pub(crate) fn new(walker: &Walker) -> Result<Self, Box<dyn Error>> {
        Self::of_rounds(walker, ROUNDS)
    }

    pub(crate) fn of_rounds(walker: &Walker, rounds: f32) -> Result<Self, Box<dyn Error>> {
        let mut walk = Self::standing(walker)?;
        walk.poses = match walker.donor {
            None => walk.sampled(walker.clip, rounds)?,
            Some((donor, map)) => {
                let mut from = Self::standing(donor)?;
                from.poses = from.sampled(walker.clip, rounds)?;
                retargeted(&from, &walk, map)?
            }
        };
        let velocity = walk.velocity();
        let place = |frame: usize| Affine {
            translation: velocity * (frame as f32 / FPS),
            ..Affine::IDENTITY
        };
        walk.placements = (0..walk.poses.len()).map(place).collect();
        Ok(walk)
    }

    /// Without motion.
    fn standing(walker: &Walker) -> Result<Self, Box<dyn Error>> {
        let document = match walker.file {
            "" => asset::builtin::humanoid(),
            file => asset::load(&data(file).ok_or_else(|| format!("no {file}"))?)?,
        };
        let skeleton = document.skeleton()?;
        let joint = |name: &str| named(&skeleton, name);
        let mut feet = FootPlant {
            hips: joint(walker.hips)?,
            feet: Vec::new(),
        };
        for [hip, knee, ankle, ball] in walker.legs {
            feet.feet.push(Foot {
                leg: TwoBone::of(&skeleton, joint(hip)?, joint(knee)?, joint(ankle)?)?,
                ankle: joint(ankle)?,
                toes: (ball != ankle).then(|| joint(ball)).transpose()?,
            });
        }
        let hands = match walker.hands {
            Some([left, right]) => Some([joint(left)?, joint(right)?]),
            None => None,
        };
        let rest = globals(&skeleton, skeleton.rest());
        let leg = &feet.feet.first().ok_or("no legs")?.leg;
        let [hip, knee, ankle] =
            [leg.root, leg.mid, leg.end].map(|joint| rest.get(joint).translation);
        Ok(Self {
            leg: (knee - hip).norm() + (ankle - knee).norm(),
            document,
            skeleton,
            feet,
            hands,
            poses: Vec::new(),
            placements: Vec::new(),
        })
    }

    fn sampled(&self, clip: &str, rounds: f32) -> Result<Vec<Pose>, Box<dyn Error>> {
        let mut clips = self.document.clips.iter();
        let clip = clips
            .find(|c| c.name.as_deref() == Some(clip))
            .ok_or("no such clip")?;
        // A whole number of frames a round, so that rounds join.
        let frames = (clip.duration() * FPS).round().max(1.0);
        let pose = |frame: usize| {
            let mut pose = self.skeleton.rest().clone();
            clip.sample(
                &self.skeleton,
                frame as f32 % frames / frames * clip.duration(),
                &mut pose,
            );
            pose
        };
        Ok((0..(rounds * frames) as usize).map(pose).collect())
    }

    pub(crate) fn globals(&self, frame: usize) -> Globals {
        globals(&self.skeleton, &self.poses[frame])
    }

    /// World space.
    pub(crate) fn at(&self, frame: usize, joint: JointId) -> Vec3 {
        (self.placements[frame] * self.globals(frame).get(joint)).translation
    }

    /// What the ground would have to do under low feet, the other way round: the median on each axis.
    fn velocity(&self) -> Vec3 {
        let all: Vec<Globals> = (0..self.poses.len())
            .map(|frame| self.globals(frame))
            .collect();
        let mut steps: [Vec<f32>; 2] = Default::default();
        for foot in &self.feet.feet {
            let at = |globals: &Globals| globals.get(foot.ball()).translation;
            let floor = all
                .iter()
                .map(|globals| at(globals).y)
                .fold(f32::MAX, f32::min);
            for pair in all.windows(2) {
                let (from, to) = (at(&pair[0]), at(&pair[1]));
                if from.y.max(to.y) < floor + 0.04 * self.leg {
                    steps[0].push((from.x - to.x) * FPS);
                    steps[1].push((from.z - to.z) * FPS);
                }
            }
        }
        let [x, z] = steps.map(|mut steps| {
            steps.sort_by(f32::total_cmp);
            steps.get(steps.len() / 2).copied().unwrap_or(0.0)
        });
        Vec3::new(x, 0.0, z)
    }

    /// Holds a bar with both hands in every frame while the feet stay where they are; the farthest that a hand is off, m.
    ///
    /// * `bar`: its middle in model space, m, and how it is turned; hands hold it `apart` m from the middle.
    pub(crate) fn hold(
        &mut self,
        bar: &dyn Fn(usize) -> Affine,
        apart: f32,
    ) -> Result<f32, IkError> {
        let Some(hands) = self.hands else {
            return Ok(f32::INFINITY);
        };
        let mut body = FullBody::new(&self.skeleton, &[], Root::Free)?;
        for joint in self.skeleton.ancestors(self.feet.hips) {
            body.stiffness[joint.index()] = 1.0;
        }
        let mut off = 0.0_f32;
        for (frame, pose) in self.poses.iter_mut().enumerate() {
            let walking = globals(&self.skeleton, pose);
            let bar = bar(frame);
            let grips = [apart, -apart].map(|x| bar.transform_point(Vec3::x() * x));
            let held = hands
                .iter()
                .zip(grips)
                .map(|(hand, at)| Effector::at(*hand, at));
            let standing = self.feet.feet.iter().map(|foot| {
                let ankle = walking.get(foot.ankle);
                Effector {
                    rotation: Some(ankle.to_transform().rotation),
                    ..Effector::at(foot.ankle, ankle.translation)
                }
            });
            let effectors: Vec<Effector> = held.chain(standing).collect();
            body.solve(&effectors, pose);
            let holding = globals(&self.skeleton, pose);
            for (hand, grip) in hands.iter().zip(grips) {
                off = off.max((holding.get(*hand).translation - grip).norm());
            }
        }
        Ok(off)
    }
}

/// The joint on which a foot rolls off.
trait Ball {
    fn ball(&self) -> JointId;
}

impl Ball for Foot {
    fn ball(&self) -> JointId {
        self.toes.unwrap_or(self.ankle)
    }
}

fn globals(skeleton: &Skeleton, pose: &Pose) -> Globals {
    let mut globals = Globals::new(skeleton);
    skeleton.globals(pose, &mut globals);
    globals
}

fn named(skeleton: &Skeleton, name: &str) -> Result<JointId, String> {
    skeleton
        .find(name)
        .ok_or_else(|| format!("no joint '{name}'"))
}

/// The poses of one character on another: each joint turns from rest in model space as its counterpart does, limbs point where
/// those of the donor do, and hips go as far as the legs are longer, so high that the lowest ball just stands.
fn retargeted(from: &Walk, to: &Walk, map: &JointMap) -> Result<Vec<Pose>, Box<dyn Error>> {
    let rests = [
        globals(&to.skeleton, to.skeleton.rest()),
        globals(&from.skeleton, from.skeleton.rest()),
    ];
    let turn = |globals: &Globals, joint: JointId| globals.get(joint).to_transform().rotation;
    // For each joint, its counterpart and how it is turned in its counterpart's frame.
    let mut counterparts: Vec<Option<(JointId, Quat)>> = vec![None; to.skeleton.len()];
    let mut add = |(own, other): (&str, &str), align: Quat| -> Result<(), String> {
        let (own, other) = (named(&to.skeleton, own)?, named(&from.skeleton, other)?);
        let offset = turn(&rests[1], other).inverse() * align * turn(&rests[0], own);
        counterparts[own.index()] = Some((other, offset));
        Ok(())
    };
    for pair in map.others {
        add(*pair, Quat::identity())?;
    }
    for bone in map.limbs.iter().flat_map(|limb| limb.windows(2)) {
        let way =
            |skeleton: &Skeleton, rest: &Globals, [from, to]: [&str; 2]| -> Result<Vec3, String> {
                let [from, to] = [named(skeleton, from)?, named(skeleton, to)?];
                Ok((rest.get(to).translation - rest.get(from).translation).normalize())
            };
        let own = way(&to.skeleton, &rests[0], [bone[0].0, bone[1].0])?;
        let other = way(&from.skeleton, &rests[1], [bone[0].1, bone[1].1])?;
        add(bone[0], quat::between(own, other))?;
    }
    let hips = [to.feet.hips, from.feet.hips];
    let [own_hips, other_hips] = [0, 1].map(|n| rests[n].get(hips[n]).translation);
    let mut poses: Vec<Pose> = Vec::with_capacity(from.poses.len());
    for pose in &from.poses {
        let theirs = globals(&from.skeleton, pose);
        let mut turned: Vec<Quat> = Vec::with_capacity(to.skeleton.len());
        let mut own = to.skeleton.rest().clone();
        for joint in to.skeleton.joints() {
            let parent = to.skeleton.parent(joint);
            let parent = parent.map_or(Quat::identity(), |parent| turned[parent.index()]);
            let model = match counterparts[joint.index()] {
                Some((other, offset)) => turn(&theirs, other) * offset,
                None => parent * own.rotation(joint),
            };
            own.set_rotation(joint, parent.inverse() * model);
            turned.push(model);
        }
        let moved = (theirs.get(hips[1]).translation - other_hips) * (to.leg / from.leg);
        own.set_translation(hips[0], own_hips + moved);
        poses.push(own);
    }
    let over = |globals: &Globals| {
        let balls = to.feet.feet.iter().map(Ball::ball);
        let heights =
            balls.map(|ball| globals.get(ball).translation.y - rests[0].get(ball).translation.y);
        heights.fold(f32::INFINITY, f32::min)
    };
    let lowest = poses.iter().map(|pose| over(&globals(&to.skeleton, pose)));
    let lowest = lowest.fold(f32::INFINITY, f32::min);
    for pose in &mut poses {
        pose.set_translation(hips[0], pose.translation(hips[0]) - Vec3::y() * lowest);
    }
    Ok(poses)
}
