//! VRM 1.0's node constraints, by that specification's own formulas in double precision.

use std::path::Path;

use anim_math::nalgebra::{Unit, UnitQuaternion, Vector3};
use anim_math::{Quat, Transform, Vec3};
use anim_skeleton::driver::{Aim, DriverKind, DriverSpec, Orient, Roll, Source, Space};
use anim_skeleton::{JointSpec, Skeleton};
use serde_json::Value;

use crate::Rig;
use crate::common::Random;

type Quat64 = UnitQuaternion<f64>;
type Vec64 = Vector3<f64>;

/// Takes unit vector `from` to `to`.
fn from_to(from: Vec64, to: Vec64) -> Quat64 {
    let axis = Unit::try_new(from.cross(&to), 1e-12);
    let angle = from.cross(&to).norm().atan2(from.dot(&to));
    axis.map_or_else(Quat64::identity, |axis| {
        Quat64::from_axis_angle(&axis, angle)
    })
}

fn part(from: Quat64, to: Quat64, weight: f64) -> Quat64 {
    from * (from.inverse() * to).powf(weight)
}

fn check(found: Quat, expected: Quat64) {
    let angle = found.cast::<f64>().angle_to(&expected);
    assert!(angle < 4e-6, "{angle} rad apart");
}

/// Source and destination below a common parent, and the parent.
fn scene(random: &mut Random, kind: impl Into<DriverKind>, weight: f32) -> Rig {
    let mut joint = |name: &str, parent| {
        crate::bone(
            name,
            parent,
            Transform {
                translation: random.vector(),
                rotation: random.rotation(),
                scale: Vec3::repeat(1.0),
            },
        )
    };
    let joints = vec![
        joint("parent", None),
        joint("source", Some(0)),
        joint("destination", Some(0)),
    ];
    let spec = DriverSpec {
        weight,
        ..DriverSpec::new("driver", kind)
    };
    let mut rig = Rig::new(joints, vec![spec]);
    let source = rig.joint("source");
    rig.pose.set_rotation(source, random.rotation());
    rig
}

struct Rotations {
    parent: Quat64,
    source_rest: Quat64,
    source: Quat64,
    rest: Quat64,
}

fn rotations(rig: &Rig) -> Rotations {
    let rest = |name| rig.skeleton.rest().rotation(rig.joint(name)).cast::<f64>();
    Rotations {
        parent: rest("parent"),
        source_rest: rest("source"),
        source: rig.pose.rotation(rig.joint("source")).cast(),
        rest: rest("destination"),
    }
}

#[test]
fn roll_is_that_of_the_specification() {
    let mut random = Random(21);
    for round in 0..100 {
        let axis = [Vec3::x(), Vec3::y(), Vec3::z()][round % 3];
        let weight = [1.0, 0.5, 0.2][round / 3 % 3];
        let roll = Roll {
            joint: "destination".into(),
            source: "source".into(),
            axis,
        };
        let mut rig = scene(&mut random, roll, weight);
        let r = rotations(&rig);
        rig.run(0.0);
        let delta = r.source_rest.inverse() * r.source;
        let delta_in_parent = r.source_rest * delta * r.source_rest.inverse();
        let delta_in_destination = r.rest.inverse() * delta_in_parent * r.rest;
        let axis = axis.cast::<f64>();
        let swing = from_to(axis, delta_in_destination * axis);
        let target = r.rest * swing.inverse() * delta_in_destination;
        let expected = part(r.rest, target, f64::from(weight));
        check(rig.pose.rotation(rig.joint("destination")), expected);
    }
}

#[test]
fn aim_is_that_of_the_specification() {
    let mut random = Random(22);
    for round in 0..100 {
        let axis = [Vec3::x(), -Vec3::y(), Vec3::z()][round % 3];
        let weight = [1.0, 0.5, 0.2][round / 3 % 3];
        let aim = Aim {
            joint: "destination".into(),
            axis,
            sources: vec![Source::new("source")],
            up: None,
        };
        let mut rig = scene(&mut random, aim, weight);
        let r = rotations(&rig);
        rig.run(0.0);
        let place = |name| rig.position(name).cast::<f64>();
        let to = (place("source") - place("destination")).normalize();
        let from = r.parent * r.rest * axis.cast::<f64>();
        let target = r.parent.inverse() * from_to(from, to) * r.parent * r.rest;
        let expected = part(r.rest, target, f64::from(weight));
        check(rig.pose.rotation(rig.joint("destination")), expected);
    }
}

