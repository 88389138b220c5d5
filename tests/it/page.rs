//! The pages of `guard audit --format html` and `guard view`: their content, and their behaviour in a browser.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::DeflateDecoder;
use serde_json::{Value, json};

use crate::support::cli::{Folder, SPEC};
use crate::support::corpora::CORPORA;
use crate::support::formats::corpora;
use crate::support::{root, skip};
use crate::view::{RUNS, View};

/// The data of a page, and what stands before it.
pub(crate) fn parts(page: &str) -> (String, Value) {
    let (head, data) = page
        .split_once("<script id=\"data\" type=\"application/json\">")
        .unwrap();
    let data = data.split_once("</script>").unwrap().0;
    (head.to_owned(), serde_json::from_str(data).unwrap())
}

/// The steps of the traces of a page, in the order in which they were read.
fn steps(page: &str) -> Vec<Value> {
    let blocks = page
        .split("<script type=\"text/plain\" class=\"steps\" id=\"d")
        .skip(1);
    let lines = blocks.flat_map(|block| {
        let text = block.split_once("\">").unwrap().1;
        let text = text.split_once("</script>").unwrap().0;
        let bytes = BASE64_STANDARD.decode(text).unwrap();
        let mut lines = String::new();
        DeflateDecoder::new(bytes.as_slice())
            .read_to_string(&mut lines)
            .unwrap();
        let lines: Vec<Value> = lines
            .split('\n')
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        lines
    });
    lines.collect()
}

const HOSTILE: &str = "</script><script>window.pwned=1</script><img src=x onerror=\"window.pwned=1\"><b>\u{202e}\u{1b}[31m-->";

fn hostile() -> String {
    let event =
        json!({"kind": HOSTILE, "tool": HOSTILE, "args": {HOSTILE: HOSTILE}, "call": HOSTILE});
    let risky =
        json!({"kind": "call", "tool": "send_email", "args": {"text": "x".repeat(10 << 20)}});
    let record = json!({"id": HOSTILE, "events": [event, risky]});
    let request = json!({"kind": "request", "call": HOSTILE});
    let open = json!({"id": "__proto__", "events": [request]});
    format!("{record}\n{open}\n{{\"id\": {HOSTILE}\n")
}

/// Ten thousand traces of some twenty steps.
fn many() -> String {
    let mut lines = String::new();
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    for trace in 0..10_000 {
        let steps = 5 + random(30);
        let events: Vec<Value> = (0..steps)
            .map(|_| match random(5) {
                0 => json!({"kind": "approval", "args": {"granted": true}}),
                1 => {
                    json!({"kind": "call", "tool": (["send_email", "ls", "cat"][random(3) as usize])})
                }
                _ => json!({"kind": "message", "args": {"text": "some words of a message"}}),
            })
            .collect();
        let _ = writeln!(
            lines,
            "{}",
            json!({"id": format!("trace-{trace}"), "events": events})
        );
    }
    lines
}

fn audited(folder: &Folder, spec: &str, traces: &str, page: &str) -> String {
    let run = folder.guard(&["audit", spec, traces, "--format", "html", "-o", page]);
    assert!([0, 1, 3].contains(&run.code), "{}", run.err);
    folder.read(page)
}

#[test]
fn a_page_holds_steps_conditions_states_and_reasons() {
    let run = r#"{"id":"t","events":[{"kind":"approval","args":{"granted":true}},{"kind":"message"},{"kind":"call","tool":"send_email"}]}"#;
    let folder = Folder::new(&[("a.guard", SPEC), ("t.jsonl", run)]);
    let page = audited(&folder, "a.guard", "t.jsonl", "p.html");
    let (head, data) = parts(&page);
    let policy = head
        .split_once("Content-Security-Policy\" content=\"")
        .unwrap()
        .1;
    let policy = policy.split_once('"').unwrap().0;
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    assert!(
        !policy.contains("unsafe") && !policy.contains("http"),
        "{policy}"
    );
    assert_eq!(data["traces"][0][4], "vss");
    let found = &data["traces"][0][5][0];
    assert_eq!(found["at"], 2);
    let why = found["why"].to_string();
    assert!(why.contains("`high_risk` is true"), "{found}");
    assert_eq!(data["traces"][0][6], json!([1, 0]));
    let detail = steps(&page).remove(0);
    let atoms = data["schema"]["atoms"].as_array().unwrap();
    let place = |name: &str| atoms.iter().position(|atom| atom["t"] == name).unwrap();
    assert_eq!(detail["a"][place("high_risk")], "001");
    assert_eq!(detail["a"][place("approval")], "100");
    assert_eq!(detail["w"][0], "ppv");
    assert_eq!(detail["s"][2]["f"], json!([[0, "call"], [1, "send_email"]]));
    assert_eq!(detail["q"][0].as_array().unwrap().len(), 3);
    // Without data the page is small.
    assert!(page.len() < 300_000, "{}", page.len());
}

