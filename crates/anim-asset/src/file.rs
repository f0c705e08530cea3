//! The one place that opens files.
//!
//! ```
//! let error = anim_asset::load("no/such/file.glb".as_ref()).unwrap_err();
//! assert_eq!(error.code, "IO_ERROR");
//! ```

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

use crate::{AssetError, Document, gltf, obj, pack};

/// Files beyond this size are refused, bytes.
const LARGEST: u64 = 4 << 30;

/// What [`load`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceFormat {
    /// glTF 2.0, `.gltf` or `.glb`.
    Gltf,
    /// The binary pack.
    Pack,
    /// Wavefront OBJ.
    Obj,
}

impl SourceFormat {
    /// What a file called `path` that begins with `bytes` is taken for: told by content, and as OBJ, which has nothing to be
    /// told by, if it is called `.obj` and is none of the others.
    fn of(path: &Path, bytes: &[u8]) -> Self {
        let extension = path.extension();
        let is_called_obj = extension.is_some_and(|e| e.eq_ignore_ascii_case("obj"));
        let is_gltf = bytes.starts_with(b"glTF") || bytes.trim_ascii_start().starts_with(b"{");
        if bytes.starts_with(&pack::MAGIC) {
            Self::Pack
        } else if is_called_obj && !is_gltf {
            Self::Obj
        } else {
            Self::Gltf
        }
    }
}

/// Reads a character, `.glb`, `.gltf` or `.pack`, told by content, with the buffers beside it, or a mesh, `.obj`.
///
/// Buffers are looked for relative to the file and never outside its directory: absolute paths, `..` and other schemes
/// than `data:` are refused.
///
/// # Errors
///
/// `IO_ERROR` if a file cannot be read, and what [`gltf::read`], [`pack::decode`] or [`obj::read`] refuses.
pub fn load(path: &Path) -> Result<Document, AssetError> {
    load_as(path).map(|(document, _)| document)
}

/// As [`load`], and what the file was taken for.
///
/// # Errors
///
/// Those of [`load`].
pub fn load_as(path: &Path) -> Result<(Document, SourceFormat), AssetError> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let bytes = read_bounded(path).map_err(|message| AssetError {
        code: "IO_ERROR",
        location: "byte 0".to_owned(),
        message,
    })?;
    let format = SourceFormat::of(path, &bytes);
    let document = match format {
        SourceFormat::Pack => pack::decode(&bytes),
        SourceFormat::Obj => obj::read(&bytes),
        SourceFormat::Gltf => gltf::read(&bytes, &mut |uri| read_beside(directory, uri)),
    }?;
    Ok((document, format))
}

/// The bytes of the relative URI `uri`, escapes decoded.
fn read_beside(directory: &Path, uri: &str) -> Result<Vec<u8>, String> {
    let relative = Path::new(uri);
    let is_inside = relative
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    // Backslashes and colons make absolute paths and streams on one system, and schemes on all.
    if uri.is_empty() || !is_inside || uri.contains(['\\', ':', '\0']) {
        return Err(format!("'{uri}' is not a path inside the file's directory"));
    }
    read_bounded(&directory.join(relative))
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, String> {
    let refuse = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let file = File::open(path).map_err(|error| refuse(&error))?;
    let metadata = file.metadata().map_err(|error| refuse(&error))?;
    if !metadata.is_file() {
        return Err(refuse(&"not a file"));
    }
    if metadata.len() > LARGEST {
        return Err(refuse(&"larger than 4 GiB"));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    let mut limited = file.take(LARGEST);
    limited
        .read_to_end(&mut bytes)
        .map_err(|error| refuse(&error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_outside_the_directory_are_refused() {
        for uri in [
            "",
            "/etc/hostname",
            "../x.bin",
            "a/../../x.bin",
            "C:\\x.bin",
            "http://host/x.bin",
            "file:x.bin",
        ] {
            let refused = read_beside(Path::new("."), uri).unwrap_err();
            assert!(refused.contains("not a path inside"), "{uri}: {refused}");
        }
    }

    #[test]
    fn a_missing_file_is_an_error_with_its_path() {
        let error = load(Path::new("no/such/file.glb")).unwrap_err();
        assert_eq!(error.code, "IO_ERROR");
        assert!(error.message.contains("no/such/file.glb"));
    }
}
