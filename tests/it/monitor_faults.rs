//! Monitors under faults of their environment: a full disk, a clock that runs backwards, invalid input of the client.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::cli::Folder;
use serde_json::{Value as Json, json};

const SPEC: &str = r#"event { kind: string  at: time? from "/t" }
property approved = G (kind == "pay" -> Y kind == "ok")
rule soon: when kind == "ask" then kind == "answer" within 2s
enforce approved { violated => block "pay without an ok" }
enforce soon { violated => warn "late" }
"#;

/// A monitor with a journal and a log.
const LASTING: [&str; 8] = [
    "monitor",
    "a.guard",
    "--clock",
    "none",
    "--journal",
    "j",
    "--log",
    "l",
];

fn lines(out: &[u8]) -> Vec<Json> {
    let text = String::from_utf8(out.to_vec()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Input of so many lines, a payment now and then.
fn input(n: usize) -> String {
    let line = |n: usize| {
        let kind = ["ok", "pay", "idle", "pay", "ask"][n % 5];
        json!({"trace": format!("t{}", n % 7), "kind": kind, "t": n}).to_string() + "\n"
    };
    (0..n).map(line).collect()
}

/// Files can grow to 16 blocks of 512 bytes: what is beyond fails as it does on a full disk.
#[test]
fn on_a_full_disk_nothing_is_told_that_is_not_kept() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    let guard = assert_cmd::cargo::cargo_bin("guard");
    let args = "monitor a.guard --clock none --journal j --log l";
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "trap '' XFSZ; ulimit -f 16; exec '{}' {args}",
            guard.display()
        ))
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let all = input(400);
    // It ends before it has read all, which is no fault of the test.
    let _ = child.stdin.take().unwrap().write_all(all.as_bytes());
    let output = child.wait_with_output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    let told = lines(&output.stdout);
    let stopped = told
        .iter()
        .position(|decision| decision["decision"] == "stop");
    let kept = &told[..stopped.expect("a decision that cannot be kept is denied")];
    assert!(
        told[kept.len()]["errors"]
            .to_string()
            .contains("cannot write")
    );
    // With room again it goes on from all that was told.
    let resumed = folder.guard(&LASTING);
    assert!([0, 1].contains(&resumed.code), "{}", resumed.err);
    // If the first write of all failed, nothing was kept and nothing is resumed: how many inputs one write takes depends on
    // the reading thread.
    let line: Option<Json> = resumed
        .out
        .lines()
        .next()
        .map(|line| serde_json::from_str(line).unwrap());
    let taken = line
        .as_ref()
        .map_or(0, |line| line["taken"].as_u64().unwrap()) as usize;
    assert!(taken >= kept.len(), "{taken} of {}", kept.len());
    let rest: String = all
        .lines()
        .skip(taken)
        .map(|line| format!("{line}\n"))
        .collect();
    let after = folder.guard_with(&LASTING, &rest);
    let after = &lines(after.out.as_bytes())[usize::from(line.is_some())..];
    let alone = folder.guard_with(&["monitor", "a.guard", "--clock", "none"], &all);
    let alone = lines(alone.out.as_bytes());
    assert_eq!(&alone[..kept.len()], kept);
    assert_eq!(&alone[taken..], after);
    let verified = folder.guard(&["monitor", "a.guard", "--verify-log", "l"]);
    assert_eq!(verified.code, 0, "{}", verified.err);
}

/// What is appended to a file that has been moved away or removed is lost when the process ends: it is denied, as on a full disk.
#[test]
fn files_that_are_replaced_while_a_monitor_runs_end_it() {
    use std::io::BufRead as _;
    for (file, way) in ["l", "j"]
        .into_iter()
        .flat_map(|file| ["gone", "copied", "linked"].map(|way| (file, way)))
    {
        let folder = Folder::new(&[("a.guard", SPEC)]);
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("guard"))
            .args(LASTING)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = child.stdin.take().unwrap();
        let mut from = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut next = |kind: &str, t: usize| -> Json {
            writeln!(to, "{}", json!({"trace": "t", "kind": kind, "t": t})).unwrap();
            to.flush().unwrap();
            let mut line = String::new();
            from.read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap()
        };
        assert_eq!(next("ok", 1)["decision"], "allow");
        let (path, aside) = (folder.path().join(file), folder.path().join("aside"));
        std::fs::rename(&path, &aside).unwrap();
        match way {
            "copied" => drop(std::fs::copy(&aside, &path).unwrap()),
            "linked" => std::os::unix::fs::symlink(&aside, &path).unwrap(),
            _ => {}
        }
        let here = |path: PathBuf| std::fs::read(path).unwrap_or_default();
        let journal = here(folder.path().join("j"));
        let denied = next("pay", 2);
        assert_eq!(denied["decision"], "stop", "{file}: {denied}");
        assert!(
            denied["errors"].to_string().contains("cannot write"),
            "{denied}"
        );
        drop(to);
        assert_eq!(child.wait().unwrap().code(), Some(2), "{file} {way}");
        // What is denied is not replayed by a process that continues.
        let after = here(folder.path().join("j"));
        assert_eq!(after, journal, "{file} {way}");
    }
}

