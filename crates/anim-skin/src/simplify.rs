//! Levels of detail of skinned meshes: fewer triangles, judged where the skin takes them.
//!
//! A straight arm looks like a tube that needs no rings; bent, it needs them at the elbow. [`simplify_skinned`] therefore
//! sums the error over sample poses, in model space, where a mesh stored a hundred times too large is its true size and
//! parts that only the bind pose puts together are apart. Every vertex of a level is one of the source's: its weights (but
//! for a limit on their number), texture coordinates and morphs are exact. Take poses that use the joints' range; a handful
//! is enough.
//!
//! [`MeshLod`](crate::MeshLod) chooses between the levels at run time, and
//! [`weights::merge_joints`](crate::weights::merge_joints()) takes joints out of far ones.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_math::Affine;
//! use anim_skin::simplify::{SkinLodOptions, simplify_skinned};
//! use anim_skin::Influences;
//!
//! let mesh = primitives::capsule(0.1, 0.4, 24, 12);
//! let influences = Influences::rigid(mesh.vertex_count());
//! let options = SkinLodOptions { ratios: vec![0.5, 0.2], ..SkinLodOptions::default() };
//! let levels = simplify_skinned(&mesh, &influences, 1, &[], &[vec![Affine::IDENTITY]], &options)?;
//! assert!(levels[1].mesh.triangles.len() * 5 <= mesh.triangles.len());
//! assert!(levels[0].error <= levels[1].error && levels[1].error < 0.02);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_geom::simplify::{SimplifiedMesh, SimplifyGoal, deviation, simplify_deforming};
use anim_geom::{Mesh, MeshBvh, Vertices, topology};
use anim_math::nalgebra::Vector3;
use anim_math::{Affine, Vec3};

use crate::{Influences, MorphTarget, SkinError, SkinWeights};

/// What the levels are.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinLodOptions {
    /// Triangles of each level as parts of the source's, finest first; the source itself is no level.
    pub ratios: Vec<f32>,
    /// No collapse that makes more error than this, metres in model space, even if more triangles than asked for stay: an
    /// estimate, see [`SimplifiedMesh::error`], that the measured [`SkinLevel::error`] may exceed by a small factor.
    pub max_error: f32,
    /// The largest number of joints that move a vertex of a level; at least 1.
    pub per_vertex: usize,
}

impl Default for SkinLodOptions {
    /// A half, a quarter and a tenth, at any error, four joints a vertex.
    fn default() -> Self {
        Self {
            ratios: vec![0.5, 0.25, 0.1],
            max_error: f32::INFINITY,
            per_vertex: 4,
        }
    }
}

/// One level: the parts of a [`SkinnedMesh`](crate::SkinnedMesh), over the joints of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinLevel {
    /// The mesh, bind space.
    pub mesh: Mesh,
    /// Its influences: rows that sum to 1.
    pub influences: Influences,
    /// As many targets as the source has, with the displacements of the vertices that are left.
    pub targets: Vec<MorphTarget>,
    /// For each vertex the source's, ascending.
    pub source_vertex: Vec<u32>,
    /// The largest distance of a source vertex to this level's surface in any sample pose, metres in model space.
    pub error: f32,
}

/// Makes the levels of a skinned mesh, each from the one before.
///
/// * `poses`: for each sample pose the palette, J `model_from_bind` matrices; without poses, the bind pose as stored.
///
/// Vertices at the same place count as one if most of their weight is of the same joints and every morph target moves
/// them alike: a seam of texture coordinates holds together, while coincident parts on different bones, or lips that open,
/// stay apart. O(poses · F log F); for tools.
///
/// Source: DeCoro and Rusinkiewicz, "Pose-independent simplification of articulated meshes", I3D 2005.
///
/// # Errors
///
/// [`SkinError::Mesh`] for a wrong mesh; [`SkinError::Count`] or [`SkinError::NoJoint`] for influences that do not fit it;
/// [`SkinError::TargetCount`], [`SkinError::NoVertex`] or [`SkinError::NotFinite`] for a wrong target;
/// [`SkinError::PoseCount`] or [`SkinError::NotFinite`] for a wrong pose.
pub fn simplify_skinned(
    mesh: &Mesh,
    influences: &Influences,
    joint_count: usize,
    targets: &[MorphTarget],
    poses: &[Vec<Affine>],
    options: &SkinLodOptions,
) -> Result<Vec<SkinLevel>, SkinError> {
    mesh.check()?;
    for (index, target) in targets.iter().enumerate() {
        target.check(index, mesh.vertex_count())?;
    }
    check_poses(poses, joint_count)?;
    let (weights, _) = SkinWeights::from_influences(influences, joint_count)?;
    if weights.vertex_count() != mesh.vertex_count() {
        return Err(SkinError::Count {
            what: "influences",
            found: weights.vertex_count(),
            vertex_count: mesh.vertex_count(),
        });
    }
    let posed = |positions: &[Vec3], weights: &SkinWeights| -> Vec<Vec<Vec3>> {
        if poses.is_empty() {
            vec![positions.to_vec()]
        } else {
            let poses = poses.iter();
            poses
                .map(|pose| skinned(positions, weights, pose))
                .collect()
        }
    };
    let shapes = posed(&mesh.rest.positions, &weights);
    let groups = groups(mesh, &weights, targets);
    let goals: Vec<SimplifyGoal> = options
        .ratios
        .iter()
        .map(|ratio| SimplifyGoal {
            target_triangles: (mesh.triangles.len() as f32 * ratio) as usize,
            max_error: options.max_error,
        })
        .collect();
    let simplified = simplify_deforming(mesh, &shapes, &groups, &goals);
    let (limited, _) = weights.limited(options.per_vertex);
    let levels = simplified.into_iter().map(|level| {
        let rows = level.source_vertex.iter();
        let rows = rows.map(|v| limited.row(*v as usize).collect::<Vec<_>>());
        let weights = SkinWeights::from_rows(joint_count, rows)?;
        let level_shapes = posed(&level.mesh.rest.positions, &weights);
        Ok(SkinLevel {
            influences: weights.to_influences(),
            targets: targets.iter().map(|target| kept(target, &level)).collect(),
            error: largest_deviation(&shapes, &level, level_shapes),
            mesh: level.mesh,
            source_vertex: level.source_vertex,
        })
    });
    levels.collect()
}

