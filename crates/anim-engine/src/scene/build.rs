//! From a scene file to a scene that plays.

use std::collections::BTreeMap;
use std::sync::Arc;

use anim_asset::{AssetError, Document};
use anim_curves::Track;
use anim_ik::{LookAt, TwoBone};
use anim_math::{Affine, Vec3, quat};
use anim_particles::{Effect, Emission};
use anim_skeleton::{BakeOptions, Wrap};

use super::spec::{CharacterSpec, GoalSpec, PinSpec, SceneSpec};
use super::{Aim, Scene, Target};
use crate::{
    Actor, ActorId, ActorLayer, BodyCapsule, Character, ClothOptions, Config, Engine, EngineError,
    Foot, FootPlant, Goal, LayerSource, MAX_LAYERS, Pins, World,
};

impl Scene {
    /// Makes a scene ready; `load` gives the document of each file that the scene names.
    ///
    /// # Errors
    ///
    /// [`EngineError::Asset`] for a file that cannot be used, [`EngineError::Unknown`] for names that nothing has,
    /// [`EngineError::Scene`] with the path of a field that is out of range, and what the subsystems refuse.
    pub fn new(
        spec: &SceneSpec,
        config: Config,
        load: &mut dyn FnMut(&str) -> Result<Document, AssetError>,
    ) -> Result<Self, EngineError> {
        check(spec)?;
        let mut engine = Engine::new(config)?;
        engine.world = World {
            gravity: spec.gravity,
            wind: spec.wind,
            colliders: Vec::new(),
        };
        let mut ground = None;
        if let Some(spec) = &spec.ground {
            let (collider, mesh) = spec.build()?;
            engine.world.colliders.push(collider);
            ground = mesh;
        }
        let names: Vec<&str> = spec.targets.keys().map(String::as_str).collect();
        let mut characters = BTreeMap::new();
        let mut actors = Vec::new();
        let mut aims = Vec::new();
        for part in &spec.characters {
            let key = (part.file.clone(), serde_key(part));
            let character = match characters.get(&key) {
                Some(character) => Arc::clone(character),
                None => {
                    let character = Arc::new(character_of(part, load)?);
                    characters.insert(key, Arc::clone(&character));
                    character
                }
            };
            let id = engine.spawn(character);
            actors.push(id);
            if let Some(actor) = engine.actor_mut(id) {
                direct(actor, part, id, &names, &mut aims)?;
            }
        }
        let mut targets = Vec::new();
        for (name, target) in &spec.targets {
            let track =
                Track::try_from(target.track.clone()).map_err(|error| EngineError::Scene {
                    place: format!("targets/{name}/track"),
                    message: error.to_string(),
                })?;
            let follow = target
                .follow
                .map(|place| place_of(&actors, place, || format!("targets/{name}/follow")));
            targets.push(Target {
                track,
                follow: follow.transpose()?,
            });
        }
        for (index, part) in spec.particles.iter().enumerate() {
            let effect = Effect::new(part.effect.clone())?;
            let place = || format!("particles/{index}/steps_of");
            let steps = part
                .steps_of
                .map(|of| place_of(&actors, of, place))
                .transpose()?;
            let id = engine.spawn_effect(effect, steps.map(|actor| (actor, part.burst)));
            if let (Some(position), Some(emissions)) = (part.at, engine.emissions_mut(id)) {
                emissions.push(Emission {
                    position,
                    rate: part.rate,
                    ..Emission::default()
                });
            }
        }
        Ok(Self {
            engine,
            actors,
            ground,
            targets,
            aims,
            time: 0.0,
        })
    }
}

