//! The way of a muscle over the bones: how long it is, how fast it lengthens, and how it pulls.
//!
//! Points fixed to bones, in order from origin to insertion, and obstacles that the muscle slides over. The tension is the
//! same all along, for nothing rubs. Moment arms are exact derivatives of the length, −dl/dq, of any joint that is asked
//! for: the path needs to know no skeleton, only the frames of the bones.
//!
//! ```
//! use anim_math::{Affine, Vec3};
//! use anim_sim::muscle::{Attachment, Path, PathSpec, Route};
//!
//! let path = Path::new(PathSpec {
//!     points: vec![
//!         Attachment { bone: 0, point: Vec3::zeros() },
//!         Attachment { bone: 1, point: Vec3::new(0.0, 3.0, 4.0) },
//!     ],
//!     wraps: vec![],
//! })?;
//! let mut route = Route::default();
//! path.follow(&[Affine::IDENTITY; 2], &mut route);
//! assert_eq!(route.length(), 5.0);
//! let pulls: Vec<_> = route.pulls(10.0).collect();
//! assert_eq!(pulls[1].force, Vec3::new(0.0, -6.0, -8.0));
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use anim_math::nalgebra::Vector3;
use anim_math::{Affine, Vec3};
use serde::{Deserialize, Serialize};

use super::wrap::{Contact, Obstacle, Wrap};
use crate::SimError;

/// A point of a path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// Index of the bone that it is fixed to, among the frames handed to [`Path::follow`].
    pub bone: usize,
    /// In the bone's frame, m.
    pub point: Vec3,
}

/// A path as data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathSpec {
    /// At least two, from origin to insertion.
    pub points: Vec<Attachment>,
    /// At most one for each part between two points.
    #[serde(default)]
    pub wraps: Vec<Wrap>,
}

/// A valid path; one serves any number of bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PathSpec", into = "PathSpec")]
pub struct Path {
    spec: PathSpec,
    /// Of each part, the place of its obstacle among the wraps.
    wrap_of_strand: Vec<Option<usize>>,
    bone_count: usize,
}

/// Where a path runs at one moment; filled by [`Path::follow`].
#[derive(Clone, Debug, Default)]
pub struct Route {
    strands: Vec<Strand>,
    /// Of the arcs before each strand, in order, and none after the last.
    arcs: Vec<Option<Arc>>,
    length: f64,
}

/// A straight part, from a point of one bone to a point of another, world space.
#[derive(Clone, Copy, Debug)]
struct Strand {
    bones: [usize; 2],
    ends: [Vector3<f64>; 2],
}

/// A part on an obstacle.
#[derive(Clone, Copy, Debug)]
struct Arc {
    obstacle: Obstacle,
    contact: Contact,
}

/// What a muscle does to a bone at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// Index of the bone.
    pub bone: usize,
    /// Where, world space, m.
    pub point: Vec3,
    /// N, world space.
    pub force: Vec3,
}

impl Path {
    /// Checks a path.
    ///
    /// # Errors
    ///
    /// [`SimError::OutOfRange`] for fewer than two points, a point or a wrap that is not finite, a radius that is not positive
    /// and a cylinder without axis; [`SimError::Missing`] for a wrap of a strand that is not there; [`SimError::Repeated`] for two
    /// wraps of one strand.
    pub fn new(spec: PathSpec) -> Result<Self, SimError> {
        let refuse = |what, index, value| Err(SimError::OutOfRange { what, index, value });
        if spec.points.len() < 2 {
            return refuse("path's number of points", 0, spec.points.len() as f32);
        }
        for (index, attachment) in spec.points.iter().enumerate() {
            if let Some(value) = attachment.point.iter().find(|v| !v.is_finite()) {
                return refuse("path's point", index, *value);
            }
        }
        let mut wrap_of_strand = vec![None; spec.points.len() - 1];
        for (index, wrap) in spec.wraps.iter().enumerate() {
            let numbers = wrap.center.iter().chain(wrap.axis.iter());
            if let Some(value) = numbers.copied().find(|v| !v.is_finite()) {
                return refuse("wrap's place", index, value);
            }
            if !(wrap.radius > 0.0 && wrap.radius.is_finite()) {
                return refuse("wrap's radius", index, wrap.radius);
            }
            if wrap.axis.try_normalize(1e-18).is_none() {
                return refuse("wrap's axis", index, 0.0);
            }
            let Some(place) = wrap_of_strand.get_mut(wrap.strand) else {
                return Err(SimError::Missing {
                    what: "wrap",
                    index,
                    missing: "strand",
                    found: u32::try_from(wrap.strand).unwrap_or(u32::MAX),
                });
            };
            if place.is_some() {
                return Err(SimError::Repeated {
                    what: "wrap of strand",
                    index: wrap.strand,
                    vertex: index as u32,
                });
            }
            *place = Some(index);
        }
        let bones = spec.points.iter().map(|point| point.bone);
        let bones = bones.chain(spec.wraps.iter().map(|wrap| wrap.bone));
        Ok(Self {
            bone_count: bones.max().map_or(0, |last| last.saturating_add(1)),
            wrap_of_strand,
            spec,
        })
    }

