//! Links and tethers as springs: ½ k (|a − b| − L)², of tethers only while they are longer than L.

use super::{Energy, Local, stiffness};
use crate::element::{Link, Tether};
use crate::inertia::Vec3d;
use crate::model::ModelSpec;

/// A link, or a tether.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spring {
    pub(crate) corners: [u32; 2],
    /// N/m.
    pub(crate) stiffness: f64,
    rest_length: f64,
    /// Pulls, but does not push.
    is_slack_when_short: bool,
}

impl Spring {
    pub(crate) fn of_link(link: &Link) -> Self {
        Self {
            corners: link.vertices,
            stiffness: stiffness(link.compliance),
            rest_length: f64::from(link.rest_length),
            is_slack_when_short: false,
        }
    }

    pub(crate) fn of_tether(tether: &Tether) -> Self {
        Self {
            corners: [tether.vertex, tether.anchor],
            stiffness: stiffness(0.0),
            rest_length: f64::from(tether.max_length),
            is_slack_when_short: true,
        }
    }

    /// The offset between the ends and its length; coincident ends have one all the same, so that they come apart.
    #[inline]
    fn offset(&self, x: &[Vec3d; 2]) -> (Vec3d, f64) {
        let offset = x[0] - x[1];
        let squared = offset.norm_squared();
        if squared > 1e-24 * self.rest_length * self.rest_length || self.rest_length == 0.0 {
            (offset, squared.sqrt())
        } else {
            let tiny = 1e-12 * self.rest_length;
            (Vec3d::y() * tiny, tiny)
        }
    }

    /// L / |a − b|, or `None` where it neither pulls nor pushes.
    #[inline]
    fn ratio(&self, length: f64) -> Option<f64> {
        if self.is_slack_when_short && length <= self.rest_length {
            return None;
        }
        // Of rest length 0 it is the same in every direction, at length 0 as well.
        Some(if self.rest_length == 0.0 {
            0.0
        } else {
            self.rest_length / length
        })
    }
}

/// Of several tethers on one vertex the shortest.
pub(crate) fn shortest_tethers(spec: &ModelSpec, count: usize) -> Vec<Tether> {
    let mut shortest: Vec<Option<Tether>> = vec![None; count];
    for tether in spec.tethers.iter().filter(|t| t.vertex != t.anchor) {
        let best = &mut shortest[tether.vertex as usize];
        if best.is_none_or(|best| tether.max_length < best.max_length) {
            *best = Some(*tether);
        }
    }
    let finite = |tether: &Tether| tether.max_length.is_finite();
    shortest.into_iter().flatten().filter(finite).collect()
}

impl Energy<2> for Spring {
    fn corners(&self) -> &[u32; 2] {
        &self.corners
    }

    fn corners_mut(&mut self) -> &mut [u32; 2] {
        &mut self.corners
    }

    #[inline]
    fn gradient(&self, x: &[Vec3d; 2]) -> (f64, [Vec3d; 2]) {
        let (offset, length) = self.offset(x);
        let Some(ratio) = self.ratio(length) else {
            return (0.0, [Vec3d::zeros(); 2]);
        };
        let stretch = length - self.rest_length;
        let pull = offset * (self.stiffness * (1.0 - ratio));
        (0.5 * self.stiffness * stretch * stretch, [pull, -pull])
    }

    #[inline]
    fn add_local(&self, x: &[Vec3d; 2], corner: usize, local: &mut Local) {
        let (offset, length) = self.offset(x);
        let Some(ratio) = self.ratio(length) else {
            return;
        };
        let k = self.stiffness;
        let pull = offset * (k * (1.0 - ratio));
        local.gradient += if corner == 0 { pull } else { -pull };
        // k ((1 − r) 1 + r n nᵀ); a compressed spring pushes sideways too, which is left out.
        let along = ratio.min(1.0);
        local.add_isotropic(k * (1.0 - along));
        if along > 0.0 {
            local.add_along(k * along / (length * length), &offset);
        }
    }

    fn majorant(&self) -> [[f64; 2]; 2] {
        let k = self.stiffness;
        [[k, -k], [-k, k]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::tests::check_derivatives;

    const LINK: Link = Link {
        vertices: [0, 1],
        rest_length: 1.0,
        compliance: 1e-2,
    };

    #[test]
    fn forces_are_the_slope_of_the_energy() {
        let spring = Spring::of_link(&LINK);
        let at = |length: f64| {
            [
                Vec3d::new(0.1, 0.2, 0.3),
                Vec3d::new(0.1, 0.2, 0.3) + Vec3d::new(0.36, 0.48, 0.8) * length,
            ]
        };
        check_derivatives(&spring, &at(1.3), true);
        check_derivatives(&spring, &at(0.7), false);
        assert!((spring.gradient(&at(1.3)).0 - 4.5).abs() < 1e-6);
        let loop_of_nothing = Spring::of_link(&Link {
            rest_length: 0.0,
            ..LINK
        });
        check_derivatives(&loop_of_nothing, &at(0.5), true);
    }

    #[test]
    fn coincident_ends_are_pushed_apart() {
        let (_, [a, b]) = Spring::of_link(&LINK).gradient(&[Vec3d::x(), Vec3d::x()]);
        assert_eq!(a, -b);
        assert!((a.norm() - 100.0).abs() < 1e-4);
    }

    #[test]
    fn a_tether_only_pulls() {
        let tether = Spring::of_tether(&Tether {
            vertex: 0,
            anchor: 1,
            max_length: 1.0,
        });
        let [short, long] = [0.9, 1.1].map(|l| tether.gradient(&[Vec3d::x() * l, Vec3d::zeros()]));
        assert_eq!(short.0, 0.0);
        assert!(long.1[0].x > 0.0);
    }
}
