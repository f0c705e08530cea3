//! Where a character is steered to: springs that turn a stick into a trajectory.
//!
//! A critically damped spring draws the velocity to the one asked for, another the heading. Both are solved in closed form,
//! so that any time step, and any number of them, gives the same path.
//!
//! ```
//! use anim_graph::matching::{Locomotion, Steering};
//!
//! let mut character = Locomotion::default();
//! let stick = Steering { velocity: [0.0, 1.5], heading: 0.0, ..Steering::default() };
//! let planned = character.after(&stick, 1.0); // where it will be in a second
//! for _ in 0..60 {
//!     character = character.after(&stick, 1.0 / 60.0);
//! }
//! assert!((character.position[1] - planned.position[1]).abs() < 1e-4);
//! assert!(planned.velocity[1] > 1.3);
//! ```

use serde::{Deserialize, Serialize};

use super::ground::{Ground, wrap_angle};

/// A point of a trajectory as the character sees it: z ahead, x to the left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryPoint {
    /// `[x, z]`, metres.
    pub position: [f32; 2],
    /// The direction faced, unit `[x, z]`.
    pub direction: [f32; 2],
}

/// What a player asks for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Steering {
    /// `[x, z]`, metres a second, world space.
    pub velocity: [f32; 2],
    /// Where to face: the turn about +Y from +Z towards +X, rad.
    pub heading: f32,
    /// Seconds in which a difference of velocity about halves; above 0.
    pub velocity_halflife: f32,
    /// Seconds in which a difference of heading about halves; above 0.
    pub heading_halflife: f32,
}

/// How a character moves over the ground, world space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Locomotion {
    /// `[x, z]`, metres.
    pub position: [f32; 2],
    /// `[x, z]`, metres a second.
    pub velocity: [f32; 2],
    /// `[x, z]`, metres a second squared.
    pub acceleration: [f32; 2],
    /// The turn about +Y from +Z towards +X, rad, in [−π, π].
    pub heading: f32,
    /// Radians a second.
    pub turn_rate: f32,
}

impl Default for Steering {
    /// Stand still and face +Z, at a human's pace.
    fn default() -> Self {
        Self {
            velocity: [0.0; 2],
            heading: 0.0,
            velocity_halflife: 0.27,
            heading_halflife: 0.27,
        }
    }
}

impl Locomotion {
    /// The motion after `dt` s of `steering`; turns the short way.
    ///
    /// With y = 2 ln 2 / halflife, j₀ = v − goal, j₁ = a + j₀ y:  v(t) = e^{−yt} (j₀ + j₁ t) + goal, its integral for the
    /// place, and its derivative for the acceleration. A step that is negative or not finite, and steering that is not
    /// finite, change nothing.
    ///
    /// Source: Holden, "Spring-It-On: The Game Developer's Spring-Roll-Call", 2021 (critically damped, implicit half-life).
    pub fn after(self, steering: &Steering, dt: f32) -> Self {
        let asked = [steering.velocity[0], steering.velocity[1], steering.heading];
        if !(asked.iter().all(|value| value.is_finite()) && dt.is_finite() && dt > 0.0) {
            return self;
        }
        let linear = Decay::new(steering.velocity_halflife, dt);
        let angular = Decay::new(steering.heading_halflife, dt);
        let mut next = self;
        for axis in 0..2 {
            let goal = f64::from(steering.velocity[axis]);
            let away = f64::from(self.velocity[axis]) - goal;
            let [moved, velocity, acceleration] =
                linear.solve(away, f64::from(self.acceleration[axis]));
            next.position[axis] =
                (f64::from(self.position[axis]) + moved + goal * f64::from(dt)) as f32;
            next.velocity[axis] = (velocity + goal) as f32;
            next.acceleration[axis] = acceleration as f32;
        }
        let away = wrap_angle(f64::from(self.heading) - f64::from(steering.heading));
        let [_, heading, turn_rate] = angular.solve(away, f64::from(self.turn_rate));
        next.heading = wrap_angle(heading + f64::from(steering.heading)) as f32;
        next.turn_rate = turn_rate as f32;
        next
    }

    /// Writes the trajectory that `steering` leads to: a point for each of `times`, s, as this character sees it.
    ///
    /// Times that are not positive give the present. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If there are more or fewer points than times.
    pub fn trajectory(&self, steering: &Steering, times: &[f32], out: &mut [TrajectoryPoint]) {
        assert_eq!(times.len(), out.len(), "a point for each time");
        for (time, point) in times.iter().zip(out) {
            let there = self
                .after(steering, *time)
                .ground()
                .seen_from(self.ground());
            let (sine, cosine) = libm::sincos(there.heading);
            *point = TrajectoryPoint {
                position: [there.x as f32, there.z as f32],
                direction: [sine as f32, cosine as f32],
            };
        }
    }

    fn ground(&self) -> Ground {
        Ground {
            x: f64::from(self.position[0]),
            z: f64::from(self.position[1]),
            heading: f64::from(self.heading),
        }
    }
}

