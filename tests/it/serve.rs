//! `guard serve` over TCP and a Unix socket, with requests written byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support;

const SPEC: &str = r#"
event {
  kind: string
  tool: string? = unknown
  text: string? = unknown
}
property once_only = G (count(kind == "pay") <= 1)
enforce once_only { violated => block "one payment a run" }
predicate secret = kind == "result" and text contains "SECRET"
property no_leak = never (kind == "call" and tool == "mail" and once secret)
enforce no_leak { violated => block "no mail after a secret" }
enforce when kind == "wire" => ask "sure?"
"#;

pub(crate) const TOKEN: &str = "a-token-of-enough-letters";
pub(crate) const APPROVER: &str = "the-token-of-those-who-approve";

pub(crate) struct Daemon {
    pub(crate) child: Child,
    pub(crate) at: String,
    /// The first line of its error output.
    said: String,
    folder: tempfile::TempDir,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spec() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("pay.guard");
    std::fs::write(&spec, SPEC).unwrap();
    (folder, spec)
}

/// A daemon, and where it says it listens.
fn daemon(args: &[&str]) -> Daemon {
    daemon_of(SPEC, args)
}

pub(crate) fn daemon_of(text: &str, args: &[&str]) -> Daemon {
    let (folder, spec) = spec();
    std::fs::write(&spec, text).unwrap();
    let no_token = (!args.contains(&"--token-file")).then_some("--no-token");
    let args = args
        .iter()
        .map(|arg| arg.replace("DIR", folder.path().to_str().unwrap()));
    for (file, token) in [("token", TOKEN), ("approver", APPROVER)] {
        support::write_private(&folder.path().join(file), &format!("{token}\n"));
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_guard"))
        .arg("serve")
        .arg(&spec)
        .args(args)
        .args(no_token)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // behind warnings about the spec
    let mut said = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        said.push_str(&line);
        said.push('\n');
        if line.starts_with("listening") {
            break;
        }
    }
    let at = said
        .trim()
        .trim_end_matches('`')
        .rsplit(['/', '`'])
        .next()
        .unwrap()
        .to_owned();
    Daemon {
        child,
        at,
        said,
        folder,
    }
}

