//! Weights carried from one mesh to another: clothes from the body, a new version from the old one.
//!
//! Vertices that lie close to the source and face as it does take its weights; the others (a skirt's folds, an inner side)
//! are filled in from them smoothly, which looks right where the nearest point would tear. Facing is what keeps the lips of
//! a closed mouth apart. Every loose part is filled in by itself. Source weights are on the simplex by their type: what a
//! file or a learned model gives passes [`SkinWeights::from_influences`] first.
//!
//! What is thick, or stands off, is better carried [by volume](Correspondence::Volume): padding, armour, a skirt, the cage
//! of a simulation. Nearest points jump where two parts are equally near, in the armpit and between the legs; posed, what
//! lies across such a place is squeezed to nothing or turned inside out, however much room is left.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_skin::weights::transfer::{TransferOptions, transfer};
//! use anim_skin::weights::SkinWeights;
//!
//! let body = primitives::tube(0.3, 1.0, 12, 8);
//! let weights = body.rest.positions.iter().map(|p| [(0, 1.0 - f64::from(p.y)), (1, 1.0 + f64::from(p.y))]);
//! let weights = SkinWeights::from_rows(2, weights)?;
//! let sleeve = primitives::tube(0.32, 0.8, 16, 5);
//! let (carried, report) = transfer(&weights, &body, &sleeve, &TransferOptions::default())?;
//! assert_eq!(report.accepted, sleeve.vertex_count());
//! assert!((carried.weight(0, 1) - 0.1).abs() < 0.01);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_geom::{Mesh, MeshBvh, MeshPoint, chunks};
use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use super::inpaint::inpaint;
use super::mean_value::MeanValue;
use super::rows::{Row, RowMixer};
use super::sheets::Sheets;
use super::surface::check_positive;
use super::surface_graph::extent;
use super::{SkinWeights, SurfaceGraph};
use crate::SkinError;

/// Which part of the source a vertex belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Correspondence {
    /// To the nearest point that is near enough and faces the same way: what lies close, as skin, shirts and lips do.
    #[default]
    Surface,
    /// To all it sees, the nearer the more, so that volume is kept.
    ///
    /// w(x) = Σ_ω w(s_ω) / |s_ω − x| ÷ Σ_ω 1 / |s_ω − x| over 256 even directions ω, with s_ω the first point of the source
    /// from x along ω: positive mean value coordinates. A linearly skinned point moves by F(x) = Σⱼ wⱼ(x) Mⱼ x, so a small
    /// volume changes by det ∂F = det(Σⱼ wⱼ Rⱼ + Σⱼ (Mⱼ x) ∇wⱼᵀ). Between two flat parts a distance D apart that come nearer by u,
    /// the weights are linear and ∂F = 1 − u / D everywhere: what lies there, be it several layers, loses the share of its
    /// thickness that the gap loses, and cannot fold over before the parts themselves touch. With nearest points, and
    /// rigid parts, ∇w is 0 but for a jump half-way, where all of u is lost at once.
    ///
    /// Distances and facing do not matter; vertices on the source (a ten-thousandth of its diagonal) still take its weights.
    /// The price: parts that see each other across a gap share, so rows are longer; [`prune`](super::prune) them. Where the
    /// source comes to pass through itself, in the crease of a sharp bend, there is no gap to keep and layers turn over as
    /// they do with nearest points.
    Volume,
}

/// When a vertex takes the weights of the nearest point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TransferOptions {
    /// By the surface or by volume.
    pub correspondence: Correspondence,
    /// The point is nearer than this part of the diagonal of the target's box; above 0.
    pub max_distance: f64,
    /// The normals differ by less than this angle, radians, above 0. A normal of length 0 faces nothing; from π on nothing
    /// has to face.
    pub max_angle: f64,
}

