//! What holds particles together: the elements of a [`ModelSpec`](crate::ModelSpec).
//!
//! An element names the particles it joins and what it costs to move them from rest. Stiffness is a compliance, the
//! inverse of a spring constant, so that 0 is rigid; solids have a [`Material`] in SI units instead. No element knows a
//! solver: which solver honours which element stands in its documentation.
//!
//! ```
//! use anim_sim::element::{Law, Material};
//!
//! let rubber = Material { young: 1e6, poisson: 0.45, density: 1100.0, ..Material::default() };
//! assert_eq!(rubber.law, Law::StableNeoHookean);
//! let [shear, _] = rubber.lame();
//! assert!((shear - 1e6 / 2.9).abs() < 1.0);
//! ```

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

/// Holds two particles at a distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The two particles; must differ.
    pub vertices: [u32; 2],
    /// Metres, not negative.
    pub rest_length: f32,
    /// How far it stretches under a unit of force, m/N: the inverse of a spring's stiffness. 0 is rigid.
    pub compliance: f32,
}

/// Keeps a particle within reach of a pinned one, across all the links between them.
///
/// A long chain of links converges slowly, so it looks like rubber; a tether is one step long.
///
/// Source: Kim, Chentanez, Müller, "Long range attachments", SCA 2012.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tether {
    /// The particle that is kept.
    pub vertex: u32,
    /// The particle it is tied to: pinned, that is of inverse mass 0.
    pub anchor: u32,
    /// The farthest the two may be apart, metres, not negative.
    pub max_length: f32,
}

/// Two triangles that keep the angle at their common edge.
///
/// Energy (θ − rest)² / (2 · compliance), where θ is the angle between the normals: 0 is flat, and it is positive where
/// the triangles, seen from the side that their normals point to, fold away. For surfaces whose rest shape is curved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hinge {
    /// The ends of the edge, then the far corner on its left, of triangle (0, 1, 2), and on its right, of (1, 0, 3).
    pub vertices: [u32; 4],
    /// Radians, in [−π, π].
    pub rest_angle: f32,
    /// How far it turns under a unit of moment, rad/(N·m). 0 is rigid.
    pub compliance: f32,
}

/// Two triangles that resist bending away from flat, at the cost of a few products.
///
/// Energy ½ · stiffness · |Σ cᵢ xᵢ|², the squared integral of the discrete Laplacian, which is exact for bending without
/// stretching. The coefficients come from the rest positions.
///
/// Source: Bergou, Wardetzky, Harmon, Zorin, Grinspun, "A quadratic bending model for inextensible surfaces", SGP 2006.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flex {
    /// As in [`Hinge::vertices`].
    pub vertices: [u32; 4],
    /// Bending stiffness of the sheet, N·m: Young's modulus times thickness cubed over 12 (1 − ν²).
    pub stiffness: f32,
}

/// A triangle that keeps its area.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Area {
    /// Its corners; must differ.
    pub vertices: [u32; 3],
    /// m², not negative.
    pub rest_area: f32,
    /// m³/N: energy (A − rest)² / (2 · compliance). 0 is rigid.
    pub compliance: f32,
}

/// A triangle of woven cloth: stiffness along the warp, along the weft and in shear, and limits of strain.
///
/// With F the 3×2 deformation gradient from material to world space and E = ½(FᵀF − 1), energy per area
/// ½(k₀E₀₀² + k₁E₁₁² + 4k₂E₀₁²).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Membrane {
    /// Its corners; must differ.
    pub vertices: [u32; 3],
    /// Where the corners lie in the unstretched material, metres along warp and weft.
    pub material: [[f32; 2]; 3],
    /// Along the warp, along the weft, in shear: N/m, not negative.
    pub stiffness: [f32; 3],
    /// The least and the most that a line in it may measure against its rest; (0, ∞) does not limit.
    pub limits: [f32; 2],
}

/// A tetrahedron of a solid; its rest shape is that of the model's positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tet {
    /// Its corners, right-handed: the volume (b − a)·((c − a)×(d − a))/6 is positive at rest.
    pub vertices: [u32; 4],
    /// Place in [`ModelSpec::materials`](crate::ModelSpec::materials).
    pub material: u32,
}

