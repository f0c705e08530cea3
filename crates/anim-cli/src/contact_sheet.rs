//! Pictures of some frames of a run on one sheet.

use anim_engine::Scene;
use anim_engine::math::Vec3;

use crate::output::Failure;
use crate::picture::{self, Look};

/// Pictures in a contact sheet at most.
const SHEET_PICTURES: u32 = 12;
/// Columns of a contact sheet.
const SHEET_COLUMNS: usize = 6;

/// Pictures of some frames, time from left to right.
pub(crate) struct Sheet {
    every: u32,
    /// Where the first actor was, the box around all, and the floor.
    start: Option<(Vec3, (Vec3, Vec3), f32)>,
    images: Vec<anim_view::Image>,
    labels: Vec<String>,
}

impl Sheet {
    pub(crate) fn new(frames: u32) -> Self {
        Self {
            every: frames.div_ceil(SHEET_PICTURES).max(1),
            start: None,
            images: Vec::new(),
            labels: Vec::new(),
        }
    }

    pub(crate) fn take(&mut self, scene: &Scene, frame: u32, look: &Look) -> Result<(), Failure> {
        let first = scene.actors.first().and_then(|id| scene.engine.actor(*id));
        let place = first
            .map(|actor| actor.world_from_model().translation)
            .unwrap_or_default();
        let (start, bounds, floor) = *self.start.get_or_insert_with(|| {
            let bounds = picture::bounds(scene);
            (place, roomy(bounds), picture::floor(bounds))
        });
        let look = &Look { floor, ..*look };
        if frame.is_multiple_of(self.every) {
            let camera = picture::camera(picture::following(scene, bounds, start), look);
            self.images.push(picture::draw(scene, &camera, look)?);
            self.labels.push(format!("{:.2} s", scene.time()));
        }
        Ok(())
    }

    pub(crate) fn picture(&self) -> anim_view::Image {
        anim_view::sheet(&self.images, &self.labels, SHEET_COLUMNS)
    }
}

/// A box with room for arms and legs that move.
fn roomy((low, high): (Vec3, Vec3)) -> (Vec3, Vec3) {
    let room = (high - low) * 0.12;
    (low - room, high + room)
}
