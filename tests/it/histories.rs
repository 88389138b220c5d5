//! Actions while a person is asked about others, against a reference that keeps every order in which they may have happened.

use std::collections::BTreeSet;

use guard_lang::monitor::{Monitor, Options, Ruling};
use guard_lang::{check, front, modules::NoFiles};

const SPEC: &str = r#"
event { kind: string  tool: string }
predicate pays = tool == "pay"
predicate opens = tool == "open"
property few = G (count(pays and once opens) <= 1)
enforce few { violated => block "one payment after the opening" }
property shut = never (opens and once tool == "close")
enforce shut { violated => block "closed" }
property amid = never (tool == "read" and once (tool == "send" and once (pays and once tool == "read")))
enforce amid { violated => block "read, pay, send, read" }
property sent = never (tool == "send" and once (tool == "close" and once opens))
enforce sent { violated => block "open, close, send" }
enforce when (opens or tool == "send") and kind == "call" => ask "sure?"
"#;

const TOOLS: [&str; 5] = ["pay", "open", "close", "read", "send"];

/// What happened, in order, by first letters.
type Order = String;

/// Whether the last event of an order is denied.
fn is_denied(order: &str) -> bool {
    // whether the letters stand in the order, each after the one before
    let has = |letters: &str| {
        let mut rest = order;
        letters.chars().all(|letter| {
            let place = rest.find(letter);
            rest = place.map_or("", |place| &rest[place + 1..]);
            place.is_some()
        })
    };
    match order.chars().last() {
        Some('o') if has("co") => return true,
        Some('r') if has("rpsr") => return true,
        Some('s') if has("ocs") => return true,
        _ => {}
    }
    has("opp")
}

/// What is done with an order, and the questions that are open after it.
type Each<'a> = dyn FnMut(&str, &[(u64, char)]) + 'a;

/// Calls `each` with all orders of a subset of `open` behind `order` in which none of them is denied.
fn answered(order: &str, open: &[(u64, char)], each: &mut Each<'_>) {
    each(order, open);
    for place in 0..open.len() {
        let mut rest = open.to_vec();
        let (_, letter) = rest.remove(place);
        let next = format!("{order}{letter}");
        if !is_denied(&next) {
            answered(&next, &rest, each);
        }
    }
}

#[derive(Default)]
struct Reference {
    recorded: Order,
    /// Other orders, each with the questions that happened in it.
    others: BTreeSet<(Order, Vec<u64>)>,
    open: Vec<(u64, char)>,
}

impl Reference {
    fn bases(&self) -> Vec<(Order, Vec<(u64, char)>)> {
        let others = self.others.iter().map(|(order, happened)| {
            let open = self
                .open
                .iter()
                .filter(|(number, _)| !happened.contains(number));
            (order.clone(), open.copied().collect())
        });
        others
            .chain([(self.recorded.clone(), self.open.clone())])
            .collect()
    }

    /// Whether an order of an action and of questions is denied because of the action.
    fn denies(&self, action: char) -> bool {
        let mut denied = is_denied(&format!("{}{action}", self.recorded));
        for (base, open) in self.bases() {
            answered(&base, &open, &mut |before, rest| {
                denied |= is_denied(&format!("{before}{action}"));
                answered(before, rest, &mut |without, _| {
                    let after = &without[before.len()..];
                    let with = |upto: usize| format!("{before}{action}{}", &after[..upto]);
                    denied |= (1..=after.len()).any(|upto| is_denied(&with(upto)));
                });
            });
        }
        denied
    }

    /// Records an event; `answers` if it is the call of a question, which is not open any more.
    fn record(&mut self, event: char, answers: Option<u64>) {
        let recorded = format!("{}{event}", self.recorded);
        let mut others = BTreeSet::new();
        let numbers = |open: &[(u64, char)]| -> Vec<u64> { open.iter().map(|one| one.0).collect() };
        let known = self.others.iter().cloned();
        for (base, happened) in known.chain([(self.recorded.clone(), Vec::new())]) {
            let open: Vec<(u64, char)> = self
                .open
                .iter()
                .copied()
                .filter(|one| !happened.contains(&one.0))
                .collect();
            let is_answered = answers.is_some_and(|number| happened.contains(&number));
            answered(&base, &open, &mut |order, rest| {
                let mut all = [&happened[..], &numbers(&open)].concat();
                all.retain(|number| !numbers(rest).contains(number) && Some(*number) != answers);
                all.sort_unstable();
                let next = match is_answered {
                    true => order.to_owned(),
                    false => format!("{order}{event}"),
                };
                if is_answered || !is_denied(&next) || is_denied(&recorded) {
                    others.insert((next, all));
                }
            });
        }
        self.recorded = recorded;
        others.remove(&(self.recorded.clone(), Vec::new()));
        self.others = others;
    }