    /// What it was made of.
    pub fn spec(&self) -> &PathSpec {
        &self.spec
    }

    /// The least number of frames that [`follow`](Self::follow) needs.
    pub fn bone_count(&self) -> usize {
        self.bone_count
    }

    /// Lays the path over bones.
    ///
    /// `world_from_bone`: one a bone; rigid, or scaled evenly where it wraps. Allocates nothing once `route` has been used.
    ///
    /// # Panics
    ///
    /// If there are fewer frames than [`bone_count`](Self::bone_count).
    pub fn follow(&self, world_from_bone: &[Affine], route: &mut Route) {
        assert!(
            world_from_bone.len() >= self.bone_count,
            "{} bones for a path over {}",
            world_from_bone.len(),
            self.bone_count
        );
        route.strands.clear();
        route.arcs.clear();
        route.length = 0.0;
        let mut before = None;
        let place = |at: &Attachment| transform(&world_from_bone[at.bone], at.point);
        for (pair, wrap) in self.spec.points.windows(2).zip(&self.wrap_of_strand) {
            let (from, to) = (place(&pair[0]), place(&pair[1]));
            let bones = [pair[0].bone, pair[1].bone];
            let wrap = wrap.map(|wrap| &self.spec.wraps[wrap]);
            let arc = wrap.and_then(|wrap| {
                let obstacle = obstacle(wrap, &world_from_bone[wrap.bone]);
                let contact = obstacle.contact(from, to)?;
                Some((wrap.bone, Arc { obstacle, contact }))
            });
            match arc {
                None => route.push(before.take(), bones, [from, to]),
                Some((bone, arc)) => {
                    let [start, end] = arc.contact.points;
                    route.push(before.take(), [bones[0], bone], [from, start]);
                    route.push(Some(arc), [bone, bones[1]], [end, to]);
                }
            }
        }
    }
}

impl Route {
    fn push(&mut self, arc: Option<Arc>, bones: [usize; 2], ends: [Vector3<f64>; 2]) {
        self.length += arc.map_or(0.0, |arc| arc.contact.arc) + (ends[1] - ends[0]).norm();
        self.arcs.push(arc);
        self.strands.push(Strand { bones, ends });
    }

    /// m.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// How fast it lengthens, m/s.
    ///
    /// `velocity_at`: the velocity, m/s, of the material of a bone at a point, both in world space. Points that slide need no
    /// more: the way around an obstacle is the shortest, so moving along it changes nothing in first order.
    pub fn velocity(&self, mut velocity_at: impl FnMut(usize, Vec3) -> Vec3) -> f64 {
        let rate = |strand: &Strand| {
            let [from, to] = [0, 1]
                .map(|end| velocity_at(strand.bones[end], strand.ends[end].cast()).cast::<f64>());
            strand.direction().dot(&(to - from))
        };
        self.strands.iter().map(rate).sum()
    }

