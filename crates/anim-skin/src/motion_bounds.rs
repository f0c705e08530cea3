//! Boxes around meshes that dual quaternions skin: from the joints alone, before any vertex is moved.
//!
//! Dual quaternions swing vertices along arcs that bulge out of the boxes of [`JointBounds`](crate::JointBounds), but not
//! far: the blend M of motions takes a vertex no farther from where its heaviest joint h takes it than
//! `Σₖ wₖ |Mₖ v − M_h v| / |r|`, r the blended quaternion before it is made unit. For v moved to the origin by M_h, M v is
//! the imaginary part of `2 Σ wₖ dₖ · r* / |r|²`, whose length is at most that of its factors, and `2 |dₖ|` that of the place
//! to which joint k moves v. And `|r| ≥ r · q_h = 1 − Σₖ wₖ (1 − qₖ · q_h)`, near 1 where joints turn little apart. Both sums are
//! bounded, over the vertices whose heaviest joint is h, by the largest weight of each other joint there, and by the largest
//! weight that all others have together. So a joint far away that has a hundredth of a vertex counts a hundredth.
//!
//! Where joints stretch, v is the mean of the places to which they stretch the vertex, and in the box around those.
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
use crate::dual_quaternion::SHORT;
use crate::{Aabb, DualPalette, SkinnedMesh};

/// For each joint of a skin, boxes of what it moves most and of what it shares with each other joint.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionBounds {
    joint_count: usize,
    joints: Vec<Joint>,
}

/// The vertices whose heaviest joint this is.
#[derive(Clone, Debug, PartialEq)]
struct Joint {
    all: JointBox,
    /// The largest weight of one of them that is not this joint's.
    light: f32,
    shared: Vec<Shared>,
}

/// Those of them that another joint moves, too.
#[derive(Clone, Debug, PartialEq)]
struct Shared {
    /// Where they are; the place is that of the other joint.
    vertices: JointBox,
    /// The other joint's largest weight.
    weight: f32,
}

impl MotionBounds {
    /// Boxes of the vertices at rest, and wherever morph targets take them with weights in `weights`, as for
    /// [`JointBounds`](crate::JointBounds).
    ///
    /// O(vertices × (targets + joints)); for loading.
    pub fn new(skin: &SkinnedMesh, weights: RangeInclusive<f32>) -> Self {
        let reach = reach(skin, &weights);
        // By the heaviest joint and another one of the vertex, or itself: where, and the largest weight that is not the heaviest's.
        let mut boxes: BTreeMap<(usize, usize), (Aabb, f32)> = BTreeMap::new();
        for (vertex, reach) in reach.iter().enumerate() {
            let row = || {
                let row = skin.skin_blocks().influences(vertex);
                row.filter(|(_, weight)| *weight != 0.0)
            };
            // The first of equally heavy ones, as the skin takes it.
            let heaviest = row().reduce(|a, b| if b.1 > a.1 { b } else { a });
            let Some((heaviest, weight)) = heaviest else {
                continue;
            };
            for (joint, own) in row() {
                let light = if joint == heaviest { 1.0 - weight } else { own };
                let entry = boxes.entry((heaviest, joint));
                let (aabb, most) = entry.or_insert((Aabb::EMPTY, 0.0));
                *aabb = aabb.union(reach);
                *most = most.max(light);
            }
        }
        let box_at = |place, aabb: &Aabb| JointBox::around(place, [*aabb].into_iter());
        let own = boxes.iter().filter(|((a, b), _)| a == b);
        let joints = own.map(|((joint, _), (all, light))| Joint {
            all: box_at(*joint, all),
            light: *light,
            shared: boxes
                .range((*joint, 0)..=(*joint, usize::MAX))
                .filter(|((_, other), _)| other != joint)
                .map(|((_, other), (aabb, weight))| Shared {
                    vertices: box_at(*other, aabb),
                    weight: *weight,
                })
                .collect(),
        });
        Self {
            joint_count: skin.joints().len(),
            joints: joints.collect(),
        }
    }

    /// A box that holds every vertex that [`SkinnedMesh::dual_quaternion`] makes with `motions`.
    ///
    /// Empty without vertices. O(joints · neighbours), of their square where joints stretch; allocates nothing.
    ///
    /// # Panics
    ///
    /// If `motions` has another number of joints than the skin.
    pub fn bounds(&self, motions: &DualPalette) -> Aabb {
        assert_eq!(motions.len(), self.joint_count, "palette of another skin");
        let mut bounds = Aabb::EMPTY;
        for joint in &self.joints {
            let own = motions.motion(joint.all.place).to_affine();
            let apart = joint.most(|shared| {
                let other = motions.motion(shared.place).to_affine();
                distance(&joint.stretched(shared, motions), &own, &other)
            });
            let all = joint.all_stretched(motions);
            let mut aabb = all.moved(&own);
            let size = aabb.min.abs().sup(&aabb.max.abs()).max();
            let size = size.max((all.center.abs() + all.half).max());
            // Blends as short as an eighth magnify roundings eightfold.
            let stray = apart / joint.least_length(motions);
            let margin = stray + (stray + size) * 8.0 * ROUNDING;
            aabb.min.add_scalar_mut(-margin);
            aabb.max.add_scalar_mut(margin);
            bounds = bounds.union(&aabb);
        }
        if motions.is_mirrored() {
            (bounds.min.x, bounds.max.x) = (-bounds.max.x, -bounds.min.x);
        }
        bounds
    }
}

impl Joint {
    /// The most that the mean of `value` of the other joints, by their weights in a vertex, can be; 0 counts for this one.
    fn most(&self, value: impl Fn(&JointBox) -> f32) -> f32 {
        let (mut sum, mut largest) = (0.0, 0.0_f32);
        for shared in &self.shared {
            let value = value(&shared.vertices);
            sum += shared.weight * value;
            largest = largest.max(value);
        }
        (self.light * largest).min(sum)
    }

    /// No quaternion that the skin blends for a vertex of this joint is shorter.
    fn least_length(&self, motions: &DualPalette) -> f32 {
        // Where signs come from the heaviest joint, nothing takes its own weight from it.
        let pivoted = 1.0 - self.light;
        if !motions.is_aligned() {
            return pivoted;
        }
        let own = motions.motion(self.all.place).real;
        let aligned = 1.0
            - self.most(|shared| {
                let other = motions.motion(shared.place).real;
                (1.0 - own.dot(&other)).max(0.0)
            });
        // Shorter than this, signs come from the heaviest joint again.
        let shortest = SHORT.sqrt() * (1.0 + ROUNDING);
        if aligned > shortest {
            aligned
        } else {
            SHORT.sqrt().min(pivoted)
        }
    }

    /// This joint's place, and those of all that share vertices with it.
    fn places(&self) -> impl Iterator<Item = usize> {
        let shared = self.shared.iter().map(|shared| shared.vertices.place);
        shared.chain([self.all.place])
    }

    /// The vertices of this joint after what stretches them.
    fn all_stretched(&self, motions: &DualPalette) -> JointBox {
        if !motions.any_stretched() {
            return self.all;
        }
        let shared = self.shared.iter().map(|shared| &shared.vertices);
        let boxes = shared.chain([&self.all]);
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
