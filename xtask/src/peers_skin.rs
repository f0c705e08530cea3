//! What other programs take for the work of anim-skin's benches, and what we aim at.
//!
//! Unless a source says otherwise, theirs were measured on one core of a machine with AVX2 and AVX-512, deformers on
//! 50,000 vertices, 64 bones and four influences, with normals by cofactors.

use crate::peers::{Peer, Work, peer, work_of};

const VERTICES: (f64, &str) = (10_000.0, "vertex");
const LARGE: (f64, &str) = (50_000.0, "vertex");
/// The sheet of 224 x 224 that benches of faces call 50k.
const FACE: (f64, &str) = (224.0 * 224.0, "vertex");
const MESH: (f64, &str) = (1.0, "mesh");
const FRAME: (f64, &str) = (1.0, "frame");
const SEQUENCE: (f64, &str) = (1.0, "sequence");

const LINEAR_SSE2: Peer = peer(22.3, "plain C++, -O3");
const LINEAR_AVX2: Peer = peer(13.7, "plain C++, -O3 -march=x86-64-v3");
const OZZ_LINEAR: Peer = peer(
    2.96,
    "ozz-animation 0.16 SkinningJob, Zen 4, 2 influences on average, sorted by count, -O3 -march=native",
);
const DUAL_SSE2: Peer = peer(26.7, "plain C++, -O3");
const DUAL_AVX2: Peer = peer(29.6, "plain C++, -O3 -march=x86-64-v3");
const CENTER_SSE2: Peer = peer(37.0, "plain C++, -O3, positions only");
const CENTER_NATIVE: Peer = peer(25.4, "plain C++, -O3 -march=native, positions only");
const SPARSE: Peer = peer(4.4, "plain C++, -O3, a tenth of the mesh a shape");
const DENSE: Peer = peer(37.9, "plain C++, -O3 -march=x86-64-v3");
const SUPERLU: Peer = peer(1.824e9, "scipy 1.17 SuperLU, factor and solve alone");
const BBW: Peer = peer(
    7.1e9,
    "libigl 2.6.3 bbw, 8 iterations, processor time, a hand of 7,504 nodes",
);
const DEM_BONES: Peer = peer(
    38.4e9,
    "dem-bones, 10 iterations, 23 frames, 24 bones, to 0.139 %",
);
const DESCENT: Peer = peer(8400.0, "coordinate descent on the Gram matrix, a prototype");

/// Three times less than libigl's processor time.
const BBW_TARGET: f64 = 7.1e9 / 3.0;
const SSDR_TARGET: f64 = 10.0e9;
const HEAT_TARGET: f64 = 0.4e9;
const SOLVE_TARGET: f64 = 20.0e3;

/// Of linear skinning on either size, ns a vertex, by instruction set.
pub(crate) const AT_LEVEL: &[(&str, &str, f64)] = &[
    ("anim-skin/linear/10k", "AVX-512", 1.1),
    ("anim-skin/linear/10k", "AVX2", 1.6),
    ("anim-skin/linear/50k", "AVX-512", 1.1),
    ("anim-skin/linear/50k", "AVX2", 1.6),
];

/// The bench, a metric of it and the most that it may be.
pub(crate) const LIMITS: &[(&str, &str, f64)] = &[
    ("anim-skin/ssdr/6k_48", "rmse-percent", 0.05),
    ("anim-skin/ssdr_2_threads/6k_48", "rmse-percent", 0.05),
    ("anim-skin/ssdr_smooth/6k_48", "rmse-percent", 0.05),
    (
        "anim-skin/ssdr_smooth_2_threads/6k_48",
        "rmse-percent",
        0.05,
    ),
];

