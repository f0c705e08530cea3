//! A muscle that curls an arm and bulges its skin: `cargo run --example 22_biceps [PICTURE.png]`.
//!
//! Nobody keys the elbow: the nerve excites the biceps, its force turns the forearm against gravity, the belly thickens as
//! it shortens, and the skin follows. Above is what is seen, below what is under it.

mod common;

use std::f32::consts::PI;

use anim_engine::Character;
use anim_engine::asset::builtin;
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::sim::muscle::{
    Attachment, Belly, BellySpec, Contraction, Curves, Muscle, MuscleSpec, Path, PathSpec, Route,
    SkinBinding,
};
use anim_engine::skeleton::{Globals, JointId, Skeleton};
use anim_engine::skin::{DualPalette, SkinnedMesh};
use anim_view::plot::{Plot, Series};
use anim_view::{Camera, Canvas, Image, Style, sheet};
use common::{BLUE, ORANGE, Outcome, announce, bone, caption, draw_triangles, stacked, write};

const FPS: u32 = 60;
const FRAMES: u32 = 180;
/// When pictures are taken, frames.
const SHOWN: [u32; 6] = [0, 25, 40, 60, 110, 170];
const SUBSTEPS: u32 = 16;
/// Of forearm and hand about the elbow, kg·m².
const INERTIA: f64 = 0.07;
/// Mass times gravity times distance of the centre of mass, N·m.
const WEIGHT: f64 = 1.6 * 9.81 * 0.16;
/// Friction of the joint and the antagonists, N·m·s.
const DAMPING: f64 = 0.5;
const SKIN: [f32; 3] = [0.55, 0.32, 0.20];
const FLESH: [f32; 3] = [0.50, 0.05, 0.04];
const TENDON: [f32; 3] = [0.75, 0.72, 0.60];
const BONE: [f32; 3] = [0.80, 0.78, 0.70];

fn main() -> Outcome {
    let mut arm = Arm::new()?;
    let at_rest = arm.radius();
    let mut volume_error = 0.0_f64;
    let mut rows: [Vec<Image>; 2] = Default::default();
    let mut labels = Vec::new();
    let mut curves: [Vec<[f32; 2]>; 3] = Default::default();
    let mut thickest = (0.0, 0.0, 0.0_f32);
    for frame in 0..=FRAMES {
        if frame > 0 {
            arm.step(excitation(frame), 1.0 / f64::from(FPS));
        }
        let surface = arm.belly_surface();
        let volume = volume(&surface, &Belly::triangles(16, 16));
        volume_error = volume_error.max((volume / arm.belly.spec().volume - 1.0).abs());
        let (skin, bulge) = arm.skin();
        if arm.radius() > thickest.0 {
            thickest = (arm.radius(), arm.angle, bulge);
        }
        let time = frame as f32 / FPS as f32;
        curves[0].push([time, arm.activation as f32]);
        curves[1].push([time, (arm.angle / 2.0) as f32]);
        curves[2].push([time, (arm.radius() / at_rest - 1.0) as f32]);
        if SHOWN.contains(&frame) {
            rows[0].push(arm.picture(&skin, None)?);
            rows[1].push(arm.picture(&skin, Some(&surface))?);
            labels.push(format!(
                "{time:.2} s: {:.0} degrees",
                arm.angle.to_degrees()
            ));
        }
    }
    let line = format!(
        "the belly swells from {:.1} to {:.1} mm at {:.0} degrees and lifts the skin by {:.1} mm; its volume is off by {volume_error:.1e} at most",
        1e3 * at_rest,
        1e3 * thickest.0,
        thickest.1.to_degrees(),
        1e3 * thickest.2,
    );
    announce(&line);
    let [above, below] = rows.map(|row| sheet(&row, &labels, row.len()));
    let series = |label, points, color| Series {
        label,
        points,
        color,
    };
    let plot = Plot {
        title: "one muscle",
        x_label: "s",
        y_label: "",
        series: &[
            series("activation", &curves[0], ORANGE),
            series("elbow, of 115 degrees", &curves[1], BLUE),
            series("belly, thicker by", &curves[2], FLESH),
        ],
    };
    let plot = plot.draw(above.width, 220)?;
    let heading = caption(above.width, &line);
    write("22_biceps", &stacked(&[heading, above, below, plot]))
}

