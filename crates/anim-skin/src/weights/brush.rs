//! Painting weights: a dab that spreads over the surface, with locks.
//!
//! Distances run along the surface, so painting one leg does not touch the other however close they stand. What a joint
//! gains the unlocked others of its vertex lose in proportion; where none can, the vertex keeps its row and is listed.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_skin::weights::{Brush, Dab, DabMode, Falloff, Locks, SkinWeights};
//!
//! let sheet = primitives::grid(8, 8, 0.1);
//! let brush = Brush::new(&sheet)?;
//! let weights = SkinWeights::from_rows(2, vec![[(0, 1.0)]; 81])?;
//! let dab = Dab {
//!     triangle: 0,
//!     barycentric: [1.0, 0.0, 0.0],
//!     radius: 0.25,
//!     falloff: Falloff::SMOOTH,
//!     mode: DabMode::Add { joint: 1, amount: 0.5 },
//! };
//! let painted = brush.dab(&weights, &dab, &Locks::default())?;
//! assert!((painted.weights.weight(0, 1) - 0.5).abs() < 1e-12);
//! assert_eq!(painted.weights.weight(80, 1), 0.0);
//! let refused = brush.dab(&weights, &dab, &Locks::of(&[0]))?;
//! assert_eq!((refused.changed, refused.weights), (0, weights));
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_geom::Mesh;
use anim_geom::geodesic::{FastMarching, Geodesics};
use serde::{Deserialize, Serialize};

use super::locks::rounding;
use super::rows::RowMixer;
use super::smooth::towards_mean;
use super::{Locks, SkinWeights, SurfaceGraph};
use crate::SkinError;

/// What a dab does; `amount` is what happens at its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DabMode {
    /// Adds `amount`, which may be negative, to the weight of `joint`.
    Add {
        /// Place in the skin's joint list.
        joint: u16,
        /// −1 to 1.
        amount: f64,
    },
    /// Draws the weight of `joint` to `amount`.
    Replace {
        /// Place in the skin's joint list.
        joint: u16,
        /// 0 to 1.
        amount: f64,
    },
    /// Multiplies the weight of `joint` by `amount`.
    Scale {
        /// Place in the skin's joint list.
        joint: u16,
        /// Not negative.
        amount: f64,
    },
    /// Draws all unlocked weights to the neighbours' mean.
    Smooth {
        /// 0 to 1.
        amount: f64,
    },
    /// Draws all unlocked weights away from the neighbours' mean.
    Sharpen {
        /// 0 to 1.
        amount: f64,
    },
}

/// How strong a dab is at t = distance / radius: a cubic Bézier spline whose four heights stand at t = 0, 1/3, 2/3 and 1.
///
/// Heights in [0, 1] give strengths in [0, 1]; others are cut to it.
///
/// ```
/// use anim_skin::weights::Falloff;
///
/// assert_eq!(Falloff::SMOOTH.strength(0.5), 0.5);
/// assert_eq!(Falloff::CONSTANT.strength(0.9), 1.0);
/// // A ring: nothing in the middle, most at a half.
/// assert_eq!(Falloff([0.0, 1.0, 1.0, 0.0]).strength(0.5), 0.75);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Falloff(pub [f64; 4]);

impl Falloff {
    /// 1 − 3t² + 2t³.
    pub const SMOOTH: Self = Self([1.0, 1.0, 0.0, 0.0]);
    /// 1 − t.
    pub const LINEAR: Self = Self([1.0, 2.0 / 3.0, 1.0 / 3.0, 0.0]);
    /// (1 − t)².
    pub const SHARP: Self = Self([1.0, 1.0 / 3.0, 0.0, 0.0]);
    /// 1 as far as it reaches.
    pub const CONSTANT: Self = Self([1.0; 4]);

    /// The strength at `t` in [0, 1], by de Casteljau's construction.
    pub fn strength(&self, t: f64) -> f64 {
        let between = |a: f64, b: f64| a + t * (b - a);
        let [a, b, c, d] = self.0;
        let (ab, bc, cd) = (between(a, b), between(b, c), between(c, d));
        between(between(ab, bc), between(bc, cd)).clamp(0.0, 1.0)
    }
}

impl Default for Falloff {
    /// Smooth.
    fn default() -> Self {
        Self::SMOOTH
    }
}

