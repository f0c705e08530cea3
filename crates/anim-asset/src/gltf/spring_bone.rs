//! Spring bones of VRM 1.0, and what both versions share: from the file's lists to drivers that a skeleton accepts.
//!
//! `VRMC_springBone` with `VRMC_springBone_extended_collider`. Where a file breaks their rules the spring, the collider or
//! the number is left out and named; the springs that remain always make [`Drivers`].

use anim_math::Vec3;
use anim_skeleton::driver::{
    DriverError, DriverSpec, Drivers, JointRef, SpringBone, SpringCollider, SpringJoint,
    SpringShape, SpringTip,
};
use anim_skeleton::{JointId, Skeleton};

use super::json::Json;
use super::read::Reader;
use super::secondary_animation;
use crate::document_check::read_too_much;
use crate::{AssetError, Document};

/// A spring of a file before it is held against the others.
pub(super) struct Chain {
    /// Where it stands in the file.
    pub(super) place: String,
    pub(super) name: Option<String>,
    /// From root to tip, each below the one before; joints are node indices.
    pub(super) joints: Vec<SpringJoint<usize>>,
    pub(super) tip: SpringTip<usize>,
    /// Indices of groups of colliders.
    pub(super) groups: Vec<usize>,
    pub(super) center: Option<usize>,
}

/// Everything that swings in a file.
#[derive(Default)]
pub(super) struct Springs {
    /// By place in the file; `None`: cannot be used.
    pub(super) colliders: Vec<Option<SpringCollider<usize>>>,
    /// Indices of colliders.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) chains: Vec<Chain>,
}

/// The nodes, seen from the springs.
pub(super) struct Tree<'d> {
    pub(super) document: &'d Document,
    pub(super) skeleton: Skeleton,
    /// Of each node: number of nodes above.
    pub(super) depths: Vec<usize>,
}

/// The spring bones of a file; none, if it has none.
///
/// # Errors
///
/// `TOO_LARGE`.
pub(super) fn drivers(
    reader: &Reader<'_>,
    document: &Document,
) -> Result<Vec<DriverSpec>, AssetError> {
    let extensions = reader.root.get("extensions");
    let extension = |name| extensions.and_then(|extensions| extensions.get(name));
    let newer = extension("VRMC_springBone");
    let older = extension("VRM").and_then(|vrm| vrm.get("secondaryAnimation"));
    if newer.is_none() && older.is_none() {
        return Ok(Vec::new());
    }
    // A file of more nodes than a skeleton may have is refused by whoever makes one.
    let Ok(skeleton) = document.skeleton() else {
        return Ok(Vec::new());
    };
    let mut depths = vec![0; document.nodes.len()];
    for joint in skeleton.joints() {
        let above = skeleton.parent(joint);
        let depth = above.map_or(0, |parent| depths[skeleton.source(parent)] + 1);
        depths[skeleton.source(joint)] = depth;
    }
    let tree = Tree {
        document,
        skeleton,
        depths,
    };
    let springs = match (newer, older) {
        (Some(json), _) => read(reader, &tree, json)?,
        (None, Some(json)) => secondary_animation::read(reader, &tree, json)?,
        (None, None) => Springs::default(),
    };
    assemble(reader, &tree, &springs)
}

/// Index `name` of `json` into a list of `count`; names what does not exist.
pub(super) fn index(
    reader: &Reader<'_>,
    json: &Json<'_>,
    name: &str,
    count: usize,
    place: &str,
) -> Option<usize> {
    let found = json.count(name).filter(|index| *index < count);
    if found.is_none() {
        let message = format_args!("{name} is none of {count}; left out");
        reader.log.error("UNRESOLVED_REFERENCE", place, message);
    }
    found
}

/// Indices of the list `name` of `json` into one of `count`; names and leaves out those that do not exist.
pub(super) fn indices(
    reader: &Reader<'_>,
    json: &Json<'_>,
    name: &str,
    count: usize,
    place: &str,
) -> Result<Vec<usize>, AssetError> {
    let list = json.list(name);
    reader.budget.take(list.len(), size_of::<usize>(), place)?;
    let mut found = Vec::with_capacity(list.len());
    for (at, element) in list.iter().enumerate() {
        match element.as_count().filter(|index| *index < count) {
            Some(index) => found.push(index),
            None => {
                let place = format!("{place}/{name}/{at}");
                let message = format_args!("none of {count}; left out");
                reader.log.error("UNRESOLVED_REFERENCE", place, message);
            }
        }
    }
    Ok(found)
}

