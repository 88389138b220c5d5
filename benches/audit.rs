//! Whole-process audit of a large corpus against the time that merely parsing its lines takes, in the same run.
//!
//! `cargo bench -p guard-benches --bench audit` makes a corpus of JSON Lines under `target/bench` (a recorded one blown up where
//! `../shared/data` is there, else a generated one), then prints: the time of `serde_json` for parsing every line to a
//! `Value`, of `guard audit` with one and with two threads, the ratios, and the peak memory. `GUARD` is the program (default
//! `target/dist/guard`), `GUARD_BENCH_MB` the size (default 1000).

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The records to repeat, without their opening brace.
fn records() -> io::Result<Vec<String>> {
    let recorded = root().join("../shared/data/tau-bench/gpt-4o-airline.json");
    let values: Vec<serde_json::Value> = if recorded.exists() {
        serde_json::from_reader(BufReader::new(File::open(recorded)?))?
    } else {
        println!("skipped: the recorded corpus is not there, a generated one is used");
        (0..50).map(generated).collect()
    };
    Ok(values
        .iter()
        .map(|value| value.to_string()[1..].to_owned())
        .collect())
}

fn generated(task: usize) -> serde_json::Value {
    let events: Vec<_> = (0..30)
        .map(|i| match i % 3 {
            0 => serde_json::json!({"role": "user", "content": format!("please go ahead with change {i} of {task} ").repeat(8)}),
            1 => serde_json::json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("c{i}"),
                "type": "function", "function": {"name": "get_reservation_details",
                "arguments": format!("{{\"reservation_id\": \"R{i}\"}}")}}]}),
            _ => serde_json::json!({"role": "tool", "tool_call_id": format!("c{}", i - 1), "name": "get_reservation_details",
                "content": "{\"status\": \"ok\"}".repeat(40)}),
        })
        .collect();
    serde_json::json!({"task_id": task, "trial": 0, "traj": events})
}

fn corpus(path: &Path, megabytes: u64) -> io::Result<()> {
    let records = records()?;
    let mut out = BufWriter::new(File::create(path)?);
    let mut written = 0u64;
    for round in 0u64.. {
        for record in &records {
            writeln!(out, "{{\"round\":{round},{record}")?;
            written += record.len() as u64 + 12;
        }
        if written >= megabytes * 1_000_000 {
            break;
        }
    }
    out.flush()
}

/// Time and peak resident memory (kB) of an audit.
fn audit(path: &Path, jobs: u32) -> io::Result<(Duration, u64)> {
    let start = Instant::now();
    let guard = std::env::var_os("GUARD").unwrap_or_else(|| "target/dist/guard".into());
    let mut child = Command::new(root().join(guard))
        .args(["audit", "benches/airline.guard"])
        .arg(path)
        .args(["--jobs", &jobs.to_string()])
        .current_dir(root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        let kb = fs::read_to_string(&status).ok().and_then(|text| {
            text.lines().find_map(|line| {
                line.strip_prefix("VmHWM:")?
                    .trim()
                    .trim_end_matches(" kB")
                    .parse()
                    .ok()
            })
        });
        peak = kb.unwrap_or(peak).max(peak);
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok((start.elapsed(), peak))
}

fn parse_to_values(path: &Path) -> io::Result<Duration> {
    let start = Instant::now();
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        std::hint::black_box(serde_json::from_slice::<serde_json::Value>(&line)?);
        line.clear();
    }
    Ok(start.elapsed())
}

fn main() -> io::Result<()> {
    let megabytes = match std::env::var("GUARD_BENCH_MB") {
        Ok(size) => size.parse().unwrap_or(1000),
        Err(_) => 1000,
    };
    let dir = root().join("target/bench");
    fs::create_dir_all(&dir)?;
    let path = dir.join(format!("airline-{megabytes}.jsonl"));
    if !path.exists() {
        corpus(&path, megabytes)?;
    }
    let size = fs::metadata(&path)?.len();
    let rounds = 3;
    let (mut parse, mut one, mut two) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let mut memory = (0, 0);
    for _ in 0..rounds {
        parse = parse.min(parse_to_values(&path)?);
        let (time, peak) = audit(&path, 1)?;
        (one, memory.0) = (one.min(time), memory.0.max(peak));
        let (time, peak) = audit(&path, 2)?;
        (two, memory.1) = (two.min(time), memory.1.max(peak));
    }
    println!("corpus: {} MB, best of {rounds}", size / 1_000_000);
    println!("serde_json to Value: {:.2} s", parse.as_secs_f64());
    println!(
        "guard audit --jobs 1: {:.2} s, ratio {:.2}, peak {} MB",
        one.as_secs_f64(),
        one.as_secs_f64() / parse.as_secs_f64(),
        memory.0 / 1000
    );
    println!(
        "guard audit --jobs 2: {:.2} s, {:.2} times as fast as with one, peak {} MB",
        two.as_secs_f64(),
        one.as_secs_f64() / two.as_secs_f64(),
        memory.1 / 1000
    );
    Ok(())
}
