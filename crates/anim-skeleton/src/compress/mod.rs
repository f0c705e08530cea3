//! Clips on disk: as few bytes as keep every joint within a tolerance, expanded to the run-time clip at load.
//!
//! A [`Clip`] is laid out for speed and takes eight bytes a joint and sample. On disk the same samples are predicted
//! from their neighbours in time by a [wavelet](anim_curves::wavelet), each joint as coarsely as what hangs on it allows,
//! and what is left goes through an [entropy coder](anim_curves::range_coder). What rests as the skeleton does is not
//! stored, what does not move is stored once, stepped curves are kept bit by bit. The error is measured in model space
//! on the clip that comes out of the file, between samples too. Morph weights come along as
//! [dense tracks](anim_curves::DenseTrack). Compressing is for tools and takes some tenths of a
//! second; [expanding](CompressedClip::expand) takes a time proportional to the samples.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track};
//! use anim_math::{Vec3, quat};
//! use anim_skeleton::{Channel, ClipSpec, CompressOptions, CompressedClip, JointSpec, JointTrack, Skeleton};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Default::default() }])?;
//! let turn = |frame: u16| Key::new(f32::from(frame) / 30.0, quat::from_axis_angle(Vec3::y(), (f32::from(frame) * 0.1).sin()));
//! let track = Track::new((0..300).map(turn).collect(), Interpolation::Linear)?;
//! let spec = ClipSpec {
//!     channels: vec![Channel { joint: 0, track: JointTrack::Rotation(track) }],
//!     ..ClipSpec::default()
//! };
//!
//! let (compressed, report) = CompressedClip::new(&spec, &skeleton, &CompressOptions::default())?;
//! assert!(report.reached && report.disk_bytes < report.raw_bytes / 50);
//! let file: &[u8] = compressed.bytes(); // store them…
//! let clip = CompressedClip::from_bytes(file.to_vec())?.expand(&skeleton)?; // …and load them
//! assert_eq!(clip.duration(), spec.duration());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod budget;
mod layout;
mod motion;
mod read;
mod rotation;
mod value;
mod write;

use anim_curves::range_coder::Models;
use anim_curves::{CurveError, DenseTrack, Interpolation, WideTrack, WideTrackSpec};

use self::motion::{Motion, time_of};
use self::read::Head;
use self::write::write_head;
use crate::bake::Source;
use crate::levers::Levers;
use crate::{BakeOptions, Clip, ClipSpec, JointId, MorphChannel, Skeleton, SkeletonError};

/// How faithful a compressed clip must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressOptions {
    /// The largest error allowed, in the model's unit of length, model space.
    pub tolerance: f32,
    /// Distance from each joint of the points the error is measured at: where its skin may be; in the model's unit.
    pub shell: f32,
    /// The largest error of a morph weight allowed, at its keys.
    pub weight_tolerance: f32,
    /// The highest sample rate to try, samples per second.
    pub max_rate: f32,
}

impl Default for CompressOptions {
    /// A millimetre, measured up to 10 cm from each joint, for models in metres of about human size; half a percent of a
    /// weight.
    fn default() -> Self {
        Self {
            tolerance: 0.001,
            shell: 0.1,
            weight_tolerance: 0.005,
            max_rate: BakeOptions::default().max_rate,
        }
    }
}

/// What compression came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressReport {
    /// What the samples take as plain numbers: ten of 32 bits a joint and sample, and one a weight and key.
    pub raw_bytes: usize,
    /// Bytes of the file.
    pub disk_bytes: usize,
    /// Bytes in memory of the clip expanded from it, without weights.
    pub resident_bytes: usize,
    /// The largest error of the clip expanded from it, against the exact curves, in the model's unit of length.
    pub max_error: f32,
    /// The joint it was met at; `None` if there is no error.
    pub worst_joint: Option<JointId>,
    /// The time it was met at, s.
    pub worst_time: f32,
    /// True if the error is within the tolerance.
    pub reached: bool,
}

/// What sampling at uniform times may use of the tolerance; the rest is for rounding.
const SAMPLING_PART: f32 = 0.5;
/// How far from the rest pose a part may stay and still count as resting, as a part of the tolerance.
const REST_PART: f32 = 0.01;

/// A clip as it lies on disk: the bytes of a file, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompressedClip(Vec<u8>);

