//! Reading recorded runs: projection against building a `serde_json::Value` of each line.
//!
//! The corpus is the airline runs of `shared/data/tau-bench` beside the package, as JSON Lines; without them, runs of
//! the same shape are made up. The ratio that counts is printed first: times of the same lines in the same process,
//! in turns, the best of several rounds each.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use guard_lang::input::projection::{Projection, ReadBuffers};
use guard_lang::input::read::read_from;
use guard_lang::input::record::{FileName, RawRecord};
use guard_lang::input_schema::{
    Absent, Events, Field, FieldSource, InputSchema, Layout, Path, TimeUnit,
};
use guard_lang::types::Type;

fn pointer(text: &str) -> Path {
    Path::Pointer(text.split('/').skip(1).map(Into::into).collect())
}

fn schema() -> InputSchema {
    let field = |name: &str, path: &str, ty: Type| Field {
        name: name.into(),
        source: FieldSource::Event(pointer(path)),
        ty: ty.nullable(),
        absent: Absent::Null,
        unit: TimeUnit::Seconds,
    };
    InputSchema {
        layout: Layout {
            events: Some(Events::At(pointer("/traj"))),
            ..Layout::default()
        },
        fields: vec![
            field("role", "/role", Type::String),
            field("content", "/content", Type::String),
            field("call", "/tool_call_id", Type::String),
            field("name", "/name", Type::String),
            field("tool", "/tool_calls/0/function/name", Type::String),
            field("args", "/tool_calls/0/function/arguments", Type::String),
        ],
        meta: vec![
            field("task", "/task_id", Type::Int),
            field("reward", "/reward", Type::Float),
        ],
        ..InputSchema::default()
    }
}

/// One record a line.
fn corpus() -> Vec<String> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/data/tau-bench/gpt-4o-airline.json"
    );
    let records: Vec<serde_json::Value> = match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
        Err(_) => {
            println!("skipped: the recorded runs are not here; made-up runs are read");
            let text =
                "The reservation was changed as you asked.\nIs there \"anything\" else? ".repeat(4);
            let call = serde_json::json!([{"id": "call_1", "type": "function",
                "function": {"name": "get_user_details", "arguments": "{\"user_id\":\"a\"}"}}]);
            let event =
                serde_json::json!({"role": "assistant", "content": text, "tool_calls": call});
            (0..200)
                .map(|n| serde_json::json!({"task_id": n, "reward": 1.0, "traj": vec![event.clone(); 25]}))
                .collect()
        }
    };
    records.iter().map(ToString::to_string).collect()
}

fn parse(lines: &[String]) {
    for line in lines {
        black_box(serde_json::from_slice::<serde_json::Value>(line.as_bytes()).ok());
    }
}

fn project(lines: &[String], projection: &Projection, name: &FileName, buffers: &mut ReadBuffers) {
    let mut out = Vec::new();
    for (n, line) in (0..).zip(lines) {
        // As the splitter hands it over.
        let raw = RawRecord {
            bytes: line.as_bytes(),
            line: n + 1,
            ordinal: n,
            lines: 1,
        };
        projection.read(&raw, name, buffers, &mut out);
        black_box(&out);
        out.clear();
    }
}

/// What a piece of work costs this thread. Other processes do not count where the system tells (Linux).
fn time(work: impl FnOnce()) -> Duration {
    let on_cpu = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let nanos = text.split_whitespace().next()?.parse().ok()?;
        Some(Duration::from_nanos(nanos))
    };
    let (cpu, start) = (on_cpu(), Instant::now());
    work();
    match (cpu, on_cpu()) {
        (Some(before), Some(after)) if after > before => after - before,
        _ => start.elapsed(),
    }
}

fn main() {
    let lines = corpus();
    let bytes: usize = lines.iter().map(String::len).sum();
    let projection = match Projection::new(&schema()) {
        Ok(projection) => projection,
        Err(error) => {
            println!("{error}");
            return;
        }
    };
    let name = FileName::given("runs.jsonl");
    let mut buffers = ReadBuffers::default();
    let (mut theirs, mut ours) = (Duration::MAX, Duration::MAX);
    // Blocks long enough for a clock that ticks every few milliseconds.
    const ROUNDS: u32 = 24;
    for _ in 0..6 {
        let block = time(|| (0..ROUNDS).for_each(|_| parse(&lines)));
        theirs = theirs.min(block / ROUNDS);
        let block = time(|| {
            (0..ROUNDS).for_each(|_| project(&lines, &projection, &name, &mut buffers));
        });
        ours = ours.min(block / ROUNDS);
    }
    let rate = |time: Duration| bytes as f64 / time.as_secs_f64() / 1e6;
    println!(
        "one thread, {} lines, {:.1} MB: serde_json::Value {:.0} MB/s, projection {:.0} MB/s, ratio {:.3}",
        lines.len(),
        bytes as f64 / 1e6,
        rate(theirs),
        rate(ours),
        ours.as_secs_f64() / theirs.as_secs_f64(),
    );
    if std::env::args().any(|arg| arg == "--ratio") {
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("input");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("serde_json::Value", |bencher| {
        bencher.iter(|| parse(&lines))
    });
    group.bench_function("jiter, keys judged", |bencher| {
        bencher.iter(|| lines.iter().for_each(|line| jiter_walk(line.as_bytes())));
    });
    group.bench_function("projection", |bencher| {
        bencher.iter(|| project(&lines, &projection, &name, &mut buffers));
    });
    let file = lines.join("\n").into_bytes();
    group.bench_function("whole file, all threads", |bencher| {
        bencher.iter(|| {
            let mut n = 0;
            read_from(file.as_slice(), &name, &projection, &mut |unit| {
                black_box(&unit);
                n += 1;
            });
            n
        });
    });
    group.finish();
    criterion.final_summary();
}

/// What passing over a line costs with jiter when the keys of every object are looked at: the floor of a projection
/// built on it.
fn jiter_walk(bytes: &[u8]) {
    fn value(jiter: &mut jiter::Jiter<'_>, peek: jiter::Peek) -> Result<(), jiter::JiterError> {
        if peek == jiter::Peek::Object {
            let mut keys: Vec<u64> = Vec::new();
            let mut key = jiter.known_object()?.map(hash);
            while let Some(hash_of_key) = key {
                black_box(keys.contains(&hash_of_key));
                keys.push(hash_of_key);
                let peek = jiter.peek()?;
                value(jiter, peek)?;
                key = jiter.next_key()?.map(hash);
            }
            Ok(())
        } else if peek == jiter::Peek::Array {
            let mut next = jiter.known_array()?;
            while let Some(peek) = next {
                value(jiter, peek)?;
                next = jiter.array_step()?;
            }
            Ok(())
        } else {
            jiter.known_skip(peek)
        }
    }
    fn hash(key: &str) -> u64 {
        key.bytes()
            .fold(0, |hash, byte| hash << 5 ^ u64::from(byte))
    }
    let mut jiter = jiter::Jiter::new(bytes).with_allow_inf_nan();
    if let Ok(peek) = jiter.peek() {
        black_box(value(&mut jiter, peek).is_ok());
    }
}
