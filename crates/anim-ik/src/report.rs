//! What a numeric solve came to, and why.

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IkStatus {
    /// Every goal is met within its tolerance.
    Reached,
    /// As near as one can get from here: no allowed small step makes it better by more than a billionth. Out of reach, in
    /// conflict, or, without restarts, perhaps only a local optimum.
    Infeasible,
    /// Progress became too slow to go on with.
    Stalled,
    /// Iterations ran out.
    #[default]
    IterationLimit,
    /// The problem fails [`IkProblem::check`](crate::IkProblem::check): nothing was moved.
    BadProblem,
}

/// What is left of one goal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// Metres, over the axes that count.
    pub position: f64,
    /// Rad, over the axes that count.
    pub rotation: f64,
}

/// How a solve went; reuse one, and nothing is allocated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IkReport {
    /// How it ended.
    pub status: IkStatus,
    /// What is left, one a goal.
    pub residuals: Vec<Residual>,
    /// Joints that stand at a limit at the end; a range without width is no limit to stand at.
    pub limits_hit: Vec<usize>,
    /// How deep the deepest limb is in what it should be clear of, the margin included, metres; 0 if all are clear.
    pub penetration: f64,
    /// Half the weighted sum of squared errors.
    pub cost: f64,
    /// The largest part of the gradient of that cost along joints that are free to move, weighted metres.
    pub gradient: f64,
    /// Steps tried, over all starts.
    pub iterations: u32,
    /// Starts beyond the first.
    pub restarts: u32,
}
