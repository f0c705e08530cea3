//! What `anim weights` binds: a body as it stands at rest, and a rig with its bones.

use std::path::Path;

use anim_asset::{Document, MeshSpec, Node, Primitive, SkinSpec};
use anim_engine::geom::{Mesh, Vertices};
use anim_engine::math::{Affine, Vec3};
use anim_engine::skeleton::{Globals, JointId, Skeleton};
use anim_engine::skin::weights::{Bone, Bones};
use anim_engine::skin::{Influences, MorphTarget, SkinnedMesh, VertexBlocks};
use serde_json::Value;

use crate::input;
use crate::output::Failure;

/// All surfaces of a file in model space.
pub(crate) struct Body {
    /// All primitives, one behind the other.
    pub(crate) mesh: Mesh,
    /// The node that carries each mesh, and the mesh in model space.
    meshes: Vec<(usize, MeshSpec)>,
}

impl Body {
    /// Every mesh where its node or its skin puts it at rest, with its shapes.
    pub(crate) fn new(document: &Document, file: &str) -> Result<Self, Failure> {
        let unusable = |error: &dyn std::error::Error| Failure::new(file, "/", error);
        let skeleton = document.skeleton().map_err(|error| unusable(&error))?;
        let mut globals = Globals::new(&skeleton);
        skeleton.globals(skeleton.rest(), &mut globals);
        let mut body = Self {
            mesh: Mesh::default(),
            meshes: Vec::new(),
        };
        for (index, node) in document.nodes.iter().enumerate() {
            let Some(spec) = node.mesh.and_then(|mesh| document.meshes.get(mesh)) else {
                continue;
            };
            let skin = node.skin.map(|skin| &document.skins[skin]);
            let own = SkinSpec {
                joints: vec![index],
                joint_from_bind: vec![Affine::IDENTITY],
                ..SkinSpec::default()
            };
            let stand = |primitive: &Primitive| {
                let skin = skin.filter(|_| primitive.influences.is_some());
                standing(primitive, skin.unwrap_or(&own), &skeleton, &globals)
            };
            let primitives: Result<Vec<_>, _> = spec.primitives.iter().map(stand).collect();
            let spec = MeshSpec {
                name: spec.name.clone().or(node.name.clone()),
                primitives: primitives.map_err(|error| unusable(&error))?,
                weights: document.rest_weights(index).to_vec(),
            };
            for primitive in &spec.primitives {
                append(&mut body.mesh, &primitive.mesh);
            }
            body.meshes.push((index, spec));
        }
        if body.mesh.rest.positions.is_empty() {
            return Err(Failure::new(file, "/meshes", "no vertices to bind"));
        }
        Ok(body)
    }

    /// The meshes with their share of the influences of all vertices, and the node that carried each.
    pub(crate) fn parts(&self, all: &Influences) -> Vec<(usize, MeshSpec)> {
        let mut meshes = self.meshes.clone();
        let mut first = 0;
        let primitives = meshes.iter_mut().flat_map(|(_, spec)| &mut spec.primitives);
        for primitive in primitives {
            let end = first + primitive.mesh.vertex_count() * all.per_vertex;
            primitive.influences = Some(Influences {
                per_vertex: all.per_vertex,
                joints: all.joints[first..end].to_vec(),
                weights: all.weights[first..end].to_vec(),
            });
            first = end;
        }
        meshes
    }
}

/// A primitive in model space, as its skin has it at rest; shapes are carried along.
fn standing(
    primitive: &Primitive,
    skin: &SkinSpec,
    skeleton: &Skeleton,
    globals: &Globals,
) -> Result<Primitive, anim_engine::skin::SkinError> {
    let joints: Vec<JointId> = skin.joints.iter().map(|j| skeleton.joint(*j)).collect();
    let rigid;
    let influences = match &primitive.influences {
        Some(influences) => influences,
        None => {
            rigid = Influences::rigid(primitive.mesh.vertex_count());
            &rigid
        }
    };
    let bound = SkinnedMesh::new(
        &primitive.mesh,
        &joints,
        &skin.joint_from_bind,
        influences,
        &primitive.targets,
    )?;
    let mut palette = bound.palette_buffer();
    bound.palette(globals, &mut palette);
    let mut blocks = VertexBlocks::new(bound.vertex_count());
    let mut place = |source: &VertexBlocks| {
        let mut out = Vertices::default();
        bound.linear(source, &palette, &mut blocks);
        bound.to_source_order(&blocks, &mut out);
        out
    };
    let rest = place(bound.rest());
    let mut morphed = VertexBlocks::new(bound.vertex_count());
    let mut shape = |(index, target): (usize, &MorphTarget)| {
        let mut one = vec![0.0; primitive.targets.len()];
        one[index] = 1.0;
        bound.morph(&one, &mut morphed);
        let shaped = place(&morphed);
        let difference = |a: &[Vec3], b: &[Vec3]| -> Vec<Vec3> {
            let moved = target.vertices.iter().map(|v| *v as usize);
            moved.map(|v| a[v] - b[v]).collect()
        };
        MorphTarget {
            name: target.name.clone(),
            vertices: target.vertices.clone(),
            positions: difference(&shaped.positions, &rest.positions),
            normals: if target.normals.is_empty() {
                Vec::new()
            } else {
                difference(&shaped.normals, &rest.normals)
            },
        }
    };
    let targets = primitive
        .targets
        .iter()
        .enumerate()
        .map(&mut shape)
        .collect();
    Ok(Primitive {
        mesh: Mesh {
            rest,
            ..primitive.mesh.clone()
        },
        influences: None,
        targets,
        color: primitive.color,
    })
}

