//! The broad phase: which pairs of features come near each other on the expected lines.

use anim_geom::ccd::Features;
use anim_math::Vec3;

use super::{Contact, LAST_SHARE, Pair, combine, corners, vector};

/// Pairs of features in a list, for each triangle.
const MAX_CANDIDATES: usize = 256;

/// Rounding of positions some tens of metres from their origin.
const ROUNDING: f32 = 4e-6;

impl Contact {
    /// Lists the pairs for lines from the beginning of the substep that last `time` seconds.
    ///
    /// Where there are too many, as when motion has lost all bounds, nothing but what is near already is listed for lines of
    /// no length, and [`keep`](super::keep) stops everything else.
    pub(super) fn draw_lines(&mut self, time: f32) {
        self.line_start.clone_from(&self.start);
        self.line_time = 0.0;
        self.deviated = 0.0;
        // A little more than it takes, for the sums of the substeps.
        self.horizon = 1.001 * time;
        self.pairs.clear();
        self.keeper.is_overrun = !self.list(time);
        if self.keeper.is_overrun {
            self.pairs.clear();
            self.line_velocity.iter_mut().for_each(|v| *v = [0.0; 4]);
            self.list(0.0);
        }
        self.pairs.sort_unstable_by(|a, b| {
            a.clearance
                .total_cmp(&b.clearance)
                .then(a.vertices.cmp(&b.vertices))
        });
    }

    /// Appends the pairs; false if there are too many.
    fn list(&mut self, time: f32) -> bool {
        let margin = self.thickness + 2.0 * self.slack;
        self.surface.place(&self.start, &self.line_velocity, time);
        self.surface.refit(margin);
        self.surface.find_open(self.slack);
        let Ok(found) = self.surface.pairs(self.surface.pair_limit()) else {
            return false;
        };
        let limit = self.surface.triangles.len().saturating_mul(MAX_CANDIDATES);
        let mut is_complete = true;
        for pair in &found {
            self.list_triangles(*pair, margin);
            if self.pairs.len() > limit {
                is_complete = false;
                break;
            }
        }
        self.surface.recycle(found);
        self.list_solids(time);
        is_complete
    }

    /// The pairs of features that two triangles answer for.
    fn list_triangles(&mut self, pair: [u32; 2], margin: f32) {
        if self.surface.are_in_one_patch(pair) {
            return;
        }
        let [a, b] = pair.map(|t| self.surface.triangles[t as usize]);
        let is_common = |v: &&u32| b.contains(v);
        let mut common = a.iter().filter(is_common).peekable();
        if common.peek().is_none() {
            if self.surface.are_apart(pair, margin) {
                return;
            }
        } else if common.any(|v| self.surface.is_open[*v as usize]) {
            return;
        }
        let owned = pair.map(|t| self.surface.owned[t as usize]);
        for (owned, own, other) in [(owned[0], a, b), (owned[1], b, a)] {
            for (corner, vertex) in own.into_iter().enumerate() {
                if owned >> corner & 1 == 1 && !other.contains(&vertex) {
                    let vertices = [vertex, other[0], other[1], other[2]];
                    self.consider(Features::PointTriangle, vertices, margin);
                }
            }
        }
        for i in (0..3).filter(|i| owned[0] >> (3 + i) & 1 == 1) {
            let [p, q] = [a[i], a[(i + 1) % 3]];
            for j in (0..3).filter(|j| owned[1] >> (3 + j) & 1 == 1) {
                let [r, s] = [b[j], b[(j + 1) % 3]];
                if p != r && p != s && q != r && q != s {
                    self.consider(Features::EdgeEdge, [p, q, r, s], margin);
                }
            }
        }
    }

    /// Appends a pair of the surface unless it stays far apart.
    fn consider(&mut self, features: Features, vertices: [u32; 4], margin: f32) {
        let [start, end] = self.surface.path(vertices);
        if are_boxes_apart(features, &start, &end, margin) {
            return;
        }
        if vertices.iter().all(|v| self.start[*v as usize][3] == 0.0) {
            return;
        }
        let split = features.split();
        let is_tangled = |part: &[u32]| part.iter().any(|v| self.tangled[*v as usize]);
        if is_tangled(&vertices[..split]) && is_tangled(&vertices[split..]) {
            return;
        }
        let rest = vertices.map(|v| self.surface.rest[v as usize]);
        let mut reach = self.thickness;
        if !are_boxes_apart(features, &rest, &rest, reach) {
            reach = reach.min(combine(&rest, &features.weights(&rest)).norm());
        }
        let pair = Pair {
            vertices,
            features,
            axis: Vec3::zeros(),
            reach,
            clearance: 0.0,
            friction: self.friction,
            least: LAST_SHARE * reach,
        };
        self.append(pair, &start, &end);
    }

