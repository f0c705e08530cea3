//! Answers that are known in closed form, whatever the frame rate and the number of threads.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Transform, Vec3, quat};
use anim_particles::{Effect, EffectSpec, Emission, ParticleError, Particles, StepReport};
use proptest::prelude::*;

/// Particles that all start straight up at the same speed and live long.
fn plain(speed: f32) -> EffectSpec {
    EffectSpec {
        lifetime: [100.0, 100.0],
        speed: [speed, speed],
        spread: 0.0,
        drag: 0.0,
        ..EffectSpec::default()
    }
}

fn burst(count: u32) -> [Emission; 1] {
    [Emission {
        burst: count,
        ..Emission::default()
    }]
}

/// FNV-1a over the bits of all that can be seen.
fn hash(particles: &Particles) -> u64 {
    let vectors = particles.positions.iter().chain(&particles.velocities);
    let floats = vectors
        .flat_map(|v| v.iter())
        .chain(&particles.ages)
        .chain(&particles.lifetimes);
    floats
        .map(|c| u64::from(c.to_bits()))
        .chain(particles.ids.iter().copied())
        .flat_map(u64::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

#[test]
fn a_throw_is_the_same_parabola_however_time_is_cut() {
    let effect = Effect::new(plain(10.0)).unwrap();
    for frames in [1, 7, 24, 240] {
        let mut particles = Particles::new(&effect);
        let dt = 1.5 / frames as f32;
        effect.step(dt, &burst(1), &[], &mut particles);
        for _ in 1..frames {
            effect.step(dt, &[], &[], &mut particles);
        }
        let expected = 10.0 * 1.5 - 9.81 * 1.5 * 1.5 / 2.0;
        // Each step rounds a height of up to 8 m.
        let tolerance = 1e-5 + frames as f32 * 5e-7;
        assert!(
            (particles.positions[0].y - expected).abs() < tolerance,
            "{frames}"
        );
        assert!((particles.velocities[0].y - (10.0 - 9.81 * 1.5)).abs() < tolerance);
    }
}

#[test]
fn a_fall_in_air_ends_at_terminal_velocity_with_the_wind() {
    let effect = Effect::new(EffectSpec {
        drag: 2.0,
        wind: Vec3::new(3.0, 0.0, 0.0),
        ..plain(0.0)
    })
    .unwrap();
    for dt in [2.0, 0.25, 1.0 / 60.0] {
        let mut particles = Particles::new(&effect);
        effect.step(dt, &burst(1), &[], &mut particles);
        while particles.ages[0] < 10.0 {
            effect.step(dt, &[], &[], &mut particles);
        }
        let expected = Vec3::new(3.0, -9.81 / 2.0, 0.0);
        assert!((particles.velocities[0] - expected).norm() < 1e-5, "{dt}");
    }
}

#[test]
fn births_follow_the_rate_at_every_frame_rate() {
    let effect = Effect::new(EffectSpec {
        capacity: 5000,
        ..plain(1.0)
    })
    .unwrap();
    for fps in [24, 30, 60, 144, 240] {
        for rate in [1000.0, 37.0, 0.5] {
            let mut particles = Particles::new(&effect);
            let emission = Emission {
                rate,
                ..Emission::default()
            };
            let mut born = 0;
            for _ in 0..fps * 4 {
                born += effect
                    .step(1.0 / fps as f32, &[emission], &[], &mut particles)
                    .born;
            }
            assert_eq!(born, (rate * 4.0) as u32, "{fps} {rate}");
        }
    }
}

#[test]
fn a_million_steps_lose_no_birth() {
    let effect = Effect::new(EffectSpec {
        lifetime: [0.01, 0.01],
        ..plain(1.0)
    })
    .unwrap();
    let mut particles = Particles::new(&effect);
    // One birth in a thousand steps, and 2⁻¹⁰ s is a float.
    let emission = Emission {
        rate: 1.024,
        ..Emission::default()
    };
    let mut born = 0;
    for _ in 0..1_000_000 {
        born += effect
            .step(1.0 / 1024.0, &[emission], &[], &mut particles)
            .born;
    }
    assert_eq!(born, 1000);
}

#[test]
fn the_same_ids_are_at_the_same_place_at_every_frame_rate() {
    let effect = Effect::new(EffectSpec {
        lifetime: [100.0, 100.0],
        ..EffectSpec::default()
    })
    .unwrap();
    let at_rate = |frames: u32| {
        let mut particles = Particles::new(&effect);
        let dt = 1.0 / frames as f32;
        for frame in 1..=frames {
            let emission = Emission {
                position: Vec3::x() * (5.0 * frame as f32 * dt),
                velocity: Vec3::x() * 5.0,
                rate: 200.0,
                burst: 0,
            };
            effect.step(dt, &[emission], &[], &mut particles);
        }
        particles
    };
    let reference = at_rate(60);
    for frames in [1, 24, 144] {
        let particles = at_rate(frames);
        assert_eq!(particles.ids, reference.ids);
        for (a, b) in particles.positions.iter().zip(&reference.positions) {
            assert!((a - b).norm() < 1e-4, "{frames}: {a:?} {b:?}");
        }
    }
}

#[test]
fn a_bounce_rises_to_the_square_of_the_restitution() {
    let effect = Effect::new(EffectSpec {
        restitution: 0.7,
        radius: 0.05,
        ..plain(0.0)
    })
    .unwrap();
    let floor = [Collider::new(Shape::Plane, Affine::IDENTITY)];
    for fps in [30, 60, 240] {
        let mut particles = Particles::new(&effect);
        let drop = Emission {
            position: Vec3::y() * 2.05,
            burst: 1,
            ..Emission::default()
        };
        effect.step(1.0 / fps as f32, &[drop], &floor, &mut particles);
        let mut peaks = Vec::new();
        let mut rising = false;
        for _ in 0..fps * 3 {
            effect.step(1.0 / fps as f32, &[], &floor, &mut particles);
            let (y, v) = (particles.positions[0].y, particles.velocities[0].y);
            assert!(y >= 0.05 - 1e-5, "{y}");
            if rising && v <= 0.0 {
                // The flight back to the top adds v² / 2g.
                peaks.push(y - 0.05 + v * v / (2.0 * 9.81));
            }
            rising = v > 0.0;
        }
        // The chord misses the path by g dt² / 8, so a touch at speed v is off in time by that over v.
        let dt = 1.0 / fps as f32;
        let tolerance = 0.01 + 9.81 * dt * dt;
        assert!(
            (peaks[0] - 2.0 * 0.49).abs() < tolerance,
            "{fps}: {peaks:?}"
        );
        assert!(
            (peaks[1] / peaks[0] - 0.49).abs() < 2.0 * tolerance,
            "{fps}: {peaks:?}"
        );
    }
}

#[test]
fn a_ball_comes_to_rest_on_the_floor_and_stays() {
    let effect = Effect::new(plain(0.0)).unwrap();
    let floor = [Collider::new(Shape::Plane, Affine::IDENTITY)];
    let mut particles = Particles::new(&effect);
    let drop = Emission {
        position: Vec3::y(),
        burst: 1,
        ..Emission::default()
    };
    effect.step(1.0 / 60.0, &[drop], &floor, &mut particles);
    for _ in 0..600 {
        effect.step(1.0 / 60.0, &[], &floor, &mut particles);
    }
    assert!((particles.positions[0].y - 0.01).abs() < 1e-6);
    assert_eq!(particles.velocities[0], Vec3::zeros());
}

#[test]
fn a_slide_is_slowed_by_coulombs_law() {
    let effect = Effect::new(EffectSpec {
        friction: 0.5,
        radius: 0.0,
        ..plain(0.0)
    })
    .unwrap();
    for degrees in [20.0f32, 45.0] {
        let mut plane = Collider::new(
            Shape::Plane,
            Affine::from(Transform {
                rotation: quat::from_axis_angle(Vec3::z(), -degrees.to_radians()),
                ..Transform::IDENTITY
            }),
        );
        plane.friction = 0.5;
        let mut particles = Particles::new(&effect);
        effect.step(
            1e-3,
            &burst(1),
            std::slice::from_ref(&plane),
            &mut particles,
        );
        for _ in 1..1000 {
            effect.step(1e-3, &[], std::slice::from_ref(&plane), &mut particles);
        }
        let angle = degrees.to_radians();
        let expected = (9.81 * (angle.sin() - 0.5 * angle.cos())).max(0.0);
        let speed = particles.velocities[0].norm();
        assert!(
            (speed - expected).abs() < 0.02 * expected + 1e-3,
            "{degrees}: {speed} {expected}"
        );
    }
}

#[test]
fn nothing_is_too_fast_for_a_thin_ball() {
    let effect = Effect::new(EffectSpec {
        gravity: Vec3::zeros(),
        ..plain(1000.0)
    })
    .unwrap();
    let ball = Collider::new(
        Shape::Sphere { radius: 0.01 },
        Affine {
            translation: Vec3::y() * 7.0,
            ..Affine::IDENTITY
        },
    );
    let mut particles = Particles::new(&effect);
    effect.step(0.1, &burst(1), &[ball], &mut particles);
    assert!(
        particles.positions[0].y < 7.0,
        "{:?}",
        particles.positions[0]
    );
    assert!(
        (particles.velocities[0].y + 400.0).abs() < 1.0,
        "{:?}",
        particles.velocities[0]
    );
}

#[test]
fn the_same_bits_come_from_any_number_of_threads() {
    let effect = Effect::new(EffectSpec {
        capacity: 20_000,
        ..EffectSpec::default()
    })
    .unwrap();
    let colliders = [
        Collider::new(Shape::Plane, Affine::IDENTITY),
        Collider::new(Shape::Sphere { radius: 0.5 }, Affine::IDENTITY),
    ];
    let hashes = [1, 2, 4].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut particles = Particles::new(&effect);
        for frame in 0..300 {
            let emission = Emission {
                position: Vec3::y() * (frame as f32 * 0.01),
                rate: 5000.0,
                ..Emission::default()
            };
            pool.install(|| effect.step(1.0 / 60.0, &[emission], &colliders, &mut particles));
        }
        assert!(particles.len() > 5000);
        hash(&particles)
    });
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!(hashes[0], hashes[2]);
}

