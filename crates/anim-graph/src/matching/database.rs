//! The motion database: every frame of a clip library as a row of features, and searches among them.

use std::ops::Range;

use anim_math::Transform;
use anim_math::lanes::Level;
use anim_skeleton::Clip;

use super::TrajectoryPoint;
use super::features::{Feature, FeatureKind};
use super::ground::Ground;
use super::index::{Allowed, FrameIndex, Nearest};

/// The greatest value of a query, in weighted deviations: beyond it costs would overflow.
const GREATEST: f32 = 1e12;

/// A clip for a database.
#[derive(Clone, Copy, Debug)]
pub struct MatchingClip<'a> {
    /// For people; need not be unique.
    pub name: &'a str,
    /// With its motion over the ground in it.
    pub clip: &'a Clip,
    /// Bits of your own meaning, such as crouched or armed, for searches to ask for.
    pub tags: u32,
    /// True if its end goes on at its start, wherever the character is by then.
    pub looping: bool,
}

/// A clip in a database.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseClip {
    /// As given.
    pub name: String,
    /// As given.
    pub tags: u32,
    /// As given.
    pub looping: bool,
    /// Its frames in the database.
    pub frames: Range<usize>,
    /// Seconds between frames: 1 / rate, and of a loop as near to that as makes frames come out even.
    pub step: f64,
}

/// A library of clips, ready to search: immutable, shared by any number of characters.
#[derive(Clone, Debug)]
pub struct MotionDatabase {
    pub(super) times: Vec<f32>,
    pub(super) features: Vec<Feature>,
    /// For each dimension the mean, and weight / deviation, or 0 if the feature does not vary.
    pub(super) mean: Vec<f64>,
    pub(super) scale: Vec<f64>,
    pub(super) clips: Vec<DatabaseClip>,
    pub(super) grounds: Vec<Ground>,
    pub(super) index: FrameIndex,
}

/// What to look for: a row of features, as weighted deviations from the mean.
///
/// Made by [`MotionDatabase::query`] and changed by its `set` functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Query(Vec<f32>);

/// Which frames a search may return.
#[derive(Clone, Copy, Debug, Default)]
pub struct Search<'a> {
    /// Bits that a frame's clip must carry, all of them; 0 admits every frame.
    pub tags: u32,
    /// Frames to leave out.
    pub ignore: &'a [Range<usize>],
    /// The frame that plays.
    pub current: Option<Current>,
}

/// The frame that plays, which stays if nothing is better by a margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Current {
    /// In the database; it may be one that searches do not return, but must carry the tags to stay.
    pub frame: usize,
    /// What another frame's cost must be lower by; if it is NaN the current frame stays.
    pub bias: f32,
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// In the database.
    pub frame: usize,
    /// Index of the clip.
    pub clip: usize,
    /// Seconds into the clip.
    pub time: f32,
    /// Squared distance to the query, in weighted deviations, without bias.
    pub cost: f32,
}

impl MotionDatabase {
    /// Number of frames, N; at least 1.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// False: a database has frames.
    pub fn is_empty(&self) -> bool {
        self.index.len() == 0
    }

    /// The clips, in the order given.
    pub fn clips(&self) -> &[DatabaseClip] {
        &self.clips
    }

    /// The features, in the order of a row: those of the trajectory first, then those of joints as the spec lists them.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The trajectory times, s.
    pub fn trajectory_times(&self) -> &[f32] {
        &self.times
    }

    /// The clip of `frame` and the seconds into it.
    ///
    /// # Panics
    ///
    /// If there is no such frame.
    pub fn locate(&self, frame: usize) -> (usize, f32) {
        assert!(frame < self.len(), "no such frame");
        let clip = self.clips.partition_point(|clip| clip.frames.end <= frame);
        let DatabaseClip { frames, step, .. } = &self.clips[clip];
        (clip, ((frame - frames.start) as f64 * step) as f32)
    }

    /// The frame of `clip` nearest to `time`, s, clamped to the clip; of a loop the end is the start.
    ///
    /// # Panics
    ///
    /// If there is no such clip.
    pub fn frame(&self, clip: usize, time: f32) -> usize {
        let DatabaseClip {
            frames,
            step,
            looping,
            ..
        } = &self.clips[clip];
        let place = libm::round(f64::from(time.max(0.0)) / step) as usize;
        if *looping && place == frames.len() {
            return frames.start;
        }
        frames.start + place.min(frames.len() - 1)
    }

