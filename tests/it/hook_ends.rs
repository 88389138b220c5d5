//! Ends of the process of a hook: each but a clean answer denies.

use assert_cmd::Command;
use serde_json::{Value as Json, json};

use crate::support::hook::{Session, outcome, tainted};

#[test]
fn calls_at_the_same_time_lose_nothing() {
    let session = Session::new();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let session = &session;
            scope.spawn(move || {
                assert_eq!(
                    session.before(&format!("r{n}"), "Read", json!({"n": n})),
                    Json::Null
                )
            });
        }
    });
    let log = std::fs::read_dir(session.folder.path().join("state")).unwrap();
    let log = log
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().unwrap() == "log")
        .unwrap();
    let mut verify = Command::cargo_bin("guard").unwrap();
    verify
        .args(["monitor", "--verify-log"])
        .arg(&log)
        .assert()
        .success();
    let text = std::fs::read_to_string(log).unwrap();
    assert_eq!(text.matches("\"phase\":\"act\"").count(), 8, "{text}");
}

/// Another process holds the state and never lets go: the call is denied before who runs the hook lets it through.
#[test]
fn a_decision_that_takes_too_long_denies() {
    let session = Session::new();
    session.before("a", "Read", json!({}));
    let state = session.folder.path().join("state");
    let lock = std::fs::read_dir(&state)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().unwrap() == "lock")
        .unwrap();
    let held = std::fs::File::open(lock).unwrap();
    held.lock().unwrap();
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let mut guard = Command::cargo_bin("guard").unwrap();
    guard
        .arg("hook")
        .arg(&session.spec)
        .arg("--state")
        .arg(&state)
        .args(["--timeout", "1"]);
    let output = guard.write_stdin(input.to_string()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("more than 1 s (`--timeout`)"));
}

#[test]
fn on_a_full_disk_calls_are_denied() {
    let session = Session::new();
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let run = |script: &str| {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script])
            .arg(assert_cmd::cargo::cargo_bin("guard"))
            .arg(&session.spec);
        shell.arg(session.folder.path().join("state"));
        shell.write_stdin(input.to_string()).output().unwrap()
    };
    let full = run("trap '' XFSZ; ulimit -f 0; exec \"$0\" hook \"$1\" --state \"$2\"");
    assert_eq!((full.status.code(), full.stdout.len()), (Some(2), 0));
    // Nothing is left that would let later calls through, or hold them up.
    assert_eq!(session.before("a", "Read", json!({})), Json::Null);
    // If there is no room for the list of calls, a call that is denied for it is not in the journal.
    let journal = std::fs::read(session.file("journal")).unwrap();
    let full = run("trap '' XFSZ; ulimit -f 8; exec \"$0\" hook \"$1\" --state \"$2\"");
    assert_eq!((full.status.code(), full.stdout.len()), (Some(2), 0));
    assert_eq!(std::fs::read(session.file("journal")).unwrap(), journal);
    // An answer that cannot be written denies as well.
    std::fs::write(
        &session.spec,
        "use std.agent\nenforce when kind == \"call\" => block \"no\"\n",
    )
    .unwrap();
    let state = session.folder.path().join("other");
    let mute = run(&format!(
        "exec \"$0\" hook \"$1\" --state '{}' > /dev/full",
        state.display()
    ));
    assert_eq!(mute.status.code(), Some(2));
}

/// The process that judges does not wait for a lock when the first one is gone.
#[cfg(target_os = "linux")]
#[test]
fn no_judge_is_left_behind() {
    let session = tainted(&[]);
    session.before("r", "Read", json!({}));
    let held = std::fs::File::open(session.file("lock")).unwrap();
    held.lock().unwrap();
    let mut first = std::process::Command::new(assert_cmd::cargo::cargo_bin("guard"))
        .args(["hook", "--timeout", "5", "--state"])
        .arg(session.state())
        .arg(&session.spec)
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let call = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "mail", "tool_input": {}});
    let mut to = first.stdin.take().unwrap();
    std::io::Write::write_all(&mut to, call.to_string().as_bytes()).unwrap();
    drop(to);
    let children = format!("/proc/{0}/task/{0}/children", first.id());
    let judge = loop {
        let children = std::fs::read_to_string(&children).unwrap_or_default();
        if let Some(child) = children.split_whitespace().next() {
            break format!("/proc/{child}/stat");
        }
    };
    // It waits for the lock: a process that sleeps takes no processor time.
    std::thread::sleep(std::time::Duration::from_millis(300));
    first.kill().unwrap();
    first.wait().unwrap();
    let is_there = || {
        let stat = std::fs::read_to_string(&judge).unwrap_or_default();
        stat.rsplit(") ")
            .next()
            .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    };
    assert!(is_there());
    let started = std::time::Instant::now();
    while is_there() {
        assert!(started.elapsed().as_secs() < 30);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    held.unlock().unwrap();
}

