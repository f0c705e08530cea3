//! The 52 face shapes of ARKit: names, order, mirrored sides, and matching of the many spellings they come in.
//!
//! Trackers stream these weights in this order; characters have some of them under names of their own taste.
//! [`match_names`] finds who is who and reports what is missing, so that nothing is silently still.
//!
//! ```
//! use anim_skin::morph::arkit;
//!
//! let report = arkit::match_names(&["Face.blendShape1.eyeBlink_L", "jaw_open", "hair"]);
//! assert_eq!(report.found, [(0, 0), (17, 1)]);
//! assert_eq!(report.extra, [2]);
//! assert_eq!(report.missing.len(), 50);
//! ```

/// The names in the order of recordings; every weight lies from 0 to 1, and 0 is the neutral face.
///
/// Left and right are the face's own.
#[rustfmt::skip]
pub const NAMES: [&str; 52] = [
    "eyeBlinkLeft", "eyeLookDownLeft", "eyeLookInLeft", "eyeLookOutLeft", "eyeLookUpLeft", "eyeSquintLeft", "eyeWideLeft",
    "eyeBlinkRight", "eyeLookDownRight", "eyeLookInRight", "eyeLookOutRight", "eyeLookUpRight", "eyeSquintRight", "eyeWideRight",
    "jawForward", "jawRight", "jawLeft", "jawOpen",
    "mouthClose", "mouthFunnel", "mouthPucker", "mouthRight", "mouthLeft",
    "mouthSmileLeft", "mouthSmileRight", "mouthFrownLeft", "mouthFrownRight", "mouthDimpleLeft", "mouthDimpleRight",
    "mouthStretchLeft", "mouthStretchRight", "mouthRollLower", "mouthRollUpper", "mouthShrugLower", "mouthShrugUpper",
    "mouthPressLeft", "mouthPressRight", "mouthLowerDownLeft", "mouthLowerDownRight", "mouthUpperUpLeft", "mouthUpperUpRight",
    "browDownLeft", "browDownRight", "browInnerUp", "browOuterUpLeft", "browOuterUpRight",
    "cheekPuff", "cheekSquintLeft", "cheekSquintRight", "noseSneerLeft", "noseSneerRight", "tongueOut",
];

/// Who is who among a character's shapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameReport {
    /// Place in [`NAMES`] and place in the given list, ascending by the former.
    pub found: Vec<(usize, usize)>,
    /// Places in [`NAMES`] that no given name matches.
    pub missing: Vec<usize>,
    /// Places of given names that match none, or one that an earlier name matched.
    pub extra: Vec<usize>,
}

/// The place in [`NAMES`] of a name in any spelling that [`normalized`] sees through.
pub fn index_of(name: &str) -> Option<usize> {
    let name = normalized(name);
    NAMES
        .iter()
        .position(|known| known.eq_ignore_ascii_case(&name))
}

/// The shape of the other side, or the shape itself if it is in the middle.
///
/// # Panics
///
/// If `shape` is not below 52.
pub fn mirrored(shape: usize) -> usize {
    let name = NAMES[shape];
    let other = match (name.strip_suffix("Left"), name.strip_suffix("Right")) {
        (Some(stem), _) => [stem, "Right"].concat(),
        (_, Some(stem)) => [stem, "Left"].concat(),
        _ => return shape,
    };
    index_of(&other).unwrap_or(shape)
}

/// All pairs of left and right, ascending, as [`SolveOptions::pairs`](super::SolveOptions::pairs) takes them.
pub fn pairs() -> Vec<[usize; 2]> {
    (0..NAMES.len())
        .filter(|shape| NAMES[*shape].ends_with("Left"))
        .map(|shape| [shape, mirrored(shape)])
        .collect()
}

/// Matches the shapes of a character.
pub fn match_names<S: AsRef<str>>(names: &[S]) -> NameReport {
    let mut places = [None; NAMES.len()];
    let mut report = NameReport::default();
    for (given, name) in names.iter().enumerate() {
        match index_of(name.as_ref()).map(|known| &mut places[known]) {
            Some(place @ None) => *place = Some(given),
            _ => report.extra.push(given),
        }
    }
    for (known, place) in places.iter().enumerate() {
        match place {
            Some(given) => report.found.push((known, *given)),
            None => report.missing.push(known),
        }
    }
    report
}

