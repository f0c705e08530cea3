//! The Laplacian of a triangle mesh: how a value at a vertex differs from those around it.
//!
//! [`Laplacian::intrinsic_delaunay`] is the one to solve with: whatever the triangles, no weight is negative, so that what
//! diffuses stays between its smallest and largest value. [`Laplacian::cotangent`] is the usual one, whose weights are
//! negative across obtuse angles; it needs no flips and keeps the mesh's own edges. Linear functions on flat meshes are in
//! the null space of both, away from the border.
//!
//! ```
//! use anim_geom::{Laplacian, primitives, topology};
//!
//! let sheet = primitives::grid(4, 4, 0.5);
//! let laplacian = Laplacian::intrinsic_delaunay(&sheet.rest.positions, &sheet.triangles)?;
//! let heights: Vec<f64> = sheet.rest.positions.iter().map(|p| f64::from(p.x)).collect();
//! let mut out = vec![0.0; heights.len()];
//! laplacian.apply(&heights, &mut out);
//! assert!(out[12].abs() < 1e-12, "a plane is harmonic");
//! assert!((laplacian.mass().iter().sum::<f64>() - 4.0).abs() < 1e-12, "the area");
//! # Ok::<(), anim_geom::GeomError>(())
//! ```

use anim_math::Vec3;

use crate::GeomError;
use crate::intrinsic::{Intrinsic, area, cotangents, mollified_lengths, proper};
use crate::mesh::check_triangles;

/// An off-diagonal entry of a [`Laplacian`], both ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaplacianEdge {
    /// The two vertices, the smaller first.
    pub ends: [u32; 2],
    /// (cot α + cot β) / 2 over the angles opposite, without unit.
    pub weight: f64,
}

/// A symmetric V × V matrix with (L·x)ᵢ = Σⱼ wᵢⱼ (xᵢ − xⱼ), and the area of each vertex.
///
/// Constants are in its null space to the last bit; with weights that are not negative it is positive semidefinite.
#[derive(Clone, Debug)]
pub struct Laplacian {
    edges: Vec<LaplacianEdge>,
    mass: Vec<f64>,
}

impl Laplacian {
    /// Cotangent weights of the intrinsic Delaunay triangulation: none is negative. For any triangle soup.
    ///
    /// Borders are free (Neumann). Triangles that name a vertex twice are left out; vertices at the same place are not
    /// joined, [`weld`](crate::topology::weld) does that. O(F log F) and a flip for each edge that is not Delaunay.
    ///
    /// Source: Sharp and Crane, "A Laplacian for nonmanifold triangle meshes", SGP 2020.
    ///
    /// # Errors
    ///
    /// [`GeomError::VertexOutOfRange`] and [`GeomError::NotFinite`].
    pub fn intrinsic_delaunay(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
    ) -> Result<Self, GeomError> {
        check(positions, triangles)?;
        let surface = Intrinsic::delaunay(positions, triangles);
        Ok(Self::of_surface(positions, triangles, &surface))
    }

    /// Cotangent weights of the mesh's own triangles, where (cot α + cot β) / 2 may be negative.
    ///
    /// Source: Pinkall and Polthier, "Computing discrete minimal surfaces and their conjugates", Exp. Math. 2(1), 1993.
    ///
    /// # Errors
    ///
    /// [`GeomError::VertexOutOfRange`] and [`GeomError::NotFinite`].
    pub fn cotangent(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, GeomError> {
        check(positions, triangles)?;
        let proper = proper(triangles);
        let lengths = mollified_lengths(positions, &proper);
        let slots: Vec<f64> = lengths.iter().flat_map(|l| cotangents(*l)).collect();
        let origins: Vec<u32> = proper.iter().flatten().copied().collect();
        Ok(Self {
            edges: assemble(positions.len(), &origins, &slots, 0.5),
            mass: mass(positions.len(), &proper, &lengths),
        })
    }

    /// The off-diagonal entries, sorted by their ends, each pair once.
    pub fn edges(&self) -> &[LaplacianEdge] {
        &self.edges
    }

    /// A third of the area of the triangles at each vertex, m²; 0 for vertices that no triangle names.
    pub fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// Σⱼ wᵢⱼ: the diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.mass.len()];
        for LaplacianEdge { ends, weight } in &self.edges {
            out[ends[0] as usize] += weight;
            out[ends[1] as usize] += weight;
        }
        out
    }