    fn refuse(&mut self, number: u64) {
        self.open.retain(|one| one.0 != number);
        self.others
            .retain(|(_, happened)| !happened.contains(&number));
    }
}

#[test]
fn actions_are_judged_in_every_order_in_which_questions_may_happen() {
    let spec = front("m.guard", SPEC, &NoFiles, check::Limits::default())
        .spec
        .unwrap();
    let options = || Options {
        histories: 10_000,
        ..Options::default()
    };
    let mut seed = 7u64;
    let mut below = |n: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    let mut n_denied = [0, 0];
    for round in 0..1_500 {
        let mut monitor = Monitor::new(&spec, options()).unwrap();
        let mut reference = Reference::default();
        let mut said = Vec::new();
        for _ in 0..9 {
            monitor.set_hooked(true);
            let tool = TOOLS[below(5) as usize];
            let letter = tool.chars().next().unwrap();
            let event = |tool: &str, kind: &str| {
                format!(r#"{{"trace":"t","kind":"{kind}","tool":"{tool}"}}"#)
            };
            match below(8) {
                // the person agreed, or refused
                0 | 1 if !reference.open.is_empty() => {
                    let place = below(reference.open.len() as u64) as usize;
                    let (number, letter) = reference.open[place];
                    let name = TOOLS.iter().find(|tool| tool.starts_with(letter)).unwrap();
                    if below(3) > 0 {
                        monitor.commit(number, event(name, "call").as_bytes(), None);
                        reference.open.remove(place);
                        reference.record(letter, Some(number));
                        said.push(format!("{name} ran"));
                    } else {
                        monitor.abandon(number);
                        reference.refuse(number);
                        said.push(format!("{name} refused"));
                    }
                }
                2 => {
                    monitor.observe(event(tool, "done").as_bytes(), None);
                    reference.record(letter, None);
                    said.push(format!("{tool} was seen"));
                }
                _ => {
                    let decided = monitor.act(event(tool, "call").as_bytes(), None);
                    said.push(format!("{tool} {:?}", decided.ruling));
                    let asks = usize::from("os".contains(letter));
                    let too_many = reference.open.len() + asks > 5;
                    let denied = reference.denies(letter) || too_many;
                    n_denied[usize::from(is_denied(&format!("{}{letter}", reference.recorded)))] +=
                        u32::from(denied);
                    let expected = match (denied, "os".contains(letter)) {
                        (true, _) => Ruling::Block,
                        (false, true) => Ruling::Ask,
                        (false, false) => Ruling::Allow,
                    };
                    assert_eq!(decided.ruling, expected, "round {round}: {said:?}");
                    match expected {
                        Ruling::Ask => reference.open.push((decided.proposal.unwrap(), letter)),
                        Ruling::Allow => reference.record(letter, None),
                        _ => {}
                    }
                }
            }
            if below(4) == 0 {
                let state = monitor.snapshot().unwrap();
                monitor = Monitor::new(&spec, options()).unwrap();
                monitor.resume(&state).unwrap();
                assert!(monitor.snapshot().unwrap() == state);
            }
        }
    }
    assert!(n_denied[0] > 500 && n_denied[1] > 100, "{n_denied:?}");
}

/// `cargo test --release --test it histories:: -- --ignored --nocapture` prints the time of an action.
#[test]
#[ignore = "prints times"]
fn questions_cost_the_same_in_a_trace_of_any_length() {
    let text = r#"
event { kind: string  tool: string  path: string }
property twice = forall p: never (tool == "write" and path == p and once (tool == "read" and path == p))
enforce twice { violated => block "read before" }
enforce when tool == "send" and kind == "call" => ask "sure?"
"#;
    let front = front("m.guard", text, &NoFiles, check::Limits::default());
    let spec = front.spec.unwrap();
    let event = |tool: &str, n: usize| {
        format!(r#"{{"trace":"t","kind":"call","tool":"{tool}","path":"/a/b/c{n}"}}"#)
    };
    for questions in 0..3 {
        let mut monitor = Monitor::new(&spec, Options::default()).unwrap();
        monitor.observe(event("read", 0).as_bytes(), None);
        monitor.set_hooked(true);
        for n in 0..questions {
            let asked = monitor.act(event("send", n).as_bytes(), None);
            assert_eq!(asked.ruling, Ruling::Ask);
        }
        let mut since = std::time::Instant::now();
        let mut n = 0;
        for steps in [100, 1_000, 10_000, 100_000] {
            for _ in 0..steps {
                n += 1;
                monitor.act(event("read", n).as_bytes(), None);
            }
            let each = since.elapsed() / steps;
            println!("{questions} open questions, {n} steps: {each:?}");
            since = std::time::Instant::now();
        }
    }
}
