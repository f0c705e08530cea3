//! Tangents of surfaces that are normal-mapped: what a character has of them, and where an actor's are this frame.
//!
//! Surfaces whose files have tangents have them each frame, after everything else has moved the surface: displaced by the
//! morph targets, turned by the joints, or carried by the cloth, and laid flat on the normals. Others pay nothing.

use anim_geom::tangents::TangentFrames;
use anim_math::{Affine, Vec3};
use anim_skin::tangents::{TangentMorphs, TangentTarget};
use anim_skin::{Palette, SkinError, SkinnedMesh, TangentBlocks, VertexBlocks};

/// The tangents of a surface at rest, and what its morph targets do to them.
#[derive(Clone, Debug)]
pub struct SurfaceTangents {
    rest: TangentBlocks,
    /// If any target moves some.
    morphs: Option<TangentMorphs>,
}

impl SurfaceTangents {
    /// Tangents for `mesh`.
    ///
    /// * `rest`: one a vertex, source order: x, y, z unit, and the handedness 1 or −1. * `targets`: one a morph target of
    ///   the mesh; lists that move none count for nothing.
    ///
    /// # Errors
    ///
    /// [`SkinError`] for counts that do not fit, vertices that do not exist and numbers that are none.
    pub fn new(
        mesh: &SkinnedMesh,
        rest: &[[f32; 4]],
        targets: &[TangentTarget],
    ) -> Result<Self, SkinError> {
        let moves_some = targets.iter().any(|target| !target.vertices.is_empty());
        Ok(Self {
            rest: TangentBlocks::new(mesh, rest)?,
            morphs: moves_some
                .then(|| TangentMorphs::new(mesh, targets))
                .transpose()?,
        })
    }

    /// At rest, block order.
    pub fn rest(&self) -> &TangentBlocks {
        &self.rest
    }
}

/// The tangents of one surface of one actor.
#[derive(Clone, Debug)]
pub(crate) struct ActorTangents {
    /// Displaced by the morph targets, if they do.
    morphed: Option<TangentBlocks>,
    pub(crate) out: TangentBlocks,
}

impl ActorTangents {
    pub(crate) fn new(tangents: &SurfaceTangents) -> Self {
        let rest = &tangents.rest;
        Self {
            morphed: tangents.morphs.as_ref().map(|_| rest.clone()),
            out: rest.clone(),
        }
    }

    /// Those of a skinned surface.
    pub(crate) fn pose(
        &mut self,
        tangents: &SurfaceTangents,
        mesh: &SkinnedMesh,
        weights: &[f32],
        palette: &Palette,
        surface: &VertexBlocks,
    ) {
        let source = match (&tangents.morphs, &mut self.morphed) {
            (Some(morphs), Some(morphed)) => {
                morphs.morph(weights, &tangents.rest, morphed);
                &*morphed
            }
            _ => &tangents.rest,
        };
        mesh.tangents(source, palette, surface, &mut self.out);
    }

    /// Those of a simulated surface: `positions` and `normals` are of its particles, world space.
    pub(crate) fn carry(
        &mut self,
        tangents: &ClothTangents,
        positions: &[Vec3],
        normals: &[Vec3],
        model_from_world: &Affine,
    ) {
        let vertices = tangents.vertices.iter().enumerate();
        for (vertex, (particle, handedness)) in vertices {
            let normal = normals[*particle as usize];
            let tangent = tangents.frames.at(vertex, positions, normal);
            let in_model = |tangent| {
                model_from_world
                    .transform_vector(tangent)
                    .try_normalize(0.0)
            };
            // What has lost its direction for a frame keeps that of the frame before.
            if let Some(tangent) = tangent.and_then(in_model) {
                let [x, y, z] = tangent.into();
                self.out.set_tangent(vertex, [x, y, z, *handedness]);
            }
        }
    }
}

/// The tangents of a cloth, by its edges.
#[derive(Clone, Debug)]
pub(crate) struct ClothTangents {
    frames: TangentFrames,
    /// The particle and the handedness of each vertex.
    vertices: Vec<(u32, f32)>,
}

impl ClothTangents {
    /// What carries the tangents of `mesh` that its joints pose by `palette`, where the cloth starts from.
    ///
    /// * `positions`: of the particles. * `triangles`: of particles.
    pub(crate) fn new(
        tangents: &SurfaceTangents,
        mesh: &SkinnedMesh,
        palette: &Palette,
        (positions, triangles): (&[Vec3], &[[u32; 3]]),
        particle_from_vertex: &[u32],
    ) -> Self {
        let mut surface = VertexBlocks::new(mesh.vertex_count());
        mesh.linear(mesh.rest(), palette, &mut surface);
        let mut posed = tangents.rest.clone();
        mesh.tangents(&tangents.rest, palette, &surface, &mut posed);
        let at = particle_from_vertex.iter().enumerate();
        let at = at.map(|(vertex, particle)| (*particle, posed.tangent(vertex)));
        let directions = at
            .clone()
            .map(|(particle, [x, y, z, _])| (particle, Vec3::new(x, y, z)));
        Self {
            frames: TangentFrames::new(positions, triangles, directions),
            vertices: at
                .map(|(particle, [.., handedness])| (particle, handedness))
                .collect(),
        }
    }
}
