//! Finished pictures, and how they become PNG files.
//!
//! An [`Image`] is plain pixels: compare them, paste them, or write them with [`Image::to_png`]; [`animation`] makes one
//! animated PNG of many. The same pixels always give the same bytes.
//!
//! ```
//! use anim_view::Image;
//!
//! let mut image = Image::new(64, 16, [20, 20, 24]);
//! image.text(4, 4, "frame 12", 7, [255, 255, 255]);
//! assert_eq!(&image.to_png()[1..4], b"PNG");
//! ```

use crate::text;

/// A picture: sRGB codes, row-major, top row first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `width · height` red, green, blue.
    pub pixels: Vec<[u8; 3]>,
}

impl Image {
    /// A picture of one colour.
    pub fn new(width: u32, height: u32, color: [u8; 3]) -> Self {
        Self {
            width,
            height,
            pixels: vec![color; width as usize * height as usize],
        }
    }

    /// The pixel at column `x`, row `y` from the top; `None` outside.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        (x < self.width)
            .then(|| y as usize * self.width as usize + x as usize)
            .and_then(|place| self.pixels.get(place).copied())
    }

    /// Copies `other` with its top left corner at column `x`, row `y`; what falls outside is left out.
    pub fn paste(&mut self, x: u32, y: u32, other: &Self) {
        let (from, width) = (other.width as usize, self.width as usize);
        let count = from.min(width.saturating_sub(x as usize));
        if count == 0 {
            return;
        }
        let rows = self.pixels.chunks_exact_mut(width).skip(y as usize);
        for (to, row) in rows.zip(other.pixels.chunks_exact(from)) {
            to[x as usize..][..count].copy_from_slice(&row[..count]);
        }
    }

    /// Writes `text` in the built-in 5 × 7 font.
    ///
    /// * `x`, `y`: the top left corner of the first capital, pixels. * `size`: the height of a capital, pixels, rounded
    ///   down to a multiple of 7 so that strokes stay crisp; at least 7. A line break starts a new line.
    pub fn text(&mut self, x: i32, y: i32, text: &str, size: u32, color: [u8; 3]) {
        let (width, height) = (i64::from(self.width), i64::from(self.height));
        text::draw(text, size, |column, row| {
            let (column, row) = (i64::from(x) + column, i64::from(y) + row);
            if (0..width).contains(&column) && (0..height).contains(&row) {
                let place = row as usize * width as usize + column as usize;
                if let Some(pixel) = self.pixels.get_mut(place) {
                    *pixel = color;
                }
            }
        });
    }

    /// A PNG file: 8 bit RGB, marked as sRGB.
    ///
    /// Rows that `pixels` is too short for are left out. PNG knows no empty pictures: one without pixels becomes a
    /// single black one.
    pub fn to_png(&self) -> Vec<u8> {
        encode(&[self], None)
    }
}

/// An animated PNG that plays `frames` for ever; programs that know no animation show the first frame.
///
/// All frames take the first one's size: larger ones are cropped, smaller ones padded with black. The rate is clamped to
/// 1 to 1000 frames a second and rounded to whole milliseconds.
pub fn animation(frames: &[Image], frames_per_second: f32) -> Vec<u8> {
    let milliseconds = (1000.0 / frames_per_second.clamp(1.0, 1000.0)).round() as u16;
    let Some(first) = frames.first() else {
        return encode(&[], None);
    };
    let fitted: Vec<Image> = frames
        .iter()
        .map(|frame| {
            let rows = first.pixels.len() / (first.width as usize).max(1);
            let mut fitted = Image::new(first.width, rows as u32, [0; 3]);
            fitted.paste(0, 0, frame);
            fitted
        })
        .collect();
    encode(&fitted.iter().collect::<Vec<_>>(), Some(milliseconds))
}

/// Encodes frames of one size; writing to memory cannot fail, and all that PNG refuses is ruled out here.
fn encode(frames: &[&Image], milliseconds: Option<u16>) -> Vec<u8> {
    let frames: Vec<(usize, &[[u8; 3]])> = frames
        .iter()
        .map(|frame| {
            let width = frame.width as usize;
            let rows =
                (frame.height as usize).min(frame.pixels.len().checked_div(width).unwrap_or(0));
            (width, &frame.pixels[..width * rows])
        })
        .filter(|(_, pixels)| !pixels.is_empty())
        .collect();
    let Some(&(width, pixels)) = frames.first() else {
        return encode(&[&Image::new(1, 1, [0; 3])], None);
    };
    let mut bytes = Vec::new();
    let height = pixels.len() / width;
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let written = (|| {
        if let Some(milliseconds) = milliseconds {
            encoder.set_animated(frames.len() as u32, 0)?;
            encoder.set_frame_delay(milliseconds, 1000)?;
        }
        let mut writer = encoder.write_header()?;
        for (_, pixels) in &frames {
            writer.write_image_data(pixels.as_flattened())?;
        }
        writer.finish()
    })();
    debug_assert!(written.is_ok(), "{written:?}");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> (Image, usize) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let frames = reader
            .info()
            .animation_control()
            .map_or(1, |control| control.num_frames);
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        let image = Image {
            width: info.width,
            height: info.height,
            pixels: data.as_chunks::<3>().0.to_vec(),
        };
        (image, frames as usize)
    }

    fn chequered(width: u32, height: u32) -> Image {
        let mut image = Image::new(width, height, [0; 3]);
        for (place, pixel) in image.pixels.iter_mut().enumerate() {
            *pixel = [place as u8, (place * 7) as u8, (place / 5) as u8];
        }
        image
    }

    #[test]
    fn png_decodes_to_the_same_pixels() {
        for (width, height) in [(1, 1), (3, 2), (64, 48), (1, 100)] {
            let image = chequered(width, height);
            assert_eq!(decoded(&image.to_png()), (image, 1));
        }
    }

    #[test]
    fn an_animation_holds_all_frames_and_shows_the_first() {
        let frames = [chequered(9, 5), chequered(4, 8), chequered(20, 20)];
        let (image, count) = decoded(&animation(&frames, 30.0));
        assert_eq!((image, count), (frames[0].clone(), 3));
    }

    #[test]
    fn images_that_lie_about_their_size_still_encode() {
        let liar = |width, height, count| Image {
            width,
            height,
            pixels: vec![[9; 3]; count],
        };
        let sizes = |image: &Image| {
            let (image, _) = decoded(&image.to_png());
            (image.width, image.height)
        };
        assert_eq!(sizes(&liar(0, 0, 0)), (1, 1));
        assert_eq!(sizes(&liar(u32::MAX, u32::MAX, 3)), (1, 1));
        assert_eq!(sizes(&liar(3, 10, 7)), (3, 2));
        assert_eq!(sizes(&liar(2, 2, 100)), (2, 2));
        assert_eq!(decoded(&animation(&[], 30.0)).0, Image::new(1, 1, [0; 3]));
    }

    #[test]
    fn paste_crops_at_the_border() {
        let mut image = Image::new(4, 3, [0; 3]);
        image.paste(3, 2, &Image::new(5, 5, [8; 3]));
        image.paste(9, 9, &Image::new(1, 1, [8; 3]));
        let painted: Vec<usize> = (0..12).filter(|p| image.pixels[*p] == [8; 3]).collect();
        assert_eq!(painted, [11]);
    }
}
