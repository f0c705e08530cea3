//! Clips of published characters, reduced.
#![cfg(feature = "asset")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a broken test should say where"
)]

#[path = "common/data.rs"]
mod data;

use anim_engine::asset;
use anim_engine::curves::FrameClock;
use anim_engine::math::Vec3;
use anim_engine::skeleton::{
    AliasingOptions, ClipSpec, Globals, KeyChoice, ObjectError, ReduceOptions, Skeleton,
};
use data::data;

/// Height of the resting skeleton, in the model's unit.
fn height(skeleton: &Skeleton) -> f32 {
    let mut globals = Globals::new(skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    let joints = skeleton
        .joints()
        .map(|joint| globals.get(joint).translation);
    let (mut low, mut high) = (Vec3::repeat(f32::MAX), Vec3::repeat(f32::MIN));
    for joint in joints {
        low = low.inf(&joint);
        high = high.sup(&joint);
    }
    (high - low).max()
}

/// The largest error at all keys.
fn worst(source: &ClipSpec, reduced: &ClipSpec, skeleton: &Skeleton, shell: f32) -> f32 {
    let mut error = ObjectError::new(skeleton, shell);
    let (mut a, mut b) = (skeleton.rest().clone(), skeleton.rest().clone());
    let keys = source
        .channels
        .iter()
        .flat_map(|channel| channel.track.times());
    let mut times: Vec<_> = keys.copied().collect();
    times.sort_by(f32::total_cmp);
    times.dedup();
    for time in times {
        source.sample(skeleton, time, &mut a);
        reduced.sample(skeleton, time, &mut b);
        error.add(time, &a, &b);
    }
    error.worst().distance
}

fn check(name: &str, least_factor: f32) {
    let Some(file) = data(name) else {
        return;
    };
    let document = asset::load(&file).unwrap();
    let skeleton = document.skeleton().unwrap();
    let clip = &document.clips[0];
    // What a millimetre is to a human.
    let size = height(&skeleton) / 1.8;
    for keys in [KeyChoice::Keep, KeyChoice::Fit] {
        let options = ReduceOptions {
            tolerance: 0.001 * size,
            shell: 0.1 * size,
            drop_rest: true,
            keys,
        };
        let (reduced, report) = clip.reduce(&skeleton, &options).unwrap();
        eprintln!("{name} {keys:?}: {report:?}");
        assert!(report.max_error <= options.tolerance);
        assert!(worst(clip, &reduced, &skeleton, options.shell) <= options.tolerance);
        assert_eq!(reduced.duration(), clip.duration());
        assert!(report.keys_after as f32 * least_factor <= report.keys_before as f32);
    }
}

#[test]
fn the_fox_keeps_its_walk_in_fewer_keys() {
    check("gltf/Fox.glb", 4.0);
}

#[test]
fn the_knight_keeps_its_moves_in_fewer_keys() {
    check("gltf/kaykit_knight.glb", 1.5);
}

#[test]
fn the_fox_runs_without_jumping_between_frames() {
    let Some(file) = data("gltf/Fox.glb") else {
        return;
    };
    let document = asset::load(&file).unwrap();
    let skeleton = document.skeleton().unwrap();
    let size = height(&skeleton);
    let options = AliasingOptions {
        shell: 0.05 * size,
        max_travel: 0.25 * size,
        ..AliasingOptions::default()
    };
    let joints = document.clips[2]
        .aliasing(&skeleton, FrameClock::FPS_60, &options)
        .unwrap();
    assert!(joints.iter().any(|joint| joint.travel.amount > 0.0));
    assert!(joints.iter().all(|joint| !joint.is_flagged()));
}
