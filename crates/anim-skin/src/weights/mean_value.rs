//! Weights of a surface, continued into the space around and inside it.

use anim_geom::{Mesh, MeshBvh};
use anim_math::Vec3;

use super::SkinWeights;
use super::rows::{Row, RowMixer};

/// Directions in each octant; all eight are alike, so that mirrored meshes get mirrored weights.
const PER_OCTANT: usize = 32;

/// The mean value of what a point sees of a surface:
///
/// w(x) = Σ_ω w(s_ω) / |s_ω − x|  ÷  Σ_ω 1 / |s_ω − x|,
///
/// where s_ω is the first point of the surface from x along ω, and the sums run over 256 even directions that come in
/// opposite pairs; a direction that meets nothing counts as infinitely far. Since Σ_ω |s_ω − x| ω / |s_ω − x| = Σ_ω ω = 0,
/// weights that are linear in space are met exactly wherever the surface is seen all around, between two wide walls too.
/// Weights are positive and sum to 1, meet those of the surface where x comes near it, and, unlike those of the nearest
/// point, do not jump half-way between two parts. Costs 256 rays.
///
/// Source: Ju, Schaefer, Warren, "Mean value coordinates for closed triangular meshes", SIGGRAPH 2005, eq. 1; of what is
/// visible alone, and so never negative: Lipman, Kopf, Cohen-Or, Levin, "GPU-assisted positive mean value coordinates for
/// mesh deformations", SGP 2007.
#[derive(Debug)]
pub(crate) struct MeanValue<'a> {
    weights: &'a SkinWeights,
    triangles: &'a [[u32; 3]],
    bvh: &'a MeshBvh,
    directions: Vec<Vec3>,
}

impl<'a> MeanValue<'a> {
    /// The field of `weights` on `mesh`, whose triangles `bvh` holds.
    pub(crate) fn new(weights: &'a SkinWeights, mesh: &'a Mesh, bvh: &'a MeshBvh) -> Self {
        Self {
            weights,
            triangles: &mesh.triangles,
            bvh,
            directions: directions(),
        }
    }

    /// The weights at `position`, which must not lie on the surface; `None` if no direction meets it.
    pub(crate) fn at(&self, position: Vec3, mixer: &mut RowMixer) -> Option<Row> {
        let mut total = 0.0;
        for direction in &self.directions {
            let Some(hit) = self.bvh.ray(position, *direction, f32::INFINITY) else {
                continue;
            };
            let nearness = 1.0 / f64::from(hit.distance);
            // What is as near as this has no direction that could be told.
            if !nearness.is_finite() {
                continue;
            }
            total += nearness;
            let corners = self.triangles[hit.triangle as usize];
            for (corner, share) in corners.into_iter().zip(hit.barycentric) {
                if share > 0.0 {
                    let row = self.weights.row(corner as usize);
                    mixer.add(row, nearness * f64::from(share));
                }
            }
        }
        let mut row = Row::new();
        mixer.take(&mut row);
        row.iter_mut().for_each(|(_, weight)| *weight /= total);
        (!row.is_empty()).then_some(row)
    }
}

/// Unit vectors, even over the sphere and closed under a change of any sign: a Fibonacci lattice in each octant.
fn directions() -> Vec<Vec3> {
    /// What turns from one point to the next leave the largest gaps smallest.
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let mut directions = Vec::with_capacity(8 * PER_OCTANT);
    for point in 0..PER_OCTANT {
        let height = (point as f64 + 0.5) / PER_OCTANT as f64;
        let radius = (1.0 - height * height).sqrt();
        let angle = std::f64::consts::FRAC_PI_2 * ((point as f64 + 0.5) * GOLDEN).fract();
        let [x, z] = [libm::cos(angle), libm::sin(angle)].map(|part| (radius * part) as f32);
        for signs in 0..8 {
            let sign = |bit: u32| if signs >> bit & 1 == 0 { 1.0 } else { -1.0 };
            directions.push(Vec3::new(x * sign(0), height as f32 * sign(1), z * sign(2)));
        }
    }
    directions
}

#[cfg(test)]
mod tests {
    use anim_geom::primitives;

    use super::*;

    #[test]
    fn directions_are_even_and_cancel() {
        let directions = directions();
        let mut sum = Vec3::zeros();
        let mut second = anim_math::Mat3::zeros();
        for direction in &directions {
            sum += direction;
            second += direction * direction.transpose();
        }
        assert!(sum.norm() < 1e-4, "{sum}");
        // ∫ ω ωᵀ = 4π/3 · 1; midpoint heights miss a 2·32² th of it, angles somewhat more.
        let error = second * (3.0 / directions.len() as f32) - anim_math::Mat3::identity();
        assert!(error.amax() < 0.02, "{error}");
    }

    /// Weights that are linear in space are the same inside of any surface that is seen all around.
    #[test]
    fn linear_weights_are_linear_in_space() {
        let slope = Vec3::new(0.3, 0.4, -0.2);
        let value = |p: Vec3| f64::from(0.5 + slope.dot(&p));
        for mesh in [
            primitives::sphere(0.5, 24, 16),
            primitives::cuboid(Vec3::new(0.3, 0.5, 0.2)),
            primitives::capsule(0.2, 0.4, 12, 5),
        ] {
            let rows = mesh.rest.positions.iter();
            let rows = rows.map(|p| [(0, 1.0 - value(*p)), (1, value(*p))]);
            let weights = SkinWeights::from_rows(2, rows).unwrap();
            let bvh = MeshBvh::new(&mesh).unwrap();
            let field = MeanValue::new(&weights, &mesh, &bvh);
            let mut mixer = RowMixer::new(2);
            for position in [
                Vec3::zeros(),
                Vec3::new(0.1, -0.2, 0.05),
                Vec3::new(-0.12, 0.3, 0.1),
            ] {
                let row = field.at(position, &mut mixer).unwrap();
                // Hits in f32, of a mesh one metre large.
                assert!((row[1].1 - value(position)).abs() < 1e-5);
            }
        }
    }
}
