//! `cargo xtask tidy`: the house rules that neither rustc nor clippy checks.
//!
//! Prints `path:line: what` for each breach. The rules are functions of a path and its text, so that they are tested on
//! small strings.

use std::fs;
use std::path::Path;

use crate::floors;
use crate::source::{code_only, line_of, without_tests, words};
use crate::workspace::{metadata, root};

/// Lines after which a file has a second subject.
const LONGEST: usize = 700;

/// The one place where a library opens files.
const FILES: &str = "crates/anim-asset/src/file.rs";

/// The one place below the leaves where time is read.
const CLOCK: &str = "crates/anim-engine/src/timing.rs";

/// Folders at the root of someone's machine; a path into one means nothing on another.
const MACHINE: [&str; 5] = ["home", "root", "tmp", "work", "Users"];

/// A breach: the line, from 1, and what is wrong.
type Problem = (usize, String);

/// Checks the whole workspace.
pub(crate) fn run() -> Result<(), String> {
    let root = root();
    let mut breaches = Vec::new();
    for path in files(&root)? {
        let Ok(text) = fs::read_to_string(root.join(&path)) else {
            continue;
        };
        breaches.extend(
            check(&path, &text)
                .into_iter()
                .map(|(line, what)| format!("{path}:{line}: {what}")),
        );
    }
    for folder in list(&root.join("crates"))? {
        let name = folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let missing = folder.join("Cargo.toml").exists() && !folder.join("README.md").exists();
        if let (Some(name), true) = (name, missing) {
            breaches.push(format!("crates/{name}/README.md:1: missing"));
        }
    }
    let manifest = |name: &str| match name {
        "xtask" => "xtask/Cargo.toml".to_owned(),
        _ => format!("crates/{name}/Cargo.toml"),
    };
    for (name, what) in floors::problems(&metadata()?) {
        breaches.push(format!("{}:1: {what}", manifest(&name)));
    }
    for breach in &breaches {
        println!("{breach}");
    }
    match breaches.len() {
        0 => Ok(()),
        count => Err(format!("{count} breaches of the house rules")),
    }
}

/// Every rule, on one file; `path` is relative to the root, with forward slashes.
fn check(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = machine_paths(text);
    if path.ends_with("Cargo.toml")
        && path.contains('/')
        && !text.contains("[lints]\nworkspace = true")
    {
        problems.push((1, "does not inherit the workspace's lints".into()));
    }
    if path.ends_with(".rs") {
        problems.extend(rust(path, text));
    }
    problems.sort();
    problems
}

fn rust(path: &str, text: &str) -> Vec<Problem> {
    let code = code_only(text);
    let is_source = path.contains("/src/");
    let mut problems = attributes(&code, text);
    for (token, what) in [
        ("todo!", "unfinished"),
        ("unimplemented!", "unfinished"),
        ("dbg!", "a print left behind"),
    ] {
        problems.extend(find(&code, token, what));
    }
    // A test that counts allocations is an allocator, which is unsafe to write.
    let counts_allocations = path.contains("/tests/") && code.contains("impl GlobalAlloc for");
    if !counts_allocations {
        problems.extend(find(&code, "unsafe", "unsafe code"));
    }
    if is_source && !text.trim_start().starts_with("//!") {
        problems.push((1, "a module starts with what it is and why: //!".into()));
    }
    let length = text.lines().count();
    if length > LONGEST {
        problems.push((
            LONGEST,
            format!("{length} lines: what is the second subject?"),
        ));
    }
    let name = path.split('/').nth(1).unwrap_or_default();
    let is_library = is_source && path.starts_with("crates/") && name != "anim-cli";
    if is_library {
        let library = without_tests(&code);
        if path != FILES {
            for token in ["std::fs", "std::net", "File::open", "File::create"] {
                problems.extend(find(library, token, "libraries take and give bytes"));
            }
        }
        for token in ["println!", "print!", "eprintln!", "eprint!"] {
            problems.extend(find(library, token, "libraries do not print"));
        }
        if path != CLOCK && !floors::is_leaf(name) {
            for token in ["Instant", "SystemTime"] {
                problems.extend(find(
                    library,
                    token,
                    "only the facade's timing reads a clock",
                ));
            }
        }
    }
    problems
}

fn find(code: &str, token: &str, what: &str) -> Vec<Problem> {
    words(code, token)
        .map(|at| (line_of(code, at), format!("{token}: {what}")))
        .collect()
}

/// Attributes that switch off a check.
fn attributes(code: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in ["ignore", "should_panic", "allow", "expect"] {
        for at in words(code, name) {
            if !(code[..at].ends_with("#[") || code[..at].ends_with("#![")) {
                continue;
            }
            let end = code[at..].find(']').map_or(code.len(), |end| at + end);
            let what = match name {
                "ignore" => "a test that does not run",
                "should_panic" => "compare an error instead",
                _ if words(&text[at..end], "reason").next().is_none() => "say why: reason = \"…\"",
                _ => continue,
            };
            problems.push((line_of(code, at), format!("{name}: {what}")));
        }
    }
    problems
}

