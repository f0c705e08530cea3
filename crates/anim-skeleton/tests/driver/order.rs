//! Sorting, cycles and what is refused.

use anim_math::{Transform, Vec3};
use anim_skeleton::driver::{
    Aim, Breathe, DriverError, DriverSpec, Drivers, JointRef, Orient, Parent, Point, Source, Space,
    SpringBone, SpringJoint, SpringTip,
};
use anim_skeleton::{JointSpec, Skeleton};

use crate::{Rig, at, bone, check};

fn joints(names: &[&str]) -> Vec<JointSpec> {
    let joint = |name: &&str| bone(name, None, at(0.0, 0.0, 0.0));
    names.iter().map(joint).collect()
}

fn follow(joint: &str, source: &str) -> Point {
    Point {
        joint: joint.into(),
        sources: vec![Source::new(source)],
        keep_offset: true,
        axes: [true; 3],
    }
}

/// Drivers that are named after who follows whom.
fn follows(pairs: &[(&str, &str)]) -> Vec<DriverSpec> {
    let spec = |(joint, source): &(&str, &str)| {
        DriverSpec::new(format!("{joint} after {source}"), follow(joint, source))
    };
    pairs.iter().map(spec).collect()
}

fn error(joints: Vec<JointSpec>, specs: Vec<DriverSpec>) -> DriverError {
    Drivers::new(&Skeleton::new(joints).unwrap(), specs).unwrap_err()
}

#[test]
fn a_chain_given_backward_arrives_in_one_pass() {
    let names = ["a", "b", "c", "d"];
    for pairs in [
        [("d", "c"), ("c", "b"), ("b", "a")],
        [("c", "b"), ("d", "c"), ("b", "a")],
        [("b", "a"), ("c", "b"), ("d", "c")],
    ] {
        let mut rig = Rig::new(joints(&names), follows(&pairs));
        rig.put("a", Vec3::new(1.0, 2.0, 3.0));
        rig.run(0.0);
        assert_eq!(rig.position("d"), Vec3::new(1.0, 2.0, 3.0));
        let order: Vec<_> = rig.drivers.order().collect();
        assert_eq!(order, ["b after a", "c after b", "d after c"]);
    }
}

#[test]
fn a_joint_above_counts_as_read() {
    // The target hangs on an arm that another driver turns.
    let joints = vec![
        bone("eye", None, at(0.0, 0.0, 0.0)),
        bone("arm", None, at(0.0, 0.0, 0.0)),
        bone("target", Some(1), at(0.0, 0.0, 1.0)),
        bone("lever", None, at(0.0, 0.0, 0.0)),
    ];
    let aim = Aim {
        joint: "eye".into(),
        axis: Vec3::z(),
        sources: vec![Source::new("target")],
        up: None,
    };
    let orient = Orient {
        joint: "arm".into(),
        sources: vec![Source::new("lever")],
        space: Space::Local,
        keep_offset: true,
        axes: [true; 3],
    };
    let specs = vec![DriverSpec::new("aim", aim), DriverSpec::new("arm", orient)];
    let mut rig = Rig::new(joints, specs);
    rig.turn("lever", Vec3::y() * 0.8);
    rig.run(0.0);
    check(rig.turned("eye"), Vec3::y() * 0.8, 1e-6);
}

