//! Recorded runs: which traces the two specs judge or decide in different ways.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smol_str::SmolStr;

use super::witness::without_models;
use super::{Change, Example, RunChange, Runs};
use crate::audit::{self, Listener, Progress, Readers, Records};
use crate::eval::{Program, Wanted};
use crate::hir::{PropertyKind, Spec};
use crate::ids::PropertyId;
use crate::input::limits::Accounting;
use crate::input::open::Source;
use crate::input::record::{Event, Record};
use crate::monitor::{Monitor, Options, Ruling};
use crate::problem::Problem;
use crate::verdict::Verdict;

/// Traces shown of one change.
const EXAMPLES: usize = 3;

/// One spec as a judge of recorded runs.
#[derive(Debug)]
pub struct Judge {
    program: Program,
    readers: Readers,
    names: Vec<SmolStr>,
    /// The spec without clauses about models, if it has other ones; monitors that are idle.
    enforced: Option<(Spec, Mutex<Vec<Monitor>>)>,
}

/// The result for one trace.
#[derive(Debug)]
struct Judged {
    /// By property: the gravest verdict of its instances, with the step.
    verdicts: Box<[(Verdict, Option<u32>)]>,
    /// By event: the ruling; empty without clauses.
    rulings: Box<[(u32, Ruling)]>,
    /// Problems with the data that the spec reads.
    problems: Box<[Problem]>,
}

impl Judge {
    /// Compiles a spec for recorded runs.
    ///
    /// # Errors
    /// It is beyond the limits.
    pub fn new(
        spec: &Spec,
        readers: Readers,
        limits: &crate::eval::Limits,
    ) -> Result<Judge, String> {
        let mut judged = spec.clone();
        judged
            .properties
            .retain(|property| property.kind != PropertyKind::Condition);
        judged.tests.clear();
        judged.enforces.clear();
        let enforced = without_models(spec);
        let monitor = match enforced.enforces.is_empty() {
            true => None,
            false => {
                let made = Monitor::new(&enforced, Options::default());
                Some(made.map_err(|error| error.to_string())?)
            }
        };
        Ok(Judge {
            program: Program::compile(&judged, limits).map_err(|error| error.to_string())?,
            readers,
            names: judged
                .properties
                .iter()
                .map(|property| property.name.clone())
                .collect(),
            enforced: monitor.map(|monitor| (enforced, Mutex::new(vec![monitor]))),
        })
    }

    fn judge(&self, record: Record, wanted: &Wanted) -> Option<(Place, Judged)> {
        let rulings = self.rulings(&record);
        let report =
            self.program
                .judge_for(record, crate::input::deferred::Deferred::NONE, wanted)?;
        let mut verdicts = vec![(Verdict::Satisfied, None); self.names.len()];
        let mut seen = vec![false; self.names.len()];
        for found in &report.verdicts {
            let place = found.property.index();
            let own = (found.verdict, found.at);
            let rank = |(verdict, at): (Verdict, Option<u32>)| (Reverse(verdict.severity()), at);
            let graver = |other| rank(own) < rank(other);
            if let (Some(known), Some(seen)) = (verdicts.get_mut(place), seen.get_mut(place))
                && (!std::mem::replace(seen, true) || graver(*known))
            {
                *known = own;
            }
        }
        let place = Place {
            file: report.file,
            line: report.line,
            trace: report.trace,
            copy: 0,
        };
        let judged = Judged {
            verdicts: verdicts.into(),
            rulings: rulings.into(),
            problems: report.problems.into(),
        };
        Some((place, judged))
    }

    /// Returns the ruling on each event, as if all of them had happened.
    fn rulings(&self, record: &Record) -> Vec<(u32, Ruling)> {
        let Some((spec, idle)) = &self.enforced else {
            return Vec::new();
        };
        let known = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(mut monitor) = known.or_else(|| Monitor::new(spec, Options::default()).ok())
        else {
            return Vec::new();
        };
        let name = SmolStr::new_static("run");
        let event = |step: &crate::input::record::Step| Event {
            trace: Some(name.clone()),
            origin: record.origin.clone(),
            meta: record.meta.clone().into(),
            steps: vec![step.clone()],
            count: 1,
            problems: Vec::new(),
        };
        let rulings = record
            .steps
            .iter()
            .map(|step| (step.index, monitor.observe_event(event(step), None).ruling))
            .collect();
        monitor.end(&name, None);
        idle.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(monitor);
        rulings
    }
}

/// The results of one spec on recorded runs.
#[derive(Debug, Default)]
pub struct Collected {
    /// In the order in which they were read.
    traces: IndexMap<Place, Judged, FxBuildHasher>,
    /// The errors in the data that were reported.
    errors: u64,
}

/// Judges the traces of sources. Problems with the data are given to `on_problem`, if `reported` has not the same; `stops` is
/// asked after each trace whether the rest is left out.
pub fn collect(
    judge: &Judge,
    sources: &[Source],
    progress: &Progress,
    reported: Option<&Collected>,
    on_problem: &mut dyn FnMut(&Problem),
    stops: &dyn Fn() -> bool,
) -> Collected {
    let mut collecting = Collecting {
        found: Collected::default(),
        copies: FxHashMap::default(),
        progress,
        reported,
        on_problem,
        stops,
        properties: judge.names.len(),
    };
    let records = Records(|record: Record, wanted: &Wanted| judge.judge(record, wanted));
    audit::visit(&records, sources, &judge.readers, progress, &mut collecting);
    collecting.found
}

