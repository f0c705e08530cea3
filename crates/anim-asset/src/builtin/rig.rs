//! The humanoid's joints: names, parents and places, and how they pull at a surface.

use anim_math::{Affine, Transform, Vec3};
use anim_skin::Influences;

use super::surface::{Point, smoothstep};
use crate::Node;

/// Name, parent and place of a joint; `_l` joints have a mirror image `_r`.
struct Joint(&'static str, &'static str, [f64; 3]);

/// Direction of the left arm at rest, 40 degrees below the horizon.
pub(super) const ARM: [f64; 3] = [0.766_044, -0.642_788, 0.0];
/// The left shoulder joint.
pub(super) const SHOULDER: [f64; 3] = [0.165, 1.41, -0.015];
pub(super) const UPPER_ARM_LENGTH: f64 = 0.275;
pub(super) const LOWER_ARM_LENGTH: f64 = 0.25;
pub(super) const HIP: [f64; 3] = [0.09, 0.915, 0.0];
pub(super) const KNEE: [f64; 3] = [0.09, 0.5, 0.012];
pub(super) const ANKLE: [f64; 3] = [0.09, 0.085, -0.012];
pub(super) const TOES: [f64; 3] = [0.09, 0.022, 0.105];

/// The point of the left arm that far from the shoulder.
pub(super) const fn on_arm(distance: f64) -> [f64; 3] {
    [
        SHOULDER[0] + ARM[0] * distance,
        SHOULDER[1] + ARM[1] * distance,
        SHOULDER[2] + ARM[2] * distance,
    ]
}

const WRIST: f64 = UPPER_ARM_LENGTH + LOWER_ARM_LENGTH;

const JOINTS: [Joint; 16] = [
    Joint("root", "", [0.0, 0.0, 0.0]),
    Joint("hips", "root", [0.0, 0.97, 0.0]),
    Joint("spine", "hips", [0.0, 1.06, -0.005]),
    Joint("spine_1", "spine", [0.0, 1.17, -0.01]),
    Joint("chest", "spine_1", [0.0, 1.28, -0.012]),
    Joint("neck", "chest", [0.0, 1.475, -0.02]),
    Joint("head", "neck", [0.0, 1.555, -0.005]),
    Joint("shoulder_l", "chest", [0.03, 1.43, -0.01]),
    Joint("upper_arm_l", "shoulder_l", SHOULDER),
    Joint("lower_arm_l", "upper_arm_l", on_arm(UPPER_ARM_LENGTH)),
    Joint("hand_l", "lower_arm_l", on_arm(WRIST)),
    Joint("fingers_l", "hand_l", on_arm(WRIST + 0.085)),
    Joint("upper_leg_l", "hips", HIP),
    Joint("lower_leg_l", "upper_leg_l", KNEE),
    Joint("foot_l", "lower_leg_l", ANKLE),
    Joint("toes_l", "foot_l", TOES),
];

/// Where each bone runs that moves skin, from one point to another; bones without a child end where the body does.
const BONES: [(&str, [f64; 3], [f64; 3]); 15] = [
    ("hips", [0.0, 0.93, 0.0], [0.0, 1.03, 0.0]),
    ("spine", [0.0, 1.06, -0.005], [0.0, 1.14, -0.01]),
    ("spine_1", [0.0, 1.17, -0.01], [0.0, 1.25, -0.012]),
    ("chest", [0.0, 1.28, -0.012], [0.0, 1.43, -0.015]),
    ("neck", [0.0, 1.475, -0.02], [0.0, 1.53, -0.01]),
    ("head", [0.0, 1.57, 0.0], [0.0, 1.75, 0.0]),
    ("shoulder_l", [0.04, 1.43, -0.01], [0.14, 1.415, -0.015]),
    ("upper_arm_l", SHOULDER, on_arm(UPPER_ARM_LENGTH)),
    ("lower_arm_l", on_arm(UPPER_ARM_LENGTH), on_arm(WRIST)),
    ("hand_l", on_arm(WRIST), on_arm(WRIST + 0.085)),
    ("fingers_l", on_arm(WRIST + 0.085), on_arm(WRIST + 0.2)),
    ("upper_leg_l", [0.09, 0.88, 0.0], KNEE),
    ("lower_leg_l", KNEE, ANKLE),
    ("foot_l", ANKLE, TOES),
    ("toes_l", TOES, [0.09, 0.02, 0.18]),
];

