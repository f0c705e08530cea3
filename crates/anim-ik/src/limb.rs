//! Two bones in model space, opened to a length and turned to a target: the arithmetic of the limb solvers.
//!
//! The hinge opens until the limb is as long as the target is far, then the whole limb turns by the shortest arc until it
//! points there, then about that line until its middle lies toward the pole. It comes twice: [`Bones::turns`] for what limbs
//! mostly do, of one or of eight at once, and [`Limb::careful_turns`] for all cases.

use anim_math::nalgebra::Quaternion;
use anim_math::{Vec3, quat};

use crate::BendPlane;
use crate::arc::{Arc, Roll, arc_of, between_pairs, carried};
use crate::frame::is_finite;
use crate::real::{Real, Turn, Vector, add, cross, dot, scale};

/// Two bones in model space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limb {
    /// From root to mid, m.
    pub(crate) upper: Vec3,
    /// From mid to end, m.
    pub(crate) lower: Vec3,
    /// Their lengths, m.
    pub(crate) l1: f32,
    pub(crate) l2: f32,
}

/// Two bones in model space, of one limb or of eight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bones<T> {
    upper: Vector<T>,
    lower: Vector<T>,
    /// Their lengths, m.
    pub(crate) l1: T,
    pub(crate) l2: T,
}

/// From the root to the target, of one limb or of eight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<T = f32> {
    to_target: Vector<T>,
    /// Unit; not finite if the target is at the root.
    line: Vector<T>,
    /// Its length, m.
    pub(crate) far: T,
}

impl<T: Real> Way<T> {
    #[inline(always)]
    pub(crate) fn new(to_target: Vector<T>) -> Self {
        let far = dot(to_target, to_target).sqrt();
        Self {
            to_target,
            line: scale(to_target, far.constant(1.0) / far),
            far,
        }
    }
}

impl Way {
    fn line(&self) -> Vec3 {
        self.line.into()
    }

    fn is_line(&self) -> bool {
        is_finite(&self.line())
    }
}

/// Below this sine of the bend, rad, the pose's own plane gives way to the hinge: positions a few metres from the origin
/// do not know it better, and a knee that noise has pushed through must not bend backward.
const STRAIGHT: f32 = 0.02;

impl<T: Real> Bones<T> {
    #[inline(always)]
    pub(crate) fn new(upper: Vector<T>, lower: Vector<T>) -> Self {
        Self {
            upper,
            lower,
            l1: dot(upper, upper).sqrt(),
            l2: dot(lower, lower).sqrt(),
        }
    }

    /// The model-space rotations of the root (all of the limb) and, before it, of the mid joint, and whether to use them:
    /// not where that takes care, near half a turn, near folded or straight, without a length or a target.
    ///
    /// * `distance`: how far the end should be from the root, m. * `pole`: from the root.
    ///
    /// The lengths of all vectors are known, so none need be made unit first.
    #[inline(always)]
    pub(crate) fn turns(
        &self,
        way: &Way<T>,
        distance: T,
        pole: Option<Vector<T>>,
    ) -> ([Turn<T>; 2], T::Mask) {
        let (l1, l2) = (self.l1, self.l2);
        let one = l1.constant(1.0);
        let own = cross(self.upper, self.lower);
        let (bulk, most) = (dot(own, own), l1 * l2);
        let is_bent = bulk.is_least(most.constant(STRAIGHT * STRAIGHT) * (most * most))
            & bulk.exceeds(bulk.constant(1e-36));
        // The law of cosines gave it that length, unless too little is left of both bones to trust that.
        let (length, gap) = (l1 + l2, (l1 - l2).abs());
        let reached = distance.max(gap);
        let is_open = reached.is_least(reached.constant(0.1) * length);
        let (s, c) = self.half_angles(distance);
        let across = (one.constant(4.0) * (s * c) / bulk).sqrt();
        let across = scale(cross(own, self.upper), across);
        let bent = add(scale(self.upper, c - s), across);
        let bent = scale(bent, one.constant(0.25) / (l1 * l1));
        let (bend, is_bend) = arc_of(self.lower, bent, l2 * l2);
        let is_usual = is_bent & is_open & is_bend;
        let view = add(self.upper, bent);
        let (swing, is_swing) = match pole {
            None => arc_of(view, way.to_target, reached * way.far),
            Some(pole) => {
                let beside = cross(pole, way.line);
                let slope = dot(beside, beside);
                let is_beside = slope.exceeds(slope.constant(1e-10) * dot(pole, pole));
                let now = [scale(view, one / reached), scale(own, one / bulk.sqrt())];
                let upright = [way.line, scale(beside, one / slope.sqrt())];
                let (swing, is_swing) = between_pairs(now, upright);
                (swing, is_swing & is_beside)
            }
        };
        ([swing, bend], is_usual & is_swing)
    }

