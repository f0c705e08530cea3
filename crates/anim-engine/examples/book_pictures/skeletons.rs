//! Chapter 4: forward kinematics, shear, joint limits.

use std::error::Error;

use anim_geom::primitives;
use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::{
    Globals, JointLimit, JointLimitSpec, JointSpec, Skeleton, SkeletonError, Swing,
};
use anim_view::{Camera, Canvas, Image, Style, ViewError, sheet};

use crate::frames::facing;
use crate::{BLUE, GREEN, GREY, Picture, row};

pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    Ok(vec![
        ("04-forward-kinematics", forward_kinematics()?),
        ("04-shear", shear()?),
        ("04-limit", limit()?),
    ])
}

/// An arm of three segments that bends at its second joint.
fn forward_kinematics() -> Result<Image, Box<dyn Error>> {
    let joint = |(n, x): (usize, f32)| JointSpec {
        name: None,
        parent: n.checked_sub(1),
        rest: Transform::from_translation(Vec3::x() * x),
    };
    let joints = [0.0, 0.5, 0.4, 0.25].into_iter().enumerate().map(joint);
    let skeleton = Skeleton::new(joints.collect())?;
    let (mut pose, mut globals) = (skeleton.rest().clone(), Globals::new(&skeleton));
    let turn = |degrees: f32| quat::from_axis_angle(Vec3::z(), degrees.to_radians());
    pose.set_rotation(skeleton.joint(0), turn(10.0));
    pose.set_rotation(skeleton.joint(2), turn(35.0));
    let (mut frames, mut labels) = (Vec::new(), Vec::new());
    for elbow in [0.0, 35.0, 70.0, 105.0] {
        pose.set_rotation(skeleton.joint(1), turn(elbow));
        skeleton.globals(&pose, &mut globals);
        let mut canvas = Canvas::new(200, 190, 3)?;
        let camera = facing(Vec3::new(0.6, 0.48, 0.0), 1.4);
        canvas.skeleton(&camera, &skeleton, &globals);
        canvas.joint_axes(&camera, &globals, 0.14);
        frames.push(canvas.finish());
        labels.push(format!("elbow {elbow} deg"));
    }
    Ok(sheet(&frames, &labels, 4))
}

/// A square, turned inside a parent that is twice as wide as high.
fn shear() -> Result<Image, Box<dyn Error>> {
    let (model_from_child, nearest) = stretched()?;
    let panel = |title: &str, affine: Affine| -> Result<Image, ViewError> {
        let mut canvas = Canvas::new(320, 230, 4)?;
        canvas.background = [[0.9; 3]; 2];
        let camera = facing(Vec3::zeros(), 2.3);
        let parent = Affine {
            linear: anim_math::Mat3::from_diagonal(&Vec3::new(2.0, 1.0, 1.0)),
            ..Affine::IDENTITY
        };
        square(&mut canvas, &camera, &parent, 0.6, GREY);
        square(&mut canvas, &camera, &affine, 0.42, BLUE);
        canvas.text(10, 10, title, 14, [0.03; 3]);
        Ok(canvas.finish())
    };
    Ok(row(&[
        panel("matrices", model_from_child)?,
        panel("T, R and S", nearest.into())?,
    ]))
}

fn stretched() -> Result<(Affine, Transform), SkeletonError> {
    let parent = Transform {
        scale: Vec3::new(2.0, 1.0, 1.0),
        ..Transform::IDENTITY
    };
    let eighth = quat::from_axis_angle(Vec3::z(), std::f32::consts::FRAC_PI_4);
    let joint = |parent, rest| JointSpec {
        name: None,
        parent,
        rest,
    };
    let child = joint(Some(0), Transform::from_rotation(eighth));
    let skeleton = Skeleton::new(vec![joint(None, parent), child])?;
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    let child = skeleton.joint(1);
    Ok((globals.get(child), globals.transform(child).0))
}

/// A square of 2 `half` m and the lines through its middle, moved by `affine`.
fn square(canvas: &mut Canvas, camera: &Camera, affine: &Affine, half: f32, color: [f32; 3]) {
    let at = |x: f32, y: f32| affine.transform_point(Vec3::new(x, y, 0.0) * half);
    let corners = [at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)];
    for n in 0..4 {
        canvas.line(camera, corners[n], corners[(n + 1) % 4], color, 3.0);
    }
    canvas.line(camera, at(-1.0, 0.0), at(1.0, 0.0), color, 1.0);
    canvas.line(camera, at(0.0, -1.0), at(0.0, 1.0), color, 1.0);
}

/// Directions that the bone of a ball joint can point to.
fn limit() -> Result<Image, Box<dyn Error>> {
    let limit = JointLimit::new(JointLimitSpec::Ball {
        axis: Vec3::y(),
        swing: Swing::Ellipse {
            about: Vec3::z(),
            angles: [1.2, 0.4],
        },
        twist: [-0.5, 0.5],
    })?;
    let mut canvas = Canvas::new(360, 310, 2)?;
    let camera = Camera {
        eye: Vec3::new(1.0, 4.4, 2.2),
        target: Vec3::new(0.0, 0.1, 0.0),
        up: Vec3::y(),
        fov_y: 0.48,
        ..Camera::default()
    };
    let ball = primitives::sphere(1.0, 64, 48);
    let style = Style {
        color: [0.6, 0.62, 0.65],
        ..Style::default()
    };
    canvas.mesh(
        &camera,
        &ball.rest.positions,
        &ball.rest.normals,
        &ball.triangles,
        &style,
    );
    // Even directions: each a golden angle on from the last, in equal steps of height.
    let golden = std::f32::consts::PI * (3.0 - 5.0_f32.sqrt());
    for n in 0..1200 {
        let y = 1.0 - (n as f32 + 0.5) / 600.0;
        let (radius, angle) = ((1.0 - y * y).sqrt(), golden * n as f32);
        let direction = Vec3::new(radius * libm::cosf(angle), y, radius * libm::sinf(angle));
        let swing = quat::between(Vec3::y(), direction);
        let excess = limit.clamp_rotation(Quat::identity(), swing).1;
        let (size, color) = if excess < 1e-4 {
            (3.5, GREEN)
        } else {
            (1.5, GREY)
        };
        canvas.point(&camera, direction * 1.012, size, color);
    }
    canvas.line(&camera, Vec3::y(), Vec3::y() * 1.25, BLUE, 4.0);
    canvas.text(10, 10, "at rest along y", 7, BLUE);
    canvas.text(10, 24, "within the limit", 7, GREEN);
    Ok(canvas.finish())
}
