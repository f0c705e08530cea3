//! Recordings of face weights as trackers write them: a header of names, then a line a frame.
//!
//! Live Link Face and its relatives start with `Timecode` and `BlendShapeCount`, list the [ARKit](super::arkit) shapes,
//! and may end with rotations of the head and eyes. Columns are found by their names, so order and gaps do not matter.
//!
//! ```
//! use anim_skin::morph::csv::read;
//!
//! let frames = read("Timecode,BlendShapeCount,EyeBlinkLeft,HeadYaw\n00:00:01:02.5,1,0.25,-0.1\n")?;
//! assert_eq!(frames.weights(0)[0], 0.25);
//! assert_eq!(frames.missing.len(), 51);
//! assert_eq!((frames.other_names[0].as_str(), frames.others(0)), ("HeadYaw", &[-0.1][..]));
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use super::arkit;
use crate::SkinError;

/// F frames of the 52 weights of [`arkit::NAMES`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightFrames {
    /// F: what the column `Timecode` says, empty if there is none.
    pub timecodes: Vec<String>,
    /// Shapes that no column holds; their weights are 0.
    pub missing: Vec<usize>,
    /// Columns that are no shape, such as the head's rotations.
    pub other_names: Vec<String>,
    weights: Vec<[f32; 52]>,
    others: Vec<f32>,
}

impl WeightFrames {
    /// Number of frames, F.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// True without frames.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The weights of `frame`, as recorded.
    pub fn weights(&self, frame: usize) -> &[f32; 52] {
        &self.weights[frame]
    }

    /// The values of `frame` in the columns of `other_names`.
    pub fn others(&self, frame: usize) -> &[f32] {
        let count = self.other_names.len();
        &self.others[frame * count..(frame + 1) * count]
    }
}

/// Reads comma-separated weights; a byte-order mark, blank lines and spaces around cells do not matter.
///
/// # Errors
///
/// [`SkinError::Csv`] with the line and cell: no header, no shape among its names, a name twice, a line with another
/// number of cells, a cell that is no finite number.
pub fn read(text: &str) -> Result<WeightFrames, SkinError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let (header_line, header) = lines.next().ok_or(fault(1, 1, "no header"))?;
    let mut frames = WeightFrames::default();
    let columns = columns(header_line, header, &mut frames)?;
    for (line, text) in lines {
        let mut weights = [0.0; 52];
        let mut timecode = "";
        let mut cells = text.split(',').map(str::trim);
        for (column, kind) in (1..).zip(&columns) {
            let cell = cells
                .next()
                .ok_or(fault(line, column, "the line ends too soon"))?;
            let number = || match cell.parse::<f32>() {
                Ok(value) if value.is_finite() => Ok(value),
                _ => Err(fault(line, column, "not a finite number")),
            };
            match kind {
                Column::Timecode => timecode = cell,
                Column::Ignored => {}
                Column::Shape(shape) => weights[*shape] = number()?,
                Column::Other => frames.others.push(number()?),
            }
        }
        if cells.next().is_some() {
            return Err(fault(line, columns.len() + 1, "more cells than names"));
        }
        frames.timecodes.push(timecode.to_owned());
        frames.weights.push(weights);
    }
    Ok(frames)
}

enum Column {
    Timecode,
    Ignored,
    Shape(usize),
    Other,
}

fn columns(line: usize, header: &str, frames: &mut WeightFrames) -> Result<Vec<Column>, SkinError> {
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let report = arkit::match_names(&names);
    if report.found.is_empty() {
        return Err(fault(line, 1, "no name of a face shape"));
    }
    let mut columns = Vec::with_capacity(names.len());
    for (place, name) in names.iter().enumerate() {
        columns.push(if name.eq_ignore_ascii_case("timecode") {
            Column::Timecode
        } else if name.eq_ignore_ascii_case("blendshapecount") {
            Column::Ignored
        } else if let Some((shape, _)) = report.found.iter().find(|(_, given)| *given == place) {
            Column::Shape(*shape)
        } else if arkit::index_of(name).is_some() {
            return Err(fault(line, place + 1, "this shape has a column already"));
        } else {
            frames.other_names.push((*name).to_owned());
            Column::Other
        });
    }
    frames.missing = report.missing;
    Ok(columns)
}

fn fault(line: usize, column: usize, what: &'static str) -> SkinError {
    SkinError::Csv { line, column, what }
}
