//! Our own binary: a document as it is, behind a header that tells damage from difference.
//!
//! Loses nothing, findings included, and loads in one pass; other programs do not read it. The file is 32 bytes of
//! header, little-endian, and a payload:
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | `ANIMPACK` |
//! | 8..12 | kind of content, u32: 1 is a document |
//! | 12..16 | version of that kind, u32 |
//! | 16..24 | length of the payload, u64 |
//! | 24..32 | FNV-1a 64 of the payload, u64 |
//!
//! Version 1 ends before the drivers of a document, version 2 before its tangents; one that has neither, or no tangents, is
//! still written so, for programs that know no other.
//!
//! The payload is bincode 2 with fixed-size integers; no other file knows this, so that another encoding can take its
//! place under the next version.
//!
//! ```
//! use anim_asset::{Document, Node, pack};
//!
//! let document = Document { nodes: vec![Node::default()], ..Document::default() };
//! let bytes = pack::encode(&document);
//! assert_eq!(pack::decode(&bytes), Ok(document));
//! assert_eq!(pack::decode(&bytes[..40]).unwrap_err().location, "byte 40");
//! ```

use std::io::Read;

use bincode::config::{Configuration, Fixint, Limit, LittleEndian, standard};
use bincode::error::DecodeError;

use crate::{AssetError, Document};

/// The first eight bytes of every pack.
pub const MAGIC: [u8; 8] = *b"ANIMPACK";

const KIND_DOCUMENT: u32 = 1;
const VERSION: u32 = 3;
/// Two empty lists, drivers and tangents: version 2 leaves out the second, version 1 both.
const EMPTY_LISTS: [u8; 16] = [0; 16];
const HEADER: usize = 32;

/// The document as a pack.
pub fn encode(document: &Document) -> Vec<u8> {
    let config = standard().with_fixed_int_encoding();
    // Encoding to memory fails only for sequences of unknown length, and a document has none.
    let mut payload = bincode::serde::encode_to_vec(document, config).unwrap_or_default();
    let mut version = VERSION;
    if document.tangents.is_empty() {
        version = if document.drivers.is_empty() { 1 } else { 2 };
        payload.truncate(payload.len().saturating_sub(implied(version).len()));
    }
    let mut pack = Vec::with_capacity(HEADER + payload.len());
    pack.extend(MAGIC);
    pack.extend(KIND_DOCUMENT.to_le_bytes());
    pack.extend(version.to_le_bytes());
    pack.extend((payload.len() as u64).to_le_bytes());
    pack.extend(fnv1a(&payload).to_le_bytes());
    pack.extend(payload);
    pack
}

/// The document in a pack, checked by [`Document::check`].
///
/// Memory is bounded by the size of the pack whatever its counts claim.
///
/// # Errors
///
/// Code `PACK_MAGIC`, `PACK_KIND`, `PACK_VERSION` (written by a newer program), `PACK_LENGTH`, `PACK_CHECKSUM` or
/// `PACK_PAYLOAD` with the byte where reading stopped, or what [`Document::check`] finds.
pub fn decode(pack: &[u8]) -> Result<Document, AssetError> {
    let magic = pack.get(..8).ok_or_else(|| truncated(pack.len()))?;
    if magic != MAGIC {
        return Err(error(
            "PACK_MAGIC",
            0,
            "not a pack: it does not begin with ANIMPACK",
        ));
    }
    let header = pack.get(..HEADER).ok_or_else(|| truncated(pack.len()))?;
    let kind = u32::from_le_bytes(field(header, 8));
    if kind != KIND_DOCUMENT {
        return Err(error(
            "PACK_KIND",
            8,
            format!("content of kind {kind} is no document"),
        ));
    }
    let version = u32::from_le_bytes(field(header, 12));
    if !(1..=VERSION).contains(&version) {
        let message = format!("version {version}; this program reads up to version {VERSION}");
        return Err(error("PACK_VERSION", 12, message));
    }
    let payload = &pack[HEADER..];
    let length = u64::from_le_bytes(field(header, 16));
    if (payload.len() as u64) < length {
        return Err(truncated(pack.len()));
    }
    if payload.len() as u64 > length {
        let excess = payload.len() as u64 - length;
        return Err(error(
            "PACK_LENGTH",
            HEADER + length as usize,
            format!("{excess} bytes too many"),
        ));
    }
    if fnv1a(payload) != u64::from_le_bytes(field(header, 24)) {
        return Err(error(
            "PACK_CHECKSUM",
            24,
            "the checksum does not match: the pack is damaged",
        ));
    }
    let document = decode_payload(payload, implied(version))?;
    document.check()?;
    Ok(document)
}

/// What a payload of `version` leaves out at its end.
fn implied(version: u32) -> &'static [u8] {
    let lists = VERSION.saturating_sub(version) as usize;
    &EMPTY_LISTS[..8 * lists]
}

/// Decodes a payload and what its version implies at its end, under the smallest limit that admits the payload, because bincode takes its limit at compile time.
fn decode_payload(payload: &[u8], implied: &[u8]) -> Result<Document, AssetError> {
    const MIB: usize = 1 << 20;
    match payload.len().div_ceil(64 * MIB) {
        0..=1 => decode_within::<{ 64 * MIB }>(payload, implied),
        2..=4 => decode_within::<{ 256 * MIB }>(payload, implied),
        5..=16 => decode_within::<{ 1024 * MIB }>(payload, implied),
        17..=64 => decode_within::<{ 4096 * MIB }>(payload, implied),
        _ => Err(error("PACK_LENGTH", 16, "larger than 4 GiB")),
    }
}

fn decode_within<const LIMIT: usize>(
    payload: &[u8],
    implied: &[u8],
) -> Result<Document, AssetError> {
    let config: Configuration<LittleEndian, Fixint, Limit<LIMIT>> =
        standard().with_fixed_int_encoding().with_limit::<LIMIT>();
    let mut reader = payload.chain(implied);
    let decoded: Result<Document, DecodeError> =
        bincode::serde::decode_from_std_read(&mut reader, config);
    let (rest, implied) = reader.get_ref();
    let place = HEADER + payload.len() - rest.len();
    let left = rest.len() + implied.len();
    match decoded {
        Ok(document) if left == 0 => Ok(document),
        Ok(_) => Err(error(
            "PACK_PAYLOAD",
            place,
            format!("{left} bytes are left over"),
        )),
        Err(cause) => Err(error("PACK_PAYLOAD", place, describe(&cause))),
    }
}

fn describe(cause: &DecodeError) -> String {
    match cause {
        DecodeError::UnexpectedEnd { .. } | DecodeError::Io { .. } => {
            "a value is cut off".to_owned()
        }
        DecodeError::LimitExceeded => "a count is larger than the pack".to_owned(),
        DecodeError::OtherString(message) => message.clone(),
        _ => "a value that cannot be".to_owned(),
    }
}

/// FNV-1a, 64 bits. Source: Fowler, Noll, Vo, Eastlake, RFC 9923.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The N bytes of the header at `offset`, which the caller has seen to be there.
fn field<const N: usize>(header: &[u8], offset: usize) -> [u8; N] {
    std::array::from_fn(|i| header[offset + i])
}

fn truncated(length: usize) -> AssetError {
    error("PACK_LENGTH", length, "the pack ends too early")
}

fn error(code: &'static str, byte: usize, message: impl Into<String>) -> AssetError {
    AssetError {
        code,
        location: format!("byte {byte}"),
        message: message.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv1a_agrees_with_the_published_vectors() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
