//! The whole frame: 1,000 characters of 60 joints and 5,000 vertices, without cloth, on one thread and on two.
#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a benchmark without its scene is none, and criterion makes undocumented functions"
)]

use std::f32::consts::TAU;
use std::hint::black_box;
use std::sync::Arc;

use anim_engine::asset::{Document, MeshSpec, Node, Primitive, SkinSpec};
use anim_engine::curves::{Interpolation, Key, Track};
use anim_engine::geom::{Mesh, Vertices};
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::skeleton::{BakeOptions, Channel, ClipSpec, Globals, JointTrack, Skeleton};
use anim_engine::skin::Influences;
use anim_engine::{Character, Config, Engine, Stage};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const ACTORS: usize = 1000;
const JOINTS: usize = 60;
const LIMB: usize = 10;
const VERTICES: usize = 5000;

criterion_group!(benches, frame, joints);
criterion_main!(benches);

/// All four stages; bound by the memory that the vertices are written to.
fn frame(criterion: &mut Criterion) {
    run(criterion, "anim-engine/frame", |engine| {
        engine.step(1.0 / 60.0)
    });
}

/// Without skinning, as where a graphics card does that.
fn joints(criterion: &mut Criterion) {
    run(criterion, "anim-engine/joints", |engine| {
        engine.run(Stage::Animate, 1.0 / 60.0);
        engine.run(Stage::Ik, 1.0 / 60.0);
    });
}

fn run(criterion: &mut Criterion, name: &str, work: impl Fn(&mut Engine)) {
    let character = Arc::new(character());
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(ACTORS as u64));
    group.sample_size(20);
    for threads in [1, 2] {
        let mut engine = crowd(&character, threads);
        let id = BenchmarkId::from_parameter(format!("{ACTORS}x{threads}"));
        group.bench_function(id, |bencher| {
            bencher.iter(|| {
                work(&mut engine);
                black_box(&engine);
            });
        });
    }
    group.finish();
}

fn crowd(character: &Arc<Character>, threads: usize) -> Engine {
    let config = Config {
        threads: Some(threads),
        ..Config::default()
    };
    let mut engine = Engine::new(config).expect("an engine");
    for index in 0..ACTORS {
        let id = engine.spawn(Arc::clone(character));
        let actor = engine.actor_mut(id).expect("the actor");
        actor.play_clip(0);
        if let Some(playback) = actor.layers[0].playback_mut() {
            playback.seek(index as f64 * 0.013);
        }
    }
    (0..3).for_each(|_| engine.step(1.0 / 60.0));
    engine
}

/// Limbs of ten joints; the first joint of each hangs on the root, joint 0.
fn parent(joint: usize) -> Option<usize> {
    match joint {
        0 => None,
        joint if joint % LIMB == 0 => Some(0),
        joint => Some(joint - 1),
    }
}

/// From a joint's parent to the joint.
fn bone(joint: usize) -> Vec3 {
    let angle = TAU * (joint / LIMB) as f32 / (JOINTS / LIMB) as f32;
    Vec3::new(angle.cos(), 0.3, angle.sin()) * 0.12
}

fn character() -> Character {
    let joint = |joint| Node {
        parent: parent(joint),
        rest: Transform::from_translation(bone(joint)),
        ..Node::default()
    };
    let mesh = Node {
        mesh: Some(0),
        skin: Some(0),
        ..Node::default()
    };
    let mut document = Document {
        nodes: (0..JOINTS).map(joint).chain([mesh]).collect(),
        ..Document::default()
    };
    let skeleton = document.skeleton().expect("a skeleton");
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    document.meshes.push(MeshSpec {
        primitives: vec![sleeves(&skeleton, &globals)],
        ..MeshSpec::default()
    });
    let bind = |joint| {
        globals
            .get(skeleton.joint(joint))
            .inverse()
            .unwrap_or(Affine::IDENTITY)
    };
    document.skins.push(SkinSpec {
        joints: (0..JOINTS).collect(),
        joint_from_bind: (0..JOINTS).map(bind).collect(),
        ..SkinSpec::default()
    });
    document.clips.push(ClipSpec {
        channels: (0..JOINTS).map(swing).collect(),
        ..ClipSpec::default()
    });
    Character::from_document(&document, &BakeOptions::default()).expect("a character")
}

/// Around each bone a sleeve of vertices, from its parent's weight to its own.
fn sleeves(skeleton: &Skeleton, globals: &Globals) -> Primitive {
    let mut rest = Vertices::default();
    let mut influences = Influences {
        per_vertex: 2,
        ..Influences::default()
    };
    for vertex in 0..VERTICES {
        let joint = vertex * JOINTS / VERTICES;
        let along = (vertex * JOINTS % VERTICES) as f32 / VERTICES as f32;
        let angle = vertex as f32 * 2.399;
        let normal = Vec3::new(angle.cos(), 0.0, angle.sin());
        let end = globals.get(skeleton.joint(joint)).translation;
        rest.positions
            .push(end - bone(joint) * (1.0 - along) + normal * 0.05);
        rest.normals.push(normal);
        influences
            .joints
            .extend([joint as u16, parent(joint).unwrap_or(0) as u16]);
        influences.weights.extend([along, 1.0 - along]);
    }
    Primitive {
        mesh: Mesh {
            rest,
            ..Mesh::default()
        },
        influences: Some(influences),
        ..Primitive::default()
    }
}

/// Ten seconds at 30 keys a second of three turns at once.
fn swing(joint: usize) -> Channel {
    let key = |frame: u16| {
        let time = f32::from(frame) / 30.0;
        let phase = joint as f32;
        let vector = Vec3::new(
            0.3 * (TAU * 0.5 * time + phase).sin(),
            0.2 * (TAU * 0.9 * time + 2.0 * phase).sin(),
            0.25 * (TAU * 1.3 * time + 3.0 * phase).sin(),
        );
        Key::new(time, quat::exp(vector))
    };
    let track = Track::new((0..=300).map(key).collect(), Interpolation::Linear).expect("a track");
    Channel {
        joint,
        track: JointTrack::Rotation(track),
    }
}
