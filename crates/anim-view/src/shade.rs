//! Light on surfaces: a studio with a key, a fill and a rim light, and a sky.
//!
//! The studio turns with the first camera of a picture, so that whatever is looked at is lit from the upper left. All
//! values are linear light.

use anim_math::Vec3;

use crate::camera::{View, unit};
use crate::color::{Linear, mix};
use crate::raster::Triangle;

const KEY: Linear = [0.98, 0.92, 0.84];
const FILL: Linear = [0.10, 0.13, 0.18];
const RIM: Linear = [0.34, 0.38, 0.44];
/// What comes from straight above and straight below.
const SKY: [Linear; 2] = [[0.28, 0.31, 0.37], [0.15, 0.14, 0.13]];
const GLOSS: f32 = 0.10;
/// The ground between its lines, the lines, and what is left of it in shadow.
const GROUND: Linear = [0.66, 0.68, 0.71];
const GROUND_LINE: Linear = [0.38, 0.41, 0.46];
const GROUND_SHADOW: Linear = [0.50, 0.53, 0.60];
/// The lines through the origin, along x and along z.
const AXES: [Linear; 2] = [[0.62, 0.10, 0.08], [0.08, 0.16, 0.60]];

/// Unit vectors towards the lights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lights {
    pub(crate) key: Vec3,
    fill: Vec3,
    rim: Vec3,
}

impl Lights {
    /// Lights that stand around what `view` looks at; `key` overrides the direction of the brightest.
    pub(crate) fn studio(view: &View, key: Option<Vec3>) -> Self {
        let (right, up) = (view.right, Vec3::y());
        let back = unit(right.cross(&up)).unwrap_or(view.back);
        let toward = |r: f32, u: f32, b: f32| unit(right * r + up * u + back * b).unwrap_or(up);
        Self {
            key: key.and_then(unit).unwrap_or_else(|| toward(-0.6, 1.1, 0.6)),
            fill: toward(0.9, 0.15, 0.5),
            rim: toward(0.35, 0.55, -0.8),
        }
    }
}

/// A place on a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    /// Unit, to the side that shows.
    pub(crate) normal: Vec3,
    /// Unit.
    pub(crate) to_eye: Vec3,
    pub(crate) color: Linear,
}

impl Surface {
    /// The light that leaves it to the eye; `visible` is the part of the key light that no shadow takes.
    pub(crate) fn lit(&self, lights: &Lights, visible: f32) -> Linear {
        let normal = self.normal;
        let facing = |light: &Vec3| normal.dot(light);
        let key = facing(&lights.key).max(0.0) * visible;
        let fill = 0.5 + 0.5 * facing(&lights.fill);
        let sky = mix(SKY[1], SKY[0], 0.5 + 0.5 * normal.y);
        let grazing = 1.0 - normal.dot(&self.to_eye).clamp(0.0, 1.0);
        let rim = grazing * grazing * grazing * (0.3 + 0.7 * facing(&lights.rim)).clamp(0.0, 1.0);
        let half = unit(lights.key + self.to_eye).unwrap_or(normal);
        let gloss = GLOSS * power_of_32(normal.dot(&half).max(0.0)) * visible;
        [0, 1, 2].map(|c| {
            let diffuse = KEY[c] * key + FILL[c] * fill * fill + sky[c];
            soft_clip(
                self.color[c] * diffuse
                    + RIM[c] * rim * (0.3 + 0.7 * self.color[c])
                    + KEY[c] * gloss,
            )
        })
    }
}

/// Keeps highlights from clipping hard: 1 is only reached at infinity, and nothing changes below 0.75.
fn soft_clip(value: f32) -> f32 {
    const KNEE: f32 = 0.75;
    let over = value - KNEE;
    if over > 0.0 {
        KNEE + (1.0 - KNEE) * over / (over + 1.0 - KNEE)
    } else {
        value
    }
}

fn power_of_32(value: f32) -> f32 {
    let mut power = value;
    for _ in 0..5 {
        power *= power;
    }
    power
}