    /// `model_from_character` at `frame`, in the model space of its clip: rigid, on the ground, facing the heading.
    ///
    /// A pose of the clip is put where the character stands by `world_from_character · model_from_character⁻¹`.
    ///
    /// # Panics
    ///
    /// If there is no such frame.
    pub fn model_from_character(&self, frame: usize) -> Transform {
        self.grounds[frame].transform()
    }

    /// True if searches for `tags` may return `frame`.
    ///
    /// # Panics
    ///
    /// If there is no such frame.
    pub fn can_find(&self, frame: usize, tags: u32) -> bool {
        self.index.carries(frame, tags)
    }

    /// The row of `frame`: D values, weighted deviations from the mean.
    ///
    /// # Panics
    ///
    /// If there is no such frame.
    pub fn row(&self, frame: usize) -> impl ExactSizeIterator<Item = f32> {
        self.index.row(frame)
    }

    /// The values of `feature` at `frame` in natural units; the mean if the feature does not vary.
    ///
    /// # Panics
    ///
    /// If there is no such frame or feature.
    pub fn values(&self, frame: usize, feature: usize) -> impl Iterator<Item = f32> {
        let range = self.features[feature].dimensions.clone();
        let row = self.index.row(frame).enumerate();
        row.skip(range.start)
            .take(range.len())
            .map(|(dimension, value)| {
                let scale = self.scale[dimension];
                let away = if scale > 0.0 {
                    f64::from(value) / scale
                } else {
                    0.0
                };
                (self.mean[dimension] + away) as f32
            })
    }

    /// A query for the mean of the library.
    pub fn query(&self) -> Query {
        Query(vec![0.0; self.mean.len()])
    }

    /// A query for `frame` itself.
    ///
    /// # Panics
    ///
    /// If there is no such frame.
    pub fn query_of(&self, frame: usize) -> Query {
        Query(self.row(frame).collect())
    }

    /// Makes `query` ask for the joints of `frame`; the trajectory stays. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If there is no such frame, or `query` is of another database.
    pub fn set_pose(&self, frame: usize, query: &mut Query) {
        assert_eq!(query.0.len(), self.mean.len(), "query of another database");
        let start = self.joint_dimensions().start;
        let row = self.row(frame).skip(start);
        query.0[start..]
            .iter_mut()
            .zip(row)
            .for_each(|(value, own)| *value = own);
    }

    /// Makes `query` ask for a trajectory, one point for each of the times; the joints stay. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If there are more or fewer points than trajectory times, or `query` is of another database.
    pub fn set_trajectory(&self, trajectory: &[TrajectoryPoint], query: &mut Query) {
        assert_eq!(
            trajectory.len(),
            self.times.len(),
            "trajectory of other times"
        );
        assert_eq!(query.0.len(), self.mean.len(), "query of another database");
        for feature in &self.features {
            let mut dimensions = feature.dimensions.clone();
            for point in trajectory {
                let values = match feature.kind {
                    FeatureKind::TrajectoryPosition => point.position,
                    FeatureKind::TrajectoryDirection => point.direction,
                    _ => break,
                };
                for (value, dimension) in values.into_iter().zip(dimensions.by_ref()) {
                    query.0[dimension] = self.normalized(dimension, value);
                }
            }
        }
    }

    /// Makes `query` ask for `values` of one feature, natural units.
    ///
    /// # Panics
    ///
    /// If there is no such feature, it has another number of dimensions, or `query` is of another database.
    pub fn set(&self, feature: usize, values: &[f32], query: &mut Query) {
        let dimensions = self.features[feature].dimensions.clone();
        assert_eq!(values.len(), dimensions.len(), "values of another feature");
        assert_eq!(query.0.len(), self.mean.len(), "query of another database");
        for (value, dimension) in values.iter().zip(dimensions) {
            query.0[dimension] = self.normalized(dimension, *value);
        }
    }

