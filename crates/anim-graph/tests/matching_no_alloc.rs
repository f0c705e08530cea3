//! A matcher allocates nothing.
#![allow(
    unsafe_code,
    reason = "an allocator that counts must implement the unsafe trait GlobalAlloc"
)]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "matching/walkers.rs"]
mod walkers;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use anim_graph::matching::{
    Locomotion, MatcherOptions, MotionDatabase, MotionMatcher, Steering, TrajectoryPoint,
};
use walkers::{RATE, Walk, features, once, skeleton};

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

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`; the block came from the system's allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn ten_seconds_of_searches_and_jumps_allocate_nothing() {
    let skeleton = skeleton();
    let walks = [0.0, 1.0, -1.0].map(|rate| Walk::new(1.5, rate, 4.0).clip(&skeleton));
    let clips = walks.each_ref().map(|clip| once("walk", clip));
    let database = MotionDatabase::new(&skeleton, &clips, &features(), RATE).unwrap();
    let mut matcher = MotionMatcher::new(&database, MatcherOptions::default());
    let mut asked = vec![TrajectoryPoint::default(); database.trajectory_times().len()];
    let mut character = Locomotion::default();
    let before = CALLS.load(Ordering::Relaxed);
    let mut jumps = 0;
    for frame in 0..600 {
        let heading = (frame / 100) as f32 * 2.0;
        let steering = Steering {
            velocity: [1.5 * heading.sin(), 1.5 * heading.cos()],
            heading,
            ..Steering::default()
        };
        character = character.after(&steering, 1.0 / RATE);
        character.trajectory(&steering, database.trajectory_times(), &mut asked);
        let step = matcher.step(&database, &asked, 0, 1.0 / RATE);
        jumps += usize::from(step.jump.is_some());
    }
    assert_eq!(CALLS.load(Ordering::Relaxed) - before, 0);
    assert!(jumps > 5);
}
