//! Single values, rounded: what stays where it is, and the first sample of what moves.

use anim_curves::range_coder::{Decoder, Encoder, MAX_MAGNITUDE, Size};
use anim_curves::wavelet::Row;

use super::rotation::unit;
use crate::clip::Part;

/// Three numbers in units of a step; of a rotation the largest of four is left out, which follows from the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    codes: [i32; 3],
    left_out: usize,
}

impl Value {
    pub(crate) fn new(part: Part, row: Row, step: f32) -> Self {
        let (row, left_out) = match part {
            Part::Rotation => {
                let largest =
                    (0..4).fold(0, |a, b| if row[b].abs() > row[a].abs() { b } else { a });
                let sign = 1_f32.copysign(row[largest]);
                (row.map(|number| number * sign), largest)
            }
            _ => (row, 3),
        };
        let most = MAX_MAGNITUDE as f32;
        let code = |number: f32| (number / step).round().clamp(-most, most) as i32;
        Self {
            codes: others(left_out).map(|place| code(row[place])),
            left_out,
        }
    }

    /// The value that the codes stand for.
    pub(crate) fn row(self, part: Part, step: f32) -> Row {
        let mut row = [0.0; 4];
        let mut rest = 1.0;
        for (place, code) in others(self.left_out).into_iter().zip(self.codes) {
            row[place] = code as f32 * step;
            rest -= row[place] * row[place];
        }
        if part == Part::Rotation {
            row[self.left_out] = rest.max(0.0).sqrt();
            return unit(row);
        }
        row
    }

    pub(crate) fn write(self, part: Part, size: &mut Size, encoder: &mut Encoder<'_>) {
        if part == Part::Rotation {
            encoder.push_bits(0, self.left_out as u32, 2);
        }
        for code in self.codes {
            encoder.push(0, size, code);
        }
    }

    pub(crate) fn read(part: Part, size: &mut Size, decoder: &mut Decoder<'_>) -> Self {
        let left_out = match part {
            Part::Rotation => decoder.next_bits(0, 2) as usize,
            _ => 3,
        };
        let codes = [(); 3].map(|()| decoder.next(0, size));
        Self { codes, left_out }
    }
}

/// The places of a row but one.
fn others(left_out: usize) -> [usize; 3] {
    [1, 2, 3].map(|off| (left_out + off) % 4)
}
