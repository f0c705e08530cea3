//! What users of other engines reported, and what happens here instead; comments name the reports.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use std::f32::consts::TAU;

use anim_curves::{Interpolation, Key, Track};
use anim_math::{Quat, Transform, Vec3, quat};
use anim_skeleton::{
    BakeOptions, Channel, Clip, ClipSpec, Event, Events, JointId, JointSpec, JointTrack, Layer,
    Mode, Passage, Playback, Pose, RootMotion, RootMotionOptions, Skeleton, Wrap,
    add_in_model_space, blend, blend_deltas, difference, difference_in_model_space,
};
use common::{Random, human, motion};

const WRAPS: [Wrap; 3] = [Wrap::Clamp, Wrap::Loop, Wrap::PingPong];

fn single() -> (Skeleton, JointId) {
    let joint = JointSpec {
        name: None,
        parent: None,
        rest: Transform::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![joint]).unwrap();
    let joint = skeleton.joint(0);
    (skeleton, joint)
}

/// One joint along x.
fn moving(keys: &[(f32, f32)], interpolation: Interpolation) -> ClipSpec {
    let keys = keys.iter().map(|(time, x)| Key::new(*time, Vec3::x() * *x));
    let track = Track::new(keys.collect(), interpolation).unwrap();
    ClipSpec {
        channels: vec![Channel {
            joint: 0,
            track: JointTrack::Translation(track),
        }],
        ..ClipSpec::default()
    }
}

fn baked(spec: &ClipSpec, skeleton: &Skeleton) -> Clip {
    Clip::bake(spec, skeleton, &BakeOptions::default())
        .unwrap()
        .0
}

fn x_at(clip: &Clip, time: f32) -> f32 {
    let (skeleton, joint) = single();
    let mut pose = skeleton.rest().clone();
    clip.sample(time, &mut pose);
    pose.translation(joint).x
}

fn events(times: &[f32]) -> Events {
    let event = |time: &f32| Event {
        time: *time,
        name: String::new(),
    };
    Events::new(times.iter().map(event).collect()).unwrap()
}

fn count(events: &Events, passage: &Passage) -> usize {
    events.crossed(passage).count()
}

fn layer(pose: &Pose, weight: f32, mode: Mode) -> Layer<'_> {
    Layer {
        pose,
        weight,
        mask: None,
        mode,
    }
}

fn turned(skeleton: &Skeleton, rotation: Quat) -> Pose {
    let mut pose = skeleton.rest().clone();
    pose.set_rotation(skeleton.joint(0), rotation);
    pose
}

// ozz#106, raylib#3804, Babylon#3931
#[test]
fn a_clip_of_one_key_is_that_key_at_all_times() {
    let (skeleton, _) = single();
    let spec = moving(&[(0.0, 3.0)], Interpolation::Linear);
    let clip = baked(&spec, &skeleton);
    assert_eq!(clip.duration(), 0.0);
    for time in [-1.0, 0.0, 5.0] {
        assert_eq!(x_at(&clip, time), 3.0);
    }
    let options = RootMotionOptions::new(skeleton.joint(0));
    let (motion, _) = RootMotion::extract(&spec, &skeleton, &options).unwrap();
    assert_eq!(motion.at(5.0), Transform::IDENTITY);
}

// bevy#24996, gz-common#740, libgdx#2171
#[test]
fn a_loop_without_length_neither_hangs_nor_makes_nan() {
    let (skeleton, _) = single();
    let clip = baked(&moving(&[(0.0, 3.0)], Interpolation::Linear), &skeleton);
    let events = events(&[0.0]);
    for wrap in WRAPS {
        let mut playback = Playback::new(1.0, wrap);
        let mut met = 0;
        for _ in 0..100 {
            let passage = playback.advance(0.016, clip.duration());
            met += count(&events, &passage);
            assert_eq!(passage.loops(), 0);
            assert_eq!(x_at(&clip, playback.sample_time(clip.duration())), 3.0);
        }
        assert_eq!(met, 1);
    }
}

// bevy#10480, three#8446, B3D#296
#[test]
fn a_clip_played_once_holds_its_last_frame_and_meets_its_last_event() {
    let (skeleton, _) = single();
    let clip = baked(
        &moving(&[(0.0, 0.0), (1.0, 2.0)], Interpolation::Linear),
        &skeleton,
    );
    let (first, last) = (events(&[0.0]), events(&[1.0]));
    let mut playback = Playback::new(1.0, Wrap::Clamp);
    let passages = [(); 4].map(|()| playback.advance(0.4, clip.duration()));
    assert_eq!(
        passages.map(|passage| count(&first, &passage)),
        [1, 0, 0, 0]
    );
    assert_eq!(passages.map(|passage| count(&last, &passage)), [0, 0, 1, 0]);
    assert!(playback.is_finished(clip.duration()));
    assert_eq!(playback.time, 1.0);
    assert_eq!(x_at(&clip, playback.sample_time(clip.duration())), 2.0);
}

