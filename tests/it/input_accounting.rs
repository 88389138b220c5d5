//! Every line and byte of a file is accounted for, whatever happens to it.
use guard_lang::input::limits::InputLimits;
use guard_lang::input::projection::Projection;
use guard_lang::input::read::read_from;
use guard_lang::input::record::{FileName, Unit};
use guard_lang::input_schema::{
    Absent, Events, Field, FieldSource, InputSchema, Layout, Path, TimeUnit,
};
use guard_lang::types::Type;
use proptest::prelude::*;

use crate::support::cli::Folder;

fn schema(events: Option<Events>, order: bool) -> InputSchema {
    InputSchema {
        layout: Layout {
            events,
            order_by: if order { vec![0] } else { Vec::new() },
            ..Layout::default()
        },
        fields: vec![Field {
            name: "k".into(),
            source: FieldSource::Event(Path::Pointer(vec!["k".into()])),
            ty: Type::Json,
            absent: Absent::Null,
            unit: TimeUnit::Seconds,
        }],
        ..InputSchema::default()
    }
}

fn layouts() -> Vec<Option<Events>> {
    vec![
        None,
        Some(Events::At(Path::Pointer(vec!["events".into()]))),
        Some(Events::At(Path::Pointer(Vec::new()))),
        Some(Events::Lines),
    ]
}

/// Lines that are not blank, counted by another hand.
fn lines(bytes: &[u8]) -> u64 {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let blank = |line: &&[u8]| line.iter().all(|byte| b" \t\r".contains(byte));
    bytes
        .split(|&byte| byte == b'\n')
        .filter(|line| !blank(line))
        .count() as u64
}

fn check(bytes: &[u8], limits: InputLimits) {
    for events in layouts() {
        let shown = format!("{events:?}: {:?}", String::from_utf8_lossy(bytes));
        let projection = Projection::with_limits(&schema(events, false), limits).unwrap();
        let mut units = 0;
        let report = read_from(bytes, &FileName::given("x"), &projection, &mut |_| {
            units += 1
        });
        let counts = report.accounting;
        assert!(counts.balanced(), "{counts:?} {shown}");
        assert_eq!(counts.lines, lines(bytes), "{counts:?} {shown}");
        assert_eq!(counts.bytes, bytes.len() as u64, "{counts:?} {shown}");
        assert_eq!(counts.records + counts.events + counts.ends, units);
        assert!(
            counts.lines_refused == 0 || counts.problems > 0,
            "{counts:?} {shown}"
        );
    }
}

const WHOLE: [&str; 5] = [
    "{\"id\":1,\"events\":[{\"k\":1},{\"k\":\"}\"}]}\n{\"k\":[1,{}]}\n{\"trace\":\"t\",\"end\":true}\n",
    "[\n {\"events\": [\n  {\"k\": 1}\n ]},\n\n {\"events\": []}\n]\n",
    "{\n\"events\": [\n{\"k\": \"x\\n\"}\n]\n}\r\n{\"k\": 2}\r\n\r\n[1,2]\n",
    "[0.5,\"o\",\"x\"]\n[1.5,\"o\",\"y\"]\n",
    "\u{feff}[[{\"k\":1}],[{\"k\":2}]]",
];

crate::random::tests! {
    400 cases;

    #[test]
    fn damaged_files(
        whole in 0..WHOLE.len(),
        times in 1usize..4,
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0u8..4, prop::sample::select(b"{}[]\",:\n \r\\01xn\x00\xff".to_vec())), 0..6),
        batch in prop::sample::select(vec![1usize, 7, 64, 1 << 20]),
        longest in prop::sample::select(vec![8usize, 40, 1 << 30]),
    ) {
        let mut bytes = WHOLE[whole].repeat(times).into_bytes();
        for (place, what, byte) in edits {
            let at = place.index(bytes.len().max(1));
            match what {
                0 if at < bytes.len() => bytes[at] = byte,
                1 => bytes.insert(at.min(bytes.len()), byte),
                2 if at < bytes.len() => { bytes.remove(at); }
                _ => bytes.truncate(at.max(bytes.len() / 2)),
            }
        }
        let limits = InputLimits { record_bytes: longest, batch_bytes: batch, ..InputLimits::default() };
        check(&bytes, limits);
    }
}

#[test]
fn whole_files_come_the_same_in_batches_of_any_size() {
    let text = WHOLE[..3].concat().repeat(50);
    let read = |batch_bytes| {
        let limits = InputLimits {
            batch_bytes,
            ..InputLimits::default()
        };
        let projection = Projection::with_limits(&schema(None, false), limits).unwrap();
        let mut units = Vec::new();
        read_from(
            text.as_bytes(),
            &FileName::given("x"),
            &projection,
            &mut |unit| {
                units.push(match unit {
                    Unit::Record(record) => format!("{record:?}"),
                    Unit::Event(event) => format!("{event:?}"),
                    Unit::End { trace, origin } => format!("{trace:?} {origin:?}"),
                });
            },
        );
        units
    };
    let whole = read(1 << 20);
    assert!(whole.len() > 200);
    for size in [1, 13, 100, 1000] {
        assert_eq!(read(size), whole, "{size}");
    }
}

#[test]
fn lines_that_take_too_much_memory_together_are_none_of_them_read() {
    let line = r#"{"timestamp":"2025-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[]}}"#;
    let text = format!("{line}\n").repeat(400);
    let spec = "use std.agent\nproperty p = G kind != \"x\"\n";
    let folder = Folder::new(&[("a.guard", spec), ("codex.jsonl", &text)]);
    let audit = ["audit", "a.guard", "codex.jsonl", "--from", "codex"];
    let run = folder.guard(&[&audit[..], &["--max-record-memory", "100000"]].concat());
    assert!(
        run.out.contains("400 lines = 400 not readable"),
        "{}",
        run.out
    );
    assert_eq!(run.code, 3);
    assert!(folder.guard(&audit).out.contains("400 lines = 400 read"));
}
