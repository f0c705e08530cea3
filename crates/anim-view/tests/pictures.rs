//! Whole pictures, checked where the answer is known.

use anim_math::{Transform, Vec3};
use anim_skeleton::{Globals, JointSpec, Skeleton};
use anim_view::{Camera, Canvas, Image, Style, ViewError, color};

const FRONT: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];
const BACK: [[u32; 3]; 2] = [[0, 2, 1], [0, 3, 2]];

/// Looks along −z, one pixel a centimetre on a picture 64 pixels high.
fn orthographic() -> Camera {
    Camera {
        eye: Vec3::new(0.0, 0.0, 5.0),
        target: Vec3::zeros(),
        up: Vec3::y(),
        fov_y: 0.0,
        height: 0.64,
        near: 0.01,
    }
}

fn perspective(eye: Vec3, target: Vec3) -> Camera {
    Camera {
        eye,
        target,
        fov_y: 1.0,
        ..orthographic()
    }
}

/// A square facing +z.
fn square(center: Vec3, half: f32) -> Vec<Vec3> {
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        .map(|(x, y)| center + Vec3::new(x, y, 0.0) * half)
        .to_vec()
}

fn colored(color: [f32; 3]) -> Style {
    Style {
        color,
        ..Style::default()
    }
}

fn canvas(supersample: u32) -> Canvas {
    Canvas::new(64, 64, supersample).unwrap_or_else(|error| panic!("{error}"))
}

fn draw(paint: impl FnOnce(&mut Canvas)) -> Image {
    let mut canvas = canvas(2);
    paint(&mut canvas);
    canvas.finish()
}

/// Places of the pixels that differ.
fn changed(a: &Image, b: &Image) -> Vec<(u32, u32)> {
    let pairs = a.pixels.iter().zip(&b.pixels).enumerate();
    pairs
        .filter(|(_, (a, b))| a != b)
        .map(|(place, _)| (place as u32 % a.width, place as u32 / a.width))
        .collect()
}

#[test]
fn a_square_covers_exactly_its_pixels() {
    for supersample in 1..=4 {
        let mut canvas = canvas(supersample);
        let empty = canvas.finish();
        // From column 22 to 42 and row 12 to 32.
        let positions = square(Vec3::new(0.0, 0.1, 0.0), 0.1);
        canvas.mesh(&orthographic(), &positions, &[], &FRONT, &Style::default());
        let expected: Vec<(u32, u32)> = (12..32)
            .flat_map(|y| (22..42).map(move |x| (x, y)))
            .collect();
        let picture = canvas.finish();
        assert_eq!(changed(&empty, &picture), expected);
        let inside = picture.pixel(30, 20);
        let same = |(x, y): &(u32, u32)| picture.pixel(*x, *y) == inside;
        assert!(expected.iter().all(same));
    }
}

#[test]
fn the_nearer_mesh_wins_in_any_order() {
    let (near, far) = (square(Vec3::z(), 0.1), square(Vec3::zeros(), 0.2));
    let camera = orthographic();
    let scene = |order: [(&Vec<Vec3>, [f32; 3]); 2]| {
        draw(|canvas| {
            for (positions, color) in order {
                canvas.mesh(&camera, positions, &[], &FRONT, &colored(color));
            }
        })
    };
    let (red, blue) = ([0.8, 0.0, 0.0], [0.0, 0.0, 0.8]);
    let picture = scene([(&near, red), (&far, blue)]);
    assert_eq!(picture, scene([(&far, blue), (&near, red)]));
    let [r, _, b] = picture.pixel(32, 32).unwrap();
    assert!(r > b);
    let [r, _, b] = picture.pixel(15, 32).unwrap();
    assert!(b > r);
}

