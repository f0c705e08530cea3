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
        if pass.base.is_empty() {
            dispatch!(level, simd => self.run::<_, false>(simd, pass, multipliers, positions));
        } else {
            dispatch!(level, simd => self.run::<_, true>(simd, pass, multipliers, positions));
        }
    }

    /// Damps every element once, where the particles are.
    pub(crate) fn damp(
        &self,
        level: Level,
        pass: &Pass<'_>,
        positions: &[[f32; 4]],
        velocities: &mut [[f32; 4]],
    ) {
        dispatch!(level, simd => self.run_damping(simd, pass, positions, velocities));
    }

    #[inline(always)]
    fn run_damping<S: Simd>(&self, simd: S, pass: &Pass<'_>, x: &[[f32; 4]], v: &mut [[f32; 4]]) {
        for run in &self.runs {
            let range = run.batches.clone();
            match run.kind {
                Kind::Link => distance::damp(simd, &self.links[range], pass, x, v),
                Kind::Hinge => {
                    batch::damp::<_, Hinge, 4, 2, 1>(simd, &self.hinges[range], pass, x, v);
                }
                Kind::Flex => flex::damp(simd, &self.flexes[range], pass, x, v),
                Kind::Area => batch::damp::<_, Area, 3, 2, 1>(simd, &self.areas[range], pass, x, v),
                Kind::Membrane => {
                    batch::damp::<_, Membrane, 3, 7, 3>(simd, &self.membranes[range], pass, x, v);
                }
                Kind::Tet => batch::damp::<_, Tet, 4, 10, 2>(simd, &self.tets[range], pass, x, v),
                // These push no harder for being fast.
                Kind::Seam | Kind::Limit => {}
            }
        }
    }

    /// Whether particles are shared by so many elements that they should be counted from near by; see [`Pass::base`].
    pub(crate) fn is_solid(&self) -> bool {
        !self.tets.is_empty()
    }

    #[inline(always)]
    fn run<S: Simd, const BASE: bool>(
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
                Kind::Link => distance::project::<_, BASE>(simd, &self.links[range], pass, m, x),
                Kind::Seam => distance::close::<_, BASE>(simd, &self.seams[range], pass, x),
                Kind::Hinge => {
                    batch::project::<_, Hinge, BASE, 4, 2, 1>(
                        simd,
                        &self.hinges[range],
                        pass,
                        m,
                        x,
                    );
                }
                Kind::Flex => flex::project::<_, BASE>(simd, &self.flexes[range], pass, m, x),
                Kind::Area => {
                    batch::project::<_, Area, BASE, 3, 2, 1>(simd, &self.areas[range], pass, m, x);
                }
                Kind::Membrane => {
                    let batches = &self.membranes[range];
                    batch::project::<_, Membrane, BASE, 3, 7, 3>(simd, batches, pass, m, x);
                }
                Kind::Limit => {
                    batch::project::<_, Limit, BASE, 3, 6, 2>(
                        simd,
                        &self.limits[range],
                        pass,
                        m,
                        x,
                    );
                }
                Kind::Tet => {
                    batch::project::<_, Tet, BASE, 4, 10, 2>(simd, &self.tets[range], pass, m, x);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloth::{Bending, ClothSpec, Weave, build};
    use crate::element::Material;
    use crate::soft::{self, SoftSpec};
    use crate::{Model, ModelSpec, element::Area};
    use anim_geom::tet::{Split, lattice};
    use anim_math::Vec3;
    use anim_math::random::Random;

    fn check_disjoint<const V: usize, const P: usize>(batches: &[Batch<V, P>]) {
        for batch in batches {
            let element = |lane: usize| batch.slots.map(|slots| slots[lane]);
            let mut seen = Vec::new();
            for lane in 0..LANES {
                // Copies fill the last batch of a colour.
                if lane > 0 && element(lane) == element(lane - 1) {
                    continue;
                }
                for slot in element(lane) {
                    assert!(!seen.contains(&slot), "{slot}");
                    seen.push(slot);
                }
            }
        }
    }

    #[test]
    fn no_batch_holds_a_particle_twice_and_every_element_is_in_one() {
        let n = 50;
        let model = build(&ClothSpec {
            positions: (0..n * n)
                .map(|v| Vec3::new((v % n) as f32, 0.0, (v / n) as f32) * 0.05)
                .collect(),
            triangles: (0..n * n)
                .filter(|v| v % n != n - 1 && v / n != n - 1)
                .flat_map(|v| [[v, v + n, v + 1], [v + 1, v + n, v + n + 1]])
                .collect(),
            bending: Bending::Dihedral(1.0),
            shear_compliance: 1e-3,
            weave: Some(Weave {
                warp: Vec3::x(),
                stiffness: [1.0; 3],
                limits: [0.5, 1.5],
            }),
            ..ClothSpec::default()
        })
        .unwrap();
        let (mut links, mut hinges, mut membranes) = (0, 0, 0);
        for sweep in model.even.iter().chain(&model.odd) {
            check_disjoint(&sweep.links);
            check_disjoint(&sweep.hinges);
            check_disjoint(&sweep.membranes);
            check_disjoint(&sweep.limits);
            links += sweep.links.len() * LANES;
            hinges += sweep.hinges.len() * LANES;
            membranes += sweep.membranes.len() * LANES;
        }
        let spec = model.spec();
        assert!(model.even.len() > 1 && !model.odd.is_empty());
        // Copies are the rest.
        assert!(links >= spec.links.len() && links < 2 * spec.links.len());
        assert!(hinges >= spec.hinges.len() && hinges < 2 * spec.hinges.len());
        assert!(membranes >= spec.membranes.len() && membranes < 2 * spec.membranes.len());
    }

    /// Damps the first block of a model once.
    fn damp(model: &Model, level: Level, viscosity: f32, velocities: &mut [[f32; 4]]) {
        let spec = model.spec();
        let slots = model.vertex_of_slot.iter().map(|v| *v as usize);
        let at = |v: usize| {
            let x = spec.positions[v];
            [x.x, x.y, x.z, spec.inverse_masses[v]]
        };
        let positions: Vec<_> = slots.map(at).collect();
        let pass = Pass {
            h: 1e-3,
            viscosity,
            seam_step: 0.0,
            base: &[],
        };
        model.even[0].damp(level, &pass, &positions, velocities);
    }

    /// Elements of every kind that has viscosity, at rest.
    fn viscous() -> Vec<Model> {
        let n = 9;
        let sheet = |bending, weave| ClothSpec {
            positions: (0..n * n)
                .map(|v| {
                    let (x, z) = ((v % n) as f32, (v / n) as f32);
                    Vec3::new(x, 0.3 * libm::sinf(x), z) * 0.05
                })
                .collect(),
            triangles: (0..n * n)
                .filter(|v| v % n != n - 1 && v / n != n - 1)
                .flat_map(|v| [[v, v + n, v + 1], [v + 1, v + n, v + n + 1]])
                .collect(),
            bending,
            weave,
            stretch_compliance: 1e-3,
            ..ClothSpec::default()
        };
        let weave = Weave {
            warp: Vec3::x(),
            stiffness: [300.0, 200.0, 50.0],
            limits: [0.0, f32::INFINITY],
        };
        let block = lattice([2, 2, 3], Vec3::new(0.2, 0.2, 0.3), Split::Five);
        let areas = (0..4).map(|v| Area {
            vertices: [v, v + 1, v + 4],
            rest_area: 0.5,
            compliance: 1e-4,
        });
        let loose = ModelSpec {
            positions: (0..8u32)
                .map(|v| Vec3::new((v % 4) as f32, (v / 4) as f32, 0.1 * v as f32))
                .collect(),
            inverse_masses: vec![1.0; 8],
            areas: areas.collect(),
            ..ModelSpec::default()
        };
        vec![
            build(&sheet(Bending::Springs, None)).unwrap(),
            build(&sheet(Bending::Dihedral(1e2), None)).unwrap(),
            build(&sheet(Bending::Isometric(1e-3), Some(weave))).unwrap(),
            Model::new(loose).unwrap(),
            soft::build(&SoftSpec {
                material: Material {
                    damping: 0.01,
                    ..Material::default()
                },
                mesh: block,
                ..SoftSpec::default()
            })
            .unwrap(),
        ]
    }

    #[test]
    fn viscosity_conserves_both_momenta_and_takes_energy() {
        for (place, model) in viscous().iter().enumerate() {
            assert_eq!(model.even.len(), 1);
            let mut random = Random::new(5, place as u64, 0);
            let before: Vec<[f32; 4]> = (0..model.vertex_count())
                .map(|_| {
                    let v = random.in_ball();
                    [v.x, v.y, v.z, 0.0]
                })
                .collect();
            let mut after = before.clone();
            damp(model, Level::new(), 0.02, &mut after);
            let mut plain = before.clone();
            damp(model, Level::baseline(), 0.02, &mut plain);
            assert_eq!(after, plain, "every instruction set gives the same bits");
            let spec = model.spec();
            let (mut linear, mut angular, mut size) = (Vec3::zeros(), Vec3::zeros(), 0.0);
            let [mut had, mut has] = [0.0; 2];
            for (slot, (a, b)) in after.iter().zip(&before).enumerate() {
                let v = model.vertex_of_slot[slot] as usize;
                let mass = 1.0 / spec.inverse_masses[v];
                let [a, b] = [a, b].map(|v| Vec3::new(v[0], v[1], v[2]));
                let impulse = (a - b) * mass;
                linear += impulse;
                angular += spec.positions[v].cross(&impulse);
                size += b.norm() * mass;
                had += b.norm_squared() * mass;
                has += a.norm_squared() * mass;
            }
            assert!(has < 0.99 * had, "{place}: {has} of {had}");
            // Each velocity is rounded some dozens of times.
            assert!(linear.norm() < 1e-5 * size, "{place}: {linear:?} of {size}");
            assert!(
                angular.norm() < 1e-5 * size,
                "{place}: {angular:?} of {size}"
            );
        }
    }

    #[test]
    fn viscosity_leaves_rigid_motion_alone() {
        let (along, spin) = (Vec3::new(1.0, -2.0, 0.5), Vec3::new(0.3, 2.0, -1.0));
        for (place, model) in viscous().iter().enumerate() {
            let before: Vec<[f32; 4]> = model
                .vertex_of_slot
                .iter()
                .map(|v| {
                    let v = along + spin.cross(&model.spec().positions[*v as usize]);
                    [v.x, v.y, v.z, 0.0]
                })
                .collect();
            let mut after = before.clone();
            damp(model, Level::new(), 10.0, &mut after);
            for (a, b) in after.iter().zip(&before) {
                // Speeds of some m/s are differences of what is rounded to 2e-7; strains see them over 5 cm.
                let off = (0..3).map(|i| (a[i] - b[i]).abs()).fold(0.0, f32::max);
                assert!(off < 5e-5, "{place}: {off}");
            }
        }
    }

    #[test]
    fn a_link_loses_the_share_of_its_speed_that_implicit_euler_says() {
        let model = Model::new(ModelSpec {
            positions: vec![Vec3::zeros(), Vec3::y() * 2.0],
            inverse_masses: vec![1.0, 3.0],
            links: vec![Link {
                vertices: [0, 1],
                rest_length: 2.0,
                compliance: 0.01,
            }],
            ..ModelSpec::default()
        })
        .unwrap();
        let mut velocities = [[1.0, 5.0, 0.0, 0.0], [1.0, 5.0, 0.0, 0.0]];
        let upper = model.slot_of_vertex[1] as usize;
        velocities[upper] = [0.5, 8.0, 0.0, 0.0];
        damp(&model, Level::new(), 0.1, &mut velocities);
        // 1 / (1 + τ h (w₀ + w₁) / α), along the link alone.
        let expected = 3.0 / (1.0 + 0.1 * 1e-3 * 4.0 / 0.01);
        let parting = velocities[upper][1] - velocities[1 - upper][1];
        assert!((parting - expected).abs() < 1e-6, "{parting} {expected}");
        assert_eq!([velocities[upper][0], velocities[1 - upper][0]], [0.5, 1.0]);
    }

    /// A sheet that falls for a second, its rigid links solved one by one, those of a vertex before those of the next unless
    /// they are put in another `order`. Returns the largest coordinate, or 1e30 if it is lost.
    fn fall(n: usize, substeps: usize, order: impl Fn(&mut Vec<[usize; 2]>)) -> f32 {
        let dx = 1.0 / (n - 1) as f32;
        let mut x: Vec<Vec3> = (0..n * n)
            .map(|v| Vec3::new((v % n) as f32, 0.0, (v / n) as f32) * dx)
            .collect();
        let mut v = vec![Vec3::zeros(); n * n];
        let mut links = Vec::new();
        for i in 0..n * n {
            let (right, down) = (i % n + 1 < n, i / n + 1 < n);
            links.extend(right.then_some([i, i + 1]));
            links.extend(down.then_some([i, i + n]));
            links.extend((right && down).then_some([i, i + n + 1]));
        }
        order(&mut links);
        let weight = |i: usize| if i < n { 0.0f32 } else { 1.0 };
        let rest: Vec<f32> = links.iter().map(|[a, b]| (x[*a] - x[*b]).norm()).collect();
        let h = 1.0 / 60.0 / substeps as f32;
        for _ in 0..60 * substeps {
            let before = x.clone();
            for i in n..n * n {
                v[i].y -= 9.81 * h;
                x[i] += v[i] * h;
            }
            for (&[a, b], rest) in links.iter().zip(&rest) {
                let d = x[a] - x[b];
                let length = d.norm();
                let shift = d * ((length - rest) / (length * (weight(a) + weight(b)).max(1.0)));
                x[a] -= shift * weight(a);
                x[b] += shift * weight(b);
            }
            for i in n..n * n {
                v[i] = (x[i] - before[i]) / h;
            }
        }
        let coordinates = x.iter().flat_map(|x| x.iter().map(|c| c.abs()));
        coordinates.fold(
            0.0,
            |most: f32, c| if c.is_nan() { 1e30 } else { most.max(c) },
        )
    }

    #[test]
    fn an_order_by_vertex_is_unstable_where_one_by_colour_is_not() {
        let across = 60;
        let by_vertex = fall(across, 10, |_| {});
        let by_color = fall(across, 10, |links| {
            let pairs: Vec<[u32; 2]> = links.iter().map(|l| l.map(|v| v as u32)).collect();
            let colors = color(pairs.iter().map(<[u32; 2]>::as_slice), across * across);
            let mut order: Vec<usize> = (0..links.len()).collect();
            order.sort_by_key(|i| colors[*i]);
            *links = order.iter().map(|i| links[*i]).collect();
        });
        assert!(by_color < 1.5, "{by_color}");
        assert!(by_vertex > 3.0, "{by_vertex}");
    }
}