/// One touch of the brush.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dab {
    /// The triangle that is touched, as [`MeshHit`](anim_geom::MeshHit) names it.
    pub triangle: u32,
    /// Where in it: weights of its corners that sum to 1.
    pub barycentric: [f32; 3],
    /// How far over the surface it reaches, metres; nothing where it is not above 0.
    pub radius: f64,
    /// How it fades out.
    pub falloff: Falloff,
    /// What it does.
    pub mode: DabMode,
}

/// What a dab did.
#[derive(Clone, Debug, PartialEq)]
pub struct DabOutcome {
    /// The weights after it; untouched rows are the same to the bit.
    pub weights: SkinWeights,
    /// How many vertices have another row, by more than rounding.
    pub changed: usize,
    /// Vertices in reach whose row should have changed and could not, since locks or a lack of other joints left no room;
    /// ascending.
    pub refused: Vec<u32>,
}

/// A mesh prepared for painting; immutable.
#[derive(Clone, Debug)]
pub struct Brush {
    graph: SurfaceGraph,
    geodesics: FastMarching,
}

impl Brush {
    /// Prepares `mesh`. O(F log F).
    ///
    /// # Errors
    ///
    /// [`SkinError::Mesh`] with what [`Mesh::check`] finds.
    pub fn new(mesh: &Mesh) -> Result<Self, SkinError> {
        let graph = SurfaceGraph::new(mesh)?;
        let geodesics = FastMarching::new(graph.positions(), graph.triangles())?;
        Ok(Self { graph, geodesics })
    }

    /// The mesh as other edits take it.
    pub fn graph(&self) -> &SurfaceGraph {
        &self.graph
    }

    /// Applies one dab. O(V log V), for the distances.
    ///
    /// # Errors
    ///
    /// [`SkinError::Count`] if weights and mesh differ in their number of vertices, [`SkinError::NoElement`] and
    /// [`SkinError::NoSuchJoint`] for a triangle or joint that does not exist, [`SkinError::NotFinite`] for a radius, a
    /// falloff, an amount or a place in the triangle.
    pub fn dab(
        &self,
        weights: &SkinWeights,
        dab: &Dab,
        locks: &Locks,
    ) -> Result<DabOutcome, SkinError> {
        let amount = match dab.mode {
            DabMode::Add { joint, amount }
            | DabMode::Replace { joint, amount }
            | DabMode::Scale { joint, amount } => {
                weights.check_joint(joint)?;
                amount
            }
            DabMode::Smooth { amount } | DabMode::Sharpen { amount } => amount,
        };
        let is_place = dab.barycentric.iter().all(|share| share.is_finite());
        let fades = dab.falloff.0.iter().all(|height| height.is_finite());
        if !(amount.is_finite() && dab.radius.is_finite() && is_place && fades) {
            return Err(SkinError::NotFinite {
                what: "brush",
                index: 0,
            });
        }
        weights.check_vertices(self.graph.vertex_count())?;
        let distances = self.distances(dab)?;
        let mut mixer = RowMixer::new(weights.joint_count());
        let (mut changed, mut refused, mut wanted) = (0, Vec::new(), Vec::new());
        let edited = weights.edit_rows(|vertex, row| {
            let distance = distances[self.graph.place(vertex)];
            if distance >= dab.radius {
                return false;
            }
            let strength = dab.falloff.strength(distance / dab.radius);
            let old = |joint| weights.weight(vertex, joint);
            let set = match dab.mode {
                DabMode::Add { joint, amount } => Some((joint, old(joint) + strength * amount)),
                DabMode::Replace { joint, amount } => {
                    Some((joint, old(joint) + strength * (amount - old(joint))))
                }
                DabMode::Scale { joint, amount } => {
                    Some((joint, old(joint) * (1.0 + strength * (amount - 1.0))))
                }
                DabMode::Smooth { .. } | DabMode::Sharpen { .. } => None,
            };
            let is_changed = if let Some((joint, weight)) = set {
                if (weight.clamp(0.0, 1.0) - old(joint)).abs() <= rounding(row.len()) {
                    return false;
                }
                locks.set_weight(row, joint, weight)
            } else {
                let sign = if matches!(dab.mode, DabMode::Sharpen { .. }) {
                    -1.0
                } else {
                    1.0
                };
                let strength = sign * strength * amount.clamp(0.0, 1.0);
                if !towards_mean(
                    weights,
                    &self.graph,
                    vertex,
                    strength,
                    &mut mixer,
                    row,
                    &mut wanted,
                ) {
                    return false;
                }
                let is_changed = locks.hold(row, &mut wanted);
                std::mem::swap(row, &mut wanted);
                is_changed
            };
            if is_changed {
                changed += 1;
            } else {
                refused.push(vertex as u32);
            }
            is_changed
        })?;
        Ok(DabOutcome {
            weights: edited,
            changed,
            refused,
        })
    }

