//! What users of other engines reported about simulation, the known answers, and what textbooks have wrong: where each is
//! shown to hold here.
//!
//! Left the source, then what must hold, then the tests: a file of tests or a module, and names in it; those without a file
//! are below.
//!
//! | a textbook says | what holds | test |
//! |---|---|---|
//! | explicit Euler is stable for Δt < 2/ω | undamped it never is; 2/ω is the limit of semi-implicit Euler and Verlet | chapter `exercise_14_7_the_limit_of_two_over_omega_is_not_that_of_explicit_euler`; integrators `symplectic_steps_are_stable_up_to_two_over_omega`; anim-math ode `explicit_euler_gains_energy_at_any_step` |
//! | | damped it is for Δt < c/k, drag alone for Δt < 2m/c | chapter `damping_alone_makes_explicit_euler_stable_below_damping_over_stiffness`, `drag_as_a_force_overshoots_from_two_masses_over_the_coefficient_on` |
//! | | two free masses, and a grid, swing faster than one mass | springs `two_equal_masses_swing_at_the_root_of_twice_the_stiffness`, `a_grid_is_stable_up_to_the_root_of_eight` |
//! | a stretched spring pushes | it pulls | chapter `exercise_14_4_a_stretched_spring_pulls` |
//! | a spring's damper takes all relative velocity | along its axis alone, or a rotation is braked | chapter `a_damper_along_the_spring_does_not_feel_a_rotation`; springs `a_damper_along_the_spring_lets_a_rotation_be` |
//! | x ← 2x − x₀ + aΔt² | only while Δt stays the same | chapter `the_plain_form_of_verlet_breaks_when_the_step_changes`; integrators `steps_may_vary` |
//! | a projection moves both ends alike | by their inverse masses | chapter `each_end_of_a_constraint_moves_by_its_share_of_the_inverse_masses` |
//!
//! | report | what must hold | test |
//! |---|---|---|
//! | warp#642, godot#116058 | stable for any stiffness and mass | sheet `cloth_of_any_stiffness_and_weight_is_stable`; vbd `one_substep_is_stable_for_any_stiffness_and_mass`; projective `it_is_stable_for_any_stiffness_and_mass` |
//! | newton#2933, PositionBasedDynamics#179 | iterations do not stiffen | constraints `stiffness_depends_on_neither_step_nor_iterations`, `a_plain_projection_would_stiffen_with_iterations` |
//! | warp#643, newton#108, newton#260 | hinges beyond a right angle; no net force, no moment | conservation `a_hinge_in_free_flight_does_not_spin_and_opens_to_its_angle`; xpbd hinge `the_angle_is_signed_and_its_gradient_is_its_derivative` |
//! | newton 1.8 omits 1/\|n\| | bending does not depend on scale | xpbd hinge `the_gradient_goes_as_one_over_the_size`; sheet `bending_is_the_same_law_at_a_metre_and_at_a_centimetre` |
//! | PositionBasedDynamics#56, TressFX#19 | tight cloth comes to rest | never_through `a_band_stretched_over_two_balls_does_not_shake`, `cloth_that_lies_comes_to_rest` |
//! | newton#351, newton#3437 | kinds of contact do not displace each other | self_contact `no_combination_of_contacts_loses_one` |
//! | newton PR#1500 | what separates is not held; what moves carries | self_contact `what_leaves_is_not_held`; contact `a_rising_floor_lifts_what_lies_on_it_at_its_own_speed`, `a_turning_disc_takes_what_lies_on_it_around` |
//! | rapier#984, rapier#524, rapier#421 | motion of both counts; a coarse ground holds | anim-geom ccd `two_bullets_that_cross_are_stopped`; contact `a_slab_rocks_on_a_square_of_four_vertices_without_falling_through`, `a_fast_ball_carries_the_sheet_instead_of_passing_it` |
//! | newton#1562, bvh#44 | coincident and degenerate is finite, and repeats | constraints `coincident_particles_part_in_a_way_that_repeats`; self_contact `coincident_and_degenerate_surfaces_stay_finite`; anim-geom moving_bvh `triangles_without_area_are_points_and_segments` |
//! | ipc-toolkit#99 | pairs are bounded in memory | anim-geom moving_bvh `too_many_pairs_are_an_error_with_their_count`, `a_vertex_that_flies_off_pairs_only_its_own_triangles` |
//! | ipc-toolkit PR#232, warp#775 | common motion is not held up, parallel edges are no special case | `strips_that_fly_side_by_side_are_not_held_up`; anim-geom ccd `what_moves_together_never_meets`, `parallel_and_crossing_edges_meet` |
//! | ppf-contact-solver#110 | pinched cloth is told of, and recovers | self_contact `plates_that_close_pinch_the_cloth_and_let_it_go`, `crossed_sheets_come_apart`; never_through `a_sleeve_stays_on_an_arm_that_bends_against_the_body` |
//! | demoteam.hair#28, demoteam.hair#4, OloEngineBase#1370, JoltPhysics PR#1636 | hair teleports, never stretches, at any frame rate | hair `a_teleport_leaves_the_shape_alone`, `a_long_strand_hangs_the_same_at_any_frame_rate_and_never_stretches`; robust `a_teleport_moves_the_shape_and_its_motion_rigidly` |
//! | rebound#309, bvh#136 | no tree is too deep | `triangles_at_powers_of_two_overflow_no_stack_of_queries`; anim-geom moving_bvh `boxes_at_powers_of_two_do_not_overflow_any_stack` |
//! | hanabi#255, hanabi#319, hanabi#151, godot#32890 | emission follows rates and queues, not frames | anim-particles known_answers `births_follow_the_rate_at_every_frame_rate`, `the_same_ids_are_at_the_same_place_at_every_frame_rate`, `what_finds_no_room_is_reported_and_room_comes_back` |
//! | newton#2557 | damping moves no equilibrium | vbd `viscosity_moves_no_equilibrium`; implicit `equilibria_do_not_depend_on_damping`; integrators `damping_leaves_equilibria_where_they_are`; springs `a_rope_sags_alike_however_viscous_it_is` |
//! | JoltPhysics PR#971 | cloth strays from its skin by a given length | robust `a_tether_to_a_particle_that_is_pinned_to_skin_is_a_leash`, `tethers_keep_a_long_rope_short_at_few_substeps` |
//!
//! | known answer | test |
//! |---|---|
//! | errors and orders over ten seconds of an oscillator, energies over ten and a hundred | integrators `the_error_of_ten_seconds_is_as_known_and_falls_with_the_order`, `the_energy_of_ten_seconds_strays_as_known`, `the_energy_of_a_hundred_seconds_is_as_known` |
//! | the period of Verlet; the turn of the midpoint rule | integrators `verlet_shortens_the_period_as_known`, `the_midpoint_rule_turns_by_its_arc_tangent` |
//! | factors of drag; exact damping | integrators `drag_has_the_limits_of_its_factor`, `damping_is_exact_for_any_step`; known_answers `damping_is_exponential_for_any_step` |
//! | a Kepler orbit, one and a hundred times around | integrators `an_orbit_strays_as_known`, `over_a_hundred_orbits_verlet_keeps_what_runge_kutta_loses` |
//! | a hanging mass: mg/k for any step, iteration count and solver | known_answers, vbd, implicit `a_hanging_mass_stretches_by_its_weight_times_the_compliance_for_any_step`; projective `a_chain_stretches_at_each_link_by_the_weight_below_for_any_step_and_damping` |
//! | the catenary | springs `the_catenary_is_what_it_is_known_for`, `a_chain_tends_to_the_catenary_with_the_square_of_its_segments`; fem `a_chain_hangs_as_a_catenary` |
//! | a hanging sheet: ρgL/2k in the mean, twice that at the clamp | projective `a_sheet_at_rest_has_the_static_strain`; sheet `a_hanging_sheet_of_threads_strains_by_its_weight` |
//! | cantilevers of linear tetrahedra; all laws alike, and turned | fem `a_cantilever_of_linear_tetrahedra_bends_as_far_as_that_discretisation_does`, `all_laws_agree_where_the_load_is_small`, `a_turned_bar_under_a_turned_load_is_the_same_bar` |
//! | the elastica under a load and its own weight; rods of n segments | fem `a_slender_bar_bends_as_the_elastica_does`; sheet `a_clamped_strip_sags_as_the_elastica_does`; hair `large_deflections_are_those_of_the_elastica_and_converge_with_the_square_of_the_segments`, `a_rod_sags_under_its_own_weight_as_the_elastica_does`, `a_cantilever_of_n_segments_gives_a_half_over_n_squared_too_much` |
//! | muscle by MuJoCo; volume | muscle_curves `force_by_length_is_that_of_mujoco`, `force_by_velocity_is_that_of_mujoco`, `the_rate_of_activation_is_that_of_mujoco`; muscle `volume_stays_whatever_the_length_the_bend_and_the_mesh`; fem `muscle_shortens_thickens_and_keeps_its_volume` |
//! | momenta of springs, of each projection, of whole bodies | springs `springs_conserve_both_momenta_over_ten_thousand_steps`; conservation `each_kind_of_element_conserves_both_momenta`; known_answers `a_spinning_hoop_keeps_its_angular_momentum`; implicit `free_flight_keeps_momentum_and_viscosity_does_not_stop_a_spin` |
//! | Coulomb's angle, way and acceleration | contact `friction_holds_below_its_angle`, `friction_slows_by_coulombs_law_above_its_angle`, `a_slide_ends_after_the_square_of_its_speed_over_twice_its_braking`; never_through `cloth_on_cloth_holds_below_the_angle_of_friction_and_slides_above`; implicit `a_block_holds_on_a_slope_below_its_angle_of_friction_and_slides_above` |
//! | bounces rise to e²ⁿ | anim-particles known_answers `a_bounce_rises_to_the_square_of_the_restitution` |
//! | times of impact: face, edge, corner, in the plane, parallel, without area, missed | anim-geom ccd `a_point_meets_the_face_an_edge_and_a_corner`, `a_point_in_the_plane_of_a_triangle_meets_its_edge`, `a_point_meets_triangles_without_area`, `a_miss_by_a_hundredth_is_a_miss`, `a_step_up_to_the_impact_is_free_of_it` |
//! | a bullet of 1000 m/s against one layer | self_contact `a_bullet_does_not_pass_a_single_layer` |
//! | drapes, lifts and sleeves without an intersection | never_through `a_sheet_draped_over_a_ball_and_the_corner_of_a_box_is_lifted_off`, `a_sleeve_stays_on_an_arm_that_bends_against_the_body`, `capes_wrung_sheets_and_stacks_do_not_pass_through_themselves` |
//!
//! | order of the work | test |
//! |---|---|
//! | by colour it is stable where by vertex it is not | xpbd sweep `an_order_by_vertex_is_unstable_where_one_by_colour_is_not` |
//! | elements of a colour share no particle, whatever their kinds | xpbd sweep `no_batch_holds_a_particle_twice_and_every_element_is_in_one`; coloring `elements_of_one_colour_share_no_vertex`; vbd plan `neighbours_differ_in_colour_and_few_colours_are_used` |
//! | small steps beat iterations; at a price projections beat descent | sheet `substeps_beat_iterations_at_the_same_cost`; vbd `at_equal_cost_position_based_cloth_stretches_less` |
//! | stiff solids keep their volume, crushed ones get more substeps | vbd `a_stiff_solid_never_collapses`; implicit `stiff_solids_keep_their_volume_at_one_step_a_frame`; conservation `a_crushed_solid_gets_more_substeps_and_recovers` |
//! | bits of any number of threads, of any instruction set, of the state alone | sheet `bits_depend_on_no_number_of_threads`, `a_state_alone_decides_what_follows`; xpbd `every_instruction_set_gives_the_same_bits`; never_through `contact_has_the_same_bits_for_any_number_of_threads` |
//! | pins and colliders move through the substeps; a stall is dropped; a pause is none | robust `pins_are_met_exactly_and_at_their_speed`, `a_pause_changes_no_bit`; anim-engine clock `a_stall_is_dropped_and_not_made_up` |
//! | far from the origin, and in substeps of a few last bits | robust `a_kilometre_away_cloth_hangs_as_long`; conservation `a_solid_falls_alike_wherever_it_is_and_however_small_the_substeps` |
//! | too fast is told, starts inside without a jump | constraints `an_outcome_tells_violations_and_speeds`; contact `a_particle_that_starts_inside_leaves_without_a_jump` |
//!
//! | what there is | test |
//! |---|---|
//! | one trait of integrators; Newton by Cholesky or conjugate gradients; error control; substeps | integrators `small_and_large_systems_are_stepped_alike`, `implicit_steps_are_stable_whatever_the_stiffness`, `the_adaptive_step_meets_its_tolerance_and_saves_steps`, `substeps_are_steps`; springs `both_linear_solvers_hang_a_rope_alike`, `newton_converges_at_once_where_forces_are_linear_and_soon_where_not` |
//! | springs of a length, of none, without direction; networks; wind and lift; ropes | springs `a_damped_spring_rings_down_as_its_closed_form`, `ends_that_coincide_are_pushed_apart`, `networks_have_the_springs_of_their_squares_and_triangles`, `only_shear_springs_hold_a_square_in_shape_and_only_bending_springs_hold_it_flat`, `wind_drags_and_lifts_a_plate`, `a_rope_weighs_stretches_and_bends_the_same_in_any_number_of_segments` |
//! | areas, volumes, shapes, threads, limits, seams | constraints `an_area_yields_by_force_times_compliance`, `a_balloon_holds_its_pressure_against_its_skin`, `shape_matching_follows_every_rotation_of_solid_flat_and_straight_shapes`, `a_loaded_membrane_strains_as_its_threads_say`, `a_membrane_stops_at_its_limit`, `a_seam_closes_at_its_speed_and_holds` |
//! | bending by angles and by curvature | xpbd flex `the_energy_of_a_fold_is_that_of_its_angle_to_second_order`; xpbd hinge `the_difference_of_angles_takes_the_short_way` |
//! | laws of solids, plasticity, heat | fem material `stress_is_the_gradient_of_energy`, `stiffness_is_the_gradient_of_stress`, `every_law_is_lames_for_small_strain`; implicit `what_yields_stays_longer_and_keeps_its_volume`; heat `silver_burns_the_fingers_while_steel_is_still_cool`, `a_cosine_decays_at_its_rate_to_the_order_of_the_scheme` |
//! | lattice stuffing, embedded surfaces, sweeps of poses | anim-geom stuffing `angles_keep_their_bounds_whatever_the_surface`; anim-geom tet `an_embedded_surface_follows_affine_motion_exactly`; fem `sweeps_are_the_same_on_any_number_of_threads_and_report_what_they_cannot_reach` |
//! | cloth on moving skin | anim-engine simulated `holders_carry_bodies_exactly`; anim-engine pipeline `the_cape_stays_whole_on_its_pins_and_outside_the_body` |
//! | thickness; what the guarantee costs where nothing touches: nothing | self_contact `a_sheet_dropped_on_another_lies_on_it_at_the_thickness`, `a_hanging_sheet_is_left_alone_by_contact` |
//! | distance fields, height fields, moving hierarchies | anim-geom fields `distances_to_a_ball_converge_to_the_second_order`, `a_height_field_answers_as_its_triangles_do`; contact `a_sheet_rests_on_a_distance_field_as_on_the_mesh_it_stands_for`, `a_sheet_rests_on_a_height_field`; anim-geom moving_bvh `the_hierarchy_finds_what_a_full_scan_finds` |
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

