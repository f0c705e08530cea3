//! Bounded biharmonic weights: the smoothest there are that stay between 0 and 1 and sum to 1.
//!
//! Best for soft bodies and for handles of any kind, at the price of a solve of seconds. The weights live in the solid that
//! the mesh encloses, on a lattice of cubes, so that open, torn and doubled meshes are as good as clean ones and one solve
//! serves every level of detail of a mesh. All joints are solved for at once with the sum as part of the problem; solving
//! them apart and dividing by the sum afterwards, as is usual, gives rougher weights. They are smooth, but local maxima can
//! remain: nothing forbids them.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_math::Vec3;
//! use anim_skin::weights::{self, BiharmonicOptions, Bone, Bones};
//!
//! let tube = primitives::cylinder(0.2, 1.0, 12, 8);
//! let bone = |from: f32, to: f32, joint| Bone { head: Vec3::y() * from, tail: Vec3::y() * to, joint };
//! let bones = Bones::new(vec![bone(-0.9, -0.3, 0), bone(0.3, 0.9, 1)], 2)?;
//! let options = BiharmonicOptions { nodes: 600, ..BiharmonicOptions::default() };
//! let (weights, report) = weights::biharmonic(&tube, &bones, &options)?;
//! assert!((weights.weight(4 * 13, 0) - 0.5).abs() < 0.01, "half way");
//! assert!(report.primal_residual <= options.tolerance);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

mod admm;
mod lattice;

use anim_geom::Mesh;

use self::lattice::Lattice;
use super::surface::Surface;
use super::{BindReport, Bones, Island, SkinWeights};
use crate::SkinError;

/// How much further than the nearest bone another may be and still be as near, relative.
const TIE: f64 = 1.0e-4;

/// Joints and weights of a node or vertex.
type Row = Vec<(u16, f64)>;

/// How [`biharmonic`] solves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BiharmonicOptions {
    /// About how many lattice nodes to solve on; time grows somewhat faster than they do.
    pub nodes: usize,
    /// Where to stop if the tolerance is not met; weights are whole after any number, 1 included.
    pub max_iterations: usize,
    /// Relative size of the primal and dual residuals to stop at; at 0.003 the energy is within 10⁻³ of the least, at 10⁻⁴ within
    /// 10⁻⁴.
    pub tolerance: f64,
    /// The most joints of a vertex; `None` for as many as there are.
    pub influences: Option<usize>,
}

impl Default for BiharmonicOptions {
    fn default() -> Self {
        Self {
            nodes: 7500,
            max_iterations: 400,
            tolerance: 3.0e-3,
            influences: None,
        }
    }
}

/// How well the weights solve their problem, beside what any binding reports.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct BiharmonicReport {
    /// What had to be decided.
    pub bind: BindReport,
    /// Nodes of the lattice.
    pub nodes: usize,
    /// Nodes held by bones.
    pub handles: usize,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Factorisations of the system.
    pub factorizations: usize,
    /// Distance between the smooth and the bounded solution, relative.
    pub primal_residual: f64,
    /// Last change, relative to the multipliers.
    pub dual_residual: f64,
    /// Σⱼ ½ |A wⱼ|², A the graph Laplacian of the lattice.
    pub energy: f64,
    /// A bound on how far `energy` is above the least: no weights of the lattice are better by more. Some two or three times
    /// as far where the tolerance was met; loose where the iteration was cut short.
    pub gap: f64,
}

