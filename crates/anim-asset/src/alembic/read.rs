//! A scene from the objects and properties of a file, such as [`write()`](super::write()) makes.
//!
//! The tree is walked along the two levels that are written, transforms and their shapes, so that no file, however its places
//! refer to each other, costs more than its size; every sample is checked against its key.

use anim_math::{Affine, Vec3};

use super::archive::{Archive, damage};
use super::digest::digest;
use super::property::Pod;
use super::{AbcFrame, AbcObject, AbcScene, AbcShape, fault};
use crate::AssetError;

/// Numbers of all frames at most: half a gigabyte.
const MOST_NUMBERS: usize = 1 << 27;
/// Bytes before the values of a sample.
const KEY: usize = 16;

/// The scene of an `.abc` file: polygon meshes and linear curves under transforms, as [`write()`](super::write()) has them.
///
/// What never changes comes back once: an object that rests has one frame, one that is not moved no transform. Objects of
/// other kinds are left out.
///
/// # Errors
///
/// `ABC_MAGIC` for what is no Ogawa archive; `ABC_DAMAGED` with `byte N` for places, sizes and samples that are not whole;
/// `ABC_UNSUPPORTED` for headers of a kind that is not written here, `ABC_SIZE` for frames that would fill the memory; then
/// those of [`AbcScene::check`].
pub fn read(bytes: &[u8]) -> Result<AbcScene, AssetError> {
    let archive = Archive::new(bytes)?;
    let root = archive.group(archive.root())?;
    let &[_, _, top, _, samplings, metas] = root.as_slice() else {
        return Err(damage(8, "the root has not six children"));
    };
    let metas = meta_strings(archive.data(metas)?)?;
    let mut reader = Reader {
        archive,
        metas,
        left: MOST_NUMBERS,
    };
    let [start, step] = sampling(archive.data(samplings)?)?;
    let mut scene = AbcScene {
        start,
        step,
        objects: Vec::new(),
    };
    for (name, _, transform) in reader.children(top)? {
        let properties = reader.object_properties(transform)?;
        for (_, meta, shape) in reader.children(transform)? {
            let is_mesh = meta.contains("AbcGeom_PolyMesh_v1");
            if is_mesh || meta.contains("AbcGeom_Curve_v2") {
                scene.objects.push(AbcObject {
                    name: name.clone(),
                    world_from_shape: reader.transforms(&properties)?,
                    ..reader.shape(shape, is_mesh)?
                });
            }
        }
    }
    scene.check()?;
    Ok(scene)
}

/// A file on its way in.
struct Reader<'a> {
    archive: Archive<'a>,
    metas: Vec<&'a str>,
    /// Numbers that may still be read.
    left: usize,
}

/// A property as its header has it.
struct Property<'a> {
    name: &'a str,
    place: u64,
    /// Bits 0 and 1 of the header: 0 is a group of properties.
    kind: u32,
    pod: u32,
    count: usize,
}

impl<'a> Reader<'a> {
    /// Name, meta data and place of each child of an object.
    fn children(&self, object: u64) -> Result<Vec<(String, &'a str, u64)>, AssetError> {
        let places = self.archive.group(object)?;
        let Some((headers, places)) = places.split_last() else {
            return Ok(Vec::new());
        };
        let (at, mut headers) = (*headers, self.archive.data(*headers)?);
        let mut children = Vec::new();
        for place in places.iter().skip(1) {
            let length = take(&mut headers).map(u32::from_le_bytes);
            let length = length.ok_or_else(|| damage(at, "a header is cut off"))?;
            let name = text(&mut headers, length as usize, at)?;
            let [meta] = take(&mut headers).ok_or_else(|| damage(at, "a header is cut off"))?;
            children.push((name.to_owned(), self.meta(meta, at)?, *place));
        }
        Ok(children)
    }

