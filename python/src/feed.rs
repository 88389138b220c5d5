//! Data of a Python program as the input of a reader that runs in another thread.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use guard_lang::{Progress, Traces};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::{errors, events, tables};

/// Bytes that are handed over at once.
const CHUNK: usize = 1 << 20;

/// Chunks that may wait for the reader.
const WAITING: usize = 4;

/// The time between two looks at the signals of the process.
const PATIENCE: Duration = Duration::from_millis(50);

/// Values are walked by recursion as deep as their limits allow.
const STACK: usize = 16 << 20;

/// The name of data of the program, in messages and reports.
const NAME: &str = "<data>";

/// The files, the table, or the objects that a Python caller gave.
pub(crate) struct Given<'py> {
    pub(crate) traces: Traces,
    feed: Option<(Bound<'py, PyIterator>, SyncSender<Vec<u8>>)>,
}

impl<'py> Given<'py> {
    /// Returns the traces in an object: `guard_lang._inputs.classify` says what it is.
    pub(crate) fn new(
        object: &Bound<'py, PyAny>,
        include: &[String],
        exclude: &[String],
    ) -> PyResult<Given<'py>> {
        let py = object.py();
        let classify = py.import("guard_lang._inputs")?.getattr("classify")?;
        let (kind, value): (String, Bound<'py, PyAny>) = classify.call1((object,))?.extract()?;
        if kind == "paths" {
            let paths: Vec<std::path::PathBuf> = value.extract()?;
            let traces = Traces::from_paths(paths, include, exclude);
            let traces = traces.map_err(|error| errors::of(py, &error))?;
            return Ok(Given { traces, feed: None });
        }
        if kind == "table" {
            let rows = tables::taken(value.cast()?)?;
            let traces = Traces::from_table(NAME, rows);
            return Ok(Given { traces, feed: None });
        }
        let (sender, chunks) = sync_channel(WAITING);
        let reader = ChunkReader {
            chunks,
            chunk: Vec::new(),
            at: 0,
        };
        Ok(Given {
            traces: Traces::from_reader(NAME, reader),
            feed: Some((value.try_iter()?, sender)),
        })
    }
}

/// The receiving end, as a stream.
struct ChunkReader {
    chunks: Receiver<Vec<u8>>,
    chunk: Vec<u8>,
    at: usize,
}

impl Read for ChunkReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.at == self.chunk.len() {
            match self.chunks.recv() {
                Ok(chunk) => (self.chunk, self.at) = (chunk, 0),
                // The sender has nothing more.
                Err(_) => return Ok(0),
            }
        }
        let mut rest = self.chunk.get(self.at..).unwrap_or_default();
        let count = rest.read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

/// Runs `work` on the traces in another thread, feeds it the objects of this one, and hears interrupts meanwhile: then the
/// work is stopped and its result is dropped.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    given: Given<'_>,
    progress: &Arc<Progress>,
    work: impl FnOnce(Traces) -> T + Send + 'static,
) -> PyResult<T> {
    let Given { traces, feed } = given;
    let (sender, mut result) = sync_channel(1);
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        // Nobody receives the result of work that was interrupted.
        let _ = sender.send(work(traces));
    })?;
    let stopped = |error: PyErr| {
        progress.stop.store(true, Ordering::Relaxed);
        error
    };
    if let Some((objects, sender)) = feed {
        feed_all(py, objects, sender).map_err(stopped)?;
    }
    loop {
        let waited = py.detach(move || (result.recv_timeout(PATIENCE), result));
        result = waited.1;
        match waited.0 {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => py.check_signals().map_err(stopped)?,
            Err(RecvTimeoutError::Disconnected) => return Err(ended(worker)),
        }
    }
}

/// The error of a thread that ended without a result.
fn ended(worker: JoinHandle<()>) -> PyErr {
    let why = worker.join().err().and_then(|panic| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        text.or_else(|| panic.downcast_ref::<String>().cloned())
    });
    PyRuntimeError::new_err(format!(
        "internal error of guard: {}",
        why.unwrap_or_default()
    ))
}

/// Sends each object as a line of JSON.
fn feed_all(
    py: Python<'_>,
    objects: Bound<'_, PyIterator>,
    sender: SyncSender<Vec<u8>>,
) -> PyResult<()> {
    let mut chunk = Vec::with_capacity(CHUNK);
    for object in objects {
        events::write(&mut chunk, &object?)?;
        chunk.push(b'\n');
        if chunk.len() >= CHUNK {
            let full = std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK));
            if py.detach(|| sender.send(full)).is_err() {
                return Ok(());
            }
            py.check_signals()?;
        }
    }
    // A reader that has ended needs nothing more.
    let _ = py.detach(|| sender.send(chunk));
    Ok(())
}
