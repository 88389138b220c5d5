//! `guard view`: the answers of its server, and what it may write.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::page::parts;
use crate::support::cli::{Folder, SPEC};

/// `guard view`, and its address.
pub(crate) struct View {
    child: Child,
    pub(crate) address: String,
}

impl View {
    pub(crate) fn new(folder: &Folder, args: &[&str]) -> View {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("guard"))
            .current_dir(folder.path())
            .arg("view")
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut address)
            .unwrap();
        View {
            child,
            address: address.trim().to_owned(),
        }
    }

    fn host(&self) -> &str {
        self.address
            .strip_prefix("http://")
            .unwrap()
            .split('/')
            .next()
            .unwrap()
    }

    fn token(&self) -> &str {
        self.address
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap()
    }

    /// Sends a request; gives status and body.
    fn ask(&self, method: &str, path: &str, fields: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !fields.iter().any(|(name, _)| *name == "Host") {
            let _ = write!(text, "Host: {}\r\n", self.host());
        }
        for (name, value) in fields {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        write!(stream, "{text}\r\n{body}").unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let status = answer.split(' ').nth(1).unwrap_or("0").parse().unwrap();
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status, body.to_owned())
    }

    /// Sends JSON below the token; gives status and answer.
    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let path = format!("/{}/{path}", self.token());
        let (status, answer) = self.ask("POST", &path, &[], &body.to_string());
        (status, serde_json::from_str(&answer).unwrap())
    }

    /// The part of the list that matches filters, from this place on.
    fn list(&self, filters: &Value, from: usize) -> Value {
        let (status, told) = self.post("list", &json!({"filters": filters, "from": from}));
        assert_eq!(status, 200, "{told}");
        told
    }

    /// The data of its page.
    fn data(&self) -> Value {
        let (status, page) = self.ask("GET", &format!("/{}/", self.token()), &[], "");
        assert_eq!(status, 200);
        parts(&page).1
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) const RUNS: &str = r#"{"id":"late","events":[{"kind":"approval","args":{"granted":true}},{"kind":"message"},{"kind":"call","tool":"send_email"}]}
{"id":"never","events":[{"kind":"call","tool":"send_email"}]}
{"id":"fine","events":[{"kind":"message"}]}
"#;

#[test]
fn the_server_answers_its_own_page_only() {
    let folder = Folder::new(&[("a.guard", SPEC), ("t.jsonl", RUNS)]);
    let view = View::new(&folder, &["a.guard", "t.jsonl"]);
    let (token, host) = (view.token(), view.host());
    let at = |rest: &str| format!("/{token}/{rest}");
    let (status, page) = view.ask("GET", &at(""), &[], "");
    assert_eq!(status, 200);
    let (head, data) = parts(&page);
    assert!(head.contains("connect-src 'self'"));
    assert_eq!(data["live"]["traces"], 3);
    assert_eq!(data["live"]["spec"], SPEC);
    assert_eq!(data["live"]["write"], false);
    let (status, detail) = view.ask("GET", &at("trace/1"), &[], "");
    let detail: Value = serde_json::from_str(&detail).unwrap();
    assert_eq!((status, detail["s"].as_array().unwrap().len()), (200, 1));
    let found = &detail["found"][0];
    assert_eq!((&found["p"], &found["at"]), (&json!(0), &json!(0)));
    assert!(
        found["why"].to_string().contains("`high_risk` is true"),
        "{found}"
    );
    let origin = format!("http://{host}");
    let own = [
        ("Origin", origin.as_str()),
        ("Sec-Fetch-Site", "same-origin"),
    ];
    let changed = SPEC.replace("Y approval", "once approval");
    let (status, told) = view.ask("POST", &at("check"), &own, &changed);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(status, 200, "{told}");
    let change = &told["changes"][0];
    assert_eq!(
        (
            &change["property"],
            &change["change"],
            &change["examples"][0]["trace"],
            &change["examples"][0]["n"]
        ),
        (
            &json!("approved"),
            &json!("no_longer_violated"),
            &json!("late"),
            &json!(0)
        ),
        "{told}"
    );
    assert_eq!(told["changes"].as_array().unwrap().len(), 1, "{told}");
    let (_, told) = view.ask("POST", &at("check"), &own, "property p = G nothing\n");
    let told: Value = serde_json::from_str(&told).unwrap();
    assert!(
        told["diagnostics"].as_str().unwrap().contains("G0"),
        "{told}"
    );
    assert_eq!(told["changes"], Value::Null);
    let save = json!({"base": data["live"]["base"], "spec": changed});
    assert_eq!(view.post("save", &save).0, 403);
    // Nothing was written.
    assert_eq!(folder.read("a.guard"), SPEC);
    for (what, (method, path, fields, body), wanted) in [
        (
            "another token",
            ("GET", "/0123456789abcdef/", vec![], ""),
            401,
        ),
        ("no token", ("GET", "/", vec![], ""), 401),
        (
            "another name",
            ("GET", &*at(""), vec![("Host", "evil.example")], ""),
            403,
        ),
        (
            "another port",
            ("GET", &*at(""), vec![("Host", "127.0.0.1:1")], ""),
            403,
        ),
        (
            "another page",
            (
                "POST",
                &*at("check"),
                vec![("Origin", "http://evil.example")],
                SPEC,
            ),
            403,
        ),
        (
            "no origin",
            ("POST", &*at("check"), vec![("Origin", "null")], SPEC),
            403,
        ),
        (
            "another site",
            (
                "GET",
                &*at("trace/0"),
                vec![("Sec-Fetch-Site", "cross-site")],
                "",
            ),
            403,
        ),
        ("another method", ("POST", &*at(""), vec![], "x"), 405),
        ("no such trace", ("GET", &*at("trace/99"), vec![], ""), 404),
        ("another path", ("GET", &*at("../a.guard"), vec![], ""), 404),
    ] {
        assert_eq!(view.ask(method, path, &fields, body).0, wanted, "{what}");
    }
    assert_eq!(
        view.ask("POST", &at("check"), &[], &" ".repeat((1 << 20) + 1))
            .0,
        413
    );
}

