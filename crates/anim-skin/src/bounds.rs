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

    /// The box with every face `margin`, m, farther out along its axis; still empty if it is.
    pub fn grown(&self, margin: Vec3) -> Self {
        Self {
            min: self.min - margin,
            max: self.max + margin,
        }
    }

    /// A box around the box moved by `map`, with room for rounding: it holds every point of this one that `map` moves.
    ///
    /// Never tighter than a box about the points themselves would be: turned by 45° about an axis, a cube is √2 as wide.
    pub fn moved(&self, map: &Affine) -> Self {
        if self.is_empty() {
            return Self::EMPTY;
        }
        let (center, half) = (self.center(), self.half_extents());
        JointBox {
            place: 0,
            center,
            half,
        }
        .moved(map)
    }
}

/// For each joint of a skin, the box of what it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct JointBounds {
    joint_count: usize,
    boxes: Vec<JointBox>,
    weights: RangeInclusive<f32>,
    /// How far each morph target takes any vertex.
    target_reach: Vec<f32>,
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
            weights,
            target_reach: target_reach(skin),
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
        self.grown(palette, 0.0)
    }

    /// As [`bounds`](Self::bounds), for vertices that are farther by up to `spare`, bind units, from where they were when the
    /// boxes were made: by [`excess`](Self::excess), or by what the caller moves them before the skin does.
    ///
    /// # Panics
    ///
    /// As [`bounds`](Self::bounds).
    pub fn grown(&self, palette: &Palette, spare: f32) -> Aabb {
        assert_eq!(palette.len(), self.joint_count, "palette of another skin");
        let mut bounds = Aabb::EMPTY;
        let mut slack = Vec3::zeros();
        for joint in &self.boxes {
            let model_from_bind = palette.get(joint.place);
            let joint = JointBox {
                half: joint.half.add_scalar(spare),
                ..*joint
            };
            bounds = bounds.union(&joint.moved(&model_from_bind));
            slack = slack.sup(&joint.slack(&model_from_bind));
        }
        // What a vertex follows a little, and lies far away, rounds what it follows most.
        bounds.grown(slack)
    }

    /// No vertex is taken farther than this, bind units, beyond the boxes by morph weights outside of the range that these
    /// were made for; 0 within. O(targets).
    ///
    /// * `weights`: one a target; those that are missing count as 0.
    pub fn excess(&self, weights: &[f32]) -> f32 {
        let (low, high) = (self.weights.start().min(0.0), self.weights.end().max(0.0));
        self.sum(weights, |weight| (weight - weight.clamp(low, high)).abs())
    }

    /// No vertex is taken farther than this, bind units, from rest by morph targets with `weights`. O(targets).
    ///
    /// * `weights`: as for [`excess`](Self::excess).
    pub fn displacement(&self, weights: &[f32]) -> f32 {
        self.sum(weights, f32::abs)
    }

    fn sum(&self, weights: &[f32], size: impl Fn(f32) -> f32) -> f32 {
        let targets = weights.iter().zip(&self.target_reach);
        let sum: f32 = targets.map(|(weight, reach)| size(*weight) * reach).sum();
        // Each target may be rounded once here and once in a frame's sum.
        sum * (1.0 + 2.0 * self.target_reach.len() as f32 * f32::EPSILON)
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
    for_each_displacement(skin, |_, vertex, delta| {
        let (low, high) = (delta * *weights.start(), delta * *weights.end());
        reach[vertex].min += low.inf(&high).inf(&Vec3::zeros());
        reach[vertex].max += low.sup(&high).sup(&Vec3::zeros());
    });
    // Each target may be rounded once in its sum here and once in a frame's.
    let heaviest = weights.start().abs().max(weights.end().abs()).max(1.0);
    let rounding = skin.target_count() as f32 * heaviest * f32::EPSILON;
    for reach in &mut reach {
        *reach = reach.grown(reach.min.abs().sup(&reach.max.abs()) * rounding);
    }
    reach
}

/// The largest displacement of any vertex by each morph target.
fn target_reach(skin: &SkinnedMesh) -> Vec<f32> {
    let mut reach = vec![0.0; skin.target_count()];
    for_each_displacement(skin, |target, _, delta| {
        reach[target] = delta.norm().max(reach[target]);
    });
    reach
}

/// Gives the target, the vertex and the displacement of all that morph targets move, and zeros besides.
fn for_each_displacement(skin: &SkinnedMesh, mut visit: impl FnMut(usize, usize, Vec3)) {
    skin.morph_blocks().for_each_entry(|target, block, deltas| {
        let first = block * LANES;
        for vertex in first..skin.vertex_count().min(first + LANES) {
            visit(
                target,
                vertex,
                Vec3::from(deltas.map(|part| part[vertex - first])),
            );
        }
    });
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