impl Default for TransferOptions {
    /// By the surface; a twentieth of the diagonal and 30°.
    fn default() -> Self {
        Self {
            correspondence: Correspondence::Surface,
            max_distance: 0.05,
            max_angle: std::f64::consts::PI / 6.0,
        }
    }
}

/// Where the weights of a target came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TransferReport {
    /// Vertices that took the weights of a point of the source, or by volume of what they see of it.
    pub accepted: usize,
    /// Vertices that were filled in from those.
    pub inpainted: usize,
    /// Vertices of parts without an accepted one, ascending; they took the weights of the nearest point whatever its side.
    pub nearest: Vec<u32>,
    /// Vertices of the target without a normal, which face nothing: by surface below π none of them is accepted.
    pub without_normal: usize,
}

/// Carries the `weights` of `source` to `target`, both in the same space.
///
/// Accepted vertices take the weights of the nearest point that passes `options`, interpolated over its triangle. Where sheets
/// of the source coincide and face the same way, all of a target's sheet goes to the one that most of it is near; two that
/// nothing else tells apart are told by their order. The others minimise Σⱼ wⱼᵀ (L + L M⁻¹ L) wⱼ with those fixed, what
/// becomes negative is cut and the rows divided by their sums: L is the intrinsic Delaunay Laplacian of the welded target, M
/// its areas as parts of the squared diagonal. A mesh with itself gives the same weights. By [volume](Correspondence::Volume) all vertices are accepted that see the source. The same
/// bits for any number of threads; O(V log F).
///
/// Source: Abdrashitov, Raichstat, Monsen, Hill, "Robust skin weights transfer via weight inpainting", SIGGRAPH Asia 2023
/// Technical Communications.
///
/// # Errors
///
/// [`SkinError::BadOption`] for a distance or an angle that is not a positive number, [`SkinError::Count`] if `weights` are
/// not of `source`, [`SkinError::Mesh`] for what [`MeshBvh::new`] finds in the source and [`Mesh::check`] in the target.
pub fn transfer(
    weights: &SkinWeights,
    source: &Mesh,
    target: &Mesh,
    options: &TransferOptions,
) -> Result<(SkinWeights, TransferReport), SkinError> {
    check_positive("max_distance", options.max_distance)?;
    check_positive("max_angle", options.max_angle)?;
    weights.check_vertices(source.vertex_count())?;
    let closest = Closest::new(source)?;
    let graph = SurfaceGraph::new(target)?;
    let positions = graph.positions();
    let diagonal = extent(positions);
    // A target of one point has no size of its own.
    let reach = if diagonal > 0.0 {
        options.max_distance * diagonal
    } else {
        f64::INFINITY
    };
    let touch = 1e-4 * extent(&source.rest.positions);
    let space = match options.correspondence {
        Correspondence::Surface => None,
        Correspondence::Volume => Some(MeanValue::new(weights, source, &closest.any)),
    };
    let reach_facing = match options.correspondence {
        Correspondence::Surface => reach,
        Correspondence::Volume => touch,
    };
    let mut facing: Vec<Vec<SourcePoint>> = vec![Vec::new(); positions.len()];
    chunks::for_each_mut(&mut facing, |first, facing| {
        for (vertex, points) in (first..).zip(facing) {
            let (position, normal) = (positions[vertex], target.rest.normals[vertex]);
            *points = closest.facing(position, normal, reach_facing, options.max_angle);
        }
    });
    let choice = closest.choose(target, &facing);
    let mut rows: Vec<Option<Row>> = vec![None; positions.len()];
    chunks::for_each_mut(&mut rows, |first, rows| {
        let mut mixer = RowMixer::new(weights.joint_count());
        for (vertex, row) in (first..).zip(rows) {
            let position = positions[vertex];
            let mut point = facing[vertex].get(choice[vertex]).copied();
            if space.is_some() {
                point = point.or_else(|| closest.touching(position, touch));
            }
            *row = match (point, &space) {
                (Some(point), _) => Some(closest.row(weights, point, &mut mixer)),
                (None, Some(space)) => space.at(position, &mut mixer),
                (None, None) => None,
            };
        }
    });
    let mut report = TransferReport {
        accepted: rows.iter().flatten().count(),
        without_normal: target
            .rest
            .normals
            .iter()
            .filter(|n| n.norm_squared() == 0.0)
            .count(),
        ..TransferReport::default()
    };
    if let Some(filled) = inpaint(&graph, &rows, weights.joint_count(), diagonal)? {
        for (vertex, row) in rows.iter_mut().enumerate() {
            if row.is_none() && !filled[graph.place(vertex)].is_empty() {
                *row = Some(filled[graph.place(vertex)].clone());
                report.inpainted += 1;
            }
        }
    }
    let mut mixer = RowMixer::new(weights.joint_count());
    for (vertex, row) in rows.iter_mut().enumerate() {
        if row.is_none() {
            report.nearest.push(vertex as u32);
            let point = closest.of(closest.any.nearest(positions[vertex]));
            *row = Some(closest.row(weights, point, &mut mixer));
        }
    }
    let rows = rows.into_iter().flatten();
    Ok((SkinWeights::from_rows(weights.joint_count(), rows)?, report))
}

