//! Sheets: the parts of a mesh that its triangles and seams hold together, and which of several at one place is meant.
//!
//! Two sheets may lie in one place and face the same way, as a decal on a wall or a lining in a sleeve do; nothing near a
//! point tells them apart then, and the rest of its sheet has to.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anim_geom::{Components, Mesh, topology};

/// Layers that sheets are kept apart in; more of them in one place share the last.
const MOST_LAYERS: u8 = 8;

/// The sheet of each vertex of a mesh.
#[derive(Debug)]
pub(crate) struct Sheets {
    parts: Components,
    /// For each sheet its layer; sheets that share a place are in different ones.
    layers: Vec<u8>,
}

impl Sheets {
    /// Joins what shares a vertex, and the two sides of a seam: open edges at one place that run in opposite directions, the
    /// first of one direction with the first of the other. O((V + F) log V).
    pub(crate) fn new(mesh: &Mesh) -> Self {
        let welded = topology::weld(&mesh.rest.positions);
        let mut joined = mesh.triangles.clone();
        joined.extend(seams(mesh, &welded));
        let parts = Components::new(mesh.vertex_count(), &joined);
        let layers = layers(&parts, &welded);
        Self { parts, layers }
    }

    /// The sheet of `vertex`; `None` if no triangle names it.
    pub(crate) fn of(&self, vertex: u32) -> Option<u32> {
        self.parts.label(vertex as usize)
    }

    /// The layer of `vertex`.
    pub(crate) fn layer(&self, vertex: u32) -> usize {
        self.of(vertex)
            .map_or(0, |sheet| usize::from(self.layers[sheet as usize]))
    }

    /// Which of its `candidates`, sheets of another mesh that are equally near, each vertex belongs to, as a place in the list.
    ///
    /// The one that is near the most vertices of its sheet; of equals the one that fewer sheets before it went to, so that
    /// two sheets in one place go to two; then the lowest. Sheets that the first rule decides go before the others.
    pub(crate) fn choose(&self, candidates: &[Vec<u32>]) -> Vec<usize> {
        let mut votes: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let mut tied: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (vertex, candidates) in candidates.iter().enumerate() {
            let Some(sheet) = self.of(vertex as u32) else {
                continue;
            };
            for candidate in candidates {
                *votes.entry((sheet, *candidate)).or_default() += 1;
            }
            if candidates.len() > 1 {
                tied.entry(sheet).or_default().push(vertex);
            }
        }
        let is_open = |sheet: u32, vertices: &[usize]| {
            vertices.iter().any(|vertex| {
                let counts = candidates[*vertex].iter().map(|c| votes[&(sheet, *c)]);
                let most = counts.clone().max();
                counts.filter(|count| Some(*count) == most).count() > 1
            })
        };
        let mut order: Vec<(bool, u32, &Vec<usize>)> = tied
            .iter()
            .map(|(sheet, vertices)| (is_open(*sheet, vertices), *sheet, vertices))
            .collect();
        order.sort_unstable();
        let mut taken: BTreeMap<u32, usize> = BTreeMap::new();
        let mut choice = vec![0; candidates.len()];
        for (_, sheet, vertices) in order {
            let mut chosen = BTreeSet::new();
            for vertex in vertices {
                let rank = |candidate: u32| {
                    let times = taken.get(&candidate).copied().unwrap_or(0);
                    (Reverse(votes[&(sheet, candidate)]), times, candidate)
                };
                let best = candidates[*vertex].iter().enumerate();
                if let Some((place, candidate)) = best.min_by_key(|(_, c)| rank(**c)) {
                    choice[*vertex] = place;
                    chosen.insert(*candidate);
                }
            }
            for candidate in chosen {
                *taken.entry(candidate).or_default() += 1;
            }
        }
        choice
    }
}

/// The two sides of each seam, as triangles without an area that hold them together.
fn seams(mesh: &Mesh, welded: &[u32]) -> Vec<[u32; 3]> {
    let sides = topology::half_edges(&mesh.triangles);
    let alone = sides.chunk_by(|a, b| a.ends == b.ends).filter_map(|same| {
        let [side] = same else { return None };
        let [low, high] = side.ends;
        let from = if side.forward { low } else { high };
        let [a, b] = [from, low + high - from].map(|vertex| welded[vertex as usize]);
        (a != b).then_some(([a.min(b), a.max(b)], from, a < b))
    });
    let mut open: Vec<([u32; 2], u32, bool)> = alone.collect();
    open.sort_unstable();
    let mut seams = Vec::new();
    for at_one_place in open.chunk_by(|a, b| a.0 == b.0) {
        let running = |forward| at_one_place.iter().filter(move |side| side.2 == forward);
        let pairs = running(true).zip(running(false));
        seams.extend(pairs.map(|((_, a, _), (_, b, _))| [*a, *b, *b]));
    }
    seams
}

/// The lowest layer for each sheet that no earlier sheet at one of its places has.
fn layers(parts: &Components, welded: &[u32]) -> Vec<u8> {
    let mut at_place: Vec<(u32, u32)> = parts
        .labels()
        .iter()
        .zip(welded)
        .filter_map(|(sheet, place)| Some((*place, (*sheet)?)))
        .collect();
    at_place.sort_unstable();
    at_place.dedup();
    let mut earlier: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); parts.count()];
    for sheets in at_place.chunk_by(|a, b| a.0 == b.0) {
        for (index, (_, sheet)) in sheets.iter().enumerate() {
            earlier[*sheet as usize].extend(sheets[..index].iter().map(|(_, other)| other));
        }
    }
    let mut layers: Vec<u8> = Vec::with_capacity(parts.count());
    for earlier in earlier {
        let used: BTreeSet<u8> = earlier.iter().map(|e| layers[*e as usize]).collect();
        let free = (0..MOST_LAYERS).find(|layer| !used.contains(layer));
        layers.push(free.unwrap_or(MOST_LAYERS - 1));
    }
    layers
}

#[cfg(test)]
mod tests {
    use anim_geom::primitives;

    use super::*;

    #[test]
    fn seams_hold_together_and_copies_in_one_place_do_not() {
        // A tube has a seam along its length, a box one at each edge.
        for mesh in [
            primitives::tube(0.3, 1.0, 8, 3),
            primitives::cuboid(anim_math::Vec3::repeat(0.5)),
        ] {
            assert_eq!(Sheets::new(&mesh).parts.count(), 1);
            let count = mesh.vertex_count() as u32;
            let mut twice = mesh.clone();
            twice.rest.positions.extend(&mesh.rest.positions);
            twice.rest.normals.extend(&mesh.rest.normals);
            twice.uvs.clear();
            let again = mesh.triangles.iter().map(|t| t.map(|v| v + count));
            twice.triangles.extend(again);
            let sheets = Sheets::new(&twice);
            assert_eq!(sheets.parts.count(), 2);
            for vertex in 0..count {
                assert_eq!((sheets.of(vertex), sheets.layer(vertex)), (Some(0), 0));
                let copy = vertex + count;
                assert_eq!((sheets.of(copy), sheets.layer(copy)), (Some(1), 1));
            }
        }
    }
}
