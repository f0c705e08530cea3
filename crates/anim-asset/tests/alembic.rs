//! Alembic files: what is refused, what the bytes are, and what Blender reads of them.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests may panic, print and need no docs"
)]

use std::process::Command;

use anim_asset::alembic::{AbcFrame, AbcObject, AbcScene, AbcShape, read, write};
use anim_math::{Affine, Mat3, Vec3};
use proptest::prelude::*;

/// A cloth that waves, under a transform that moves, and two hairs.
fn scene() -> AbcScene {
    let position = |v: u32, time: f32| {
        let (x, z) = ((v % 5) as f32 * 0.1, (v / 5) as f32 * 0.1);
        Vec3::new(x, 0.05 * libm::sinf(9.0 * x + 4.0 * z + time), z)
    };
    let cloth = (0..6).map(|frame| {
        let time = frame as f32 * 0.3;
        AbcFrame {
            positions: (0..20).map(|v| position(v, time)).collect(),
            normals: vec![Vec3::y(); 20],
            velocities: (0..20)
                .map(|v| (position(v, time + 0.01) - position(v, time)) * 720.0)
                .collect(),
        }
    });
    let faces = (0..12).map(|i| {
        let v = i % 4 + i / 4 * 5;
        vec![v, v + 5, v + 6, v + 1]
    });
    let hairs = (0..6).map(|frame| AbcFrame {
        positions: (0..7)
            .map(|v| Vec3::new(v as f32 * 0.01, 0.1 * frame as f32, 0.02 * v as f32))
            .collect(),
        ..AbcFrame::default()
    });
    let turned = Mat3::new(0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0);
    AbcScene {
        objects: vec![
            AbcObject {
                name: "cloth".into(),
                world_from_shape: (0..6)
                    .map(|frame| Affine {
                        linear: turned * 2.0,
                        translation: Vec3::new(1.0, frame as f32, -2.0),
                    })
                    .collect(),
                shape: AbcShape::Mesh {
                    faces: faces.collect(),
                },
                frames: cloth.collect(),
            },
            AbcObject {
                name: "hair".into(),
                shape: AbcShape::Curves {
                    counts: vec![4, 3],
                    widths: vec![0.001; 7],
                },
                frames: hairs.collect(),
                ..AbcObject::default()
            },
        ],
        ..AbcScene::default()
    }
}

#[test]
fn the_same_scene_is_the_same_file_and_what_rests_is_written_once() {
    let bytes = write(&scene()).unwrap();
    assert_eq!(bytes, write(&scene()).unwrap());
    assert_eq!(bytes[..8], *b"Ogawa\xff\x00\x01");
    let mut still = scene();
    for object in &mut still.objects {
        object.world_from_shape.truncate(1);
        let first = object.frames[0].clone();
        object.frames.fill(first);
    }
    assert!(write(&still).unwrap().len() + 5 * 20 * 24 < bytes.len());
}

#[test]
fn what_does_not_fit_together_is_refused_with_its_place() {
    let broken = |change: fn(&mut AbcScene)| {
        let mut scene = scene();
        change(&mut scene);
        let error = write(&scene).unwrap_err();
        (error.code, error.location)
    };
    assert_eq!(broken(|s| s.step = 0.0), ("ABC_TIME", "/step".into()));
    assert_eq!(
        broken(|s| s.objects[1].name = "cloth".into()),
        ("ABC_NAME", "/objects/0/name".into())
    );
    assert_eq!(
        broken(|s| s.objects[1].name = "a/b".into()),
        ("ABC_NAME", "/objects/1/name".into())
    );
    let short = |s: &mut AbcScene| s.objects[0].frames[3].positions.truncate(19);
    assert_eq!(broken(short), ("ABC_COUNT", "/objects/0/frames/3".into()));
    assert_eq!(
        broken(|s| s.objects[1].frames.clear()),
        ("ABC_COUNT", "/objects/1/frames".into())
    );
    let far = |s: &mut AbcScene| {
        s.objects[0].shape = AbcShape::Mesh {
            faces: vec![vec![0, 1, 20]],
        }
    };
    assert_eq!(broken(far), ("ABC_INDEX", "/objects/0/faces/0".into()));
    let nan = |s: &mut AbcScene| s.objects[1].frames[2].positions[0].x = f32::NAN;
    assert_eq!(broken(nan), ("ABC_NUMBER", "/objects/1/frames/2".into()));
    let curves = |s: &mut AbcScene| {
        s.objects[1].shape = AbcShape::Curves {
            counts: vec![4],
            widths: vec![],
        }
    };
    assert_eq!(broken(curves), ("ABC_COUNT", "/objects/1/counts".into()));
}

