//! `anim weights`: any mesh to any skeleton by every method; what is written stands as the mesh stood.

use std::path::{Path, PathBuf};

use anim_engine::geom::primitives;
use serde_json::Value;

use crate::run::{Run, anim, data, scratch};

const METHODS: [&str; 6] = ["voxel", "heat", "bbw", "geodesic", "nearest", "distance"];

fn weights(mesh: &Path, options: &[&str]) -> Run {
    let mesh = mesh.to_str().expect("UTF-8");
    anim([&["weights", mesh, "--json"], options].concat())
}

/// A square rod of four blocks, 4 m along x, as quads.
fn rod(name: &str) -> PathBuf {
    let mut text = String::new();
    for x in 0..5 {
        for [y, z] in [[-0.2, -0.2], [0.2, -0.2], [0.2, 0.2], [-0.2, 0.2]] {
            text += &format!("v {x} {y} {z}\n");
        }
    }
    for block in 0..4 {
        for side in 0..4 {
            let corner = |side: usize, block: usize| 4 * block + side % 4 + 1;
            let [a, b] = [corner(side, block), corner(side + 1, block)];
            let [c, d] = [corner(side + 1, block + 1), corner(side, block + 1)];
            text += &format!("f {a} {d} {c} {b}\n");
        }
    }
    text += "f 1 2 3 4\nf 20 19 18 17\n";
    let path = scratch(name);
    std::fs::write(&path, text).expect("a file");
    path
}

/// Two bones of 2 m each along the rod.
fn bones(name: &str) -> PathBuf {
    let path = scratch(name);
    let text = r#"{"bones": [
        {"name": "upper", "head": [0, 0, 0], "tail": [2, 0, 0]},
        {"name": "lower", "head": [2, 0, 0], "tail": [4, 0, 0], "parent": "upper"}
    ]}"#;
    std::fs::write(&path, text).expect("a file");
    path
}

/// The positions of the only mesh at time 0.
fn positions(file: &Path) -> Vec<[f64; 3]> {
    let sample = anim(["sample".as_ref(), file.as_os_str(), "--json".as_ref()]);
    assert_eq!(sample.code, 0, "{}", sample.stderr);
    let meshes = &sample.json()["samples"][0]["meshes"];
    let meshes = meshes.as_array().expect("meshes");
    let points = meshes
        .iter()
        .flat_map(|mesh| mesh["positions"].as_array().expect("positions"));
    let number = |value: &Value| value.as_f64().expect("a number");
    points
        .map(|p| [number(&p[0]), number(&p[1]), number(&p[2])])
        .collect()
}

#[test]
fn every_method_binds_a_rod_whose_two_halves_follow_their_bones() {
    let (rod, bones) = (rod("rod.obj"), bones("rod.json"));
    let bones = bones.to_str().expect("UTF-8");
    let rest = positions(&rod);
    for method in METHODS {
        let out = scratch(&format!("rod_{method}.glb"));
        let options = [
            "--skeleton",
            bones,
            "--method",
            method,
            "--out",
            out.to_str().expect("UTF-8"),
        ];
        let run = weights(&rod, &options);
        assert_eq!(run.code, 0, "{method}: {}", run.stderr);
        let told = run.json();
        assert_eq!(told["schema"], "anim.weights/1");
        assert_eq!(told["method"], method);
        assert_eq!(
            (&told["vertices"], &told["joints"]),
            (&20.into(), &2.into())
        );
        assert_eq!(
            (&told["empty_rows"], &told["islands"]),
            (&0.into(), &0.into())
        );
        assert!(told["sum_error_max"].as_f64().expect("a number") < 2e-7);

        let check = anim(["check".as_ref(), out.as_os_str(), "--json".as_ref()]);
        assert_eq!(check.json()["errors"], 0, "{method}: {}", check.stdout);
        let written = positions(&out);
        assert_eq!(written.len(), rest.len());
        for (a, b) in written.iter().zip(&rest) {
            assert!(
                (0..3).all(|c| (a[c] - b[c]).abs() < 1e-6),
                "{method}: {a:?} {b:?}"
            );
        }
        let document = anim_asset::load(&out).expect("a character");
        let skin = document
            .nodes
            .iter()
            .find_map(|node| node.skin)
            .expect("a skin");
        let joints = &document.skins[skin].joints;
        let influences = document.meshes[0].primitives[0].influences.as_ref();
        let influences = influences.expect("influences");
        for (vertex, name) in [(0, "upper"), (19, "lower")] {
            let row = vertex * influences.per_vertex..(vertex + 1) * influences.per_vertex;
            let weights = influences.joints[row.clone()]
                .iter()
                .zip(&influences.weights[row]);
            let most = weights.max_by(|a, b| a.1.total_cmp(b.1)).expect("a row");
            let followed = &document.nodes[joints[usize::from(*most.0)]];
            assert_eq!(followed.name.as_deref(), Some(name), "{method}: {most:?}");
        }
    }
}

