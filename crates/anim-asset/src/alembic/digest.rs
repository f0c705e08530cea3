//! The key of a sample: MurmurHash3, 128 bits for 64-bit machines, seed 0, by Austin Appleby (public domain).
//!
//! Readers take two samples of one key for the same, so it has to be this function.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// The key of `bytes`.
pub(super) fn digest(bytes: &[u8]) -> [u8; 16] {
    let (mut h1, mut h2) = (0u64, 0u64);
    let mut blocks = bytes.chunks_exact(16);
    for block in &mut blocks {
        h1 ^= first(word(&block[..8]));
        h1 = h1.rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= second(word(&block[8..]));
        h2 = h2.rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    // Missing bytes of the last block are zero, and zero words leave the state alone.
    let tail = blocks.remainder();
    let (low, high) = tail.split_at(tail.len().min(8));
    h2 ^= second(word(high));
    h1 ^= first(word(low));
    h1 ^= bytes.len() as u64;
    h2 ^= bytes.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = mix(h1);
    h2 = mix(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    let mut out = [0; 16];
    out[..8].copy_from_slice(&h1.to_le_bytes());
    out[8..].copy_from_slice(&h2.to_le_bytes());
    out
}

/// Up to eight bytes, little-endian.
fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn first(word: u64) -> u64 {
    word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn second(word: u64) -> u64 {
    word.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn mix(mut k: u64) -> u64 {
    k ^= k >> 33;
    k = k.wrapping_mul(0xff51_afd7_ed55_8ccd);
    k ^= k >> 33;
    k = k.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ k >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys that Maya's exporter wrote.
    #[test]
    fn keys_are_those_of_other_writers() {
        assert_eq!(
            digest(&[1]),
            *b"\x16\xfet\x83\x90\\\xcez\x85g\x0eC\xe4g\x88w"
        );
        assert_eq!(
            digest(&[0x10]),
            *b"\x03r4\x14\xee\xf1\x9c\xc1/\x17\xd3\x9b\xad\x9f\xba2"
        );
        let translation = *b"\x00\x00\x00\x00\x00\x00\x00\x00\xe4 \xef\xda\xb8\xa5\xd8?\x00\x00\x00\x00\x00\x00\x00\x00";
        assert_eq!(
            digest(&translation),
            *b"G\x96T\xcf\xe1\x9a\xe8\xdemrG\xc6\x98\xe4\xde\x0e"
        );
    }
}
