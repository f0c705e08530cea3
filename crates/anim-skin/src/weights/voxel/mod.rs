//! Geodesic voxel binding: weights fall off with distance through the body, on any mesh whatever.
//!
//! The mesh is made a solid of cells, in which distances run from each joint's bones: they go round the gap between
//! fingers and legs, which straight lines cross. Open meshes, soups, loose parts and bones outside of the body all get
//! weights. This is the method to start with; where weights must follow detail smaller than a cell, use one that solves
//! on the surface. Distances are kept, so that the falloff can be tuned without binding again.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_math::Vec3;
//! use anim_skin::weights::{Bone, Bones, VoxelOptions, voxel};
//!
//! let tube = primitives::capsule(0.3, 1.0, 16, 6);
//! let bone = |joint, low, high| Bone { head: Vec3::y() * low, tail: Vec3::y() * high, joint };
//! let bones = Bones::new(vec![bone(0, -1.0, 0.0), bone(1, 0.0, 1.0)], 2)?;
//! let (weights, report) = voxel(&tube, &bones, &VoxelOptions::default())?;
//! assert!(weights.weight(0, 0) > 0.8, "the lowest vertex follows the lower bone");
//! assert!(report.islands.is_empty());
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

mod solid;

use anim_geom::{Mesh, VoxelGrid, chunks, closest, topology};
use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use super::{BindReport, Bone, Bones, Island, SkinWeights};
use crate::SkinError;
use solid::Solid;

/// Distances below this share of the box's diagonal count as this: several bones through one vertex share it.
const LEAST: f64 = 1e-6;

/// How [`voxel`] binds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VoxelOptions {
    /// Cells along the longest side of the mesh's box, made odd.
    pub resolution: u32,
    /// From 0, where weights fall off with the second power of the distance, to 1, with the fourth; clamped.
    ///
    /// At 1 they come nearest to what artists paint; below 0.9 the second power has most of it.
    pub falloff: f64,
    /// Joints a vertex follows at most; at least 1.
    pub influences: usize,
    /// Standard deviation, in cells, of the smoothing of distances, 0 for none; at most 10. It stays within the body.
    pub smoothing: f32,
}

impl Default for VoxelOptions {
    fn default() -> Self {
        Self {
            resolution: 129,
            falloff: 1.0,
            influences: 4,
            smoothing: 0.0,
        }
    }
}

/// The distance of every vertex from every joint's bones, through the body, of which weights are made.
#[derive(Clone, Debug)]
pub struct VoxelDistances {
    /// For each joint V distances, in diagonals of the mesh's box; infinite where nothing leads or it has no bone.
    distances: Vec<Vec<f32>>,
    vertex_count: usize,
    has_bone: Vec<bool>,
    components: usize,
    /// Their joint is known only with weights.
    islands: Vec<Island>,
    unreferenced: usize,
}

/// Binds by distance through the body: [`VoxelDistances::new`], then [`VoxelDistances::weights`].
///
/// # Errors
///
/// [`SkinError::Mesh`] if the mesh fails its check, lies beyond 10¹⁵ m or the grid would be too large. No sound mesh is
/// refused.
pub fn voxel(
    mesh: &Mesh,
    bones: &Bones,
    options: &VoxelOptions,
) -> Result<(SkinWeights, BindReport), SkinError> {
    VoxelDistances::new(mesh, bones, options)?.weights(options.falloff, options.influences)
}

