//! What a binding method found on its way to weights.

use serde::Serialize;

/// A connected component of a mesh that no bone reached by the method's own rule, and where it went instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Island {
    /// Which component, counted by its lowest vertex.
    pub component: u32,
    /// The lowest vertex of it, source order.
    pub first_vertex: u32,
    /// How many vertices it has.
    pub vertex_count: u32,
    /// The joint that its vertices follow.
    pub joint: u16,
}

/// What a binding method had to decide; weights are whole in every case.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BindReport {
    /// Connected components of the welded mesh; vertices that no triangle names are not counted.
    pub components: usize,
    /// Components that had to be anchored to their nearest bone, ascending.
    pub islands: Vec<Island>,
    /// Vertices that no triangle names; they follow their nearest bone.
    pub unreferenced: usize,
    /// Joints with a bone that no vertex follows, ascending.
    pub unreachable: Vec<u16>,
    /// The largest share of a row that limiting the number of influences dropped.
    pub dropped_mass_max: f64,
}
