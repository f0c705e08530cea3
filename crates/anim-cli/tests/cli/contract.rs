//! The contract of every verb: exits, one JSON object, files whole or not at all, the same hash for any threads.

use serde_json::Value;

use crate::run::{Run, anim, scratch};

/// A scene of the built-in figure; tests run side by side, so each writes its own.
fn built_in(name: &str) -> std::path::PathBuf {
    let scene = scratch(&format!("{name}.json"));
    let text = r#"{ "duration": 1.1, "characters": [{ "file": "builtin:humanoid", "clips": [{ "clip": "walk" }] }] }"#;
    std::fs::write(&scene, text).expect("a file");
    scene
}

/// The built-in figure as a file that other verbs read.
fn figure(name: &str) -> std::path::PathBuf {
    let path = scratch(name);
    let scene = built_in(name);
    let run = anim([
        "play".as_ref(),
        scene.as_os_str(),
        "--out".as_ref(),
        path.as_os_str(),
        "--quiet".as_ref(),
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    path
}

fn verb(arguments: &[&str]) -> Run {
    anim(arguments)
}

#[test]
fn help_is_fine_and_nonsense_is_a_call_that_cannot_be_used() {
    assert_eq!(verb(&["--help"]).code, 0);
    assert_eq!(verb(&["info", "--help"]).code, 0);
    assert_eq!(verb(&["--version"]).code, 0);
    assert_eq!(verb(&[]).code, 2);
    assert_eq!(verb(&["dance"]).code, 2);
    assert_eq!(verb(&["info"]).code, 2);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let run = verb(&["info", "nowhere.glb"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.starts_with("error: nowhere.glb: "),
        "{}",
        run.stderr
    );
    assert!(run.stdout.is_empty());
}

#[test]
fn a_baked_character_is_read_checked_and_sampled() {
    let path = figure("read.glb");
    let path = path.to_str().expect("UTF-8");
    let info = verb(&["info", path, "--json"]);
    assert_eq!(info.code, 0, "{}", info.stderr);
    assert_eq!(info.json()["clips"][0]["name"], "baked");
    assert_eq!(verb(&["check", path, "--json"]).json()["errors"], 0);
    let sample = verb(&["sample", path, "--times", "0,0.5", "--baked", "--json"]);
    let sample = sample.json();
    assert_eq!(sample["samples"].as_array().map(Vec::len), Some(2));
    let error = sample["baked_error_mm"].as_f64().expect("an error");
    assert!((0.0..=0.5).contains(&error), "{error} mm");
}

#[test]
fn a_converted_character_has_the_same_samples() {
    let source = figure("convert.glb");
    let source = source.to_str().expect("UTF-8");
    let sample = |path: &str| verb(&["sample", path, "--times", "0.37", "--json"]).json();
    let expected = sample(source);
    for name in ["converted.pack", "converted.gltf", "converted.glb"] {
        let target = scratch(name);
        let target = target.to_str().expect("UTF-8");
        let run = verb(&["convert", source, target, "--json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        // A pack keeps every bit; glTF is read with rotations made unit again, which rounds once more.
        let tolerance = if name.ends_with("pack") { 0.0 } else { 1e-6 };
        let difference = difference(&sample(target)["samples"], &expected["samples"]);
        assert!(difference <= tolerance, "{name}: {difference}");
    }
}

/// The largest difference of two numbers at the same place; infinite if the shapes differ.
fn difference(a: &Value, b: &Value) -> f64 {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let numbers = a.as_f64().zip(b.as_f64());
            numbers.map_or(f64::INFINITY, |(a, b)| (a - b).abs())
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .map(|(a, b)| difference(a, b))
            .fold(0.0, f64::max),
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => a
            .iter()
            .map(|(key, a)| difference(a, &b[key]))
            .fold(0.0, f64::max),
        (a, b) if a == b => 0.0,
        _ => f64::INFINITY,
    }
}

#[test]
fn an_unknown_format_writes_nothing() {
    let source = figure("unknown.glb");
    let target = scratch("unknown.xyz");
    let run = anim(["convert".as_ref(), source.as_os_str(), target.as_os_str()]);
    assert_eq!(run.code, 2);
    assert!(!target.exists());
}

#[test]
fn clips_are_chosen_by_name_or_number() {
    let path = figure("clips.glb");
    let path = path.to_str().expect("UTF-8");
    for clip in ["0", "#0", "baked"] {
        assert_eq!(verb(&["sample", path, "--clip", clip, "--json"]).code, 0);
    }
    let run = verb(&["sample", path, "--clip", "run"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("'baked'"), "{}", run.stderr);
}

#[test]
fn times_that_are_no_numbers_are_refused() {
    let path = figure("times.glb");
    let path = path.to_str().expect("UTF-8");
    assert_eq!(verb(&["sample", path, "--times", "NaN"]).code, 2);
    assert_eq!(verb(&["sample", path, "--times", "later"]).code, 2);
    assert_eq!(
        verb(&["sample", path, "--times", "-1,99", "--json"]).code,
        0
    );
}

#[test]
fn the_hash_of_the_demo_does_not_depend_on_threads() {
    let demo = |threads: &str, folder: &str| {
        let folder = scratch(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let folder = folder.to_str().expect("UTF-8");
        let run = verb(&[
            "demo",
            "--frames",
            "20",
            "--threads",
            threads,
            "--out",
            folder,
            "--json",
        ]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let value = run.json();
        assert_eq!(value["schema"], "anim.demo/1");
        assert_eq!(value["quarantined"], 0);
        let picture =
            std::fs::read(std::path::Path::new(folder).join("demo.png")).expect("a picture");
        let model = std::fs::read(std::path::Path::new(folder).join("demo.glb")).expect("a model");
        (value["hash"].clone(), picture, model)
    };
    let one = demo("1", "demo1");
    let two = demo("2", "demo2");
    assert_eq!(one.0, two.0);
    assert!(one.1 == two.1, "the pictures differ");
    assert!(one.2 == two.2, "the models differ");
    let model = scratch("demo1").join("demo.glb");
    assert_eq!(anim(["check".as_ref(), model.as_os_str()]).code, 0);
}

#[test]
fn a_scene_that_is_wrong_is_refused_with_the_place() {
    let refuse = |name: &str, text: &str, place: &str| {
        let path = scratch(name);
        std::fs::write(&path, text).expect("a file");
        let run = anim(["play".as_ref(), path.as_os_str()]);
        assert_eq!(run.code, 2, "{text}");
        assert!(run.stderr.contains(place), "{place}: {}", run.stderr);
    };
    refuse("syntax.json", "{\n \"duration\": }", "line 2 column");
    refuse("field.json", "{ \"durations\": 3 }", "durations");
    refuse("number.json", "{ \"duration\": -1 }", "duration");
    refuse(
        "file.json",
        r#"{ "characters": [{ "file": "missing.glb" }] }"#,
        "missing.glb",
    );
    refuse(
        "clip.json",
        r#"{ "characters": [{ "file": "builtin:humanoid", "clips": [{ "clip": "fly" }] }] }"#,
        "walk",
    );
    let refuse_figure = |name: &str, fields: &str, place: &str| {
        let text = format!(
            r#"{{ "targets": {{ "ball": {{ "track": {{ "keys": [{{ "time": 0, "value": [0, 1, 1] }}] }} }} }},
            "characters": [{{ "file": "builtin:humanoid", {fields} }}] }}"#
        );
        refuse(name, &text, place);
    };
    let at = |path: &str| format!("/characters/0/{path}: ");
    refuse_figure(
        "start.json",
        r#""clips": [{ "clip": "walk", "start": 1e39 }]"#,
        &at("clips/0/start"),
    );
    refuse_figure(
        "legless.json",
        r#""feet": { "hips": "hips", "feet": [{ "ankle": "root" }] }"#,
        &at("feet/feet/0"),
    );
    refuse_figure(
        "axes.json",
        r#""goals": [{ "look_at": { "joint": "head", "target": "ball", "forward": [0, 0, 0], "up": [0, 1, 0] } }]"#,
        &at("goals/0"),
    );
    refuse_figure(
        "nobody.json",
        r#""goals": [{ "reach": { "end": "hand_l", "target": "bell" } }]"#,
        &at("goals/0"),
    );
    refuse_figure(
        "pins.json",
        r#""cloth": [{ "node": "cape", "pins": { "vertices": [4000000000] } }]"#,
        &at("cloth/0/pins"),
    );
    refuse_figure(
        "twice.json",
        r#""cloth": [{ "node": "cape", "pins": { "top": 0.02 } }, { "node": "cape", "pins": { "top": 0.02 } }]"#,
        &at("cloth/1/node"),
    );
    refuse_figure(
        "density.json",
        r#""cloth": [{ "node": "cape", "pins": { "top": 0.02 }, "material": { "density": 0 } }]"#,
        &at("cloth/0"),
    );
    refuse(
        "waves.json",
        r#"{ "ground": { "waves": { "amplitude": 1, "wavelength": 0, "half_width": 1, "length": [0, 1] } } }"#,
        "/ground/waves/wavelength: ",
    );
    refuse(
        "capacity.json",
        r#"{ "particles": [{ "at": [0, 0, 0], "effect": { "capacity": 4000000000 } }] }"#,
        "/particles/0/effect: capacity",
    );
    refuse(
        "burst.json",
        r#"{ "particles": [{ "at": [0, 0, 0], "burst": 4000000000 }] }"#,
        "/particles/0/burst: ",
    );
    refuse(
        "follow.json",
        r#"{ "targets": { "ball": { "follow": 3, "track": { "keys": [{ "time": 0, "value": [0, 1, 1] }] } } } }"#,
        "/targets/ball/follow: ",
    );
    refuse(
        "misspelt.json",
        r#"{ "particles": [{ "effect": { "life": 3 } }] }"#,
        "life",
    );
}

#[test]
fn a_picture_is_a_png_of_the_size_asked_for() {
    let model = figure("render.glb");
    let out = scratch("render.png");
    let run = anim([
        "render".as_ref(),
        model.as_os_str(),
        "--time".as_ref(),
        "0.3".as_ref(),
        "--width".as_ref(),
        "160".as_ref(),
        "--height".as_ref(),
        "120".as_ref(),
        "--onion".as_ref(),
        "2".as_ref(),
        "--skeleton".as_ref(),
        "--out".as_ref(),
        out.as_os_str(),
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let png = std::fs::read(&out).expect("a picture");
    assert_eq!(&png[1..4], b"PNG");
    assert_eq!(
        u32::from_be_bytes([png[16], png[17], png[18], png[19]]),
        160
    );
    assert_eq!(
        u32::from_be_bytes([png[20], png[21], png[22], png[23]]),
        120
    );
}

#[test]
fn diagnostics_are_one_line_each_whatever_the_names() {
    let path = scratch("forged\nerror: \u{1b}[31m.gltf");
    let text = r#"{ "asset": { "version": "2.0" }, "nodes": [{ "name": "a\nb\u001b[31m", "mesh": 7 }],
        "animations": [{ "name": "x\ny", "channels": [], "samplers": [] }] }"#;
    std::fs::write(&path, text).expect("a file");
    let path = path.to_str().expect("UTF-8");
    for arguments in [
        vec!["check", path],
        vec!["info", path],
        vec!["sample", path],
        vec!["sample", path, "--clip", "none"],
        vec!["sample", path, "--times", "soon"],
        vec!["sample", path, "--nonsense"],
        vec!["dance"],
    ] {
        let run = verb(&arguments);
        let printed = run.stderr.chars().chain(run.stdout.chars());
        assert!(printed.filter(|c| *c != '\n').all(|c| !c.is_control()));
        for line in run.stderr.lines() {
            assert!(line.starts_with("error: ") || line.starts_with("warning: "));
            assert!(line.matches(": ").count() >= 3, "{line}");
        }
    }
}

#[test]
fn calls_that_cannot_end_well_are_refused_before_any_work() {
    let model = figure("refused.glb");
    let model = model.to_str().expect("UTF-8");
    let out = scratch("refused.png");
    let out = out.to_str().expect("UTF-8");
    for arguments in [
        vec!["play", model, "--out", "frames.txt"],
        vec!["play", model, "--sheet", "sheet.jpg"],
        vec!["render", model, "--out", "picture.jpg"],
        vec!["render", model, "--out", out, "--yaw", "NaN"],
        vec!["render", model, "--out", out, "--width", "0"],
        vec!["render", model, "--out", out, "--width", "4000000000"],
    ] {
        assert_eq!(verb(&arguments).code, 2, "{arguments:?}");
    }
    // A clip is looked up, not played, so its far future is as near as its start.
    let far = verb(&[
        "render", model, "--out", out, "--time", "1e30", "--width", "64",
    ]);
    assert_eq!(far.code, 0, "{}", far.stderr);
}

#[cfg(unix)]
#[test]
fn a_pipe_or_device_is_written_to_and_stays_what_it_is() {
    let model = figure("pipe.glb");
    let pipe = scratch("pipe");
    let _ = std::fs::remove_file(&pipe);
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::read(pipe))
    };
    let run = anim([
        "render".as_ref(),
        model.as_os_str(),
        "--out".as_ref(),
        pipe.as_os_str(),
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!std::fs::metadata(&pipe).expect("a pipe").is_file());
    let png = reader.join().expect("a reader").expect("a picture");
    assert_eq!(&png[1..4], b"PNG");
}
