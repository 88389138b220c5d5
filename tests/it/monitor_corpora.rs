//! Live and recorded verdicts agree on published runs: every spec in `examples` with a corpus evaluates all its runs both ways,
//! through the same readers, with every property enforced.
//!
//! Each event is proposed with its outcome unknown and then committed; finally the end is proposed and committed. The
//! violations at the end are those of the audit. A violation by a step was denied exactly at the proposal of that step, and one
//! by the end at the proposal of the end.
//!
//! The corpora are not part of the package; without them this is reported as skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::corpora::CORPORA;
use guard_lang::audit::{self, Judge, Listener, Progress, Readers};
use guard_lang::eval::{Limits, Program, TraceSource, Wanted};
use guard_lang::hir::{ActionKind, PropertyKind, Spec};
use guard_lang::ids::PropertyId;
use guard_lang::input::deferred::Deferred;
use guard_lang::input::formats::FormatChoice;
use guard_lang::input::limits::{Accounting, InputLimits};
use guard_lang::input::open;
use guard_lang::input::record::{Event, Record, Step};
use guard_lang::input::spread::Facts;
use guard_lang::modules::Loader;
use guard_lang::monitor::{Decision, Monitor, Options};
use guard_lang::problem::Problem;
use guard_lang::value::Cell;
use guard_lang::verdict::{TraceReport, Verdict};
use guard_lang::{check, front};

/// A spec, how it is judged afterwards and live.
struct Both<'s> {
    spec: &'s Spec,
    program: &'s Program,
    monitor: &'s Mutex<Monitor>,
    found: &'s Found,
}

/// What was compared.
#[derive(Default)]
struct Found {
    runs: AtomicUsize,
    steps: AtomicUsize,
    verdicts: AtomicUsize,
    /// Violations by a step, each denied before it.
    denied: AtomicUsize,
    /// Violations by the end, each told when the end was proposed.
    at_end: AtomicUsize,
}

fn add(to: &AtomicUsize, n: usize) {
    to.fetch_add(n, Ordering::Relaxed);
}

impl Judge for Both<'_> {
    type Open = (TraceSource, Vec<Event>);
    type Report = ();

    fn judge(&self, record: Record, texts: Deferred<'_>, wanted: &Wanted) -> Option<()> {
        let report = (&self.program).judge(record.clone(), texts, wanted)?;
        self.compare(events_of(&record), &report);
        Some(())
    }

    fn open(&self, source: TraceSource) -> Self::Open {
        (source, Vec::new())
    }

    fn push(&self, open: &mut Self::Open, event: Event) {
        open.1.push(event);
    }

    fn finish(
        &self,
        (source, mut events): Self::Open,
        meta: Box<[Cell]>,
        complete: bool,
        index: u64,
        wanted: &Wanted,
    ) -> Option<()> {
        let facts = Facts::from(meta.clone());
        let mut opened = (&self.program).open(TraceSource {
            meta: meta.clone(),
            ..source
        });
        for event in &events {
            (&self.program).push(&mut opened, event.clone());
        }
        let report = (&self.program).finish(opened, meta, complete, index, wanted)?;
        for (index, event) in (0..).zip(&mut events) {
            event.steps.iter_mut().for_each(|step| step.index = index);
            event.meta = facts.clone();
        }
        self.compare(events, &report);
        Some(())
    }
}

/// A record as the events of a live run.
fn events_of(record: &Record) -> Vec<Event> {
    let event = |steps: &[Step]| Event {
        trace: None,
        origin: record.origin.clone(),
        meta: record.meta.clone().into(),
        steps: steps.to_vec(),
        count: 1,
        problems: Vec::new(),
    };
    let same = |one: &Step, other: &Step| one.index == other.index;
    record.steps.chunk_by(same).map(event).collect()
}

/// What a decision does about a property because it is violated.
fn denies(decision: &Decision, name: &str) -> bool {
    let mut fired = decision.clauses.iter();
    fired.any(|fired| fired.name == name && fired.action == ActionKind::Block)
}

fn verdict(decision: &Decision, property: PropertyId) -> Verdict {
    decision.verdicts[property.index()].1
}

