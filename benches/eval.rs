//! What judging costs: 23 properties as agents have them, over synthetic events.
//!
//! `cargo bench -p guard-benches --bench eval`; prints nanoseconds an event and a property-step, and beside them what `serde_json` takes to
//! parse the same events. Then the 23 templates of `std.agent`, as published, over events that were read before.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/eval_judging/build.rs"]
mod build;

use std::time::{Duration, Instant};

use build::*;
use guard_lang::eval::{Limits, Program};
use guard_lang::hir::*;
use guard_lang::ids::*;
use guard_lang::types::Type;
use guard_lang::value::{Cell, Object, Value};
use guard_lang::verdict::{PropertyVerdict, Verdict};
use guard_lang::{check, front, modules::NoFiles};

const N: usize = 50_000;

struct Fields {
    kind: ExprId,
    tool: ExprId,
    text: ExprId,
    call: ExprId,
    args: ExprId,
    error: ExprId,
}

fn fields(build: &mut Build) -> Fields {
    let text = || Type::String.nullable();
    Fields {
        kind: build.field("kind", Type::String),
        tool: build.field("tool", text()),
        text: build.field("text", text()),
        call: build.field("call", text()),
        args: build.field("args", Type::Json),
        error: build.field("error", Type::Bool),
    }
}

fn member(build: &mut Build, args: ExprId, name: &str) -> ExprId {
    build.e(Expr::Member(args, name.into()), Type::Json)
}

fn one_of(build: &mut Build, e: ExprId, names: &[&str]) -> ExprId {
    let names = Value::list(names.iter().map(Value::string).collect());
    let names = build.e(Expr::Const(names), Type::List(Type::String.into()));
    build.b(Expr::In(e, names))
}

