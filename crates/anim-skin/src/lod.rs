//! Which level of detail to draw: by its error in pixels, without flicker, faded from one to the next.
//!
//! A level is good enough if its error, seen from here, is smaller than a pixel or so. Coarser levels are taken a little
//! later than that and finer ones at once, so a character that stands at the limit does not switch back and forth; while a
//! change fades, both levels are drawn, by dithering or by alpha. Choosing costs nothing: no geometry is looked at.
//!
//! ```
//! use anim_skin::lod::{LodState, MeshLod, pixels_per_metre};
//!
//! // Errors in metres: the source, then the levels of `simplify_skinned`.
//! let lod = MeshLod::new(vec![0.0, 0.001, 0.004]);
//! let mut state = LodState::default();
//! lod.update(pixels_per_metre(0.5, 2.4, 1080.0), 0.016, &mut state);
//! assert_eq!(state.level, 0);
//! lod.update(pixels_per_metre(40.0, 2.4, 1080.0), 0.016, &mut state);
//! assert_eq!((state.level, state.previous), (2, 0));
//! assert!(state.fade > 0.0 && state.fade < 1.0);
//! ```

use serde::{Deserialize, Serialize};

/// The levels of a mesh and when to change between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeshLod {
    /// The error of each level, metres, finest first; level 0 is shown if none is good enough.
    pub errors: Vec<f32>,
    /// The error that may be seen, pixels.
    pub tolerance: f32,
    /// How much smaller than the tolerance a coarser level's error must be, as a part of it, from 0 to 1.
    pub hysteresis: f32,
    /// How long a change fades, seconds; 0 switches at once.
    pub fade_seconds: f32,
}

impl MeshLod {
    /// One pixel, a fifth of hysteresis, a quarter of a second.
    pub fn new(errors: Vec<f32>) -> Self {
        Self {
            errors,
            tolerance: 1.0,
            hysteresis: 0.2,
            fade_seconds: 0.25,
        }
    }

    /// The level that should be shown after `level`: the coarsest whose error stays within the tolerance, less the
    /// hysteresis for those coarser than `level`.
    ///
    /// * `pixels_per_metre`: size on the screen, see [`pixels_per_metre`]. Errors that do not rise are no obstacle.
    pub fn select(&self, pixels_per_metre: f32, level: usize) -> usize {
        let fits = |(candidate, error): (usize, &f32)| {
            let margin = if candidate > level {
                1.0 - self.hysteresis
            } else {
                1.0
            };
            let seen = error * pixels_per_metre;
            (seen <= self.tolerance * margin).then_some(candidate)
        };
        let levels = self.errors.iter().enumerate();
        levels.filter_map(fits).next_back().unwrap_or(0)
    }

    /// Advances `state` by `dt` seconds: goes on fading, and only then changes again.
    ///
    /// A `dt` that is not finite counts as 0, and a fade that is no number as done.
    pub fn update(&self, pixels_per_metre: f32, dt: f32, state: &mut LodState) {
        let dt = if dt.is_finite() { dt } else { 0.0 };
        if state.fade >= 1.0 || state.fade.is_nan() {
            let level = self.select(pixels_per_metre, state.level);
            if level == state.level {
                *state = LodState {
                    level,
                    previous: level,
                    fade: 1.0,
                };
                return;
            }
            *state = LodState {
                level,
                previous: state.level,
                fade: 0.0,
            };
        }
        state.fade = if self.fade_seconds > 0.0 {
            (state.fade + dt / self.fade_seconds).clamp(0.0, 1.0)
        } else {
            1.0
        };
        if state.fade >= 1.0 {
            state.previous = state.level;
        }
    }
}

/// What one instance shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LodState {
    /// The level shown, or that becomes visible.
    pub level: usize,
    /// The level that vanishes; `level` itself when nothing fades.
    pub previous: usize,
    /// How far the change has come: the opacity of `level`, and 1 minus that of `previous`; from 0 to 1.
    pub fade: f32,
}

impl Default for LodState {
    /// Level 0, nothing fades.
    fn default() -> Self {
        Self {
            level: 0,
            previous: 0,
            fade: 1.0,
        }
    }
}

