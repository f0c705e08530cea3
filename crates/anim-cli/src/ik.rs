//! `anim ik`: solves goals on a posed character.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anim_asset::Document;
use anim_engine::ik::TwoBone;
use anim_engine::math::{Quat, Vec3, quat};
use anim_engine::scene::{CharacterSpec, TargetSpec};
use anim_engine::skeleton::{Globals, JointId, JointLimit, Pose, Skeleton};
use anim_engine::{SceneSpec, curves};
use serde_json::{Map, Value, json};

use crate::ik_solve::{self, Ask, Question, Solved, Solver};
use crate::output::{Exit, Failure};
use crate::picture::{self, Look};
use crate::{input, output, play};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A character: .glb, .gltf or .pack.
    file: PathBuf,
    /// Where a node should be: NODE=x,y,z, m, in the space of the file; may be given several times.
    #[arg(long, value_name = "NODE=X,Y,Z", allow_hyphen_values = true)]
    goal: Vec<String>,
    /// How a node should be turned: NODE=x,y,z,w, a quaternion in the space of the file; may be given several times.
    #[arg(long, value_name = "NODE=X,Y,Z,W", allow_hyphen_values = true)]
    orient: Vec<String>,
    /// The nodes that may turn: ROOT..END. Else all above the goals up to the top of the skin; two nodes for two-bone.
    #[arg(long, value_name = "ROOT..END")]
    chain: Option<String>,
    /// How to solve.
    #[arg(long, value_enum, default_value_t = Solver::Lm)]
    solver: Solver,
    /// A point that knees and elbows bend toward: x,y,z, m.
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    pole: Option<String>,
    /// What joints can do: a JSON object of NODE to joint limit, as {"knee": {"hinge": {"axis": [1, 0, 0], "range": [0, 2.4]}}}:
    /// axes in the joint's frame at rest, angles in rad. What is not named turns at will.
    #[arg(long, value_name = "FILE.json")]
    limits: Option<PathBuf>,
    /// Let the top of what may turn move too.
    #[arg(long)]
    free_root: bool,
    /// Number or name of the clip to start from; the rest pose without it and --time.
    #[arg(long)]
    clip: Option<String>,
    /// Seconds into the clip.
    #[arg(long, allow_negative_numbers = true)]
    time: Option<f32>,
    /// A goal is met within this: metres for positions, rad for rotations.
    #[arg(long, default_value_t = 1e-4)]
    tolerance: f32,
    /// Steps at most.
    #[arg(long, default_value_t = 300)]
    iterations: u32,
    /// Other starts at most, for lm and ccd.
    #[arg(long, default_value_t = 0)]
    restarts: u32,
    /// Of the other starts.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write the posed character, without clips.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Draw the posed character and the goals.
    #[arg(long)]
    png: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    check(args)?;
    let document = input::document(&args.file)?;
    let name = args.file.display().to_string();
    let unusable = |error: &dyn std::error::Error| Failure::new(name.as_str(), "/", error);
    let skeleton = document.skeleton().map_err(|error| unusable(&error))?;
    let mut pose = skeleton.rest().clone();
    if args.clip.is_some() || args.time.is_some() {
        let clip = input::clip(&document.clips, args.clip.as_deref())?;
        if let Some((_, clip)) = clip {
            clip.sample(&skeleton, args.time.unwrap_or(0.0), &mut pose);
        }
    }
    let question = Question {
        skeleton: &skeleton,
        asks: asks(args, &skeleton)?,
        chain: chain(args, &skeleton)?,
        limits: limits(args, &skeleton)?,
        pole: args
            .pole
            .as_deref()
            .map(|pole| point("--pole", pole))
            .transpose()?,
        top: &|joint| top_of_skin(&document, &skeleton, joint),
        free_root: args.free_root,
        tolerance: args.tolerance,
        iterations: args.iterations,
        restarts: args.restarts,
        seed: args.seed,
    };
    let solved = ik_solve::solve(args.solver, &question, &mut pose)?;
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(&pose, &mut globals);

    let posed = posed(&document, &skeleton, &pose);
    if let Some(out) = &args.out {
        let format = output::character_format(out)?;
        output::file(out, &anim_asset::encode(&posed, format))?;
    }
    if let Some(png) = &args.png {
        draw(png, &name, &posed, &question.asks)?;
    }
    let value = value(args, &document, &question, &solved, &pose, &globals);
    if args.json {
        output::json("ik", value)?;
    } else {
        output::findings(&name, &document.findings);
        output::text(&summary(&value, &skeleton))?;
    }
    Ok(if solved.is_met {
        Exit::Fine
    } else {
        Exit::Findings
    })
}