#[test]
fn what_finds_no_room_is_reported_and_room_comes_back() {
    let effect = Effect::new(EffectSpec {
        capacity: 100,
        lifetime: [0.5, 0.5],
        ..EffectSpec::default()
    })
    .unwrap();
    let mut particles = Particles::new(&effect);
    let report = effect.step(0.1, &burst(u32::MAX), &[], &mut particles);
    let expected = StepReport {
        born: 100,
        died: 0,
        dropped: u32::MAX - 100,
    };
    assert_eq!(report, expected);
    let mut died = 0;
    for _ in 0..6 {
        died += effect.step(0.1, &[], &[], &mut particles).died;
    }
    assert_eq!((died, particles.len()), (100, 0));
    assert_eq!(effect.step(0.1, &burst(3), &[], &mut particles).born, 3);
    assert_eq!(
        particles.ids[0],
        u64::from(u32::MAX),
        "ids of the dropped are not used again"
    );
}

#[test]
fn the_living_keep_their_order() {
    let effect = Effect::new(EffectSpec {
        lifetime: [0.05, 1.0],
        ..EffectSpec::default()
    })
    .unwrap();
    let mut particles = Particles::new(&effect);
    let (mut born, mut died) = (0, 0);
    for _ in 0..120 {
        let emission = Emission {
            rate: 500.0,
            ..Emission::default()
        };
        let report = effect.step(1.0 / 60.0, &[emission], &[], &mut particles);
        (born, died) = (born + report.born, died + report.died);
        assert!(particles.ids.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(
            particles
                .ages
                .iter()
                .zip(&particles.lifetimes)
                .all(|(age, life)| age < life)
        );
        assert_eq!((born - died) as usize, particles.len());
    }
    assert!(died > 100);
}

#[test]
fn an_emitter_that_stops_lets_its_particles_finish_and_one_that_jumps_leaves_no_trail() {
    let effect = Effect::new(plain(0.0)).unwrap();
    let mut particles = Particles::new(&effect);
    let emission = |x: f32| Emission {
        position: Vec3::x() * x,
        rate: 600.0,
        ..Emission::default()
    };
    effect.step(1.0 / 60.0, &[emission(0.0)], &[], &mut particles);
    effect.step(1.0 / 60.0, &[], &[], &mut particles);
    assert_eq!(particles.len(), 10);
    particles.forget_emitters();
    effect.step(1.0 / 60.0, &[emission(100.0)], &[], &mut particles);
    assert!(
        particles
            .positions
            .iter()
            .all(|p| p.x == 0.0 || p.x == 100.0)
    );
}

#[test]
fn a_pause_changes_no_bit_and_nonsense_emits_nothing() {
    let effect = Effect::new(EffectSpec::default()).unwrap();
    let mut particles = Particles::new(&effect);
    effect.step(0.01, &burst(50), &[], &mut particles);
    let before = hash(&particles);
    for dt in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let report = effect.step(dt, &burst(50), &[], &mut particles);
        assert_eq!(report, StepReport::default());
    }
    assert_eq!(hash(&particles), before);
    let nonsense = [
        Emission {
            rate: f32::NAN,
            ..Emission::default()
        },
        Emission {
            rate: -5.0,
            ..Emission::default()
        },
        Emission {
            position: Vec3::x() * f32::NAN,
            burst: 5,
            ..Emission::default()
        },
    ];
    assert_eq!(effect.step(0.01, &nonsense, &[], &mut particles).born, 0);
}

