//! The Animate stage of one actor: clocks, events, root motion, morph weights and the pose.

use anim_math::{Affine, Transform, Vec3};
use anim_skeleton::{
    Layer, Mode, Playback, Pose, RateReducer, add_in_model_space, blend, blend_deltas, difference,
    difference_in_model_space,
};

use crate::actor::{Actor, Reducer};
use crate::detail::rest_from;
use crate::event::{MOST_EVENTS, Met};
use crate::layer::{ActorLayer, LayerMode, LayerSource, LayerState, share_out};
use crate::{Character, MAX_LAYERS};

/// Advances the layers by `dt` seconds and blends them.
pub(crate) fn animate(actor: &mut Actor, dt: f32) {
    actor.fit_buffers();
    let skeleton = &actor.character.skeleton;
    share_out(skeleton, &actor.layers, &mut actor.layer_states);
    advance(actor, dt);
    weigh(actor);
    travel(actor);
    pose(actor, dt);
}

/// The pose of this frame: a new one, or the way between two.
fn pose(actor: &mut Actor, dt: f32) {
    let detail = actor.detail;
    let mut evaluation = Evaluation {
        character: &actor.character,
        joint_count: actor.character.levels.joint_count(detail.level),
        layers: &mut actor.layers,
        states: &mut actor.layer_states,
        scratch: &mut actor.scratch,
        sampled_clips: &mut actor.sampled_clips,
    };
    if detail.every < 2 {
        actor.reducer = None;
    }
    // A frame without length tells nothing of how far ahead to look.
    if detail.every < 2 || dt == 0.0 {
        evaluation.pose(0.0, &mut actor.pose);
        return;
    }
    if actor.reducer.as_ref().is_none_or(|r| r.detail != detail) {
        evaluation.pose(0.0, &mut actor.pose);
        let reducer = RateReducer::new(detail.every, &actor.pose);
        actor.reducer = Some(Reducer { detail, reducer });
    }
    let ahead = detail.every as f32 * dt;
    if let Some(Reducer { reducer, .. }) = &mut actor.reducer {
        reducer.update(&mut actor.pose, |pose| evaluation.pose(ahead, pose));
    }
}

/// Moves the clocks on and notes what they went over.
fn advance(actor: &mut Actor, dt: f32) {
    actor.met.clear();
    actor.lost_events = 0;
    let clips = &actor.character.clips;
    let joint_count = actor.character.skeleton.len();
    let layers = actor.layers.iter_mut().zip(&mut actor.layer_states);
    for (index, (layer, state)) in layers.enumerate() {
        state.delta = Transform::IDENTITY;
        match &mut layer.source {
            LayerSource::Clip { clip, playback } => {
                let Some(entry) = clips.get(*clip) else {
                    continue;
                };
                let passage = playback.advance(dt, entry.clip.duration());
                if let Some(motion) = &entry.motion {
                    state.delta = motion.delta(&passage);
                }
                if state.share == 0.0 {
                    continue;
                }
                // A step of a thousand million turns meets as many events.
                for crossed in entry.events.crossed(&passage).take(2 * MOST_EVENTS) {
                    if actor.met.len() == MOST_EVENTS {
                        actor.lost_events += 1;
                        continue;
                    }
                    actor.met.push(Met {
                        clip: *clip,
                        index: crossed.index,
                        layer: index,
                        weight: state.share,
                        backward: crossed.backward,
                    });
                }
            }
            LayerSource::Graph(player) if player.graph().joint_count() == joint_count => {
                player.advance(dt);
                state.delta = player.state.motion();
                actor.lost_events += player.state.lost_events();
                for event in player.state.events(player.graph(), 0.0) {
                    let weight = event.weight * state.share;
                    if weight == 0.0 {
                        continue;
                    }
                    if actor.met.len() == MOST_EVENTS {
                        actor.lost_events += 1;
                        continue;
                    }
                    actor.met.push(Met {
                        clip: event.clip,
                        index: event.index,
                        layer: index,
                        weight,
                        backward: event.backward,
                    });
                }
            }
            LayerSource::Graph(_) | LayerSource::Live(_) => {}
        }
    }
}

