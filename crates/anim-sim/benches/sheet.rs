//! How much a hanging sheet stretches, and what a frame of it costs: the scene that other programs are measured on.
//!
//! A square metre of 0.2 kg/m² starts horizontal with one edge pinned and swings for a second, 60 frames. Speed without
//! stretch beside it says nothing: any solver is fast if it may stop early. Times are of the processor, on one thread.
//!
//! If `ANIM_PEERS_OUT` names a folder, scenes and our answers are left there as `sheet.json` for other programs:
//! `cargo xtask bench anim-sim --peers`.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench shows what it measured, and may panic"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use anim_math::Vec3;
use anim_sim::cloth::{self, ClothSpec};
use anim_sim::{Drive, Model, Solver, State, Xpbd};
#[cfg(feature = "solve")]
use anim_sim::{Projective, ProjectiveOptions};

const FRAMES: usize = 60;

/// Sizes, and how many substeps are tried at each.
const SCENES: [(u32, &[u32]); 2] = [(100, &[10, 20, 30, 50, 100]), (200, &[20, 30, 50])];

/// What one solver did.
struct Answer {
    program: String,
    /// Mean of the later two thirds of the frames, s.
    seconds: f64,
    /// At the end.
    mean_stretch: f64,
    /// In any of those frames: folds run through the sheet like whips, so that the largest of one moment is an accident.
    max_stretch: f64,
    positions: Vec<Vec3>,
}

fn main() {
    // Anything but `cargo bench` only wants to know whether it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut problems = Vec::new();
    for (n, substeps) in SCENES {
        let mut answers = Vec::new();
        for count in substeps {
            answers.push(hang(*count, "", common::edges_only(n)));
        }
        answers.push(hang(20, ", with tethers and bending", whole(n)));
        #[cfg(feature = "solve")]
        answers.push(hang_implicitly(n));
        println!(
            "{:<48} {:>10} {:>11} {:>11}",
            format!("sheet of {n} x {n}"),
            "ms a frame",
            "stretch",
            "largest"
        );
        for answer in &answers {
            println!(
                "{:<48} {:10.2} {:9.3} % {:9.2} %",
                answer.program,
                1e3 * answer.seconds,
                1e2 * answer.mean_stretch,
                1e2 * answer.max_stretch
            );
        }
        problems.push(problem(n, &answers));
    }
    if let Some(folder) = std::env::var_os("ANIM_PEERS_OUT") {
        let path = std::path::Path::new(&folder).join("sheet.json");
        let json = format!("[{}]\n", problems.join(",\n"));
        std::fs::write(path, json).expect("the folder can be written to");
    }
}

/// With the tethers and the bending that cloth has.
fn whole(n: u32) -> ClothSpec {
    ClothSpec {
        stretch_compliance: 1e-3,
        drag: 0.0,
        damping: 0.0,
        ..common::sheet(n, true)
    }
}

fn hang(substeps: u32, what: &str, spec: ClothSpec) -> Answer {
    let model = cloth::build(&spec).expect("a valid sheet");
    let mut solver = Xpbd::new(&model, substeps);
    let program = format!("anim-sim XPBD, {substeps} substeps{what}");
    swing(program, &model, &mut solver)
}

/// The mode for quality, with its default options.
#[cfg(feature = "solve")]
fn hang_implicitly(n: u32) -> Answer {
    let model = cloth::build(&common::edges_only(n)).expect("a valid sheet");
    let mut solver = Projective::new(&model, ProjectiveOptions::default());
    swing("anim-sim projective dynamics".into(), &model, &mut solver)
}

fn swing(program: String, model: &Model, solver: &mut dyn Solver) -> Answer {
    let mut state = State::new(model);
    let mut path = Vec::with_capacity(FRAMES);
    let mut frames = |count: usize| {
        for _ in 0..count {
            solver.step(model, &Drive::default(), 1.0 / 60.0, &mut state);
            path.push(state.positions.clone());
        }
    };
    frames(FRAMES / 3);
    let begin = Clock::now();
    frames(FRAMES - FRAMES / 3);
    let seconds = begin.elapsed() / (FRAMES - FRAMES / 3) as f64;
    let stretches = path[FRAMES / 3..]
        .iter()
        .map(|positions| stretch(positions));
    let max_stretch = stretches.map(|[_, max]| max).fold(f64::MIN, f64::max);
    Answer {
        program,
        seconds,
        mean_stretch: stretch(&state.positions)[0],
        max_stretch,
        positions: state.positions,
    }
}

/// Mean and largest stretch of the edges that hang.
fn stretch(positions: &[Vec3]) -> [f64; 2] {
    let n = positions.len().isqrt();
    let stretches: Vec<f64> = positions
        .iter()
        .zip(&positions[n..])
        .map(|(above, below)| f64::from((below - above).norm()) * (n - 1) as f64 - 1.0)
        .collect();
    let mean = stretches.iter().sum::<f64>() / stretches.len() as f64;
    [mean, stretches.iter().copied().fold(f64::MIN, f64::max)]
}

fn problem(n: u32, answers: &[Answer]) -> String {
    let ours: Vec<String> = answers
        .iter()
        .map(|answer| {
            let positions: Vec<String> = answer
                .positions
                .iter()
                .map(|x| format!("[{},{},{}]", x.x, x.y, x.z))
                .collect();
            format!(
                r#"{{"program": "{}", "seconds": {}, "max_stretch": {}, "positions": [{}]}}"#,
                answer.program,
                answer.seconds,
                answer.max_stretch,
                positions.join(",")
            )
        })
        .collect();
    format!(
        r#"{{"size": {n}, "frames": {FRAMES}, "ours": [{}]}}"#,
        ours.join(",\n")
    )
}

/// Time that this thread has had the processor, where the system tells, to a few ms; else what the wall says.
enum Clock {
    Processor(u64),
    Wall(Instant),
}

impl Clock {
    fn now() -> Self {
        processor_nanoseconds().map_or_else(|| Self::Wall(Instant::now()), Self::Processor)
    }

    /// Seconds.
    fn elapsed(&self) -> f64 {
        match self {
            Self::Processor(begin) => {
                let end = processor_nanoseconds().unwrap_or(*begin);
                1e-9 * (end - begin) as f64
            }
            Self::Wall(begin) => begin.elapsed().as_secs_f64(),
        }
    }
}

/// Linux only.
fn processor_nanoseconds() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