// three#19151, three#8931, playcanvas#3808
#[test]
fn playing_backwards_wraps_as_far_as_it_must_and_meets_every_event() {
    let events = events(&[0.25]);
    let mut playback = Playback::new(-1.0, Wrap::Loop);
    let passage = playback.advance(2.5, 1.0);
    assert_eq!((playback.time, passage.loops()), (0.5, -3));
    // At −0.75 and −1.75.
    assert_eq!(count(&events, &passage), 2);
    let back = playback.advance(-2.5, 1.0);
    assert_eq!((playback.time, back.loops()), (0.0, 3));
    assert_eq!(count(&events, &back), 2);
}

// three#8931, three#33291
#[test]
fn ping_pong_never_jumps_whichever_way_it_starts() {
    for speed in [1.0, -1.0, 0.3] {
        let mut playback = Playback::new(speed, Wrap::PingPong);
        let mut last = playback.sample_time(1.0);
        for _ in 0..500 {
            playback.advance(0.016, 1.0);
            let time = playback.sample_time(1.0);
            assert!((time - last).abs() < 0.0161, "{last} to {time}");
            last = time;
        }
    }
}

// ozz#119, godot-proposals#9215, godot#81021, Babylon#12955
#[test]
fn a_blend_depends_not_on_the_order_of_layers_and_changes_sides_once_a_turn() {
    let (skeleton, joint) = single();
    let about = |angle| turned(&skeleton, quat::from_axis_angle(Vec3::y(), angle));
    let (a, b) = (
        about(0.4),
        turned(&skeleton, quat::from_axis_angle(Vec3::x(), 1.0)),
    );
    let (mut last, mut sides_changed) = (None, 0);
    for step in 0..=360 {
        let c = about(step as f32 / 360.0 * TAU);
        let layers = [(&a, 0.5), (&b, 0.3), (&c, 0.2)]
            .map(|(pose, weight)| layer(pose, weight, Mode::Override));
        let orders = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        let mixed = orders.map(|order| {
            let mut out = skeleton.rest().clone();
            blend(skeleton.rest(), &order.map(|place| layers[place]), &mut out);
            out.rotation(joint)
        });
        for other in mixed {
            assert!(quat::angle_between(mixed[0], other) < 1e-6);
        }
        let way = last.map_or(0.0, |last| quat::angle_between(last, mixed[0]));
        // A fifth of what turns 0.0175 rad, but where it is half a turn from the heaviest and the short way changes.
        sides_changed += u32::from(way > 0.0175);
        last = Some(mixed[0]);
    }
    assert_eq!(sides_changed, 1);
}

// ozz#152, ozz#139, bevy#13832, o3de#19965
#[test]
fn additive_is_base_times_delta_in_the_joint_and_delta_times_base_in_the_model() {
    let (skeleton, joint) = single();
    let xyzw = |parts| quat::from_xyzw(parts).unwrap();
    let with = |parts| turned(&skeleton, xyzw(parts));
    let base = with([0.0, 0.0, 0.573576, 0.819152]);
    let reference = with([0.21644, 0.0, 0.0, 0.976296]);
    let source = with([0.203387, 0.333913, -0.074027, 0.917418]);
    // base · slerp(1, reference⁻¹ · source, w), and slerp(1, source · reference⁻¹, w) · base; half way nlerp is slerp.
    let in_the_joint = [
        [0.0, 0.0, 0.573576, 0.819152],
        [-0.090269, 0.128917, 0.504747, 0.8488],
        [-0.177795, 0.253917, 0.420582, 0.852658],
    ];
    let in_the_model = [
        [0.0, 0.0, 0.573576, 0.819152],
        [0.099601, 0.142244, 0.564863, 0.806707],
        [0.196175, 0.280166, 0.538986, 0.769751],
    ];
    let (mut scratch, mut local, mut model) = (base.clone(), base.clone(), base.clone());
    difference(&reference, &source, &mut local);
    difference_in_model_space(&skeleton, &reference, &source, &mut scratch, &mut model);
    for (step, weight) in [0.0, 0.5, 1.0].into_iter().enumerate() {
        let local = layer(&local, weight, Mode::Additive);
        let mut out = base.clone();
        blend(
            skeleton.rest(),
            &[layer(&base, 1.0, Mode::Override), local],
            &mut out,
        );
        assert!(quat::angle_between(out.rotation(joint), xyzw(in_the_joint[step])) < 5e-6);
        assert!(weight > 0.0 || out == base);
        let mut out = base.clone();
        add_in_model_space(
            &skeleton,
            &layer(&model, weight, Mode::Additive),
            &mut scratch,
            &mut out,
        );
        assert!(quat::angle_between(out.rotation(joint), xyzw(in_the_model[step])) < 5e-6);
        assert!(weight > 0.0 || out == base);
    }
}

