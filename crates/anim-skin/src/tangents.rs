//! Tangents for normal maps: a pass of its own after skinning, so that meshes without them pay nothing.
//!
//! `t′ = M t` with the linear blend of the matrices, made perpendicular to the skinned normal and unit; the handedness w
//! changes sign where M mirrors. Any deformer may have made the normals: the tangent follows them.
//!
//! ```
//! # use anim_geom::{Mesh, Vertices};
//! # use anim_math::{Affine, Transform, Vec3, quat};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! use anim_skin::{Influences, SkinnedMesh, TangentBlocks, VertexBlocks};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! # let mesh = Mesh {
//! #     rest: Vertices { positions: vec![Vec3::zeros()], normals: vec![Vec3::z()] }, ..Mesh::default() };
//! # let skin = SkinnedMesh::new(
//! #     &mesh, &[skeleton.joint(0)], &[Affine::IDENTITY], &Influences::rigid(1), &[])?;
//! let rest = TangentBlocks::new(&skin, &[[1.0, 0.0, 0.0, 1.0]])?;
//! let mut out = rest.clone();
//! let mut palette = skin.palette_buffer();
//! palette.set(0, Transform::from_rotation(quat::from_axis_angle(Vec3::z(), 1.0)).into());
//! let mut surface = VertexBlocks::new(1);
//! skin.linear(skin.rest(), &palette, &mut surface);
//! skin.tangents(&rest, &palette, &surface, &mut out);
//! assert!((out.tangent(0)[0] - 1_f32.cos()).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_geom::chunks;
use anim_math::Vec3;
use anim_math::lanes::{LANES, Lanes, Simd, SimdBase, SimdFloat, dispatch, f32x8};
use serde::{Deserialize, Serialize};

use crate::linear::{blend, product};
use crate::morph::MorphBlocks;
use crate::skin_blocks::SkinBlocks;
use crate::vectors::{self, cross, dot, resized_or, scale};
use crate::{MorphTarget, Palette, SkinError, SkinnedMesh, VertexBlock, VertexBlocks};

/// x, y, z and handedness of eight vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
struct TangentBlock([Lanes; 4]);

/// A tangent for each vertex of a mesh, block order.
#[derive(Clone, Debug, PartialEq)]
pub struct TangentBlocks {
    vertex_count: usize,
    blocks: Vec<TangentBlock>,
}

impl TangentBlocks {
    /// Tangents of `skin` from those of its source: x, y, z unit and w = ±1, as glTF has them.
    ///
    /// # Errors
    ///
    /// [`SkinError::Count`] if they are not one a vertex, [`SkinError::NotFinite`] if one is NaN or infinite.
    pub fn new(skin: &SkinnedMesh, tangents: &[[f32; 4]]) -> Result<Self, SkinError> {
        if tangents.len() != skin.vertex_count() {
            return Err(SkinError::Count {
                what: "tangents",
                found: tangents.len(),
                vertex_count: skin.vertex_count(),
            });
        }
        let broken = |tangent: &[f32; 4]| tangent.iter().any(|part| !part.is_finite());
        if let Some(index) = tangents.iter().position(broken) {
            return Err(SkinError::NotFinite {
                what: "tangent",
                index,
            });
        }
        let blocks = skin.source_from_vertex().chunks(LANES).map(|sources| {
            let of = |lane: usize| tangents[sources[lane.min(sources.len() - 1)] as usize];
            TangentBlock(std::array::from_fn(|part| {
                std::array::from_fn(|lane| of(lane)[part])
            }))
        });
        Ok(Self {
            vertex_count: tangents.len(),
            blocks: blocks.collect(),
        })
    }

    /// The tangent of `vertex`, block order: x, y, z and handedness.
    pub fn tangent(&self, vertex: usize) -> [f32; 4] {
        self.blocks[vertex / LANES]
            .0
            .map(|part| part[vertex % LANES])
    }

