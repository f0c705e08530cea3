//! Levels of detail: what is not simulated hangs and sways, and nothing pops where one level goes over into another.

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Transform, Vec3, quat};
use anim_sim::hair::{
    HairDrive, HairLevel, HairLod, HairLodSolver, HairLodSpec, HairLodState, HairSpec,
};

use crate::FRAME;

/// 24 guides and 40 strands of 20 cm that go up and out, on four levels.
fn lod(change: impl Fn(&mut HairLodSpec)) -> HairLod {
    let strand = |count: usize| {
        move |i: usize| {
            let turn = i as f32 * 2.4;
            let out = 0.05 * (i as f32 / count as f32).sqrt();
            let root = Vec3::new(out * libm::cosf(turn), 0.0, out * libm::sinf(turn));
            let along = |k: u8| {
                let s = 0.0125 * f32::from(k);
                root + root * (8.0 * s) + Vec3::new(0.0, s - 4.0 * s * s, 0.3 * s * s)
            };
            (0..=16).map(along).collect::<Vec<_>>()
        }
    };
    let level = |guides, segments, pixels| HairLevel {
        guides,
        segments,
        pixels,
    };
    let mut spec = HairLodSpec {
        hair: HairSpec {
            guides: (0..24).map(strand(24)).collect(),
            ..HairSpec::default()
        },
        followers: (0..40).map(strand(40)).collect(),
        levels: vec![
            level(24, 16, 300.0),
            level(8, 8, 100.0),
            level(1, 1, 20.0),
            level(0, 1, 0.0),
        ],
        ..HairLodSpec::default()
    };
    change(&mut spec);
    HairLod::new(&spec).unwrap()
}

struct Run<'a> {
    lod: &'a HairLod,
    state: HairLodState,
    solver: HairLodSolver,
    frame: u16,
}

impl<'a> Run<'a> {
    fn new(lod: &'a HairLod) -> Self {
        Self {
            lod,
            state: HairLodState::new(lod),
            solver: HairLodSolver::new(lod),
            frame: 0,
        }
    }

    /// A head that turns by up to 10 rad/s and bobs, in wind.
    fn head(frame: u16) -> Transform {
        let time = f32::from(frame) * FRAME;
        let turned = quat::from_axis_angle(Vec3::y(), 1.2 * libm::sinf(8.0 * time));
        let nodding = quat::from_axis_angle(Vec3::x(), 0.4 * libm::sinf(11.0 * time));
        Transform {
            translation: Vec3::y() * (0.05 * libm::sinf(13.0 * time)),
            ..Transform::from_rotation(turned * nodding)
        }
    }

    fn step(&mut self, level: usize) -> anim_sim::Outcome {
        let drive = HairDrive {
            previous_world_from_root: Self::head(self.frame),
            world_from_root: Self::head(self.frame + 1),
            wind: Vec3::new(3.0, 0.0, 1.0),
            ..HairDrive::default()
        };
        self.frame += 1;
        let state = &mut self.state;
        self.solver.step_at(self.lod, &drive, level, FRAME, state)
    }

    fn place(&mut self) -> Vec<Vec3> {
        let mut positions = vec![Vec3::zeros(); self.lod.followers().vertex_count()];
        self.solver.place(self.lod, &self.state, &mut positions);
        positions
    }

    /// The strands as a level alone has them.
    fn alone(&mut self, level: usize) -> Vec<Vec3> {
        let alone = HairLodState {
            level,
            fading: None,
            ..self.state.clone()
        };
        let mut positions = vec![Vec3::zeros(); self.lod.followers().vertex_count()];
        self.solver.place(self.lod, &alone, &mut positions);
        positions
    }
}

/// The greatest error of a strand's length, m.
fn stretch(lod: &HairLod, positions: &[Vec3]) -> f32 {
    let strands = (0..lod.followers().len()).map(|strand| lod.followers().strand(strand));
    let errors = strands.map(|strand| {
        let length = |points: &[Vec3]| -> f32 {
            let pairs = points.windows(2);
            pairs.map(|pair| (pair[1] - pair[0]).norm()).sum()
        };
        let groom = &lod.followers().groom()[strand.clone()];
        (length(groom) - length(&positions[strand])).abs()
    });
    errors.fold(0.0, f32::max)
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    let ways = a.iter().zip(b).map(|(a, b)| (a - b).norm());
    ways.fold(0.0, f32::max)
}

