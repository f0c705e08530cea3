//! Hair as a fluid: a coarse grid that strands leave their mass and motion in, and take the mean of.
//!
//! Pairs of strands are too many to look at. Instead each vertex spreads its mass and momentum over the eight cells about
//! it; then it takes on some of the mean velocity there, which is friction among neighbours, and is pushed from where hair
//! is denser than in the groom, which keeps a head of hair from collapsing. The grid repeats itself in space, as that of
//! [`Neighbors`](anim_geom::Neighbors) does: hair is small against the 64 cells of its period, nothing is allocated, and
//! the sums are taken in the order of vertices, whatever the threads.
//!
//! Source: Petrovic, Henne, Anderson, "Volumetric methods for simulation and rendering of hair", Pixar 2005, sections 3
//! and 4; McAdams, Selle, Ward, Sifakis, Teran, "Detail preserving continuum simulation of straight hair", SIGGRAPH 2009.

use anim_math::Vec3;

use super::model::{Hair, HairState};
use super::spec::HairVolume;

/// Cells along an axis before the grid repeats; a power of two.
const SIDE: usize = 64;
/// A push grows up to this many times the material's pressure.
const MAX_GRADIENT: f32 = 4.0;

/// The grid; scratch of a solver.
#[derive(Clone, Debug, Default)]
pub(super) struct Volume {
    /// For each cell the vertices it holds and their velocities, summed.
    cells: Vec<[f32; 4]>,
    /// What a cell holds where the groom has hair, on average; 0: not known yet.
    rest: f32,
    touched: Vec<u32>,
}

impl Volume {
    /// Lets the strands of a state feel each other for `dt`, s: changes velocities only.
    pub(super) fn relax(
        &mut self,
        volume: &HairVolume,
        hair: &Hair,
        dt: f32,
        state: &mut HairState,
    ) {
        if self.cells.is_empty() {
            self.cells = vec![[0.0; 4]; SIDE * SIDE * SIDE];
            self.touched.reserve(hair.vertex_count() * 8);
            self.scatter(volume, &hair.points, &state.velocities);
            self.rest = self.mean_density(volume, &hair.points);
            self.clear();
        }
        self.scatter(volume, &state.positions, &state.velocities);
        // The share that is taken in dt, whatever dt.
        let share = 1.0 - libm::expf(-volume.friction * dt);
        for (position, velocity) in state.positions.iter().zip(&mut state.velocities) {
            let Some((corners, fraction)) = corners(volume, *position) else {
                continue;
            };
            let mut sum = [0.0; 4];
            let mut gradient = Vec3::zeros();
            for (corner, cell) in corners.iter().enumerate() {
                let side = [corner & 1, corner >> 1 & 1, corner >> 2];
                let weight = weight(side, fraction);
                let cell = self.cells[*cell as usize];
                for (sum, value) in sum.iter_mut().zip(cell) {
                    *sum += value * weight;
                }
                gradient += slope(side, fraction) * cell[3];
            }
            if sum[3] <= 0.0 || !sum.iter().all(|s| s.is_finite()) {
                continue;
            }
            let mean = Vec3::new(sum[0], sum[1], sum[2]) / sum[3];
            *velocity += (mean - *velocity) * share;
            if sum[3] > self.rest {
                let push = gradient / self.rest;
                let limit = MAX_GRADIENT / push.norm().max(MAX_GRADIENT);
                *velocity -= push * (limit * volume.pressure * dt);
            }
        }
        self.clear();
    }

    fn scatter(&mut self, volume: &HairVolume, positions: &[Vec3], velocities: &[Vec3]) {
        for (position, velocity) in positions.iter().zip(velocities) {
            let Some((corners, fraction)) = corners(volume, *position) else {
                continue;
            };
            for (corner, index) in corners.iter().enumerate() {
                let weight = weight([corner & 1, corner >> 1 & 1, corner >> 2], fraction);
                if weight == 0.0 {
                    continue;
                }
                let cell = &mut self.cells[*index as usize];
                if cell[3] == 0.0 {
                    self.touched.push(*index);
                }
                cell[0] += velocity.x * weight;
                cell[1] += velocity.y * weight;
                cell[2] += velocity.z * weight;
                cell[3] += weight;
            }
        }
    }

    fn mean_density(&self, volume: &HairVolume, positions: &[Vec3]) -> f32 {
        let mut sum = 0.0;
        for (corners, fraction) in positions.iter().filter_map(|p| corners(volume, *p)) {
            for (corner, index) in corners.iter().enumerate() {
                let weight = weight([corner & 1, corner >> 1 & 1, corner >> 2], fraction);
                sum += self.cells[*index as usize][3] * weight;
            }
        }
        (sum / positions.len() as f32).max(f32::MIN_POSITIVE)
    }

    /// Empties the cells that were used.
    fn clear(&mut self) {
        for index in self.touched.drain(..) {
            self.cells[index as usize] = [0.0; 4];
        }
    }
}

/// The eight cells about a place and how far it is between the first and the last; `None` if it is nowhere.
fn corners(volume: &HairVolume, position: Vec3) -> Option<([u32; 8], Vec3)> {
    let place = position / volume.cell;
    if !place.iter().all(|c| c.abs() < 1e6) {
        return None;
    }
    let first = place.map(f32::floor);
    let base = first.map(|c| (c as i32).rem_euclid(SIDE as i32) as usize);
    let corners = std::array::from_fn(|corner| {
        let [x, y, z] = [corner & 1, corner >> 1 & 1, corner >> 2];
        let wrap = |cell: usize| cell % SIDE;
        (wrap(base.x + x) + SIDE * (wrap(base.y + y) + SIDE * wrap(base.z + z))) as u32
    });
    Some((corners, place - first))
}

fn weight(side: [usize; 3], fraction: Vec3) -> f32 {
    (0..3)
        .map(|axis| part(side[axis], fraction[axis]))
        .product()
}

/// The derivative of the weight by the place in cells.
fn slope(side: [usize; 3], fraction: Vec3) -> Vec3 {
    let sign = |axis: usize| if side[axis] == 1 { 1.0 } else { -1.0 };
    let part = |axis: usize| part(side[axis], fraction[axis]);
    Vec3::new(
        sign(0) * part(1) * part(2),
        part(0) * sign(1) * part(2),
        part(0) * part(1) * sign(2),
    )
}

fn part(side: usize, fraction: f32) -> f32 {
    if side == 1 { fraction } else { 1.0 - fraction }
}
