//! Curves over time or anything else: error plots, joint angles, foot heights.
//!
//! ```
//! use anim_view::plot::{Plot, Series};
//!
//! let points: Vec<[f32; 2]> = (0..50).map(|i| 0.1 * i as f32).map(|t| [t, t * t]).collect();
//! let picture = Plot {
//!     title: "drop",
//!     x_label: "time, s",
//!     y_label: "height, m",
//!     series: &[Series { label: "ball", points: &points, color: [0.1, 0.2, 0.7] }],
//! }
//! .draw(480, 300)?;
//! assert_eq!(picture.width, 480);
//! # Ok::<(), anim_view::ViewError>(())
//! ```

use std::ops::RangeInclusive;

use anim_math::Vec3;

use crate::color::Linear;
use crate::{Camera, Canvas, Image, ViewError, text};

const INK: Linear = [0.03, 0.035, 0.045];
const GRID: Linear = [0.78, 0.79, 0.81];
const PAPER: Linear = [0.95, 0.955, 0.965];
/// Space left of, right of, above and below the curves, pixels.
const MARGINS: [f32; 4] = [62.0, 18.0, 38.0, 40.0];
/// The least distance between two tick marks across and up, pixels.
const TICK_SPACING: [f32; 2] = [80.0, 45.0];

/// One curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series<'a> {
    /// For the legend.
    pub label: &'a str,
    /// x and y in order; the curve is broken where a point is not finite.
    pub points: &'a [[f32; 2]],
    /// Linear red, green, blue.
    pub color: Linear,
}

/// Curves on common axes, which span all finite points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plot<'a> {
    /// Stands above.
    pub title: &'a str,
    /// Stands below the x axis; name the unit.
    pub x_label: &'a str,
    /// Stands above the y axis; name the unit.
    pub y_label: &'a str,
    /// Later ones are drawn over earlier ones.
    pub series: &'a [Series<'a>],
}

impl Plot<'_> {
    /// Draws axes, curves and a legend on a picture of `width` × `height` pixels.
    ///
    /// # Errors
    ///
    /// As [`Canvas::new`].
    pub fn draw(&self, width: u32, height: u32) -> Result<Image, ViewError> {
        let mut canvas = Canvas::new(width, height, 2)?;
        canvas.background = [PAPER; 2];
        let (right, bottom) = (width as f32 - MARGINS[1], height as f32 - MARGINS[3]);
        let axes = [
            Axis::new(self.values(0), MARGINS[0]..=right, TICK_SPACING[0]),
            Axis::new(self.values(1), bottom..=MARGINS[2], TICK_SPACING[1]),
        ];
        let mut sheet = Sheet::new(&mut canvas);
        sheet.grid(&axes);
        for series in self.series {
            let place = |point: [f32; 2]| [axes[0].place(point[0]), axes[1].place(point[1])];
            for pair in series.points.windows(2) {
                sheet.line(place(pair[0]), place(pair[1]), series.color, 2.0);
            }
        }
        sheet.legend(self.series, right);
        sheet.centered(0.5 * width as f32, 8.0, self.title);
        sheet.centered(
            0.5 * (MARGINS[0] + right),
            height as f32 - 14.0,
            self.x_label,
        );
        canvas.text(6, MARGINS[2] as i32 - 16, self.y_label, 7, INK);
        Ok(canvas.finish())
    }

    fn values(&self, axis: usize) -> impl Iterator<Item = f32> {
        let points = self.series.iter().flat_map(|series| series.points);
        let finite = points.filter(|point| point.iter().all(|value| value.is_finite()));
        finite.map(move |point| point[axis])
    }
}

/// A canvas whose metres are pixels.
struct Sheet<'a> {
    canvas: &'a mut Canvas,
    camera: Camera,
}

impl<'a> Sheet<'a> {
    fn new(canvas: &'a mut Canvas) -> Self {
        let center = Vec3::new(0.5 * canvas.width as f32, -0.5 * canvas.height as f32, 0.0);
        let camera = Camera {
            eye: center + Vec3::z() * 10.0,
            target: center,
            up: Vec3::y(),
            fov_y: 0.0,
            height: canvas.height as f32,
            near: 1e-3,
        };
        Self { canvas, camera }
    }

    fn line(&mut self, [ax, ay]: [f32; 2], [bx, by]: [f32; 2], color: Linear, width: f32) {
        let (from, to) = (Vec3::new(ax, -ay, 0.0), Vec3::new(bx, -by, 0.0));
        self.canvas.line(&self.camera, from, to, color, width);
    }

    fn centered(&mut self, x: f32, y: f32, text: &str) {
        let half = text::size(text, 7).0 as f32 / 2.0;
        self.canvas.text((x - half) as i32, y as i32, text, 7, INK);
    }

