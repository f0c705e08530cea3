//! Triangles that keep their area: (A − rest)² / (2 · compliance).

use super::{Energy, Local, stiffness};
use crate::element::Area;
use crate::inertia::Vec3d;

/// An area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AreaSpring {
    corners: [u32; 3],
    rest_area: f64,
    /// N/m³.
    pub(crate) stiffness: f64,
}

impl AreaSpring {
    pub(crate) fn new(area: &Area) -> Self {
        Self {
            corners: area.vertices,
            rest_area: f64::from(area.rest_area),
            stiffness: stiffness(area.compliance),
        }
    }

    /// A − rest, and the gradient of the area; `None` without area, where it has no gradient.
    #[inline]
    pub(crate) fn deviation(&self, x: &[Vec3d; 3]) -> Option<(f64, [Vec3d; 3])> {
        let double = (x[1] - x[0]).cross(&(x[2] - x[0]));
        let length = double.norm();
        if length == 0.0 {
            return None;
        }
        let half_normal = double * (0.5 / length);
        let gradient = [x[2] - x[1], x[0] - x[2], x[1] - x[0]].map(|side| half_normal.cross(&side));
        Some((0.5 * length - self.rest_area, gradient))
    }
}

impl Energy<3> for AreaSpring {
    fn corners(&self) -> &[u32; 3] {
        &self.corners
    }

    fn corners_mut(&mut self) -> &mut [u32; 3] {
        &mut self.corners
    }

    #[inline]
    fn gradient(&self, x: &[Vec3d; 3]) -> (f64, [Vec3d; 3]) {
        let Some((deviation, gradient)) = self.deviation(x) else {
            return (0.0, [Vec3d::zeros(); 3]);
        };
        let pressure = self.stiffness * deviation;
        (0.5 * pressure * deviation, gradient.map(|g| g * pressure))
    }

    #[inline]
    fn add_local(&self, x: &[Vec3d; 3], corner: usize, local: &mut Local) {
        if let Some((deviation, gradient)) = self.deviation(x) {
            local.gradient += gradient[corner] * (self.stiffness * deviation);
            local.add_along(self.stiffness, &gradient[corner]);
        }
    }

    /// As of an equilateral triangle of the rest area, whose sides are L = √(4A / √3): |∇A| = L / 2 at each corner.
    fn majorant(&self) -> [[f64; 3]; 3] {
        let squared = self.rest_area / f64::sqrt(3.0);
        let weight = self.stiffness * squared * 0.5;
        [
            [2.0 * weight, -weight, -weight],
            [-weight, 2.0 * weight, -weight],
            [-weight, -weight, 2.0 * weight],
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::tests::check_derivatives;

    #[test]
    fn forces_are_the_slope_of_the_energy() {
        let area = AreaSpring::new(&Area {
            vertices: [0, 1, 2],
            rest_area: 0.4,
            compliance: 0.1,
        });
        let x = [
            Vec3d::zeros(),
            Vec3d::new(1.0, 0.2, 0.1),
            Vec3d::new(0.3, 0.1, 0.9),
        ];
        check_derivatives(&area, &x, false);
        assert_eq!(area.gradient(&[Vec3d::x(); 3]).0, 0.0);
    }
}
