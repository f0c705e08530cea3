//! What is drawn to explain rather than to show: lines, points and skeletons.
//!
//! Lines and points have a width in pixels and soft borders, hide behind solid meshes, and are drawn in the order of the
//! calls. Bones shine through meshes.
//!
//! ```
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//! use anim_view::{Camera, Canvas};
//!
//! let joint = |parent| JointSpec { name: None, parent, rest: Transform::from_translation(Vec3::y()) };
//! let skeleton = Skeleton::new(vec![joint(None), joint(Some(0))])?;
//! let mut globals = Globals::new(&skeleton);
//! skeleton.globals(skeleton.rest(), &mut globals);
//!
//! let mut canvas = Canvas::new(64, 64, 2)?;
//! let empty = canvas.finish();
//! canvas.skeleton(&Camera::default(), &skeleton, &globals);
//! assert_ne!(canvas.finish(), empty);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::Range;

use anim_math::{Affine, Vec3};
use anim_skeleton::{Globals, Skeleton};

use crate::camera::{Camera, View, unit};
use crate::canvas::{Canvas, Style};
use crate::color::Linear;
use crate::raster::{Samples, ScreenVertex, whole_pixels};

const BONE: Linear = [0.80, 0.46, 0.12];
const JOINT: Linear = [0.90, 0.68, 0.30];
/// Where a bone is widest, and how wide it is, as parts of its length.
const WAIST: [f32; 2] = [0.14, 0.085];
/// x, y and z.
const AXES: [Linear; 3] = [[0.80, 0.04, 0.04], [0.05, 0.55, 0.06], [0.06, 0.14, 0.85]];

/// A line with round ends; a disc if both ends are one.
#[derive(Clone, Debug)]
pub(crate) struct Stroke {
    pub(crate) color: Linear,
    pub(crate) on_top: bool,
    from: ScreenVertex,
    to: ScreenVertex,
    /// Pixels.
    radius: f64,
    opacity: f32,
}

impl Stroke {
    /// Below one pixel lines get fainter rather than thinner.
    fn new(from: ScreenVertex, to: ScreenVertex, radius: f32, color: Linear, on_top: bool) -> Self {
        Self {
            color,
            on_top,
            from,
            to,
            radius: f64::from(radius.max(0.5)),
            opacity: (2.0 * radius).clamp(0.0, 1.0),
        }
    }

    /// Visits every sample it covers: column, row, sample, nearness, how much of the sample.
    #[inline(always)]
    pub(crate) fn fill(
        &self,
        rows: Range<u32>,
        width: u32,
        samples: &Samples,
        mut visit: impl FnMut(u32, u32, usize, f32, f32),
    ) {
        let (from, to) = (&self.from, &self.to);
        // One sample's width of softness.
        let sharpness = (samples.0.len() as f64).sqrt();
        let reach = self.radius + 0.5 / sharpness;
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let length2 = dx * dx + dy * dy;
        let along = |x: f64, y: f64| {
            let t = ((x - from.x) * dx + (y - from.y) * dy) / length2;
            if length2 > 0.0 {
                t.clamp(0.0, 1.0)
            } else {
                0.0
            }
        };
        let (top, bottom) = (from.y.min(to.y) - reach, from.y.max(to.y) + reach);
        for y in whole_pixels([top, bottom], rows) {
            let row = f64::from(y);
            // The part of the line that can touch this row.
            let ends = [row - reach, row + 1.0 + reach].map(|at| {
                let t = if dy == 0.0 {
                    f64::from(at > row)
                } else {
                    (at - from.y) / dy
                };
                from.x + dx * t.clamp(0.0, 1.0)
            });
            let span = [ends[0].min(ends[1]) - reach, ends[0].max(ends[1]) + reach];
            for x in whole_pixels(span, 0..width) {
                for (sample, [sx, sy]) in samples.0.iter().enumerate() {
                    let (sx, sy) = (f64::from(x) + sx, row + sy);
                    let t = along(sx, sy);
                    let (away_x, away_y) = (sx - from.x - dx * t, sy - from.y - dy * t);
                    let distance = (away_x * away_x + away_y * away_y).sqrt();
                    let cover = ((self.radius - distance) * sharpness + 0.5).clamp(0.0, 1.0) as f32;
                    if cover > 0.0 {
                        let nearness = from.nearness + (to.nearness - from.nearness) * t as f32;
                        visit(x, y, sample, nearness, cover * self.opacity);
                    }
                }
            }
        }
    }
}

impl Canvas {
    /// Draws a straight line that is `width` pixels wide, and hides behind solid meshes.
    pub fn line(&mut self, camera: &Camera, from: Vec3, to: Vec3, color: Linear, width: f32) {
        let view = View::new(camera, self.width, self.height);
        self.stroke(&view, [from, to], 0.5 * width, color, false);
    }

