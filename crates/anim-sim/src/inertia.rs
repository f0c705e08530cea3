//! What the implicit solvers share: how a substep begins and how it ends.
//!
//! Implicit Euler asks for the positions that minimise Σ m |x − y|² / 2h² + E(x), where y = x₀ + hv + h²a is where a
//! particle would be if nothing held it and E the energy of the elements. [`Inertia`] makes the targets y from a state
//! and a drive, and turns the positions that a solver found into a state, out of colliders. In `f64`, so that neither a
//! stiff element nor a small step drowns a light particle in rounding.

use anim_geom::chunks;
use anim_math::{Vec3, nalgebra};

use crate::collide::{MovingCollider, Obstacle};
use crate::drive::Drive;
use crate::model::{Model, State, vertex_areas};
use crate::xpbd::{finite_or_zero, nearest_origin, usable_pins};

/// Points and directions inside implicit solvers.
pub(crate) type Vec3d = nalgebra::Vector3<f64>;

/// The particles of one body during one step, in an order that the solver chooses: places.
#[derive(Clone, Debug)]
pub(crate) struct Inertia {
    substeps: u32,
    /// Length of a substep, s.
    pub(crate) h: f64,
    /// P, kg; infinite: held in this step.
    pub(crate) masses: Vec<f64>,
    /// P, where they were at the beginning of the substep, relative to `origin`.
    pub(crate) starts: Vec<Vec3d>,
    /// P, where they would be at its end if nothing held them; for held ones, where they must be.
    pub(crate) targets: Vec<Vec3d>,
    /// P, what the solver works on.
    pub(crate) positions: Vec<Vec3d>,
    /// P, m/s, at the beginning of the substep and then at its end.
    pub(crate) velocities: Vec<Vec3d>,
    /// P, of gravity and loads, m/s².
    pub(crate) accelerations: Vec<Vec3d>,
    /// P, how each accelerated in the last substep, m/s².
    last_accelerations: Vec<Vec3d>,
    /// P: unit normal, and the share of the air's speed across the surface that is taken in a substep.
    air: Vec<(Vec3d, f64)>,
    /// P, 1/s: see [`Model::drag_rates`].
    drag_rates: Vec<f64>,
    /// By place.
    triangles: Vec<[u32; 3]>,
    wind: Vec3d,
    vertex_of_place: Vec<u32>,
    place_of_vertex: Vec<u32>,
    pub(crate) colliders: Vec<MovingCollider>,
    /// A point near the body, where f32 is finest: contacts are found in f32.
    pub(crate) origin: Vec3,
}

impl Inertia {
    /// * `vertex_of_place`: P, a permutation. * `substeps`: at least 1 is taken.
    pub(crate) fn new(model: &Model, vertex_of_place: Vec<u32>, substeps: u32) -> Self {
        let spec = model.spec();
        let count = model.vertex_count();
        let mut place_of_vertex = vec![0; count];
        for (place, vertex) in vertex_of_place.iter().enumerate() {
            place_of_vertex[*vertex as usize] = place as u32;
        }
        let areas = vertex_areas(&spec.positions, &spec.triangles);
        let drag_rate = |vertex: &u32| {
            let vertex = *vertex as usize;
            f64::from(spec.drag) * areas[vertex] * f64::from(spec.inverse_masses[vertex])
        };
        let zeros = vec![Vec3d::zeros(); count];
        Self {
            substeps: substeps.max(1),
            h: 0.0,
            masses: vec![0.0; count],
            starts: zeros.clone(),
            targets: zeros.clone(),
            positions: zeros.clone(),
            velocities: zeros.clone(),
            last_accelerations: zeros.clone(),
            accelerations: zeros,
            air: vec![(Vec3d::zeros(), 0.0); count],
            drag_rates: vertex_of_place.iter().map(drag_rate).collect(),
            triangles: spec
                .triangles
                .iter()
                .map(|triangle| triangle.map(|vertex| place_of_vertex[vertex as usize]))
                .collect(),
            wind: Vec3d::zeros(),
            vertex_of_place,
            place_of_vertex,
            colliders: Vec::new(),
            origin: Vec3::zeros(),
        }
    }

