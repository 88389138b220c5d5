//! A spec with its verdicts on the traces, and the page that shows them.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use serde_json::json;

use super::super::limits::{LimitArgs, explain};
use super::super::output::stderr_paint;
use super::super::progress;
use super::file::name_of;
use super::list::List;
use crate::audit::{self, Listener, Progress, Readers, Records};
use crate::diff::{self, Collected, Judge};
use crate::eval::{LimitError, Program, Wanted};
use crate::hir::{PropertyKind, Spec};
use crate::ids::PropertyId;
use crate::input::formats::FormatChoice;
use crate::input::limits::Accounting;
use crate::input::open::Source;
use crate::input::record::Record;
use crate::load::Loaded;
use crate::problem::Problem;
use crate::replay::{self, Replay};
use crate::report::html::{PageData, found, page, problems, violations};
use crate::report::plot::Picture;
use crate::report::problems::ProblemLog;
use crate::report::{Headings, Reporter, Summary};
use crate::value::Truth;
use crate::verdict::{TraceReport, Verdict};

/// The greatest length of a value, and the greatest number of steps, of a trace that is shown.
const STEPS: replay::Limits = replay::Limits {
    steps: 20_000,
    value: 200_000,
};

/// The greatest number of files of which the page shows one by choice; of more, the search finds those that are meant.
const FILES: usize = 1_000;

/// The greatest number of violations of a property whose messages are searched.
const MESSAGES: u64 = 10_000;

/// The arguments with which traces are judged, and judged again when the spec was saved.
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) from: FormatChoice,
    pub(super) limits: LimitArgs,
    pub(super) sources: Vec<Source>,
    pub(super) missing: Vec<Problem>,
    pub(super) pictures: Vec<Picture>,
    /// Whether the page may save the spec.
    pub(super) writes: bool,
}

impl Input {
    /// Returns the readers for a spec.
    ///
    /// # Errors
    /// The format does not fit the spec.
    pub(super) fn readers(&self, spec: &Spec) -> Result<Readers, String> {
        Readers::new(&spec.schema, self.from, self.limits.input())
            .map_err(|error| error.to_string())
    }

    /// Returns a spec as a judge of the traces.
    ///
    /// # Errors
    /// The format does not fit the spec, or the spec is beyond the limits.
    pub(super) fn judge(&self, spec: &Spec) -> Result<Judge, String> {
        Judge::new(spec, self.readers(spec)?, &self.limits.eval())
    }
}

/// A spec with its verdicts on the traces.
pub(super) struct Audited {
    pub(super) html: String,
    pub(super) spec: Spec,
    pub(super) list: List,
    headings: Headings,
    program: Program,
    replay: Replay,
    readers: Readers,
    judge: Judge,
    /// The results that changes are compared with. They are collected when the page is already served.
    before: OnceLock<Collected>,
}

impl Audited {
    /// Judges the traces by a spec.
    ///
    /// # Errors
    /// The spec is beyond the limits, or does not fit the traces.
    pub(super) fn new(input: &Input, spec: Spec, loaded: &Loaded) -> Result<Audited, String> {
        let text = loaded.sources.get(spec.outline.file).text();
        let mut judged = spec.clone();
        judged
            .properties
            .retain(|property| property.kind != PropertyKind::Condition);
        judged.tests.clear();
        judged.enforces.clear();
        let eval = input.limits.eval();
        let unusable = |error: LimitError| explain(&error);
        let program = Program::compile(&judged, &eval).map_err(unusable)?;
        let replay = Replay::new(&judged, &eval, STEPS).map_err(unusable)?;
        let readers = input.readers(&judged)?;
        let mut headings = Headings::new(&judged, &loaded.sources);
        headings.explain(&judged);
        headings.word(&judged);
        let mut gathered = Gathered {
            list: List::new(&headings),
            page: PageData::default(),
            violations: vec![0; headings.properties.len()],
        };
        let mut summary = Summary::new(headings.properties.len());
        gathered
            .audit(input, &program, &readers, &mut summary)
            .map_err(|error| error.to_string())?;
        let Gathered {
            mut list, mut page, ..
        } = gathered;
        list.close();
        let live = json!({
            "spec": text,
            "base": name_of(text),
            "write": input.writes,
            "traces": list.len(),
        });
        let mut data = page.json(&headings, &summary, Some(&replay.schema()), Some(live));
        if list.files.len() <= FILES {
            data["files"] = list.files.to_json();
        }
        data["violations"] = violations(&summary, list.len(), |trace| list.codes(trace));
        let html = self::page(&summary, &data, "", &input.pictures).into_string();
        Ok(Audited {
            html,
            judge: input.judge(&spec)?,
            spec,
            list,
            headings,
            program,
            replay,
            readers,
            before: OnceLock::new(),
        })
    }