/// The number `name` of `json` in [0, `max`], or `default`; names what is not.
pub(super) fn number(
    reader: &Reader<'_>,
    json: &Json<'_>,
    name: &str,
    max: f32,
    default: f32,
    place: &str,
) -> f32 {
    let Some(value) = json.get(name) else {
        return default;
    };
    match value.as_number().filter(|v| (0.0..=max).contains(v)) {
        Some(number) => number,
        None => {
            let message = format_args!("not a number from 0 to {max}; taken to be {default}");
            let place = format!("{place}/{name}");
            reader.log.error("VALUE_NOT_IN_RANGE", place, message);
            default
        }
    }
}

/// `power` along `direction`, or nothing where that is too much for a number.
pub(super) fn gravity(json: &Json<'_>, direction: Vec3) -> Vec3 {
    let power = json.get("gravityPower").and_then(Json::as_number);
    let gravity = direction * power.unwrap_or(0.0);
    match gravity.iter().all(|v| v.is_finite()) {
        true => gravity,
        false => Vec3::zeros(),
    }
}

impl Tree<'_> {
    /// True if `node` hangs on `above`.
    pub(super) fn is_below(&self, reader: &Reader<'_>, node: usize, above: usize) -> bool {
        let Some(steps) = self.depths[node].checked_sub(self.depths[above]) else {
            return false;
        };
        let mut at = Some(node);
        for _ in 0..steps {
            at = at.and_then(|node| self.document.nodes[node].parent);
        }
        steps > 0 && reader.budget.may_scan(steps) && at == Some(above)
    }
}

fn read(reader: &Reader<'_>, tree: &Tree<'_>, json: &Json<'_>) -> Result<Springs, AssetError> {
    let place = "/extensions/VRMC_springBone";
    let version = json.text("specVersion").unwrap_or("none");
    if version != "1.0" {
        let message = format_args!("version {version} is read as 1.0");
        let place = format!("{place}/specVersion");
        reader.log.warning("VALUE_NOT_IN_LIST", place, message);
    }
    let colliders = json.list("colliders");
    let size = size_of::<Option<SpringCollider<usize>>>();
    reader.budget.take(colliders.len(), size, place)?;
    let colliders: Vec<_> = colliders
        .iter()
        .enumerate()
        .map(|(at, json)| collider(reader, tree, json, &format!("{place}/colliders/{at}")))
        .collect();
    let groups = json.list("colliderGroups");
    reader
        .budget
        .take(groups.len(), size_of::<Vec<usize>>(), place)?;
    let count = colliders.len();
    let read_group = |(at, json): (usize, &Json<'_>)| {
        let place = format!("{place}/colliderGroups/{at}");
        indices(reader, json, "colliders", count, &place)
    };
    let groups: Vec<_> = groups
        .iter()
        .enumerate()
        .map(read_group)
        .collect::<Result<_, _>>()?;
    let mut springs = Springs {
        colliders,
        groups,
        chains: Vec::new(),
    };
    let mut is_taken = vec![false; tree.document.nodes.len()];
    let list = json.list("springs");
    reader.budget.take(list.len(), size_of::<Chain>(), place)?;
    for (at, json) in list.iter().enumerate() {
        let place = format!("{place}/springs/{at}");
        let groups = springs.groups.len();
        if let Some(chain) = chain(reader, tree, json, groups, place, &mut is_taken)? {
            springs.chains.push(chain);
        }
    }
    Ok(springs)
}

