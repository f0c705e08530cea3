//! From a posture in a dozen quantities to local joint transforms, and from postures over time to a clip.
//!
//! Legs are solved in their plane, in closed form without angles, so that the ankles stand where the posture says.

use anim_curves::{Interpolation, Key, Track};
use anim_math::nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3, Vector4};
use anim_math::{Quat, Vec3};
use anim_skeleton::{Channel, ClipSpec, JointTrack};

use super::rig::{ANKLE, ARM, HIP, KNEE, Rig};
use super::surface::Point;

type Rotation = UnitQuaternion<f64>;

/// Frames a second of the clips' keys.
const FPS: f64 = 30.0;

#[derive(Clone, Copy)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::Left, Self::Right];

    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// The sign of x on this side.
    pub(super) fn sign(self) -> f64 {
        match self {
            Self::Left => 1.0,
            Self::Right => -1.0,
        }
    }

    fn joint(self, stem: &str) -> String {
        match self {
            Self::Left => format!("{stem}_l"),
            Self::Right => format!("{stem}_r"),
        }
    }

    fn place(self, [x, y, z]: [f64; 3]) -> Point {
        Point::new(self.sign() * x, y, z)
    }
}

/// Where a foot is, in the world.
#[derive(Clone, Copy)]
pub(super) struct Foot {
    pub(super) ankle: Point,
    pub(super) rotation: Rotation,
    /// How far the toes bend up against the foot, rad.
    pub(super) toes: f64,
}

/// How an arm hangs, rad.
#[derive(Clone, Copy)]
pub(super) struct Arm {
    /// Back from the vertical.
    pub(super) swing: f64,
    /// Out from the vertical.
    pub(super) spread: f64,
    pub(super) elbow: f64,
    /// How far the shoulder is drawn back.
    pub(super) shoulder: f64,
}

/// Everything that a posture of the figure decides.
pub(super) struct Posture {
    /// Of the root along z, metres.
    pub(super) root_z: f64,
    /// Of the hips from where they rest, metres.
    pub(super) hips: Point,
    pub(super) pelvis: Rotation,
    /// Of the spine's three joints, each in the one below.
    pub(super) spine: [Rotation; 3],
    pub(super) neck: Rotation,
    pub(super) head: Rotation,
    pub(super) arms: [Arm; 2],
    pub(super) feet: [Foot; 2],
    /// The right arm is up instead, its forearm at this angle from the vertical, rad.
    pub(super) raised: Option<f64>,
}

/// The local rotations of a posture by joint, and the two translations that change.
struct Local {
    rotations: Vec<Rotation>,
    root: Point,
    hips: Point,
}

/// The rotation about a unit axis, rad; portable, unlike nalgebra's.
pub(super) fn turn(axis: Vector3<f64>, angle: f64) -> Rotation {
    let (sine, cosine) = (libm::sin(angle * 0.5), libm::cos(angle * 0.5));
    let v = axis * sine;
    Rotation::new_unchecked(Vector4::new(v.x, v.y, v.z, cosine).into())
}

/// cos(2πt).
pub(super) fn cos_turns(t: f64) -> f64 {
    libm::cos(std::f64::consts::TAU * t)
}

/// The rig, posed.
pub(super) struct Figure<'a> {
    pub(super) rig: &'a Rig,
}

