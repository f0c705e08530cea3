//! Kept frames of a simulation, so that a run that was broken off goes on where it stopped.
//!
//! A folder holds one file a frame, `000042.state`, written whole or not at all. Each begins with the key of the run, a hash of all that
//! decides it; frames of another key, damaged ones and all after them are simulated anew.

use std::path::{Path, PathBuf};

use anim_engine::Kept;
use anim_engine::math::Vec3;
use anim_engine::math::nalgebra::Quaternion;

use crate::output::{self, Failure};

/// What a file begins with.
const MAGIC: &[u8; 8] = b"animsim3";

/// The kept frames of one run.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    key: u64,
}

impl Cache {
    /// Frames in `folder`, which is made if it is not there, of the run that `decides` it.
    pub(crate) fn new<'a>(
        folder: &Path,
        decides: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Self, Failure> {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::new(folder.display().to_string(), "make", error))?;
        let mut key = FNV_BASIS;
        for bytes in decides {
            key = fnv(key, &(bytes.len() as u64).to_le_bytes());
            key = fnv(key, bytes);
        }
        Ok(Self {
            folder: folder.to_owned(),
            key,
        })
    }

    fn path(&self, frame: u32) -> PathBuf {
        self.folder.join(format!("{frame:06}.state"))
    }

    /// Keeps a frame.
    pub(crate) fn keep(&self, frame: u32, states: &[Kept]) -> Result<(), Failure> {
        let mut bytes = Vec::from(MAGIC);
        bytes.extend(self.key.to_le_bytes());
        for state in states {
            let place = bytes.len();
            bytes.extend([0; 8]);
            visit(&mut state.clone(), |number| match number {
                Number::Single(x) => bytes.extend(x.to_le_bytes()),
                Number::Double(x) => bytes.extend(x.to_le_bytes()),
            });
            let size = (bytes.len() - place - 8) as u64;
            bytes[place..place + 8].copy_from_slice(&size.to_le_bytes());
        }
        let sum = fnv(FNV_BASIS, &bytes);
        bytes.extend(sum.to_le_bytes());
        output::file(&self.path(frame), &bytes)
    }

    /// A frame, if it is there and whole and holds states such as `like`.
    pub(crate) fn recall(&self, frame: u32, like: &[Kept]) -> Option<Vec<Kept>> {
        let bytes = std::fs::read(self.path(frame)).ok()?;
        let (bytes, sum) = bytes.split_last_chunk::<8>()?;
        if fnv(FNV_BASIS, bytes).to_le_bytes() != *sum {
            return None;
        }
        let rest = bytes.strip_prefix(MAGIC)?;
        let mut rest = rest.strip_prefix(&self.key.to_le_bytes())?;
        let mut states = like.to_vec();
        for state in &mut states {
            let (size, after) = rest.split_first_chunk::<8>()?;
            let size = usize::try_from(u64::from_le_bytes(*size)).ok()?;
            let mut numbers;
            (numbers, rest) = after.split_at_checked(size)?;
            let mut is_whole = true;
            visit(state, |number| {
                is_whole &= match number {
                    Number::Single(x) => take(&mut numbers).map(|b| *x = f32::from_le_bytes(b)),
                    Number::Double(x) => take(&mut numbers).map(|b| *x = f64::from_le_bytes(b)),
                }
                .is_some();
            });
            if !(is_whole && numbers.is_empty()) {
                return None;
            }
        }
        rest.is_empty().then_some(states)
    }
}

