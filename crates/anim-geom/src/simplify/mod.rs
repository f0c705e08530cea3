//! Fewer triangles for the same shape: edges collapse in the order of the error they make.
//!
//! For levels of detail, collision and previews. An edge collapses onto one of its ends, so every vertex that stays is one
//! of the source's, with its normal, texture coordinates, weights and morphs as they were. Borders and seams stay where
//! they are, closed surfaces closed, handles handles, parts apart. [`simplify_deforming`] judges a surface in several
//! shapes at once, such as poses of a skin: what bends keeps its vertices, even if it is straight at rest.
//!
//! Nothing is refused: triangles that are none are left out, and where more than two triangles share an edge, or a border
//! touches itself, the vertices stay. So do vertices at which more than two seams meet, as in a mesh with a normal a
//! triangle: smooth its [`normals`](crate::normals) first.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_geom::simplify::{SimplifyGoal, simplify};
//!
//! // A flat grid needs no more than its corners.
//! let grid = primitives::grid(8, 8, 0.1);
//! let flat = simplify(&grid, &SimplifyGoal::within(1e-6));
//! assert!(flat.mesh.triangles.len() <= 4 && flat.error <= 1e-6);
//!
//! let ball = primitives::sphere(1.0, 32, 32);
//! let coarse = simplify(&ball, &SimplifyGoal::triangles(400));
//! assert!(coarse.mesh.triangles.len() <= 400 && coarse.error < 0.03);
//! ```

mod collapse;
mod quadric;
mod surface;

use anim_math::Vec3;

use crate::{Mesh, MeshBvh, Vertices};
use collapse::Collapser;
use surface::Surface;

/// When to stop: at whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimplifyGoal {
    /// As soon as no more triangles than these are left.
    pub target_triangles: usize,
    /// Before a collapse that would make more error than this, metres; see [`SimplifiedMesh::error`].
    pub max_error: f32,
}

impl SimplifyGoal {
    /// Down to `target_triangles`, whatever the error.
    pub fn triangles(target_triangles: usize) -> Self {
        Self {
            target_triangles,
            max_error: f32::INFINITY,
        }
    }

    /// As few triangles as an error of `max_error` metres allows.
    pub fn within(max_error: f32) -> Self {
        Self {
            target_triangles: 0,
            max_error,
        }
    }
}

/// A mesh with fewer triangles, and where its vertices come from.
#[derive(Clone, Debug, PartialEq)]
pub struct SimplifiedMesh {
    /// The mesh; vertices in the order of the source.
    pub mesh: Mesh,
    /// For each of its vertices the source's, ascending.
    pub source_vertex: Vec<u32>,
    /// For each vertex of the source the one it has been merged into; `None` if no triangle is left there.
    pub vertex_from_source: Vec<Option<u32>>,
    /// The largest root mean square distance, metres, of a vertex to the planes of the source's triangles that it stands
    /// for: the order of collapses, and an estimate of the distance between the surfaces that [`deviation`] measures.
    pub error: f32,
}

/// Simplifies `mesh` until `goal`; every vertex of the result is one of the mesh's.
///
/// O(F log F): some 250,000 triangles a second.
///
/// Source: Garland and Heckbert, "Surface simplification using quadric error metrics", SIGGRAPH 1997, here with each sum
/// divided by its area, half-edge collapses and the link condition.
pub fn simplify(mesh: &Mesh, goal: &SimplifyGoal) -> SimplifiedMesh {
    let mut collapser = collapser(mesh, &[&mesh.rest.positions], &[]);
    collapser.run(goal);
    result(mesh, &collapser)
}

/// [`simplify`] whose vertices are then moved to where their error is smallest, where neither border nor seam is.
///
/// Halves the error of curved surfaces. Normals and all else stay those of the source's vertices.
pub fn simplify_placed(mesh: &Mesh, goal: &SimplifyGoal) -> SimplifiedMesh {
    let mut collapser = collapser(mesh, &[&mesh.rest.positions], &[]);
    collapser.run(goal);
    let moved = collapser.place_optimally();
    let mut simplified = result(mesh, &collapser);
    for (source, position) in moved {
        if let Ok(vertex) = simplified.source_vertex.binary_search(&source) {
            simplified.mesh.rest.positions[vertex] = position;
        }
    }
    simplified
}

