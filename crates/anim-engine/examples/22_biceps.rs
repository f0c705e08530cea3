//! A muscle that curls an arm and bulges its skin: `cargo run --example 22_biceps [PICTURE.png]`.
//!
//! Nobody keys the elbow: the nerve excites the biceps, its force turns the forearm against gravity, the belly thickens as
//! it shortens, and the skin follows. Above is what is seen, below what is under it.

mod common;

use std::f32::consts::PI;
use std::sync::Arc;

use anim_engine::asset::builtin;
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::sim::muscle::{Belly, BellySpec, Curves, MuscleSpec};
use anim_engine::skeleton::{JointId, Pose};
use anim_engine::{
    Actor, ActorId, ActorLayer, Character, CharacterMuscle, Config, Deform, Engine, LayerSource,
    MuscleOptions, Stage,
};
use anim_view::plot::{Plot, Series};
use anim_view::{Camera, Canvas, Image, Style, sheet};
use common::{
    BLUE, ORANGE, Outcome, announce, bone, caption, draw, draw_triangles, stacked, write,
};

const FPS: u32 = 60;
const FRAMES: u32 = 180;
/// When pictures are taken, frames.
const SHOWN: [u32; 6] = [0, 25, 40, 60, 110, 170];
/// Steps of skeleton and muscle in a frame: each turns the elbow by what the one before pulled.
const SUBSTEPS: u32 = 16;
const STEP: f32 = 1.0 / (FPS * SUBSTEPS) as f32;
/// Of forearm and hand about the elbow, kg·m².
const INERTIA: f64 = 0.07;
/// Mass times gravity times distance of the centre of mass, N·m.
const WEIGHT: f64 = 1.6 * 9.81 * 0.16;
/// Friction of the joint and the antagonists, N·m·s.
const DAMPING: f64 = 0.5;
/// Length of the upper arm, m.
const UPPER: f32 = 0.3;
const SKIN: [f32; 3] = [0.55, 0.32, 0.20];
const FLESH: [f32; 3] = [0.50, 0.05, 0.04];
const TENDON: [f32; 3] = [0.75, 0.72, 0.60];
const BONE: [f32; 3] = [0.80, 0.78, 0.70];

