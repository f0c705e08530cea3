//! One door to every format that is written.

use crate::{Document, gltf, pack};

/// A format that documents are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Binary glTF 2.0, `.glb`.
    Glb,
    /// glTF 2.0 as JSON with the buffer inside, `.gltf`.
    Gltf,
    /// Our own binary, `.pack`: smallest to read, nothing lost, not for other programs.
    Pack,
}

impl Format {
    /// The format of a file extension, without its dot, in any case; `None` if it is not one of ours.
    pub fn from_extension(extension: &str) -> Option<Self> {
        [
            ("glb", Self::Glb),
            ("gltf", Self::Gltf),
            ("pack", Self::Pack),
        ]
        .into_iter()
        .find_map(|(known, format)| extension.eq_ignore_ascii_case(known).then_some(format))
    }
}

/// The document as a file of `format`.
pub fn encode(document: &Document, format: Format) -> Vec<u8> {
    match format {
        Format::Glb => gltf::write(document),
        Format::Gltf => gltf::write_json(document, None).0.into_bytes(),
        Format::Pack => pack::encode(document),
    }
}
