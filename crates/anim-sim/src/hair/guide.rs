//! The strands between the guides: thousands that follow a few, keep their own shape, and cannot stretch.
//!
//! What a guide does to itself is a rotation of each of its segments since the groom. A follower takes the weighted mean of
//! those of the nearest guides at the same fraction along it, and turns its own segments by it, from its root on: so it
//! stands as groomed where the guides do, coincides with a guide that it has the root of, and has the length of its groom
//! whatever they do. Means of positions would shrink it wherever guides part.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::hair::{Followers, GuideTurns, Hair, HairSpec, HairState};
//!
//! let strand = |x: f32| vec![Vec3::x() * x, Vec3::new(x, 0.1, 0.0), Vec3::new(x, 0.2, 0.0)];
//! let hair = Hair::new(HairSpec { guides: vec![strand(0.0), strand(0.02)], ..HairSpec::default() })?;
//! let followers = Followers::new(&hair, &[strand(0.005), strand(0.01)], 4)?;
//! let mut positions = vec![Vec3::zeros(); followers.vertex_count()];
//! let mut turns = GuideTurns::new(&hair);
//! turns.update(&hair, &HairState::new(&hair));
//! followers.place(&hair, &turns, &mut positions);
//! assert!((positions[5] - Vec3::new(0.01, 0.2, 0.0)).norm() < 1e-6);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use anim_geom::chunks;
use anim_math::nalgebra::{Quaternion, Vector4};
use anim_math::{Quat, Vec3, quat};

use super::model::{Hair, HairState};
use crate::SimError;

/// Guides that a follower has at most.
const MAX_GUIDES: usize = 4;

/// Strands bound to the guides of one [`Hair`].
#[derive(Clone, Debug)]
pub struct Followers {
    /// V, the groom.
    points: Vec<Vec3>,
    /// F + 1: where each strand's points begin.
    starts: Vec<u32>,
    bindings: Vec<Binding>,
    /// Of the hair that the strands are bound to.
    guide_count: usize,
}

/// How far each segment of the guides has turned since the groom: what followers follow.
#[derive(Clone, Debug, PartialEq)]
pub struct GuideTurns {
    /// Of each segment, guide after guide, in the space of the root.
    turns: Vec<Quat>,
}

impl GuideTurns {
    /// Those of the groom: none.
    pub fn new(hair: &Hair) -> Self {
        Self {
            turns: vec![Quat::identity(); hair.segment_count()],
        }
    }

    /// Takes them from a state. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If it or the state was made for other hair.
    pub fn update(&mut self, hair: &Hair, state: &HairState) {
        state.check(hair);
        self.check(hair);
        let segments = state.orientations.iter().zip(&hair.frames);
        for (turn, (now, groom)) in self.turns.iter_mut().zip(segments) {
            *turn = now * groom.inverse();
        }
    }

    fn check(&self, hair: &Hair) {
        assert_eq!(
            self.turns.len(),
            hair.segment_count(),
            "the turns are those of other hair"
        );
    }
}

/// The guides of one follower; weights sum to 1, unused ones are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Binding {
    pub(super) guides: [u32; MAX_GUIDES],
    pub(super) weights: [f32; MAX_GUIDES],
}

