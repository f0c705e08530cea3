//! Joints whose weights an edit must leave alone.
//!
//! ```
//! use anim_skin::weights::Locks;
//!
//! let locks = Locks::of(&[3]);
//! assert!(locks.is_locked(3) && !locks.is_locked(2));
//! ```

use super::rows::Row;

/// A set of locked joints; empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locks(Vec<bool>);

impl Locks {
    /// Locks `joints`.
    pub fn of(joints: &[u16]) -> Self {
        let mut locked = vec![
            false;
            joints
                .iter()
                .map(|joint| usize::from(*joint) + 1)
                .max()
                .unwrap_or(0)
        ];
        for joint in joints {
            locked[usize::from(*joint)] = true;
        }
        Self(locked)
    }

    /// True if `joint` keeps its weights.
    pub fn is_locked(&self, joint: u16) -> bool {
        self.0.get(usize::from(joint)).copied().unwrap_or(false)
    }

    /// Gives `joint` as much of `weight` as locked joints leave, and scales the unlocked others to fill the rest.
    ///
    /// False, with the row as it was, where nothing changes beyond rounding: `joint` is locked, all others are, or there are
    /// none.
    pub(crate) fn set_weight(&self, row: &mut Row, joint: u16, weight: f64) -> bool {
        if self.is_locked(joint) {
            return false;
        }
        let old = weight_in(row, joint);
        let (mut held, mut others) = (0.0, 0.0);
        for (other, weight) in row.iter().filter(|(other, _)| *other != joint) {
            if self.is_locked(*other) {
                held += weight;
            } else {
                others += weight;
            }
        }
        if others <= 0.0 {
            return false;
        }
        let free = (1.0_f64 - held).max(0.0);
        let weight = weight.clamp(0.0, free);
        if (weight - old).abs() <= rounding(row.len()) {
            return false;
        }
        let scale = (free - weight) / others;
        row.retain(|(other, _)| *other != joint);
        for (other, weight) in row.iter_mut() {
            if !self.is_locked(*other) {
                *weight *= scale;
            }
        }
        row.push((joint, weight));
        true
    }

    /// Makes `wanted` keep the locked weights of `row`, its unlocked ones scaled to fill the rest; `row` has ascending joints.
    ///
    /// False, with `wanted` made `row`, where nothing changes beyond rounding: no unlocked weight is wanted, the locked ones
    /// leave no room, or what is left has the same shares already.
    pub(crate) fn hold(&self, row: &[(u16, f64)], wanted: &mut Row) -> bool {
        wanted.retain(|(joint, weight)| !self.is_locked(*joint) && *weight > 0.0);
        let total: f64 = wanted.iter().map(|(_, weight)| weight).sum();
        let held = row.iter().filter(|(joint, _)| self.is_locked(*joint));
        let free = (1.0 - held.clone().map(|(_, weight)| weight).sum::<f64>()).max(0.0);
        if total > 0.0 {
            for (_, weight) in wanted.iter_mut() {
                *weight *= free / total;
            }
        }
        // Both sides sum to what is free: weights that only the row has are no larger than what these differ by.
        let least = rounding(row.len() + wanted.len());
        let is_same =
            |(joint, weight): &(u16, f64)| (weight - weight_in(row, *joint)).abs() <= least;
        if wanted.iter().all(is_same) {
            wanted.clear();
            wanted.extend_from_slice(row);
            return false;
        }
        wanted.extend(held);
        true
    }
}

/// What sums and a division can leave between equal weights of rows of `entries` in all.
pub(crate) fn rounding(entries: usize) -> f64 {
    (entries + 1) as f64 * f64::EPSILON
}

/// The weight of `joint` in a row of ascending joints, 0 where it has none.
fn weight_in(row: &[(u16, f64)], joint: u16) -> f64 {
    match row.binary_search_by_key(&joint, |(joint, _)| *joint) {
        Ok(place) => row[place].1,
        Err(_) => 0.0,
    }
}