    /// Draws a disc of `radius` pixels that hides behind solid meshes.
    pub fn point(&mut self, camera: &Camera, center: Vec3, radius: f32, color: Linear) {
        let view = View::new(camera, self.width, self.height);
        self.stroke(&view, [center, center], radius, color, false);
    }

    /// Draws a disc of `radius` metres, as large as a ball there would look; for particles.
    pub fn disc(&mut self, camera: &Camera, center: Vec3, radius: f32, color: Linear) {
        let view = View::new(camera, self.width, self.height);
        let depth = view.view_from_world(center).z.max(view.near);
        let radius = radius * view.pixels_per_metre(depth);
        self.stroke(&view, [center, center], radius, color, false);
    }

    /// Draws the bones of a pose over everything: an octahedron from each joint to each of its children, a ball a joint.
    ///
    /// Joints whose transforms are not finite are left out.
    ///
    /// # Panics
    ///
    /// If `globals` belongs to a skeleton with another number of joints.
    pub fn skeleton(&mut self, camera: &Camera, skeleton: &Skeleton, globals: &Globals) {
        assert_eq!(
            globals.slots().len(),
            skeleton.len(),
            "globals of another skeleton"
        );
        let place = |joint| globals.get(joint).translation;
        let bones: Vec<(Vec3, Vec3)> = skeleton
            .joints()
            .filter_map(|joint| Some((place(skeleton.parent(joint)?), place(joint))))
            .filter(|(from, to)| unit(to - from).is_some())
            .collect();
        let mut solids = Solids::default();
        for (from, to) in &bones {
            solids.bone(*from, *to);
        }
        let lengths: Vec<f32> = bones.iter().map(|(from, to)| (to - from).norm()).collect();
        let radius = 0.07 * median(lengths).unwrap_or(0.5);
        for joint in skeleton.joints() {
            solids.ball(place(joint), radius, divisions(skeleton.len()));
        }
        let style = Style {
            on_top: true,
            ..Style::default()
        };
        self.painted_mesh(
            camera,
            &solids.positions,
            &solids.normals,
            &solids.triangles,
            &solids.colors,
            &style,
        );
    }

    /// Draws the axes of every joint over everything, `length` m each: x red, y green, z blue. Scale shows, too.
    pub fn joint_axes(&mut self, camera: &Camera, globals: &Globals, length: f32) {
        let view = View::new(camera, self.width, self.height);
        for slot in globals.slots() {
            let model_from_joint = Affine::from(*slot);
            let origin = model_from_joint.translation;
            for (axis, color) in AXES.iter().enumerate() {
                let tip = origin + model_from_joint.linear.column(axis) * length;
                self.stroke(&view, [origin, tip], 0.9, *color, true);
            }
        }
    }

    /// Cuts the line off at the near plane, and adds it to the layer drawn last.
    fn stroke(&mut self, view: &View, ends: [Vec3; 2], radius: f32, color: Linear, on_top: bool) {
        let [from, to] = ends.map(|end| view.view_from_world(view.lifted(end)));
        let cut = |end: Vec3, other: Vec3| {
            if end.z < view.near && other.z > view.near {
                let mut cut = end + (other - end) * ((view.near - end.z) / (other.z - end.z));
                cut.z = view.near;
                cut
            } else {
                end
            }
        };
        let screen = (view.screen(cut(from, to)), view.screen(cut(to, from)));
        if let (Some(from), Some(to)) = screen
            && radius > 0.0
            && radius.is_finite()
            && let Some(layer) = self.layers.last_mut()
        {
            layer
                .strokes
                .push(Stroke::new(from, to, radius, color, on_top));
        }
    }
}

