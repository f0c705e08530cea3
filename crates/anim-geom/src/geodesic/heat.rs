//! The heat method: heat spreads for a moment, its gradient points away from the sources, and one more solve integrates it.
//!
//! Two systems are factored once; each query is then two solves, whatever the number of sources. On the intrinsic Delaunay
//! triangulation, so that heat is never negative. On borders heat is the mean of letting none out and of letting all out.
//!
//! Source: Crane, Weischedel, Wardetzky, "Geodesics in heat", ACM TOG 32(5), 2013, algorithm 1 and section 3.4.

use anim_math::Vec3;

use super::Geodesics;
use crate::intrinsic::{Intrinsic, area, proper};
use crate::laplacian::check;
use crate::sparse::Cholesky;
use crate::topology::half_edges;
use crate::{Components, GeomError, Laplacian};

/// A surface with its two systems factored.
#[derive(Debug)]
pub struct HeatGeodesics {
    surface: Intrinsic,
    components: Components,
    /// The length over which heat falls by e: the mean edge, metres.
    reach: f64,
    /// M + tL with free borders.
    heat: Cholesky,
    /// The same with borders kept at 0, if there are any.
    cold: Option<Cholesky>,
    /// L with one vertex a component held.
    poisson: Cholesky,
    /// The lowest vertex of each component.
    pins: Vec<u32>,
}

impl HeatGeodesics {
    /// Factors the systems of a surface: two, or three if it has a border. O(V^1.5), some tens of queries.
    ///
    /// # Errors
    ///
    /// [`GeomError::VertexOutOfRange`], [`GeomError::NotFinite`]; [`GeomError::NotPositiveDefinite`] if the sizes of the
    /// triangles are so far apart that rounding wins.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, GeomError> {
        check(positions, triangles)?;
        let surface = Intrinsic::delaunay(positions, triangles);
        let laplacian = Laplacian::of_surface(positions, triangles, &surface);
        let count = surface.lengths.len().max(1) as f64;
        let reach = surface.lengths.iter().sum::<f64>() / count;
        let components = Components::new(positions.len(), triangles);
        let mut pins = Vec::with_capacity(components.count());
        for (vertex, label) in (0..).zip(components.labels()) {
            if *label == Some(pins.len() as u32) {
                pins.push(vertex);
            }
        }
        let mut is_border = vec![false; positions.len()];
        for edge in half_edges(&proper(triangles)).chunk_by(|a, b| a.ends == b.ends) {
            if let [only] = edge {
                only.ends.iter().for_each(|v| is_border[*v as usize] = true);
            }
        }
        let mut is_pin = vec![false; positions.len()];
        pins.iter().for_each(|v| is_pin[*v as usize] = true);
        let time = reach * reach;
        let factor = |stiffness: f64, mass: f64, held: &dyn Fn(usize) -> bool| {
            let added: Vec<f64> = laplacian.mass().iter().map(|area| mass * area).collect();
            let lower = laplacian.system(stiffness, &added, held);
            Cholesky::new(positions.len(), &lower)
        };
        let has_border = is_border.contains(&true);
        // Weights of 0 can cut a component in two; a trace of mass keeps the system definite.
        let trace = 1.0e-13 * laplacian.diagonal().iter().sum::<f64>();
        let total = laplacian.mass().iter().sum::<f64>().max(f64::MIN_POSITIVE);
        Ok(Self {
            heat: factor(time, 1.0, &|_| false)?,
            cold: has_border
                .then(|| factor(time, 1.0, &|v| is_border[v]))
                .transpose()?,
            poisson: factor(1.0, trace / total, &|v| is_pin[v])?,
            surface,
            components,
            reach,
            pins,
        })
    }

    /// −∇·X of the unit field X that points down the gradient of `heat`, integrated about each vertex.
    fn sources_of_distance(&self, heat: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let surface = &self.surface;
        let triangles = surface
            .origins
            .chunks_exact(3)
            .zip(surface.lengths.chunks_exact(3));
        for ((corners, sides), cotangents) in triangles.zip(surface.cotangents.chunks_exact(3)) {
            let corners = [corners[0], corners[1], corners[2]].map(|v| v as usize);
            let values = corners.map(|v| heat[v]);
            // Heat falls to 1e-300, whose squares are 0.
            let largest = values.iter().fold(0.0, |m: f64, u| m.max(u.abs()));
            if largest == 0.0 {
                continue;
            }
            let [u0, u1, u2] = values.map(|u| u / largest);
            let (a, b, c) = (sides[0], sides[1], sides[2]);
            let x = (a * a + c * c - b * b) / (2.0 * a);
            let y = 2.0 * area([a, b, c]) / a;
            let gx = (u1 - u0) / a;
            let gy = ((u2 - u0) - x * gx) / y;
            let length = gx.hypot(gy);
            if !(length > 0.0 && length.is_finite()) {
                continue;
            }
            let (fx, fy) = (-gx / length, -gy / length);
            let flows = [a * fx, (x - a) * fx + y * fy, -x * fx - y * fy];
            for side in 0..3 {
                let flow = 0.5 * surface.share * cotangents[side] * flows[side];
                out[corners[side]] -= flow;
                out[corners[(side + 1) % 3]] += flow;
            }
        }
    }
}

