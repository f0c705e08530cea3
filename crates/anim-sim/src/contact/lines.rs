//! The straight lines that particles are expected to follow, and what to do when they do not.
//!
//! The list of pairs holds while every particle stays within the slack of its line, but for what all have in common. Where
//! the slack of a few is used up, as in what hits something, lines are drawn anew for those alone; where that of many is,
//! for all.

use anim_math::Vec3;
use anim_math::lanes::{Simd, SimdBase, dispatch, f32x4};

use super::{Contact, rate, vector};

/// Lines lead no farther than this many edges of the surface from what all do in common: a longer way has others near it
/// that it will never meet.
const FAR: f32 = 2.0;

/// Lines are drawn anew for all particles when more than one in this many has left its own.
const FEW: usize = 2;

/// Where a line is drawn anew, so are those of which this share of the slack is used up: they would follow soon.
const SPENT: f32 = 0.4;

/// Positions at even speeds, from the time when lines were last drawn for all.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    /// Where they are at time 0: x, y, z and what belongs to the particle.
    pub(super) start: Vec<[f32; 4]>,
    /// m/s, 0.
    pub(super) velocity: Vec<[f32; 4]>,
}

impl Lines {
    /// Where a line leads at a time, s.
    #[inline]
    pub(super) fn at(&self, slot: u32, time: f32) -> Vec3 {
        let slot = slot as usize;
        vector(self.start[slot]) + vector(self.velocity[slot]) * time
    }

    /// The mean of their velocities, m/s.
    pub(super) fn drift(&self) -> Vec3 {
        let sum = self.velocity.iter().map(|v| vector(*v)).sum::<Vec3>();
        sum / self.velocity.len().max(1) as f32
    }

    /// The greatest speed as seen by what drifts along, m/s.
    pub(super) fn fastest(&self, drift: Vec3) -> f32 {
        let squares = self.velocity.iter();
        squares
            .map(|v| (vector(*v) - drift).norm_squared())
            .fold(0.0, f32::max)
            .sqrt()
    }

    /// Where four lines lead at both ends of a span of time.
    #[inline]
    pub(super) fn path(&self, [a, b, c, d]: [u32; 4], span: [f32; 2]) -> [[Vec3; 4]; 2] {
        let at = |t: f32| [self.at(a, t), self.at(b, t), self.at(c, t), self.at(d, t)];
        [at(span[0]), at(span[1])]
    }
}

impl Contact {
    /// How far particles are from their lines at most, but for what all have in common, m.
    ///
    /// Half the diagonal of a box, and so more than it need be.
    pub(super) fn deviation(&mut self) -> f32 {
        let [low, high] = dispatch!(self.level, simd =>
            deviations(simd, &self.points, &self.lines, self.line_time));
        let (low, high) = (Vec3::from(low), Vec3::from(high));
        let deviation = 0.5 * (high - low).norm();
        if deviation <= self.slack {
            self.common = (low + high) * 0.5;
        }
        deviation
    }

    /// For how long lines of a speed serve, s.
    pub(super) fn most_time(&self, speed: f32) -> f32 {
        FAR * self.surface.edge_length / speed
    }

    /// Draws lines anew for the particles that have left theirs or soon will, if they are few; answers the deviation that
    /// is left.
    pub(super) fn follow_strays(&mut self, h: f32) -> f32 {
        let mut farthest = self.find_strays();
        if !self.strays.is_empty() {
            // Without them, the rest may have something else in common.
            farthest = self.find_strays();
        }
        if self.strays.is_empty() {
            return farthest;
        }
        if self.strays.len() * FEW > self.points.len() {
            return f32::INFINITY;
        }
        self.strayed += self.strays.len();
        let change = self.common - self.common_before;
        let age = self.step - self.remaining;
        let mut fastest = 0.0f32;
        for slot in &self.strays {
            let slot = *slot as usize;
            let (from, to) = (vector(self.start[slot]), vector(self.points[slot]));
            let mut velocity = (to - from - change) / h;
            // Constraints make particles shake: what they have done for longer says more, if it leads here just as well.
            let mean = (to - self.common - vector(self.step_start[slot])) / age;
            let difference = (mean - velocity).norm() * h;
            if difference < 0.5 * self.slack {
                velocity = mean;
                self.deviated = self.deviated.max(difference);
            }
            fastest = fastest.max((velocity - self.drift).norm());
            let start = to - self.common - velocity * self.line_time;
            self.lines.velocity[slot] = [velocity.x, velocity.y, velocity.z, 0.0];
            self.lines.start[slot] = [start.x, start.y, start.z, 0.0];
        }
        if self.horizon <= 2.0 * self.most_time(fastest) && self.list_strays(h) {
            farthest
        } else {
            f32::INFINITY
        }
    }

