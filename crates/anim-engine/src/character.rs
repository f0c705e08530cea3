//! The model of a character: skeleton, clips and surfaces, shared by all its actors.

use std::ops::Range;

use anim_curves::WideTrack;
use anim_skeleton::{BakeReport, Clip, JointId, Skeleton};
use anim_skin::SkinnedMesh;

use crate::{Cloth, EngineError};

/// What many actors share; immutable once built.
#[derive(Debug)]
pub struct Character {
    pub(crate) skeleton: Skeleton,
    pub(crate) clips: Vec<CharacterClip>,
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) cloths: Vec<Cloth>,
    pub(crate) rest_weights: Vec<f32>,
}

/// A clip made ready for a character.
#[derive(Debug)]
pub struct CharacterClip {
    /// Optional, and need not be unique.
    pub name: Option<String>,
    /// Joint motion, baked.
    pub clip: Clip,
    /// Morph weight curves, each with the weights that it drives.
    pub morphs: Vec<(Range<usize>, WideTrack)>,
    /// How exact the baked motion is.
    pub report: BakeReport,
}

/// One drawable part: a skinned mesh, or a rigid one as a mesh with a single joint.
#[derive(Debug)]
pub struct Surface {
    /// The joint of the node that carries the mesh.
    pub joint: JointId,
    /// Index of the node and place of the primitive in its mesh.
    pub source: (usize, usize),
    /// The name of the node.
    pub name: Option<String>,
    /// Vertices, triangles, weights and morph targets.
    pub mesh: SkinnedMesh,
    /// Its places in [`Actor::morph_weights`](crate::Actor::morph_weights); primitives of one mesh share them.
    pub weights: Range<usize>,
    /// Linear RGB.
    pub color: [f32; 3],
}

impl Character {
    /// All joints.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// All clips, in file order.
    pub fn clips(&self) -> &[CharacterClip] {
        &self.clips
    }

    /// All surfaces, in node order.
    pub fn surfaces(&self) -> &[Surface] {
        &self.surfaces
    }

    /// Surfaces that are simulated.
    pub fn cloths(&self) -> &[Cloth] {
        &self.cloths
    }

    /// Morph weights at rest, of all surfaces.
    pub fn rest_weights(&self) -> &[f32] {
        &self.rest_weights
    }

    /// The place of the first clip of that name.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`] lists the clips there are.
    pub fn clip_named(&self, name: &str) -> Result<usize, EngineError> {
        let names = || {
            self.clips
                .iter()
                .map(|clip| clip.name.as_deref().unwrap_or(""))
        };
        names()
            .position(|n| n == name)
            .ok_or_else(|| EngineError::unknown("clip", name, names()))
    }

    /// The first joint of that name.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`] lists the joints there are.
    pub fn joint_named(&self, name: &str) -> Result<JointId, EngineError> {
        self.skeleton.find(name).ok_or_else(|| {
            let names = self
                .skeleton
                .joints()
                .filter_map(|joint| self.skeleton.name(joint));
            EngineError::unknown("joint", name, names)
        })
    }
}
