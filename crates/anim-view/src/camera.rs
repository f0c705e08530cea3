//! Cameras: where a picture is taken from, and where points land on it.
//!
//! [`Camera::framing`] is the usual start: it stands just far enough away for a whole box to be in view.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_view::Camera;
//!
//! let camera = Camera::framing(Vec3::new(-0.5, 0.0, -0.5), Vec3::new(0.5, 1.8, 0.5), 0.4, 0.1, 16.0 / 9.0);
//! let head = camera.project(Vec3::new(0.0, 1.8, 0.0), 1280, 720).expect("in front of the camera");
//! assert!((0.0..100.0).contains(&head.y));
//! ```

use anim_math::Vec3;

use crate::raster::ScreenVertex;

/// The vertical field of view of [`Camera::framing`]: long enough a lens not to distort, short enough for depth.
const FRAMING_FOV_Y: f32 = 0.5;
/// The part of the picture a framed box may fill in each direction.
const FILL: f32 = 0.9;
/// How far lines are pulled to the eye: this part of their distance, or of what an orthographic camera sees.
const LIFT: f32 = 2e-3;

/// A pinhole camera, or an orthographic one.
///
/// A degenerate camera (target at the eye, up along the view) still has some view; one that is not finite sees nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands, m.
    pub eye: Vec3,
    /// The point in the middle of the picture, m.
    pub target: Vec3,
    /// What is up in the picture; any length.
    pub up: Vec3,
    /// The angle from the lower to the upper border, rad; 0 is orthographic.
    pub fov_y: f32,
    /// What an orthographic camera sees from the lower to the upper border, m.
    pub height: f32,
    /// Nothing nearer than this distance from the eye's plane is drawn, m.
    pub near: f32,
}

/// A point on a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// Pixels from the left border.
    pub x: f32,
    /// Pixels from the upper border.
    pub y: f32,
    /// Distance from the eye's plane, m.
    pub depth: f32,
}

impl Default for Camera {
    /// A person of usual size at the origin, from the front and a little from the right and above.
    fn default() -> Self {
        let half = Vec3::new(0.6, 0.0, 0.6);
        Self::framing(-half, half + Vec3::y() * 1.85, 0.5, 0.15, 16.0 / 9.0)
    }
}

impl Camera {
    /// The nearest perspective camera with the whole box in view, and a small margin around it.
    ///
    /// * `min`, `max`: corners of the box, m. * `yaw`: rad about +y; 0 looks along −z, at the face of a character that
    ///   faces +z; π/2 looks from +x. * `pitch`: rad; positive looks down. * `aspect`: width / height of the picture.
    ///
    /// The distance is exact, not that of a bounding sphere: each border of the picture bounds `x ± t·z` of the corners,
    /// and opposite borders together give the distance and the middle.
    pub fn framing(min: Vec3, max: Vec3, yaw: f32, pitch: f32, aspect: f32) -> Self {
        let view = Framing::new(min, max, yaw, pitch);
        let aspect = sane_aspect(aspect);
        let tangent_y = libm::tanf(0.5 * FRAMING_FOV_Y) * FILL;
        let tangent_x = tangent_y * aspect;
        let reach = |axis: usize, tangent: f32, sign: f32| {
            view.corners()
                .map(|corner| sign * corner[axis] + tangent * corner.z)
                .fold(f32::NEG_INFINITY, f32::max)
        };
        let (right, left) = (reach(0, tangent_x, 1.0), reach(0, tangent_x, -1.0));
        let (top, bottom) = (reach(1, tangent_y, 1.0), reach(1, tangent_y, -1.0));
        let distance = (0.5 * (right + left) / tangent_x).max(0.5 * (top + bottom) / tangent_y);
        let target = view.world(0.5 * (right - left), 0.5 * (top - bottom), 0.0);
        Self {
            eye: target + view.back * distance,
            target,
            up: view.up,
            fov_y: FRAMING_FOV_Y,
            height: 2.0 * distance * libm::tanf(0.5 * FRAMING_FOV_Y),
            near: 1e-3 * distance,
        }
    }

    /// As [`framing`](Self::framing), without perspective: lengths across the view compare at any depth.
    pub fn framing_orthographic(min: Vec3, max: Vec3, yaw: f32, pitch: f32, aspect: f32) -> Self {
        let view = Framing::new(min, max, yaw, pitch);
        // The box is symmetric about its middle, and so is its picture.
        let extent = view
            .corners()
            .fold(Vec3::zeros(), |extent, corner| extent.sup(&corner.abs()));
        let height = 2.0 * extent.y.max(extent.x / sane_aspect(aspect)) / FILL;
        let distance = extent.z + height;
        Self {
            eye: view.world(0.0, 0.0, distance),
            target: view.center,
            up: view.up,
            fov_y: 0.0,
            height,
            near: 1e-3 * distance,
        }
    }

