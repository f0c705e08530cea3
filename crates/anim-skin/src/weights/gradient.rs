//! Gradients: weights that change evenly along a line or away from a point.
//!
//! The quickest good weights for tubes, tails, flags and skirts: between two joints, or from one joint against all others.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_math::Vec3;
//! use anim_skin::weights::{Locks, SkinWeights, gradient};
//! use anim_skin::weights::gradient::{Between, Ramp};
//!
//! let sheet = primitives::grid(4, 1, 1.0);
//! let weights = SkinWeights::from_rows(2, vec![[(0, 1.0)]; 10])?;
//! let ramp = Ramp::Linear { from: Vec3::new(-2.0, 0.0, 0.0), to: Vec3::new(2.0, 0.0, 0.0) };
//! let out = gradient::gradient(&weights, &sheet.rest.positions, ramp, Between::Joints { from: 0, to: 1 }, &Locks::default())?;
//! assert!((out.weight(1, 1) - 0.25).abs() < 1e-12);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_math::Vec3;

use super::{Locks, SkinWeights};
use crate::SkinError;

/// Where a gradient runs from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ramp {
    /// 0 at and before `from`, 1 at and beyond `to`, the same across.
    Linear {
        /// Model space, metres.
        from: Vec3,
        /// Model space, metres.
        to: Vec3,
    },
    /// 0 up to `inner` metres from `center`, 1 from `outer` metres on.
    Radial {
        /// Model space, metres.
        center: Vec3,
        /// Not negative.
        inner: f64,
        /// Above `inner`.
        outer: f64,
    },
}

/// Whose weights a gradient sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// What both joints have together at a vertex is shared: all of it `from`'s at 0, all of it `to`'s at 1.
    Joints {
        /// Place in the skin's joint list.
        from: u16,
        /// Place in the skin's joint list.
        to: u16,
    },
    /// The joint's weight is the gradient; the others give or take in proportion.
    Rest {
        /// Place in the skin's joint list.
        joint: u16,
    },
}

/// Sets weights along a ramp; `positions` of the V vertices in model space.
///
/// Vertices where nothing can change keep their rows: neither joint has weight, one of the two is locked, or, against the
/// rest, no unlocked other joint has weight. O(V k).
///
/// # Errors
///
/// [`SkinError::Count`] if weights and positions differ in number, [`SkinError::NoSuchJoint`], and
/// [`SkinError::NoDirection`] for a ramp without length or with a value that is not finite.
pub fn gradient(
    weights: &SkinWeights,
    positions: &[Vec3],
    ramp: Ramp,
    between: Between,
    locks: &Locks,
) -> Result<SkinWeights, SkinError> {
    weights.check_vertices(positions.len())?;
    let joints = match between {
        Between::Joints { from, to } => [from, to],
        Between::Rest { joint } => [joint; 2],
    };
    for joint in joints {
        weights.check_joint(joint)?;
    }
    if !ramp.has_length() {
        return Err(SkinError::NoDirection("gradient"));
    }
    weights.edit_rows(|vertex, row| {
        let t = ramp.at(positions[vertex]);
        match between {
            Between::Rest { joint } => locks.set_weight(row, joint, t),
            Between::Joints { from, to } => {
                let both = weights.weight(vertex, from) + weights.weight(vertex, to);
                if both == 0.0 || from == to || locks.is_locked(from) || locks.is_locked(to) {
                    return false;
                }
                row.retain(|(joint, _)| *joint != from && *joint != to);
                row.extend([(from, (1.0 - t) * both), (to, t * both)]);
                true
            }
        }
    })
}

impl Ramp {
    /// The value at `point`, in [0, 1]; 0 where `point` is not finite.
    pub fn at(&self, point: Vec3) -> f64 {
        let point = point.cast::<f64>();
        let t = match self {
            Self::Linear { from, to } => {
                let (from, to) = (from.cast::<f64>(), to.cast::<f64>());
                let along = to - from;
                (point - from).dot(&along) / along.norm_squared()
            }
            Self::Radial {
                center,
                inner,
                outer,
            } => ((point - center.cast::<f64>()).norm() - inner) / (outer - inner),
        };
        if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) }
    }

    fn has_length(&self) -> bool {
        match self {
            Self::Linear { from, to } => {
                let length = (to.cast::<f64>() - from.cast::<f64>()).norm();
                length > 0.0 && length.is_finite()
            }
            Self::Radial {
                center,
                inner,
                outer,
            } => {
                let is_finite = center.iter().all(|c| c.is_finite()) && outer.is_finite();
                is_finite && *inner >= 0.0 && outer > inner
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_of(count: u16) -> Vec<Vec3> {
        (0..count)
            .map(|x| Vec3::new(f32::from(x), 0.0, 0.0))
            .collect()
    }

    #[test]
    fn two_joints_share_what_they_have() {
        let weights = SkinWeights::from_dense(3, &[0.5, 0.3, 0.2].repeat(5)).unwrap();
        let ramp = Ramp::Linear {
            from: Vec3::zeros(),
            to: Vec3::new(4.0, 0.0, 0.0),
        };
        let between = Between::Joints { from: 0, to: 2 };
        let out = gradient(&weights, &row_of(5), ramp, between, &Locks::default()).unwrap();
        for vertex in 0..5 {
            assert!((out.weight(vertex, 2) - 0.7 * vertex as f64 / 4.0).abs() < 1e-15);
            assert!((out.weight(vertex, 1) - 0.3).abs() < 1e-15);
        }
        assert_eq!(
            gradient(&weights, &row_of(5), ramp, between, &Locks::of(&[2])).unwrap(),
            weights
        );
    }

    #[test]
    fn against_the_rest_a_ring_is_the_ramp() {
        let weights = SkinWeights::from_dense(3, &[0.5, 0.3, 0.2].repeat(5)).unwrap();
        let ramp = Ramp::Radial {
            center: Vec3::zeros(),
            inner: 1.0,
            outer: 3.0,
        };
        let out = gradient(
            &weights,
            &row_of(5),
            ramp,
            Between::Rest { joint: 0 },
            &Locks::of(&[1]),
        )
        .unwrap();
        for (vertex, expected) in [0.0, 0.0, 0.5, 0.7, 0.7].into_iter().enumerate() {
            assert!((out.weight(vertex, 0) - expected).abs() < 1e-15);
            assert!((out.weight(vertex, 1) - 0.3).abs() < 1e-15);
        }
    }

    #[test]
    fn ramps_without_length_are_refused() {
        let weights = SkinWeights::from_rows(1, [[(0, 1.0)]]).unwrap();
        let point = Ramp::Linear {
            from: Vec3::x(),
            to: Vec3::x(),
        };
        let shell = Ramp::Radial {
            center: Vec3::x(),
            inner: 1.0,
            outer: 1.0,
        };
        for ramp in [point, shell] {
            let found = gradient(
                &weights,
                &row_of(1),
                ramp,
                Between::Rest { joint: 0 },
                &Locks::default(),
            );
            assert_eq!(found, Err(SkinError::NoDirection("gradient")));
        }
    }
}
