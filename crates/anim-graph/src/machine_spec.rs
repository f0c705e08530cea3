//! State machines as data: states, the transitions between them and the conditions that fire them.
//!
//! Each frame a machine tests the transitions that leave its state in the order they are listed, the first that holds
//! fires, and one a frame at most. So order is priority.

use anim_curves::Easing;
use serde::{Deserialize, Serialize};

use crate::spec::SyncBy;

/// One of several states, and the ways between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineSpec {
    /// Name of the state it starts in.
    pub initial: String,
    /// Names are unique within the machine.
    pub states: Vec<StateSpec>,
    /// In order of priority, highest first.
    #[serde(default)]
    pub transitions: Vec<TransitionSpec>,
}

/// A state of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateSpec {
    /// Unique within the machine.
    pub name: String,
    /// The node that plays while the machine is in this state; it starts over each time the state is entered.
    pub node: String,
}

/// A way from one state to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransitionSpec {
    /// The state it leaves; absent: any but `to`.
    #[serde(default)]
    pub from: Option<String>,
    /// The state it enters; the same as `from` starts that state over.
    pub to: String,
    /// When it fires.
    pub when: Condition,
    /// Seconds; 0 switches at once.
    #[serde(default = "default_duration")]
    pub duration: f32,
    /// How the weight of the new state grows; clamped to [0, 1].
    #[serde(default)]
    pub easing: Easing,
    /// What becomes of the old state.
    #[serde(default)]
    pub kind: TransitionKind,
    /// Where the new state starts.
    #[serde(default)]
    pub start: Start,
    /// Keeps the clips of both states in step while both play; for live crossfades.
    #[serde(default)]
    pub sync: Option<SyncBy>,
    /// Which others may fire before it is over.
    #[serde(default)]
    pub interrupt: Interrupt,
}

impl TransitionSpec {
    /// A live crossfade of 0.2 s.
    pub fn new(from: impl Into<String>, to: impl Into<String>, when: Condition) -> Self {
        Self {
            from: Some(from.into()),
            to: to.into(),
            when,
            duration: default_duration(),
            easing: Easing::Linear,
            kind: TransitionKind::Crossfade,
            start: Start::Beginning,
            sync: None,
            interrupt: Interrupt::Any,
        }
    }
}

/// What becomes of the old state during a transition.
///
/// Whatever the kind, a transition that interrupts another one starts from the pose that was shown last, so that nothing
/// pops: a crossfade is frozen then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransitionKind {
    /// Plays on while it fades out.
    #[default]
    Crossfade,
    /// Fades out from the pose that was shown last.
    Frozen,
    /// Stops at once; the difference to the new state, and its speed, decay ([`anim_skeleton::Inertialization`]).
    Inertialize,
    /// Goes on at the speed it had, ever slower, while it fades out ([`anim_skeleton::DeadBlend`]).
    DeadBlend,
}

/// Where a state starts that is being entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// From its clips' own starts, machines in their initial states.
    #[default]
    Beginning,
    /// As [`Start::Beginning`], with its clips at this time, s.
    Time(f32),
    /// As [`Start::Beginning`], with its clips at this fraction of their durations.
    Phase(f32),
    /// As [`Start::Beginning`], with its clips at the fraction of their durations that the old state's heaviest clip is at.
    KeepPhase,
    /// Where it was when it last played.
    Resume,
}

/// Which transitions may fire before another one is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interrupt {
    /// All that leave the new state.
    #[default]
    Any,
    /// Those that leave the new state and are listed before it.
    Higher,
    /// None.
    Never,
}

/// When a transition fires.
///
/// ```
/// use anim_graph::{Comparison, Condition};
///
/// let json = r#"{ "all": [{ "compare": ["speed", ">", 0.1] }, { "not": { "bool": "crouching" } }, { "after": 0.5 }] }"#;
/// let condition: Condition = serde_json::from_str(json)?;
/// let fast = Condition::Compare("speed".into(), Comparison::Greater, 0.1);
/// assert!(matches!(condition, Condition::All(all) if all[0] == fast));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// A float parameter against a number.
    Compare(String, Comparison, f32),
    /// A bool parameter that is true.
    Bool(String),
    /// A choice parameter that is this word.
    Is(String, String),
    /// A trigger that is set; the transition that fires takes it.
    Trigger(String),
    /// The state has played to its end, or a whole turn if it loops.
    Finished,
    /// Seconds since the state was entered.
    After(f32),
    /// Durations that the state's heaviest clip has played, counting from its beginning; above 1 in later turns.
    Phase(f32),
    /// The state met an event of this name in the last frame.
    Event(String),
    /// Every one of them; none is true.
    All(Vec<Condition>),
    /// At least one of them.
    Any(Vec<Condition>),
    /// The opposite; triggers in it are not taken.
    Not(Box<Condition>),
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparison {
    /// <
    #[serde(rename = "<")]
    Less,
    /// ≤
    #[serde(rename = "<=")]
    LessOrEqual,
    /// >
    #[serde(rename = ">")]
    Greater,
    /// ≥
    #[serde(rename = ">=")]
    GreaterOrEqual,
}

impl Comparison {
    /// True if it holds from `left` to `right`; never with NaN.
    pub fn holds(self, left: f32, right: f32) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }
}

fn default_duration() -> f32 {
    0.2
}
