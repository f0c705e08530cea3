//! Ropes: particles along a line, links between neighbours, and links over one particle that resist bending.
//!
//! [`build`] makes a [`Model`] for [`Xpbd`](crate::Xpbd), which may be inextensible; [`system`] makes the same rope of springs
//! for the f64 [integrators](crate::integrate).
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::rope::{self, RopeSpec};
//! use anim_sim::{Drive, Solver, State, Xpbd};
//!
//! // Twenty segments between two nails a metre apart, a fifth longer than that.
//! let spec = RopeSpec {
//!     points: (0..=20).map(|i| Vec3::x() * (0.05 * i as f32)).collect(),
//!     pinned: vec![0, 20],
//!     length: Some(1.2),
//!     damping: 3.0,
//!     ..RopeSpec::default()
//! };
//! let model = rope::build(&spec)?;
//! let mut state = State::new(&model);
//! let mut solver = Xpbd::new(&model, 20);
//! for _ in 0..300 {
//!     solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
//! }
//! // The catenary of this length sags by 0.2923 m.
//! assert!((state.positions[10].y + 0.2923).abs() < 0.005);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use crate::check::{check_range, check_vertices};
use crate::force::{Drag, Force, Spring, Springs};
use crate::integrate::{DVec3, System};
use crate::{Link, Model, ModelSpec, SimError, Tether};

/// A rope; edit it, then [`build`] it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RopeSpec {
    /// Two or more, from end to end, m.
    pub points: Vec<Vec3>,
    /// Particles that move only as [`Drive::pins`](crate::Drive::pins) says.
    pub pinned: Vec<u32>,
    /// Of the whole rope at rest, m, shared by its segments as they lie; `None`: as long as it lies.
    pub length: Option<f32>,
    /// kg/m, positive.
    pub density: f32,
    /// Force that would double its length, N: Young's modulus times the area of the cross section; positive, infinite does
    /// not stretch. It does not depend on the number of segments.
    pub stiffness: f32,
    /// How far two segments fold under a unit of force at their far ends, m/N; infinite: folds freely.
    pub bend_compliance: f32,
    /// Rate at which velocity is lost, 1/s.
    pub damping: f32,
    /// How far particles stay from colliders, m.
    pub thickness: f32,
    /// Coulomb coefficient; a contact has the geometric mean of this and the collider's.
    pub friction: f32,
    /// By what fraction the way to the nearest pinned particle may lengthen; infinite: no tethers.
    pub max_stretch: f32,
}

impl Default for RopeSpec {
    /// A rope of 8 mm of polyamide that folds freely.
    fn default() -> Self {
        Self {
            points: Vec::new(),
            pinned: vec![0],
            length: None,
            density: 0.04,
            stiffness: 5e4,
            bend_compliance: f32::INFINITY,
            damping: 0.5,
            thickness: 0.004,
            friction: 0.5,
            max_stretch: 0.01,
        }
    }
}

/// Makes a model of a rope.
///
/// A particle has half of the mass of each of its segments.
///
/// # Errors
///
/// [`SimError::Empty`] with fewer than two points; [`SimError::NotFinite`]; [`SimError::VertexOutOfRange`] for a pin;
/// [`SimError::OutOfRange`] for a quantity, or for a rope of no length.
pub fn build(spec: &RopeSpec) -> Result<Model, SimError> {
    let rope = Rope::new(spec)?;
    Model::new(ModelSpec {
        links: rope.links().collect(),
        tethers: rope.tethers(spec.max_stretch),
        positions: spec.points.clone(),
        inverse_masses: rope.inverse_masses,
        damping: spec.damping,
        thickness: spec.thickness,
        friction: spec.friction,
        ..ModelSpec::default()
    })
}

/// Makes the same rope of springs, under gravity.
///
/// Damping is drag of `damping` times the mean mass of a particle; tethers, thickness and friction have no counterpart.
///
/// # Errors
///
/// As [`build`], and [`SimError::OutOfRange`] for a rope that does not stretch.
pub fn system(spec: &RopeSpec) -> Result<System, SimError> {
    let rope = Rope::new(spec)?;
    let springs: Vec<Spring> = rope.links().map(Spring::from).collect();
    let mut forces: Vec<Box<dyn Force>> = vec![Box::new(Springs::from(springs))];
    if spec.damping > 0.0 {
        let mass = spec.density * rope.lengths.iter().sum::<f32>() / spec.points.len() as f32;
        forces.push(Box::new(Drag {
            coefficient: f64::from(spec.damping * mass),
        }));
    }
    let inverse_masses = rope.inverse_masses.iter().map(|w| f64::from(*w)).collect();
    System::new(inverse_masses, DVec3::new(0.0, -9.81, 0.0), forces)
}

