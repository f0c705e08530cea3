//! The four stages of a frame, each a function of one actor.

use anim_math::{Affine, Vec3};
use anim_skeleton::{Layer, Mode, Passage, Wrap, blend};

use crate::actor::{Actor, LayerSource, MAX_LAYERS};
use crate::cloth::Body;
use crate::{Character, World};

/// What a frame does, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Clips and live poses are sampled and blended into the pose; morph curves into weights.
    Animate,
    /// Forward kinematics, then feet and goals.
    Ik,
    /// Cloth and particles, in fixed steps.
    Simulate,
    /// Morph targets, palettes, skinning; simulated surfaces replace skinned ones.
    Skin,
}

impl Stage {
    /// All four, in order.
    pub const ALL: [Self; 4] = [Self::Animate, Self::Ik, Self::Simulate, Self::Skin];
}

/// Advances the layers by `dt` seconds and blends them.
pub(crate) fn animate(actor: &mut Actor, dt: f32) {
    actor.fit_buffers();
    let character = &*actor.character;
    let skeleton = &character.skeleton;
    for (layer, pose) in actor.layers.iter_mut().zip(&mut actor.layer_poses) {
        match &mut layer.source {
            LayerSource::Clip {
                clip,
                time,
                speed,
                wrap,
            } => {
                let Some(entry) = character.clips.get(*clip) else {
                    pose.copy_from(skeleton.rest());
                    continue;
                };
                if dt.is_finite() && speed.is_finite() {
                    *time += f64::from(dt) * f64::from(*speed);
                }
                let at = wrap.apply(*time, entry.clip.duration());
                entry.clip.sample(at, pose);
            }
            LayerSource::Live(live) if live.len() == pose.len() => pose.copy_from(live),
            LayerSource::Live(_) => pose.copy_from(skeleton.rest()),
        }
    }
    mix(actor);
    mix_weights(actor);
    actor.world_from_model = actor.placement;
    travel(actor);
}

/// Blends the layers' poses into the actor's.
fn mix(actor: &mut Actor) {
    let rest = actor.character.skeleton.rest();
    let count = actor.layers.len().min(MAX_LAYERS);
    match actor.layers.as_slice() {
        [] => actor.pose.copy_from(rest),
        [only] if only.weight == 1.0 => actor.pose.copy_from(&actor.layer_poses[0]),
        _ => {
            let empty = Layer {
                pose: rest,
                weight: 0.0,
                mask: None,
                mode: Mode::Override,
            };
            let mut layers = [empty; MAX_LAYERS];
            for (slot, (layer, pose)) in layers
                .iter_mut()
                .zip(actor.layers.iter().zip(&actor.layer_poses))
            {
                slot.pose = pose;
                slot.weight = layer.weight;
            }
            blend(rest, &layers[..count], &mut actor.pose);
        }
    }
}

/// Mixes the morph weights of the layers by the shares that their poses have; the actor's own weights are those of the
/// rest pose and of layers that have no curve.
fn mix_weights(actor: &mut Actor) {
    let Actor {
        layers,
        character,
        morph_weights,
        current_weights,
        sampled_weights,
        ..
    } = actor;
    let own = |(weight, rest): (usize, &f32)| match morph_weights.get(weight) {
        Some(weight) if weight.is_finite() => *weight,
        _ => *rest,
    };
    let own = || character.rest_weights.iter().enumerate().map(own);
    let layers = layers.iter().take(MAX_LAYERS);
    let layers = layers.filter(|layer| layer.weight > 0.0 && layer.weight.is_finite());
    // In f64, where no sum of them is infinite.
    let total: f64 = layers.clone().map(|layer| f64::from(layer.weight)).sum();
    let rest_share = (1.0 - total).max(0.0) as f32;
    for (now, own) in current_weights.iter_mut().zip(own()) {
        *now = own * rest_share;
    }
    for layer in layers {
        for (sampled, own) in sampled_weights.iter_mut().zip(own()) {
            *sampled = own;
        }
        if let LayerSource::Clip {
            clip, time, wrap, ..
        } = &layer.source
            && let Some(entry) = character.clips.get(*clip)
        {
            let at = wrap.apply(*time, entry.clip.duration());
            for (range, track) in &entry.morphs {
                track.sample(at, &mut sampled_weights[range.clone()]);
            }
        }
        let share = (f64::from(layer.weight) / total.max(1.0)) as f32;
        for (now, sampled) in current_weights.iter_mut().zip(&*sampled_weights) {
            *now += sampled * share;
        }
    }
}