impl Figure<'_> {
    fn local(&self, posture: &Posture) -> Local {
        let mut local = Local {
            rotations: vec![Rotation::identity(); self.rig.nodes.len()],
            root: Point::z() * posture.root_z,
            hips: Point::zeros(),
        };
        let mut set = |name: &str, rotation| {
            if let Some(joint) = self.rig.find(name) {
                local.rotations[joint] = rotation;
            }
        };
        set("hips", posture.pelvis);
        for (name, rotation) in ["spine", "spine_1", "chest"].iter().zip(posture.spine) {
            set(name, rotation);
        }
        set("neck", posture.neck);
        set("head", posture.head);
        let rest = self
            .rig
            .find("hips")
            .map_or_else(Point::zeros, |hips| self.rig.places[hips]);
        let hips = rest + posture.hips;
        for side in Side::BOTH {
            let raised = posture.raised.filter(|_| matches!(side, Side::Right));
            for (stem, rotation) in arm(side, &posture.arms[side.index()], raised) {
                set(&side.joint(stem), rotation);
            }
            let hip = hips + local.root + posture.pelvis * (side.place(HIP) - rest);
            for (stem, rotation) in leg(side, hip, posture.pelvis, &posture.feet[side.index()]) {
                set(&side.joint(stem), rotation);
            }
        }
        local.hips = hips;
        local
    }

    /// A clip of `frames` frames (and one more key at the end) with cubic curves that touch the motion at every key.
    pub(super) fn clip(
        &self,
        name: &str,
        frames: usize,
        motion: impl Fn(f64) -> Posture,
    ) -> ClipSpec {
        // Velocities on both sides of a key, because feet that touch down stop at once.
        const STEP: f64 = 1e-4;
        let samples: Vec<[Local; 3]> = (0..=frames)
            .map(|frame| {
                [-STEP, 0.0, STEP].map(|step| self.local(&motion(frame as f64 / FPS + step)))
            })
            .collect();
        let time = |frame: usize| (frame as f64 / FPS) as f32;
        let translation = |joint: Option<usize>, part: fn(&Local) -> Point| {
            let key = |(frame, [before, at, after]): (usize, &[Local; 3])| Key {
                time: time(frame),
                value: part(at).cast(),
                velocity: Some([
                    ((part(at) - part(before)) / STEP).cast(),
                    ((part(after) - part(at)) / STEP).cast(),
                ]),
            };
            let keys: Vec<Key<Vec3>> = samples.iter().enumerate().map(key).collect();
            Some((joint?, track(keys).map(JointTrack::Translation)?))
        };
        let rotation = |joint: usize| {
            let mut side = Vector4::new(0.0, 0.0, 0.0, 1.0);
            let mut keys: Vec<Key<Quat>> = Vec::new();
            for (frame, locals) in samples.iter().enumerate() {
                let [before, at, after] = locals.each_ref().map(|local| {
                    let coords = local.rotations[joint].coords;
                    if coords.dot(&side) < 0.0 {
                        -coords
                    } else {
                        coords
                    }
                });
                side = at;
                keys.push(Key {
                    time: time(frame),
                    value: Quat::new_unchecked(at.cast::<f32>().into()),
                    velocity: Some([((at - before) / STEP).cast(), ((after - at) / STEP).cast()]),
                });
            }
            let moves = keys.iter().any(|key| key.value != Quat::identity());
            let track = track(keys).filter(|_| moves).map(JointTrack::Rotation)?;
            Some((joint, track))
        };
        let walks = samples.iter().any(|[_, at, _]| at.root != Point::zeros());
        let root = translation(self.rig.find("root"), |local| local.root).filter(|_| walks);
        let hips = translation(self.rig.find("hips"), |local| local.hips);
        let rotations = (0..self.rig.nodes.len()).filter_map(rotation);
        ClipSpec {
            name: Some(name.to_owned()),
            channels: root
                .into_iter()
                .chain(hips)
                .chain(rotations)
                .map(|(joint, track)| Channel { joint, track })
                .collect(),
            morphs: Vec::new(),
        }
    }
}

fn track<T: anim_curves::Interpolate>(keys: Vec<Key<T>>) -> Option<Track<T>> {
    Track::new(keys, Interpolation::Cubic).ok()
}

/// Local rotations of shoulder, arm and fingers.
fn arm(side: Side, arm: &Arm, raised: Option<f64>) -> [(&'static str, Rotation); 4] {
    let sign = side.sign();
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    // The arm rests 50 degrees out from the vertical.
    let down = |spread: f64| turn(z, -sign * (50_f64.to_radians() - spread));
    let elbow = side.place(ARM).cross(&z);
    let (upper, lower) = match raised {
        None => (
            turn(x, arm.swing) * down(arm.spread),
            turn(elbow, arm.elbow),
        ),
        Some(angle) => (down(1.65), turn(z, sign * (1.45 + angle))),
    };
    [
        ("shoulder", turn(y, sign * arm.shoulder)),
        ("upper_arm", upper),
        ("lower_arm", lower),
        (
            "fingers",
            turn(z, -sign * if raised.is_some() { 0.05 } else { 0.35 }),
        ),
    ]
}

/// Local rotations of hip, knee, ankle and toes that bring the ankle to its place, the knee in front.
///
/// With thigh l₁, shank l₂ and distance d the knee lies a = (l₁² − l₂² + d²) / 2d along the line from hip to ankle and
/// √(l₁² − a²) in front of it.
fn leg(side: Side, hip: Point, pelvis: Rotation, foot: &Foot) -> [(&'static str, Rotation); 4] {
    let thigh_rest = Point::from(KNEE) - Point::from(HIP);
    let shank_rest = Point::from(ANKLE) - Point::from(KNEE);
    let (thigh, shank) = (thigh_rest.norm(), shank_rest.norm());
    let line = foot.ankle - hip;
    let distance = line.norm().clamp(1e-6, (thigh + shank) * 0.9999);
    let down = line.normalize();
    // The knee points where hips and foot point between them.
    let forward = (pelvis * Point::z() + foot.rotation * Point::z()).normalize();
    let forward = forward + Point::y() * 0.2 + Point::x() * (side.sign() * 0.04);
    let hinge = forward.cross(&down).normalize();
    let along = (thigh * thigh - shank * shank + distance * distance) / (2.0 * distance);
    let front = (thigh * thigh - along * along).max(0.0).sqrt();
    let knee = hip + down * along + down.cross(&hinge) * front;

    let bone = |rest: Point, posed: Point| {
        let frame = |hinge: Point, bone: Point| {
            let up = -bone.normalize();
            Matrix3::from_columns(&[hinge, up, hinge.cross(&up)])
        };
        let rotation = frame(hinge, posed) * frame(Point::x(), rest).transpose();
        Rotation::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rotation))
    };
    let thigh = bone(thigh_rest, knee - hip);
    let shank = bone(shank_rest, foot.ankle - knee);
    [
        ("upper_leg", pelvis.inverse() * thigh),
        ("lower_leg", thigh.inverse() * shank),
        ("foot", shank.inverse() * foot.rotation),
        ("toes", turn(Vector3::x(), -foot.toes)),
    ]
}
