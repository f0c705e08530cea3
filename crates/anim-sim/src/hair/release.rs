//! Drawn strands that are kept out of bodies from frame to frame: they go round a body and never jump from one side to the other.
//!
//! [`Followers::place_outside`] knows one moment. Where what a strand follows sweeps across a body, the side that it is
//! turned out to changes within a frame, and no rule that knows one moment can do without: directions into a body have no continuous
//! map to those along it. So here each segment is remembered to have been turned, stays so against what it follows,
//! and turns back no faster than a rate, but as far as the body lets it: which slides the strand round.
//!
//! ```
//! use anim_geom::{Collider, Shape};
//! use anim_math::{Affine, Transform, Vec3};
//! use anim_sim::hair::{Followers, Hair, HairSpec, Releases};
//!
//! let strand: Vec<_> = (0..9_u8).map(|k| Vec3::x() * (0.02 * f32::from(k))).collect();
//! let hair = Hair::new(HairSpec { guides: vec![strand.clone()], ..HairSpec::default() })?;
//! let followers = Followers::new(&hair, &[strand], 1)?;
//! let at = Affine::from(Transform::from_translation(Vec3::new(0.1, -0.01, 0.0)));
//! let ball = Collider::new(Shape::Sphere { radius: 0.03 }, at);
//! let mut releases = Releases::new(&followers);
//! let mut positions = followers.groom().to_vec();
//! releases.keep_outside(&followers, &[ball.clone()], 0.001, 1.0 / 60.0, &mut positions);
//! assert!(positions.iter().all(|point| ball.contact(*point).distance > 0.001 - 1e-5));
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use anim_geom::{Collider, chunks};
use anim_math::{Vec3, quat};

use super::guide::Followers;
use super::outside::{Bodies, Walk};

/// How fast a segment turns back to what it follows, rad/s: half a turn takes some half second.
const RATE: f32 = 5.0;
/// A segment turned less than this is not, rad.
const TURNED: f32 = 1e-4;

/// How the strands of one head are turned out of bodies.
#[derive(Clone, Debug)]
pub struct Releases {
    /// V, where strands would be: now and in the last frame.
    free: Vec<Vec3>,
    last_free: Vec<Vec3>,
    /// V, where they were drawn.
    last: Vec<Vec3>,
    has_last: bool,
}

impl Releases {
    /// None yet.
    pub fn new(followers: &Followers) -> Self {
        let groom = followers.groom();
        Self {
            free: groom.to_vec(),
            last_free: groom.to_vec(),
            last: groom.to_vec(),
            has_last: false,
        }
    }

    /// Forgets all: for cuts. The next frame is that of [`Followers::place_outside`].
    pub fn forget(&mut self) {
        self.has_last = false;
    }

    /// Turns strands that were [placed](Followers::place) out of colliders, once in each frame of `dt`, s.
    ///
    /// * `positions`: V, metres, in the space of the root, as the colliders are. Roots, lengths and how far `clearance`, m,
    ///   is kept are as with [`Followers::place_outside`], and so is the cost but for a second pass over the points. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If `positions` has not V elements, or the strands are not those that it was made for.
    pub fn keep_outside(
        &mut self,
        followers: &Followers,
        colliders: &[Collider],
        clearance: f32,
        dt: f32,
        positions: &mut [Vec3],
    ) {
        assert_eq!(
            (positions.len(), self.free.len()),
            (followers.vertex_count(), followers.vertex_count()),
            "one for each point"
        );
        self.free.copy_from_slice(positions);
        let bodies = Bodies::new(colliders, clearance);
        let (sin, cos) = libm::sincosf((RATE * dt).clamp(0.0, std::f32::consts::FRAC_PI_2));
        let is_remembered = self.has_last && dt.is_finite();
        let (free, last_free, last) = (&self.free, &self.last_free, &self.last);
        let way = |point: usize| {
            let [free, old, was] = [free, last_free, last].map(|all| all[point] - all[point - 1]);
            let is_turned = (was - old).norm_squared() > TURNED * TURNED * old.norm_squared();
            if is_remembered && is_turned {
                turn_back(quat::between(old, was) * free, free, [sin, cos])
            } else {
                free
            }
        };
        chunks::for_each_mut(positions, |first, chunk| {
            let end = first + chunk.len();
            let mut done = first;
            while done < end {
                let strand = followers.strand_of(done);
                let range = followers.strand(strand);
                let mut position = free[range.start];
                let mut walk = Walk::new(&bodies, position, strand as u32);
                // What lies before the chunk is walked but not written.
                for point in range.start..range.end.min(end) {
                    if point > range.start {
                        position = walk.step(position, way(point));
                    }
                    if point >= first {
                        chunk[point - first] = position;
                    }
                }
                done = range.end.min(end);
            }
        });
        self.last.copy_from_slice(positions);
        std::mem::swap(&mut self.free, &mut self.last_free);
        self.has_last = true;
    }
}