/// The numbers that have a range.
fn check(spec: &SceneSpec) -> Result<(), EngineError> {
    let refuse = |place: &str, message: String| {
        Err(EngineError::Scene {
            place: place.to_owned(),
            message,
        })
    };
    if spec.schema != "anim.scene/1" {
        return refuse("schema", format!("'{}' is not anim.scene/1", spec.schema));
    }
    if !(spec.duration >= 0.0 && spec.duration.is_finite()) {
        return refuse("duration", format!("{} s is not a time", spec.duration));
    }
    if !(spec.fps > 0.0 && spec.fps <= 1000.0) {
        return refuse("fps", format!("{} is not in (0, 1000]", spec.fps));
    }
    let finite = |v: &Vec3| v.iter().all(|c| c.is_finite());
    if !(finite(&spec.gravity) && finite(&spec.wind)) {
        return refuse("gravity, wind", "not finite".to_owned());
    }
    for (index, part) in spec.characters.iter().enumerate() {
        if !(finite(&part.position) && part.yaw_deg.is_finite()) {
            return refuse(
                &format!("characters/{index}"),
                "position or yaw is not finite".to_owned(),
            );
        }
        if part.clips.len() > MAX_LAYERS {
            return Err(EngineError::TooManyLayers { max: MAX_LAYERS });
        }
    }
    Ok(())
}

/// What else of a character's spec goes into its model.
fn serde_key(part: &CharacterSpec) -> String {
    format!("{:?}{:?}", part.cloth, part.body)
}

fn place_of(
    actors: &[ActorId],
    place: usize,
    path: impl Fn() -> String,
) -> Result<ActorId, EngineError> {
    actors
        .get(place)
        .copied()
        .ok_or_else(|| EngineError::Scene {
            place: path(),
            message: format!("character {place} of {} does not exist", actors.len()),
        })
}

/// The model of a character: its file, with its cloth.
fn character_of(
    part: &CharacterSpec,
    load: &mut dyn FnMut(&str) -> Result<Document, AssetError>,
) -> Result<Character, EngineError> {
    let document = load(&part.file).map_err(|source| EngineError::Asset {
        file: part.file.clone(),
        source,
    })?;
    let mut character = Character::from_document(&document, &BakeOptions::default())?;
    for cloth in &part.cloth {
        let found = character.surfaces.iter().position(|surface| {
            surface.name.as_deref() == Some(cloth.node.as_str())
                && surface.source.1 == cloth.primitive
        });
        let surface = found.ok_or_else(|| {
            let names = character
                .surfaces
                .iter()
                .filter_map(|surface| surface.name.as_deref());
            EngineError::unknown("mesh node", &cloth.node, names)
        })?;
        let capsule = |spec: &super::CapsuleSpec| {
            Ok(BodyCapsule {
                joint: character.joint_named(&spec.joint)?,
                from: spec.from,
                to: spec.to,
                radius: spec.radius,
            })
        };
        let body = part
            .body
            .iter()
            .map(capsule)
            .collect::<Result<_, EngineError>>()?;
        character = character.with_cloth(ClothOptions {
            surface,
            pins: match &cloth.pins {
                PinSpec::Top(depth) => Pins::Top(*depth),
                PinSpec::Vertices(list) => Pins::Vertices(list.clone()),
            },
            material: cloth.material.clone(),
            substeps: cloth.substeps,
            body,
        })?;
    }
    Ok(character)
}

/// Tells an actor what to play and to aim at.
fn direct(
    actor: &mut Actor,
    part: &CharacterSpec,
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
    for clip in &part.clips {
        actor.layers.push(ActorLayer {
            source: LayerSource::Clip {
                clip: character.clip_named(&clip.clip)?,
                time: f64::from(clip.start),
                speed: clip.speed,
                wrap: if clip.repeat { Wrap::Loop } else { Wrap::Clamp },
            },
            weight: clip.weight,
        });
    }
    let root = part
        .root_motion
        .as_deref()
        .map(|name| character.joint_named(name));
    actor.root_motion = root.transpose()?;
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
            hips: character.joint_named(&feet.hips)?,
            feet: feet
                .feet
                .iter()
                .map(foot)
                .collect::<Result<_, EngineError>>()?,
        });
    }
    for spec in &part.goals {
        let (goal, target) = match spec {
            GoalSpec::Reach {
                end,
                target,
                pole,
                softness,
                weight,
            } => {
                let goal = Goal::Reach {
                    chain: TwoBone::new(skeleton, character.joint_named(end)?)?,
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
        aims.push(Aim {
            actor: id,
            goal: actor.goals.len(),
            target: place
                .ok_or_else(|| EngineError::unknown("target", target, targets.iter().copied()))?,
        });
        actor.goals.push(goal);
    }
    Ok(())
}