#[test]
fn the_weights_that_are_written_hold_as_many_joints_as_were_asked_for() {
    let Some(data) = data() else { return };
    let human = data.join("gltf/mpfb_human_mixamo_names.glb");
    for (influences, most) in [("1", 0.8), ("8", 0.2)] {
        let run = weights(
            &human,
            &["--method", "distance", "--influences", influences],
        );
        assert_eq!(run.code, 0, "{}", run.stderr);
        let told = run.json();
        assert_eq!(told["influences"].to_string(), influences);
        let dropped = told["dropped_mass_max"].as_f64().expect("a number");
        assert!((0.0..most).contains(&dropped), "{influences}: {dropped}");
    }
}

#[test]
fn a_human_and_a_fox_are_bound_again_and_stand_as_they_did() {
    let Some(data) = data() else { return };
    for (file, joints) in [
        ("gltf/mpfb_human_mixamo_names.glb", 52),
        ("gltf/Fox.glb", 24),
    ] {
        let file = data.join(file);
        let name = file
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let (out, png) = (
            scratch(&format!("{name}_bound.glb")),
            scratch(&format!("{name}_bound.png")),
        );
        let [out_text, png_text] = [&out, &png].map(|path| path.to_str().expect("UTF-8"));
        let run = weights(&file, &["--out", out_text, "--png", png_text]);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        let told = run.json();
        assert_eq!(told["joints"], joints);
        assert_eq!(told["empty_rows"], 0);
        let check = anim(["check".as_ref(), out.as_os_str(), "--json".as_ref()]);
        assert_eq!(check.json()["errors"], 0, "{name}: {}", check.stdout);
        let rest = |path: &Path| {
            anim([
                "render".as_ref(),
                path.as_os_str(),
                "--png".as_ref(),
                png.as_os_str(),
            ])
        };
        assert_eq!(rest(&out).code, 0);
        assert_eq!(&std::fs::read(&png).expect("a picture")[1..4], b"PNG");
    }
}

