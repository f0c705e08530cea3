//! Animation samplers: key times, repaired, and the values that go with them.

use anim_curves::Interpolation;

use super::accessor::Accessor;
use super::element::Component;
use super::json::Json;
use super::read::{Reader, Usage};
use crate::AssetError;

/// The times of a sampler, and where its values are.
pub(super) struct Sampler<'r, 'a> {
    /// Strictly rising, finite, s.
    pub(super) times: Vec<f32>,
    /// For each time the key of the file that it comes from.
    pub(super) source: Vec<usize>,
    /// Keys in the file.
    pub(super) key_count: usize,
    /// Values, in the file's order of keys.
    pub(super) output: &'r Accessor<'a>,
    pub(super) interpolation: Interpolation,
}

/// Opens the sampler `json` at `place`; `None` if its times cannot be used. Reports once if `is_first`.
///
/// # Errors
///
/// `TOO_LARGE`.
pub(super) fn open<'r, 'a>(
    reader: &'r Reader<'a>,
    json: &Json<'_>,
    place: &str,
    is_first: bool,
) -> Result<Option<Sampler<'r, 'a>>, AssetError> {
    let (Some(input), Some(output)) = (
        reader.accessor_of(json, "input"),
        reader.accessor_of(json, "output"),
    ) else {
        return Ok(None);
    };
    let interpolation = match json.text("interpolation") {
        Some("STEP") => Interpolation::Step,
        Some("CUBICSPLINE") => Interpolation::Cubic,
        _ => Interpolation::Linear,
    };
    if is_first {
        check(reader, input, output, interpolation, place);
    }
    if input.component != Component::F32 || input.shape.len() != 1 {
        return Ok(None);
    }
    let Some(stored) = input.floats::<1>(reader.budget)? else {
        return Ok(None);
    };
    if is_first {
        check_times(reader, input, &stored, place);
    }
    reader.budget.take(stored.len(), 16, place)?;
    let (times, source) = rising(&stored);
    reader.budget.give_back(stored.len(), 16 + 4);
    Ok((!times.is_empty()).then_some(Sampler {
        times,
        source,
        key_count: stored.len(),
        output,
        interpolation,
    }))
}

/// Finite times in strictly rising order, of equal ones the last, and the key that each comes from.
fn rising(stored: &[[f32; 1]]) -> (Vec<f32>, Vec<usize>) {
    let time = |key: usize| stored[key][0];
    let mut source: Vec<usize> = (0..stored.len())
        .filter(|key| time(*key).is_finite())
        .collect();
    source.sort_by(|a, b| time(*a).total_cmp(&(time(*b))));
    // Backwards, so that of equal times the last is the one that stays; −0 and 0 are equal too.
    source.reverse();
    source.dedup_by(|later, kept| time(*later) == time(*kept));
    source.reverse();
    (source.iter().map(|key| time(*key)).collect(), source)
}

fn check(
    reader: &Reader<'_>,
    input: &Accessor<'_>,
    output: &Accessor<'_>,
    interpolation: Interpolation,
    place: &str,
) {
    let log = reader.log;
    for (accessor, name) in [(input, "input"), (output, "output")] {
        let place = format!("{place}/{name}");
        reader.note_usage(accessor, Usage::Keys, &place);
        if reader.is_strided(accessor) {
            let message = "keys must be packed";
            let code = "ANIMATION_SAMPLER_ACCESSOR_WITH_BYTESTRIDE";
            log.error(code, place, message);
        }
    }
    let place = format!("{place}/input");
    if input.component != Component::F32 || input.shape.len() != 1 {
        let message = "times are not floats; the channels are left out";
        let code = "ANIMATION_SAMPLER_INPUT_ACCESSOR_INVALID_FORMAT";
        log.error(code, &place, message);
    }
    if !input.has_bounds {
        let code = "ANIMATION_SAMPLER_INPUT_ACCESSOR_WITHOUT_BOUNDS";
        log.error(code, &place, "times need min and max");
    }
    if interpolation == Interpolation::Cubic && input.count < 2 {
        let message = format_args!("{} keys of a spline, taken to be constant", input.count);
        let code = "ANIMATION_SAMPLER_INPUT_ACCESSOR_TOO_FEW_ELEMENTS";
        log.error(code, &place, message);
    }
}

fn check_times(reader: &Reader<'_>, input: &Accessor<'_>, times: &[[f32; 1]], place: &str) {
    let place = format!("{place}/input");
    let severity = input.value_severity();
    let mut before = None;
    for (key, [time]) in times.iter().enumerate() {
        if !time.is_finite() {
            // The accessor's check has named it.
            continue;
        }
        if *time < 0.0 {
            let message = format_args!("key {key}: time {time} s is before the start");
            let code = "ACCESSOR_ANIMATION_INPUT_NEGATIVE";
            reader.log.push(severity, code, &place, message);
        }
        if before.is_some_and(|before| *time <= before) {
            let message = format_args!(
                "key {key}: time {time} s does not rise; keys are sorted, the last of equal ones stays"
            );
            let code = "ACCESSOR_ANIMATION_INPUT_NON_INCREASING";
            reader.log.push(severity, code, &place, message);
        }
        before = Some(before.map_or(*time, |before: f32| before.max(*time)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_sorted_and_the_last_of_equal_ones_stays() {
        let stored = [1.25, 2.5, 0.0, 1.25, f32::NAN, -0.0].map(|time| [time]);
        let (times, source) = rising(&stored);
        assert_eq!(times, [0.0, 1.25, 2.5]);
        assert_eq!(source[1..], [3, 1]);
    }
}