    /// Sets the tangent of `vertex`, block order.
    pub fn set_tangent(&mut self, vertex: usize, tangent: [f32; 4]) {
        let parts = &mut self.blocks[vertex / LANES].0;
        for (part, value) in parts.iter_mut().zip(tangent) {
            part[vertex % LANES] = value;
        }
    }

    /// Number of tangents: the vertices of the mesh.
    pub fn len(&self) -> usize {
        self.vertex_count
    }

    /// True without vertices.
    pub fn is_empty(&self) -> bool {
        self.vertex_count == 0
    }
}

/// What a morph target does to tangents: displacements of x, y and z of some vertices, source order. Handedness stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TangentTarget {
    /// The vertices whose tangents move, ascending.
    pub vertices: Vec<u32>,
    /// Their tangents' displacements at weight 1.
    pub tangents: Vec<Vec3>,
}

/// The tangents of a mesh's morph targets, in block order: what [`SkinnedMesh::tangents`] reads in place of the rest.
///
/// ```
/// # use anim_geom::{Mesh, Vertices};
/// # use anim_math::{Affine, Transform, Vec3};
/// # use anim_skeleton::{JointSpec, Skeleton};
/// use anim_skin::tangents::{TangentMorphs, TangentTarget};
/// use anim_skin::{Influences, MorphTarget, SkinnedMesh, TangentBlocks};
/// # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
/// # let mesh = Mesh {
/// #     rest: Vertices { positions: vec![Vec3::zeros()], normals: vec![Vec3::z()] }, ..Mesh::default() };
/// # let skin = SkinnedMesh::new(
/// #     &mesh, &[skeleton.joint(0)], &[Affine::IDENTITY], &Influences::rigid(1), &[MorphTarget::default()])?;
/// let rest = TangentBlocks::new(&skin, &[[1.0, 0.0, 0.0, -1.0]])?;
/// let turn = TangentTarget { vertices: vec![0], tangents: vec![Vec3::new(-1.0, 1.0, 0.0)] };
/// let morphs = TangentMorphs::new(&skin, &[turn])?;
/// let mut morphed = rest.clone();
/// morphs.morph(&[0.5], &rest, &mut morphed);
/// assert_eq!(morphed.tangent(0), [0.5, 0.5, 0.0, -1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TangentMorphs {
    target_count: usize,
    vertex_count: usize,
    morphs: MorphBlocks,
}

impl TangentMorphs {
    /// Regroups one of `targets` for each morph target of `skin`; empty ones leave tangents alone.
    ///
    /// # Errors
    ///
    /// [`SkinError::TangentTargets`] if they are not one a target, [`SkinError::TargetCount`], [`SkinError::NoVertex`] and
    /// [`SkinError::NotFinite`] for one of them.
    pub fn new(skin: &SkinnedMesh, targets: &[TangentTarget]) -> Result<Self, SkinError> {
        if targets.len() != skin.target_count() {
            return Err(SkinError::TangentTargets {
                found: targets.len(),
                expected: skin.target_count(),
            });
        }
        let displacements = targets.iter().map(|target| MorphTarget {
            vertices: target.vertices.clone(),
            positions: target.tangents.clone(),
            ..MorphTarget::default()
        });
        let displacements: Vec<MorphTarget> = displacements.collect();
        for (index, target) in displacements.iter().enumerate() {
            target.check(index, skin.vertex_count())?;
        }
        Ok(Self {
            target_count: targets.len(),
            vertex_count: skin.vertex_count(),
            morphs: MorphBlocks::new(&displacements, skin.vertex_from_source()),
        })
    }

    /// Writes `t + Σ w · Δt` with the weights that the mesh is morphed by; [`SkinnedMesh::tangents`] then makes them unit and
    /// perpendicular to the normals. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If `weights` is not one a target, or tangents are of another mesh.
    pub fn morph(&self, weights: &[f32], rest: &TangentBlocks, out: &mut TangentBlocks) {
        assert_eq!(weights.len(), self.target_count, "one weight a target");
        assert_eq!(
            rest.vertex_count, self.vertex_count,
            "tangents of another mesh"
        );
        assert_eq!(
            out.vertex_count, self.vertex_count,
            "tangents of another mesh"
        );
        out.blocks.copy_from_slice(&rest.blocks);
        self.morphs.for_each_moved(weights, |weight, block, delta| {
            for (sums, delta) in out.blocks[block].0.iter_mut().zip(delta) {
                for (sum, delta) in sums.iter_mut().zip(delta) {
                    *sum += weight * delta;
                }
            }
        });
    }
}

