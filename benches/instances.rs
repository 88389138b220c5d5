//! What quantified names and parameters of tracks cost as values come: one, two and three names, equal and skewed.
//!
//! `cargo bench -p guard-benches --bench instances [-- MOST]`: for 1,000 pairs of a request and its response, and ten times as many, up to MOST
//! (a million), all requests first. Each row has the nanoseconds for an event and, in brackets, how many times those of the first
//! column they are: there, a field of the event holds all that the names of the others are compared with. `audit` is a recorded
//! trace; `live` proposes each event and then records it. `bytes` are resident memory for each request without a response.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark fails by panicking"
)]

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/instance_scale.rs"]
mod instance_scale;

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use guard_lang::eval::{Limits, Live, Program, StepCache};
use guard_lang::input::record::Step;
use guard_lang::verdict::Verdict;
use instance_scale::{PROPERTIES, Spread, source, spec, steps_of};

/// What is compared: a heading, and the names of properties with one, two and three values.
const SUBJECTS: [(&str, [&str; 3]); 2] = [
    ("names", ["a composite name", "two names", "three names"]),
    (
        "tracks",
        ["a composite track", "a track", "a track of three"],
    ),
];

const SPREADS: [Spread; 3] = [Spread::Distinct, Spread::OneFirst, Spread::Zipf];

/// Short traces are judged again until they have taken this much time.
const ENOUGH: Duration = Duration::from_millis(200);

/// The argument that makes this process measure the memory of one trace: the positions of a property and a spread, and the
/// number of pairs. A process of its own has no memory that was freed before.
const MEMORY: &str = "--resident";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--test") {
        return;
    }
    if let [first, property, spread, n] = args.as_slice()
        && first == MEMORY
    {
        let spread = SPREADS[spread.parse::<usize>().unwrap()];
        println!("{}", resident_after(property, spread, n.parse().unwrap()));
        return;
    }
    let most = args.iter().find(|arg| !arg.starts_with("--"));
    let most: usize = most.map_or(1_000_000, |most| most.parse().unwrap());
    for (heading, properties) in SUBJECTS {
        println!(
            "{heading:6} {:8} {:>9} {:>24} {:>24} {:>24}",
            "values", "pairs", "audit 1, 2, 3", "live 1, 2, 3", "bytes 1, 2, 3"
        );
        for (at, spread) in SPREADS.into_iter().enumerate() {
            let mut n = 1_000;
            while n <= most {
                let steps: Vec<Step> = steps_of(&["request"], spread, n).collect();
                let audit = properties.map(|property| audit(property, &steps));
                let live = properties.map(|property| live(property, &steps));
                drop(steps);
                let bytes = properties.map(|property| {
                    let me = std::env::current_exe().unwrap();
                    let [at, n] = [at, n].map(|number| number.to_string());
                    let args = [MEMORY, property, &at, &n];
                    let run = Command::new(me).args(args).output().unwrap();
                    String::from_utf8(run.stdout)
                        .unwrap()
                        .trim()
                        .parse()
                        .unwrap()
                });
                let spread = format!("{spread:?}");
                println!(
                    "{:6} {spread:8} {n:>9} {:>24} {:>24} {:>24}",
                    "",
                    compared(audit),
                    compared(live),
                    compared(bytes)
                );
                n *= 10;
            }
        }
    }
}

/// Three numbers, the last two with how many times the first they are.
fn compared([one, two, three]: [f64; 3]) -> String {
    let times = |more: f64| format!("{more:.0} ({:.2})", more / one);
    format!("{one:.0} {} {}", times(two), times(three))
}

fn property(name: &str) -> &'static str {
    let found = PROPERTIES.iter().find(|(other, ..)| *other == name);
    found.unwrap_or_else(|| panic!("no property `{name}`")).1
}

/// The time that the work takes, in nanoseconds for each step: the mean of as many runs as take long enough to be measured.
fn mean(steps: &[Step], mut work: impl FnMut()) -> f64 {
    let begun = Instant::now();
    let (start, mut runs) = (processor_time(begun), 0_u32);
    let mut taken = Duration::ZERO;
    while taken < ENOUGH {
        work();
        runs += 1;
        taken = processor_time(begun) - start;
    }
    taken.as_nanos() as f64 / f64::from(runs) / steps.len() as f64
}

/// The time that this thread has had a processor, so that other programs do not count; the time since `begun` where the
/// system does not tell.
fn processor_time(begun: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| begun.elapsed(), Duration::from_nanos)
}

fn audit(name: &str, steps: &[Step]) -> f64 {
    let program = Program::compile(&spec(property(name)), &Limits::default()).unwrap();
    mean(steps, || {
        let mut state = program.open(source());
        steps.iter().for_each(|step| state.push(step));
        let report = state.finish(true);
        assert_eq!(report.verdicts[0].verdict, Verdict::Satisfied, "{name}");
    })
}

fn live(name: &str, steps: &[Step]) -> f64 {
    let program = Program::compile_live(Arc::new(spec(property(name))), &[], &Limits::default());
    let program = program.unwrap();
    mean(steps, || {
        let (mut live, mut cache) = (Live::new(&program), StepCache::new(&program));
        for step in steps {
            cache.proposed(&program, &mut live, step, |_| {});
            cache.happened(&program, &mut live, step, |_| {});
        }
    })
}

/// Bytes of resident memory for each request of a live trace, before the first response.
fn resident_after(name: &str, spread: Spread, n: usize) -> f64 {
    let program = Program::compile_live(Arc::new(spec(property(name))), &[], &Limits::default());
    let program = program.unwrap();
    let (mut live, mut cache) = (Live::new(&program), StepCache::new(&program));
    let before = resident();
    for step in steps_of(&["request"], spread, n).take(n) {
        cache.happened(&program, &mut live, &step, |_| {});
    }
    resident().saturating_sub(before) as f64 / n as f64
}

/// Bytes in memory, where the system tells them.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kib.unwrap_or(0) * 1024
}
