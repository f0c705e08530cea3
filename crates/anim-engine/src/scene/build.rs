//! From a scene file to a scene that plays.

use std::collections::BTreeMap;
use std::sync::Arc;

use anim_asset::{AssetError, Document};
use anim_curves::Track;
use anim_math::{Affine, Transform, quat};
use anim_particles::{Effect, Emission};
use anim_skeleton::RootMotionOptions;

use super::bodies;
use super::check::{check, placed, refusal};
use super::direct::{direct, play_graph};
use super::grown::{self, with_hair, with_muscle};
use super::motion::Motion;
use super::spec::{AttachmentSpec, CharacterSpec, ClothUse, PinSpec, SceneSpec, SocketSpec};
use super::{Scene, Target};
use crate::{
    ActorId, BodyCapsule, Character, ClothOptions, Config, Deform, Engine, EngineError, Pins,
    Socket, World,
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
        let mut controls = Vec::new();
        let mut nerves = Vec::new();
        let mut hair_sizes = Vec::new();
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
                controls.append(&mut play_graph(actor, part, &place, id)?);
                nerves.append(&mut grown::nerves(actor, part, &place, id)?);
                hair_sizes.extend(grown::hair_size(part, &place, id)?);
            }
        }
        for (index, part) in spec.characters.iter().enumerate() {
            if let Some(to) = &part.attached_to {
                let place = format!("/characters/{index}/attached_to");
                attach(&mut engine, &actors, index, to, &place)?;
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
        let mut obstacles = Vec::new();
        let mut obstacle_motions = Vec::new();
        for (index, part) in spec.obstacles.iter().enumerate() {
            let place = format!("/obstacles/{index}");
            let motion = Motion::new(&part.motion, &format!("{place}/motion"))?;
            let collider = part
                .build(&motion)
                .map_err(EngineError::from)
                .map_err(placed(format!("{place}/shape")))?;
            obstacles.push(engine.world.colliders.len());
            engine.world.colliders.push(collider);
            obstacle_motions.push(motion);
        }
        let mut held_motions = Vec::new();
        for (index, part) in spec.bodies.iter().enumerate() {
            let place = format!("/bodies/{index}");
            held_motions.append(&mut bodies::spawn(
                &mut engine,
                &actors,
                part,
                &place,
                load,
            )?);
        }
        let bodies = engine.bodies().map(|(id, _)| id).collect();
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
            bodies,
            obstacles,
            ground,
            targets,
            aims,
            controls,
            nerves,
            hair_sizes,
            wind: spec.wind,
            gusts: spec.gusts,
            obstacle_motions,
            held_motions,
            time: 0.0,
        })
    }
}

/// What else of a character's spec goes into its model.
fn serde_key(part: &CharacterSpec) -> String {
    format!(
        "{:?}{:?}{:?}{:?}{:?}{:?}{:?}{:?}{:?}",
        part.cloth,
        part.hair,
        part.muscles,
        part.body,
        part.root_motion,
        part.events,
        part.markers,
        part.drivers,
        part.sockets
    )
}

/// Hangs a character on a socket of another, where it stands seen from there.
fn attach(
    engine: &mut Engine,
    actors: &[ActorId],
    index: usize,
    to: &AttachmentSpec,
    place: &str,
) -> Result<(), EngineError> {
    let carrier = place_of(actors, to.character, || format!("{place}/character"))?;
    let socket = match engine.actor(carrier) {
        Some(carrier) => carrier.character().socket_named(&to.socket),
        None => Ok(0),
    };
    let socket = socket.map_err(placed(format!("{place}/socket")))?;
    let stands = engine.actor(actors[index]).map(|actor| actor.placement);
    engine
        .attach(actors[index], carrier, socket)
        .map_err(placed(place))?;
    if let (Some(actor), Some(stands)) = (engine.actor_mut(actors[index]), stands) {
        actor.placement = stands;
    }
    Ok(())
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

/// The model of a character: its file, with what is simulated of it.
fn character_of(
    part: &CharacterSpec,
    place: &str,
    load: &mut dyn FnMut(&str) -> Result<Document, AssetError>,
) -> Result<Character, EngineError> {
    let document = load(&part.file).map_err(|source| EngineError::Asset {
        file: part.file.clone(),
        source,
    })?;
    let at = |field: &str| placed(format!("{place}/{field}"));
    let options = Character::bake_options(&document).map_err(at("file"))?;
    let mut character = Character::from_document(&document, &options).map_err(at("file"))?;
    if let Some(root) = &part.root_motion {
        let joint = character.joint_named(root).map_err(at("root_motion"))?;
        let root = RootMotionOptions::new(joint);
        character = character
            .with_root_motion(&document.clips, &root, &options)
            .map_err(at("root_motion"))?;
    }
    if part.deformer != Deform::default() {
        character = character
            .with_deformer(part.deformer)
            .map_err(at("deformer"))?;
    }
    for (clip, events) in &part.events {
        character = character
            .with_events(clip, events.clone())
            .map_err(at("events"))?;
    }
    for (clip, markers) in &part.markers {
        character = character
            .with_markers(clip, markers.clone())
            .map_err(at("markers"))?;
    }
    character = character
        .with_drivers(part.drivers.clone())
        .map_err(at("drivers"))?;
    for (index, spec) in part.sockets.iter().enumerate() {
        let socket = socket_of(&character, spec);
        character = socket
            .and_then(|socket| character.with_sockets([socket]))
            .map_err(at(&format!("sockets/{index}")))?;
    }
    let body = body_of(&character, part, place)?;
    for (index, cloth) in part.cloth.iter().enumerate() {
        character = with_cloth(character, body.clone(), cloth)
            .map_err(placed(format!("{place}/cloth/{index}")))?;
    }
    for (index, hair) in part.hair.iter().enumerate() {
        let place = format!("{place}/hair/{index}");
        character = with_hair(character, body.clone(), hair, &place)?;
    }
    for (index, muscle) in part.muscles.iter().enumerate() {
        character = with_muscle(character, muscle, &format!("{place}/muscles/{index}"))?;
    }
    Ok(character)
}

/// The capsules that cloth and hair lie on.
fn body_of(
    character: &Character,
    part: &CharacterSpec,
    place: &str,
) -> Result<Vec<BodyCapsule>, EngineError> {
    let capsule = |(index, spec): (usize, &super::CapsuleSpec)| {
        let named = character.joint_named(&spec.joint);
        Ok(BodyCapsule {
            joint: named.map_err(placed(format!("{place}/body/{index}/joint")))?,
            from: spec.from,
            to: spec.to,
            radius: spec.radius,
        })
    };
    part.body.iter().enumerate().map(capsule).collect()
}

fn socket_of(character: &Character, spec: &SocketSpec) -> Result<Socket, EngineError> {
    let rotation = quat::from_xyzw(spec.rotation)
        .ok_or_else(|| refusal("rotation", "has no length".to_owned()))?;
    Ok(Socket {
        name: spec.name.clone(),
        joint: character.joint_named(&spec.joint)?,
        joint_from_socket: Affine::from(Transform {
            translation: spec.position,
            ..Transform::from_rotation(rotation)
        }),
    })
}

/// A character of which one surface is simulated.
fn with_cloth(
    character: Character,
    body: Vec<BodyCapsule>,
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
