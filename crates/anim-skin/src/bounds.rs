//! Boxes around skinned meshes: cheap ones from the joints alone, tight ones from the vertices.
//!
//! A linearly skinned vertex is a weighted mean of where its joints take it, so it lies within the box around these places.
//! [`JointBounds`] keeps a box of the rest vertices of each joint; the union of the boxes moved by the palette holds
//! the whole mesh, for the price of a matrix a joint and before any vertex is skinned: for culling, shadows and picking. Once
//! vertices are there, [`VertexBlocks::bounds`] is exact.
//!
//! Dual quaternions swing vertices along arcs that bulge out of such boxes; [`MotionBounds`](crate::MotionBounds) holds
//! those. For centres of rotation the boxes may be grown by twice their [`reach`](crate::RotationCenters::reach).
//!
//! ```
//! # use anim_geom::{Mesh, Vertices};
//! # use anim_math::{Affine, Transform, Vec3};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! # use anim_skin::{Influences, JointBounds, SkinnedMesh};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! # let joints = [skeleton.joint(0)];
//! let mesh = Mesh {
//!     rest: Vertices { positions: vec![Vec3::zeros(), Vec3::y()], normals: vec![Vec3::z(); 2] },
//!     ..Mesh::default()
//! };
//! let skin = SkinnedMesh::new(&mesh, &joints, &[Affine::IDENTITY], &Influences::rigid(2), &[])?;
//! let bounds = JointBounds::new(&skin, 0.0..=1.0);
//!
//! let mut palette = skin.palette_buffer();
//! palette.set(0, Transform::from_translation(Vec3::x()).into());
//! let moved = bounds.bounds(&palette);
//! assert!(moved.contains(Vec3::new(1.0, 1.0, 0.0)) && !moved.contains(Vec3::y()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::RangeInclusive;

use anim_math::lanes::LANES;
use anim_math::{Affine, Vec3};

use crate::{Palette, SkinnedMesh, VertexBlocks};

/// A box along the axes; empty if `min` is above `max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// The smallest coordinates, metres.
    pub min: Vec3,
    /// The largest coordinates, metres.
    pub max: Vec3,
}

impl Aabb {
    /// Holds nothing; a union with it changes nothing.
    pub const EMPTY: Self = Self {
        min: Vec3::new(f32::INFINITY, f32::INFINITY, f32::INFINITY),
        max: Vec3::new(f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY),
    };

    /// True if it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.min.iter().zip(&self.max).any(|(min, max)| min > max)
    }

    /// True if `point` is inside or on the boundary.
    pub fn contains(&self, point: Vec3) -> bool {
        *self == self.union(&Self::at(point))
    }

    /// The smallest box around a point.
    pub fn at(point: Vec3) -> Self {
        Self {
            min: point,
            max: point,
        }
    }

    /// The smallest box around both.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min: self.min.inf(&other.min),
            max: self.max.sup(&other.max),
        }
    }

    /// The middle; NaN if empty.
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// From the middle to the faces; negative if empty.
    pub fn half_extents(&self) -> Vec3 {
        (self.max - self.min) * 0.5
    }
}

/// For each joint of a skin, the box of what it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct JointBounds {
    joint_count: usize,
    boxes: Vec<JointBox>,
}

/// The vertices that follow one joint, bind space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JointBox {
    pub(crate) place: usize,
    pub(crate) center: Vec3,
    pub(crate) half: Vec3,
}

/// What rounding can add to a skinned vertex, as a part of the sizes involved: some ten roundings of 2⁻²⁴, and room.
pub(crate) const ROUNDING: f32 = 1.0 / (1 << 19) as f32;

impl JointBounds {
    /// Boxes around the vertices of each joint at rest, and wherever morph targets take them with weights in `weights`.
    ///
    /// The targets are taken to move together at their worst, vertex by vertex. O(vertices × targets); for loading.
    pub fn new(skin: &SkinnedMesh, weights: RangeInclusive<f32>) -> Self {
        let reach = reach(skin, &weights);
        let mut boxes = vec![Aabb::EMPTY; skin.joints().len()];
        let blocks = skin.skin_blocks();
        let (mut start, ends) = blocks.ends_from(0);
        for (block, end) in ends.iter().enumerate() {
            let vertices = &reach[block * LANES..reach.len().min((block + 1) * LANES)];
            let joints = blocks.joints()[start..*end].iter();
            for (joint, weights) in joints.zip(&blocks.weights()[start..*end]) {
                let joint = &mut boxes[usize::from(*joint)];
                for (vertex, weight) in vertices.iter().zip(&weights.0) {
                    if *weight != 0.0 {
                        *joint = joint.union(vertex);
                    }
                }
            }
            start = *end;
        }
        let boxes = boxes
            .iter()
            .enumerate()
            .filter(|(_, aabb)| !aabb.is_empty());
        Self {
            joint_count: skin.joints().len(),
            boxes: boxes
                .map(|(place, aabb)| JointBox::around(place, [*aabb].into_iter()))
                .collect(),
        }
    }