fn median(mut values: Vec<f32>) -> Option<f32> {
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The shapes a skeleton is drawn with.
#[derive(Default)]
struct Solids {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    colors: Vec<Linear>,
    triangles: Vec<[u32; 3]>,
}

impl Solids {
    /// A flat-shaded octahedron with its waist near `from`.
    fn bone(&mut self, from: Vec3, to: Vec3) {
        let length = (to - from).norm();
        let axis = (to - from) / length;
        let other = if axis.y.abs() < 0.9 {
            Vec3::y()
        } else {
            Vec3::x()
        };
        let side = axis.cross(&other).normalize();
        let sides = [side, axis.cross(&side), -side, side.cross(&axis)];
        let first = self.positions.len() as u32;
        let waist = from + axis * (WAIST[0] * length);
        let ring = sides.map(|side| waist + side * (WAIST[1] * length));
        self.positions.extend([from, to].iter().chain(&ring));
        self.normals.extend([Vec3::zeros(); 6]);
        self.colors.extend([BONE; 6]);
        for i in 0..4 {
            let (a, b) = (first + 2 + i, first + 2 + (i + 1) % 4);
            self.triangles.extend([[first, b, a], [first + 1, a, b]]);
        }
    }

    /// A smooth ball of 128 triangles: an octahedron divided twice.
    fn ball(&mut self, center: Vec3, radius: f32, divisions: u32) {
        let (x, y, z) = (Vec3::x(), Vec3::y(), Vec3::z());
        let mut faces = vec![[x, y, z], [z, y, -x], [-x, y, -z], [-z, y, x]];
        faces.extend([[y, x, z], [y, z, -x], [y, -x, -z], [y, -z, x]].map(|f| f.map(mirrored)));
        for _ in 0..divisions {
            let divided = faces.iter().flat_map(|[a, b, c]| {
                let [ab, bc, ca] = [a + b, b + c, c + a].map(|v| v.normalize());
                [[*a, ab, ca], [ab, *b, bc], [ca, bc, *c], [ab, bc, ca]]
            });
            faces = divided.collect();
        }
        for normal in faces.as_flattened() {
            self.positions.push(center + normal * radius);
            self.normals.push(*normal);
            self.colors.push(JOINT);
        }
        let first = (self.positions.len() - 3 * faces.len()) as u32;
        let corners = (0..faces.len() as u32).map(|face| first + 3 * face);
        self.triangles.extend(corners.map(|v| [v, v + 1, v + 2]));
    }
}

/// How often the eight faces of a ball are divided: a crowd of joints is small, and must not fill the memory.
fn divisions(joints: usize) -> u32 {
    match joints {
        0..=2_000 => 2,
        2_001..=10_000 => 1,
        _ => 0,
    }
}

fn mirrored(point: Vec3) -> Vec3 {
    Vec3::new(point.x, -point.y, point.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(solids: &Solids) -> f32 {
        let corner = |v: u32| solids.positions[v as usize];
        let parts = solids
            .triangles
            .iter()
            .map(|[a, b, c]| corner(*a).dot(&corner(*b).cross(&corner(*c))) / 6.0);
        parts.sum()
    }

    #[test]
    fn bones_and_balls_are_closed_and_face_outwards() {
        let mut bone = Solids::default();
        bone.bone(Vec3::new(0.2, -0.1, 0.0), Vec3::new(0.2, 1.9, 0.0));
        // Two pyramids on one square: diagonal² / 2 · length / 3.
        let expected = (2.0 * 2.0 * WAIST[1]).powi(2) / 2.0 * 2.0 / 3.0;
        assert!((volume(&bone) - expected).abs() < 1e-5, "{}", volume(&bone));
        let mut ball = Solids::default();
        ball.ball(Vec3::new(1.0, 2.0, 3.0), 0.5, 2);
        let sphere = 4.0 / 3.0 * std::f32::consts::PI * 0.125;
        let part = volume(&ball) / sphere;
        assert_eq!(ball.triangles.len(), 128);
        assert!((0.9..1.0).contains(&part), "{part}");
    }

    fn end(x: f64, y: f64) -> ScreenVertex {
        ScreenVertex {
            x,
            y,
            nearness: 1.0,
            inverse_w: 1.0,
        }
    }

    #[test]
    fn coverage_adds_up_to_the_area_of_the_stroke() {
        let samples = Samples::new(4);
        for (from, to, radius) in [
            ((20.3f64, 20.1f64), (20.3, 20.1), 8.0),
            ((5.0, 8.0), (40.0, 30.0), 2.0),
            ((44.0, 10.5), (6.0, 10.5), 1.5),
            ((20.2, 44.0), (20.2, 6.0), 0.5),
        ] {
            let stroke = Stroke::new(
                end(from.0, from.1),
                end(to.0, to.1),
                radius,
                [0.0; 3],
                false,
            );
            let mut area = 0.0;
            stroke.fill(0..50, 50, &samples, |_, _, _, _, cover| {
                area += cover / 16.0
            });
            let length = (to.0 - from.0).hypot(to.1 - from.1) as f32;
            let exact = 2.0 * radius * length + std::f32::consts::PI * radius * radius;
            assert!((area / exact - 1.0).abs() < 0.02, "{area} {exact}");
        }
    }

    #[test]
    fn a_skeleton_of_as_many_joints_as_there_can_be_fits_in_memory() {
        let mut solids = Solids::default();
        solids.ball(Vec3::zeros(), 1.0, divisions(65_535));
        assert!(solids.positions.len() * 65_535 < 2_000_000);
        assert_eq!(divisions(300), 2);
    }
}
