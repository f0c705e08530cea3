//! Chapter 7: binding methods side by side, weights along a limb, rounding.

use std::error::Error;

use anim_geom::{Mesh, primitives};
use anim_math::Vec3;
use anim_math::nalgebra::Vector3;
use anim_skin::weights::{
    self, Bone, Bones, GeodesicOptions, InverseDistanceOptions, NearestOptions, SkinWeights,
    VoxelOptions, quantize,
};
use anim_view::{Camera, Canvas, Image, Style, ViewError, sheet};

use crate::{BLUE, GREEN, GREY, ORANGE, Picture, RED, graph, plot};

pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    Ok(vec![
        ("07-binding", binding()?),
        ("07-along", along()?),
        ("07-rounding", rounding()?),
    ])
}

/// Two legs that stand close together: how much each vertex follows the one on the right, by four methods.
fn binding() -> Result<Image, Box<dyn Error>> {
    let (mesh, bones) = horseshoe()?;
    let frames = four_methods(&mesh, &bones)?
        .iter()
        .map(|weights| painted(&mesh, weights, 2))
        .collect::<Result<Vec<_>, _>>()?;
    let labels = ["nearest", "inverse distance", "geodesic", "voxel"].map(str::to_owned);
    Ok(sheet(&frames, &labels, 4))
}

/// A bar of 0.1 m radius, bent to legs whose axes are 0.26 m apart; bones of the left leg, the hips and the right leg.
fn horseshoe() -> Result<(Mesh, Bones), Box<dyn Error>> {
    let (radius, leg) = (0.13, 0.6);
    let quarter = radius * std::f32::consts::FRAC_PI_2;
    let mut mesh = primitives::cylinder(0.1, quarter + leg, 32, 100);
    let along = |s: f32| {
        let (sin, cos) = libm::sincosf(s.clamp(-quarter, quarter) / radius);
        let below = (s.abs() - quarter).max(0.0);
        let out = Vec3::new(sin, cos, 0.0);
        (out * radius - Vec3::y() * below, out)
    };
    for (p, n) in mesh.rest.positions.iter_mut().zip(&mut mesh.rest.normals) {
        let (center, out) = along(p.y);
        let tangent = Vec3::new(out.y, -out.x, 0.0);
        *p = center - out * p.x + Vec3::z() * p.z;
        *n = tangent * n.y - out * n.x + Vec3::z() * n.z;
    }
    let bone = |from: f32, to: f32, joint| Bone {
        head: along(from).0,
        tail: along(to).0,
        joint,
    };
    let end = quarter + leg - 0.05;
    let segments = vec![
        bone(-end, -quarter, 0),
        bone(-quarter, 0.0, 1),
        bone(0.0, quarter, 1),
        bone(quarter, end, 2),
    ];
    Ok((mesh, Bones::new(segments, 3)?))
}

/// Nearest, inverse distance, geodesic, voxel.
fn four_methods(mesh: &Mesh, bones: &Bones) -> Result<[SkinWeights; 4], Box<dyn Error>> {
    Ok([
        weights::nearest(mesh, bones, &NearestOptions::default())?.0,
        weights::inverse_distance(mesh, bones, &InverseDistanceOptions::default())?.0,
        weights::geodesic(mesh, bones, &GeodesicOptions::default())?.0,
        weights::voxel(mesh, bones, &VoxelOptions::default())?.0,
    ])
}

/// `mesh`, from grey without weight over yellow at a fifth to red.
fn painted(mesh: &Mesh, weights: &SkinWeights, joint: u16) -> Result<Image, ViewError> {
    let none = Vec3::new(0.55, 0.57, 0.6);
    let some = Vec3::new(0.9, 0.62, 0.05);
    let all = Vec3::new(0.55, 0.03, 0.03);
    let color = |vertex| {
        let weight = weights.weight(vertex, joint) as f32;
        let mixed = if weight < 0.2 {
            none.lerp(&some, weight / 0.2)
        } else {
            some.lerp(&all, (weight - 0.2) / 0.8)
        };
        mixed.into()
    };
    let colors: Vec<[f32; 3]> = (0..mesh.vertex_count()).map(color).collect();
    let mut canvas = Canvas::new(160, 220, 3)?;
    let (low, high) = (Vec3::new(-0.22, -0.55, -0.1), Vec3::new(0.22, 0.2, 0.1));
    let camera = Camera::framing(low, high, 0.5, 0.1, canvas.aspect());
    let vertices = &mesh.rest;
    canvas.painted_mesh(
        &camera,
        &vertices.positions,
        &vertices.normals,
        &mesh.triangles,
        &colors,
        &Style::default(),
    );
    Ok(canvas.finish())
}

