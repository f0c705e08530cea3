//! `--threads N`: the pool that a verb's work runs in, for verbs that step no engine.

use rayon::ThreadPoolBuilder;

use crate::output::Failure;

/// As many as the engine takes.
const MOST: usize = 256;

/// Runs `work` on so many threads, on all there are if left out; results never depend on it.
///
/// One thread is the calling one: the library shares work out only inside a pool of several.
pub(crate) fn within<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Failure> {
    match threads {
        Some(0 | 1) => Ok(work()),
        Some(threads) if threads > MOST => {
            let message = format!("{threads} are more than {MOST}");
            Err(Failure::option("--threads", message))
        }
        threads => {
            let builder = ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
            let pool = builder.build();
            let pool = pool.map_err(|error| Failure::option("--threads", error))?;
            Ok(pool.install(work))
        }
    }
}
