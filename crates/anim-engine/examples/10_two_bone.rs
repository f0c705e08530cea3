//! A leg of two bones and its target: poles, and three ways to meet a target out of reach: `cargo run --example 10_two_bone
//! [PICTURE.png]`.
//!
//! The curves below show why softness is there: a hard knee snaps straight in the last centimetre, infinitely fast.

mod common;

use anim_engine::ik::{TwoBone, TwoBoneGoal};
use anim_engine::math::{Transform, Vec3};
use anim_engine::skeleton::{Globals, JointSpec, Pose, Skeleton};
use anim_view::plot::{Plot, Series};
use anim_view::{Canvas, Image, sheet};
use common::{BLUE, INK, ORANGE, Outcome, announce, bone, camera, caption, floor, stacked, write};

const CELL: [u32; 2] = [236, 250];
const SKIN: [f32; 3] = [0.45, 0.40, 0.34];
const GREEN: [f32; 3] = [0.05, 0.38, 0.10];
const HIP: Vec3 = Vec3::new(0.0, 1.1, 0.0);
/// A target per column, so far from the hip; the leg is a metre long.
const DISTANCES: [f32; 4] = [0.80, 0.96, 1.04, 1.20];

fn main() -> Outcome {
    let mut leg = Leg::new()?;

    let sides = [("ahead", Vec3::z()), ("to the left", Vec3::x())];
    let sides = sides
        .into_iter()
        .chain([("to the right", -Vec3::x()), ("behind", -Vec3::z())]);
    let (mut frames, mut labels) = (Vec::new(), Vec::new());
    for (name, side) in sides {
        let pole = HIP + side * 0.65 - Vec3::y() * 0.35;
        let goal = TwoBoneGoal {
            pole: Some(pole),
            ..TwoBoneGoal::new(HIP + Vec3::new(0.0, -0.75, 0.05))
        };
        leg.reach(&goal);
        frames.push(leg.picture(&goal, 0.7)?);
        labels.push(format!("pole {name}"));
    }
    let poles = sheet(&frames, &labels, frames.len());

    let ways = [("hard", 0.0, 1.0, ORANGE), ("soft", 0.1, 1.0, BLUE)];
    let ways = ways
        .into_iter()
        .chain([("soft with stretch", 0.1, 1.15, GREEN)]);
    let (mut frames, mut labels, mut curves) = (Vec::new(), Vec::new(), Vec::new());
    for (name, softness, stretch, color) in ways {
        let goal = |distance: f32| TwoBoneGoal {
            softness,
            stretch,
            ..TwoBoneGoal::new(HIP + Vec3::new(0.0, -0.8, 0.6) * distance)
        };
        for distance in DISTANCES {
            let residual = leg.reach(&goal(distance));
            announce(&format!(
                "{name}, target at {distance:.2} m: {:.1} mm away, knee at {:.0} degrees",
                residual * 1e3,
                leg.knee()
            ));
            frames.push(leg.picture(&goal(distance), 1.35)?);
            labels.push(format!(
                "{name}, {distance:.2} m: {:.0} mm away",
                residual * 1e3
            ));
        }
        let curve: Vec<[f32; 2]> = (0..=250)
            .map(|n| 0.75 + 0.002 * n as f32)
            .map(|distance| {
                leg.reach(&goal(distance));
                [distance, leg.knee()]
            })
            .collect();
        // Stretch lengthens the bones of a soft leg and leaves its angles.
        if stretch <= 1.0 {
            curves.push((name, curve, color));
        }
    }
    let reaches = sheet(&frames, &labels, DISTANCES.len());

    let series: Vec<Series> = curves
        .iter()
        .map(|(label, points, color)| Series {
            label,
            points,
            color: *color,
        })
        .collect();
    let plot = Plot {
        title: "how far the knee is bent, with stretch or without",
        x_label: "distance of the target from the hip, m",
        y_label: "degrees",
        series: &series,
    };
    let width = reaches.width;
    write(
        "10_two_bone",
        &stacked(&[
            caption(width, "the knee (orange) bends toward the pole (blue)"),
            poles,
            caption(
                width,
                "a target (green) that goes out of the reach of the leg",
            ),
            reaches,
            plot.draw(width, 300)?,
        ]),
    )
}

/// A hip, a knee and an ankle, always solved from rest.
struct Leg {
    skeleton: Skeleton,
    limb: TwoBone,
    pose: Pose,
    globals: Globals,
}

impl Leg {
    fn new() -> Outcome<Self> {
        let joint = |parent, at| JointSpec {
            name: None,
            parent,
            rest: Transform::from_translation(at),
        };
        // The slight bend at rest says which way a knee goes.
        let skeleton = Skeleton::new(vec![
            joint(None, HIP),
            joint(Some(0), Vec3::new(0.0, -0.499, 0.03)),
            joint(Some(1), Vec3::new(0.0, -0.499, -0.03)),
        ])?;
        Ok(Self {
            limb: TwoBone::new(&skeleton, skeleton.joint(2))?,
            pose: skeleton.rest().clone(),
            globals: Globals::new(&skeleton),
            skeleton,
        })
    }

    /// What is left to the target, m.
    fn reach(&mut self, goal: &TwoBoneGoal) -> f32 {
        self.pose = self.skeleton.rest().clone();
        self.skeleton.globals(&self.pose, &mut self.globals);
        let (pose, globals) = (&mut self.pose, &mut self.globals);
        self.limb
            .solve(&self.skeleton, goal, pose, globals)
            .residual
    }

    fn places(&self) -> [Vec3; 3] {
        let limb = [self.limb.root, self.limb.mid, self.limb.end];
        limb.map(|joint| self.globals.get(joint).translation)
    }

    /// How far the knee is bent, degrees.
    fn knee(&self) -> f32 {
        let [hip, knee, ankle] = self.places();
        (knee - hip).angle(&(ankle - knee)).to_degrees()
    }

    fn picture(&self, goal: &TwoBoneGoal, yaw: f32) -> Outcome<Image> {
        let aspect = CELL[0] as f32 / CELL[1] as f32;
        let middle = Vec3::new(0.0, 0.58, 0.2);
        let camera = camera(middle, Vec3::new(0.4, 0.62, 0.5), yaw, 0.15, aspect);
        let mut canvas: Canvas = floor(CELL[0], CELL[1], &camera, 2.0)?;
        let [hip, knee, ankle] = self.places();
        bone(&mut canvas, &camera, [hip, knee], 0.05, SKIN);
        bone(&mut canvas, &camera, [knee, ankle], 0.04, SKIN);
        bone(&mut canvas, &camera, [knee, knee], 0.058, ORANGE);
        bone(
            &mut canvas,
            &camera,
            [goal.target, goal.target],
            0.05,
            GREEN,
        );
        canvas.line(&camera, ankle, goal.target, INK, 2.0);
        if let Some(pole) = goal.pole {
            bone(&mut canvas, &camera, [pole, pole], 0.035, BLUE);
            canvas.line(&camera, knee, pole, BLUE, 1.5);
        }
        Ok(canvas.finish())
    }
}
