//! The broad phase: which pairs of features come near each other on the expected lines.

use anim_geom::ccd::Features;
use anim_math::Vec3;
use anim_math::lanes::dispatch;

use super::extents::Candidate;
use super::{Contact, LAST_SHARE, Pair, ROUNDING, Solid, combine, corners};

/// Pairs of features in a list, for each triangle.
const MAX_CANDIDATES: usize = 256;

impl Contact {
    /// Lists the pairs for lines from the beginning of the substep that last `time` seconds, or less where that is far.
    ///
    /// Where there are too many, as when motion has lost all bounds, nothing but what is near already is listed for lines of
    /// no length, and [`keep`](super::keep) stops everything else.
    ///
    /// * `least`: what they must last, s.
    pub(super) fn draw_lines(&mut self, time: f32, least: f32) {
        self.lines.start.clone_from(&self.start);
        self.line_time = 0.0;
        self.strayed = 0;
        self.deviated = 0.0;
        self.common = Vec3::zeros();
        self.common_before = Vec3::zeros();
        self.drift = self.lines.drift();
        // A little more than it takes, for the sums of the substeps.
        let most = self.most_time(self.lines.fastest(self.drift));
        self.horizon = 1.001 * time.min(most.max(least));
        self.keeper.is_overrun = !self.list_all();
        if self.keeper.is_overrun {
            self.lines.velocity.iter_mut().for_each(|v| *v = [0.0; 4]);
            self.list_all();
        }
    }

    /// Lists all pairs; false if there are too many.
    fn list_all(&mut self) -> bool {
        let span = [0.0, self.horizon];
        let margin = self.margin();
        self.pairs.clear();
        self.is_stray.clear();
        self.is_stray.resize(self.start.len(), true);
        self.surface.place(&self.lines, span);
        self.surface.refit(margin);
        self.facing
            .look(&self.surface, &self.lines, span, self.slack);
        self.extents.place(&self.surface);
        let Ok(found) = self.surface.pairs(self.surface.pair_limit()) else {
            return false;
        };
        let is_complete = self.list(&found, span);
        self.surface.recycle(found);
        self.list_solids(span, |_| true);
        self.sort();
        is_complete
    }

    /// Lists the pairs of strays anew, from the beginning of the substep to the horizon; false if there are too many.
    pub(super) fn list_strays(&mut self, h: f32) -> bool {
        let span = [self.line_time - h, self.horizon];
        let margin = self.margin();
        self.is_stray.clear();
        self.is_stray.resize(self.points.len(), false);
        for slot in &self.strays {
            self.is_stray[*slot as usize] = true;
        }
        let is_stray = &self.is_stray;
        self.pairs
            .retain(|pair| !pair.vertices.iter().any(|v| is_stray[*v as usize]));
        let count = self.vertex_count();
        self.moved.clear();
        let vertices = self.strays.iter().filter(|v| (**v as usize) < count);
        self.moved
            .extend(vertices.flat_map(|v| self.surface.around(*v)));
        self.moved.sort_unstable();
        self.moved.dedup();
        let moved = std::mem::take(&mut self.moved);
        // Boxes have to be of one span; so the new lines count from the time that the others count from.
        self.surface
            .place_again(&self.lines, [0.0, self.horizon], &self.strays);
        self.surface.refit_some(margin, &moved);
        self.facing
            .look_again(&self.surface, &self.lines, span, self.slack, &moved);
        self.extents.place_again(&self.surface, &self.strays);
        let is_complete = match self.surface.changed_pairs(self.surface.pair_limit()) {
            Ok(found) => {
                let is_complete = self.list(&found, span);
                self.surface.recycle(found);
                is_complete
            }
            Err(_) => false,
        };
        self.list_solids(span, |triangle| moved.binary_search(&triangle).is_ok());
        self.moved = moved;
        self.is_stray.fill(true);
        self.sort();
        is_complete
    }

    /// How near features may come along an axis of space before they are a pair.
    fn margin(&self) -> f32 {
        self.thickness + 2.0 * self.slack
    }

