//! Graphs as layers: an animation graph plays a character, steered by parameters.
//!
//! [`Character::graph`] makes a graph of the character's own clips, with their events, markers and root motion. An actor
//! that plays it reports its events, travels by its root motion, and gets morph weights from the clips that it plays.
//!
//! ```
//! use std::sync::Arc;
//! use anim_engine::graph::{ClipNode, GraphSpec, NodeEntry, NodeSpec};
//! use anim_engine::{Character, Config, Engine, asset};
//!
//! let character = Character::from_document(&asset::builtin::humanoid(), &Default::default())?;
//! let node = NodeSpec::Clip(ClipNode::new("walk"));
//! let spec = GraphSpec {
//!     nodes: vec![NodeEntry { name: "walk".to_owned(), node }],
//!     root: "walk".to_owned(),
//!     ..GraphSpec::default()
//! };
//! let graph = character.graph(&spec)?; // shared by all who play it
//! let mut engine = Engine::new(Config::default())?;
//! let id = engine.spawn(Arc::new(character));
//! engine.actor_mut(id).ok_or("gone")?.play_graph(graph);
//! engine.step(1.0 / 60.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use anim_graph::{
    ClipLibrary, Graph, GraphSpec, GraphState, LibraryClip, LibraryMirror, ParameterValue,
    Parameters,
};
use anim_math::Vec3;
use anim_skeleton::{Mirror, SideNames};

use crate::layer::LayerSource;
use crate::{Actor, ActorLayer, Character, EngineError};

/// A graph, and one character's place in it.
#[derive(Clone, Debug)]
pub struct GraphPlayer {
    /// Its clocks and parameters.
    pub state: GraphState,
    graph: Arc<Graph>,
}

impl GraphPlayer {
    /// At the beginning of a graph.
    pub fn new(graph: Arc<Graph>) -> Self {
        let state = GraphState::new(&graph);
        Self { state, graph }
    }

    /// What it plays.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Moves the clocks on by `dt` seconds.
    pub(crate) fn advance(&mut self, dt: f32) {
        self.state.advance(&self.graph, dt);
    }

    /// Makes the pose of where the clocks are.
    pub(crate) fn evaluate(&mut self) {
        self.state.evaluate(&self.graph);
    }
}

impl Character {
    /// Makes a graph of the character's clips, by name: of several that share one the first.
    ///
    /// Mirror nodes mirror in the plane x = 0, if the names of the joints tell left from right.
    ///
    /// # Errors
    ///
    /// [`EngineError::Graph`] with everything that is wrong.
    pub fn graph(&self, spec: &GraphSpec) -> Result<Arc<Graph>, EngineError> {
        let clips = self.clips.iter().enumerate().map(|(index, clip)| {
            let is_named = |other: &&crate::CharacterClip| other.name == clip.name;
            let is_first = self.clips.iter().take(index).find(is_named).is_none();
            LibraryClip {
                name: match &clip.name {
                    Some(name) if is_first => name.clone(),
                    // Graphs know clips by name alone, and by their places here.
                    name => format!("{}#{index}", name.as_deref().unwrap_or_default()),
                },
                clip: Arc::clone(&clip.clip),
                events: clip.events.clone(),
                markers: clip.markers.clone(),
                motion: clip.motion.clone(),
            }
        });
        let pairs = self.skeleton.side_pairs(&SideNames::common());
        let mirror = match pairs.is_empty() {
            true => None,
            false => Mirror::new(&self.skeleton, &pairs, Vec3::x()).ok(),
        };
        let library = ClipLibrary {
            clips: clips.collect(),
            mirror: mirror.map(|mirror| LibraryMirror {
                mirror,
                plane_normal: Vec3::x(),
            }),
        };
        Ok(Arc::new(Graph::new(spec, &self.skeleton, &library)?))
    }
}

impl Actor {
    /// Plays a graph, made by [`Character::graph`] of the actor's own character, alone and from its beginning.
    pub fn play_graph(&mut self, graph: Arc<Graph>) {
        self.layers.clear();
        let player = Box::new(GraphPlayer::new(graph));
        self.layers
            .push(ActorLayer::new(LayerSource::Graph(player)));
    }

    /// The graph of the first layer that plays one.
    pub fn graph(&self) -> Option<&GraphPlayer> {
        self.layers.iter().find_map(|layer| match &layer.source {
            LayerSource::Graph(player) => Some(&**player),
            _ => None,
        })
    }

    /// The parameters of that graph.
    pub fn parameters_mut(&mut self) -> Option<&mut Parameters> {
        let mut layers = self.layers.iter_mut();
        layers.find_map(|layer| match &mut layer.source {
            LayerSource::Graph(player) => Some(&mut player.state.parameters),
            _ => None,
        })
    }

    /// Sets a parameter of that graph: a float, a bool or a choice.
    ///
    /// # Errors
    ///
    /// [`EngineError::Graph`] if there is no such parameter or it is of another kind, [`EngineError::Unknown`] without a
    /// graph.
    pub fn set<'a>(
        &mut self,
        parameter: &str,
        value: impl Into<ParameterValue<'a>>,
    ) -> Result<(), EngineError> {
        let parameters = self.parameters_of(parameter)?;
        Ok(parameters.set(parameter, value)?)
    }

    /// Fires a trigger of that graph.
    ///
    /// # Errors
    ///
    /// As [`set`](Self::set).
    pub fn fire(&mut self, trigger: &str) -> Result<(), EngineError> {
        Ok(self.parameters_of(trigger)?.fire(trigger)?)
    }

    fn parameters_of(&mut self, name: &str) -> Result<&mut Parameters, EngineError> {
        let unknown = || EngineError::unknown("parameter", name, std::iter::empty());
        self.parameters_mut().ok_or_else(unknown)
    }
}
