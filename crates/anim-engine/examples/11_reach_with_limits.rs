//! A person reaches for five places with shoulders, elbows and a back that only go so far: `cargo run --example
//! 11_reach_with_limits [PICTURE.png]`.
//!
//! What cannot be reached is an answer: the nearest there is, how much is left, and which joints stand in the way.

mod common;

use anim_engine::asset::builtin::{Capsule, humanoid, humanoid_capsules};
use anim_engine::ik::{
    Goal, IkProblem, IkReport, IkSolver, LevenbergMarquardt, Mechanism, SearchOptions,
};
use anim_engine::math::Vec3;
use anim_engine::skeleton::{Globals, JointLimit, JointLimitSpec, Skeleton, Swing};
use anim_view::{Image, sheet};
use common::{INK, ORANGE, Outcome, announce, bone, camera, caption, floor, stacked, write};

const CELL: [u32; 2] = [300, 380];
const SKIN: [f32; 3] = [0.45, 0.40, 0.34];
const GREEN: [f32; 3] = [0.05, 0.45, 0.10];

fn main() -> Outcome {
    let skeleton = humanoid().skeleton()?;
    let mechanism = Mechanism::from_skeleton(&skeleton, &limits(&skeleton)?, None)?;
    let fingers = mechanism.find("fingers_r").ok_or("no fingers")?;
    let rest = mechanism.rest();
    // The hand gets to the back by no way straight from rest, so the search starts again elsewhere; so it does before it
    // calls a place too far.
    let mut solver = LevenbergMarquardt::new(SearchOptions {
        restarts: 20,
        max_iterations: 200,
        ..SearchOptions::default()
    });
    let mut report = IkReport::default();
    let mut pose = skeleton.rest().clone();
    let mut globals = Globals::new(&skeleton);

    let targets = [
        ("in front", [-0.15, 1.35, 0.50]),
        ("the buckle", [-0.02, 1.02, 0.30]),
        ("overhead", [-0.25, 1.95, 0.10]),
        ("the back", [-0.02, 1.15, -0.16]),
        ("too far", [-0.45, 1.50, 0.95]),
    ];
    let (mut frames, mut labels) = (Vec::new(), Vec::new());
    for (name, target) in targets {
        let goals = [Goal::position(fingers, target.into())];
        let problem = IkProblem::new(&mechanism, &goals);
        let mut at = rest.clone();
        let status = solver.solve(&problem, &mut at, &mut report);
        let left = report.residuals.first().map_or(0.0, |left| left.position) * 1e3;
        let joint_name = |joint: &usize| mechanism.joints()[*joint].name.as_deref();
        let hit: Vec<&str> = report.limits_hit.iter().filter_map(joint_name).collect();
        let hit_text = if hit.is_empty() {
            "none".to_owned()
        } else {
            hit.join(", ")
        };
        announce(&format!(
            "{name}: {status:?}, {left:.2} mm left, at their limits: {hit_text}; all within: {}",
            mechanism.is_within(&at)
        ));
        mechanism.write(&at, &mut pose);
        skeleton.globals(&pose, &mut globals);
        let target = Vec3::from(target.map(|v| v as f32));
        frames.push(picture(&skeleton, &globals, target, &hit)?);
        labels.push(format!("{name}: {left:.1} mm left"));
    }
    let strip = sheet(&frames, &labels, frames.len());
    let title = caption(strip.width, "targets green, joints at their limits orange");
    write("11_reach_with_limits", &stacked(&[title, strip]))
}

/// A back that leans and twists a little, a right arm with one hinge; all else stands still.
fn limits(skeleton: &Skeleton) -> Outcome<Vec<JointLimit>> {
    // The arms rest 40 degrees below the horizon, and forearms bend forward.
    let arm = Vec3::new(-0.766, -0.643, 0.0);
    let ball = |axis, lean, twist: f32| JointLimitSpec::Ball {
        axis,
        swing: Swing::Cone { angle: lean },
        twist: [-twist, twist],
    };
    let of = |name: &str| match name {
        "spine" | "spine_1" | "chest" => ball(Vec3::y(), 0.15, 0.15),
        "shoulder_r" => JointLimitSpec::Universal {
            axis: arm,
            swing: Swing::Cone { angle: 0.2 },
        },
        "upper_arm_r" => ball(arm, 1.7, 1.2),
        "lower_arm_r" => JointLimitSpec::Hinge {
            axis: arm.cross(&Vec3::z()),
            range: [0.0, 2.5],
        },
        "hand_r" => JointLimitSpec::Universal {
            axis: arm,
            swing: Swing::Cone { angle: 0.9 },
        },
        _ => JointLimitSpec::Fixed,
    };
    let joints = skeleton.joints();
    let limits = joints.map(|joint| JointLimit::new(of(skeleton.name(joint).unwrap_or_default())));
    Ok(limits.collect::<Result<_, _>>()?)
}

/// The body in capsules, joints at their limits in orange, the target in green.
fn picture(skeleton: &Skeleton, globals: &Globals, target: Vec3, hit: &[&str]) -> Outcome<Image> {
    let aspect = CELL[0] as f32 / CELL[1] as f32;
    let half = Vec3::new(0.5, 1.0, 0.4);
    // From the right and behind for what is behind.
    let yaw = if target.z < 0.0 { -2.6 } else { 0.5 };
    let camera = camera(Vec3::y(), half, yaw, 0.1, aspect);
    let mut canvas = floor(CELL[0], CELL[1], &camera, 3.0)?;
    for Capsule {
        joint,
        radius,
        from,
        to,
    } in humanoid_capsules()
    {
        let Some(id) = skeleton.find(&joint) else {
            continue;
        };
        let is_arm = joint.contains("arm_r") || joint.contains("hand_r");
        let color = match (hit.contains(&joint.as_str()), is_arm) {
            (true, _) => ORANGE,
            (false, true) => [0.60, 0.50, 0.36],
            (false, false) => SKIN,
        };
        let ends = [from, to].map(|end| globals.get(id).transform_point(Vec3::from(end)));
        bone(&mut canvas, &camera, ends, radius, color);
    }
    bone(&mut canvas, &camera, [target, target], 0.055, GREEN);
    if let Some(fingers) = skeleton.find("fingers_r") {
        let fingers = globals.get(fingers).translation;
        canvas.line(&camera, fingers, target, INK, 2.0);
    }
    Ok(canvas.finish())
}