impl VoxelDistances {
    /// Measures the distances, joint by joint in parallel. O(J (cells + V) + S V) time for S segments,
    /// 4 J V bytes kept.
    ///
    /// Bones that meet no cell start from the nearest ones, at the straight distance; parts without a bone are joined to
    /// the others where they are closest, and reported. Vertices without a triangle know their nearest bone alone. A
    /// joint's several bones are one source, so cutting a bone in two changes nothing.
    ///
    /// Source: Dionne and de Lasa, "Geodesic voxel binding for production character meshes", SCA 2013; here with an
    /// upwind solution for distances in place of Dijkstra's, and first-order interpolation at vertices.
    ///
    /// # Errors
    ///
    /// Those of [`voxel`].
    pub fn new(mesh: &Mesh, bones: &Bones, options: &VoxelOptions) -> Result<Self, SkinError> {
        mesh.check()?;
        let positions = &mesh.rest.positions;
        let mut has_bone = vec![false; bones.joint_count()];
        for bone in bones.segments() {
            has_bone[usize::from(bone.joint)] = true;
        }
        let (components, component_count) = components(mesh);
        let mut out = Self {
            distances: vec![vec![f32::INFINITY; positions.len()]; bones.joint_count()],
            vertex_count: positions.len(),
            has_bone,
            components: component_count,
            islands: Vec::new(),
            unreferenced: components.iter().filter(|c| c.is_none()).count(),
        };
        let by_joint = by_joint(bones);
        for (vertex, _) in (0..).zip(&components).filter(|(_, c)| c.is_none()) {
            out.follow_nearest(vertex, positions[vertex], &by_joint);
        }
        if mesh.triangles.is_empty() {
            return Ok(out);
        }
        let resolution = options.resolution;
        let grid = VoxelGrid::new(mesh, &anim_geom::VoxelOptions { resolution })?;
        let mut solid = Solid::new(&grid);
        let sources = sources(&grid, &solid, bones);
        let mut anchored = vec![false; 1 + solid.parts.iter().max().map_or(0, |p| *p as usize)];
        for (cell, _) in sources.iter().flatten() {
            anchored[solid.parts[*cell as usize] as usize] = true;
        }
        solid.bridge(&anchored);
        let places: Vec<Option<u32>> = positions
            .iter()
            .zip(&components)
            .map(|(position, component)| {
                component.and_then(|_| solid.cell_at(grid.index_of(*position)?))
            })
            .collect();
        out.find_islands(&components, &places, |cell| {
            anchored[solid.parts[cell as usize] as usize]
        });
        let diagonal = diagonal(mesh);
        let cell_size = grid.cell_size();
        chunks::for_each_large_mut(&mut out.distances, |joint, row| {
            if sources[joint].is_empty() {
                return;
            }
            let mut field = solid.distances(&sources[joint]);
            solid.smooth(&mut field, options.smoothing.clamp(0.0, 10.0));
            for (vertex, place) in places.iter().enumerate() {
                let Some(cell) = *place else { continue };
                if field[cell as usize] == f32::INFINITY {
                    continue;
                }
                let middle = grid.center(solid.cells[cell as usize]);
                let offset = (positions[vertex].map(f64::from) - middle) / cell_size;
                let through = f64::from(solid.sample(&field, cell, offset)) * cell_size;
                // No way through the body is shorter than the straight one.
                let straight = straight(&by_joint[joint], positions[vertex]);
                row[vertex] = (through.max(straight) / diagonal) as f32;
            }
        });
        for vertex in 0..positions.len() {
            if out.distances.iter().all(|row| row[vertex] == f32::INFINITY) {
                out.follow_nearest(vertex, positions[vertex], &by_joint);
            }
        }
        Ok(out)
    }

    /// w = (1 / ((1 − a) d + a d²))², a the `falloff`, d in diagonals of the mesh's box; the largest `influences` stay.
    ///
    /// # Errors
    ///
    /// [`SkinError::BadWeight`] if `falloff` is NaN.
    pub fn weights(
        &self,
        falloff: f64,
        influences: usize,
    ) -> Result<(SkinWeights, BindReport), SkinError> {
        let a = falloff.clamp(0.0, 1.0);
        let rows = (0..self.vertex_count).map(|vertex| {
            (0..=u16::MAX)
                .zip(&self.distances)
                .filter_map(move |(joint, row)| {
                    let d = f64::from(row[vertex]).max(LEAST);
                    let inverse = 1.0 / ((1.0 - a) * d + a * d * d);
                    row[vertex]
                        .is_finite()
                        .then_some((joint, inverse * inverse))
                })
        });
        let all = SkinWeights::from_rows(self.distances.len(), rows)?;
        let (weights, dropped_mass_max) = all.limited(influences);
        let mut followed = vec![false; self.distances.len()];
        for vertex in 0..self.vertex_count {
            for (joint, _) in weights.row(vertex) {
                followed[usize::from(joint)] = true;
            }
        }
        let islands = self.islands.iter().map(|island| Island {
            joint: weights.dominant_joint(island.first_vertex as usize),
            ..*island
        });
        let report = BindReport {
            components: self.components,
            islands: islands.collect(),
            unreferenced: self.unreferenced,
            unreachable: (0..=u16::MAX)
                .zip(followed.iter().zip(&self.has_bone))
                .filter(|(_, (followed, has_bone))| **has_bone && !**followed)
                .map(|(joint, _)| joint)
                .collect(),
            dropped_mass_max,
        };
        Ok((weights, report))
    }

    fn follow_nearest(&mut self, vertex: usize, position: Vec3, by_joint: &[Vec<Bone>]) {
        let reach: Vec<f64> = by_joint
            .iter()
            .map(|segments| straight(segments, position))
            .collect();
        let nearest = reach.iter().copied().fold(f64::INFINITY, f64::min);
        let rows = self.distances.iter_mut().zip(&self.has_bone);
        for ((row, has_bone), reach) in rows.zip(reach) {
            if *has_bone && reach <= nearest * (1.0 + 1e-6) {
                row[vertex] = 0.0;
            }
        }
    }

