//! A walker of three joints that goes round in circles of any size, in closed form; shared by tests and benches.
#![allow(dead_code, reason = "the bench uses its own part")]

use std::f32::consts::TAU;

use anim_curves::{Interpolation, Key, Track};
use anim_graph::matching::{FeatureSpec, MatchingClip};
use anim_math::{Quat, Transform, Vec3, quat};
use anim_skeleton::{BakeOptions, Channel, Clip, ClipSpec, JointSpec, JointTrack, Skeleton};

/// Keys a second.
pub(crate) const RATE: f32 = 60.0;

/// Hips a metre up, and two feet.
pub(crate) fn skeleton() -> Skeleton {
    let joint = |name: &str, parent, x, y| JointSpec {
        name: Some(name.to_owned()),
        parent,
        rest: Transform::from_translation(Vec3::new(x, y, 0.0)),
    };
    Skeleton::new(vec![
        joint("hips", None, 0.0, 1.0),
        joint("left foot", Some(0), 0.1, -0.9),
        joint("right foot", Some(0), -0.1, -0.9),
    ])
    .unwrap()
}

pub(crate) fn features() -> FeatureSpec {
    FeatureSpec::biped("hips", "left foot", "right foot")
}

/// How a walker goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    /// m/s.
    pub(crate) speed: f32,
    /// rad/s; positive turns left.
    pub(crate) turn_rate: f32,
    /// s.
    pub(crate) seconds: f32,
    /// Where it starts.
    pub(crate) start: Vec3,
    /// rad.
    pub(crate) heading: f32,
    /// Swings of a foot a second.
    pub(crate) pace: f32,
}

impl Walk {
    pub(crate) fn new(speed: f32, turn_rate: f32, seconds: f32) -> Self {
        Self {
            speed,
            turn_rate,
            seconds,
            start: Vec3::zeros(),
            heading: 0.0,
            pace: 1.5,
        }
    }

    /// Where it has come in `time` s as its start sees it: `[x, z]`, and the turn.
    pub(crate) fn way(&self, time: f32) -> ([f32; 2], f32) {
        let turn = self.turn_rate * time;
        if self.turn_rate == 0.0 {
            return ([0.0, self.speed * time], 0.0);
        }
        let radius = self.speed / self.turn_rate;
        ([radius * (1.0 - turn.cos()), radius * turn.sin()], turn)
    }

    pub(crate) fn clip(&self, skeleton: &Skeleton) -> Clip {
        let frames = (self.seconds * RATE).round() as usize;
        let times = || (0..=frames).map(|frame| frame as f32 / RATE);
        let facing = |turn: f32| quat::from_axis_angle(Vec3::y(), self.heading + turn);
        let hips = |time: f32| {
            let ([x, z], _) = self.way(time);
            self.start + facing(0.0) * Vec3::new(x, 0.0, z) + Vec3::y()
        };
        let foot = |side: f32| {
            move |time: f32| {
                let swing = (TAU * self.pace * time).sin() * side;
                Vec3::new(0.1 * side, -0.9, 0.3 * swing)
            }
        };
        let moved = |joint, track| Channel {
            joint,
            track: JointTrack::Translation(track),
        };
        let turns: Vec<Key<Quat>> = times()
            .map(|time| Key::new(time, facing(self.way(time).1)))
            .collect();
        let spec = ClipSpec {
            channels: vec![
                moved(0, linear(times(), hips)),
                moved(1, linear(times(), foot(1.0))),
                moved(2, linear(times(), foot(-1.0))),
                Channel {
                    joint: 0,
                    track: JointTrack::Rotation(Track::new(turns, Interpolation::Linear).unwrap()),
                },
            ],
            ..ClipSpec::default()
        };
        let exact = BakeOptions {
            tolerance: 1e-5,
            max_rate: RATE,
            ..BakeOptions::default()
        };
        Clip::bake(&spec, skeleton, &exact).unwrap().0
    }
}

fn linear(times: impl Iterator<Item = f32>, at: impl Fn(f32) -> Vec3) -> Track<Vec3> {
    let keys = times.map(|time| Key::new(time, at(time))).collect();
    Track::new(keys, Interpolation::Linear).unwrap()
}

/// A clip for a database, without tags.
pub(crate) fn once<'a>(name: &'a str, clip: &'a Clip) -> MatchingClip<'a> {
    MatchingClip {
        name,
        clip,
        tags: 0,
        looping: false,
    }
}
