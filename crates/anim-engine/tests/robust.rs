//! What goes in finite comes out finite: whole frames, clips and blends of whatever a user or a file may ask for.
//!
//! Numbers are wild where they are time, weights or speeds: NaN, infinite, denormal, a thousand million seconds. Places and
//! factors are of sizes that occur, and may be zero or negative.
#![cfg(feature = "asset")]
#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

use std::sync::{Arc, LazyLock};

use anim_engine::asset::{Document, MeshSpec, Node, Primitive};
use anim_engine::curves::{Interpolation, Key, Track, WideTrack, WideTrackSpec};
use anim_engine::geom::{Mesh, Vertices};
use anim_engine::ik::{LookAt, TwoBone};
use anim_engine::math::nalgebra::Vector4;
use anim_engine::math::{Quat, Transform, Vec3, quat};
use anim_engine::skeleton::{
    BakeOptions, Channel, Clip, ClipSpec, Event, Events, Globals, JointSpec, JointTrack, Layer,
    Mode, MorphChannel, Playback, Pose, RootMotion, RootMotionOptions, Skeleton, Wrap,
    add_in_model_space, blend, difference, difference_in_model_space,
};
use anim_engine::skin::MorphTarget;
use anim_engine::{Actor, ActorLayer, Character, Config, Engine, Goal, LayerMode, LayerSource};
use proptest::prelude::*;

/// Bakes fast and small: what is tested is not how exact it is.
const COARSE: BakeOptions = BakeOptions {
    tolerance: 0.1,
    shell: 0.1,
    max_rate: 30.0,
    spare_bytes: 1 << 12,
};

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![4 => -10.0_f32..10.0, 1 => Just(0.0), 1 => Just(-0.0), 1 => Just(1e-40), 1 => -1e3_f32..1e3]
}

fn vector() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(number()).prop_map(Vec3::from)
}

fn rotation() -> impl Strategy<Value = Quat> {
    prop_oneof![4 => vector().prop_map(quat::exp), 1 => Just(Quat::new_unchecked(-Quat::identity().into_inner()))]
}

fn transform() -> impl Strategy<Value = Transform> {
    let factor = prop_oneof![6 => 0.5_f32..2.0, 1 => Just(-1.0), 1 => Just(0.0), 1 => Just(1e-40)];
    let scale = prop::array::uniform3(factor).prop_map(Vec3::from);
    let scale = prop_oneof![3 => Just(Vec3::repeat(1.0)), 1 => scale];
    (vector(), rotation(), scale).prop_map(|(translation, rotation, scale)| Transform {
        translation,
        rotation,
        scale,
    })
}

/// Steps of time, speeds and weights, as users get them wrong.
fn wild() -> impl Strategy<Value = f32> {
    prop_oneof![
        6 => -3.0_f32..3.0,
        2 => Just(1.0),
        2 => Just(0.0),
        1 => prop::sample::select(vec![
            f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e9, -1e9, 1e-40, -1e-40, f32::MAX, f32::MIN,
        ]),
    ]
}

fn wrap() -> impl Strategy<Value = Wrap> {
    prop::sample::select(vec![Wrap::Clamp, Wrap::Loop, Wrap::PingPong])
}

fn interpolation() -> impl Strategy<Value = Interpolation> {
    prop::sample::select(vec![
        Interpolation::Step,
        Interpolation::Linear,
        Interpolation::Cubic,
    ])
}

/// One to five strictly rising times: milliseconds, denormals or thousands of millions of seconds apart.
fn times() -> impl Strategy<Value = Vec<f32>> {
    let gap = prop_oneof![6 => 0.01_f32..2.0, 1 => Just(1e-40), 1 => Just(1e9)];
    (-1.0_f32..1.0, prop::collection::vec(gap, 0..5)).prop_map(|(start, gaps)| {
        let start = if start < 0.5 { 0.0 } else { start };
        let sums = gaps.into_iter().scan(start, |time, gap| {
            *time = (*time + gap).max(time.next_up());
            Some(*time)
        });
        std::iter::once(start).chain(sums).collect()
    })
}

