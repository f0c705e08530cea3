//! What can be wrong with skin data.

use thiserror::Error;

/// Why data do not make a skin; every variant names the element.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SkinError {
    /// A skin without joints moves nothing.
    #[error("the skin has no joints")]
    NoJoints,
    /// Bind matrices and joints differ in number.
    #[error("{found} bind matrices for {joint_count} joints")]
    BindCount {
        /// Number of bind matrices.
        found: usize,
        /// Length of the skin's joint list.
        joint_count: usize,
    },
    /// Per-vertex arrays differ in length.
    #[error("{what}: {found} for {vertex_count} vertices")]
    Count {
        /// Which array.
        what: &'static str,
        /// Its length in vertices.
        found: usize,
        /// Number of vertices.
        vertex_count: usize,
    },
    /// A vertex names a joint that the skin does not have.
    #[error("vertex {vertex}: joint {joint} of {joint_count} does not exist")]
    NoJoint {
        /// Index of the vertex.
        vertex: usize,
        /// The place in the skin's joint list that it names.
        joint: usize,
        /// Length of the skin's joint list.
        joint_count: usize,
    },
    /// A morph target's arrays differ in length.
    #[error("morph target {target}: {found} {what} for {expected} vertices")]
    TargetCount {
        /// Index of the target.
        target: usize,
        /// Which array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// How many vertices the target lists.
        expected: usize,
    },
    /// A morph target moves a vertex that the mesh does not have.
    #[error("morph target {target}: vertex {vertex} of {vertex_count} does not exist")]
    NoVertex {
        /// Index of the target.
        target: usize,
        /// The vertex it names.
        vertex: u32,
        /// Number of vertices.
        vertex_count: usize,
    },
    /// A position, normal, weight, bind matrix or morph delta is NaN or infinite.
    #[error("{what} {index}: not finite")]
    NotFinite {
        /// Which array.
        what: &'static str,
        /// Index of the element.
        index: usize,
    },
    /// A weight is negative, NaN or infinite.
    #[error("vertex {vertex}: the weight of joint {joint} is no weight")]
    BadWeight {
        /// Index of the vertex.
        vertex: usize,
        /// Place in the skin's joint list.
        joint: usize,
    },
    /// A vertex follows no joint.
    #[error("vertex {vertex}: no weight is above zero")]
    EmptyRow {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A bone names a joint that the skin does not have.
    #[error("bone {bone}: joint {joint} of {joint_count} does not exist")]
    NoBoneJoint {
        /// Index of the bone.
        bone: usize,
        /// The place in the skin's joint list that it names.
        joint: usize,
        /// Length of the skin's joint list.
        joint_count: usize,
    },
    /// The mesh itself is wrong.
    #[error(transparent)]
    Mesh(#[from] anim_geom::GeomError),
    /// A shape, control or rule of a face is wrong.
    #[error("shape {shape}: {what}")]
    BadShape {
        /// Index of the shape or rule.
        shape: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A rule names a shape or control that does not exist.
    #[error("no shape or control is called '{name}'")]
    UnknownShape {
        /// The name.
        name: String,
    },
    /// A recording of weights cannot be read.
    #[error("line {line}, column {column}: {what}")]
    Csv {
        /// Line, counted from 1.
        line: usize,
        /// Cell, counted from 1.
        column: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// Frames of weights make no curves.
    #[error(transparent)]
    Curve(#[from] anim_curves::CurveError),
    /// A marker on a face is wrong.
    #[error("marker {marker}: {what}")]
    BadMarker {
        /// Index of the marker.
        marker: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// An option makes no sense.
    #[error("{what}")]
    BadOption {
        /// Which, and why.
        what: &'static str,
    },
}