// ozz#77
#[test]
fn a_seek_gives_the_bits_that_playing_there_gives() {
    let skeleton = Skeleton::new(human(20)).unwrap();
    let clip = baked(&motion(20, 2.0, 30.0), &skeleton);
    let mut playing = Playback::new(1.0, Wrap::Loop);
    let mut random = Random(17);
    for _ in 0..100 {
        playing.advance(0.03, clip.duration());
        let mut sought = Playback::new(1.0, Wrap::Loop);
        sought.advance(random.signed() * 9.0, clip.duration());
        sought.seek(playing.time);
        let [a, b] = [playing, sought].map(|playback| {
            let mut pose = Pose::identity(20);
            clip.sample(playback.sample_time(clip.duration()), &mut pose);
            pose
        });
        assert_eq!(a, b);
    }
}

// Babylon#10694, godot#959, acl#395
#[test]
fn the_seam_of_a_loop_is_its_start_and_root_motion_goes_on_over_it() {
    let (skeleton, joint) = single();
    let keys = [(0.0, 0.0), (1.0, 4.0), (2.0, 5.0), (3.0, 6.0)];
    for interpolation in [Interpolation::Linear, Interpolation::Step] {
        let clip = baked(&moving(&keys, interpolation), &skeleton);
        let at = |wrap: Wrap| x_at(&clip, wrap.apply(3.0, clip.duration()));
        assert_eq!((at(Wrap::Loop), at(Wrap::Clamp)), (0.0, 6.0));
    }
    let spec = moving(&keys, Interpolation::Linear);
    let options = RootMotionOptions::new(joint);
    let (motion, left) = RootMotion::extract(&spec, &skeleton, &options).unwrap();
    let over_the_seam = motion.delta(&Passage::new(2.5, 3.25, 3.0, Wrap::Loop));
    assert!((over_the_seam.translation - Vec3::new(1.5, 0.0, 0.0)).norm() < 1e-5);
    let a_turn = motion.delta(&Passage::new(0.7, 3.7, 3.0, Wrap::Loop));
    assert!((a_turn.translation - Vec3::new(6.0, 0.0, 0.0)).norm() < 1e-5);
    let mut pose = skeleton.rest().clone();
    for time in [0.0, 0.5, 3.0] {
        left.sample(&skeleton, time, &mut pose);
        assert!(pose.translation(joint).norm() < 1e-6);
    }
}

// godot#97836, Babylon#18908, godot#60774
#[test]
fn a_seek_does_not_carry_the_character_away() {
    let (skeleton, joint) = single();
    let spec = moving(&[(0.0, 0.0), (1.0, 2.0)], Interpolation::Linear);
    let options = RootMotionOptions::new(joint);
    let (motion, _) = RootMotion::extract(&spec, &skeleton, &options).unwrap();
    let mut playback = Playback::new(1.0, Wrap::Loop);
    playback.advance(0.25, 1.0);
    playback.seek(0.75);
    assert_eq!(
        motion.delta(&playback.advance(0.0, 1.0)),
        Transform::IDENTITY
    );
    let step = motion.delta(&playback.advance(0.125, 1.0));
    assert!((step.translation.x - 0.25).abs() < 1e-6);
}

