//! From the points of a strand to its frames, and the rest shape whose sag under gravity is the groom.
//!
//! Frames are carried along the strand without twist. Where two meet, the material rests at a relative rotation; with
//! half of it on either side, both see the joint from the frame midway, which makes bending and twist of a curved strand
//! separate to second order. Offline and in f64, without trigonometry: halves of rotations are sums of quaternions.
//!
//! Source of the frames: Bishop, "There is more than one way to frame a curve", 1975. The statics are those of
//! Derouet-Jourdan, Bertails-Descoubes, Thollot, "Stable inverse dynamic curves", SIGGRAPH Asia 2010, section 4, for rods
//! of rigid segments.

use anim_math::Vec3;
use anim_math::nalgebra::{Quaternion, UnitQuaternion, Vector3, Vector4};

use super::spec::HairSpec;

type Quat64 = UnitQuaternion<f64>;

/// Neither a joint nor the hold is thought to bear weight by more than this strain, rad: a soft strand cannot hold any shape.
const MAX_STRAIN: f64 = 1.0;

/// A strand at rest.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    /// N: the frame of each segment in the groom, z along it.
    pub(super) frames: Vec<Quat64>,
    /// N: half the rotation that the joint at the root end of each segment rests at; the first is against the root.
    pub(super) halves: Vec<Quat64>,
    /// N: what each segment is held to, such that the hold bears what weight the joints cannot.
    pub(super) targets: Vec<Quat64>,
}

/// N lengths of a strand's segments.
pub(super) fn lengths(points: &[Vec3]) -> Vec<f64> {
    points
        .windows(2)
        .map(|pair| (pair[1].cast::<f64>() - pair[0].cast::<f64>()).norm())
        .collect()
}

/// Length of strand that each joint stands for: half a cell at the root.
///
/// With a whole cell there, a cantilever of n segments is 1 + 3/2n + 1/2n² times as soft as it should be; with half a
/// cell 1 + 1/2n².
pub(super) fn cells(lengths: &[f64]) -> Vec<f64> {
    let first = lengths.first().map(|l| l * 0.5);
    first
        .into_iter()
        .chain(lengths.windows(2).map(|pair| (pair[0] + pair[1]) * 0.5))
        .collect()
}

/// Mass of each vertex but the root's, kg: half of the segments that meet there.
pub(super) fn masses(lengths: &[f64], linear_density: f64) -> Vec<f64> {
    let next = lengths.iter().skip(1).chain([&0.0]);
    lengths
        .iter()
        .zip(next)
        .map(|(a, b)| (a + b) * 0.5 * linear_density)
        .collect()
}

/// Frames of a groom, and the rest that its weight bends into it.
///
/// * `gravity`: m/s².
pub(super) fn rest(points: &[Vec3], spec: &HairSpec, gravity: Vector3<f64>) -> Rest {
    let (rigidity, density) = (spec.material.rigidity(), spec.material.linear_density());
    let frames = frames(points);
    let lengths = lengths(points);
    let cells = cells(&lengths);
    let masses = masses(&lengths, density);
    let reach: f64 = lengths.iter().sum();

    // A joint passes on what the next one did and the weight of all beyond it on its segment; what it cannot is the hold's.
    let (mut weight, mut passed) = (Vector3::zeros(), Vector3::zeros());
    let (mut halves, mut targets) = (frames.clone(), frames.clone());
    for index in (0..frames.len()).rev() {
        weight += gravity * masses[index];
        let along = frames[index] * Vector3::z() * lengths[index];
        let moment = passed + along.cross(&weight);
        let before = frames[index.saturating_sub(1)];
        let stiffness = rigidity.map(|r| r / cells[index]);
        (halves[index], passed) = rest_half(before, frames[index], stiffness, moment);
        let hold = hold(spec, lengths[index], reach);
        let held = strain_under([hold; 2], moment - passed);
        targets[index] = held.inverse() * frames[index];
    }
    Rest {
        frames,
        halves,
        targets,
    }
}

/// The moment that holds a segment to the groom, N·m for a radian.
pub(super) fn hold(spec: &HairSpec, length: f64, reach: f64) -> f64 {
    f64::from(spec.hold) * spec.material.linear_density() * length * reach
}

/// The frames that are carried along the points without twist.
fn frames(points: &[Vec3]) -> Vec<Quat64> {
    let mut direction = Vector3::z();
    let mut frame = Quat64::identity();
    points
        .windows(2)
        .map(|pair| {
            let along = pair[1].cast::<f64>() - pair[0].cast::<f64>();
            if let Some(next) = along.try_normalize(0.0) {
                frame = between(direction, next) * frame;
                frame.renormalize();
                direction = next;
            }
            frame
        })
        .collect()
}

/// Half the rest of a joint between two frames that is to pass on a moment, and the moment that it passes, world space.
///
/// The strain and the frame midway depend on each other; the fixed point is reached in a few rounds, as the midway
/// frame turns by a fraction of the strain only.
fn rest_half(
    before: Quat64,
    after: Quat64,
    [bend, twist]: [f64; 2],
    moment: Vector3<f64>,
) -> (Quat64, Vector3<f64>) {
    let relative = before.inverse() * after;
    let mut half = half_of(relative);
    let mut strain = Quat64::identity();
    let mut passes = Vector3::zeros();
    for _ in 0..50 {
        // As seen from the frame midway, which half the elastic strain turns from the rest's.
        let mid = before * half * half_of(strain);
        strain = strain_under([bend, twist], mid.inverse() * moment);
        // half · strain · half = relative.
        let root = half_of(strain);
        half = root.inverse() * half_of(root * relative * root) * root.inverse();
        let change = 2.0 / (1.0 + strain.w);
        let u = strain.coords.xyz() * (2.0 * change * change);
        passes = before * half * root * Vector3::new(u.x * bend, u.y * bend, u.z * twist);
    }
    (half, passes)
}

