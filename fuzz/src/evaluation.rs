//! A text that is an expression or a formula over known fields is judged alike by the fast path and by the reference.
//!
//! The bytes after the first line end fill the fields of four steps; a zero is unknown.

use std::sync::Arc;

use guard_lang::eval::{self, Program};
use guard_lang::input::record::{Origin, Record, Step};
use guard_lang::modules::NoFiles;
use guard_lang::value::{Cell, Value};
use guard_lang::{check, front};

const HEAD: &str = "event { a: bool = unknown  b: bool = unknown  k: string? = unknown  j: json  n: int? = unknown }
track seen: set<string> = [] then if a then seen.add(k ?? \"\") else seen
track last_k: string? = null then if a then k else last_k
";

fn cell(field: usize, byte: u8) -> Cell {
    let word = Value::string(["x", "y", "{\"x\": [1, null]}"][usize::from(byte) % 3]);
    Cell::Known(match (field, byte) {
        (_, 0) => return Cell::Unknown,
        (0 | 1, byte) => Value::Bool(byte % 2 == 0),
        (_, 1) => Value::Null,
        (4, byte) => Value::int(i128::from(byte)),
        _ => word,
    })
}

pub fn run(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let (Some(text), Some(bytes)) = (parts.next(), parts.next()) else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let spec = format!("{HEAD}property p = ({text}) and N true\n");
    let checked = front("fuzz.guard", &spec, &NoFiles, check::Limits::default());
    let Some(spec) = checked.spec else { return };
    let Ok(program) = Program::compile(&spec, &eval::Limits::default()) else {
        return;
    };
    let steps = bytes
        .chunks(5)
        .take(4)
        .enumerate()
        .map(|(index, row)| Step {
            index: index as u32,
            cells: (0..5)
                .map(|field| cell(field, row.get(field).copied().unwrap_or(0)))
                .collect(),
        });
    let file: Arc<str> = Arc::from("fuzz.jsonl");
    let record = Record {
        origin: Origin {
            file: Arc::clone(&file),
            below: file,
            line: 1,
            ordinal: 0,
        },
        id: None,
        complete: Some(true),
        meta: Box::default(),
        steps: steps.collect(),
        problems: Vec::new(),
    };
    let meant = guard_reference::judge(&spec, &record);
    let Some(report) = program.judge(record) else {
        return;
    };
    if let Some((_, Ok(judgement))) = meant.first() {
        assert_eq!(report.verdicts[0].verdict, judgement.verdict, "{text}");
    }
}