/// A number of a state.
enum Number<'a> {
    Single(&'a mut f32),
    Double(&'a mut f64),
}

/// Visits all numbers of a state, always in the same order.
fn visit(state: &mut Kept, mut number: impl FnMut(Number<'_>)) {
    let mut vectors = |vectors: &mut [Vec3]| {
        let all = vectors.iter_mut().flat_map(|v| v.iter_mut());
        all.for_each(|x| number(Number::Single(x)));
    };
    match state {
        Kept::Body(state) => {
            vectors(&mut state.positions);
            vectors(&mut state.velocities);
        }
        Kept::Hair(levels) => {
            for state in &mut levels.states {
                let mut vectors = |vectors: &mut [Vec3]| {
                    let all = vectors.iter_mut().flat_map(|v| v.iter_mut());
                    all.for_each(|x| number(Number::Single(x)));
                };
                vectors(&mut state.positions);
                vectors(&mut state.velocities);
                for turn in &mut state.orientations {
                    let mut coords: [f32; 4] = turn.coords.into();
                    coords.iter_mut().for_each(|x| number(Number::Single(x)));
                    *turn = anim_engine::math::Quat::new_unchecked(Quaternion::from(coords));
                }
                let all = state.tensions.iter_mut();
                all.for_each(|x| number(Number::Single(x)));
            }
            // Which level, and which fades how far; below 0 is none.
            let last = levels.states.len().saturating_sub(1);
            let mut begun = f32::from(u8::from(levels.begun));
            let mut level = levels.level as f32;
            let (old, mut progress) = levels.fading.unwrap_or((0, -1.0));
            let mut old = old as f32;
            for x in [&mut begun, &mut level, &mut old, &mut progress] {
                number(Number::Single(x));
            }
            let sway = &mut levels.sway;
            number(Number::Double(&mut sway.time));
            for x in sway.lean.iter_mut() {
                number(Number::Single(x));
            }
            levels.begun = begun > 0.0;
            levels.level = (level as usize).min(last);
            levels.fading = (progress >= 0.0).then_some(((old as usize).min(last), progress));
        }
        Kept::Muscle(state) => {
            let pull = &mut state.contraction;
            let all = [
                &mut state.activation,
                &mut pull.force,
                &mut pull.stiffness,
                &mut pull.fiber_length,
                &mut pull.fiber_velocity,
                &mut pull.cosine,
                &mut pull.power,
                &mut pull.metabolic_rate,
            ];
            all.into_iter().for_each(|x| number(Number::Double(x)));
        }
    }
}

/// The first bytes of what is left.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a 64, going on from `hash`.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anim_engine::MuscleState;
    use anim_engine::math::quat;
    use anim_engine::sim::State;
    use anim_engine::sim::hair::{HairLodState, HairState, HairSway};

    #[test]
    fn frames_come_back_to_the_bit_and_damaged_or_foreign_ones_do_not() {
        let folder = std::env::temp_dir().join(format!("anim-cache-{}", std::process::id()));
        let cache = Cache::new(&folder, [&b"scene"[..]]).unwrap();
        let body = |positions: Vec<Vec3>| {
            let velocities = vec![Vec3::repeat(1e-40); positions.len()];
            Kept::Body(State {
                positions,
                velocities,
            })
        };
        let guide = HairState {
            positions: vec![Vec3::y(), Vec3::z()],
            velocities: vec![Vec3::x(); 2],
            orientations: vec![quat::from_axis_angle(Vec3::x(), 0.3)],
            tensions: vec![-0.25],
        };
        let hair = Kept::Hair(HairLodState {
            level: 1,
            states: vec![guide; 3],
            fading: Some((2, 0.125)),
            begun: true,
            sway: HairSway {
                time: 1.0 / 3.0,
                lean: Vec3::new(0.5, -0.0, 1e-40),
            },
        });
        let mut muscle = MuscleState {
            activation: 0.1,
            ..MuscleState::default()
        };
        muscle.contraction.force = 1.0 / 3.0;
        let states = vec![
            body(vec![Vec3::new(1.0, -0.0, f32::MIN_POSITIVE), Vec3::x()]),
            hair,
            Kept::Muscle(muscle),
        ];
        cache.keep(7, &states).unwrap();
        assert_eq!(cache.recall(7, &states), Some(states.clone()));
        let longer = [body(vec![Vec3::zeros(); 3]), states[1].clone()];
        assert_eq!(cache.recall(7, &longer), None);
        assert_eq!(cache.recall(7, &states[..2]), None);
        assert_eq!(cache.recall(8, &states), None);
        let other = Cache::new(&folder, [&b"scene2"[..]]).unwrap();
        assert_eq!(other.recall(7, &states), None);

        let path = cache.path(7);
        let whole = std::fs::read(&path).unwrap();
        for cut in [0, 5, 20, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(cache.recall(7, &states), None, "{cut}");
        }
        let mut flipped = whole;
        flipped[30] ^= 1;
        std::fs::write(&path, &flipped).unwrap();
        assert_eq!(cache.recall(7, &states), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