    /// How far each place is from the dab's centre; the corners of its triangle straight through it.
    fn distances(&self, dab: &Dab) -> Result<Vec<f64>, SkinError> {
        let triangles = self.graph.triangles();
        let corners = triangles
            .get(dab.triangle as usize)
            .ok_or(SkinError::NoElement {
                what: "triangle",
                index: dab.triangle as usize,
                count: triangles.len(),
            })?;
        let places = corners.map(|vertex| self.graph.positions()[vertex as usize].cast::<f64>());
        let [a, b, c] = dab.barycentric.map(f64::from);
        let center = places[0] * a + places[1] * b + places[2] * c;
        let sources = [0, 1, 2].map(|corner| (corners[corner], (places[corner] - center).norm()));
        let mut distances = vec![f64::INFINITY; self.graph.vertex_count()];
        self.geodesics.distances(&sources, &mut distances);
        Ok(distances)
    }
}

#[cfg(test)]
mod tests {
    use anim_geom::primitives;
    use anim_math::Vec3;
    use proptest::prelude::*;

    use super::*;

    fn dab(triangle: u32, radius: f64, mode: DabMode) -> Dab {
        Dab {
            triangle,
            barycentric: [0.2, 0.3, 0.5],
            radius,
            falloff: Falloff::SMOOTH,
            mode,
        }
    }

    #[test]
    fn falloffs_are_their_formulas() {
        for step in 0..=64 {
            let t = f64::from(step) / 64.0;
            for (falloff, expected) in [
                (Falloff::SMOOTH, 1.0 - 3.0 * t * t + 2.0 * t * t * t),
                (Falloff::LINEAR, 1.0 - t),
                (Falloff::SHARP, (1.0 - t) * (1.0 - t)),
                (Falloff::CONSTANT, 1.0),
                (Falloff([-9.0; 4]), 0.0),
            ] {
                // Six means of two numbers, each rounded twice.
                let error = (falloff.strength(t) - expected).abs();
                assert!(error < 12.0 * f64::EPSILON, "{falloff:?} {t}");
            }
        }
    }

    /// A dab of a flat sheet sets weights by their distance, which fast marching knows.
    #[test]
    fn a_dab_fades_as_its_falloff_says() {
        let sheet = primitives::grid(20, 20, 0.05);
        let weights = SkinWeights::from_rows(2, vec![[(0, 1.0)]; sheet.vertex_count()]).unwrap();
        let brush = Brush::new(&sheet).unwrap();
        let radius = 0.3;
        let mode = DabMode::Replace {
            joint: 1,
            amount: 0.8,
        };
        let center = sheet.triangles[400][0];
        let mut distances = vec![0.0; sheet.vertex_count()];
        brush.geodesics.distances(
            &[(brush.graph.place(center as usize) as u32, 0.0)],
            &mut distances,
        );
        for falloff in [
            Falloff::CONSTANT,
            Falloff::LINEAR,
            Falloff::SHARP,
            Falloff::SMOOTH,
        ] {
            let barycentric = [1.0, 0.0, 0.0];
            let dab = Dab {
                falloff,
                barycentric,
                ..dab(400, radius, mode)
            };
            let painted = brush
                .dab(&weights, &dab, &Locks::default())
                .unwrap()
                .weights;
            for vertex in 0..sheet.vertex_count() {
                let distance = distances[brush.graph.place(vertex)];
                let strength = if distance < radius {
                    falloff.strength(distance / radius)
                } else {
                    0.0
                };
                // A sum of two weights and a division.
                let error = (painted.weight(vertex, 1) - 0.8 * strength).abs();
                assert!(error < 1e-14, "{falloff:?} {distance}: {error}");
            }
        }
    }

