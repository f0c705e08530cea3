//! Reports about what files say: keys, rests, skins, weights and names.

use std::sync::Arc;

use crate::build::{Build, errors};
use anim_engine::asset::Document;
use anim_engine::curves::{CurveError, Interpolation, Key, Track, reduce};
use anim_engine::math::nalgebra::{Matrix4, Vector3};
use anim_engine::math::{Quat, Vec3, quat};
use anim_engine::skeleton::{
    BakeOptions, Binding, Channel, ClipSpec, JointTrack, RootMotionOptions,
};
use anim_engine::{Character, asset};
use serde_json::json;

use crate::support::*;

// three.js#22339, three.js#15950, three-gltf-viewer#261
#[test]
fn a_cubic_rotation_is_unit_at_every_time() {
    let (zero, s) = ([0.0; 4], HALF_TURN);
    let values = [zero, [0., 0., 0., 1.], zero, zero, [0., s, 0., s], zero];
    let build = animated(
        "rotation",
        "CUBICSPLINE",
        &[0., 1.],
        "VEC4",
        values.as_flattened(),
    );
    let character = character(&build.read().unwrap());
    let joint = character.skeleton().joint(0);
    let mut before = 0.0;
    for step in 0..=100 {
        at(&character, f64::from(step) * 0.01, |actor| {
            let rotation = actor.pose().rotation(joint);
            assert!((rotation.coords.norm() - 1.0).abs() < 1e-6);
            let angle = quat::angle_between(Quat::identity(), rotation);
            assert!(angle > before - 1e-4, "turns back at {step}");
            before = angle;
        });
    }
    // Sixteen bits a component.
    assert!((before - std::f32::consts::FRAC_PI_2).abs() < 1e-4);
}

// glTF-Blender-Exporter#90, glTF-Blender-IO#361
#[test]
fn a_ramp_with_its_slope_is_a_line_at_any_spacing_of_keys() {
    for span in [0.5, 2.0, 5.0] {
        let slope = [4., 0., 0.];
        let (start, end) = ([0.; 3], [4. * span, 0., 0.]);
        let values = [slope, start, slope, slope, end, slope];
        let build = animated(
            "translation",
            "CUBICSPLINE",
            &[0., span],
            "VEC3",
            values.as_flattened(),
        );
        let character = character(&build.read().unwrap());
        let joint = character.skeleton().joint(0);
        for step in 0..=20 {
            let time = span * f64::from(step) / 20.0;
            at(&character, time, |actor| {
                let x = actor.pose().translation(joint).x;
                // A few roundings of numbers up to 20.
                assert!((x - 4.0 * time as f32).abs() < 8.0 * 20.0 * f32::EPSILON);
            });
        }
    }
}

// glTF#1395, fastgltf#108, ultraviolet#152, flutter_scene#275
#[test]
fn keys_of_either_sign_play_the_short_way() {
    let turns = |times: &[f64], keys: &[[f64; 4]]| {
        let build = animated("rotation", "LINEAR", times, "VEC4", keys.as_flattened());
        character(&build.read().unwrap())
    };
    // 21 degrees about y, with the other sign.
    let half = 10.5_f64.to_radians();
    let far_side = [0., -half.sin(), 0., -half.cos()];
    let short = turns(&[0., 1.], &[[0., 0., 0., 1.], far_side]);
    at(&short, 0.5, |actor| {
        let rotation = actor.pose().rotation(actor.character().skeleton().joint(0));
        let angle = quat::angle_between(Quat::identity(), rotation);
        assert!((angle - 10.5_f32.to_radians()).abs() < 1e-4);
    });
    // A full turn in quarters, with the signs that the published spinning triangle has.
    let s = HALF_TURN;
    let keys = [
        [0., 0., 0., 1.],
        [0., 0., s, s],
        [0., 0., 1., 0.],
        [0., 0., s, -s],
        [0., 0., 0., 1.],
    ];
    let full = turns(&[0., 0.25, 0.5, 0.75, 1.], &keys);
    let mut before = Quat::identity();
    for step in 1..=100 {
        at(&full, f64::from(step) * 0.01, |actor| {
            let rotation = actor.pose().rotation(actor.character().skeleton().joint(0));
            let way = quat::log(before.inverse() * rotation);
            let angle = way.z
                + if way.z < -1.0 {
                    std::f32::consts::TAU
                } else {
                    0.0
                };
            // Two samples that may be off by half a millimetre each at ten centimetres.
            assert!(
                (angle - 0.02 * std::f32::consts::PI).abs() < 0.01,
                "at {step}: {angle}"
            );
            before = rotation;
        });
    }
}