/// A triangle's corners and a point's weights at them.
type SourcePoint = ([u32; 3], [f32; 3]);

/// The source, asked for the nearest point that faces a given way.
struct Closest<'a> {
    source: &'a Mesh,
    any: MeshBvh,
    sheets: Sheets,
    /// For each layer of sheets the triangles that face most along +x, −x, +y, …, and which ones they are: where two sheets
    /// touch, each is found.
    layers: Vec<Vec<(MeshBvh, Vec<u32>)>>,
    /// Distances that differ by less are equal, metres.
    tie: f32,
}

/// A point that a vertex faces.
struct Facing {
    distance: f32,
    cosine: f64,
    point: SourcePoint,
}

/// Cosines between normals in f32 that differ by less are equal.
const COSINE_TIE: f64 = 1e-6;

impl<'a> Closest<'a> {
    fn new(source: &'a Mesh) -> Result<Self, SkinError> {
        let any = MeshBvh::new(source)?;
        let sheets = Sheets::new(source);
        let mut groups: Vec<[Vec<u32>; 6]> = Vec::new();
        for (index, triangle) in (0..).zip(&source.triangles) {
            let normal =
                anim_geom::normals::face(triangle.map(|v| source.rest.positions[v as usize]));
            if let Some(normal) = normal {
                let (axis, layer) = (normal.iamax(), sheets.layer(triangle[0]));
                if groups.len() <= layer {
                    groups.resize_with(layer + 1, Default::default);
                }
                groups[layer][2 * axis + usize::from(normal[axis] < 0.0)].push(index);
            }
        }
        let indexed = |group: Vec<u32>| {
            let triangles = group.iter().map(|index| source.triangles[*index as usize]);
            let part = Mesh {
                rest: source.rest.clone(),
                uvs: Vec::new(),
                triangles: triangles.collect(),
            };
            // A group of none or of slivers alone has nothing that could be nearest.
            MeshBvh::new(&part).ok().map(|bvh| (bvh, group))
        };
        let layers = groups.into_iter();
        Ok(Self {
            source,
            any,
            sheets,
            layers: layers
                .map(|layer| layer.into_iter().filter_map(indexed).collect())
                .collect(),
            // Coordinates in f32.
            tie: 1e-6 * extent(&source.rest.positions) as f32,
        })
    }

    /// Which of the points that a vertex of `target` faces it takes: the one on the sheet that its own sheet belongs to.
    fn choose(&self, target: &Mesh, facing: &[Vec<SourcePoint>]) -> Vec<usize> {
        let sheet = |(corners, _): &SourcePoint| self.sheets.of(corners[0]);
        let candidates: Vec<Vec<u32>> = facing
            .iter()
            .map(|points| points.iter().filter_map(sheet).collect())
            .collect();
        Sheets::new(target).choose(&candidates)
    }

