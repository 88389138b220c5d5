//! The state machine of `guard proxy` (docs/protocol-mcp.md) between adversarial peers, compared with a second implementation
//! that knows the intended meaning of each message and never parses one.
//!
//! The peers send messages in any order: answers that are repeated, late, under equivalent ids, malformed, huge or deeply
//! nested; requests under ids in use; retries with used states, or of other calls. Each line that a peer receives and each
//! judged event is checked at every step.

use guard_cli::integrations::Judge;
use guard_cli::integrations::mcp::{Limits, Session, Turn};
use guard_lang::monitor::lenient::UNREAD;
use guard_lang::monitor::{Cause, Decision, Request, Ruling};
use serde_json::{Value as Json, json};

/// Few, so that entries are given up all the time.
const ENTRIES: usize = 6;

/// Rules that depend on the past, and a record of what was judged.
#[derive(Default)]
struct Rules {
    judged: Vec<Judged>,
    secret: bool,
    pays: u32,
    /// Whether null is nothing that they look for in `error`.
    only_look: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Judged {
    kind: &'static str,
    role: &'static str,
    /// `None` if it is unknown.
    tool: Option<String>,
    /// `None` if it is unknown; no call is null.
    call: Option<Option<String>>,
    /// What the text contains; `unknown` if the text is unknown.
    marker: &'static str,
    error: Failed,
}

/// Whether an event says that its call failed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Failed {
    /// Null: it is no outcome, and the rules look for outcomes.
    Never,
    Unknown,
    Known(bool),
}

/// An event of the client.
fn says(kind: &'static str, tool: &str, call: Option<String>, marker: &'static str) -> Judged {
    Judged {
        kind,
        role: "assistant",
        tool: Some(tool.to_owned()),
        call: Some(call),
        marker,
        error: Failed::Never,
    }
}

/// An answer of the server.
fn outcome(open: &Open, marker: &'static str, error: Failed) -> Judged {
    Judged {
        kind: "result",
        role: "tool",
        tool: open.tool.clone(),
        call: open.tool.as_ref().map(|_| open.call.clone()),
        marker,
        error,
    }
}

fn marker(text: &str) -> &'static str {
    let markers = ["INJECT", "SECRET", "LEAK", "HALT"];
    let found = markers.into_iter().find(|marker| text.contains(marker));
    found.unwrap_or("fine")
}

/// Whether these rules let an event happen. The reference uses them too: they are not what is tested.
fn allows(event: &Judged, secret: bool, pays: u32) -> bool {
    let tool = event.tool.as_deref().unwrap_or_default();
    match event.kind {
        "call" => {
            !(stops(event)
                || tool == "rm"
                || tool == "mail" && secret
                || tool == "pay" && pays >= 2)
        }
        _ => !matches!(event.marker, "INJECT" | "LEAK" | "HALT" | "unknown"),
    }
}

/// Whether an event ends the run.
fn stops(event: &Judged) -> bool {
    event.marker == "HALT" || event.kind == "call" && event.tool.as_deref() == Some("halt")
}

impl Rules {
    fn happen(&mut self, event: &Judged) {
        self.secret |= event.kind == "result" && matches!(event.marker, "SECRET" | "unknown");
        self.pays += u32::from(event.kind == "call" && event.tool.as_deref() == Some("pay"));
    }
}

fn judged(event: &Json) -> Judged {
    let kinds = ["call", "result", "message"];
    let kind = *kinds.iter().find(|kind| event["kind"] == **kind).unwrap();
    let roles = ["assistant", "user", "tool"];
    let role = *roles.iter().find(|role| event["role"] == **role).unwrap();
    let is_unknown = |member: &str| event[member] == unknown();
    assert!(event["text"].is_string() || is_unknown("text") || kind == "call");
    // What the arguments are is unknown if the tool is.
    assert_eq!(is_unknown("args"), is_unknown("tool"));
    Judged {
        kind,
        role,
        tool: (!is_unknown("tool")).then(|| event["tool"].as_str().unwrap().to_owned()),
        call: (!is_unknown("call")).then(|| event["call"].as_str().map(str::to_owned)),
        marker: match is_unknown("text") {
            true => "unknown",
            false => marker(event["text"].as_str().unwrap_or_default()),
        },
        error: match (is_unknown("error"), event["error"].as_bool()) {
            (true, _) => Failed::Unknown,
            (_, Some(failed)) => Failed::Known(failed),
            (_, None) => Failed::Never,
        },
    }
}

/// What stands for an unknown value.
fn unknown() -> Json {
    json!({"unknown": true})
}

impl Judge for Rules {
    fn reads(&self, _: &str) -> bool {
        true
    }

    fn members(&self) -> Vec<String> {
        Vec::new()
    }

    fn only_looks_for(&self, member: &str) -> bool {
        assert_eq!(member, "error");
        self.only_look
    }

    fn check_keys(&self, _: &[&[&str]], _: &str) -> Result<(), String> {
        Ok(())
    }

    fn has_trace(&self, _: &str) -> bool {
        false
    }

    fn request(&mut self, request: Request, event: &str) -> Result<Decision, String> {
        assert!(!event.contains('\n'));
        // An unknown value is a string that is no JSON.
        let event = event.replace(UNREAD, &unknown().to_string());
        let event = judged(&serde_json::from_str(&event).expect("events are JSON"));
        let mut decision = Decision::new(Cause::Event);
        let allowed = allows(&event, self.secret, self.pays);
        if !allowed {
            decision.ruling = match stops(&event) {
                true => Ruling::Stop,
                false => Ruling::Block,
            };
        }
        match request {
            Request::Act if !allowed => {}
            Request::Act | Request::Observe => self.happen(&event),
            other => panic!("{other:?} is not needed"),
        }
        self.judged.push(event);
        Ok(decision)
    }
}

/// xorshift64*
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

/// The value of a progress token.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Number(usize),
    /// The letter p before a number.
    Text(usize),
}

/// A request that the reference knows to be open.
#[derive(Clone, Debug)]
struct Open {
    /// As its sender wrote it, and other spellings of the same value.
    id: String,
    same: String,
    /// What the other side knows it by; read off the wire, as the other side does.
    number: u64,
    method: &'static str,
    /// `None` if it is not known whose outcome the answer is.
    tool: Option<String>,
    call: Option<String>,
    token: Option<Token>,
    task: bool,
    /// Whether a result of it is what the user says.
    of_user: bool,
    params: String,
    /// The task about which it asks, if that is known.
    of_task: Option<usize>,
}

/// A call that became a task.
#[derive(Clone, Debug)]
struct Task {
    /// No other task has it; an id may be that of a task that was given up.
    serial: usize,
    id: String,
    call: Open,
    /// The outcome of it that is recorded.
    outcome: Option<Failed>,
}

/// What a message about a task says of its outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Open,
    Ended(Failed),
    /// It contains a result, and readers may differ on whose it is, or whether it is one.
    Doubtful,
}