// glTF-Sample-Assets#170, o3de#2154, glTF#704
#[test]
fn times_out_of_order_are_refused_by_tracks_and_sorted_from_files() {
    let keys = [1.25, 2.5, 0.0, 1.25].map(|time| Key::new(time, time));
    assert!(matches!(
        Track::new(keys.to_vec(), Interpolation::Linear),
        Err(CurveError::Unsorted { key: 2, .. })
    ));
    let values = [[5., 0., 0.], [10., 0., 0.], [0.; 3], [5., 0., 0.]];
    let build = animated(
        "translation",
        "LINEAR",
        &[1.25, 2.5, 0., 1.25],
        "VEC3",
        values.as_flattened(),
    );
    let document = build.read().unwrap();
    assert!(!errors(&document).is_empty());
    let character = character(&document);
    for step in 0..=10 {
        at(&character, f64::from(step) * 0.25, |actor| {
            let x = actor
                .pose()
                .translation(actor.character().skeleton().joint(0))
                .x;
            assert!((x - step as f32).abs() < 1e-5);
        });
    }
}

// Playing backwards must not jump where the sum of steps is a hair below zero: three.js#19151
#[test]
fn a_hair_before_the_seam_is_no_loop_away() {
    let build = animated(
        "translation",
        "LINEAR",
        &[0., 1.],
        "VEC3",
        &[0., 0., 0., 0., 0., 2.],
    );
    let document = build.read().unwrap();
    let bake = BakeOptions::default();
    let character = Character::from_document(&document, &bake).unwrap();
    let root = character.skeleton().joint(0);
    let options = RootMotionOptions::new(root);
    let character = character.with_root_motion(&document.clips, &options, &bake);
    let character = Arc::new(character.unwrap());
    let travelled = |time: f32| {
        let mut engine = engine();
        let id = engine.spawn(character.clone());
        engine.actor_mut(id).unwrap().play_clip(0);
        engine.step(time);
        engine
            .actor(id)
            .unwrap()
            .world_from_joint(root)
            .translation
            .z
    };
    let cases = [
        (0.0, 0.0),
        (-1e-30, 0.0),
        (0.25, 0.5),
        (-0.25, -0.5),
        (3.0, 6.0),
        (-3.0, -6.0),
    ];
    for (time, z) in cases {
        assert!(
            (travelled(time) - z).abs() < 1e-5,
            "{time}: {}",
            travelled(time)
        );
    }
    for time in [f32::NAN, f32::INFINITY, 1e30, -1e30] {
        assert!(travelled(time).is_finite(), "{time}");
    }
}

// ozz-animation#191, ozz-animation#178, ozz-animation#67, godot-proposals#10317
#[test]
fn what_has_no_track_keeps_its_rest_to_the_bit() {
    let mut build = animated(
        "translation",
        "LINEAR",
        &[0., 1.],
        "VEC3",
        &[0., 0., 0., 1., 0., 0.],
    );
    build.root["nodes"][0] =
        json!({"scale": [-1.43, 1, 1], "rotation": [0.6, 0, 0, 0.8], "translation": [9, 9, 9]});
    let document = build.read().unwrap();
    let rest = document.nodes[0].rest;
    let character = character(&document);
    let joint = character.skeleton().joint(0);
    for weight in [1.0, 0.5] {
        still(&character, vec![clip_layer(0, 0.5, weight)], |actor| {
            let pose = actor.pose();
            assert_eq!(pose.scale(joint), rest.scale);
            assert!(quat::angle_between(pose.rotation(joint), rest.rotation) < 1e-6);
            assert!(weight < 1.0 || pose.rotation(joint) == rest.rotation);
        });
    }
}

