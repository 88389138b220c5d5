//! `guard draft` with a language model: faulty commands and endpoints, the log, the budget, and replays.
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use serde_json::Value;

const TEXT: &str =
    "Agents are to get sign-off from a manager prior to any refund above 500 dollars.";
const GOOD: &str = r#"{"kind": "requirement", "sentences": ["\"refund above 500 dollars\" may happen only after \"sign-off from a manager\"."]}"#;

struct Run {
    out: Value,
    err: String,
    code: i32,
}

/// Drafts a document in a folder, with flags.
fn draft(folder: &Path, flags: &[&str], variables: &[(&str, &str)]) -> Run {
    let document = folder.join("rules.md");
    if !document.exists() {
        std::fs::write(&document, format!("{TEXT}\n")).unwrap();
    }
    let output = Command::cargo_bin("guard")
        .unwrap()
        .arg("draft")
        .arg(&document)
        .args(["--format", "json"])
        .args(if flags.contains(&"--samples") {
            &[][..]
        } else {
            &["--samples", "1"]
        })
        .args(flags)
        .env_remove("GUARD_MODEL_KEY")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    Run {
        out: out
            .lines()
            .next()
            .map_or(Value::Null, |line| serde_json::from_str(line).unwrap()),
        err: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}

fn note(run: &Run) -> &str {
    run.out["notes"][0].as_str().unwrap_or_default()
}

fn log(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("rules.draft.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A command that prints a text.
fn printing(folder: &Path, text: &str) -> String {
    let file = folder.join("answer.txt");
    std::fs::write(&file, text).unwrap();
    format!("cat > /dev/null; cat '{}'", file.display())
}

#[test]
fn answers_are_logged_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let command = printing(folder, GOOD);
    let first = draft(folder, &["--with", &command], &[]);
    assert_eq!(
        (first.code, first.out["status"].as_str()),
        (0, Some("proposed")),
        "{}",
        first.err
    );
    assert_eq!(first.out["by_model"], true);
    let entries = log(folder);
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["answer"], GOOD);
    assert_eq!(entries[0]["model"], format!("command: {command}"));
    assert!(
        entries[0]["question"]
            .as_str()
            .unwrap()
            .contains("above 500")
    );
    // The answers are there without the command, and are not asked for again with it.
    std::fs::remove_file(folder.join("answer.txt")).unwrap();
    for flags in [
        &["--offline"][..],
        &["--with", &command, "--max-questions", "0"],
    ] {
        let again = draft(folder, flags, &[]);
        assert_eq!(again.out, first.out, "{}", again.err);
    }
    assert_eq!(log(folder).len(), 1);
    // Another sample, and another command, are other questions.
    let more = draft(folder, &["--offline", "--samples", "2"], &[]);
    assert!(
        note(&more).contains("the log has no answer"),
        "{}",
        more.out
    );
    let other = draft(folder, &["--with", "cat; exit 1"], &[]);
    assert!(!other.out["by_model"].as_bool().unwrap());
    // A log that was cut off loses one answer and nothing else.
    let path = folder.join("rules.draft.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{}\n{{\"v\":1,\"key\":\"", text.trim_end())).unwrap();
    let again = draft(folder, &["--offline"], &[]);
    assert_eq!(again.out, first.out);
    let again = draft(
        folder,
        &["--with", "cat >/dev/null; echo '{}'", "--rounds", "0"],
        &[],
    );
    assert_eq!(again.code, 0, "{}", again.err);
    let last = std::fs::read_to_string(&path).unwrap();
    let last: Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    assert_eq!(last["answer"], "{}\n");
}

#[test]
fn a_command_that_fails_is_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (command, reason) in [
        (
            "echo out of credit >&2; exit 3",
            "failed with exit code 3: out of credit",
        ),
        ("kill -9 $$", "ended by a signal"),
        ("no-such-program-of-ours", "exit code 127"),
        ("printf '\\377\\376'", "not UTF-8"),
        ("yes", "longer than 65536 bytes"),
        ("head -c 100000 /dev/zero", "longer than 65536 bytes"),
        ("true", "expected one JSON object, found none"),
        ("echo garbage", "expected one JSON object, found none"),
        // A failure after an answer is a failure.
        ("echo '{}'; exit 1", "exit code 1"),
    ] {
        let run = draft(folder, &["--with", command, "--rounds", "1"], &[]);
        assert_eq!(run.code, 0, "{command}: {}", run.err);
        assert!(note(&run).contains(reason), "{command}: {}", run.out);
        assert_eq!(run.out["proposals"], serde_json::json!([]), "{command}");
    }
    // The error output cannot fill a pipe that nobody reads.
    let noisy = format!("head -c 1000000 /dev/zero >&2; {}", printing(folder, GOOD));
    let run = draft(folder, &["--with", &noisy], &[]);
    assert_eq!(run.out["by_model"], true, "{}", run.out);
}

