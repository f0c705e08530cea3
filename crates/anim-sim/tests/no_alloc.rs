//! A step allocates nothing after warm-up, whatever the solver.
#![allow(
    unsafe_code,
    reason = "an allocator that counts must implement the unsafe trait GlobalAlloc"
)]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

mod common;
mod solids;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use anim_geom::tet::{Split, lattice};
use anim_geom::{Collider, Shape};
use anim_math::{Affine, Transform, Vec3, quat};
use anim_sim::cloth::{self, Bending};
use anim_sim::element::Material;
use anim_sim::hair::{Hair, HairDrive, HairSolver, HairSpec, HairState, HairVolume};
use anim_sim::{
    Drive, Implicit, ImplicitOptions, Model, SelfContact, Solver, State, TimeScheme, Vbd,
    VbdOptions, Xpbd,
};

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

/// How often memory is asked for in 30 frames after 20.
fn allocations(mut frame: impl FnMut(u16)) -> usize {
    (0..20).for_each(&mut frame);
    let before = CALLS.with(Cell::get);
    (20..50).for_each(&mut frame);
    CALLS.with(Cell::get) - before
}

fn ball(center: Vec3) -> Collider {
    let place = Affine {
        translation: center,
        ..Affine::IDENTITY
    };
    Collider::new(Shape::Sphere { radius: 0.2 }, place)
}

/// Steps a body once, over a ball that moves.
fn step(model: &Model, solver: &mut dyn Solver, state: &mut State, frame: u16) {
    let at = |frame: u16| [ball(Vec3::new(0.5, -0.3 + 0.002 * f32::from(frame), 0.5))];
    let (previous, now) = (at(frame), at(frame + 1));
    let drive = Drive {
        colliders: &now,
        previous_colliders: &previous,
        ..Drive::default()
    };
    solver.step(model, &drive, 1.0 / 60.0, state);
}

fn check(what: &str, model: &Model, solver: &mut dyn Solver) {
    let mut state = State::new(model);
    let count = allocations(|frame| step(model, solver, &mut state, frame));
    assert!(state.is_finite(), "{what}");
    assert_eq!(count, 0, "{what}");
}

#[test]
fn contact_allocates_nothing_once_its_lists_have_grown() {
    let mut spec = common::sheet(12, false);
    spec.self_contact = Some(SelfContact::default());
    let sheet = spec.positions.clone();
    let count = sheet.len() as u32;
    // A second sheet that falls on the first, which lies on the ball.
    spec.positions
        .extend(sheet.iter().map(|p| p + Vec3::new(0.01, 0.02, 0.013)));
    let first = spec.triangles.clone();
    spec.triangles
        .extend(first.iter().map(|t| t.map(|v| v + count)));
    let model = cloth::build(&spec).unwrap();
    let mut solver = Xpbd::new(&model, 10);
    // The same fall again and again: its lists are as long as they ever will be. Putting it back up there is a jump, for
    // which the tree is built anew.
    let counts = [(); 3].map(|()| {
        let mut state = State::new(&model);
        step(&model, &mut solver, &mut state, 0);
        let before = CALLS.with(Cell::get);
        (1..50).for_each(|frame| step(&model, &mut solver, &mut state, frame));
        let after = CALLS.with(Cell::get);
        assert!(state.is_finite());
        after - before
    });
    assert_eq!(counts[2], 0, "{counts:?}");
}

#[test]
fn no_solver_allocates_after_its_first_steps() {
    let springs = cloth::build(&common::sheet(8, true)).unwrap();
    let mut spec = common::sheet(8, true);
    spec.bending = Bending::Dihedral(1e-2);
    let hinged = cloth::build(&spec).unwrap();
    let mesh = lattice([6, 2, 2], Vec3::new(0.6, 0.2, 0.2), Split::Five);
    let bar = solids::bar(
        mesh,
        Material {
            damping: 0.01,
            ..Material::default()
        },
    );
    for (what, model) in [("springs", &springs), ("hinges", &hinged), ("tets", &bar)] {
        check(what, model, &mut Xpbd::new(model, 10));
        check(what, model, &mut Vbd::new(model, VbdOptions::default()));
        for scheme in [TimeScheme::ImplicitEuler, TimeScheme::Bdf2] {
            let options = ImplicitOptions {
                scheme,
                ..ImplicitOptions::default()
            };
            check(what, model, &mut Implicit::new(model, options));
        }
        #[cfg(feature = "solve")]
        {
            let options = anim_sim::ProjectiveOptions::default();
            check(what, model, &mut anim_sim::Projective::new(model, options));
        }
    }
}

#[test]
fn hair_allocates_nothing_after_its_first_step() {
    let guides = (0..20u16)
        .map(|i| {
            let root = Vec3::new(f32::from(i % 5), 0.0, f32::from(i / 5)) * 0.01;
            vec![root, root - Vec3::y() * (0.1 + 0.01 * f32::from(i % 3))]
        })
        .collect();
    let hair = Hair::new(HairSpec {
        guides,
        segments: Some(12),
        volume: Some(HairVolume::default()),
        hold: 0.0,
        ..HairSpec::default()
    })
    .unwrap();
    for own_roots in [false, true] {
        let mut state = HairState::new(&hair);
        let mut solver = HairSolver::new(&hair);
        let at = |frame: u16| {
            let turn = 0.2 * libm::sinf(f32::from(frame) * 0.3);
            Transform::from_rotation(quat::from_axis_angle(Vec3::x(), turn))
        };
        // Rises through the strands that hang over it, so that they touch and fold.
        let body = |frame: u16| [ball(Vec3::y() * (-0.32 + 0.001 * f32::from(frame)))];
        let count = allocations(|frame| {
            let roots = [at(frame), at(frame + 1)].map(|root| [root; 20]);
            let [starts, ends] = roots
                .each_ref()
                .map(|all| if own_roots { &all[..] } else { &[] });
            let (previous, now) = (body(frame), body(frame + 1));
            let drive = HairDrive {
                previous_world_from_root: at(frame),
                world_from_root: at(frame + 1),
                previous_world_from_roots: starts,
                world_from_roots: ends,
                colliders: &now,
                previous_colliders: &previous,
                ..HairDrive::default()
            };
            solver.step(&hair, &drive, 1.0 / 60.0, &mut state);
        });
        assert!(state.is_finite());
        assert_eq!(count, 0, "{own_roots}");
    }
}
