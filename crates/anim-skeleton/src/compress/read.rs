//! From bytes to the run-time clip, or to curves.

use anim_curves::range_coder::{self, Decoder, Models};
use anim_curves::wavelet::{self, Row};
use anim_curves::{DenseTrack, Interpolation, Key, Track};
use anim_math::lanes::LANES;
use anim_math::nalgebra::Quaternion;
use anim_math::{Quat, Vec3};

use super::layout::{Context, HEADER, Kind, MAGIC, PARTS};
use super::motion::time_of;
use super::rotation::{Lane, write_keys};
use super::value::Value;
use crate::clip::{Part, RotationKey, StepTrack, VectorTrack, write};
use crate::clip_parts::{is_whole, sample_rate};
use crate::{Channel, Clip, JointId, JointTrack, MorphChannel, Pose, Skeleton, SkeletonError};

/// What comes before the curves.
#[derive(Clone, Debug)]
pub(crate) struct Head<'a> {
    pub(crate) name: &'a str,
    /// Seconds.
    pub(crate) duration: f32,
    pub(crate) samples: usize,
    /// The joint in source order and the bytes of a dense track.
    morphs: Vec<Morph<'a>>,
    /// For each joint, breadth-first, what its [`PARTS`] do.
    pub(crate) kinds: Vec<[Kind; 3]>,
    contexts: [Context; 3],
    decoder: Decoder<'a>,
    /// Keys of stepped curves that the bytes have room for.
    most_steps: usize,
}

/// What a key of a stepped curve takes: a time and four numbers.
const STEP_BYTES: usize = 20;

const fn broken(what: &'static str) -> SkeletonError {
    SkeletonError::BrokenClip { what }
}

type Morph<'a> = (usize, &'a [u8]);

/// Takes a morph track off the front: joint, length, bytes.
fn morph(bytes: &[u8]) -> Option<(Morph<'_>, &[u8])> {
    let (joint, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (track, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some(((u32::from_le_bytes(*joint) as usize, track), rest))
}

impl<'a> Head<'a> {
    /// Reads and checks it; the work and memory are bounded by the bytes there are.
    pub(crate) fn read(bytes: &'a [u8], models: &'a Models) -> Result<Self, SkeletonError> {
        let (head, rest) = bytes
            .split_first_chunk::<HEADER>()
            .ok_or(broken("length"))?;
        let (magic, head) = head.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(broken("kind or version of the file"));
        }
        let number = |from: usize, bytes: usize| {
            head[from..from + bytes]
                .iter()
                .rev()
                .fold(0, |number, byte| number << 8 | u32::from(*byte))
        };
        let (joints, samples) = (number(0, 2) as usize, number(2, 4) as usize);
        let duration = f32::from_bits(number(6, 4));
        let (name, mut rest) = rest
            .split_at_checked(number(10, 2) as usize)
            .ok_or(broken("name"))?;
        let name = std::str::from_utf8(name).map_err(|_| broken("name"))?;
        let mut morphs = Vec::new();
        for _ in 0..number(12, 2) {
            let (morph, left) = morph(rest).ok_or(broken("morph track"))?;
            morphs.push(morph);
            rest = left;
        }
        let stream = rest;
        if !(duration.is_finite() && duration >= 0.0) {
            return Err(broken("duration"));
        }
        if samples == 0 || samples > 1 && duration == 0.0 {
            return Err(broken("sample count"));
        }
        let mut decoder = Decoder::new(stream, models);
        let mut contexts = [Context::default(); 3];
        let mut kinds = Vec::with_capacity(joints);
        for _ in 0..joints {
            let mut joint = [Kind::Rest; 3];
            for (kind, context) in joint.iter_mut().zip(&mut contexts) {
                *kind = context.read_kind(&mut decoder)?;
            }
            if joint[Part::Translation as usize] == Kind::Turning
                || joint[Part::Scale as usize] == Kind::Turning
            {
                return Err(broken("kind of a curve"));
            }
            kinds.push(joint);
        }
        let lanes: usize = kinds.iter().flatten().map(|kind| kind.lanes()).sum();
        let most = range_coder::capacity(bytes.len());
        if samples
            .checked_mul(lanes)
            .is_none_or(|numbers| numbers > most)
        {
            return Err(broken("sample count"));
        }
        Ok(Self {
            name,
            duration,
            samples,
            morphs,
            kinds,
            contexts,
            decoder,
            most_steps: stream.len() / STEP_BYTES + 1,
        })
    }

    /// Reads the curves.
    pub(crate) fn curves(self) -> Curves<'a> {
        Curves {
            contexts: self.contexts,
            decoder: self.decoder,
            most_steps: self.most_steps,
        }
    }
}

