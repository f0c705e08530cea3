//! `anim skin`: deformers side by side on made and published characters.

use crate::run::{Run, anim, data, scratch};

const METHODS: [&str; 8] = [
    "lbs",
    "dqs",
    "cor",
    "log",
    "spherical",
    "trs",
    "delta-mush",
    "ddm",
];

fn skin(file: &str, arguments: &[&str]) -> Run {
    anim(["skin", file, "--json"].iter().chain(arguments))
}

/// The built-in figure in a file of the test's own.
fn figure(name: &str) -> String {
    let path = scratch(name);
    let bytes = anim_asset::encode(&anim_asset::builtin::humanoid(), anim_asset::Format::Glb);
    std::fs::write(&path, bytes).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn each_deformer_has_its_speed_volume_and_distance() {
    let figure = figure("skin_figure.glb");
    let run = skin(&figure, &["--clip", "walk", "--time", "0.3"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json = run.json();
    assert_eq!(json["schema"], "anim.skin/1");
    let methods = json["methods"].as_array().expect("a list");
    assert_eq!(methods.len(), METHODS.len());
    for (method, name) in methods.iter().zip(METHODS) {
        let number = |key: &str| method[key].as_f64().expect("a number");
        assert_eq!(method["name"], name);
        assert!(number("ns_per_vertex") > 0.0, "{method}");
        // A walk bends, it does not crush.
        assert!((number("volume_ratio") - 1.0).abs() < 0.1, "{method}");
        assert_eq!(number("max_offset_m") == 0.0, name == "lbs", "{method}");
        assert!(number("max_offset_m") < 0.2, "{method}");
    }
}

#[test]
fn threads_change_no_result() {
    let figure = figure("skin_threads.glb");
    let results = ["1", "2"].map(|threads| {
        let run = skin(&figure, &["--time", "0.3", "--threads", threads]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let json = run.json();
        assert_eq!(json["threads"].to_string(), threads);
        let methods = json["methods"].as_array().expect("a list").iter();
        let results = methods.map(|m| (m["volume_ratio"].clone(), m["max_offset_m"].clone()));
        results.collect::<Vec<_>>()
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(skin(&figure, &["--threads", "1000"]).code, 2);
}

#[test]
fn methods_come_in_the_order_asked_for_and_side_by_side() {
    let (figure, out) = (figure("skin_sheet.glb"), scratch("skin.png"));
    let out = out.to_str().expect("UTF-8");
    let picture = ["--png", out, "--width", "60", "--height", "90"];
    let methods = ["--method", "cor,lbs", "--method", "dqs"];
    let run = skin(&figure, &[methods.as_slice(), &picture].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json = run.json();
    let names = json["methods"].as_array().expect("a list").iter();
    let names: Vec<&str> = names.filter_map(|method| method["name"].as_str()).collect();
    assert_eq!(names, ["cor", "lbs", "dqs"]);
    let bytes = std::fs::read(out).expect("a picture");
    assert!(bytes.starts_with(b"\x89PNG"));
    // Three cells of 60 pixels and four strips of 2 between and around them.
    assert_eq!(bytes[16..20], (3 * 62_u32 + 2).to_be_bytes());
}

#[test]
fn people_get_a_line_a_deformer() {
    let run = anim(["skin", &figure("skin_table.glb"), "--method", "lbs,dqs"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout.lines().count(), 3, "{}", run.stdout);
}

#[test]
fn what_is_no_deformer_or_no_surface_is_refused() {
    let figure = figure("skin_refused.glb");
    for arguments in [
        ["--method", "elastic"],
        ["--time", "NaN"],
        ["--clip", "nothing"],
        ["--out", "picture.jpg"],
    ] {
        let run = skin(&figure, &arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}");
    }
    let bones = scratch("skin_bones.gltf");
    let text = r#"{ "asset": { "version": "2.0" }, "nodes": [{}], "scenes": [{ "nodes": [0] }] }"#;
    std::fs::write(&bones, text).expect("a file");
    let run = skin(bones.to_str().expect("UTF-8"), &[]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("no surface"), "{}", run.stderr);
}

#[test]
fn published_characters_keep_their_volume() {
    let Some(data) = data() else { return };
    // The last is two flat triangles and encloses nothing.
    for (file, encloses) in [
        ("gltf/Fox.glb", true),
        ("gltf/cesium_man.gltf", true),
        ("gltf/rigged_simple.gltf", true),
        ("gltf/RobotExpressive.glb", true),
        ("gltf/quad_skin.glb", false),
    ] {
        let path = data.join(file);
        let run = skin(path.to_str().expect("UTF-8"), &["--time", "0.5"]);
        assert_eq!(run.code, 0, "{file}: {}", run.stderr);
        for method in run.json()["methods"].as_array().expect("a list") {
            println!("{file}: {method}");
            let ratio = method["volume_ratio"].as_f64();
            assert_eq!(ratio.is_some(), encloses, "{file}: {method}");
            let is_sound = |ratio: f64| (0.8..1.2).contains(&ratio);
            assert!(ratio.is_none_or(is_sound), "{file}: {method}");
            assert!(method["max_offset_m"].as_f64().is_some_and(f64::is_finite));
        }
    }
}
