//! Why a character, a scene or an engine cannot be built.

use thiserror::Error;

/// What is wrong, and with which part.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The joints do not make a skeleton, or a clip does not fit it.
    #[error(transparent)]
    Skeleton(#[from] anim_skeleton::SkeletonError),
    /// A surface cannot be skinned.
    #[error("node {node}, primitive {primitive}: {source}")]
    Skin {
        /// Node that carries the mesh.
        node: usize,
        /// Place of the primitive in the mesh.
        primitive: usize,
        /// What is wrong.
        source: anim_skin::SkinError,
    },
    /// A surface is to be changed that the character lacks.
    #[error("surface {surface} of {count} does not exist")]
    NoSurface {
        /// The place asked for.
        surface: usize,
        /// Surfaces of the character.
        count: usize,
    },
    /// A solver does not fit the skeleton.
    #[error(transparent)]
    Ik(#[from] anim_ik::IkError),
    /// A cloth cannot be simulated.
    #[error(transparent)]
    Sim(#[from] anim_sim::SimError),
    /// An effect's parameters are out of range.
    #[error(transparent)]
    Particles(#[from] anim_particles::ParticleError),
    /// Ground or collider geometry is wrong.
    #[error(transparent)]
    Geom(#[from] anim_geom::GeomError),
    /// A file cannot be used.
    #[cfg(feature = "asset")]
    #[error("{file}: {source}")]
    Asset {
        /// Which file.
        file: String,
        /// What is wrong, and where.
        source: anim_asset::AssetError,
    },
    /// Nothing has that name.
    #[error("no {kind} named '{name}'; there are: {known}")]
    Unknown {
        /// What was looked for: a clip, joint, mesh, target…
        kind: &'static str,
        /// The name.
        name: String,
        /// What there is, comma separated.
        known: String,
    },
    /// A number of a scene is out of range.
    #[error("{place}: {message}")]
    Scene {
        /// Path of the field.
        place: String,
        /// What is wrong with it.
        message: String,
    },
    /// Nodes share a mesh so often that the surfaces would fill the memory.
    #[error(
        "node {node}: the meshes of the nodes up to here come to {vertices} vertices, more than {max}"
    )]
    TooManyVertices {
        /// The node that goes beyond the limit.
        node: usize,
        /// Vertices of all surfaces up to it.
        vertices: usize,
        /// The limit: two million more than the file itself holds.
        max: usize,
    },
    /// A scene's actor has more than [`MAX_LAYERS`](crate::MAX_LAYERS) layers.
    #[error("more than {max} layers")]
    TooManyLayers {
        /// The limit.
        max: usize,
    },
    /// The threads could not be started.
    #[error("thread pool: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A graph is not valid, or has no such parameter.
    #[error(transparent)]
    Graph(#[from] anim_graph::GraphError),
    /// Drivers do not fit the skeleton.
    #[error(transparent)]
    Driver(#[from] anim_skeleton::DriverError),
    /// Root motion is to be taken out of other clips than the character has.
    #[error("{given} clips for a character that has {has}")]
    OtherClips {
        /// Clips given.
        given: usize,
        /// Clips of the character.
        has: usize,
    },
    /// A socket cannot be added.
    #[error("socket '{name}' {problem}")]
    Socket {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An actor cannot hang on another.
    #[error("cannot attach: {problem}")]
    Attachment {
        /// Why not.
        problem: &'static str,
    },
}

impl EngineError {
    /// An [`Unknown`](Self::Unknown) that lists what there is.
    pub(crate) fn unknown<'a>(
        kind: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self::Unknown {
            kind,
            name: name.to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
        }
    }
}
