//! The greedy loop: the cheapest edge that may collapse, again and again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anim_math::Vec3;
use nalgebra::Vector3;

use super::SimplifyGoal;
use super::quadric::Quadric;
use super::surface::{Freedom, RimSide, Surface};

/// How much a border or seam weighs against a face of the same size.
const RIM_WEIGHT: f64 = 10.0;

/// An edge and the direction in which to collapse it; ordered by cost, then length, then vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// Bits of the squared error, which is not negative, so that they are in its order.
    cost: u64,
    /// Bits of the squared length.
    length: u32,
    from: u32,
    to: u32,
    /// The sum of both ends' versions.
    version: u32,
    /// The other direction has been refused already.
    reversed: bool,
}

/// A surface on its way to fewer triangles.
#[derive(Debug)]
pub(super) struct Collapser {
    pub(super) surface: Surface,
    /// V × shapes.
    quadrics: Vec<Quadric>,
    versions: Vec<u32>,
    heap: BinaryHeap<Reverse<Candidate>>,
    /// Largest squared error of a collapse so far.
    pub(super) squared_error: f64,
    /// V: the last round that met the vertex.
    marks: Vec<u32>,
    round: u32,
    star: Vec<u32>,
    other_star: Vec<u32>,
}

impl Collapser {
    pub(super) fn new(surface: Surface, rim: &[RimSide]) -> Self {
        let vertex_count = surface.freedom.len();
        let mut collapser = Self {
            quadrics: vec![Quadric::default(); vertex_count * surface.shape_count()],
            versions: vec![0; vertex_count],
            heap: BinaryHeap::new(),
            squared_error: 0.0,
            marks: vec![0; vertex_count],
            round: 0,
            star: Vec::new(),
            other_star: Vec::new(),
            surface,
        };
        collapser.add_faces();
        collapser.add_rim(rim);
        collapser
    }

    /// Collapses until `goal` is met or nothing more may.
    pub(super) fn run(&mut self, goal: &SimplifyGoal) {
        let max_error = f64::from(goal.max_error.max(0.0));
        let limit = max_error * max_error;
        while self.surface.live_count > goal.target_triangles {
            self.fill_heap();
            let collapses = self.drain(goal.target_triangles, limit);
            // What was refused may be possible now that its surroundings have changed.
            if collapses <= self.surface.live_count / 256 {
                break;
            }
        }
    }

    /// Moves each free vertex of one shape to where its quadric is smallest, unless a triangle would turn over.
    pub(super) fn place_optimally(&mut self) -> Vec<(u32, Vec3)> {
        let mut moved = Vec::new();
        let mut star = std::mem::take(&mut self.star);
        for vertex in 0..self.surface.freedom.len() as u32 {
            self.surface.star(vertex, &mut star);
            let Some(first) = star.first() else { continue };
            let copy = self.surface.copy(*first);
            let single = star.iter().all(|c| self.surface.copy(*c) == copy);
            if !single || self.surface.freedom[vertex as usize] != Freedom::Free {
                continue;
            }
            let now = self.surface.points(vertex)[0];
            let best = self.quadrics[vertex as usize].minimiser(&now);
            let valid = |c: &u32| self.surface.keeps_facing(*c, std::slice::from_ref(&best));
            if star.iter().all(valid) {
                moved.push((copy, self.surface.place(vertex, best)));
            }
        }
        self.star = star;
        moved
    }

    fn add_faces(&mut self) {
        let shape_count = self.surface.shape_count();
        for corners in &self.surface.corners {
            let [a, b, c] = corners.map(|v| self.surface.points(v));
            for shape in 0..shape_count {
                let double = (b[shape] - a[shape]).cross(&(c[shape] - a[shape]));
                let Some((normal, area)) = unit(&double) else {
                    continue;
                };
                let area = 0.5 * area;
                let mut plane = Quadric::plane(&normal, &a[shape], area);
                plane.area = area;
                for vertex in corners {
                    self.quadrics[*vertex as usize * shape_count + shape].add(&plane);
                }
            }
        }
    }

    /// Holds borders and seams by planes through them, at right angles to their triangles.
    fn add_rim(&mut self, rim: &[RimSide]) {
        let shape_count = self.surface.shape_count();
        for side in rim {
            let [a, b, c] = side.map(|v| self.surface.points(v));
            for shape in 0..shape_count {
                let edge = b[shape] - a[shape];
                let face = edge.cross(&(c[shape] - a[shape]));
                if let Some((normal, _)) = unit(&edge.cross(&face)) {
                    let weight = RIM_WEIGHT * edge.norm_squared();
                    let plane = Quadric::plane(&normal, &a[shape], weight);
                    for vertex in &side[..2] {
                        self.quadrics[*vertex as usize * shape_count + shape].add(&plane);
                    }
                }
            }
        }
    }