/// How many pixels a metre across the view takes at `distance` metres.
///
/// * `focal`: 1 / tan(half the vertical field of view), the second diagonal entry of a projection matrix. * `height`: of
///   the screen, pixels.
///
/// Infinite at the camera or behind it, so that the finest level is shown there.
pub fn pixels_per_metre(distance: f32, focal: f32, height: f32) -> f32 {
    if distance > 0.0 {
        0.5 * height * focal / distance
    } else {
        f32::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coarsest_level_within_the_tolerance_is_chosen() {
        let lod = MeshLod {
            hysteresis: 0.0,
            ..MeshLod::new(vec![0.0, 0.001, 0.004, 0.02])
        };
        let chosen = [1e5, 1000.0, 999.0, 251.0, 250.0, 50.0].map(|size| lod.select(size, 0));
        assert_eq!(chosen, [0, 1, 1, 1, 2, 3]);
        assert_eq!(lod.select(f32::INFINITY, 3), 0);
        assert_eq!(lod.select(f32::NAN, 3), 0);
        assert_eq!(MeshLod::new(Vec::new()).select(1.0, 7), 0);
    }

    #[test]
    fn at_the_limit_nothing_flickers() {
        let lod = MeshLod {
            fade_seconds: 0.0,
            ..MeshLod::new(vec![0.0, 0.001])
        };
        let mut state = LodState::default();
        let mut changes = 0;
        for frame in 0..100 {
            let before = state.level;
            // A tenth to and fro about the limit of 1000 pixels a metre.
            let size = if frame % 2 == 0 { 900.0 } else { 1100.0 };
            lod.update(size, 0.01, &mut state);
            changes += usize::from(state.level != before);
        }
        assert_eq!(changes, 0, "hysteresis is wider than the motion");
        lod.update(799.0, 0.01, &mut state);
        assert_eq!(state.level, 1);
        lod.update(999.0, 0.01, &mut state);
        assert_eq!(state.level, 1);
        lod.update(1001.0, 0.01, &mut state);
        assert_eq!(state.level, 0);
    }

    #[test]
    fn a_change_fades_in_its_time_and_is_not_interrupted() {
        let lod = MeshLod {
            fade_seconds: 0.4,
            ..MeshLod::new(vec![0.0, 0.001])
        };
        let mut state = LodState::default();
        let mut fades = Vec::new();
        for frame in 0..5 {
            lod.update(if frame == 2 { 1e5 } else { 10.0 }, 0.1, &mut state);
            fades.push((state.level, state.previous, state.fade));
        }
        let expected = [
            (1, 0, 0.25),
            (1, 0, 0.5),
            (1, 0, 0.75),
            (1, 1, 1.0),
            (1, 1, 1.0),
        ];
        for (found, expected) in fades.iter().zip(expected) {
            assert_eq!((found.0, found.1), (expected.0, expected.1));
            assert!((found.2 - expected.2).abs() < 1e-6);
        }
    }

    #[test]
    fn a_frame_without_a_length_ends_no_fade_for_ever() {
        let lod = MeshLod::new(vec![0.0, 0.001]);
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut state = LodState::default();
            lod.update(10.0, odd, &mut state);
            assert_eq!((state.level, state.fade), (1, 0.0));
            lod.update(10.0, 0.1, &mut state);
            lod.update(10.0, odd, &mut state);
            assert!((state.fade - 0.4).abs() < 1e-6, "{state:?}");
            (0..2).for_each(|_| lod.update(10.0, 0.1, &mut state));
            assert_eq!((state.previous, state.fade), (1, 1.0));
            state.fade = odd.sqrt();
            lod.update(10.0, 0.1, &mut state);
            assert_eq!((state.previous, state.fade), (1, 1.0));
        }
    }

    #[test]
    fn a_metre_at_the_height_of_the_view_fills_it() {
        // At half a metre, a right angle (tan 45° = 1) sees one metre.
        assert_eq!(pixels_per_metre(0.5, 1.0, 1080.0), 1080.0);
        assert_eq!(pixels_per_metre(-1.0, 0.8, 1080.0), f32::INFINITY);
    }
}