#[test]
fn colours_are_interpolated_in_space_not_on_the_picture() {
    // A floor away from the eye, black in front and white at the back: at the middle of its depth it is half bright,
    // though that is far from the middle of the picture.
    let camera = perspective(Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, -3.0));
    let floor = |front: f32, back: f32| {
        [(-1.0, front), (1.0, front), (1.0, back), (-1.0, back)].map(|(x, z)| Vec3::new(x, 0.0, z))
    };
    let normals = [Vec3::y(); 4];
    let gray = [0.0, 0.0, 1.0, 1.0].map(|level| [level; 3]);
    let gradient = draw(|canvas| {
        let positions = floor(-2.0, -6.0);
        canvas.painted_mesh(
            &camera,
            &positions,
            &normals,
            &FRONT,
            &gray,
            &Style::default(),
        );
    });
    let at = camera.project(Vec3::new(0.0, 0.0, -4.0), 64, 64).unwrap();
    let (x, y) = (at.x as u32, at.y as u32);
    let uniform = |level: f32| {
        draw(|canvas| {
            let positions = floor(-2.0, -6.0);
            canvas.mesh(&camera, &positions, &normals, &FRONT, &colored([level; 3]));
        })
        .pixel(x, y)
        .unwrap()
    };
    let shown = gradient.pixel(x, y).unwrap();
    // Half a pixel is about 0.05 of the depth here, so 0.025 of the colour.
    for c in 0..3 {
        assert!(
            uniform(0.45)[c] <= shown[c] && shown[c] <= uniform(0.55)[c],
            "{shown:?}"
        );
    }
}

#[test]
fn a_triangle_through_the_eye_plane_is_cut_off() {
    // A floor that reaches far behind the eye: nothing of it may show above the horizon, all of it below.
    let camera = perspective(Vec3::y(), Vec3::new(0.0, 1.0, -1.0));
    let corners = [
        Vec3::new(0.0, 0.0, -1e5),
        Vec3::new(-1e5, 0.0, 1e5),
        Vec3::new(1e5, 0.0, 1e5),
    ];
    let empty = draw(|_| {});
    let picture =
        draw(|canvas| canvas.mesh(&camera, &corners, &[], &[[0, 1, 2]], &Style::default()));
    let rows: Vec<u32> = changed(&empty, &picture).iter().map(|(_, y)| *y).collect();
    assert!(rows.iter().all(|y| *y >= 32));
    assert!(rows.len() > 31 * 64);
    let behind = corners.map(|corner| Vec3::new(corner.x, corner.y, 1.0 + corner.z.abs()));
    let picture =
        draw(|canvas| canvas.mesh(&camera, &behind, &[], &[[0, 1, 2]], &Style::default()));
    assert_eq!(picture, empty);
}

#[test]
fn what_is_not_finite_or_not_there_is_left_out() {
    let camera = orthographic();
    let mut positions = square(Vec3::zeros(), 0.2);
    let normals = vec![
        Vec3::z(),
        Vec3::repeat(f32::NAN),
        Vec3::zeros(),
        Vec3::repeat(f32::INFINITY),
    ];
    let whole = draw(|canvas| {
        canvas.mesh(
            &camera,
            &positions,
            &normals,
            &FRONT[..1],
            &Style::default(),
        )
    });
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        positions[3].y = bad;
        let picture = draw(|canvas| {
            canvas.mesh(&camera, &positions, &normals, &FRONT, &Style::default());
            canvas.mesh(&camera, &positions, &[], &[[0, 1, 99]], &Style::default());
            canvas.line(&camera, positions[3], positions[0], [0.0; 3], 2.0);
            canvas.line(&camera, positions[1], positions[0], [0.0; 3], bad);
            canvas.point(&camera, positions[3], 5.0, [0.0; 3]);
            canvas.disc(&camera, positions[1], bad, [0.0; 3]);
            canvas.ground_grid(&camera, 0.0, bad);
        });
        assert_eq!(picture, whole);
    }
    let lost = Camera {
        eye: Vec3::repeat(f32::NAN),
        ..camera
    };
    let empty = draw(|_| {});
    let picture = draw(|canvas| {
        canvas.mesh(&lost, &positions, &[], &FRONT, &Style::default());
        canvas.ground_grid(&lost, 0.0, 2.0);
        canvas.line(&lost, positions[0], positions[1], [0.0; 3], 2.0);
    });
    assert_eq!(picture, empty);
}

#[test]
fn huge_coordinates_are_no_trouble() {
    let camera = perspective(Vec3::z(), Vec3::zeros());
    for size in [1e10, 1e20, 1e30, f32::MAX] {
        draw(|canvas| {
            canvas.mesh(
                &camera,
                &square(Vec3::zeros(), size),
                &[],
                &FRONT,
                &Style::default(),
            );
            canvas.line(&camera, Vec3::x() * size, Vec3::y() * size, [0.0; 3], 2.0);
            canvas.line(
                &camera,
                -Vec3::z() * size,
                Vec3::repeat(size),
                [0.0; 3],
                size,
            );
            canvas.disc(&camera, Vec3::zeros(), size, [0.0; 3]);
            canvas.text(i32::MAX, i32::MIN, "far", 7, [0.0; 3]);
        });
    }
}

