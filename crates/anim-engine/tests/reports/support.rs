//! Small files and single frames, for the reports.

use std::sync::Arc;

use crate::build::Build;
use anim_engine::asset::Document;
use anim_engine::math::Vec3;
use anim_engine::skeleton::{Playback, Wrap};
use anim_engine::{Actor, ActorLayer, Character, Config, Engine};
use serde_json::{Value, json};

pub(crate) const BYTE: u32 = 5121;
pub(crate) const FLOAT: u32 = 5126;
pub(crate) const HALF_TURN: f64 = std::f64::consts::FRAC_1_SQRT_2;

pub(crate) fn engine() -> Engine {
    let config = Config {
        threads: Some(1),
        ..Config::default()
    };
    Engine::new(config).unwrap()
}

pub(crate) fn character(document: &Document) -> Arc<Character> {
    let options = Character::bake_options(document).unwrap();
    Arc::new(Character::from_document(document, &options).unwrap())
}

pub(crate) fn clip_layer(clip: usize, time: f64, weight: f32) -> ActorLayer {
    let mut playback = Playback::new(1.0, Wrap::Clamp);
    playback.seek(time);
    ActorLayer {
        weight,
        ..ActorLayer::clip(clip, playback)
    }
}

/// What one frame makes of layers that stand still.
pub(crate) fn still(
    character: &Arc<Character>,
    layers: Vec<ActorLayer>,
    check: impl FnOnce(&Actor),
) {
    let mut engine = engine();
    let id = engine.spawn(character.clone());
    engine.actor_mut(id).unwrap().layers = layers;
    engine.step(0.0);
    assert_eq!(engine.quarantined().count(), 0);
    check(engine.actor(id).unwrap());
}

/// What the first clip shows at `time`.
pub(crate) fn at(character: &Arc<Character>, time: f64, check: impl FnOnce(&Actor)) {
    still(character, vec![clip_layer(0, time, 1.0)], check);
}

/// A file of one node whose `path` moves as accessors 0 and 1 say.
pub(crate) fn animated(
    path: &str,
    interpolation: &str,
    times: &[f64],
    kind: &str,
    values: &[f64],
) -> Build {
    let mut build = Build::new(json!({
        "nodes": [{}],
        "animations": [{
            "channels": [{"sampler": 0, "target": {"node": 0, "path": path}}],
            "samplers": [{"input": 0, "output": 1, "interpolation": interpolation}]
        }]
    }));
    build.accessor("SCALAR", FLOAT, times);
    build.accessor(kind, FLOAT, values);
    build
}

/// A file of `nodes` with a mesh of one vertex-triangle at the origin, bound by `joints` and `weights`.
pub(crate) fn skinned(nodes: Value, skins: Value, joints: [f64; 4], weights: [f64; 4]) -> Build {
    let attributes = json!({"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2});
    let mut build = Build::new(json!({
        "nodes": nodes, "skins": skins,
        "meshes": [{"primitives": [{"attributes": attributes}]}]
    }));
    build.accessor("VEC3", FLOAT, &[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
    build.accessor("VEC4", BYTE, &joints.repeat(3));
    build.accessor("VEC4", FLOAT, &weights.repeat(3));
    build
}

/// Where the vertices of a surface are, in source order.
pub(crate) fn positions(actor: &Actor, surface: usize) -> Vec<Vec3> {
    let mesh = &actor.character().surfaces()[surface].mesh;
    let place = |vertex: &u32| actor.surfaces()[surface].position(*vertex as usize);
    mesh.vertex_from_source().iter().map(place).collect()
}

/// A file whose one mesh has three targets, which move as accessors 4 and 5 say.
pub(crate) fn morphing(interpolation: &str, times: &[f64], values: &[f64]) -> Build {
    let mut build = Build::new(json!({
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{
            "attributes": {"POSITION": 0},
            "targets": [{"POSITION": 1}, {"POSITION": 2}, {"POSITION": 3}]
        }]}],
        "animations": [{
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}],
            "samplers": [{"input": 4, "output": 5, "interpolation": interpolation}]
        }]
    }));
    build.accessor("VEC3", FLOAT, &[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
    for axis in [[1., 0., 0.], [0., 1., 0.], [0., 0., 1.]] {
        build.accessor("VEC3", FLOAT, &axis.repeat(3));
    }
    build.accessor("SCALAR", FLOAT, times);
    build.accessor("SCALAR", FLOAT, values);
    build
}
