//! The canvas: what is to be drawn, in the order it is asked for.
//!
//! Calls only note down what to draw; [`Canvas::finish`] draws. So shadows fall on what was asked for earlier, and the
//! picture is made in bands of rows that do not depend on each other.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_view::{Camera, Canvas, Style};
//!
//! let camera = Camera::framing(Vec3::repeat(-1.0), Vec3::repeat(1.0), 0.3, 0.2, 1.0);
//! let mut canvas = Canvas::new(64, 64, 2)?;
//! let corners = [Vec3::x(), Vec3::y(), -Vec3::x()];
//! canvas.ground_grid(&camera, 4.0);
//! canvas.mesh(&camera, &corners, &[], &[[0, 1, 2]], &Style { two_sided: true, ..Style::default() });
//! assert_eq!(canvas.finish().pixels.len(), 64 * 64);
//! # Ok::<(), anim_view::ViewError>(())
//! ```

use anim_math::Vec3;

use crate::camera::{Camera, View};
use crate::color::Linear;
use crate::overlay::Stroke;
use crate::raster::Triangle;
use crate::shade::Ground;
use crate::{Image, ViewError};

/// The longest side of a picture, pixels.
const MAX_SIDE: u32 = 16_384;
/// The most pixels of a picture.
const MAX_PIXELS: u64 = 1 << 26;

/// How a mesh looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Linear red, green, blue, 0 to 1.
    pub color: Linear,
    /// Draws the triangles' edges over the surface.
    pub wire: bool,
    /// Draws backs too, lit as if they were fronts; for cloth and open surfaces.
    pub two_sided: bool,
    /// 1 is solid. Below, the mesh lies as one translucent film over what was drawn before (an onion skin), and neither
    /// casts nor takes shadows.
    pub opacity: f32,
    /// Shows even through what is in front of it, and neither casts nor takes shadows.
    pub on_top: bool,
}

impl Default for Style {
    /// A solid, one-sided clay.
    fn default() -> Self {
        Self {
            color: [0.52, 0.42, 0.34],
            wire: false,
            two_sided: false,
            opacity: 1.0,
            on_top: false,
        }
    }
}

/// A picture in the making.
///
/// Data that are not finite, and triangles that name vertices which do not exist, are left out.
#[derive(Clone, Debug)]
pub struct Canvas {
    /// Linear colours of the upper and the lower border; a soft gradient between them is behind everything.
    pub background: [Linear; 2],
    /// The direction towards the key light, the one that casts shadows; `None` is above the first camera's left shoulder.
    pub key_light: Option<Vec3>,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) supersample: u32,
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) materials: Vec<Material>,
    pub(crate) casters: Vec<[Vec3; 3]>,
    /// The first holds all that is solid; the others lie over it in order.
    pub(crate) layers: Vec<Layer>,
    labels: Vec<Label>,
}

/// What a mesh's surface knows at its corners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vertex {
    pub(crate) position: Vec3,
    /// Any length; zero is flat.
    pub(crate) normal: Vec3,
    pub(crate) color: Linear,
}

impl Vertex {
    fn mix(&self, to: &Self, alpha: f32) -> Self {
        Self {
            position: self.position + (to.position - self.position) * alpha,
            normal: self.normal + (to.normal - self.normal) * alpha,
            color: crate::color::mix(self.color, to.color, alpha),
        }
    }
}

/// How the triangles of one call are shaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Material {
    pub(crate) view: View,
    pub(crate) wire: bool,
    /// Takes shadows.
    pub(crate) shadowed: bool,
    pub(crate) ground: Option<Ground>,
}

/// Triangles, and the strokes that lie over them.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) opacity: f32,
    pub(crate) on_top: bool,
    /// With the place of their material.
    pub(crate) triangles: Vec<(Triangle, u32)>,
    pub(crate) strokes: Vec<Stroke>,
}