/// Counts what differs between the results of two specs. `pairs` are the properties that are compared, by number in each
/// spec, with the name that is reported.
pub fn compare(
    first: &Collected,
    second: &Collected,
    pairs: &[(PropertyId, PropertyId, String)],
) -> Runs {
    let mut runs = Runs {
        errors: first.errors + second.errors,
        ..Runs::default()
    };
    let mut verdicts: BTreeMap<(usize, Change), RunChange> = BTreeMap::new();
    let mut decisions: BTreeMap<Change, RunChange> = BTreeMap::new();
    for (trace, before) in &first.traces {
        let Some(after) = second.traces.get(trace) else {
            runs.only_old += 1;
            continue;
        };
        runs.traces += 1;
        for (place, (old, new, name)) in pairs.iter().enumerate() {
            let (Some(was), Some(is)) = (
                before.verdicts.get(old.index()),
                after.verdicts.get(new.index()),
            ) else {
                continue;
            };
            let Some((change, at)) = changed(*was, *is) else {
                continue;
            };
            let entry = verdicts
                .entry((place, change))
                .or_insert_with(|| RunChange::new(name.clone(), change));
            entry.add(trace, at, was.0.as_str(), is.0.as_str());
            let is_decided = |verdict| {
                use Verdict::{PresumablySatisfied, Satisfied, Violated};
                matches!(verdict, Violated | Satisfied | PresumablySatisfied)
            };
            if entry.proof.is_none() && is_decided(was.0) && is_decided(is.0) {
                entry.proof = Some(trace.example(at, was.0.as_str(), is.0.as_str()));
            }
        }
        let rulings = (&before.rulings, &after.rulings);
        let differ = rulings
            .0
            .iter()
            .zip(rulings.1.iter())
            .find_map(|(was, is)| {
                let change = match (was.1 >= Ruling::Ask, is.1 >= Ruling::Ask) {
                    (false, true) => Change::NewlyStopped,
                    (true, false) => Change::NoLongerStopped,
                    _ if was.1.denies() != is.1.denies() => Change::OtherDecision,
                    _ => return None,
                };
                Some((change, is.0, was.1, is.1))
            });
        if let Some((change, at, was, is)) = differ {
            let entry = decisions
                .entry(change)
                .or_insert_with(|| RunChange::new(String::new(), change));
            entry.add(trace, Some(at), was.as_str(), is.as_str());
        }
    }
    runs.only_new = (second.traces.len() as u64).saturating_sub(runs.traces);
    runs.verdicts = verdicts.into_values().collect();
    runs.decisions = decisions.into_values().collect();
    runs
}

/// Returns how a verdict changed, and the step that shows it.
fn changed(
    was: (Verdict, Option<u32>),
    is: (Verdict, Option<u32>),
) -> Option<(Change, Option<u32>)> {
    match (was.0, is.0) {
        (Verdict::Violated, Verdict::Violated) if was.1 != is.1 => Some((Change::OtherStep, is.1)),
        (was, is) if was == is => None,
        (_, Verdict::Violated) => Some((Change::NewlyViolated, is.1)),
        (Verdict::Violated, _) => Some((Change::NoLongerViolated, was.1)),
        _ => Some((Change::OtherVerdict, is.1)),
    }
}

impl RunChange {
    fn new(property: String, change: Change) -> RunChange {
        RunChange {
            property,
            change,
            traces: 0,
            examples: Vec::new(),
            proof: None,
        }
    }

    fn add(&mut self, place: &Place, at: Option<u32>, old: &'static str, new: &'static str) {
        self.traces += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(place.example(at, old, new));
        }
    }
}

/// A trace: its file, its line, its name, and how many before it had the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    file: Arc<str>,
    line: u64,
    trace: SmolStr,
    copy: u64,
}

impl Place {
    fn example(&self, at: Option<u32>, old: &'static str, new: &'static str) -> Example {
        Example {
            trace: self.trace.to_string(),
            file: self.file.to_string(),
            line: self.line,
            at,
            old,
            new,
        }
    }
}

struct Collecting<'a> {
    found: Collected,
    /// The number of further traces with the same place.
    copies: FxHashMap<Place, u64>,
    progress: &'a Progress,
    reported: Option<&'a Collected>,
    on_problem: &'a mut dyn FnMut(&Problem),
    stops: &'a dyn Fn() -> bool,
    properties: usize,
}

impl Collecting<'_> {
    fn tell(&mut self, problem: &Problem) {
        self.found.errors += u64::from(problem.kind.is_error());
        (self.on_problem)(problem);
    }
}

impl Listener<(Place, Judged)> for Collecting<'_> {
    fn report(&mut self, (mut place, judged): (Place, Judged)) {
        let traces = &self.progress.traces;
        traces.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if self.found.traces.contains_key(&place) {
            let copies = self.copies.entry(place.clone()).or_default();
            *copies += 1;
            place.copy = *copies;
        }
        let reported = self.reported.and_then(|before| before.traces.get(&place));
        for problem in &judged.problems {
            if reported.is_none_or(|reported| !reported.problems.contains(problem)) {
                self.tell(problem);
            }
        }
        self.found.traces.insert(place, judged);
    }

    /// A problem outside of traces: it does not depend on the spec.
    fn problem(&mut self, problem: &Problem) {
        if self.reported.is_none() {
            self.tell(problem);
        }
    }

    fn input(&mut self, _: &Accounting) {}

    fn wanted(&self) -> Wanted {
        Wanted::new(self.properties, |_, _| false).without_evidence()
    }

    fn stopped(&self) -> bool {
        (self.stops)()
    }
}
