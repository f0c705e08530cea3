//! Sockets: named places on a character where things are held or hung.

use anim_math::Affine;
use anim_skeleton::JointId;

use crate::{Actor, Character, EngineError};

/// A named place that moves with a joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Socket {
    /// Unique in its character.
    pub name: String,
    /// What it moves with.
    pub joint: JointId,
    /// Where it is, seen from the joint.
    pub joint_from_socket: Affine,
}

impl Character {
    /// Adds sockets.
    ///
    /// # Errors
    ///
    /// [`EngineError::Socket`] if a name is taken, a joint is another skeleton's or a place is not finite.
    pub fn with_sockets(
        mut self,
        sockets: impl IntoIterator<Item = Socket>,
    ) -> Result<Self, EngineError> {
        for socket in sockets {
            let problem = if self.sockets.iter().any(|other| other.name == socket.name) {
                Some("is there already")
            } else if socket.joint.index() >= self.skeleton.len() {
                Some("is at a joint of another skeleton")
            } else if !socket.joint_from_socket.is_finite() {
                Some("is not at a finite place")
            } else {
                None
            };
            if let Some(problem) = problem {
                let name = socket.name;
                return Err(EngineError::Socket { name, problem });
            }
            self.sockets.push(socket);
        }
        Ok(self)
    }

    /// All sockets.
    pub fn sockets(&self) -> &[Socket] {
        &self.sockets
    }

    /// The place of the socket of that name.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`] lists the sockets there are.
    pub fn socket_named(&self, name: &str) -> Result<usize, EngineError> {
        let names = || self.sockets.iter().map(|socket| socket.name.as_str());
        names()
            .position(|other| other == name)
            .ok_or_else(|| EngineError::unknown("socket", name, names()))
    }
}

impl Actor {
    /// Where a socket, at its place in [`Character::sockets`], is in the world; after [`Stage::Ik`](crate::Stage::Ik) that
    /// of this frame.
    ///
    /// # Panics
    ///
    /// If the character has no such socket.
    pub fn world_from_socket(&self, socket: usize) -> Affine {
        let socket = &self.character.sockets[socket];
        self.world_from_joint(socket.joint) * socket.joint_from_socket
    }
}
