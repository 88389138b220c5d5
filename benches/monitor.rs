//! What one decision costs: 23 enforced properties as agents have them and the risk of the state that a run is in, looked up in
//! a table; events of about 300 bytes, parsing included.
//!
//! `cargo bench -p guard-benches --bench monitor`; prints the median and the 99th and 99.9th percentile in nanoseconds, for events that
//! happened and for proposals, also on a trace with very many open instances, and beside them what `benches/safetydrift_monitor.py` takes: the lookup in a dictionary that
//! SafetyDrift reports, on the same events, where Python is there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use guard_lang::hir::Spec;
use guard_lang::input::record::Origin;
use guard_lang::learn::{Ending, InvalidPolicy, Model, Subject, Walk};
use guard_lang::monitor::{Monitor, Options};
use guard_lang::{check, front, modules::NoFiles};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const N: usize = 200_000;

/// Instances that are open in one trace, for what a proposal costs then.
const OPEN: usize = 100_000;

const SPEC: &str = r#"
use std.drift.{Exposure, Reach, exposure_of, reach_of}
use std.agent.{phi1, phi2_each, phi3, phi4_each, phi5_each, phi6, phi7_each, phi8, phi9, phi10, phi11, phi12, phi13_each, phi14_each, phi15, phi16, phi17, phi18_each, phi19_each, phi20, phi21, phi22}

event {
  kind: string
  tool: string?
  text: string?
  call: string?
  args: json?
  at: time? from "/t"
}

predicate called(t: string) = kind == "call" and tool == t
predicate writes = kind == "memory_write"
predicate pii = text matches /\d{3}-\d{2}-\d{4}/
predicate writes_at(a: json) = kind == "memory_write" and args.key == a
predicate reads_at(a: json) = kind == "memory_read" and args.key == a
predicate acks_at(a: json) = kind == "ack" and args.key == a
predicate calls_of(c: json) = kind == "call" and call == c
predicate results_of(c: json) = kind == "result" and call == c
predicate approves(c: json) = kind == "approval" and call == c
predicate risky(c: json) = kind == "call" and tool in ["pay", "delete"] and call == c

property p1 = phi1(writes, pii)
property p2 = phi2_each(reads_at, acks_at)
property p3 = phi3(kind == "full", kind == "flush")
property p4 = phi4_each(writes_at, acks_at)
property p5 = phi5_each(reads_at, writes_at)
property p6 = phi6(kind == "shared", kind == "shared")
property p7 = phi7_each(risky, approves)
property p8 = phi8(called("delete"), called("mail"))
property p9 = phi9(kind == "call", tool, ["search", "read", "pay", "delete", "mail"])
property p10 = phi10(called("exec"), args.sandbox == true)
property p11 = phi11(called("http"), args.host == "api.corp")
property p12 = phi12(called("write"), args.path starts_with "/tmp")
property p13 = phi13_each(writes_at, acks_at)
property p14 = phi14_each(calls_of, results_of)
property p15 = phi15(kind == "skill", tool, ["ocr"])
property p16 = phi16(kind == "auth", args.token != null)
property p17 = phi17(kind == "chain", kind == "chain")
property p18 = phi18_each(calls_of, results_of)
property p19 = phi19_each(risky, approves, 5)
property p20 = phi20(kind == "query", kind == "lie")
property p21 = phi21(kind == "pii", args.consent == true)
property p22 = phi22(kind == "escalate", kind == "escalate")
property p23 = G (count(called("mail")) <= 100000)

track exposure: Exposure = none
  then if kind == "call" then max(exposure, exposure_of(tool ?? "", args)) else exposure
track reach: Reach = read_only
  then if kind == "call" then max(reach, reach_of(tool ?? "")) else reach
abstraction drift { steps when kind == "call"  over exposure, reach }
model run = learn drift { smoothing 1.0 }
query soon = P=? [ F<=5 (exposure >= sensitive and reach >= network) ] on run
enforce on soon { >= 0.999 => warn "{soon:.0%}"  unseen => log }
"#;

/// A model of made-up walks: every state is seen, and each leads to the next in the order of their names.
fn model(spec: &Arc<Spec>) -> Model {
    let id = spec.find_model("run").unwrap();
    let abstraction = spec.model(id).abstraction().unwrap();
    let limits = guard_lang::eval::Limits::default();
    let subject = Subject::new(spec, id, abstraction, &[], &limits).unwrap();
    let keys = subject.space.rules(&subject.rules).states(1000).unwrap();
    let mut counter = subject.counter(InvalidPolicy::Error);
    counter.add(&Walk {
        trace: "t".into(),
        origin: Origin {
            file: "t".into(),
            below: "t".into(),
            line: 1,
            ordinal: 0,
        },
        category: None,
        steps: (0..keys.len() as u32).collect(),
        keys,
        ending: Ending::Complete,
        problems: Vec::new(),
    });
    subject.model(&counter.finish().0)
}