/// Prints, for each frame, the world positions of the cloth and then of the hair, and the first face.
const SCRIPT: &str = r"
import sys, bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.scene.render.fps = 24
bpy.ops.wm.alembic_import(filepath=sys.argv[1], set_frame_range=False)
names = {o.name: o for o in bpy.data.objects}
mesh, hair = names['clothShape'] if 'clothShape' in names else names['cloth'], names['hairShape'] if 'hairShape' in names else names['hair']
for frame in range(6):
    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    m, h = mesh.evaluated_get(graph), hair.evaluated_get(graph)
    points = [m.matrix_world @ v.co for v in m.data.vertices]
    data = h.data
    if hasattr(data, 'points'):
        points += [h.matrix_world @ p.position for p in data.points]
    else:
        points += [h.matrix_world @ p.co.to_3d() for s in data.splines for p in s.points]
    for p in points:
        print('P', p.x, p.y, p.z)
print('F', *mesh.data.polygons[0].vertices)
";

/// Blender, if `ANIM_BLENDER_PYTHON` names a Python that can import bpy (PyPI).
#[test]
fn blender_reads_every_vertex_of_every_frame() {
    let Ok(python) = std::env::var("ANIM_BLENDER_PYTHON") else {
        eprintln!("skipped: ANIM_BLENDER_PYTHON is not set");
        return;
    };
    let scene = scene();
    let path = std::env::temp_dir().join(format!("anim_alembic_{}.abc", std::process::id()));
    std::fs::write(&path, write(&scene).unwrap()).unwrap();
    let output = Command::new(python)
        .args(["-c", SCRIPT])
        .arg(&path)
        .output()
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers = |line: &str| {
        line.split(' ')
            .skip(1)
            .map(|n| n.parse().unwrap())
            .collect::<Vec<f32>>()
    };
    let found: Vec<Vec<f32>> = text
        .lines()
        .filter(|line| line.starts_with("P "))
        .map(numbers)
        .collect();
    let expected = (0..6).flat_map(|frame| {
        scene.objects.iter().flat_map(move |object| {
            let placed = object
                .world_from_shape
                .get(frame)
                .copied()
                .unwrap_or(Affine::IDENTITY);
            object.frames[frame]
                .positions
                .iter()
                .map(move |p| placed.transform_point(*p))
        })
    });
    let expected: Vec<Vec3> = expected.collect();
    assert_eq!(
        found.len(),
        expected.len(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for (found, expected) in found.iter().zip(&expected) {
        // Blender's z is up.
        let found = Vec3::new(found[0], found[2], -found[1]);
        assert!(
            (found - expected).norm() < 1e-6 * (1.0 + expected.norm()),
            "{found:?} {expected:?}"
        );
    }
    let face: Vec<f32> = text
        .lines()
        .find(|line| line.starts_with("F "))
        .map(numbers)
        .unwrap();
    let AbcShape::Mesh { faces } = &scene.objects[0].shape else {
        panic!("a mesh")
    };
    let mut turned = faces[0].clone();
    let start = turned.iter().position(|v| *v as f32 == face[0]).unwrap();
    turned.rotate_left(start);
    assert_eq!(
        face,
        turned.iter().map(|v| *v as f32).collect::<Vec<_>>(),
        "the same side is out"
    );
}

/// A file of one triangle that rests.
fn tiny() -> AbcScene {
    AbcScene {
        objects: vec![AbcObject {
            name: "tiny".into(),
            shape: AbcShape::Mesh {
                faces: vec![vec![0, 1, 2]],
            },
            frames: vec![AbcFrame {
                positions: vec![Vec3::zeros(), Vec3::x(), Vec3::y()],
                ..AbcFrame::default()
            }],
            ..AbcObject::default()
        }],
        ..AbcScene::default()
    }
}

#[test]
fn the_bytes_of_a_file_do_not_change_unseen() {
    let hash = |bytes: &[u8]| {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    };
    let bytes = write(&tiny()).unwrap();
    assert_eq!(
        (bytes.len(), hash(&bytes)),
        (1624, 15_711_599_464_868_257_876)
    );
}

#[test]
fn what_is_written_is_read_again_to_the_bit() {
    for scene in [scene(), tiny(), AbcScene::default()] {
        assert_eq!(read(&write(&scene).unwrap()).unwrap(), scene);
    }
    let mut still = scene();
    still.start = 1.25;
    for object in &mut still.objects {
        object.world_from_shape.truncate(1);
        let first = object.frames[0].clone();
        object.frames.fill(first);
    }
    let bytes = write(&still).unwrap();
    // What rests comes back once.
    still.objects.iter_mut().for_each(|o| o.frames.truncate(1));
    assert_eq!(read(&bytes).unwrap(), still);
}

#[test]
fn what_is_no_archive_is_refused_with_its_place() {
    let refused = |bytes: &[u8]| {
        let error = read(bytes).unwrap_err();
        (error.code, error.location)
    };
    assert_eq!(refused(b""), ("ABC_MAGIC", "byte 0".into()));
    assert_eq!(
        refused(b"\x89HDF\r\n\x1a\n"),
        ("ABC_MAGIC", "byte 0".into())
    );
    let mut bytes = write(&tiny()).unwrap();
    // A coordinate that its key does not stand for.
    let corners = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].map(f32::to_le_bytes);
    let stored = bytes
        .windows(36)
        .position(|b| *b == *corners.as_flattened());
    bytes[stored.unwrap()] ^= 1;
    assert_eq!(refused(&bytes).0, "ABC_DAMAGED");
    // Every group its own child.
    let mut bytes = write(&tiny()).unwrap();
    let root = u64::from_le_bytes(bytes[8..16].try_into().unwrap()) as usize;
    let own = bytes[8..16].to_vec();
    bytes[root + 24..root + 32].copy_from_slice(&own);
    assert_eq!(refused(&bytes).0, "ABC_DAMAGED");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_damage_to_a_file_panics_or_comes_through_unsound(
        cut in prop::option::of(0.0_f64..1.0),
        changes in prop::collection::vec((0.0_f64..1.0, any::<u8>()), 0..4),
        words in prop::collection::vec((0.0_f64..1.0, prop::sample::select(vec![
            0, 1, 8, 16, u64::MAX, 1 << 63, (1 << 63) | 16, 1 << 32, u64::MAX >> 1,
        ])), 0..2),
    ) {
        let mut bytes = write(&scene()).unwrap();
        let place = |fraction: f64, length: usize| (fraction * length as f64) as usize;
        for (at, value) in changes {
            let at = place(at, bytes.len());
            bytes[at] ^= value;
        }
        for (at, word) in words {
            let at = place(at, bytes.len() - 8);
            bytes[at..at + 8].copy_from_slice(&u64::to_le_bytes(word));
        }
        if let Some(cut) = cut {
            bytes.truncate(place(cut, bytes.len()));
        }
        match read(&bytes) {
            Ok(scene) => prop_assert!(scene.check().is_ok()),
            Err(error) => prop_assert!(error.code.starts_with("ABC_"), "{error}"),
        }
    }

    #[test]
    fn bytes_of_any_kind_after_the_header_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut file = b"Ogawa\xff\x00\x01".to_vec();
        file.extend(bytes);
        let _ = read(&file);
    }
}
