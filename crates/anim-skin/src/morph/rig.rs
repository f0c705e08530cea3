//! A face's controls: what an animator or a tracker moves, and the target weights that follow.
//!
//! A [`ShapeRig`] is built once from a [`RigSpec`]: controls with limits, groups of which only one may win, stops on the
//! way ([`in_between`](super::in_between)), and combinations, whose targets correct what several controls do together.
//!
//! ```
//! use anim_skin::morph::rig::{Combination, Control, Driver, RigSpec, ShapeRig};
//!
//! let control = |name: &str, target| Control { name: name.into(), limits: [0.0, 1.0], stops: vec![(1.0, target)] };
//! let rig = ShapeRig::new(&RigSpec {
//!     controls: vec![control("smile", 0), control("open", 1)],
//!     combinations: vec![Combination { controls: vec!["smile".into(), "open".into()], target: 2, driver: Driver::Product }],
//!     ..RigSpec::default()
//! })?;
//! let mut weights = [0.0; 3];
//! rig.evaluate(&[0.5, 3.0], &mut weights);
//! assert_eq!(weights, [0.5, 1.0, 0.5]);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use serde::{Deserialize, Serialize};

use super::in_between::stop_weights;
use crate::SkinError;

/// What a face's controls do, to be edited and stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RigSpec {
    /// C controls; names are unique.
    pub controls: Vec<Control>,
    /// Controls that exclude each other.
    pub groups: Vec<Group>,
    /// Corrections.
    pub combinations: Vec<Combination>,
}

/// One value that an animator moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// Its name.
    pub name: String,
    /// Smallest and largest value; others are clamped, and one that is no number counts as 0.
    pub limits: [f32; 2],
    /// Values, ascending and not 0, at which a target is met exactly, and the targets.
    pub stops: Vec<(f32, usize)>,
}

/// Controls of which no more than one at a time is wanted, such as the mouth shapes of speech.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Names of controls.
    pub controls: Vec<String>,
    /// What happens if several are on.
    pub rule: Exclusion,
}

/// What happens to controls of a [`Group`] that are on together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exclusion {
    /// All are scaled so that their sizes sum to no more than 1.
    #[default]
    Share,
    /// The largest stays, the others become 0; of equals the first stays.
    Winner,
}

/// A target that corrects what two or more controls do together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Combination {
    /// Names of controls.
    pub controls: Vec<String>,
    /// The target that makes up the difference.
    pub target: usize,
    /// How strongly it is on.
    #[serde(default)]
    pub driver: Driver,
}

/// How strongly a combination is on; a control below 0 counts as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// The product of its controls, which is smooth.
    #[default]
    Product,
    /// The smallest of its controls, which comes sooner and has kinks.
    Min,
}

/// A checked rig, ready for frames.
#[derive(Clone, Debug)]
pub struct ShapeRig {
    limits: Vec<[f32; 2]>,
    /// Where each control's stops end.
    stop_ends: Vec<usize>,
    knots: Vec<f32>,
    stop_targets: Vec<usize>,
    groups: Vec<(Vec<usize>, Exclusion)>,
    /// The group of each control, or the number of groups.
    group_of: Vec<usize>,
    combinations: Vec<(Vec<usize>, usize, Driver)>,
    target_count: usize,
}

/// Most stops of one control.
const MAX_STOPS: usize = 16;

