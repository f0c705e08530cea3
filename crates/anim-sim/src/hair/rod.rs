//! One implicit step of a strand in one sweep to its root and one back: the cost of a segment does not depend on how many
//! there are, and neither does the accuracy.
//!
//! The strand is a chain of rigid segments, each a frame that turns, so that lengths hold by construction. A step of
//! length h minimises Σ m/2h² |x − x_inertial|² + Σ V over the turns θ of the segments, where the energy of a joint
//! between frames A and B (each carried to the middle of the joint by half of its rest) is
//! V = ½ (EI (u₁² + u₂²) + GJ u₃²) / cell with the strain u = 4 tan(φ/4) · axis of A⁻¹B: the angle φ
//! but for φ³/48, stiffer the more it is bent, and with a derivative that is a scale c = 2/(1 + w) times a
//! rotation, so that there is no trigonometry here. The quadratic model of this sum is minimised exactly from the tip to
//! the root: what lies beyond a joint is a quadratic in where the joint is and how its segment is turned (a Riccati
//! recursion on symmetric 6×6 matrices, of which 3×3 are inverted), and the turns follow from the root to the tip, with the
//! true place of each joint put into the next.
//!
//! The model keeps the Gauss-Newton part of the bending energy and the part of the tension that stiffens, so every block
//! is positive definite; the gradient is exact, so equilibria are those of the energy for any step and stiffness.
//!
//! Sources: Bertails, "Linear time super-helices", EG 2009, for implicit steps of chains in linear time; Li, Todorov,
//! "Iterative linear quadratic regulator design", ICINCO 2004, for the recursion; Kugelstadt, Schömer, "Position and
//! orientation based Cosserat rods", SCA 2016, for strain between the frames of segments.

use anim_math::lanes::{self, Lanes, Select, Simd, SimdBase, SimdFloat};

use super::algebra::{
    Mat3s, Quats, Syms, Vec3s, add, at_least, column, conjugate, cross, dot, load_rows, load3,
    load4, load6, mul, quat_mul, quat_normalize, ray_and_ball, row, scale, splat3, store_rows, sub,
    sym_add, sym_inverse, sym_mul, z_axis,
};
use super::model::Group;

/// The most that a segment turns in one substep, rad.
const MAX_TURN: f32 = 1.0;
/// Resists twist apart from the root's, as a share of what a segment's inertia resists bending with: f32 cannot hold
/// stiffnesses that are farther apart. It slows twist, and moves no equilibrium.
const TWIST_INERTIA: f32 = 1e-3;

/// One segment of eight strands and the vertex at its end, in motion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    /// World from the segment's frame.
    pub(super) orientation: [Lanes; 4],
    /// From the root, along the world's axes, m.
    pub(super) offset: [Lanes; 3],
    /// m/s.
    pub(super) velocity: [Lanes; 3],
    /// N.
    pub(super) tension: Lanes,
}

/// What acts on one vertex of eight strands: force − stiffness · δx, where δx is how far it goes in the substep.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Action {
    /// N.
    pub(super) force: [Lanes; 3],
    /// N/m: xx, xy, xz, yy, yz, zz.
    pub(super) stiffness: [Lanes; 6],
}

/// How a segment answers to what happens on its root side: θ = −start − shift·δx + turn·θ_before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answer {
    start: [Lanes; 3],
    shift: [[Lanes; 3]; 3],
    turn: [[Lanes; 3]; 3],
}

/// What is the same for every strand of a substep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inputs {
    pub(super) h: f32,
    /// 1/s.
    pub(super) drag: f32,
    /// s.
    pub(super) damping: f32,
    /// Strands are held to the groom.
    pub(super) is_held: bool,
    pub(super) gravity: [f32; 3],
    pub(super) wind: [f32; 3],
}

/// How the roots of eight strands move in a substep.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RootMotion {
    /// World from root at the beginning.
    pub(super) before: [Lanes; 4],
    /// World from root at the end.
    pub(super) after: [Lanes; 4],
    /// The rotation vector between them, rad.
    pub(super) turn: [Lanes; 3],
    /// m/s.
    pub(super) velocity: [Lanes; 3],
}

/// Eight strands as a substep begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strands<'a> {
    pub(super) group: &'a Group,
    pub(super) root: &'a RootMotion,
    /// N, of the vertices but the roots.
    pub(super) actions: &'a [Action],
    /// N.
    pub(super) now: &'a [Node],
}

