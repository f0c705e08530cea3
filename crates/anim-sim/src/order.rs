//! Cuthill-McKee order: numbers vertices so that linked ones have close numbers.
//!
//! A narrow band keeps a link's two ends in the same cache lines and, more important here, lets the solver cut the
//! vertices into contiguous blocks that threads may own alone.

use std::collections::VecDeque;

/// The vertices in Cuthill-McKee order: `order[new] = old`.
///
/// Breadth-first from a vertex at the rim of each connected part, neighbours by ascending number of links and then by
/// index. O(V + L log L).
///
/// Source: Cuthill, McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM 1969; the rim vertex as in
/// George, Liu, "An implementation of a pseudoperipheral node finder", TOMS 1979.
pub(crate) fn cuthill_mckee(links: &[[u32; 2]], vertex_count: usize) -> Vec<u32> {
    let graph = Graph::new(links, vertex_count);
    let mut order = Vec::with_capacity(vertex_count);
    let mut visited = vec![false; vertex_count];
    let mut scratch = vec![false; vertex_count];
    for seed in 0..vertex_count as u32 {
        if visited[seed as usize] {
            continue;
        }
        // Two searches are enough to reach the far side of a sheet.
        let mut rim = seed;
        for _ in 0..2 {
            let mut part = Vec::new();
            graph.search(rim, &mut scratch, &mut part);
            for v in &part {
                scratch[*v as usize] = false;
            }
            rim = part.last().copied().unwrap_or(rim);
        }
        graph.search(rim, &mut visited, &mut order);
    }
    order
}

/// The largest difference of numbers within an element; 0 without elements.
pub(crate) fn bandwidth<'a>(elements: impl Iterator<Item = &'a [u32]>) -> usize {
    elements
        .filter_map(|vertices| Some((vertices.iter().max()? - vertices.iter().min()?) as usize))
        .max()
        .unwrap_or(0)
}

/// Neighbours of each vertex, in one array.
struct Graph {
    starts: Vec<u32>,
    neighbors: Vec<u32>,
}

impl Graph {
    fn new(links: &[[u32; 2]], vertex_count: usize) -> Self {
        let mut starts = vec![0u32; vertex_count + 1];
        for v in links.iter().flatten() {
            starts[*v as usize + 1] += 1;
        }
        for v in 0..vertex_count {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut neighbors = vec![0; links.len() * 2];
        for &[a, b] in links {
            for (from, to) in [(a, b), (b, a)] {
                let slot = &mut next[from as usize];
                neighbors[*slot as usize] = to;
                *slot += 1;
            }
        }
        let mut graph = Self { starts, neighbors };
        let degrees: Vec<_> = (0..vertex_count as u32)
            .map(|v| graph.of(v).len())
            .collect();
        for v in 0..vertex_count {
            let range = graph.starts[v] as usize..graph.starts[v + 1] as usize;
            graph.neighbors[range].sort_unstable_by_key(|n| (degrees[*n as usize], *n));
        }
        graph
    }

    fn of(&self, v: u32) -> &[u32] {
        &self.neighbors[self.starts[v as usize] as usize..self.starts[v as usize + 1] as usize]
    }

    /// Appends the vertices that can be reached from `start`, breadth first.
    fn search(&self, start: u32, visited: &mut [bool], order: &mut Vec<u32>) {
        let mut queue = VecDeque::from([start]);
        visited[start as usize] = true;
        while let Some(v) = queue.pop_front() {
            order.push(v);
            for &n in self.of(v) {
                if !std::mem::replace(&mut visited[n as usize], true) {
                    queue.push_back(n);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_chain_gets_bandwidth_one() {
        // 7 and 101 are coprime, so this visits every vertex once.
        let name = |i: u32| i * 7 % 101;
        let links: Vec<_> = (0..100).map(|i| [name(i), name(i + 1)]).collect();
        let order = cuthill_mckee(&links, 101);
        let mut rank = vec![0; 101];
        for (new, old) in order.iter().enumerate() {
            rank[*old as usize] = new as u32;
        }
        let renamed: Vec<_> = links.iter().map(|l| l.map(|v| rank[v as usize])).collect();
        assert_eq!(bandwidth(renamed.iter().map(<[u32; 2]>::as_slice)), 1);
    }

    #[test]
    fn every_vertex_appears_once_even_without_links() {
        let mut order = cuthill_mckee(&[[4, 2]], 6);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
    }
}
