//! Thinning one track of a clip.

use anim_curves::{Distance, Fit, Interpolate, Interpolation, Key, Track, TrackSpec, fit, reduce};

use crate::reduce::{KeyChoice, ReduceOptions};
use crate::{JointId, JointTrack, Pose, Skeleton};

/// Tracks that are not refined key by key lose so much of their share instead.
const TIGHTENING: f32 = 0.5;
/// Below this share the source stays as it is.
const LEAST_SHARE: f32 = 1e-3;

/// A channel and what has become of it.
pub(crate) struct Thinning<'a> {
    pub(crate) joint: JointId,
    pub(crate) source: &'a JointTrack,
    /// `None` if the rest pose will do.
    pub(crate) track: Option<JointTrack>,
    /// The whole tolerance, in the track's own unit.
    tolerance: f32,
    /// The part of it that it may use.
    share: f32,
    /// Whether it must last as long as the source.
    holds_duration: bool,
}

impl<'a> Thinning<'a> {
    /// The source itself.
    pub(crate) fn new(
        joint: JointId,
        source: &'a JointTrack,
        tolerance: f32,
        holds_duration: bool,
    ) -> Self {
        Self {
            joint,
            source,
            track: Some(source.clone()),
            tolerance,
            share: 0.0,
            holds_duration,
        }
    }

    /// Makes the track anew, within `share` of the tolerance.
    pub(crate) fn thin(&mut self, share: f32, skeleton: &Skeleton, options: &ReduceOptions) {
        self.share = share;
        let tolerance = share * self.tolerance;
        if share < LEAST_SHARE || tolerance.is_nan() {
            self.track = Some(self.source.clone());
            return;
        }
        let rest = skeleton.rest().get(self.joint);
        let thinner = Thinner {
            tolerance,
            keys: options.keys,
            drop_rest: options.drop_rest,
            may_be_still: !self.holds_duration,
        };
        self.track = match self.source {
            JointTrack::Translation(track) => thinner
                .thin(track, rest.translation)
                .map(JointTrack::Translation),
            JointTrack::Rotation(track) => {
                thinner.thin(track, rest.rotation).map(JointTrack::Rotation)
            }
            JointTrack::Scale(track) => thinner.thin(track, rest.scale).map(JointTrack::Scale),
        };
    }

    /// Brings the track nearer to its source at `time`, where it errs: by the key of the source that is missing there, or
    /// by a smaller share if it is one key, or none, or fitted.
    pub(crate) fn refine(&mut self, time: f32, skeleton: &Skeleton, options: &ReduceOptions) {
        use JointTrack::{Rotation, Scale, Translation};
        let refined = match (self.source, &self.track) {
            (Translation(source), Some(Translation(track))) => {
                with_key_near(source, track, time).map(Translation)
            }
            (Rotation(source), Some(Rotation(track))) => {
                with_key_near(source, track, time).map(Rotation)
            }
            (Scale(source), Some(Scale(track))) => with_key_near(source, track, time).map(Scale),
            _ => None,
        };
        match refined {
            Some(track) => self.track = Some(track),
            None => self.thin(self.share * TIGHTENING, skeleton, options),
        }
    }

    /// Writes what the track does; what it leaves to the rest pose must be there.
    pub(crate) fn write(&self, time: f32, out: &mut Pose) {
        if let Some(track) = &self.track {
            track.write(time, self.joint, out);
        }
    }

    /// Keys it has.
    pub(crate) fn key_count(&self) -> usize {
        self.track.as_ref().map_or(0, |track| track.times().len())
    }

    /// How far the track is off at `time`, in whole tolerances; 0 for what cannot be refined.
    pub(crate) fn fault(&self, time: f32, skeleton: &Skeleton) -> f32 {
        if self.share < LEAST_SHARE {
            return 0.0;
        }
        let exact = self.source.at(time);
        let rest = || skeleton.rest().get(self.joint);
        let now = self
            .track
            .as_ref()
            .map_or_else(rest, |track| track.at(time));
        let distance = match self.source {
            JointTrack::Translation(_) => exact.translation.distance(now.translation),
            JointTrack::Rotation(_) => exact.rotation.distance(now.rotation),
            JointTrack::Scale(_) => exact.scale.distance(now.scale),
        };
        distance / self.tolerance
    }
}

