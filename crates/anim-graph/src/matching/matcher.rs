//! The matcher: which frame of a database one character plays, and when it jumps.
//!
//! It plays the frame it is at until a better one is worth the jump: it asks the database every few frames, at once when
//! the trajectory asked for changes, and when a clip ends or loses its tags. What it returns is a clip and a time to sample,
//! and whether it jumped; smoothing the jump, for example by inertialisation, is the caller's.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::database::{Current, Match, MotionDatabase, Query, Search};
use super::locomotion::TrajectoryPoint;

/// How often a matcher searches, and what it leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatcherOptions {
    /// Seconds between searches; 0 searches at each step.
    pub interval: f32,
    /// A trajectory that is this far, squared and in weighted deviations, from the one last searched for is searched for at
    /// once.
    pub change: f32,
    /// What the cost of another frame must be lower by than that of going on; keeps it from jumping for nothing.
    pub bias: f32,
    /// Seconds around the current frame, and around those jumped to lately, that it does not jump to.
    pub ignore: f32,
    /// Seconds during which a frame counts as jumped to lately.
    pub history: f32,
}

/// What a character plays from a motion database.
#[derive(Clone, Debug)]
pub struct MotionMatcher {
    options: MatcherOptions,
    clip: usize,
    /// Seconds into the clip.
    time: f64,
    /// Seconds since the last search; infinite before the first.
    since_search: f64,
    /// What was searched for last.
    asked: Query,
    /// What is searched for now.
    query: Query,
    /// Frames jumped to, and the seconds since.
    jumps: [(usize, f64); JUMPS],
    /// Scratch: frames to leave out.
    ignore: Vec<Range<usize>>,
}

/// Jumps remembered.
const JUMPS: usize = 8;

/// What to play after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatcherStep {
    /// Index of the clip.
    pub clip: usize,
    /// Seconds into the clip.
    pub time: f32,
    /// The nearest frame of the database.
    pub frame: usize,
    /// Set if it jumped: where to, and at what cost.
    pub jump: Option<Match>,
}

impl Default for MatcherOptions {
    /// Ten searches a second, more when asked for something else.
    fn default() -> Self {
        Self {
            interval: 0.1,
            change: 1.0,
            bias: 0.1,
            ignore: 0.33,
            history: 0.5,
        }
    }
}

impl MotionMatcher {
    /// Stands at the first frame that can be found; the first step searches.
    pub fn new(database: &MotionDatabase, options: MatcherOptions) -> Self {
        let first = (0..database.len()).find(|frame| database.can_find(*frame, 0));
        let first = first.unwrap_or_default();
        let (clip, time) = database.locate(first);
        Self {
            options,
            clip,
            time: f64::from(time),
            since_search: f64::INFINITY,
            asked: database.query_of(first),
            query: database.query_of(first),
            jumps: [(0, f64::INFINITY); JUMPS],
            ignore: Vec::with_capacity(JUMPS + 1),
        }
    }

    /// The frame of the database nearest to what plays.
    pub fn frame(&self, database: &MotionDatabase) -> usize {
        database.frame(self.clip, self.time as f32)
    }

    /// What was searched for last, for [`MotionDatabase::explain`].
    pub fn asked(&self) -> &Query {
        &self.asked
    }

    /// Plays on for `dt` s towards `trajectory`, a point for each trajectory time of the database, within clips that carry
    /// all `tags`.
    ///
    /// At the end of a clip it stays if nothing can be found. A step that is negative or not finite moves nothing; of a
    /// trajectory that is not finite the last one that was stands. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If there are more or fewer points than trajectory times, or `database` is not the one it was made for.
    pub fn step(
        &mut self,
        database: &MotionDatabase,
        trajectory: &[TrajectoryPoint],
        tags: u32,
        dt: f32,
    ) -> MatcherStep {
        let dt = f64::from(if dt.is_finite() { dt.max(0.0) } else { 0.0 });
        let ended = self.play(database, dt);
        let at = self.frame(database);
        database.set_pose(at, &mut self.query);
        let mut numbers = trajectory
            .iter()
            .flat_map(|point| [point.position, point.direction]);
        if numbers.all(|[x, z]| x.is_finite() && z.is_finite()) {
            database.set_trajectory(trajectory, &mut self.query);
        }
        let must = ended || database.clips()[self.clip].tags & tags != tags;
        let mut jump = None;
        if must || self.since_search >= f64::from(self.options.interval) || self.changed(database) {
            jump = self.search(database, at, tags, must);
            self.since_search = 0.0;
            self.asked.copy_from(&self.query);
        }
        if let Some(Match {
            clip, time, frame, ..
        }) = jump
        {
            self.clip = clip;
            self.time = f64::from(time);
            self.remember(frame);
        }
        MatcherStep {
            clip: self.clip,
            time: self.time as f32,
            frame: self.frame(database),
            jump,
        }
    }

    /// Moves on in time, and tells whether the clip has ended.
    fn play(&mut self, database: &MotionDatabase, dt: f64) -> bool {
        self.since_search += dt;
        for (_, since) in &mut self.jumps {
            *since += dt;
        }
        let clip = &database.clips()[self.clip];
        self.time += dt;
        if clip.looping {
            self.time %= clip.step * clip.frames.len() as f64;
            return false;
        }
        let end = clip.step * (clip.frames.len() - 1) as f64;
        let ended = self.time >= end;
        self.time = self.time.min(end);
        ended
    }

    /// True if the trajectory asked for is not that of the last search.
    fn changed(&self, database: &MotionDatabase) -> bool {
        let trajectory = 0..database.joint_dimensions().start;
        self.query.squared_distance(&self.asked, trajectory) > self.options.change
    }

    /// A frame to jump to.
    fn search(
        &mut self,
        database: &MotionDatabase,
        at: usize,
        tags: u32,
        must: bool,
    ) -> Option<Match> {
        self.ignore.clear();
        self.ignore.push(self.around(database, at));
        let history = f64::from(self.options.history);
        for place in 0..JUMPS {
            let (frame, since) = self.jumps[place];
            if since < history {
                self.ignore.push(self.around(database, frame));
            }
        }
        let current = Current {
            frame: at,
            bias: self.options.bias,
        };
        let mut search = Search {
            tags,
            ignore: &self.ignore,
            current: (!must).then_some(current),
        };
        let mut found = database.search(&self.query, &search);
        if must && found.is_none() {
            // Better a frame it has just left than none.
            search.ignore = &[];
            found = database.search(&self.query, &search);
        }
        found.filter(|found| found.frame != at)
    }

    /// The frames of a clip around `frame`.
    fn around(&self, database: &MotionDatabase, frame: usize) -> Range<usize> {
        let clip = &database.clips()[database.locate(frame).0];
        let reach = (f64::from(self.options.ignore) / clip.step) as usize;
        let start = frame.saturating_sub(reach).max(clip.frames.start);
        start
            ..frame
                .saturating_add(reach)
                .saturating_add(1)
                .min(clip.frames.end)
    }

    /// Keeps a jump in place of the oldest.
    fn remember(&mut self, frame: usize) {
        self.jumps.rotate_right(1);
        self.jumps[0] = (frame, 0.0);
    }
}
