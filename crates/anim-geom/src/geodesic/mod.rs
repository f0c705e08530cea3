//! Distances over a surface: how far it is along the mesh, not through the air.
//!
//! Three methods answer the same question. [`FastMarching`] is the one to take by default: no system to factor, errors of
//! about a percent. `HeatGeodesics` (feature `solve`) pays once for a factorisation and then answers in two solves, smoothly,
//! also where the mesh is poor. [`Dijkstra`] along edges is the fastest and never too short on a flat sheet, but its error
//! does not shrink with finer meshes. Weld first ([`topology::weld`](crate::topology::weld)), or seams of texture coordinates
//! are walls.
//!
//! ```
//! use anim_geom::geodesic::{FastMarching, Geodesics};
//! use anim_geom::primitives;
//!
//! let sheet = primitives::grid(20, 20, 0.1);
//! let geodesics = FastMarching::new(&sheet.rest.positions, &sheet.triangles)?;
//! let mut distances = vec![0.0; geodesics.vertex_count()];
//! geodesics.distances(&[(0, 0.0)], &mut distances);
//! assert!((distances[20] - 2.0).abs() < 1e-5, "along the border");
//! assert!((distances[440] / 8_f64.sqrt() - 1.0).abs() < 0.03, "across the diagonal");
//! # Ok::<(), anim_geom::GeomError>(())
//! ```

mod dijkstra;
mod fast_marching;
mod front;
#[cfg(feature = "solve")]
mod heat;

pub use dijkstra::Dijkstra;
pub use fast_marching::FastMarching;
#[cfg(feature = "solve")]
pub use heat::HeatGeodesics;

/// A surface of V vertices, prepared to measure distances on it.
pub trait Geodesics: Sync {
    /// Number of vertices, V.
    fn vertex_count(&self) -> usize;

    /// Writes the distance of each vertex from the nearest source, metres, counting from the source's initial value.
    ///
    /// * `sources`: vertices and the distances they start at, which need not agree with each other; a source whose value is
    ///   not finite is ignored. * `out`: V; +∞ where no source reaches.
    ///
    /// # Panics
    ///
    /// If `out` is not of V values or a source names a vertex that is not there.
    fn distances(&self, sources: &[(u32, f64)], out: &mut [f64]);
}

#[cfg(test)]
mod tests {
    use anim_math::Vec3;

    use super::*;
    use crate::topology::weld;
    use crate::{Mesh, primitives};

    fn methods(mesh: &Mesh) -> Vec<(&'static str, Box<dyn Geodesics>)> {
        let welded = weld(&mesh.rest.positions);
        let triangles: Vec<[u32; 3]> = mesh
            .triangles
            .iter()
            .map(|t| t.map(|v| welded[v as usize]))
            .collect();
        let positions = &mesh.rest.positions;
        vec![
            (
                "edges",
                Box::new(Dijkstra::new(positions, &triangles).unwrap()),
            ),
            (
                "marching",
                Box::new(FastMarching::new(positions, &triangles).unwrap()),
            ),
            #[cfg(feature = "solve")]
            (
                "heat",
                Box::new(HeatGeodesics::new(positions, &triangles).unwrap()),
            ),
        ]
    }

    /// ‖d − exact‖ / ‖exact‖ over the vertices that triangles name.
    fn relative_error(found: &[f64], exact: &[f64]) -> f64 {
        let reached = || found.iter().zip(exact).filter(|(d, _)| d.is_finite());
        let square: f64 = reached().map(|(d, e)| (d - e) * (d - e)).sum();
        (square / reached().map(|(_, e)| e * e).sum::<f64>()).sqrt()
    }

    fn solve(geodesics: &dyn Geodesics, sources: &[(u32, f64)]) -> Vec<f64> {
        let mut out = vec![f64::NAN; geodesics.vertex_count()];
        geodesics.distances(sources, &mut out);
        out
    }

    #[test]
    fn on_a_flat_square_errors_shrink_with_the_cells() {
        let mut errors = Vec::new();
        for cells in [16, 64] {
            let sheet = primitives::grid(cells, cells, 1.0 / cells as f32);
            let source = cells * (cells + 1) / 4 + cells / 3;
            let from = sheet.rest.positions[source as usize];
            let exact: Vec<f64> = sheet
                .rest
                .positions
                .iter()
                .map(|p| f64::from((p - from).norm()))
                .collect();
            for (name, method) in methods(&sheet) {
                let found = solve(&*method, &[(source, 0.0)]);
                errors.push((name, relative_error(&found, &exact)));
                if name == "edges" {
                    assert!(found.iter().zip(&exact).all(|(d, e)| *d >= e - 1e-6));
                }
            }
        }
        let half = errors.len() / 2;
        for (coarse, fine) in errors[..half].iter().zip(&errors[half..]) {
            let shrinks = coarse.0 == "edges" || fine.1 < 0.5 * coarse.1;
            assert!(shrinks, "{coarse:?} {fine:?}");
            assert!(
                fine.1 < if coarse.0 == "edges" { 0.09 } else { 0.02 },
                "{fine:?}"
            );
        }
    }

