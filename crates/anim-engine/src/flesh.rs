//! Skin over muscles: bellies that swell lift the vertices bound to them, and normals follow.
//!
//! Works on what the deformer has posed, in model space. Normals change by what the triangles about the lifted vertices say,
//! so that creases which the surface has by itself stay.

use anim_geom::normals;
use anim_math::Vec3;
use anim_sim::muscle::SkinBinding;
use anim_skeleton::Globals;
use anim_skin::{SkinnedMesh, VertexBlocks};

use crate::Surface;
use crate::cloth::{particles, posed};
use crate::muscle::{ActorMuscle, CharacterMuscle};

/// What muscles lift of one surface.
#[derive(Debug)]
pub(crate) struct Flesh {
    /// Place among the surfaces.
    pub(crate) surface: usize,
    bindings: Vec<MuscleBinding>,
    /// Vertices whose normals change, each with its place in the patch.
    shaded: Vec<(u32, u32)>,
    /// The patch: a vertex of each place, and its triangles.
    patch: Vec<u32>,
    triangles: Vec<[u32; 3]>,
}

/// What one muscle lifts.
#[derive(Debug)]
struct MuscleBinding {
    muscle: usize,
    vertices: Vec<u32>,
    binding: SkinBinding,
}

/// What an actor needs for it.
#[derive(Debug, Default)]
pub(crate) struct FleshScratch {
    points: Vec<Vec3>,
    patch: Vec<Vec3>,
    normals: [Vec<Vec3>; 2],
}

impl Flesh {
    /// Binds the skin to one more muscle, in the rest pose; `bind` binds points of it.
    pub(crate) fn grow(
        fleshes: &mut Vec<Self>,
        surfaces: &[Surface],
        rest: &Globals,
        muscle: usize,
        bind: impl Fn(&[Vec3]) -> SkinBinding,
    ) {
        for (index, surface) in surfaces.iter().enumerate() {
            let skin = posed(&surface.mesh, rest);
            let is_bound = |vertex: &u32| {
                let vertex = *vertex as usize;
                !bind(&skin[vertex..=vertex]).is_empty()
            };
            let vertices: Vec<u32> = (0..skin.len() as u32).filter(is_bound).collect();
            if vertices.is_empty() {
                continue;
            }
            let points: Vec<Vec3> = vertices.iter().map(|v| skin[*v as usize]).collect();
            let binding = MuscleBinding {
                muscle,
                binding: bind(&points),
                vertices,
            };
            let found = fleshes.iter().position(|flesh| flesh.surface == index);
            let place = found.unwrap_or_else(|| {
                fleshes.push(Self {
                    surface: index,
                    bindings: Vec::new(),
                    shaded: Vec::new(),
                    patch: Vec::new(),
                    triangles: Vec::new(),
                });
                fleshes.len() - 1
            });
            fleshes[place].bindings.push(binding);
            fleshes[place].cut(&surface.mesh, &skin);
        }
    }

    /// Cuts out the triangles about what is lifted.
    fn cut(&mut self, mesh: &SkinnedMesh, skin: &[Vec3]) {
        let (particle, vertex_from_particle) = particles(skin);
        let mut is_lifted = vec![false; vertex_from_particle.len()];
        for vertex in self.bindings.iter().flat_map(|b| &b.vertices) {
            is_lifted[particle[*vertex as usize] as usize] = true;
        }
        // A corner of a triangle that is lifted changes the normals of the others.
        let corners = |triangle: &[u32; 3]| triangle.map(|v| particle[v as usize]);
        let mut is_shaded = vec![false; is_lifted.len()];
        for corners in mesh.triangles().iter().map(corners) {
            if corners.iter().any(|c| is_lifted[*c as usize]) {
                corners.iter().for_each(|c| is_shaded[*c as usize] = true);
            }
        }
        let mut place = vec![u32::MAX; is_lifted.len()];
        self.patch.clear();
        self.triangles.clear();
        for corners in mesh.triangles().iter().map(corners) {
            if !corners.iter().any(|c| is_shaded[*c as usize]) {
                continue;
            }
            for corner in corners {
                if place[corner as usize] == u32::MAX {
                    place[corner as usize] = self.patch.len() as u32;
                    self.patch.push(vertex_from_particle[corner as usize]);
                }
            }
            self.triangles.push(corners.map(|c| place[c as usize]));
        }
        let shaded = (0..particle.len()).filter(|v| is_shaded[particle[*v] as usize]);
        self.shaded = shaded
            .map(|v| (v as u32, place[particle[v] as usize]))
            .collect();
    }

    /// Lifts the skin of `out`, posed already.
    pub(crate) fn bulge(
        &self,
        models: &[CharacterMuscle],
        muscles: &[ActorMuscle],
        scratch: &mut FleshScratch,
        out: &mut VertexBlocks,
    ) {
        let [before, after] = &mut scratch.normals;
        self.shade(&mut scratch.patch, before, out);
        for bound in &self.bindings {
            let (model, muscle) = (&models[bound.muscle], &muscles[bound.muscle]);
            let Some(belly) = model.belly() else {
                continue;
            };
            let points = &mut scratch.points;
            points.clear();
            points.extend(bound.vertices.iter().map(|v| out.position(*v as usize)));
            belly.bulge(
                &bound.binding,
                muscle.route(),
                muscle.flesh_length(),
                points,
            );
            for (vertex, point) in bound.vertices.iter().zip(points) {
                out.set_position(*vertex as usize, *point);
            }
        }
        self.shade(&mut scratch.patch, after, out);
        for (vertex, place) in &self.shaded {
            let (vertex, place) = (*vertex as usize, *place as usize);
            let normal = out.normal(vertex) + after[place] - before[place];
            if let Some(normal) = normal.try_normalize(1e-6) {
                out.set_normal(vertex, normal);
            }
        }
    }

    /// No vertex is lifted or sunk by more, m.
    pub(crate) fn most_lift(&self, models: &[CharacterMuscle], muscles: &[ActorMuscle]) -> f32 {
        let lifts = self.bindings.iter().map(|bound| {
            let length = muscles[bound.muscle].flesh_length();
            let belly = models[bound.muscle].belly();
            belly.map_or(0.0, |belly| belly.most_lift(&bound.binding, length))
        });
        lifts.sum::<f64>() as f32
    }

    /// The normals of the patch as its triangles are.
    fn shade(&self, patch: &mut Vec<Vec3>, out: &mut Vec<Vec3>, skin: &VertexBlocks) {
        patch.clear();
        patch.extend(self.patch.iter().map(|v| skin.position(*v as usize)));
        out.resize(patch.len(), Vec3::y());
        normals::smooth(patch, &self.triangles, out);
    }
}
