//! Which parts of the surface face one way, so that their triangles cannot meet each other.
//!
//! Seen from that way they are a map without folds. Nearly all of a cloth is like that at any time, and what need not be
//! compared with its neighbours leaves only true contacts to the rest of the search.
//!
//! Source of the criterion: Volino and Magnenat-Thalmann, "Efficient self-collision detection on smoothly discretized
//! surface animations using geometrical shape regularity", Eurographics 1994.

use anim_math::Vec3;

use super::lines::Lines;
use super::surface::Surface;

/// How the surface faces throughout a motion.
#[derive(Clone, Debug)]
pub(super) struct Facing {
    /// Of each triangle.
    cones: Vec<Cone>,
    /// By slot: which way its triangles face, and the chord from there to the farthest view in which all of them still do
    /// so; negative where there is none.
    views: Vec<(Vec3, f32)>,
    /// Of each triangle: it and all triangles up to two vertices away face one way.
    is_smooth: Vec<bool>,
    /// Scratch: vertices.
    slots: Marks,
    /// Scratch: triangles.
    again: Marks,
}

/// The directions in which a triangle faces during a motion.
///
/// Twice its area times its normal is quadratic in time; the directions of its three Bernstein coefficients bound it.
#[derive(Clone, Copy, Debug, Default)]
struct Cone {
    /// At the start; unit length or zero.
    normal: Vec3,
    /// The longest chord from there to another of the three.
    chord: f32,
    /// What corners that stray may take, as part of the shortest coefficient.
    need: f32,
}

/// A set of indices that is emptied at once.
#[derive(Clone, Debug, Default)]
struct Marks {
    /// Of each index: the round in which it was last put in.
    round_of: Vec<u32>,
    round: u32,
    items: Vec<u32>,
}

impl Marks {
    fn new(count: usize) -> Self {
        Self {
            round_of: vec![0; count],
            ..Self::default()
        }
    }

    fn clear(&mut self) {
        self.items.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.round_of.fill(0);
            self.round = 1;
        }
    }

    /// Holds each of some indices once.
    fn collect(&mut self, indices: impl Iterator<Item = u32>) {
        self.clear();
        for index in indices {
            if !self.contains(index) {
                self.round_of[index as usize] = self.round;
                self.items.push(index);
            }
        }
    }

    #[inline]
    fn contains(&self, index: u32) -> bool {
        self.round_of[index as usize] == self.round
    }
}

impl Facing {
    pub(super) fn new(surface: &Surface) -> Self {
        Self {
            cones: vec![Cone::default(); surface.triangles.len()],
            views: vec![(Vec3::zeros(), -1.0); surface.rest.len()],
            is_smooth: vec![false; surface.triangles.len()],
            slots: Marks::new(surface.rest.len()),
            again: Marks::new(surface.triangles.len()),
        }
    }

    /// Looks at all triangles on their lines, where each corner may stray by `slack`.
    pub(super) fn look(&mut self, surface: &Surface, lines: &Lines, span: [f32; 2], slack: f32) {
        for (cone, triangle) in self.cones.iter_mut().zip(&surface.triangles) {
            *cone = Cone::new(lines, *triangle, span, slack);
        }
        for vertex in 0..self.views.len() {
            self.view(surface, vertex);
        }
        for triangle in 0..self.is_smooth.len() {
            self.smooth(surface, triangle);
        }
    }

    /// As [`look`](Self::look) where lines have changed for some triangles; what was seen of the others holds.
    pub(super) fn look_again(
        &mut self,
        surface: &Surface,
        lines: &Lines,
        span: [f32; 2],
        slack: f32,
        triangles: &[u32],
    ) {
        let triangles = triangles.iter().map(|t| *t as usize);
        for triangle in triangles.clone() {
            self.cones[triangle] = Cone::new(lines, surface.triangles[triangle], span, slack);
        }
        let (mut slots, mut again) = (
            std::mem::take(&mut self.slots),
            std::mem::take(&mut self.again),
        );
        slots.collect(triangles.clone().flat_map(|t| surface.triangles[t]));
        for vertex in &slots.items {
            self.view(surface, *vertex as usize);
        }
        // Whatever reaches one of those vertices has a corner among those that are reached from there.
        let reached = triangles.flat_map(|t| surface.reached_from(t)).copied();
        slots.collect(reached);
        let around = slots.items.iter().flat_map(|v| surface.around(*v));
        again.collect(around.copied());
        for triangle in &again.items {
            self.smooth(surface, *triangle as usize);
        }
        (self.slots, self.again) = (slots, again);
    }

    fn view(&mut self, surface: &Surface, vertex: usize) {
        self.views[vertex] = if surface.is_fan[vertex] {
            fan_view(surface.around(vertex as u32), &self.cones)
        } else {
            (Vec3::zeros(), -1.0)
        };
    }

