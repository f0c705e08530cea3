//! One foot over a clip: where it goes, when it stands and where it should.

use std::ops::Range;

use anim_math::{Affine, Quat, Vec3, quat};
use anim_skeleton::{Globals, JointId};

use crate::foot_lock::{slope, smoothstep};
use crate::{Foot, FootMotion, Ground};

/// A time in which a foot stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Plant {
    /// All of it.
    pub frames: Range<usize>,
    /// From this frame on the ball stands, before it the heel; the end of the frames if it never does.
    pub ball_from: usize,
    /// Where the ball stands, or the heel if the ball never does, world space, m.
    pub position: Vec3,
    /// What the ground is like there.
    pub ground: Ground,
    /// How high over it the point is, along the normal, m.
    pub height: f32,
    /// What is added to the heel's place over the clip's plane until the ball stands, so that the foot does not jump then.
    heel: Vec3,
}

impl Plant {
    /// The same counted from where the round `own` of a loop begins, if it begins there.
    pub(crate) fn of_round(mut self, own: &Range<usize>) -> Option<Self> {
        // What outlasts a round stands for ever.
        if self.frames.start < own.start && self.frames.end > own.end {
            self.frames = own.clone();
        }
        if !own.contains(&self.frames.start) {
            return None;
        }
        self.ball_from = self.ball_from.max(self.frames.start) - own.start;
        self.frames = self.frames.start - own.start..self.frames.end - own.start;
        Some(self)
    }
}

/// A foot over a clip, world space, and what is to be done with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Track {
    pub(crate) hip: Vec<Vec3>,
    pub(crate) knee: Vec<Vec3>,
    pub(crate) ankle: Vec<Vec3>,
    pub(crate) rotation: Vec<Quat>,
    pub(crate) heel: Vec<Vec3>,
    pub(crate) ball: Vec<Vec3>,
    /// Height of the clip's plane.
    plane: Vec<f32>,
    pub(crate) plants: Vec<Plant>,
    /// What is added to the foot over the clip's plane.
    shift: Vec<Vec3>,
    /// What the ground adds to the plane, and how it is turned.
    pub(crate) rise: Vec<f32>,
    slope: Vec<Quat>,
}

impl Track {
    /// Adds a frame.
    pub(crate) fn push(
        &mut self,
        foot: &Foot,
        heel: Vec3,
        world_from_model: &Affine,
        globals: &Globals,
    ) {
        let at = |joint: JointId| *world_from_model * globals.get(joint);
        let ankle = at(foot.ankle);
        self.hip.push(at(foot.leg.root).translation);
        self.knee.push(at(foot.leg.mid).translation);
        self.ankle.push(ankle.translation);
        self.rotation.push(ankle.to_transform().rotation);
        self.heel.push(ankle.transform_point(heel));
        self.ball
            .push(at(foot.toes.unwrap_or(foot.ankle)).translation);
        self.plane.push(world_from_model.translation.y);
    }

    /// The longest that thigh and shin are together, m.
    pub(crate) fn leg_length(&self) -> f32 {
        let bones = self.hip.iter().zip(&self.knee).zip(&self.ankle);
        let lengths = bones.map(|((hip, knee), ankle)| (knee - hip).norm() + (ankle - knee).norm());
        lengths.fold(0.0, f32::max)
    }

    pub(crate) fn stands(&self, frame: usize) -> bool {
        self.plants
            .iter()
            .any(|plant| plant.frames.contains(&frame))
    }

    /// Where the ankle should be, and how the ground turns the foot; `None` if the foot never stands.
    pub(crate) fn wanted(&self, frame: usize) -> Option<(Vec3, Quat)> {
        if self.plants.is_empty() {
            return None;
        }
        let (ball, slope) = (self.ball[frame], self.slope[frame]);
        let over_plane = ball - Vec3::y() * self.plane[frame] + self.shift[frame];
        let flat = Vec3::new(
            over_plane.x,
            self.plane[frame] + self.rise[frame],
            over_plane.z,
        );
        let ball_wanted = flat + slope * (Vec3::y() * over_plane.y);
        Some((ball_wanted + slope * (self.ankle[frame] - ball), slope))
    }