/// Refuses what no file could make right.
fn check(args: &Args) -> Result<(), Failure> {
    if args.goal.is_empty() && args.orient.is_empty() {
        return Err(Failure::option(
            "--goal",
            "nothing is asked for: give --goal or --orient",
        ));
    }
    if !(args.tolerance.is_finite() && args.tolerance > 0.0) {
        let message = format!("{} is not a positive length", args.tolerance);
        return Err(Failure::option("--tolerance", message));
    }
    if let Some(time) = args.time.filter(|time| !time.is_finite()) {
        return Err(Failure::option("--time", format!("{time} is not a time")));
    }
    if let Some(out) = &args.out {
        output::character_format(out)?;
    }
    args.png.as_deref().map_or(Ok(()), output::check_picture)
}

/// What is asked of which node, in the order of the call.
fn asks(args: &Args, skeleton: &Skeleton) -> Result<Vec<Ask>, Failure> {
    let mut asks: Vec<Ask> = Vec::new();
    let mut of = |joint: JointId| match asks.iter().position(|ask: &Ask| ask.joint == joint) {
        Some(place) => place,
        None => {
            asks.push(Ask {
                joint,
                position: None,
                rotation: None,
            });
            asks.len() - 1
        }
    };
    let mut wanted = Vec::new();
    for (option, text) in args
        .goal
        .iter()
        .map(|text| ("--goal", text))
        .chain(args.orient.iter().map(|text| ("--orient", text)))
    {
        let (node, numbers) = text
            .rsplit_once('=')
            .ok_or_else(|| Failure::option(option, format!("'{text}' is not NODE=NUMBERS")))?;
        wanted.push((option, of(input::node(skeleton, option, node)?), numbers));
    }
    for (option, place, numbers) in wanted {
        let ask = &mut asks[place];
        let is_new = if option == "--goal" {
            ask.position.replace(point(option, numbers)?).is_none()
        } else {
            ask.rotation.replace(rotation(option, numbers)?).is_none()
        };
        if !is_new {
            return Err(Failure::option(option, "two goals for the same node"));
        }
    }
    Ok(asks)
}

fn chain(args: &Args, skeleton: &Skeleton) -> Result<Option<(JointId, JointId)>, Failure> {
    let Some(text) = &args.chain else {
        return Ok(None);
    };
    let parts = text.split_once("..");
    let (root, end) =
        parts.ok_or_else(|| Failure::option("--chain", format!("'{text}' is not ROOT..END")))?;
    let root = input::node(skeleton, "--chain", root)?;
    let end = input::node(skeleton, "--chain", end)?;
    if !skeleton.is_below(end, root) {
        let message = format!(
            "#{} is not below #{}",
            skeleton.source(end),
            skeleton.source(root)
        );
        return Err(Failure::option("--chain", message));
    }
    Ok(Some((root, end)))
}

/// One limit a joint, by [`JointId::index`].
fn limits(args: &Args, skeleton: &Skeleton) -> Result<Vec<JointLimit>, Failure> {
    let mut limits = vec![JointLimit::FREE; skeleton.len()];
    let Some(path) = &args.limits else {
        return Ok(limits);
    };
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| Failure::new(file.as_str(), "read", error))?;
    let given: BTreeMap<String, JointLimit> =
        serde_json::from_str(&text).map_err(|error| play::misread(&error, &file))?;
    for (node, limit) in given {
        limits[input::node(skeleton, "--limits", &node)?.index()] = limit;
    }
    Ok(limits)
}

fn point(option: &str, text: &str) -> Result<Vec3, Failure> {
    numbers::<3>(option, text).map(Vec3::from)
}

fn rotation(option: &str, text: &str) -> Result<Quat, Failure> {
    let rotation = quat::from_xyzw(numbers::<4>(option, text)?);
    rotation.ok_or_else(|| Failure::option(option, format!("'{text}' is no rotation")))
}

/// Exactly `N` finite numbers between commas.
fn numbers<const N: usize>(option: &str, text: &str) -> Result<[f32; N], Failure> {
    let all: Option<Vec<f32>> = text
        .split(',')
        .map(|number| {
            number
                .trim()
                .parse()
                .ok()
                .filter(|number: &f32| number.is_finite())
        })
        .collect();
    let all = all.and_then(|all| <[f32; N]>::try_from(all).ok());
    all.ok_or_else(|| Failure::option(option, format!("'{text}' is not {N} finite numbers")))
}

/// The highest joint above `joint`, or itself, that a skin hangs on; the very top where none does.
fn top_of_skin(document: &Document, skeleton: &Skeleton, joint: JointId) -> JointId {
    let is_skinned = |joint: &JointId| {
        let source = skeleton.source(*joint);
        document
            .skins
            .iter()
            .any(|skin| skin.joints.contains(&source))
    };
    let line: Vec<JointId> = [joint]
        .into_iter()
        .chain(skeleton.ancestors(joint))
        .collect();
    let highest = line.iter().rev().find(|joint| is_skinned(joint));
    highest.or(line.last()).copied().unwrap_or(joint)
}

/// The character at rest in its pose.
fn posed(document: &Document, skeleton: &Skeleton, pose: &Pose) -> Document {
    let mut posed = document.clone();
    posed.clips.clear();
    for (source, node) in posed.nodes.iter_mut().enumerate() {
        node.rest = pose.get(skeleton.joint(source));
    }
    posed
}

