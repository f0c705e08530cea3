//! Clips as animations: one sampler a channel, key times shared between samplers.

use std::collections::BTreeMap;

use anim_curves::{Interpolate, Interpolation, Track, WideTrack};
use anim_math::{Quat, Vec3};
use anim_skeleton::{ClipSpec, JointTrack};

use super::buffer::Buffer;
use super::legal_rotation;
use super::mesh::Written;
use super::schema::{Animation, Channel, Node, Sampler, Target};
use crate::Document;

/// The clips that move something.
pub(super) fn write_animations(
    document: &Document,
    nodes: &[Node],
    meshes: &[Written],
    buffer: &mut Buffer,
) -> Vec<Animation> {
    let write = |clip| write_animation(clip, nodes, meshes, buffer);
    let mut animations: Vec<Animation> = document.clips.iter().map(write).collect();
    animations.retain(|animation| !animation.channels.is_empty());
    animations
}

fn write_animation(
    clip: &ClipSpec,
    nodes: &[Node],
    meshes: &[Written],
    buffer: &mut Buffer,
) -> Animation {
    let mut curves = BTreeMap::new();
    // Of two curves for one property the later wins, here as in the engine.
    for channel in clip.channels.iter().filter(|c| c.joint < nodes.len()) {
        let (path, curve) = match &channel.track {
            JointTrack::Translation(track) => ("translation", vector_curve(track)),
            JointTrack::Rotation(track) => ("rotation", rotation_curve(track)),
            JointTrack::Scale(track) => ("scale", vector_curve(track)),
        };
        curves.insert((channel.joint, path), curve);
    }
    for channel in &clip.morphs {
        let mesh = nodes
            .get(channel.joint)
            .and_then(|node| meshes.get(node.mesh?));
        let width = channel.track.width();
        if width > 0 && mesh.is_some_and(|mesh| mesh.target_count == width) {
            curves.insert((channel.joint, "weights"), weight_curve(&channel.track));
        }
    }

    let mut inputs = BTreeMap::new();
    let mut animation = Animation {
        name: clip.name.clone(),
        channels: Vec::new(),
        samplers: Vec::new(),
    };
    for ((node, path), curve) in curves {
        if curve.times.is_empty() {
            continue;
        }
        let bits: Vec<u32> = curve.times.iter().map(|time| time.to_bits()).collect();
        let input = *inputs.entry(bits).or_insert_with(|| {
            let times: Vec<[f32; 1]> = curve.times.iter().map(|time| [*time]).collect();
            buffer.floats("SCALAR", &times, None, true)
        });
        animation.channels.push(Channel {
            sampler: animation.samplers.len(),
            target: Target { node, path },
        });
        animation.samplers.push(Sampler {
            input,
            interpolation: curve.interpolation,
            output: curve.values.write(buffer),
        });
    }
    animation
}

/// Key times and values, cubic ones with their velocities around them.
struct Curve {
    times: Vec<f32>,
    values: Values,
    interpolation: &'static str,
}

enum Values {
    Scalars(Vec<[f32; 1]>),
    Vectors(Vec<[f32; 3]>),
    Rotations(Vec<[f32; 4]>),
}

impl Values {
    fn write(&self, buffer: &mut Buffer) -> usize {
        match self {
            Self::Scalars(values) => buffer.floats("SCALAR", values, None, false),
            Self::Vectors(values) => buffer.floats("VEC3", values, None, false),
            Self::Rotations(values) => buffer.floats("VEC4", values, None, false),
        }
    }
}

fn vector_curve(track: &Track<Vec3>) -> Curve {
    let (times, values, interpolation) = keys(track, |v| (*v).into(), |v| (*v).into());
    Curve {
        times,
        values: Values::Vectors(values),
        interpolation,
    }
}

fn rotation_curve(track: &Track<Quat>) -> Curve {
    let (times, values, interpolation) = keys(
        track,
        |q| legal_rotation(*q).coords.into(),
        |velocity| (*velocity).into(),
    );
    Curve {
        times,
        values: Values::Rotations(values),
        interpolation,
    }
}

/// The keys from time 0 on, as glTF stores them.
fn keys<T: Interpolate, const N: usize>(
    track: &Track<T>,
    value: impl Fn(&T) -> [f32; N],
    velocity: impl Fn(&T::Velocity) -> [f32; N],
) -> (Vec<f32>, Vec<[f32; N]>, &'static str) {
    let first = track.times().partition_point(|time| *time < 0.0);
    let times = track.times()[first..].to_vec();
    let interpolation = interpolation_of(track.interpolation(), times.len());
    let mut values = Vec::new();
    for key in first..track.times().len() {
        let velocities = track
            .velocities()
            .get(key)
            .filter(|_| interpolation == CUBIC);
        values.extend(velocities.map(|[reaching, _]| velocity(reaching)));
        values.push(value(&track.values()[key]));
        values.extend(velocities.map(|[_, leaving]| velocity(leaving)));
    }
    (times, values, interpolation)
}

fn weight_curve(track: &WideTrack) -> Curve {
    let spec = track.spec();
    let first = spec.times.partition_point(|time| *time < 0.0);
    let times = spec.times[first..].to_vec();
    let interpolation = interpolation_of(spec.interpolation, times.len());
    let parts = if spec.interpolation == Interpolation::Cubic {
        3
    } else {
        1
    };
    let mut values = &spec.values[first * parts * spec.width..];
    if parts == 3 && interpolation != CUBIC {
        values = values.get(spec.width..2 * spec.width).unwrap_or_default();
    }
    Curve {
        times,
        values: Values::Scalars(values.iter().map(|v| [*v]).collect()),
        interpolation,
    }
}

const CUBIC: &str = "CUBICSPLINE";

/// glTF wants two keys of a cubic spline; one key is a constant in any way.
fn interpolation_of(interpolation: Interpolation, key_count: usize) -> &'static str {
    match interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Cubic if key_count > 1 => CUBIC,
        Interpolation::Linear | Interpolation::Cubic => "LINEAR",
    }
}
