//! Published characters walk over waves and stairs while their feet stand, and hold on to what moves.
#![cfg(feature = "asset")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a broken test should say where"
)]

#[path = "../examples/common/walkers.rs"]
mod walkers;

use anim_engine::Foot;
use anim_engine::ik::{FootLockOptions, FootLockReport, FootMotion, Ground};
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::skeleton::JointId;
use walkers::{FOX, FPS, HUMAN, KNIGHT, OTHER_KNIGHT, TERRAINS, Walk, Walker, data, ground};

/// True if the files of `walker` are there; where they are not, prints so, and fails if `ANIM_REQUIRE_DATA` demands them.
fn is_there(walker: &Walker) -> bool {
    let demanded = std::env::var_os("ANIM_REQUIRE_DATA").is_some_and(|value| value == "1");
    walker.files().all(|file| {
        let found = data(file).is_some();
        assert!(found || !demanded, "no {file}");
        if !found {
            eprintln!("skipped: no {file}");
        }
        found
    })
}

impl Walk {
    fn lock(
        &mut self,
        ground: &dyn Fn(Vec3) -> Option<Ground>,
        round: Option<Affine>,
    ) -> FootLockReport {
        let motion = FootMotion {
            fps: FPS,
            world_from_model: &self.placements,
            round,
            ground,
        };
        let options = FootLockOptions::default();
        self.feet
            .lock(&self.skeleton, &motion, &options, &mut self.poses)
    }

    /// Degrees of each knee, frame by frame.
    fn knees(&self) -> Vec<Vec<f32>> {
        let bend = |foot: &Foot, frame: usize| {
            let globals = self.globals(frame);
            let at = |joint: JointId| globals.get(joint).translation;
            let (thigh, shin) = (
                at(foot.leg.mid) - at(foot.leg.root),
                at(foot.leg.end) - at(foot.leg.mid),
            );
            thigh.angle(&shin).to_degrees()
        };
        let of_foot = |foot| {
            (0..self.poses.len())
                .map(|frame| bend(foot, frame))
                .collect()
        };
        self.feet.feet.iter().map(of_foot).collect()
    }

    /// The farthest that balls move while they stand, of the leg's length.
    fn slide(&self, report: &FootLockReport) -> f32 {
        let mut most = 0.0_f32;
        for (foot, plants) in self.feet.feet.iter().zip(&report.plants) {
            for plant in plants {
                let at = |frame| self.at(frame, foot.toes.unwrap_or(foot.ankle));
                for frame in plant.ball_from..plant.frames.end {
                    most = most.max((at(frame) - at(plant.ball_from)).norm());
                }
            }
        }
        most / self.leg
    }
}

/// The most that a knee moves in a frame beyond what it did before, degrees.
fn pop(before: &[Vec<f32>], after: &[Vec<f32>]) -> f32 {
    let mut most = 0.0_f32;
    for (before, after) in before.iter().zip(after) {
        for (old, new) in before.windows(2).zip(after.windows(2)) {
            most = most.max((new[1] - new[0]).abs() - (old[1] - old[0]).abs());
        }
    }
    most
}

fn feet_stand(walker: &Walker) {
    if !is_there(walker) {
        return;
    }
    for (name, terrain) in TERRAINS {
        let mut walk = Walk::new(walker).unwrap();
        let before = walk.knees();
        let report = walk.lock(&ground(terrain, walk.leg), None);
        let (pop, slide) = (pop(&before, &walk.knees()), walk.slide(&report));
        let counts: Vec<usize> = report.plants.iter().map(Vec::len).collect();
        println!(
            "{} on {name}: {counts:?} plants, slide {:.2} mm of a leg of 1 m, pop {pop:.1} degrees, hips down {:.3}",
            walker.name,
            slide * 1000.0,
            report.drop / walk.leg
        );
        assert!(counts.iter().all(|count| *count >= 2), "{name}: {counts:?}");
        assert!(slide < 0.002, "{name}: {slide}");
        assert!(pop < 15.0, "{name}: {pop} degrees");
    }
}

#[test]
fn a_knight_stands_on_its_feet() {
    feet_stand(&KNIGHT);
    feet_stand(&OTHER_KNIGHT);
}

