//! Finished motion as clips and morph targets, so that any program can play what was solved or simulated here.
//!
//! Poses become linear joint curves ([`clip_of_poses`]). Surfaces that no skeleton explains, such as cloth, become morph
//! targets that follow each other ([`vertex_animation`]): each target is the whole surface at one key frame, so take
//! few keys. Put the targets on a mesh without skin at a node that rests at the origin.
//!
//! ```
//! use anim_asset::baked::clip_of_poses;
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{JointSpec, Skeleton};
//!
//! let joint = JointSpec { name: None, parent: None, rest: Transform::IDENTITY };
//! let skeleton = Skeleton::new(vec![joint])?;
//! let mut poses = vec![skeleton.rest().clone(); 2];
//! poses[1].set_translation(skeleton.joint(0), Vec3::x());
//! let clip = clip_of_poses(Some("slide"), &skeleton, 1.0, &poses);
//! assert_eq!(clip.channels.len(), 1); // rotation and scale rest
//! assert_eq!(clip.duration(), 1.0);
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use anim_curves::{Interpolate, Interpolation, Key, Track, WideTrack, WideTrackSpec};
use anim_geom::Vertices;
use anim_math::{Quat, Vec3};
use anim_skeleton::{Channel, ClipSpec, JointTrack, Pose, Skeleton};
use anim_skin::MorphTarget;

/// A clip of one pose a frame, linear between frames.
///
/// * `fps`: frames a second, above 0. * `poses`: one a frame, the first at time 0, all of `skeleton`.
///
/// What keeps its rest value is left out; what keeps another value has one key. Channels come joint by joint in source
/// order. What is not finite cannot be a curve and is left out.
///
/// # Panics
///
/// If a pose belongs to a skeleton with another number of joints.
pub fn clip_of_poses(
    name: Option<&str>,
    skeleton: &Skeleton,
    fps: f32,
    poses: &[Pose],
) -> ClipSpec {
    assert!(
        poses.iter().all(|pose| pose.len() == skeleton.len()),
        "a pose of another skeleton"
    );
    let mut channels = Vec::new();
    for source in 0..skeleton.len() {
        let joint = skeleton.joint(source);
        let rest = skeleton.rest().get(joint);
        let translations = poses.iter().map(|pose| pose.translation(joint));
        let translation = curve(rest.translation, fps, translations).map(JointTrack::Translation);
        let rotations = on_one_side(poses.iter().map(|pose| pose.rotation(joint)));
        let rotation = curve(rest.rotation, fps, rotations).map(JointTrack::Rotation);
        let scales = poses.iter().map(|pose| pose.scale(joint));
        let scale = curve(rest.scale, fps, scales).map(JointTrack::Scale);
        let tracks = [translation, rotation, scale].into_iter().flatten();
        channels.extend(tracks.map(|track| Channel {
            joint: source,
            track,
        }));
    }
    ClipSpec {
        name: name.map(str::to_owned),
        channels,
        morphs: Vec::new(),
    }
}

/// A deforming surface as morph targets and the curve of their weights.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexAnimation {
    /// One a key frame, relative to the rest surface.
    pub targets: Vec<MorphTarget>,
    /// One weight a target: 1 at its own key, 0 at all others, linear between.
    pub weights: WideTrack,
}

/// The surface at every `every`-th frame and at the last one; between, vertices move straight.
///
/// * `rest`: V vertices of the mesh that carries the targets. * `fps`: frames a second, above 0. * `frames`: V vertices
///   each, the first at time 0, in the space of `rest`; without normals, the rest's stay.
///
/// Takes V × keys displacements and keys² weights; vertices that stay at rest take nothing. `None` without frames, or if
/// `fps` is no frame rate.
///
/// # Panics
///
/// If a frame has another number of vertices.
pub fn vertex_animation(
    rest: &Vertices,
    fps: f32,
    every: usize,
    frames: &[Vertices],
) -> Option<VertexAnimation> {
    let last = frames.len().checked_sub(1)?;
    let keys: Vec<usize> = (0..last).step_by(every.max(1)).chain([last]).collect();
    let targets = keys.iter().map(|frame| target(rest, &frames[*frame]));
    let weights = WideTrack::new(WideTrackSpec {
        width: keys.len(),
        times: keys.iter().map(|frame| *frame as f32 / fps).collect(),
        values: (0..keys.len() * keys.len())
            .map(|i| f32::from(u8::from(i / keys.len() == i % keys.len())))
            .collect(),
        interpolation: Interpolation::Linear,
    });
    Some(VertexAnimation {
        targets: targets.collect(),
        weights: weights.ok()?,
    })
}

fn target(rest: &Vertices, frame: &Vertices) -> MorphTarget {
    let vertex_count = rest.positions.len();
    assert_eq!(
        frame.positions.len(),
        vertex_count,
        "a frame of another mesh"
    );
    let with_normals = frame.normals.len() == vertex_count && rest.normals.len() == vertex_count;
    let mut target = MorphTarget::default();
    for vertex in 0..vertex_count {
        let moved = frame.positions[vertex] - rest.positions[vertex];
        let turned = if with_normals {
            frame.normals[vertex] - rest.normals[vertex]
        } else {
            Vec3::zeros()
        };
        if moved == Vec3::zeros() && turned == Vec3::zeros() {
            continue;
        }
        target.vertices.push(vertex as u32);
        target.positions.push(moved);
        if with_normals {
            target.normals.push(turned);
        }
    }
    target
}

