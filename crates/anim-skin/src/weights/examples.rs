//! Weights from example poses: what a mesh did under known joints decides which joints move it.
//!
//! For characters whose shapes are known in several poses (scans, simulations, another rig's bake) and whose joints are
//! known too. Each vertex is its own small least-squares problem on the simplex, solved exactly ([`SimplexFit`]); poses
//! should be rich enough to tell joints apart, and `smoothing` ties down what they do not.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_math::{Affine, Transform, Vec3};
//! use anim_skin::weights::{Candidates, ExampleOptions, from_examples};
//!
//! let mesh = primitives::grid(4, 1, 1.0);
//! let up = Affine::from(Transform::from_translation(Vec3::y()));
//! // The second joint rises, and vertices follow it by their place.
//! let follow = |v: &Vec3| v + Vec3::y() * (v.x + 2.0) / 4.0;
//! let target: Vec<Vec3> = mesh.rest.positions.iter().map(follow).collect();
//! let poses = [vec![Affine::IDENTITY, up]];
//! let (weights, report) = from_examples(&mesh, &poses, &[target], Candidates::All, &ExampleOptions::default())?;
//! assert!((weights.weight(1, 1) - 0.25).abs() < 1e-6);
//! assert!(report.rmse < 1e-6);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_geom::{Mesh, chunks, topology};
use anim_math::nalgebra::{Matrix4, Vector4};
use anim_math::{Affine, Vec3};
use serde::Serialize;

use super::motion::{Map, Monomials, Motion};
use super::rows::check_joint_count;
use super::{Quadratic, SimplexFit, SkinWeights};
use crate::SkinError;

/// Which joints a vertex may follow.
#[derive(Clone, Copy, Debug)]
pub enum Candidates<'a> {
    /// Any of the poses' joints.
    All,
    /// Those that it follows in weights that stand already.
    SupportOf(&'a SkinWeights),
}

/// How weights are fitted to examples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExampleOptions {
    /// Most joints a vertex may follow, at least 1.
    pub max_influences: usize,
    /// What a difference of 1 from the mean of its neighbours' weights costs a vertex, in squared diagonals of the rest's
    /// box a pose; 0 fits each vertex alone, 10⁻⁶ settles what poses leave open.
    pub smoothing: f64,
}

impl Default for ExampleOptions {
    fn default() -> Self {
        Self {
            max_influences: 4,
            smoothing: 0.0,
        }
    }
}

/// How far fitted vertices are from where they should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FitReport {
    /// Root of the mean squared distance over vertices and frames, metres.
    pub rmse: f64,
    /// The same in percent of the diagonal of the rest's box.
    pub rmse_percent_of_diagonal: f64,
    /// The vertex whose root mean squared distance over frames is largest.
    pub worst_vertex: u32,
    /// That distance, metres.
    pub worst_rmse: f64,
}

/// The weights under which `poses` move `mesh` nearest to `targets`.
///
/// * `poses`: P × J, `model_from_bind` of each joint; need not be rigid. * `targets`: P × V, source order.
///
/// Minimises Σ ‖Σⱼ wⱼ·Mⱼ·u − v‖² of each vertex over the simplex, and with smoothing its sum with the second term in ten
/// passes. O(V·(P·J + J²)); parallel inside a rayon pool, to the same bits on any number of threads.
///
/// # Errors
///
/// [`SkinError::NoFrames`] without poses, [`SkinError::NoJoints`] without joints, [`SkinError::TooManyJoints`],
/// [`SkinError::FrameCount`] if a pose or target has another length than the rest, [`SkinError::NotFinite`], [`SkinError::Count`] for a support of another mesh,
/// [`SkinError::NoJoint`] if it has other joints, and [`SkinError::Mesh`].
pub fn from_examples(
    mesh: &Mesh,
    poses: &[Vec<Affine>],
    targets: &[Vec<Vec3>],
    candidates: Candidates<'_>,
    options: &ExampleOptions,
) -> Result<(SkinWeights, FitReport), SkinError> {
    mesh.check()?;
    let motion = Motion::new(&mesh.rest.positions, targets)?;
    let maps = normalized_maps(&motion, poses)?;
    let joint_count = maps.len() / motion.frame_count();
    check_joint_count(joint_count)?;
    let supports = match candidates {
        Candidates::All => None,
        Candidates::SupportOf(weights) => Some(checked_supports(&motion, joint_count, weights)?),
    };
    let moments = PoseMoments::new(&motion, &maps);
    let smoothing = Smoothing::new(mesh, options.smoothing);
    let step = WeightStep {
        motion: &motion,
        moments: &moments,
        smoothing: smoothing.as_ref(),
        supports: supports.as_deref(),
        max_influences: options.max_influences,
    };
    let mut rows = vec![Vec::new(); motion.vertex_count()];
    let mut errors = vec![0.0; motion.vertex_count()];
    let passes = if smoothing.is_some() {
        SMOOTHING_PASSES
    } else {
        1
    };
    for _ in 0..passes {
        step.fit(&mut rows, &mut errors);
    }
    let report = fit_report(&motion, &rows, &maps);
    Ok((SkinWeights::from_rows(joint_count, rows)?, report))
}