/// Three numbers and two velocities of four numbers for each key.
type Values = Vec<(Vec3, Quat, [[f32; 4]; 2])>;

fn channel(joint_count: usize) -> impl Strategy<Value = Channel> {
    let velocity = prop::array::uniform4(-10.0_f32..10.0);
    let values = prop::collection::vec((vector(), rotation(), prop::array::uniform2(velocity)), 5);
    (0..joint_count, 0..3, times(), values, interpolation()).prop_map(
        |(joint, kind, times, values, interpolation): (usize, i32, Vec<f32>, Values, _)| {
            let keys = times.iter().zip(&values);
            let vectors = || {
                let keys = keys.clone().map(|(time, (value, _, velocity))| Key {
                    velocity: Some(velocity.map(|[x, y, z, _]| Vec3::new(x, y, z))),
                    ..Key::new(*time, *value)
                });
                Track::new(keys.collect(), interpolation).unwrap()
            };
            let track = match kind {
                0 => JointTrack::Translation(vectors()),
                1 => JointTrack::Scale(vectors()),
                _ => {
                    let keys = keys.clone().map(|(time, (_, value, velocity))| Key {
                        velocity: Some(velocity.map(Vector4::from)),
                        ..Key::new(*time, *value)
                    });
                    JointTrack::Rotation(Track::new(keys.collect(), interpolation).unwrap())
                }
            };
            Channel { joint, track }
        },
    )
}

