//! Networks of springs that stand for cloth: structural, shear and bending.
//!
//! Structural springs join neighbours and resist stretch. A square of them can still be drawn out to a rhombus, and shear
//! springs, both diagonals of each square, resist that. All of these may lie in a plane and fold along any line; bending springs,
//! which pass over one vertex, resist folds. The network is not the material: a finer mesh of the same springs is another
//! cloth, and the finite elements of [`element::Membrane`](crate::element::Membrane) are what has a modulus.
//!
//! ```
//! use anim_sim::force::Network;
//! use anim_sim::integrate::DVec3;
//!
//! // 2 × 2 squares: 3 × 3 vertices, 12 sides, 8 diagonals, and 6 springs over a vertex.
//! let at = |i: u32| DVec3::new(f64::from(i % 3), 0.0, f64::from(i / 3));
//! let springs = Network::default().grid(2, 2, &(0..9).map(at).collect::<Vec<_>>())?;
//! assert_eq!(springs.len(), 12 + 8 + 6);
//! assert_eq!(springs[25].rest_length, 2.0);
//! # Ok::<(), anim_sim::SimError>(())
//! ```
//!
//! Source: Provot, "Deformation constraints in a mass-spring model to describe rigid cloth behavior", Graphics
//! Interface 1995, section 2.

use serde::{Deserialize, Serialize};

use super::Spring;
use crate::SimError;
use crate::bend::{crossings, edges_and_hinges};
use crate::check::check_vertices;
use crate::integrate::DVec3;

/// How stiff each kind of spring is; a kind of stiffness 0 is left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// N/m, between neighbours.
    pub structural: f64,
    /// N/m, across each square.
    pub shear: f64,
    /// N/m, over one vertex, or over the common edge of two triangles.
    pub bending: f64,
    /// N·s/m, of every spring.
    pub damping: f64,
}

impl Default for Network {
    /// A light cloth at cells of a centimetre or a few.
    fn default() -> Self {
        Self {
            structural: 1000.0,
            shear: 500.0,
            bending: 10.0,
            damping: 0.0,
        }
    }
}

impl Network {
    /// The springs of a sheet of `columns` × `rows` squares: structural ones, then shear, then bending.
    ///
    /// * `positions`: (columns + 1)·(rows + 1), m, row by row as [`anim_geom::primitives::grid`] has them; springs rest where
    ///   these are.
    ///
    /// # Errors
    ///
    /// [`SimError::Count`] if there are more or fewer positions.
    pub fn grid(
        &self,
        columns: u32,
        rows: u32,
        positions: &[DVec3],
    ) -> Result<Vec<Spring>, SimError> {
        let (across, down) = (columns as usize + 1, rows as usize + 1);
        if positions.len() != across * down {
            return Err(SimError::Count {
                what: "vertices of the squares",
                found: across * down,
                vertex_count: positions.len(),
            });
        }
        // From each vertex of the grid to the one (right, down) of it, where there is one. A negative step is to the left.
        let pairs = |right: i64, below: usize| {
            (0..down.saturating_sub(below)).flat_map(move |row| {
                (0..across as i64).filter_map(move |column| {
                    let other = column + right;
                    let vertex = |row, column| (row * across) as u32 + column as u32;
                    (0..across as i64)
                        .contains(&other)
                        .then(|| [vertex(row, column), vertex(row + below, other)])
                })
            })
        };
        Ok(self.springs(
            positions,
            pairs(1, 0).chain(pairs(0, 1)),
            pairs(1, 1).chain(pairs(-1, 1)),
            pairs(2, 0).chain(pairs(0, 2)),
        ))
    }

    /// The springs of any triangles: their edges, and across each common edge of two the far corners.
    ///
    /// There are no shear springs, since triangles keep their angles if they keep their edges.
    ///
    /// * `positions`: P, m; springs rest where these are.
    ///
    /// # Errors
    ///
    /// [`SimError::VertexOutOfRange`] for a triangle.
    pub fn mesh(
        &self,
        positions: &[DVec3],
        triangles: &[[u32; 3]],
    ) -> Result<Vec<Spring>, SimError> {
        for (index, triangle) in triangles.iter().enumerate() {
            check_vertices("triangle", index, triangle, positions.len())?;
        }
        let (edges, hinges) = edges_and_hinges(triangles);
        let crossings = crossings(&hinges);
        let none = std::iter::empty();
        Ok(self.springs(positions, edges.into_iter(), none, crossings.into_iter()))
    }

    fn springs(
        &self,
        positions: &[DVec3],
        structural: impl Iterator<Item = [u32; 2]>,
        shear: impl Iterator<Item = [u32; 2]>,
        bending: impl Iterator<Item = [u32; 2]>,
    ) -> Vec<Spring> {
        let with = |stiffness: f64| move |pair: [u32; 2]| (pair, stiffness);
        structural
            .map(with(self.structural))
            .chain(shear.map(with(self.shear)))
            .chain(bending.map(with(self.bending)))
            .filter(|(_, stiffness)| *stiffness != 0.0)
            .map(|(vertices, stiffness)| {
                let [a, b] = vertices.map(|vertex| positions[vertex as usize]);
                Spring {
                    vertices,
                    rest_length: (b - a).norm(),
                    stiffness,
                    damping: self.damping,
                }
            })
            .collect()
    }
}
