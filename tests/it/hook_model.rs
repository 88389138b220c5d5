//! Random sequences of hook calls against a small model of the required decisions (`docs/protocol-hook.md`).

use std::collections::{HashMap, VecDeque};

use guard_cli::integrations::hook::{Call, Memory, Scope};
use guard_lang::monitor::{Monitor, Options};
use guard_lang::{check, front, modules::NoFiles};
use serde_json::{Value as Json, json};

use crate::fuzz_targets::hook::InProcess;

const SPEC: &str = r#"
event {
  kind: string
  tool: string? = unknown
  text: string? = unknown
  error: bool? = unknown
}
predicate pays = kind == "call" and tool == "pay"
property few = G (count(pays) <= 2)
enforce few { violated => block "two payments" }
predicate secret = kind == "result" and text contains "SECRET"
property no_leak = never (kind == "call" and tool == "mail" and once secret)
enforce no_leak { violated => block "no mail after a secret" }
enforce when kind == "call" and tool == "fetch" => ask "fetch?"
property tested = G (kind == "call" and tool == "deploy" -> once (kind == "result" and tool == "test" and error == false))
enforce tested { violated => block "test first" }
property closed = never (kind == "call" and tool == "fetch" and once (kind == "call" and tool == "close"))
enforce closed { violated => block "no fetch after the end" }
property told = G (kind == "call" and tool == "deploy" -> F (kind == "call" and tool == "report"))
enforce told { violated => log }
"#;

/// Numbers that depend on the seed alone.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n) as usize
    }

    fn percent(&mut self, of: u64) -> bool {
        (self.below(100) as u64) < of
    }
}

/// What must be known of one trace.
#[derive(Clone, Default)]
struct Trace {
    payments: u32,
    tainted: bool,
    /// Whether a test has succeeded.
    tested: bool,
    /// Whether a deployment is not reported.
    owes: bool,
    /// Whether nothing is fetched any more.
    closed: bool,
}

impl Trace {
    fn allows(&self, tool: &str) -> bool {
        let allowed = match tool {
            "mail" => !self.tainted,
            "deploy" => self.tested,
            "fetch" => !self.closed,
            _ => true,
        };
        allowed && self.payments + u32::from(tool == "pay") <= 2
    }

    fn call(&mut self, tool: &str) {
        self.payments += u32::from(tool == "pay");
        self.closed |= tool == "close";
        self.owes = match tool {
            "deploy" => true,
            "report" => false,
            _ => self.owes,
        };
    }
}

/// A call that waits for its outcome.
struct Open {
    key: String,
    owner: String,
    tool: &'static str,
    /// The traces in which a person is asked about it.
    asked: Vec<String>,
}