    #[test]
    fn paint_does_not_jump_to_the_other_leg() {
        let mut legs = primitives::capsule(0.1, 0.4, 12, 4);
        let one = legs.vertex_count();
        let mut other = legs.clone();
        for (position, shift) in other
            .rest
            .positions
            .iter_mut()
            .zip(std::iter::repeat(Vec3::new(0.21, 0.0, 0.0)))
        {
            *position += shift;
        }
        legs.rest.positions.extend(other.rest.positions);
        legs.rest.normals.extend(other.rest.normals);
        legs.uvs.extend(other.uvs);
        legs.triangles
            .extend(other.triangles.iter().map(|t| t.map(|v| v + one as u32)));
        let weights = SkinWeights::from_rows(2, vec![[(0, 1.0)]; 2 * one]).unwrap();
        let brush = Brush::new(&legs).unwrap();
        let out = brush
            .dab(
                &weights,
                &dab(
                    0,
                    5.0,
                    DabMode::Replace {
                        joint: 1,
                        amount: 1.0,
                    },
                ),
                &Locks::default(),
            )
            .unwrap();
        assert_eq!(out.changed, one);
        assert!((0..one).all(|v| out.weights.weight(v, 1) > 0.5));
        assert!((one..2 * one).all(|v| out.weights.row(v).eq(weights.row(v))));
    }

    #[test]
    fn only_unlocked_joints_pay() {
        let brush = Brush::new(&primitives::grid(4, 4, 0.1)).unwrap();
        let weights = SkinWeights::from_dense(4, &[0.4, 0.3, 0.2, 0.1].repeat(25)).unwrap();
        let out = brush
            .dab(
                &weights,
                &dab(
                    3,
                    9.0,
                    DabMode::Add {
                        joint: 3,
                        amount: 0.9,
                    },
                ),
                &Locks::of(&[0]),
            )
            .unwrap();
        assert_eq!(out.changed, 25);
        for vertex in 0..25 {
            assert!((out.weights.weight(vertex, 0) - 0.4).abs() < 1e-15);
            assert!(out.weights.weight(vertex, 3) <= 0.6 + 1e-15);
            let (one, two) = (out.weights.weight(vertex, 1), out.weights.weight(vertex, 2));
            assert!((one * 2.0 - two * 3.0).abs() < 1e-14, "in proportion");
        }
    }

    #[test]
    fn what_locks_forbid_is_refused() {
        let brush = Brush::new(&primitives::grid(2, 2, 0.1)).unwrap();
        let weights = SkinWeights::from_dense(3, &[0.5, 0.3, 0.2].repeat(9)).unwrap();
        let mode = DabMode::Replace {
            joint: 2,
            amount: 0.9,
        };
        for locks in [Locks::of(&[0, 1]), Locks::of(&[2])] {
            let out = brush.dab(&weights, &dab(0, 9.0, mode), &locks).unwrap();
            assert_eq!((out.changed, &out.weights), (0, &weights));
            assert_eq!(out.refused, (0..9).collect::<Vec<u32>>());
        }
        let alone = SkinWeights::from_rows(3, vec![[(2, 1.0)]; 9]).unwrap();
        let out = brush
            .dab(
                &alone,
                &dab(
                    0,
                    9.0,
                    DabMode::Scale {
                        joint: 2,
                        amount: 0.5,
                    },
                ),
                &Locks::default(),
            )
            .unwrap();
        assert_eq!(
            (out.changed, out.refused.len()),
            (0, 9),
            "nobody to give it to"
        );
    }

    #[test]
    fn what_the_neighbors_want_and_a_lock_forbids_is_refused() {
        let brush = Brush::new(&primitives::grid(2, 2, 0.1)).unwrap();
        let mut rows = vec![[(1, 1.0)]; 9];
        rows[4] = [(0, 1.0)];
        let weights = SkinWeights::from_rows(2, rows).unwrap();
        let mode = DabMode::Smooth { amount: 1.0 };
        let out = brush
            .dab(&weights, &dab(0, 9.0, mode), &Locks::of(&[0]))
            .unwrap();
        // All of the middle is locked; around it joint 1 has all, and locked joint 0 cannot take of it.
        assert_eq!((out.changed, &out.weights), (0, &weights));
        assert_eq!(out.refused, (0..9).collect::<Vec<u32>>());
        let free = brush
            .dab(&weights, &dab(0, 9.0, mode), &Locks::default())
            .unwrap();
        assert_eq!((free.changed, free.refused.len()), (9, 0));
    }

