//! Strands that stand on their ends, and strands on shoulders: where a body pushes along a strand, the strand folds.

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Vec3, quat};
use anim_sim::hair::{Hair, HairDrive, HairMaterial, HairSolver, HairSpec, HairState};

use crate::{FRAME, stretch};

/// How far a vertex may be inside a body, m.
const INSIDE: f32 = 1e-5;

fn at(shape: Shape, translation: Vec3) -> Collider {
    let place = Affine {
        translation,
        ..Affine::IDENTITY
    };
    Collider::new(shape, place)
}

/// The deepest that a vertex is below the thickness that strands keep, m.
fn depth(hair: &Hair, state: &HairState, colliders: &[Collider]) -> f32 {
    let thickness = hair.spec().thickness;
    let depths = state.positions.iter().flat_map(|point| {
        colliders
            .iter()
            .map(move |c| thickness - c.contact(*point).distance)
    });
    depths.fold(f32::NEG_INFINITY, f32::max)
}

fn fastest(state: &HairState) -> f32 {
    state.velocities.iter().map(Vec3::norm).fold(0.0, f32::max)
}

/// Root mean square of all vertices, m/s.
fn mean_speed(state: &HairState) -> f32 {
    let squares: f32 = state.velocities.iter().map(Vec3::norm_squared).sum();
    (squares / state.velocities.len() as f32).sqrt()
}

/// Strands of 26 cm that hang exactly plumb, one of them over the origin.
fn plumb(hold: f32, thickness: f32, material: HairMaterial, max_substep: f32) -> Hair {
    let guides = (0..9)
        .map(|i| {
            let root = Vec3::new((i % 3) as f32, 0.0, (i / 3) as f32) * 0.01;
            vec![root, root - Vec3::y() * 0.26]
        })
        .collect();
    Hair::new(HairSpec {
        guides,
        segments: Some(16),
        material,
        hold,
        thickness,
        max_substep,
        ..HairSpec::default()
    })
    .unwrap()
}

/// Lifts a body by 15 cm, at 10 cm/s, and waits; the state in the end.
fn lift(hair: &Hair, body: impl Fn(f32) -> Collider) -> HairState {
    let mut state = HairState::new(hair);
    let mut solver = HairSolver::new(hair);
    let mut before = [body(0.0)];
    for frame in 1..=360 {
        let after = [body((0.1 * frame as f32 * FRAME).min(0.15))];
        let drive = HairDrive {
            colliders: &after,
            previous_colliders: &before,
            ..HairDrive::default()
        };
        let outcome = solver.step(hair, &drive, FRAME, &mut state);
        assert_eq!(outcome.pinched, 0, "{frame}");
        let depth = depth(hair, &state, &after);
        assert!(depth < INSIDE, "{frame}: {depth}");
        assert!(stretch(hair, &state) < 1e-4, "{frame}");
        assert!(state.is_finite());
        before = after;
    }
    state
}

fn limp() -> HairMaterial {
    HairMaterial {
        young: 0.0,
        shear: 0.0,
        ..HairMaterial::default()
    }
}

#[test]
fn plumb_strands_fold_over_ground_that_rises() {
    for (hold, thickness, material, max_substep) in [
        (0.0, 0.002, HairMaterial::default(), 1.0 / 240.0),
        (0.0, 0.002, HairMaterial::default(), 1.0 / 1000.0),
        (0.0, 0.0, HairMaterial::default(), 1.0 / 240.0),
        (0.0, 0.002, limp(), 1.0 / 240.0),
        (10.0, 0.002, HairMaterial::default(), 1.0 / 240.0),
    ] {
        let hair = plumb(hold, thickness, material, max_substep);
        let state = lift(&hair, |height| {
            at(Shape::Plane, Vec3::y() * (height - 0.27))
        });
        let fastest = fastest(&state);
        assert!(
            fastest < 0.01,
            "{hold} {thickness} {max_substep}: {fastest} m/s"
        );
    }
}

#[test]
fn plumb_strands_fold_over_a_ball_that_rises() {
    for hold in [0.0, 10.0] {
        let hair = plumb(hold, 0.002, HairMaterial::default(), 1.0 / 240.0);
        lift(&hair, |height| {
            at(
                Shape::Sphere { radius: 0.08 },
                Vec3::y() * (height - 0.27 - 0.08),
            )
        });
    }
}

#[test]
fn strands_that_stand_on_their_ends_fall_to_several_sides() {
    let hair = plumb(0.0, 0.002, HairMaterial::default(), 1.0 / 240.0);
    let state = lift(&hair, |height| {
        at(Shape::Plane, Vec3::y() * (height - 0.27))
    });
    let sides: Vec<Vec3> = (0..hair.guide_count())
        .map(|guide| {
            let points = &state.positions[hair.guide(guide)];
            points.iter().sum::<Vec3>() / points.len() as f32 - points[0]
        })
        .collect();
    let apart = |a: &Vec3, b: &Vec3| a.xz().dot(&b.xz()) < 0.0;
    assert!(sides.iter().any(|side| apart(side, &sides[0])), "{sides:?}");
}

/// Neck and shoulders of 6 and 9 cm, and strands around the neck that hang over them, none right on the crest.
#[test]
fn hair_on_shoulders_comes_to_rest() {
    for hold in [0.0, 2.0, 10.0] {
        let guides = (0..24)
            .map(|i| {
                let (sine, cosine) = ((i as f32 + 0.5) * 0.2618).sin_cos();
                let out = Vec3::new(cosine, 0.0, sine);
                let root = out * 0.07;
                vec![
                    root,
                    root + out * 0.03 - Vec3::y() * 0.05,
                    root + out * 0.05 - Vec3::y() * 0.3,
                ]
            })
            .collect();
        let hair = Hair::new(HairSpec {
            guides,
            segments: Some(20),
            hold,
            ..HairSpec::default()
        })
        .unwrap();
        let across = Affine {
            linear: quat::from_axis_angle(Vec3::z(), std::f32::consts::FRAC_PI_2)
                .to_rotation_matrix()
                .into_inner(),
            translation: Vec3::y() * -0.23,
        };
        let body = [
            at(
                Shape::Capsule {
                    radius: 0.06,
                    half_length: 0.1,
                },
                Vec3::y() * -0.1,
            ),
            Collider::new(
                Shape::Capsule {
                    radius: 0.09,
                    half_length: 0.15,
                },
                across,
            ),
        ];
        let drive = HairDrive {
            colliders: &body,
            ..HairDrive::default()
        };
        let mut state = HairState::new(&hair);
        let mut solver = HairSolver::new(&hair);
        for frame in 0..300 {
            solver.step(&hair, &drive, FRAME, &mut state);
            let depth = depth(&hair, &state, &body);
            assert!(depth < INSIDE, "{hold} {frame}: {depth}");
            assert!(stretch(&hair, &state) < 1e-4, "{hold} {frame}");
        }
        let speed = mean_speed(&state);
        assert!(speed < 1e-3, "{hold}: {speed} m/s");
        let touching = state
            .positions
            .iter()
            .filter(|p| body[1].contact(**p).distance < 0.0025);
        let touching = touching.count();
        assert!(touching > 10, "{hold}: {touching}");
    }
}