    /// `out` = L·`x`; V values each.
    ///
    /// # Panics
    ///
    /// If `x` or `out` is not of V values.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!(x.len(), self.mass.len(), "one value a vertex");
        assert_eq!(out.len(), self.mass.len(), "one result a vertex");
        out.fill(0.0);
        for LaplacianEdge { ends, weight } in &self.edges {
            let [a, b] = ends.map(|v| v as usize);
            let flow = weight * (x[a] - x[b]);
            out[a] += flow;
            out[b] -= flow;
        }
    }

    /// The lower triangle of diag(`added`) + `stiffness`·L as `(row, column, value)`, columns and rows ascending.
    ///
    /// What a sparse factorisation takes. A `held` vertex is cut loose from its neighbours and keeps its diagonal; a diagonal
    /// that is not positive becomes 1, so that vertices without triangles are no hole in the system.
    ///
    /// # Panics
    ///
    /// If `added` is not of V values.
    pub fn system(
        &self,
        stiffness: f64,
        added: &[f64],
        held: impl Fn(usize) -> bool,
    ) -> Vec<(u32, u32, f64)> {
        assert_eq!(added.len(), self.mass.len(), "one value a vertex");
        let mut lower = Vec::with_capacity(self.mass.len() + self.edges.len());
        let mut edges = self.edges.iter().peekable();
        for (vertex, (flow, added)) in self.diagonal().iter().zip(added).enumerate() {
            let value = added + stiffness * flow;
            let column = vertex as u32;
            lower.push((column, column, if value > 0.0 { value } else { 1.0 }));
            while let Some(edge) = edges.next_if(|edge| edge.ends[0] == column) {
                if !(held(vertex) || held(edge.ends[1] as usize)) {
                    lower.push((edge.ends[1], column, -stiffness * edge.weight));
                }
            }
        }
        lower
    }

    /// The Laplacian of a triangulation that comes from checked `triangles`, which give the areas.
    pub(crate) fn of_surface(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        surface: &Intrinsic,
    ) -> Self {
        let half = 0.5 * surface.share;
        let mut edges = assemble(positions.len(), &surface.origins, &surface.cotangents, half);
        // What rounding left of the diagonals of rectangles.
        for edge in &mut edges {
            edge.weight = edge.weight.max(0.0);
        }
        let proper = proper(triangles);
        // From the mesh's own triangles, as those of a square do not depend on which diagonal flips chose.
        let mass = mass(
            positions.len(),
            &proper,
            &mollified_lengths(positions, &proper),
        );
        Self { edges, mass }
    }
}

/// What every function of a surface checks.
pub(crate) fn check(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), GeomError> {
    check_triangles(positions.len(), triangles)?;
    match positions
        .iter()
        .position(|p| !p.iter().all(|c| c.is_finite()))
    {
        Some(vertex) => Err(GeomError::NotFinite { vertex }),
        None => Ok(()),
    }
}

/// Sums `scale` · cotangent over the slots of each edge.
fn assemble(
    vertex_count: usize,
    origins: &[u32],
    cotangents: &[f64],
    scale: f64,
) -> Vec<LaplacianEdge> {
    let ends = |slot: usize| {
        let (a, b) = (origins[slot], origins[Intrinsic::next(slot)]);
        [a.min(b), a.max(b)]
    };
    // A counting sort by the smaller end: the lists that remain are short.
    let mut starts = vec![0_usize; vertex_count + 1];
    for slot in 0..origins.len() {
        starts[ends(slot)[0] as usize + 1] += 1;
    }
    for vertex in 0..vertex_count {
        starts[vertex + 1] += starts[vertex];
    }
    let mut next = starts.clone();
    let mut sorted = vec![(0_u32, 0.0_f64); origins.len()];
    for (slot, cotangent) in cotangents.iter().enumerate() {
        let [low, high] = ends(slot);
        sorted[next[low as usize]] = (high, scale * cotangent);
        next[low as usize] += 1;
    }
    let mut edges = Vec::with_capacity(origins.len() / 2);
    for low in 0..vertex_count {
        let list = &mut sorted[starts[low]..starts[low + 1]];
        list.sort_by_key(|(high, _)| *high);
        for shared in list.chunk_by(|a, b| a.0 == b.0) {
            let high = shared[0].0;
            // An edge from a vertex to itself moves nothing.
            if high as usize != low {
                edges.push(LaplacianEdge {
                    ends: [low as u32, high],
                    weight: shared.iter().map(|(_, weight)| weight).sum(),
                });
            }
        }
    }
    edges
}

