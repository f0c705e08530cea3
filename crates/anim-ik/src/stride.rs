//! Going on where a pass went: passes zigzag down long valleys, mostly in one direction.
//!
//! Source: the pattern move of Hooke and Jeeves, "Direct search solution of numerical and statistical problems", Journal of
//! the ACM 8(2), 1961.

use crate::descent::Descent;
use crate::{Configuration, IkProblem};

/// Where a pass began, and how far strides have been worth it.
#[derive(Clone, Debug)]
pub(crate) struct Stride {
    before: Configuration,
    after: Configuration,
    best: Configuration,
    step: Vec<f64>,
    scaled: Vec<f64>,
    length: f64,
}

/// How many times as far as the pass a stride goes at most.
const LONGEST: f64 = 256.0;

impl Default for Stride {
    fn default() -> Self {
        let none = || Configuration::new(Vec::new());
        Self {
            before: none(),
            after: none(),
            best: none(),
            step: Vec::new(),
            scaled: Vec::new(),
            length: 1.0,
        }
    }
}

impl Stride {
    /// Before a solve, which must not depend on the last one.
    pub(crate) fn reset(&mut self) {
        self.length = 1.0;
    }

    /// Before a pass.
    pub(crate) fn begin(&mut self, work: &Descent) {
        self.before.assign(&work.current);
    }

    /// After a pass that was evaluated: goes on in its direction for as long as that is better, twice as far each time.
    pub(crate) fn go_on(&mut self, problem: &IkProblem<'_>, work: &mut Descent) {
        let mechanism = problem.mechanism;
        self.step.clear();
        self.step.resize(mechanism.dof(), 0.0);
        self.before
            .difference(mechanism, &work.current, &mut self.step);
        self.after.assign(&work.current);
        self.best.assign(&work.current);
        let mut cost = work.cost();
        let mut tried = self.length;
        let mut is_first = true;
        while tried <= LONGEST {
            self.scaled.clear();
            self.scaled
                .extend(self.step.iter().map(|step| step * tried));
            self.after
                .integrate(mechanism, &self.scaled, &mut work.current);
            mechanism.clamp(&mut work.current);
            work.evaluate(problem);
            if work.cost() >= cost {
                break;
            }
            cost = work.cost();
            self.best.assign(&work.current);
            self.length = tried;
            tried *= 2.0;
            is_first = false;
        }
        if is_first {
            self.length = (0.25 * self.length).max(0.25);
        }
        work.current.assign(&self.best);
        work.evaluate(problem);
    }
}