/// Minimises the biharmonic energy of weights that are fixed to 1 at their bones, over rows of the simplex.
///
/// min Σⱼ ½ wⱼᵀ L M⁻¹ L wⱼ with wⱼ ≥ 0 and Σⱼ wⱼ = 1 at every node. Nodes within a cell of a bone are held by it, those as
/// near to several by each in equal shares; a bone that holds none takes the node nearest to its middle. Parts of the solid
/// without a bone follow their nearest. Vertices take the trilinear mean of the nodes around them.
///
/// Memory: the factor, some 300 entries a node, and 40 bytes a node and joint.
///
/// Source: Jacobson et al., "Bounded biharmonic weights for real-time deformation", SIGGRAPH 2011, equations 1 to 4, with
/// the sum kept; solved by the alternating direction method of multipliers.
///
/// # Errors
///
/// [`SkinError::Mesh`] for what [`Mesh::check`] finds, or if the solid has more cells than a grid holds;
/// [`SkinError::BadOption`] for options that are not positive.
pub fn biharmonic(
    mesh: &Mesh,
    bones: &Bones,
    options: &BiharmonicOptions,
) -> Result<(SkinWeights, BiharmonicReport), SkinError> {
    super::surface::check_positive("tolerance", options.tolerance)?;
    super::surface::check_positive("nodes", options.nodes as f64)?;
    let surface = Surface::new(mesh, bones)?;
    let solid = solid(&surface);
    let mut report = BiharmonicReport::default();
    let nearest = surface.nearest(false);
    let mut rows: Vec<Row> = nearest.iter().map(|n| n.shares(1.0).collect()).collect();
    let mut islands = Vec::new();
    if !solid.triangles.is_empty() {
        let lattice = Lattice::new(&solid, options.nodes)?;
        let (held, is_anchored) = hold(&surface, &lattice);
        report.nodes = lattice.len();
        report.handles = held.iter().filter(|row| row.is_some()).count();
        let nodes = solve(&lattice, held, options, &mut report)?;
        islands = interpolate(&surface, &lattice, &nodes, &is_anchored, &mut rows);
    }
    let (weights, bind) =
        surface.finish(|vertex| rows[vertex].clone(), islands, options.influences)?;
    report.bind = bind;
    Ok((weights, report))
}

/// What [`biharmonic`] solves on and finds there, for judging solvers by one measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BiharmonicNodes {
    /// Distance between nodes that share a face, m.
    pub spacing: f64,
    /// N, in the mesh's space, m.
    pub positions: Vec<[f64; 3]>,
    /// Which of them bones hold.
    pub is_held: Vec<bool>,
    /// Joints and weights of each.
    pub rows: Vec<Vec<(u16, f64)>>,
}

/// The nodes of [`biharmonic`], before anything is taken to the vertices; none if the mesh has no triangle.
///
/// # Errors
///
/// As [`biharmonic`].
pub fn biharmonic_nodes(
    mesh: &Mesh,
    bones: &Bones,
    options: &BiharmonicOptions,
) -> Result<BiharmonicNodes, SkinError> {
    super::surface::check_positive("tolerance", options.tolerance)?;
    super::surface::check_positive("nodes", options.nodes as f64)?;
    let surface = Surface::new(mesh, bones)?;
    let solid = solid(&surface);
    if solid.triangles.is_empty() {
        return Ok(BiharmonicNodes::default());
    }
    let lattice = Lattice::new(&solid, options.nodes)?;
    let (held, _) = hold(&surface, &lattice);
    Ok(BiharmonicNodes {
        spacing: lattice.spacing(),
        positions: (0..lattice.len())
            .map(|node| lattice.position(node).into())
            .collect(),
        is_held: held.iter().map(Option::is_some).collect(),
        rows: solve(&lattice, held, options, &mut BiharmonicReport::default())?,
    })
}

/// The welded triangles of a surface, whose normals nobody asks for.
fn solid(surface: &Surface) -> Mesh {
    Mesh {
        rest: anim_geom::Vertices {
            positions: surface.positions.clone(),
            normals: vec![anim_math::Vec3::zeros(); surface.positions.len()],
        },
        uvs: Vec::new(),
        triangles: surface.triangles.clone(),
    }
}

