//! An elbow that keeps its volume: `cargo run --example 17_corrective_elbow [PICTURE.png]`.
//!
//! Linear blending thins a bent elbow. Three poses are sculpted (here by rotation centres and a swelling biceps, in a studio by
//! hand), each sculpt becomes a corrective shape in front of the skin, and the elbow's rotation drives the shapes by pose
//! space deformation: right at all of them, nothing at rest, smooth in between, at the price of a linear blend.

mod common;

use anim_engine::deformer;
use anim_engine::geom::{normals, primitives};
use anim_engine::math::{Affine, Quat, Transform, Vec3, quat};
use anim_engine::skeleton::{JointSpec, Skeleton};
use anim_engine::skin::{
    Bulge, DualPalette, Influences, Kernel, Palette, PoseSpace, RotationCenterOptions,
    RotationCenters, SkinnedMesh, VertexBlocks,
};
use anim_view::plot::{Plot, Series};
use anim_view::{Camera, Canvas, Image, sheet};
use common::{BLUE, ORANGE, Outcome, announce, caption, draw_surface, stacked, write};

const CELL: [u32; 2] = [190, 180];
const SKIN: [f32; 3] = [0.62, 0.40, 0.30];
/// Of the arm, m.
const RADIUS: f32 = 0.045;
const HALF_LENGTH: f32 = 0.25;
/// Around the elbow, m.
const BLENDED: f32 = 0.09;
/// The sculpted poses, degrees.
const SCULPTED: [f32; 3] = [45.0, 90.0, 140.0];
/// The poses that are shown, degrees.
const SHOWN: [f32; 6] = [0.0, 45.0, 70.0, 90.0, 115.0, 140.0];

fn main() -> Outcome {
    let plain = arm(&[])?;
    let artist = Artist::new(&plain)?;
    let shapes: Vec<_> = SCULPTED
        .iter()
        .map(|angle| plain.corrective(&bent(*angle), &artist.sculpt(&plain, *angle)))
        .collect();
    for (angle, shape) in SCULPTED.iter().zip(&shapes) {
        let moved = shape.vertices.len();
        announce(&format!(
            "the shape for {angle} degrees moves {moved} vertices"
        ));
    }
    let corrected = Elbow {
        mesh: arm(&shapes)?,
        drive: PoseSpace::new(
            &[Quat::identity()],
            &SCULPTED.map(|angle| vec![elbow(angle)]),
            &[1.0],
            Kernel::Linear,
        )?,
    };

    let rest = deformer::volume(&plain, plain.rest());
    let share = |surface: &VertexBlocks| (deformer::volume(&plain, surface) / rest) as f32;
    let rows = ["linear blend", "with correctives", "sculpt"];
    let mut pictures = [const { Vec::new() }; 3];
    let mut labels = [const { Vec::new() }; 3];
    for angle in SHOWN {
        let sculpt = artist.sculpt(&plain, angle);
        let surfaces = [linear(&plain, angle), corrected.surface(angle), sculpt];
        for (row, surface) in surfaces.iter().enumerate() {
            pictures[row].push(picture(&plain, surface)?);
            let volume = share(surface);
            let off = 1e3 * farthest(surface, &surfaces[2]);
            labels[row].push(format!("{angle}: volume {volume:.3}"));
            announce(&format!(
                "{:<17} {angle:>5} degrees: volume {volume:.4}, {off:6.2} mm from the sculpt",
                rows[row]
            ));
        }
    }
    let sheets = pictures.iter().zip(&labels);
    let sheets: Vec<Image> = sheets.map(|(p, l)| sheet(p, l, p.len())).collect();
    let width = sheets[0].width;

    let curve = |volume: &dyn Fn(f32) -> f32| -> Vec<[f32; 2]> {
        let angles = (0..=72_u8).map(|n| f32::from(n) * 2.0);
        angles.map(|angle| [angle, volume(angle)]).collect()
    };
    let before = curve(&|angle| share(&linear(&plain, angle)));
    let after = curve(&|angle| share(&corrected.surface(angle)));
    let wanted = curve(&|angle| share(&artist.sculpt(&plain, angle)));
    let series = |label, points, color| Series {
        label,
        points,
        color,
    };
    let plot = Plot {
        title: "volume of the arm",
        x_label: "elbow, degrees",
        y_label: "share of that at rest",
        series: &[
            series("sculpt", &wanted, [0.05, 0.38, 0.10]),
            series(rows[0], &before, ORANGE),
            series(rows[1], &after, BLUE),
        ],
    };
    let mut parts = Vec::new();
    for (name, row) in rows.iter().zip(sheets) {
        parts.extend([caption(width, name), row]);
    }
    parts.push(plot.draw(width, 260)?);
    write("17_corrective_elbow", &stacked(&parts))
}

