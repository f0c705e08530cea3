//! Surfaces that keep off themselves: never through, friction by Coulomb's law, out of a tangled start.
#![allow(
    missing_docs,
    dead_code,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs; scenes are shared"
)]

#[path = "common/scenes.rs"]
mod scenes;

use anim_geom::intersect;
use anim_math::Vec3;
use anim_sim::cloth::{self, ClothSpec};
use anim_sim::{Drive, Model, SelfContact, Solver, State, Xpbd};
use scenes::{Sheet, ball, cloth as sheets, floor, judge};

fn level(n: u32, size: f32, corner: Vec3) -> Sheet {
    Sheet {
        n,
        size,
        corner,
        upright: false,
    }
}

fn crossed(model: &Model, state: &State) -> usize {
    intersect::self_intersections(&state.positions, &model.spec().triangles)
        .unwrap()
        .len()
}

#[test]
fn a_sheet_dropped_on_another_lies_on_it_at_the_thickness() {
    let parts = [
        level(6, 0.2, Vec3::zeros()),
        level(6, 0.2, Vec3::new(0.003, 0.02, 0.004)),
    ];
    let spec = ClothSpec {
        damping: 4.0,
        ..sheets(&parts, (0..36).collect())
    };
    let model = cloth::build(&spec).unwrap();
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 10);
    for _ in 0..60 {
        solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
        assert_eq!(crossed(&model, &state), 0);
    }
    for p in &state.positions[36..] {
        // Borders hang over a little.
        assert!((0.0..0.006).contains(&p.y), "{p:?}");
    }
    let fastest = state
        .velocities
        .iter()
        .map(|v| v.norm())
        .fold(0.0, f32::max);
    assert!(fastest < 2e-2, "{fastest}");
}

#[test]
fn a_bullet_does_not_pass_a_single_layer() {
    let mut spec = sheets(
        &[level(6, 0.2, Vec3::zeros())],
        (0..6).chain(30..36).collect(),
    );
    let first = spec.positions.len() as u32;
    for corner in [Vec3::zeros(), Vec3::x() * 2e-3, Vec3::z() * 2e-3] {
        spec.positions.push(Vec3::new(0.07, 0.3, 0.11) + corner);
    }
    spec.triangles.push([first, first + 1, first + 2]);
    let model = cloth::build(&spec).unwrap();
    let mut state = State::new(&model);
    for v in &mut state.velocities[first as usize..] {
        *v = -Vec3::y() * 1000.0;
    }
    let mut solver = Xpbd::new(&model, 5);
    for _ in 0..10 {
        solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
        assert_eq!(crossed(&model, &state), 0);
    }
    let lowest = state.positions.iter().map(|p| p.y).fold(f32::MAX, f32::min);
    let bullet = state.positions[first as usize].y;
    assert!(bullet > lowest, "{bullet} {lowest}");
}

#[test]
fn a_ball_smaller_than_the_cells_does_not_slip_between_them() {
    let n = 6;
    let sheet = Sheet {
        n,
        size: 0.3,
        corner: Vec3::new(-0.15, 0.15, 0.0),
        upright: true,
    };
    let model = cloth::build(&sheets(&[sheet], (0..n).collect())).unwrap();
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 10);
    let place = |frame: u32| {
        [ball(
            Vec3::new(0.005, 0.012, -0.05 + 0.02 * frame as f32),
            0.01,
        )]
    };
    for frame in 0..8 {
        let drive = Drive {
            colliders: &place(frame + 1),
            previous_colliders: &place(frame),
            ..Drive::default()
        };
        solver.step(&model, &drive, 1.0 / 60.0, &mut state);
    }
    // The ball has gone 6 cm beyond the plane of the sheet, and has taken the cell it met along.
    let front = state.positions.iter().map(|p| p.z).fold(0.0, f32::max);
    assert!(front > 0.09, "{front}");
}

#[test]
fn crossed_sheets_come_apart() {
    let n = 6;
    let mut spec = sheets(
        &[
            level(n, 0.2, Vec3::zeros()),
            level(n, 0.2, Vec3::new(0.013, -0.01, 0.017)),
        ],
        vec![],
    );
    let apart = spec.positions.clone();
    // One border of the lower sheet sticks out through the upper one.
    for p in &mut spec.positions[36..42] {
        p.y += 0.02;
    }
    let rest = std::mem::replace(&mut spec.positions, apart);
    let model = cloth::build(&spec).unwrap();
    let mut state = State::new(&model);
    state.reset(&rest);
    let start = crossed(&model, &state);
    assert!(start > 0);
    let mut solver = Xpbd::new(&model, 10);
    let drive = Drive {
        gravity: Vec3::zeros(),
        ..Drive::default()
    };
    let mut first = None;
    let mut left = start;
    for _ in 0..60 {
        let outcome = solver.step(&model, &drive, 1.0 / 60.0, &mut state);
        first.get_or_insert(outcome.pinched);
        left = crossed(&model, &state);
    }
    assert!(first > Some(0), "it is reported");
    assert_eq!(left, 0, "of {start}");
    assert!(state.velocities.iter().all(|v| v.norm() < 1.0));
}

