//! The shape of a muscle: a spindle of constant volume that thickens as it shortens, and the bulge it makes in the skin.
//!
//! V = A · L: the belly is an ellipsoid of revolution about the path, so at half the length it is √2 times as thick. Its
//! surface is a mesh whose volume is exact whatever its resolution, for pictures and for pins of a soft body; the bulge
//! moves skin that a rig has already posed, as tissue that does not compress would move around the belly.
//!
//! ```
//! use anim_sim::muscle::{Belly, BellySpec};
//!
//! let biceps = Belly::new(BellySpec { volume: 1.5e-4, origin_tendon: 0.4 })?;
//! let (long, short) = (biceps.radius(0.16), biceps.radius(0.08));
//! assert!((short / long - 2.0_f64.sqrt()).abs() < 1e-12);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use std::f64::consts::{PI, TAU};

use anim_math::{Vec3, nalgebra::Vector3};
use serde::{Deserialize, Serialize};

use super::Route;
use super::activation::unit;
use crate::SimError;

/// The flesh of a muscle as data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BellySpec {
    /// m³, positive: about optimal fibre length times largest force over 250 kPa.
    pub volume: f64,
    /// How much of the tendon is on the side of the origin, in [0, 1].
    pub origin_tendon: f64,
}

/// A valid belly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BellySpec", into = "BellySpec")]
pub struct Belly {
    spec: BellySpec,
}

/// Skin vertices and where they lie on a belly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkinBinding {
    vertices: Vec<BoundVertex>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct BoundVertex {
    vertex: u32,
    /// Place along the belly, in (0, 1).
    fraction: f64,
    /// From the axis, when bound, m.
    distance: f64,
    /// Radius of the belly there, when bound, m.
    radius: f64,
    /// How much of the bulge it gets, in (0, 1].
    weight: f64,
}

/// Points of the axis among which the one nearest to a vertex is looked for.
const SAMPLES: usize = 64;
/// Of the fit of the radius to the volume of a bent mesh; each gains about three digits.
const FITS: usize = 4;

impl Belly {
    /// Checks a belly.
    ///
    /// # Errors
    ///
    /// [`SimError::OutOfRange`] with the quantity.
    pub fn new(spec: BellySpec) -> Result<Self, SimError> {
        let refuse = |what, value: f64| SimError::OutOfRange {
            what,
            index: 0,
            value: value as f32,
        };
        if !(spec.volume > 0.0 && spec.volume < 1e9) {
            return Err(refuse("belly's volume", spec.volume));
        }
        if !(0.0..=1.0).contains(&spec.origin_tendon) {
            return Err(refuse("tendon's share", spec.origin_tendon));
        }
        Ok(Self { spec })
    }

    /// What it was made of.
    pub fn spec(&self) -> &BellySpec {
        &self.spec
    }

    /// Radius of the thickest section, m, of a belly of `length`, m, positive: √(3V / 2πL).
    pub fn radius(&self, length: f64) -> f64 {
        (1.5 * self.spec.volume / (PI * length)).sqrt()
    }

    /// Radius, m, at `fraction` of the length, in [0, 1].
    pub fn radius_at(&self, length: f64, fraction: f64) -> f64 {
        let x = 2.0 * fraction - 1.0;
        self.radius(length) * (1.0 - x * x).max(0.0).sqrt()
    }

    /// The surface of the belly: a pole, `rings` of `sides` points each, a pole; written over `out`, world space.
    ///
    /// * `length`: of the belly, m, positive: `fiber_length · cosine` of a [`Contraction`](super::Contraction). * `rings`,
    ///   `sides`: at least 1 and 3; fewer count as these.
    ///
    /// The volume of the mesh is that of the muscle, for any resolution, as long as the belly does not bend more sharply than
    /// it is thick. Allocates nothing once `out` has been used.
    pub fn surface(
        &self,
        route: &Route,
        length: f64,
        rings: usize,
        sides: usize,
        out: &mut Vec<Vec3>,
    ) {
        let (rings, sides) = (rings.max(1), sides.max(3));
        let mut scale = 1.0;
        for fit in 0..=FITS {
            self.lay(route, length, scale, [rings, sides], out);
            let volume = volume(triangles_of(rings, sides), out);
            if fit < FITS && volume > 0.0 {
                scale *= (self.spec.volume / volume).sqrt();
            }
        }
    }