/// Advances eight strands by one substep; `answers` is scratch, `next` the end of the substep, both of N.
#[inline(always)]
pub(super) fn advance<S: Simd>(
    simd: S,
    inputs: &Inputs,
    strands: Strands<'_>,
    answers: &mut [Answer],
    next: &mut [Node],
) {
    gather(simd, inputs, strands, answers);
    follow(simd, inputs, strands, answers, next);
}

/// From the tip to the root: how each segment answers.
#[inline(always)]
fn gather<S: Simd>(simd: S, inputs: &Inputs, strands: Strands<'_>, answers: &mut [Answer]) {
    let Strands {
        group,
        actions,
        now,
        ..
    } = strands;
    let root_velocity = load3(simd, &strands.root.velocity);
    let zero = lanes::splat(simd, 0.0);
    let one = lanes::splat(simd, 1.0);
    let zeros = [zero, zero, zero];
    let root_turn = load3(simd, &strands.root.turn);
    let rate = 1.0 / inputs.h;
    let inertia_rate = rate * rate + inputs.drag * rate;
    let viscous = 1.0 + inputs.damping * rate;
    let root = load4(simd, &strands.root.before);
    let root_end = load4(simd, &strands.root.after);
    let clamp = quat_mul(root, load4(simd, &group.clamps));
    // What a free vertex gains in velocity, over h.
    let pull = splat3(
        simd,
        [0, 1, 2].map(|i| inputs.gravity[i] + inputs.drag * inputs.wind[i]),
    );

    // The quadratic of all beyond: ½ δxᵀ A δx + δxᵀ B θ + ½ θᵀ C θ + p·δx + q·θ.
    let mut a: Syms<S> = [zero; 6];
    let mut b: Mat3s<S> = [zeros; 3];
    let mut c: Syms<S> = [zero; 6];
    let mut p = zeros;
    let mut q = zeros;
    for index in (0..group.segments.len()).rev() {
        let (segment, node, action) = (&group.segments[index], &now[index], &actions[index]);

        // The vertex at the end of the segment, as carried by the root.
        let mass = lanes::load(simd, &segment.mass);
        let inertia = mass * inertia_rate;
        let stiffness = load6(simd, &action.stiffness);
        a = sym_add(&a, &stiffness);
        a[0] += inertia;
        a[3] += inertia;
        a[5] += inertia;
        let behind = sub(root_velocity, load3(simd, &node.velocity));
        let push = sub(scale(behind, lanes::splat(simd, rate)), pull);
        let push = add(push, scale(root_velocity, lanes::splat(simd, inputs.drag)));
        p = add(p, scale(push, mass));
        let carried = scale(root_velocity, lanes::splat(simd, inputs.h));
        let acting = sub(load3(simd, &action.force), sym_mul(&stiffness, carried));
        p = sub(p, acting);

        // The joint at its beginning.
        let before = if index > 0 {
            load4(simd, &now[index - 1].orientation)
        } else {
            clamp
        };
        let here = load4(simd, &node.orientation);
        let joint = Joint::new(simd, before, here, load4(simd, &segment.rest_half));
        let bend = lanes::load(simd, &segment.bend);
        let excess = lanes::load(simd, &segment.twist_excess);
        let twist_part = excess * dot(joint.middle, joint.strain);
        let moment = scale(
            add(scale(joint.strain, bend), scale(joint.middle, twist_part)),
            joint.scale,
        );
        let squared = joint.scale * joint.scale * viscous;
        let (bend, excess) = (bend * squared, excess * squared);

        // Where the vertex goes when the segment turns: δx = δx_joint + D θ, D θ = l θ × d.
        let length = lanes::load(simd, &segment.length);
        let along = scale(z_axis(here), length);
        let e: Mat3s<S> = [
            add(b[0], cross(along, row(&a, 0))),
            add(b[1], cross(along, row(&a, 1))),
            add(b[2], cross(along, row(&a, 2))),
        ];
        let de = [
            cross(along, column(&e, 0)),
            cross(along, column(&e, 1)),
            cross(along, column(&e, 2)),
        ];
        let bd = [
            cross(along, column(&b, 0)),
            cross(along, column(&b, 1)),
            cross(along, column(&b, 2)),
        ];
        let mut g: Syms<S> = [
            c[0] + de[0][0] + bd[0][0],
            c[1] + de[1][0] + bd[0][1],
            c[2] + de[2][0] + bd[0][2],
            c[3] + de[1][1] + bd[1][1],
            c[4] + de[2][1] + bd[1][2],
            c[5] + de[2][2] + bd[2][2],
        ];
        let tension = at_least(lanes::load(simd, &node.tension), zero) * length;
        let firm = (g[0] + g[3] + g[5]) * TWIST_INERTIA;
        let axis = scale(along, one / length);
        g = sym_add(&g, &ray_and_ball(firm - tension, axis, tension));
        let mut force = add(add(q, cross(along, p)), moment);
        force = sub(force, scale(axis, firm * dot(axis, root_turn)));
        if inputs.is_held {
            let target = quat_mul(root_end, load4(simd, &segment.target));
            let (away, change) = strain(simd, quat_mul(here, conjugate(target)));
            let hold = lanes::load(simd, &segment.hold) * change;
            force = add(force, scale(away, hold));
            let hold = hold * change;
            g[0] += hold;
            g[3] += hold;
            g[5] += hold;
        }

        // The turn that is best, whatever happens on the root side.
        let stiffness = ray_and_ball(excess, joint.middle, bend);
        let floor = firm * 1e-3 + f32::MIN_POSITIVE;
        let inverse = sym_inverse(simd, &sym_add(&g, &stiffness), floor);
        let start = sym_mul(&inverse, force);
        let shift = [
            sym_mul(&inverse, e[0]),
            sym_mul(&inverse, e[1]),
            sym_mul(&inverse, e[2]),
        ];
        let z = sym_mul(&inverse, joint.middle);
        let zt = scale(z, excess);
        let turn = [
            add(scale(row(&inverse, 0), bend), scale(joint.middle, zt[0])),
            add(scale(row(&inverse, 1), bend), scale(joint.middle, zt[1])),
            add(scale(row(&inverse, 2), bend), scale(joint.middle, zt[2])),
        ];
        lanes::store_all(start, &mut answers[index].start);
        store_rows(shift, &mut answers[index].shift);
        store_rows(turn, &mut answers[index].turn);

        // The quadratic of all beyond the joint.
        p = sub(p, [dot(e[0], start), dot(e[1], start), dot(e[2], start)]);
        let stiff_start = add(
            scale(start, bend),
            scale(joint.middle, excess * dot(joint.middle, start)),
        );
        q = sub(stiff_start, moment);
        a = [
            a[0] - dot(e[0], shift[0]),
            a[1] - dot(e[0], shift[1]),
            a[2] - dot(e[0], shift[2]),
            a[3] - dot(e[1], shift[1]),
            a[4] - dot(e[1], shift[2]),
            a[5] - dot(e[2], shift[2]),
        ];
        b = [
            stiffen(bend, excess, joint.middle, shift[0]),
            stiffen(bend, excess, joint.middle, shift[1]),
            stiffen(bend, excess, joint.middle, shift[2]),
        ];
        // K − K H⁻¹ K with K = bend·1 + excess·t·tᵀ; K H⁻¹ has the columns `turn`.
        let k = [
            stiffen(bend, excess, joint.middle, column(&turn, 0)),
            stiffen(bend, excess, joint.middle, column(&turn, 1)),
            stiffen(bend, excess, joint.middle, column(&turn, 2)),
        ];
        c = [
            stiffness[0] - k[0][0],
            stiffness[1] - k[0][1],
            stiffness[2] - k[0][2],
            stiffness[3] - k[1][1],
            stiffness[4] - k[1][2],
            stiffness[5] - k[2][2],
        ];
    }
}