/// Root motion: what the root joint travels over the ground moves the actor, over any number of loops exactly.
fn travel(actor: &mut Actor) {
    let (Some(root), Some(layer)) = (actor.root_motion, actor.layers.first()) else {
        return;
    };
    let LayerSource::Clip {
        clip, time, wrap, ..
    } = &layer.source
    else {
        return;
    };
    let Some(entry) = actor.character.clips.get(*clip) else {
        return;
    };
    if root.index() >= entry.clip.joint_count() {
        return;
    }
    let duration = entry.clip.duration();
    let at = |time: f32| entry.clip.sample_joint(root, time).translation;
    let mut way = at(wrap.apply(*time, duration)) - at(0.0);
    if *wrap == Wrap::Loop {
        let loops = Passage::new(0.0, *time, duration, *wrap).loops();
        way += (at(duration) - at(0.0)) * loops as f32;
    }
    let model_from_parent = rest_above(&actor.character, root);
    let way_in_model = model_from_parent.transform_vector(way);
    let over_ground = Vec3::new(way_in_model.x, 0.0, way_in_model.z);
    let Some(parent_from_model) = model_from_parent.inverse() else {
        return;
    };
    let rest_of_way = parent_from_model.transform_vector(way_in_model - over_ground);
    actor.pose.set_translation(root, at(0.0) + rest_of_way);
    actor.world_from_model = actor.placement
        * Affine {
            translation: over_ground,
            ..Affine::IDENTITY
        };
}

/// `model_from_parent` of a joint's parent at rest.
fn rest_above(character: &Character, joint: anim_skeleton::JointId) -> Affine {
    let skeleton = &character.skeleton;
    let mut model_from_parent = Affine::IDENTITY;
    let mut at = skeleton.parent(joint);
    while let Some(parent) = at {
        model_from_parent = Affine::from(skeleton.rest().get(parent)) * model_from_parent;
        at = skeleton.parent(parent);
    }
    model_from_parent
}

/// The ground is looked for from this far above the plane of the clip, m.
const ABOVE: f32 = 1.0;

/// Forward kinematics, then feet, then goals in order.
pub(crate) fn ik(actor: &mut Actor, world: &World) {
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
    for (surface, palette) in character.surfaces.iter().zip(&mut actor.palettes) {
        surface.mesh.palette(&actor.globals, palette);
    }
}

/// Cloth: `steps` fixed steps of `step` seconds.
pub(crate) fn simulate(actor: &mut Actor, world: &World, steps: u32, step: f32) {
    if actor.quarantined {
        return;
    }
    let character = &*actor.character;
    for (cloth, state) in character.cloths.iter().zip(&mut actor.cloths) {
        let body = Body {
            mesh: &character.surfaces[cloth.surface].mesh,
            palette: &actor.palettes[cloth.surface],
            globals: &actor.globals,
            world_from_model: actor.world_from_model,
        };
        state.simulate(cloth, &body, world, steps, step);
        if !state.is_finite() {
            state.roll_back();
            actor.quarantined = true;
        }
    }
}

/// Morph targets, then the skin; simulated surfaces come from their cloth.
pub(crate) fn skin(actor: &mut Actor) {
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
                let body = Body {
                    mesh: &surface.mesh,
                    palette: &actor.palettes[index],
                    globals: &actor.globals,
                    world_from_model: actor.world_from_model,
                };
                actor.cloths[cloth].write(&character.cloths[cloth], &body, out);
            }
            None => surface.mesh.linear(source, &actor.palettes[index], out),
        }
    }
}