/// The strain that balances a moment about axes of which z is twist, or as much of it as may be: c K u = moment.
fn strain_under([bend, twist]: [f64; 2], moment: Vector3<f64>) -> Quat64 {
    let mut strain = Quat64::identity();
    for _ in 0..20 {
        let c = 2.0 / (1.0 + strain.w);
        let u = Vector3::new(
            ratio(moment.x, bend * c),
            ratio(moment.y, bend * c),
            ratio(moment.z, twist * c),
        );
        let p = u * (0.25 * MAX_STRAIN / u.norm().max(MAX_STRAIN));
        strain = normalized(p * 2.0, 1.0 - p.norm_squared());
    }
    strain
}

/// 0 where there is no stiffness: such a joint rests anywhere.
fn ratio(moment: f64, stiffness: f64) -> f64 {
    if stiffness > 0.0 {
        moment / stiffness
    } else {
        0.0
    }
}

/// The rotation by half the angle: between 1 and q.
fn half_of(q: Quat64) -> Quat64 {
    let coords = if q.w < 0.0 { -q.coords } else { q.coords };
    normalized(coords.xyz(), coords.w + 1.0)
}

/// The shortest rotation between two unit vectors.
fn between(from: Vector3<f64>, to: Vector3<f64>) -> Quat64 {
    let real = 1.0 + from.dot(&to);
    if real > 1e-9 {
        return normalized(from.cross(&to), real);
    }
    let other = if from.x.abs() < 0.6 {
        Vector3::x()
    } else {
        Vector3::y()
    };
    normalized(from.cross(&other), 0.0)
}

fn normalized(v: Vector3<f64>, w: f64) -> Quat64 {
    let coords = Vector4::new(v.x, v.y, v.z, w);
    UnitQuaternion::new_unchecked(Quaternion::from_vector(coords / coords.norm()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_weightless_strand_rests_straight() {
        let points: Vec<Vec3> = (0..5).map(|i| Vec3::x() * i as f32).collect();
        let rest = rest(&points, &HairSpec::default(), Vector3::zeros());
        for (frame, half) in rest.frames.iter().zip(&rest.halves) {
            assert!((frame * Vector3::z() - Vector3::x()).norm() < 1e-15);
            assert!((half.w - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn frames_turn_back_on_themselves_without_a_nan() {
        let points = [Vec3::zeros(), Vec3::x(), Vec3::zeros(), -Vec3::z()];
        for frame in frames(&points) {
            assert!((frame.norm() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_root_joint_of_a_level_strand_passes_on_half_its_weight_times_its_length() {
        let n = 16;
        let points: Vec<Vec3> = (0..=n).map(|i| Vec3::x() * (i as f32 / n as f32)).collect();
        let mut spec = HairSpec::default();
        spec.material.radius = 1.0;
        let ([stiff, _], density) = (spec.material.rigidity(), spec.material.linear_density());
        let rest = rest(&points, &spec, Vector3::y() * -10.0);
        // A strain of M / k, k = EI / (l/2), and small: the whole angle is twice the half's.
        let angle = 4.0 * rest.halves[0].coords.xyz().norm();
        let cell = 0.5 / f64::from(n);
        let expected = density * 10.0 * 0.5 / (stiff / cell);
        assert!((angle / expected - 1.0).abs() < 1e-4, "{angle} {expected}");
    }

    #[test]
    fn what_the_joints_cannot_bear_the_hold_does() {
        let points: Vec<Vec3> = (0..=16).map(|i| Vec3::x() * (0.02 * i as f32)).collect();
        let mut spec = HairSpec {
            hold: 40.0,
            ..HairSpec::default()
        };
        spec.material.young = 1e6;
        let gravity = Vector3::y() * -9.81;
        let rest = rest(&points, &spec, gravity);
        // A segment of mass m is held up against m g (L − x) l, by hold m L for a radian.
        for (index, (frame, target)) in rest.frames.iter().zip(&rest.targets).enumerate() {
            let up = (target * Vector3::z()).y;
            let beyond = 1.0 - (index as f64 + 0.5) / 16.0;
            let expected = 9.81 / 40.0 * beyond;
            assert!((up - expected).abs() < 0.02, "{index}: {up} {expected}");
            assert!((frame * Vector3::z()).y.abs() < 1e-9);
        }
    }

    #[test]
    fn half_the_mass_of_the_first_segment_is_the_roots() {
        let lengths = [0.1, 0.2, 0.3];
        let sum: f64 = masses(&lengths, 2.0).iter().sum();
        assert!((sum - (0.6 - 0.05) * 2.0).abs() < 1e-12);
        let cells: f64 = cells(&lengths).iter().sum();
        assert!((cells - (0.6 - 0.15)).abs() < 1e-12);
    }
}