// ozz-animation#124, o3de#2687, glTF#1454, glTF-Blender-IO#566, playcanvas#9367
#[test]
fn skins_that_share_a_joint_bind_it_each_in_its_own_way() {
    // Nodes 0 to 3 are joints below node 4, which is none; nodes 5 and 6 carry the mesh, bound by joint 3 alone.
    let nodes = json!([
        {"children": [1]}, {"children": [2]}, {"children": [3]}, {"translation": [0, 0, 1]},
        {"children": [0], "translation": [10, 0, 0]},
        {"mesh": 0, "skin": 0}, {"mesh": 0, "skin": 1}
    ]);
    let skins = json!([
        {"joints": [0, 3], "inverseBindMatrices": 3},
        {"joints": [3, 1, 2], "inverseBindMatrices": 4}
    ]);
    let mut build = skinned(nodes, skins, [1., 0., 0., 0.], [1., 0., 0., 0.]);
    let moved = |y: f64| {
        let mut matrix = [0.0; 16];
        [0, 5, 10, 15].iter().for_each(|at| matrix[*at] = 1.0);
        matrix[13] = y;
        matrix
    };
    build.accessor("MAT4", FLOAT, [moved(7.0), moved(1.0)].as_flattened());
    // The second skin lists joint 3 first: its vertices, which name place 1, follow joint 1.
    build.accessor(
        "MAT4",
        FLOAT,
        [moved(2.0), moved(3.0), moved(4.0)].as_flattened(),
    );
    let document = build.read().unwrap();
    assert_eq!(errors(&document), [""; 0]);
    still(&character(&document), Vec::new(), |actor| {
        assert_eq!(positions(actor, 0)[0], Vec3::new(10.0, 1.0, 1.0));
        assert_eq!(positions(actor, 1)[0], Vec3::new(10.0, 3.0, 0.0));
    });
}

// assimp#3465, glTF-Blender-IO#251, UniVRM#127, bevy#18419, tinygltf#492
#[test]
fn absent_bind_matrices_are_identities_and_missing_ones_are_named() {
    let nodes = json!([
        {"translation": [0, 3, 0], "children": [1]}, {"translation": [5, -3, 0]},
        {"mesh": 0, "skin": 0}
    ]);
    let joints = [1., 0., 0., 0.];
    let absent = skinned(nodes.clone(), json!([{"joints": [0, 1]}]), joints, joints);
    let document = absent.read().unwrap();
    assert_eq!(errors(&document), [""; 0]);
    still(&character(&document), Vec::new(), |actor| {
        assert_eq!(positions(actor, 0)[0], Vec3::new(5.0, 0.0, 0.0));
    });
    let skins = json!([{"joints": [0, 1], "inverseBindMatrices": 3}]);
    let mut short = skinned(nodes, skins, joints, joints);
    let mut matrix = [0.0; 16];
    [0, 5, 10, 15].iter().for_each(|at| matrix[*at] = 1.0);
    short.accessor("MAT4", FLOAT, &matrix);
    let document = short.read().unwrap();
    let place = "/skins/0/inverseBindMatrices";
    assert_eq!(
        errors(&document),
        [format!("INVALID_IBM_ACCESSOR_COUNT@{place}")]
    );
    still(&character(&document), Vec::new(), |actor| {
        assert_eq!(positions(actor, 0)[0], Vec3::new(5.0, 0.0, 0.0));
    });
}

// flutter_scene#414, glTF#1213, glTF#1749, three.js#15319
#[test]
fn weights_that_sum_to_less_hold_ten_kilometres_away() {
    let nodes = json!([
        {"children": [1, 2], "translation": [1e4, 0, -1e4]}, {}, {}, {"mesh": 0, "skin": 0}
    ]);
    // The sum is 0.98, and one joint is named twice.
    let skins = json!([{"joints": [0, 1, 2]}]);
    let build = skinned(nodes, skins, [1., 2., 2., 0.], [0.5, 0.3, 0.18, 0.]);
    let document = build.read().unwrap();
    assert!(!document.findings.is_empty());
    still(&character(&document), Vec::new(), |actor| {
        let error = positions(actor, 0)[0] - Vec3::new(1e4, 0.0, -1e4);
        assert!(error.norm() < 1e-2, "{error}");
    });
}

// filament#3969, godot#49010, ozz-animation#61
#[test]
fn a_turn_below_an_uneven_scale_shears() {
    let s = 22.5_f64.to_radians();
    let build = Build::new(json!({"nodes": [
        {"scale": [2, 1, 1], "children": [1]},
        {"rotation": [0, 0, s.sin(), s.cos()], "translation": [1, 0, 0]}
    ]}));
    let character = character(&build.read().unwrap());
    still(&character, Vec::new(), |actor| {
        let joint = actor.character().skeleton().joint(1);
        let found = actor.world_from_joint(joint).to_mat4().cast::<f64>();
        let turned = Matrix4::new_rotation(Vector3::z() * (2.0 * s));
        let expected = Matrix4::new_nonuniform_scaling(&Vector3::new(2.0, 1.0, 1.0))
            * Matrix4::new_translation(&Vector3::x())
            * turned;
        assert!((found - expected).amax() < 4.0 * f64::from(f32::EPSILON));
        let columns = (found.column(0).dot(&found.column(1))).abs();
        assert!(
            columns > 1.0,
            "a shear has axes that are not at right angles"
        );
    });
}

