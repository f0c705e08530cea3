//! A frame allocates nothing after warm-up.
#![allow(
    unsafe_code,
    reason = "an allocator that counts must implement the unsafe trait GlobalAlloc"
)]
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use std::sync::Arc;

use anim_engine::skeleton::BakeOptions;
use anim_engine::{Character, Deform, Stage, asset};

/// The system's allocator, counted.
struct Counting;

thread_local! {
    /// Of this thread alone: tests run side by side.
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is handed to the system's allocator unchanged; counting touches no memory of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.with(|calls| calls.set(calls.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`; the block came from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        CALLS.with(|calls| calls.set(calls.get() + 1));
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
    let before = CALLS.with(Cell::get);
    (0..300).for_each(|_| scene.step(1.0 / 60.0));
    assert_eq!(CALLS.with(Cell::get) - before, 0);
}

#[test]
fn graphs_drivers_sockets_and_masks_allocate_nothing_after_warm_up() {
    let mut engine = common::crowd(1);
    let mut frames = |count: usize| {
        for _ in 0..count {
            engine.run(Stage::Animate, 1.0 / 60.0);
            engine.run(Stage::Ik, 1.0 / 60.0);
        }
    };
    frames(60);
    let before = CALLS.with(Cell::get);
    frames(300);
    assert_eq!(CALLS.with(Cell::get) - before, 0);
}

#[test]
fn no_way_to_follow_the_joints_allocates_after_the_first_frame() {
    let mut document = asset::builtin::humanoid();
    let vertex_count = document.meshes[0].primitives[0].mesh.vertex_count();
    document.tangents = vec![asset::TangentSpec {
        rest: vec![[1.0, 0.0, 0.0, 1.0]; vertex_count],
        ..asset::TangentSpec::default()
    }];
    let mut before = Deform::Linear;
    for deform in Deform::ALL {
        let character = Character::from_document(&document, &BakeOptions::default());
        let shares = vec![0.5; vertex_count];
        // Each all over, and as a region of itself and of the one before.
        let character = character
            .and_then(|character| character.with_deformer(*deform))
            .and_then(|character| character.with_region(0, *deform, &shares))
            .and_then(|character| character.with_region(0, before, &shares));
        before = *deform;
        let mut engine = common::engine(1);
        let id = engine.spawn(Arc::new(character.expect("a character")));
        engine.actor_mut(id).expect("the actor").play_clip(0);
        (0..2).for_each(|_| engine.step(1.0 / 60.0));
        let calls = CALLS.with(Cell::get);
        for _ in 0..8 {
            engine.step(1.0 / 60.0);
            let actor = engine.actor(id).expect("the actor");
            std::hint::black_box(actor.world_bounds());
        }
        assert_eq!(CALLS.with(Cell::get), calls, "{deform:?}");
    }
}

#[test]
fn hair_and_muscles_allocate_nothing_after_warm_up() {
    for make in [common::hair, common::biceps] {
        let mut scene = make(1);
        (0..60).for_each(|_| scene.step(1.0 / 60.0));
        let before = CALLS.with(Cell::get);
        (0..60).for_each(|_| scene.step(1.0 / 60.0));
        assert_eq!(CALLS.with(Cell::get) - before, 0);
    }
}