#[test]
fn backs_show_only_if_asked_for_and_look_like_fronts() {
    let (camera, positions) = (orthographic(), square(Vec3::zeros(), 0.2));
    let scene = |triangles: [[u32; 3]; 2], normal: Vec3, two_sided: bool| {
        let style = Style {
            two_sided,
            ..Style::default()
        };
        draw(|canvas| canvas.mesh(&camera, &positions, &[normal; 4], &triangles, &style))
    };
    assert_eq!(scene(BACK, -Vec3::z(), false), draw(|_| {}));
    assert_eq!(
        scene(BACK, -Vec3::z(), true),
        scene(FRONT, Vec3::z(), false)
    );
}

#[test]
fn shadows_fall_on_the_ground() {
    let camera = perspective(Vec3::new(0.0, 3.0, 4.0), Vec3::zeros());
    let roof =
        [(-0.5, 0.5), (0.5, 0.5), (0.5, -0.5), (-0.5, -0.5)].map(|(x, z)| Vec3::new(x, 1.0, z));
    let scene = |opacity: f32| {
        let mut canvas = Canvas::new(128, 128, 2).unwrap();
        canvas.key_light = Some(Vec3::new(-1.0, 1.0, 0.0));
        canvas.ground_grid(&camera, 0.0, 4.0);
        let style = Style {
            opacity,
            ..Style::default()
        };
        canvas.mesh(&camera, &roof, &[], &FRONT, &style);
        canvas.finish()
    };
    let shadow = camera
        .project(Vec3::new(1.05, 0.0, 0.05), 128, 128)
        .unwrap();
    let (x, y) = (shadow.x as u32, shadow.y as u32);
    let [dark, light] =
        [scene(1.0), scene(0.0)].map(|picture| color::decode(picture.pixel(x, y).unwrap()));
    assert!(dark[1] < 0.7 * light[1], "{dark:?} {light:?}");
}

#[test]
fn an_onion_skin_mixes_in_linear_light() {
    let (camera, positions) = (orthographic(), square(Vec3::zeros(), 0.2));
    let scene = |opacity: f32| {
        let style = Style {
            opacity,
            ..colored([0.02, 0.3, 0.02])
        };
        let picture = draw(|canvas| canvas.mesh(&camera, &positions, &[], &FRONT, &style));
        color::decode(picture.pixel(30, 30).unwrap())
    };
    let (none, half, all) = (scene(0.0), scene(0.5), scene(1.0));
    for c in 0..3 {
        // A code at this brightness is below 0.008.
        assert!(
            (half[c] - 0.5 * (none[c] + all[c])).abs() < 0.008,
            "{half:?}"
        );
    }
}

#[test]
fn a_skeleton_shines_through_and_a_line_does_not() {
    let camera = orthographic();
    let bone = |parent, y: f32| JointSpec {
        name: None,
        parent,
        rest: Transform::from_translation(Vec3::new(0.0, y, 0.0)),
    };
    let skeleton = Skeleton::new(vec![bone(None, -0.1), bone(Some(0), 0.2)]).unwrap();
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    let wall = |canvas: &mut Canvas| {
        canvas.mesh(
            &camera,
            &square(Vec3::z(), 0.3),
            &[],
            &FRONT,
            &Style::default(),
        );
    };
    let plain = draw(wall);
    let with_line = draw(|canvas| {
        wall(canvas);
        canvas.line(&camera, -Vec3::x() * 0.1, Vec3::x() * 0.1, [0.0; 3], 3.0);
    });
    assert_eq!(plain, with_line);
    let with_bone = draw(|canvas| {
        wall(canvas);
        canvas.skeleton(&camera, &skeleton, &globals);
    });
    let rows: Vec<u32> = changed(&plain, &with_bone)
        .iter()
        .map(|(_, y)| *y)
        .collect();
    // From 0.1 m below the middle to 0.1 m above, and the joints' radius of 1.4 cm.
    assert_eq!((rows.first(), rows.last()), (Some(&20), Some(&43)));
}

