//! What can be wrong with a mesh.

use thiserror::Error;

/// Why data do not make a mesh or a shape; every variant names the element.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GeomError {
    /// A triangle names a vertex that is not there.
    #[error("triangle {triangle}: vertex {vertex} of {vertex_count} does not exist")]
    VertexOutOfRange {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// Number of vertices.
        vertex_count: usize,
    },
    /// Per-vertex arrays differ in length.
    #[error("{what}: {found} for {vertex_count} vertices")]
    Count {
        /// Which array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Number of vertices.
        vertex_count: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex}: not finite")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A coordinate is so large that products of it are not finite.
    #[error("vertex {vertex}: too far from the origin")]
    TooFar {
        /// Index of the vertex.
        vertex: usize,
    },
    /// Nothing to build from.
    #[error("{0}: empty")]
    Empty(&'static str),
    /// A matrix that has to be positive definite is not: a part of it hangs on nothing, or a value is not finite.
    #[error("the system is not positive definite")]
    NotPositiveDefinite,
    /// A grid of so many cells would not fit in memory.
    #[error("{size:?} cells are more than a grid may have")]
    TooManyCells {
        /// Cells along x, y and z.
        size: [u64; 3],
    },
    /// So many things are close to each other that a list of them would not fit in memory.
    #[error("{count} pairs so far, more than the {limit} allowed")]
    TooManyPairs {
        /// Pairs found before the search was given up.
        count: usize,
        /// The most that the caller allows.
        limit: usize,
    },
    /// A quantity is NaN or outside its range.
    #[error("{what}: {value} is out of range")]
    OutOfRange {
        /// The quantity.
        what: &'static str,
        /// What it was.
        value: f32,
    },
}
