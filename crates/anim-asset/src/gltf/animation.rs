//! Animations: channels become curves of joints and of morph weights.

use std::collections::BTreeMap;

use anim_curves::{Interpolate, Interpolation, Key, Track, WideTrack, WideTrackSpec};
use anim_math::nalgebra::Vector4;
use anim_math::{Vec3, quat};
use anim_skeleton::{Channel, ClipSpec, JointTrack, MorphChannel};

use super::accessor::Accessor;
use super::element::Component;
use super::json::Json;
use super::mesh;
use super::read::Reader;
use super::sampler::{self, Sampler};
use crate::{AssetError, MeshSpec, Node};

/// All animations, one clip each; channels that cannot be used are left out.
///
/// # Errors
///
/// `TOO_LARGE`.
pub(super) fn clips(
    reader: &Reader<'_>,
    nodes: &[Node],
    meshes: &[MeshSpec],
) -> Result<Vec<ClipSpec>, AssetError> {
    let list = reader.root.list("animations");
    let budget = reader.budget;
    budget.take(list.len(), size_of::<ClipSpec>(), "/animations")?;
    let mut clips = Vec::with_capacity(list.len());
    for (index, json) in list.iter().enumerate() {
        let place = format!("/animations/{index}");
        let stage = Stage {
            reader,
            nodes,
            meshes,
        };
        clips.push(stage.clip(json, &place)?);
    }
    Ok(clips)
}

/// What the channels of all animations share.
struct Stage<'r, 'a> {
    reader: &'r Reader<'a>,
    nodes: &'r [Node],
    meshes: &'r [MeshSpec],
}

impl Stage<'_, '_> {
    fn clip(&self, json: &Json<'_>, place: &str) -> Result<ClipSpec, AssetError> {
        let channels = json.list("channels");
        let samplers = json.list("samplers");
        let mut is_new = vec![true; samplers.len()];
        let superseded = self.superseded(channels, place);
        let mut clip = ClipSpec {
            name: Reader::name(json),
            ..ClipSpec::default()
        };
        for (at, channel) in channels.iter().enumerate() {
            let place_of_channel = format!("{place}/channels/{at}");
            let Some(index) = channel.count("sampler") else {
                continue;
            };
            let Some(sampler) = samplers.get(index) else {
                let message = format_args!("there is no sampler {index}");
                let place = format!("{place_of_channel}/sampler");
                self.reader
                    .log
                    .error("UNRESOLVED_REFERENCE", place, message);
                continue;
            };
            let place = format!("{place}/samplers/{index}");
            let sampler = sampler::open(self.reader, sampler, &place, is_new[index])?;
            is_new[index] = false;
            let Some(target) = self.target(channel, &place_of_channel) else {
                continue;
            };
            let Some(sampler) = sampler else {
                continue;
            };
            if !superseded[at] {
                self.channel(&sampler, target, &place_of_channel, &mut clip)?;
            }
        }
        Ok(clip)
    }

    /// For each channel whether a later one has the same target.
    fn superseded(&self, channels: &[Json<'_>], place: &str) -> Vec<bool> {
        let mut last = BTreeMap::new();
        let mut superseded = vec![false; channels.len()];
        for (at, channel) in channels.iter().enumerate() {
            let Some(target) = channel.get("target") else {
                continue;
            };
            let (Some(node), Some(path)) = (target.count("node"), target.text("path")) else {
                continue;
            };
            if let Some(before) = last.insert((node, path), at) {
                superseded[before] = true;
                let message = format_args!("channel {at} has the same target, and is used instead");
                let place = format!("{place}/channels/{before}/target");
                let log = self.reader.log;
                log.error("ANIMATION_DUPLICATE_TARGETS", place, message);
            }
        }
        superseded
    }

    /// The node and the path of a channel, if it moves something.
    fn target<'j>(&self, channel: &'j Json<'_>, place: &str) -> Option<(usize, &'j str)> {
        let log = self.reader.log;
        let target = channel.get("target")?;
        let place = format!("{place}/target");
        let path = target.text("path")?;
        if !["translation", "rotation", "scale", "weights"].contains(&path) {
            let message = format_args!("what animates '{path}' is left out");
            log.info("LEFT_OUT", place, message);
            return None;
        }
        let Some(index) = target.get("node") else {
            log.info("LEFT_OUT", place, "a channel without a node is left out");
            return None;
        };
        let index = index.as_count()?;
        let node = self.nodes.get(index)?;
        let json = self.reader.root.list("nodes").get(index)?;
        if path != "weights" && json.get("matrix").is_some() {
            let message = "moves a node with a matrix, whose decomposition is used";
            log.error("ANIMATION_CHANNEL_TARGET_NODE_MATRIX", &place, message);
        }
        if path != "weights" && node.skin.is_some() {
            let message = "moves a skinned mesh, which follows its joints alone";
            let place = format!("{place}/path");
            log.warning("ANIMATION_CHANNEL_TARGET_NODE_SKIN", place, message);
        }
        if path == "weights" && self.target_count(node) == 0 {
            let message = "moves weights where there are no morph targets; left out";
            let code = "ANIMATION_CHANNEL_TARGET_NODE_WEIGHTS_NO_MORPHS";
            log.error(code, &place, message);
            return None;
        }
        Some((index, path))
    }

