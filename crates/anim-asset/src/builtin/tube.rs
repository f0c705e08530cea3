//! Bending tubes: the smallest things that show what a skin does.

use anim_curves::{Interpolation, Key, Track};
use anim_geom::{Mesh, Vertices};
use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::{Channel, ClipSpec, JointTrack};
use anim_skin::Influences;

use super::surface::smoothstep;
use crate::{Document, MeshSpec, Node, Primitive, SkinSpec};

/// Vertices around the tube.
const SIDES: usize = 24;
/// Rings a bone.
const RINGS: usize = 12;

/// A tapered arm along +y of three bones, 0.3 m, 0.25 m and 0.15 m long, with a clip "bend" of two seconds.
pub fn arm() -> Document {
    let names = ["upper_arm", "lower_arm", "hand"].map(str::to_owned);
    chain(&names, &[0.3, 0.25, 0.15], [0.055, 0.028], 1.1)
}

/// A straight tube along +y of `segments` bones, 0.25 m each, at least one, with a clip "bend" of two seconds.
pub fn tube(segments: usize) -> Document {
    let count = segments.max(1);
    let names: Vec<String> = (0..count).map(|bone| format!("bone_{bone}")).collect();
    chain(&names, &vec![0.25; count], [0.08, 0.08], 2.4 / count as f32)
}

/// Bones one after the other, one skinned tube around them, and a clip that bends each by `bend` rad and back.
fn chain(names: &[String], lengths: &[f32], radii: [f32; 2], bend: f32) -> Document {
    let mut nodes = Vec::new();
    let mut heights = vec![0.0];
    for (bone, (name, length)) in names.iter().zip(lengths).enumerate() {
        let offset = bone.checked_sub(1).map_or(0.0, |below| lengths[below]);
        nodes.push(Node {
            name: Some(name.clone()),
            parent: bone.checked_sub(1),
            rest: Transform::from_translation(Vec3::y() * offset),
            ..Node::default()
        });
        heights.push(heights[bone] + length);
    }
    let joint_count = names.len();
    let bind = |height: &f32| Affine::from(Transform::from_translation(Vec3::y() * -height));
    let skin = SkinSpec {
        name: None,
        joints: (0..joint_count).collect(),
        joint_from_bind: heights[..joint_count].iter().map(bind).collect(),
    };
    let mesh = lathe(heights[joint_count], RINGS * joint_count, radii);
    let influences = influences(&mesh.rest.positions, &heights, 1.5 * radii[0]);
    nodes.push(Node {
        name: Some("surface".to_owned()),
        mesh: Some(0),
        skin: Some(0),
        ..Node::default()
    });
    Document {
        scenes: vec![vec![0, joint_count]],
        nodes,
        meshes: vec![MeshSpec {
            name: Some("tube".to_owned()),
            primitives: vec![Primitive {
                mesh,
                influences: Some(influences),
                targets: Vec::new(),
                color: [0.55, 0.32, 0.20],
            }],
            weights: Vec::new(),
        }],
        skins: vec![skin],
        clips: vec![bending(joint_count, bend)],
        findings: Vec::new(),
        drivers: Vec::new(),
        tangents: Vec::new(),
    }
}

/// A ring of a surface of revolution: height and radius, metres, and how much its normal looks up.
struct Ring {
    height: f32,
    radius: f32,
    normal_y: f32,
}

/// A closed tube along y from 0 to `height` with round ends, its radius changing evenly.
fn lathe(height: f32, rings: usize, radii: [f32; 2]) -> Mesh {
    let cap = |center: f32, radius: f32, step: i32| {
        let angle = step as f32 * std::f32::consts::FRAC_PI_8;
        Ring {
            height: center + radius * libm::sinf(angle),
            radius: radius * libm::cosf(angle),
            normal_y: libm::sinf(angle),
        }
    };
    let slope = (radii[0] - radii[1]) / height;
    let side = |ring: usize| {
        let t = ring as f32 / rings as f32;
        Ring {
            height: height * t,
            radius: radii[0] + (radii[1] - radii[0]) * t,
            normal_y: slope / (1.0 + slope * slope).sqrt(),
        }
    };
    let bottom = (-3..0).map(|step| cap(0.0, radii[0], step));
    let top = (1..=3).map(|step| cap(height, radii[1], step));
    let profile: Vec<Ring> = bottom.chain((0..=rings).map(side)).chain(top).collect();
    revolve(&profile, -radii[0], height + radii[1])
}