/// Passes over all vertices in which their neighbours' weights settle.
const SMOOTHING_PASSES: usize = 10;

/// Weights of one vertex.
pub(crate) type Row = Vec<(u16, f64)>;

/// Checks P × J matrices and lays them out joint by joint, in the motion's units.
pub(crate) fn normalized_maps(
    motion: &Motion,
    poses: &[Vec<Affine>],
) -> Result<Vec<Map>, SkinError> {
    let joint_count = poses.first().ok_or(SkinError::NoFrames)?.len();
    if joint_count == 0 {
        return Err(SkinError::NoJoints);
    }
    if poses.len() != motion.frame_count() {
        return Err(SkinError::FrameCount {
            frame: poses.len().min(motion.frame_count()),
            what: "poses in all",
            found: poses.len(),
            expected: motion.frame_count(),
        });
    }
    for (frame, pose) in poses.iter().enumerate() {
        if pose.len() != joint_count {
            return Err(SkinError::FrameCount {
                frame,
                what: "joints",
                found: pose.len(),
                expected: joint_count,
            });
        }
        if !pose.iter().all(Affine::is_finite) {
            return Err(SkinError::NotFinite {
                what: "pose",
                index: frame,
            });
        }
    }
    let frames = || poses.iter().enumerate();
    Ok((0..joint_count)
        .flat_map(|joint| frames().map(move |(frame, pose)| (frame, pose[joint])))
        .map(|(frame, map)| motion.normalized(frame, &map))
        .collect())
}

/// The joints of each row of weights that belong to this mesh and these joints.
fn checked_supports(
    motion: &Motion,
    joint_count: usize,
    weights: &SkinWeights,
) -> Result<Vec<Vec<u16>>, SkinError> {
    check_rows(motion, joint_count, weights)?;
    Ok((0..weights.vertex_count())
        .map(|vertex| weights.row(vertex).map(|(joint, _)| joint).collect())
        .collect())
}

/// That weights have a row a vertex and no more than `joint_count` joints.
pub(crate) fn check_rows(
    motion: &Motion,
    joint_count: usize,
    weights: &SkinWeights,
) -> Result<(), SkinError> {
    if weights.vertex_count() != motion.vertex_count() {
        return Err(SkinError::Count {
            what: "rows of weights",
            found: weights.vertex_count(),
            vertex_count: motion.vertex_count(),
        });
    }
    for vertex in 0..weights.vertex_count() {
        if let Some((joint, _)) = weights
            .row(vertex)
            .find(|(joint, _)| usize::from(*joint) >= joint_count)
        {
            return Err(SkinError::NoJoint {
                vertex,
                joint: usize::from(joint),
                joint_count,
            });
        }
    }
    Ok(())
}

/// How far `rows` under `maps` are off, from the positions themselves.
pub(crate) fn fit_report(motion: &Motion, rows: &[Row], maps: &[Map]) -> FitReport {
    let mut total = 0.0;
    let mut worst = (0, 0.0);
    for (vertex, row) in rows.iter().enumerate() {
        let error = motion.squared_error(vertex, row, maps);
        total += error;
        if error > worst.1 {
            worst = (vertex as u32, error);
        }
    }
    let frames = motion.frame_count() as f64;
    let relative = (total / (frames * rows.len().max(1) as f64)).sqrt();
    FitReport {
        rmse: relative * motion.diagonal,
        rmse_percent_of_diagonal: relative * 100.0,
        worst_vertex: worst.0,
        worst_rmse: (worst.1 / frames).sqrt() * motion.diagonal,
    }
}

