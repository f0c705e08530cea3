//! Documents that use every part of the format.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use anim_asset::{Document, Finding, MeshSpec, Node, Primitive, Severity, SkinSpec, TangentSpec};
use anim_curves::{Interpolation, Key, Track, WideTrack, WideTrackSpec};
use anim_geom::{Mesh, Vertices};
use anim_math::nalgebra::Vector4;
use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::{Channel, ClipSpec, JointTrack, MorphChannel};
use anim_skin::tangents::TangentTarget;
use anim_skin::{Influences, MorphTarget};

/// A strip of `rows` quads along y, two vertices a row.
pub(crate) fn strip(rows: u32) -> Mesh {
    let row = |r: u32| {
        let y = r as f32 * 0.1;
        [Vec3::new(0.0, y, 0.0), Vec3::new(0.3, y, 0.0)]
    };
    let quad = |r: u32| {
        let v = 2 * r;
        [[v, v + 1, v + 3], [v, v + 3, v + 2]]
    };
    Mesh {
        rest: Vertices {
            positions: (0..=rows).flat_map(row).collect(),
            normals: vec![Vec3::z(); 2 * (rows as usize + 1)],
        },
        uvs: (0..=rows)
            .flat_map(|r| [[0.0, r as f32], [1.0, r as f32]])
            .collect(),
        triangles: (0..rows).flat_map(quad).collect(),
    }
}

/// A skinned, morphing, animated strip that uses every field once.
pub(crate) fn everything() -> Document {
    let node = |name: &str, parent, translation| Node {
        name: Some(name.to_owned()),
        parent,
        rest: Transform::from_translation(translation),
        ..Node::default()
    };
    let mut nodes = vec![
        node("röt", None, Vec3::zeros()),
        node("tip", Some(0), Vec3::y()),
        node("surface", None, Vec3::zeros()),
        Node {
            parent: Some(1),
            rest: Transform {
                rotation: quat::from_axis_angle(Vec3::x(), 0.7),
                scale: Vec3::new(1.0, -2.0, 3.0),
                ..Transform::IDENTITY
            },
            ..Node::default()
        },
    ];
    nodes[2].mesh = Some(0);
    nodes[2].skin = Some(0);
    nodes[2].weights = vec![0.25, 0.5];
    let mesh = strip(20);
    let count = mesh.vertex_count();
    let influences = Influences {
        per_vertex: 6,
        joints: (0..count).flat_map(|_| [0, 1, 1, 0, 2, 2]).collect(),
        weights: (0..count)
            .flat_map(|v| [1.0, v as f32 * 0.1, 0.2, 0.0, 0.1, 0.3])
            .collect(),
    };
    let target = |name: Option<&str>, vertices: Vec<u32>| MorphTarget {
        name: name.map(str::to_owned),
        positions: vertices
            .iter()
            .map(|v| Vec3::new(0.0, 0.0, *v as f32 * 0.01))
            .collect(),
        normals: vertices.iter().map(|_| Vec3::x() * 0.1).collect(),
        vertices,
    };
    let points = Mesh {
        triangles: Vec::new(),
        uvs: Vec::new(),
        ..mesh.clone()
    };
    let primitive = |mesh, color, targets| Primitive {
        mesh,
        influences: Some(influences.clone()),
        targets,
        color,
    };
    let meshes = vec![MeshSpec {
        name: Some("strip".to_owned()),
        primitives: vec![
            primitive(
                mesh,
                [0.8, 0.1, 0.1],
                vec![
                    target(Some("bulge"), vec![3, 7]),
                    target(None, (0..count as u32).collect()),
                ],
            ),
            primitive(points, [0.1, 0.1, 0.9], vec![target(None, vec![])]),
        ],
        weights: vec![0.0, 1.0],
    }];
    let tangents = TangentSpec {
        mesh: 0,
        primitive: 0,
        rest: (0..count).map(tangent).collect(),
        targets: vec![
            TangentTarget {
                vertices: vec![3, 8],
                tangents: vec![Vec3::z() * 0.5, -Vec3::z()],
            },
            TangentTarget::default(),
        ],
    };
    let skins = vec![SkinSpec {
        name: None,
        joints: vec![0, 1, 3],
        joint_from_bind: vec![
            Affine::IDENTITY,
            Affine::from(Transform::from_translation(-Vec3::y())),
            Affine::from(Transform::from_rotation(quat::from_axis_angle(
                Vec3::z(),
                0.3,
            ))),
        ],
    }];
    Document {
        nodes,
        scenes: vec![vec![0, 2]],
        meshes,
        skins,
        clips: vec![clip()],
        findings: vec![Finding {
            code: "NODE_EMPTY".to_owned(),
            severity: Severity::Info,
            location: "/nodes/3".to_owned(),
            message: "kept".to_owned(),
        }],
        drivers: Vec::new(),
        tangents: vec![tangents],
    }
}

/// Along x, of either handedness.
fn tangent(vertex: usize) -> [f32; 4] {
    [
        1.0,
        0.0,
        0.0,
        if vertex.is_multiple_of(2) { 1.0 } else { -1.0 },
    ]
}

/// Every interpolation and every path.
pub(crate) fn clip() -> ClipSpec {
    let turn = |angle| quat::from_axis_angle(Vec3::z(), angle);
    let cubic = |time, angle| Key {
        time,
        value: turn(angle),
        velocity: Some([
            Vector4::new(0.0, 0.0, 0.1, 0.0),
            Vector4::new(0.0, 0.0, 0.2, 0.0),
        ]),
    };
    let vectors = |interpolation| {
        let keys = vec![
            Key::new(0.0, Vec3::y()),
            Key::new(0.5, Vec3::new(0.5, 1.0, 0.0)),
        ];
        Track::new(keys, interpolation).unwrap()
    };
    let rotations: Track<Quat> =
        Track::new(vec![cubic(0.0, 0.0), cubic(1.0, 1.0)], Interpolation::Cubic).unwrap();
    let channel = |joint, track| Channel { joint, track };
    ClipSpec {
        name: Some("wave".to_owned()),
        channels: vec![
            channel(0, JointTrack::Rotation(rotations)),
            channel(1, JointTrack::Translation(vectors(Interpolation::Linear))),
            channel(1, JointTrack::Scale(vectors(Interpolation::Step))),
        ],
        morphs: vec![MorphChannel {
            joint: 2,
            track: WideTrack::new(WideTrackSpec {
                width: 2,
                times: vec![0.0, 1.0],
                values: (0..12).map(|v| v as f32 * 0.1).collect(),
                interpolation: Interpolation::Cubic,
            })
            .unwrap(),
        }],
    }
}
