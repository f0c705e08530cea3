//! Keeps strands out of moving colliders, with friction: contacts are part of the equations of a strand.
//!
//! First the strand moves as if nothing were in its way. Where its vertices, or the middles of its segments, meet a collider
//! on their path, a stiff one-sided hold is added, and the substep is solved again from its beginning: so the whole strand
//! takes part in each contact, keeps its lengths, and rests on a body as a rod does. A contact sticks at first; where that
//! takes more than Coulomb's law grants it slides, under the force that the law gives; where it would have to pull it lets
//! go; and the substep is solved again, a few times at most. What is inside all the same [folds](super::fold). Nothing is
//! remembered in the next substep.
//!
//! Roots lie on the skin, often inside the collider that stands for the head. A vertex is therefore asked to be farther out
//! than its root by no more than half of its way along the strand.

use anim_math::Vec3;
use anim_math::lanes::LANES;

use super::fold;
use super::model::Group;
use super::rod::Action;
use super::solver::{HairDrive, Lane8, get3};
use crate::collide::{MovingCollider, Obstacle};

/// Solves of one substep after the first, at most.
pub(super) const ROUNDS: usize = 4;
/// A hold is so many times as stiff as the inertia of its vertex: it yields a thousandth of what the vertex would sink.
const GRIP: f32 = 1e3;
/// The same along the strand, where a chain that cannot stretch would fight with its own lengths.
const AXIAL_GRIP: f32 = 4.0;
/// How far a strand leaves what its root is in, per length along it.
const LEAVE: f32 = 0.5;

/// The colliders at the end of every substep.
#[derive(Clone, Debug, Default)]
pub(super) struct Obstacles {
    colliders: Vec<MovingCollider>,
    frictions: Vec<f32>,
}

impl Obstacles {
    /// * `origin`: what positions are relative to. * `friction`: of the hair.
    pub(super) fn plan(
        &mut self,
        drive: &HairDrive<'_>,
        origin: Vec3,
        friction: f32,
        substeps: usize,
    ) {
        self.colliders.clear();
        self.frictions.clear();
        let mean = |other: f32| (friction * other).max(0.0).sqrt();
        self.frictions
            .extend(drive.colliders.iter().map(|c| mean(c.friction)));
        // Friction is settled here, so that paths are stopped without.
        for (index, collider) in drive.colliders.iter().enumerate() {
            let previous = drive.previous_colliders.get(index);
            let mut moving = MovingCollider::new(previous, collider, origin, 0.0);
            moving.advance(1.0 / substeps as f32);
            self.colliders.push(moving);
        }
        for substep in 2..=substeps {
            for index in 0..self.frictions.len() {
                let mut moving =
                    self.colliders[(substep - 2) * self.frictions.len() + index].clone();
                moving.advance(substep as f32 / substeps as f32);
                self.colliders.push(moving);
            }
        }
    }

    /// Those of a substep, counted from 0, each with its coefficient of friction.
    fn at(&self, substep: usize) -> impl Iterator<Item = (&MovingCollider, f32)> {
        let count = self.frictions.len();
        let colliders = &self.colliders[substep * count..(substep + 1) * count];
        colliders.iter().zip(self.frictions.iter().copied())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frictions.is_empty()
    }
}

/// What a group meets in one substep.
pub(super) struct Scene<'a> {
    pub(super) obstacles: &'a Obstacles,
    pub(super) substep: usize,
    /// Of each lane, before and after.
    pub(super) roots: &'a [[Vec3; 2]; LANES],
    pub(super) thickness: f32,
    pub(super) h: f32,
}

impl<'a> Scene<'a> {
    /// The colliders that are somewhere, each with its coefficient of friction.
    pub(super) fn obstacles(&self) -> impl Iterator<Item = (Obstacle<'a>, f32)> + use<'a> {
        let colliders = self.obstacles.at(self.substep);
        colliders.filter_map(|(collider, friction)| Some((collider.obstacle()?, friction)))
    }

    /// How far from a collider a point is to be whose root, so far along the strand, is `root_distance` away, m.
    pub(super) fn clearance(&self, root_distance: f32, along: f32) -> f32 {
        clearance(self.thickness, root_distance, along)
    }
}

/// How far out a point so far along its strand is to be whose root is at `root_distance`, m; `thickness` at most.
pub(super) fn clearance(thickness: f32, root_distance: f32, along: f32) -> f32 {
    thickness.min(root_distance + LEAVE * along)
}

/// One vertex of one strand against one collider.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    vertex: usize,
    lane: usize,
    normal: Vec3,
    /// Along the strand and the surface, of unit length; zero where the strand stands on it.
    axis: Vec3,
    /// The way to where it is held, from where the substep begins, m: along the normal, and across it while it sticks.
    way: Vec3,
    /// The part of its way that gives no speed, m.
    shift: Vec3,
    /// How far the collider itself carries the place along the normal, m.
    carried: f32,
    /// N/m.
    stiffness: f32,
    friction: f32,
    mode: Mode,
}

