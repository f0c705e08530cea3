//! Hair against answers that are known in closed form, and what must hold at any speed and frame rate.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

mod contact;
mod levels;
mod roots;
mod standing;

use anim_math::{Transform, Vec3, quat};
use anim_sim::hair::{Hair, HairDrive, HairMaterial, HairSolver, HairSpec, HairState};

const FRAME: f32 = 1.0 / 60.0;

/// A rod of EI = 1 N·m² and GJ = `twist`, 0.1 kg/m, that comes to rest soon.
fn rod(twist: f32) -> HairMaterial {
    let radius: f32 = 0.01;
    let fourth = std::f32::consts::PI * radius.powi(4);
    HairMaterial {
        radius,
        density: 0.1 / (std::f32::consts::PI * radius * radius),
        young: 4.0 / fourth,
        shear: 2.0 * twist / fourth,
        damping: 0.02,
        drag: 8.0,
    }
}

/// One guide along the points, whose groom is its rest shape.
fn strand(points: Vec<Vec3>, segments: u32, material: HairMaterial) -> Hair {
    Hair::new(HairSpec {
        guides: vec![points],
        segments: Some(segments),
        material,
        groom_gravity: Vec3::zeros(),
        hold: 0.0,
        ..HairSpec::default()
    })
    .unwrap()
}

fn level_rod(segments: u32) -> Hair {
    strand(vec![Vec3::zeros(), Vec3::x()], segments, rod(0.8))
}

/// Where it comes to rest.
fn settle(hair: &Hair, drive: &HairDrive<'_>, seconds: f32) -> HairState {
    let mut state = HairState::new(hair);
    run(hair, drive, FRAME, (seconds / FRAME) as u32, &mut state);
    state
}

fn run(hair: &Hair, drive: &HairDrive<'_>, dt: f32, steps: u32, state: &mut HairState) {
    let mut solver = HairSolver::new(hair);
    for _ in 0..steps {
        solver.step(hair, drive, dt, state);
    }
}

fn tip(state: &HairState) -> Vec3 {
    *state.positions.last().unwrap()
}

/// The largest |length / rest − 1| of any segment.
fn stretch(hair: &Hair, state: &HairState) -> f32 {
    (0..hair.guide_count())
        .flat_map(|guide| {
            let range = hair.guide(guide);
            let (rest, now) = (&hair.groom()[range.clone()], &state.positions[range]);
            rest.windows(2)
                .zip(now.windows(2))
                .map(|(rest, now)| {
                    ((now[1] - now[0]).norm() / (rest[1] - rest[0]).norm() - 1.0).abs()
                })
                .collect::<Vec<_>>()
        })
        .fold(0.0, f32::max)
}

fn no_gravity<'a>() -> HairDrive<'a> {
    HairDrive {
        gravity: Vec3::zeros(),
        ..HairDrive::default()
    }
}

/// Tip load P at the end of a level rod of length 1 and EI 1.
fn under_tip_load(segments: u32, load: f32) -> Vec3 {
    let hair = level_rod(segments);
    let drive = HairDrive {
        loads: &[(segments, -Vec3::y() * load)],
        ..no_gravity()
    };
    tip(&settle(&hair, &drive, 3.0))
}

#[test]
fn a_cantilever_of_n_segments_gives_a_half_over_n_squared_too_much() {
    for n in [4, 16] {
        let ratio = -under_tip_load(n, 0.02).y / (0.02 / 3.0);
        let expected = 1.0 + 0.5 / (n * n) as f32;
        assert!((ratio - expected).abs() < 5e-4, "{n}: {ratio} {expected}");
    }
}

#[test]
fn large_deflections_are_those_of_the_elastica_and_converge_with_the_square_of_the_segments() {
    for (load, down, back) in [
        (0.5, 0.16214, 0.01592),
        (1.0, 0.30172, 0.05643),
        (2.0, 0.49346, 0.16064),
        (5.0, 0.71379, 0.38763),
        (10.0, 0.81061, 0.55500),
    ] {
        let error = |segments| {
            let tip = under_tip_load(segments, load);
            (tip - Vec3::new(1.0 - back, -down, 0.0)).norm()
        };
        let (coarse, fine) = (error(8), error(16));
        assert!(fine < 4e-3, "{load}: {fine}");
        assert!(coarse / fine > 3.0, "{load}: {coarse} {fine}");
    }
}

