//! Events on a clip: named moments, met exactly once however time steps.
//!
//! Steps of a foot, the release of a throw. [`Events::crossed`] gives what a [`Passage`] went over, in the order met,
//! through any number of loops, both ways. Nothing is remembered between frames: consecutive passages meet without gap or
//! overlap, so one long step meets what many short ones do.
//!
//! ```
//! use anim_skeleton::{Event, Events, Playback, Wrap};
//!
//! let event = |time, name: &str| Event { time, name: name.into() };
//! let steps = Events::new(vec![event(0.75, "right"), event(0.25, "left")])?;
//! let mut playback = Playback::new(1.0, Wrap::Loop);
//! let passage = playback.advance(1.5, 1.0);
//! let met: Vec<_> = steps.crossed(&passage).map(|met| met.event.name.as_str()).collect();
//! assert_eq!(met, ["left", "right", "left"]);
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::passage::Moment;
use crate::{Passage, SkeletonError, Wrap};

/// A named moment of a clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Seconds from the clip's start; one later than the clip's end is never met.
    pub time: f32,
    /// What happens; need not be unique.
    pub name: String,
}

/// The events of a clip, sorted by time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Event>", into = "Vec<Event>")]
pub struct Events(Vec<Event>);

/// An event that was met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossed<'a> {
    /// What was met.
    pub event: &'a Event,
    /// Its place in [`Events::as_slice`].
    pub index: usize,
    /// When, in the passage's unwrapped clip time, s.
    pub at: f64,
    /// True if the passage went backwards over it.
    pub backward: bool,
}

impl Events {
    /// Sorts `events` by time; those of one time stay in their order.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::EventTime`] if a time is negative or not finite.
    pub fn new(mut events: Vec<Event>) -> Result<Self, SkeletonError> {
        for (event, Event { time, .. }) in events.iter().enumerate() {
            if !(time.is_finite() && *time >= 0.0) {
                return Err(SkeletonError::EventTime { event, time: *time });
            }
        }
        // Not total_cmp, which tells −0 from 0.
        events.sort_by(|a, b| {
            a.time
                .partial_cmp(&b.time)
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        Ok(Self(events))
    }

    /// All events, sorted by time.
    pub fn as_slice(&self) -> &[Event] {
        &self.0
    }

    /// The events that `passage` crossed, in the order met, each as often as it was crossed.
    ///
    /// A loop's last moment and its first are one: events at either are met once a turn, the end's before the start's.
    /// A clip that starts at its first moment meets the events there, but not the end's of a turn it did not play. In
    /// ping-pong the events at the turning points are met once a turn, the others on the way there and on the way back.
    /// Where a clip is held nothing is met again.
    ///
    /// Lazy and without allocation, O(log events) a turn and O(1) an event: whoever makes steps of a thousand million
    /// turns may stop early.
    pub fn crossed<'a>(&'a self, passage: &Passage) -> impl Iterator<Item = Crossed<'a>> + use<'a> {
        let stretch = Stretch::new(passage);
        let inside = self
            .0
            .partition_point(|event| event.time <= passage.duration);
        let events = &self.0[..inside];
        let is_any = !events.is_empty() && !passage.is_empty();
        let legs = if is_any { stretch.legs() } else { 0..0 };
        let count = legs.end.saturating_sub(legs.start).max(0);
        (0..count)
            .map(move |n| {
                if stretch.backward {
                    legs.end - 1 - n
                } else {
                    legs.start + n
                }
            })
            .flat_map(move |leg| stretch.indices(leg, events).map(move |index| (leg, index)))
            .map(move |(leg, index)| Crossed {
                event: &events[index],
                index,
                at: stretch.unwrapped(leg, &events[index]),
                backward: stretch.backward,
            })
    }
}

impl TryFrom<Vec<Event>> for Events {
    type Error = SkeletonError;

    fn try_from(events: Vec<Event>) -> Result<Self, SkeletonError> {
        Self::new(events)
    }
}

impl From<Events> for Vec<Event> {
    fn from(events: Events) -> Self {
        events.0
    }
}

/// A passage as moments, the earlier first.
#[derive(Clone, Copy)]
struct Stretch {
    first: Moment,
    last: Moment,
    includes_first: bool,
    includes_last: bool,
    backward: bool,
    /// The passage's, or none for a clip without length.
    wrap: Wrap,
    passage: Passage,
}

impl Stretch {
    fn new(passage: &Passage) -> Self {
        let moment = |time| Moment::at(time, passage.duration, passage.wrap);
        let (from, to) = (moment(passage.from), moment(passage.to));
        let backward = passage.is_backward();
        let (first, last) = if backward { (to, from) } else { (from, to) };
        Self {
            first,
            last,
            includes_first: backward || passage.includes_from,
            includes_last: !backward || passage.includes_from,
            backward,
            wrap: if passage.duration > 0.0 {
                passage.wrap
            } else {
                Wrap::Clamp
            },
            passage: *passage,
        }
    }

    /// The runs over the clip that may have events in the passage.
    fn legs(&self) -> Range<i64> {
        // The end of the run before is the same moment. A loop that starts there has not played that run.
        let starts_a_loop = self.wrap == Wrap::Loop && !self.backward;
        let before = i64::from(self.wrap != Wrap::Clamp && !starts_a_loop);
        self.first.leg.saturating_sub(before)..self.last.leg.saturating_add(1)
    }

    /// The events of one run that are in the passage, in the order met.
    fn indices(&self, leg: i64, events: &[Event]) -> impl Iterator<Item = usize> + use<> {
        let too_early = |event: &Event| {
            let moment = self.moment(leg, event);
            moment < self.first || (moment == self.first && !self.includes_first)
        };
        let too_late = |event: &Event| {
            let moment = self.moment(leg, event);
            moment > self.last || (moment == self.last && !self.includes_last)
        };
        let returns = self.returns(leg);
        let (start, end) = if returns {
            // The turning points belong to the way there.
            let start = events.partition_point(|event| event.time <= 0.0 || too_late(event));
            let end = events
                .partition_point(|event| event.time < self.passage.duration && !too_early(event));
            (start, end)
        } else {
            (
                events.partition_point(too_early),
                events.partition_point(|event| !too_late(event)),
            )
        };
        let descending = returns != self.backward;
        (0..end.saturating_sub(start))
            .map(move |n| if descending { end - 1 - n } else { start + n })
    }

    /// When a run meets an event; what comes at the run's end comes at the beginning of the next.
    fn moment(&self, leg: i64, event: &Event) -> Moment {
        let since = self.since(leg, event);
        if self.wrap != Wrap::Clamp && since >= f64::from(self.passage.duration) {
            return Moment {
                leg: leg.saturating_add(1),
                since: 0.0,
            };
        }
        Moment { leg, since }
    }

    fn since(&self, leg: i64, event: &Event) -> f64 {
        if self.returns(leg) {
            f64::from(self.passage.duration) - f64::from(event.time)
        } else {
            f64::from(event.time)
        }
    }

    fn returns(&self, leg: i64) -> bool {
        self.wrap == Wrap::PingPong && leg & 1 == 1
    }

    fn unwrapped(&self, leg: i64, event: &Event) -> f64 {
        let at = leg as f64 * f64::from(self.passage.duration) + self.since(leg, event);
        let Passage { from, to, .. } = self.passage;
        // Rounding may carry it past the ends.
        at.clamp(from.min(to), from.max(to))
    }
}
