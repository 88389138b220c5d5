//! `--jobs`: how many threads read and judge.

use super::failure::Failure;

/// The greatest useful number of threads.
const MOST: usize = 1024;

/// Values and expressions are walked by recursion, as deep as their limits allow.
const STACK: usize = 16 << 20;

/// Does `work` with this many threads; without a number, as many as there are cores.
///
/// The work itself is done by one of them: what it makes it also drops, and a single thread waits for no other.
///
/// # Errors
/// What `work` fails with, no thread at all, or a system that has none to give.
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
            // Where a pool exists already (tests within one process), it is used as it is: results do not depend on it.
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
