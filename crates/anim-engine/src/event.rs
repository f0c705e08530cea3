//! What an actor met in a frame.

/// Events of one frame that an actor reports, at most; what is met beyond is counted by
/// [`Actor::lost_events`](crate::Actor::lost_events).
pub const MOST_EVENTS: usize = 128;

/// An event that a clip of an actor met in the last frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActorEvent<'a> {
    /// What happens.
    pub name: &'a str,
    /// Place of its clip in [`Character::clips`](crate::Character::clips).
    pub clip: usize,
    /// Its place in the clip's events.
    pub index: usize,
    /// The layer that met it.
    pub layer: usize,
    /// What the clip has of the pose, above 0; a masked layer's is that of its strongest joint.
    pub weight: f32,
    /// True if the clip runs backwards.
    pub backward: bool,
}

/// An event as an actor keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Met {
    pub(crate) clip: usize,
    pub(crate) index: usize,
    pub(crate) layer: usize,
    pub(crate) weight: f32,
    pub(crate) backward: bool,
}