/// The name of the joint on the other side.
pub(super) fn mirrored(name: &str) -> Option<String> {
    name.strip_suffix("_l").map(|stem| format!("{stem}_r"))
}

/// Joints in node order: parents before children, the left ones before the right ones.
pub(super) struct Rig {
    pub(super) nodes: Vec<Node>,
    /// Where each joint rests in the character's space; none is rotated.
    pub(super) places: Vec<Point>,
}

impl Rig {
    pub(super) fn new() -> Self {
        let mut rig = Self {
            nodes: Vec::new(),
            places: Vec::new(),
        };
        for Joint(name, parent, place) in &JOINTS {
            rig.push((*name).to_owned(), parent, Point::from(*place));
        }
        for Joint(name, parent, [x, y, z]) in &JOINTS {
            if let Some(name) = mirrored(name) {
                let parent = mirrored(parent).unwrap_or_else(|| (*parent).to_owned());
                rig.push(name, &parent, Point::new(-x, *y, *z));
            }
        }
        rig
    }

    fn push(&mut self, name: String, parent: &str, place: Point) {
        let parent = self.find(parent);
        let origin = parent.map_or_else(Point::zeros, |parent| self.places[parent]);
        self.nodes.push(Node {
            name: Some(name),
            parent,
            rest: Transform::from_translation((place - origin).cast()),
            ..Node::default()
        });
        self.places.push(place);
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let named = |node: &Node| node.name.as_deref() == Some(name);
        self.nodes.iter().position(named)
    }

    /// One inverse translation a joint.
    pub(super) fn joint_from_bind(&self) -> Vec<Affine> {
        let bind = |place: &Point| Affine::from(Transform::from_translation(-place.cast::<f32>()));
        self.places.iter().map(bind).collect()
    }

    /// Each vertex follows the bones nearest to it: weight ∝ distance⁻⁶, at most four, only those of its own side.
    pub(super) fn influences(&self, positions: &[Vec3], bones: &[&str]) -> Influences {
        let bones: Vec<(u16, f64, Point, Point)> = BONES
            .iter()
            .filter(|(name, ..)| bones.contains(name))
            .flat_map(|(name, from, to)| {
                let bone = |name: &str, side: f64| {
                    let place = |p: &[f64; 3]| {
                        Point::new(if side < 0.0 { -p[0] } else { p[0] }, p[1], p[2])
                    };
                    self.find(name)
                        .map(|joint| (joint as u16, side, place(from), place(to)))
                };
                match mirrored(name) {
                    Some(right) => [bone(name, 1.0), bone(&right, -1.0)],
                    None => [bone(name, 0.0), None],
                }
            })
            .flatten()
            .collect();
        let mut influences = Influences {
            per_vertex: 4,
            ..Influences::default()
        };
        for position in positions {
            let point = position.cast::<f64>();
            let weights = bones.iter().map(|(joint, side, from, to)| {
                let ours = if *side == 0.0 {
                    1.0
                } else {
                    smoothstep(0.5 + side * point.x / 0.05)
                };
                let squared = distance_squared(point, *from, *to).max(1e-6);
                (*joint, ours / (squared * squared * squared))
            });
            push_strongest(weights.collect(), &mut influences);
        }
        influences
    }
}

/// Appends the four greatest weights, normalised; what is below a hundredth of them all is not worth its cost.
pub(super) fn push_strongest(mut weights: Vec<(u16, f64)>, influences: &mut Influences) {
    let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
    weights.retain(|(_, weight)| *weight > 0.01 * all);
    weights.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    weights.truncate(4);
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    weights.resize(4, (0, 0.0));
    for (joint, weight) in weights {
        influences.joints.push(joint);
        influences.weights.push((weight / total) as f32);
    }
}

fn distance_squared(point: Point, from: Point, to: Point) -> f64 {
    let axis = to - from;
    let t = (point - from).dot(&axis) / axis.norm_squared();
    (point - from - axis * t.clamp(0.0, 1.0)).norm_squared()
}
