//! Many scalars at many keys in few bytes: the weights of a captured face, within a tolerance at every key.
//!
//! A recorded face has a key a frame for each of some fifty shapes, and no key can be removed without being missed. So
//! the keys stay and their values are coded: predicted in time by the [`crate::wavelet`], rounded so that
//! none is off by more than the tolerance, and never outside the range its scalar had, so that a weight of 0 to 1 stays
//! one. Scalars that do not change cost two bits. Curves with few keys are small as they are.
//!
//! ```
//! use anim_curves::{DenseTrack, Interpolation, WideTrack, WideTrackSpec};
//!
//! let smile = |frame: u16| (f32::from(frame) * 0.1).sin().max(0.0);
//! let spec = WideTrackSpec {
//!     width: 2,
//!     times: (0..300_u16).map(|frame| f32::from(frame) / 60.0).collect(),
//!     values: (0..300).flat_map(|frame| [smile(frame), 0.5]).collect(),
//!     interpolation: Interpolation::Linear,
//! };
//! let track = WideTrack::new(spec)?;
//! let dense = DenseTrack::new(&track, 0.005)?;
//! assert!(dense.bytes().len() < 250); // of 3600
//!
//! let expanded = DenseTrack::from_bytes(dense.bytes().to_vec())?.expand()?;
//! let pairs = expanded.spec().values.iter().zip(&track.spec().values);
//! assert!(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) <= 0.005);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use crate::range_coder::{self, Decoder, Encoder, LANES, MAX_MAGNITUDE, Models, Size};
use crate::wavelet::{self, DEAD_ZONE, Levels, Row};
use crate::{CurveError, Interpolation, WideTrack, WideTrackSpec};

/// The first bytes: magic, kind, version.
const MAGIC: [u8; 6] = *b"ANIMT\x01";
/// Magic, way between keys, scalars, keys, step.
const HEADER: usize = MAGIC.len() + 1 + 4 + 4 + 4;
/// How often the step is halved before a tolerance counts as out of reach.
const TRIES: usize = 4;
/// Larger steps make no smaller files.
const MAX_STEP: f32 = 1e30;

/// A compressed [`WideTrack`]: the bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseTrack(Vec<u8>);

impl DenseTrack {
    /// Compresses a stepped or linear track so that every value stays within `tolerance`; key times are kept.
    ///
    /// # Errors
    ///
    /// [`CurveError::NotSampled`] for a cubic track; [`CurveError::Tolerance`] if it is negative or not a number,
    /// [`CurveError::TooFine`] if it is below about a millionth of the largest value.
    pub fn new(track: &WideTrack, tolerance: f32) -> Result<Self, CurveError> {
        let spec = track.spec();
        if spec.interpolation == Interpolation::Cubic {
            return Err(CurveError::NotSampled);
        }
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(CurveError::Tolerance { tolerance });
        }
        let models = Models::new();
        let mut step = tolerance.clamp(f32::MIN_POSITIVE, MAX_STEP) / DEAD_ZONE;
        for _ in 0..TRIES {
            let dense = Self(write(spec, step, &models));
            let sent = read(&dense.0, &models)?.values;
            let mut off = sent.iter().zip(&spec.values).map(|(a, b)| (a - b).abs());
            if off.all(|off| off <= tolerance) {
                return Ok(dense);
            }
            // Rounding of large values comes on top.
            step *= 0.5;
        }
        Err(CurveError::TooFine { tolerance })
    }

    /// Takes the bytes of a file.
    ///
    /// # Errors
    ///
    /// [`CurveError::BrokenTrack`] if they are not a compressed track, or claim more than so many bytes can hold.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, CurveError> {
        Head::read(&bytes)?;
        Ok(Self(bytes))
    }

    /// The bytes of a file.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The track. O(values).
    ///
    /// # Errors
    ///
    /// [`CurveError::BrokenTrack`] if the bytes are damaged, and the errors of [`WideTrack::new`].
    pub fn expand(&self) -> Result<WideTrack, CurveError> {
        WideTrack::new(read(&self.0, &Models::new())?)
    }
}

/// What comes before the stream.
struct Head<'a> {
    interpolation: Interpolation,
    width: usize,
    keys: usize,
    step: f32,
    stream: &'a [u8],
}

const fn broken(what: &'static str) -> CurveError {
    CurveError::BrokenTrack { what }
}