    /// Finds plants in the frames in which heel and ball stand, and what to do in every frame.
    pub(crate) fn plan(
        &mut self,
        heel: &[Range<usize>],
        ball: &[Range<usize>],
        motion: &FootMotion<'_>,
        blend: usize,
    ) {
        self.plants.clear();
        let mut free_from = 0;
        for ball in ball {
            let touching = |heel: &&Range<usize>| heel.start < ball.start && heel.end >= ball.start;
            let start = heel
                .iter()
                .find(touching)
                .map_or(ball.start, |heel| heel.start);
            let frames = start.max(free_from)..ball.end;
            free_from = ball.end;
            self.plants.push(self.plant(frames, ball.start, motion));
        }
        let free = |heel: &&Range<usize>| {
            let mut plants = self.plants.iter();
            plants.all(|plant| plant.frames.end <= heel.start || plant.frames.start >= heel.end)
        };
        let alone: Vec<Range<usize>> = heel.iter().filter(free).cloned().collect();
        for heel in alone {
            self.plants.push(self.plant(heel.clone(), heel.end, motion));
        }
        self.plants.sort_by_key(|plant| plant.frames.start);
        let frames = self.ball.len();
        self.shift = (0..frames)
            .map(|frame| self.shift_at(frame, blend))
            .collect();
        let ground: Vec<(f32, Quat)> = (0..frames).map(|frame| self.ground_at(frame)).collect();
        self.rise = ground.iter().map(|(rise, _)| *rise).collect();
        self.slope = ground.iter().map(|(_, slope)| *slope).collect();
        self.clear_obstacles(motion);
    }

    fn plant(&self, frames: Range<usize>, ball_from: usize, motion: &FootMotion<'_>) -> Plant {
        let stands = if ball_from < frames.end {
            &self.ball
        } else {
            &self.heel
        };
        let from = if ball_from < frames.end {
            ball_from
        } else {
            frames.start
        };
        let over_plane = |frame: usize| stands[frame] - Vec3::y() * self.plane[frame];
        let points = || (from..frames.end).map(over_plane);
        let mean = points().sum::<Vec3>() / (frames.end - from) as f32;
        // The lowest is where it is really down.
        let height = points().map(|point| point.y).fold(f32::INFINITY, f32::min);
        let place = Vec3::new(mean.x, height, mean.z);
        let plane = self.plane[from];
        let ground = (motion.ground)(Vec3::new(place.x, plane, place.z));
        let ground = ground.unwrap_or(Ground {
            height: plane,
            normal: Vec3::y(),
        });
        let position = Vec3::new(place.x, ground.height, place.z)
            + slope(ground.normal) * (Vec3::y() * height);
        let heel = if from > frames.start {
            place - over_plane(from) + self.heel[from] - Vec3::y() * self.plane[from]
        } else {
            place
        };
        Plant {
            frames,
            ball_from,
            position,
            ground,
            height,
            heel,
        }
    }

    /// What a plant adds to a frame of its own.
    fn shift_of(&self, plant: &Plant, frame: usize) -> Vec3 {
        let plane = Vec3::y() * self.plane[frame];
        if frame < plant.ball_from {
            plant.heel - (self.heel[frame] - plane)
        } else {
            let level = plant.position - slope(plant.ground.normal) * (Vec3::y() * plant.height);
            Vec3::new(level.x, plant.height, level.z) - (self.ball[frame] - plane)
        }
    }

