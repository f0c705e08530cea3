//! The elements of a block, sorted so that one pass over memory projects them all.
//!
//! Elements of every kind share one colouring, in the order of the mesh and interleaved by kind: a kind after the other
//! would converge more slowly, and in order of the mesh without colours each element would wait for the one before it
//! and the body would be unstable at few substeps. Inside a colour a kind is contiguous.

use std::ops::Range;

use anim_math::lanes::{LANES, Lanes, Level, Simd, dispatch};

use super::area::Area;
use super::batch::{self, Batch, Pass};
use super::hinge::Hinge;
use super::membrane::{Limit, Membrane};
use super::tet::Tet;
use super::{distance, flex};
use crate::coloring::color;
use crate::element::Link;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Link,
    Seam,
    Hinge,
    Flex,
    Area,
    Membrane,
    Limit,
    Tet,
}

impl Kind {
    /// Particles of an element.
    fn vertices(self) -> usize {
        match self {
            Self::Link | Self::Seam => 2,
            Self::Area | Self::Membrane | Self::Limit => 3,
            Self::Hinge | Self::Flex | Self::Tet => 4,
        }
    }

    /// Multipliers of a batch.
    fn multipliers(self) -> usize {
        match self {
            Self::Seam => 0,
            Self::Link | Self::Hinge | Self::Area => 1,
            Self::Limit | Self::Tet => 2,
            Self::Flex | Self::Membrane => 3,
        }
    }
}

/// An element on its way into a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element {
    pub(crate) kind: Kind,
    slots: [u32; 4],
    rest: [f32; Tet::PARAMETERS],
}

impl Element {
    pub(crate) fn new(kind: Kind, vertices: &[u32], parameters: &[f32]) -> Self {
        let mut element = Self {
            kind,
            slots: [0; 4],
            rest: [0.0; Tet::PARAMETERS],
        };
        element.slots[..vertices.len()].copy_from_slice(vertices);
        element.rest[..parameters.len()].copy_from_slice(parameters);
        element
    }

    pub(crate) fn link(link: &Link) -> Self {
        Self::new(
            Kind::Link,
            &link.vertices,
            &[link.rest_length, link.compliance],
        )
    }

    pub(crate) fn vertices(&self) -> &[u32] {
        &self.slots[..self.kind.vertices()]
    }

    /// The first P parameters.
    pub(crate) fn parameters<const P: usize>(&self) -> [f64; P] {
        std::array::from_fn(|p| f64::from(self.rest[p]))
    }

    /// The element with its vertices renamed.
    pub(crate) fn map(mut self, name: impl Fn(u32) -> u32) -> Self {
        for slot in &mut self.slots[..self.kind.vertices()] {
            *slot = name(*slot);
        }
        self
    }
}

/// Batches of one kind and colour.
#[derive(Clone, Debug)]
struct Run {
    kind: Kind,
    /// Among the batches of the kind.
    batches: Range<usize>,
    /// The first multiplier.
    multiplier: usize,
}

/// The elements of one block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweep {
    runs: Vec<Run>,
    /// Multipliers of all batches.
    pub(crate) multipliers: usize,
    links: Vec<Batch<2, 2>>,
    seams: Vec<Batch<2, 0>>,
    hinges: Vec<Batch<4, 2>>,
    flexes: Vec<Batch<4, 5>>,
    areas: Vec<Batch<3, 2>>,
    membranes: Vec<Batch<3, 7>>,
    limits: Vec<Batch<3, 6>>,
    tets: Vec<Batch<4, 10>>,
}

impl Sweep {
    /// * `elements`: between slots below `slot_count`, in the order of the mesh.
    pub(crate) fn new(elements: &[Element], slot_count: usize) -> Self {
        let colors = color(elements.iter().map(Element::vertices), slot_count);
        let mut order: Vec<usize> = (0..elements.len()).collect();
        order.sort_by_key(|i| (colors[*i], elements[*i].kind));
        let mut sweep = Self::default();
        for run in order
            .chunk_by(|i, j| (colors[*i], elements[*i].kind) == (colors[*j], elements[*j].kind))
        {
            let run: Vec<&Element> = run.iter().map(|i| &elements[*i]).collect();
            let kind = run[0].kind;
            let batches = match kind {
                Kind::Link => push(&mut sweep.links, &run),
                Kind::Seam => push(&mut sweep.seams, &run),
                Kind::Hinge => push(&mut sweep.hinges, &run),
                Kind::Flex => push(&mut sweep.flexes, &run),
                Kind::Area => push(&mut sweep.areas, &run),
                Kind::Membrane => push(&mut sweep.membranes, &run),
                Kind::Limit => push(&mut sweep.limits, &run),
                Kind::Tet => push(&mut sweep.tets, &run),
            };
            let multiplier = sweep.multipliers;
            sweep.multipliers += batches.len() * kind.multipliers();
            sweep.runs.push(Run {
                kind,
                batches,
                multiplier,
            });
        }
        sweep
    }

    /// Projects every element once.
    ///
    /// * `multipliers`: of all batches, or none if this is the only iteration.
    pub(crate) fn project(
        &self,
        level: Level,
        pass: &Pass<'_>,
        multipliers: &mut [Lanes],
        positions: &mut [[f32; 4]],
    ) {
        dispatch!(level, simd => self.run(simd, pass, multipliers, positions));
    }

    #[inline(always)]
    fn run<S: Simd>(
        &self,
        simd: S,
        pass: &Pass<'_>,
        multipliers: &mut [Lanes],
        x: &mut [[f32; 4]],
    ) {
        for run in &self.runs {
            let of_run =
                run.multiplier..run.multiplier + run.batches.len() * run.kind.multipliers();
            let m = multipliers.get_mut(of_run).unwrap_or_default();
            let range = run.batches.clone();
            match run.kind {
                Kind::Link => distance::project(simd, &self.links[range], pass, m, x),
                Kind::Seam => distance::close(simd, &self.seams[range], pass, x),
                Kind::Hinge => {
                    batch::project::<_, Hinge, 4, 2, 1>(simd, &self.hinges[range], pass, m, x);
                }
                Kind::Flex => flex::project(simd, &self.flexes[range], pass, m, x),
                Kind::Area => {
                    batch::project::<_, Area, 3, 2, 1>(simd, &self.areas[range], pass, m, x);
                }
                Kind::Membrane => {
                    let batches = &self.membranes[range];
                    batch::project::<_, Membrane, 3, 7, 3>(simd, batches, pass, m, x);
                }
                Kind::Limit => {
                    batch::project::<_, Limit, 3, 6, 2>(simd, &self.limits[range], pass, m, x);
                }
                Kind::Tet => {
                    batch::project::<_, Tet, 4, 10, 2>(simd, &self.tets[range], pass, m, x);
                }
            }
        }
    }
}

/// Packs elements eight by eight; the places of the new batches.
fn push<const V: usize, const P: usize>(
    batches: &mut Vec<Batch<V, P>>,
    run: &[&Element],
) -> Range<usize> {
    let start = batches.len();
    batches.extend(run.chunks(LANES).map(|chunk| {
        let lane = |k: usize| chunk[k.min(chunk.len() - 1)];
        Batch {
            slots: std::array::from_fn(|v| std::array::from_fn(|k| lane(k).slots[v])),
            rest: std::array::from_fn(|p| std::array::from_fn(|k| lane(k).rest[p])),
        }
    }));
    start..batches.len()
}
