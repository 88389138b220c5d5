//! `guard serve` over TCP and a Unix socket, spoken to byte by byte.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

const SPEC: &str = r#"
event { kind: string }
property once_only = G (count(kind == "pay") <= 1)
enforce once_only { violated => block "one payment a run" }
"#;

struct Daemon {
    child: Child,
    at: String,
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
    let (folder, spec) = spec();
    let args = args
        .iter()
        .map(|arg| arg.replace("DIR", folder.path().to_str().unwrap()));
    let token = folder.path().join("token");
    std::fs::write(token, "a-token-of-enough-letters\n").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_guard"))
        .arg("serve")
        .arg(&spec)
        .args(args)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    let at = said
        .trim()
        .trim_end_matches('`')
        .rsplit(['/', '`'])
        .next()
        .unwrap()
        .to_owned();
    Daemon { child, at, folder }
}

/// Status and body of an answer.
fn ask(
    mut stream: impl Read + Write,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> (u16, String) {
    let len = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: {len}\r\n\r\n{body}"
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
        .write_all(b"POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{")
        .unwrap();
    assert!(
        ask("POST", "/v1/decide", "", pay)
            .1
            .contains("\"decision\":\"block\"")
    );
}

#[test]
fn a_token_is_asked_for() {
    let daemon = daemon(&["--listen", "127.0.0.1:0", "--token-file", "DIR/token"]);
    let ask = |headers| {
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
    assert_eq!(
        ask("Authorization: Bearer a-token-of-enough-letters\r\n"),
        200
    );
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
    let output = Command::new(env!("CARGO_BIN_EXE_guard"))
        .arg("serve")
        .arg(&spec)
        .args(["--listen", "0.0.0.0:0"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--token-file"));
}
