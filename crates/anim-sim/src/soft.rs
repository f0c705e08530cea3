//! Soft bodies from tetrahedral meshes: flesh, rubber, muscle.
//!
//! A [`SoftSpec`] is a mesh and what it is made of; [`build`] gives each corner its share of the mass and finds the
//! surface that air and colliders meet.
//!
//! ```
//! use anim_geom::tet::{Split, lattice};
//! use anim_math::Vec3;
//! use anim_sim::soft::{SoftSpec, build};
//!
//! let bar = SoftSpec {
//!     mesh: lattice([4, 1, 1], Vec3::new(0.4, 0.1, 0.1), Split::Five),
//!     ..SoftSpec::default()
//! };
//! let mass: f32 = build(&bar)?.spec().inverse_masses.iter().map(|w| 1.0 / w).sum();
//! assert!((mass - 4.0).abs() < 1e-4, "four litres of 1000 kg/m³");
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use anim_geom::TetMesh;
use serde::{Deserialize, Serialize};

use crate::check::check_vertices;
use crate::element::{Fiber, Material, Tet};
use crate::{Model, ModelSpec, SelfContact, SimError};

/// A solid of one material; edit it, then [`build`] it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SoftSpec {
    /// Its rest shape.
    pub mesh: TetMesh,
    /// What it is made of.
    pub material: Material,
    /// Muscle in it; may be empty.
    pub fibers: Vec<Fiber>,
    /// Vertices that move only as [`Drive::pins`](crate::Drive::pins) says.
    pub pinned: Vec<u32>,
    /// Rate at which velocity is lost, 1/s: that of the surroundings; a material has its own.
    pub damping: f32,
    /// How far vertices stay from colliders, metres.
    pub thickness: f32,
    /// Coulomb coefficient; a contact has the geometric mean of this and the collider's.
    pub friction: f32,
    /// Force of the air on a unit of area at a unit of speed across it, N·s/m³.
    pub drag: f32,
    /// How its surface keeps off itself; `None`: it passes through.
    pub self_contact: Option<SelfContact>,
}

impl Default for SoftSpec {
    /// Soft rubber in still air.
    fn default() -> Self {
        Self {
            mesh: TetMesh::default(),
            material: Material::default(),
            fibers: Vec::new(),
            pinned: Vec::new(),
            damping: 0.0,
            thickness: 0.002,
            friction: 0.5,
            drag: 0.0,
            self_contact: None,
        }
    }
}

/// Makes a model of a solid.
///
/// A vertex has a quarter of the mass of each of its tetrahedra; one without any has the mean mass.
///
/// # Errors
///
/// Those of [`Model::new`], and [`SimError::VertexOutOfRange`] for a tetrahedron or a pin.
pub fn build(spec: &SoftSpec) -> Result<Model, SimError> {
    let vertex_count = spec.mesh.positions.len();
    for (index, tet) in spec.mesh.tets.iter().enumerate() {
        check_vertices("tetrahedron", index, tet, vertex_count)?;
    }
    for (index, vertex) in spec.pinned.iter().enumerate() {
        check_vertices("pin", index, &[*vertex], vertex_count)?;
    }
    Model::new(ModelSpec {
        positions: spec.mesh.positions.clone(),
        inverse_masses: inverse_masses(spec),
        tets: spec
            .mesh
            .tets
            .iter()
            .map(|tet| Tet {
                vertices: *tet,
                material: 0,
            })
            .collect(),
        materials: vec![spec.material],
        fibers: spec.fibers.clone(),
        triangles: spec.mesh.surface(),
        damping: spec.damping,
        thickness: spec.thickness,
        friction: spec.friction,
        drag: spec.drag,
        self_contact: spec.self_contact,
        ..ModelSpec::default()
    })
}

fn inverse_masses(spec: &SoftSpec) -> Vec<f32> {
    let mut masses = vec![0.0; spec.mesh.positions.len()];
    for (tet, volume) in spec.mesh.tets.iter().zip(spec.mesh.volumes()) {
        for vertex in tet {
            masses[*vertex as usize] += volume.abs() * 0.25 * f64::from(spec.material.density);
        }
    }
    let with_mass: Vec<f64> = masses.iter().copied().filter(|mass| *mass > 0.0).collect();
    let mean = with_mass.iter().sum::<f64>() / with_mass.len().max(1) as f64;
    let mut inverse: Vec<f32> = masses
        .iter()
        .map(|mass| if *mass > 0.0 { *mass } else { mean })
        .map(|mass| (1.0 / mass).min(f64::from(f32::MAX)) as f32)
        .collect();
    for vertex in &spec.pinned {
        inverse[*vertex as usize] = 0.0;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;
    use anim_geom::tet::{Split, lattice};
    use anim_math::Vec3;

    #[test]
    fn pins_have_no_inverse_mass_and_loose_vertices_the_mean_mass() {
        let mut spec = SoftSpec {
            mesh: lattice([1, 1, 1], Vec3::repeat(0.1), Split::Five),
            pinned: vec![2],
            ..SoftSpec::default()
        };
        spec.mesh.positions.push(Vec3::repeat(1.0));
        let model = build(&spec).unwrap();
        assert_eq!(model.spec().inverse_masses[2], 0.0);
        assert!((1.0 / model.spec().inverse_masses[8] - 0.125).abs() < 1e-6);
    }

    #[test]
    fn what_names_a_vertex_that_is_not_there_is_refused() {
        let mesh = lattice([1, 1, 1], Vec3::repeat(0.1), Split::Six);
        let mut spec = SoftSpec {
            mesh,
            pinned: vec![8],
            ..SoftSpec::default()
        };
        assert!(matches!(
            build(&spec),
            Err(SimError::VertexOutOfRange { what: "pin", .. })
        ));
        spec.pinned.clear();
        spec.mesh.tets[1][2] = 99;
        assert!(matches!(
            build(&spec),
            Err(SimError::VertexOutOfRange { index: 1, .. })
        ));
        assert_eq!(build(&SoftSpec::default()).err(), Some(SimError::Empty));
    }
}
