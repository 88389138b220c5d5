//! Small files, each read and judged by one thread, several at a time.
//!
//! Most formats keep a session in a file, and the lines of a file belong together: only several files give several threads
//! something to do. What comes of a file is kept until all files before it are reported.

use std::sync::{Arc, PoisonError, RwLock};

use super::{Judge, Listener, Progress, Readers, file};
use crate::eval::Wanted;
use crate::input::limits::Accounting;
use crate::input::open::Source;
use crate::input::pipeline;
use crate::problem::Problem;

/// The largest file that is small, as it lies on the disk: what comes of it is held in memory.
const SMALL: u64 = 1 << 20;

/// Returns how many sources, from the first on, are small files that are worth several threads; else 1.
pub(super) fn together(sources: &[Source]) -> usize {
    if rayon::current_num_threads() < 2 {
        return 1;
    }
    let small = |source: &&Source| source.file_size().is_some_and(|size| size <= SMALL);
    sources.iter().take_while(small).count().max(1)
}

/// The results of one file, in order.
struct Recorded<R> {
    calls: Vec<Call<R>>,
    wanted: Arc<Wanted>,
}

enum Call<R> {
    Report(R),
    Problem(Problem),
    Input(Accounting),
}

impl<R> Listener<R> for Recorded<R> {
    fn report(&mut self, report: R) {
        self.calls.push(Call::Report(report));
    }

    fn problem(&mut self, problem: &Problem) {
        self.calls.push(Call::Problem(problem.clone()));
    }

    fn input(&mut self, accounting: &Accounting) {
        self.calls.push(Call::Input(*accounting));
    }

    fn wanted(&self) -> Wanted {
        Wanted::clone(&self.wanted)
    }
}

/// Reads small files on all threads, and reports their results in order.
pub(super) fn visit<J: Judge>(
    judge: &J,
    sources: &[Source],
    readers: &Readers,
    progress: &Progress,
    listener: &mut impl Listener<J::Report>,
) {
    let wanted = RwLock::new(Arc::new(listener.wanted()));
    let read = |source: &&Source| {
        let wanted = Arc::clone(&wanted.read().unwrap_or_else(PoisonError::into_inner));
        let calls = Vec::new();
        let mut recorded = Recorded { calls, wanted };
        file(
            judge,
            &mut recorded,
            &source.name,
            readers,
            |worker, emit| readers.read(source, progress, worker, emit),
        );
        recorded.calls
    };
    let mut files = sources.iter();
    pipeline::ordered_map(
        &mut (listener, &mut files),
        |(listener, files)| files.next().filter(|_| !listener.stopped()),
        read,
        |(listener, _), _, calls| {
            for call in calls {
                if listener.stopped() {
                    return;
                }
                match call {
                    Call::Report(report) => listener.report(report),
                    Call::Problem(problem) => listener.problem(&problem),
                    Call::Input(accounting) => listener.input(&accounting),
                }
            }
            if listener.wants_other() {
                let now = Arc::new(listener.wanted());
                *wanted.write().unwrap_or_else(PoisonError::into_inner) = now;
            }
        },
    );
}
