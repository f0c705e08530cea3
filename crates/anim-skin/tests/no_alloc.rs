//! Once built, deformers and a face's rig and solver allocate nothing.
#![allow(unsafe_code, reason = "counting allocations takes an allocator")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use anim_math::{Quat, Vec3, quat};
use anim_skin::morph::arkit::NAMES;
use anim_skin::morph::rig::{Combination, Control, Driver, Exclusion, Group};
use anim_skin::morph::{RigSpec, ShapeRig, ShapeSolver, SolveOptions, StandIns, arkit};
use anim_skin::tangents::TangentTarget;
use anim_skin::{
    Bulge, DeltaMush, DeltaMushOptions, DeltaMushScratch, DualPalette, JointBounds, Kernel,
    LogMotions, MorphTarget, MotionBounds, PoseSpace, RegionMask, RotationCenterOptions,
    RotationCenters, TangentBlocks, TangentMorphs, VertexBlocks,
};
use common::{Numbers, bind, random_mesh, rigid_palette};

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
fn deformers_allocate_nothing() {
    let (mesh, influences) = random_mesh(500, 6, 3, 5);
    let target = MorphTarget {
        vertices: (0..100).collect(),
        positions: vec![Vec3::y(); 100],
        ..MorphTarget::default()
    };
    let turned = TangentTarget {
        vertices: (0..100).collect(),
        tangents: vec![Vec3::y(); 100],
    };
    let skin = bind(&mesh, 6, &influences, &[target]);
    let rest_tangents = TangentBlocks::new(&skin, &[[1.0, 0.0, 0.0, 1.0]; 500]).unwrap();
    let tangent_morphs = TangentMorphs::new(&skin, &[turned]).unwrap();
    let centers = RotationCenters::new(&skin, &RotationCenterOptions::default());
    let mush = DeltaMush::new(&skin, &DeltaMushOptions::default());
    let mask = RegionMask::new(&skin, &[0.5; 500]).unwrap();
    let bulge = Bulge::new(&skin, &[0.5; 500], 0.1).unwrap();
    let pose = |angle| [Quat::identity(), quat::from_axis_angle(Vec3::x(), angle)];
    let poses = [pose(1.0).to_vec(), pose(2.0).to_vec()];
    let space = PoseSpace::new(&pose(0.0), &poses, &[1.0; 2], Kernel::Gaussian).unwrap();
    let mut shape_weights = [0.0; 2];
    let boxes = JointBounds::new(&skin, 0.0..=1.0);
    let motion_boxes = MotionBounds::new(&skin, 0.0..=1.0);
    let (mut tangents, mut moved_tangents) = (rest_tangents.clone(), rest_tangents.clone());
    let (mut morphed, mut out) = (VertexBlocks::new(500), VertexBlocks::new(500));
    let mut smoothed = VertexBlocks::new(500);
    let mut scratch = DeltaMushScratch::default();
    let mut motions = DualPalette::new(6);
    let mut logs = LogMotions::new(6);
    let palettes = [rigid_palette(6, 1), rigid_palette(6, 2)];
    let mut before = 0;
    for frame in 0..8 {
        // The first frame sizes the scratch.
        if frame == 1 {
            before = COUNT.get();
        }
        let palette = &palettes[frame % 2];
        space.weights(&pose(0.3 * frame as f32), &mut shape_weights);
        skin.morph(&shape_weights[..1], &mut morphed);
        bulge.apply(0.5 + 0.05 * frame as f32, &mut morphed);
        tangent_morphs.morph(&[0.1 * frame as f32], &rest_tangents, &mut tangents);
        skin.dual_palette(palette, &mut motions);
        logs.set(&motions);
        skin.log_blend(&morphed, &motions, &logs, &mut out);
        skin.spherical_blend(&morphed, &motions, &mut out);
        skin.trs_blend(&morphed, &motions, &mut out);
        skin.dual_quaternion(&morphed, &motions, &mut out);
        skin.dual_quaternion_blended(&morphed, palette, &motions, &mask, &mut out);
        centers.deform(&skin, &morphed, palette, &motions, &mut out);
        skin.linear(&morphed, palette, &mut smoothed);
        mask.mix(&skin, &smoothed, &mut out);
        let all = boxes.bounds(palette).union(&motion_boxes.bounds(&motions));
        std::hint::black_box(all.union(&out.bounds()));
        skin.tangents(&tangents, palette, &out, &mut moved_tangents);
        mush.deform(&skin, &out, &motions, &mut scratch, &mut smoothed);
    }
    assert_eq!(COUNT.get() - before, 0);
}

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
