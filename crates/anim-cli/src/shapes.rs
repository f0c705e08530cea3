//! `anim shapes`: the morph targets of a face: their names, sizes and components, and weights for a face to match.

use std::path::{Path, PathBuf};

use anim_asset::{Document, Format, Primitive};
use anim_engine::math::Vec3;
use anim_engine::math::nalgebra::DMatrix;
use anim_engine::skin::morph::{CompactShape, ShapePca, ShapeSolver, SolveOptions, arkit, pca};
use anim_engine::skin::{MorphTarget, SkinError};
use serde_json::{Map, Value, json};

use crate::output::{Exit, Failure};
use crate::shapes_curves::{self, Curves};
use crate::{input, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A character: .glb, .gltf or .pack.
    file: PathBuf,
    /// Number or name of the mesh; the one with most shapes if left out.
    #[arg(long)]
    mesh: Option<String>,
    /// Solve for the weights of a face: a character whose mesh has the same vertices in the same order, or a .csv of
    /// markers, a line each: vertex,x,y,z, m, in the mesh's own space.
    #[arg(long)]
    target: Option<PathBuf>,
    /// Tell what the shapes take in 16 bits, and what they lose; --out FILE.glb, .gltf or .pack writes the file with them.
    #[arg(long)]
    compress: bool,
    /// Displacements below this are left out by --compress, m.
    #[arg(long, default_value_t = 1e-5)]
    tolerance: f32,
    /// Tell how much of the shapes' energy the first principal components hold; --out FILE.json writes the components and
    /// how much of each a shape has.
    #[arg(long)]
    pca: bool,
    /// Tell what the weight curves of a clip take; --out FILE.animcurves writes them.
    #[arg(long)]
    curves: bool,
    /// Number or name of the clip of --curves; the first if left out.
    #[arg(long, requires = "curves")]
    clip: Option<String>,
    /// Frames a second that --curves keeps.
    #[arg(long, default_value_t = 60.0)]
    fps: f32,
    /// Error that a weight of --curves may have.
    #[arg(long, default_value_t = 0.005)]
    weight_tolerance: f32,
    /// Write what --compress, --pca or --curves made, told by the extension.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Numbers that a dense matrix of shapes may hold.
const MOST_NUMBERS: usize = 1 << 28;
/// Shares of the energy that people are told the components for.
const SHARES: [f64; 3] = [0.9, 0.99, 0.999];

/// The shapes of one primitive.
pub(crate) struct Face<'a> {
    /// Indices of the mesh, and of the primitive in it.
    pub(crate) place: (usize, usize),
    pub(crate) primitive: &'a Primitive,
    pub(crate) names: Vec<String>,
}

/// What `--out` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Product {
    Shapes(Format),
    Components,
    Curves,
}

/// Told by the extension of `--out`; what makes it must be asked for.
fn product(args: &Args) -> Result<Option<Product>, Failure> {
    let Some(out) = &args.out else {
        return Ok(None);
    };
    let is = |wanted: &str| {
        out.extension()
            .is_some_and(|e| e.eq_ignore_ascii_case(wanted))
    };
    let (product, given, option) = if is("json") {
        (Product::Components, args.pca, "--pca")
    } else if is(shapes_curves::EXTENSION) {
        (Product::Curves, args.curves, "--curves")
    } else {
        let format = output::character_format(out).map_err(|_| {
            let wanted =
                "not one of .glb, .gltf, .pack (--compress), .json (--pca), .animcurves (--curves)";
            Failure::new(out.display().to_string(), "extension", wanted)
        })?;
        (Product::Shapes(format), args.compress, "--compress")
    };
    if !given {
        let message = format!(
            "{} is what {option} makes, which was not asked for",
            out.display()
        );
        return Err(Failure::option("--out", message));
    }
    Ok(Some(product))
}

