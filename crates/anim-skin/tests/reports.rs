//! What users of other engines reported about skins, and the known answers of skinning: where each is shown to hold here.
//!
//! Left the reports, then what must hold, then the tests: a file of tests or a module, and names in it; those without a file
//! are below.
//!
//! | reports | what must hold | test |
//! |---|---|---|
//! | Blender "Bone Heat Weighting: failed", loose parts | each part is anchored and named | automatic_weights `report_1_a_part_without_a_bone_is_anchored_and_named` |
//! | the same, cured by applying scale | units do not matter | automatic_weights `units_do_not_matter` |
//! | the same, duplicated vertices | coincident vertices have equal weights | automatic_weights `report_3_coincident_vertices_have_identical_weights` |
//! | libigl#1726, libigl#38 | a bone between nodes holds some | biharmonic `a_bone_between_nodes_or_outside_the_mesh_still_holds_some` |
//! | libigl#243 | weights are whole after any iteration | biharmonic `any_number_of_iterations_gives_whole_weights` |
//! | libigl#2346, libigl#2306 | sums of 1 on any mesh, in bounded memory | deformers `direct_delta_mush_weights_sum_to_one_on_an_irregular_mesh`, `direct_delta_mush_takes_fifty_thousand_vertices`, `a_hinge_of_two_triangles_at_rest_stays_at_rest` |
//! | dem-bones#3, dem-bones#32 | it ends, and shells share bones | ssdr `a_mesh_that_stands_still_is_one_bone_however_many_are_asked_for`, `two_shells_that_share_bones_are_as_good_as_one` |
//! | bevy#10447, bevy#10539, bevy#22235 | sums are repaired, every set of influences counts | `twelve_influences_all_count_and_a_row_without_weight_is_told`; binding `every_bad_row_is_repaired_and_reported_by_vertex_and_kind` |
//! | godot#54916, godot#56705, three.js#26137 | the largest stay, and what went is told | `of_sixteen_unsorted_influences_the_four_largest_stay`; anim-skin weights `of_equal_weights_the_lower_joints_stay` |
//! | StereoKit#835, lslib#198, glTF-Validator#132, glTF#1749 | integer weights sum to exactly 1, far from the origin too | quantize `the_error_does_not_grow_with_the_distance_from_the_origin`; linear `rows_that_summed_to_0_98_stay_put_ten_kilometres_away` |
//! | godot#84479, godot#58570, godot#103711, godot#76892 | levels are judged as they are bound and posed | simplify `coincident_quads_on_two_bones_stay_apart`, `a_mesh_stored_a_hundred_times_too_large_gives_the_same_levels`, `poses_make_a_bent_elbow_better_than_the_rest_pose_does` |
//! | godot#89131, Radium#118, three.js#25902 | signs have no memory, scale is kept | dual_quaternion `a_chain_that_twists_by_240_degrees_turns_evenly_with_its_skeleton`, `negating_the_dual_quaternion_of_any_joints_changes_no_bit`, `one_influence_is_the_linear_blend_for_any_matrix` |
//! | filament#5584, filament#1848, filament#374, glTF#2161 | normals of targets are displacements, before the skin | morph `a_cube_becomes_a_sphere_whose_normals_are_right_before_and_after_the_skin` |
//! | bevy#21837 | boxes hold every vertex | bounds `every_skinned_vertex_is_inside`, `every_morphed_vertex_is_inside`, `every_vertex_that_dual_quaternions_move_is_inside`, `a_joint_far_away_widens_a_box_of_motions_by_no_more_than_its_weight` |
//! | makehuman#158, Mesh2Motion#84, blockbench#3334 | names of either side are paired, sides agree | mirror `names_as_tools_write_them_are_paired`, `twice_is_once_and_both_sides_agree` |
//! | QtMeshEditor#1057 | touching sheets do not mix | transfer `touching_sheets_keep_their_own_weights` |
//! | RigNet#83, MagicArticulate#18 | learned weights are validated first | transfer `learned_weights_pass_the_validator_first` |
//!
//! | known answer | test |
//! |---|---|
//! | a twist at half weights keeps cos(θ/2) linearly, all of the radius otherwise | linear `twist_by_theta_keeps_the_cosine_of_its_half_of_the_radius`; deformers `a_twist_keeps_the_radius_in_the_middle_unless_blended_linearly` |
//! | volumes of a twisted and a bent tube | deformers `twists_and_bends_keep_the_volumes_of_the_table` |
//! | one motion of all joints, none, and one after a pose, scaled too | deformers `one_motion_of_all_joints_is_that_motion`, `no_motion_changes_nothing`, `a_motion_after_a_pose_moves_the_result`, `a_scale_of_the_whole_figure_scales_the_result` |
//! | sums of 1: of solvers, of what is stored, in integers | heat `solved_weights_are_in_bounds_and_sum_to_one_before_any_clamp`; weight_rows `rows_sum_to_exactly_one_in_any_order`; quantize `thirds_of_a_hundred_give_the_first_the_rest` |
//! | units, symmetry, order of vertices, threads | automatic_weights `units_do_not_matter`, `mirrored_meshes_have_mirrored_weights`, `permuting_vertices_permutes_weights`, `threads_do_not_matter_to_the_bit` |
//! | bounded biharmonic energy | biharmonic `two_methods_find_the_same_energy`, `the_energy_is_proved_to_be_within_a_ten_thousandth_of_the_least` |
//! | bone heat on a strip | automatic_weights `heat_on_a_strip_is_its_closed_form` |
//! | geodesics of a square and a sphere | anim-geom geodesic `on_a_flat_square_errors_shrink_with_the_cells`, `on_a_sphere_distances_are_radius_times_angle` |
//! | normals of an ellipsoid | `a_sphere_stretched_to_an_ellipsoid_has_its_normals` |
//! | the four largest of five that sum to 0.95 | weights `the_exercise_keeps_the_four_largest` |
//! | centres of rotation of a straight tube; grouped are all | deformers `centres_of_a_straight_tube_lie_on_its_axis`, `grouped_and_clustered_centres_are_those_of_all_triangles` |
//! | decomposition of rigid boxes, and of a gallop | ssdr `rigid_boxes_are_found_exactly_in_any_unit`, `a_gallop_is_reproduced_by_rigid_bones_and_few_weights` |
//! | as many principal shapes as the rank | face `as_many_components_as_the_rank_are_exact` |
//! | optimality of weights within limits | face `the_solution_satisfies_the_optimality_conditions` |
//! | a mesh to itself, a mirror of a mirror | transfer `the_same_mesh_is_the_identity`; mirror `twice_is_once_and_both_sides_agree` |
//!
//! | what a skin can do | test |
//! |---|---|
//! | weights by nearest bone, inverse distance, heat, geodesics, voxels, biharmonic | automatic_weights `rows_sum_to_one_and_follow_the_bones`, `points_options_and_limits`, `no_soup_makes_any_method_fail`; voxel `in_a_convex_body_distances_are_straight`; biharmonic `no_soup_makes_it_fail` |
//! | a falloff that is tuned without binding anew | voxel `units_and_the_falloff_change_nothing_that_is_kept` |
//! | weights and bones from sequences and examples | ssdr `a_gallop_is_reproduced_by_rigid_bones_and_few_weights`, `examples_give_back_the_weights_that_made_them`; bone_fit `bones_that_share_every_vertex_are_told_apart` |
//! | a brush that follows the surface, its modes and locks | brush `paint_does_not_jump_to_the_other_leg`, `only_unlocked_joints_pay`, `what_the_neighbors_want_and_a_lock_forbids_is_refused`, `dabs_keep_rows_on_the_simplex`, `a_dab_fades_as_its_falloff_says` |
//! | gradients, linear and radial | gradient `two_joints_share_what_they_have`, `against_the_rest_a_ring_is_the_ramp` |
//! | smoothing and sharpening | smooth `constant_rows_stay_constant`, `sharpening_undoes_smoothing_in_part` |
//! | pruning, and at most K a vertex | prune `small_weights_go_and_the_largest_stays`, `curvature_changes_less_than_by_plain_pruning`; `of_sixteen_unsorted_influences_the_four_largest_stay` |
//! | hammering and averaging | hammer `a_selection_is_filled_from_its_border`, `an_average_is_shared_and_the_rest_untouched` |
//! | mirroring by name and by place | mirror `nameless_sides_are_paired_by_place_and_the_rest_told` |
//! | transfer: nearest facing points, the rest filled in, by volume | transfer `touching_sheets_keep_their_own_weights`, `what_faces_away_is_filled_in_smoothly`; volume_transfer `a_cushion_loses_the_part_that_the_gap_loses`; anim-engine padding `padding_carried_by_volume_turns_inside_out_less_than_by_nearest_points` |
//! | whatever the edit, rows are whole | edits `edits_of_any_rows_are_on_the_simplex_and_locks_hold` |
//! | storage in blocks, u8, u16 and sets of four, with its error | linear `agrees_with_f64_for_any_number_of_influences`; quantize `graphics_cards_find_the_documented_bytes`, `sums_are_exact_and_no_weight_is_a_unit_off` |
//! | every deformer: any thread count and instruction set, no allocation | deformers `instruction_sets_and_threads_change_no_bit`; no_alloc `deformers_allocate_nothing` |
//! | tangents, and what targets do to them | deformers `tangents_stay_on_the_surface_and_know_mirrors`, `tangents_of_a_target_follow_its_slope` |
//! | another deformer by region, a share of each by vertex | deformers `masks_give_each_vertex_its_deformer` |
//! | dual quaternions and scale | dual_quaternion `stretches_blend_before_the_motion` |
//! | delta mush, and without passes | deformers `delta_mush_opens_no_seam_and_smooths_rigid_weights`, `a_hinge_of_two_triangles_at_rest_stays_at_rest` |
//! | corrective shapes by pose, muscles that swell | deformers `an_elbow_gets_its_volume_back_from_a_sculpt_at_ninety_degrees`, `shapes_have_their_own_poses_whatever_the_kernel`, `a_muscle_at_half_its_length_has_twice_the_cross_section` |
//! | levels of meshes and of skeletons, with a fade | simplify `poses_make_a_bent_elbow_better_than_the_rest_pose_does`; merge `a_far_skeleton_moves_merged_weights_as_it_moves_the_full_ones`; lod `a_change_fades_in_its_time_and_is_not_interrupted` |
//! | shapes: sparse, in 16 bits, in-betweens, combinations, groups, limits, masks | morph `agrees_with_an_f64_sum_over_sparse_targets`; compact `errors_are_below_what_was_promised`; in_between `stops_are_met_and_weights_are_linear_between`; shape_rig `controls_are_limited_then_exclude_each_other_then_combine`; corrective `triples_are_met_by_pairs_and_what_they_leave`, `masks_that_sum_to_one_split_a_shape` |
//! | ARKit names, action units, expressions, missing shapes, ranges | arkit `all_names_are_known_by_their_own_and_other_spellings`, `what_is_no_weight_is_listed`; facs `each_unit_is_read_as_it_was_set`; vrm `each_preset_is_read_as_it_was_set`; stand_ins `namesakes_need_no_stand_in` |
//! | weights from markers: limits, ridge, sparsity, symmetry, time | face `markers_give_the_weights_back`, `priors_decide_what_markers_leave_open` |
//! | recordings compressed | face `a_recording_is_compressed_within_its_tolerance` |

