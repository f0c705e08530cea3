//! What other programs take for the same work, and what we aim at.
//!
//! Theirs were measured on one core of a Zen 4 machine, where it was done in the default build (-O3, which is SSE2) and
//! in a native one (-march=native). Ours run the best instruction set the machine has, so both stand beside them; a bench
//! that forces `_avx2` or `_baseline` (SSE2) stands beside the build that is its like.

use crate::peers_skin;
pub(crate) use crate::peers_skin::{AT_LEVEL, LIMITS};

/// The work of one bench and what it is compared with.
pub(crate) struct Work {
    /// The bench.
    pub(crate) id: &'static str,
    /// Units of work in one iteration.
    pub(crate) count: f64,
    /// What a unit is.
    pub(crate) unit: &'static str,
    /// Nanoseconds a unit that we aim at, if any.
    pub(crate) target: Option<f64>,
    /// Others.
    pub(crate) peers: &'static [Peer],
}

/// Another program's figure.
pub(crate) struct Peer {
    /// Nanoseconds a unit.
    pub(crate) nanoseconds: f64,
    /// Who, and how it was built or set.
    pub(crate) source: &'static str,
}

/// Two benches of ours and what the second is beside the first.
pub(crate) const COMPARED: &[(&str, &str, &str)] = &[
    (
        "anim-sim/self_contact/100x100",
        "anim-sim/xpbd_cloth/100x100",
        "without self-contact",
    ),
    (
        "anim-sim/xpbd_cloth_2_threads/100x100",
        "anim-sim/xpbd_cloth/100x100",
        "on one thread",
    ),
    (
        "anim-sim/xpbd_cloth_2_threads/200x200",
        "anim-sim/xpbd_cloth/200x200",
        "on one thread",
    ),
    (
        "anim-sim/xpbd_edges_only_2_threads/100x100",
        "anim-sim/xpbd_edges_only/100x100",
        "on one thread",
    ),
    (
        "anim-sim/xpbd_edges_only_2_threads/200x200",
        "anim-sim/xpbd_edges_only/200x200",
        "on one thread",
    ),
    (
        "anim-sim/xpbd_isometric/100x100",
        "anim-sim/xpbd_edges_only/100x100",
        "without bending",
    ),
    (
        "anim-sim/xpbd_dihedral/100x100",
        "anim-sim/xpbd_edges_only/100x100",
        "without bending",
    ),
    (
        "anim-sim/xpbd_membranes/100x100",
        "anim-sim/xpbd_edges_only/100x100",
        "of edges",
    ),
];

/// The entry of a bench.
pub(crate) fn work(id: &str) -> Option<&'static Work> {
    let mut all = WORK.iter().chain(peers_skin::WORK);
    all.find(|work| work.id == id)
}

pub(crate) const fn peer(nanoseconds: f64, source: &'static str) -> Peer {
    Peer {
        nanoseconds,
        source,
    }
}