impl Face<'_> {
    fn targets(&self) -> &[MorphTarget] {
        &self.primitive.targets
    }

    fn rest(&self) -> &[Vec3] {
        &self.primitive.mesh.rest.positions
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    for (option, number) in [
        ("--tolerance", args.tolerance),
        ("--weight-tolerance", args.weight_tolerance),
        ("--fps", args.fps),
    ] {
        if !(number.is_finite() && number > 0.0) {
            let what = format!("{number} is not a positive number");
            return Err(Failure::option(option, what));
        }
    }
    let product = product(args)?;
    let document = input::document(&args.file)?;
    let file = args.file.display().to_string();
    let face = face(&document, args.mesh.as_deref(), &file)?;
    let unusable = |error: SkinError| Failure::new(&file, "/meshes", error);

    let report = arkit::match_names(&face.names);
    let missing: Vec<&str> = report.missing.iter().map(|n| arkit::NAMES[*n]).collect();
    let extra: Vec<&String> = report.extra.iter().map(|n| &face.names[*n]).collect();
    let mut value = json!({
        "file": input::file_name(&args.file),
        "vertices": face.rest().len(),
        "shapes": face.names,
        "found": report.found.len(),
        "missing": missing,
        "extra": extra,
        "findings": output::findings_json(&document.findings),
    });
    let mut text = format!(
        "{} shapes of {} vertices, {} of the 52 ARKit ones\n",
        face.names.len(),
        face.rest().len(),
        report.found.len()
    );
    for (what, names) in [("missing", missing.join(", ")), ("extra", joined(&extra))] {
        if !names.is_empty() {
            text.push_str(&format!("{what}: {}\n", output::printable(&names)));
        }
    }
    let mut made = None;
    if args.compress {
        let targets = compress(&face, args.tolerance, &mut value, &mut text).map_err(unusable)?;
        if let Some(Product::Shapes(format)) = product {
            made = Some(with_shapes(&document, face.place, targets, format));
        }
    }
    if args.pca {
        fits("--pca", &face, face.rest().len())?;
        let pca = components(&face, &mut value, &mut text).map_err(unusable)?;
        if product == Some(Product::Components) {
            made = Some(components_json(&face, &pca).into_bytes());
        }
    }
    if args.curves {
        let request = Curves {
            clip: args.clip.as_deref(),
            fps: args.fps,
            tolerance: args.weight_tolerance,
            most_numbers: MOST_NUMBERS,
        };
        let curves = shapes_curves::compress(&document, &face, &request)?;
        text.push_str(&curves.told);
        value["curves"] = curves.value;
        if product == Some(Product::Curves) {
            made = Some(curves.bytes);
        }
    }
    if let Some(target) = &args.target {
        let markers = markers(target, &face)?;
        fits("--target", &face, markers.len())?;
        solve(&face, &markers, &mut value, &mut text).map_err(unusable)?;
    }
    if let (Some(out), Some(bytes)) = (&args.out, made) {
        output::file(out, &bytes)?;
        let out = out.display().to_string();
        text.push_str(&format!("wrote {}\n", output::printable(&out)));
        value["out"] = json!(out);
    }
    if args.json {
        output::json("shapes", value)?;
    } else {
        output::findings(&file, &document.findings);
        output::text(&text)?;
    }
    Ok(Exit::Fine)
}

/// Refuses a matrix of all shapes at `count` vertices that would fill the memory.
fn fits(option: &str, face: &Face<'_>, count: usize) -> Result<(), Failure> {
    let numbers = face.targets().len().saturating_mul(3 * count);
    if numbers > MOST_NUMBERS {
        let what = format!("{numbers} numbers are more than {MOST_NUMBERS}");
        return Err(Failure::option(option, what));
    }
    Ok(())
}

fn joined(names: &[&String]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.join(", ")
}

