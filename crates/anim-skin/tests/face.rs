//! Faces: solving for weights, principal shapes, recordings.

mod common;

use anim_math::Vec3;
use anim_math::lanes::Level;
use anim_math::nalgebra::DMatrix;
use anim_skin::morph::pca::shape_matrix;
use anim_skin::morph::{ShapePca, ShapeSolver, SolveOptions, arkit, csv};
use anim_skin::{MorphTarget, SkinError};
use common::Numbers;
use proptest::prelude::*;

const SHAPES: usize = 52;
const MARKERS: usize = 120;

/// Shapes that each move about a fifth of the markers by about a centimetre.
fn shapes(seed: u64) -> Vec<MorphTarget> {
    let mut numbers = Numbers::new(seed);
    (0..SHAPES)
        .map(|_| {
            let vertices: Vec<u32> = (0..MARKERS as u32)
                .filter(|_| numbers.unit() < 0.2)
                .collect();
            MorphTarget {
                positions: vertices.iter().map(|_| 0.01 * numbers.vector()).collect(),
                vertices,
                ..MorphTarget::default()
            }
        })
        .collect()
}

fn displaced(targets: &[MorphTarget], weights: &[f64]) -> Vec<Vec3> {
    let mut out = vec![Vec3::zeros(); MARKERS];
    for (target, weight) in targets.iter().zip(weights) {
        for (vertex, delta) in target.vertices.iter().zip(&target.positions) {
            out[*vertex as usize] += *delta * *weight as f32;
        }
    }
    out
}

fn markers() -> Vec<u32> {
    (0..MARKERS as u32).collect()
}

/// Weights from 0 to 1, a third of them 0.
fn weights(seed: u64) -> Vec<f64> {
    let mut numbers = Numbers::new(seed);
    (0..SHAPES)
        .map(|_| f64::from((1.5 * numbers.unit() - 0.5).max(0.0)))
        .collect()
}

#[test]
fn markers_give_the_weights_back() {
    let (targets, expected) = (shapes(1), weights(2));
    let options = SolveOptions {
        ridge: 1e-9,
        ..SolveOptions::default()
    };
    let mut solver = ShapeSolver::new(&targets, &markers(), &options).unwrap();
    let mut seen = displaced(&targets, &expected);
    let outcome = solver.solve(&seen);
    assert!(outcome.converged, "{outcome:?}");
    // Displacements were rounded to f32, some ten times each.
    for (found, expected) in solver.weights().iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
    // Occluded markers have no say, whether few or most are gone.
    for gone in [12, 70] {
        seen[..gone].fill(Vec3::repeat(f32::NAN));
        let outcome = solver.solve(&seen);
        assert_eq!((outcome.missing, outcome.converged), (gone, true));
        let subset: Vec<u32> = (gone as u32..MARKERS as u32).collect();
        let options = SolveOptions {
            ridge: 0.0,
            ..options.clone()
        };
        let mut small = ShapeSolver::new(&targets, &subset, &options).unwrap();
        assert!(small.solve(&seen[gone..]).converged);
        for (a, b) in solver.weights().iter().zip(small.weights()) {
            assert!((a - b).abs() < 1e-4, "{gone}: {a} {b}");
        }
    }
}

#[test]
fn the_solution_satisfies_the_optimality_conditions() {
    let targets = shapes(3);
    let mut numbers = Numbers::new(4);
    let seen: Vec<Vec3> = (0..MARKERS).map(|_| 0.1 * numbers.vector()).collect();
    let options = SolveOptions {
        ridge: 0.01,
        ..SolveOptions::default()
    };
    let mut solver = ShapeSolver::new(&targets, &markers(), &options).unwrap();
    assert!(solver.solve(&seen).converged);
    let matrix = shape_matrix(&targets, MARKERS).unwrap();
    let w = DMatrix::from_column_slice(SHAPES, 1, solver.weights());
    let d = DMatrix::from_iterator(
        3 * MARKERS,
        1,
        seen.iter().flat_map(|d| d.iter().map(|x| f64::from(*x))),
    );
    let scale = matrix.norm_squared() / SHAPES as f64;
    let gradient = (matrix.tr_mul(&(&matrix * &w - d)) + &w * (0.01 * scale)) / scale;
    let (mut low, mut high) = (0, 0);
    for (w, g) in w.iter().zip(gradient.iter()) {
        match *w {
            0.0 => {
                low += 1;
                assert!(*g >= -1e-8)
            }
            1.0 => {
                high += 1;
                assert!(*g <= 1e-8)
            }
            _ => assert!((0.0..=1.0).contains(w) && g.abs() <= 1e-8, "{w} {g}"),
        }
    }
    assert!(low > 5 && high > 0, "{low} {high}");
}