pub(crate) const WORK: &[Work] = &[
    work_of(
        "anim-skin/linear/10k",
        VERTICES,
        None,
        &[OZZ_LINEAR, LINEAR_SSE2, LINEAR_AVX2],
    ),
    work_of(
        "anim-skin/linear_avx2/10k",
        VERTICES,
        Some(1.6),
        &[OZZ_LINEAR, LINEAR_AVX2],
    ),
    work_of(
        "anim-skin/linear_baseline/10k",
        VERTICES,
        None,
        &[LINEAR_SSE2],
    ),
    work_of(
        "anim-skin/linear/50k",
        LARGE,
        None,
        &[OZZ_LINEAR, LINEAR_SSE2, LINEAR_AVX2],
    ),
    work_of(
        "anim-skin/linear_random4/10k",
        VERTICES,
        None,
        &[peer(
            4.38,
            "ozz-animation 0.16 SkinningJob, Zen 4, 4 influences, -O3 -march=native",
        )],
    ),
    work_of(
        "anim-skin/dual_quaternion/10k",
        VERTICES,
        Some(3.5),
        &[DUAL_SSE2, DUAL_AVX2],
    ),
    work_of(
        "anim-skin/dual_quaternion/50k",
        LARGE,
        Some(3.5),
        &[DUAL_SSE2, DUAL_AVX2],
    ),
    work_of(
        "anim-skin/dual_quaternion_baseline/10k",
        VERTICES,
        None,
        &[DUAL_SSE2],
    ),
    work_of(
        "anim-skin/rotation_center/10k",
        VERTICES,
        Some(4.0),
        &[CENTER_SSE2, CENTER_NATIVE],
    ),
    work_of(
        "anim-skin/rotation_center/50k",
        LARGE,
        Some(4.0),
        &[CENTER_SSE2, CENTER_NATIVE],
    ),
    work_of(
        "anim-skin/rotation_center_baseline/10k",
        VERTICES,
        None,
        &[CENTER_SSE2],
    ),
    work_of(
        "anim-skin/direct_delta_mush/10k",
        VERTICES,
        None,
        &[peer(
            2400.0,
            "libigl 2.6.3 direct_delta_mush, dense 4 bones, f64",
        )],
    ),
    work_of(
        "anim-skin/shapes52_sparse_positions/10k",
        VERTICES,
        Some(3.0),
        &[SPARSE],
    ),
    work_of(
        "anim-skin/shapes52_sparse_positions/50k",
        FACE,
        Some(3.0),
        &[SPARSE],
    ),
    work_of(
        "anim-skin/shapes52_dense_positions/10k",
        VERTICES,
        None,
        &[DENSE],
    ),
    work_of(
        "anim-skin/shapes52_dense_positions/50k",
        FACE,
        None,
        &[DENSE],
    ),
    work_of("anim-skin/heat/43k", MESH, Some(HEAT_TARGET), &[SUPERLU]),
    work_of(
        "anim-skin/heat_2_threads/43k",
        MESH,
        Some(HEAT_TARGET),
        &[SUPERLU],
    ),
    work_of("anim-skin/biharmonic/7k_20", MESH, Some(BBW_TARGET), &[BBW]),
    work_of(
        "anim-skin/ssdr/6k_48",
        SEQUENCE,
        Some(SSDR_TARGET),
        &[DEM_BONES],
    ),
    work_of(
        "anim-skin/ssdr_2_threads/6k_48",
        SEQUENCE,
        Some(SSDR_TARGET),
        &[DEM_BONES],
    ),
    work_of(
        "anim-skin/ssdr_smooth/6k_48",
        SEQUENCE,
        Some(SSDR_TARGET),
        &[DEM_BONES],
    ),
    work_of(
        "anim-skin/ssdr_smooth_2_threads/6k_48",
        SEQUENCE,
        Some(SSDR_TARGET),
        &[DEM_BONES],
    ),
    work_of(
        "anim-skin/solve/52x120",
        FRAME,
        Some(SOLVE_TARGET),
        &[DESCENT],
    ),
    work_of(
        "anim-skin/solve_tracked/52x120",
        FRAME,
        Some(SOLVE_TARGET),
        &[DESCENT],
    ),
    work_of(
        "anim-skin/solve_6_missing/52x120",
        FRAME,
        Some(SOLVE_TARGET),
        &[DESCENT],
    ),
];
