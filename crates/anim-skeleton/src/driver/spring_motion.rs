//! The motion of spring bones: pendulums that hang by their starts in a field which pulls toward the pose.
//!
//! A step of the reference algorithm of VRM moves the end of a bone by (1 − drag) of its last move and by Δt · F, F being
//! stiffness times the posed direction plus gravity, and puts it back to the length of the bone. Its drag counts steps and
//! its force is divided by their length, so it is another spring at each frame rate. At 60 steps a second it is a step of
//!
//! ẍ = c (F / drag − ẋ) + tension, c = −60 ln(1 − drag)
//!
//! whose drag closes exactly as much of the gap to F / drag in a sixtieth of a second; without drag ẍ = 60 F. That equation
//! is solved here, in substeps of 1/240 s or less: half a kick, a turn on the sphere, half a kick, second order, with the
//! drag in closed form.

use anim_math::{Vec3, quat};

use super::spring_collider::Placed;

/// Steps a second of the reference algorithm.
const REFERENCE_RATE: f32 = 60.0;
/// Substeps a second, at least.
const RATE: f32 = 240.0;
/// More substeps a frame are not taken; they get longer instead.
const MAX_SUBSTEPS: f32 = 64.0;
/// Radians that the fastest bone swings in a substep: what is stiffer swings as fast as this. Below 2, where kicks would
/// begin to feed the swing.
const FASTEST: f32 = 1.5;
/// Radians a second, 25 Hz, beyond which a swing is damped toward critically: no frame shows it, but in a chain of equal bones
/// each would drive the next into resonance.
const SEEN: f32 = 157.0;
/// Of a bone that all colliders are asked about, for they may push it at each other.
const CONTACT_ROUNDS: usize = 2;

/// How one bone moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Response {
    /// Pull toward the pose, m/s.
    pub(super) stiffness: f32,
    /// m/s, world space.
    pub(super) gravity: Vec3,
    /// c, 1/s.
    decay: f32,
    /// Acceleration for a pull of one, 1/s.
    gain: f32,
}

impl Response {
    /// * `drag`: in [0, 1]; at 1 the bone falls straight to where it is pulled, up to a thousandth of a second.
    pub(super) fn new(stiffness: f32, gravity: Vec3, drag: f32) -> Self {
        let kept = (1.0 - f64::from(drag)).max(1e-6);
        let decay = -libm::log(kept) as f32 * REFERENCE_RATE;
        Self {
            stiffness,
            gravity,
            decay,
            gain: match drag > 1e-6 {
                true => decay / drag,
                false => REFERENCE_RATE,
            },
        }
    }
}

/// One bone in motion, world space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Swing {
    /// From start to end, unit.
    pub(super) direction: Vec3,
    /// Of the end, m/s.
    pub(super) velocity: Vec3,
    /// The posed bone, from start to end, m, as if the bones before it were posed too.
    pub(super) posed: Vec3,
    /// Where stiffness pulled at the end of the last step, unit.
    toward: Vec3,
}

/// A bone on its way through a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bone {
    pub(super) response: Response,
    /// Radius of the end, m.
    pub(super) hit: f32,
    /// Present length over that at rest: forces and sizes grow by it, so that giants swing as their models do.
    pub(super) growth: f32,
    /// The posed bone at the end of the frame, m.
    pub(super) posed: Vec3,
}

/// The number of substeps of a frame, and their length, s.
pub(super) fn substeps(dt: f32) -> (u32, f32) {
    // A frame of a whole number of substeps is not one more for its rounding.
    let count = libm::ceilf(dt * RATE - 1e-3).clamp(1.0, MAX_SUBSTEPS);
    (count as u32, dt / count)
}

/// Moves all bones of a chain to `alpha` of the frame, by `h`, s.
///
/// * `bones`, `swings`: n, from root to tip. * `head`: where the chain starts, at the beginning and at the end of the step.
/// * `colliders`: at the beginning and at the end of the frame, and `rate`, one over its length, 1/s.
pub(super) fn step(
    bones: &[Bone],
    swings: &mut [Swing],
    head: [Vec3; 2],
    colliders: [&[Placed]; 2],
    rate: f32,
    alpha: f32,
    h: f32,
) {
    let [mut head, mut next_head] = head;
    let mut turn = anim_math::Quat::identity();
    for (bone, swing) in bones.iter().zip(swings) {
        let posed = between_bones(swing.posed, bone.posed, alpha);
        let length = posed.norm();
        let tail = head + swing.direction * length;
        if length < 1e-9 {
            next_head += posed;
            head = tail;
            continue;
        }
        let pulled = turn * (posed / length);
        let pivot = (next_head - head) / h;
        swing.advance(bone, pulled, length, pivot, h);
        for _ in 0..CONTACT_ROUNDS {
            for (before, after) in colliders[0].iter().zip(colliders[1]) {
                let shape = before.lerp(*after, alpha);
                let radius = bone.hit * bone.growth;
                if let Some((pushed, out)) = shape.push(next_head, swing.direction, length, radius)
                {
                    swing.direction = pushed;
                    let speed = out.dot(&(swing.velocity - after.velocity(before, rate)));
                    swing.velocity -= out * speed.min(0.0);
                }
            }
        }
        turn = quat::between(pulled, swing.direction) * turn;
        head = tail;
        next_head += swing.direction * length;
    }
}

