//! A mesh as binding methods see it: welded vertices, the parts that hang together, and which bones each vertex sees.
//!
//! Everything that keeps a method from failing is here. Coincident vertices count as one, so seams of texture coordinates
//! are no cuts. A vertex belongs to the nearest bone that it sees; one that sees none to the nearest of all. A part of the
//! mesh of which no vertex sees a bone is an island and follows its nearest bone as a whole; so does a vertex without
//! triangles.

use anim_geom::{Components, Mesh, Occluder, chunks, topology};
use anim_math::Vec3;
use anim_math::lanes::{Level, Simd, dispatch};
use anim_math::nalgebra::Vector3;

use super::{BindReport, Bones, Island, SkinWeights};
use crate::SkinError;

/// How much further than the nearest bone another may be and still be as near, relative.
const TIE: f64 = 1.0e-4;

/// A welded mesh of W vertices among bones.
pub(super) struct Surface {
    /// For each source vertex, its welded vertex.
    pub(super) welded_from_source: Vec<u32>,
    /// For each welded vertex, the lowest source vertex.
    pub(super) source_from_welded: Vec<u32>,
    /// W.
    pub(super) positions: Vec<Vec3>,
    /// The source's triangles in its order, naming welded vertices; one may name a vertex twice.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Of the W vertices, by the triangles that name three different ones.
    pub(super) components: Components,
    /// The diagonal of the mesh's box, metres.
    pub(super) diagonal: f64,
    segments: Vec<Segment>,
    lanes: SegmentLanes,
    joint_count: usize,
    /// `None` if no triangle has an area: then everything is visible.
    occluder: Option<Occluder>,
}

/// The bones that a vertex belongs to.
#[derive(Clone, Debug, Default)]
pub(super) struct Nearest {
    /// Metres to the nearest of them.
    pub(super) distance: f64,
    /// Their joints, ascending, each once; never empty.
    pub(super) joints: Vec<u16>,
    /// False if the vertex sees no bone and these are the nearest of all.
    pub(super) is_visible: bool,
}

impl Nearest {
    /// Each joint with an equal share of `total`.
    pub(super) fn shares(&self, total: f64) -> impl Iterator<Item = (u16, f64)> {
        let share = total / self.joints.len() as f64;
        self.joints.iter().map(move |joint| (*joint, share))
    }
}

/// The bones once more, coordinate by coordinate, to be measured in lanes: head, along and scale, rounded up to whole lanes.
struct SegmentLanes([Vec<f64>; 7]);

/// Bones that are measured side by side.
const MEASURED: usize = 8;

impl SegmentLanes {
    fn new(segments: &[Segment]) -> Self {
        let mut lanes: [Vec<f64>; 7] = Default::default();
        for segment in segments {
            let (head, along) = (segment.head, segment.along);
            let parts = [
                head.x,
                head.y,
                head.z,
                along.x,
                along.y,
                along.z,
                segment.scale,
            ];
            for (lane, part) in lanes.iter_mut().zip(parts) {
                lane.push(part);
            }
        }
        for lane in &mut lanes {
            lane.resize(segments.len().next_multiple_of(MEASURED), 0.0);
        }
        Self(lanes)
    }

    /// Writes the squared distance of each bone from `point`, in loops that the compiler spreads over the lanes of `simd`.
    #[inline(always)]
    fn squares<S: Simd>(&self, _simd: S, point: Vector3<f64>, out: &mut [f64]) {
        let [hx, hy, hz, ax, ay, az, scale] = self.0.each_ref().map(|lane| lane.as_chunks().0);
        let (out, _) = out.as_chunks_mut::<MEASURED>();
        for (block, out) in out.iter_mut().enumerate() {
            let head: [&[f64; MEASURED]; 3] = [&hx[block], &hy[block], &hz[block]];
            let along: [&[f64; MEASURED]; 3] = [&ax[block], &ay[block], &az[block]];
            let scale: &[f64; MEASURED] = &scale[block];
            for lane in 0..MEASURED {
                let x = point.x - head[0][lane];
                let y = point.y - head[1][lane];
                let z = point.z - head[2][lane];
                let t = x * along[0][lane] + y * along[1][lane] + z * along[2][lane];
                let t = (t * scale[lane]).clamp(0.0, 1.0);
                let x = x - along[0][lane] * t;
                let y = y - along[1][lane] * t;
                let z = z - along[2][lane] * t;
                out[lane] = x * x + y * y + z * z;
            }
        }
    }
}

/// A bone in `f64`.
struct Segment {
    head: Vector3<f64>,
    along: Vector3<f64>,
    /// 1 / |along|², or 0 for a point.
    scale: f64,
    joint: u16,
}

impl Segment {
    fn closest(&self, point: Vector3<f64>) -> Vector3<f64> {
        let t = (point - self.head).dot(&self.along) * self.scale;
        self.head + self.along * t.clamp(0.0, 1.0)
    }
}