    /// The moment arm about a hinge, m: −dl/dq, positive where the muscle turns the bones that `moves` the positive way.
    ///
    /// * `origin`, `axis`: of the hinge, world space; the axis is unit. * `moves`: whether a bone is beyond the joint.
    pub fn moment_arm(&self, origin: Vec3, axis: Vec3, moves: impl Fn(usize) -> bool) -> f64 {
        let (origin, axis) = (origin.cast::<f64>(), axis.cast::<f64>());
        let arm = |strand: &Strand| {
            let turned = |end: usize| match moves(strand.bones[end]) {
                true => axis.cross(&(strand.ends[end] - origin)),
                false => Vector3::zeros(),
            };
            strand.direction().dot(&(turned(0) - turned(1)))
        };
        self.strands.iter().map(arm).sum()
    }

    /// The moment arm along a slide, −dl/dq, of no unit: positive where the muscle moves the bones that `moves` along the
    /// unit `axis`, world space.
    pub fn slide_arm(&self, axis: Vec3, moves: impl Fn(usize) -> bool) -> f64 {
        let axis = axis.cast::<f64>();
        let share = |bone| f64::from(u8::from(moves(bone)));
        let arm = |strand: &Strand| {
            strand.direction().dot(&axis) * (share(strand.bones[0]) - share(strand.bones[1]))
        };
        self.strands.iter().map(arm).sum()
    }

    /// The forces under a tension, N, two a straight part: they sum to nothing, and so do their moments.
    pub fn pulls(&self, tension: f64) -> impl Iterator<Item = Pull> {
        self.strands.iter().flat_map(move |strand| {
            let force = strand.direction() * tension;
            [(0, force), (1, -force)].map(|(end, force)| Pull {
                bone: strand.bones[end],
                point: strand.ends[end].cast(),
                force: force.cast(),
            })
        })
    }

    /// The point `distance`, m, along the route from its origin; distances beyond an end are that end.
    pub fn point(&self, distance: f64) -> Vec3 {
        self.place(distance).0.cast()
    }

    /// A point of the route and the unit direction in which it runs there.
    pub(super) fn place(&self, distance: f64) -> (Vector3<f64>, Vector3<f64>) {
        let mut left = distance.max(0.0);
        let mut last = (Vector3::zeros(), Vector3::zeros());
        for (strand, arc) in self.strands.iter().zip(&self.arcs) {
            if let Some(Arc { obstacle, contact }) = arc {
                if left <= contact.arc && contact.arc > 0.0 {
                    let fraction = left / contact.arc;
                    let step = 1e-3;
                    let at = |fraction: f64| obstacle.along(contact, fraction);
                    let chord = at(fraction + step) - at(fraction - step);
                    return (at(fraction), unit(chord));
                }
                left -= contact.arc;
            }
            let length = (strand.ends[1] - strand.ends[0]).norm();
            let direction = strand.direction();
            if left <= length {
                return (strand.ends[0] + direction * left, direction);
            }
            left -= length;
            last = (strand.ends[1], direction);
        }
        last
    }
}

impl Strand {
    /// Unit, or zero if both ends are one point.
    fn direction(&self) -> Vector3<f64> {
        unit(self.ends[1] - self.ends[0])
    }
}

fn unit(v: Vector3<f64>) -> Vector3<f64> {
    v.try_normalize(1e-12).unwrap_or_default()
}

fn transform(world_from_bone: &Affine, point: Vec3) -> Vector3<f64> {
    world_from_bone.linear.cast::<f64>() * point.cast::<f64>()
        + world_from_bone.translation.cast::<f64>()
}

fn obstacle(wrap: &Wrap, world_from_bone: &Affine) -> Obstacle {
    let linear = world_from_bone.linear.cast::<f64>();
    let scale = libm::cbrt(linear.determinant().abs());
    Obstacle {
        shape: wrap.shape,
        center: transform(world_from_bone, wrap.center),
        axis: unit(linear * wrap.axis.cast::<f64>()),
        radius: f64::from(wrap.radius) * scale,
        turn: wrap.turn,
    }
}

impl TryFrom<PathSpec> for Path {
    type Error = SimError;

    fn try_from(spec: PathSpec) -> Result<Self, SimError> {
        Self::new(spec)
    }
}

impl From<Path> for PathSpec {
    fn from(path: Path) -> Self {
        path.spec
    }
}