/// Curl, hold, let down.
fn excitation(frame: u32) -> f64 {
    match frame {
        0..15 => 0.02,
        15..110 => 0.35,
        _ => 0.04,
    }
}

/// An arm that hangs down, its elbow at the origin.
struct Arm {
    mesh: SkinnedMesh,
    skeleton: Skeleton,
    elbow: JointId,
    muscle: Muscle,
    path: Path,
    belly: Belly,
    binding: SkinBinding,
    route: Route,
    activation: f64,
    contraction: Contraction,
    /// Of the elbow, rad and rad/s.
    angle: f64,
    speed: f64,
}

impl Arm {
    fn new() -> Outcome<Self> {
        let document = builtin::arm();
        let skeleton = document.skeleton()?;
        let character = Character::from_document(&document, &Default::default())?;
        let elbow = character.joint_named("lower_arm")?;
        let at = |bone, y, z| Attachment {
            bone,
            point: Vec3::new(0.0, y, z),
        };
        let (max_force, optimal_length) = (620.0, 0.14);
        let mut arm = Self {
            mesh: character.surfaces()[0].mesh.clone(),
            skeleton,
            elbow,
            muscle: Muscle::new(MuscleSpec {
                max_force,
                optimal_length,
                tendon_length: 0.15,
                curves: Curves::Smooth,
                ..MuscleSpec::default()
            })?,
            path: Path::new(PathSpec {
                points: vec![at(0, 0.27, 0.012), at(1, -0.032, 0.014)],
                wraps: vec![],
            })?,
            belly: Belly::new(BellySpec {
                volume: optimal_length * max_force / 250e3,
                origin_tendon: 0.35,
            })?,
            binding: Default::default(),
            route: Route::default(),
            activation: 0.0,
            contraction: Contraction::default(),
            angle: 0.1,
            speed: 0.0,
        };
        arm.pull();
        let (skin, _) = arm.skin();
        arm.binding = arm.belly.bind(&arm.route, arm.flesh(), &skin, 0.035);
        Ok(arm)
    }

    /// World from upper arm and from forearm; both hang along −y at angle 0, and the forearm swings to +z.
    fn bones(&self) -> [Affine; 2] {
        let turned = quat::from_axis_angle(-Vec3::x(), self.angle as f32);
        let forearm = Affine::from(Transform::from_rotation(turned));
        [Affine::IDENTITY, forearm]
    }

    /// Contracts, and returns the torque about the elbow, N·m.
    fn pull(&mut self) -> f64 {
        self.path.follow(&self.bones(), &mut self.route);
        let arm = self
            .route
            .moment_arm(Vec3::zeros(), -Vec3::x(), |bone| bone == 1);
        let stretching = -arm * self.speed;
        self.contraction = self
            .muscle
            .contract(self.route.length(), stretching, self.activation);
        self.contraction.force * arm
    }

    fn step(&mut self, excitation: f64, dt: f64) {
        let dt = dt / f64::from(SUBSTEPS);
        let dynamics = self.muscle.spec().activation;
        for _ in 0..SUBSTEPS {
            self.activation = dynamics.advance(self.activation, excitation, dt);
            let mut torque = self.pull() - WEIGHT * self.angle.sin() - DAMPING * self.speed;
            // Bone on bone.
            torque -= 80.0 * (self.angle - self.angle.clamp(0.0, 2.0));
            self.speed += torque / INERTIA * dt;
            self.angle += self.speed * dt;
        }
    }

    /// Length of the belly, m.
    fn flesh(&self) -> f64 {
        self.contraction.fiber_length * self.contraction.cosine
    }

