//! Muscles of characters: forces, bellies, and what they pull at.

use anim_engine::math::Vec3;
use anim_engine::math::nalgebra::Vector3;
use anim_engine::sim::muscle::{Activation, Belly};
use anim_engine::{Scene, SceneSpec};

use super::common::{self, biceps, try_scene};
use super::muscles;

#[test]
fn a_muscle_held_still_pulls_as_its_model_says() {
    let mut spec: SceneSpec = serde_json::from_str(common::BICEPS).unwrap();
    spec.characters[0].clips.clear();
    spec.characters[0].muscles[0].excitation = None;
    let mut scene = try_scene(&spec, 1).unwrap();
    scene.step(0.0);
    for frame in 1..=90 {
        let actor = scene.engine.actor_mut(scene.actors[0]).unwrap();
        actor.excitations[0] = 0.6;
        scene.step(1.0 / 60.0);
        let time = f64::from(frame) / 60.0;
        // Steps compose to 1e-13 each, and are of 1/120 s in f32.
        let exact = Activation::default().advance(0.0, 0.6, time);
        assert!((muscles(&scene)[0].activation() - exact).abs() < 1e-6);
    }
    let actor = scene.engine.actor(scene.actors[0]).unwrap();
    let (model, muscle) = (&actor.character().muscles()[0], &actor.muscles()[0]);
    let straight = Vec3::new(-0.014 + 0.012, 0.3 + 0.05 - 0.03, 0.0).cast::<f64>();
    assert!(
        (muscle.length() - straight.norm()).abs() < 1e-7,
        "f32 of 0.3 m"
    );
    assert!((muscle.length() - model.rest_length()).abs() < 1e-9);
    let expected = model.muscle().contract(muscle.length(), 0.0, 0.6);
    assert!((muscle.force() - expected.force).abs() < 1e-6 * expected.force);
    assert!(muscle.force() > 200.0, "{}", muscle.force());
}

#[test]
fn a_muscle_lengthens_with_the_pose_and_pulls_less_as_it_shortens_faster() {
    let mut scene = biceps(1);
    let mut before = f64::NAN;
    let mut forces = Vec::new();
    for _ in 0..60 {
        scene.step(1.0 / 60.0);
        let muscle = &muscles(&scene)[0];
        let rate = (muscle.length() - before) * 60.0;
        let fibers = muscle.state().contraction;
        // After the first frames the rate is even within a frame, to the curvature of the way over two steps.
        if forces.len() > 2 && forces.len() < 58 {
            let along = fibers.fiber_velocity * fibers.cosine;
            assert!((along - rate).abs() < 4e-3, "{along} {rate}");
        }
        before = muscle.length();
        forces.push(muscle.force());
        assert!(muscle.force().is_finite() && muscle.force() >= 0.0);
    }
    assert!(muscles(&scene)[0].length() < 0.31, "the elbow is bent");
    let at = |frame: usize| forces[frame];
    assert!(at(30) > 3.0 * at(0), "{} {}", at(30), at(0));
}

#[test]
fn bellies_keep_their_volume_and_lift_the_skin_on_their_side_alone() {
    let mut scene = biceps(1);
    let mut bare: SceneSpec = serde_json::from_str(common::BICEPS).unwrap();
    bare.characters[0].muscles.clear();
    let mut bare = try_scene(&bare, 1).unwrap();
    let mut most = 0.0_f32;
    for _ in 0..60 {
        scene.step(1.0 / 60.0);
        bare.step(1.0 / 60.0);
        let actor = scene.engine.actor(scene.actors[0]).unwrap();
        for (model, muscle) in actor.character().muscles().iter().zip(actor.muscles()) {
            let mut surface = Vec::new();
            muscle.belly_surface(model, 16, 16, &mut surface);
            let volume = volume(&surface, &Belly::triangles(16, 16));
            // Points are f32 of 0.5 m about a volume of a few centimetres: 1e-5 of it.
            let spec = model.belly().unwrap().spec();
            assert!((volume / spec.volume - 1.0).abs() < 1e-4, "{volume}");
        }
        let plain = bare.engine.actor(bare.actors[0]).unwrap();
        let (lifted, flat) = (&actor.surfaces()[0], &plain.surfaces()[0]);
        for vertex in 0..lifted.len() {
            let way = (lifted.position(vertex) - flat.position(vertex)).norm();
            most = most.max(way);
            let normal = lifted.normal(vertex);
            assert!((normal.norm() - 1.0).abs() < 1e-4);
            // The hand is out of reach of both.
            if flat.position(vertex).y < 0.02 {
                assert_eq!(way, 0.0);
                assert_eq!(normal, flat.normal(vertex));
            }
        }
    }
    assert!((0.001..0.02).contains(&most), "skin is lifted by {most} m");
}

