//! Many problems at once, on the caller's threads.
//!
//! Problems are shared out in fixed groups, each with a solver of its own, so that answers are the same to the bit on any
//! number of threads: threads are given by calling from inside a rayon pool, and outside one all runs on the caller's.
//!
//! ```
//! use anim_ik::{Goal, IkBatch, IkProblem, IkReport, IkStatus, Mechanism, MechanismJoint, SearchOptions};
//! use anim_math::nalgebra::{Isometry3, Vector3};
//! use anim_skeleton::JointLimit;
//!
//! let joints = vec![MechanismJoint::new(None, Isometry3::identity(), JointLimit::FREE)];
//! let mechanism = Mechanism::new(joints)?;
//! let goals = [1.0, 2.0, 3.0].map(|x| [Goal::position(0, Vector3::new(x, 0.0, 0.0))]);
//! let problems: Vec<_> = goals.iter().map(|goals| IkProblem::new(&mechanism, goals)).collect();
//! let mut configurations = vec![mechanism.rest(); 3];
//! let mut reports = vec![IkReport::default(); 3];
//! let mut batch = IkBatch::new(SearchOptions::default());
//! batch.solve(&problems, &mut configurations, &mut reports);
//! assert!(reports.iter().all(|report| report.status == IkStatus::Reached));
//! # Ok::<(), anim_ik::IkError>(())
//! ```

use anim_geom::chunks;
use rayon::prelude::*;

use crate::{Configuration, IkProblem, IkReport, IkSolver, LevenbergMarquardt, SearchOptions};

/// Problems that share a solver: some 200 µs of work.
const GROUP: usize = 8;

/// Solvers for many problems, by [`LevenbergMarquardt`].
#[derive(Clone, Debug)]
pub struct IkBatch {
    /// For every problem.
    pub options: SearchOptions,
    solvers: Vec<LevenbergMarquardt>,
}

impl IkBatch {
    /// A batch without scratch yet.
    pub fn new(options: SearchOptions) -> Self {
        let solvers = Vec::new();
        Self { options, solvers }
    }

    /// Solves each of N problems from its configuration, as [`LevenbergMarquardt`] would alone.
    ///
    /// Allocates nothing in later calls of the same size inside one pool.
    ///
    /// # Panics
    ///
    /// If the three lists differ in length, or a configuration is of another mechanism.
    pub fn solve(
        &mut self,
        problems: &[IkProblem<'_>],
        configurations: &mut [Configuration],
        reports: &mut [IkReport],
    ) {
        assert_eq!(
            problems.len(),
            configurations.len(),
            "a configuration a problem"
        );
        assert_eq!(problems.len(), reports.len(), "a report a problem");
        let groups = problems.len().div_ceil(GROUP);
        let options = self.options;
        self.solvers
            .resize_with(groups, || LevenbergMarquardt::new(options));
        self.solvers
            .iter_mut()
            .for_each(|solver| solver.options = options);
        if groups > 1 && chunks::in_pool() {
            let groups = problems
                .par_chunks(GROUP)
                .zip(configurations.par_chunks_mut(GROUP));
            let groups = groups.zip(reports.par_chunks_mut(GROUP));
            let groups = groups.zip(self.solvers.par_iter_mut());
            groups.for_each(|(((problems, at), reports), solver)| {
                solve_group(solver, problems, at, reports);
            });
        } else {
            let groups = problems.chunks(GROUP).zip(configurations.chunks_mut(GROUP));
            let groups = groups.zip(reports.chunks_mut(GROUP));
            for (((problems, at), reports), solver) in groups.zip(&mut self.solvers) {
                solve_group(solver, problems, at, reports);
            }
        }
    }
}

fn solve_group(
    solver: &mut LevenbergMarquardt,
    problems: &[IkProblem<'_>],
    configurations: &mut [Configuration],
    reports: &mut [IkReport],
) {
    let each = problems.iter().zip(configurations).zip(reports);
    for ((problem, at), report) in each {
        solver.solve(problem, at, report);
    }
}
