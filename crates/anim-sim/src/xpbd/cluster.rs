//! Shape matching: particles that keep their shape as a whole.
//!
//! Each particle is drawn by a spring to its goal in the rest shape, turned and moved to where it fits best. Fitting with
//! weights 1 / (w + α̃), instead of the masses, minimises exactly the energy that the springs then release, so the
//! impulses sum to zero and turn nothing, whatever the masses, and a rigid cluster is exact after one projection.
//! Clusters that overlap are solved one after the other in the order of the model, which conserves both momenta, where
//! the usual average of their goals does not.
//!
//! The rotation is iterated to from that of the last substep, needs no inverse, and so does not mind rest shapes that are
//! flat or on a line. At the beginning of a step it starts from four rotations half a turn apart and keeps the best, for
//! it cannot leave a fit that is exactly half a turn away; a state alone thus decides what follows it.
//!
//! Source: Müller, Heidelberger, Teschner, Gross, "Meshless deformations based on shape matching", SIGGRAPH 2005; Müller,
//! Bender, Chentanez, Macklin, "A robust method to extract the rotational part of deformations", MIG 2016.

use anim_math::nalgebra::{Quaternion, UnitQuaternion};
use anim_math::{Quat, Vec3, nalgebra};

use super::batch::Pass;
use crate::element;

/// Iterations from a rotation nearby, and from anywhere.
const NEAR: u32 = 4;
const FAR: u32 = 24;

/// The particles of a cluster by slot.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    slots: Vec<u32>,
    rest: Vec<Vec3>,
    compliance: f32,
}

impl Cluster {
    pub(crate) fn new(
        cluster: &element::Cluster,
        positions: &[Vec3],
        slot_of_vertex: &[u32],
    ) -> Self {
        let mut vertices = cluster.vertices.clone();
        vertices.sort_unstable();
        vertices.dedup();
        let count = vertices.len().max(1) as f32;
        let center = vertices
            .iter()
            .map(|v| positions[*v as usize])
            .sum::<Vec3>()
            / count;
        Self {
            slots: vertices
                .iter()
                .map(|v| slot_of_vertex[*v as usize])
                .collect(),
            rest: vertices
                .iter()
                .map(|v| positions[*v as usize] - center)
                .collect(),
            compliance: cluster.compliance.min(1e20),
        }
    }

    /// Draws the particles to their goals.
    ///
    /// * `rotation`: that of the last substep, or `None` at the beginning of a step; left as it is now.
    pub(crate) fn project(
        &self,
        pass: &Pass<'_>,
        rotation: &mut Option<Quat>,
        positions: &mut [[f32; 4]],
    ) {
        let soft = self.compliance / (pass.h * pass.h);
        let largest = self
            .slots
            .iter()
            .map(|slot| positions[*slot as usize][3])
            .fold(0.0, f32::max);
        if largest == 0.0 {
            return;
        }
        // A particle that cannot move weighs as much as a million others.
        let weight = |w: f32| 1.0 / (w + soft).max(largest * 1e-6);
        let (mut total, mut center, mut rest_center) = (0.0, Vec3::zeros(), Vec3::zeros());
        let [ox, oy, oz, _] = positions[self.slots[0] as usize];
        let origin = Vec3::new(ox, oy, oz);
        for (slot, rest) in self.slots.iter().zip(&self.rest) {
            let [x, y, z, w] = positions[*slot as usize];
            let weight = weight(w);
            total += weight;
            center += (Vec3::new(x, y, z) - origin) * weight;
            rest_center += rest * weight;
        }
        let (center, rest_center) = (origin + center / total, rest_center / total);
        // A = Σ m (x − c)(rest − c)ᵀ, whose columns Müller names a.
        let mut moments = nalgebra::Matrix3::<f32>::zeros();
        for (slot, rest) in self.slots.iter().zip(&self.rest) {
            let [x, y, z, w] = positions[*slot as usize];
            let offset = Vec3::new(x, y, z) - center;
            moments += offset * (rest - rest_center).transpose() * (weight(w) / total);
        }
        if !moments.iter().all(|m| m.is_finite()) {
            return;
        }
        let turned = match *rotation {
            Some(last) => fit(&moments, last, NEAR),
            None => best_of_four(&moments),
        };
        *rotation = Some(turned);
        for (slot, rest) in self.slots.iter().zip(&self.rest) {
            let [x, y, z, w] = &mut positions[*slot as usize];
            let goal = center + turned * (rest - rest_center);
            let share = if *w > 0.0 { *w / (*w + soft) } else { 0.0 };
            *x += (goal.x - *x) * share;
            *y += (goal.y - *y) * share;
            *z += (goal.z - *z) * share;
        }
    }
}

/// From a rotation and its three half turns, one of which is within 120° of any other rotation.
fn best_of_four(moments: &nalgebra::Matrix3<f32>) -> Quat {
    let quality = |q: &Quat| (q.to_rotation_matrix().matrix().transpose() * moments).trace();
    let mut best = fit(moments, Quat::identity(), FAR);
    for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
        let half_turn = UnitQuaternion::new_unchecked(Quaternion::from_parts(0.0, axis));
        let other = fit(moments, half_turn, FAR);
        if quality(&other) > quality(&best) * 1.0001 {
            best = other;
        }
    }
    // A start that left a bad fit slowly may not have arrived.
    fit(moments, best, FAR)
}

/// Turns `q` towards the rotation that maximises tr(RᵀA).
fn fit(moments: &nalgebra::Matrix3<f32>, mut q: Quat, iterations: u32) -> Quat {
    let floor = moments.norm() * 1e-9;
    for _ in 0..iterations {
        let matrix = q.to_rotation_matrix();
        let (mut torque, mut grip) = (Vec3::zeros(), 0.0);
        for (r, a) in matrix.matrix().column_iter().zip(moments.column_iter()) {
            torque += r.cross(&a);
            grip += r.dot(&a);
        }
        let omega = torque / (grip.abs() + floor).max(f32::MIN_POSITIVE);
        // The half-angle tangent of a small turn, normalised: no trigonometry, and the same fixed point.
        let half = omega * 0.5;
        let product = Quaternion::from_parts(1.0, half) * q.into_inner();
        let length = product.norm();
        q = UnitQuaternion::new_unchecked(product / length);
        if omega.norm_squared() < 1e-14 {
            break;
        }
    }
    q
}
