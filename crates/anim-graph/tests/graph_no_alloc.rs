//! A frame of a graph allocates nothing, whatever happens in it.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
#![allow(
    unsafe_code,
    reason = "an allocator that counts must implement the unsafe trait GlobalAlloc"
)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use anim_graph::{GraphState, LibraryClip};
use common::{clip, events, graph, moved, ramp, still, stride};

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
fn six_hundred_frames_from_the_first_allocate_nothing() {
    let json = include_str!("data/locomotion.json");
    let marked = |clip: LibraryClip, left: f32, right: f32| {
        let marks = [(left, "left"), (right, "right")];
        LibraryClip {
            markers: events(&marks),
            events: events(&marks),
            ..clip
        }
    };
    let place = anim_math::Vec3::new(0.0, 1.0, 0.0);
    let graph = graph(
        json,
        vec![
            still("idle", 0.0, 3.0),
            marked(stride("walk", 1.0, 1.5, 0.2), 0.1, 0.6),
            marked(stride("run", 0.6, 4.0, 0.0), 0.4, 0.1),
            ramp("jump", 0.5),
            ramp("fall", 1.0),
            ramp("land", 0.4),
            ramp("wave", 0.8),
            clip("lean", vec![moved(0, &[(0.0, place), (1.0, place)])]),
        ],
    );
    let mut state = GraphState::new(&graph);
    let [speed, wave, lean, grounded, jump] =
        ["speed", "wave", "lean", "grounded", "jump"].map(|name| graph.parameter(name).unwrap());
    let before = CALLS.load(Ordering::Relaxed);
    let mut states = 0;
    let mut heard = 0;
    for frame in 0..600 {
        let part = frame as f32 / 600.0;
        let set = [(speed, 8.0 * part), (wave, part), (lean, 1.0 - 2.0 * part)];
        for (parameter, value) in set {
            state.parameters.set(parameter, value).unwrap();
        }
        state.parameters.set(grounded, frame % 150 < 90).unwrap();
        if frame % 130 == 50 {
            state.parameters.fire(jump).unwrap();
        }
        state.step(&graph, 1.0 / 60.0);
        let status = state.machine(&graph, "body/locomotion").unwrap();
        states |= 1 << status.state.as_bytes()[0].saturating_sub(b'a').min(31);
        heard += state.events(&graph, 0.0).count();
    }
    assert_eq!(CALLS.load(Ordering::Relaxed) - before, 0);
    let letters = "gjfl"
        .bytes()
        .fold(0, |sum, letter| sum | 1 << (letter - b'a'));
    assert_eq!(states, letters, "all states were met");
    assert!(heard > 10);
}
