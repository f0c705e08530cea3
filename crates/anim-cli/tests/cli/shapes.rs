//! `anim shapes`: names, sizes, components and weights of face shapes.

use std::path::{Path, PathBuf};

use anim_asset::{Document, Format, MeshSpec, Node, Primitive};
use anim_engine::curves::{DenseTrack, Interpolation, WideTrack, WideTrackSpec};
use anim_engine::geom::primitives;
use anim_engine::math::Vec3;
use anim_engine::skeleton::{ClipSpec, MorphChannel};
use anim_engine::skin::MorphTarget;

use crate::run::{Run, anim, data, scratch};

fn shapes(file: &Path, arguments: &[&str]) -> Run {
    let file = file.to_str().expect("UTF-8");
    anim(["shapes", file, "--json"].iter().chain(arguments))
}

/// A ball with three shapes, each of which moves a third of its vertices.
fn ball(name: &str, weights: [f32; 3]) -> PathBuf {
    let mut mesh = primitives::sphere(0.1, 12, 8);
    let count = mesh.vertex_count() as u32;
    let target = |(place, name): (u32, &str)| {
        let vertices: Vec<u32> = (0..count).filter(|vertex| vertex % 3 == place).collect();
        MorphTarget {
            name: Some(name.to_owned()),
            positions: vec![Vec3::new(0.0, 0.01, 0.02); vertices.len()],
            vertices,
            normals: Vec::new(),
        }
    };
    let targets: Vec<_> = (0..)
        .zip(["jawOpen", "EyeBlink_L", "hat"])
        .map(target)
        .collect();
    for (target, weight) in targets.iter().zip(weights) {
        for (vertex, displacement) in target.vertices.iter().zip(&target.positions) {
            mesh.rest.positions[*vertex as usize] += displacement * weight;
        }
    }
    let document = Document {
        nodes: vec![Node {
            mesh: Some(0),
            ..Node::default()
        }],
        scenes: vec![vec![0]],
        meshes: vec![MeshSpec {
            name: Some("ball".to_owned()),
            primitives: vec![Primitive {
                mesh,
                targets,
                ..Primitive::default()
            }],
            ..MeshSpec::default()
        }],
        ..Document::default()
    };
    let path = scratch(name);
    std::fs::write(&path, anim_asset::encode(&document, Format::Glb)).expect("a file");
    path
}

