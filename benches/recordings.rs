//! Every built-in reader: whole-process audits of recordings with 23 properties against the time that `serde_json` takes to parse
//! the same bytes to `Value`, in the same run.
//!
//! `cargo bench -p guard-benches --bench recordings [-- FORMAT …]` writes the same conversations in each format under
//! `target/bench/recordings` (recorded ones where `../shared/data` is there, else made-up ones): one file of JSON Lines where a
//! document holds whole traces, a file for each session where the lines of a file belong together. Then it prints for each
//! reader the processor time of `serde_json` and of `guard audit` with one thread, their ratio, and how many times as fast
//! two threads are by the clock. Each is the best of three.
//! `GUARD` is the program (default `target/dist/guard`), `GUARD_BENCH_MB` the size of each corpus (default 100).

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

/// A conversation: chat messages of OpenAI.
type Session = Vec<Value>;

/// A way to write one conversation: the lines of a document, or of a file.
type Writer = fn(&str, &Session) -> Vec<Value>;

/// The name of each reader, whether each session is a file, and the writer.
const FORMATS: [(&str, bool, Writer); 15] = [
    ("native", false, native),
    ("openai", false, openai),
    ("openai_responses", false, responses),
    ("anthropic", false, anthropic),
    ("anthropic_managed", true, managed),
    ("claude_code", true, claude_code),
    ("claude_code_lines", true, claude_code),
    ("langchain", false, langchain),
    ("mcp", true, mcp),
    ("otel", true, otel),
    ("swe", false, swe),
    ("codex", true, codex),
    ("gemini", false, gemini),
    ("inspect", false, inspect),
    ("atif", false, atif),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sessions() -> io::Result<Vec<Session>> {
    let recorded = root().join("../shared/data/tau-bench/gpt-4o-airline.json");
    if !recorded.exists() {
        println!("skipped: the recorded corpus is not there, a made-up one is used");
        return Ok((0..50).map(made_up).collect());
    }
    let records: Vec<Value> = serde_json::from_reader(BufReader::new(File::open(recorded)?))?;
    let session = |record: &Value| record["traj"].as_array().cloned().unwrap_or_default();
    Ok(records.iter().map(session).collect())
}

fn made_up(task: usize) -> Session {
    (0..30)
        .map(|i| match i % 3 {
            0 => json!({"role": "user", "content": format!("please go ahead with change {i} of {task}\n").repeat(8)}),
            1 => json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("c{i}"), "type": "function",
                "function": {"name": "get_reservation_details", "arguments": format!("{{\"reservation_id\": \"R{i}\"}}")}}]}),
            _ => json!({"role": "tool", "tool_call_id": format!("c{}", i - 1), "name": "get_reservation_details",
                "content": "{\"status\": \"ok\"}".repeat(40)}),
        })
        .collect()
}

/// The calls of a message: id, tool, arguments as text and as value.
fn calls(message: &Value) -> Vec<(&str, &str, &str, Value)> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    calls
        .map(|call| {
            let args = str(&call["function"]["arguments"]);
            let read = serde_json::from_str(args).unwrap_or_default();
            (str(&call["id"]), str(&call["function"]["name"]), args, read)
        })
        .collect()
}

fn str(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Items of a conversation: one for each text, call and result.
fn items(
    session: &Session,
    text: impl Fn(&str, &str) -> Value,
    call: impl Fn(&str, &str, &str, Value) -> Value,
    result: impl Fn(&str, &str, &str) -> Value,
) -> Vec<Value> {
    let mut items = Vec::new();
    for message in session {
        let (role, said) = (str(&message["role"]), str(&message["content"]));
        if role == "tool" {
            items.push(result(
                str(&message["tool_call_id"]),
                str(&message["name"]),
                said,
            ));
            continue;
        }
        if !said.is_empty() {
            items.push(text(role, said));
        }
        items.extend(
            calls(message)
                .into_iter()
                .map(|(id, tool, written, args)| call(id, tool, written, args)),
        );
    }
    items
}

fn native(id: &str, session: &Session) -> Vec<Value> {
    let events = items(
        session,
        |role, text| json!({"kind": "message", "role": role, "text": text}),
        |id, tool, _, args| json!({"kind": "call", "role": "assistant", "tool": tool, "args": args, "call": id}),
        |id, tool, text| json!({"kind": "result", "role": "tool", "tool": tool, "text": text, "call": id}),
    );
    vec![json!({"id": id, "events": events})]
}

fn openai(id: &str, session: &Session) -> Vec<Value> {
    vec![json!({"id": id, "messages": session})]
}

fn responses(_: &str, session: &Session) -> Vec<Value> {
    let items = items(
        session,
        |role, text| {
            let kind = if role == "assistant" {
                "output_text"
            } else {
                "input_text"
            };
            json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
        },
        |id, tool, args, _| json!({"type": "function_call", "call_id": id, "name": tool, "arguments": args}),
        |id, _, text| json!({"type": "function_call_output", "call_id": id, "output": text}),
    );
    vec![Value::Array(items)]
}

/// The messages of a conversation in the shape of Anthropic's. Instructions stand outside of the messages there, so they are
/// said by the user.
fn blocks(session: &Session) -> Vec<Value> {
    let said = |role: &str| {
        if role == "assistant" {
            "assistant"
        } else {
            "user"
        }
    };
    items(
        session,
        |role, text| json!({"role": said(role), "content": [{"type": "text", "text": text}]}),
        |id, tool, _, args| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": tool, "input": args}]}),
        |id, _, text| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]}),
    )
}

