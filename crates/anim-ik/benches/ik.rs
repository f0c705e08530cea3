//! One solve on a limb of three joints, globals included; each iteration starts from the same pose.

use std::hint::black_box;

use anim_ik::{LookAt, TwoBone, TwoBoneGoal};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Skeleton};
use criterion::{Criterion, criterion_group, criterion_main};

fn limb() -> Option<Skeleton> {
    let bone = |parent, turn, y| JointSpec {
        name: None,
        parent,
        rest: Transform {
            translation: Vec3::new(0.0, y, 0.0),
            rotation: quat::exp(turn),
            ..Transform::IDENTITY
        },
    };
    Skeleton::new(vec![
        bone(None, Vec3::new(0.1, 0.2, 0.3), 1.0),
        bone(Some(0), Vec3::new(0.5, 0.0, 0.0), -0.5),
        bone(Some(1), Vec3::new(0.0, 0.3, 0.0), -0.4),
    ])
    .ok()
}

fn two_bone(c: &mut Criterion) {
    let Some(skeleton) = limb() else { return };
    let Ok(leg) = TwoBone::new(&skeleton, skeleton.joint(2)) else {
        return;
    };
    let mut pose = skeleton.rest().clone();
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(&pose, &mut globals);
    let goals: Vec<_> = (0..256)
        .map(|n| {
            let angle = n as f32 * 0.1;
            TwoBoneGoal::new(Vec3::new(0.3 * angle.cos(), 0.4, 0.3 * angle.sin()))
        })
        .collect();
    let poled: Vec<_> = goals
        .iter()
        .map(|goal| TwoBoneGoal {
            pole: Some(Vec3::new(0.0, 0.8, 2.0)),
            ..goal.clone()
        })
        .collect();
    for (name, goals) in [
        ("anim-ik/two_bone", goals),
        ("anim-ik/two_bone_pole", poled),
    ] {
        let mut next = 0;
        c.benchmark_group(name).bench_function("1", |b| {
            b.iter(|| {
                next = (next + 1) & 255;
                leg.solve(&skeleton, black_box(&goals[next]), &mut pose, &mut globals)
            });
        });
    }
}

fn look_at(c: &mut Criterion) {
    let Some(skeleton) = limb() else { return };
    let joint = skeleton.joint(2);
    let Ok(gaze) = LookAt::new(joint, Vec3::z(), Vec3::y(), 3.2) else {
        return;
    };
    let mut pose = skeleton.rest().clone();
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(&pose, &mut globals);
    let targets: Vec<_> = (0..256)
        .map(|n| Vec3::new((n as f32 * 0.1).cos(), 0.5, (n as f32 * 0.07).sin() + 2.0))
        .collect();
    let mut next = 0;
    c.benchmark_group("anim-ik/look_at")
        .bench_function("1", |b| {
            b.iter(|| {
                next = (next + 1) & 255;
                gaze.solve(
                    &skeleton,
                    black_box(targets[next]),
                    1.0,
                    &mut pose,
                    &mut globals,
                )
            });
        });
}

criterion_group!(benches, two_bone, look_at);
criterion_main!(benches);
