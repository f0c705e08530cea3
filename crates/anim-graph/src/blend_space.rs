//! Blend spaces: which of the poses at given places mix, and how much of each, for a point between them.
//!
//! On a line the two neighbours of the point mix; in a plane the three corners of its triangle in the Delaunay
//! triangulation of the places, made once; outside, the point nearest on the border counts. So weights are not negative,
//! sum to one, are continuous, and at a place it is alone.
//!
//! ```
//! use anim_graph::BlendSpace2;
//!
//! let square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
//! let space = BlendSpace2::new(&square)?;
//! assert_eq!(space.weights([0.5, -3.0]).iter().collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
//! # Ok::<(), anim_graph::GraphError>(())
//! ```

use crate::GraphError;
use crate::delaunay::triangulate;

/// The places that mix for one point: at most three, with weights that sum to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corners {
    corners: [(usize, f32); 3],
    count: usize,
}

impl Corners {
    /// Indices of places and their weights, all above 0.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f32)> + '_ {
        self.corners[..self.count].iter().copied()
    }

    /// Of these places with these weights, without those that are 0.
    fn new(corners: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let mut kept = Self::default();
        for (index, weight) in corners {
            if weight as f32 > 0.0 && kept.count < kept.corners.len() {
                kept.corners[kept.count] = (index, weight as f32);
                kept.count += 1;
            }
        }
        kept
    }
}

/// Places on a line.
#[derive(Clone, Debug, PartialEq)]
pub struct BlendSpace1 {
    /// Places and their indices, rising.
    places: Vec<(f64, usize)>,
}

impl BlendSpace1 {
    /// Of places in any order.
    ///
    /// # Errors
    ///
    /// [`GraphError::EmptySpace`], [`GraphError::PlaceNotFinite`] and [`GraphError::SamePlace`] with indices in `places`.
    pub fn new(places: &[f32]) -> Result<Self, GraphError> {
        check(places.len(), |index| places[index].is_finite())?;
        let places = places.iter().map(|place| f64::from(*place));
        Self::along(places.collect())
    }

    fn along(places: Vec<f64>) -> Result<Self, GraphError> {
        let mut places: Vec<_> = places.into_iter().zip(0..).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        for pair in places.windows(2) {
            // Not total order: -0 and 0 are the same place.
            if pair[0].0 >= pair[1].0 {
                return Err(same_place(pair[0].1, pair[1].1));
            }
        }
        Ok(Self { places })
    }

    /// What mixes at `x`; NaN is the first place. O(log n), allocates nothing.
    pub fn weights(&self, x: f32) -> Corners {
        self.mix(f64::from(x))
    }

    fn mix(&self, x: f64) -> Corners {
        let next = self.places.partition_point(|place| place.0 <= x);
        let (Some(&(from, a)), Some(&(to, b))) = (
            next.checked_sub(1).and_then(|last| self.places.get(last)),
            self.places.get(next),
        ) else {
            let nearest = next.min(self.places.len() - 1);
            return Corners::new([(self.places[nearest].1, 1.0)]);
        };
        let alpha = (x - from) / (to - from);
        Corners::new([(a, 1.0 - alpha), (b, alpha)])
    }
}

/// Places in a plane.
#[derive(Clone, Debug, PartialEq)]
pub struct BlendSpace2 {
    /// Lowest coordinates, and factors that bring the extent of both axes to 1.
    origin: [f64; 2],
    scale: [f64; 2],
    shape: Shape,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    /// All places on one line: a place is found along the direction.
    Line {
        direction: [f64; 2],
        space: BlendSpace1,
    },
    /// Counter-clockwise triangles that fill the convex hull, and its edges.
    Triangles {
        places: Vec<[f64; 2]>,
        triangles: Vec<[usize; 3]>,
        border: Vec<[usize; 2]>,
    },
}