    fn meta(&self, index: u8, at: u64) -> Result<&'a str, AssetError> {
        match index.checked_sub(1) {
            None => Ok(""),
            Some(index) => {
                let known = self.metas.get(usize::from(index)).copied();
                known.ok_or_else(|| damage(at, "no such meta data"))
            }
        }
    }

    /// The properties in the one group that an object of ours has.
    fn object_properties(&self, object: u64) -> Result<Vec<Property<'a>>, AssetError> {
        let Some(first) = self.archive.group(object)?.first().copied() else {
            return Ok(Vec::new());
        };
        let outer = self.properties(first)?;
        match outer.iter().find(|property| property.kind == 0) {
            Some(group) => self.properties(group.place),
            None => Ok(outer),
        }
    }

    fn properties(&self, compound: u64) -> Result<Vec<Property<'a>>, AssetError> {
        let places = self.archive.group(compound)?;
        let Some((headers, places)) = places.split_last() else {
            return Ok(Vec::new());
        };
        let (at, mut headers) = (*headers, self.archive.data(*headers)?);
        let cut = || damage(at, "a header is cut off");
        let mut properties = Vec::new();
        for place in places {
            let info = take(&mut headers).map(u32::from_le_bytes).ok_or_else(cut)?;
            let (kind, pod) = (info & 3, info >> 4 & 15);
            if info >> 9 & 1 == 1 || info >> 20 == 0xff {
                let message = "first and last change, or meta data in place";
                return Err(unsupported(at, message));
            }
            let mut number = || match info >> 2 & 3 {
                0 => take(&mut headers).map(|b: [u8; 1]| usize::from(b[0])),
                1 => take(&mut headers).map(|b| usize::from(u16::from_le_bytes(b))),
                _ => take(&mut headers).map(|b| u32::from_le_bytes(b) as usize),
            };
            let mut count = 0;
            if kind != 0 {
                count = number().ok_or_else(cut)?;
                if info >> 8 & 1 == 1 {
                    number().ok_or_else(cut)?;
                }
            }
            let length = number().ok_or_else(cut)?;
            properties.push(Property {
                name: text(&mut headers, length, at)?,
                place: *place,
                kind,
                pod,
                count,
            });
        }
        Ok(properties)
    }

    /// The samples of a property; none if it is not there.
    fn samples<const N: usize>(
        &mut self,
        properties: &[Property<'a>],
        name: &str,
        pod: Pod,
    ) -> Result<Vec<Vec<[u8; N]>>, AssetError> {
        let Some(property) = properties.iter().find(|property| property.name == name) else {
            return Ok(Vec::new());
        };
        let at = property.place;
        if property.kind == 0 || property.pod != pod as u32 {
            return Err(damage(at, "a property is of another type"));
        }
        // Arrays have their dimensions behind each sample.
        let every = if property.kind == 1 { 1 } else { 2 };
        let places = self.archive.group(at)?;
        if places.len() != property.count * every {
            return Err(damage(at, "not as many samples as the header says"));
        }
        let mut samples = Vec::with_capacity(property.count);
        for place in places.iter().step_by(every) {
            let stored = self.archive.data(*place)?;
            let values = match stored.split_at_checked(KEY) {
                Some((key, values)) if digest(values) == key => values,
                None if stored.is_empty() => stored,
                _ => return Err(damage(*place, "a sample does not have its key")),
            };
            let (values, rest) = values.as_chunks::<N>();
            if !rest.is_empty() {
                return Err(damage(*place, "a sample ends inside a value"));
            }
            self.spend(values.len())?;
            samples.push(values.to_vec());
        }
        Ok(samples)
    }

    fn spend(&mut self, numbers: usize) -> Result<(), AssetError> {
        let left = self.left.checked_sub(numbers);
        let message = "the frames hold more numbers than are read";
        self.left = left.ok_or_else(|| fault("ABC_SIZE", "/objects".into(), message))?;
        Ok(())
    }

    /// Where the shape below is: empty if it is never moved.
    fn transforms(&mut self, properties: &[Property<'a>]) -> Result<Vec<Affine>, AssetError> {
        let samples = self.samples::<8>(properties, ".vals", Pod::F64)?;
        let places: Option<Vec<Affine>> = samples.iter().map(|sample| matrix(sample)).collect();
        let places = places.ok_or_else(|| {
            let message = "a transform that is not one matrix";
            fault("ABC_UNSUPPORTED", "/objects".into(), message)
        })?;
        match places.as_slice() {
            [only] if *only == Affine::IDENTITY => Ok(Vec::new()),
            _ => Ok(places),
        }
    }

    /// Everything of an object but its name and its place.
    fn shape(&mut self, object: u64, is_mesh: bool) -> Result<AbcObject, AssetError> {
        let properties = self.object_properties(object)?;
        let positions = self.samples::<12>(&properties, "P", Pod::F32)?;
        let normals = self.samples::<12>(&properties, "N", Pod::F32)?;
        let velocities = self.samples::<12>(&properties, ".velocities", Pod::F32)?;
        let count = positions.len().max(normals.len()).max(velocities.len());
        let at = |samples: &[Vec<[u8; 12]>], frame: usize| -> Vec<Vec3> {
            let sample = samples.get(frame).or_else(|| samples.first());
            sample.into_iter().flatten().map(vector).collect()
        };
        let mut frames = Vec::new();
        for frame in 0..count {
            let frame = AbcFrame {
                positions: at(&positions, frame),
                normals: at(&normals, frame),
                velocities: at(&velocities, frame),
            };
            self.spend(3 * frame.positions.len())?;
            frames.push(frame);
        }
        let mut once = |name: &str, pod: Pod| -> Result<Vec<u32>, AssetError> {
            let samples = self.samples::<4>(&properties, name, pod)?;
            let numbers = samples.first().into_iter().flatten();
            Ok(numbers.map(|bytes| u32::from_le_bytes(*bytes)).collect())
        };
        let shape = if is_mesh {
            let counts = once(".faceCounts", Pod::I32)?;
            let corners = once(".faceIndices", Pod::I32)?;
            AbcShape::Mesh {
                faces: faces(&counts, &corners).ok_or_else(|| {
                    damage(object, "the counts of faces are not those of their corners")
                })?,
            }
        } else {
            let widths = once("width", Pod::F32)?;
            AbcShape::Curves {
                counts: once("nVertices", Pod::I32)?,
                widths: widths.into_iter().map(f32::from_bits).collect(),
            }
        };
        Ok(AbcObject {
            shape,
            frames,
            ..AbcObject::default()
        })
    }
}

/// Faces as they run here, counter-clockwise from outside.
fn faces(counts: &[u32], corners: &[u32]) -> Option<Vec<Vec<u32>>> {
    let mut rest = corners;
    let mut faces = Vec::with_capacity(counts.len());
    for count in counts {
        let face;
        (face, rest) = rest.split_at_checked(*count as usize)?;
        faces.push(face.iter().rev().copied().collect());
    }
    rest.is_empty().then_some(faces)
}

fn vector(bytes: &[u8; 12]) -> Vec3 {
    let part = |i: usize| f32::from_le_bytes([0, 1, 2, 3].map(|k| bytes[4 * i + k]));
    Vec3::new(part(0), part(1), part(2))
}

/// A map from a matrix that points, as rows, are multiplied with from the right.
fn matrix(values: &[[u8; 8]]) -> Option<Affine> {
    let values: Vec<f64> = values.iter().map(|v| f64::from_le_bytes(*v)).collect();
    let values: [f64; 16] = values.try_into().ok()?;
    let mut map = Affine::IDENTITY;
    for row in 0..3 {
        for column in 0..3 {
            map.linear[(row, column)] = values[4 * column + row] as f32;
        }
        map.translation[row] = values[12 + row] as f32;
    }
    Some(map)
}

/// Start and step of the last time sampling.
fn sampling(mut bytes: &[u8]) -> Result<[f64; 2], AssetError> {
    let mut last = None;
    while !bytes.is_empty() {
        let mut one = || {
            take::<4>(&mut bytes)?;
            let step = f64::from_le_bytes(take(&mut bytes)?);
            let times = u32::from_le_bytes(take(&mut bytes)?);
            let start = f64::from_le_bytes(take(&mut bytes)?);
            (times == 1).then_some([start, step])
        };
        let message = "not sampled at an even rate";
        last = Some(one().ok_or_else(|| fault("ABC_UNSUPPORTED", "/step".into(), message))?);
    }
    last.ok_or_else(|| fault("ABC_UNSUPPORTED", "/step".into(), "no time sampling"))
}

/// Strings behind their lengths, a byte each.
fn meta_strings(mut bytes: &[u8]) -> Result<Vec<&str>, AssetError> {
    let mut strings = Vec::new();
    while let Some([length]) = take(&mut bytes) {
        strings.push(text(&mut bytes, usize::from(length), 0)?);
    }
    Ok(strings)
}

/// The first bytes of what is left.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

fn text<'a>(bytes: &mut &'a [u8], length: usize, at: u64) -> Result<&'a str, AssetError> {
    let parts = bytes.split_at_checked(length);
    let (text, rest) = parts.ok_or_else(|| damage(at, "a string is cut off"))?;
    *bytes = rest;
    std::str::from_utf8(text).map_err(|_| damage(at, "a string is not UTF-8"))
}

fn unsupported(place: u64, message: &str) -> AssetError {
    AssetError {
        code: "ABC_UNSUPPORTED",
        ..damage(place, message)
    }
}
