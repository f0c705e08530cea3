//! The elements of a specification as the solver sees them.

use super::flex;
use super::membrane::{Limit, Membrane};
use super::sweep::{Element, Kind};
use super::tet::Tet;
use crate::ModelSpec;

/// Every element that holds something, in the order of the mesh and interleaved by kind; by vertex.
pub(crate) fn elements(spec: &ModelSpec) -> Vec<Element> {
    let mut elements: Vec<Element> = Vec::with_capacity(spec.links.len() + spec.tets.len());
    let links = spec.links.iter().filter(|e| e.compliance.is_finite());
    elements.extend(links.map(Element::link));
    let seams = spec.seams.iter();
    elements.extend(seams.map(|seam| Element::new(Kind::Seam, seam, &[])));
    let hinges = spec.hinges.iter().filter(|e| e.compliance.is_finite());
    elements.extend(
        hinges.map(|e| Element::new(Kind::Hinge, &e.vertices, &[e.rest_angle, e.compliance])),
    );
    let areas = spec.areas.iter().filter(|e| e.compliance.is_finite());
    elements
        .extend(areas.map(|e| Element::new(Kind::Area, &e.vertices, &[e.rest_area, e.compliance])));
    let at = |v: u32| spec.positions[v as usize];
    for flex in spec.flexes.iter().filter(|e| e.stiffness > 0.0) {
        if let Some([c0, c1, c2, c3]) = flex::coefficients(flex.vertices.map(at)) {
            let compliance = 1.0 / f64::from(flex.stiffness);
            let parameters = [c0, c1, c2, c3, compliance].map(|p| p as f32);
            elements.push(Element::new(Kind::Flex, &flex.vertices, &parameters));
        }
    }
    for membrane in &spec.membranes {
        if membrane.stiffness.iter().any(|k| *k > 0.0) {
            let parameters = Membrane::parameters(membrane);
            elements.push(Element::new(
                Kind::Membrane,
                &membrane.vertices,
                &parameters,
            ));
        }
        if let Some(parameters) = Limit::parameters(membrane) {
            elements.push(Element::new(Kind::Limit, &membrane.vertices, &parameters));
        }
    }
    for tet in &spec.tets {
        let material = &spec.materials[tet.material as usize];
        let parameters = Tet::parameters(tet.vertices.map(at), material);
        elements.push(Element::new(Kind::Tet, &tet.vertices, &parameters));
    }
    elements.sort_by_cached_key(|element| {
        let mut key = [u32::MAX; 4];
        key[..element.vertices().len()].copy_from_slice(element.vertices());
        key.sort_unstable();
        key
    });
    elements
}
