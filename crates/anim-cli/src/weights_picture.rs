//! Weights as colours.

use anim_engine::geom::Mesh;
use anim_engine::math::Vec3;
use anim_engine::skin::SkinWeights;
use anim_view::{Image, Style};

use crate::output::Failure;
use crate::picture::{self, Look};
use crate::weights_rig::Rig;

/// Pixels a side.
const SIDE: u32 = 960;

/// The bound mesh at rest from the front: a colour a joint, blended by the weights; or one joint's weights alone.
pub(crate) fn draw(
    mesh: &Mesh,
    weights: &SkinWeights,
    rig: &Rig,
    joint: Option<u16>,
) -> Result<Image, Failure> {
    let color = |vertex: usize| match joint {
        Some(joint) => heat(weights.weight(vertex, joint) as f32),
        None => weights
            .row(vertex)
            .fold([0.0; 3], |sum: [f32; 3], (joint, weight)| {
                let hue = distinct(joint);
                std::array::from_fn(|channel| sum[channel] + weight as f32 * hue[channel])
            }),
    };
    let colors: Vec<[f32; 3]> = (0..weights.vertex_count()).map(color).collect();
    let positions = &mesh.rest.positions;
    let (mut low, mut high) = (Vec3::repeat(f32::INFINITY), Vec3::repeat(f32::NEG_INFINITY));
    for position in positions {
        low = low.inf(position);
        high = high.sup(position);
    }
    let look = Look {
        width: SIDE,
        height: SIDE,
        yaw_deg: 25.0,
        pitch_deg: 12.0,
        skeleton: true,
        wire: false,
        floor: picture::floor((low, high)),
    };
    let camera = picture::camera((low, high), &look);
    let mut canvas = picture::canvas(&look)?;
    canvas.ground_grid(&camera, look.floor, 3.0 * (high - low).amax());
    let style = Style {
        two_sided: true,
        ..Style::default()
    };
    let normals = &mesh.rest.normals;
    canvas.painted_mesh(
        &camera,
        positions,
        normals,
        &mesh.triangles,
        &colors,
        &style,
    );
    for bone in rig.bones.segments() {
        canvas.line(&camera, bone.head, bone.tail, [0.02; 3], 1.5);
    }
    Ok(canvas.finish())
}

/// A colour of which neighbours in the list are far apart: hues step by the golden ratio, brightness alternates.
fn distinct(joint: u16) -> [f32; 3] {
    let hue = (f32::from(joint) * 0.618_034).fract();
    let value = [0.85, 0.45, 0.65][usize::from(joint % 3)];
    let channel = |offset: f32| {
        let from = ((hue + offset).fract() * 6.0 - 3.0).abs() - 1.0;
        value * (0.12 + 0.88 * from.clamp(0.0, 1.0))
    };
    [channel(0.0), channel(2.0 / 3.0), channel(1.0 / 3.0)]
}

/// From blue through green and yellow to red.
fn heat(weight: f32) -> [f32; 3] {
    const STOPS: [[f32; 3]; 5] = [
        [0.02, 0.05, 0.45],
        [0.0, 0.40, 0.60],
        [0.05, 0.55, 0.08],
        [0.85, 0.65, 0.02],
        [0.75, 0.03, 0.02],
    ];
    let along = weight.clamp(0.0, 1.0) * 4.0;
    let first = (along as usize).min(3);
    let share = along - first as f32;
    std::array::from_fn(|c| STOPS[first][c] + (STOPS[first + 1][c] - STOPS[first][c]) * share)
}
