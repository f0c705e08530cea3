//! Six centimetres of padding on a published human, in three layers: its weights carried by surface and by volume, posed,
//! and what is left of it.
//!
//! By volume the padding between two parts loses what the gap loses, so as long as the body does not pass through itself,
//! less of it should turn inside out than by nearest points, and none should come into the body. Where the body does, in
//! the crease of a hip bent by a right angle, there is no room and no weights can help: more prisms turn over than by
//! surface there, though less volume does.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a broken test should say where, and what it measured"
)]

#[path = "common/data.rs"]
mod data;

use anim_engine::asset::{self, Document};
use anim_engine::geom::{Mesh, MeshBvh, WindingNumber, normals, topology};
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::skin::weights::transfer::{Correspondence, TransferOptions, transfer};
use anim_engine::skin::{Palette, SkinWeights};
use data::data;

/// How far the layers are from the skin, metres, where there is room.
const LAYERS: [f32; 3] = [0.02, 0.04, 0.06];

/// The padding covers what hangs most on these.
const COVERED: [&str; 10] = [
    "Hips",
    "Spine",
    "Spine1",
    "Spine2",
    "LeftShoulder",
    "RightShoulder",
    "LeftArm",
    "RightArm",
    "LeftUpLeg",
    "RightUpLeg",
];

/// The default; the nearest point however far and whatever its side; and by volume.
const WAYS: [(&str, Correspondence, f64, f64); 3] = [
    (
        "surface",
        Correspondence::Surface,
        0.05,
        std::f64::consts::FRAC_PI_6,
    ),
    (
        "nearest",
        Correspondence::Surface,
        1.0,
        std::f64::consts::PI,
    ),
    (
        "volume",
        Correspondence::Volume,
        0.05,
        std::f64::consts::FRAC_PI_6,
    ),
];