    /// Lists the components all of whose vertices lie in parts of the solid that no bone reached.
    fn find_islands(
        &mut self,
        components: &[Option<u32>],
        places: &[Option<u32>],
        anchored: impl Fn(u32) -> bool,
    ) {
        let mut found: Vec<Option<Island>> = vec![None; self.components];
        let mut reached = vec![false; self.components];
        for ((vertex, component), place) in (0..).zip(components).zip(places) {
            let (Some(component), Some(cell)) = (*component, *place) else {
                continue;
            };
            reached[component as usize] |= anchored(cell);
            let island = found[component as usize].get_or_insert(Island {
                component,
                first_vertex: vertex,
                vertex_count: 0,
                joint: 0,
            });
            island.vertex_count += 1;
        }
        self.islands = found
            .into_iter()
            .zip(reached)
            .filter_map(|(island, reached)| island.filter(|_| !reached))
            .collect();
    }
}

/// The cells that each joint's distances start from, with the distance there in cells.
fn sources(grid: &VoxelGrid, solid: &Solid, bones: &Bones) -> Vec<Vec<(u32, f32)>> {
    let mut out = vec![Vec::new(); bones.joint_count()];
    for bone in bones.segments() {
        let to_cell = |cell: u32| {
            let center: Vec3 = grid.center(solid.cells[cell as usize]).map(|c| c as f32);
            let distance = closest::distance_to_segment(center, bone.head, bone.tail);
            (cell, distance / grid.cell_size() as f32)
        };
        let within: Vec<(u32, f32)> = grid
            .cells_on_segment(bone.head, bone.tail)
            .into_iter()
            .filter_map(|index| solid.cell_at(index).map(to_cell))
            .collect();
        let starts = &mut out[usize::from(bone.joint)];
        if within.is_empty() {
            let all: Vec<(u32, f32)> = (0..solid.cells.len() as u32).map(to_cell).collect();
            let nearest = all.iter().map(|s| s.1).fold(f32::INFINITY, f32::min);
            starts.extend(all.iter().filter(|s| s.1 <= nearest * 1.000_01));
        } else {
            starts.extend(within);
        }
    }
    out
}

/// The segments of each joint, in their order.
fn by_joint(bones: &Bones) -> Vec<Vec<Bone>> {
    let mut out = vec![Vec::new(); bones.joint_count()];
    for bone in bones.segments() {
        out[usize::from(bone.joint)].push(*bone);
    }
    out
}

/// The straight distance from `position` to the nearest of a joint's segments; infinite without one.
fn straight(segments: &[Bone], position: Vec3) -> f64 {
    let distances = segments
        .iter()
        .map(|bone| closest::distance_to_segment(position, bone.head, bone.tail));
    distances.fold(f64::INFINITY, |least, distance| {
        least.min(f64::from(distance))
    })
}

/// The diagonal of the box around the triangles; 1 if they are a point.
fn diagonal(mesh: &Mesh) -> f64 {
    let corner = |v: u32| mesh.rest.positions[v as usize].map(f64::from);
    let mut corners = mesh.triangles.iter().flatten().map(|v| corner(*v));
    let Some(first) = corners.next() else {
        return 1.0;
    };
    let (low, high) = corners.fold((first, first), |(l, h), p| (l.inf(&p), h.sup(&p)));
    let length = (high - low).norm();
    if length > 0.0 { length } else { 1.0 }
}

/// The connected component of each vertex, welded and counted by lowest vertex; `None` where no triangle is.
fn components(mesh: &Mesh) -> (Vec<Option<u32>>, usize) {
    let welded = topology::weld(&mesh.rest.positions);
    let mut parents: Vec<u32> = (0..welded.len() as u32).collect();
    fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
        while parents[vertex as usize] != vertex {
            parents[vertex as usize] = parents[parents[vertex as usize] as usize];
            vertex = parents[vertex as usize];
        }
        vertex
    }
    let mut named = vec![false; welded.len()];
    for triangle in &mesh.triangles {
        let first = root(&mut parents, welded[triangle[0] as usize]);
        let mut lowest = first;
        for v in triangle {
            named[welded[*v as usize] as usize] = true;
            let other = root(&mut parents, welded[*v as usize]);
            let (low, high) = (lowest.min(other), lowest.max(other));
            parents[high as usize] = low;
            lowest = low;
        }
    }
    let mut numbers = vec![None; welded.len()];
    let mut count = 0_u32;
    let components = (0..welded.len())
        .map(|vertex| {
            if !named[welded[vertex] as usize] {
                return None;
            }
            let root = root(&mut parents, welded[vertex]) as usize;
            Some(*numbers[root].get_or_insert_with(|| {
                count += 1;
                count - 1
            }))
        })
        .collect();
    (components, count as usize)
}
