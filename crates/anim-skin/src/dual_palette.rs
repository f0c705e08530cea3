//! The dual quaternion palette: the rigid motion of each joint of a skin, and the stretch that goes before it.
//!
//! Dual quaternions hold no scale, so `model_from_bind = motion · stretch`: the stretch S is the symmetric factor of the
//! polar decomposition A = R·S, taken about the joint's place in the bind pose, and the motion is what remains. Made from
//! a [`Palette`] once a frame for [`SkinnedMesh::dual_quaternion`].
//!
//! A figure that is stored in centimetres, or whose root is scaled, scales every joint alike. That is no stretch of one
//! joint against the next: about places of their own, joints that meet would part. The scale that at least half of the
//! joints share, s, is therefore taken about the origin: a stretch takes its joint's place p to s·p, and the blend is that of
//! the figure in its posed size.
//!
//! A quaternion and its negative are one rotation, but not one blend. Where the mesh knows its skeleton
//! ([`SkinnedMesh::with_skeleton`]) each joint's sign follows from that of the joint above it, in every frame anew: no
//! vertex has to choose, and a limb that twists by more than half a turn over several joints turns evenly.
//!
//! ```
//! use anim_math::{Affine, Transform, Vec3};
//! # use anim_geom::Mesh;
//! # use anim_skeleton::{JointSpec, Skeleton};
//! # use anim_skin::{DualPalette, Influences, SkinnedMesh};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! # let skin = SkinnedMesh::new(
//! #     &Mesh::default(), &[skeleton.joint(0)], &[Affine::IDENTITY], &Influences::rigid(0), &[])?;
//! let mut palette = skin.palette_buffer();
//! let mut motions = DualPalette::new(palette.len());
//! palette.set(0, Transform { scale: Vec3::new(1.0, 2.0, 1.0), ..Transform::from_translation(Vec3::x()) }.into());
//! skin.dual_palette(&palette, &mut motions);
//! assert_eq!(motions.motion(0).translation(), Vec3::x());
//! assert_eq!(motions.stretch(0).linear.diagonal(), Vec3::new(1.0, 2.0, 1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::nalgebra::{Matrix3, Quaternion, Rotation3};
use anim_math::{Affine, DualQuat, Mat3, Quat, Vec3};
use anim_skeleton::globals::GlobalSlot;

use crate::{Palette, SkinnedMesh};

/// Largest entry of AᵀA − I up to which A counts as a rotation.
///
/// Positions are off by less than half of that times the distance to the joint, 10 µm at a metre.
const RIGID: f32 = 2e-5;

/// Below this share of |A|³ a determinant says nothing about the rotation.
const SINGULAR: f64 = 1e-9;

/// x, y, z, w of the real part, then of the dual part.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct MotionSlot(pub(crate) [f32; 8]);

/// `model_from_bind` of each joint of a skin's list as a stretch followed by a rigid motion.
#[derive(Clone, Debug, PartialEq)]
pub struct DualPalette {
    pub(crate) motions: Vec<MotionSlot>,
    stretches: Vec<GlobalSlot>,
    stretched: Vec<bool>,
    any_stretched: bool,
    mirrored: bool,
    aligned: bool,
    /// Room for the median.
    volumes: Vec<f64>,
}

impl DualPalette {
    /// Identities for a skin with `joint_count` joints.
    pub fn new(joint_count: usize) -> Self {
        Self {
            motions: vec![DualQuat::IDENTITY.into(); joint_count],
            stretches: vec![GlobalSlot::IDENTITY; joint_count],
            stretched: vec![false; joint_count],
            any_stretched: false,
            mirrored: false,
            aligned: false,
            volumes: vec![1.0; joint_count],
        }
    }

    /// Number of joints.
    pub fn len(&self) -> usize {
        self.motions.len()
    }

    /// True without joints.
    pub fn is_empty(&self) -> bool {
        self.motions.is_empty()
    }

