//! Hair on bodies and hair on hair.

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Vec3};
use anim_sim::hair::{Hair, HairDrive, HairMaterial, HairSolver, HairSpec, HairState, HairVolume};

use crate::{FRAME, level_rod, no_gravity, run, settle, strand, stretch, tip};

pub(crate) fn ball(radius: f32, center: Vec3, friction: f32) -> Collider {
    let place = Affine {
        translation: center,
        ..Affine::IDENTITY
    };
    let mut ball = Collider::new(Shape::Sphere { radius }, place);
    ball.friction = friction;
    ball
}

/// The deepest that a vertex or the middle of a segment is below the surface, m.
fn depth(hair: &Hair, state: &HairState, colliders: &[Collider]) -> f32 {
    (0..hair.guide_count())
        .flat_map(|guide| state.positions[hair.guide(guide)].windows(2))
        .flat_map(|pair| [pair[1], (pair[0] + pair[1]) * 0.5])
        .flat_map(|point| colliders.iter().map(move |c| -c.contact(point).distance))
        .fold(f32::NEG_INFINITY, f32::max)
}

/// Lets a level strand of 30 cm fall on something; how fast its fastest vertex is after five seconds, and how many touch.
fn fall_on(collider: Collider) -> (f32, usize) {
    let hair = strand(
        vec![Vec3::zeros(), Vec3::x() * 0.3],
        24,
        HairMaterial::default(),
    );
    let colliders = [collider];
    let drive = HairDrive {
        colliders: &colliders,
        ..HairDrive::default()
    };
    let mut state = HairState::new(&hair);
    let mut solver = HairSolver::new(&hair);
    for frame in 0..300 {
        let outcome = solver.step(&hair, &drive, FRAME, &mut state);
        assert_eq!(outcome.pinched, 0);
        let depth = depth(&hair, &state, &colliders);
        assert!(depth < 0.0, "{frame}: {depth}");
        assert!(stretch(&hair, &state) < 1e-4);
    }
    let speeds = state.velocities.iter().map(|v| v.norm());
    let touching = state
        .positions
        .iter()
        .filter(|p| colliders[0].contact(**p).distance < 0.0025);
    (speeds.fold(0.0, f32::max), touching.count())
}

#[test]
fn a_strand_that_falls_on_a_ball_stays_out_of_it() {
    let (_, touching) = fall_on(ball(0.08, Vec3::new(0.1, -0.1, 0.0), 0.5));
    assert!(touching > 3, "{touching}");
}

#[test]
fn a_strand_that_falls_on_the_ground_lies_still() {
    let place = Affine {
        translation: Vec3::y() * -0.1,
        ..Affine::IDENTITY
    };
    let mut ground = Collider::new(Shape::Plane, place);
    ground.friction = 0.5;
    let (speed, touching) = fall_on(ground);
    assert!(speed < 1e-3, "{speed}");
    assert!(touching > 10, "{touching}");
}

#[test]
fn a_rod_rests_on_a_ball_as_a_propped_cantilever_does() {
    // A unit load at the free end of a level rod, held up in its middle: the prop bears 5/2 of it, and the end goes down by
    // 7 P a³ / 12 EI, where a = 1/2.
    let hair = level_rod(32);
    let load = 0.02;
    let colliders = [ball(0.05, Vec3::new(0.5, -0.052, 0.0), 0.0)];
    let drive = HairDrive {
        colliders: &colliders,
        loads: &[(32, -Vec3::y() * load)],
        ..no_gravity()
    };
    let tip = tip(&settle(&hair, &drive, 3.0));
    let expected = 7.0 / 12.0 * 0.125 * load;
    assert!((tip.y / -expected - 1.0).abs() < 0.02, "{tip} {expected}");
}

