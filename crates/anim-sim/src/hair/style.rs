//! Style: clumps, curls and frizz of strands, as a change of their groom that keeps their lengths.
//!
//! Groom the followers once; they then carry their style with them at no cost. Every function moves points and then puts
//! each segment back to the length it had, from the root on, so that curling hair shortens its reach and not its length.
//! What is random comes from (seed, strand), so that a strand's curl does not depend on how many there are.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::hair::style;
//!
//! let mut strands = vec![(0..=20).map(|i| Vec3::y() * (0.01 * i as f32)).collect::<Vec<_>>()];
//! style::curl(&mut strands, &style::Curl { radius: 0.005, turns: 30.0, start: 0.0 }, 7);
//! assert!(strands[0][20].y < 0.19, "a curl reaches less far");
//! let length: f32 = strands[0].windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum();
//! assert!((length - 0.2).abs() < 1e-6, "but is as long");
//! ```

use std::f32::consts::TAU;

use anim_math::{Random, Vec3, quat};

/// A helix about each strand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curl {
    /// Metres.
    pub radius: f32,
    /// Turns a metre; negative ones wind the other way.
    pub turns: f32,
    /// Fraction of the strand up to which the curl grows, in [0, 1].
    pub start: f32,
}

/// Uneven displacement across each strand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frizz {
    /// Typical size, metres.
    pub amplitude: f32,
    /// Bumps a metre.
    pub frequency: f32,
}

/// Curls strands; each begins at its own random angle.
pub fn curl(strands: &mut [Vec<Vec3>], curl: &Curl, seed: u64) {
    for (stream, strand) in (0..).zip(strands) {
        let phase = Random::new(seed, stream, 0).uniform() * TAU;
        displace(strand, |along, fraction| {
            let growth = if curl.start > 0.0 {
                (fraction / curl.start).min(1.0)
            } else {
                1.0
            };
            let angle = phase + TAU * curl.turns * along;
            let at = |angle: f32| [libm::cosf(angle), libm::sinf(angle)];
            // From where it is at the root, which stays.
            let ([x, y], [x0, y0]) = (at(angle), at(phase));
            [x - x0, y - y0].map(|c| c * curl.radius * growth)
        });
    }
}

/// Roughens strands with smooth noise that begins at nothing at the root.
pub fn frizz(strands: &mut [Vec<Vec3>], frizz: &Frizz, seed: u64) {
    for (stream, strand) in (0..).zip(strands) {
        displace(strand, |along, _| {
            let place = along * frizz.frequency;
            [0, 1].map(|axis| frizz.amplitude * noise(seed, 2 * stream + axis, place))
        });
    }
}

/// Gathers each strand towards the nearest of `centers` by root, from not at all at the root to `amount` at the tip.
///
/// * `amount`: in [0, 1]. * `shape`: exponent of the growth along the strand; above 1 gathers the tips only.
pub fn clump(strands: &mut [Vec<Vec3>], centers: &[Vec<Vec3>], amount: f32, shape: f32) {
    let usable = |center: &&Vec<Vec3>| !center.is_empty();
    for strand in strands {
        let Some(root) = strand.first().copied() else {
            continue;
        };
        let distance = |center: &&Vec<Vec3>| (center[0] - root).norm_squared();
        let Some(center) = centers
            .iter()
            .filter(usable)
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        else {
            return;
        };
        let lengths = lengths(strand);
        let last = strand.len() - 1;
        for (index, point) in strand.iter_mut().enumerate().skip(1) {
            let fraction = index as f32 / last as f32;
            let goal = at_fraction(center, fraction);
            *point += (goal - *point) * (amount * libm::powf(fraction, shape));
        }
        restore(strand, &lengths);
    }
}

/// Moves the points of a strand across it by what `offset(metres along, fraction along)` says.
fn displace(strand: &mut [Vec3], offset: impl Fn(f32, f32) -> [f32; 2]) {
    let lengths = lengths(strand);
    let total: f32 = lengths.iter().sum();
    let Some(mut direction) = strand
        .windows(2)
        .find_map(|pair| (pair[1] - pair[0]).try_normalize(0.0))
    else {
        return;
    };
    let mut across = quat::any_perpendicular(direction);
    let before = strand.to_vec();
    let mut along = 0.0;
    for (index, length) in lengths.iter().enumerate() {
        // The frame is carried along the strand without twist.
        if let Some(next) = (before[index + 1] - before[index]).try_normalize(0.0) {
            across = quat::between(direction, next) * across;
            direction = next;
        }
        along += length;
        let [x, y] = offset(along, along / total);
        strand[index + 1] += across * x + direction.cross(&across) * y;
    }
    restore(strand, &lengths);
}

