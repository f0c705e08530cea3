//! Boxes around actors hold all that a frame makes, and actors that are not seen are not skinned.
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::sync::Arc;

use anim_engine::math::{Affine, Mat3, Vec3};
use anim_engine::skeleton::BakeOptions;
use anim_engine::skin::{Aabb, MorphTarget};
use anim_engine::{Actor, ActorId, Character, Deform, Engine, Stage, asset};

const FRAME: f32 = 1.0 / 60.0;

/// A figure that walks.
fn walking(document: &asset::Document, deform: Deform) -> (Engine, ActorId) {
    let character = Character::from_document(document, &BakeOptions::default());
    let character = character.and_then(|character| character.with_deformer(deform));
    spawned(character.expect("a character"))
}

fn spawned(character: Character) -> (Engine, ActorId) {
    let mut engine = common::engine(1);
    let id = engine.spawn(Arc::new(character));
    let actor = engine.actor_mut(id).expect("the actor");
    actor.play("walk").expect("a walk");
    (engine, id)
}

fn actor(engine: &Engine, id: ActorId) -> &Actor {
    engine.actor(id).expect("the actor")
}

/// One frame whose boxes are asked for before anything is skinned: that in model space and that in the world.
fn step(engine: &mut Engine, id: ActorId) -> [Option<Aabb>; 2] {
    for stage in [Stage::Animate, Stage::Ik, Stage::Simulate] {
        engine.run(stage, FRAME);
    }
    let actor = actor(engine, id);
    let bounds = [actor.bounds(), actor.world_bounds()];
    engine.run(Stage::Skin, FRAME);
    bounds
}

/// That all an actor shows is in its boxes.
fn check_inside(actor: &Actor, [model, world]: [Option<Aabb>; 2]) {
    let (model, world) = (model.expect("a box"), world.expect("a box"));
    let world_from_model = actor.world_from_model();
    for surface in actor.surfaces() {
        for vertex in 0..surface.len() {
            let place = surface.position(vertex);
            assert!(model.contains(place), "{place} {model:?}");
            let place = world_from_model.transform_point(place);
            assert!(world.contains(place), "{place} {world:?}");
        }
    }
    for point in actor.hairs().iter().flat_map(|hair| hair.strands()) {
        assert!(world.contains(*point), "{point} {world:?}");
    }
}

#[test]
fn every_vertex_of_every_frame_of_a_walk_lies_inside() {
    let document = asset::builtin::humanoid();
    for deform in [
        Deform::Linear,
        Deform::DualQuaternion,
        Deform::RotationCenter,
    ] {
        let (mut engine, id) = walking(&document, deform);
        let mut most = 0.0_f32;
        for _ in 0..120 {
            let bounds = step(&mut engine, id);
            let actor = actor(&engine, id);
            check_inside(actor, bounds);
            // Whoever sees nothing of a box twice as large as the figure sees nothing of the figure.
            let exact = actor.surfaces().iter().map(|surface| surface.bounds());
            let exact = exact.fold(Aabb::EMPTY, |all, bounds| all.union(&bounds));
            let spare = bounds[0].expect("a box").half_extents() - exact.half_extents();
            assert!(
                spare.max() < exact.half_extents().max(),
                "{deform:?} {spare}"
            );
            most = most.max(spare.max());
        }
        println!("{deform:?}: at most {most:.3} m beyond the vertices");
    }
}

/// Bind matrices then scale by a hundredth, and dual quaternions take that apart.
#[test]
fn a_figure_that_is_stored_in_centimetres_moves_alike_and_has_boxes_too() {
    let mut document = asset::builtin::humanoid();
    let primitives = document.meshes.iter_mut().flat_map(|m| &mut m.primitives);
    for primitive in primitives {
        let positions = &mut primitive.mesh.rest.positions;
        positions.iter_mut().for_each(|place| *place *= 100.0);
    }
    let to_metres = Affine {
        linear: Mat3::identity() * 0.01,
        ..Affine::IDENTITY
    };
    let binds = document
        .skins
        .iter_mut()
        .flat_map(|s| &mut s.joint_from_bind);
    binds.for_each(|bind| *bind = *bind * to_metres);
    for deform in Deform::ALL {
        let (mut engine, id) = walking(&document, *deform);
        let (mut metres, other) = walking(&asset::builtin::humanoid(), *deform);
        for _ in 0..30 {
            let bounds = step(&mut engine, id);
            let expected = step(&mut metres, other);
            assert_eq!(bounds[0].is_some(), expected[0].is_some());
            let (found, like) = (actor(&engine, id), actor(&metres, other));
            for (found, like) in found.surfaces().iter().zip(like.surfaces()) {
                for vertex in 0..found.len() {
                    let apart = (found.position(vertex) - like.position(vertex)).norm();
                    // Some tens of roundings of 2 m.
                    assert!(apart < 2e-5, "{deform:?} {vertex}: {apart}");
                }
            }
            if let ([Some(found), _], [Some(like), _]) = (bounds, expected) {
                check_inside(actor(&engine, id), bounds);
                let apart = (found.half_extents() - like.half_extents()).amax();
                assert!(apart < 1e-3, "{deform:?} {apart}");
            }
        }
    }
}