impl Followers {
    /// Binds strands to the `count` guides whose roots are nearest, at most 4.
    ///
    /// Weights fall with the distance between roots, to 0 at that of the next guide after the last, so that neighbouring
    /// followers move alike. * `strands`: points from root to tip, metres, in the space of the root; two or more each.
    ///
    /// # Errors
    ///
    /// [`SimError::NotFinite`] for a point, counted over all strands; [`SimError::OutOfRange`] for a strand of one point or
    /// none.
    pub fn new(hair: &Hair, strands: &[Vec<Vec3>], count: usize) -> Result<Self, SimError> {
        let mut starts = vec![0];
        let mut points = Vec::new();
        for (index, strand) in strands.iter().enumerate() {
            if let Some(bad) = strand.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
                return Err(SimError::NotFinite {
                    vertex: points.len() + bad,
                });
            }
            if strand.len() < 2 {
                return Err(SimError::OutOfRange {
                    what: "follower's point count",
                    index,
                    value: strand.len() as f32,
                });
            }
            points.extend_from_slice(strand);
            starts.push(points.len() as u32);
        }
        let bindings = strands
            .iter()
            .map(|strand| Binding::new(hair, strand[0], count))
            .collect();
        Ok(Self {
            points,
            starts,
            bindings,
            guide_count: hair.guide_count(),
        })
    }

    /// Number of strands, F.
    pub fn len(&self) -> usize {
        self.bindings.len()
    }

    /// True if there are no strands.
    pub fn is_empty(&self) -> bool {
        self.bindings.is_empty()
    }

    /// Number of points of all strands, V.
    pub fn vertex_count(&self) -> usize {
        self.points.len()
    }

    /// V, the groom, metres, in the space of the root.
    pub fn groom(&self) -> &[Vec3] {
        &self.points
    }

    /// Where the points of a strand are among all.
    ///
    /// # Panics
    ///
    /// If there is no such strand.
    pub fn strand(&self, index: usize) -> std::ops::Range<usize> {
        self.starts[index] as usize..self.starts[index + 1] as usize
    }

    /// Writes where the strands are, V points, metres, in the space of the root. Allocates nothing; a few nanoseconds a point.
    ///
    /// Inside a rayon pool its threads share the work.
    ///
    /// # Panics
    ///
    /// If `positions` has not V elements, or hair and turns are not those that the strands were bound to.
    pub fn place(&self, hair: &Hair, turns: &GuideTurns, positions: &mut [Vec3]) {
        turns.check(hair);
        assert_eq!(
            hair.guide_count(),
            self.guide_count,
            "the strands were bound to other hair"
        );
        assert_eq!(positions.len(), self.points.len(), "one for each point");
        chunks::for_each_mut(positions, |first, chunk| {
            let mut strand = self.starts.partition_point(|s| *s as usize <= first) - 1;
            let mut done = 0;
            while done < chunk.len() {
                let range = self.strand(strand);
                // A chunk may begin and end inside a strand: what lies before is walked but not written.
                let end = range.end.min(first + chunk.len());
                self.walk(hair, turns, strand, |vertex, position| {
                    if (first..end).contains(&vertex) {
                        chunk[vertex - first] = position;
                    }
                    vertex + 1 < end
                });
                done = end - first;
                strand += 1;
            }
        });
    }

    /// Visits the points of a strand from the root on, as long as the visitor wants.
    fn walk(
        &self,
        hair: &Hair,
        turns: &GuideTurns,
        strand: usize,
        mut visit: impl FnMut(usize, Vec3) -> bool,
    ) {
        let range = self.strand(strand);
        let groom = &self.points[range.clone()];
        let segments = groom.len() - 1;
        let leaders = self.bindings[strand].leaders(hair, turns);
        let mut position = groom[0];
        if !visit(range.start, position) {
            return;
        }
        for (index, pair) in groom.windows(2).enumerate() {
            let turned = leaders.turn(index, segments);
            position += turned * (pair[1] - pair[0]);
            if !visit(range.start + index + 1, position) {
                return;
            }
        }
    }
}

