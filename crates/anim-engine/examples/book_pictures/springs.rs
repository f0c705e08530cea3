//! Chapter 10: energies, orders, and an orbit.

use std::error::Error;
use std::f64::consts::TAU;

use anim_engine::sim::force::{Force, Spring, Springs};
use anim_engine::sim::integrate::{
    DVec3, ExplicitEuler, ImplicitEuler, ImplicitMidpoint, Integrator, Motion, RungeKutta4,
    SemiImplicitEuler, System, VelocityVerlet,
};
use anim_view::{Image, sheet};

use crate::{BLUE, GREEN, GREY, INK, ORANGE, Picture, RED, plot, row};

pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    Ok(vec![
        ("10-integrators", integrators()?),
        ("10-orbit", orbit()?),
    ])
}

type Make = fn() -> Box<dyn Integrator>;

fn make<I: Integrator + Default + 'static>() -> Box<dyn Integrator> {
    Box::new(I::default())
}

/// A unit mass on a unit spring, drawn out by one.
fn spring() -> Result<(System, Motion), Box<dyn Error>> {
    let spring = Spring {
        stiffness: 1.0,
        ..Spring::default()
    };
    let springs = Box::new(Springs::from(vec![spring]));
    let system = System::new(vec![0.0, 1.0], DVec3::zeros(), vec![springs])?;
    let motion = Motion::at_rest(vec![DVec3::zeros(), DVec3::x()]);
    Ok((system, motion))
}

fn integrators() -> Result<Image, Box<dyn Error>> {
    let energy = |make: Make| -> Result<Vec<[f32; 2]>, Box<dyn Error>> {
        let (system, mut motion) = spring()?;
        let mut integrator = make();
        let mut points = Vec::new();
        for _ in 0..150 {
            points.push([motion.time as f32, 2.0 * system.energy(&motion) as f32]);
            integrator.step(&system, 0.2, &mut motion);
        }
        points.retain(|point| point[1] < 3.0);
        Ok(points)
    };
    let energies = plot(
        "Energy in steps of 0.2 / omega",
        ["omega t", "energy"],
        &[
            ("explicit Euler", energy(make::<ExplicitEuler>)?, RED),
            ("semi-implicit", energy(make::<SemiImplicitEuler>)?, ORANGE),
            ("Verlet", energy(make::<VelocityVerlet>)?, BLUE),
            ("midpoint", energy(make::<ImplicitMidpoint>)?, GREEN),
            ("implicit Euler", energy(make::<ImplicitEuler>)?, GREY),
        ],
        660,
    )?;
    let error = |make: Make| -> Result<Vec<[f32; 2]>, Box<dyn Error>> {
        let mut points = Vec::new();
        for halvings in 0..9 {
            let steps = 20 << halvings;
            let dt = 10.0 / f64::from(steps);
            let (system, mut motion) = spring()?;
            let mut integrator = make();
            for _ in 0..steps {
                integrator.step(&system, dt, &mut motion);
            }
            let error = (motion.positions[1].x - libm::cos(10.0))
                .hypot(motion.velocities[1].x + libm::sin(10.0));
            points.push([libm::log10(dt) as f32, libm::log10(error) as f32]);
        }
        points.retain(|point| point[1] < 0.5);
        Ok(points)
    };
    let errors = plot(
        "Error after 10 / omega",
        ["log10 of the step", "log10 of the error"],
        &[
            ("explicit Euler", error(make::<ExplicitEuler>)?, RED),
            ("semi-implicit", error(make::<SemiImplicitEuler>)?, ORANGE),
            ("Verlet", error(make::<VelocityVerlet>)?, BLUE),
            ("midpoint", error(make::<ImplicitMidpoint>)?, GREEN),
            ("Runge-Kutta 4", error(make::<RungeKutta4>)?, INK),
        ],
        660,
    )?;
    Ok(sheet(&[energies, errors], &[], 1))
}

/// A star at the origin with G·M = 1.
#[derive(Debug)]
struct Star;

impl Force for Star {
    fn add(&self, motion: &Motion, forces: &mut [DVec3]) {
        for (force, x) in forces.iter_mut().zip(&motion.positions) {
            *force -= x / (x.norm() * x.norm_squared());
        }
    }
}

/// Twenty years on an ellipse of eccentricity ½, in 36 steps each.
fn orbit() -> Result<Image, Box<dyn Error>> {
    let system = System::new(vec![1.0], DVec3::zeros(), vec![Box::new(Star)])?;
    let path = |make: Make| {
        let mut motion = Motion {
            time: 0.0,
            positions: vec![DVec3::x() * 0.5],
            velocities: vec![DVec3::y() * 3.0_f64.sqrt()],
        };
        let mut integrator = make();
        let mut points = Vec::new();
        for _ in 0..36 * 20 {
            let x = motion.positions[0];
            points.push([x.x as f32, x.y as f32]);
            integrator.step(&system, TAU / 36.0, &mut motion);
        }
        points.retain(|point| point.iter().all(|c| c.abs() < 2.0));
        points
    };
    let panel =
        |title, make: Make, color| plot(title, ["x", "y"], &[("orbit", path(make), color)], 290);
    Ok(row(&[
        panel("explicit Euler", make::<ExplicitEuler>, RED)?,
        panel("Verlet", make::<VelocityVerlet>, BLUE)?,
        panel("Runge-Kutta 4", make::<RungeKutta4>, INK)?,
    ]))
}
