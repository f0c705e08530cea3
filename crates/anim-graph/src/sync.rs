//! Synchronisation: clips of different lengths keep in step, between the same two markers at the same fraction of the way.
//!
//! Clips in step share a phase, which counts markers met; a [`Lane`] is a clip's own time as a piecewise linear function of
//! it. Without markers each clip has one, at its start, so the phase counts turns. A step lets the shared phase run as fast
//! as the mean of the clips does: each way between two markers takes the mean of their seconds, by weight. The heaviest
//! clip leads: whoever joins takes its phase.

use std::fmt::Write;

use anim_skeleton::Event;

use crate::spec::SyncBy;

/// A looping clip's time as a function of the phase that it shares with others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lane {
    /// Clip time of the first marker, s.
    first: f64,
    /// Seconds from the first marker to each of the n markers, rising from 0, and to the first again.
    offsets: Vec<f64>,
}

impl Lane {
    fn new(markers: impl ExactSizeIterator<Item = f32>, duration: f32) -> Self {
        let times: Vec<_> = markers.map(f64::from).collect();
        let first = times.first().copied().unwrap_or(0.0);
        let duration = f64::from(duration);
        let offsets = times.iter().map(|time| (time - first).rem_euclid(duration));
        Self {
            first,
            offsets: offsets.chain([duration]).collect(),
        }
    }

    /// The number of markers, n.
    fn markers(&self) -> usize {
        self.offsets.len() - 1
    }

    fn duration(&self) -> f64 {
        self.offsets[self.markers()]
    }

    /// Seconds from marker `index` to the next.
    fn span(&self, index: usize) -> f64 {
        self.offsets[index + 1] - self.offsets[index]
    }

    /// The phase at an unwrapped time, s: n more each turn.
    pub(crate) fn phase_at(&self, time: f64) -> f64 {
        let since = time - self.first;
        let turns = (since / self.duration()).floor();
        let inside = (since - turns * self.duration()).clamp(0.0, self.duration());
        let index = self.offsets[..self.markers()].partition_point(|offset| *offset <= inside);
        let index = index.saturating_sub(1);
        let alpha = (inside - self.offsets[index]) / self.span(index);
        turns * self.markers() as f64 + index as f64 + alpha
    }

    /// The unwrapped time, s, at a phase.
    pub(crate) fn time_at(&self, phase: f64) -> f64 {
        let markers = self.markers() as f64;
        let turns = (phase / markers).floor();
        let inside = (phase - turns * markers).clamp(0.0, markers);
        let index = (inside as usize).min(self.markers() - 1);
        let since = self.offsets[index] + (inside - index as f64) * self.span(index);
        self.first + turns * self.duration() + since
    }
}

/// A clip that may be in step with others.
pub(crate) struct Candidate<'a> {
    /// For messages.
    pub(crate) place: &'a str,
    /// Sorted by time.
    pub(crate) markers: &'a [Event],
    /// Seconds, above 0.
    pub(crate) duration: f32,
}