/// Simplifies a mesh that takes several shapes: one result a goal, each from the one before.
///
/// * `shapes`: at least one of V positions, metres; the error is the mean over all. * `groups`: V numbers, or none;
///   vertices at the same rest position are one only if they are of one group, so that coincident parts that move apart
///   stay apart.
///
/// Memory: 100 bytes a vertex and shape.
///
/// Source: DeCoro and Rusinkiewicz, "Pose-independent simplification of articulated meshes", I3D 2005; half-edge
/// collapses know the place of a vertex in each pose, so quadrics stay in their poses, exact.
///
/// # Panics
///
/// If `shapes` is empty, or a shape or `groups` is not of V vertices.
pub fn simplify_deforming(
    mesh: &Mesh,
    shapes: &[Vec<Vec3>],
    groups: &[u32],
    goals: &[SimplifyGoal],
) -> Vec<SimplifiedMesh> {
    assert!(!shapes.is_empty(), "a shape to keep");
    let vertex_count = mesh.vertex_count();
    let fits = |len: usize| len == vertex_count;
    assert!(
        shapes.iter().all(|s| fits(s.len())),
        "shapes of another mesh"
    );
    assert!(
        groups.is_empty() || fits(groups.len()),
        "groups of another mesh"
    );
    let shapes: Vec<&[Vec3]> = shapes.iter().map(Vec::as_slice).collect();
    let mut collapser = collapser(mesh, &shapes, groups);
    let levels = goals.iter().map(|goal| {
        collapser.run(goal);
        result(mesh, &collapser)
    });
    levels.collect()
}

/// The largest distance of `points` to `surface`, metres; 0 without points.
///
/// With the source's vertices and the simplified surface, the one-sided Hausdorff distance at the vertices.
pub fn deviation(points: &[Vec3], surface: &MeshBvh) -> f32 {
    let distances = points.iter().map(|p| surface.nearest(*p).distance.abs());
    distances.fold(0.0, f32::max)
}

fn collapser(mesh: &Mesh, shapes: &[&[Vec3]], groups: &[u32]) -> Collapser {
    let (surface, rim) = Surface::new(mesh, shapes, groups);
    Collapser::new(surface, &rim)
}

/// What is left of `mesh`.
fn result(mesh: &Mesh, collapser: &Collapser) -> SimplifiedMesh {
    let surface = &collapser.surface;
    let live = |triangle: &usize| surface.is_alive(*triangle);
    let mut triangles: Vec<[u32; 3]> = (0..surface.copies.len())
        .filter(live)
        .map(|triangle| surface.copies[triangle])
        .collect();
    let mut source_vertex: Vec<u32> = triangles.iter().flatten().copied().collect();
    source_vertex.sort_unstable();
    source_vertex.dedup();
    let mut kept = vec![None; mesh.vertex_count()];
    // A copy that has lost its triangles is found at its place under another's name.
    let mut kept_at = vec![None; mesh.vertex_count()];
    for (source, vertex) in source_vertex.iter().zip(0_u32..) {
        kept[*source as usize] = Some(vertex);
        kept_at[surface.vertex_of[*source as usize] as usize].get_or_insert(vertex);
    }
    for corner in triangles.iter_mut().flatten() {
        *corner = kept[*corner as usize].unwrap_or(0);
    }
    let vertex_from_source = (0..mesh.vertex_count())
        .map(|source| {
            let copy = surface.standing_for(source) as usize;
            kept[copy].or(kept_at[surface.vertex_of[copy] as usize])
        })
        .collect();
    SimplifiedMesh {
        mesh: Mesh {
            rest: Vertices {
                positions: picked(&mesh.rest.positions, &source_vertex),
                normals: picked(&mesh.rest.normals, &source_vertex),
            },
            uvs: picked(&mesh.uvs, &source_vertex),
            triangles,
        },
        source_vertex,
        vertex_from_source,
        error: collapser.squared_error.sqrt() as f32,
    }
}

/// The values of some vertices; none if there is not one for each.
fn picked<T: Copy>(values: &[T], vertices: &[u32]) -> Vec<T> {
    let picked = vertices.iter().map(|v| values.get(*v as usize).copied());
    picked.collect::<Option<_>>().unwrap_or_default()
}
