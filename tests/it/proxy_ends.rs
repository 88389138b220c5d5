//! `guard proxy` as a process whose peers do not read, and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

const SPEC: &str = r#"use std.agent
property p = never (kind == "call" and tool == "mail" and once (kind == "result" and tool == "read"))
enforce p { violated => block "something was read" }
"#;

/// It answers each call of `read`, and does what the arguments of `noise` say.
const SERVER: &str = r#"
import json, sys
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
for line in sys.stdin:
    message = json.loads(line)
    params = message.get("params", {})
    if params.get("name") == "noise":
        of = params["arguments"]
        sys.stderr.write(("x" * 199 + "\n") * of.get("errors", 0))
        sys.stderr.flush()
        for i in range(of.get("dropped", 0)):
            sys.stdout.write("garbage\n")
        for i in range(of.get("notices", 0)):
            send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 200}})
    if params.get("name") != "open":
        send({"id": message["id"], "result": {"content": [{"type": "text", "text": "done"}]}})
"#;

/// How long a proxy may take for an answer or for its end.
const SOON: Duration = Duration::from_secs(30);

struct Proxy {
    child: Child,
    to: ChildStdin,
    /// The lines of the proxy, if they are read.
    lines: Option<Receiver<String>>,
}

impl Proxy {
    fn start(folder: &Path, args: &[&str], reads: bool) -> Proxy {
        let mut child = Command::new(env!("CARGO_BIN_EXE_guard"))
            .args(["proxy", "spec.guard"])
            .args(args)
            .args(["--", "python3", "server.py"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Nobody reads it.
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let lines = reads.then(|| {
            let from = BufReader::new(child.stdout.take().unwrap());
            let (say, lines) = channel();
            std::thread::spawn(move || {
                let lines = from.lines().map_while(Result::ok);
                let _ = lines.map(|line| say.send(line)).all(|sent| sent.is_ok());
            });
            lines
        });
        Proxy { child, to, lines }
    }

    fn send(&mut self, id: u32, tool: &str, args: Json) {
        let params = json!({"name": tool, "arguments": args});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        writeln!(self.to, "{call}").unwrap();
    }

    /// The text of the answer to a call.
    fn call(&mut self, id: u32, tool: &str, args: Json) -> String {
        self.send(id, tool, args);
        loop {
            let line = self.lines.as_ref().unwrap().recv_timeout(SOON);
            let message: Json = serde_json::from_str(&line.expect("an answer")).unwrap();
            if message["id"] == id {
                return message["result"]["content"][0]["text"]
                    .as_str()
                    .unwrap()
                    .to_owned();
            }
        }
    }

    /// Ends the proxy by a signal, and waits until it has.
    fn terminate(mut self) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").arg(&id).status().unwrap();
        assert!(sent.success());
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if begun.elapsed() > SOON {
                self.child.kill().unwrap();
                panic!("the proxy does not end");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn folder() -> Option<tempfile::TempDir> {
    if Command::new("python3").arg("--version").output().is_err() {
        crate::support::skip("there is no python3");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("spec.guard"), SPEC).unwrap();
    std::fs::write(folder.path().join("server.py"), SERVER).unwrap();
    Some(folder)
}

/// A full pipe behind the proxy's standard error stops neither the answers nor the end.
#[test]
fn errors_that_nobody_reads_stop_neither_answers_nor_the_end() {
    let Some(folder) = folder() else { return };
    let args = ["--snapshot", "state", "--verbose"];
    let mut proxy = Proxy::start(folder.path(), &args, true);
    assert_eq!(proxy.call(1, "read", json!({})), "done");
    assert_eq!(proxy.call(2, "noise", json!({"dropped": 2_000})), "done");
    // The server itself waits for a reader of its errors.
    proxy.send(3, "noise", json!({"errors": 2_000, "dropped": 1}));
    for id in 4..200 {
        assert_eq!(proxy.call(id, "mail", json!({})), "something was read");
    }
    proxy.terminate();
    let mut again = Proxy::start(folder.path(), &args, true);
    assert_eq!(again.call(1, "mail", json!({})), "something was read");
    again.terminate();
}

/// The state is saved also by a proxy whose parent has ignored the ends of children, and in its own file only: what has the name of
/// its next version is not written to.
#[test]
fn the_state_is_saved_in_its_own_file_whatever_the_parent_ignores() {
    let Some(folder) = folder() else { return };
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("other"), "mine").unwrap();
    std::os::unix::fs::symlink(path("other"), path("state.next")).unwrap();
    let ignoring = "import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])";
    let mut child = Command::new("python3")
        .args([
            "-c",
            ignoring,
            env!("CARGO_BIN_EXE_guard"),
            "proxy",
            "spec.guard",
        ])
        .args(["--snapshot", "state", "--", "python3", "server.py"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let params = json!({"name": "read", "arguments": {}});
    writeln!(
        to,
        "{}",
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    )
    .unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut answer)
        .unwrap();
    assert!(answer.contains("done"), "{answer}");
    drop(to);
    assert!(child.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(path("other")).unwrap(), "mine");
    let mut again = Proxy::start(folder.path(), &["--snapshot", "state"], true);
    assert_eq!(again.call(1, "mail", json!({})), "something was read");
    again.terminate();
}

/// One process at a time uses a state, also if it has a journal of its own.
#[test]
fn a_state_is_used_by_one_process() {
    let Some(folder) = folder() else { return };
    let with_journal = ["--snapshot", "state", "--journal", "journal"];
    let mut first = Proxy::start(folder.path(), &with_journal, true);
    assert_eq!(first.call(1, "read", json!({})), "done");
    let second = Command::new(env!("CARGO_BIN_EXE_guard"))
        .args([
            "proxy",
            "spec.guard",
            "--snapshot",
            "state",
            "--",
            "python3",
            "server.py",
        ])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(
        !second.status.success() && said.contains("in use by another monitor"),
        "{said}"
    );
    first.terminate();
}

/// Clients begin with the same ids on every connection, and some use one again: a limit on distinct calls holds all the same.
#[test]
fn a_call_has_another_name_than_all_calls_before() {
    const LIMIT: &str = r#"use std.agent
track paid: set<string> = {} when kind == "call" and tool == "pay" then paid.add(call ?? "")
track done: set<string> = {} when kind == "result" and error == false then done.add(call ?? "")
property three = always (len(paid) <= 3)
enforce three { violated => block "three payments" }
property known = never (kind == "result" and tool == "pay" and not (paid contains (call ?? "")))
enforce known { violated => block "of no payment" }
property few = never (kind == "call" and tool == "look" and len(done) != 3)
enforce few { violated => block "not three" }
"#;
    let Some(folder) = folder() else { return };
    std::fs::write(folder.path().join("spec.guard"), LIMIT).unwrap();
    for (args, same) in [(["--journal", "j"], 1), (["--snapshot", "s"], 2)] {
        for connection in 0..2 {
            let mut proxy = Proxy::start(folder.path(), &args, true);
            if connection == 1 {
                assert_eq!(proxy.call(same, "look", json!({})), "not three");
            }
            let last = match connection {
                0 => "done",
                _ => "three payments",
            };
            assert_eq!(proxy.call(1, "pay", json!({"n": connection})), "done");
            assert_eq!(proxy.call(same, "pay", json!({"again": connection})), last);
            if connection == 1 {
                assert_eq!(proxy.call(1, "look", json!({})), "done");
            }
            proxy.terminate();
        }
    }
}

/// A client that does not read any more keeps no state from being saved.
#[test]
fn a_client_that_does_not_read_keeps_no_state_from_being_saved() {
    let Some(folder) = folder() else { return };
    let args = ["--snapshot", "state"];
    let mut proxy = Proxy::start(folder.path(), &args, false);
    let mut from = proxy.child.stdout.take().unwrap();
    proxy.send(1, "read", json!({}));
    let mut first = [0];
    from.read_exact(&mut first).unwrap();
    proxy.send(2, "noise", json!({"notices": 3_000}));
    std::thread::sleep(Duration::from_millis(500));
    proxy.terminate();
    drop(from);
    let mut again = Proxy::start(folder.path(), &args, true);
    assert_eq!(again.call(1, "mail", json!({})), "something was read");
    again.terminate();
}

/// What is open when the connection ends may have been done.
#[test]
fn calls_that_are_open_at_the_end_may_have_succeeded() {
    let Some(folder) = folder() else { return };
    let spec = "use std.agent\nproperty one = never (kind == \"call\" and tool == \"open\" and once (kind == \"result\" and tool == \"open\" and error == false))\n\
        enforce one { violated => block \"it was done\" }\n";
    std::fs::write(folder.path().join("spec.guard"), spec).unwrap();
    for (file, by_signal) in [
        ("--snapshot", true),
        ("--snapshot", false),
        ("--journal", true),
    ] {
        let name = format!("of{file}{by_signal}");
        let args = [file, &name];
        let mut proxy = Proxy::start(folder.path(), &args, true);
        proxy.send(1, "open", json!({}));
        assert_eq!(proxy.call(2, "look", json!({})), "done");
        match by_signal {
            true => proxy.terminate(),
            false => {
                let Proxy { mut child, to, .. } = proxy;
                drop(to);
                child.wait().unwrap();
            }
        }
        let mut again = Proxy::start(folder.path(), &args, true);
        let denied = again.call(1, "open", json!({}));
        assert!(denied.starts_with("it was done"), "{name}: {denied}");
        again.terminate();
    }
}

/// A deadline that passes between two messages ends the run, too.
#[test]
fn a_stop_by_a_deadline_ends_the_run() {
    let Some(folder) = folder() else { return };
    let spec = "use std.agent\nproperty soon = G (kind == \"call\" and tool == \"open\" -> F[0,1s] (kind == \"call\" and tool == \"close\"))\n\
        enforce soon { violated => stop \"too late\" }\n";
    std::fs::write(folder.path().join("spec.guard"), spec).unwrap();
    let mut proxy = Proxy::start(folder.path(), &[], true);
    proxy.send(1, "open", json!({}));
    assert_eq!(proxy.call(2, "look", json!({})), "done");
    std::thread::sleep(Duration::from_millis(1_500));
    for id in 3..5 {
        let denied = proxy.call(id, "look", json!({}));
        assert!(denied.contains("the run has ended: too late"), "{denied}");
    }
    proxy.terminate();
}