/// The list of `guard view` comes in parts, filtered and ordered by the server.
#[test]
fn the_server_lists_any_number_of_traces() {
    let mut lines = RUNS.to_owned();
    for trace in 0..1_200 {
        let steps = trace % 3 + 1;
        let events = vec![json!({"kind": "message"}); steps];
        let _ = writeln!(
            lines,
            "{}",
            json!({"id": format!("run-{trace:04}"), "events": events})
        );
    }
    let folder = Folder::new(&[("a.guard", SPEC), ("t.jsonl", &lines), ("u.jsonl", RUNS)]);
    let view = View::new(&folder, &["a.guard", "t.jsonl", "u.jsonl"]);
    let data = view.data();
    assert_eq!(data["live"]["traces"], 1_206);
    assert_eq!(data["traces"], json!([]));
    assert_eq!(data["files"], json!(["t.jsonl", "u.jsonl"]));
    let over = data["violations"]["over"].as_array().unwrap();
    let sum = |column: usize| -> u64 { over.iter().map(|bar| bar[column].as_u64().unwrap()).sum() };
    assert_eq!((over.len(), sum(0), sum(1)), (60, 4, 1_206));
    let names = |told: &Value| -> Vec<String> {
        let rows = told["rows"].as_array().unwrap().iter();
        rows.map(|row| row[1].as_str().unwrap().to_owned())
            .collect()
    };
    let all = view.list(&json!({}), 0);
    assert_eq!((&all["n"], names(&all).len()), (&json!(1_206), 500));
    assert_eq!(all["rows"][1], json!([1, "never", "t.jsonl", 2, 1, "vss"]));
    let end = view.list(&json!({}), 1_204);
    assert_eq!(names(&end), ["never", "fine"]);
    assert_eq!(names(&view.list(&json!({}), 9_999)).len(), 0);
    for (filters, wanted) in [
        (
            json!({"verdict": "violated"}),
            vec!["late", "never", "late", "never"],
        ),
        (
            json!({"verdict": "violated", "file": "u.jsonl"}),
            vec!["late", "never"],
        ),
        (
            json!({"verdict": "violated", "property": "no_delete"}),
            vec![],
        ),
        (
            json!({"severity": "critical", "file": "u.jsonl"}),
            vec!["late", "never"],
        ),
        (json!({"property": "another"}), vec![]),
        (json!({"q": "RUN-0007"}), vec!["run-0007"]),
        (json!({"q": "u.jsonl e"}), vec!["late", "never", "fine"]),
        // The message, and the name of the violated property.
        (
            json!({"q": "without approval u.json"}),
            vec!["late", "never"],
        ),
        (
            json!({"q": "approved", "file": "t.jsonl"}),
            vec!["late", "never"],
        ),
        (
            json!({"sort": "name", "file": "u.jsonl"}),
            vec!["fine", "late", "never"],
        ),
        (
            json!({"sort": "-name", "file": "u.jsonl"}),
            vec!["never", "late", "fine"],
        ),
        (
            json!({"sort": "steps", "file": "u.jsonl"}),
            vec!["late", "never", "fine"],
        ),
        (
            json!({"sort": "-steps", "file": "u.jsonl"}),
            vec!["never", "fine", "late"],
        ),
        (
            json!({"sort": "-verdict", "file": "u.jsonl"}),
            vec!["fine", "late", "never"],
        ),
    ] {
        assert_eq!(names(&view.list(&filters, 0)), wanted, "{filters}");
    }
    let find = |filters: Value, trace: &str, n: Value| {
        let asked = json!({"filters": filters, "find": {"trace": trace, "n": n}});
        let (status, told) = view.post("list", &asked);
        assert_eq!(status, 200, "{told}");
        (
            told["found"][0].clone(),
            told["at"].clone(),
            told["from"].clone(),
        )
    };
    // The first violating one, one by name, one by number, one that the filter hides, and none.
    assert_eq!(
        find(json!({}), "", json!(null)),
        (json!(0), json!(0), json!(0))
    );
    assert_eq!(
        find(json!({}), "run-0900", json!(null)),
        (json!(903), json!(903), json!(653))
    );
    assert_eq!(
        find(json!({"sort": "-name"}), "never", json!(1_204)),
        (json!(1_204), json!(1_201), json!(951))
    );
    assert_eq!(
        find(json!({"verdict": "violated"}), "fine", json!(2)),
        (json!(2), json!(null), json!(0))
    );
    assert_eq!(find(json!({}), "nobody", json!(7)).0, json!(null));
    assert_eq!(view.post("list", &json!({"filters": 3})).0, 400);
}

