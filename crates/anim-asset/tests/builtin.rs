//! The built-in characters are sound, and the person walks without sliding.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anim_asset::{Document, Primitive, builtin, gltf, pack};
use anim_geom::Mesh;
use anim_math::{Affine, Quat, Vec3, quat};
use anim_skeleton::{ClipSpec, Skeleton};

static HUMANOID: LazyLock<Document> = LazyLock::new(builtin::humanoid);
static ATHLETE: LazyLock<Document> = LazyLock::new(builtin::athlete);

fn documents() -> [Document; 5] {
    [
        builtin::arm(),
        builtin::tube(1),
        builtin::tube(5),
        HUMANOID.clone(),
        ATHLETE.clone(),
    ]
}

fn primitives(document: &Document) -> impl Iterator<Item = &Primitive> {
    document.meshes.iter().flat_map(|mesh| &mesh.primitives)
}

/// model_from_joint of every node, computed here because a test must not trust what it tests.
fn globals(document: &Document, clip: &str, time: f32) -> Vec<Affine> {
    let skeleton = document.skeleton().unwrap();
    let mut pose = skeleton.rest().clone();
    clip_named(document, clip).sample(&skeleton, time, &mut pose);
    chain(&skeleton, |joint| Affine::from(pose.get(joint)))
}

fn chain(skeleton: &Skeleton, local: impl Fn(anim_skeleton::JointId) -> Affine) -> Vec<Affine> {
    let mut globals = vec![Affine::IDENTITY; skeleton.len()];
    for joint in skeleton.joints() {
        let parent = skeleton
            .parent(joint)
            .map(|parent| globals[skeleton.source(parent)]);
        globals[skeleton.source(joint)] = parent.unwrap_or_default() * local(joint);
    }
    globals
}

fn clip_named<'a>(document: &'a Document, name: &str) -> &'a ClipSpec {
    let named = |clip: &&ClipSpec| clip.name.as_deref() == Some(name);
    document.clips.iter().find(named).unwrap()
}

fn node(document: &Document, name: &str) -> usize {
    document
        .nodes
        .iter()
        .position(|node| node.name.as_deref() == Some(name))
        .unwrap()
}

#[test]
fn every_character_is_a_sound_document() {
    for document in documents() {
        assert_eq!(document.check(), Ok(()));
        assert_eq!(pack::decode(&pack::encode(&document)), Ok(document));
    }
}

#[test]
fn the_same_call_gives_the_same_bytes() {
    assert_eq!(
        gltf::write(&builtin::humanoid()),
        gltf::write(&builtin::humanoid())
    );
}

#[test]
fn weights_sum_to_one_and_name_joints_of_the_skin() {
    for document in documents() {
        let joint_count = document.skins[0].joints.len();
        for primitive in primitives(&document) {
            let influences = primitive.influences.as_ref().unwrap();
            for weights in influences.weights.chunks_exact(influences.per_vertex) {
                assert!((weights.iter().sum::<f32>() - 1.0).abs() < 4.0 * f32::EPSILON);
                assert!(weights.iter().all(|weight| *weight >= 0.0));
            }
            assert!(
                influences
                    .joints
                    .iter()
                    .all(|joint| usize::from(*joint) < joint_count)
            );
        }
    }
}

/// Every edge of a closed surface has one triangle on each side, in opposite directions.
fn is_closed(mesh: &Mesh) -> bool {
    let mut edges = BTreeMap::new();
    for [a, b, c] in &mesh.triangles {
        for edge in [(a, b), (b, c), (c, a)] {
            *edges.entry(edge).or_insert(0) += 1;
        }
    }
    edges
        .iter()
        .all(|((a, b), count)| *count == 1 && edges.contains_key(&(*b, *a)))
}

fn corners(mesh: &Mesh) -> impl Iterator<Item = [Vec3; 3]> {
    mesh.triangles
        .iter()
        .map(|t| t.map(|v| mesh.rest.positions[v as usize]))
}

#[test]
fn solids_are_closed_and_their_volume_is_positive() {
    for document in documents() {
        for primitive in document.meshes[0].primitives.iter() {
            assert!(is_closed(&primitive.mesh));
            let volume: f32 = corners(&primitive.mesh)
                .map(|[a, b, c]| a.dot(&b.cross(&c)) / 6.0)
                .sum();
            assert!(volume > 0.0);
        }
    }
}

