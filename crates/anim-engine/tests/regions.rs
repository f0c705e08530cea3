//! Surfaces, and regions of them, that follow their joints in ways of their own.
#![cfg(feature = "asset")]
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::sync::{Arc, LazyLock};

use anim_engine::skeleton::BakeOptions;
use anim_engine::skin::{SkinError, VertexBlocks};
use anim_engine::{Character, Deform, EngineError, asset};

/// The figure in its cape.
static FIGURE: LazyLock<asset::Document> = LazyLock::new(asset::builtin::humanoid);

fn figure() -> Character {
    Character::from_document(&FIGURE, &BakeOptions::default()).expect("a character")
}

/// How high each vertex of the first surface lies, in the order of the file: 0 at its lowest, 1 at its highest.
fn heights() -> Vec<f32> {
    let rest = &FIGURE.meshes[0].primitives[0].mesh.rest;
    let heights = || rest.positions.iter().map(|place| place.y);
    let (low, high) = (
        heights().fold(f32::INFINITY, f32::min),
        heights().fold(f32::NEG_INFINITY, f32::max),
    );
    heights()
        .map(|height| (height - low) / (high - low))
        .collect()
}

/// A share that goes over from 0 to 1 between two heights.
fn shares(low: f32, high: f32) -> Vec<f32> {
    let share = |height: f32| ((height - low) / (high - low)).clamp(0.0, 1.0);
    heights().into_iter().map(share).collect()
}

/// All surfaces in the middle of a step.
fn walked(character: Character, threads: usize) -> Vec<VertexBlocks> {
    let mut engine = common::engine(threads);
    let id = engine.spawn(Arc::new(character));
    let actor = engine.actor_mut(id).expect("the actor");
    actor.play("walk").expect("a walk");
    engine.step(0.3);
    engine.actor(id).expect("the actor").surfaces().to_vec()
}

#[test]
fn a_share_of_nothing_or_all_is_either_deformer_to_the_bit_and_others_lie_between() {
    let shares = shares(0.3, 0.7);
    let all_over = |deform| walked(figure().with_deformer(deform).expect("a deformer"), 1);
    for first in [
        Deform::Linear,
        Deform::DualQuaternion,
        Deform::RotationCenter,
    ] {
        for second in Deform::ALL {
            let character = figure().with_deformer(first);
            let character = character.and_then(|c| c.with_region(0, *second, &shares));
            let character = character.expect("a character");
            let sources = character.surfaces()[0].mesh.source_from_vertex().to_vec();
            let mixed = walked(character, 1);
            let (from, to) = (all_over(first), all_over(*second));
            let mut seen = [0; 3];
            for (vertex, source) in sources.iter().enumerate() {
                let found = (mixed[0].position(vertex), mixed[0].normal(vertex));
                let [from, to] = [&from, &to].map(|all| {
                    let surface: &VertexBlocks = &all[0];
                    (surface.position(vertex), surface.normal(vertex))
                });
                let share = shares[*source as usize];
                if share == 0.0 {
                    assert_eq!(found, from, "{first:?} {second:?} {vertex}");
                    seen[0] += 1;
                } else if share == 1.0 {
                    assert_eq!(found, to, "{first:?} {second:?} {vertex}");
                    seen[1] += 1;
                } else {
                    let expected = from.0 + share * (to.0 - from.0);
                    // Three roundings of numbers of 2 m.
                    assert!((found.0 - expected).norm() < 1e-6, "{vertex}");
                    assert!((found.1.norm() - 1.0).abs() < 1e-6, "{vertex}");
                    seen[2] += 1;
                }
            }
            assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
            assert_eq!(mixed[1..], from[1..], "other surfaces are left alone");
        }
    }
}

#[test]
fn regions_lie_over_those_before_and_give_the_same_bits_on_any_number_of_threads() {
    let character = || {
        figure()
            .with_region(0, Deform::DualQuaternion, &shares(0.2, 0.3))
            .and_then(|c| c.with_region(0, Deform::RotationCenter, &shares(0.4, 0.5)))
            .and_then(|c| c.with_region(0, Deform::Spherical, &shares(0.6, 0.7)))
            .expect("a character")
    };
    let one = walked(character(), 1);
    assert_eq!(one, walked(character(), 2), "1 and 2 threads differ");
    assert_eq!(one, walked(character(), 4), "1 and 4 threads differ");
    let all_over = |deform| walked(figure().with_deformer(deform).expect("a deformer"), 1);
    let bands = [
        (Deform::Linear, 0.0..0.2),
        (Deform::DualQuaternion, 0.3..0.4),
        (Deform::RotationCenter, 0.5..0.6),
        (Deform::Spherical, 0.7..1.1),
    ];
    let figure = figure();
    let (mesh, heights) = (&figure.surfaces()[0].mesh, heights());
    for (deform, band) in bands {
        let expected = all_over(deform);
        let mut count = 0;
        for (vertex, source) in mesh.source_from_vertex().iter().enumerate() {
            if band.contains(&heights[*source as usize]) {
                let [found, expected] = [&one, &expected].map(|all| all[0].position(vertex));
                assert_eq!(found, expected, "{deform:?} {vertex}");
                count += 1;
            }
        }
        assert!(count > 20, "{deform:?}: {count} vertices");
    }
}

#[test]
fn one_surface_follows_in_another_way_and_the_others_as_before() {
    let count = figure().surfaces().len();
    assert!(count > 1);
    let linear = walked(figure(), 1);
    let dual = walked(
        figure()
            .with_deformer(Deform::DualQuaternion)
            .expect("a deformer"),
        1,
    );
    for surface in 0..count {
        let character = figure().with_surface_deformer(surface, Deform::DualQuaternion);
        let found = walked(character.expect("a character"), 1);
        for (index, found) in found.iter().enumerate() {
            let expected = if index == surface { &dual } else { &linear };
            assert_eq!(*found, expected[index], "{surface} {index}");
        }
    }
    // A deformer for all of a surface takes its regions away.
    let character = figure()
        .with_region(0, Deform::Trs, &shares(0.3, 0.7))
        .and_then(|character| character.with_deformer(Deform::DualQuaternion));
    assert_eq!(walked(character.expect("a character"), 1), dual);
}

#[test]
fn what_is_no_share_or_no_surface_is_told() {
    let check = |surface: usize, shares: &[f32]| {
        let refused = figure().with_region(surface, Deform::DualQuaternion, shares);
        refused.expect_err("a refusal")
    };
    let fine = shares(0.3, 0.7);
    assert!(matches!(
        check(0, &fine[1..]),
        EngineError::Skin { source: SkinError::Count { found, vertex_count, .. }, .. }
            if found + 1 == vertex_count
    ));
    for odd in [f32::NAN, f32::INFINITY] {
        let mut shares = fine.clone();
        shares[7] = odd;
        assert!(matches!(
            check(0, &shares),
            EngineError::Skin {
                source: SkinError::NotFinite { index: 7, .. },
                ..
            }
        ));
    }
    for odd in [-1e-7, 1.0 + f32::EPSILON, -3.0] {
        let mut shares = fine.clone();
        shares[7] = odd;
        assert!(matches!(
            check(0, &shares),
            EngineError::Skin {
                source: SkinError::NoShare { vertex: 7 },
                ..
            }
        ));
    }
    let message = check(99, &fine).to_string();
    assert_eq!(
        message,
        format!("surface 99 of {} does not exist", figure().surfaces().len())
    );
    let refused = figure().with_surface_deformer(99, Deform::Linear);
    assert!(matches!(
        refused,
        Err(EngineError::NoSurface { surface: 99, .. })
    ));
}
