//! Contact sheets: many frames in one picture, so that a motion can be judged at a glance.
//!
//! ```
//! use anim_view::{Image, sheet};
//!
//! let frames = vec![Image::new(160, 90, [90, 90, 100]); 5];
//! let labels: Vec<String> = (0..5).map(|frame| format!("{:.1} s", 0.1 * frame as f32)).collect();
//! let picture = sheet(&frames, &labels, 3);
//! assert_eq!(picture.width, 3 * (160 + 2) + 2);
//! ```

use crate::{Image, text};

/// The strip between and around frames, pixels.
const BORDER: usize = 2;
/// The height of a caption's strip, pixels.
const CAPTION: usize = 17;
/// Sheets stop growing here, pixels.
const MAX_PIXELS: usize = 1 << 28;
const BORDER_COLOR: [u8; 3] = [38, 41, 48];
const CAPTION_COLOR: [u8; 3] = [222, 226, 233];

/// Lays frames out in rows, time left to right and then down, with thin borders and a caption below each.
///
/// * `frames`: any sizes; every cell is as large as the largest frame. * `labels`: one a frame, cut to the cell's width;
///   missing ones stay blank, and without any there are no caption strips. * `columns`: at least 1.
///
/// Rows that would take the sheet beyond 2²⁸ pixels are left out; without frames the sheet is empty.
pub fn sheet(frames: &[Image], labels: &[String], columns: usize) -> Image {
    let columns = columns.clamp(1, frames.len().max(1));
    let cell = frames.iter().fold((0, 0), |(width, height), frame| {
        let frame_width = (frame.width as usize).min(frame.pixels.len());
        let rows = frame.pixels.len().checked_div(frame_width).unwrap_or(0);
        (
            frame_width.max(width),
            rows.min(frame.height as usize).max(height),
        )
    });
    if cell.0 == 0 {
        return Image::new(0, 0, BORDER_COLOR);
    }
    let caption = if labels.is_empty() { 0 } else { CAPTION };
    let (step_x, step_y) = (cell.0 + BORDER, cell.1 + caption + BORDER);
    let width = columns.saturating_mul(step_x).saturating_add(BORDER);
    let fitting = (MAX_PIXELS / width).saturating_sub(BORDER) / step_y;
    let rows = frames.len().div_ceil(columns).min(fitting);
    if rows == 0 {
        return Image::new(0, 0, BORDER_COLOR);
    }
    let mut picture = Image::new(width as u32, (rows * step_y + BORDER) as u32, BORDER_COLOR);
    for (place, frame) in frames.iter().take(rows * columns).enumerate() {
        let x = BORDER + place % columns * step_x;
        let y = BORDER + place / columns * step_y;
        picture.paste(x as u32, y as u32, frame);
        if let Some(label) = labels.get(place) {
            let fitting = (cell.0 - 1) / text::advance(7);
            let label: String = label.chars().take(fitting).collect();
            let y = y + cell.1 + (CAPTION - 9) / 2;
            picture.text(x as i32 + 3, y as i32, &label, 7, CAPTION_COLOR);
        }
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_take_the_largest_size_and_frames_go_left_to_right() {
        let frames = [
            Image::new(10, 4, [1; 3]),
            Image::new(6, 8, [2; 3]),
            Image::new(3, 3, [3; 3]),
        ];
        let picture = sheet(&frames, &[], 2);
        assert_eq!((picture.width, picture.height), (2 * 12 + 2, 2 * 10 + 2));
        assert_eq!(picture.pixel(2, 2), Some([1; 3]));
        assert_eq!(picture.pixel(14, 2), Some([2; 3]));
        assert_eq!(picture.pixel(2, 12), Some([3; 3]));
        assert_eq!(picture.pixel(1, 2), Some(BORDER_COLOR));
        for (value, count) in [(1, 40), (2, 48), (3, 9)] {
            let painted = picture.pixels.iter().filter(|p| **p == [value; 3]).count();
            assert_eq!(painted, count);
        }
    }

    #[test]
    fn captions_stay_inside_their_cell() {
        let frames = vec![Image::new(20, 5, [0; 3]); 2];
        let labels = ["a label far too long".to_owned(), String::new()];
        let picture = sheet(&frames, &labels, 2);
        let columns: Vec<usize> = (0..picture.pixels.len())
            .filter(|place| picture.pixels[*place] == CAPTION_COLOR)
            .map(|place| place % picture.width as usize)
            .collect();
        assert!(!columns.is_empty());
        assert!(columns.iter().all(|column| (2..22).contains(column)));
    }

    #[test]
    fn odd_sheets_are_no_trouble() {
        assert_eq!(sheet(&[], &[], 3).pixels.len(), 0);
        assert_eq!(sheet(&[Image::new(4, 4, [0; 3])], &[], 0).width, 8);
        let liar = Image {
            width: u32::MAX,
            height: u32::MAX,
            pixels: vec![[0; 3]],
        };
        assert!(sheet(&[liar], &["x".to_owned()], usize::MAX).pixels.len() < 1000);
    }
}
