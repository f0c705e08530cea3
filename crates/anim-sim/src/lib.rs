//! Cloth, ropes and chains that move the same on every machine: extended position-based dynamics (XPBD) in small steps.
//!
//! A [`Model`] says what the body is, a [`State`] where one instance of it is, a [`Drive`] what the world does to it
//! this frame, and a [`Solver`] such as [`Xpbd`] moves it.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::cloth::{self, ClothSpec};
//! use anim_sim::{Drive, Solver, State, Xpbd};
//!
//! let square = ClothSpec {
//!     positions: vec![Vec3::zeros(), Vec3::x(), Vec3::z(), Vec3::x() + Vec3::z()],
//!     triangles: vec![[0, 2, 1], [1, 2, 3]],
//!     pinned: vec![0, 1],
//!     ..ClothSpec::default()
//! };
//! let model = cloth::build(&square)?;
//! let mut state = State::new(&model);
//! let mut solver = Xpbd::new(&model, 20);
//! for _ in 0..30 {
//!     solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
//! }
//! assert!(state.positions[3].y < -0.5, "the free edge fell");
//! assert_eq!(state.positions[1], Vec3::x(), "the pinned edge stayed");
//! # Ok::<(), anim_sim::SimError>(())
//! ```
//!
//! # Determinism
//!
//! Threads own disjoint blocks of particles and the blocks are fixed by the model, so a state is bit-identical for any
//! number of threads; kernels use no fused operation, so it is for any instruction set too.

mod bend;
mod check;
pub mod cloth;
mod collide;
mod coloring;
mod contact;
mod drive;
pub mod element;
#[cfg_attr(
    not(feature = "solve"),
    allow(dead_code, reason = "whole gradients are for solvers behind `solve`")
)]
mod energy;
mod error;
pub mod fem;
pub mod force;
pub mod hair;
#[cfg(feature = "solve")]
pub mod heat;
pub mod implicit;
mod inertia;
pub mod integrate;
pub mod measure;
pub mod model;
pub mod muscle;
mod order;
#[cfg(feature = "solve")]
pub mod projective;
pub mod quasi_static;
pub mod rope;
pub mod soft;
pub mod vbd;
pub mod xpbd;

pub use drive::{Drive, Outcome, Solver};
pub use element::{Link, SelfContact, Tether};
pub use error::SimError;
pub use implicit::{Implicit, ImplicitOptions, TimeScheme};
pub use measure::Measures;
pub use model::{Model, ModelSpec, State};
#[cfg(feature = "solve")]
pub use projective::{Projective, ProjectiveOptions};
pub use quasi_static::{Equilibrium, QuasiStaticOptions};
pub use vbd::{Vbd, VbdOptions};
pub use xpbd::Xpbd;
