//! Live and recorded runs agree: the final verdict of a monitor is that of the audit, its intermediate verdicts are
//! those on the prefixes, a violation is denied at the step before it happens, and a monitor restored from a snapshot
//! continues identically.

use std::collections::{BTreeMap, BTreeSet};

use guard_lang::check::Limits;
use guard_lang::front;
use guard_lang::hir::{PropertyKind, Spec};
use guard_lang::modules::{Loader, NoFiles};
use guard_lang::monitor::{Decision, Monitor, Options, Ruling};
use serde_json::{Value as Json, json};

/// Imports from a folder.
struct Folder(std::path::PathBuf);

impl Loader for Folder {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let text = std::fs::read_to_string(self.0.join(path)).map_err(|error| error.to_string())?;
        Ok((text, path.to_owned()))
    }
}

fn checked(name: &str, text: &str, loader: &dyn Loader) -> Spec {
    let checked = front(name, text, loader, Limits::default());
    let messages: Vec<_> = checked.diagnostics.iter().map(|d| &d.message).collect();
    checked
        .spec
        .unwrap_or_else(|| panic!("{name}: {messages:?}\n{text}"))
}

/// Another monitor that goes on from the state of this one.
fn continued(monitor: &Monitor, spec: &Spec) -> Monitor {
    let state = monitor.snapshot().unwrap();
    let mut next = Monitor::new(spec, Options::default()).unwrap();
    next.resume(&state).unwrap();
    assert_eq!(
        next.snapshot().unwrap(),
        state,
        "a state that was read is written as it was"
    );
    next
}

fn verdict(decision: &Decision, place: usize) -> String {
    decision.verdicts[place].1.as_str().to_owned()
}

#[test]
fn finite_traces() {
    let cases = crate::support::suite("finite.jsonl");
    let mut denied = 0;
    for (number, case) in cases.iter().enumerate() {
        let id = case["id"].as_str().unwrap();
        let formula = case["formula"].as_str().unwrap();
        let events: Vec<Json> = case["trace"]
            .as_array()
            .unwrap()
            .iter()
            .map(|set| {
                let holds = set.as_array().unwrap().iter();
                holds
                    .map(|atom| (atom.as_str().unwrap().to_owned(), json!(true)))
                    .collect()
            })
            .collect();
        let mut atoms: BTreeSet<String> = formula
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
            .filter(|word| !["true", "false"].contains(word))
            .map(str::to_owned)
            .collect();
        for event in &events {
            atoms.extend(event.as_object().unwrap().keys().cloned());
        }
        let fields: String = atoms
            .iter()
            .map(|atom| format!("  {atom}: bool = false\n"))
            .collect();
        let text = format!(
            "event {{\n{fields}}}\nproperty p = ({formula}) and N true\nenforce p {{ violated => block }}\n"
        );
        let spec = checked(id, &text, &NoFiles);
        let mut monitor = Monitor::new(&spec, Options::default()).unwrap();
        let meant = case["rv"].as_array().unwrap();
        for (step, event) in events.iter().enumerate() {
            let line = event.to_string();
            let proposed = monitor.propose(line.as_bytes(), None);
            let violates = meant[step] == "violated";
            assert_eq!(proposed.ruling.denies(), violates, "{id}: step {step}");
            denied += u32::from(violates);
            if number % 11 == 0 {
                monitor = continued(&monitor, &spec);
            }
            proposed.proposal.map(|number| monitor.abandon(number));
            let happened = monitor.observe(line.as_bytes(), None);
            assert_eq!(verdict(&happened, 0), meant[step], "{id}: step {step}");
            assert_eq!(
                verdict(&proposed, 0),
                meant[step],
                "{id}: step {step}, proposed"
            );
        }
        if !events.is_empty() {
            let value = if case["ltlf"].as_bool().unwrap() {
                "satisfied"
            } else {
                "violated"
            };
            let proposed = monitor.propose_end("");
            let end = monitor.end("", None);
            assert_eq!(
                (verdict(&proposed, 0), verdict(&end, 0)),
                (value.into(), value.into()),
                "{id}"
            );
            assert_eq!(end.ruling.denies(), value == "violated", "{id}: the end");
        }
    }
    assert!(denied > 1000, "{denied}");
}

