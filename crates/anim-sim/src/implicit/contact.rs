//! Contact with colliders inside the energy, so that what lies on something is held up by it while it is solved for.
//!
//! A particle that comes too close to a surface gets a stiff spring that pushes it off, and after that another that holds
//! it along the surface, as soft as Coulomb's law asks where it slides. Both are found from the last solution, which is
//! then solved again. The springs give way by a hundredth of what the body does; what is left, and particles that went
//! through a collider in one substep, is put right afterwards as other solvers do it.
//!
//! Source: the lagged friction of Li et al., "Incremental potential contact", SIGGRAPH 2020, section 5, with springs in
//! place of its barriers.

use super::system::System;
use crate::collide::{MovingCollider, Obstacle};
use crate::fem::{Mat3d, Vec3d};
use crate::inertia::Inertia;

/// How often a substep is solved again for the contacts that it made.
pub(super) const ROUNDS: u32 = 4;
/// Of a contact over that of its particle.
const STIFFNESS: f64 = 100.0;
/// Particles this much further than the thickness from a surface, m, are taken to be on it when a substep begins.
const MARGIN: f32 = 1e-5;

/// The surface that a particle is on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    /// N/m; 0: it is on none.
    pub(super) stiffness: f64,
    normal: Vec3d,
    /// Where the particle must be at least, along the normal.
    height: f64,
    /// N/m, along the surface.
    grip: f64,
    /// Where it would stick.
    anchor: Vec3d,
}

impl Contact {
    pub(super) const NONE: Self = Self {
        stiffness: 0.0,
        normal: Vec3d::new(0.0, 0.0, 0.0),
        height: 0.0,
        grip: 0.0,
        anchor: Vec3d::new(0.0, 0.0, 0.0),
    };

    fn depth(&self, x: &Vec3d) -> f64 {
        (self.height - self.normal.dot(x)).max(0.0)
    }

    fn slip(&self, x: &Vec3d) -> Vec3d {
        let moved = x - self.anchor;
        moved - self.normal * self.normal.dot(&moved)
    }

    /// J.
    pub(super) fn energy(&self, x: &Vec3d) -> f64 {
        if self.stiffness == 0.0 {
            return 0.0;
        }
        let depth = self.depth(x);
        0.5 * (self.stiffness * depth * depth + self.grip * self.slip(x).norm_squared())
    }

    /// Gradient, N, and Hessian, N/m.
    pub(super) fn derivatives(&self, x: &Vec3d) -> (Vec3d, Mat3d) {
        let depth = self.depth(x);
        let outer = self.normal * self.normal.transpose();
        let push = if depth > 0.0 { self.stiffness } else { 0.0 };
        (
            self.slip(x) * self.grip - self.normal * (push * depth),
            outer * push + (Mat3d::identity() - outer) * self.grip,
        )
    }
}

/// Keeps the contacts of particles that are still on a surface at the beginning of a substep, and drops the others.
pub(super) fn begin(system: &mut System, inertia: &Inertia, thickness: f32) {
    for place in 0..inertia.starts.len() {
        let old = system.contacts[place];
        system.contacts[place] = Contact::NONE;
        if old.stiffness == 0.0 || system.fixed[place] {
            continue;
        }
        let start = inertia.starts[place];
        for obstacle in inertia
            .colliders
            .iter()
            .filter_map(MovingCollider::obstacle)
        {
            if let Some((contact, _)) = touch(&obstacle, &start, &start, thickness, MARGIN) {
                system.contacts[place] = Contact {
                    stiffness: old.stiffness,
                    grip: old.grip,
                    ..contact
                };
            }
        }
    }
}

/// Finds the contacts of the solution; false if it stands as it is.
pub(super) fn update(system: &mut System, inertia: &Inertia, thickness: f32) -> bool {
    let mut changed = false;
    for place in 0..inertia.starts.len() {
        if system.fixed[place] {
            continue;
        }
        let (start, x) = (inertia.starts[place], inertia.positions[place]);
        let old = system.contacts[place];
        if old.stiffness > 0.0 && old.depth(&x) == 0.0 {
            // It left: nothing holds it along the surface either.
            changed |= old.grip > 0.0;
            system.contacts[place] = Contact::NONE;
            continue;
        }
        for obstacle in inertia
            .colliders
            .iter()
            .filter_map(MovingCollider::obstacle)
        {
            let Some((contact, friction)) = touch(&obstacle, &start, &x, thickness, 0.0) else {
                continue;
            };
            let stiffness = if old.stiffness > 0.0 {
                old.stiffness
            } else {
                STIFFNESS * system.stiffness(place)
            };
            let force = old.stiffness * old.depth(&x);
            let slip = contact.slip(&x).norm();
            let grip = (friction * force / slip.max(f64::MIN_POSITIVE)).min(stiffness);
            changed |= old.stiffness == 0.0
                || (grip - old.grip).abs() > 0.05 * stiffness.min(grip + old.grip);
            system.contacts[place] = Contact {
                stiffness,
                grip,
                ..contact
            };
        }
    }
    changed
}

/// The contact of a particle that is too close to a surface, still without stiffness, and the coefficient of friction.
fn touch(
    obstacle: &Obstacle<'_>,
    start: &Vec3d,
    x: &Vec3d,
    thickness: f32,
    margin: f32,
) -> Option<(Contact, f64)> {
    let reach = thickness + margin;
    let (surface, carried, friction) = obstacle.surface(start.cast(), x.cast(), reach)?;
    if surface.distance > reach {
        return None;
    }
    let normal: Vec3d = surface.normal.cast();
    let contact = Contact {
        normal,
        height: normal.dot(x) + f64::from(thickness - surface.distance),
        anchor: carried.cast(),
        ..Contact::NONE
    };
    Some((contact, f64::from(friction)))
}