#[test]
fn nothing_is_too_fast_to_be_met() {
    // A fist of 10 cm passes a curtain of hair at 20 m/s.
    let guides = (0..16)
        .map(|i| {
            let x = i as f32 * 0.01 - 0.08;
            vec![Vec3::new(x, 0.0, 0.0), Vec3::new(x, -0.4, 0.0)]
        })
        .collect();
    let hair = Hair::new(HairSpec {
        guides,
        segments: Some(24),
        ..HairSpec::default()
    })
    .unwrap();
    let mut state = HairState::new(&hair);
    let mut solver = HairSolver::new(&hair);
    let at = |frame: i32| ball(0.05, Vec3::new(0.0, -0.2, -0.3 + frame as f32 / 3.0), 0.3);
    let mut met = 0.0_f32;
    for frame in 0..60 {
        let (previous, colliders) = ([at(frame)], [at(frame + 1)]);
        let drive = HairDrive {
            colliders: &colliders,
            previous_colliders: &previous,
            ..HairDrive::default()
        };
        solver.step(&hair, &drive, FRAME, &mut state);
        assert!(state.is_finite());
        assert!(stretch(&hair, &state) < 1e-4);
        if frame == 0 {
            // The fist has come through where the curtain was: what was in its way is pushed along.
            met = state.positions.iter().map(|p| p.z).fold(0.0, f32::max);
        }
    }
    assert!(met > 0.08, "{met}");
    let off = state.positions.iter().zip(hair.groom());
    let off = off.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
    assert!(off < 0.3, "it swings back: {off}");
}

#[test]
fn roots_inside_the_head_do_not_push_their_strands_out() {
    // The scalp is 3 mm below the ball that stands for the head.
    let root = Vec3::y() * 0.097;
    let hair = strand(
        vec![root, root + Vec3::new(0.02, 0.04, 0.0)],
        8,
        HairMaterial::default(),
    );
    let colliders = [ball(0.1, Vec3::zeros(), 0.3)];
    let drive = HairDrive {
        colliders: &colliders,
        ..no_gravity()
    };
    let state = settle(&hair, &drive, 1.0);
    for (a, b) in state.positions.iter().zip(hair.groom()) {
        assert!((a - b).norm() < 1e-6);
    }
}

#[test]
fn friction_holds_a_strand_that_would_slide_off() {
    // Laid over a ball and pulled sideways less, then more, than friction bears.
    let slide = |friction: f32, wind: f32| {
        let mut spec = HairSpec {
            guides: vec![vec![Vec3::zeros(), Vec3::x() * 0.2]],
            segments: Some(20),
            friction: 1.0,
            hold: 0.0,
            groom_gravity: Vec3::zeros(),
            ..HairSpec::default()
        };
        spec.material.young = 0.0;
        spec.material.shear = 0.0;
        let hair = Hair::new(spec).unwrap();
        let colliders = [ball(1.0, Vec3::new(0.0, -1.0, 0.0), friction * friction)];
        let drive = HairDrive {
            colliders: &colliders,
            wind: Vec3::z() * wind,
            ..HairDrive::default()
        };
        let mut state = HairState::new(&hair);
        let mut solver = HairSolver::new(&hair);
        (0..30)
            .map(|_| {
                solver.step(&hair, &drive, FRAME, &mut state);
                tip(&state).z.abs()
            })
            .fold(0.0, f32::max)
    };
    // The wind's force on a kilogram is drag × speed, 2/s × v, against μ g.
    let free = slide(0.0, 0.5);
    assert!(free > 0.02, "{free}");
    let held = slide(0.5, 0.5);
    assert!(held < 2e-3, "{held}");
    let torn = slide(0.5, 10.0);
    assert!(torn > 0.05, "{torn}");
}