pub(crate) const fn work_of(
    id: &'static str,
    (count, unit): (f64, &'static str),
    target: Option<f64>,
    peers: &'static [Peer],
) -> Work {
    Work {
        id,
        count,
        unit,
        target,
        peers,
    }
}

const POSE: (f64, &str) = (1.0, "pose");
const JOINTS: (f64, &str) = (60.0, "joint");
/// Eight characters.
const EIGHT: (f64, &str) = (480.0, "joint");
const CHARACTERS: (f64, &str) = (10_000.0, "character");
const SOLVE: (f64, &str) = (1.0, "solve");

const OZZ_SAMPLE: Peer = peer(
    637.0,
    "ozz-animation 0.16 SamplingJob, -O3, 159345 B at 1 mm",
);
const OZZ_SAMPLE_NATIVE: Peer = peer(
    688.0,
    "ozz-animation 0.16 SamplingJob, -O3 -march=native, 159345 B at 1 mm",
);
const OZZ_SEEK: Peer = peer(
    9838.0,
    "ozz-animation 0.16 SamplingJob, -O3, 159345 B at 1 mm",
);
const OZZ_SEEK_NATIVE: Peer = peer(
    9778.0,
    "ozz-animation 0.16 SamplingJob, -O3 -march=native, 159345 B at 1 mm",
);
const OZZ_SEEK_SNAPSHOTS: Peer = peer(
    2528.0,
    "ozz-animation 0.16 SamplingJob, -O3 -march=native, with a snapshot each second",
);
const ACL: Peer = peer(
    1078.0,
    "ACL 2.1-dev decompress_tracks, -O3 -march=native, 58663 B at 1 mm",
);
const OZZ_GLOBALS: Peer = peer(6.7, "ozz-animation 0.16 LocalToModelJob, -O3");
const OZZ_GLOBALS_NATIVE: Peer = peer(
    5.87,
    "ozz-animation 0.16 LocalToModelJob, -O3 -march=native",
);
const OZZ_BLEND: Peer = peer(155.0, "ozz-animation 0.16 BlendingJob, 2 layers, -O3");
const OZZ_BLEND_NATIVE: Peer = peer(
    156.0,
    "ozz-animation 0.16 BlendingJob, 2 layers, -O3 -march=native",
);
const OZZ_THREE: Peer = peer(218.0, "ozz-animation 0.16 BlendingJob, 3 layers, -O3");
const OZZ_THREE_NATIVE: Peer = peer(
    227.0,
    "ozz-animation 0.16 BlendingJob, 3 layers, -O3 -march=native",
);
const OZZ_ADDITIVE: Peer = peer(
    244.0,
    "ozz-animation 0.16 BlendingJob, 1 + 1 additive layer, -O3",
);
const OZZ_ADDITIVE_NATIVE: Peer = peer(
    197.0,
    "ozz-animation 0.16 BlendingJob, 1 + 1 additive layer, -O3 -march=native",
);
const OZZ_FRAME: Peer = peer(
    2231.0,
    "ozz-animation 0.16 SamplingJob of 1000 characters twice + BlendingJob + LocalToModelJob, -O3",
);
const OZZ_FRAME_NATIVE: Peer = peer(
    2380.0,
    "ozz-animation 0.16 SamplingJob of 1000 characters twice + BlendingJob + LocalToModelJob, -O3 -march=native",
);

/// SSE2 alone need only stay ahead of the others' SSE2.
const WORK: &[Work] = &[
    work_of(
        "anim-skeleton/sample/60",
        POSE,
        Some(100.0),
        &[OZZ_SAMPLE, OZZ_SAMPLE_NATIVE, ACL],
    ),
    work_of(
        "anim-skeleton/sample_avx2/60",
        POSE,
        Some(100.0),
        &[OZZ_SAMPLE_NATIVE, ACL],
    ),
    work_of(
        "anim-skeleton/sample_baseline/60",
        POSE,
        Some(637.0),
        &[OZZ_SAMPLE],
    ),
    work_of(
        "anim-skeleton/sample_random/60",
        POSE,
        Some(100.0),
        &[OZZ_SEEK, OZZ_SEEK_NATIVE, OZZ_SEEK_SNAPSHOTS, ACL],
    ),
    work_of(
        "anim-skeleton/sample_random_avx2/60",
        POSE,
        Some(100.0),
        &[OZZ_SEEK_NATIVE, OZZ_SEEK_SNAPSHOTS, ACL],
    ),
    work_of(
        "anim-skeleton/sample_random_baseline/60",
        POSE,
        Some(2528.0),
        &[OZZ_SEEK],
    ),
    work_of(
        "anim-skeleton/blend/60",
        POSE,
        Some(80.0),
        &[OZZ_BLEND, OZZ_BLEND_NATIVE],
    ),
    work_of(
        "anim-skeleton/blend_avx2/60",
        POSE,
        Some(80.0),
        &[OZZ_BLEND_NATIVE],
    ),
    work_of(
        "anim-skeleton/blend_baseline/60",
        POSE,
        Some(155.0),
        &[OZZ_BLEND],
    ),
    work_of(
        "anim-skeleton/blend_three/60",
        POSE,
        None,
        &[OZZ_THREE, OZZ_THREE_NATIVE],
    ),
    work_of(
        "anim-skeleton/blend_three_avx2/60",
        POSE,
        None,
        &[OZZ_THREE_NATIVE],
    ),
    work_of(
        "anim-skeleton/blend_three_baseline/60",
        POSE,
        Some(218.0),
        &[OZZ_THREE],
    ),
    work_of(
        "anim-skeleton/blend_additive/60",
        POSE,
        None,
        &[OZZ_ADDITIVE, OZZ_ADDITIVE_NATIVE],
    ),
    work_of(
        "anim-skeleton/blend_additive_avx2/60",
        POSE,
        None,
        &[OZZ_ADDITIVE_NATIVE],
    ),
    work_of(
        "anim-skeleton/blend_additive_baseline/60",
        POSE,
        Some(244.0),
        &[OZZ_ADDITIVE],
    ),
    work_of(
        "anim-skeleton/globals/60",
        JOINTS,
        Some(4.5),
        &[OZZ_GLOBALS, OZZ_GLOBALS_NATIVE],
    ),
    work_of(
        "anim-skeleton/globals_avx2/60",
        JOINTS,
        Some(4.5),
        &[OZZ_GLOBALS_NATIVE],
    ),
    work_of(
        "anim-skeleton/globals_baseline/60",
        JOINTS,
        Some(6.7),
        &[OZZ_GLOBALS],
    ),
    work_of(
        "anim-skeleton/globals_of_eight/60",
        EIGHT,
        Some(4.5),
        &[OZZ_GLOBALS, OZZ_GLOBALS_NATIVE],
    ),
    work_of(
        "anim-skeleton/globals_of_eight_avx2/60",
        EIGHT,
        Some(4.5),
        &[OZZ_GLOBALS_NATIVE],
    ),
    work_of(
        "anim-skeleton/globals_of_eight_baseline/60",
        EIGHT,
        Some(6.7),
        &[OZZ_GLOBALS],
    ),
    work_of(
        "anim-skeleton/globals_crowd/60",
        EIGHT,
        Some(3.0),
        &[OZZ_GLOBALS, OZZ_GLOBALS_NATIVE],
    ),
    work_of(
        "anim-skeleton/globals_crowd_avx2/60",
        EIGHT,
        Some(3.0),
        &[OZZ_GLOBALS_NATIVE],
    ),
    work_of(
        "anim-skeleton/globals_crowd_baseline/60",
        EIGHT,
        Some(6.7),
        &[OZZ_GLOBALS],
    ),
    work_of(
        "anim-skeleton/globals_crowd_in_lanes/60",
        EIGHT,
        Some(3.0),
        &[OZZ_GLOBALS, OZZ_GLOBALS_NATIVE],
    ),
    work_of(
        "anim-skeleton/globals_crowd_in_lanes_avx2/60",
        EIGHT,
        Some(3.0),
        &[OZZ_GLOBALS_NATIVE],
    ),
    work_of(
        "anim-skeleton/globals_crowd_in_lanes_baseline/60",
        EIGHT,
        Some(6.7),
        &[OZZ_GLOBALS],
    ),
    work_of(
        "anim-skeleton/globals_crowd_from_poses/60",
        EIGHT,
        Some(4.5),
        &[OZZ_GLOBALS, OZZ_GLOBALS_NATIVE],
    ),
    work_of(
        "anim-skeleton/globals_crowd_from_poses_avx2/60",
        EIGHT,
        Some(4.5),
        &[OZZ_GLOBALS_NATIVE],
    ),
    work_of(
        "anim-skeleton/globals_crowd_from_poses_baseline/60",
        EIGHT,
        Some(6.7),
        &[OZZ_GLOBALS],
    ),
    work_of(
        "anim-skeleton/frame_10000/60",
        CHARACTERS,
        None,
        &[OZZ_FRAME, OZZ_FRAME_NATIVE],
    ),
    work_of(
        "anim-skeleton/frame_10000_2_threads/60",
        CHARACTERS,
        None,
        &[],
    ),
    work_of("anim-skeleton/expand/1MB", (1.0, "clip"), Some(3e6), &[]),
    work_of("anim-engine/motion_10000/Fox", CHARACTERS, None, &[]),
    work_of(
        "anim-engine/motion_10000_2_threads/Fox",
        CHARACTERS,
        None,
        &[],
    ),
    work_of(
        "anim-engine/motion_10000/kaykit_knight",
        CHARACTERS,
        None,
        &[],
    ),
    work_of(
        "anim-engine/motion_10000_2_threads/kaykit_knight",
        CHARACTERS,
        None,
        &[],
    ),
    work_of(
        "anim-ik/two_bone/1",
        SOLVE,
        Some(90.0),
        &[peer(
            142.0,
            "ozz-animation 0.16 IKTwoBoneJob, -O3 -march=native",
        )],
    ),
    work_of(
        "anim-ik/look_at/1",
        SOLVE,
        Some(50.0),
        &[peer(70.0, "ozz-animation 0.16 IKAimJob, -O3 -march=native")],
    ),
    work_of(
        "anim-ik/arm7/1",
        SOLVE,
        Some(60_000.0),
        &[
            peer(
                8.1e6,
                "pinocchio 4.1 from Python, damped least squares with 20 restarts: 99.9 % reached",
            ),
            peer(310_000.0, "TRAC-IK as published: 99.84 % reached"),
        ],
    ),
    work_of(
        "anim-ik/full_body_66/5",
        (1.0, "frame"),
        Some(150_000.0),
        &[],
    ),
    work_of(
        "anim-sim/xpbd_edges_only/100x100",
        (1.0, "frame"),
        Some(4.5e6),
        &[peer(
            7.3e6,
            "PositionBasedDynamics (pyPBD), XPBD, 10 substeps, 4.0 % stretch",
        )],
    ),
    work_of(
        "anim-sim/xpbd_edges_only/200x200",
        (1.0, "frame"),
        Some(27.0e6),
        &[peer(
            97.7e6,
            "PositionBasedDynamics (pyPBD), XPBD, 20 substeps, 3.3 % stretch",
        )],
    ),
    work_of(
        "anim-sim/xpbd_per_vertex/10k",
        (200_000.0, "vertex and substep"),
        None,
        &[],
    ),
    work_of(
        "anim-sim/xpbd_per_vertex/100k",
        (20.0 * 316.0 * 316.0, "vertex and substep"),
        None,
        &[],
    ),
    work_of(
        "anim-sim/xpbd_per_vertex/1M",
        (2.0e7, "vertex and substep"),
        None,
        &[],
    ),
    work_of(
        "anim-sim/implicit/12800_tets",
        (1.0, "frame"),
        None,
        &[peer(
            44.0e6,
            "XPBD prototype, 50 substeps, tip 0.8 mm from the converged one",
        )],
    ),
    work_of(
        "anim-sim/vbd_tets/12800",
        (1.0, "frame"),
        None,
        &[peer(13.0e6, "VBD prototype, 10 x 1, tip 108 mm off")],
    ),
    work_of(
        "anim-sim/vbd_edges_only/100x100",
        (1.0, "frame"),
        None,
        &[peer(34.0e6, "Newton 1.8.0 VBD, 10 x 1, 14.9 % stretch")],
    ),
    work_of(
        "anim-sim/projective/100x100",
        (1.0, "frame"),
        Some(60.0e6),
        &[
            peer(402.0e6, "Newton 1.8.0 Style3D, 2 x 10, 0.12 % stretch"),
            peer(418.0e6, "Blender 5.0.1, quality 5, 0.05 % stretch"),
        ],
    ),
    work_of(
        "anim-geom/bvh_refit/20k",
        (1.0, "mesh"),
        Some(150_000.0),
        &[peer(320_000.0, "parry3d 0.31.1, leaves and refit")],
    ),
    work_of(
        "anim-geom/self_pairs/20k",
        (1.0, "mesh"),
        Some(1.5e6),
        &[
            peer(1.2e6, "parry3d 0.31.1, pairs of two trees"),
            peer(7.2e6, "bvh 0.13.0, an iterator for each triangle"),
        ],
    ),
    work_of(
        "anim-geom/neighbors_grid/50k",
        (50_000.0, "point"),
        Some(660.0),
        &[
            peer(
                1190.0,
                "kiddo 6.3 immutable tree, within.unsorted, 100k points",
            ),
            peer(2900.0, "rstar 0.14 locate_within_distance, 100k points"),
        ],
    ),
    work_of(
        "anim-geom/mesh_build/100k",
        (1.0, "mesh"),
        None,
        &[peer(
            59.0e6,
            "bvh 0.13 Bvh::build alone, without welding and normals",
        )],
    ),
    work_of(
        "anim-geom/mesh_nearest/100k",
        (1000.0, "query"),
        None,
        &[peer(
            633.0,
            "bvh 0.13 nearest_to, same mesh, queries and triangle test",
        )],
    ),
    work_of(
        "anim-geom/mesh_nearest_far/100k",
        (1000.0, "query"),
        None,
        &[peer(
            18_600.0,
            "bvh 0.13 nearest_to, same mesh, queries and triangle test",
        )],
    ),
    work_of(
        "anim-geom/mesh_ray/100k",
        (1000.0, "ray"),
        None,
        &[peer(
            1190.0,
            "bvh 0.13 nearest_traverse_iterator, same mesh and rays",
        )],
    ),
];
