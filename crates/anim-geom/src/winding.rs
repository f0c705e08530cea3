//! The generalized winding number: how often a surface goes round a point, whole or not.
//!
//! Inside a closed surface it is 1, outside 0. It stays meaningful where a surface is not closed: across a hole it passes
//! smoothly from one to the other, so that "more than a half" is an inside for meshes with holes, doubled faces and loose
//! parts, which no count of crossings gives. It asks for triangles that agree on which side is out.
//!
//! ```
//! use anim_geom::{WindingNumber, primitives};
//! use anim_math::Vec3;
//!
//! let tube = WindingNumber::new(&primitives::tube(1.0, 2.0, 24, 4))?;
//! assert!(tube.at(Vec3::zeros()) > 0.8, "inside, though both ends are open");
//! assert!(tube.at(Vec3::new(0.0, 3.0, 0.0)) < 0.3);
//! # Ok::<(), anim_geom::GeomError>(())
//! ```

use std::f64::consts::PI;

use anim_math::Vec3;
use anim_math::nalgebra::{Matrix3, Vector3};

use crate::mesh_bvh::{LARGEST, tree::Tree};
use crate::{GeomError, Mesh};

/// A group of triangles is summed as one when it is this many of its radii away.
const ACCURACY: f64 = 2.5;

/// A triangle mesh, arranged for fast winding numbers; immutable.
#[derive(Clone, Debug)]
pub struct WindingNumber {
    /// Depth first, each before what it contains.
    groups: Vec<Group>,
    /// In the order of the groups, f64 and not yet relative to a query.
    triangles: Vec<[Vector3<f64>; 3]>,
}

/// Triangles close together, and what they look like from afar.
#[derive(Clone, Debug)]
struct Group {
    /// Where the expansion stands: the centroid by area.
    center: Vector3<f64>,
    /// Squared distance beyond which the expansion is used.
    far_squared: f64,
    /// Σ area · normal.
    dipole: Vector3<f64>,
    /// Σ area · (centroid − center) normalᵀ.
    quadrupole: Matrix3<f64>,
    /// For each component of the normal, Σ ∫ normal · (x − center)(x − center)ᵀ.
    octupole: [Matrix3<f64>; 3],
    /// Its contraction with the identity in all three ways, times three.
    trace: Vector3<f64>,
    /// The group that follows when this one is done with.
    next: usize,
    /// Its triangles if it has no smaller groups.
    leaf: Option<(usize, usize)>,
}

impl WindingNumber {
    /// Arranges the triangles of `mesh`. O(F log F); triangles without area count for nothing.
    ///
    /// # Errors
    ///
    /// What [`Mesh::check`] finds; [`GeomError::TooFar`] for a coordinate beyond 10¹⁵ m; [`GeomError::Empty`] without
    /// triangles.
    pub fn new(mesh: &Mesh) -> Result<Self, GeomError> {
        mesh.check()?;
        let positions = &mesh.rest.positions;
        if let Some(vertex) = positions.iter().position(|p| p.amax() > LARGEST) {
            return Err(GeomError::TooFar { vertex });
        }
        if mesh.triangles.is_empty() {
            return Err(GeomError::Empty("triangles"));
        }
        let corners: Vec<[Vec3; 3]> = mesh
            .triangles
            .iter()
            .map(|triangle| triangle.map(|v| positions[v as usize]))
            .collect();
        let (tree, order) = Tree::new(&corners);
        let triangles: Vec<_> = order
            .iter()
            .map(|&triangle| corners[triangle].map(|corner| corner.map(f64::from)))
            .collect();
        let mut groups = Vec::new();
        collect(&tree, tree.root(), &triangles, &mut groups);
        Ok(Self { groups, triangles })
    }

    /// The winding number at `point`, within 0.01 of [`exact`](Self::exact).
    ///
    /// Groups at least two and a half radii away are replaced by the first three terms of their expansion; what that costs is
    /// measured, not proved: at most 0.005 on spheres, hemispheres and random soups. O(log F).
    ///
    /// Source: Barill, Dickson, Schmidt, Levin, Jacobson, "Fast winding numbers for soups and clouds", SIGGRAPH 2018,
    /// to the second order.
    pub fn at(&self, point: Vec3) -> f64 {
        let point = point.map(f64::from);
        let mut solid_angle = 0.0;
        let mut next = 0;
        while let Some(group) = self.groups.get(next) {
            let to_center = group.center - point;
            let squared = to_center.norm_squared();
            if squared > group.far_squared {
                solid_angle += group.solid_angle(to_center, squared);
                next = group.next;
                continue;
            }
            if let Some((first, end)) = group.leaf {
                solid_angle += sum_exactly(&self.triangles[first..end], point);
            }
            next += 1;
        }
        solid_angle / (4.0 * PI)
    }

