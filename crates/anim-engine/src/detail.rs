//! Level of detail: fewer joints, new poses less often and simpler hair for those who are far away.
//!
//! [`Character::detail_error`] tells beforehand what it costs in motion. Clocks, events, root motion and morph weights run
//! every frame whatever the detail, and so do inverse kinematics and drivers.

use anim_skeleton::{
    Globals, Pose, RateReducer, ReductionError, Skeleton, SkeletonLod, point_distance,
};

use crate::Character;

/// How finely an actor is animated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Level of [`Character::levels`]: 0 has all joints; the others follow rigidly, as they rest.
    pub level: usize,
    /// A new pose every so many frames, and the way between them; 0 counts as 1.
    ///
    /// Clips are sampled that many frames ahead, so the pose is in time as long as frames are of one length; live poses
    /// and graphs are that many frames late.
    pub every: u32,
    /// Level of each head of hair, [`HairOptions::levels`](crate::HairOptions::levels): 0 is the finest, and the last serves all
    /// beyond.
    ///
    /// One level fades into the next in a quarter of a second, from its pose and velocity on. The last may be as coarse as one
    /// guide of one segment, which the whole head of hair follows, or have none and hang from its root.
    /// [`HairLod::choose`](anim_sim::hair::HairLod::choose) finds it for a size on the screen.
    pub hair: usize,
}

impl Default for Detail {
    /// All joints, every frame, and the finest hair.
    fn default() -> Self {
        Self {
            level: 0,
            every: 1,
            hair: 0,
        }
    }
}

impl Character {
    /// Sets the levels of detail; without, there is one, with all joints.
    ///
    /// # Panics
    ///
    /// If a level has more joints than the skeleton: it is another's.
    pub fn with_levels(mut self, levels: SkeletonLod) -> Self {
        let is_own = levels.joint_count(0) == self.skeleton.len();
        assert!(is_own, "levels of another skeleton");
        self.levels = levels;
        self
    }

    /// How many joints each level of detail has.
    pub fn levels(&self) -> &SkeletonLod {
        &self.levels
    }

    /// The largest way, in model space, that a detail puts a point off while the clip at a place of
    /// [`clips`](Self::clips) plays once at `fps` frames per second.
    ///
    /// * `shell`: distance from each joint, m, of the points that are compared besides the joint itself.
    ///
    /// The bound holds for frames of that length, whichever of them the actor's first new pose falls on. For tools;
    /// O(`every` × frames × J), a million frames at most. Nothing for a clip that does not exist.
    pub fn detail_error(
        &self,
        clip: usize,
        detail: Detail,
        fps: f32,
        shell: f32,
    ) -> ReductionError {
        let mut worst = ReductionError {
            distance: 0.0,
            joint: None,
            time: 0.0,
        };
        let Some(entry) = self.clips.get(clip) else {
            return worst;
        };
        let clip = &entry.clip;
        let rest = self.skeleton.rest();
        let count = self.levels.joint_count(detail.level);
        let every = detail.every.max(1);
        let coarse = |time: f32, pose: &mut Pose| {
            clip.sample_prefix(count, time, pose);
            rest_from(count, &self.skeleton, pose);
        };
        let (mut exact, mut reduced) = (rest.clone(), rest.clone());
        let mut places = [Globals::new(&self.skeleton), Globals::new(&self.skeleton)];
        let frames = (f64::from(clip.duration()) * f64::from(fps)).clamp(0.0, MOST_FRAMES) as u32;
        let time = |frame: u32| (f64::from(frame) / f64::from(fps)) as f32;
        for start in 0..every.min(frames + 1) {
            coarse(time(start), &mut reduced);
            let mut reducer = RateReducer::new(every, &reduced);
            for frame in start..=frames {
                // Without any delay where each frame has a pose of its own.
                match every {
                    1 => coarse(time(frame), &mut reduced),
                    _ => reducer.update(&mut reduced, |pose| {
                        coarse(time(frame.saturating_add(every)), pose);
                    }),
                }
                clip.sample(time(frame), &mut exact);
                self.skeleton.globals(&exact, &mut places[0]);
                self.skeleton.globals(&reduced, &mut places[1]);
                let slots = places[0].slots().iter().zip(places[1].slots());
                for (joint, (exact, reduced)) in self.skeleton.joints().zip(slots) {
                    let distance = point_distance(exact, reduced, shell);
                    if distance > worst.distance {
                        worst = ReductionError {
                            distance,
                            joint: Some(joint),
                            time: time(frame),
                        };
                    }
                }
            }
        }
        worst
    }
}

/// So that a clip of years ends.
const MOST_FRAMES: f64 = 1e6;

/// Puts the joints from the one at place `count` on to rest.
pub(crate) fn rest_from(count: usize, skeleton: &Skeleton, pose: &mut Pose) {
    for joint in skeleton.joints().skip(count) {
        pose.set(joint, skeleton.rest().get(joint));
    }
}