    fn smooth(&mut self, surface: &Surface, triangle: usize) {
        let (view, room) = self.views[surface.triangles[triangle][0] as usize];
        self.is_smooth[triangle] = room > 0.0
            && surface.reached_from(triangle).iter().all(|v| {
                let (other, room) = self.views[*v as usize];
                room > 0.0 && (other - view).norm_squared() < room * room
            });
    }

    /// True if the triangles around a vertex face one way.
    #[inline]
    pub(super) fn is_open(&self, vertex: u32) -> bool {
        self.views[vertex as usize].1 > 0.0
    }

    /// True if two triangles lie in one patch that faces one way: seen from there it is a map without folds, too small to
    /// wind around, so that they cannot meet.
    #[inline(always)]
    pub(super) fn are_in_one_patch(&self, surface: &Surface, [a, b]: [u32; 2]) -> bool {
        let (a, b) = match self.is_smooth[a as usize] {
            true => (a, b),
            false => (b, a),
        };
        self.is_smooth[a as usize] && surface.reaches(a, b)
    }

    /// True if the plane of one of two triangles keeps them more than `margin` apart on their lines.
    #[inline]
    pub(super) fn are_apart(
        &self,
        surface: &Surface,
        lines: &Lines,
        span: [f32; 2],
        pair: [u32; 2],
        margin: f32,
    ) -> bool {
        let [a, b] = pair.map(|t| surface.triangles[t as usize]);
        pair.iter().any(|t| {
            let normal = self.cones[*t as usize].normal;
            let [above, below] = clearances(lines, span[0], a, b, normal);
            let [above_after, below_after] = clearances(lines, span[1], a, b, normal);
            above.min(above_after).max(below.min(below_after)) > margin
        })
    }
}

/// How far triangle `a` lies above `b` along an axis, and how far below.
#[inline]
fn clearances(lines: &Lines, time: f32, a: [u32; 3], b: [u32; 3], axis: Vec3) -> [f32; 2] {
    let base = lines.at(a[0], time);
    let height = |v: u32| (lines.at(v, time) - base).dot(&axis);
    let (a1, a2) = (height(a[1]), height(a[2]));
    let (b0, b1, b2) = (height(b[0]), height(b[1]), height(b[2]));
    [
        a1.min(a2).min(0.0) - b0.max(b1).max(b2),
        b0.min(b1).min(b2) - a1.max(a2).max(0.0),
    ]
}

impl Cone {
    #[inline]
    fn new(lines: &Lines, [a, b, c]: [u32; 3], span: [f32; 2], slack: f32) -> Self {
        let sides = |time: f32| {
            let base = lines.at(a, time);
            (lines.at(b, time) - base, lines.at(c, time) - base)
        };
        let ((u0, v0), (u1, v1)) = (sides(span[0]), sides(span[1]));
        let first = u0.cross(&v0);
        let last = u1.cross(&v1);
        let middle = (u0.cross(&v1) + u1.cross(&v0)) * 0.5;
        let sizes = [
            first.norm_squared(),
            middle.norm_squared(),
            last.norm_squared(),
        ];
        // Each side changes by what both of its ends stray.
        let long = 2.0
            * u0.norm_squared()
                .max(v0.norm_squared())
                .max(u1.norm_squared())
                .max(v1.norm_squared())
                .sqrt();
        let stray = 2.0 * slack * long + 4.0 * slack * slack;
        let [a, b, c] = sizes.map(|s| 1.0 / s.max(f32::MIN_POSITIVE).sqrt());
        let normal = first * a;
        let chord = (middle * b - normal)
            .norm_squared()
            .max((last * c - normal).norm_squared())
            .sqrt();
        Self {
            normal,
            chord,
            need: stray * a.max(b).max(c),
        }
    }
}

/// The mean direction in which the triangles around a vertex face, and how far from it others may look at them.
///
/// Seen at the angle θ an area counts cos θ of its size: more than a half, within which angles do not grow so much that the
/// fan could wind around twice, and more than what straying corners take. The chord 2 sin θ/2 between unit vectors obeys
/// the triangle inequality.
#[inline]
fn fan_view(around: &[u32], cones: &[Cone]) -> (Vec3, f32) {
    let mut sum = Vec3::zeros();
    for triangle in around {
        sum += cones[*triangle as usize].normal;
    }
    let Some(view) = sum.try_normalize(0.0) else {
        return (Vec3::zeros(), -1.0);
    };
    let (mut farthest, mut least_cosine) = (0.0f32, 0.5f32);
    for triangle in around {
        let cone = &cones[*triangle as usize];
        farthest = farthest.max((cone.normal - view).norm() + cone.chord);
        least_cosine = least_cosine.max(cone.need);
    }
    let chord = (2.0 * (1.0 - least_cosine)).max(0.0).sqrt();
    (view, chord - farthest)
}
