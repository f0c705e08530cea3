//! Steps that follow a wanted accuracy: the Runge-Kutta pair of Dormand and Prince, orders 5 and 4.
//!
//! The two results of a trial step differ by its error. Steps whose error is too large are taken again, shorter; the length
//! of the next one follows from this error and the one before (a PI controller, which does not hunt). Take it where
//! motion is smooth but uneven, such as a comet's, and as a reference. Stiff systems make it crawl; those are for
//! [`ImplicitEuler`](super::ImplicitEuler) and its kin.
//!
//! Source: Dormand, Prince, "A family of embedded Runge-Kutta formulae", J. Comp. Appl. Math. 1980, table 2; Hairer,
//! Nørsett, Wanner, "Solving Ordinary Differential Equations I", sections II.4 and II.5; Gustafsson, ACM TOMS 1991.

use super::stages::Stages;
use super::{DVec3, Integrator, Motion, System, begins};
use crate::Outcome;

/// How accurate, and at what cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveOptions {
    /// The error that one step may add to a position, m, and to a velocity, m/s; positive.
    pub absolute: f64,
    /// The same as a part of its length.
    pub relative: f64,
    /// Steps tried, at most, in one call.
    pub max_steps: u32,
}

impl Default for AdaptiveOptions {
    /// Nine digits.
    fn default() -> Self {
        Self {
            absolute: 1e-9,
            relative: 1e-9,
            max_steps: 100_000,
        }
    }
}

/// As many steps in each call as the tolerance asks for.
///
/// The [`Outcome`] counts the steps tried and has the largest estimated error of one in m. If there were too many, or
/// steps became too short to move time, the motion stops on the way: its time says where.
#[derive(Clone, Debug, Default)]
pub struct DormandPrince {
    options: AdaptiveOptions,
    stages: Stages<7>,
    /// Where the last step ended: the last stage is then the next one's first.
    left: Motion,
    /// Length of the next step, and the error of the last one as a part of what is allowed.
    next_dt: f64,
    last_error: f64,
}

/// Where each stage is taken: the part of the step, and the weights of the slopes before it. The last is the result.
const STAGES: [(f64, &[f64]); 7] = [
    (0.0, &[]),
    (1.0 / 5.0, &[1.0 / 5.0]),
    (3.0 / 10.0, &[3.0 / 40.0, 9.0 / 40.0]),
    (4.0 / 5.0, &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0]),
    (
        8.0 / 9.0,
        &[
            19372.0 / 6561.0,
            -25360.0 / 2187.0,
            64448.0 / 6561.0,
            -212.0 / 729.0,
        ],
    ),
    (
        1.0,
        &[
            9017.0 / 3168.0,
            -355.0 / 33.0,
            46732.0 / 5247.0,
            49.0 / 176.0,
            -5103.0 / 18656.0,
        ],
    ),
    (
        1.0,
        &[
            35.0 / 384.0,
            0.0,
            500.0 / 1113.0,
            125.0 / 192.0,
            -2187.0 / 6784.0,
            11.0 / 84.0,
        ],
    ),
];

/// By how much the weights of order 5 differ from those of order 4.
const ERROR: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339_200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];

impl DormandPrince {
    /// With a given accuracy.
    pub fn new(options: AdaptiveOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Begins where nothing is known yet: a step that changes the motion by a hundredth of itself.
    fn start(&mut self, system: &System, dt: f64, motion: &Motion) {
        self.stages.aim(motion, dt, 0.0, &[]);
        self.stages.evaluate(system, 0);
        let slope = &self.stages.slopes[0];
        let size = |values: &[DVec3], of: &[DVec3]| {
            let scaled = |(value, of): (&DVec3, &DVec3)| {
                value.norm() / (self.options.absolute + self.options.relative * of.norm())
            };
            values.iter().zip(of).map(scaled).fold(0.0, f64::max)
        };
        let Motion {
            positions: x,
            velocities: v,
            ..
        } = motion;
        let state = size(x, x).max(size(v, v));
        let change = size(&slope.velocities, x).max(size(&slope.accelerations, v));
        let guess = 0.01 * state / change;
        self.next_dt = if guess > 0.0 && guess < dt.abs() {
            guess
        } else {
            dt.abs()
        };
        self.last_error = 1.0;
    }

    /// The error of the trial as a part of what is allowed, and in m.
    fn error(&self, motion: &Motion, dt: f64) -> (f64, f64) {
        let (mut part, mut metres) = (0.0_f64, 0.0_f64);
        // What is no number stays so.
        let worse = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
        for index in 0..motion.positions.len() {
            let (mut position, mut velocity) = (DVec3::zeros(), DVec3::zeros());
            for (weight, slope) in ERROR.iter().zip(&self.stages.slopes) {
                position += dt * weight * slope.velocities[index];
                velocity += dt * weight * slope.accelerations[index];
            }
            let allowed = |before: &DVec3, after: &DVec3| {
                self.options.absolute + self.options.relative * before.norm().max(after.norm())
            };
            let trial = &self.stages.trial;
            let x = allowed(&motion.positions[index], &trial.positions[index]);
            let v = allowed(&motion.velocities[index], &trial.velocities[index]);
            part = worse(part, position.norm() / x);
            part = worse(part, velocity.norm() / v);
            metres = worse(metres, position.norm());
        }
        (part, metres)
    }
}

impl Integrator for DormandPrince {
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome {
        let mut outcome = Outcome::default();
        if !begins(system, dt, motion) {
            return outcome;
        }
        if self.left != *motion {
            self.start(system, dt, motion);
        }
        let end = motion.time + dt;
        while outcome.iterations < self.options.max_steps {
            let rest = end - motion.time;
            // A sliver at the end would be lost to rounding: it joins the step before.
            let is_last = self.next_dt >= rest.abs() * (1.0 - 1e-9);
            let h = if is_last {
                rest
            } else {
                self.next_dt.copysign(dt)
            };
            if motion.time + h == motion.time {
                break;
            }
            outcome.iterations += 1;
            for (stage, (node, weights)) in STAGES.into_iter().enumerate().skip(1) {
                self.stages.aim(motion, h, node, weights);
                self.stages.evaluate(system, stage);
            }
            let (error, metres) = self.error(motion, h);
            if error <= 1.0 {
                let small = error.max(1e-10);
                let factor = 0.9 * libm::pow(small, -0.14) * libm::pow(self.last_error, 0.08);
                let next = h.abs() * factor.clamp(0.2, 5.0);
                // A last step that was cut short says nothing against longer ones.
                self.next_dt = if is_last {
                    next.max(self.next_dt)
                } else {
                    next
                };
                self.last_error = small;
                outcome.residual = outcome.residual.max(metres as f32);
                motion.copy_from(&self.stages.trial);
                self.stages.slopes.swap(0, 6);
                if is_last {
                    motion.time = end;
                    break;
                }
            } else {
                // Also where the error is no number.
                let factor = 0.9 * libm::pow(error, -0.2);
                self.next_dt = h.abs() * factor.max(0.2);
            }
        }
        self.left.copy_from(motion);
        outcome
    }
}