impl Layer {
    fn new(opacity: f32, on_top: bool) -> Self {
        Self {
            opacity,
            on_top,
            triangles: Vec::new(),
            strokes: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
struct Label {
    x: i32,
    y: i32,
    text: String,
    size: u32,
    color: Linear,
}

impl Canvas {
    /// An empty canvas of `width` × `height` pixels, with `supersample`² samples a pixel (2 is usual, 4 for print).
    ///
    /// # Errors
    ///
    /// [`ViewError::Size`] without pixels, over 16384 on a side or over 2²⁶ in all; [`ViewError::Supersample`] outside
    /// 1 to 4.
    pub fn new(width: u32, height: u32, supersample: u32) -> Result<Self, ViewError> {
        let sides = 1..=MAX_SIDE;
        let fits = u64::from(width) * u64::from(height) <= MAX_PIXELS;
        if !(sides.contains(&width) && sides.contains(&height) && fits) {
            return Err(ViewError::Size { width, height });
        }
        if !(1..=4).contains(&supersample) {
            return Err(ViewError::Supersample { supersample });
        }
        Ok(Self {
            background: [[0.53, 0.58, 0.66], [0.80, 0.82, 0.85]],
            key_light: None,
            width,
            height,
            supersample,
            vertices: Vec::new(),
            materials: Vec::new(),
            casters: Vec::new(),
            layers: vec![Layer::new(1.0, false)],
            labels: Vec::new(),
        })
    }

    /// Forgets all that was drawn, and keeps the memory of solid meshes for the next frame.
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.materials.clear();
        self.casters.clear();
        self.labels.clear();
        self.layers.truncate(1);
        for layer in &mut self.layers {
            layer.triangles.clear();
            layer.strokes.clear();
        }
    }

    /// Width / height, as [`Camera::framing`] takes it.
    pub fn aspect(&self) -> f32 {
        self.width as f32 / self.height as f32
    }

    /// Draws a mesh.
    ///
    /// * `positions`: V, m. * `normals`: V, any length; where one is missing (the slice may be empty), zero or not
    ///   finite, the triangle is flat. * `triangles`: counter-clockwise seen from outside.
    pub fn mesh(
        &mut self,
        camera: &Camera,
        positions: &[Vec3],
        normals: &[Vec3],
        triangles: &[[u32; 3]],
        style: &Style,
    ) {
        self.painted_mesh(camera, positions, normals, triangles, &[], style);
    }

    /// Draws a mesh with a colour a vertex, as for a heat map of skin weights.
    ///
    /// As [`mesh`](Self::mesh); `colors`: V linear red, green, blue; `style.color` is taken where one is missing.
    pub fn painted_mesh(
        &mut self,
        camera: &Camera,
        positions: &[Vec3],
        normals: &[Vec3],
        triangles: &[[u32; 3]],
        colors: &[Linear],
        style: &Style,
    ) {
        let first = self.vertices.len();
        let finite = |vector: &&Vec3| vector.iter().all(|c| c.is_finite());
        let vertices = positions.iter().enumerate().map(|(v, position)| Vertex {
            position: *position,
            normal: normals.get(v).filter(finite).copied().unwrap_or_default(),
            color: colors.get(v).copied().unwrap_or(style.color),
        });
        self.vertices.extend(vertices);
        let corners = triangles.iter().filter(|corners| {
            let position = |v: &u32| positions.get(*v as usize);
            corners.iter().all(|v| position(v).filter(finite).is_some())
        });
        let corners: Vec<[u32; 3]> = corners
            .map(|corners| corners.map(|v| first as u32 + v))
            .collect();
        let opacity = if style.opacity.is_finite() {
            style.opacity.clamp(0.0, 1.0)
        } else {
            1.0
        };
        let solid = opacity == 1.0 && !style.on_top;
        let layer = if solid {
            let vertices = &self.vertices;
            let position = |v: u32| vertices[v as usize].position;
            self.casters
                .extend(corners.iter().map(|corners| corners.map(position)));
            0
        } else {
            self.layers.push(Layer::new(opacity, style.on_top));
            self.layers.len() - 1
        };
        let material = Material {
            view: View::new(camera, self.width, self.height),
            wire: style.wire,
            shadowed: solid,
            ground: None,
        };
        self.surface(&corners, material, layer, style.two_sided);
    }

    /// Draws the floor y = 0 about the origin: a grid that fades away, and takes shadows. Unseen from below.
    ///
    /// `extent`: from the middle to where nothing is left of it, m. Lines are 1 or 5 times a power of ten apart; the
    /// x axis is red, the z axis blue.
    pub fn ground_grid(&mut self, camera: &Camera, extent: f32) {
        self.ground_grid_at(camera, 0.0, extent);
    }

    /// Draws a floor like [`ground_grid`](Self::ground_grid) at y = `height`, m.
    pub fn ground_grid_at(&mut self, camera: &Camera, height: f32, extent: f32) {
        if !(extent > 0.0 && extent.is_finite() && height.is_finite()) {
            return;
        }
        let first = self.vertices.len() as u32;
        for (x, z) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0)] {
            self.vertices.push(Vertex {
                position: Vec3::new(x * extent, height, z * extent),
                normal: Vec3::y(),
                color: [0.0; 3],
            });
        }
        let material = Material {
            view: View::new(camera, self.width, self.height),
            wire: false,
            shadowed: true,
            ground: Some(Ground::new(extent)),
        };
        let corners = [[0, 1, 2], [0, 2, 3]].map(|corners| corners.map(|v| first + v));
        self.surface(&corners, material, 0, false);
    }