    /// The mean squared distance of `to` to the planes of both ends, over all shapes.
    fn cost(&self, from: u32, to: u32) -> f64 {
        let count = self.surface.shape_count();
        let of = |v: u32| &self.quadrics[v as usize * count..(v as usize + 1) * count];
        let (mut sum, mut area) = (0.0, 0.0);
        for ((x, mine), theirs) in self.surface.points(to).iter().zip(of(from)).zip(of(to)) {
            sum += mine.at(x) + theirs.at(x);
            area += mine.area + theirs.area;
        }
        // Without area there are no planes, and the vertex costs what it moves by.
        if area > 0.0 {
            sum / area
        } else {
            self.squared_length(from, to)
        }
    }

    /// The squared length of an edge, the mean over all shapes.
    fn squared_length(&self, a: u32, b: u32) -> f64 {
        let ends = self.surface.points(a).iter().zip(self.surface.points(b));
        let sum: f64 = ends.map(|(a, b)| (b - a).norm_squared()).sum();
        sum / self.surface.shape_count().max(1) as f64
    }

    /// True unless it is plain from the vertices alone that `from` may not move to `to`.
    fn may_move(&self, from: u32, to: u32) -> bool {
        match self.surface.freedom[from as usize] {
            Freedom::Free => true,
            Freedom::Border => self.surface.freedom[to as usize] != Freedom::Free,
            Freedom::Locked => false,
        }
    }

    /// The cheaper direction of an edge.
    fn candidate(&self, a: u32, b: u32) -> Option<Candidate> {
        let directions = [(a.min(b), a.max(b)), (a.max(b), a.min(b))];
        let open = directions.iter().filter(|(f, t)| self.may_move(*f, *t));
        open.map(|(from, to)| self.directed(*from, *to, false))
            .min()
    }

    fn directed(&self, from: u32, to: u32, reversed: bool) -> Candidate {
        let [a, b] = [from, to].map(|v| self.versions[v as usize]);
        Candidate {
            cost: self.cost(from, to).to_bits(),
            length: (self.squared_length(from, to) as f32).to_bits(),
            from,
            to,
            version: a.wrapping_add(b),
            reversed,
        }
    }

    fn fill_heap(&mut self) {
        let mut all = std::mem::take(&mut self.heap).into_vec();
        all.clear();
        for (triangle, corners) in self.surface.corners.iter().enumerate() {
            if !self.surface.is_alive(triangle) {
                continue;
            }
            for side in 0..3 {
                let (a, b) = (corners[side], corners[(side + 1) % 3]);
                // A border's only triangle may run either way along it; inner edges are met from both sides.
                let border = [a, b].map(|v| self.surface.freedom[v as usize] != Freedom::Free);
                if a < b || border == [true, true] {
                    all.extend(self.candidate(a, b).map(Reverse));
                }
            }
        }
        self.heap = BinaryHeap::from(all);
    }

    /// Takes candidates until the target, the limit or the end, and counts the collapses.
    fn drain(&mut self, target: usize, limit: f64) -> usize {
        let mut collapses = 0;
        while self.surface.live_count > target {
            let Some(Reverse(next)) = self.heap.pop() else {
                break;
            };
            let cost = f64::from_bits(next.cost);
            if cost > limit {
                break;
            }
            let [a, b] = [next.from, next.to].map(|v| self.versions[v as usize]);
            if a.wrapping_add(b) != next.version {
                continue;
            }
            if self.collapse(next.from, next.to) {
                self.squared_error = self.squared_error.max(cost);
                collapses += 1;
            } else if !next.reversed && self.may_move(next.to, next.from) {
                let reverse = self.directed(next.to, next.from, true);
                self.heap.push(Reverse(reverse));
            }
        }
        collapses
    }

    /// Merges `from` into `to` if the surface stays what it is.
    fn collapse(&mut self, from: u32, to: u32) -> bool {
        let mut star = std::mem::take(&mut self.star);
        let mut other = std::mem::take(&mut self.other_star);
        self.surface.star(from, &mut star);
        self.surface.star(to, &mut other);
        let renamed = self.admit(from, to, &star, &other);
        if let Some((renamed, count)) = &renamed {
            self.surface.merge(from, to, &star, &renamed[..*count]);
            self.join_quadrics(from, to);
            self.surface.star(to, &mut star);
            self.push_edges(to, &star);
        }
        (self.star, self.other_star) = (star, other);
        renamed.is_some()
    }