fn anthropic(id: &str, session: &Session) -> Vec<Value> {
    vec![json!({"id": id, "model": "m", "messages": blocks(session)})]
}

fn moment(n: usize) -> String {
    format!(
        "2026-01-01T{:02}:{:02}:{:02}.125Z",
        n / 3600 % 24,
        n / 60 % 60,
        n % 60
    )
}

fn managed(id: &str, session: &Session) -> Vec<Value> {
    let item = |kind: &str, rest: Value| {
        let mut item = json!({"id": "e", "type": kind, "processed_at": moment(0)});
        if let (Value::Object(item), Value::Object(rest)) = (&mut item, rest) {
            item.extend(rest);
        }
        json!(["client.beta.sessions.events.stream", item])
    };
    let mut lines = vec![
        json!(["client.beta.sessions.create", {"id": id, "type": "session", "title": "bench"}]),
    ];
    lines.extend(items(
        session,
        |role, text| {
            let kind = if role == "assistant" {
                "agent.message"
            } else {
                "user.message"
            };
            item(kind, json!({"content": [{"type": "text", "text": text}]}))
        },
        |id, tool, _, args| {
            item(
                "agent.mcp_tool_use",
                json!({"id": id, "name": tool, "input": args}),
            )
        },
        |id, _, text| {
            item(
                "agent.mcp_tool_result",
                json!({"mcp_tool_use_id": id, "content": [{"type": "text", "text": text}]}),
            )
        },
    ));
    lines
}

fn claude_code(id: &str, session: &Session) -> Vec<Value> {
    let mut lines = Vec::new();
    for (n, message) in blocks(session).into_iter().enumerate() {
        let parent = n.checked_sub(1).map(|n| format!("{id}-{n}"));
        let kind = message["role"].clone();
        lines.push(json!({"type": kind, "uuid": format!("{id}-{n}"), "parentUuid": parent, "sessionId": id, "cwd": "/work/project",
            "version": "2.0.1", "gitBranch": "main", "isSidechain": false, "userType": "external", "timestamp": moment(n), "message": message}));
    }
    lines
}

fn langchain(id: &str, session: &Session) -> Vec<Value> {
    let messages = items(
        session,
        |role, text| {
            let kind = match role {
                "assistant" => "ai",
                "user" => "human",
                other => other,
            };
            json!({"type": kind, "content": text})
        },
        |id, tool, _, args| json!({"type": "ai", "content": "", "tool_calls": [{"name": tool, "args": args, "id": id, "type": "tool_call"}]}),
        |id, tool, text| json!({"type": "tool", "content": text, "tool_call_id": id, "name": tool, "status": "success"}),
    );
    vec![json!({"id": id, "messages": messages})]
}

fn mcp(_: &str, session: &Session) -> Vec<Value> {
    let line =
        |to: &str, message: Value| json!({"ts": moment(0), "direction": to, "message": message});
    items(
        session,
        |_, text| {
            line(
                "server_to_client",
                json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": text}}),
            )
        },
        |id, tool, _, args| {
            line(
                "client_to_server",
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": args}}),
            )
        },
        |id, _, text| {
            line(
                "server_to_client",
                json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}}),
            )
        },
    )
}