#[test]
fn hostile_texts_end_no_element() {
    let folder = Folder::new(&[("a.guard", SPEC), ("t.jsonl", &hostile())]);
    let page = audited(&folder, "a.guard", "t.jsonl", "p.html");
    let (_, data) = parts(&page);
    assert_eq!(
        page.matches("<img").count() + page.matches("window.pwned=1</script>").count(),
        0
    );
    assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}'));
    let blocks = page.matches("class=\"steps\" id=\"d").count();
    assert_eq!(page.matches("</script>").count(), 2 + blocks);
    assert_eq!(page.matches("<script").count(), 2 + blocks);
    // The steps hold the texts, inert as well.
    let texts = steps(&page)[0].to_string();
    assert!(texts.contains("window.pwned") && texts.contains("\\\\u{202e}"));
    assert!(data["traces"][0][0].as_str().unwrap().contains("\\u{202e}"));
    assert!(page.len() < 2_000_000, "{}", page.len());
}

#[test]
fn pages_do_not_depend_on_threads() {
    let folder = Folder::new(&[("a.guard", SPEC), ("t.jsonl", &many())]);
    let page = |jobs: &str| {
        let args = [
            "audit", "a.guard", "t.jsonl", "--format", "html", "--jobs", jobs,
        ];
        folder.guard(&args).out
    };
    let one = page("1");
    assert!(one == page("4"));
    let found = steps(&one);
    assert_eq!(found.len(), 10_000);
    let (_, data) = parts(&one);
    let traces = data["traces"].as_array().unwrap();
    let with_steps: Vec<&Value> = traces.iter().filter(|trace| trace[6].is_array()).collect();
    assert_eq!(with_steps.len(), found.len());
    for (trace, steps) in with_steps.iter().zip(&found) {
        assert_eq!(trace[3], steps["s"].as_array().unwrap().len());
    }
    let plain: usize = found.iter().map(|steps| steps.to_string().len()).sum();
    assert!(
        one.len() * 4 < plain,
        "{} bytes of page for {plain} of steps",
        one.len()
    );
}

#[test]
fn steps_beyond_the_limit_are_left_out() {
    let mut lines = String::new();
    for trace in 0..30 {
        let events: Vec<Value> = (0..90)
            .map(|step| json!({"kind": format!("message {trace} {step} {}", "x".repeat(3_900))}))
            .collect();
        let _ = writeln!(
            lines,
            "{}",
            json!({"id": format!("t{trace}"), "events": events})
        );
    }
    let folder = Folder::new(&[("a.guard", SPEC), ("t.jsonl", &lines)]);
    let page = audited(&folder, "a.guard", "t.jsonl", "p.html");
    let (_, data) = parts(&page);
    let traces = data["traces"].as_array().unwrap();
    let first = traces
        .iter()
        .take_while(|trace| trace[6].is_array())
        .count();
    // Eight megabytes of traces that violate nothing, and no trace after the first one that does not fit.
    assert!((15..25).contains(&first), "{first}");
    assert!(traces[first..].iter().all(|trace| !trace[6].is_array()));
    assert_eq!(steps(&page).len(), first);
    assert_eq!(traces.len(), 30);
}

/// A message with two calls: their events have one number.
const SHARED: &str = r#"{"messages":[{"role":"user","content":"list the files"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"rm","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","content":""},{"role":"assistant","content":"done"}]}
"#;