#[test]
fn neighbours_that_feel_each_other_move_together() {
    let guides: Vec<_> = (0..16)
        .map(|i| {
            let root = Vec3::new((i % 4) as f32, 0.0, (i / 4) as f32) * 0.004;
            vec![root, root - Vec3::y() * 0.2]
        })
        .collect();
    // Every other guide is pushed: how far the tips spread.
    let spread = |volume: Option<HairVolume>| {
        let hair = Hair::new(HairSpec {
            guides: guides.clone(),
            segments: Some(10),
            volume,
            ..HairSpec::default()
        })
        .unwrap();
        let loads: Vec<_> = (0..16)
            .filter(|i| i % 2 == 0)
            .map(|i| (hair.guide(i).end as u32 - 1, Vec3::x() * 4e-6))
            .collect();
        let drive = HairDrive {
            loads: &loads,
            ..HairDrive::default()
        };
        let mut state = HairState::new(&hair);
        run(&hair, &drive, FRAME, 10, &mut state);
        assert!(state.is_finite());
        let tip = |i: usize| state.positions[hair.guide(i).end - 1].x - guides[i][0].x;
        tip(0) - tip(1)
    };
    let (alone, together) = (
        spread(None),
        spread(Some(HairVolume {
            friction: 60.0,
            ..HairVolume::default()
        })),
    );
    assert!(together < 0.7 * alone, "{together} {alone}");
}

#[test]
fn crowded_hair_spreads() {
    // Groomed apart, blown together.
    let guides: Vec<_> = (0..9)
        .map(|i| {
            let root = Vec3::x() * (i as f32 - 4.0) * 0.02;
            vec![root, root - Vec3::y() * 0.2]
        })
        .collect();
    let width = |pressure: f32| {
        let hair = Hair::new(HairSpec {
            guides: guides.clone(),
            segments: Some(10),
            hold: 0.0,
            volume: Some(HairVolume {
                pressure,
                friction: 0.0,
                cell: 0.02,
            }),
            ..HairSpec::default()
        })
        .unwrap();
        let loads: Vec<_> = (0..9)
            .flat_map(|i| {
                let pull = Vec3::x() * (4.0 - i as f32) * 4e-7;
                hair.guide(i).map(move |v| (v as u32, pull * 0.3))
            })
            .collect();
        let drive = HairDrive {
            loads: &loads,
            ..HairDrive::default()
        };
        let mut state = HairState::new(&hair);
        run(&hair, &drive, FRAME, 120, &mut state);
        let tips = (0..9).map(|i| state.positions[hair.guide(i).end - 1].x);
        tips.map(f32::abs).fold(0.0, f32::max)
    };
    let (flat, full) = (width(0.0), width(2.0));
    assert!(full > 1.05 * flat, "{full} {flat}");
}

/// Ground that rises under a hanging strand folds it up, and then rests.
#[test]
fn a_strand_that_is_pressed_together_comes_to_rest() {
    for (hold, max_substep) in [
        (10.0, 1.0 / 240.0),
        (10.0, 1.0 / 1000.0),
        (0.0, 1.0 / 240.0),
        (0.0, 1.0 / 1000.0),
    ] {
        let bent = vec![
            Vec3::zeros(),
            Vec3::new(0.02, -0.13, 0.0),
            Vec3::new(0.0, -0.26, 0.01),
        ];
        let hair = Hair::new(HairSpec {
            guides: vec![bent],
            segments: Some(16),
            hold,
            max_substep,
            ..HairSpec::default()
        })
        .unwrap();
        let ground = |height: f32| {
            let place = Affine {
                translation: Vec3::y() * height,
                ..Affine::IDENTITY
            };
            [Collider::new(Shape::Plane, place)]
        };
        let mut state = HairState::new(&hair);
        let mut solver = HairSolver::new(&hair);
        let mut before = ground(-0.27);
        for frame in 1..=180 {
            let after = ground((-0.27 + 0.05 * frame as f32 / 60.0).min(-0.22));
            let drive = HairDrive {
                colliders: &after,
                previous_colliders: &before,
                ..HairDrive::default()
            };
            solver.step(&hair, &drive, FRAME, &mut state);
            before = after;
        }
        let fastest = state.velocities.iter().map(Vec3::norm).fold(0.0, f32::max);
        assert!(fastest < 0.01, "{hold} {max_substep}: {fastest} m/s");
        let lowest = state.positions.iter().map(|p| p.y).fold(0.0, f32::min);
        assert!(lowest > -0.2205, "{hold} {max_substep}: {lowest}");
    }
}