/// `track`, which has a choice of the keys of `source`, and the one of them nearest to `time` that it lacks of the two around it.
fn with_key_near<T: Interpolate>(
    source: &Track<T>,
    track: &Track<T>,
    time: f32,
) -> Option<Track<T>> {
    if track.times().len() < 2 || track.interpolation() != source.interpolation() {
        return None;
    }
    let times = source.times();
    let after = times.partition_point(|key| *key <= time);
    let around = [after.checked_sub(1), (after < times.len()).then_some(after)];
    let place = |key: usize| track.times().binary_search_by(|t| t.total_cmp(&times[key]));
    let missing = around
        .into_iter()
        .flatten()
        .filter(|key| place(*key).is_err());
    let distance = |key: usize| (times[key] - time).abs();
    let key = missing.min_by(|a, b| distance(*a).total_cmp(&distance(*b)))?;
    let mut keys = TrackSpec::from(track.clone()).keys;
    let key_of_source = Key {
        time: times[key],
        value: source.values()[key],
        velocity: source.velocities().get(key).copied(),
    };
    keys.insert(place(key).err()?, key_of_source);
    Track::new(keys, source.interpolation()).ok()
}

/// How to thin one track.
struct Thinner {
    /// In the track's own unit.
    tolerance: f32,
    keys: KeyChoice,
    drop_rest: bool,
    /// Whether one key may stand for a constant track.
    may_be_still: bool,
}

impl Thinner {
    /// `None` if `rest` will do.
    fn thin<T: Fit>(&self, track: &Track<T>, rest: T) -> Option<Track<T>> {
        if self.may_be_still && self.stays(track, track.values()[0]) {
            if self.drop_rest && self.stays(track, rest) {
                return None;
            }
            let mut first = TrackSpec::from(track.clone());
            first.keys.truncate(1);
            return Some(Track::try_from(first).unwrap_or_else(|_| track.clone()));
        }
        let kept = reduce(track, self.tolerance).unwrap_or_else(|_| track.clone());
        let may_fit = track.interpolation() == Interpolation::Linear && self.keys == KeyChoice::Fit;
        let fitted = may_fit.then(|| fit(track, self.tolerance).ok()).flatten();
        let is_better = |fitted: &Track<T>| {
            fitted.times().len() < kept.times().len() && self.is_near_between(track, fitted)
        };
        Some(fitted.filter(is_better).unwrap_or(kept))
    }

    /// True if `track` is `value` all the time; exactly, if it is stepped.
    fn stays<T: Distance>(&self, track: &Track<T>, value: T) -> bool {
        let parts = match track.interpolation() {
            Interpolation::Step => return track.values().iter().all(|other| *other == value),
            Interpolation::Linear => 1,
            Interpolation::Cubic => 8,
        };
        let between = |pair: &[f32]| {
            (1..parts).all(|part| {
                let time = pair[0] + (pair[1] - pair[0]) * (part as f32 / parts as f32);
                track.sample(time).distance(value) <= self.tolerance
            })
        };
        let mut values = track.values().iter();
        values.all(|other| other.distance(value) <= self.tolerance)
            && track.times().windows(2).all(between)
    }

    /// True if `fitted` is near `track` also halfway between the keys, which fitting does not look at. Straight spans are
    /// not as smooth as what they stand for, so they get as much again.
    fn is_near_between<T: Distance>(&self, track: &Track<T>, fitted: &Track<T>) -> bool {
        track.times().windows(2).all(|pair| {
            let time = pair[0] + (pair[1] - pair[0]) * 0.5;
            track.sample(time).distance(fitted.sample(time)) <= 2.0 * self.tolerance
        })
    }
}
