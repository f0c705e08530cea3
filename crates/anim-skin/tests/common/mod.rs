//! Meshes, skeletons and an f64 reference that the tests share.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test binary uses a part; a helper may fail as its test may"
)]

use anim_geom::{Mesh, Vertices};
use anim_math::nalgebra::{Matrix3, Vector3};
use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::{JointId, JointSpec, Skeleton};
use anim_skin::{Influences, MorphTarget, Palette, SkinnedMesh};

/// A deterministic stream of numbers in [0, 1).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn unit(&mut self) -> f32 {
        // SplitMix64, Steele, Lea, Flood 2014.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 24) as f32
    }

    pub(crate) fn signed(&mut self) -> f32 {
        2.0 * self.unit() - 1.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f32) as usize
    }

    pub(crate) fn vector(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }

    pub(crate) fn rotation(&mut self) -> Quat {
        let axis = self.vector() + Vec3::new(0.0, 0.0, 1e-3);
        quat::from_axis_angle(axis.normalize(), 3.0 * self.unit())
    }
}

/// `count` joints without parents, at rest at the origin.
pub(crate) fn joints(count: usize) -> (Skeleton, Vec<JointId>) {
    let joint = JointSpec {
        name: None,
        parent: None,
        rest: Transform::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![joint; count]).unwrap();
    let joints = (0..count).map(|joint| skeleton.joint(joint)).collect();
    (skeleton, joints)
}

/// Points without triangles.
pub(crate) fn cloud(positions: Vec<Vec3>, normals: Vec<Vec3>) -> Mesh {
    Mesh {
        rest: Vertices { positions, normals },
        ..Mesh::default()
    }
}

/// A skin with identity bind matrices.
pub(crate) fn bind(
    mesh: &Mesh,
    joint_count: usize,
    influences: &Influences,
    targets: &[MorphTarget],
) -> SkinnedMesh {
    let (_, joints) = joints(joint_count);
    let binds = vec![Affine::IDENTITY; joint_count];
    SkinnedMesh::new(mesh, &joints, &binds, influences, targets).unwrap()
}

/// `vertex_count` random unit-cube vertices with `per_vertex` random influences of `joint_count` joints.
pub(crate) fn random_mesh(
    vertex_count: usize,
    joint_count: usize,
    per_vertex: usize,
    seed: u64,
) -> (Mesh, Influences) {
    let mut numbers = Numbers::new(seed);
    let positions = (0..vertex_count).map(|_| numbers.vector()).collect();
    let normals = (0..vertex_count)
        .map(|_| (numbers.vector() + Vec3::new(0.0, 2.0, 0.0)).normalize())
        .collect();
    let count = vertex_count * per_vertex;
    let influences = Influences {
        per_vertex,
        joints: (0..count)
            .map(|_| numbers.below(joint_count) as u16)
            .collect(),
        weights: (0..count).map(|_| numbers.unit()).collect(),
    };
    (cloud(positions, normals), influences)
}

/// Random rigid matrices.
pub(crate) fn rigid_palette(joint_count: usize, seed: u64) -> Palette {
    let mut numbers = Numbers::new(seed);
    let mut palette = Palette::new(joint_count);
    for place in 0..joint_count {
        let transform = Transform {
            translation: numbers.vector(),
            rotation: numbers.rotation(),
            ..Transform::IDENTITY
        };
        palette.set(place, transform.into());
    }
    palette
}

/// The blended matrix of one source vertex in f64, its weights divided by their sum.
pub(crate) fn blended(
    influences: &Influences,
    vertex: usize,
    palette: &Palette,
) -> (Matrix3<f64>, Vector3<f64>) {
    let range = vertex * influences.per_vertex..(vertex + 1) * influences.per_vertex;
    let mut linear = Matrix3::zeros();
    let mut translation = Vector3::zeros();
    let mut sum = 0.0;
    for (joint, weight) in influences.joints[range.clone()]
        .iter()
        .zip(&influences.weights[range])
    {
        let weight = f64::from(*weight);
        let matrix = palette.get(usize::from(*joint));
        linear += matrix.linear.cast::<f64>() * weight;
        translation += matrix.translation.cast::<f64>() * weight;
        sum += weight;
    }
    (linear / sum, translation / sum)
}
