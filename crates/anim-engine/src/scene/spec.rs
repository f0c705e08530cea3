//! The fields of a scene file.

use std::collections::BTreeMap;

use anim_curves::TrackSpec;
use anim_graph::GraphSpec;
use anim_math::Vec3;
use anim_particles::EffectSpec;
use anim_sim::cloth::ClothSpec;
use anim_skeleton::{DriverSpec, Events, MaskSpec, Wrap};
use serde::{Deserialize, Serialize};

use super::{BodySpec, GroundSpec, GustSpec, HairUse, MuscleUse, ObstacleSpec};
use crate::{Deform, LayerMode};

/// A scene file, `anim.scene/1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneSpec {
    /// `anim.scene/1`.
    pub schema: String,
    /// How long it plays, s.
    pub duration: f32,
    /// Frames per second.
    pub fps: f32,
    /// m/s².
    pub gravity: Vec3,
    /// Velocity of the air, m/s.
    pub wind: Vec3,
    /// How the wind varies; steady if left out.
    pub gusts: Option<GustSpec>,
    /// What the characters stand on.
    pub ground: Option<GroundSpec>,
    /// Points to reach for and look at, by name.
    pub targets: BTreeMap<String, TargetSpec>,
    /// Who is in it.
    pub characters: Vec<CharacterSpec>,
    /// What is in the way of what is simulated.
    pub obstacles: Vec<ObstacleSpec>,
    /// Simulated bodies that stand by themselves.
    pub bodies: Vec<BodySpec>,
    /// Dust, sparks, snow.
    pub particles: Vec<ParticlesSpec>,
    /// How pictures look at it.
    pub camera: CameraSpec,
}

impl Default for SceneSpec {
    fn default() -> Self {
        Self {
            schema: "anim.scene/1".to_owned(),
            duration: 4.0,
            fps: 30.0,
            gravity: Vec3::new(0.0, -9.81, 0.0),
            wind: Vec3::zeros(),
            gusts: None,
            ground: None,
            targets: BTreeMap::new(),
            characters: Vec::new(),
            obstacles: Vec::new(),
            bodies: Vec::new(),
            particles: Vec::new(),
            camera: CameraSpec::default(),
        }
    }
}

/// A point that moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetSpec {
    /// Positions over time, m.
    pub track: TrackSpec<Vec3>,
    /// The place of the character whose travel carries the point along.
    #[serde(default)]
    pub follow: Option<usize>,
}

/// One character.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CharacterSpec {
    /// A character file, relative to the scene file.
    pub file: String,
    /// Where it stands, m.
    pub position: Vec3,
    /// Turn about +Y.
    pub yaw_deg: f32,
    /// What it plays; several are blended.
    pub clips: Vec<ClipUse>,
    /// How its surfaces follow the joints.
    pub deformer: Deform,
    /// An animation graph of its clips, below `clips`.
    pub graph: Option<GraphSpec>,
    /// A JSON file with that graph, relative to the scene file; whoever opens the scene reads it into `graph`.
    pub graph_file: Option<String>,
    /// The graph's parameters over time; above 0.5 a bool is true, and a trigger is fired as it gets there.
    pub parameters: BTreeMap<String, TrackSpec<f32>>,
    /// The joint whose travel and turns over the ground move the character.
    pub root_motion: Option<String>,
    /// What happens in its clips, by the clip's name.
    pub events: BTreeMap<String, Events>,
    /// Moments that clips are kept in step at, by the clip's name.
    pub markers: BTreeMap<String, Events>,
    /// Joints that follow from other joints.
    pub drivers: Vec<DriverSpec>,
    /// Places where others may hang.
    pub sockets: Vec<SocketSpec>,
    /// What the character hangs on; `position` and `yaw_deg` are seen from there.
    pub attached_to: Option<AttachmentSpec>,
    /// Planted feet.
    pub feet: Option<FeetSpec>,
    /// Goals, met in order.
    pub goals: Vec<GoalSpec>,
    /// Simulated surfaces.
    pub cloth: Vec<ClothUse>,
    /// Hair.
    pub hair: Vec<HairUse>,
    /// How large it is on the screen over time, in the pixels of its levels: they are chosen by that; without, the finest.
    ///
    /// The levels of the first head count; other heads go to that of the same number.
    pub hair_pixels: Option<TrackSpec<f32>>,
    /// Muscles.
    pub muscles: Vec<MuscleUse>,
    /// The body that cloth lies on and hair falls over.
    pub body: Vec<CapsuleSpec>,
}