fn event(n: usize) -> String {
    let trace = n % 100;
    let call = n / 200;
    let filler = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut \
        labore et dolore magna aliqua, ut enim ad minim veniam, quis nostrud";
    if (n / 100).is_multiple_of(2) {
        format!(
            r#"{{"trace":"t{trace}","kind":"call","tool":"search","call":"c{call}-{trace}","args":{{"q":"{filler}","limit":10}},"t":{n}.25}}"#
        )
    } else {
        format!(
            r#"{{"trace":"t{trace}","kind":"result","tool":"search","call":"c{call}-{trace}","text":"{filler}","t":{n}.5}}"#
        )
    }
}

fn percentiles(name: &str, mut nanos: Vec<u64>) {
    nanos.sort_unstable();
    let at = |share: f64| nanos[((nanos.len() - 1) as f64 * share) as usize];
    println!(
        "{name}: median {} ns, 99 % {} ns, 99.9 % {} ns",
        at(0.5),
        at(0.99),
        at(0.999)
    );
}

fn main() {
    let mut text = SPEC.to_owned();
    for n in 1..=23 {
        text.push_str(&format!("enforce p{n} {{ violated => block \"no\" }}\n"));
    }
    let checked = front("bench.guard", &text, &NoFiles, check::Limits::default());
    let messages: Vec<_> = checked
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .collect();
    let spec = checked.spec.unwrap_or_else(|| {
        println!("{messages:?}");
        std::process::exit(2)
    });
    let spec = Arc::new(spec);
    let model = model(&spec);
    let events: Vec<String> = (0..N).map(event).collect();
    let bytes = events.iter().map(String::len).sum::<usize>() / N;
    println!(
        "{} properties, {bytes} bytes an event, 100 traces in turn",
        spec.properties.len()
    );
    let mut out = String::new();
    let mut time =
        |name: &str, judge: &mut dyn FnMut(&mut Monitor, &str) -> guard_lang::monitor::Decision| {
            let options = Options {
                models: [("run".into(), model.clone().into())].into(),
                ..Options::default()
            };
            let mut monitor = Monitor::new(&spec, options).unwrap();
            let mut nanos = Vec::with_capacity(N);
            for event in &events {
                let start = Instant::now();
                let decision = judge(&mut monitor, event);
                out.clear();
                decision.write_json(&mut out);
                nanos.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
            }
            // The tables of classes of events fill at first.
            percentiles(name, nanos.split_off(N / 10));
        };
    time("events that happened", &mut |monitor, event| {
        monitor.line(event.as_bytes(), None)
    });
    time("proposals, then the event", &mut |monitor, event| {
        let decision = monitor.propose(event.as_bytes(), None);
        monitor.observe(event.as_bytes(), None);
        decision
    });
    forks();
    python(&events);
}

/// Proposals on a trace in which very many instances are open.
fn forks() {
    let text = r#"
event { kind: string  call: string? }
property answered = forall c: G (kind == "call" and call == c -> F (kind == "result" and call == c))
enforce answered { violated => block }
"#;
    let spec = front("open.guard", text, &NoFiles, check::Limits::default()).spec;
    let mut monitor = Monitor::new(&spec.unwrap(), Options::default()).unwrap();
    let event = |n: usize| format!(r#"{{"trace":"t","kind":"call","call":"c{n}"}}"#);
    for n in 0..OPEN {
        monitor.observe(event(n).as_bytes(), None);
    }
    let time = |judge: &mut dyn FnMut(&str)| {
        let proposals = (OPEN..OPEN + 10_000).map(event);
        let one = |event: String| {
            let start = Instant::now();
            judge(&event);
            u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
        };
        proposals.map(one).collect()
    };
    let alone = time(&mut |event| {
        monitor.propose(event.as_bytes(), None);
    });
    percentiles(&format!("proposals, {OPEN} open instances"), alone);
    let between = time(&mut |event| {
        monitor.propose(event.as_bytes(), None);
        monitor.observe(event.as_bytes(), None);
    });
    percentiles(
        &format!("proposals and events in turn, {OPEN} open instances"),
        between,
    );
}

/// The same events through the dictionary.
fn python(events: &[String]) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/safetydrift_monitor.py");
    let child = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        println!("python3 is not there");
        return;
    };
    if let Some(mut to) = child.stdin.take() {
        use std::io::Write;
        to.write_all(events.join("\n").as_bytes()).unwrap();
    }
    child.wait().unwrap();
}
