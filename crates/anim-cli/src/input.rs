//! What all verbs read: files, clips by number or name, lists of times.

use std::path::Path;

use anim_asset::Document;
use anim_engine::skeleton::ClipSpec;

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
