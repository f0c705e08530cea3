//! What a character of a scene plays and aims at.

use std::sync::Arc;

use anim_curves::Track;
use anim_graph::ParameterKind;
use anim_ik::{LookAt, TwoBone};
use anim_math::{Affine, Vec3, quat};
use anim_skeleton::{Playback, Wrap};

use super::check::{placed, refusal};
use super::spec::{CharacterSpec, ClipUse, GoalSpec};
use super::{Aim, Control, Kind};
use crate::{
    Actor, ActorId, ActorLayer, Character, EngineError, Foot, FootPlant, Goal, GraphPlayer,
    LayerSource,
};

/// Tells an actor what to play and to aim at.
pub(super) fn direct(
    actor: &mut Actor,
    part: &CharacterSpec,
    place: &str,
    id: ActorId,
    targets: &[&str],
    aims: &mut Vec<Aim>,
) -> Result<(), EngineError> {
    let character = Arc::clone(actor.character());
    let skeleton = character.skeleton();
    actor.placement = Affine {
        linear: quat::from_axis_angle(Vec3::y(), part.yaw_deg.to_radians())
            .to_rotation_matrix()
            .into_inner(),
        translation: part.position,
    };
    for (index, clip) in part.clips.iter().enumerate() {
        let layer = layer_of(&character, clip);
        let layer = layer.map_err(placed(format!("{place}/clips/{index}")))?;
        actor.layers.push(layer);
    }
    if let Some(feet) = &part.feet {
        let foot = |spec: &super::FootSpec| {
            let ankle = character.joint_named(&spec.ankle)?;
            let toes = spec.toes.as_deref().map(|name| character.joint_named(name));
            Ok(Foot {
                leg: TwoBone::new(skeleton, ankle)?,
                ankle,
                toes: toes.transpose()?,
            })
        };
        actor.feet = Some(FootPlant {
            hips: character
                .joint_named(&feet.hips)
                .map_err(placed(format!("{place}/feet/hips")))?,
            feet: feet
                .feet
                .iter()
                .enumerate()
                .map(|(index, spec)| {
                    foot(spec).map_err(placed(format!("{place}/feet/feet/{index}")))
                })
                .collect::<Result<_, EngineError>>()?,
        });
    }
    for (index, spec) in part.goals.iter().enumerate() {
        let (goal, target) =
            goal_of(&character, spec, targets).map_err(placed(format!("{place}/goals/{index}")))?;
        aims.push(Aim {
            actor: id,
            goal: actor.goals.len(),
            target,
        });
        actor.goals.push(goal);
    }
    Ok(())
}

/// Lets an actor play its graph, if it has one, below its clips.
pub(super) fn play_graph(
    actor: &mut Actor,
    part: &CharacterSpec,
    place: &str,
    id: ActorId,
) -> Result<Vec<Control>, EngineError> {
    let Some(spec) = &part.graph else {
        let refuse = |field: &str, message: &str| {
            let place = format!("{place}/{field}");
            Err(refusal(&place, message.to_owned()))
        };
        return match &part.graph_file {
            Some(_) => refuse("graph_file", "has not been read into 'graph'"),
            None if part.parameters.is_empty() => Ok(Vec::new()),
            None => refuse("parameters", "there is no graph"),
        };
    };
    let graph = actor.character().graph(spec);
    let graph = graph.map_err(placed(format!("{place}/graph")))?;
    let mut controls = Vec::new();
    for (name, track) in &part.parameters {
        let place = format!("{place}/parameters/{name}");
        let known = spec.parameters.iter().find(|known| known.name == *name);
        let (Some(known), Some(parameter)) = (known, graph.parameter(name)) else {
            let names = spec.parameters.iter().map(|known| known.name.as_str());
            let error = EngineError::unknown("parameter", name, names);
            return Err(refusal(&place, error.to_string()));
        };
        let kind = match known.kind {
            ParameterKind::Float { .. } => Kind::Float,
            ParameterKind::Bool { .. } => Kind::Bool,
            ParameterKind::Trigger { .. } => Kind::Trigger,
            ParameterKind::Choice { .. } => {
                return Err(refusal(&place, "a choice has no curve".to_owned()));
            }
        };
        controls.push(Control {
            actor: id,
            parameter,
            kind,
            track: Track::try_from(track.clone())
                .map_err(|error| refusal(&place, error.to_string()))?,
            was_up: false,
        });
    }
    let player = LayerSource::Graph(Box::new(GraphPlayer::new(graph)));
    actor.layers.insert(0, ActorLayer::new(player));
    Ok(controls)
}

/// A clip as a layer.
fn layer_of(character: &Character, spec: &ClipUse) -> Result<ActorLayer, EngineError> {
    let once = if spec.repeat { Wrap::Loop } else { Wrap::Clamp };
    let mut playback = Playback::new(spec.speed, spec.wrap.unwrap_or(once));
    playback.seek(f64::from(spec.start));
    let skeleton = character.skeleton();
    let named = |name: &str, field: &str| {
        let found = character.clip_named(name);
        found.map_err(|error| refusal(field, error.to_string()))
    };
    let mask = spec.mask.as_ref().map(|mask| mask.resolve(skeleton));
    let mask = mask
        .transpose()
        .map_err(|error| refusal("mask", error.to_string()))?;
    let reference = match &spec.reference {
        Some(name) => {
            let mut pose = skeleton.rest().clone();
            let clip = named(name, "reference")?;
            character.clips[clip].clip.sample(0.0, &mut pose);
            Some(Arc::new(pose))
        }
        None => None,
    };
    Ok(ActorLayer {
        weight: spec.weight,
        mode: spec.mode,
        mask: mask.map(Arc::new),
        reference,
        ..ActorLayer::clip(named(&spec.clip, "clip")?, playback)
    })
}

/// A goal and the place of its target.
fn goal_of(
    character: &Character,
    spec: &GoalSpec,
    targets: &[&str],
) -> Result<(Goal, usize), EngineError> {
    let (goal, target) = match spec {
        GoalSpec::Reach {
            end,
            target,
            pole,
            softness,
            weight,
        } => {
            let goal = Goal::Reach {
                chain: TwoBone::new(character.skeleton(), character.joint_named(end)?)?,
                target: Vec3::zeros(),
                rotation: None,
                pole: *pole,
                softness: *softness,
                weight: *weight,
            };
            (goal, target)
        }
        GoalSpec::LookAt {
            joint,
            target,
            forward,
            up,
            limit_deg,
            weight,
        } => {
            let joint = character.joint_named(joint)?;
            let goal = Goal::LookAt {
                look: LookAt::new(joint, *forward, *up, limit_deg.to_radians())?,
                target: Vec3::zeros(),
                weight: *weight,
            };
            (goal, target)
        }
    };
    let place = targets.iter().position(|name| name == target);
    let unknown = || EngineError::unknown("target", target, targets.iter().copied());
    Ok((goal, place.ok_or_else(unknown)?))
}