fn mass(vertex_count: usize, triangles: &[[u32; 3]], lengths: &[[f64; 3]]) -> Vec<f64> {
    let mut mass = vec![0.0; vertex_count];
    for (corners, lengths) in triangles.iter().zip(lengths) {
        let third = area(*lengths) / 3.0;
        for vertex in corners {
            mass[*vertex as usize] += third;
        }
    }
    mass
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::primitives;
    use crate::topology::weld;

    fn welded(mesh: &crate::Mesh) -> Vec<[u32; 3]> {
        let welded = weld(&mesh.rest.positions);
        mesh.triangles
            .iter()
            .map(|t| t.map(|v| welded[v as usize]))
            .collect()
    }

    #[test]
    fn an_equilateral_triangle_has_its_closed_form() {
        let height = 0.75_f32.sqrt();
        let positions = [Vec3::zeros(), Vec3::x(), Vec3::new(0.5, height, 0.0)];
        for laplacian in [
            Laplacian::intrinsic_delaunay(&positions, &[[0, 1, 2]]).unwrap(),
            Laplacian::cotangent(&positions, &[[0, 1, 2]]).unwrap(),
        ] {
            assert_eq!(laplacian.edges().len(), 3);
            for edge in laplacian.edges() {
                assert!((edge.weight - 0.5 / 3.0_f64.sqrt()).abs() < 1e-7);
            }
            for mass in laplacian.mass() {
                assert!((mass - 3.0_f64.sqrt() / 12.0).abs() < 1e-7);
            }
        }
    }

    #[test]
    fn both_agree_where_the_mesh_is_delaunay() {
        let sphere = primitives::sphere(1.0, 16, 16);
        let triangles = welded(&sphere);
        let positions = &sphere.rest.positions;
        let heights: Vec<f64> = positions.iter().map(|p| f64::from(p.y)).collect();
        let (mut a, mut b) = (vec![0.0; heights.len()], vec![0.0; heights.len()]);
        let flipped = Laplacian::intrinsic_delaunay(positions, &triangles).unwrap();
        flipped.apply(&heights, &mut a);
        Laplacian::cotangent(positions, &triangles)
            .unwrap()
            .apply(&heights, &mut b);
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-6);
        }
        // y is a first harmonic of the unit sphere, whose eigenvalue is 2.
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let weighted: Vec<f64> = heights
            .iter()
            .zip(flipped.mass())
            .map(|(y, m)| y * m)
            .collect();
        let eigenvalue = dot(&heights, &a) / dot(&heights, &weighted);
        assert!((eigenvalue - 2.0).abs() < 0.05, "{eigenvalue}");
    }

    #[test]
    fn stretched_sheets_have_no_negative_weight_and_planes_stay_harmonic() {
        let mut sheet = primitives::grid(8, 8, 0.1);
        for p in &mut sheet.rest.positions {
            *p = Vec3::new(p.x * 2.0 + p.z * 1.5, 0.0, p.z);
        }
        let positions = &sheet.rest.positions;
        let plain = Laplacian::cotangent(positions, &sheet.triangles).unwrap();
        assert!(plain.edges().iter().any(|edge| edge.weight < -0.01));
        let flipped = Laplacian::intrinsic_delaunay(positions, &sheet.triangles).unwrap();
        assert!(flipped.edges().iter().all(|edge| edge.weight >= 0.0));
        assert!(flipped.edges().is_sorted_by_key(|edge| edge.ends));
        let plane: Vec<f64> = positions
            .iter()
            .map(|p| f64::from(p.x - 2.0 * p.z))
            .collect();
        let mut out = vec![0.0; plane.len()];
        flipped.apply(&plane, &mut out);
        for row in 2..7 {
            for column in 2..7 {
                assert!(
                    out[row * 9 + column].abs() < 1e-5,
                    "{}",
                    out[row * 9 + column]
                );
            }
        }
    }

    #[test]
    fn three_sheets_on_one_edge_weigh_each_once() {
        // Each triangle's cotangent at its apex, whatever the number of triangles.
        let mut positions = vec![Vec3::zeros(), Vec3::x()];
        for angle in [0.3_f32, 2.0, 4.0, 5.0] {
            positions.push(Vec3::new(0.5, angle.cos(), angle.sin()));
        }
        let triangles = [[0, 1, 2], [1, 0, 3], [0, 1, 4], [0, 1, 5]];
        for count in 1..=4 {
            let laplacian = Laplacian::intrinsic_delaunay(&positions, &triangles[..count]).unwrap();
            let apex = (1.0 - 0.25) / 1.0;
            let expected = 0.5 * count as f64 * apex;
            assert!((laplacian.edges()[0].weight - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn what_is_no_surface_is_refused() {
        let positions = [Vec3::zeros(), Vec3::x(), Vec3::new(0.0, f32::NAN, 0.0)];
        assert_eq!(
            Laplacian::intrinsic_delaunay(&positions, &[]).err(),
            Some(GeomError::NotFinite { vertex: 2 })
        );
        assert!(Laplacian::cotangent(&positions[..2], &[[0, 1, 2]]).is_err());
        assert!(
            Laplacian::intrinsic_delaunay(&[], &[])
                .unwrap()
                .edges()
                .is_empty()
        );
    }

    proptest! {
        #[test]
        fn any_soup_has_a_laplacian_without_negative_weights(
            places in prop::collection::vec([0_i8..4, 0_i8..4, 0_i8..3], 3..14),
            corners in prop::collection::vec([0_u32..14, 0_u32..14, 0_u32..14], 0..24),
            scale in prop_oneof![Just(0.0_f32), Just(1.0), Just(1e-30), Just(1e30)],
        ) {
            let positions: Vec<Vec3> =
                places.iter().map(|p| Vec3::from(p.map(f32::from)) * scale).collect();
            let count = positions.len() as u32;
            let triangles: Vec<[u32; 3]> = corners.iter().map(|t| t.map(|v| v % count)).collect();
            let laplacian = Laplacian::intrinsic_delaunay(&positions, &triangles).unwrap();
            for edge in laplacian.edges() {
                prop_assert!(edge.weight >= 0.0 && edge.weight.is_finite());
                prop_assert!(edge.ends[0] < edge.ends[1]);
            }
            prop_assert!(laplacian.mass().iter().all(|m| *m >= 0.0 && m.is_finite()));
        }
    }
}
