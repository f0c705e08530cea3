//! Repairs of single vertices: rows taken from the neighbours, or shared by a selection.
//!
//! A vertex that flies off when a joint turns has a wrong row while its neighbours have right ones; [`hammer`] fits it in.
//! [`average`] makes a selection (buttons, buckles) move as one.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_skin::weights::{SkinWeights, SurfaceGraph, hammer};
//!
//! let graph = SurfaceGraph::new(&primitives::grid(2, 2, 1.0))?;
//! let wrong = SkinWeights::from_rows(2, (0..9).map(|vertex| [(u16::from(vertex == 4), 1.0)]))?;
//! assert_eq!(hammer::hammer(&wrong, &graph, &[4])?.weight(4, 0), 1.0);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use super::rows::{Row, RowMixer};
use super::{SkinWeights, SurfaceGraph};
use crate::SkinError;

/// Gives each of `vertices` the mean of its neighbours' rows.
///
/// Neighbours among `vertices` do not count until they are repaired themselves: from the border inwards, a ring at a time.
/// Vertices from which no way leads out of the selection keep their rows. O(E k).
///
/// # Errors
///
/// [`SkinError::Count`] if weights and mesh differ in their number of vertices, [`SkinError::NoElement`] for a vertex that
/// does not exist.
pub fn hammer(
    weights: &SkinWeights,
    graph: &SurfaceGraph,
    vertices: &[u32],
) -> Result<SkinWeights, SkinError> {
    weights.check_vertices(graph.vertex_count())?;
    check_selection(vertices, graph.vertex_count())?;
    // By place, so that all vertices of a seam get one row.
    let mut is_pending = vec![false; graph.vertex_count()];
    for vertex in vertices {
        is_pending[graph.place(*vertex as usize)] = true;
    }
    let mut ring: Vec<usize> = (0..graph.vertex_count())
        .filter(|place| is_pending[*place])
        .collect();
    let mut repaired: Vec<Option<Row>> = vec![None; graph.vertex_count()];
    let mut mixer = RowMixer::new(weights.joint_count());
    while !ring.is_empty() {
        let before = ring.len();
        let mut done = Vec::new();
        for place in &ring {
            let settled = graph
                .neighbors(*place)
                .iter()
                .map(|n| *n as usize)
                .filter(|n| !is_pending[*n]);
            let count = settled.clone().count();
            if count == 0 {
                continue;
            }
            for neighbor in settled {
                match &repaired[neighbor] {
                    Some(row) => mixer.add(row.iter().copied(), 1.0 / count as f64),
                    None => mixer.add(weights.row(neighbor), 1.0 / count as f64),
                }
            }
            let mut row = Vec::new();
            mixer.take(&mut row);
            done.push((*place, row));
        }
        for (place, row) in done {
            is_pending[place] = false;
            repaired[place] = Some(row);
        }
        ring.retain(|place| is_pending[*place]);
        if ring.len() == before {
            break;
        }
    }
    weights.edit_rows(|vertex, row| match &repaired[graph.place(vertex)] {
        Some(mean) => {
            row.clone_from(mean);
            true
        }
        None => false,
    })
}

/// Gives all of `vertices` the mean of their rows; no vertices change nothing.
///
/// # Errors
///
/// [`SkinError::NoElement`] for a vertex that does not exist.
pub fn average(weights: &SkinWeights, vertices: &[u32]) -> Result<SkinWeights, SkinError> {
    check_selection(vertices, weights.vertex_count())?;
    let mut is_chosen = vec![false; weights.vertex_count()];
    let mut mixer = RowMixer::new(weights.joint_count());
    for vertex in vertices {
        if !std::mem::replace(&mut is_chosen[*vertex as usize], true) {
            mixer.add(weights.row(*vertex as usize), 1.0);
        }
    }
    let mut mean = Vec::new();
    mixer.take(&mut mean);
    weights.edit_rows(|vertex, row| {
        if is_chosen[vertex] {
            row.clone_from(&mean);
        }
        is_chosen[vertex]
    })
}

/// That all of `vertices` exist.
fn check_selection(vertices: &[u32], count: usize) -> Result<(), SkinError> {
    match vertices.iter().find(|vertex| **vertex as usize >= count) {
        None => Ok(()),
        Some(vertex) => Err(SkinError::NoElement {
            what: "vertex",
            index: *vertex as usize,
            count,
        }),
    }
}

#[cfg(test)]
mod tests {
    use anim_geom::primitives;

    use super::*;

    #[test]
    fn a_selection_is_filled_from_its_border() {
        let graph = SurfaceGraph::new(&primitives::grid(6, 6, 1.0)).unwrap();
        let inner: Vec<u32> = (0..49)
            .filter(|v| (1..6).contains(&(v % 7)) && (1..6).contains(&(v / 7)))
            .collect();
        let rows = (0..49).map(|v| [(u16::from(inner.contains(&v)), 1.0)]);
        let weights = SkinWeights::from_rows(2, rows).unwrap();
        let out = hammer(&weights, &graph, &inner).unwrap();
        assert!((0..49).all(|vertex| out.row(vertex).eq([(0, 1.0)])));
        let all: Vec<u32> = (0..49).collect();
        assert_eq!(hammer(&weights, &graph, &all).unwrap(), weights);
    }

    #[test]
    fn an_average_is_shared_and_the_rest_untouched() {
        let weights = SkinWeights::from_rows(
            3,
            [vec![(0, 1.0)], vec![(1, 0.3), (2, 0.6)], vec![(2, 1.0)]],
        )
        .unwrap();
        let out = average(&weights, &[0, 2, 0]).unwrap();
        assert!(out.row(0).eq([(0, 0.5), (2, 0.5)]) && out.row(2).eq(out.row(0)));
        assert!(out.row(1).eq(weights.row(1)));
        assert!(matches!(
            average(&weights, &[3]),
            Err(SkinError::NoElement { index: 3, .. })
        ));
    }
}
