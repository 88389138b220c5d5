//! `guard monitor` on real pipes and files: the protocol, snapshots, journals and logs, and recovery after the process
//! is killed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::support::cli::Folder;

const PAY: &str = r#"event { kind: string  tool: string?  id: string? }
property approved = G (tool == "pay" -> Y kind == "ok")
property answered = forall i: G (kind == "ask" and id == i -> F[0,40] (kind == "answer" and id == i))
track paid: int = 0 then if tool == "pay" then paid + 1 else paid
enforce approved { violated => block "{tool} without an ok" }
enforce answered { presumably_violated for 20 steps => warn "{i} waits" }
enforce when paid > 3 => reflect "{paid} payments"
"#;

#[test]
fn one_line_out_for_each_line_in() {
    let folder = Folder::new(&[("pay.guard", PAY)]);
    let input = r#"{"trace":"a","kind":"idle"}
{"phase":"before","event":{"trace":"a","kind":"call","tool":"pay"}}

{"trace":"a","kind":"ok"}
{"phase":"before","event":{"trace":"a","kind":"call","tool":"pay"}}
{"phase":"commit","proposal":1,"event":{"trace":"a","kind":"call","tool":"pay"}}
not json
{"trace":"a","end":true}
"#;
    let run = folder.guard_with(&["monitor", "pay.guard", "--clock", "none"], input);
    assert_eq!((run.code, run.err.as_str()), (3, ""));
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(
        lines[0],
        r#"{"v":1,"trace":"a","step":0,"decision":"allow","clauses":[],"risk":{},"state":null,"verdicts":{"approved":"presumably_satisfied","answered":"presumably_satisfied"}}"#
    );
    assert_eq!(
        lines[1],
        r#"{"v":1,"trace":"a","step":1,"decision":"block","clauses":[{"name":"approved","action":"block","message":"pay without an ok"}],"risk":{},"state":null,"verdicts":{"approved":"violated","answered":"presumably_satisfied"},"phase":"before"}"#
    );
    assert!(lines[3].contains(r#""decision":"allow""#) && lines[3].contains(r#""proposal":1"#));
    assert!(
        lines[4].contains(r#""step":2,"decision":"allow""#),
        "{}",
        lines[4]
    );
    assert!(lines[5].starts_with(r#"{"v":1,"trace":null,"step":null,"decision":"block""#));
    assert!(
        lines[6].contains(r#""phase":"end""#) && lines[6].contains(r#""approved":"satisfied""#)
    );
    assert_eq!(lines.len(), 7);

    let run = folder.guard_with(
        &["monitor", "pay.guard", "--format", "human"],
        "{\"trace\":\"a\",\"kind\":\"call\",\"tool\":\"pay\"}\n",
    );
    assert_eq!(
        (run.code, run.out.as_str()),
        (1, "a 0 block  [block] approved: pay without an ok\n")
    );
}

#[test]
fn of_long_lines_what_happened_is_recorded() {
    let folder = Folder::new(&[("pay.guard", PAY)]);
    let long = format!(
        "{{\"kind\":\"{}\"}}\n{{\"kind\":\"ok\"}}\n",
        "x".repeat(100_000)
    );
    let run = folder.guard_with(
        &["monitor", "pay.guard", "--max-record-bytes", "200"],
        &long,
    );
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!((run.code, lines.len()), (3, 2));
    assert!(lines[0].contains("longer than 200 bytes"), "{}", lines[0]);
    assert!(lines[1].contains(r#""decision":"allow""#), "{}", lines[1]);
    // The approval counts although something beside it is too long, and an action that is too long is denied.
    let x = "x".repeat(500);
    let long = [
        format!(r#"{{"trace":"a","kind":"ok","tool":"ask","note":"{x}"}}"#),
        r#"{"phase":"act","event":{"trace":"a","kind":"call","tool":"pay"}}"#.to_owned(),
        format!(r#"{{"phase":"after","event":{{"trace":"b","kind":"ok","note":"{x}"}}}}"#),
        format!(
            r#"{{"phase":"act","event":{{"trace":"b","kind":"call","tool":"pay","note":"{x}"}}}}"#
        ),
        r#"{"phase":"act","event":{"trace":"b","kind":"call","tool":"pay"}}"#.to_owned(),
        format!("[{x}]"),
    ];
    let args = ["monitor", "pay.guard", "--max-record-bytes", "200"];
    let run = folder.guard_with(&args, &(long.join("\n") + "\n"));
    let steps: Vec<(String, serde_json::Value)> = run
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|told| (told["decision"].to_string(), told["step"].clone()))
        .collect();
    let step = serde_json::Value::from;
    let (allow, block) = ("\"allow\"".to_owned(), "\"block\"".to_owned());
    assert_eq!(
        steps,
        [
            (allow.clone(), step(0)),
            (allow.clone(), step(1)),
            (allow.clone(), step(0)),
            (block.clone(), serde_json::Value::Null),
            (allow, step(1)),
            (block, serde_json::Value::Null),
        ],
        "{}",
        run.out
    );
}

/// A monitor at the other end of two pipes.
struct Live {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Live {
    fn start(folder: &Folder, args: &[&str]) -> Live {
        let mut child = Command::new(env!("CARGO_BIN_EXE_guard"))
            .current_dir(folder.path())
            .arg("monitor")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Live {
            to: child.stdin.take(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn send(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        // A monitor that was killed takes nothing more.
        let _ = to.write_all(format!("{line}\n").as_bytes());
    }

    fn receive(&mut self) -> Option<String> {
        let mut line = String::new();
        let n = self.from.read_line(&mut line).unwrap();
        (n > 0 && line.ends_with('\n')).then(|| line.trim_end().to_owned())
    }

    fn finish(mut self) -> i32 {
        self.to = None;
        while self.receive().is_some() {}
        self.child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn answers_come_before_the_next_question() {
    let folder = Folder::new(&[("pay.guard", PAY)]);
    let mut live = Live::start(&folder, &["pay.guard"]);
    for _ in 0..3 {
        live.send(r#"{"trace":"a","kind":"idle"}"#);
        assert!(live.receive().unwrap().contains(r#""decision":"allow""#));
    }
    assert_eq!(live.finish(), 0);
}

#[test]
fn a_deadline_passes_without_an_event() {
    let spec = "event { kind: string  at: time? }\n\
        rule soon: when kind == \"ask\" then kind == \"answer\" within 50ms\n\
        enforce soon { violated => warn \"late\" }\n";
    let folder = Folder::new(&[("soon.guard", spec)]);
    let mut live = Live::start(&folder, &["soon.guard"]);
    live.send(r#"{"trace":"a","kind":"ask"}"#);
    assert!(live.receive().unwrap().contains(r#""decision":"allow""#));
    let late = live.receive().unwrap();
    assert!(
        late.contains(r#""phase":"deadline""#) && late.contains(r#""message":"late""#),
        "{late}"
    );
    live.send(r#"{"trace":"a","kind":"answer"}"#);
    assert!(live.receive().unwrap().contains(r#""decision":"allow""#));
    assert_eq!(live.finish(), 1);
}

/// The inputs of a run under load: many traces, proposals, ends, garbage.
fn load(n: usize) -> Vec<String> {
    let mut state = 7u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    (0..n)
        .map(|_| {
            let trace = random(9);
            let id = random(4);
            match random(14) {
                0 => format!(r#"{{"trace":"t{trace}","end":true}}"#),
                1 => "{\"trace\":".to_owned(),
                2 => format!(r#"{{"trace":"t{trace}","kind":"ask","id":"{id}"}}"#),
                3 => format!(r#"{{"trace":"t{trace}","kind":"answer","id":"{id}"}}"#),
                4..=6 => format!(r#"{{"trace":"t{trace}","kind":"ok"}}"#),
                7 | 8 => format!(r#"{{"phase":"before","event":{{"trace":"t{trace}","kind":"call","tool":"pay"}}}}"#),
                9 => format!(r#"{{"phase":"commit","proposal":{},"event":{{"trace":"t{trace}","kind":"call","tool":"pay"}}}}"#, 1 + random(20)),
                10 => format!(r#"{{"phase":"abandon","proposal":{}}}"#, 1 + random(20)),
                11 | 12 => format!(r#"{{"trace":"t{trace}","kind":"call","tool":"pay"}}"#),
                _ => format!(r#"{{"trace":"t{trace}","kind":"idle"}}"#),
            }
        })
        .collect()
}

/// Kills a monitor so many times under load; whatever it said, and whatever it kept, is what one that was never killed says.
fn killed(times: usize, sync: &str) {
    let n = times * 60;
    let inputs = load(n);
    let folder = Folder::new(&[("pay.guard", PAY)]);
    let whole = folder.guard_with(
        &[
            "monitor",
            "pay.guard",
            "--clock",
            "none",
            "--log",
            "whole.log",
        ],
        &(inputs.join("\n") + "\n"),
    );
    let expected: Vec<&str> = whole.out.lines().collect();
    assert_eq!(expected.len(), n);

    let args = [
        "pay.guard",
        "--clock",
        "none",
        "--journal",
        "j",
        "--log",
        "l",
        "--snapshot",
        "s",
        "--snapshot-every",
        "37",
        "--sync",
        sync,
    ];
    let mut seed = 11u64;
    let mut taken = 0;
    let mut kills = 0;
    while taken < n {
        let mut live = Live::start(&folder, &args);
        let mut next = taken;
        if taken > 0 {
            let first = live.receive().unwrap();
            let said = first
                .split("\"taken\":")
                .nth(1)
                .unwrap_or_else(|| panic!("{first}"));
            let said: usize = said.split(',').next().unwrap().parse().unwrap();
            // Nothing that was acknowledged is lost; what was taken and not told is in the log.
            assert!(said >= taken, "{said} of {taken}");
            (taken, next) = (said, said);
        }
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let until = (taken + (seed >> 40) as usize % 90).min(n);
        let ahead = 1 + (seed >> 50) as usize % 30;
        while taken < until {
            while next < n && next < taken + ahead {
                live.send(&inputs[next]);
                next += 1;
            }
            let line = live.receive().unwrap();
            assert_eq!(line, expected[taken], "input {taken}");
            taken += 1;
        }
        if taken == n {
            live.finish();
        } else {
            live.child.kill().unwrap();
            live.child.wait().unwrap();
            kills += 1;
            // The end that a power failure leaves: half a line.
            if kills % 5 == 0 && sync == "system" {
                let journal = folder.path().join("j");
                let mut file = std::fs::OpenOptions::new()
                    .append(true)
                    .open(journal)
                    .unwrap();
                file.write_all(b"999 - line 0123").unwrap();
            }
        }
    }
    println!("{kills} kills");
    assert!(kills >= times / 2);
    // The log has every decision once, in order, and holds.
    let verified = folder.guard(&["monitor", "--verify-log", "l", "pay.guard"]);
    assert_eq!(verified.code, 0, "{}", verified.err);
    assert!(
        verified.out.starts_with(&format!("{n} decisions")),
        "{}",
        verified.out
    );
    let decisions = |name: &str| -> Vec<String> {
        let text = folder.read(name);
        // Lines without a decision name the states.
        let decision = |line: &str| {
            let (_, rest) = line.split_once("\"decision\":")?;
            Some(rest.rsplit_once(",\"prev\"").unwrap().0.to_owned())
        };
        text.lines().skip(1).filter_map(decision).collect()
    };
    assert_eq!(decisions("l"), decisions("whole.log"));
}

/// What a crash and a cut leave look alike: the rest is verified, and the exit code says that not all was.
#[test]
fn a_log_with_an_incomplete_line_is_verified_in_part() {
    let folder = Folder::new(&[(
        "a.guard",
        "event { k: string }\nproperty p = never k == \"x\"\nenforce p { violated => block }\n",
    )]);
    let run = folder.guard_with(
        &["monitor", "a.guard", "--log", "l"],
        "{\"k\":\"a\"}\n{\"k\":\"b\"}\n",
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let whole = folder.read("l");
    folder.write("cut", &whole[..whole.len() - 20]);
    let verified = folder.guard(&["monitor", "--verify-log", "cut"]);
    assert_eq!(verified.code, 3, "{}", verified.err);
    assert!(verified.out.starts_with("1 decisions"), "{}", verified.out);
    assert!(verified.err.contains("incomplete line"), "{}", verified.err);
}

/// A file of somebody else is not taken for a journal that a crash interrupted.
#[test]
fn a_file_that_begins_like_a_journal_is_not_replaced() {
    let folder = Folder::new(&[("a.guard", "event { k: string }\n")]);
    for text in [
        "guard-journal notes",
        "guard-journal {\"ver\":4,",
        "guard-journal",
    ] {
        folder.write("j", text);
        let run = folder.guard_with(&["monitor", "a.guard", "--journal", "j"], "{\"k\":\"a\"}\n");
        let is_begun = text == "guard-journal";
        assert_eq!(run.code == 0, is_begun, "{text}: {}", run.err);
        assert_eq!(folder.read("j") == text, !is_begun, "{text}");
    }
}

#[test]
fn killed_some_times() {
    killed(8, "system");
}

#[test]
#[ignore = "takes a minute: cargo test --test it -- --ignored killed_two_hundred_times"]
fn killed_two_hundred_times() {
    killed(400, "system");
    killed(20, "disk");
}

/// Inputs after the last state are replayed, and of the log only its end is read, however much went before: a change of its
/// beginning, which a restart would have to read to find, is found by `--verify-log`.
#[test]
fn a_restart_takes_time_by_what_is_new() {
    let folder = Folder::new(&[("pay.guard", PAY)]);
    let files = ["--journal", "j", "--log", "l", "--sync", "system"];
    let args = [
        &[
            "monitor",
            "pay.guard",
            "--snapshot",
            "s",
            "--snapshot-every",
            "500",
        ][..],
        &files,
    ]
    .concat();
    for events in [10, 1_000, 8_000] {
        for file in ["j", "l", "s"] {
            let _ = std::fs::remove_file(folder.path().join(file));
        }
        let mut monitor = std::process::Command::new(env!("CARGO_BIN_EXE_guard"))
            .args(&args)
            .current_dir(folder.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = monitor.stdin.take().unwrap();
        let writer = std::thread::spawn(move || {
            for n in 0..events + events / 25 {
                writeln!(to, "{{\"trace\":\"t{}\",\"kind\":\"ok\"}}", n % 7).unwrap();
            }
            to
        });
        let mut answers = BufReader::new(monitor.stdout.take().unwrap()).lines();
        let taken = answers.by_ref().take(events + events / 25).count();
        monitor.kill().unwrap();
        monitor.wait().unwrap();
        drop(writer.join().unwrap());
        let journal = folder.read("j");
        let journal = journal
            .lines()
            .filter(|line| line.contains(" line "))
            .count();
        assert!(journal <= 500, "{events}: {journal} inputs are replayed");
        let log = folder.read("l");
        let second = log.lines().next().unwrap().len() + 1;
        let mut changed = log.into_bytes();
        let long = changed.len() > 4 << 18;
        if long {
            changed[second + 20] ^= 1;
            folder.write("l", &changed);
        }
        let run = folder.guard_with(&args, "");
        assert_eq!(run.code, 0, "{events}: {}", run.err);
        assert!(
            run.out.contains(&format!("\"taken\":{taken}")),
            "{}",
            run.out
        );
        let verified = folder.guard(&["monitor", "--verify-log", "l"]);
        assert_eq!(verified.code == 0, !long, "{}", verified.err);
        assert_eq!(long, events == 8_000);
    }
}

/// A process that is killed before its first state leaves an empty file, and a state is not begun anew without a word.
#[test]
fn a_state_is_continued_or_named() {
    let folder = Folder::new(&[("pay.guard", PAY), ("s", "")]);
    let input = "{\"trace\":\"a\",\"kind\":\"ok\"}\n";
    let journal = ["monitor", "pay.guard", "--journal", "j"];
    assert_eq!(folder.guard_with(&journal, input).code, 0);
    let resumed = [&journal[..], &["--snapshot", "s", "--resume", "s"]].concat();
    let pay = "{\"trace\":\"a\",\"kind\":\"call\",\"tool\":\"pay\"}\n";
    let run = folder.guard_with(&resumed, pay);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
    let run = folder.guard_with(&["monitor", "pay.guard", "--snapshot", "s"], pay);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(
        run.err
            .contains("continue it with `--resume s`, or remove it"),
        "{}",
        run.err
    );
}

#[test]
fn what_is_of_another_spec_is_refused_by_name() {
    let other = PAY.replace("paid > 3", "paid > 4");
    let folder = Folder::new(&[
        ("pay.guard", PAY),
        ("other.guard", &other),
        ("text", "hello\n"),
    ]);
    let input = "{\"trace\":\"a\",\"kind\":\"ok\"}\n";
    let made = folder.guard_with(
        &[
            "monitor",
            "pay.guard",
            "--snapshot",
            "s",
            "--journal",
            "j",
            "--log",
            "l",
        ],
        input,
    );
    assert_eq!(made.code, 0, "{}", made.err);
    let refused = |args: &[&str], why: &str| {
        let run = folder.guard_with(&[&["monitor"], args].concat(), input);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}");
        assert!(run.err.contains(why), "{args:?}: {}", run.err);
    };
    refused(&["other.guard", "--resume", "s"], "belongs to another spec");
    refused(
        &["other.guard", "--snapshot", "s", "--journal", "j"],
        "belongs to another spec",
    );
    refused(&["other.guard", "--log", "l"], "belongs to another spec");
    refused(
        &["pay.guard", "--log", "l"],
        "give the journal that was written with it, or another `--log`",
    );
    refused(&["pay.guard", "--resume", "text"], "not a monitor state");
    refused(&["pay.guard", "--journal", "text"], "not a monitor journal");
    refused(
        &["pay.guard", "--resume", "s", "--outcomes", "any"],
        "another setting of outcomes",
    );
    // The state is what the journal begins after.
    refused(
        &["pay.guard", "--journal", "j"],
        "give it with `--resume` or `--snapshot`",
    );
    let mut state = std::fs::read(folder.path().join("s")).unwrap();
    let last = state.len() - 40;
    state[last] ^= 1;
    folder.write("damaged", &state);
    refused(&["pay.guard", "--resume", "damaged"], "wrong checksum");
    let text = String::from_utf8_lossy(&state).replacen("\"version\":11", "\"version\":12", 1);
    folder.write("newer", text.as_bytes());
    refused(&["pay.guard", "--resume", "newer"], "format version 12");

    let run = folder.guard(&["monitor", "--verify-log", "l", "other.guard"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let changed = folder.read("l").replacen("allow", "block", 1);
    folder.write("changed", changed);
    let run = folder.guard(&["monitor", "--verify-log", "changed"]);
    assert_eq!(run.code, 1);
    assert!(
        run.err.contains("line 2 does not continue the line before"),
        "{}",
        run.err
    );
}

#[test]
fn a_long_log_goes_on_from_its_end() {
    let folder = Folder::new(&[("pay.guard", PAY)]);
    let args = [
        "monitor",
        "pay.guard",
        "--clock",
        "none",
        "--journal",
        "j",
        "--log",
        "l",
    ];
    for round in 0..4 {
        let line = |n: usize| format!("{{\"trace\":\"t{n}\",\"kind\":\"ok\"}}\n");
        let inputs: String = (0..300).map(|n| line(round * 300 + n)).collect();
        let run = folder.guard_with(&args, &inputs);
        assert_eq!(run.code, 0, "{}", run.err);
    }
    let log = folder.read("l");
    assert!(log.len() > 300_000, "{}", log.len());
    let verified = folder.guard(&["monitor", "--verify-log", "l"]);
    assert!(
        verified.out.starts_with("1200 decisions"),
        "{}",
        verified.out
    );
    // What was being written is cut off.
    folder.write("l", format!("{log}{{\"n\":"));
    assert_eq!(
        folder
            .guard_with(&args, "{\"trace\":\"x\",\"kind\":\"ok\"}\n")
            .code,
        0
    );
    assert_eq!(folder.guard(&["monitor", "--verify-log", "l"]).code, 0);
    // All inputs of the journal are compared with the log, and so is a changed line in the middle of it.
    let good = folder.read("l");
    let change = |log: &str| folder.write("l", log.replacen("\"step\":0", "\"step\":1", 1));
    let last = "{\"trace\":\"y\",\"kind\":\"ok\"}\n";
    change(&good);
    let refused = folder.guard_with(&args, last);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("wrong hash"), "{}", refused.err);
    // After a state nothing before it is read: the change does not stop what follows, but shows.
    folder.write("l", &good);
    let saving = [&args[..], &["--snapshot", "s"]].concat();
    assert_eq!(folder.guard_with(&saving, last).code, 0);
    let saved = folder.read("l");
    assert!(saved.lines().last().unwrap().contains("\"state\":\""));
    change(&saved);
    assert_eq!(folder.guard_with(&saving, last).code, 0);
    assert_eq!(folder.guard(&["monitor", "--verify-log", "l"]).code, 1);
}

#[test]
fn a_spec_that_orders_events_is_told_of() {
    let spec = "event { kind: string  at: int }\ntrace { order by at }\nproperty p = never kind == \"rm\"\n";
    let folder = Folder::new(&[("o.guard", spec), ("p.guard", PAY)]);
    let told = "warning: `order by` of the spec applies to recordings only: live events are judged in the order in which they are reported\n";
    let line = "{\"kind\":\"x\",\"at\":1}\n";
    let run = folder.guard_with(&["monitor", "o.guard"], line);
    assert_eq!((run.code, run.err.as_str()), (0, told));
    let run = folder.guard_with(&["monitor", "p.guard"], line);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}

/// An `abandon` with the number of no open proposal is denied, since the proposal that was meant stays reserved.
#[test]
fn an_unknown_proposal_is_not_abandoned() {
    let spec = "event { kind: string }\nproperty once_only = always (count(kind == \"pay\") <= 1)\n\
                enforce once_only { violated => block }\n";
    let folder = Folder::new(&[("a.guard", spec)]);
    let input = r#"{"phase":"before","event":{"kind":"pay"}}
{"phase":"abandon","proposal":2}
{"phase":"abandon","proposal":1}
{"phase":"abandon","proposal":1}
"#;
    let run = folder.guard_with(&["monitor", "a.guard"], input);
    let lines = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<serde_json::Value> = lines.collect();
    let rulings: Vec<&str> = lines
        .iter()
        .map(|line| line["decision"].as_str().unwrap())
        .collect();
    assert_eq!(rulings, ["allow", "block", "allow", "block"]);
    for (line, number) in [(1, 2), (3, 1)] {
        assert_eq!(
            lines[line]["errors"][0],
            format!(
                "no open proposal has the number {number}: it was denied, committed, abandoned, older than its reservation, or never made"
            )
        );
    }
    assert_eq!(run.code, 3);
}
