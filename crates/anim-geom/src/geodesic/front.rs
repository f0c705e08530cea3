//! The vertices that a front will reach, nearest first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A queue of tentative distances; stale ones are skipped as they come out.
#[derive(Debug, Default)]
pub(super) struct Front(BinaryHeap<Arrival>);

impl Front {
    /// Starts at the finite sources; the rest of `out` is infinite.
    ///
    /// # Panics
    ///
    /// If `out` is not of `vertex_count` values or a source names a vertex that is not there.
    pub(super) fn start(sources: &[(u32, f64)], vertex_count: usize, out: &mut [f64]) -> Self {
        assert_eq!(out.len(), vertex_count, "one distance a vertex");
        let mut front = Self::default();
        out.fill(f64::INFINITY);
        for (vertex, distance) in sources {
            if distance.is_finite() {
                front.improve(*vertex, *distance, out);
            }
        }
        front
    }

    /// Lowers the distance of a vertex, if this is nearer.
    #[inline]
    pub(super) fn improve(&mut self, vertex: u32, distance: f64, out: &mut [f64]) {
        if distance < out[vertex as usize] {
            out[vertex as usize] = distance;
            self.0.push(Arrival { distance, vertex });
        }
    }

    /// The nearest vertex whose distance is still the one it was queued with.
    #[inline]
    pub(super) fn pop(&mut self, out: &[f64]) -> Option<(u32, f64)> {
        loop {
            let Arrival { distance, vertex } = self.0.pop()?;
            if out[vertex as usize] == distance {
                return Some((vertex, distance));
            }
        }
    }
}

#[derive(Debug)]
struct Arrival {
    distance: f64,
    vertex: u32,
}

impl Ord for Arrival {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap gives its largest first.
        let nearer = other.distance.total_cmp(&self.distance);
        nearer.then_with(|| other.vertex.cmp(&self.vertex))
    }
}

impl PartialOrd for Arrival {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Arrival {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Arrival {}
