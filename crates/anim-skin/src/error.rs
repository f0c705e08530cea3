//! What can be wrong with skin data.

use thiserror::Error;

/// Why data do not make a skin; every variant names the element.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SkinError {
    /// A skin without joints moves nothing.
    #[error("the skin has no joints")]
    NoJoints,
    /// More joints than 16 bits can name.
    #[error("{joint_count} joints, and at most 65536 can be named")]
    TooManyJoints {
        /// Length of the joint list.
        joint_count: usize,
    },
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
    /// Displacements of tangents are not one list a morph target.
    #[error("tangents: {found} targets, and the mesh has {expected}")]
    TangentTargets {
        /// Their number.
        found: usize,
        /// Number of morph targets.
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
    /// A vertex is to follow a deformer by less than nothing or more than wholly.
    #[error("vertex {vertex}: the share is not in [0, 1]")]
    NoShare {
        /// Index of the vertex, source order.
        vertex: usize,
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
    /// An option of a binding method is not a positive finite number, or not in its range.
    #[error("{option}: not a positive number in its range")]
    BadOption {
        /// Its name.
        option: &'static str,
    },
    /// Raw weights to quantise are all zero.
    #[error("no weight is above zero")]
    NothingToShare,
    /// An edit names a joint that the weights do not have.
    #[error("joint {joint} of {joint_count} does not exist")]
    NoSuchJoint {
        /// The place in the skin's joint list that it names.
        joint: usize,
        /// Length of the skin's joint list.
        joint_count: usize,
    },
    /// An edit names a vertex or triangle that the mesh does not have.
    #[error("{what} {index} of {count} does not exist")]
    NoElement {
        /// Vertex or triangle.
        what: &'static str,
        /// What it names.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A plane or axis of an edit has no direction.
    #[error("the {0} has no direction")]
    NoDirection(&'static str),
    /// A joint is to be mirrored onto two others.
    #[error("joint {joint}: paired twice")]
    PairedTwice {
        /// Place in the skin's joint list.
        joint: usize,
    },
    /// A fit to frames or example poses without any.
    #[error("no frames to fit to")]
    NoFrames,
    /// A frame's or example pose's array has the wrong length.
    #[error("frame {frame}: {found} {what}, not {expected}")]
    FrameCount {
        /// Index of the frame.
        frame: usize,
        /// Which array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that fits the rest.
        expected: usize,
    },
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
    /// A pose, or the joint weights that come after the poses, has not one rotation or matrix a joint.
    #[error("pose {pose}: {found} entries for {joint_count} joints")]
    PoseCount {
        /// Index of the pose; the number of poses for the joint weights.
        pose: usize,
        /// Its length.
        found: usize,
        /// Number of joints.
        joint_count: usize,
    },
    /// Two poses are the same, so that no weights can tell them apart.
    #[error("pose {pose} is the same as {}", other_pose(*other))]
    SamePose {
        /// Index of the later pose.
        pose: usize,
        /// Index of the earlier one; `None` is the rest pose.
        other: Option<usize>,
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
    /// An option of a face solver makes no sense.
    #[error("{what}")]
    WrongOption {
        /// Which, and why.
        what: &'static str,
    },
}

fn other_pose(other: Option<usize>) -> String {
    other.map_or_else(|| "the rest pose".to_owned(), |pose| format!("pose {pose}"))
}