    /// The allowed frame of the least cost, of equally good ones the first; exact.
    ///
    /// The current frame, if one is given and carries the tags, stays unless another is cheaper by more than the bias.
    /// `None` if no frame is allowed, or the query is not finite or absurd (over 10¹² deviations). Ten thousand frames
    /// take some microseconds; allocates nothing.
    ///
    /// # Panics
    ///
    /// If there is no such current frame, or `query` is of another database.
    pub fn search(&self, query: &Query, search: &Search<'_>) -> Option<Match> {
        self.search_with(query, search, FrameIndex::nearest)
    }

    /// As [`search`](Self::search), with the same answer, but looking at every frame: the reference.
    ///
    /// # Panics
    ///
    /// As `search`.
    pub fn search_exhaustive(&self, query: &Query, search: &Search<'_>) -> Option<Match> {
        self.search_with(query, search, FrameIndex::nearest_of_all)
    }

    /// What each feature adds to the cost of `frame`; added up in order it is the cost a search gives, to the bit.
    ///
    /// # Panics
    ///
    /// If there is no such frame, or `query` is of another database.
    pub fn explain<'a>(
        &'a self,
        frame: usize,
        query: &'a Query,
    ) -> impl Iterator<Item = (&'a Feature, f32)> {
        assert_eq!(query.0.len(), self.mean.len(), "query of another database");
        self.features.iter().zip(self.index.costs(frame, &query.0))
    }

    /// The cost of `frame`: its squared distance to the query, in weighted deviations.
    ///
    /// # Panics
    ///
    /// If there is no such frame, or `query` is of another database.
    pub fn cost(&self, frame: usize, query: &Query) -> f32 {
        self.explain(frame, query)
            .fold(0.0, |sum, (_, cost)| sum + cost)
    }

    fn search_with(
        &self,
        query: &Query,
        search: &Search<'_>,
        nearest: impl FnOnce(&FrameIndex, Level, &[f32], Allowed<'_>, f32) -> Option<Nearest>,
    ) -> Option<Match> {
        assert_eq!(query.0.len(), self.mean.len(), "query of another database");
        if !query.0.iter().all(|value| value.abs() <= GREATEST) {
            return None;
        }
        let current = search
            .current
            .filter(|current| self.tags(current.frame) & search.tags == search.tags)
            .map(|current| (current, self.cost(current.frame, query)));
        let limit = current.map_or(f32::INFINITY, |(current, cost)| cost - current.bias);
        let limit = if limit.is_nan() {
            f32::NEG_INFINITY
        } else {
            limit
        };
        let allowed = Allowed {
            tags: search.tags,
            ignore: search.ignore,
        };
        let stay = current.map(|(Current { frame, .. }, cost)| Nearest { cost, frame });
        let Nearest { cost, frame } =
            nearest(&self.index, Level::new(), &query.0, allowed, limit).or(stay)?;
        let (clip, time) = self.locate(frame);
        Some(Match {
            frame,
            clip,
            time,
            cost,
        })
    }

    fn tags(&self, frame: usize) -> u32 {
        self.clips[self.locate(frame).0].tags
    }

    fn normalized(&self, dimension: usize, value: f32) -> f32 {
        ((f64::from(value) - self.mean[dimension]) * self.scale[dimension]) as f32
    }

    /// The dimensions of joints, which follow those of the trajectory.
    pub(crate) fn joint_dimensions(&self) -> Range<usize> {
        let is_trajectory = |feature: &&Feature| {
            matches!(
                feature.kind,
                FeatureKind::TrajectoryPosition | FeatureKind::TrajectoryDirection
            )
        };
        let trajectory = self.features.iter().take_while(is_trajectory).last();
        trajectory.map_or(0, |feature| feature.dimensions.end)..self.mean.len()
    }
}

impl Query {
    /// D values, as weighted deviations from the mean.
    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// Becomes `other`, of the same database. Allocates nothing, unlike `clone_from`.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.0.copy_from_slice(&other.0);
    }

    /// How far apart, squared, two queries are in some dimensions.
    pub(crate) fn squared_distance(&self, other: &Self, dimensions: Range<usize>) -> f32 {
        let pairs = self.0[dimensions.clone()].iter().zip(&other.0[dimensions]);
        pairs.fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b))
    }
}
