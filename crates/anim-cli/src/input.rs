//! What all verbs read: files, clips by number or name, lists of times.

use std::path::Path;

use anim_asset::Document;
use anim_engine::skeleton::{ClipSpec, JointId, Skeleton};

use crate::output::Failure;

/// Reads a character file.
pub(crate) fn document(path: &Path) -> Result<Document, Failure> {
    anim_asset::load(path).map_err(|error| failure(path, &error))
}

/// A file that cannot be used.
pub(crate) fn failure(path: &Path, error: &anim_asset::AssetError) -> Failure {
    let file = path.display().to_string();
    // The file has its own part of the line.
    let message = error.message.strip_prefix(&format!("{file}: "));
    let message = message.unwrap_or(&error.message);
    let message = format!("{message} [{}]", error.code);
    Failure::new(file, error.location.clone(), message)
}

/// The name of a file without its folder.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The clip that `--clip` names: by number, else by name; the first without it; `None` if the file has none.
pub(crate) fn clip<'a>(
    clips: &'a [ClipSpec],
    wanted: Option<&str>,
) -> Result<Option<(usize, &'a ClipSpec)>, Failure> {
    let Some(wanted) = wanted else {
        return Ok(clips.iter().enumerate().next());
    };
    let named: Vec<usize> = (0..clips.len())
        .filter(|clip| clips[*clip].name.as_deref() == Some(wanted))
        .collect();
    let index = match (
        named.as_slice(),
        wanted.trim_start_matches('#').parse::<usize>(),
    ) {
        ([one], _) => *one,
        ([], Ok(index)) if index < clips.len() => index,
        ([], _) => {
            let names: Vec<String> = clips.iter().enumerate().map(label).collect();
            return Err(Failure::option(
                "--clip",
                format!("no clip '{wanted}'; there are: {}", names.join(", ")),
            ));
        }
        (several, _) => {
            let names: Vec<String> = several.iter().map(|index| format!("#{index}")).collect();
            return Err(Failure::option(
                "--clip",
                format!("'{wanted}' could be {}", names.join(", ")),
            ));
        }
    };
    Ok(Some((index, &clips[index])))
}

/// The node that an option names: by name, or by number, `#3` or `3`.
pub(crate) fn node(skeleton: &Skeleton, option: &str, wanted: &str) -> Result<JointId, Failure> {
    let joints = || (0..skeleton.len()).map(|source| (source, skeleton.joint(source)));
    let named = |(_, joint): &(usize, JointId)| skeleton.name(*joint) == Some(wanted);
    let named: Vec<(usize, JointId)> = joints().filter(named).collect();
    let number = wanted.strip_prefix('#').unwrap_or(wanted).parse::<usize>();
    match (named.as_slice(), number) {
        ([(_, one)], _) => Ok(*one),
        ([], Ok(source)) if source < skeleton.len() => Ok(skeleton.joint(source)),
        ([], _) => {
            let message = format!("no node '{wanted}' among {}", skeleton.len());
            Err(Failure::option(option, message))
        }
        (several, _) => {
            let several: Vec<String> = several
                .iter()
                .map(|(source, _)| format!("#{source}"))
                .collect();
            let message = format!("'{wanted}' could be {}", several.join(", "));
            Err(Failure::option(option, message))
        }
    }
}

fn label((index, clip): (usize, &ClipSpec)) -> String {
    match &clip.name {
        Some(name) => format!("#{index} '{name}'"),
        None => format!("#{index}"),
    }
}

/// The name of a clip, made up if it has none.
pub(crate) fn clip_name(index: usize, clip: &ClipSpec) -> String {
    let name = clip.name.clone();
    name.unwrap_or_else(|| format!("animation_{index}"))
}

/// Keys of all curves of a clip.
pub(crate) fn key_count(clip: &ClipSpec) -> usize {
    use anim_engine::skeleton::JointTrack::{Rotation, Scale, Translation};
    let joints = clip.channels.iter().map(|channel| match &channel.track {
        Translation(track) | Scale(track) => track.times().len(),
        Rotation(track) => track.times().len(),
    });
    let morphs = clip
        .morphs
        .iter()
        .map(|channel| channel.track.spec().times.len());
    joints.chain(morphs).sum()
}
