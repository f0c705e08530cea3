//! VRM 1.0 expression presets, in the face shapes that come near to them.
//!
//! An avatar with the 18 presets can be driven by a tracker of [`arkit`](super::arkit) shapes ([`read`]), and a face with
//! those shapes can play a program made for presets ([`weights`]). Blinks and gaze are the same thing in both; vowels and
//! emotions are judgement.
//!
//! ```
//! use anim_skin::morph::vrm;
//!
//! let weights = vrm::weights(&[("blinkLeft", 1.0), ("aa", 0.5)])?;
//! let presets = vrm::read(&weights);
//! let at = |name| vrm::PRESETS.iter().position(|(preset, _)| *preset == name).map(|place| presets[place]);
//! assert_eq!([at("blinkLeft"), at("blinkRight"), at("aa")], [Some(1.0), Some(0.0), Some(0.5)]);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use super::face_mix::{FaceMix, Side};
use crate::SkinError;

/// The presets and their mixes, in the order of the specification of `VRMC_vrm` 1.0.
#[rustfmt::skip]
pub const PRESETS: [(&str, FaceMix); 18] = [
    ("happy", FaceMix(&[("mouthSmileLeft", 1.0), ("mouthSmileRight", 1.0), ("cheekSquintLeft", 0.5), ("cheekSquintRight", 0.5)])),
    ("angry", FaceMix(&[("browDownLeft", 1.0), ("browDownRight", 1.0), ("noseSneerLeft", 0.5), ("noseSneerRight", 0.5), ("mouthPressLeft", 0.3), ("mouthPressRight", 0.3)])),
    ("sad", FaceMix(&[("browInnerUp", 1.0), ("mouthFrownLeft", 0.8), ("mouthFrownRight", 0.8), ("mouthShrugLower", 0.3)])),
    ("relaxed", FaceMix(&[("eyeSquintLeft", 0.4), ("eyeSquintRight", 0.4), ("mouthSmileLeft", 0.3), ("mouthSmileRight", 0.3)])),
    ("surprised", FaceMix(&[("eyeWideLeft", 1.0), ("eyeWideRight", 1.0), ("browInnerUp", 0.8), ("browOuterUpLeft", 0.8), ("browOuterUpRight", 0.8), ("jawOpen", 0.3)])),
    ("aa", FaceMix(&[("jawOpen", 0.7)])),
    ("ih", FaceMix(&[("jawOpen", 0.2), ("mouthStretchLeft", 0.6), ("mouthStretchRight", 0.6)])),
    ("ou", FaceMix(&[("jawOpen", 0.2), ("mouthPucker", 0.8)])),
    ("ee", FaceMix(&[("jawOpen", 0.3), ("mouthSmileLeft", 0.4), ("mouthSmileRight", 0.4), ("mouthLowerDownLeft", 0.3), ("mouthLowerDownRight", 0.3)])),
    ("oh", FaceMix(&[("jawOpen", 0.5), ("mouthFunnel", 0.7)])),
    ("blink", FaceMix(&[("eyeBlinkLeft", 1.0), ("eyeBlinkRight", 1.0)])),
    ("blinkLeft", FaceMix(&[("eyeBlinkLeft", 1.0)])),
    ("blinkRight", FaceMix(&[("eyeBlinkRight", 1.0)])),
    ("lookUp", FaceMix(&[("eyeLookUpLeft", 1.0), ("eyeLookUpRight", 1.0)])),
    ("lookDown", FaceMix(&[("eyeLookDownLeft", 1.0), ("eyeLookDownRight", 1.0)])),
    ("lookLeft", FaceMix(&[("eyeLookOutLeft", 1.0), ("eyeLookInRight", 1.0)])),
    ("lookRight", FaceMix(&[("eyeLookInLeft", 1.0), ("eyeLookOutRight", 1.0)])),
    ("neutral", FaceMix(&[])),
];

/// The face shapes of presets and their weights: their sum, each at most 1.
///
/// # Errors
///
/// [`SkinError::UnknownShape`] for a name that is no preset; they are spelt as the specification does.
pub fn weights(presets: &[(&str, f32)]) -> Result<[f32; 52], SkinError> {
    let mut weights = [0.0; 52];
    for (name, amount) in presets {
        let (_, mix) = PRESETS
            .iter()
            .find(|(preset, _)| preset == name)
            .ok_or_else(|| SkinError::UnknownShape {
                name: (*name).to_owned(),
            })?;
        mix.add(Side::Both, *amount, &mut weights);
    }
    Ok(weights)
}

/// How far each preset is on, in the order of [`PRESETS`].
///
/// Each is read by itself, so both eyes closed are `blink`, `blinkLeft` and `blinkRight`: pass on either the first or the
/// others, and as many of the vowels as the avatar can bear.
pub fn read(weights: &[f32; 52]) -> [f32; 18] {
    PRESETS.map(|(_, mix)| mix.read(Side::Both, weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_preset_is_read_as_it_was_set() {
        for (place, (name, mix)) in PRESETS.iter().enumerate() {
            let known = |(shape, _): &(&str, f32)| super::super::arkit::NAMES.contains(shape);
            assert!(mix.0.iter().all(known), "{name}");
            let found = read(&weights(&[(name, 0.5)]).unwrap())[place];
            let expected = if *name == "neutral" { 0.0 } else { 0.5 };
            assert!((found - expected).abs() <= f32::EPSILON, "{name}: {found}");
        }
        let unknown = weights(&[("Joy", 1.0)]);
        assert!(matches!(unknown, Err(SkinError::UnknownShape { name }) if name == "Joy"));
    }
}
