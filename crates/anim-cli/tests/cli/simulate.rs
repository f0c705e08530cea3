//! `anim simulate`: what it measures, what it writes, and runs that go on.

use std::path::Path;

use serde_json::Value;

use crate::run::{Run, anim, scratch};

/// A small curtain and a rope; held along the top.
const CURTAIN: &str = r#"{
  "duration": 1, "fps": 30,
  "obstacles": [{ "shape": { "sphere": { "radius": 0.15 } },
                  "motion": { "position": { "keys": [{ "time": 0, "value": [0.1, 0.4, 1] }, { "time": 1, "value": [0.1, 0.4, -1] }] } } }],
  "bodies": [
    { "name": "curtain",
      "made_of": { "cloth": { "meshes": [{ "mesh": { "grid": { "columns": 10, "rows": 10, "cell": 0.1 } } }] } },
      "position": [0, 0.5, 0], "rotation_deg": [90, 0, 0],
      "holds": [{ "within": [[-1, -1, -0.51], [1, 1, -0.49]] }] },
    { "name": "rope", "made_of": { "rope": { "ends": [[1, 1, 0], [1, 1, 0.6]], "segments": 8 } },
      "holds": [{ "within": [[0.9, 0.9, -0.01], [1.1, 1.1, 0.01]] }] }
  ]
}"#;

fn scene(name: &str) -> std::path::PathBuf {
    let path = scratch(name);
    std::fs::write(&path, CURTAIN).expect("a file");
    path
}

fn simulate(scene: &Path, more: &[&str]) -> Run {
    let mut arguments = vec!["simulate", scene.to_str().expect("UTF-8")];
    arguments.extend(more);
    let run = anim(arguments);
    assert_eq!(run.code, 0, "{}", run.stderr);
    run
}

/// A number of every frame.
fn column(report: &Value, key: &str) -> Vec<f64> {
    let frames = report["frames"].as_array().expect("frames");
    let number = |frame: &Value| frame[key].as_f64().expect("a number");
    frames.iter().map(number).collect()
}

#[test]
fn every_frame_has_its_energies_and_nothing_passes_through() {
    let report = simulate(&scene("simulate_frames.json"), &["--json"]).json();
    assert_eq!(report["schema"], "anim.simulate/1");
    assert_eq!(report["frames"].as_array().map(Vec::len), Some(30));
    let times = column(&report, "t_s");
    assert!((times[29] - 29.0 / 30.0).abs() < 1e-6);
    let (kinetic, potential) = (column(&report, "kinetic_j"), column(&report, "potential_j"));
    assert_eq!(kinetic[0], 0.0);
    assert!(kinetic[5] > 0.0 && potential[5] < potential[0], "it falls");
    assert!(column(&report, "penetrations").iter().all(|n| *n == 0.0));
    let strain = column(&report, "max_strain");
    assert!(strain.iter().all(|s| (0.0..0.2).contains(s)), "{strain:?}");
}

#[test]
fn a_broken_off_run_goes_on_to_the_same_end() {
    let scene = scene("simulate_resume.json");
    let whole = simulate(&scene, &["--json"]).json();
    let folder = scratch("simulate_resume_cache");
    // Of an earlier run of this test.
    let _ = std::fs::remove_dir_all(&folder);
    let cache = folder.to_str().expect("UTF-8");
    let first = simulate(&scene, &["--json", "--cache", cache, "--frames", "12"]).json();
    assert_eq!(first["resumed_frames"], 0);
    let second = simulate(&scene, &["--json", "--cache", cache]).json();
    assert_eq!(second["resumed_frames"], 12);
    assert_eq!(second["hash"], whole["hash"]);
    let again = simulate(&scene, &["--json", "--cache", cache]).json();
    assert_eq!(again["resumed_frames"], 30);
    assert_eq!(again["hash"], whole["hash"]);
    let other = simulate(&scene, &["--json", "--cache", cache, "--fps", "24"]).json();
    assert_eq!(other["resumed_frames"], 0, "another run has another key");
}

#[test]
fn threads_change_no_bit_of_a_simulation() {
    let scene = scene("simulate_threads.json");
    let hash = |threads| simulate(&scene, &["--json", "--threads", threads]).json()["hash"].clone();
    assert_eq!(hash("1"), hash("2"));
    assert_eq!(hash("1"), hash("3"));
}

