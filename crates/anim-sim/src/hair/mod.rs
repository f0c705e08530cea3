//! Hair: guide strands as elastic rods that never stretch, the strands between them, their style and levels of detail.
//!
//! A [`HairSpec`] is a groom and a material, a [`Hair`] the model made of it, a [`HairState`] where one head of it is,
//! relative to that head, and a [`HairSolver`] moves it by what a [`HairDrive`] says. Bending and twist come from the
//! material in SI units and do not change with the step or the number of segments; lengths hold at any frame rate, because
//! strands are chains of rigid segments, solved directly. Use it for everything that is thin, rooted and many: hair, fur,
//! whiskers, grass; a rope that hangs between two places or carries weights is a [`Model`](crate::Model) of links.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::hair::{Hair, HairDrive, HairSolver, HairSpec, HairState};
//!
//! // A hair of 20 cm, groomed level: its rest shape is found so that it stays there under its weight.
//! let hair = Hair::new(HairSpec {
//!     guides: vec![vec![Vec3::zeros(), Vec3::x() * 0.2]],
//!     segments: Some(16),
//!     ..HairSpec::default()
//! })?;
//! let mut state = HairState::new(&hair);
//! let mut solver = HairSolver::new(&hair);
//! for _ in 0..10 {
//!     solver.step(&hair, &HairDrive::default(), 1.0 / 60.0, &mut state);
//! }
//! assert!((state.positions[16] - Vec3::x() * 0.2).norm() < 1e-3);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

mod algebra;
mod binding;
mod contact;
mod fade;
mod fold;
mod groom;
mod guide;
mod lod;
mod model;
mod outside;
mod path;
mod release;
mod rod;
mod solver;
mod spec;
pub mod style;
mod sway;
mod volume;

pub use binding::GuideTurns;
pub use fade::{HairLodSolver, HairLodState};
pub use guide::Followers;
pub use lod::{HairLevel, HairLod, HairLodSpec};
pub use model::{Hair, HairState};
pub use release::Releases;
pub use solver::{HairDrive, HairSolver};
pub use spec::{HairMaterial, HairSpec, HairVolume};
pub use sway::HairSway;
