//! In which order the particles are moved, and which elements each one feels.
//!
//! Particles of one colour share no element, so they may move at the same time: the order is colour after colour, and
//! inside a colour that of Cuthill and McKee, so that neighbours lie near each other. It depends on the model alone.

use std::ops::Range;

use crate::element::Tether;
use crate::energy::area::AreaSpring;
use crate::energy::flex::QuadraticBend;
use crate::energy::hinge::DihedralSpring;
use crate::energy::membrane::WovenTriangle;
use crate::energy::spring::{Spring, shortest_tethers};
use crate::energy::tet::NeoHookeanTet;
use crate::energy::{Elements, Energy};
use crate::model::{Model, ModelSpec};
use crate::order::cuthill_mckee;

/// The order and the elements of one model; elements name places.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// P.
    pub(super) vertex_of_place: Vec<u32>,
    /// The places of each colour.
    pub(super) colors: Vec<Range<usize>>,
    pub(super) springs: Incidence<Spring, 2>,
    pub(super) flexes: Incidence<QuadraticBend, 4>,
    pub(super) hinges: Incidence<DihedralSpring, 4>,
    pub(super) areas: Incidence<AreaSpring, 3>,
    pub(super) membranes: Incidence<WovenTriangle, 3>,
    pub(super) tets: Incidence<NeoHookeanTet, 4>,
}

impl Plan {
    pub(super) fn new(model: &Model) -> Self {
        let spec = model.spec();
        let count = model.vertex_count();
        let tethers = shortest_tethers(spec, count);
        let pairs = neighbors(spec, &tethers);
        let order = cuthill_mckee(&pairs, count);
        let colors = color(&pairs, &order);
        let mut vertex_of_place = order;
        // Stable: inside a colour the order stays.
        vertex_of_place.sort_by_key(|vertex| colors[*vertex as usize]);
        let mut ranges = Vec::new();
        let mut first = 0;
        for same in vertex_of_place.chunk_by(|a, b| colors[*a as usize] == colors[*b as usize]) {
            ranges.push(first..first + same.len());
            first += same.len();
        }
        let mut place_of_vertex = vec![0; count];
        for (place, vertex) in vertex_of_place.iter().enumerate() {
            place_of_vertex[*vertex as usize] = place as u32;
        }
        let places = &place_of_vertex;

        let elements = Elements::new(spec);
        let tethers = tethers.iter().map(Spring::of_tether);
        let springs = elements.springs.into_iter().chain(tethers);
        Self {
            springs: Incidence::new(springs.collect(), places),
            flexes: Incidence::new(elements.flexes, places),
            hinges: Incidence::new(elements.hinges, places),
            areas: Incidence::new(elements.areas, places),
            membranes: Incidence::new(elements.membranes, places),
            tets: Incidence::new(elements.tets, places),
            vertex_of_place,
            colors: ranges,
        }
    }
}

/// The elements of one kind that each particle feels.
#[derive(Clone, Debug)]
pub(super) struct Incidence<E, const N: usize> {
    pub(super) elements: Vec<E>,
    /// P + 1, into `entries`; empty without elements.
    starts: Vec<u32>,
    /// N · element + corner.
    entries: Vec<u32>,
}

impl<E: Energy<N>, const N: usize> Incidence<E, N> {
    /// Sorts elements whose corners are vertices by the places of those.
    fn new(mut elements: Vec<E>, place_of_vertex: &[u32]) -> Self {
        for element in &mut elements {
            for corner in element.corners_mut() {
                *corner = place_of_vertex[*corner as usize];
            }
        }
        // In the order in which a sweep meets them.
        elements.sort_by_key(|element| element.corners().iter().min().copied());
        if elements.is_empty() {
            return Self {
                elements,
                starts: Vec::new(),
                entries: Vec::new(),
            };
        }
        let corners = elements.iter().flat_map(Energy::corners);
        let mut starts = vec![0u32; place_of_vertex.len() + 1];
        for place in corners.clone() {
            starts[*place as usize + 1] += 1;
        }
        for place in 0..place_of_vertex.len() {
            starts[place + 1] += starts[place];
        }
        let mut next = starts.clone();
        let mut entries = vec![0; elements.len() * N];
        for (entry, place) in corners.enumerate() {
            let slot = &mut next[*place as usize];
            entries[*slot as usize] = entry as u32;
            *slot += 1;
        }
        Self {
            elements,
            starts,
            entries,
        }
    }