#[test]
fn hair_without_guides_is_not_stepped_and_leans_and_sways_at_full_length() {
    let lod = lod(|_| ());
    assert!(lod.is_simulated(2) && !lod.is_simulated(3));
    let mut run = Run::new(&lod);
    let hanging = run.alone(3);
    let before = run.state.states.clone();
    let (mut least, mut most) = (f32::MAX, 0.0_f32);
    let mut last: Option<Vec<Vec3>> = None;
    for frame in 0..180 {
        let outcome = run.step(3);
        assert_eq!(outcome.iterations, 0);
        let now = run.place();
        // Each of the 16 segments ends within some roundings of 0.2 m, 1.5e-8 m.
        assert!(stretch(&lod, &now) < 1e-6, "{}", stretch(&lod, &now));
        if let Some(last) = &last {
            // Turns of 10 rad/s move the lean of 0.2 m tips by 3 cm at most.
            assert!(farthest(&now, last) < 0.033, "{}", farthest(&now, last));
        }
        last = Some(now.clone());
        if frame > 60 {
            let lean = farthest(&now, &hanging);
            (least, most) = (least.min(lean), most.max(lean));
        }
    }
    assert_eq!(run.state.states, before);
    // Drag of 2/s in 3.2 m/s against gravity and hold of 10 m/s² each: a quarter of a radian at the tip, half of that on
    // the average, of what is up to 0.17 m long and partly along the wind.
    assert!(least > 0.003 && most < 0.022, "{least} {most}");
    assert!(most - least > 0.002, "it sways: {least} {most}");
    for strand in 0..lod.followers().len() {
        let first = lod.followers().strand(strand).start;
        assert_eq!(run.place()[first], lod.followers().groom()[first]);
    }
}

#[test]
fn hair_without_guides_is_rigid_where_nothing_moves_the_air() {
    let lod = lod(|_| ());
    let mut run = Run::new(&lod);
    let hanging = run.alone(3);
    for frame in 0..30_u8 {
        let at =
            |frame: f32| Transform::from_rotation(quat::from_axis_angle(Vec3::z(), frame * 0.1));
        let drive = HairDrive {
            previous_world_from_root: at(f32::from(frame)),
            world_from_root: at(f32::from(frame) + 1.0),
            ..HairDrive::default()
        };
        run.solver.step_at(&lod, &drive, 3, FRAME, &mut run.state);
        assert_eq!(run.place(), hanging);
    }
}

#[test]
fn hair_that_is_not_simulated_hangs_as_the_level_before_comes_to_rest() {
    let ball = Affine::from(Transform::from_translation(Vec3::new(0.0, -0.12, 0.0)));
    let ball = Collider::new(Shape::Sphere { radius: 0.115 }, ball);
    let lod = lod(|spec| {
        spec.hair.groom_gravity = Vec3::zeros();
        spec.hair.hold = 1.0;
        spec.colliders = vec![ball.clone()];
        spec.levels[2].guides = 6;
        spec.levels[2].segments = 8;
    });
    let mut run = Run::new(&lod);
    let drive = HairDrive {
        colliders: std::slice::from_ref(&ball),
        previous_colliders: std::slice::from_ref(&ball),
        ..HairDrive::default()
    };
    for _ in 0..400 {
        run.solver.step_at(&lod, &drive, 2, FRAME, &mut run.state);
    }
    let [simulated, hanging] = [2, 3].map(|level| run.alone(level));
    let groom = lod.followers().groom();
    assert!(farthest(&simulated, groom) > 0.05, "it sags");
    // The end of a damped fall: e^-10 of the way; friction may hold it somewhat earlier.
    let off = farthest(&simulated, &hanging);
    assert!(off < 0.01, "{off}");
}

