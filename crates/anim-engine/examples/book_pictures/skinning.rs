//! Chapter 8: twists and bends by several deformers, what is left of radius and volume, rough weights.

use std::error::Error;

use anim_geom::{Mesh, primitives};
use anim_math::{Affine, Transform, Vec3, quat};
use anim_skeleton::{JointSpec, Skeleton};
use anim_skin::{
    DeltaMush, DeltaMushOptions, DeltaMushScratch, DualPalette, Influences, Palette,
    RotationCenterOptions, RotationCenters, SkinnedMesh, VertexBlocks,
};
use anim_view::{Canvas, Image, Style, ViewError, sheet};

use crate::frames::facing;
use crate::{BLUE, GREEN, GREY, ORANGE, Picture, crosses, graph, plot, row};

pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    Ok(vec![
        ("08-deformers", deformers()?),
        ("08-volume", volumes()?),
        ("08-apart", apart()?),
        ("08-mush", mush()?),
    ])
}

/// How a [`Limb`] is deformed.
#[derive(Clone, Copy)]
pub(crate) enum Deformer {
    Linear,
    DualQuaternion,
    Centers,
    Apart,
    /// Delta mush over the linear blend.
    Mush,
}

/// A cylinder of 0.5 m radius about y whose two joints lie at `joint`.
pub(crate) struct Limb {
    pub(crate) skin: SkinnedMesh,
    centers: RotationCenters,
    mush: DeltaMush,
    joint: Vec3,
}

impl Limb {
    /// `upper` is the second joint's weight at a height above the joint.
    pub(crate) fn new(
        half_length: f32,
        joint: Vec3,
        upper: impl Fn(f32) -> f32,
    ) -> Result<Self, Box<dyn Error>> {
        let mut mesh = primitives::cylinder(0.5, half_length, 32, (32.0 * half_length) as u32);
        let weights = mesh.rest.positions.iter().map(|p| upper(p.y));
        let weights = weights.flat_map(|w| [1.0 - w, w]).collect();
        mesh.rest.positions.iter_mut().for_each(|p| *p += joint);
        let skin = bound(&mesh, weights)?;
        Ok(Self {
            centers: RotationCenters::new(&skin, &RotationCenterOptions::default()),
            mush: DeltaMush::new(
                &skin,
                &DeltaMushOptions {
                    steps: 40,
                    step: 0.5,
                },
            ),
            joint,
            skin,
        })
    }

    /// The matrices that turn the second joint.
    pub(crate) fn palette(&self, axis: Vec3, degrees: f32) -> Palette {
        let rotation = quat::from_axis_angle(axis, degrees.to_radians());
        let mut palette = self.skin.palette_buffer();
        let turn = Transform {
            rotation,
            translation: self.joint - rotation * self.joint,
            ..Transform::IDENTITY
        };
        palette.set(1, turn.into());
        palette
    }

    pub(crate) fn deformed(&self, by: Deformer, palette: &Palette) -> VertexBlocks {
        let (skin, rest) = (&self.skin, self.skin.rest());
        let mut motions = DualPalette::new(palette.len());
        skin.dual_palette(palette, &mut motions);
        let mut out = VertexBlocks::new(skin.vertex_count());
        match by {
            Deformer::Linear => skin.linear(rest, palette, &mut out),
            Deformer::DualQuaternion => skin.dual_quaternion(rest, &motions, &mut out),
            Deformer::Centers => {
                self.centers.deform(skin, rest, palette, &motions, &mut out);
            }
            Deformer::Apart => skin.trs_blend(rest, &motions, &mut out),
            Deformer::Mush => {
                let mut base = out.clone();
                skin.linear(rest, palette, &mut base);
                let mut scratch = DeltaMushScratch::default();
                self.mush
                    .deform(skin, &base, &motions, &mut scratch, &mut out);
            }
        }
        out
    }

    /// What encloses `surface`, m³.
    pub(crate) fn volume(&self, surface: &VertexBlocks) -> f32 {
        let triangles = self.skin.triangles().iter().map(|corners| {
            let [a, b, c] = corners.map(|v| surface.position(v as usize).cast::<f64>());
            a.dot(&b.cross(&c)) / 6.0
        });
        triangles.sum::<f64>() as f32
    }

    /// A picture of `surface`, striped along the limb.
    fn picture(&self, surface: &VertexBlocks, size: [u32; 2]) -> Result<Image, ViewError> {
        let mut canvas = Canvas::new(size[0], size[1], 3)?;
        let vertices = 0..surface.len();
        let positions: Vec<_> = vertices.clone().map(|v| surface.position(v)).collect();
        let normals: Vec<_> = vertices.clone().map(|v| surface.normal(v)).collect();
        let stripe = |vertex| {
            let from_axis = self.skin.rest().position(vertex) - self.joint;
            let sector = libm::atan2f(from_axis.z, from_axis.x) / std::f32::consts::FRAC_PI_4;
            if (sector - sector.round()).abs() < 0.2 {
                [0.25, 0.08, 0.05]
            } else {
                [0.72, 0.5, 0.36]
            }
        };
        let colors: Vec<[f32; 3]> = vertices.map(stripe).collect();
        let camera = facing(self.joint + Vec3::new(-0.25, 0.0, 0.0), 3.4);
        let triangles = self.skin.triangles();
        let style = Style::default();
        canvas.painted_mesh(&camera, &positions, &normals, triangles, &colors, &style);
        Ok(canvas.finish())
    }
}