    fn of(&self, point: MeshPoint) -> SourcePoint {
        let corners = self.source.triangles[point.triangle as usize];
        (corners, point.barycentric)
    }

    /// The weights at a point.
    fn row(
        &self,
        weights: &SkinWeights,
        (corners, barycentric): SourcePoint,
        mixer: &mut RowMixer,
    ) -> Row {
        for (corner, share) in corners.into_iter().zip(barycentric) {
            if share > 0.0 {
                mixer.add(weights.row(corner as usize), f64::from(share));
            }
        }
        let mut row = Row::new();
        mixer.take(&mut row);
        row
    }

    /// The nearest point within `reach`, whatever its side.
    fn touching(&self, position: Vec3, reach: f64) -> Option<SourcePoint> {
        let point = self.any.nearest_within(position, reach as f32)?;
        Some(self.of(point))
    }

    /// The nearest point within `reach` whose interpolated normal is within `max_angle` of `normal`, of equally near ones the
    /// one that faces best; more than one where several sheets have points as near that face as well.
    fn facing(&self, position: Vec3, normal: Vec3, reach: f64, max_angle: f64) -> Vec<SourcePoint> {
        let least_cosine = libm::cos(max_angle.min(std::f64::consts::PI));
        let of_layer = |layer: &Vec<_>| {
            let points = layer
                .iter()
                .filter_map(|group| self.facing_in(group, position, normal, reach));
            best(points.filter(|point| point.cosine >= least_cosine))
        };
        let mut found: Vec<Facing> = self.layers.iter().filter_map(of_layer).collect();
        let Some(Facing {
            distance, cosine, ..
        }) = best(found.iter())
        else {
            return Vec::new();
        };
        let (farthest, least) = (distance + self.tie, cosine - COSINE_TIE);
        found.retain(|point| point.distance <= farthest && point.cosine >= least);
        found.into_iter().map(|point| point.point).collect()
    }

    /// The nearest point of the triangles of one direction.
    fn facing_in(
        &self,
        (bvh, group): &(MeshBvh, Vec<u32>),
        position: Vec3,
        normal: Vec3,
        reach: f64,
    ) -> Option<Facing> {
        let found = bvh.nearest_within(position, reach as f32)?;
        let corners = self.source.triangles[group[found.triangle as usize] as usize];
        let mut smooth = Vec3::zeros();
        for (corner, share) in corners.into_iter().zip(found.barycentric) {
            smooth += self.source.rest.normals[corner as usize] * share;
        }
        Some(Facing {
            distance: found.distance.abs(),
            cosine: cosine(smooth, normal),
            point: (corners, found.barycentric),
        })
    }
}

/// The nearest of `points`, of equally near ones the first that faces best.
fn best<P: std::borrow::Borrow<Facing>>(points: impl Iterator<Item = P>) -> Option<P> {
    points.reduce(|best, point| {
        let (a, b): (&Facing, &Facing) = (best.borrow(), point.borrow());
        let is_better =
            b.distance < a.distance || (b.distance == a.distance && b.cosine > a.cosine);
        if is_better { point } else { best }
    })
}

/// The cosine of the angle between two vectors; −1 if one has no direction.
fn cosine(a: Vec3, b: Vec3) -> f64 {
    let (a, b) = (a.cast::<f64>(), b.cast::<f64>());
    let lengths = a.norm() * b.norm();
    if lengths > 0.0 {
        a.dot(&b) / lengths
    } else {
        -1.0
    }
}

#[cfg(test)]
mod tests {
    use anim_geom::primitives;
    use proptest::prelude::*;

    use super::*;
    use crate::Influences;