fn append(all: &mut Mesh, part: &Mesh) {
    let first = all.vertex_count() as u32;
    all.rest.positions.extend(&part.rest.positions);
    all.rest.normals.extend(&part.rest.normals);
    let moved = part.triangles.iter().map(|t| t.map(|v| v + first));
    all.triangles.extend(moved);
}

/// Joints to bind to.
pub(crate) struct Rig {
    /// Whose nodes they are.
    pub(crate) document: Document,
    pub(crate) skeleton: Skeleton,
    /// At rest.
    pub(crate) globals: Globals,
    /// Nodes, ascending.
    pub(crate) joints: Vec<usize>,
    /// In model space; their joints are places in `joints`.
    pub(crate) bones: Bones,
}

impl Rig {
    /// Reads a character, or bones as JSON.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let file = path.display().to_string();
        let bones = std::fs::read(path)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
            .filter(|value| value.get("asset").is_none() && value.get("bones").is_some());
        match bones {
            Some(value) => Self::of_bones(&value["bones"], &file),
            None => Self::of(input::document(path)?, &file),
        }
    }

    /// The joints of all skins of a document; of one without skins, all nodes that carry no mesh.
    pub(crate) fn of(document: Document, file: &str) -> Result<Self, Failure> {
        let (skeleton, globals) = at_rest(&document, file)?;
        // What is scaled to nothing has no inverse that could bind it.
        let has_extent = |node: usize| globals.get(skeleton.joint(node)).inverse().is_some();
        let is_joint = |node: &usize| {
            let is_skinned = match document.skins.as_slice() {
                [] => document.nodes[*node].mesh.is_none(),
                skins => skins.iter().any(|skin| skin.joints.contains(node)),
            };
            is_skinned && has_extent(*node)
        };
        let joints: Vec<usize> = (0..document.nodes.len()).filter(is_joint).collect();
        if joints.is_empty() {
            let message = "no joints: give --skeleton";
            return Err(Failure::new(file, "/nodes", message));
        }
        let skin = skin(&joints, &skeleton, &globals);
        let bones = document.bones(&skin);
        let bones = bones.map_err(|error| Failure::new(file, "/nodes", error))?;
        Ok(Self {
            document,
            skeleton,
            globals,
            joints,
            bones,
        })
    }

    fn of_bones(list: &Value, file: &str) -> Result<Self, Failure> {
        let fail = |place: String, what: &dyn std::fmt::Display| Failure::new(file, place, what);
        let list = list.as_array().filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| fail("/bones".into(), &"not a list of bones"))?;
        let names: Vec<Option<&str>> = list.iter().map(|bone| bone["name"].as_str()).collect();
        let (mut nodes, mut segments, mut heads) = (Vec::new(), Vec::new(), Vec::new());
        for (index, bone) in list.iter().enumerate() {
            let point = |end: &str| {
                let point = vec3(&bone[end]);
                point.ok_or_else(|| fail(format!("/bones/{index}/{end}"), &"not 3 finite numbers"))
            };
            let parent = match &bone["parent"] {
                Value::Null => None,
                parent => {
                    let named = |other: &usize| names[*other].is_some_and(|name| parent == name);
                    let found: Vec<usize> = (0..names.len()).filter(named).collect();
                    let place = || format!("/bones/{index}/parent");
                    match found.as_slice() {
                        [one] => Some(*one),
                        [] => return Err(fail(place(), &format!("no bone {parent}"))),
                        _ => return Err(fail(place(), &format!("several bones {parent}"))),
                    }
                }
            };
            heads.push(point("head")?);
            segments.push(Bone {
                head: point("head")?,
                tail: point("tail")?,
                joint: u16::try_from(index)
                    .map_err(|_| fail("/bones".into(), &"more than 65536 bones"))?,
            });
            nodes.push(Node {
                name: names[index].map(str::to_owned),
                parent,
                ..Node::default()
            });
        }
        for (node, head) in nodes.iter_mut().zip(&heads) {
            node.rest.translation = head - node.parent.map_or(Vec3::zeros(), |p| heads[p]);
        }
        let roots = (0..nodes.len()).filter(|node| nodes[*node].parent.is_none());
        let document = Document {
            scenes: vec![roots.collect()],
            nodes,
            ..Document::default()
        };
        let bones = Bones::new(segments, list.len());
        let bones = bones.map_err(|error| fail("/bones".into(), &error))?;
        let (skeleton, globals) = at_rest(&document, file)?;
        Ok(Self {
            joints: (0..list.len()).collect(),
            document,
            skeleton,
            globals,
            bones,
        })
    }

    /// The place among the joints of the node that an option names.
    pub(crate) fn place(&self, option: &str, wanted: &str) -> Result<u16, Failure> {
        let joint = input::node(&self.skeleton, option, wanted)?;
        let node = self.skeleton.source(joint);
        let place = self.joints.binary_search(&node).ok();
        let place = place.and_then(|place| u16::try_from(place).ok());
        place.ok_or_else(|| Failure::option(option, format!("#{node} is no joint")))
    }

    /// Takes the bones of joints away.
    pub(crate) fn skip(&mut self, wanted: &[String]) -> Result<(), Failure> {
        let places = wanted.iter().map(|node| self.place("--skip", node));
        let places: Vec<u16> = places.collect::<Result<_, _>>()?;
        let bones = self.bones.segments().iter().copied();
        let left = bones.filter(|bone| !places.contains(&bone.joint)).collect();
        self.bones = Bones::new(left, self.bones.joint_count())
            .map_err(|error| Failure::option("--skip", error))?;
        Ok(())
    }
}

