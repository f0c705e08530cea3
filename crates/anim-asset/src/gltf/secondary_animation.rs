//! Spring bones of VRM 0.x: `secondaryAnimation`, whose groups name the roots of whole subtrees.
//!
//! A bone ends at its first child, as there, and other children begin chains of their own; the last bone of each is 7 cm
//! long, on in the direction it came. Offsets and directions are Unity's, whose z is the other way.

use anim_math::Vec3;
use anim_skeleton::driver::{SpringCollider, SpringJoint, SpringShape, SpringTip};

use super::json::Json;
use super::read::Reader;
use super::spring_bone::{Chain, Springs, Tree, gravity, index, indices, number};
use crate::AssetError;

/// Length of the last bone of a chain, m.
const LAST_BONE: f32 = 0.07;

pub(super) fn read(
    reader: &Reader<'_>,
    tree: &Tree<'_>,
    json: &Json<'_>,
) -> Result<Springs, AssetError> {
    let place = "/extensions/VRM/secondaryAnimation";
    let mut springs = Springs::default();
    for (at, json) in json.list("colliderGroups").iter().enumerate() {
        let place = format!("{place}/colliderGroups/{at}");
        let list = json.list("colliders");
        let size = size_of::<Option<SpringCollider<usize>>>() + size_of::<usize>();
        reader.budget.take(list.len() + 1, size, &place)?;
        let first = springs.colliders.len();
        let joint = index(reader, json, "node", tree.document.nodes.len(), &place);
        for json in joint.iter().flat_map(|_| list) {
            let shape = SpringShape::Ball {
                center: vector(json, "offset"),
                radius: number(reader, json, "radius", f32::MAX, 0.0, &place),
                inside: false,
            };
            let collider = joint.map(|joint| SpringCollider { joint, shape });
            springs.colliders.push(collider);
        }
        springs
            .groups
            .push((first..springs.colliders.len()).collect());
    }
    let children = children(reader, tree)?;
    let mut is_taken = vec![false; tree.document.nodes.len()];
    for (at, json) in json.list("boneGroups").iter().enumerate() {
        let place = format!("{place}/boneGroups/{at}");
        bone_group(
            reader,
            tree,
            json,
            &place,
            &children,
            &mut is_taken,
            &mut springs,
        )?;
    }
    Ok(springs)
}

/// The children of each node, in the file's order.
fn children(reader: &Reader<'_>, tree: &Tree<'_>) -> Result<Vec<Vec<usize>>, AssetError> {
    let count = tree.document.nodes.len();
    reader
        .budget
        .take(count, size_of::<Vec<usize>>() * 2, "/nodes")?;
    let list = |(node, json): (usize, &Json<'_>)| {
        let children = json.list("children").iter().filter_map(Json::as_count);
        children
            .filter(|child| {
                tree.document
                    .nodes
                    .get(*child)
                    .is_some_and(|c| c.parent == Some(node))
            })
            .collect()
    };
    Ok(reader
        .root
        .list("nodes")
        .iter()
        .enumerate()
        .map(list)
        .collect())
}

fn bone_group(
    reader: &Reader<'_>,
    tree: &Tree<'_>,
    json: &Json<'_>,
    place: &str,
    children: &[Vec<usize>],
    is_taken: &mut [bool],
    springs: &mut Springs,
) -> Result<(), AssetError> {
    let count = tree.document.nodes.len();
    let downward = -Vec3::y();
    let direction = json.get("gravityDir").map(|_| vector(json, "gravityDir"));
    let like = |joint: usize| SpringJoint {
        joint,
        // The name is misspelt in the specification.
        stiffness: number(reader, json, "stiffiness", f32::MAX, 1.0, place),
        gravity: gravity(json, direction.unwrap_or(downward)),
        drag: number(reader, json, "dragForce", 1.0, 0.4, place),
        hit_radius: number(reader, json, "hitRadius", f32::MAX, 0.02, place),
    };
    let groups = indices(reader, json, "colliderGroups", springs.groups.len(), place)?;
    // Minus one is none.
    let center = json.count("center").filter(|center| *center < count);
    let mut open = indices(reader, json, "bones", count, place)?;
    open.reverse();
    while let Some(root) = open.pop() {
        let mut joints = Vec::new();
        let mut next = Some(root);
        while let Some(node) = next {
            if is_taken[node] {
                let message = format_args!("node {node} swings already");
                reader
                    .log
                    .warning("SPRING_BONE_JOINT_TAKEN", place, message);
                break;
            }
            is_taken[node] = true;
            reader
                .budget
                .take(1, size_of::<SpringJoint<usize>>() * 2, place)?;
            joints.push(like(node));
            let mut below = children[node].iter().copied();
            next = below.next();
            open.extend(below.rev());
        }
        let Some(last) = joints.last().map(|joint| joint.joint) else {
            continue;
        };
        let tip = match next {
            Some(taken) => SpringTip::Joint(taken),
            None => match last_bone(tree, last) {
                Some(offset) => SpringTip::Offset(offset),
                None => {
                    joints.pop();
                    SpringTip::Joint(last)
                }
            },
        };
        if joints.is_empty() {
            continue;
        }
        reader
            .budget
            .take(groups.len() + 1, size_of::<Chain>(), place)?;
        springs.chains.push(Chain {
            place: place.to_owned(),
            name: json
                .text("comment")
                .filter(|c| !c.is_empty())
                .map(str::to_owned),
            joints,
            tip,
            groups: groups.clone(),
            center,
        });
    }
    Ok(())
}

/// The bone of a node without children, in its own space; `None` where it came from no direction.
fn last_bone(tree: &Tree<'_>, node: usize) -> Option<Vec3> {
    let rest = tree.document.nodes[node].rest;
    let onward = rest.translation.try_normalize(1e-9)? * LAST_BONE;
    let offset = rest.rotation.inverse() * onward;
    let is_usable = offset.iter().all(|v| v.is_finite()) && offset.norm() > 0.0;
    is_usable.then_some(offset)
}

/// The members x, y and z of `name`, with Unity's z.
fn vector(json: &Json<'_>, name: &str) -> Vec3 {
    let part = |axis: &str| {
        let value = json.get(name).and_then(|json| json.get(axis));
        value.and_then(Json::as_number).unwrap_or(0.0)
    };
    Vec3::new(part("x"), part("y"), -part("z"))
}