#[test]
fn frames_are_written_as_a_character_and_as_a_sequence() {
    let scene = scene("simulate_out.json");
    let glb = scratch("simulate_out.glb");
    simulate(&scene, &["--quiet", "--out", glb.to_str().expect("UTF-8")]);
    let check = anim(["check", glb.to_str().expect("UTF-8"), "--json"]).json();
    assert_eq!(check["errors"], 0, "{check}");

    let alembic = scratch("simulate_out.abc");
    simulate(
        &scene,
        &["--quiet", "--out", alembic.to_str().expect("UTF-8")],
    );
    let bytes = std::fs::read(&alembic).expect("a file");
    assert!(bytes.starts_with(b"Ogawa"));
    // 30 frames of 121 vertices and of a curve of 9 points, and little else.
    assert!(bytes.len() > 30 * (121 + 9) * 12, "{}", bytes.len());

    let sequence = scratch("simulate_out.obj");
    let sequence = sequence.to_str().expect("UTF-8");
    let report = simulate(&scene, &["--json", "--out", sequence, "--frames", "3"]).json();
    let files = report["files"].as_array().expect("files");
    assert_eq!(files.len(), 3);
    let last = std::fs::read_to_string(files[2].as_str().expect("a path")).expect("a file");
    assert_eq!(
        last.lines().filter(|l| l.starts_with("v ")).count(),
        121 + 9
    );
    assert_eq!(last.lines().filter(|l| l.starts_with("f ")).count(), 200);
    assert_eq!(last.lines().filter(|l| l.starts_with("l ")).count(), 8);
}

#[test]
fn the_scenes_that_come_along_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/scenes");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    names.sort();
    assert!(names.len() >= 2);
    for path in names {
        let report = simulate(&path, &["--json", "--frames", "8"]).json();
        assert_eq!(report["quarantined"], 0, "{}", path.display());
        let through = column(&report, "penetrations");
        assert!(
            through.iter().all(|n| *n == 0.0),
            "{}: {through:?}",
            path.display()
        );
    }
}

#[test]
fn hair_and_muscles_are_measured_and_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/scenes");
    let alembic = scratch("simulate_hair.abc");
    let out = alembic.to_str().expect("UTF-8");
    let frames = ["--json", "--frames", "4", "--out", out];
    let report = simulate(&folder.join("hair.json"), &frames).json();
    let hair = &report["frames"][3]["hair"][0];
    // Sixty guides or so of 16 segments; they never stretch.
    let segments = hair["segments"].as_u64().expect("a number");
    assert!((16 * 45..16 * 75).contains(&segments), "{segments}");
    let stretch = hair["worst_stretch"].as_f64().expect("a number");
    assert!(stretch < 1e-4, "{stretch}");
    assert_eq!(hair["penetrations"], 0);
    assert_eq!(hair["reset"], 0);
    let bytes = std::fs::read(&alembic).expect("a file");
    let scene = anim_asset::alembic::read(&bytes).expect("a file of ours");
    let strands = scene.objects.iter().find(|o| o.name == "0.hair.0");
    let strands = strands.expect("hair");
    assert_eq!(strands.frames.len(), 4);
    let anim_asset::alembic::AbcShape::Curves { counts, widths } = &strands.shape else {
        panic!("hair is curves");
    };
    assert_eq!(hair["strands"].as_u64(), Some(counts.len() as u64));
    assert!(counts.iter().all(|count| *count == 25));
    assert!(widths.iter().all(|width| *width > 0.0));

    let glb = scratch("simulate_biceps.glb");
    let out = glb.to_str().expect("UTF-8");
    let frames = ["--json", "--frames", "40", "--out", out];
    let report = simulate(&folder.join("biceps.json"), &frames).json();
    let of = |frame: usize, key: &str| {
        let muscle = &report["frames"][frame]["muscles"][0];
        muscle[key].as_f64().expect("a number")
    };
    assert!(of(0, "activation") < 0.05 && of(39, "activation") > 0.6);
    assert!(
        of(39, "length_m") < of(0, "length_m") - 0.005,
        "the elbow bends"
    );
    assert!(of(39, "force_n") > 100.0);
    assert!(of(39, "volume_error").abs() < 1e-5);
    let check = anim(["check", out, "--json"]).json();
    assert_eq!(check["errors"], 0, "{check}");
}
