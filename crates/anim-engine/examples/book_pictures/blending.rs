//! Chapter 5: masks, synchronisation, transitions, root motion.

use std::error::Error;
use std::f32::consts::{FRAC_PI_3, TAU};

use anim_engine::{Character, asset};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{
    Clip, DeadBlend, Globals, Inertialization, JointSpec, Layer, MaskSpec, Mode, MotionSample,
    Passage, Pose, RootMotion, Skeleton, SkeletonError, Wrap, blend,
};
use anim_skin::VertexBlocks;
use anim_view::{Camera, Canvas, Image, Style, ViewError, sheet};

use crate::{BLUE, GREEN, GREY, ORANGE, Picture, RED, plot};

pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    let character = Character::from_document(&asset::builtin::humanoid(), &Default::default())?;
    Ok(vec![
        ("05-mask", mask(&character)?),
        ("05-sync", sync(&character)?),
        ("05-transition", transition()?),
        ("05-root-motion", root_motion()?),
    ])
}

fn layer<'a>(pose: &'a Pose, weight: f32, mask: Option<&'a [f32]>) -> Layer<'a> {
    Layer {
        pose,
        weight,
        mask,
        mode: Mode::Override,
    }
}

fn clip<'a>(character: &'a Character, name: &str) -> Result<&'a Clip, Box<dyn Error>> {
    Ok(&character.clips()[character.clip_named(name)?].clip)
}

/// A wave over a walk, and what it is made of.
fn mask(character: &Character) -> Result<Image, Box<dyn Error>> {
    let skeleton = character.skeleton();
    let [mut walk, mut wave, mut both] = [(); 3].map(|()| skeleton.rest().clone());
    clip(character, "walk")?.sample(0.16, &mut walk);
    clip(character, "wave")?.sample(1.3, &mut wave);
    for pose in [&mut walk, &mut wave] {
        let root = skeleton.joint(0);
        pose.set_translation(root, skeleton.rest().translation(root));
    }
    let upper = MaskSpec {
        subtree: vec!["spine".into()],
        feather: 2,
        ..MaskSpec::default()
    };
    let upper = upper.resolve(skeleton)?;
    let mut lower = upper.clone();
    lower.invert();
    let layers = [
        layer(&walk, 1.0, Some(lower.as_slice())),
        layer(&wave, 1.0, Some(upper.as_slice())),
    ];
    blend(skeleton.rest(), &layers, &mut both);
    let poses = [skeleton.rest(), &walk, &wave, &both];
    let frames = poses.map(|pose| person(character, pose));
    let frames: Vec<_> = frames.into_iter().collect::<Result<_, _>>()?;
    let labels = ["rest", "walk", "wave", "wave above, walk below"].map(str::to_owned);
    Ok(sheet(&frames, &labels, 4))
}

/// The built-in person without the cape, which would have to be simulated.
fn person(character: &Character, pose: &Pose) -> Result<Image, ViewError> {
    let mut canvas = Canvas::new(190, 250, 3)?;
    let (low, high) = (Vec3::new(-0.5, 0.0, -0.45), Vec3::new(0.5, 1.95, 0.45));
    let camera = Camera::framing(low, high, 0.7, 0.1, canvas.aspect());
    canvas.ground_grid(&camera, 0.0, 4.0);
    let mut globals = Globals::new(character.skeleton());
    character.skeleton().globals(pose, &mut globals);
    let surfaces = character.surfaces().iter();
    for surface in surfaces.filter(|surface| surface.name.as_deref() != Some("cape")) {
        let (mesh, mut palette) = (&surface.mesh, surface.mesh.palette_buffer());
        mesh.palette(&globals, &mut palette);
        let mut skinned = VertexBlocks::new(mesh.vertex_count());
        mesh.linear(mesh.rest(), &palette, &mut skinned);
        let vertices = 0..skinned.len();
        let positions: Vec<_> = vertices.clone().map(|v| skinned.position(v)).collect();
        let normals: Vec<_> = vertices.map(|v| skinned.normal(v)).collect();
        let style = Style {
            color: surface.color,
            ..Style::default()
        };
        canvas.mesh(&camera, &positions, &normals, mesh.triangles(), &style);
    }
    Ok(canvas.finish())
}