fn main() -> Outcome {
    let mut arm = Arm::new()?;
    let at_rest = arm.radius()?;
    let mut volume_error = 0.0_f64;
    let mut rows: [Vec<Image>; 2] = Default::default();
    let mut labels = Vec::new();
    let mut curves: [Vec<[f32; 2]>; 3] = Default::default();
    let mut thickest = (0.0, 0.0);
    for frame in 0..=FRAMES {
        if frame > 0 {
            arm.step(excitation(frame))?;
        }
        let belly = arm.belly()?;
        let error = arm.actor()?.muscles()[0].volume_error(arm.muscle()?);
        volume_error = volume_error.max(error.abs());
        let radius = arm.radius()?;
        if radius > thickest.0 {
            thickest = (radius, arm.angle);
        }
        let time = frame as f32 / FPS as f32;
        let activation = arm.actor()?.muscles()[0].activation();
        curves[0].push([time, activation as f32]);
        curves[1].push([time, (arm.angle / 2.0) as f32]);
        curves[2].push([time, (radius / at_rest - 1.0) as f32]);
        if SHOWN.contains(&frame) {
            rows[0].push(arm.picture(None)?);
            rows[1].push(arm.picture(Some(&belly))?);
            let degrees = arm.angle.to_degrees();
            labels.push(format!("{time:.2} s: {degrees:.0} degrees"));
        }
    }
    let line = format!(
        "the belly swells from {:.1} to {:.1} mm at {:.0} degrees; its volume is off by {volume_error:.1e} at most",
        1e3 * at_rest,
        1e3 * thickest.0,
        thickest.1.to_degrees(),
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
fn excitation(frame: u32) -> f32 {
    match frame {
        0..15 => 0.02,
        15..110 => 0.35,
        _ => 0.04,
    }
}

/// An arm that hangs down, its elbow at the origin.
struct Arm {
    engine: Engine,
    id: ActorId,
    elbow: JointId,
    pose: Pose,
    /// Of the elbow, rad and rad/s.
    angle: f64,
    speed: f64,
}

impl Arm {
    fn new() -> Outcome<Self> {
        let character = Character::from_document(&builtin::arm(), &Default::default())?
            .with_deformer(Deform::DualQuaternion)?;
        let upper = character.joint_named("upper_arm")?;
        let elbow = character.joint_named("lower_arm")?;
        let (max_force, optimal_length) = (620.0, 0.14);
        let volume = optimal_length * max_force / 250e3;
        let [origin, insertion] = [Vec3::new(0.0, 0.03, -0.012), Vec3::new(0.0, 0.032, -0.014)];
        let character = character.with_muscle(MuscleOptions {
            muscle: MuscleSpec {
                max_force,
                optimal_length,
                tendon_length: 0.15,
                curves: Curves::Smooth,
                ..MuscleSpec::default()
            },
            belly: Some(BellySpec {
                volume,
                origin_tendon: 0.35,
            }),
            reach: 0.035,
            ..MuscleOptions::between("biceps", (upper, origin), (elbow, insertion))
        })?;
        let pose = character.skeleton().rest().clone();
        let mut engine = Engine::new(Config {
            sim_dt: STEP,
            ..Config::default()
        })?;
        let id = engine.spawn(Arc::new(character));
        let mut arm = Self {
            engine,
            id,
            pose,
            elbow,
            angle: 0.1,
            speed: 0.0,
        };
        // The built-in arm grows along +y from its shoulder.
        if let Some(actor) = arm.engine.actor_mut(arm.id) {
            actor.placement = Affine::from(Transform {
                translation: Vec3::y() * UPPER,
                ..Transform::from_rotation(quat::from_axis_angle(Vec3::x(), PI))
            });
        }
        arm.show(0.0);
        arm.engine.run(Stage::Skin, 0.0);
        Ok(arm)
    }

    fn actor(&self) -> Outcome<&Actor> {
        Ok(self.engine.actor(self.id).ok_or("it is never removed")?)
    }

    /// Poses the elbow and lets the muscle follow for `dt`, s.
    fn show(&mut self, dt: f32) {
        let turned = quat::from_axis_angle(-Vec3::x(), self.angle as f32);
        self.pose.set_rotation(self.elbow, turned);
        if let Some(actor) = self.engine.actor_mut(self.id) {
            let live = LayerSource::Live(self.pose.clone());
            actor.layers = vec![ActorLayer::new(live)];
        }
        for stage in [Stage::Animate, Stage::Ik, Stage::Simulate] {
            self.engine.run(stage, dt);
        }
    }

    /// One frame: the torque of muscle and gravity turns the elbow.
    fn step(&mut self, excitation: f32) -> Outcome {
        for _ in 0..SUBSTEPS {
            let muscle = &self.actor()?.muscles()[0];
            let elbow = Vec3::y() * UPPER;
            let arm = muscle
                .route()
                .moment_arm(elbow, -Vec3::x(), |bone| bone == 1);
            let mut torque =
                muscle.force() * arm - WEIGHT * self.angle.sin() - DAMPING * self.speed;
            // Bone on bone.
            torque -= 80.0 * (self.angle - self.angle.clamp(0.0, 2.0));
            self.speed += torque / INERTIA * f64::from(STEP);
            self.angle += self.speed * f64::from(STEP);
            if let Some(actor) = self.engine.actor_mut(self.id) {
                actor.excitations[0] = excitation;
            }
            self.show(STEP);
        }
        self.engine.run(Stage::Skin, 0.0);
        Ok(())
    }

    fn muscle(&self) -> Outcome<&CharacterMuscle> {
        Ok(&self.actor()?.character().muscles()[0])
    }

    /// Of the belly where it is thickest, m.
    fn radius(&self) -> Outcome<f64> {
        let belly = self.muscle()?.belly().ok_or("it has one")?;
        Ok(belly.radius(self.actor()?.muscles()[0].flesh_length()))
    }

    /// The surface of the belly, world space.
    fn belly(&self) -> Outcome<Vec<Vec3>> {
        let actor = self.actor()?;
        let mut surface = Vec::new();
        actor.muscles()[0].belly_surface(self.muscle()?, 16, 16, &mut surface);
        let world_from_model = actor.world_from_model();
        let places = surface.iter();
        Ok(places
            .map(|p| world_from_model.transform_point(*p))
            .collect())
    }

    /// The skin, or what is under it.
    fn picture(&self, belly: Option<&[Vec3]>) -> Outcome<Image> {
        let (low, high) = (Vec3::new(-0.06, -0.42, -0.07), Vec3::new(0.06, 0.31, 0.42));
        let camera = Camera::framing(low, high, PI / 2.0 + 0.25, 0.05, 0.75);
        let mut canvas = Canvas::new(210, 280, 2)?;
        let actor = self.actor()?;
        let Some(belly) = belly else {
            draw(&mut canvas, &camera, actor);
            return Ok(canvas.finish());
        };
        let muscle = self.muscle()?;
        let place = |bone: usize, point: Vec3| {
            let joint = muscle.joints()[bone];
            actor.world_from_joint(joint).transform_point(point)
        };
        for (bone_index, along) in [(0, [0.02, UPPER]), (1, [0.01, 0.24])] {
            let ends = along.map(|y| place(bone_index, Vec3::new(0.0, y, 0.008)));
            bone(&mut canvas, &camera, ends, 0.011, BONE);
        }
        let points = &muscle.path().spec().points;
        let [origin, insertion] = [0, 1].map(|end| place(points[end].bone, points[end].point));
        let poles = [belly[0], belly[belly.len() - 1]];
        bone(&mut canvas, &camera, [origin, poles[0]], 0.004, TENDON);
        bone(&mut canvas, &camera, [poles[1], insertion], 0.004, TENDON);
        let triangles = Belly::triangles(16, 16);
        draw_triangles(&mut canvas, &camera, belly, &triangles, FLESH);
        let film = Style {
            color: SKIN,
            opacity: 0.3,
            ..Style::default()
        };
        let surface = &actor.surfaces()[0];
        let world_from_model = actor.world_from_model();
        let vertices = (0..surface.len()).map(|v| surface.position(v));
        let skin: Vec<Vec3> = vertices
            .map(|p| world_from_model.transform_point(p))
            .collect();
        let triangles = actor.character().surfaces()[0].mesh.triangles();
        canvas.mesh(&camera, &skin, &[], triangles, &film);
        Ok(canvas.finish())
    }
}