/// K v of K = bend·1 + excess·t·tᵀ.
#[inline(always)]
fn stiffen<S: Simd>(
    bend: lanes::f32x8<S>,
    excess: lanes::f32x8<S>,
    t: Vec3s<S>,
    v: Vec3s<S>,
) -> Vec3s<S> {
    add(scale(v, bend), scale(t, excess * dot(t, v)))
}

/// How far a joint is from its rest.
struct Joint<S: Simd> {
    /// u, along the world's axes.
    strain: Vec3s<S>,
    /// The tangent in the middle of the joint.
    middle: Vec3s<S>,
    /// c: by how much the strain changes more than the angle.
    scale: lanes::f32x8<S>,
}

impl<S: Simd> Joint<S> {
    #[inline(always)]
    fn new(simd: S, before: Quats<S>, here: Quats<S>, rest_half: Quats<S>) -> Self {
        let from = quat_mul(before, rest_half);
        let to = quat_mul(here, conjugate(rest_half));
        let between = quat_mul(to, conjugate(from));
        let one = lanes::splat(simd, 1.0);
        let sign = short_way(simd, between);
        let [x, y, z, w] = between;
        let middle = quat_mul([x * sign, y * sign, z * sign, w * sign + 1.0], from);
        let squared = lanes::dot4(middle, middle);
        let (strain, change) = strain(simd, between);
        Self {
            strain,
            middle: scale(z_axis(middle), one / squared),
            scale: change,
        }
    }
}

