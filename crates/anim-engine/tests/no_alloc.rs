//! A frame allocates nothing after warm-up.
#![allow(
    unsafe_code,
    reason = "an allocator that counts must implement the unsafe trait GlobalAlloc"
)]
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

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
fn three_hundred_frames_after_warm_up_allocate_nothing() {
    let mut scene = common::scene(1);
    (0..60).for_each(|_| scene.step(1.0 / 60.0));
    let before = CALLS.load(Ordering::Relaxed);
    (0..300).for_each(|_| scene.step(1.0 / 60.0));
    assert_eq!(CALLS.load(Ordering::Relaxed) - before, 0);
}