fn otel(id: &str, session: &Session) -> Vec<Value> {
    let digits: u64 = id
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0, |n, digit| n * 10 + u64::from(digit - b'0'));
    let span = |name: &str, attributes: Value| {
        json!({"name": name, "context": {"trace_id": format!("{digits:032x}"), "span_id": "00f067aa0ba902b7"}, "parent_id": null,
            "start_time": moment(0), "end_time": moment(1), "attributes": attributes, "status": {"status_code": "OK"}, "events": [],
            "links": [], "resource": {"attributes": {"service.name": "bench", "telemetry.sdk.language": "python"}}})
    };
    let mut results = session.iter().filter(|message| message["role"] == "tool");
    let mut spans = Vec::new();
    for message in session {
        if message["role"] == "assistant" && !str(&message["content"]).is_empty() {
            spans.push(span("chat m", json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
                "gen_ai.output.messages": json!([{"role": "assistant", "parts": [{"type": "text", "content": message["content"]}]}]).to_string()})));
        }
        for (id, tool, args, _) in calls(message) {
            let result = results.next().map(|result| result["content"].clone());
            spans.push(span(&format!("execute_tool {tool}"), json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool,
                "gen_ai.tool.call.id": id, "gen_ai.tool.call.arguments": args, "gen_ai.tool.call.result": result})));
        }
    }
    spans
}

fn swe(_: &str, session: &Session) -> Vec<Value> {
    let mut results = session.iter().filter(|message| message["role"] == "tool");
    let said = session
        .iter()
        .filter(|message| message["role"] == "assistant");
    let steps: Vec<Value> = said
        .map(|message| {
            let action = calls(message).first().map(|(_, tool, args, _)| format!("{tool} {args}"));
            let seen = action.as_ref().and_then(|_| results.next()).map(|result| &result["content"]);
            json!({"action": action.unwrap_or_default(), "observation": seen, "response": message["content"], "state": "{}",
                "thought": message["content"].as_str().unwrap_or_default()})
        })
        .collect();
    vec![json!({"environment": "bench", "trajectory": steps, "info": {"exit_status": "submitted"}})]
}

fn codex(id: &str, session: &Session) -> Vec<Value> {
    let mut lines = vec![
        json!({"timestamp": moment(0), "type": "session_meta", "payload": {"id": id, "cwd": "/work/project", "cli_version": "1"}}),
    ];
    if let Some(Value::Array(items)) = responses(id, session).into_iter().next() {
        let line = |(n, payload)| json!({"timestamp": moment(n), "type": "response_item", "payload": payload});
        lines.extend(items.into_iter().enumerate().map(line));
    }
    lines
}

fn gemini(id: &str, session: &Session) -> Vec<Value> {
    let result = |id: &str| {
        session
            .iter()
            .find(|message| message["tool_call_id"] == id)
            .map(|message| message["content"].clone())
    };
    let mut messages = Vec::new();
    for (n, message) in session
        .iter()
        .filter(|message| message["role"] != "tool")
        .enumerate()
    {
        let kind = if message["role"] == "assistant" {
            "gemini"
        } else {
            "user"
        };
        let calls: Vec<Value> = calls(message)
            .into_iter()
            .map(|(id, tool, _, args)| {
                json!({"id": id, "name": tool, "args": args, "status": "success", "timestamp": moment(n),
                    "result": [{"functionResponse": {"id": id, "name": tool, "response": {"output": result(id)}}}]})
            })
            .collect();
        messages.push(json!({"id": n.to_string(), "timestamp": moment(n), "type": kind, "content": str(&message["content"]), "toolCalls": calls}));
    }
    vec![json!({"sessionId": id, "projectHash": "h", "messages": messages})]
}

fn inspect(id: &str, session: &Session) -> Vec<Value> {
    let messages: Vec<Value> = session
        .iter()
        .map(|message| {
            let calls: Vec<Value> = calls(message)
                .into_iter()
                .map(|(id, tool, _, args)| json!({"id": id, "function": tool, "arguments": args, "type": "function"}))
                .collect();
            json!({"id": "m", "role": message["role"], "content": str(&message["content"]), "tool_calls": calls,
                "tool_call_id": message["tool_call_id"], "function": message["name"], "source": "generate"})
        })
        .collect();
    vec![
        json!({"version": 2, "status": "success", "eval": {"task": "bench", "model": "m", "created": moment(0)},
        "samples": [{"id": id, "epoch": 1, "input": "i", "target": "t", "messages": messages, "metadata": {}}]}),
    ]
}

fn atif(id: &str, session: &Session) -> Vec<Value> {
    let mut steps: Vec<Value> = Vec::new();
    for message in session {
        if message["role"] == "tool" {
            if let Some(step) = steps.last_mut() {
                step["observation"] = json!({"results": [{"source_call_id": message["tool_call_id"], "content": message["content"]}]});
            }
            continue;
        }
        let calls: Vec<Value> = calls(message)
            .into_iter()
            .map(|(id, tool, _, args)| json!({"tool_call_id": id, "function_name": tool, "arguments": args}))
            .collect();
        let source = if message["role"] == "assistant" {
            "agent"
        } else {
            str(&message["role"])
        };
        steps.push(
            json!({"step_id": steps.len() + 1, "timestamp": moment(steps.len()), "source": source,
            "message": str(&message["content"]), "tool_calls": calls}),
        );
    }
    vec![
        json!({"schema_version": "ATIF-v1.7", "session_id": id, "agent": {"name": "bench", "version": "1", "model_name": "m"}, "steps": steps}),
    ]
}