impl<'a> Head<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, CurveError> {
        let (head, stream) = bytes
            .split_first_chunk::<HEADER>()
            .ok_or(broken("length"))?;
        let (magic, head) = head.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(broken("kind or version of the file"));
        }
        let (interpolation, numbers) = match head {
            [0, numbers @ ..] => (Interpolation::Step, numbers),
            [1, numbers @ ..] => (Interpolation::Linear, numbers),
            _ => return Err(broken("interpolation")),
        };
        let (numbers, _) = numbers.as_chunks();
        let [width, keys, step] = [0, 1, 2].map(|n| u32::from_le_bytes(numbers[n]));
        let (width, keys, step) = (width as usize, keys as usize, f32::from_bits(step));
        let most = range_coder::capacity(bytes.len());
        if keys == 0
            || (width + 1)
                .checked_mul(keys)
                .is_none_or(|count| count > most)
            || width > most
        {
            return Err(broken("size"));
        }
        if !(step.is_finite() && step > 0.0) {
            return Err(broken("step"));
        }
        Ok(Self {
            interpolation,
            width,
            keys,
            step,
            stream,
        })
    }
}

/// The range of one scalar.
#[derive(Clone, Copy, Default, PartialEq)]
struct Range {
    low: f32,
    high: f32,
}

impl Range {
    fn write(self, before: Self, encoder: &mut Encoder<'_>) {
        for (bound, before) in [(self.low, before.low), (self.high, before.high)] {
            let is_new = bound.to_bits() != before.to_bits();
            encoder.push_bits(0, u32::from(is_new), 1);
            if is_new {
                encoder.push_bits(0, bound.to_bits(), 32);
            }
        }
    }

    fn read(before: Self, decoder: &mut Decoder<'_>) -> Self {
        let mut bound = |before: f32| match decoder.next_bits(0, 1) {
            0 => before,
            _ => f32::from_bits(decoder.next_bits(0, 32)),
        };
        Self {
            low: bound(before.low),
            high: bound(before.high),
        }
    }

    fn moves(self) -> bool {
        self.low != self.high
    }
}

/// The time of a key if all are evenly apart.
fn even_time(first: f32, last: f32, key: usize, keys: usize) -> f32 {
    let part = key as f64 / (keys - 1).max(1) as f64;
    (f64::from(first) + (f64::from(last) - f64::from(first)) * part) as f32
}

fn write(spec: &WideTrackSpec, step: f32, models: &Models) -> Vec<u8> {
    let (width, keys) = (spec.width, spec.times.len());
    let mut bytes = MAGIC.to_vec();
    bytes.push(u8::from(spec.interpolation == Interpolation::Linear));
    for number in [width as u32, keys as u32, step.to_bits()] {
        bytes.extend(number.to_le_bytes());
    }
    let mut encoder = Encoder::new(models);
    write_times(&spec.times, &mut encoder);
    let column = |scalar: usize| {
        spec.values
            .iter()
            .skip(scalar)
            .step_by(width.max(1))
            .copied()
    };
    let mut before = Range::default();
    let mut moving = Vec::new();
    for scalar in 0..width {
        let range = Range {
            low: column(scalar).fold(f32::INFINITY, f32::min),
            high: column(scalar).fold(f32::NEG_INFINITY, f32::max),
        };
        range.write(before, &mut encoder);
        moving.extend(range.moves().then_some(scalar));
        before = range;
    }
    let (mut first, mut levels) = (Size::default(), Levels::default());
    for scalars in moving.chunks(LANES) {
        let mut rows = vec![[0.0; LANES]; keys];
        for (lane, scalar) in scalars.iter().enumerate() {
            for (row, value) in rows.iter_mut().zip(column(*scalar)) {
                row[lane] = value;
            }
            let code = (rows[0][lane] / step).round() as i32;
            encoder.push(0, &mut first, code);
            rows[0][lane] = code as f32 * step;
        }
        wavelet::encode(&mut rows, scalars.len(), step, &mut levels, &mut encoder);
    }
    bytes.extend(encoder.finish());
    range_coder::pad(&mut bytes, (width + 1).saturating_mul(keys));
    bytes
}

