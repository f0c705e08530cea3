//! Once built, a face's rig and solver allocate nothing.
#![allow(unsafe_code, reason = "counting allocations takes an allocator")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use anim_math::Vec3;
use anim_skin::MorphTarget;
use anim_skin::morph::arkit::NAMES;
use anim_skin::morph::rig::{Combination, Control, Driver, Exclusion, Group};
use anim_skin::morph::{RigSpec, ShapeRig, ShapeSolver, SolveOptions, StandIns, arkit};
use common::Numbers;

struct Counting;

thread_local! {
    /// Allocations of this thread: the test harness allocates on its own while a test runs.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn faces_allocate_nothing() {
    let mut numbers = Numbers::new(1);
    let control = |(target, name): (usize, &&str)| Control {
        name: (*name).to_owned(),
        limits: [0.0, 1.0],
        stops: vec![(0.5, target), (1.0, target + 52)],
    };
    let names = |places: &[usize]| places.iter().map(|p| NAMES[*p].to_owned()).collect();
    let rig = ShapeRig::new(&RigSpec {
        controls: NAMES.iter().enumerate().map(control).collect(),
        groups: vec![
            Group {
                controls: names(&[18, 19, 20]),
                rule: Exclusion::Share,
            },
            Group {
                controls: names(&[21, 22]),
                rule: Exclusion::Winner,
            },
        ],
        combinations: vec![Combination {
            controls: names(&[17, 23, 24]),
            target: 104,
            driver: Driver::Product,
        }],
    });
    let rig = rig.unwrap();
    let targets: Vec<MorphTarget> = (0..52)
        .map(|_| MorphTarget {
            vertices: (0..120).collect(),
            positions: (0..120).map(|_| 0.01 * numbers.vector()).collect(),
            ..MorphTarget::default()
        })
        .collect();
    let markers: Vec<u32> = (0..120).collect();
    let options = SolveOptions {
        symmetry: 0.1,
        temporal: 0.1,
        sparsity: 0.01,
        pairs: arkit::pairs(),
        ..SolveOptions::default()
    };
    let mut solver = ShapeSolver::new(&targets, &markers, &options).unwrap();
    let stand_ins = StandIns::new(&NAMES);
    let mut seen: Vec<Vec3> = (0..120).map(|_| 0.02 * numbers.vector()).collect();
    let (mut tracked, mut controls, mut weights) = ([0.0; 52], [0.0; 52], [0.0; 105]);
    let before = COUNT.get();
    for frame in 0..120 {
        // More and more markers go missing.
        seen[frame] = Vec3::repeat(f32::NAN);
        solver.solve(&seen);
        for (tracked, solved) in tracked.iter_mut().zip(solver.weights()) {
            *tracked = *solved as f32;
        }
        stand_ins.apply(&tracked, &mut controls);
        rig.evaluate(&controls, &mut weights);
    }
    assert_eq!(COUNT.get() - before, 0);
}