    /// Returns the verdicts and decisions that changes are compared with.
    pub(super) fn before(&self, sources: &[Source]) -> &Collected {
        let progress = Progress::default();
        self.before.get_or_init(|| {
            diff::collect(&self.judge, sources, &progress, None, &mut |_| {}, &|| {
                false
            })
        })
    }

    /// Returns a trace step by step as JSON, with the reasons of its verdicts and the problems with its data; `None` if there is
    /// no such trace any more.
    pub(super) fn trace(&self, input: &Input, number: usize) -> Option<String> {
        let place = self.list.place(number)?;
        let mut sources = input.sources.iter();
        let source = sources.find(|source| *source.name.path == *place.file)?;
        let progress = Progress::default();
        let mut one = One {
            left: place.number,
            found: None,
            progress: &progress,
        };
        let records = Records(|record: Record, _: &Wanted| {
            let is_trace = self.program.is_trace(&record.meta) != Truth::False;
            is_trace.then_some(record)
        });
        let source = std::slice::from_ref(source);
        audit::visit(&records, source, &self.readers, &progress, &mut one);
        let record = one.found?;
        let detail = self.replay.detail(&record);
        let report = self.program.judge(record)?;
        let reasons = json!({
            "found": found(&report, &self.headings, |_, _| true),
            "problems": problems(&report),
        });
        let reasons = reasons.to_string();
        // Two objects as one.
        Some(format!(
            "{},{}",
            reasons.strip_suffix('}')?,
            detail.strip_prefix('{')?
        ))
    }
}

/// Collects the verdicts of all traces.
struct Gathered {
    list: List,
    page: PageData,
    /// The number of violations of each property so far.
    violations: Vec<u64>,
}

impl Gathered {
    fn audit(
        &mut self,
        input: &Input,
        program: &Program,
        readers: &Readers,
        summary: &mut Summary,
    ) -> io::Result<()> {
        let mut log = ProblemLog::new(progress::Clearing(io::stderr()), stderr_paint());
        let mut on_problem = |problem: &Problem| {
            // An error on standard error does not make the command fail.
            let _ = log.write(problem);
        };
        progress::during("", |counted| {
            for problem in &input.missing {
                summary.problem(problem);
                on_problem(problem);
                self.page.problem(problem);
            }
            audit::audit(
                &program,
                &input.sources,
                readers,
                counted,
                &|_| None,
                summary,
                self,
                &mut on_problem,
            )
        })?;
        let _ = log.finish();
        Ok(())
    }
}

impl Reporter for Gathered {
    fn trace(&mut self, report: &TraceReport) -> io::Result<()> {
        for found in &report.verdicts {
            if let Some(count) = self.violations.get_mut(found.property.index()) {
                *count += u64::from(found.verdict == Verdict::Violated);
            }
        }
        self.list.add(report);
        Ok(())
    }

    /// The reasons are found when a trace is opened, but messages can be searched.
    fn explains(&self, property: PropertyId, verdict: Verdict) -> bool {
        let count = self.violations.get(property.index());
        verdict == Verdict::Violated && count.is_some_and(|count| *count < MESSAGES)
    }

    fn shows_evidence(&self) -> bool {
        false
    }

    fn problem(&mut self, problem: &Problem) -> io::Result<()> {
        self.page.problem(problem);
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> io::Result<()> {
        Ok(())
    }
}

/// Takes one trace of a file.
struct One<'p> {
    left: u64,
    found: Option<Record>,
    progress: &'p Progress,
}

impl Listener<Record> for One<'_> {
    fn report(&mut self, record: Record) {
        if self.found.is_some() {
            return;
        }
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => {
                self.found = Some(record);
                self.progress.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    fn problem(&mut self, _: &Problem) {}

    fn input(&mut self, _: &Accounting) {}

    fn wanted(&self) -> Wanted {
        Wanted::new(0, |_, _| false)
    }

    fn stopped(&self) -> bool {
        self.found.is_some()
    }
}
