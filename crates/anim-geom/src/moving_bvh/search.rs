//! A walk down two trees at once: which triangles of one come near which of the other.

use anim_math::lanes::{LANES, Simd};

use super::{MovingBvh, Node};
use crate::GeomError;

/// Pairs that are written at once.
const BUFFER: usize = 1024;
/// No two eights of triangles have more pairs than this.
const MOST: usize = LANES * LANES;

/// The two trees may be one and the same; then it may look for pairs with what has changed alone.
pub(super) struct Search<'a, const IS_SELF: bool, const IS_CHANGED: bool> {
    a: &'a MovingBvh,
    b: &'a MovingBvh,
    limit: usize,
    out: &'a mut Vec<[u32; 2]>,
    /// Pairs that are not yet in `out`; each is written with seven more in its wake, whatever they are.
    buffer: [[u32; 2]; BUFFER + MOST + LANES],
    count: usize,
}

impl<'a, const IS_SELF: bool, const IS_CHANGED: bool> Search<'a, IS_SELF, IS_CHANGED> {
    pub(super) fn new(
        a: &'a MovingBvh,
        b: &'a MovingBvh,
        limit: usize,
        out: &'a mut Vec<[u32; 2]>,
    ) -> Self {
        Self {
            a,
            b,
            limit,
            out,
            buffer: [[0; 2]; BUFFER + MOST + LANES],
            count: 0,
        }
    }

    /// Visits pairs of boxes that are near each other, or one and the same.
    #[inline(always)]
    pub(super) fn run<S: Simd>(
        &mut self,
        simd: S,
        stack: &mut Vec<(Node, Node)>,
    ) -> Result<(), GeomError> {
        while let Some((a, b)) = stack.pop() {
            if a.level > b.level {
                let mut hits = self.a.below(a).near(simd, &self.b.probe(simd, b));
                while hits != 0 {
                    stack.push((a.child(hits.trailing_zeros()), b));
                    hits &= hits - 1;
                }
            } else if a.level < b.level {
                let hits = self.b.below(b).near(simd, &self.a.probe(simd, a));
                push(stack, a, b, hits);
            } else if a.level > 1 {
                self.descend(simd, stack, a, b);
            } else {
                if IS_SELF && a == b {
                    self.within(simd, a);
                } else {
                    self.between(simd, a, b);
                }
                if self.count >= BUFFER {
                    self.flush()?;
                }
            }
        }
        self.flush()
    }

    #[inline(always)]
    fn descend<S: Simd>(&self, simd: S, stack: &mut Vec<(Node, Node)>, a: Node, b: Node) {
        let (rows, columns) = (self.a.below(a), self.b.below(b));
        let asked = self.asked(a, b);
        if IS_SELF && a == b {
            let count = self.a.levels[a.level as usize - 2].len() as u32;
            for lane in 0..LANES as u32 {
                let child = a.child(lane);
                if child.index >= count {
                    break;
                }
                let wanted = asked.of_lane(lane);
                if wanted >> lane & 1 == 1 {
                    stack.push((child, child));
                }
                let later = (0xfe << lane) & wanted;
                if later != 0 {
                    let hits = columns.near(simd, &rows.probe(simd, lane as usize)) & later;
                    push(stack, child, b, hits);
                }
            }
            return;
        }
        let mut near = rows.near(simd, &self.b.probe(simd, b));
        while near != 0 {
            let lane = near.trailing_zeros();
            near &= near - 1;
            let hits = columns.near(simd, &rows.probe(simd, lane as usize));
            push(stack, a.child(lane), b, hits & asked.of_lane(lane));
        }
    }

    /// Which pairs of the eights of two boxes are looked for.
    #[inline(always)]
    fn asked(&self, a: Node, b: Node) -> Asked {
        if !IS_CHANGED {
            return Asked {
                rows: 0xff,
                columns: 0xff,
            };
        }
        let changed = |node: Node| self.a.changed[node.level as usize - 1][node.index as usize];
        Asked {
            rows: changed(a).into(),
            columns: changed(b).into(),
        }
    }

    /// Pairs of eight triangles: of each and the one, two, three and four further on.
    #[inline(always)]
    fn within<S: Simd>(&mut self, simd: S, node: Node) {
        let boxes = self.a.below(node);
        let ids = self.a.order[node.index as usize];
        let turned = |by: usize| std::array::from_fn(|lane| ids[(lane + by) % LANES]);
        let changed = self.asked(node, node).rows;
        let either = |by: u32| changed | changed >> by | changed << (LANES as u32 - by);
        let near = boxes.near(simd, &boxes.turned::<S, 1>(simd));
        self.write(ids, turned(1), near & either(1));
        let near = boxes.near(simd, &boxes.turned::<S, 2>(simd));
        self.write(ids, turned(2), near & either(2));
        let near = boxes.near(simd, &boxes.turned::<S, 3>(simd));
        self.write(ids, turned(3), near & either(3));
        // Four further on again is where it began.
        let near = boxes.near(simd, &boxes.turned::<S, 4>(simd));
        self.write(ids, turned(4), near & either(4) & 0x0f);
    }

    #[inline(always)]
    fn between<S: Simd>(&mut self, simd: S, a: Node, b: Node) {
        let (rows, columns) = (self.a.below(a), self.b.below(b));
        let row_ids = self.a.order[a.index as usize];
        let ids = self.b.order[b.index as usize];
        let asked = self.asked(a, b);
        let mut near = rows.near(simd, &self.b.probe(simd, b));
        while near != 0 {
            let lane = near.trailing_zeros() as usize;
            near &= near - 1;
            let hits = columns.near(simd, &rows.probe(simd, lane));
            self.write(
                [row_ids[lane]; LANES],
                ids,
                hits & asked.of_lane(lane as u32),
            );
        }
    }

    /// Keeps those of eight pairs whose bit is set. Writes all of them and advances past those alone, since how many there
    /// are is anyone's guess, and a wrong one costs more than eight writes.
    #[inline(always)]
    fn write(&mut self, a: [u32; LANES], b: [u32; LANES], marked: u32) {
        let place = &mut self.buffer[self.count..self.count + LANES];
        let mut count = 0;
        for (lane, pair) in a.into_iter().zip(b).enumerate() {
            place[count % LANES] = [pair.0, pair.1];
            count += (marked >> lane & 1) as usize;
        }
        self.count += count;
    }

    fn flush(&mut self) -> Result<(), GeomError> {
        let pairs = &mut self.buffer[..self.count];
        if IS_SELF {
            for pair in &mut *pairs {
                *pair = [pair[0].min(pair[1]), pair[0].max(pair[1])];
            }
        }
        self.out.extend_from_slice(pairs);
        self.count = 0;
        let count = self.out.len();
        if count > self.limit {
            self.out.truncate(self.limit);
            return Err(GeomError::TooManyPairs {
                count,
                limit: self.limit,
            });
        }
        Ok(())
    }
}

/// Pairs of a row and a column of which at least one bit is set.
#[derive(Clone, Copy)]
struct Asked {
    rows: u32,
    columns: u32,
}

impl Asked {
    /// The columns that are looked for with a row.
    #[inline(always)]
    fn of_lane(self, lane: u32) -> u32 {
        if self.rows >> lane & 1 == 1 {
            0xff
        } else {
            self.columns
        }
    }
}

/// Remembers a box and those in another that it is near to.
#[inline(always)]
fn push(stack: &mut Vec<(Node, Node)>, a: Node, parent: Node, mut hits: u32) {
    while hits != 0 {
        stack.push((a, parent.child(hits.trailing_zeros())));
        hits &= hits - 1;
    }
}