#[test]
fn errors_name_the_quantity() {
    let error = |edit: fn(&mut EffectSpec)| {
        let mut spec = EffectSpec::default();
        edit(&mut spec);
        Effect::new(spec).err()
    };
    let out_of_range = |what, value| Some(ParticleError::OutOfRange { what, value });
    assert_eq!(error(|s| s.capacity = 0), Some(ParticleError::NoCapacity));
    assert_eq!(
        error(|s| s.direction = Vec3::zeros()),
        Some(ParticleError::NoDirection)
    );
    assert_eq!(
        error(|s| s.lifetime = [0.0, 1.0]),
        out_of_range("lifetime", 0.0)
    );
    assert_eq!(
        error(|s| s.lifetime = [2.0, 1.0]),
        out_of_range("lifetime", 1.0)
    );
    assert_eq!(
        error(|s| s.restitution = 1.5),
        out_of_range("restitution", 1.5)
    );
    assert_eq!(
        error(|s| s.wind.x = f32::NAN),
        Some(ParticleError::NotFinite { what: "wind" })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_valid_effect_stays_finite_outside_its_colliders(
        seed in any::<u64>(),
        drag in 0.0f32..50.0,
        restitution in 0.0f32..=1.0,
        friction in 0.0f32..2.0,
        speed in 0.0f32..100.0,
        dt in 1e-3f32..0.2,
    ) {
        let effect = Effect::new(EffectSpec {
            seed,
            drag,
            restitution,
            friction,
            speed: [0.0, speed],
            spread: std::f32::consts::PI,
            ..EffectSpec::default()
        }).unwrap();
        let mut floor = Collider::new(Shape::Plane, Affine::IDENTITY);
        floor.friction = 1.0;
        let mut particles = Particles::new(&effect);
        let emission = Emission { position: Vec3::y(), rate: 100.0, ..Emission::default() };
        for _ in 0..30 {
            effect.step(dt, &[emission], std::slice::from_ref(&floor), &mut particles);
            for (x, v) in particles.positions.iter().zip(&particles.velocities) {
                prop_assert!(x.iter().chain(v.iter()).all(|c| c.is_finite()));
                prop_assert!(x.y > 0.009, "{:?}", x);
            }
        }
    }
}