/// A clock beside a track: payments at times that are shown in each unit.
const CLOCK: &str = "\
event { kind: string  amount: int = 0  at: time }
track spent: int = 0 when kind == \"pay\" then spent + amount
property limit = never (spent > 100)
property calm = never (kind == \"wait\" and spent >= 40)
property soon = G (kind == \"ask\" -> F[0s,1h] kind == \"pay\")
";
const PAYMENTS: &str = r#"{"id":"t","events":[{"kind":"ask","at":"2026-01-01T10:00:00Z"},{"kind":"pay","amount":40,"at":"2026-01-01T10:00:30Z"},{"kind":"wait","at":"2026-01-01T10:01:30Z"},{"kind":"pay","amount":40,"at":"2026-01-01T11:30:00Z"},{"kind":"pay","amount":40,"at":"2026-01-02T10:00:00Z"}]}
"#;

#[test]
fn a_page_holds_the_clock_beside_tracks() {
    let folder = Folder::new(&[("clock.guard", CLOCK), ("clock.jsonl", PAYMENTS)]);
    let page = audited(&folder, "clock.guard", "clock.jsonl", "clock.html");
    let (_, data) = parts(&page);
    let clock = data["schema"]["clock"].as_u64().unwrap();
    assert_eq!(data["schema"]["fields"][clock as usize], "at");
    assert_eq!(data["schema"]["tracks"], json!(["spent"]));
    let detail = steps(&page).remove(0);
    assert_eq!(detail["k"], json!([["0", "40", "40", "80", "120"]]));
    let times: Vec<&Value> = detail["s"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            let fields = step["f"].as_array().unwrap();
            &fields.iter().find(|field| field[0] == clock).unwrap()[1]
        })
        .collect();
    assert_eq!(times.len(), 5);
    assert!(times[3].as_str().unwrap().contains("11:30:00"), "{times:?}");
}

/// Writes the page of every corpus of recorded runs.
fn pages_of_corpora(folder: &Folder, data: &Path) {
    for corpus in CORPORA {
        let spec = root().join(format!("examples/corpora/{}.guard", corpus.spec));
        let runs = data.join(corpus.folder);
        let page = format!("corpus-{}.html", corpus.spec);
        let run = folder.guard(&[
            "audit",
            spec.to_str().unwrap(),
            runs.to_str().unwrap(),
            "--glob",
            corpus.glob,
            "--format",
            "html",
            "-o",
            &page,
        ]);
        assert!([0, 1, 3].contains(&run.code), "{page}: {}", run.err);
    }
}

/// Everything that a reviewer does with a page, in a browser: see `tests/page/run.mjs`.
#[test]
fn pages_work_in_a_browser() {
    let (Ok(modules), Ok(browser)) = (
        std::env::var("GUARD_PAGE_MODULES"),
        std::env::var("GUARD_BROWSER"),
    ) else {
        skip("no browser for pages (tests/page/install.sh installs one)");
        return;
    };
    let example = root().join("examples/mail_assistant");
    let file = |name: &str| std::fs::read_to_string(example.join(name)).unwrap();
    let modelled = format!("{SPEC}\nmodel m = import \"c.tra\"\nquery soon = P=? [ F bad ] on m\n");
    let folder = Folder::new(&[
        ("mail.guard", &file("mail_assistant.guard")),
        ("mail.jsonl", &file("traces.jsonl")),
        ("a.guard", &modelled),
        ("c.tra", "3 4\n0 0 0.5\n0 1 0.5\n1 2 1\n2 2 1\n"),
        ("c.lab", "0=\"init\" 1=\"bad\"\n0: 0\n2: 1\n"),
        ("t.jsonl", RUNS),
        ("hostile.jsonl", &hostile()),
        ("big.jsonl", &many()),
        (
            "shared.guard",
            "use std.agent\ntrace { format openai }\nproperty p = never (tool == \"rm\")\n",
        ),
        ("shared.jsonl", SHARED),
        ("clock.guard", CLOCK),
        ("clock.jsonl", PAYMENTS),
    ]);
    audited(&folder, "mail.guard", "mail.jsonl", "small.html");
    audited(&folder, "shared.guard", "shared.jsonl", "shared.html");
    audited(&folder, "clock.guard", "clock.jsonl", "clock.html");
    audited(&folder, "a.guard", "hostile.jsonl", "hostile.html");
    audited(&folder, "a.guard", "big.jsonl", "big.html");
    match corpora() {
        Some(data) => pages_of_corpora(&folder, &data),
        None => skip("no corpora of recorded runs: their pages are not opened"),
    }
    let doc = folder.guard(&["doc", "mail.guard", "-o", "doc"]);
    assert_eq!(doc.code, 0, "{}", doc.err);
    let views = [
        View::new(&folder, &["a.guard", "t.jsonl", "--write"]),
        View::new(&folder, &["a.guard", "big.jsonl"]),
    ];
    let output = Command::new("node")
        .arg(root().join("tests/page/run.mjs"))
        .args([&modules, &browser])
        .arg(folder.path())
        .args(views.iter().map(|view| &view.address))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    if let Some(kept) = std::env::var_os("GUARD_PAGE_SCREENSHOTS") {
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_some_and(|ext| ext == "png" || ext == "html")
            {
                let to = std::path::Path::new(&kept).join(path.file_name().unwrap());
                std::fs::copy(&path, to).unwrap();
            }
        }
    }
    assert!(output.status.success(), "{told}{wrong}");
}
