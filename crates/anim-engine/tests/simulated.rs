//! Simulated bodies of scenes: what holds them, what sweeps them, and runs that go on.
#![cfg(feature = "asset")]
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use anim_engine::math::Vec3;
use anim_engine::{Config, Kept, Scene, SceneSpec, asset};

fn scene(text: &str, threads: usize) -> Scene {
    let spec: SceneSpec = serde_json::from_str(text).unwrap();
    let config = Config {
        threads: Some(threads),
        ..Config::default()
    };
    let mut load = |_: &str| Ok(asset::builtin::humanoid());
    Scene::new(&spec, config, &mut load).unwrap()
}

/// A sheet held along one edge that moves, a rope in the hand of a walker, and a ball that is shot at both.
const CROWDED: &str = r#"{
  "characters": [{ "file": "builtin:humanoid", "clips": [{ "clip": "walk" }] }],
  "obstacles": [{
    "shape": { "sphere": { "radius": 0.2 } },
    "motion": { "position": { "keys": [{ "time": 0, "value": [0, 0.6, 3] }, { "time": 0.5, "value": [0, 0.6, -3] }] } }
  }],
  "bodies": [
    { "name": "sheet",
      "made_of": { "cloth": { "meshes": [{ "mesh": { "grid": { "columns": 12, "rows": 12, "cell": 0.08 } } }] } },
      "position": [0, 1, 0], "rotation_deg": [90, 0, 0],
      "holds": [{ "within": [[-1, -1, -0.49], [1, 1, -0.47]],
                  "motion": { "rotation_deg": { "keys": [{ "time": 0, "value": [0, 0, 0] }, { "time": 0.5, "value": [0, 0, 40] }, { "time": 1, "value": [0, 0, 0] }] } } }] },
    { "name": "rope",
      "made_of": { "rope": { "ends": [[0.7, 1.4, 0], [0.7, 0.4, 0]], "segments": 12 } },
      "holds": [{ "within": [[0.6, 1.39, -0.1], [0.8, 1.41, 0.1]], "joint": { "character": 0, "joint": "hand_l" } }] }
  ]
}"#;

#[test]
fn holders_carry_bodies_exactly() {
    let mut scene = scene(CROWDED, 1);
    scene.step(0.0);
    let [sheet, rope] = [scene.bodies[0], scene.bodies[1]];
    let start = scene.engine.body(sheet).unwrap().positions()[0];
    for _ in 0..60 {
        scene.step(1.0 / 60.0);
    }
    // The turn comes back to where it began; single precision turns a metre to about 1e-6 m.
    let body = scene.engine.body(sheet).unwrap();
    assert!((body.positions()[0] - start).norm() < 1e-5);
    assert!((body.positions()[168] - body.model().rest()[168]).norm() > 0.2);
    // A rigid link does not stretch: the first piece of the rope still hangs on the hand.
    let rope = scene.engine.body(rope).unwrap().positions();
    assert!(((rope[1] - rope[0]).norm() - 1.0 / 12.0).abs() < 1e-3);
    assert_eq!(scene.engine.quarantined().count(), 0);
}

#[test]
fn an_obstacle_that_moves_sweeps_a_body_along() {
    let still = CROWDED.replace("[0, 0.6, -3]", "[0, 0.6, 3]");
    let after = |text: &str| {
        let mut scene = scene(text, 1);
        for _ in 0..18 {
            scene.step(1.0 / 60.0);
        }
        let positions = scene.engine.body(scene.bodies[0]).unwrap().positions();
        positions.iter().map(|p| p.z).sum::<f32>() / positions.len() as f32
    };
    // The ball comes from +z at 12 m/s: between two frames it crosses the sheet's whole thickness.
    let (hit, free) = (after(CROWDED), after(&still));
    assert!(hit < free - 0.05, "{hit} {free}");
}