/// What a critically damped spring does in one step.
#[derive(Clone, Copy, Debug)]
struct Decay {
    /// y, 1/s.
    rate: f64,
    /// e^{−yt}.
    left: f64,
    /// t e^{−yt}, s.
    left_time: f64,
}

impl Decay {
    fn new(halflife: f32, dt: f32) -> Self {
        let rate = 2.0 * std::f64::consts::LN_2 / f64::from(halflife.max(1e-5));
        let left = libm::exp(-rate * f64::from(dt));
        Self {
            rate,
            left,
            left_time: left * f64::from(dt),
        }
    }

    /// The integral of a value that decays to 0 from `value` with the derivative `speed`, the value and its derivative.
    fn solve(self, value: f64, speed: f64) -> [f64; 3] {
        let y = self.rate;
        let pull = speed + value * y;
        let integral = (value * (1.0 - self.left) - pull * self.left_time) / y
            + pull * (1.0 - self.left) / (y * y);
        [
            integral,
            value * self.left + pull * self.left_time,
            speed * self.left - pull * y * self.left_time,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving() -> Locomotion {
        Locomotion {
            position: [1.0, -2.0],
            velocity: [0.5, 1.5],
            acceleration: [-2.0, 1.0],
            heading: 2.8,
            turn_rate: -1.0,
        }
    }

    fn stick() -> Steering {
        Steering {
            velocity: [-1.0, 2.0],
            heading: -2.5,
            velocity_halflife: 0.2,
            heading_halflife: 0.3,
        }
    }

    #[test]
    fn many_small_steps_are_one_large_step() {
        let (mut small, large) = (moving(), moving().after(&stick(), 1.5));
        for _ in 0..90 {
            small = small.after(&stick(), 1.5 / 90.0);
        }
        for (a, b) in small.position.iter().zip(large.position) {
            assert!((a - b).abs() < 90.0 * f32::EPSILON * 4.0, "{a} {b}");
        }
        assert!((small.heading - large.heading).abs() < 90.0 * f32::EPSILON * 4.0);
    }

    #[test]
    fn the_place_is_the_integral_of_the_velocity() {
        let dt = 1e-3;
        for time in [0.1, 0.4, 1.0] {
            let [before, now, after] =
                [time - dt, time, time + dt].map(|time| moving().after(&stick(), time));
            for axis in 0..2 {
                let slope = (after.position[axis] - before.position[axis]) / (2.0 * dt);
                // Rounding of the places, over the interval, and the cubic term.
                assert!((slope - now.velocity[axis]).abs() < 3.0 * f32::EPSILON / dt + 1e-4);
                let slope = (after.velocity[axis] - before.velocity[axis]) / (2.0 * dt);
                assert!((slope - now.acceleration[axis]).abs() < 3.0 * f32::EPSILON / dt + 1e-3);
            }
        }
    }

    #[test]
    fn it_turns_the_short_way_and_arrives() {
        let soon = Locomotion {
            turn_rate: 0.0,
            ..moving()
        }
        .after(&stick(), 0.1);
        assert!(
            soon.heading > 2.8 || soon.heading < -2.5,
            "{}",
            soon.heading
        );
        let late = moving().after(&stick(), 1e9);
        assert_eq!(
            (late.velocity, late.heading),
            (stick().velocity, stick().heading)
        );
    }

    #[test]
    fn what_is_not_finite_changes_nothing() {
        let broken = Steering {
            heading: f32::NAN,
            ..stick()
        };
        assert_eq!(moving().after(&broken, 0.1), moving());
        for dt in [f32::NAN, f32::INFINITY, -1.0] {
            assert_eq!(moving().after(&stick(), dt), moving());
        }
        let instant = Steering {
            velocity_halflife: f32::NAN,
            heading_halflife: 0.0,
            ..stick()
        };
        assert!(
            moving()
                .after(&instant, 0.1)
                .position
                .iter()
                .all(|v| v.is_finite())
        );
    }

    #[test]
    fn the_trajectory_is_as_the_character_sees_it() {
        // Facing +X, asked to go on along +X: straight ahead.
        let east = Locomotion {
            position: [5.0, 5.0],
            velocity: [1.0, 0.0],
            heading: std::f32::consts::FRAC_PI_2,
            ..Locomotion::default()
        };
        let stick = Steering {
            velocity: [1.0, 0.0],
            heading: std::f32::consts::FRAC_PI_2,
            ..Steering::default()
        };
        let mut points = [TrajectoryPoint::default(); 2];
        east.trajectory(&stick, &[0.5, 1.0], &mut points);
        for (point, ahead) in points.iter().zip([0.5, 1.0]) {
            assert!(point.position[0].abs() < 1e-6 && (point.position[1] - ahead).abs() < 1e-6);
            assert!(point.direction[0].abs() < 1e-6 && (point.direction[1] - 1.0).abs() < 1e-6);
        }
    }
}
