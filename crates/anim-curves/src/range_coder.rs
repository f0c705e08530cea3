//! An entropy coder for integers that are mostly small, such as what is left of samples after prediction.
//!
//! How large the next integer will be is learnt from those before it ([`Size`]); nothing has to be declared, so short
//! streams pay no tables. Each is looked up in one of a few dozen fixed distributions, so decoding takes one table read,
//! one multiplication and rarely a branch. [`LANES`] coders share one stream, so that a processor works on several
//! integers at once. Use it for residuals; text and other bytes want a general compressor.
//!
//! Source: Duda, "Asymmetric numeral systems", arXiv 1311.2540 (rANS); Giesen, "Interleaved entropy coders", arXiv
//! 1402.3392. The distributions are two-sided geometric: P(k) = (1 − θ) / (1 + θ) · θ^|k|, with θ by E|k| = 2θ / (1 − θ²).
//!
//! ```
//! use anim_curves::range_coder::{Decoder, Encoder, Models, Size};
//!
//! let models = Models::new();
//! let residuals = [0, 0, 1, 0, -1, 0, 0, 250, 0, 0];
//! let mut encoder = Encoder::new(&models);
//! let mut size = Size::default();
//! for residual in residuals {
//!     encoder.push(0, &mut size, residual);
//! }
//! let bytes = encoder.finish();
//!
//! let mut decoder = Decoder::new(&bytes, &models);
//! let mut size = Size::default();
//! assert_eq!(residuals.map(|_| decoder.next(0, &mut size)), residuals);
//! assert!(decoder.is_at_end());
//! ```

/// Coders that share a stream; consecutive integers of different lanes are decoded side by side.
pub const LANES: usize = 4;

/// The largest magnitude that can be coded.
pub const MAX_MAGNITUDE: i32 = (1 << 24) - 1;

/// Probabilities are in units of 1/2048.
const PRECISION: u32 = 11;
const TOTAL: u32 = 1 << PRECISION;
/// States stay at or above this between steps, and move 16 bits at a time.
const FLOOR: u32 = 1 << 16;
/// Integers up to this magnitude are symbols of their own.
const DIRECT: i32 = 7;
/// Larger ones share a symbol for each power of two, and a sign and more bits follow plainly.
const OCTAVES: usize = 21;
const SYMBOLS: usize = 2 * DIRECT as usize + 1 + OCTAVES;
/// Fraction bits of a [`Size`].
const FRACTION: u32 = 8;
/// Means are told apart up to this one.
const MAX_MEAN: u32 = 1 << 11;
/// The distributions, two for each doubling of the mean magnitude, from 1/64 to [`MAX_MEAN`].
const MODELS: usize = 35;

/// Integers that `bytes` bytes may be taken to stand for: 2²⁰, and 1024 for each byte.
///
/// Nearly all integers cost more, but runs of zeros cost little, and a forged file may claim anything. A reader that
/// refuses to make room for more is safe from it; a writer appends zeros ([`pad`]) in the rare case that it must.
pub const fn capacity(bytes: usize) -> usize {
    SPARE.saturating_add(A_BYTE.saturating_mul(bytes))
}

/// Appends zeros, which [`Decoder::is_at_end`] allows, until the [`capacity`] of the bytes is at least `count`.
pub fn pad(bytes: &mut Vec<u8>, count: usize) {
    let least = count.saturating_sub(SPARE).div_ceil(A_BYTE);
    bytes.resize(bytes.len().max(least), 0);
}

const SPARE: usize = 1 << 20;
const A_BYTE: usize = 1024;

/// The recent mean magnitude of a kind of integers, which chooses how the next one is coded.
///
/// The choice is one integer late, so that a decoder can look up an integer before it knows the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    mean: u32,
    model: u32,
}

impl Size {
    /// What to expect before any integer was seen.
    pub const fn new(mean_magnitude: u16) -> Self {
        let mean = mean_magnitude as u32;
        let mean = (if mean < MAX_MEAN { mean } else { MAX_MEAN }) << FRACTION;
        let model = model_of(mean);
        Self { mean, model }
    }

    /// Moves an eighth of the way to `magnitude`, at most [`MAX_MEAN`].
    #[inline(always)]
    fn learn(&mut self, magnitude: u32) {
        self.model = model_of(self.mean);
        self.mean = self.mean - (self.mean >> 3) + (magnitude << (FRACTION - 3));
    }
}

impl Default for Size {
    fn default() -> Self {
        Self::new(2)
    }
}

/// Half octaves of the mean above 1/64: the exponent of a float and the first bit behind the point.
#[inline(always)]
const fn model_of(mean: u32) -> u32 {
    const LOWEST: u32 = (4.0_f32).to_bits() >> 22;
    let mean = (mean | 4) as i32 as f32;
    (mean.to_bits() >> 22) - LOWEST
}

