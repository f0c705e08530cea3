//! What other programs take for the same work, and what we aim at.
//!
//! Measured on one core of a Zen 4 machine. The figures are theirs at their best: where a native build (-march=native)
//! and a default build were both measured, the faster one stands.

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

/// The entry of a bench.
pub(crate) fn work(id: &str) -> Option<&'static Work> {
    WORK.iter().find(|work| work.id == id)
}

const fn peer(nanoseconds: f64, source: &'static str) -> Peer {
    Peer {
        nanoseconds,
        source,
    }
}

const fn work_of(
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
const SOLVE: (f64, &str) = (1.0, "solve");
const VERTICES: (f64, &str) = (10_000.0, "vertex");

const WORK: [Work; 16] = [
    work_of(
        "anim-skeleton/sample/60",
        POSE,
        Some(100.0),
        &[
            peer(
                637.0,
                "ozz-animation 0.16 SamplingJob, -O3 (688 with -march=native)",
            ),
            peer(1078.0, "ACL 2.1-dev decompress_tracks, -O3 -march=native"),
        ],
    ),
    work_of(
        "anim-skeleton/sample_random/60",
        POSE,
        Some(100.0),
        &[
            peer(9778.0, "ozz-animation 0.16 SamplingJob, -O3 -march=native"),
            peer(1078.0, "ACL 2.1-dev decompress_tracks, -O3 -march=native"),
        ],
    ),
    work_of(
        "anim-skeleton/globals/60",
        (60.0, "joint"),
        Some(4.5),
        &[peer(
            5.87,
            "ozz-animation 0.16 LocalToModelJob, -O3 -march=native",
        )],
    ),
    work_of(
        "anim-skeleton/blend/60",
        POSE,
        Some(80.0),
        &[peer(
            155.0,
            "ozz-animation 0.16 BlendingJob, 2 layers, -O3 (156 with -march=native)",
        )],
    ),
    work_of(
        "anim-skin/linear/10k",
        VERTICES,
        Some(1.6),
        &[peer(
            2.96,
            "ozz-animation 0.16 SkinningJob, 2 influences on average, sorted by count, -O3 -march=native",
        )],
    ),
    work_of(
        "anim-skin/linear_random4/10k",
        VERTICES,
        None,
        &[peer(
            4.38,
            "ozz-animation 0.16 SkinningJob, 4 influences, -O3 -march=native",
        )],
    ),
    work_of("anim-skin/dual_quaternion/10k", VERTICES, Some(3.0), &[]),
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
        "anim-sim/xpbd_edges_only/100x100",
        (1.0, "frame"),
        None,
        &[peer(
            7.3e6,
            "PositionBasedDynamics (pyPBD), XPBD, 10 substeps, 4.0 % stretch",
        )],
    ),
    work_of(
        "anim-sim/xpbd_edges_only/200x200",
        (1.0, "frame"),
        None,
        &[peer(
            97.7e6,
            "PositionBasedDynamics (pyPBD), XPBD, 20 substeps, 3.3 % stretch",
        )],
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