fn rotation(joint: &str, source: usize) -> Orient {
    Orient {
        joint: joint.into(),
        sources: vec![Source::new(source)],
        space: Space::Local,
        keep_offset: true,
        axes: [true; 3],
    }
}

#[test]
fn rotation_is_that_of_the_specification() {
    let mut random = Random(23);
    for round in 0..100 {
        let weight = [1.0, 0.5, 0.2][round % 3];
        let mut rig = scene(&mut random, rotation("destination", 1), weight);
        let r = rotations(&rig);
        rig.run(0.0);
        let target = r.rest * r.source_rest.inverse() * r.source;
        let expected = part(r.rest, target, f64::from(weight));
        check(rig.pose.rotation(rig.joint("destination")), expected);
    }
}

/// The file of constrained cubes, or `None`, with a printed line, if there are no data and `ANIM_REQUIRE_DATA` is not 1.
fn cubes() -> Option<Value> {
    let data = std::env::var("ANIM_DATA").unwrap_or_else(|_| "../../../shared/data".into());
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(data)
        .join("vrm/three-vrm-node-constraint/cubes.gltf");
    match std::fs::read(&path) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).unwrap()),
        Err(error) if std::env::var("ANIM_REQUIRE_DATA").as_deref() == Ok("1") => {
            panic!("{}: {error}", path.display())
        }
        Err(_) => {
            eprintln!("skipped: no {}", path.display());
            None
        }
    }
}

/// The constraints of a glTF file's nodes, as far as this test has files for.
fn constraints(nodes: &[Value]) -> Vec<DriverSpec> {
    let mut specs = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let constraint = &node["extensions"]["VRMC_node_constraint"]["constraint"];
        let name = node["name"].as_str().unwrap();
        let source = |kind: &str| constraint[kind]["source"].as_u64().unwrap() as usize;
        let kind: DriverKind = if let Some(roll) = constraint.get("roll") {
            Roll {
                joint: index.into(),
                source: source("roll").into(),
                axis: match roll["rollAxis"].as_str().unwrap() {
                    "X" => Vec3::x(),
                    "Y" => Vec3::y(),
                    _ => Vec3::z(),
                },
            }
            .into()
        } else if constraint.get("rotation").is_some() {
            rotation(name, source("rotation")).into()
        } else {
            continue;
        };
        let mut weights = constraint.as_object().unwrap().values();
        let weight = weights.next().unwrap()["weight"].as_f64().unwrap_or(1.0);
        specs.push(DriverSpec {
            name: name.to_owned(),
            weight: weight as f32,
            kind,
        });
    }
    specs
}

#[test]
fn the_cubes_of_three_vrm_turn_as_their_file_says() {
    let Some(file) = cubes() else { return };
    let nodes = file["nodes"].as_array().unwrap();
    let joints = nodes.iter().map(|node| JointSpec {
        name: node["name"].as_str().map(str::to_owned),
        parent: None,
        rest: serde_json::from_value(serde_json::json!({ "translation": node["translation"] }))
            .unwrap(),
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap();
    let mut rig = Rig::of(skeleton, constraints(nodes)).unwrap();
    assert_eq!(rig.drivers.len(), 2);
    // Cube B takes the roll about y, cube C half the rotation.
    rig.turn("CubeA", Vec3::new(0.0, 0.9, 0.0));
    rig.run(0.0);
    crate::check(rig.turned("CubeB"), Vec3::y() * 0.9, 1e-6);
    crate::check(rig.turned("CubeC"), Vec3::y() * 0.45, 1e-6);
    rig.turn("CubeA", Vec3::new(1.2, 0.0, 0.0));
    rig.run(0.0);
    crate::check(rig.turned("CubeB"), Vec3::zeros(), 1e-6);
}
