//! The binary container (GLB): a header, a JSON chunk and at most one BIN chunk.

use super::log::Log;
use crate::AssetError;

/// The first four bytes of a GLB file.
const MAGIC: &[u8] = b"glTF";
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;
const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;

/// The parts of a file, borrowed from it.
pub(super) struct Parts<'a> {
    /// UTF-8 text.
    pub(super) json: &'a [u8],
    /// The BIN chunk with its padding, if there is one.
    pub(super) bin: Option<&'a [u8]>,
}

/// Tells GLB from JSON by content, and splits it; what is out of order is reported and read if it can be.
///
/// # Errors
///
/// The codes that start with `GLB_`, where no JSON is to be found.
pub(super) fn split<'a>(bytes: &'a [u8], log: &Log) -> Result<Parts<'a>, AssetError> {
    let text = without_bom(bytes, log);
    if text.trim_ascii_start().first() == Some(&b'{') {
        return Ok(Parts {
            json: text,
            bin: None,
        });
    }
    if !bytes.starts_with(MAGIC) && bytes.len() >= HEADER {
        return Err(broken(
            "GLB_INVALID_MAGIC",
            0,
            "neither a JSON object nor a GLB file",
        ));
    }
    let (Some(version), Some(length)) = (word(bytes, 4), word(bytes, 8)) else {
        let message = "the file ends before its header";
        return Err(broken("GLB_UNEXPECTED_END_OF_HEADER", bytes.len(), message));
    };
    if version != 2 {
        let message = format!("version {version} is not 2");
        return Err(broken("GLB_INVALID_VERSION", 4, message));
    }
    let length = length as usize;
    if length <= HEADER {
        let message = format!("a length of {length} bytes leaves no room for a chunk");
        log.error("GLB_LENGTH_TOO_SMALL", "byte 8", message);
    }
    let mut parts = Parts {
        json: &[],
        bin: None,
    };
    let end = length.min(bytes.len());
    let found = chunks(bytes, length, end, &mut parts, log);
    if log
        .first_error()
        .is_some_and(|error| error.code.starts_with("GLB_UNEXPECTED_END"))
    {
        // The place where the file was cut is already named.
    } else if bytes.len() > length {
        let message = "data after the end that the header gives are ignored";
        log.warning("GLB_EXTRA_DATA", format_args!("byte {length}"), message);
    } else if bytes.len() < length {
        let message = format!("the header promises {length} bytes");
        let place = format!("byte {}", bytes.len());
        log.error("GLB_LENGTH_MISMATCH", place, message);
    }
    if found {
        parts.json = without_padding(without_bom(parts.json, log), log);
        return Ok(parts);
    }
    Err(log.first_error().unwrap_or_else(|| {
        broken(
            "GLB_UNEXPECTED_FIRST_CHUNK",
            HEADER,
            "there is no JSON chunk",
        )
    }))
}

/// Walks the chunks; true if one of them is JSON with something in it.
fn chunks<'a>(
    bytes: &'a [u8],
    length: usize,
    end: usize,
    parts: &mut Parts<'a>,
    log: &Log,
) -> bool {
    let (mut json_met, mut bin_met) = (false, false);
    let mut at = HEADER;
    let mut ordinal = 0;
    while at < end {
        let place = format!("byte {at}");
        let (Some(size), Some(kind)) = (word(bytes, at), word(bytes, at + 4)) else {
            let message = "the file ends within the header of a chunk";
            let place = format!("byte {}", bytes.len());
            log.error("GLB_UNEXPECTED_END_OF_CHUNK_HEADER", place, message);
            break;
        };
        let size = size as usize;
        let start = at + CHUNK_HEADER;
        if !size.is_multiple_of(4) {
            let message = format!("a length of {size} bytes is not a multiple of 4");
            log.error("GLB_CHUNK_LENGTH_UNALIGNED", &place, message);
        }
        if start + size > length {
            let message = format!("{size} bytes reach past the end of the file");
            log.error("GLB_CHUNK_TOO_BIG", &place, message);
        } else if start + size > bytes.len() {
            let message = "the file ends within a chunk";
            let place = format!("byte {}", bytes.len());
            log.error("GLB_UNEXPECTED_END_OF_CHUNK_DATA", place, message);
        }
        if ordinal == 0 && kind != JSON {
            let message = "the first chunk is not JSON";
            log.error("GLB_UNEXPECTED_FIRST_CHUNK", &place, message);
        }
        let data = &bytes[start.min(bytes.len())..(start + size).min(bytes.len())];
        match kind {
            JSON | BIN if (kind == JSON && json_met) || (kind == BIN && bin_met) => {
                let message = "a second chunk of its kind is ignored";
                log.error("GLB_DUPLICATE_CHUNK", &place, message);
            }
            JSON if size == 0 => {
                json_met = true;
                log.error("GLB_EMPTY_CHUNK", &place, "the JSON chunk is empty");
            }
            JSON => {
                json_met = true;
                parts.json = data;
            }
            BIN => {
                bin_met = true;
                parts.bin = Some(data);
                if size == 0 {
                    log.info("GLB_EMPTY_BIN_CHUNK", &place, "the BIN chunk is empty");
                }
                if ordinal > 1 {
                    let message = "the BIN chunk is not the second; it is used all the same";
                    log.error("GLB_UNEXPECTED_BIN_CHUNK", &place, message);
                }
            }
            _ => {
                let message = format!("a chunk of unknown type {kind:#010x} is skipped");
                log.warning("GLB_UNKNOWN_CHUNK_TYPE", &place, message);
            }
        }
        at = start + size;
        ordinal += 1;
    }
    !parts.json.is_empty()
}

