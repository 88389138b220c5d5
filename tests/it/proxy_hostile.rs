//! Hostile servers, line by line: nothing forbidden reaches the client, and whatever the client may take as the answer to its
//! call was judged or is recorded as unknown.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use guard_cli::integrations::Judge;
use guard_cli::integrations::mcp::{Limits, Session, Turn};
use guard_lang::monitor::lenient::UNREAD;
use guard_lang::monitor::{Cause, Decision, Request, Ruling};
use serde_json::Value as Json;

/// In each case the server says this, whole or in parts, plain or encoded.
const FORBIDDEN: &str = "SECRET";

/// Denies what holds the forbidden text, and what is unknown.
struct Rules {
    denied: usize,
}

impl Judge for Rules {
    fn reads(&self, _: &str) -> bool {
        true
    }

    fn members(&self) -> Vec<String> {
        Vec::new()
    }

    fn only_looks_for(&self, _: &str) -> bool {
        true
    }

    fn check_keys(&self, _: &[&[&str]], _: &str) -> Result<(), String> {
        Ok(())
    }

    fn has_trace(&self, _: &str) -> bool {
        true
    }

    fn request(&mut self, request: Request, event: &str) -> Result<Decision, String> {
        let event: Json = serde_json::from_str(&event.replace(UNREAD, "{}")).unwrap();
        let mut decision = Decision::new(Cause::Event);
        if request == Request::Act {
            decision.cause = Cause::Act;
            decision.errors.push(format!("the text is {FORBIDDEN}"));
        }
        let text = event["text"].as_str();
        if event["kind"] != "call" && text.is_none_or(|text| text.contains(FORBIDDEN)) {
            decision.ruling = Ruling::Block;
            self.denied += 1;
        }
        Ok(decision)
    }
}

/// All strings and keys of a message.
fn strings(value: &Json, out: &mut Vec<String>) {
    match value {
        Json::String(text) => out.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Json::Object(members) => {
            for (key, member) in members {
                out.push(key.clone());
                strings(member, out);
            }
        }
        _ => {}
    }
}

/// Whether a client may read the forbidden text in a line, in whatever way.
fn shows(line: &str) -> bool {
    let mut all = Vec::new();
    strings(&serde_json::from_str(line).unwrap(), &mut all);
    let encoded = |text: &String| {
        let digits: String = text
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || "+/-_".contains(*c))
            .collect();
        let bytes = STANDARD_NO_PAD
            .decode(&digits)
            .or_else(|_| URL_SAFE_NO_PAD.decode(&digits));
        bytes.is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(FORBIDDEN))
    };
    all.concat().contains(FORBIDDEN) || all.iter().any(encoded)
}

/// A clause that keeps an answer from the server does not tell it why.
#[test]
fn nothing_that_is_kept_from_a_server_reaches_it() {
    for answer in [
        r#""result":{"action":"accept","content":{"password":"SECRET"}}"#,
        r#""error":{"code":1,"message":"SECRET"}"#,
        r#""result":{"SECRET":1,"SECRET":2}"#,
    ] {
        let mut session = Session::new("t", false, Limits::default());
        let mut rules = Rules { denied: 0 };
        let asks =
            br#"{"jsonrpc":"2.0","id":"s","method":"elicitation/create","params":{"message":"?"}}"#;
        let turn = session.from_server(&mut rules, asks);
        let asked: Json = serde_json::from_str(&turn.on[0]).unwrap();
        let line = format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, asked["id"]);
        let turn = session.from_client(&mut rules, line.as_bytes());
        assert_eq!(turn.on.len(), 1, "{answer}: {turn:?}");
        assert!(
            turn.on[0].contains("\"error\"") && !shows(&turn.on[0]),
            "{turn:?}"
        );
    }
}

/// Denies what may be the forbidden text of a tool, which must be `web`, and passes on all else.
struct OfWeb;

impl Judge for OfWeb {
    fn reads(&self, _: &str) -> bool {
        true
    }

    fn members(&self) -> Vec<String> {
        Vec::new()
    }

    fn only_looks_for(&self, _: &str) -> bool {
        true
    }

    fn check_keys(&self, _: &[&[&str]], _: &str) -> Result<(), String> {
        Ok(())
    }

    fn has_trace(&self, _: &str) -> bool {
        true
    }

    fn request(&mut self, _: Request, event: &str) -> Result<Decision, String> {
        let event: Json = serde_json::from_str(&event.replace(UNREAD, "0")).unwrap();
        let mut decision = Decision::new(Cause::Event);
        let is_web = event["tool"] == "web" || event["tool"] == 0;
        let says = event["text"].as_str();
        if is_web && event["kind"] == "result" && says.is_none_or(|says| says.contains(FORBIDDEN)) {
            decision.ruling = Ruling::Block;
        }
        Ok(decision)
    }
}

