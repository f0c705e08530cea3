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

use anim_geom::{Collider, chunks};
use anim_math::{Quat, Vec3, quat};

use super::binding::{Binding, GuideTurns, Leaders};
use super::model::Hair;
use super::outside::{Bodies, Walk};
use super::sway::{self, Waves};
use crate::SimError;

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

    /// The strand of a point.
    pub(super) fn strand_of(&self, point: usize) -> usize {
        self.starts
            .partition_point(|start| *start as usize <= point)
            - 1
    }

    /// Writes where the strands are, V points, metres, in the space of the root. Allocates nothing; a few nanoseconds a point.
    ///
    /// Inside a rayon pool its threads share the work.
    ///
    /// # Panics
    ///
    /// If `positions` has not V elements, or hair and turns are not those that the strands were bound to.
    pub fn place(&self, hair: &Hair, turns: &GuideTurns, positions: &mut [Vec3]) {
        self.place_outside(hair, turns, &[], 0.0, positions);
    }

    /// As [`place`](Self::place), and turns segments so that the strands stay `clearance`, m, out of colliders, given in the
    /// space of the root, however the guides part around them.
    ///
    /// A root stays where it is, and a point farther along its strand is asked to be out by no more than the root is and half
    /// the way from there. A query of each collider for each point; the first 32 colliders cost least. What is more than 0.1 m
    /// inside of a mesh stays there. It knows this moment alone: from frame to frame a strand may change sides; see [`Releases`](super::Releases).
    ///
    /// # Panics
    ///
    /// As [`place`](Self::place).
    pub fn place_outside(
        &self,
        hair: &Hair,
        turns: &GuideTurns,
        colliders: &[Collider],
        clearance: f32,
        positions: &mut [Vec3],
    ) {
        let lead = Lead {
            hair,
            turns,
            sway: None,
        };
        let bodies = Bodies::new(colliders, clearance);
        self.follow(&lead, None, &bodies, positions);
    }

    /// The way of each strand from root to tip, F, while guides have turned so.
    pub(super) fn ways(&self, hair: &Hair, turns: &GuideTurns) -> Vec<Vec3> {
        let mut positions = self.points.clone();
        self.place(hair, turns, &mut positions);
        let ends = self.starts.windows(2);
        ends.map(|ends| positions[ends[1] as usize - 1] - positions[ends[0] as usize])
            .collect()
    }

    /// Writes where strands are that follow a lead and stay out of bodies.
    pub(super) fn follow(
        &self,
        lead: &Lead<'_>,
        fading: Option<&Fading<'_>>,
        bodies: &Bodies<'_>,
        positions: &mut [Vec3],
    ) {
        lead.turns.check(lead.hair);
        assert_eq!(
            lead.hair.guide_count(),
            self.guide_count,
            "the strands were bound to other hair"
        );
        assert_eq!(positions.len(), self.points.len(), "one for each point");
        chunks::for_each_mut(positions, |first, chunk| {
            let mut strand = self.strand_of(first);
            let mut done = 0;
            while done < chunk.len() {
                let range = self.strand(strand);
                // A chunk may begin and end inside a strand: what lies before is walked but not written.
                let end = range.end.min(first + chunk.len());
                let way = (self.led(lead, strand), fading.map(|f| f.led(strand)));
                self.walk(&way, bodies, strand, |vertex, position| {
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
        (led, fading): &(Led<'_>, Option<(Led<'_>, f32)>),
        bodies: &Bodies<'_>,
        strand: usize,
        mut visit: impl FnMut(usize, Vec3) -> bool,
    ) {
        let range = self.strand(strand);
        let groom = &self.points[range.clone()];
        let segments = groom.len() - 1;
        let mut position = groom[0];
        if !visit(range.start, position) {
            return;
        }
        let mut outside = Walk::new(bodies, position, strand as u32);
        for (index, pair) in groom.windows(2).enumerate() {
            let mut turned = led.turn(index, segments);
            if let Some((old, left)) = fading {
                turned = quat::nlerp(turned, old.turn(index, segments), *left);
            }
            position = outside.step(position, turned * (pair[1] - pair[0]));
            if !visit(range.start + index + 1, position) {
                return;
            }
        }
    }

    /// What one strand follows.
    fn led<'a>(&self, lead: &Lead<'a>, strand: usize) -> Led<'a> {
        let leaders = self.bindings[strand].leaders(lead.hair, lead.turns);
        let bend = lead.sway.map(|(waves, ways)| {
            let root = self.points[self.starts[strand] as usize];
            waves.bend(strand as u32, root, ways[strand])
        });
        Led { leaders, bend }
    }
}

/// What strands follow.
#[derive(Clone, Copy)]
pub(super) struct Lead<'a> {
    pub(super) hair: &'a Hair,
    pub(super) turns: &'a GuideTurns,
    /// How strands sway besides, and the way of each from root to tip as it hangs.
    pub(super) sway: Option<(Waves, &'a [Vec3])>,
}

/// Other hair that the same strands have followed before.
pub(super) struct Fading<'a> {
    pub(super) lead: Lead<'a>,
    /// The strands, bound to that.
    pub(super) followers: &'a Followers,
    /// How much of it is left, in [0, 1].
    pub(super) left: f32,
}