fn spec() -> Build {
    let mut build = Build::new();
    let b = &mut build;
    let f = fields(b);
    let called = b.is(f.kind, "call");
    let result = b.is(f.kind, "result");
    let message = b.is(f.kind, "message");
    let approval_e = b.is(f.kind, "approval");
    let risky = one_of(b, f.tool, &["wire_transfer", "delete_db", "send_email"]);
    let high_e = b.and(called, risky);
    let tool = |b: &mut Build, name: &str| {
        let is = b.is(f.tool, name);
        b.and(called, is)
    };
    let calls = b.letter(called, "called");
    let high = b.letter(high_e, "high_risk");
    let approval = b.letter(approval_e, "approval");
    let messages = b.letter(message, "message");
    let error = b.letter(f.error, "error");
    let named: Vec<FormulaId> = [
        "read_file",
        "write_file",
        "delete_db",
        "send_email",
        "login",
        "wire_transfer",
        "logout",
        "finish",
    ]
    .iter()
    .map(|name| {
        let e = tool(b, name);
        b.letter(e, name)
    })
    .collect();
    let [read, write, delete, mail, login, wire, logout, finish] = named[..] else {
        unreachable!()
    };
    let unary = |b: &mut Build, op, bound, a| b.f(Formula::Unary(op, bound, a));
    let binary = |b: &mut Build, op, x, y| b.f(Formula::Binary(op, None, x, y));
    let steps = |lo, hi| Some(Bound::Steps(lo, hi));
    // 1-4
    let p = b.never(delete);
    b.property("no_delete", p);
    let y = unary(b, Unary::Previously, None, approval);
    let p = b.implies(high, y);
    let p = b.always(p);
    b.property("approved", p);
    let not = b.f(Formula::Not(write));
    let p = binary(b, Binary::Unless, not, read);
    b.property("read_before_write", p);
    let later = b.eventually(None, mail);
    let p = b.f(Formula::And(delete, later));
    let p = b.never(p);
    b.property("no_mail_after_delete", p);
    // 5-6: one instance for each call
    let x = b.var(0);
    let mine = b.eq(f.call, x);
    let request_e = b.and(called, mine);
    let response_e = b.and(result, mine);
    let (request, response) = (
        b.letter(request_e, "request"),
        b.letter(response_e, "response"),
    );
    let p = b.responds(request, None, response);
    let id = b.property("answered", p);
    b.quantify(id, true, vec![vec![f.call]]);
    let p = b.responds(request, steps(1, 50), response);
    let id = b.property("answered_soon", p);
    b.quantify(id, true, vec![vec![f.call]]);
    // 7-8
    let p = b.responds(error, steps(0, 5), messages);
    b.property("told_soon", p);
    let next = unary(b, Unary::Next, None, error);
    let next = b.f(Formula::And(error, next));
    let next = unary(b, Unary::Next, None, next);
    let p = b.f(Formula::And(error, next));
    let p = b.never(p);
    b.property("three_errors", p);
    // 9
    let count = b.e(
        Expr::Count {
            of: called,
            window: None,
            since: None,
        },
        Type::Int,
    );
    let most = b.i(1_000_000);
    let e = b.b(Expr::Compare(Compare::Le, count, most));
    let letter = b.letter(e, "budget");
    let p = b.always(letter);
    b.property("budget", p);
    // 10-11
    let regex = b.spec.exprs.add_regex(r"sk-[A-Za-z0-9]{20}").unwrap();
    let e = b.b(Expr::Matches(f.text, regex));
    let e = b.and(message, e);
    let letter = b.letter(e, "secret");
    let p = b.never(letter);
    b.property("no_secret", p);
    let command = member(b, f.args, "command");
    let rm = b.s("rm -rf");
    let e = b.b(Expr::Contains(command, rm));
    let bash = tool(b, "bash");
    let e = b.and(bash, e);
    let letter = b.letter(e, "wipes");
    let p = b.never(letter);
    b.property("no_wipe", p);
    // 12
    let not = b.f(Formula::Not(wire));
    let p = binary(b, Binary::Unless, not, login);
    b.property("login_first", p);
    // 13
    let level = b.enumeration("Level", &["none", "sensitive", "credentials"], true);
    let [none, sensitive, credentials] = ["none", "sensitive", "credentials"].map(|name| {
        let value = en(&level, name);
        b.c(value)
    });
    let track = b.track("exposure", Type::Enum(level.clone()), none);
    let before = b.read(track, &[]);
    let reads = b.is(f.tool, "read_file");
    let path = member(b, f.args, "path");
    let env = b.s(".env");
    let env = b.b(Expr::Contains(path, env));
    let of = b.cond(env, credentials, sensitive, Type::Enum(level.clone()));
    let of = b.cond(reads, of, none, Type::Enum(level.clone()));
    let worst = b.e(
        Expr::Call(Builtin::Max, [before, of].into()),
        Type::Enum(level.clone()),
    );
    let update = b.cond(called, worst, before, Type::Enum(level.clone()));
    b.update(track, update);
    let leaked = b.eq(before, credentials);
    let mails = tool(b, "send_email");
    let e = b.and(leaked, mails);
    let letter = b.letter(e, "leak");
    let p = b.never(letter);
    b.property("leak", p);
    // 14-16
    let p = b.responds(error, steps(1, 3), calls);
    b.property("retried", p);
    let p = b.eventually(None, messages);
    b.property("says_something", p);
    let nothing = b.never(calls);
    let weak = unary(b, Unary::WeakNext, None, nothing);
    let p = b.implies(finish, weak);
    let p = b.always(p);
    b.property("nothing_after", p);
    // 17
    let text = || Type::String.nullable();
    let null = b.c(Value::Null);
    let owner = b.track("owner", text(), null);
    let param = b.e(Expr::Param(0), text());
    let same = b.eq(path, param);
    let writes = tool(b, "write_file");
    let takes = b.and(writes, same);
    let kept = b.read(owner, &[param]);
    let update = b.cond(takes, f.tool, kept, text());
    b.update(owner, update);
    b.spec.tracks[1].params = vec![("k".into(), text())];
    b.spec.tracks[1].compared = vec![vec![path]];
    let of = b.read(owner, &[path]);
    let foreign = b.is(of, "nobody");
    let letter = b.letter(foreign, "foreign");
    let p = b.never(letter);
    b.property("owned", p);
    // 18-19
    let names: Vec<String> = (0..20).map(|n| format!("tool_{n}")).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.extend([
        "read_file",
        "write_file",
        "send_email",
        "bash",
        "login",
        "logout",
        "wire_transfer",
        "finish",
    ]);
    let allowed = one_of(b, f.tool, &names);
    let e = b.b(Expr::Implies(called, allowed));
    let letter = b.letter(e, "allowed");
    let p = b.always(letter);
    b.property("allowed", p);
    let to = member(b, f.args, "to");
    let domain = b.s("@corp.example");
    let inside = b.b(Expr::EndsWith(to, domain));
    let e = b.b(Expr::Implies(mails, inside));
    let letter = b.letter(e, "inside");
    let p = b.always(letter);
    b.property("inside", p);
    // 20-23
    let last = b.e(Expr::Before(f.call), text());
    let again = b.eq(last, f.call);
    let e = b.and(called, again);
    let letter = b.letter(e, "twice");
    let p = b.never(letter);
    b.property("not_twice", p);
    let out = b.f(Formula::Not(logout));
    let since = binary(b, Binary::BackTo, out, login);
    let p = b.implies(write, since);
    let p = b.always(p);
    b.property("logged_in", p);
    let recent = unary(b, Unary::Once, steps(0, 10), calls);
    let p = b.implies(error, recent);
    let p = b.always(p);
    b.property("errors_follow_calls", p);
    let kinds = one_of(b, f.kind, &["message", "call", "result", "approval"]);
    let letter = b.letter(kinds, "kinds");
    let p = b.always(letter);
    b.property("kinds", p);
    build
}