    /// Where `point` lands on a picture of `width` × `height` pixels, on it or beyond its borders.
    ///
    /// `None` nearer than the near plane and for points that are not finite.
    pub fn project(&self, point: Vec3, width: u32, height: u32) -> Option<Projection> {
        let view = View::new(self, width, height);
        let seen = view.view_from_world(point);
        let screen = view.screen(seen)?;
        Some(Projection {
            x: screen.x as f32,
            y: screen.y as f32,
            depth: seen.z,
        })
    }
}

/// A box seen from a direction.
struct Framing {
    center: Vec3,
    half: Vec3,
    right: Vec3,
    up: Vec3,
    back: Vec3,
}

impl Framing {
    fn new(min: Vec3, max: Vec3, yaw: f32, pitch: f32) -> Self {
        let finite = |v: &Vec3| v.iter().all(|c| c.is_finite());
        let (min, max) = if finite(&min) && finite(&max) {
            (min, max)
        } else {
            (Vec3::repeat(-0.5), Vec3::repeat(0.5))
        };
        let angle = |angle: f32| if angle.is_finite() { angle } else { 0.0 };
        let (sin_yaw, cos_yaw) = libm::sincosf(angle(yaw));
        let (sin_pitch, cos_pitch) = libm::sincosf(angle(pitch));
        let right = Vec3::new(cos_yaw, 0.0, -sin_yaw);
        let back = Vec3::new(sin_yaw * cos_pitch, sin_pitch, cos_yaw * cos_pitch);
        Self {
            center: min * 0.5 + max * 0.5,
            half: (max * 0.5 - min * 0.5).abs().sup(&Vec3::repeat(1e-4)),
            right,
            up: back.cross(&right),
            back,
        }
    }

    /// The eight corners: right, up, back from the middle.
    fn corners(&self) -> impl Iterator<Item = Vec3> {
        (0..8).map(|corner| {
            let side = |bit: usize| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let offset = Vec3::new(
                self.half.x * side(0),
                self.half.y * side(1),
                self.half.z * side(2),
            );
            Vec3::new(
                self.right.dot(&offset),
                self.up.dot(&offset),
                self.back.dot(&offset),
            )
        })
    }

    fn world(&self, right: f32, up: f32, back: f32) -> Vec3 {
        self.center + self.right * right + self.up * up + self.back * back
    }
}

fn sane_aspect(aspect: f32) -> f32 {
    if aspect.is_finite() {
        aspect.clamp(1e-3, 1e3)
    } else {
        1.0
    }
}

/// A camera made ready for a picture of a certain size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) eye: Vec3,
    pub(crate) right: Vec3,
    pub(crate) up: Vec3,
    pub(crate) back: Vec3,
    pub(crate) near: f32,
    pub(crate) perspective: bool,
    /// Pixels a metre, at depth 1 m if perspective.
    scale: f32,
    center: [f32; 2],
    /// How far lines are pulled to an orthographic eye, m.
    lift: f32,
}

impl View {
    pub(crate) fn new(camera: &Camera, width: u32, height: u32) -> Self {
        let back = unit(camera.eye - camera.target).unwrap_or_else(Vec3::z);
        let right = unit(camera.up)
            .and_then(|up| across(up, back))
            .or_else(|| across(Vec3::z(), back))
            .or_else(|| across(Vec3::y(), back))
            .unwrap_or_else(Vec3::x);
        let perspective = camera.fov_y > 0.0;
        let height = height as f32;
        Self {
            eye: camera.eye,
            right,
            up: back.cross(&right),
            back,
            near: camera.near.max(1e-6),
            perspective,
            scale: if perspective {
                0.5 * height / libm::tanf(0.5 * camera.fov_y.min(3.1))
            } else {
                height / camera.height
            },
            center: [0.5 * width as f32, 0.5 * height],
            lift: LIFT * camera.height,
        }
    }

    /// Right, up and forward of the eye, m.
    pub(crate) fn view_from_world(&self, point: Vec3) -> Vec3 {
        let offset = point - self.eye;
        Vec3::new(
            self.right.dot(&offset),
            self.up.dot(&offset),
            -self.back.dot(&offset),
        )
    }

    /// The picture of a point in view space; `None` in front of the near plane and where it is not finite.
    pub(crate) fn screen(&self, seen: Vec3) -> Option<ScreenVertex> {
        if seen.z < self.near {
            return None;
        }
        let (inverse_w, nearness) = if self.perspective {
            (1.0 / seen.z, 1.0 / seen.z)
        } else {
            (1.0, -seen.z)
        };
        let x = self.center[0] + self.scale * seen.x * inverse_w;
        let y = self.center[1] - self.scale * seen.y * inverse_w;
        (x.is_finite() && y.is_finite() && nearness.is_finite()).then_some(ScreenVertex {
            x: f64::from(x),
            y: f64::from(y),
            nearness,
            inverse_w,
        })
    }