    /// Of the belly where it is thickest, m.
    fn radius(&self) -> f64 {
        self.belly.radius(self.flesh())
    }

    fn belly_surface(&self) -> Vec<Vec3> {
        let mut surface = Vec::new();
        self.belly
            .surface(&self.route, self.flesh(), 16, 16, &mut surface);
        surface
    }

    /// The skin in the world, and how far the muscle lifts it, m.
    fn skin(&self) -> (Vec<Vec3>, f32) {
        let mut pose = self.skeleton.rest().clone();
        pose.set_rotation(
            self.elbow,
            quat::from_axis_angle(-Vec3::x(), self.angle as f32),
        );
        let mut globals = Globals::new(&self.skeleton);
        self.skeleton.globals(&pose, &mut globals);
        let mut palette = self.mesh.palette_buffer();
        self.mesh.palette(&globals, &mut palette);
        let mut motions = DualPalette::new(palette.len());
        self.mesh.dual_palette(&palette, &mut motions);
        let mut posed = self.mesh.rest().clone();
        self.mesh
            .dual_quaternion(self.mesh.rest(), &motions, &mut posed);
        // The built-in arm grows along +y from its shoulder.
        let world_from_arm = Affine::from(Transform {
            translation: Vec3::y() * 0.3,
            ..Transform::from_rotation(quat::from_axis_angle(Vec3::x(), PI))
        });
        let mut skin: Vec<Vec3> = (0..posed.len())
            .map(|vertex| world_from_arm.transform_point(posed.position(vertex)))
            .collect();
        let flat = skin.clone();
        self.belly
            .bulge(&self.binding, &self.route, self.flesh(), &mut skin);
        let lifted = skin.iter().zip(&flat).map(|(a, b)| (a - b).norm());
        let lifted = lifted.fold(0.0, f32::max);
        (skin, lifted)
    }

    /// The skin, or what is under it.
    fn picture(&self, skin: &[Vec3], belly: Option<&[Vec3]>) -> Outcome<Image> {
        let low = Vec3::new(-0.06, -0.42, -0.07);
        let camera = Camera::framing(
            low,
            Vec3::new(0.06, 0.31, 0.42),
            PI / 2.0 + 0.25,
            0.05,
            0.75,
        );
        let mut canvas = Canvas::new(210, 280, 2)?;
        let Some(belly) = belly else {
            draw_triangles(&mut canvas, &camera, skin, self.mesh.triangles(), SKIN);
            return Ok(canvas.finish());
        };
        let bones = self.bones();
        let place = |bone: usize, y: f32| bones[bone].transform_point(Vec3::new(0.0, y, -0.008));
        for ends in [
            [place(0, 0.28), place(0, 0.0)],
            [place(1, -0.01), place(1, -0.24)],
        ] {
            bone(&mut canvas, &camera, ends, 0.011, BONE);
        }
        let [origin, insertion] = [0, 1].map(|n| {
            let end = self.path.spec().points[n];
            bones[end.bone].transform_point(end.point)
        });
        let poles = [belly[0], belly[belly.len() - 1]];
        bone(&mut canvas, &camera, [origin, poles[0]], 0.004, TENDON);
        bone(&mut canvas, &camera, [poles[1], insertion], 0.004, TENDON);
        draw_triangles(
            &mut canvas,
            &camera,
            belly,
            &Belly::triangles(16, 16),
            FLESH,
        );
        let film = Style {
            color: SKIN,
            opacity: 0.3,
            ..Style::default()
        };
        canvas.mesh(&camera, skin, &[], self.mesh.triangles(), &film);
        Ok(canvas.finish())
    }
}

/// What a closed mesh holds, m³.
fn volume(points: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let corner = |v: u32| (points[v as usize] - points[0]).cast::<f64>();
    let six_times = |[a, b, c]: &[u32; 3]| corner(*a).dot(&corner(*b).cross(&corner(*c)));
    triangles.iter().map(six_times).sum::<f64>() / 6.0
}