impl CompressedClip {
    /// Compresses the curves of `spec`. Morph weights keep their keys; cubic ones are sampled 60 times a second.
    ///
    /// Samples are taken at the lowest rate that half the tolerance allows. If the tolerance cannot be reached,
    /// the most exact file that was found is returned and `reached` is false.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::NoJoint`] if a channel names a joint that `skeleton` lacks, [`SkeletonError::Tolerance`] if a tolerance
    /// is negative or not a number, [`SkeletonError::Weights`] if weights are too large for theirs.
    pub fn new(
        spec: &ClipSpec,
        skeleton: &Skeleton,
        options: &CompressOptions,
    ) -> Result<(Self, CompressReport), SkeletonError> {
        spec.check(skeleton)?;
        for tolerance in [options.tolerance, options.weight_tolerance] {
            if tolerance.is_nan() || tolerance < 0.0 {
                return Err(SkeletonError::Tolerance { tolerance });
            }
        }
        let weights = weights(&spec.morphs, options.weight_tolerance)?;
        let sampling = BakeOptions {
            tolerance: options.tolerance * SAMPLING_PART,
            shell: options.shell,
            max_rate: options.max_rate,
            ..BakeOptions::default()
        };
        let source = Source::new(spec, skeleton, &sampling);
        let (clip, _) = source.baked(&sampling);
        let levers = Levers::measure(skeleton, &source.exact, &source.key_times, options.shell);
        let reach = levers.reach;
        let stray = options.tolerance * REST_PART;
        let motion = Motion::new(&source, clip.samples(), &reach, stray);
        let head = write_head(spec.name.as_deref().unwrap_or_default(), &motion, &weights);
        let limits = (options.tolerance, options.shell);
        let found = budget::search(&source, &motion, &head, limits, &reach)?;
        let values = spec
            .morphs
            .iter()
            .map(|morph| morph.track.spec().values.len());
        let report = CompressReport {
            raw_bytes: skeleton.len() * motion.samples * size_of::<[f32; 10]>()
                + values.sum::<usize>() * size_of::<f32>(),
            disk_bytes: found.bytes.len(),
            resident_bytes: found.clip.bytes(),
            max_error: found.error.distance,
            worst_joint: found.error.joint,
            worst_time: found.error.time,
            reached: found.error.distance <= options.tolerance,
        };
        Ok((Self(found.bytes), report))
    }

    /// Takes the bytes of a file, after a check of all but the samples, which [`expand`](Self::expand) checks.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::BrokenClip`] if they are not a compressed clip, are cut off, or claim more than so many bytes can
    /// hold.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, SkeletonError> {
        Head::read(&bytes, &Models::new())?;
        Ok(Self(bytes))
    }

    /// The bytes of a file.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The run-time clip. What the file leaves at rest is the rest pose of `skeleton`.
    ///
    /// O(joints · samples), no search: about 3 ms a megabyte of the result.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::BrokenClip`] if the samples are damaged or `skeleton` has another number of joints.
    pub fn expand(&self, skeleton: &Skeleton) -> Result<Clip, SkeletonError> {
        let models = Models::new();
        self.head(skeleton, &models)?.clip(skeleton.rest())
    }

    /// The same motion as linear curves with a key each sample, for tools.
    ///
    /// # Errors
    ///
    /// As [`expand`](Self::expand).
    pub fn to_spec(&self, skeleton: &Skeleton) -> Result<ClipSpec, SkeletonError> {
        let models = Models::new();
        let head = self.head(skeleton, &models)?;
        Ok(ClipSpec {
            name: Some(head.name)
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
            morphs: head.morphs(skeleton)?,
            channels: head.channels(skeleton)?,
        })
    }

    fn head<'a>(
        &'a self,
        skeleton: &Skeleton,
        models: &'a Models,
    ) -> Result<Head<'a>, SkeletonError> {
        let head = Head::read(&self.0, models)?;
        if head.kinds.len() == skeleton.len() {
            Ok(head)
        } else {
            Err(SkeletonError::BrokenClip {
                what: "joint count",
            })
        }
    }
}

/// What a morph channel comes to: its joint in source order, and the bytes of a dense track.
type Weights = (usize, Vec<u8>);

/// Rate that cubic weights are sampled at, samples per second.
const CUBIC_RATE: f32 = 60.0;

fn weights(morphs: &[MorphChannel], tolerance: f32) -> Result<Vec<Weights>, SkeletonError> {
    // Their number is 16 bits, as that of joints.
    let morphs = morphs.iter().take(usize::from(u16::MAX));
    let channels = morphs.enumerate().map(|(channel, morph)| {
        let sampled = match morph.track.spec().interpolation {
            Interpolation::Cubic => sampled(&morph.track),
            _ => Ok(morph.track.clone()),
        };
        let dense = sampled.and_then(|track| DenseTrack::new(&track, tolerance));
        let dense = dense.map_err(|error| SkeletonError::Weights { channel, error })?;
        Ok((morph.joint, dense.bytes().to_vec()))
    });
    channels.collect()
}

/// The same as linear keys, [`CUBIC_RATE`] a second.
fn sampled(track: &WideTrack) -> Result<WideTrack, CurveError> {
    let times = &track.spec().times;
    let (first, last) = (times[0], track.end());
    let intervals = ((last - first) * CUBIC_RATE).ceil().clamp(1.0, 1e6) as usize;
    let time = |sample| first + time_of(sample, intervals + 1, last - first);
    let mut times: Vec<f32> = (0..=intervals).map(time).collect();
    times.dedup();
    let mut values = vec![0.0; times.len() * track.width()];
    for (time, values) in times.iter().zip(values.chunks_mut(track.width().max(1))) {
        track.sample(*time, values);
    }
    WideTrack::new(WideTrackSpec {
        width: track.width(),
        times,
        values,
        interpolation: Interpolation::Linear,
    })
}
