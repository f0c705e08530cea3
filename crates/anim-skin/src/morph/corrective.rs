//! Corrective shapes: what is missing between the sum of several shapes and what an artist sculpted for all of them.
//!
//! Two shapes that are right alone often collide together: a smile and an open mouth. The artist sculpts the face with
//! both on; its difference from x₀ + Δ₁ + Δ₂ is a target of its own, on as far as both are
//! ([`Combination`](super::rig::Combination)). For three shapes the corrections of the pairs count as parts as well, so
//! that only what is still missing remains: inclusion and exclusion.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skin::MorphTarget;
//! use anim_skin::morph::corrective::corrective;
//!
//! let part = |d| MorphTarget { vertices: vec![0], positions: vec![d], ..MorphTarget::default() };
//! let fix = corrective(&[Vec3::zeros()], &[Vec3::new(1.0, 0.5, 0.0)], &[part(Vec3::x()), part(Vec3::y())], 0.0)?;
//! assert_eq!(fix.positions, [Vec3::new(0.0, -0.5, 0.0)]);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_math::Vec3;

use crate::{MorphTarget, SkinError};

/// The target that, added to `parts` at weight 1, makes `sculpted` of `rest`: sculpted − (rest + Σ Δ).
///
/// * `rest`, `sculpted`: V positions. * `parts`: every target that is on at the same time, corrections of fewer shapes
///   included. * `tolerance`: vertices that are nearer than this, or just there, are left out, metres.
///
/// Normals are left to the caller: recompute them from the sculpted surface, and call this with them as positions. Costs
/// V and the sizes of the parts.
///
/// # Errors
///
/// [`SkinError::Count`] if `sculpted` is not one a vertex; [`SkinError::TargetCount`], [`SkinError::NoVertex`] and
/// [`SkinError::NotFinite`] for a part; [`SkinError::NotFinite`] for a vertex.
pub fn corrective(
    rest: &[Vec3],
    sculpted: &[Vec3],
    parts: &[MorphTarget],
    tolerance: f32,
) -> Result<MorphTarget, SkinError> {
    if sculpted.len() != rest.len() {
        return Err(SkinError::Count {
            what: "sculpted positions",
            found: sculpted.len(),
            vertex_count: rest.len(),
        });
    }
    let mut sum: Vec<_> = rest.iter().map(|x| x.cast::<f64>()).collect();
    for (index, part) in parts.iter().enumerate() {
        part.check(index, rest.len())?;
        for (vertex, displacement) in part.vertices.iter().zip(&part.positions) {
            sum[*vertex as usize] += displacement.cast::<f64>();
        }
    }
    let mut out = MorphTarget::default();
    for (vertex, (sum, sculpted)) in sum.iter().zip(sculpted).enumerate() {
        let missing = (sculpted.cast::<f64>() - sum).cast::<f32>();
        if !missing.iter().all(|x| x.is_finite()) {
            return Err(SkinError::NotFinite {
                what: "sculpted position",
                index: vertex,
            });
        }
        if missing.norm() > tolerance {
            out.vertices.push(vertex as u32);
            out.positions.push(missing);
        }
    }
    Ok(out)
}

/// `target` with each displacement scaled by its vertex's weight: a shape of one side or region of the face.
///
/// * `mask`: V weights, source order. Vertices of weight 0 are left out.
///
/// Masks that sum to 1 at each vertex split a shape into parts that sum to it.
///
/// # Errors
///
/// [`SkinError::TargetCount`], [`SkinError::NoVertex`] and [`SkinError::NotFinite`] for a target that does not fit the
/// mask; [`SkinError::NotFinite`] for a weight.
pub fn masked(target: &MorphTarget, mask: &[f32]) -> Result<MorphTarget, SkinError> {
    target.check(0, mask.len())?;
    if let Some(index) = mask.iter().position(|weight| !weight.is_finite()) {
        return Err(SkinError::NotFinite {
            what: "mask",
            index,
        });
    }
    let mut out = MorphTarget {
        name: target.name.clone(),
        ..MorphTarget::default()
    };
    for (entry, vertex) in target.vertices.iter().enumerate() {
        let weight = mask[*vertex as usize];
        if weight != 0.0 {
            out.vertices.push(*vertex);
            out.positions.push(target.positions[entry] * weight);
            out.normals
                .extend(target.normals.get(entry).map(|n| n * weight));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_are_met_by_pairs_and_what_they_leave() {
        let target = |d| MorphTarget {
            vertices: vec![0],
            positions: vec![d],
            ..MorphTarget::default()
        };
        let rest = [Vec3::repeat(1.0)];
        let single = [Vec3::x(), Vec3::y(), Vec3::z()].map(target);
        let mut parts = single.to_vec();
        for (pair, sculpt) in [([0, 1], 0.25), ([0, 2], 0.5), ([1, 2], 2.0)] {
            let on = pair.map(|shape| single[shape].clone());
            parts.push(corrective(&rest, &[Vec3::repeat(sculpt)], &on, 0.0).unwrap());
        }
        let goal = Vec3::new(4.0, -3.0, 0.125);
        parts.push(corrective(&rest, &[goal], &parts, 0.0).unwrap());
        let sum: Vec3 = parts.iter().flat_map(|part| &part.positions).sum();
        assert_eq!(rest[0] + sum, goal);
        assert!(corrective(&rest, &[], &parts, 0.0).is_err());
        assert!(
            corrective(&rest, &[goal], &parts, 0.0)
                .unwrap()
                .vertices
                .len()
                <= 1
        );
    }

    #[test]
    fn masks_that_sum_to_one_split_a_shape() {
        let target = MorphTarget {
            vertices: vec![2, 0, 1],
            positions: vec![Vec3::x(), Vec3::y(), Vec3::z()],
            normals: vec![Vec3::z(); 3],
            ..MorphTarget::default()
        };
        let left = masked(&target, &[0.0, 0.25, 1.0]).unwrap();
        assert_eq!(left.vertices, [2, 1]);
        assert_eq!(left.positions, [Vec3::x(), 0.25 * Vec3::z()]);
        assert_eq!(left.normals, [Vec3::z(), 0.25 * Vec3::z()]);
        assert!(masked(&target, &[1.0, 1.0]).is_err());
    }
}