/// A late command is ended with all that it started.
#[test]
fn a_command_that_hangs_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mark = folder.join("mark");
    let late = format!("(sleep 4; touch '{}') & sleep 60", mark.display());
    let silent = format!(
        "(sleep 4; touch '{}') & exec 1>&-; sleep 60",
        mark.display()
    );
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for command in [&late, &silent] {
            scope.spawn(move || {
                let own = tempfile::tempdir().unwrap();
                let run = draft(own.path(), &["--with", command, "--timeout", "1"], &[]);
                assert!(begin.elapsed() < Duration::from_secs(30));
                assert!(
                    note(&run).contains("no answer within 1 seconds"),
                    "{}",
                    run.out
                );
            });
        }
    });
    // Both commands began before they were ended.
    std::thread::sleep(Duration::from_secs(4));
    assert!(!mark.exists());
}

#[test]
fn faults_are_repaired_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let good = printing(folder, GOOD).replace("cat > /dev/null; ", "");
    // The first answer is garbage; the second question has the faults of the first answer.
    let command = format!("if grep -q 'It has faults' ; then {good}; else echo nonsense; fi");
    let run = draft(folder, &["--with", &command], &[]);
    assert_eq!(run.out["by_model"], true, "{}", run.out);
    assert_eq!(log(folder).len(), 2);
    let command = format!("{command} # again");
    let run = draft(folder, &["--with", &command, "--max-questions", "1"], &[]);
    assert!(
        note(&run).contains("the limit of 1 questions"),
        "{}",
        run.out
    );
    // The next run continues with what was answered.
    let run = draft(folder, &["--with", &command, "--max-questions", "1"], &[]);
    assert_eq!(run.out["by_model"], true, "{}", run.out);
}

/// Nothing of the document reaches a shell, and the environment has the number of the sample.
#[test]
fn the_document_is_standard_input_only() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "Agents, `touch hacked`; $(touch hacked) '\"; touch hacked #, are to wait 5 minutes.\u{1b}[2J";
    std::fs::write(folder.join("rules.md"), text).unwrap();
    let command = format!(
        "cd '{}' && cat > seen && echo \"$GUARD_SAMPLE $#\" > env && echo {{}}",
        folder.display()
    );
    let run = draft(folder, &["--with", &command, "--rounds", "0"], &[]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(!folder.join("hacked").exists());
    assert_eq!(
        std::fs::read_to_string(folder.join("env")).unwrap(),
        "0 0\n"
    );
    let seen = std::fs::read_to_string(folder.join("seen")).unwrap();
    let question: Value = serde_json::from_str(seen.lines().last().unwrap()).unwrap();
    assert!(
        question["requirement"]
            .as_str()
            .unwrap()
            .contains("$(touch hacked)")
    );
}

#[test]
fn flags_that_do_not_fit_are_usage_errors() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (flags, reason) in [
        (&["--offline"][..], "cannot open the log"),
        (&["--with", "true", "--offline"], "cannot be used with"),
        (&["--model", "http://localhost:1"], "--model-name"),
        (
            &["--model", "nowhere", "--model-name", "m"],
            "expected an address",
        ),
        (
            &["--model", "http://u:p@localhost", "--model-name", "m"],
            "without password",
        ),
        (&["--with", "true", "--samples", "0"], "--samples"),
    ] {
        let run = draft(folder, flags, &[]);
        assert_eq!(run.code, 2, "{flags:?}");
        assert!(run.err.contains(reason), "{flags:?}: {}", run.err);
    }
    let keyed = &[("GUARD_MODEL_KEY", "sk-secret")];
    let run = draft(
        folder,
        &["--model", "http://192.0.2.1", "--model-name", "m"],
        keyed,
    );
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("without encryption") && !run.err.contains("sk-secret"),
        "{}",
        run.err
    );
}