#[test]
fn morph_weights_of_any_size_stay_inside() {
    let mut document = asset::builtin::humanoid();
    let primitive = &mut document.meshes[0].primitives[0];
    let vertices: Vec<u32> = (0..primitive.mesh.vertex_count() as u32).collect();
    let target = |way: Vec3| MorphTarget {
        vertices: vertices.clone(),
        positions: vertices
            .iter()
            .map(|vertex| way * (*vertex % 3) as f32)
            .collect(),
        ..MorphTarget::default()
    };
    primitive.targets = vec![target(Vec3::new(0.1, 0.0, 0.2)), target(-0.3 * Vec3::y())];
    for deform in [
        Deform::Linear,
        Deform::DualQuaternion,
        Deform::RotationCenter,
    ] {
        let (mut engine, id) = walking(&document, deform);
        for weights in [
            [0.0, 0.0],
            [1.0, 1.0],
            [0.3, 0.8],
            [-2.0, 0.0],
            [40.0, -7.0],
        ] {
            let actor_mut = engine.actor_mut(id).expect("the actor");
            actor_mut.morph_weights = weights.into();
            let bounds = step(&mut engine, id);
            assert_eq!(actor(&engine, id).weights(), weights);
            check_inside(actor(&engine, id), bounds);
        }
    }
}

/// Between two deformers in one region, of any three that have boxes.
#[test]
fn regions_stay_inside_and_have_no_box_where_one_of_their_deformers_has_none() {
    let document = asset::builtin::humanoid();
    let shares: Vec<f32> = (0..document.meshes[0].primitives[0].mesh.vertex_count())
        .map(|vertex| (vertex % 5) as f32 / 4.0)
        .collect();
    let known = [
        Deform::Linear,
        Deform::DualQuaternion,
        Deform::RotationCenter,
    ];
    for first in known {
        for second in Deform::ALL {
            let character = Character::from_document(&document, &BakeOptions::default())
                .and_then(|character| character.with_deformer(first))
                .and_then(|character| character.with_region(0, *second, &shares));
            let (mut engine, id) = spawned(character.expect("a character"));
            for _ in 0..20 {
                let bounds = step(&mut engine, id);
                if known.contains(second) {
                    check_inside(actor(&engine, id), bounds);
                } else {
                    assert_eq!(bounds, [None, None], "{first:?} {second:?}");
                }
            }
        }
    }
}

#[test]
fn cloth_hair_and_muscles_stay_inside() {
    for make in [common::scene, common::hair, common::biceps] {
        let mut scene = make(1);
        for _ in 0..40 {
            scene.step(FRAME);
            for (_, actor) in scene.engine.actors() {
                check_inside(actor, [actor.bounds(), actor.world_bounds()]);
            }
        }
    }
}

#[test]
fn where_no_box_is_known_none_is_given() {
    let document = asset::builtin::humanoid();
    for deform in [
        Deform::Log,
        Deform::Spherical,
        Deform::Trs,
        Deform::DeltaMush,
    ] {
        let (mut engine, id) = walking(&document, deform);
        assert_eq!(step(&mut engine, id), [None, None], "{deform:?}");
    }
    let nothing = Character::from_document(&asset::Document::default(), &BakeOptions::default());
    let mut engine = common::engine(1);
    let id = engine.spawn(Arc::new(nothing.expect("a character without joints")));
    assert!(
        step(&mut engine, id)
            .iter()
            .all(|bounds| bounds.is_some_and(|b| b.is_empty()))
    );
}

#[test]
fn who_is_not_seen_is_not_skinned_and_is_right_when_seen_again() {
    let [mut seen, mut unseen] = [(); 2].map(|()| common::scene(1));
    for _ in 0..20 {
        seen.step(FRAME);
        unseen.step(FRAME);
    }
    assert_eq!(seen.engine.hash(), unseen.engine.hash());
    let ids: Vec<ActorId> = unseen.engine.actors().map(|(id, _)| id).collect();
    let mut show = |visible: bool, frames: usize| {
        for id in &ids {
            let actor = unseen.engine.actor_mut(*id).expect("the actor");
            actor.is_visible = visible;
        }
        let before: Vec<_> = (unseen.engine.actors())
            .flat_map(|(_, actor)| actor.surfaces().to_vec())
            .collect();
        for _ in 0..frames {
            seen.step(FRAME);
            unseen.step(FRAME);
        }
        let after = unseen
            .engine
            .actors()
            .flat_map(|(_, actor)| actor.surfaces());
        let is_kept = after.eq(&before);
        (is_kept, seen.engine.hash() == unseen.engine.hash())
    };
    assert_eq!(show(false, 30), (true, false));
    assert_eq!(show(true, 1), (false, true));
}

#[test]
fn strands_that_are_seen_again_are_finite_and_move_on() {
    let mut scene = common::hair(1);
    let ids: Vec<ActorId> = scene.engine.actors().map(|(id, _)| id).collect();
    for visible in [true, false, true] {
        for id in &ids {
            scene.engine.actor_mut(*id).expect("the actor").is_visible = visible;
        }
        let strands = |scene: &anim_engine::Scene| {
            let hairs = scene.engine.actors().flat_map(|(_, actor)| actor.hairs());
            hairs
                .flat_map(|hair| hair.strands().to_vec())
                .collect::<Vec<Vec3>>()
        };
        let before = strands(&scene);
        (0..10).for_each(|_| scene.step(FRAME));
        let after = strands(&scene);
        assert_eq!(before != after, visible);
        assert!(after.iter().flatten().all(|part| part.is_finite()));
    }
}
