//! In-between shapes: sculpted stops on the way from the rest face to a shape.
//!
//! A lid that closes along a chord cuts through the eye. With a shape sculpted half way, the control passes from rest to
//! that shape and on to the full one; weights are linear between stops (knots), so every stop is met exactly.
//!
//! ```
//! use anim_skin::morph::in_between::stop_weights;
//!
//! // Stops at 0.5 and 1; three quarters of the way, both have half a say.
//! let mut weights = [0.0; 2];
//! stop_weights(&[0.5, 1.0], 0.75, &mut weights);
//! assert_eq!(weights, [0.5, 0.5]);
//! ```

/// Writes the weight of each stop at `control`.
///
/// * `knots`: control values of the stops, strictly ascending, none 0: 0 is the rest face, which is a stop by itself.
///
/// Beyond the last stop on either side (above 1, below 0) its shape goes on growing from zero: weight control / knot.
/// Without a stop on the control's side of 0, nothing moves there unless there is just one stop, which is then an
/// ordinary shape: weight control / knot everywhere.
///
/// # Panics
///
/// If `weights` is not as long as `knots`.
pub fn stop_weights(knots: &[f32], control: f32, weights: &mut [f32]) {
    assert_eq!(weights.len(), knots.len(), "one weight a stop");
    weights.fill(0.0);
    if let ([knot], [weight]) = (knots, &mut *weights) {
        *weight = control / knot;
        return;
    }
    let above = knots.partition_point(|knot| *knot < control);
    // The stops around the control, where rest takes the place of one beyond 0.
    let low = above
        .checked_sub(1)
        .filter(|i| knots[*i] > 0.0 || control < 0.0);
    let high = (above < knots.len())
        .then_some(above)
        .filter(|i| knots[*i] < 0.0 || control > 0.0);
    match (low, high) {
        (Some(low), Some(high)) => {
            let part = (control - knots[low]) / (knots[high] - knots[low]);
            weights[low] = 1.0 - part;
            weights[high] = part;
        }
        (Some(only), None) | (None, Some(only)) => weights[only] = control / knots[only],
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_met_and_weights_are_linear_between() {
        let knots = [-1.0, -0.5, 0.25, 1.0];
        let cases = [
            (-2.0, [2.0, 0.0, 0.0, 0.0]),
            (-1.0, [1.0, 0.0, 0.0, 0.0]),
            (-0.75, [0.5, 0.5, 0.0, 0.0]),
            (-0.5, [0.0, 1.0, 0.0, 0.0]),
            (-0.25, [0.0, 0.5, 0.0, 0.0]),
            (0.0, [0.0; 4]),
            (0.125, [0.0, 0.0, 0.5, 0.0]),
            (0.25, [0.0, 0.0, 1.0, 0.0]),
            (0.625, [0.0, 0.0, 0.5, 0.5]),
            (1.0, [0.0, 0.0, 0.0, 1.0]),
            (1.5, [0.0, 0.0, 0.0, 1.5]),
        ];
        for (control, expected) in cases {
            let mut weights = [9.0; 4];
            stop_weights(&knots, control, &mut weights);
            assert_eq!(weights, expected, "{control}");
        }
        let mut weights = [9.0; 2];
        stop_weights(&[0.5, 1.0], -0.3, &mut weights);
        assert_eq!(weights, [0.0, 0.0]);
    }
}