/// A skin of two joints at the origin; `weights` are two a vertex.
fn bound(mesh: &Mesh, weights: Vec<f32>) -> Result<SkinnedMesh, Box<dyn Error>> {
    let joint = JointSpec {
        name: None,
        parent: None,
        rest: Transform::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![joint; 2])?;
    let joints = [skeleton.joint(0), skeleton.joint(1)];
    let influences = Influences {
        per_vertex: 2,
        joints: [0, 1].repeat(mesh.vertex_count()),
        weights,
    };
    let binds = [Affine::IDENTITY; 2];
    Ok(SkinnedMesh::new(mesh, &joints, &binds, &influences, &[])?)
}

/// A smooth step from 0 at −`half` to 1 at `half`.
pub(crate) fn step(half: f32) -> impl Fn(f32) -> f32 {
    move |y| {
        let s = (0.5 + 0.5 * y / half).clamp(0.0, 1.0);
        s * s * (3.0 - 2.0 * s)
    }
}

const THREE: [(&str, Deformer); 3] = [
    ("linear", Deformer::Linear),
    ("dual quaternion", Deformer::DualQuaternion),
    ("centres", Deformer::Centers),
];

fn deformers() -> Result<Image, Box<dyn Error>> {
    let limb = Limb::new(1.5, Vec3::zeros(), step(0.75))?;
    let (mut frames, mut labels) = (Vec::new(), Vec::new());
    for (what, axis, degrees) in [("twist", Vec3::y(), 160.0), ("bend", Vec3::z(), 120.0)] {
        for (name, by) in THREE {
            let surface = limb.deformed(by, &limb.palette(axis, degrees));
            frames.push(limb.picture(&surface, [200, 200])?);
            labels.push(format!("{name}, {what}"));
        }
    }
    Ok(sheet(&frames, &labels, 3))
}

/// What is left of the middle's radius in a twist and of the volume in a bend.
fn volumes() -> Result<Image, Box<dyn Error>> {
    let limb = Limb::new(2.0, Vec3::zeros(), step(1.0))?;
    let rest = limb.skin.rest();
    let middle = (0..rest.len()).find(|v| rest.position(*v).y.abs() < 1e-6);
    let middle = middle.ok_or("a ring in the middle")?;
    let radius = |by, degrees| {
        let surface = limb.deformed(by, &limb.palette(Vec3::y(), degrees));
        2.0 * surface.position(middle).xz().norm()
    };
    let marks = (0..=11).map(|n| {
        let degrees = 15.0 * n as f32;
        [degrees, radius(Deformer::Linear, degrees)]
    });
    let twist = [
        (
            "cos a/2",
            graph(0.0, 179.0, 100, |a| libm::cosf(0.5 * a.to_radians())),
            GREY,
        ),
        ("linear", crosses(marks, [2.5, 0.025]), ORANGE),
        (
            "others",
            graph(0.0, 179.0, 40, |a| radius(Deformer::Centers, a)),
            BLUE,
        ),
    ];
    let whole = limb.volume(rest);
    let volume = |by| {
        graph(0.0, 150.0, 30, |degrees| {
            limb.volume(&limb.deformed(by, &limb.palette(Vec3::z(), degrees))) / whole
        })
    };
    let bend = [
        ("linear", volume(Deformer::Linear), ORANGE),
        ("dual quaternion", volume(Deformer::DualQuaternion), BLUE),
        ("centres", volume(Deformer::Centers), GREEN),
    ];
    Ok(row(&[
        plot("Twist", ["angle, deg", "radius / rest"], &twist, 400)?,
        plot("Bend", ["angle, deg", "volume / rest"], &bend, 400)?,
    ]))
}

/// Translations, rotations and scales blended apart, with the joint at and away from the origin.
fn apart() -> Result<Image, Box<dyn Error>> {
    let (mut frames, mut labels) = (Vec::new(), Vec::new());
    for distance in [0.0, 1.0, 2.0] {
        let limb = Limb::new(1.5, Vec3::new(distance, 0.0, 0.0), step(0.75))?;
        let surface = limb.deformed(Deformer::Apart, &limb.palette(Vec3::z(), 120.0));
        frames.push(limb.picture(&surface, [200, 200])?);
        labels.push(format!("joint at x = {distance} m"));
    }
    Ok(sheet(&frames, &labels, 3))
}

/// Rigid weights, what delta mush makes of them, and smooth weights.
fn mush() -> Result<Image, Box<dyn Error>> {
    let rigid = Limb::new(1.5, Vec3::zeros(), |y| if y < 0.0 { 0.0 } else { 1.0 })?;
    let smooth = Limb::new(1.5, Vec3::zeros(), step(0.75))?;
    let panels = [
        ("rigid weights", &rigid, Deformer::Linear),
        ("and delta mush", &rigid, Deformer::Mush),
        ("smooth weights", &smooth, Deformer::Linear),
    ];
    let (mut frames, mut labels) = (Vec::new(), Vec::new());
    for (name, limb, by) in panels {
        let surface = limb.deformed(by, &limb.palette(Vec3::z(), 90.0));
        frames.push(limb.picture(&surface, [200, 200])?);
        labels.push(name.to_owned());
    }
    Ok(sheet(&frames, &labels, 3))
}
