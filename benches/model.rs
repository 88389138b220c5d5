//! Learning, solving and looking up: a million steps into counts, a chain as it is learned, the risk of a state.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use guard_automata::graph::NodeSet;
use guard_lang::abstraction::ObservedState;
use guard_lang::audit::Judge;
use guard_lang::eval::{Limits, Wanted};
use guard_lang::hir::Spec;
use guard_lang::input::deferred::Deferred;
use guard_lang::input::record::{Origin, Record, Step};
use guard_lang::learn::{InvalidPolicy, Model, RowLimits, Subject};
use guard_lang::modules::NoFiles;
use guard_lang::query::Forecast;
use guard_lang::value::{Cell, Value};
use guard_markov::analysis::reach;
use guard_markov::solve::Accuracy;
use guard_markov::{Chain, ChainBuilder, Options};

const SPEC: &str = r#"
enum Level ordered { none < public < internal < sensitive < credentials }
event { tool: string }
track seen: Level = none then cases {
  tool == "secret" => credentials
  tool == "customers" => max(seen, sensitive)
  tool == "read" => max(seen, public)
  else => seen
}
predicate mails = tool == "mail"
unsafe leak = seen >= sensitive and mails
abstraction drift { over seen, mails  step seen' >= seen  absorbing leak }
model run = learn drift { smoothing 1 }
query soon = P=? [ F<=5 leak ] on run
"#;

type Error = Box<dyn std::error::Error>;

/// Draws numbers below a bound, always the same ones.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn spec() -> Result<Arc<Spec>, Error> {
    let limits = guard_lang::check::Limits::default();
    let checked = guard_lang::front("bench.guard", SPEC, &NoFiles, limits);
    Ok(Arc::new(checked.spec.ok_or("the spec has errors")?))
}

fn subject(spec: &Arc<Spec>) -> Result<Subject, Error> {
    let model = spec.find_model("run").ok_or("no model")?;
    let abstraction = spec.model(model).abstraction().ok_or("no abstraction")?;
    let limits = Limits::default();
    Ok(Subject::new(spec, model, abstraction, &[], &limits)?)
}

fn records(steps: usize) -> Vec<Record> {
    let tools = ["read", "other", "write", "customers", "secret", "mail"];
    let mut draws = Draws(1);
    let mut found = Vec::new();
    let mut left = steps;
    while left > 0 {
        let length = (5 + draws.below(40) as usize).min(left);
        left -= length;
        let event = |index: usize| Step {
            index: index as u32,
            cells: [Cell::Known(Value::string(tools[draws.below(6) as usize]))].into(),
        };
        found.push(Record {
            origin: Origin {
                file: "t".into(),
                below: "t".into(),
                line: 1,
                ordinal: found.len() as u64,
            },
            id: None,
            complete: Some(true),
            meta: [].into(),
            steps: (0..length).map(event).collect(),
            problems: Vec::new(),
        });
    }
    found
}

fn count(subject: &Subject, records: &[Record]) -> Result<Model, Error> {
    let walker = subject.walker(&Limits::default())?;
    let mut counter = subject.counter(InvalidPolicy::Error);
    let wanted = Wanted::new(0, |_, _| false);
    for record in records {
        if let Some(walk) = walker.judge(record.clone(), Deferred::NONE, &wanted) {
            counter.add(&walk);
        }
    }
    Ok(subject.model(&counter.finish().0))
}

/// Few successors, loops, weak drift, a rare bad state and an end.
fn learned_like(states: u32) -> Result<(Chain<f64>, NodeSet), Error> {
    let mut draws = Draws(7);
    let mut builder = ChainBuilder::<f64>::default();
    let spread = u64::from(states / 25 + 6);
    for state in 0..states {
        if state >= states - 2 {
            builder.transition(state, 1.0);
            builder.end_row()?;
            continue;
        }
        let mut counts = std::collections::BTreeMap::new();
        counts.insert(states - 2, 1u64);
        for _ in 0..6 {
            let target = u64::from(state) + 3 + draws.below(spread);
            let target = target.saturating_sub(spread / 2).min(u64::from(states - 3));
            *counts.entry(target as u32).or_default() += 1 + draws.below(50);
        }
        if draws.below(100) == 0 {
            counts.insert(states - 1, 1);
        }
        let total: u64 = counts.values().sum();
        for (target, count) in counts {
            builder.transition(target, count as f64 / total as f64);
        }
        builder.end_row()?;
    }
    let chain = builder.finish([0], None)?;
    let bad = chain.graph().set([states - 1]);
    Ok((chain, bad))
}

fn learning(c: &mut Criterion) -> Result<(), Error> {
    let spec = spec()?;
    let subject = subject(&spec)?;
    let records = records(100_000);
    let mut group = c.benchmark_group("learn");
    group.throughput(Throughput::Elements(100_000));
    group.bench_function("steps", |b| {
        b.iter(|| count(&subject, black_box(&records)).is_ok())
    });
    group.finish();
    Ok(())
}

fn solving(c: &mut Criterion) -> Result<(), Error> {
    let mut group = c.benchmark_group("solve");
    group.sample_size(10);
    for states in [1_000, 10_000, 100_000] {
        let (chain, bad) = learned_like(states)?;
        group.throughput(Throughput::Elements(chain.graph().edge_count() as u64));
        group.bench_function(format!("learned-like, {states} states"), |b| {
            b.iter(|| reach(black_box(&chain), &bad, &Accuracy::default()).is_ok());
        });
    }
    group.finish();
    Ok(())
}

fn looking_up(c: &mut Criterion) -> Result<(), Error> {
    let spec = spec()?;
    let subject = subject(&spec)?;
    let file = count(&subject, &records(10_000))?;
    let model = spec.find_model("run").ok_or("no model")?;
    let query = spec.find_claim("soon").ok_or("no query")?;
    let options = (RowLimits::default(), &Options::default());
    let forecast = Forecast::new(&spec, model, &file, &[query], &Limits::default(), options)?;
    let safe = ["none", "false"].map(Into::into);
    let safe = forecast.space().parse(&safe);
    let sight = ObservedState::One(safe.map_err(|_| "no such state")?);
    let mut position = forecast.begin();
    c.bench_function("lookup: one step, its risk", |b| {
        b.iter(|| {
            forecast.advance(&mut position, black_box(&sight));
            forecast.risk(0, &position, "")
        });
    });
    forecast.advance(&mut position, &sight);
    c.bench_function("lookup: the risk of a position", |b| {
        b.iter(|| forecast.risk(0, black_box(&position), ""));
    });
    Ok(())
}

fn all(c: &mut Criterion) {
    for bench in [learning, solving, looking_up] {
        if let Err(wrong) = bench(c) {
            eprintln!("not measured: {wrong}");
        }
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
