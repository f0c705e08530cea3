//! Every deformer on the same twists and bends, of a tube and of a human arm:
//! `cargo run -p anim-engine --features solve --example 14_deformers [PICTURE.png | docs]`.
//!
//! The linear blend collapses as a candy wrapper where joints twist; what keeps the volume there may bulge where they
//! bend. With a folder in place of a picture, the table and the pictures of `docs/deformers.md` are drawn anew.

mod common;

use std::path::Path;

use anim_engine::geom::primitives;
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::skeleton::{Globals, JointSpec, Skeleton};
use anim_engine::skin::{Influences, Palette, SkinnedMesh, VertexBlocks};
use anim_engine::{Character, Deform, Deformer, asset, deformer};
use anim_view::plot::{Plot, Series};
use anim_view::{Camera, Canvas, Image, sheet};
use common::{Outcome, announce, caption, data, draw_surface, stacked, write};

/// Of the whole tube, m.
const RADIUS: f32 = 0.5;
const HALF_LENGTH: f32 = 2.0;
/// Half a turn, a little short of it: which way round it goes would be a matter of rounding.
const HALF_TURN: f32 = 179.9;
const PLAIN: [f32; 3] = [0.55, 0.40, 0.30];
/// One a deformer.
const COLORS: [[f32; 3]; 8] = [
    [0.62, 0.05, 0.04],
    [0.03, 0.14, 0.55],
    [0.02, 0.30, 0.10],
    [0.75, 0.28, 0.01],
    [0.30, 0.05, 0.45],
    [0.02, 0.35, 0.40],
    [0.35, 0.36, 0.38],
    [0.05, 0.05, 0.05],
];

fn main() -> Outcome {
    let tube = Limb::new(tube()?)?;
    let motions = [("twist", Vec3::y()), ("bend", Vec3::z())];
    let curves = motions.map(|(name, axis)| (name, tube.volumes(axis)));
    let table = table(&curves);
    announce(&table);

    let mut pictures = vec![
        ("deformers-volume", plots(&curves)?),
        ("deformers-tube", tube_strip(&tube)?),
    ];
    if let Some(file) = data("gltf/mpfb_human_mixamo_names.glb") {
        pictures.push(("deformers-arm", arm_strip(&file)?));
    }
    match std::env::args()
        .nth(1)
        .filter(|path| !path.ends_with(".png"))
    {
        Some(folder) => document(Path::new(&folder), &table, &pictures),
        None => {
            let images: Vec<Image> = pictures.into_iter().map(|(_, image)| image).collect();
            write("14_deformers", &stacked(&images))
        }
    }
}

/// A mesh and every way to deform it.
struct Limb {
    mesh: SkinnedMesh,
    ways: Vec<Deformer>,
}

impl Limb {
    fn new(mesh: SkinnedMesh) -> Outcome<Self> {
        let ways = Deform::ALL.iter().map(|way| Deformer::new(*way, &mesh));
        Ok(Self {
            ways: ways.collect::<Result<_, _>>()?,
            mesh,
        })
    }

    /// The surface under `palette` by each deformer.
    fn surfaces(&self, palette: &Palette) -> Vec<VertexBlocks> {
        let surface = |way: &Deformer| {
            let (mesh, mut out) = (&self.mesh, self.mesh.rest().clone());
            let mut scratch = way.scratch(mesh);
            way.deform(mesh, mesh.rest(), palette, &mut scratch, &mut out);
            out
        };
        self.ways.iter().map(surface).collect()
    }

    /// Angle, degrees, and volume, share of that at rest, of each deformer.
    fn volumes(&self, axis: Vec3) -> Vec<Vec<[f32; 2]>> {
        let mut curves = vec![Vec::new(); self.ways.len()];
        let rest = deformer::volume(&self.mesh, self.mesh.rest());
        for angle in (0..=12_u8).map(|n| f32::from(n) * 15.0) {
            let surfaces = self.surfaces(&turned(axis, angle.min(HALF_TURN)));
            for (curve, surface) in curves.iter_mut().zip(&surfaces) {
                let volume = deformer::volume(&self.mesh, surface) / rest;
                curve.push([angle, volume as f32]);
            }
        }
        curves
    }

