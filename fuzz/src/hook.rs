//! A conversation of hooks, one call a line, never panics, and no call is let through that could not be read.

use guard_cli::integrations::Judge;
use guard_cli::integrations::hook::{Call, Memory, Scope};
use guard_lang::monitor::{Decision, Monitor, Options, Request};

const SPEC: &str =
    "event { kind: string  tool: string? = unknown  text: string? = unknown  raw: json }
property few = G (count(kind == \"call\") <= 3)
property quiet = never (kind == \"call\" and once (kind == \"result\" and text contains \"SECRET\"))
enforce few { violated => block \"few\" }
enforce quiet { violated => ask \"sure?\" }";

/// A monitor in this process, which reads each request as another process would.
pub(crate) struct InProcess(pub(crate) Monitor);

impl Judge for InProcess {
    fn reads(&self, member: &str) -> bool {
        self.0.reads(member)
    }
    fn members(&self) -> Vec<String> {
        self.0.members()
    }

    fn only_looks_for(&self, member: &str) -> bool {
        self.0.only_looks_for(member)
    }
    fn check_keys(&self, at: &[&[&str]], json: &str) -> Result<(), String> {
        self.0.check_keys(at, json)
    }
    fn has_trace(&self, trace: &str) -> bool {
        self.0.has_trace(trace)
    }
    fn request(&mut self, request: Request, event: &str) -> Result<Decision, String> {
        assert!(!event.contains('\n'), "an event is one line");
        Ok(self.0.line(&request.to_line(event.as_bytes()), None))
    }
}

pub fn run(bytes: &[u8]) {
    let spec = guard_lang::front(
        "hook.guard",
        SPEC,
        &guard_lang::modules::NoFiles,
        guard_lang::check::Limits::default(),
    );
    let spec = spec.spec.expect("the spec is sound");
    let mut judge = InProcess(Monitor::new(&spec, Options::default()).expect("it can be followed"));
    judge.0.set_hooked(true);
    let mut memory = Memory::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(mut call) = Call::read(line.to_vec(), Scope::Session) else {
            continue;
        };
        let taken = judge.0.taken();
        if call.judge(&mut judge, &mut memory).is_ok() && call.is_outcome() {
            assert!(judge.0.taken() > taken, "an outcome is put on record");
        }
        // What is put on record of an outcome that could not be judged can be judged.
        if call.is_outcome() {
            let unread = Call::read(call.unread().into_bytes(), Scope::Session);
            unread
                .expect("it is sound")
                .judge(&mut judge, &mut memory)
                .expect("it is judged");
        }
    }
}