mod common;

use anim_geom::{Vertices, primitives};
use anim_math::{Affine, Mat3, Transform, Vec3};
use anim_skin::{Influences, Palette, SkinWeights, SkinnedMesh, VertexBlocks, WeightFault};

use common::{bind, blended, cloud, rigid_palette};

fn skinned(skin: &SkinnedMesh, palette: &Palette) -> Vertices {
    let mut blocks = VertexBlocks::new(skin.vertex_count());
    skin.linear(skin.rest(), palette, &mut blocks);
    let mut vertices = Vertices::default();
    skin.to_source_order(&blocks, &mut vertices);
    vertices
}

#[test]
fn twelve_influences_all_count_and_a_row_without_weight_is_told() {
    let influences = Influences {
        per_vertex: 12,
        joints: (0..24).map(|place| place % 12).collect(),
        weights: (1..=12).map(|w| w as f32 / 78.0).chain([0.0; 12]).collect(),
    };
    let place = Vec3::new(0.3, -0.2, 0.9);
    let skin = bind(
        &cloud(vec![place; 2], vec![Vec3::y(); 2]),
        12,
        &influences,
        &[],
    );
    assert_eq!(skin.report().faults, [(1, WeightFault::Empty)]);
    let palette = rigid_palette(12, 41);
    let out = skinned(&skin, &palette);
    let (linear, translation) = blended(&influences, 0, &palette);
    let expected = linear * place.cast::<f64>() + translation;
    // Some thirty roundings of numbers below 2.
    assert!((out.positions[0].cast::<f64>() - expected).norm() < 4e-6);
    // Not at the origin: with joint 0.
    let first = palette.get(0).transform_point(place);
    assert!((out.positions[1] - first).norm() < 1e-6);
}

