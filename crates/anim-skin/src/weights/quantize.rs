//! Weights as graphics cards read them: sets of four influences in 8, 16 or 24 bits that sum to exactly 1.
//!
//! Rounding each weight by itself leaves sums of 254 or 256, and a vertex is then drawn towards the model's origin or away
//! from it in proportion to the distance from it. Here the units that rounding down leaves over go to the weights that lost
//! most, so the sum is exact and the error is the same wherever the character stands. Two sets are glTF's `JOINTS_1` and
//! `WEIGHTS_1`.
//!
//! ```
//! use anim_skin::weights::{SkinWeights, quantize};
//!
//! let weights = SkinWeights::from_dense(3, &[1.0, 1.0, 1.0])?;
//! let packed = quantize::pack::<u8>(&weights, 1);
//! assert_eq!(packed.sets[0][0].weights, [85, 85, 85, 0]);
//! assert!(packed.report.max_error < 1e-15);
//! assert_eq!(packed.to_le_bytes(0), [0, 0, 1, 0, 2, 0, 0, 0, 85, 85, 85, 0]);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use serde::Serialize;

use super::SkinWeights;
use crate::SkinError;

/// Four influences of a vertex, heaviest first; unused places hold weight 0 of joint 0.
///
/// In memory the joints come first, 8 bytes, then the weights, 4, 8 or 16 bytes: 12 bytes with `u8`, 16 with `u16`, 24 with
/// `f32`, without padding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Influences4<W> {
    /// Places in the skin's joint list.
    pub joints: [u16; 4],
    /// Their weights; [`StoredWeight::UNITS`] units are 1.
    pub weights: [W; 4],
}

/// A number that weights are stored in: `u8` and `u16` normalised, or `f32`.
pub trait StoredWeight: Copy + Default {
    /// How many units make 1.
    const UNITS: u32;
    /// The weight of so many units.
    fn from_units(units: u32) -> Self;
    /// Appends it as graphics cards read it, the low byte first.
    fn push_le_bytes(self, out: &mut Vec<u8>);
}

impl StoredWeight for u8 {
    const UNITS: u32 = 255;
    fn from_units(units: u32) -> Self {
        units as Self
    }
    fn push_le_bytes(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
}

impl StoredWeight for u16 {
    const UNITS: u32 = 65_535;
    fn from_units(units: u32) -> Self {
        units as Self
    }
    fn push_le_bytes(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
}

/// Multiples of 2⁻²⁴, so that every partial sum of a row is exact.
impl StoredWeight for f32 {
    const UNITS: u32 = 1 << 24;
    fn from_units(units: u32) -> Self {
        units as Self / Self::UNITS as Self
    }
    fn push_le_bytes(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
}

/// Quantised weights of V vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed<W> {
    /// One or more sets of V; all sets together sum to 1 at each vertex.
    pub sets: Vec<Vec<Influences4<W>>>,
    /// What it cost.
    pub report: QuantizeReport,
}

/// What quantisation changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct QuantizeReport {
    /// The largest error of a weight against the limited row, below one unit.
    pub max_error: f64,
    /// The root mean square of those errors.
    pub rms_error: f64,
    /// Rows that had more influences than fit.
    pub limited_rows: usize,
    /// The largest share of a row that did not fit.
    pub dropped_mass_max: f64,
}

impl<W: StoredWeight> Packed<W> {
    /// The bytes of a set as a vertex buffer takes them: vertex by vertex four joints, then four weights, each with its low byte
    /// first; the layout of [`Influences4`] in memory on most machines.
    ///
    /// # Panics
    ///
    /// If there is no such set.
    pub fn to_le_bytes(&self, set: usize) -> Vec<u8> {
        let set = &self.sets[set];
        let mut out = Vec::with_capacity(size_of_val(set.as_slice()));
        for influences in set {
            out.extend(
                influences
                    .joints
                    .iter()
                    .flat_map(|joint| joint.to_le_bytes()),
            );
            let weights = influences.weights.iter();
            weights.for_each(|weight| weight.push_le_bytes(&mut out));
        }
        out
    }
}

/// Packs weights into `sets` (at least 1) sets of four influences a vertex.
///
/// Rows with more influences keep the largest, as [`SkinWeights::limited`] does. Influences below half a unit or so vanish.
/// O(V k log k).
pub fn pack<W: StoredWeight>(weights: &SkinWeights, sets: usize) -> Packed<W> {
    let per_vertex = 4 * sets.max(1);
    let (limited, dropped_mass_max) = weights.limited(per_vertex);
    let vertex_count = weights.vertex_count();
    let mut report = QuantizeReport {
        dropped_mass_max,
        limited_rows: (0..vertex_count)
            .filter(|vertex| weights.row(*vertex).len() > per_vertex)
            .count(),
        ..QuantizeReport::default()
    };
    let empty = Influences4 {
        joints: [0; 4],
        weights: [W::default(); 4],
    };
    let mut out = vec![Vec::with_capacity(vertex_count); sets.max(1)];
    let mut slots = vec![empty; sets.max(1)];
    let (mut squares, mut count) = (0.0, 0_usize);
    let mut units = Vec::new();
    for vertex in 0..vertex_count {
        share(
            limited.row(vertex).map(|(_, w)| w),
            1.0,
            W::UNITS,
            &mut units,
        );
        let mut entries: Vec<(u16, u32)> = Vec::with_capacity(units.len());
        for ((joint, weight), units) in limited.row(vertex).zip(&units) {
            let error = (f64::from(*units) / f64::from(W::UNITS) - weight).abs();
            report.max_error = report.max_error.max(error);
            squares += error * error;
            count += 1;
            entries.push((joint, *units));
        }
        entries.retain(|(_, units)| *units > 0);
        entries.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        slots.fill(empty);
        for (place, (joint, units)) in entries.into_iter().enumerate() {
            slots[place / 4].joints[place % 4] = joint;
            slots[place / 4].weights[place % 4] = W::from_units(units);
        }
        for (set, slot) in out.iter_mut().zip(&slots) {
            set.push(*slot);
        }
    }
    report.rms_error = (squares / count.max(1) as f64).sqrt();
    Packed { sets: out, report }
}

/// Shares `units` among raw weights in proportion: each gets its share rounded down, and what is left goes one by one to the
/// largest remainders, of equal ones to the first.
///
/// The sum is exactly `units`, and each is less than one unit from its share.
///
/// # Errors
///
/// [`SkinError::NotFinite`] for a weight that is negative, NaN or infinite, [`SkinError::NothingToShare`] if none is above 0.
pub fn largest_remainder(weights: &[f64], units: u32) -> Result<Vec<u32>, SkinError> {
    if let Some(index) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        return Err(SkinError::NotFinite {
            what: "weight",
            index,
        });
    }
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return Err(SkinError::NothingToShare);
    }
    // By the largest first, so that sums neither overflow nor vanish.
    let scaled = weights.iter().map(|weight| weight / largest);
    let mut out = Vec::new();
    share(scaled.clone(), scaled.sum(), units, &mut out);
    Ok(out)
}

