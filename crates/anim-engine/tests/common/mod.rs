//! The scenes and characters that several tests play.
#![allow(dead_code, reason = "each test uses a part")]

use std::sync::{Arc, LazyLock};

use anim_engine::curves::{Interpolation, Key, Track};
use anim_engine::graph::GraphSpec;
use anim_engine::math::{Affine, Vec3, quat};
use anim_engine::skeleton::driver::{DriverSpec, Jiggle};
use anim_engine::skeleton::{
    BakeOptions, Channel, ClipSpec, Event, Events, JointTrack, Mask, Playback, RootMotionOptions,
    SkeletonLod, Wrap,
};
use anim_engine::{
    ActorLayer, Character, Config, Engine, EngineError, LayerMode, Scene, SceneSpec, Socket, asset,
};

/// Hills, planted feet, a look-at, a cape and dust.
pub(crate) fn scene(threads: usize) -> Scene {
    let text = include_str!("../../../anim-cli/src/demo.scene.json");
    let spec: SceneSpec = serde_json::from_str(text).expect("the demo's scene");
    Scene::new(&spec, config(threads), &mut |_| {
        Ok(asset::builtin::humanoid())
    })
    .expect("a scene")
}

/// A head that turns fast, an arm that curls, and one whose muscle pulls in a soft body.
pub(crate) const HAIR: &str = include_str!("../../../../assets/scenes/hair.json");
pub(crate) const BICEPS: &str = include_str!("../../../../assets/scenes/biceps.json");
pub(crate) const FLEXOR: &str = include_str!("../../../../assets/scenes/flexor.json");

/// [`HAIR`] as a scene.
pub(crate) fn hair(threads: usize) -> Scene {
    scene_of(HAIR, threads)
}

/// [`BICEPS`] as a scene.
pub(crate) fn biceps(threads: usize) -> Scene {
    scene_of(BICEPS, threads)
}

/// [`FLEXOR`] as a scene.
pub(crate) fn flexor(threads: usize) -> Scene {
    scene_of(FLEXOR, threads)
}

fn scene_of(text: &str, threads: usize) -> Scene {
    let spec: SceneSpec = serde_json::from_str(text).expect("a scene");
    try_scene(&spec, threads).expect("a scene")
}

/// A scene of built-in characters, or why it is none.
pub(crate) fn try_scene(spec: &SceneSpec, threads: usize) -> Result<Scene, EngineError> {
    static HUMANOID: LazyLock<asset::Document> = LazyLock::new(asset::builtin::humanoid);
    let mut load = |file: &str| match file {
        "builtin:humanoid" => Ok(HUMANOID.clone()),
        _ => Ok(asset::builtin::arm()),
    };
    Scene::new(spec, config(threads), &mut load)
}

fn config(threads: usize) -> Config {
    Config {
        threads: Some(threads),
        ..Config::default()
    }
}

pub(crate) fn engine(threads: usize) -> Engine {
    Engine::new(config(threads)).expect("an engine")
}

/// The built-in figure with a coarse level of detail.
pub(crate) fn figure() -> Arc<Character> {
    static FIGURE: LazyLock<Arc<Character>> = LazyLock::new(|| {
        let document = asset::builtin::humanoid();
        let character = Character::from_document(&document, &BakeOptions::default());
        let character = character.expect("a character");
        let levels = SkeletonLod::by_depth(character.skeleton(), &[5]);
        Arc::new(character.with_levels(levels))
    });
    Arc::clone(&FIGURE)
}

/// Two joints and clips of 1 s whose hips move the actor: "walk" goes 1 m along +z, with steps "left" at 0.25 s and
/// "right" at 0.75 s, "curve" a quarter turn to the left about a point 1 m beside.
pub(crate) fn walker() -> Arc<Character> {
    let joint = |name: &str, parent| asset::Node {
        name: Some(name.to_owned()),
        parent,
        ..asset::Node::default()
    };
    let clip = |name: &str, place: &dyn Fn(f32) -> (Vec3, f32)| {
        let times = || (0..=60_u8).map(|frame| f32::from(frame) / 60.0);
        let ways = times().map(|time| Key::new(time, place(time).0));
        let turns =
            times().map(|time| Key::new(time, quat::from_axis_angle(Vec3::y(), place(time).1)));
        let way = Track::new(ways.collect(), Interpolation::Linear).expect("a way");
        let turn = Track::new(turns.collect(), Interpolation::Linear).expect("a turn");
        ClipSpec {
            name: Some(name.to_owned()),
            channels: [JointTrack::Translation(way), JointTrack::Rotation(turn)]
                .map(|track| Channel { joint: 1, track })
                .into(),
            ..ClipSpec::default()
        }
    };
    let document = asset::Document {
        nodes: vec![joint("root", None), joint("hips", Some(0))],
        scenes: vec![vec![0]],
        clips: vec![
            clip("walk", &|time| (Vec3::new(0.0, 1.0, time), 0.0)),
            clip("curve", &|time| {
                let angle = time * std::f32::consts::FRAC_PI_2;
                let way = Vec3::new(1.0 - angle.cos(), 1.0, angle.sin());
                (way, angle)
            }),
        ],
        ..asset::Document::default()
    };
    let bake = BakeOptions::default();
    let character = Character::from_document(&document, &bake).expect("a character");
    let root = RootMotionOptions::new(character.joint_named("hips").expect("hips"));
    let steps = Events::new(vec![event(0.25, "left"), event(0.75, "right")]);
    let character = character
        .with_root_motion(&document.clips, &root, &bake)
        .and_then(|character| character.with_events("walk", steps.expect("events")));
    Arc::new(character.expect("a walker"))
}

