//! From the notes of a canvas to pixels.
//!
//! Bands of rows are drawn on their own: in each, a layer's triangles first decide which of them every sample shows,
//! then every pixel is shaded once for each triangle it shows, in the middle of the samples that show it. Shading cost so
//! does not grow with what is hidden, nor with the samples. Layers and strokes blend sample by sample.

use std::ops::Range;

use anim_math::Vec3;
use rayon::prelude::*;

use crate::Image;
use crate::camera::unit;
use crate::canvas::{Canvas, Layer};
use crate::color::{Linear, encode, mix};
use crate::raster::Samples;
use crate::shade::{Ground, Lights, Surface, wired};
use crate::shadow::ShadowMap;

/// Rows that one task draws.
const BAND: u32 = 16;
/// The sample shows no triangle.
const NOTHING: u32 = u32::MAX;

/// Draws all layers of `canvas`.
pub(crate) fn draw(canvas: &Canvas) -> Image {
    let lights = canvas
        .materials
        .first()
        .map(|material| Lights::studio(&material.view, canvas.key_light));
    let shadow = lights.and_then(|lights| ShadowMap::new(&canvas.casters, lights.key));
    let frame = Frame {
        canvas,
        lights,
        shadow,
        samples: Samples::new(canvas.supersample),
        bins: canvas
            .layers
            .iter()
            .map(|layer| bins(layer, canvas.height))
            .collect(),
    };
    let mut image = Image::new(canvas.width, canvas.height, [0; 3]);
    let size = (BAND * canvas.width) as usize;
    let bands = image.pixels.par_chunks_mut(size).enumerate();
    bands.for_each(|(band, pixels)| frame.draw_band(band as u32, pixels));
    image
}

/// The triangles that may touch each band, in the order of the layer.
fn bins(layer: &Layer, height: u32) -> Vec<Vec<u32>> {
    let mut bins = vec![Vec::new(); height.div_ceil(BAND) as usize];
    for (place, (triangle, _)) in layer.triangles.iter().enumerate() {
        let rows = triangle.rows(height);
        if !rows.is_empty() {
            for bin in &mut bins[(rows.start / BAND) as usize..=((rows.end - 1) / BAND) as usize] {
                bin.push(place as u32);
            }
        }
    }
    bins
}

struct Frame<'a> {
    canvas: &'a Canvas,
    /// `None` if there is nothing to light.
    lights: Option<Lights>,
    shadow: Option<ShadowMap>,
    samples: Samples,
    /// For each layer, for each band.
    bins: Vec<Vec<Vec<u32>>>,
}

/// What the samples of a band hold, row by row, pixel by pixel.
struct Band {
    rows: Range<u32>,
    color: Vec<Linear>,
    /// Of the solid layer.
    nearness: Vec<f32>,
    /// Of the layer at hand.
    layer_nearness: Vec<f32>,
    /// The triangle of the layer at hand that shows.
    shown: Vec<u32>,
}

