//! Bytes of a client of `guard serve`, as they arrive: requests are read without a panic, every line of a body is decided, no
//! answer has a control character, and of a body that is too long nothing is read that it does not hold. The first byte says
//! in which pieces the bytes arrive, and how many bytes of a body are kept.

use std::sync::LazyLock;

use guard_cli::integrations::Judge;
use guard_cli::integrations::hook::{Call, Memory, Scope};
use guard_cli::integrations::http::Received;
use guard_lang::hir::Spec;
use guard_lang::monitor::intake::Intake;
use guard_lang::monitor::lenient::{Outline, UNREAD};
use guard_lang::monitor::{Decision, Monitor, Options, Request};

const SPEC: &str = "event { trace: string?  kind: string  tool: string? = unknown  text: string? = unknown  n: float? = unknown }
property few = G (count(kind == \"call\") <= 3)
property quiet = never (kind == \"call\" and once (kind == \"result\" and text contains \"SECRET\"))
property small = G (n != null -> n < 100.0)
enforce few { violated => block \"few\" }
enforce quiet { violated => ask \"sure?\" }
enforce small { violated => block \"{tool}\" }";

static CHECKED: LazyLock<Spec> = LazyLock::new(|| {
    let limits = guard_lang::check::Limits::default();
    let spec = guard_lang::front("serve.guard", SPEC, &guard_lang::modules::NoFiles, limits);
    spec.spec.expect("the spec is sound")
});

struct InProcess(Monitor);

impl Judge for InProcess {
    fn reads(&self, member: &str) -> bool {
        self.0.reads(member)
    }
    fn members(&self) -> Vec<String> {
        self.0.members()
    }

    fn only_looks_for(&self, _: &str) -> bool {
        true
    }
    fn check_keys(&self, _: &[&[&str]], _: &str) -> Result<(), String> {
        Ok(())
    }

    fn has_trace(&self, trace: &str) -> bool {
        self.0.has_trace(trace)
    }
    fn request(&mut self, request: Request, event: &str) -> Result<Decision, String> {
        Ok(self.0.request(request, event.as_bytes(), None))
    }
}

/// What is left of a body; all of it is in the body, or unknown.
fn kept(body: &[u8], limit: usize) -> Result<Outline, String> {
    let mut intake = Intake::new(limit);
    body.chunks(7).for_each(|piece| intake.take(piece));
    let outline = intake.finish()?;
    let found = |part: &str| {
        body.windows(part.len())
            .any(|there| there == part.as_bytes())
    };
    for (key, value) in outline.iter() {
        // An event that is cut off is closed.
        let value = match key {
            "event" => value.trim_end_matches('}'),
            _ => value,
        };
        let is_whole = !value.contains(UNREAD.trim_matches('"'));
        assert!(!is_whole || value.len() < 2 || found(value), "{value}");
    }
    Ok(outline)
}

pub fn run(data: &[u8]) {
    let Some((first, data)) = data.split_first() else {
        return;
    };
    let limit = 16 << (first & 7);
    let monitor = Monitor::new(&CHECKED, Options::default()).expect("it can be followed");
    let mut judge = InProcess(monitor);
    let mut memory = Memory::default();
    let mut received = Received::default();
    for piece in data.chunks(usize::from(first >> 3) * 8 + 1) {
        received.push(piece);
        loop {
            let before = received.len();
            let head = match received.head() {
                Ok(Some(head)) => head,
                Ok(None) => break,
                Err(refusal) => return assert!(refusal.status >= 400),
            };
            assert!(received.len() < before, "a head is taken");
            let Ok(mut framing) = head.framing() else {
                return;
            };
            let (before, mut body) = (received.len(), Vec::new());
            // What is not complete counts as it is: a body that is cut off is recorded.
            let complete = framing.take(&mut received, &mut body);
            assert!(
                body.len() + received.len() <= before,
                "bytes are taken once"
            );
            assert!(complete.is_ok() || body.len() < before);
            if head.path == "/v1/hook" {
                let read = match body.len() > limit {
                    true => kept(&body, limit),
                    false => Outline::read(body),
                };
                let Some(mut call) = read
                    .ok()
                    .and_then(|outline| Call::of(outline, Scope::Session).ok())
                else {
                    continue;
                };
                let taken = judge.0.taken();
                let answered = call.judge(&mut judge, &mut memory);
                assert!(answered.is_err() || !call.is_outcome() || judge.0.taken() > taken);
                continue;
            }
            for line in body.split(|byte| *byte == b'\n') {
                let kept = match line.len() > limit {
                    true => kept(line, limit).ok(),
                    false => None,
                };
                let line = kept.as_ref().map_or(line, |kept| kept.as_text().as_bytes());
                let states = judge.0.states(line);
                let decision = judge.0.line(line, None);
                assert!(states || decision.ruling.denies() || !line.is_empty());
                let json = decision.to_json().to_string();
                assert!(!json.contains(char::is_control), "{json}");
            }
        }
    }
}
