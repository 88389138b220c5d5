//! Counts of the steps of recorded traces at which the predicates of a draft are true: `guard draft --traces`.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::audit::{self, Judge, Listener, Progress};
use crate::cli::failure::Failure;
use crate::cli::output::stderr_paint;
use crate::cli::progress;
use crate::eval::{self, Observed, Observer, Program, TraceSource, Wanted};
use crate::hir::Spec;
use crate::ids::ExprId;
use crate::input::deferred::Deferred;
use crate::input::formats::FormatChoice;
use crate::input::limits::{Accounting, InputLimits};
use crate::input::open::Selection;
use crate::input::record::{Event, Record, Step};
use crate::load::Loaded;
use crate::modules::NoFiles;
use crate::problem::Problem;
use crate::report::problems::ProblemLog;
use crate::value::{Cell, Truth};

/// The steps at which each condition is true, and those at which it is unknown.
type Counts = Vec<(u64, u64)>;

/// Counts the truth of conditions on traces.
struct Counting {
    program: Program,
    /// The observed expressions of each condition, which is their conjunction.
    conditions: Vec<Range<usize>>,
}

/// A trace that is being read.
struct Open<'p> {
    observer: Observer<'p>,
    conditions: &'p [Range<usize>],
    counts: Counts,
}

impl Counting {
    fn begin(&self, source: TraceSource) -> Open<'_> {
        Open {
            observer: self.program.observe(source),
            conditions: &self.conditions,
            counts: vec![(0, 0); self.conditions.len()],
        }
    }
}

impl Open<'_> {
    fn step(&mut self, step: &Step) {
        let (conditions, counts) = (self.conditions, &mut self.counts);
        let seen = self.observer.step(step, |look| {
            for (places, (holds, open)) in conditions.iter().zip(counts.iter_mut()) {
                let parts: Vec<Truth> = places.clone().map(|place| look.truth(place)).collect();
                if parts.contains(&Truth::False) {
                    continue;
                }
                match parts.contains(&Truth::Unknown) {
                    true => *open += 1,
                    false => *holds += 1,
                }
            }
        });
        if let Observed::Ambiguous = seen {
            for (_, open) in counts {
                *open += 1;
            }
        }
    }
}

impl<'p> Judge for &'p Counting {
    type Open = Open<'p>;
    type Report = Counts;

    fn judge(&self, record: Record, _: Deferred<'_>, _: &Wanted) -> Option<Counts> {
        let mut open = self.begin(TraceSource {
            origin: record.origin,
            id: record.id,
            meta: record.meta,
        });
        for step in &record.steps {
            open.step(step);
        }
        Some(open.counts)
    }

    fn facts(&self) -> &[usize] {
        self.program.step_facts()
    }

    fn open(&self, source: TraceSource) -> Open<'p> {
        self.begin(source)
    }

    fn push(&self, open: &mut Open<'p>, event: Event) {
        for step in &event.steps {
            open.step(step);
        }
        open.observer.rest();
    }

    fn finish(
        &self,
        open: Open<'p>,
        _: Box<[Cell]>,
        _: bool,
        _: u64,
        _: &Wanted,
    ) -> Option<Counts> {
        Some(open.counts)
    }
}

/// The sums over all traces.
struct Sums<F> {
    traces: u64,
    /// For each condition: steps and traces with it true, and with it unknown.
    conditions: Vec<[(u64, u64); 2]>,
    on_problem: F,
}

impl<F: FnMut(&Problem)> Listener<Counts> for Sums<F> {
    fn report(&mut self, counts: Counts) {
        self.traces += 1;
        for (sums, (holds, open)) in self.conditions.iter_mut().zip(counts) {
            for (sum, steps) in sums.iter_mut().zip([holds, open]) {
                sum.0 += steps;
                sum.1 += u64::from(steps > 0);
            }
        }
    }

    fn problem(&mut self, problem: &Problem) {
        (self.on_problem)(problem);
    }

    fn input(&mut self, _: &Accounting) {}

    fn wanted(&self) -> Wanted {
        Wanted::new(0, |_, _| false)
    }
}

/// Returns, for each condition by name, a text with the number of steps at which it is true on the traces. The conditions refer
/// to the declarations of `preamble`.
///
/// # Errors
/// The traces cannot be found.
pub(super) fn count(
    preamble: &str,
    conditions: &[(String, String)],
    traces: &[String],
) -> Result<BTreeMap<String, String>, Failure> {
    if conditions.is_empty() {
        return Ok(BTreeMap::new());
    }
    let (spec, observed, places) = probes(preamble, conditions)?;
    let limits = eval::Limits::default();
    let readers = audit::Readers::new(&spec.schema, FormatChoice::Auto, InputLimits::default())
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let program = Program::observing(Arc::clone(&spec), &observed, &limits)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let counting = Counting {
        program,
        conditions: places,
    };
    let selection = Selection::new(&[], &[]).map_err(|error| Failure::Usage(error.to_string()))?;
    let (files, missing) = selection.find(traces);
    let mut log = ProblemLog::new(progress::Clearing(io::stderr()), stderr_paint());
    let mut sums = Sums {
        traces: 0,
        conditions: vec![[(0, 0); 2]; conditions.len()],
        // An error on standard error does not make the command fail.
        on_problem: |problem: &Problem| drop(log.write(problem)),
    };
    for problem in &missing {
        sums.problem(problem);
    }
    audit::visit(
        &&counting,
        &files,
        &readers,
        &Progress::default(),
        &mut sums,
    );
    let (traces, sums) = (sums.traces, sums.conditions);
    let _ = log.finish();
    let names = conditions.iter().map(|(name, _)| name.clone());
    Ok(names
        .zip(sums.iter().map(|sums| said(traces, sums)))
        .collect())
}

/// A spec, expressions to be observed, and the range of those of each condition.
type Probes = (Arc<Spec>, Vec<ExprId>, Vec<Range<usize>>);

/// Returns a spec with a property for each condition, and the expressions of the conditions: the parts of a conjunction are separate
/// atomic propositions.
fn probes(preamble: &str, conditions: &[(String, String)]) -> Result<Probes, Failure> {
    let mut text = preamble.to_owned();
    for (at, (_, condition)) in conditions.iter().enumerate() {
        text.push_str(&format!("property probe_{at} = eventually ({condition})\n"));
    }
    let spec = Loaded::from_source("conditions", &text, &NoFiles).spec;
    let wrong = "the conditions of the draft do not compile";
    let spec = spec.ok_or_else(|| Failure::Usage(wrong.to_owned()))?;
    let (mut observed, mut places) = (Vec::new(), Vec::new());
    for property in &spec.properties {
        let first = observed.len();
        let atoms = spec.formulas.atoms_of(property.formula);
        observed.extend(atoms.into_iter().map(|atom| spec.atom(atom).expr));
        places.push(first..observed.len());
    }
    Ok((Arc::new(spec), observed, places))
}

fn said(traces: u64, [holds, open]: &[(u64, u64); 2]) -> String {
    match (holds, open) {
        (_, _) if traces == 0 => "no traces were found".to_owned(),
        ((0, _), (0, _)) => format!("never true in {traces} runs: look at it"),
        ((0, _), (steps, runs)) => format!("open at {steps} steps in {runs} of {traces} runs"),
        ((steps, runs), (0, _)) => format!("true at {steps} steps in {runs} of {traces} runs"),
        ((steps, runs), (more, _)) => {
            format!("true at {steps} steps in {runs} of {traces} runs, open at {more} steps")
        }
    }
}