/// Drops a byte order mark, which glTF forbids.
fn without_bom<'a>(text: &'a [u8], log: &Log) -> &'a [u8] {
    match text.strip_prefix(b"\xEF\xBB\xBF") {
        Some(rest) => {
            let message = "the text starts with a byte order mark, which is ignored";
            log.error("INVALID_JSON", "byte 0", message);
            rest
        }
        None => text,
    }
}

/// Drops zeros after the text: padding must be spaces, but some exporters write zeros.
fn without_padding<'a>(text: &'a [u8], log: &Log) -> &'a [u8] {
    let zeros = text.iter().rev().take_while(|byte| **byte == 0).count();
    if zeros > 0 {
        let message = "the JSON chunk is padded with zeros instead of spaces";
        log.error("INVALID_JSON", "byte 20", message);
    }
    &text[..text.len() - zeros]
}

/// The little-endian word at byte `at`.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

fn broken(code: &'static str, byte: usize, message: impl Into<String>) -> AssetError {
    AssetError {
        code,
        location: format!("byte {byte}"),
        message: message.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glb(chunks: &[(u32, &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (kind, data) in chunks {
            body.extend_from_slice(&(data.len() as u32).to_le_bytes());
            body.extend_from_slice(&kind.to_le_bytes());
            body.extend_from_slice(data);
        }
        let mut file = MAGIC.to_vec();
        file.extend_from_slice(&2_u32.to_le_bytes());
        file.extend_from_slice(&(12 + body.len() as u32).to_le_bytes());
        file.extend_from_slice(&body);
        file
    }

    #[test]
    fn both_chunks_are_found() {
        let file = glb(&[(JSON, b"{}  "), (BIN, b"1234")]);
        let log = Log::default();
        let parts = split(&file, &log).unwrap();
        assert_eq!(parts.json, b"{}  ");
        assert_eq!(parts.bin, Some(b"1234".as_slice()));
        assert!(log.finish().is_empty());
    }

    /// The codes of all findings on a file that can be read, and its JSON.
    fn codes(file: &[u8]) -> (Vec<String>, Vec<u8>) {
        let log = Log::default();
        let json = split(file, &log).unwrap().json.to_vec();
        let findings = log.finish().into_iter();
        (findings.map(|finding| finding.code).collect(), json)
    }

    #[test]
    fn what_is_out_of_order_is_named_and_read() {
        let check = |file: &[u8], expected: &[&str]| {
            let (codes, json) = codes(file);
            assert_eq!(codes, expected);
            assert_eq!(json.trim_ascii(), b"{}");
        };
        let json = (JSON, b"{}  ".as_slice());
        check(&glb(&[json, (7, b"1234")]), &["GLB_UNKNOWN_CHUNK_TYPE"]);
        check(&glb(&[json, json]), &["GLB_DUPLICATE_CHUNK"]);
        check(&glb(&[json, (BIN, b"")]), &["GLB_EMPTY_BIN_CHUNK"]);
        check(&glb(&[(JSON, b"{} ")]), &["GLB_CHUNK_LENGTH_UNALIGNED"]);
        check(&glb(&[(JSON, b"{}\0\0")]), &["INVALID_JSON"]);
        check(&[glb(&[json]), vec![0]].concat(), &["GLB_EXTRA_DATA"]);
        check(b"\xEF\xBB\xBF {}", &["INVALID_JSON"]);
        check(b"\n{}", &[]);
    }

    #[test]
    fn what_is_no_gltf_is_refused_at_its_first_byte() {
        let log = Log::default();
        let error = split(b"Kaydara FBX Binary  ", &log).err().unwrap();
        assert_eq!(
            (error.code, error.location.as_str()),
            ("GLB_INVALID_MAGIC", "byte 0")
        );
    }

    #[test]
    fn every_truncation_of_a_glb_gives_an_error_or_a_finding() {
        let file = glb(&[(JSON, b"{}  "), (BIN, b"1234")]);
        for length in 0..file.len() {
            let log = Log::default();
            let refused = split(&file[..length], &log).is_err();
            assert!(refused || log.first_error().is_some(), "{length} bytes");
        }
    }
}