/// Moments of J joints over F frames, from which each vertex's normal equations follow without a loop over frames a pair.
///
/// With aⱼ = Mⱼ·û: aⱼ·aₖ summed over frames is ûᵀ·(Σ MⱼᵀMₖ)·û.
pub(crate) struct PoseMoments {
    joint_count: usize,
    /// J × F matrices by rows, joint by joint.
    rows: Vec<[[f64; 4]; 3]>,
    /// The lower triangle of J × J, each the coefficients of û's products.
    pairs: Vec<Monomials>,
}

impl PoseMoments {
    /// Takes J × F maps, joint by joint; O(J²·F).
    pub(crate) fn new(motion: &Motion, maps: &[Map]) -> Self {
        let frames = motion.frame_count();
        let joint_count = maps.len() / frames;
        let mut pairs = Vec::with_capacity(joint_count * (joint_count + 1) / 2);
        for (joint, a) in maps.chunks_exact(frames).enumerate() {
            for b in maps.chunks_exact(frames).take(joint + 1) {
                let mut product = Matrix4::<f64>::zeros();
                for (a, b) in a.iter().zip(b) {
                    product += a.transpose() * b;
                }
                let both = |r: usize, c: usize| product[(r, c)] + product[(c, r)];
                pairs.push([
                    product[(0, 0)],
                    both(0, 1),
                    both(0, 2),
                    both(0, 3),
                    product[(1, 1)],
                    both(1, 2),
                    both(1, 3),
                    product[(2, 2)],
                    both(2, 3),
                    product[(3, 3)],
                ]);
            }
        }
        let row = |map: &Map, r: usize| [map[(r, 0)], map[(r, 1)], map[(r, 2)], map[(r, 3)]];
        Self {
            joint_count,
            rows: maps
                .iter()
                .map(|map| [row(map, 0), row(map, 1), row(map, 2)])
                .collect(),
            pairs,
        }
    }

    /// Number of joints, J.
    pub(crate) fn joint_count(&self) -> usize {
        self.joint_count
    }

    /// Σ |v|² over frames, and aⱼ·v summed over frames of each joint.
    fn projections(&self, motion: &Motion, vertex: usize, out: &mut [f64]) -> f64 {
        let track = motion.track(vertex);
        let rest = motion.rest[vertex];
        for (out, maps) in out.iter_mut().zip(self.rows.chunks_exact(track.len())) {
            let mut sum = [0.0; 4];
            for ([x, y, z], v) in maps.iter().zip(track) {
                for lane in 0..4 {
                    sum[lane] += x[lane] * v.x + y[lane] * v.y + z[lane] * v.z;
                }
            }
            *out = Vector4::from(sum).dot(&rest);
        }
        track.iter().map(|v| v.norm_squared()).sum()
    }

    /// The mean squared error over frames if `vertex` follows each joint alone.
    pub(crate) fn rigid_errors(&self, motion: &Motion, vertex: usize, out: &mut [f64]) {
        let square = self.projections(motion, vertex, out);
        let monomials = motion.monomials(vertex);
        let scale = 1.0 / motion.frame_count() as f64;
        for (joint, out) in out.iter_mut().enumerate() {
            let diagonal = &self.pairs[joint * (joint + 3) / 2];
            *out = ((dot(diagonal, &monomials) - 2.0 * *out + square) * scale).max(0.0);
        }
    }

    /// The Gram matrix of aⱼ − v, mean over frames: the squared error of weights w that sum to 1 is wᵀGw.
    fn gram(&self, motion: &Motion, vertex: usize, scratch: &mut [f64], out: &mut [f64]) {
        let square = self.projections(motion, vertex, scratch);
        let monomials = motion.monomials(vertex);
        let scale = 1.0 / motion.frame_count() as f64;
        let n = self.joint_count;
        let mut pairs = self.pairs.iter();
        for j in 0..n {
            for (k, pair) in (0..=j).zip(&mut pairs) {
                let product = dot(pair, &monomials) - scratch[j] - scratch[k] + square;
                out[j * n + k] = product * scale;
                out[k * n + j] = product * scale;
            }
        }
    }
}

