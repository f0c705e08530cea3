//! Pictures of some frames of a run on one sheet, by a camera that sees all that happens in them.

use anim_engine::Scene;
use anim_engine::math::Vec3;

use crate::output::Failure;
use crate::picture::{self, Look};
use crate::still::{self, Still};

/// Pictures in a contact sheet at most.
const SHEET_PICTURES: u32 = 12;
/// Columns of a contact sheet.
const SHEET_COLUMNS: usize = 6;

/// Pictures of some frames, time from left to right; a first actor that walks walks in place.
pub(crate) struct Sheet {
    every: u32,
    look: Look,
    /// Where the first actor was.
    start: Option<Vec3>,
    /// Around all that was seen, as if the first actor had not travelled.
    bounds: Option<(Vec3, Vec3)>,
    /// With how far the first actor has travelled.
    stills: Vec<(Still, Vec3)>,
    labels: Vec<String>,
}

impl Sheet {
    pub(crate) fn new(frames: u32, look: Look) -> Self {
        Self {
            every: frames.div_ceil(SHEET_PICTURES).max(1),
            look,
            start: None,
            bounds: None,
            stills: Vec::new(),
            labels: Vec::new(),
        }
    }

    pub(crate) fn take(&mut self, scene: &Scene, frame: u32) {
        let first = scene.actors.first().and_then(|id| scene.engine.actor(*id));
        let place = first
            .map(|actor| actor.world_from_model().translation)
            .unwrap_or_default();
        let way = place - *self.start.get_or_insert(place);
        if !frame.is_multiple_of(self.every) {
            return;
        }
        let seen = still::obstacles(scene).filter_map(still::collider_box);
        for (low, high) in seen.chain([picture::bounds(scene)]) {
            let (low, high) = (low - way, high - way);
            let so_far = self.bounds.unwrap_or((low, high));
            self.bounds = Some((so_far.0.inf(&low), so_far.1.sup(&high)));
        }
        self.stills.push((Still::of(scene, &self.look), way));
        self.labels.push(format!("{:.2} s", scene.time()));
    }

    /// The sheet; `scene` is what was taken.
    pub(crate) fn picture(&self, scene: &Scene) -> Result<anim_view::Image, Failure> {
        let bounds = roomy(self.bounds.unwrap_or_default());
        let look = Look {
            floor: picture::floor(bounds),
            ..self.look
        };
        let draw = |(still, way): &(Still, Vec3)| {
            let camera = picture::camera((bounds.0 + way, bounds.1 + way), &look);
            still.draw(scene, &camera, &look, &[])
        };
        let images: Vec<_> = self.stills.iter().map(draw).collect::<Result<_, _>>()?;
        Ok(anim_view::sheet(&images, &self.labels, SHEET_COLUMNS))
    }
}

/// A box with some room for what moves between two pictures.
fn roomy((low, high): (Vec3, Vec3)) -> (Vec3, Vec3) {
    let room = (high - low) * 0.05;
    (low - room, high + room)
}