/// The calls that wait for their outcome, and the outcomes that arrived last.
#[derive(Default)]
struct Calls {
    /// Their calls, oldest first.
    open: Vec<Open>,
    ended: VecDeque<Past>,
    /// Those that were denied or refused last, and what is said of their outcomes.
    denied: VecDeque<(Past, &'static str)>,
}

/// A call whose outcome arrived, or that was denied: its key, who made it, and the tool that ran, if one ran.
struct Past(String, String, &'static str);

/// What is said of the outcome of a call that was denied.
const WAS_DENIED: &str = "ran although it was denied";

/// What is said of the outcome of a call that a person refused.
const WAS_REFUSED: &str = "ran after the question about it had ended";

impl Calls {
    /// Returns the places of the open calls with a key that an outcome may be of: those of the agent that it names, and of the same tool.
    fn places(&self, key: &str, tool: &str, named: Option<&str>, has_id: bool) -> Vec<usize> {
        let with_key = |place: &usize| self.open[*place].key == key;
        let mut places: Vec<usize> = (0..self.open.len()).filter(with_key).collect();
        let of_named = |place: &usize| Some(&*self.open[*place].owner) == named;
        let of_tool = |place: &usize| self.open[*place].tool == tool;
        if places.iter().any(of_named) || named.is_some() && !has_id {
            places.retain(of_named);
        }
        if places.iter().any(of_tool) {
            places.retain(of_tool);
        }
        places
    }

    /// Returns who made the call of an outcome, if one agent did.
    fn maker(&self, key: &str, tool: &str, named: Option<&str>, has_id: bool) -> Option<&str> {
        let places = self.places(key, tool, named, has_id);
        let open = places.first().map(|place| &self.open[*place].owner);
        if let Some(first) = open {
            let is_one = places.iter().all(|place| self.open[*place].owner == *first);
            return is_one.then_some(first);
        }
        let past = self.past(key, tool, named, has_id);
        let (first, _) = past.first()?;
        let is_one = past.iter().all(|(past, _)| past.1 == first.1);
        is_one.then_some(&*first.1)
    }

    /// Returns the calls without an open question that an outcome may be of, as [`Calls::places`] does, with what is said of those that were
    /// denied.
    fn past(&self, key: &str, tool: &str, named: Option<&str>, has_id: bool) -> Vec<(&Past, &str)> {
        let denied = self.denied.iter().map(|(past, notice)| (past, *notice));
        let ended = self.ended.iter().map(|past| (past, ""));
        let of_named = |(past, _): &(&Past, &str)| Some(&*past.1) == named;
        let of_tool = |(past, _): &(&Past, &str)| past.2 == tool;
        let may_be =
            |past: &(&Past, &str)| past.0.0 == key && (named.is_none() || has_id || of_named(past));
        let mut past: Vec<_> = denied.filter(may_be).collect();
        if past.is_empty() {
            past = ended.filter(may_be).collect();
        }
        if past.iter().any(of_named) {
            past.retain(of_named);
        }
        if past.iter().any(of_tool) {
            past.retain(of_tool);
        }
        past
    }
}

impl Calls {
    fn deny(&mut self, past: Past, notice: &'static str) {
        self.denied.retain(|(denied, _)| denied.0 != past.0);
        self.ended.retain(|ended| ended.0 != past.0);
        if self.denied.len() >= 64 {
            self.denied.pop_front();
        }
        self.denied.push_back((past, notice));
    }

    /// Ends the questions about the calls of some owners.
    fn refuse(&mut self, mut is_over: impl FnMut(&str) -> bool) {
        let is_refused = |open: &mut Open| !open.asked.is_empty() && is_over(&open.owner);
        let refused: Vec<Open> = self.open.extract_if(.., is_refused).collect();
        for open in refused {
            self.deny(Past(open.key, open.owner, open.tool), WAS_REFUSED);
        }
    }
}

/// What a tool answers: the text, whether a rule may not take it for harmless, and whether it may be a success.
fn outcome(random: &mut Random) -> (String, bool, bool) {
    let deep = 1 + random.below(700);
    let (text, taints, succeeds) = match random.below(13) {
        0 => (r#""a SECRET""#, true, true),
        1 => (r#"{"file":{"content":"SECRET"}}"#, true, true),
        2 => (r#"[{"type":"text","text":"SECRET"}]"#, true, true),
        3 => (r#"{"stdout":"\ud83d"}"#, true, true),
        4 => (r#"{"a":1,"a":2}"#, true, false),
        5 => ("\"\u{1}\"", true, false),
        6 => (r#"{"n":-1e9999,"s":"fine"}"#, true, true),
        7 => (r#"{"stdout":"","backgroundTaskId":"b1"}"#, false, false),
        8 => (r#"{"stdout":"","interrupted":true}"#, false, false),
        9 => (r#"{"stdout":"","isError":true}"#, false, false),
        10 => ("null", false, true),
        11 => {
            let text = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
            return (text, false, true);
        }
        _ => (r#"{"stdout":"fine","stderr":""}"#, false, true),
    };
    (text.to_owned(), taints, succeeds)
}

fn run(seed: u64, steps: u32, scope: Scope) {
    let spec = front("m.guard", SPEC, &NoFiles, check::Limits::default());
    let spec = spec.spec.expect("the spec is sound");
    let mut judge = InProcess(Monitor::new(&spec, Options::default()).unwrap());
    judge.0.set_hooked(true);
    let mut memory = Memory::default();
    let mut random = Random(seed);
    let mut traces: HashMap<String, Trace> = HashMap::new();
    let mut calls = Calls::default();
    let (mut denied, mut limited) = (0, 0);
    for step in 0..steps {
        // Sessions come and go: a history that is full denies everything.
        let session = format!("s{}", step / 60 + random.below(2) as u32);
        let agent = random.percent(30).then(|| format!("a{}", random.below(2)));
        let tools = [
            "pay", "mail", "fetch", "read", "deploy", "test", "report", "close",
        ];
        // What is closed is closed for good.
        let n_tools = if random.percent(20) { 8 } else { 7 };
        let tool = tools[random.below(n_tools)];
        let id = random.percent(90).then(|| random.below(6).to_string());
        let hook = [
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "Stop",
            "SessionEnd",
            "Odd",
            "UserPromptSubmit",
        ][[0, 0, 0, 0, 1, 1, 1, 2, 3, 4, 5, 6][random.below(12)]];
        let (text, taints, succeeds) = outcome(&mut random);
        let mut input = json!({"hook_event_name": hook, "session_id": session, "tool_name": tool, "tool_input": {}});
        let members = input.as_object_mut().unwrap();
        members.extend(
            agent
                .as_ref()
                .map(|agent| ("agent_id".to_owned(), json!(agent))),
        );
        members.extend(id.as_ref().map(|id| ("tool_use_id".to_owned(), json!(id))));
        let mut input = input.to_string();
        let member = if hook == "PostToolUseFailure" {
            "error"
        } else {
            "tool_response"
        };
        let outcome = hook.starts_with("Post");
        if hook == "UserPromptSubmit" {
            input.pop();
            input.push_str(",\"prompt\":\"no, do it otherwise\"}");
        }
        if outcome {
            input.pop();
            input.push_str(&format!(",\"{member}\":{text}}}"));
        }
        // Behind a damaged end of a turn there may be an outcome of which nothing is known.
        let is_end = ["Stop", "SessionEnd"].contains(&hook);
        let damaged = random.percent(5) && !is_end;
        if damaged {
            // Raw bytes in a member that nothing is known by.
            input.pop();
            input.push_str(",\"cwd\":\"");
        }
        let mut bytes = input.clone().into_bytes();
        if damaged {
            bytes.extend_from_slice(b"\xff\n\"}");
        }
        let mut call = match Call::read(bytes, scope) {
            Ok(call) => call,
            Err(refused) => {
                // An unknown hook that brings a call is no other event.
                let judged = ["PreToolUse", "UserPromptSubmit"];
                let denied = damaged && judged.contains(&hook) || hook == "Odd";
                assert!(denied, "{}: {input}", refused.reason);
                continue;
            }
        };
        let answer = call.judge(&mut judge, &mut memory);
        let answer = answer.unwrap_or_else(|why| panic!("{why}: {input}"));
        let has_id = id.is_some();
        let key = format!("{session} {}", id.unwrap_or_else(|| tool.to_owned()));
        // An outcome is one of the sub-agent that made its call, whether it names the agent or not.
        let named = agent.as_ref().map(|agent| format!("{session}/{agent}"));
        let maker = calls.maker(&key, tool, named.as_deref(), has_id);
        let maker = maker.filter(|_| outcome);
        let is_nobodys = outcome && maker.is_none() && agent.is_none();
        let maker = maker.and_then(|maker| maker.split_once('/'));
        let agent = match maker {
            Some((_, maker)) if !maker.is_empty() => Some(maker.to_owned()),
            _ => agent,
        };
        let own = agent.clone().unwrap_or_default();
        let owner = format!("{session}/{own}");
        // The traces that the call counts in; those of the main agent's own begin when a sub-agent acts.
        let alone = format!("{session}, alone");
        let acts = outcome || hook == "PreToolUse";
        if scope == Scope::Session && agent.is_some() && acts && !traces.contains_key(&alone) {
            let history = traces.get(&session).cloned().unwrap_or_default();
            traces.insert(alone.clone(), history);
            // What the main agent was asked about before counts there too.
            let main = calls
                .open
                .iter_mut()
                .filter(|open| open.asked.contains(&session));
            main.for_each(|open| open.asked.push(alone.clone()));
        }
        let of: Vec<String> = match scope {
            // What nobody is known to have done, the main agent has not.
            Scope::Session if is_nobodys => vec![session.clone()],
            Scope::Session if agent.is_none() && traces.contains_key(&alone) => {
                vec![session.clone(), alone]
            }
            Scope::Session => vec![session.clone()],
            Scope::Agent => vec![owner.clone()],
        };
        let called = |traces: &mut HashMap<String, Trace>| {
            of.iter()
                .for_each(|of| traces.entry(of.clone()).or_default().call(tool));
        };
        let json = answer.json.unwrap_or(Json::Null);
        match hook {
            "PreToolUse" => {
                // A person may agree to what is open after this call; five such calls are judged so.
                let waits = |of: &String| {
                    let of_trace = calls.open.iter().filter(|open| open.asked.contains(of));
                    of_trace.count()
                };
                let allowed = of.iter().all(|of| {
                    let trace = traces.entry(of.clone()).or_default();
                    let closes = tool == "close" && !trace.closed && waits(of) > 0;
                    let asks = usize::from(tool == "fetch");
                    trace.allows(tool) && !closes && waits(of) + asks <= 5
                });
                // The model keeps every order, the monitor as many as its limits allow.
                let reason = json.to_string();
                let names_limit =
                    ["answer them first", "max-histories"].map(|text| reason.contains(text));
                let is_limited = allowed && names_limit.contains(&true);
                limited += u32::from(is_limited);
                let expected = if !allowed || is_limited {
                    "deny"
                } else if tool == "fetch" {
                    "ask"
                } else {
                    "allow"
                };
                let found = json["hookSpecificOutput"]["permissionDecision"].as_str();
                assert_eq!(
                    found.unwrap_or("allow"),
                    expected,
                    "seed {seed}, step {step}: {input} {json}"
                );
                denied += u32::from(expected == "deny");
                calls.denied.retain(|(denied, _)| denied.0 != key);
                if expected == "deny" {
                    calls.deny(Past(key, owner, tool), WAS_DENIED);
                } else {
                    if expected == "allow" {
                        called(&mut traces);
                    }
                    let asked = if expected == "ask" {
                        of.clone()
                    } else {
                        Vec::new()
                    };
                    calls.open.push(Open {
                        key,
                        owner,
                        tool,
                        asked,
                    });
                }
            }
            "PostToolUse" | "PostToolUseFailure" => {
                let past = calls.past(&key, tool, named.as_deref(), has_id);
                let past = past
                    .first()
                    .map(|(past, notice)| (past.2 == tool, (*notice).to_owned()));
                match calls
                    .places(&key, tool, named.as_deref(), has_id)
                    .first()
                    .copied()
                {
                    Some(place) => {
                        let open = calls.open.remove(place);
                        let (asked, judged) = (!open.asked.is_empty(), open.tool);
                        // What a person allowed is recorded as the outcome states it.
                        if asked || judged != tool {
                            called(&mut traces);
                        }
                        // Whichever agent the outcome names, the main agent was asked.
                        let of_main = open.asked.iter().filter(|asked| !of.contains(asked));
                        if judged == tool && !is_nobodys {
                            of_main.for_each(|of| {
                                traces.entry(of.clone()).or_default().call(tool);
                            });
                        }
                        if !asked && judged != tool {
                            let noticed = json.to_string().contains("otherwise than it was judged");
                            assert!(noticed, "seed {seed}, step {step}: {input} {json}");
                        }
                        if calls.ended.len() >= 64 {
                            calls.ended.pop_front();
                        }
                        calls.ended.push_back(Past(key, open.owner, tool));
                    }
                    None if past == Some((true, String::new())) => {}
                    None => {
                        called(&mut traces);
                        let notice = match &past {
                            Some((_, notice)) if notice.is_empty() => {
                                "otherwise than it was judged"
                            }
                            Some((_, notice)) => notice,
                            None => "not judged before it ran",
                        };
                        let noticed = json.to_string().contains(notice);
                        assert!(noticed, "seed {seed}, step {step}: {input} {json}");
                    }
                }
                for of in &of {
                    let trace = traces.entry(of.clone()).or_default();
                    trace.tainted |= taints;
                    trace.tested |= tool == "test" && hook == "PostToolUse" && succeeds && !damaged;
                }
            }
            // The calls that a person was asked about were refused.
            "Stop" => {
                calls.refuse(|of| of == owner);
                let owes = of
                    .iter()
                    .any(|of| traces.entry(of.clone()).or_default().owes);
                let pressed = json.to_string().contains("`told` owes");
                assert_eq!(pressed, owes, "seed {seed}, step {step}: {input} {json}");
            }
            "SessionEnd" => {
                calls.refuse(|of| of.starts_with(&format!("{session}/")));
                assert_eq!(json, Json::Null);
            }
            "UserPromptSubmit" => {
                if agent.is_none() {
                    // Of the questions of sub-agents the latest two remain.
                    let is_of_agent = |of: &str| of != owner && of.starts_with(&owner);
                    let asked = |open: &&Open| !open.asked.is_empty() && is_of_agent(&open.owner);
                    let mut n_over = calls.open.iter().filter(asked).count().saturating_sub(2);
                    calls.refuse(|of| {
                        let is_over = is_of_agent(of) && n_over > 0;
                        n_over -= usize::from(is_over);
                        is_over || of == owner
                    });
                }
                let reason = json.to_string();
                let is_limited =
                    ["answer them first", "max-histories"].map(|text| reason.contains(text));
                let is_limited = is_limited.contains(&true);
                limited += u32::from(is_limited);
                // Whatever is done after a third payment is denied.
                let paid = |of: &String| traces.get(of).is_some_and(|trace| trace.payments > 2);
                let is_blocked = of.iter().any(paid);
                let blocked = json["decision"] == "block";
                assert_eq!(blocked, is_blocked || is_limited, "{input} {json}");
            }
            _ => assert_eq!(json, Json::Null),
        }
    }
    assert!(denied > steps / 50, "{denied} of {steps} calls were denied");
    assert!(
        limited <= steps / 100,
        "{limited} of {steps} calls exceeded a limit"
    );
}

#[test]
fn any_order_of_hooks_is_decided_as_the_model_says() {
    for seed in 0..10 {
        run(seed, 1_000, Scope::Session);
        run(seed, 1_000, Scope::Agent);
    }
}

/// There is no room for the trace of the main agent alone, which begins when a sub-agent acts.
#[test]
fn an_outcome_is_recorded_whatever_room_there_is() {
    let spec = front("m.guard", SPEC, &NoFiles, check::Limits::default());
    let options = Options {
        traces: 1,
        ..Options::default()
    };
    let mut judge = InProcess(Monitor::new(&spec.spec.unwrap(), options).unwrap());
    let mut memory = Memory::default();
    let mut told = |hook: &str, agent: Option<&str>, tool: &str| {
        let input = json!({"hook_event_name": hook, "session_id": "s", "agent_id": agent, "tool_name": tool, "tool_input": {},
            "tool_response": "SECRET"});
        let mut call = Call::read(input.to_string().into_bytes(), Scope::Session).unwrap();
        let answer = call.judge(&mut judge, &mut memory);
        answer.map(|answer| answer.json.unwrap_or(Json::Null).to_string())
    };
    assert_eq!(told("PreToolUse", None, "read").unwrap(), "null");
    assert!(told("PreToolUse", Some("a"), "read").is_err());
    assert!(told("PostToolUse", Some("a"), "read").is_ok());
    let mailed = told("PreToolUse", None, "mail").unwrap();
    assert!(mailed.contains("no mail after a secret"), "{mailed}");
}

#[test]
#[ignore = "takes minutes: cargo test --release --test it -- --ignored a_million"]
fn a_million_hooks_are_decided_as_the_model_says() {
    for seed in 0..50 {
        run(seed, 10_000, Scope::Session);
        run(seed, 10_000, Scope::Agent);
    }
}
