//! Files of a monitor: whatever they hold, reading them does not panic; what is read of a journal is what was written, byte for
//! byte; and a monitor that continues a state decides.

use std::sync::LazyLock;

use guard_lang::hir::Spec;
use guard_lang::monitor::journal::{self, Input, Journal};
use guard_lang::monitor::{Identity, Monitor, Options, log};

const SPEC: &str = "event { trace: string?  kind: string  id: string? = unknown }
property once_each = forall i in id: G (kind == \"pay\" and id == i -> not Y once (kind == \"pay\" and id == i))
property few = G (count(kind == \"call\") <= 3)
enforce few { violated => block \"few\" }
enforce once_each { violated => ask \"again?\" }";

static CHECKED: LazyLock<Spec> = LazyLock::new(|| {
    let limits = guard_lang::check::Limits::default();
    let spec = guard_lang::front("journal.guard", SPEC, &guard_lang::modules::NoFiles, limits);
    spec.spec.expect("the spec is sound")
});

pub fn run(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else {
        return;
    };
    let identity = Identity::default();
    match kind % 4 {
        0 => {
            let Ok(read) = Journal::read(bytes, &identity) else {
                return;
            };
            if read.whole == 0 {
                return;
            }
            let mut written = journal::head(&identity, &read.start)
                .expect("it was read")
                .into_bytes();
            let mut monitor =
                Monitor::new(&CHECKED, Options::default()).expect("it can be followed");
            for entry in &read.entries {
                entry.write(&mut written);
                match entry.input {
                    Input::Line(pieces) => drop(monitor.line(&pieces.concat(), entry.now)),
                    Input::Refused(why) => drop(monitor.refuse(why)),
                    Input::Tick => drop(entry.now.map(|now| monitor.tick(now))),
                }
            }
            // Where the inputs that were written together end is not kept.
            let body = |text: &[u8]| {
                let lines = text.split(|byte| *byte == b'\n').skip(1);
                let is_input =
                    |line: &&[u8]| line.split(|byte| *byte == b' ').nth(2) != Some(b"end");
                lines.filter(is_input).collect::<Vec<_>>().concat()
            };
            assert_eq!(body(&written), body(&bytes[..read.whole]));
        }
        1 => {
            if let Ok(read) = log::verify(bytes) {
                assert!(read.whole <= bytes.len());
                assert!(log::verify(&bytes[..read.whole]).is_ok());
            }
            if let Ok(text) = std::str::from_utf8(bytes)
                && let Some((first, rest)) = text.split_once('\n')
            {
                let _ = log::resume(first, rest);
            }
        }
        2 => {
            // The lines of a journal, and a bit of it that is flipped: that is found, or the last line was being written.
            let (Some(flip), Some(lines)) = (bytes.first_chunk::<3>(), bytes.get(3..)) else {
                return;
            };
            let head = journal::head(&identity, &journal::Start::default());
            let mut text = head.expect("it can be written").into_bytes();
            for (number, line) in (1..).zip(lines.split(|byte| *byte == b'\n')) {
                let input = Input::Line([line, b"", b""]);
                let entry = journal::Entry {
                    number,
                    now: None,
                    client: 0,
                    hooked: flip[2] & 8 != 0,
                    input,
                };
                entry.write(&mut text);
                journal::Beside::default().write(number, &mut text);
            }
            let whole = Journal::read(&text, &identity).expect("it was written");
            let entries = whole.entries.len();
            let at = usize::from(u16::from_le_bytes([flip[0], flip[1]])) % text.len();
            text[at] ^= 1 << (flip[2] & 7);
            if let Ok(read) = Journal::read(&text, &identity) {
                assert!(
                    read.whole == 0 && entries == 0,
                    "the change at byte {at} is not found"
                );
            }
        }
        _ => {
            let mut monitor =
                Monitor::new(&CHECKED, Options::default()).expect("it can be followed");
            // A body of the fuzzer's own under a head and a checksum that fit: what else may be wrong with it is found.
            let mut state = monitor.snapshot().expect("it can be written");
            let head = state.iter().position(|byte| *byte == b'\n').unwrap_or(0) + 1;
            state.truncate(head);
            state.extend_from_slice(bytes);
            let sum = blake3::hash(&state);
            state.extend_from_slice(sum.as_bytes());
            if monitor.resume(&state).is_ok() {
                monitor.line(b"{\"trace\":\"t\",\"kind\":\"pay\",\"id\":\"1\"}", None);
                monitor.snapshot().expect("it can be written");
            }
        }
    }
}