use anim_geom::mesh_bvh::MeshBvh;
use anim_geom::{Mesh, Vertices};
use anim_math::Vec3;
use anim_sim::cloth::{self, ClothSpec};
use anim_sim::{Drive, SelfContact, Solver, State, Xpbd};

#[test]
fn strips_that_fly_side_by_side_are_not_held_up() {
    // Two strips of 10 × 1 cells, edge along edge, a little further apart than the thickness.
    let row = |y: f32| (0..22u8).map(move |v| (v % 11, v / 11, y));
    let model = cloth::build(&ClothSpec {
        positions: row(0.0)
            .chain(row(0.005))
            .map(|(i, j, y)| Vec3::new(0.02 * f32::from(i), y, 0.02 * f32::from(j)))
            .collect(),
        triangles: [0, 22]
            .iter()
            .flat_map(|first| {
                (*first..first + 10).flat_map(|v| [[v, v + 11, v + 1], [v + 1, v + 11, v + 12]])
            })
            .collect(),
        pinned: Vec::new(),
        drag: 0.0,
        damping: 0.0,
        self_contact: Some(SelfContact::default()),
        ..ClothSpec::default()
    })
    .unwrap();
    let velocity = Vec3::new(60.0, -30.0, 15.0);
    let mut state = State::new(&model);
    state.velocities.fill(velocity);
    let mut solver = Xpbd::new(&model, 4);
    let drive = Drive {
        gravity: Vec3::zeros(),
        ..Drive::default()
    };
    for frame in 1..=10u8 {
        let outcome = solver.step(&model, &drive, 1.0 / 60.0, &mut state);
        assert_eq!((outcome.slowed, outcome.pinched), (0, 0));
        let way = velocity * (f32::from(frame) / 60.0);
        for (x, rest) in state.positions.iter().zip(model.rest()) {
            // Some hundred roundings of up to 10 m.
            assert!((x - rest - way).norm() < 1e-4, "{frame}: {x} {rest}");
        }
    }
}

#[test]
fn triangles_at_powers_of_two_overflow_no_stack_of_queries() {
    let positions: Vec<Vec3> = (0..120)
        .flat_map(|i| {
            let s = libm::exp2f(i as f32 * 0.3 - 18.0);
            [[1.0, 1.0, 1.0], [1.1, 1.0, 1.0], [1.0, 1.1, 1.0]].map(|c| Vec3::from(c) * s)
        })
        .collect();
    let bvh = MeshBvh::new(&Mesh {
        rest: Vertices {
            normals: vec![Vec3::z(); positions.len()],
            positions: positions.clone(),
        },
        triangles: (0..120).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
        ..Mesh::default()
    })
    .unwrap();
    for (i, corner) in positions.iter().step_by(3).enumerate() {
        let nearest = bvh.nearest(*corner);
        assert_eq!(nearest.triangle as usize, i);
    }
}
