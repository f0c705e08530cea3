//! Parameters: the named, typed inputs that steer a graph.
//!
//! Set them by name, or look a name up once and keep the [`ParameterId`]. A value of the wrong kind is an error that
//! names the parameter; a float outside its range is clamped; NaN and infinity are refused.
//!
//! ```
//! # use std::sync::Arc;
//! # use anim_graph::{ClipLibrary, Graph, GraphSpec, GraphState};
//! # use anim_skeleton::Skeleton;
//! # let spec: GraphSpec = serde_json::from_str(r#"{
//! #   "parameters": [
//! #     { "name": "speed", "float": { "range": [0, 5] } },
//! #     { "name": "stance", "choice": { "options": ["stand", "crouch"] } },
//! #     { "name": "jump", "trigger": {} }
//! #   ],
//! #   "nodes": [{ "name": "rest", "rest": {} }], "root": "rest" }"#)?;
//! # let graph = Graph::new(&spec, &Skeleton::new(vec![])?, &ClipLibrary::default())?;
//! # let mut state = GraphState::new(&graph);
//! let speed = graph.parameter("speed").unwrap(); // once
//! state.parameters.set(speed, 9.0)?;
//! state.parameters.set("stance", "crouch")?;
//! state.parameters.fire("jump")?;
//! assert_eq!(state.parameters.float(speed), 5.0);
//! assert_eq!(
//!     state.parameters.set("speed", true).unwrap_err().to_string(),
//!     "parameter 'speed' is a float, not a bool"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use crate::spec::{ParameterKind, ParameterSpec};
use crate::{Comparison, GraphError};

/// A parameter of one graph, looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParameterId(pub(crate) usize);

/// What a parameter can be set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterValue<'a> {
    /// For a float.
    Float(f32),
    /// For a bool, or to set and reset a trigger.
    Bool(bool),
    /// For a choice.
    Choice(&'a str),
}

impl From<f32> for ParameterValue<'_> {
    fn from(value: f32) -> Self {
        Self::Float(value)
    }
}

impl From<bool> for ParameterValue<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl<'a> From<&'a str> for ParameterValue<'a> {
    fn from(value: &'a str) -> Self {
        Self::Choice(value)
    }
}

/// What finds a parameter: its name, or its [`ParameterId`].
pub trait ParameterKey {
    /// The parameter among `parameters`.
    ///
    /// # Errors
    ///
    /// [`GraphError::Unknown`].
    fn find(self, parameters: &Parameters) -> Result<ParameterId, GraphError>;
}

impl ParameterKey for ParameterId {
    fn find(self, _: &Parameters) -> Result<ParameterId, GraphError> {
        Ok(self)
    }
}

impl ParameterKey for &str {
    fn find(self, parameters: &Parameters) -> Result<ParameterId, GraphError> {
        let table = &parameters.table;
        table.find(self).ok_or_else(|| {
            let known = table.0.iter().map(|spec| spec.name.as_str());
            GraphError::unknown("parameter", self, known)
        })
    }
}

/// Which parameters a graph has; shared by all of its states.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ParameterTable(pub(crate) Vec<ParameterSpec>);

impl ParameterTable {
    pub(crate) fn find(&self, name: &str) -> Option<ParameterId> {
        let place = self.0.iter().position(|spec| spec.name == name)?;
        Some(ParameterId(place))
    }
}

/// The values of a graph's parameters for one character.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    table: Arc<ParameterTable>,
    values: Vec<Held>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    Float(f32),
    Bool(bool),
    Choice(usize),
    /// Seconds until it is forgotten; 0 while it is not set.
    Trigger(f32),
}

impl Parameters {
    pub(crate) fn new(table: &Arc<ParameterTable>) -> Self {
        let start = |spec: &ParameterSpec| match &spec.kind {
            ParameterKind::Float { default, range } => Held::Float(clamp(*default, *range)),
            ParameterKind::Bool { default } => Held::Bool(*default),
            ParameterKind::Choice { options, default } => {
                let is_default = |option: &String| Some(option) == default.as_ref();
                Held::Choice(options.iter().position(is_default).unwrap_or(0))
            }
            ParameterKind::Trigger { .. } => Held::Trigger(0.0),
        };
        Self {
            values: table.0.iter().map(start).collect(),
            table: table.clone(),
        }
    }

    /// The parameters in the order of the graph, those of inner graphs that are not bound last.
    pub fn specs(&self) -> &[ParameterSpec] {
        &self.table.0
    }