#[test]
fn priors_decide_what_markers_leave_open() {
    // Two shapes do the same to the only marker, so it sees no more than their sum.
    let same = MorphTarget {
        vertices: vec![0],
        positions: vec![Vec3::x()],
        ..MorphTarget::default()
    };
    let targets = [same.clone(), same];
    let solve = |options: SolveOptions| {
        let mut solver = ShapeSolver::new(&targets, &[0], &options).unwrap();
        assert!(solver.solve(&[Vec3::x()]).converged);
        [solver.weights()[0], solver.weights()[1]]
    };
    let none = SolveOptions {
        ridge: 0.0,
        ..SolveOptions::default()
    };
    assert_eq!(solve(none.clone()), [1.0, 0.0]);
    let even = solve(SolveOptions {
        symmetry: 1.0,
        pairs: vec![[0, 1]],
        ..none.clone()
    });
    assert!(even.iter().all(|w| (w - 0.5).abs() < 1e-8), "{even:?}");
    // min (a + b − 1)² + ½(a + b): a + b = 3/4.
    let sparse = solve(SolveOptions {
        sparsity: 0.5,
        ..none.clone()
    });
    assert!((sparse[0] + sparse[1] - 0.75).abs() < 1e-8, "{sparse:?}");
    // min (a − 1)² + a²: halfway to the old weight of 0.
    let slow = solve(SolveOptions {
        temporal: 1.0,
        limits: vec![[0.0, 1.0], [0.0, 0.0]],
        ..none.clone()
    });
    assert!((slow[0] - 0.5).abs() < 1e-9);
    let bad = SolveOptions {
        pairs: vec![[0, 2]],
        ..none
    };
    assert!(matches!(
        ShapeSolver::new(&targets, &[0], &bad),
        Err(SkinError::BadShape { shape: 2, .. })
    ));
}

#[test]
fn a_shape_that_only_missing_markers_see_keeps_its_weight() {
    // Both shapes move marker 0; the second moves marker 1 too, by little.
    let target = |positions: &[Vec3]| MorphTarget {
        vertices: (0..positions.len() as u32).collect(),
        positions: positions.to_vec(),
        ..MorphTarget::default()
    };
    let targets = [
        target(&[0.3 * Vec3::x()]),
        target(&[0.7 * Vec3::y(), 0.01 * Vec3::z()]),
    ];
    let options = SolveOptions {
        ridge: 0.0,
        ..SolveOptions::default()
    };
    let mut solver = ShapeSolver::new(&targets, &[0, 1, 2], &options).unwrap();
    assert_eq!(solver.idle_markers(), [2]);
    assert!(solver.unseen_shapes().is_empty());
    let all = [Vec3::new(0.06, 0.14, 0.0), 0.002 * Vec3::z(), Vec3::zeros()];
    assert!(solver.solve(&all).converged);
    let gone = Vec3::repeat(f32::NAN);
    let outcome = solver.solve(&[gone, 0.009 * Vec3::z(), Vec3::zeros()]);
    assert!(outcome.converged && outcome.missing == 1, "{outcome:?}");
    let [kept, seen] = [solver.weights()[0], solver.weights()[1]];
    assert!((kept - 0.2).abs() < 1e-6, "{kept}");
    assert!((seen - 0.9).abs() < 1e-5, "{seen}");
}

#[test]
fn every_instruction_set_solves_to_the_same_bits() {
    let (targets, expected) = (shapes(8), weights(9));
    let seen = displaced(&targets, &expected);
    let options = SolveOptions {
        sparsity: 0.01,
        ..SolveOptions::default()
    };
    let solver = ShapeSolver::new(&targets, &markers(), &options).unwrap();
    let [mut best, mut baseline] = [solver.clone(), solver.with_level(Level::baseline())];
    assert_eq!(best.solve(&seen), baseline.solve(&seen));
    assert_eq!(best.weights(), baseline.weights());
}

