//! From a scene file to a scene that plays.

use std::collections::BTreeMap;
use std::sync::Arc;

use anim_asset::{AssetError, Document};
use anim_curves::Track;
use anim_ik::{LookAt, TwoBone};
use anim_math::{Affine, Vec3, quat};
use anim_particles::{Effect, Emission};
use anim_skeleton::Wrap;

use super::check::{check, placed, refusal};
use super::spec::{CharacterSpec, ClothUse, GoalSpec, PinSpec, SceneSpec};
use super::{Aim, Scene, Target};
use crate::{
    Actor, ActorId, ActorLayer, BodyCapsule, Character, ClothOptions, Config, Engine, EngineError,
    Foot, FootPlant, Goal, LayerSource, Pins, World,
};

impl Scene {
    /// Makes a scene ready; `load` gives the document of each file that the scene names.
    ///
    /// # Errors
    ///
    /// [`EngineError::Asset`] for a file that cannot be used; [`EngineError::Scene`] with the JSON pointer of a field that
    /// is out of range, that names what does not exist or that a subsystem refuses; [`EngineError::Threads`].
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
            let (collider, mesh) = spec
                .build()
                .map_err(EngineError::from)
                .map_err(placed("/ground"))?;
            engine.world.colliders.push(collider);
            ground = mesh;
        }
        let names: Vec<&str> = spec.targets.keys().map(String::as_str).collect();
        let mut characters = BTreeMap::new();
        let mut actors = Vec::new();
        let mut aims = Vec::new();
        for (index, part) in spec.characters.iter().enumerate() {
            let place = format!("/characters/{index}");
            let key = (part.file.clone(), serde_key(part));
            let character = match characters.get(&key) {
                Some(character) => Arc::clone(character),
                None => {
                    let character = Arc::new(character_of(part, &place, load)?);
                    characters.insert(key, Arc::clone(&character));
                    character
                }
            };
            let id = engine.spawn(character);
            actors.push(id);
            if let Some(actor) = engine.actor_mut(id) {
                direct(actor, part, &place, id, &names, &mut aims)?;
            }
        }
        let mut targets = Vec::new();
        for (name, target) in &spec.targets {
            let track = Track::try_from(target.track.clone())
                .map_err(|error| refusal(&format!("/targets/{name}/track"), error.to_string()))?;
            let follow = target
                .follow
                .map(|place| place_of(&actors, place, || format!("/targets/{name}/follow")));
            targets.push(Target {
                track,
                follow: follow.transpose()?,
            });
        }
        for (index, part) in spec.particles.iter().enumerate() {
            let effect = Effect::new(part.effect.clone())
                .map_err(EngineError::from)
                .map_err(placed(format!("/particles/{index}/effect")))?;
            let place = || format!("/particles/{index}/steps_of");
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

/// What else of a character's spec goes into its model.
fn serde_key(part: &CharacterSpec) -> String {
    format!("{:?}{:?}", part.cloth, part.body)
}

fn place_of(
    actors: &[ActorId],
    place: usize,
    path: impl Fn() -> String,
) -> Result<ActorId, EngineError> {
    actors.get(place).copied().ok_or_else(|| {
        let message = format!("character {place} of {} does not exist", actors.len());
        refusal(&path(), message)
    })
}

/// The model of a character: its file, with its cloth.
fn character_of(
    part: &CharacterSpec,
    place: &str,
    load: &mut dyn FnMut(&str) -> Result<Document, AssetError>,
) -> Result<Character, EngineError> {
    let document = load(&part.file).map_err(|source| EngineError::Asset {
        file: part.file.clone(),
        source,
    })?;
    let mut character = Character::bake_options(&document)
        .and_then(|options| Character::from_document(&document, &options))
        .map_err(placed(format!("{place}/file")))?;
    for (index, cloth) in part.cloth.iter().enumerate() {
        character = with_cloth(character, part, place, cloth)
            .map_err(placed(format!("{place}/cloth/{index}")))?;
    }
    Ok(character)
}

/// A character of which one surface is simulated.
fn with_cloth(
    character: Character,
    part: &CharacterSpec,
    place: &str,
    cloth: &ClothUse,
) -> Result<Character, EngineError> {
    let found = character.surfaces.iter().position(|surface| {
        surface.name.as_deref() == Some(cloth.node.as_str()) && surface.source.1 == cloth.primitive
    });
    let surface = found.ok_or_else(|| {
        let names = character
            .surfaces
            .iter()
            .filter_map(|surface| surface.name.as_deref());
        EngineError::unknown("mesh node", &cloth.node, names)
    })?;
    let capsule = |(index, spec): (usize, &super::CapsuleSpec)| {
        let named = character.joint_named(&spec.joint);
        Ok(BodyCapsule {
            joint: named.map_err(placed(format!("{place}/body/{index}/joint")))?,
            from: spec.from,
            to: spec.to,
            radius: spec.radius,
        })
    };
    let body = part
        .body
        .iter()
        .enumerate()
        .map(capsule)
        .collect::<Result<_, EngineError>>()?;
    character.with_cloth(ClothOptions {
        surface,
        pins: match &cloth.pins {
            PinSpec::Top(depth) => Pins::Top(*depth),
            PinSpec::Vertices(list) => Pins::Vertices(list.clone()),
        },
        material: cloth.material.clone(),
        substeps: cloth.substeps,
        body,
    })
}

/// Tells an actor what to play and to aim at.
fn direct(
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
        let named = character.clip_named(&clip.clip);
        actor.layers.push(ActorLayer {
            source: LayerSource::Clip {
                clip: named.map_err(placed(format!("{place}/clips/{index}/clip")))?,
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
    actor.root_motion = root
        .transpose()
        .map_err(placed(format!("{place}/root_motion")))?;
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
