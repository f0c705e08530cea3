//! `anim weights`: binds a mesh to a skeleton.

use std::path::PathBuf;
use std::time::Instant;

use anim_engine::skin::Influences;
use anim_engine::skin::SkinError;
use anim_engine::skin::weights::{
    self, BiharmonicOptions, BiharmonicReport, BindReport, Bones, GeodesicOptions, HeatOptions,
    InverseDistanceOptions, NearestOptions, SkinWeights, VoxelOptions,
};
use serde_json::{Value, json};

use crate::output::{Exit, Failure};
use crate::weights_rig::{Body, Rig, joined};
use crate::{input, output, threads, weights_picture};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to bind: .obj, .glb, .gltf or .pack; all its meshes, as they stand at rest, whatever skins they have.
    mesh: PathBuf,
    /// Where the joints are: a character, or JSON {"bones": [{"name", "head", "tail", "parent"}]}; else the mesh's own.
    #[arg(long, value_name = "FILE")]
    skeleton: Option<PathBuf>,
    /// A joint that holds nothing, such as a root on the ground; may be given several times.
    #[arg(long, value_name = "NODE")]
    skip: Vec<String>,
    /// How to bind.
    #[arg(long, value_enum, default_value_t = Method::Voxel)]
    method: Method,
    /// Joints that a vertex follows at most.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..))]
    influences: u8,
    /// How weights fall off with the distance by voxels: from 0, with its second power, to 1, with its fourth; 1 if left out.
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    falloff: Option<f64>,
    /// How strongly bones hold what they see by heat: 1, the default, is soft, and 4 nearer to what most artists paint.
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    stiffness: Option<f64>,
    /// Iterations of bbw at most; 400 if left out.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Threads; all if left out, and results do not depend on them.
    #[arg(long)]
    threads: Option<usize>,
    /// Write the bound character: .glb, .gltf or .pack.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Draw the weights: a colour a joint, blended.
    #[arg(long)]
    png: Option<PathBuf>,
    /// Draw those of this joint alone, blue for 0 to red for 1.
    #[arg(long, value_name = "NODE", requires = "png")]
    joint: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// A binding method of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Method {
    /// Distance through the body.
    Voxel,
    /// Bone heat.
    Heat,
    /// Bounded biharmonic weights.
    Bbw,
    /// Distance over the surface.
    Geodesic,
    /// The nearest bone alone.
    Nearest,
    /// Distance as the crow flies.
    Distance,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Voxel => "voxel",
            Self::Heat => "heat",
            Self::Bbw => "bbw",
            Self::Geodesic => "geodesic",
            Self::Nearest => "nearest",
            Self::Distance => "distance",
        }
    }
}

/// Weights of at most as many joints a vertex as were asked for.
fn bind(args: &Args, body: &Body, bones: &Bones) -> Result<Bound, SkinError> {
    let mesh = &body.mesh;
    let influences = usize::from(args.influences);
    let some = Some(influences);
    let mut solver = None;
    let (weights, mut report) = match args.method {
        Method::Voxel => {
            let default = VoxelOptions::default();
            let options = VoxelOptions {
                influences,
                falloff: args.falloff.unwrap_or(default.falloff),
                ..default
            };
            weights::voxel(mesh, bones, &options)?
        }
        Method::Heat => {
            let default = HeatOptions::default();
            let options = HeatOptions {
                stiffness: args.stiffness.unwrap_or(default.stiffness),
                influences: some,
            };
            weights::heat(mesh, bones, &options)?
        }
        Method::Bbw => {
            let default = BiharmonicOptions::default();
            let options = BiharmonicOptions {
                influences: some,
                max_iterations: args
                    .iterations
                    .map_or(default.max_iterations, |n| n as usize),
                ..default
            };
            let (weights, report) = weights::biharmonic(mesh, bones, &options)?;
            let bind = report.bind.clone();
            solver = Some((options, report));
            (weights, bind)
        }
        Method::Geodesic => {
            let options = GeodesicOptions {
                influences: some,
                ..GeodesicOptions::default()
            };
            weights::geodesic(mesh, bones, &options)?
        }
        Method::Nearest => weights::nearest(mesh, bones, &NearestOptions::default())?,
        Method::Distance => {
            let options = InverseDistanceOptions {
                influences: some,
                ..InverseDistanceOptions::default()
            };
            weights::inverse_distance(mesh, bones, &options)?
        }
    };
    // Bones that are equally near may be more than were asked for.
    let (weights, dropped) = weights.limited(influences);
    report.dropped_mass_max = report.dropped_mass_max.max(dropped);
    Ok(Bound {
        weights,
        report,
        solver,
    })
}

