//! Hair of a character: guides rooted on a joint that fall over its body, and the strands between them that are drawn.
//!
//! [`Character::with_hair`] makes a head of hair a part of the model; every [`Actor`](crate::Actor) then has an
//! [`ActorHair`](crate::ActorHair), which moves in [`Stage::Simulate`](crate::Stage::Simulate) by the clock of all that is simulated, while its
//! root, the body and the obstacles of the world move through the frame. It is kept relative to its root: whoever puts the
//! actor elsewhere calls [`Actor::restart`](crate::Actor::restart), and the hair comes along as it is.
//!
//! ```
//! use std::sync::Arc;
//! use anim_engine::math::Vec3;
//! use anim_engine::sim::hair::HairSpec;
//! use anim_engine::{Character, Config, Engine, HairOptions, asset};
//!
//! let character = Character::from_document(&asset::builtin::tube(2), &Default::default())?;
//! let tip = character.joint_named("bone_1")?;
//! let tuft = |x: f32| vec![Vec3::new(x, 0.25, 0.0), Vec3::new(x, 0.35, 0.0)];
//! let character = character.with_hair(HairOptions {
//!     hair: HairSpec { guides: vec![tuft(-0.02), tuft(0.02)], segments: Some(8), ..HairSpec::default() },
//!     strands: vec![tuft(-0.01), tuft(0.0), tuft(0.01)],
//!     ..HairOptions::new(tip)
//! })?;
//! let mut engine = Engine::new(Config::default())?;
//! let id = engine.spawn(Arc::new(character));
//! for _ in 0..10 {
//!     engine.step(1.0 / 60.0);
//! }
//! let actor = engine.actor(id).ok_or("gone")?;
//! let strands = actor.hairs()[0].strands();
//! assert!((strands[1] - Vec3::new(-0.01, 0.6, 0.0)).norm() < 1e-3, "it stands as it was groomed");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::Range;

use anim_geom::Collider;
use anim_math::{Affine, Transform, Vec3};
use anim_sim::hair::{Followers, Hair, HairDrive, HairLevel, HairLod, HairLodSpec, HairSpec};
use anim_skeleton::{Globals, JointId};

use crate::capsule::{MovingCapsules, Posed};
use crate::{BodyCapsule, Character, EngineError, strands};

/// How a character wears hair.
#[derive(Clone, Debug)]
pub struct HairOptions {
    /// What its roots move with; the space of all grooms.
    pub joint: JointId,
    /// The guides and their material.
    pub hair: HairSpec,
    /// The strands that are drawn, from root to tip, m; the guides themselves if there are none.
    pub strands: Vec<Vec<Vec3>>,
    /// Guides that each of them follows, at most 4.
    pub followed: usize,
    /// From the finest to the coarsest, for [`Detail::hair`](crate::Detail::hair); without any there is one, of all guides. The
    /// last may be one guide of one segment, a spring that the whole head of hair lags by, or none: see [`HairLevel::guides`].
    pub levels: Vec<HairLevel>,
    /// The body that it falls over.
    pub body: Vec<BodyCapsule>,
    /// Of a drawn strand at its root, m.
    pub radius: f32,
    /// Linear RGB.
    pub color: [f32; 3],
}

/// Strands further from their joint than this, m, are a mistake.
const FAR: f32 = 1e4;
/// Of a drawn strand at its root, m.
pub(crate) const RADIUS: f32 = 5e-4;
/// Brown, linear RGB.
pub(crate) const COLOR: [f32; 3] = [0.09, 0.04, 0.015];

impl HairOptions {
    /// Brown hair that has no guides yet, half a millimetre thick where it is drawn.
    pub fn new(joint: JointId) -> Self {
        Self {
            joint,
            hair: HairSpec::default(),
            strands: Vec::new(),
            followed: 3,
            levels: Vec::new(),
            body: Vec::new(),
            radius: RADIUS,
            color: COLOR,
        }
    }
}

