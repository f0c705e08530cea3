//! Characters without files: an arm, a tube, and a person who walks in a cape.
//!
//! Everything is computed, by portable arithmetic alone, so that the same call gives the same bytes on every machine:
//! material for examples, tests, benchmarks and first steps. Metres, +Y up, facing +Z, soles at y = 0.
//!
//! ```
//! use anim_asset::builtin;
//!
//! let person = builtin::humanoid();
//! assert!(person.check().is_ok());
//! let names: Vec<_> = person.clips.iter().filter_map(|clip| clip.name.as_deref()).collect();
//! assert_eq!(names, ["walk", "idle", "wave"]);
//! ```

mod body;
mod cape;
mod figure;
mod gait;
mod humanoid;
mod jump;
mod rig;
mod run;
mod standing;
mod surface;
mod tube;

use crate::Document;

pub use humanoid::{
    CAPE_COLUMNS, Capsule, RUN_SPEED, WALK_SPEED, athlete, humanoid, humanoid_capsules,
};
pub use tube::{arm, tube};

/// The built-in character of that name: `arm`, `tube`, `humanoid` or `athlete`.
pub fn named(name: &str) -> Option<Document> {
    match name {
        "arm" => Some(arm()),
        "tube" => Some(tube(4)),
        "humanoid" => Some(humanoid()),
        "athlete" => Some(athlete()),
        _ => None,
    }
}
