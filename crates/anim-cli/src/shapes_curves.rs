//! `anim shapes --curves`: the weight curves of a clip, compressed as recordings of faces are.

use anim_asset::Document;
use anim_engine::skin::morph::weight_curves;
use serde_json::{Value, json};

use crate::output::Failure;
use crate::shapes::Face;
use crate::{input, output};

/// Of the files that hold them.
pub(crate) const EXTENSION: &str = "animcurves";

/// What is asked for.
pub(crate) struct Curves<'a> {
    /// The first if `None`.
    pub(crate) clip: Option<&'a str>,
    /// Frames a second to keep.
    pub(crate) fps: f32,
    /// Of a weight.
    pub(crate) tolerance: f32,
    /// Weights of all frames together at most.
    pub(crate) most_numbers: usize,
}

/// What came of it.
pub(crate) struct Compressed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) value: Value,
    /// The same for people.
    pub(crate) told: String,
}

/// Takes the weights of the face from the clip, frame by frame from time 0, and compresses them.
pub(crate) fn compress(
    document: &Document,
    face: &Face<'_>,
    asked: &Curves<'_>,
) -> Result<Compressed, Failure> {
    let (index, clip) = input::clip(&document.clips, asked.clip)?
        .ok_or_else(|| Failure::option("--curves", "the file has no clip"))?;
    let name = input::clip_name(index, clip);
    let shows_face = |joint: usize| document.nodes[joint].mesh == Some(face.place.0);
    // Of two curves of one node the later wins, as when it plays.
    let mut channels = clip.morphs.iter().rev();
    let channel = channels.find(|channel| shows_face(channel.joint));
    let channel = channel.ok_or_else(|| {
        let message = format!("'{name}' does not move the weights of the face");
        Failure::option("--clip", message)
    })?;
    let width = channel.track.spec().width;
    let count = (f64::from(channel.track.end()) * f64::from(asked.fps)).round() + 1.0;
    if count * width as f64 > asked.most_numbers as f64 {
        let message = format!("{count} frames of {width} weights are too many");
        return Err(Failure::option("--fps", message));
    }
    let mut frames = vec![0.0; count as usize * width];
    for (frame, weights) in frames.chunks_exact_mut(width.max(1)).enumerate() {
        channel.track.sample(frame as f32 / asked.fps, weights);
    }
    let curves = weight_curves::compress(&frames, width, asked.fps, asked.tolerance)
        .map_err(|error| Failure::option("--weight-tolerance", error))?;
    let (raw, bytes) = (4 * frames.len(), curves.track.bytes().len());
    Ok(Compressed {
        told: format!(
            "{count} frames of {width} weights of {}: {raw} bytes as numbers, {bytes} as curves, at most {:.5} off\n",
            output::printable(&name),
            curves.error
        ),
        value: json!({
            "clip": name,
            "frames": count as usize,
            "fps": asked.fps,
            "weights": width,
            "raw_bytes": raw,
            "bytes": bytes,
            "max_error": curves.error,
        }),
        bytes: curves.track.bytes().to_vec(),
    })
}
