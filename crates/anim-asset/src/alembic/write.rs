//! A scene as objects and properties of the schemas that other programs know.

use anim_math::{Affine, Vec3};

use super::archive::ArchiveWriter;
use super::digest::digest;
use super::property::{Content, MetaTable, Pod, Property, Samples, write_compound};
use super::{AbcFrame, AbcObject, AbcScene, AbcShape};
use crate::AssetError;

/// Of the container's content, and of the library whose format this is, 1.8.0.
const FILE_VERSION: i32 = 0;
const LIBRARY_VERSION: i32 = 10_800;

const XFORM: &str = "schema=AbcGeom_Xform_v3";
const XFORM_OBJECT: &str = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform";
const MESH: &str = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1";
const MESH_OBJECT: &str = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_PolyMesh_v1:.geom";
const CURVES: &str = "schema=AbcGeom_Curve_v2;schemaBaseType=AbcGeom_GeomBase_v1";
const CURVES_OBJECT: &str = "schema=AbcGeom_Curve_v2;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_Curve_v2:.geom";
const NORMALS: &str = "arrayExtent=1;geoScope=vtx;interpretation=normal;isGeomParam=true;podExtent=3;podName=float32_t";
const WIDTHS: &str =
    "arrayExtent=1;geoScope=vtx;interpretation=;isGeomParam=true;podExtent=1;podName=float32_t";

/// The operation of a transform that is a whole matrix.
const MATRIX_OPERATION: u8 = 3 << 4;

/// The scene as an `.abc` file.
///
/// Each object becomes a transform that holds one shape, `<name>Shape`. The same bytes for the same scene.
///
/// # Errors
///
/// Those of [`AbcScene::check`].
pub fn write(scene: &AbcScene) -> Result<Vec<u8>, AssetError> {
    scene.check()?;
    let mut archive = ArchiveWriter::new();
    let mut metas = MetaTable::default();
    let mut frames = 1;
    let mut top = Object::default();
    for object in &scene.objects {
        frames = frames
            .max(object.frames.len())
            .max(object.world_from_shape.len());
        let shape_name = format!("{}Shape", object.name);
        let (meta, properties) = shape(object);
        let mut transform = Object::new(
            transform(&object.world_from_shape),
            &mut archive,
            &mut metas,
        );
        let shape = Object::new(properties, &mut archive, &mut metas);
        transform.adopt(&shape_name, meta, shape, &mut archive, &mut metas);
        top.adopt(
            &object.name,
            XFORM_OBJECT,
            transform,
            &mut archive,
            &mut metas,
        );
    }
    let (top, _) = top.write(&mut archive);
    let mut samplings = sampling(1, 1.0, 0.0);
    samplings.extend(sampling(frames as u32, scene.step, scene.start));
    let root = [
        archive.data(&FILE_VERSION.to_le_bytes()),
        archive.data(&LIBRARY_VERSION.to_le_bytes()),
        top,
        archive.data(b"_ai_AlembicVersion=Alembic 1.8.0;_ai_Application=anim"),
        archive.data(&samplings),
        archive.data(&metas.bytes()),
    ];
    let root = archive.group(&root);
    Ok(archive.finish(root))
}

/// An object whose properties are written and whose children are being gathered.
#[derive(Default)]
struct Object {
    /// Its properties, then its children.
    places: Vec<u64>,
    headers: Vec<u8>,
    /// Stands for what its properties hold.
    content: [u8; 16],
    /// Those of its children, one after the other.
    children: Vec<u8>,
}

impl Object {
    fn new(properties: Vec<Property>, archive: &mut ArchiveWriter, metas: &mut MetaTable) -> Self {
        let place = write_compound(&properties, archive, metas);
        Self {
            places: vec![place],
            // Samples of equal content share their place, so that the places stand for the content.
            content: digest(&place.to_le_bytes()),
            ..Self::default()
        }
    }

    fn adopt(
        &mut self,
        name: &str,
        meta: &'static str,
        child: Self,
        archive: &mut ArchiveWriter,
        metas: &mut MetaTable,
    ) {
        if self.places.is_empty() {
            self.places.push(0);
        }
        let (place, content) = child.write(archive);
        self.places.push(place);
        self.children.extend(content);
        self.headers.extend((name.len() as u32).to_le_bytes());
        self.headers.extend(name.as_bytes());
        self.headers.push(metas.index(meta));
    }

    /// Its place, and what stands for all it holds.
    fn write(mut self, archive: &mut ArchiveWriter) -> (u64, [u8; 32]) {
        if self.places.is_empty() {
            self.places.push(0);
        }
        let mut content = [0; 32];
        content[..16].copy_from_slice(&self.content);
        if !self.children.is_empty() {
            content[16..].copy_from_slice(&digest(&self.children));
        }
        self.headers.extend(content);
        self.places.push(archive.data(&self.headers));
        (archive.group(&self.places), content)
    }
}

