//! What a state costs and how far it is strained, whichever solver made it.
//!
//! For tests and tools that compare solvers: never show a speed without the strain it was bought with.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::{Link, Model, ModelSpec, State};
//!
//! let spring = Model::new(ModelSpec {
//!     positions: vec![Vec3::zeros(), Vec3::x()],
//!     inverse_masses: vec![0.0, 1.0],
//!     links: vec![Link { vertices: [0, 1], rest_length: 1.0, compliance: 0.01 }],
//!     ..ModelSpec::default()
//! })?;
//! let mut state = State::new(&spring);
//! state.positions[1].x = 1.1;
//! let measures = spring.measure(&state, Vec3::zeros());
//! assert!((measures.elastic_j - 0.5).abs() < 1e-4, "half of 100 N/m times a tenth squared");
//! assert!((measures.max_strain - 0.1).abs() < 1e-6);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use anim_math::Vec3;
use anim_math::nalgebra::{Matrix3, Matrix3x2};

use crate::xpbd::area::Area;
use crate::xpbd::batch::{Kind as _, Row};
use crate::xpbd::elements::elements;
use crate::xpbd::hinge::Hinge;
use crate::xpbd::membrane::{self, Membrane};
use crate::xpbd::real::{dot, sub};
use crate::xpbd::sweep::{Element, Kind};
use crate::xpbd::tet::Tet;
use crate::xpbd::{flex, volume};
use crate::{Model, State};

/// Energies and strains of one state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    /// Of particles that are not pinned, J.
    pub kinetic_j: f64,
    /// Of the same in the field of gravity, J; 0 at the origin.
    pub potential_j: f64,
    /// Of what is neither rigid nor a cluster, J; 0 at rest. Solids count as stable Neo-Hookean.
    pub elastic_j: f64,
    /// Mean over links, membranes and tetrahedra of the largest |stretch − 1| in each. Links between vertices of the
    /// surface that are not along an edge of it do not count: they stand for bending and shear, and change length where
    /// the surface only folds.
    pub mean_strain: f64,
    /// The largest of them.
    pub max_strain: f64,
}

impl Model {
    /// Measures a state, in f64. A tool: it sorts the elements anew at every call.
    ///
    /// * `gravity`: m/s².
    ///
    /// # Panics
    ///
    /// If the state is of another number of particles.
    pub fn measure(&self, state: &State, gravity: Vec3) -> Measures {
        assert_eq!(
            (state.positions.len(), state.velocities.len()),
            (self.vertex_count(), self.vertex_count()),
            "the state was made for another model"
        );
        let mut measures = Measures::default();
        let particles = state.positions.iter().zip(&state.velocities);
        for ((x, v), inverse_mass) in particles.zip(&self.spec.inverse_masses) {
            if *inverse_mass > 0.0 {
                let mass = 1.0 / f64::from(*inverse_mass);
                measures.kinetic_j += 0.5 * mass * v.cast::<f64>().norm_squared();
                measures.potential_j -= mass * gravity.cast::<f64>().dot(&x.cast());
            }
        }
        let (mut strains, mut count) = (0.0, 0);
        let surface = Surface::new(self.vertex_count(), &self.spec.triangles);
        for element in elements(&self.spec) {
            measures.elastic_j += energy(&element, &state.positions);
            if matches!(element.kind, Kind::Link) && surface.is_crossed_by(element.vertices()) {
                continue;
            }
            if let Some(strain) = strain(&element, &state.positions) {
                strains += strain;
                count += 1;
                measures.max_strain = measures.max_strain.max(strain);
            }
        }
        measures.mean_strain = strains / f64::from(count.max(1));
        for volume in &self.spec.volumes {
            let excess = volume::signed_volume(&volume.triangles, &state.positions)
                - f64::from(volume.rest_volume);
            measures.elastic_j += half_square(excess, volume.compliance.into());
        }
        measures
    }
}

/// Which vertices and edges the triangles of a model have.
struct Surface {
    /// P.
    has_vertex: Vec<bool>,
    /// Each by its smaller vertex first, in order.
    edges: Vec<[u32; 2]>,
}

impl Surface {
    fn new(vertex_count: usize, triangles: &[[u32; 3]]) -> Self {
        let mut has_vertex = vec![false; vertex_count];
        for vertex in triangles.iter().flatten() {
            has_vertex[*vertex as usize] = true;
        }
        let edges = triangles
            .iter()
            .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]);
        let mut edges: Vec<_> = edges.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        edges.sort_unstable();
        Self { has_vertex, edges }
    }

    /// True for a link from vertex to vertex of the surface that is not one of its edges.
    fn is_crossed_by(&self, link: &[u32]) -> bool {
        let [a, b] = [link[0], link[1]];
        self.has_vertex[a as usize]
            && self.has_vertex[b as usize]
            && self.edges.binary_search(&[a.min(b), a.max(b)]).is_err()
    }
}

/// C² / 2α, and nothing for what is rigid.
fn half_square(value: f64, compliance: f64) -> f64 {
    if compliance > 0.0 {
        0.5 * value * value / compliance
    } else {
        0.0
    }
}

fn total<const V: usize, const R: usize>(rows: [Row<f64, V>; R]) -> f64 {
    rows.iter()
        .map(|row| half_square(row.value, row.compliance))
        .sum()
}

fn corners<const V: usize>(element: &Element, positions: &[Vec3]) -> [[f64; 3]; V] {
    std::array::from_fn(|k| {
        let x = positions[element.vertices()[k] as usize].cast::<f64>();
        [x.x, x.y, x.z]
    })
}

