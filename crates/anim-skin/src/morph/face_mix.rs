//! Mixes of the 52 ARKit shapes: how other vocabularies of the face are written in this one.
//!
//! An action unit ([`facs`](super::facs)) or an expression ([`vrm`](super::vrm)) is some shapes at some strengths. A mix
//! adds itself to weights, for both sides of the face or one, and reads out of weights how far it is on.
//!
//! ```
//! use anim_skin::morph::face_mix::{FaceMix, Side};
//! use anim_skin::morph::arkit;
//!
//! let smile = FaceMix(&[("mouthSmileLeft", 1.0), ("mouthSmileRight", 1.0), ("browInnerUp", 0.5)]);
//! let mut weights = [0.0; 52];
//! smile.add(Side::Left, 0.8, &mut weights);
//! let at = |name| weights[arkit::index_of(name).unwrap_or(0)];
//! // What lies in the middle goes half with either side.
//! assert_eq!([at("mouthSmileLeft"), at("mouthSmileRight"), at("browInnerUp")], [0.8, 0.0, 0.2]);
//! ```

use super::arkit::NAMES;

/// Which half of the face, its own left or right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// All of it.
    #[default]
    Both,
    /// Shapes whose names end in `Left`, and half of those in the middle.
    Left,
    /// Shapes whose names end in `Right`, and half of those in the middle.
    Right,
}

/// Names of [`NAMES`] and their weights where the mix is fully on, above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceMix(pub &'static [(&'static str, f32)]);

impl FaceMix {
    /// Adds `amount` of the mix to `weights`, each of which ends at no more than 1; an amount that is no number adds nothing.
    pub fn add(self, side: Side, amount: f32, weights: &mut [f32; 52]) {
        let amount = if amount > 0.0 { amount } else { 0.0 };
        for (shape, strength) in self.shapes(side) {
            weights[shape] = (weights[shape] + amount * strength).min(1.0);
        }
    }

    /// How far the mix is on, from 0 to 1: as far as its weakest shape allows. A mix without shapes on this side is off.
    ///
    /// Mixes that share shapes are read apart from each other: these are readings, not parts of a sum.
    pub fn read(self, side: Side, weights: &[f32; 52]) -> f32 {
        let least = self
            .shapes(side)
            // Half of a shape in the middle belongs to a side, but it shows as far as the whole is on.
            .map(|(shape, strength)| weights[shape] / (strength / side.share(shape)))
            .fold(f32::INFINITY, f32::min);
        if least.is_finite() {
            least.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Places and strengths of the shapes on `side`.
    fn shapes(self, side: Side) -> impl Iterator<Item = (usize, f32)> {
        self.0.iter().filter_map(move |(name, strength)| {
            let shape = NAMES.iter().position(|known| known == name)?;
            let share = side.share(shape);
            (share > 0.0).then_some((shape, share * strength))
        })
    }
}

impl Side {
    /// How much of a shape belongs to this side.
    fn share(self, shape: usize) -> f32 {
        let name = NAMES[shape];
        let own = if name.ends_with("Left") {
            Self::Left
        } else if name.ends_with("Right") {
            Self::Right
        } else {
            Self::Both
        };
        match (self, own) {
            (Self::Both, _) => 1.0,
            (_, Self::Both) => 0.5,
            _ if self == own => 1.0,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMILE: FaceMix = FaceMix(&[
        ("mouthSmileLeft", 1.0),
        ("mouthSmileRight", 0.5),
        ("jawOpen", 0.5),
    ]);

    #[test]
    fn two_sides_add_up_to_both() {
        let (mut both, mut sides) = ([0.0; 52], [0.0; 52]);
        SMILE.add(Side::Both, 0.5, &mut both);
        SMILE.add(Side::Left, 0.5, &mut sides);
        SMILE.add(Side::Right, 0.5, &mut sides);
        assert_eq!(both, sides);
        // Twice as much is on at most fully.
        SMILE.add(Side::Both, 7.0, &mut both);
        assert!(super::super::arkit::check_ranges(&both).is_empty());
    }

    #[test]
    fn what_was_added_is_read() {
        let mut weights = [0.0; 52];
        SMILE.add(Side::Both, 0.5, &mut weights);
        for side in [Side::Both, Side::Left, Side::Right] {
            assert_eq!(SMILE.read(side, &weights), 0.5);
        }
        assert_eq!(SMILE.read(Side::Both, &[1.0; 52]), 1.0);
        assert_eq!(FaceMix(&[]).read(Side::Both, &[1.0; 52]), 0.0);
        SMILE.add(Side::Both, f32::NAN, &mut weights);
        assert_eq!(SMILE.read(Side::Both, &weights), 0.5);
    }
}
