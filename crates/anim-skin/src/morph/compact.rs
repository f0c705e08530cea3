//! Sparse shapes in 16 bits: what a character's targets take on disk and in memory that no frame reads.
//!
//! A vertex that moves less than the tolerance is left out, by the length of its displacement and not component by
//! component, which would bend directions. The rest are runs of neighbouring vertices and three 16-bit numbers each,
//! with one scale a shape. What was lost is reported.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skin::MorphTarget;
//! use anim_skin::morph::CompactShape;
//!
//! let target = MorphTarget {
//!     vertices: vec![3, 4, 9],
//!     positions: vec![Vec3::x(), Vec3::y(), 1e-6 * Vec3::z()],
//!     ..MorphTarget::default()
//! };
//! let shape = CompactShape::new(&target, 1e-5)?;
//! assert_eq!(shape.decode().vertices, [3, 4]);
//! assert!(shape.error < 1.6e-5 && shape.bytes() < 40);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use crate::{MorphTarget, SkinError};

/// One target in runs of 16-bit displacements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompactShape {
    /// As the target has it.
    pub name: Option<String>,
    /// Largest distance between a displacement and what is decoded, left-out ones included, metres.
    pub error: f32,
    /// First vertex and length of each run, ascending.
    runs: Vec<(u32, u32)>,
    position_scale: f32,
    positions: Vec<[i16; 3]>,
    normal_scale: f32,
    normals: Vec<[i16; 3]>,
}

impl CompactShape {
    /// Compresses `target`, leaving out vertices that it moves by less than `tolerance` metres.
    ///
    /// The error is below `tolerance` or below √3 / 2 steps of the largest component / 32767, whichever is more. A vertex
    /// that is listed twice stays listed twice.
    ///
    /// # Errors
    ///
    /// [`SkinError::TargetCount`] and [`SkinError::NotFinite`] for the target.
    pub fn new(target: &MorphTarget, tolerance: f32) -> Result<Self, SkinError> {
        target.check(0, usize::MAX)?;
        let mut entries: Vec<usize> = (0..target.vertices.len())
            .filter(|entry| target.positions[*entry].norm() >= tolerance)
            .collect();
        entries.sort_by_key(|entry| target.vertices[*entry]);
        let mut shape = Self {
            name: target.name.clone(),
            ..Self::default()
        };
        for entry in &entries {
            let vertex = target.vertices[*entry];
            match shape.runs.last_mut() {
                Some((first, count))
                    if u64::from(*first) + u64::from(*count) == u64::from(vertex) =>
                {
                    *count += 1
                }
                _ => shape.runs.push((vertex, 1)),
            }
        }
        (shape.position_scale, shape.positions) = quantized(&target.positions, &entries);
        if !target.normals.is_empty() {
            (shape.normal_scale, shape.normals) = quantized(&target.normals, &entries);
        }
        let dropped = target
            .positions
            .iter()
            .map(|d| d.norm())
            .filter(|d| *d < tolerance);
        let kept = entries
            .iter()
            .zip(&shape.positions)
            .map(|(entry, numbers)| {
                (target.positions[*entry] - restored(numbers, shape.position_scale)).norm()
            });
        shape.error = dropped.chain(kept).fold(0.0, f32::max);
        Ok(shape)
    }

    /// The target again, vertices ascending.
    pub fn decode(&self) -> MorphTarget {
        let decode =
            |numbers: &[[i16; 3]], scale| numbers.iter().map(|n| restored(n, scale)).collect();
        MorphTarget {
            name: self.name.clone(),
            vertices: self
                .runs
                .iter()
                .flat_map(|(first, count)| (0..*count).map(move |i| first.saturating_add(i)))
                .collect(),
            positions: decode(&self.positions, self.position_scale),
            normals: decode(&self.normals, self.normal_scale),
        }
    }

    /// Size of runs, numbers and scales, bytes.
    pub fn bytes(&self) -> usize {
        8 * self.runs.len() + 6 * (self.positions.len() + self.normals.len()) + 8
    }
}

fn quantized(vectors: &[Vec3], entries: &[usize]) -> (f32, Vec<[i16; 3]>) {
    let largest = entries
        .iter()
        .fold(0.0, |m, entry| vectors[*entry].amax().max(m));
    let scale = largest / f32::from(i16::MAX);
    let number = |value: f32| {
        if scale > 0.0 {
            (value / scale).round() as i16
        } else {
            0
        }
    };
    let numbers = entries.iter().map(|entry| {
        let v = vectors[*entry];
        [number(v.x), number(v.y), number(v.z)]
    });
    (scale, numbers.collect())
}

fn restored(numbers: &[i16; 3], scale: f32) -> Vec3 {
    Vec3::from(numbers.map(|number| f32::from(number) * scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_below_what_was_promised() {
        let vertices: Vec<u32> = (0..300).filter(|v| v % 7 != 0).rev().collect();
        let wave = |v: &u32| Vec3::new((*v as f32 * 0.1).sin(), 0.5, 0.0) * 0.001 * (*v % 5) as f32;
        let target = MorphTarget {
            name: Some("wave".to_owned()),
            positions: vertices.iter().map(wave).collect(),
            normals: vertices.iter().map(wave).collect(),
            vertices,
        };
        let shape = CompactShape::new(&target, 1e-5).unwrap();
        assert!(shape.error < 1e-5 && shape.error > 0.0, "{}", shape.error);
        let decoded = shape.decode();
        // A fifth of the vertices does not move at all.
        assert!(decoded.vertices.iter().all(|v| v % 5 != 0 && v % 7 != 0));
        assert!(decoded.vertices.is_sorted());
        for (vertex, position) in decoded.vertices.iter().zip(&decoded.positions) {
            assert!((wave(vertex) - position).norm() <= shape.error);
        }
        assert_eq!(decoded.normals, decoded.positions);
        assert!(shape.bytes() < target.vertices.len() * (4 + 24));
        let none = CompactShape::new(&MorphTarget::default(), 0.0).unwrap();
        assert_eq!((none.error, none.decode()), (0.0, MorphTarget::default()));
    }
}