    /// Two joints along y, as a smooth step over [−half, half].
    fn along_y(mesh: &Mesh, half: f32) -> SkinWeights {
        let rows = mesh.rest.positions.iter().map(|p| {
            let t = f64::from((p.y / half * 0.5 + 0.5).clamp(0.0, 1.0));
            [(0, 1.0 - t), (1, t)]
        });
        SkinWeights::from_rows(2, rows).unwrap()
    }

    fn default(
        weights: &SkinWeights,
        source: &Mesh,
        target: &Mesh,
    ) -> (SkinWeights, TransferReport) {
        transfer(weights, source, target, &TransferOptions::default()).unwrap()
    }

    fn joined(mut a: Mesh, b: &Mesh) -> Mesh {
        let first = a.vertex_count() as u32;
        a.rest.positions.extend(&b.rest.positions);
        a.rest.normals.extend(&b.rest.normals);
        a.uvs.clear();
        a.triangles
            .extend(b.triangles.iter().map(|t| t.map(|v| v + first)));
        a
    }

    fn moved(mut mesh: Mesh, by: Vec3) -> Mesh {
        mesh.rest.positions.iter_mut().for_each(|p| *p += by);
        mesh
    }

    #[test]
    fn the_same_mesh_is_the_identity() {
        for mesh in [
            primitives::capsule(0.2, 0.5, 12, 5),
            primitives::cuboid(Vec3::new(0.3, 0.5, 0.2)),
            primitives::cylinder(0.3, 0.5, 9, 4),
        ] {
            let weights = along_y(&mesh, 0.7);
            let (same, report) = default(&weights, &mesh, &mesh);
            assert!(
                same.mean_difference(&weights) < 1e-6,
                "{}",
                same.mean_difference(&weights)
            );
            assert_eq!(report.accepted, mesh.vertex_count());
        }
    }

    /// Closed lips: the upper one follows the head, the lower one the jaw, and the sheets touch.
    #[test]
    fn touching_sheets_keep_their_own_weights() {
        for gap in [0.0, 0.001] {
            let lower = primitives::grid(6, 6, 0.1);
            let mut upper = moved(primitives::grid(6, 6, 0.1), Vec3::new(0.0, gap, 0.0));
            upper.rest.normals.fill(-Vec3::y());
            for triangle in &mut upper.triangles {
                triangle.swap(1, 2);
            }
            let count = lower.vertex_count();
            let lips = joined(lower, &upper);
            let weights =
                SkinWeights::from_rows(2, (0..2 * count).map(|v| [(u16::from(v >= count), 1.0)]))
                    .unwrap();
            let (carried, report) = default(&weights, &lips, &lips);
            assert_eq!(report.accepted, 2 * count);
            assert_eq!(carried.mean_difference(&weights), 0.0);
        }
    }

    /// A sheet of `cells`² cells of 0.6 m in all, cut in two along its middle if it has a seam.
    fn sheet(cells: u32, has_seam: bool) -> Mesh {
        let size = 0.6 / cells as f32;
        if !has_seam {
            return primitives::grid(cells, cells, size);
        }
        let half = primitives::grid(cells / 2, cells, size);
        joined(
            moved(half.clone(), Vec3::x() * -0.15),
            &moved(half, Vec3::x() * 0.15),
        )
    }

    /// Nothing near any of their points tells two sheets apart that lie in one place and face the same way.
    #[test]
    fn coincident_sheets_that_face_alike_keep_their_own_weights() {
        for has_seam in [false, true] {
            let one = sheet(6, has_seam);
            let count = one.vertex_count();
            let both = joined(one.clone(), &one);
            let rows = (0..2 * count).map(|v| [(u16::from(v >= count), 1.0)]);
            let weights = SkinWeights::from_rows(2, rows).unwrap();
            for target in [sheet(6, has_seam), sheet(12, false), sheet(24, true)] {
                let finer = target.vertex_count();
                let target = joined(target.clone(), &target);
                let (carried, report) = default(&weights, &both, &target);
                assert_eq!(report.accepted, 2 * finer);
                for vertex in 0..2 * finer {
                    let own = u16::from(vertex >= finer);
                    assert!(carried.row(vertex).eq([(own, 1.0)]), "{vertex}");
                }
            }
        }
    }