/// A client and a server.
struct Peers {
    session: Session,
    asked: u32,
}

impl Peers {
    fn new() -> Peers {
        Peers {
            session: Session::new("t", false, Limits::default()),
            asked: 0,
        }
    }

    /// Sends a line of the client, and returns the number of its request.
    fn asks(&mut self, line: &str) -> String {
        let turn = self.session.from_client(&mut OfWeb, line.as_bytes());
        let sent: Json = serde_json::from_str(&turn.on[0]).unwrap();
        sent["id"].to_string()
    }

    /// Calls a tool as a task.
    fn calls(&mut self, tool: &str, token: &str) -> String {
        self.asked += 1;
        let id = self.asked;
        self.asks(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","task":{{}},"_meta":{{"progressToken":{token}}}}}}}"#
        ))
    }

    /// Answers a request, and returns what the client gets.
    fn answers(&mut self, number: &str, result: &str) -> Turn {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{result}}}"#);
        self.session.from_server(&mut OfWeb, line.as_bytes())
    }

    /// Whether the client hears of this progress.
    fn tells(&mut self, members: &str) -> bool {
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{{members},"message":"{FORBIDDEN}"}}}}"#
        );
        let turn = self.session.from_server(&mut OfWeb, line.as_bytes());
        assert_eq!(turn.on.len() + turn.dropped.len(), 1, "{turn:?}");
        !turn.on.is_empty()
    }
}