#[test]
fn a_line_on_a_surface_shows_at_its_width() {
    let camera = orthographic();
    let wall = |canvas: &mut Canvas| {
        canvas.mesh(
            &camera,
            &square(Vec3::zeros(), 0.3),
            &[],
            &FRONT,
            &colored([1.0; 3]),
        );
    };
    let picture = draw(|canvas| {
        wall(canvas);
        canvas.line(&camera, -Vec3::x() * 0.2, Vec3::x() * 0.2, [0.0; 3], 4.0);
    });
    let black: Vec<u32> = (0..64)
        .filter(|y| picture.pixel(32, *y) == Some([0; 3]))
        .collect();
    let touched = changed(&draw(wall), &picture);
    let rows: Vec<u32> = touched
        .iter()
        .filter(|(x, _)| *x == 32)
        .map(|(_, y)| *y)
        .collect();
    assert_eq!(black, [31, 32]);
    assert_eq!(rows, [29, 30, 31, 32, 33, 34]);
}

#[test]
fn wire_darkens_the_edges_only() {
    let (camera, positions) = (orthographic(), square(Vec3::zeros(), 0.2));
    let scene = |wire: bool| {
        let style = Style {
            wire,
            ..Style::default()
        };
        draw(|canvas| canvas.mesh(&camera, &positions, &[], &FRONT, &style))
    };
    let [plain, wired] =
        [scene(false), scene(true)].map(|p| (p.pixel(32, 12), p.pixel(32, 32), p.pixel(18, 22)));
    assert!(plain.0 > wired.0 && plain.1 > wired.1);
    assert_eq!(plain.2, wired.2);
}

#[test]
fn bytes_are_the_same_for_any_number_of_threads() {
    let picture = || {
        let camera = perspective(Vec3::new(1.0, 1.5, 3.0), Vec3::zeros());
        let mut canvas = Canvas::new(97, 83, 3).unwrap();
        canvas.ground_grid(&camera, 0.0, 3.0);
        for i in 0..12 {
            let angle = 0.5 * i as f32;
            let center = Vec3::new(libm::cosf(angle), 0.3 + 0.1 * i as f32, libm::sinf(angle));
            let style = Style {
                wire: i % 3 == 0,
                two_sided: true,
                opacity: if i % 4 == 1 { 0.5 } else { 1.0 },
                ..Style::default()
            };
            canvas.mesh(&camera, &square(center, 0.4), &[], &FRONT, &style);
            canvas.line(&camera, Vec3::zeros(), center, [0.5, 0.1, 0.1], 1.5);
        }
        canvas.text(3, 3, "threads", 7, [0.0; 3]);
        canvas.finish().to_png()
    };
    let expected = picture();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert_eq!(pool.install(picture), expected);
    }
}

#[test]
fn a_cleared_canvas_is_like_a_new_one() {
    let camera = orthographic();
    let mut canvas = canvas(2);
    let empty = canvas.finish();
    let positions = square(Vec3::zeros(), 0.2);
    let style = Style {
        opacity: 0.5,
        ..Style::default()
    };
    canvas.mesh(&camera, &positions, &[], &FRONT, &style);
    canvas.mesh(&camera, &positions, &[], &FRONT, &Style::default());
    canvas.line(&camera, positions[0], positions[1], [0.0; 3], 2.0);
    canvas.text(1, 1, "x", 7, [0.0; 3]);
    assert_ne!(canvas.finish(), empty);
    canvas.clear();
    assert_eq!(canvas.finish(), empty);
}

#[test]
fn sizes_no_machine_should_try_are_refused() {
    for (width, height) in [
        (0, 10),
        (10, 0),
        (16_385, 1),
        (16_384, 16_384),
        (u32::MAX, u32::MAX),
    ] {
        let refused = Canvas::new(width, height, 2).err();
        assert_eq!(refused, Some(ViewError::Size { width, height }));
    }
    for supersample in [0, 5, u32::MAX] {
        let refused = Canvas::new(8, 8, supersample).err();
        assert_eq!(refused, Some(ViewError::Supersample { supersample }));
    }
}

#[test]
fn a_floor_lies_where_it_is_put() {
    let camera = Camera::framing(Vec3::repeat(-1.0), Vec3::repeat(1.0), 0.6, 0.3, 1.0);
    let picture = |height: f32| {
        let mut canvas = Canvas::new(64, 64, 2).unwrap();
        canvas.ground_grid(&camera, height, 4.0);
        canvas.finish()
    };
    assert_ne!(picture(-0.5), picture(0.0));
    assert_eq!(picture(f32::NAN), Canvas::new(64, 64, 2).unwrap().finish());
}