// bevy#9898, filament#2720, glTF#1344
#[test]
fn morph_keys_are_velocities_in_then_weights_then_velocities_out() {
    let values = [
        [9., 9., 9.],
        [0., 1., 2.],
        [1., 0., -1.],
        [1., 0., 3.],
        [4., 5., 6.],
        [9., 9., 9.],
    ];
    let build = morphing("CUBICSPLINE", &[0., 1.], values.as_flattened());
    let character = character(&build.read().unwrap());
    // At the middle: (v₀ + v₁)/2 + (b₀ − a₁)/8.
    for (time, weights) in [
        (0.0, [0.0, 1.0, 2.0]),
        (0.5, [2.0, 3.0, 3.5]),
        (1.0, [4.0, 5.0, 6.0]),
    ] {
        at(&character, time, |actor| {
            assert_eq!(actor.weights(), weights);
            assert_eq!(positions(actor, 0)[0], Vec3::from(weights));
        });
    }
    for (interpolation, middle) in [("LINEAR", [2.0, 3.0, 4.0]), ("STEP", [0.0, 1.0, 2.0])] {
        let build = morphing(interpolation, &[0., 1.], &[0., 1., 2., 4., 5., 6.]);
        at(&self::character(&build.read().unwrap()), 0.5, |actor| {
            assert_eq!(actor.weights(), middle);
        });
    }
}

// ozz-animation#156, ozz-animation#176
#[test]
fn names_may_repeat_and_tracks_be_missing() {
    let node = |parent: usize| asset::Node {
        name: Some("joint".to_owned()),
        parent: (parent > 0).then(|| parent - 1),
        ..asset::Node::default()
    };
    let lift = |joint: usize| {
        let keys = vec![Key::new(0.0, Vec3::y() * joint as f32)];
        let track = Track::new(keys, Interpolation::Linear).unwrap();
        Channel {
            joint,
            track: JointTrack::Translation(track),
        }
    };
    let document = Document {
        nodes: (0..20).map(node).collect(),
        clips: vec![ClipSpec {
            channels: (1..19).map(lift).collect(),
            ..ClipSpec::default()
        }],
        ..Document::default()
    };
    let character = character(&document);
    at(&character, 0.0, |actor| {
        for joint in 0..20 {
            let height = actor
                .pose()
                .translation(character.skeleton().joint(joint))
                .y;
            assert_eq!(height, if joint == 19 { 0.0 } else { joint as f32 });
        }
    });
    let skeleton = character.skeleton();
    let (_, report) = Binding::new(skeleton, skeleton).apply(&document.clips[0]);
    assert_eq!(report.extra, [0, 19].map(|joint| skeleton.joint(joint)));
}

// three.js#17180, three.js#10276
#[test]
fn reduced_keys_of_shared_data_touch_neither_source_nor_neighbour() {
    // Two nodes whose samplers share both accessors: a straight way in five keys, and a last one that turns off.
    let values = [0., 1., 2., 3., 9.].map(|x| [x, 0., 0.]);
    let mut build = animated(
        "translation",
        "LINEAR",
        &[0., 1., 2., 3., 4.],
        "VEC3",
        values.as_flattened(),
    );
    build.root["nodes"] = json!([{}, {}]);
    let channel = json!({"sampler": 0, "target": {"node": 1, "path": "translation"}});
    build.root["animations"][0]["channels"]
        .as_array_mut()
        .unwrap()
        .push(channel);
    let document = build.read().unwrap();
    let before = document.clips[0].clone();
    let JointTrack::Translation(track) = &document.clips[0].channels[0].track else {
        panic!("{before:?}");
    };
    let reduced = reduce::reduce(track, 1e-6).unwrap();
    assert_eq!(reduced.times(), [0.0, 3.0, 4.0]);
    assert!(
        track
            .times()
            .iter()
            .all(|time| reduced.sample(*time) == track.sample(*time))
    );
    assert_eq!(document.clips[0], before);
}
