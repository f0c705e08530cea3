//! One solve on a limb of three joints, the forward kinematics of what moved included.
//!
//! Successive solves are on different limbs, as in a crowd: each starts from the pose that its own last one left.

use std::hint::black_box;

use anim_ik::{LookAt, TwoBone, TwoBoneGoal};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Pose, Skeleton};
use criterion::{Criterion, criterion_group, criterion_main};

/// Limbs in turn.
const LIMBS: usize = 64;
/// Goals in turn; coprime to the limbs, so that each limb gets another one every time.
const GOALS: usize = 61;

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

fn actors(skeleton: &Skeleton) -> Vec<(Pose, Globals)> {
    let pose = skeleton.rest().clone();
    let mut globals = Globals::new(skeleton);
    skeleton.globals(&pose, &mut globals);
    vec![(pose, globals); LIMBS]
}

fn two_bone(c: &mut Criterion) {
    let Some(skeleton) = limb() else { return };
    let Ok(leg) = TwoBone::new(&skeleton, skeleton.joint(2)) else {
        return;
    };
    let reach = |n: usize| {
        let angle = n as f32 * 0.1;
        TwoBoneGoal::new(Vec3::new(0.3 * angle.cos(), 0.4, 0.3 * angle.sin()))
    };
    let with_pole = |n: usize| TwoBoneGoal {
        pole: Some(Vec3::new(0.0, 0.8, 2.0)),
        ..reach(n)
    };
    let plain: Vec<_> = (0..GOALS).map(reach).collect();
    let poled: Vec<_> = (0..GOALS).map(with_pole).collect();
    for (name, goals) in [
        ("anim-ik/two_bone", plain),
        ("anim-ik/two_bone_pole", poled),
    ] {
        let mut actors = actors(&skeleton);
        let mut n = 0;
        c.benchmark_group(name).bench_function("1", |b| {
            b.iter(|| {
                n += 1;
                let (pose, globals) = &mut actors[n % LIMBS];
                let goal = black_box(&goals[n % GOALS]);
                leg.solve(&skeleton, goal, pose, globals)
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
    let target = |n: usize| {
        let angle = n as f32 * 0.1;
        Vec3::new(angle.cos(), 0.5, (0.7 * angle).sin() + 2.0)
    };
    let targets: Vec<_> = (0..GOALS).map(target).collect();
    let mut actors = actors(&skeleton);
    let mut n = 0;
    c.benchmark_group("anim-ik/look_at")
        .bench_function("1", |b| {
            b.iter(|| {
                n += 1;
                let (pose, globals) = &mut actors[n % LIMBS];
                let target = black_box(targets[n % GOALS]);
                gaze.solve(&skeleton, target, 1.0, pose, globals)
            });
        });
}

criterion_group!(benches, two_bone, look_at);
criterion_main!(benches);