    /// The triangles of [`surface`](Self::surface), counter-clockwise from outside.
    pub fn triangles(rings: usize, sides: usize) -> Vec<[u32; 3]> {
        triangles_of(rings.max(1), sides.max(3)).collect()
    }

    /// Binds skin to the belly, in any pose in which both fit: it bulges against that pose.
    ///
    /// * `skin`: V points, world space, m. * `reach`: how far from the surface of the belly skin is still moved, m, fading out
    ///   over that distance; it keeps the far side of a limb still.
    ///
    /// Costs 64 distances a vertex.
    pub fn bind(&self, route: &Route, length: f64, skin: &[Vec3], reach: f64) -> SkinBinding {
        let axis: Vec<_> = (0..=SAMPLES)
            .map(|i| self.place(route, length, i as f64 / SAMPLES as f64).0)
            .collect();
        let bind = |(vertex, point): (usize, &Vec3)| {
            let point = point.cast::<f64>();
            let (distance, fraction) = nearest(&axis, point)?;
            let radius = self.radius_at(length, fraction);
            let beyond = ((distance - radius) / reach).max(0.0);
            let is_bound = fraction > 0.0 && fraction < 1.0 && beyond < 1.0 && distance > 0.0;
            is_bound.then_some(BoundVertex {
                vertex: vertex as u32,
                fraction,
                distance,
                radius,
                weight: 1.0 - beyond * beyond * (3.0 - 2.0 * beyond),
            })
        };
        SkinBinding {
            vertices: skin.iter().enumerate().filter_map(bind).collect(),
        }
    }

    /// Moves skin, as it is posed now, by what the belly has swollen since it was bound.
    ///
    /// Across a section tissue keeps its area: what was at the distance d from the axis, on a belly of radius r that is now
    /// r′, is then at √(d² + r′² − r²), and inside it at d r′/r. Vertices on the axis and beyond the ends stay.
    ///
    /// # Panics
    ///
    /// If there are fewer vertices than when it was bound.
    pub fn bulge(&self, binding: &SkinBinding, route: &Route, length: f64, skin: &mut [Vec3]) {
        for bound in &binding.vertices {
            let point = &mut skin[bound.vertex as usize];
            let (center, _) = self.place(route, length, bound.fraction);
            let Some(outward) = (point.cast::<f64>() - center).try_normalize(1e-9) else {
                continue;
            };
            let now = self.radius_at(length, bound.fraction);
            let (d, r) = (bound.distance, bound.radius);
            let moved = match d < r {
                true => d * now / r,
                false => (d * d + now * now - r * r).sqrt(),
            };
            let offset = outward * ((moved - d) * bound.weight);
            if offset.iter().all(|v| v.is_finite()) {
                *point += offset.cast::<f32>();
            }
        }
    }

    /// No vertex is moved farther by [`bulge`](Self::bulge), m: skin moves by no more than the radius beneath it.
    pub fn most_lift(&self, binding: &SkinBinding, length: f64) -> f64 {
        let lifts = binding.vertices.iter().map(|bound| {
            let lift = (self.radius_at(length, bound.fraction) - bound.radius) * bound.weight;
            lift.abs()
        });
        lifts.filter(|lift| lift.is_finite()).fold(0.0, f64::max)
    }

    /// The axis at `fraction` of the belly and its direction.
    fn place(&self, route: &Route, length: f64, fraction: f64) -> (Vector3<f64>, Vector3<f64>) {
        let start = (route.length() - length) * self.spec.origin_tendon;
        route.place(start + length * fraction)
    }