impl Both<'_> {
    /// Follows a run live and holds what is said against the report.
    fn compare(&self, events: Vec<Event>, report: &TraceReport) {
        if events.is_empty() {
            // A run of no events never is live.
            return;
        }
        let name = &report.trace;
        let mut monitor = self.monitor.lock().unwrap();
        add(&self.found.runs, 1);
        add(&self.found.steps, report.events as usize);
        // By property: the index of the first event that was denied because it would be violated.
        let mut denied: BTreeMap<PropertyId, u32> = BTreeMap::new();
        let mut last = None;
        let properties = || (0..self.spec.properties.len()).map(PropertyId::new);
        for mut event in events {
            event.trace = Some(name.clone());
            let index = event.steps.first().map(|step| step.index);
            let proposed = monitor.propose_event(event.clone(), None);
            proposed.proposal.map(|number| monitor.abandon(number));
            let happened = monitor.observe_event(event, None);
            for property in properties() {
                let of = &self.spec.property(property).name;
                let before = last.as_ref().map(|last| verdict(last, property));
                let newly = verdict(&happened, property) == Verdict::Violated
                    && before != Some(Verdict::Violated);
                if newly {
                    assert!(denies(&proposed, of), "{name} at {index:?}: {of}");
                    denied.insert(property, index.unwrap());
                } else if before != Some(Verdict::Violated) {
                    assert!(
                        !denies(&proposed, of),
                        "{name} at {index:?}: {of} is denied"
                    );
                }
            }
            last = Some(happened);
        }
        let open = report.verdicts.iter().any(|one| !one.is_final);
        let (proposed, end) = (monitor.propose_end(name), monitor.end(name, None));
        let told = if open { last.as_ref().unwrap() } else { &end };
        for property in properties() {
            let of = &self.spec.property(property).name;
            let all: Vec<_> = report
                .verdicts
                .iter()
                .filter(|one| one.property == property)
                .collect();
            let audited = all.first().unwrap().verdict;
            assert_eq!(verdict(told, property), audited, "{name}: {of}");
            add(&self.found.verdicts, 1);
            let first = all.iter().filter_map(|one| one.at).min();
            match denied.get(&property) {
                Some(step) => {
                    assert_eq!(Some(*step), first, "{name}: {of}");
                    add(&self.found.denied, 1);
                }
                None if audited == Verdict::Violated => {
                    assert!(denies(&proposed, of), "{name}: {of} at the end");
                    add(&self.found.at_end, 1);
                }
                None => assert!(!denies(&proposed, of), "{name}: {of} at the end"),
            }
        }
    }
}

/// Wants to hear nothing: what was compared is counted already.
struct Nobody(usize);

impl Listener<()> for Nobody {
    fn report(&mut self, (): ()) {}
    fn problem(&mut self, _: &Problem) {}
    fn input(&mut self, _: &Accounting) {}
    fn wanted(&self) -> Wanted {
        Wanted::new(self.0, |_, _| false)
    }
}

/// Imports from the folder of a spec.
struct Folder(PathBuf);

impl Loader for Folder {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let text = std::fs::read_to_string(self.0.join(path)).map_err(|error| error.to_string())?;
        Ok((text, path.to_owned()))
    }
}

/// The spec with every property enforced.
fn enforced(path: &Path) -> Spec {
    let mut text = std::fs::read_to_string(path).unwrap();
    let folder = Folder(path.parent().unwrap().to_owned());
    let checked = |text: &str| {
        let checked = front("spec.guard", text, &folder, check::Limits::default());
        let messages: Vec<_> = checked.diagnostics.iter().map(|d| &d.message).collect();
        let mut spec = checked
            .spec
            .unwrap_or_else(|| panic!("{path:?}: {messages:?}"));
        spec.tests.clear();
        spec.properties
            .retain(|property| property.kind != PropertyKind::Condition);
        spec
    };
    for property in &checked(&text).properties {
        text.push_str(&format!(
            "\nenforce {} {{ violated => block }}",
            property.name
        ));
    }
    checked(&text)
}

/// Follows the runs of a folder or file both ways and tells what was compared, as a row.
fn follow(spec: &str, runs: &Path, glob: Option<&str>) {
    let name = spec;
    let spec = enforced(
        &crate::support::root()
            .join("examples")
            .join(format!("{spec}.guard")),
    );
    let program = Program::compile(&spec, &Limits::default()).unwrap();
    let monitor = Mutex::new(Monitor::new(&spec, Options::default()).unwrap());
    let readers = Readers::new(&spec.schema, FormatChoice::Auto, InputLimits::default()).unwrap();
    let globs: Vec<String> = glob.iter().map(ToString::to_string).collect();
    let selection = open::Selection::new(&globs, &[]).unwrap();
    let sources = open::sources(runs.to_str().unwrap(), &selection)
        .unwrap()
        .sources;
    let found = Found::default();
    let both = Both {
        spec: &spec,
        program: &program,
        monitor: &monitor,
        found: &found,
    };
    let mut nobody = Nobody(spec.properties.len());
    audit::visit(&both, &sources, &readers, &Progress::default(), &mut nobody);
    let counts = [
        &found.runs,
        &found.steps,
        &found.verdicts,
        &found.denied,
        &found.at_end,
    ];
    let counts = counts.map(|count| count.load(Ordering::Relaxed));
    println!(
        "| {name} | {} |",
        counts.map(|count| count.to_string()).join(" | ")
    );
    assert!(counts[2] > 0, "{name}");
    assert_eq!(monitor.lock().unwrap().n_traces(), 0);
}

#[test]
fn live_and_recorded_agree_on_every_run_of_every_corpus() {
    println!("| spec | runs | steps | verdicts | denied before the step | told before the end |");
    println!("|---|---|---|---|---|---|");
    let own = crate::support::root().join("examples/mail_assistant/traces.jsonl");
    follow("mail_assistant/mail_assistant", &own, None);
    let Some(data) = crate::support::shared("data") else {
        return;
    };
    for corpus in CORPORA {
        let spec = format!("corpora/{}", corpus.spec);
        follow(&spec, &data.join(corpus.folder), Some(corpus.glob));
    }
    follow(
        "risk/hijack",
        &data.join("agentdojo-jsonl"),
        Some("*.jsonl"),
    );
}