impl<'a> Fading<'a> {
    fn led(&self, strand: usize) -> (Led<'a>, f32) {
        (self.followers.led(&self.lead, strand), self.left)
    }
}

/// What one strand follows.
pub(super) struct Led<'a> {
    pub(super) leaders: Leaders<'a>,
    /// How it sways, if it does.
    pub(super) bend: Option<Vec3>,
}

impl Led<'_> {
    /// The rotation since the groom at the middle of segment `index` of `segments`.
    #[inline]
    pub(super) fn turn(&self, index: usize, segments: usize) -> Quat {
        let turned = self.leaders.turn(index, segments);
        match self.bend {
            Some(bend) => sway::turn(bend, index, segments) * turned,
            None => turned,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hair::{HairDrive, HairSolver, HairSpec, HairState};
    use anim_geom::Shape;
    use anim_math::{Affine, Random, Transform};

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
    fn strands_as_far_away_as_numbers_go_follow_all_the_same() {
        let (hair, state) = blown();
        for far in [1e15, 1e20, f32::MAX, -f32::MAX] {
            let strand = vec![Vec3::repeat(far), Vec3::repeat(far * 0.5), Vec3::zeros()];
            let followers = Followers::new(&hair, &[strand], 4).unwrap();
            let sum: f32 = followers.bindings[0].weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-6, "{sum}");
            let mut positions = vec![Vec3::zeros(); 3];
            followers.place(&hair, &turns(&hair, &state), &mut positions);
            assert_eq!(positions[0], Vec3::repeat(far));
        }
    }

    #[test]
    fn strands_between_guides_that_part_around_a_body_stay_outside_and_as_long() {
        let (hair, state) = blown();
        let ball = |at: Vec3| {
            let at = Affine::from(Transform::from_translation(at));
            Collider::new(Shape::Sphere { radius: 0.03 }, at)
        };
        let strands: Vec<Vec<Vec3>> = (0..40)
            .map(|i| {
                let root = Vec3::new(0.0015 * i as f32, 0.0, 0.02);
                (0..=20)
                    .map(|k| root + Vec3::y() * (0.01 * k as f32))
                    .collect()
            })
            .collect();
        let followers = Followers::new(&hair, &strands, 3).unwrap();
        let turns = turns(&hair, &state);
        let mut free = vec![Vec3::zeros(); followers.vertex_count()];
        followers.place(&hair, &turns, &mut free);
        // The first are in nobody's way, and more than fit the fast path.
        let mut colliders = vec![ball(Vec3::x() * 5.0); 40];
        colliders.extend([8 * 21 + 12, 30 * 21 + 14].map(|point| ball(free[point])));
        for count in [2, 42] {
            let colliders = &colliders[42 - count..];
            let mut out = free.clone();
            followers.place_outside(&hair, &turns, colliders, 0.001, &mut out);
            let depth = |point: &Vec3| {
                let distances = colliders.iter().map(|c| c.contact(*point).distance);
                0.001 - distances.fold(f32::MAX, f32::min)
            };
            assert!(free.iter().map(depth).fold(0.0, f32::max) > 0.02);
            assert!(out.iter().map(depth).fold(0.0, f32::max) < 1e-5);
            for (index, groom) in strands.iter().enumerate() {
                let range = followers.strand(index);
                for (rest, now) in groom.windows(2).zip(out[range.clone()].windows(2)) {
                    let [rest, now] = [rest, now].map(|pair| (pair[1] - pair[0]).norm());
                    assert!((now / rest - 1.0).abs() < 1e-5);
                }
                if free[range.clone()]
                    .iter()
                    .map(depth)
                    .all(|depth| depth < -1e-6)
                {
                    assert_eq!(free[range.clone()], out[range]);
                }
            }
        }
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