impl Frame<'_> {
    fn draw_band(&self, index: u32, pixels: &mut [[u8; 3]]) {
        let first = index * BAND;
        let rows = first..(first + BAND).min(self.canvas.height);
        let per_pixel = self.samples.0.len();
        let count = pixels.len() * per_pixel;
        let mut band = Band {
            color: self.background(rows.clone(), per_pixel),
            rows,
            nearness: Vec::new(),
            layer_nearness: vec![f32::NEG_INFINITY; count],
            shown: vec![NOTHING; count],
        };
        for (place, layer) in self.canvas.layers.iter().enumerate() {
            let bin = &self.bins[place][index as usize];
            if !bin.is_empty() {
                self.show(layer, bin, &mut band);
                self.shade(layer, &mut band);
            }
            if place == 0 {
                band.nearness.clone_from(&band.layer_nearness);
            }
            self.draw_strokes(layer, &mut band);
        }
        let share = 1.0 / per_pixel as f32;
        for (pixel, samples) in pixels.iter_mut().zip(band.color.chunks_exact(per_pixel)) {
            let sum = samples.iter().fold([0.0; 3], |sum, sample| {
                [sum[0] + sample[0], sum[1] + sample[1], sum[2] + sample[2]]
            });
            *pixel = encode(sum.map(|c| c * share));
        }
    }

    fn background(&self, rows: Range<u32>, per_pixel: usize) -> Vec<Linear> {
        let [top, bottom] = self.canvas.background;
        let width = self.canvas.width as usize * per_pixel;
        rows.flat_map(|y| {
            let down = (y as f32 + 0.5) / self.canvas.height as f32;
            let smooth = down * down * (3.0 - 2.0 * down);
            std::iter::repeat_n(mix(top, bottom, smooth), width)
        })
        .collect()
    }

    /// Finds the triangle each sample shows.
    fn show(&self, layer: &Layer, bin: &[u32], band: &mut Band) {
        let Band {
            rows,
            nearness: solid,
            layer_nearness,
            shown,
            ..
        } = band;
        layer_nearness.fill(f32::NEG_INFINITY);
        shown.fill(NOTHING);
        // The solid layer is the first, and has nothing to hide behind.
        let hides = !layer.on_top && !solid.is_empty();
        let (width, per_pixel) = (self.canvas.width, self.samples.0.len());
        for place in bin {
            let (triangle, _) = &layer.triangles[*place as usize];
            triangle.fill(rows.clone(), width, &self.samples, |x, y, sample, near| {
                let at = ((y - rows.start) * width + x) as usize * per_pixel + sample;
                if near > layer_nearness[at] && !(hides && near < solid[at]) {
                    layer_nearness[at] = near;
                    shown[at] = *place;
                }
            });
        }
    }

    /// Shades what the samples show, and blends it in.
    fn shade(&self, layer: &Layer, band: &mut Band) {
        let per_pixel = self.samples.0.len();
        let pixels = band.color.chunks_exact_mut(per_pixel);
        for (pixel, (color, shown)) in pixels.zip(band.shown.chunks_exact(per_pixel)).enumerate() {
            let x = f64::from(pixel as u32 % self.canvas.width);
            let y = f64::from(band.rows.start + pixel as u32 / self.canvas.width);
            if shown.iter().all(|place| *place == shown[0]) {
                if shown[0] != NOTHING {
                    let (light, alpha) = self.light(layer, shown[0], [x + 0.5, y + 0.5]);
                    for color in color {
                        *color = mix(*color, light, alpha);
                    }
                }
                continue;
            }
            for (sample, place) in shown.iter().enumerate() {
                if *place == NOTHING || shown[..sample].contains(place) {
                    continue;
                }
                let [dx, dy] = self.middle(shown, *place);
                let (light, alpha) = self.light(layer, *place, [x + dx, y + dy]);
                for (color, _) in color.iter_mut().zip(shown).filter(|(_, s)| *s == place) {
                    *color = mix(*color, light, alpha);
                }
            }
        }
    }

    /// The middle of those samples of a pixel that show triangle `place`.
    fn middle(&self, shown: &[u32], place: u32) -> [f64; 2] {
        let mut sum = [0.0; 3];
        for ([dx, dy], _) in self
            .samples
            .0
            .iter()
            .zip(shown)
            .filter(|(_, s)| **s == place)
        {
            sum = [sum[0] + dx, sum[1] + dy, sum[2] + 1.0];
        }
        [sum[0] / sum[2], sum[1] / sum[2]]
    }

    /// Colour and opacity of a triangle at a place on the picture.
    fn light(&self, layer: &Layer, place: u32, [x, y]: [f64; 2]) -> (Linear, f32) {
        let Some(lights) = &self.lights else {
            return ([0.0; 3], 0.0);
        };
        let (triangle, material) = &layer.triangles[place as usize];
        let material = &self.canvas.materials[*material as usize];
        let corners = triangle.corners.map(|v| &self.canvas.vertices[v as usize]);
        let at = |x: f64, y: f64| {
            let weights = triangle.weights(x, y);
            (weights, blend(corners.map(|v| v.position), weights))
        };
        let (weights, position) = at(x, y);
        let visible = |normal: Vec3| match &self.shadow {
            Some(shadow) if material.shadowed && normal.dot(&lights.key) > 0.0 => {
                shadow.visible(position, normal)
            }
            _ => 1.0,
        };
        if let Some(ground) = &material.ground {
            let steps = [at(x + 1.0, y).1 - position, at(x, y + 1.0).1 - position];
            let (color, alpha) = ground_color(ground, position, steps, visible(Vec3::y()));
            return (color, alpha * layer.opacity);
        }
        let to_eye = material.view.toward_eye(position);
        let normal = blend(corners.map(|v| v.normal), weights);
        let smooth = unit(normal).map(|normal| if triangle.back { -normal } else { normal });
        let flat = || {
            let [a, b, c] = corners.map(|v| v.position);
            let normal = unit((b - a).cross(&(c - a))).unwrap_or(to_eye);
            if normal.dot(&to_eye) < 0.0 {
                -normal
            } else {
                normal
            }
        };
        let normal = smooth.unwrap_or_else(flat);
        let surface = Surface {
            normal,
            to_eye,
            color: [0, 1, 2].map(|c| {
                corners
                    .iter()
                    .zip(weights)
                    .map(|(v, weight)| v.color[c] * weight)
                    .sum()
            }),
        };
        let color = surface.lit(lights, visible(normal));
        if material.wire {
            (wired(color, triangle, x, y), layer.opacity)
        } else {
            (color, layer.opacity)
        }
    }

    fn draw_strokes(&self, layer: &Layer, band: &mut Band) {
        let (width, per_pixel) = (self.canvas.width, self.samples.0.len());
        for stroke in &layer.strokes {
            stroke.fill(
                band.rows.clone(),
                width,
                &self.samples,
                |x, y, sample, near, cover| {
                    let at = ((y - band.rows.start) * width + x) as usize * per_pixel + sample;
                    if stroke.on_top || near >= band.nearness[at] {
                        band.color[at] = mix(band.color[at], stroke.color, cover);
                    }
                },
            );
        }
    }
}

/// `steps`: how the position changes from pixel to pixel, across and down.
fn ground_color(ground: &Ground, position: Vec3, steps: [Vec3; 2], visible: f32) -> (Linear, f32) {
    let footprint = |axis: usize| {
        let (across, down) = (steps[0][axis], steps[1][axis]);
        (across * across + down * down).sqrt()
    };
    ground.color(
        [position.x, position.z],
        [footprint(0), footprint(2)],
        visible,
    )
}

fn blend([a, b, c]: [Vec3; 3], weights: [f32; 3]) -> Vec3 {
    a * weights[0] + b * weights[1] + c * weights[2]
}
