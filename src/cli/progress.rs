//! One line on the error output that tells how far long work is, where somebody sits in front of it.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Scope, Thread};
use std::time::{Duration, Instant};

use crate::audit::Progress;

/// Whether the line stands on the terminal. Whoever writes there takes it off first.
static SHOWN: Mutex<bool> = Mutex::new(false);

/// Work that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(800);
const TICK: Duration = Duration::from_millis(100);

/// Shows progress until it is dropped.
pub(super) struct Display {
    done: Arc<AtomicBool>,
    thread: Option<Thread>,
}

impl Display {
    pub(super) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        progress: &'scope Progress,
    ) -> Display {
        let done = Arc::new(AtomicBool::new(false));
        let thread = io::stderr().is_terminal().then(|| {
            let done = Arc::clone(&done);
            scope.spawn(move || show(progress, &done)).thread().clone()
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

fn show(progress: &Progress, done: &AtomicBool) {
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
        let seconds = start.elapsed().as_secs();
        let _ = write!(
            io::stderr(),
            "\r\x1b[K{megabytes:.1} MB read, {traces} traces judged, {seconds} s"
        );
        *shown = true;
    }
}

/// Takes the line off.
fn clear() {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut *shown) {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}

/// A writer to the terminal that takes the line off first.
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