/// One key a frame, one key in all if nothing moves, `None` if nothing leaves `rest`.
fn curve<T: Interpolate>(rest: T, fps: f32, values: impl Iterator<Item = T>) -> Option<Track<T>> {
    let time = |frame: usize| frame as f32 / fps;
    let mut keys: Vec<Key<T>> = values
        .enumerate()
        .map(|(frame, value)| Key::new(time(frame), value))
        .collect();
    let first = keys.first()?.value;
    if keys.iter().all(|key| key.value == first) {
        if first == rest {
            return None;
        }
        keys.truncate(1);
    }
    Track::new(keys, Interpolation::Linear).ok()
}

/// Flips signs so that each quaternion is on the side of the one before: the same rotations, and compact curves.
fn on_one_side(rotations: impl Iterator<Item = Quat>) -> impl Iterator<Item = Quat> {
    rotations.scan(None, |before: &mut Option<Quat>, rotation| {
        let flip = before.is_some_and(|before| before.coords.dot(&rotation.coords) < 0.0);
        let rotation = if flip {
            Quat::new_unchecked(-rotation.into_inner())
        } else {
            rotation
        };
        *before = Some(rotation);
        *before
    })
}

#[cfg(test)]
mod tests {
    use anim_math::{Transform, quat};
    use anim_skeleton::JointSpec;

    use super::*;

    fn skeleton() -> Skeleton {
        let joint = |parent| JointSpec {
            name: None,
            parent,
            rest: Transform::from_translation(Vec3::y()),
        };
        Skeleton::new(vec![joint(Some(1)), joint(None)]).unwrap()
    }

    #[test]
    fn a_baked_clip_passes_through_every_pose() {
        let skeleton = skeleton();
        let poses: Vec<Pose> = (0..20)
            .map(|frame| {
                let mut pose = skeleton.rest().clone();
                let spin = quat::from_axis_angle(Vec3::z(), 0.9 * frame as f32);
                pose.set_rotation(skeleton.joint(0), spin);
                pose.set_translation(skeleton.joint(1), Vec3::x() * frame as f32);
                pose
            })
            .collect();
        let clip = clip_of_poses(None, &skeleton, 30.0, &poses);
        assert_eq!(clip.channels.len(), 2);
        let mut sampled = skeleton.rest().clone();
        for (frame, pose) in poses.iter().enumerate() {
            clip.sample(&skeleton, frame as f32 / 30.0, &mut sampled);
            for joint in skeleton.joints() {
                assert!(quat::angle_between(sampled.rotation(joint), pose.rotation(joint)) < 1e-3);
                assert_eq!(sampled.translation(joint), pose.translation(joint));
            }
        }
    }

    #[test]
    fn what_rests_has_no_curve_and_what_stays_has_one_key() {
        let skeleton = skeleton();
        let mut pose = skeleton.rest().clone();
        pose.set_scale(skeleton.joint(0), Vec3::repeat(2.0));
        let clip = clip_of_poses(Some("still"), &skeleton, 30.0, &[pose.clone(), pose]);
        let [
            Channel {
                joint: 0,
                track: JointTrack::Scale(track),
            },
        ] = clip.channels.as_slice()
        else {
            panic!(
                "one channel for the scale of joint 0, found {:?}",
                clip.channels
            );
        };
        assert_eq!(track.times(), [0.0]);
    }

    #[test]
    fn a_frame_rate_of_zero_makes_no_curves() {
        let skeleton = skeleton();
        let mut moved = skeleton.rest().clone();
        moved.set_translation(skeleton.joint(0), Vec3::x());
        let poses = [skeleton.rest().clone(), moved];
        assert!(
            clip_of_poses(None, &skeleton, 0.0, &poses)
                .channels
                .is_empty()
        );
    }

    #[test]
    fn morphs_give_each_key_frame_and_the_mean_between() {
        let surface = |height: f32| Vertices {
            positions: vec![Vec3::zeros(), Vec3::new(1.0, height, 0.0)],
            normals: vec![Vec3::y(); 2],
        };
        let frames: Vec<Vertices> = [0.0, 1.0, 4.0, 9.0].map(surface).to_vec();
        let animation = vertex_animation(&surface(0.0), 2.0, 2, &frames).unwrap();
        assert_eq!(animation.targets.len(), 3); // frames 0, 2 and 3
        assert_eq!(animation.targets[1].vertices, [1]);
        let height = |time: f32| -> f32 {
            let mut weights = [0.0; 3];
            animation.weights.sample(time, &mut weights);
            let moved = animation.targets.iter().zip(weights);
            moved
                .map(|(t, w)| t.positions.first().map_or(0.0, |p| p.y * w))
                .sum()
        };
        assert_eq!(height(0.0), 0.0);
        assert_eq!(height(1.0), 4.0);
        assert_eq!(height(1.5), 9.0);
        assert_eq!(height(0.5), 2.0);
    }
}