/// Puts all bones of a chain to rest where they are pulled, and out of `colliders`; `head`: where it starts.
pub(super) fn settle(bones: &[Bone], swings: &mut [Swing], head: Vec3, colliders: &[Placed]) {
    let mut head = head;
    let mut turn = anim_math::Quat::identity();
    for (bone, swing) in bones.iter().zip(swings) {
        let length = bone.posed.norm();
        let toward = turn * bone.posed.try_normalize(1e-9).unwrap_or_default();
        let pull = toward * bone.response.stiffness + bone.response.gravity;
        *swing = Swing {
            direction: pull.try_normalize(1e-9).unwrap_or(toward),
            velocity: Vec3::zeros(),
            posed: bone.posed,
            toward,
        };
        if length < 1e-9 {
            continue;
        }
        for _ in 0..CONTACT_ROUNDS {
            for shape in colliders {
                let radius = bone.hit * bone.growth;
                if let Some((pushed, _)) = shape.push(head, swing.direction, length, radius) {
                    swing.direction = pushed;
                }
            }
        }
        turn = quat::between(toward, swing.direction) * turn;
        head += swing.direction * length;
    }
}

impl Swing {
    /// Turns everything by the linear part of a motion that the bone takes part in.
    pub(super) fn carried(&mut self, motion: &anim_math::Affine) {
        let carry = |v: Vec3| motion.transform_vector(v);
        let unit = |v: Vec3| carry(v).try_normalize(1e-9).unwrap_or(v);
        self.direction = unit(self.direction);
        self.toward = unit(self.toward);
        self.velocity = carry(self.velocity);
        self.posed = carry(self.posed);
    }

    pub(super) fn is_finite(&self) -> bool {
        let parts = [self.direction, self.velocity, self.posed];
        parts.iter().flatten().all(|v| v.is_finite())
    }

    /// One substep of a pendulum whose pivot moves evenly: ω̇ = d × (g − c u) / L − c ω, with the pivot's velocity u.
    fn advance(&mut self, bone: &Bone, pulled: Vec3, length: f32, pivot: Vec3, h: f32) {
        let response = &bone.response;
        let field = |toward: Vec3| {
            let pull = toward * response.stiffness + response.gravity;
            (pull * (response.gain * bone.growth) - pivot * response.decay) / length
        };
        let [before, after] = [field(self.toward), field(pulled)].map(|field| {
            let square = field.norm() * h * h;
            let most = FASTEST * FASTEST;
            match square > most {
                true => field * (most / square),
                false => field,
            }
        });
        let unseen = (after.norm().sqrt() - SEEN).max(0.0);
        let decay = f64::from(response.decay + 3.0 * unseen);
        let half = 0.5 * f64::from(h);
        let kept = libm::exp(-decay * half) as f32;
        let gained = match decay > 1e-6 {
            true => (-libm::expm1(-decay * half) / decay) as f32,
            false => half as f32,
        };
        let mut omega = self.direction.cross(&(self.velocity - pivot)) / length;
        omega = omega * kept + self.direction.cross(&before) * gained;
        self.direction = (quat::exp(omega * h) * self.direction)
            .try_normalize(1e-9)
            .unwrap_or(self.direction);
        omega = omega * kept + self.direction.cross(&after) * gained;
        // Kicks are at right angles to the direction they were given in, not quite to where it has turned.
        omega -= self.direction * self.direction.dot(&omega);
        self.velocity = pivot + omega.cross(&self.direction) * length;
        self.toward = pulled;
    }
}

/// A bone between two poses: its direction turns, its length grows.
fn between_bones(from: Vec3, to: Vec3, alpha: f32) -> Vec3 {
    let mixed = from + (to - from) * alpha;
    let length = from.norm() * (1.0 - alpha) + to.norm() * alpha;
    mixed
        .try_normalize(1e-9)
        .map_or(mixed, |unit| unit * length)
}
