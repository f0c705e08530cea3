//! Skinning decomposition: rigid bones and weights that reproduce any animated mesh.
//!
//! From a baked sequence (a simulation, a vertex cache, another program's deformers) come few moving bones and sparse weights,
//! which play at the cost of a skin. Clusters of alike motion start it; then weights given bones and bones given weights are
//! solved in turn, each exactly ([`SimplexFit`](super::SimplexFit), [`fit_bones`](super::fit_bones)); a bone that the others
//! can spare is tried again where the fit is worst. All sums run over second moments, so that no step but the projections
//! touches frames. The sequence must keep its vertices; bones come out without a hierarchy.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_math::Vec3;
//! use anim_skin::weights::{SsdrOptions, ssdr};
//!
//! // Half of a strip slides away.
//! let mesh = primitives::grid(9, 2, 1.0);
//! let slide = |v: &Vec3| if v.x > 0.0 { v + Vec3::y() } else { *v };
//! let frame: Vec<Vec3> = mesh.rest.positions.iter().map(slide).collect();
//! let options = SsdrOptions { bone_count: 2, ..SsdrOptions::default() };
//! let result = ssdr(&mesh, &[mesh.rest.positions.clone(), frame], &options)?;
//! assert_eq!(result.weights.joint_count(), 2);
//! assert!(result.report.rmse < 1e-5);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

mod cluster;

use anim_geom::Mesh;
use anim_math::{Affine, Vec3};

use super::SkinWeights;
use super::bone_fit::{BoneMoments, restored_maps};
use super::examples::{FitReport, PoseMoments, Row, Smoothing, WeightStep, fit_report};
use super::motion::{Map, Motion};
use crate::SkinError;

/// What to decompose into, and how long to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SsdrOptions {
    /// Most bones; fewer come out where fewer are enough.
    pub bone_count: usize,
    /// Most bones a vertex may follow, at least 1.
    pub max_influences: usize,
    /// Most rounds of weights and bones after the start, and again after each bone that moved for good; a quarter of them
    /// decides whether it does.
    pub iterations: usize,
    /// A run of rounds ends when one lowers the error by less than this share.
    pub tolerance: f64,
    /// What a difference of 1 from the mean of its neighbours' weights costs a vertex, in squared diagonals of the rest's
    /// box a frame; 0 for the closest fit, 10⁻⁶ for smoother weights at a loss of some hundredths of a percent.
    pub smoothing: f64,
    /// How many times a bone that can be spared is tried where the fit is worst. Rounds settle where bones start, so the first
    /// one is worth more than many rounds: a gallop that twenty rounds leave at 0.060 % ends at 0.023 with two.
    pub reinsertions: usize,
}

impl Default for SsdrOptions {
    fn default() -> Self {
        Self {
            bone_count: 20,
            max_influences: 4,
            iterations: 20,
            tolerance: 1e-3,
            smoothing: 0.0,
            reinsertions: 2,
        }
    }
}

/// A sequence as a skin.
#[derive(Clone, Debug, PartialEq)]
pub struct SsdrResult {
    /// V rows over the bones.
    pub weights: SkinWeights,
    /// F × bones: `model_from_bind`, each a rotation and a translation.
    pub transforms: Vec<Vec<Affine>>,
    /// How far the skin is from the sequence.
    pub report: FitReport,
    /// Root mean squared error in percent of the diagonal: of the clusters, then after each round that was kept.
    pub history: Vec<f64>,
}

/// Decomposes `frames` (F × V positions, source order) of `mesh` into rigid bones and weights.
///
/// A round costs O(V·(F·J + J²)) for J bones; memory is 24·V·F bytes. Parallel inside a rayon pool, to the same bits on any
/// number of threads. Always ends: with bones that nothing needs, in fewer bones.
///
/// # Errors
///
/// [`SkinError::NoFrames`], [`SkinError::NoJoints`] if `bone_count` is 0, [`SkinError::FrameCount`] for a frame of another
/// length, [`SkinError::NotFinite`] and [`SkinError::Mesh`].
///
/// Source: Le and Deng, "Smooth skinning decomposition with rigid bones", SIGGRAPH Asia 2012; smoothing after "Robust and
/// accurate skeletal rigging from mesh sequences", SIGGRAPH 2014. Departures: moments in place of loops over frames, an exact
/// active set that sees every bone, clusters that do not follow edges, and bones that move.
pub fn ssdr(
    mesh: &Mesh,
    frames: &[Vec<Vec3>],
    options: &SsdrOptions,
) -> Result<SsdrResult, SkinError> {
    mesh.check()?;
    let motion = Motion::new(&mesh.rest.positions, frames)?;
    let bone_count = options
        .bone_count
        .min(motion.vertex_count().max(1))
        .min(usize::from(u16::MAX));
    if bone_count == 0 {
        return Err(SkinError::NoJoints);
    }
    let (rows, maps) = cluster::cluster(&motion, bone_count);
    let smoothing = Smoothing::new(mesh, options.smoothing);
    let search = Search {
        motion: &motion,
        smoothing: smoothing.as_ref(),
        options,
    };
    let mut fit = Fit {
        error: search.error(&rows, &maps),
        errors: vec![0.0; rows.len()],
        rows,
        maps,
    };
    let mut history = vec![percent(fit.error)];
    search.alternate(&mut fit, options.iterations, &mut history);
    search.reinsert(&mut fit, &mut history);
    let joint_count = fit.maps.len() / motion.frame_count();
    Ok(SsdrResult {
        report: fit_report(&motion, &fit.rows, &fit.maps),
        transforms: restored_maps(&motion, &fit.maps),
        weights: SkinWeights::from_rows(joint_count, fit.rows)?,
        history,
    })
}