/// Events of an agent that behaves: nothing of this becomes final early.
fn events() -> (Vec<Vec<Cell>>, String) {
    let mut rows = Vec::with_capacity(N);
    let mut json = String::new();
    let mut seed = 7u64;
    let mut next = |n: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    let object = |name: &str, value: &str| {
        Value::Object(Object::new(vec![(name.into(), Value::string(value))]).unwrap())
    };
    let mut pending: Option<String> = None;
    for index in 0..N {
        let (kind, tool, text, call, args) = if let Some(call) = pending.take() {
            let text = format!(
                "the result of call {index}: all is well, and here are some more words of output to carry"
            );
            ("result", None, Some(text), Some(call), Value::Null)
        } else {
            match next(3) {
                0 => {
                    let text = format!(
                        "I shall now look at file {index} and then decide what to do about it, step by step"
                    );
                    ("message", None, Some(text), None, Value::Null)
                }
                _ => {
                    let call = format!("call_{index:08x}_abcdefgh");
                    pending = Some(call.clone());
                    let (tool, args) = match next(3) {
                        0 => (
                            "read_file",
                            object("path", &format!("/src/file_{}.rs", next(50))),
                        ),
                        1 => (
                            "bash",
                            object("command", "cargo test --workspace --all-features"),
                        ),
                        _ => ("tool_7", object("query", "how does one do this")),
                    };
                    ("call", Some(tool), None, Some(call), args)
                }
            }
        };
        let string = |text: Option<&str>| k(text.map_or(Value::Null, Value::string));
        let line = serde_json::json!({
            "kind": kind, "tool": tool, "text": text, "call": call, "error": false,
            "args": if args.is_null() { serde_json::Value::Null } else { serde_json::from_str(&args.to_string()).unwrap() },
        });
        json.push_str(&line.to_string());
        json.push('\n');
        rows.push(vec![
            string(Some(kind)),
            string(tool),
            string(text.as_deref()),
            string(call.as_deref()),
            k(args),
            bit(Some(false)),
        ]);
    }
    (rows, json)
}