    /// The rigid motion of the joint at `place` of the skin's list, applied after the stretch.
    pub fn motion(&self, place: usize) -> DualQuat {
        let [x, y, z, w, dual @ ..] = self.motions[place].0;
        DualQuat {
            real: Quaternion::new(w, x, y, z),
            dual: Quaternion::from(dual),
        }
    }

    /// The stretch of the joint at `place` of the skin's list, in bind space; the identity if the joint is rigid and
    /// the joints share no scale.
    pub fn stretch(&self, place: usize) -> Affine {
        self.stretches[place].into()
    }

    /// True if every matrix mirrors: the motions then are those of the image in the plane x = 0 of model space.
    pub fn is_mirrored(&self) -> bool {
        self.mirrored
    }

    /// True if signs follow the skeleton, and vertices need not choose them.
    pub(crate) fn is_aligned(&self) -> bool {
        self.aligned
    }

    /// Gives each motion the sign nearest to that of the place above it; `kin` as that of [`SkinnedMesh`].
    pub(crate) fn align(&mut self, kin: &[[u16; 2]]) {
        for [place, above] in kin {
            let above = self.motions[usize::from(*above)].0;
            let motion = &mut self.motions[usize::from(*place)].0;
            let cosine = (above[0] * motion[0] + above[1] * motion[1])
                + (above[2] * motion[2] + above[3] * motion[3]);
            if cosine < 0.0 {
                *motion = motion.map(|part| -part);
            }
        }
        self.aligned = !kin.is_empty();
    }

    /// Finds which matrices stretch, whether all mirror, and the scale that the joints share: the lower median of the cube root of
    /// |det A|, or 1 if that is no positive number.
    ///
    /// Rotations count as 1 exactly, so that a figure of which half the joints are rigid has no scale by rounding.
    fn measure(&mut self, palette: &Palette) -> f32 {
        self.mirrored = true;
        for (place, volume) in self.volumes.iter_mut().enumerate() {
            let linear = palette.get(place).linear;
            let determinant = linear.cast::<f64>().determinant();
            self.mirrored &= determinant < 0.0;
            let stretches = !is_orthogonal(&linear);
            self.stretched[place] = stretches;
            *volume = if stretches && determinant.is_finite() {
                determinant.abs()
            } else {
                1.0
            };
        }
        if self.volumes.is_empty() {
            return 1.0;
        }
        let middle = (self.volumes.len() - 1) / 2;
        let by_size = f64::total_cmp;
        let (_, median, _) = self.volumes.select_nth_unstable_by(middle, by_size);
        let scale = libm::cbrt(*median) as f32;
        if scale > 0.0 && scale.is_finite() {
            scale
        } else {
            1.0
        }
    }

    /// The stretches.
    pub(crate) fn stretches(&self) -> &[GlobalSlot] {
        &self.stretches
    }

    /// Whether each joint stretches.
    pub(crate) fn stretched(&self) -> &[bool] {
        &self.stretched
    }

    /// True if any joint stretches.
    pub(crate) fn any_stretched(&self) -> bool {
        self.any_stretched
    }
}

impl SkinnedMesh {
    /// Splits the matrices of `palette` into stretches and rigid motions; O(joints), without allocating.
    ///
    /// The product of both is the matrix, to rounding, whatever the matrix: uneven, sheared, mirrored or collapsed.
    /// Mirrors are treated as [`dual_quaternion`](crate::dual_quaternion) says. With a
    /// [skeleton](Self::with_skeleton) signs are chosen parents first: none is farther than a quarter turn of the sphere of
    /// quaternions, a half turn of the joint, from the joint above it.
    ///
    /// Source: Kavan, Collins, Žára, O'Sullivan, "Geometric skinning with approximate dual quaternion blending", TOG
    /// 2008, on motions with scale (two phases).
    ///
    /// # Panics
    ///
    /// If `palette` or `out` has another number of joints than this skin.
    pub fn dual_palette(&self, palette: &Palette, out: &mut DualPalette) {
        let joint_count = self.joints().len();
        assert_eq!(palette.len(), joint_count, "palette of another skin");
        assert_eq!(out.len(), joint_count, "dual palette of another skin");
        out.any_stretched = false;
        let scale = out.measure(palette);
        for (place, bind) in self.joint_from_bind().iter().enumerate() {
            let mut matrix = palette.get(place);
            if out.mirrored {
                matrix = mirrored(matrix);
            }
            let is_rigid = scale == 1.0 && !out.stretched[place];
            let split = if is_rigid && matrix.linear.determinant() > 0.0 {
                let motion = DualQuat::new(rotation(matrix.linear), matrix.translation);
                (motion, Affine::IDENTITY)
            } else {
                split(&matrix, (*bind).into(), scale)
            };
            out.motions[place] = split.0.into();
            out.stretches[place] = split.1.into();
            out.stretched[place] = split.1 != Affine::IDENTITY;
            out.any_stretched |= out.stretched[place];
        }
        out.align(self.kin());
    }
}