fn chain(
    reader: &Reader<'_>,
    tree: &Tree<'_>,
    json: &Json<'_>,
    groups: usize,
    place: String,
    is_taken: &mut [bool],
) -> Result<Option<Chain>, AssetError> {
    let log = reader.log;
    let list = json.list("joints");
    let size = size_of::<SpringJoint<usize>>();
    reader.budget.take(list.len(), size, &place)?;
    let mut joints: Vec<SpringJoint<usize>> = Vec::with_capacity(list.len());
    for (at, json) in list.iter().enumerate() {
        let place = format!("{place}/joints/{at}");
        let Some(node) = index(reader, json, "node", tree.document.nodes.len(), &place) else {
            return Ok(None);
        };
        let above = joints.last().map(|joint| joint.joint);
        if above.is_some_and(|above| !tree.is_below(reader, node, above)) {
            let message = "the joint is not below the one before; the spring is left out";
            log.error("SPRING_BONE_JOINT_NOT_BELOW", place, message);
            return Ok(None);
        }
        let is_tip = at + 1 == list.len();
        if is_taken[node] && !is_tip {
            let message = "the joint swings in another spring; this one is left out";
            log.error("SPRING_BONE_JOINT_TAKEN", place, message);
            return Ok(None);
        }
        let direction = json.floats::<3>("gravityDir").map(Vec3::from);
        joints.push(SpringJoint {
            joint: node,
            stiffness: number(reader, json, "stiffness", f32::MAX, 1.0, &place),
            gravity: gravity(json, direction.unwrap_or(-Vec3::y())),
            drag: number(reader, json, "dragForce", 1.0, 0.5, &place),
            hit_radius: number(reader, json, "hitRadius", f32::MAX, 0.0, &place),
        });
    }
    // The last joint has no bone of its own.
    let tip = joints.pop().filter(|_| !joints.is_empty());
    let Some(tip) = tip else {
        let message = "fewer than two joints have no bone to swing";
        log.info("SPRING_BONE_EMPTY", place, message);
        return Ok(None);
    };
    joints.iter().for_each(|joint| is_taken[joint.joint] = true);
    let center = match json.get("center") {
        Some(_) => index(reader, json, "center", tree.document.nodes.len(), &place),
        None => None,
    };
    Ok(Some(Chain {
        name: Reader::name(json),
        tip: SpringTip::Joint(tip.joint),
        groups: indices(reader, json, "colliderGroups", groups, &place)?,
        joints,
        center,
        place,
    }))
}

fn collider(
    reader: &Reader<'_>,
    tree: &Tree<'_>,
    json: &Json<'_>,
    place: &str,
) -> Option<SpringCollider<usize>> {
    let joint = index(reader, json, "node", tree.document.nodes.len(), place)?;
    let extended = json
        .get("extensions")
        .and_then(|e| e.get("VRMC_springBone_extended_collider"))
        .and_then(|e| e.get("shape"))
        .and_then(|json| shape(reader, json, place));
    let shape = extended.or_else(|| shape(reader, json.get("shape")?, place));
    if shape.is_none() {
        let message = "neither sphere nor capsule nor plane; the collider is left out";
        reader.log.error("SPRING_COLLIDER_SHAPE", place, message);
    }
    Some(SpringCollider {
        joint,
        shape: shape?,
    })
}

/// A shape of either extension.
fn shape(reader: &Reader<'_>, json: &Json<'_>, place: &str) -> Option<SpringShape> {
    let vector = |json: &Json<'_>, name: &str| json.floats::<3>(name).map(Vec3::from);
    let radius = |json: &Json<'_>| number(reader, json, "radius", f32::MAX, 0.0, place);
    if let Some(ball) = json.get("sphere") {
        return Some(SpringShape::Ball {
            center: vector(ball, "offset").unwrap_or_default(),
            radius: radius(ball),
            inside: ball.flag("inside"),
        });
    }
    if let Some(capsule) = json.get("capsule") {
        let ends = ["offset", "tail"].map(|end| vector(capsule, end).unwrap_or_default());
        return Some(SpringShape::Capsule {
            ends,
            radius: radius(capsule),
            inside: capsule.flag("inside"),
        });
    }
    let plane = json.get("plane")?;
    let normal = vector(plane, "normal").unwrap_or(Vec3::z());
    normal
        .try_normalize(1e-18)
        .map(|normal| SpringShape::Plane {
            point: vector(plane, "offset").unwrap_or_default(),
            normal,
        })
}