    /// The winding number at `point` by the solid angle of every triangle: exact but for rounding, and O(F).
    pub fn exact(&self, point: Vec3) -> f64 {
        sum_exactly(&self.triangles, point.map(f64::from)) / (4.0 * PI)
    }
}

/// The solid angle under which `point` sees a triangle: positive from behind, up to 2π, 0 in its plane.
///
/// tan(Ω/2) = a·(b × c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|), a, b, c the corners relative to the point.
///
/// Source: van Oosterom and Strackee, "The solid angle of a plane triangle", IEEE TBME 30(2), 1983, equation 8.
pub fn solid_angle(point: Vector3<f64>, corners: [Vector3<f64>; 3]) -> f64 {
    let [a, b, c] = corners.map(|corner| corner - point);
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let volume = a.dot(&b.cross(&c));
    if volume == 0.0 {
        return 0.0;
    }
    2.0 * libm::atan2(
        volume,
        la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb,
    )
}

impl Group {
    fn new(triangles: &[[Vector3<f64>; 3]]) -> Self {
        let mut area_sum = 0.0;
        let mut center = Vector3::zeros();
        let mut dipole = Vector3::zeros();
        for corners in triangles {
            let area = area_normal(corners);
            let size = area.norm();
            area_sum += size;
            center += centroid(corners) * size;
            dipole += area;
        }
        center = if area_sum > 0.0 {
            center / area_sum
        } else {
            triangles[0][0]
        };
        let mut quadrupole = Matrix3::zeros();
        let mut octupole = [Matrix3::zeros(); 3];
        let mut radius_squared = 0.0_f64;
        for corners in triangles {
            let to_centroid = centroid(corners) - center;
            // The mean of (x − center)(x − center)ᵀ over a triangle.
            let mut spread = to_centroid * to_centroid.transpose() * 9.0;
            for corner in corners {
                spread += (corner - center) * (corner - center).transpose();
            }
            for (axis, matrix) in octupole.iter_mut().enumerate() {
                *matrix += spread * (area_normal(corners)[axis] / 12.0);
            }
            quadrupole += to_centroid * area_normal(corners).transpose();
            for corner in corners {
                radius_squared = radius_squared.max((corner - center).norm_squared());
            }
        }
        let trace = Vector3::from_fn(|k, _| {
            let repeated: f64 = (0..3).map(|i| octupole[i][(i, k)]).sum();
            3.0 * (2.0 * repeated + octupole[k].trace())
        });
        Self {
            center,
            far_squared: ACCURACY * ACCURACY * radius_squared,
            dipole,
            quadrupole,
            octupole,
            trace,
            next: 0,
            leaf: None,
        }
    }

    /// r·D/|r|³ + (tr M − 3 rᵀMr/|r|²)/|r|³ + (15 S(r,r,r)/|r|² − t·r)/(2|r|⁵).
    ///
    /// r runs from the point to the centre; D, M and S are the moments, t the trace of S. These are the derivatives of
    /// r/|r|³, which are symmetric in all indices, so that moments need not be.
    #[inline]
    fn solid_angle(&self, r: Vector3<f64>, squared: f64) -> f64 {
        let inverse = 1.0 / squared;
        let cubed = inverse * squared.sqrt() * inverse;
        let second = r.dot(&(self.quadrupole * r));
        let [x, y, z] = &self.octupole;
        let third = r.dot(&((x * r.x + y * r.y + z * r.z) * r));
        let first_two = r.dot(&self.dipole) + self.quadrupole.trace() - 3.0 * second * inverse;
        (first_two + 0.5 * inverse * (15.0 * third * inverse - self.trace.dot(&r))) * cubed
    }
}

/// Appends the group of a node and, after it, those below; returns the range of its triangles.
fn collect(
    tree: &Tree,
    node: usize,
    triangles: &[[Vector3<f64>; 3]],
    groups: &mut Vec<Group>,
) -> (usize, usize) {
    let index = groups.len();
    let range = if let Some(leaf) = tree.leaf(node) {
        let range = (leaf.start, leaf.end);
        let mut group = Group::new(&triangles[leaf]);
        group.leaf = Some(range);
        groups.push(group);
        range
    } else {
        // A place for the parent, whose triangles are known only after its children's.
        groups.push(Group::new(&triangles[..1]));
        let (left, right) = tree.children(node);
        let (first, _) = collect(tree, left, triangles, groups);
        let (_, end) = collect(tree, right, triangles, groups);
        groups[index] = Group::new(&triangles[first..end]);
        (first, end)
    };
    groups[index].next = groups.len();
    range
}