#[test]
fn no_triangle_is_degenerate_and_normals_look_outward() {
    for document in documents() {
        for primitive in primitives(&document) {
            let mesh = &primitive.mesh;
            for (triangle, [a, b, c]) in mesh.triangles.iter().zip(corners(mesh)) {
                let area = (b - a).cross(&(c - a));
                assert!(area.norm() > 1e-7, "area {} m²", area.norm() / 2.0);
                let mean: Vec3 = triangle
                    .iter()
                    .map(|v| mesh.rest.normals[*v as usize])
                    .sum();
                assert!(mean.dot(&area) > 0.0);
            }
            for normal in &mesh.rest.normals {
                assert!((normal.norm() - 1.0).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn the_person_is_as_tall_as_promised_and_stands_on_the_ground() {
    let document = &*HUMANOID;
    let heights = document.meshes[0]
        .primitives
        .iter()
        .flat_map(|p| p.mesh.rest.positions.iter().map(|v| v.y));
    let (low, high) = heights.fold((f32::MAX, f32::MIN), |(low, high), y| {
        (low.min(y), high.max(y))
    });
    assert!((high - 1.75).abs() < 0.02, "{high}");
    assert!(low.abs() < 0.01, "{low}");
    assert_eq!(document.skins[0].joints.len(), 25);
    // The nose is what reaches furthest forward of the upper body.
    let upper = document.meshes[0]
        .primitives
        .iter()
        .flat_map(|p| &p.mesh.rest.positions)
        .filter(|p| p.y > 1.0);
    let foremost = upper.max_by(|a, b| a.z.total_cmp(&b.z)).unwrap();
    assert!(
        (foremost.y - 1.615).abs() < 0.02 && foremost.x.abs() < 0.02,
        "{foremost:?}"
    );
}

/// Walking, each foot touches the ground from phase 0 to 19/32 of its own cycle.
#[test]
fn feet_on_the_ground_do_not_slide() {
    let document = &*HUMANOID;
    let period = clip_named(document, "walk").duration();
    for (side, lag) in [("l", 0.0), ("r", 0.5)] {
        let foot = node(document, &format!("foot_{side}"));
        let toes = node(document, &format!("toes_{side}"));
        // Flat from 3/32 to 11/32: the ankle stays; then the joint of the toes, until the toes leave at 19/32.
        for (joint, from, to) in [(foot, 3.0, 11.0), (toes, 3.0, 19.0)] {
            let place = |phase: f32| {
                let time = (phase / 32.0 + lag).rem_euclid(1.0) * period;
                let place = globals(document, "walk", time)[joint].translation;
                // The clip starts anew a stride further on.
                let wrapped = (phase / 32.0 + lag).floor() * period * builtin::WALK_SPEED;
                place + Vec3::z() * wrapped
            };
            let start = place(from);
            for step in 0..=64 {
                let phase = from + (to - from) * step as f32 / 64.0;
                let slip = (place(phase) - start).norm();
                assert!(slip < 1e-3, "{side} {phase}/32: {} mm", slip * 1e3);
            }
        }
    }
}

#[test]
fn nothing_sinks_into_the_ground() {
    let document = &*HUMANOID;
    for step in 0..32 {
        let time = step as f32 / 32.0 * clip_named(document, "walk").duration();
        let globals = globals(document, "walk", time);
        let skin = &document.skins[0];
        for primitive in &document.meshes[0].primitives {
            let influences = primitive.influences.as_ref().unwrap();
            for (vertex, position) in primitive.mesh.rest.positions.iter().enumerate() {
                let lanes = vertex * 4..vertex * 4 + 4;
                let moved: Vec3 = lanes
                    .map(|lane| {
                        let joint = usize::from(influences.joints[lane]);
                        let matrix = globals[skin.joints[joint]] * skin.joint_from_bind[joint];
                        matrix.transform_point(*position) * influences.weights[lane]
                    })
                    .sum();
                assert!(moved.y > -0.002, "step {step}: {} m", moved.y);
            }
        }
    }
}

#[test]
fn a_runner_lands_without_sliding_or_sinking() {
    let document = &*ATHLETE;
    let toes = node(document, "toes_l");
    // The left foot is on the ground for 6 of 20 frames; keys fall on whole frames.
    let places: Vec<Vec3> = (0..=60)
        .map(|step| globals(document, "run", step as f32 / 90.0)[toes].translation)
        .collect();
    for (step, place) in places.iter().enumerate() {
        // The joint is 22 mm above the sole; cubic curves between keys miss the motion by less than 3 mm.
        assert!(place.y > 0.019, "step {step}: {place:?}");
        if step <= 18 {
            assert!((place - places[0]).norm() < 3e-3, "step {step}: {place:?}");
        }
    }
}

#[test]
fn a_jump_rises_as_high_as_gravity_lets_it() {
    let document = &*ATHLETE;
    let hips = node(document, "hips");
    let height = |time: f32| globals(document, "jump", time)[hips].translation.y;
    let (start, top) = (height(0.0), height(0.6));
    // g t² / 8 with 0.4 s in the air.
    assert!(
        (top - start - 9.81 * 0.16 / 8.0).abs() < 2e-3,
        "{}",
        top - start
    );
    assert!(height(0.22) < start - 0.2 && height(0.92) < start - 0.2);
}

#[test]
fn every_clip_ends_where_it_starts() {
    let document = &*ATHLETE;
    for clip in &document.clips {
        let name = clip.name.as_deref().unwrap();
        let (first, last) = (
            globals(document, name, 0.0),
            globals(document, name, clip.duration()),
        );
        let stride = last[0].translation - first[0].translation;
        let speed = match name {
            "walk" => builtin::WALK_SPEED,
            "run" => builtin::RUN_SPEED,
            _ => 0.0,
        };
        let expected = speed * clip.duration();
        assert!((stride - Vec3::z() * expected).norm() < 1e-5);
        for (first, last) in first.iter().zip(&last) {
            if first.translation.norm() + last.translation.norm() > 0.0 {
                let moved = last.translation - first.translation;
                assert!(moved.norm() < 1e-5 || (moved - stride).norm() < 1e-5);
            }
            assert!((last.linear - first.linear).norm() < 1e-5);
        }
    }
}

#[test]
fn half_a_cycle_later_the_other_side_does_the_same() {
    let document = &*HUMANOID;
    let half = clip_named(document, "walk").duration() / 2.0;
    let advance = Vec3::z() * half * builtin::WALK_SPEED;
    for step in 0..16 {
        let time = half * step as f32 / 16.0;
        let (now, later) = (
            globals(document, "walk", time),
            globals(document, "walk", time + half),
        );
        for (joint, spec) in document.nodes.iter().enumerate().take(25) {
            let name = spec.name.as_deref().unwrap();
            let other = match name.strip_suffix("_l") {
                Some(stem) => node(document, &format!("{stem}_r")),
                None if name.ends_with("_r") => continue,
                None => joint,
            };
            let mut mirrored = later[other].translation - advance;
            mirrored.x = -mirrored.x;
            let difference = (now[joint].translation - mirrored).norm();
            assert!(difference < 1e-4, "{name}: {difference} m");
        }
    }
}

#[test]
fn knees_bend_forward_and_elbows_back() {
    let document = &*ATHLETE;
    let joint = |name: &str| node(document, name);
    for (step, clip) in (0..96).map(|step| (step / 3, ["walk", "run", "jump"][step % 3])) {
        let globals = globals(document, clip, step as f32 / 30.0);
        let place = |name: &str| globals[joint(name)].translation;
        let middle = |a: &str, b: &str| (place(a) + place(b)) * 0.5;
        for side in ["l", "r"] {
            let name = |stem: &str| format!("{stem}_{side}");
            let knee = place(&name("lower_leg")) - middle(&name("upper_leg"), &name("foot"));
            let elbow = place(&name("lower_arm")) - middle(&name("upper_arm"), &name("hand"));
            assert!(
                // Arms that swing up turn the elbow over.
                knee.z > 0.0 && (elbow.z < 0.0 || clip == "jump"),
                "{clip}, step {step}: knee {knee:?}, elbow {elbow:?}"
            );
        }
    }
}

#[test]
fn the_cape_is_pinned_by_its_first_row_and_hangs_behind() {
    let document = &*HUMANOID;
    let cape = &document.meshes[1].primitives[0].mesh;
    let positions = &cape.rest.positions;
    assert_eq!(positions.len() % builtin::CAPE_COLUMNS, 0);
    let (pins, cloth) = positions.split_at(builtin::CAPE_COLUMNS);
    assert!(pins.iter().all(|pin| pin.y > 1.4));
    let lowest_pin = pins.iter().map(|pin| pin.y).fold(f32::MAX, f32::min);
    assert!(
        cloth[2 * builtin::CAPE_COLUMNS..]
            .iter()
            .all(|p| p.y < lowest_pin && p.z < -0.05)
    );
}

#[test]
fn no_capsule_touches_the_cape_at_rest() {
    let document = &*HUMANOID;
    let skeleton = document.skeleton().unwrap();
    let rest = chain(&skeleton, |joint| Affine::from(skeleton.rest().get(joint)));
    let cape = &document.meshes[1].primitives[0].mesh.rest.positions;
    for capsule in builtin::humanoid_capsules() {
        let model_from_joint = rest[node(document, &capsule.joint)];
        let [from, to] =
            [capsule.from, capsule.to].map(|p| model_from_joint.transform_point(p.into()));
        let axis = to - from;
        for point in cape {
            let t = ((point - from).dot(&axis) / axis.norm_squared()).clamp(0.0, 1.0);
            let distance = (point - from - axis * t).norm() - capsule.radius;
            assert!(
                distance > 0.0,
                "{}: {distance} m at {point:?}",
                capsule.joint
            );
        }
    }
}

#[test]
fn rest_joints_are_not_rotated() {
    let document = &*HUMANOID;
    let turned = |q: Quat| quat::angle_between(q, Quat::identity());
    assert!(
        document
            .nodes
            .iter()
            .all(|node| turned(node.rest.rotation) == 0.0)
    );
}