impl Binding {
    /// The guides nearest to a root, weighted by (1 − d/D)² / d of the distance d, where D is that of the first left out.
    pub(super) fn new(hair: &Hair, root: Vec3, count: usize) -> Self {
        let count = count.clamp(1, MAX_GUIDES);
        let mut nearest = [(f32::INFINITY, u32::MAX); MAX_GUIDES + 1];
        for (guide, strand) in (0..).zip(&hair.strands) {
            let distance = (hair.points[strand.first_vertex] - root).norm();
            let place = nearest[..=count].partition_point(|(d, _)| *d <= distance);
            if place <= count {
                nearest[place..=count].rotate_right(1);
                nearest[place] = (distance, guide);
            }
        }
        let (beyond, _) = nearest[count];
        let mut binding = Self::default();
        let (first, guide) = nearest[0];
        if first <= 1e-6 {
            binding.guides[0] = guide;
            binding.weights[0] = 1.0;
            return binding;
        }
        let mut sum = 0.0;
        for (slot, (distance, guide)) in nearest[..count].iter().enumerate() {
            if *guide == u32::MAX {
                break;
            }
            let reach = if beyond.is_finite() {
                (1.0 - distance / beyond).max(0.0)
            } else {
                1.0
            };
            let weight = reach * reach * first / distance;
            binding.guides[slot] = *guide;
            binding.weights[slot] = weight;
            sum += weight;
        }
        if sum > 0.0 {
            binding.weights = binding.weights.map(|weight| weight / sum);
        } else {
            // All equally far: any of them.
            binding.guides[0] = guide;
            binding.weights[0] = 1.0;
        }
        binding
    }

    /// The guides as they have turned.
    #[inline]
    pub(super) fn leaders<'a>(&self, hair: &Hair, turns: &'a GuideTurns) -> Leaders<'a> {
        let mut leaders = Leaders {
            turns: [&[]; MAX_GUIDES],
            weights: self.weights,
        };
        let guides = self.guides.iter().zip(self.weights);
        for (slot, (guide, weight)) in leaders.turns.iter_mut().zip(guides) {
            if weight > 0.0 {
                let strand = &hair.strands[*guide as usize];
                let end = strand.first_segment + strand.segments;
                *slot = &turns.turns[strand.first_segment..end];
            }
        }
        leaders
    }

    /// The mean velocity of the guides at a fraction of their length, along the root's axes.
    pub(super) fn velocity(&self, hair: &Hair, state: &HairState, fraction: f32) -> Vec3 {
        let mut sum = Vec3::zeros();
        for (guide, weight) in self.guides.iter().zip(self.weights) {
            let strand = &hair.strands[*guide as usize];
            let place = fraction * strand.segments as f32;
            let index = (place as usize).min(strand.segments - 1);
            let alpha = place - index as f32;
            let [a, b] = [index, index + 1].map(|i| state.velocities[strand.first_vertex + i]);
            sum += (a + (b - a) * alpha) * weight;
        }
        sum
    }
}

/// How the guides of one follower have turned; those without weight are empty.
pub(super) struct Leaders<'a> {
    turns: [&'a [Quat]; MAX_GUIDES],
    weights: [f32; MAX_GUIDES],
}

impl Leaders<'_> {
    /// Their mean rotation since the groom, at the middle of segment `index` of `segments`.
    #[inline]
    pub(super) fn turn(&self, index: usize, segments: usize) -> Quat {
        let mut sum = Vector4::zeros();
        for (turns, weight) in self.turns.iter().zip(self.weights) {
            if turns.is_empty() {
                continue;
            }
            let turned = if turns.len() == segments {
                turns[index]
            } else {
                turn_between(turns, index, segments)
            };
            let sign = if turned.coords.dot(&sum) < 0.0 {
                -weight
            } else {
                weight
            };
            sum += turned.coords * sign;
        }
        // As much as the guides disagree the sum is short; it is zero only if they are opposite.
        let norm = sum.norm();
        if norm > 1e-6 {
            Quat::new_unchecked(Quaternion::from_vector(sum / norm))
        } else {
            Quat::identity()
        }
    }
}

