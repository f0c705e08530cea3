//! Hair on a head, on skin that deforms, and on any number of threads.

use anim_math::{Transform, Vec3, quat};
use anim_sim::hair::{Hair, HairDrive, HairSolver, HairSpec, HairState, HairVolume};

use crate::FRAME;
use crate::contact::ball;

/// A patch of 20 guides of 6 or 12 segments that lean out of the plane, and a ball among them.
fn tuft() -> Hair {
    let guides = (0..20u16)
        .map(|i| {
            let root = Vec3::new(f32::from(i % 5), 0.0, f32::from(i / 5)) * 0.01;
            let segments: u16 = if i < 11 { 6 } else { 12 };
            (0..=segments)
                .map(|k| {
                    root + Vec3::new(0.3, 1.0, 0.1) * (0.15 * f32::from(k) / f32::from(segments))
                })
                .collect()
        })
        .collect();
    Hair::new(HairSpec {
        guides,
        volume: Some(HairVolume::default()),
        ..HairSpec::default()
    })
    .unwrap()
}

fn nodding(frame: i32) -> Transform {
    let angle = 0.4 * libm::sinf(frame as f32 * 0.2);
    Transform {
        translation: Vec3::new(0.3, 0.01 * frame as f32, -0.2),
        rotation: quat::from_axis_angle(Vec3::new(1.0, 2.0, 0.0).normalize(), angle),
        ..Transform::IDENTITY
    }
}

#[test]
fn roots_that_move_as_one_head_give_the_bits_of_that_head() {
    let hair = tuft();
    let step = |state: &mut HairState, solver: &mut HairSolver, frame: i32, per_guide: bool| {
        let [before, after] = [frame, frame + 1].map(nodding);
        let ball = ball(0.03, after.translation + Vec3::new(0.03, 0.12, 0.02), 0.3);
        let [starts, ends] = [[before; 20], [after; 20]];
        let mut drive = HairDrive {
            world_from_root: after,
            previous_world_from_root: before,
            colliders: &[ball],
            ..HairDrive::default()
        };
        if per_guide {
            drive.world_from_roots = &ends;
            drive.previous_world_from_roots = &starts;
        }
        solver.step(&hair, &drive, FRAME, state);
    };
    let [mut one, mut many] = [(); 2].map(|()| (HairState::new(&hair), HairSolver::new(&hair)));
    for frame in 0..40 {
        step(&mut one.0, &mut one.1, frame, false);
        step(&mut many.0, &mut many.1, frame, true);
        assert_eq!(one.0, many.0, "{frame}");
    }
    assert!(one.0.velocities.iter().any(|v| v.norm() > 0.1));
}

#[test]
fn a_guide_with_a_root_of_its_own_moves_as_on_a_head_of_its_own() {
    // Two guides far from each other, so that neither feels the other; the second nods with a skin of its own.
    let points = |x: f32| vec![Vec3::x() * x, Vec3::new(x, 0.1, 0.05)];
    let guide = |guides| {
        Hair::new(HairSpec {
            guides,
            segments: Some(8),
            ..HairSpec::default()
        })
        .unwrap()
    };
    let (both, alone) = (
        guide(vec![points(0.0), points(0.5)]),
        guide(vec![points(0.5)]),
    );
    let (mut states, mut lone) = (HairState::new(&both), HairState::new(&alone));
    let mut solvers = [HairSolver::new(&both), HairSolver::new(&alone)];
    for frame in 0..60 {
        let [before, after] = [frame, frame + 1].map(nodding);
        let drive = HairDrive {
            world_from_roots: &[Transform::IDENTITY, after],
            previous_world_from_roots: &[Transform::IDENTITY, before],
            ..HairDrive::default()
        };
        solvers[0].step(&both, &drive, FRAME, &mut states);
        let drive = HairDrive {
            world_from_root: after,
            previous_world_from_root: before,
            ..HairDrive::default()
        };
        solvers[1].step(&alone, &drive, FRAME, &mut lone);
    }
    // The head that rests keeps its groom; the other swings. Only rounding differs with the origin.
    for (now, groom) in states.positions[..9].iter().zip(both.groom()) {
        assert!((now - groom).norm() < 1e-4);
    }
    for (a, b) in states.positions[9..].iter().zip(&lone.positions) {
        assert!((a - b).norm() < 1e-4, "{a} {b}");
    }
    assert!(lone.velocities[8].norm() > 0.05);
}

#[test]
fn contact_gives_the_same_bits_for_any_number_of_threads() {
    let hair = tuft();
    let run = |threads: usize| {
        let mut state = HairState::new(&hair);
        let mut solver = HairSolver::new(&hair);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let mut met = 0;
        pool.build().unwrap().install(|| {
            for frame in 0..40 {
                let [before, after] = [frame, frame + 1].map(nodding);
                let fist =
                    |at: &Transform| ball(0.05, at.translation + Vec3::new(0.03, 0.14, 0.02), 0.3);
                let drive = HairDrive {
                    world_from_root: after,
                    previous_world_from_root: before,
                    previous_colliders: &[fist(&before)],
                    colliders: &[fist(&after)],
                    ..HairDrive::default()
                };
                solver.step(&hair, &drive, FRAME, &mut state);
                let near = |p: &&Vec3| {
                    fist(&after)
                        .contact(after.rotation * **p + after.translation)
                        .distance
                        < 0.003
                };
                met += state.positions.iter().filter(near).count();
            }
        });
        assert!(met > 100, "{met}");
        state
    };
    let one = run(1);
    assert!(one.is_finite());
    for threads in [2, 3, 8] {
        assert_eq!(run(threads), one, "{threads}");
    }
}
