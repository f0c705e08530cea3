//! The person as a document, and the capsules that cloth collides with.

use serde::Serialize;

use super::body::body;
use super::cape;
use super::figure::Figure;
use super::gait;
use super::jump;
use super::rig::{
    ANKLE, HIP, KNEE, LOWER_ARM_LENGTH, Rig, SHOULDER, TOES, UPPER_ARM_LENGTH, mirrored, on_arm,
};
use super::run;
use super::standing;
use super::surface::Point;
use crate::{Document, MeshSpec, Node, SkinSpec};

/// Speed of the clip "walk" along +z, m/s.
pub const WALK_SPEED: f32 = gait::SPEED as f32;

/// Speed of the clip "run" along +z, m/s.
pub const RUN_SPEED: f32 = run::SPEED as f32;

/// Vertices a row of the cape; its first row is where it is pinned to the shoulders.
pub const CAPE_COLUMNS: usize = cape::COLUMNS;

/// A person, 1.75 m tall, in a cape.
///
/// Twenty-five joints from "root" (on the ground) over "hips" to "head", "hand_l" and "toes_r"; none is rotated at rest,
/// and the arms rest 40 degrees below the horizon. Node "body" carries the person, one primitive a colour; node "cape" a
/// grid of [`CAPE_COLUMNS`] vertices a row, skinned so that it follows the trunk where nobody simulates it.
///
/// Clips: "walk", one cycle of 1.07 s, in which "root" moves at [`WALK_SPEED`] and feet on the ground do not slide;
/// "idle", one breath of 4 s; "wave", 4 s. All loop.
///
/// Computed anew at each call, which takes tenths of a second in a debug build: keep it.
pub fn humanoid() -> Document {
    let rig = Rig::new();
    let figure = Figure { rig: &rig };
    let frames = |seconds: f64| (seconds * 30.0).round() as usize;
    let clips = vec![
        figure.clip("walk", frames(gait::PERIOD), gait::walk),
        figure.clip("idle", frames(standing::BREATH), standing::idle),
        figure.clip("wave", frames(standing::BREATH), standing::wave),
    ];
    let mesh = |name: &str, primitives| MeshSpec {
        name: Some(name.to_owned()),
        primitives,
        weights: Vec::new(),
    };
    let meshes = vec![
        mesh("body", body(&rig)),
        mesh("cape", vec![cape::cape(&rig)]),
    ];
    let skin = SkinSpec {
        name: Some("humanoid".to_owned()),
        joints: (0..rig.nodes.len()).collect(),
        joint_from_bind: rig.joint_from_bind(),
    };
    let joint_count = rig.nodes.len();
    let mut nodes = rig.nodes;
    nodes.extend(meshes.iter().enumerate().map(|(index, mesh)| Node {
        name: mesh.name.clone(),
        mesh: Some(index),
        skin: Some(0),
        ..Node::default()
    }));
    Document {
        nodes,
        scenes: vec![vec![0, joint_count, joint_count + 1]],
        meshes,
        skins: vec![skin],
        clips,
        findings: Vec::new(),
        drivers: Vec::new(),
        tangents: Vec::new(),
    }
}

/// The person of [`humanoid`] with more clips, after those three.
///
/// "run", one cycle of 0.67 s, in which "root" moves at [`RUN_SPEED`]; "jump", 1.2 s on the spot, in the air from 0.4 to
/// 0.8 s; "lean", 2 s, upright at 0 s and leaning into a turn to the left at 1 s. All but "jump" loop.
pub fn athlete() -> Document {
    let rig = Rig::new();
    let figure = Figure { rig: &rig };
    let frames = |seconds: f64| (seconds * 30.0).round() as usize;
    let mut document = humanoid();
    document.clips.extend([
        figure.clip("run", frames(run::PERIOD), run::run),
        figure.clip("jump", frames(jump::DURATION), jump::jump),
        figure.clip("lean", frames(2.0), standing::lean),
    ]);
    document
}

/// A thickened segment that follows a joint: what cloth collides with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capsule {
    /// Name of the joint.
    pub joint: String,
    /// Metres.
    pub radius: f32,
    /// Centre of one cap, in the joint's space, metres.
    pub from: [f32; 3],
    /// Centre of the other.
    pub to: [f32; 3],
}

/// Capsules around the trunk, head and limbs of [`humanoid`], close to its surface.
pub fn humanoid_capsules() -> Vec<Capsule> {
    let wrist = UPPER_ARM_LENGTH + LOWER_ARM_LENGTH;
    let capsules = [
        ("hips", 0.118, [-0.045, 0.95, -0.012], [0.045, 0.95, -0.012]),
        (
            "spine",
            0.105,
            [-0.035, 1.10, -0.005],
            [0.035, 1.10, -0.005],
        ),
        (
            "spine_1",
            0.112,
            [-0.045, 1.21, -0.010],
            [0.045, 1.21, -0.010],
        ),
        (
            "chest",
            0.118,
            [-0.055, 1.31, -0.018],
            [0.055, 1.31, -0.018],
        ),
        (
            "chest",
            0.075,
            [-0.145, 1.402, -0.018],
            [0.145, 1.402, -0.018],
        ),
        ("neck", 0.066, [0.0, 1.46, -0.02], [0.0, 1.53, -0.015]),
        ("head", 0.100, [0.0, 1.61, 0.005], [0.0, 1.652, -0.008]),
        ("upper_arm_l", 0.062, SHOULDER, on_arm(UPPER_ARM_LENGTH)),
        (
            "lower_arm_l",
            0.042,
            on_arm(UPPER_ARM_LENGTH),
            on_arm(wrist),
        ),
        ("hand_l", 0.040, on_arm(wrist + 0.02), on_arm(wrist + 0.13)),
        ("upper_leg_l", 0.085, HIP, KNEE),
        ("lower_leg_l", 0.060, KNEE, ANKLE),
        ("foot_l", 0.045, ANKLE, TOES),
    ];
    let rig = Rig::new();
    let place = |joint: &str, side: f64, [x, y, z]: [f64; 3]| {
        let origin = rig
            .find(joint)
            .map_or_else(Point::zeros, |joint| rig.places[joint]);
        <[f32; 3]>::from((Point::new(side * x, y, z) - origin).cast::<f32>())
    };
    let capsule = |joint: &str, side, radius, from, to| Capsule {
        joint: joint.to_owned(),
        radius,
        from: place(joint, side, from),
        to: place(joint, side, to),
    };
    let mut all = Vec::new();
    for (joint, radius, from, to) in capsules {
        all.push(capsule(joint, 1.0, radius, from, to));
        all.extend(mirrored(joint).map(|right| capsule(&right, -1.0, radius, from, to)));
    }
    all
}