    fn join_quadrics(&mut self, from: u32, to: u32) {
        let count = self.surface.shape_count();
        for shape in 0..count {
            let removed = self.quadrics[from as usize * count + shape];
            self.quadrics[to as usize * count + shape].add(&removed);
        }
        for end in [from, to] {
            self.versions[end as usize] = self.versions[end as usize].wrapping_add(1);
        }
    }

    /// Offers the edges at `vertex` anew.
    fn push_edges(&mut self, vertex: u32, star: &[u32]) {
        self.round += 1;
        for corner in star {
            for neighbor in self.surface.others(*corner) {
                if self.marks[neighbor as usize] != self.round {
                    self.marks[neighbor as usize] = self.round;
                    let candidate = self.candidate(vertex, neighbor);
                    self.heap.extend(candidate.map(Reverse));
                }
            }
        }
    }

    /// What the copies of `from` become if the collapse is admissible, and how many there are.
    ///
    /// Admissible: the edge is a side of one triangle at the border or of two inside; no seam is torn; the topology stays
    /// (the ends share no neighbours but those of the edge's triangles: the link condition of Dey et al. 1999); no
    /// triangle turns over in any shape.
    fn admit(
        &mut self,
        from: u32,
        to: u32,
        star: &[u32],
        other: &[u32],
    ) -> Option<([(u32, u32); 2], usize)> {
        let surface = &self.surface;
        let mut renamed = [(0, 0); 2];
        let mut opposite = [0; 2];
        let mut shared = 0;
        for &corner in star {
            let [b, c] = surface.others(corner);
            if b != to && c != to {
                continue;
            }
            if shared == 2 {
                return None;
            }
            renamed[shared] = (surface.copy(corner), surface.copy_of_neighbor(corner, to));
            opposite[shared] = if b == to { c } else { b };
            shared += 1;
        }
        let expected = match surface.freedom[from as usize] {
            Freedom::Free => 2,
            Freedom::Border => 1,
            Freedom::Locked => 0,
        };
        if shared == 0 || shared != expected {
            return None;
        }
        let renamed_slice = &renamed[..shared];
        let torn = shared == 2 && renamed[0].0 == renamed[1].0 && renamed[0].1 != renamed[1].1;
        let lost = |corner: &u32| {
            let copy = surface.copy(*corner);
            renamed_slice.iter().all(|(old, _)| *old != copy)
        };
        if torn || star.iter().any(lost) {
            return None;
        }
        if !self.keeps_topology(star, other, &opposite[..shared]) {
            return None;
        }
        let surface = &self.surface;
        let target = surface.points(to);
        let faces = |corner: &u32| {
            surface.others(*corner).contains(&to) || surface.keeps_facing(*corner, target)
        };
        star.iter().all(faces).then_some((renamed, shared))
    }

    /// The link condition for the edge between the middles of two stars; `opposite` are its triangles' third corners.
    fn keeps_topology(&mut self, star: &[u32], other: &[u32], opposite: &[u32]) -> bool {
        self.round += 2;
        let (seen, counted) = (self.round - 1, self.round);
        for neighbor in star.iter().flat_map(|c| self.surface.others(*c)) {
            self.marks[neighbor as usize] = seen;
        }
        let mut common = 0;
        for neighbor in other.iter().flat_map(|c| self.surface.others(*c)) {
            if self.marks[neighbor as usize] == seen {
                self.marks[neighbor as usize] = counted;
                common += 1;
            }
        }
        if common != opposite.len() {
            return false;
        }
        let surface = &self.surface;
        match *opposite {
            [c, d] => {
                // Faces over the same three vertices on both sides would fall onto each other.
                let spans = |star: &[u32]| {
                    let mut pairs = star.iter().map(|corner| surface.others(*corner));
                    pairs.any(|pair| pair == [c, d] || pair == [d, c])
                };
                c != d && !(spans(star) && spans(other))
            }
            [c] => {
                let sides = |star: &[u32]| {
                    let pairs = star.iter().map(|corner| surface.others(*corner));
                    pairs.filter(|pair| pair.contains(&c)).count()
                };
                sides(star) > 1 || sides(other) > 1
            }
            _ => false,
        }
    }
}

/// The direction and length of a vector that has both.
fn unit(vector: &Vector3<f64>) -> Option<(Vector3<f64>, f64)> {
    let length = vector.norm();
    let usable = length.is_finite() && length > f64::MIN_POSITIVE;
    usable.then(|| (vector / length, length))
}
