//! What users of other engines reported about inverse kinematics, its known answers, and all that is there: where each is shown
//! to hold here.
//!
//! Left the report, then what must hold, then the tests: a file of tests or a module, and names in it; those without a file
//! are below. `anim-cli` and `anim-engine` stand for the tests of those crates.
//!
//! | reports | what must hold | test |
//! |---|---|---|
//! | godot#48078, godot#54891, godot#47803 | no half turns as a target goes round | chains `godot_48078_54891_and_47803_a_chain_follows_a_circle_without_a_flip` |
//! | godot#73242 | bones keep their length | chains `godot_73242_bones_keep_their_length` |
//! | three.js#25338, three.js#25331 | limits hold from the first link on | chains `three_25338_and_25331_limits_hold_on_every_link` |
//! | ozz#187, ozz#172 | no flip past the pole or near straight | two_bone_extras `ozz_187_and_172_a_remembered_plane_does_not_flip_past_the_pole`; two_bone_properties `a_target_sweeping_the_sphere_turns_the_limb_steadily`, `noise_about_straight_does_not_flip_the_knee` |
//! | ozz, weights of aim and two bones below 1 | half the weight is half the angle, by the short way | look_at `half_weight_with_a_twist_is_half_the_angle_for_every_target`; two_bone_properties `half_weight_is_half_the_angle_by_the_short_way` |
//! | mink#109, mink#103, mink#137 | limits hold after the step, by exact comparison | limits `no_limit_is_exceeded_in_twenty_thousand_solves`, a million of them in the bench `arm` |
//! | mink#13 | what cannot be had is a status, no panic and no NaN | `goals_that_exclude_each_other_are_an_answer_of_every_solver` |
//! | pinocchio#1959, pinocchio PR#1963 | errors and derivatives are of one frame | jacobian `every_derivative_is_the_central_difference_of_its_error`, `a_step_against_the_gradient_lowers_the_error_from_any_orientation` |
//! | overte#2218 | NaN does not stick | recovery `a_target_that_is_no_number_moves_nothing_and_the_next_one_is_reached`, `a_configuration_that_is_no_number_starts_from_rest` |
//! | two bones at their least and most reach, on a straight start, with the pole in line | known angles, no NaN | two_bone `distances_from_folded_to_straight_give_the_known_angles`, `a_limb_that_rests_straight_bends_its_middle_toward_z` |
//!
//! | known answer | test |
//! |---|---|
//! | analytic derivatives to 1e-7, second derivatives | jacobian `every_derivative_is_the_central_difference_of_its_error`; curvature `with_it_second_derivatives_are_the_central_differences_of_the_gradient` |
//! | steps and differences undo each other up to half a turn | mechanism `steps_and_differences_undo_each_other_up_to_half_a_turn`, `a_rotation_just_short_of_half_a_turn_comes_back_whole` |
//! | a chain of a thousand joints | mechanism `a_long_chain_is_the_product_of_its_matrices` |
//! | bones of 3 and 4 to (5, 0), both elbows | two_bone `three_four_five_bends_by_a_right_angle_on_the_side_of_the_pose`; planar_arm `three_four_five_has_two_elbows_a_right_angle_apart` |
//! | equal bones to their own root; just, too far and too near | two_bone `equal_bones_close_on_their_own_root`, `out_of_reach_is_straight_and_too_near_is_folded`; planar_arm `beyond_the_annulus_the_nearest_point_is_reached` |
//! | a target going out along x in steps of a millimetre | two_bone_extras `a_target_sweeping_out_along_x_moves_softly` |
//! | a million random reaches within 1e-12, in double precision | `a_million_reaches_of_two_links_are_within_rounding`; in single two_bone_extras `fifty_thousand_random_reaches_hit_within_rounding` |
//! | ten links within fifteen passes, 99 of 100 | chains `ten_links_reach_within_fifteen_passes` |
//! | a target in the line of a straight chain | chains `a_straight_chain_bends_for_a_target_in_its_line`; reach `a_straight_chain_bends_for_a_target_on_its_line` |
//! | out of reach is collinear to 1e-9 | chains `out_of_reach_is_a_straight_line_at_the_target` |
//! | the nearest point, its residual to 1e-9, its gradient to 1e-8 | reach `out_of_reach_stops_at_the_nearest_point`, `too_near_stops_folded` |
//! | the least of goal and posture | priorities `what_is_out_of_reach_settles_its_posture_whatever_that_weighs` |
//! | damped steps are Gauss-Newton's without damping, the gradient with much | reach `damped_least_squares_lies_between_gauss_newton_and_the_gradient` |
//! | α = ⟨e, JJᵀe⟩ / ⟨JJᵀe, JJᵀe⟩ | `the_gradient_takes_the_step_that_is_best_for_the_linear_model` |
//! | an arm of seven hinges, every pose that it can reach | reach `reachable_poses_of_a_seven_joint_arm_are_reached`, twenty thousand in the bench `arm` |
//!
//! | what there is | test |
//! |---|---|
//! | fixed, hinge, universal, prismatic, ball, free; limits in swing and twist | mechanism `random_configurations_are_within_limits_and_clamping_keeps_them`; limits `a_ball_stops_at_the_edge_of_its_cone_on_the_way_to_what_is_beyond`, `a_twist_beyond_its_range_stops_at_its_end` |
//! | a planar arm of m links: annulus, both elbows, singular when straight | planar_arm `every_point_of_the_annulus_is_reached_by_both_elbows`, `the_annulus_of_many_links_is_what_they_reach`, `a_straight_arm_is_singular` |
//! | two bones: pole, softness, twist kept, stretch, memory, weights | two_bone `the_middle_goes_toward_the_pole`, `bones_do_not_twist_when_the_target_stays_in_plane`; two_bone_properties `softness_eases_into_full_extension`; two_bone_extras `stretching_reaches_up_to_its_factor_and_shares_it_by_length`, `a_remembered_plane_ends_where_the_pole_says_and_repeats_its_bits`, `rotation_and_position_have_weights_of_their_own` |
//! | three bones | two_bone_extras `a_hind_leg_reaches_and_both_its_joints_keep_their_sense` |
//! | look-at, aim, a spine that shares the look, chains on curves | look_at `every_target_is_looked_at_upright_whatever_the_parents`, `an_offset_eye_sees_the_target_whatever_the_twist`; spine `the_head_looks_exactly_however_the_turn_is_shared`, `a_chain_lies_on_its_curve_and_keeps_its_lengths` |
//! | FABRIK and CCD: limits, several ends, poses of tools | chains `targets_within_the_limits_are_found`, `two_ends_are_reached_at_once`, `a_tool_is_placed_and_turned` |
//! | gradient, Gauss-Newton, damped least squares | reach `the_plain_methods_reach_what_is_near` |
//! | active set, restarts, the same bits on any number of threads | reach `a_limit_on_the_way_hands_its_share_to_the_other_joints`, `answers_are_the_same_bits_alone_in_a_batch_and_on_any_number_of_threads` |
//! | goals of ten kinds | reach `goals_of_all_kinds_are_met_together`, `a_pole_turns_the_knee_and_balance_moves_the_hips` |
//! | weights and tolerances of axes | reach `axes_without_weight_are_free`; tolerances `what_is_preferred_elsewhere_ends_at_the_edge_of_the_tolerances`, `a_cup_that_may_turn_and_stand_anywhere_on_a_tray_is_placed` |
//! | posture, preferred bend, stiffness, locked joints | reach `a_posture_settles_what_goals_leave_open`, `locked_joints_keep_their_bits_and_stiff_ones_move_less`; `a_straight_knee_bends_as_its_posture_does` |
//! | priorities, contacts | priorities `the_first_of_two_goals_in_conflict_is_met_whatever_the_second_weighs`, `contacts_hold_while_the_hand_reaches_and_limits_are_exact` |
//! | obstacles, also meshes; limbs of one body | obstacles `limbs_go_round_what_stands_in_their_way`, `limbs_of_a_pair_keep_apart` |
//! | full bodies: root free or pinned, pulls, props | full_body `hands_stay_on_a_moving_box_and_feet_on_the_floor`, `a_pinned_root_stays_to_the_bit_where_a_free_one_comes_along`, `the_stronger_pull_wins` |
//! | feet: pelvis, slopes, heel and toes, contacts, loops | foot `the_hips_follow_the_lower_foot_and_the_other_leg_bends`, `a_sole_lies_on_its_slope`; foot_lock `the_heel_strikes_and_the_toes_roll_off_without_sliding`, `feet_that_slid_stand_and_knees_do_not_pop`, `a_loop_stays_one_and_feet_stand_over_its_seam`, `the_same_input_gives_the_same_bits_and_a_second_time_changes_little` |
//! | published characters on uneven ground, hands on a moving bar | anim-engine bodies `a_knight_stands_on_its_feet`, `a_fox_stands_on_its_paws`, `a_human_with_the_walk_of_a_knight_stands_on_its_feet`, `a_human_who_walks_holds_a_moving_bar_with_both_hands` |
//! | from a shell | anim-cli ik `every_solver_meets_a_goal_within_reach_and_keeps_the_bones`, `limits_hold_and_those_that_are_in_the_way_are_named` |
//! | crowds, eight at a time | crowd `a_crowd_with_poles_has_the_bits_of_its_characters`, `a_crowd_looks_to_the_bit_as_its_characters_do` |
//! | nothing allocates | no_alloc `solvers_that_are_warm_allocate_nothing` |