/// What came of a method.
struct Bound {
    weights: SkinWeights,
    report: BindReport,
    /// Of bbw, which solves step by step.
    solver: Option<(BiharmonicOptions, BiharmonicReport)>,
}

/// Refuses options of other methods than the one that runs.
fn check(args: &Args) -> Result<(), Failure> {
    let of = |option, given: bool, method: Method| match given && args.method != method {
        true => {
            let message = format!(
                "{} has none: only {} does",
                args.method.name(),
                method.name()
            );
            Err(Failure::option(option, message))
        }
        false => Ok(()),
    };
    of("--falloff", args.falloff.is_some(), Method::Voxel)?;
    of("--stiffness", args.stiffness.is_some(), Method::Heat)?;
    of("--iterations", args.iterations.is_some(), Method::Bbw)?;
    if let Some(falloff) = args.falloff.filter(|f| !(0.0..=1.0).contains(f)) {
        let message = format!("{falloff} is not in [0, 1]");
        return Err(Failure::option("--falloff", message));
    }
    if let Some(stiffness) = args.stiffness.filter(|s| !(1e-6..=1e6).contains(s)) {
        let message = format!("{stiffness} is not in [1e-6, 1e6]");
        return Err(Failure::option("--stiffness", message));
    }
    Ok(())
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if let Some(out) = &args.out {
        output::character_format(out)?;
    }
    args.png.as_deref().map_or(Ok(()), output::check_picture)?;
    check(args)?;
    let name = args.mesh.display().to_string();
    let document = input::document(&args.mesh)?;
    let body = Body::new(&document, &name)?;
    let mut rig = match &args.skeleton {
        Some(path) => Rig::load(path)?,
        None => Rig::of(document.clone(), &name)?,
    };
    rig.skip(&args.skip)?;
    let shown = args.joint.as_deref();
    let shown = shown.map(|joint| rig.place("--joint", joint));
    let shown = shown.transpose()?;

    let start = Instant::now();
    let bound = threads::within(args.threads, || bind(args, &body, &rig.bones))?;
    let seconds = start.elapsed().as_secs_f64();
    let Bound {
        weights,
        report,
        solver,
    } = bound.map_err(|error| Failure::new(name.as_str(), "/", error))?;
    let unsolved = solver.as_ref().and_then(unsolved);
    if let Some(message) = &unsolved {
        output::diagnostic("warning", &name, "bbw", message);
    }
    let influences = weights.to_influences();

    if let Some(out) = &args.out {
        let format = output::character_format(out)?;
        let bound = joined(
            &document,
            body.parts(&influences),
            &rig,
            args.skeleton.is_some(),
        );
        output::file(out, &anim_asset::encode(&bound, format))?;
    }
    if let Some(png) = &args.png {
        let image = weights_picture::draw(&body.mesh, &weights, &rig, shown)?;
        output::file(png, &image.to_png())?;
    }
    let value = json!({
        "file": input::file_name(&args.mesh),
        "method": args.method.name(),
        "seconds": seconds,
        "vertices": weights.vertex_count(),
        "joints": weights.joint_count(),
        "influences": weights.max_influences(),
        "empty_rows": (0..weights.vertex_count()).filter(|v| weights.row(*v).len() == 0).count(),
        "islands": report.islands.len(),
        "sum_error_max": sum_error(&influences),
        "dropped_mass_max": report.dropped_mass_max,
        "components": report.components,
        "report": told(&report, &rig),
        "solver": solver.as_ref().map(solver_json),
        "out": args.out.as_ref().map(|out| out.display().to_string()),
        "findings": output::findings_json(&document.findings),
    });
    if args.json {
        output::json("weights", value)?;
    } else {
        output::findings(&name, &document.findings);
        output::text(&summary(&value))?;
    }
    Ok(Exit::Fine)
}