/// Sweeps over the bones a round; they touch no vertex.
const SWEEPS: usize = 10;
/// A moved bone starts from the motion of so many vertices around the worst one.
const NEIGHBORHOOD: usize = 24;

/// A decomposition on its way.
#[derive(Clone)]
struct Fit {
    rows: Vec<Row>,
    /// J × F, joint by joint.
    maps: Vec<Map>,
    /// Mean squared error of each vertex, squared diagonals.
    errors: Vec<f64>,
    /// Their mean.
    error: f64,
}

/// What all steps of one decomposition share.
struct Search<'a> {
    motion: &'a Motion,
    smoothing: Option<&'a Smoothing>,
    options: &'a SsdrOptions,
}

impl Search<'_> {
    /// The mean squared error from the positions.
    fn error(&self, rows: &[Row], maps: &[Map]) -> f64 {
        let relative = fit_report(self.motion, rows, maps).rmse / self.motion.diagonal;
        relative * relative
    }

    /// At most `rounds` of weights and bones, until they no longer improve.
    fn alternate(&self, fit: &mut Fit, rounds: usize, history: &mut Vec<f64>) {
        for _ in 0..rounds {
            let before = fit.error;
            self.round(fit);
            history.push(percent(fit.error));
            if fit.error <= cluster::EXACT || fit.error > before * (1.0 - self.options.tolerance) {
                break;
            }
        }
    }

    /// The weights for these bones, then the bones for these weights.
    fn round(&self, fit: &mut Fit) {
        let moments = PoseMoments::new(self.motion, &fit.maps);
        let step = WeightStep {
            motion: self.motion,
            moments: &moments,
            smoothing: self.smoothing,
            supports: None,
            max_influences: self.options.max_influences,
        };
        step.fit(&mut fit.rows, &mut fit.errors);
        let joint_count = moments.joint_count();
        BoneMoments::new(self.motion, &fit.rows, joint_count).sweep(&mut fit.maps, SWEEPS);
        let sum: f64 = fit.errors.iter().sum();
        fit.error = sum / fit.errors.len().max(1) as f64;
    }

    /// Moves the bone that costs least to where the error is largest, as long as that pays.
    fn reinsert(&self, fit: &mut Fit, history: &mut Vec<f64>) {
        let frames = self.motion.frame_count();
        let mut tried: Vec<usize> = Vec::new();
        for _ in 0..self.options.reinsertions {
            if fit.error <= cluster::EXACT {
                return;
            }
            let Some(worst) = self.worst(fit, &tried) else {
                return;
            };
            let all: Vec<usize> = (0..fit.rows.len()).collect();
            let moved = cluster::motion_near(self.motion, &all, worst, NEIGHBORHOOD);
            let spare = self.cheapest_bone(fit);
            let mut trial = fit.clone();
            trial.maps[spare * frames..][..frames].copy_from_slice(&moved);
            for row in &mut trial.rows {
                row.retain(|(joint, _)| usize::from(*joint) != spare);
            }
            let mut steps = Vec::new();
            self.alternate(&mut trial, self.options.iterations.div_ceil(4), &mut steps);
            if trial.error < fit.error {
                *fit = trial;
                history.append(&mut steps);
                self.alternate(fit, self.options.iterations, history);
                tried.clear();
            } else {
                tried.push(worst);
            }
        }
    }

    /// The vertex of the largest error that does not rest near one that was tried.
    fn worst(&self, fit: &Fit, tried: &[usize]) -> Option<usize> {
        let near =
            |a: usize, b: usize| (self.motion.rest[a] - self.motion.rest[b]).norm() < TRIED_RADIUS;
        (0..fit.errors.len())
            .filter(|v| !tried.iter().any(|t| near(*v, *t)))
            .max_by(|a, b| fit.errors[*a].total_cmp(&fit.errors[*b]).then(b.cmp(a)))
    }

    /// The bone without which the error rises least, its weights given to the rest of each row.
    fn cheapest_bone(&self, fit: &Fit) -> usize {
        let joint_count = fit.maps.len() / self.motion.frame_count();
        let moments = PoseMoments::new(self.motion, &fit.maps);
        let mut costs = vec![0.0; joint_count];
        let mut alone = vec![0.0; joint_count];
        for (vertex, row) in fit.rows.iter().enumerate() {
            moments.rigid_errors(self.motion, vertex, &mut alone);
            for (joint, weight) in row {
                // The best single replacement bounds what the row would lose.
                let others = alone.iter().enumerate();
                let best = others
                    .filter(|(other, _)| *other != usize::from(*joint))
                    .map(|(_, error)| *error)
                    .fold(f64::INFINITY, f64::min);
                costs[usize::from(*joint)] += weight * weight * best;
            }
        }
        let cheapest = (0..joint_count).min_by(|a, b| costs[*a].total_cmp(&costs[*b]));
        cheapest.unwrap_or(0)
    }
}

/// In diagonals: how far apart places of a moved bone are different attempts.
const TRIED_RADIUS: f64 = 0.05;

/// Percent of the diagonal.
fn percent(error: f64) -> f64 {
    100.0 * error.sqrt()
}
