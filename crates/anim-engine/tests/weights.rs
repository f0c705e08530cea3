//! Published bodies, bound by every method: none fails, no row is empty, and all come near what artists painted.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a broken test should say where, and what it measured"
)]

#[path = "common/data.rs"]
mod data;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use anim_engine::asset::{self, Document, obj};
use anim_engine::geom::{Mesh, Vertices, normals};
use anim_engine::math::Vec3;
use anim_engine::skin::SkinWeights;
use anim_engine::skin::weights::{
    self, BiharmonicOptions, BindReport, Bone, Bones, GeodesicOptions, HeatOptions,
    InverseDistanceOptions, NearestOptions, VoxelOptions,
};
use data::data;
use serde_json::Value;

/// A mesh among bones, and what an artist made of it.
struct Body {
    name: String,
    mesh: Mesh,
    bones: Bones,
    authored: Option<SkinWeights>,
    /// Whether a vertex counts in the difference from what was authored.
    counts: Vec<bool>,
}

impl Body {
    /// The mean over vertices of the L1 difference from the authored weights.
    fn difference(&self, weights: &SkinWeights) -> Option<f64> {
        let authored = self.authored.as_ref()?;
        let vertices = (0..self.counts.len()).filter(|v| self.counts[*v]);
        let joints = 0..weights.joint_count() as u16;
        let of = |v: usize| -> f64 {
            let apart = |j: u16| (weights.weight(v, j) - authored.weight(v, j)).abs();
            joints.clone().map(apart).sum()
        };
        let differences: Vec<f64> = vertices.map(of).collect();
        Some(differences.iter().sum::<f64>() / differences.len() as f64)
    }

    /// Without the bones of joints that the artist gave nothing: they guide others, and whoever binds leaves them out.
    fn without_guides(mut self) -> Self {
        let Some(authored) = &self.authored else {
            return self;
        };
        let vertices = 0..authored.vertex_count();
        let holds = |bone: &&Bone| {
            let mut vertices = vertices.clone();
            vertices.any(|v| authored.weight(v, bone.joint) > 0.0)
        };
        let segments = self.bones.segments().iter().filter(holds).copied();
        self.bones = Bones::new(segments.collect(), self.bones.joint_count()).unwrap();
        self
    }
}

/// The methods at what keeps a test short: coarser cells than their defaults.
const METHODS: [&str; 6] = ["voxel", "heat", "bbw", "geodesic", "nearest", "distance"];

fn bind(method: &str, mesh: &Mesh, bones: &Bones) -> (SkinWeights, BindReport) {
    match method {
        "voxel" => {
            let options = VoxelOptions {
                resolution: 65,
                ..VoxelOptions::default()
            };
            weights::voxel(mesh, bones, &options).unwrap()
        }
        "heat" => weights::heat(mesh, bones, &HeatOptions::default()).unwrap(),
        "bbw" => {
            let options = BiharmonicOptions {
                nodes: 1200,
                max_iterations: 60,
                tolerance: 1e-2,
                influences: Some(4),
            };
            let (weights, report) = weights::biharmonic(mesh, bones, &options).unwrap();
            (weights, report.bind)
        }
        "geodesic" => weights::geodesic(mesh, bones, &GeodesicOptions::default()).unwrap(),
        "nearest" => weights::nearest(mesh, bones, &NearestOptions::default()).unwrap(),
        _ => weights::inverse_distance(mesh, bones, &InverseDistanceOptions::default()).unwrap(),
    }
}