/// However a token is written, progress is judged as that of its call, also when the call has become a task; other progress is dropped.
#[test]
fn progress_is_that_of_the_call_whose_token_it_has() {
    for (token, spelt) in [
        ("1", ["1", "1.0", "1e0", "10e-1"]),
        ("0", ["0", "-0", "0.0", "0e5"]),
        (
            r#""pt""#,
            [
                r#""pt""#,
                r#""\u0070t""#,
                r#""p\u0074""#,
                r#""\u0070\u0074""#,
            ],
        ),
    ] {
        let mut peers = Peers::new();
        let of_web = peers.calls("web", token);
        let none = [
            r#""progressToken":" 1""#,
            r#""progressToken":"1""#,
            r#""progressToken":null"#,
            r#""x":1"#,
        ];
        let two = format!(r#""progressToken":7,"ProgressToken":{token}"#);
        for is_task in [false, true] {
            for spelt in spelt {
                let told = peers.tells(&format!(r#""progressToken":{spelt}"#));
                assert!(!told, "{token} as {spelt}, task: {is_task}");
            }
            for members in none.into_iter().chain([two.as_str()]) {
                assert!(!peers.tells(members), "{members}");
            }
            let begun = peers.answers(&of_web, r#"{"task":{"taskId":"T","status":"working"}}"#);
            assert_eq!(begun.on.len(), usize::from(!is_task));
        }
        // The progress of another tool is told, unless `web` has the same token.
        let of_other = peers.calls("calm", "7");
        assert!(peers.tells(r#""progressToken":7"#) && peers.tells(r#""progressToken":7.0"#));
        peers.calls("calm", token);
        assert!(!peers.tells(&format!(r#""progressToken":{token}"#)));
        peers.answers(&of_other, "{}");
        assert!(!peers.tells(r#""progressToken":7"#));
    }
}

/// A call that is accepted as the task of another call, to whatever reader, is denied, and the task stays that of the first one.
#[test]
fn a_task_is_that_of_one_call() {
    for (said, begins) in [
        (r#"{"task":{"taskId":"T"}}"#, false),
        (r#"{"task":{"taskId":"\u0054"}}"#, false),
        (r#"{"task":{"taskId":"T"},"content":[]}"#, false),
        (r#"{"resultType":"task","taskId":"T"}"#, false),
        (r#"{"task":{"taskId":"U","TaskId":"T"}}"#, false),
        (r#"{"task":{"TASKID":"T"}}"#, false),
        (r#"{"Task":{"taskId":"T"}}"#, false),
        (r#"{"task":{"taskId":"U"},"taskId":"T"}"#, false),
        (r#"{"task":{"taskId":1}}"#, false),
        (r#"{"task":{"taskId":"U"}}"#, true),
        (r#"{"task":{"taskId":"T "},"content":[]}"#, true),
    ] {
        let mut peers = Peers::new();
        let calm = peers.calls("calm", "1");
        let begun = peers.answers(&calm, r#"{"task":{"taskId":"T"}}"#);
        assert!(begun.dropped.is_empty(), "{begun:?}");
        let web = peers.calls("web", "2");
        let answer = peers.answers(&web, said);
        let denied = answer.on[0].contains("was not checked");
        assert_eq!(
            (answer.on.len(), denied),
            (1, !begins),
            "{said}: {answer:?}"
        );
        let mut result = |task: &str| {
            let number = peers.asks(&format!(
                r#"{{"jsonrpc":"2.0","id":9,"method":"tasks/result","params":{{"taskId":"{task}"}}}}"#
            ));
            let answer = peers.answers(&number, r#"{"content":[{"type":"text","text":"SECRET"}]}"#);
            shows(&answer.on[0])
        };
        // Of `web` it would be denied.
        assert_eq!(
            [result("T"), result("U"), result("T ")],
            [true, false, false],
            "{said}"
        );
    }
}

/// What is looked up in an answer is found, or the answer is denied.
#[test]
fn nothing_hides_behind_very_many_members() {
    let many: String = (0..100_000).map(|n| format!(r#","{n}":1"#)).collect();
    for said in [
        format!(r#"{{"task":{{"taskId":"T"}}{many}}}"#),
        format!(r#"{{"task":{{"taskId":"T"{many}}}}}"#),
        format!(r#"{{"content":[],"isError":true{many}}}"#),
        format!(r#"{{"content":[],"_meta":{{"io.modelcontextprotocol/subscriptionId":1{many}}}}}"#),
    ] {
        let mut peers = Peers::new();
        let calm = peers.calls("calm", "1");
        peers.answers(&calm, r#"{"task":{"taskId":"T"}}"#);
        let web = peers.calls("web", "2");
        let answer = peers.answers(&web, &said);
        assert!(answer.on[0].contains("was not checked"), "{}", &said[..50]);
    }
    let mut peers = Peers::new();
    peers.calls("calm", "1");
    assert!(!peers.tells(&format!(r#""progressToken":1{many}"#)));
}

/// A list of very many elements costs neither a reason nor an answer for each.
#[test]
fn a_list_of_too_many_messages_is_one_that_is_malformed() {
    let limits = Limits::default();
    let (list, few) = (limits.list, Limits { list: 2, ..limits });
    for (limits, n_elements) in [(limits, 1_000_000), (limits, list + 1), (few, 3)] {
        let line = format!("[{}1]", "1,".repeat(n_elements - 1));
        let mut session = Session::new("t", false, limits);
        let turn = session.from_server(&mut OfWeb, line.as_bytes());
        assert_eq!((turn.on.len(), turn.dropped.len()), (0, 1), "{n_elements}");
        assert!(turn.dropped[0].contains("--max-list"), "{turn:?}");
        let turn = session.from_client(&mut OfWeb, line.as_bytes());
        assert_eq!((turn.on.len(), turn.back.len()), (0, 1), "{n_elements}");
        assert!(turn.back[0].contains("--max-list"), "{turn:?}");
    }
    let mut session = Session::new("t", false, few);
    for end in [", 7", ",{}", "}"] {
        let turn = session.from_server(&mut OfWeb, format!("[1,2,3{end}]").as_bytes());
        assert_eq!((turn.on.len(), turn.dropped.len()), (0, 1), "{end}");
    }
    let pings =
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let turn = session.from_client(&mut OfWeb, pings.as_bytes());
    assert_eq!(turn.on[0].matches("ping").count(), 2, "{turn:?}");
}

#[test]
fn nothing_of_a_hostile_server_reaches_the_client_unjudged() {
    let cases = include_str!("hostile_servers.jsonl");
    let mut judged = 0;
    for case in cases.lines() {
        let case: Json = serde_json::from_str(case).unwrap();
        let mut session = Session::new("t", false, Limits::default());
        let mut rules = Rules { denied: 0 };
        let call = br#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"read","_meta":{"progressToken":1}}}"#;
        let turn = session.from_client(&mut rules, call);
        let sent: Json = serde_json::from_str(&turn.on[0]).unwrap();
        let id = sent["id"].to_string();
        let (mut dropped, mut answered) = (0, 0);
        for line in case["lines"].as_array().unwrap() {
            let line = line.as_str().unwrap().replace("ID", &id);
            let turn = session.from_server(&mut rules, line.as_bytes());
            dropped += turn.dropped.len();
            answered += turn.on.len();
            for line in &turn.on {
                assert!(!shows(line), "{}: {line}", case["name"]);
            }
        }
        // It was denied, or never taken for anything.
        assert!(rules.denied + dropped + answered > 0, "{}", case["name"]);
        judged += usize::from(rules.denied > 0);
    }
    assert_eq!((judged, cases.lines().count()), (78, 95));
}