#[test]
fn files_that_cannot_be_continued_are_refused_by_name() {
    let args = [&LASTING[..], &["--snapshot", "s"]].concat();
    let refused = |why: &str, change: &dyn Fn(&std::path::Path)| {
        let folder = Folder::new(&[("a.guard", SPEC)]);
        let first = folder.guard_with(&args, &input(3));
        assert!([0, 1].contains(&first.code), "{}", first.err);
        change(folder.path());
        let run = folder.guard_with(&args, &input(3));
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{why}");
        assert!(run.err.contains(why), "{}", run.err);
    };
    refused("the journal of the state `s` is missing", &|folder| {
        for file in ["j", "l"] {
            std::fs::remove_file(folder.join(file)).unwrap();
        }
    });
    for file in ["j", "l", "s"] {
        refused("not a regular file", &|folder| {
            std::fs::rename(folder.join(file), folder.join("aside")).unwrap();
            std::os::unix::fs::symlink("aside", folder.join(file)).unwrap();
        });
        refused("not a regular file", &|folder| {
            std::fs::remove_file(folder.join(file)).unwrap();
            let made = Command::new("mkfifo").arg(folder.join(file)).status();
            assert!(made.unwrap().success());
        });
    }
}

/// Whatever a monitor would write to is no other file of the run, by whichever name or link, nor a file of another kind.
#[test]
fn what_is_written_is_no_other_file() {
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH\n-----END PRIVATE KEY-----\n";
    let folder = Folder::new(&[
        ("a.guard", SPEC),
        (
            "b.guard",
            "use lib.more\nevent { kind: string }\nenforce when more.is_pay => block \"no\"\n",
        ),
        (
            "lib/more.guard",
            "event { kind: string }\npredicate is_pay = kind == \"pay\"\n",
        ),
        ("notes", "a text without a line end"),
    ]);
    for (name, text) in [("key", KEY), ("token", "a-token-of-enough-letters")] {
        crate::support::write_private(&folder.path().join(name), text);
    }
    std::fs::hard_link(folder.path().join("a.guard"), folder.path().join("hard")).unwrap();
    std::os::unix::fs::symlink("a.guard", folder.path().join("soft")).unwrap();
    std::os::unix::fs::symlink(".", folder.path().join("here")).unwrap();
    let names = [
        "a.guard",
        "b.guard",
        "lib/more.guard",
        "notes",
        "key",
        "token",
    ];
    let all = || names.map(|name| folder.read(name));
    let before = all();
    let other = "another file of the run";
    for (args, why) in [
        ("monitor a.guard --snapshot a.guard", other),
        ("monitor a.guard --journal ./a.guard", other),
        ("monitor a.guard --log lib/../a.guard", other),
        ("monitor a.guard --snapshot hard", other),
        ("monitor hard --log a.guard", other),
        ("monitor soft --log a.guard", other),
        ("monitor a.guard --log soft", other),
        ("monitor b.guard --snapshot lib/more.guard", other),
        ("monitor a.guard --snapshot key --log l --key key", other),
        ("monitor a.guard --snapshot s --resume s.next", other),
        (
            "monitor a.guard --snapshot z --log z.next",
            "as the log: it is the next state",
        ),
        (
            "monitor a.guard --snapshot z --log here/z.next",
            "as the log: it is the next state",
        ),
        (
            "monitor a.guard --snapshot z --journal z.next",
            "as the journal: it is the next state",
        ),
        (
            "monitor a.guard --snapshot same --log ./same",
            "as the log: it is the state",
        ),
        (
            "monitor a.guard --journal same --log here/same",
            "as the log: it is the journal",
        ),
        ("monitor a.guard --snapshot notes", "not a monitor state"),
        ("monitor a.guard --journal notes", "not a monitor journal"),
        ("monitor a.guard --log notes", "not a decision log"),
        (
            "proxy a.guard --snapshot z --log z.next -- cat",
            "as the log: it is the next state",
        ),
        ("proxy a.guard --journal a.guard -- cat", other),
        (
            "serve a.guard --listen 127.0.0.1:0 --token-file token --log token",
            other,
        ),
        (
            "serve a.guard --listen 127.0.0.1:0 --token-file token --journal j --log j.calls",
            "as the log: it is the list of calls",
        ),
        (
            "serve a.guard --listen 127.0.0.1:0 --token-file token --journal j --snapshot j.calls",
            "it is the state",
        ),
        (
            "serve a.guard --listen 127.0.0.1:0 --token-file token --journal j --log j.calls.next",
            "as the log: it is the next list of calls",
        ),
        (
            "serve a.guard --socket z.next --token-file token --snapshot z",
            other,
        ),
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        let run = folder.guard_with(&args, &input(3));
        assert_eq!(
            (run.code, run.out.as_str()),
            (2, ""),
            "{args:?}: {}",
            run.err
        );
        assert!(run.err.contains(why), "{args:?}: {}", run.err);
        assert_eq!(all(), before, "{args:?}");
    }
    // The state that is continued may be the one that is written.
    for state in ["s", "./s", "here/s"] {
        let run = folder.guard_with(&["monitor", "a.guard", "--snapshot", "s"], "");
        assert_eq!(run.code, 0, "{}", run.err);
        let run = folder.guard(&["monitor", "a.guard", "--resume", state, "--snapshot", "s"]);
        assert_eq!(run.code, 0, "{}", run.err);
        std::fs::remove_file(folder.path().join("s")).unwrap();
    }
}