/// Places are rounded to a grid this fine, relative to their extent, so that the triangulation is exact: half the last
/// place of an f32.
const GRID: f64 = (1 << 24) as f64;

/// Places in a plane, at most: what the triangulation takes a moment for.
const MOST_PLACES: usize = 512;

impl BlendSpace2 {
    /// Of at most 512 places in any order; both axes count alike, whatever their units. Places on one line work as on a line.
    ///
    /// For tools and loading: about O(n²).
    ///
    /// # Errors
    ///
    /// [`GraphError::TooManyPlaces`], [`GraphError::EmptySpace`], [`GraphError::PlaceNotFinite`] and [`GraphError::SamePlace`] with indices in `places`.
    pub fn new(places: &[[f32; 2]]) -> Result<Self, GraphError> {
        check(places.len(), |index| {
            places[index].iter().all(|part| part.is_finite())
        })?;
        if places.len() > MOST_PLACES {
            return Err(GraphError::TooManyPlaces {
                count: places.len(),
                most: MOST_PLACES,
            });
        }
        let (mut origin, mut scale) = ([0.0; 2], [0.0; 2]);
        for axis in 0..2 {
            let along = || places.iter().map(|place| f64::from(place[axis]));
            let (low, high) = (
                along().fold(f64::MAX, f64::min),
                along().fold(f64::MIN, f64::max),
            );
            origin[axis] = low;
            scale[axis] = if high > low { 1.0 / (high - low) } else { 0.0 };
        }
        let mut space = Self {
            origin,
            scale,
            shape: Shape::Triangles {
                places: Vec::new(),
                triangles: Vec::new(),
                border: Vec::new(),
            },
        };
        let grid: Vec<[i64; 2]> = places
            .iter()
            .map(|place| on_grid(space.inside(*place)))
            .collect();
        for (index, place) in grid.iter().enumerate() {
            if let Some(first) = grid[..index].iter().position(|other| other == place) {
                return Err(same_place(first, index));
            }
        }
        let places: Vec<_> = grid
            .iter()
            .map(|place| place.map(|part| part as f64 / GRID))
            .collect();
        let triangles = without_slivers(&grid, triangulate(&grid));
        space.shape = if triangles.is_empty() {
            line(&places)?
        } else {
            Shape::Triangles {
                places,
                border: border(&triangles),
                triangles,
            }
        };
        Ok(space)
    }

    /// What mixes at `point`; a coordinate that is not finite is that of the lowest place. O(n), allocates nothing.
    pub fn weights(&self, point: [f32; 2]) -> Corners {
        // On the same grid as the places, so that each is met exactly.
        let point = on_grid(self.inside(point)).map(|part| part as f64 / GRID);
        match &self.shape {
            Shape::Line { direction, space } => space.mix(dot(point, *direction)),
            Shape::Triangles {
                places,
                triangles,
                border,
            } => triangles
                .iter()
                .find_map(|triangle| barycentric(places, *triangle, point))
                .unwrap_or_else(|| nearest_on(places, border, point)),
        }
    }

    /// The triangles, counter-clockwise, as indices of places; none if all are on one line.
    pub fn triangles(&self) -> &[[usize; 3]] {
        match &self.shape {
            Shape::Line { .. } => &[],
            Shape::Triangles { triangles, .. } => triangles,
        }
    }

    /// The place in units of the extent.
    fn inside(&self, point: [f32; 2]) -> [f64; 2] {
        let along = |axis: usize| match f64::from(point[axis]) {
            x if x.is_finite() => (x - self.origin[axis]) * self.scale[axis],
            _ => 0.0,
        };
        [along(0), along(1)]
    }
}

fn on_grid(place: [f64; 2]) -> [i64; 2] {
    place.map(|part| (part * GRID).round() as i64)
}

fn check(count: usize, is_finite: impl Fn(usize) -> bool) -> Result<(), GraphError> {
    if count == 0 {
        return Err(GraphError::EmptySpace);
    }
    match (0..count).find(|index| !is_finite(*index)) {
        Some(point) => Err(GraphError::PlaceNotFinite { point }),
        None => Ok(()),
    }
}