    /// Lists what has used up most of its slack if anything has used up all of it; answers how far the rest is at most, m.
    ///
    /// What that rest has in common is taken for what all have.
    fn find_strays(&mut self) -> f32 {
        self.strays.clear();
        let limit = SPENT * self.slack;
        let mut strays = std::mem::take(&mut self.strays);
        let found = dispatch!(self.level, simd => stray_from(
            simd, &self.points, &self.lines, self.line_time, self.common, limit * limit, &mut strays));
        self.strays = strays;
        let farthest = found.farthest.sqrt();
        if farthest <= self.slack {
            self.strays.clear();
            return farthest;
        }
        let rest = self.points.len() - self.strays.len();
        if rest > 0 {
            self.common += found.sum / rest as f32;
        }
        found.farthest_of_rest.sqrt()
    }

    /// Draws lines on to the end of the step at the velocities of late.
    pub(super) fn aim_on(&mut self, h: f32) {
        let age = self.step - self.remaining - h;
        for (slot, velocity) in self.lines.velocity.iter_mut().enumerate() {
            let start = &self.start[slot];
            if start[3] == 0.0 {
                *velocity = rate(start, &self.points[slot], h);
            } else if age > 0.2 * self.step {
                *velocity = rate(&self.step_start[slot], start, age);
            } else {
                *velocity = self.mean_velocity[slot];
            }
        }
        self.draw_lines(h + self.remaining, h);
        self.line_time = h;
        self.keeper.draws += 1;
    }

    /// Draws lines that are this substep's motion, and serve no longer; if asked, with slack for whatever part of it is cut.
    pub(super) fn aim_here(&mut self, h: f32, is_wide: bool) {
        let rows = self
            .lines
            .velocity
            .iter_mut()
            .zip(&self.start)
            .zip(&self.points);
        for ((velocity, start), point) in rows {
            *velocity = rate(start, point, h);
        }
        if is_wide {
            let mut reach = [0.0f32; 3];
            for (start, point) in self.start.iter().zip(&self.points) {
                for axis in 0..3 {
                    reach[axis] = reach[axis].max((point[axis] - start[axis]).abs());
                }
            }
            self.slack = self.slack.max(1.01 * Vec3::from(reach).norm());
        }
        self.draw_lines(h, h);
        self.line_time = h;
        self.keeper.draws += 1;
    }
}

/// The least and the greatest difference along each axis of points from where their lines would have them.
#[inline(always)]
fn deviations<S: Simd>(simd: S, points: &[[f32; 4]], lines: &Lines, time: f32) -> [[f32; 3]; 2] {
    let mut low = f32x4::splat(simd, f32::INFINITY);
    let mut high = f32x4::splat(simd, f32::NEG_INFINITY);
    for ((point, start), velocity) in points.iter().zip(&lines.start).zip(&lines.velocity) {
        let expected = f32x4::from_slice(simd, start) + f32x4::from_slice(simd, velocity) * time;
        let deviation = f32x4::from_slice(simd, point) - expected;
        low = low.min(deviation);
        high = high.max(deviation);
    }
    let [low, high]: [[f32; 4]; 2] = [low.into(), high.into()];
    [[low[0], low[1], low[2]], [high[0], high[1], high[2]]]
}

/// What a search for strays finds besides them.
struct Found {
    /// Of what the rest differs by, m.
    sum: Vec3,
    /// Squares of the most that anything differs by, and that any of the rest does, m².
    farthest: f32,
    farthest_of_rest: f32,
}

/// Appends what differs from its line by more than the root of `limit` beyond what is common.
#[inline(always)]
fn stray_from<S: Simd>(
    simd: S,
    points: &[[f32; 4]],
    lines: &Lines,
    time: f32,
    common: Vec3,
    limit: f32,
    strays: &mut Vec<u32>,
) -> Found {
    let common = f32x4::from_slice(simd, &[common.x, common.y, common.z, 0.0]);
    let mut sum = f32x4::splat(simd, 0.0);
    let (mut farthest, mut farthest_of_rest) = (0.0f32, 0.0f32);
    let rows = points.iter().zip(&lines.start).zip(&lines.velocity);
    for (slot, ((point, start), velocity)) in rows.enumerate() {
        let expected = f32x4::from_slice(simd, start) + f32x4::from_slice(simd, velocity) * time;
        let deviation = f32x4::from_slice(simd, point) - expected - common;
        let [x, y, z, _]: [f32; 4] = (deviation * deviation).into();
        let squared = x + y + z;
        if squared > limit {
            strays.push(slot as u32);
            farthest = farthest.max(squared);
        } else {
            sum += deviation;
            farthest_of_rest = farthest_of_rest.max(squared);
        }
    }
    let [x, y, z, _]: [f32; 4] = sum.into();
    Found {
        sum: Vec3::new(x, y, z),
        farthest: farthest.max(farthest_of_rest),
        farthest_of_rest,
    }
}
