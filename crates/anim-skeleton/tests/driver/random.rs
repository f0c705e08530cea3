//! Any drivers on any skeleton.

use anim_curves::{Interpolation, Key, Track};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::driver::{
    Aim, Breathe, Corrective, DriverError, DriverKind, DriverSpec, Effect, Jiggle, JointRef,
    Measure, Orient, Parent, Point, Pole, Roll, Scale, Share, Source, Space, SpringBone,
    SpringCollider, SpringJoint, SpringShape, SpringTip, Sway, Toward, Twist, Up,
};
use anim_skeleton::{Pose, Skeleton};
use proptest::prelude::*;

use crate::Rig;
use crate::common::{Random, random_joints};

/// Draws parts of specifications for a skeleton of so many joints.
struct Draw {
    random: Random,
    joints: usize,
}

impl Draw {
    fn joint(&mut self) -> JointRef {
        self.random.below(self.joints).into()
    }

    fn flag(&mut self) -> bool {
        self.random.below(2) == 0
    }

    fn axes(&mut self) -> [bool; 3] {
        [self.flag(), self.flag(), self.flag()]
    }

    fn positive(&mut self) -> f32 {
        self.random.signed().abs() + 1e-3
    }

    fn sources(&mut self) -> Vec<Source> {
        let source = |draw: &mut Self| Source {
            joint: draw.joint(),
            weight: (draw.random.signed() * 2.0).max(0.0),
        };
        (0..1 + self.random.below(3))
            .map(|_| source(self))
            .collect()
    }

    fn up(&mut self) -> Option<Up> {
        let toward = match self.random.below(4) {
            0 => Toward::Direction(self.random.vector()),
            1 => Toward::Joint(self.joint()),
            2 => Toward::Axis {
                joint: self.joint(),
                axis: self.random.vector(),
            },
            _ => return None,
        };
        let axis = self.random.vector();
        Some(Up { axis, toward })
    }

    fn corrective(&mut self) -> Corrective {
        let (joint, axis) = (self.joint(), self.random.vector());
        let measure = match self.random.below(3) {
            0 => Measure::Twist { joint, axis },
            1 => Measure::Swing { joint, axis },
            _ => Measure::Pose {
                joint,
                turn: axis,
                radius: self.positive(),
            },
        };
        let keys = vec![
            Key::new(-1.0, self.random.signed()),
            Key::new(2.0, self.random.signed()),
        ];
        let (joint, vector) = (self.joint(), self.random.vector());
        let effect = match self.random.below(4) {
            0 => Effect::Translation {
                joint,
                offset: vector,
            },
            1 => Effect::Rotation {
                joint,
                turn: vector,
            },
            2 => Effect::Scale {
                joint,
                factor: vector,
            },
            _ => Effect::Output,
        };
        Corrective {
            measure,
            curve: Track::new(keys, Interpolation::Linear).unwrap(),
            effect,
        }
    }

    /// A driver of `joint` whose result does not depend on where that is, and of nothing else.
    fn constraint(&mut self, joint: JointRef) -> DriverKind {
        let (sources, keep_offset) = (self.sources(), self.flag());
        match self.random.below(7) {
            0 => Aim {
                joint,
                axis: self.random.vector(),
                sources,
                up: self.up(),
            }
            .into(),
            1 => Orient {
                joint,
                sources,
                space: [Space::Local, Space::Model][self.random.below(2)],
                keep_offset,
                axes: self.axes(),
            }
            .into(),
            2 => Parent {
                joint,
                sources,
                keep_offset,
            }
            .into(),
            3 => Point {
                joint,
                sources,
                keep_offset,
                axes: self.axes(),
            }
            .into(),
            4 => Scale {
                joint,
                sources,
                keep_offset,
            }
            .into(),
            5 => Pole {
                joint,
                limb: [self.joint(), self.joint(), self.joint()],
                bend: self.random.vector(),
                distance: self.random.signed(),
            }
            .into(),
            _ => Roll {
                joint,
                source: self.joint(),
                axis: self.random.vector(),
            }
            .into(),
        }
    }

