//! Scenes in which cloth must not pass through itself, and the judge that counts where it does.

use anim_geom::{Collider, Shape, intersect};
use anim_math::{Affine, Transform, Vec3, quat};
use anim_sim::cloth::{self, ClothSpec};
use anim_sim::{Drive, Model, Outcome, SelfContact, SimError, Solver, State, Xpbd};

/// n × n vertices over a square metre at a height, scaled.
pub(crate) struct Sheet {
    /// Vertices along a side.
    pub(crate) n: u32,
    /// Length of a side, m.
    pub(crate) size: f32,
    /// Its lower corner.
    pub(crate) corner: Vec3,
    /// Upright in x and y rather than level in x and z.
    pub(crate) upright: bool,
}

/// What a scene does to the world at a frame: pins and colliders.
type World = dyn Fn(u32) -> (Vec<(u32, Vec3)>, Vec<Collider>);

/// A model and its world.
pub(crate) struct Scene {
    /// Its name.
    pub(crate) name: &'static str,
    /// The body.
    pub(crate) model: Model,
    /// Substeps a frame.
    pub(crate) substeps: u32,
    /// Pins and colliders at the end of a frame.
    pub(crate) world: Box<World>,
}

/// What the judge has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Verdict {
    /// Frames with triangles that meet.
    pub(crate) crossed_frames: u32,
    /// The most pairs of triangles that met in a frame.
    pub(crate) most_crossed: usize,
    /// Particles inside colliders, over all frames.
    pub(crate) inside: u32,
    /// The deepest of them, m.
    pub(crate) depth: f32,
    /// Greatest stretch of an edge.
    pub(crate) stretch: f32,
    /// Particles slowed, over all frames.
    pub(crate) slowed: u32,
    /// Particles pinched, over all frames.
    pub(crate) pinched: u32,
    /// Root mean square of the speed at the end, m/s.
    pub(crate) speed: f32,
    /// Everything stayed finite.
    pub(crate) is_finite: bool,
}

/// Positions and triangles of some sheets.
pub(crate) fn sheets(parts: &[Sheet]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for part in parts {
        let (n, first) = (part.n, positions.len() as u32);
        let at = |i: u32| part.size * i as f32 / (n - 1) as f32;
        positions.extend((0..n * n).map(|v| {
            let (x, y) = (at(v % n), at(v / n));
            part.corner
                + if part.upright {
                    Vec3::new(x, -y, 0.0)
                } else {
                    Vec3::new(x, 0.0, y)
                }
        }));
        triangles.extend(
            (0..n * n)
                .filter(|v| v % n != n - 1 && v / n != n - 1)
                .flat_map(|v| [[v, v + n, v + 1], [v + 1, v + n, v + n + 1]])
                .map(|t| t.map(|v| v + first)),
        );
    }
    (positions, triangles)
}

/// Cloth with self-contact.
pub(crate) fn cloth(parts: &[Sheet], pinned: Vec<u32>) -> ClothSpec {
    let (positions, triangles) = sheets(parts);
    ClothSpec {
        positions,
        triangles,
        pinned,
        self_contact: Some(SelfContact::default()),
        ..ClothSpec::default()
    }
}

/// A sphere somewhere.
pub(crate) fn ball(center: Vec3, radius: f32) -> Collider {
    let mut ball = Collider::new(
        Shape::Sphere { radius },
        Affine {
            translation: center,
            ..Affine::IDENTITY
        },
    );
    ball.friction = 0.5;
    ball
}

/// The ground at a height.
pub(crate) fn floor(height: f32) -> Collider {
    let mut floor = Collider::new(
        Shape::Plane,
        Affine {
            translation: Vec3::y() * height,
            ..Affine::IDENTITY
        },
    );
    floor.friction = 0.5;
    floor
}

/// A capsule from one point to another.
pub(crate) fn capsule(from: Vec3, to: Vec3, radius: f32) -> Collider {
    let axis = to - from;
    let rotation = quat::between(Vec3::y(), axis.normalize());
    let mut capsule = Collider::new(
        Shape::Capsule {
            radius,
            half_length: axis.norm() * 0.5,
        },
        Affine::from(Transform {
            translation: (from + to) * 0.5,
            rotation,
            ..Transform::IDENTITY
        }),
    );
    capsule.friction = 0.3;
    capsule
}