fn check_poses(poses: &[Vec<Affine>], joint_count: usize) -> Result<(), SkinError> {
    for (pose, palette) in poses.iter().enumerate() {
        if palette.len() != joint_count {
            return Err(SkinError::PoseCount {
                pose,
                found: palette.len(),
                joint_count,
            });
        }
        if !palette.iter().all(Affine::is_finite) {
            return Err(SkinError::NotFinite {
                what: "pose",
                index: pose,
            });
        }
    }
    Ok(())
}

/// Linear blend skinning of `positions`, summed in f64.
fn skinned(positions: &[Vec3], weights: &SkinWeights, palette: &[Affine]) -> Vec<Vec3> {
    let vertices = positions.iter().enumerate();
    vertices
        .map(|(vertex, position)| {
            let row = weights.row(vertex);
            let places = row.map(|(joint, weight)| {
                let place = palette[usize::from(joint)].transform_point(*position);
                place.cast::<f64>() * weight
            });
            places.sum::<Vector3<f64>>().cast()
        })
        .collect()
}

/// For each vertex the first at its place that is moved as it is: numbers that are equal where vertices may be one.
fn groups(mesh: &Mesh, weights: &SkinWeights, targets: &[MorphTarget]) -> Vec<u32> {
    let welded = topology::weld(&mesh.rest.positions);
    let mut displacements = vec![Vec::new(); mesh.vertex_count()];
    for (index, target) in targets.iter().enumerate() {
        for (vertex, delta) in target.vertices.iter().zip(&target.positions) {
            displacements[*vertex as usize].push((index, *delta));
        }
    }
    let mut order: Vec<u32> = (0..welded.len() as u32).collect();
    order.sort_by_key(|v| (welded[*v as usize], *v));
    let mut groups = vec![0; welded.len()];
    let mut firsts: Vec<u32> = Vec::new();
    for same_place in order.chunk_by(|a, b| welded[*a as usize] == welded[*b as usize]) {
        firsts.clear();
        for &vertex in same_place {
            let alike = |first: &&u32| {
                let (a, b) = (**first as usize, vertex as usize);
                shared_weight(weights, a, b) > 0.5 && displacements[a] == displacements[b]
            };
            let first = firsts.iter().find(alike).copied().unwrap_or_else(|| {
                firsts.push(vertex);
                vertex
            });
            groups[vertex as usize] = first;
        }
    }
    groups
}

/// The weight that two rows have in common, from 0 to 1.
fn shared_weight(weights: &SkinWeights, a: usize, b: usize) -> f64 {
    let row = weights.row(a);
    row.map(|(joint, weight)| weight.min(weights.weight(b, joint)))
        .sum()
}

/// The displacements of the vertices that a level keeps.
fn kept(target: &MorphTarget, level: &SimplifiedMesh) -> MorphTarget {
    let entries: Vec<(usize, u32)> = target
        .vertices
        .iter()
        .enumerate()
        .filter_map(|(entry, source)| {
            let vertex = level.source_vertex.binary_search(source).ok()?;
            Some((entry, vertex as u32))
        })
        .collect();
    let of = |values: &[Vec3]| {
        let entries = entries.iter();
        entries
            .filter_map(|(entry, _)| values.get(*entry).copied())
            .collect()
    };
    MorphTarget {
        name: target.name.clone(),
        vertices: entries.iter().map(|(_, vertex)| *vertex).collect(),
        positions: of(&target.positions),
        normals: of(&target.normals),
    }
}

/// The largest distance of the source's vertices to a level's surface in any shape.
fn largest_deviation(
    shapes: &[Vec<Vec3>],
    level: &SimplifiedMesh,
    level_shapes: Vec<Vec<Vec3>>,
) -> f32 {
    let mut largest = 0.0_f32;
    for (source, positions) in shapes.iter().zip(level_shapes) {
        let surface = Mesh {
            rest: Vertices {
                normals: vec![Vec3::zeros(); positions.len()],
                positions,
            },
            uvs: Vec::new(),
            triangles: level.mesh.triangles.clone(),
        };
        // A pose that leaves no triangle an area has no surface to be away from.
        let Ok(surface) = MeshBvh::new(&surface) else {
            continue;
        };
        let used = source.iter().zip(&level.vertex_from_source);
        let used = used.filter(|(_, kept)| kept.is_some());
        let points: Vec<Vec3> = used.map(|(point, _)| *point).collect();
        largest = largest.max(deviation(&points, &surface));
    }
    largest
}