/// A joint, the axis at rest that it turns about, and degrees.
type Turn = (&'static str, [f32; 3], f32);

const X: [f32; 3] = [1.0, 0.0, 0.0];
const Y: [f32; 3] = [0.0, 1.0, 0.0];
const Z: [f32; 3] = [0.0, 0.0, 1.0];

const POSES: [(&str, &[Turn]); 8] = [
    ("arms up", &[("LeftArm", Z, 90.0), ("RightArm", Z, -90.0)]),
    ("arms down", &[("LeftArm", Z, -10.0), ("RightArm", Z, 10.0)]),
    (
        "arms half across",
        &[("LeftArm", Y, -45.0), ("RightArm", Y, 45.0)],
    ),
    (
        "arms across",
        &[("LeftArm", Y, -90.0), ("RightArm", Y, 90.0)],
    ),
    (
        "a step",
        &[
            ("LeftUpLeg", X, -40.0),
            ("RightUpLeg", X, 20.0),
            ("LeftLeg", X, 40.0),
            ("RightLeg", X, 20.0),
        ],
    ),
    (
        "legs together",
        &[("LeftUpLeg", Z, -8.0), ("RightUpLeg", Z, 8.0)],
    ),
    (
        "half seated",
        &[
            ("LeftUpLeg", X, -45.0),
            ("RightUpLeg", X, -45.0),
            ("LeftLeg", X, 45.0),
            ("RightLeg", X, 45.0),
        ],
    ),
    (
        "seated",
        &[
            ("LeftUpLeg", X, -90.0),
            ("RightUpLeg", X, -90.0),
            ("LeftLeg", X, 90.0),
            ("RightLeg", X, 90.0),
        ],
    ),
];

struct Human {
    document: Document,
    /// Welded.
    mesh: Mesh,
    weights: SkinWeights,
}

impl Human {
    fn load() -> Option<Self> {
        let document = asset::load(&data("gltf/mpfb_human_mixamo_names.glb")?).unwrap();
        let primitive = &document.meshes[0].primitives[0];
        let influences = primitive.influences.as_ref().unwrap();
        let joint_count = document.skins[0].joints.len();
        let (weights, _) = SkinWeights::from_influences(influences, joint_count).unwrap();
        let mut mesh = primitive.mesh.clone();
        let welded = topology::weld(&mesh.rest.positions);
        let corners = mesh.triangles.iter_mut().flatten();
        corners.for_each(|corner| *corner = welded[*corner as usize]);
        smooth_normals(&mut mesh);
        Some(Self {
            document,
            mesh,
            weights,
        })
    }

    fn joint(&self, name: &str) -> usize {
        let joints = &self.document.skins[0].joints;
        let full = Some(format!("mixamorig:{name}"));
        let found = joints
            .iter()
            .position(|node| self.document.nodes[*node].name == full);
        found.unwrap()
    }

    /// The motions of all joints from rest.
    fn palette(&self, turns: &[Turn]) -> Palette {
        let skin = &self.document.skins[0];
        let mut motions: Vec<Affine> = vec![Affine::IDENTITY; self.document.nodes.len()];
        let mut palette = Palette::new(skin.joints.len());
        // Parents come before their children in this file.
        for (place, node) in skin.joints.iter().enumerate() {
            let parent = self.document.nodes[*node].parent;
            let mut motion = parent.map_or(Affine::IDENTITY, |parent| motions[parent]);
            let head = skin.joint_from_bind[place].inverse().unwrap().translation;
            for (_, axis, degrees) in turns.iter().filter(|turn| self.joint(turn.0) == place) {
                let rotation = quat::from_axis_angle(Vec3::from(*axis), degrees.to_radians());
                let about_head = Transform {
                    rotation,
                    ..Transform::from_translation(head - rotation * head)
                };
                motion = motion * Affine::from(about_head);
            }
            motions[*node] = motion;
            palette.set(place, motion);
        }
        palette
    }
}

/// Sheets over the covered skin, from the skin itself outwards, with the same triangles.
struct Padding {
    /// The vertices of the body that it stands on.
    stands_on: Vec<u32>,
    sheets: Vec<Mesh>,
}

impl Padding {
    fn over(human: &Human) -> Self {
        let covered: Vec<usize> = COVERED.iter().map(|name| human.joint(name)).collect();
        let is_covered =
            |v: &u32| covered.contains(&usize::from(human.weights.dominant_joint(*v as usize)));
        let triangles = human.mesh.triangles.iter();
        let triangles: Vec<[u32; 3]> = triangles
            .filter(|corners| corners.iter().all(is_covered))
            .copied()
            .collect();
        let mut stands_on = triangles.concat();
        stands_on.sort_unstable();
        stands_on.dedup();
        let place = |vertex: u32| stands_on.partition_point(|other| *other < vertex) as u32;
        let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(place)).collect();
        let bvh = MeshBvh::new(&human.mesh).unwrap();
        let thickness = LAYERS[LAYERS.len() - 1];
        let rest = &human.mesh.rest;
        let room = |vertex: &u32| {
            let normal = rest.normals[*vertex as usize];
            let outside = rest.positions[*vertex as usize] + normal * 1e-4;
            // Under the arm and between the legs both sides want their half.
            let gap = bvh.ray(outside, normal, 4.0 * thickness);
            gap.map_or(1.0, |hit| (0.45 * hit.distance / thickness).min(1.0))
        };
        let room: Vec<f32> = stands_on.iter().map(room).collect();
        let sheet = |height: f32| {
            let lifted = stands_on.iter().zip(&room).map(|(vertex, room)| {
                let vertex = *vertex as usize;
                rest.positions[vertex] + rest.normals[vertex] * (height * room)
            });
            let mut mesh = Mesh {
                triangles: triangles.clone(),
                ..Mesh::default()
            };
            mesh.rest.positions = lifted.collect();
            mesh.rest.normals = vec![Vec3::zeros(); stands_on.len()];
            smooth_normals(&mut mesh);
            mesh
        };
        let heights = std::iter::once(0.0).chain(LAYERS);
        let sheets = heights.map(sheet).collect();
        Self { stands_on, sheets }
    }

    /// The weights of each sheet: the body's own on the skin, carried ones above.
    fn weights(&self, human: &Human, options: &TransferOptions) -> Vec<SkinWeights> {
        let rows = self.stands_on.iter();
        let rows = rows.map(|v| human.weights.row(*v as usize).collect::<Vec<_>>());
        let own = SkinWeights::from_rows(human.weights.joint_count(), rows).unwrap();
        let carried = self.sheets[1..].iter().map(|sheet| {
            let carried = transfer(&human.weights, &human.mesh, sheet, options);
            carried.unwrap().0
        });
        std::iter::once(own).chain(carried).collect()
    }

    fn left(&self, weights: &[SkinWeights], palette: &Palette, body: &WindingNumber) -> Left {
        let sheets = self.sheets.iter().zip(weights);
        let posed: Vec<Vec<Vec3>> = sheets
            .map(|(sheet, weights)| posed(&sheet.rest.positions, weights, palette))
            .collect();
        let above = posed[1..].iter().flatten();
        let mut left = Left {
            least: f64::INFINITY,
            in_body: above.filter(|p| body.at(**p) > 0.5).count(),
            ..Left::default()
        };
        for layer in 0..LAYERS.len() {
            let (low, high) = (&self.sheets[layer].rest, &self.sheets[layer + 1].rest);
            for corners in &self.sheets[0].triangles {
                let rest = prism(*corners, &low.positions, &high.positions);
                // In a hollow the layers fold by themselves: what is far thinner than its base and height make it says
                // nothing about weights.
                let base = corners.map(|v| low.positions[v as usize]);
                let area = (base[1] - base[0]).cross(&(base[2] - base[0])).norm() / 2.0;
                let across =
                    |v: &u32| (high.positions[*v as usize] - low.positions[*v as usize]).norm();
                let height = corners.iter().map(across).sum::<f32>() / 3.0;
                if rest < 0.25 * f64::from(area * height) {
                    continue;
                }
                let now = prism(*corners, &posed[layer], &posed[layer + 1]);
                left.prisms += 1;
                left.least = left.least.min(now / rest);
                left.inverted += usize::from(now <= 0.0);
                left.inverted_volume += (-now).max(0.0);
                left.volume += now;
                left.rest_volume += rest;
            }
        }
        left
    }
}