/// Darkens a triangle along its edges.
///
/// The distance to the nearest edge is known per pixel, so lines are smooth, hide where the surface hides, and need no
/// depth bias; they fade where triangles are only a few pixels high.
///
/// Source: Bærentzen et al., "Single-pass wireframe rendering", SIGGRAPH sketches 2006.
pub(crate) fn wired(color: Linear, triangle: &Triangle, x: f64, y: f64) -> Linear {
    let (mut distance, mut height) = (f64::INFINITY, f64::INFINITY);
    for edge in &triangle.edges {
        let slope = edge.slope();
        distance = distance.min(edge.at(x, y) / slope);
        height = height.min(triangle.area / slope);
    }
    let line = (1.1 - distance).clamp(0.0, 1.0) * ((height - 2.0) / 8.0).clamp(0.0, 1.0);
    mix(color, color.map(|c| 0.12 * c), 0.8 * line as f32)
}

/// The floor y = 0: a grid that fades into the distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground {
    /// From the origin to where it has faded away, m.
    pub(crate) extent: f32,
    /// From line to line, m.
    pub(crate) cell: f32,
}

impl Ground {
    /// Cells of 1 or 5 times a power of ten, at most a dozen from the middle to the border.
    pub(crate) fn new(extent: f32) -> Self {
        let mut cell = 1e-3;
        let mut five = true;
        while extent / cell > 12.0 && cell < 1e6 {
            cell *= if five { 5.0 } else { 2.0 };
            five = !five;
        }
        Self { extent, cell }
    }

    /// Colour and opacity at (`x`, `z`).
    ///
    /// `footprint`: how much x and z change within a pixel, m; lines are one pixel wide, and fade where cells are smaller.
    pub(crate) fn color(
        &self,
        [x, z]: [f32; 2],
        footprint: [f32; 2],
        visible: f32,
    ) -> (Linear, f32) {
        let density = footprint.map(|metres| 1.0 / metres.max(1e-9));
        let line = |at: f32, density: f32| {
            let cells = at / self.cell;
            let nearest = (cells + 0.5f32.copysign(cells)) as i32 as f32;
            let cell = self.cell * density;
            (1.1 - (cells - nearest).abs() * cell).clamp(0.0, 1.0)
                * (cell / 12.0 - 0.2).clamp(0.0, 1.0)
        };
        let axis = |at: f32, density: f32| (1.3 - at.abs() * density).clamp(0.0, 1.0);
        let fine = line(x, density[0]).max(line(z, density[1]));
        let mut color = mix(GROUND, GROUND_LINE, 0.55 * fine);
        color = mix(color, AXES[0], 0.75 * axis(z, density[1]));
        color = mix(color, AXES[1], 0.75 * axis(x, density[0]));
        let dark = [0, 1, 2].map(|c| color[c] * GROUND_SHADOW[c]);
        let reach = ((x * x + z * z).sqrt() / self.extent).min(1.0);
        let fade = ((1.0 - reach) / 0.6).min(1.0);
        (mix(dark, color, visible), fade * fade * (3.0 - 2.0 * fade))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Camera;

    #[test]
    fn what_faces_the_key_light_is_brightest_and_shadow_darkens_it() {
        let view = View::new(&Camera::default(), 64, 64);
        let lights = Lights::studio(&view, None);
        let surface = |normal: Vec3| Surface {
            normal,
            to_eye: view.back,
            color: [0.5; 3],
        };
        let level = |normal: Vec3, visible: f32| surface(normal).lit(&lights, visible)[1];
        let bright = level(lights.key, 1.0);
        for other in [-lights.key, view.right, -Vec3::y()] {
            assert!(level(other, 1.0) < bright);
        }
        assert!(level(lights.key, 0.0) < 0.6 * bright);
        assert_eq!(level(-lights.key, 1.0), level(-lights.key, 0.0));
    }

    #[test]
    fn soft_clip_is_continuous_monotonous_and_below_one() {
        let mut last = -1.0;
        for step in 0..400 {
            let value = soft_clip(0.01 * step as f32);
            assert!(value > last && value < 1.0 && value - last.max(0.0) < 0.0101);
            last = value;
        }
    }

    #[test]
    fn grid_cells_suit_the_extent() {
        for (extent, cell) in [(1.0, 0.1), (3.0, 0.5), (10.0, 1.0), (30.0, 5.0)] {
            assert!((Ground::new(extent).cell - cell).abs() < 1e-6);
        }
        assert!(Ground::new(f32::INFINITY).cell.is_finite());
    }
}
