//! `--jobs`: the number of threads that read and judge.

use super::failure::Failure;

/// The greatest useful number of threads.
const MOST: usize = 1024;

/// Values and expressions are walked recursively up to the limits on their depth.
const STACK: usize = 16 << 20;

/// Does `work` with this many threads; without a number, as many as there are cores.
///
/// The work itself runs on one of these threads, so its values are dropped there and a single thread never waits for
/// another.
///
/// # Errors
/// The error of `work`, zero threads, or a system that cannot start threads.
pub(super) fn with<T: Send>(
    jobs: Option<usize>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let jobs = match jobs {
        None => std::thread::available_parallelism().map_or(1, usize::from),
        Some(0) => return Err(Failure::Usage("`--jobs` must be at least 1".to_owned())),
        Some(jobs) => jobs.min(MOST),
    };
    let done = std::thread::scope(|scope| {
        let first = std::thread::Builder::new().stack_size(STACK);
        let first = first.spawn_scoped(scope, || {
            // An existing pool (tests within one process) is used; results do not depend on it.
            let _ = rayon::ThreadPoolBuilder::new()
                .num_threads(jobs)
                .stack_size(STACK)
                .use_current_thread()
                .build_global();
            work()
        });
        first.map(|first| first.join())
    });
    match done {
        Ok(Ok(done)) => done,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => Err(Failure::Usage(format!("cannot start a thread: {error}"))),
    }
}
