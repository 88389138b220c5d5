//! What quantified names and parameters of tracks cost as values come: one, two and three names, equal and skewed.
//!
//! `cargo bench --bench instances [-- MOST [NAME]]`: for 1,000 requests and ten times as many, up to MOST (a million), the
//! nanoseconds for each event, recorded and live (each event proposed, then recorded), what the events touched, and the bytes
//! for each request that nobody has answered yet. NAME selects properties by a part of their name.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark fails by panicking"
)]

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/instance_scale.rs"]
mod instance_scale;

use std::sync::Arc;
use std::time::Instant;

use guard_lang::eval::{Limits, Live, Program, StepCache};
use instance_scale::{PROPERTIES, SPREADS, source, spec, steps};

/// Bytes in memory, where the system tells them.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kib.unwrap_or(0) * 1024
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--test") {
        return;
    }
    let mut args = args.iter().filter(|arg| !arg.starts_with("--"));
    let most: usize = args.next().map_or(1_000_000, |most| most.parse().unwrap());
    let wanted = args.next().map_or("", String::as_str);
    println!(
        "{:38} {:10} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "property", "values", "requests", "audit ns", "live ns", "touched", "bytes"
    );
    for (name, property, _) in PROPERTIES.iter().filter(|(name, ..)| name.contains(wanted)) {
        let spec = Arc::new(spec(property));
        let program = Program::compile(&spec, &Limits::default()).unwrap();
        let live_program =
            Program::compile_live(Arc::clone(&spec), &[], &Limits::default()).unwrap();
        for spread in SPREADS {
            let mut n = 1_000;
            while n <= most {
                let steps = steps(spread, n);
                let before = resident();
                // As live traces are held, without the steps: after all requests, before the first answer.
                let (mut live, mut cache) =
                    (Live::new(&live_program), StepCache::new(&live_program));
                let start = Instant::now();
                for (number, step) in steps.iter().enumerate() {
                    cache.happened(&live_program, &mut live, step, |_| {});
                    if number == 2 * n - 1 {
                        break;
                    }
                }
                let half = start.elapsed();
                let bytes = resident().saturating_sub(before) / n;
                let start = Instant::now();
                steps[2 * n..].iter().for_each(|step| {
                    cache.happened(&live_program, &mut live, step, |_| {});
                });
                let audit = half + start.elapsed();
                let touched = cache.work() as f64 / steps.len() as f64;
                drop((live, cache));
                let (mut live, mut cache) =
                    (Live::new(&live_program), StepCache::new(&live_program));
                let start = Instant::now();
                for step in &steps {
                    cache.proposed(&live_program, &mut live, step, |_| {});
                    cache.happened(&live_program, &mut live, step, |_| {});
                }
                let proposed = start.elapsed();
                drop((live, cache));
                let mut state = program.open(source());
                steps.iter().for_each(|step| state.push(step));
                std::hint::black_box(state.finish(true));
                let each = |time: std::time::Duration| time.as_nanos() as f64 / steps.len() as f64;
                println!(
                    "{name:38} {:10} {n:>9} {:>9.0} {:>9.0} {touched:>9.1} {bytes:>9}",
                    format!("{spread:?}"),
                    each(audit),
                    each(proposed),
                );
                n *= 10;
            }
        }
    }
}