impl Surface {
    /// # Errors
    ///
    /// What [`Mesh::check`] finds.
    pub(super) fn new(mesh: &Mesh, bones: &Bones) -> Result<Self, SkinError> {
        mesh.check()?;
        let first = topology::weld(&mesh.rest.positions);
        let mut welded_from_source = vec![0; first.len()];
        let mut source_from_welded = Vec::with_capacity(first.len());
        for (vertex, first) in first.iter().enumerate() {
            if *first as usize == vertex {
                welded_from_source[vertex] = source_from_welded.len() as u32;
                source_from_welded.push(*first);
            } else {
                welded_from_source[vertex] = welded_from_source[*first as usize];
            }
        }
        let at = |v: &u32| mesh.rest.positions[*v as usize];
        let positions: Vec<Vec3> = source_from_welded.iter().map(at).collect();
        let named = |t: &[u32; 3]| t.map(|v| welded_from_source[v as usize]);
        let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(named).collect();
        let is_proper = |[a, b, c]: &[u32; 3]| a != b && b != c && c != a;
        let proper: Vec<[u32; 3]> = triangles.iter().copied().filter(is_proper).collect();
        let segments: Vec<Segment> = bones
            .segments()
            .iter()
            .map(|bone| {
                let (head, tail) = (bone.head.cast::<f64>(), bone.tail.cast::<f64>());
                Segment {
                    head,
                    along: tail - head,
                    scale: if tail == head {
                        0.0
                    } else {
                        1.0 / (tail - head).norm_squared()
                    },
                    joint: bone.joint,
                }
            })
            .collect();
        Ok(Self {
            components: Components::new(positions.len(), &proper),
            diagonal: diagonal(&positions),
            lanes: SegmentLanes::new(&segments),
            segments,
            joint_count: bones.joint_count(),
            occluder: Occluder::new(mesh).ok(),
            welded_from_source,
            source_from_welded,
            positions,
            triangles,
        })
    }

    /// The distance of each bone from a point, metres, and its joint.
    pub(super) fn distances(&self, point: Vec3) -> impl Iterator<Item = (f64, u16)> {
        self.distances_f64(point.cast())
    }

    /// As [`distances`](Self::distances), from a point in `f64`, bone by bone.
    pub(super) fn distances_f64(&self, point: Vector3<f64>) -> impl Iterator<Item = (f64, u16)> {
        let distance = move |bone: &Segment| ((point - bone.closest(point)).norm(), bone.joint);
        self.segments.iter().map(distance)
    }

    /// Number of bones.
    #[cfg(feature = "solve")]
    pub(super) fn bone_count(&self) -> usize {
        self.segments.len()
    }

    /// The middle of a bone, and its joint.
    #[cfg(feature = "solve")]
    pub(super) fn middle(&self, bone: usize) -> (Vector3<f64>, u16) {
        let bone = &self.segments[bone];
        (bone.head + bone.along * 0.5, bone.joint)
    }

    /// For each welded vertex, its nearest bones: of those that it sees, or of all.
    pub(super) fn nearest(&self, visible_only: bool) -> Vec<Nearest> {
        let mut out = vec![Nearest::default(); self.positions.len()];
        let level = Level::new();
        chunks::for_each_mut(&mut out, |first, chunk| {
            let mut squares = vec![0.0; self.segments.len().next_multiple_of(MEASURED)];
            for (vertex, nearest) in (first..).zip(chunk) {
                let point = self.positions[vertex].cast();
                dispatch!(level, simd => self.lanes.squares(simd, point, &mut squares));
                let squares = &mut squares[..self.segments.len()];
                *nearest = self.nearest_of(vertex, visible_only, squares);
            }
        });
        out
    }

    /// The nearest bones of a vertex with the squared distances `squares` from all; those that it does not see are lost.
    fn nearest_of(&self, vertex: usize, visible_only: bool, squares: &mut [f64]) -> Nearest {
        let mut hidden: Option<Nearest> = None;
        loop {
            let square = squares.iter().copied().fold(f64::INFINITY, f64::min);
            if !square.is_finite() {
                return hidden.unwrap_or_default();
            }
            let farthest = square * (1.0 + TIE) * (1.0 + TIE);
            let ties = || (0..squares.len()).filter(|bone| squares[*bone] <= farthest);
            let joints_of = |group: &mut dyn Iterator<Item = usize>| {
                let mut joints: Vec<u16> = group.map(|bone| self.segments[bone].joint).collect();
                joints.sort_unstable();
                joints.dedup();
                joints
            };
            let joints = joints_of(&mut ties().filter(|b| !visible_only || self.sees(vertex, *b)));
            if !joints.is_empty() {
                return Nearest {
                    distance: square.sqrt(),
                    joints,
                    is_visible: true,
                };
            }
            if hidden.is_none() {
                hidden = Some(Nearest {
                    distance: square.sqrt(),
                    joints: joints_of(&mut ties()),
                    is_visible: false,
                });
            }
            for square in squares.iter_mut().filter(|square| **square <= farthest) {
                *square = f64::INFINITY;
            }
        }
    }