/// Files that another user owns, or that everybody can write, hold no history, nor do folders: only root can try other users.
#[test]
fn files_of_others_are_refused() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let files = ["j", "l", "s"];
    let args = [&LASTING[..], &["--snapshot", "s"]].concat();
    let refused = |why: &str, change: &dyn Fn(&std::path::Path) -> bool| {
        let folder = Folder::new(&[("a.guard", SPEC)]);
        if change(folder.path()) {
            let run = folder.guard_with(&args, &input(3));
            assert_eq!((run.code, run.out.as_str()), (2, ""), "{why}");
            assert!(run.err.contains(why), "{}", run.err);
        }
    };
    let open = |path: &std::path::Path, mode: u32| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path, mode).unwrap();
        true
    };
    for file in files {
        refused("everybody can write it", &|folder| {
            std::fs::write(folder.join(file), "").unwrap();
            open(&folder.join(file), 0o666)
        });
        refused("it belongs to user 12345", &|folder| {
            std::fs::write(folder.join(file), "").unwrap();
            chown(folder.join(file), Some(12_345), None).is_ok()
        });
    }
    refused("everybody can write it", &|folder| open(folder, 0o777));
    refused("it belongs to user 12345", &|folder| {
        chown(folder, Some(12_345), None).is_ok()
    });
    let folder = Folder::new(&[("a.guard", SPEC)]);
    open(folder.path(), 0o1777);
    assert_eq!(folder.guard_with(&args, &input(1)).code, 0);
}

/// A log that is gone is named when another one is begun in its place, and the new one is continued.
#[test]
fn a_log_that_is_gone_is_named() {
    for (files, why) in [
        (
            &["--journal", "j"][..],
            "the log `l` that the journal refers to is missing",
        ),
        (&["--snapshot", "s"], "the log `l` is missing or empty"),
        (
            &["--journal", "j", "--snapshot", "s"],
            "the log `l` that the journal refers to is missing",
        ),
    ] {
        let folder = Folder::new(&[("a.guard", SPEC)]);
        let run = || {
            let proxy = ["proxy", "a.guard", "--log", "l"];
            let run = folder.guard(&[&proxy[..], files, &["--", "cat"]].concat());
            assert_eq!(run.code, 0, "{}", run.err);
            run.err
        };
        assert_eq!(run(), "");
        std::fs::remove_file(folder.path().join("l")).unwrap();
        let told = run();
        assert!(told.contains(why), "{files:?}: {told}");
        assert_eq!(run(), "");
    }
}