/// What a result says by its members.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Says {
    Content,
    /// No content.
    Nothing,
    Failure,
    Question,
    /// It is an error, and no result.
    Error,
}

/// What one line is expected to come to.
#[derive(Default)]
struct Expected {
    on: Vec<Line>,
    back: Vec<Line>,
    dropped: usize,
    judged: Vec<Judged>,
}

enum Line {
    /// This message, byte for byte the id.
    Whole(Option<String>, Json),
    /// A request under a new number, which the reference takes for the request that it opened last.
    Numbered { from_client: bool, body: Json },
    /// A denial of the request of this id.
    Denial(String),
}

struct World {
    dice: Dice,
    session: Session,
    rules: Rules,
    typed: bool,
    fresh: usize,
    /// The requests that have a name.
    n_named: usize,
    open: Vec<Open>,
    asked: Vec<Open>,
    /// By their states, if they have one.
    questions: Vec<(Option<String>, Open)>,
    tasks: Vec<Task>,
    /// By their ids: whether the result of a task of the client is what the user says.
    client_tasks: Vec<(String, bool)>,
    closed: Vec<u64>,
    stopped: bool,
}

impl World {
    fn new(seed: u64, typed: bool) -> World {
        let limits = Limits {
            entries: ENTRIES,
            bytes: 1 << 30,
            ..Limits::default()
        };
        let mut world = World {
            dice: Dice(seed),
            session: Session::new("t", false, limits),
            rules: Rules {
                only_look: seed % 4 < 2,
                ..Rules::default()
            },
            typed,
            fresh: 0,
            // `initialize`
            n_named: 1,
            open: Vec::new(),
            asked: Vec::new(),
            questions: Vec::new(),
            tasks: Vec::new(),
            client_tasks: Vec::new(),
            closed: Vec::new(),
            stopped: false,
        };
        let version = if typed { "2026-07-28" } else { "2025-11-25" };
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": version}});
        let turn = world
            .session
            .from_client(&mut world.rules, hello.to_string().as_bytes());
        let number = read(&turn.on[0])["id"].clone();
        // A server that claims more than the client offered changes nothing.
        let hello =
            json!({"jsonrpc": "2.0", "id": number, "result": {"protocolVersion": "2026-07-28"}});
        world
            .session
            .from_server(&mut world.rules, hello.to_string().as_bytes());
        world.rules.judged.clear();
        world
    }

    fn fresh(&mut self) -> usize {
        self.fresh += 1;
        self.fresh
    }

    /// A new id, and another spelling of it.
    fn id(&mut self) -> (String, String) {
        let n = self.fresh();
        match self.dice.below(4) {
            0 => (n.to_string(), format!("{n}.0")),
            1 => (format!("\"s{n}\""), format!("\"\\u0073{n}\"")),
            // Numbers that a double does not tell apart, and strings that a client takes for numbers.
            2 => (
                (12_345_678_901_234_567_000 + n as u64).to_string(),
                (12_345_678_901_234_567_000 + n as u64).to_string(),
            ),
            _ => (format!("\" {n}\""), format!("\"\\u0020{n}\"")),
        }
    }

    fn noise(&mut self, json: String) -> String {
        // White space that some readers take for the end of a line.
        match self.dice.below(4) {
            0 => json.replacen("\"params\":", "\"params\":\r\t", 1),
            1 => json.replacen("\"result\":", "\"result\":\r", 1),
            _ => json,
        }
    }

    /// Rules on what the client wants to do.
    fn proposes(&mut self, event: Judged, expected: &mut Expected) -> bool {
        // After the end of the run nothing is judged any more that the client wants to do.
        !self.stopped && self.says(event, expected)
    }

    fn client(&mut self) -> (String, Expected) {
        let mut expected = Expected::default();
        let line = match self.dice.below(12) {
            0..=3 => self.tool_call(&mut expected),
            4 => self.other_request(&mut expected),
            5 => match self.dice.chance(4) {
                true => self.tasks_cancel(&mut expected),
                false => self.tasks_result(&mut expected),
            },
            6 => self.cancel(&mut expected),
            7 | 8 => self.client_answer(&mut expected),
            9 => self.client_notification(&mut expected),
            10 => self.client_malformed(&mut expected),
            _ => {
                // Two messages in a list are what they are one by one.
                let first = self.other_request(&mut expected);
                format!("[{first}]")
            }
        };
        (line, expected)
    }

    fn tool_call(&mut self, expected: &mut Expected) -> String {
        let tool = match self.dice.chance(40) {
            true => "halt",
            false => *self.dice.one(&["read", "read", "mail", "pay", "rm"]),
        };
        let (id, same) = self.request_id();
        let args = self.dice.below(2);
        let task = self.dice.chance(4);
        let token = self.token();
        let state = match self.dice.below(4) {
            0 if !self.questions.is_empty() => self.dice.one(&self.questions).0.clone(),
            1 => Some("\"made up\"".to_owned()),
            _ => None,
        };
        let answers = *self.dice.one(&[None, Some("fine"), Some("LEAK")]);
        let params = format!("{tool} {args} {task}");
        let mut text = format!("{{\"name\":\"{tool}\",\"arguments\":{{\"a\":{args}}}");
        if task {
            text.push_str(",\"task\":{}");
        }
        if let Some(token) = token {
            let token = self.spelt(token);
            text.push_str(&format!(",\"_meta\":{{\"progressToken\":{token}}}"));
        }
        match &state {
            Some(state) => text.push_str(&format!(",\"requestState\":{state}")),
            None if self.dice.chance(4) => text.push_str(",\"requestState\":null"),
            None => {}
        }
        if let Some(marker) = answers {
            text.push_str(&format!(
                ",\"inputResponses\":{{\"a\":{{\"x\":\"{marker}\"}}}}"
            ));
        }
        text.push('}');
        let open = Open {
            call: Some(plain(&id)),
            id,
            same,
            number: 0,
            method: "tools/call",
            tool: Some(tool.to_owned()),
            token,
            task,
            of_user: false,
            params,
            of_task: None,
        };
        self.request(open, text, (state, answers), expected)
    }

    /// No token, a new one, or that of another call.
    fn token(&mut self) -> Option<Token> {
        let known = self.with_tokens();
        let n = self.fresh();
        match self.dice.below(8) {
            0 if !known.is_empty() => self.dice.one(&known).token,
            1 | 2 => Some(Token::Number(n)),
            3 | 4 => Some(Token::Text(n)),
            _ => None,
        }
    }

    /// The open requests and tasks of which the server may tell the progress.
    fn with_tokens(&self) -> Vec<Open> {
        let tasks = self.tasks.iter().map(|task| &task.call);
        let all = self.open.iter().chain(tasks);
        all.filter(|open| open.token.is_some()).cloned().collect()
    }

