//! The reader: from bytes to a document, stage by stage.

use std::cell::RefCell;

use super::accessor::Accessor;
use super::budget::Budget;
use super::buffer::{self, View};
use super::json::Json;
use super::log::Log;
use super::{animation, bounds, container, mesh, node, rig, skin, spring_bone, validate};
use crate::{AssetError, Document};

/// Reads a `.glb` or a `.gltf` file; which of the two is told by content.
///
/// `external` gives the bytes of a relative URI, whose percent escapes are already decoded, or says why not. It is
/// asked for buffers only, never for images.
///
/// The document holds what animation needs. Everything that was wrong and repaired or left out is in its findings. Time
/// is linear in the size of the file; memory is at most 64 MiB and eight times that size.
///
/// # Errors
///
/// Where the file has no usable meaning: `INVALID_JSON`, `GLB_…`, `UNKNOWN_ASSET_MAJOR_VERSION`,
/// `UNSUPPORTED_EXTENSION` for a required one, `IO_ERROR` for a missing buffer, `NODE_LOOP`, `NODE_PARENT_OVERRIDE`,
/// `UNRESOLVED_REFERENCE` for a joint that does not exist, and `TOO_LARGE` for counts out of proportion to the file.
pub fn read(
    bytes: &[u8],
    external: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Document, AssetError> {
    let log = Log::default();
    let parts = container::split(bytes, &log)?;
    let root = Json::parse(parts.json)?;
    check_version(&root, &log)?;
    check_extensions(&root, &log)?;
    validate::check(&root, &log);

    let budget = Budget::new(bytes.len());
    let count = |name| root.list(name).len();
    budget.take(count("bufferViews"), size_of::<View<'_>>(), "/bufferViews")?;
    budget.take(count("accessors"), size_of::<Accessor<'_>>(), "/accessors")?;
    let buffers = buffer::buffers(&root, parts.bin, external, &log, &budget)?;
    let views = buffer::views(&root, &buffers, &log);
    let mut accessors = Vec::with_capacity(count("accessors"));
    for (index, json) in root.list("accessors").iter().enumerate() {
        accessors.push(Accessor::open(index, json, &views, &log));
    }
    bounds::check(&root, &accessors, &log, &budget);

    let reader = Reader {
        root: &root,
        users: RefCell::new(views.iter().map(|_| None).collect()),
        views,
        accessors,
        is_quantized: has_text(root.list("extensionsUsed"), "KHR_mesh_quantization"),
        log: &log,
        budget: &budget,
    };
    let (mut nodes, scenes) = node::nodes(&reader)?;
    let skins = skin::skins(&reader)?;
    for node in &mut nodes {
        // A skin without joints moves nothing, and is already named as wrong.
        node.skin = node.skin.filter(|skin| !skins[*skin].joints.is_empty());
    }
    let (meshes, tangents) = mesh::meshes(&reader, &nodes, &skins)?;
    let clips = animation::clips(&reader, &nodes, &meshes)?;
    let mut document = Document {
        nodes,
        scenes,
        meshes,
        skins,
        clips,
        findings: Vec::new(),
        drivers: Vec::new(),
        tangents,
    };
    rig::check(&reader, &mut document);
    document.drivers = spring_bone::drivers(&reader, &document)?;
    drop(reader);
    document.findings = log.finish();
    Ok(document)
}

/// What all stages share.
pub(super) struct Reader<'r> {
    /// The whole JSON.
    pub(super) root: &'r Json<'r>,
    /// All accessors; `None` for those without a readable format.
    pub(super) accessors: Vec<Option<Accessor<'r>>>,
    /// True if the file declares KHR_mesh_quantization.
    pub(super) is_quantized: bool,
    pub(super) log: &'r Log,
    pub(super) budget: &'r Budget,
    views: Vec<View<'r>>,
    users: RefCell<Vec<Option<(Usage, usize)>>>,
}

/// What a buffer view holds; it must not hold two of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    Vertices,
    Indices,
    BindMatrices,
    Keys,
}

impl<'r> Reader<'r> {
    /// Accessor `index`, if there is one that can be read.
    pub(super) fn accessor(&self, index: usize) -> Option<&Accessor<'r>> {
        self.accessors.get(index)?.as_ref()
    }

    /// The accessor that the member `name` of `json` refers to.
    pub(super) fn accessor_of(&self, json: &Json<'_>, name: &str) -> Option<&Accessor<'r>> {
        self.accessor(json.count(name)?)
    }

    /// The name of `json`.
    pub(super) fn name(json: &Json<'_>) -> Option<String> {
        json.text("name").map(str::to_owned)
    }

    /// True if the view of `accessor` has an explicit stride.
    pub(super) fn is_strided(&self, accessor: &Accessor<'_>) -> bool {
        self.view(accessor)
            .is_some_and(|view| view.stride.is_some())
    }

    /// The view of the base of `accessor`.
    pub(super) fn view(&self, accessor: &Accessor<'_>) -> Option<&View<'r>> {
        self.views.get(accessor.view?)
    }

    /// Notes that `place` uses `accessor` for `usage`, and reports views that hold two kinds of things.
    pub(super) fn note_usage(&self, accessor: &Accessor<'_>, usage: Usage, place: &str) {
        let (Some(index), Some(view)) = (accessor.view, self.view(accessor)) else {
            return;
        };
        let target = match usage {
            Usage::Vertices => Some(34962),
            Usage::Indices => Some(34963),
            Usage::BindMatrices | Usage::Keys => None,
        };
        let mut users = self.users.borrow_mut();
        let user = users[index].get_or_insert((usage, accessor.index));
        if user.0 != usage || view.target.is_some_and(|given| Some(given) != target) {
            let message = format!("/bufferViews/{index} is for something else than {usage:?}");
            self.log
                .error("BUFFER_VIEW_TARGET_OVERRIDE", place, message);
        } else if usage == Usage::Vertices && view.stride.is_none() && user.1 != accessor.index {
            let message =
                format!("/bufferViews/{index} has several vertex attributes, but no stride");
            let code = "MESH_PRIMITIVE_ACCESSOR_WITHOUT_BYTESTRIDE";
            self.log.error(code, place, message);
        }
    }
}

/// Refuses what is not glTF 2.
fn check_version(root: &Json<'_>, log: &Log) -> Result<(), AssetError> {
    let refuse = |code, location: &str, message: String| {
        Err(AssetError {
            code,
            location: location.to_owned(),
            message,
        })
    };
    let Some(asset) = root.get("asset") else {
        return refuse("UNDEFINED_PROPERTY", "/", "asset is missing".to_owned());
    };
    let Some(version) = asset.text("version") else {
        let message = "version is missing".to_owned();
        return refuse("UNDEFINED_PROPERTY", "/asset", message);
    };
    let parse = |text: &str| {
        let (major, minor) = text.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    };
    let Some((major, minor)) = parse(version) else {
        let message = format!("'{version}' is not a version");
        return refuse("PATTERN_MISMATCH", "/asset/version", message);
    };
    let least = asset.text("minVersion").and_then(parse);
    if major != 2 || least.is_some_and(|least| least > (2, 0)) {
        let message = format!("version {version} cannot be read, only 2.0");
        return refuse("UNKNOWN_ASSET_MAJOR_VERSION", "/asset/version", message);
    }
    if minor > 0 {
        let message = format!("version {version} is read as 2.0");
        log.warning("UNKNOWN_ASSET_MINOR_VERSION", "/asset/version", message);
    }
    Ok(())
}

/// Refuses required extensions that change the meaning of what is read.
fn check_extensions(root: &Json<'_>, log: &Log) -> Result<(), AssetError> {
    for (at, extension) in root.list("extensionsRequired").iter().enumerate() {
        let Some(name) = extension.as_text() else {
            continue;
        };
        let location = format!("/extensionsRequired/{at}");
        if name == "KHR_mesh_quantization" {
            continue;
        }
        if !is_irrelevant(name) {
            return Err(AssetError {
                code: "UNSUPPORTED_EXTENSION",
                location,
                message: format!("{name} is required, but cannot be read"),
            });
        }
        let message = format!("{name} is required, but means nothing to animation");
        log.info("UNSUPPORTED_EXTENSION", location, message);
    }
    Ok(())
}

/// True of extensions that change neither shapes nor motion as far as they are read here.
fn is_irrelevant(name: &str) -> bool {
    const PREFIXES: [&str; 8] = [
        "KHR_materials_",
        "KHR_texture_",
        "EXT_texture_",
        "MSFT_texture_",
        "KHR_lights_",
        "EXT_lights_",
        "KHR_xmp",
        "VRM",
    ];
    const NAMES: [&str; 4] = [
        "KHR_animation_pointer",
        "KHR_audio",
        "KHR_node_visibility",
        "MSFT_lod",
    ];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn has_text(list: &[Json<'_>], text: &str) -> bool {
    list.iter().any(|element| element.as_text() == Some(text))
}