#[test]
fn names_are_matched_with_the_52() {
    let run = shapes(&ball("shapes_names.glb", [0.0; 3]), &["--mesh", "ball"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json = run.json();
    assert_eq!(json["schema"], "anim.shapes/1");
    assert_eq!(json["shapes"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        (&json["found"], &json["extra"][0]),
        (&2.into(), &"hat".into())
    );
    let missing = json["missing"].as_array().expect("a list");
    assert_eq!(missing.len(), 50);
    assert!(!missing.contains(&"jawOpen".into()));
    assert!(json["weights"].is_null() && json["energy"].is_null());
}

#[test]
fn the_weights_of_a_face_with_the_same_vertices_are_found() {
    let wanted = [0.25, 0.5, 0.75];
    let target = ball("shapes_target.glb", wanted);
    let target = target.to_str().expect("UTF-8");
    let run = shapes(&ball("shapes_solve.glb", [0.0; 3]), &["--target", target]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json = run.json();
    for (name, wanted) in ["jawOpen", "EyeBlink_L", "hat"].iter().zip(wanted) {
        let found = json["weights"][name].as_f64().expect("a weight");
        // The ridge of 10⁻⁴ draws weights to 0 by as much of themselves.
        assert!((found - f64::from(wanted)).abs() < 2e-4, "{name}: {found}");
    }
    assert!(json["residual_mm"]["max"].as_f64().expect("a length") < 0.01);
}

#[test]
fn sizes_and_components_are_told() {
    let run = shapes(
        &ball("shapes_sizes.glb", [0.0; 3]),
        &["--compress", "--pca"],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json = run.json();
    assert!(json["bytes"].as_u64() < json["raw_bytes"].as_u64());
    assert!(json["max_error_mm"].as_f64().expect("a length") <= 0.01);
    assert_eq!(json["compressed"].as_array().map(Vec::len), Some(3));
    // Three shapes that do not overlap and weigh about the same.
    let energy = json["energy"].as_array().expect("a list");
    assert_eq!(energy.len(), 3);
    assert!((energy[0].as_f64().expect("a share") - 1.0 / 3.0).abs() < 0.02);
}

/// A path in the tests' folder, as text.
fn out(name: &str) -> String {
    scratch(name).to_str().expect("UTF-8").to_owned()
}

#[test]
fn compressed_shapes_are_written_and_as_near_as_is_told() {
    let (face, out) = (ball("shapes_pack.glb", [0.0; 3]), out("shapes_packed.glb"));
    let run = shapes(&face, &["--compress", "--tolerance", "1e-4", "--out", &out]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json = run.json();
    assert_eq!(json["out"], out.as_str());
    let error = json["max_error_mm"].as_f64().expect("a length") as f32 * 1e-3;
    let [before, after] = [face.as_path(), Path::new(&out)]
        .map(|path| anim_asset::load(path).expect("a face").meshes[0].primitives[0].clone());
    assert_eq!(before.mesh.rest, after.mesh.rest);
    assert_eq!(before.targets.len(), after.targets.len());
    let mut largest = 0.0_f32;
    for (before, after) in before.targets.iter().zip(&after.targets) {
        assert_eq!(before.name, after.name);
        assert_eq!(before.vertices, after.vertices);
        let pairs = before.positions.iter().zip(&after.positions);
        largest = pairs.map(|(a, b)| (a - b).norm()).fold(largest, f32::max);
    }
    assert!(largest <= error, "{largest} {error}");
}

#[test]
fn components_that_are_written_sum_to_the_shapes() {
    let (face, out) = (ball("shapes_pca.glb", [0.0; 3]), out("shapes_pca.json"));
    let run = shapes(&face, &["--pca", "--out", &out]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let text = std::fs::read_to_string(&out).expect("a file");
    let written: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let rows = |key: &str| -> Vec<Vec<f64>> {
        let rows = written[key].as_array().expect("a list").iter();
        let row = |row: &serde_json::Value| {
            let numbers = row.as_array().expect("a row").iter();
            numbers.map(|x| x.as_f64().expect("a number")).collect()
        };
        rows.map(row).collect()
    };
    let (components, coefficients) = (rows("components"), rows("coefficients"));
    let document = anim_asset::load(&face).expect("a face");
    let primitive = &document.meshes[0].primitives[0];
    assert_eq!(written["vertices"], primitive.mesh.vertex_count());
    for (target, coefficients) in primitive.targets.iter().zip(&coefficients) {
        let mut wanted = vec![0.0; 3 * primitive.mesh.vertex_count()];
        for (vertex, displacement) in target.vertices.iter().zip(&target.positions) {
            for axis in 0..3 {
                wanted[3 * *vertex as usize + axis] = f64::from(displacement[axis]);
            }
        }
        for (place, wanted) in wanted.into_iter().enumerate() {
            let parts = coefficients.iter().zip(&components);
            let sum: f64 = parts.map(|(c, component)| c * component[place]).sum();
            // Numbers of seven digits, coefficients of some decimetres.
            assert!((sum - wanted).abs() < 1e-6, "{place}: {sum} {wanted}");
        }
    }
}

#[test]
fn the_curves_of_a_clip_are_written_within_the_tolerance() {
    let face = ball("shapes_still.glb", [0.0; 3]);
    let mut document = anim_asset::load(&face).expect("a face");
    let times: Vec<f32> = (0..=20).map(|key| key as f32 * 0.1).collect();
    let smile = |t: f32, shape: usize| 0.5 + 0.5 * (t * (1.0 + shape as f32)).sin();
    let values = times
        .iter()
        .flat_map(|t| (0..3).map(|shape| smile(*t, shape)));
    let track = WideTrack::new(WideTrackSpec {
        width: 3,
        values: values.collect(),
        times,
        interpolation: Interpolation::Linear,
    })
    .expect("a track");
    document.clips = vec![ClipSpec {
        name: Some("grin".to_owned()),
        morphs: vec![MorphChannel {
            joint: 0,
            track: track.clone(),
        }],
        ..ClipSpec::default()
    }];
    let face = scratch("shapes_grin.glb");
    std::fs::write(&face, anim_asset::encode(&document, Format::Glb)).expect("a file");
    let out = out("grin.animcurves");
    let run = shapes(
        &face,
        &["--curves", "--clip", "grin", "--fps", "30", "--out", &out],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json = run.json();
    let curves = &json["curves"];
    assert_eq!(
        (&curves["frames"], &curves["weights"]),
        (&61.into(), &3.into())
    );
    assert!(curves["max_error"].as_f64().expect("a weight") <= 0.005);
    let bytes = std::fs::read(&out).expect("curves");
    assert_eq!(curves["bytes"], bytes.len());
    assert!(bytes.len() < 61 * 3 * 4 / 2, "{}", bytes.len());
    let curves = DenseTrack::from_bytes(bytes).expect("curves");
    let curves = curves.expand().expect("a track");
    let (mut kept, mut exact) = ([0.0; 3], [0.0; 3]);
    for frame in 0..61 {
        let time = frame as f32 / 30.0;
        curves.sample(time, &mut kept);
        track.sample(time, &mut exact);
        let near = kept
            .iter()
            .zip(exact)
            .all(|(a, b)| (a - b).abs() <= 0.00501);
        assert!(near, "{time}: {kept:?} {exact:?}");
    }
    for options in [&["--curves", "--clip", "frown"][..], &["--clip", "grin"]] {
        assert_eq!(shapes(&face, options).code, 2, "{options:?}");
    }
}

#[test]
fn what_was_not_made_is_not_written() {
    let face = ball("shapes_unmade.glb", [0.0; 3]);
    for (options, why) in [
        (&["--out", "x.glb"][..], "--compress"),
        (&["--compress", "--out", "x.json"], "--pca"),
        (&["--pca", "--out", "x.animcurves"], "--curves"),
        (&["--pca", "--out", "x.txt"], "extension"),
        (&["--curves"], "no clip"),
        (&["--curves", "--fps", "0"], "--fps"),
    ] {
        let run = shapes(&face, options);
        assert_eq!(run.code, 2, "{options:?}");
        assert!(run.stderr.contains(why), "{options:?}: {}", run.stderr);
    }
}

#[test]
fn targets_that_do_not_fit_are_refused_with_the_place() {
    let ball = ball("shapes_refused.glb", [0.0; 3]);
    for (text, place) in [
        ("vertex,x,y,z\n", "line 1"),
        ("0,0,0,0\n1,2,3\n", "line 2"),
        ("99999,0,0,0\n", "line 1"),
        ("0,0,nan,0\n", "line 1"),
    ] {
        let path = scratch("shapes_refused.csv");
        std::fs::write(&path, text).expect("a file");
        let run = shapes(&ball, &["--target", path.to_str().expect("UTF-8")]);
        assert_eq!(run.code, 2, "{text}");
        assert!(run.stderr.contains(place), "{}", run.stderr);
    }
    assert_eq!(shapes(&ball, &["--mesh", "cube"]).code, 2);
    assert_eq!(shapes(&ball, &["--compress", "--tolerance", "-1"]).code, 2);
}

#[test]
fn a_published_face_is_found_again_from_few_markers() {
    let Some(data) = data() else { return };
    let face = data.join("face/ict_face_arkit51.glb");
    let document = anim_asset::load(&face).expect("a face");
    let primitive = &document.meshes[0].primitives[0];
    let wanted = [
        ("jawOpen", 0.7_f32),
        ("mouthSmileLeft", 0.4),
        ("browInnerUp", 0.9),
    ];
    let mut places = primitive.mesh.rest.positions.clone();
    for (name, weight) in wanted {
        let mut targets = primitive.targets.iter();
        let target = targets.find(|target| target.name.as_deref() == Some(name));
        let target = target.expect("a shape");
        for (vertex, displacement) in target.vertices.iter().zip(&target.positions) {
            places[*vertex as usize] += displacement * weight;
        }
    }
    let line = |(vertex, p): (usize, &Vec3)| format!("{vertex},{},{},{}\n", p.x, p.y, p.z);
    let csv: String = places.iter().enumerate().step_by(17).map(line).collect();
    let path = scratch("shapes_markers.csv");
    std::fs::write(&path, format!("vertex,x,y,z\n{csv}")).expect("a file");
    let run = shapes(
        &face,
        &[
            "--pca",
            "--compress",
            "--target",
            path.to_str().expect("UTF-8"),
        ],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json = run.json();
    assert_eq!(
        (&json["found"], &json["missing"][0]),
        (&51.into(), &"tongueOut".into())
    );
    for (name, weight) in json["weights"].as_object().expect("weights") {
        let wanted = wanted.iter().find(|(wanted, _)| wanted == name);
        let wanted = wanted.map_or(0.0, |(_, weight)| f64::from(*weight));
        let found = weight.as_f64().expect("a weight");
        // Weak shapes lose to the ridge, which is relative to the mean.
        assert!((found - wanted).abs() < 0.03, "{name}: {found}");
    }
    let energy = json["energy"].as_array().expect("a list");
    println!(
        "{} of {} bytes, energies {energy:?}",
        json["bytes"], json["raw_bytes"]
    );
    assert!(energy.len() <= 51 && energy[20].as_f64().expect("a share") > 0.95);
}