impl ShapeRig {
    /// Checks `spec`.
    ///
    /// # Errors
    ///
    /// [`SkinError::UnknownShape`] for a name that no control has; [`SkinError::BadShape`] with the control's, group's or
    /// combination's index for a name or group membership held twice, limits or stops that are not finite and ascending,
    /// a stop at 0, more than 16 stops, and a combination of fewer than two controls.
    pub fn new(spec: &RigSpec) -> Result<Self, SkinError> {
        let mut rig = Self {
            limits: Vec::new(),
            stop_ends: Vec::new(),
            knots: Vec::new(),
            stop_targets: Vec::new(),
            groups: Vec::new(),
            group_of: vec![spec.groups.len(); spec.controls.len()],
            combinations: Vec::new(),
            target_count: 0,
        };
        for (index, control) in spec.controls.iter().enumerate() {
            check(control, &spec.controls[..index])
                .map_err(|what| SkinError::BadShape { shape: index, what })?;
            rig.limits.push(control.limits);
            for (knot, target) in &control.stops {
                rig.knots.push(*knot);
                rig.stop_targets.push(*target);
            }
            rig.stop_ends.push(rig.knots.len());
        }
        let find = |names: &[String]| -> Result<Vec<usize>, SkinError> {
            let place = |name: &String| {
                spec.controls
                    .iter()
                    .position(|control| control.name == *name)
            };
            let unknown = |name: &String| SkinError::UnknownShape { name: name.clone() };
            names
                .iter()
                .map(|name| place(name).ok_or_else(|| unknown(name)))
                .collect()
        };
        for (shape, group) in spec.groups.iter().enumerate() {
            let controls = find(&group.controls)?;
            for control in &controls {
                if rig.group_of[*control] != spec.groups.len() {
                    let what = "one of its controls is in a group already";
                    return Err(SkinError::BadShape { shape, what });
                }
                rig.group_of[*control] = shape;
            }
            rig.groups.push((controls, group.rule));
        }
        for (shape, combination) in spec.combinations.iter().enumerate() {
            let controls = find(&combination.controls)?;
            if controls.len() < 2 {
                let what = "a combination takes two controls or more";
                return Err(SkinError::BadShape { shape, what });
            }
            rig.combinations
                .push((controls, combination.target, combination.driver));
        }
        let driven = rig.combinations.iter().map(|(_, target, _)| target);
        let last = rig.stop_targets.iter().chain(driven).max();
        rig.target_count = last.map_or(0, |last| last + 1);
        Ok(rig)
    }

    /// Number of controls, C.
    pub fn control_count(&self) -> usize {
        self.limits.len()
    }

    /// One more than the highest target that a control or combination moves.
    pub fn target_count(&self) -> usize {
        self.target_count
    }

    /// Writes the weight of every target; those that no control moves become 0, and several on one target add up.
    ///
    /// * `controls`: C values: limited, then made to exclude each other, then spread over stops and combinations.
    ///
    /// Costs a few operations a stop and combination, and the size of its group a control; allocates nothing.
    ///
    /// # Panics
    ///
    /// If `controls` is not one a control, or `weights` shorter than [`target_count`](Self::target_count).
    pub fn evaluate(&self, controls: &[f32], weights: &mut [f32]) {
        assert_eq!(controls.len(), self.control_count(), "one value a control");
        assert!(weights.len() >= self.target_count, "one weight a target");
        weights.fill(0.0);
        let mut start = 0;
        for (control, end) in self.stop_ends.iter().enumerate() {
            let knots = &self.knots[start..*end];
            let mut stops = [0.0; MAX_STOPS];
            let stops = &mut stops[..knots.len()];
            stop_weights(knots, self.value(controls, control), stops);
            for (target, weight) in self.stop_targets[start..*end].iter().zip(stops) {
                weights[*target] += *weight;
            }
            start = *end;
        }
        for (parts, target, driver) in &self.combinations {
            let values = parts
                .iter()
                .map(|part| self.value(controls, *part).max(0.0));
            weights[*target] += match driver {
                Driver::Product => values.product(),
                Driver::Min => values.fold(f32::INFINITY, f32::min),
            };
        }
    }

    /// The value of one control, limited and with its group's rule applied.
    fn value(&self, controls: &[f32], control: usize) -> f32 {
        let value = self.limited(controls, control);
        let Some((members, rule)) = self.groups.get(self.group_of[control]) else {
            return value;
        };
        let sizes = members
            .iter()
            .map(|member| (*member, self.limited(controls, *member).abs()));
        match rule {
            Exclusion::Share => value / sizes.map(|(_, size)| size).sum::<f32>().max(1.0),
            Exclusion::Winner => {
                let best = sizes.fold(
                    (control, -1.0),
                    |best, next| if next.1 > best.1 { next } else { best },
                );
                if best.0 == control { value } else { 0.0 }
            }
        }
    }

    fn limited(&self, controls: &[f32], control: usize) -> f32 {
        let [low, high] = self.limits[control];
        let value = controls[control];
        if value.is_nan() { 0.0 } else { value }.clamp(low, high)
    }
}

fn check(control: &Control, before: &[Control]) -> Result<(), &'static str> {
    let [low, high] = control.limits;
    if before.iter().any(|other| other.name == control.name) {
        return Err("another control has its name");
    }
    if !(low.is_finite() && high.is_finite() && low <= high) {
        return Err("its limits are not finite and ascending");
    }
    let stops = &control.stops;
    if stops.len() > MAX_STOPS {
        return Err("more than 16 stops");
    }
    let bad = |(knot, _): &(f32, usize)| !knot.is_finite() || *knot == 0.0;
    if stops.iter().any(bad) || stops.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return Err("its stops are not finite, ascending and apart from 0");
    }
    Ok(())
}
