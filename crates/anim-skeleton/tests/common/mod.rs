//! A human of 60 joints that moves, and random numbers to make more; shared by tests and benches.
#![allow(dead_code, reason = "each test binary uses its own part")]

use anim_curves::{Interpolation, Key, Track};
use anim_math::{Quat, Transform, Vec3, quat};
use anim_skeleton::{Channel, ClipSpec, Globals, JointSpec, JointTrack, Skeleton};

/// Counter-based random numbers (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// In [-1, 1).
    pub(crate) fn signed(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    pub(crate) fn vector(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }

    /// Up to about a turn.
    pub(crate) fn rotation(&mut self) -> Quat {
        quat::exp(self.vector() * 3.5)
    }
}

/// `count` joints: a spine of six, four limbs of five, the rest in fingers of four; depth about ten.
pub(crate) fn human(count: usize) -> Vec<JointSpec> {
    let parent = |joint: usize| match joint {
        0 => None,
        1..=5 => Some(joint - 1),
        6 | 11 => Some(0),
        16 | 21 => Some(4),
        7..=25 => Some(joint - 1),
        _ if (joint - 26).is_multiple_of(4) => Some(if joint % 8 < 4 { 20 } else { 25 }),
        _ => Some(joint - 1),
    };
    let mut random = Random(60);
    (0..count)
        .map(|joint| JointSpec {
            name: Some(format!("joint {joint}")),
            parent: parent(joint),
            rest: Transform {
                translation: Vec3::new(0.02, 0.14, 0.0) + random.vector() * 0.03,
                rotation: quat::exp(random.vector() * 0.2),
                scale: Vec3::new(1.0, 1.0, 1.0),
            },
        })
        .collect()
}

/// Every joint turns by three sinusoids and some noise, the hips travel; linear keys.
pub(crate) fn motion(count: usize, seconds: f32, rate: f32) -> ClipSpec {
    let mut random = Random(301);
    let frames = (seconds * rate) as usize + 1;
    let time = |frame: usize| frame as f32 / rate;
    let turn = |joint| {
        let waves =
            [0.5, 0.2, 0.08].map(|size| (random.vector() * size, 1.0 + random.signed() * 0.5));
        let mut value = |time: f32| {
            let mut sum = random.vector() * 0.0005;
            for (octave, (axis, pace)) in waves.iter().enumerate() {
                sum +=
                    axis * (std::f32::consts::TAU * pace * (octave + 1) as f32 * 0.4 * time).sin();
            }
            quat::exp(sum)
        };
        let keys = (0..frames)
            .map(|f| Key::new(time(f), value(time(f))))
            .collect();
        Channel {
            joint,
            track: JointTrack::Rotation(Track::new(keys, Interpolation::Linear).unwrap()),
        }
    };
    let mut channels: Vec<_> = (0..count).map(turn).collect();
    let hips = |time: f32| Vec3::new(0.0, 0.9 + 0.03 * (9.0 * time).sin(), 1.2 * time);
    let keys = (0..frames)
        .map(|f| Key::new(time(f), hips(time(f))))
        .collect();
    channels.push(Channel {
        joint: 0,
        track: JointTrack::Translation(Track::new(keys, Interpolation::Linear).unwrap()),
    });
    ClipSpec {
        channels,
        ..ClipSpec::default()
    }
}

pub(crate) fn synth60() -> (Skeleton, ClipSpec) {
    (Skeleton::new(human(60)).unwrap(), motion(60, 10.0, 30.0))
}

/// Joints with random parents before or behind them, any scale, mirrored or not.
pub(crate) fn random_joints(count: usize, random: &mut Random) -> Vec<JointSpec> {
    let mut order: Vec<_> = (0..count).collect();
    for place in (1..count).rev() {
        order.swap(place, random.below(place + 1));
    }
    let mut joints = vec![None; count];
    for (place, joint) in order.iter().enumerate() {
        let parent = random.below(place + 1);
        joints[*joint] = Some(JointSpec {
            name: None,
            parent: (parent < place).then(|| order[parent]),
            rest: Transform {
                translation: random.vector(),
                rotation: random.rotation(),
                scale: random.vector() + Vec3::new(0.1, 0.1, 0.1),
            },
        });
    }
    joints.into_iter().flatten().collect()
}

/// All numbers of all matrices, to the bit.
pub(crate) fn bits(globals: &Globals) -> Vec<u32> {
    let slots = globals.slots().iter();
    slots
        .flat_map(|slot| slot.0.map(|row| row.map(f32::to_bits)))
        .flatten()
        .collect()
}
