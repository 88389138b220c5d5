//! Any document is read by every reader without a panic, and every item of it is accounted for.

use std::collections::BTreeSet;

use guard_lang::input::document;
use guard_lang::input::formats::{Format, Input, Sample, convert, detect};
use guard_lang::input::limits::InputLimits;

pub fn run(data: &[u8]) {
    let limits = InputLimits {
        record_bytes: 1 << 14,
        depth: 64,
        ..InputLimits::default()
    };
    let values: Vec<_> = data
        .split(|byte| *byte == b'\n')
        .filter_map(|line| document::parse(line, &limits).ok())
        .map(|document| document.value)
        .collect();
    let _ = detect(&Sample {
        values: &values,
        text: data,
    });
    let lines: Vec<_> = (1u64..).zip(values.iter().cloned()).collect();
    let lists = document::ListLines::default();
    let inputs = values.iter().map(|value| Input::Document {
        value,
        line: None,
        lists: &lists,
    });
    for input in inputs.chain([Input::Lines(&lines), Input::Text(data)]) {
        for format in Format::ALL {
            let converted = convert(format, &input);
            let events: usize = converted
                .traces
                .iter()
                .map(|trace| {
                    trace
                        .events
                        .iter()
                        .map(|event| event.index)
                        .collect::<BTreeSet<_>>()
                        .len()
                })
                .sum();
            let lost: u64 = converted
                .losses
                .iter()
                .filter(|loss| loss.whole)
                .map(|loss| loss.count)
                .sum();
            assert_eq!(converted.items, events as u64 + lost, "{format}");
        }
    }
}