    fn kind(&mut self) -> DriverKind {
        let joint = self.joint();
        match self.random.below(9) {
            0 => Twist {
                source: joint,
                axis: self.random.vector(),
                helpers: (0..2)
                    .map(|_| Share {
                        joint: self.joint(),
                        fraction: self.random.signed(),
                    })
                    .collect(),
            }
            .into(),
            1 => self.corrective().into(),
            2 => Breathe {
                rate: self.positive(),
                phase: self.random.signed(),
                scale: self.random.vector(),
                turn: self.random.vector(),
                output: self.flag(),
                ..Breathe::new(joint)
            }
            .into(),
            3 => Sway {
                joint,
                frequency: self.positive(),
                turn: self.random.vector(),
                offset: self.random.vector(),
                seed: self.random.next(),
                period: self.flag().then(|| self.positive()),
            }
            .into(),
            4 => Jiggle {
                frequency: self.positive() * 10.0,
                damping: self.positive() * 2.0,
                gravity: self.random.vector() * 10.0,
                limit: self.flag().then(|| self.positive()),
                teleport: self.flag().then(|| self.positive()),
                ..Jiggle::new(joint, self.random.vector())
            }
            .into(),
            5 => self.spring_bone(joint).into(),
            _ => self.constraint(joint),
        }
    }

    fn spring_bone(&mut self, joint: JointRef) -> SpringBone {
        let shape = match self.random.below(3) {
            0 => SpringShape::Ball {
                center: self.random.vector(),
                radius: self.positive(),
                inside: self.flag(),
            },
            1 => SpringShape::Capsule {
                ends: [self.random.vector(), self.random.vector()],
                radius: self.positive(),
                inside: self.flag(),
            },
            _ => SpringShape::Plane {
                point: self.random.vector(),
                normal: self.random.vector(),
            },
        };
        let collider = SpringCollider {
            joint: self.joint(),
            shape,
        };
        SpringBone {
            joints: vec![SpringJoint {
                stiffness: self.positive() * 10.0,
                gravity: self.random.vector(),
                drag: self.random.signed().abs(),
                hit_radius: self.positive(),
                ..SpringJoint::new(joint)
            }],
            colliders: if self.flag() { vec![collider] } else { vec![] },
            center: self.flag().then(|| self.joint()),
            teleport: self.flag().then(|| self.positive()),
            ..SpringBone::new(SpringTip::Offset(self.random.vector()))
        }
    }

    fn specs(&mut self, count: usize) -> Vec<DriverSpec> {
        let spec = |place| DriverSpec {
            weight: (self.random.signed() + 0.5).clamp(0.0, 1.0),
            ..DriverSpec::new(format!("driver {place}"), self.kind())
        };
        (0..count).map(spec).collect()
    }

    fn pose(&mut self, huge: bool) -> Pose {
        let size = if huge { 1e30 } else { 1.0 };
        let mut pose = Pose::identity(self.joints);
        let skeleton = Skeleton::new(random_joints(self.joints, &mut self.random)).unwrap();
        for joint in skeleton.joints() {
            let scale = match self.random.below(8) {
                0 => Vec3::zeros(),
                _ => self.random.vector() * size,
            };
            pose.set(
                joint,
                Transform {
                    translation: self.random.vector() * size,
                    rotation: self.random.rotation(),
                    scale,
                },
            );
        }
        pose
    }
}