/// The elbow's rotation: it bends about z.
fn elbow(degrees: f32) -> Quat {
    quat::from_axis_angle(Vec3::z(), degrees.to_radians())
}

/// The forearm, y > 0, bent.
fn bent(degrees: f32) -> Palette {
    let mut palette = Palette::new(2);
    palette.set(1, Transform::from_rotation(elbow(degrees)).into());
    palette
}

/// An arm along y with its elbow at the origin.
fn arm(shapes: &[anim_engine::skin::MorphTarget]) -> Outcome<SkinnedMesh> {
    let mesh = primitives::cylinder(RADIUS, HALF_LENGTH, 40, 100);
    let weights = mesh.rest.positions.iter().flat_map(|p| {
        let s = (0.5 + 0.5 * p.y / BLENDED).clamp(0.0, 1.0);
        let fore = s * s * (3.0 - 2.0 * s);
        [1.0 - fore, fore]
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
    Ok(SkinnedMesh::new(
        &mesh,
        &joints,
        &binds,
        &influences,
        shapes,
    )?)
}

fn linear(mesh: &SkinnedMesh, angle: f32) -> VertexBlocks {
    let mut out = mesh.rest().clone();
    mesh.linear(mesh.rest(), &bent(angle), &mut out);
    out
}

/// Stands in for whoever sculpts: the arm turns about centres of its own, and the biceps swells as it shortens.
struct Artist {
    centers: RotationCenters,
    biceps: Bulge,
}

impl Artist {
    fn new(mesh: &SkinnedMesh) -> Outcome<Self> {
        // The belly, at the side that the forearm comes to.
        let mut weights = vec![0.0; mesh.vertex_count()];
        for (vertex, source) in mesh.source_from_vertex().iter().enumerate() {
            let p = mesh.rest().position(vertex);
            let along = (p.y + 0.5 * HALF_LENGTH) / (0.3 * HALF_LENGTH);
            let facing = (0.5 - 0.5 * p.x / RADIUS).clamp(0.0, 1.0);
            weights[*source as usize] = facing * facing * (-along * along).exp();
        }
        Ok(Self {
            centers: RotationCenters::new(mesh, &RotationCenterOptions::default()),
            biceps: Bulge::new(mesh, &weights, 0.5 * RADIUS)?,
        })
    }

    /// How the arm should look.
    fn sculpt(&self, mesh: &SkinnedMesh, angle: f32) -> VertexBlocks {
        let mut source = mesh.rest().clone();
        let shortened = Bulge::length_ratio(angle.to_radians(), HALF_LENGTH, 0.05);
        self.biceps.apply(shortened, &mut source);
        let palette = bent(angle);
        let mut motions = DualPalette::new(palette.len());
        mesh.dual_palette(&palette, &mut motions);
        let mut out = mesh.rest().clone();
        self.centers
            .deform(mesh, &source, &palette, &motions, &mut out);
        out
    }
}

/// The arm with its shapes and what drives them.
struct Elbow {
    mesh: SkinnedMesh,
    drive: PoseSpace,
}

impl Elbow {
    /// One frame: weights from the pose, shapes, skin.
    fn surface(&self, angle: f32) -> VertexBlocks {
        let mut weights = [0.0; SCULPTED.len()];
        self.drive.weights(&[elbow(angle)], &mut weights);
        let mut morphed = self.mesh.rest().clone();
        self.mesh.morph(&weights, &mut morphed);
        let mut out = morphed.clone();
        self.mesh.linear(&morphed, &bent(angle), &mut out);
        out
    }
}

/// Largest distance of a vertex from where it should be, m.
fn farthest(a: &VertexBlocks, b: &VertexBlocks) -> f32 {
    let distances = (0..a.len()).map(|v| (a.position(v) - b.position(v)).norm());
    distances.fold(0.0, f32::max)
}

/// The shapes bring no normals: those of the deformed surface are drawn.
fn picture(mesh: &SkinnedMesh, surface: &VertexBlocks) -> Outcome<Image> {
    let mut surface = surface.clone();
    let positions: Vec<Vec3> = (0..surface.len()).map(|v| surface.position(v)).collect();
    let mut smooth = vec![Vec3::zeros(); positions.len()];
    normals::smooth(&positions, mesh.triangles(), &mut smooth);
    let normals = smooth.iter().enumerate();
    normals.for_each(|(vertex, normal)| surface.set_normal(vertex, *normal));

    let low = Vec3::new(-0.24, -0.26, -0.05);
    let high = Vec3::new(0.08, 0.26, 0.05);
    let aspect = CELL[0] as f32 / CELL[1] as f32;
    let camera = Camera::framing(low, high, 0.35, 0.15, aspect);
    let mut canvas = Canvas::new(CELL[0], CELL[1], 2)?;
    draw_surface(&mut canvas, &camera, mesh, &surface, SKIN);
    Ok(canvas.finish())
}
