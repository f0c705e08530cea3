//! Vertices at rest and where they go in each frame, in f64, centred and in units of their size.
//!
//! What all fits from examples share: positions lie within about 1 of the origin whatever the mesh's units and however far
//! it travels, so that second moments lose no digits and tolerances mean the same everywhere.

use anim_math::nalgebra::{Matrix3x4, Vector3, Vector4};
use anim_math::{Affine, Vec3};

use crate::SkinError;

/// Ten products of a homogeneous point with itself: xx xy xz x yy yz y zz z 1.
pub(crate) type Monomials = [f64; 10];

/// `destination = matrix · (source, 1)`.
pub(crate) type Map = Matrix3x4<f64>;

/// V vertices over F frames, vertex by vertex.
#[derive(Debug)]
pub(crate) struct Motion {
    /// V homogeneous points.
    pub(crate) rest: Vec<Vector4<f64>>,
    /// V × F.
    positions: Vec<Vector3<f64>>,
    frame_centers: Vec<Vector3<f64>>,
    rest_center: Vector3<f64>,
    /// Diagonal of the rest's box, the unit of all of the above; 1 for a point.
    pub(crate) diagonal: f64,
}

impl Motion {
    /// Checks and normalises; every frame must have V finite positions.
    pub(crate) fn new<F: AsRef<[Vec3]>>(rest: &[Vec3], frames: &[F]) -> Result<Self, SkinError> {
        if frames.is_empty() {
            return Err(SkinError::NoFrames);
        }
        let finite = |v: &Vec3| v.iter().all(|c| c.is_finite());
        if let Some(index) = rest.iter().position(|v| !finite(v)) {
            return Err(SkinError::NotFinite {
                what: "position",
                index,
            });
        }
        for (frame, positions) in frames.iter().enumerate() {
            let positions = positions.as_ref();
            if positions.len() != rest.len() {
                return Err(SkinError::FrameCount {
                    frame,
                    what: "positions",
                    found: positions.len(),
                    expected: rest.len(),
                });
            }
            if !positions.iter().all(finite) {
                return Err(SkinError::NotFinite {
                    what: "frame",
                    index: frame,
                });
            }
        }
        let wide = |v: &Vec3| v.cast::<f64>();
        let low = rest
            .iter()
            .map(wide)
            .reduce(|a, b| a.inf(&b))
            .unwrap_or_default();
        let high = rest
            .iter()
            .map(wide)
            .reduce(|a, b| a.sup(&b))
            .unwrap_or_default();
        let size = (high - low).norm();
        let diagonal = if size > 0.0 { size } else { 1.0 };
        let rest_center = (low + high) * 0.5;
        let count = rest.len().max(1) as f64;
        let frame_centers: Vec<_> = frames
            .iter()
            .map(|frame| frame.as_ref().iter().map(wide).sum::<Vector3<f64>>() / count)
            .collect();
        let mut positions = Vec::with_capacity(rest.len() * frames.len());
        for vertex in 0..rest.len() {
            for (frame, center) in frames.iter().zip(&frame_centers) {
                positions.push((wide(&frame.as_ref()[vertex]) - center) / diagonal);
            }
        }
        Ok(Self {
            rest: rest
                .iter()
                .map(|v| ((wide(v) - rest_center) / diagonal).push(1.0))
                .collect(),
            positions,
            frame_centers,
            rest_center,
            diagonal,
        })
    }

    /// V.
    pub(crate) fn vertex_count(&self) -> usize {
        self.rest.len()
    }

    /// F.
    pub(crate) fn frame_count(&self) -> usize {
        self.frame_centers.len()
    }

    /// Where `vertex` goes, frame by frame.
    pub(crate) fn track(&self, vertex: usize) -> &[Vector3<f64>] {
        &self.positions[vertex * self.frame_count()..][..self.frame_count()]
    }

    /// The products of `vertex` at rest.
    pub(crate) fn monomials(&self, vertex: usize) -> Monomials {
        let u = &self.rest[vertex];
        [
            u.x * u.x,
            u.x * u.y,
            u.x * u.z,
            u.x,
            u.y * u.y,
            u.y * u.z,
            u.y,
            u.z * u.z,
            u.z,
            1.0,
        ]
    }

    /// `map` of the caller's units in ours.
    pub(crate) fn normalized(&self, frame: usize, map: &Affine) -> Map {
        let linear = map.linear.cast::<f64>();
        let moved = linear * self.rest_center + map.translation.cast::<f64>();
        let translation = (moved - self.frame_centers[frame]) / self.diagonal;
        let mut out = Map::zeros();
        out.fixed_columns_mut::<3>(0).copy_from(&linear);
        out.set_column(3, &translation);
        out
    }

    /// `map` of our units in the caller's.
    pub(crate) fn restored(&self, frame: usize, map: &Map) -> Affine {
        let linear = map.fixed_columns::<3>(0).into_owned();
        let translation = map.column(3) * self.diagonal + self.frame_centers[frame];
        Affine {
            linear: linear.cast(),
            translation: (translation - linear * self.rest_center).cast(),
        }
    }

    /// The squared distances of the blend of `row` from `vertex`, summed over frames; `maps` J × F, joint by joint.
    pub(crate) fn squared_error(&self, vertex: usize, row: &[(u16, f64)], maps: &[Map]) -> f64 {
        let (rest, frames) = (self.rest[vertex], self.frame_count());
        let errors = self.track(vertex).iter().enumerate().map(|(frame, goal)| {
            row.iter()
                .fold(-goal, |sum, (joint, weight)| {
                    sum + maps[usize::from(*joint) * frames + frame] * rest * *weight
                })
                .norm_squared()
        });
        errors.sum()
    }
}

#[cfg(test)]
mod tests {
    use anim_math::{Transform, quat};

    use super::*;

    #[test]
    fn maps_go_to_unit_size_and_back() {
        let rest = [Vec3::new(100.0, 2.0, 3.0), Vec3::new(110.0, 2.0, 9.0)];
        let map = Affine::from(Transform {
            translation: Vec3::new(-3.0, 5.0, 40.0),
            rotation: quat::from_axis_angle(Vec3::y(), 1.2),
            ..Transform::IDENTITY
        });
        let frame: Vec<Vec3> = rest.iter().map(|v| map.transform_point(*v)).collect();
        let motion = Motion::new(&rest, &[frame]).unwrap();
        let inside = motion.normalized(0, &map);
        assert!(motion.squared_error(0, &[(0, 1.0)], &[inside]) < 1e-11);
        let back = motion.restored(0, &inside);
        assert!((back.linear - map.linear).norm() < 1e-6);
        assert!((back.translation - map.translation).norm() < 1e-4);
    }
}