/// For each node the row that it is held at, if it is; and whether it is of a part without a bone.
fn hold(surface: &Surface, lattice: &Lattice) -> (Vec<Option<Row>>, Vec<bool>) {
    let reach = lattice.spacing() * (1.0 + TIE);
    let mut held: Vec<Option<Row>> = vec![None; lattice.len()];
    let mut holds = vec![false; surface.bone_count()];
    for (node, held) in held.iter_mut().enumerate() {
        let at = lattice.position(node);
        let least = surface
            .distances_f64(at)
            .map(|(d, _)| d)
            .fold(f64::INFINITY, f64::min);
        if least > reach {
            continue;
        }
        // The floor keeps bones that meet in one point tied around it.
        let limit = least * (1.0 + TIE) + TIE * lattice.spacing();
        let ties = surface
            .distances_f64(at)
            .enumerate()
            .filter(|(_, (d, _))| *d <= limit);
        let mut row: Row = Vec::new();
        for (bone, (_, joint)) in ties {
            holds[bone] = true;
            if row.iter().all(|(j, _)| *j != joint) {
                row.push((joint, 1.0));
            }
        }
        let share = 1.0 / row.len() as f64;
        row.iter_mut().for_each(|(_, weight)| *weight = share);
        *held = Some(row);
    }
    for bone in (0..holds.len()).filter(|bone| !holds[*bone]) {
        let (middle, joint) = surface.middle(bone);
        let row = held[lattice.nearest(middle)].get_or_insert_default();
        if row.iter().all(|(j, _)| *j != joint) {
            row.push((joint, 1.0));
            let share = 1.0 / row.len() as f64;
            row.iter_mut().for_each(|(_, weight)| *weight = share);
        }
    }
    let (labels, count) = lattice.parts();
    let mut has_bone = vec![false; count];
    for (label, held) in labels.iter().zip(&held) {
        has_bone[*label as usize] |= held.is_some();
    }
    let mut closest = vec![(f64::INFINITY, 0); count];
    for (node, label) in labels.iter().enumerate() {
        let label = *label as usize;
        if !has_bone[label] {
            for (distance, joint) in surface.distances_f64(lattice.position(node)) {
                if distance < closest[label].0 {
                    closest[label] = (distance, joint);
                }
            }
        }
    }
    for (label, held) in labels.iter().zip(&mut held) {
        let label = *label as usize;
        if !has_bone[label] {
            *held = Some(vec![(closest[label].1, 1.0)]);
        }
    }
    let is_anchored = labels
        .iter()
        .map(|label| !has_bone[*label as usize])
        .collect();
    (held, is_anchored)
}

/// The row of every node.
fn solve(
    lattice: &Lattice,
    held: Vec<Option<Row>>,
    options: &BiharmonicOptions,
    report: &mut BiharmonicReport,
) -> Result<Vec<Row>, SkinError> {
    let mut joints: Vec<u16> = held
        .iter()
        .flatten()
        .flatten()
        .map(|(joint, _)| *joint)
        .collect();
    joints.sort_unstable();
    joints.dedup();
    let columns = joints.len();
    let count = lattice.len();
    let mut free = vec![None; count];
    let mut free_count = 0_u32;
    for (free, held) in free.iter_mut().zip(&held) {
        if held.is_none() {
            *free = Some(free_count);
            free_count += 1;
        }
    }
    let rows = free_count as usize;
    // All weights, column by column; the held ones are set, the free ones follow.
    let mut all = vec![0.0; count * columns];
    for (node, row) in held.iter().enumerate() {
        for (joint, weight) in row.iter().flatten() {
            let column = joints.binary_search(joint).unwrap_or(0);
            all[column * count + node] = *weight;
        }
    }
    let mut twice = vec![0.0; count];
    let mut once = vec![0.0; count];
    let mut pull = vec![0.0; rows * columns];
    for column in 0..columns {
        lattice.laplacian(&all[column * count..(column + 1) * count], &mut once);
        lattice.laplacian(&once, &mut twice);
        for (node, free) in free.iter().enumerate() {
            if let Some(row) = free {
                pull[column * rows + *row as usize] = -twice[node];
            }
        }
    }
    let lower = lower_triangle(lattice, &free);
    let problem = admm::Problem {
        rows,
        columns,
        lower: &lower,
        pull: &pull,
    };
    let put = |all: &mut [f64], rows_of: &[f64]| {
        for column in 0..columns {
            for (node, free) in free.iter().enumerate() {
                if let Some(row) = free {
                    all[column * count + node] = rows_of[column * rows + *row as usize];
                }
            }
        }
    };
    let mut least = f64::NEG_INFINITY;
    if rows > 0 {
        let solution = admm::solve(&problem, options)?;
        report.iterations = solution.iterations;
        report.factorizations = solution.factorizations;
        report.primal_residual = solution.primal_residual;
        report.dual_residual = solution.dual_residual;
        put(&mut all, &solution.dual);
        least = energy(lattice, &all, &free).1;
        put(&mut all, &solution.weights);
    }
    let (energy, below) = energy(lattice, &all, &free);
    report.energy = energy;
    report.gap = (energy - least.max(below)).max(0.0);
    let row = |node: usize| {
        let weights = joints
            .iter()
            .enumerate()
            .map(|(column, joint)| (*joint, all[column * count + node]));
        weights.filter(|(_, weight)| *weight > 0.0).collect()
    };
    Ok((0..count).map(row).collect())
}

