//! What users of other engines reported, and where it is shown that it does not happen here.
//!
//! Left the reports, then what must hold, then the test: a file of tests, and its name there; those without a file are
//! below. The last part are files that reproduce a defect each, with what is right.
//!
//! | reports | what must hold | test |
//! |---|---|---|
//! | three.js#22339, three.js#15950, three-gltf-viewer#261 | cubic rotations are unit | `a_cubic_rotation_is_unit_at_every_time`; anim-curves interpolate `cubic_rotation_is_normalised` |
//! | glTF-Blender-Exporter#90, glTF-Blender-IO#361 | tangents are velocities, scaled by the span | `a_ramp_with_its_slope_is_a_line_at_any_spacing_of_keys`; anim-curves track `cubic_velocities_are_per_second` |
//! | glTF#1395, fastgltf#108, ultraviolet#152, flutter_scene#275 | linear keys turn the short way, cubic ones are never negated | `keys_of_either_sign_play_the_short_way`; anim-curves track `rotations_take_the_short_arc_without_turning_back`, interpolate `cubic_rotation_never_flips_a_sign`; anim-skeleton clip `a_short_turn_is_never_taken_the_long_way` |
//! | glTF-Sample-Assets#170, o3de#2154, glTF#704 | times out of order are refused, from files sorted | `times_out_of_order_are_refused_by_tracks_and_sorted_from_files`; anim-curves track `repaired_keys_are_sorted_and_jump_where_times_coincide` |
//! | ozz-animation#106, raylib#3804, Babylon.js#3931 | one key is a constant clip | anim-skeleton reports `a_clip_of_one_key_is_that_key_at_all_times` |
//! | bevy#24996, gz-common#740, libgdx#2171 | a loop without length neither hangs nor makes NaN | anim-skeleton reports `a_loop_without_length_neither_hangs_nor_makes_nan` |
//! | bevy#10480, three.js#8446, Babylon.js#296 | a clip played once ends at its end, and its last event is met once | anim-skeleton reports `a_clip_played_once_holds_its_last_frame_and_meets_its_last_event`; pipeline `a_clip_that_does_not_repeat_holds_its_last_pose` |
//! | three.js#19151, three.js#33035, three.js#8931, playcanvas#3808 | backwards and there and back are as exact, and meet every event | anim-skeleton reports `playing_backwards_wraps_as_far_as_it_must_and_meets_every_event`, `ping_pong_never_jumps_whichever_way_it_starts`; `a_hair_before_the_seam_is_no_loop_away` |
//! | ozz-animation#119, godot-proposals#9215, godot#81021, Babylon.js#12955 | a blend does not depend on the order of layers and does not snap | anim-skeleton reports `a_blend_depends_not_on_the_order_of_layers_and_changes_sides_once_a_turn`; `faces_mix_by_the_shares_of_the_poses_in_any_order` |
//! | ozz-animation#152, ozz-animation#139, bevy#13832, bevy#15689, o3de#19965 | additive is base · δ, nothing at weight 0, and scales multiply | anim-skeleton reports `additive_is_base_times_delta_in_the_joint_and_delta_times_base_in_the_model`, blend `additive_layers_take_the_short_way_and_multiply_scales`, `a_difference_added_to_its_reference_gives_the_pose` |
//! | ozz-animation#191, ozz-animation#178, ozz-animation#67, godot-proposals#10317 | what has no track rests | `what_has_no_track_keeps_its_rest_to_the_bit`; anim-skeleton clip `a_joint_without_keys_keeps_its_rest_pose_to_the_bit` |
//! | ozz-animation#124, o3de#2687, glTF#1454, glTF-Blender-IO#566, playcanvas#9367 | skins bind joints in their own way | `skins_that_share_a_joint_bind_it_each_in_its_own_way`; anim-skin linear `two_skins_bind_the_same_joint_differently` |
//! | assimp#3465, glTF-Blender-IO#251, UniVRM#127, bevy#18419, tinygltf#492 | absent bind matrices are identities, too few are an error | `absent_bind_matrices_are_identities_and_missing_ones_are_named`; anim-skin binding `a_rest_pose_without_binds_lands_on_the_joints`, `wrong_data_are_errors_that_name_the_place` |
//! | glTF#1213, glTF#1749, glTF#2493, three.js#15319, three.js#15303, flutter_scene#414, Vulkan-glTF-PBR#38 | weights sum to 1 whatever the file says | `weights_that_sum_to_less_hold_ten_kilometres_away`; anim-skin binding `every_bad_row_is_repaired_and_reported_by_vertex_and_kind` |
//! | filament#3969, godot#49010, ozz-animation#61 | a turn below an uneven scale shears | `a_turn_below_an_uneven_scale_shears`; anim-skeleton globals `globals_agree_with_products_of_f64_matrices` |
//! | ozz-animation#187, ozz-animation#172 | limbs do not snap, and half a weight is half the way | anim-ik two_bone_properties `a_target_sweeping_the_sphere_turns_the_limb_steadily`, `half_weight_is_half_the_angle_by_the_short_way`; look_at `half_weight_is_half_the_turn_by_the_short_way` |
//! | ozz-animation#77 | a seek costs what playing costs, and gives the same bits | anim-skeleton reports `a_seek_gives_the_bits_that_playing_there_gives` |
//! | Babylon.js#10694, godot#959, acl#395 | the end of a loop is its start, of a clip played once its end | anim-skeleton reports `the_seam_of_a_loop_is_its_start_and_root_motion_goes_on_over_it` |
//! | bevy#9898, filament#2720, glTF#1344 | morph weights are k to a key, with their tangents | `morph_keys_are_velocities_in_then_weights_then_velocities_out`; anim-curves wide `cubic_keys_are_velocities_in_then_values_then_velocities_out` |
//! | ozz-animation#156, ozz-animation#176 | names may repeat, and clips may lack tracks | `names_may_repeat_and_tracks_be_missing`; anim-skeleton binding `twenty_joints_play_a_clip_of_eighteen_tracks` |
//! | three.js#17180, three.js#10276 | fewer keys leave the source alone, keep both ends, and stay within the tolerance | `reduced_keys_of_shared_data_touch_neither_source_nor_neighbour`; anim-curves reduce `every_source_key_is_met_within_the_tolerance`, `a_line_keeps_its_ends` |
//! | godot#97836, Babylon.js#18908, godot#60774 | motion and faces mix as poses do, and a seek moves nothing | anim-skeleton reports `too_much_weight_is_half_of_each_for_pose_and_motion`, `a_seek_does_not_carry_the_character_away`; `faces_mix_by_the_shares_of_the_poses_in_any_order` |
//! | cubic rotations, tangents, 16-bit rotations | as the specification says | anim-asset bugs `cubic_rotations_are_normalised`, `cubic_tangents_are_velocities`, `normalised_integers_are_fractions` |
//! | no bind matrices, a skinned node that moves | as the specification says | anim-asset bugs `absent_bind_matrices_are_identities`, `the_node_of_a_skinned_mesh_does_not_move_it` |
//! | bad weights, 300 joints | each bad vertex is named; no index is cut short | anim-asset bugs `bad_weights_are_named_by_vertex`, `joints_past_255_keep_their_index` |
//! | targets of different numbers, without normals | each node has its own weights; normals stay unit | anim-asset bugs `every_node_has_its_own_morph_weights`, `targets_without_normals_leave_normals_alone` |
//! | joints without keys, keys of both signs | rest, and the short way | anim-asset bugs `what_is_not_animated_rests`, `keys_of_either_sign_turn_the_short_way` |
//! | a mirrored bone in a blend | stays mirrored | anim-skeleton blend `a_mirrored_joint_stays_mirrored_in_a_blend` |
//! | the side of additive rotations | made and applied on one side | anim-skeleton reports `additive_is_base_times_delta_in_the_joint_and_delta_times_base_in_the_model` |
//! | what a crossfade leaves behind, steps that are no numbers | nothing | `frames_of_no_length_in_numbers_leave_no_trace`; anim-skeleton reports `steps_that_are_not_numbers_leave_no_trace`, `a_crossfade_of_a_clip_with_itself_is_the_clip` |
//! | stages that lag a frame | every stage sees the same frame | pipeline `every_stage_sees_what_the_stages_before_did_in_the_same_frame` |
//! | antipodal dual quaternions | the sign changes nothing, twists keep their radius | anim-math dual_quat `half_weights_turn_by_half_the_twist_and_keep_the_radius`, `a_general_blend_matches_its_reference`; anim-skin dual_quaternion `a_general_blend_matches_its_reference_in_any_order_of_joints`, `stretches_blend_before_the_motion` |

