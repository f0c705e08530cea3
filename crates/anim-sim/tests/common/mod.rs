//! Bodies that several tests use.
#![allow(dead_code, reason = "each test binary uses some of these")]

use anim_math::Vec3;
use anim_sim::cloth::ClothSpec;
use anim_sim::{Drive, Model, Solver, State, Xpbd};

/// Nothing acts.
pub(crate) const STILL: Drive<'static> = Drive {
    gravity: Vec3::new(0.0, 0.0, 0.0),
    wind: Vec3::new(0.0, 0.0, 0.0),
    pins: &[],
    loads: &[],
    activations: &[],
    colliders: &[],
    previous_colliders: &[],
};

/// A horizontal square metre of n × n vertices from the origin towards +x and +z, its edge at z = 0 pinned if asked.
pub(crate) fn sheet(n: u32, is_pinned: bool) -> ClothSpec {
    let at = |i: u32| i as f32 / (n - 1) as f32;
    ClothSpec {
        positions: (0..n * n)
            .map(|v| Vec3::new(at(v % n), 0.0, at(v / n)))
            .collect(),
        triangles: (0..n * n)
            .filter(|v| v % n != n - 1 && v / n != n - 1)
            .flat_map(|v| [[v, v + n, v + 1], [v + 1, v + n, v + n + 1]])
            .collect(),
        pinned: if is_pinned {
            (0..n).collect()
        } else {
            Vec::new()
        },
        ..ClothSpec::default()
    }
}

/// The same pinned, of nothing but its edges, 1000 N/m: the least that a sheet is, and what other engines are measured on.
pub(crate) fn edges_only(n: u32) -> ClothSpec {
    ClothSpec {
        stretch_compliance: 1e-3,
        bend_compliance: f32::INFINITY,
        max_stretch: f32::INFINITY,
        drag: 0.0,
        damping: 0.0,
        ..sheet(n, true)
    }
}

/// Sixtieths of a second, `frames` of them.
pub(crate) fn run(model: &Model, substeps: u32, drive: &Drive<'_>, frames: u32, state: &mut State) {
    let mut solver = Xpbd::new(model, substeps);
    for _ in 0..frames {
        solver.step(model, drive, 1.0 / 60.0, state);
    }
}

/// FNV-1a over the bits of a state.
pub(crate) fn hash(state: &State) -> u64 {
    state
        .positions
        .iter()
        .chain(&state.velocities)
        .flat_map(|v| v.iter())
        .flat_map(|c| c.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}
