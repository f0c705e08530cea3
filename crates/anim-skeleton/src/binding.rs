//! Binding: a clip made for one skeleton, played on another whose joints have the same names.
//!
//! Clips live in their own files, exporters put prefixes before names and parents above roots, and names repeat. So joints
//! are bound by name, where several have it by path, and where none has it without regard to case and prefix
//! (`mixamorig:Hips` is `hips`). What does not fit is no error: a channel without a joint is left out, a joint without a
//! channel rests, and a [`BindReport`] says so. Values are taken as they are: where the rest poses or proportions differ,
//! the clip wants retargeting and not binding.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track};
//! use anim_math::Vec3;
//! use anim_skeleton::{Binding, Channel, ClipSpec, JointSpec, JointTrack, Skeleton};
//!
//! let joint = |name: &str, parent| JointSpec { name: Some(name.into()), parent, rest: Default::default() };
//! let skeleton = Skeleton::new(vec![joint("Hips", None), joint("Head", Some(0))])?;
//!
//! let binding = Binding::from_paths(&["mixamorig:Head", "mixamorig:Hips", "mixamorig:Tail"], &skeleton);
//! let lift = Track::new(vec![Key::new(0.0, Vec3::y())], Interpolation::Linear)?;
//! let channel = |joint| Channel { joint, track: JointTrack::Translation(lift.clone()) };
//! let clip = ClipSpec { channels: vec![channel(0), channel(2)], ..ClipSpec::default() };
//!
//! let (bound, report) = binding.apply(&clip);
//! assert_eq!(bound.channels[0].joint, 1); // "Head" is the second joint of the skeleton
//! assert_eq!(report.missing, ["mixamorig:Tail"]);
//! assert_eq!(report.extra, [skeleton.joint(0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::iter::once;

use crate::{Channel, ClipSpec, JointId, MorphChannel, Skeleton};

/// Which joint of a skeleton each joint that clips animate is.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// One a source joint, source order.
    sources: Vec<Bound>,
    /// Source order from breadth-first order, of the target.
    target_sources: Vec<usize>,
}

/// A source joint and its target.
#[derive(Clone, Debug, PartialEq)]
struct Bound {
    /// Its name, or `joint 5` where it has none.
    label: String,
    target: Option<JointId>,
    /// Number of joints of the target that fit as well as the chosen one, itself included.
    rivals: usize,
}

/// What did not fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BindReport {
    /// Names of animated joints that the target lacks; their channels are left out.
    pub missing: Vec<String>,
    /// Joints of the target without channels, breadth-first; they rest.
    pub extra: Vec<JointId>,
    /// Animated joints that several joints of the target fit equally well.
    pub ambiguous: Vec<Ambiguity>,
}

/// A name met more than once, that paths do not tell apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Ambiguity {
    /// Name of the animated joint.
    pub joint: String,
    /// The first joint that fits and is not taken, breadth-first.
    pub chosen: JointId,
    /// How many fit.
    pub count: usize,
}

impl Binding {
    /// Binds the joints of `source`, for whose source order clips were made, to those of `target`.
    ///
    /// Names count first, then paths through named ancestors; joints without a name stay unbound, and no two are bound to
    /// the same joint. O(source × joints of one name × depth).
    pub fn new(source: &Skeleton, target: &Skeleton) -> Self {
        let joint = |place| source.joint(place);
        let label = |place| {
            let name = source.name(joint(place)).map(str::to_owned);
            name.unwrap_or_else(|| unnamed(place))
        };
        let labels = (0..source.len()).map(label).collect();
        Self::of(labels, |place| names_up(source, joint(place)), target)
    }

    /// As [`new`](Self::new), for joints that are known by names or paths (`Hips/Spine/Head`) alone.
    pub fn from_paths(joints: &[&str], target: &Skeleton) -> Self {
        let labels = joints.iter().map(|path| (*path).to_owned()).collect();
        Self::of(labels, |place| joints[place].rsplit('/'), target)
    }

    /// The joint of the target that source joint `joint` is.
    pub fn target(&self, joint: usize) -> Option<JointId> {
        self.sources.get(joint)?.target
    }

    /// `clip` for the target: channels in the same order, those of unbound joints left out.
    pub fn apply(&self, clip: &ClipSpec) -> (ClipSpec, BindReport) {
        let target = |joint| Some(self.target_sources[self.target(joint)?.index()]);
        let channels = clip.channels.iter().filter_map(|channel| {
            Some(Channel {
                joint: target(channel.joint)?,
                track: channel.track.clone(),
            })
        });
        let morphs = clip.morphs.iter().filter_map(|channel| {
            Some(MorphChannel {
                joint: target(channel.joint)?,
                track: channel.track.clone(),
            })
        });
        let bound = ClipSpec {
            name: clip.name.clone(),
            channels: channels.collect(),
            morphs: morphs.collect(),
        };
        (bound, self.report(clip))
    }