    fn grid(&mut self, [x_axis, y_axis]: &[Axis; 2]) {
        for (at, label) in x_axis.ticks() {
            self.line([at, y_axis.from], [at, y_axis.to], GRID, 1.0);
            self.centered(at, y_axis.from + 7.0, &label);
        }
        for (at, label) in y_axis.ticks() {
            self.line([x_axis.from, at], [x_axis.to, at], GRID, 1.0);
            let x = x_axis.from - 6.0 - text::size(&label, 7).0 as f32;
            self.canvas.text(x as i32, at as i32 - 3, &label, 7, INK);
        }
        let corner = [x_axis.from, y_axis.from];
        self.line(corner, [x_axis.to, y_axis.from], INK, 1.0);
        self.line(corner, [x_axis.from, y_axis.to], INK, 1.0);
    }

    /// Labels in their curve's colour, from the right border to the left.
    fn legend(&mut self, series: &[Series<'_>], right: f32) {
        let mut x = right;
        for series in series.iter().rev() {
            x -= text::size(series.label, 7).0 as f32;
            let y = MARGINS[2] as i32 - 16;
            self.canvas.text(x as i32, y, series.label, 7, series.color);
            let middle = y as f32 + 3.5;
            self.line([x - 22.0, middle], [x - 6.0, middle], series.color, 2.0);
            x -= 36.0;
        }
    }
}

/// Values along a border of the picture.
struct Axis {
    /// The values at both ends.
    values: [f32; 2],
    /// The pixels there.
    from: f32,
    to: f32,
    /// Between two tick marks.
    step: f32,
}

impl Axis {
    fn new(values: impl Iterator<Item = f32>, pixels: RangeInclusive<f32>, spacing: f32) -> Self {
        let bounds = values.fold(None, |bounds, value| {
            let (low, high) = bounds.unwrap_or((value, value));
            Some((value.min(low), value.max(high)))
        });
        let (low, high) = bounds.unwrap_or((0.0, 1.0));
        // Beyond this, differences overflow; nobody can read such an axis anyhow.
        let (low, high) = (low.clamp(-1e37, 1e37), high.clamp(-1e37, 1e37));
        let least = (low.abs().max(high.abs()) * 1e-5).max(1e-30);
        let (middle, half) = (0.5 * low + 0.5 * high, (0.5 * high - 0.5 * low).max(least));
        let (from, to) = (*pixels.start(), *pixels.end());
        let steps = ((to - from).abs() / spacing).max(1.0);
        Self {
            values: [middle - half, middle + half],
            from,
            to,
            step: round_step(2.0 * half / steps),
        }
    }

    fn place(&self, value: f32) -> f32 {
        let [low, high] = self.values;
        self.from + (self.to - self.from) * ((value - low) / (high - low))
    }

    /// Pixels and labels of the multiples of the step.
    fn ticks(&self) -> Vec<(f32, String)> {
        let [low, high] = self.values;
        let first = (low / self.step - 1e-3).ceil();
        let count = ((high / self.step + 1e-3).floor() - first).clamp(-1.0, 1000.0) as i32;
        let digits = (-libm::floorf(libm::log10f(self.step) + 1e-4)).clamp(0.0, 9.0) as usize;
        let plain = low.abs().max(high.abs()) < 1e6 && self.step > 1e-6;
        (0..=count)
            .map(|tick| (first + tick as f32) * self.step)
            .map(|value| {
                // A negative zero would show its sign.
                let value = value + 0.0;
                let label = if plain {
                    format!("{value:.digits$}")
                } else {
                    format!("{value:.1e}")
                };
                (self.place(value), label)
            })
            .collect()
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
fn round_step(least: f32) -> f32 {
    let power = libm::powf(10.0, libm::floorf(libm::log10f(least)));
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= least);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_at_their_place() {
        let axis = Axis::new([-0.5, 2.5].into_iter(), 100.0..=400.0, 90.0);
        let labels: Vec<String> = axis.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["0", "1", "2"]);
        let places: Vec<f32> = axis.ticks().iter().map(|(at, _)| at.round()).collect();
        assert_eq!(places, [150.0, 250.0, 350.0]);
    }

    #[test]
    fn steps_are_one_two_or_five() {
        for (least, step) in [
            (0.9, 1.0),
            (1.1, 2.0),
            (3.0, 5.0),
            (7.0, 10.0),
            (0.03, 0.05),
        ] {
            assert!((round_step(least) / step - 1.0).abs() < 1e-5, "{least}");
        }
    }

    #[test]
    fn odd_values_draw_something() {
        let nan = f32::NAN;
        for points in [
            &[][..],
            &[[1.0, 5.0]],
            &[[0.0, 3.0], [1.0, 3.0]],
            &[[0.0, nan], [nan, 0.0], [f32::INFINITY, 2.0], [1.0, 1.0]],
            &[[-f32::MAX, 0.0], [f32::MAX, 1e-40]],
        ] {
            let series = Series {
                label: "s",
                points,
                color: [0.5, 0.0, 0.0],
            };
            let plot = Plot {
                title: "t",
                x_label: "x",
                y_label: "y",
                series: &[series],
            };
            for (width, height) in [(200, 120), (3, 3)] {
                assert!(plot.draw(width, height).is_ok());
            }
        }
    }
}