impl From<DualQuat> for MotionSlot {
    fn from(motion: DualQuat) -> Self {
        let (real, dual) = (motion.real.coords, motion.dual.coords);
        Self([
            real.x, real.y, real.z, real.w, dual.x, dual.y, dual.z, dual.w,
        ])
    }
}

/// `matrix`, then a mirror in the plane x = 0.
fn mirrored(matrix: Affine) -> Affine {
    let mut image = matrix;
    image.linear.row_mut(0).neg_mut();
    image.translation.x = -image.translation.x;
    image
}

/// Whether a matrix is a rotation, or a rotation and a mirror.
fn is_orthogonal(linear: &Mat3) -> bool {
    let excess = linear.tr_mul(linear) - Mat3::identity();
    excess.iter().all(|entry| entry.abs() <= RIGID)
}

/// The motion and the stretch of any matrix; the stretch scales the joint's place in the bind pose by `scale`.
fn split(matrix: &Affine, joint_from_bind: Affine, scale: f32) -> (DualQuat, Affine) {
    let turn = polar_rotation(matrix.linear.cast()).map_or_else(
        || matrix.to_transform().rotation,
        |turn| rotation(turn.cast()),
    );
    // Whatever the rotation is, this stretch makes their product the matrix.
    let linear = turn.to_rotation_matrix().matrix().tr_mul(&matrix.linear);
    let center = joint_from_bind
        .inverse()
        .map_or_else(Vec3::zeros, |bind_from_joint| bind_from_joint.translation);
    let offset = center * scale - linear * center;
    let motion = DualQuat::new(turn, matrix.translation - turn * offset);
    let stretch = Affine {
        linear,
        translation: offset,
    };
    (motion, stretch)
}

/// The unit quaternion of a matrix that is a rotation but for rounding.
fn rotation(linear: Mat3) -> Quat {
    let turn = Quat::from_rotation_matrix(&Rotation3::from_matrix_unchecked(linear));
    Quat::new_normalize(turn.into_inner())
}

/// The rotation U of ±A = U·P, P positive definite, the sign that of det A; `None` if A is nearly singular or not finite.
///
/// X ← ½ (γ X + X⁻ᵀ / γ) with γ² = |X⁻¹| / |X|, which converges quadratically from anywhere.
///
/// Source: Higham, "Computing the polar decomposition", SIAM J. Sci. Stat. Comput. 1986, section 3.
fn polar_rotation(linear: Matrix3<f64>) -> Option<Matrix3<f64>> {
    let size = linear.norm();
    let determinant = linear.determinant();
    let regular = determinant.abs() > SINGULAR * size * size * size;
    if !(regular && size.is_finite()) {
        return None;
    }
    let mut turn = linear * determinant.signum();
    // Condition numbers up to 1e9 are spent within ten steps.
    for _ in 0..20 {
        let inverse = turn.try_inverse()?;
        let gamma = (inverse.norm() / turn.norm()).sqrt();
        let next = (turn * gamma + inverse.transpose() / gamma) * 0.5;
        let change = (next - turn).norm();
        turn = next;
        // The next change would be half the square of this one.
        if change < 1e-5 {
            break;
        }
    }
    Some(turn)
}

#[cfg(test)]
mod tests {
    use anim_math::quat;

    use super::*;

