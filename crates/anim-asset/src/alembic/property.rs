//! Properties: named, typed, sampled in time, and their headers packed into bits.

use super::archive::{ArchiveWriter, DATA};

/// The type of a number, by the code that files have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pod {
    Bool = 0,
    U8 = 1,
    U32 = 5,
    I32 = 6,
    F32 = 10,
    F64 = 11,
}

impl Pod {
    fn size(self) -> usize {
        match self {
            Self::Bool | Self::U8 => 1,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// A property of an object, or a group of them.
pub(super) struct Property {
    pub(super) name: &'static str,
    /// `key=value` joined by semicolons.
    pub(super) meta: &'static str,
    pub(super) content: Content,
}

pub(super) enum Content {
    Compound(Vec<Property>),
    Scalar(Samples),
    Array(Samples),
}

/// Little-endian values at each time, or once.
pub(super) struct Samples {
    pub(super) pod: Pod,
    /// Numbers in a value.
    pub(super) extent: u32,
    pub(super) values: Vec<Vec<u8>>,
}

/// Strings that headers name by number, from 1 on; 0 is the empty one.
#[derive(Default)]
pub(super) struct MetaTable {
    strings: Vec<&'static str>,
}

impl MetaTable {
    pub(super) fn index(&mut self, meta: &'static str) -> u8 {
        if meta.is_empty() {
            return 0;
        }
        let known = self.strings.iter().position(|string| *string == meta);
        let place = known.unwrap_or_else(|| {
            self.strings.push(meta);
            self.strings.len() - 1
        });
        // The strings are our own dozen.
        place as u8 + 1
    }

    /// Each behind its length, a byte.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let strings = self.strings.iter();
        strings
            .flat_map(|string| [&[string.len() as u8], string.as_bytes()].concat())
            .collect()
    }
}

/// Writes a group of properties: what each holds, then their headers.
pub(super) fn write_compound(
    properties: &[Property],
    archive: &mut ArchiveWriter,
    metas: &mut MetaTable,
) -> u64 {
    let mut children = Vec::with_capacity(properties.len() + 1);
    let mut headers = Vec::new();
    for property in properties {
        let place = match &property.content {
            Content::Compound(inner) => write_compound(inner, archive, metas),
            Content::Scalar(samples) => {
                let places: Vec<u64> = samples
                    .stored()
                    .iter()
                    .map(|value| archive.sample(value))
                    .collect();
                archive.group(&places)
            }
            Content::Array(samples) => {
                // Behind each sample its dimensions, which are empty for a plain list.
                let places: Vec<u64> = samples
                    .stored()
                    .iter()
                    .flat_map(|value| [archive.sample(value), DATA])
                    .collect();
                archive.group(&places)
            }
        };
        children.push(place);
        write_header(property, metas, &mut headers);
    }
    if !headers.is_empty() {
        children.push(archive.data(&headers));
    }
    archive.group(&children)
}

impl Samples {
    fn is_constant(&self) -> bool {
        self.values.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Once if all are the same.
    fn stored(&self) -> &[Vec<u8>] {
        if self.is_constant() {
            &self.values[..self.values.len().min(1)]
        } else {
            &self.values
        }
    }
}

/// Bits: 0-1 kind (1 for arrays of one value too), 2-3 size of lengths, 4-7 type, 8 has a time sampling, 9 first and last
/// change follow, 10 equal sizes, 11 constant, 12-19 extent, 20-27 meta data.
fn write_header(property: &Property, metas: &mut MetaTable, out: &mut Vec<u8>) {
    let mut info = u32::from(metas.index(property.meta)) << 20;
    let (samples, kind) = match &property.content {
        Content::Compound(_) => (None, 0),
        Content::Scalar(samples) => (Some(samples), 1),
        Content::Array(samples) => (Some(samples), 2),
    };
    let count = samples.map_or(0, |samples| samples.stored().len());
    let longest = count.max(property.name.len()).max(property.meta.len());
    let (hint, width) = match longest {
        0..=0xff => (0, 1),
        0x100..=0xffff => (1, 2),
        _ => (2, 4),
    };
    info |= hint << 2;
    let mut push = |value: usize, width: usize| out.extend(&(value as u32).to_le_bytes()[..width]);
    if let Some(samples) = samples {
        let value_size = samples.pod.size() * samples.extent as usize;
        let single = samples.values.iter().all(|value| value.len() == value_size);
        let homogenous = samples
            .values
            .windows(2)
            .all(|pair| pair[0].len() == pair[1].len());
        info |= kind | u32::from(single) | (samples.pod as u32) << 4 | samples.extent << 12;
        info |= u32::from(homogenous) << 10;
        info |= if count > 1 { 1 << 8 } else { 1 << 11 };
        push(info as usize, 4);
        push(count, width);
        if count > 1 {
            push(1, width);
        }
    } else {
        push(info as usize, 4);
    }
    push(property.name.len(), width);
    out.extend(property.name.as_bytes());
}
