//! Shadows of the key light, from a depth map.
//!
//! The map is an orthographic picture of all solid meshes from the light, just large enough for them. A place is in
//! shadow where something in the map is nearer to the light; averaging a window of such answers makes borders soft, and
//! pulling the place off its surface by the width of the window keeps surfaces from shadowing themselves.
//!
//! Sources: Williams, "Casting curved shadows on curved surfaces", SIGGRAPH 1978; Reeves, Salesin, Cook, "Rendering
//! antialiased shadows with depth maps", SIGGRAPH 1987.

use anim_math::Vec3;
use rayon::prelude::*;

use crate::Camera;
use crate::camera::View;
use crate::raster::{Samples, Triangle};

/// Side of the map, texels.
const SIZE: usize = 1024;
/// Rows that one task fills.
const BAND: usize = 64;
/// Texels averaged on each side of the nearest one.
const SOFTNESS: usize = 2;
/// Side of the square of texels read; the outer ones count in part.
const WINDOW: usize = 2 * SOFTNESS + 2;

/// How near to the light the first surface is, in each direction.
#[derive(Debug)]
pub(crate) struct ShadowMap {
    view: View,
    nearness: Vec<f32>,
    /// Texel width, m.
    texel: f32,
}

impl ShadowMap {
    /// Looks at `casters` from `light`, the unit vector towards it; `None` without any.
    pub(crate) fn new(casters: &[[Vec3; 3]], light: Vec3) -> Option<Self> {
        let camera = around(casters, light)?;
        let view = View::new(&camera, SIZE as u32, SIZE as u32);
        let triangles: Vec<Triangle> = casters
            .iter()
            .filter_map(|corners| {
                let screen = corners.map(|corner| view.screen(view.view_from_world(corner)));
                let [Some(a), Some(b), Some(c)] = screen else {
                    return None;
                };
                Triangle::new([a, b, c], [0; 3], true)
            })
            .collect();
        let samples = Samples::new(1);
        let mut nearness = vec![f32::NEG_INFINITY; SIZE * SIZE];
        let bands = nearness.par_chunks_mut(SIZE * BAND).enumerate();
        bands.for_each(|(band, texels)| {
            let first = (band * BAND) as u32;
            let rows = first..first + BAND as u32;
            for triangle in &triangles {
                triangle.fill(rows.clone(), SIZE as u32, &samples, |x, y, _, near| {
                    let texel = &mut texels[(y - first) as usize * SIZE + x as usize];
                    *texel = texel.max(near);
                });
            }
        });
        Some(Self {
            view,
            nearness,
            texel: camera.height / SIZE as f32,
        })
    }

    /// The part of the light that reaches `position`, on a surface with unit normal `normal`: 0 to 1.
    pub(crate) fn visible(&self, position: Vec3, normal: Vec3) -> f32 {
        let margin = (SOFTNESS + 1) as f32 * self.texel;
        let lifted = position + (normal + self.view.back * 0.5) * margin;
        let Some(at) = self.view.screen(self.view.view_from_world(lifted)) else {
            return 1.0;
        };
        let corner = 0.5 + SOFTNESS as f64;
        let (x, y) = (at.x - corner, at.y - corner);
        let inside = 0.0..(SIZE - WINDOW) as f64;
        if !(inside.contains(&x) && inside.contains(&y)) {
            // `around` leaves a border without casters.
            return 1.0;
        }
        let (column, row) = (x as usize, y as usize);
        let (part_x, part_y) = ((x - column as f64) as f32, (y - row as f64) as f32);
        let weight = |place: usize, part: f32| match place {
            0 => 1.0 - part,
            place if place == WINDOW - 1 => part,
            _ => 1.0,
        };
        let mut light = 0.0;
        for j in 0..WINDOW {
            let texels = &self.nearness[(row + j) * SIZE + column..][..WINDOW];
            let mut line = 0.0;
            for (i, texel) in texels.iter().enumerate() {
                if *texel <= at.nearness {
                    line += weight(i, part_x);
                }
            }
            light += line * weight(j, part_y);
        }
        let full = (WINDOW - 1) as f32;
        light / (full * full)
    }
}