#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

use anim_ik::{
    Ccd, DampedLeastSquares, Elbow, Fabrik, GaussNewton, Goal, Gradient, IkProblem, IkReport,
    IkSolver, IkStatus, Jacobian, JointValue, LevenbergMarquardt, Mechanism, MechanismJoint,
    PlanarArm, Posture,
};
use anim_math::Vec3;
use anim_math::nalgebra::{Isometry3, UnitQuaternion, Vector2, Vector3};
use anim_math::random::Random;
use anim_skeleton::{JointLimit, JointLimitSpec};

/// Two links of 1 m along x, hinges about z that turn by up to 2.5 rad, and a tip.
fn two_links() -> Mechanism {
    let hinge = JointLimitSpec::Hinge {
        axis: Vec3::z(),
        range: [-2.5, 2.5],
    };
    let joint = |n: usize, at: f64, limit| {
        let limit = JointLimit::new(limit).unwrap();
        MechanismJoint::new(
            n.checked_sub(1),
            Isometry3::translation(at, 0.0, 0.0),
            limit,
        )
    };
    Mechanism::new(vec![
        joint(0, 0.0, hinge),
        joint(1, 1.0, hinge),
        joint(2, 1.0, JointLimitSpec::Fixed),
    ])
    .unwrap()
}

