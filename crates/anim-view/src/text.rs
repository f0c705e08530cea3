//! A bitmap font of printable ASCII for captions and labels.
//!
//! Capitals are 5 × 7 pixels, descenders reach two rows below; a cell is 6 × 10. Sizes are whole multiples, so that every
//! stroke is crisp. Letters outside ASCII show as a hollow box.
//!
//! ```
//! assert_eq!(anim_view::text::size("two\nlines", 7), (29, 20));
//! ```

/// Columns of a glyph.
const GLYPH: usize = 5;
/// Columns and rows of a glyph's cell, spacing included.
const CELL: (usize, usize) = (6, 10);

/// Width and height in pixels of `text` in capitals of `size` pixels.
pub fn size(text: &str, size: u32) -> (usize, usize) {
    let longest = text.lines().map(|line| line.chars().count()).max();
    let columns = (longest.unwrap_or(0) * CELL.0).saturating_sub(CELL.0 - GLYPH);
    (
        columns * scale(size),
        text.lines().count() * CELL.1 * scale(size),
    )
}

/// From one letter to the next, pixels.
pub(crate) fn advance(size: u32) -> usize {
    CELL.0 * scale(size)
}

/// Visits the column and row of every pixel of `text`, from the top left corner.
pub(crate) fn draw(text: &str, size: u32, mut visit: impl FnMut(i64, i64)) {
    let scale = scale(size);
    for (line, letters) in text.lines().enumerate() {
        for (place, letter) in letters.chars().enumerate() {
            let bits = glyph(letter);
            for bit in (0..u64::BITS as usize).filter(|bit| bits >> bit & 1 == 1) {
                let left = (place * CELL.0 + bit % GLYPH) * scale;
                let top = (line * CELL.1 + bit / GLYPH) * scale;
                for (x, y) in (0..scale).flat_map(|y| (0..scale).map(move |x| (x, y))) {
                    visit((left + x) as i64, (top + y) as i64);
                }
            }
        }
    }
}

/// Whole pixels a dot of the font.
fn scale(size: u32) -> usize {
    (size as usize / 7).clamp(1, 1024)
}

/// Bit `5 · row + column` is set where the letter has ink.
fn glyph(letter: char) -> u64 {
    let place = (letter as usize).checked_sub(' ' as usize);
    place
        .and_then(|place| GLYPHS.get(place).copied())
        .unwrap_or(BOX)
}

const BOX: u64 = bits("##### #...# #...# #...# #...# #...# #####");

const GLYPHS: [u64; 95] = parsed(&DRAWINGS);

const fn parsed(drawings: &[&str; 95]) -> [u64; 95] {
    let mut glyphs = [0; 95];
    let mut place = 0;
    while place < 95 {
        glyphs[place] = bits(drawings[place]);
        place += 1;
    }
    glyphs
}

const fn bits(drawing: &str) -> u64 {
    let (mut bits, mut bit, mut place) = (0, 0, 0);
    while place < drawing.len() {
        match drawing.as_bytes()[place] {
            b'#' => {
                bits |= 1 << bit;
                bit += 1;
            }
            b'.' => bit += 1,
            _ => assert!(bit % GLYPH == 0, "a row of a glyph has five dots"),
        }
        place += 1;
    }
    bits
}