/// Morph weights: the clips' curves by what they have of the pose.
fn weigh(actor: &mut Actor) {
    let Actor {
        character,
        layers,
        layer_states,
        morph_weights,
        current_weights,
        sampled_weights,
        ..
    } = actor;
    let own = |place: usize| match morph_weights.get(place) {
        Some(weight) if weight.is_finite() => *weight,
        _ => character.rest_weights[place],
    };
    for (place, now) in current_weights.iter_mut().enumerate() {
        *now = own(place);
    }
    let mut add = |clip: usize, time: f32, share: f32, is_additive: bool| {
        let clip = character.clips.get(clip);
        for (range, track) in clip.into_iter().flat_map(|clip| &clip.morphs) {
            track.sample(time, &mut sampled_weights[range.clone()]);
            for place in range.clone() {
                let from = match is_additive {
                    true => character.rest_weights[place],
                    false => own(place),
                };
                current_weights[place] += share * (sampled_weights[place] - from);
            }
        }
    };
    for (layer, state) in layers.iter().zip(layer_states) {
        match &layer.source {
            LayerSource::Clip { clip, playback } => {
                let entry = character.clips.get(*clip);
                let duration = entry.map_or(0.0, |entry| entry.clip.duration());
                let time = playback.sample_time(duration);
                add(*clip, time, state.share, layer.is_additive());
            }
            LayerSource::Graph(player) => {
                for sample in player.state.samples() {
                    let share = state.share * sample.weight;
                    let is_additive = layer.is_additive() || sample.is_additive;
                    add(sample.clip, sample.time, share, is_additive);
                }
            }
            LayerSource::Live(_) => {}
        }
    }
}

/// Root motion: what the layers travel, by what they have of the pose, moves the actor.
fn travel(actor: &mut Actor) {
    actor.deltas.clear();
    let states = actor.layer_states.iter().take(actor.layers.len());
    let deltas = states.map(|state| (state.delta, state.share_of_motion));
    actor.deltas.extend(deltas);
    actor.root_delta = blend_deltas(&actor.deltas);
    if actor.follows_root_motion {
        actor.placement = moved(actor.placement, actor.root_delta);
    }
    if actor.attached_to.is_none() {
        actor.world_from_model = actor.placement;
    }
}

/// A placement after a step; a rigid one stays rigid, however many steps there are.
fn moved(placement: Affine, step: Transform) -> Affine {
    let next = placement * Affine::from(step);
    if step.rotation.coords.xyz() == Vec3::zeros() {
        return next;
    }
    let parts = next.to_transform();
    let is_rigid = (parts.scale - Vec3::repeat(1.0)).amax() < 1e-3;
    Affine::from(Transform {
        scale: if is_rigid {
            Vec3::repeat(1.0)
        } else {
            parts.scale
        },
        ..parts
    })
}

/// Layers on their way to a pose.
struct Evaluation<'a> {
    character: &'a Character,
    /// Joints that are animated; the others rest.
    joint_count: usize,
    layers: &'a mut [ActorLayer],
    states: &'a mut [LayerState],
    scratch: &'a mut [Pose],
    sampled_clips: &'a mut u64,
}

