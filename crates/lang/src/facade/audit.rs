//! Audits of recorded traces by a pool of threads, as an iterator.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Compiled, Error, Spec, Traces};
use crate::audit::{self, Judgement, Progress, Readers};
use crate::input::formats::FormatChoice;
use crate::input::limits::InputLimits;
use crate::problem::Problem;
use crate::report::json::Lines;
use crate::report::{Heading, Reporter, Summary};
use crate::verdict::{Instance, PropertyVerdict, TraceReport, quoted};

pub use crate::verdict::Verdict;

/// Values and expressions are walked recursively up to the limits on their depth, for which the default stack of two
/// MiB is too small.
const STACK: usize = 16 << 20;

/// Traces that may wait for the caller; further traces are not judged until these are taken, so memory is bounded.
const WAITING: usize = 256;

/// The options for reading the files of an audit.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AuditOptions {
    /// The patterns of the files of a folder that are read, for example `*.jsonl` or `runs/**/trace.json`; if empty, all
    /// files with a known extension.
    pub include: Vec<String>,
    /// The patterns of the files of a folder that are not read.
    pub exclude: Vec<String>,
    /// The number of threads; one for each core if `None`. The results do not depend on it.
    pub jobs: Option<usize>,
    /// The format of the traces.
    pub format: FormatChoice,
}

/// The traces of an audit, in the order of the files. Dropping it stops the audit.
///
/// An item is a judged trace, or a [`Problem`] with data that belongs to no judged trace; neither ends the audit. The first
/// items are the problems with the paths: one that cannot be read, or a folder with files that no pattern matches.
#[derive(Debug)]
pub struct Audit {
    items: Option<Receiver<Result<Trace, Problem>>>,
    worker: Option<JoinHandle<Summary>>,
    progress: Arc<Progress>,
    summary: Summary,
}

/// A judged trace.
#[derive(Clone, Debug)]
pub struct Trace {
    spec: Spec,
    report: TraceReport,
}