/// Claude Code takes an end by a signal for "go on".
#[test]
fn a_first_process_that_a_signal_ends_denies() {
    let session = tainted(&[]);
    let start = |limit: &str| {
        let mut shell = std::process::Command::new("sh");
        let hook = format!("{limit}exec \"$0\" hook --state \"$1\" \"$2\"");
        shell
            .args(["-c", &hook])
            .arg(assert_cmd::cargo::cargo_bin("guard"))
            .arg(session.state())
            .arg(&session.spec)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        shell.spawn().unwrap()
    };
    let signals = "HUP INT QUIT ABRT ALRM TERM USR1 USR2 VTALRM PROF XCPU XFSZ TRAP SYS IO";
    for signal in signals.split(' ') {
        let mut first = start("");
        // It waits for its input once it has started the process that judges.
        let children = format!("/proc/{0}/task/{0}/children", first.id());
        while std::fs::read_to_string(&children).is_ok_and(|children| children.is_empty()) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let sent = std::process::Command::new("kill")
            .args(["-s", signal, &first.id().to_string()])
            .status();
        assert!(sent.unwrap().success(), "{signal}");
        assert_eq!(first.wait().unwrap().code(), Some(2), "{signal}");
    }
    // It may write no file, and an outcome is marked in one.
    let mut first = start("ulimit -f 0; ");
    std::io::Write::write_all(first.stdin.as_mut().unwrap(), &outcome("\"x\"")).unwrap();
    let output = first.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    // Its stack is too small to read its arguments.
    let output = start("ulimit -s 64; ").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// Returns the exit code and the answer of a hook with limits, as a shell sets them.
fn limited(session: &Session, limits: &str, input: &[u8]) -> (Option<i32>, String) {
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("{limits}; exec \"$0\" hook \"$1\" --state \"$2\""))
        .arg(assert_cmd::cargo::cargo_bin("guard"))
        .arg(&session.spec)
        .arg(session.state());
    let output = shell.write_stdin(input).output().unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), answer)
}

const MAIL: &str = r#"{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"mail","tool_input":{},"tool_use_id":"m"}"#;

/// A limit that ends the process while it writes a mark leaves one of which nothing is known.
#[test]
fn an_outcome_whose_mark_cannot_be_written_is_not_forgotten() {
    let session = tainted(&[]);
    session.before("r", "Read", json!({}));
    let (code, answer) = limited(&session, "ulimit -f 0", &outcome("\"PRIVATE KEY\""));
    assert_eq!((code, answer.as_str()), (Some(2), ""));
    let (code, answer) = limited(&session, ":", MAIL.as_bytes());
    assert!(
        code == Some(0) && answer.contains("deny"),
        "{code:?} {answer}"
    );
}

/// All marks are put on record, also if they are more than the files that a process may open.
#[test]
fn no_mark_is_passed_by() {
    let mut session = tainted(&[]);
    session.before("r", "Read", json!({}));
    session.lose(&outcome("\"PRIVATE KEY\""));
    let folder = session.file("lock").with_extension("open");
    let mark = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    for nth in 0..40 {
        std::fs::copy(mark.path(), folder.join(format!("1-{nth}"))).unwrap();
    }
    let (code, answer) = limited(&session, "ulimit -n 16", MAIL.as_bytes());
    assert!(
        code == Some(0) && answer.contains("deny"),
        "{code:?} {answer}"
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

/// Where nobody hears a denial, the exit code says it.
#[test]
fn a_denial_on_a_closed_output_exits_with_2() {
    let session = tainted(&[]);
    session.before("r", "Read", json!({}));
    session.raw(&outcome("\"PRIVATE KEY\""));
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "mail", "tool_input": {}});
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "exec \"$0\" hook \"$1\" --state \"$2\" >&-"])
        .arg(assert_cmd::cargo::cargo_bin("guard"))
        .arg(&session.spec)
        .arg(session.state());
    let output = shell.write_stdin(input.to_string()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// Memory that judging would take and may not have ends the judge, and denies.
#[test]
fn a_judge_that_dies_denies() {
    let session = tainted(&["--max-memory", "1"]);
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let (code, out, err) = session.raw(input.to_string().as_bytes());
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
}
