//! Wind on a surface: drag along the flow and lift across it, triangle by triangle.
//!
//! With u the velocity of the air against a triangle, n its normal on the lee side and A its area,
//!
//! ```text
//! F = ½·ρ·A·|u|²·(û·n)·[(drag − lift)·(û·n)·û + lift·n]
//! ```
//!
//! so that the part along the flow is drag·(û·n)² and the part across it lift·(û·n)·√(1 − (û·n)²) of the stagnation
//! pressure times the area. Where both are equal, the air only presses: nothing acts along the surface. A third goes to each corner.
//!
//! Source: Wilson, McAdams, Leo, Lentine, "Simulating wind effects on cloth and hair in Disney's Frozen", SIGGRAPH 2014
//! talks.

use anim_math::nalgebra::Matrix3;

use super::{Force, symmetric};
use crate::SimError;
use crate::check::{check_range, check_vertices};
use crate::integrate::{DVec3, Jacobian, Motion};

/// Air that moves against a surface; a surface that moves in still air feels it as well.
#[derive(Clone, Debug, PartialEq)]
pub struct Wind {
    /// The surface; which way its triangles turn does not matter.
    pub triangles: Vec<[u32; 3]>,
    /// Of the air, m/s.
    pub velocity: DVec3,
    /// Of the air, kg/m³.
    pub density: f64,
    /// Coefficient of the force along the flow, not negative.
    pub drag: f64,
    /// Coefficient of the force across it, not negative.
    pub lift: f64,
}

impl Default for Wind {
    /// Still air at sea level, on no surface yet, pressing on what moves through it.
    fn default() -> Self {
        Self {
            triangles: Vec::new(),
            velocity: DVec3::zeros(),
            density: 1.2,
            drag: 1.0,
            lift: 1.0,
        }
    }
}

/// How the air meets a triangle.
struct Flow {
    /// Velocity of the air against it, and its length; not zero.
    velocity: DVec3,
    speed: f64,
    /// Unit normal on the lee side.
    normal: DVec3,
    /// ½·density·area.
    mass: f64,
}

impl Wind {
    /// `None` where the triangle has no area or nothing flows.
    fn flow(&self, motion: &Motion, triangle: [u32; 3]) -> Option<Flow> {
        let corners = triangle.map(|vertex| vertex as usize);
        let [a, b, c] = corners.map(|vertex| motion.positions[vertex]);
        let [va, vb, vc] = corners.map(|vertex| motion.velocities[vertex]);
        let velocity = self.velocity - (va + vb + vc) / 3.0;
        let cross = (b - a).cross(&(c - a));
        let (speed, double_area) = (velocity.norm(), cross.norm());
        if !(speed > 0.0 && double_area > 0.0) {
            return None;
        }
        Some(Flow {
            velocity,
            speed,
            normal: cross * (1.0_f64.copysign(velocity.dot(&cross)) / double_area),
            mass: 0.25 * self.density * double_area,
        })
    }
}

impl Force for Wind {
    fn check(&self, vertex_count: usize) -> Result<(), SimError> {
        for (index, triangle) in self.triangles.iter().enumerate() {
            check_vertices("triangle", index, triangle, vertex_count)?;
        }
        for (index, component) in self.velocity.iter().enumerate() {
            check_range("wind", index, component.abs() as f32, f32::MAX)?;
        }
        check_range("density of the air", 0, self.density as f32, f32::MAX)?;
        check_range("drag", 0, self.drag as f32, f32::MAX)?;
        check_range("lift", 0, self.lift as f32, f32::MAX)
    }

    fn add(&self, motion: &Motion, forces: &mut [DVec3]) {
        for triangle in &self.triangles {
            let Some(flow) = self.flow(motion, *triangle) else {
                continue;
            };
            let across = flow.velocity.dot(&flow.normal);
            let along = (self.drag - self.lift) * across * across / flow.speed;
            let force =
                flow.mass * (along * flow.velocity + self.lift * across * flow.speed * flow.normal);
            for vertex in triangle {
                forces[*vertex as usize] += force / 3.0;
            }
        }
    }

    /// By the velocity; how the surface turns in the flow is left out.
    fn add_jacobian(&self, motion: &Motion, jacobian: &mut Jacobian) {
        for triangle in &self.triangles {
            let Some(flow) = self.flow(motion, *triangle) else {
                continue;
            };
            let Flow {
                velocity: u,
                speed,
                normal: n,
                mass,
            } = flow;
            let (across, toward) = (u.dot(&n), u / speed);
            let along = 2.0 * across * toward * n.transpose()
                + across * across / speed * (Matrix3::identity() - toward * toward.transpose());
            let lifting = across * n * toward.transpose() + speed * n * n.transpose();
            // A corner's velocity counts a third, and so does the force on it.
            let by_velocity = -mass / 9.0 * ((self.drag - self.lift) * along + self.lift * lifting);
            let by_velocity = symmetric(&by_velocity, jacobian);
            for (place, row) in triangle.iter().enumerate() {
                for column in &triangle[..=place] {
                    jacobian.add([*row, *column], &Matrix3::zeros(), &by_velocity);
                }
            }
        }
    }
}
