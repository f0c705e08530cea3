//! `anim ik`: goals met, missed and refused.

use serde_json::Value;

use crate::run::{Run, anim, data, scratch};

const SOLVERS: [&str; 6] = ["lm", "ccd", "fabrik", "two-bone", "dls", "gradient"];

/// A shoulder at (0, 1, 0), an elbow and a hand, 0.5 m apart along x and a little bent, as a file.
fn arm(name: &str) -> String {
    let path = scratch(name);
    let text = r#"{ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [
        { "name": "shoulder", "translation": [0, 1, 0], "children": [1] },
        { "name": "elbow", "translation": [0.48, 0.14, 0], "children": [2] },
        { "name": "hand", "translation": [0.48, -0.14, 0], "children": [3] },
        { "name": "twin", "translation": [0.1, 0, 0], "children": [4] },
        { "name": "twin", "translation": [0.1, 0, 0] }] }"#;
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

fn ik(file: &str, arguments: &[&str]) -> Run {
    anim(["ik", file, "--json"].iter().chain(arguments))
}

fn triple(value: &Value) -> [f64; 3] {
    let number = |index: usize| value[index].as_f64().expect("a number");
    [number(0), number(1), number(2)]
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}

#[test]
fn every_solver_meets_a_goal_within_reach_and_keeps_the_bones() {
    let arm = arm("reach.gltf");
    for solver in SOLVERS {
        let run = ik(
            &arm,
            &[
                "--goal",
                "hand=0.5,1.2,0.6",
                "--chain",
                "shoulder..hand",
                "--solver",
                solver,
            ],
        );
        assert_eq!(run.code, 0, "{solver}: {}{}", run.stdout, run.stderr);
        let json = run.json();
        assert_eq!(json["schema"], "anim.ik/1");
        assert_eq!(json["status"], "reached");
        assert_eq!(json["goals"][0]["node"], 2);
        assert!(json["goals"][0]["residual_m"].as_f64().expect("a length") <= 1e-4);
        let at = |node: &str| triple(&json["positions"][node]);
        assert!(distance(at("2"), [0.5, 1.2, 0.6]) <= 1e-4, "{solver}");
        for [from, to] in [["0", "1"], ["1", "2"]] {
            assert!((distance(at(from), at(to)) - 0.5).abs() < 1e-5, "{solver}");
        }
    }
}

#[test]
fn a_goal_out_of_reach_is_an_answer_with_what_is_left() {
    let arm = arm("far.gltf");
    for solver in SOLVERS {
        // 2 m to the side of a shoulder that reaches 1 m.
        let goal = [
            "--goal",
            "hand=0,1,2",
            "--chain",
            "shoulder..hand",
            "--solver",
            solver,
        ];
        let run = ik(&arm, &goal);
        assert_eq!(run.code, 1, "{solver}: {}{}", run.stdout, run.stderr);
        let json = run.json();
        assert_ne!(json["status"], "reached");
        let left = json["goals"][0]["residual_m"].as_f64().expect("a length");
        // Those that only creep toward a straight arm come within some of it.
        assert!((0.9999..1.2).contains(&left), "{solver}: {left}");
    }
}

#[test]
fn a_rotation_is_met_beside_a_position() {
    let arm = arm("turned.gltf");
    // A quarter turn about +Y.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let orient = format!("hand=0,{half},0,{half}");
    let goal = ["--goal", "hand=0.4,1.3,0.4", "--orient", &orient];
    for solver in ["lm", "ccd", "fabrik", "two-bone", "dls"] {
        let chain = ["--chain", "shoulder..hand", "--solver", solver];
        let run = ik(&arm, &[goal.as_slice(), chain.as_slice()].concat());
        assert_eq!(run.code, 0, "{solver}: {}{}", run.stdout, run.stderr);
        let turned = &run.json()["rotations"]["2"];
        let dot = turned[1].as_f64().expect("y") * half + turned[3].as_f64().expect("w") * half;
        assert!((dot.abs() - 1.0).abs() < 1e-6, "{solver}: {turned}");
    }
}

#[test]
fn the_elbow_looks_toward_the_pole() {
    let arm = arm("pole.gltf");
    for solver in ["lm", "two-bone", "dls"] {
        for side in [-1.0, 1.0] {
            let pole = format!("0.3,1,{}", 4.0 * side);
            let options = [
                "--chain",
                "shoulder..hand",
                "--pole",
                &pole,
                "--solver",
                solver,
            ];
            let run = ik(
                &arm,
                &[&["--goal", "hand=0.6,1,0"], options.as_slice()].concat(),
            );
            assert_eq!(run.code, 0, "{solver}: {}", run.stderr);
            let elbow = triple(&run.json()["positions"]["1"]);
            // An isosceles triangle of sides 0.5, 0.5 and 0.6 m.
            assert!(
                distance(elbow, [0.3, 1.0, 0.4 * side]) < 2e-3,
                "{solver}: {elbow:?}"
            );
        }
    }
}

