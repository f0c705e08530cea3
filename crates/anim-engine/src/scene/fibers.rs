//! Muscle in the soft bodies of a scene: fibres that pull as a muscle of a character is active.

use anim_geom::TetMesh;
use anim_math::Vec3;
use anim_sim::element::Fiber;
use serde::{Deserialize, Serialize};

use super::check::{inside, refusal};
use crate::body::BodyMuscle;
use crate::{ActorId, Engine, EngineError};

/// Fibres in a soft body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FiberUse {
    /// Along the fibres at rest, seen from the body; of any length but none.
    pub direction: Vec3,
    /// Stress at full activation and optimal length, Pa.
    pub max_stress: f32,
    /// Whose activation they have.
    pub muscle: MusclePlace,
    /// The box, seen from the body, that the middles of their tetrahedra are in: low corner, high corner, m; the whole body
    /// if left out.
    #[serde(default)]
    pub within: Option<[Vec3; 2]>,
}

/// A muscle of a character.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MusclePlace {
    /// The place of the character.
    pub character: usize,
    /// Its name.
    pub muscle: String,
}

/// The fibres of a body; each use is a muscle of its model.
pub(super) fn fibers_of(
    uses: &[FiberUse],
    mesh: &TetMesh,
    place: &str,
) -> Result<Vec<Fiber>, EngineError> {
    let mut fibers = Vec::new();
    for (muscle, part) in uses.iter().enumerate() {
        let place = format!("{place}/{muscle}");
        let direction = part.direction.try_normalize(1e-6);
        let direction = direction.filter(|d| d.iter().all(|c| c.is_finite()));
        let direction = direction
            .ok_or_else(|| refusal(&format!("{place}/direction"), "has no length".to_owned()))?;
        let first = fibers.len();
        for (tet, corners) in (0..).zip(&mesh.tets) {
            let corners = corners.map(|v| mesh.positions[v as usize]);
            let middle = corners.iter().sum::<Vec3>() * 0.25;
            if part.within.is_none_or(|bounds| inside(&bounds, &middle)) {
                fibers.push(Fiber {
                    tet,
                    direction,
                    muscle: muscle as u32,
                    max_stress: part.max_stress,
                });
            }
        }
        if fibers.len() == first {
            let message = "holds no tetrahedron".to_owned();
            return Err(refusal(&format!("{place}/within"), message));
        }
    }
    Ok(fibers)
}

/// The muscles that drive the fibres.
pub(super) fn muscles_of(
    uses: &[FiberUse],
    engine: &Engine,
    actors: &[ActorId],
    place: &str,
) -> Result<Vec<BodyMuscle>, EngineError> {
    let muscle_of = |(index, part): (usize, &FiberUse)| {
        let place = format!("{place}/{index}/muscle");
        let MusclePlace { character, muscle } = &part.muscle;
        let (actor, id) = actors
            .get(*character)
            .and_then(|id| Some((engine.actor(*id)?, *id)))
            .ok_or_else(|| {
                let message = format!("character {character} does not exist");
                refusal(&format!("{place}/character"), message)
            })?;
        let mut names = actor.character().muscles().iter().map(|m| &m.name);
        let muscle = names.position(|name| name == muscle).ok_or_else(|| {
            let message = format!("no muscle is named '{muscle}'");
            refusal(&format!("{place}/muscle"), message)
        })?;
        Ok(BodyMuscle { actor: id, muscle })
    };
    uses.iter().enumerate().map(muscle_of).collect()
}