    /// Sorts the pairs: nearest first.
    fn sort(&mut self) {
        self.pairs.sort_unstable_by(|a, b| {
            a.clearance
                .total_cmp(&b.clearance)
                .then(a.vertices.cmp(&b.vertices))
        });
    }

    /// Appends the pairs of features of pairs of triangles; false if there are too many.
    fn list(&mut self, found: &[[u32; 2]], span: [f32; 2]) -> bool {
        let margin = self.margin();
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        dispatch!(self.level, simd => {
            for pair in found {
                // Most are neighbours, and lie like that.
                if self.facing.are_in_one_patch(&self.surface, *pair) {
                    continue;
                }
                let before = candidates.len();
                self.extents.sift(simd, &self.surface, *pair, margin, &mut candidates);
                if candidates.len() > before && self.cannot_meet(*pair, span) {
                    candidates.truncate(before);
                }
            }
        });
        let limit = self.surface.triangles.len().saturating_mul(MAX_CANDIDATES);
        let is_complete = candidates.len() <= limit;
        if is_complete {
            for candidate in &candidates {
                self.consider(*candidate, span);
            }
        }
        self.candidates = candidates;
        is_complete
    }

    /// True if two triangles stay apart for a reason that their boxes do not know.
    fn cannot_meet(&self, pair: [u32; 2], span: [f32; 2]) -> bool {
        let [a, b] = pair.map(|t| self.surface.triangles[t as usize]);
        let mut common = a.iter().filter(|v| b.contains(v)).peekable();
        if common.peek().is_some() {
            return common.any(|v| self.facing.is_open(*v));
        }
        let margin = self.margin();
        self.facing
            .are_apart(&self.surface, &self.lines, span, pair, margin)
    }

    /// Appends a pair of the surface unless it stays far apart.
    fn consider(&mut self, candidate: Candidate, span: [f32; 2]) {
        let Candidate { features, vertices } = candidate;
        if self.is_settled(vertices) {
            return;
        }
        let split = features.split();
        let is_tangled = |part: &[u32]| part.iter().any(|v| self.tangled[*v as usize]);
        if is_tangled(&vertices[..split]) && is_tangled(&vertices[split..]) {
            return;
        }
        let reach = self.rest_reach(features, vertices);
        let pair = Pair {
            vertices,
            features,
            axis: Vec3::zeros(),
            reach,
            clearance: 0.0,
            friction: self.friction,
            least: LAST_SHARE * reach,
        };
        self.append(pair, span);
    }

    /// The distance to keep: the thickness, or less for what rests nearer.
    fn rest_reach(&self, features: Features, vertices: [u32; 4]) -> f32 {
        let rest = vertices.map(|v| self.surface.rest[v as usize]);
        if are_boxes_apart(features, &rest, self.thickness) {
            return self.thickness;
        }
        let way = combine(&rest, &features.weights(&rest));
        self.thickness.min(way.norm())
    }

    /// Appends a pair if its distance on the lines is not more than its reach and the slack of both sides.
    fn append(&mut self, mut pair: Pair, span: [f32; 2]) {
        let [start, end] = &self.lines.path(pair.vertices, span);
        let limit = 2.0 * self.slack;
        let features = pair.features;
        let axis_at = |points: &[Vec3; 4]| {
            combine(points, &features.weights(points))
                .try_normalize(0.0)
                .unwrap_or_else(Vec3::y)
        };
        pair.axis = axis_at(start);
        let now = features.gap(start, pair.axis) - pair.reach;
        pair.clearance = now.min(features.gap(end, pair.axis) - pair.reach);
        if now > limit && pair.clearance <= limit {
            // They are apart now: the way between them later may keep them so.
            let axis = axis_at(end);
            let later = features.gap(start, axis).min(features.gap(end, axis)) - pair.reach;
            pair.clearance = pair.clearance.max(later);
        }
        if pair.clearance > limit {
            return;
        }
        pair.clearance -= ROUNDING;
        self.pairs.push(pair);
    }