/// What both makers need.
struct Rope {
    inverse_masses: Vec<f32>,
    /// Of the segments, at rest.
    lengths: Vec<f32>,
    stiffness: f32,
    bend_compliance: f32,
}

impl Rope {
    fn new(spec: &RopeSpec) -> Result<Self, SimError> {
        if spec.points.len() < 2 {
            return Err(SimError::Empty);
        }
        let not_finite = |point: &Vec3| !point.iter().all(|c| c.is_finite());
        if let Some(vertex) = spec.points.iter().position(not_finite) {
            return Err(SimError::NotFinite { vertex });
        }
        check_vertices("pin", 0, &spec.pinned, spec.points.len())?;
        let lying: Vec<f32> = spec
            .points
            .windows(2)
            .map(|ends| (ends[1] - ends[0]).norm())
            .collect();
        let total: f32 = lying.iter().sum();
        let length = spec.length.unwrap_or(total);
        for (what, value, max) in [
            ("rope's length as it lies", total, f32::MAX),
            ("rope's length", length, f32::MAX),
            ("rope's density", spec.density, f32::MAX),
            ("rope's stiffness", spec.stiffness, f32::INFINITY),
        ] {
            check_range(what, 0, value, max)?;
            if value == 0.0 {
                return Err(SimError::OutOfRange {
                    what,
                    index: 0,
                    value,
                });
            }
        }
        check_range("rope's stretch", 0, spec.max_stretch, f32::INFINITY)?;
        let lengths: Vec<f32> = lying.iter().map(|lies| lies * (length / total)).collect();
        let mut masses = vec![0.0; spec.points.len()];
        for (segment, length) in lengths.iter().enumerate() {
            masses[segment] += 0.5 * spec.density * length;
            masses[segment + 1] += 0.5 * spec.density * length;
        }
        // Where points coincide a particle may be left without mass; it takes the mean.
        let mean = spec.density * length / masses.len() as f32;
        let mut inverse_masses: Vec<f32> = masses
            .iter()
            .map(|mass| 1.0 / if *mass > 0.0 { *mass } else { mean })
            .collect();
        for vertex in &spec.pinned {
            inverse_masses[*vertex as usize] = 0.0;
        }
        Ok(Self {
            inverse_masses,
            lengths,
            stiffness: spec.stiffness,
            bend_compliance: spec.bend_compliance,
        })
    }

    /// Segments, then what spans two of them unless it folds freely.
    fn links(&self) -> impl Iterator<Item = Link> {
        let segments = self.lengths.iter().enumerate().map(|(n, length)| Link {
            vertices: [n as u32, n as u32 + 1],
            rest_length: *length,
            compliance: length / self.stiffness,
        });
        let folds_freely = self.bend_compliance == f32::INFINITY;
        let spans = self.lengths.windows(2).enumerate();
        let bends = spans.filter(move |_| !folds_freely).map(|(n, both)| Link {
            vertices: [n as u32, n as u32 + 2],
            rest_length: both[0] + both[1],
            compliance: self.bend_compliance,
        });
        segments.chain(bends)
    }

    /// From each particle that can move to the nearest pinned one along the rope.
    fn tethers(&self, max_stretch: f32) -> Vec<Tether> {
        let mut along = vec![0.0];
        along.extend(self.lengths.iter().scan(0.0, |sum, length| {
            *sum += length;
            Some(*sum)
        }));
        let is_pinned = |vertex: &usize| self.inverse_masses[*vertex] == 0.0;
        let pins: Vec<usize> = (0..along.len()).filter(is_pinned).collect();
        let tether = |vertex: usize| {
            let distance = |pin: &usize| (along[*pin] - along[vertex]).abs();
            let after = pins.partition_point(|pin| *pin < vertex);
            let nearest = match (pins.get(after.wrapping_sub(1)), pins.get(after)) {
                (Some(a), Some(b)) if distance(b) < distance(a) => b,
                (Some(a), _) => a,
                (None, b) => b?,
            };
            Some(Tether {
                vertex: vertex as u32,
                anchor: *nearest as u32,
                max_length: distance(nearest) * (1.0 + max_stretch),
            })
        };
        if max_stretch == f32::INFINITY {
            return Vec::new();
        }
        let free = (0..along.len()).filter(|vertex| !is_pinned(vertex));
        free.filter_map(tether).collect()
    }
}
