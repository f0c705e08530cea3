//! Action units of the Facial Action Coding System, and the face shapes that show them.
//!
//! Psychologists, and some animators, write a face as numbered units: 6 + 12 is a smile that reaches the eyes. Shapes of
//! [`arkit`](super::arkit) were made with these units in mind but are not the same: some units are two shapes or parts of
//! one, some none, which is what an empty [`ActionUnit::mix`] says. Strengths below 1 are judgement, not measurement.
//!
//! ```
//! use anim_skin::morph::face_mix::Side;
//! use anim_skin::morph::{arkit, facs};
//!
//! let weights = facs::weights(&[(6, Side::Both, 0.5), (12, Side::Left, 1.0)])?;
//! let at = |name| weights[arkit::index_of(name).unwrap_or(0)];
//! assert_eq!([at("cheekSquintRight"), at("mouthSmileLeft"), at("mouthSmileRight")], [0.5, 1.0, 0.0]);
//!
//! let units = facs::read(&weights);
//! assert!(units.contains(&(12, [1.0, 0.0])));
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use super::face_mix::{FaceMix, Side};
use crate::SkinError;

/// One visible thing that a face can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActionUnit {
    /// Its number in FACS.
    pub number: u8,
    /// What is seen.
    pub name: &'static str,
    /// The shapes that show it; empty if none do.
    pub mix: FaceMix,
}

/// The units of brows, eyes, cheeks, nose, mouth, jaw and gaze, ascending by number.
///
/// Source of the numbers: Ekman, Friesen, Hager, "Facial Action Coding System", 2002.
#[rustfmt::skip]
pub const UNITS: [ActionUnit; 47] = [
    unit_of(1, "inner ends of the brows up", &[("browInnerUp", 1.0)]),
    unit_of(2, "outer ends of the brows up", &[("browOuterUpLeft", 1.0), ("browOuterUpRight", 1.0)]),
    unit_of(4, "brows down and together", &[("browDownLeft", 1.0), ("browDownRight", 1.0)]),
    unit_of(5, "upper lids up", &[("eyeWideLeft", 1.0), ("eyeWideRight", 1.0)]),
    unit_of(6, "cheeks up, narrowing the eyes", &[("cheekSquintLeft", 1.0), ("cheekSquintRight", 1.0)]),
    unit_of(7, "lids tight", &[("eyeSquintLeft", 1.0), ("eyeSquintRight", 1.0)]),
    unit_of(8, "lips towards each other", &[("mouthClose", 1.0)]),
    unit_of(9, "nose wrinkled", &[("noseSneerLeft", 1.0), ("noseSneerRight", 1.0)]),
    unit_of(10, "upper lip up", &[("mouthUpperUpLeft", 1.0), ("mouthUpperUpRight", 1.0)]),
    unit_of(11, "furrow from nose to mouth deeper", &[]),
    unit_of(12, "corners of the mouth up and out", &[("mouthSmileLeft", 1.0), ("mouthSmileRight", 1.0)]),
    unit_of(13, "corners of the mouth sharply up, cheeks round", &[]),
    unit_of(14, "corners of the mouth dimpled", &[("mouthDimpleLeft", 1.0), ("mouthDimpleRight", 1.0)]),
    unit_of(15, "corners of the mouth down", &[("mouthFrownLeft", 1.0), ("mouthFrownRight", 1.0)]),
    unit_of(16, "lower lip down", &[("mouthLowerDownLeft", 1.0), ("mouthLowerDownRight", 1.0)]),
    unit_of(17, "chin up, lower lip with it", &[("mouthShrugLower", 1.0), ("mouthShrugUpper", 0.5)]),
    unit_of(18, "lips puckered", &[("mouthPucker", 1.0)]),
    unit_of(19, "tongue out", &[("tongueOut", 1.0)]),
    unit_of(20, "mouth stretched sideways", &[("mouthStretchLeft", 1.0), ("mouthStretchRight", 1.0)]),
    unit_of(21, "neck tight", &[]),
    unit_of(22, "lips a funnel", &[("mouthFunnel", 1.0)]),
    unit_of(23, "lips tight and narrow", &[("mouthPressLeft", 0.5), ("mouthPressRight", 0.5), ("mouthRollLower", 0.3), ("mouthRollUpper", 0.3)]),
    unit_of(24, "lips pressed together", &[("mouthPressLeft", 1.0), ("mouthPressRight", 1.0)]),
    unit_of(25, "lips apart", &[("mouthLowerDownLeft", 0.3), ("mouthLowerDownRight", 0.3)]),
    unit_of(26, "jaw dropped, at rest", &[("jawOpen", 0.5)]),
    unit_of(27, "jaw pulled open wide", &[("jawOpen", 1.0)]),
    unit_of(28, "lips sucked in", &[("mouthRollLower", 1.0), ("mouthRollUpper", 1.0)]),
    unit_of(29, "jaw forward", &[("jawForward", 1.0)]),
    unit_of(30, "jaw sideways, to the side given", &[("jawLeft", 1.0), ("jawRight", 1.0)]),
    unit_of(31, "jaw clenched", &[]),
    unit_of(32, "lip bitten", &[]),
    unit_of(33, "air blown through the lips", &[("cheekPuff", 0.6), ("mouthPucker", 0.4)]),
    unit_of(34, "cheeks puffed", &[("cheekPuff", 1.0)]),
    unit_of(35, "cheeks sucked in", &[]),
    unit_of(36, "cheek or lip bulged by the tongue", &[]),
    unit_of(37, "lip wiped by the tongue", &[]),
    unit_of(38, "nostrils wide", &[]),
    unit_of(39, "nostrils narrow", &[]),
    unit_of(43, "eyes closed", &[("eyeBlinkLeft", 1.0), ("eyeBlinkRight", 1.0)]),
    unit_of(45, "blink", &[("eyeBlinkLeft", 1.0), ("eyeBlinkRight", 1.0)]),
    unit_of(46, "wink, of one side", &[("eyeBlinkLeft", 1.0), ("eyeBlinkRight", 1.0)]),
    unit_of(61, "eyes to their left", &[("eyeLookOutLeft", 1.0), ("eyeLookInRight", 1.0)]),
    unit_of(62, "eyes to their right", &[("eyeLookInLeft", 1.0), ("eyeLookOutRight", 1.0)]),
    unit_of(63, "eyes up", &[("eyeLookUpLeft", 1.0), ("eyeLookUpRight", 1.0)]),
    unit_of(64, "eyes down", &[("eyeLookDownLeft", 1.0), ("eyeLookDownRight", 1.0)]),
    unit_of(65, "eyes apart", &[("eyeLookOutLeft", 1.0), ("eyeLookOutRight", 1.0)]),
    unit_of(66, "eyes crossed", &[("eyeLookInLeft", 1.0), ("eyeLookInRight", 1.0)]),
];

