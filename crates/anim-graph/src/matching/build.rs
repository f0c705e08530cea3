//! Building a motion database: reading clips frame by frame, and making their features comparable.

use anim_skeleton::Skeleton;

use super::database::{DatabaseClip, MatchingClip, MotionDatabase};
use super::features::{Layout, find};
use super::ground::Ground;
use super::index::FrameIndex;
use super::motion::{Frames, Motion, Reader};
use super::{FeatureSpec, MatchingError};

/// The most frames of a database.
const MOST_FRAMES: usize = 1 << 24;

impl MotionDatabase {
    /// Reads the features of every frame of `clips`, about `rate` a second, and makes them comparable.
    ///
    /// Every feature is centred on its mean in the library and divided by its deviation, the root of the mean variance of
    /// its dimensions, so that feet and trajectories count alike whatever their units. Features that vary by less than a
    /// thousandth of the skeleton's size tell nothing apart and are left out of comparisons.
    ///
    /// For loading: a minute of motion takes some milliseconds.
    ///
    /// # Errors
    ///
    /// [`MatchingError::OutOfRange`] for a number of the spec or a rate outside [1, 240]; [`MatchingError::NoJoint`],
    /// [`MatchingError::NoFeatures`] and [`MatchingError::NoHeading`] for a spec that does not fit the skeleton;
    /// [`MatchingError::JointCount`], [`MatchingError::TooManyFrames`] and [`MatchingError::NotFinite`] with the clip at
    /// fault; [`MatchingError::NoFrames`] if nothing can be found.
    pub fn new(
        skeleton: &Skeleton,
        clips: &[MatchingClip<'_>],
        spec: &FeatureSpec,
        rate: f32,
    ) -> Result<Self, MatchingError> {
        spec.check()?;
        if !(1.0..=240.0).contains(&rate) {
            let what = "rate";
            return Err(MatchingError::OutOfRange { what, value: rate });
        }
        let layout = Layout::new(skeleton, spec)?;
        let mut reader = Reader::new(skeleton, find(skeleton, &spec.root)?, spec.forward)?;
        let mut library = Library::default();
        for (clip, given) in clips.iter().enumerate() {
            check_clip(skeleton, clip, given)?;
            let frames = Frames::of(given.clip, rate, given.looping);
            if frames.count > MOST_FRAMES - library.tags.len() {
                return Err(MatchingError::TooManyFrames {
                    clip,
                    name: given.name.to_owned(),
                    limit: MOST_FRAMES,
                });
            }
            let motion = reader.read(given.clip, frames, &layout, spec.smoothing);
            library.add(clip, given, frames, &motion, &layout, spec)?;
        }
        if library.tags.iter().all(Option::is_none) {
            return Err(MatchingError::NoFrames);
        }
        Ok(library.normalize(&layout, reader.reach * 1e-3))
    }
}

/// The frames read so far.
#[derive(Debug, Default)]
struct Library {
    clips: Vec<DatabaseClip>,
    grounds: Vec<Ground>,
    tags: Vec<Option<u32>>,
    /// N × D, natural units.
    rows: Vec<f64>,
}

impl Library {
    fn add(
        &mut self,
        clip: usize,
        given: &MatchingClip<'_>,
        frames: Frames,
        motion: &Motion,
        layout: &Layout,
        spec: &FeatureSpec,
    ) -> Result<(), MatchingError> {
        let start = self.tags.len();
        for frame in 0..frames.count {
            let row = self.rows.len();
            motion.features(frame, layout, spec.ends, &mut self.rows);
            if !self.rows[row..].iter().all(|value| value.is_finite()) {
                return Err(MatchingError::NotFinite {
                    clip,
                    name: given.name.to_owned(),
                    frame,
                });
            }
            let remaining = (frames.count - 1 - frame) as f64 * frames.step;
            // A frame's worth of rounding must not decide.
            let enough = remaining + 1e-3 * frames.step >= f64::from(spec.min_remaining);
            self.tags
                .push((frames.loops || enough).then_some(given.tags));
            self.grounds.push(motion.ground(frame));
        }
        self.clips.push(DatabaseClip {
            name: given.name.to_owned(),
            tags: given.tags,
            looping: frames.loops,
            frames: start..self.tags.len(),
            step: frames.step,
        });
        Ok(())
    }

    /// Centres and scales the rows; `least` is the deviation, metres, below which a feature does not vary.
    fn normalize(self, layout: &Layout, least: f64) -> MotionDatabase {
        let dimensions = layout.dimensions();
        let mut mean = vec![0.0; dimensions];
        for row in self.rows.chunks_exact(dimensions) {
            mean.iter_mut()
                .zip(row)
                .for_each(|(mean, value)| *mean += value);
        }
        mean.iter_mut()
            .for_each(|mean| *mean /= self.tags.len() as f64);
        let features = layout.measure(&self.rows, &mean, least);
        let mut scale = vec![0.0; dimensions];
        for feature in features.iter().filter(|feature| feature.varies) {
            scale[feature.dimensions.clone()]
                .fill(f64::from(feature.weight) / f64::from(feature.deviation));
        }
        let normal = mean.iter().zip(&scale);
        let rows: Vec<f32> = self
            .rows
            .chunks_exact(dimensions)
            .flat_map(|row| row.iter().zip(normal.clone()))
            .map(|(value, (mean, scale))| ((value - mean) * scale) as f32)
            .collect();
        let groups = features
            .iter()
            .map(|feature| feature.dimensions.len())
            .collect();
        MotionDatabase {
            times: layout.times.clone(),
            features,
            mean,
            scale,
            clips: self.clips,
            grounds: self.grounds,
            index: FrameIndex::new(groups, &rows, self.tags),
        }
    }
}

fn check_clip(
    skeleton: &Skeleton,
    clip: usize,
    given: &MatchingClip<'_>,
) -> Result<(), MatchingError> {
    let found = given.clip.joint_count();
    if found == skeleton.len() {
        return Ok(());
    }
    Err(MatchingError::JointCount {
        clip,
        name: given.name.to_owned(),
        expected: skeleton.len(),
        found,
    })
}
