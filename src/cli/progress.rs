//! A progress line on standard error for long work, if standard error is a terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Scope, Thread};
use std::time::{Duration, Instant};

use crate::audit::Progress;

/// Whether the line is on the terminal. Other writers to the terminal remove it first.
static SHOWN: Mutex<bool> = Mutex::new(false);

/// Work that finishes sooner shows no progress.
const PATIENCE: Duration = Duration::from_millis(800);
const TICK: Duration = Duration::from_millis(100);

/// Does work, and shows its progress if it takes longer than a second. `parts` names the parts that the work counts ("claims
/// answered"); without, bytes and traces are counted.
pub(super) fn during<T>(parts: &'static str, work: impl FnOnce(&Progress) -> T) -> T {
    let progress = Progress::default();
    std::thread::scope(|scope| {
        let _display = Display::start(scope, &progress, parts);
        work(&progress)
    })
}

/// Shows progress until it is dropped.
struct Display {
    done: Arc<AtomicBool>,
    thread: Option<Thread>,
}

impl Display {
    fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        progress: &'scope Progress,
        parts: &'static str,
    ) -> Display {
        let done = Arc::new(AtomicBool::new(false));
        let thread = io::stderr().is_terminal().then(|| {
            let done = Arc::clone(&done);
            scope
                .spawn(move || show(progress, parts, &done))
                .thread()
                .clone()
        });
        Display { done, thread }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
        clear();
    }
}

fn show(progress: &Progress, parts: &str, done: &AtomicBool) {
    let start = Instant::now();
    while !done.load(Ordering::Relaxed) {
        std::thread::park_timeout(TICK);
        if start.elapsed() < PATIENCE {
            continue;
        }
        let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if done.load(Ordering::Relaxed) {
            break;
        }
        let megabytes = progress.bytes.load(Ordering::Relaxed) as f64 / 1e6;
        let traces = progress.traces.load(Ordering::Relaxed);
        let counted = progress.done.load(Ordering::Relaxed);
        let of = progress.parts.load(Ordering::Relaxed);
        let seconds = start.elapsed().as_secs();
        let told = match of {
            0 if parts.is_empty() => format!("{megabytes:.1} MB read, {traces} traces judged"),
            // It is not known beforehand how many there will be.
            0 => format!("{counted} {parts}"),
            of => format!("{counted} of {of} {parts}"),
        };
        let _ = write!(io::stderr(), "\r\x1b[K{told}, {seconds} s");
        *shown = true;
    }
}

/// Removes the line.
fn clear() {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut *shown) {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}

/// A writer to the terminal that removes the line first.
#[derive(Debug)]
pub(super) struct Clearing<W>(pub(super) W);

impl<W: Write> Write for Clearing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        clear();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