/// A skeleton whose joints have any earlier one as their parent, or none.
fn joints(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<JointSpec>> {
    let joint = (any::<prop::sample::Index>(), transform());
    prop::collection::vec(joint, count).prop_map(|joints| {
        let joints = joints.into_iter().enumerate();
        let spec = |(place, (parent, rest)): (usize, (prop::sample::Index, _))| JointSpec {
            name: Some("joint".to_owned()),
            parent: parent.index(place + 1).checked_sub(1),
            rest,
        };
        joints.map(spec).collect()
    })
}

fn skeleton_and_clip() -> impl Strategy<Value = (Skeleton, ClipSpec)> {
    joints(1..20).prop_flat_map(|joints| {
        let channels = prop::collection::vec(channel(joints.len()), 0..6);
        let skeleton = Skeleton::new(joints).unwrap();
        let clip = channels.prop_map(|channels| ClipSpec {
            channels,
            ..ClipSpec::default()
        });
        (Just(skeleton), clip)
    })
}

/// Everything finite, rotations unit.
fn check(pose: &Pose, skeleton: &Skeleton) -> Result<(), TestCaseError> {
    prop_assert!(pose.is_finite());
    for joint in skeleton.joints() {
        let norm = pose.rotation(joint).coords.norm();
        prop_assert!((norm - 1.0).abs() < 1e-5, "{joint:?}: {norm}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_clip_plays_finite_and_unit(
        (skeleton, spec) in skeleton_and_clip(),
        wrap in wrap(),
        speed in wild(),
        steps in prop::collection::vec(wild(), 1..8),
        seek in prop_oneof![Just(f64::NAN), Just(1e300), -1e3_f64..1e3],
        event in 0.0_f32..3.0,
    ) {
        let (clip, report) = Clip::bake(&spec, &skeleton, &COARSE).unwrap();
        prop_assert!(report.bytes < 1 << 20);
        let (motion, left) = RootMotion::extract(
            &spec, &skeleton, &RootMotionOptions::new(skeleton.joint(0)),
        ).unwrap();
        let events = Events::new(vec![Event { time: event, name: String::new() }]).unwrap();
        let mut playback = Playback::new(speed, wrap);
        let mut pose = skeleton.rest().clone();
        for (place, dt) in steps.into_iter().enumerate() {
            if place == 5 {
                playback.seek(seek);
            }
            let passage = playback.advance(dt, clip.duration());
            for met in events.crossed(&passage).take(10) {
                prop_assert!(met.at.is_finite() && event <= clip.duration());
            }
            let delta = motion.delta(&passage);
            prop_assert!(delta.is_finite(), "{delta:?}");
            let time = playback.sample_time(clip.duration());
            prop_assert!((0.0..=clip.duration()).contains(&time));
            clip.sample(time, &mut pose);
            check(&pose, &skeleton)?;
            for joint in skeleton.joints() {
                prop_assert_eq!(clip.sample_joint(joint, time), pose.get(joint));
            }
            spec.sample(&skeleton, time, &mut pose);
            check(&pose, &skeleton)?;
            left.sample(&skeleton, time, &mut pose);
            check(&pose, &skeleton)?;
        }
    }

    #[test]
    fn any_blend_is_finite_and_unit(
        (joints, poses) in joints(1..20).prop_flat_map(|joints| {
            let pose = prop::collection::vec(transform(), joints.len());
            let mask = prop::option::of(prop::collection::vec(prop_oneof![0.0_f32..=1.0, wild()], joints.len()));
            let layer = (pose, wild(), mask, any::<bool>());
            (Just(joints), prop::collection::vec(layer, 1..12))
        }),
    ) {
        let skeleton = Skeleton::new(joints).unwrap();
        let whole: Vec<_> = poses.into_iter().map(|(transforms, weight, mask, additive)| {
            let mut pose = skeleton.rest().clone();
            for (joint, transform) in skeleton.joints().zip(transforms) {
                pose.set(joint, transform);
            }
            (pose, weight, mask, additive)
        }).collect();
        let (mut between, mut scratch) = (skeleton.rest().clone(), skeleton.rest().clone());
        let mut in_model = between.clone();
        difference(skeleton.rest(), &whole[0].0, &mut between);
        let layers: Vec<_> = whole.iter().map(|(pose, weight, mask, additive)| Layer {
            pose: if *additive { &between } else { pose },
            // Extrapolating a difference a thousand million times is not finite.
            weight: if *additive && weight.abs() > 3.0 { 1.0 } else { *weight },
            mask: mask.as_deref(),
            mode: if *additive { Mode::Additive } else { Mode::Override },
        }).collect();
        let mut out = skeleton.rest().clone();
        for count in 0..=layers.len() {
            blend(skeleton.rest(), &layers[..count], &mut out);
            check(&out, &skeleton)?;
        }
        difference_in_model_space(&skeleton, skeleton.rest(), &whole[0].0, &mut scratch, &mut in_model);
        check(&in_model, &skeleton)?;
        let layer = Layer { pose: &in_model, mode: Mode::Additive, ..layers[0] };
        let weight = if layer.weight.abs() > 3.0 { 1.0 } else { layer.weight };
        add_in_model_space(&skeleton, &Layer { weight, ..layer }, &mut scratch, &mut out);
        check(&out, &skeleton)?;
    }
}

/// A limb of three joints on a root, a mirrored and a flat joint, a mesh with three targets, and clips of every odd kind.
static ODD: LazyLock<Arc<Character>> = LazyLock::new(|| {
    let node = |parent, y: f32, scale| Node {
        parent,
        rest: Transform {
            translation: Vec3::new(0.1, y, 0.0),
            scale,
            ..Transform::IDENTITY
        },
        ..Node::default()
    };
    let one = Vec3::repeat(1.0);
    let mut nodes = vec![
        node(None, 1.0, one),
        node(Some(0), 0.5, one),
        node(Some(1), -0.5, one),
        node(Some(2), 0.4, one),
        node(Some(0), 0.2, Vec3::new(1.0, -1.0, 1.0)),
        node(Some(4), 0.2, Vec3::new(1.0, 0.0, 1.0)),
    ];
    nodes[5].mesh = Some(0);
    nodes[4].mesh = Some(0);
    let rest = Vertices {
        positions: vec![Vec3::zeros(), Vec3::x(), Vec3::y()],
        normals: vec![Vec3::z(); 3],
    };
    let target = |vertex: u32| MorphTarget {
        vertices: vec![vertex],
        positions: vec![Vec3::z()],
        normals: vec![-Vec3::z()],
        ..MorphTarget::default()
    };
    let primitive = Primitive {
        mesh: Mesh {
            rest,
            triangles: vec![[0, 1, 2]],
            ..Mesh::default()
        },
        targets: (0..3).map(target).collect(),
        ..Primitive::default()
    };
    // Two times and the way between them; a twin of the first curve, which is overruled, and of the morphs.
    let clip = |times: &[f32], interpolation| {
        let keys = times.iter().enumerate().map(|(n, time)| Key {
            velocity: Some([Vec3::x() * n as f32; 2]),
            ..Key::new(*time, Vec3::new(n as f32, 0.1, 0.5 * n as f32))
        });
        let turns = times.iter().enumerate().map(|(n, time)| Key {
            velocity: Some([Vector4::x(); 2]),
            ..Key::new(*time, quat::from_axis_angle(Vec3::y(), 3.0 * n as f32))
        });
        let way = Track::new(keys.collect(), interpolation).unwrap();
        let turn = Track::new(turns.collect(), interpolation).unwrap();
        let stride = if interpolation == Interpolation::Cubic {
            9
        } else {
            3
        };
        let morph = |joint| MorphChannel {
            joint,
            track: WideTrack::new(WideTrackSpec {
                width: 3,
                times: times.to_vec(),
                values: (0..stride * times.len()).map(|n| n as f32 * 0.1).collect(),
                interpolation,
            })
            .unwrap(),
        };
        let channel = |joint, track| Channel { joint, track };
        ClipSpec {
            channels: vec![
                channel(0, JointTrack::Translation(way.clone())),
                channel(0, JointTrack::Translation(way.clone())),
                channel(1, JointTrack::Rotation(turn)),
                channel(4, JointTrack::Scale(way)),
            ],
            morphs: vec![morph(5), morph(5)],
            ..ClipSpec::default()
        }
    };
    let document = Document {
        nodes,
        meshes: vec![MeshSpec {
            primitives: vec![primitive],
            ..MeshSpec::default()
        }],
        clips: vec![
            ClipSpec::default(),
            clip(&[0.0], Interpolation::Linear),
            clip(&[0.0, 1.0], Interpolation::Linear),
            clip(&[0.5, 0.6, 2.0], Interpolation::Step),
            clip(&[0.0, 0.3, 1.0], Interpolation::Cubic),
            clip(&[0.0, 1e-40], Interpolation::Linear),
            clip(&[0.0, 1e9], Interpolation::Linear),
        ],
        ..Document::default()
    };
    let character = Character::from_document(&document, &COARSE).unwrap();
    let root = RootMotionOptions::new(character.skeleton().joint(0));
    let character = character.with_root_motion(&document.clips, &root, &COARSE);
    Arc::new(character.unwrap())
});

/// What a user does to an actor before a frame.
#[derive(Clone, Debug)]
enum Deed {
    Layers(Vec<(usize, f64, f32, Wrap, f32, LayerMode)>),
    Live(Transform, f32),
    Detail(u32),
    Follow(bool),
    Weights(Vec<f32>),
    Reach([f32; 3], f32),
    Look([f32; 3], f32),
    Restart,
}

fn deed() -> impl Strategy<Value = Deed> {
    let time =
        prop_oneof![4 => -5.0_f64..5.0, 1 => Just(f64::NAN), 1 => Just(1e300), 1 => Just(-1e9)];
    let mode = prop::sample::select(vec![LayerMode::Mix, LayerMode::Override]);
    let layer = (0_usize..9, time, wild(), wrap(), wild(), mode);
    prop_oneof![
        4 => prop::collection::vec(layer, 0..20).prop_map(Deed::Layers),
        1 => (transform(), wild()).prop_map(|(transform, weight)| Deed::Live(transform, weight)),
        1 => (0_u32..6).prop_map(Deed::Detail),
        1 => any::<bool>().prop_map(Deed::Follow),
        1 => prop::collection::vec(wild_weight(), 0..9).prop_map(Deed::Weights),
        1 => (prop::array::uniform3(wild()), wild()).prop_map(|(target, weight)| Deed::Reach(target, weight)),
        1 => (prop::array::uniform3(wild()), wild()).prop_map(|(target, weight)| Deed::Look(target, weight)),
        1 => Just(Deed::Restart),
    ]
}

/// Morph weights extrapolate, so that they may not be the largest numbers.
fn wild_weight() -> impl Strategy<Value = f32> {
    wild().prop_map(|weight| {
        if weight.is_finite() {
            weight.clamp(-1e3, 1e3)
        } else {
            weight
        }
    })
}

fn act(actor: &mut Actor, deed: Deed) {
    let character = actor.character().clone();
    let skeleton = character.skeleton();
    match deed {
        Deed::Layers(layers) => {
            actor.layers = layers
                .into_iter()
                .map(|(clip, time, speed, wrap, weight, mode)| {
                    let mut playback = Playback::new(speed, wrap);
                    playback.seek(time);
                    ActorLayer {
                        weight,
                        mode,
                        ..ActorLayer::clip(clip, playback)
                    }
                })
                .collect();
        }
        Deed::Live(transform, weight) => {
            let mut pose = skeleton.rest().clone();
            pose.set(skeleton.joint(2), transform);
            actor.layers.push(ActorLayer {
                weight,
                ..ActorLayer::new(LayerSource::Live(pose))
            });
        }
        Deed::Detail(every) => actor.detail.every = every,
        Deed::Follow(follow) => actor.follows_root_motion = follow,
        Deed::Weights(weights) => actor.morph_weights = weights,
        Deed::Reach(target, weight) => actor.goals.push(Goal::Reach {
            chain: TwoBone::new(skeleton, skeleton.joint(3)).unwrap(),
            target: Vec3::from(target),
            rotation: None,
            pole: Some(Vec3::from(target)),
            softness: weight,
            weight,
        }),
        Deed::Look(target, weight) => {
            if let Ok(look) = LookAt::new(skeleton.joint(3), Vec3::z(), Vec3::y(), 1.0) {
                actor.goals.push(Goal::LookAt {
                    look,
                    target: Vec3::from(target),
                    weight,
                });
            }
        }
        Deed::Restart => actor.restart(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_frames_of_any_layers_are_finite(
        frames in prop::collection::vec((prop::collection::vec(deed(), 0..3), wild()), 1..8),
    ) {
        let config = Config { threads: Some(1), ..Config::default() };
        let mut engine = Engine::new(config).unwrap();
        let id = engine.spawn(ODD.clone());
        for (deeds, dt) in frames {
            let actor = engine.actor_mut(id).unwrap();
            deeds.into_iter().for_each(|deed| act(actor, deed));
            engine.step(dt);
            let actor = engine.actor(id).unwrap();
            prop_assert!(!actor.is_quarantined());
            check(actor.pose(), actor.character().skeleton())?;
            let mut globals = Globals::new(actor.character().skeleton());
            actor.character().skeleton().globals(actor.pose(), &mut globals);
            for joint in actor.character().skeleton().joints() {
                prop_assert!(actor.world_from_joint(joint).is_finite());
                // What IK did to matrices is what it did to the pose.
                let error = actor.globals().get(joint).translation - globals.get(joint).translation;
                prop_assert!(error.norm() <= 1e-4 * (1.0 + globals.get(joint).translation.norm()), "{}", error);
            }
            prop_assert!(actor.weights().iter().all(|weight| weight.is_finite()));
            for block in actor.surfaces().iter().flat_map(|surface| surface.blocks()) {
                let numbers = block.position.as_flattened().iter().chain(block.normal.as_flattened());
                prop_assert!(numbers.copied().all(f32::is_finite));
            }
        }
    }
}
