//! How many substeps a step needs: more than asked for where something is too fast or too flat for them.

use anim_math::Vec3;

/// The passages of a step, in order: each ends one substep and begins the next, or where something has viscosity does one
/// of both, since all velocities have to be damped before any particle moves on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    pub(super) substeps: u32,
    pub(super) is_damped: bool,
}

/// From one substep to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// How many substeps have ended after it.
    pub(super) index: u32,
    /// A substep was begun before and must be ended.
    pub(super) ends: bool,
    /// Another one begins.
    pub(super) begins: bool,
}

impl Schedule {
    /// Number of passages.
    pub(super) fn len(self) -> u32 {
        if self.is_damped {
            2 * self.substeps
        } else {
            self.substeps + 1
        }
    }

    pub(super) fn passage(self, place: u32) -> Passage {
        if self.is_damped {
            let ends = place % 2 == 1;
            Passage {
                index: place.div_ceil(2),
                ends,
                begins: !ends,
            }
        } else {
            Passage {
                index: place,
                ends: place > 0,
                begins: place < self.substeps,
            }
        }
    }
}

use crate::model::{Model, State};

/// A collider goes on by at most this share of an edge of the surface in a substep, so that what it meets gives way from
/// cell to cell instead of being torn out of the rest.
const COLLIDER_SHARE: f32 = 0.1;
/// The same of a particle, against what all have in common.
const PARTICLE_SHARE: f32 = 0.25;
/// Substeps are multiplied by no more than this, whatever the speed.
const MOST: u32 = 32;

/// By what the substeps are multiplied so that a solid that was squeezed flat recovers: a function of the state alone.
pub(super) fn caution(model: &Model, state: &State) -> u32 {
    let volume = |positions: &[Vec3], vertices: [u32; 4]| {
        let [a, b, c, d] = vertices.map(|v| positions[v as usize]);
        (b - a).dot(&(c - a).cross(&(d - a)))
    };
    let ratios = model.spec.tets.iter().map(|tet| {
        volume(&state.positions, tet.vertices) / volume(&model.spec.positions, tet.vertices)
    });
    match ratios.fold(1.0, f32::min) {
        least if least >= 0.1 => 1,
        least if least > 0.0 => 2,
        _ => 4,
    }
}

/// The substeps in which particles and solids go slowly from cell to cell of a surface that nothing may pass.
///
/// * `edge`: of the surface, m. * `solids`: from where to where the two ends of each move in the step, and its radius, m.
pub(super) fn substeps_for_speed(
    asked: u32,
    edge: f32,
    positions: &[[f32; 4]],
    velocities: &[[f32; 4]],
    solids: impl Iterator<Item = ([[Vec3; 2]; 2], f32)>,
    dt: f32,
) -> u32 {
    let (mut low, mut high) = (Vec3::repeat(f32::INFINITY), Vec3::repeat(f32::NEG_INFINITY));
    let mut sum = Vec3::zeros();
    for ([x, y, z, _], [u, v, w, _]) in positions.iter().zip(velocities) {
        let position = Vec3::new(*x, *y, *z);
        (low, high) = (low.inf(&position), high.sup(&position));
        sum += Vec3::new(*u, *v, *w);
    }
    let drift = sum / positions.len().max(1) as f32;
    let speeds = velocities
        .iter()
        .map(|[u, v, w, _]| (Vec3::new(*u, *v, *w) - drift).norm_squared());
    let reach = speeds.fold(0.0, f32::max).sqrt() * dt;
    let mut needed = reach / (PARTICLE_SHARE * edge);
    for (ends, radius) in solids {
        // As seen by what drifts along.
        let ways = ends.map(|[from, to]| [from, to - drift * dt]);
        let points = ways.as_flattened().iter();
        let (from, to) = points.fold(
            (Vec3::repeat(f32::INFINITY), Vec3::repeat(f32::NEG_INFINITY)),
            |(low, high), p| (low.inf(p), high.sup(p)),
        );
        let grow = radius + reach + edge;
        let gap = (from.add_scalar(-grow) - high).sup(&(low - to.add_scalar(grow)));
        if gap.max() < 0.0 {
            for [from, to] in ways {
                needed = needed.max((to - from).norm() / (COLLIDER_SHARE * edge));
            }
        }
    }
    let most = asked.saturating_mul(MOST);
    // What is not finite asks for nothing.
    if needed < most as f32 {
        asked.max(needed.ceil() as u32)
    } else if needed >= most as f32 {
        most
    } else {
        asked
    }
}
