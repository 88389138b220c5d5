//! Search for one recorded trace: by its name, or the first that violates a property.

use smol_str::SmolStr;

use super::limits::LimitArgs;
use crate::audit::{self, Progress, Readers, Records};
use crate::eval::Wanted;
use crate::ids::PropertyId;
use crate::input::formats::FormatChoice;
use crate::input::limits::Accounting;
use crate::input::open::Selection;
use crate::input::record::Record;
use crate::problem::Problem;
use crate::replay::Replay;
use crate::verdict::Verdict;

/// The greatest number of names that are listed if the requested trace is not found.
const NAMES: usize = 10;

/// The requested trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sought<'a> {
    /// The path of the recorded traces.
    pub(super) runs: &'a str,
    /// The name of the trace.
    pub(super) trace: Option<&'a str>,
    /// The format, as `--from` takes it.
    pub(super) from: Option<&'a str>,
    /// Without a name, the first trace that violates this property is taken, or any property if it is `None`.
    pub(super) property: Option<PropertyId>,
}

/// Returns the record of a trace: the one with the name, or the first that violates the property, or the first.
///
/// # Errors
/// A message.
pub(super) fn find(
    replay: &Replay,
    sought: Sought<'_>,
    limits: &LimitArgs,
) -> Result<Record, String> {
    let from = match sought.from {
        Some(from) => from.parse().map_err(|error| format!("`from`: {error}"))?,
        None => FormatChoice::Auto,
    };
    let path = sought.runs;
    let readers = Readers::new(&replay.spec().schema, from, limits.input())
        .map_err(|error| error.to_string())?;
    let (sources, missing) = Selection::default().find([path]);
    if let Some(problem) = missing.first() {
        return Err(problem.to_string());
    }
    let is_violated = |record: &Record| {
        let report = replay.judge(record.clone());
        report.is_some_and(|report| {
            let mut verdicts = report.verdicts.iter();
            verdicts.any(|found| {
                let own = sought.property.is_none_or(|own| own == found.property);
                found.verdict == Verdict::Violated && own
            })
        })
    };
    let judge = Records(|record: Record, _: &Wanted| {
        let name = replay.name(&record)?;
        let fits = match sought.trace {
            Some(trace) => name == *trace,
            None => is_violated(&record),
        };
        Some(Candidate { name, record, fits })
    });
    let mut search = Search::default();
    let progress = Progress::default();
    audit::visit(&judge, &sources, &readers, &progress, &mut search);
    match (search.found, search.first, sought.trace) {
        (Some(record), _, _) | (None, Some(record), None) => Ok(record),
        (None, Some(_), Some(trace)) => {
            let (names, more) = (
                search.names.join(", "),
                if search.more { ", …" } else { "" },
            );
            Err(format!(
                "`{path}` has no trace `{trace}`; it has {names}{more}"
            ))
        }
        (None, None, _) => Err(match search.problem {
            Some(problem) => format!("`{path}` has no trace: {problem}"),
            None => format!("`{path}` has no trace"),
        }),
    }
}

struct Candidate {
    name: SmolStr,
    record: Record,
    fits: bool,
}

/// Takes the first matching trace, and keeps the first of all traces.
#[derive(Default)]
struct Search {
    found: Option<Record>,
    first: Option<Record>,
    names: Vec<String>,
    more: bool,
    problem: Option<Problem>,
}

impl audit::Listener<Candidate> for Search {
    fn report(&mut self, candidate: Candidate) {
        if self.found.is_some() {
            return;
        }
        match self.names.len() < NAMES {
            true => self.names.push(format!("`{}`", candidate.name)),
            false => self.more = true,
        }
        if candidate.fits {
            self.found = Some(candidate.record);
        } else {
            self.first.get_or_insert(candidate.record);
        }
    }

    fn problem(&mut self, problem: &Problem) {
        self.problem.get_or_insert_with(|| problem.clone());
    }

    fn input(&mut self, _: &Accounting) {}

    fn wanted(&self) -> Wanted {
        Wanted::new(0, |_, _| false)
    }

    fn stopped(&self) -> bool {
        self.found.is_some()
    }
}
