//! The ground of a scene: a plane, or waves.

use std::sync::Arc;

use anim_geom::mesh_bvh::MeshBvh;
use anim_geom::{Collider, GeomError, Mesh, Shape, Vertices};
use anim_math::{Affine, Vec3};
use serde::{Deserialize, Serialize};

/// What the characters stand on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GroundSpec {
    /// Level ground at y = 0.
    Plane {
        /// Coulomb coefficient.
        #[serde(default)]
        friction: f32,
    },
    /// Hills: two crossing waves about y = 0, as a triangle mesh.
    Waves {
        /// Half the height from valley to crest, m.
        amplitude: f32,
        /// From crest to crest, m.
        wavelength: f32,
        /// Half the extent in x, m.
        half_width: f32,
        /// The extent in z, from and to, m.
        length: [f32; 2],
        /// Coulomb coefficient.
        #[serde(default)]
        friction: f32,
    },
}

/// Cells of the mesh in one wavelength.
const CELLS_A_WAVE: f32 = 24.0;
/// Cells along one side at most.
const MAX_CELLS: usize = 512;

impl GroundSpec {
    /// The collider, and the mesh to draw if it is not a plane.
    pub(super) fn build(&self) -> Result<(Collider, Option<Mesh>), GeomError> {
        match *self {
            Self::Plane { friction } => {
                let mut collider = Collider::new(Shape::Plane, Affine::IDENTITY);
                collider.friction = friction;
                Ok((collider, None))
            }
            Self::Waves {
                amplitude,
                wavelength,
                half_width,
                length,
                friction,
            } => {
                let mesh = waves(amplitude, wavelength, half_width, length);
                let mut collider = Collider::new(
                    Shape::Mesh(Arc::new(MeshBvh::new(&mesh)?)),
                    Affine::IDENTITY,
                );
                collider.friction = friction;
                Ok((collider, Some(mesh)))
            }
        }
    }
}

/// A height field over a grid; y = a/2 (sin kx' + sin kz) with the waves a little askew, so that left and right differ.
fn waves(amplitude: f32, wavelength: f32, half_width: f32, [from, to]: [f32; 2]) -> Mesh {
    let k = std::f32::consts::TAU / wavelength;
    let height = |x: f32, z: f32| {
        0.5 * amplitude
            * (libm::sinf(k * (z + 0.35 * x)) + libm::sinf(0.63 * k * (x * 1.3 - 0.4 * z)))
    };
    let slope = |x: f32, z: f32| {
        let (a, b) = (
            libm::cosf(k * (z + 0.35 * x)),
            libm::cosf(0.63 * k * (x * 1.3 - 0.4 * z)),
        );
        let dx = 0.5 * amplitude * k * (0.35 * a + 0.63 * 1.3 * b);
        let dz = 0.5 * amplitude * k * (a - 0.63 * 0.4 * b);
        Vec3::new(-dx, 1.0, -dz).normalize()
    };
    let cells =
        |extent: f32| ((extent / wavelength * CELLS_A_WAVE).ceil() as usize).clamp(1, MAX_CELLS);
    let (columns, rows) = (cells(2.0 * half_width), cells(to - from));
    let mut rest = Vertices::default();
    for row in 0..=rows {
        for column in 0..=columns {
            let x = half_width * (2.0 * column as f32 / columns as f32 - 1.0);
            let z = from + (to - from) * row as f32 / rows as f32;
            rest.positions.push(Vec3::new(x, height(x, z), z));
            rest.normals.push(slope(x, z));
        }
    }
    let at = |row: usize, column: usize| (row * (columns + 1) + column) as u32;
    let cell = |(row, column): (usize, usize)| {
        let (a, b, c, d) = (
            at(row, column),
            at(row + 1, column),
            at(row + 1, column + 1),
            at(row, column + 1),
        );
        [[a, b, c], [a, c, d]]
    };
    let triangles = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (row, column)))
        .flat_map(cell)
        .collect();
    Mesh {
        rest,
        uvs: Vec::new(),
        triangles,
    }
}
