//! Geodesic binding: distances over the surface, so that what touches through the air does not pull.
//!
//! A bone reaches the surface at the vertices whose nearest visible bone it is, as far away there as the bone is deep; from
//! there its distance grows along the surface. Needs no closed mesh and no system; smoother than nearest bones, less smooth
//! than heat.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_math::Vec3;
//! use anim_skin::weights::{self, Bone, Bones, GeodesicOptions};
//!
//! let tube = primitives::tube(0.2, 1.0, 8, 8);
//! let bone = |from: f32, joint| Bone { head: Vec3::y() * from, tail: Vec3::y() * (from + 1.0), joint };
//! let bones = Bones::new(vec![bone(-1.0, 0), bone(0.0, 1)], 2)?;
//! let (weights, _) = weights::geodesic(&tube, &bones, &GeodesicOptions::default())?;
//! assert!(weights.weight(0, 0) > 0.99 && weights.weight(8 * 9, 1) > 0.99);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_geom::Mesh;
#[cfg(feature = "solve")]
use anim_geom::geodesic::HeatGeodesics;
use anim_geom::geodesic::{Dijkstra, FastMarching, Geodesics};

use super::inverse_distance::fall_off;
use super::surface::{Nearest, Surface, check_positive};
use super::{BindReport, Bones, SkinWeights};
use crate::SkinError;

/// How distances over the surface are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GeodesicMethod {
    /// Along edges: the fastest.
    Dijkstra,
    /// [`FastMarching`].
    #[default]
    FastMarching,
    /// [`HeatGeodesics`]: the smoothest.
    #[cfg(feature = "solve")]
    Heat,
}

/// How [`geodesic`] measures and falls off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeodesicOptions {
    /// How distances are found.
    pub method: GeodesicMethod,
    /// p of w = d⁻ᵖ; 2 is soft, 4 crisp.
    pub power: f64,
    /// The largest number of joints a vertex follows; `None` keeps all.
    pub influences: Option<usize>,
}

impl Default for GeodesicOptions {
    fn default() -> Self {
        Self {
            method: GeodesicMethod::default(),
            power: 4.0,
            influences: Some(4),
        }
    }
}

/// w = (d + ε)⁻ᵖ of each joint's distance over the surface, divided by their sum; ε is 10⁻⁶ of the mesh's diagonal.
///
/// Where no vertex of a component sees a bone, the component follows the nearest one and is an island of the report. One run
/// of the distances a joint: O(J · V log V).
///
/// # Errors
///
/// [`SkinError::BadOption`] if the power is not positive, [`SkinError::Mesh`] for what [`Mesh::check`] finds.
pub fn geodesic(
    mesh: &Mesh,
    bones: &Bones,
    options: &GeodesicOptions,
) -> Result<(SkinWeights, BindReport), SkinError> {
    check_positive("power", options.power)?;
    let surface = Surface::new(mesh, bones)?;
    let nearest = surface.nearest(true);
    let (anchors, islands) = surface.anchors(&nearest);
    let (positions, triangles) = (&surface.positions, &surface.triangles);
    let geodesics: Box<dyn Geodesics> = match options.method {
        GeodesicMethod::Dijkstra => Box::new(Dijkstra::new(positions, triangles)?),
        GeodesicMethod::FastMarching => Box::new(FastMarching::new(positions, triangles)?),
        #[cfg(feature = "solve")]
        GeodesicMethod::Heat => Box::new(HeatGeodesics::new(positions, triangles)?),
    };
    let distances = distances(&*geodesics, &nearest, bones.joint_count());
    let row = |vertex: usize| {
        let reached = distances.iter().map(|(joint, d)| (*joint, d[vertex]));
        let mut row: Vec<(u16, f64)> = reached.filter(|(_, d)| d.is_finite()).collect();
        fall_off(&mut row, 1.0e-6 * surface.diagonal, options.power);
        row
    };
    let row = |vertex| {
        surface
            .anchored(vertex, &nearest, &anchors)
            .unwrap_or_else(|| row(vertex))
    };
    surface.finish(row, islands, options.influences)
}

/// For each joint that some vertex sees, the distances of all vertices from it.
fn distances(
    geodesics: &dyn Geodesics,
    nearest: &[Nearest],
    joint_count: usize,
) -> Vec<(u16, Vec<f64>)> {
    let mut sources = vec![Vec::new(); joint_count];
    for (vertex, nearest) in (0..).zip(nearest) {
        if nearest.is_visible {
            for joint in &nearest.joints {
                sources[usize::from(*joint)].push((vertex, nearest.distance));
            }
        }
    }
    let seen = (0..)
        .zip(&sources)
        .filter(|(_, sources)| !sources.is_empty());
    seen.map(|(joint, sources)| {
        let mut out = vec![0.0; nearest.len()];
        geodesics.distances(sources, &mut out);
        // Heat may fall short of the straight way by its error.
        for value in &mut out {
            *value = value.max(0.0);
        }
        (joint, out)
    })
    .collect()
}