/// How a contact holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Sticks,
    /// Under this force, N.
    Slides(Vec3),
    /// It would have to pull.
    Open,
}

impl Contact {
    /// The stiffness of sticking, ball · 1 + ray · u uᵀ, and no force.
    fn grip(&self) -> (f32, f32, Vec3, Vec3) {
        let loss = self.stiffness * (AXIAL_GRIP / GRIP - 1.0);
        (self.stiffness, loss, self.axis, Vec3::zeros())
    }
}

/// Settles the contacts after a solve; false if that solve stands.
pub(super) fn settle(scene: &Scene<'_>, group: &Group, lane8: &mut Lane8) -> bool {
    let changed = revise(scene, lane8);
    let found = find(scene, group, lane8);
    if changed || found {
        act(lane8);
    }
    changed || found
}

/// Takes the speed of mere pushes away, folds what is still inside, and lets go; how many vertices have no way out.
pub(super) fn finish(scene: &Scene<'_>, group: &Group, lane8: &mut Lane8) -> u32 {
    let mut touches = [false; LANES];
    for index in 0..lane8.contacts.len() {
        let contact = lane8.contacts[index];
        touches[contact.lane] = true;
        // A push that a stiff strand took only in part gave speed only for that part.
        let outward = way(scene, lane8, &contact).dot(&contact.normal) - contact.carried;
        let push = contact.shift.dot(&contact.normal);
        let shift = contact.normal * outward.clamp(0.0, push.max(0.0));
        let velocity = &mut lane8.next[contact.vertex].velocity;
        for (lanes, shift) in velocity.iter_mut().zip(shift.iter()) {
            lanes[contact.lane] -= shift / scene.h;
        }
    }
    if lane8.contacts.is_empty() {
        return 0;
    }
    lane8.contacts.clear();
    lane8.touched.fill([0; LANES]);
    act(lane8);
    fold::fold(scene, group, touches, lane8)
}

/// Lets contacts slide or open where their forces ask for it; true if any did.
fn revise(scene: &Scene<'_>, lane8: &mut Lane8) -> bool {
    let mut changed = false;
    for index in 0..lane8.contacts.len() {
        let contact = lane8.contacts[index];
        let (ball, ray, u, _) = contact.grip();
        let missed = contact.way - way(scene, lane8, &contact);
        let force = missed * ball + u * (ray * u.dot(&missed));
        let pressure = force.dot(&contact.normal);
        let drag = force - contact.normal * pressure;
        let limit = contact.friction * pressure;
        let mode = match contact.mode {
            Mode::Open => continue,
            _ if pressure < 0.0 => Mode::Open,
            Mode::Sticks if drag.norm() <= limit => continue,
            Mode::Sticks => Mode::Slides(drag * (limit / drag.norm())),
            Mode::Slides(old) => {
                let next = old * (limit / old.norm().max(f32::MIN_POSITIVE));
                lane8.contacts[index].mode = Mode::Slides(next);
                continue;
            }
        };
        lane8.contacts[index].mode = mode;
        changed = true;
    }
    changed
}

/// How far a vertex goes in the substep.
fn way(scene: &Scene<'_>, lane8: &Lane8, contact: &Contact) -> Vec3 {
    let [before, after] = scene.roots[contact.lane];
    let now = get3(&lane8.now[contact.vertex].offset, contact.lane);
    let next = get3(&lane8.next[contact.vertex].offset, contact.lane);
    (next - now) + (after - before)
}

/// Writes the contacts into what acts on the vertices.
fn act(lane8: &mut Lane8) {
    for (action, load) in lane8.actions.iter_mut().zip(&lane8.loads) {
        *action = Action {
            force: *load,
            ..Action::default()
        };
    }
    for contact in &lane8.contacts {
        let (ball, ray, u, friction) = match contact.mode {
            Mode::Open => continue,
            Mode::Sticks => contact.grip(),
            Mode::Slides(force) => (0.0, contact.stiffness, contact.normal, force),
        };
        let stiffness = [
            ball + ray * u.x * u.x,
            ray * u.x * u.y,
            ray * u.x * u.z,
            ball + ray * u.y * u.y,
            ray * u.y * u.z,
            ball + ray * u.z * u.z,
        ];
        let force = contact.way * ball + u * (ray * u.dot(&contact.way)) + friction;
        let action = &mut lane8.actions[contact.vertex];
        for (lanes, value) in action.stiffness.iter_mut().zip(stiffness) {
            lanes[contact.lane] += value;
        }
        for (lanes, value) in action.force.iter_mut().zip(force.iter()) {
            lanes[contact.lane] += value;
        }
    }
}