/// A symbol's share of the interval [0, 2048).
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    start: u32,
    width: u32,
}

/// The shares of all symbols in one distribution.
fn shares(model: usize) -> [Share; SYMBOLS] {
    let octave = f64::from(1_u32 << (model / 2)) / 64.0;
    // The middle of the half octave.
    let mean = octave * if model.is_multiple_of(2) { 1.25 } else { 1.75 };
    let theta = ((1.0 + mean * mean).sqrt() - 1.0) / mean;
    let mut chances = [0.0; SYMBOLS];
    let mut chance = (1.0 - theta) / (1.0 + theta);
    for magnitude in 0..=DIRECT {
        chances[symbol_of(magnitude)] = chance;
        chances[symbol_of(-magnitude)] = chance;
        chance *= theta;
    }
    // P(|k| in [m, 2m)) = 2 p₀ θᵐ (1 − θᵐ) / (1 − θ), m = 8, 16, 32…; `chance` is p₀ θ⁸ here.
    let scale = 2.0 * (1.0 - theta) / (1.0 + theta) / (1.0 - theta);
    let mut power = chance / ((1.0 - theta) / (1.0 + theta));
    for octave in &mut chances[SYMBOLS - OCTAVES..] {
        *octave = scale * power * (1.0 - power);
        power *= power;
    }
    let mut shares = chances.map(|chance| Share {
        start: 0,
        width: 1 + (chance * f64::from(TOTAL - SYMBOLS as u32)) as u32,
    });
    let spare = TOTAL - shares.iter().map(|share| share.width).sum::<u32>();
    let likeliest = if chances[symbol_of(0)] > chances[SYMBOLS - OCTAVES] {
        symbol_of(0)
    } else {
        SYMBOLS - OCTAVES
    };
    shares[likeliest].width += spare;
    let mut start = 0;
    for share in &mut shares {
        share.start = start;
        start += share.width;
    }
    shares
}

/// The symbol of an integer of at most [`DIRECT`].
fn symbol_of(value: i32) -> usize {
    (value + DIRECT) as usize
}

/// Plain bits, coded in pieces that a state can take.
const PLAIN_BITS: u32 = 12;

/// What is coded, in the order it will be decoded.
#[derive(Clone, Copy, Debug)]
enum Step {
    Share(Share),
    Plain { value: u32, bits: u32 },
}

/// The distributions, which coders share; 280 kB, built in some ten microseconds.
#[derive(Clone, Debug)]
pub struct Models {
    shares: Vec<[Share; SYMBOLS]>,
    /// For each model and each of 2048 places: symbol, width − 1, place within the share.
    places: Vec<u32>,
}

impl Models {
    /// Always the same ones.
    pub fn new() -> Self {
        let shares: Vec<_> = (0..MODELS).map(shares).collect();
        let mut places = vec![0; MODELS << PRECISION];
        let models = shares.iter().zip(places.chunks_exact_mut(TOTAL as usize));
        for (shares, places) in models {
            for (symbol, share) in shares.iter().enumerate() {
                let start = share.start as usize;
                let packed = (symbol as u32) << (2 * PRECISION) | (share.width - 1) << PRECISION;
                let places = &mut places[start..start + share.width as usize];
                for (offset, place) in places.iter_mut().enumerate() {
                    *place = packed | offset as u32;
                }
            }
        }
        Self { shares, places }
    }
}

impl Default for Models {
    fn default() -> Self {
        Self::new()
    }
}

/// Gathers integers and codes them all at the end, because this coder runs backwards.
#[derive(Clone, Debug)]
pub struct Encoder<'m> {
    steps: Vec<(u8, Step)>,
    models: &'m Models,
}

impl<'m> Encoder<'m> {
    /// Nothing yet.
    pub fn new(models: &'m Models) -> Self {
        Self {
            steps: Vec::new(),
            models,
        }
    }

    /// Appends `value` to `lane`, and learns its size; what is beyond [`MAX_MAGNITUDE`] becomes that.
    ///
    /// # Panics
    ///
    /// If there is no such lane.
    pub fn push(&mut self, lane: usize, size: &mut Size, value: i32) {
        assert!(lane < LANES, "lane {lane} of {LANES}");
        let value = value.clamp(-MAX_MAGNITUDE, MAX_MAGNITUDE);
        let magnitude = value.unsigned_abs();
        let shares = &self.models.shares[size.model as usize];
        if magnitude <= DIRECT.unsigned_abs() {
            let share = shares[symbol_of(value)];
            self.steps.push((lane as u8, Step::Share(share)));
        } else {
            let bits = magnitude.ilog2();
            let share = shares[SYMBOLS - OCTAVES + bits as usize - 3];
            self.steps.push((lane as u8, Step::Share(share)));
            let rest = magnitude ^ (1 << bits);
            self.push_bits(lane, rest << 1 | u32::from(value < 0), bits + 1);
        }
        size.learn(magnitude.min(MAX_MEAN));
    }

