//! Left and right in the names of joints.
//!
//! Every tool writes sides in its own way. The ways are data: a list of [`SideNames`], of which [`SideNames::common`] has
//! those of Blender, Mixamo, 3ds Max, Maya, VRM and Unreal.
//!
//! ```
//! use anim_skeleton::{JointSpec, SideNames, Skeleton};
//!
//! let joint = |name: &str| JointSpec { name: Some(name.into()), parent: None, rest: Default::default() };
//! let skeleton = Skeleton::new(["mixamorig:LeftHand", "mixamorig:RightHand", "Head"].map(joint).into())?;
//! let pairs = skeleton.side_pairs(&SideNames::common());
//! assert_eq!(pairs, [[skeleton.joint(0), skeleton.joint(1)]]);
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::{JointId, Skeleton};

/// Where in a name the side is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Position {
    /// At the start.
    Start,
    /// At the end; a number behind it (`_01`, `.001`) does not count.
    End,
    /// Anywhere, the first time it occurs.
    Anywhere,
}

/// One way to write sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideNames {
    /// How left is written; case counts.
    pub left: String,
    /// How right is written.
    pub right: String,
    /// Where.
    pub position: Position,
}

impl SideNames {
    /// The ways of the usual tools, the most telling first.
    pub fn common() -> Vec<Self> {
        let anywhere = [
            ("Left", "Right"),
            ("left", "right"),
            ("LEFT", "RIGHT"),
            ("_L_", "_R_"),
            ("_l_", "_r_"),
            (".L.", ".R."),
            (".l.", ".r."),
            (" L ", " R "),
        ];
        let start = [("L_", "R_"), ("l_", "r_"), ("L.", "R."), ("l.", "r.")];
        let end = [
            ("_L", "_R"),
            ("_l", "_r"),
            (".L", ".R"),
            (".l", ".r"),
            ("-L", "-R"),
            ("-l", "-r"),
            (" L", " R"),
            ("L", "R"),
        ];
        let ways = |names: &[(&str, &str)], position| -> Vec<Self> {
            let way = |(left, right): &(&str, &str)| Self {
                left: (*left).to_owned(),
                right: (*right).to_owned(),
                position,
            };
            names.iter().map(way).collect()
        };
        let mut all = ways(&anywhere, Position::Anywhere);
        all.extend(ways(&start, Position::Start));
        all.extend(ways(&end, Position::End));
        all
    }

    /// `name` with right for left; `None` if left is not in it.
    pub fn right_of(&self, name: &str) -> Option<String> {
        let left = self.left.as_str();
        if left.is_empty() {
            return None;
        }
        let right = &self.right;
        match self.position {
            Position::Start => Some(format!("{right}{}", name.strip_prefix(left)?)),
            Position::End => {
                let (stem, number) = split_number(name);
                let swap = |stem: &str| Some(format!("{}{right}", stem.strip_suffix(left)?));
                swap(name).or_else(|| Some(format!("{}{number}", swap(stem)?)))
            }
            Position::Anywhere => {
                let (before, after) = name.split_once(left)?;
                Some(format!("{before}{right}{after}"))
            }
        }
    }
}

impl Skeleton {
    /// Pairs of joints, left first, whose names differ in the side alone; the first way that finds a partner counts.
    ///
    /// Where no such name exists, numbers at the ends (`_01`, `.001`), which some exporters add to all names, are left out
    /// of the comparison if that finds a single partner. Pairs whose parents are not partners are left out. Each joint
    /// is in one pair at most.
    pub fn side_pairs(&self, ways: &[SideNames]) -> Vec<[JointId; 2]> {
        let mut partner: Vec<Option<JointId>> = vec![None; self.len()];
        let mut pairs = Vec::new();
        for left in self.joints() {
            let Some(name) = self.name(left) else {
                continue;
            };
            let right = ways
                .iter()
                .filter_map(|way| self.named_like(&way.right_of(name)?))
                .find(|right| {
                    let parents = (self.parent(left), self.parent(*right));
                    let are_partners = match parents {
                        (Some(a), Some(b)) => partner[a.index()].unwrap_or(a) == b,
                        (a, b) => a == b,
                    };
                    let is_free = |joint: JointId| partner[joint.index()].is_none();
                    *right != left && is_free(left) && is_free(*right) && are_partners
                });
            if let Some(right) = right {
                partner[left.index()] = Some(right);
                partner[right.index()] = Some(left);
                pairs.push([left, right]);
            }
        }
        pairs
    }

    fn named_like(&self, name: &str) -> Option<JointId> {
        self.find(name).or_else(|| {
            let stem = split_number(name).0;
            let is_like = |joint: &JointId| {
                let other = self.name(*joint);
                other.is_some_and(|other| split_number(other).0 == stem)
            };
            let mut like = self.joints().filter(is_like);
            like.next().filter(|_| like.next().is_none())
        })
    }
}

/// `arm_01` is `arm` and `_01`; without a dot or underscore before it a number belongs to the name.
fn split_number(name: &str) -> (&str, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match stem.strip_suffix(['_', '.']) {
        Some(shorter) if stem.len() < name.len() => name.split_at(shorter.len()),
        _ => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_swapped_where_they_are_written() {
        let swapped = |name: &str| {
            let ways = SideNames::common();
            ways.iter().find_map(|way| way.right_of(name))
        };
        let names = [
            ("LeftHand", "RightHand"),
            ("hand.l", "hand.r"),
            ("Hand.L.001", "Hand.R.001"),
            ("thumb_01_l", "thumb_01_r"),
            ("FootL_1", "FootR_1"),
            ("Bip01 L Thigh", "Bip01 R Thigh"),
            ("J_Bip_L_UpperArm", "J_Bip_R_UpperArm"),
            ("l_arm", "r_arm"),
        ];
        for (left, right) in names {
            assert_eq!(swapped(left).as_deref(), Some(right));
            assert_eq!(swapped(right), None);
        }
        assert_eq!(swapped("pelvis"), None);
    }

    #[test]
    fn numbers_are_what_follows_a_dot_or_underscore() {
        assert_eq!(split_number("arm_01"), ("arm", "_01"));
        assert_eq!(split_number("arm.001"), ("arm", ".001"));
        assert_eq!(split_number("Spine2"), ("Spine2", ""));
        assert_eq!(split_number("arm_"), ("arm_", ""));
        assert_eq!(split_number("12"), ("12", ""));
    }
}