impl Spec {
    /// Audits files and folders of recorded traces (JSON, JSON Lines, CSV; plain, gzip or zstd) with default options.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), guard_lang::Error> {
    /// let spec = guard_lang::Spec::from_path("agent.guard")?;
    /// for trace in spec.audit(["runs/"])?.flatten() {
    ///     for (property, verdict) in trace.violations() {
    ///         println!("{}: {} at step {:?}", trace.name(), property.name, verdict.at);
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::Thread`] if no thread can be started.
    pub fn audit<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Audit, Error> {
        self.audit_with(paths, &AuditOptions::default())
    }

    /// Audits as [`Spec::audit`], with options.
    ///
    /// # Errors
    /// As [`Spec::audit`], and [`Error::Glob`] if a pattern is invalid.
    pub fn audit_with<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
        options: &AuditOptions,
    ) -> Result<Audit, Error> {
        let traces = Traces::from_paths(paths, &options.include, &options.exclude)?;
        self.audit_traces(traces, options, Arc::default())
    }

    /// Audits traces; the patterns of the options are not used. Setting [`Progress::stop`] ends the audit early.
    ///
    /// # Errors
    /// As [`Spec::audit`].
    pub fn audit_traces(
        &self,
        traces: Traces,
        options: &AuditOptions,
        progress: Arc<Progress>,
    ) -> Result<Audit, Error> {
        let Traces { sources, missing } = traces;
        let pool = pool(options.jobs)?;
        let readers = self.readers(options)?;
        let (sender, items) = sync_channel(WAITING);
        let (spec, shared) = (self.clone(), Arc::clone(&progress));
        let work = move || {
            let Compiled { program, .. } = &*spec.0;
            let mut summary = Summary::new(spec.properties().len());
            let mut reporter = Sending {
                spec: &spec,
                emit: |item| sender.send(item).map_err(std::io::Error::other),
            };
            // The only error is that the receiver was dropped, which stops the audit.
            let _ = pool.install(|| {
                for problem in &missing {
                    summary.problem(problem);
                    reporter.problem(problem)?;
                }
                audit::audit(
                    &program,
                    &sources,
                    &readers,
                    &shared,
                    &|_| None,
                    &mut summary,
                    &mut reporter,
                    &mut |_| {},
                )
            });
            summary
        };
        let worker = thread::Builder::new()
            .stack_size(STACK)
            .spawn(work)
            .map_err(Error::Thread)?;
        Ok(Audit {
            items: Some(items),
            worker: Some(worker),
            progress,
            summary: Summary::new(self.properties().len()),
        })
    }

    /// Returns the readers for the requested format.
    pub(super) fn readers(&self, options: &AuditOptions) -> Result<Readers, Error> {
        Ok(match options.format {
            FormatChoice::Auto => self.0.readers.unused(),
            given => Readers::new(&self.0.hir.schema, given, InputLimits::default())?
                .noting_absent(&self.0.judged),
        })
    }

    /// Judges texts one after the other on the calling thread, for callers that divide the work themselves. Each text has the
    /// content of a file (JSON Lines, one JSON document, or a recording) and a file name. Returns the judged traces and the
    /// problems with data that belongs to no trace, in the order of the texts, and the counts.
    ///
    /// # Errors
    /// [`Error::Reader`] if no reader fits the layout of the spec.
    pub fn judge_texts<'t>(
        &self,
        texts: impl IntoIterator<Item = (&'t str, &'t [u8])>,
        format: FormatChoice,
    ) -> Result<(Vec<Result<Trace, Problem>>, Summary), Error> {
        let readers = self.readers(&AuditOptions {
            format,
            ..AuditOptions::default()
        })?;
        let mut summary = Summary::new(self.properties().len());
        let mut items = Vec::new();
        for (name, text) in texts {
            let judged = audit::judge_text(&self.0.program, &readers, name, text);
            let reports = judged.reports.into_iter();
            items.extend(reports.map(|report| {
                Ok(Trace {
                    spec: self.clone(),
                    report,
                })
            }));
            items.extend(judged.problems.into_iter().map(Err));
            summary.merge(&judged.summary)?;
        }
        Ok((items, summary))
    }

    /// Judges the traces of a text: JSON Lines, one JSON document, or a recording in a known format. `name` is the file
    /// name in messages.
    pub fn judge(&self, name: &str, text: &[u8]) -> Judgement {
        let Compiled {
            program, readers, ..
        } = &*self.0;
        audit::judge_text(program, &readers.unused(), name, text)
    }
}

pub(super) fn pool(jobs: Option<usize>) -> Result<rayon::ThreadPool, Error> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(jobs.unwrap_or(0))
        .stack_size(STACK)
        .build()
        .map_err(|error| Error::Thread(std::io::Error::other(error)))
}

/// A reporter that sends every item to the iterator.
struct Sending<'a, F> {
    spec: &'a Spec,
    emit: F,
}

impl<F: FnMut(Result<Trace, Problem>) -> std::io::Result<()>> Reporter for Sending<'_, F> {
    fn trace(&mut self, report: &TraceReport) -> std::io::Result<()> {
        (self.emit)(Ok(Trace {
            spec: self.spec.clone(),
            report: report.clone(),
        }))
    }

    fn problem(&mut self, problem: &Problem) -> std::io::Result<()> {
        (self.emit)(Err(problem.clone()))
    }

    fn finish(&mut self, _: &Summary) -> std::io::Result<()> {
        Ok(())
    }
}

impl Iterator for Audit {
    type Item = Result<Trace, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.items.as_ref()?.recv();
        if item.is_err() {
            self.join();
        }
        item.ok()
    }
}

impl Audit {
    /// Judges the remaining traces and returns the counts: traces, verdicts by property, problems, bytes and lines
    /// read.
    pub fn summary(mut self) -> Summary {
        self.by_ref().for_each(drop);
        std::mem::take(&mut self.summary)
    }

    fn join(&mut self) {
        self.items = None;
        match self.worker.take().map(JoinHandle::join) {
            Some(Ok(summary)) => self.summary = summary,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => {}
        }
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        self.progress.stop.store(true, Ordering::Relaxed);
        // Dropping the receiver ends the worker at its next item.
        self.items = None;
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

impl Trace {
    /// Returns the name of the trace.
    pub fn name(&self) -> &str {
        &self.report.trace
    }

    /// Returns the verdicts with their properties, in order of declaration; a quantified property has several if
    /// several instances violate it.
    pub fn verdicts(&self) -> impl Iterator<Item = (&Heading, &PropertyVerdict)> {
        let headings = &self.spec.0.headings;
        let verdicts = self.report.verdicts.iter();
        verdicts.filter_map(|verdict| Some((headings.get(verdict.property)?, verdict)))
    }

    /// Returns the violated properties.
    pub fn violations(&self) -> impl Iterator<Item = (&Heading, &PropertyVerdict)> {
        self.verdicts()
            .filter(|(_, verdict)| verdict.verdict == Verdict::Violated)
    }

    /// Returns the values of the quantified variables of a verdict as a JSON object, `None` if there are none.
    pub fn instance_json(&self, verdict: &PropertyVerdict) -> Option<String> {
        let values = verdict.instance.as_slice();
        let enums = &self.spec.0.headings.enums;
        (!values.is_empty()).then(|| quoted(&Instance { values, enums }))
    }

    /// Returns the full report: file, line, number of events, problems with the data.
    pub fn report(&self) -> &TraceReport {
        &self.report
    }
}

/// Serialises the lines of `guard audit --format json` about the trace, as a sequence.
impl Serialize for Trace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut lines = Vec::new();
        Lines::new(&self.spec.0.headings)
            .write(&self.report, &mut lines)
            .map_err(S::Error::custom)?;
        let lines = String::from_utf8(lines).map_err(S::Error::custom)?;
        let lines: Result<Vec<Box<RawValue>>, _> = lines
            .lines()
            .map(|line| RawValue::from_string(line.to_owned()))
            .collect();
        lines.map_err(S::Error::custom)?.serialize(serializer)
    }
}