/// The skin that joins a mesh in model space to joints at rest, all of which have an extent.
fn skin(joints: &[usize], skeleton: &Skeleton, globals: &Globals) -> SkinSpec {
    let bind = |node: &usize| globals.get(skeleton.joint(*node)).inverse();
    SkinSpec {
        name: None,
        joints: joints.to_vec(),
        joint_from_bind: joints.iter().filter_map(bind).collect(),
    }
}

fn at_rest(document: &Document, file: &str) -> Result<(Skeleton, Globals), Failure> {
    let skeleton = document
        .skeleton()
        .map_err(|error| Failure::new(file, "/nodes", error))?;
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    Ok((skeleton, globals))
}

fn vec3(value: &Value) -> Option<Vec3> {
    let list = value.as_array().filter(|list| list.len() == 3)?;
    let number = |value: &Value| value.as_f64().map(|number| number as f32);
    let point = Vec3::new(number(&list[0])?, number(&list[1])?, number(&list[2])?);
    point.iter().all(|c| c.is_finite()).then_some(point)
}

/// The rig with the meshes that are bound to it.
///
/// Meshes stay at their nodes where these are the rig's; else each gets a node of its own.
pub(crate) fn joined(
    body: &Document,
    parts: Vec<(usize, MeshSpec)>,
    rig: &Rig,
    is_foreign: bool,
) -> Document {
    let mut out = rig.document.clone();
    for node in &mut out.nodes {
        (node.mesh, node.skin) = (None, None);
        node.weights.clear();
    }
    out.skins = vec![skin(&rig.joints, &rig.skeleton, &rig.globals)];
    out.meshes.clear();
    for (carrier, spec) in parts {
        let node = if is_foreign {
            let name = spec.name.clone().or(body.nodes[carrier].name.clone());
            out.nodes.push(Node {
                name,
                ..Node::default()
            });
            let node = out.nodes.len() - 1;
            match out.scenes.first_mut() {
                Some(scene) => scene.push(node),
                None => out.scenes.push(
                    (0..=node)
                        .filter(|n| out.nodes[*n].parent.is_none())
                        .collect(),
                ),
            }
            node
        } else {
            carrier
        };
        (out.nodes[node].mesh, out.nodes[node].skin) = (Some(out.meshes.len()), Some(0));
        out.meshes.push(spec);
    }
    let nodes = &out.nodes;
    for clip in &mut out.clips {
        clip.morphs
            .retain(|channel| nodes[channel.joint].mesh.is_some());
    }
    out.findings.clear();
    out
}