/// The left foot of a slow and a fast walk, blended in and out of step.
fn sync(character: &Character) -> Result<Image, Box<dyn Error>> {
    let (skeleton, walk) = (character.skeleton(), clip(character, "walk")?);
    let foot = character.joint_named("foot_l")?;
    let durations = [walk.duration(), 0.75 * walk.duration()];
    let [mut slow, mut fast, mut out] = [(); 3].map(|()| skeleton.rest().clone());
    let mut globals = Globals::new(skeleton);
    let mut height = |times: [f32; 2]| {
        let place = |time, duration: f32| {
            let phase = Wrap::Loop.apply(f64::from(time / duration), 1.0);
            phase * walk.duration()
        };
        walk.sample(place(times[0], durations[0]), &mut slow);
        walk.sample(place(times[1], durations[1]), &mut fast);
        blend(
            skeleton.rest(),
            &[layer(&slow, 0.5, None), layer(&fast, 0.5, None)],
            &mut out,
        );
        skeleton.globals(&out, &mut globals);
        globals.get(foot).translation.y
    };
    let mean = 0.5 * (durations[0] + durations[1]);
    let curve = |height: &mut dyn FnMut(f32) -> f32| -> Vec<[f32; 2]> {
        crate::graph(0.0, 6.0, 600, height)
    };
    let apart = curve(&mut |time| height([time, time]));
    let together = curve(&mut |time| height(durations.map(|duration| duration * time / mean)));
    let lines = [
        ("each at its own time", apart, ORANGE),
        ("common phase", together, BLUE),
    ];
    let axes = ["time, s", "height of the left ankle, m"];
    Ok(plot(
        "A slow and a fast walk, half and half",
        axes,
        &lines,
        640,
    )?)
}

/// A switch of clips at 1 s, four ways.
fn transition() -> Result<Image, Box<dyn Error>> {
    let skeleton = Skeleton::new(vec![JointSpec {
        name: None,
        parent: None,
        rest: Transform::IDENTITY,
    }])?;
    let joint = skeleton.joint(0);
    let pose = |degrees: f32| {
        let mut pose = skeleton.rest().clone();
        pose.set_rotation(
            joint,
            quat::from_axis_angle(Vec3::z(), degrees.to_radians()),
        );
        pose
    };
    let old = |time: f32| pose(45.0 + 30.0 * libm::sinf(TAU * 2.2 * (time - 1.0) + 0.4));
    let new = |time: f32| pose(-40.0 + 15.0 * libm::cosf(TAU * 0.8 * time));
    let (dt, duration) = (1.0 / 120.0, 0.4);
    let before = [old(1.0 - dt), old(1.0)];
    let mut inertial = Inertialization::new(1);
    let new_then = [new(1.0 - dt), new(1.0)];
    inertial.start(
        [&before[0], &before[1]],
        [&new_then[0], &new_then[1]],
        dt,
        duration,
    );
    let mut dead = DeadBlend::new(1);
    dead.start([&before[0], &before[1]], dt, duration, 0.1);

    let mut curves: [Vec<[f32; 2]>; 4] = Default::default();
    for frame in 72..=204 {
        let time = frame as f32 * dt;
        let mut shown = [(); 4].map(|()| if frame <= 120 { old(time) } else { new(time) });
        if frame > 120 {
            let s = ((time - 1.0) / duration).min(1.0);
            let weight = s * s * (3.0 - 2.0 * s);
            let (from, to) = (old(time), new(time));
            let layers = [layer(&from, 1.0 - weight, None), layer(&to, weight, None)];
            blend(skeleton.rest(), &layers, &mut shown[1]);
            inertial.apply(dt, &mut shown[2]);
            dead.apply(dt, &mut shown[3]);
        }
        for (curve, pose) in curves.iter_mut().zip(&shown) {
            let degrees = quat::log(pose.rotation(joint)).z.to_degrees();
            curve.push([time, degrees]);
        }
    }
    let [cut, crossfade, inertialised, dead_blended] = curves;
    let lines = [
        ("cut", cut, GREY),
        ("crossfade", crossfade, ORANGE),
        ("inertialised", inertialised, BLUE),
        ("dead blended", dead_blended, GREEN),
    ];
    Ok(plot(
        "A switch at 1 s, over 0.4 s",
        ["time, s", "angle, deg"],
        &lines,
        640,
    )?)
}

/// Rounds of a clip that turns by a sixth of a circle of 2 m.
fn root_motion() -> Result<Image, Box<dyn Error>> {
    let motion = sixth()?;
    let place = |time: f64| {
        let delta = motion.delta(&Passage::new(0.0, time, 1.0, Wrap::Loop));
        [delta.translation.z, delta.translation.x]
    };
    let composed = (0..=240).map(|n| place(f64::from(n) * 0.025)).collect();
    let round = motion.at(1.0).translation;
    let added = (0..=120).map(|n| {
        let (rounds, time) = (n / 40, (n % 40) as f32 * 0.025);
        let place = motion.at(time).translation + round * rounds as f32;
        [place.z, place.x]
    });
    let lines = [
        ("displacements added, 3 rounds", added.collect(), RED),
        ("composed, 6 rounds", composed, BLUE),
    ];
    Ok(plot("", ["z, m", "x, m, seen from above"], &lines, 520)?)
}

fn sixth() -> Result<RootMotion, SkeletonError> {
    let sample = |n: u8| {
        let yaw = FRAC_PI_3 * f32::from(n) / 60.0;
        let (x, z) = (2.0 - 2.0 * libm::cosf(yaw), 2.0 * libm::sinf(yaw));
        MotionSample {
            translation: Vec3::new(x, 0.0, z),
            yaw,
        }
    };
    RootMotion::new(1.0, (0..=60).map(sample).collect())
}
