//! `guard serve` when it is busy, flooded or ended: no outcome is forgotten, and no client keeps others away.

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::serve::{APPROVER, Daemon, TOKEN, ask, daemon_of, raw};

/// Mails after a secret are denied; the work for a slow event is quadratic in its list.
const SPEC: &str = r#"
event {
  kind: string
  tool: string? = unknown
  text: string? = unknown
  list: json = null
}
property no_leak = never (kind == "call" and tool == "mail" and once (kind == "result" and text contains "SECRET"))
enforce no_leak { violated => block "no mail after a secret" }
property heavy = always (kind == "slow" -> all a in list: (count b in list: b == a) > 0)
enforce heavy { violated => warn }
"#;

const MAIL: &str = r#"{"phase":"act","event":{"trace":"t","kind":"call","tool":"mail"}}"#;

fn decide(at: &str, headers: &str, body: &str) -> (u16, String) {
    let stream = TcpStream::connect(at).unwrap();
    ask(stream, "POST", "/v1/decide", headers, body)
}

/// A server in a folder, with a journal and a log, begun by a shell after `before`.
struct Kept {
    child: Child,
    at: String,
}

impl Kept {
    fn start(folder: &Path, before: &str, args: &[&str]) -> Kept {
        Kept::begin(folder, before, &[&["--no-token"], args].concat())
    }