    /// Morph targets of the mesh at a node.
    fn target_count(&self, node: &Node) -> usize {
        let mesh = node.mesh.and_then(|mesh| self.meshes.get(mesh));
        mesh.map_or(0, mesh::target_count)
    }

    /// Adds the curve of one channel to `clip`.
    fn channel(
        &self,
        sampler: &Sampler<'_, '_>,
        (joint, path): (usize, &str),
        place: &str,
        clip: &mut ClipSpec,
    ) -> Result<(), AssetError> {
        let place = format!("{place}/sampler");
        let width = match path {
            "weights" => self.target_count(&self.nodes[joint]),
            _ => 1,
        };
        if !self.check_output(sampler, path, width, &place) {
            return Ok(());
        }
        if path == "weights" {
            if let Some(track) = self.weights(sampler, width, &place)? {
                clip.morphs.push(MorphChannel { joint, track });
            }
            return Ok(());
        }
        let track = match path {
            "rotation" => self.rotation(sampler, &place)?.map(JointTrack::Rotation),
            "scale" => self.vector(sampler, &place)?.map(JointTrack::Scale),
            _ => self.vector(sampler, &place)?.map(JointTrack::Translation),
        };
        clip.channels
            .extend(track.map(|track| Channel { joint, track }));
        Ok(())
    }

    /// True if the values have a format and a number that can be read.
    fn check_output(
        &self,
        sampler: &Sampler<'_, '_>,
        path: &str,
        width: usize,
        place: &str,
    ) -> bool {
        let output = sampler.output;
        let log = self.reader.log;
        let components = match path {
            "rotation" => 4,
            "weights" => 1,
            _ => 3,
        };
        let is_float = output.component == Component::F32;
        let is_fraction = output.normalized && output.component != Component::U32;
        let fits = output.shape.len() == components && (is_float || is_fraction);
        let is_legal = is_float || (is_fraction && components != 3);
        if !(fits && is_legal) {
            let done = if fits { "read" } else { "left out" };
            let message = format_args!("the format of the values does not suit {path}; {done}");
            let code = "ANIMATION_SAMPLER_OUTPUT_ACCESSOR_INVALID_FORMAT";
            log.error(code, place, message);
        }
        let parts = parts(sampler.interpolation);
        let expected = sampler.key_count.saturating_mul(width * parts);
        if output.count != expected {
            let message = format_args!("{} values, not {expected}; left out", output.count);
            let code = "ANIMATION_SAMPLER_OUTPUT_ACCESSOR_INVALID_COUNT";
            log.error(code, place, message);
            return false;
        }
        fits
    }

    fn vector(
        &self,
        sampler: &Sampler<'_, '_>,
        place: &str,
    ) -> Result<Option<Track<Vec3>>, AssetError> {
        let convert = |_, value: [f32; 3]| Some(Vec3::from(value));
        self.track(sampler, place, convert, Vec3::from)
    }

    fn rotation(
        &self,
        sampler: &Sampler<'_, '_>,
        place: &str,
    ) -> Result<Option<Track<anim_math::Quat>>, AssetError> {
        let log = self.reader.log;
        let code = "ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION";
        let severity = sampler.output.value_severity();
        let tolerance = unit_tolerance(sampler.output);
        let convert = |key: usize, xyzw: [f32; 4]| {
            let norm = xyzw.iter().map(|c| c * c).sum::<f32>().sqrt();
            let unit = quat::from_xyzw(xyzw);
            if unit.is_none() {
                let message = format_args!("key {key}: a quaternion of length {norm}, left out");
                log.push(severity, code, place, message);
            } else if (norm - 1.0).abs() > tolerance {
                let message = format_args!("key {key}: a quaternion of length {norm}, normalised");
                log.push(severity, code, place, message);
            }
            unit
        };
        self.track(sampler, place, convert, Vector4::from)
    }

