//! Colours that interpolate as light does, or as eyes see.
//!
//! Pictures and colour pickers hold sRGB codes, which are not proportional to light: halfway between two of them is too
//! dark, and turns muddy between saturated hues. Convert at the door, once: [`LinearRgb`] for lights, materials and whatever
//! is added up in shading, [`OkLab`] for gradients that should look evenly spaced, such as a heat map or a fade between
//! two hues. Neither clamps; what leaves the gamut is left to the display.
//!
//! ```
//! use anim_curves::{Interpolate, LinearRgb, OkLab};
//!
//! let (black, white) = (LinearRgb::from_srgb([0.0; 3]), LinearRgb::from_srgb([1.0; 3]));
//! let [red, ..] = black.lerp(white, 0.5).to_srgb();
//! assert!((red - 0.7354).abs() < 1e-4); // half the light
//! let [red, ..] = LinearRgb::from(OkLab::from(black).lerp(OkLab::from(white), 0.5)).to_srgb();
//! assert!((red - 0.3886).abs() < 1e-4); // looks half as light
//! ```

use std::ops::{Add, Mul, Sub};

use anim_math::{Mat3, Vec3};
use serde::{Deserialize, Serialize};

use crate::{Interpolate, Linear};

/// Red, green and blue proportional to light, with sRGB's primaries; 1 is the display's white.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinearRgb(pub Vec3);

/// Björn Ottosson's perceptual space: lightness from 0 to 1, then green to red, then blue to yellow, about ±0.4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OkLab(pub Vec3);

impl LinearRgb {
    /// The light of sRGB values, 0 to 1; negative ones mirror.
    ///
    /// Source: IEC 61966-2-1, section 5.2: v / 12.92 up to 0.04045, ((v + 0.055) / 1.055)^2.4 above.
    pub fn from_srgb(srgb: [f32; 3]) -> Self {
        Self(Vec3::from(srgb).map(decode))
    }

    /// The sRGB values, 0 to 1, of this light; outside if it is.
    pub fn to_srgb(self) -> [f32; 3] {
        self.0.map(encode).into()
    }
}

impl From<LinearRgb> for OkLab {
    /// Source: Ottosson, "A perceptual color space for image processing", 2020: matrix, cube root, matrix.
    fn from(rgb: LinearRgb) -> Self {
        Self(OKLAB_FROM_CONE_ROOTS * (CONES_FROM_RGB * rgb.0).map(libm::cbrtf))
    }
}

impl From<OkLab> for LinearRgb {
    /// The inverse.
    fn from(lab: OkLab) -> Self {
        Self(RGB_FROM_CONES * (CONE_ROOTS_FROM_OKLAB * lab.0).map(|root| root * root * root))
    }
}

#[rustfmt::skip]
const CONES_FROM_RGB: Mat3 = Mat3::new(
    0.412_221_46, 0.536_332_55, 0.051_445_995,
    0.211_903_5, 0.680_699_5, 0.107_396_96,
    0.088_302_46, 0.281_718_85, 0.629_978_7,
);
#[rustfmt::skip]
const OKLAB_FROM_CONE_ROOTS: Mat3 = Mat3::new(
    0.210_454_26, 0.793_617_8, -0.004_072_047,
    1.977_998_5, -2.428_592_2, 0.450_593_7,
    0.025_904_037, 0.782_771_77, -0.808_675_77,
);
#[rustfmt::skip]
const CONE_ROOTS_FROM_OKLAB: Mat3 = Mat3::new(
    1.0, 0.396_337_78, 0.215_803_76,
    1.0, -0.105_561_346, -0.063_854_17,
    1.0, -0.089_484_18, -1.291_485_5,
);
#[rustfmt::skip]
const RGB_FROM_CONES: Mat3 = Mat3::new(
    4.076_741_7, -3.307_711_6, 0.230_969_94,
    -1.268_438, 2.609_757_4, -0.341_319_38,
    -0.004_196_086_3, -0.703_418_6, 1.707_614_7,
);

fn decode(value: f32) -> f32 {
    let size = f64::from(value.abs());
    let light = if size <= 0.04045 {
        size / 12.92
    } else {
        libm::pow((size + 0.055) / 1.055, 2.4)
    };
    (light as f32).copysign(value)
}

fn encode(light: f32) -> f32 {
    let size = f64::from(light.abs());
    let value = if size <= 0.04045 / 12.92 {
        size * 12.92
    } else {
        1.055 * libm::pow(size, 1.0 / 2.4) - 0.055
    };
    (value as f32).copysign(light)
}

