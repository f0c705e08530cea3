//! What the humanoid looks like: seven solids, each with its colour, its grid and the bones that move it.

use anim_math::nalgebra::Vector3;

use super::rig::{ANKLE, HIP, KNEE, LOWER_ARM_LENGTH, Rig, UPPER_ARM_LENGTH, on_arm};
use super::surface::{Limb, Solid, triangulate};
use crate::Primitive;

/// A solid and how it becomes a primitive.
struct Part {
    solid: Solid,
    /// Half its width, and its extent along y and z, metres.
    bounds: (f64, [f64; 2], [f64; 2]),
    /// Size of a grid cell, metres.
    cell: f64,
    /// Linear RGB.
    color: [f32; 3],
    bones: &'static [&'static str],
}

pub(super) fn body(rig: &Rig) -> Vec<Primitive> {
    let parts = [shirt(), trousers(), shoes(), head(), hair(), eyes(), arms()];
    let primitive = |part: Part| {
        let (half_width, y, z) = part.bounds;
        let mesh = triangulate(&part.solid, half_width, y, z, part.cell);
        let influences = rig.influences(&mesh.rest.positions, part.bones);
        Primitive {
            mesh,
            influences: Some(influences),
            targets: Vec::new(),
            color: part.color,
        }
    };
    parts.into_iter().map(primitive).collect()
}

const SKIN: [f32; 3] = [0.61, 0.33, 0.21];

fn limb(from: [f64; 3], to: [f64; 3], radii: [f64; 2], blend: f64) -> Limb {
    Limb {
        from,
        to,
        radii,
        squash: [1.0; 2],
        blend,
        flat: false,
    }
}

impl Limb {
    fn squashed(self, x: f64, z: f64) -> Self {
        Self {
            squash: [x, z],
            ..self
        }
    }

    fn cut_flat(self) -> Self {
        Self { flat: true, ..self }
    }
}

/// The torso's trunk, which the cape must stay outside of, too.
pub(super) fn shirt_solid() -> Solid {
    Solid {
        limbs: vec![
            limb([0.0, 1.10, -0.005], [0.0, 0.935, 0.0], [0.137, 0.172], 0.0)
                .squashed(1.0, 0.74)
                .cut_flat(),
            limb(
                [0.0, 1.10, -0.005],
                [0.0, 1.31, -0.012],
                [0.137, 0.163],
                0.05,
            )
            .squashed(1.0, 0.70),
            // Breast, shoulder blades and the line of the shoulders.
            limb(
                [0.062, 1.295, 0.03],
                [0.07, 1.32, 0.03],
                [0.075, 0.08],
                0.06,
            ),
            limb([0.07, 1.34, -0.05], [0.08, 1.30, -0.05], [0.07, 0.07], 0.06),
            limb(
                [0.0, 1.425, -0.022],
                [0.152, 1.402, -0.016],
                [0.074, 0.064],
                0.07,
            ),
            limb(
                [0.0, 1.40, -0.02],
                [0.0, 1.492, -0.018],
                [0.075, 0.064],
                0.05,
            )
            .cut_flat(),
            limb(on_arm(0.0), on_arm(0.175), [0.064, 0.055], 0.035).cut_flat(),
        ],
        cut: None,
    }
}

fn shirt() -> Part {
    Part {
        solid: shirt_solid(),
        bounds: (0.42, [0.88, 1.56], [-0.20, 0.20]),
        cell: 0.0285,
        color: [0.035, 0.14, 0.34],
        bones: &[
            "hips",
            "spine",
            "spine_1",
            "chest",
            "neck",
            "shoulder_l",
            "upper_arm_l",
        ],
    }
}

fn trousers() -> Part {
    let ankle = [ANKLE[0], 0.075, ANKLE[2] + 0.002];
    Part {
        solid: Solid {
            limbs: vec![
                limb(
                    [0.0, 1.01, -0.002],
                    [0.0, 0.92, -0.002],
                    [0.142, 0.150],
                    0.0,
                )
                .squashed(1.0, 0.70),
                limb(
                    [0.066, 0.915, -0.036],
                    [0.07, 0.885, -0.038],
                    [0.082, 0.085],
                    0.05,
                ),
                limb([HIP[0] - 0.002, 0.90, 0.004], KNEE, [0.089, 0.062], 0.04),
                limb(KNEE, ankle, [0.062, 0.054], 0.02).cut_flat(),
                limb(
                    [KNEE[0] + 0.002, 0.40, -0.018],
                    [KNEE[0], 0.30, -0.016],
                    [0.052, 0.045],
                    0.04,
                ),
            ],
            cut: None,
        },
        bounds: (0.22, [0.03, 1.22], [-0.17, 0.15]),
        cell: 0.031,
        color: [0.075, 0.062, 0.05],
        bones: &["hips", "upper_leg_l", "lower_leg_l"],
    }
}

fn shoes() -> Part {
    Part {
        solid: Solid {
            limbs: vec![
                limb(
                    [0.09, 0.036, -0.045],
                    [0.093, 0.026, 0.095],
                    [0.043, 0.046],
                    0.0,
                ),
                limb(
                    [0.093, 0.026, 0.09],
                    [0.092, 0.018, 0.145],
                    [0.046, 0.036],
                    0.02,
                ),
                limb(
                    [0.09, 0.05, -0.02],
                    [0.091, 0.04, 0.06],
                    [0.046, 0.036],
                    0.03,
                ),
                limb(
                    [0.09, 0.04, -0.022],
                    [0.09, 0.118, -0.012],
                    [0.046, 0.045],
                    0.02,
                )
                .cut_flat(),
            ],
            cut: Some(([0.0, 1.0, 0.0], 0.0)),
        },
        bounds: (0.16, [-0.06, 0.18], [-0.13, 0.22]),
        cell: 0.0185,
        color: [0.16, 0.07, 0.03],
        bones: &["lower_leg_l", "foot_l", "toes_l"],
    }
}