#[test]
fn plates_that_close_pinch_the_cloth_and_let_it_go() {
    let parts = [-0.02, 0.0, 0.02].map(|y| level(4, 0.1, Vec3::new(0.001 * y, y, 0.0)));
    let model = cloth::build(&sheets(&parts, (0..16).chain(32..48).collect())).unwrap();
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 10);
    let mut pinched = 0;
    for frame in 1..=40u32 {
        // The plates meet halfway at frame 10, and open again.
        let gap = (1.0 - frame as f32 / 10.0).abs().min(1.0) * 0.02 + 1e-4;
        let at = |v: u32, sign: f32| {
            (
                v,
                Vec3::new(
                    model.rest()[v as usize].x,
                    sign * gap,
                    model.rest()[v as usize].z,
                ),
            )
        };
        let pins: Vec<_> = (0..16)
            .map(|v| at(v, -1.0))
            .chain((32..48).map(|v| at(v, 1.0)))
            .collect();
        let drive = Drive {
            pins: &pins,
            ..Drive::default()
        };
        pinched += solver.step(&model, &drive, 1.0 / 60.0, &mut state).pinched;
        assert!(state.is_finite());
    }
    assert!(pinched > 0 || crossed(&model, &state) == 0);
    assert_eq!(crossed(&model, &state), 0, "after release");
}

#[test]
fn what_leaves_is_not_held() {
    let parts = [
        level(4, 0.1, Vec3::zeros()),
        level(4, 0.1, Vec3::new(0.001, 0.003, 0.002)),
    ];
    let model = cloth::build(&ClothSpec {
        drag: 0.0,
        damping: 0.0,
        ..sheets(&parts, vec![])
    })
    .unwrap();
    let mut state = State::new(&model);
    for v in &mut state.velocities[16..] {
        v.y = 5.0;
    }
    let drive = Drive {
        gravity: Vec3::zeros(),
        ..Drive::default()
    };
    Xpbd::new(&model, 10).step(&model, &drive, 1.0 / 60.0, &mut state);
    for v in &state.velocities[16..] {
        assert!((v.y - 5.0).abs() < 0.05, "{v:?}");
    }
}

#[test]
fn coincident_and_degenerate_surfaces_stay_finite() {
    let mut spec = sheets(
        &[level(4, 0.1, Vec3::zeros()), level(4, 0.1, Vec3::zeros())],
        vec![0],
    );
    spec.triangles.push([1, 2, 3]);
    spec.triangles.push([5, 5, 6]);
    let model = cloth::build(&spec).unwrap();
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 4);
    for frame in 0..10 {
        if frame == 5 {
            state.positions[7] = Vec3::repeat(f32::NAN);
            state.velocities[8] = Vec3::repeat(f32::INFINITY);
        }
        let far = [(0, Vec3::repeat(if frame > 7 { 1e6 } else { 0.0 }))];
        let drive = Drive {
            pins: &far,
            ..Drive::default()
        };
        solver.step(&model, &drive, 1.0 / 60.0, &mut state);
        assert!(state.is_finite());
    }
}

#[test]
fn no_combination_of_contacts_loses_one() {
    for flags in 0..8u32 {
        let [has_ball, has_floor, guarantee] = [0, 1, 2].map(|bit| flags >> bit & 1 == 1);
        let parts = [
            level(6, 0.2, Vec3::new(-0.1, 0.06, -0.1)),
            level(6, 0.2, Vec3::new(-0.097, 0.08, -0.104)),
        ];
        let contact = SelfContact {
            guarantee,
            ..SelfContact::default()
        };
        let spec = ClothSpec {
            self_contact: Some(contact),
            ..sheets(&parts, vec![])
        };
        let model = cloth::build(&spec).unwrap();
        let mut state = State::new(&model);
        let mut colliders = Vec::new();
        if has_ball {
            colliders.push(ball(Vec3::new(0.0, 0.0, 0.0), 0.05));
        }
        if has_floor {
            colliders.push(floor(-0.05));
        }
        let drive = Drive {
            colliders: &colliders,
            ..Drive::default()
        };
        let mut solver = Xpbd::new(&model, 10);
        for _ in 0..20 {
            solver.step(&model, &drive, 1.0 / 60.0, &mut state);
            // Without the guarantee surfaces may pass a little way into each other, and come apart again.
            assert!(!guarantee || crossed(&model, &state) == 0, "{flags}");
            for p in &state.positions {
                assert!(
                    colliders.iter().all(|c| c.contact(*p).distance > 0.0),
                    "{flags}: {p:?}"
                );
            }
        }
        assert_eq!(crossed(&model, &state), 0, "{flags}");
    }
}

#[test]
fn a_hanging_sheet_is_left_alone_by_contact() {
    let spec = sheets(&[level(12, 0.5, Vec3::zeros())], (0..12).collect());
    let states = [spec.self_contact, None].map(|self_contact| {
        let model = cloth::build(&ClothSpec {
            self_contact,
            ..spec.clone()
        })
        .unwrap();
        let mut state = State::new(&model);
        let mut solver = Xpbd::new(&model, 10);
        for _ in 0..60 {
            let outcome = solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
            assert_eq!((outcome.slowed, outcome.pinched), (0, 0));
        }
        state
    });
    assert_eq!(states[0], states[1]);
}

#[test]
fn stacked_sheets_never_cross() {
    let scene = scenes::stacked(6).unwrap();
    let verdict = judge(&scene, 30, |_, _, _, _| {}).unwrap();
    assert_eq!(
        (verdict.crossed_frames, verdict.inside),
        (0, 0),
        "{verdict:?}"
    );
    assert!(verdict.is_finite);
}