/// The rig, or `None` if its drivers form a cycle, which is all that may be wrong with them.
fn rig(seed: u64, joints: usize, count: usize) -> Option<(Rig, Draw)> {
    let mut random = Random(seed);
    let skeleton = Skeleton::new(random_joints(joints, &mut random)).unwrap();
    let mut draw = Draw { random, joints };
    match Rig::of(skeleton, draw.specs(count)) {
        Ok(rig) => Some((rig, draw)),
        Err(DriverError::Cycle { drivers }) => {
            assert!(drivers.len() > 1 && drivers.first() == drivers.last());
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Joints posed with scales that neither vanish nor grow large.
fn moderate(pose: &mut Pose, skeleton: &Skeleton, random: &mut Random) {
    for joint in skeleton.joints() {
        let transform = Transform {
            translation: random.vector(),
            rotation: random.rotation(),
            scale: Vec3::repeat(1.0) + random.vector() * 0.3,
        };
        pose.set(joint, transform);
    }
}

/// How far apart the parts of two poses are at most; q and −q are the same.
fn apart(a: &Pose, b: &Pose, skeleton: &Skeleton) -> f32 {
    let apart = |joint| {
        let (a, b) = (a.get(joint), b.get(joint));
        (a.translation - b.translation)
            .norm()
            .max((a.scale - b.scale).norm())
            .max(quat::angle_between(a.rotation, b.rotation))
    };
    skeleton.joints().map(apart).fold(0.0, f32::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_finite_stays_finite_and_unit(
        seed in any::<u64>(), joints in 1_usize..30, count in 0_usize..10, huge in any::<bool>(),
    ) {
        let Some((mut rig, mut draw)) = rig(seed, joints, count) else { return Ok(()) };
        for frame in 0..4 {
            rig.pose = draw.pose(huge && frame == 1);
            let (posed, was_on) = (rig.pose.clone(), rig.state.weights.clone());
            if huge && frame == 1 {
                // Globals of huge poses overflow, and NaN is not equal to itself.
                rig.skeleton.globals(&rig.pose, &mut rig.globals);
                rig.drivers.evaluate(&rig.skeleton, 0.1, &mut rig.state, &mut rig.pose, &mut rig.globals);
            } else {
                rig.run(0.05 * frame as f32);
            }
            prop_assert!(rig.pose.is_finite());
            for joint in rig.skeleton.joints() {
                prop_assert!((rig.pose.rotation(joint).coords.norm() - 1.0).abs() < 1e-5);
            }
            prop_assert!(rig.drivers.outputs(&rig.state).iter().all(|v| v.is_finite()));
            if was_on.iter().all(|weight| *weight == 0.0) {
                prop_assert_eq!(&rig.pose, &posed);
            }
        }
    }

    #[test]
    fn weight_zero_changes_no_bit(seed in any::<u64>(), joints in 1_usize..30, count in 0_usize..10) {
        let Some((mut rig, mut draw)) = rig(seed, joints, count) else { return Ok(()) };
        for weight in [0.0, -1.0, f32::NAN] {
            rig.state.weights.fill(weight);
            rig.pose = draw.pose(false);
            let posed = rig.pose.clone();
            rig.run(0.1);
            prop_assert_eq!(&rig.pose, &posed);
        }
    }

    #[test]
    fn reruns_and_any_order_of_the_list_give_the_same_bits(
        seed in any::<u64>(), joints in 4_usize..40, count in 0_usize..8,
    ) {
        let Some((mut first, mut draw)) = rig(seed, joints, count) else { return Ok(()) };
        let Some((mut again, _)) = rig(seed, joints, count) else { return Ok(()) };
        // In the order they run, writers of one channel keep theirs.
        let mut random = Random(seed);
        let skeleton = Skeleton::new(random_joints(joints, &mut random)).unwrap();
        let specs = Draw { random, joints }.specs(count);
        let sorted = first.drivers.order().map(|name| {
            specs.iter().find(|spec| spec.name == name).unwrap().clone()
        });
        let mut sorted = Rig::of(skeleton, sorted.collect()).unwrap();
        for _ in 0..4 {
            let pose = draw.pose(false);
            for rig in [&mut first, &mut again, &mut sorted] {
                rig.pose.copy_from(&pose);
                rig.run(1.0 / 60.0);
            }
            prop_assert_eq!(&first.pose, &again.pose);
            prop_assert_eq!(&first.pose, &sorted.pose);
        }
    }

    #[test]
    fn one_pass_satisfies_all_constraints_at_once(seed in any::<u64>(), count in 1_usize..12) {
        let mut random = Random(seed);
        let mut joints = random_joints(24, &mut random);
        joints.iter_mut().for_each(|joint| joint.rest.scale = Vec3::repeat(1.0));
        let skeleton = Skeleton::new(joints).unwrap();
        let mut draw = Draw { random, joints: 24 };
        let spec = |place: usize| {
            let mut kind = draw.constraint(place.into());
            if let DriverKind::Orient(orient) = &mut kind {
                orient.axes = [true; 3];
            }
            DriverSpec::new(format!("driver {place}"), kind)
        };
        let Ok(mut rig) = Rig::of(skeleton, (0..count).map(spec).collect()) else { return Ok(()) };
        moderate(&mut rig.pose, &rig.skeleton, &mut draw.random);
        rig.run(0.0);
        let once = rig.pose.clone();
        rig.run(0.0);
        let apart = apart(&once, &rig.pose, &rig.skeleton);
        // Places of a few metres under a few parents, and aims at what may be near.
        prop_assert!(apart < 1e-3, "{apart}");
    }
}