/// The energy of weights, column by column, and what no weights that are on the simplex where they are free can be below.
///
/// The energy is convex, so it lies above its tangent f(y) + ⟨∇f(y), w − y⟩ at any y, which on the simplex is least at a
/// corner of each row. At the weights themselves (Frank and Wolfe) it is off by the first order of their error; at the y
/// whose slope is that of the solver's multipliers by the second, as corners and weights agree there.
fn energy(lattice: &Lattice, all: &[f64], free: &[Option<u32>]) -> (f64, f64) {
    let count = lattice.len();
    let (mut once, mut twice) = (vec![0.0; count], vec![0.0; count]);
    let (mut least, mut mean) = (vec![f64::INFINITY; count], vec![0.0; count]);
    let mut energy = 0.0;
    for weights in all.chunks_exact(count.max(1)) {
        lattice.laplacian(weights, &mut once);
        lattice.laplacian(&once, &mut twice);
        energy += 0.5 * once.iter().map(|value| value * value).sum::<f64>();
        for (node, slope) in twice.iter().enumerate() {
            least[node] = least[node].min(*slope);
            mean[node] += weights[node] * slope;
        }
    }
    let free_nodes = (0..count).filter(|node| free[*node].is_some());
    let lost: f64 = free_nodes.map(|node| mean[node] - least[node]).sum();
    (energy, energy - lost)
}

/// The lower triangle of A² between free nodes, A the graph Laplacian of all nodes.
fn lower_triangle(lattice: &Lattice, free: &[Option<u32>]) -> Vec<(u32, u32, f64)> {
    let degree: Vec<f64> = (0..lattice.len())
        .map(|node| lattice.neighbors(node).count() as f64)
        .collect();
    let mut lower = Vec::with_capacity(lattice.len() * 30);
    for (node, row) in free.iter().enumerate() {
        let Some(row) = *row else { continue };
        let mut push = |other: usize, value: f64| {
            if let Some(column) = free[other].filter(|column| *column <= row) {
                lower.push((row, column, value));
            }
        };
        push(node, degree[node] * degree[node]);
        for k in lattice.neighbors(node) {
            push(k, -degree[node] - degree[k]);
            for l in lattice.neighbors(k) {
                push(l, 1.0);
            }
        }
    }
    lower
}