/// A segment turned towards where it wants to be, by the angle of this sine and cosine at most.
fn turn_back(turned: Vec3, wanted: Vec3, [sin, cos]: [f32; 2]) -> Vec3 {
    let length = wanted.norm();
    let (Some(from), Some(to)) = (turned.try_normalize(0.0), wanted.try_normalize(0.0)) else {
        return wanted;
    };
    let along = from.dot(&to);
    if along >= cos {
        return wanted;
    }
    match (to - from * along).try_normalize(1e-6) {
        Some(across) => (from * cos + across * sin).normalize() * length,
        // Right the other way, no turn is the nearest.
        None => from * length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hair::{Hair, HairSpec};
    use anim_geom::Shape;
    use anim_math::{Affine, Transform};

    const FRAME: f32 = 1.0 / 60.0;
    const SEGMENTS: u8 = 20;
    const LENGTH: f32 = 0.2;

    /// A strand along x whose wish sweeps across a ball 8 cm away, in a second, and stays there for two.
    ///
    /// The greatest move from frame to frame and where it ends, as it is wanted and as it is drawn.
    fn sweep(mut keep: impl FnMut(&mut Releases)) -> (f32, Vec<Vec3>, Vec<Vec3>) {
        let strand: Vec<Vec3> = (0..=SEGMENTS)
            .map(|k| Vec3::x() * (LENGTH * f32::from(k) / f32::from(SEGMENTS)))
            .collect();
        let hair = Hair::new(HairSpec {
            guides: vec![strand.clone()],
            ..HairSpec::default()
        })
        .unwrap();
        let followers = Followers::new(&hair, &[strand], 1).unwrap();
        let at = Affine::from(Transform::from_translation(Vec3::new(0.08, 0.0, 0.003)));
        let ball = Collider::new(Shape::Sphere { radius: 0.04 }, at);
        let mut releases = Releases::new(&followers);
        let mut last: Option<Vec<Vec3>> = None;
        let (mut most, mut free, mut drawn) = (0.0_f32, Vec::new(), Vec::new());
        for frame in 0..180_u8 {
            let angle = 0.7 * (2.0 * f32::from(frame) * FRAME - 1.0).min(1.0);
            let turned = quat::from_axis_angle(Vec3::z(), angle);
            free = followers.groom().iter().map(|p| turned * p).collect();
            drawn = free.clone();
            keep(&mut releases);
            releases.keep_outside(
                &followers,
                std::slice::from_ref(&ball),
                0.001,
                FRAME,
                &mut drawn,
            );
            for point in &drawn {
                assert!(ball.contact(*point).distance > 0.001 - 1e-5);
            }
            let length: f32 = drawn.windows(2).map(|p| (p[1] - p[0]).norm()).sum();
            assert!((length - LENGTH).abs() < 1e-6, "{length}");
            if let Some(last) = &last {
                let moves = drawn.iter().zip(last).map(|(a, b)| (a - b).norm());
                most = most.max(moves.fold(0.0, f32::max));
            }
            last = Some(drawn.clone());
        }
        (most, free, drawn)
    }

    #[test]
    fn a_strand_that_is_swept_across_a_ball_goes_round_it() {
        // The sweep turns by 1.4 rad/s, and a segment turns back by 5: a tip moves by that times its distance at most, but
        // for how far the ball holds it up, which turns with the sweep once more.
        let granted = (1.4 + RATE + 1.4) * FRAME * LENGTH;
        let (most, free, drawn) = sweep(|_| ());
        assert!(most < granted, "{most} {granted}");
        let off = free.iter().zip(&drawn).map(|(a, b)| (a - b).norm());
        assert!(off.fold(0.0, f32::max) < 1e-5, "it comes free");
        let (jump, ..) = sweep(Releases::forget);
        assert!(jump > 2.0 * most, "{jump}: what knows one moment jumps");
    }
}
