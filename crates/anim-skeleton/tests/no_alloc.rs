//! What runs each frame allocates nothing.
#![allow(
    unsafe_code,
    reason = "an allocator that counts must implement the unsafe trait GlobalAlloc"
)]
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use anim_math::Vec3;
use anim_skeleton::driver::{SpringBone, SpringCollider, SpringJoint, SpringShape, SpringTip};
use anim_skeleton::{
    BakeOptions, Clip, CrowdGlobals, CrowdPose, DriverSpec, DriverState, Drivers, Globals, Layer,
    Mode, Skeleton, blend,
};
use common::{human, motion};

/// The system's allocator, counted.
struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator unchanged; counting touches no memory of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`; the block came from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn sampling_blending_springs_and_globals_alone_and_in_crowds_allocate_nothing() {
    let skeleton = Skeleton::new(human(20)).unwrap();
    let (clip, _) = Clip::bake(&motion(20, 1.0, 30.0), &skeleton, &BakeOptions::default()).unwrap();
    let mut poses = vec![skeleton.rest().clone(); 8];
    let mut globals = vec![Globals::new(&skeleton); 8];
    let mut crowd = CrowdPose::new(&skeleton);
    let mut matrices = CrowdGlobals::new(&skeleton);
    let ball = SpringCollider {
        joint: 0.into(),
        shape: SpringShape::Ball {
            center: Vec3::zeros(),
            radius: 0.2,
            inside: false,
        },
    };
    let tail = SpringBone {
        joints: (7..10).map(SpringJoint::new).collect(),
        colliders: vec![ball],
        ..SpringBone::new(SpringTip::Joint(10.into()))
    };
    let drivers = Drivers::new(&skeleton, vec![DriverSpec::new("tail", tail)]).unwrap();
    let mut springs = DriverState::new(&drivers);
    let mut frame = |time: f32| {
        let (out, sampled) = poses.split_first_mut().unwrap();
        for (index, pose) in sampled.iter_mut().enumerate() {
            clip.sample(time + 0.01 * index as f32, pose);
        }
        let layer = |pose, weight| Layer {
            pose,
            weight,
            mask: None,
            mode: Mode::Override,
        };
        let layers = [layer(&sampled[0], 0.5), layer(&sampled[1], 0.3)];
        blend(skeleton.rest(), &layers, out);
        skeleton.globals(out, &mut globals[0]);
        drivers.evaluate(&skeleton, 0.01, &mut springs, out, &mut globals[0]);
        crowd.load(&poses);
        skeleton.crowd_globals_each(&crowd, &mut matrices, &mut globals);
    };
    frame(0.0);
    let before = CALLS.load(Ordering::Relaxed);
    (0..100).for_each(|index| frame(index as f32 * 0.01));
    assert_eq!(CALLS.load(Ordering::Relaxed) - before, 0);
}