    /// Appends the lowest `bits` of `value` to `lane` as they are; 32 at most.
    ///
    /// # Panics
    ///
    /// If there is no such lane.
    pub fn push_bits(&mut self, lane: usize, value: u32, bits: u32) {
        assert!(lane < LANES, "lane {lane} of {LANES}");
        let mut done = 0;
        while done < bits.min(32) {
            let piece = (bits - done).min(PLAIN_BITS);
            let value = value >> done & ((1 << piece) - 1);
            let step = Step::Plain { value, bits: piece };
            self.steps.push((lane as u8, step));
            done += piece;
        }
    }

    /// The stream: four states, then what they were too full to hold.
    pub fn finish(self) -> Vec<u8> {
        let mut states = [FLOOR; LANES];
        let mut words = Vec::new();
        for (lane, step) in self.steps.into_iter().rev() {
            let state = &mut states[usize::from(lane)];
            let (width, precision) = match step {
                Step::Share(share) => (share.width, PRECISION),
                Step::Plain { bits, .. } => (1, bits),
            };
            // The state must stay below 2³² after it grows by 2^precision / width.
            if u64::from(*state) >= u64::from(width) << (32 - precision) {
                words.push(*state as u16);
                *state >>= 16;
            }
            *state = match step {
                Step::Share(Share { start, width }) => {
                    ((*state / width) << PRECISION) + start + *state % width
                }
                Step::Plain { value, bits } => *state << bits | value,
            };
        }
        let mut bytes: Vec<u8> = states.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.extend(words.into_iter().rev().flat_map(u16::to_le_bytes));
        bytes
    }
}

/// Reads what an [`Encoder`] wrote; any bytes decode to something.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<'a> {
    states: [u32; LANES],
    words: Words<'a>,
    places: &'a [u32],
}

/// The part of a stream that is still to be read.
#[derive(Clone, Copy, Debug)]
struct Words<'a> {
    words: &'a [[u8; 2]],
    at: usize,
}

impl Words<'_> {
    /// The state, with 16 more bits if it is low. Without a branch, which no processor could foresee.
    #[inline(always)]
    fn refill(&mut self, state: u32) -> u32 {
        let word = self.words.get(self.at).copied().unwrap_or_default();
        let filled = state << 16 | u32::from(u16::from_le_bytes(word));
        let is_low = state < FLOOR;
        self.at += usize::from(is_low);
        std::hint::select_unpredictable(is_low, filled, state)
    }

    /// Plain bits, 32 at most, and the state after them.
    fn plain(&mut self, mut state: u32, bits: u32) -> (u32, u32) {
        let (mut value, mut done) = (0, 0);
        while done < bits.min(32) {
            let piece = (bits - done).min(PLAIN_BITS);
            value |= (state & ((1 << piece) - 1)) << done;
            state = self.refill(state >> piece);
            done += piece;
        }
        (value, state)
    }

    /// An integer of magnitude [2^octave, 2^(octave + 1)), the state and the place after it.
    #[cold]
    #[inline(never)]
    fn large(mut self, state: u32, octave: u32) -> (i32, u32, usize) {
        let (plain, state) = self.plain(state, octave + 1);
        let magnitude = (1 << octave | plain >> 1) as i32;
        let value = if plain & 1 == 0 {
            magnitude
        } else {
            -magnitude
        };
        (value, state, self.at)
    }
}

impl<'a> Decoder<'a> {
    /// Starts at the front of a stream.
    pub fn new(bytes: &'a [u8], models: &'a Models) -> Self {
        let (states, rest) = bytes.split_at(bytes.len().min(4 * LANES));
        let (states, _) = states.as_chunks();
        let (words, _) = rest.as_chunks();
        let state = |lane: usize| {
            states
                .get(lane)
                .map_or(0, |state| u32::from_le_bytes(*state))
        };
        Self {
            states: std::array::from_fn(state),
            words: Words { words, at: 0 },
            places: &models.places,
        }
    }

    /// The next integer of `lane`; past the end of the stream some integer.
    ///
    /// # Panics
    ///
    /// If there is no such lane.
    #[inline(always)]
    pub fn next(&mut self, lane: usize, size: &mut Size) -> i32 {
        let state = self.states[lane];
        let place = self.places[((size.model << PRECISION) + (state & (TOTAL - 1))) as usize];
        let symbol = (place >> (2 * PRECISION)) as i32;
        let width = (place >> PRECISION & (TOTAL - 1)) + 1;
        let state = width * (state >> PRECISION) + (place & (TOTAL - 1));
        let state = self.words.refill(state);
        if symbol <= 2 * DIRECT {
            let value = symbol - DIRECT;
            self.states[lane] = state;
            size.learn(value.unsigned_abs());
            return value;
        }
        let octave = (symbol - 2 * DIRECT + 2) as u32;
        let (value, state, at) = self.words.large(state, octave);
        self.words.at = at;
        self.states[lane] = state;
        size.learn(value.unsigned_abs().min(MAX_MEAN));
        value
    }