fn draw(path: &Path, file: &str, posed: &Document, asks: &[Ask]) -> Result<(), Failure> {
    let target = |(index, value): (usize, Vec3)| {
        let key = curves::Key {
            time: 0.0,
            value,
            velocity: None,
        };
        let interpolation = curves::Interpolation::Linear;
        let track = curves::TrackSpec {
            keys: vec![key],
            interpolation,
        };
        (
            format!("goal {index}"),
            TargetSpec {
                track,
                follow: None,
            },
        )
    };
    let positions = asks.iter().filter_map(|ask| ask.position).enumerate();
    let spec = SceneSpec {
        characters: vec![CharacterSpec::default()],
        targets: positions.map(target).collect(),
        ..SceneSpec::default()
    };
    let mut show = play::set_up(spec, file, None, &mut |_| Ok(posed.clone()))?;
    show.scene.step(0.0);
    let bounds = picture::bounds(&show.scene);
    let look = Look {
        width: 960,
        height: 960,
        yaw_deg: show.spec.camera.yaw_deg,
        pitch_deg: show.spec.camera.pitch_deg,
        skeleton: true,
        wire: false,
        floor: picture::floor(bounds),
    };
    let image = picture::draw(&show.scene, &picture::camera(bounds, &look), &look)?;
    output::file(path, &image.to_png())
}

fn value(
    args: &Args,
    document: &Document,
    question: &Question<'_>,
    solved: &Solved,
    pose: &Pose,
    globals: &Globals,
) -> Value {
    let skeleton = question.skeleton;
    let goals = question
        .asks
        .iter()
        .zip(&solved.residuals)
        .map(|(ask, residual)| {
            json!({
                "node": skeleton.source(ask.joint),
                "name": skeleton.name(ask.joint),
                "residual_m": residual.metres,
                "residual_deg": residual.radians.map(f64::to_degrees),
            })
        });
    let each = |value: &dyn Fn(JointId) -> Value| -> Map<String, Value> {
        let nodes = (0..skeleton.len()).map(|source| (source, skeleton.joint(source)));
        nodes
            .map(|(source, joint)| (source.to_string(), value(joint)))
            .collect()
    };
    let xyzw = |rotation: Quat| json!(rotation.coords.as_slice());
    json!({
        "file": input::file_name(&args.file),
        "solver": args.solver.name(),
        "status": solved.status,
        "iterations": solved.iterations,
        "goals": goals.collect::<Vec<Value>>(),
        "limits_hit": solved.limits_hit,
        "positions": each(&|joint| json!(globals.get(joint).translation.as_slice())),
        "rotations": each(&|joint| xyzw(globals.get(joint).to_transform().rotation)),
        "local_rotations": each(&|joint| xyzw(pose.rotation(joint))),
        "out": args.out.as_ref().map(|out| out.display().to_string()),
        "findings": output::findings_json(&document.findings),
    })
}

/// How it went, for people.
fn summary(value: &Value, skeleton: &Skeleton) -> String {
    let mut text = format!(
        "{} by {} after {} iterations\n",
        value["status"].as_str().unwrap_or_default(),
        value["solver"].as_str().unwrap_or_default(),
        value["iterations"]
    );
    for goal in value["goals"].as_array().into_iter().flatten() {
        let node = goal["node"].as_u64().unwrap_or_default() as usize;
        let name = skeleton.name(skeleton.joint(node)).unwrap_or("");
        let metres = goal["residual_m"].as_f64();
        let degrees = goal["residual_deg"].as_f64();
        let metres = metres.map_or(String::new(), |left| format!("  {:.4} mm left", left * 1e3));
        let degrees = degrees.map_or(String::new(), |left| format!("  {left:.4} degrees left"));
        text.push_str(&format!(
            "  #{node:<4} {}{metres}{degrees}\n",
            output::printable(name)
        ));
    }
    text
}

/// The limb of a goal: that of the chain, or the two bones above the node.
pub(crate) fn limb(
    skeleton: &Skeleton,
    chain: Option<(JointId, JointId)>,
    end: JointId,
) -> Result<TwoBone, Failure> {
    let fail = |error| Failure::option("--chain", error);
    let Some((root, end)) = chain else {
        return TwoBone::new(skeleton, end).map_err(fail);
    };
    let mut globals = Globals::new(skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    let way =
        |a: JointId, b: JointId| (globals.get(a).translation - globals.get(b).translation).norm();
    // Of several joints in between, the knee is the one far from both ends.
    let between = skeleton.ancestors(end).take_while(|joint| *joint != root);
    let apart = |joint: &JointId| way(*joint, root).min(way(*joint, end));
    let mid = between.max_by(|a, b| apart(a).total_cmp(&apart(b)));
    let mid = mid.ok_or_else(|| {
        Failure::option("--chain", "nothing between its root and its end to bend")
    })?;
    TwoBone::of(skeleton, root, mid, end).map_err(fail)
}