/// Absolute paths of one machine, in any kind of text.
fn machine_paths(text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for folder in MACHINE {
        let path = format!("/{folder}/");
        for (at, _) in text.match_indices(&path) {
            // Within a longer path or an address it is just a folder.
            let continues = |c: char| c.is_alphanumeric() || "._-~*}$>)".contains(c);
            if !text[..at].ends_with(continues) {
                problems.push((line_of(text, at), format!("{path}: a path of one machine")));
            }
        }
    }
    problems
}

/// The text files of the workspace, relative to `root`, sorted.
fn files(root: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in list(&folder)? {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            // In a second working tree `.git` is a file.
            if ["target", ".git"].contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(relative) = path.strip_prefix(root) {
                found.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn list(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: [usize; 0] = [];
    const LIBRARY: &str = "crates/anim-sim/src/cloth.rs";

    /// The lines at which a library module with this body breaks a rule; its docs are line 1.
    fn lines(path: &str, body: &str) -> Vec<usize> {
        let problems = check(path, &format!("//! Docs.\n{body}"));
        problems.into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn modules_start_with_their_docs() {
        assert_eq!(check(LIBRARY, "use x;\n").len(), 1);
        assert!(check("crates/anim-sim/tests/t.rs", "use x;\n").is_empty());
    }

    #[test]
    fn libraries_neither_open_files_nor_print_nor_read_clocks() {
        for body in [
            "use std::fs;",
            "File::open(x)",
            "std::net::TcpStream",
            "println!(\"\")",
            "Instant::now()",
        ] {
            assert_eq!(lines(LIBRARY, body), [2], "{body}");
            assert_eq!(
                lines("crates/anim-sim/benches/sim.rs", body),
                CLEAN,
                "{body}"
            );
            assert_eq!(lines("crates/anim-cli/src/main.rs", body), CLEAN, "{body}");
            let in_tests = format!("#[cfg(test)]\nmod tests {{ {body} }}");
            assert_eq!(lines(LIBRARY, &in_tests), CLEAN, "{body}");
        }
        assert_eq!(lines(FILES, "use std::fs;"), CLEAN);
        assert_eq!(lines(CLOCK, "Instant::now()"), CLEAN);
        assert_eq!(
            lines("crates/anim-cli/src/main.rs", "Instant::now()"),
            CLEAN
        );
        assert_eq!(
            lines(
                LIBRARY,
                "// std::fs is not for us, nor \"println!\"\nlet x = \"Instant\";"
            ),
            CLEAN
        );
    }

    #[test]
    fn unsafe_unfinished_and_unchecked_code_is_found_anywhere() {
        let tests = "crates/anim-sim/tests/t.rs";
        for body in [
            "unsafe { x }",
            "todo!()",
            "dbg!(x)",
            "#[ignore]",
            "#[should_panic]",
        ] {
            assert_eq!(lines(tests, body), [2], "{body}");
        }
        let allocator = "unsafe impl GlobalAlloc for Counting {}";
        assert_eq!(lines(tests, allocator), CLEAN);
        assert_eq!(lines(LIBRARY, allocator), [2]);
        assert_eq!(lines(tests, "#![deny(unsafe_code)]"), CLEAN);
    }

    #[test]
    fn lints_are_switched_off_with_a_reason() {
        assert_eq!(lines(LIBRARY, "#[allow(dead_code)]"), [2]);
        assert_eq!(lines(LIBRARY, "\n#![expect(\n    dead_code\n)]"), [3]);
        assert_eq!(
            lines(LIBRARY, "#[allow(\n    dead_code,\n    reason = \"x\"\n)]"),
            CLEAN
        );
        assert_eq!(lines(LIBRARY, "x.expect(y); allow(z)"), CLEAN);
    }

    #[test]
    fn long_files_and_paths_of_one_machine_are_found() {
        assert_eq!(lines(LIBRARY, &"\n".repeat(LONGEST)), [LONGEST]);
        let path = |folder: &str| format!("see `/{folder}/data` or docs/{folder}/data");
        for folder in MACHINE {
            assert_eq!(machine_paths(&path(folder)).len(), 1, "{folder}");
        }
    }

    #[test]
    fn manifests_inherit_the_lints() {
        assert_eq!(check("crates/anim-sim/Cargo.toml", "[package]").len(), 1);
        assert!(check("crates/anim-sim/Cargo.toml", "[lints]\nworkspace = true\n").is_empty());
        assert!(check("Cargo.toml", "[workspace]").is_empty());
    }
}