/// A named place that moves with a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketSpec {
    /// Unique in its character.
    pub name: String,
    /// What it moves with.
    pub joint: String,
    /// Where it is, seen from the joint, m.
    #[serde(default)]
    pub position: Vec3,
    /// How it is turned, seen from the joint: x, y, z, w.
    #[serde(default = "unturned")]
    pub rotation: [f32; 4],
}

fn unturned() -> [f32; 4] {
    [0.0, 0.0, 0.0, 1.0]
}

/// What a character hangs on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttachmentSpec {
    /// The place of the character that carries it.
    pub character: usize,
    /// Name of one of its sockets.
    pub socket: String,
}

/// A clip that plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClipUse {
    /// Its name.
    pub clip: String,
    /// Share of the blend.
    pub weight: f32,
    /// Factor of time.
    pub speed: f32,
    /// Where it starts, s.
    pub start: f32,
    /// Starts again at its end; otherwise it holds its last pose.
    pub repeat: bool,
    /// What happens at the ends, instead of `repeat`.
    pub wrap: Option<Wrap>,
    /// How it meets the others.
    pub mode: LayerMode,
    /// Which joints it moves; all if left out.
    pub mask: Option<MaskSpec>,
    /// The clip whose first pose an additive one is seen from; the rest pose if left out.
    pub reference: Option<String>,
}

impl Default for ClipUse {
    fn default() -> Self {
        Self {
            clip: String::new(),
            weight: 1.0,
            speed: 1.0,
            start: 0.0,
            repeat: true,
            wrap: None,
            mode: LayerMode::Mix,
            mask: None,
            reference: None,
        }
    }
}

/// Which joints are legs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeetSpec {
    /// The joint above both legs.
    pub hips: String,
    /// The feet.
    pub feet: Vec<FootSpec>,
}

/// One foot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FootSpec {
    /// The ankle; knee and hip are the joints above it.
    pub ankle: String,
    /// The ball of the foot.
    #[serde(default)]
    pub toes: Option<String>,
}

/// A demand on a character.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GoalSpec {
    /// The end of a two-bone chain goes to a target.
    Reach {
        /// The joint that goes there; the two above it bend.
        end: String,
        /// Name of the target.
        target: String,
        /// Where the middle joint bends to, world space.
        #[serde(default)]
        pole: Option<Vec3>,
        /// Fraction of the length over which the chain eases into full extension.
        #[serde(default)]
        softness: f32,
        /// 0 to 1.
        #[serde(default = "one")]
        weight: f32,
    },
    /// A joint turns to a target.
    LookAt {
        /// Which joint.
        joint: String,
        /// Name of the target.
        target: String,
        /// The joint's own axis that turns to the target.
        forward: Vec3,
        /// The joint's own axis that stays up.
        up: Vec3,
        /// Largest turn.
        #[serde(default = "half_turn")]
        limit_deg: f32,
        /// 0 to 1.
        #[serde(default = "one")]
        weight: f32,
    },
}

fn one() -> f32 {
    1.0
}

fn half_turn() -> f32 {
    180.0
}

/// A surface that is simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClothUse {
    /// Name of the node that carries the mesh.
    pub node: String,
    /// Place of the primitive in the mesh.
    #[serde(default)]
    pub primitive: usize,
    /// Which vertices follow the joints.
    pub pins: PinSpec,
    /// Material.
    #[serde(default)]
    pub material: ClothSpec,
    /// Solver steps in each simulation step.
    #[serde(default = "ten")]
    pub substeps: u32,
}

fn ten() -> u32 {
    10
}

/// Which vertices of a cloth follow the joints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinSpec {
    /// All at most this far, m, below the highest at rest.
    Top(f32),
    /// These, in the order of the file.
    Vertices(Vec<u32>),
}

/// A capsule that moves with a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapsuleSpec {
    /// Which joint.
    pub joint: String,
    /// Metres.
    pub radius: f32,
    /// One end of its axis, in the joint's space, m.
    pub from: Vec3,
    /// The other end.
    pub to: Vec3,
}

/// A particle effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ParticlesSpec {
    /// How the particles move.
    pub effect: EffectSpec,
    /// Where they come from, world space, m, with `rate`.
    pub at: Option<Vec3>,
    /// Particles per second at `at`.
    pub rate: f32,
    /// The place of the character whose landing feet kick up `burst` particles.
    pub steps_of: Option<usize>,
    /// Particles a step.
    pub burst: u32,
}

/// How pictures look at the scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CameraSpec {
    /// Turn about +Y; 0 looks at the front of a character that faces +Z.
    pub yaw_deg: f32,
    /// How far it looks down.
    pub pitch_deg: f32,
}

impl Default for CameraSpec {
    fn default() -> Self {
        Self {
            yaw_deg: 35.0,
            pitch_deg: 12.0,
        }
    }
}