/// The weight of the upper of two bones along a straight limb.
fn along() -> Result<Image, Box<dyn Error>> {
    let (radius, rings, sides) = (0.1, 120, 24);
    let limb = primitives::cylinder(radius, 0.6, sides, rings);
    let bone = |head: f32, tail: f32, joint| Bone {
        head: Vec3::y() * head,
        tail: Vec3::y() * tail,
        joint,
    };
    let bones = Bones::new(vec![bone(-0.55, 0.0, 0), bone(0.0, 0.55, 1)], 2)?;
    let [nearest, inverse, geodesic, voxel] = four_methods(&limb, &bones)?;
    let curve = |weights: &SkinWeights| -> Vec<[f32; 2]> {
        let points = (0..=rings).map(|ring| {
            let vertex = (ring * (sides + 1)) as usize;
            let y = limb.rest.positions[vertex].y;
            [y, weights.weight(vertex, 1) as f32]
        });
        points.filter(|[y, _]| y.abs() < 0.3).collect()
    };
    let heat = graph(-0.3, 0.3, 240, |y| {
        let far = 0.5 * libm::expf(-y.abs() / radius);
        if y < 0.0 { far } else { 1.0 - far }
    });
    let lines = [
        ("nearest", curve(&nearest), GREY),
        ("inverse distance", curve(&inverse), GREEN),
        ("geodesic", curve(&geodesic), ORANGE),
        ("voxel", curve(&voxel), BLUE),
        ("heat", heat, RED),
    ];
    let axes = ["along the limb, m; the bones meet at 0", "weight"];
    Ok(plot("A limb of 0.1 m radius", axes, &lines, 640)?)
}

/// How far 8-bit weights move vertices that stand away from the origin.
fn rounding() -> Result<Image, Box<dyn Error>> {
    let rows: Vec<f64> = (0..1600).map(|i| f64::from((i * 7919) % 97 + 1)).collect();
    let weights = SkinWeights::from_dense(4, &rows)?;
    let packed = quantize::pack::<u8>(&weights, 1);
    let joints = [
        Vector3::new(0.3, 0.1, 0.0),
        Vector3::new(0.0, 0.4, -0.2),
        Vector3::new(-0.1, 0.2, 0.5),
        Vector3::new(-0.3, -0.4, 0.1),
    ];
    let error = |distance: f64, is_shared: bool| -> f32 {
        let place = |joint: u16| joints[usize::from(joint)] + Vector3::x() * distance;
        let of_vertex = |vertex: usize| {
            let row = weights.row(vertex);
            let exact: Vector3<f64> = row.clone().map(|(j, w)| place(j) * w).sum();
            let stored: Vector3<f64> = if is_shared {
                let set = packed.sets[0][vertex];
                let entries = set.joints.into_iter().zip(set.weights);
                entries
                    .map(|(j, w)| place(j) * (f64::from(w) / 255.0))
                    .sum()
            } else {
                row.map(|(j, w)| place(j) * ((w * 255.0).round() / 255.0))
                    .sum()
            };
            (stored - exact).norm()
        };
        let most = (0..weights.vertex_count())
            .map(of_vertex)
            .fold(0.0, f64::max);
        (1000.0 * most) as f32
    };
    let curve = |is_shared| {
        graph(0.0, 10.0, 100, |distance| {
            error(f64::from(distance), is_shared)
        })
    };
    let lines = [
        ("each weight rounded", curve(false), RED),
        ("largest remainder", curve(true), BLUE),
    ];
    let axes = [
        "distance of the character from the origin, m",
        "largest error, mm",
    ];
    Ok(plot(
        "Weights of 8 bits, a character of 1 m",
        axes,
        &lines,
        640,
    )?)
}