/// Rows from the top; blank ones at the end are left out. From the space to the tilde.
#[rustfmt::skip]
const DRAWINGS: [&str; 95] = [
    "",
    "..#.. ..#.. ..#.. ..#.. ..#.. ..... ..#..",
    ".#.#. .#.#. .#.#.",
    ".#.#. .#.#. ##### .#.#. ##### .#.#. .#.#.",
    "..#.. .#### #.#.. .###. ..#.# ####. ..#..",
    "##..# ##..# ...#. ..#.. .#... #..## #..##",
    ".##.. #..#. #.#.. .#... #.#.# #..#. .##.#",
    "..#.. ..#.. ..#..",
    "...#. ..#.. .#... .#... .#... ..#.. ...#.",
    ".#... ..#.. ...#. ...#. ...#. ..#.. .#...",
    "..... ..#.. #.#.# .###. #.#.# ..#..",
    "..... ..#.. ..#.. ##### ..#.. ..#..",
    "..... ..... ..... ..... ..... .##.. ..#.. .#...",
    "..... ..... ..... .###.",
    "..... ..... ..... ..... ..... .##.. .##..",
    "....# ....# ...#. ..#.. .#... #.... #....",
    ".###. #...# #..## #.#.# ##..# #...# .###.",
    "..#.. .##.. ..#.. ..#.. ..#.. ..#.. .###.",
    ".###. #...# ....# ...#. ..#.. .#... #####",
    "##### ...#. ..#.. ...#. ....# #...# .###.",
    "...#. ..##. .#.#. #..#. ##### ...#. ...#.",
    "##### #.... ####. ....# ....# #...# .###.",
    "..##. .#... #.... ####. #...# #...# .###.",
    "##### ....# ...#. ..#.. .#... .#... .#...",
    ".###. #...# #...# .###. #...# #...# .###.",
    ".###. #...# #...# .#### ....# ...#. .##..",
    "..... .##.. .##.. ..... .##.. .##..",
    "..... .##.. .##.. ..... ..... .##.. ..#.. .#...",
    "...#. ..#.. .#... #.... .#... ..#.. ...#.",
    "..... ..... ##### ..... #####",
    ".#... ..#.. ...#. ....# ...#. ..#.. .#...",
    ".###. #...# ....# ...#. ..#.. ..... ..#..",
    ".###. #...# ....# .##.# #.#.# #.#.# .###.",
    ".###. #...# #...# ##### #...# #...# #...#",
    "####. #...# #...# ####. #...# #...# ####.",
    ".###. #...# #.... #.... #.... #...# .###.",
    "###.. #..#. #...# #...# #...# #..#. ###..",
    "##### #.... #.... ####. #.... #.... #####",
    "##### #.... #.... ####. #.... #.... #....",
    ".###. #...# #.... #.### #...# #...# .####",
    "#...# #...# #...# ##### #...# #...# #...#",
    ".###. ..#.. ..#.. ..#.. ..#.. ..#.. .###.",
    "..### ...#. ...#. ...#. ...#. #..#. .##..",
    "#...# #..#. #.#.. ##... #.#.. #..#. #...#",
    "#.... #.... #.... #.... #.... #.... #####",
    "#...# ##.## #.#.# #.#.# #...# #...# #...#",
    "#...# #...# ##..# #.#.# #..## #...# #...#",
    ".###. #...# #...# #...# #...# #...# .###.",
    "####. #...# #...# ####. #.... #.... #....",
    ".###. #...# #...# #...# #.#.# #..#. .##.#",
    "####. #...# #...# ####. #.#.. #..#. #...#",
    ".#### #.... #.... .###. ....# ....# ####.",
    "##### ..#.. ..#.. ..#.. ..#.. ..#.. ..#..",
    "#...# #...# #...# #...# #...# #...# .###.",
    "#...# #...# #...# #...# #...# .#.#. ..#..",
    "#...# #...# #...# #.#.# #.#.# #.#.# .#.#.",
    "#...# #...# .#.#. ..#.. .#.#. #...# #...#",
    "#...# #...# #...# .#.#. ..#.. ..#.. ..#..",
    "##### ....# ...#. ..#.. .#... #.... #####",
    ".###. .#... .#... .#... .#... .#... .###.",
    "#.... #.... .#... ..#.. ...#. ....# ....#",
    ".###. ...#. ...#. ...#. ...#. ...#. .###.",
    "..#.. .#.#. #...#",
    "..... ..... ..... ..... ..... ..... ..... #####",
    ".#... ..#.. ...#.",
    "..... ..... .###. ....# .#### #...# .####",
    "#.... #.... #.##. ##..# #...# #...# ####.",
    "..... ..... .###. #.... #.... #...# .###.",
    "....# ....# .##.# #..## #...# #...# .####",
    "..... ..... .###. #...# ##### #.... .###.",
    "..##. .#..# .#... ###.. .#... .#... .#...",
    "..... ..... .#### #...# #...# #...# .#### ....# .###.",
    "#.... #.... #.##. ##..# #...# #...# #...#",
    "..#.. ..... .##.. ..#.. ..#.. ..#.. .###.",
    "...#. ..... ..##. ...#. ...#. ...#. ...#. #..#. .##..",
    "#.... #.... #..#. #.#.. ##... #.#.. #..#.",
    ".##.. ..#.. ..#.. ..#.. ..#.. ..#.. .###.",
    "..... ..... ##.#. #.#.# #.#.# #...# #...#",
    "..... ..... #.##. ##..# #...# #...# #...#",
    "..... ..... .###. #...# #...# #...# .###.",
    "..... ..... ####. #...# #...# #...# ####. #.... #....",
    "..... ..... .#### #...# #...# #...# .#### ....# ....#",
    "..... ..... #.##. ##..# #.... #.... #....",
    "..... ..... .#### #.... .###. ....# ####.",
    ".#... .#... ###.. .#... .#... .#..# ..##.",
    "..... ..... #...# #...# #...# #..## .##.#",
    "..... ..... #...# #...# #...# .#.#. ..#..",
    "..... ..... #...# #...# #.#.# #.#.# .#.#.",
    "..... ..... #...# .#.#. ..#.. .#.#. #...#",
    "..... ..... #...# #...# #...# #...# .#### ....# .###.",
    "..... ..... ##### ...#. ..#.. .#... #####",
    "...#. ..#.. ..#.. .#... ..#.. ..#.. ...#.",
    "..#.. ..#.. ..#.. ..#.. ..#.. ..#.. ..#..",
    ".#... ..#.. ..#.. ...#. ..#.. ..#.. .#...",
    "..... ..... .#... #.#.# ...#.",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn ink(text: &str, size: u32) -> usize {
        let mut count = 0;
        draw(text, size, |_, _| count += 1);
        count
    }

    #[test]
    fn letters_have_known_pixel_counts() {
        for (text, count) in [
            (" ", 0),
            (".", 4),
            ("H", 17),
            ("I", 11),
            ("HI H", 45),
            ("é", 20),
        ] {
            assert_eq!(ink(text, 7), count, "{text}");
        }
        assert_eq!(ink("H", 14), 4 * 17);
        assert_eq!(ink("H", 20), 4 * 17);
    }

    #[test]
    fn all_printable_letters_differ_and_keep_to_their_cell() {
        let mut glyphs = GLYPHS.to_vec();
        assert!(glyphs.iter().all(|bits| bits >> (9 * GLYPH) == 0));
        assert!(glyphs[1..].iter().all(|bits| *bits != 0));
        glyphs.sort_unstable();
        glyphs.dedup();
        assert_eq!(glyphs.len(), 95);
    }

    #[test]
    fn ink_stays_within_the_measured_size() {
        for (text, height) in [("gap", 7), ("two\nlines, jumping", 21), ("", 7)] {
            let (width, rows) = size(text, height);
            draw(text, height, |x, y| {
                assert!((0..width as i64).contains(&x) && (0..rows as i64).contains(&y));
            });
        }
    }
}