#[test]
fn a_rod_sags_under_its_own_weight_as_the_elastica_does() {
    // w L³ / EI, deflection, and x of the tip.
    for (weight, down, along) in [
        (1.0, 0.12347, 0.99125),
        (5.0, 0.49591, 0.84666),
        (10.0, 0.70020, 0.65635),
    ] {
        let hair = level_rod(16);
        let drive = HairDrive {
            gravity: Vec3::y() * (-weight / 0.1),
            ..HairDrive::default()
        };
        let tip = tip(&settle(&hair, &drive, 3.0));
        assert!(
            (tip - Vec3::new(along, -down, 0.0)).norm() < 4e-3,
            "{weight}: {tip}"
        );
    }
}

#[test]
fn torque_at_the_end_of_a_shaft_twists_it_by_its_length_over_gj() {
    // A shaft of 1 m along x and an arm of 0.1 m along z, pushed down at its end.
    let corner = vec![Vec3::zeros(), Vec3::x(), Vec3::new(1.0, 0.0, 0.1)];
    let hair = strand(corner, 22, rod(0.01));
    let (force, arm) = (0.02, 0.1);
    let drive = HairDrive {
        loads: &[(22, -Vec3::y() * force)],
        ..no_gravity()
    };
    let state = settle(&hair, &drive, 4.0);
    let angle = ((state.positions[20].y - tip(&state).y) / arm).asin();
    // The torque falls as the arm turns.
    let expected = force * arm * angle.cos() * 1.0 / 0.01;
    assert!((angle / expected - 1.0).abs() < 0.02, "{angle} {expected}");
}

fn helix(radius: f32, pitch: f32, turns: f32, points: u32) -> Vec<Vec3> {
    (0..=points)
        .map(|i| {
            let along = i as f32 / points as f32 * turns;
            let (sine, cosine) = (along * std::f32::consts::TAU).sin_cos();
            Vec3::new(radius * (cosine - 1.0), -pitch * along, radius * sine)
        })
        .collect()
}

#[test]
fn a_curl_keeps_its_shape_without_gravity_and_comes_back_to_it() {
    let hair = strand(helix(0.01, 0.02, 3.0, 48), 48, HairMaterial::default());
    let mut state = HairState::new(&hair);
    run(&hair, &no_gravity(), FRAME, 60, &mut state);
    let off = |state: &HairState| {
        let pairs = state.positions.iter().zip(hair.groom());
        pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max)
    };
    assert!(off(&state) < 1e-6, "{}", off(&state));
    let pulled = HairDrive {
        loads: &[(48, Vec3::new(1e-5, -2e-5, 0.0))],
        ..no_gravity()
    };
    run(&hair, &pulled, FRAME, 60, &mut state);
    assert!(off(&state) > 0.01, "{}", off(&state));
    run(&hair, &no_gravity(), FRAME, 600, &mut state);
    assert!(off(&state) < 1e-4, "{}", off(&state));
}

#[test]
fn a_groom_hangs_as_it_was_modelled() {
    let arc: Vec<Vec3> = (0..=20)
        .map(|i| {
            let (sine, cosine) = (i as f32 * 0.1).sin_cos();
            Vec3::new(sine, cosine - 1.0, 0.1 * sine * sine) * 0.1
        })
        .collect();
    for points in [arc, helix(0.01, 0.03, 4.0, 64)] {
        let hair = Hair::new(HairSpec {
            guides: vec![points],
            segments: Some(32),
            ..HairSpec::default()
        })
        .unwrap();
        let state = settle(&hair, &HairDrive::default(), 2.0);
        let pairs = state.positions.iter().zip(hair.groom());
        let off = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
        // A strand this soft goes where the rounding of its frames pushes it, by 1e-4 of its length and more.
        assert!(off < 1e-4, "{off}");
    }
}

