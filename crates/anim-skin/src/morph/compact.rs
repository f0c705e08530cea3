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
    /// The same of the normals' displacements.
    pub normal_error: f32,
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
        Self::of_target(0, target, tolerance)
    }

    /// [`new`](Self::new), where errors name the target `index`.
    fn of_target(index: usize, target: &MorphTarget, tolerance: f32) -> Result<Self, SkinError> {
        target.check(index, usize::MAX)?;
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
        let (positions, normals) = (&shape.positions, &shape.normals);
        shape.error = largest_error(&target.positions, &entries, positions, shape.position_scale);
        shape.normal_error = largest_error(&target.normals, &entries, normals, shape.normal_scale);
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
                // Runs of a damaged file may claim more than there is.
                .take(self.positions.len())
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

/// All targets of a mesh in runs of 16-bit displacements.
///
/// ```
/// # use anim_math::Vec3;
/// # use anim_skin::MorphTarget;
/// use anim_skin::morph::CompactShapes;
///
/// let target = |x| MorphTarget { vertices: vec![0, 1], positions: vec![x * Vec3::x(); 2], ..MorphTarget::default() };
/// let shapes = CompactShapes::new(&[target(1.0), target(0.01)], 1e-6)?;
/// // Either shape has its own scale: an error is relative to its largest displacement.
/// assert!(shapes.error() < 1e-6 && shapes.bytes() == 2 * (8 + 12 + 8));
/// assert_eq!(shapes.decode().len(), 2);
/// # Ok::<(), anim_skin::SkinError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CompactShapes {
    /// One a target.
    pub shapes: Vec<CompactShape>,
}

impl CompactShapes {
    /// Compresses each of `targets` as [`CompactShape::new`] does.
    ///
    /// # Errors
    ///
    /// [`SkinError::TargetCount`] and [`SkinError::NotFinite`] with the index of the target.
    pub fn new(targets: &[MorphTarget], tolerance: f32) -> Result<Self, SkinError> {
        let shapes = targets
            .iter()
            .enumerate()
            .map(|(index, target)| CompactShape::of_target(index, target, tolerance))
            .collect::<Result<_, _>>()?;
        Ok(Self { shapes })
    }

    /// All targets again.
    pub fn decode(&self) -> Vec<MorphTarget> {
        self.shapes.iter().map(CompactShape::decode).collect()
    }

    /// Size of all shapes without their names, bytes.
    pub fn bytes(&self) -> usize {
        self.shapes.iter().map(CompactShape::bytes).sum()
    }

    /// The largest [`CompactShape::error`], metres.
    pub fn error(&self) -> f32 {
        self.shapes.iter().fold(0.0, |m, s| s.error.max(m))
    }
}

/// The largest distance between `vectors` and what `numbers` restore of `entries`; all others are lost.
fn largest_error(vectors: &[Vec3], entries: &[usize], numbers: &[[i16; 3]], scale: f32) -> f32 {
    let mut lost = vectors.to_vec();
    for (entry, numbers) in entries.iter().zip(numbers) {
        lost[*entry] -= restored(numbers, scale);
    }
    lost.iter().fold(0.0, |m, v| v.norm().max(m))
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
        assert_eq!(shape.normal_error, shape.error);
        assert!(shape.bytes() < target.vertices.len() * (4 + 24));
        let none = CompactShape::new(&MorphTarget::default(), 0.0).unwrap();
        assert_eq!((none.error, none.decode()), (0.0, MorphTarget::default()));
    }
}