    /// A picture of each surface under `palette`, in a row.
    fn row(&self, palette: &Palette, camera: &Camera, size: [u32; 2]) -> Outcome<Image> {
        let surfaces = self.surfaces(palette);
        let pictures = surfaces.iter().map(|surface| {
            let mut canvas = Canvas::new(size[0], size[1], 2)?;
            draw_surface(&mut canvas, camera, &self.mesh, surface, PLAIN);
            Ok(canvas.finish())
        });
        let pictures = pictures.collect::<Outcome<Vec<Image>>>()?;
        let names: Vec<String> = Deform::ALL
            .iter()
            .map(|way| way.name().to_owned())
            .collect();
        Ok(sheet(&pictures, &names, pictures.len()))
    }
}

/// A closed tube about y whose upper half follows a joint at the origin; in between weights pass over by a smooth step.
fn tube() -> Outcome<SkinnedMesh> {
    let mesh = primitives::cylinder(RADIUS, HALF_LENGTH, 32, 64);
    let weights = mesh.rest.positions.iter().flat_map(|p| {
        let s = (0.5 + 0.5 * p.y).clamp(0.0, 1.0);
        let upper = s * s * (3.0 - 2.0 * s);
        [1.0 - upper, upper]
    });
    let influences = Influences {
        per_vertex: 2,
        joints: [0, 1].repeat(mesh.vertex_count()),
        weights: weights.collect(),
    };
    let joint = |parent| JointSpec {
        name: None,
        parent,
        rest: Transform::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![joint(None), joint(Some(0))])?;
    let joints = [skeleton.joint(0), skeleton.joint(1)];
    let binds = [Affine::IDENTITY; 2];
    Ok(SkinnedMesh::new(&mesh, &joints, &binds, &influences, &[])?)
}

/// The upper half of the tube turned about the origin.
fn turned(axis: Vec3, degrees: f32) -> Palette {
    let mut palette = Palette::new(2);
    let turn = quat::from_axis_angle(axis, degrees.to_radians());
    palette.set(1, Transform::from_rotation(turn).into());
    palette
}

