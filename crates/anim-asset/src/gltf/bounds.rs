//! The values of accessors against what they promise: all finite, and between `min` and `max`.

use super::accessor::Accessor;
use super::budget::Budget;
use super::element::Component;
use super::json::Json;
use super::log::Log;

/// Reports values that are not finite, and bounds that are not those of the values.
pub(super) fn check(
    root: &Json<'_>,
    accessors: &[Option<Accessor<'_>>],
    log: &Log,
    budget: &Budget,
) {
    let all = accessors.iter().zip(root.list("accessors"));
    for (accessor, json) in all.filter_map(|(accessor, json)| Some((accessor.as_ref()?, json))) {
        let declared = |name| {
            let list = json.list(name);
            let bound = |k: usize| exact(list.get(k)?, accessor.component);
            std::array::from_fn(bound)
        };
        check_one(accessor, declared("min"), declared("max"), log, budget);
    }
}

/// One bound a component, where declared.
type Bounds = [Option<f64>; 16];

/// What the values of one component are like.
#[derive(Clone, Copy)]
struct Extent {
    /// The declared bounds, or infinities.
    declared: [f64; 2],
    min: f64,
    max: f64,
    below: usize,
    above: usize,
}

fn check_one(accessor: &Accessor<'_>, min: Bounds, max: Bounds, log: &Log, budget: &Budget) {
    let place = accessor.place();
    let mut extents: [Extent; 16] = std::array::from_fn(|k| Extent {
        declared: [
            min[k].unwrap_or(f64::NEG_INFINITY),
            max[k].unwrap_or(f64::INFINITY),
        ],
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        below: 0,
        above: 0,
    });
    accessor.scan(budget, |at, k, value| {
        if !value.is_finite() {
            let message = format_args!("element {at}, component {k} is {value}");
            log.error("ACCESSOR_INVALID_FLOAT", &place, message);
            return;
        }
        let extent = &mut extents[k];
        extent.min = extent.min.min(value);
        extent.max = extent.max.max(value);
        extent.below += usize::from(value < extent.declared[0]);
        extent.above += usize::from(value > extent.declared[1]);
    });
    for (k, extent) in extents.iter().enumerate().take(accessor.shape.len()) {
        if extent.min > extent.max {
            continue;
        }
        if let Some(declared) = min[k].filter(|declared| *declared != extent.min) {
            let place = format!("{place}/min/{k}");
            let message = format_args!("{declared}, but the least value is {}", extent.min);
            log.error("ACCESSOR_MIN_MISMATCH", &place, message);
            if extent.below > 0 {
                let message = format_args!("{} values are less than {declared}", extent.below);
                log.error("ACCESSOR_ELEMENT_OUT_OF_MIN_BOUND", place, message);
            }
        }
        if let Some(declared) = max[k].filter(|declared| *declared != extent.max) {
            let place = format!("{place}/max/{k}");
            let message = format_args!("{declared}, but the greatest value is {}", extent.max);
            log.error("ACCESSOR_MAX_MISMATCH", &place, message);
            if extent.above > 0 {
                let message = format_args!("{} values are greater than {declared}", extent.above);
                log.error("ACCESSOR_ELEMENT_OUT_OF_MAX_BOUND", place, message);
            }
        }
    }
}

/// A bound as the component's type holds it.
fn exact(bound: &Json<'_>, component: Component) -> Option<f64> {
    match bound {
        Json::Number(number) if component == Component::F32 => Some(f64::from(*number as f32)),
        Json::Number(number) => Some(*number),
        _ => None,
    }
}