    /// A box that holds every vertex that [`SkinnedMesh::linear`] makes with `palette`, to the last bit; empty without
    /// vertices.
    ///
    /// O(joints); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `palette` has another number of joints than the skin.
    pub fn bounds(&self, palette: &Palette) -> Aabb {
        assert_eq!(palette.len(), self.joint_count, "palette of another skin");
        let mut bounds = Aabb::EMPTY;
        let mut slack = Vec3::zeros();
        for joint in &self.boxes {
            let model_from_bind = palette.get(joint.place);
            bounds = bounds.union(&joint.moved(&model_from_bind));
            slack = slack.sup(&joint.slack(&model_from_bind));
        }
        // What a vertex follows a little, and lies far away, rounds what it follows most.
        bounds.min -= slack;
        bounds.max += slack;
        bounds
    }
}

impl JointBox {
    /// The box around boxes, as that of the joint at `place`.
    pub(crate) fn around(place: usize, boxes: impl Iterator<Item = Aabb>) -> Self {
        let aabb = boxes.fold(Aabb::EMPTY, |all, aabb| all.union(&aabb));
        Self {
            place,
            center: aabb.center(),
            half: aabb.half_extents(),
        }
    }

    /// The box around the moved box: its centre moves, its half extents are multiplied by the absolute matrix.
    ///
    /// Source: Arvo, "Transforming axis-aligned bounding boxes", Graphics Gems, 1990.
    pub(crate) fn moved(&self, model_from_bind: &Affine) -> Aabb {
        let absolute = model_from_bind.linear.abs();
        let center = model_from_bind.transform_point(self.center);
        let half = absolute * self.half + self.slack(model_from_bind);
        Aabb {
            min: center - half,
            max: center + half,
        }
    }

    /// What rounding can add to a vertex of the moved box.
    fn slack(&self, model_from_bind: &Affine) -> Vec3 {
        let absolute = model_from_bind.linear.abs();
        let size = absolute * (self.center.abs() + self.half) + model_from_bind.translation.abs();
        size * ROUNDING
    }
}

/// Where each vertex may be before the skin moves it, block order.
pub(crate) fn reach(skin: &SkinnedMesh, weights: &RangeInclusive<f32>) -> Vec<Aabb> {
    let at_rest = |vertex| Aabb::at(skin.rest().position(vertex));
    let mut reach: Vec<_> = (0..skin.vertex_count()).map(at_rest).collect();
    let mut morphed = VertexBlocks::new(skin.vertex_count());
    let mut only = vec![0.0; skin.target_count()];
    for target in 0..skin.target_count() {
        only[target] = 1.0;
        skin.morph(&only, &mut morphed);
        only[target] = 0.0;
        for (vertex, reach) in reach.iter_mut().enumerate() {
            let delta = morphed.position(vertex) - skin.rest().position(vertex);
            let (low, high) = (delta * *weights.start(), delta * *weights.end());
            reach.min += low.inf(&high).inf(&Vec3::zeros());
            reach.max += low.sup(&high).sup(&Vec3::zeros());
        }
    }
    // Each target may be rounded once in its sum here and once in a frame's.
    let heaviest = weights.start().abs().max(weights.end().abs()).max(1.0);
    let rounding = skin.target_count() as f32 * heaviest * f32::EPSILON;
    for reach in &mut reach {
        let slack = reach.min.abs().sup(&reach.max.abs()) * rounding;
        reach.min -= slack;
        reach.max += slack;
    }
    reach
}

impl VertexBlocks {
    /// The smallest box around all positions; empty without vertices.
    ///
    /// O(vertices); allocates nothing.
    pub fn bounds(&self) -> Aabb {
        // Spare lanes of the last block may hold anything.
        let whole = self.len() / LANES;
        let mut low = [[f32::INFINITY; LANES]; 3];
        let mut high = [[f32::NEG_INFINITY; LANES]; 3];
        for block in &self.blocks()[..whole] {
            let parts = block.position.iter().zip(low.iter_mut().zip(&mut high));
            for (part, (low, high)) in parts {
                for (value, (low, high)) in part.iter().zip(low.iter_mut().zip(high)) {
                    *low = if *value < *low { *value } else { *low };
                    *high = if *value > *high { *value } else { *high };
                }
            }
        }
        let blocks = Aabb {
            min: Vec3::from(low.map(|part| part.into_iter().fold(f32::INFINITY, f32::min))),
            max: Vec3::from(high.map(|part| part.into_iter().fold(f32::NEG_INFINITY, f32::max))),
        };
        let spare = whole * LANES..self.len();
        spare.fold(blocks, |all, vertex| {
            all.union(&Aabb::at(self.position(vertex)))
        })
    }
}