/// Reads one curve after another.
#[derive(Debug)]
pub(crate) struct Curves<'a> {
    contexts: [Context; 3],
    decoder: Decoder<'a>,
    most_steps: usize,
}

/// A curve as it is stored.
pub(crate) enum Stored {
    Rest,
    Constant(Row),
    /// The samples are in the rows that were given; a rotation's are to be taken as this says.
    Moving(Lane),
    Steps(StepTrack),
}

impl Curves<'_> {
    /// Reads a curve of `kind`; samples, if it has any, go to `rows`, which has a place for each.
    pub(crate) fn next(
        &mut self,
        joint: JointId,
        part: Part,
        kind: Kind,
        rows: &mut [Row],
    ) -> Result<Stored, SkeletonError> {
        let (context, decoder) = (&mut self.contexts[part as usize], &mut self.decoder);
        if kind == Kind::Rest {
            return Ok(Stored::Rest);
        }
        if kind == Kind::Steps {
            return Ok(Stored::Steps(steps(joint, part, self.most_steps, decoder)?));
        }
        let step = context.read_step(decoder)?;
        let value = Value::read(part, &mut context.value, decoder).row(part, step);
        if kind == Kind::Constant {
            return Ok(Stored::Constant(value));
        }
        let is_relative = part == Part::Rotation && kind == Kind::Moving;
        rows[0] = if is_relative { [0.0; 4] } else { value };
        wavelet::decode(rows, kind.lanes(), step, &mut context.levels, decoder);
        let first = if is_relative {
            value
        } else {
            Lane::STILL.first
        };
        Ok(Stored::Moving(Lane {
            first,
            is_relative,
            step,
        }))
    }

    /// Checks that nothing is left over.
    pub(crate) fn finish(self) -> Result<(), SkeletonError> {
        if self.decoder.is_at_end() {
            Ok(())
        } else {
            Err(broken("stream"))
        }
    }
}

impl Head<'_> {
    /// The run-time clip for a skeleton with this rest pose.
    pub(crate) fn clip(self, rest: &Pose) -> Result<Clip, SkeletonError> {
        let samples = self.samples;
        let kinds = self.kinds.clone();
        let vector_tracks = vector_tracks(&kinds);
        let moving = moving_lanes(&kinds);
        let stride = moving.iter().filter(|lanes| **lanes != 0).count();
        let mut clip = Clip {
            duration: self.duration,
            samples,
            rate: sample_rate(self.duration, samples),
            base: rest.clone(),
            moving,
            rotations: vec![RotationKey::IDENTITY; stride * samples],
            vectors: vec![[0.0; 3]; samples * vector_tracks.len()],
            vector_tracks,
            steps: Vec::new(),
        };
        let mut curves = self.curves();
        let mut rows = vec![[0.0; 4]; samples];
        let (mut place, mut next_vector) = (0, 0);
        for (joint, kinds) in kinds.iter().enumerate() {
            let (id, lane) = (JointId(joint as u16), joint % LANES);
            for (part, kind) in PARTS.into_iter().zip(kinds) {
                match curves.next(id, part, *kind, &mut rows)? {
                    Stored::Rest => {}
                    Stored::Constant(row) => write(part, row, id, &mut clip.base),
                    Stored::Moving(track) if part == Part::Rotation => {
                        write_keys(track, &rows, lane, &mut clip.rotations[place..], stride)?;
                    }
                    Stored::Moving(_) => {
                        let tracks = clip.vector_tracks.len();
                        let out = clip.vectors.iter_mut().skip(next_vector).step_by(tracks);
                        if !put_vectors(&rows, out) {
                            return Err(broken("vector"));
                        }
                        next_vector += 1;
                    }
                    Stored::Steps(steps) => clip.steps.push(steps),
                }
            }
            let is_last = lane + 1 == LANES;
            place += usize::from(is_last && clip.moving[joint / LANES] != 0);
        }
        curves.finish()?;
        Ok(clip)
    }

    /// The weights, for a skeleton with these places in source order.
    pub(crate) fn morphs(&self, skeleton: &Skeleton) -> Result<Vec<MorphChannel>, SkeletonError> {
        let morphs = self.morphs.iter().enumerate();
        let morphs = morphs.map(|(channel, (joint, bytes))| {
            let joint = *joint;
            if joint >= skeleton.len() {
                return Err(SkeletonError::NoJoint { channel, joint });
            }
            let track = DenseTrack::from_bytes(bytes.to_vec()).and_then(|dense| dense.expand());
            let track = track.map_err(|error| SkeletonError::Weights { channel, error })?;
            Ok(MorphChannel { joint, track })
        });
        morphs.collect()
    }

    /// The same as linear curves, for a skeleton with these places in source order.
    pub(crate) fn channels(self, skeleton: &Skeleton) -> Result<Vec<Channel>, SkeletonError> {
        let (samples, duration) = (self.samples, self.duration);
        let kinds = self.kinds.clone();
        let mut curves = self.curves();
        let mut rows = vec![[0.0; 4]; samples];
        let mut channels = Vec::new();
        for (joint, kinds) in skeleton.joints().zip(kinds) {
            for (part, kind) in PARTS.into_iter().zip(kinds) {
                let time = |sample| time_of(sample, samples, duration);
                let (keys, interpolation): (Vec<(f32, Row)>, _) = match curves
                    .next(joint, part, kind, &mut rows)?
                {
                    Stored::Rest => continue,
                    Stored::Constant(row) => (vec![(0.0, row)], Interpolation::Linear),
                    Stored::Moving(lane) => {
                        let rows = rows.iter().enumerate();
                        let keys = rows.map(|(sample, row)| (time(sample), lane.row(part, *row)));
                        (keys.collect(), Interpolation::Linear)
                    }
                    Stored::Steps(steps) => {
                        let keys = steps.times.into_iter().zip(steps.values);
                        (keys.collect(), Interpolation::Step)
                    }
                };
                let track = joint_track(part, &keys, interpolation).ok_or(broken("curve"))?;
                channels.push(Channel {
                    joint: skeleton.source(joint),
                    track,
                });
            }
        }
        curves.finish()?;
        Ok(channels)
    }
}