    fn begin(folder: &Path, before: &str, args: &[&str]) -> Kept {
        let script = format!("{before} exec \"$0\" \"$@\"");
        let mut child = Command::new("sh")
            .args([
                "-c",
                &script,
                env!("CARGO_BIN_EXE_guard"),
                "serve",
                "t.guard",
            ])
            .args(["--listen", "127.0.0.1:0"])
            .args(["--journal", "j", "--log", "l"])
            .args(args)
            .current_dir(folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut from = BufReader::new(child.stderr.take().unwrap());
        while !said.contains("listening") {
            said.clear();
            assert!(from.read_line(&mut said).unwrap() > 0, "the server ended");
        }
        // Whatever it says later is read, so that it can say it.
        std::thread::spawn(move || std::io::copy(&mut from, &mut std::io::sink()));
        let at = said.trim().rsplit('/').next().unwrap().to_owned();
        Kept { child, at }
    }

    fn hook(&self, session: &str, name: &str, tool: &str, more: &str) -> String {
        let body = format!(
            r#"{{"session_id":"{session}","hook_event_name":"{name}","tool_use_id":"{tool}1","tool_name":"{tool}","tool_input":{{}}{more}}}"#
        );
        let stream = TcpStream::connect(&self.at).unwrap();
        let (status, answer) = ask(stream, "POST", "/v1/hook", "", &body);
        assert_eq!(status, 200, "{answer}");
        answer
    }

    fn end(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps the monitor of a server busy for seconds, whatever the machine: an element of the list is compared with all 10,000.
fn occupy(at: &str) {
    let items: Vec<String> = (0..10_000).map(|i| i.to_string()).collect();
    let items = items.join(",");
    let line = format!(r#"{{"trace":"x","kind":"slow","list":[{items}]}}"#);
    let mut stream = TcpStream::connect(at).unwrap();
    let head = "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length";
    let request = format!("{head}: {}\r\n\r\n{line}", line.len());
    stream.write_all(request.as_bytes()).unwrap();
    std::thread::spawn(move || stream.read(&mut [0; 1]));
    std::thread::sleep(Duration::from_millis(300));
}

const BUSY: [&str; 4] = ["--patience", "1", "--max-step-work", "1000000000"];

/// Asks until the monitor is no longer busy.
fn decided(at: &str, line: &str) -> String {
    loop {
        match decide(at, "", line) {
            (503, _) => {}
            (_, answer) => return answer,
        }
    }
}

#[test]
fn lines_behind_one_that_was_not_judged_in_time_are_recorded() {
    let daemon = daemon_of(SPEC, &[&["--listen", "127.0.0.1:0"][..], &BUSY].concat());
    occupy(&daemon.at);
    let body = [
        r#"{"phase":"act","event":{"trace":"t","kind":"call","tool":"look"}}"#,
        r#"{"trace":"t","kind":"result","text":"fine"}"#,
        r#"{"trace":"t","kind":"result","text":"SECRET"}"#,
    ]
    .join("\n");
    let (status, answer) = decide(&daemon.at, "", &body);
    assert_eq!(status, 503, "the monitor is not busy: {answer}");
    assert!(
        answer.contains("what happened will be recorded"),
        "{answer}"
    );
    let answer = decided(&daemon.at, MAIL);
    assert!(
        answer.contains(r#""step":2,"decision":"block""#),
        "{answer}"
    );
}

const SECRET: &str = r#","tool_response":"a SECRET""#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let spec = SPEC.replace("event {", "event {\n  args: json? = null");
    std::fs::write(folder.path().join("t.guard"), spec).unwrap();
    folder
}

/// The client of an outcome was answered that it will be recorded, and the process ends before that.
#[test]
fn an_outcome_that_waits_for_its_turn_outlives_the_process() {
    for signal in ["KILL", "TERM"] {
        let folder = folder();
        let server = Kept::start(folder.path(), "", &BUSY);
        assert_eq!(server.hook("s", "PreToolUse", "look", ""), "{}");
        occupy(&server.at);
        let answer = server.hook("s", "PostToolUse", "look", SECRET);
        assert!(answer.contains("will be recorded"), "{answer}");
        let mut child = Command::new("kill")
            .args([format!("-{signal}"), server.child.id().to_string()])
            .spawn()
            .unwrap();
        assert!(child.wait().unwrap().success());
        let mut server = server;
        server.child.wait().unwrap();
        let server = Kept::start(folder.path(), "", &[]);
        let answer = server.hook("s", "PreToolUse", "mail", "");
        assert!(answer.contains("no mail after a secret"), "{answer}");
    }
}

/// Nobody waits for an answer any more, or the outcome was not read: the process ends before its turn.
#[test]
fn an_outcome_behind_the_end_is_not_forgotten() {
    for (signal, is_read) in [("KILL", true), ("KILL", false), ("TERM", true)] {
        let folder = folder();
        let mut server = Kept::start(folder.path(), "", &["--max-step-work", "1000000000"]);
        assert_eq!(server.hook("s", "PreToolUse", "look", ""), "{}");
        occupy(&server.at);
        let kill = || {
            let pid = server.child.id().to_string();
            let killed = Command::new("kill")
                .args([format!("-{signal}"), pid])
                .status();
            assert!(killed.unwrap().success());
        };
        if signal == "TERM" {
            kill();
            std::thread::sleep(Duration::from_millis(200));
        }
        let more = if is_read {
            "Content-Length: 200"
        } else {
            "Transfer-Encoding: gzip"
        };
        let body = format!(
            r#"{{"session_id":"s","hook_event_name":"PostToolUse","tool_use_id":"look1","tool_name":"look","tool_input":{{}}{SECRET}}}"#
        );
        let head = format!("POST /v1/hook HTTP/1.1\r\nHost: localhost\r\n{more}\r\n\r\n");
        let mut stream = TcpStream::connect(&server.at).unwrap();
        stream
            .write_all(format!("{head}{body:200}").as_bytes())
            .unwrap();
        std::thread::sleep(Duration::from_millis(200));
        if signal == "KILL" {
            kill();
        }
        server.child.wait().unwrap();
        let server = Kept::start(folder.path(), "", &[]);
        let answer = server.hook("s", "PreToolUse", "mail", "");
        assert!(answer.contains("no mail after a secret"), "{answer}");
    }
}

/// A body that is no call may have been one.
#[test]
fn an_outcome_that_cannot_be_read_is_not_forgotten() {
    for body in ["", r#"{"session_id""#, "garbage"] {
        let folder = folder();
        let server = Kept::start(folder.path(), "", &[]);
        assert_eq!(server.hook("s", "PreToolUse", "look", ""), "{}");
        // Another program's hook is none of those known.
        let unknown = server.hook("s", "NewHook", "look", "");
        assert_eq!(
            server.hook("s", "PreToolUse", "mail", ""),
            "{}",
            "{unknown}"
        );
        let mut stream = TcpStream::connect(&server.at).unwrap();
        let head = "POST /v1/hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90";
        stream
            .write_all(format!("{head}\r\n\r\n{body}").as_bytes())
            .unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
        let answer = server.hook("s", "PreToolUse", "mail", "");
        assert!(answer.contains("no mail after a secret"), "{answer}");
    }
}

/// A call or prompt that is refused for its length has happened for nobody.
#[test]
fn a_refused_call_is_no_outcome() {
    let folder = folder();
    let server = Kept::start(folder.path(), "", &["--max-body", "1000"]);
    assert_eq!(server.hook("s", "PreToolUse", "look", ""), "{}");
    let long = format!(r#","content":"{}""#, "x".repeat(5000));
    for name in ["PreToolUse", "UserPromptSubmit"] {
        let answer = server.hook("other", name, "write", &long);
        assert!(answer.contains("too long"), "{answer}");
        assert_eq!(server.hook("s", "PreToolUse", "mail", ""), "{}");
    }
    server.hook("other", "PostToolUse", "write", &long);
    let answer = server.hook("other", "PreToolUse", "mail", "");
    assert!(answer.contains("no mail after a secret"), "{answer}");
}

/// A connection that makes room for another one is answered.
#[test]
fn a_call_that_does_not_arrive_whole_is_denied() {
    let folder = folder();
    let server = Kept::start(folder.path(), "", &["--max-clients", "1"]);
    let mut slow = TcpStream::connect(&server.at).unwrap();
    let body = r#"{"session_id":"other","hook_event_name":"PreToolUse","tool_name":"look","#;
    let head = "POST /v1/hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200";
    let begun = format!("{head}\r\n\r\n{body}");
    slow.write_all(begun.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(server.hook("s", "PreToolUse", "look", ""), "{}");
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(
        answer.contains(r#""permissionDecision":"deny""#),
        "{answer}"
    );
    drop(slow);
    // It was a call, so no outcome was lost.
    assert_eq!(server.hook("s", "PreToolUse", "mail", ""), "{}");
}

/// An answer has a decision for each line, so the lines are limited.
#[test]
fn a_body_of_too_many_lines_is_only_recorded() {
    let folder = folder();
    let server = Kept::start(folder.path(), "", &["--max-lines", "2"]);
    let line = |phase: &str, kind: &str| {
        format!(
            r#"{{"phase":"{phase}","event":{{"trace":"t","kind":"{kind}","tool":"look","text":"SECRET"}}}}"#
        )
    };
    let (look, found) = (line("before", "call"), line("after", "result"));
    let (status, answer) = decide(&server.at, "", &format!("{look}\n\n{found}\n{look}\n"));
    assert_eq!(status, 413, "{answer}");
    assert!(answer.contains("at most 2 lines"), "{answer}");
    let (status, answer) = decide(&server.at, "", MAIL);
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("no mail after a secret"), "{answer}");
}

/// Two programs with tokens of their own go on with one session.
#[test]
fn a_question_belongs_to_its_session() {
    let folder = folder();
    let spec = format!(
        "{SPEC}property one = G (count(kind == \"call\" and tool == \"pay\") <= 1)\n\
        enforce one {{ violated => block \"one payment\" }}\n\
        enforce when kind == \"call\" and tool == \"pay\" => ask \"pay?\"\n"
    );
    std::fs::write(folder.path().join("t.guard"), spec).unwrap();
    for token in ["a", "b"] {
        let file = folder.path().join(token);
        std::fs::write(&file, format!("{}\n", token.repeat(32))).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    }
    let server = Kept::begin(
        folder.path(),
        "",
        &["--token-file", "a", "--token-file", "b"],
    );
    let hook = |token: &str, name: &str| {
        let body = format!(
            r#"{{"session_id":"s","hook_event_name":"{name}","tool_use_id":"1","tool_name":"pay","tool_input":{{}}}}"#
        );
        let stream = TcpStream::connect(&server.at).unwrap();
        let bearer = format!("Authorization: Bearer {}\r\n", token.repeat(32));
        ask(stream, "POST", "/v1/hook", &bearer, &body).1
    };
    for (asks, ends) in [("a", "b"), ("b", "a")] {
        let asked = hook(asks, "PreToolUse");
        assert!(asked.contains(r#""permissionDecision":"ask""#), "{asked}");
        assert_eq!(hook(ends, "Stop"), "{}");
    }
}

/// What a tool answers is not the word of an approver, and its outcome happened all the same.
#[test]
fn an_outcome_that_reads_like_an_approval_is_recorded() {
    let spec = "use std.agent\npredicate done(t: string) = kind == \"result\" and tool == t\n\
        enforce when kind == \"call\" and tool == \"mail\" and once done(\"look\") => block \"looked\"\n\
        enforce when kind == \"call\" and tool == \"pay\" and not once (text == \"APPROVED\") => block \"not approved\"\n";
    let args = ["--listen", "127.0.0.1:0", "--token-file", "DIR/token"];
    let approver = ["--approver-token-file", "DIR/approver", "--approval"];
    let daemon = daemon_of(spec, &[&args[..], &approver, &["text=APPROVED"]].concat());
    let hook = |name: &str, tool: &str| {
        let body = serde_json::json!({"session_id": "s", "hook_event_name": name, "tool_use_id": tool,
            "tool_name": tool, "tool_input": {}, "tool_response": "approved"});
        let stream = TcpStream::connect(&daemon.at).unwrap();
        let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
        ask(stream, "POST", "/v1/hook", &bearer, &body.to_string()).1
    };
    assert_eq!(hook("PreToolUse", "look"), "{}");
    assert_eq!(hook("PostToolUse", "look"), "{}");
    assert!(hook("PreToolUse", "mail").contains("looked"));
    assert!(hook("PreToolUse", "pay").contains("deny"));
}

/// The outcome that itself finds the disk full is marked, as later ones are.
#[test]
fn an_outcome_that_cannot_be_kept_is_not_forgotten() {
    let folder = folder();
    let server = Kept::start(folder.path(), "trap '' XFSZ; ulimit -f 64;", &[]);
    let text = format!(r#","tool_response":"a SECRET {}""#, "x".repeat(3000));
    let lost = (0..100).map(|i| format!("s{i}")).find(|session| {
        let judged = server.hook(session, "PreToolUse", "look", "");
        assert_eq!(judged, "{}", "the disk is full before an outcome");
        let answer = server.hook(session, "PostToolUse", "look", &text);
        answer.contains("not checked")
    });
    let lost = lost.expect("the disk is not full");
    server.end();
    let server = Kept::start(folder.path(), "", &[]);
    let answer = server.hook(&lost, "PreToolUse", "mail", "");
    assert!(answer.contains("no mail after a secret"), "{answer}");
}

/// Without a token one may only ask whether the server lives.
#[test]
fn clients_that_take_no_answer_keep_no_place() {
    let arguments = ["--listen", "127.0.0.1:0", "--max-clients", "4"];
    let daemon = daemon_of(
        SPEC,
        &[&arguments[..], &["--token-file", "DIR/token"]].concat(),
    );
    let asks = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(10_000);
    let flood: Vec<_> = (0..8)
        .map(|_| {
            let (at, asks) = (daemon.at.clone(), asks.clone());
            std::thread::spawn(move || {
                for _ in 0..2 {
                    let mut stream = TcpStream::connect(&at).unwrap();
                    let _ = stream.set_write_timeout(Some(Duration::from_secs(1)));
                    while stream.write_all(asks.as_bytes()).is_ok() {}
                }
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(500));
    for _ in 0..4 {
        let token = "Authorization: bearer a-token-of-enough-letters\r\n";
        let (status, answer) = decide(&daemon.at, token, r#"{"trace":"t","kind":"result"}"#);
        assert_eq!(status, 200, "{answer}");
    }
    flood.into_iter().for_each(|thread| thread.join().unwrap());
    let chunks = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    let answer = raw(&daemon.at, chunks.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

/// Connections that wait are not accepted before there are files for them.
#[test]
fn more_connections_than_files_are_answered() {
    let folder = folder();
    // The hard limit, which no process raises.
    let server = Kept::start(folder.path(), "ulimit -n 128;", &[]);
    assert_eq!(server.hook("s", "PreToolUse", "look", ""), "{}");
    let idle: Vec<_> = (0..300)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(&server.at).ok()?;
            stream.write_all(b"POST /v1/hook HTTP/1.1\r\nHost: ").ok()?;
            Some(stream)
        })
        .collect();
    assert!(idle.len() > 128);
    server.hook("s", "PostToolUse", "look", SECRET);
    drop(idle);
    let answer = server.hook("s", "PreToolUse", "mail", "");
    assert!(answer.contains("no mail after a secret"), "{answer}");
}

const DEADLINE: &str = r#"
event {
  tool: string? = null
  at: time? = null
  who: string? from "/args/who" = null
}
property answered = forall w: always (tool == "ask" and who == w -> F[0,1s] tool == "answer")
enforce answered { violated => reflect "no answer for {w}" }
"#;

/// A decision on a deadline holds values of its trace: whoever acts there reads it, and nobody else.
#[test]
fn a_missed_deadline_is_told_to_whoever_acts_in_its_trace() {
    let more = ["--token-file", "DIR/token", "--token-file", "DIR/approver"];
    let daemon = daemon_of(
        DEADLINE,
        &[&["--listen", "127.0.0.1:0"][..], &more].concat(),
    );
    let act = |token: &str, trace: &str, tool: &str| {
        let token = format!("Authorization: Bearer {token}\r\n");
        let line = format!(
            r#"{{"phase":"act","event":{{"trace":"{trace}","kind":"call","tool":"{tool}","args":{{"who":"me-{trace}"}}}}}}"#
        );
        decide(&daemon.at, &token, &line).1
    };
    let (one, other) = (
        "a-token-of-enough-letters",
        "the-token-of-those-who-approve",
    );
    act(one, "A", "ask");
    std::thread::sleep(Duration::from_millis(2200));
    let of_other = act(other, "B", "look");
    assert!(!of_other.contains("me-A"), "{of_other}");
    let own = act(one, "A", "look");
    assert!(own.contains("no answer for me-A"), "{own}");
    assert!(!act(one, "A", "look").contains("deadline"));
}

#[test]
fn a_hook_is_told_of_a_missed_deadline() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("t.guard"),
        DEADLINE.replace("/args/who", "/tool"),
    )
    .unwrap();
    let server = Kept::start(folder.path(), "", &[]);
    assert_eq!(server.hook("s", "PreToolUse", "ask", ""), "{}");
    server.end();
    let server = Kept::start(folder.path(), "", &[]);
    std::thread::sleep(Duration::from_millis(2200));
    assert_eq!(server.hook("other", "PreToolUse", "look", ""), "{}");
    let (_, of_client) = decide(&server.at, "", r#"{"trace":"B","tool":"look"}"#);
    assert!(!of_client.contains("deadline"), "{of_client}");
    let answer = server.hook("s", "PreToolUse", "look", "");
    assert!(
        answer.contains(r#""additionalContext":"no answer for ask""#),
        "{answer}"
    );
    assert_eq!(server.hook("s", "PreToolUse", "look", ""), "{}");
}

/// Sends a body of which the end does not arrive.
fn send_cut(daemon: &Daemon, body: &str) -> String {
    let mut stream = TcpStream::connect(&daemon.at).unwrap();
    let head = format!(
        "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len() + 100
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// An outcome is recorded in its own trace or in none, and the answer says which.
#[test]
fn an_outcome_whose_trace_is_lost_is_refused() {
    let daemon = daemon_of(SPEC, &["--listen", "127.0.0.1:0"]);
    decide(&daemon.at, "", r#"{"trace":"t","kind":"message"}"#);
    let answer = send_cut(
        &daemon,
        r#"{"phase":"after","event":{"kind":"result","text":"SECRET""#,
    );
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("could not be recorded"), "{answer}");
    let unnamed = MAIL.replace(r#""trace":"t","#, "");
    let (_, answer) = decide(&daemon.at, "", &unnamed);
    assert!(
        answer.contains(r#""step":0,"decision":"allow""#),
        "{answer}"
    );
    // Nor is it said that a body was recorded of which a part did not arrive.
    let long = format!(
        r#"{{"trace":"t","kind":"result","text":"{}"}}"#,
        "x".repeat(1 << 20)
    );
    let answer = send_cut(&daemon, &format!("{long}\n"));
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    // Also where those that have names have ended.
    decide(&daemon.at, "", r#"{"kind":"message"}"#);
    decide(&daemon.at, "", r#"{"trace":"t","end":true}"#);
    let answer = send_cut(
        &daemon,
        r#"{"phase":"after","event":{"kind":"result","text":"SECRET""#,
    );
    assert!(answer.contains("could not be recorded"), "{answer}");
    // Where no event names a trace there is only one.
    let daemon = daemon_of(SPEC, &["--listen", "127.0.0.1:0"]);
    decide(&daemon.at, "", r#"{"kind":"message"}"#);
    send_cut(
        &daemon,
        r#"{"phase":"after","event":{"kind":"result","text":"SECRET""#,
    );
    let (_, answer) = decide(&daemon.at, "", &unnamed);
    assert!(answer.contains("no mail after a secret"), "{answer}");
}

/// The work for a body that is too long is linear in it.
#[test]
fn blanks_behind_a_key_cost_no_more_than_others() {
    let daemon = daemon_of(SPEC, &["--listen", "127.0.0.1:0"]);
    let members = r#""k":1,"#.repeat(2000);
    let body = format!(
        r#"{{"phase":"after","event"{}:{{{members}"trace":"t","kind":"result","text":"{}"}}}}"#,
        " ".repeat(700_000),
        "SECRET".repeat(100_000),
    );
    let (status, answer) = decide(&daemon.at, "", &body);
    assert!([400, 413].contains(&status), "{status} {answer}");
}

/// An approver knows the session, and its approval holds for the main agent's own calls too, whichever way it is reported.
#[test]
fn an_approval_of_a_session_is_one_for_its_main_agent() {
    let spec = "use std.agent\npredicate pays = kind == \"call\" and tool == \"pay\"\n\
        property covered = always (count(pays) <= count(kind == \"approval\"))\n\
        enforce covered { violated => block \"not approved\" }\n";
    let daemon = daemon_of(
        spec,
        &[
            "--listen",
            "127.0.0.1:0",
            "--token-file",
            "DIR/token",
            "--approver-token-file",
            "DIR/approver",
        ],
    );
    let say = |token: &str, path: &str, body: &str| {
        let header = format!("Authorization: Bearer {token}\r\n");
        let stream = TcpStream::connect(&daemon.at).unwrap();
        ask(stream, "POST", path, &header, body).1
    };
    for way in ["observe", "act", "commit"] {
        let hook = |agent: Option<&str>, tool: &str| {
            let body = serde_json::json!({"session_id": way, "agent_id": agent, "hook_event_name": "PreToolUse",
                "tool_name": tool, "tool_input": {}, "tool_use_id": tool});
            say(TOKEN, "/v1/hook", &body.to_string())
        };
        assert_eq!(hook(Some("a"), "list"), "{}");
        assert!(hook(None, "pay").contains("not approved"), "{way}");
        let event = format!(r#"{{"trace":"{way}","kind":"approval"}}"#);
        let decide = |body: &str| say(APPROVER, "/v1/decide", body);
        match way {
            "observe" => decide(&event),
            "act" => decide(&format!(r#"{{"phase":"act","event":{event}}}"#)),
            _ => {
                let proposed = decide(&format!(r#"{{"phase":"before","event":{event}}}"#));
                let proposed: serde_json::Value = serde_json::from_str(&proposed).unwrap();
                let number = &proposed["proposal"];
                let commit = format!(r#"{{"phase":"commit","proposal":{number},"event":{event}}}"#);
                decide(&commit)
            }
        };
        assert_eq!(hook(None, "pay"), "{}", "{way}");
        // It is spent in both traces.
        assert!(hook(None, "pay").contains("not approved"), "{way}");
        assert!(hook(Some("a"), "pay").contains("not approved"), "{way}");
    }
}