#[test]
fn a_strand_without_stiffness_swings_as_a_hanging_chain() {
    let length = 0.3;
    let slack = HairMaterial {
        young: 0.0,
        shear: 0.0,
        damping: 0.0,
        drag: 0.0,
        ..HairMaterial::default()
    };
    let hair = strand(vec![Vec3::zeros(), -Vec3::y() * length], 32, slack);
    let mut state = HairState::new(&hair);
    for (velocity, position) in state.velocities.iter_mut().zip(hair.groom()) {
        // Nearly the lowest mode, J₀(2.4048 √(1 − s)), and small.
        let s = -position.y / length;
        *velocity = Vec3::x() * (0.05 * s * (0.6 + 0.4 * s));
    }
    let mut solver = HairSolver::new(&hair);
    let (dt, mut crossings, mut last) = (1.0 / 240.0, Vec::new(), 0.0);
    for step in 1..1200 {
        solver.step(&hair, &HairDrive::default(), dt, &mut state);
        let x = tip(&state).x;
        if last > 0.0 && x <= 0.0 {
            crossings.push((step as f32 - x / (x - last)) * dt);
        }
        last = x;
    }
    let period = (crossings[3] - crossings[0]) / 3.0;
    let expected = std::f32::consts::TAU / 1.2024 * (length / 9.81).sqrt();
    assert!(
        (period / expected - 1.0).abs() < 0.01,
        "{period} {expected}"
    );
}

#[test]
fn a_long_strand_hangs_the_same_at_any_frame_rate_and_never_stretches() {
    let hair = strand(
        vec![Vec3::zeros(), Vec3::x() * 0.4],
        100,
        HairMaterial::default(),
    );
    let tips = [30.0, 60.0, 144.0].map(|rate| {
        let mut state = HairState::new(&hair);
        let mut solver = HairSolver::new(&hair);
        for _ in 0..(6.0 * rate) as u32 {
            solver.step(&hair, &HairDrive::default(), 1.0 / rate, &mut state);
            assert!(stretch(&hair, &state) < 1e-4);
        }
        tip(&state)
    });
    for tip in &tips[1..] {
        assert!((tip - tips[0]).norm() < 1e-3, "{tips:?}");
    }
}

#[test]
fn a_teleport_leaves_the_shape_alone() {
    let hair = strand(
        vec![Vec3::zeros(), Vec3::x() * 0.2],
        16,
        HairMaterial::default(),
    );
    let [still, moved] = [false, true].map(|teleports| {
        let mut state = HairState::new(&hair);
        let mut solver = HairSolver::new(&hair);
        for step in 0..60 {
            let mut place = Transform::IDENTITY;
            if teleports && step >= 10 {
                place.translation = Vec3::new(10.0, 1.0, -3.0);
            }
            let drive = HairDrive {
                world_from_root: place,
                previous_world_from_root: place,
                ..HairDrive::default()
            };
            solver.step(&hair, &drive, FRAME, &mut state);
        }
        state
    });
    for (a, b) in still.positions.iter().zip(&moved.positions) {
        assert!((a - b).norm() < 1e-6);
    }
}

#[test]
fn a_head_that_turns_fast_and_stops_keeps_its_hair() {
    let guides = (0..20)
        .map(|i| {
            let (sine, cosine) = (i as f32).sin_cos();
            let out = Vec3::new(cosine, 0.1 * (i % 5) as f32, sine).normalize();
            vec![out * 0.1, out * 0.15, out * 0.15 - Vec3::y() * 0.25]
        })
        .collect();
    let hair = Hair::new(HairSpec {
        guides,
        segments: Some(20),
        ..HairSpec::default()
    })
    .unwrap();
    let mut state = HairState::new(&hair);
    let mut solver = HairSolver::new(&hair);
    let at = |angle: f32| Transform::from_rotation(quat::from_axis_angle(Vec3::y(), angle));
    let speed = 720.0_f32.to_radians();
    for frame in 0..420 {
        let angle = |frame: i32| speed * frame.min(60) as f32 * FRAME;
        let drive = HairDrive {
            previous_world_from_root: at(angle(frame)),
            world_from_root: at(angle(frame + 1)),
            ..HairDrive::default()
        };
        let outcome = solver.step(&hair, &drive, FRAME, &mut state);
        assert_eq!(outcome.slowed, 0);
        assert!(state.is_finite());
        assert!(stretch(&hair, &state) < 1e-4);
        if frame == 40 {
            let flung = state
                .positions
                .iter()
                .map(|p| p.xz().norm())
                .fold(0.0, f32::max);
            assert!(flung > 0.2, "centrifugal force lifts it: {flung}");
        }
    }
    let fastest = state
        .velocities
        .iter()
        .map(|v| v.norm())
        .fold(0.0, f32::max);
    assert!(fastest < 0.01, "{fastest}");
}