fn best(mut run: impl FnMut() -> Duration) -> Duration {
    (0..7).map(|_| run()).min().unwrap()
}

/// The time to judge traces of a few hundred events, each made just before, as a reader would.
fn judge_all(program: &guard_lang::eval::Program, rows: &[Vec<Cell>]) -> Duration {
    let mut total = Duration::ZERO;
    for trace in rows.chunks(250) {
        // No call is left without a result: violations cost their explanation.
        let called = trace.last().is_some_and(|row| row[0] == t("call"));
        let record = record(trace[..trace.len() - usize::from(called)].to_vec());
        let start = Instant::now();
        std::hint::black_box(program.judge(record).unwrap());
        total += start.elapsed();
    }
    total
}

/// The 23 templates as they are published.
const TEMPLATES: &str = r#"
use std.agent.{phi1, phi2, phi3, phi4, phi5, phi6, phi7, phi8, phi9, phi10, phi11, phi12, phi13, phi14, phi15, phi16, phi17, phi18, phi19, phi20, phi21, phi22, phi23}
event { kind: string  tool: string  fine: bool }
property p1 = phi1(kind == "memory_write", not fine)
property p2 = phi2(kind == "memory_read", kind == "check")
property p3 = phi3(kind == "full", kind == "flush")
property p4 = phi4(kind == "memory_write", kind == "ack")
property p5 = phi5(kind == "memory_read" and not fine)
property p6 = phi6(kind == "shared_write", fine)
property p7 = phi7(kind == "call" and tool == "pay", kind == "approval")
property p8 = phi8(kind == "call" and tool == "delete", kind == "call" and tool == "mail")
property p9 = phi9(kind == "call", tool, ["search", "pay", "http", "exec", "save"])
property p10 = phi10(kind == "call" and tool == "exec", fine)
property p11 = phi11(kind == "call" and tool == "http", fine)
property p12 = phi12(kind == "call" and tool == "save", fine)
property p13 = phi13(kind == "db_write", kind in ["commit", "rollback"])
property p14 = phi14(kind == "call", kind == "result")
property p15 = phi15(kind == "skill", tool, ["ocr", "asr"])
property p16 = phi16(kind == "auth", fine)
property p17 = phi17(kind == "chain", fine)
property p18 = phi18(kind == "call", kind == "result", 50)
property p19 = phi19(kind == "critical", kind == "confirm", 5)
property p20 = phi20(kind == "query", not fine)
property p21 = phi21(kind == "pii", fine)
property p22 = phi22(kind == "escalate", fine)
property p23 = phi23(kind == "final", kind == "summary")
"#;

/// Events of an agent that keeps to the templates: short scenes in a random order, so that requests and answers of all of
/// them are met.
fn scenes() -> Vec<Vec<Cell>> {
    const SCENES: [&[&str]; 16] = [
        &["memory_write", "ack"],
        &["memory_read", "check"],
        &["full", "flush"],
        &["shared_write"],
        &["approval", "call pay", "result"],
        &["call search", "result"],
        &["call search", "message", "call http", "message", "result"],
        &["call exec", "call save", "message", "result"],
        &["db_write", "message", "commit"],
        &["db_write", "db_write", "rollback"],
        &["skill ocr", "message", "skill asr"],
        &["auth", "chain"],
        &["critical", "message", "message", "confirm"],
        &["query", "pii"],
        &["escalate"],
        &["summary", "final", "message"],
    ];
    let mut random = 1u64;
    let mut rows = Vec::new();
    while rows.len() < N {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        for event in SCENES[(random >> 60) as usize] {
            let (kind, tool) = event.split_once(' ').unwrap_or((event, ""));
            rows.push(vec![t(kind), t(tool), bit(Some(true))]);
        }
    }
    rows.truncate(N);
    rows
}