    /// A track of the values that `convert` accepts; keys with values that are not finite are left out.
    fn track<T: Interpolate, const N: usize>(
        &self,
        sampler: &Sampler<'_, '_>,
        place: &str,
        convert: impl Fn(usize, [f32; N]) -> Option<T>,
        velocity: impl Fn([f32; N]) -> T::Velocity,
    ) -> Result<Option<Track<T>>, AssetError> {
        let budget = self.reader.budget;
        let Some(values) = sampler.output.floats::<N>(budget)? else {
            return Ok(None);
        };
        let count = sampler.times.len();
        let key_size = size_of::<Key<T>>() + size_of::<T>();
        budget.take(count, key_size, place)?;
        let is_cubic = sampler.interpolation == Interpolation::Cubic;
        let is_finite = |value: &[f32; N]| value.iter().all(|c| c.is_finite());
        let mut keys: Vec<Key<T>> = Vec::with_capacity(count);
        for (time, source) in sampler.times.iter().zip(&sampler.source) {
            let parts = parts(sampler.interpolation);
            let stored = &values[source * parts..][..parts];
            if !stored.iter().all(is_finite) {
                let message = format_args!("key {source}: not finite, left out");
                let log = self.reader.log;
                log.error("ACCESSOR_INVALID_FLOAT", place, message);
                continue;
            }
            let Some(value) = convert(*source, stored[parts / 2]) else {
                continue;
            };
            keys.push(Key {
                time: *time,
                value,
                velocity: is_cubic.then(|| [velocity(stored[0]), velocity(stored[2])]),
            });
        }
        let track = Track::new(keys, sampler.interpolation);
        budget.give_back(values.len(), size_of::<[f32; N]>());
        budget.give_back(count, size_of::<Key<T>>());
        Ok(self.accept(track, place))
    }

    fn weights(
        &self,
        sampler: &Sampler<'_, '_>,
        width: usize,
        place: &str,
    ) -> Result<Option<WideTrack>, AssetError> {
        let budget = self.reader.budget;
        let Some(stored) = sampler.output.floats::<1>(budget)? else {
            return Ok(None);
        };
        let row = width * parts(sampler.interpolation);
        let mut values = Vec::with_capacity(sampler.times.len() * row);
        let mut times = Vec::with_capacity(sampler.times.len());
        budget.take(values.capacity(), size_of::<f32>(), place)?;
        for (time, source) in sampler.times.iter().zip(&sampler.source) {
            let key = &stored[source * row..][..row];
            if key.iter().all(|[weight]| weight.is_finite()) {
                times.push(*time);
                values.extend(key.iter().map(|[weight]| *weight));
            } else {
                let message = format_args!("key {source}: not finite, left out");
                let log = self.reader.log;
                log.error("ACCESSOR_INVALID_FLOAT", place, message);
            }
        }
        budget.give_back(stored.len(), size_of::<f32>());
        let track = WideTrack::new(WideTrackSpec {
            width,
            times,
            values,
            interpolation: sampler.interpolation,
        });
        Ok(self.accept(track, place))
    }

    /// The track, or a finding that says why there is none.
    fn accept<T>(&self, track: Result<T, anim_curves::CurveError>, place: &str) -> Option<T> {
        track
            .inspect_err(|error| {
                let message = format_args!("the channel is left out: {error}");
                self.reader.log.warning("LEFT_OUT", place, message);
            })
            .ok()
    }
}

/// Values that one key stores: for a spline the velocity in, the value, and the velocity out.
fn parts(interpolation: Interpolation) -> usize {
    match interpolation {
        Interpolation::Cubic => 3,
        _ => 1,
    }
}

/// How far rounding may take the length of a quaternion from 1.
fn unit_tolerance(output: &Accessor<'_>) -> f32 {
    match output.component {
        // Half a step of 1/127 in each of four components.
        Component::I8 | Component::U8 => 0.5 / 127.0 * 4.0,
        _ => 0.007_69,
    }
}