/// Makes a newtype of `Vec3` the vector space that it is.
macro_rules! vector_space {
    ($color:ident) => {
        impl Add for $color {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $color {
            type Output = Self;

            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl Mul<f32> for $color {
            type Output = Self;

            fn mul(self, factor: f32) -> Self {
                Self(self.0 * factor)
            }
        }

        impl Interpolate for $color {
            type Velocity = Self;

            fn lerp(self, to: Self, alpha: f32) -> Self {
                Self(self.0.lerp(to.0, alpha))
            }

            fn hermite(from: (Self, Self), to: (Self, Self), span: f32, alpha: f32) -> Self {
                let (from, to) = ((from.0.0, from.1.0), (to.0.0, to.1.0));
                Self(Vec3::hermite(from, to, span, alpha))
            }

            fn hermite_velocity(
                from: (Self, Self),
                to: (Self, Self),
                span: f32,
                alpha: f32,
            ) -> Self {
                let (from, to) = ((from.0.0, from.1.0), (to.0.0, to.1.0));
                Self(Vec3::hermite_velocity(from, to, span, alpha))
            }

            fn is_finite(&self) -> bool {
                Interpolate::is_finite(&self.0)
            }

            fn is_velocity_finite(velocity: &Self) -> bool {
                Interpolate::is_finite(&velocity.0)
            }
        }

        impl Linear for $color {
            fn zip_with(self, other: Self, combine: impl Fn(f32, f32) -> f32) -> Self {
                Self(self.0.zip_with(other.0, combine))
            }
        }
    };
}

vector_space!(LinearRgb);
vector_space!(OkLab);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Interpolation, Key, Track, tangents};

    fn check(srgb: [f32; 3], lab: [f32; 3]) {
        let found = OkLab::from(LinearRgb::from_srgb(srgb)).0;
        // Published values have four digits.
        assert!((found - Vec3::from(lab)).amax() < 6e-5, "{srgb:?}: {found}");
    }

    #[test]
    fn oklab_has_its_published_values() {
        check([1.0, 1.0, 1.0], [1.0, 0.0, 0.0]);
        check([1.0, 0.0, 0.0], [0.6280, 0.2249, 0.1258]);
        check([0.0, 1.0, 0.0], [0.8664, -0.2339, 0.1795]);
        check([0.0, 0.0, 1.0], [0.4520, -0.0325, -0.3115]);
        check([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]);
    }

    #[test]
    fn srgb_has_its_closed_form_and_is_continuous_at_the_joint() {
        let half = LinearRgb(Vec3::repeat(0.5)).to_srgb()[0];
        assert!((half - 0.735_357).abs() < 1e-6);
        assert!((decode(0.5) - 0.214_041_14).abs() < 1e-7);
        // The standard's two branches differ by 2e-8 where they meet.
        let (below, above) = (decode(0.04045), decode(0.04045_f32.next_up()));
        assert!((above - below).abs() < 1e-7);
    }

    #[test]
    fn a_fade_between_hues_keeps_its_light() {
        let keys = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(LinearRgb::from_srgb);
        let keys = keys.map(|color| Key::new(if color.0.x > 0.5 { 0.0 } else { 1.0 }, color));
        let fade = Track::new(keys.to_vec(), Interpolation::Linear).unwrap();
        assert_eq!(fade.sample(0.5).0, Vec3::new(0.5, 0.5, 0.0));
    }

    #[test]
    fn colours_take_tangents_like_any_vector() {
        let mut keys: Vec<_> = [0.0, 0.25, 1.0]
            .map(|grey| Key::new(grey, OkLab(Vec3::new(grey, 0.0, 0.0))))
            .to_vec();
        tangents::monotone(&mut keys);
        let ramp = Track::new(keys, Interpolation::Cubic).unwrap();
        assert!((ramp.sample(0.7).0.x - 0.7).abs() < 4.0 * f32::EPSILON);
    }

    proptest! {
        #[test]
        fn conversions_undo_each_other(srgb in prop::array::uniform3(-0.5_f32..1.5)) {
            let rgb = LinearRgb::from_srgb(srgb);
            for (found, expected) in rgb.to_srgb().iter().zip(srgb) {
                prop_assert!((found - expected).abs() <= 4.0 * f32::EPSILON);
            }
            // The cube of a root near zero is small, so light, up to 2.6, errs by roundings of the matrices' rows, up to 8.
            let back = LinearRgb::from(OkLab::from(rgb));
            prop_assert!((back.0 - rgb.0).amax() < 8.0 * 2.6 * 8.0 * f32::EPSILON);
        }
    }
}