    /// Sets a parameter; a bool sets or resets a trigger.
    ///
    /// # Errors
    ///
    /// [`GraphError::Unknown`] parameter or option, [`GraphError::WrongKind`], [`GraphError::ValueNotFinite`]; the value
    /// stays as it was.
    ///
    /// # Panics
    ///
    /// If a [`ParameterId`] is of a graph with more parameters.
    pub fn set<'a>(
        &mut self,
        key: impl ParameterKey,
        value: impl Into<ParameterValue<'a>>,
    ) -> Result<(), GraphError> {
        let id = key.find(self)?.0;
        let spec = &self.table.0[id];
        let value = value.into();
        self.values[id] = match (&spec.kind, value) {
            (ParameterKind::Float { .. }, ParameterValue::Float(value)) if !value.is_finite() => {
                let name = spec.name.clone();
                return Err(GraphError::ValueNotFinite { name, value });
            }
            (ParameterKind::Float { range, .. }, ParameterValue::Float(value)) => {
                Held::Float(clamp(value, *range))
            }
            (ParameterKind::Bool { .. }, ParameterValue::Bool(value)) => Held::Bool(value),
            (ParameterKind::Choice { options, .. }, ParameterValue::Choice(value)) => {
                match options.iter().position(|option| option == value) {
                    Some(option) => Held::Choice(option),
                    None => {
                        let known = options.iter().map(String::as_str);
                        return Err(GraphError::unknown("option", value, known));
                    }
                }
            }
            (ParameterKind::Trigger { forget_after }, ParameterValue::Bool(value)) => {
                let patience = forget_after.unwrap_or(f32::INFINITY);
                Held::Trigger(if value { patience } else { 0.0 })
            }
            (kind, value) => {
                return Err(GraphError::WrongKind {
                    name: spec.name.clone(),
                    is: kind.name(),
                    wanted: match value {
                        ParameterValue::Float(_) => "float",
                        ParameterValue::Bool(_) => "bool",
                        ParameterValue::Choice(_) => "choice",
                    },
                });
            }
        };
        Ok(())
    }

    /// Sets a trigger, which the next transition that waits for it takes.
    ///
    /// # Errors
    ///
    /// [`GraphError::Unknown`] and [`GraphError::WrongKind`].
    ///
    /// # Panics
    ///
    /// If a [`ParameterId`] is of a graph with more parameters.
    pub fn fire(&mut self, key: impl ParameterKey) -> Result<(), GraphError> {
        let id = key.find(self)?;
        let spec = &self.table.0[id.0];
        match spec.kind {
            ParameterKind::Trigger { .. } => self.set(id, true),
            _ => Err(GraphError::WrongKind {
                name: spec.name.clone(),
                is: spec.kind.name(),
                wanted: "trigger",
            }),
        }
    }

    /// A float's value; 0 if the parameter is of another kind or does not exist.
    pub fn float(&self, key: impl ParameterKey) -> f32 {
        match self.held(key) {
            Some(Held::Float(value)) => value,
            _ => 0.0,
        }
    }

    /// True if a bool is true or a trigger is set; false for other kinds and without such a parameter.
    pub fn is_set(&self, key: impl ParameterKey) -> bool {
        match self.held(key) {
            Some(Held::Bool(value)) => value,
            Some(Held::Trigger(left)) => left > 0.0,
            _ => false,
        }
    }

    /// The word a choice is; empty for other kinds and without such a parameter.
    pub fn choice(&self, key: impl ParameterKey) -> &str {
        let Ok(id) = key.find(self) else { return "" };
        let kind = self.table.0.get(id.0).map(|spec| &spec.kind);
        match (self.values.get(id.0), kind) {
            (Some(Held::Choice(option)), Some(ParameterKind::Choice { options, .. })) => {
                &options[*option]
            }
            _ => "",
        }
    }

    fn held(&self, key: impl ParameterKey) -> Option<Held> {
        let id = key.find(self).ok()?;
        self.values.get(id.0).copied()
    }

    pub(crate) fn compare(&self, id: ParameterId, comparison: Comparison, value: f32) -> bool {
        comparison.holds(self.float(id), value)
    }

    pub(crate) fn is_option(&self, id: ParameterId, option: usize) -> bool {
        self.values[id.0] == Held::Choice(option)
    }

    /// Resets a trigger.
    pub(crate) fn take(&mut self, id: ParameterId) {
        if let Held::Trigger(left) = &mut self.values[id.0] {
            *left = 0.0;
        }
    }

    /// Lets triggers grow old by `dt` seconds.
    pub(crate) fn age(&mut self, dt: f32) {
        for value in &mut self.values {
            if let Held::Trigger(left) = value {
                *left = (*left - dt).max(0.0);
            }
        }
    }
}

impl ParameterKind {
    /// As errors call it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Float { .. } => "float",
            Self::Bool { .. } => "bool",
            Self::Choice { .. } => "choice",
            Self::Trigger { .. } => "trigger",
        }
    }
}

fn clamp(value: f32, range: Option<[f32; 2]>) -> f32 {
    match range {
        Some([low, high]) => value.max(low).min(high),
        None => value,
    }
}