/// Status and body of an answer.
pub(crate) fn ask(
    mut stream: impl Read + Write,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> (u16, String) {
    let len = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {len}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

#[test]
fn decisions_over_http() {
    let daemon = daemon(&["--listen", "127.0.0.1:0", "--max-body", "1000"]);
    let ask = |method, path, headers, body: &str| {
        ask(
            TcpStream::connect(&daemon.at).unwrap(),
            method,
            path,
            headers,
            body,
        )
    };
    let pay = r#"{"phase":"before","event":{"trace":"a","kind":"pay"}}"#;
    assert!(
        ask("POST", "/v1/decide", "", pay)
            .1
            .contains("\"decision\":\"allow\"")
    );
    let twice = "{\"trace\":\"a\",\"kind\":\"pay\"}\n\n{\"trace\":\"a\",\"kind\":\"look\"}\n";
    let (status, body) = ask("POST", "/v1/decide", "", twice);
    assert_eq!((status, body.lines().count()), (200, 2), "{body}");
    assert!(
        ask("POST", "/v1/decide", "", pay)
            .1
            .contains("\"decision\":\"block\"")
    );
    assert!(
        ask("POST", "/v1/decide", "", "garbage")
            .1
            .contains("\"decision\":\"block\"")
    );
    assert_eq!(
        ask("GET", "/v1/health", "", ""),
        (200, "{\"ok\":true,\"traces\":1,\"v\":1}".to_owned())
    );
    assert_eq!(ask("GET", "/v1/decide", "", "").0, 405);
    assert_eq!(ask("POST", "/other", "", "").0, 404);
    assert_eq!(
        ask("POST", "/v1/decide", "Origin: http://evil.example\r\n", pay).0,
        403
    );
    assert_eq!(ask("POST", "/v1/decide", "", &"x".repeat(1001)).0, 413);
    let hook = r#"{"session_id":"s","hook_event_name":"PreToolUse"}"#;
    assert!(
        ask("POST", "/v1/hook", "", hook)
            .1
            .contains("\"permissionDecision\":\"deny\"")
    );
    // A client that stalls holds nobody else up.
    let mut stalled = TcpStream::connect(&daemon.at).unwrap();
    stalled
        .write_all(b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{")
        .unwrap();
    assert!(
        ask("POST", "/v1/decide", "", pay)
            .1
            .contains("\"decision\":\"block\"")
    );
}

/// Sends bodies that are too long or end too soon, each of a trace that it names `T`, and then asks to send mail, which is denied.
fn deny_mail_after(daemon: &Daemon, bodies: &[String]) {
    for (number, body) in bodies.iter().enumerate() {
        let trace = format!("t{number}");
        let body = body.replace("\"T\"", &format!("\"{trace}\""));
        let request = format!(
            "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\n{body}"
        );
        let answer = raw(&daemon.at, request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
        let mail = format!(r#"{{"phase":"act","event":{{"trace":"{trace}","kind":"mail"}}}}"#);
        let connection = TcpStream::connect(&daemon.at).unwrap();
        let (_, decision) = ask(connection, "POST", "/v1/decide", "", &mail);
        assert!(
            decision.contains("\"decision\":\"block\""),
            "{body}: {decision}"
        );
    }
}

/// Of an event in a body that is too long or cut off, what cannot be read is unknown and not absent, in an envelope or bare, and
/// whatever its values are: a tool chooses the keys of what it returns.
#[test]
fn what_is_missing_of_an_event_that_is_cut_off_is_unknown() {
    let spec = "event { kind: string text: string? args: json? }\n\
        property p = never (kind == \"mail\" and once (text contains \"SECRET\"))\nenforce p { violated => block }\n";
    let daemon = daemon_of(spec, &["--listen", "127.0.0.1:0", "--max-body", "1000"]);
    let x = "x".repeat(2000);
    let keys: String = (0..300).map(|key| format!(r#""key{key}":1,"#)).collect();
    let bodies = [
        r#"{"trace":"T","kind":"result","#.to_owned(),
        r#"{"trace":"T","kind":"result","te"#.to_owned(),
        format!(r#"{{"trace":"T","kind":"result","pad":"{x}","#),
        format!(r#"{{"trace":"T","kind":"result","te\ud800xt":"SECRET","pad":"{x}"}}"#),
        format!(
            r#"{{"phase":"after","event":{{"trace":"T","kind":"result","text":"SECRET","args":{{"\ud800":1}},"pad":"{x}"}}}}"#
        ),
        format!(
            r#"{{"phase":"after","event":{{"trace":"T","kind":"result","text":"SECRET","args":01,"pad":"{x}"}}}}"#
        ),
        format!(
            r#"{{"phase":"after","event":{{"trace":"T","kind":"result","te\ud800xt":"SECRET","pad":"{x}"}}}}"#
        ),
        format!(
            r#"{{"phase":"after","event":{{"trace":"T","kind":"result","text":"SECRET","args":[NaN,-Infinity],"pad":"{x}"}}}}"#
        ),
        format!(
            r#"{{"phase":"after","event":{{"trace":"T","kind":"result",{keys}"text":"SECRET"}}}}"#
        ),
        format!(
            r#"{{"phase":"after","event":{{"trace":"T","kind":"result","{x}":1,"text":"SECRET"}}}}"#
        ),
        r#"{"trace":"T","kind":"result","event":"login","te"#.to_owned(),
        format!(
            r#"{{"trace":"T","kind":"result","event":"login","te\ud800xt":"SECRET","pad":"{x}"}}"#
        ),
        r#"{"trace":"T","kind":"result","a\"event":1,"te"#.to_owned(),
        r#"{"phase":"commit","event":{"trace":"T","kind":"result","text":"SECRET"},"proposal":"#
            .to_owned(),
        format!(r#"{{ "phase" : "after", "event" : {{ "trace":"T","kind" : "result", "pad":"{x}"#),
    ];
    deny_mail_after(&daemon, &bodies);
}

#[test]
fn what_happened_is_recorded_whatever_becomes_of_the_request() {
    let daemon = daemon(&["--listen", "127.0.0.1:0", "--max-body", "1000"]);
    let connect = || TcpStream::connect(&daemon.at).unwrap();
    let hook = |session: &str, name: &str, tool: &str, rest: &str| {
        format!(
            r#"{{"session_id":"{session}","hook_event_name":"{name}","tool_name":"{tool}","tool_input":{{}},"tool_use_id":"{session}{tool}"{rest}}}"#
        )
    };
    let may_mail = |session: &str| {
        let (status, body) = ask(
            connect(),
            "POST",
            "/v1/hook",
            "",
            &hook(session, "PreToolUse", "mail", ""),
        );
        assert_eq!(status, 200);
        !body.contains("\"deny\"")
    };
    let cut_off = |path: &str, body: &str| {
        let mut stream = connect();
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n{body}");
        stream.write_all(head.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    let x = "x".repeat(5000);
    let long = format!(r#","tool_response":{{"stdout":"{x}"}}"#);
    assert!(may_mail("none"));
    // A hook's outcome that is too long.
    let (status, body) = ask(
        connect(),
        "POST",
        "/v1/hook",
        "",
        &hook("a", "PostToolUse", "read", &long),
    );
    assert!(
        status == 200 && body.contains("not judged before"),
        "{body}"
    );
    assert!(!may_mail("a"));
    // One that is cut off, of a client that has gone.
    let cut = hook(
        "b",
        "PostToolUse",
        "read",
        r#","tool_response":{"stdout":"begins"#,
    );
    let answer = cut_off("/v1/hook", cut.trim_end_matches('}'));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!may_mail("b"));
    // A call that is too long is denied.
    let (status, body) = ask(
        connect(),
        "POST",
        "/v1/hook",
        "",
        &hook("c", "PreToolUse", "read", &long),
    );
    assert!(status == 200 && body.contains("\"deny\""), "{body}");
    assert!(may_mail("c"));
    // Lines of a body that is too long: what happened is recorded, and nothing is decided.
    let lines = format!(
        "{}\n{}\n{}\n",
        r#"{"phase":"act","event":{"trace":"d","kind":"pay"}}"#,
        format_args!(r#"{{"phase":"after","event":{{"trace":"d","kind":"result","text":"{x}"}}}}"#),
        r#"{"trace":"e","kind":"result","text":"SECRET"}"#,
    );
    assert_eq!(ask(connect(), "POST", "/v1/decide", "", &lines).0, 413);
    assert!(!may_mail("d") && !may_mail("e"));
    let pay = r#"{"phase":"act","event":{"trace":"d","kind":"pay"}}"#;
    let (_, body) = ask(connect(), "POST", "/v1/decide", "", pay);
    assert!(body.contains("\"decision\":\"allow\""), "{body}");
    // Lines that are cut off.
    let answer = cut_off(
        "/v1/decide",
        r#"{"phase":"after","event":{"trace":"f","kind":"result","text":"SEC"#,
    );
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(!may_mail("f"));
    // What is missing behind the last whole member is not absent.
    let answer = cut_off(
        "/v1/decide",
        r#"{"phase":"after","event":{"trace":"m","kind":"result","te"#,
    );
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(!may_mail("m"));
    // The same in chunks: too long, cut off, and followed by what is no chunk.
    let in_chunks = |path: &str, body: &str, end: &str| {
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        );
        for part in body.as_bytes().chunks(700) {
            let part = std::str::from_utf8(part).unwrap();
            request.push_str(&format!("{:x}\r\n{part}\r\n", part.len()));
        }
        raw(&daemon.at, (request + end).as_bytes())
    };
    let secret = |trace: &str| {
        format!(
            "{{\"phase\":\"after\",\"event\":{{\"trace\":\"{trace}\",\"kind\":\"result\",\"text\":\"SECRET\"}}}}\n"
        )
    };
    let two = format!("{}{}", secret("g"), lines.replace("\"d\"", "\"h\""));
    let answer = in_chunks("/v1/decide", &two, "0\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(!may_mail("g") && !may_mail("h"));
    for (trace, end) in [("i", ""), ("j", "x"), ("k", "2\r\n{}xx")] {
        let answer = in_chunks("/v1/decide", &secret(trace), end);
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(!may_mail(trace), "{trace}");
    }
    let answer = in_chunks(
        "/v1/hook",
        &hook("l", "PostToolUse", "read", &long),
        "0\r\n\r\n",
    );
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!may_mail("l"));
}

#[test]
fn a_token_is_asked_for() {
    let daemon = daemon(&["--listen", "127.0.0.1:0", "--token-file", "DIR/token"]);
    let ask = |headers: &str| {
        ask(
            TcpStream::connect(&daemon.at).unwrap(),
            "POST",
            "/v1/decide",
            headers,
            "{\"kind\":\"look\"}",
        )
        .0
    };
    assert_eq!(ask(""), 401);
    assert_eq!(
        ask("Authorization: Bearer another-token-of-letters\r\n"),
        401
    );
    let bearer = "Authorization: Bearer a-token-of-enough-letters\r\n";
    assert_eq!(ask(bearer), 200);
    // which of two counts, readers differ on
    for other in ["another-token-of-letters", TOKEN] {
        let other = format!("Authorization: Bearer {other}\r\n");
        assert_eq!(ask(&format!("{bearer}{other}")), 400);
        assert_eq!(ask(&format!("{other}{bearer}")), 400);
    }
}

/// Whoever can write the file of a token can approve after a restart.
#[test]
fn files_of_tokens_are_of_one_user_and_one_client() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, spec) = spec();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let start = |args: &[&str]| {
        let mut guard = assert_cmd::Command::cargo_bin("guard").unwrap();
        guard
            .arg("serve")
            .arg(&spec)
            .args(["--listen", "127.0.0.1:0"]);
        guard.args(args).timeout(std::time::Duration::from_secs(20));
        let output = guard.output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for (name, token) in [("a", TOKEN), ("b", APPROVER), ("c", TOKEN)] {
        support::write_private(path(name).as_ref(), token);
    }
    for (first, second) in [("a", "a"), ("a", "c")] {
        let (code, said) = start(&["--token-file", &path(first), "--token-file", &path(second)]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("different tokens"), "{said}");
    }
    let read = "others can read the file";
    let write = "others can write the file";
    for (mode, why) in [
        (0o666, write),
        (0o620, write),
        (0o602, write),
        (0o644, read),
        (0o640, read),
        (0o604, read),
    ] {
        std::fs::set_permissions(path("b"), std::fs::Permissions::from_mode(mode)).unwrap();
        for role in ["--token-file", "--approver-token-file"] {
            let mut args = vec![role.to_owned(), path("b")];
            if role != "--token-file" {
                args.extend(["--token-file".to_owned(), path("a")]);
            }
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let (code, said) = start(&args);
            assert_eq!(code, Some(2), "{mode:o} {role}: {said}");
            let mode = format!("{why} (mode {mode:04o}); run `chmod 600 {}`", path("b"));
            assert!(said.contains(&mode), "{said}");
            // The option is for reading only; the token is then used, and the model is what is wrong.
            let option = ["--allow-readable-secrets", "--model", "nowhere.json"];
            let (code, said) = start(&[&args[..], &option].concat());
            let used = said.contains("nowhere.json");
            assert_eq!((code, used), (Some(2), why == read), "{said}");
        }
    }
}

/// An approver token that guards no approval is warned of at the start: what the spec takes for an approval, every client may report.
#[test]
fn a_token_that_guards_no_approval_is_told_of() {
    let said = |rest: &str, approvals: &[&str]| {
        let spec = format!("event {{ kind: string  by: string?  n: int? }}\n{rest}\n");
        let args = [
            "--listen",
            "127.0.0.1:0",
            "--token-file",
            "DIR/token",
            "--approver-token-file",
            "DIR/approver",
        ];
        daemon_of(&spec, &[&args[..], approvals].concat())
            .said
            .clone()
    };
    let is_warned = |rest: &str, approvals: &[&str]| {
        let said = said(rest, approvals);
        said.starts_with("warning: no condition of the spec tells events with `kind=")
    };
    let pays = |approval: &str| {
        format!("enforce when kind == \"pay\" and not once ({approval}) => block \"no\"")
    };
    let named = ["--approval", "kind=approved"];
    assert!(is_warned(&pays("kind == \"approved\""), &[]));
    assert!(!is_warned(&pays("kind == \"approved\""), &named));
    assert!(is_warned(&pays("kind == \"approval\""), &named));
    // The questions of a spec are guarded without any approval; who names one means it.
    let asks = "enforce when kind == \"pay\" => ask \"sure?\"";
    assert!(!is_warned(asks, &[]));
    assert!(is_warned(asks, &named));
    // If a condition does more than compare with constants, the server does not warn.
    for told in [
        "kind == \"approval\"",
        "lower(kind) == \"approval\"",
        "kind matches /^appr/",
        "kind in [\"approval\", \"ok\"]",
        "kind == by",
        "before(kind) == by",
    ] {
        assert!(!is_warned(&pays(told), &[]), "{told}");
    }
    assert!(is_warned(&pays("lower(kind) == \"ok\""), &[]));
    let track =
        "track last_kind: string = \"\" then kind\nenforce when last_kind == \"x\" => block \"no\"";
    assert!(!is_warned(track, &[]));
    // A number may be written in several ways.
    assert!(!is_warned(&pays("n == 1"), &["--approval", "n=1"]));
}

#[test]
fn only_approvers_approve() {
    let daemon = daemon(&[
        "--listen",
        "127.0.0.1:0",
        "--token-file",
        "DIR/token",
        "--approver-token-file",
        "DIR/approver",
        "--journal",
        "DIR/journal",
    ]);
    let say = |token: &str, body: &str| {
        let header = format!("Authorization: Bearer {token}\r\n");
        let stream = TcpStream::connect(&daemon.at).unwrap();
        ask(stream, "POST", "/v1/decide", &header, body)
    };
    let refused = |body: &str| {
        let (status, answer) = say(TOKEN, body);
        assert_eq!(status, 200);
        answer.contains("only an approver may")
    };
    assert!(!refused(r#"{"trace":"a","kind":"pay"}"#));
    assert!(refused(r#"{"trace":"a","kind":"approval"}"#));
    assert!(refused(r#"{"trace":"a","kind":"approv\u0061l"}"#));
    assert!(refused(
        r#"{"phase":"act","event":{"trace":"a","kind":"approval"}}"#
    ));
    assert!(refused(
        r#"{"phase":"commit","proposal":9,"event":{"trace":"a","kind":"approval"}}"#
    ));
    assert!(refused(
        "{\"trace\":\"a\",\"kind\":\"approval\",\"x\":\"\u{1}\"}"
    ));
    assert!(
        refused(r#"{"trace":"a","end":true}"#),
        "a new trace would forget the payment"
    );
    let (_, again) = say(
        TOKEN,
        r#"{"phase":"act","event":{"trace":"a","kind":"pay"}}"#,
    );
    assert!(again.contains("\"decision\":\"block\""), "{again}");
    // A proposal that has expired, or never was, is not committed by its number.
    let asked = |phase: &str| {
        let body = format!(r#"{{{phase},"event":{{"trace":"b","kind":"wire"}}}}"#);
        say(TOKEN, &body).1
    };
    assert!(asked(r#""phase":"act""#).contains("\"decision\":\"ask\""));
    let unknown = asked(r#""phase":"commit","proposal":999"#);
    assert!(unknown.contains("only an approver may commit"), "{unknown}");
    let (_, approved) = say(APPROVER, r#"{"trace":"a","kind":"approval"}"#);
    assert!(approved.contains("\"decision\":\"allow\",") && !approved.contains("errors"));
    // What a person must decide has no other number than that of its proposal, and none once that is too old.
    let answered = daemon_of(
        "use std.agent\nenforce when kind == \"call\" and tool == \"wire\" => ask \"sure?\"\n",
        &[
            "--listen",
            "127.0.0.1:0",
            "--token-file",
            "DIR/token",
            "--approver-token-file",
            "DIR/approver",
        ],
    );
    let to = |token: &str, phase: &str, tool: &str| {
        let header = format!("Authorization: Bearer {token}\r\n");
        let stream = TcpStream::connect(&answered.at).unwrap();
        let body = format!(r#"{{{phase},"event":{{"trace":"a","kind":"call","tool":"{tool}"}}}}"#);
        ask(stream, "POST", "/v1/decide", &header, &body).1
    };
    let other = to(TOKEN, r#""phase":"before""#, "read");
    assert!(other.contains("\"proposal\":1"), "{other}");
    for number in [0, 1, 999] {
        let phase = format!(r#""phase":"commit","proposal":{number}"#);
        let answer = to(TOKEN, &phase, "wire");
        assert!(answer.contains("only an approver may commit"), "{answer}");
    }
    let answer = to(TOKEN, r#""phase":"commit","proposal":1"#, "read");
    assert!(answer.contains("\"decision\":\"allow\""), "{answer}");
    let answer = to(APPROVER, r#""phase":"commit","proposal":7"#, "wire");
    assert!(!answer.contains("only an approver"), "{answer}");
    // What was refused is refused again when the journal is replayed, whoever replays it.
    let journal = std::fs::read_to_string(daemon.folder.path().join("journal")).unwrap();
    assert_eq!(journal.matches(" refused:").count(), 7, "{journal}");
}

/// A hook has the token of those who report. What it says has run is on record, whoever had to answer for it.
#[test]
fn a_call_that_ran_is_on_record_without_an_approver() {
    let spec = "use std.agent\npredicate wires = kind == \"call\" and tool == \"wire\"\n\
        enforce when wires => ask \"sure?\"\nenforce when kind == \"message\" => ask \"sure?\"\n\
        property once_only = always (count(wires) <= 1)\nenforce once_only { violated => block \"one wire\" }\n\
        predicate told = kind == \"message\" and text contains \"stop\"\n\
        property quiet = never (wires and once told)\nenforce quiet { violated => block \"told to stop\" }\n";
    let args = ["--listen", "127.0.0.1:0", "--token-file", "DIR/token"];
    let daemon = daemon_of(
        spec,
        &[&args[..], &["--approver-token-file", "DIR/approver"]].concat(),
    );
    let hook = |hook: &str, session: &str, id: &str| {
        let body = serde_json::json!({"session_id": session, "hook_event_name": hook, "tool_name": "wire",
            "tool_input": {}, "tool_use_id": id, "tool_response": "done", "prompt": "stop now"});
        let header = format!("Authorization: Bearer {TOKEN}\r\n");
        let stream = TcpStream::connect(&daemon.at).unwrap();
        ask(stream, "POST", "/v1/hook", &header, &body.to_string()).1
    };
    assert!(hook("PreToolUse", "a", "1").contains("\"ask\""));
    let told = hook("PostToolUse", "a", "1");
    assert!(
        told.contains("this call ran before an approver answered: sure?"),
        "{told}"
    );
    // nothing is reserved any more: what counts is on record
    assert!(hook("Stop", "a", "").contains("{}"));
    assert!(hook("PreToolUse", "a", "2").contains("one wire"));
    hook("UserPromptSubmit", "b", "");
    assert!(hook("PreToolUse", "b", "3").contains("told to stop"));
}

/// The main agent's trace is forked when a sub-agent acts: Guard does it, not the reporter.
#[test]
fn sub_agents_are_judged_without_an_approver() {
    let spec = "use std.agent\npredicate mails = kind == \"call\" and tool == \"mail\"\n\
        property clean = never (mails and once (kind == \"result\" and text contains \"SECRET\"))\n\
        enforce clean { violated => block \"no mail after a secret\" }\n";
    let args = ["--listen", "127.0.0.1:0", "--token-file", "DIR/token"];
    let approver = ["--approver-token-file", "DIR/approver"];
    let daemon = daemon_of(spec, &[&args[..], &approver].concat());
    let hook = |hook: &str, agent: Option<&str>, tool: &str| {
        let body = serde_json::json!({"session_id": "s", "hook_event_name": hook, "tool_name": tool, "agent_id": agent,
            "tool_input": {}, "tool_use_id": tool, "tool_response": "SECRET"});
        let header = format!("Authorization: Bearer {TOKEN}\r\n");
        let stream = TcpStream::connect(&daemon.at).unwrap();
        ask(stream, "POST", "/v1/hook", &header, &body.to_string()).1
    };
    assert_eq!(hook("PreToolUse", Some("a"), "read"), "{}");
    hook("PostToolUse", Some("a"), "read");
    let mailed = hook("PreToolUse", None, "mail");
    assert!(mailed.contains("no mail after a secret"), "{mailed}");
}

/// A main agent's own trace holds the approvals of its session. It is made for hooks, and nobody else who reports spends them again.
#[test]
fn approvals_are_not_spent_in_a_copy_for_hooks() {
    let spec = "use std.agent\npredicate pays = kind == \"call\" and tool == \"pay\"\n\
        property covered = always (count(pays) <= count(kind == \"approval\"))\n\
        enforce covered { violated => block \"not approved\" }\n";
    let args = ["--listen", "127.0.0.1:0", "--token-file", "DIR/token"];
    let files = [
        "--approver-token-file",
        "DIR/approver",
        "--snapshot",
        "DIR/state",
    ];
    let all = [&args[..], &files].concat();
    let mut daemon = daemon_of(spec, &all);
    let say = |daemon: &Daemon, token: &str, path: &str, body: &str| {
        let header = format!("Authorization: Bearer {token}\r\n");
        let stream = TcpStream::connect(&daemon.at).unwrap();
        ask(stream, "POST", path, &header, body).1
    };
    let pay = |daemon: &Daemon, phase: &str, trace: &str| {
        let body =
            format!(r#"{{{phase},"event":{{"trace":"{trace}","kind":"call","tool":"pay"}}}}"#);
        say(daemon, TOKEN, "/v1/decide", &body)
    };
    let hook = |daemon: &Daemon, agent: Option<&str>, tool: &str| {
        let body = serde_json::json!({"session_id": "t1", "agent_id": agent, "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": {}, "tool_use_id": tool});
        say(daemon, TOKEN, "/v1/hook", &body.to_string())
    };
    let approval = r#"{"trace":"t1","kind":"approval"}"#;
    say(&daemon, APPROVER, "/v1/decide", approval);
    let unreachable = |daemon: &Daemon| {
        let phases = [
            r#""phase":"act""#,
            r#""phase":"before""#,
            r#""phase":"commit","proposal":1"#,
            r#""phase":"after""#,
        ];
        for phase in phases {
            let answer = pay(daemon, phase, "t1/");
            assert!(
                answer.contains("only hooks or an approver"),
                "{phase} {answer}"
            );
        }
    };
    // Whether it has begun or not.
    unreachable(&daemon);
    assert_eq!(hook(&daemon, Some("a"), "Read"), "{}");
    unreachable(&daemon);
    // Also after a restart.
    kill_process(Pid::from_child(&daemon.child), Signal::TERM).unwrap();
    daemon.child.wait().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_guard"))
        .arg("serve")
        .arg(daemon.folder.path().join("pay.guard"))
        .args(
            all.iter()
                .map(|arg| arg.replace("DIR", daemon.folder.path().to_str().unwrap())),
        )
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut from = BufReader::new(child.stderr.take().unwrap());
    from.read_line(&mut said).unwrap();
    daemon.at = said.trim().rsplit('/').next().unwrap().to_owned();
    daemon.child = child;
    unreachable(&daemon);
    // The main agent spends the approval in both traces, once.
    assert_eq!(hook(&daemon, None, "pay"), "{}");
    assert!(pay(&daemon, r#""phase":"act""#, "t1").contains("not approved"));
    let again = say(
        &daemon,
        APPROVER,
        "/v1/decide",
        &approval.replace("t1", "t1/"),
    );
    assert!(again.contains("\"decision\":\"allow\""), "{again}");
}

/// The outcomes of one session's calls are known as theirs however many calls other sessions make.
#[test]
fn no_session_makes_another_forget_its_calls() {
    let spec = "use std.agent\nproperty few = always (count(kind == \"call\" and tool == \"pay\") <= 1)\n\
        enforce few { violated => block \"one payment\" }\n";
    let daemon = daemon_of(spec, &["--listen", "127.0.0.1:0"]);
    let mut stream = TcpStream::connect(&daemon.at).unwrap();
    let mut from = BufReader::new(stream.try_clone().unwrap());
    let mut hook = |session: &str, hook: &str, tool: &str, id: &str| {
        let body = serde_json::json!({"session_id": session, "hook_event_name": hook, "tool_name": tool,
            "tool_input": {}, "tool_use_id": id, "tool_response": "done"});
        let body = body.to_string();
        let head = format!(
            "POST /v1/hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut length = 0;
        loop {
            let mut line = String::new();
            from.read_line(&mut line).unwrap();
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut answer = vec![0; length];
        from.read_exact(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    };
    assert_eq!(hook("a", "PreToolUse", "pay", "p1"), "{}");
    for n in 0..1001 {
        assert_eq!(hook("b", "PreToolUse", "Read", &n.to_string()), "{}");
    }
    assert_eq!(hook("a", "PostToolUse", "pay", "p1"), "{}");
    // The limit is that of a session.
    let first = hook("b", "PostToolUse", "Read", "0");
    assert!(first.contains("not judged before it ran"), "{first}");
    assert_eq!(hook("b", "PostToolUse", "Read", "1"), "{}");
}

#[test]
fn a_file_that_is_no_socket_is_not_removed() {
    let (folder, spec) = spec();
    let file = folder.path().join("notes");
    std::fs::write(&file, "keep me").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_guard"))
        .args(["serve", "--no-token"])
        .arg(&spec)
        .arg("--socket")
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "keep me");
}

#[test]
fn a_unix_socket_goes_on_after_a_kill() {
    let mut first = daemon(&["--socket", "DIR/guard.sock", "--journal", "DIR/journal"]);
    let socket = first.folder.path().join("guard.sock");
    let say = |body: &str| {
        ask(
            UnixStream::connect(&socket).unwrap(),
            "POST",
            "/v1/decide",
            "",
            body,
        )
        .1
    };
    assert!(say("{\"trace\":\"a\",\"kind\":\"pay\"}").contains("\"decision\":\"allow\""));
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let mut again = Command::new(env!("CARGO_BIN_EXE_guard"))
        .arg("serve")
        .arg(first.folder.path().join("pay.guard"))
        .arg("--socket")
        .arg(&socket)
        .arg("--no-token")
        .arg("--journal")
        .arg(first.folder.path().join("journal"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(again.stderr.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    assert!(say("{\"trace\":\"a\",\"kind\":\"pay\"}").contains("\"decision\":\"block\""));
    again.kill().unwrap();
    again.wait().unwrap();
}

#[test]
fn others_are_not_listened_to_without_a_token() {
    let (_folder, spec) = spec();
    for args in [
        &["--listen", "0.0.0.0:0", "--no-token"][..],
        &["--listen", "127.0.0.1:0"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_guard"))
            .arg("serve")
            .arg(&spec)
            .args(args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("--token-file"));
    }
}

/// What comes back when these bytes are sent; empty where the connection is closed without a word.
pub(crate) fn raw(at: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(at).unwrap();
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn what_is_no_request_is_refused() {
    let daemon = daemon(&["--listen", "127.0.0.1:0"]);
    let status = |bytes: &[u8]| {
        raw(&daemon.at, bytes)
            .split(' ')
            .nth(1)
            .unwrap_or("none")
            .to_owned()
    };
    assert_eq!(status(b"\x16\x03\x01\x02\x00garbage\r\n\r\n"), "400");
    assert_eq!(
        status(b"GET /v1/health HTTP/1.1\nHost: localhost\n\n"),
        "400"
    );
    assert_eq!(
        status(b"GET /v1/health HTTP/1.1\r\nHost: localhost\nX: 1\r\n\r\n"),
        "400"
    );
    assert_eq!(
        status(b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"),
        "400"
    );
    let two =
        b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}";
    assert_eq!(status(two), "400");
    for (fields, body, meant) in [
        ("", "2\r\n{}\r\n0\r\n\r\n", "200"),
        ("Content-Length: 12\r\n", "2\r\n{}\r\n0\r\n\r\n", "400"),
        ("Transfer-Encoding: gzip\r\n", "2\r\n{}\r\n0\r\n\r\n", "501"),
        ("", "2\n{}\n0\n\n", "400"),
        ("", "2\r\n{}\r\n", "400"),
        ("", "0\r\n\r\n", "400"),
    ] {
        let chunks = format!(
            "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n{fields}\r\n{body}"
        );
        assert_eq!(status(chunks.as_bytes()), meant, "{fields} {body:?}");
    }
    let huge =
        b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n";
    assert_eq!(status(huge), "413");
    let head = format!(
        "POST /v1/decide HTTP/1.1\r\nX: {}\r\n\r\n",
        "y".repeat(100_000)
    );
    assert_eq!(status(head.as_bytes()), "431");
    for (head, meant) in [
        ("Host: evil.example\r\nContent-Length: 2\r\n", "403"),
        ("Host: evil.example:80\r\nContent-Length: 2\r\n", "403"),
        (
            "Host: localhost\r\nHost: localhost\r\nContent-Length: 2\r\n",
            "400",
        ),
        ("Content-Length: 2\r\n", "400"),
        (
            "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 2\r\n",
            "403",
        ),
        (
            "Host: localhost\r\nSec-Fetch-Site: none\r\nContent-Length: 2\r\n",
            "403",
        ),
        (
            "Host: localhost\r\nContent-Length: 2\r\nContent-Length: 2\r\n",
            "400",
        ),
        ("Host: localhost\r\n", "411"),
        ("Host: localhost\r\nContent-Length: 0\r\n", "400"),
        ("Host: [::1]:80\r\nContent-Length: 2\r\n", "200"),
    ] {
        let request = format!("POST /v1/decide HTTP/1.1\r\n{head}\r\n{{}}");
        assert_eq!(status(request.as_bytes()), meant, "{head}");
    }
    let mut state = 1u64;
    for _ in 0..200 {
        let mut bytes =
            b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n{\"kind\":\"look\"}"
                .to_vec();
        for _ in 0..4 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let place = (state >> 33) as usize % bytes.len();
            bytes[place] = (state >> 13) as u8;
        }
        // Whatever comes of it, nobody is let through whose line could not be read.
        let answer = raw(&daemon.at, &bytes);
        assert!(
            !answer.contains("\"errors\"") || answer.contains("\"decision\":\"block\""),
            "{answer}"
        );
    }
    assert!(
        raw(
            &daemon.at,
            b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        .contains("\"ok\":true")
    );
}

#[test]
fn a_connection_is_kept_and_an_expectation_is_met() {
    let daemon = daemon(&["--listen", "127.0.0.1:0"]);
    let mut stream = TcpStream::connect(&daemon.at).unwrap();
    let body = "{\"trace\":\"a\",\"kind\":\"pay\"}";
    let request = |more: &str| {
        let len = body.len();
        format!(
            "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\n{more}Content-Length: {len}\r\n\r\n"
        )
    };
    let mut from = BufReader::new(stream.try_clone().unwrap());
    let mut answer = || {
        let (mut line, mut status, mut length) = (String::new(), String::new(), 0);
        loop {
            line.clear();
            from.read_line(&mut line).unwrap();
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().unwrap();
            }
            if status.is_empty() {
                status = line.trim().to_owned();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).unwrap();
        (status, String::from_utf8(body).unwrap())
    };
    // The body is sent only when it is asked for.
    stream
        .write_all(request("Expect: 100-continue\r\n").as_bytes())
        .unwrap();
    assert_eq!(
        answer(),
        ("HTTP/1.1 100 Continue".to_owned(), String::new())
    );
    stream.write_all(body.as_bytes()).unwrap();
    assert!(answer().1.contains("\"decision\":\"allow\""));
    // Two requests at once on the same connection.
    stream
        .write_all(format!("{}{body}{}{body}", request(""), request("")).as_bytes())
        .unwrap();
    for _ in 0..2 {
        assert!(answer().1.contains("\"decision\":\"block\""));
    }
    // A body in chunks, and the next request behind it.
    let chunks = request("Transfer-Encoding: chunked\r\n").replace("Content-Length: 26\r\n", "");
    let (first, rest) = body.split_at(5);
    let chunked = format!("{chunks}5\r\n{first}\r\n15\r\n{rest}\r\n0\r\n\r\n");
    stream
        .write_all(format!("{chunked}{}{body}", request("")).as_bytes())
        .unwrap();
    for _ in 0..2 {
        assert!(answer().1.contains("\"decision\":\"block\""));
    }
}

/// Clients that begin and never end hold nobody up, whatever their number; in the end they are told so.
#[test]
fn clients_that_stall_are_cut_off() {
    let daemon = daemon(&[
        "--listen",
        "127.0.0.1:0",
        "--patience",
        "2",
        "--max-clients",
        "40",
    ]);
    let stall = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(&daemon.at).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    };
    let look = || {
        let stream = TcpStream::connect(&daemon.at).unwrap();
        ask(stream, "POST", "/v1/decide", "", "{\"kind\":\"look\"}")
    };
    let body = b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{";
    // Heads that never end give their places to whoever comes.
    let mut first = stall(b"POST /v1/dec");
    std::thread::sleep(std::time::Duration::from_millis(100));
    let heads: Vec<TcpStream> = (0..39).map(|_| stall(b"POST /v1/dec")).collect();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(look().0, 200, "an unfinished head gave its place");
    assert_eq!(
        first.read(&mut [0]).unwrap_or(0),
        0,
        "the one that waited longest"
    );
    drop(heads);
    // So do bodies that never end, after all heads.
    let mut stalled: Vec<TcpStream> = (0..39).map(|_| stall(body)).collect();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let mut head = stall(b"POST /v1/dec");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(look().0, 200, "an unfinished head gave its place");
    assert_eq!(head.read(&mut [0]).unwrap_or(0), 0);
    stalled.push(stall(body));
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(look().0, 200, "an unfinished body gave its place");
    let mut answer = String::new();
    let _ = stalled.remove(0).read_to_string(&mut answer);
    assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    // Without a token, nobody keeps a place by a body.
    for method in ["GET", "POST"] {
        let mut health = stall(
            format!("{method} /v1/health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
                .as_bytes(),
        );
        let mut answer = String::new();
        let _ = health.read_to_string(&mut answer);
        assert!(answer.starts_with("HTTP/1.1 40"), "{answer}");
    }
    // One byte now and then is no way to stay.
    let mut slow = stalled.pop().unwrap();
    let drip = std::thread::spawn(move || {
        for _ in 0..30 {
            if slow.write_all(b"x").is_err() {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        false
    });
    let mut late = 0;
    for mut stream in stalled {
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        // Some have given their places, and are answered if their bodies had begun.
        let is_late = answer.starts_with("HTTP/1.1 408");
        let is_replaced = answer.is_empty() || answer.starts_with("HTTP/1.1 400");
        assert!(is_late || is_replaced, "{answer}");
        late += usize::from(is_late);
    }
    assert!(late > 20, "{late}");
    assert!(drip.join().unwrap(), "the slow one was cut off too");
    assert_eq!(look().0, 200);
}

#[test]
fn a_flood_is_decided_in_full() {
    let daemon = daemon(&["--listen", "127.0.0.1:0"]);
    let blocked = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for client in 0..8 {
            let (at, blocked) = (&daemon.at, &blocked);
            scope.spawn(move || {
                for _ in 0..100 {
                    let stream = TcpStream::connect(at).unwrap();
                    let pay = format!("{{\"trace\":\"t{client}\",\"kind\":\"pay\"}}");
                    let (status, body) = ask(stream, "POST", "/v1/decide", "", &pay);
                    assert_eq!(status, 200);
                    let found = usize::from(body.contains("\"decision\":\"block\""));
                    blocked.fetch_add(found, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    // Of each of the eight runs the first payment is allowed.
    assert_eq!(blocked.into_inner(), 8 * 99);
}

#[test]
fn on_a_full_disk_nothing_is_decided_that_is_not_kept() {
    let (folder, spec) = spec();
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"";
    let mut child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_guard"), "serve"])
        .arg(&spec)
        .args([
            "--listen",
            "127.0.0.1:0",
            "--no-token",
            "--journal",
            "j",
            "--log",
            "l",
        ])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    let at = said.trim().rsplit('/').next().unwrap().to_owned();
    let statuses: Vec<u16> = (0..40)
        .map(|_| {
            ask(
                TcpStream::connect(&at).unwrap(),
                "POST",
                "/v1/decide",
                "",
                "{\"kind\":\"look\"}",
            )
            .0
        })
        .collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let first = statuses.iter().position(|status| *status == 500).unwrap();
    assert!(
        first > 0 && statuses[first..].iter().all(|status| *status == 500),
        "{statuses:?}"
    );
}

/// A hook that posts takes an error of HTTP for "go on": every call that was not checked gets a denial. What happened then is not
/// forgotten: later calls of its session are judged as if there had been any outcome.
#[test]
fn a_hook_is_denied_by_an_answer_when_nothing_can_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("t.guard");
    let text = "use std.agent
property p = never (kind == \"result\" and text contains \"secret\" and eventually (kind == \"call\" and tool == \"mail\"))
enforce p { violated => block \"no\" }
";
    std::fs::write(&spec, text).unwrap();
    let start = |limit: &str| {
        let script = format!("trap '' XFSZ; {limit} exec \"$0\" \"$@\"");
        let mut child = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_guard"), "serve"])
            .arg(&spec)
            .args([
                "--listen",
                "127.0.0.1:0",
                "--no-token",
                "--journal",
                "j",
                "--log",
                "l",
            ])
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut from = BufReader::new(child.stderr.take().unwrap());
        from.read_line(&mut said).unwrap();
        let at = said.trim().rsplit('/').next().unwrap().to_owned();
        (child, at)
    };
    let hook = |at: &str, name: &str, id: &str, more: &str| {
        let body = format!(
            r#"{{"session_id":"s","hook_event_name":"{name}","tool_use_id":"{id}",{more}}}"#
        );
        let stream = TcpStream::connect(at).unwrap();
        let (status, answer) = ask(stream, "POST", "/v1/hook", "", &body);
        assert_eq!(status, 200, "{answer}");
        answer
    };
    let look = r#""tool_name":"look","tool_input":{}"#;
    let (mut child, at) = start("ulimit -f 64;");
    assert!(!hook(&at, "PreToolUse", "0", look).contains("deny"));
    let denied = (1..500).filter(|call| {
        let answer = hook(&at, "PreToolUse", &call.to_string(), look);
        answer.contains(r#""permissionDecision":"deny""#)
    });
    // The first one cannot be recorded, and nothing is decided after it.
    assert_eq!(denied.take(3).count(), 3, "the disk is not full");
    hook(
        &at,
        "PostToolUse",
        "0",
        &format!(r#"{look},"tool_response":"a secret""#),
    );
    child.kill().unwrap();
    child.wait().unwrap();
    // The mark outlives the process.
    for _ in 0..2 {
        let (mut child, at) = start("");
        let answer = hook(
            &at,
            "PreToolUse",
            "m",
            r#""tool_name":"mail","tool_input":{}"#,
        );
        assert!(
            answer.contains(r#""permissionDecision":"deny""#),
            "{answer}"
        );
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// A connection that another one replaced before its request was read would get no answer, which Claude Code takes for "go on".
#[test]
fn every_hook_of_many_at_once_is_answered() {
    let daemon = daemon(&["--listen", "127.0.0.1:0", "--max-clients", "4"]);
    let ask_once = |number: usize| {
        let call = format!(
            r#"{{"session_id":"s{number}","hook_event_name":"PreToolUse","tool_name":"look","tool_input":{{}}}}"#
        );
        let stream = TcpStream::connect(&daemon.at).unwrap();
        ask(stream, "POST", "/v1/hook", "", &call).0
    };
    let ask_once = &ask_once;
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..80)
            .map(|number| scope.spawn(move || ask_once(number)))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
}

/// The same of an object `event` from which the spec reads, in an event without an envelope.
#[test]
fn what_is_missing_of_an_object_of_an_event_is_unknown() {
    let spec = "event { kind: string text: string? from \"/event/text\" }\n\
        property p = never (kind == \"mail\" and once (text contains \"SECRET\"))\nenforce p { violated => block }\n";
    let daemon = daemon_of(spec, &["--listen", "127.0.0.1:0", "--max-body", "1000"]);
    let keys: String = (0..300).map(|key| format!(r#""key{key}":1,"#)).collect();
    let bodies = [
        format!(
            r#"{{"phase":"after","event":{{"trace":"T","kind":"result","event":{{{keys}"text":"SECRET"}}}}}}"#
        ),
        format!(r#"{{"trace":"T","kind":"result","event":{{{keys}"text":"SECRET"}}}}"#),
        format!(r#"{{"trace":"T","kind":"result","event":{{{keys}"te"#),
        r#"{"trace":"T","kind":"result","event":{"a":1,"te"#.to_owned(),
    ];
    deny_mail_after(&daemon, &bodies);
}

/// Whoever has no token keeps no place, by asking for what needs none or by saying nothing.
#[test]
fn clients_without_a_token_keep_no_place() {
    let daemon = daemon_of(
        SPEC,
        &[
            "--listen",
            "127.0.0.1:0",
            "--max-clients",
            "4",
            "--token-file",
            "DIR/token",
        ],
    );
    let call =
        r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"look","tool_input":{}}"#;
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (at, stop) = (&daemon.at, &stop);
    let health = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    std::thread::scope(|scope| {
        for talks in [true, true, true, true, false, false] {
            scope.spawn(move || {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let Ok(mut stream) = TcpStream::connect(at) else {
                        continue;
                    };
                    let mut answer = [0; 512];
                    while talks
                        && !stop.load(std::sync::atomic::Ordering::Relaxed)
                        && stream.write_all(health).is_ok()
                        && stream.read(&mut answer).is_ok_and(|n| n > 0)
                    {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                    }
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
            });
        }
        std::thread::sleep(std::time::Duration::from_millis(500));
        let token = format!("Authorization: Bearer {TOKEN}\r\n");
        let answers: Vec<_> = (0..10)
            .map(|_| {
                let stream = TcpStream::connect(at).unwrap();
                ask(stream, "POST", "/v1/hook", &token, call)
            })
            .collect();
        // What happened is recorded, too.
        let outcome = r#"{"session_id":"o","hook_event_name":"PostToolUse","tool_name":"read","tool_input":{},"tool_use_id":"1","tool_response":"SECRET"}"#;
        let mail = r#"{"session_id":"o","hook_event_name":"PreToolUse","tool_name":"mail","tool_input":{}}"#;
        for call in [outcome, mail] {
            let stream = TcpStream::connect(at).unwrap();
            let (_, answer) = ask(stream, "POST", "/v1/hook", &token, call);
            assert!(!answer.contains("too many clients"), "{answer}");
            assert!(call == outcome || answer.contains("\"deny\""), "{answer}");
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        for (status, answer) in answers {
            assert_eq!(status, 200, "{answer}");
        }
    });
}

/// A proxy may name the whole address in the request line. The host in it is the one that counts.
#[test]
fn a_target_may_name_its_host() {
    let daemon = daemon(&["--listen", "127.0.0.1:0"]);
    let status = |target: &str| {
        let request =
            format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let answer = raw(&daemon.at, request.as_bytes());
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(status("/v1/health"), "200");
    assert_eq!(status("http://localhost/v1/health"), "200");
    assert_eq!(status("HTTP://localhost/v1/health?x"), "200");
    assert_eq!(status("http://elsewhere/v1/health"), "400");
    assert_eq!(status("http://localhost"), "404");
}

/// If all connections are in use, Claude Code would take the HTTP error for "go on".
#[test]
fn a_hook_is_denied_by_an_answer_when_all_connections_are_in_use() {
    let daemon = daemon(&["--listen", "127.0.0.1:0", "--max-clients", "1"]);
    let look = "{\"kind\":\"look\"}";
    let call =
        r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"look","tool_input":{}}"#;
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut busy = TcpStream::connect(&daemon.at).unwrap();
            let length = look.len();
            let request = format!(
                "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{look}"
            );
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                busy.write_all(request.as_bytes()).unwrap();
                assert!(busy.read(&mut [0; 4096]).unwrap() > 0);
            }
        });
        std::thread::sleep(std::time::Duration::from_millis(300));
        let stream = TcpStream::connect(&daemon.at).unwrap();
        let decided = ask(stream, "POST", "/v1/decide", "", look);
        let stream = TcpStream::connect(&daemon.at).unwrap();
        let (status, answer) = ask(stream, "POST", "/v1/hook", "", call);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(decided.0, 503, "{}", decided.1);
        assert_eq!(status, 200, "{answer}");
        assert!(
            answer.contains(r#""permissionDecision":"deny""#),
            "{answer}"
        );
        assert!(answer.contains("too many clients"), "{answer}");
    });
    // So is one whose length nobody can read.
    let twice = "Content-Length: 1\r\n";
    let wrong = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let stream = TcpStream::connect(&daemon.at).unwrap();
        let (status, answer) = ask(stream, "POST", "/v1/hook", twice, call);
        assert_eq!(status, 200, "{answer}");
        assert!(
            answer.contains(r#""permissionDecision":"deny""#),
            "{answer}"
        );
        (!answer.contains("too many clients")).then_some(())
    });
    assert!(wrong.is_some());
}

/// Nothing is decided that a state does not hold: what comes after it was saved is not.
#[test]
fn what_was_decided_before_a_signal_is_in_the_state() {
    let (folder, spec) = spec();
    for round in 0..4_u64 {
        let _ = std::fs::remove_file(folder.path().join("state"));
        let mut child = Command::new(env!("CARGO_BIN_EXE_guard"))
            .arg("serve")
            .arg(&spec)
            .args(["--listen", "127.0.0.1:0", "--no-token", "--snapshot"])
            .arg(folder.path().join("state"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap())
            .read_line(&mut said)
            .unwrap();
        let at = said.trim().rsplit('/').next().unwrap().to_owned();
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let at = at.clone();
                std::thread::spawn(move || {
                    let mut kept = 0_u64;
                    while let Ok(mut stream) = TcpStream::connect(&at) {
                        let body = format!("{{\"trace\":\"{client}\",\"kind\":\"look\"}}");
                        let head = format!(
                            "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                            body.len()
                        );
                        let mut answer = String::new();
                        let asked = stream.write_all(head.as_bytes());
                        let _ = asked.and_then(|()| stream.read_to_string(&mut answer));
                        kept += u64::from(answer.contains("\"decision\":\"allow\""));
                    }
                    kept
                })
            })
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(100 + 50 * round));
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        child.wait().unwrap();
        let acknowledged: u64 = clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .sum();
        let state = std::fs::read(folder.path().join("state")).unwrap();
        let head = state.split(|byte| *byte == b'\n').next().unwrap();
        let head = String::from_utf8_lossy(head);
        let taken = head
            .split("\"taken\":")
            .nth(1)
            .unwrap_or_else(|| panic!("{head}"));
        let digits: String = taken.chars().take_while(char::is_ascii_digit).collect();
        assert!(
            digits.parse::<u64>().unwrap() >= acknowledged,
            "{head}: {acknowledged}"
        );
    }
}

/// A person may answer late, and only the outcome says what was answered.
#[test]
fn a_question_that_a_hook_asks_counts_until_its_outcome() {
    let spec = "use std.agent\npredicate pays = kind == \"call\" and tool == \"pay\"\n\
        property asks = never pays\nenforce asks { violated => ask \"sure?\" }\n\
        property once_only = G (count(pays) <= 1)\nenforce once_only { violated => block \"one payment\" }\n";
    let daemon = daemon_of(
        spec,
        &[
            "--listen",
            "127.0.0.1:0",
            "--reservation",
            "1",
            "--journal",
            "DIR/journal",
        ],
    );
    let hook = |at: &str, hook: &str, id: &str| {
        let body = serde_json::json!({"session_id": "s", "hook_event_name": hook, "tool_name": "pay",
            "tool_input": {}, "tool_use_id": id, "tool_response": "done"});
        let stream = TcpStream::connect(at).unwrap();
        ask(stream, "POST", "/v1/hook", "", &body.to_string()).1
    };
    assert!(hook(&daemon.at, "PreToolUse", "a").contains("\"ask\""));
    // That of another client still ages.
    let other = r#"{"phase":"act","event":{"trace":"o","kind":"call","tool":"pay"}}"#;
    let line = |at: &str| {
        let stream = TcpStream::connect(at).unwrap();
        ask(stream, "POST", "/v1/decide", "", other).1
    };
    assert!(line(&daemon.at).contains("\"ask\""));
    std::thread::sleep(std::time::Duration::from_millis(2500));
    assert!(hook(&daemon.at, "PreToolUse", "b").contains("\"deny\""));
    assert!(line(&daemon.at).contains("\"ask\""));
}

/// The outcomes of calls that were judged before a restart are known as theirs after it.
#[test]
fn the_list_of_calls_survives_a_restart_and_is_bound_to_the_log() {
    let (folder, spec) = spec();
    let text = "use std.agent\npredicate pays = kind == \"call\" and tool == \"pay\"\n\
        property asks = never (kind == \"call\" and tool == \"wire\")\nenforce asks { violated => ask \"sure?\" }\n\
        property twice = G (count(pays) <= 2)\nenforce twice { violated => block \"two payments\" }\n\
        property once_only = G (count(kind == \"call\" and tool == \"wire\") <= 1)\n\
        enforce once_only { violated => block \"one wire\" }\n";
    std::fs::write(&spec, text).unwrap();
    let path = |name: &str| folder.path().join(name);
    let start = || {
        let mut child = Command::new(env!("CARGO_BIN_EXE_guard"))
            .arg("serve")
            .arg(&spec)
            .args(["--listen", "127.0.0.1:0", "--no-token", "--journal"])
            .arg(path("journal"))
            .arg("--log")
            .arg(path("log"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut from = BufReader::new(child.stderr.take().unwrap());
        from.read_line(&mut said).unwrap();
        (child, said)
    };
    let hook = |said: &str, hook: &str, tool: &str, id: &str| {
        let at = said.trim().rsplit('/').next().unwrap();
        let body = serde_json::json!({"session_id": "s", "hook_event_name": hook, "tool_name": tool,
            "tool_input": {}, "tool_use_id": id, "tool_response": "done"});
        let stream = TcpStream::connect(at).unwrap();
        ask(stream, "POST", "/v1/hook", "", &body.to_string()).1
    };
    let end = |mut child: Child| {
        child.kill().unwrap();
        child.wait().unwrap();
    };
    let (child, said) = start();
    assert_eq!(hook(&said, "PreToolUse", "pay", "a"), "{}");
    assert!(hook(&said, "PreToolUse", "wire", "w").contains("\"ask\""));
    end(child);
    let (child, said) = start();
    // The outcome is that of the call that was judged: it counts once.
    assert_eq!(hook(&said, "PostToolUse", "pay", "a"), "{}");
    assert_eq!(hook(&said, "PreToolUse", "pay", "b"), "{}");
    assert!(hook(&said, "PreToolUse", "pay", "c").contains("\"deny\""));
    // The question still counts, until the end of the turn says that it was refused.
    assert!(hook(&said, "PreToolUse", "wire", "x").contains("\"deny\""));
    assert_eq!(hook(&said, "Stop", "", ""), "{}");
    assert!(hook(&said, "PreToolUse", "wire", "y").contains("\"ask\""));
    // A line of another client leaves the list as it is.
    let at = said.trim().rsplit('/').next().unwrap();
    let line = r#"{"trace":"o","kind":"message"}"#;
    ask(
        TcpStream::connect(at).unwrap(),
        "POST",
        "/v1/decide",
        "",
        line,
    );
    end(child);
    let (child, said) = start();
    assert!(said.starts_with("listening"), "{said}");
    end(child);
    let calls = std::fs::read_to_string(path("journal.calls")).unwrap();
    let refused = |why: &str| {
        let (mut child, said) = start();
        assert_eq!(child.wait().unwrap().code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    };
    let changed = calls.replacen("\"content\":\"", "\"content\":\"0", 1);
    assert_ne!(calls, changed);
    std::fs::write(path("journal.calls"), changed).unwrap();
    refused("is not the list of calls that the end of");
    std::fs::write(path("journal.calls"), &calls[1..]).unwrap();
    refused("journal.calls");
    std::fs::remove_file(path("journal.calls")).unwrap();
    refused("journal.calls` is missing, which the end of");
    std::fs::write(path("journal.calls"), calls).unwrap();
    end(start().0);
}

/// Log, journal and list of calls that are of different times, or of which some are gone, are refused or named.
#[test]
fn files_of_a_server_that_are_of_different_times_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = "use std.agent\nproperty few = G (count(kind == \"call\" and tool == \"pay\") <= 2)\n\
        enforce few { violated => block \"two payments\" }\n";
    std::fs::write(path("t.guard"), text).unwrap();
    let start = || {
        let mut child = Command::new(env!("CARGO_BIN_EXE_guard"))
            .args(["serve", "t.guard", "--listen", "127.0.0.1:0", "--no-token"])
            .args(["--journal", "j", "--log", "l"])
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut from = BufReader::new(child.stderr.take().unwrap());
        from.read_line(&mut said).unwrap();
        if said.contains("refers to is missing") {
            from.read_line(&mut said).unwrap();
        }
        (child, said)
    };
    let end = |mut child: Child| {
        child.kill().unwrap();
        child.wait().unwrap();
    };
    let pay = |said: &str, id: &str| {
        let at = said.trim().rsplit('/').next().unwrap();
        let body = serde_json::json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "pay",
            "tool_input": {}, "tool_use_id": id});
        let stream = TcpStream::connect(at).unwrap();
        ask(stream, "POST", "/v1/hook", "", &body.to_string()).1
    };
    let names = ["j", "j.calls", "l"];
    let keep = || names.map(|name| std::fs::read(path(name)).ok());
    let put = |files: [Option<&Option<Vec<u8>>>; 3]| {
        for (name, bytes) in names.iter().zip(files) {
            match bytes.and_then(Option::as_ref) {
                Some(bytes) => std::fs::write(path(name), bytes).unwrap(),
                None => drop(std::fs::remove_file(path(name))),
            }
        }
    };
    let (child, said) = start();
    let begun = keep();
    assert_eq!(pay(&said, "a"), "{}");
    let one = keep();
    assert_eq!(pay(&said, "b"), "{}");
    assert!(pay(&said, "c").contains("\"deny\""));
    end(child);
    let last = keep();
    let [journal, calls, log] = [0, 1, 2].map(|at| Some(&last[at]));
    let [_, old_calls, old_log] = [0, 1, 2].map(|at| Some(&one[at]));
    for (files, why) in [
        (
            [journal, old_calls, old_log],
            "it does not hold the line that the journal names",
        ),
        (
            [journal, calls, old_log],
            "it does not hold the line that the journal names",
        ),
        (
            [journal, old_calls, log],
            "`j.calls` is not the list of calls that the end of `j` names",
        ),
        (
            [journal, old_calls, None],
            "`j.calls` is not the list of calls that the end of `j` names",
        ),
        (
            [journal, None, log],
            "`j.calls` is missing, which the end of `j` names",
        ),
        (
            [None, calls, None],
            "`j.calls` is the list of calls of a history that is missing",
        ),
        ([None, calls, log], "they were removed, cut or replaced"),
    ] {
        put(files);
        let (mut child, said) = start();
        assert!(said.contains(why), "{why}: {said}");
        assert_eq!(child.wait().unwrap().code(), Some(2), "{why}");
    }
    // A log that is gone is named, and the new one is continued.
    put([journal, calls, None]);
    for is_gone in [true, false] {
        let (child, said) = start();
        let why = "the log `l` that the journal refers to is missing";
        assert_eq!(said.contains(why), is_gone, "{said}");
        assert!(
            pay(said.lines().last().unwrap(), "d").contains("\"deny\""),
            "{said}"
        );
        end(child);
    }
    // A process that ended before the first list was put in place, and before the log had the call.
    put([Some(&one[0]), None, Some(&begun[2])]);
    std::fs::write(path("j.calls.next"), one[1].as_ref().unwrap()).unwrap();
    let (child, said) = start();
    assert_eq!(pay(&said, "b"), "{}");
    assert!(pay(&said, "c").contains("\"deny\""));
    end(child);
}

/// Those who approve are no client that reports, also if everybody may report.
#[test]
fn an_approver_is_another_client_than_those_without_a_token() {
    let args = [
        "--listen",
        "127.0.0.1:0",
        "--approver-token-file",
        "DIR/approver",
    ];
    let daemon = daemon(&args);
    let say = |header: &str, body: &str| {
        let stream = TcpStream::connect(&daemon.at).unwrap();
        ask(stream, "POST", "/v1/decide", header, body).1
    };
    let approver = format!("Authorization: Bearer {APPROVER}\r\n");
    let pay = r#"{"phase":"before","event":{"trace":"a","kind":"pay"}}"#;
    let proposed = say(&approver, pay);
    assert!(proposed.contains("\"proposal\":1"), "{proposed}");
    for line in [
        r#"{"phase":"abandon","proposal":1}"#,
        r#"{"phase":"commit","proposal":1,"event":{"trace":"a","kind":"pay"}}"#,
    ] {
        let answer = say("", line);
        assert!(answer.contains("\"errors\""), "{answer}");
    }
    assert!(say("", pay).contains("one payment a run"));
    let abandoned = say(&approver, r#"{"phase":"abandon","proposal":1}"#);
    assert!(!abandoned.contains("\"errors\""), "{abandoned}");
}

/// The server identifies a client by its token, also after a restart with other tokens in front of it.
#[test]
fn a_client_is_known_by_its_token_after_a_restart() {
    let args = ["--listen", "127.0.0.1:0", "--journal", "DIR/journal"];
    let mut daemon = daemon(&[&args[..], &["--token-file", "DIR/token"]].concat());
    let say = |at: &str, token: &str, body: &str| {
        let header = format!("Authorization: Bearer {token}\r\n");
        let stream = TcpStream::connect(at).unwrap();
        ask(stream, "POST", "/v1/decide", &header, body).1
    };
    let pay = r#"{"phase":"before","event":{"trace":"a","kind":"pay"}}"#;
    assert!(say(&daemon.at, TOKEN, pay).contains("\"proposal\":1"));
    daemon.child.kill().unwrap();
    daemon.child.wait().unwrap();
    let path = |name: &str| daemon.folder.path().join(name);
    let mut child = Command::new(env!("CARGO_BIN_EXE_guard"))
        .args([
            "serve",
            "pay.guard",
            "--listen",
            "127.0.0.1:0",
            "--journal",
            "journal",
        ])
        .args(["--token-file", "approver", "--token-file", "token"])
        .current_dir(path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    let at = said.trim().rsplit('/').next().unwrap();
    let abandon = r#"{"phase":"abandon","proposal":1}"#;
    let other = say(at, APPROVER, abandon);
    assert!(other.contains("\"errors\""), "{other}");
    let own = say(at, TOKEN, abandon);
    assert!(!own.contains("\"errors\""), "{own}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// What the spec takes for an approval, only approvers report, in whatever way it reads the field.
#[test]
fn an_approval_is_one_however_the_spec_reads_it() {
    let args = ["--listen", "127.0.0.1:0", "--token-file", "DIR/token"];
    let approver = ["--approver-token-file", "DIR/approver"];
    let args = [&args[..], &approver].concat();
    let cases: [(&str, &[&str], &[&str]); 12] = [
        // the condition, values that it takes for approvals, values that it does not
        (
            "lower(kind) == \"approval\"",
            &["Approval", "APPROVAL"],
            &["message", "approve"],
        ),
        (
            "kind matches /(?i)^approval$/",
            &["aPProval"],
            &["approval2", "message"],
        ),
        (
            "kind matches /approv/",
            &["approved", "not approved"],
            &["message"],
        ),
        (
            "trim(kind) == \"approval\"",
            &[" approval", "approval\\u00a0"],
            &["message"],
        ),
        (
            "kind starts_with \"appr\"",
            &["approve", "appr"],
            &["message", "x appr"],
        ),
        ("kind ends_with \"val\"", &["removal"], &["message"]),
        ("kind contains \"prov\"", &["provider"], &["message"]),
        (
            "normalize(kind) == \"approval\"",
            &["ａpproval", "appro\\u200bval"],
            &["message"],
        ),
        (
            "any w in words(kind): lower(w) == \"approval\"",
            &["an Approval"],
            &["an Approver"],
        ),
        ("slice(kind, 0, 3) == \"app\"", &["apple"], &["message"]),
        (
            "lower(kind ?? \"\") in [\"approval\"]",
            &["Approval"],
            &["message"],
        ),
        // Other values of a list are for whoever writes it.
        (
            "kind in [\"approval\", \"note\"]",
            &["approval"],
            &["note", "message"],
        ),
    ];
    for (condition, approvals, others) in cases {
        let spec = format!(
            "event {{ kind: string?  tool: string? = null }}\nproperty ok = always (kind == \"call\" and tool == \"pay\" -> once ({condition}))\nenforce ok {{ violated => block \"no approval\" }}\n"
        );
        let daemon = daemon_of(&spec, &args);
        let say = |body: &str| {
            let header = format!("Authorization: Bearer {TOKEN}\r\n");
            let stream = TcpStream::connect(&daemon.at).unwrap();
            ask(stream, "POST", "/v1/decide", &header, body).1
        };
        for value in approvals {
            let answer = say(&format!(r#"{{"trace":"t","kind":"{value}"}}"#));
            assert!(
                answer.contains("only an approver may"),
                "{condition} {value} {answer}"
            );
        }
        let pay = r#"{"phase":"act","event":{"trace":"t","kind":"call","tool":"pay"}}"#;
        assert!(say(pay).contains("no approval"), "{condition}");
        for value in others {
            let answer = say(&format!(r#"{{"trace":"u","kind":"{value}"}}"#));
            assert!(
                answer.contains("\"decision\":\"allow\""),
                "{condition} {value} {answer}"
            );
        }
    }
}

/// The value of an approval is that of the language, however its sender writes it.
#[test]
fn an_approval_is_one_in_any_spelling_of_a_number() {
    const SPEC: &str = "event { kind: string  level: float?  who: json? }\n\
        property approved = G (kind == \"pay\" -> O (level == 7 or who == 7))\n\
        enforce approved { violated => block \"needs approval\" }\n";
    for value in ["7", "7.0", "70e-1"] {
        let [level, who] = ["level", "who"].map(|field| format!("{field}={value}"));
        let daemon = daemon_of(
            SPEC,
            &[
                "--listen",
                "127.0.0.1:0",
                "--token-file",
                "DIR/token",
                "--approver-token-file",
                "DIR/approver",
                "--approval",
                &level,
                "--approval",
                &who,
            ],
        );
        let say = |body: &str| {
            let header = format!("Authorization: Bearer {TOKEN}\r\n");
            let stream = TcpStream::connect(&daemon.at).unwrap();
            ask(stream, "POST", "/v1/decide", &header, body).1
        };
        for field in ["level", "who"] {
            for spelling in ["7", "7.0", "7e0", "0.7e1", "70e-1"] {
                let answer = say(&format!(
                    r#"{{"trace":"t","kind":"x","{field}":{spelling}}}"#
                ));
                assert!(answer.contains("only an approver"), "{value} {answer}");
            }
        }
        let other = say(r#"{"trace":"t","kind":"x","level":7.5,"who":"8"}"#);
        assert!(other.contains("\"decision\":\"allow\""), "{other}");
        let pay = say(r#"{"phase":"act","event":{"trace":"t","kind":"pay"}}"#);
        assert!(pay.contains("needs approval"), "{pay}");
    }
    let (folder, spec) = spec();
    support::write_private(&folder.path().join("token"), &format!("{TOKEN}\n"));
    support::write_private(&folder.path().join("approver"), &format!("{APPROVER}\n"));
    let refused = Command::new(env!("CARGO_BIN_EXE_guard"))
        .arg("serve")
        .arg(&spec)
        .args(["--listen", "127.0.0.1:0", "--approval", "kind=[7]"])
        .arg("--token-file")
        .arg(folder.path().join("token"))
        .arg("--approver-token-file")
        .arg(folder.path().join("approver"))
        .output()
        .unwrap();
    let err = String::from_utf8(refused.stderr).unwrap();
    assert!(err.contains("found a list or an object"), "{err}");
}

/// A rule may look into lists and records, so an approval within them is one as well.
#[test]
fn an_approval_within_a_value_is_one() {
    let spec = "record Who { name: string }\n\
        event { kind: string  tags: list<string>?  set: set<string>?  by: Who?  all: json?  at: time?  spent: duration? }\n\
        property approved = G (kind == \"pay\" -> O (tags contains \"ok\"))\nenforce approved { violated => block \"no\" }\n";
    let args = |field: &str| {
        let args = [
            "--listen",
            "127.0.0.1:0",
            "--token-file",
            "DIR/token",
            "--approval",
        ];
        let mut args: Vec<String> = args.map(str::to_owned).to_vec();
        args.extend([
            format!("{field}=ok"),
            "--approver-token-file".to_owned(),
            "DIR/approver".to_owned(),
        ]);
        args
    };
    for (field, value) in [
        ("tags", r#"["x","ok"]"#),
        ("set", r#"["ok"]"#),
        ("by", r#"{"name":"ok"}"#),
        ("all", r#"{"a":[1,"ok"]}"#),
    ] {
        let args = args(field);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let daemon = daemon_of(spec, &args);
        let header = format!("Authorization: Bearer {TOKEN}\r\n");
        let stream = TcpStream::connect(&daemon.at).unwrap();
        let body = format!(r#"{{"trace":"t","kind":"x","{field}":{value}}}"#);
        let answer = ask(stream, "POST", "/v1/decide", &header, &body).1;
        assert!(answer.contains("only an approver"), "{field} {answer}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("s.guard"), spec).unwrap();
    for (file, token) in [("token", TOKEN), ("approver", APPROVER)] {
        support::write_private(&folder.path().join(file), &format!("{token}\n"));
    }
    for field in ["at", "spent"] {
        let args = args(field)
            .into_iter()
            .map(|arg| arg.replace("DIR", folder.path().to_str().unwrap()));
        let mut guard = Command::new(env!("CARGO_BIN_EXE_guard"));
        let output = guard
            .arg("serve")
            .arg(path("s.guard"))
            .args(args)
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains("without times and durations"), "{err}");
    }
}

/// A state without a journal is saved when the server ends, and is one server's.
#[test]
fn a_state_is_saved_when_a_signal_ends_the_server() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let (folder, spec) = spec();
        let start = || {
            let mut child = Command::new(env!("CARGO_BIN_EXE_guard"))
                .arg("serve")
                .arg(&spec)
                .args(["--listen", "127.0.0.1:0", "--no-token", "--snapshot"])
                .arg(folder.path().join("state"))
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut said = String::new();
            let mut from = BufReader::new(child.stderr.take().unwrap());
            from.read_line(&mut said).unwrap();
            (child, said)
        };
        let pay = |said: &str| {
            let at = said.trim().rsplit('/').next().unwrap();
            let body = r#"{"phase":"act","event":{"trace":"a","kind":"pay"}}"#;
            let stream = TcpStream::connect(at).unwrap();
            ask(stream, "POST", "/v1/decide", "", body).1
        };
        let end = |child: &mut Child| {
            let process = Pid::from_child(child);
            kill_process(process, signal).unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
        };
        let (mut child, said) = start();
        assert!(pay(&said).contains("\"decision\":\"allow\""));
        let (mut second, refused) = start();
        assert!(refused.contains("in use by another monitor"), "{refused}");
        second.wait().unwrap();
        end(&mut child);
        for _ in 0..2 {
            let (mut child, said) = start();
            assert!(pay(&said).contains("one payment a run"));
            let (mut second, refused) = start();
            assert!(refused.contains("in use by another monitor"), "{refused}");
            second.wait().unwrap();
            end(&mut child);
        }
    }
}
