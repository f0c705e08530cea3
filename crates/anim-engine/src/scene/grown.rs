//! What grows on the joints of a scene's character: hair and muscles.

use anim_curves::{Track, TrackSpec};
use anim_graph::ParameterId;
use anim_math::Vec3;
use anim_sim::hair::{HairLevel, HairSpec};
use anim_sim::muscle::{Attachment, BellySpec, MuscleSpec, PathSpec, Turn, Wrap, WrapShape};
use anim_skeleton::JointId;
use serde::{Deserialize, Serialize};

use super::GroomSpec;
use super::check::{placed, range, refusal, vector};
use super::spec::CharacterSpec;
use crate::hair::{COLOR, RADIUS};
use crate::{
    Actor, ActorId, BodyCapsule, Character, Engine, EngineError, HairOptions, MuscleOptions,
};

/// A head of hair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HairUse {
    /// What its roots move with.
    pub joint: String,
    /// How it grows.
    pub groom: GroomSpec,
    /// Guides are filled in.
    #[serde(default)]
    pub material: HairSpec,
    /// Guides that each drawn strand follows, 1 to 4.
    #[serde(default = "three")]
    pub followed: u32,
    /// Levels of detail, from the finest to the coarsest; one of all guides if left out.
    #[serde(default)]
    pub levels: Vec<HairLevel>,
    /// Of a drawn strand at its root, m.
    #[serde(default = "thin")]
    pub radius: f32,
    /// Linear RGB.
    #[serde(default = "brown")]
    pub color: [f32; 3],
}

fn three() -> u32 {
    3
}

fn thin() -> f32 {
    RADIUS
}

fn brown() -> [f32; 3] {
    COLOR
}

/// A muscle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MuscleUse {
    /// For people.
    #[serde(default)]
    pub name: String,
    /// Where it runs, from origin to insertion.
    pub points: Vec<MusclePoint>,
    /// What it slides over on the way.
    #[serde(default)]
    pub wraps: Vec<MuscleWrap>,
    /// What it pulls with.
    #[serde(default)]
    pub muscle: MuscleSpec,
    /// Its flesh; none if left out.
    #[serde(default)]
    pub belly: Option<BellySpec>,
    /// How far from the surface of the belly skin is lifted, m.
    #[serde(default = "reach")]
    pub reach: f32,
    /// What the nerve does; nothing if left out.
    #[serde(default)]
    pub excitation: Option<ExcitationSpec>,
}

fn reach() -> f32 {
    0.03
}

/// How a muscle is excited, in [0, 1].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExcitationSpec {
    /// Over time.
    Track(TrackSpec<f32>),
    /// As much as a float of the character's graph.
    Parameter(String),
}

/// A point of a muscle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MusclePoint {
    /// What it is fixed to.
    pub joint: String,
    /// In the joint's space, m.
    pub point: Vec3,
}

/// An obstacle on the way of a muscle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MuscleWrap {
    /// Which part of the way it is in: 0 from point 0 to point 1.
    pub strand: usize,
    /// What it moves with.
    pub joint: String,
    /// Ball or cylinder.
    pub shape: WrapShape,
    /// In the joint's space, m.
    pub center: Vec3,
    /// Along the cylinder.
    #[serde(default = "Vec3::z")]
    pub axis: Vec3,
    /// Metres.
    pub radius: f32,
    /// On which side of the cylinder the way goes.
    #[serde(default)]
    pub turn: Turn,
}

/// What excites a muscle of an actor.
#[derive(Clone, Debug)]
pub(super) struct Nerve {
    actor: ActorId,
    muscle: usize,
    signal: Signal,
}

#[derive(Clone, Debug)]
enum Signal {
    Track(Track<f32>),
    Parameter(ParameterId),
}

impl Nerve {
    /// Excites the muscle as it is to be at `time`, s.
    pub(super) fn apply(&self, engine: &mut Engine, time: f64) {
        let Some(actor) = engine.actor_mut(self.actor) else {
            return;
        };
        let value = match &self.signal {
            Signal::Track(track) => track.sample(time as f32),
            Signal::Parameter(parameter) => actor
                .graph()
                .map_or(0.0, |graph| graph.state.parameters.float(*parameter)),
        };
        if let Some(excitation) = actor.excitations.get_mut(self.muscle) {
            *excitation = value;
        }
    }
}

/// The nerves of a character whose muscles are those of its file; its graph plays already.
pub(super) fn nerves(
    actor: &Actor,
    part: &CharacterSpec,
    place: &str,
    id: ActorId,
) -> Result<Vec<Nerve>, EngineError> {
    let mut nerves = Vec::new();
    for (muscle, part) in part.muscles.iter().enumerate() {
        let place = format!("{place}/muscles/{muscle}/excitation");
        let signal = match &part.excitation {
            None => continue,
            Some(ExcitationSpec::Track(track)) => Signal::Track(
                Track::try_from(track.clone())
                    .map_err(|error| refusal(&format!("{place}/track"), error.to_string()))?,
            ),
            Some(ExcitationSpec::Parameter(name)) => {
                let graph = actor.graph().map(|player| player.graph());
                let parameter = graph.and_then(|graph| graph.parameter(name));
                let message = format!("no parameter of a graph is named '{name}'");
                let place = format!("{place}/parameter");
                Signal::Parameter(parameter.ok_or_else(|| refusal(&place, message))?)
            }
        };
        nerves.push(Nerve {
            actor: id,
            muscle,
            signal,
        });
    }
    Ok(nerves)
}

