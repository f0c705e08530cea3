//! Why something cannot be simulated.

use thiserror::Error;

/// Why data do not make a model; every variant names the element.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SimError {
    /// There are no vertices.
    #[error("no vertices")]
    Empty,
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
    /// An element names a vertex that is not there.
    #[error("{what} {index}: vertex {vertex} of {vertex_count} does not exist")]
    VertexOutOfRange {
        /// The kind of element: triangle, link, tether or pin.
        what: &'static str,
        /// Index of the element.
        index: usize,
        /// The vertex it names.
        vertex: u32,
        /// Number of vertices.
        vertex_count: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex}: not finite")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
    },
    /// An element's quantity is NaN or outside its range.
    #[error("{what} {index}: {value} is out of range")]
    OutOfRange {
        /// The quantity.
        what: &'static str,
        /// Index of the element that has it; 0 where there is only one.
        index: usize,
        /// What it was.
        value: f32,
    },
    /// A link joins a vertex to itself.
    #[error("link {link}: joins vertex {vertex} to itself")]
    SelfLink {
        /// Index of the link.
        link: usize,
        /// The vertex.
        vertex: u32,
    },
    /// A tether hangs from a vertex that can move.
    #[error("tether {tether}: its anchor, vertex {anchor}, is not pinned")]
    FreeAnchor {
        /// Index of the tether.
        tether: usize,
        /// The vertex.
        anchor: u32,
    },
    /// An element other than a link names a vertex twice.
    #[error("{what} {index}: names vertex {vertex} twice")]
    Repeated {
        /// The kind of element.
        what: &'static str,
        /// Index of the element.
        index: usize,
        /// The vertex.
        vertex: u32,
    },
    /// An element has no volume or area at rest, or is inside out.
    #[error("{what} {index}: flat or inside out at rest")]
    Inverted {
        /// The kind of element.
        what: &'static str,
        /// Index of the element.
        index: usize,
    },
    /// An element names something other than a vertex that is not there.
    #[error("{what} {index}: {missing} {found} does not exist")]
    Missing {
        /// The kind of element.
        what: &'static str,
        /// Index of the element.
        index: usize,
        /// What it names.
        missing: &'static str,
        /// The index it gives.
        found: u32,
    },
    /// A value that nothing determines: a part of a body that is held nowhere.
    #[error("a part of the body is held nowhere, so that nothing determines its state")]
    Undetermined,
}