    /// Takes over a state and a drive at the beginning of a step; false if there is no step to take.
    ///
    /// Particles that are not finite start again from rest. Pins get the constant speed that brings them to their goals.
    ///
    /// # Panics
    ///
    /// If the model or the state has another number of particles.
    pub(crate) fn load(
        &mut self,
        model: &Model,
        drive: &Drive<'_>,
        dt: f32,
        state: &State,
    ) -> bool {
        let count = model.vertex_count();
        assert_eq!(
            self.masses.len(),
            count,
            "the solver was made for another model"
        );
        assert_eq!(
            (state.positions.len(), state.velocities.len()),
            (count, count),
            "the state was made for another model"
        );
        if !(dt > 0.0 && dt.is_finite()) {
            return false;
        }
        let spec = model.spec();
        self.h = f64::from(dt) / f64::from(self.substeps);
        self.wind = finite_or_zero(drive.wind).cast();
        let first = state.positions.iter().find(|x| is_finite(x));
        self.origin = first.map_or_else(Vec3::zeros, |x| x.map(nearest_origin));
        let gravity = finite_or_zero(drive.gravity).cast::<f64>();
        for (place, vertex) in self.vertex_of_place.iter().enumerate() {
            let vertex = *vertex as usize;
            let (mut x, mut v) = (state.positions[vertex], state.velocities[vertex]);
            if !(is_finite(&x) && is_finite(&v)) {
                (x, v) = (spec.positions[vertex], Vec3::zeros());
            }
            self.positions[place] = (x - self.origin).cast();
            self.velocities[place] = v.cast();
            self.masses[place] = 1.0 / f64::from(spec.inverse_masses[vertex]);
            if self.masses[place].is_infinite() {
                self.velocities[place] = Vec3d::zeros();
            }
            self.accelerations[place] = gravity;
        }
        for (vertex, force) in drive.loads {
            if let Some(place) = self.place_of_vertex.get(*vertex as usize) {
                let place = *place as usize;
                self.accelerations[place] += finite_or_zero(*force).cast() / self.masses[place];
            }
        }
        for (vertex, goal) in usable_pins(drive, model) {
            let place = self.place_of_vertex[vertex as usize] as usize;
            let way = (goal - self.origin).cast::<f64>() - self.positions[place];
            self.masses[place] = f64::INFINITY;
            self.velocities[place] = way / f64::from(dt);
        }
        self.colliders.clear();
        let (origin, friction) = (self.origin, spec.friction);
        let colliders = drive.colliders.iter().enumerate().map(|(i, collider)| {
            let previous = drive.previous_colliders.get(i);
            MovingCollider::new(previous, collider, origin, friction)
        });
        self.colliders.extend(colliders);
        true
    }

    /// Begins a substep: sets `starts` and `targets`, and `positions` to the targets.
    pub(crate) fn begin(&mut self, model: &Model) {
        self.feel_air(model);
        let h = self.h;
        let damping = libm::exp(-f64::from(model.spec().damping) * h);
        let has_air = model.spec().drag > 0.0;
        for place in 0..self.positions.len() {
            let start = self.positions[place];
            self.starts[place] = start;
            let v = &mut self.velocities[place];
            if self.masses[place].is_finite() {
                if has_air {
                    let (normal, share) = self.air[place];
                    *v += normal * ((self.wind - *v).dot(&normal) * share);
                }
                // Before gravity, so that damping moves no equilibrium.
                *v *= damping;
                self.targets[place] = start + *v * h + self.accelerations[place] * (h * h);
            } else {
                self.targets[place] = start + *v * h;
            }
        }
        self.positions.copy_from_slice(&self.targets);
    }

    /// Puts the positions where the particles would be if they accelerated as in the last substep along what pulls on
    /// them, but no more than that: what hangs or lies still begins at rest, what falls begins in free fall.
    ///
    /// Source: Chen, Liu, Yang, Yuksel, "Vertex block descent", SIGGRAPH 2024, section 3.7.
    pub(crate) fn guess(&mut self) {
        let squared_h = self.h * self.h;
        for (place, position) in self.positions.iter_mut().enumerate() {
            let pull = self.accelerations[place];
            let squared = pull.norm_squared();
            if self.masses[place].is_infinite() || squared == 0.0 {
                continue;
            }
            let share = self.last_accelerations[place].dot(&pull) / squared;
            *position -= pull * ((1.0 - share.clamp(0.0, 1.0)) * squared_h);
        }
    }

