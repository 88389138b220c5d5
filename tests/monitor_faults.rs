//! What a monitor does when the world around it fails: the disk is full, the clock runs back, the client talks rubbish.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on fails"
)]

mod cli_common;

use std::io::Write;
use std::process::{Command, Stdio};

use cli_common::Folder;
use serde_json::{Value as Json, json};

const SPEC: &str = r#"event { kind: string  at: time? from "/t" }
property approved = G (kind == "pay" -> Y kind == "ok")
rule soon: when kind == "ask" then kind == "answer" within 2s
enforce approved { violated => block "pay without an ok" }
enforce soon { violated => warn "late" }
"#;

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
    let args = [
        "monitor",
        "a.guard",
        "--clock",
        "none",
        "--journal",
        "j",
        "--log",
        "l",
    ];
    let resumed = folder.guard(&args);
    assert!([0, 1].contains(&resumed.code), "{}", resumed.err);
    let taken: Json = serde_json::from_str(resumed.out.lines().next().unwrap()).unwrap();
    let taken = taken["taken"].as_u64().unwrap() as usize;
    assert!(taken >= kept.len(), "{taken} of {}", kept.len());
    let rest: String = all
        .lines()
        .skip(taken)
        .map(|line| format!("{line}\n"))
        .collect();
    let after = folder.guard_with(&args, &rest);
    let after = &lines(after.out.as_bytes())[1..];
    let alone = folder.guard_with(&["monitor", "a.guard", "--clock", "none"], &all);
    let alone = lines(alone.out.as_bytes());
    assert_eq!(&alone[..kept.len()], kept);
    assert_eq!(&alone[taken..], after);
    let verified = folder.guard(&["monitor", "a.guard", "--verify-log", "l"]);
    assert_eq!(verified.code, 0, "{}", verified.err);
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
    assert!(told[4]["errors"].to_string().contains("--max-traces"));
}