/// One head of hair; part of the model of a character.
#[derive(Debug)]
pub struct CharacterHair {
    /// What its roots move with.
    pub joint: JointId,
    /// Of a drawn strand at its root, m.
    pub radius: f32,
    /// Linear RGB.
    pub color: [f32; 3],
    pub(crate) lod: HairLod,
    /// The guides of the finest level as strands that follow those of each.
    pub(crate) guides: Vec<Followers>,
    triangles: Vec<[u32; 3]>,
    pub(crate) body: Vec<BodyCapsule>,
    /// A ball about all that the strands can reach, in the space of the root.
    pub(crate) reach: (Vec3, f32),
}

impl CharacterHair {
    /// The guides of the finest level.
    pub fn guides(&self) -> &Hair {
        self.lod.hair(0)
    }

    /// All levels of detail.
    pub fn levels(&self) -> &HairLod {
        &self.lod
    }

    /// The strands that are drawn.
    pub fn followers(&self) -> &Followers {
        self.lod.followers()
    }

    /// The triangles of [`ActorHair::tubes`](crate::ActorHair::tubes), counter-clockwise from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The triangles of [`ActorHair::guide_tubes`](crate::ActorHair::guide_tubes).
    pub fn guide_triangles(&self) -> Vec<[u32; 3]> {
        strands::triangles(self.guide_ranges())
    }

    pub(crate) fn guide_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        guide_ranges(self.guides())
    }

    pub(crate) fn strands(&self) -> impl Iterator<Item = Range<usize>> {
        (0..self.followers().len()).map(|strand| self.followers().strand(strand))
    }
}

impl Character {
    /// Lets hair grow on a joint.
    ///
    /// Grooms that run through the body, as it is in the rest pose, are combed out of it.
    ///
    /// # Errors
    ///
    /// [`EngineError::Scene`] for a joint of another skeleton, a strand kilometres away and a thickness that is not positive,
    /// [`EngineError::Sim`] for hair that cannot be simulated.
    pub fn with_hair(mut self, mut options: HairOptions) -> Result<Self, EngineError> {
        let refuse = |place: &str, message: String| EngineError::Scene {
            place: place.to_owned(),
            message,
        };
        let mut joints = options.body.iter().map(|capsule| capsule.joint);
        if options.joint.index() >= self.skeleton.len()
            || joints.any(|joint| joint.index() >= self.skeleton.len())
        {
            return Err(refuse("joint", "is of another skeleton".to_owned()));
        }
        if !(options.radius > 0.0 && options.radius.is_finite()) {
            let message = format!("{} m is not positive", options.radius);
            return Err(refuse("radius", message));
        }
        let grooms = options.hair.guides.iter().chain(&options.strands);
        let is_far = |point: &&Vec3| point.amax() > FAR;
        if let Some(point) = grooms.flatten().find(is_far) {
            return Err(refuse("groom", format!("a point at {} m", point.amax())));
        }
        let mut globals = Globals::new(&self.skeleton);
        self.skeleton.globals(self.skeleton.rest(), &mut globals);
        let rest = Posed {
            globals: &globals,
            world_from_model: Affine::IDENTITY,
        };
        let mut body = MovingCapsules::new(&options.body);
        body.follow(&options.body, &rest);
        let bodies = body.places(&options.body);
        let model_from_root = Affine::from(root_of(&rest, options.joint));
        let comb = |strands: &mut Vec<Vec<Vec3>>, margin: f32| {
            for strand in strands {
                comb_out(strand, &bodies, &model_from_root, margin);
            }
        };
        comb(&mut options.hair.guides, options.hair.thickness);
        comb(&mut options.strands, options.radius);
        let groom = |hair: &Hair| -> Vec<Vec<Vec3>> {
            let guides = guide_ranges(hair).map(|guide| hair.groom()[guide].to_vec());
            guides.collect()
        };
        let strands = match options.strands.is_empty() {
            true => groom(&Hair::new(options.hair.clone())?),
            false => options.strands,
        };
        let (gravity, colliders) = as_it_hangs(&bodies, &model_from_root);
        let lod = HairLod::new(&HairLodSpec {
            gravity,
            colliders,
            hair: options.hair,
            followers: strands.clone(),
            followed: options.followed,
            levels: options.levels,
            ..HairLodSpec::default()
        })?;
        let finest = groom(lod.hair(0));
        let guides = (0..lod.level_count())
            .map(|level| Followers::new(lod.hair(level), &finest, options.followed))
            .collect::<Result<_, _>>()?;
        let ranges = (0..lod.followers().len()).map(|strand| lod.followers().strand(strand));
        self.hairs.push(CharacterHair {
            joint: options.joint,
            radius: options.radius,
            color: options.color,
            triangles: strands::triangles(ranges),
            reach: reach(&strands),
            lod,
            guides,
            body: options.body,
        });
        Ok(self)
    }
}