/// The primitive with most shapes, of one mesh or of all.
fn face<'a>(document: &'a Document, wanted: Option<&str>, file: &str) -> Result<Face<'a>, Failure> {
    let meshes: Vec<_> = document.meshes.iter().enumerate().collect();
    let meshes = match wanted {
        None => meshes,
        Some(wanted) => {
            let named = meshes
                .iter()
                .find(|(_, mesh)| mesh.name.as_deref() == Some(wanted));
            let number = wanted.trim_start_matches('#').parse::<usize>();
            let numbered = number.ok().and_then(|number| meshes.get(number));
            let one = named.or(numbered).ok_or_else(|| {
                let message = format!("no mesh '{wanted}' among {}", meshes.len());
                Failure::option("--mesh", message)
            })?;
            vec![*one]
        }
    };
    let primitives = meshes.into_iter().flat_map(|(index, mesh)| {
        let primitives = mesh.primitives.iter().enumerate();
        primitives.map(move |(place, primitive)| ((index, place), primitive))
    });
    // Of equals the first.
    let most = primitives.reduce(|a, b| {
        let is_more = b.1.targets.len() > a.1.targets.len();
        if is_more { b } else { a }
    });
    let (place, primitive) = most
        .filter(|(_, primitive)| !primitive.targets.is_empty())
        .ok_or_else(|| Failure::new(file, "/meshes", "no shapes"))?;
    let names = primitive.targets.iter().enumerate();
    let names = names.map(|(place, target)| {
        let name = target.name.clone();
        name.unwrap_or_else(|| format!("target_{place}"))
    });
    Ok(Face {
        place,
        primitive,
        names: names.collect(),
    })
}

/// What the shapes take as numbers, and in 16 bits; and the shapes as they come back from these.
fn compress(
    face: &Face<'_>,
    tolerance: f32,
    value: &mut Value,
    text: &mut String,
) -> Result<Vec<MorphTarget>, SkinError> {
    let (mut rows, mut raw, mut bytes, mut error) = (Vec::new(), 0, 0, 0.0_f32);
    let mut targets = Vec::with_capacity(face.targets().len());
    for (name, target) in face.names.iter().zip(face.targets()) {
        let compact = CompactShape::new(target, tolerance)?;
        // An index, and three numbers a displacement.
        let numbers = target.positions.len() + target.normals.len();
        let target_raw = 4 * target.vertices.len() + 12 * numbers;
        rows.push(json!({
            "name": name,
            "raw_bytes": target_raw,
            "bytes": compact.bytes(),
            "max_error_mm": compact.error * 1e3,
            "max_normal_error": compact.normal_error,
        }));
        targets.push(compact.decode());
        raw += target_raw;
        bytes += compact.bytes();
        error = error.max(compact.error);
    }
    text.push_str(&format!(
        "{raw} bytes as numbers, {bytes} in 16 bits, at most {:.4} mm off\n",
        error * 1e3
    ));
    value["raw_bytes"] = json!(raw);
    value["bytes"] = json!(bytes);
    value["max_error_mm"] = json!(error * 1e3);
    value["compressed"] = json!(rows);
    Ok(targets)
}

/// The file with other shapes of one primitive.
fn with_shapes(
    document: &Document,
    (mesh, primitive): (usize, usize),
    targets: Vec<MorphTarget>,
    format: Format,
) -> Vec<u8> {
    let mut document = document.clone();
    document.meshes[mesh].primitives[primitive].targets = targets;
    anim_asset::encode(&document, format)
}

/// The share of the energy that the first components hold.
fn components(
    face: &Face<'_>,
    value: &mut Value,
    text: &mut String,
) -> Result<ShapePca, SkinError> {
    let matrix = pca::shape_matrix(face.targets(), face.rest().len())?;
    let pca = ShapePca::new(&matrix)?;
    for share in SHARES {
        text.push_str(&format!(
            "{} components hold {:.1} % of the energy\n",
            pca.components_for(share),
            share * 100.0
        ));
    }
    value["energy"] = json!(pca.energies());
    Ok(pca)
}

/// The components as a file: shape s displaces the vertices by Σ coefficients\[s\]\[c\] · components\[c\], m.
fn components_json(face: &Face<'_>, pca: &ShapePca) -> String {
    let columns = |matrix: &DMatrix<f64>| -> Vec<Vec<f32>> {
        let column = |c: usize| matrix.column(c).iter().map(|x| *x as f32).collect();
        (0..matrix.ncols()).map(column).collect()
    };
    let value = json!({
        "schema": "anim.shape-components/1",
        "shapes": face.names,
        "vertices": face.rest().len(),
        "energy": pca.energies(),
        "coefficients": columns(pca.coefficients()),
        "components": columns(pca.components()),
    });
    format!("{value}\n")
}

