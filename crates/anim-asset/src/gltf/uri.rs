//! Uniform resource identifiers: percent escapes and embedded data.

use std::borrow::Cow;

/// Replaces `%XX` by the byte that it stands for; what is not an escape stays.
pub(super) fn percent_decode(text: &str) -> Cow<'_, [u8]> {
    if !text.contains('%') {
        return Cow::Borrowed(text.as_bytes());
    }
    let bytes = text.as_bytes();
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match digit(at + 1).zip(digit(at + 2)) {
            Some((high, low)) if bytes[at] == b'%' => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    Cow::Owned(decoded)
}

/// The bytes of a `data:` URI, or what is wrong with it.
///
/// Any media type will do; base64 may lack its padding, and may be percent-encoded.
pub(super) fn decode_data(uri: &str) -> Result<Vec<u8>, String> {
    let (head, payload) = uri.split_once(',').ok_or("a data URI without a comma")?;
    let payload = percent_decode(payload);
    if head.to_ascii_lowercase().ends_with(";base64") {
        decode_base64(&payload)
    } else {
        Ok(payload.into_owned())
    }
}

/// Decodes the standard alphabet of RFC 4648.
fn decode_base64(text: &[u8]) -> Result<Vec<u8>, String> {
    let padding = text.iter().rev().take_while(|c| **c == b'=').count();
    let digits = &text[..text.len() - padding];
    if padding > 2 || digits.len() % 4 == 1 {
        return Err(format!(
            "{} base64 digits and {padding} pads do not end on a byte",
            digits.len()
        ));
    }
    let mut decoded = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for (group, chunk) in digits.chunks(4).enumerate() {
        let mut word = 0;
        for (place, digit) in chunk.iter().enumerate() {
            let value = sextet(*digit)
                .ok_or_else(|| format!("character {} is not base64", group * 4 + place))?;
            word |= value << (18 - 6 * place);
        }
        let bytes = [(word >> 16) as u8, (word >> 8) as u8, word as u8];
        decoded.extend_from_slice(&bytes[..chunk.len() * 3 / 4]);
    }
    Ok(decoded)
}

fn sextet(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_decodes_the_vectors_of_rfc_4648() {
        let check = |text: &str, expected: &str| {
            let uri = format!("data:application/octet-stream;base64,{text}");
            assert_eq!(decode_data(&uri).unwrap(), expected.as_bytes(), "{text}");
        };
        check("", "");
        check("Zg==", "f");
        check("Zm8=", "fo");
        check("Zm9v", "foo");
        check("Zm9vYg", "foob");
        check("Zm9vYmE%3D", "fooba");
        check("Zm9vYmFy", "foobar");
    }

    #[test]
    fn broken_data_are_told() {
        assert!(decode_data("data:;base64,A").is_err());
        assert!(decode_data("data:;base64,AB!D").is_err());
        assert!(decode_data("data:;base64").is_err());
        assert_eq!(decode_data("data:,a%20b").unwrap(), b"a b");
    }

    #[test]
    fn escapes_that_are_none_stay() {
        assert_eq!(percent_decode("a%2Fb%zz%4").as_ref(), b"a/b%zz%4");
    }
}