/// Adds contacts where the strands, on their way from `now` to `next`, are stopped anew; false if nowhere.
fn find(scene: &Scene<'_>, group: &Group, lane8: &mut Lane8) -> bool {
    let before = lane8.contacts.len();
    // After the first round only strands that touch have changed.
    let mut lanes = [before == 0; LANES];
    for contact in &lane8.contacts {
        lanes[contact.lane] = true;
    }
    for (bit, (obstacle, friction)) in scene.obstacles().enumerate() {
        let search = Search {
            scene,
            group,
            obstacle,
            bit: 1 << (bit % 32),
            friction,
        };
        for lane in (0..group.used).filter(|lane| lanes[*lane]) {
            let [root_before, root] = scene.roots[lane];
            let reach = group.reach[lane] + (root - root_before).norm();
            if search
                .obstacle
                .may_touch(root_before, reach, scene.thickness)
            {
                search.strand(lane, lane8);
            }
        }
    }
    lane8.contacts.len() > before
}

/// A collider against the strands of a group.
struct Search<'a> {
    scene: &'a Scene<'a>,
    group: &'a Group,
    obstacle: Obstacle<'a>,
    /// Of the collider, among those that a vertex touches.
    bit: u32,
    friction: f32,
}

impl Search<'_> {
    fn strand(&self, lane: usize, lane8: &mut Lane8) {
        let (scene, obstacle) = (self.scene, &self.obstacle);
        let root = self.path(lane8, lane, 0);
        let fastest = (1..=self.group.segments.len())
            .map(|point| self.path(lane8, lane, point).length_squared(obstacle))
            .fold(0.0, f32::max)
            .sqrt();
        let far = self.group.reach[lane] + fastest + scene.thickness;
        let root_distance = obstacle.distance(root.end, far);
        // Distance changes no faster than the way along a strand: nothing that near to here can have met the surface.
        let mut free = root_distance - scene.thickness - fastest;
        let mut along = 0.0;
        for (vertex, segment) in self.group.segments.iter().enumerate() {
            let length = segment.length[lane];
            along += length;
            free -= length;
            if free > 0.0 {
                continue;
            }
            let clearance = |along: f32| scene.clearance(root_distance, along);
            let [last, path] = [vertex, vertex + 1].map(|point| self.path(lane8, lane, point));
            free = obstacle.distance(path.end, far) - scene.thickness - fastest;
            let along_strand = path.start - last.start;
            if free <= 0.0
                && let Some(stop) = path.stop(obstacle, clearance(along))
            {
                self.add(lane8, [vertex, lane], &path, &stop, along_strand);
            } else if vertex > 0
                && free <= length * 0.5
                && let Some(stop) = last
                    .middle(&path)
                    .stop(obstacle, clearance(along - length * 0.5))
            {
                self.add(lane8, [vertex - 1, lane], &last, &stop, along_strand);
                self.add(lane8, [vertex, lane], &path, &stop, along_strand);
            }
        }
    }

    /// The way of a point of a strand: 0 is the root, and vertices follow.
    fn path(&self, lane8: &Lane8, lane: usize, point: usize) -> Path {
        let [start, end] = self.scene.roots[lane];
        match point.checked_sub(1) {
            None => Path { start, end },
            Some(vertex) => Path {
                start: start + get3(&lane8.now[vertex].offset, lane),
                end: end + get3(&lane8.next[vertex].offset, lane),
            },
        }
    }

    /// Holds a vertex, unless this collider holds it already.
    fn add(
        &self,
        lane8: &mut Lane8,
        [vertex, lane]: [usize; 2],
        path: &Path,
        stop: &Stop,
        along: Vec3,
    ) {
        let touched = &mut lane8.touched[vertex][lane];
        if *touched & self.bit != 0 {
            return;
        }
        *touched |= self.bit;
        let normal = stop.normal;
        let flat = along - normal * normal.dot(&along);
        let stick = self.obstacle.carried(path.start) - path.start;
        let out = normal.dot(&(path.end + stop.push - path.start - stick));
        lane8.contacts.push(Contact {
            vertex,
            lane,
            normal,
            axis: flat.try_normalize(1e-3 * along.norm()).unwrap_or_default(),
            way: stick + normal * out,
            shift: stop.shift,
            carried: stick.dot(&normal),
            stiffness: GRIP * self.group.segments[vertex].mass[lane]
                / (self.scene.h * self.scene.h),
            friction: self.friction,
            mode: Mode::Sticks,
        });
    }
}

/// The way of a point through a substep.
#[derive(Clone, Copy)]
struct Path {
    start: Vec3,
    end: Vec3,
}

/// How a point is stopped.
struct Stop {
    normal: Vec3,
    /// From where it would have been.
    push: Vec3,
    /// The part of its way that gives no speed.
    shift: Vec3,
}

impl Path {
    /// As seen from the moving collider.
    fn length_squared(&self, obstacle: &Obstacle<'_>) -> f32 {
        (self.end - obstacle.carried(self.start)).norm_squared()
    }

    fn middle(&self, other: &Self) -> Self {
        Self {
            start: (self.start + other.start) * 0.5,
            end: (self.end + other.end) * 0.5,
        }
    }

    fn stop(&self, obstacle: &Obstacle<'_>, clearance: f32) -> Option<Stop> {
        let resolved = obstacle.resolve(self.start, self.end, clearance)?;
        let push = resolved.position - self.end;
        Some(Stop {
            normal: push.try_normalize(0.0)?,
            push,
            shift: resolved.shift,
        })
    }
}