impl Evaluation<'_> {
    /// The pose `ahead` seconds from now.
    fn pose(&mut self, ahead: f32, out: &mut Pose) {
        for (layer, state) in self.layers.iter_mut().zip(&mut *self.states) {
            if state.weight != 0.0 {
                let pose = &mut state.pose;
                let count = sample(self.character, self.joint_count, layer, ahead, pose);
                *self.sampled_clips += count;
            }
        }
        self.mix(out);
        for index in 0..self.layers.len() {
            if self.states[index].weight != 0.0 {
                self.put_on_top(index, out);
            }
        }
        rest_from(self.joint_count, &self.character.skeleton, out);
    }

    /// The average of the layers that mix.
    fn mix(&self, out: &mut Pose) {
        let rest = self.character.skeleton.rest();
        let mixing = || {
            let layers = self.layers.iter().zip(&*self.states);
            let is_mixed =
                |layer: &ActorLayer, weight: f32| layer.mode == LayerMode::Mix && weight > 0.0;
            layers.filter(move |(layer, state)| is_mixed(layer, state.weight))
        };
        let count = mixing().count();
        let empty = part(rest, 0.0, None, Mode::Override);
        let mut few = [empty; MAX_LAYERS];
        let mut many = Vec::new();
        let parts = match few.get_mut(..count) {
            Some(parts) => parts,
            None => {
                many.resize(count, empty);
                &mut many
            }
        };
        for (slot, (layer, state)) in parts.iter_mut().zip(mixing()) {
            *slot = part(&state.pose, state.weight, Some(layer), Mode::Override);
        }
        blend(rest, parts, out);
    }

    /// Puts a layer over or on the pose below it.
    fn put_on_top(&mut self, index: usize, out: &mut Pose) {
        let skeleton = &self.character.skeleton;
        let layer = &self.layers[index];
        let LayerState { pose, weight, .. } = &self.states[index];
        let rest = skeleton.rest();
        let fits = |pose: &&Pose| pose.len() == rest.len();
        let reference = layer.reference.as_deref().filter(fits).unwrap_or(rest);
        let [below, way] = &mut *self.scratch else {
            return;
        };
        match layer.mode {
            LayerMode::Mix => {}
            LayerMode::Override => {
                below.copy_from(out);
                // What a single layer leaves is filled up with what is below instead of the rest pose.
                blend(
                    below,
                    &[part(pose, *weight, Some(layer), Mode::Override)],
                    out,
                );
            }
            LayerMode::Additive => {
                difference(reference, pose, way);
                below.copy_from(out);
                let whole = part(below, 1.0, None, Mode::Override);
                let added = part(way, *weight, Some(layer), Mode::Additive);
                blend(rest, &[whole, added], out);
            }
            LayerMode::AdditiveInModel => {
                difference_in_model_space(skeleton, reference, pose, below, way);
                let added = part(way, *weight, Some(layer), Mode::Additive);
                add_in_model_space(skeleton, &added, below, out);
            }
        }
    }
}

fn part<'a>(pose: &'a Pose, weight: f32, layer: Option<&'a ActorLayer>, mode: Mode) -> Layer<'a> {
    let mask = layer.and_then(|layer| layer.mask.as_ref());
    Layer {
        pose,
        weight,
        mask: mask.map(|mask| mask.as_slice()),
        mode,
    }
}

/// The pose of one layer, `ahead` seconds from now; returns how many clips were sampled.
fn sample(
    character: &Character,
    joint_count: usize,
    layer: &mut ActorLayer,
    ahead: f32,
    out: &mut Pose,
) -> u64 {
    let rest = character.skeleton.rest();
    match &mut layer.source {
        LayerSource::Clip { clip, playback } => {
            let Some(entry) = character.clips.get(*clip) else {
                out.copy_from(rest);
                return 0;
            };
            let time = time_ahead(playback, ahead, entry.clip.duration());
            entry.clip.sample_prefix(joint_count, time, out);
            1
        }
        LayerSource::Live(live) if live.len() == out.len() => {
            out.copy_from(live);
            0
        }
        LayerSource::Graph(player) if player.graph().joint_count() == out.len() => {
            player.evaluate();
            out.copy_from(player.state.pose());
            player.state.samples().len() as u64
        }
        LayerSource::Graph(_) | LayerSource::Live(_) => {
            out.copy_from(rest);
            0
        }
    }
}

/// Where a clip will be.
fn time_ahead(playback: &Playback, ahead: f32, duration: f32) -> f32 {
    let way = f64::from(ahead) * f64::from(playback.speed);
    if way.is_finite() && way != 0.0 {
        playback.wrap.apply(playback.time + way, duration)
    } else {
        playback.sample_time(duration)
    }
}