    /// True if no triangle but the vertex's own stands between a bone and a welded vertex.
    fn sees(&self, vertex: usize, bone: usize) -> bool {
        let Some(occluder) = &self.occluder else {
            return true;
        };
        let position = self.positions[vertex];
        let from = self.segments[bone].closest(position.cast()).cast::<f32>();
        let is_own = |t: u32| self.triangles[t as usize].contains(&(vertex as u32));
        !occluder.blocks(from, position, is_own)
    }

    /// For each component that has no vertex that sees a bone, the joint that it follows; and those as islands.
    pub(super) fn anchors(&self, nearest: &[Nearest]) -> (Vec<Option<u16>>, Vec<Island>) {
        let count = self.components.count();
        let mut sees = vec![false; count];
        let mut closest = vec![(f64::INFINITY, 0); count];
        for (label, nearest) in self.components.labels().iter().zip(nearest) {
            let Some(label) = label.map(|label| label as usize) else {
                continue;
            };
            sees[label] |= nearest.is_visible;
            if nearest.distance < closest[label].0 {
                closest[label] = (nearest.distance, nearest.joints[0]);
            }
        }
        let anchor = |label: usize| (!sees[label]).then_some(closest[label].1);
        let anchors: Vec<Option<u16>> = (0..count).map(anchor).collect();
        let islands = self.islands(|label| anchors[label]);
        (anchors, islands)
    }

    /// The components that `anchor` names a joint for, as islands.
    pub(super) fn islands(&self, anchor: impl Fn(usize) -> Option<u16>) -> Vec<Island> {
        let mut sizes = vec![0; self.components.count()];
        let mut first = vec![u32::MAX; sizes.len()];
        for welded in &self.welded_from_source {
            if let Some(label) = self.components.label(*welded as usize) {
                sizes[label as usize] += 1;
                let source = self.source_from_welded[*welded as usize];
                first[label as usize] = first[label as usize].min(source);
            }
        }
        let island = |label: usize| {
            Some(Island {
                component: label as u32,
                first_vertex: first[label],
                vertex_count: sizes[label],
                joint: anchor(label)?,
            })
        };
        (0..sizes.len()).filter_map(island).collect()
    }

    /// The row of a vertex that no solve reaches: without triangles, or of an island.
    pub(super) fn anchored(
        &self,
        vertex: usize,
        nearest: &[Nearest],
        anchors: &[Option<u16>],
    ) -> Option<Vec<(u16, f64)>> {
        match self.components.label(vertex) {
            None => Some(nearest[vertex].shares(1.0).collect()),
            Some(label) => anchors[label as usize].map(|joint| vec![(joint, 1.0)]),
        }
    }

    /// Weights of the source's vertices from the `row` of each welded one, limited to `influences`, and the report.
    pub(super) fn finish(
        &self,
        row: impl Fn(usize) -> Vec<(u16, f64)>,
        islands: Vec<Island>,
        influences: Option<usize>,
    ) -> Result<(SkinWeights, BindReport), SkinError> {
        let source_rows = self.welded_from_source.iter().map(|v| row(*v as usize));
        let (weights, dropped_mass_max) = match influences {
            Some(most) => SkinWeights::from_rows_limited(self.joint_count, source_rows, most)?,
            None => (SkinWeights::from_rows(self.joint_count, source_rows)?, 0.0),
        };
        let mut report = BindReport {
            components: self.components.count(),
            islands,
            dropped_mass_max,
            ..BindReport::default()
        };
        let labels = self
            .welded_from_source
            .iter()
            .map(|v| self.components.label(*v as usize));
        report.unreferenced = labels.filter(Option::is_none).count();
        let mut is_followed = vec![false; self.joint_count];
        for (joint, _) in (0..weights.vertex_count()).flat_map(|v| weights.row(v)) {
            is_followed[usize::from(joint)] = true;
        }
        let joints = self.segments.iter().map(|segment| segment.joint);
        report.unreachable = joints
            .filter(|joint| !is_followed[usize::from(*joint)])
            .collect();
        report.unreachable.sort_unstable();
        report.unreachable.dedup();
        Ok((weights, report))
    }
}

/// Refuses an option that is not a positive finite number.
pub(super) fn check_positive(option: &'static str, value: f64) -> Result<(), SkinError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(SkinError::BadOption { option })
    }
}

fn diagonal(positions: &[Vec3]) -> f64 {
    let (mut low, mut high) = (Vec3::repeat(f32::MAX), Vec3::repeat(f32::MIN));
    for position in positions {
        low = low.inf(position);
        high = high.sup(position);
    }
    if positions.is_empty() {
        0.0
    } else {
        (high.cast::<f64>() - low.cast::<f64>()).norm()
    }
}