fn read(bytes: &[u8], models: &Models) -> Result<WideTrackSpec, CurveError> {
    let Head {
        interpolation,
        width,
        keys,
        step,
        stream,
    } = Head::read(bytes)?;
    let mut decoder = Decoder::new(stream, models);
    let times = read_times(keys, &mut decoder);
    let mut ranges = Vec::with_capacity(width);
    let mut range = Range::default();
    for _ in 0..width {
        range = Range::read(range, &mut decoder);
        if !(range.low <= range.high && range.low.is_finite() && range.high.is_finite()) {
            return Err(broken("range"));
        }
        ranges.push(range);
    }
    let lows: Vec<f32> = ranges.iter().map(|range| range.low).collect();
    let mut values = lows.repeat(keys);
    let moving: Vec<usize> = (0..width)
        .filter(|scalar| ranges[*scalar].moves())
        .collect();
    let (mut first, mut levels) = (Size::default(), Levels::default());
    let mut rows: Vec<Row> = vec![[0.0; LANES]; keys];
    for scalars in moving.chunks(LANES) {
        let mut start = [0.0; LANES];
        for value in &mut start[..scalars.len()] {
            *value = decoder.next(0, &mut first) as f32 * step;
        }
        rows[0] = start;
        wavelet::decode(&mut rows, scalars.len(), step, &mut levels, &mut decoder);
        for (values, row) in values.chunks_exact_mut(width).zip(&rows) {
            for (scalar, value) in scalars.iter().zip(row) {
                let Range { low, high } = ranges[*scalar];
                // Not a number becomes the low end.
                values[*scalar] = value.min(high).max(low);
            }
        }
    }
    if !decoder.is_at_end() {
        return Err(broken("stream"));
    }
    Ok(WideTrackSpec {
        width,
        times,
        values,
        interpolation,
    })
}

/// Two times, and how many floats the others are from evenly between them; all times if that is far.
fn write_times(times: &[f32], encoder: &mut Encoder<'_>) {
    let (first, last) = (times[0], times[times.len() - 1]);
    let off = |key: usize| {
        let even = even_time(first, last, key, times.len());
        i64::from(times[key].to_bits()) - i64::from(even.to_bits())
    };
    let is_even = (0..times.len()).all(|key| off(key).abs() <= i64::from(MAX_MAGNITUDE));
    encoder.push_bits(0, u32::from(is_even), 1);
    let kept = if is_even { &[first, last] } else { times };
    for time in kept {
        encoder.push_bits(0, time.to_bits(), 32);
    }
    if is_even {
        let mut size = Size::default();
        (0..times.len()).for_each(|key| encoder.push(0, &mut size, off(key) as i32));
    }
}