    /// Pixels a metre across the view.
    pub(crate) fn pixels_per_metre(&self, depth: f32) -> f32 {
        if self.perspective {
            self.scale / depth
        } else {
            self.scale
        }
    }

    /// The unit vector from `point` to the eye.
    pub(crate) fn toward_eye(&self, point: Vec3) -> Vec3 {
        if self.perspective {
            unit(self.eye - point).unwrap_or(self.back)
        } else {
            self.back
        }
    }

    /// `point` pulled a little to the eye, so that lines on a surface are not buried in it; it lands on the same pixel.
    pub(crate) fn lifted(&self, point: Vec3) -> Vec3 {
        if self.perspective {
            point + (self.eye - point) * LIFT
        } else {
            point + self.back * self.lift
        }
    }
}

/// The vector at length 1, if it has a direction.
pub(crate) fn unit(vector: Vec3) -> Option<Vec3> {
    let norm = vector.norm();
    (norm > 0.0 && norm.is_finite()).then(|| vector / norm)
}

/// The horizontal direction of a picture, unless the unit vectors are all but parallel.
fn across(up: Vec3, back: Vec3) -> Option<Vec3> {
    let right = up.cross(&back);
    (right.norm() > 1e-4).then(|| right.normalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framed_box_touches_the_margin_and_stays_inside() {
        let (min, max) = (Vec3::new(-1.0, 0.0, -0.3), Vec3::new(0.5, 2.0, 4.0));
        let (width, height) = (800, 450);
        for (yaw, pitch) in [
            (0.0, 0.0),
            (0.7, 0.3),
            (-2.5, -0.6),
            (1.0, 1.57),
            (3.1, 0.1),
        ] {
            for framing in [Camera::framing, Camera::framing_orthographic] {
                let camera = framing(min, max, yaw, pitch, width as f32 / height as f32);
                let mut fill = 0.0f32;
                for corner in 0..8 {
                    let pick = |bit: usize| if corner >> bit & 1 == 1 { max } else { min };
                    let point = Vec3::new(pick(0).x, pick(1).y, pick(2).z);
                    let at = camera.project(point, width, height).unwrap();
                    fill = fill
                        .max((at.x / 400.0 - 1.0).abs())
                        .max((at.y / 225.0 - 1.0).abs());
                }
                assert!((fill - FILL).abs() < 1e-4, "{yaw} {pitch} {fill}");
            }
        }
    }

    #[test]
    fn the_target_lands_in_the_middle_and_up_is_up() {
        let camera = Camera {
            eye: Vec3::new(3.0, 2.0, 1.0),
            target: Vec3::new(0.0, 1.0, 0.0),
            up: Vec3::y(),
            ..Camera::default()
        };
        let at = camera.project(camera.target, 640, 480).unwrap();
        assert!((at.x - 320.0).abs() < 1e-3 && (at.y - 240.0).abs() < 1e-3);
        assert!((at.depth - 11f32.sqrt()).abs() < 1e-5);
        let above = camera.project(Vec3::new(0.0, 1.2, 0.0), 640, 480).unwrap();
        assert!(above.y < 240.0 && (above.x - 320.0).abs() < 1e-3);
    }

    #[test]
    fn perspective_halves_at_twice_the_depth() {
        let camera = Camera {
            eye: Vec3::zeros(),
            target: -Vec3::z(),
            up: Vec3::y(),
            fov_y: std::f32::consts::FRAC_PI_2,
            height: 1.0,
            near: 0.1,
        };
        let at = |z: f32| camera.project(Vec3::new(1.0, 1.0, z), 200, 200);
        let (near, far) = (at(-2.0).unwrap(), at(-4.0).unwrap());
        assert!((near.x - 150.0).abs() < 1e-4 && (near.y - 50.0).abs() < 1e-4);
        assert!((far.x - 125.0).abs() < 1e-4 && (far.y - 75.0).abs() < 1e-4);
        assert_eq!(at(0.0), None);
        assert_eq!(at(1.0), None);
        assert_eq!(at(f32::NAN), None);
    }

    #[test]
    fn degenerate_cameras_keep_an_orthonormal_view() {
        let zero = Vec3::zeros();
        for (eye, target, up) in [
            (zero, zero, Vec3::y()),
            (Vec3::y(), zero, Vec3::y()),
            (Vec3::z(), zero, zero),
            (Vec3::z(), zero, Vec3::repeat(f32::NAN)),
        ] {
            let camera = Camera {
                eye,
                target,
                up,
                ..Camera::default()
            };
            let view = View::new(&camera, 10, 10);
            for (a, b) in [
                (view.right, view.up),
                (view.up, view.back),
                (view.back, view.right),
            ] {
                assert!(a.dot(&b).abs() < 1e-6 && (a.norm() - 1.0).abs() < 1e-6);
            }
        }
    }
}