#[test]
fn scenarios_are_caught_live_at_the_labelled_step() {
    let suite = crate::support::root().join("tests/suites/scenarios");
    let labels: Json =
        serde_json::from_slice(&std::fs::read(suite.join("labels.json")).unwrap()).unwrap();
    let traces = std::fs::read_to_string(suite.join("traces.jsonl")).unwrap();
    let traces: Vec<Json> = traces
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let folder = crate::support::root().join("examples/scenarios");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".guard") && name != "vocabulary.guard")
        .collect();
    names.sort();

    // By trace: the requirement, and the step at which it was first denied.
    let mut caught: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut lasting: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for name in &names {
        let mut text = std::fs::read_to_string(folder.join(name)).unwrap();
        let loader = Folder(folder.clone());
        for property in &checked(name, &text, &loader).properties {
            if property.kind != PropertyKind::Condition {
                text.push_str(&format!(
                    "\nenforce {} {{ violated => block }}\n",
                    property.name
                ));
            }
        }
        let spec = checked(name, &text, &loader);
        let mut monitor = Monitor::new(&spec, Options::default()).unwrap();
        // All runs at once, event by event in turn.
        let longest = traces
            .iter()
            .map(|trace| trace["events"].as_array().unwrap().len())
            .max();
        for place in 0..=longest.unwrap() {
            for trace in &traces {
                let id = trace["id"].as_str().unwrap();
                let events = trace["events"].as_array().unwrap();
                let mut note = |decision: &Decision, step: usize| {
                    assert!(
                        decision.errors.is_empty(),
                        "{id} {step}: {:?}",
                        decision.errors
                    );
                    for fired in decision
                        .clauses
                        .iter()
                        .filter(|f| Ruling::of(f.action).denies())
                    {
                        let of = caught.entry(id.to_owned()).or_default();
                        of.entry(fired.name.replace('_', "."))
                            .or_insert(step as u64);
                    }
                };
                if place < events.len() {
                    let mut event = events[place].clone();
                    event["trace"] = json!(id);
                    event["meta"] = trace["meta"].clone();
                    let line = event.to_string();
                    let proposed = monitor.propose(line.as_bytes(), None);
                    note(&proposed, place);
                    proposed.proposal.map(|number| monitor.abandon(number));
                    let happened = monitor.observe(line.as_bytes(), None);
                    // What happens was denied before it did.
                    assert_eq!(proposed.ruling, happened.ruling, "{id} {place}");
                } else if place == events.len() {
                    let proposed = monitor.propose_end(id);
                    note(&proposed, place.saturating_sub(1));
                    let end = monitor.end(id, None);
                    assert_eq!(proposed.ruling, end.ruling, "{id}");
                    let of = lasting.entry(id.to_owned()).or_default();
                    of.extend(
                        end.verdicts
                            .iter()
                            .map(|(n, v)| (format!("{name} {n}"), v.as_str().into())),
                    );
                }
            }
            if place % 5 == 0 {
                monitor = continued(&monitor, &spec);
            }
        }
        assert_eq!(monitor.n_traces(), 0);
        let mut audited: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        let text: String = traces.iter().map(|trace| format!("{trace}\n")).collect();
        for report in crate::support::judge(&spec, "traces.jsonl", text.as_bytes()).reports {
            let of = audited.entry(report.trace.to_string()).or_default();
            for one in &report.verdicts {
                let property = &spec.property(one.property).name;
                of.insert(
                    format!("{name} {property}"),
                    one.verdict.as_str().to_owned(),
                );
            }
        }
        for (id, verdicts) in audited {
            for (property, verdict) in verdicts {
                assert_eq!(
                    lasting[&id].get(&property),
                    Some(&verdict),
                    "{id}: {property}"
                );
            }
        }
    }
    let (mut violating, mut safe) = (0, 0);
    for (id, label) in labels["traces"].as_object().unwrap() {
        let expected: BTreeMap<String, u64> = label["violations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|violation| {
                let requirement = violation["requirement"].as_str().unwrap().to_owned();
                (
                    requirement,
                    violation["first_detectable_step"].as_u64().unwrap(),
                )
            })
            .collect();
        let found = caught.get(id).cloned().unwrap_or_default();
        assert_eq!(found, expected, "{id}");
        if expected.is_empty() {
            safe += 1;
        } else {
            violating += 1;
        }
    }
    println!("{violating} violations caught, {safe} safe runs untouched");
    assert_eq!((violating, safe), (15, 15));
}