    fn check(linear: Mat3) -> (DualQuat, Affine) {
        let matrix = Affine {
            linear,
            translation: Vec3::new(0.5, -1.0, 2.0),
        };
        let bind = Affine {
            translation: Vec3::new(-1.0, 2.0, 0.5),
            ..Affine::IDENTITY
        };
        let (motion, stretch) = split(&matrix, bind, 1.0);
        let product = motion.to_affine() * stretch;
        // Two products of three terms and the quaternion's rounding, each of the size of the matrix and of the offset.
        let tolerance = 32.0 * f32::EPSILON * (1.0 + linear.norm()) * 3.0;
        assert!((product.linear - linear).norm() < tolerance, "{linear}");
        assert!((product.translation - matrix.translation).norm() < tolerance);
        assert!((motion.real.norm() - 1.0).abs() < 4.0 * f32::EPSILON);
        (motion, stretch)
    }

    #[test]
    fn the_product_of_motion_and_stretch_is_the_matrix() {
        let turn = quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 2.0).to_rotation_matrix();
        let turn = turn.into_inner();
        let shear = Mat3::new(1.0, 0.7, 0.0, 0.0, 2.0, 0.0, 0.3, 0.0, 0.5);
        for linear in [shear, turn * shear, -shear, turn * 0.01, turn * 100.0] {
            let (_, stretch) = check(linear);
            let skew = stretch.linear - stretch.linear.transpose();
            assert!(
                skew.norm() < 16.0 * f32::EPSILON * linear.norm(),
                "symmetric"
            );
        }
        for flat in [[1.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]] {
            check(turn * Mat3::from_diagonal(&Vec3::from(flat)));
        }
    }

    #[test]
    fn scale_and_rotation_come_apart() {
        let turn = quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 2.0);
        let scale = Mat3::from_diagonal(&Vec3::new(1.0, 3.0, 0.5));
        let (motion, stretch) = check(turn.to_rotation_matrix().matrix() * scale);
        assert!(quat::angle_between(motion.rotation(), turn) < 2e-3);
        assert!(motion.real.dot(&turn).abs() > 1.0 - 4.0 * f32::EPSILON);
        assert!((stretch.linear - scale).norm() < 32.0 * f32::EPSILON);
        // About the joint, at (1, -2, -0.5) in the bind pose.
        let joint = Vec3::new(1.0, -2.0, -0.5);
        assert!((stretch.transform_point(joint) - joint).norm() < 32.0 * f32::EPSILON);
    }

    #[test]
    fn the_scale_of_most_joints_is_common_and_odd_ones_are_not() {
        let scaled = |scale: f32| Affine {
            linear: Mat3::identity() * scale,
            ..Affine::IDENTITY
        };
        for (scales, expected) in [
            (&[0.01, 0.01, 0.01][..], 0.01),
            (&[0.01, -0.01, 0.01, 3.0], 0.01),
            (&[1.0, 1.0 + 1e-6, 7.0], 1.0),
            (&[1.0, 2.0], 1.0),
            (&[0.0, 0.0, 1.0], 1.0),
            (&[f32::NAN, f32::NAN, 2.0], 1.0),
            (&[], 1.0),
        ] {
            let mut palette = Palette::new(scales.len());
            for (place, scale) in scales.iter().enumerate() {
                palette.set(place, scaled(*scale));
            }
            let found = DualPalette::new(scales.len()).measure(&palette);
            assert!((found - expected).abs() <= 4.0 * f32::EPSILON * expected);
            assert_eq!(found == 1.0, expected == 1.0, "{scales:?}");
        }
        let (_, stretch) = split(&scaled(0.01), Affine::IDENTITY, 0.01);
        assert!(stretch.translation.norm() < 1e-8);
    }

    #[test]
    fn what_is_not_a_number_is_passed_on() {
        let (_, stretch) = split(
            &Affine {
                linear: Mat3::identity() * f32::NAN,
                ..Affine::IDENTITY
            },
            Affine::IDENTITY,
            1.0,
        );
        assert!(stretch.linear[(0, 0)].is_nan());
    }
}