/// Binds by every method, prints how near each came and holds it to `most`, in the order of [`METHODS`].
fn check(body: &Body, most: [f64; 6]) {
    for (method, most) in METHODS.into_iter().zip(most) {
        let start = std::time::Instant::now();
        let (weights, report) = bind(method, &body.mesh, &body.bones);
        let seconds = start.elapsed().as_secs_f64();
        let place = || format!("{} by {method}", body.name);
        assert_eq!(
            weights.vertex_count(),
            body.mesh.vertex_count(),
            "{}",
            place()
        );
        let is_whole = |v: usize| weights.row(v).len() > 0 && weights.row(v).all(|(_, w)| w > 0.0);
        assert!((0..weights.vertex_count()).all(is_whole), "{}", place());
        // A row of k entries is off by no more than k · 2⁻⁵³.
        assert!(weights.max_sum_error() < 1e-14, "{}", place());
        let difference = body.difference(&weights);
        let shown = difference.map_or("-".to_owned(), |d| format!("{d:.3}"));
        println!(
            "{:<22} {method:<9} {:>6} v {:>3} j  mean L1 {shown:>6}  islands {:>3}  {seconds:.2} s",
            body.name,
            weights.vertex_count(),
            weights.joint_count(),
            report.islands.len(),
        );
        if let Some(difference) = difference {
            assert!(difference < most, "{}: {difference}", place());
        }
    }
}

/// All primitives of each skin of a file as one body.
fn bodies(file: &Path) -> Vec<Body> {
    let document = asset::load(file).unwrap();
    let stem = file.file_stem().unwrap().to_string_lossy();
    let body = |skin: usize| {
        let (mesh, rows) = skinned(&document, skin);
        if mesh.vertex_count() == 0 {
            return None;
        }
        let counts = vec![true; mesh.vertex_count()];
        let joint_count = document.skins[skin].joints.len();
        Some(Body {
            name: format!("{stem}#{skin}").chars().take(22).collect(),
            bones: document.bones(&document.skins[skin]).unwrap(),
            authored: Some(SkinWeights::from_rows(joint_count, rows).unwrap()),
            mesh,
            counts,
        })
    };
    (0..document.skins.len()).filter_map(body).collect()
}

/// What hangs on a skin, in the space where it was bound, and the rows of its weights.
fn skinned(document: &Document, skin: usize) -> (Mesh, Vec<Vec<(u16, f64)>>) {
    let (mut mesh, mut rows) = (Mesh::default(), Vec::new());
    let joint_count = document.skins[skin].joints.len();
    for surface in document.surfaces().filter(|s| s.skin == Some(skin)) {
        let primitive = &document.meshes[surface.mesh].primitives[surface.primitive];
        let Some(influences) = &primitive.influences else {
            continue;
        };
        let (weights, _) = SkinWeights::from_influences(influences, joint_count).unwrap();
        rows.extend((0..weights.vertex_count()).map(|v| weights.row(v).collect::<Vec<_>>()));
        let first = mesh.vertex_count() as u32;
        mesh.rest.positions.extend(&primitive.mesh.rest.positions);
        mesh.rest.normals.extend(&primitive.mesh.rest.normals);
        let moved = primitive
            .mesh
            .triangles
            .iter()
            .map(|t| t.map(|v| v + first));
        mesh.triangles.extend(moved);
    }
    (mesh, rows)
}

/// Characters whose artists painted what these methods aim for, body and limbs that bend.
const CHARACTERS: [&str; 4] = [
    "gltf/mpfb_human_mixamo_names.glb",
    "gltf/kaykit_knight.glb",
    "gltf/Fox.glb",
    "gltf/cesium_man.gltf",
];

#[test]
fn published_characters_are_bound_much_as_their_artists_did() {
    for name in CHARACTERS {
        let Some(file) = data(name) else { continue };
        let bodies = bodies(&file);
        assert!(!bodies.is_empty(), "{name}");
        for body in bodies {
            // Rows that share half their weight differ by 1.
            check(&body.without_guides(), [1.0; 6]);
        }
    }
}

/// All glTF files in a directory and those below it, in order.
fn gltf_files(directory: &Path, out: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            gltf_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "gltf" || e == "glb") {
            out.push(path);
        }
    }
}

/// Robots of loose parts, hands, hats, rigs for tests, in centimetres and in metres, wrong files that load with a finding.
#[test]
fn whatever_else_has_a_skin_is_bound_by_every_method() {
    let Some(manifest) = data("MANIFEST.tsv") else {
        return;
    };
    let mut files = Vec::new();
    gltf_files(manifest.parent().unwrap(), &mut files);
    let others = files
        .iter()
        .filter(|file| CHARACTERS.iter().all(|name| !file.ends_with(name)));
    let mut body_count = 0;
    for file in others {
        if asset::load(file).is_err() {
            continue;
        }
        for body in bodies(file) {
            // Any two rows differ by 2 at most.
            check(&body, [2.0 + 1e-9; 6]);
            body_count += 1;
        }
    }
    println!("{body_count} bodies");
    assert!(body_count > 20, "{body_count}");
}