/// Takes the rows of the nodes to the vertices of triangles, and lists the components without a bone.
fn interpolate(
    surface: &Surface,
    lattice: &Lattice,
    nodes: &[Row],
    is_anchored: &[bool],
    rows: &mut [Row],
) -> Vec<Island> {
    let mut follows: Vec<Option<(u16, bool)>> = vec![None; surface.components.count()];
    for (vertex, row) in rows.iter_mut().enumerate() {
        let Some(label) = surface.components.label(vertex) else {
            continue;
        };
        row.clear();
        let mut all_anchored = true;
        for (node, share) in lattice.around(surface.positions[vertex]) {
            all_anchored &= is_anchored[node];
            row.extend(
                nodes[node]
                    .iter()
                    .map(|(joint, weight)| (*joint, weight * share)),
            );
        }
        let joint = row.first().map_or(0, |(joint, _)| *joint);
        let (_, so_far) = follows[label as usize].get_or_insert((joint, true));
        *so_far &= all_anchored;
    }
    surface.islands(|label| match follows[label] {
        Some((joint, true)) => Some(joint),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use anim_geom::primitives;
    use anim_math::Vec3;

    use super::*;
    use crate::weights::{Bone, simplex};

    /// A box with three bones, and what it is held at, on a lattice of some 500 nodes.
    fn small() -> (Lattice, Vec<Option<Row>>) {
        let mesh = primitives::cuboid(Vec3::new(0.5, 0.3, 0.2));
        let bone = |x: f32, y: f32, joint| Bone {
            head: Vec3::new(x, y, 0.0),
            tail: Vec3::new(x + 0.15, y, 0.05),
            joint,
        };
        let bones = vec![bone(-0.4, 0.0, 0), bone(0.0, 0.15, 1), bone(0.2, -0.2, 2)];
        let surface = Surface::new(&mesh, &Bones::new(bones, 3).unwrap()).unwrap();
        let lattice = Lattice::new(&mesh, 500).unwrap();
        assert!((300..800).contains(&lattice.len()));
        let (held, _) = hold(&surface, &lattice);
        (lattice, held)
    }

    #[test]
    fn nodes_have_the_energy_that_is_reported() {
        let mesh = primitives::capsule(0.2, 1.0, 12, 6);
        let bone = |from: f32, to: f32, joint| Bone {
            head: Vec3::y() * from,
            tail: Vec3::y() * to,
            joint,
        };
        let bones = Bones::new(vec![bone(-0.4, -0.1, 0), bone(0.1, 0.4, 1)], 2).unwrap();
        let options = BiharmonicOptions {
            nodes: 300,
            ..BiharmonicOptions::default()
        };
        let (_, report) = biharmonic(&mesh, &bones, &options).unwrap();
        let nodes = biharmonic_nodes(&mesh, &bones, &options).unwrap();
        assert_eq!(nodes.positions.len(), report.nodes);
        assert_eq!(
            nodes.is_held.iter().filter(|held| **held).count(),
            report.handles
        );
        let weight = |node: usize, joint: u16| -> f64 {
            let row = nodes.rows[node].iter();
            row.filter(|(j, _)| *j == joint).map(|(_, w)| w).sum()
        };
        let reach = nodes.spacing * 1.001;
        let mut energy = 0.0;
        for (node, at) in nodes.positions.iter().enumerate() {
            let apart = |other: &[f64; 3]| (0..3).map(|a| (at[a] - other[a]).powi(2)).sum::<f64>();
            let near = (0..report.nodes).filter(|k| apart(&nodes.positions[*k]) < reach * reach);
            let near: Vec<usize> = near.collect();
            for joint in 0..2 {
                let differences = near.iter().map(|k| weight(node, joint) - weight(*k, joint));
                energy += 0.5 * differences.sum::<f64>().powi(2);
            }
        }
        // Sums of some thousand terms in another order.
        assert!(
            (energy / report.energy - 1.0).abs() < 1e-10,
            "{energy} {}",
            report.energy
        );
    }

    /// The energy of dense columns and its slope.
    fn energy_and_slopes(lattice: &Lattice, columns: &[Vec<f64>]) -> (f64, Vec<Vec<f64>>) {
        let mut total = 0.0;
        let slopes = columns.iter().map(|column| {
            let (mut once, mut twice) = (vec![0.0; column.len()], vec![0.0; column.len()]);
            lattice.laplacian(column, &mut once);
            lattice.laplacian(&once, &mut twice);
            total += 0.5 * once.iter().map(|v| v * v).sum::<f64>();
            twice
        });
        let slopes = slopes.collect();
        (total, slopes)
    }

    /// Another way to the same weights: accelerated projected gradients, restarted where the energy rises.
    fn by_projected_gradients(lattice: &Lattice, held: &[Option<Row>]) -> (f64, f64) {
        let count = lattice.len();
        let mut at: Vec<Vec<f64>> = vec![vec![1.0 / 3.0; count]; 3];
        for (node, row) in held.iter().enumerate() {
            for (joint, column) in at.iter_mut().enumerate() {
                let of = |row: &Row| {
                    row.iter()
                        .find(|(j, _)| usize::from(*j) == joint)
                        .map_or(0.0, |(_, w)| *w)
                };
                column[node] = row.as_ref().map_or(column[node], of);
            }
        }
        // Twelve neighbours at most, so the graph Laplacian's largest eigenvalue is at most 12.
        let step = 1.0 / 144.0;
        let (mut ahead, mut momentum, mut best) = (at.clone(), 1.0_f64, f64::INFINITY);
        for _ in 0..6000 {
            let (_, slopes) = energy_and_slopes(lattice, &ahead);
            let before = at.clone();
            for node in (0..count).filter(|node| held[*node].is_none()) {
                let mut row: Vec<f64> = (0..3)
                    .map(|j| ahead[j][node] - step * slopes[j][node])
                    .collect();
                simplex::project(&mut row);
                (0..3).for_each(|j| at[j][node] = row[j]);
            }
            let (now, _) = energy_and_slopes(lattice, &at);
            let next = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let push = if now > best {
                0.0
            } else {
                (momentum - 1.0) / next
            };
            momentum = if now > best { 1.0 } else { next };
            best = now;
            for j in 0..3 {
                for node in 0..count {
                    ahead[j][node] = at[j][node] + push * (at[j][node] - before[j][node]);
                }
            }
        }
        let (least, slopes) = energy_and_slopes(lattice, &at);
        let free = (0..count).filter(|node| held[*node].is_none());
        let gap = free.map(|node| {
            let low = (0..3)
                .map(|j| slopes[j][node])
                .fold(f64::INFINITY, f64::min);
            (0..3)
                .map(|j| at[j][node] * (slopes[j][node] - low))
                .sum::<f64>()
        });
        (least, gap.sum())
    }

    #[test]
    fn two_methods_find_the_same_energy() {
        let (lattice, held) = small();
        let (least, gap) = by_projected_gradients(&lattice, &held);
        // Within the gap of the least there is, whatever the method.
        assert!(gap < 1e-3 * least, "{gap} of {least}");
        let mut report = BiharmonicReport::default();
        let nodes = solve(&lattice, held, &BiharmonicOptions::default(), &mut report).unwrap();
        let above = report.energy - least;
        assert!(above.abs() < 1e-3 * least, "{} for {least}", report.energy);
        // The solver's own bound holds, down to what the other method leaves open.
        assert!(above <= report.gap + gap, "{above} {}", report.gap);
        assert!(nodes.iter().flatten().all(|(_, weight)| *weight > 0.0));
        let sums = nodes
            .iter()
            .map(|row| row.iter().map(|(_, weight)| weight).sum::<f64>());
        assert!(sums.fold(0.0_f64, |worst, sum| worst.max((sum - 1.0).abs())) < 1e-12);
    }

    #[test]
    fn the_energy_is_proved_to_be_within_a_ten_thousandth_of_the_least() {
        let (lattice, held) = small();
        let options = BiharmonicOptions {
            tolerance: 1e-4,
            ..BiharmonicOptions::default()
        };
        let mut report = BiharmonicReport::default();
        solve(&lattice, held, &options, &mut report).unwrap();
        assert!(report.primal_residual.max(report.dual_residual) <= options.tolerance);
        assert!(report.gap < 1e-4 * report.energy, "{report:?}");
    }

    #[test]
    fn few_weights_have_a_maximum_away_from_their_bone() {
        let (lattice, held) = small();
        let is_free: Vec<bool> = held.iter().map(Option::is_none).collect();
        let mut report = BiharmonicReport::default();
        let nodes = solve(&lattice, held, &BiharmonicOptions::default(), &mut report).unwrap();
        let weight = |node: usize, joint: u16| {
            let of = nodes[node].iter().find(|(j, _)| *j == joint);
            of.map_or(0.0, |(_, weight)| *weight)
        };
        let is_maximum = |node: usize, joint: u16| {
            lattice
                .neighbors(node)
                .all(|k| weight(k, joint) + 1e-3 < weight(node, joint))
        };
        let free = (0..lattice.len()).filter(|node| is_free[*node]);
        let maxima = free.flat_map(|node| (0..3).map(move |joint| (node, joint)));
        // None is a theorem for such weights; this many of 20 bones are seen on hands.
        assert!(
            maxima
                .filter(|(node, joint)| is_maximum(*node, *joint))
                .count()
                <= 5
        );
    }
}
