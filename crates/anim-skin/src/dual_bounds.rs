//! Boxes around meshes skinned by dual quaternions, from the joints alone.
//!
//! A linearly skinned vertex stays between the places where its joints take it; a dual quaternion swings it along arcs that
//! bulge out of the box around them, so [`JointBounds`](crate::JointBounds) is too small there. How far it bulges is known.
//! Let pᵢ = Mᵢ·v be these places, 0 the heaviest joint of the vertex, wᵢ its weights and cᵢ = |q₀·qᵢ| the cosine of half the
//! angle between two joints. Dual quaternions blend alike in every frame, so measure v from v and its places from p₀: the
//! blended translation is Σ wᵢ vec((pᵢ − p₀) qᵢ b*) / |b|² with b = Σ wᵢ qᵢ, and b·q₀ = Σ wᵢ cᵢ, as signs are chosen by
//! the heaviest joint. Hence
//!
//! |x − p₀| ≤ Σ wᵢ |pᵢ − p₀| / |b| ≤ Σ rᵢ |pᵢ − p₀| / (1 + rᵢ cᵢ), rᵢ = wᵢ / w₀ ≤ 1.
//!
//! [`DualBounds`] keeps, for each joint, the box of the vertices that it moves most and, for each joint that helps it, the
//! largest rᵢ. The result is never too small, and at elbows and knees, where the pᵢ are close, hardly larger than the mesh.
//!
//! ```
//! # use anim_geom::{Mesh, Vertices};
//! # use anim_math::{Affine, Transform, Vec3, quat};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! # use anim_skin::{DualBounds, DualPalette, Influences, SkinnedMesh};
//! # let joint = JointSpec { name: None, parent: None, rest: Transform::IDENTITY };
//! # let skeleton = Skeleton::new(vec![joint; 2])?;
//! # let joints = [skeleton.joint(0), skeleton.joint(1)];
//! let mesh = Mesh {
//!     rest: Vertices { positions: vec![Vec3::y()], normals: vec![Vec3::y()] },
//!     ..Mesh::default()
//! };
//! let halves = Influences { per_vertex: 2, joints: vec![0, 1], weights: vec![0.5, 0.5] };
//! let skin = SkinnedMesh::new(&mesh, &joints, &[Affine::IDENTITY; 2], &halves, &[])?;
//! let bounds = DualBounds::new(&skin, 0.0..=1.0);
//!
//! // Half of a quarter turn: the vertex is at 45°, outside the chord that linear skinning cuts.
//! let mut palette = skin.palette_buffer();
//! palette.set(1, Transform::from_rotation(quat::from_axis_angle(Vec3::x(), 90_f32.to_radians())).into());
//! let mut motions = DualPalette::new(palette.len());
//! skin.dual_palette(&palette, &mut motions);
//! assert!(bounds.bounds(&motions).contains(Vec3::new(0.0, 0.70710678, 0.70710678)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use anim_math::lanes::LANES;
use anim_math::{Affine, Vec3};

use crate::bounds::{JointBox, ROUNDING, reach};
use crate::{Aabb, DualPalette, SkinnedMesh};

/// For each joint of a skin, the box of what it moves most and the joints that help it.
#[derive(Clone, Debug, PartialEq)]
pub struct DualBounds {
    joint_count: usize,
    joints: Vec<Led>,
}

/// The vertices of which one joint is the heaviest, bind space.
#[derive(Clone, Debug, PartialEq)]
struct Led {
    place: usize,
    aabb: Aabb,
    helpers: Vec<Helper>,
    /// The most helpers that one vertex has.
    most: usize,
}

/// A joint that moves some of another's vertices too.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Helper {
    place: usize,
    aabb: Aabb,
    /// The largest rᵢ.
    ratio: f32,
}

