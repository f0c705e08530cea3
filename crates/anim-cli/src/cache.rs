//! Kept frames of a simulation, so that a run that was broken off goes on where it stopped.
//!
//! A folder holds one file a frame, `000042.state`, written whole or not at all. Each begins with the key of the run, a hash of all that
//! decides it; frames of another key, damaged ones and all after them are simulated anew.

use std::path::{Path, PathBuf};

use anim_engine::math::Vec3;
use anim_engine::sim::State;

use crate::output::{self, Failure};

/// What a file begins with.
const MAGIC: &[u8; 8] = b"animsim1";

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
    pub(crate) fn keep<'a>(
        &self,
        frame: u32,
        states: impl Iterator<Item = &'a State>,
    ) -> Result<(), Failure> {
        let mut bytes = Vec::from(MAGIC);
        bytes.extend(self.key.to_le_bytes());
        for state in states {
            bytes.extend((state.positions.len() as u64).to_le_bytes());
            for vector in state.positions.iter().chain(&state.velocities) {
                bytes.extend(vector.iter().flat_map(|c| c.to_le_bytes()));
            }
        }
        let sum = fnv(FNV_BASIS, &bytes);
        bytes.extend(sum.to_le_bytes());
        output::file(&self.path(frame), &bytes)
    }

    /// A frame, if it is there and whole and `sizes` are the numbers of particles.
    pub(crate) fn recall(&self, frame: u32, sizes: &[usize]) -> Option<Vec<State>> {
        let bytes = std::fs::read(self.path(frame)).ok()?;
        let (bytes, sum) = bytes.split_last_chunk::<8>()?;
        if fnv(FNV_BASIS, bytes).to_le_bytes() != *sum {
            return None;
        }
        let rest = bytes.strip_prefix(MAGIC)?;
        let mut rest = rest.strip_prefix(&self.key.to_le_bytes())?;
        let mut states = Vec::with_capacity(sizes.len());
        for size in sizes {
            rest = rest.strip_prefix(&(*size as u64).to_le_bytes())?;
            let (vectors, after) = rest.split_at_checked(size.checked_mul(24)?)?;
            rest = after;
            let mut vectors = vectors.as_chunks::<12>().0.iter().map(vector);
            states.push(State {
                positions: vectors.by_ref().take(*size).collect(),
                velocities: vectors.collect(),
            });
        }
        rest.is_empty().then_some(states)
    }
}

fn vector(bytes: &[u8; 12]) -> Vec3 {
    let part = |i: usize| f32::from_le_bytes([0, 1, 2, 3].map(|k| bytes[4 * i + k]));
    Vec3::new(part(0), part(1), part(2))
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

    #[test]
    fn frames_come_back_to_the_bit_and_damaged_or_foreign_ones_do_not() {
        let folder = std::env::temp_dir().join(format!("anim-cache-{}", std::process::id()));
        let cache = Cache::new(&folder, [&b"scene"[..]]).unwrap();
        let state = State {
            positions: vec![Vec3::new(1.0, -0.0, f32::MIN_POSITIVE), Vec3::x()],
            velocities: vec![Vec3::y(), Vec3::repeat(1e-40)],
        };
        cache.keep(7, [&state].into_iter()).unwrap();
        assert_eq!(cache.recall(7, &[2]), Some(vec![state]));
        assert_eq!(cache.recall(7, &[3]), None);
        assert_eq!(cache.recall(7, &[2, 0]), None);
        assert_eq!(cache.recall(8, &[2]), None);
        let other = Cache::new(&folder, [&b"scene2"[..]]).unwrap();
        assert_eq!(other.recall(7, &[2]), None);

        let path = cache.path(7);
        let whole = std::fs::read(&path).unwrap();
        for cut in [0, 5, 20, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(cache.recall(7, &[2]), None, "{cut}");
        }
        let mut flipped = whole;
        flipped[30] ^= 1;
        std::fs::write(&path, &flipped).unwrap();
        assert_eq!(cache.recall(7, &[2]), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
