//! Spring bones of VRM files, of both versions, whole and broken.
#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

mod common;

use anim_asset::{Document, gltf, load, pack};
use anim_math::Vec3;
use anim_skeleton::driver::{
    DriverKind, DriverState, Drivers, JointRef, SpringBone, SpringShape, SpringTip,
};
use anim_skeleton::{Globals, Skeleton};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Root, three bones of hair, a skull, and hair that forks.
fn nodes() -> Value {
    json!([
        {"name": "head", "children": [1, 4, 5]},
        {"name": "hair 1", "translation": [0, 1, 0], "children": [2]},
        {"name": "hair 2", "translation": [0, -0.2, 0], "children": [3]},
        {"name": "hair 3", "translation": [0, -0.2, 0]},
        {"name": "skull"},
        {"name": "fork", "children": [6, 7], "translation": [0.1, 1, 0]},
        {"name": "left", "translation": [0.1, 0, 0]},
        {"name": "right", "translation": [0, 0, 0.3], "rotation": [0, 0.70710677, 0, 0.70710677]}
    ])
}

fn file(extension: &str, content: Value) -> Value {
    json!({
        "asset": {"version": "2.0"},
        "nodes": nodes(),
        "extensionsUsed": [extension, "VRMC_springBone_extended_collider"],
        "extensions": {extension: content}
    })
}

fn read(file: &Value) -> Document {
    let bytes = serde_json::to_vec(file).unwrap();
    gltf::read(&bytes, &mut |_| Err("none".to_owned())).unwrap()
}

fn newer() -> Value {
    json!({
        "specVersion": "1.0",
        "colliders": [
            {"node": 4, "shape": {"sphere": {"offset": [0, 1, 0], "radius": 0.1}}},
            {"node": 4, "shape": {"capsule": {"offset": [0, 1, 0], "tail": [0, 0, 1], "radius": 0.2}}},
            {"node": 0, "shape": {"sphere": {"radius": 0}}, "extensions": {
                "VRMC_springBone_extended_collider": {"specVersion": "1.0", "shape": {"plane": {"normal": [0, 1, 0]}}}
            }}
        ],
        "colliderGroups": [{"colliders": [0, 1]}, {"colliders": [2]}],
        "springs": [{
            "name": "hair",
            "center": 0,
            "colliderGroups": [1, 0],
            "joints": [
                {"node": 1, "hitRadius": 0.03, "stiffness": 0.7, "gravityPower": 0.5, "gravityDir": [0, 0, 1], "dragForce": 0.2},
                {"node": 2},
                {"node": 3}
            ]
        }]
    })
}

fn older() -> Value {
    json!({"secondaryAnimation": {
        "boneGroups": [{
            "comment": "all hair", "stiffiness": 0.6, "gravityPower": 0.2, "gravityDir": {"x": 0, "y": -1, "z": 0.5},
            "dragForce": 0.3, "center": -1, "hitRadius": 0.05, "bones": [1, 5], "colliderGroups": [0]
        }],
        "colliderGroups": [{"node": 4, "colliders": [{"offset": {"x": 0.1, "y": 0.2, "z": 0.3}, "radius": 0.4}]}]
    }})
}

fn springs(document: &Document) -> Vec<&SpringBone> {
    let kinds = document.drivers.iter().map(|spec| &spec.kind);
    kinds
        .map(|kind| match kind {
            DriverKind::SpringBone(spring) => spring,
            other => panic!("{other:?}"),
        })
        .collect()
}

/// Spring bones must fit, and a frame of them must be finite.
fn run(document: &Document) -> (Skeleton, Globals) {
    let skeleton = document.skeleton().unwrap();
    let drivers = Drivers::new(&skeleton, document.drivers.clone()).unwrap();
    let mut state = DriverState::new(&drivers);
    let mut globals = Globals::new(&skeleton);
    for _ in 0..60 {
        let mut pose = skeleton.rest().clone();
        skeleton.globals(&pose, &mut globals);
        drivers.evaluate(&skeleton, 1.0 / 60.0, &mut state, &mut pose, &mut globals);
        assert!(pose.is_finite());
    }
    (skeleton, globals)
}

fn codes(document: &Document) -> Vec<&str> {
    document.findings.iter().map(|f| f.code.as_str()).collect()
}

