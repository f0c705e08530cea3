//! What hair is before it is checked: guide strands and what they are made of.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::hair::{Hair, HairSpec};
//!
//! let spec = HairSpec {
//!     guides: vec![vec![Vec3::zeros(), Vec3::new(0.0, 0.1, 0.0), Vec3::new(0.05, 0.2, 0.0)]],
//!     segments: Some(8),
//!     ..HairSpec::default()
//! };
//! let hair = Hair::new(spec)?;
//! assert_eq!(hair.vertex_count(), 9);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use std::f64::consts::PI;

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use crate::SimError;
use crate::check::check_range;

/// Hair on one head; edit it, then make it a [`Hair`](super::Hair).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HairSpec {
    /// The groom: for each guide its points from the root to the tip, metres, in the space of the root (the head).
    pub guides: Vec<Vec<Vec3>>,
    /// Segments that every guide is cut into, equally long along it; `None`: as its points are.
    ///
    /// Guides of equally many segments are simulated eight at a time, so that one number for all is fastest.
    pub segments: Option<u32>,
    /// What a strand is made of.
    pub material: HairMaterial,
    /// Gravity under which the groom hangs as it was modelled, m/s², in the space of the root; zero: the groom is what
    /// strands spring back to, and they sag from it.
    pub groom_gravity: Vec3,
    /// How firmly each segment is held to how the groom has it on the head, beyond what elasticity does, m/s²: it resists
    /// being turned as it resists gravity of this size across the strand. Soft strands hold no shape of their own; long loose
    /// hair wants less than gravity, and then some grooms cannot stay as they are.
    pub hold: f32,
    /// How far vertices stay from colliders, metres.
    pub thickness: f32,
    /// Coulomb coefficient; a contact has the geometric mean of this and the collider's.
    pub friction: f32,
    /// How strands of different places keep together and apart; `None`: they do not feel each other.
    pub volume: Option<HairVolume>,
    /// The longest substep, s: a step is cut into as many equal ones as this takes, 64 at most.
    pub max_substep: f32,
}

/// What a strand is made of; a guide that stands for a wisp moves as one of its hairs does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HairMaterial {
    /// Radius of the round section, m, positive.
    pub radius: f32,
    /// kg/m³, positive.
    pub density: f32,
    /// Young's modulus, Pa, not negative: resists bending.
    pub young: f32,
    /// Shear modulus, Pa, not negative: resists twist.
    pub shear: f32,
    /// Viscosity in units of elasticity, s: damps bending and twist, and leaves rigid motion and equilibria alone.
    pub damping: f32,
    /// Rate at which a strand takes on the velocity of the air, 1/s.
    pub drag: f32,
}

/// Hair as a fluid in a grid: neighbours move together, and crowded hair spreads.
///
/// Source: Petrovic, Henne, Anderson, "Volumetric methods for simulation and rendering of hair", Pixar 2005.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HairVolume {
    /// Size of a cell, m, positive: about the distance of neighbouring guides.
    pub cell: f32,
    /// Rate at which a vertex takes on the mean velocity about it, 1/s: friction between strands.
    pub friction: f32,
    /// Acceleration away from where hair is dense, m/s², for a density that doubles over one cell.
    pub pressure: f32,
}

impl Default for HairSpec {
    /// A groom that keeps its shape in the Earth's gravity, without guides.
    fn default() -> Self {
        Self {
            guides: Vec::new(),
            segments: None,
            material: HairMaterial::default(),
            groom_gravity: Vec3::new(0.0, -9.81, 0.0),
            hold: 10.0,
            thickness: 0.002,
            friction: 0.3,
            volume: None,
            max_substep: 1.0 / 240.0,
        }
    }
}

impl Default for HairMaterial {
    /// A human hair of 80 micrometres.
    fn default() -> Self {
        Self {
            radius: 4e-5,
            density: 1300.0,
            young: 4e9,
            shear: 1.5e9,
            damping: 0.01,
            drag: 2.0,
        }
    }
}

impl Default for HairVolume {
    /// Guides a centimetre apart.
    fn default() -> Self {
        Self {
            cell: 0.01,
            friction: 4.0,
            pressure: 0.5,
        }
    }
}

impl HairMaterial {
    /// Resistance to bending EI and to twist GJ, N·m²: EI = E π r⁴ / 4, GJ = G π r⁴ / 2.
    pub fn rigidity(&self) -> [f64; 2] {
        let fourth = f64::from(self.radius).powi(4) * PI;
        [
            f64::from(self.young) * fourth / 4.0,
            f64::from(self.shear) * fourth / 2.0,
        ]
    }

    /// kg/m.
    pub fn linear_density(&self) -> f64 {
        f64::from(self.density) * PI * f64::from(self.radius).powi(2)
    }
}

