//! How long formulas take to become automata, and a monitor a step: the 55 specification patterns and the 23 templates for
//! agents, to the minimal deterministic automaton and to a Büchi automaton.
//!
//! `cargo bench -p guard-benches --bench automata`; with `-- --each` a line of JSON per formula instead, in seconds. `benches/automata.py` runs
//! that and the same list through MONA and Spin.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    unreachable_pub,
    missing_docs,
    dead_code,
    reason = "a benchmark that cannot go on stops"
)]

#[path = "../tests/it/support/ltl.rs"]
mod ltl;

use std::hint::black_box;
use std::time::{Duration, Instant};

use guard_automata::{Atom, Dfa, Finality, Limits, StateId, compile, omega};

/// The least of five runs.
fn time<T>(mut work: impl FnMut() -> T) -> Duration {
    let run = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    };
    (0..5).map(run).min().unwrap_or_default()
}

fn main() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/suites/ltl/automata.jsonl"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let cases: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let limits = Limits::default();
    let each = std::env::args().any(|argument| argument == "--each");
    let mut templates: Vec<Dfa> = Vec::new();
    for family in ["dwyer", "template"] {
        let mut total = [Duration::ZERO; 2];
        let mut worst = [(Duration::ZERO, ""), (Duration::ZERO, "")];
        let mut n = 0;
        for case in cases.iter().filter(|case| case["family"] == family) {
            let parsed = ltl::parse_one(ltl::text(case, "formula"));
            let took = [
                time(|| compile(&parsed.formulas, parsed.root, &limits).unwrap()),
                time(|| omega::translate(&parsed.formulas, parsed.root, &limits).unwrap()),
            ];
            if each {
                let [dfa, buchi] = took.map(|took| took.as_secs_f64());
                let line = serde_json::json!({"name": case["name"], "dfa": dfa, "buchi": buchi});
                println!("{line}");
                continue;
            }
            for (kind, took) in took.into_iter().enumerate() {
                total[kind] += took;
                worst[kind] = worst[kind].max((took, ltl::text(case, "name")));
            }
            if family == "template" {
                templates.push(compile(&parsed.formulas, parsed.root, &limits).unwrap());
            }
            n += 1;
        }
        if each {
            continue;
        }
        for (kind, name) in ["minimal DFA", "Büchi"].into_iter().enumerate() {
            let (slowest, of) = worst[kind];
            println!(
                "{family}: {n} formulas to {name}: {:?}, worst {slowest:?} ({of})",
                total[kind]
            );
        }
    }
    if each {
        return;
    }
    // The letter of an event is a bit per atom; each template has its own atoms.
    let mut states: Vec<StateId> = templates.iter().map(Dfa::initial).collect();
    let events = 100_000u32;
    let took = time(|| {
        for event in 0..events {
            let letter = event.wrapping_mul(2_654_435_761) >> 20;
            for (dfa, state) in templates.iter().zip(&mut states) {
                *state = dfa.step(*state, |Atom(atom)| letter >> atom & 3 == 0);
                // A monitor that has its verdict costs nothing, so it begins again.
                if dfa.finality(*state) != Finality::Open {
                    *state = dfa.initial();
                }
            }
        }
        states.clone()
    });
    let each = took.as_secs_f64() * 1e9 / f64::from(events);
    println!(
        "one step of all {} templates: {each:.1} ns",
        templates.len()
    );
}