fn lengths(strand: &[Vec3]) -> Vec<f32> {
    strand
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).norm())
        .collect()
}

/// Puts segments back to their lengths from the root on, each along the direction it has.
fn restore(strand: &mut [Vec3], lengths: &[f32]) {
    let (mut last, mut moved) = (Vec3::zeros(), Vec3::zeros());
    for (index, point) in strand.iter_mut().enumerate() {
        let wanted = *point;
        if index > 0 {
            let along = wanted - last;
            let direction = along.try_normalize(0.0).unwrap_or_default();
            *point = moved + direction * lengths[index - 1];
        }
        (last, moved) = (wanted, *point);
    }
}

/// The point of a strand at a fraction of its number of segments.
fn at_fraction(strand: &[Vec3], fraction: f32) -> Vec3 {
    let place = fraction * (strand.len() - 1) as f32;
    let before = (place as usize).min(strand.len() - 1);
    let after = (before + 1).min(strand.len() - 1);
    strand[before] + (strand[after] - strand[before]) * (place - before as f32)
}

/// Smooth noise about 0, which it is at 0: cubic between random values at the integers.
fn noise(seed: u64, stream: u64, place: f32) -> f32 {
    let cell = place.floor();
    let value = |cell: f32| {
        if cell == 0.0 {
            0.0
        } else {
            Random::new(seed, stream, cell as i32 as u32).range(-1.0, 1.0)
        }
    };
    let fraction = place - cell;
    let smooth = fraction * fraction * (3.0 - 2.0 * fraction);
    let (before, after) = (value(cell), value(cell + 1.0));
    before + (after - before) * smooth
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bristles(count: usize) -> Vec<Vec<Vec3>> {
        (0..count)
            .map(|i| {
                let root = Vec3::new((i % 5) as f32, 0.0, (i / 5) as f32) * 0.01;
                (0..=24)
                    .map(|k| root + Vec3::new(0.001 * k as f32, 0.01 * k as f32, 0.0))
                    .collect()
            })
            .collect()
    }

    #[test]
    fn every_style_keeps_roots_and_lengths() {
        let plain = bristles(20);
        let mut styled = plain.clone();
        let coil = Curl {
            radius: 0.008,
            turns: 20.0,
            start: 0.3,
        };
        curl(&mut styled, &coil, 1);
        let rough = Frizz {
            amplitude: 0.003,
            frequency: 60.0,
        };
        frizz(&mut styled, &rough, 2);
        clump(&mut styled, &plain[..3], 0.9, 2.0);
        assert_ne!(plain, styled);
        for (plain, styled) in plain.iter().zip(&styled) {
            assert_eq!(plain[0], styled[0]);
            for (a, b) in lengths(plain).iter().zip(lengths(styled)) {
                assert!((b / a - 1.0).abs() < 1e-5, "{a} {b}");
            }
        }
    }

    #[test]
    fn a_clump_ends_closer_together_than_it_begins() {
        let plain = bristles(20);
        let mut styled = plain.clone();
        clump(&mut styled, &plain[7..8], 0.8, 1.0);
        let spread = |strands: &[Vec<Vec3>]| {
            let tips = strands.iter().map(|s| (s[24] - strands[7][24]).norm());
            tips.fold(0.0, f32::max)
        };
        assert!(spread(&styled) < 0.5 * spread(&plain));
    }

    #[test]
    fn a_strand_does_not_depend_on_how_many_there_are() {
        let (mut few, mut many) = (bristles(3), bristles(20));
        let rough = Frizz {
            amplitude: 0.003,
            frequency: 60.0,
        };
        frizz(&mut few, &rough, 2);
        frizz(&mut many, &rough, 2);
        assert_eq!(few[..], many[..3]);
    }

    #[test]
    fn nothing_and_points_without_length_are_left_alone() {
        let mut strands = vec![vec![], vec![Vec3::x()], vec![Vec3::y(); 3]];
        let before = strands.clone();
        let coil = Curl {
            radius: 0.01,
            turns: 20.0,
            start: 0.0,
        };
        curl(&mut strands, &coil, 1);
        assert_eq!(strands, before);
        clump(&mut strands, &[vec![]], 1.0, 1.0);
        clump(&mut strands, &[vec![Vec3::zeros(), Vec3::x()]], 1.0, 1.0);
        assert!(
            strands
                .iter()
                .flatten()
                .all(|p| p.iter().all(|c| c.is_finite()))
        );
    }
}
