//! Reads the raw animations and skeletons of the ozz-animation library, as far as the tests need it.

use std::path::{Path, PathBuf};

use anim_curves::{Interpolation, Key, Track};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{Channel, ClipSpec, JointSpec, JointTrack, Skeleton};

/// The data folder, or `None` (with a printed line) where there is none and none is demanded.
pub(crate) fn data() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = match std::env::var_os("ANIM_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => workspace.join("../shared/data"),
    };
    if folder.is_dir() {
        return Some(folder);
    }
    let demanded = std::env::var_os("ANIM_REQUIRE_DATA").is_some_and(|value| value == "1");
    assert!(!demanded, "no data at {}", folder.display());
    println!("skipped: no data at {}", folder.display());
    None
}

/// A skeleton and a raw clip of the folder `ozz`.
pub(crate) fn load(data: &Path, clip: &str) -> (Skeleton, ClipSpec) {
    let read = |name: &str| std::fs::read(data.join("ozz").join(name)).unwrap();
    let skeleton = skeleton(&read("pab_skeleton.ozz"));
    (skeleton, raw_animation(&read(&format!("{clip}.ozz"))))
}

struct Archive<'a>(&'a [u8]);

impl<'a> Archive<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn number(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn float(&mut self) -> f32 {
        f32::from_bits(self.number())
    }

    fn floats<const N: usize>(&mut self) -> [f32; N] {
        [(); N].map(|()| self.float())
    }

    /// The byte of the endianness, then the tag with its zero, then the version.
    fn header(&mut self, tag: &str, version: u32) {
        assert_eq!(self.take(1), [1], "little-endian");
        assert_eq!(self.take(tag.len() + 1), [tag.as_bytes(), b"\0"].concat());
        assert_eq!(self.number(), version);
    }

    /// Keys of a raw track: a count, the version of the key if there are any, then times and values.
    fn keys<const N: usize>(&mut self) -> Vec<(f32, [f32; N])> {
        let count = self.number();
        if count > 0 {
            self.number();
        }
        (0..count).map(|_| (self.float(), self.floats())).collect()
    }
}

fn raw_animation(bytes: &[u8]) -> ClipSpec {
    let mut archive = Archive(bytes);
    archive.header("ozz-raw_animation", 3);
    archive.float();
    let tracks = archive.number() as usize;
    archive.number();
    let mut channels = Vec::new();
    for joint in 0..tracks {
        let translations = vectors(&archive.keys());
        let rotations = archive.keys();
        let rotations = rotations
            .iter()
            .map(|(time, xyzw)| Key::new(*time, quat::from_xyzw(*xyzw).unwrap()));
        let rotations = Track::new(rotations.collect(), Interpolation::Linear).unwrap();
        let scales = vectors(&archive.keys());
        let tracks = [
            JointTrack::Translation(translations),
            JointTrack::Rotation(rotations),
            JointTrack::Scale(scales),
        ];
        channels.extend(tracks.map(|track| Channel { joint, track }));
    }
    ClipSpec {
        channels,
        ..ClipSpec::default()
    }
}

fn vectors(keys: &[(f32, [f32; 3])]) -> Track<Vec3> {
    let keys = keys
        .iter()
        .map(|(time, xyz)| Key::new(*time, Vec3::from(*xyz)));
    Track::new(keys.collect(), Interpolation::Linear).unwrap()
}

fn skeleton(bytes: &[u8]) -> Skeleton {
    let mut archive = Archive(bytes);
    archive.header("ozz-skeleton", 2);
    let count = archive.number() as usize;
    let names = archive.number() as usize;
    let names = std::str::from_utf8(archive.take(names)).unwrap();
    let names: Vec<&str> = names.split_terminator('\0').collect();
    let parents = archive.take(2 * count);
    let parents = parents
        .chunks(2)
        .map(|pair| i16::from_le_bytes([pair[0], pair[1]]));
    let parents: Vec<_> = parents.map(|parent| usize::try_from(parent).ok()).collect();
    let mut joints = Vec::new();
    // Four joints together: for each number of a transform, four of them.
    for _ in 0..count.div_ceil(4) {
        let translation: [[f32; 4]; 3] = [(); 3].map(|()| archive.floats());
        let rotation: [[f32; 4]; 4] = [(); 4].map(|()| archive.floats());
        let scale: [[f32; 4]; 3] = [(); 3].map(|()| archive.floats());
        for lane in 0..4.min(count - joints.len()) {
            let joint = joints.len();
            joints.push(JointSpec {
                name: Some(names[joint].to_owned()),
                parent: parents[joint],
                rest: Transform {
                    translation: translation.map(|part| part[lane]).into(),
                    rotation: quat::from_xyzw(rotation.map(|part| part[lane])).unwrap(),
                    scale: scale.map(|part| part[lane]).into(),
                },
            });
        }
    }
    Skeleton::new(joints).unwrap()
}