    /// s and c of [`Limb::opened`].
    #[inline(always)]
    fn half_angles(&self, distance: T) -> (T, T) {
        let (l1, l2) = (self.l1, self.l2);
        let gap = (l1 - l2).abs();
        // One of both is cut off where the distance is out of reach: their sum is 4·l₁·l₂ all the same.
        let (zero, four) = (l1.constant(0.0), l1.constant(4.0) * l1 * l2);
        let s = (l1 + l2 - distance) * (l1 + l2 + distance);
        let c = (distance - gap) * (distance + gap);
        (s.max(zero).min(four), c.max(zero).min(four))
    }
}

impl Limb {
    #[inline(always)]
    pub(crate) fn new(upper: Vec3, lower: Vec3) -> Self {
        Self {
            upper,
            lower,
            l1: upper.norm(),
            l2: lower.norm(),
        }
    }

    /// As plain numbers.
    #[inline(always)]
    pub(crate) fn bones(&self) -> Bones<f32> {
        Bones {
            upper: self.upper.into(),
            lower: self.lower.into(),
            l1: self.l1,
            l2: self.l2,
        }
    }

    /// As [`Bones::turns`], everywhere.
    ///
    /// * `hinge`: where the limb bends if it is straight.
    pub(crate) fn careful_turns(
        &self,
        way: &Way,
        distance: f32,
        hinge: Vec3,
        pole: Option<Vec3>,
        plane: Option<&mut BendPlane>,
    ) -> (Quaternion<f32>, Quaternion<f32>) {
        let normal = self.normal(hinge);
        let (bent, bend) = self.opening(distance, normal);
        let (view, line) = self.sights(self.upper + bent, way);
        let aim = Arc::new(view, line, normal).quaternion();
        let swing = match (plane, pole.filter(is_finite)) {
            (Some(plane), pole) => {
                let line = way.is_line().then_some(line);
                plane.roll(line, aim, normal, pole).unwrap_or(aim)
            }
            (None, Some(pole)) => rolled_to(pole, line, aim, normal),
            (None, None) => aim,
        };
        (swing, bend)
    }

    /// The lower bone once the limb has the length `distance`, m; `None` if there is no bone to bend.
    ///
    /// With d the distance and φ the angle from upper to lower bone, s = 4·l₁·l₂·sin²(φ/2) = (l₁ + l₂)² − d² and
    /// c = 4·l₁·l₂·cos²(φ/2) = d² − (l₁ − l₂)²: the law of cosines in half angles, which loses no digits at either end. The
    /// lower bone is l₂ (cos φ · û + sin φ · n × û) = ((c − s) u + 2 √(s c) n × u) / 4l₁² of the upper one, u.
    #[inline(always)]
    fn opened(&self, distance: f32, normal: Vec3) -> Option<Vec3> {
        let (l1, l2) = (self.l1, self.l2);
        let squared = l1 * l1;
        if !(squared.is_normal() && l2 * l2 > 0.0) {
            return None;
        }
        let (s, c) = self.bones().half_angles(distance);
        let across = normal.cross(&self.upper) * (2.0 * (s * c).sqrt());
        Some((self.upper * (c - s) + across) * (0.25 / squared))
    }

    /// The lower bone once the limb has the length `distance`, m, and the model-space rotation of the mid joint that takes
    /// it there, as a quaternion times a positive factor.
    pub(crate) fn opening(&self, distance: f32, normal: Vec3) -> (Vec3, Quaternion<f32>) {
        match self.opened(distance, normal) {
            Some(bent) => {
                let arc = Arc::new(self.lower / self.l2, bent / self.l2, normal);
                (bent, arc.quaternion())
            }
            None => (self.lower, Quaternion::identity()),
        }
    }

