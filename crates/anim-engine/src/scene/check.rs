//! The ranges of a scene file's numbers: generous, but none that a body, a memory or an hour could not hold.

use anim_math::Vec3;
use anim_sim::cloth::ClothSpec;

use super::grown::check_hair;
use super::spec::{CapsuleSpec, CharacterSpec, ClothUse, GoalSpec, ParticlesSpec, PinSpec};
use super::{BodyKind, BodySpec, GroundSpec, ObstacleShape, ObstacleSpec, SceneSpec, SolidShape};
use crate::{EngineError, MAX_LAYERS};

/// Lengths, speeds and accelerations beyond which single precision says nothing of a character.
const FAR: f32 = 1e6;
/// Particles a second or a step.
const MOST_PARTICLES: f32 = 1e6;
/// Solver steps of a cloth in one simulation step.
const MOST_SUBSTEPS: f32 = 1000.0;

/// Refuses the first number out of its range.
pub(super) fn check(spec: &SceneSpec) -> Result<(), EngineError> {
    if spec.schema != "anim.scene/1" {
        let message = format!("'{}' is not anim.scene/1", spec.schema);
        return Err(refusal("/schema", message));
    }
    range("/duration", spec.duration, 0.0, FAR)?;
    if spec.fps <= 0.0 {
        return Err(refusal("/fps", format!("{} is not positive", spec.fps)));
    }
    range("/fps", spec.fps, 0.0, 1000.0)?;
    vector("/gravity", spec.gravity)?;
    vector("/wind", spec.wind)?;
    if let Some(gusts) = &spec.gusts {
        range("/gusts/speed", gusts.speed, 0.0, FAR)?;
        range("/gusts/period", gusts.period, 1e-3, FAR)?;
    }
    range("/camera/yaw_deg", spec.camera.yaw_deg, -FAR, FAR)?;
    range("/camera/pitch_deg", spec.camera.pitch_deg, -FAR, FAR)?;
    if let Some(spec) = &spec.ground {
        ground(spec)?;
    }
    for (index, part) in spec.characters.iter().enumerate() {
        character(&format!("/characters/{index}"), part)?;
    }
    for (index, part) in spec.obstacles.iter().enumerate() {
        obstacle(&format!("/obstacles/{index}"), part)?;
    }
    for (index, part) in spec.bodies.iter().enumerate() {
        body(&format!("/bodies/{index}"), part)?;
    }
    for (index, part) in spec.particles.iter().enumerate() {
        particles(&format!("/particles/{index}"), part)?;
    }
    Ok(())
}

/// True if a point is in a box, given by its low and its high corner.
pub(super) fn inside([low, high]: &[Vec3; 2], point: &Vec3) -> bool {
    (0..3).all(|i| (low[i]..=high[i]).contains(&point[i]))
}

/// The same error with the place in the scene that it comes from; a place that is not a pointer yet is below it.
pub(super) fn placed(place: impl Into<String>) -> impl FnOnce(EngineError) -> EngineError {
    let place = place.into();
    move |error| match error {
        EngineError::Asset { .. } => error,
        EngineError::Scene { place: at, message } if at.starts_with('/') => refusal(&at, message),
        EngineError::Scene { place: at, message } => refusal(&format!("{place}/{at}"), message),
        other => refusal(&place, other.to_string()),
    }
}

/// A field that cannot be used.
pub(super) fn refusal(place: &str, message: String) -> EngineError {
    EngineError::Scene {
        place: place.to_owned(),
        message,
    }
}

pub(super) fn range(place: &str, value: f32, min: f32, max: f32) -> Result<(), EngineError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(refusal(place, format!("{value} is not in [{min}, {max}]")))
}

pub(super) fn vector(place: &str, v: Vec3) -> Result<(), EngineError> {
    let mut parts = v.iter().enumerate();
    parts.try_for_each(|(axis, part)| range(&format!("{place}/{axis}"), *part, -FAR, FAR))
}

fn ground(spec: &GroundSpec) -> Result<(), EngineError> {
    match spec {
        GroundSpec::Plane { friction } => range("/ground/plane/friction", *friction, 0.0, FAR),
        GroundSpec::Waves {
            amplitude,
            wavelength,
            half_width,
            length: [from, to],
            friction,
        } => {
            range("/ground/waves/amplitude", *amplitude, -1000.0, 1000.0)?;
            range("/ground/waves/wavelength", *wavelength, 0.001, FAR)?;
            range("/ground/waves/half_width", *half_width, 0.001, FAR)?;
            range("/ground/waves/length/0", *from, -FAR, FAR)?;
            range("/ground/waves/length/1", *to, from + 0.001, FAR)?;
            range("/ground/waves/friction", *friction, 0.0, FAR)
        }
    }
}

fn character(place: &str, part: &CharacterSpec) -> Result<(), EngineError> {
    vector(&format!("{place}/position"), part.position)?;
    range(&format!("{place}/yaw_deg"), part.yaw_deg, -FAR, FAR)?;
    if part.clips.len() > MAX_LAYERS {
        let message = EngineError::TooManyLayers { max: MAX_LAYERS }.to_string();
        return Err(refusal(&format!("{place}/clips"), message));
    }
    for (index, clip) in part.clips.iter().enumerate() {
        let place = format!("{place}/clips/{index}");
        range(&format!("{place}/weight"), clip.weight, 0.0, FAR)?;
        range(&format!("{place}/speed"), clip.speed, -1000.0, 1000.0)?;
        range(&format!("{place}/start"), clip.start, -FAR, FAR)?;
    }
    for (index, spec) in part.goals.iter().enumerate() {
        goal(&format!("{place}/goals/{index}"), spec)?;
    }
    for (index, spec) in part.body.iter().enumerate() {
        capsule(&format!("{place}/body/{index}"), spec)?;
    }
    for (index, spec) in part.hair.iter().enumerate() {
        check_hair(&format!("{place}/hair/{index}"), spec)?;
    }
    for (index, spec) in part.cloth.iter().enumerate() {
        cloth(&format!("{place}/cloth/{index}"), spec)?;
        let same =
            |other: &ClothUse| (&other.node, other.primitive) == (&spec.node, spec.primitive);
        if part.cloth[..index].iter().any(same) {
            let message = format!("'{}' is a cloth already", spec.node);
            return Err(refusal(&format!("{place}/cloth/{index}/node"), message));
        }
    }
    Ok(())
}