    /// A notation of a token.
    fn spelt(&mut self, token: Token) -> String {
        match (token, self.dice.below(3)) {
            (Token::Number(n), 0) => n.to_string(),
            (Token::Number(n), 1) => format!("{n}.0"),
            (Token::Number(n), _) => format!("{n}0e-1"),
            (Token::Text(n), 0) => format!("\"p{n}\""),
            (Token::Text(n), _) => format!("\"\\u0070{n}\""),
        }
    }

    fn other_request(&mut self, expected: &mut Expected) -> String {
        let (id, same) = self.request_id();
        let method = *self.dice.one(&[
            "resources/read",
            "subscriptions/listen",
            "tools/list",
            "tasks/get",
            "tasks/list",
            "ping",
            "x/unknown",
        ]);
        let open = Open {
            call: Some(plain(&id)),
            id,
            same,
            number: 0,
            method,
            tool: Some(method.to_owned()),
            token: None,
            task: false,
            of_user: false,
            params: "other".to_owned(),
            of_task: None,
        };
        self.request(
            open,
            "{\"uri\":\"u\u{2028}\"}".to_owned(),
            (None, None),
            expected,
        )
    }

    fn tasks_result(&mut self, expected: &mut Expected) -> String {
        let (id, same) = self.request_id();
        let known = (!self.tasks.is_empty()).then(|| self.dice.one(&self.tasks).clone());
        let task = known.as_ref().map(|task| task.id.clone());
        let of_task = known.as_ref().map(|task| task.serial);
        let method = *self.dice.one(&["tasks/get", "tasks/result"]);
        let (tool, call) = match (method, known) {
            ("tasks/get", _) => (Some(method.to_owned()), Some(plain(&id))),
            (_, Some(task)) => (task.call.tool, task.call.call),
            // Of a task that is not in the table (of an earlier run, given up, never made) it is not known whose result it is.
            (_, None) => (None, None),
        };
        let open = Open {
            call,
            id,
            same,
            number: 0,
            method,
            tool,
            token: None,
            task: false,
            of_user: false,
            params: "other".to_owned(),
            of_task,
        };
        let task = task.unwrap_or("\"none\"".to_owned());
        self.request(
            open,
            format!("{{\"taskId\":{task}}}"),
            (None, None),
            expected,
        )
    }

    /// A task may have done all the same what it was to do, and its result may be asked for later.
    fn tasks_cancel(&mut self, expected: &mut Expected) -> String {
        let (id, same) = self.request_id();
        let known = (!self.tasks.is_empty()).then(|| self.dice.below(self.tasks.len()));
        let task = known.map_or("\"none\"".to_owned(), |place| self.tasks[place].id.clone());
        let open = Open {
            call: Some(plain(&id)),
            id,
            same,
            number: 0,
            method: "tasks/cancel",
            tool: Some("tasks/cancel".to_owned()),
            token: None,
            task: false,
            of_user: false,
            params: "other".to_owned(),
            of_task: None,
        };
        let is_new = self.open.iter().all(|other| other.same != open.id);
        if let Some(place) = known.filter(|_| is_new) {
            let task = self.tasks[place].clone();
            self.tasks[place].outcome.get_or_insert(Failed::Unknown);
            self.left(&task, expected);
        }
        self.request(
            open,
            format!("{{\"taskId\":{task}}}"),
            (None, None),
            expected,
        )
    }

    /// Nothing more is known of a task.
    fn left(&mut self, task: &Task, expected: &mut Expected) {
        if task.outcome.is_none() {
            self.says(outcome(&task.call, "unknown", Failed::Unknown), expected);
        }
    }

    /// The answer to a request, if that asked for the result of a task: an outcome of the call of the task, once.
    fn result(&mut self, open: &Open, event: Judged) -> Judged {
        match open.method {
            "tasks/result" => self.ended(open.of_task, event),
            _ => event,
        }
    }

    /// What says again how a task ended is no further outcome, nor is what comes after an unknown one.
    fn ended(&mut self, task: Option<usize>, mut event: Judged) -> Judged {
        let mut tasks = self.tasks.iter_mut();
        let Some(task) = tasks.find(|known| Some(known.serial) == task) else {
            return event;
        };
        if [Some(Failed::Unknown), Some(event.error)].contains(&task.outcome) {
            event.call = Some(None);
            if self.rules.only_look {
                event.error = Failed::Never;
            }
        } else {
            task.outcome = Some(event.error);
        }
        event
    }

    /// A new id, or one that is in use.
    fn request_id(&mut self) -> (String, String) {
        if !self.open.is_empty() && self.dice.chance(8) {
            let used = self.dice.one(&self.open).clone();
            return (used.same.clone(), used.same);
        }
        self.id()
    }

    fn request(
        &mut self,
        mut open: Open,
        params: String,
        (state, answers): (Option<String>, Option<&'static str>),
        expected: &mut Expected,
    ) -> String {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"{}\",\"params\":{params}}}",
            open.id, open.method
        );
        let line = self.noise(line);
        let id = open.id.clone();
        if self.open.iter().any(|other| other.same == id) {
            expected.back.push(Line::Denial(id));
            return line;
        }
        self.n_named += 1;
        if open.method != "tasks/result" {
            open.call = open.call.map(|id| format!("0.{}/{id}", self.n_named));
        }
        let question = self.questions.iter().rposition(|(known, asked)| {
            let is_meant = known.is_some() || answers.is_some();
            is_meant && *known == state && asked.params == open.params
        });
        if let Some(place) = question {
            open.call = self.questions[place].1.call.clone();
        }
        let is_call = ![
            "tools/list",
            "ping",
            "tasks/get",
            "tasks/list",
            "tasks/result",
            "tasks/cancel",
        ]
        .contains(&open.method);
        let tool = open.tool.as_deref().unwrap_or_default();
        let said = answers.map(|marker| says("message", tool, None, marker));
        let event = says("call", tool, open.call.clone(), "fine");
        let mut events = said.into_iter().chain([event]);
        if is_call && !events.all(|event| self.proposes(event, expected)) {
            expected.back.push(Line::Denial(id));
            return line;
        }
        if let Some(place) = question {
            self.questions.remove(place);
        }
        let body = json!({"jsonrpc": "2.0", "method": open.method, "params": read(&params)});
        expected.on.push(Line::Numbered {
            from_client: true,
            body,
        });
        self.open.push(open);
        if self.open.len() > ENTRIES {
            let oldest = self.open.remove(0);
            self.closed.push(oldest.number);
            self.unanswered(&oldest, expected);
            expected.back.push(Line::Denial(oldest.id));
        }
        line
    }