#[test]
fn of_sixteen_unsorted_influences_the_four_largest_stay() {
    // The largest come last, as some tools write them: the first four would be 10 of 136.
    let rows = [(0..16).map(|joint| (joint, f64::from(joint) + 1.0))];
    let weights = SkinWeights::from_rows(16, rows).unwrap();
    let (limited, dropped) = weights.limited(4);
    assert!((dropped - 78.0 / 136.0).abs() < 1e-14);
    let expected = [13.0, 14.0, 15.0, 16.0].map(|weight| weight / 58.0);
    assert!(limited.row(0).map(|(joint, _)| joint).eq(12..16));
    for ((_, weight), expected) in limited.row(0).zip(expected) {
        assert!((weight - expected).abs() < 1e-15);
    }
}

#[test]
fn a_sphere_stretched_to_an_ellipsoid_has_its_normals() {
    let sphere = primitives::sphere(1.0, 24, 16);
    let skin = bind(&sphere, 1, &Influences::rigid(sphere.vertex_count()), &[]);
    for stretch in [Vec3::new(1.0, 3.0, 0.5), Vec3::new(-1.0, 3.0, 0.5)] {
        let mut palette = Palette::new(1);
        let moved = Affine::from(Transform::from_translation(Vec3::new(1.0, 2.0, 3.0)));
        let linear = Mat3::from_diagonal(&stretch);
        palette.set(0, Affine { linear, ..moved });
        let out = skinned(&skin, &palette);
        for (vertex, normal) in out.normals.iter().enumerate() {
            // Outward also where the matrix mirrors: the gradient of Σ (x/a)², at x = a·n.
            let gradient = sphere.rest.normals[vertex]
                .component_div(&stretch)
                .normalize();
            assert!(normal.cross(&gradient).norm() < 1e-5 && normal.dot(&gradient) > 0.0);
        }
    }
}