/// The lanes of clips that are to keep in step, or why they cannot.
pub(crate) fn lanes(by: SyncBy, clips: &[Candidate<'_>]) -> Result<Vec<Lane>, String> {
    if by == SyncBy::Phase {
        let lane = |clip: &Candidate<'_>| Lane::new([0.0].into_iter(), clip.duration);
        return Ok(clips.iter().map(lane).collect());
    }
    let Some(leader) = clips.first() else {
        return Ok(Vec::new());
    };
    clips.iter().map(|clip| marked(leader, clip)).collect()
}

/// The lane of a clip whose markers start with that of the leader's first.
fn marked(leader: &Candidate<'_>, clip: &Candidate<'_>) -> Result<Lane, String> {
    if clip.markers.is_empty() {
        return Err(format!("{} has no sync markers", clip.place));
    }
    let apart = |pair: &[Event]| pair[0].time < pair[1].time;
    let fits = |event: &Event| event.time < clip.duration;
    if !(clip.markers.windows(2).all(apart) && clip.markers.iter().all(fits)) {
        let place = clip.place;
        return Err(format!(
            "{place}: sync markers must be apart and before the clip's end"
        ));
    }
    let count = clip.markers.len();
    let rotated = |start: usize| (0..count).map(move |n| &clip.markers[(start + n) % count]);
    let names = leader.markers.iter().map(|event| event.name.as_str());
    (0..count)
        .find(|start| {
            names
                .clone()
                .eq(rotated(*start).map(|event| event.name.as_str()))
        })
        .map(|start| {
            let times: Vec<_> = rotated(start).map(|event| event.time).collect();
            Lane::new(times.into_iter(), clip.duration)
        })
        .ok_or_else(|| {
            let mut message = String::from("the sync markers do not come in the same order:");
            for (separator, clip) in [("", leader), (",", clip)] {
                let names: Vec<_> = clip.markers.iter().map(|e| e.name.as_str()).collect();
                // Writing to a string cannot fail.
                let _ = write!(
                    message,
                    "{separator} {} has {}",
                    clip.place,
                    names.join(" ")
                );
            }
            message
        })
}

/// A clip that takes part in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    pub(crate) lane: &'a Lane,
    /// Not negative.
    pub(crate) weight: f32,
    /// Clip seconds a second if it played alone, above 0.
    pub(crate) rate: f64,
    /// Unwrapped clip time, s.
    pub(crate) time: f64,
}

/// One step of clips in step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    leader: Member<'a>,
    /// True if no other has any weight.
    is_alone: bool,
    from: f64,
    to: f64,
}

impl<'a> Step<'a> {
    /// Moves the clips on by `dt` seconds, not negative; `None` without clips.
    pub(crate) fn new(members: impl Iterator<Item = Member<'a>> + Clone, dt: f64) -> Option<Self> {
        let heavier = |best: Member<'a>, other: Member<'a>| {
            if other.weight > best.weight {
                other
            } else {
                best
            }
        };
        let leader = members.clone().reduce(heavier)?;
        let total: f64 = members.clone().map(|member| f64::from(member.weight)).sum();
        let from = leader.lane.phase_at(leader.time);
        let is_alone = f64::from(leader.weight) >= total;
        let to = if is_alone {
            leader.lane.phase_at(leader.time + dt * leader.rate)
        } else {
            let seconds = |index: usize| {
                let part = |m: Member<'_>| f64::from(m.weight) * m.lane.span(index) / m.rate;
                members.clone().map(part).sum::<f64>() / total
            };
            run(from, dt, leader.lane.markers(), seconds)
        };
        Some(Self {
            leader,
            is_alone,
            from,
            to,
        })
    }

    /// Where a member was and is: unwrapped times, and whether it had to jump to come into step.
    pub(crate) fn passage(&self, member: Member<'_>, dt: f64) -> (f64, f64, bool) {
        let lane = member.lane;
        if self.is_alone && std::ptr::eq(lane, self.leader.lane) {
            // To the bit as if it played alone.
            return (member.time, member.time + dt * member.rate, false);
        }
        let from = lane.time_at(self.from);
        // The same moment in the turn that the member is in.
        let base = from + ((member.time - from) / lane.duration()).round() * lane.duration();
        let jumps = (member.time - base).abs() > 1e-6 * lane.duration();
        let start = if jumps { base } else { member.time };
        (start, base + (lane.time_at(self.to) - from), jumps)
    }
}

