//! A fingerprint of state: equal bits, equal hash, on every machine.

/// FNV-1a over 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Takes in the bits of floats, little-endian.
    pub(crate) fn floats<'a>(&mut self, values: impl IntoIterator<Item = &'a f32>) {
        for value in values {
            self.bytes(&value.to_bits().to_le_bytes());
        }
    }

    /// As [`floats`](Self::floats), of doubles.
    pub(crate) fn doubles(&mut self, values: impl IntoIterator<Item = f64>) {
        for value in values {
            self.bytes(&value.to_bits().to_le_bytes());
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}