#![cfg(feature = "asset")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a broken test should say where"
)]

#[path = "../../anim-asset/tests/common/build.rs"]
mod build;
mod common;

use std::sync::Arc;

use anim_engine::asset::Document;
use anim_engine::curves::{CurveError, Interpolation, Key, Track, reduce};
use anim_engine::ik::LookAt;
use anim_engine::math::nalgebra::{Matrix4, Vector3};
use anim_engine::math::{Quat, Transform, Vec3, quat};
use anim_engine::skeleton::{
    BakeOptions, Binding, Channel, ClipSpec, JointTrack, MorphChannel, Playback, RootMotionOptions,
    Wrap,
};
use anim_engine::{Actor, ActorLayer, Character, Config, Engine, EngineError, Goal, asset, curves};
use build::{Build, errors};
use serde_json::{Value, json};

const BYTE: u32 = 5121;
const FLOAT: u32 = 5126;
const HALF_TURN: f64 = std::f64::consts::FRAC_1_SQRT_2;

fn engine() -> Engine {
    let config = Config {
        threads: Some(1),
        ..Config::default()
    };
    Engine::new(config).unwrap()
}

fn character(document: &Document) -> Arc<Character> {
    let options = Character::bake_options(document).unwrap();
    Arc::new(Character::from_document(document, &options).unwrap())
}