    #[test]
    fn a_decal_keeps_its_weights_and_so_does_what_it_lies_on_whichever_is_first() {
        let (wall, decal) = (sheet(6, false), primitives::grid(2, 2, 0.1));
        let part = |mesh: &Mesh, joint: u16| vec![[(joint, 1.0)]; mesh.vertex_count()];
        let (wall_first, decal_first) =
            (joined(wall.clone(), &decal), joined(decal.clone(), &wall));
        for (source, joints) in [(&wall_first, [0, 1]), (&decal_first, [1, 0])] {
            let [first, second] = if joints[0] == 0 {
                [&wall, &decal]
            } else {
                [&decal, &wall]
            };
            let rows = [part(first, joints[0]), part(second, joints[1])].concat();
            let weights = SkinWeights::from_rows(2, rows).unwrap();
            for (target, ends, order) in [
                (&wall_first, wall.vertex_count(), [0, 1]),
                (&decal_first, decal.vertex_count(), [1, 0]),
            ] {
                let (carried, _) = default(&weights, source, target);
                for vertex in 0..target.vertex_count() {
                    let own = order[usize::from(vertex >= ends)];
                    assert!(carried.row(vertex).eq([(own, 1.0)]), "{joints:?} {vertex}");
                }
            }
        }
    }

    /// Heights are harmonic on a tube, and so have the least energy: what is filled in is exact.
    #[test]
    fn what_faces_away_is_filled_in_smoothly() {
        let body = primitives::tube(0.3, 1.0, 24, 40);
        let weights = along_y(&body, 1.0);
        let mut sleeve = primitives::tube(0.31, 0.9, 24, 18);
        for (position, normal) in sleeve.rest.positions.iter().zip(&mut sleeve.rest.normals) {
            if position.y.abs() < 0.35 {
                *normal = -*normal;
            }
        }
        let (carried, report) = default(&weights, &body, &sleeve);
        assert_eq!((report.inpainted, report.nearest.len()), (7 * 25, 0));
        for (vertex, position) in sleeve.rest.positions.iter().enumerate() {
            let expected = f64::from(position.y) * 0.5 + 0.5;
            assert!((carried.weight(vertex, 1) - expected).abs() < 1e-5);
        }
        assert!(carried.max_sum_error() < 1e-15);
    }

    #[test]
    fn a_loose_part_that_nothing_accepts_takes_the_nearest() {
        let body = primitives::capsule(0.2, 0.5, 12, 5);
        let weights = along_y(&body, 0.7);
        let button = moved(primitives::sphere(0.02, 6, 4), Vec3::new(2.0, 0.6, 0.0));
        let mut coat = joined(body.clone(), &button);
        // And a vertex that no triangle names.
        coat.rest.positions.push(Vec3::new(-1.0, -3.0, 0.0));
        coat.rest.normals.push(Vec3::zeros());
        let (carried, report) = default(&weights, &body, &coat);
        let first = body.vertex_count() as u32;
        assert_eq!(
            report.nearest,
            (first..coat.vertex_count() as u32).collect::<Vec<_>>()
        );
        assert_eq!(carried.vertex_count(), coat.vertex_count());
        assert_eq!(carried.dominant_joint(coat.vertex_count() - 1), 0);
    }

    #[test]
    fn options_without_a_meaning_are_refused() {
        let body = primitives::tube(0.3, 1.0, 8, 3);
        let weights = along_y(&body, 1.0);
        let valid = TransferOptions::default();
        for wrong in [f64::NAN, f64::INFINITY, -0.1, 0.0] {
            let (max_distance, max_angle) = (wrong, wrong);
            for (option, options) in [
                (
                    "max_distance",
                    TransferOptions {
                        max_distance,
                        ..valid
                    },
                ),
                ("max_angle", TransferOptions { max_angle, ..valid }),
            ] {
                let found = transfer(&weights, &body, &body, &options).err();
                assert_eq!(found, Some(SkinError::BadOption { option }));
            }
        }
    }