    /// What is added in a frame: the plant's, or what is left of the one before and there already of the one after.
    fn shift_at(&self, frame: usize, blend: usize) -> Vec3 {
        let next = self
            .plants
            .partition_point(|plant| plant.frames.start <= frame);
        let (before, after) = (
            next.checked_sub(1).map(|last| &self.plants[last]),
            self.plants.get(next),
        );
        if let Some(plant) = before.filter(|plant| plant.frames.contains(&frame)) {
            return self.shift_of(plant, frame);
        }
        let gap = match (before, after) {
            (Some(before), Some(after)) => after.frames.start - before.frames.end + 1,
            _ => usize::MAX,
        };
        let span = blend.max(1).min(gap.div_ceil(2)) as f32;
        let left = before.map_or(Vec3::zeros(), |plant| {
            let last = plant.frames.end - 1;
            self.shift_of(plant, last) * (1.0 - smoothstep((frame - last) as f32 / span))
        });
        let there = after.map_or(Vec3::zeros(), |plant| {
            let first = plant.frames.start;
            self.shift_of(plant, first) * (1.0 - smoothstep((first - frame) as f32 / span))
        });
        left + there
    }

    /// The ground of a plant, or the way from the ground before to the ground after; over the clip's plane.
    fn ground_at(&self, frame: usize) -> (f32, Quat) {
        let next = self
            .plants
            .partition_point(|plant| plant.frames.start <= frame);
        let of = |plant: &Plant| {
            (
                plant.ground.height - self.plane[plant.frames.start],
                slope(plant.ground.normal),
            )
        };
        match (
            next.checked_sub(1).map(|last| &self.plants[last]),
            self.plants.get(next),
        ) {
            (Some(plant), _) if plant.frames.contains(&frame) => of(plant),
            (Some(before), Some(after)) => {
                let last = before.frames.end - 1;
                let way = (frame - last) as f32 / (after.frames.start - last) as f32;
                let ((low, from), (high, to)) = (of(before), of(after));
                let way = smoothstep(way);
                (low + (high - low) * way, quat::slerp(from, to, way))
            }
            (Some(plant), None) | (None, Some(plant)) => of(plant),
            (None, None) => (0.0, Quat::identity()),
        }
    }

    /// Lifts the swings over what lies below them; before the first plant and after the last, the foot stays up.
    fn clear_obstacles(&mut self, motion: &FootMotion<'_>) {
        let [Some(first), Some(last)] = [self.plants.first(), self.plants.last()] else {
            return;
        };
        let most = 0.4 * self.leg_length();
        let head = (0..first.frames.start, fall as fn(f32) -> f32);
        let tail = (last.frames.end..self.ball.len(), climb as fn(f32) -> f32);
        let between = self.plants.windows(2).map(|pair| {
            let swing = pair[0].frames.end..pair[1].frames.start;
            (swing, arch as fn(f32) -> f32)
        });
        let swings: Vec<_> = [head, tail].into_iter().chain(between).collect();
        for (swing, shape) in swings {
            let bump =
                |frame: usize| shape((frame + 1 - swing.start) as f32 / (swing.len() + 1) as f32);
            let short = |frame: usize| {
                let at = self.ball[frame] + self.shift[frame];
                let flat = Vec3::new(at.x, self.plane[frame], at.z);
                let ground = (motion.ground)(flat)?;
                // What the clip lifts the foot by counts for half, for the clip wants to be seen.
                let lift = 0.5 * (at.y - self.plane[frame]).max(0.0);
                Some((ground.height - flat.y - self.rise[frame] - lift) / bump(frame).max(0.3))
            };
            let lift = swing
                .clone()
                .filter_map(short)
                .fold(0.0, f32::max)
                .min(most);
            for frame in swing.clone() {
                self.rise[frame] += lift * bump(frame);
            }
        }
    }
}

/// How high a swing is lifted on its way from 0 to 1.
fn arch(way: f32) -> f32 {
    4.0 * way * (1.0 - way)
}

/// As [`arch`], of a foot that does not come down.
fn climb(way: f32) -> f32 {
    smoothstep(2.0 * way)
}

/// As [`arch`], of a foot that was not set off.
fn fall(way: f32) -> f32 {
    climb(1.0 - way)
}