    /// The unit axis about which the limb bends: the pose's own, the hinge's share growing as it straightens.
    pub(crate) fn normal(&self, hinge: Vec3) -> Vec3 {
        self.own_normal()
            .unwrap_or_else(|| self.straight_normal(hinge))
    }

    /// The unit axis about which the limb bends, if it is bent.
    #[inline(always)]
    pub(crate) fn own_normal(&self) -> Option<Vec3> {
        let own = self.upper.cross(&self.lower);
        let norm = own.norm();
        (norm > 1e-30 && norm >= STRAIGHT * (self.l1 * self.l2)).then(|| own * (1.0 / norm))
    }

    fn straight_normal(&self, hinge: Vec3) -> Vec3 {
        let (along, lower) = directions(self.upper, self.lower, self.l1, self.l2);
        let own = along.cross(&lower);
        let share = (STRAIGHT - own.norm()).max(0.0);
        let normal = own + (hinge - along * along.dot(&hinge)) * share;
        normal
            .try_normalize(1e-7)
            .unwrap_or_else(|| quat::any_perpendicular(along))
    }

    /// The unit directions from root to end and to the target.
    ///
    /// A target at the root has none; the limb stays where it points.
    fn sights(&self, reach: Vec3, way: &Way) -> (Vec3, Vec3) {
        match (reach.try_normalize(0.0), way.is_line()) {
            (Some(view), true) => (view, way.line()),
            (None, true) => (way.line(), way.line()),
            (_, false) => {
                let (along, _) = directions(self.upper, self.lower, self.l1, self.l2);
                (along, along)
            }
        }
    }
}

/// The quaternion `aim` and then the roll about the unit `line` that brings the middle of the limb toward `pole`.
///
/// * `normal`: of the bend, before the aim. A pole on the line leaves the aim as it is.
#[inline(always)]
fn rolled_to(pole: Vec3, line: Vec3, aim: Quaternion<f32>, normal: Vec3) -> Quaternion<f32> {
    let pole = pole * (1.0 / pole.norm());
    let beside = pole.cross(&line);
    let normal = carried(aim, normal);
    // From where the middle is, line × normal, to where the pole is.
    let roll = Roll::by(-normal.dot(&pole), normal.dot(&beside));
    let rolled = roll.about(line) * aim;
    // NaN is no more than this either.
    if beside.norm_squared() > 1e-10 {
        rolled
    } else {
        aim
    }
}

/// The axis of the rest pose's bend, or the documented one where it is straight.
pub(crate) fn rest_hinge(upper: Vec3, lower: Vec3) -> Vec3 {
    let (along, along_lower) = directions(upper, lower, upper.norm(), lower.norm());
    let bend = along.cross(&along_lower);
    bend.try_normalize(1e-4).unwrap_or_else(|| {
        // The middle bulges toward the normal's cross product with the bone.
        [Vec3::z(), Vec3::y()]
            .into_iter()
            .find_map(|toward| toward.cross(&along).try_normalize(0.1))
            .unwrap_or_else(Vec3::x)
    })
}

/// The unit directions of two bones of lengths `l1` and `l2`; a bone without length takes the other's.
#[inline(always)]
fn directions(upper: Vec3, lower: Vec3, l1: f32, l2: f32) -> (Vec3, Vec3) {
    match (l1 > 0.0, l2 > 0.0) {
        (true, true) => (upper * (1.0 / l1), lower * (1.0 / l2)),
        (true, false) => (upper / l1, upper / l1),
        (false, true) => (lower / l2, lower / l2),
        (false, false) => (Vec3::y(), Vec3::y()),
    }
}

/// How far the end goes of `distance`, m, for a limb of `length`, m.
///
/// Up to dₐ = length − dₛ, dₛ = softness·length, the distance itself; beyond it dₐ + dₛ·(1 − exp((dₐ − distance)/dₛ)), which
/// has the same slope there and never quite reaches the length.
///
/// Source: Nicholas, "Soft IK", 2009.
#[inline(always)]
pub(crate) fn eased(distance: f32, length: f32, softness: f32) -> f32 {
    let span = softness.clamp(0.0, 1.0) * length;
    let start = length - span;
    if span > 0.0 && distance > start {
        start + span * (1.0 - libm::expf((start - distance) / span))
    } else {
        distance.min(length)
    }
}