/// A time sampling: the number of samples, the time between them and the time of the first.
fn sampling(samples: u32, step: f64, start: f64) -> Vec<u8> {
    let mut bytes = samples.to_le_bytes().to_vec();
    bytes.extend(step.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes
}

fn transform(world_from_shape: &[Affine]) -> Vec<Property> {
    let world_from_shape = match world_from_shape {
        [] => &[Affine::IDENTITY],
        given => given,
    };
    let values: Vec<Vec<u8>> = world_from_shape.iter().map(row_vector_matrix).collect();
    let moves = values.windows(2).any(|pair| pair[0] != pair[1]);
    let mut properties = vec![
        scalar(".inherits", "", Pod::Bool, 1, vec![vec![1]]),
        scalar(".ops", "", Pod::U8, 1, vec![vec![MATRIX_OPERATION]]),
        scalar(".vals", "", Pod::F64, 16, values),
        scalar("isNotConstantIdentity", "", Pod::Bool, 1, vec![vec![1]]),
    ];
    if moves {
        let channels = (0u32..16).flat_map(u32::to_le_bytes).collect();
        properties.push(array(".animChans", "", Pod::U32, 1, vec![channels]));
    }
    vec![compound(".xform", XFORM, properties)]
}

/// The 4 × 4 matrix that points, as rows, are multiplied with from the right.
fn row_vector_matrix(map: &Affine) -> Vec<u8> {
    let mut rows = map
        .linear
        .map(f64::from)
        .insert_row(3, 0.0)
        .insert_column(3, 0.0)
        .transpose();
    rows[(3, 3)] = 1.0;
    for axis in 0..3 {
        rows[(3, axis)] = f64::from(map.translation[axis]);
    }
    rows.transpose()
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn shape(object: &AbcObject) -> (&'static str, Vec<Property>) {
    let over = |values: fn(&AbcFrame) -> &[Vec3]| -> Vec<Vec<u8>> {
        let frames = object.frames.iter();
        frames
            .map(|frame| floats(values(frame).iter().flatten()))
            .collect()
    };
    let mut properties = vec![
        scalar(
            ".selfBnds",
            "interpretation=box",
            Pod::F64,
            6,
            object.frames.iter().map(bounds).collect(),
        ),
        array(
            "P",
            "geoScope=vtx;interpretation=point",
            Pod::F32,
            3,
            over(|frame| &frame.positions),
        ),
    ];
    let (schema, title) = match &object.shape {
        AbcShape::Mesh { faces } => {
            // Alembic's faces run clockwise seen from outside.
            let corners = faces
                .iter()
                .flat_map(|face| face.iter().rev())
                .flat_map(|v| v.to_le_bytes());
            let counts = faces
                .iter()
                .flat_map(|face| (face.len() as u32).to_le_bytes());
            properties.extend([
                array(".faceIndices", "", Pod::I32, 1, vec![corners.collect()]),
                array(".faceCounts", "", Pod::I32, 1, vec![counts.collect()]),
            ]);
            (MESH, MESH_OBJECT)
        }
        AbcShape::Curves { counts, widths } => {
            let bytes = counts.iter().flat_map(|count| count.to_le_bytes());
            properties.extend([
                array("nVertices", "", Pod::I32, 1, vec![bytes.collect()]),
                // Linear, open, no basis.
                scalar("curveBasisAndType", "", Pod::U8, 4, vec![vec![1, 0, 0, 0]]),
            ]);
            if !widths.is_empty() {
                properties.push(array("width", WIDTHS, Pod::F32, 1, vec![floats(widths)]));
            }
            (CURVES, CURVES_OBJECT)
        }
    };
    if object.frames.iter().any(|frame| !frame.normals.is_empty()) {
        properties.push(array(
            "N",
            NORMALS,
            Pod::F32,
            3,
            over(|frame| &frame.normals),
        ));
    }
    if object
        .frames
        .iter()
        .any(|frame| !frame.velocities.is_empty())
    {
        let velocities = over(|frame| &frame.velocities);
        properties.push(array(
            ".velocities",
            "interpretation=vector",
            Pod::F32,
            3,
            velocities,
        ));
    }
    (title, vec![compound(".geom", schema, properties)])
}

/// The lowest and the highest corner.
fn bounds(frame: &AbcFrame) -> Vec<u8> {
    let first = frame.positions.first().copied().unwrap_or_default();
    let positions = frame.positions.iter();
    let (low, high) = positions.fold((first, first), |(low, high), p| (low.inf(p), high.sup(p)));
    low.iter()
        .chain(&high)
        .flat_map(|c| f64::from(*c).to_le_bytes())
        .collect()
}

fn floats<'a>(values: impl IntoIterator<Item = &'a f32>) -> Vec<u8> {
    values
        .into_iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn scalar(
    name: &'static str,
    meta: &'static str,
    pod: Pod,
    extent: u32,
    values: Vec<Vec<u8>>,
) -> Property {
    let content = Content::Scalar(Samples {
        pod,
        extent,
        values,
    });
    Property {
        name,
        meta,
        content,
    }
}

fn array(
    name: &'static str,
    meta: &'static str,
    pod: Pod,
    extent: u32,
    values: Vec<Vec<u8>>,
) -> Property {
    let content = Content::Array(Samples {
        pod,
        extent,
        values,
    });
    Property {
        name,
        meta,
        content,
    }
}

fn compound(name: &'static str, meta: &'static str, properties: Vec<Property>) -> Property {
    let content = Content::Compound(properties);
    Property {
        name,
        meta,
        content,
    }
}