/// Muscle in a tetrahedron: it pulls along its fibres when it is activated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fiber {
    /// Place in [`ModelSpec::tets`](crate::ModelSpec::tets).
    pub tet: u32,
    /// Along the fibres at rest, of unit length.
    pub direction: Vec3,
    /// Place of its activation in [`Drive::activations`](crate::Drive::activations).
    pub muscle: u32,
    /// Stress at full activation and optimal length, Pa.
    pub max_stress: f32,
}

/// Keeps the volume that a closed surface holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Volume {
    /// The closed surface, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// m³, not negative; pressure is a volume larger than that at rest.
    pub rest_volume: f32,
    /// m⁶/J: energy (V − rest)² / (2 · compliance). 0 is rigid.
    pub compliance: f32,
}

/// Particles that keep their shape as a whole, up to a rotation and a translation.
///
/// Source: Müller, Heidelberger, Teschner, Gross, "Meshless deformations based on shape matching", SIGGRAPH 2005.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Particles; the shape is that of the model's rest positions.
    pub vertices: Vec<u32>,
    /// As of springs of this compliance from each particle to its goal, m/N. 0 is rigid.
    pub compliance: f32,
}

/// How a solid answers to deformation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Small strains about the rest shape: the textbook's cantilever; swells when it turns.
    Linear,
    /// Linear in a frame that turns with the element.
    Corotational,
    /// Holds its volume, and recovers from any inversion.
    #[default]
    StableNeoHookean,
    /// Quadratic in Green's strain; softens under compression.
    StVenantKirchhoff,
}

/// What a solid is made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Material {
    /// Which energy.
    pub law: Law,
    /// Young's modulus, Pa, positive.
    pub young: f32,
    /// Poisson's ratio, in [0, 0.5).
    pub poisson: f32,
    /// kg/m³, positive.
    pub density: f32,
    /// Viscosity in units of elasticity, s: stiffness-proportional damping, which leaves rigid motion and equilibria alone.
    pub damping: f32,
    /// Strain (Frobenius norm beyond rotation) from which it yields and stays deformed; infinite: never.
    pub yield_strain: f32,
    /// Rate at which strain beyond the yield becomes permanent, 1/s.
    pub creep: f32,
    /// Largest permanent strain.
    pub max_plastic_strain: f32,
}

impl Default for Material {
    /// Soft rubber: 100 kPa, nearly incompressible.
    fn default() -> Self {
        Self {
            law: Law::default(),
            young: 1e5,
            poisson: 0.45,
            density: 1000.0,
            damping: 0.0,
            yield_strain: f32::INFINITY,
            creep: 0.0,
            max_plastic_strain: 1.0,
        }
    }
}

impl Material {
    /// Lamé's constants, Pa: the shear modulus μ = E / 2(1 + ν), and λ = Eν / (1 + ν)(1 − 2ν).
    pub fn lame(&self) -> [f32; 2] {
        let (young, poisson) = (f64::from(self.young), f64::from(self.poisson));
        let shear = young / (2.0 * (1.0 + poisson));
        let first = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
        [shear as f32, first as f32]
    }
}

/// How the surface of a model keeps off itself.
///
/// Everything in one model counts as one surface: garments on each other, and a body whose vertices are pinned. It also
/// keeps whole triangles off colliders, which otherwise stop vertices alone: off balls, capsules, and the sharp edges and
/// corners of closed meshes ([`MeshBvh::ridges`](anim_geom::MeshBvh::ridges)).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelfContact {
    /// Distance that surfaces keep, m, positive. Parts of the surface that rest closer than this are not pushed apart.
    pub thickness: f32,
    /// Coulomb coefficient of the surface on itself.
    pub friction: f32,
    /// Cuts the motion of what would pass through the surface. Free particles that begin a step without crossings end it
    /// without; where pinned surfaces or colliders leave no way out, or the cap of speed is met, particles are
    /// [pinched](crate::Outcome::pinched) and recover later. Without it contacts are pushed apart, and what has
    /// passed into each other all the same is parted in the steps that follow.
    pub guarantee: bool,
}

impl Default for SelfContact {
    fn default() -> Self {
        Self {
            thickness: 0.004,
            friction: 0.3,
            guarantee: true,
        }
    }
}