/// The method of the largest remainder for weights of which `sum` is the sum.
fn share(weights: impl Iterator<Item = f64> + Clone, sum: f64, units: u32, out: &mut Vec<u32>) {
    let shares = weights.map(|weight| weight / sum * f64::from(units));
    out.clear();
    out.extend(shares.clone().map(|share| share.floor() as u32));
    let given: u32 = out.iter().sum();
    let mut order: Vec<(f64, usize)> = shares
        .zip(0..)
        .map(|(share, place)| (share - share.floor(), place))
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (_, place) in order.into_iter().take(units.saturating_sub(given) as usize) {
        out[place] += 1;
    }
}

#[cfg(test)]
mod tests {
    use anim_math::nalgebra::Vector3;
    use proptest::prelude::*;

    use super::*;

    fn units<W: StoredWeight + Into<f64>>(packed: &Packed<W>, vertex: usize) -> f64 {
        let of_set = |set: &Vec<Influences4<W>>| -> f64 {
            set[vertex].weights.iter().map(|w| (*w).into()).sum()
        };
        packed.sets.iter().map(of_set).sum()
    }

    #[test]
    fn thirds_of_a_hundred_give_the_first_the_rest() {
        assert_eq!(
            largest_remainder(&[1.0, 1.0, 1.0], 100).unwrap(),
            [34, 33, 33]
        );
        assert_eq!(largest_remainder(&[0.3, 0.3, 0.4], 1).unwrap(), [0, 0, 1]);
    }

    #[test]
    fn what_has_no_weight_is_refused() {
        assert_eq!(
            largest_remainder(&[0.0; 4], 255),
            Err(SkinError::NothingToShare)
        );
        assert_eq!(largest_remainder(&[], 255), Err(SkinError::NothingToShare));
        let bad = SkinError::NotFinite {
            what: "weight",
            index: 1,
        };
        assert_eq!(largest_remainder(&[1.0, f64::NAN], 255), Err(bad.clone()));
        assert_eq!(largest_remainder(&[1.0, -1.0], 255), Err(bad));
    }

