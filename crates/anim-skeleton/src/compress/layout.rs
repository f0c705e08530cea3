//! What a compressed clip consists of, and in which order: shared by the writer and the reader.
//!
//! Bytes, little-endian: `ANIM`, kind `C`, version, number of joints (u16), number of samples (u32), duration (f32, s),
//! length of the name (u16), number of morph tracks (u16), the name, each morph track (joint in source order and length,
//! u32, and its bytes), then one stream of the range coder to the end. In it, breadth-first: for each
//! joint the [`Kind`] of its translation, rotation and scale; then for each joint and part what its kind needs.

use std::ops::RangeInclusive;

use anim_curves::range_coder::{Decoder, Encoder, Size};
use anim_curves::wavelet::Levels;

use crate::SkeletonError;
use crate::clip::Part;

/// The first bytes: magic, kind, version.
pub(crate) const MAGIC: [u8; 6] = *b"ANIMC\x01";
/// Bytes before the name.
pub(crate) const HEADER: usize = MAGIC.len() + 2 + 4 + 4 + 2 + 2;

/// What a part of a joint does over the clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Stays as the skeleton has it: nothing is stored.
    Rest,
    /// Stays elsewhere.
    Constant,
    /// Moves; a rotation by less than 120 degrees from its first sample, of which three numbers are kept.
    Moving,
    /// A rotation that goes farther: all four numbers are kept.
    Turning,
    /// Jumps at keys of its own.
    Steps,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Rest,
        Self::Constant,
        Self::Moving,
        Self::Turning,
        Self::Steps,
    ];

    pub(crate) fn from_index(index: i32) -> Option<Self> {
        Self::ALL.get(usize::try_from(index).ok()?).copied()
    }

    /// Numbers a sample.
    pub(crate) fn lanes(self) -> usize {
        match self {
            Self::Moving => 3,
            Self::Turning => 4,
            _ => 0,
        }
    }
}

/// The parts of a joint, in the order of the file.
pub(crate) const PARTS: [Part; 3] = [Part::Translation, Part::Rotation, Part::Scale];

/// What was learnt so far about one part of all joints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// Of the joint before; kinds are coded as differences.
    pub(crate) kind: i32,
    pub(crate) kind_change: Size,
    /// Of the joint before; see [`step_of`].
    pub(crate) exponent: i32,
    pub(crate) exponent_change: Size,
    pub(crate) value: Size,
    pub(crate) levels: Levels,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            kind: 0,
            kind_change: Size::new(1),
            exponent: -40,
            exponent_change: Size::default(),
            value: Size::new(256),
            levels: Levels::default(),
        }
    }
}

impl Context {
    pub(crate) fn write_kind(&mut self, kind: Kind, encoder: &mut Encoder<'_>) {
        let change = kind as i32 - self.kind;
        encoder.push(0, &mut self.kind_change, change);
        self.kind = kind as i32;
    }

    pub(crate) fn read_kind(&mut self, decoder: &mut Decoder<'_>) -> Result<Kind, SkeletonError> {
        self.kind += decoder.next(0, &mut self.kind_change);
        Kind::from_index(self.kind).ok_or(SkeletonError::BrokenClip {
            what: "kind of a curve",
        })
    }

    pub(crate) fn write_exponent(&mut self, exponent: i32, encoder: &mut Encoder<'_>) {
        encoder.push(0, &mut self.exponent_change, exponent - self.exponent);
        self.exponent = exponent;
    }

    /// The step that the next exponent stands for.
    pub(crate) fn read_step(&mut self, decoder: &mut Decoder<'_>) -> Result<f32, SkeletonError> {
        self.exponent += decoder.next(0, &mut self.exponent_change);
        if EXPONENTS.contains(&self.exponent) {
            Ok(step_of(self.exponent))
        } else {
            Err(SkeletonError::BrokenClip { what: "step" })
        }
    }
}

/// A constant is kept this many quarter octaves finer than a sample: it costs once what a sample costs each time.
pub(crate) const CONSTANT_FINER: i32 = 8;

/// The range of exponents: steps from 2⁻³² to 2³¹.
pub(crate) const EXPONENTS: RangeInclusive<i32> = -128..=124;

/// The unit of quantisation: a power of two, four steps an octave.
pub(crate) fn step_of(exponent: i32) -> f32 {
    const QUARTERS: [f32; 4] = [1.0, 1.189_207_1, std::f32::consts::SQRT_2, 1.681_792_8];
    let octave = exponent.div_euclid(4);
    QUARTERS[exponent.rem_euclid(4) as usize] * f32::from_bits(((127 + octave) as u32) << 23)
}

/// The largest exponent whose step is at most `step`, within range.
pub(crate) fn exponent_of(step: f64) -> i32 {
    let exponent = (4.0 * step.max(1e-30).log2()).floor();
    // A constant's exponent is lower still.
    (exponent as i32).clamp(*EXPONENTS.start() + CONSTANT_FINER, *EXPONENTS.end())
}
