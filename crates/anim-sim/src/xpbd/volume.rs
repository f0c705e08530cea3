//! The volume that a closed surface holds.
//!
//! C = V − rest with V = Σ a·(b × c) / 6 over the triangles, and ∇C by a vertex is Σ b × c / 6 over its triangles. One
//! constraint for the whole surface: a rest volume above that of the shape is pressure, (rest − V) / compliance.
//! Gradients see no translation, since those of a closed surface sum to zero.

use anim_math::Vec3;

use super::batch::Pass;
use crate::element;

/// A closed surface by slot.
#[derive(Clone, Debug)]
pub(crate) struct Volume {
    slots: Vec<u32>,
    /// Places in `slots`.
    triangles: Vec<[u32; 3]>,
    rest_volume: f64,
    compliance: f64,
}

impl Volume {
    pub(crate) fn new(volume: &element::Volume, slot_of_vertex: &[u32]) -> Self {
        let slot = |v: &u32| slot_of_vertex[*v as usize];
        let mut slots: Vec<u32> = volume.triangles.iter().flatten().map(slot).collect();
        slots.sort_unstable();
        slots.dedup();
        let place = |v: u32| slots.partition_point(|s| *s < slot(&v)) as u32;
        Self {
            triangles: volume.triangles.iter().map(|t| t.map(place)).collect(),
            rest_volume: f64::from(volume.rest_volume),
            compliance: f64::from(volume.compliance),
            slots,
        }
    }

    /// Particles of the surface.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Projects the constraint once.
    ///
    /// * `gradients`: scratch of at least `len()`.
    pub(crate) fn project(
        &self,
        pass: &Pass<'_>,
        gradients: &mut [Vec3],
        positions: &mut [[f32; 4]],
    ) {
        let Some(first) = self.slots.first() else {
            return;
        };
        let at = |slot: u32| {
            let [x, y, z, _] = positions[slot as usize];
            Vec3::new(x, y, z)
        };
        let origin = at(*first);
        let gradients = &mut gradients[..self.slots.len()];
        gradients.fill(Vec3::zeros());
        let mut volume = 0.0f64;
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|place| at(self.slots[place as usize]) - origin);
            let shares = [b.cross(&c), c.cross(&a), a.cross(&b)];
            volume += f64::from(a.dot(&shares[0]));
            for (place, share) in triangle.iter().zip(shares) {
                gradients[*place as usize] += share / 6.0;
            }
        }
        let masses = self.slots.iter().zip(gradients.iter());
        let stiffness: f64 = masses
            .map(|(slot, g)| f64::from(positions[*slot as usize][3]) * f64::from(g.norm_squared()))
            .sum();
        let h = f64::from(pass.h);
        let denominator = stiffness + self.compliance / (h * h);
        let lambda = (self.rest_volume - volume / 6.0) / denominator;
        if !(denominator > 0.0 && lambda.is_finite()) {
            return;
        }
        for (slot, gradient) in self.slots.iter().zip(gradients.iter()) {
            let [x, y, z, w] = &mut positions[*slot as usize];
            let push = gradient * (lambda * f64::from(*w)) as f32;
            *x += push.x;
            *y += push.y;
            *z += push.z;
        }
    }
}

/// V in f64; of an open surface, the volume of its cone from the first vertex.
pub(crate) fn signed_volume(triangles: &[[u32; 3]], positions: &[Vec3]) -> f64 {
    let Some([first, ..]) = triangles.first() else {
        return 0.0;
    };
    let origin = positions[*first as usize].cast::<f64>();
    let cone = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|v| positions[v as usize].cast::<f64>() - origin);
        a.dot(&b.cross(&c)) / 6.0
    };
    triangles.iter().map(cone).sum()
}