fn clip_layer(clip: usize, time: f64, weight: f32) -> ActorLayer {
    let mut playback = Playback::new(1.0, Wrap::Clamp);
    playback.seek(time);
    ActorLayer {
        weight,
        ..ActorLayer::clip(clip, playback)
    }
}

/// What one frame makes of layers that stand still.
fn still(character: &Arc<Character>, layers: Vec<ActorLayer>, check: impl FnOnce(&Actor)) {
    let mut engine = engine();
    let id = engine.spawn(character.clone());
    engine.actor_mut(id).unwrap().layers = layers;
    engine.step(0.0);
    assert_eq!(engine.quarantined().count(), 0);
    check(engine.actor(id).unwrap());
}

/// What the first clip shows at `time`.
fn at(character: &Arc<Character>, time: f64, check: impl FnOnce(&Actor)) {
    still(character, vec![clip_layer(0, time, 1.0)], check);
}

/// A file of one node whose `path` moves as accessors 0 and 1 say.
fn animated(path: &str, interpolation: &str, times: &[f64], kind: &str, values: &[f64]) -> Build {
    let mut build = Build::new(json!({
        "nodes": [{}],
        "animations": [{
            "channels": [{"sampler": 0, "target": {"node": 0, "path": path}}],
            "samplers": [{"input": 0, "output": 1, "interpolation": interpolation}]
        }]
    }));
    build.accessor("SCALAR", FLOAT, times);
    build.accessor(kind, FLOAT, values);
    build
}