/// Writes a corpus. Returns its size.
fn corpus(
    folder: &Path,
    apart: bool,
    write: Writer,
    sessions: &[Session],
    bytes: u64,
) -> io::Result<u64> {
    if folder.exists() {
        return fs::read_dir(folder)?
            .map(|file| Ok(file?.metadata()?.len()))
            .sum();
    }
    fs::create_dir_all(folder)?;
    let mut out = BufWriter::new(File::create(folder.join("00000.jsonl"))?);
    let (mut written, mut n) = (0, 0usize);
    while written < bytes {
        for session in sessions {
            if apart && n > 0 {
                out.flush()?;
                out = BufWriter::new(File::create(folder.join(format!("{n:05}.jsonl")))?);
            }
            for line in write(&format!("session-{n}"), session) {
                let line = line.to_string();
                written += line.len() as u64 + 1;
                writeln!(out, "{line}")?;
            }
            n += 1;
        }
    }
    out.flush()?;
    Ok(written)
}

/// Seconds of processor so far: of this process, and of those that it waited for (Linux). Other programs do not count.
fn on_cpu() -> Option<(f64, f64)> {
    const TICKS: f64 = 100.0;
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
    let seconds = |at: usize| Some(fields.get(at)?.parse::<f64>().ok()? / TICKS);
    Some((seconds(11)? + seconds(12)?, seconds(13)? + seconds(14)?))
}

/// Seconds that work takes: of processor where the system tells, and by the clock.
fn time(work: impl FnOnce() -> io::Result<()>) -> io::Result<(f64, f64)> {
    let (before, start) = (on_cpu(), Instant::now());
    work()?;
    let clock = start.elapsed().as_secs_f64();
    let spent = before.zip(on_cpu());
    let spent =
        spent.map(|((own, others), (own_now, others_now))| own_now - own + others_now - others);
    Ok((spent.unwrap_or(clock), clock))
}

fn parse_to_values(folder: &Path) -> io::Result<()> {
    for file in fs::read_dir(folder)? {
        let bytes = fs::read(file?.path())?;
        for line in bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            std::hint::black_box(serde_json::from_slice::<Value>(line)?);
        }
    }
    Ok(())
}

fn audit(folder: &Path, from: &str, jobs: u32) -> io::Result<()> {
    let guard = std::env::var_os("GUARD").unwrap_or_else(|| "target/dist/guard".into());
    let status = Command::new(root().join(guard))
        .args(["audit", "benches/recordings.guard", "--from", from])
        .arg(folder)
        .args(["--jobs", &jobs.to_string()])
        .current_dir(root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    // 1: properties are violated.
    match status.code() {
        Some(0 | 1) => Ok(()),
        _ => Err(io::Error::other(format!(
            "guard audit of `{from}` ended with {status}"
        ))),
    }
}

fn main() -> io::Result<()> {
    let megabytes: u64 = match std::env::var("GUARD_BENCH_MB") {
        Ok(size) => size.parse().map_err(io::Error::other)?,
        Err(_) => 100,
    };
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let sessions = sessions()?;
    println!(
        "{:<18} {:>6} {:>12} {:>8} {:>6} {:>14}",
        "reader", "MB", "serde_json s", "guard s", "ratio", "two threads"
    );
    for (from, apart, write) in FORMATS {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == from) {
            continue;
        }
        let folder = root().join(format!("target/bench/recordings/{from}-{megabytes}"));
        let bytes = corpus(&folder, apart, write, &sessions, megabytes * 1_000_000)?;
        let least =
            |best: (f64, f64), (cpu, clock): (f64, f64)| (best.0.min(cpu), best.1.min(clock));
        let mut best = [(f64::MAX, f64::MAX); 3];
        for _ in 0..3 {
            best[0] = least(best[0], time(|| parse_to_values(&folder))?);
            best[1] = least(best[1], time(|| audit(&folder, from, 1))?);
            best[2] = least(best[2], time(|| audit(&folder, from, 2))?);
        }
        let [(parse, _), (one, clock), (_, clock_of_two)] = best;
        println!(
            "{from:<18} {:>6} {parse:>12.2} {one:>8.2} {:>6.2} {:>14.2}",
            bytes / 1_000_000,
            one / parse,
            clock / clock_of_two
        );
    }
    Ok(())
}