#[test]
fn a_million_reaches_of_two_links_are_within_rounding() {
    let mut random = Random::new(51, 0, 0);
    let mut uniform = |low: f64, high: f64| low + (high - low) * f64::from(random.range(0.0, 1.0));
    for _ in 0..500_000 {
        let arm = PlanarArm::new(vec![uniform(0.1, 2.0), uniform(0.1, 2.0)]).unwrap();
        let [near, far] = arm.annulus();
        let (heading, distance) = (uniform(-3.0, 3.0), uniform(near, far));
        let target = Vector2::new(libm::cos(heading), libm::sin(heading)) * distance;
        for elbow in [Elbow::Down, Elbow::Up] {
            let off = arm.end(&arm.reach(target, elbow).unwrap()) - target;
            // NaN fails, too.
            assert!(off.norm() <= 1e-12 * far, "{arm:?} {target} {elbow:?}");
        }
    }
}

#[test]
fn the_gradient_takes_the_step_that_is_best_for_the_linear_model() {
    let arm = two_links();
    for n in 0..100 {
        let mut random = Random::new(52, n, 0);
        let mut start = arm.rest();
        for value in &mut start.values_mut()[..2] {
            *value = JointValue::Angle(f64::from(random.range(-1.0, 1.0)));
        }
        let target = Vector3::new(1.0, f64::from(random.range(-0.5, 0.5)), 0.0);
        let goals = [Goal::position(2, target)];
        let problem = IkProblem::new(&arm, &goals);
        let mut jacobian = Jacobian::default();
        jacobian.compute(&problem, &start);
        let errors = Vector3::from_column_slice(jacobian.errors());
        let columns = [0, 1].map(|dof| Vector3::from_column_slice(jacobian.column(dof)));
        // Jᵀe, and J Jᵀe.
        let slopes = columns.map(|column| column.dot(&errors));
        let image = columns[0] * slopes[0] + columns[1] * slopes[1];
        let alpha = errors.dot(&image) / image.norm_squared();
        let expected = slopes.map(|slope| -alpha * slope);
        // Longer steps are shortened to a radian.
        let longest = expected[0].abs().max(expected[1].abs()).max(1.0);

        let (mut at, mut report) = (start.clone(), IkReport::default());
        Gradient::new(1).solve(&problem, &mut at, &mut report);
        let mut step = [0.0; 2];
        start.difference(&arm, &at, &mut step);
        let is_better = report.cost < 0.5 * errors.norm_squared();
        for (found, expected) in step.into_iter().zip(expected) {
            // What was no better is not kept.
            let expected = if is_better { expected / longest } else { 0.0 };
            assert!((found - expected).abs() < 1e-12, "{n}: {found} {expected}");
        }
    }
}

