//! Blending: several poses of one skeleton into one.
//!
//! Overriding layers are averaged by weight and then additive layers, made by [`difference`], are put on top. Rotations
//! are averaged along the short arc from the heaviest layer, joint by joint, so the order of layers makes no difference
//! and nothing snaps when a running sum turns away. Where the weights of overriding layers sum to less than one the rest
//! pose fills up; where they sum to more they are scaled down, so 0.8 and 0.8 is half of each.
//!
//! ```
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{JointSpec, Layer, Mode, Skeleton, blend};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! let joint = skeleton.joint(0);
//! let (mut left, mut out) = (skeleton.rest().clone(), skeleton.rest().clone());
//! left.set_translation(joint, Vec3::x());
//! let layer = Layer { pose: &left, weight: 0.25, mask: None, mode: Mode::Override };
//! blend(skeleton.rest(), &[layer], &mut out);
//! assert_eq!(out.translation(joint), Vec3::new(0.25, 0.0, 0.0));
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use anim_math::lanes::{
    LANES, Lanes, Level, Simd, SimdBase, SimdCombine, SimdFloat, SimdMask, SimdSplit, dispatch,
    f32x8, f32x16,
};
use anim_math::nalgebra::Quaternion;
use anim_math::{Quat, Transform};

use crate::kernel::{dot, load, normalize, product, store};
use crate::{JointId, Pose, PoseBlock};

/// How a layer meets the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Takes its share of the average.
    #[default]
    Override,
    /// Adds its [`difference`] to the average of the overriding layers, in the order of the layers; with a negative
    /// weight takes it off again.
    Additive,
}

/// A pose with its say in a blend.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// A pose of the skeleton, or a [`difference`] of two.
    pub pose: &'a Pose,
    /// A weight that is not finite counts as 0, and so does a negative one of an overriding layer.
    pub weight: f32,
    /// For each joint, breadth-first, a factor of the weight in [0, 1]; without it 1 for all.
    pub mask: Option<&'a [f32]>,
    /// How it meets the others.
    pub mode: Mode,
}