/// What a pose leaves of the padding: of the prisms between each sheet and the next, volumes in m³.
#[derive(Default)]
struct Left {
    prisms: usize,
    inverted: usize,
    /// The least volume of a prism, of that at rest.
    least: f64,
    inverted_volume: f64,
    volume: f64,
    rest_volume: f64,
    /// Vertices above the skin that came into the body.
    in_body: usize,
}

fn smooth_normals(mesh: &mut Mesh) {
    normals::smooth(
        &mesh.rest.positions,
        &mesh.triangles,
        &mut mesh.rest.normals,
    );
}

fn posed(positions: &[Vec3], weights: &SkinWeights, palette: &Palette) -> Vec<Vec3> {
    let point = |(vertex, position): (usize, &Vec3)| {
        let parts = weights.row(vertex).map(|(joint, weight)| {
            palette.get(usize::from(joint)).transform_point(*position) * weight as f32
        });
        parts.sum()
    };
    positions.iter().enumerate().map(point).collect()
}

/// The signed volume between a triangle and the one above it.
fn prism(corners: [u32; 3], low: &[Vec3], high: &[Vec3]) -> f64 {
    let [a, b, c] = corners.map(|v| low[v as usize].cast::<f64>());
    let [d, e, f] = corners.map(|v| high[v as usize].cast::<f64>());
    let tets = [[a, b, c, d], [b, c, d, e], [c, d, e, f]];
    let volumes = tets.map(|[p, q, r, s]| (q - p).cross(&(r - p)).dot(&(s - p)) / 6.0);
    volumes.iter().sum()
}

#[test]
fn padding_carried_by_volume_turns_inside_out_less_than_by_nearest_points() {
    let Some(human) = Human::load() else { return };
    let padding = Padding::over(&human);
    let carried = WAYS.map(|(_, correspondence, max_distance, max_angle)| {
        let options = TransferOptions {
            correspondence,
            max_distance,
            max_angle,
        };
        padding.weights(&human, &options)
    });
    let mut sound = 0;
    for (pose, turns) in POSES {
        let palette = human.palette(turns);
        let mut body = human.mesh.clone();
        body.rest.positions = posed(&human.mesh.rest.positions, &human.weights, &palette);
        smooth_normals(&mut body);
        let inside = WindingNumber::new(&body).unwrap();
        let is_buried = |v: &&u32| {
            let (position, normal) = (
                body.rest.positions[**v as usize],
                body.rest.normals[**v as usize],
            );
            inside.at(position + normal * 1e-3) > 0.5
        };
        let buried = padding.stands_on.iter().filter(is_buried).count();
        println!("{pose}: {buried} vertices of the skin in the body");
        let left = [0, 1, 2].map(|way| padding.left(&carried[way], &palette, &inside));
        for ((way, ..), left) in WAYS.iter().zip(&left) {
            println!(
                "  {way}: {} of {} prisms inverted, {:.1} cm³; the least {:.2}; {:.1} of {:.1} l; {} vertices in the body",
                left.inverted,
                left.prisms,
                left.inverted_volume * 1e6,
                left.least,
                left.volume * 1e3,
                left.rest_volume * 1e3,
                left.in_body,
            );
        }
        let [surface, nearest, volume] = left;
        let others = [surface, nearest];
        let fewer = |of: fn(&Left) -> f64| others.iter().all(|other| of(&volume) < of(other));
        assert!(fewer(|left| left.inverted_volume), "{pose}");
        if buried > 0 {
            continue;
        }
        // ∂F = 1 − u/D stays above 0 in every gap D that the body leaves open; what still folds lies in an armpit or the
        // crotch, where more than two parts meet.
        sound += 1;
        assert!(fewer(|left| left.inverted as f64), "{pose}");
        assert_eq!(volume.in_body, 0, "{pose}");
        if pose == "legs together" {
            assert!(volume.least > 0.0);
        }
    }
    assert!(sound >= 4);
}