fn energy(element: &Element, positions: &[Vec3]) -> f64 {
    match element.kind {
        Kind::Link => {
            let [rest_length, compliance] = element.parameters();
            half_square(length(element, positions) - rest_length, compliance)
        }
        Kind::Seam | Kind::Limit => 0.0,
        Kind::Hinge => total(Hinge::rows(
            &element.parameters(),
            &corners(element, positions),
        )),
        Kind::Area => total(Area::rows(
            &element.parameters(),
            &corners(element, positions),
        )),
        Kind::Membrane => total(Membrane::rows(
            &element.parameters(),
            &corners(element, positions),
        )),
        Kind::Flex => {
            let [c0, c1, c2, c3, compliance] = element.parameters();
            let l = flex::curvature(&[c0, c1, c2, c3], &corners(element, positions));
            l.iter().map(|l| half_square(*l, compliance)).sum()
        }
        Kind::Tet => {
            let rest = element.parameters();
            let at_rest = half_square(3f64.sqrt(), rest[6]) + half_square(1.0 - rest[8], rest[7]);
            total(Tet::rows(&rest, &corners(element, positions))) - at_rest
        }
    }
}

fn strain(element: &Element, positions: &[Vec3]) -> Option<f64> {
    let farthest = |stretches: &[f64]| {
        stretches
            .iter()
            .map(|s| (s - 1.0).abs())
            .fold(0.0, f64::max)
    };
    match element.kind {
        Kind::Link => {
            let [rest_length, _] = element.parameters();
            (rest_length > 0.0).then(|| (length(element, positions) / rest_length - 1.0).abs())
        }
        Kind::Membrane => {
            let [a, b, c, d, ..] = element.parameters::<7>();
            let f = membrane::gradient([a, b, c, d], &corners(element, positions));
            let f = Matrix3x2::from_columns(&f.map(Into::into));
            Some(farthest(f.singular_values().as_slice()))
        }
        Kind::Tet => {
            let f = Tet::gradient(&element.parameters(), &corners(element, positions));
            let f = Matrix3::from_columns(&f.map(Into::into));
            Some(farthest(f.singular_values().as_slice()))
        }
        _ => None,
    }
}

fn length(element: &Element, positions: &[Vec3]) -> f64 {
    let [a, b] = corners::<2>(element, positions);
    let d = sub(a, b);
    dot(d, d).sqrt()
}

#[cfg(test)]
mod tests {
    use crate::element::{Material, Tet};
    use crate::{Link, Model, ModelSpec, State};
    use anim_math::Vec3;

    #[test]
    fn a_stretched_link_a_moving_mass_and_a_swollen_solid_cost_what_formulas_say() {
        let model = Model::new(ModelSpec {
            positions: vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()],
            inverse_masses: vec![0.0, 0.5, 0.5, 0.5],
            links: vec![Link {
                vertices: [0, 1],
                rest_length: 1.0,
                compliance: 0.01,
            }],
            tets: vec![Tet {
                vertices: [0, 1, 2, 3],
                material: 0,
            }],
            materials: vec![Material::default()],
            ..ModelSpec::default()
        })
        .unwrap();
        let gravity = Vec3::y() * -10.0;
        let mut state = State::new(&model);
        let rest = model.measure(&state, gravity);
        assert!(
            rest.elastic_j.abs() < 1e-2 && rest.max_strain < 1e-6,
            "{rest:?}"
        );
        assert!((rest.potential_j - 20.0).abs() < 1e-9);
        let s = 1.001f64;
        for x in &mut state.positions {
            *x *= s as f32;
        }
        state.velocities[3] = Vec3::x() * 3.0;
        let found = model.measure(&state, gravity);
        assert!((found.kinetic_j - 9.0).abs() < 1e-9);
        // Bulk modulus λ + 2μ/3 times half the squared change of volume, of a sixth of a cubic metre.
        let [shear, first] = Material::default().lame().map(f64::from);
        let strain = 3e-3;
        let solid = 0.5 * (first + 2.0 / 3.0 * shear) * strain * strain / 6.0;
        let link = 0.5 * 1e-6 / 0.01;
        let ratio = (found.elastic_j - rest.elastic_j - link) / solid;
        assert!((ratio - 1.0).abs() < 1e-2, "{ratio}");
        assert!((found.mean_strain - 1e-3).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn folding_a_sheet_is_no_strain_though_its_bending_links_shorten() {
        let sheet = crate::cloth::ClothSpec {
            positions: vec![
                Vec3::zeros(),
                Vec3::x(),
                Vec3::z(),
                Vec3::new(1.0, 0.0, 1.0),
            ],
            triangles: vec![[0, 2, 1], [1, 2, 3]],
            ..Default::default()
        };
        let model = crate::cloth::build(&sheet).unwrap();
        assert!(
            model
                .spec()
                .links
                .iter()
                .any(|link| link.vertices.contains(&0) && link.vertices.contains(&3))
        );
        let mut state = State::new(&model);
        // Half a turn about the diagonal lays one triangle on the other.
        state.positions[3] = state.positions[0];
        let measures = model.measure(&state, Vec3::zeros());
        assert!(measures.max_strain < 1e-6, "{measures:?}");
        assert!(
            measures.elastic_j > 1.0,
            "the bending link costs: {measures:?}"
        );
        state.positions[1] *= 1.5;
        let measures = model.measure(&state, Vec3::zeros());
        assert!((measures.max_strain - 0.5).abs() < 1e-6, "{measures:?}");
    }
}
