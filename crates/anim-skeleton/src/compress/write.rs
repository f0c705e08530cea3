//! From a sampled motion to bytes, at given quantisation steps.

use anim_curves::range_coder::{self, Encoder, Models};
use anim_curves::wavelet::{self, Row};

use super::layout::{CONSTANT_FINER, Context, Kind, MAGIC, PARTS, step_of};
use super::motion::{Curve, Motion};
use super::rotation::around;
use super::value::Value;
use crate::clip::{Part, StepTrack};

/// Writes what comes before the curves: name and weights, each the joint in source order and its track's bytes.
pub(crate) fn write_head(name: &str, motion: &Motion, weights: &[(usize, Vec<u8>)]) -> Vec<u8> {
    let name = &name.as_bytes()[..name.floor_char_boundary(usize::from(u16::MAX))];
    let mut bytes = MAGIC.to_vec();
    bytes.extend((motion.joints.len() as u16).to_le_bytes());
    bytes.extend((motion.samples as u32).to_le_bytes());
    bytes.extend(motion.duration.to_le_bytes());
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend((weights.len() as u16).to_le_bytes());
    bytes.extend(name);
    for (joint, track) in weights {
        bytes.extend((*joint as u32).to_le_bytes());
        bytes.extend((track.len() as u32).to_le_bytes());
        bytes.extend(track);
    }
    bytes
}

/// Writes `motion` behind `head`; `exponents` stand for the [steps](step_of) of each joint's parts.
pub(crate) fn write(
    head: &[u8],
    motion: &Motion,
    exponents: &[[i32; 3]],
    models: &Models,
) -> Vec<u8> {
    let parts = || PARTS.into_iter().cycle().zip(motion.joints.as_flattened());
    let coded: Vec<_> = parts()
        .zip(exponents.as_flattened())
        .map(|((part, curve), exponent)| Coded::new(part, curve, *exponent))
        .collect();
    let numbers: usize = coded.iter().map(|coded| coded.kind.lanes()).sum();
    let mut encoder = Encoder::new(models);
    let mut contexts = [Context::default(); 3];
    for (coded, context) in coded.iter().zip((0..3).cycle()) {
        contexts[context].write_kind(coded.kind, &mut encoder);
    }
    for (coded, context) in coded.into_iter().zip((0..3).cycle()) {
        coded.write(&mut contexts[context], &mut encoder);
    }
    let mut bytes = head.to_vec();
    bytes.extend(encoder.finish());
    range_coder::pad(&mut bytes, numbers * motion.samples);
    bytes
}

/// A curve ready to be coded.
struct Coded<'a> {
    part: Part,
    kind: Kind,
    exponent: i32,
    /// What it stays at or starts from.
    value: Option<Value>,
    /// What the wavelet codes; the first row is known from `value`.
    rows: Vec<Row>,
    steps: Option<&'a StepTrack>,
}

impl<'a> Coded<'a> {
    fn new(part: Part, curve: &'a Curve, exponent: i32) -> Self {
        let mut coded = Self {
            part,
            kind: Kind::Rest,
            exponent,
            value: None,
            rows: Vec::new(),
            steps: None,
        };
        match curve {
            Curve::Rest => {}
            Curve::Constant(row) => coded.stays(*row),
            Curve::Moving(rows) => coded.moves(rows),
            Curve::Steps(steps) => {
                coded.kind = Kind::Steps;
                coded.steps = Some(steps);
            }
        }
        coded
    }

    fn stays(&mut self, row: Row) {
        self.kind = Kind::Constant;
        self.exponent -= CONSTANT_FINER;
        self.value = Some(Value::new(self.part, row, step_of(self.exponent)));
    }

    fn moves(&mut self, rows: &[Row]) {
        let step = step_of(self.exponent);
        let value = Value::new(self.part, rows[0], step);
        let mut first = value.row(self.part, step);
        self.value = Some(value);
        if self.part != Part::Rotation {
            self.kind = Kind::Moving;
            self.rows = rows.to_vec();
            self.rows[0] = first;
            return;
        }
        let dot: f32 = first.iter().zip(&rows[0]).map(|(a, b)| a * b).sum();
        if dot < 0.0 {
            first = first.map(|number| -number);
        }
        if let Some(rows) = around(first, rows) {
            self.kind = Kind::Moving;
            self.rows = rows;
            self.rows[0] = [0.0; 4];
        } else {
            // The reader starts in the hemisphere that the value names.
            let sign = 1_f32.copysign(dot);
            self.kind = Kind::Turning;
            self.rows = rows
                .iter()
                .map(|row| row.map(|number| number * sign))
                .collect();
            self.rows[0] = first.map(|number| number * sign);
        }
    }

    fn write(mut self, context: &mut Context, encoder: &mut Encoder<'_>) {
        if let Some(value) = self.value {
            context.write_exponent(self.exponent, encoder);
            value.write(self.part, &mut context.value, encoder);
        }
        let lanes = self.kind.lanes();
        if lanes > 0 {
            let step = step_of(self.exponent);
            wavelet::encode(&mut self.rows, lanes, step, &mut context.levels, encoder);
        }
        if let Some(steps) = self.steps {
            encoder.push_bits(0, steps.times.len() as u32, 32);
            for (time, value) in steps.times.iter().zip(&steps.values) {
                for number in std::iter::once(time).chain(value) {
                    encoder.push_bits(0, number.to_bits(), 32);
                }
            }
        }
    }
}
