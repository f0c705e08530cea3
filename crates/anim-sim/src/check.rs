//! What a [`ModelSpec`] must be before it becomes a model.

use std::f32::consts::PI;

use crate::{ModelSpec, SimError};

pub(crate) fn check(spec: &ModelSpec) -> Result<(), SimError> {
    let vertex_count = spec.positions.len();
    if vertex_count == 0 {
        return Err(SimError::Empty);
    }
    if spec.inverse_masses.len() != vertex_count {
        return Err(SimError::Count {
            what: "inverse masses",
            found: spec.inverse_masses.len(),
            vertex_count,
        });
    }
    for (vertex, position) in spec.positions.iter().enumerate() {
        if !position.iter().all(|c| c.is_finite()) {
            return Err(SimError::NotFinite { vertex });
        }
    }
    for (index, mass) in spec.inverse_masses.iter().enumerate() {
        check_range("inverse mass", index, *mass, f32::MAX)?;
    }
    for (index, link) in spec.links.iter().enumerate() {
        check_vertices("link", index, &link.vertices, vertex_count)?;
        check_range("link's rest length", index, link.rest_length, f32::MAX)?;
        check_range("link's compliance", index, link.compliance, f32::INFINITY)?;
        if link.vertices[0] == link.vertices[1] {
            return Err(SimError::SelfLink {
                link: index,
                vertex: link.vertices[0],
            });
        }
    }
    for (index, tether) in spec.tethers.iter().enumerate() {
        check_vertices(
            "tether",
            index,
            &[tether.vertex, tether.anchor],
            vertex_count,
        )?;
        check_range("tether's length", index, tether.max_length, f32::INFINITY)?;
        if spec.inverse_masses[tether.anchor as usize] != 0.0 {
            return Err(SimError::FreeAnchor {
                tether: index,
                anchor: tether.anchor,
            });
        }
    }
    for (index, triangle) in spec.triangles.iter().enumerate() {
        check_vertices("triangle", index, triangle, vertex_count)?;
    }
    for (index, seam) in spec.seams.iter().enumerate() {
        check_distinct("seam", index, seam, vertex_count)?;
    }
    check_surfaces(spec)?;
    check_solids(spec)?;
    check_range("seam speed", 0, spec.seam_speed, f32::INFINITY)?;
    check_range("viscosity", 0, spec.viscosity, f32::MAX)?;
    check_range("lift", 0, spec.lift, f32::MAX)?;
    check_range("damping", 0, spec.damping, f32::MAX)?;
    check_range("thickness", 0, spec.thickness, f32::MAX)?;
    check_range("friction", 0, spec.friction, f32::MAX)?;
    check_range("drag", 0, spec.drag, f32::MAX)?;
    if let Some(contact) = &spec.self_contact {
        check_positive("self-contact's thickness", 0, contact.thickness)?;
        check_range("self-contact's friction", 0, contact.friction, f32::MAX)?;
    }
    Ok(())
}

fn check_surfaces(spec: &ModelSpec) -> Result<(), SimError> {
    let vertex_count = spec.positions.len();
    for (index, hinge) in spec.hinges.iter().enumerate() {
        check_distinct("hinge", index, &hinge.vertices, vertex_count)?;
        check_range("hinge's rest angle", index, hinge.rest_angle.abs(), PI)?;
        check_range("hinge's compliance", index, hinge.compliance, f32::INFINITY)?;
    }
    for (index, flex) in spec.flexes.iter().enumerate() {
        check_distinct("flex", index, &flex.vertices, vertex_count)?;
        check_range("flex's stiffness", index, flex.stiffness, f32::MAX)?;
    }
    for (index, area) in spec.areas.iter().enumerate() {
        check_distinct("area", index, &area.vertices, vertex_count)?;
        check_range("area's rest area", index, area.rest_area, f32::MAX)?;
        check_range("area's compliance", index, area.compliance, f32::INFINITY)?;
    }
    for (index, membrane) in spec.membranes.iter().enumerate() {
        check_distinct("membrane", index, &membrane.vertices, vertex_count)?;
        for stiffness in membrane.stiffness {
            check_range("membrane's stiffness", index, stiffness, f32::MAX)?;
        }
        let [least, most] = membrane.limits;
        check_range("membrane's lower limit", index, least, 1.0)?;
        if !(1.0..=f32::INFINITY).contains(&most) {
            return Err(SimError::OutOfRange {
                what: "membrane's upper limit",
                index,
                value: most,
            });
        }
        let [a, b, c] = membrane.material.map(|m| m.map(f64::from));
        let double_area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if !(double_area > 0.0 && double_area.is_finite()) {
            return Err(SimError::Inverted {
                what: "membrane",
                index,
            });
        }
    }
    Ok(())
}