#[test]
fn options_are_refused_by_name() {
    let (targets, none) = (shapes(10), SolveOptions::default());
    let refused = |options: SolveOptions| {
        ShapeSolver::new(&targets, &markers(), &options)
            .err()
            .unwrap()
    };
    let ridge = refused(SolveOptions {
        ridge: -1.0,
        ..none.clone()
    });
    assert!(matches!(ridge, SkinError::WrongOption { .. }));
    let limits = refused(SolveOptions {
        limits: vec![[0.0, 1.0]],
        ..none.clone()
    });
    assert!(matches!(limits, SkinError::WrongOption { .. }));
    let mut marker_weights = vec![1.0; MARKERS];
    marker_weights[7] = f64::NAN;
    let marker = refused(SolveOptions {
        marker_weights,
        ..none
    });
    assert!(matches!(marker, SkinError::BadMarker { marker: 7, .. }));
}

#[test]
fn a_recording_is_compressed_within_its_tolerance() {
    let mut text = "Timecode,jawOpen,mouthSmileLeft".to_owned();
    for frame in 0..300 {
        let open = 0.5 + 0.4 * (frame as f32 * 0.1).sin();
        text += &format!("\n{frame},{open},0.25");
    }
    let frames = csv::read(&text).unwrap();
    let curves = frames.compress(60.0, 0.005).unwrap();
    assert!(curves.error <= 0.005 && curves.error > 0.0);
    assert!(
        curves.track.bytes().len() < 300,
        "{}",
        curves.track.bytes().len()
    );
    let mut weights = [0.0; 52];
    curves.track.expand().unwrap().sample(2.0, &mut weights);
    for (a, b) in weights.iter().zip(frames.weights(120)) {
        assert!((a - b).abs() <= 0.005);
    }
    let none = csv::read("jawOpen\n").unwrap();
    assert!(matches!(
        none.compress(60.0, 0.005),
        Err(SkinError::Curve(_))
    ));
    assert!(matches!(
        frames.compress(-1.0, 0.005),
        Err(SkinError::Curve(_))
    ));
}

#[test]
fn as_many_components_as_the_rank_are_exact() {
    let mut numbers = Numbers::new(5);
    let mut random =
        |rows, columns| DMatrix::from_fn(rows, columns, |_, _| f64::from(numbers.signed()));
    let shapes = random(300, 4) * random(4, 20);
    let pca = ShapePca::new(&shapes).unwrap();
    assert_eq!(pca.energies().len(), 4);
    assert!((pca.energies()[3] - 1.0).abs() < 1e-10);
    assert!(pca.energies().windows(2).all(|pair| pair[0] < pair[1]));
    assert!((pca.reconstruct(4) - &shapes).amax() < 1e-10);
    let unit = pca.components().tr_mul(pca.components());
    assert!((unit - DMatrix::identity(4, 4)).amax() < 1e-12);
    // What a truncation loses is the energy it does not hold.
    let lost = (pca.reconstruct(2) - &shapes).norm_squared() / shapes.norm_squared();
    assert!((lost - (1.0 - pca.energies()[1])).abs() < 1e-12);
    assert!(pca.energies()[pca.components_for(0.95) - 1] >= 0.95);
    assert_eq!(
        ShapePca::new(&DMatrix::zeros(9, 3))
            .unwrap()
            .components_for(0.95),
        0
    );
}

#[test]
fn a_wrong_recording_says_where() {
    let cases = [
        ("", 1, 1),
        ("a,b\n", 1, 1),
        ("jawOpen\n0.5\n\nx\n", 4, 1),
        ("Timecode,jawOpen\n0,0.5\n1\n", 3, 2),
        ("jawOpen\n1,2\n", 2, 2),
        ("jawOpen,jaw_open\n", 1, 2),
        ("jawOpen\nNaN\n", 2, 1),
    ];
    for (text, line, column) in cases {
        match csv::read(text) {
            Err(SkinError::Csv {
                line: l, column: c, ..
            }) => assert_eq!((l, c), (line, column), "{text}"),
            other => assert!(other.is_err(), "{text}: {other:?}"),
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(jawOpen|Timecode|,|\n|0\\.5|é|[ -~]){0,40}") {
        let _ = csv::read(&text);
        let _ = arkit::match_names(&[text]);
    }

    #[test]
    fn recordings_come_back(frames in prop::collection::vec(prop::collection::vec(-1.0..2.0_f32, 52), 0..4)) {
        let mut text = arkit::NAMES.join(",");
        for frame in &frames {
            text += "\n";
            text += &frame.iter().map(f32::to_string).collect::<Vec<_>>().join(",");
        }
        let read = csv::read(&text).unwrap();
        prop_assert_eq!(read.len(), frames.len());
        for (index, frame) in frames.iter().enumerate() {
            prop_assert_eq!(&read.weights(index)[..], &frame[..]);
        }
    }
}