    /// The pairs of solids with the triangles that they may meet, of those asked for.
    fn list_solids(&mut self, span: [f32; 2], is_asked: impl Fn(u32) -> bool) {
        let count = self.vertex_count();
        let mut near = std::mem::take(&mut self.near);
        for index in 0..self.solids.len() {
            let solid = self.solids[index];
            let ends = [count + 2 * index, count + 2 * index + 1].map(|e| e as u32);
            // Boxes of triangles count from when lines were drawn for all.
            let [starts, stops] =
                [0.0, self.horizon].map(|time| ends.map(|e| self.lines.at(e, time)));
            let grow = self.solid_reach(&solid) + 2.0 * self.slack;
            let bounds =
                |[a, b]: [Vec3; 2]| [a.inf(&b).add_scalar(-grow), a.sup(&b).add_scalar(grow)];
            near.clear();
            self.surface
                .bvh
                .near(bounds(starts), bounds(stops), &mut near);
            let [from, to] = ends;
            let is_point = solid.core.ends[0] == solid.core.ends[1];
            for triangle in near.iter().filter(|t| is_asked(**t)) {
                let corners = self.surface.triangles[*triangle as usize];
                let [a, b, c] = corners;
                for (end, slot) in ends.into_iter().enumerate() {
                    if solid.core.owns[end] {
                        self.consider_solid(Features::PointTriangle, [slot, a, b, c], &solid, span);
                    }
                }
                if is_point {
                    continue;
                }
                for side in 0..3 {
                    if self.surface.owned[*triangle as usize] >> (3 + side) & 1 == 1 {
                        let vertices = [from, to, corners[side], corners[(side + 1) % 3]];
                        self.consider_solid(Features::EdgeEdge, vertices, &solid, span);
                    }
                }
            }
        }
        self.near = near;
    }

    /// The distance to keep from a solid's axis: half of what vertices keep, so that these feel the collider itself.
    fn solid_reach(&self, solid: &Solid) -> f32 {
        let gap = (0.5 * self.collider_thickness).max(LAST_SHARE * self.thickness);
        solid.radius + gap
    }

    /// True if a pair needs no looking at: nothing in it can move, or nothing has left its line.
    fn is_settled(&self, vertices: [u32; 4]) -> bool {
        vertices.iter().all(|v| self.start[*v as usize][3] == 0.0)
            || !vertices.iter().any(|v| self.is_stray[*v as usize])
    }

    fn consider_solid(
        &mut self,
        features: Features,
        vertices: [u32; 4],
        solid: &Solid,
        span: [f32; 2],
    ) {
        if self.is_settled(vertices) {
            return;
        }
        let reach = self.solid_reach(solid);
        let pair = Pair {
            vertices,
            features,
            axis: Vec3::zeros(),
            reach,
            clearance: 0.0,
            friction: solid.friction,
            least: solid.radius.max(LAST_SHARE * reach),
        };
        let before = self.pairs.len();
        self.append(pair, span);
        if solid.radius == 0.0 && self.pairs.len() > before && self.is_pierced(&pair, solid) {
            self.pairs.truncate(before);
        }
    }

    /// True if the place of a surface that is nearest to an edge or a corner of a mesh is inside: it is to come out again.
    fn is_pierced(&self, pair: &Pair, solid: &Solid) -> bool {
        // Lines tell where things are to within the slack alone.
        let points = corners(&self.start, pair.vertices);
        let weights = pair.features.weights(&points);
        let split = pair.features.split();
        let place: Vec3 = (split..4).map(|i| points[i] * -weights[i]).sum();
        let reach = 1.01 * combine(&points, &weights).norm() + ROUNDING;
        let contact = self.colliders[solid.collider as usize].contact_within(place, reach);
        contact.is_some_and(|contact| contact.distance < 0.0)
    }
}

/// True if the boxes of two features are more than `margin` apart along an axis.
#[inline]
fn are_boxes_apart(features: Features, points: &[Vec3; 4], margin: f32) -> bool {
    let split = features.split();
    let bounds = |points: &[Vec3]| {
        let first = (points[0], points[0]);
        let all = points[1..].iter();
        all.fold(first, |(low, high), p| (low.inf(p), high.sup(p)))
    };
    let ((a_low, a_high), (b_low, b_high)) = (bounds(&points[..split]), bounds(&points[split..]));
    (b_low - a_high).sup(&(a_low - b_high)).max() > margin
}
