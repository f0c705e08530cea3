//! Finite elements: what a solid of real material costs to deform, in double precision.
//!
//! [`Elasticity`] is a material's energy, stress and stiffness as functions of the deformation gradient F;
//! [`Element`] takes them to the four corners of a tetrahedron; [`Fiber`] is muscle in it and [`Plasticity`] its
//! lasting deformation. [`Implicit`](crate::Implicit) and [`quasi_static`](crate::quasi_static) are built on these; use
//! them directly to measure stress or to write another solver.
//!
//! ```
//! use anim_sim::element::{Law, Material};
//! use anim_sim::fem::{Elasticity, Mat3d};
//!
//! let steel = Elasticity::new(&Material { law: Law::Linear, young: 2e11, poisson: 0.3, ..Material::default() });
//! // Uniaxial stress: ν = 0.3 narrows the sides, and the stress is Young's modulus times the strain.
//! let strained = Mat3d::from_diagonal(&[1.001, 1.0 - 0.0003, 1.0 - 0.0003].into());
//! assert!((steel.stress(&strained)[(0, 0)] / 2e8 - 1.0).abs() < 1e-6);
//! ```

mod element;
mod fiber;
mod material;
mod neo_hookean;
mod plastic;
mod stiffness;
mod svd;

pub use element::Element;
pub use fiber::Fiber;
pub use material::Elasticity;
pub(crate) use material::green_strain;
pub(crate) use neo_hookean::{NeoHookean, cofactor};
pub use plastic::Plasticity;
pub use stiffness::Stiffness;
pub use svd::Svd;

/// A point, direction or force in double precision.
pub type Vec3d = anim_math::nalgebra::Vector3<f64>;
/// A 3×3 matrix in double precision.
pub type Mat3d = anim_math::nalgebra::Matrix3<f64>;