    #[test]
    fn on_a_sphere_distances_are_radius_times_angle() {
        // 9,802 vertices, with slivers at the poles; the source is away from them.
        let radius = 3.0_f32;
        let sphere = primitives::sphere(radius, 100, 98);
        let source = 37 * 101 + 11;
        let from = sphere.rest.positions[source].cast::<f64>().normalize();
        let angle = |p: &Vec3| {
            let p = p.cast::<f64>().normalize();
            f64::from(radius) * from.cross(&p).norm().atan2(from.dot(&p))
        };
        let exact: Vec<f64> = sphere.rest.positions.iter().map(angle).collect();
        for (name, method) in methods(&sphere) {
            let found = solve(&*method, &[(source as u32, 0.0)]);
            let error = relative_error(&found, &exact);
            let bar = match name {
                "marching" => 0.03,
                "heat" => 0.05,
                _ => 0.12,
            };
            assert!(error < bar, "{name}: {error}");
        }
    }

    #[test]
    fn initial_values_shift_and_the_nearest_source_wins() {
        let tube = primitives::tube(0.1, 2.0, 16, 80);
        let (low, high) = (0, 80 * 17);
        for (name, method) in methods(&tube) {
            let one = solve(&*method, &[(low, 0.0)]);
            let shifted = solve(&*method, &[(low, 2.5), (high, f64::NAN)]);
            for (one, shifted) in one.iter().zip(&shifted) {
                let is_same = one == shifted || (one + 2.5 - shifted).abs() < 1e-9;
                assert!(is_same, "{name}: {one} {shifted}");
            }
            // Fronts from 0 at the low end and 1 at the high end, 4 m apart, meet at 2.5 m.
            let both = solve(&*method, &[(low, 0.0), (high, 1.0)]);
            for ring in [10, 40, 47, 53, 70] {
                let along = 0.05 * f64::from(ring);
                let expected = along.min(1.0 + 4.0 - along);
                let found = both[ring as usize * 17];
                assert!(
                    (found - expected).abs() < 0.06 * expected + 0.05,
                    "{name} {ring}: {found}"
                );
            }
        }
    }

    #[test]
    fn what_no_source_reaches_is_infinitely_far() {
        let mut mesh = primitives::grid(3, 3, 1.0);
        let count = mesh.vertex_count() as u32;
        let second = primitives::grid(3, 3, 1.0);
        mesh.triangles
            .extend(second.triangles.iter().map(|t| t.map(|v| v + count)));
        mesh.rest
            .positions
            .extend(second.rest.positions.iter().map(|p| p + Vec3::y()));
        mesh.rest.positions.push(Vec3::repeat(9.0));
        for (name, method) in methods(&mesh) {
            let found = solve(&*method, &[(0, 0.0)]);
            let (near, far) = found.split_at(count as usize);
            assert!(near.iter().all(|d| d.is_finite()), "{name}");
            assert!(far.iter().all(|d| *d == f64::INFINITY), "{name}");
            assert!(solve(&*method, &[]).iter().all(|d| *d == f64::INFINITY));
            assert_eq!(
                solve(&*method, &[(2 * count, 0.5)])[2 * count as usize],
                0.5
            );
        }
    }

    #[test]
    fn soups_have_distances_too() {
        // A fin on a fold, a triangle without area, a repeated vertex, a duplicate.
        let positions = vec![
            Vec3::zeros(),
            Vec3::x(),
            Vec3::y(),
            Vec3::z(),
            -Vec3::y(),
            Vec3::x() * 0.5,
        ];
        let triangles = vec![
            [0, 1, 2],
            [0, 1, 3],
            [0, 1, 4],
            [0, 1, 5],
            [0, 0, 1],
            [0, 1, 2],
        ];
        let mesh = Mesh {
            rest: crate::Vertices {
                positions,
                normals: vec![],
            },
            uvs: vec![],
            triangles,
        };
        for (name, method) in methods(&mesh) {
            let found = solve(&*method, &[(2, 0.0)]);
            assert!(
                found.iter().all(|d| d.is_finite() && *d >= 0.0),
                "{name}: {found:?}"
            );
        }
    }
}