    /// The next `bits` plain bits of `lane`; 32 at most.
    ///
    /// # Panics
    ///
    /// If there is no such lane.
    pub fn next_bits(&mut self, lane: usize, bits: u32) -> u32 {
        let (value, state) = self.words.plain(self.states[lane], bits);
        self.states[lane] = state;
        value
    }

    /// True if all that was written has been read, no more, and it fits together: broken streams rarely do.
    ///
    /// Zeros may follow the stream.
    pub fn is_at_end(&self) -> bool {
        let rest = self.words.words.get(self.words.at..);
        self.states == [FLOOR; LANES]
            && rest.is_some_and(|rest| rest.as_flattened().iter().all(|byte| *byte == 0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn coded(values: &[(usize, i32)]) -> Vec<u8> {
        let models = Models::new();
        let mut encoder = Encoder::new(&models);
        let mut sizes = [Size::default(); LANES];
        for (lane, value) in values {
            encoder.push(*lane, &mut sizes[*lane], *value);
        }
        encoder.finish()
    }

    #[test]
    fn every_distribution_fills_the_interval() {
        for model in 0..MODELS {
            let shares = shares(model);
            assert!(shares.iter().all(|share| share.width > 0));
            let ends = shares.iter().map(|share| share.start + share.width);
            let starts = shares.iter().skip(1).map(|share| share.start);
            assert!(ends.clone().zip(starts).all(|(end, start)| end == start));
            assert_eq!(ends.max(), Some(TOTAL));
        }
    }

    #[test]
    fn geometric_integers_take_little_more_than_their_entropy() {
        // P(k) = (1 − θ)/(1 + θ) θ^|k| with θ = 1/2 has an entropy of log₂ 3 + 4/3 bits.
        let mut random = 1_u64;
        let mut bit = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            random >> 63 == 1
        };
        let mut value = || loop {
            let sign = if bit() { 1 } else { -1 };
            let magnitude = (0..).take_while(|_| bit()).count() as i32;
            // Zero has one sign only.
            if magnitude > 0 || sign > 0 {
                return sign * magnitude;
            }
        };
        let values: Vec<_> = (0..40_000).map(|i| (i % LANES, value())).collect();
        let bits = 8.0 * coded(&values).len() as f64 / values.len() as f64;
        let entropy = 3_f64.log2() + 4.0 / 3.0;
        assert!(
            (entropy..1.06 * entropy).contains(&bits),
            "{bits} {entropy}"
        );
    }

    #[test]
    fn zeros_cost_next_to_nothing() {
        let bytes = coded(&vec![(0, 0); 8000]);
        assert!(bytes.len() < 16 + 8000 / 8 / 15, "{}", bytes.len());
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            values in prop::collection::vec((0..LANES, prop_oneof![
                -3..4_i32, -100..100_i32, -MAX_MAGNITUDE..=MAX_MAGNITUDE
            ]), 0..300),
            plain in prop::collection::vec((any::<u32>(), 0..=32_u32), 0..9),
        ) {
            let models = Models::new();
        let mut encoder = Encoder::new(&models);
            let mut sizes = [Size::default(); LANES];
            for (lane, value) in &values {
                encoder.push(*lane, &mut sizes[*lane], *value);
            }
            for (value, bits) in &plain {
                encoder.push_bits(3, *value, *bits);
            }
            let bytes = encoder.finish();
            let mut decoder = Decoder::new(&bytes, &models);
            let mut sizes = [Size::default(); LANES];
            for (lane, value) in &values {
                prop_assert_eq!(decoder.next(*lane, &mut sizes[*lane]), *value);
            }
            for (value, bits) in plain {
                let mask = ((1_u64 << bits) - 1) as u32;
                prop_assert_eq!(decoder.next_bits(3, bits), value & mask);
            }
            prop_assert!(decoder.is_at_end());
        }

        #[test]
        fn any_bytes_decode_to_something(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let models = Models::new();
            let mut decoder = Decoder::new(&bytes, &models);
            let mut size = Size::default();
            for step in 0..1000 {
                prop_assert!(decoder.next(step % LANES, &mut size).abs() <= MAX_MAGNITUDE);
                decoder.next_bits(step % LANES, step as u32 % 33);
            }
        }
    }
}