/// Blends `layers` into `out`.
///
/// A layer of weight 0 changes no bit, joint by joint; a joint that a single layer has all to itself keeps that layer's
/// bits. Additive: q ← q · nlerp(1, δ, w) (δ is on the joint's own side), t ← t + w δ, s ← s (1 + w (δ − 1)). A negative
/// weight −w undoes that of w: q ← q · nlerp(1, δ, w)⁻¹, t ← t − w δ, s ← s / (1 + w (δ − 1)), but no scale is divided by
/// less than 1e−9. O(J × layers); allocates nothing.
///
/// # Panics
///
/// If poses or masks are of another number of joints.
pub fn blend(rest: &Pose, layers: &[Layer<'_>], out: &mut Pose) {
    blend_on(Level::new(), rest, layers, out);
}

/// As [`blend`], on a given instruction set; all give the same bits.
///
/// # Panics
///
/// If poses or masks are of another number of joints.
pub fn blend_on(level: Level, rest: &Pose, layers: &[Layer<'_>], out: &mut Pose) {
    assert_eq!(rest.len(), out.len(), "poses of two skeletons");
    let mut average = Average::of(rest);
    let mut additive = false;
    for layer in layers {
        assert_eq!(layer.pose.len(), out.len(), "layer of another skeleton");
        if let Some(mask) = layer.mask {
            assert_eq!(mask.len(), out.len(), "mask of another skeleton");
        }
        if takes_part(layer) {
            match layer.mode {
                Mode::Override => average.add(layer),
                Mode::Additive => additive = true,
            }
        }
    }
    let blocks = out.blocks_mut();
    match average.shares() {
        Some([(all, _)]) => blocks.copy_from_slice(all),
        Some(shares) => dispatch!(level, simd => mix(simd, shares, blocks)),
        None => mix_masked(level, rest, layers, blocks),
    }
    if additive {
        dispatch!(level, simd => add(simd, layers, blocks));
    }
}

/// What an additive layer is made of: the way from `reference` to `pose`.
///
/// δq = reference⁻¹ · pose, δt = pose − reference, δs = pose / reference (1 where the reference is below 1e−9): added to
/// `reference` with weight 1 it gives `pose`. Between equal poses it is the identity to the bit. O(J).
///
/// # Panics
///
/// If the poses are of different numbers of joints.
pub fn difference(reference: &Pose, pose: &Pose, out: &mut Pose) {
    assert_eq!(reference.len(), pose.len(), "poses of two skeletons");
    assert_eq!(reference.len(), out.len(), "poses of two skeletons");
    for joint in (0..pose.len() as u16).map(JointId) {
        let (from, to) = (reference.get(joint), pose.get(joint));
        let back = from.rotation.inverse().coords.into();
        let turn = Quaternion::from(product(back, to.rotation.coords.into()));
        out.set(
            joint,
            Transform {
                rotation: Quat::new_unchecked(turn / turn.norm()),
                ..parts_between(from, to)
            },
        );
    }
}

/// The way between two transforms but for the rotation, which has sides.
pub(crate) fn parts_between(from: Transform, to: Transform) -> Transform {
    let ratio = |to: f32, from: f32| if is_flat(from) { 1.0 } else { to / from };
    Transform {
        translation: to.translation - from.translation,
        rotation: Quat::identity(),
        scale: to.scale.zip_map(&from.scale, ratio),
    }
}

/// A scale this small is none, and nothing is divided by it.
const FLAT: f32 = 1e-9;

pub(crate) fn is_flat(scale: f32) -> bool {
    scale.abs() < FLAT
}

/// The layers of a mode that have any weight.
fn of_mode<'a>(layers: &'a [Layer<'a>], mode: Mode) -> impl Iterator<Item = &'a Layer<'a>> + Clone {
    layers
        .iter()
        .filter(move |layer| layer.mode == mode && takes_part(layer))
}

/// Weights are bounded by this, so that no sum of them is infinite.
const HEAVY: f32 = 1e30;

fn takes_part(layer: &Layer<'_>) -> bool {
    let has_weight = layer.weight > 0.0 || layer.mode == Mode::Additive && layer.weight < 0.0;
    has_weight && layer.weight.abs() < f32::INFINITY
}

/// Poses in an average; more are still blended, but by the slower way.
const MOST: usize = 5;

/// A pose and its share in an average.
type Share<'a> = (&'a [PoseBlock], f32);

/// An average of whole poses, gathered layer by layer.
struct Average<'a> {
    rest: &'a [PoseBlock],
    /// The heaviest first: the short arcs start there. Place 0 is the rest pose's until something outweighs it.
    shares: [Share<'a>; MOST],
    count: usize,
    total: f32,
    /// False where joints have weights of their own, or there are too many layers.
    is_plain: bool,
}

impl<'a> Average<'a> {
    fn of(rest: &'a Pose) -> Self {
        Self {
            rest: rest.blocks(),
            shares: [(&[], 0.0); MOST],
            count: 0,
            total: 0.0,
            is_plain: true,
        }
    }

    #[inline(always)]
    fn add(&mut self, layer: &Layer<'a>) {
        self.is_plain &= layer.mask.is_none() && self.count + 1 < MOST;
        if self.is_plain {
            let weight = layer.weight.min(HEAVY);
            self.shares[self.count] = (layer.pose.blocks(), weight);
            self.count += 1;
            self.total += weight;
        }
    }

    /// All that take part and their shares, the heaviest first.
    ///
    /// `None` where each joint has to be looked at: it has weights of its own, there are too many, or three or more take
    /// part and several are the heaviest.
    #[inline(always)]
    fn shares(&mut self) -> Option<&[Share<'a>]> {
        if !self.is_plain {
            return None;
        }
        if self.total < 1.0 {
            self.shares[self.count] = (self.rest, 1.0 - self.total);
            self.count += 1;
        }
        let shares = &mut self.shares[..self.count];
        let scale = 1.0 / self.total.max(1.0);
        let mut heaviest = 0;
        let mut tied = false;
        for place in 0..shares.len() {
            shares[place].1 *= scale;
            let (share, most) = (shares[place].1, shares[heaviest].1);
            tied = place > 0 && (share == most || tied && share < most);
            if share > most {
                heaviest = place;
            }
        }
        shares.swap(0, heaviest);
        (shares.len() < 3 || !tied).then_some(shares)
    }
}

#[inline(always)]
fn mix<S: Simd>(simd: S, shares: &[Share<'_>], out: &mut [PoseBlock]) {
    let Some(((reference, share), others)) = shares.split_first() else {
        return;
    };
    let reference_share = f32x16::splat(simd, *share);
    let blocks = out.iter_mut().zip(*reference);
    for (index, (out, from)) in blocks.enumerate() {
        // Rotations first and moves after, so that neither runs out of registers.
        let reference = load_pairs(simd, &from.rotation);
        let mut rotation = [
            reference[0] * reference_share,
            reference[1] * reference_share,
        ];
        for (blocks, share) in others {
            let other = load_pairs(simd, &blocks[index].rotation);
            // Minus the share where the other quaternion is on the far side.
            let signed = f32x8::splat(simd, *share).copysign(dot_pairs(reference, other));
            let signed = signed.combine(signed);
            rotation[0] += other[0] * signed;
            rotation[1] += other[1] * signed;
        }
        let inverse = f32x8::splat(simd, 1.0) / dot_pairs(rotation, rotation).sqrt();
        let inverse = inverse.combine(inverse);
        store_pairs(
            [rotation[0] * inverse, rotation[1] * inverse],
            &mut out.rotation,
        );

        let start = Moves::load(simd, from);
        let mut moves = start;
        for (blocks, share) in others {
            let share = f32x8::splat(simd, *share);
            moves.add_way(&start, &Moves::load(simd, &blocks[index]), share);
        }
        moves.store(out);
    }
}

/// Translations and scales of eight joints in whole cache lines: two parts and one, one and two.
#[derive(Clone, Copy)]
struct Moves<S: Simd> {
    translation: (f32x16<S>, f32x8<S>),
    scale: (f32x8<S>, f32x16<S>),
}

impl<S: Simd> Moves<S> {
    #[inline(always)]
    fn load(simd: S, block: &PoseBlock) -> Self {
        let (translation, scale) = (block.translation.as_flattened(), block.scale.as_flattened());
        Self {
            translation: (
                f32x16::from_slice(simd, &translation[..16]),
                f32x8::from_slice(simd, &translation[16..]),
            ),
            scale: (
                f32x8::from_slice(simd, &scale[..8]),
                f32x16::from_slice(simd, &scale[8..]),
            ),
        }
    }

    /// Adds a part of the way from `from` to `to`; exactly nothing where they are equal.
    #[inline(always)]
    fn add_way(&mut self, from: &Self, to: &Self, share: f32x8<S>) {
        let wide = share.combine(share);
        self.translation.0 += (to.translation.0 - from.translation.0) * wide;
        self.translation.1 += (to.translation.1 - from.translation.1) * share;
        self.scale.0 += (to.scale.0 - from.scale.0) * share;
        self.scale.1 += (to.scale.1 - from.scale.1) * wide;
    }

    #[inline(always)]
    fn store(self, out: &mut PoseBlock) {
        let translation = out.translation.as_flattened_mut();
        self.translation.0.store_slice(&mut translation[..16]);
        self.translation.1.store_slice(&mut translation[16..]);
        let scale = out.scale.as_flattened_mut();
        self.scale.0.store_slice(&mut scale[..8]);
        self.scale.1.store_slice(&mut scale[8..]);
    }
}

#[inline(always)]
fn load_pairs<S: Simd>(simd: S, parts: &[Lanes; 4]) -> [f32x16<S>; 2] {
    let flat = parts.as_flattened();
    [
        f32x16::from_slice(simd, &flat[..16]),
        f32x16::from_slice(simd, &flat[16..]),
    ]
}

#[inline(always)]
fn store_pairs<S: Simd>([xy, zw]: [f32x16<S>; 2], out: &mut [Lanes; 4]) {
    let flat = out.as_flattened_mut();
    xy.store_slice(&mut flat[..16]);
    zw.store_slice(&mut flat[16..]);
}

#[inline(always)]
fn dot_pairs<S: Simd>(a: [f32x16<S>; 2], b: [f32x16<S>; 2]) -> f32x8<S> {
    let (x, y) = (a[0] * b[0] + a[1] * b[1]).split();
    x + y
}

/// Layers with weights joint by joint that are gathered first.
const GATHERED: usize = 16;

/// Gathers the layers that take part, so that they are not looked for again at each block.
fn mix_masked(level: Level, rest: &Pose, layers: &[Layer<'_>], out: &mut [PoseBlock]) {
    let overriding = of_mode(layers, Mode::Override);
    let mut gathered = [Layer {
        pose: rest,
        weight: 0.0,
        mask: None,
        mode: Mode::Override,
    }; GATHERED];
    let count = overriding.clone().count();
    if count > GATHERED {
        dispatch!(level, simd => mix_by_lane(simd, rest, overriding.clone(), out));
        return;
    }
    for (slot, layer) in gathered.iter_mut().zip(overriding) {
        *slot = *layer;
    }
    let gathered = gathered[..count].iter();
    dispatch!(level, simd => mix_by_lane(simd, rest, gathered.clone(), out));
}

/// Averages with weights that differ from joint to joint; the heaviest layer is found for each joint.
#[inline(always)]
fn mix_by_lane<'a, S: Simd>(
    simd: S,
    rest: &Pose,
    overriding: impl Iterator<Item = &'a Layer<'a>> + Clone,
    out: &mut [PoseBlock],
) {
    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    let layer_count = overriding.clone().count();
    for (index, (out, rest)) in out.iter_mut().zip(rest.blocks()).enumerate() {
        let mut total = zero;
        for layer in overriding.clone() {
            total += weights(simd, layer, index);
        }
        let rest_share = (one - total).max(zero);
        let share_of_weight = one / total.max(one);
        let has_rest = rest_share.simd_gt(zero).any_true();
        let rest_rotation = load(simd, &rest.rotation);
        let mut heaviest = Heaviest {
            share: rest_share,
            nearness: one,
            rotation: rest_rotation,
        };
        // Of two the short arc is the same from either end.
        let may_tie = layer_count + usize::from(has_rest) > 2;
        for layer in overriding.clone() {
            let rotation = load(simd, &layer.pose.blocks()[index].rotation);
            let share = weights(simd, layer, index) * share_of_weight;
            let nearness = if may_tie {
                dot(rotation, rest_rotation).abs()
            } else {
                zero
            };
            heaviest.compare(simd, share, nearness, rotation);
        }
        let mut sum = Sum::new(simd);
        if has_rest {
            sum.add(heaviest.rotation, rest, rest_share);
        }
        for layer in overriding.clone() {
            let share = weights(simd, layer, index) * share_of_weight;
            sum.add(heaviest.rotation, &layer.pose.blocks()[index], share);
        }
        sum.rotation = normalize(simd, sum.rotation);
        if has_rest {
            sum.keep_whole(rest, rest_share);
        }
        for layer in overriding.clone() {
            let share = weights(simd, layer, index) * share_of_weight;
            sum.keep_whole(&layer.pose.blocks()[index], share);
        }
        store(sum.rotation, &mut out.rotation);
        store(sum.translation, &mut out.translation);
        store(sum.scale, &mut out.scale);
    }
}

/// The weights of a layer for the joints of one block; 0 in spare lanes.
#[inline(always)]
fn weights<S: Simd>(simd: S, layer: &Layer<'_>, block: usize) -> f32x8<S> {
    let weight = f32x8::splat(simd, layer.weight.min(HEAVY));
    match layer.mask {
        None => weight,
        Some(mask) => {
            let mask = &mask[block * LANES..];
            let lanes = match mask.first_chunk() {
                Some(lanes) => f32x8::load_array_ref(simd, lanes),
                None => {
                    let mut lanes = [0.0; LANES];
                    lanes[..mask.len()].copy_from_slice(mask);
                    f32x8::load_array(simd, lanes)
                }
            };
            let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
            // Also makes 0 of NaN.
            weight * simd.select_f32x8(lanes.simd_gt(zero), lanes.min(one), zero)
        }
    }
}

/// The rotation that short arcs start at, and of several as heavy the one nearest to rest.
struct Heaviest<S: Simd> {
    share: f32x8<S>,
    /// |cos| of half the angle to the rest pose.
    nearness: f32x8<S>,
    rotation: [f32x8<S>; 4],
}

impl<S: Simd> Heaviest<S> {
    #[inline(always)]
    fn compare(&mut self, simd: S, share: f32x8<S>, nearness: f32x8<S>, rotation: [f32x8<S>; 4]) {
        let nearer = share.simd_eq(self.share) & nearness.simd_gt(self.nearness);
        let wins = share.simd_gt(self.share) | nearer;
        self.share = simd.select_f32x8(wins, share, self.share);
        self.nearness = simd.select_f32x8(wins, nearness, self.nearness);
        replace(simd, wins, &mut self.rotation, rotation);
    }
}

/// Weighted sums of the parts of eight joints.
struct Sum<S: Simd> {
    simd: S,
    rotation: [f32x8<S>; 4],
    translation: [f32x8<S>; 3],
    scale: [f32x8<S>; 3],
}

impl<S: Simd> Sum<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        let zero = f32x8::splat(simd, 0.0);
        Self {
            simd,
            rotation: [zero; 4],
            translation: [zero; 3],
            scale: [zero; 3],
        }
    }

    #[inline(always)]
    fn add(&mut self, reference: [f32x8<S>; 4], block: &PoseBlock, share: f32x8<S>) {
        let rotation = load(self.simd, &block.rotation);
        let signed = share.copysign(dot(reference, rotation));
        add_scaled(&mut self.rotation, rotation, signed);
        add_scaled(
            &mut self.translation,
            load(self.simd, &block.translation),
            share,
        );
        add_scaled(&mut self.scale, load(self.simd, &block.scale), share);
    }

    /// Where `block` has the whole share, takes its bits.
    #[inline(always)]
    fn keep_whole(&mut self, block: &PoseBlock, share: f32x8<S>) {
        let whole = share.simd_eq(f32x8::splat(self.simd, 1.0));
        replace(
            self.simd,
            whole,
            &mut self.rotation,
            load(self.simd, &block.rotation),
        );
        replace(
            self.simd,
            whole,
            &mut self.translation,
            load(self.simd, &block.translation),
        );
        replace(
            self.simd,
            whole,
            &mut self.scale,
            load(self.simd, &block.scale),
        );
    }
}