fn same_place(a: usize, b: usize) -> GraphError {
    GraphError::SamePlace {
        first: a.min(b),
        second: a.max(b),
    }
}

/// The places along the way between the two that are farthest apart on an axis.
fn line(places: &[[f64; 2]]) -> Result<Shape, GraphError> {
    let by_place = |a: &&[f64; 2], b: &&[f64; 2]| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]));
    let ends = (
        places.iter().min_by(by_place),
        places.iter().max_by(by_place),
    );
    let direction = match ends {
        (Some(from), Some(to)) if from != to => sub(*to, *from),
        _ => [1.0, 0.0],
    };
    let along = places.iter().map(|place| dot(*place, direction)).collect();
    Ok(Shape::Line {
        direction,
        space: BlendSpace1::along(along)?,
    })
}

/// Triangles at the border that are as thin as the rounding of places are places on a line that is meant straight: outside
/// of it the one in the middle would count for nothing.
fn without_slivers(grid: &[[i64; 2]], mut triangles: Vec<[usize; 3]>) -> Vec<[usize; 3]> {
    loop {
        let border = border(&triangles);
        let is_thin = |corners: &[usize; 3]| {
            let [a, b, c] = corners.map(|corner| grid[corner].map(|part| part as f64));
            let edges = [[a, b], [b, c], [c, a]].into_iter().enumerate();
            let area = cross(sub(b, a), sub(c, a));
            edges.into_iter().any(|(index, [from, to])| {
                let along = sub(to, from);
                let edge = [corners[index], corners[(index + 1) % 3]];
                border.contains(&edge) && area * area <= 256.0 * dot(along, along)
            })
        };
        match triangles.iter().position(is_thin) {
            Some(thin) => triangles.remove(thin),
            None => return triangles,
        };
    }
}

/// The edges that belong to one triangle only.
fn border(triangles: &[[usize; 3]]) -> Vec<[usize; 2]> {
    let edges = |triangle: &[usize; 3]| {
        let [a, b, c] = *triangle;
        [[a, b], [b, c], [c, a]]
    };
    let all: Vec<_> = triangles.iter().flat_map(edges).collect();
    let is_single = |edge: &&[usize; 2]| !all.contains(&[edge[1], edge[0]]);
    all.iter().filter(is_single).copied().collect()
}

/// The weights of a triangle's corners at a point inside it.
fn barycentric(places: &[[f64; 2]], triangle: [usize; 3], point: [f64; 2]) -> Option<Corners> {
    let [a, b, c] = triangle.map(|corner| places[corner]);
    let area = cross(sub(b, a), sub(c, a));
    let at_b = cross(sub(point, a), sub(c, a));
    let at_c = cross(sub(b, a), sub(point, a));
    let at_a = area - at_b - at_c;
    (at_a >= 0.0 && at_b >= 0.0 && at_c >= 0.0).then(|| {
        let weights = [at_a, at_b, at_c].map(|part| part / area);
        Corners::new(triangle.into_iter().zip(weights))
    })
}

/// The ends of the border edge nearest to a point, at the point's foot on it.
fn nearest_on(places: &[[f64; 2]], border: &[[usize; 2]], point: [f64; 2]) -> Corners {
    let foot = |[a, b]: [usize; 2]| {
        let along = sub(places[b], places[a]);
        let alpha = (dot(sub(point, places[a]), along) / dot(along, along)).clamp(0.0, 1.0);
        let gap = [0, 1].map(|i| point[i] - places[a][i] - along[i] * alpha);
        (dot(gap, gap), a, b, alpha)
    };
    let nearest = border
        .iter()
        .map(|edge| foot(*edge))
        .min_by(|x, y| x.0.total_cmp(&y.0));
    match nearest {
        Some((_, a, b, alpha)) => Corners::new([(a, 1.0 - alpha), (b, alpha)]),
        None => Corners::new([(0, 1.0)]),
    }
}