#[test]
fn a_straight_knee_bends_as_its_posture_does() {
    let leg = two_links();
    for bend in [0.4, -0.4] {
        let mut preferred = leg.rest();
        preferred.values_mut()[1] = JointValue::Angle(bend);
        let goals = [Goal::position(2, Vector3::new(1.6, 0.0, 0.0))];
        let problem = IkProblem {
            posture: Some(Posture {
                target: &preferred,
                weight: 1e-3,
            }),
            ..IkProblem::new(&leg, &goals)
        };
        let (mut at, mut report) = (leg.rest(), IkReport::default());
        let status = LevenbergMarquardt::default().solve(&problem, &mut at, &mut report);
        assert_eq!(status, IkStatus::Reached, "{report:?}");
        let JointValue::Angle(knee) = at.values()[1] else {
            panic!("a hinge")
        };
        // 1.6² = 2 + 2 cos(knee).
        let expected = libm::acos(0.28) * bend.signum();
        assert!((knee - expected).abs() < 1e-4, "{knee} {expected}");
    }
}

#[test]
fn goals_that_exclude_each_other_are_an_answer_of_every_solver() {
    let arm = two_links();
    let turned = |angle| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), angle);
    let both = [
        [
            Goal::position(2, Vector3::new(1.0, 1.0, 0.0)),
            Goal::position(2, Vector3::new(1.0, -1.0, 0.0)),
        ],
        [
            Goal::position(2, Vector3::new(0.0, 0.0, 7.0)),
            Goal::orientation(2, turned(3.0)),
        ],
        [
            Goal::position(0, Vector3::new(1e9, 0.0, 0.0)),
            Goal::position(2, Vector3::zeros()),
        ],
    ];
    for goals in &both {
        let solvers: [Box<dyn IkSolver>; 6] = [
            Box::new(LevenbergMarquardt::default()),
            Box::new(GaussNewton::new(50)),
            Box::new(DampedLeastSquares::new(50, 0.1)),
            Box::new(Gradient::new(50)),
            Box::new(Ccd::new(50)),
            Box::new(Fabrik::new(50)),
        ];
        for (n, mut solver) in solvers.into_iter().enumerate() {
            let (mut at, mut report) = (arm.rest(), IkReport::default());
            let status = solver.solve(&IkProblem::new(&arm, goals), &mut at, &mut report);
            let is_answer = matches!(
                status,
                IkStatus::Infeasible | IkStatus::Stalled | IkStatus::IterationLimit
            );
            assert!(is_answer, "{n}: {report:?}");
            assert!(at.is_finite() && arm.is_within(&at), "{n}");
            assert!(report.cost.is_finite(), "{n}");
        }
    }
}