fn obstacle(place: &str, part: &ObstacleSpec) -> Result<(), EngineError> {
    let size = |field: &str, value| range(&format!("{place}/shape/{field}"), value, 1e-4, FAR);
    match part.shape {
        ObstacleShape::Sphere { radius } => size("sphere/radius", radius)?,
        ObstacleShape::Capsule {
            radius,
            half_length,
        } => {
            size("capsule/radius", radius)?;
            range(
                &format!("{place}/shape/capsule/half_length"),
                half_length,
                0.0,
                FAR,
            )?;
        }
        ObstacleShape::Cuboid { half_extents } => {
            for (axis, half) in half_extents.iter().enumerate() {
                size(&format!("cuboid/half_extents/{axis}"), *half)?;
            }
        }
        ObstacleShape::Plane => {}
    }
    range(&format!("{place}/friction"), part.friction, 0.0, FAR)
}

fn body(place: &str, part: &BodySpec) -> Result<(), EngineError> {
    vector(&format!("{place}/position"), part.position)?;
    vector(&format!("{place}/rotation_deg"), part.rotation_deg)?;
    let substeps = part.solver.substeps as f32;
    range(
        &format!("{place}/solver/substeps"),
        substeps,
        1.0,
        MOST_SUBSTEPS,
    )?;
    match &part.made_of {
        BodyKind::Cloth { material, .. } => {
            cloth_material(&format!("{place}/made_of/cloth/material"), material)
        }
        BodyKind::Soft { shape, .. } => match shape {
            SolidShape::Block { size, .. } => (0..3).try_for_each(|axis| {
                let place = format!("{place}/made_of/soft/shape/block/size/{axis}");
                range(&place, size[axis], 1e-4, FAR)
            }),
            SolidShape::Inside { resolution, .. } => {
                let place = format!("{place}/made_of/soft/shape/inside/resolution");
                range(&place, *resolution as f32, 1.0, 1000.0)
            }
        },
        BodyKind::Rope { ends, material, .. } => {
            let place = format!("{place}/made_of/rope");
            vector(&format!("{place}/ends/0"), ends[0])?;
            vector(&format!("{place}/ends/1"), ends[1])?;
            range(
                &format!("{place}/material/thickness"),
                material.thickness,
                0.0,
                1.0,
            )?;
            if ends[0] == ends[1] {
                return Err(refusal(&format!("{place}/ends"), "are one".to_owned()));
            }
            Ok(())
        }
    }
}

fn goal(place: &str, spec: &GoalSpec) -> Result<(), EngineError> {
    match spec {
        GoalSpec::Reach {
            pole,
            softness,
            weight,
            ..
        } => {
            vector(&format!("{place}/reach/pole"), pole.unwrap_or_default())?;
            range(&format!("{place}/reach/softness"), *softness, 0.0, 1.0)?;
            range(&format!("{place}/reach/weight"), *weight, 0.0, 1.0)
        }
        GoalSpec::LookAt {
            forward,
            up,
            limit_deg,
            weight,
            ..
        } => {
            vector(&format!("{place}/look_at/forward"), *forward)?;
            vector(&format!("{place}/look_at/up"), *up)?;
            range(
                &format!("{place}/look_at/limit_deg"),
                *limit_deg,
                0.0,
                360.0,
            )?;
            range(&format!("{place}/look_at/weight"), *weight, 0.0, 1.0)
        }
    }
}

fn capsule(place: &str, spec: &CapsuleSpec) -> Result<(), EngineError> {
    range(&format!("{place}/radius"), spec.radius, 0.0, FAR)?;
    vector(&format!("{place}/from"), spec.from)?;
    vector(&format!("{place}/to"), spec.to)
}

fn cloth(place: &str, spec: &ClothUse) -> Result<(), EngineError> {
    if let PinSpec::Top(depth) = spec.pins {
        range(&format!("{place}/pins/top"), depth, 0.0, FAR)?;
    }
    cloth_material(&format!("{place}/material"), &spec.material)?;
    let substeps = spec.substeps as f32;
    range(&format!("{place}/substeps"), substeps, 1.0, MOST_SUBSTEPS)
}

fn cloth_material(place: &str, given: &ClothSpec) -> Result<(), EngineError> {
    if !(given.positions.is_empty() && given.triangles.is_empty() && given.pinned.is_empty()) {
        let message = "positions, triangles and pinned come from elsewhere in the scene".to_owned();
        return Err(refusal(place, message));
    }
    // A thicker cloth would look for contacts with everything at once.
    range(&format!("{place}/thickness"), given.thickness, 0.0, 1.0)
}

fn particles(place: &str, part: &ParticlesSpec) -> Result<(), EngineError> {
    vector(&format!("{place}/at"), part.at.unwrap_or_default())?;
    range(
        &format!("{place}/effect/radius"),
        part.effect.radius,
        0.0,
        100.0,
    )?;
    range(&format!("{place}/rate"), part.rate, 0.0, MOST_PARTICLES)?;
    range(
        &format!("{place}/burst"),
        part.burst as f32,
        0.0,
        MOST_PARTICLES,
    )
}
