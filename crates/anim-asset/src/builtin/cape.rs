//! A cape: a grid that hangs from the shoulders behind the back, the first row where it is pinned.

use anim_geom::{Mesh, Vertices};
use anim_math::Vec3;
use anim_skin::Influences;

use super::body::shirt_solid;
use super::figure::cos_turns;
use super::rig::{Rig, push_strongest};
use super::surface::{Point, smoothstep};
use crate::Primitive;

/// Vertices a row.
pub(super) const COLUMNS: usize = 25;
/// Rows, the pinned one first.
pub(super) const ROWS: usize = 33;

/// How far the cloth keeps from the shirt, metres.
const GAP: f64 = 0.014;

pub(super) fn cape(rig: &Rig) -> Primitive {
    let positions = drape();
    let triangles = triangles();
    let mut normals = vec![Vec3::zeros(); positions.len()];
    for triangle in &triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        for vertex in triangle {
            normals[*vertex as usize] += (b - a).cross(&(c - a));
        }
    }
    Primitive {
        influences: Some(influences(rig, &positions)),
        mesh: Mesh {
            rest: Vertices {
                positions,
                normals: normals.iter().map(|n| n.normalize()).collect(),
            },
            uvs: (0..ROWS * COLUMNS)
                .map(|v| {
                    let (row, column) = (v / COLUMNS, v % COLUMNS);
                    [
                        column as f32 / (COLUMNS - 1) as f32,
                        row as f32 / (ROWS - 1) as f32,
                    ]
                })
                .collect(),
            triangles,
        },
        targets: Vec::new(),
        color: [0.50, 0.012, 0.018],
    }
}

/// Row by row from the shoulders down, each from the character's left to its right.
fn drape() -> Vec<Vec3> {
    let shirt = shirt_solid();
    let mut positions = Vec::with_capacity(ROWS * COLUMNS);
    for row in 0..ROWS {
        let down = row as f64 / (ROWS - 1) as f64;
        for column in 0..COLUMNS {
            let across = 1.0 - 2.0 * column as f64 / (COLUMNS - 1) as f64;
            let half_width = 0.172 + 0.105 * smoothstep(down * 1.2);
            // The collar rises to the neck and lies on the shoulders; the hem falls a little behind the heels.
            let top = 1.475 - 0.03 * across * across;
            let y = top - (top - 0.42) * down;
            let folds = 0.022 * down * cos_turns(2.5 * across);
            let curl = 0.05 * across * across * (1.0 - down);
            let z = -0.085 + curl - 0.13 * smoothstep(down * 2.0) - 0.10 * down + folds;
            let mut point = Point::new(half_width * across, y, z);
            for _ in 0..4 {
                // The pinned row lies on the shirt; the others only stay out of it.
                if row == 0 || shirt.field(point) < GAP {
                    point = shirt.project(point, GAP, 3);
                }
            }
            positions.push(point.cast());
        }
    }
    positions
}

fn triangles() -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for row in 0..ROWS - 1 {
        for column in 0..COLUMNS - 1 {
            let a = (row * COLUMNS + column) as u32;
            let (b, c) = (a + 1, a + COLUMNS as u32);
            // Seen from behind columns run from left to right, so these turn counter-clockwise.
            triangles.extend([[a, c, b], [b, c, c + 1]]);
        }
    }
    triangles
}

/// The pinned row follows the chest; below, the spine and the hips take over.
fn influences(rig: &Rig, positions: &[Vec3]) -> Influences {
    let heights = [
        ("chest", 1.34),
        ("spine_1", 1.18),
        ("spine", 1.06),
        ("hips", 0.90),
    ];
    let joints: Vec<(u16, f64)> = heights
        .iter()
        .filter_map(|(name, height)| Some((rig.find(name)? as u16, *height)))
        .collect();
    let mut influences = Influences {
        per_vertex: 4,
        ..Influences::default()
    };
    for position in positions {
        let y = f64::from(position.y);
        let place = joints.iter().take_while(|(_, height)| y < *height).count();
        let upper = joints[place.saturating_sub(1)];
        let lower = joints[place.min(joints.len() - 1)];
        let span = upper.1 - lower.1;
        let t = if span > 0.0 {
            smoothstep((upper.1 - y) / span)
        } else {
            0.0
        };
        let weights = if upper.0 == lower.0 {
            vec![(upper.0, 1.0)]
        } else {
            vec![(upper.0, 1.0 - t), (lower.0, t)]
        };
        push_strongest(weights, &mut influences);
    }
    influences
}
