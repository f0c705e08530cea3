//! The Ogawa container: a tree of groups and data in one stream, children before parents.
//!
//! A group is its number of children and then a 64-bit place for each; data are their size and then their bytes. The top
//! bit of a place marks data; a place of 0 is empty.

use std::collections::BTreeMap;

use super::digest::digest;

/// Marks the place of data.
pub(super) const DATA: u64 = 1 << 63;

/// Bytes before the first child: magic, frozen, version 1 and the place of the root.
const HEADER: [u8; 16] = *b"Ogawa\xff\x00\x01\0\0\0\0\0\0\0\0";

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