impl Geodesics for HeatGeodesics {
    fn vertex_count(&self) -> usize {
        self.components.labels().len()
    }

    fn distances(&self, sources: &[(u32, f64)], out: &mut [f64]) {
        assert_eq!(out.len(), self.vertex_count(), "one distance a vertex");
        let sources = || sources.iter().filter(|(_, start)| start.is_finite());
        let label = |vertex: u32| self.components.label(vertex as usize);
        // A source that starts later is one that heat has reached from further away.
        let mut first = vec![f64::INFINITY; self.components.count()];
        for (vertex, start) in sources() {
            if let Some(label) = label(*vertex) {
                first[label as usize] = first[label as usize].min(*start);
            }
        }
        let mut heat = vec![0.0; out.len()];
        let mut amplitudes = Vec::new();
        for (vertex, start) in sources() {
            if let Some(label) = label(*vertex) {
                let amplitude = libm::exp((first[label as usize] - start) / self.reach);
                amplitudes.push((*vertex, *start, label, amplitude));
                heat[*vertex as usize] += amplitude;
            }
        }
        if let Some(cold) = &self.cold {
            let mut other = heat.clone();
            cold.solve_in_place(&mut other);
            self.heat.solve_in_place(&mut heat);
            heat.iter_mut()
                .zip(&other)
                .for_each(|(a, b)| *a = 0.5 * (*a + b));
        } else {
            self.heat.solve_in_place(&mut heat);
        }
        self.sources_of_distance(&heat, out);
        self.pins.iter().for_each(|v| out[*v as usize] = 0.0);
        self.poisson.solve_in_place(out);

        // Distances are known up to a constant a component; the sources that count agree on it.
        let mut shifts = vec![(0.0, 0.0); first.len()];
        for (vertex, start, label, amplitude) in amplitudes {
            let (sum, weight) = &mut shifts[label as usize];
            *sum += amplitude * (start - out[vertex as usize]);
            *weight += amplitude;
        }
        for (distance, label) in out.iter_mut().zip(self.components.labels()) {
            *distance = match label.map(|l| (shifts[l as usize], first[l as usize])) {
                Some(((sum, weight), first)) if weight > 0.0 => {
                    (*distance + sum / weight).max(first)
                }
                _ => f64::INFINITY,
            };
        }
        for (vertex, start) in sources().filter(|(vertex, _)| label(*vertex).is_none()) {
            out[*vertex as usize] = out[*vertex as usize].min(*start);
        }
    }
}
