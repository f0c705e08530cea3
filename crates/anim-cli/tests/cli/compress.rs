//! `anim compress`: sizes and errors of clips, and the file it writes.

use crate::run::{Run, anim, data, scratch};

/// The clips of the built-in figure, in a file of the test's own.
fn figure(name: &str) -> String {
    let (scene, path) = (scratch(&format!("{name}.json")), scratch(name));
    let text = r#"{ "duration": 1.1, "characters": [{ "file": "builtin:humanoid", "clips": [{ "clip": "walk" }] }] }"#;
    std::fs::write(&scene, text).expect("a file");
    let path = path.to_str().expect("UTF-8").to_owned();
    let scene = scene.to_str().expect("UTF-8");
    let run = verb(&["play", scene, "--out", &path, "--quiet"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    path
}

fn verb(arguments: &[&str]) -> Run {
    anim(arguments)
}

#[test]
fn each_clip_has_its_sizes_and_its_error() {
    let path = figure("sizes.glb");
    let run = verb(&["compress", &path, "--tolerance", "0.001", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json = run.json();
    assert_eq!(json["schema"], "anim.compress/1");
    let clip = &json["clips"][0];
    assert_eq!(clip["name"], "baked");
    let number = |key: &str| clip[key].as_f64().expect("a number");
    assert!(number("max_error_mm") <= 1.0);
    assert!(number("disk_bytes") * 10.0 < number("raw_bytes"));
    assert!(number("disk_bytes") < number("resident_bytes"));
    assert_eq!(number("ratio"), number("raw_bytes") / number("disk_bytes"));
    assert!(clip["reached"] == true && clip["worst_joint"].is_u64());
}

#[test]
fn people_get_a_line_a_clip() {
    let run = verb(&["compress", &figure("table.glb")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(
        lines.len() == 2 && lines[1].ends_with("baked"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_missed_tolerance_is_a_finding() {
    let path = figure("missed.glb");
    let run = verb(&["compress", &path, "--tolerance", "1e-8", "--json"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(run.json()["clips"][0]["reached"], false);
}

#[test]
fn the_file_is_the_size_that_was_told() {
    let (path, out) = (figure("written.glb"), scratch("walk.animclip"));
    let out = out.to_str().expect("UTF-8");
    let run = verb(&["compress", &path, "--out", out, "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let bytes = std::fs::read(out).expect("a file");
    assert_eq!(run.json()["clips"][0]["disk_bytes"], bytes.len());
    assert!(bytes.starts_with(b"ANIMC"));
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let path = figure("refused.glb");
    for option in ["--tolerance", "--shell", "--weight-tolerance"] {
        for value in ["0", "-1", "NaN", "inf"] {
            let option = format!("{option}={value}");
            assert_eq!(verb(&["compress", &path, &option]).code, 2, "{option}");
        }
    }
    assert_eq!(verb(&["compress", &path, "--clip", "nobody"]).code, 2);
}

#[test]
fn the_weights_of_a_face_shrink_too() {
    let Some(data) = data() else { return };
    let path = data.join("face/ict_face_arkit51.glb");
    let run = anim(["compress".as_ref(), path.as_os_str(), "--json".as_ref()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for clip in run.json()["clips"].as_array().expect("a list") {
        println!("{clip}");
        assert!(clip["ratio"].as_f64().expect("a number") > 4.0);
    }
}