#[inline(always)]
fn add_scaled<S: Simd, const N: usize>(
    sums: &mut [f32x8<S>; N],
    parts: [f32x8<S>; N],
    factor: f32x8<S>,
) {
    for (sum, part) in sums.iter_mut().zip(&parts) {
        *sum += *part * factor;
    }
}

#[inline(always)]
fn replace<S: Simd, const N: usize>(
    simd: S,
    lanes: <f32x8<S> as SimdBase<S>>::Mask,
    parts: &mut [f32x8<S>; N],
    others: [f32x8<S>; N],
) {
    for (part, other) in parts.iter_mut().zip(&others) {
        *part = simd.select_f32x8(lanes, *other, *part);
    }
}

#[inline(always)]
fn add<S: Simd>(simd: S, layers: &[Layer<'_>], out: &mut [PoseBlock]) {
    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    for layer in of_mode(layers, Mode::Additive) {
        let subtracts = layer.weight < 0.0;
        let side = f32x8::splat(simd, if subtracts { -1.0 } else { 1.0 });
        for (index, (out, delta)) in out.iter_mut().zip(layer.pose.blocks()).enumerate() {
            let weight = weights(simd, layer, index);
            let size = weight.abs();
            let touched = size.simd_gt(zero);
            let [x, y, z, w] = load(simd, &delta.rotation);
            let signed = size.copysign(w);
            let along = signed * side;
            let turn = [x * along, y * along, z * along, w * signed + (one - size)];
            let base = load(simd, &out.rotation);
            let mut turned = base;
            replace(
                simd,
                touched,
                &mut turned,
                product(base, normalize(simd, turn)),
            );
            store(turned, &mut out.rotation);
            let mut moved = load(simd, &out.translation);
            let mut shifted = moved;
            add_scaled(&mut shifted, load(simd, &delta.translation), weight);
            replace(simd, touched, &mut moved, shifted);
            store(moved, &mut out.translation);
            let mut scale = load(simd, &out.scale);
            let mut scaled = scale;
            for (part, delta) in scaled.iter_mut().zip(load(simd, &delta.scale)) {
                let factor = one + (delta - one) * size;
                if subtracts {
                    let is_flat = factor.abs().simd_lt(f32x8::splat(simd, FLAT));
                    *part = simd.select_f32x8(is_flat, *part, *part / factor);
                } else {
                    *part *= factor;
                }
            }
            replace(simd, touched, &mut scale, scaled);
            store(scale, &mut out.scale);
        }
    }
}
