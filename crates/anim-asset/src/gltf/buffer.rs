//! Buffers and the views into them.

use std::borrow::Cow;

use super::budget::Budget;
use super::json::Json;
use super::log::Log;
use super::uri;
use crate::AssetError;

/// Gives the bytes of a relative URI, or says why not.
pub(super) type External<'e> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'e;

/// The bytes of one buffer; `None` where the file has none for it.
pub(super) type Buffer<'a> = Option<Cow<'a, [u8]>>;

/// A part of a buffer.
pub(super) struct View<'a> {
    /// What is there of it, which is less than it claims where the buffer is too short.
    pub(super) bytes: Option<&'a [u8]>,
    /// What it claims.
    pub(super) length: usize,
    /// Where it starts in its buffer.
    pub(super) offset: usize,
    /// Bytes from one element to the next, if given.
    pub(super) stride: Option<usize>,
    /// The code of what it is for, if given.
    pub(super) target: Option<usize>,
}

/// Fetches all buffers: from the BIN chunk, from data URIs, or through `external`.
///
/// # Errors
///
/// `IO_ERROR` if `external` fails, `INVALID_URI` for data that cannot be decoded, `TOO_LARGE`.
pub(super) fn buffers<'a>(
    root: &Json<'_>,
    bin: Option<&'a [u8]>,
    external: &mut External<'_>,
    log: &Log,
    budget: &Budget,
) -> Result<Vec<Buffer<'a>>, AssetError> {
    let mut fetched = Vec::new();
    let mut met = std::collections::BTreeSet::new();
    for (index, json) in root.list("buffers").iter().enumerate() {
        let place = format!("/buffers/{index}");
        let declared = json.count("byteLength").unwrap_or(0);
        let buffer: Buffer<'a> = match (json.text("uri"), bin) {
            (Some(uri), _) if uri.starts_with("data:") => {
                budget.take(uri.len(), 1, &place)?;
                let data = uri::decode_data(uri)
                    .map_err(|message| failure("INVALID_URI", &place, message))?;
                Some(Cow::Owned(data))
            }
            (Some(uri), _) => {
                let path = String::from_utf8_lossy(&uri::percent_decode(uri)).into_owned();
                let mut data =
                    external(&path).map_err(|message| failure("IO_ERROR", &place, message))?;
                if met.insert(uri) {
                    budget.grow(data.len());
                } else {
                    budget.take(data.len(), 1, &place)?;
                }
                data.truncate(declared);
                Some(Cow::Owned(data))
            }
            (None, Some(bin)) if index == 0 => {
                // The chunk may end in up to three bytes of padding.
                if bin.len() > declared.saturating_add(3) {
                    let message = format!("the BIN chunk has {} bytes", bin.len());
                    log.warning("BUFFER_GLB_CHUNK_TOO_BIG", &place, message);
                }
                Some(Cow::Borrowed(bin))
            }
            (None, _) => {
                let message = "no uri and no BIN chunk: what refers to it is left out";
                log.warning("BUFFER_WITHOUT_DATA", &place, message);
                None
            }
        };
        if let Some(data) = buffer.as_ref().filter(|data| data.len() < declared) {
            let message = format!("{} bytes instead of {declared}", data.len());
            log.error("BUFFER_BYTE_LENGTH_MISMATCH", &place, message);
        }
        fetched.push(buffer);
    }
    Ok(fetched)
}

fn failure(code: &'static str, place: &str, message: String) -> AssetError {
    AssetError {
        code,
        location: format!("{place}/uri"),
        message,
    }
}

/// All buffer views; those that do not fit are reported and clipped.
pub(super) fn views<'a>(root: &Json<'_>, buffers: &'a [Buffer<'_>], log: &Log) -> Vec<View<'a>> {
    let lengths = root.list("buffers");
    let view = |(index, json): (usize, &Json<'_>)| {
        let place = format!("/bufferViews/{index}");
        let offset = json.count("byteOffset").unwrap_or(0);
        let length = json.count("byteLength").unwrap_or(0);
        let buffer = json.count("buffer");
        let end = offset.saturating_add(length);
        if let Some(whole) = buffer.and_then(|b| lengths.get(b)?.count("byteLength"))
            && end > whole
        {
            let what = if offset >= whole {
                "byteOffset"
            } else {
                "byteLength"
            };
            let message = format!("bytes {offset} to {end} of a buffer of {whole}");
            log.error(
                "BUFFER_VIEW_TOO_LONG",
                format_args!("{place}/{what}"),
                message,
            );
        }
        let stride = json.count("byteStride").filter(|stride| *stride > 0);
        if let Some(stride) = stride.filter(|stride| *stride > length) {
            let message = format!("a stride of {stride} in a view of {length} bytes");
            let place = format!("{place}/byteStride");
            log.error("BUFFER_VIEW_TOO_BIG_BYTE_STRIDE", place, message);
        }
        let data = buffer.and_then(|b| buffers.get(b)?.as_deref());
        let compressed = COMPRESSED.iter().find(|name| {
            json.get("extensions")
                .is_some_and(|e| e.get(name).is_some())
        });
        if let Some(name) = compressed.filter(|_| data.is_none()) {
            let message = "the data are only there compressed, and are left out";
            let place = format!("{place}/extensions/{name}");
            log.error("UNSUPPORTED_EXTENSION", place, message);
        }
        View {
            bytes: data.map(|data| &data[offset.min(data.len())..end.min(data.len())]),
            length,
            offset,
            stride,
            target: json.count("target"),
        }
    };
    let views = root.list("bufferViews");
    views.iter().enumerate().map(view).collect()
}

/// Extensions that replace the bytes of a view.
const COMPRESSED: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];
