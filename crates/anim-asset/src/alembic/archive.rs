//! The Ogawa container: a tree of groups and data in one stream, children before parents.
//!
//! A group is its number of children and then a 64-bit place for each; data are their size and then their bytes. The top
//! bit of a place marks data; a place of 0 is empty.

use std::collections::BTreeMap;

use super::digest::digest;
use crate::AssetError;

/// Marks the place of data.
pub(super) const DATA: u64 = 1 << 63;

/// Bytes before the first child: magic, frozen, version 1 and the place of the root.
const HEADER: [u8; 16] = *b"Ogawa\xff\x00\x01\0\0\0\0\0\0\0\0";

/// What is wrong at a place of a file.
pub(super) fn damage(place: u64, message: &str) -> AssetError {
    AssetError {
        code: "ABC_DAMAGED",
        location: format!("byte {}", place & !DATA),
        message: message.into(),
    }
}

/// A file on its way in.
#[derive(Clone, Copy)]
pub(super) struct Archive<'a>(&'a [u8]);

impl<'a> Archive<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, AssetError> {
        match bytes.get(..HEADER.len()) {
            Some(header) if header[..8] == HEADER[..8] => Ok(Self(bytes)),
            _ => Err(AssetError {
                code: "ABC_MAGIC",
                ..damage(0, "not a finished Ogawa archive of version 1")
            }),
        }
    }

    /// The place of the root.
    pub(super) fn root(&self) -> u64 {
        self.word(8).unwrap_or_default()
    }

    /// The bytes at a place of data.
    pub(super) fn data(&self, place: u64) -> Result<&'a [u8], AssetError> {
        if place == DATA {
            return Ok(&[]);
        }
        let bytes = (place & DATA != 0).then(|| {
            let start = usize::try_from(place & !DATA).ok()?;
            let size = usize::try_from(self.word(start)?).ok()?;
            self.0.get(start + 8..)?.get(..size)
        });
        bytes.flatten().ok_or_else(|| damage(place, "no data"))
    }

    /// The children of the group at a place.
    pub(super) fn group(&self, place: u64) -> Result<Vec<u64>, AssetError> {
        if place == 0 {
            return Ok(Vec::new());
        }
        let children = (place & DATA == 0).then(|| {
            let start = usize::try_from(place).ok()?;
            let size = usize::try_from(self.word(start)?).ok()?.checked_mul(8)?;
            let words = self.0.get(start + 8..)?.get(..size)?.as_chunks::<8>().0;
            Some(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
        });
        children.flatten().ok_or_else(|| damage(place, "no group"))
    }

    fn word(&self, start: usize) -> Option<u64> {
        let bytes = self.0.get(start..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*bytes))
    }
}

/// A file on its way out.
pub(super) struct ArchiveWriter {
    bytes: Vec<u8>,
    /// Where samples are that were written before.
    samples: BTreeMap<([u8; 16], usize), u64>,
}

impl ArchiveWriter {
    pub(super) fn new() -> Self {
        Self {
            bytes: HEADER.to_vec(),
            samples: BTreeMap::new(),
        }
    }

    /// Writes data and returns their place.
    pub(super) fn data(&mut self, bytes: &[u8]) -> u64 {
        if bytes.is_empty() {
            return DATA;
        }
        let place = self.bytes.len() as u64;
        self.bytes.extend((bytes.len() as u64).to_le_bytes());
        self.bytes.extend(bytes);
        place | DATA
    }

    /// Writes a sample behind its key, once, and returns its place.
    pub(super) fn sample(&mut self, bytes: &[u8]) -> u64 {
        if bytes.is_empty() {
            return DATA;
        }
        let key = digest(bytes);
        if let Some(place) = self.samples.get(&(key, bytes.len())) {
            return *place;
        }
        let place = self.data(&[key.as_slice(), bytes].concat());
        self.samples.insert((key, bytes.len()), place);
        place
    }

    /// Writes a group and returns its place.
    pub(super) fn group(&mut self, children: &[u64]) -> u64 {
        if children.is_empty() {
            return 0;
        }
        let place = self.bytes.len() as u64;
        self.bytes.extend((children.len() as u64).to_le_bytes());
        self.bytes
            .extend(children.iter().flat_map(|child| child.to_le_bytes()));
        place
    }

    /// The file, with its root.
    pub(super) fn finish(mut self, root: u64) -> Vec<u8> {
        self.bytes[8..16].copy_from_slice(&root.to_le_bytes());
        self.bytes
    }
}
