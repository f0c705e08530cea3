//! Draws the pictures of the book into `docs/book/img`: `cargo xtask book`, or `cargo run --example book_pictures [FOLDER]`.
//!
//! One module a chapter. Everything is computed by the crates that the chapter is about, and the renderer gives the same
//! bytes everywhere, so a picture changes only if what it shows does.
#![allow(
    clippy::print_stdout,
    reason = "an example shows its result where it is run"
)]

mod blending;
mod curves;
mod faces;
mod frames;
mod ik;
mod rotations;
mod simulation;
mod skeletons;
mod skinning;
mod springs;
#[path = "../common/walkers.rs"]
mod walkers;
mod weights;

use std::error::Error;
use std::path::PathBuf;

use anim_view::plot::{Plot, Series};
use anim_view::{Image, ViewError, sheet};

/// A picture and the name of its file, without `.png`.
type Picture = (&'static str, Image);
/// A curve of a plot: its label, points and colour.
type Line<'a> = (&'a str, Vec<[f32; 2]>, [f32; 3]);

const BLUE: [f32; 3] = [0.03, 0.14, 0.55];
const RED: [f32; 3] = [0.62, 0.05, 0.04];
const GREEN: [f32; 3] = [0.02, 0.30, 0.10];
const ORANGE: [f32; 3] = [0.75, 0.28, 0.01];
const GREY: [f32; 3] = [0.35, 0.36, 0.38];
const INK: [f32; 3] = [0.03, 0.035, 0.045];

fn main() -> Result<(), Box<dyn Error>> {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/img");
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or(book.into()));
    std::fs::create_dir_all(&folder)?;
    let chapters = [
        frames::pictures,
        curves::pictures,
        rotations::pictures,
        skeletons::pictures,
        blending::pictures,
        ik::pictures,
        weights::pictures,
        skinning::pictures,
        faces::pictures,
        springs::pictures,
        simulation::pictures,
    ];
    for chapter in chapters {
        for (name, image) in chapter()? {
            let png = image.to_png();
            println!(
                "{name}.png: {} x {}, {} bytes",
                image.width,
                image.height,
                png.len()
            );
            std::fs::write(folder.join(name).with_extension("png"), png)?;
        }
    }
    Ok(())
}

/// A plot that is half as wide as a page if there are two of them in a row.
fn plot(
    title: &str,
    [x_label, y_label]: [&str; 2],
    lines: &[Line<'_>],
    width: u32,
) -> Result<Image, ViewError> {
    let series: Vec<_> = lines
        .iter()
        .map(|(label, points, color)| Series {
            label,
            points,
            color: *color,
        })
        .collect();
    Plot {
        title,
        x_label,
        y_label,
        series: &series,
    }
    .draw(width, 320)
}

/// `count` + 1 points of a function from `start` to `end`.
fn graph(start: f32, end: f32, count: u32, mut value: impl FnMut(f32) -> f32) -> Vec<[f32; 2]> {
    let at = |n: u32| start + (end - start) * n as f32 / count as f32;
    (0..=count).map(|n| [at(n), value(at(n))]).collect()
}

/// An upright cross at each point, `size` long each way in the axes' units.
fn crosses(points: impl IntoIterator<Item = [f32; 2]>, size: [f32; 2]) -> Vec<[f32; 2]> {
    let cross = |[x, y]: [f32; 2]| {
        let [dx, dy] = size;
        let pause = [f32::NAN; 2];
        [
            [x - dx, y],
            [x + dx, y],
            pause,
            [x, y - dy],
            [x, y + dy],
            pause,
        ]
    };
    points.into_iter().flat_map(cross).collect()
}

/// Pictures side by side, without captions.
fn row(images: &[Image]) -> Image {
    sheet(images, &[], images.len())
}
