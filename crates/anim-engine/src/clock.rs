//! The fixed-step clock: simulation advances in equal steps whatever the frame rate.

/// Counts the simulation steps that fit into the time that has passed, and keeps the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedClock {
    step: f64,
    max_steps: u32,
    rest: f64,
    dropped: f64,
}

/// Steps may be due this fraction of a step early: sums of rounded frame times are never exact.
const EARLY: f64 = 1e-6;

impl FixedClock {
    /// Steps of `step` seconds, at most `max_steps` a frame; what is beyond is dropped, so that a stall cannot pile up.
    pub(crate) fn new(step: f32, max_steps: u32) -> Self {
        Self {
            step: f64::from(step),
            max_steps,
            rest: 0.0,
            dropped: 0.0,
        }
    }

    /// Advances by `dt` seconds and returns how many steps are due; time that goes back or is not finite makes none.
    pub(crate) fn advance(&mut self, dt: f32) -> u32 {
        self.rest += if dt.is_finite() {
            f64::from(dt.max(0.0))
        } else {
            0.0
        };
        let due = (self.rest / self.step + EARLY).floor();
        if due > f64::from(self.max_steps) {
            self.dropped += self.rest - f64::from(self.max_steps) * self.step;
            self.rest = 0.0;
            return self.max_steps;
        }
        self.rest = (self.rest - due * self.step).max(0.0);
        due as u32
    }

    /// Seconds that were not simulated, all stalls together.
    pub(crate) fn dropped(&self) -> f64 {
        self.dropped
    }

    /// Seconds a step.
    pub(crate) fn step(&self) -> f32 {
        self.step as f32
    }
}

#[cfg(test)]
mod tests {
    use super::FixedClock;

    #[test]
    fn the_same_time_gives_the_same_steps_at_any_frame_rate() {
        for fps in [24.0_f32, 30.0, 60.0, 144.0, 1000.0] {
            let mut clock = FixedClock::new(1.0 / 120.0, 8);
            let frames = (fps * 10.0) as u32;
            let steps: u32 = (0..frames).map(|_| clock.advance(1.0 / fps)).sum();
            assert!(steps.abs_diff(1200) <= 1, "{fps} fps: {steps}");
        }
    }

    #[test]
    fn a_stall_is_dropped_and_not_made_up() {
        let mut clock = FixedClock::new(1.0 / 120.0, 8);
        assert_eq!(clock.advance(10.0), 8);
        assert_eq!(clock.advance(1.0 / 60.0), 2);
        assert!((clock.dropped() - (10.0 - 8.0 / 120.0)).abs() < 1e-6);
    }

    #[test]
    fn time_that_goes_back_or_is_no_number_makes_no_steps() {
        let mut clock = FixedClock::new(1.0 / 120.0, 8);
        assert_eq!(clock.advance(-1.0), 0);
        assert_eq!(clock.advance(f32::NAN), 0);
        assert_eq!(clock.advance(f32::INFINITY), 0);
        assert_eq!(clock.advance(1.0 / 60.0), 2);
    }
}
