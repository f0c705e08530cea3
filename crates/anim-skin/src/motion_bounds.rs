//! Boxes around meshes that dual quaternions skin: from the joints alone, before any vertex is moved.
//!
//! Dual quaternions swing vertices along arcs that bulge out of the boxes of [`JointBounds`](crate::JointBounds), but not
//! far: the blend M of motions takes a vertex no farther from where its heaviest joint h takes it than
//! `(1 − w_h) / |r| · maxₖ |Mₖ v − M_h v|`, r the blended quaternion before it is made unit. For v moved to the origin by
//! M_h, M v is the imaginary part of `2 Σ wₖ dₖ · r* / |r|²`, whose length is at most that of its factors, and `2 |dₖ|`
//! that of the place to which joint k moves v. Where joints stretch, v is the mean of the places to which they stretch the
//! vertex, and in the box around those.
//!
//! ```
//! # use anim_geom::{Mesh, Vertices};
//! # use anim_math::{Affine, Transform, Vec3};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! # use anim_skin::{DualPalette, Influences, MotionBounds, SkinnedMesh};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! # let mesh = Mesh {
//! #     rest: Vertices { positions: vec![Vec3::zeros(), Vec3::y()], normals: vec![Vec3::z(); 2] },
//! #     ..Mesh::default()
//! # };
//! let joints = [skeleton.joint(0)];
//! let skin = SkinnedMesh::new(&mesh, &joints, &[Affine::IDENTITY], &Influences::rigid(2), &[])?;
//! let bounds = MotionBounds::new(&skin, 0.0..=1.0);
//! let motions = DualPalette::new(1);
//! assert!(bounds.bounds(&motions).contains(Vec3::y()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use anim_math::Affine;

use crate::bounds::{JointBox, ROUNDING, reach};
use crate::{Aabb, DualPalette, SkinnedMesh};

/// For each joint of a skin, boxes of what it moves and of what it shares with each other joint.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionBounds {
    joint_count: usize,
    /// K, the most joints of any vertex.
    most: f32,
    joints: Vec<Joint>,
}

#[derive(Clone, Debug, PartialEq)]
struct Joint {
    all: JointBox,
    /// The vertices shared with another joint, whose place it is.
    shared: Vec<JointBox>,
}

impl MotionBounds {
    /// Boxes of the vertices at rest, and wherever morph targets take them with weights in `weights`, as for
    /// [`JointBounds`](crate::JointBounds).
    ///
    /// O(vertices × (targets + joints²)); for loading.
    pub fn new(skin: &SkinnedMesh, weights: RangeInclusive<f32>) -> Self {
        let reach = reach(skin, &weights);
        let mut boxes: BTreeMap<(u16, u16), Aabb> = BTreeMap::new();
        let mut most = 1;
        for (vertex, reach) in reach.iter().enumerate() {
            let row = skin.skin_blocks().influences(vertex);
            let row: Vec<u16> = row
                .filter(|(_, weight)| *weight != 0.0)
                .map(|(place, _)| place as u16)
                .collect();
            most = most.max(row.len());
            for a in &row {
                for b in &row {
                    let aabb = boxes.entry((*a, *b)).or_insert(Aabb::EMPTY);
                    *aabb = aabb.union(reach);
                }
            }
        }
        let box_at =
            |place: u16, aabb: &Aabb| JointBox::around(usize::from(place), [*aabb].into_iter());
        let own = boxes.iter().filter(|((a, b), _)| a == b);
        let joints = own.map(|((joint, _), all)| Joint {
            all: box_at(*joint, all),
            shared: boxes
                .range((*joint, 0)..=(*joint, u16::MAX))
                .filter(|((_, other), _)| other != joint)
                .map(|((_, other), aabb)| box_at(*other, aabb))
                .collect(),
        });
        Self {
            joint_count: skin.joints().len(),
            most: most as f32,
            joints: joints.collect(),
        }
    }

    /// A box that holds every vertex that [`SkinnedMesh::dual_quaternion`] makes with `motions`.
    ///
    /// Empty without vertices. O(joints · neighbours²); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `motions` has another number of joints than the skin.
    pub fn bounds(&self, motions: &DualPalette) -> Aabb {
        assert_eq!(motions.len(), self.joint_count, "palette of another skin");
        let mut bounds = Aabb::EMPTY;
        for joint in &self.joints {
            let own = motions.motion(joint.all.place).to_affine();
            let apart = joint.shared.iter().map(|shared| {
                let other = motions.motion(shared.place).to_affine();
                distance(&joint.stretched(shared, motions), &own, &other)
            });
            let all = joint.all_stretched(motions);
            let mut aabb = all.moved(&own);
            let size = aabb.min.abs().sup(&aabb.max.abs()).max();
            let size = size.max((all.center.abs() + all.half).max());
            // Blends as short as an eighth magnify roundings eightfold.
            let margin =
                apart.fold(0.0, f32::max) * self.stray(joint, motions) + size * 8.0 * ROUNDING;
            aabb.min.add_scalar_mut(-margin);
            aabb.max.add_scalar_mut(margin);
            bounds = bounds.union(&aabb);
        }
        if motions.is_mirrored() {
            (bounds.min.x, bounds.max.x) = (-bounds.max.x, -bounds.min.x);
        }
        bounds
    }

    /// The largest (1 − w) / |r| of a vertex with the weight w for `joint`, its heaviest.
    fn stray(&self, joint: &Joint, motions: &DualPalette) -> f32 {
        // |r| ≥ w ≥ 1/K where signs come from the heaviest joint.
        let pivoted = self.most - 1.0;
        if !motions.is_aligned() {
            return pivoted;
        }
        let acute = joint.places().all(|a| {
            let real = motions.motion(a).real;
            joint
                .places()
                .all(|b| real.dot(&motions.motion(b).real) >= 0.0)
        });
        let light = 1.0 - 1.0 / self.most;
        if acute {
            // The nearest point of a hull in four dimensions is one of at most four corners, and then |r|² ≥ Σ w².
            light * self.most.sqrt().min(2.0)
        } else {
            (8.0 * light).max(pivoted)
        }
    }
}

impl Joint {
    /// This joint's place, and those of all that share vertices with it.
    fn places(&self) -> impl Iterator<Item = usize> {
        let shared = self.shared.iter().map(|shared| shared.place);
        shared.chain([self.all.place])
    }

    /// The vertices of this joint after what stretches them.
    fn all_stretched(&self, motions: &DualPalette) -> JointBox {
        if !motions.any_stretched() {
            return self.all;
        }
        let boxes = self.shared.iter().chain([&self.all]);
        let stretched = boxes.map(|part| part.moved(&motions.stretch(part.place)));
        JointBox::around(self.all.place, stretched)
    }

    /// Vertices of this joint in one box, after what stretches them: any that shares vertices may.
    fn stretched(&self, part: &JointBox, motions: &DualPalette) -> JointBox {
        if !motions.any_stretched() {
            return *part;
        }
        let stretched = self
            .places()
            .map(|place| part.moved(&motions.stretch(place)));
        JointBox::around(part.place, stretched)
    }
}

/// The largest distance of the places to which two motions take one point of a box.
fn distance(shared: &JointBox, a: &Affine, b: &Affine) -> f32 {
    let linear = a.linear - b.linear;
    let center = linear * shared.center + (a.translation - b.translation);
    (center.abs() + linear.abs() * shared.half).norm()
}