/// 4 tan(φ/4) along the axis of a rotation, and c = 2 / (1 + w), by how much it changes more than the angle.
#[inline(always)]
fn strain<S: Simd>(simd: S, q: Quats<S>) -> (Vec3s<S>, lanes::f32x8<S>) {
    let sign = short_way(simd, q);
    let change = lanes::splat(simd, 2.0) / (q[3] * sign + 1.0);
    let factor = sign * change * 2.0;
    ([q[0] * factor, q[1] * factor, q[2] * factor], change)
}

/// −1 for the one of two quaternions of a rotation that goes the longer way round.
#[inline(always)]
fn short_way<S: Simd>(simd: S, q: Quats<S>) -> lanes::f32x8<S> {
    let one = lanes::splat(simd, 1.0);
    q[3].simd_lt(lanes::splat(simd, 0.0)).select(-one, one)
}

/// From the root to the tip: turns the segments, places the vertices.
#[inline(always)]
fn follow<S: Simd>(
    simd: S,
    inputs: &Inputs,
    strands: Strands<'_>,
    answers: &[Answer],
    next: &mut [Node],
) {
    let Strands {
        group,
        actions,
        now,
        ..
    } = strands;
    let root_velocity = load3(simd, &strands.root.velocity);
    let zero = lanes::splat(simd, 0.0);
    let one = lanes::splat(simd, 1.0);
    let rate = lanes::splat(simd, 1.0 / inputs.h);
    let mut offset = [zero; 3];
    let mut moved = [zero; 3];
    let mut turn = load3(simd, &strands.root.turn);
    for (((segment, now), answer), next) in
        group.segments.iter().zip(now).zip(answers).zip(&mut *next)
    {
        let shift = load_rows(simd, &answer.shift);
        let forced = add(
            scale(shift[0], moved[0]),
            add(scale(shift[1], moved[1]), scale(shift[2], moved[2])),
        );
        let passed = mul(&load_rows(simd, &answer.turn), turn);
        turn = sub(passed, add(load3(simd, &answer.start), forced));
        // Not beyond the largest turn: NaN stays.
        let longest = dot(turn, turn).sqrt() * (1.0 / MAX_TURN);
        let longest = longest.simd_gt(one).select(longest, one);
        turn = scale(turn, one / longest);

        // The rotation whose 4 tan(φ/4) is |turn|: its angle to third order.
        let v = scale(turn, lanes::splat(simd, 0.5));
        let w = one - dot(turn, turn) * (1.0 / 16.0);
        let here = load4(simd, &now.orientation);
        let orientation = quat_normalize(simd, quat_mul([v[0], v[1], v[2], w], here));
        let length = lanes::load(simd, &segment.length);
        offset = add(offset, scale(z_axis(orientation), length));
        moved = sub(offset, load3(simd, &now.offset));
        let velocity = add(scale(moved, rate), root_velocity);
        lanes::store_all(orientation, &mut next.orientation);
        lanes::store_all(offset, &mut next.offset);
        lanes::store_all(velocity, &mut next.velocity);
    }

    // What each segment must pull for its far side to move like that.
    let gravity = splat3(simd, inputs.gravity);
    let wind = splat3(simd, inputs.wind);
    let drag = lanes::splat(simd, inputs.drag);
    let mut force = [zero; 3];
    let rows = group.segments.iter().zip(actions).zip(now).zip(next);
    for (((segment, action), now), next) in rows.rev() {
        let mass = lanes::load(simd, &segment.mass);
        let velocity = load3(simd, &next.velocity);
        let gained = scale(sub(velocity, load3(simd, &now.velocity)), rate);
        let air = scale(sub(velocity, wind), drag);
        let way = scale(velocity, lanes::splat(simd, inputs.h));
        let held = sym_mul(&load6(simd, &action.stiffness), way);
        force = add(force, scale(sub(add(gained, air), gravity), mass));
        force = sub(force, sub(load3(simd, &action.force), held));
        let direction = z_axis(load4(simd, &next.orientation));
        // Over its own joint: force is what pulls the far side towards the root, against the direction.
        lanes::store(-dot(force, direction), &mut next.tension);
    }
}