#[test]
fn a_posed_character_is_written_and_stands_as_was_said() {
    let arm = arm("written.gltf");
    let (out, png) = (scratch("posed.glb"), scratch("posed.png"));
    let (out, png) = (out.to_str().expect("UTF-8"), png.to_str().expect("UTF-8"));
    let run = ik(
        &arm,
        &["--goal", "#2=0.2,1.5,0.3", "--out", out, "--png", png],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let sample = anim(["sample", out, "--json"]).json();
    let matrix = &sample["samples"][0]["nodes"]["2"];
    let written = [12, 13, 14].map(|cell| matrix[cell].as_f64().expect("a number"));
    assert!(distance(written, triple(&run.json()["positions"]["2"])) < 1e-6);
    assert_eq!(&std::fs::read(png).expect("a picture")[1..4], b"PNG");
}

#[test]
fn limits_hold_and_those_that_are_in_the_way_are_named() {
    let arm = arm("limited.gltf");
    let limits = scratch("limits.json");
    // The elbow turns by half a radian either way about z, which is not enough to fold the arm.
    let text = r#"{ "elbow": { "hinge": { "axis": [0, 0, 2], "range": [-0.5, 0.5] } } }"#;
    std::fs::write(&limits, text).expect("a file");
    let limits = limits.to_str().expect("UTF-8");
    let near = ["--goal", "hand=0.3,1.2,0", "--chain", "shoulder..hand"];
    for solver in ["lm", "ccd", "dls"] {
        let options = ["--limits", limits, "--solver", solver];
        let run = ik(&arm, &[near.as_slice(), &options].concat());
        assert_eq!(run.code, 1, "{solver}: {}{}", run.stdout, run.stderr);
        let turn = &run.json()["local_rotations"]["1"];
        let half = turn[2]
            .as_f64()
            .expect("z")
            .atan2(turn[3].as_f64().expect("w"));
        assert!((half.abs() - 0.25).abs() < 1e-3, "{solver}: {turn}");
        if solver == "lm" {
            assert_eq!(run.json()["limits_hit"], serde_json::json!([1]));
        }
    }
    // 0.94 m away, a bend of 0.68 rad where rest has 0.57.
    let far = ["--goal", "hand=0.7,1.2,0.6", "--limits", limits];
    let run = ik(
        &arm,
        &[far.as_slice(), &["--chain", "shoulder..hand"]].concat(),
    );
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(run.json()["limits_hit"], serde_json::json!([]));
}

#[test]
fn limits_that_cannot_be_used_say_why() {
    let arm = arm("unlimited.gltf");
    let file = scratch("bad_limits.json");
    let path = file.to_str().expect("UTF-8");
    for (text, solver, why) in [
        ("{", "lm", "EOF"),
        (r#"{ "wing": "fixed" }"#, "lm", "no node 'wing'"),
        (
            r#"{ "elbow": { "hinge": { "axis": [0, 0, 0], "range": [0, 1] } } }"#,
            "lm",
            "bad joint limit",
        ),
        (r#"{ "elbow": "fixed" }"#, "two-bone", "two-bone knows none"),
    ] {
        std::fs::write(&file, text).expect("a file");
        let options = [
            "--goal",
            "hand=0.5,1.2,0",
            "--limits",
            path,
            "--solver",
            solver,
        ];
        let run = ik(&arm, &options);
        assert_eq!(run.code, 2, "{text}: {}", run.stdout);
        assert!(run.stderr.contains(why), "{text}: {}", run.stderr);
    }
}

#[test]
fn calls_that_cannot_be_used_say_why() {
    let arm = arm("refused.gltf");
    for (arguments, why) in [
        (vec![], "nothing is asked for"),
        (vec!["--goal", "hand"], "not NODE=NUMBERS"),
        (vec!["--goal", "hand=1,2"], "not 3 finite numbers"),
        (vec!["--goal", "hand=1,2,NaN"], "not 3 finite numbers"),
        (vec!["--orient", "hand=0,0,0,0"], "is no rotation"),
        (vec!["--goal", "foot=1,2,3"], "no node 'foot'"),
        (vec!["--goal", "twin=1,2,3"], "could be #3, #4"),
        (
            vec!["--goal", "hand=1,2,3", "--goal", "#2=1,2,3"],
            "two goals",
        ),
        (
            vec!["--goal", "hand=1,2,3", "--chain", "hand"],
            "not ROOT..END",
        ),
        (
            vec!["--goal", "hand=1,2,3", "--chain", "hand..elbow"],
            "not below",
        ),
        (
            vec!["--goal", "hand=1,2,3", "--solver", "ccd", "--pole", "0,0,1"],
            "no pole",
        ),
        (
            vec!["--goal", "elbow=1,2,3", "--solver", "two-bone"],
            "no parent",
        ),
        (
            vec!["--orient", "hand=0,0,0,1", "--solver", "two-bone"],
            "needs a --goal",
        ),
        (
            vec!["--goal", "hand=1,2,3", "--tolerance", "0"],
            "not a positive length",
        ),
        (
            vec!["--goal", "hand=1,2,3", "--out", "posed.txt"],
            "not one of",
        ),
    ] {
        let run = ik(&arm, &arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stdout);
        assert!(
            run.stdout.is_empty() && run.stderr.contains(why),
            "{arguments:?}: {}",
            run.stderr
        );
    }
}

#[test]
fn paws_of_a_walking_fox_and_hands_of_a_human_go_where_they_should() {
    let Some(data) = data() else { return };
    let human = data.join("gltf/mpfb_human_mixamo_names.glb");
    let fox = data.join("gltf/Fox.glb");
    let reach = ["--goal", "mixamorig:LeftHand=0.3,1.3,0.3"];
    let walk = [
        "--goal",
        "b_LeftHand_011=7,30,60",
        "--clip",
        "Walk",
        "--time",
        "0.3",
    ];
    for (file, goal) in [(&human, reach.as_slice()), (&fox, walk.as_slice())] {
        for solver in ["lm", "ccd", "fabrik", "dls"] {
            let options = [goal, &["--solver", solver]].concat();
            let run = ik(file.to_str().expect("UTF-8"), &options);
            assert_eq!(run.code, 0, "{solver} {}: {}", file.display(), run.stderr);
        }
    }
}