const CRANIUM: [f64; 3] = [0.0, 1.648, -0.012];

fn head() -> Part {
    Part {
        solid: Solid {
            limbs: vec![
                limb(
                    [0.0, 1.42, -0.022],
                    [0.0, 1.56, -0.016],
                    [0.052, 0.047],
                    0.0,
                ),
                limb(CRANIUM, [0.0, 1.652, 0.004], [0.094, 0.090], 0.02).squashed(0.86, 1.0),
                limb(
                    [0.0, 1.645, 0.020],
                    [0.0, 1.590, 0.036],
                    [0.076, 0.056],
                    0.03,
                )
                .squashed(0.84, 1.0),
                // Chin, jaw, brows, nose and ears.
                limb(
                    [0.0, 1.566, 0.058],
                    [0.0, 1.558, 0.062],
                    [0.031, 0.027],
                    0.04,
                ),
                limb(
                    [0.036, 1.592, 0.002],
                    [0.016, 1.563, 0.045],
                    [0.028, 0.024],
                    0.03,
                ),
                limb(
                    [0.014, 1.668, 0.083],
                    [0.046, 1.665, 0.068],
                    [0.012, 0.009],
                    0.02,
                ),
                limb(
                    [0.0, 1.650, 0.092],
                    [0.0, 1.615, 0.110],
                    [0.010, 0.0155],
                    0.022,
                ),
                limb(
                    [0.080, 1.642, -0.008],
                    [0.077, 1.614, -0.002],
                    [0.020, 0.014],
                    0.015,
                )
                .squashed(0.6, 1.0),
            ],
            cut: None,
        },
        bounds: (0.12, [1.34, 1.78], [-0.14, 0.16]),
        cell: 0.0145,
        color: SKIN,
        bones: &["chest", "neck", "head"],
    }
}

fn hair() -> Part {
    Part {
        solid: Solid {
            limbs: vec![
                limb(CRANIUM, [0.0, 1.654, 0.010], [0.106, 0.099], 0.0).squashed(0.87, 1.0),
                limb(
                    [0.0, 1.62, -0.045],
                    [0.0, 1.56, -0.05],
                    [0.076, 0.048],
                    0.03,
                ),
                limb(
                    [0.02, 1.715, 0.045],
                    [0.055, 1.695, 0.045],
                    [0.034, 0.028],
                    0.03,
                ),
            ],
            cut: Some(([0.0, 0.66, -0.751], 1.074)),
        },
        bounds: (0.13, [1.46, 1.79], [-0.15, 0.13]),
        cell: 0.0185,
        color: [0.035, 0.016, 0.008],
        bones: &["head"],
    }
}

fn eyes() -> Part {
    Part {
        solid: Solid {
            limbs: vec![limb(
                [0.034, 1.640, 0.086],
                [0.034, 1.640, 0.086],
                [0.0125, 0.0125],
                0.0,
            )],
            cut: None,
        },
        bounds: (0.06, [1.61, 1.67], [0.05, 0.10]),
        cell: 0.0085,
        color: [0.008, 0.008, 0.010],
        bones: &["head"],
    }
}

/// From inside the sleeve to the finger tips; the thumb points forward.
fn arms() -> Part {
    let wrist = UPPER_ARM_LENGTH + LOWER_ARM_LENGTH;
    let beside = |distance: f64, z: f64| {
        let place = Vector3::from(on_arm(distance)) + Vector3::new(0.0, 0.0, z);
        <[f64; 3]>::from(place)
    };
    let finger = |z: f64, length: f64| {
        limb(
            beside(wrist + 0.075, z * 0.9),
            beside(wrist + length, z),
            [0.0125, 0.0095],
            0.025,
        )
    };
    Part {
        solid: Solid {
            limbs: vec![
                limb(on_arm(0.10), on_arm(UPPER_ARM_LENGTH), [0.046, 0.040], 0.0),
                limb(
                    on_arm(UPPER_ARM_LENGTH),
                    on_arm(wrist),
                    [0.041, 0.028],
                    0.02,
                ),
                limb(
                    on_arm(UPPER_ARM_LENGTH + 0.05),
                    on_arm(UPPER_ARM_LENGTH + 0.10),
                    [0.038, 0.034],
                    0.03,
                ),
                limb(
                    beside(wrist, -0.010),
                    beside(wrist + 0.085, -0.022),
                    [0.022, 0.017],
                    0.02,
                ),
                limb(
                    beside(wrist, 0.010),
                    beside(wrist + 0.085, 0.022),
                    [0.022, 0.017],
                    0.02,
                ),
                finger(-0.020, 0.162),
                finger(0.0, 0.178),
                finger(0.019, 0.172),
                limb(
                    beside(wrist + 0.02, 0.022),
                    beside(wrist + 0.085, 0.058),
                    [0.017, 0.0125],
                    0.02,
                ),
            ],
            cut: None,
        },
        bounds: (0.75, [0.90, 1.44], [-0.09, 0.09]),
        cell: 0.0185,
        color: SKIN,
        bones: &["upper_arm_l", "lower_arm_l", "hand_l", "fingers_l"],
    }
}