#[test]
fn a_switch_moves_no_point_farther_than_the_levels_do_and_the_stated_length() {
    let fade = HairLodSpec::default().fade;
    let lod = lod(|_| ());
    for (from, to) in [
        (0, 1),
        (1, 0),
        (1, 2),
        (2, 1),
        (2, 3),
        (3, 2),
        (0, 3),
        (3, 0),
    ] {
        let mut run = Run::new(&lod);
        for _ in 0..40 {
            run.step(from);
        }
        let mut last = run.place();
        let mut parts = [last.clone(), last.clone()];
        let (mut worst, mut frames) = (f32::MIN, 0);
        loop {
            run.step(to);
            let now = run.place();
            let alone = [from, to].map(|level| run.alone(level));
            for strand in (0..lod.followers().len()).map(|strand| lod.followers().strand(strand)) {
                let mut apart = 0.0;
                for point in strand.start + 1..strand.end {
                    let [a, b] = [0, 1].map(|k| alone[k][point] - alone[k][point - 1]);
                    apart += (a - b).norm();
                    let moved = (now[point] - last[point]).norm();
                    let move_of = |k: usize| (alone[k][point] - parts[k][point]).norm();
                    let granted = move_of(0).max(move_of(1)) + 2.0 * FRAME / fade * apart;
                    worst = worst.max(moved - granted);
                }
            }
            assert!(stretch(&lod, &now) < 1e-6);
            (last, parts) = (now, alone);
            frames += 1;
            if run.state.fading().is_none() {
                break;
            }
        }
        assert!((14..=16).contains(&frames), "{frames}");
        // Some roundings of 0.2 m.
        assert!(worst < 1e-7, "{from} to {to}: {worst} m too far");
    }
}

#[test]
fn a_level_goes_on_with_the_velocity_of_hair_that_is_not_simulated() {
    let lod = lod(|_| ());
    for to in [0, 1, 2] {
        let mut run = Run::new(&lod);
        for _ in 0..40 {
            run.step(3);
        }
        // What hangs moves in the world as its root does, and so does the new level, but for what a frame of forces changes:
        // some g dt² of 3 mm, and the bends that fewer segments do not have. At rest it would stay behind all the way.
        let place = |run: &mut Run<'_>, level: usize| {
            let head = Affine::from(Run::head(run.frame));
            let points = run.alone(level);
            points
                .iter()
                .map(|p| head.transform_point(*p))
                .collect::<Vec<_>>()
        };
        let before = place(&mut run, 3);
        run.step(to);
        let [old, new] = [3, to].map(|level| place(&mut run, level));
        let moved = farthest(&old, &before);
        assert!(moved > 0.015, "{moved}");
        let off = farthest(&old, &new);
        assert!(off < 0.5 * moved, "{to}: {off} of {moved}");
    }
}

#[test]
fn a_run_through_all_levels_goes_on_from_a_kept_state_to_the_bit() {
    let lod = lod(|_| ());
    let level = |frame: u16| [0, 3, 2, 3, 1][usize::from(frame) / 12];
    let mut whole = Run::new(&lod);
    let mut kept = None;
    let mut places = Vec::new();
    for frame in 0..60 {
        if frame == 29 {
            kept = Some(whole.state.clone());
        }
        whole.step(level(frame));
        places.push(whole.place());
    }
    let mut rest = Run::new(&lod);
    rest.state = kept.unwrap();
    rest.frame = 29;
    for frame in 29..60 {
        rest.step(level(frame));
        assert_eq!(rest.place(), places[usize::from(frame)]);
    }
    assert_eq!(rest.state, whole.state);
}

#[test]
fn a_reset_hangs_what_is_not_simulated() {
    let lod = lod(|_| ());
    let mut run = Run::new(&lod);
    for _ in 0..20 {
        run.step(3);
    }
    run.state.reset(&lod);
    assert_eq!(run.state.states, HairLodState::new(&lod).states);
    assert_eq!(run.state.sway, HairLodState::new(&lod).sway);
}
