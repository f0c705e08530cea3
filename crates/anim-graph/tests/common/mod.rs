//! A skeleton of five joints and clips whose poses tell what was mixed; shared by tests.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
#![allow(dead_code, reason = "each test binary uses its own part")]

use anim_curves::{Interpolation, Key, Track};
use anim_graph::{ClipLibrary, Graph, GraphSpec, GraphState, LibraryClip, LibraryMirror, Sample};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{
    BakeOptions, Channel, Clip, ClipSpec, Event, Events, JointSpec, JointTrack, Mirror, RootMotion,
    RootMotionOptions, Skeleton,
};

/// Hips, spine, two arms, head.
pub(crate) fn skeleton() -> Skeleton {
    let joint = |name: &str, parent, x, y| JointSpec {
        name: Some(name.to_owned()),
        parent,
        rest: Transform::from_translation(Vec3::new(x, y, 0.0)),
    };
    Skeleton::new(vec![
        joint("Hips", None, 0.0, 1.0),
        joint("Spine", Some(0), 0.0, 0.4),
        joint("LeftArm", Some(1), 0.2, 0.1),
        joint("RightArm", Some(1), -0.2, 0.1),
        joint("Head", Some(1), 0.0, 0.3),
    ])
    .unwrap()
}

pub(crate) fn moved(joint: usize, keys: &[(f32, Vec3)]) -> Channel {
    let keys = keys
        .iter()
        .map(|&(time, value)| Key::new(time, value))
        .collect();
    Channel {
        joint,
        track: JointTrack::Translation(Track::new(keys, Interpolation::Linear).unwrap()),
    }
}

/// Turns about `axis`: times and angles, rad.
pub(crate) fn turned(joint: usize, axis: Vec3, keys: &[(f32, f32)]) -> Channel {
    let key = |&(time, angle): &(f32, f32)| Key::new(time, quat::from_axis_angle(axis, angle));
    let keys = keys.iter().map(key).collect();
    Channel {
        joint,
        track: JointTrack::Rotation(Track::new(keys, Interpolation::Linear).unwrap()),
    }
}

pub(crate) fn clip(name: &str, channels: Vec<Channel>) -> LibraryClip {
    let spec = ClipSpec {
        channels,
        ..ClipSpec::default()
    };
    let (clip, _) = Clip::bake(&spec, &skeleton(), &BakeOptions::default()).unwrap();
    LibraryClip::new(name, clip)
}

/// The hips stay at x = `value` for `duration` seconds.
pub(crate) fn still(name: &str, value: f32, duration: f32) -> LibraryClip {
    let place = Vec3::new(value, 1.0, 0.0);
    clip(name, vec![moved(0, &[(0.0, place), (duration, place)])])
}

/// The hips go from x = 0 to 1, so that x is the phase.
pub(crate) fn ramp(name: &str, duration: f32) -> LibraryClip {
    let (from, to) = (Vec3::new(0.0, 1.0, 0.0), Vec3::new(1.0, 1.0, 0.0));
    clip(name, vec![moved(0, &[(0.0, from), (duration, to)])])
}

/// The hips bob and sway, and the character goes forward at `speed` m/s, turning `turn` rad each loop.
pub(crate) fn stride(name: &str, duration: f32, speed: f32, turn: f32) -> LibraryClip {
    let key = |n: usize| {
        let phase = n as f32 / 16.0;
        let bob = 0.03 * (phase * std::f32::consts::TAU).sin();
        (
            phase * duration,
            Vec3::new(0.0, 1.0 + bob, speed * phase * duration),
        )
    };
    let keys: Vec<_> = (0..=16).map(key).collect();
    let sway = [(0.0, -0.3), (duration * 0.5, 0.3), (duration, -0.3)];
    let spec = ClipSpec {
        channels: vec![
            moved(0, &keys),
            turned(0, Vec3::y(), &[(0.0, 0.0), (duration, turn)]),
            turned(2, Vec3::x(), &sway),
        ],
        ..ClipSpec::default()
    };
    let skeleton = skeleton();
    let options = RootMotionOptions::new(skeleton.joint(0));
    let (motion, left) = RootMotion::extract(&spec, &skeleton, &options).unwrap();
    let (clip, _) = Clip::bake(&left, &skeleton, &BakeOptions::default()).unwrap();
    LibraryClip {
        motion: Some(motion),
        ..LibraryClip::new(name, clip)
    }
}

pub(crate) fn events(marks: &[(f32, &str)]) -> Events {
    let event = |&(time, name): &(f32, &str)| Event {
        time,
        name: name.to_owned(),
    };
    Events::new(marks.iter().map(event).collect()).unwrap()
}

pub(crate) fn library(clips: Vec<LibraryClip>) -> ClipLibrary {
    let skeleton = skeleton();
    let pairs = [[skeleton.joint(2), skeleton.joint(3)]];
    let plane_normal = Vec3::x();
    let mirror = Mirror::new(&skeleton, &pairs, plane_normal).unwrap();
    ClipLibrary {
        clips,
        mirror: Some(LibraryMirror {
            mirror,
            plane_normal,
        }),
    }
}

pub(crate) fn graph(json: &str, clips: Vec<LibraryClip>) -> Graph {
    let spec: GraphSpec = serde_json::from_str(json).unwrap();
    Graph::new(&spec, &skeleton(), &library(clips)).unwrap_or_else(|error| panic!("{error}"))
}

/// The x of the hips.
pub(crate) fn x(state: &GraphState) -> f32 {
    state.pose().translation(skeleton().joint(0)).x
}

pub(crate) fn sample_of(graph: &Graph, state: &GraphState, clip: &str) -> Option<Sample> {
    let named = |sample: &&Sample| graph.clips()[sample.clip].name == clip;
    state.samples().iter().find(named).copied()
}

pub(crate) fn steps(state: &mut GraphState, graph: &Graph, dt: f32, count: usize) {
    (0..count).for_each(|_| state.step(graph, dt));
}

/// The largest distance of any part of any joint between two poses.
pub(crate) fn distance(a: &anim_skeleton::Pose, b: &anim_skeleton::Pose) -> f32 {
    let joints = skeleton();
    joints.joints().fold(0.0_f32, |most, joint| {
        let way = (a.translation(joint) - b.translation(joint)).norm();
        let turn = quat::angle_between(a.rotation(joint), b.rotation(joint));
        most.max(way).max(turn)
    })
}