/// A gzip file as text.
fn unpacked(file: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(file).unwrap();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap();
    text
}

/// The OBJ without the faces of all groups but `body`, and the middle of each other group.
fn body_and_cubes<'a>(text: &'a str, points: &[Vec3]) -> (String, BTreeMap<&'a str, Vec3>) {
    let mut corners: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let (mut body, mut group) = (String::new(), "");
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("g ") {
            group = name.trim();
        } else if let Some(face) = line.strip_prefix("f ").filter(|_| group != "body") {
            let of = face
                .split_whitespace()
                .map(|c| c.split('/').next().unwrap());
            let of = of.map(|index| index.parse::<usize>().unwrap() - 1);
            corners.entry(group).or_default().extend(of);
            continue;
        }
        body += line;
        body += "\n";
    }
    let middles = corners.into_iter().map(|(group, mut corners)| {
        corners.sort_unstable();
        corners.dedup();
        let sum: Vec3 = corners.iter().map(|v| points[*v]).sum();
        (group, sum / corners.len() as f32)
    });
    (body, middles.collect())
}

/// The body of the MakeHuman base among the bones of a rig, and the names of these.
struct MakeHuman {
    obj: obj::ObjMesh,
    bones: Bones,
    names: Vec<String>,
}

fn make_human(base: &Path, rig: &Path) -> MakeHuman {
    let text = unpacked(base);
    let points = text.lines().filter(|line| line.starts_with("v "));
    let point = |line: &str| -> Vec3 {
        let words = line.split_whitespace().skip(1);
        Vec3::from_iterator(words.map(|word| word.parse().unwrap()))
    };
    let points: Vec<Vec3> = points.map(point).collect();
    let (body, cubes) = body_and_cubes(&text, &points);
    let rig: Value = serde_json::from_slice(&std::fs::read(rig).unwrap()).unwrap();
    let rig = rig["bones"].as_object().or(rig.as_object()).unwrap();
    let end = |end: &Value| match end["cube_name"].as_str() {
        Some(cube) => cubes[cube],
        None => {
            let indices = end["vertex_indices"].as_array().unwrap();
            let all = indices.iter().map(|v| points[v.as_u64().unwrap() as usize]);
            all.sum::<Vec3>() / indices.len() as f32
        }
    };
    let bones = rig.values().enumerate().map(|(joint, bone)| Bone {
        head: end(&bone["head"]),
        tail: end(&bone["tail"]),
        joint: joint as u16,
    });
    MakeHuman {
        obj: obj::read_mesh(body.as_bytes()).unwrap(),
        bones: Bones::new(bones.collect(), rig.len()).unwrap(),
        names: rig.keys().cloned().collect(),
    }
}

#[test]
fn a_published_body_of_quads_is_bound_to_its_rigs() {
    let files = ["base.obj.gz", "rig.cmu_mb.json", "rig.game_engine.json"];
    let [Some(base), rigs @ ..] = files.map(|name| data(&format!("mesh/mpfb/{name}"))) else {
        return;
    };
    for rig in rigs.into_iter().flatten() {
        let MakeHuman { obj, bones, .. } = make_human(&base, &rig);
        let body = Body {
            name: rig.file_stem().unwrap().to_string_lossy().into_owned(),
            counts: vec![true; obj.mesh.vertex_count()],
            mesh: obj.mesh,
            bones,
            authored: None,
        };
        check(&body, [0.0; 6]);
    }
}

