//! What users of other engines reported, and where it is shown that it does not happen here.
//!
//! Left the reports, then what must hold, then the test: a file of tests, and its name there; those without a file are in
//! the modules of this test. The last part are files that reproduce a defect each, with what is right.
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

#[path = "../../../anim-asset/tests/common/build.rs"]
mod build;
#[path = "../common/mod.rs"]
mod common;
mod files;
mod frames;
mod support;