/// With `--write` the page saves the spec: only without errors, only if nobody else changed the file, and nothing but that file.
#[test]
fn the_page_saves_the_spec() {
    use std::os::unix::fs::PermissionsExt as _;
    let windows = SPEC.replace('\n', "\r\n");
    let folder = Folder::new(&[("real.guard", &windows), ("t.jsonl", RUNS)]);
    let path = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("real.guard", path("a.guard")).unwrap();
    std::fs::set_permissions(path("real.guard"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let view = View::new(&folder, &["a.guard", "t.jsonl", "--write"]);
    let live = || view.data()["live"].clone();
    let before = live();
    assert_eq!(before["write"], true);
    // As a browser sends it.
    let changed = SPEC.replace("Y approval", "once approval");
    let save = |base: &Value, spec: &str| view.post("save", &json!({"base": base, "spec": spec}));
    let saved = |base: &Value, spec: &str| {
        let (status, told) = save(base, spec);
        (
            status,
            told["error"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let is_unchanged = || assert_eq!(folder.read("real.guard"), windows);
    // Not by another page, nor without the token.
    let body = json!({"base": before["base"], "spec": changed}).to_string();
    let at = format!("/{}/save", view.token());
    for (path, fields, wanted) in [
        (at.as_str(), vec![("Origin", "http://evil.example")], 403),
        (&at, vec![("Host", "evil.example")], 403),
        (&at, vec![("Sec-Fetch-Site", "cross-site")], 403),
        ("/0123456789abcdef/save", vec![], 401),
    ] {
        assert_eq!(view.ask("POST", path, &fields, &body).0, wanted);
        is_unchanged();
    }
    assert_eq!(view.ask("GET", &at, &[], "").0, 405);
    let (status, why) = saved(&before["base"], "property p = G nothing\n");
    assert!(
        status == 422 && why.contains("has errors"),
        "{status} {why}"
    );
    let (status, why) = saved(&json!("0"), &changed);
    assert!(
        status == 409 && why.contains("changed meanwhile"),
        "{status} {why}"
    );
    assert_eq!(saved(&before["base"], &" ".repeat((1 << 20) + 1)).0, 413);
    assert_eq!(view.post("save", &json!({"spec": changed})).0, 400);
    is_unchanged();
    assert_eq!(saved(&before["base"], &changed), (200, String::new()));
    assert_eq!(folder.read("real.guard"), changed.replace('\n', "\r\n"));
    // The link, the permissions and the folder stay as they were.
    assert!(path("a.guard").is_symlink());
    let mode = std::fs::metadata(path("real.guard"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["a.guard", "real.guard", "t.jsonl"]);
    // The page shows the verdicts of the saved spec.
    let now = live();
    assert_eq!(now["spec"].as_str().unwrap(), changed.replace('\n', "\r\n"));
    assert_eq!(view.list(&json!({"verdict": "violated"}), 0)["n"], 1);
    let (_, told) = view.ask("POST", &format!("/{}/check", view.token()), &[], SPEC);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["changes"][0]["change"], "newly_violated", "{told}");
    // A page that was loaded before does not undo it, nor a change by another program.
    assert_eq!(saved(&before["base"], SPEC).0, 409);
    std::fs::write(path("real.guard"), "// other\n").unwrap();
    assert_eq!(saved(&now["base"], SPEC).0, 409);
    std::fs::remove_file(path("real.guard")).unwrap();
    assert_eq!(saved(&now["base"], SPEC).0, 500);
    assert!(!path("real.guard").exists());
}

#[test]
fn only_a_text_can_be_saved() {
    let folder = Folder::new(&[("a.guard", SPEC), ("t.jsonl", RUNS)]);
    let made = folder.guard(&["compile", "a.guard", "-o", "a.compiled"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let run = folder.guard(&["view", "a.compiled", "t.jsonl", "--write"]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(
        run.err.contains("it is not the text of a spec"),
        "{}",
        run.err
    );
}
