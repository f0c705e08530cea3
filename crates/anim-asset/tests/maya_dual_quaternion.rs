//! What Maya itself made of a skin that mixes the linear blend and dual quaternions vertex by vertex.
//!
//! The FBX file holds the mesh, the joints' curves, the weights and, a vertex, how far it follows dual quaternions; two OBJ
//! files hold the same mesh as Maya evaluated it. `ufbx` reads the file and evaluates the joints; the skin is ours.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a broken test should say where"
)]

mod common;

use std::path::Path;

use anim_geom::{Mesh, Vertices};
use anim_math::{Affine, Mat3, Transform, Vec3};
use anim_skeleton::{JointSpec, Skeleton};
use anim_skin::{DualPalette, Influences, Palette, RegionMask, SkinnedMesh, VertexBlocks};
use common::data_file;

/// One skinned mesh of an FBX file.
struct Skin {
    scene: ufbx::SceneRoot,
    mesh: SkinnedMesh,
    mask: RegionMask,
}

impl Skin {
    fn read(file: &Path) -> Self {
        let options = ufbx::LoadOpts::default();
        let scene = ufbx::load_memory(&std::fs::read(file).unwrap(), options)
            .ok()
            .unwrap();
        let mesh = &scene.meshes[0];
        let skin = &mesh.skin_deformers[0];
        let joint = JointSpec {
            name: None,
            parent: None,
            rest: Transform::IDENTITY,
        };
        let skeleton = Skeleton::new(vec![joint; skin.clusters.len()]).unwrap();
        let joints: Vec<_> = (0..skeleton.len()).map(|j| skeleton.joint(j)).collect();

        let per_vertex = skin.max_weights_per_vertex;
        let mut influences = Influences {
            per_vertex,
            joints: vec![0; per_vertex * skin.vertices.len()],
            weights: vec![0.0; per_vertex * skin.vertices.len()],
        };
        for (vertex, row) in skin.vertices.iter().enumerate() {
            let weights = skin.weights.iter().skip(row.weight_begin as usize);
            let weights = weights.take(row.num_weights as usize);
            for (place, weight) in (vertex * per_vertex..).zip(weights) {
                influences.joints[place] = weight.cluster_index as u16;
                influences.weights[place] = weight.weight as f32;
            }
        }
        let positions: Vec<Vec3> = mesh.vertices.iter().map(vector).collect();
        let bind = Mesh {
            rest: Vertices {
                normals: vec![Vec3::zeros(); positions.len()],
                positions,
            },
            ..Mesh::default()
        };
        let binds = vec![Affine::IDENTITY; joints.len()];
        let built = SkinnedMesh::new(&bind, &joints, &binds, &influences, &[]).unwrap();
        let follows: Vec<f32> = skin.vertices.iter().map(|v| v.dq_weight as f32).collect();
        Self {
            mask: RegionMask::new(&built, &follows).unwrap(),
            mesh: built,
            scene,
        }
    }

    /// The vertices at a frame, source order, under a mask.
    fn deformed(&self, frame: u16, mask: &RegionMask) -> Vec<Vec3> {
        let scene = &self.scene;
        let time = f64::from(frame) / scene.settings.frames_per_second;
        let options = ufbx::EvaluateOpts::default();
        let posed = ufbx::evaluate_scene(scene, &scene.anim, time, options)
            .ok()
            .unwrap();
        let mut palette = self.mesh.palette_buffer();
        let clusters = &posed.meshes[0].skin_deformers[0].clusters;
        for (place, cluster) in clusters.iter().enumerate() {
            palette.set(place, affine(&cluster.geometry_to_world));
        }
        let mut surface = VertexBlocks::new(self.mesh.vertex_count());
        self.deform(&palette, mask, &mut surface);
        let mut vertices = Vertices::default();
        self.mesh.to_source_order(&surface, &mut vertices);
        vertices.positions
    }

    fn deform(&self, palette: &Palette, mask: &RegionMask, out: &mut VertexBlocks) {
        let mut motions = DualPalette::new(palette.len());
        self.mesh.dual_palette(palette, &mut motions);
        let rest = self.mesh.rest();
        self.mesh
            .dual_quaternion_blended(rest, palette, &motions, mask, out);
    }
}

fn vector(v: &ufbx::Vec3) -> Vec3 {
    Vec3::new(v.x as f32, v.y as f32, v.z as f32)
}

#[rustfmt::skip]
fn affine(m: &ufbx::Matrix) -> Affine {
    Affine {
        linear: Mat3::new(
            m.m00 as f32, m.m01 as f32, m.m02 as f32,
            m.m10 as f32, m.m11 as f32, m.m12 as f32,
            m.m20 as f32, m.m21 as f32, m.m22 as f32,
        ),
        translation: Vec3::new(m.m03 as f32, m.m13 as f32, m.m23 as f32),
    }
}

/// The positions of an OBJ file.
fn obj(file: &Path) -> Vec<Vec3> {
    let text = std::fs::read_to_string(file).unwrap();
    let position = |line: &str| {
        let numbers = line.strip_prefix("v ")?.split_whitespace();
        let numbers: Vec<f32> = numbers.map(|number| number.parse().unwrap()).collect();
        Some(Vec3::from_column_slice(&numbers[..3]))
    };
    text.lines().filter_map(position).collect()
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len());
    let pairs = a.iter().zip(b);
    pairs.fold(0.0, |most, (a, b)| most.max((a - b).norm()))
}

#[test]
fn weight_blended_skins_are_mayas() {
    let Some(file) = data_file("fbx/ufbx/maya_dq_weights_7500_binary.fbx") else {
        return;
    };
    let skin = Skin::read(&file);
    let vertex_count = skin.mesh.vertex_count();
    let all_or_nothing =
        |follow: f32| RegionMask::new(&skin.mesh, &vec![follow; vertex_count]).unwrap();
    let (linear, dual) = (all_or_nothing(0.0), all_or_nothing(1.0));
    for frame in [10, 18] {
        let expected = obj(&data_file(&format!("fbx/ufbx/maya_dq_weights_{frame}.obj")).unwrap());
        assert_eq!(expected.len(), 674);
        let error = farthest(&skin.deformed(frame, &skin.mask), &expected);
        eprintln!("frame {frame}: {error:e} of a unit from Maya");
        // Six digits after the point there, some ten roundings of coordinates up to 20 here.
        assert!(error < 1e-5, "frame {frame}: {error}");
        // The mask matters: neither of the two alone comes near.
        for mask in [&linear, &dual] {
            let error = farthest(&skin.deformed(frame, mask), &expected);
            assert!(error > 0.1, "frame {frame}: {error}");
        }
    }
}