/// Copies the vectors; false if one is not finite.
fn put_vectors<'a>(rows: &[Row], out: impl Iterator<Item = &'a mut [f32; 3]>) -> bool {
    let mut sum = 0.0;
    for ([x, y, z, _], out) in rows.iter().zip(out) {
        *out = [*x, *y, *z];
        // What is not finite stays so when multiplied by 0.
        sum += x * 0.0 + y * 0.0 + z * 0.0;
    }
    sum == 0.0
}

fn vector_tracks(kinds: &[[Kind; 3]]) -> Vec<VectorTrack> {
    let joints = kinds.iter().enumerate();
    let tracks = joints.flat_map(|(joint, kinds)| {
        let moving = PARTS.into_iter().zip(kinds);
        let moving = moving.filter(|(part, kind)| *part != Part::Rotation && kind.lanes() > 0);
        moving.map(move |(part, _)| VectorTrack {
            joint: JointId(joint as u16),
            part,
        })
    });
    tracks.collect()
}

/// For each block a bit a lane: rotations that move, and the spare lanes beside them.
fn moving_lanes(kinds: &[[Kind; 3]]) -> Vec<u8> {
    let blocks = kinds.chunks(LANES);
    let lanes = blocks.map(|block| {
        let moves = |lane: usize| {
            block
                .get(lane)
                .is_none_or(|joint| joint[Part::Rotation as usize].lanes() > 0)
        };
        let moving = (0..LANES)
            .filter(|lane| moves(*lane))
            .fold(0, |bits, lane| bits | 1 << lane);
        if (0..block.len()).any(moves) {
            moving
        } else {
            0
        }
    });
    lanes.collect()
}

fn steps(
    joint: JointId,
    part: Part,
    most: usize,
    decoder: &mut Decoder<'_>,
) -> Result<StepTrack, SkeletonError> {
    let keys = decoder.next_bits(0, 32) as usize;
    if keys > most {
        return Err(broken("step count"));
    }
    let mut number = || f32::from_bits(decoder.next_bits(0, 32));
    let mut steps = StepTrack {
        joint,
        part,
        times: Vec::with_capacity(keys),
        values: Vec::with_capacity(keys),
    };
    for _ in 0..keys {
        steps.times.push(number());
        steps.values.push([(); 4].map(|()| number()));
    }
    if is_whole(&steps) {
        Ok(steps)
    } else {
        Err(broken("step"))
    }
}

fn joint_track(
    part: Part,
    keys: &[(f32, Row)],
    interpolation: Interpolation,
) -> Option<JointTrack> {
    let vectors = || {
        let keys = keys
            .iter()
            .map(|(time, [x, y, z, _])| Key::new(*time, Vec3::new(*x, *y, *z)));
        Track::new(keys.collect(), interpolation).ok()
    };
    match part {
        Part::Translation => vectors().map(JointTrack::Translation),
        Part::Scale => vectors().map(JointTrack::Scale),
        Part::Rotation => {
            let keys = keys
                .iter()
                .map(|(time, row)| Key::new(*time, Quat::new_unchecked(Quaternion::from(*row))));
            Track::new(keys.collect(), interpolation)
                .ok()
                .map(JointTrack::Rotation)
        }
    }
}