/// One step of all 23 templates, over an event that was read.
fn templates() {
    let checked = front("bench.guard", TEMPLATES, &NoFiles, check::Limits::default());
    let spec = checked.spec.unwrap();
    let program = Program::compile(&spec, &Limits::default()).unwrap();
    let rows = scenes();
    let report = program.judge(record(rows.clone())).unwrap();
    let violated = |verdict: &&PropertyVerdict| verdict.verdict == Verdict::Violated;
    // The last answers may be missing, and nothing else.
    let n = report.verdicts.iter().filter(violated).count();
    let settled = report
        .verdicts
        .iter()
        .filter(violated)
        .find(|verdict| verdict.at < Some(N as u32 - 1));
    assert!(settled.is_none(), "{settled:?}");
    let time = best(|| {
        let record = record(rows.clone());
        let start = Instant::now();
        std::hint::black_box(program.judge(record).unwrap());
        start.elapsed()
    });
    println!(
        "templates   {:7.1} ns for one step of all {} over a read event ({n} end unanswered)",
        time.as_nanos() as f64 / N as f64,
        report.verdicts.len()
    );
}

/// Requests at every other event, each with a window that opens so many events later: what a step costs does not grow.
fn late_windows() {
    for (lo, hi) in [(5u32, 600), (100, 1_000), (10_000, 20_000)] {
        let text = format!(
            "event {{ kind: string }}\nproperty late = G (kind == \"ask\" -> F[{lo},{hi}] kind == \"tell\")"
        );
        let checked = front("bench.guard", &text, &NoFiles, check::Limits::default());
        let program = Program::compile(&checked.spec.unwrap(), &Limits::default()).unwrap();
        let mut random = 1u64;
        let event = |n| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            vec![t(match (n % 400, random >> 63) {
                (0, _) => "tell",
                // What is not answered by the end would cost its explanation.
                (_, 0) if n + hi as usize + 400 < N => "ask",
                _ => "work",
            })]
        };
        let rows: Vec<Vec<Cell>> = (0..N).map(event).collect();
        let time = best(|| {
            let record = record(rows.clone());
            let start = Instant::now();
            std::hint::black_box(program.judge(record).unwrap());
            start.elapsed()
        });
        println!(
            "late        {:7.1} ns an event for G (ask -> F[{lo},{hi}] tell)",
            time.as_nanos() as f64 / N as f64
        );
    }
}

fn main() {
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    let build = spec();
    let program = build.program();
    let n_properties = build.spec.properties.len();
    let (rows, json) = events();
    let parse = best(|| {
        let start = Instant::now();
        for line in json.lines() {
            std::hint::black_box(serde_json::from_str::<serde_json::Value>(line).unwrap());
        }
        start.elapsed()
    });
    let all = best(|| judge_all(&program, &rows));
    let report = program.judge(record(rows.clone())).unwrap();
    let ns = |time: Duration| time.as_nanos() as f64 / N as f64;
    println!(
        "{n_properties} properties, {N} events, {} bytes of JSON an event",
        json.len() / N
    );
    println!(
        "judge       {:7.1} ns an event, {:5.1} ns a property-step",
        ns(all),
        ns(all) / n_properties as f64
    );
    println!("serde_json  {:7.1} ns an event", ns(parse));
    let open = report
        .verdicts
        .iter()
        .filter(|verdict| verdict.at == Some(N as u32 - 1))
        .count();
    println!(
        "{open} of {} verdicts open to the end, {} problems",
        report.verdicts.len(),
        report.problems.len()
    );
    templates();
    late_windows();
    // Each property alone.
    for index in 0..n_properties {
        let mut alone = spec();
        let property = alone.spec.properties.swap_remove(index);
        alone.spec.properties = vec![property];
        let program = alone.program();
        let time = best(|| judge_all(&program, &rows));
        println!("{:7.1} ns  {}", ns(time), alone.spec.properties[0].name);
    }
}
