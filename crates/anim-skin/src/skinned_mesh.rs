//! A mesh bound to joints: the model behind every deformer.
//!
//! Built once from what files hold, it keeps vertices in the order skinning wants them ([block order](SkinnedMesh)) with
//! triangles, texture coordinates and morph targets remapped, and the maps to the source's order. One skeleton may carry
//! many skins, each with its own joint list and bind matrices.

use anim_geom::{Mesh, Vertices};
use anim_math::lanes::{LANES, Level};
use anim_math::{Affine, Vec3};
use anim_skeleton::globals::GlobalSlot;
use anim_skeleton::{JointId, Skeleton};

use crate::morph::MorphBlocks;
use crate::skin_blocks::{SkinBlocks, block_order};
use crate::weight_rows::WeightRows;
use crate::{Influences, MorphTarget, Palette, SkinError, VertexBlocks, WeightReport};

/// A mesh, the joints that move it and its morph targets; V vertices in block order.
///
/// Block order puts vertices that follow the same joints side by side, eight a block. It depends on the weights alone,
/// never on the machine.
#[derive(Clone, Debug)]
pub struct SkinnedMesh {
    rest: VertexBlocks,
    triangles: Vec<[u32; 3]>,
    uvs: Vec<[f32; 2]>,
    vertex_from_source: Vec<u32>,
    source_from_vertex: Vec<u32>,
    joints: Vec<JointId>,
    joint_from_bind: Vec<GlobalSlot>,
    kin: Vec<[u16; 2]>,
    blocks: SkinBlocks,
    target_names: Vec<Option<String>>,
    morphs: MorphBlocks,
    report: WeightReport,
    level: Level,
}

impl SkinnedMesh {
    /// Binds `mesh` to joints.
    ///
    /// * `joints`: the joints of the skin's list, as `influences` count them. * `joint_from_bind`: one each, from the
    ///   mesh's space to the joint's (the inverse bind matrices of glTF). * `influences`: any number a vertex; their
    ///   faults are repaired and listed in [`report`](Self::report). * `targets`: may be empty; their vertices may
    ///   come in any order, and displacements of one listed twice add up.
    ///
    /// Normals are made unit. A mesh without vertices is fine.
    ///
    /// # Errors
    ///
    /// [`SkinError::Mesh`] if the mesh fails [`Mesh::check`]; [`SkinError::NoJoints`], [`SkinError::BindCount`] and
    /// [`SkinError::NotFinite`] for the joints; [`SkinError::Count`] and [`SkinError::NoJoint`] for the influences;
    /// [`SkinError::TargetCount`], [`SkinError::NoVertex`] and [`SkinError::NotFinite`] for the targets.
    pub fn new(
        mesh: &Mesh,
        joints: &[JointId],
        joint_from_bind: &[Affine],
        influences: &Influences,
        targets: &[MorphTarget],
    ) -> Result<Self, SkinError> {
        mesh.check()?;
        if joints.is_empty() {
            return Err(SkinError::NoJoints);
        }
        if joint_from_bind.len() != joints.len() {
            return Err(SkinError::BindCount {
                found: joint_from_bind.len(),
                joint_count: joints.len(),
            });
        }
        if let Some(index) = joint_from_bind.iter().position(|bind| !bind.is_finite()) {
            return Err(SkinError::NotFinite {
                what: "bind matrix",
                index,
            });
        }
        let vertex_count = mesh.vertex_count();
        for (index, target) in targets.iter().enumerate() {
            target.check(index, vertex_count)?;
        }
        let (rows, mut report) = WeightRows::new(influences, vertex_count, joints.len())?;
        let source_from_vertex = block_order(&rows);
        let blocks = SkinBlocks::new(&rows, &source_from_vertex);
        report.mean_joints_per_block = blocks.mean_joints();
        let mut vertex_from_source = vec![0; vertex_count];
        for (vertex, source) in source_from_vertex.iter().enumerate() {
            vertex_from_source[*source as usize] = vertex as u32;
        }
        let sources = source_from_vertex.iter().map(|source| *source as usize);
        Ok(Self {
            rest: rest_blocks(&mesh.rest, &source_from_vertex),
            triangles: mesh
                .triangles
                .iter()
                .map(|corners| corners.map(|source| vertex_from_source[source as usize]))
                .collect(),
            uvs: sources
                .filter_map(|source| mesh.uvs.get(source).copied())
                .collect(),
            morphs: MorphBlocks::new(targets, &vertex_from_source),
            vertex_from_source,
            source_from_vertex,
            joints: joints.to_vec(),
            joint_from_bind: joint_from_bind.iter().map(|bind| (*bind).into()).collect(),
            kin: Vec::new(),
            blocks,
            target_names: targets.iter().map(|target| target.name.clone()).collect(),
            report,
            level: Level::new(),
        })
    }

