//! Linear light and its sRGB code values.
//!
//! Light adds up in linear values, so that everything here is shaded, blended and averaged in them, and encoded once, at
//! the end. Encoding compares with the 255 decision levels, which is exact, fast and the same on every machine.
//!
//! ```
//! use anim_view::color;
//!
//! assert_eq!(color::encode([0.0, 0.5, 1.0]), [0, 188, 255]);
//! ```

use std::sync::LazyLock;

/// Linear red, green and blue, 0 to 1.
pub type Linear = [f32; 3];

/// The sRGB codes nearest to a linear colour; values outside 0..1 clamp, NaN is 0.
pub fn encode(color: Linear) -> [u8; 3] {
    let encoder = &*ENCODER;
    color.map(|value| encoder.code(value))
}

/// The linear colour of sRGB codes.
pub fn decode(codes: [u8; 3]) -> Linear {
    codes.map(|code| decode_value(f64::from(code) / 255.0) as f32)
}

/// `from` at `alpha` 0, `to` at 1.
pub(crate) fn mix(from: Linear, to: Linear, alpha: f32) -> Linear {
    [0, 1, 2].map(|c| from[c] + (to[c] - from[c]) * alpha)
}

static ENCODER: LazyLock<Encoder> = LazyLock::new(Encoder::new);

/// Buckets of the first guess; at 4096 none spans more than one level, as the curve's slope is at most 12.92.
const BUCKETS: usize = 4096;

struct Encoder {
    /// `level[c]` is the linear value from which code c is nearer than c − 1.
    levels: [f32; 256],
    /// The code of each bucket's lower end.
    first: Vec<u8>,
}

impl Encoder {
    fn new() -> Self {
        let mut levels = [0.0; 256];
        for (code, level) in levels.iter_mut().enumerate().skip(1) {
            *level = decode_value((code as f64 - 0.5) / 255.0) as f32;
        }
        let first = (0..BUCKETS)
            .map(|bucket| {
                let value = bucket as f32 / (BUCKETS - 1) as f32;
                levels[1..].partition_point(|level| *level <= value) as u8
            })
            .collect();
        Self { levels, first }
    }

    fn code(&self, value: f32) -> u8 {
        let value = value.clamp(0.0, 1.0);
        let mut code = self.first[(value * (BUCKETS - 1) as f32) as usize];
        // The bucket's lower end may round above the value by a bit, hence both directions.
        while code > 0 && value < self.levels[usize::from(code)] {
            code -= 1;
        }
        while code < 255 && value >= self.levels[usize::from(code) + 1] {
            code += 1;
        }
        code
    }
}

/// IEC 61966-2-1, section 5.2.
fn decode_value(value: f64) -> f64 {
    if value <= 0.04045 {
        value / 12.92
    } else {
        libm::pow((value + 0.055) / 1.055, 2.4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_encode_as_the_standard_says() {
        for (linear, code) in [
            (0.0, 0),
            (0.003_130_8, 10),
            (0.214_041_14, 128),
            (0.5, 188),
            (1.0, 255),
        ] {
            assert_eq!(encode([linear; 3]), [code; 3], "{linear}");
        }
    }

    #[test]
    fn every_code_survives_a_round_trip() {
        for code in 0..=255 {
            assert_eq!(encode(decode([code; 3])), [code; 3]);
        }
    }

    #[test]
    fn every_value_gets_the_nearest_code() {
        for step in 0..=20_000 {
            let linear = step as f32 / 20_000.0;
            let exact = if linear <= 0.003_130_8 {
                f64::from(linear) * 12.92
            } else {
                1.055 * f64::from(linear).powf(1.0 / 2.4) - 0.055
            } * 255.0;
            let code = f64::from(encode([linear; 3])[0]);
            // The standard's two pieces meet only to 1e-7, and a tie may fall on either side.
            assert!((code - exact).abs() <= 0.5 + 1e-3, "{linear}");
        }
    }

    #[test]
    fn values_out_of_range_clamp() {
        assert_eq!(encode([-1.0, 7.0, f32::INFINITY]), [0, 255, 255]);
        assert_eq!(encode([f32::NAN, f32::NEG_INFINITY, 0.0]), [0, 0, 0]);
    }
}