pub(crate) fn event(time: f32, name: &str) -> Event {
    Event {
        time,
        name: name.to_owned(),
    }
}

/// The furthest that a point within 1 m is off.
pub(crate) fn rigid_distance(a: &Affine, b: &Affine) -> f32 {
    (a.linear - b.linear).norm() + (a.translation - b.translation).norm()
}

/// Twelve figures that play graphs, masked and additive layers, drivers and a lower rate, each with another's arm in hand.
pub(crate) fn crowd(threads: usize) -> Engine {
    let character = driven_figure();
    let graph = character.graph(&upper_body_graph()).expect("a valid graph");
    let arm = character.joint_named("upper_arm_l").expect("an arm");
    let mask = Arc::new(Mask::subtree(character.skeleton(), arm, 1));
    let clip = |name: &str| character.clip_named(name).expect("a clip");
    let mut engine = engine(threads);
    let ids: Vec<_> = (0..12)
        .map(|_| engine.spawn(Arc::clone(&character)))
        .collect();
    for (index, id) in ids.iter().enumerate() {
        let actor = engine.actor_mut(*id).expect("the actor");
        actor.play_graph(Arc::clone(&graph));
        actor.set("speed", index as f32 / 11.0).expect("a float");
        let playback = Playback::new(0.5 + 0.1 * index as f32, Wrap::PingPong);
        actor.layers.push(ActorLayer {
            weight: 0.7,
            mode: LayerMode::Override,
            mask: Some(Arc::clone(&mask)),
            ..ActorLayer::clip(clip("wave"), playback)
        });
        for mode in [LayerMode::Additive, LayerMode::AdditiveInModel] {
            actor.layers.push(ActorLayer {
                weight: 0.2,
                mode,
                ..ActorLayer::clip(clip("idle"), playback)
            });
        }
        actor.detail.every = 1 + index as u32 % 3;
        // Chains of three, and later ids carry earlier ones.
        if index % 3 != 2 {
            engine.attach(*id, ids[index + 1], 0).expect("a free hand");
        }
    }
    engine
}

/// The figure with root motion, steps, springs and a grip.
fn driven_figure() -> Arc<Character> {
    let document = asset::builtin::humanoid();
    let bake = BakeOptions::default();
    let build = || {
        let character = Character::from_document(&document, &bake)?;
        let root = RootMotionOptions::new(character.joint_named("root")?);
        let steps = Events::new(vec![event(0.1, "left"), event(0.6, "right")])?;
        let socket = Socket {
            name: "grip".to_owned(),
            joint: character.joint_named("hand_r")?,
            joint_from_socket: Affine::IDENTITY,
        };
        character
            .with_root_motion(&document.clips, &root, &bake)?
            .with_events("walk", steps)?
            .with_sockets([socket])?
            .with_drivers(vec![
                DriverSpec::new("nod", Jiggle::new("head", Vec3::y() * 0.2)),
                DriverSpec::new("sag", Jiggle::new("hand_l", Vec3::x() * 0.1)),
            ])
    };
    Arc::new(build().expect("a driven figure"))
}

fn upper_body_graph() -> GraphSpec {
    let text = r#"{
        "parameters": [{ "name": "speed", "float": { "range": [0, 1] } }],
        "masks": [{ "name": "right arm", "subtree": ["upper_arm_r"], "feather": 1 }],
        "nodes": [
            { "name": "idle", "clip": { "clip": "idle", "sync": false } },
            { "name": "walk", "clip": { "clip": "walk" } },
            { "name": "wave", "clip": { "clip": "wave" } },
            { "name": "ground", "blend_1d": { "parameter": "speed", "points": [[0, "idle"], [1, "walk"]] } },
            { "name": "body", "machine": { "initial": "ground",
                "states": [{ "name": "ground", "node": "ground" }, { "name": "wave", "node": "wave" }],
                "transitions": [
                    { "from": "ground", "to": "wave", "when": { "after": 0.5 }, "kind": "inertialize" },
                    { "from": "wave", "to": "ground", "when": { "after": 0.4 }, "duration": 0.3 }
                ] } },
            { "name": "all", "layers": { "base": "body", "layers": [
                { "node": "wave", "mask": "right arm", "weight": 0.5 } ] } }
        ],
        "root": "all"
    }"#;
    serde_json::from_str(text).expect("a graph")
}