#[test]
fn a_run_goes_on_from_kept_states_to_the_bit() {
    let mut whole = scene(CROWDED, 1);
    let mut kept: Vec<Vec<Kept>> = Vec::new();
    for _ in 0..40 {
        whole.step(1.0 / 48.0);
        kept.push(whole.engine.kept());
    }
    let mut resumed = scene(CROWDED, 1);
    for states in &kept[..25] {
        resumed.step_to(1.0 / 48.0, states);
    }
    for _ in 25..40 {
        resumed.step(1.0 / 48.0);
    }
    assert_eq!(resumed.engine.hash(), whole.engine.hash());
}

#[test]
fn threads_change_no_bit() {
    let hash = |threads| {
        let mut scene = scene(CROWDED, threads);
        for _ in 0..30 {
            scene.step(1.0 / 30.0);
        }
        scene.engine.hash()
    };
    assert_eq!(hash(1), hash(2));
    assert_eq!(hash(1), hash(3));
}

#[test]
fn what_a_scene_cannot_hold_is_refused_with_its_place() {
    let refused = |from: &str, to: &str| {
        let spec: SceneSpec = serde_json::from_str(&CROWDED.replace(from, to)).unwrap();
        let mut load = |_: &str| Ok(asset::builtin::humanoid());
        Scene::new(&spec, Config::default(), &mut load)
            .unwrap_err()
            .to_string()
    };
    assert!(
        refused("\"columns\": 12", "\"columns\": 0").contains("/bodies/0/made_of/cloth/meshes/0")
    );
    assert!(refused("[[-1, -1, -0.49]", "[[9, 9, 9]").contains("/bodies/0/holds/0/within"));
    assert!(refused("hand_l", "hand_of_god").contains("/bodies/1/holds/0/joint"));
    assert!(
        refused("\"radius\": 0.2", "\"radius\": -1").contains("/obstacles/0/shape/sphere/radius")
    );
    assert!(refused("[0.7, 0.4, 0]", "[0.7, 1.4, 0]").contains("/bodies/1/made_of/rope/ends"));
}

#[test]
fn a_body_that_is_not_finite_is_stopped() {
    let mut scene = scene(CROWDED, 1);
    let id = scene.bodies[0];
    let mut state = scene.engine.body(id).unwrap().state().clone();
    state.positions.fill(Vec3::repeat(f32::NAN));
    scene.engine.body_mut(id).unwrap().set_state(&state);
    for _ in 0..3 {
        scene.step(1.0 / 60.0);
    }
    // The solver starts what is not finite again from rest.
    assert!(scene.engine.body(id).unwrap().state().is_finite());
}

#[test]
fn the_body_of_the_demo_holds_its_hands_whole() {
    let text = include_str!("../../anim-cli/src/demo.scene.json");
    let spec: SceneSpec = serde_json::from_str(text).unwrap();
    let mut scene = scene(text, 1);
    (0..10).for_each(|_| scene.step(1.0 / 30.0));
    let part = &spec.characters[0];
    let actor = scene.engine.actor(scene.actors[0]).unwrap();
    let place = |joint: &str| actor.world_from_joint(actor.character().joint_named(joint).unwrap());
    // How far a point is outside of the nearest capsule, m.
    let outside = |point: Vec3| {
        let distances = part.body.iter().map(|capsule| {
            let world_from_joint = place(&capsule.joint);
            let [from, to] =
                [capsule.from, capsule.to].map(|p| world_from_joint.transform_point(p));
            let along = (point - from).dot(&(to - from)) / (to - from).norm_squared();
            (point - from - (to - from) * along.clamp(0.0, 1.0)).norm() - capsule.radius
        });
        distances.fold(f32::INFINITY, f32::min)
    };
    let mut seen = 0;
    for hand in ["fingers_l", "fingers_r"] {
        let knuckles = place(hand).translation;
        for surface in actor.surfaces() {
            let points = (0..surface.len()).map(|v| surface.position(v));
            let points = points.map(|p| actor.world_from_model().transform_point(p));
            for point in points.filter(|p| (p - knuckles).norm() < 0.13) {
                seen += 1;
                // The cape keeps this much off them.
                let clear = part.cloth[0].material.thickness;
                let distance = outside(point);
                assert!(distance < clear, "{hand} shows by {} m", distance - clear);
            }
        }
    }
    assert!(seen > 100, "{seen}");
}