#[test]
fn cycles_are_refused_with_the_names_along_them() {
    let specs = follows(&[("d", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("e", "d")]);
    let refused = error(joints(&["a", "b", "c", "d", "e"]), specs);
    let expected =
        "drivers wait for each other: a after b for b after c for c after a for a after b";
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn a_driver_that_moves_what_it_follows_is_a_cycle_of_its_own() {
    let joints = vec![
        bone("a", None, at(0.0, 0.0, 0.0)),
        bone("b", Some(0), at(0.0, 0.0, 0.0)),
    ];
    let refused = error(joints, follows(&[("a", "b")]));
    let drivers = vec!["a after b".to_owned(); 2];
    assert_eq!(refused, DriverError::Cycle { drivers });
}

#[test]
fn following_the_parent_is_no_cycle() {
    let joints = vec![
        bone("a", None, at(0.0, 0.0, 0.0)),
        bone("b", Some(0), at(0.0, 1.0, 0.0)),
    ];
    let mut rig = Rig::new(joints, follows(&[("b", "a")]));
    rig.put("a", Vec3::x());
    rig.run(0.0);
    check(rig.position("b"), Vec3::new(1.0, 1.0, 0.0), 1e-6);
}

#[test]
fn writers_of_one_channel_run_as_given() {
    for (pairs, expected) in [
        ([("c", "a"), ("c", "b")], Vec3::y()),
        ([("c", "b"), ("c", "a")], Vec3::x()),
    ] {
        let mut rig = Rig::new(joints(&["a", "b", "c"]), follows(&pairs));
        rig.put("a", Vec3::x());
        rig.put("b", Vec3::y());
        rig.run(0.0);
        assert_eq!(rig.position("c"), expected);
    }
}

#[test]
fn a_later_writer_waits_for_an_earlier_one_that_waits_itself() {
    let pairs = [("c", "x"), ("c", "b"), ("x", "a")];
    let mut rig = Rig::new(joints(&["a", "b", "c", "x"]), follows(&pairs));
    rig.put("a", Vec3::x());
    rig.put("b", Vec3::y());
    rig.run(0.0);
    assert_eq!(rig.position("c"), Vec3::y());
    let order: Vec<_> = rig.drivers.order().collect();
    assert_eq!(order, ["x after a", "c after x", "c after b"]);
}

#[test]
fn mistakes_are_refused_with_the_name_of_the_driver() {
    let names = ["a", "b"];
    let one = |kind: Parent| error(joints(&names), vec![DriverSpec::new("p", kind)]).to_string();
    let parent = |joint: JointRef, sources| Parent {
        joint,
        sources,
        keep_offset: true,
    };
    let none = parent("a".into(), vec![]);
    assert_eq!(one(none), "driver 'p': sources must not be empty");
    let unknown = parent("x".into(), vec![Source::new("b")]);
    assert_eq!(one(unknown), "driver 'p': joint 'x' does not exist");
    let unknown = parent("a".into(), vec![Source::new(2)]);
    assert_eq!(one(unknown), "driver 'p': joint 2 does not exist");
    let negative = Source {
        weight: -1.0,
        ..Source::new("b")
    };
    assert_eq!(
        one(parent("a".into(), vec![negative])),
        "driver 'p': a source's weight is out of range"
    );
    let twice = [follows(&[("a", "b")]), follows(&[("a", "b")])].concat();
    assert_eq!(
        error(joints(&names), twice).to_string(),
        "driver 'a after b': the name is taken"
    );
    let aim = Aim {
        joint: "a".into(),
        axis: Vec3::zeros(),
        sources: vec![Source::new("b")],
        up: None,
    };
    assert_eq!(
        error(joints(&names), vec![DriverSpec::new("look", aim)]).to_string(),
        "driver 'look': axis is not a usable direction"
    );
    for weight in [f32::NAN, -0.1, 1.1] {
        let mut specs = follows(&[("a", "b")]);
        specs[0].weight = weight;
        assert_eq!(
            error(joints(&names), specs).to_string(),
            "driver 'a after b': weight is out of range"
        );
    }
}

#[test]
fn no_drivers_do_nothing() {
    let mut rig = Rig::new(joints(&["a"]), vec![]);
    rig.run(0.1);
    assert!(rig.drivers.is_empty());
    assert_eq!(&rig.pose, rig.skeleton.rest());
}

#[test]
fn specifications_survive_text_and_bytes() {
    let breathe = Breathe {
        rate: 0.3,
        turn: Vec3::x(),
        ..Breathe::new(3)
    };
    let tail = SpringBone {
        joints: vec![SpringJoint::new("a")],
        ..SpringBone::new(SpringTip::Joint("b".into()))
    };
    let mut specs = follows(&[("a", "b"), ("c", "d")]);
    specs.push(DriverSpec::new("breath", breathe));
    specs.push(DriverSpec::new("tail", tail));
    let text = serde_json::to_string(&specs).unwrap();
    assert_eq!(
        serde_json::from_str::<Vec<DriverSpec>>(&text).unwrap(),
        specs
    );
    let config = bincode::config::standard();
    let bytes = bincode::serde::encode_to_vec(&specs, config).unwrap();
    let (back, _): (Vec<DriverSpec>, _) =
        bincode::serde::decode_from_slice(&bytes, config).unwrap();
    assert_eq!(back, specs);
    assert!(serde_json::from_str::<DriverSpec>(r#"{"name":"x","kind":{"fly":{}}}"#).is_err());
}

#[test]
fn a_rig_may_be_mirrored_without_a_finite_worry() {
    let mut joints = joints(&["a", "b"]);
    joints[0].rest = Transform {
        scale: Vec3::new(-1.0, 1.0, 1.0),
        ..Transform::IDENTITY
    };
    let mut rig = Rig::new(joints, follows(&[("a", "b")]));
    rig.put("b", Vec3::z());
    rig.run(0.0);
    assert_eq!(rig.position("a"), Vec3::z());
}