    fn cancel(&mut self, expected: &mut Expected) -> String {
        let mut id = "\"unknown\"".to_owned();
        if !self.open.is_empty() && !self.dice.chance(4) {
            let place = self.dice.below(self.open.len());
            let open = self.open.remove(place);
            self.closed.push(open.number);
            self.unanswered(&open, expected);
            id = open.same;
            let params = json!({"requestId": open.number});
            let body =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            expected.on.push(Line::Whole(None, body));
        } else {
            expected.dropped = 1;
        }
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}"
        )
    }

    /// What a request asked for may have been done, although no answer to it will be read.
    fn unanswered(&mut self, open: &Open, expected: &mut Expected) {
        let plain = [
            "tools/list",
            "ping",
            "tasks/get",
            "tasks/list",
            "tasks/cancel",
        ];
        // The result of a task may be asked for again.
        let mut tasks = self.tasks.iter();
        let goes_on = tasks.any(|task| Some(task.serial) == open.of_task);
        if open.method == "subscriptions/listen" {
            // It has not failed, and all that it delivered was judged.
            self.says(outcome(open, "fine", Failed::Known(false)), expected);
        } else if !plain.contains(&open.method) && !goes_on {
            self.says(outcome(open, "unknown", Failed::Unknown), expected);
        }
    }

    fn client_answer(&mut self, expected: &mut Expected) -> String {
        let marker = *self.dice.one(&["fine", "LEAK"]);
        let task = format!("c{}", self.dice.below(4));
        let (key, result) = match self.dice.below(6) {
            0 => ("error", json!({"code": -1, "message": marker})),
            1 => (
                "result",
                json!({"task": {"taskId": task, "statusMessage": marker}}),
            ),
            2 => ("result", json!({"TaskID": task, "content": {"x": marker}})),
            _ => (
                "result",
                json!({"role": "assistant", "content": {"type": "text", "text": marker}}),
            ),
        };
        if self.asked.is_empty() || self.dice.chance(4) {
            expected.dropped = 1;
            let number = self.dice.one(&["\"1\"", "99999999", "-1", "null"]);
            return format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"result\":{result}}}");
        }
        let place = self.dice.below(self.asked.len());
        let asked = self.asked.remove(place);
        if self.dice.chance(6) {
            expected.dropped = 1;
            expected.on.push(Line::Denial(asked.id));
            return format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result},\"error\":null}}",
                asked.number
            );
        }
        let mut event = says("message", asked.method, None, marker);
        let is_said =
            key == "result" && result.get("content").is_some() && result.get("TaskID").is_none();
        if is_said && asked.of_user {
            event.role = "user";
        }
        if self.proposes(event, expected) {
            let body = json!({"jsonrpc": "2.0", "id": read(&asked.id), key: result});
            expected.on.push(Line::Whole(Some(asked.id), body));
            if result.get("task").is_some() {
                let known = self.client_tasks.iter().position(|known| known.0 == task);
                let known = known.map(|place| self.client_tasks.remove(place).1);
                let of_user = asked.of_user && known != Some(false);
                self.client_tasks.push((task, of_user));
            }
        } else {
            expected.on.push(Line::Denial(asked.id));
        }
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"{key}\":{result}}}",
            asked.number
        );
        self.noise(line)
    }

    fn client_notification(&mut self, expected: &mut Expected) -> String {
        let marker = *self.dice.one(&["fine", "LEAK"]);
        let method = *self
            .dice
            .one(&["notifications/progress", "notifications/x", "tools/call"]);
        let params = match method == "notifications/x" && self.dice.chance(2) {
            true => json!({"isError": true}),
            false => json!({"message": marker, "name": "rm", "progress": 1}),
        };
        if method == "tools/call" {
            expected.back.push(Line::Denial("null".to_owned()));
        } else if params.get("message").is_none() {
            let body = json!({"jsonrpc": "2.0", "method": method, "params": params});
            match self.stopped {
                true => expected.dropped = 1,
                false => expected.on.push(Line::Whole(None, body)),
            }
        } else {
            let event = says("message", method, None, marker);
            let body = json!({"jsonrpc": "2.0", "method": method, "params": params});
            match self.proposes(event, expected) {
                true => expected.on.push(Line::Whole(None, body)),
                false => expected.dropped = 1,
            }
        }
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}")
    }

    fn client_malformed(&mut self, expected: &mut Expected) -> String {
        let call = r#""method":"tools/call","params":{"name":"rm""#;
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let (line, id) = match self.dice.below(8) {
            0 => ("garbage".to_owned(), "null"),
            1 => (
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping",{call}}}}}"#),
                "7",
            ),
            2 => (
                format!(r#"{{"jsonrpc":"2.0","id":7,{call},"Name":"read"}}}}"#),
                "7",
            ),
            3 => (
                format!(r#"{{"jsonrpc":"2.0","id":7,"METHOD":"ping",{call}}}}}"#),
                "7",
            ),
            4 => (
                format!(r#"{{"jsonrpc":"2.0","id":7,{call},"arguments":{deep}}}}}"#),
                "7",
            ),
            5 => (format!(r#"{{"jsonrpc":"2.0","id":[],{call}}}}}"#), "null"),
            6 => (
                format!(r#"{{"jsonrpc":"2.0","id":7,{call},"arguments":"x\ud83d"}}}}"#),
                "7",
            ),
            _ => ("[]".to_owned(), "null"),
        };
        expected.back.push(Line::Denial(id.to_owned()));
        line
    }

    fn server(&mut self) -> (String, Expected) {
        let mut expected = Expected::default();
        let line = match self.dice.below(12) {
            0..=3 => self.answer(&mut expected),
            4 => self.wrong_id(&mut expected),
            5 => self.malformed_answer(&mut expected),
            6 => self.question(&mut expected),
            7 => self.task(&mut expected),
            8 => self.server_notification(&mut expected),
            9 => self.server_request(&mut expected),
            10 => self.server_cancels(&mut expected),
            _ => {
                expected.dropped = 1;
                self.dice
                    .one(&["garbage", "[]", "{\"a\":1}", "\u{feff}{}"])
                    .to_string()
            }
        };
        (line, expected)
    }

    /// Rules on what the server says.
    fn says(&mut self, event: Judged, expected: &mut Expected) -> bool {
        expected.judged.push(event.clone());
        self.stopped |= stops(&event);
        allows(&event, self.rules.secret, self.rules.pays)
    }

    /// A message of the server which is not the outcome of a request.
    fn remark(&self, tool: &str, marker: &'static str) -> Judged {
        Judged {
            role: "tool",
            error: self.no_outcome(),
            ..says("result", tool, None, marker)
        }
    }

    fn no_outcome(&self) -> Failed {
        match self.rules.only_look {
            true => Failed::Never,
            false => Failed::Unknown,
        }
    }

    /// An open request, closed; a line that is dropped if there is none.
    fn close(&mut self, expected: &mut Expected) -> Option<Open> {
        if self.open.is_empty() {
            expected.dropped = 1;
            return None;
        }
        let place = self.dice.below(self.open.len());
        let open = self.open.remove(place);
        self.closed.push(open.number);
        Some(open)
    }

    fn answer(&mut self, expected: &mut Expected) -> String {
        let Some(open) = self.close(expected) else {
            return "garbage".to_owned();
        };
        let marker = *self.dice.one(&["fine", "fine", "SECRET", "INJECT"]);
        if open.method == "tasks/get" && open.of_task.is_some() && self.dice.chance(2) {
            return self.task_answer(open, marker, expected);
        }
        let empty = open.method == "ping" && self.dice.chance(2);
        let (mut value, says) = match empty {
            true => ("{}".to_owned(), Says::Nothing),
            false => self.content(marker),
        };
        let key = if says == Says::Error {
            "error"
        } else {
            "result"
        };
        let (event, value) = match key {
            "error" => (outcome(&open, marker, Failed::Known(true)), value),
            _ => {
                let error = self.success(&open, says, &mut value);
                let is_of_tasks = ["tasks/get", "tasks/list"].contains(&open.method);
                let holds = is_of_tasks && !empty && self.dice.chance(2);
                let mut event = outcome(&open, marker, error);
                if holds {
                    // It is not known either of which call it is the result.
                    let held = *self.dice.one(&[
                        r#""result":{},"#,
                        r#""tasks":[{"taskId":"x"},{"re\u0073ult":{}}],"#,
                        r#""x":{"y":{"Result" :1}},"#,
                    ]);
                    value.insert_str(1, held);
                    (event.tool, event.call, event.error) = (None, None, Failed::Unknown);
                }
                (event, value)
            }
        };
        let event = self.result(&open, event);
        if empty || self.says(event, expected) {
            let body = json!({"jsonrpc": "2.0", "id": read(&open.id), key: read(&value)});
            expected.on.push(Line::Whole(Some(open.id), body));
        } else {
            expected.on.push(Line::Denial(open.id));
        }
        let number = match self.dice.below(3) {
            0 => format!("{}.0", open.number),
            1 => format!("{}e0", open.number),
            _ => open.number.to_string(),
        };
        let line = format!("{{\"{key}\":{value},\"jsonrpc\":\"2.0\",\"x\":1,\"id\":{number}}}");
        let line = self.noise(line);
        match self.dice.chance(5) {
            // A list of one goes as a list, which reads as what is in it.
            true => format!("[{line}]"),
            false => line,
        }
    }

    /// The state of a task as `tasks/get` tells it, of which the task may not be the one that was asked about.
    fn task_answer(&mut self, open: Open, marker: &'static str, expected: &mut Expected) -> String {
        let known = self
            .tasks
            .iter()
            .find(|task| Some(task.serial) == open.of_task);
        let (value, state) = match known.cloned() {
            Some(task) => self.task_state(&task, marker),
            // It has been given up for newer ones.
            None => (
                format!(r#"{{"taskId":"none","status":"completed","result":{{"x":"{marker}"}}}}"#),
                State::Doubtful,
            ),
        };
        let event = match state {
            State::Open => outcome(&open, marker, Failed::Known(false)),
            State::Ended(error) => {
                let task = self
                    .tasks
                    .iter()
                    .find(|task| Some(task.serial) == open.of_task);
                let event = outcome(&task.unwrap().call, marker, error);
                self.ended(open.of_task, event)
            }
            State::Doubtful => Judged {
                tool: None,
                call: None,
                ..outcome(&open, marker, Failed::Unknown)
            },
        };
        match self.says(event, expected) {
            true => {
                let body = json!({"jsonrpc": "2.0", "id": read(&open.id), "result": read(&value)});
                expected.on.push(Line::Whole(Some(open.id), body));
            }
            false => expected.on.push(Line::Denial(open.id)),
        }
        format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{value}}}"#,
            open.number
        )
    }

    /// The state of a task, by which its outcome comes in a version that has no `tasks/result`.
    fn task_state(&mut self, task: &Task, marker: &str) -> (String, State) {
        let done = r#""result":{"content":[]}"#;
        let error = format!(r#""status":"failed","error":{{"code":-1,"message":"{marker}"}}"#);
        let (members, mut state) = match self.dice.below(10) {
            0 => (r#""status":"working""#.to_owned(), State::Open),
            1 => (r#""status":"cancelled""#.to_owned(), State::Open),
            2 => (error, State::Ended(Failed::Known(true))),
            3 => (
                format!(r#""status":"completed","resultType":"complete",{done}"#),
                State::Ended(Failed::Known(false)),
            ),
            4 => (
                // The word within a result is not that of the message.
                r#""status":"completed","result":{"structuredContent":{"result":1}}"#.to_owned(),
                State::Ended(Failed::Known(false)),
            ),
            5 => (
                r#""status":"completed","result":{"content":[],"isError":true}"#.to_owned(),
                State::Ended(Failed::Known(true)),
            ),
            6 => (
                r#""status":"completed","result":{"resultType":"task","content":[]}"#.to_owned(),
                State::Ended(Failed::Unknown),
            ),
            7 => (format!(r#""status":"working",{done}"#), State::Doubtful),
            8 => (
                format!(r#""status":"completed","Result":1,{done}"#),
                State::Doubtful,
            ),
            _ => (
                format!(r#""status":"completed","_meta":{{"result":1}},{done}"#),
                State::Doubtful,
            ),
        };
        let id = match self.dice.chance(6) {
            true => "\"none\"",
            false => task.id.as_str(),
        };
        if id != task.id || !self.typed {
            let holds = members.contains("result\"");
            state = if holds { State::Doubtful } else { State::Open };
        }
        let value = format!(r#"{{"taskId":{id},"statusMessage":"{marker}",{members}}}"#);
        (value, state)
    }

    /// Adds members to a result that decide whether the request is finished and successful; returns what they say.
    fn success(&mut self, open: &Open, says: Says, value: &mut String) -> Failed {
        let given = match open.method {
            "tools/call" | "tasks/result" => says == Says::Content,
            "resources/read" if says == Says::Content && self.dice.chance(2) => {
                let contents = value.replacen("\"content\":", "\"contents\":", 1);
                std::mem::replace(value, contents) != *value
            }
            "resources/read" => false,
            _ => true,
        };
        let (members, says_so) = *self.dice.one(&[
            ("", true),
            ("", true),
            (r#""resultType":"complete","isError":false,"#, true),
            (r#""resultType":"pending","#, false),
            (r#""resultType":null,"#, false),
            (r#""resulttype":"complete","#, false),
            (r#""isError":"false","#, false),
            (r#""i\u017fError":true,"#, false),
            (r#""task":{},"#, false),
        ]);
        match says {
            Says::Question => Failed::Unknown,
            Says::Failure => Failed::Known(true),
            _ if *value == "{}" => Failed::Known(false),
            _ => {
                value.insert_str(1, members);
                match given && says_so {
                    true => Failed::Known(false),
                    false => Failed::Unknown,
                }
            }
        }
    }

    /// The marker in every kind of content.
    fn content(&mut self, marker: &str) -> (String, Says) {
        use base64::Engine as _;
        let half = marker.len() / 2;
        let escaped: String = marker
            .bytes()
            .map(|byte| format!("\\u{byte:04x}"))
            .collect();
        let blob = base64::engine::general_purpose::STANDARD.encode(marker);
        let huge = "x".repeat(if self.dice.chance(200) { 300_000 } else { 3 });
        let kind = self.dice.below(11);
        let value = match kind {
            0 => format!(r#"{{"content":[{{"type":"text","text":"{huge}{marker}"}}]}}"#),
            1 => format!(r#"{{"content":[],"structuredContent":{{"x":[{{"y":"{marker}"}}]}}}}"#),
            2 => format!(r#"{{"structuredContent":{{"{marker}":1}}}}"#),
            3 => format!(
                r#"{{"content":[{{"type":"resource","resource":{{"uri":"u","text":"{marker}"}}}}]}}"#
            ),
            4 => format!(
                r#"{{"content":[{{"type":"resource","resource":{{"uri":"u","blob":"{blob}"}}}}]}}"#
            ),
            5 => format!(
                r#"{{"content":[{{"type":"resource_link","uri":"u","name":"n","description":"{marker}"}}]}}"#
            ),
            6 => format!(
                r#"{{"content":[{{"type":"text","text":"{}"}},{{"type":"text","text":"{}"}}]}}"#,
                &marker[..half],
                &marker[half..]
            ),
            7 => format!(r#"{{"content":[{{"type":"text","text":"{escaped}"}}],"isError":true}}"#),
            // Only some versions know it, and only without content.
            8 => format!(
                r#"{{"resultType":"input_required","content":[{{"type":"text","text":"{marker}"}}]}}"#
            ),
            9 => format!(r#"{{"_meta":{{"x":"{marker}"}}}}"#),
            _ => format!(r#"{{"code":-1,"message":"m","data":{{"d":["{marker}"]}}}}"#),
        };
        let says = match kind {
            7 => Says::Failure,
            8 => Says::Question,
            9 => Says::Nothing,
            10 => Says::Error,
            _ => Says::Content,
        };
        (value, says)
    }

    fn wrong_id(&mut self, expected: &mut Expected) -> String {
        let late = self.closed.last().copied().unwrap_or(1 << 40);
        let spelling = self.dice.below(6);
        let open = match spelling {
            // Some clients take these for the number.
            0..=2 => match self.close(expected) {
                None => late,
                Some(open) => {
                    let number = open.number;
                    self.unknown(open, expected);
                    number
                }
            },
            _ => {
                expected.dropped = 1;
                self.open.first().map_or(1, |open| open.number)
            }
        };
        let id = match spelling {
            0 => format!("\"{open}\""),
            1 => format!("\" {open} \""),
            2 => format!("\"0x{open:x}\""),
            3 => format!("{open}.5"),
            4 => format!("-{open}"),
            _ => late.to_string(),
        };
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"INJECT"}}]}}}}"#
        )
    }

    fn malformed_answer(&mut self, expected: &mut Expected) -> String {
        let Some(open) = self.close(expected) else {
            return "garbage".to_owned();
        };
        let result = r#"{"content":[{"type":"text","text":"INJECT"}]}"#;
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let rest = match self.dice.below(14) {
            0 => format!(r#""method":null,"result":{result}"#),
            1 => format!(r#""method":"x","result":{result}"#),
            2 => format!(r#""error":null,"result":{result}"#),
            3 => format!(r#""result":{{}},"result":{result}"#),
            4 => format!(r#""result":{{"content":{deep}}}"#),
            5 => r#""result":{"content":[{"type":"text","text":"\ud83d"}]}"#.to_owned(),
            6 => r#""result":["INJECT"]"#.to_owned(),
            7 => format!(r#""ID":"{}","result":{result}"#, open.number),
            // What is no JSON: a control character in a string, a value that is none, and an end that is missing.
            8 => "\"result\":{\"x\":\"INJECT\u{1}\"}".to_owned(),
            9 => r#""result":{"x":"INJECT\q"}"#.to_owned(),
            // What is wrong is a text of the server.
            10 => r#""result":{"INJECT":1,"INJECT":2}"#.to_owned(),
            11 => format!(r#""INJECT":1,"INJECT":2,"result":{result}"#),
            12 => r#""result":{"INJECT\ud800":1}"#.to_owned(),
            _ => r#""result":{"x":{"y":"INJECT"}"#.to_owned(),
        };
        let number = open.number;
        self.unknown(open, expected);
        let mark = if self.dice.chance(8) { "\u{feff}" } else { "" };
        format!(r#"{mark}{{"jsonrpc":"2.0","id":{number},{rest}}}"#)
    }

    /// The outcome of a request is unknown, and the client gets a denial; why is for the log.
    fn unknown(&mut self, open: Open, expected: &mut Expected) {
        let event = outcome(&open, "unknown", Failed::Unknown);
        assert!(!self.says(event, expected));
        let mut tasks = self.tasks.iter_mut();
        if open.method == "tasks/result"
            && let Some(task) = tasks.find(|task| Some(task.serial) == open.of_task)
        {
            task.outcome.get_or_insert(Failed::Unknown);
        }
        expected.dropped = 1;
        expected.on.push(Line::Denial(open.id));
    }

    fn question(&mut self, expected: &mut Expected) -> String {
        let Some(open) = self.close(expected) else {
            return "garbage".to_owned();
        };
        let marker = *self.dice.one(&["fine", "fine", "SECRET", "INJECT"]);
        let state = format!("\"q{}\"", self.dice.below(8));
        let number = open.number;
        let inputs = format!(r#""inputRequests":{{"a":{{"message":"{marker}"}}}}"#);
        let shape = self.dice.below(6);
        let (members, state) = match shape {
            0 => (inputs, None),
            1 => (format!(r#""requestState":null,{inputs}"#), None),
            // These ask nothing.
            2 => (format!(r#""_meta":{{"x":"{marker}"}}"#), None),
            3 => (
                format!(r#""inputRequests":null,"_meta":{{"x":"{marker}"}}"#),
                None,
            ),
            _ => (format!(r#""requestState":{state},{inputs}"#), Some(state)),
        };
        let value = format!(r#"{{"resultType":"input_required",{members}}}"#);
        let goes_on = self.typed && ![2, 3].contains(&shape);
        let mut event = outcome(&open, marker, Failed::Unknown);
        // To a peer that does not know questions it is a result like any other, but no success.
        match goes_on {
            true => (event.call, event.error) = (Some(None), self.no_outcome()),
            false => event = self.result(&open, event),
        }
        if self.says(event, expected) {
            let body = json!({"jsonrpc": "2.0", "id": read(&open.id), "result": read(&value)});
            expected.on.push(Line::Whole(Some(open.id.clone()), body));
            if goes_on {
                let known = self.questions.iter().position(|(known, asked)| {
                    // Without a state there is one of a call.
                    let is_same = state.is_some() || open.call.is_some() && asked.call == open.call;
                    *known == state && is_same
                });
                let replaced = known.map(|place| self.questions.remove(place));
                self.questions.push((state, open));
                let is_evicted = self.questions.len() > ENTRIES;
                let evicted = is_evicted.then(|| self.questions.remove(0));
                for (_, given_up) in replaced.into_iter().chain(evicted) {
                    self.says(outcome(&given_up, "unknown", Failed::Unknown), expected);
                }
            }
        } else {
            if goes_on {
                self.says(outcome(&open, "unknown", Failed::Unknown), expected);
            }
            expected.on.push(Line::Denial(open.id));
        }
        format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{value}}}"#)
    }

    fn task(&mut self, expected: &mut Expected) -> String {
        let Some(open) = self.close(expected) else {
            return "garbage".to_owned();
        };
        let marker = *self.dice.one(&["fine", "SECRET", "INJECT"]);
        let task = format!("\"t{}\"", self.dice.below(8));
        let status = format!(r#""taskId":{task},"statusMessage":"{marker}""#);
        let shape = self.dice.below(10);
        let value = match shape {
            // Readers may differ on these.
            0 => format!(r#"{{"task":{{{status},"TaskID":{task}}}}}"#),
            1 => format!(r#"{{"Task":{{}},"task":{{{status}}}}}"#),
            2 => format!(r#"{{"task":{{{status}}},"taskId":"other"}}"#),
            3 => format!(r#"{{"task":{{{status}}},"content":[]}}"#),
            4 => format!(r#"{{"resultType":"task",{status}}}"#),
            5 => format!(r#"{{"resultType":"task",{status},"status":"working","ttlMs":1}}"#),
            6 => format!(r#"{{"resultType":"task",{status},"content":[]}}"#),
            _ => format!(r#"{{"task":{{{status}}}}}"#),
        };
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{value}}}"#,
            open.number
        );
        let mut event = outcome(&open, marker, Failed::Unknown);
        let accepted = (open.task || self.typed) && !open.method.starts_with("tasks/");
        // In earlier versions only a request for a task becomes one.
        let goes_on = match shape {
            4 | 5 => accepted && self.typed,
            _ => open.task && shape > 6,
        };
        let mut known = self.tasks.iter().filter(|known| known.id == task);
        let is_taken = known.any(|known| known.call.call != open.call);
        if accepted && (shape < 3 || is_taken) {
            self.unknown(open, expected);
            return line;
        }
        match goes_on {
            true => (event.call, event.error) = (Some(None), self.no_outcome()),
            false => event = self.result(&open, event),
        }
        if self.says(event, expected) {
            let body = json!({"jsonrpc": "2.0", "id": read(&open.id), "result": read(&value)});
            expected.on.push(Line::Whole(Some(open.id.clone()), body));
            if accepted && self.tasks.iter().all(|known| known.id != task) {
                let serial = self.fresh();
                self.tasks.push(Task {
                    serial,
                    id: task,
                    call: open,
                    outcome: (!goes_on).then_some(Failed::Unknown),
                });
                if self.tasks.len() > ENTRIES {
                    let oldest = self.tasks.remove(0);
                    self.left(&oldest, expected);
                }
            }
        } else {
            if goes_on {
                // The server may go on with it.
                self.says(outcome(&open, "unknown", Failed::Unknown), expected);
            }
            expected.on.push(Line::Denial(open.id));
        }
        line
    }

    fn server_notification(&mut self, expected: &mut Expected) -> String {
        let marker = *self.dice.one(&["fine", "SECRET", "INJECT"]);
        let (method, params, event) = match self.dice.below(6) {
            4 | 5 if !self.tasks.is_empty() => {
                let task = self.dice.one(&self.tasks).clone();
                let method = *self
                    .dice
                    .one(&["notifications/tasks", "notifications/tasks/status"]);
                let (params, state) = self.task_state(&task, marker);
                let event = match state {
                    State::Open => self.remark(method, marker),
                    State::Ended(error) => {
                        let event = outcome(&task.call, marker, error);
                        self.ended(Some(task.serial), event)
                    }
                    State::Doubtful => Judged {
                        tool: None,
                        call: None,
                        error: Failed::Unknown,
                        ..self.remark("", marker)
                    },
                };
                (method, read(&params), event)
            }
            0 => return self.progress(marker, expected),
            1 => {
                let body = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                expected.on.push(Line::Whole(None, body.clone()));
                return body.to_string();
            }
            2 => (
                "notifications/tasks/status",
                json!({"taskId": "t1", "x": {"result": marker}}),
                Judged {
                    tool: None,
                    call: None,
                    error: Failed::Unknown,
                    ..self.remark("", marker)
                },
            ),
            _ => (
                "notifications/message",
                json!({"level": "info", "data": {"a": marker}}),
                self.remark("notifications/message", marker),
            ),
        };
        let body = json!({"jsonrpc": "2.0", "method": method, "params": params});
        match self.says(event, expected) {
            true => expected.on.push(Line::Whole(None, body.clone())),
            false => expected.dropped = 1,
        }
        body.to_string()
    }

    /// Progress of a call by any notation of its token, or of none.
    fn progress(&mut self, marker: &'static str, expected: &mut Expected) -> String {
        let mut known = self.with_tokens();
        let token = match known.is_empty() {
            true => Token::Number(0),
            false => self.dice.one(&known).token.unwrap(),
        };
        known.retain(|open| open.token == Some(token));
        let spelt = self.spelt(token);
        let named = match self.dice.below(8) {
            // What only some readers take for it names nothing.
            0 => format!("\"progressToken\":\" {}\",", spelt.trim_matches('"')),
            1 => format!("\"progressToken\":{spelt},\"ProgressToken\":1,"),
            2 => String::new(),
            _ => {
                // Of several calls it is not known which one it is.
                let of = known.first().cloned();
                if let Some(mut open) = of {
                    if known.iter().any(|other| other.call != open.call) {
                        open.tool = None;
                    }
                    let event = Judged {
                        tool: open.tool,
                        ..self.remark("", marker)
                    };
                    if self.says(event, expected) {
                        let body = format!(
                            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{spelt},"message":"{marker}"}}}}"#
                        );
                        expected.on.push(Line::Whole(None, read(&body)));
                    }
                }
                format!("\"progressToken\":{spelt},")
            }
        };
        expected.dropped = usize::from(expected.on.is_empty());
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{{named}"message":"{marker}"}}}}"#
        )
    }

    fn server_request(&mut self, expected: &mut Expected) -> String {
        let chosen = match self.dice.chance(40) {
            true => "HALT",
            false => *self.dice.one(&["fine", "SECRET", "INJECT"]),
        };
        let (id, same) = match self.asked.is_empty() || !self.dice.chance(4) {
            true => self.id(),
            false => {
                let used = self.dice.one(&self.asked).same.clone();
                (used.clone(), used)
            }
        };
        let task = format!("c{}", self.dice.below(4));
        let requests = [
            (
                "sampling/createMessage",
                json!({"messages": [{"role": "user", "content": {"type": "text", "text": chosen}}]}),
            ),
            (
                "elicitation/create",
                json!({"mode": chosen, "message": "?"}),
            ),
            ("roots/list", json!({})),
            ("go/ahead", json!({"x": chosen})),
            ("tasks/result", json!({"taskId": task})),
        ];
        let (method, params) = self.dice.one(&requests).clone();
        let marker = marker(&params.to_string());
        let known = self.client_tasks.iter().find(|known| known.0 == task);
        let of_user = match method {
            "tasks/result" => known.is_some_and(|known| known.1),
            _ => ["elicitation/create", "roots/list"].contains(&method),
        };
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}"
        );
        if self.asked.iter().any(|other| other.same == id) {
            expected.back.push(Line::Denial(id));
            return line;
        }
        let event = self.remark(method, marker);
        if method != "roots/list" && !self.says(event, expected) {
            expected.back.push(Line::Denial(id));
            return line;
        }
        expected.on.push(Line::Numbered {
            from_client: false,
            body: json!({"jsonrpc": "2.0", "method": method, "params": params}),
        });
        self.asked.push(Open {
            id,
            same,
            number: 0,
            method,
            tool: Some(method.to_owned()),
            call: None,
            token: None,
            task: false,
            of_user,
            params: String::new(),
            of_task: None,
        });
        if self.asked.len() > ENTRIES {
            let oldest = self.asked.remove(0);
            expected.back.push(Line::Denial(oldest.id));
        }
        line
    }

    fn server_cancels(&mut self, expected: &mut Expected) -> String {
        let mut id = "\"unknown\"".to_owned();
        // Requests of the client, unless the server has one of the same id: it ends its own.
        let asked = self.asked.iter().filter_map(|asked| asked.id.parse().ok());
        let own: Vec<f64> = asked.collect();
        let of_client = self.open.iter();
        let of_client = of_client.filter(|open| !own.contains(&(open.number as f64)));
        let of_client: Vec<Open> = of_client.cloned().collect();
        if !of_client.is_empty() && self.dice.chance(3) {
            let open = self.dice.one(&of_client).clone();
            id = open.number.to_string();
            if open.method == "subscriptions/listen" {
                self.open.retain(|other| other.number != open.number);
                self.closed.push(open.number);
                self.unanswered(&open, expected);
                let params = json!({"requestId": read(&open.id)});
                let body = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
                expected.on.push(Line::Whole(None, body));
            } else {
                expected.dropped = 1;
            }
        } else if self.asked.is_empty() || self.dice.chance(4) {
            expected.dropped = 1;
        } else {
            let place = self.dice.below(self.asked.len());
            let asked = self.asked.remove(place);
            id = asked.same;
            // The reason that a server gives does not pass: nothing judges it.
            let params = json!({"requestId": asked.number});
            let body =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            expected.on.push(Line::Whole(None, body));
        }
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id},\"reason\":\"INJECT\"}}}}"
        )
    }

    fn step(&mut self) {
        let from_client = self.dice.chance(2);
        // What the rules allow is asked of the state before the line.
        let (line, expected) = match from_client {
            true => self.client(),
            false => self.server(),
        };
        let turn = match from_client {
            true => self.session.from_client(&mut self.rules, line.as_bytes()),
            false => self.session.from_server(&mut self.rules, line.as_bytes()),
        };
        let judged = std::mem::take(&mut self.rules.judged);
        assert_eq!(judged, expected.judged, "{line}");
        self.compare(&line, &turn, expected);
    }

    /// What is open when the connection ends may be done.
    fn end(mut self) {
        let mut expected = Expected::default();
        for open in std::mem::take(&mut self.open) {
            self.unanswered(&open, &mut expected);
        }
        for task in std::mem::take(&mut self.tasks) {
            self.left(&task, &mut expected);
        }
        for (_, asked) in std::mem::take(&mut self.questions) {
            self.says(outcome(&asked, "unknown", Failed::Unknown), &mut expected);
        }
        let turn = self.session.end(&mut self.rules);
        assert_eq!(self.rules.judged, expected.judged);
        assert!(turn.on.is_empty() && turn.back.is_empty(), "{turn:?}");
    }

    fn compare(&mut self, line: &str, turn: &Turn, expected: Expected) {
        assert_eq!(turn.dropped.len(), expected.dropped, "{line}: {turn:?}");
        for (sent, expected) in [(&turn.on, expected.on), (&turn.back, expected.back)] {
            assert_eq!(sent.len(), expected.len(), "{line}: {turn:?}");
            for (sent, expected) in sent.iter().zip(expected) {
                let odd = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
                assert!(!sent.contains(odd), "{sent}");
                let mut message = read(sent);
                if let Some(only) = message.as_array_mut().and_then(Vec::pop) {
                    message = only;
                }
                match expected {
                    Line::Whole(id, body) => {
                        assert_eq!(message, body, "{line}");
                        let id = id.map(|id| format!("\"id\":{id},"));
                        assert!(id.is_none_or(|id| sent.contains(&id)), "{sent}");
                    }
                    Line::Numbered { from_client, body } => {
                        let number = message["id"].as_u64().unwrap();
                        message.as_object_mut().unwrap().remove("id");
                        assert_eq!(message, body, "{line}");
                        let open = match from_client {
                            true => &mut self.open,
                            false => &mut self.asked,
                        };
                        let others = open.iter().filter(|open| open.number >= number);
                        assert_eq!(others.count(), 0, "a number is used twice");
                        open.last_mut().unwrap().number = number;
                    }
                    Line::Denial(id) => {
                        assert!(sent.contains(&format!("\"id\":{id},")), "{sent} {id}");
                        let denied =
                            message.get("error").is_some() || message["result"]["isError"] == true;
                        assert!(denied && !sent.contains("INJECT"), "{sent}");
                    }
                }
            }
        }
    }
}

fn read(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

/// An id as text.
fn plain(id: &str) -> String {
    serde_json::from_str::<String>(id).unwrap_or_else(|_| id.to_owned())
}

fn run(seed: u64, steps: usize) {
    // Anew now and then: after a secret no mail is sent any more.
    const EPISODE: usize = 50;
    for episode in 0..steps / EPISODE {
        let seed = seed + 1 + episode as u64 * 7919;
        let mut world = World::new(seed, episode % 2 == 0);
        for _ in 0..EPISODE {
            world.step();
        }
        world.end();
    }
}

#[test]
fn peers_see_what_the_reference_says() {
    run(0x6775_6172_6421, 10_000);
}

/// `cargo test --release --test it proxy_model:: -- --ignored`
#[test]
#[ignore = "a million steps"]
fn peers_see_what_the_reference_says_for_a_million_steps() {
    run(0x0070_726f_7879, 1_000_000);
}
