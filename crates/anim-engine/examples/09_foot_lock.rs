//! A clip that walks in place, set going over waves with its feet locked: `cargo run --example 09_foot_lock -- FILE CLIP HIPS
//! SPEED OUT.glb HIP KNEE ANKLE BALL HIP KNEE ANKLE BALL`; without arguments the built-in figure, and nothing is written.
#![allow(
    clippy::print_stdout,
    reason = "an example shows its result where it is run"
)]

use std::path::Path;

use anim_engine::ik::{FootLockOptions, FootMotion, Ground, TwoBone};
use anim_engine::math::{Affine, Vec3};
use anim_engine::skeleton::Pose;
use anim_engine::{Foot, FootPlant, asset};

const FPS: f32 = 30.0;

/// Waves 6 cm high and 2 m long.
fn waves(at: Vec3) -> Option<Ground> {
    let height = 0.03 * (3.1 * at.z).sin();
    let normal = Vec3::new(0.0, 1.0, -0.093 * (3.1 * at.z).cos()).normalize();
    Some(Ground { height, normal })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let built_in = [
        "",
        "walk",
        "hips",
        "0",
        "",
        "upper_leg_l",
        "lower_leg_l",
        "foot_l",
        "toes_l",
        "upper_leg_r",
        "lower_leg_r",
        "foot_r",
        "toes_r",
    ];
    let arguments: Vec<&str> = match given.as_slice() {
        [] => built_in.to_vec(),
        given => given.iter().map(String::as_str).collect(),
    };
    let [file, clip, hips, speed, out, joints @ ..] = arguments.as_slice() else {
        return Err("FILE CLIP HIPS SPEED OUT and four joints a leg".into());
    };
    let mut document = match *file {
        "" => asset::builtin::humanoid(),
        file => asset::load(Path::new(file))?,
    };
    let skeleton = document.skeleton()?;
    let joint = |name: &str| skeleton.find(name).ok_or(format!("no joint '{name}'"));
    let mut feet = FootPlant {
        hips: joint(hips)?,
        feet: Vec::new(),
    };
    for leg in joints.chunks_exact(4) {
        let ankle = joint(leg[2])?;
        feet.feet.push(Foot {
            leg: TwoBone::of(&skeleton, joint(leg[0])?, joint(leg[1])?, ankle)?,
            ankle,
            toes: Some(joint(leg[3])?),
        });
    }
    let named = |c: &&anim_engine::skeleton::ClipSpec| c.name.as_deref() == Some(*clip);
    let clip = document.clips.iter().find(named).ok_or("no such clip")?;
    let speed: f32 = speed.parse()?;
    let mut poses: Vec<Pose> = Vec::new();
    let mut world_from_model = Vec::new();
    // A clip that goes by itself comes back at its end.
    let rounds = if speed == 0.0 { 1.0 } else { 2.0 };
    let frames = (rounds * clip.duration() * FPS) as u16;
    for frame in 0..frames {
        let time = f32::from(frame) / FPS;
        let mut pose = skeleton.rest().clone();
        clip.sample(&skeleton, time % clip.duration(), &mut pose);
        poses.push(pose);
        world_from_model.push(Affine {
            translation: Vec3::z() * (speed * time),
            ..Affine::IDENTITY
        });
    }
    let motion = FootMotion {
        fps: FPS,
        world_from_model: &world_from_model,
        ground: &waves,
    };
    let report = feet.lock(&skeleton, &motion, &FootLockOptions::default(), &mut poses);
    for (side, plants) in report.plants.iter().enumerate() {
        for plant in plants {
            let at = plant.position;
            println!(
                "foot {side} stands in frames {:?} at ({:.2}, {:.2}, {:.2})",
                plant.frames, at.x, at.y, at.z
            );
        }
    }
    println!(
        "slides by {:.3} mm, hips down by {:.1} cm",
        report.slide * 1e3,
        report.drop * 1e2
    );
    if !out.is_empty() {
        // The way goes into the hips, so that any program plays it.
        for (pose, placement) in poses.iter_mut().zip(&world_from_model) {
            let root = skeleton.joint(0);
            let top = skeleton.ancestors(root).last().unwrap_or(root);
            pose.set_translation(top, pose.translation(top) + placement.translation);
        }
        document.clips = vec![asset::baked::clip_of_poses(
            Some("locked"),
            &skeleton,
            FPS,
            &poses,
        )];
        std::fs::write(out, asset::encode(&document, asset::Format::Glb))?;
    }
    Ok(())
}