    #[test]
    fn what_has_no_normal_faces_nothing_and_is_told() {
        let body = primitives::tube(0.3, 1.0, 8, 3);
        let weights = along_y(&body, 1.0);
        let mut blind = body.clone();
        blind.rest.normals.fill(Vec3::zeros());
        let count = body.vertex_count();
        let (carried, report) = default(&weights, &body, &blind);
        assert_eq!((report.accepted, report.without_normal), (0, count));
        assert_eq!(report.nearest.len(), count);
        assert!(carried.mean_difference(&weights) < 1e-6);
        // Where nothing has to face, neither do these; an angle beyond the largest is the largest.
        for max_angle in [std::f64::consts::PI, 5.0] {
            let options = TransferOptions {
                max_angle,
                ..TransferOptions::default()
            };
            let (carried, report) = transfer(&weights, &body, &blind, &options).unwrap();
            assert_eq!(report.accepted, count);
            assert!(carried.mean_difference(&weights) < 1e-6);
        }
    }

    #[test]
    fn learned_weights_pass_the_validator_first() {
        // Sums of 1.7, negative and missing weights, as learned models leave them.
        let body = primitives::tube(0.3, 1.0, 8, 3);
        let count = body.vertex_count();
        let raw = Influences {
            per_vertex: 2,
            joints: [0, 1].repeat(count),
            weights: (0..count)
                .flat_map(|v| if v % 3 == 0 { [0.0, 0.0] } else { [1.7, -0.2] })
                .collect(),
        };
        let (weights, report) = SkinWeights::from_influences(&raw, 2).unwrap();
        assert!(!report.faults.is_empty());
        let (carried, _) = default(&weights, &body, &body);
        assert!((0..count).all(|vertex| carried.row(vertex).eq([(0, 1.0)])));
    }

    #[test]
    fn units_do_not_matter() {
        let scaled = |mesh: &Mesh, scale: f32| {
            let mut mesh = mesh.clone();
            mesh.rest.positions.iter_mut().for_each(|p| *p *= scale);
            mesh
        };
        let body = primitives::tube(0.3, 1.0, 12, 12);
        let weights = along_y(&body, 0.5);
        let mut sleeve = primitives::tube(0.31, 0.9, 12, 9);
        sleeve.rest.normals[40..80].fill(Vec3::y());
        let (one, report) = default(&weights, &body, &sleeve);
        assert!(report.inpainted >= 38, "{report:?}");
        for scale in [1e-3, 1e3] {
            let (other, _) = default(&weights, &scaled(&body, scale), &scaled(&sleeve, scale));
            assert!(
                one.mean_difference(&other) < 1e-5,
                "{}",
                one.mean_difference(&other)
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn any_soup_gets_rows_on_the_simplex(
            coordinates in prop::collection::vec(-1.0_f32..1.0, 36),
            corners in prop::collection::vec(0_u32..12, 18),
        ) {
            let source = primitives::capsule(0.3, 0.4, 8, 3);
            let weights = along_y(&source, 0.6);
            let positions: Vec<Vec3> = coordinates.chunks(3).map(|p| Vec3::new(p[0], p[1], p[2])).collect();
            let target = Mesh {
                rest: anim_geom::Vertices { normals: positions.clone(), positions },
                uvs: Vec::new(),
                triangles: corners.chunks(3).map(|t| [t[0], t[1], t[2]]).collect(),
            };
            let (carried, report) = default(&weights, &source, &target);
            prop_assert!(carried.max_sum_error() < 1e-15);
            prop_assert_eq!(report.accepted + report.inpainted + report.nearest.len(), 12);
        }
    }
}
