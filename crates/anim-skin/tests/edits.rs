//! Whatever the rows and whatever the edit, what comes out is on the simplex.
#![allow(clippy::unwrap_used, reason = "a helper may fail as its test may")]

use anim_geom::primitives;
use anim_math::Vec3;
use anim_skin::SkinWeights;
use anim_skin::weights::gradient::{Between, Ramp, gradient};
use anim_skin::weights::hammer::{average, hammer};
use anim_skin::weights::smooth::{sharpen, smooth};
use anim_skin::weights::{Locks, SurfaceGraph};
use proptest::prelude::*;

const JOINTS: u16 = 5;

/// Rows for the 16 vertices of a 3 × 3 sheet, many of them sparse.
fn rows() -> impl Strategy<Value = SkinWeights> {
    let weight = prop_oneof![Just(0.0), Just(1e-300), 0.0..1.0];
    prop::collection::vec(weight, 16 * usize::from(JOINTS)).prop_map(|raw| {
        let rows = raw.chunks(usize::from(JOINTS)).map(|row| {
            let is_empty = row.iter().all(|weight| *weight == 0.0);
            let fallback = is_empty.then_some((0, 1.0));
            (0_u16..).zip(row.iter().copied()).chain(fallback)
        });
        SkinWeights::from_rows(usize::from(JOINTS), rows).unwrap()
    })
}

proptest! {
    #[test]
    fn edits_of_any_rows_are_on_the_simplex_and_locks_hold(
        weights in rows(),
        locked in prop::collection::vec(0..JOINTS, 0..5),
        selection in prop::collection::vec(0_u32..16, 0..16),
        strength in 0.0..1.0,
        joints in [0..JOINTS, 0..JOINTS],
    ) {
        let sheet = primitives::grid(3, 3, 0.1);
        let graph = SurfaceGraph::new(&sheet).unwrap();
        let locks = Locks::of(&locked);
        let ramp = Ramp::Linear { from: Vec3::zeros(), to: Vec3::new(0.1, 0.0, 0.05) };
        let [from, to] = joints;
        let set = |between| gradient(&weights, &sheet.rest.positions, ramp, between, &locks).unwrap();
        let locked_edits = [
            smooth(&weights, &graph, strength, 2, &locks).unwrap(),
            sharpen(&weights, &graph, strength, 2, &locks).unwrap(),
            set(Between::Joints { from, to }),
            set(Between::Rest { joint: from }),
        ];
        for out in &locked_edits {
            for vertex in 0..16 {
                for joint in &locked {
                    let change = out.weight(vertex, *joint) - weights.weight(vertex, *joint);
                    prop_assert!(change.abs() < 1e-13);
                }
            }
        }
        let free_edits = [
            hammer(&weights, &graph, &selection).unwrap(),
            average(&weights, &selection).unwrap(),
        ];
        for out in locked_edits.iter().chain(&free_edits) {
            prop_assert!(out.max_sum_error() <= 8.0 * f64::EPSILON);
            prop_assert!((0..16).all(|vertex| out.row(vertex).all(|(_, weight)| weight > 0.0)));
        }
        for vertex in (0..16).filter(|vertex| !selection.contains(&(*vertex as u32))) {
            prop_assert!(free_edits.iter().all(|out| out.row(vertex).eq(weights.row(vertex))));
        }
    }
}
