//! Weights where there are none: the smoothest that go on from the rows around them.

use anim_geom::sparse::Cholesky;
use anim_geom::{Components, Laplacian};

use super::SurfaceGraph;
use super::rows::{Row, RowMixer};
use crate::SkinError;

/// Joints that are filled in at once, for memory's sake.
const BATCH: usize = 16;

/// Rows for the places without one, in parts that have a known row; empty elsewhere, and `None` if there is nothing to do.
pub(crate) fn inpaint(
    graph: &SurfaceGraph,
    known: &[Option<Row>],
    joint_count: usize,
    diagonal: f64,
) -> Result<Option<Vec<Row>>, SkinError> {
    let count = graph.vertex_count();
    let fixed = fixed_rows(graph, known, joint_count);
    let laplacian = Laplacian::intrinsic_delaunay(graph.positions(), graph.triangles())?;
    let parts = Components::new(count, graph.triangles());
    let mut is_anchored = vec![false; parts.count()];
    for place in (0..count).filter(|place| !fixed[*place].is_empty()) {
        if let Some(part) = parts.label(place) {
            is_anchored[part as usize] = true;
        }
    }
    let stiffness = laplacian.diagonal();
    let mut unknown_of = vec![None; count];
    let mut unknown: Vec<usize> = Vec::new();
    for place in 0..count {
        let is_reached = parts
            .label(place)
            .is_some_and(|part| is_anchored[part as usize]);
        if is_reached
            && fixed[place].is_empty()
            && graph.place(place) == place
            && stiffness[place] > 0.0
        {
            unknown_of[place] = Some(unknown.len() as u32);
            unknown.push(place);
        }
    }
    if unknown.is_empty() {
        return Ok(None);
    }
    let bending = Bending::new(&laplacian, diagonal);
    let Ok(factor) = Cholesky::new(unknown.len(), &bending.lower(&unknown_of)) else {
        return Ok(None);
    };
    let mut joints: Vec<u16> = fixed.iter().flatten().map(|(joint, _)| *joint).collect();
    joints.sort_unstable();
    joints.dedup();
    let mut rows: Vec<Row> = vec![Vec::new(); count];
    let (mut values, mut forces) = (vec![0.0; count], vec![0.0; count]);
    for batch in joints.chunks(BATCH) {
        let mut columns = Vec::with_capacity(batch.len() * unknown.len());
        for joint in batch {
            for (value, row) in values.iter_mut().zip(&fixed) {
                *value = row
                    .iter()
                    .find(|(other, _)| other == joint)
                    .map_or(0.0, |(_, w)| *w);
            }
            bending.apply(&values, &mut forces);
            columns.extend(unknown.iter().map(|place| -forces[*place]));
        }
        factor.solve_in_place(&mut columns);
        for (joint, column) in batch.iter().zip(columns.chunks(unknown.len())) {
            for (place, value) in unknown.iter().zip(column) {
                if *value > 0.0 {
                    rows[*place].push((*joint, *value));
                }
            }
        }
    }
    Ok(Some(rows))
}

/// For each place the mean of the rows that its vertices have; empty if none has one.
fn fixed_rows(graph: &SurfaceGraph, known: &[Option<Row>], joint_count: usize) -> Vec<Row> {
    let mut members: Vec<(usize, usize)> = (0..known.len())
        .filter(|vertex| known[*vertex].is_some())
        .map(|vertex| (graph.place(vertex), vertex))
        .collect();
    members.sort_unstable();
    let mut fixed = vec![Vec::new(); known.len()];
    let mut mixer = RowMixer::new(joint_count);
    for shared in members.chunk_by(|a, b| a.0 == b.0) {
        for (_, vertex) in shared {
            let row = known[*vertex].iter().flatten().copied();
            mixer.add(row, 1.0 / shared.len() as f64);
        }
        mixer.take(&mut fixed[shared[0].0]);
    }
    fixed
}

/// Q = L + L M⁻¹ L.
struct Bending<'a> {
    laplacian: &'a Laplacian,
    inverse_mass: Vec<f64>,
}

impl<'a> Bending<'a> {
    fn new(laplacian: &'a Laplacian, diagonal: f64) -> Self {
        let mass = laplacian.mass();
        let mean = mass.iter().sum::<f64>() / mass.len().max(1) as f64;
        // Slivers must not outweigh the whole surface.
        let inverse = |mass: &f64| diagonal * diagonal / mass.max(1e-6 * mean);
        Self {
            laplacian,
            inverse_mass: mass.iter().map(inverse).collect(),
        }
    }

    fn apply(&self, values: &[f64], out: &mut [f64]) {
        let mut curvature = vec![0.0; values.len()];
        self.laplacian.apply(values, &mut curvature);
        for ((curvature, inverse), value) in
            curvature.iter_mut().zip(&self.inverse_mass).zip(values)
        {
            *curvature = value + *curvature * inverse;
        }
        self.laplacian.apply(&curvature, out);
    }

    /// The lower triangle over the places that have a number.
    fn lower(&self, number_of: &[Option<u32>]) -> Vec<(u32, u32, f64)> {
        let mut rows: Vec<Vec<(usize, f64)>> = self
            .laplacian
            .diagonal()
            .into_iter()
            .enumerate()
            .map(|entry| vec![entry])
            .collect();
        for edge in self.laplacian.edges() {
            let [a, b] = edge.ends.map(|end| end as usize);
            rows[a].push((b, -edge.weight));
            rows[b].push((a, -edge.weight));
        }
        let mut lower = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            for (a, first) in row {
                let Some(row_number) = number_of[*a] else {
                    continue;
                };
                if let Some(column) = number_of[place].filter(|column| *column <= row_number) {
                    lower.push((row_number, column, *first));
                }
                for (b, second) in row {
                    if let Some(column) = number_of[*b].filter(|column| *column <= row_number) {
                        lower.push((
                            row_number,
                            column,
                            first * second * self.inverse_mass[place],
                        ));
                    }
                }
            }
        }
        lower
    }
}