fn check_solids(spec: &ModelSpec) -> Result<(), SimError> {
    let vertex_count = spec.positions.len();
    for (index, material) in spec.materials.iter().enumerate() {
        check_positive("material's modulus", index, material.young)?;
        check_positive("material's density", index, material.density)?;
        if !(0.0..0.5).contains(&material.poisson) {
            return Err(SimError::OutOfRange {
                what: "material's Poisson ratio",
                index,
                value: material.poisson,
            });
        }
        check_range("material's damping", index, material.damping, f32::MAX)?;
        let yield_strain = material.yield_strain;
        check_range("material's yield", index, yield_strain, f32::INFINITY)?;
        check_range("material's creep", index, material.creep, f32::MAX)?;
        let plastic = material.max_plastic_strain;
        check_range("material's plastic strain", index, plastic, f32::MAX)?;
    }
    for (index, tet) in spec.tets.iter().enumerate() {
        check_distinct("tetrahedron", index, &tet.vertices, vertex_count)?;
        if tet.material as usize >= spec.materials.len() {
            return Err(SimError::Missing {
                what: "tetrahedron",
                index,
                missing: "material",
                found: tet.material,
            });
        }
        let [a, b, c, d] = tet
            .vertices
            .map(|v| spec.positions[v as usize].cast::<f64>());
        let volume = (b - a).dot(&(c - a).cross(&(d - a)));
        if !(volume > 0.0 && volume.is_finite()) {
            return Err(SimError::Inverted {
                what: "tetrahedron",
                index,
            });
        }
    }
    for (index, fiber) in spec.fibers.iter().enumerate() {
        if fiber.tet as usize >= spec.tets.len() {
            return Err(SimError::Missing {
                what: "fibre",
                index,
                missing: "tetrahedron",
                found: fiber.tet,
            });
        }
        check_range("fibre's stress", index, fiber.max_stress, f32::MAX)?;
        let length = fiber.direction.norm();
        if !(0.999..=1.001).contains(&length) {
            return Err(SimError::OutOfRange {
                what: "fibre's length",
                index,
                value: length,
            });
        }
    }
    for (index, volume) in spec.volumes.iter().enumerate() {
        for triangle in &volume.triangles {
            check_vertices("volume", index, triangle, vertex_count)?;
        }
        check_range("volume's rest volume", index, volume.rest_volume, f32::MAX)?;
        check_range(
            "volume's compliance",
            index,
            volume.compliance,
            f32::INFINITY,
        )?;
    }
    for (index, cluster) in spec.clusters.iter().enumerate() {
        check_vertices("cluster", index, &cluster.vertices, vertex_count)?;
        check_range(
            "cluster's compliance",
            index,
            cluster.compliance,
            f32::INFINITY,
        )?;
    }
    Ok(())
}

fn check_positive(what: &'static str, index: usize, value: f32) -> Result<(), SimError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(SimError::OutOfRange { what, index, value })
    }
}

/// The vertices of an element exist and differ.
fn check_distinct(
    what: &'static str,
    index: usize,
    vertices: &[u32],
    vertex_count: usize,
) -> Result<(), SimError> {
    check_vertices(what, index, vertices, vertex_count)?;
    for (place, vertex) in vertices.iter().enumerate() {
        if vertices[..place].contains(vertex) {
            return Err(SimError::Repeated {
                what,
                index,
                vertex: *vertex,
            });
        }
    }
    Ok(())
}

/// NaN and negative quantities are out of range, and so is what is above `max`.
pub(crate) fn check_range(
    what: &'static str,
    index: usize,
    value: f32,
    max: f32,
) -> Result<(), SimError> {
    if (0.0..=max).contains(&value) {
        Ok(())
    } else {
        Err(SimError::OutOfRange { what, index, value })
    }
}

pub(crate) fn check_vertices(
    what: &'static str,
    index: usize,
    vertices: &[u32],
    vertex_count: usize,
) -> Result<(), SimError> {
    match vertices.iter().find(|v| **v as usize >= vertex_count) {
        None => Ok(()),
        Some(&vertex) => Err(SimError::VertexOutOfRange {
            what,
            index,
            vertex,
            vertex_count,
        }),
    }
}