    /// Appends a pair if its distance on the lines is not more than its reach and the slack of both sides.
    fn append(&mut self, mut pair: Pair, start: &[Vec3; 4], end: &[Vec3; 4]) {
        let limit = 2.0 * self.slack;
        let features = pair.features;
        let axis_at = |points: &[Vec3; 4]| {
            combine(points, &features.weights(points))
                .try_normalize(0.0)
                .unwrap_or_else(Vec3::y)
        };
        let clearance =
            |axis: Vec3| features.gap(start, axis).min(features.gap(end, axis)) - pair.reach;
        pair.axis = axis_at(start);
        pair.clearance = clearance(pair.axis);
        if pair.clearance > limit {
            return;
        }
        if start != end {
            let other = clearance(axis_at(end));
            if other > pair.clearance {
                pair.clearance = other;
            }
            if other > limit {
                return;
            }
        }
        pair.clearance -= ROUNDING;
        self.pairs.push(pair);
    }

    /// The pairs of round colliders with the triangles that they may meet.
    fn list_solids(&mut self, time: f32) {
        let count = self.vertex_count();
        let mut near = Vec::new();
        for index in 0..self.solids.len() {
            let solid = self.solids[index];
            let reach = solid.radius + 0.5 * self.collider_thickness;
            let ends = [count + 2 * index, count + 2 * index + 1];
            let starts = ends.map(|e| vector(self.start[e]));
            let stops = ends.map(|e| vector(self.start[e]) + vector(self.line_velocity[e]) * time);
            let grow = reach + 2.0 * self.slack;
            let bounds =
                |[a, b]: [Vec3; 2]| [a.inf(&b).add_scalar(-grow), a.sup(&b).add_scalar(grow)];
            near.clear();
            self.surface
                .bvh
                .near(bounds(starts), bounds(stops), &mut near);
            let [from, to] = ends.map(|e| e as u32);
            for triangle in &near {
                let corners = self.surface.triangles[*triangle as usize];
                let [a, b, c] = corners;
                self.consider_solid(Features::PointTriangle, [from, a, b, c], solid, time);
                if solid.is_point {
                    continue;
                }
                self.consider_solid(Features::PointTriangle, [to, a, b, c], solid, time);
                for side in 0..3 {
                    if self.surface.owned[*triangle as usize] >> (3 + side) & 1 == 1 {
                        let [p, q] = [corners[side], corners[(side + 1) % 3]];
                        self.consider_solid(Features::EdgeEdge, [from, to, p, q], solid, time);
                    }
                }
            }
        }
    }

    fn consider_solid(
        &mut self,
        features: Features,
        vertices: [u32; 4],
        solid: super::Solid,
        time: f32,
    ) {
        if vertices.iter().all(|v| self.start[*v as usize][3] == 0.0) {
            return;
        }
        let start = corners(&self.start, vertices);
        let velocity = corners(&self.line_velocity, vertices);
        let end: [Vec3; 4] = std::array::from_fn(|i| start[i] + velocity[i] * time);
        let pair = Pair {
            vertices,
            features,
            axis: Vec3::zeros(),
            reach: solid.radius + 0.5 * self.collider_thickness,
            clearance: 0.0,
            friction: solid.friction,
            least: solid.radius,
        };
        self.append(pair, &start, &end);
    }
}

/// True if one axis and side keeps the boxes of two features more than `margin` apart both at the start and at the end.
#[inline]
fn are_boxes_apart(features: Features, start: &[Vec3; 4], end: &[Vec3; 4], margin: f32) -> bool {
    let bounds = |points: &[Vec3; 4]| match features {
        Features::PointTriangle => (
            points[0],
            points[0],
            points[1].inf(&points[2]).inf(&points[3]),
            points[1].sup(&points[2]).sup(&points[3]),
        ),
        Features::EdgeEdge => (
            points[0].inf(&points[1]),
            points[0].sup(&points[1]),
            points[2].inf(&points[3]),
            points[2].sup(&points[3]),
        ),
    };
    let (a, b) = (bounds(start), bounds(end));
    let above = (a.2 - a.1).inf(&(b.2 - b.1));
    let below = (a.0 - a.3).inf(&(b.0 - b.3));
    above.sup(&below).max() > margin
}