/// A ball of 1,640 vertices, which is work for several threads, and four bones across it.
fn ball(name: &str) -> [String; 2] {
    let ball = primitives::sphere(1.0, 40, 39);
    let mut text = String::new();
    for p in &ball.rest.positions {
        text += &format!("v {} {} {}\n", p.x, p.y, p.z);
    }
    for [a, b, c] in &ball.triangles {
        text += &format!("f {} {} {}\n", a + 1, b + 1, c + 1);
    }
    let bone = |(index, [x, z]): (usize, [f64; 2])| {
        format!(r#"{{"name": "b{index}", "head": [{x}, -0.5, {z}], "tail": [{x}, 0.6, {z}]}}"#)
    };
    let places = [[-0.4, -0.4], [-0.4, 0.5], [0.4, -0.3], [0.5, 0.4]];
    let bones: Vec<String> = places.into_iter().enumerate().map(bone).collect();
    let bones = format!(r#"{{"bones": [{}]}}"#, bones.join(","));
    [("obj", text), ("json", bones)].map(|(extension, text)| {
        let path = scratch(&format!("{name}.{extension}"));
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    })
}

#[test]
fn threads_do_not_change_a_bit_of_what_is_written() {
    let [ball, bones] = ball("threads");
    for method in METHODS {
        let written = ["1", "2"].map(|threads| {
            let out = scratch(&format!("threads_{method}_{threads}.glb"));
            let out = out.to_str().expect("UTF-8");
            let options = ["--skeleton", &bones, "--method", method];
            let options = [&options[..], &["--threads", threads, "--out", out]].concat();
            let run = weights(Path::new(&ball), &options);
            assert_eq!(run.code, 0, "{method}: {}", run.stderr);
            std::fs::read(out).expect("a character")
        });
        assert!(written[0] == written[1], "{method}");
    }
}

/// The sum over vertices of the largest weight of each: the more, the less is shared.
fn hardness(mesh: &str, options: &[&str]) -> f32 {
    let out = scratch("hardness.glb");
    let out_text = out.to_str().expect("UTF-8");
    let run = weights(
        Path::new(mesh),
        &[&["--out", out_text][..], options].concat(),
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let document = anim_asset::load(&out).expect("a character");
    let influences = document.meshes[0].primitives[0].influences.as_ref();
    let influences = influences.expect("influences");
    let rows = influences.weights.chunks(influences.per_vertex);
    rows.map(|row| row.iter().copied().fold(0.0, f32::max))
        .sum()
}

#[test]
fn falloff_and_stiffness_tell_how_much_bones_share() {
    let [ball, bones] = ball("falloff");
    let of = |method: &[&str]| hardness(&ball, &[&["--skeleton", &bones][..], method].concat());
    let [soft, between, hard] = ["0", "0.95", "1"].map(|a| of(&["--falloff", a]));
    assert!(soft < between && between < hard, "{soft} {between} {hard}");
    assert_eq!(
        of(&[]),
        hard,
        "the fourth power is the library's own choice"
    );
    let heat = |options: &[&str]| of(&[&["--method", "heat"][..], options].concat());
    let [soft, one, hard] = ["0.22", "1", "4"].map(|c| heat(&["--stiffness", c]));
    assert!(soft < one && one < hard, "{soft} {one} {hard}");
    assert_eq!(heat(&[]), one, "1 is the library's own choice");
}

#[test]
fn bbw_says_how_well_it_solved_and_warns_if_it_stopped_early() {
    let [ball, bones] = ball("solver");
    let options = ["--skeleton", &bones, "--method", "bbw"];
    let number = |told: &Value, key: &str| told["solver"][key].as_f64().expect("a number");

    let whole = weights(Path::new(&ball), &options);
    assert_eq!((whole.code, whole.stderr.as_str()), (0, ""));
    let told = whole.json();
    assert_eq!(told["solver"]["converged"], true);
    for residual in ["primal_residual", "dual_residual"] {
        assert!(
            number(&told, residual) <= number(&told, "tolerance"),
            "{told}"
        );
    }
    // Solved to a thousandth, and proved to some times that.
    let (energy, gap) = (number(&told, "energy"), number(&told, "energy_gap"));
    assert!(0.0 <= gap && gap < 1e-2 * energy, "{gap} of {energy}");
    assert!(number(&told, "iterations") > 2.0 && number(&told, "nodes") > 5000.0);

    let early = weights(
        Path::new(&ball),
        &[&options[..], &["--iterations", "2"]].concat(),
    );
    assert_eq!(early.code, 0, "{}", early.stderr);
    assert!(early.stderr.starts_with("warning: "), "{}", early.stderr);
    assert!(early.stderr.contains("--iterations 8"), "{}", early.stderr);
    let told = early.json();
    assert_eq!(told["solver"]["converged"], false);
    assert_eq!(told["solver"]["iterations"], 2);
    assert_eq!(told["empty_rows"], 0);

    let other = weights(Path::new(&ball), &options[..2]);
    assert!(other.json()["solver"].is_null(), "voxels solve nothing");
}

#[test]
fn calls_that_cannot_be_used_say_why() {
    let rod = rod("refused.obj");
    let write = |name: &str, text: &str| {
        let path = scratch(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let bones = bones("refused.json");
    let bones = bones.to_str().expect("UTF-8");
    let bone = |rest: &str| format!(r#"{{"bones": [{{"name": "a", "head": [0,0,0]{rest}}}]}}"#);
    let tailless = write("tailless.json", &bone(""));
    let orphan = write("orphan.json", &bone(r#", "tail": [1,0,0], "parent": "b""#));
    let cycle = write("cycle.json", &bone(r#", "tail": [1,0,0], "parent": "a""#));
    let none = write("none.json", r#"{"bones": []}"#);
    for (options, why) in [
        (vec![], "no joints: give --skeleton"),
        (vec!["--skeleton", "nowhere.json"], "nowhere.json"),
        (
            vec!["--skeleton", &tailless],
            "/bones/0/tail: not 3 finite numbers",
        ),
        (vec!["--skeleton", &orphan], "/bones/0/parent: no bone"),
        (vec!["--skeleton", &cycle], "cycle"),
        (vec!["--skeleton", &none], "not a list of bones"),
        (
            vec!["--skeleton", bones, "--influences", "0"],
            "--influences",
        ),
        (vec!["--skeleton", bones, "--out", "x.txt"], "not one of"),
        (vec!["--skeleton", bones, "--png", "x.jpg"], "not .png"),
        (
            vec!["--skeleton", bones, "--png", "x.png", "--joint", "c"],
            "no node 'c'",
        ),
        (vec!["--skeleton", bones, "--method", "magic"], "magic"),
        (vec!["--skeleton", bones, "--threads", "257"], "--threads"),
        (
            vec!["--skeleton", bones, "--falloff", "1.1"],
            "not in [0, 1]",
        ),
        (
            vec!["--skeleton", bones, "--falloff", "NaN"],
            "not in [0, 1]",
        ),
        (
            vec!["--skeleton", bones, "--falloff", "0", "--method", "heat"],
            "only voxel does",
        ),
        (
            vec!["--skeleton", bones, "--stiffness", "4"],
            "only heat does",
        ),
        (
            vec!["--method", "heat", "--stiffness", "-1"],
            "not in [1e-6, 1e6]",
        ),
        (
            vec!["--method", "heat", "--stiffness", "1e-300"],
            "not in [1e-6, 1e6]",
        ),
        (
            vec!["--method", "heat", "--stiffness", "inf"],
            "not in [1e-6, 1e6]",
        ),
        (
            vec!["--skeleton", bones, "--iterations", "9"],
            "only bbw does",
        ),
    ] {
        let run = weights(&rod, &options);
        assert_eq!(run.code, 2, "{options:?}: {}", run.stdout);
        assert!(run.stdout.is_empty(), "{options:?}");
        assert!(run.stderr.contains(why), "{options:?}: {}", run.stderr);
    }
}

#[test]
fn info_says_that_a_mesh_is_an_obj() {
    let rod = rod("told.obj");
    let info = anim(["info".as_ref(), rod.as_os_str(), "--json".as_ref()]);
    assert_eq!(info.code, 0, "{}", info.stderr);
    assert_eq!(info.json()["format"], "obj");
}