/// A motion and what it does to the volume: one curve a deformer.
type Curves = (&'static str, Vec<Vec<[f32; 2]>>);

/// The volumes in per cent as Markdown.
fn table(curves: &[Curves]) -> String {
    let angles = [45, 90, 135, 180];
    let mut text = String::from("| deformer |");
    for (name, _) in curves {
        for angle in angles {
            text.push_str(&format!(" {name} {angle}° |"));
        }
    }
    text.push_str(&format!(
        "\n|---|{}\n",
        "---:|".repeat(curves.len() * angles.len())
    ));
    for (place, way) in Deform::ALL.iter().enumerate() {
        text.push_str(&format!("| `{}` |", way.name()));
        for (_, curves) in curves {
            for angle in angles {
                let volume = 100.0 * curves[place][angle / 15][1];
                text.push_str(&format!(" {volume:.1} |"));
            }
        }
        text.push('\n');
    }
    text
}

/// The same as curves.
fn plots(curves: &[Curves]) -> Outcome<Image> {
    let mut images = Vec::new();
    for (name, curves) in curves {
        let series: Vec<Series<'_>> = Deform::ALL
            .iter()
            .zip(curves)
            .zip(COLORS)
            .map(|((way, points), color)| Series {
                label: way.name(),
                points,
                color,
            })
            .collect();
        let plot = Plot {
            title: &format!("{name} of a tube"),
            x_label: "angle, degrees",
            y_label: "volume",
            series: &series,
        };
        images.push(plot.draw(600, 340)?);
    }
    Ok(sheet(&images, &[], images.len()))
}

fn tube_strip(tube: &Limb) -> Outcome<Image> {
    let size = [148, 240];
    let aspect = size[0] as f32 / size[1] as f32;
    let framed = |low: [f32; 3], high: [f32; 3], pitch| {
        Camera::framing(Vec3::from(low), Vec3::from(high), 0.0, pitch, aspect)
    };
    let upright = framed([-0.6, -2.0, -0.5], [0.6, 2.0, 0.5], 0.25);
    let bent = framed([-2.0, -2.0, -0.5], [0.6, 1.0, 0.5], 0.0);
    let twist = tube.row(&turned(Vec3::y(), HALF_TURN), &upright, size)?;
    let bend = tube.row(&turned(Vec3::z(), 135.0), &bent, size)?;
    Ok(stacked(&[
        caption(twist.width, "twisted by half a turn"),
        twist,
        caption(bend.width, "bent by 135 degrees"),
        bend,
    ]))
}

/// The left arm of a human, twisted at the shoulder and bent at the elbow.
fn arm_strip(file: &Path) -> Outcome<Image> {
    let document = asset::load(file)?;
    let character = Character::from_document(&document, &Default::default())?;
    let skeleton = character.skeleton();
    let joint = |name: &str| character.joint_named(&format!("mixamorig:Left{name}"));
    let (shoulder, elbow, wrist) = (joint("Arm")?, joint("ForeArm")?, joint("Hand")?);
    let mut globals = Globals::new(skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    let at = |joint| globals.get(joint).translation;
    let (upper, fore) = (at(elbow) - at(shoulder), at(wrist) - at(elbow));

    let limb = Limb::new(character.surfaces()[0].mesh.clone())?;
    let size = [130, 172];
    let aspect = size[0] as f32 / size[1] as f32;
    let mut parts = Vec::new();
    for (name, joint, axis, degrees, middle, yaw) in [
        (
            "shoulder twisted by 150 degrees",
            shoulder,
            upper,
            150.0,
            at(shoulder),
            0.4,
        ),
        (
            "elbow bent by 90 degrees",
            elbow,
            fore.cross(&Vec3::z()),
            90.0,
            at(elbow) + Vec3::new(0.0, 0.03, 0.08),
            1.5,
        ),
    ] {
        let joint_from_model = globals.get(joint).to_transform().rotation.inverse();
        let axis = joint_from_model * axis.normalize();
        let turn = quat::from_axis_angle(axis, f32::to_radians(degrees));
        let mut pose = skeleton.rest().clone();
        pose.set_rotation(joint, pose.rotation(joint) * turn);
        let mut posed = Globals::new(skeleton);
        skeleton.globals(&pose, &mut posed);
        let mut palette = limb.mesh.palette_buffer();
        limb.mesh.palette(&posed, &mut palette);
        let half = Vec3::new(0.15, 0.22, 0.15);
        let camera = Camera::framing(middle - half, middle + half, yaw, 0.1, aspect);
        let row = limb.row(&palette, &camera, size)?;
        parts.extend([caption(row.width, name), row]);
    }
    Ok(stacked(&parts))
}

/// Where the table stands in the document.
const MARKS: [&str; 2] = ["<!-- volumes -->\n", "<!-- end of volumes -->\n"];

/// Puts table and pictures into the folder with `deformers.md`.
fn document(folder: &Path, table: &str, pictures: &[(&str, Image)]) -> Outcome {
    for (name, image) in pictures {
        let png = image.to_png();
        announce(&format!("{name}.png: {} bytes", png.len()));
        std::fs::write(folder.join(name).with_extension("png"), png)?;
    }
    let path = folder.join("deformers.md");
    let text = std::fs::read_to_string(&path)?;
    let (head, rest) = text.split_once(MARKS[0]).ok_or("no place for the table")?;
    let (_, tail) = rest.split_once(MARKS[1]).ok_or("no end of the table")?;
    let text = [head, MARKS[0], table, MARKS[1], tail].concat();
    std::fs::write(path, text)?;
    Ok(())
}
