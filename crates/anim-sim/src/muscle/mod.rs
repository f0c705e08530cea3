//! Muscles: what they pull with, where they run, and how they swell.
//!
//! A muscle is excited, not moved: [`Activation`] follows the nerve, a [`Muscle`] turns activation, length and speed into a
//! force, a [`Path`] says where that pulls on the bones and gives length, speed and moment arms, and a [`Belly`] of constant
//! volume gives the bulge under the skin. Each stands alone: a rig that only wants bulges needs paths and bellies, a
//! controller that only wants forces the other two. Solids that contract are [`Fiber`](crate::element::Fiber)s in a model.
//!
//! The few scalars of a muscle are f64, so that equilibria of fibres and tendons are solved to the last digits; points are
//! [`Vec3`](anim_math::Vec3) as everywhere.
//!
//! ```
//! use anim_math::{Affine, Transform, Vec3, quat};
//! use anim_sim::muscle::{Attachment, Muscle, MuscleSpec, Path, PathSpec, Route};
//!
//! // From the upper arm, bone 0, to 4 cm beyond the elbow on the forearm, bone 1.
//! let path = Path::new(PathSpec {
//!     points: vec![
//!         Attachment { bone: 0, point: Vec3::new(0.0, 0.28, 0.02) },
//!         Attachment { bone: 1, point: Vec3::new(0.0, -0.04, 0.01) },
//!     ],
//!     wraps: vec![],
//! })?;
//! let biceps = Muscle::new(MuscleSpec { optimal_length: 0.12, tendon_length: 0.2, ..MuscleSpec::default() })?;
//! let bent = Affine::from(Transform::from_rotation(quat::from_axis_angle(Vec3::x(), -1.0)));
//!
//! let mut route = Route::default();
//! path.follow(&[Affine::IDENTITY, bent], &mut route);
//! let arm = route.moment_arm(Vec3::zeros(), -Vec3::x(), |bone| bone == 1);
//! let pull = biceps.contract(route.length(), 0.0, 1.0);
//! assert!(arm > 0.02, "it flexes the elbow");
//! assert!(pull.force * arm > 20.0, "N·m");
//! # Ok::<(), anim_sim::SimError>(())
//! ```

pub mod activation;
pub mod curves;
pub mod hill;
pub mod metabolism;
pub mod path;
pub mod shape;
pub mod wrap;

pub use activation::Activation;
pub use curves::{Curves, Parabolic, Sample};
pub use hill::{Contraction, Muscle, MuscleSpec, Tendon};
pub use path::{Attachment, Path, PathSpec, Pull, Route};
pub use shape::{Belly, BellySpec, SkinBinding};
pub use wrap::{Turn, Wrap, WrapShape};