#[test]
fn no_time_changes_no_bit() {
    let hair = level_rod(8);
    let mut state = settle(&hair, &HairDrive::default(), 0.2);
    let before = state.clone();
    for dt in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        run(&hair, &HairDrive::default(), dt, 1, &mut state);
        assert_eq!(state, before);
    }
}

#[test]
fn what_is_not_finite_goes_back_to_the_groom_and_leaves_others_alone() {
    let guides = (0..9)
        .map(|i| vec![Vec3::x() * i as f32, Vec3::new(i as f32, 0.0, 0.2)])
        .collect();
    let hair = Hair::new(HairSpec {
        guides,
        segments: Some(4),
        ..HairSpec::default()
    })
    .unwrap();
    let drive = HairDrive {
        wind: Vec3::x(),
        ..HairDrive::default()
    };
    let good = settle(&hair, &drive, 0.1);
    let mut state = HairState::new(&hair);
    let mut solver = HairSolver::new(&hair);
    for step in 0..6 {
        if step == 2 {
            state.velocities[7].y = f32::NAN;
            state.orientations[17] = quat::from_axis_angle(Vec3::x(), f32::NAN);
        }
        solver.step(&hair, &drive, FRAME, &mut state);
        assert!(state.is_finite());
    }
    for (index, (a, b)) in state.positions.iter().zip(&good.positions).enumerate() {
        let healed = [1, 4]
            .iter()
            .any(|guide| hair.guide(*guide).contains(&index));
        assert!(healed || a == b, "{index}");
    }
    let bad = HairDrive {
        gravity: Vec3::repeat(f32::NAN),
        wind: Vec3::repeat(f32::INFINITY),
        loads: &[(3, Vec3::repeat(f32::NAN)), (1_000_000, Vec3::x())],
        world_from_root: Transform::from_translation(Vec3::repeat(f32::NAN)),
        ..HairDrive::default()
    };
    for _ in 0..3 {
        solver.step(&hair, &bad, FRAME, &mut state);
        assert!(state.is_finite());
    }
}

#[test]
fn a_cantilever_rings_at_its_lowest_frequency() {
    let mut material = rod(0.8);
    material.damping = 0.0;
    material.drag = 0.0;
    let hair = Hair::new(HairSpec {
        guides: vec![vec![Vec3::zeros(), Vec3::x()]],
        segments: Some(24),
        material,
        groom_gravity: Vec3::zeros(),
        hold: 0.0,
        max_substep: 1.0 / 2000.0,
        ..HairSpec::default()
    })
    .unwrap();
    let mut state = HairState::new(&hair);
    for (velocity, position) in state.velocities.iter_mut().zip(hair.groom()) {
        *velocity = Vec3::y() * (0.1 * position.x * position.x);
    }
    let mut solver = HairSolver::new(&hair);
    let (dt, mut crossings, mut last) = (1.0 / 1000.0, Vec::new(), 0.0);
    for step in 1..2000 {
        solver.step(&hair, &no_gravity(), dt, &mut state);
        let y = tip(&state).y;
        if last > 0.0 && y <= 0.0 {
            crossings.push((step as f32 - y / (y - last)) * dt);
        }
        last = y;
    }
    let period = (crossings[3] - crossings[1]) / 2.0;
    // ω = 3.516 √(EI / ρA L⁴).
    let expected = std::f32::consts::TAU / (3.516 * (1.0_f32 / 0.1).sqrt());
    assert!(
        (period / expected - 1.0).abs() < 0.01,
        "{period} {expected}"
    );
}