fn sub(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn listed(corners: Corners) -> Vec<(usize, f32)> {
        corners.iter().collect()
    }

    #[test]
    fn neighbours_on_a_line_mix_by_distance() {
        let space = BlendSpace1::new(&[4.0, 0.0, 1.0]).unwrap();
        assert_eq!(listed(space.weights(3.25)), [(2, 0.25), (0, 0.75)]);
        assert_eq!(listed(space.weights(1.0)), [(2, 1.0)]);
        assert_eq!(listed(space.weights(-7.0)), [(1, 1.0)]);
        assert_eq!(listed(space.weights(f32::INFINITY)), [(0, 1.0)]);
        assert_eq!(listed(space.weights(f32::NAN)), [(1, 1.0)]);
    }

    #[test]
    fn spaces_without_places_or_with_equal_ones_are_refused() {
        assert_eq!(BlendSpace1::new(&[]), Err(GraphError::EmptySpace));
        assert_eq!(BlendSpace2::new(&[]), Err(GraphError::EmptySpace));
        let same = Err(GraphError::SamePlace {
            first: 0,
            second: 2,
        });
        assert_eq!(BlendSpace1::new(&[1.0, 0.0, 1.0]), same.clone());
        assert_eq!(BlendSpace1::new(&[0.0, 1.0, -0.0]), same);
        let planar = BlendSpace2::new(&[[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]);
        assert!(matches!(
            planar,
            Err(GraphError::SamePlace {
                first: 0,
                second: 2
            })
        ));
        let broken = Err(GraphError::PlaceNotFinite { point: 1 });
        assert_eq!(BlendSpace1::new(&[0.0, f32::NAN]), broken);
    }

    #[test]
    fn places_on_one_line_work_as_on_a_line() {
        let space = BlendSpace2::new(&[[0.0, 0.0], [3.0, 30.0], [1.0, 10.0]]).unwrap();
        assert!(space.triangles().is_empty());
        let mixed = listed(space.weights([2.0, 20.0]));
        assert!(mixed[0].0 == 2 && mixed[1].0 == 1);
        assert!((mixed[0].1 - 0.5).abs() < 1e-6 && (mixed[1].1 - 0.5).abs() < 1e-6);
        let single = BlendSpace2::new(&[[5.0, 5.0]]).unwrap();
        assert_eq!(listed(single.weights([-3.0, 9.0])), [(0, 1.0)]);
    }

    #[test]
    fn beside_a_straight_border_the_nearest_place_counts() {
        // The second place is on the line between the first and the third, but for rounding to the grid.
        let space = BlendSpace2::new(&[[0.0, 0.0], [1.0, 2.0], [3.0, 6.0], [3.0, -1.0]]).unwrap();
        for outside in [0.0, 1e-6, 0.1, 2.0] {
            // At a right angle to the border where both axes have extent 1.
            let corners = space.weights([1.0 - outside * 9.0 / 7.0, 2.0 + outside * 3.5]);
            let own = corners.iter().find(|corner| corner.0 == 1);
            assert!(own.is_some_and(|corner| corner.1 > 0.9), "{corners:?}");
        }
    }

    #[test]
    fn in_the_middle_of_a_triangle_all_corners_weigh_the_same() {
        let space = BlendSpace2::new(&[[0.0, 0.0], [3.0, 0.0], [0.0, 300.0]]).unwrap();
        for (_, weight) in space.weights([1.0, 100.0]).iter() {
            assert!((weight - 1.0 / 3.0).abs() < 1e-6);
        }
    }

    fn places() -> impl Strategy<Value = Vec<[f32; 2]>> {
        // A small grid makes collinear and cocircular places the rule.
        let coarse = prop::collection::vec([-3_i8..4, -3_i8..4], 1..12)
            .prop_map(|list| list.iter().map(|p| p.map(f32::from)).collect());
        let fine = prop::collection::vec([-2.0_f32..2.0, -90.0_f32..90.0], 1..20);
        prop_oneof![coarse, fine]
    }

    proptest! {
        #[test]
        fn weights_sum_to_one_and_reproduce_the_places(
            list in places(), x in -4.0_f32..4.0, y in -4.0_f32..4.0,
        ) {
            let Ok(space) = BlendSpace2::new(&list) else { return Ok(()) };
            for (index, place) in list.iter().enumerate() {
                let own = space.weights(*place).iter().find(|corner| corner.0 == index);
                prop_assert!(own.is_some_and(|corner| corner.1 > 1.0 - 1e-6), "{own:?}");
            }
            let dense = |point| {
                let mut weights = vec![0.0; list.len()];
                space.weights(point).iter().for_each(|(index, weight)| weights[index] = weight);
                weights
            };
            let here = dense([x, y]);
            let sum: f32 = here.iter().sum();
            prop_assert!((sum - 1.0).abs() < 1e-5 && here.iter().all(|w| *w >= 0.0));
        }

        #[test]
        fn weights_have_no_jumps_inside_outside_and_across_the_border(
            cells in prop::collection::vec([-3_i8..4, -3_i8..4], 1..12),
            x in -5.0_f32..5.0, y in -5.0_f32..5.0, turn in 0.0_f32..6.3,
        ) {
            let list: Vec<_> = cells.iter().map(|cell| cell.map(f32::from)).collect();
            let Ok(space) = BlendSpace2::new(&list) else { return Ok(()) };
            let step = 1e-4;
            let near = [x + step * turn.cos(), y + step * turn.sin()];
            let mut change = vec![0.0; list.len()];
            space.weights([x, y]).iter().for_each(|(index, weight)| change[index] += weight);
            space.weights(near).iter().for_each(|(index, weight)| change[index] -= weight);
            // The lowest triangle on this grid is 1/√72 high, and three weights change.
            let most = 3.0 * 72.0_f32.sqrt() * step * 1.5;
            prop_assert!(change.iter().map(|part| part.abs()).sum::<f32>() < most);
        }

        #[test]
        fn on_a_grid_the_mix_of_places_is_the_point_itself(
            x in 0.0_f32..3.0, y in 0.0_f32..2.0, drop in 0_usize..12,
        ) {
            let mut list: Vec<[f32; 2]> =
                (0..12).map(|n| [(n % 4) as f32, (n / 4) as f32]).collect();
            // Without a corner or an edge the hull shrinks, so only inner places are left out.
            if drop == 5 || drop == 6 { list.remove(drop); }
            let space = BlendSpace2::new(&list).unwrap();
            let mut mixed = [0.0_f32; 2];
            for (index, weight) in space.weights([x, y]).iter() {
                mixed[0] += list[index][0] * weight;
                mixed[1] += list[index][1] * weight;
            }
            prop_assert!((mixed[0] - x).abs() < 1e-5 && (mixed[1] - y).abs() < 1e-5);
        }

        #[test]
        fn no_place_lies_inside_the_circle_of_a_triangle(list in places()) {
            let Ok(space) = BlendSpace2::new(&list) else { return Ok(()) };
            let places: Vec<_> = list.iter().map(|place| space.inside(*place)).collect();
            for triangle in space.triangles() {
                let [a, b, c] = triangle.map(|corner| places[corner]);
                for d in &places {
                    let [a, b, c] = [a, b, c].map(|p| sub(p, *d));
                    let lift = |p: [f64; 2]| dot(p, p);
                    let inside = lift(a) * cross(b, c) - lift(b) * cross(a, c) + lift(c) * cross(a, b);
                    prop_assert!(inside < 1e-6, "{inside}");
                }
            }
        }
    }
}