/// A server on this machine that answers each request with the same bytes, and returns the requests.
fn server(response: Vec<u8>, requests: usize) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        (0..requests)
            .map(|_| {
                let (mut stream, _) = listener.accept().unwrap();
                stream
                    .set_read_timeout(Some(Duration::from_secs(20)))
                    .unwrap();
                let mut request = Vec::new();
                let mut block = [0; 4096];
                loop {
                    let text = String::from_utf8_lossy(&request).into_owned();
                    if let Some((head, body)) = text.split_once("\r\n\r\n") {
                        let length = head.lines().find_map(|line| {
                            let (name, value) = line.split_once(':')?;
                            name.eq_ignore_ascii_case("content-length")
                                .then(|| value.trim().parse::<usize>().unwrap())
                        });
                        if body.len() >= length.unwrap_or(0) {
                            break;
                        }
                    }
                    let count = stream.read(&mut block).unwrap();
                    assert!(count > 0);
                    request.extend_from_slice(&block[..count]);
                }
                if response.is_empty() {
                    std::thread::sleep(Duration::from_secs(4));
                }
                let _ = stream.write_all(&response);
                String::from_utf8_lossy(&request).into_owned()
            })
            .collect()
    });
    (address, thread)
}

fn http(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

#[test]
fn endpoints_of_both_kinds_are_asked() {
    let openai =
        serde_json::json!({"choices": [{"message": {"role": "assistant", "content": GOOD}}]});
    let anthropic = serde_json::json!({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": GOOD}]});
    let keyed = &[("GUARD_MODEL_KEY", "sk-secret-1")];
    for (body, path, header) in [
        (
            openai,
            "/v1/chat/completions",
            "authorization: bearer sk-secret-1",
        ),
        (anthropic, "/v1/messages", "x-api-key: sk-secret-1"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (address, thread) = server(http("200 OK", &body.to_string()), 1);
        let url = format!("{address}{path}");
        let run = draft(
            folder.path(),
            &["--model", &url, "--model-name", "small"],
            keyed,
        );
        assert_eq!(run.out["by_model"], true, "{} {}", run.out, run.err);
        let request = thread.join().unwrap().remove(0);
        let (head, sent) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(&format!("POST {path} ")), "{head}");
        assert!(head.to_lowercase().contains(header), "{head}");
        let sent: Value = serde_json::from_str(sent).unwrap();
        assert_eq!(sent["model"], "small");
        assert!(sent.to_string().contains("above 500 dollars"));
        // The key is nowhere but in that header.
        let logged = std::fs::read_to_string(folder.path().join("rules.draft.jsonl")).unwrap();
        assert!(!logged.contains("sk-secret-1") && !run.out.to_string().contains("sk-secret-1"));
        let again = draft(folder.path(), &["--offline"], &[]);
        assert_eq!(again.out, run.out);
    }
}

#[test]
fn endpoints_that_fail_are_a_note() {
    let redirect = b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec();
    let failures = [
        (
            http(
                "401 Unauthorized",
                "{\"error\": \"wrong key sk-secret-2 given\"}",
            ),
            "status 401: {\"error\": \"wrong key [key] given\"}",
        ),
        (http("500 Internal Server Error", ""), "status 500"),
        (http("200 OK", "<html>"), "not JSON"),
        (http("200 OK", "{\"choices\": []}"), "has no text"),
        (
            http(
                "200 OK",
                "{\"choices\": [{\"message\": {\"content\": null, \"refusal\": \"No.\"}}]}",
            ),
            "has no text",
        ),
        (
            http("200 OK", &format!("\"{}\"", "x".repeat(300_000))),
            "longer than 262144 bytes",
        ),
        (redirect, "status 302"),
        (b"not http at all\r\n\r\n".to_vec(), "cannot be asked"),
        (Vec::new(), "no answer within 1 seconds"),
    ];
    let check = |response: Vec<u8>, reason: &str| {
        let folder = tempfile::tempdir().unwrap();
        // Only silence takes longer than a busy machine does.
        let timeout = if response.is_empty() { "1" } else { "20" };
        let (address, thread) = server(response, 1);
        let flags = [
            "--model",
            &address,
            "--model-name",
            "m",
            "--timeout",
            timeout,
            "--rounds",
            "0",
        ];
        let run = draft(folder.path(), &flags, &[("GUARD_MODEL_KEY", "sk-secret-2")]);
        thread.join().unwrap();
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(note(&run).contains(reason), "{reason}: {}", run.out);
        let logged = std::fs::read_to_string(folder.path().join("rules.draft.jsonl")).unwrap();
        assert!(!logged.contains("sk-secret-2"), "{logged}");
        assert!(!run.out.to_string().contains("sk-secret-2"));
    };
    // Side by side, since one of them is waited for.
    std::thread::scope(|scope| {
        for (response, reason) in failures {
            scope.spawn(move || check(response, reason));
        }
    });
    // Nobody listens.
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let run = draft(
        folder.path(),
        &["--model", &address, "--model-name", "m"],
        &[],
    );
    assert!(note(&run).contains("cannot be asked"), "{}", run.out);
}

/// Only a build with HTTPS asks over it: `cargo test --features https --test it draft_model::`.
#[cfg(feature = "https")]
mod https {
    use super::*;

    /// A child process that ends with its test.
    struct Child(std::process::Child);

    impl Drop for Child {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Authorities and certificates of `localhost`: good, of another name, and out of date.
    const CERTIFICATES: &str = r#"set -e
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=Company -addext basicConstraints=critical,CA:TRUE
openssl req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.pem -days 2 -subj /CN=Other -addext basicConstraints=critical,CA:TRUE
sign() {
  openssl req -newkey rsa:2048 -nodes -keyout $1.key -out $1.csr -subj /CN=$1
  printf "subjectAltName=$2\nbasicConstraints=CA:FALSE\n" > $1.ext
  openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out $1.pem -extfile $1.ext $3
}
sign good DNS:localhost,IP:127.0.0.1 "-days 2"
sign name DNS:elsewhere.example "-days 2"
sign old DNS:localhost,IP:127.0.0.1 "-days 0"
"#;

    const SERVER: &str = r#"
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        body = open("response", "rb").read()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + ".pem", sys.argv[1] + ".key")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

    /// An HTTPS server with a certificate of the folder, and its address.
    fn https(folder: &Path, certificate: &str) -> (Child, String) {
        let mut child = std::process::Command::new("python3")
            .args(["-c", SERVER, certificate])
            .current_dir(folder)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .map(Child)
            .unwrap();
        let mut port = String::new();
        let out = child.0.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut port).unwrap();
        (child, format!("https://localhost:{}", port.trim()))
    }

    /// A server is trusted by the authorities of Mozilla, or by those that `SSL_CERT_FILE` names and no others.
    #[test]
    fn certificates_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let made = std::process::Command::new("sh")
            .args(["-c", CERTIFICATES])
            .current_dir(folder)
            .output();
        let python = std::process::Command::new("python3")
            .args(["-c", "import ssl"])
            .status();
        if !made.is_ok_and(|made| made.status.success())
            || !python.is_ok_and(|status| status.success())
        {
            println!("skipped: `openssl` and `python3` with `ssl` are needed");
            return;
        }
        let body =
            serde_json::json!({"choices": [{"message": {"role": "assistant", "content": GOOD}}]});
        std::fs::write(folder.join("response"), body.to_string()).unwrap();
        let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let ask = |address: &str, variables: &[(&str, &str)]| {
            let _ = std::fs::remove_file(folder.join("rules.draft.jsonl"));
            draft(
                folder,
                &["--model", address, "--model-name", "m"],
                variables,
            )
        };
        let (_good, address) = https(folder, "good");
        let (ca, other) = (file("ca.pem"), file("other.pem"));
        let run = ask(&address, &[("SSL_CERT_FILE", &ca)]);
        assert_eq!(run.out["by_model"], true, "{} {}", run.out, run.err);
        let untrusted = "the certificate of the endpoint is not trusted: UnknownIssuer: if an authority of your own signed it, name the file of that authority in `SSL_CERT_FILE`";
        for variables in [
            &[("SSL_CERT_FILE", other.as_str())][..],
            &[("SSL_CERT_FILE", "")],
        ] {
            let run = ask(&address, variables);
            assert!(note(&run).contains(untrusted), "{}", run.out);
            assert_eq!(run.out["by_model"], false);
        }
        let (_name, wrong) = https(folder, "name");
        let run = ask(&wrong, &[("SSL_CERT_FILE", &ca)]);
        assert!(
            note(&run).contains("is not trusted: ") && note(&run).contains("not valid for name"),
            "{}",
            run.out
        );
        let (_old, late) = https(folder, "old");
        let run = ask(&late, &[("SSL_CERT_FILE", &ca)]);
        assert!(note(&run).contains("expired"), "{}", run.out);
        for (name, reason) in [
            ("missing.pem", "No such file"),
            ("response", "expected certificates in PEM"),
        ] {
            let run = ask(&address, &[("SSL_CERT_FILE", &file(name))]);
            assert_eq!(run.code, 2, "{}", run.err);
            assert!(
                run.err.contains("SSL_CERT_FILE") && run.err.contains(reason),
                "{}",
                run.err
            );
        }
    }
}
