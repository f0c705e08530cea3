//! Weights of the 52 ARKit shapes for a character that has most of them, or has them otherwise divided.
//!
//! One character has a single blink for both eyes, another a raised brow for each side. [`StandIns`] finds such shapes where
//! [`match_names`] finds none, and says which remain without any. A shape whose mirror exists
//! has no stand-in: the other side of the face would move.
//!
//! ```
//! use anim_skin::morph::StandIns;
//! use anim_skin::morph::arkit::index_of;
//!
//! let character = StandIns::new(&["eyeBlink", "browInnerUp_L", "browInnerUp_R", "jawOpen"]);
//! let mut tracked = [0.0; 52];
//! tracked[index_of("eyeBlinkLeft").unwrap_or(0)] = 1.0;
//! tracked[index_of("browInnerUp").unwrap_or(0)] = 0.5;
//! let mut weights = [0.0; 4];
//! character.apply(&tracked, &mut weights);
//! assert_eq!(weights, [0.5, 0.5, 0.5, 0.0]);
//! assert_eq!((character.approximated.len(), character.missing.len()), (3, 52 - 4));
//! ```

use super::arkit::{NAMES, match_names, mirrored, normalized};

/// Which of a character's shapes play which of the 52, and by how much.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StandIns {
    /// Places in [`NAMES`] that others of the character's shapes stand for.
    pub approximated: Vec<usize>,
    /// Places in [`NAMES`] that nothing stands for, and the given shape of the other side if the character has that, from
    /// which theirs can be made by mirroring.
    pub missing: Vec<(usize, Option<usize>)>,
    /// Place in [`NAMES`], place in the given list, factor.
    links: Vec<(usize, usize, f32)>,
    given_count: usize,
}

/// Stems whose left and right are directions and not halves of one shape.
const DIRECTIONS: [&str; 4] = ["jaw", "mouth", "eyelookin", "eyelookout"];

impl StandIns {
    /// Matches the shapes of a character in any spelling.
    ///
    /// A shape is played by its namesake; else a half by the shape of both sides (each side turns it half on); else a
    /// shape of both sides by its two halves.
    pub fn new<S: AsRef<str>>(names: &[S]) -> Self {
        let report = match_names(names);
        let given: Vec<String> = names.iter().map(|name| normalized(name.as_ref())).collect();
        let find = |name: &str| given.iter().position(|other| other == name);
        let mut out = Self {
            given_count: names.len(),
            ..Self::default()
        };
        out.links.extend(
            report
                .found
                .iter()
                .map(|(known, given)| (*known, *given, 1.0)),
        );
        for known in report.missing {
            let name = NAMES[known].to_lowercase();
            let stem = [name.strip_suffix("left"), name.strip_suffix("right")];
            let stem = stem.into_iter().flatten().next();
            if let Some(stem) = stem {
                let whole = find(stem).filter(|_| !DIRECTIONS.contains(&stem));
                out.links.extend(whole.map(|whole| (known, whole, 0.5)));
            } else {
                let halves = ["left", "right"].map(|side| find(&format!("{name}{side}")));
                if let [Some(left), Some(right)] = halves {
                    out.links.extend([(known, left, 1.0), (known, right, 1.0)]);
                }
            }
            if out.links.last().is_some_and(|link| link.0 == known) {
                out.approximated.push(known);
            } else {
                let other = report.found.iter().find(|f| f.0 == mirrored(known));
                out.missing.push((known, other.map(|f| f.1)));
            }
        }
        out
    }

    /// Writes the weights of the character's shapes; those that play none of the 52 become 0.
    ///
    /// * `tracked`: in the order of [`NAMES`].
    ///
    /// # Panics
    ///
    /// If `weights` is not one a given name.
    pub fn apply(&self, tracked: &[f32; 52], weights: &mut [f32]) {
        assert_eq!(weights.len(), self.given_count, "one weight a shape");
        weights.fill(0.0);
        for (known, given, factor) in &self.links {
            weights[*given] += factor * tracked[*known];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> usize {
        NAMES.iter().position(|known| *known == name).unwrap()
    }

    #[test]
    fn namesakes_need_no_stand_in() {
        let all = StandIns::new(&NAMES);
        assert!(all.approximated.is_empty() && all.missing.is_empty());
        let tracked: [f32; 52] = std::array::from_fn(|shape| shape as f32 / 52.0);
        let mut weights = [0.0; 52];
        all.apply(&tracked, &mut weights);
        assert_eq!(weights, tracked);
    }

    #[test]
    fn directions_are_no_halves_and_mirrors_are_reported() {
        let names = ["jaw", "mouth", "eyeLookIn", "eyeBlinkLeft"];
        let character = StandIns::new(&names);
        assert!(character.approximated.is_empty());
        assert!(
            character
                .missing
                .contains(&(place("eyeBlinkRight"), Some(3)))
        );
        assert!(character.missing.contains(&(place("jawLeft"), None)));
        assert_eq!(character.missing.len(), 51);
    }

    #[test]
    fn a_shape_of_both_sides_is_on_if_both_sides_are() {
        let character = StandIns::new(&["mouth_smile"]);
        let mut tracked = [0.0; 52];
        let mut weights = [0.0];
        for (name, expected) in [("mouthSmileLeft", 0.5), ("mouthSmileRight", 1.0)] {
            tracked[place(name)] = 1.0;
            character.apply(&tracked, &mut weights);
            assert_eq!(weights, [expected]);
        }
    }
}
