//! Scenes that name graphs, events, sockets and layers.
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

use anim_engine::{Config, EngineError, Scene, SceneSpec, Stage, asset};

const SCENE: &str = r#"{
    "characters": [
        {
            "file": "figure", "root_motion": "root",
            "events": { "walk": [{ "time": 0.2, "name": "step" }] },
            "sockets": [{ "name": "grip", "joint": "hand_r", "position": [0, -0.05, 0] }],
            "drivers": [{ "name": "nod", "kind": { "jiggle": {
                "joint": { "name": "head" }, "tip": [0, 0.2, 0], "frequency": 2, "damping": 0.5 } } }],
            "graph": {
                "parameters": [{ "name": "speed", "float": { "range": [0, 1] } }],
                "nodes": [
                    { "name": "idle", "clip": { "clip": "idle", "sync": false } },
                    { "name": "walk", "clip": { "clip": "walk" } },
                    { "name": "ground", "blend_1d": { "parameter": "speed", "points": [[0, "idle"], [1, "walk"]] } }
                ],
                "root": "ground"
            },
            "parameters": { "speed": { "interpolation": "step", "keys": [
                { "time": 0, "value": 0 }, { "time": 0.5, "value": 1 }] } },
            "clips": [{ "clip": "wave", "mode": "override", "wrap": "pingpong",
                        "mask": { "subtree": ["upper_arm_l"], "feather": 1 } },
                      { "clip": "wave", "mode": "additive_in_model", "weight": 0.1, "reference": "idle" }]
        },
        { "file": "arm", "attached_to": { "character": 0, "socket": "grip" }, "position": [0, 0.01, 0] }
    ]
}"#;

fn scene(text: &str) -> Result<Scene, EngineError> {
    let spec: SceneSpec = serde_json::from_str(text).expect("a scene");
    let written = serde_json::to_string(&spec).expect("text");
    assert_eq!(
        serde_json::from_str::<SceneSpec>(&written).expect("a scene"),
        spec
    );
    let config = Config {
        threads: Some(1),
        ..Config::default()
    };
    Scene::new(&spec, config, &mut |file| {
        Ok(asset::builtin::named(file).unwrap_or_else(asset::builtin::humanoid))
    })
}

#[test]
fn a_scene_plays_its_graph_by_curves_of_its_parameters() {
    let mut scene = scene(SCENE).expect("a scene that plays");
    let [figure, arm] = scene.actors[..] else {
        panic!("two actors");
    };
    let mut steps = 0;
    let mut place_at_half = 0.0;
    for frame in 0..60_u8 {
        scene.step(1.0 / 30.0);
        let actor = scene.engine.actor(figure).expect("the figure");
        steps += actor.events().filter(|event| event.name == "step").count();
        let z = actor.world_from_model().translation.z;
        if frame == 13 {
            place_at_half = z;
        }
        let grip = actor.world_from_socket(0);
        let held = scene.engine.actor(arm).expect("the arm").world_from_model();
        let way = grip.transform_point(anim_engine::math::Vec3::y() * 0.01) - held.translation;
        assert!(way.norm() < 1e-6);
    }
    assert_eq!(place_at_half, 0.0, "it stands for half a second");
    let actor = scene.engine.actor(figure).expect("the figure");
    // The walk's clock runs on while it has no weight: it meets its step at 0.2 s unseen and at 1.27 s seen.
    assert_eq!(steps, 1);
    // A second and a half, less the frame in which the parameter changes, at the walk's speed.
    let way = actor.world_from_model().translation.z / asset::builtin::WALK_SPEED;
    assert!((way - 1.5).abs() < 0.04, "{way} s of walking");
    scene.engine.run(Stage::Skin, 0.0);
}

#[test]
fn what_a_scene_names_wrongly_is_refused_at_its_place() {
    let cases = [
        (
            "\"clip\": \"walk\" }",
            "\"clip\": \"wlak\" }",
            "/characters/0/graph",
        ),
        (
            "{ \"speed\": {",
            "{ \"sped\": {",
            "/characters/0/parameters/sped",
        ),
        (
            "\"step\" }] }",
            "\"step\" }], \"fly\": [] }",
            "/characters/0/events",
        ),
        (
            "\"socket\": \"grip\"",
            "\"socket\": \"gripe\"",
            "/characters/1/attached_to/socket",
        ),
        (
            "\"attached_to\": { \"character\": 0",
            "\"attached_to\": { \"character\": 7",
            "/characters/1/attached_to/character",
        ),
        ("upper_arm_l", "upper_arm_x", "/characters/0/clips/0/mask"),
        (
            "\"reference\": \"idle\"",
            "\"reference\": \"idol\"",
            "/characters/0/clips/1/reference",
        ),
        (
            "\"joint\": \"hand_r\"",
            "\"joint\": \"hand_q\"",
            "/characters/0/sockets/0",
        ),
        (
            "\"name\": \"head\"",
            "\"name\": \"haed\"",
            "/characters/0/drivers",
        ),
        (
            "\"graph\": {",
            "\"graph\": null, \"graph_file\": \"g.json\", \"body\": [], \"cloth\": [], \"feet\": null, \"goals\": [], \"yaw_deg\": 0, \"position\": [0,0,0] }, { \"file\": \"figure\", \"graph\": {",
            "/characters/0/graph_file",
        ),
    ];
    for (from, to, place) in cases {
        assert!(SCENE.contains(from), "{from}");
        let error = scene(&SCENE.replacen(from, to, 1)).expect_err(to);
        let message = error.to_string();
        assert!(message.starts_with(&format!("{place}:")), "{to}: {message}");
    }
}

#[test]
fn the_scene_beside_the_examples_walks_runs_and_jumps() {
    let text = include_str!("../examples/locomotion.scene.json");
    let mut spec: SceneSpec = serde_json::from_str(text).expect("a scene");
    let graph = include_str!("../examples/locomotion.graph.json");
    spec.characters[0].graph = Some(serde_json::from_str(graph).expect("a graph"));
    let mut scene = Scene::new(&spec, Config::default(), &mut |_| {
        Ok(asset::builtin::athlete())
    })
    .expect("a scene that plays");
    let id = scene.actors[0];
    let mut states = Vec::new();
    let mut steps = 0;
    for _ in 0..180 {
        scene.step(1.0 / 30.0);
        let actor = scene.engine.actor(id).expect("the athlete");
        let player = actor.graph().expect("a graph");
        let status = player.state.machine(player.graph(), "body/legs");
        let state = status.map_or("", |status| status.state);
        if states.last().map(String::as_str) != Some(state) {
            states.push(state.to_owned());
        }
        steps += actor.events().filter(|event| event.weight > 0.5).count();
    }
    assert_eq!(states, ["ground", "jump", "land", "ground"]);
    // Walking and running for four seconds, at two to three steps a second.
    assert!((7..=14).contains(&steps), "{steps} steps");
    let way = scene
        .engine
        .actor(id)
        .expect("the athlete")
        .world_from_model();
    assert!(way.translation.z > 6.0, "{:?}", way.translation);
}