    fn report(&self, clip: &ClipSpec) -> BindReport {
        let mut animated: Vec<_> = clip.channels.iter().map(|channel| channel.joint).collect();
        animated.extend(clip.morphs.iter().map(|channel| channel.joint));
        animated.sort_unstable();
        animated.dedup();
        let mut report = BindReport::default();
        let mut is_extra = vec![true; self.target_sources.len()];
        for joint in animated {
            let bound = self.sources.get(joint);
            let label = bound.map_or_else(|| unnamed(joint), |bound| bound.label.clone());
            let Some((chosen, rivals)) = bound.and_then(|b| Some((b.target?, b.rivals))) else {
                report.missing.push(label);
                continue;
            };
            is_extra[chosen.index()] = false;
            if rivals > 1 {
                report.ambiguous.push(Ambiguity {
                    joint: label,
                    chosen,
                    count: rivals,
                });
            }
        }
        let extra = (0..).zip(is_extra).filter(|(_, is_extra)| *is_extra);
        report.extra = extra.map(|(place, _)| JointId(place)).collect();
        report
    }

    /// * `names_up`: the name of a source joint, that of its parent, and so on; none for a joint without a name.
    fn of<'a, Names: Iterator<Item = &'a str>>(
        labels: Vec<String>,
        names_up: impl Fn(usize) -> Names,
        target: &Skeleton,
    ) -> Self {
        let unbound = |label| Bound {
            label,
            target: None,
            rivals: 0,
        };
        let mut free = Candidates::new(target);
        let mut sources: Vec<_> = labels.into_iter().map(unbound).collect();
        // Exact names first, so that a loose one never takes the joint of an exact one.
        for alike in [exactly, loosely] {
            for (place, source) in sources.iter_mut().enumerate() {
                if source.target.is_none()
                    && let Some((target, rivals)) = free.take(|| names_up(place), alike)
                {
                    (source.target, source.rivals) = (Some(target), rivals);
                }
            }
        }
        Self {
            sources,
            target_sources: target.joints().map(|joint| target.source(joint)).collect(),
        }
    }
}

/// The joints of the target, by [`bare`] name.
struct Candidates<'a> {
    skeleton: &'a Skeleton,
    by_name: BTreeMap<String, Vec<JointId>>,
    is_taken: Vec<bool>,
}

impl<'a> Candidates<'a> {
    fn new(skeleton: &'a Skeleton) -> Self {
        let mut by_name: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for joint in skeleton.joints() {
            if let Some(name) = skeleton.name(joint) {
                by_name.entry(bare(name)).or_default().push(joint);
            }
        }
        Self {
            skeleton,
            by_name,
            is_taken: vec![false; skeleton.len()],
        }
    }

    /// Takes the free joint whose path agrees with `names_up` for the longest way; with the number of joints whose path
    /// agrees as far.
    fn take<'n, Names: Iterator<Item = &'n str>>(
        &mut self,
        names_up: impl Fn() -> Names,
        alike: fn(&str, &str) -> bool,
    ) -> Option<(JointId, usize)> {
        let named = self.by_name.get(&bare(names_up().next()?))?;
        let agreement = |joint: &JointId| {
            let own = self::names_up(self.skeleton, *joint);
            agreement(names_up(), own, alike)
        };
        let agreements: Vec<_> = named.iter().map(agreement).collect();
        let free = || {
            let all = named.iter().zip(&agreements);
            all.filter(|(joint, _)| !self.is_taken[joint.index()])
        };
        let best = *free().map(|(_, agreement)| agreement).max()?;
        let (chosen, _) = free().find(|(_, agreement)| **agreement == best)?;
        if best.0 == 0 {
            return None;
        }
        self.is_taken[chosen.index()] = true;
        let rivals = agreements.iter().filter(|other| **other == best).count();
        Some((*chosen, rivals))
    }
}

/// Paths are compared up to so many names.
const LONGEST: usize = 64;

/// For how many names two paths agree, from the joint upwards, and whether that is all there is of both.
fn agreement<'a, 'b>(
    a: impl Iterator<Item = &'a str>,
    b: impl Iterator<Item = &'b str>,
    alike: fn(&str, &str) -> bool,
) -> (usize, bool) {
    let (mut a, mut b) = (a.take(LONGEST), b.take(LONGEST));
    let mut common = 0;
    loop {
        match (a.next(), b.next()) {
            (Some(a), Some(b)) if alike(a, b) => common += 1,
            (a, b) => return (common, a.is_none() && b.is_none()),
        }
    }
}

/// The name of a joint, that of its next named ancestor, and so on; nothing for a joint without a name.
fn names_up(skeleton: &Skeleton, joint: JointId) -> impl Iterator<Item = &str> {
    let is_named = skeleton.name(joint).is_some();
    once(joint)
        .chain(skeleton.ancestors(joint))
        .take_while(move |_| is_named)
        .filter_map(|joint| skeleton.name(joint))
}

fn unnamed(joint: usize) -> String {
    format!("joint {joint}")
}

fn exactly(a: &str, b: &str) -> bool {
    a == b
}

fn loosely(a: &str, b: &str) -> bool {
    bare(a) == bare(b)
}

/// Without what is before the last `:` or `|`, in lower case.
fn bare(name: &str) -> String {
    let start = name.rfind([':', '|']).map_or(0, |end| end + 1);
    name[start..].to_lowercase()
}
