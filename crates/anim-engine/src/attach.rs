//! Actors that hang on other actors: a sword in a hand, a rider on a horse.
//!
//! An attached actor is placed when the one that carries it has been through inverse kinematics and drivers, so it is where
//! the socket is in the same frame, through chains of any length.

use crate::engine::{ActorId, Slots, each};
use crate::{Actor, Engine, EngineError};

/// What an actor hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    pub(crate) carrier: ActorId,
    pub(crate) socket: usize,
}

impl Engine {
    /// Hangs an actor on a socket, at its place in [`Character::sockets`](crate::Character::sockets), of another.
    ///
    /// From now on [`Actor::placement`] is seen from the socket; it is set to the identity. What it hung on before is let go.
    ///
    /// # Errors
    ///
    /// [`EngineError::Attachment`] if there is no such actor or socket, or the carrier hangs on what it is to carry.
    pub fn attach(
        &mut self,
        actor: ActorId,
        carrier: ActorId,
        socket: usize,
    ) -> Result<(), EngineError> {
        let refuse = |problem| Err(EngineError::Attachment { problem });
        if self.actor(actor).is_none() {
            return refuse("there is no such actor");
        }
        let Some(model) = self.actor(carrier) else {
            return refuse("there is no such carrier");
        };
        if socket >= model.character.sockets.len() {
            return refuse("the carrier has no such socket");
        }
        let mut above = Some(carrier);
        while let Some(id) = above {
            if id == actor {
                return refuse("the carrier hangs on the actor itself");
            }
            above = self.carrier(id);
        }
        if let Some(actor) = self.actor_mut(actor) {
            actor.placement = anim_math::Affine::IDENTITY;
            actor.attached_to = Some(Attachment { carrier, socket });
        }
        self.sort_attachments();
        Ok(())
    }

    /// Lets an actor go; it stays where it is in the world.
    pub fn detach(&mut self, actor: ActorId) {
        if let Some(actor) = self.actor_mut(actor).filter(|a| a.attached_to.is_some()) {
            actor.attached_to = None;
            actor.placement = actor.world_from_model;
        }
        self.sort_attachments();
    }

    /// The actor and socket that an actor hangs on.
    pub fn attached_to(&self, actor: ActorId) -> Option<(ActorId, usize)> {
        let to = self.actor(actor)?.attached_to?;
        Some((to.carrier, to.socket))
    }

    /// Lets go of all that hang on an actor.
    pub(crate) fn drop_all_from(&mut self, carrier: ActorId) {
        for index in 0..self.actors.len() {
            let id = ActorId(index as u32);
            if self.carrier(id) == Some(carrier) {
                self.detach(id);
            }
        }
    }

    fn carrier(&self, actor: ActorId) -> Option<ActorId> {
        Some(self.actor(actor)?.attached_to?.carrier)
    }

    /// Counts for each actor those it hangs on, one on the other.
    fn sort_attachments(&mut self) {
        self.deepest = 0;
        for index in 0..self.actors.len() {
            let id = ActorId(index as u32);
            let above = std::iter::successors(self.carrier(id), |id| self.carrier(*id));
            let depth = above.count();
            self.deepest = self.deepest.max(depth);
            if let Some(actor) = self.actor_mut(id) {
                actor.depth = depth;
            }
        }
    }
}

/// Does `work` on every actor, carriers before what they carry, which is put into its place first.
pub(crate) fn each_after_its_carrier(
    actors: &mut Slots,
    deepest: usize,
    parallel: bool,
    work: impl Fn(&mut Actor) + Sync,
) {
    for depth in 0..=deepest {
        if depth > 0 {
            place(actors, depth);
        }
        each(actors, parallel, |actor| {
            if actor.depth == depth {
                work(actor);
            }
        });
    }
}

/// Moves the actors at `depth` to the sockets they hang on.
fn place(actors: &mut Slots, depth: usize) {
    for index in 0..actors.len() {
        let attachment = actors[index]
            .as_deref()
            .filter(|actor| actor.depth == depth)
            .and_then(|actor| actor.attached_to);
        let Some(Attachment { carrier, socket }) = attachment else {
            continue;
        };
        let carrier = actors.get(carrier.0 as usize).and_then(Option::as_deref);
        let world_from_socket = carrier.map(|carrier| carrier.world_from_socket(socket));
        if let (Some(world_from_socket), Some(actor)) = (world_from_socket, &mut actors[index]) {
            actor.world_from_model = world_from_socket * actor.placement;
        }
    }
}