#[test]
fn a_spring_of_vrm_1_is_read_as_written() {
    let document = read(&file("VRMC_springBone", newer()));
    assert_eq!(codes(&document), [""; 0]);
    assert_eq!(document.drivers[0].name, "spring 0: hair");
    let spring = springs(&document)[0];
    let [first, second] = &spring.joints[..] else {
        panic!("the last joint is a tip")
    };
    assert_eq!(first.joint, JointRef::Index(1));
    assert_eq!(
        (first.stiffness, first.drag, first.hit_radius),
        (0.7, 0.2, 0.03)
    );
    assert_eq!(first.gravity, Vec3::z() * 0.5);
    assert_eq!((second.stiffness, second.drag), (1.0, 0.5));
    assert_eq!(spring.tip, SpringTip::Joint(JointRef::Index(3)));
    assert_eq!(spring.center, Some(JointRef::Index(0)));
    let shapes: Vec<_> = spring.colliders.iter().map(|c| c.shape).collect();
    let expected = [
        SpringShape::Plane {
            point: Vec3::zeros(),
            normal: Vec3::y(),
        },
        SpringShape::Ball {
            center: Vec3::y(),
            radius: 0.1,
            inside: false,
        },
        SpringShape::Capsule {
            ends: [Vec3::y(), Vec3::z()],
            radius: 0.2,
            inside: false,
        },
    ];
    assert_eq!(shapes, expected);
    run(&document);
    assert_eq!(pack::decode(&pack::encode(&document)), Ok(document));
}

#[test]
fn groups_of_vrm_0_are_chains_of_whole_trees() {
    let document = read(&file("VRM", older()));
    assert_eq!(codes(&document), [""; 0]);
    let springs = springs(&document);
    let joints = |spring: &SpringBone| -> Vec<JointRef> {
        spring.joints.iter().map(|j| j.joint.clone()).collect()
    };
    let chains: Vec<_> = springs.iter().map(|spring| joints(spring)).collect();
    let index = |i: usize| JointRef::Index(i);
    assert_eq!(chains[0], [index(1), index(2), index(3)]);
    assert_eq!(chains[1], [index(5), index(6)]);
    assert_eq!(chains[2], [index(7)]);
    assert_eq!(
        springs[0].tip,
        SpringTip::Offset(Vec3::new(0.0, -0.07, 0.0))
    );
    // A bone that came along z, of a node turned by a quarter: along its own −x.
    let SpringTip::Offset(turned) = springs[2].tip else {
        panic!("no offset")
    };
    assert!(
        (turned - Vec3::new(-0.07, 0.0, 0.0)).norm() < 1e-6,
        "{turned}"
    );
    let joint = &springs[0].joints[0];
    assert_eq!(
        (joint.stiffness, joint.drag, joint.hit_radius),
        (0.6, 0.3, 0.05)
    );
    assert_eq!(joint.gravity, Vec3::new(0.0, -0.2, -0.1));
    let SpringShape::Ball { center, radius, .. } = springs[0].colliders[0].shape else {
        panic!("no ball")
    };
    assert_eq!((center, radius), (Vec3::new(0.1, 0.2, -0.3), 0.4));
    run(&document);
}

#[test]
fn what_breaks_the_rules_is_named_and_left_out() {
    let check = |change: &dyn Fn(&mut Value), code: &str, left: usize| {
        let mut content = newer();
        change(&mut content);
        let document = read(&file("VRMC_springBone", content));
        assert!(
            codes(&document).contains(&code),
            "{code}: {:?}",
            document.findings
        );
        assert_eq!(document.drivers.len(), left, "{code}");
        run(&document);
    };
    let joints = |list: Value| move |v: &mut Value| v["springs"][0]["joints"] = list.clone();
    check(
        &joints(json!([{"node": 3}, {"node": 1}])),
        "SPRING_BONE_JOINT_NOT_BELOW",
        0,
    );
    check(
        &joints(json!([{"node": 1}, {"node": 99}])),
        "UNRESOLVED_REFERENCE",
        0,
    );
    check(&joints(json!([{"node": 1}])), "SPRING_BONE_EMPTY", 0);
    let wild = json!([{"node": 1, "stiffness": -1, "dragForce": 7, "hitRadius": "x"}, {"node": 2}]);
    check(&joints(wild), "VALUE_NOT_IN_RANGE", 1);
    let twice = |v: &mut Value| {
        let spring = v["springs"][0].clone();
        v["springs"] = json!([spring, spring]);
    };
    check(&twice, "SPRING_BONE_JOINT_TAKEN", 1);
    check(
        &|v| v["springs"][0]["center"] = json!(2),
        "SPRING_BONE_CENTER",
        1,
    );
    check(
        &|v| v["colliders"][0]["node"] = json!(3),
        "SPRING_COLLIDER_SWINGS",
        1,
    );
    check(
        &|v| v["colliders"][0]["node"] = json!(-3),
        "UNRESOLVED_REFERENCE",
        1,
    );
    check(
        &|v| v["colliders"][0]["shape"] = json!({}),
        "SPRING_COLLIDER_SHAPE",
        1,
    );
    check(&|v| v["specVersion"] = json!("3"), "VALUE_NOT_IN_LIST", 1);
}

