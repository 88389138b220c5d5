//! Common parts of spans and runs: times, and the order of events that begin and end.

use super::shape::id;
use super::trace::Trace;
use crate::value::{Instant, Value};

/// Returns a time as recorded: RFC 3339, or a number whose size determines its unit (seconds, ms, us or ns since 1970).
pub(super) fn time(value: &Value) -> Option<Instant> {
    match value {
        Value::Time(instant) => Some(*instant),
        Value::Number(number) => by_size(&number.to_string()),
        Value::String(text) => Instant::from_rfc3339(text).or_else(|| by_size(text)),
        _ => None,
    }
}

/// Returns a time in nanoseconds, as a number or as its digits.
pub(super) fn nanos(value: &Value) -> Option<Instant> {
    Instant::from_decimal(&id(Some(value))?, 1_000_000_000)
}

fn by_size(text: &str) -> Option<Instant> {
    let seconds = Instant::from_decimal(text, Instant::SECOND)?;
    let unit = match seconds.0.unsigned_abs() / Instant::SECOND.unsigned_abs() {
        0..100_000_000_000 => return Some(seconds),
        100_000_000_000..100_000_000_000_000 => Instant::SECOND / 1_000,
        100_000_000_000_000..100_000_000_000_000_000 => Instant::SECOND / 1_000_000,
        _ => Instant::SECOND / 1_000_000_000,
    };
    Instant::from_decimal(text, unit)
}

/// Returns a time as text that reads back exactly, to the nanosecond.
pub(super) fn rfc3339(instant: Instant) -> Option<Value> {
    let nanos = instant.0.div_euclid(1_000_000_000);
    let timestamp = jiff::Timestamp::from_nanosecond(nanos).ok()?;
    Some(Value::string(timestamp.to_string()))
}

/// When each event of a trace happened, to put them in order at the end.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    keys: Vec<Option<Instant>>,
}

impl Timeline {
    /// Gives the events pushed since the last mark this time.
    pub(super) fn mark(&mut self, trace: &Trace, at: Option<Instant>) {
        self.keys.resize(trace.events(), at);
    }

    /// Puts the events of a trace in order of time; those without one come first, equals stay as they are.
    pub(super) fn sort(self, trace: &mut Trace) {
        trace.sort_by_key(self.keys);
    }
}

/// Whether a status reports a failure; `None` if it does not say.
pub(super) fn failed(code: &Value) -> Option<bool> {
    match code {
        Value::Number(number) => number.to_int().map(|code| code == 2),
        Value::String(code) => {
            let code = code.to_ascii_lowercase();
            Some(
                code.trim_start_matches("status_code_")
                    .trim_start_matches("statuscode.")
                    == "error",
            )
        }
        _ => None,
    }
}
