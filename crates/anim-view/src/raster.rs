//! Triangles to samples: exact edge functions, the fill rule, and depth.
//!
//! Corners are snapped to 1/256 pixel and edge functions evaluated in f64, so that they are exact on any picture, and two
//! triangles that share an edge share it without a gap or a sample drawn twice. Samples of a pixel lie on a rotated
//! grid: n × n of them stand in n² different rows and columns, which gives near-horizontal and near-vertical edges n²
//! steps rather than n.
//!
//! Source: Pineda, "A parallel algorithm for polygon rasterization", SIGGRAPH 1988.

use std::ops::Range;

/// Corners snap to this part of a pixel.
const SUBPIXELS: f64 = 256.0;
/// Covers the rounding of a row's bounds, pixels; samples are tested exactly anyhow.
const SLACK: f64 = 1e-3;

/// A corner on the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScreenVertex {
    /// Pixels from the left.
    pub(crate) x: f64,
    /// Pixels from the top.
    pub(crate) y: f64,
    /// Affine on the picture, and larger where nearer: 1 / depth in perspective, −depth without.
    pub(crate) nearness: f32,
    /// 1 / depth in perspective, 1 without: attributes times this are affine on the picture.
    pub(crate) inverse_w: f32,
}

/// Where the samples of a pixel are, from its top left corner.
#[derive(Clone, Debug)]
pub(crate) struct Samples(pub(crate) Vec<[f64; 2]>);

impl Samples {
    /// `side` × `side` samples; one is the pixel's middle.
    pub(crate) fn new(side: u32) -> Self {
        let n = f64::from(side);
        let offsets = (0..side * side).map(|sample| {
            let (column, row) = (f64::from(sample % side), f64::from(sample / side));
            [
                (column + (n - 0.5 - row) / n) / n,
                (row + (column + 0.5) / n) / n,
            ]
        });
        Self(offsets.collect())
    }
}

/// a · x + b · y + c.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    a: f64,
    b: f64,
    c: f64,
}

impl Plane {
    pub(crate) fn at(&self, x: f64, y: f64) -> f64 {
        self.a * x + self.b * y + self.c
    }

    /// The change a pixel in the steepest direction.
    pub(crate) fn slope(&self) -> f64 {
        (self.a * self.a + self.b * self.b).sqrt()
    }
}

/// A triangle on the picture, ready to be filled.
#[derive(Clone, Debug)]
pub(crate) struct Triangle {
    /// Twice the area of point and edge i, which lies opposite corner i; positive inside.
    pub(crate) edges: [Plane; 3],
    /// Twice the triangle's area, pixels².
    pub(crate) area: f64,
    /// Of the corners.
    pub(crate) inverse_w: [f32; 3],
    /// True if its back shows.
    pub(crate) back: bool,
    /// Places of the corners, in the order of `edges`.
    pub(crate) corners: [u32; 3],
    nearness: Plane,
    nearness_range: [f32; 2],
    x_range: [f64; 2],
    y_range: [f64; 2],
}

impl Triangle {
    /// `None` for what has no area on the picture, and for backs unless `two_sided`.
    ///
    /// Fronts are counter-clockwise to the viewer.
    pub(crate) fn new(
        vertices: [ScreenVertex; 3],
        corners: [u32; 3],
        two_sided: bool,
    ) -> Option<Self> {
        let snap = |value: f64| (value * SUBPIXELS).round() / SUBPIXELS;
        let [a, b, c] = vertices.map(|v| [snap(v.x), snap(v.y)]);
        // Rows grow downwards, so that fronts have a negative area here.
        let back = doubled_area(a, b, c) > 0.0;
        if back && !two_sided {
            return None;
        }
        let order = if back { [0, 1, 2] } else { [0, 2, 1] };
        let points = order.map(|i| [a, b, c][i]);
        let vertices = order.map(|i| vertices[i]);
        let area = doubled_area(points[0], points[1], points[2]);
        if !(area > 0.0 && area.is_finite()) {
            return None;
        }
        let edges = [(1, 2), (2, 0), (0, 1)].map(|(from, to)| edge(points[from], points[to]));
        let nearness = vertices.map(|v| v.nearness);
        let affine = |pick: fn(&Plane) -> f64| {
            let parts = edges.iter().zip(nearness);
            parts.map(|(e, n)| pick(e) * f64::from(n)).sum::<f64>() / area
        };
        let range = |axis: usize| {
            let values = points.map(|p| p[axis]);
            [
                values[0].min(values[1]).min(values[2]),
                values[0].max(values[1]).max(values[2]),
            ]
        };
        Some(Self {
            edges,
            area,
            inverse_w: vertices.map(|v| v.inverse_w),
            back,
            corners: order.map(|i| corners[i]),
            nearness: Plane {
                a: affine(|e| e.a),
                b: affine(|e| e.b),
                c: affine(|e| e.c),
            },
            nearness_range: [
                nearness[0].min(nearness[1]).min(nearness[2]),
                nearness[0].max(nearness[1]).max(nearness[2]),
            ],
            x_range: range(0),
            y_range: range(1),
        })
    }

