//! Frames that are kept: what of an engine a simulation has to remember to go on.

use anim_sim::State;
use anim_sim::hair::HairLodState;

use crate::Engine;
use crate::muscle::MuscleState;

/// The state of one thing that is simulated.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    /// A cloth of an actor, or a body.
    Body(State),
    /// A head of hair.
    Hair(HairLodState),
    /// A muscle.
    Muscle(MuscleState),
}

impl Engine {
    /// The states of all that is simulated but particles, for [`step_to`](Self::step_to): cloths, hair and muscles of each
    /// actor, then bodies, in the order of their ids.
    pub fn kept(&self) -> Vec<Kept> {
        let mut all = Vec::new();
        for (_, actor) in self.actors() {
            let cloths = actor.cloths.iter();
            all.extend(cloths.map(|cloth| Kept::Body(cloth.state.clone())));
            let hairs = actor.hairs().iter();
            all.extend(hairs.map(|hair| Kept::Hair(hair.levels().clone())));
            let muscles = actor.muscles().iter();
            all.extend(muscles.map(|muscle| Kept::Muscle(muscle.state())));
        }
        all.extend(
            self.bodies()
                .map(|(_, body)| Kept::Body(body.state().clone())),
        );
        all
    }
}

/// Kept states, taken in the order of [`Engine::kept`].
#[derive(Debug)]
pub(crate) struct Recall<'a>(pub(crate) std::slice::Iter<'a, Kept>);

impl<'a> Recall<'a> {
    /// The next, of a body.
    ///
    /// # Panics
    ///
    /// If it is not of one, as for the other two.
    pub(crate) fn body(&mut self) -> &'a State {
        match self.0.next() {
            Some(Kept::Body(state)) => state,
            other => panic!("{other:?} is not the state of a body"),
        }
    }

    pub(crate) fn hair(&mut self) -> &'a HairLodState {
        match self.0.next() {
            Some(Kept::Hair(state)) => state,
            other => panic!("{other:?} is not the state of hair"),
        }
    }

    pub(crate) fn muscle(&mut self) -> MuscleState {
        match self.0.next() {
            Some(Kept::Muscle(state)) => *state,
            other => panic!("{other:?} is not the state of a muscle"),
        }
    }
}