fn sum_exactly(triangles: &[[Vector3<f64>; 3]], point: Vector3<f64>) -> f64 {
    triangles
        .iter()
        .map(|corners| solid_angle(point, *corners))
        .sum()
}

fn area_normal([a, b, c]: &[Vector3<f64>; 3]) -> Vector3<f64> {
    (b - a).cross(&(c - a)) * 0.5
}

fn centroid([a, b, c]: &[Vector3<f64>; 3]) -> Vector3<f64> {
    (a + b + c) / 3.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Vertices, primitives};

    #[test]
    fn a_closed_sphere_is_one_inside_and_zero_outside() {
        let sphere = WindingNumber::new(&primitives::sphere(1.0, 48, 24)).unwrap();
        for i in 0..200 {
            let turn = i as f32;
            let direction = Vec3::new(turn.sin(), (turn * 0.7).cos(), (turn * 1.3).sin());
            for (radius, expected) in [(0.0, 1.0), (0.5, 1.0), (0.9, 1.0), (1.1, 0.0), (3.0, 0.0)] {
                let point = direction.normalize() * radius;
                assert!((sphere.exact(point) - expected).abs() < 1e-6);
                assert!(
                    (sphere.at(point) - expected).abs() < 5e-3,
                    "{radius} {}",
                    sphere.at(point)
                );
            }
        }
    }

    #[test]
    fn an_open_hemisphere_is_a_half_at_its_centre() {
        let mut half = primitives::sphere(1.0, 64, 32);
        let positions = half.rest.positions.clone();
        half.triangles
            .retain(|t| t.iter().all(|v| positions[*v as usize].y > -1e-4));
        let winding = WindingNumber::new(&half).unwrap();
        // The hemisphere covers half of the directions that its centre sees.
        assert!((winding.exact(Vec3::zeros()) - 0.5).abs() < 1e-6);
        assert!((winding.at(Vec3::zeros()) - 0.5).abs() < 2e-3);
        // On the axis the missing disk is seen under 2π(1 − h/√(h² + 1)).
        let expected = 1.0 - 0.5 * (1.0 - 0.5 / 1.25_f64.sqrt());
        assert!((winding.exact(Vec3::new(0.0, 0.5, 0.0)) - expected).abs() < 2e-3);
    }

    #[test]
    fn one_right_angled_corner_sees_an_eighth_of_the_sphere() {
        let corners = [Vector3::x(), Vector3::y(), Vector3::z()];
        assert!((solid_angle(Vector3::zeros(), corners) - PI / 2.0).abs() < 1e-15);
        assert_eq!(solid_angle(Vector3::x(), corners), 0.0);
    }

    #[test]
    fn what_has_no_surface_is_refused_or_nothing() {
        let empty = WindingNumber::new(&Mesh::default()).map(|_| ());
        assert_eq!(empty, Err(GeomError::Empty("triangles")));
        let flat = Mesh {
            rest: Vertices {
                positions: vec![Vec3::x(); 3],
                normals: vec![Vec3::y(); 3],
            },
            triangles: vec![[0, 1, 2]; 9],
            ..Mesh::default()
        };
        let flat = WindingNumber::new(&flat).unwrap();
        assert_eq!(flat.at(Vec3::x()), 0.0);
        assert_eq!(flat.at(Vec3::y()), 0.0);
    }

    fn point() -> impl Strategy<Value = Vec3> {
        prop::array::uniform3(-1.0_f32..1.0).prop_map(Vec3::from)
    }

    proptest! {
        #[test]
        fn soups_agree_with_the_sum_over_every_triangle(
            positions in prop::collection::vec((point(), point(), point()), 1..200),
            query in point(),
        ) {
            let positions: Vec<Vec3> = positions
                .iter()
                .flat_map(|(p, a, b)| [*p, p + a * 0.1, p + b * 0.1])
                .collect();
            let triangles = (0..positions.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
            let normals = vec![Vec3::y(); positions.len()];
            let soup = Mesh { rest: Vertices { positions, normals }, triangles, ..Mesh::default() };
            let winding = WindingNumber::new(&soup).unwrap();
            prop_assert!((winding.at(query) - winding.exact(query)).abs() < 2e-3);
        }
    }
}