// godot#97836
#[test]
fn too_much_weight_is_half_of_each_for_pose_and_motion() {
    let (skeleton, joint) = single();
    let with = |x: f32, yaw: f32| {
        let mut pose = turned(&skeleton, quat::from_axis_angle(Vec3::y(), yaw));
        pose.set_translation(joint, Vec3::new(x, 0.0, 0.0));
        pose
    };
    let (walk, run) = (with(1.0, 0.2), with(3.0, -0.6));
    let mixed = |weights: [f32; 2]| {
        let layers = [(&walk, weights[0]), (&run, weights[1])]
            .map(|(pose, weight)| layer(pose, weight, Mode::Override));
        let mut out = skeleton.rest().clone();
        blend(skeleton.rest(), &layers, &mut out);
        let deltas = [(walk.get(joint), weights[0]), (run.get(joint), weights[1])];
        (out.get(joint), blend_deltas(&deltas))
    };
    // The rest pose is the identity here, as standing still is.
    for weights in [[0.8, 0.8], [0.5, 0.5], [0.0, 0.25], [0.3, 0.2], [3.0, 1.0]] {
        let (pose, motion) = mixed(weights);
        assert!(
            (pose.translation - motion.translation).norm() < 1e-6,
            "{weights:?}"
        );
        assert!(
            quat::angle_between(pose.rotation, motion.rotation) < 1e-6,
            "{weights:?}"
        );
    }
    assert_eq!(mixed([0.8, 0.8]), mixed([0.5, 0.5]));
}

// A crossfade must leave nothing behind, and neither must a bad step.
#[test]
fn steps_that_are_not_numbers_leave_no_trace() {
    let events = events(&[0.0, 0.3, 0.6, 1.0]);
    for wrap in WRAPS {
        let (mut clean, mut disturbed) = (Playback::new(1.0, wrap), Playback::new(1.0, wrap));
        for step in [0.1, 0.35, -0.2, 1.7] {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let passage = disturbed.advance(bad, 1.0);
                assert_eq!((count(&events, &passage), passage.is_empty()), (0, true));
            }
            let (a, b) = (clean.advance(step, 1.0), disturbed.advance(step, 1.0));
            assert_eq!((a, clean), (b, disturbed));
        }
    }
}

#[test]
fn a_crossfade_of_a_clip_with_itself_is_the_clip() {
    let skeleton = Skeleton::new(human(20)).unwrap();
    let clip = baked(&motion(20, 1.0, 30.0), &skeleton);
    let mut pose = Pose::identity(20);
    clip.sample(0.4, &mut pose);
    for weight in [0.0, 0.25, 0.5, 1.0] {
        let layers = [weight, 1.0 - weight].map(|weight| layer(&pose, weight, Mode::Override));
        let mut out = skeleton.rest().clone();
        blend(skeleton.rest(), &layers, &mut out);
        for joint in skeleton.joints() {
            assert_eq!(out.translation(joint), pose.translation(joint));
            assert!(quat::angle_between(out.rotation(joint), pose.rotation(joint)) < 1e-6);
        }
    }
}

// Sums of weights must not overflow, as products of a hundred thousand millions did elsewhere.
#[test]
fn the_largest_weights_there_are_make_half_of_each() {
    let (skeleton, joint) = single();
    let (mut left, mut right) = (skeleton.rest().clone(), skeleton.rest().clone());
    left.set_translation(joint, Vec3::x());
    right.set_translation(joint, Vec3::y());
    let half = Vec3::new(0.5, 0.5, 0.0);
    for mask in [None, Some([1.0].as_slice())] {
        let mut out = skeleton.rest().clone();
        let layers = [&left, &right].map(|pose| Layer {
            mask,
            ..layer(pose, f32::MAX, Mode::Override)
        });
        blend(skeleton.rest(), &layers, &mut out);
        assert_eq!(out.translation(joint), half);
    }
    let deltas = [&left, &right].map(|pose| (pose.get(joint), f32::MAX));
    assert_eq!(blend_deltas(&deltas).translation, half);
}

// A joint that is scaled to nothing to hide it, in the reference of an additive clip.
#[test]
fn a_difference_to_a_flat_pose_is_finite() {
    let (skeleton, joint) = single();
    for flat in [0.0, 1e-40, -1e-10] {
        let mut reference = skeleton.rest().clone();
        reference.set_scale(joint, Vec3::new(flat, 1.0, 1.0));
        let mut delta = reference.clone();
        difference(&reference, skeleton.rest(), &mut delta);
        assert_eq!(delta.scale(joint), Vec3::repeat(1.0));
        // And the way to a flat pose, taken off again.
        difference(skeleton.rest(), &reference, &mut delta);
        let mut out = skeleton.rest().clone();
        let base = skeleton.rest().clone();
        let layers = [
            layer(&base, 1.0, Mode::Override),
            layer(&delta, -1.0, Mode::Additive),
        ];
        blend(skeleton.rest(), &layers, &mut out);
        assert_eq!(out.scale(joint), Vec3::repeat(1.0));
    }
}
