//! What can be wrong with a graph.

use thiserror::Error;

/// Why a graph cannot be built; every variant names the node.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GraphError {
    /// A graph without nodes.
    #[error("the graph has no node")]
    Empty,
}
