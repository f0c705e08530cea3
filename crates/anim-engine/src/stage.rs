//! The four stages of a frame, and all but the first as functions of one actor.

use crate::actor::Actor;
use crate::capsule::Posed;
use crate::cloth::Wearer;
use crate::kept::Recall;
use crate::world::Passing;
use crate::{ActorHair, World};

/// What a frame does, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Clips, graphs and live poses are blended into the pose, morph curves into weights; events and root motion.
    Animate,
    /// Forward kinematics, then feet, goals and drivers; actors that hang on others follow those.
    Ik,
    /// Cloth, hair, muscles, bodies and particles, in fixed steps.
    Simulate,
    /// Morph targets, skinning, bulges of muscles; simulated surfaces replace skinned ones, and strands of hair are placed.
    /// Left out for actors that are not [visible](crate::Actor::is_visible).
    Skin,
}

impl Stage {
    /// All four, in order.
    pub const ALL: [Self; 4] = [Self::Animate, Self::Ik, Self::Simulate, Self::Skin];
}

/// The ground is looked for from this far above the plane of the clip, m.
const ABOVE: f32 = 1.0;

/// Forward kinematics, then feet, then goals in order, then drivers.
pub(crate) fn ik(actor: &mut Actor, world: &World, dt: f32) {
    let character = &*actor.character;
    let skeleton = &character.skeleton;
    if !actor.pose.is_finite() {
        actor.pose.copy_from(&actor.last_finite);
        actor.quarantined = true;
    }
    skeleton.globals(&actor.pose, &mut actor.globals);
    if let Some(feet) = &actor.feet {
        feet.solve(
            skeleton,
            &|point| world.ground_below(point, ABOVE),
            &actor.world_from_model,
            &mut actor.pose,
            &mut actor.globals,
            &mut actor.contacts,
        );
    }
    if let Some(model_from_world) = actor.world_from_model.inverse() {
        for (goal, outcome) in actor.goals.iter().zip(&mut actor.outcomes) {
            *outcome = goal.solve(
                skeleton,
                &model_from_world,
                &mut actor.pose,
                &mut actor.globals,
            );
        }
    }
    if actor.pose.is_finite() {
        actor.last_finite.copy_from(&actor.pose);
    } else {
        actor.pose.copy_from(&actor.last_finite);
        actor.quarantined = true;
        skeleton.globals(&actor.pose, &mut actor.globals);
    }
    if !character.drivers.is_empty() {
        actor.drivers.world_from_model = actor.world_from_model;
        character.drivers.evaluate(
            skeleton,
            dt,
            &mut actor.drivers,
            &mut actor.pose,
            &mut actor.globals,
        );
        let outputs = character.drivers.outputs(&actor.drivers);
        for (output, weight) in outputs.iter().zip(&character.output_weights) {
            if let Some(weight) = weight {
                actor.current_weights[*weight] += output;
            }
        }
    }
    let buffers = actor.palettes.iter_mut().zip(&mut actor.deform_scratch);
    for (surface, (palette, scratch)) in character.surfaces.iter().zip(buffers) {
        surface.mesh.palette(&actor.globals, palette);
        surface.deformer.prepare(&surface.mesh, palette, scratch);
    }
}

/// Cloth, hair and muscles: `steps` fixed steps of `step` seconds.
pub(crate) fn simulate(actor: &mut Actor, passing: &Passing<'_>, steps: u32, step: f32) {
    if actor.quarantined {
        return;
    }
    let character = &*actor.character;
    let posed = Posed {
        globals: &actor.globals,
        world_from_model: actor.world_from_model,
    };
    for (cloth, state) in character.cloths.iter().zip(&mut actor.cloths) {
        let body = Wearer {
            mesh: &character.surfaces[cloth.surface].mesh,
            palette: &actor.palettes[cloth.surface],
            posed,
        };
        state.simulate(cloth, &body, passing, steps, step);
        if !state.is_finite() {
            state.roll_back();
            actor.quarantined = true;
        }
    }
    for (hair, state) in character.hairs.iter().zip(&mut actor.hairs) {
        state.simulate(hair, &posed, passing, actor.detail.hair, steps, step);
    }
    let muscles = character.muscles.iter().zip(&mut actor.muscles);
    for (index, (muscle, state)) in muscles.enumerate() {
        let excitation = actor.excitations.get(index).copied().unwrap_or(0.0);
        state.simulate(muscle, posed.globals, excitation, steps, step);
    }
}

/// Puts cloths, hair and muscles into kept states at the end of `steps` steps.
pub(crate) fn recall(
    actor: &mut Actor,
    passing: &Passing<'_>,
    steps: u32,
    states: &mut Recall<'_>,
) {
    let character = &*actor.character;
    let posed = Posed {
        globals: &actor.globals,
        world_from_model: actor.world_from_model,
    };
    for (cloth, state) in character.cloths.iter().zip(&mut actor.cloths) {
        let wearer = Wearer {
            mesh: &character.surfaces[cloth.surface].mesh,
            palette: &actor.palettes[cloth.surface],
            posed,
        };
        state.recall(cloth, &wearer, steps, states.body());
    }
    for (hair, state) in character.hairs.iter().zip(&mut actor.hairs) {
        state.recall(hair, &posed, passing, steps, states.hair());
    }
    for (muscle, state) in character.muscles.iter().zip(&mut actor.muscles) {
        state.recall(muscle, posed.globals, steps, states.muscle());
    }
}

/// Morph targets, then the skin and what muscles lift of it, then tangents; simulated surfaces come from their cloth.
///
/// Nothing of that for actors that are not seen.
pub(crate) fn skin(actor: &mut Actor, dt: f32) {
    if !actor.is_visible {
        actor.hairs.iter_mut().for_each(ActorHair::forget);
        return;
    }
    let character = &*actor.character;
    for (index, surface) in character.surfaces.iter().enumerate() {
        let out = &mut actor.surfaces[index];
        let source = match &mut actor.morphed[index] {
            Some(morphed) => {
                surface
                    .mesh
                    .morph(&actor.current_weights[surface.weights.clone()], morphed);
                &*morphed
            }
            None => surface.mesh.rest(),
        };
        let cloth = character
            .cloths
            .iter()
            .position(|cloth| cloth.surface == index);
        match cloth {
            Some(cloth) => {
                let body = Wearer {
                    mesh: &surface.mesh,
                    palette: &actor.palettes[index],
                    posed: Posed {
                        globals: &actor.globals,
                        world_from_model: actor.world_from_model,
                    },
                };
                let tangents = actor.tangents[index].as_mut();
                actor.cloths[cloth].write(&character.cloths[cloth], &body, out, tangents);
            }
            None => {
                let (palette, scratch) = (&actor.palettes[index], &mut actor.deform_scratch[index]);
                surface
                    .deformer
                    .follow(&surface.mesh, source, palette, scratch, out);
                let mut fleshes = character.fleshes.iter();
                if let Some(flesh) = fleshes.find(|flesh| flesh.surface == index) {
                    let (models, muscles) = (&character.muscles, &actor.muscles);
                    flesh.bulge(models, muscles, &mut actor.flesh_scratch, out);
                }
                if let (Some(model), Some(tangents)) =
                    (&surface.tangents, &mut actor.tangents[index])
                {
                    let weights = &actor.current_weights[surface.weights.clone()];
                    tangents.pose(model, &surface.mesh, weights, palette, out);
                }
            }
        }
    }
    for (hair, state) in character.hairs.iter().zip(&mut actor.hairs) {
        state.place(hair, dt);
    }
}