    /// The rows of pixels it may touch, of `height`.
    pub(crate) fn rows(&self, height: u32) -> Range<u32> {
        whole_pixels(self.y_range, 0..height)
    }

    /// The weights of the corners at a place on the picture, corrected for perspective; they sum to 1.
    pub(crate) fn weights(&self, x: f64, y: f64) -> [f32; 3] {
        let mut weights = [0.0; 3];
        for ((weight, edge), inverse_w) in weights.iter_mut().zip(&self.edges).zip(self.inverse_w) {
            *weight = edge.at(x, y) * f64::from(inverse_w);
        }
        let sum = weights[0] + weights[1] + weights[2];
        weights.map(|weight| (weight / sum) as f32)
    }

    /// Visits every sample inside: column, row, sample, nearness.
    ///
    /// `rows` are the rows to fill, of a picture `width` pixels wide.
    #[inline(always)]
    pub(crate) fn fill(
        &self,
        rows: Range<u32>,
        width: u32,
        samples: &Samples,
        mut visit: impl FnMut(u32, u32, usize, f32),
    ) {
        let [low, high] = self.nearness_range;
        for y in whole_pixels(self.y_range, rows) {
            let top = f64::from(y);
            for x in self.columns(top, width) {
                let left = f64::from(x);
                // Most pixels of large triangles are inside with all their samples.
                let whole = self
                    .edges
                    .iter()
                    .all(|edge| edge.at(left, top) + edge.a.min(0.0) + edge.b.min(0.0) > 0.0);
                for (sample, [dx, dy]) in samples.0.iter().enumerate() {
                    let (sx, sy) = (left + dx, top + dy);
                    if whole || self.edges.iter().all(|edge| holds(edge, sx, sy)) {
                        let nearness = self.nearness.at(sx, sy) as f32;
                        // Slivers have steep planes: never leave what the corners span.
                        visit(x, y, sample, nearness.clamp(low, high));
                    }
                }
            }
        }
    }

    /// The pixels of a row that no edge rules out.
    fn columns(&self, top: f64, width: u32) -> Range<u32> {
        let [mut first, mut last] = self.x_range;
        for edge in &self.edges {
            // The most the edge function can be in this row, as a function of x alone.
            let most = edge.c + edge.b * top + edge.b.max(0.0);
            if edge.a > 0.0 {
                first = first.max(-most / edge.a - 1.0 - SLACK);
            } else if edge.a < 0.0 {
                last = last.min(-most / edge.a + SLACK);
            }
        }
        whole_pixels([first, last], 0..width)
    }
}

/// Inside, or on an edge that is a left or a top one: of two triangles along an edge, one owns its samples.
#[inline(always)]
fn holds(edge: &Plane, x: f64, y: f64) -> bool {
    let value = edge.at(x, y);
    value > 0.0 || (value == 0.0 && (edge.a > 0.0 || (edge.a == 0.0 && edge.b > 0.0)))
}

/// Exchanging the ends negates every coefficient exactly.
fn edge([from_x, from_y]: [f64; 2], [to_x, to_y]: [f64; 2]) -> Plane {
    Plane {
        a: from_y - to_y,
        b: to_x - from_x,
        c: from_x * to_y - to_x * from_y,
    }
}