    #[test]
    fn graphics_cards_find_the_documented_bytes() {
        assert_eq!(size_of::<Influences4<u8>>(), 12);
        assert_eq!(size_of::<Influences4<u16>>(), 16);
        assert_eq!(size_of::<Influences4<f32>>(), 24);
        assert_eq!(std::mem::offset_of!(Influences4<f32>, weights), 8);
        let weights = SkinWeights::from_dense(258, &[vec![0.0; 257], vec![3.0]].concat()).unwrap();
        let joints = [1, 1, 0, 0, 0, 0, 0, 0];
        let bytes = |weights: &[u8]| [&joints[..], weights].concat();
        let in_8_bits = pack::<u8>(&weights, 1).to_le_bytes(0);
        assert_eq!(in_8_bits, bytes(&[255, 0, 0, 0]));
        let in_16_bits = pack::<u16>(&weights, 1).to_le_bytes(0);
        assert_eq!(in_16_bits, bytes(&[255, 255, 0, 0, 0, 0, 0, 0]));
        let floats = pack::<f32>(&weights, 1).to_le_bytes(0);
        let ones = [0, 0, 128, 63].into_iter().chain([0; 12]);
        assert_eq!(floats, bytes(&ones.collect::<Vec<u8>>()));
    }

    #[test]
    fn the_second_set_takes_what_the_first_has_no_room_for() {
        let weights =
            SkinWeights::from_dense(9, &[9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]).unwrap();
        let packed = pack::<u16>(&weights, 2);
        assert_eq!(packed.sets[0][0].joints, [0, 1, 2, 3]);
        assert_eq!(packed.sets[1][0].joints, [4, 5, 6, 7]);
        assert_eq!(units(&packed, 0), 65_535.0);
        assert_eq!(packed.report.limited_rows, 1);
        assert!((packed.report.dropped_mass_max - 1.0 / 45.0).abs() < 1e-15);
    }

    /// Rounding each weight alone errs 33 times as much five diagonals from the origin; this does not err more at all.
    #[test]
    fn the_error_does_not_grow_with_the_distance_from_the_origin() {
        // Four joints a vertex that carry it to places of the size of a character.
        let rows: Vec<f64> = (0..400).map(|i| f64::from((i * 7919) % 97 + 1)).collect();
        let weights = SkinWeights::from_dense(4, &rows).unwrap();
        let packed = pack::<u8>(&weights, 1);
        let places = [
            Vector3::new(0.0, 0.0, 0.0),
            Vector3::new(0.3, 0.1, 0.0),
            Vector3::new(0.0, 0.4, -0.2),
            Vector3::new(-0.1, 0.2, 0.5),
        ];
        let error = |distance: f64, naive: bool| {
            let shift = Vector3::repeat(distance);
            let of_vertex = |vertex: usize| {
                let exact: Vector3<f64> = weights
                    .row(vertex)
                    .map(|(j, w)| (places[usize::from(j)] + shift) * w)
                    .sum();
                let influences = packed.sets[0][vertex];
                let stored: Vector3<f64> = if naive {
                    let round = |w: f64| (w * 255.0).round() / 255.0;
                    weights
                        .row(vertex)
                        .map(|(j, w)| (places[usize::from(j)] + shift) * round(w))
                        .sum()
                } else {
                    let entries = influences.joints.into_iter().zip(influences.weights);
                    entries
                        .map(|(j, w)| (places[usize::from(j)] + shift) * (f64::from(w) / 255.0))
                        .sum()
                };
                (stored - exact).norm()
            };
            (0..100).map(of_vertex).fold(0.0, f64::max)
        };
        assert!((error(1000.0, false) - error(0.0, false)).abs() < 1000.0 * 8.0 * f64::EPSILON);
        assert!(error(1000.0, true) > 1000.0 * error(0.0, true));
    }

    proptest! {
        #[test]
        fn sums_are_exact_and_no_weight_is_a_unit_off(
            row in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1.0, 1e-12..1e-9], 1..12),
        ) {
            prop_assume!(row.iter().any(|weight| *weight > 0.0));
            let sum: f64 = row.iter().sum();
            let shared = largest_remainder(&row, 255).unwrap();
            prop_assert_eq!(shared.iter().sum::<u32>(), 255);
            for (units, weight) in shared.iter().zip(&row) {
                prop_assert!((f64::from(*units) - weight / sum * 255.0).abs() < 1.0 + 1e-9);
            }
            let weights = SkinWeights::from_dense(row.len(), &row).unwrap();
            prop_assert_eq!(units(&pack::<u8>(&weights, 1), 0), 255.0);
            prop_assert_eq!(units(&pack::<u16>(&weights, 1), 0), 65_535.0);
            prop_assert_eq!(units(&pack::<f32>(&weights, 2), 0), 1.0);
            prop_assert!(pack::<u8>(&weights, 1).report.max_error < 1.0 / 255.0);
        }
    }
}