/// The turn of a guide at the middle of segment `index` of `segments`, of which it has another number.
fn turn_between(turns: &[Quat], index: usize, segments: usize) -> Quat {
    let last = turns.len() - 1;
    let place = (index as f32 + 0.5) / segments as f32 * turns.len() as f32 - 0.5;
    let place = place.clamp(0.0, last as f32);
    let before = (place as usize).min(last);
    let after = (before + 1).min(last);
    quat::nlerp(turns[before], turns[after], place - before as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hair::{HairDrive, HairSolver, HairSpec};
    use anim_math::Random;

    fn blown() -> (Hair, HairState) {
        let guides = (0..12)
            .map(|i| {
                let root = Vec3::new((i % 4) as f32, 0.0, (i / 4) as f32) * 0.02;
                vec![
                    root,
                    root + Vec3::new(0.01, 0.08, 0.0),
                    root + Vec3::y() * 0.2,
                ]
            })
            .collect();
        let hair = Hair::new(HairSpec {
            guides,
            segments: Some(12),
            ..HairSpec::default()
        })
        .unwrap();
        let mut state = HairState::new(&hair);
        let mut solver = HairSolver::new(&hair);
        let drive = HairDrive {
            wind: Vec3::new(8.0, 0.0, 3.0),
            ..HairDrive::default()
        };
        for _ in 0..20 {
            solver.step(&hair, &drive, 1.0 / 60.0, &mut state);
        }
        (hair, state)
    }

    fn turns(hair: &Hair, state: &HairState) -> GuideTurns {
        let mut turns = GuideTurns::new(hair);
        turns.update(hair, state);
        turns
    }

    #[test]
    fn a_follower_with_the_root_and_shape_of_a_guide_is_the_guide() {
        let (hair, state) = blown();
        let strand = hair.groom()[hair.guide(5)].to_vec();
        let followers = Followers::new(&hair, &[strand], 4).unwrap();
        let mut positions = vec![Vec3::zeros(); followers.vertex_count()];
        followers.place(&hair, &turns(&hair, &state), &mut positions);
        for (a, b) in positions.iter().zip(&state.positions[hair.guide(5)]) {
            assert!((a - b).norm() < 1e-6);
        }
    }

    #[test]
    fn followers_of_any_number_of_segments_keep_their_lengths_and_move_as_one() {
        let (hair, state) = blown();
        let mut random = Random::new(1, 0, 0);
        let strands: Vec<Vec<Vec3>> = (0..300)
            .map(|i| {
                let root = Vec3::new(random.range(0.0, 0.06), 0.0, random.range(0.0, 0.04));
                let segments = 3 + i % 20;
                (0..=segments)
                    .map(|k| root + Vec3::y() * (0.18 * k as f32 / segments as f32))
                    .collect()
            })
            .collect();
        let followers = Followers::new(&hair, &strands, 4).unwrap();
        let mut positions = vec![Vec3::zeros(); followers.vertex_count()];
        followers.place(&hair, &GuideTurns::new(&hair), &mut positions);
        for (a, b) in positions.iter().zip(followers.groom()) {
            assert!((a - b).norm() < 1e-6, "at rest they are the groom");
        }
        followers.place(&hair, &turns(&hair, &state), &mut positions);
        for (index, strand) in strands.iter().enumerate() {
            let now = &positions[followers.strand(index)];
            for (rest, now) in strand.windows(2).zip(now.windows(2)) {
                let (rest, now) = ((rest[1] - rest[0]).norm(), (now[1] - now[0]).norm());
                assert!((now / rest - 1.0).abs() < 1e-5);
            }
            let tip = now[now.len() - 1] - now[0];
            assert!(tip.x > 0.02 && tip.z > 0.005, "{tip}");
        }
    }

    #[test]
    fn weights_sum_to_one_and_follow_the_distance() {
        let (hair, _) = blown();
        let binding = Binding::new(&hair, Vec3::new(0.005, 0.0, 0.0), 4);
        assert!((binding.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert_eq!(binding.guides[0], 0);
        assert!(binding.weights.windows(2).all(|w| w[0] >= w[1]));
        let far = Binding::new(&hair, Vec3::x() * 1e6, 9);
        assert!((far.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn bad_strands_are_named() {
        let (hair, _) = blown();
        let error = |strands: &[Vec<Vec3>]| Followers::new(&hair, strands, 4).unwrap_err();
        assert_eq!(
            error(&[vec![Vec3::x()]]).to_string(),
            "follower's point count 0: 1 is out of range"
        );
        let nan = vec![Vec3::zeros(), Vec3::repeat(f32::NAN)];
        assert_eq!(error(&[nan]).to_string(), "vertex 1: not finite");
    }
}