fn read_times(keys: usize, decoder: &mut Decoder<'_>) -> Vec<f32> {
    let is_even = decoder.next_bits(0, 1) == 1;
    let mut time = || f32::from_bits(decoder.next_bits(0, 32));
    if !is_even {
        return (0..keys).map(|_| time()).collect();
    }
    let (first, last) = (time(), time());
    let mut size = Size::default();
    let mut off = || decoder.next(0, &mut size);
    let mut time = |key| {
        even_time(first, last, key, keys)
            .to_bits()
            .wrapping_add_signed(off())
    };
    (0..keys).map(&mut time).map(f32::from_bits).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Fifty-two weights that come and go like those of a face: some never move, none leaves 0 to 1.
    fn face(frames: usize, noise: f32) -> WideTrack {
        let mut random = 7_u32;
        let mut uniform = move || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as f32 / (1 << 24) as f32
        };
        let shapes: Vec<[f32; 4]> = (0..52).map(|_| [(); 4].map(|()| uniform())).collect();
        let mut values = Vec::new();
        for frame in 0..frames {
            for (shape, [a, b, c, d]) in shapes.iter().enumerate() {
                let time = frame as f32 / 60.0;
                let wave =
                    (time * (1.0 + 4.0 * a) + 6.0 * b).sin() * (time * (0.3 + c)).cos() - 0.3 * d;
                let moves = if shape % 4 == 3 { 0.0 } else { 1.0 };
                values.push(moves * (wave + noise * (uniform() - 0.5)).clamp(0.0, 1.0));
            }
        }
        track(52, even(frames), values)
    }

    fn even(keys: usize) -> Vec<f32> {
        (0..keys).map(|key| key as f32 / 60.0).collect()
    }

    fn track(width: usize, times: Vec<f32>, values: Vec<f32>) -> WideTrack {
        WideTrack::new(WideTrackSpec {
            width,
            times,
            values,
            interpolation: Interpolation::Linear,
        })
        .unwrap()
    }

    fn worst(a: &WideTrack, b: &WideTrack) -> f32 {
        let pairs = a.spec().values.iter().zip(&b.spec().values);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    /// Keys that a greedy reduction keeps: each straight piece as long as all keys in it are within the tolerance.
    fn reduced_keys(track: &WideTrack, tolerance: f32) -> usize {
        let spec = track.spec();
        let mut kept = 0;
        for scalar in 0..spec.width {
            let value = |key: usize| spec.values[key * spec.width + scalar];
            let fits = |from: usize, to: usize| {
                (from..to).all(|key| {
                    let alpha = (key - from) as f32 / (to - from) as f32;
                    (value(from) + (value(to) - value(from)) * alpha - value(key)).abs()
                        <= tolerance
                })
            };
            let mut from = 0;
            kept += 1;
            while from + 1 < spec.times.len() {
                let to = (from + 2..spec.times.len())
                    .take_while(|to| fits(from, *to))
                    .last();
                from = to.unwrap_or(from + 1);
                kept += 1;
            }
        }
        kept
    }

    #[test]
    fn a_face_is_within_the_tolerance_and_in_few_bytes() {
        for (noise, most) in [(0.0, 30), (0.01, 12)] {
            let face = face(600, noise);
            let dense = DenseTrack::new(&face, 0.005).unwrap();
            let expanded = dense.expand().unwrap();
            let raw = 4 * face.spec().values.len();
            // A key of a reduced curve is a time of two bytes and a value of two.
            let reduced = 4 * reduced_keys(&face, 0.005);
            println!(
                "noise {noise}: raw {raw}, reduced {reduced}, dense {}",
                dense.bytes().len()
            );
            assert!(worst(&face, &expanded) <= 0.005);
            assert!(
                dense.bytes().len() * most < raw,
                "{} of {raw}",
                dense.bytes().len()
            );
            assert!(
                dense.bytes().len() * 2 < reduced,
                "{} of {reduced}",
                dense.bytes().len()
            );
            assert_eq!(expanded.spec().times, face.spec().times);
        }
    }

    #[test]
    fn weights_never_leave_the_range_they_had() {
        let expanded = DenseTrack::new(&face(200, 0.1), 0.03)
            .unwrap()
            .expand()
            .unwrap();
        assert!(
            expanded
                .spec()
                .values
                .iter()
                .all(|value| (0.0..=1.0).contains(value))
        );
    }

    #[test]
    fn what_cannot_be_compressed_is_refused() {
        let line = track(1, vec![0.0, 1.0], vec![0.0, 1.0]);
        let refused = |tolerance| DenseTrack::new(&line, tolerance).unwrap_err();
        for tolerance in [-1.0, f32::NAN] {
            assert!(matches!(refused(tolerance), CurveError::Tolerance { .. }));
        }
        for tolerance in [0.0, 1e-12] {
            assert_eq!(refused(tolerance), CurveError::TooFine { tolerance });
        }
        assert!(DenseTrack::new(&line, f32::INFINITY).is_ok());
        let cubic = WideTrack::new(WideTrackSpec {
            width: 1,
            times: vec![0.0],
            values: vec![0.0; 3],
            interpolation: Interpolation::Cubic,
        });
        assert_eq!(
            DenseTrack::new(&cubic.unwrap(), 0.1),
            Err(CurveError::NotSampled)
        );
        assert!(DenseTrack::from_bytes(b"ANIMT".to_vec()).is_err());
    }

    proptest! {
        #[test]
        fn any_track_comes_back_within_the_tolerance(
            width in 0..7_usize,
            gaps in prop::collection::vec(0.001..2.0_f32, 1..40),
            seed in any::<u32>(),
            tolerance in 0.001..10.0_f32,
            steps in any::<bool>(),
        ) {
            let times: Vec<f32> = gaps.iter().scan(0.0, |time, gap| { *time += gap; Some(*time) }).collect();
            let values = (0..width * times.len()).map(|n| {
                (seed.wrapping_mul(n as u32 * 2 + 1) >> 8) as f32 / 65536.0 * f32::from(u8::from(n % 3 == 0))
            });
            let spec = WideTrackSpec {
                width,
                values: values.collect(),
                times,
                interpolation: if steps { Interpolation::Step } else { Interpolation::Linear },
            };
            let track = WideTrack::new(spec).unwrap();
            let expanded = DenseTrack::new(&track, tolerance).unwrap().expand().unwrap();
            prop_assert!(worst(&track, &expanded) <= tolerance);
            prop_assert_eq!(&expanded.spec().times, &track.spec().times);
            prop_assert_eq!(expanded.spec().interpolation, track.spec().interpolation);
        }

        #[test]
        fn damaged_bytes_never_panic(at in prop::collection::vec((0..400_usize, any::<u8>()), 1..6), cut in 0..400_usize) {
            let mut bytes = DenseTrack::new(&face(30, 0.05), 0.01).unwrap().bytes().to_vec();
            for (at, byte) in at {
                let place = at % bytes.len();
                bytes[place] = byte;
            }
            bytes.truncate(bytes.len() - cut % bytes.len() * usize::from(cut % 3 == 0));
            if let Ok(track) = DenseTrack::from_bytes(bytes).and_then(|dense| dense.expand()) {
                prop_assert!(track.spec().values.iter().all(|value| value.is_finite()));
            }
        }
    }
}