/// The errors of the command line quote arguments.
#[test]
fn usage_errors_are_inert() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    for args in [
        &["monitor", "a.guard", "--n\u{202e}q"][..],
        &["m\u{202e}"],
        &["audit", "a.guard", "--from", "\u{202e}"],
    ] {
        let run = folder.guard(args);
        assert_eq!(run.code, 2);
        assert!(
            run.err.contains("\\u202e") && !run.err.contains('\u{202e}'),
            "{}",
            run.err
        );
    }
}

#[test]
fn a_clock_that_runs_back_is_told_and_frees_nobody_of_a_deadline() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    let at = |kind: &str, t: i64| json!({"kind": kind, "t": t}).to_string() + "\n";
    let input = at("ask", 100) + &at("idle", 10) + &at("idle", 101) + &at("idle", 103);
    let run = folder.guard_with(&["monitor", "a.guard", "--clock", "none"], &input);
    let told = lines(run.out.as_bytes());
    assert!(
        told[1]["errors"].to_string().contains("back"),
        "{}",
        told[1]
    );
    assert_eq!(told[2]["verdicts"]["soon"], "presumably_violated");
    assert_eq!(told[3]["clauses"][0]["message"], "late", "{}", told[3]);
    // The audit says the same.
    folder.write("runs.jsonl", &input);
    let audit = folder.guard(&["audit", "a.guard", "runs.jsonl", "--format", "json"]);
    assert!(
        audit
            .out
            .contains(r#""property":"soon","verdict":"violated""#),
        "{}",
        audit.out
    );
}

#[test]
fn rubbish_is_denied_line_by_line() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    let mut rubbish: Vec<Vec<u8>> = vec![
        b"{".to_vec(),
        b"null".to_vec(),
        b"[1,2]".to_vec(),
        b"\xff\xfe\x00".to_vec(),
        br#"{"kind":"pay","kind":"ok"}"#.to_vec(),
        br#"{"phase":"before"}"#.to_vec(),
        br#"{"phase":"commit","proposal":-1,"event":{}}"#.to_vec(),
        vec![b'['; 100_000],
        vec![b'x'; 3_000_000],
    ];
    let mut state = 1u64;
    for n in 0..200 {
        let mut line = json!({"kind": "ok", "t": n}).to_string().into_bytes();
        for _ in 0..3 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let place = (state >> 33) as usize % line.len();
            line[place] = (state >> 13) as u8;
        }
        line.retain(|byte| ![b'\n', b'\r'].contains(byte));
        rubbish.push(line);
    }
    let mut input = rubbish.join(&b'\n');
    input.extend_from_slice(b"\n{\"kind\":\"idle\"}\n");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("guard"))
        .args([
            "monitor",
            "a.guard",
            "--clock",
            "none",
            "--max-record-bytes",
            "1000000",
        ])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feed = std::thread::spawn(move || stdin.write_all(&input).unwrap());
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap();
    let told = lines(&output.stdout);
    assert_eq!(
        told.len(),
        rubbish.len() + 1,
        "one line out for each line in"
    );
    for decision in &told[..9] {
        assert_eq!(decision["decision"], "block", "{decision}");
    }
    assert!(matches!(output.status.code(), Some(1 | 3)));
}

#[test]
fn traces_beyond_the_limit_are_denied_by_its_name() {
    let folder = Folder::new(&[("a.guard", SPEC)]);
    let line = |n: usize| json!({"trace": n.to_string(), "kind": "ok"}).to_string() + "\n";
    let input: String = (0..5).map(line).collect();
    let args = ["monitor", "a.guard", "--clock", "none", "--max-traces", "3"];
    let run = folder.guard_with(&args, &input);
    let told = lines(run.out.as_bytes());
    let rulings: Vec<&str> = told
        .iter()
        .map(|told| told["decision"].as_str().unwrap())
        .collect();
    assert_eq!(rulings, ["allow", "allow", "allow", "block", "block"]);
    assert!(told[4]["errors"].to_string().contains("max-traces"));
}