/// An orthographic camera that sees all casters from `light`, with a border of a few texels.
fn around(casters: &[[Vec3; 3]], light: Vec3) -> Option<Camera> {
    let from_light = Camera {
        eye: light,
        target: Vec3::zeros(),
        up: Vec3::y(),
        fov_y: 0.0,
        height: 1.0,
        near: 1e-6,
    };
    let view = View::new(&from_light, 1, 1);
    let mut bounds: Option<(Vec3, Vec3)> = None;
    for corner in casters.as_flattened() {
        let seen = Vec3::new(
            view.right.dot(corner),
            view.up.dot(corner),
            view.back.dot(corner),
        );
        bounds = Some(bounds.map_or((seen, seen), |(min, max)| (min.inf(&seen), max.sup(&seen))));
    }
    let (min, max) = bounds?;
    let (middle, half) = (min * 0.5 + max * 0.5, max * 0.5 - min * 0.5);
    let target = view.right * middle.x + view.up * middle.y + view.back * middle.z;
    let border = 1.0 + 4.0 * (SOFTNESS + 2) as f32 / SIZE as f32;
    let height = 2.0 * half.x.max(half.y).max(1e-4) * border;
    Some(Camera {
        eye: target + view.back * (half.z + height),
        target,
        height,
        ..from_light
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roof() -> Vec<[Vec3; 3]> {
        let corner = |x: f32, z: f32| Vec3::new(x, 1.0, z);
        let (a, b, c, d) = (
            corner(-1.0, -1.0),
            corner(-1.0, 1.0),
            corner(1.0, 1.0),
            corner(1.0, -1.0),
        );
        vec![[a, b, c], [a, c, d]]
    }

    #[test]
    fn a_roof_shades_what_lies_straight_below_it() {
        let map = ShadowMap::new(&roof(), Vec3::y()).unwrap();
        let visible = |x: f32, y: f32, z: f32| map.visible(Vec3::new(x, y, z), Vec3::y());
        assert_eq!(visible(0.0, 0.0, 0.0), 0.0);
        assert_eq!(visible(0.9, 0.5, -0.9), 0.0);
        assert_eq!(visible(1.1, 0.0, 0.0), 1.0);
        assert_eq!(visible(50.0, 0.0, 0.0), 1.0);
        assert_eq!(visible(0.0, 1.5, 0.0), 1.0);
        let border = visible(1.0, 0.0, 0.0);
        assert!((border - 0.5).abs() < 0.2, "{border}");
    }

    #[test]
    fn a_slanted_light_moves_the_shadow() {
        let map = ShadowMap::new(&roof(), Vec3::new(0.6, 0.8, 0.0)).unwrap();
        let visible = |x: f32| map.visible(Vec3::new(x, 0.0, 0.0), Vec3::y());
        // One metre down the light goes 0.75 m sideways.
        assert_eq!((visible(-1.70), visible(0.20)), (0.0, 0.0));
        assert_eq!((visible(-1.80), visible(0.30)), (1.0, 1.0));
    }

    #[test]
    fn surfaces_do_not_shadow_themselves() {
        for light in [
            Vec3::y(),
            Vec3::new(0.8, 0.6, 0.0),
            Vec3::new(-0.6, 0.48, 0.64),
        ] {
            let map = ShadowMap::new(&roof(), light).unwrap();
            for step in 0..50 {
                let at = Vec3::new(-0.95 + 0.038 * step as f32, 1.0, 0.7);
                assert_eq!(map.visible(at, Vec3::y()), 1.0, "{light:?} {step}");
            }
        }
    }

    #[test]
    fn no_casters_make_no_map() {
        assert!(ShadowMap::new(&[], Vec3::y()).is_none());
    }
}
