//! `--jobs`: how many threads read and judge.

use super::failure::Failure;

/// More threads than this help nobody.
const MOST: usize = 1024;

/// Values and expressions are walked by recursion, as deep as their limits allow.
const STACK: usize = 16 << 20;

/// Sets the number of threads; without one, as many as there are cores.
pub(super) fn limit(jobs: Option<usize>) -> Result<(), Failure> {
    let jobs = match jobs {
        None => std::thread::available_parallelism().map_or(1, usize::from),
        Some(0) => return Err(Failure::Usage("`--jobs` must be at least 1".to_owned())),
        Some(jobs) => jobs.min(MOST),
    };
    // Where a pool exists already (tests within one process), it is used as it is: results do not depend on it.
    let _ = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .stack_size(STACK)
        .build_global();
    Ok(())
}