#[test]
fn a_fox_stands_on_its_paws() {
    feet_stand(&FOX);
}

#[test]
fn a_human_with_the_walk_of_a_knight_stands_on_its_feet() {
    feet_stand(&HUMAN);
}

#[test]
fn a_walk_that_loops_still_does() {
    for walker in [KNIGHT, FOX, HUMAN]
        .iter()
        .filter(|walker| is_there(walker))
    {
        let [mut once, mut often] =
            [1.0, 5.0].map(|rounds| Walk::of_rounds(walker, rounds).unwrap());
        let frames = once.poses.len();
        once.placements = often.placements[..frames].to_vec();
        let level = ground(|_| (0.0, Vec3::y()), once.leg);
        let round = Affine {
            translation: often.placements[frames].translation,
            ..Affine::IDENTITY
        };
        let report = once.lock(&level, Some(round));
        // In the middle of a longer walk the ends do not matter.
        let long = often.lock(&level, None);
        let starts = |plants: &[anim_engine::ik::Plant], from: usize| -> Vec<usize> {
            let starts = plants.iter().map(|plant| plant.frames.start);
            starts
                .filter(|start| (from..from + frames).contains(start))
                .map(|start| start - from)
                .collect()
        };
        for (short, long) in report.plants.iter().zip(&long.plants) {
            assert_eq!(
                starts(short, 0),
                starts(long, 2 * frames),
                "{}",
                walker.name
            );
        }
        for frame in 0..frames {
            let [short, long] = [once.globals(frame), often.globals(2 * frames + frame)];
            for joint in once.skeleton.joints() {
                let apart = (short.get(joint).translation - long.get(joint).translation).norm();
                // Rounding of a walk of some legs' length from the origin, and of the knees that it bends.
                assert!(
                    apart < 1e-3 * once.leg,
                    "{} frame {frame}: {apart}",
                    walker.name
                );
            }
        }
    }
}

/// * `middle`: of the bar, m. * `swing`: how far it goes up, down and aside, m. * `apart`: from the middle to a hand, m.
fn hands_hold(walker: &Walker, middle: Vec3, swing: f32, apart: f32) {
    if !is_there(walker) {
        return;
    }
    for (name, terrain) in TERRAINS {
        let mut walk = Walk::new(walker).unwrap();
        let before = walk.knees();
        let report = walk.lock(&ground(terrain, walk.leg), None);
        let hips =
            |walk: &Walk, frame: usize| walk.globals(frame).get(walk.feet.hips).translation.y;
        let start = hips(&walk, 0);
        let heights: Vec<f32> = (0..walk.poses.len())
            .map(|frame| hips(&walk, frame) - start)
            .collect();
        let bar = |frame: usize| {
            let angle = frame as f32 / 45.0 * std::f32::consts::TAU;
            let way = Vec3::new(
                swing * angle.sin(),
                heights[frame] - swing * angle.cos(),
                0.0,
            );
            Affine::from(Transform {
                translation: middle + way,
                ..Transform::from_rotation(quat::from_axis_angle(Vec3::z(), 0.4 * angle.sin()))
            })
        };
        let off = walk.hold(&bar, apart).unwrap();
        let (pop, slide) = (pop(&before, &walk.knees()), walk.slide(&report));
        println!(
            "{} with a bar on {name}: off by {:.3} mm, slide {:.2} mm of a leg of 1 m, pop {pop:.1} degrees",
            walker.name,
            off * 1e3,
            slide * 1e3
        );
        assert!(off < 1e-3, "{name}: {off} m");
        assert!(slide < 0.002, "{name}: {slide}");
        assert!(pop < 15.0, "{name}: {pop} degrees");
    }
}

#[test]
fn a_human_who_walks_holds_a_moving_bar_with_both_hands() {
    hands_hold(&HUMAN, Vec3::new(0.0, 1.15, 0.35), 0.1, 0.18);
}

#[test]
fn a_knight_who_walks_holds_a_moving_bar_with_both_hands() {
    hands_hold(&KNIGHT, Vec3::new(0.0, 0.85, 0.35), 0.08, 0.18);
}