/// Where the vertices of each guide are.
pub(crate) fn guide_ranges(hair: &Hair) -> impl Iterator<Item = Range<usize>> {
    (0..hair.guide_count()).map(|guide| hair.guide(guide))
}

/// Gravity of the Earth and a body, in the space of a root.
fn as_it_hangs(bodies: &[Collider], model_from_root: &Affine) -> (Vec3, Vec<Collider>) {
    let Some(root_from_model) = model_from_root.inverse() else {
        return (Vec3::zeros(), Vec::new());
    };
    let colliders = bodies.iter().map(|body| Collider {
        world_from_shape: root_from_model * body.world_from_shape,
        ..body.clone()
    });
    let gravity = HairDrive::default().gravity;
    (
        root_from_model.transform_vector(gravity),
        colliders.collect(),
    )
}

/// Where hair on a joint is rooted: scale is left out.
pub(crate) fn root_of(posed: &Posed<'_>, joint: JointId) -> Transform {
    Transform {
        scale: Vec3::repeat(1.0),
        ..posed.world_from_joint(joint).to_transform()
    }
}

/// A ball about all that strands can reach from their roots, somewhat wider.
fn reach(strands: &[Vec<Vec3>]) -> (Vec3, f32) {
    let roots = || strands.iter().filter_map(|strand| strand.first());
    let middle = roots().sum::<Vec3>() / roots().count().max(1) as f32;
    let far = strands.iter().map(|strand| {
        let length: f32 = strand
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).norm())
            .sum();
        (strand[0] - middle).norm() + length
    });
    (middle, far.fold(0.0, f32::max) * 1.01)
}

/// Looks at one point of a strand that lies in two capsules at most.
const COMBS: usize = 8;

/// Turns the segments of a strand, from its root on, so that it stays `margin`, m, out of bodies; lengths stay.
fn comb_out(strand: &mut [Vec3], bodies: &[Collider], model_from_root: &Affine, margin: f32) {
    let Some(root_from_model) = model_from_root.inverse() else {
        return;
    };
    let mut offset = Vec3::zeros();
    for index in 1..strand.len() {
        let [last, groomed] = [strand[index - 1], strand[index] + offset];
        let length = (groomed - last).norm();
        let mut point = groomed;
        for _ in 0..COMBS {
            let place = model_from_root.transform_point(point);
            let contacts = bodies.iter().map(|body| body.contact(place));
            let deepest = contacts.min_by(|a, b| a.distance.total_cmp(&b.distance));
            let Some(contact) = deepest.filter(|contact| contact.distance < margin) else {
                break;
            };
            let out = contact.normal * (margin - contact.distance + 1e-5);
            let way = root_from_model.transform_point(place + out) - last;
            match way.try_normalize(1e-9) {
                Some(way) if way.iter().all(|c| c.is_finite()) => point = last + way * length,
                _ => break,
            }
        }
        // What follows is carried along, so that the strand keeps its curls.
        offset += point - groomed;
        strand[index] = point;
    }
}