    /// Writes a label over the picture, in the font of [`Image::text`].
    ///
    /// `x`, `y`: top left corner, pixels. `size`: height of capitals, pixels.
    pub fn text(&mut self, x: i32, y: i32, text: &str, size: u32, color: Linear) {
        self.labels.push(Label {
            x,
            y,
            text: text.to_owned(),
            size,
            color,
        });
    }

    /// Makes the picture. The same calls give the same bytes on any machine, with any number of threads.
    pub fn finish(&self) -> Image {
        let mut image = crate::frame::draw(self);
        for label in &self.labels {
            let color = crate::color::encode(label.color);
            image.text(label.x, label.y, &label.text, label.size, color);
        }
        image
    }

    /// Projects triangles, and cuts off what is in front of the near plane.
    fn surface(
        &mut self,
        triangles: &[[u32; 3]],
        material: Material,
        layer: usize,
        two_sided: bool,
    ) {
        let place = self.materials.len() as u32;
        let view = material.view;
        self.materials.push(material);
        for corners in triangles {
            let (polygon, count) = self.clipped(*corners, &view);
            // A triangle that meets the plane becomes another, or a fan of two.
            for i in 2..count {
                let corners = [polygon[0], polygon[i - 1], polygon[i]];
                let screen = corners.map(|v| {
                    view.screen(on_visible_side(&view, self.vertices[v as usize].position))
                });
                let [Some(a), Some(b), Some(c)] = screen else {
                    continue;
                };
                if let Some(triangle) = Triangle::new([a, b, c], corners, two_sided) {
                    self.layers[layer].triangles.push((triangle, place));
                }
            }
        }
    }

    /// The part of a triangle beyond the near plane, as a polygon of 0, 3 or 4 vertices.
    ///
    /// Source: Sutherland, Hodgman, "Reentrant polygon clipping", CACM 1974.
    fn clipped(&mut self, corners: [u32; 3], view: &View) -> ([u32; 4], usize) {
        let [a, b, c] = corners;
        let beyond =
            |v: u32| view.view_from_world(self.vertices[v as usize].position).z - view.near;
        let beyond = corners.map(beyond);
        if beyond.iter().all(|beyond| *beyond >= 0.0) {
            return ([a, b, c, c], 3);
        }
        let mut polygon = [0; 4];
        let mut count = 0;
        for i in 0..3 {
            let j = (i + 1) % 3;
            if beyond[i] >= 0.0 {
                polygon[count] = corners[i];
                count += 1;
            }
            if (beyond[i] >= 0.0) != (beyond[j] >= 0.0) {
                // Always from the same end, so that neighbours get the same point.
                let (i, j) = if corners[i] < corners[j] {
                    (i, j)
                } else {
                    (j, i)
                };
                let alpha = beyond[i] / (beyond[i] - beyond[j]);
                let to = self.vertices[corners[j] as usize];
                let cut = self.vertices[corners[i] as usize].mix(&to, alpha);
                polygon[count] = self.vertices.len() as u32;
                self.vertices.push(cut);
                count += 1;
            }
        }
        (polygon, count)
    }
}

/// The view space position; one that rounding put in front of the near plane lies on it.
fn on_visible_side(view: &View, position: Vec3) -> Vec3 {
    let seen = view.view_from_world(position);
    Vec3::new(seen.x, seen.y, seen.z.max(view.near))
}