#[test]
fn a_parameter_of_a_graph_excites_a_muscle() {
    let mut text: serde_json::Value = serde_json::from_str(common::BICEPS).unwrap();
    let character = &mut text["characters"][0];
    character["clips"] = serde_json::json!([]);
    character["graph"] = serde_json::json!({
        "parameters": [{ "name": "effort", "float": { "range": [0, 1] } }],
        "nodes": [{ "name": "bend", "clip": { "clip": "bend" } }],
        "root": "bend"
    });
    character["parameters"] =
        serde_json::json!({ "effort": { "keys": [{ "time": 0, "value": 0.8 }] } });
    character["muscles"][0]["excitation"] = serde_json::json!({ "parameter": "effort" });
    let spec: SceneSpec = serde_json::from_value(text).unwrap();
    let mut scene = try_scene(&spec, 1).unwrap();
    (0..60).for_each(|_| scene.step(1.0 / 60.0));
    assert!((muscles(&scene)[0].activation() - 0.8).abs() < 1e-3);
}

#[test]
fn a_block_shortens_along_its_fibers_as_a_muscle_is_active_and_keeps_its_volume() {
    let mut text: serde_json::Value = serde_json::from_str(common::BICEPS).unwrap();
    text["gravity"] = serde_json::json!([0, 0, 0]);
    text["characters"][0]["clips"] = serde_json::json!([]);
    text["characters"][0]["muscles"][0]["excitation"] =
        serde_json::json!({ "track": { "keys": [{ "time": 0, "value": 1 }] } });
    text["bodies"] = serde_json::json!([{
        "made_of": { "soft": {
            "shape": { "block": { "cells": [4, 2, 2], "size": [0.2, 0.05, 0.05] } },
            "material": { "young": 5e4, "poisson": 0.45, "damping": 0.05 },
            "fibers": [{
                "direction": [2, 0, 0], "max_stress": 3e3, "muscle": { "character": 0, "muscle": "biceps" }
            }]
        } },
        "position": [0.3, 0, 0],
        "rotation_deg": [0, 0, 90],
        "solver": { "method": "implicit", "substeps": 1 }
    }]);
    let spec: SceneSpec = serde_json::from_value(text).unwrap();
    let mut scene = try_scene(&spec, 1).unwrap();
    let extent = |scene: &Scene, axis: usize| {
        let positions = scene.engine.body(scene.bodies[0]).unwrap().positions();
        let along = positions.iter().map(|p| p[axis]);
        along.clone().fold(f32::MIN, f32::max) - along.fold(f32::MAX, f32::min)
    };
    scene.step(0.0);
    assert!(
        (extent(&scene, 1) - 0.2).abs() < 1e-6,
        "turned, it lies along y"
    );
    (0..60).for_each(|_| scene.step(1.0 / 60.0));
    assert!(muscles(&scene)[0].activation() > 0.999);
    let [wide, long] = [extent(&scene, 0) / 0.05, extent(&scene, 1) / 0.2];
    // The stress of the fibres, near their optimal length, is what the material answers: 3 to 50 kPa, to the second order.
    let strain = 1.0 - long;
    assert!((strain / 0.06 - 1.0).abs() < 0.15, "{strain}");
    // A bar of Poisson's ratio 0.45 loses a tenth of that in volume, to the second order too.
    let lost = 1.0 - wide * wide * long;
    assert!(
        (lost - 0.1 * strain).abs() < strain * strain,
        "{lost} of {strain}"
    );
}

#[test]
fn fibers_without_a_muscle_or_a_method_that_knows_them_are_refused() {
    let refused = |from: &str, to: &str| {
        assert!(common::FLEXOR.contains(from), "{from}");
        let spec = serde_json::from_str(&common::FLEXOR.replace(from, to)).unwrap();
        try_scene(&spec, 1).unwrap_err().to_string()
    };
    for (from, to, place) in [
        (
            "\"muscle\": \"biceps\"",
            "\"muscle\": \"heart\"",
            "/fibers/0/muscle/muscle",
        ),
        (
            "\"character\": 0",
            "\"character\": 3",
            "/fibers/0/muscle/character",
        ),
        (
            "\"direction\": [0, 1, 0]",
            "\"direction\": [0, 0, 0]",
            "/fibers/0/direction",
        ),
        (
            "\"max_stress\": ",
            "\"within\": [[7, 7, 7], [8, 8, 8]], \"max_stress\": ",
            "/fibers/0/within",
        ),
        ("\"max_stress\": ", "\"max_stress\": -", "fibre's stress"),
        (
            "\"method\": \"implicit\"",
            "\"method\": \"vbd\"",
            "/fibers: only the implicit",
        ),
    ] {
        let message = refused(from, to);
        assert!(message.starts_with("/bodies/0/made_of/soft"), "{message}");
        assert!(message.contains(place), "{message}");
    }
}

/// What a closed mesh holds, m³.
fn volume(points: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let corner = |v: u32| -> Vector3<f64> { (points[v as usize] - points[0]).cast() };
    let six_times = |[a, b, c]: &[u32; 3]| corner(*a).dot(&corner(*b).cross(&corner(*c)));
    triangles.iter().map(six_times).sum::<f64>() / 6.0
}
