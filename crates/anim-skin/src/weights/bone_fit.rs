//! Rigid bones from weights: where each bone must be, frame by frame, for its skin to follow a motion.
//!
//! The half of skinning decomposition that has a closed form: with all other bones fixed, the best rotation and translation
//! of one are a weighted Procrustes problem. Sweeps over the bones repeat it until they agree. Everything a frame needs is in
//! second moments over the vertices, so that a sweep does not touch the mesh.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_math::{Affine, Transform, Vec3, quat};
//! use anim_skin::weights::{SkinWeights, fit_bones};
//!
//! let rest = primitives::cuboid(Vec3::new(1.0, 2.0, 3.0)).rest.positions;
//! let turned = Transform { rotation: quat::from_axis_angle(Vec3::z(), 2.0), ..Transform::from_translation(Vec3::x()) };
//! let frame: Vec<Vec3> = rest.iter().map(|v| Affine::from(turned).transform_point(*v)).collect();
//! let weights = SkinWeights::from_rows(1, vec![[(0, 1.0)]; rest.len()])?;
//! let (transforms, report) = fit_bones(&rest, &[frame], &weights, 5)?;
//! assert!((transforms[0][0].linear - Affine::from(turned).linear).norm() < 1e-6);
//! assert!(report.rmse < 1e-6);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_math::nalgebra::{Matrix3, Matrix4, Vector3};
use anim_math::{Affine, Vec3};

use super::SkinWeights;
use super::examples::{FitReport, Row, check_rows, fit_report};
use super::motion::{Map, Motion};
use crate::SkinError;

/// The rigid `model_from_bind` of each bone (F × J) under which `weights` take `rest` nearest to each frame.
///
/// `frames`: F × V. Each of `sweeps` improves the bones one after the other from the identity; five are near the optimum
/// where weights overlap little, one is exact where no two bones share a vertex. A rotation that the vertices leave open (a
/// bone of one vertex, or of a line) stays where it was. O(V·k·(F + k) + sweeps·F·J·neighbours).
///
/// # Errors
///
/// [`SkinError::NoFrames`], [`SkinError::FrameCount`], [`SkinError::NotFinite`], or [`SkinError::Count`] if there is not a
/// row of weights a vertex.
///
/// Source: Le and Deng, "Smooth skinning decomposition with rigid bones", SIGGRAPH Asia 2012, section 4.2.
pub fn fit_bones(
    rest: &[Vec3],
    frames: &[Vec<Vec3>],
    weights: &SkinWeights,
    sweeps: usize,
) -> Result<(Vec<Vec<Affine>>, FitReport), SkinError> {
    let motion = Motion::new(rest, frames)?;
    let joint_count = weights.joint_count();
    check_rows(&motion, joint_count, weights)?;
    let rows: Vec<Row> = (0..rest.len()).map(|v| weights.row(v).collect()).collect();
    let mut maps = vec![identity(); joint_count * motion.frame_count()];
    BoneMoments::new(&motion, &rows, joint_count).sweep(&mut maps, sweeps);
    let report = fit_report(&motion, &rows, &maps);
    Ok((restored_maps(&motion, &maps), report))
}

/// A map that leaves points where they are.
pub(crate) fn identity() -> Map {
    Map::identity()
}

/// Maps joint by joint as F × J matrices in the caller's units.
pub(crate) fn restored_maps(motion: &Motion, maps: &[Map]) -> Vec<Vec<Affine>> {
    let frames = motion.frame_count();
    (0..frames)
        .map(|frame| {
            let of_frame = maps.iter().skip(frame).step_by(frames);
            of_frame.map(|map| motion.restored(frame, map)).collect()
        })
        .collect()
}

/// Second moments of weighted vertices: all that the bones' normal equations need.
pub(crate) struct BoneMoments {
    frame_count: usize,
    /// Of each joint: the joints with which it shares vertices, itself too, and Σ wⱼwₖ·ûûᵀ.
    shared: Vec<Vec<(usize, Matrix4<f64>)>>,
    /// J × F: Σ wⱼ·v·ûᵀ.
    moved: Vec<Map>,
}

impl BoneMoments {
    /// O(V·k·(k + F)) for rows of k.
    pub(crate) fn new(motion: &Motion, rows: &[Row], joint_count: usize) -> Self {
        let frame_count = motion.frame_count();
        let mut places = vec![usize::MAX; joint_count * joint_count];
        let mut shared: Vec<Vec<(usize, Matrix4<f64>)>> = vec![Vec::new(); joint_count];
        let mut moved = vec![Map::zeros(); joint_count * frame_count];
        for (vertex, row) in rows.iter().enumerate() {
            let rest = motion.rest[vertex];
            let square = rest * rest.transpose();
            for (joint, weight) in row {
                let joint = usize::from(*joint);
                for (other, other_weight) in row {
                    let other = usize::from(*other);
                    let place = &mut places[joint * joint_count + other];
                    if *place == usize::MAX {
                        *place = shared[joint].len();
                        shared[joint].push((other, Matrix4::zeros()));
                    }
                    shared[joint][*place].1 += square * (weight * other_weight);
                }
                let moved = &mut moved[joint * frame_count..][..frame_count];
                let weighted = (rest * *weight).transpose();
                for (moved, v) in moved.iter_mut().zip(motion.track(vertex)) {
                    *moved += v * weighted;
                }
            }
        }
        Self {
            frame_count,
            shared,
            moved,
        }
    }