/// The memory that a process holds, in KiB.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Follows so many events of so many live traces, in turn, with instances and deadlines that come and go; tells the memory
/// held after a tenth of them and at the end, in KiB.
fn long_run(events: u64, traces: u64) -> (u64, u64) {
    let spec = r#"event { kind: string  id: string?  at: time? from "/t" }
property answered = forall c: G (kind == "call" and id == c -> F (kind == "result" and id == c))
rule soon: when kind == "call" then kind == "result" within 60s
track open: int = 0 then if kind == "call" then open + 1 else max(0, open - 1)
property few = never (open > 5)
enforce answered { violated => log }
enforce soon { violated => warn "late" }
enforce few { violated => block "too many" }
"#;
    let folder = Folder::new(&[("a.guard", spec)]);
    let args = ["monitor", "a.guard", "--clock", "none"];
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("guard"))
        .args(args)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id();
    let mut to = std::io::BufWriter::new(child.stdin.take().unwrap());
    let mut from = std::io::BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        use std::io::BufRead;
        let (mut line, mut told, mut begun) = (String::new(), 0u64, 0);
        while told < events {
            line.clear();
            assert_ne!(
                from.read_line(&mut line).unwrap(),
                0,
                "it ended after {told}"
            );
            assert!(line.contains("\"decision\":\"allow\""), "{line}");
            told += 1;
            if told == events / 10 {
                begun = resident(id);
            }
        }
        (begun, resident(id))
    });
    for n in 0..events {
        // Each trace calls, and has its answer the next time round.
        let (trace, round) = (n % traces, n / traces);
        let kind = if round.is_multiple_of(2) {
            "call"
        } else {
            "result"
        };
        writeln!(
            to,
            "{{\"trace\":\"t{trace}\",\"kind\":\"{kind}\",\"id\":\"c{}\",\"t\":{round}}}",
            round / 2
        )
        .unwrap();
    }
    to.flush().unwrap();
    let held = reader.join().unwrap();
    drop(to);
    child.wait().unwrap();
    println!(
        "{events} events of {traces} live traces: {} KiB after a tenth, {} at the end",
        held.0, held.1
    );
    held
}

#[test]
fn memory_follows_the_traces_and_not_the_events() {
    let (begun, ended) = long_run(300_000, 500);
    assert!(
        ended < begun + begun / 4 + 4096,
        "{begun} KiB grew to {ended}"
    );
}

#[test]
#[ignore = "takes minutes: cargo test --release --test it -- --ignored --nocapture ten_million_events"]
fn ten_million_events_and_a_hundred_thousand_traces() {
    let (begun, ended) = long_run(10_000_000, 100);
    assert!(
        ended < begun + begun / 4 + 4096,
        "{begun} KiB grew to {ended}"
    );
    // Traces that have only begun hold less than those that have gone on.
    let (_, ended) = long_run(1_000_000, 100_000);
    assert!(ended < 1 << 20, "{ended} KiB");
}

/// A client that floods and does not read waits; nothing piles up, and nothing is lost. One that stops within a line does
/// not keep deadlines from passing.
#[test]
fn a_client_that_does_not_read_waits() {
    const LINES: usize = 100_000;
    let folder = Folder::new(&[("a.guard", SPEC)]);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("guard"))
        .args(["monitor", "a.guard"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = std::io::BufReader::new(child.stdout.take().unwrap());
    let written = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let writer = {
        let written = std::sync::Arc::clone(&written);
        std::thread::spawn(move || {
            for n in 0..LINES {
                let trace = n % 3;
                writeln!(to, "{{\"trace\":\"t{trace}\",\"kind\":\"ok\"}}").unwrap();
                written.store(n, std::sync::atomic::Ordering::Relaxed);
            }
            // What is owed within two seconds, and then half a line.
            to.write_all(b"{\"trace\":\"late\",\"kind\":\"ask\"}\n{\"trace\":\"late\",")
                .unwrap();
            to
        })
    };
    let count = || written.load(std::sync::atomic::Ordering::Relaxed);
    let pause = || std::thread::sleep(std::time::Duration::from_millis(300));
    // Until it waits: pipes and batches are full.
    let mut before = usize::MAX;
    while before != count() {
        before = count();
        pause();
    }
    assert!(
        before < LINES / 2,
        "{before} lines were taken without a reader"
    );
    assert!(
        resident(child.id()) < 64 << 10,
        "{} KiB",
        resident(child.id())
    );
    let mut line = String::new();
    let mut next = || {
        use std::io::BufRead;
        line.clear();
        from.read_line(&mut line).unwrap();
        serde_json::from_str::<Json>(&line).unwrap()
    };
    for _ in 0..LINES {
        assert_eq!(next()["decision"], "allow");
    }
    assert_eq!(next()["verdicts"]["soon"], "presumably_violated");
    let late = next();
    assert_eq!(
        (&late["trace"], &late["clauses"][0]["message"]),
        (&json!("late"), &json!("late"))
    );
    drop(writer.join().unwrap());
    assert!(child.wait().unwrap().code().is_some());
}