fn still(_: u32) -> Vec<(u32, Vec3)> {
    Vec::new()
}

/// A ball flies into a hanging sheet at 100 m/s, stops a little behind where it hung, and is gone after a second, again and
/// again.
pub(crate) fn shot(n: u32, radius: f32) -> Result<Scene, SimError> {
    let sheet = Sheet {
        n,
        size: 1.0,
        corner: Vec3::new(-0.5, 0.5, 0.0),
        upright: true,
    };
    Ok(Scene {
        name: "a ball shot at a sheet",
        model: cloth::build(&cloth(&[sheet], (0..n).collect()))?,
        substeps: 20,
        world: Box::new(move |frame| {
            let phase = frame % 120;
            // 100 m/s is 5/3 m a frame.
            let z = (-8.0 + phase as f32 * (5.0 / 3.0)).min(0.3);
            let colliders = if phase < 60 {
                vec![ball(Vec3::new(0.03, 0.0, z), radius)]
            } else {
                Vec::new()
            };
            (still(frame), colliders)
        }),
    })
}

/// A sheet held at two ends that turn against each other and back.
pub(crate) fn wrung(n: u32) -> Result<Scene, SimError> {
    let sheet = Sheet {
        n,
        size: 1.0,
        corner: Vec3::new(-0.5, 0.5, 0.0),
        upright: true,
    };
    let (top, bottom): (Vec<u32>, Vec<u32>) = ((0..n).collect(), (n * (n - 1)..n * n).collect());
    let pinned: Vec<u32> = top.iter().chain(&bottom).copied().collect();
    let mut spec = cloth(&[sheet], pinned.clone());
    // A strip, so that the corners can turn about each other without tearing it.
    for p in &mut spec.positions {
        p.x *= 0.3;
    }
    let rest = spec.positions.clone();
    let spec = ClothSpec {
        max_stretch: f32::INFINITY,
        ..spec
    };
    Ok(Scene {
        name: "a sheet wrung",
        model: cloth::build(&spec)?,
        substeps: 20,
        world: Box::new(move |frame| {
            // Two turns in four seconds, and back.
            let phase = (frame % 480) as f32 / 240.0;
            let turn = if phase < 1.0 { phase } else { 2.0 - phase } * 6.0;
            let pins = pinned.iter().map(|v| {
                let p = rest[*v as usize];
                let sign = if p.y > 0.0 { 1.0 } else { -1.0 };
                let closer = 0.12 * turn.min(1.0);
                let rotation = quat::from_axis_angle(Vec3::y(), sign * turn);
                (*v, rotation * Vec3::new(p.x, p.y - sign * closer, p.z))
            });
            (pins.collect(), Vec::new())
        }),
    })
}

/// Five sheets dropped on each other on a ball and the floor.
pub(crate) fn stacked(n: u32) -> Result<Scene, SimError> {
    let parts: Vec<Sheet> = (0..5)
        .map(|i| Sheet {
            n,
            size: 0.8,
            corner: Vec3::new(
                -0.4 + 0.02 * i as f32,
                0.05 + 0.03 * i as f32,
                -0.4 - 0.015 * i as f32,
            ),
            upright: false,
        })
        .collect();
    Ok(Scene {
        name: "five sheets dropped",
        model: cloth::build(&cloth(&parts, Vec::new()))?,
        substeps: 20,
        world: Box::new(|frame| {
            (
                still(frame),
                vec![ball(Vec3::new(0.0, -0.25, 0.0), 0.25), floor(-0.5)],
            )
        }),
    })
}