/// Makes drivers of chains; leaves out what would make them wait for each other.
fn assemble(
    reader: &Reader<'_>,
    tree: &Tree<'_>,
    springs: &Springs,
) -> Result<Vec<DriverSpec>, AssetError> {
    let skeleton = &tree.skeleton;
    let mut swings = vec![false; skeleton.len()];
    for joint in springs.chains.iter().flat_map(|chain| &chain.joints) {
        swings[skeleton.joint(joint.joint).index()] = true;
    }
    for joint in skeleton.joints() {
        let above: Option<JointId> = skeleton.parent(joint);
        swings[joint.index()] |= above.is_some_and(|above| swings[above.index()]);
    }
    let swings = |node: usize| swings[skeleton.joint(node).index()];
    let mut specs = Vec::with_capacity(springs.chains.len());
    for (at, chain) in springs.chains.iter().enumerate() {
        let spec = driver(reader, springs, chain, &swings)?;
        let name = match &chain.name {
            Some(name) => format!("spring {at}: {name}"),
            None => format!("spring {at}"),
        };
        specs.push(DriverSpec::new(name, spec));
    }
    if read_too_much(&specs, skeleton) {
        return Err(AssetError {
            code: "TOO_LARGE",
            location: "/extensions".to_owned(),
            message: "too many springs and colliders of joints too deep".to_owned(),
        });
    }
    // Chains that skip each other's joints wait for each other; nothing else is left that could be wrong.
    loop {
        let waiting = match Drivers::new(skeleton, specs.clone()) {
            Ok(_) => return Ok(specs),
            Err(DriverError::Cycle { drivers }) => drivers,
            Err(error) => {
                let place = "/extensions";
                let message = format_args!("{error}; the springs are left out");
                reader.log.error("SPRING_BONE_INVALID", place, message);
                return Ok(Vec::new());
            }
        };
        specs.retain(|spec| !waiting.contains(&spec.name));
        let message = format_args!(
            "{} wait for each other and are left out",
            waiting.join(", ")
        );
        reader
            .log
            .error("SPRING_BONE_CYCLE", "/extensions", message);
        let work = (specs.len() + 1).saturating_mul(skeleton.len());
        if !reader.budget.may_scan(work) {
            let message = "so many more may wait that all are left out";
            reader
                .log
                .error("SPRING_BONE_CYCLE", "/extensions", message);
            return Ok(Vec::new());
        }
    }
}

fn driver(
    reader: &Reader<'_>,
    springs: &Springs,
    chain: &Chain,
    swings: &impl Fn(usize) -> bool,
) -> Result<SpringBone, AssetError> {
    let place = &chain.place;
    let center = chain.center.filter(|center| {
        if swings(*center) {
            let message = "the center swings itself; the spring swings in the world";
            let place = format!("{place}/center");
            reader.log.error("SPRING_BONE_CENTER", place, message);
        }
        !swings(*center)
    });
    let mut colliders = Vec::new();
    let members = chain
        .groups
        .iter()
        .flat_map(|group| &springs.groups[*group]);
    for member in members {
        let Some(collider) = &springs.colliders[*member] else {
            continue;
        };
        if swings(collider.joint) {
            let message = format_args!("collider {member} swings itself and is left out");
            reader.log.warning("SPRING_COLLIDER_SWINGS", place, message);
            continue;
        }
        reader
            .budget
            .take(1, size_of::<SpringCollider>() * 4, place)?;
        colliders.push(SpringCollider {
            joint: JointRef::Index(collider.joint),
            shape: collider.shape,
        });
    }
    let joints = chain.joints.iter().map(|joint| SpringJoint {
        joint: JointRef::Index(joint.joint),
        stiffness: joint.stiffness,
        gravity: joint.gravity,
        drag: joint.drag,
        hit_radius: joint.hit_radius,
    });
    Ok(SpringBone {
        joints: joints.collect(),
        tip: match chain.tip {
            SpringTip::Joint(joint) => SpringTip::Joint(JointRef::Index(joint)),
            SpringTip::Offset(offset) => SpringTip::Offset(offset),
        },
        colliders,
        center: center.map(JointRef::Index),
        teleport: None,
    })
}