/// The weights that are no number from 0 to 1, and their places in [`NAMES`].
pub fn check_ranges(weights: &[f32; 52]) -> Vec<(usize, f32)> {
    let pairs = weights.iter().copied().enumerate();
    pairs.filter(|(_, w)| !(0.0..=1.0).contains(w)).collect()
}

/// A name without its taste: lower case, no separators, nothing before the last `.` or `:` that more letters follow, none of
/// the numbers after a `.` that tools tell copies by, and the side, however short and wherever it stands, as `left` or
/// `right` at the end.
pub fn normalized(name: &str) -> String {
    let parts = name.trim().split(['.', ':']);
    let mut parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    while parts.len() > 1 && parts.last().is_some_and(is_number) {
        parts.pop();
    }
    let is_side = |word: &str| side(word).is_some();
    let name = match parts[..] {
        // `eyeBlink.L`, `L.eyeBlink`: here the dot is a separator.
        [.., before, last] if is_side(last) || is_side(before) => format!("{before}.{last}"),
        [.., last] => last.to_owned(),
        [] => String::new(),
    };
    let mut words: Vec<&str> = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let mut end = "";
    if words.len() > 1 {
        if let Some(found) = words.last().and_then(|word| side(word)) {
            end = found;
            words.pop();
        } else if let Some(found) = words.first().and_then(|word| side(word)) {
            end = found;
            words.remove(0);
        }
    }
    let mut stem = words.concat();
    if end.is_empty() {
        let mut last = stem.chars().rev();
        let short = match (last.next(), last.next()) {
            (Some('L'), Some(before)) if before.is_lowercase() => "left",
            (Some('R'), Some(before)) if before.is_lowercase() => "right",
            _ => "",
        };
        if !short.is_empty() {
            stem.pop();
            end = short;
        }
    }
    stem.to_lowercase() + end
}

fn side(word: &str) -> Option<&'static str> {
    let is = |name: &str| word.eq_ignore_ascii_case(name);
    if is("l") || is("left") {
        Some("left")
    } else if is("r") || is("right") {
        Some("right")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_sides_in_front_are_known_too() {
        let place = |name| NAMES.iter().position(|other| *other == name);
        for (spelling, name) in [
            ("eyeBlink_L.001", "eyeBlinkLeft"),
            ("jawOpen.001", "jawOpen"),
            ("Head:jawOpen.001.002", "jawOpen"),
            ("L.eyeBlink", "eyeBlinkLeft"),
            ("Face.R.eyeBlink", "eyeBlinkRight"),
            ("eyeBlink.L.003", "eyeBlinkLeft"),
        ] {
            assert_eq!(index_of(spelling), place(name), "{spelling}");
        }
        for odd in ["", ".", "...", "001", ".L", "L.L", "12.34"] {
            assert_eq!(index_of(odd), None, "{odd}");
        }
    }

    #[test]
    fn all_names_are_known_by_their_own_and_other_spellings() {
        for (place, name) in NAMES.iter().enumerate() {
            assert_eq!(index_of(name), Some(place));
            assert_eq!(
                index_of(&format!("Head.{}", name.to_uppercase())),
                Some(place)
            );
            for (long, short) in [
                ("Left", "_L"),
                ("Right", "_R"),
                ("Left", "L"),
                ("Right", ".r"),
            ] {
                if let Some(stem) = name.strip_suffix(long) {
                    assert_eq!(
                        index_of(&format!("{stem}{short}")),
                        Some(place),
                        "{stem}{short}"
                    );
                    assert_eq!(index_of(&format!("{long}_{stem}")), Some(place));
                }
            }
        }
        for name in ["", ".", ":", "é", "hair", "L", "_L", "a."] {
            assert_eq!(index_of(name), None, "{name}");
        }
    }

    #[test]
    fn what_is_no_weight_is_listed() {
        let mut weights = [0.5; 52];
        (weights[0], weights[1]) = (0.0, 1.0);
        assert!(check_ranges(&weights).is_empty());
        (weights[3], weights[4], weights[51]) = (-0.25, 1.5, f32::NAN);
        let places: Vec<_> = check_ranges(&weights).iter().map(|bad| bad.0).collect();
        assert_eq!(places, [3, 4, 51]);
    }

    #[test]
    fn mirroring_twice_is_the_shape_itself() {
        assert!((0..52).all(|shape| mirrored(mirrored(shape)) == shape));
        // Eyes 7; jaw and mouth sideways; mouth 4 + 3; brows 2; cheek and nose 2.
        assert_eq!(pairs().len(), 7 + 2 + 7 + 2 + 2);
    }
}