#[test]
fn chains_that_skip_each_others_joints_are_left_out() {
    let mut content = newer();
    content["springs"] = json!([
        {"joints": [{"node": 1}, {"node": 3}]},
        {"joints": [{"node": 2}, {"node": 3}]},
        {"joints": [{"node": 5}, {"node": 6}]}
    ]);
    let document = read(&file("VRMC_springBone", content));
    // The second hangs on the first, which reads it as what lies between: no order can satisfy both.
    assert!(codes(&document).contains(&"SPRING_BONE_CYCLE"));
    assert_eq!(document.drivers.len(), 1);
    run(&document);
}

#[test]
fn many_springs_on_one_deep_joint_are_refused_rather_than_filling_the_memory() {
    let depth = 20_000;
    let node = |at: usize| match at + 1 < depth {
        true => json!({"children": [at + 1]}),
        false => json!({}),
    };
    let spring = |at: usize| json!({"joints": [{"node": depth - 2 - at}, {"node": depth - 1}]});
    let file = json!({
        "asset": {"version": "2.0"},
        "nodes": (0..depth).map(node).collect::<Vec<_>>(),
        "extensionsUsed": ["VRMC_springBone"],
        "extensions": {"VRMC_springBone": {
            "specVersion": "1.0",
            "springs": (0..5000).map(spring).collect::<Vec<_>>()
        }}
    });
    let bytes = serde_json::to_vec(&file).unwrap();
    let refused = gltf::read(&bytes, &mut |_| Err("none".to_owned())).unwrap_err();
    assert_eq!(refused.code, "TOO_LARGE");
}

#[test]
fn the_samples_of_three_vrm_swing() {
    let Some(data) = common::data() else {
        return;
    };
    let directory = data.join("vrm/three-vrm-springbone");
    for (name, expected) in [
        ("sphere-collider", "Ball { inside: false"),
        ("inside-collider", "Ball { inside: true"),
        ("plane-collider", "Plane"),
    ] {
        let document = load(&directory.join(name).with_extension("gltf")).unwrap();
        let springs = springs(&document);
        assert_eq!(springs.len(), 1);
        assert_eq!(springs[0].joints.len(), 4);
        let shape = springs[0].colliders[0].shape;
        let is_expected = match shape {
            SpringShape::Ball { inside, .. } => expected.ends_with(&inside.to_string()),
            SpringShape::Plane { .. } => expected == "Plane",
            SpringShape::Capsule { .. } => false,
        };
        assert!(is_expected, "{name}: {shape:?}");
        // The chain hangs from 2 m, bones of half a metre: it must end up clear of the collider.
        let (skeleton, globals) = run(&document);
        let at = |node: usize| globals.get(skeleton.joint(node)).translation;
        let collider = globals.get(skeleton.joint(5));
        for node in 1..5 {
            let tail = at(node);
            let clear = match shape {
                SpringShape::Ball {
                    center,
                    radius,
                    inside,
                } => {
                    let radius = radius * collider.linear.column(0).norm();
                    let distance = (tail - collider.transform_point(center)).norm();
                    match inside {
                        true => radius - distance,
                        false => distance - radius,
                    }
                }
                SpringShape::Plane { point, normal } => {
                    let normal = collider.transform_vector(normal).normalize();
                    normal.dot(&(tail - collider.transform_point(point)))
                }
                SpringShape::Capsule { .. } => 0.0,
            };
            assert!(clear > 0.25 - 1e-3, "{name}: node {node} has {clear}");
        }
    }
}

/// Replaces what `draws` chooses, all the way down.
fn damage(value: &mut Value, draws: &mut impl Iterator<Item = u32>) {
    let draw = draws.next().unwrap_or(1);
    match (draw % 16, &mut *value) {
        (0, _) => *value = json!(null),
        (2, _) => *value = json!(-1),
        (3, _) => *value = json!(1e300),
        (4, _) => *value = json!([]),
        (5, _) => *value = json!({}),
        (6, Value::Number(_)) => *value = json!(draw % 9),
        (_, Value::Array(list)) => list.iter_mut().for_each(|v| damage(v, draws)),
        (_, Value::Object(map)) => map.values_mut().for_each(|v| damage(v, draws)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn damaged_springs_never_panic_and_always_fit(draws in prop::collection::vec(any::<u32>(), 0..200)) {
        for (extension, mut content) in [("VRMC_springBone", newer()), ("VRM", older())] {
            let mut draws = draws.iter().copied();
            draws.next();
            damage(&mut content, &mut draws);
            let document = read(&file(extension, content));
            run(&document);
            prop_assert_eq!(document.check(), Ok(()));
        }
    }
}