/// Turns a profile about y and closes it with a vertex at `low` and one at `high`.
fn revolve(profile: &[Ring], low: f32, high: f32) -> Mesh {
    let mut rest = Vertices {
        positions: vec![Vec3::y() * low],
        normals: vec![-Vec3::y()],
    };
    for ring in profile {
        let level = (1.0 - ring.normal_y * ring.normal_y).sqrt();
        for side in 0..SIDES {
            let angle = side as f32 * std::f32::consts::TAU / SIDES as f32;
            let out = Vec3::new(libm::sinf(angle), 0.0, libm::cosf(angle));
            rest.positions
                .push(out * ring.radius + Vec3::y() * ring.height);
            rest.normals.push(out * level + Vec3::y() * ring.normal_y);
        }
    }
    rest.positions.push(Vec3::y() * high);
    rest.normals.push(Vec3::y());

    let vertex = |ring: usize, side: usize| (1 + ring * SIDES + side % SIDES) as u32;
    let last = profile.len() - 1;
    let pole = (1 + profile.len() * SIDES) as u32;
    let mut triangles = Vec::new();
    for side in 0..SIDES {
        triangles.push([0, vertex(0, side + 1), vertex(0, side)]);
        for ring in 0..last {
            let (a, b) = (vertex(ring, side), vertex(ring, side + 1));
            let (c, d) = (vertex(ring + 1, side), vertex(ring + 1, side + 1));
            triangles.extend([[a, b, d], [a, d, c]]);
        }
        triangles.push([pole, vertex(last, side), vertex(last, side + 1)]);
    }
    Mesh {
        rest,
        uvs: Vec::new(),
        triangles,
    }
}

/// Each vertex follows the bone it lies on, and the next one within `blend` metres of the joint between them.
fn influences(positions: &[Vec3], heights: &[f32], blend: f32) -> Influences {
    let mut influences = Influences {
        per_vertex: 2,
        ..Influences::default()
    };
    let inner = &heights[1..heights.len() - 1];
    for position in positions {
        let near = |height: &&f32| (position.y - **height).abs() < blend;
        let below = inner
            .iter()
            .take_while(|height| **height <= position.y)
            .count();
        let joint = inner
            .iter()
            .position(|height| near(&height))
            .unwrap_or(below);
        let height = inner.get(joint).filter(near);
        let upper = height.map_or(0.0, |height| {
            smoothstep(f64::from(0.5 + 0.5 * (position.y - height) / blend)) as f32
        });
        let next = (joint + 1).min(heights.len() - 2);
        influences.joints.extend([joint as u16, next as u16]);
        influences.weights.extend([1.0 - upper, upper]);
    }
    influences
}

/// Two seconds: every bone but the first turns about z by `bend` rad, and back.
fn bending(joint_count: usize, bend: f32) -> ClipSpec {
    let first = usize::from(joint_count > 1);
    let turned = quat::from_axis_angle(Vec3::z(), bend);
    let keys = [Quat::identity(), turned, Quat::identity()];
    let keys = (0_u8..)
        .zip(keys)
        .map(|(second, rotation)| Key::new(f32::from(second), rotation));
    let track = Track::new(keys.collect(), Interpolation::Linear).ok();
    ClipSpec {
        name: Some("bend".to_owned()),
        channels: (first..joint_count)
            .filter_map(|joint| {
                let track = JointTrack::Rotation(track.clone()?);
                Some(Channel { joint, track })
            })
            .collect(),
        morphs: Vec::new(),
    }
}
