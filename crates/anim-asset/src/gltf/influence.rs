//! Which joints move each vertex: all JOINTS and WEIGHTS sets side by side, with bad ones named by vertex.

use anim_skin::Influences;

use super::accessor::Accessor;
use super::attribute;
use super::json::Json;
use super::read::Reader;
use crate::AssetError;

/// Influences in one set.
const PER_SET: usize = 4;
/// Sets beyond this number are not looked for.
const MAX_SETS: usize = 64;

/// The influences of a primitive at `place`, or `None` if it has no usable set.
///
/// Weights stay as the file has them, but for those that are not finite and those of joints beyond `joint_count`, the
/// length of the skin's list: they become zero.
///
/// # Errors
///
/// `TOO_LARGE`.
pub(super) fn influences(
    reader: &Reader<'_>,
    attributes: &Json<'_>,
    place: &str,
    vertex_count: usize,
    joint_count: Option<usize>,
) -> Result<Option<Influences>, AssetError> {
    let has = |base: &str, set: usize| attributes.get(&format!("{base}_{set}")).is_some();
    let count = |base: &str| (0..MAX_SETS).take_while(|set| has(base, *set)).count();
    let sets = count("JOINTS").min(count("WEIGHTS"));
    if count("JOINTS") != count("WEIGHTS") {
        let message = format_args!("{} and {} sets", count("JOINTS"), count("WEIGHTS"));
        let code = "MESH_PRIMITIVE_JOINTS_WEIGHTS_MISMATCH";
        reader.log.error(code, place, message);
    }
    let find = |base: &str, set: usize| {
        let name = format!("{base}_{set}");
        attribute::find(reader, attributes, &name, PER_SET, vertex_count)
    };
    let usable: Vec<_> = (0..sets)
        .filter_map(|set| Some((set, find("JOINTS", set)?, find("WEIGHTS", set)?)))
        .collect();
    if usable.is_empty() {
        return Ok(None);
    }
    let per_vertex = usable.len() * PER_SET;
    let total = per_vertex.saturating_mul(vertex_count);
    let budget = reader.budget;
    budget.take(total, size_of::<(u16, f32)>(), place)?;
    let mut influences = Influences {
        per_vertex,
        joints: vec![0; total],
        weights: vec![0.0; total],
    };
    for (column, (_, joints, weights)) in usable.iter().enumerate() {
        let (Some(joints), Some(weights)) = (
            joints.integers::<PER_SET>(budget)?,
            weights.floats::<PER_SET>(budget)?,
        ) else {
            continue;
        };
        let slots = influences.joints.chunks_exact_mut(per_vertex);
        for (slots, joints) in slots.zip(&joints) {
            let slots = slots.iter_mut().skip(column * PER_SET);
            for (slot, joint) in slots.zip(joints) {
                *slot = u16::try_from(*joint).unwrap_or(u16::MAX);
            }
        }
        let slots = influences.weights.chunks_exact_mut(per_vertex);
        for (slots, weights) in slots.zip(&weights) {
            slots[column * PER_SET..][..PER_SET].copy_from_slice(weights);
        }
        let size = size_of::<[u32; PER_SET]>() + size_of::<[f32; PER_SET]>();
        budget.give_back(vertex_count, size);
    }
    let places: Vec<[String; 2]> = usable
        .iter()
        .map(|(set, ..)| ["JOINTS", "WEIGHTS"].map(|b| format!("{place}/attributes/{b}_{set}")))
        .collect();
    let weights = usable[0].2;
    for vertex in 0..vertex_count {
        let row = vertex * per_vertex..(vertex + 1) * per_vertex;
        let row = Row {
            vertex,
            joints: &mut influences.joints[row.clone()],
            weights: &mut influences.weights[row],
            joint_count,
        };
        row.repair(reader, weights, &places);
    }
    Ok(Some(influences))
}

/// The influences of one vertex.
struct Row<'a> {
    vertex: usize,
    joints: &'a mut [u16],
    weights: &'a mut [f32],
    joint_count: Option<usize>,
}

impl Row<'_> {
    /// Reports what is wrong with this vertex, and zeroes what cannot be used.
    fn repair(self, reader: &Reader<'_>, accessor: &Accessor<'_>, places: &[[String; 2]]) {
        let log = reader.log;
        let vertex = self.vertex;
        for at in 0..self.weights.len() {
            let [joints_place, weights_place] = &places[at / PER_SET];
            let (joint, weight) = (self.joints[at], self.weights[at]);
            if !weight.is_finite() {
                let message = format_args!("vertex {vertex}: a weight of {weight}, taken to be 0");
                log.error("ACCESSOR_INVALID_FLOAT", weights_place, message);
                self.weights[at] = 0.0;
            } else if weight < 0.0 {
                let message = format_args!("vertex {vertex}: a negative weight of {weight}");
                log.error("ACCESSOR_WEIGHTS_NEGATIVE", weights_place, message);
            }
            if let Some(count) = self
                .joint_count
                .filter(|count| usize::from(joint) >= *count)
            {
                let message = format_args!(
                    "vertex {vertex}: joint {joint} of {count}; its weight is taken to be 0"
                );
                log.error("ACCESSOR_JOINTS_INDEX_OOB", joints_place, message);
                self.joints[at] = 0;
                self.weights[at] = 0.0;
            } else if weight == 0.0 && joint != 0 {
                let message = format_args!("vertex {vertex}: joint {joint} has no weight");
                log.info("ACCESSOR_JOINTS_USED_ZERO_WEIGHT", joints_place, message);
            }
            let used = |other: usize| self.weights[other] != 0.0 && self.joints[other] == joint;
            if self.weights[at] != 0.0 && (0..at).any(used) {
                let message = format_args!("vertex {vertex}: joint {joint} twice");
                log.error("ACCESSOR_JOINTS_INDEX_DUPLICATE", joints_place, message);
            }
        }
        let used = self.weights.iter().filter(|weight| **weight != 0.0).count();
        let sum: f64 = self.weights.iter().map(|weight| f64::from(*weight)).sum();
        // The official validator's tolerance: rounding of each weight on its own.
        if (sum - 1.0).abs() > 2e-7 * used.max(1) as f64 {
            let message = if used == 0 {
                format!("vertex {vertex}: all weights are 0")
            } else {
                format!("vertex {vertex}: the weights sum to {sum:.6}")
            };
            let severity = accessor.value_severity();
            let code = "ACCESSOR_WEIGHTS_NON_NORMALIZED";
            log.push(severity, code, &places[0][1], message);
        }
    }
}
