//! Log-matrix blending: `exp(Σ wⱼ log Mⱼ)`, the mean of the screw motions that lead from the bind pose to the joints.
//!
//! Texts also give this formula under the name of spherical blending, which is [another method](crate::spherical_blend).
//! It keeps the volume of twists, but logarithms are taken from the bind pose: blends of joints that have both turned far
//! bend off the shortest way between them, a common motion of all joints changes the shape of what is blended, and a joint
//! that passes half a turn from its bind pose jumps to the other side. Here for comparison; prefer
//! [`dual_quaternion`](crate::dual_quaternion), which has none of that.
//!
//! ```
//! # use anim_geom::Mesh;
//! # use anim_math::{Affine, Transform};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! # use anim_skin::{DualPalette, Influences, LogMotions, SkinnedMesh, VertexBlocks};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! # let skin = SkinnedMesh::new(
//! #     &Mesh::default(), &[skeleton.joint(0)], &[Affine::IDENTITY], &Influences::rigid(0), &[])?;
//! let motions = DualPalette::new(1);
//! let mut logs = LogMotions::new(motions.len());
//! let mut surface = VertexBlocks::new(skin.vertex_count());
//! logs.set(&motions);
//! skin.log_blend(skin.rest(), &motions, &logs, &mut surface);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::{Vec3, quat};

use crate::rigid_blend::Motion;
use crate::{DualPalette, SkinnedMesh, VertexBlocks};

/// Angles below which series replace the closed forms, rad: their next terms are below f32 precision.
const SMALL: f32 = 0.05;

/// The logarithms of a palette's rigid motions.
#[derive(Clone, Debug, PartialEq)]
pub struct LogMotions(Vec<Log>);

/// A screw: the rotation vector, rad, and the velocity at the origin, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Log {
    angular: Vec3,
    linear: Vec3,
}

impl LogMotions {
    /// No motion of `joint_count` joints.
    pub fn new(joint_count: usize) -> Self {
        let zero = Vec3::zeros();
        Self(vec![
            Log {
                angular: zero,
                linear: zero
            };
            joint_count
        ])
    }

    /// Takes the logarithms of `motions`, with rotations of at most half a turn; O(joints).
    ///
    /// # Panics
    ///
    /// If `motions` has another number of joints.
    pub fn set(&mut self, motions: &DualPalette) {
        assert_eq!(motions.len(), self.0.len(), "palette of another skin");
        for (place, log) in self.0.iter_mut().enumerate() {
            let motion = motions.motion(place);
            *log = Log::of((motion.rotation(), motion.translation()));
        }
    }
}

impl SkinnedMesh {
    /// Moves `source` by the exponentials of mean logarithms; O(V · joints), a sine and a cosine a vertex, not vectorised.
    ///
    /// `logs` must be set from `motions`. Normals stay unit. The same bits for any number of threads; allocates nothing.
    ///
    /// Source: Alexa, "Linear combination of transformations", SIGGRAPH 2002; Cordier and Magnenat-Thalmann, "A
    /// data-driven approach for real-time clothes simulation", Pacific Graphics 2004.
    ///
    /// # Panics
    ///
    /// If anything is of another mesh or skin.
    pub fn log_blend(
        &self,
        source: &VertexBlocks,
        motions: &DualPalette,
        logs: &LogMotions,
        out: &mut VertexBlocks,
    ) {
        assert_eq!(
            logs.0.len(),
            self.joints().len(),
            "logarithms of another skin"
        );
        self.move_each(source, motions, out, |_, _| {
            |influences, lane| {
                let mut angular = Vec3::zeros();
                let mut linear = Vec3::zeros();
                for (joint, weight) in influences.of(lane) {
                    angular += logs.0[joint].angular * weight;
                    linear += logs.0[joint].linear * weight;
                }
                Log { angular, linear }.exp()
            }
        });
    }
}

impl Log {
    /// ω = log R, and u = V⁻¹ t = t − ½ ω × t + (1 − ½θ cot ½θ)/θ² · ω × (ω × t).
    fn of((turn, shift): Motion) -> Self {
        let angular = quat::log(turn);
        let angle = angular.norm();
        let factor = if angle < SMALL {
            1.0 / 12.0 + angle * angle / 720.0
        } else {
            let half = 0.5 * angle;
            (1.0 - half * libm::cosf(half) / libm::sinf(half)) / (angle * angle)
        };
        let across = angular.cross(&shift);
        Self {
            angular,
            linear: shift - across * 0.5 + angular.cross(&across) * factor,
        }
    }

    /// R = exp ω, and t = V u = u + (1 − cos θ)/θ² · ω × u + (θ − sin θ)/θ³ · ω × (ω × u).
    fn exp(self) -> Motion {
        let Self { angular, linear } = self;
        let angle = angular.norm();
        let square = angle * angle;
        let (first, second) = if angle < SMALL {
            (0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0)
        } else {
            let half_sine = libm::sinf(0.5 * angle);
            (
                2.0 * half_sine * half_sine / square,
                (angle - libm::sinf(angle)) / (square * angle),
            )
        };
        let across = angular.cross(&linear);
        let shift = linear + across * first + angular.cross(&across) * second;
        (quat::exp(angular), shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_undoes_log_at_all_angles() {
        let axis = Vec3::new(0.6, 0.0, 0.8);
        let shift = Vec3::new(1.0, -2.0, 0.5);
        for angle in [0.0, 1e-4, 0.04, 0.06, 1.0, 2.0, 3.1] {
            let turn = quat::from_axis_angle(axis, angle);
            let (found, place) = Log::of((turn, shift)).exp();
            assert!(quat::angle_between(found, turn) < 2e-6, "{angle}");
            // Cancellation of θ − sin θ just above the series costs θ²/6: 12 bits of 24 less at 0.06, of a term θ²/6 in size.
            assert!((place - shift).norm() < 1e-5, "{angle}: {place}");
        }
    }
}