    fn lay(
        &self,
        route: &Route,
        length: f64,
        scale: f64,
        [rings, sides]: [usize; 2],
        out: &mut Vec<Vec3>,
    ) {
        out.clear();
        let (start, direction) = self.place(route, length, 0.0);
        out.push(start.cast());
        let mut across = perpendicular(direction);
        for ring in 1..=rings {
            // Rings close up toward the poles, as on a sphere.
            let fraction = 0.5 - 0.5 * libm::cos(PI * ring as f64 / (rings + 1) as f64);
            let (center, direction) = self.place(route, length, fraction);
            // Carried along without twist.
            across = (across - direction * direction.dot(&across))
                .try_normalize(1e-9)
                .unwrap_or_else(|| perpendicular(direction));
            let other = direction.cross(&across);
            let radius = self.radius_at(length, fraction) * scale;
            out.extend((0..sides).map(|side| {
                let angle = TAU * side as f64 / sides as f64;
                let offset = across * libm::cos(angle) + other * libm::sin(angle);
                (center + offset * radius).cast::<f32>()
            }));
        }
        out.push(self.place(route, length, 1.0).0.cast());
    }
}

impl SkinBinding {
    /// Number of vertices that the belly moves.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// True if it moves none.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }
}

impl TryFrom<BellySpec> for Belly {
    type Error = SimError;

    fn try_from(spec: BellySpec) -> Result<Self, SimError> {
        Self::new(spec)
    }
}

impl From<Belly> for BellySpec {
    fn from(belly: Belly) -> Self {
        belly.spec
    }
}

fn triangles_of(rings: usize, sides: usize) -> impl Iterator<Item = [u32; 3]> {
    let at = move |ring: usize, side: usize| (1 + ring * sides + side % sides) as u32;
    let last = (1 + rings * sides) as u32;
    let first = (0..sides).map(move |s| [0, at(0, s + 1), at(0, s)]);
    let between = (1..rings).flat_map(move |ring| {
        (0..sides).flat_map(move |s| {
            let [a, b] = [at(ring - 1, s), at(ring - 1, s + 1)];
            let [c, d] = [at(ring, s), at(ring, s + 1)];
            [[a, b, c], [b, d, c]]
        })
    });
    let end = (0..sides).map(move |s| [at(rings - 1, s), at(rings - 1, s + 1), last]);
    first.chain(between).chain(end)
}

/// Volume inside a closed mesh, m³, about its first point.
fn volume(triangles: impl Iterator<Item = [u32; 3]>, points: &[Vec3]) -> f64 {
    let at = |v: u32| (points[v as usize] - points[0]).cast::<f64>();
    let six_times = |[a, b, c]: [u32; 3]| at(a).dot(&at(b).cross(&at(c)));
    triangles.map(six_times).sum::<f64>() / 6.0
}

/// Distance from a polyline, and the place on it, in [0, 1] by number of points.
fn nearest(axis: &[Vector3<f64>], point: Vector3<f64>) -> Option<(f64, f64)> {
    let on = |(index, pair): (usize, &[Vector3<f64>])| {
        let along = pair[1] - pair[0];
        let t = (point - pair[0]).dot(&along) / along.norm_squared();
        let t = unit(t);
        let distance = (point - pair[0] - along * t).norm();
        (distance, (index as f64 + t) / (axis.len() - 1) as f64)
    };
    let places = axis.windows(2).enumerate().map(on);
    places.reduce(|best, place| if place.0 < best.0 { place } else { best })
}

fn perpendicular(direction: Vector3<f64>) -> Vector3<f64> {
    let mut other = Vector3::zeros();
    other[direction.iamin()] = 1.0;
    let across = direction.cross(&other).try_normalize(1e-9);
    across.unwrap_or_else(Vector3::x)
}