/// The guides cut as the spec asks, checked.
pub(super) fn checked_guides(spec: &HairSpec) -> Result<Vec<Vec<Vec3>>, SimError> {
    if spec.guides.is_empty() {
        return Err(SimError::Empty);
    }
    let material = &spec.material;
    positive("hair's radius", material.radius)?;
    positive("hair's density", material.density)?;
    positive("hair's substep", spec.max_substep)?;
    for (what, value) in [
        ("hair's modulus", material.young),
        ("hair's shear modulus", material.shear),
        ("hair's damping", material.damping),
        ("hair's drag", material.drag),
        ("hair's hold", spec.hold),
        ("hair's thickness", spec.thickness),
        ("hair's friction", spec.friction),
    ] {
        check_range(what, 0, value, f32::MAX)?;
    }
    // Beyond a guitar string's, products of f32 overflow.
    for rigidity in material.rigidity() {
        check_range("hair's rigidity", 0, rigidity as f32, 1e6)?;
    }
    check_range("groom's gravity", 0, spec.groom_gravity.norm(), 1e4)?;
    if let Some(volume) = &spec.volume {
        positive("hair's cell", volume.cell)?;
        check_range("hair's inner friction", 0, volume.friction, f32::MAX)?;
        check_range("hair's pressure", 0, volume.pressure, f32::MAX)?;
    }
    let mut first = 0;
    let mut guides = Vec::with_capacity(spec.guides.len());
    for (index, points) in spec.guides.iter().enumerate() {
        if let Some(bad) = points.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
            return Err(SimError::NotFinite {
                vertex: first + bad,
            });
        }
        first += points.len();
        let points = match spec.segments {
            Some(segments) => resample(points, segments.max(1) as usize),
            None => points.clone(),
        };
        if points.len() < 2 {
            return Err(SimError::OutOfRange {
                what: "guide's point count",
                index,
                value: points.len() as f32,
            });
        }
        // Shorter than that has no direction, longer is no hair.
        let lengths = points.windows(2).map(|pair| (pair[1] - pair[0]).norm());
        if let Some(value) = lengths.into_iter().find(|l| !(1e-6..=1e3).contains(l)) {
            return Err(SimError::OutOfRange {
                what: "guide's segment length",
                index,
                value,
            });
        }
        guides.push(points);
    }
    Ok(guides)
}

/// Points at equal distances along a polyline, first and last included; a line without length comes back as a point.
pub(super) fn resample(points: &[Vec3], segments: usize) -> Vec<Vec3> {
    let exact: Vec<_> = points.iter().map(|p| p.cast::<f64>()).collect();
    let lengths: Vec<f64> = exact.windows(2).map(|p| (p[1] - p[0]).norm()).collect();
    let total: f64 = lengths.iter().sum();
    if total <= 0.0 {
        return points.iter().take(1).copied().collect();
    }
    let (mut segment, mut before) = (0, 0.0);
    (0..=segments)
        .map(|index| {
            if index == segments {
                return points[points.len() - 1];
            }
            let along = total * index as f64 / segments as f64;
            while segment + 1 < lengths.len() && before + lengths[segment] <= along {
                before += lengths[segment];
                segment += 1;
            }
            let (a, b) = (exact[segment], exact[segment + 1]);
            // A run of coincident points is never stopped in: its end is passed above, unless it is the last.
            let alpha = (along - before) / lengths[segment].max(f64::MIN_POSITIVE);
            (a + (b - a) * alpha.min(1.0)).cast()
        })
        .collect()
}

fn positive(what: &'static str, value: f32) -> Result<(), SimError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(SimError::OutOfRange {
            what,
            index: 0,
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polyline_is_cut_at_equal_distances_along_it() {
        let corner = [
            Vec3::zeros(),
            Vec3::x(),
            Vec3::x(),
            Vec3::new(1.0, 1.0, 0.0),
        ];
        let cut = resample(&corner, 4);
        let expected = [[0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [1.0, 0.5], [1.0, 1.0]];
        for (found, [x, y]) in cut.iter().zip(expected) {
            assert!((found - Vec3::new(x, y, 0.0)).norm() < 1e-7);
        }
        assert_eq!(resample(&[Vec3::x(); 3], 4), vec![Vec3::x()]);
        assert!(resample(&[], 4).is_empty());
    }

    #[test]
    fn rigidities_are_those_of_a_round_section() {
        let rod = HairMaterial {
            radius: 0.01,
            young: 4.0,
            shear: 1.5,
            ..HairMaterial::default()
        };
        let [bend, twist] = rod.rigidity();
        assert!((bend - PI * 1e-8).abs() < 1e-14);
        assert!((twist - 0.75 * PI * 1e-8).abs() < 1e-14);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let good = HairSpec {
            guides: vec![vec![Vec3::zeros(), Vec3::x()]],
            ..HairSpec::default()
        };
        assert!(checked_guides(&good).is_ok());
        let error = |change: fn(&mut HairSpec)| {
            let mut spec = good.clone();
            change(&mut spec);
            checked_guides(&spec).unwrap_err().to_string()
        };
        assert_eq!(error(|s| s.guides.clear()), "no vertices");
        assert_eq!(
            error(|s| s.guides.push(vec![Vec3::x(), Vec3::repeat(f32::NAN)])),
            "vertex 3: not finite"
        );
        assert_eq!(
            error(|s| s.guides.push(vec![Vec3::x(); 2])),
            "guide's segment length 1: 0 is out of range"
        );
        assert_eq!(
            error(|s| s.guides.push(vec![])),
            "guide's point count 1: 0 is out of range"
        );
        assert_eq!(
            error(|s| s.material.radius = 0.0),
            "hair's radius 0: 0 is out of range"
        );
        assert_eq!(
            error(|s| s.material.young = f32::NAN),
            "hair's modulus 0: NaN is out of range"
        );
    }
}