/// Vertices and where they should be.
type Markers = Vec<(u32, Vec3)>;

/// Reads what weights are solved for.
fn markers(path: &Path, face: &Face<'_>) -> Result<Markers, Failure> {
    let file = path.display().to_string();
    let is_csv = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    if is_csv {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::new(file.as_str(), "read", error))?;
        return marker_lines(&text, face.rest().len(), &file);
    }
    let document = input::document(path)?;
    let count = face.rest().len();
    let primitives = document.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let mut same = primitives.filter(|primitive| primitive.mesh.vertex_count() == count);
    let target = same.next().ok_or_else(|| {
        let what = format!("no mesh of {count} vertices, as the face has");
        Failure::new(file, "/meshes", what)
    })?;
    let positions = target.mesh.rest.positions.iter().copied();
    Ok((0..).zip(positions).collect())
}

/// Reads lines of vertex,x,y,z; the first may be a header.
fn marker_lines(text: &str, vertex_count: usize, file: &str) -> Result<Markers, Failure> {
    let mut markers = Markers::new();
    for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let fail = |what: String| Failure::new(file, format!("line {line}"), what);
        let cells: Vec<&str> = content.split(',').map(str::trim).collect();
        let is_header = line == 1 && cells[0].parse::<f64>().is_err();
        if is_header || content.trim().is_empty() {
            continue;
        }
        let numbers: Vec<f32> = cells[1..]
            .iter()
            .filter_map(|cell| cell.parse().ok())
            .filter(|number: &f32| number.is_finite())
            .collect();
        let (Ok(vertex), [x, y, z], 4) = (cells[0].parse::<u32>(), numbers.as_slice(), cells.len())
        else {
            return Err(fail("not vertex,x,y,z".to_owned()));
        };
        if vertex as usize >= vertex_count {
            return Err(fail(format!("no vertex {vertex} among {vertex_count}")));
        }
        markers.push((vertex, Vec3::new(*x, *y, *z)));
    }
    if markers.is_empty() {
        return Err(Failure::new(file, "line 1", "no markers"));
    }
    Ok(markers)
}

/// The weights that bring the markers nearest to where they should be.
fn solve(
    face: &Face<'_>,
    markers: &[(u32, Vec3)],
    value: &mut Value,
    text: &mut String,
) -> Result<(), SkinError> {
    let vertices: Vec<u32> = markers.iter().map(|(vertex, _)| *vertex).collect();
    let wanted: Vec<Vec3> = markers
        .iter()
        .map(|(vertex, place)| place - face.rest()[*vertex as usize])
        .collect();
    let mut solver = ShapeSolver::new(face.targets(), &vertices, &SolveOptions::default())?;
    let outcome = solver.solve(&wanted);

    let mut got = vec![Vec3::zeros(); face.rest().len()];
    for (target, weight) in face.targets().iter().zip(solver.weights()) {
        for (vertex, displacement) in target.vertices.iter().zip(&target.positions) {
            got[*vertex as usize] += displacement * *weight as f32;
        }
    }
    let left = vertices.iter().zip(&wanted);
    let left: Vec<f32> = left
        .map(|(vertex, wanted)| (wanted - got[*vertex as usize]).norm() * 1e3)
        .collect();
    let mean = left.iter().sum::<f32>() / left.len().max(1) as f32;
    let max = left.iter().copied().fold(0.0, f32::max);

    let weights = face.names.iter().zip(solver.weights());
    let weights: Map<String, Value> = weights
        .map(|(name, weight)| (name.clone(), json!(weight)))
        .collect();
    text.push_str(&format!(
        "{} markers, {mean:.4} mm left, {max:.4} mm at most\n",
        markers.len()
    ));
    for (name, weight) in face.names.iter().zip(solver.weights()) {
        if *weight > 0.0005 {
            text.push_str(&format!("  {weight:.3} {}\n", output::printable(name)));
        }
    }
    value["weights"] = json!(weights);
    value["residual_mm"] = json!({ "mean": mean, "max": max });
    value["markers"] = json!(markers.len());
    value["converged"] = json!(outcome.converged);
    Ok(())
}