fn dot(a: &Monomials, b: &Monomials) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The neighbours of each vertex, and what differing from them costs.
pub(crate) struct Smoothing {
    cost: f64,
    neighbors: Vec<Vec<u32>>,
}

impl Smoothing {
    /// Nothing to smooth for a cost that is not above 0.
    pub(crate) fn new(mesh: &Mesh, cost: f64) -> Option<Self> {
        if cost.is_nan() || cost <= 0.0 {
            return None;
        }
        let welded = topology::weld(&mesh.rest.positions);
        let triangles: Vec<[u32; 3]> = mesh
            .triangles
            .iter()
            .map(|corners| corners.map(|v| welded[v as usize]))
            .collect();
        let mut neighbors = vec![Vec::new(); welded.len()];
        let edges = topology::half_edges(&triangles);
        for sides in edges.chunk_by(|a, b| a.ends == b.ends) {
            let [a, b] = sides[0].ends;
            neighbors[a as usize].push(b);
            neighbors[b as usize].push(a);
        }
        for (vertex, first) in welded.iter().enumerate() {
            if *first as usize != vertex {
                neighbors[vertex] = neighbors[*first as usize].clone();
            }
        }
        Some(Self { cost, neighbors })
    }
}

/// One exact fit of every vertex's weights to fixed joints.
pub(crate) struct WeightStep<'a> {
    pub(crate) motion: &'a Motion,
    pub(crate) moments: &'a PoseMoments,
    pub(crate) smoothing: Option<&'a Smoothing>,
    /// The candidates of each vertex; all joints without.
    pub(crate) supports: Option<&'a [Vec<u16>]>,
    pub(crate) max_influences: usize,
}

impl WeightStep<'_> {
    /// Replaces each row, where the search starts, by its fit, and each error by the mean squared one over frames.
    pub(crate) fn fit(&self, rows: &mut [Row], errors: &mut [f64]) {
        let n = self.moments.joint_count();
        let all: Vec<u16> = (0..n as u16).collect();
        let before = self.smoothing.map(|_| rows.to_vec());
        chunks::for_each_pair_mut(rows, errors, |first, rows, errors| {
            let mut solver = SimplexFit::default();
            let (mut gram, mut pulled) = (vec![0.0; n * n], vec![0.0; n * n]);
            let (mut linear, mut scratch, zeros) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            for ((vertex, row), error) in (first..).zip(rows).zip(errors) {
                self.moments
                    .gram(self.motion, vertex, &mut scratch, &mut gram);
                let candidates = self.supports.map_or(&all, |supports| &supports[vertex]);
                let exact = Quadratic {
                    gram: &gram,
                    linear: &zeros,
                };
                let pull = self.smoothing.zip(before.as_ref());
                match pull.and_then(|(s, before)| s.pull(vertex, before, &mut linear)) {
                    None => solver.solve(exact, candidates, self.max_influences, row),
                    Some(cost) => {
                        pulled.clone_from(&gram);
                        pulled.iter_mut().step_by(n + 1).for_each(|g| *g += cost);
                        let objective = Quadratic {
                            gram: &pulled,
                            linear: &linear,
                        };
                        solver.solve(objective, candidates, self.max_influences, row)
                    }
                };
                *error = (2.0 * exact.value(row)).max(0.0);
            }
        });
    }
}

impl Smoothing {
    /// Writes cost × the mean of the neighbours' rows and returns the cost; nothing if they have none yet.
    fn pull(&self, vertex: usize, rows: &[Row], out: &mut [f64]) -> Option<f64> {
        out.fill(0.0);
        let neighbors = &self.neighbors[vertex];
        let known = neighbors.iter().filter(|v| !rows[**v as usize].is_empty());
        let share = self.cost / known.clone().count().max(1) as f64;
        for neighbor in known.clone() {
            for (joint, weight) in &rows[*neighbor as usize] {
                out[usize::from(*joint)] += share * weight;
            }
        }
        known.count().gt(&0).then_some(self.cost)
    }
}