#[test]
fn a_published_body_of_quads_is_bound_to_the_rig_that_was_painted_for_it() {
    let files = ["base.obj.gz", "rig.mixamo.json", "weights.mixamo.json.gz"];
    let [Some(base), Some(rig), Some(painted)] =
        files.map(|name| data(&format!("mesh/mpfb/{name}")))
    else {
        return;
    };
    let MakeHuman { obj, bones, names } = make_human(&base, &rig);
    let painted: Value = serde_json::from_str(&unpacked(&painted)).unwrap();
    let position_count = 1 + *obj.position_from_vertex.last().unwrap() as usize;
    let mut rows = vec![Vec::new(); position_count];
    for (joint, name) in names.iter().enumerate() {
        for entry in painted["weights"][name].as_array().into_iter().flatten() {
            let vertex = entry[0].as_u64().unwrap() as usize;
            rows[vertex].push((joint as u16, entry[1].as_f64().unwrap()));
        }
    }
    let row = |position: &u32| {
        let row = &rows[*position as usize];
        if row.iter().any(|(_, weight)| *weight > 0.0) {
            row.clone()
        } else {
            vec![(0, 1.0)]
        }
    };
    let authored = SkinWeights::from_rows(names.len(), obj.position_from_vertex.iter().map(row));
    let mut counts = vec![false; obj.mesh.vertex_count()];
    for vertex in obj.mesh.triangles.iter().flatten() {
        let position = obj.position_from_vertex[*vertex as usize] as usize;
        counts[*vertex as usize] = !rows[position].is_empty();
    }
    check(
        &Body {
            name: "MakeHuman base".into(),
            mesh: obj.mesh,
            bones,
            authored: Some(authored.unwrap()),
            counts,
        },
        [1.0; 6],
    );
}

/// The numbers of each line after the first, without their index.
fn table<T: std::str::FromStr>(text: &str) -> Vec<Vec<T>> {
    let says = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let lines = text.lines().skip(1).filter(says);
    let row = |line: &str| {
        let words = line.split_whitespace().skip(1);
        words.map_while(|word| word.parse().ok()).collect()
    };
    lines.map(row).collect()
}

#[test]
fn the_skin_of_a_body_of_tetrahedra_is_bound_to_bones_from_its_middle_to_its_limbs() {
    let files = ["armadillo_4k.node", "armadillo_4k.ele"].map(|name| data(&format!("mesh/{name}")));
    let [Some(nodes), Some(tets)] = files else {
        return;
    };
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    let positions: Vec<Vec3> = table::<f32>(&read(nodes))
        .iter()
        .map(|row| Vec3::new(row[0], row[1], row[2]))
        .collect();
    // A face that only one tetrahedron has is skin.
    let mut faces: BTreeMap<[u32; 3], ([u32; 3], usize)> = BTreeMap::new();
    for tet in table::<u32>(&read(tets)) {
        for face in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] {
            let face = face.map(|corner: usize| tet[corner]);
            let mut key = face;
            key.sort_unstable();
            faces.entry(key).or_insert((face, 0)).1 += 1;
        }
    }
    let skin = faces.into_values().filter(|(_, count)| *count == 1);
    let triangles: Vec<[u32; 3]> = skin.map(|(face, _)| face).collect();
    let mut smooth = vec![Vec3::zeros(); positions.len()];
    normals::smooth(&positions, &triangles, &mut smooth);

    // Bones from the middle to the six places farthest from it and from each other.
    let middle = positions.iter().sum::<Vec3>() / positions.len() as f32;
    let mut ends = vec![middle];
    while ends.len() < 7 {
        let apart = |p: &&Vec3| {
            ends.iter()
                .map(|e| (*p - e).norm())
                .fold(f32::MAX, f32::min)
        };
        let farthest = positions
            .iter()
            .max_by(|a, b| apart(a).total_cmp(&apart(b)));
        ends.push(*farthest.unwrap());
    }
    let bones = ends[1..].iter().enumerate().map(|(joint, end)| Bone {
        head: middle,
        tail: middle + (end - middle) * 0.8,
        joint: joint as u16,
    });
    let body = Body {
        name: "armadillo".into(),
        counts: vec![true; positions.len()],
        mesh: Mesh {
            rest: Vertices {
                positions,
                normals: smooth,
            },
            triangles,
            ..Mesh::default()
        },
        bones: Bones::new(bones.collect(), 6).unwrap(),
        authored: None,
    };
    check(&body, [2.0; 6]);
}
