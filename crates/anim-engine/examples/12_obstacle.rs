//! An arm of many joints that holds on to a point while a ball passes through its place: `cargo run --example 12_obstacle
//! [PICTURE.png]`.
//!
//! Above, the arm does not know of the ball; below, its bones are capsules that keep 1 cm clear of it. Each frame starts
//! from the last, so that the arm gives way no sooner than it must.

mod common;

use anim_engine::geom::{Collider, Shape};
use anim_engine::ik::{
    Goal, IkProblem, IkReport, IkSolver, LevenbergMarquardt, Limb, Mechanism, Obstacles, Posture,
    SearchOptions,
};
use anim_engine::math::nalgebra::Vector3;
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::skeleton::{Globals, JointLimit, JointLimitSpec, JointSpec, Skeleton, Swing};
use anim_view::{Image, Style, sheet};
use common::{BLUE, ORANGE, Outcome, announce, bone, camera, caption, floor, stacked, write};

const CELL: [u32; 2] = [250, 300];
const STEEL: [f32; 3] = [0.36, 0.38, 0.42];
const GREEN: [f32; 3] = [0.05, 0.45, 0.10];
/// Bones, their length and their thickness, m.
const BONES: usize = 10;
const LENGTH: f32 = 0.18;
const RADIUS: f32 = 0.035;
const MARGIN: f64 = 0.01;
const BALL: f32 = 0.2;
const TARGET: Vec3 = Vec3::new(0.05, 1.3, 0.0);
const FRAMES: u8 = 41;

fn main() -> Outcome {
    let skeleton = arm()?;
    let free = frames(&skeleton, false)?;
    let clear = frames(&skeleton, true)?;
    write(
        "12_obstacle",
        &stacked(&[
            caption(
                free.width,
                "without the obstacle: bones inside the ball are orange",
            ),
            free,
            caption(
                clear.width,
                "with the obstacle: the arm slips round it, its end stays",
            ),
            clear,
        ]),
    )
}

/// It stands on the ground, a little bent to the left.
fn arm() -> Outcome<Skeleton> {
    let joint = |n: usize| JointSpec {
        name: None,
        parent: n.checked_sub(1),
        rest: Transform {
            translation: if n == 0 {
                Vec3::zeros()
            } else {
                Vec3::y() * LENGTH
            },
            ..Transform::from_rotation(quat::from_axis_angle(Vec3::z(), 0.02))
        },
    };
    Ok(Skeleton::new((0..=BONES).map(joint).collect())?)
}

/// The ball comes from the left; five frames of it.
fn frames(skeleton: &Skeleton, heeds: bool) -> Outcome<Image> {
    let limit = JointLimit::new(JointLimitSpec::Universal {
        axis: Vec3::y(),
        swing: Swing::Cone { angle: 1.2 },
    })?;
    let mechanism = Mechanism::from_skeleton(skeleton, &vec![limit; skeleton.len()], None)?;
    let limbs: Vec<Limb> = (0..BONES)
        .map(|joint| Limb {
            joint,
            ends: [Vector3::zeros(), Vector3::y() * f64::from(LENGTH)],
            radius: f64::from(RADIUS),
        })
        .collect();
    let goals = [Goal {
        tolerance: 1e-4,
        ..Goal::position(BONES, TARGET.cast())
    }];
    let mut solver = LevenbergMarquardt::new(SearchOptions::default());
    let mut report = IkReport::default();
    let (mut at, mut last) = (mechanism.rest(), mechanism.rest());
    let mut pose = skeleton.rest().clone();
    let mut globals = Globals::new(skeleton);
    let (mut pictures, mut labels) = (Vec::new(), Vec::new());
    // Both rows start alike, before there is a ball.
    solver.solve(&IkProblem::new(&mechanism, &goals), &mut at, &mut report);
    for frame in 0..FRAMES {
        let x = 0.1 + 0.015 * f32::from(frame);
        let center = Vec3::new(x, 0.65, -0.06);
        let place = Affine::from(Transform::from_translation(center));
        let ball = Collider::new(Shape::Sphere { radius: BALL }, place);
        let obstacles = Obstacles {
            limbs: &limbs,
            colliders: std::slice::from_ref(&ball),
            margin: MARGIN,
            ..Obstacles::default()
        };
        // Every frame starts from the last and moves no more than it must.
        last.copy_from(&at);
        let problem = IkProblem {
            posture: Some(Posture {
                target: &last,
                weight: 1e-3,
            }),
            obstacles: if heeds {
                obstacles
            } else {
                Obstacles::default()
            },
            ..IkProblem::new(&mechanism, &goals)
        };
        let status = solver.solve(&problem, &mut at, &mut report);
        if frame % 10 != 0 {
            continue;
        }
        mechanism.write(&at, &mut pose);
        skeleton.globals(&pose, &mut globals);
        let places: Vec<Vec3> = skeleton
            .joints()
            .map(|joint| globals.get(joint).translation)
            .collect();
        let gap = gap(&places, center);
        let left = (places[BONES] - TARGET).norm();
        announce(&format!(
            "heeds the ball: {heeds}; ball at x = {x:.2} m: {status:?}, {:.2} mm from the target, gap {:.1} cm",
            left * 1e3,
            gap * 1e2
        ));
        pictures.push(picture(&places, &ball)?);
        labels.push(format!("gap {:.1} cm", gap * 1e2));
    }
    Ok(sheet(&pictures, &labels, pictures.len()))
}

/// The least distance between ball and bones, m; negative where they are inside.
fn gap(places: &[Vec3], center: Vec3) -> f32 {
    let from_bone = |pair: &[Vec3]| {
        let bone = pair[1] - pair[0];
        let along = ((center - pair[0]).dot(&bone) / bone.norm_squared()).clamp(0.0, 1.0);
        (pair[0] + bone * along - center).norm() - RADIUS - BALL
    };
    places
        .windows(2)
        .map(from_bone)
        .fold(f32::INFINITY, f32::min)
}

/// Bones inside the ball in orange.
fn picture(places: &[Vec3], ball: &Collider) -> Outcome<Image> {
    let aspect = CELL[0] as f32 / CELL[1] as f32;
    let camera = camera(
        Vec3::new(0.15, 0.75, 0.0),
        Vec3::new(0.6, 0.78, 0.5),
        0.6,
        0.35,
        aspect,
    );
    let mut canvas = floor(CELL[0], CELL[1], &camera, 3.0)?;
    for pair in places.windows(2) {
        let is_inside = gap(pair, ball.world_from_shape.translation) < 0.0;
        let color = if is_inside { ORANGE } else { STEEL };
        bone(&mut canvas, &camera, [pair[0], pair[1]], RADIUS, color);
    }
    bone(&mut canvas, &camera, [TARGET, TARGET], 0.05, GREEN);
    let glass = Style {
        color: BLUE,
        opacity: 0.55,
        ..Style::default()
    };
    canvas.collider(&camera, ball, &glass);
    Ok(canvas.finish())
}
