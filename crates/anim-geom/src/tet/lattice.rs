//! A box of tetrahedra.

use anim_math::Vec3;

use super::TetMesh;

/// How a cube is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Four corners off a regular tetrahedron, mirrored from cell to cell: no direction is preferred.
    Five,
    /// Six around one diagonal, all of one shape (Kuhn): stiffer along it.
    Six,
}

/// Corner k of a cell lies at (k & 1, k >> 1 & 1, k >> 2).
const FIVE: [[usize; 4]; 5] = [
    [1, 4, 2, 7],
    [0, 1, 2, 4],
    [3, 2, 1, 7],
    [5, 1, 4, 7],
    [6, 4, 2, 7],
];

/// The walks from corner 0 to corner 7 along three edges.
const SIX: [[usize; 4]; 6] = [
    [0, 1, 3, 7],
    [0, 1, 5, 7],
    [0, 2, 3, 7],
    [0, 2, 6, 7],
    [0, 4, 5, 7],
    [0, 4, 6, 7],
];

/// Fills the box from the origin to `size`, m, with `cells` along x, y and z. Positions vary fastest along x.
pub fn lattice(cells: [u32; 3], size: Vec3, split: Split) -> TetMesh {
    let [nx, ny, nz] = cells;
    let node = |x: u32, y: u32, z: u32| x + (nx + 1) * (y + (ny + 1) * z);
    let mut positions = Vec::with_capacity(((nx + 1) * (ny + 1) * (nz + 1)) as usize);
    for z in 0..=nz {
        for y in 0..=ny {
            for x in 0..=nx {
                let along = |i: u32, n: u32| i as f32 / n.max(1) as f32;
                let fraction = Vec3::new(along(x, nx), along(y, ny), along(z, nz));
                positions.push(size.component_mul(&fraction));
            }
        }
    }
    let pieces: &[[usize; 4]] = match split {
        Split::Five => &FIVE,
        Split::Six => &SIX,
    };
    let mut tets = Vec::with_capacity((nx * ny * nz) as usize * pieces.len());
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let mirrored = split == Split::Five && (x + y + z) % 2 == 1;
                for piece in pieces {
                    let tet = piece.map(|corner| {
                        let corner = if mirrored { corner ^ 1 } else { corner } as u32;
                        node(x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2))
                    });
                    tets.push(right_handed(tet, &positions));
                }
            }
        }
    }
    TetMesh { positions, tets }
}

pub(super) fn right_handed([a, b, c, d]: [u32; 4], positions: &[Vec3]) -> [u32; 4] {
    let [p, q, r, s] = [a, b, c, d].map(|v| positions[v as usize]);
    if (q - p).dot(&(r - p).cross(&(s - p))) < 0.0 {
        [a, b, d, c]
    } else {
        [a, b, c, d]
    }
}