/// A cape on a body of capsules that runs, jumps and turns.
pub(crate) fn cape(n: u32) -> Result<Scene, SimError> {
    let sheet = Sheet {
        n,
        size: 0.9,
        corner: Vec3::new(-0.25, 1.5, -0.17),
        upright: true,
    };
    let mut spec = cloth(&[sheet], (0..n).collect());
    for p in &mut spec.positions {
        p.x = -0.25 + (p.x + 0.25) * 0.5 / 0.9;
    }
    let rest = spec.positions.clone();
    Ok(Scene {
        name: "a cape on a runner",
        model: cloth::build(&spec)?,
        substeps: 20,
        world: Box::new(move |frame| {
            let t = frame as f32 / 60.0;
            let turn = 2.0 * libm::sinf(0.9 * t) + 0.8 * libm::sinf(2.3 * t);
            let jump = 0.25 * libm::fabsf(libm::sinf(4.0 * t)) + 0.05 * libm::sinf(12.0 * t);
            let heading = quat::from_axis_angle(Vec3::y(), turn);
            let lean = heading * quat::from_axis_angle(Vec3::x(), 0.25 * libm::sinf(1.7 * t));
            let center = Vec3::new(3.0 * libm::sinf(0.5 * t), jump, 3.0 * libm::cosf(0.35 * t));
            let place = |p: Vec3| center + lean * p;
            let stride = 0.5 * libm::sinf(9.0 * t);
            let colliders = vec![
                capsule(
                    place(Vec3::new(0.0, 1.0, 0.0)),
                    place(Vec3::new(0.0, 1.4, 0.0)),
                    0.15,
                ),
                capsule(
                    place(Vec3::new(-0.2, 1.42, 0.0)),
                    place(Vec3::new(-0.35, 1.0, -stride * 0.6)),
                    0.05,
                ),
                capsule(
                    place(Vec3::new(0.2, 1.42, 0.0)),
                    place(Vec3::new(0.35, 1.0, stride * 0.6)),
                    0.05,
                ),
                capsule(
                    place(Vec3::new(-0.1, 0.95, 0.0)),
                    place(Vec3::new(-0.12, 0.4, stride)),
                    0.08,
                ),
                capsule(
                    place(Vec3::new(0.1, 0.95, 0.0)),
                    place(Vec3::new(0.12, 0.4, -stride)),
                    0.08,
                ),
            ];
            (
                (0..n).map(|v| (v, place(rest[v as usize]))).collect(),
                colliders,
            )
        }),
    })
}

/// Runs a scene and judges every frame.
///
/// # Errors
///
/// What [`intersect::self_intersections`] says of a broken mesh.
pub(crate) fn judge(
    scene: &Scene,
    frames: u32,
    mut watch: impl FnMut(u32, &State, Outcome, usize),
) -> Result<Verdict, anim_geom::GeomError> {
    let model = &scene.model;
    let mut state = State::new(model);
    let (pins, mut previous) = (scene.world)(0);
    // The first frame moves the scene as a whole at most.
    if let Some((v, place)) = pins.first() {
        let shift = place - state.positions[*v as usize];
        state.positions.iter_mut().for_each(|p| *p += shift);
    }
    let mut solver = Xpbd::new(model, scene.substeps);
    let mut verdict = Verdict {
        is_finite: true,
        ..Verdict::default()
    };
    for frame in 1..=frames {
        let (pins, colliders) = (scene.world)(frame);
        let drive = Drive {
            pins: &pins,
            colliders: &colliders,
            previous_colliders: &previous,
            ..Drive::default()
        };
        let outcome = solver.step(model, &drive, 1.0 / 60.0, &mut state);
        verdict.slowed += outcome.slowed;
        verdict.pinched += outcome.pinched;
        verdict.is_finite &= state.is_finite();
        let crossed =
            intersect::self_intersections(&state.positions, &model.spec().triangles)?.len();
        verdict.crossed_frames += u32::from(crossed > 0);
        verdict.most_crossed = verdict.most_crossed.max(crossed);
        for (v, position) in state.positions.iter().enumerate() {
            if model.spec().inverse_masses[v] == 0.0 {
                continue;
            }
            for collider in &colliders {
                let distance = collider.contact(*position).distance;
                if distance < 0.0 {
                    verdict.inside += 1;
                    verdict.depth = verdict.depth.max(-distance);
                }
            }
        }
        for link in model
            .spec()
            .links
            .iter()
            .filter(|link| link.compliance < 1e-3)
        {
            let [a, b] = link.vertices.map(|v| state.positions[v as usize]);
            verdict.stretch = verdict.stretch.max((a - b).norm() / link.rest_length - 1.0);
        }
        watch(frame, &state, outcome, crossed);
        previous = colliders;
    }
    let squares: f32 = state.velocities.iter().map(|v| v.norm_squared()).sum();
    verdict.speed = (squares / state.velocities.len() as f32).sqrt();
    Ok(verdict)
}