/// Says so if the solver stopped at its limit of iterations.
fn unsolved((options, report): &(BiharmonicOptions, BiharmonicReport)) -> Option<String> {
    let worst = report.primal_residual.max(report.dual_residual);
    (worst > options.tolerance).then(|| {
        format!(
            "stopped after {} iterations with a residual of {worst:.1e} above {:.1e}: weights are whole but could be smoother, try --iterations {}",
            report.iterations,
            options.tolerance,
            4 * options.max_iterations,
        )
    })
}

/// How the solver of bbw went.
fn solver_json(solver: &(BiharmonicOptions, BiharmonicReport)) -> Value {
    let (options, report) = solver;
    json!({
        "nodes": report.nodes,
        "handles": report.handles,
        "iterations": report.iterations,
        "factorizations": report.factorizations,
        "primal_residual": report.primal_residual,
        "dual_residual": report.dual_residual,
        "tolerance": options.tolerance,
        "converged": unsolved(solver).is_none(),
        "energy": report.energy,
        "energy_gap": report.gap,
    })
}

/// How far the sum of a row is from 1 at most, as it is written.
fn sum_error(influences: &Influences) -> f64 {
    let rows = influences.weights.chunks(influences.per_vertex.max(1));
    rows.map(|row| (row.iter().copied().map(f64::from).sum::<f64>() - 1.0).abs())
        .fold(0.0, f64::max)
}

/// What had to be decided, one object each.
fn told(report: &BindReport, rig: &Rig) -> Vec<Value> {
    let node = |place: u16| rig.joints[usize::from(place)];
    let name = |place: u16| rig.document.nodes[node(place)].name.clone();
    let islands = report.islands.iter().map(|island| {
        json!({
            "what": "island",
            "component": island.component,
            "first_vertex": island.first_vertex,
            "vertices": island.vertex_count,
            "node": node(island.joint),
            "name": name(island.joint),
        })
    });
    let idle = report.unreachable.iter().map(|joint| {
        json!({ "what": "joint without vertices", "node": node(*joint), "name": name(*joint) })
    });
    let loose = (report.unreferenced > 0)
        .then(|| json!({ "what": "vertices without triangles", "vertices": report.unreferenced }));
    islands.chain(idle).chain(loose).collect()
}

/// How it went, for people.
fn summary(value: &Value) -> String {
    let count = |what: &str| {
        let of_kind = |told: &&Value| told["what"] == what;
        let told = value["report"].as_array().into_iter().flatten();
        told.filter(of_kind).count()
    };
    format!(
        "{} vertices follow {} joints by {}, at most {} each, after {:.2} s\n  {} islands, {} joints without vertices, {:.4} of a row dropped at most\n",
        value["vertices"],
        value["joints"],
        value["method"].as_str().unwrap_or_default(),
        value["influences"],
        value["seconds"].as_f64().unwrap_or_default(),
        value["islands"],
        count("joint without vertices"),
        value["dropped_mass_max"].as_f64().unwrap_or_default(),
    ) + &solved(&value["solver"])
}

/// The same of the solver, if there was one.
fn solved(solver: &Value) -> String {
    if solver.is_null() {
        return String::new();
    }
    let number = |key: &str| solver[key].as_f64().unwrap_or_default();
    format!(
        "  {} iterations on {} nodes, residuals {:.1e} and {:.1e}, energy {:.4} at most {:.4} above the least\n",
        solver["iterations"],
        solver["nodes"],
        number("primal_residual"),
        number("dual_residual"),
        number("energy"),
        number("energy_gap"),
    )
}
