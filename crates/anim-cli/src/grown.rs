//! What can be measured of hair and muscles in one frame.

use anim_engine::Actor;
use serde_json::{Value, json};

use crate::simulate::TOUCH;

/// One head of hair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HairRow {
    /// Of detail.
    level: usize,
    /// That are simulated on it.
    segments: usize,
    strands: usize,
    /// How much longer or shorter the worst segment is than in the groom, a fraction.
    worst_stretch: f32,
    /// Points of guides inside of what they fall over.
    pub(crate) penetrations: usize,
    pub(crate) slowed: u32,
    pub(crate) pinched: u32,
    /// Guides put back into the groom so far, as not finite.
    reset: usize,
}

/// One muscle.
#[derive(Clone, Debug)]
pub(crate) struct MuscleRow {
    name: String,
    activation: f64,
    force: f64,
    length: f64,
    /// By how much the surface of the belly holds more than the belly is, a fraction; 0 without one.
    volume_error: f64,
}

/// The heads of hair of an actor.
pub(crate) fn hair(actor: &Actor) -> impl Iterator<Item = HairRow> {
    let hairs = actor.character().hairs().iter().zip(actor.hairs());
    hairs.map(|(model, hair)| HairRow {
        level: hair.levels().level(),
        segments: match model.levels().is_simulated(hair.levels().level()) {
            true => model.levels().hair(hair.levels().level()).segment_count(),
            false => 0,
        },
        strands: model.followers().len(),
        worst_stretch: hair.worst_stretch(model),
        penetrations: hair.depths(model).filter(|depth| *depth > TOUCH).count(),
        slowed: hair.outcome().slowed,
        pinched: hair.outcome().pinched,
        reset: hair.reset_guides(),
    })
}

/// The muscles of an actor.
pub(crate) fn muscles(actor: &Actor) -> impl Iterator<Item = MuscleRow> {
    let muscles = actor.character().muscles().iter().zip(actor.muscles());
    muscles.map(|(model, muscle)| MuscleRow {
        name: model.name.clone(),
        activation: muscle.activation(),
        force: muscle.force(),
        length: muscle.length(),
        volume_error: muscle.volume_error(model),
    })
}

impl HairRow {
    pub(crate) fn json(&self) -> Value {
        json!({
            "level": self.level,
            "segments": self.segments,
            "strands": self.strands,
            "worst_stretch": self.worst_stretch,
            "penetrations": self.penetrations,
            "slowed": self.slowed,
            "pinched": self.pinched,
            "reset": self.reset,
        })
    }
}

impl MuscleRow {
    pub(crate) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "activation": self.activation,
            "force_n": self.force,
            "length_m": self.length,
            "volume_error": self.volume_error,
        })
    }
}

/// Hair and muscles of one frame, for people; nothing without any.
pub(crate) fn table(hair: &[HairRow], muscles: &[MuscleRow]) -> String {
    let mut text = String::new();
    for row in hair {
        text.push_str(&format!(
            "hair: level {}, {} segments, {} strands, worst stretch {:.1e}, {} points inside, {} slowed, {} guides reset\n",
            row.level, row.segments, row.strands, row.worst_stretch, row.penetrations, row.slowed, row.reset
        ));
    }
    for row in muscles {
        text.push_str(&format!(
            "muscle {}: activation {:.2}, force {:.0} N, length {:.1} mm, volume off by {:.1e}\n",
            row.name,
            row.activation,
            row.force,
            1e3 * row.length,
            row.volume_error
        ));
    }
    text
}
