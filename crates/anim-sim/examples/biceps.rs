//! A forearm that biceps and triceps curl and let down, by activation alone.
//!
//! Prints a line a frame: time, elbow angle, what both muscles do, and the thickness of the biceps, whose volume stays.
//! Run it with `cargo run -p anim-sim --example biceps`.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use anim_math::{Affine, Transform, Vec3, quat};
use anim_sim::SimError;
use anim_sim::muscle::{
    Attachment, Belly, BellySpec, Contraction, Curves, Muscle, MuscleSpec, Path, PathSpec, Route,
    Turn, Wrap, WrapShape,
};

/// The upper arm, which stands still with the elbow at its origin and +y up.
const UPPER: usize = 0;
/// The forearm, which hangs along −y at angle 0 and swings forward, to +z.
const FOREARM: usize = 1;
/// Of forearm and hand about the elbow, kg·m².
const INERTIA: f64 = 0.07;
/// Mass times gravity times distance of the center of mass, N·m.
const WEIGHT: f64 = 1.6 * 9.81 * 0.16;
/// How far the elbow opens and closes, rad, before bone and ligament stop it.
const RANGE: [f64; 2] = [0.0, 2.5];
const SUBSTEPS: u32 = 16;

/// A muscle on its path.
struct Actuator {
    muscle: Muscle,
    path: Path,
    route: Route,
    activation: f64,
    contraction: Contraction,
}

impl Actuator {
    fn new(muscle: MuscleSpec, path: PathSpec) -> Result<Self, SimError> {
        Ok(Self {
            muscle: Muscle::new(muscle)?,
            path: Path::new(path)?,
            route: Route::default(),
            activation: 0.0,
            contraction: Contraction::default(),
        })
    }

    /// Contracts for `dt`, s, and returns the torque about the elbow, N·m.
    fn torque(&mut self, bones: &[Affine], speed: f64, excitation: f64, dt: f64) -> f64 {
        let dynamics = self.muscle.spec().activation;
        self.activation = dynamics.advance(self.activation, excitation, dt);
        self.path.follow(bones, &mut self.route);
        let flexion = -Vec3::x();
        let is_forearm = |bone| bone == FOREARM;
        let arm = self.route.moment_arm(Vec3::zeros(), flexion, is_forearm);
        let length = self.route.length();
        self.contraction = self.muscle.contract(length, -arm * speed, self.activation);
        self.contraction.force * arm
    }
}

fn main() -> Result<(), SimError> {
    let at = |bone, y, z| Attachment {
        bone,
        point: Vec3::new(0.0, y, z),
    };
    let biceps = PathSpec {
        points: vec![at(UPPER, 0.29, 0.02), at(FOREARM, -0.045, 0.012)],
        wraps: vec![],
    };
    let trochlea = Wrap {
        strand: 0,
        bone: UPPER,
        shape: WrapShape::Cylinder,
        center: Vec3::zeros(),
        axis: Vec3::x(),
        radius: 0.018,
        turn: Turn::Clockwise,
    };
    let triceps = PathSpec {
        points: vec![at(UPPER, 0.25, -0.02), at(FOREARM, 0.02, -0.022)],
        wraps: vec![trochlea],
    };
    let spec = |max_force, optimal_length, tendon_length| MuscleSpec {
        max_force,
        optimal_length,
        tendon_length,
        curves: Curves::Smooth,
        ..MuscleSpec::default()
    };
    let mut biceps = Actuator::new(spec(620.0, 0.12, 0.2), biceps)?;
    let mut triceps = Actuator::new(spec(800.0, 0.11, 0.14), triceps)?;
    let belly = Belly::new(BellySpec {
        volume: 0.12 * 620.0 / 250e3,
        origin_tendon: 0.5,
    })?;

    println!("  time  angle  biceps: force  length  radius   volume  triceps: force  length");
    println!("     s    deg              N      cm      cm      cm3               N      cm");
    let (mut angle, mut speed) = (0.3, 0.0);
    let mut surface = Vec::new();
    let triangles = Belly::triangles(16, 12);
    let dt = 1.0 / 60.0 / f64::from(SUBSTEPS);
    for frame in 0..150_u32 {
        // Curl, hold, let down against the triceps.
        let [curl, brake] = match frame {
            0..60 => [0.35, 0.01],
            60..90 => [0.2, 0.02],
            _ => [0.02, 0.04],
        };
        for _ in 0..SUBSTEPS {
            let turned = quat::from_axis_angle(-Vec3::x(), angle as f32);
            let bones = [
                Affine::IDENTITY,
                Affine::from(Transform::from_rotation(turned)),
            ];
            let mut torque = -WEIGHT * libm::sin(angle) - 0.2 * speed;
            torque += biceps.torque(&bones, speed, curl, dt);
            torque += triceps.torque(&bones, speed, brake, dt);
            torque += stop(angle, speed);
            speed += torque / INERTIA * dt;
            angle += speed * dt;
        }
        let flesh = biceps.contraction.fiber_length * biceps.contraction.cosine;
        belly.surface(&biceps.route, flesh, 16, 12, &mut surface);
        println!(
            "{:6.3} {:6.1} {:14.1} {:7.2} {:7.2} {:8.3} {:15.1} {:7.2}",
            f64::from(frame + 1) / 60.0,
            angle.to_degrees(),
            biceps.contraction.force,
            biceps.route.length() * 100.0,
            belly.radius(flesh) * 100.0,
            volume(&surface, &triangles) * 1e6,
            triceps.contraction.force,
            triceps.route.length() * 100.0,
        );
    }
    Ok(())
}

/// What bones and ligaments do at the ends of the range, N·m.
fn stop(angle: f64, speed: f64) -> f64 {
    let beyond = angle - angle.clamp(RANGE[0], RANGE[1]);
    match beyond == 0.0 {
        true => 0.0,
        false => -80.0 * beyond - 2.0 * speed,
    }
}

/// What a closed mesh holds, m³.
fn volume(points: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let corner = |v: u32| (points[v as usize] - points[0]).cast::<f64>();
    let six_times = |[a, b, c]: &[u32; 3]| corner(*a).dot(&corner(*b).cross(&corner(*c)));
    triangles.iter().map(six_times).sum::<f64>() / 6.0
}