fn doubled_area(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// The pixels of `limit` that an interval touches.
pub(crate) fn whole_pixels([from, to]: [f64; 2], limit: Range<u32>) -> Range<u32> {
    let first = from.max(f64::from(limit.start)) as u32;
    let end = if to < 0.0 {
        0
    } else {
        to.min(f64::from(limit.end)) as u32 + 1
    };
    first..end.min(limit.end).max(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(x: f64, y: f64, inverse_w: f32) -> ScreenVertex {
        ScreenVertex {
            x,
            y,
            nearness: inverse_w,
            inverse_w,
        }
    }

    fn triangle(points: [[f64; 2]; 3]) -> Option<Triangle> {
        Triangle::new(points.map(|[x, y]| vertex(x, y, 1.0)), [0, 1, 2], true)
    }

    /// How often each sample of a 40 × 40 picture is drawn.
    fn counts(triangles: &[[[f64; 2]; 3]], side: u32) -> Vec<u32> {
        let samples = Samples::new(side);
        let per_pixel = samples.0.len();
        let mut counts = vec![0; 40 * 40 * per_pixel];
        for points in triangles {
            if let Some(triangle) = triangle(*points) {
                triangle.fill(0..40, 40, &samples, |x, y, sample, _| {
                    counts[(y as usize * 40 + x as usize) * per_pixel + sample] += 1;
                });
            }
        }
        counts
    }

    #[test]
    fn a_fan_covers_every_sample_exactly_once() {
        // An irregular fan about a point that lies on samples, out to beyond the borders.
        let rim: Vec<[f64; 2]> = (0..17)
            .map(|i| {
                let angle = f64::from(i) * std::f64::consts::TAU / 17.0;
                [20.5 + 70.0 * angle.cos(), 20.5 + 70.0 * angle.sin()]
            })
            .collect();
        let fan: Vec<_> = (0..17)
            .map(|i| [[20.5, 20.5], rim[i], rim[(i + 1) % 17]])
            .collect();
        for side in 1..=4 {
            assert!(counts(&fan, side).iter().all(|count| *count == 1), "{side}");
        }
    }

    #[test]
    fn a_half_open_square_owns_its_left_and_top_border() {
        let (low, high) = (4.5, 9.5);
        let square = [
            [[low, low], [low, high], [high, high]],
            [[low, low], [high, high], [high, low]],
        ];
        let counts = counts(&square, 1);
        for (place, count) in counts.iter().enumerate() {
            let inside = (4..9).contains(&(place % 40)) && (4..9).contains(&(place / 40));
            assert_eq!(*count, u32::from(inside), "{place}");
        }
    }

    #[test]
    fn rotated_samples_stand_in_rows_and_columns_of_their_own() {
        for side in 1..=4u32 {
            let samples = Samples::new(side).0;
            for axis in 0..2 {
                let mut places: Vec<f64> = samples.iter().map(|s| s[axis]).collect();
                places.sort_by(f64::total_cmp);
                for (rank, place) in places.iter().enumerate() {
                    let expected = (rank as f64 + 0.5) / f64::from(side * side);
                    assert!((place - expected).abs() < 1e-12, "{side} {rank} {place}");
                }
            }
        }
    }

    #[test]
    fn weights_are_corrected_for_perspective() {
        // Depths 1 and 3: the middle of the edge on the picture is a quarter along it in space.
        let vertices = [
            vertex(0.0, 0.0, 1.0),
            vertex(8.0, 0.0, 1.0 / 3.0),
            vertex(0.0, 8.0, 1.0),
        ];
        let triangle = Triangle::new(vertices, [0, 1, 2], true).unwrap();
        let weights = triangle.weights(4.0, 0.0);
        let of = |corner: u32| {
            let place = triangle.corners.iter().position(|c| *c == corner).unwrap();
            weights[place]
        };
        assert!((of(0) - 0.75).abs() < 1e-6 && (of(1) - 0.25).abs() < 1e-6 && of(2).abs() < 1e-6);
    }

    #[test]
    fn triangles_without_area_are_left_out() {
        assert!(triangle([[1.0, 1.0], [5.0, 5.0], [9.0, 9.0]]).is_none());
        assert!(triangle([[f64::NAN, 1.0], [5.0, 5.0], [9.0, 2.0]]).is_none());
        assert!(triangle([[f64::INFINITY, 1.0], [5.0, 5.0], [9.0, 2.0]]).is_none());
        assert!(triangle([[1e300, 1.0], [5.0, 1e300], [-1e300, 2.0]]).is_none());
    }

    #[test]
    fn only_fronts_are_drawn_unless_both_sides_are_asked_for() {
        let corners = [
            vertex(0.0, 0.0, 1.0),
            vertex(0.0, 8.0, 1.0),
            vertex(8.0, 0.0, 1.0),
        ];
        let [a, b, c] = corners;
        assert!(!Triangle::new([a, b, c], [0, 1, 2], false).unwrap().back);
        assert!(Triangle::new([a, c, b], [0, 1, 2], false).is_none());
        assert!(Triangle::new([a, c, b], [0, 1, 2], true).unwrap().back);
    }
}
