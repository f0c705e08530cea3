//! Names of joints as people write them: with `*` and `?`, and sometimes misspelt.
//!
//! ```
//! use anim_skeleton::pattern::matches;
//!
//! assert!(matches("Spine*", "Spine2") && matches("?_arm", "l_arm") && !matches("Spine?", "Spine"));
//! ```

use crate::{JointId, Skeleton, SkeletonError};

/// True if all of `name` is what `pattern` says: `*` is any number of characters, `?` is one, case counts.
///
/// O(pattern × name) at worst; allocates nothing.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    // Where to go on if the last star has to take one character more.
    let mut retry = None;
    loop {
        let before = pattern.clone();
        match (pattern.next(), name.clone().next()) {
            (Some('*'), _) => retry = Some((before, name.clone())),
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                name.next();
            }
            (None, None) => return true,
            _ => {
                let Some((star, mut longer)) = retry.take() else {
                    return false;
                };
                if longer.next().is_none() {
                    return false;
                }
                (pattern, name) = (star, longer);
            }
        }
    }
}

impl Skeleton {
    /// The joints whose names match `pattern` ([`matches()`]), breadth-first; at least one.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::NoName`] if there is none, with the names most like it.
    pub fn find_all(&self, pattern: &str) -> Result<Vec<JointId>, SkeletonError> {
        let named = |joint: &JointId| self.name(*joint).is_some_and(|n| matches(pattern, n));
        let found: Vec<_> = self.joints().filter(named).collect();
        if found.is_empty() {
            return Err(SkeletonError::NoName {
                pattern: pattern.to_owned(),
                near: self.names_like(pattern),
            });
        }
        Ok(found)
    }

    /// The names that contain `pattern` or are few edits away, without regard to case; at most three.
    fn names_like(&self, pattern: &str) -> Vec<String> {
        let wanted: String = pattern.chars().filter(|c| !"*?".contains(*c)).collect();
        let wanted = wanted.to_lowercase();
        let distance = |name: &str| match name.to_lowercase() {
            longer if longer.contains(&wanted) => 1,
            other => edits(&wanted, &other),
        };
        let names = self.joints().filter_map(|joint| self.name(joint));
        let mut ranked: Vec<_> = names
            .map(|name| (distance(name), name))
            .filter(|(distance, _)| *distance <= 1 + wanted.chars().count() / 2)
            .collect();
        ranked.sort_unstable();
        ranked.dedup();
        let nearest = ranked.into_iter().take(3);
        nearest.map(|(_, name)| name.to_owned()).collect()
    }
}

/// The edit distance of Levenshtein 1966: characters to insert, delete or replace.
fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (deleted, a) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], deleted + 1);
        for (place, b) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[place + 1];
            row[place + 1] = replaced.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_characters() {
        let yes = [
            ("", ""),
            ("*", ""),
            ("**", "x"),
            ("Spine", "Spine"),
            ("Spine*", "Spine"),
            ("*_l", "arm_l_l"),
            ("a*b*c", "aXbXbc"),
            ("?é?", "aéb"),
            ("*.*", "hand.l"),
        ];
        let no = [
            ("", "x"),
            ("?", ""),
            ("Spine", "spine"),
            ("Spine", "Spine1"),
            ("a*b*c", "aXbX"),
            ("*_l", "arm_r"),
            ("?", "ab"),
        ];
        assert!(yes.iter().all(|(pattern, name)| matches(pattern, name)));
        assert!(!no.iter().any(|(pattern, name)| matches(pattern, name)));
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("spnie", "spine"), 2);
    }

    /// The definition, exponential.
    fn defined(pattern: &[char], name: &[char]) -> bool {
        match (pattern.first(), name.first()) {
            (None, None) => true,
            (Some('*'), _) => {
                defined(&pattern[1..], name) || (!name.is_empty() && defined(pattern, &name[1..]))
            }
            (Some(p), Some(n)) => (*p == '?' || p == n) && defined(&pattern[1..], &name[1..]),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_its_definition(pattern in "[ab*?]{0,7}", name in "[ab]{0,9}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(matches(&pattern, &name), defined(&chars(&pattern), &chars(&name)));
        }
    }
}
