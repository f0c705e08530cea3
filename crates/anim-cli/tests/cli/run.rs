//! What the tests of the binary share: running it, finding data, walking folders.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// What a run of the binary came to.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The one object on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// No run may take longer; a hang fails instead of holding up everything.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `anim` in a folder of its own for files that the tests write.
pub(crate) fn anim<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_anim"))
        .args(arguments)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let reader = |mut pipe: Box<dyn std::io::Read + Send>| {
        thread::spawn(move || {
            let mut text = Vec::new();
            pipe.read_to_end(&mut text).expect("a pipe");
            String::from_utf8(text).expect("UTF-8")
        })
    };
    let stdout = reader(Box::new(child.stdout.take().expect("piped")));
    let stderr = reader(Box::new(child.stderr.take().expect("piped")));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("a child");
            panic!("still running after {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(2));
    };
    Run {
        code: status.code().unwrap_or(-1),
        stdout: stdout.join().expect("a reader"),
        stderr: stderr.join().expect("a reader"),
    }
}

/// A path in the folder for files that the tests write.
pub(crate) fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The data folder, or `None` (with a printed line) where there is none and none is demanded.
pub(crate) fn data() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = match std::env::var_os("ANIM_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => workspace.join("../shared/data"),
    };
    match folder.canonicalize() {
        Ok(folder) => Some(folder),
        Err(error) => {
            let demanded = std::env::var_os("ANIM_REQUIRE_DATA").is_some_and(|value| value == "1");
            assert!(!demanded, "{}: {error}", folder.display());
            println!("skipped: no data at {}", folder.display());
            None
        }
    }
}

/// All files below a folder, in the order of their names.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
