//! Boxes around actors, from their joints alone: what is out of sight need not be skinned.
//!
//! ```
//! # use std::sync::Arc;
//! # use anim_engine::{Character, Config, Engine, asset};
//! use anim_engine::Stage;
//! # let document = asset::builtin::humanoid();
//! # let character = Arc::new(Character::from_document(&document, &Default::default())?);
//! # let mut engine = Engine::new(Config::default())?;
//! # let id = engine.spawn(character);
//! # engine.actor_mut(id).ok_or("no such actor")?.play("walk")?;
//! for stage in [Stage::Animate, Stage::Ik, Stage::Simulate] {
//!     engine.run(stage, 1.0 / 60.0);
//! }
//! let actor = engine.actor_mut(id).ok_or("no such actor")?;
//! // Whoever looks along +X sees nothing behind x = 0.
//! actor.is_visible = actor.world_bounds().is_none_or(|bounds| bounds.max.x > 0.0);
//! engine.run(Stage::Skin, 1.0 / 60.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::Vec3;
use anim_skin::Aabb;

use crate::Actor;
use crate::deformer::ROUNDING;

impl Actor {
    /// A box in model space that holds every surface and strand of this frame, or `None` if no such box is known; to be asked
    /// after [`Stage::Simulate`](crate::Stage::Simulate), before anything is skinned, or later.
    ///
    /// It is about the joints' boxes of vertices, morph targets at their worst included: for the linear blend; for dual quaternions
    /// wider where joints turn apart; for centres of rotation by twice the farthest way from a vertex to its centre. Cloth
    /// counts particle by particle, hair by its length, and muscles by the most that they lift. None is known for the other
    /// deformers, nor for a surface with a region of one: then the actor should count as seen.
    ///
    /// O(joints + targets + particles of cloth); allocates nothing. Without surfaces and hair it is empty.
    pub fn bounds(&self) -> Option<Aabb> {
        let surfaces = 0..self.surfaces.len();
        let skins = surfaces.map(|surface| self.surface_bounds(surface));
        skins
            .chain([self.hair_bounds()])
            .try_fold(Aabb::EMPTY, |all, bounds| Some(all.union(&bounds?)))
    }

    /// The same in the world: a box around the turned [`bounds`](Self::bounds).
    pub fn world_bounds(&self) -> Option<Aabb> {
        self.bounds()
            .map(|bounds| bounds.moved(&self.world_from_model))
    }

    /// The same of one surface, model space.
    ///
    /// # Panics
    ///
    /// If there is no such surface.
    pub fn surface_bounds(&self, surface: usize) -> Option<Aabb> {
        let character = &*self.character;
        let model = &character.surfaces[surface];
        let mut cloths = character.cloths.iter().zip(&self.cloths);
        if let Some((_, state)) = cloths.find(|(cloth, _)| cloth.surface == surface) {
            let model_from_world = self.world_from_model.inverse()?;
            let particles = state.state.positions.iter();
            let places = particles.map(|particle| model_from_world.transform_point(*particle));
            return Some(places.fold(Aabb::EMPTY, |all, place| all.union(&Aabb::at(place))));
        }
        let (palette, scratch) = (&self.palettes[surface], &self.deform_scratch[surface]);
        let weights = &self.current_weights[model.weights.clone()];
        let bounds = (model.deformer).bounds(&model.bounds, palette, scratch, weights)?;
        let flesh = (character.fleshes.iter()).find(|flesh| flesh.surface == surface);
        let lift = flesh.map_or(0.0, |flesh| {
            flesh.most_lift(&character.muscles, &self.muscles)
        });
        Some(bounds.grown(Vec3::repeat(lift * (1.0 + ROUNDING))))
    }

    /// A box around all that strands of hair can reach, model space.
    fn hair_bounds(&self) -> Option<Aabb> {
        let mut bounds = Aabb::EMPTY;
        for (hair, state) in self.character.hairs.iter().zip(&self.hairs) {
            let (middle, radius) = state.reach(hair);
            let middle = self.world_from_model.inverse()?.transform_point(middle);
            bounds = bounds.union(&Aabb::at(middle).grown(Vec3::repeat(radius)));
        }
        Some(bounds)
    }
}