    /// Improves each bone of each frame in turn, `sweeps` times; bones without vertices stay.
    pub(crate) fn sweep(&self, maps: &mut [Map], sweeps: usize) {
        for _ in 0..sweeps {
            for joint in 0..self.shared.len() {
                let own = self.shared[joint].iter().find(|(other, _)| *other == joint);
                let Some((_, own)) = own else {
                    continue;
                };
                for frame in 0..self.frame_count {
                    let place = joint * self.frame_count + frame;
                    let mut goal = self.moved[place];
                    for (other, square) in &self.shared[joint] {
                        if *other != joint {
                            goal -= maps[other * self.frame_count + frame] * square;
                        }
                    }
                    if let Some(map) = procrustes(&goal, own, &maps[place]) {
                        maps[place] = map;
                    }
                }
            }
        }
    }
}

/// The rigid map M nearest to Σ w·r·ûᵀ = `goal` for vertices with Σ w²·ûûᵀ = `own`; `before` where these leave it open.
fn procrustes(goal: &Map, own: &Matrix4<f64>, before: &Map) -> Option<Map> {
    let mass = own[(3, 3)];
    if mass <= 1e-12 {
        return None;
    }
    let center: Vector3<f64> = own.fixed_view::<3, 1>(0, 3) / mass;
    let goal_center: Vector3<f64> = goal.column(3) / mass;
    let mut correlation: Matrix3<f64> = goal.fixed_columns::<3>(0).into_owned();
    correlation -= goal.column(3) * center.transpose();
    // A proximal term: it moves no fixed point, and decides where the correlation has no rank.
    correlation += before.fixed_columns::<3>(0) * (PROXIMAL * mass);
    let svd = correlation.svd(true, true);
    let (u, v_t) = (svd.u?, svd.v_t?);
    let turn = |u: &Matrix3<f64>| u * v_t;
    let mut rotation = turn(&u);
    if rotation.determinant() < 0.0 {
        let mut mirrored = u;
        mirrored.column_mut(2).neg_mut();
        rotation = turn(&mirrored);
    }
    let mut map = Map::zeros();
    map.fixed_columns_mut::<3>(0).copy_from(&rotation);
    map.set_column(3, &(goal_center - rotation * center));
    map.iter().all(|value| value.is_finite()).then_some(map)
}

/// Squared size, in diagonals of the rest's box, below which the vertices of a bone say nothing about its rotation.
const PROXIMAL: f64 = 1e-10;

#[cfg(test)]
mod tests {
    use anim_math::{Transform, quat};

    use super::*;

    fn rigid(turn: Vec3, translation: Vec3) -> Affine {
        Affine::from(Transform {
            translation,
            rotation: quat::exp(turn),
            ..Transform::IDENTITY
        })
    }

    #[test]
    fn bones_that_share_every_vertex_are_told_apart() {
        let rest: Vec<Vec3> = (0..60)
            .map(|i| Vec3::new((i % 5) as f32, (i / 5 % 4) as f32, (i / 20) as f32))
            .collect();
        let rows = rest.iter().map(|v| {
            let w = 0.1 + 0.2 * f64::from(v.x);
            [(0, w), (1, 1.0 - w)]
        });
        let weights = SkinWeights::from_rows(2, rows).unwrap();
        let truth = [
            rigid(Vec3::new(0.3, 0.1, 0.0), Vec3::y()),
            rigid(Vec3::new(0.0, -0.4, 0.5), Vec3::x()),
        ];
        let frame: Vec<Vec3> = (0..rest.len())
            .map(|v| {
                let moved = weights
                    .row(v)
                    .map(|(j, w)| truth[usize::from(j)].transform_point(rest[v]) * w as f32);
                moved.sum()
            })
            .collect();
        let (bones, report) = fit_bones(&rest, &[frame], &weights, 200).unwrap();
        assert!(report.rmse_percent_of_diagonal < 1e-4, "{report:?}");
        for (bone, truth) in bones[0].iter().zip(truth) {
            assert!((bone.linear - truth.linear).norm() < 1e-4);
        }
    }

    #[test]
    fn a_mirrored_frame_is_met_by_a_rotation() {
        let rest = [Vec3::zeros(), Vec3::x(), Vec3::y(), 2.0 * Vec3::z()];
        let frame: Vec<Vec3> = rest.iter().map(|v| Vec3::new(-v.x, v.y, v.z)).collect();
        let weights = SkinWeights::from_rows(1, vec![[(0, 1.0)]; 4]).unwrap();
        let (bones, _) = fit_bones(&rest, &[frame], &weights, 1).unwrap();
        assert!((bones[0][0].linear.determinant() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_bone_of_one_vertex_travels_without_turning() {
        let rest = [Vec3::zeros(), Vec3::x()];
        let weights = SkinWeights::from_rows(2, [[(0, 1.0)], [(1, 1.0)]]).unwrap();
        let frame = vec![Vec3::y(), Vec3::x() + Vec3::z()];
        let (bones, report) = fit_bones(&rest, &[frame], &weights, 2).unwrap();
        assert!((bones[0][1].linear - Affine::IDENTITY.linear).norm() < 1e-6);
        assert!((bones[0][1].translation - Vec3::z()).norm() < 1e-6);
        assert!(report.rmse < 1e-6);
    }
}