/// The unit of a number.
pub fn unit(number: u8) -> Option<&'static ActionUnit> {
    UNITS.iter().find(|unit| unit.number == number)
}

/// The face shapes of units with their sides and intensities (0 to 1): their sum, each at most 1.
///
/// # Errors
///
/// [`SkinError::BadShape`] with the place in `units` whose number [`UNITS`] does not have.
pub fn weights(units: &[(u8, Side, f32)]) -> Result<[f32; 52], SkinError> {
    let mut weights = [0.0; 52];
    for (shape, (number, side, intensity)) in units.iter().enumerate() {
        let what = "its action unit is not known";
        let unit = unit(*number).ok_or(SkinError::BadShape { shape, what })?;
        unit.mix.add(*side, *intensity, &mut weights);
    }
    Ok(weights)
}

/// The units that show in a face, ascending, with their intensities on the left and on the right.
///
/// Units that share shapes are read apart from each other, so a closed eye is a 43, a 45 and a 46.
pub fn read(weights: &[f32; 52]) -> Vec<(u8, [f32; 2])> {
    UNITS
        .iter()
        .map(|unit| {
            let sides = [Side::Left, Side::Right];
            (unit.number, sides.map(|side| unit.mix.read(side, weights)))
        })
        .filter(|(_, intensities)| intensities.iter().any(|intensity| *intensity > 0.0))
        .collect()
}

const fn unit_of(
    number: u8,
    name: &'static str,
    shapes: &'static [(&'static str, f32)],
) -> ActionUnit {
    ActionUnit {
        number,
        name,
        mix: FaceMix(shapes),
    }
}

#[cfg(test)]
mod tests {
    use super::super::arkit::NAMES;
    use super::*;

    #[test]
    fn units_are_sorted_and_name_known_shapes() {
        assert!(UNITS.is_sorted_by(|a, b| a.number < b.number));
        let shapes = UNITS.iter().flat_map(|unit| unit.mix.0);
        for (name, strength) in shapes {
            assert!(NAMES.contains(name), "{name}");
            assert!(*strength > 0.0 && *strength <= 1.0, "{name}");
        }
        // All but the mouth sideways, which no unit is.
        let is_used = |name: &&str| {
            UNITS
                .iter()
                .any(|unit| unit.mix.0.iter().any(|s| s.0 == *name))
        };
        let unused: Vec<_> = NAMES
            .iter()
            .copied()
            .filter(|name| !is_used(name))
            .collect();
        assert_eq!(unused, ["mouthRight", "mouthLeft"]);
    }

    #[test]
    fn each_unit_is_read_as_it_was_set() {
        for unit in UNITS.iter().filter(|unit| !unit.mix.0.is_empty()) {
            let weights = weights(&[(unit.number, Side::Both, 0.5)]).unwrap();
            let found = read(&weights).into_iter().find(|f| f.0 == unit.number);
            assert_eq!(found, Some((unit.number, [0.5; 2])), "{}", unit.name);
        }
        assert!(read(&[0.0; 52]).is_empty());
        let bad = weights(&[(1, Side::Both, 1.0), (3, Side::Both, 1.0)]);
        assert!(matches!(bad, Err(SkinError::BadShape { shape: 1, .. })));
    }
}
