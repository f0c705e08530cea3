//! The nearest point of the simplex: what makes any row of numbers weights.

/// Replaces `row` by the nearest row without negative entries that sums to `1`.
///
/// wⱼ = max(vⱼ − τ, 0) with τ such that the sum is 1; τ is found by leaving out entries below it until none is. The result
/// sums to 1 within rounding. O(k²) at worst, O(k) as a rule. Allocates nothing.
///
/// Source: Michelot, "A finite algorithm for finding the projection of a point onto the canonical simplex of Rⁿ", JOTA 50,
/// 1986.
pub(super) fn project(row: &mut [f64]) {
    let mut threshold = f64::NEG_INFINITY;
    let mut kept = usize::MAX;
    loop {
        let (sum, count) = row
            .iter()
            .filter(|value| **value > threshold)
            .fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
        // Fewer each time, but for rounding, which must not turn in a circle.
        if count >= kept || count == 0 {
            break;
        }
        kept = count;
        threshold = (sum - 1.0) / count as f64;
    }
    for value in row {
        *value = (*value - threshold).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_of_the_simplex_stay() {
        let mut row = [0.25, 0.0, 0.75];
        project(&mut row);
        assert_eq!(row, [0.25, 0.0, 0.75]);
        let mut far = [5.0, -3.0];
        project(&mut far);
        assert_eq!(far, [1.0, 0.0]);
    }

    proptest! {
        #[test]
        fn ties_and_magnitudes_end_in_weights_too(
            row in prop::collection::vec(prop_oneof![Just(1.0 / 3.0), Just(0.1), -1e9..1e9_f64, -1e-9..1e-9_f64], 1..24),
        ) {
            let mut nearest = row;
            project(&mut nearest);
            prop_assert!(nearest.iter().all(|w| *w >= 0.0));
            prop_assert!((nearest.iter().sum::<f64>() - 1.0).abs() < 1e-5);
        }

        /// The nearest point p of a convex set has (v − p)·(q − p) ≤ 0 for each q of it; corners suffice for the simplex.
        #[test]
        fn no_corner_is_on_the_near_side(row in prop::collection::vec(-2.0..2.0_f64, 1..24)) {
            let mut nearest = row.clone();
            project(&mut nearest);
            prop_assert!(nearest.iter().all(|w| *w >= 0.0));
            prop_assert!((nearest.iter().sum::<f64>() - 1.0).abs() < 1e-14 * row.len() as f64);
            let away: Vec<f64> = row.iter().zip(&nearest).map(|(v, p)| v - p).collect();
            let level: f64 = away.iter().zip(&nearest).map(|(a, p)| a * p).sum();
            prop_assert!(away.iter().all(|a| a - level < 1e-13 * row.len() as f64));
        }
    }
}