impl DualBounds {
    /// Boxes around the vertices at rest, and wherever morph targets take them with weights in `weights`.
    ///
    /// O(vertices × targets); for loading.
    pub fn new(skin: &SkinnedMesh, weights: RangeInclusive<f32>) -> Self {
        let reach = reach(skin, &weights);
        let mut led: BTreeMap<u16, (Aabb, usize)> = BTreeMap::new();
        let mut helpers: BTreeMap<(u16, u16), (Aabb, f32)> = BTreeMap::new();
        let blocks = skin.skin_blocks();
        let (mut start, ends) = blocks.ends_from(0);
        for (block, end) in ends.iter().enumerate() {
            let joints = &blocks.joints()[start..*end];
            let weights = &blocks.weights()[start..*end];
            let vertices = &reach[block * LANES..reach.len().min((block + 1) * LANES)];
            for (lane, vertex) in vertices.iter().enumerate() {
                let row = joints.iter().zip(weights.iter().map(|w| w.0[lane]));
                let row = row.filter(|(_, weight)| *weight > 0.0);
                let heaviest = row.clone().fold((0, 0.0), |most, (joint, weight)| {
                    if weight > most.1 {
                        (*joint, weight)
                    } else {
                        most
                    }
                });
                let helping = row.filter(|(joint, _)| **joint != heaviest.0);
                let (aabb, most) = led.entry(heaviest.0).or_insert((Aabb::EMPTY, 0));
                *aabb = aabb.union(vertex);
                *most = (*most).max(helping.clone().count());
                for (joint, weight) in helping {
                    let pair = helpers.entry((heaviest.0, *joint));
                    let (aabb, ratio) = pair.or_insert((Aabb::EMPTY, 0.0));
                    *aabb = aabb.union(vertex);
                    *ratio = ratio.max(weight / heaviest.1);
                }
            }
            start = *end;
        }
        let helpers_of = |leader: u16| {
            let pairs = helpers.range((leader, 0)..=(leader, u16::MAX));
            let pairs = pairs.map(|((_, joint), (aabb, ratio))| Helper {
                place: usize::from(*joint),
                aabb: *aabb,
                ratio: *ratio,
            });
            pairs.collect()
        };
        let joints = led.iter().map(|(joint, (aabb, most))| Led {
            place: usize::from(*joint),
            aabb: *aabb,
            helpers: helpers_of(*joint),
            most: *most,
        });
        Self {
            joint_count: skin.joints().len(),
            joints: joints.collect(),
        }
    }

    /// A box that holds every vertex that [`SkinnedMesh::dual_quaternion`] makes with `palette`; empty without vertices.
    ///
    /// Joints that stretch make it looser. O(joints · helpers); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `palette` has another number of joints than the skin.
    pub fn bounds(&self, palette: &DualPalette) -> Aabb {
        assert_eq!(palette.len(), self.joint_count, "palette of another skin");
        let moved = self.joints.iter().map(|joint| joint.moved(palette));
        let mut all = moved.fold(Aabb::EMPTY, |all, joint| all.union(&joint));
        if palette.is_mirrored() {
            (all.min.x, all.max.x) = (-all.max.x, -all.min.x);
        }
        all
    }
}

impl Led {
    fn moved(&self, palette: &DualPalette) -> Aabb {
        let motion = palette.motion(self.place);
        let mine = motion.to_affine();
        let stretched = palette.any_stretched().then(|| self.stretched(palette));
        let (mut sum, mut largest) = (0.0_f32, 0.0_f32);
        for helper in &self.helpers {
            let other = palette.motion(helper.place);
            let theirs = other.to_affine();
            let apart = Affine {
                linear: theirs.linear - mine.linear,
                translation: theirs.translation - mine.translation,
            };
            let size = theirs.translation.abs() + mine.translation.abs();
            let away = farthest(stretched.as_ref().unwrap_or(&helper.aabb), &apart)
                + size.norm() * ROUNDING;
            let cosine = motion.real.coords.dot(&other.real.coords).abs().min(1.0);
            let swing = helper.ratio * away / (1.0 + helper.ratio * cosine);
            sum += swing;
            largest = largest.max(swing);
        }
        let aabb = stretched.as_ref().unwrap_or(&self.aabb);
        let place = JointBox::new(self.place, aabb).moved(&mine);
        // A vertex has no more helpers than `most`, whichever they are.
        let pad = sum.min(largest * self.most as f32);
        let size = place.min.abs().sup(&place.max.abs()) + Vec3::repeat(pad);
        let pad = Vec3::repeat(pad + size.norm() * ROUNDING);
        Aabb {
            min: place.min - pad,
            max: place.max + pad,
        }
    }

    /// Where the blended stretch may put the vertices: between where each of their joints' would.
    fn stretched(&self, palette: &DualPalette) -> Aabb {
        let by = |place| JointBox::new(place, &self.aabb).moved(&palette.stretch(place));
        let helpers = self.helpers.iter().map(|helper| by(helper.place));
        helpers.fold(by(self.place), |all, other| all.union(&other))
    }
}

/// The largest length that `map` gives to a point of a box: lengths are convex, so a corner has it.
fn farthest(aabb: &Aabb, map: &Affine) -> f32 {
    let corner = |c: u8| {
        let side = |axis: usize| {
            if c >> axis & 1 == 0 {
                aabb.min[axis]
            } else {
                aabb.max[axis]
            }
        };
        let point = Vec3::new(side(0), side(1), side(2));
        map.transform_point(point).norm()
    };
    (0..8).map(corner).fold(0.0, f32::max)
}