/// A file of `nodes` with a mesh of one vertex-triangle at the origin, bound by `joints` and `weights`.
fn skinned(nodes: Value, skins: Value, joints: [f64; 4], weights: [f64; 4]) -> Build {
    let attributes = json!({"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2});
    let mut build = Build::new(json!({
        "nodes": nodes, "skins": skins,
        "meshes": [{"primitives": [{"attributes": attributes}]}]
    }));
    build.accessor("VEC3", FLOAT, &[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
    build.accessor("VEC4", BYTE, &joints.repeat(3));
    build.accessor("VEC4", FLOAT, &weights.repeat(3));
    build
}

/// Where the vertices of a surface are, in source order.
fn positions(actor: &Actor, surface: usize) -> Vec<Vec3> {
    let mesh = &actor.character().surfaces()[surface].mesh;
    let place = |vertex: &u32| actor.surfaces()[surface].position(*vertex as usize);
    mesh.vertex_from_source().iter().map(place).collect()
}

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

/// A file whose one mesh has three targets, which move as accessors 4 and 5 say.
fn morphing(interpolation: &str, times: &[f64], values: &[f64]) -> Build {
    let mut build = Build::new(json!({
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{
            "attributes": {"POSITION": 0},
            "targets": [{"POSITION": 1}, {"POSITION": 2}, {"POSITION": 3}]
        }]}],
        "animations": [{
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}],
            "samplers": [{"input": 4, "output": 5, "interpolation": interpolation}]
        }]
    }));
    build.accessor("VEC3", FLOAT, &[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
    for axis in [[1., 0., 0.], [0., 1., 0.], [0., 0., 1.]] {
        build.accessor("VEC3", FLOAT, &axis.repeat(3));
    }
    build.accessor("SCALAR", FLOAT, times);
    build.accessor("SCALAR", FLOAT, values);
    build
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

/// A character with a clip that smiles and one that frowns as it turns, and one that does neither.
fn moody() -> Arc<Character> {
    let build = morphing("STEP", &[0.], &[1., 0., 0.]);
    let mut document = build.read().unwrap();
    let mood = |angle: f32, weights: Option<[f32; 3]>| {
        let turn = Key::new(0.0, quat::from_axis_angle(Vec3::y(), angle));
        let track = Track::new(vec![turn], Interpolation::Step).unwrap();
        let spec = |weights: [f32; 3]| curves::WideTrackSpec {
            width: 3,
            times: vec![0.0],
            values: weights.to_vec(),
            interpolation: Interpolation::Step,
        };
        ClipSpec {
            channels: vec![Channel {
                joint: 0,
                track: JointTrack::Rotation(track),
            }],
            morphs: weights
                .map(|weights| MorphChannel {
                    joint: 0,
                    track: curves::WideTrack::new(spec(weights)).unwrap(),
                })
                .into_iter()
                .collect(),
            ..ClipSpec::default()
        }
    };
    document.clips = vec![
        mood(0.2, Some([1.0, 0.0, 0.0])),
        mood(-0.6, Some([0.0, 0.0, 1.0])),
        mood(0.4, None),
    ];
    character(&document)
}

// godot#97836, and the sums of weights of ozz-animation#119
#[test]
fn faces_mix_by_the_shares_of_the_poses_in_any_order() {
    let character = moody();
    let joint = character.skeleton().joint(0);
    let mixed = |layers: &[(usize, f32)]| {
        let layers = layers
            .iter()
            .map(|(clip, weight)| clip_layer(*clip, 0.0, *weight));
        let mut out = (Quat::identity(), [0.0; 3]);
        still(&character, layers.collect(), |actor| {
            out = (
                actor.pose().rotation(joint),
                actor.weights().try_into().unwrap(),
            );
        });
        out
    };
    let near = |a: [f32; 3], b: [f32; 3]| (Vec3::from(a) - Vec3::from(b)).amax() < 1e-6;
    // Too much weight is half of each, for pose and face; too little is filled up by the rest.
    let even = mixed(&[(0, 0.5), (1, 0.5)]);
    assert!(near(even.1, [0.5, 0.0, 0.5]));
    for weights in [[0.8, 0.8], [3.0, 3.0]] {
        let other = mixed(&[(0, weights[0]), (1, weights[1])]);
        assert!(near(even.1, other.1) && quat::angle_between(even.0, other.0) < 1e-6);
    }
    assert!(near(mixed(&[(0, 0.25), (1, 0.25)]).1, [0.25, 0.0, 0.25]));
    // A clip without a curve has the actor's own weights, as it has the rest pose of joints without one.
    assert!(near(mixed(&[(0, 0.5), (2, 0.5)]).1, [0.5, 0.0, 0.0]));
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let all = [(0, 0.7), (1, 0.5), (2, 0.2)];
    let [first, others @ ..] = orders.map(|order| mixed(&order.map(|place| all[place])));
    for other in others {
        assert!(near(first.1, other.1) && quat::angle_between(first.0, other.0) < 1e-6);
    }
    for nothing in [f32::NAN, f32::INFINITY, -1.0, 0.0] {
        assert_eq!(mixed(&[(0, 0.5), (1, nothing)]), mixed(&[(0, 0.5)]));
    }
}

#[test]
fn morph_weights_that_are_no_numbers_or_not_there_are_those_at_rest() {
    let character = moody();
    let mut engine = engine();
    let id = engine.spawn(character);
    engine.actor_mut(id).unwrap().morph_weights = vec![0.5, f32::NAN];
    engine.step(0.1);
    assert_eq!(engine.actor(id).unwrap().weights(), [0.5, 0.0, 0.0]);
    engine.actor_mut(id).unwrap().morph_weights = vec![0.25; 9];
    engine.step(0.1);
    assert_eq!(engine.actor(id).unwrap().weights(), [0.25; 3]);
}

// A bad step of time must leave nothing behind, in no stage.
#[test]
fn frames_of_no_length_in_numbers_leave_no_trace() {
    let (mut clean, mut disturbed) = (common::scene(1), common::scene(1));
    for frame in 0..20 {
        if frame % 10 == 5 {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                disturbed.engine.step(bad);
            }
        }
        clean.engine.step(1.0 / 60.0);
        disturbed.engine.step(1.0 / 60.0);
        assert_eq!(
            clean.engine.hash(),
            disturbed.engine.hash(),
            "frame {frame}"
        );
    }
    assert_eq!(disturbed.engine.quarantined().count(), 0);
}

#[test]
fn a_joint_of_another_skeleton_carries_nobody() {
    let stranger = asset::builtin::humanoid().skeleton().unwrap();
    let document = Document {
        nodes: vec![asset::Node::default()],
        clips: vec![ClipSpec::default()],
        ..Document::default()
    };
    let bake = BakeOptions::default();
    let character = Character::from_document(&document, &bake).unwrap();
    let options = RootMotionOptions::new(stranger.joints().last().unwrap());
    let refused = character.with_root_motion(&document.clips, &options, &bake);
    assert!(matches!(refused, Err(EngineError::Skeleton(_))));
}

#[test]
fn nothing_at_all_is_a_character_too() {
    let character =
        Character::from_document(&Document::default(), &BakeOptions::default()).unwrap();
    assert!(character.skeleton().is_empty());
    let mut engine = engine();
    let id = engine.spawn(Arc::new(character));
    engine.actor_mut(id).unwrap().play_clip(0);
    engine.step(0.1);
    assert!(engine.actor(id).unwrap().pose().is_empty());
}

// The up axis of a joint below a flat one may be what rounding left of it, which is nothing to roll a head by.
#[test]
fn a_head_below_a_flat_joint_looks_by_a_unit_rotation() {
    let node = |parent, at: [f32; 3], scale: [f32; 3]| asset::Node {
        parent,
        rest: Transform {
            translation: Vec3::from(at),
            scale: Vec3::from(scale),
            ..Transform::IDENTITY
        },
        ..asset::Node::default()
    };
    let document = Document {
        nodes: vec![
            node(None, [-3.8, 1.5, 0.0], [0.865, 0.0, 0.5]),
            node(Some(0), [0.1, 0.4, 0.0], [1.0; 3]),
        ],
        ..Document::default()
    };
    let character = character(&document);
    let head = character.skeleton().joint(1);
    let mut engine = engine();
    let id = engine.spawn(character);
    let up_axes = [Vec3::y(), Vec3::new(1e-20, 1.0, 0.0), Vec3::x()];
    for target in [Vec3::new(1.0, 0.0, 1.0), Vec3::new(-1.0, 9.0, -1.0)] {
        for up in up_axes {
            let look = LookAt::new(head, Vec3::z(), up, 1.0).unwrap();
            let goal = Goal::LookAt {
                look,
                target,
                weight: 1.0,
            };
            engine.actor_mut(id).unwrap().goals = vec![goal];
            engine.step(0.0);
            let norm = engine
                .actor(id)
                .unwrap()
                .pose()
                .rotation(head)
                .coords
                .norm();
            assert!((norm - 1.0).abs() < 1e-6, "{up}: {norm}");
        }
    }
}