    /// Calls `visit(element, corner, index)` for each element that `place` is a corner of.
    #[inline]
    pub(super) fn at(&self, place: usize, mut visit: impl FnMut(&E, usize, usize)) {
        let Some([first, end]) = self.starts.get(place..place + 2) else {
            return;
        };
        for entry in &self.entries[*first as usize..*end as usize] {
            let (index, corner) = (*entry as usize / N, *entry as usize % N);
            visit(&self.elements[index], corner, index);
        }
    }
}

/// The pairs of particles that share an element, each once, sorted.
fn neighbors(spec: &ModelSpec, tethers: &[Tether]) -> Vec<[u32; 2]> {
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    let mut join = |vertices: &[u32]| {
        for (i, a) in vertices.iter().enumerate() {
            for b in &vertices[..i] {
                pairs.push([*a.min(b), *a.max(b)]);
            }
        }
    };
    for link in &spec.links {
        join(&link.vertices);
    }
    for tether in tethers {
        join(&[tether.vertex, tether.anchor]);
    }
    let quads = spec.flexes.iter().map(|f| &f.vertices);
    let quads = quads.chain(spec.hinges.iter().map(|h| &h.vertices));
    for vertices in quads.chain(spec.tets.iter().map(|t| &t.vertices)) {
        join(vertices);
    }
    let triples = spec.areas.iter().map(|a| &a.vertices);
    for vertices in triples.chain(spec.membranes.iter().map(|m| &m.vertices)) {
        join(vertices);
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The colour of each vertex, counted from 0: the first that none of its neighbours has, in the given order.
fn color(pairs: &[[u32; 2]], order: &[u32]) -> Vec<u32> {
    let count = order.len();
    let mut starts = vec![0u32; count + 1];
    for vertex in pairs.iter().flatten() {
        starts[*vertex as usize + 1] += 1;
    }
    for vertex in 0..count {
        starts[vertex + 1] += starts[vertex];
    }
    let mut next = starts.clone();
    let mut adjacent = vec![0u32; pairs.len() * 2];
    for &[a, b] in pairs {
        for (from, to) in [(a, b), (b, a)] {
            adjacent[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
    }
    let mut colors = vec![u32::MAX; count];
    // Which vertex saw a colour at a neighbour last.
    let mut seen: Vec<u32> = Vec::new();
    for &vertex in order {
        let range = starts[vertex as usize] as usize..starts[vertex as usize + 1] as usize;
        for neighbor in &adjacent[range] {
            if let Some(mark) = seen.get_mut(colors[*neighbor as usize] as usize) {
                *mark = vertex;
            }
        }
        let free = seen.iter().position(|mark| *mark != vertex);
        let color = free.unwrap_or(seen.len());
        if color == seen.len() {
            seen.push(u32::MAX);
        }
        colors[vertex as usize] = color as u32;
    }
    colors
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn neighbours_differ_in_colour_and_few_colours_are_used(
            links in prop::collection::vec((0u32..30, 1u32..30), 0..200)
        ) {
            let mut pairs: Vec<_> = links.iter().map(|(a, step)| [*a, (a + step) % 30]).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let order: Vec<u32> = (0..30).map(|i| i * 7 % 30).collect();
            let colors = color(&pairs, &order);
            for [a, b] in &pairs {
                prop_assert_ne!(colors[*a as usize], colors[*b as usize]);
            }
            let degree = |v: u32| pairs.iter().flatten().filter(|x| **x == v).count();
            let most = (0..30).map(degree).max().unwrap_or(0);
            prop_assert!(colors.iter().all(|c| *c as usize <= most));
        }
    }
}
