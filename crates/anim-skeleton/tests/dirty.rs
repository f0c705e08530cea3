//! Partial forward kinematics and transforms of matrices.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_math::nalgebra::{Matrix3, Vector3};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Skeleton};
use common::{Random, random_joints};
use proptest::prelude::*;

proptest! {
    #[test]
    fn dirty_joints_and_what_hangs_on_them_get_the_bits_of_a_full_pass(
        seed in any::<u64>(),
        count in 0_usize..70,
        edits in 0_usize..9,
    ) {
        let random = &mut Random(seed);
        let skeleton = Skeleton::new(random_joints(count, random)).unwrap();
        let mut pose = skeleton.rest().clone();
        let mut partial = Globals::new(&skeleton);
        skeleton.globals(&pose, &mut partial);
        let before = partial.clone();

        let mut dirty = vec![false; count];
        for _ in 0..edits.min(count) {
            let joint = skeleton.joint(random.below(count));
            pose.set_rotation(joint, random.rotation());
            dirty[joint.index()] = true;
        }
        let edited = dirty.clone();
        skeleton.globals_dirty(&mut dirty, &pose, &mut partial);

        let mut full = Globals::new(&skeleton);
        skeleton.globals(&pose, &mut full);
        for joint in skeleton.joints() {
            let bits = |globals: &Globals| globals.slots()[joint.index()].0.map(|r| r.map(f32::to_bits));
            prop_assert_eq!(bits(&partial), bits(&full));
            let is_moved = edited[joint.index()] || skeleton.ancestors(joint).any(|a| edited[a.index()]);
            prop_assert_eq!(dirty[joint.index()], is_moved);
            prop_assert!(is_moved || bits(&partial) == bits(&before));
        }
    }

    #[test]
    fn a_transform_is_exact_where_nothing_shears(seed in any::<u64>()) {
        let random = &mut Random(seed);
        let mut joints = random_joints(12, random);
        for joint in &mut joints {
            joint.rest.scale = Vec3::repeat(1.0 + 0.5 * random.signed());
        }
        let skeleton = Skeleton::new(joints).unwrap();
        let mut globals = Globals::new(&skeleton);
        skeleton.globals(skeleton.rest(), &mut globals);
        for joint in skeleton.joints() {
            let (_, residual) = globals.transform(joint);
            // Some twenty roundings a joint of a chain of up to twelve.
            let rounding = 12.0 * 20.0 * f32::EPSILON * globals.get(joint).linear.norm();
            prop_assert!(residual < rounding, "{residual} {rounding}");
        }
    }
}

#[test]
fn a_transform_says_how_much_shear_it_loses() {
    let joint = |parent, scale, angle| JointSpec {
        name: None,
        parent,
        rest: Transform {
            rotation: quat::from_axis_angle(Vec3::z(), angle),
            scale,
            ..Transform::IDENTITY
        },
    };
    let skeleton = Skeleton::new(vec![
        joint(None, Vec3::new(2.0, 1.0, 1.0), 0.0),
        joint(Some(0), Vec3::repeat(1.0), std::f32::consts::FRAC_PI_4),
    ])
    .unwrap();
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    let child = skeleton.joint(1);

    // diag(2, 1, 1) times a turn by 45 degrees, in f64.
    let c = 0.5_f64.sqrt();
    let exact = Matrix3::from_diagonal(&Vector3::new(2.0, 1.0, 1.0))
        * Matrix3::new(c, -c, 0.0, c, c, 0.0, 0.0, 0.0, 1.0);
    let matrix = globals.get(child).linear.cast::<f64>();
    assert!((matrix - exact).norm() < 5e-7);

    // x and y both have length √2.5 and enclose an angle whose cosine is -3/5: with x kept, y at length √2.5 and at a
    // right angle to it is off by the chord 2 √2.5 sin(γ/2), where γ = asin(3/5).
    let (transform, residual) = globals.transform(child);
    let gamma = 0.6_f64.asin();
    let expected = 2.0 * 2.5_f64.sqrt() * (gamma / 2.0).sin();
    assert!((f64::from(residual) - expected).abs() < 1e-6);
    assert!((transform.scale - Vec3::new(2.5_f32.sqrt(), 2.5_f32.sqrt(), 1.0)).norm() < 1e-6);
    assert_eq!(globals.transform(skeleton.joint(0)).1, 0.0);
}