    #[test]
    fn constant_weights_have_nothing_to_smooth_or_sharpen() {
        let brush = Brush::new(&primitives::grid(4, 4, 0.1)).unwrap();
        for row in [vec![(0, 1.0)], vec![(0, 0.1), (1, 0.3), (2, 0.6)]] {
            let weights = SkinWeights::from_rows(3, vec![row; 25]).unwrap();
            for locks in [Locks::default(), Locks::of(&[0])] {
                for mode in [
                    DabMode::Smooth { amount: 0.7 },
                    DabMode::Sharpen { amount: 0.7 },
                ] {
                    let out = brush.dab(&weights, &dab(0, 9.0, mode), &locks).unwrap();
                    assert_eq!((out.changed, out.refused.len()), (0, 0));
                    assert_eq!(out.weights, weights);
                }
            }
        }
    }

    #[test]
    fn what_does_not_exist_is_named() {
        let brush = Brush::new(&primitives::grid(2, 2, 0.1)).unwrap();
        let weights = SkinWeights::from_rows(1, vec![[(0, 1.0)]; 9]).unwrap();
        let smooth = DabMode::Smooth { amount: 1.0 };
        let found = brush.dab(&weights, &dab(8, 1.0, smooth), &Locks::default());
        assert_eq!(
            found,
            Err(SkinError::NoElement {
                what: "triangle",
                index: 8,
                count: 8
            })
        );
        let found = brush.dab(
            &weights,
            &dab(
                0,
                1.0,
                DabMode::Add {
                    joint: 1,
                    amount: 1.0,
                },
            ),
            &Locks::default(),
        );
        assert_eq!(
            found,
            Err(SkinError::NoSuchJoint {
                joint: 1,
                joint_count: 1
            })
        );
        let no_radius = dab(0, f64::NAN, smooth);
        let no_falloff = Dab {
            falloff: Falloff([1.0, f64::NAN, 0.0, 0.0]),
            ..dab(0, 0.2, smooth)
        };
        let no_place = Dab {
            barycentric: [0.5, f32::NAN, 0.5],
            ..dab(0, 1.0, smooth)
        };
        for wrong in [no_radius, no_falloff, no_place] {
            let found = brush.dab(&weights, &wrong, &Locks::default());
            assert_eq!(
                found,
                Err(SkinError::NotFinite {
                    what: "brush",
                    index: 0
                })
            );
        }
    }

    #[test]
    fn a_brush_without_a_radius_paints_nothing() {
        let brush = Brush::new(&primitives::grid(2, 2, 0.1)).unwrap();
        let weights = SkinWeights::from_rows(2, vec![[(0, 1.0)]; 9]).unwrap();
        let mode = DabMode::Replace {
            joint: 1,
            amount: 1.0,
        };
        for radius in [0.0, -1.0] {
            // On a corner of the triangle, where the distance is 0.
            let at_corner = Dab {
                barycentric: [1.0, 0.0, 0.0],
                ..dab(0, radius, mode)
            };
            let out = brush.dab(&weights, &at_corner, &Locks::default()).unwrap();
            assert_eq!(
                (out.changed, out.refused.len(), out.weights),
                (0, 0, weights.clone())
            );
        }
    }

    proptest! {
        #[test]
        fn dabs_keep_rows_on_the_simplex(
            raw in prop::collection::vec(prop_oneof![Just(0.0), 0.001..1.0], 36),
            mode in 0..5, amount in -2.0..2.0, locked in prop::collection::vec(0_u16..4, 0..4), triangle in 0_u32..8,
        ) {
            let rows = raw.chunks(4).map(|row| (0_u16..).zip(row.iter().map(|w| w + 1e-3)));
            let weights = SkinWeights::from_rows(4, rows).unwrap();
            let brush = Brush::new(&primitives::grid(2, 2, 0.1)).unwrap();
            let mode = match mode {
                0 => DabMode::Add { joint: 1, amount },
                1 => DabMode::Replace { joint: 1, amount },
                2 => DabMode::Scale { joint: 1, amount },
                3 => DabMode::Smooth { amount },
                _ => DabMode::Sharpen { amount },
            };
            let out = brush.dab(&weights, &dab(triangle, 0.2, mode), &Locks::of(&locked)).unwrap();
            prop_assert!(out.weights.max_sum_error() < 1e-15);
            let changed = (0..9).filter(|v| !out.weights.row(*v).eq(weights.row(*v))).count();
            prop_assert_eq!(out.changed, changed);
            prop_assert!(out.refused.iter().all(|v| out.weights.row(*v as usize).eq(weights.row(*v as usize))));
            for vertex in 0..9 {
                for joint in &locked {
                    prop_assert!((out.weights.weight(vertex, *joint) - weights.weight(vertex, *joint)).abs() < 1e-14);
                }
            }
        }
    }
}
