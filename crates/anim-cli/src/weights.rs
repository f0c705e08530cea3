//! `anim weights`: binds a mesh to a skeleton.

use std::path::PathBuf;
use std::time::Instant;

use anim_engine::skin::Influences;
use anim_engine::skin::SkinError;
use anim_engine::skin::weights::{
    self, BiharmonicOptions, BindReport, Bones, GeodesicOptions, HeatOptions,
    InverseDistanceOptions, NearestOptions, SkinWeights, VoxelOptions,
};
use serde_json::{Value, json};

use crate::output::{Exit, Failure};
use crate::weights_rig::{Body, Rig, joined};
use crate::{input, output, weights_picture};

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

    /// Weights of at most `influences` joints a vertex.
    fn bind(
        self,
        body: &Body,
        bones: &Bones,
        influences: usize,
    ) -> Result<(SkinWeights, BindReport), SkinError> {
        let mesh = &body.mesh;
        let some = Some(influences);
        let (weights, mut report) = match self {
            Self::Voxel => {
                let options = VoxelOptions {
                    influences,
                    ..VoxelOptions::default()
                };
                weights::voxel(mesh, bones, &options)?
            }
            Self::Heat => {
                let options = HeatOptions {
                    influences: some,
                    ..HeatOptions::default()
                };
                weights::heat(mesh, bones, &options)?
            }
            Self::Bbw => {
                let options = BiharmonicOptions {
                    influences: some,
                    ..BiharmonicOptions::default()
                };
                let (weights, report) = weights::biharmonic(mesh, bones, &options)?;
                (weights, report.bind)
            }
            Self::Geodesic => {
                let options = GeodesicOptions {
                    influences: some,
                    ..GeodesicOptions::default()
                };
                weights::geodesic(mesh, bones, &options)?
            }
            Self::Nearest => weights::nearest(mesh, bones, &NearestOptions::default())?,
            Self::Distance => {
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
        Ok((weights, report))
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if let Some(out) = &args.out {
        output::character_format(out)?;
    }
    args.png.as_deref().map_or(Ok(()), output::check_picture)?;
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
    let bound = args
        .method
        .bind(&body, &rig.bones, usize::from(args.influences));
    let seconds = start.elapsed().as_secs_f64();
    let (weights, report) = bound.map_err(|error| Failure::new(name.as_str(), "/", error))?;
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
    )
}