/// The phase after `dt` seconds, where the way from marker `k` to the next takes `seconds(k)`.
fn run(phase: f64, dt: f64, markers: usize, seconds: impl Fn(usize) -> f64) -> f64 {
    let turn: f64 = (0..markers).map(&seconds).sum();
    let turns = (dt / turn).floor();
    let mut left = dt - turns * turn;
    let mut phase = phase + turns * markers as f64;
    for _ in 0..=markers {
        let marker = phase.floor();
        let span = seconds(marker.rem_euclid(markers as f64) as usize);
        let to_next = (marker + 1.0 - phase) * span;
        if left < to_next {
            return phase + left / span;
        }
        left -= to_next;
        phase = marker + 1.0;
    }
    phase
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(marks: &[(f32, &str)]) -> Vec<Event> {
        let event = |&(time, name): &(f32, &str)| Event {
            time,
            name: name.to_owned(),
        };
        marks.iter().map(event).collect()
    }

    fn clip(markers: &[Event], duration: f32) -> Candidate<'_> {
        Candidate {
            place: "clip",
            markers,
            duration,
        }
    }

    #[test]
    fn a_lane_and_its_inverse_agree() {
        let marks = events(&[(0.1, "left"), (0.7, "right")]);
        let lane = &lanes(SyncBy::Markers, &[clip(&marks, 1.2)]).unwrap()[0];
        assert!((lane.phase_at(0.4) - 0.5).abs() < 1e-6);
        assert!((lane.phase_at(1.0) - 1.5).abs() < 1e-6);
        assert!((lane.phase_at(0.1 - 1.2) + 2.0).abs() < 1e-6);
        for n in -50..50 {
            let time = f64::from(n) * 0.077;
            assert!((lane.time_at(lane.phase_at(time)) - time).abs() < 1e-12);
        }
    }

    #[test]
    fn markers_may_start_anywhere_in_the_cycle_but_must_agree() {
        let walk = events(&[(0.0, "left"), (0.5, "right")]);
        let run = events(&[(0.1, "right"), (0.4, "left")]);
        let pair = lanes(SyncBy::Markers, &[clip(&walk, 1.0), clip(&run, 0.6)]).unwrap();
        assert!((pair[1].time_at(0.0) - 0.4).abs() < 1e-6);
        assert!((pair[1].time_at(1.0) - 0.7).abs() < 1e-6);
        let hop = events(&[(0.1, "left"), (0.4, "left")]);
        let message = lanes(SyncBy::Markers, &[clip(&walk, 1.0), clip(&hop, 0.6)]).unwrap_err();
        assert_eq!(
            message,
            "the sync markers do not come in the same order: clip has left right, clip has left left"
        );
    }

    #[test]
    fn a_step_over_many_turns_is_as_many_small_ones() {
        let seconds = |index| [0.3, 0.2, 0.7][index];
        let once = run(1.25, 7.9, 3, seconds);
        let small = (0..7900).fold(1.25, |phase, _| run(phase, 0.001, 3, seconds));
        assert!((once - small).abs() < 1e-9);
    }

    #[test]
    fn half_walk_and_half_run_take_the_mean_of_their_seconds() {
        let [walk, fast] = [1.0, 0.6].map(|duration| {
            let lane = lanes(SyncBy::Phase, &[clip(&[], duration)]).unwrap();
            lane[0].clone()
        });
        let member = |lane, weight| Member {
            lane,
            weight,
            rate: 1.0,
            time: 0.0,
        };
        let both = [member(&walk, 0.5), member(&fast, 0.5)];
        let step = Step::new(both.into_iter(), 0.4).unwrap();
        assert!((step.passage(both[0], 0.4).1 - 0.5).abs() < 1e-7);
        assert!((step.passage(both[1], 0.4).1 - 0.3).abs() < 1e-7);
        // Alone, to the bit at its own speed.
        let alone = [member(&walk, 1.0), member(&fast, 0.0)];
        let step = Step::new(alone.into_iter(), 0.3).unwrap();
        assert_eq!(step.passage(alone[0], 0.3), (0.0, 0.3, false));
        assert!((step.passage(alone[1], 0.3).1 - 0.18).abs() < 1e-7);
    }
}
