//! Grooms as people make them: a published one, and anything that a random number generator would call a groom.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests may panic, report what they skip, and need no docs"
)]

use std::path::PathBuf;

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Transform, Vec3, quat};
use anim_sim::hair::{Hair, HairDrive, HairSolver, HairSpec, HairState};
use proptest::prelude::*;

const FRAME: f32 = 1.0 / 60.0;

/// The guides of a TressFX 4 file: a header of 160 bytes, then x, y, z and an inverse mass for each vertex.
fn tressfx(bytes: &[u8]) -> Vec<Vec<Vec3>> {
    let word = |at: usize| bytes[at..at + 4].try_into().unwrap();
    let header = |index: usize| u32::from_le_bytes(word(4 * index)) as usize;
    let (strands, vertices, start) = (header(1), header(2), header(3));
    let point = |index: usize| {
        let at = |axis: usize| f32::from_le_bytes(word(start + 16 * index + 4 * axis));
        Vec3::new(at(0), at(1), at(2))
    };
    (0..strands)
        .map(|s| (0..vertices).map(|v| point(s * vertices + v)).collect())
        .collect()
}

fn mohawk() -> Option<Vec<Vec<Vec3>>> {
    let root = std::env::var_os("ANIM_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let bytes = std::fs::read(root.join("hair/Ratboy_mohawk.tfx")).ok();
    let demanded = std::env::var_os("ANIM_REQUIRE_DATA").is_some_and(|value| value == "1");
    assert!(bytes.is_some() || !demanded, "no hair/Ratboy_mohawk.tfx");
    if bytes.is_none() {
        eprintln!("skipped: no hair/Ratboy_mohawk.tfx");
    }
    bytes.map(|bytes| tressfx(&bytes))
}

fn stretch(hair: &Hair, state: &HairState) -> f32 {
    let mut worst = 0.0_f32;
    for guide in 0..hair.guide_count() {
        let range = hair.guide(guide);
        let (rest, now) = (
            &hair.groom()[range.clone()],
            &state.positions[range.clone()],
        );
        for (rest, now) in rest.windows(2).zip(now.windows(2)) {
            let (rest, now) = ((rest[1] - rest[0]).norm(), (now[1] - now[0]).norm());
            // Positions are rounded, up to a metre from the origin.
            worst = worst.max(((now - rest).abs() - 5e-7) / rest);
        }
    }
    worst
}

#[test]
fn a_published_groom_stands_still_and_comes_back_after_a_shake() {
    let Some(guides) = mohawk() else { return };
    // It has strands of a hundredth of a millimetre.
    let length = |g: &Vec<Vec3>| g.windows(2).map(|p| (p[1] - p[0]).norm()).sum::<f32>();
    let guides: Vec<_> = guides
        .into_iter()
        .filter(|g| length(g) > 1e-3)
        .step_by(8)
        .collect();
    let hair = Hair::new(HairSpec {
        guides,
        segments: Some(12),
        // A mohawk is set with gel.
        hold: 40.0,
        ..HairSpec::default()
    })
    .unwrap();
    assert!(hair.guide_count() > 200);
    let mut state = HairState::new(&hair);
    let mut solver = HairSolver::new(&hair);
    let off = |state: &HairState| {
        let pairs = state.positions.iter().zip(hair.groom());
        pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max)
    };
    for _ in 0..30 {
        solver.step(&hair, &HairDrive::default(), FRAME, &mut state);
    }
    assert!(off(&state) < 1e-5, "{}", off(&state));
    let at = |frame: i32| {
        let angle = 0.6 * libm::sinf(frame.min(32) as f32 / 32.0 * 4.0 * std::f32::consts::PI);
        Transform::from_rotation(quat::from_axis_angle(Vec3::z(), angle))
    };
    let mut shaken = 0.0_f32;
    for frame in 0..240 {
        let drive = HairDrive {
            previous_world_from_root: at(frame),
            world_from_root: at(frame + 1),
            ..HairDrive::default()
        };
        solver.step(&hair, &drive, FRAME, &mut state);
        assert!(state.is_finite());
        assert!(stretch(&hair, &state) < 1e-4);
        shaken = shaken.max(off(&state));
    }
    assert!(shaken > 0.01, "{shaken}");
    assert!(off(&state) < 0.005, "{}", off(&state));
}

fn point() -> impl Strategy<Value = Vec3> {
    let c = -0.2_f32..0.2;
    [c.clone(), c.clone(), c].prop_map(Vec3::from)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_groom_stays_finite_and_keeps_its_lengths(
        guides in prop::collection::vec(prop::collection::vec(point(), 2..9), 1..12),
        segments in prop::option::of(1_u32..20),
        radius in 1e-5_f32..1e-2,
        center in point(),
        speed in -30.0_f32..30.0,
        spin in -20.0_f32..20.0,
    ) {
        let mut spec = HairSpec { guides, segments, ..HairSpec::default() };
        spec.material.radius = radius;
        let Ok(hair) = Hair::new(spec) else { return Ok(()) };
        let at = |frame: i32| Transform {
            translation: Vec3::x() * (speed * FRAME * frame as f32),
            rotation: quat::from_axis_angle(Vec3::y(), spin * FRAME * frame as f32),
            ..Transform::IDENTITY
        };
        let place = Affine { translation: center, ..Affine::IDENTITY };
        let mut ball = Collider::new(Shape::Sphere { radius: 0.1 }, place);
        ball.friction = 0.4;
        let mut state = HairState::new(&hair);
        let mut solver = HairSolver::new(&hair);
        for frame in 0..12 {
            let drive = HairDrive {
                previous_world_from_root: at(frame),
                world_from_root: at(frame + 1),
                colliders: std::slice::from_ref(&ball),
                ..HairDrive::default()
            };
            solver.step(&hair, &drive, FRAME, &mut state);
            prop_assert!(state.is_finite());
            prop_assert!(stretch(&hair, &state) < 1e-4);
        }
    }

    #[test]
    fn no_groom_panics(
        guides in prop::collection::vec(
            prop::collection::vec([any::<f32>(), any::<f32>(), any::<f32>()].prop_map(Vec3::from), 0..4), 0..4),
        segments in prop::option::of(0_u32..5),
        young in any::<f32>(),
    ) {
        let mut spec = HairSpec { guides, segments, ..HairSpec::default() };
        spec.material.young = young;
        let _ = Hair::new(spec);
    }
}