/// How large the hair of an actor is on the screen.
#[derive(Clone, Debug)]
pub(super) struct HairSize {
    actor: ActorId,
    pixels: Track<f32>,
}

impl HairSize {
    /// Chooses the level for `time`, s.
    pub(super) fn apply(&self, engine: &mut Engine, time: f64) {
        let Some(actor) = engine.actor_mut(self.actor) else {
            return;
        };
        let pixels = self.pixels.sample(time as f32);
        if let Some(hair) = actor.character().hairs().first() {
            actor.detail.hair = hair.levels().choose(actor.detail.hair, pixels);
        }
    }
}

/// How large the hair of a character is, if its file tells.
pub(super) fn hair_size(
    part: &CharacterSpec,
    place: &str,
    id: ActorId,
) -> Result<Option<HairSize>, EngineError> {
    let Some(track) = &part.hair_pixels else {
        return Ok(None);
    };
    let pixels = Track::try_from(track.clone())
        .map_err(|error| refusal(&format!("{place}/hair_pixels"), error.to_string()))?;
    Ok(Some(HairSize { actor: id, pixels }))
}

/// A character with one more head of hair.
pub(super) fn with_hair(
    character: Character,
    body: Vec<BodyCapsule>,
    part: &HairUse,
    place: &str,
) -> Result<Character, EngineError> {
    let joint = character.joint_named(&part.joint);
    let joint = joint.map_err(placed(format!("{place}/joint")))?;
    let [guides, strands] = part.groom.grow();
    character
        .with_hair(HairOptions {
            joint,
            hair: HairSpec {
                guides,
                ..part.material.clone()
            },
            strands,
            followed: part.followed as usize,
            levels: part.levels.clone(),
            body,
            radius: part.radius,
            color: part.color,
        })
        .map_err(placed(place))
}

/// A character with one more muscle.
pub(super) fn with_muscle(
    character: Character,
    part: &MuscleUse,
    place: &str,
) -> Result<Character, EngineError> {
    let mut joints: Vec<JointId> = Vec::new();
    let mut bone = |name: &str, at: String| -> Result<usize, EngineError> {
        let joint = character.joint_named(name).map_err(placed(at))?;
        let found = joints.iter().position(|known| *known == joint);
        Ok(found.unwrap_or_else(|| {
            joints.push(joint);
            joints.len() - 1
        }))
    };
    let mut path = PathSpec::default();
    for (index, MusclePoint { joint, point }) in part.points.iter().enumerate() {
        path.points.push(Attachment {
            bone: bone(joint, format!("{place}/points/{index}/joint"))?,
            point: *point,
        });
    }
    for (index, wrap) in part.wraps.iter().enumerate() {
        path.wraps.push(Wrap {
            strand: wrap.strand,
            bone: bone(&wrap.joint, format!("{place}/wraps/{index}/joint"))?,
            shape: wrap.shape,
            center: wrap.center,
            axis: wrap.axis,
            radius: wrap.radius,
            turn: wrap.turn,
        });
    }
    character
        .with_muscle(MuscleOptions {
            name: part.name.clone(),
            muscle: part.muscle,
            path,
            joints,
            belly: part.belly,
            reach: part.reach,
        })
        .map_err(placed(place))
}

/// Ranges of a head of hair that its model does not check.
pub(super) fn check_hair(place: &str, part: &HairUse) -> Result<(), EngineError> {
    if !part.material.guides.is_empty() {
        let place = format!("{place}/material/guides");
        return Err(refusal(&place, "come from the groom".to_owned()));
    }
    let in_range = |field: &str, value: f32, low: f32, high: f32| {
        range(&format!("{place}/{field}"), value, low, high)
    };
    in_range("followed", part.followed as f32, 1.0, 4.0)?;
    in_range("radius", part.radius, 1e-6, 0.1)?;
    for (index, level) in part.levels.iter().enumerate() {
        let at = |field: &str| format!("levels/{index}/{field}");
        in_range(&at("guides"), level.guides as f32, 0.0, 10_000.0)?;
        in_range(&at("segments"), level.segments as f32, 1.0, 1000.0)?;
    }
    if let Some(segments) = part.material.segments {
        in_range("material/segments", segments as f32, 1.0, 1000.0)?;
    }
    // A thicker strand would look for contacts with everything at once.
    in_range("material/thickness", part.material.thickness, 0.0, 1.0)?;
    if let GroomSpec::Scalp(scalp) = &part.groom {
        let at = |field: &str| format!("groom/scalp/{field}");
        vector(&format!("{place}/{}", at("center")), scalp.center)?;
        in_range(&at("radius"), scalp.radius, 1e-3, 10.0)?;
        in_range(&at("length"), scalp.length, 1e-3, 10.0)?;
        in_range(&at("guides"), scalp.guides as f32, 1.0, 10_000.0)?;
        in_range(&at("strands"), scalp.strands as f32, 1.0, 200_000.0)?;
        in_range(&at("clump"), scalp.clump, 0.0, 1.0)?;
        in_range(&at("frizz"), scalp.frizz, 0.0, 1.0)?;
        in_range(&at("curl"), scalp.curl, 0.0, 1.0)?;
    }
    Ok(())
}