    /// Ends substep `index`, counted from 0: takes the positions out of the colliders and finds the velocities.
    pub(crate) fn end(&mut self, model: &Model, index: u32) {
        self.advance_colliders(index);
        self.settle(model);
    }

    /// Moves the colliders to where they are at the end of substep `index`, counted from 0.
    pub(crate) fn advance_colliders(&mut self, index: u32) {
        let alpha = (index + 1) as f32 / self.substeps as f32;
        for collider in &mut self.colliders {
            collider.advance(alpha);
        }
    }

    /// Takes the positions out of the colliders, where these are now, and finds the velocities.
    pub(crate) fn settle(&mut self, model: &Model) {
        let squared_h = self.h * self.h;
        for (place, last) in self.last_accelerations.iter_mut().enumerate() {
            // targets = start + hv + h²a, so what they lack is h² times what the elements gave.
            let by_elements = (self.positions[place] - self.targets[place]) / squared_h;
            *last = self.accelerations[place] + by_elements;
        }
        let (thickness, masses) = (model.spec().thickness, &self.masses);
        for obstacle in self.colliders.iter().filter_map(MovingCollider::obstacle) {
            chunks::for_each_pair_mut(
                &mut self.positions,
                &mut self.starts,
                |first, positions, starts| {
                    let masses = &masses[first..first + positions.len()];
                    collide(&obstacle, thickness, masses, positions, starts);
                },
            );
        }
        for (place, x) in self.positions.iter_mut().enumerate() {
            if self.masses[place].is_infinite() {
                *x = self.targets[place];
                continue;
            }
            self.velocities[place] = (*x - self.starts[place]) / self.h;
            if !self.velocities[place].iter().all(|c| c.is_finite()) {
                (*x, self.velocities[place]) = (self.starts[place], Vec3d::zeros());
            }
        }
    }

    /// Hands the result over at the end of a step, with pins exactly where they must be.
    pub(crate) fn store(&self, model: &Model, drive: &Drive<'_>, state: &mut State) {
        for (place, vertex) in self.vertex_of_place.iter().enumerate() {
            let vertex = *vertex as usize;
            let x = self.positions[place].cast::<f32>() + self.origin;
            let v = self.velocities[place].cast::<f32>();
            // What does not fit into f32 stays where it was and stops.
            if is_finite(&x) && is_finite(&v) {
                (state.positions[vertex], state.velocities[vertex]) = (x, v);
            } else {
                state.positions[vertex] = self.starts[place].cast::<f32>() + self.origin;
                state.velocities[vertex] = Vec3::zeros();
            }
        }
        for (vertex, goal) in usable_pins(drive, model) {
            state.positions[vertex as usize] = goal;
        }
    }

    /// Finds how the surface lies in the air.
    fn feel_air(&mut self, model: &Model) {
        if model.spec().drag == 0.0 {
            return;
        }
        self.air.fill((Vec3d::zeros(), 0.0));
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|place| self.positions[place as usize]);
            let normal = (b - a).cross(&(c - a));
            for place in triangle {
                self.air[*place as usize].0 += normal;
            }
        }
        for ((normal, share), rate) in self.air.iter_mut().zip(&self.drag_rates) {
            *normal = normal.try_normalize(0.0).unwrap_or_default();
            // Implicit Euler: never more than the whole speed, however light the cloth.
            *share = rate * self.h / (1.0 + rate * self.h);
        }
    }
}

/// Pushes the free particles of a chunk out of one collider.
fn collide(
    obstacle: &Obstacle<'_>,
    thickness: f32,
    masses: &[f64],
    positions: &mut [Vec3d],
    starts: &mut [Vec3d],
) {
    let mut low = Vec3d::repeat(f64::INFINITY);
    let mut high = -low;
    for point in positions.iter().chain(starts.iter()) {
        low = low.inf(point);
        high = high.sup(point);
    }
    let center = ((low + high) * 0.5).cast();
    let radius = ((high - low).norm() * 0.5) as f32;
    if !obstacle.may_touch(center, radius, thickness) {
        return;
    }
    for ((position, start), mass) in positions.iter_mut().zip(starts).zip(masses) {
        if mass.is_infinite() {
            continue;
        }
        if let Some(contact) = obstacle.resolve(start.cast(), position.cast(), thickness) {
            *position = contact.position.cast();
            *start += contact.shift.cast();
        }
    }
}

fn is_finite(v: &Vec3) -> bool {
    v.iter().all(|c| c.is_finite())
}