impl SkinnedMesh {
    /// Writes tangents in source order, as a file or a vertex buffer has them; allocates only when `out` grows.
    ///
    /// # Panics
    ///
    /// If `blocks` are of another mesh.
    pub fn tangents_to_source_order(&self, blocks: &TangentBlocks, out: &mut Vec<[f32; 4]>) {
        assert_eq!(
            blocks.vertex_count,
            self.vertex_count(),
            "tangents of another mesh"
        );
        out.resize(self.vertex_count(), [0.0; 4]);
        for (vertex, source) in self.source_from_vertex().iter().enumerate() {
            out[*source as usize] = blocks.tangent(vertex);
        }
    }

    /// Moves the tangents `source`, at rest or morphed, to lie on `surface`, whose normals must be skinned already; O(V · joints a block).
    ///
    /// A tangent that collapses is that of `source`. The same bits for any number of threads; allocates nothing.
    ///
    /// # Panics
    ///
    /// If anything is of another mesh or skin.
    pub fn tangents(
        &self,
        source: &TangentBlocks,
        palette: &Palette,
        surface: &VertexBlocks,
        out: &mut TangentBlocks,
    ) {
        assert_eq!(
            source.vertex_count,
            self.vertex_count(),
            "tangents of another mesh"
        );
        assert_eq!(
            out.vertex_count,
            self.vertex_count(),
            "tangents of another mesh"
        );
        assert_eq!(
            surface.len(),
            self.vertex_count(),
            "surface of another mesh"
        );
        assert_eq!(
            palette.len(),
            self.joints().len(),
            "palette of another skin"
        );
        chunks::for_each_mut(&mut out.blocks, |first, out| {
            let (source, surface) = (&source.blocks[first..], &surface.blocks()[first..]);
            let blocks = self.skin_blocks();
            dispatch!(self.level(), simd => move_blocks(simd, (blocks, first), source, palette, surface, out));
        });
    }
}

#[inline(always)]
fn move_blocks<S: Simd>(
    simd: S,
    (blocks, first): (&SkinBlocks, usize),
    source: &[TangentBlock],
    palette: &Palette,
    surface: &[VertexBlock],
    out: &mut [TangentBlock],
) {
    let one = f32x8::splat(simd, 1.0);
    let (mut start, ends) = blocks.ends_from(first);
    for (((source, surface), out), end) in source.iter().zip(surface).zip(out).zip(ends) {
        let joints = &blocks.joints()[start..*end];
        let weights = &blocks.weights()[start..*end];
        start = *end;
        let [[a, b, c, _], [d, e, f, _], [g, h, i, _]] =
            blend(simd, joints, weights, palette.slots());
        let linear = [[a, b, c], [d, e, f], [g, h, i]];
        let [x, y, z, w] = &source.0;
        let rest = [
            f32x8::from_slice(simd, x),
            f32x8::from_slice(simd, y),
            f32x8::from_slice(simd, z),
        ];
        let normal = vectors::load(simd, &surface.normal);
        let moved = product(linear, rest);
        let along = vectors::difference(moved, scale(normal, dot(moved, normal)));
        let [tx, ty, tz] = resized_or(simd, along, one, rest);
        let volume = dot(linear[0], cross(linear[1], linear[2]));
        let [ox, oy, oz, ow] = &mut out.0;
        tx.store_slice(ox);
        ty.store_slice(oy);
        tz.store_slice(oz);
        (f32x8::from_slice(simd, w) * one.copysign(volume)).store_slice(ow);
    }
}