    /// The same mesh computed with the instructions of `level`; the results are the same bits.
    ///
    /// For tests and benchmarks: a new mesh uses the best the machine has.
    pub fn with_level(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// The same mesh, told how `skeleton` joins its joints: for every deformer that blends rotations.
    ///
    /// [`dual_palette`](Self::dual_palette) then chooses the signs of quaternions along the skeleton. Without, each vertex
    /// takes those nearest to its heaviest joint, which is slower and tears where three joints twist by more than half
    /// a turn among themselves. Joints of the list without a listed one above them follow the first such.
    ///
    /// # Panics
    ///
    /// If a joint of the skin is not in `skeleton`.
    pub fn with_skeleton(self, skeleton: &Skeleton) -> Self {
        let kin = kin(&self.joints, skeleton);
        Self { kin, ..self }
    }

    /// Number of vertices, V.
    pub fn vertex_count(&self) -> usize {
        self.source_from_vertex.len()
    }

    /// Where the vertices rest; normals unit, or zero where the source has none.
    pub fn rest(&self) -> &VertexBlocks {
        &self.rest
    }

    /// The triangles, in block order's numbers.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// V texture coordinates in block order, or none.
    pub fn uvs(&self) -> &[[f32; 2]] {
        &self.uvs
    }

    /// V: the place in block order of each source vertex.
    pub fn vertex_from_source(&self) -> &[u32] {
        &self.vertex_from_source
    }

    /// V: the source vertex at each place in block order.
    pub fn source_from_vertex(&self) -> &[u32] {
        &self.source_from_vertex
    }

    /// The skin's joint list, which palettes follow.
    pub fn joints(&self) -> &[JointId] {
        &self.joints
    }

    /// A palette of the right size, all identities.
    pub fn palette_buffer(&self) -> Palette {
        Palette::new(self.joints.len())
    }

    /// Number of morph targets.
    pub fn target_count(&self) -> usize {
        self.target_names.len()
    }

    /// The name of morph target `target`, if it has one.
    ///
    /// # Panics
    ///
    /// If there is no such target.
    pub fn target_name(&self, target: usize) -> Option<&str> {
        self.target_names[target].as_deref()
    }

    /// What was repaired in the weights.
    pub fn report(&self) -> &WeightReport {
        &self.report
    }

    /// Writes `blocks` in the order of the source mesh; `out` is resized to V.
    ///
    /// Allocates only if `out` never held as many vertices.
    ///
    /// # Panics
    ///
    /// If `blocks` has another number of vertices than this mesh.
    pub fn to_source_order(&self, blocks: &VertexBlocks, out: &mut Vertices) {
        assert_eq!(
            blocks.len(),
            self.vertex_count(),
            "vertices of another mesh"
        );
        out.positions.resize(self.vertex_count(), Vec3::zeros());
        out.normals.resize(self.vertex_count(), Vec3::zeros());
        let sources = self.source_from_vertex.chunks(LANES);
        for (block, sources) in blocks.blocks().iter().zip(sources) {
            let ([x, y, z], [nx, ny, nz]) = (&block.position, &block.normal);
            for (lane, source) in sources.iter().enumerate() {
                let source = *source as usize;
                out.positions[source] = Vec3::new(x[lane], y[lane], z[lane]);
                out.normals[source] = Vec3::new(nx[lane], ny[lane], nz[lane]);
            }
        }
    }

    pub(crate) fn joint_from_bind(&self) -> &[GlobalSlot] {
        &self.joint_from_bind
    }

    /// Each place of the joint list, parents first, and the place of the next joint above it; empty without a skeleton.
    pub(crate) fn kin(&self) -> &[[u16; 2]] {
        &self.kin
    }

    pub(crate) fn skin_blocks(&self) -> &SkinBlocks {
        &self.blocks
    }

    pub(crate) fn morph_blocks(&self) -> &MorphBlocks {
        &self.morphs
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }
}

/// The places of `joints`, parents first, each with that of the nearest listed joint above, or the first root's.
fn kin(joints: &[JointId], skeleton: &Skeleton) -> Vec<[u16; 2]> {
    let mut order: Vec<u16> = (0..joints.len()).map(|place| place as u16).collect();
    // Joints are numbered breadth-first.
    order.sort_by_key(|place| joints[usize::from(*place)]);
    let mut place_of_joint = vec![None; skeleton.len()];
    for place in &order {
        place_of_joint[joints[usize::from(*place)].index()].get_or_insert(*place);
    }
    let above = |place: u16| {
        let mut at = skeleton.parent(joints[usize::from(place)]);
        while let Some(joint) = at {
            if let Some(above) = place_of_joint[joint.index()] {
                return above;
            }
            at = skeleton.parent(joint);
        }
        order[0]
    };
    order.iter().map(|place| [*place, above(*place)]).collect()
}

/// Rest vertices in block order; spare lanes repeat the last.
fn rest_blocks(rest: &Vertices, source_from_vertex: &[u32]) -> VertexBlocks {
    let mut blocks = VertexBlocks::new(source_from_vertex.len());
    for (vertex, source) in source_from_vertex.iter().enumerate() {
        let position = rest.positions[*source as usize];
        let normal = unit(rest.normals[*source as usize]);
        blocks.set_position(vertex, position);
        blocks.set_normal(vertex, normal);
    }
    let spare = source_from_vertex.len() % LANES;
    if let Some(block) = blocks.blocks_mut().last_mut().filter(|_| spare > 0) {
        for part in block.position.iter_mut().chain(&mut block.normal) {
            let last = part[spare - 1];
            part[spare..].fill(last);
        }
    }
    blocks
}

/// A unit vector, or zero; one that is unit already keeps its bits.
fn unit(normal: Vec3) -> Vec3 {
    let length = normal.cast::<f64>().norm();
    if length == 0.0 || (length - 1.0).abs() < 1e-6 {
        return normal;
    }
    (normal.cast::<f64>() / length).cast()
}
