//! The shape of the JSON: which members there are, of which types, in which ranges, and what they refer to.
//!
//! These tables describe all that animation reads; [`validate`](super::validate) holds a file against them.

/// What a value must be.
pub(super) enum Kind {
    /// Not looked into.
    Any,
    Flag,
    Text,
    /// One of these texts; others are only suspicious.
    Name(&'static [&'static str]),
    /// One of these numbers; others are only suspicious.
    Code(&'static [usize]),
    /// An integer in this range.
    Count(usize, usize),
    /// A number in this range.
    Number(f64, f64),
    /// An index into this list of the file.
    Index(&'static str),
    /// An index into a list that is not the file's, checked by who reads it.
    LocalIndex,
    /// So many numbers in this range.
    Numbers(&'static [usize], f64, f64),
    Object(&'static [Member]),
    /// A list with at least one element.
    List(&'static Kind),
    /// A list of different indices.
    Set(&'static Kind),
    /// An object with any names, at least one.
    Map(&'static Kind),
}

/// Whether a member may be absent.
pub(super) enum Need {
    Optional,
    Required,
    /// Only allowed together with this other one.
    With(&'static str),
}

/// A member that an object may have.
pub(super) struct Member(pub(super) &'static str, pub(super) Kind, pub(super) Need);

use Kind::{
    Any, Code, Count, Flag, Index, List, LocalIndex, Map, Name, Number, Numbers, Object, Set, Text,
};
use Need::{Optional, Required, With};

const MAX: f64 = f64::MAX;
const ANY_COUNT: Kind = Count(0, usize::MAX);
const LENGTHS_OF_ELEMENTS: &[usize] = &[1, 2, 3, 4, 9, 16];
const OPAQUE: Kind = List(&Map(&Any));

pub(super) static ROOT: &[Member] = &[
    Member("asset", Object(ASSET), Required),
    Member("extensionsUsed", List(&Text), Optional),
    Member("extensionsRequired", List(&Text), With("extensionsUsed")),
    Member("accessors", List(&Object(ACCESSOR)), Optional),
    Member("animations", List(&Object(ANIMATION)), Optional),
    Member("buffers", List(&Object(BUFFER)), Optional),
    Member("bufferViews", List(&Object(VIEW)), Optional),
    Member("cameras", OPAQUE, Optional),
    Member("images", List(&Any), Optional),
    Member("materials", List(&Object(MATERIAL)), Optional),
    Member("meshes", List(&Object(MESH)), Optional),
    Member("nodes", List(&Object(NODE)), Optional),
    Member("samplers", List(&Any), Optional),
    Member("scene", Index("scenes"), Optional),
    Member("scenes", List(&Object(SCENE)), Optional),
    Member("skins", List(&Object(SKIN)), Optional),
    Member("textures", List(&Any), Optional),
];
static ASSET: &[Member] = &[
    Member("copyright", Text, Optional),
    Member("generator", Text, Optional),
    Member("version", Text, Required),
    Member("minVersion", Text, Optional),
];
static ACCESSOR: &[Member] = &[
    Member("bufferView", Index("bufferViews"), Optional),
    Member("byteOffset", ANY_COUNT, With("bufferView")),
    Member(
        "componentType",
        Code(&[5120, 5121, 5122, 5123, 5125, 5126]),
        Required,
    ),
    Member("normalized", Flag, Optional),
    Member("count", Count(1, usize::MAX), Required),
    Member(
        "type",
        Name(&["SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"]),
        Required,
    ),
    Member("min", Numbers(LENGTHS_OF_ELEMENTS, -MAX, MAX), Optional),
    Member("max", Numbers(LENGTHS_OF_ELEMENTS, -MAX, MAX), Optional),
    Member("sparse", Object(SPARSE), Optional),
];
static SPARSE: &[Member] = &[
    Member("count", Count(1, usize::MAX), Required),
    Member("indices", Object(SPARSE_INDICES), Required),
    Member("values", Object(SPARSE_VALUES), Required),
];
static SPARSE_INDICES: &[Member] = &[
    Member("bufferView", Index("bufferViews"), Required),
    Member("byteOffset", ANY_COUNT, Optional),
    Member("componentType", Code(&[5121, 5123, 5125]), Required),
];
static SPARSE_VALUES: &[Member] = &[
    Member("bufferView", Index("bufferViews"), Required),
    Member("byteOffset", ANY_COUNT, Optional),
];
static BUFFER: &[Member] = &[
    Member("uri", Text, Optional),
    Member("byteLength", Count(1, usize::MAX), Required),
];
static VIEW: &[Member] = &[
    Member("buffer", Index("buffers"), Required),
    Member("byteOffset", ANY_COUNT, Optional),
    Member("byteLength", Count(1, usize::MAX), Required),
    Member("byteStride", Count(4, 252), Optional),
    Member("target", Code(&[34962, 34963]), Optional),
];
static MESH: &[Member] = &[
    Member("primitives", List(&Object(PRIMITIVE)), Required),
    Member("weights", Numbers(&[], -MAX, MAX), Optional),
];
static PRIMITIVE: &[Member] = &[
    Member("attributes", Map(&Index("accessors")), Required),
    Member("indices", Index("accessors"), Optional),
    Member("material", Index("materials"), Optional),
    Member("mode", Code(&[0, 1, 2, 3, 4, 5, 6]), Optional),
    Member("targets", List(&Map(&Index("accessors"))), Optional),
];
static NODE: &[Member] = &[
    Member("camera", Index("cameras"), Optional),
    Member("children", Set(&Index("nodes")), Optional),
    Member("skin", Index("skins"), With("mesh")),
    Member("matrix", Numbers(&[16], -MAX, MAX), Optional),
    Member("mesh", Index("meshes"), Optional),
    Member("rotation", Numbers(&[4], -1.0, 1.0), Optional),
    Member("scale", Numbers(&[3], -MAX, MAX), Optional),
    Member("translation", Numbers(&[3], -MAX, MAX), Optional),
    Member("weights", Numbers(&[], -MAX, MAX), With("mesh")),
];
static SCENE: &[Member] = &[Member("nodes", Set(&Index("nodes")), Optional)];
static SKIN: &[Member] = &[
    Member("inverseBindMatrices", Index("accessors"), Optional),
    Member("skeleton", Index("nodes"), Optional),
    Member("joints", Set(&Index("nodes")), Required),
];
static ANIMATION: &[Member] = &[
    Member("channels", List(&Object(CHANNEL)), Required),
    Member("samplers", List(&Object(SAMPLER)), Required),
];
static CHANNEL: &[Member] = &[
    Member("sampler", LocalIndex, Required),
    Member("target", Object(TARGET), Required),
];
static TARGET: &[Member] = &[
    Member("node", Index("nodes"), Optional),
    Member(
        "path",
        Name(&["translation", "rotation", "scale", "weights", "pointer"]),
        Required,
    ),
];
static SAMPLER: &[Member] = &[
    Member("input", Index("accessors"), Required),
    Member(
        "interpolation",
        Name(&["LINEAR", "STEP", "CUBICSPLINE"]),
        Optional,
    ),
    Member("output", Index("accessors"), Required),
];
static MATERIAL: &[Member] = &[
    Member("pbrMetallicRoughness", Object(METALLIC), Optional),
    Member("normalTexture", Object(NORMAL_TEXTURE), Optional),
    Member("occlusionTexture", Object(OCCLUSION_TEXTURE), Optional),
    Member("emissiveTexture", Object(TEXTURE), Optional),
    Member("emissiveFactor", Numbers(&[3], 0.0, 1.0), Optional),
    Member("alphaMode", Name(&["OPAQUE", "MASK", "BLEND"]), Optional),
    Member("alphaCutoff", Number(0.0, MAX), Optional),
    Member("doubleSided", Flag, Optional),
];
static METALLIC: &[Member] = &[
    Member("baseColorFactor", Numbers(&[4], 0.0, 1.0), Optional),
    Member("baseColorTexture", Object(TEXTURE), Optional),
    Member("metallicFactor", Number(0.0, 1.0), Optional),
    Member("roughnessFactor", Number(0.0, 1.0), Optional),
    Member("metallicRoughnessTexture", Object(TEXTURE), Optional),
];
static TEXTURE: &[Member] = &[
    Member("index", Index("textures"), Required),
    Member("texCoord", ANY_COUNT, Optional),
];
static NORMAL_TEXTURE: &[Member] = &[
    Member("index", Index("textures"), Required),
    Member("texCoord", ANY_COUNT, Optional),
    Member("scale", Number(-MAX, MAX), Optional),
];
static OCCLUSION_TEXTURE: &[Member] = &[
    Member("index", Index("textures"), Required),
    Member("texCoord", ANY_COUNT, Optional),
    Member("strength", Number(0.0, 1.0), Optional),
];
