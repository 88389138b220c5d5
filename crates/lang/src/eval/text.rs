//! Message templates, and values as readable text.

use super::code::Code;
use super::compiled::{Message, MessagePart};
use super::expr::Eval;
use crate::hir::print;
use crate::value::{Cell, Number, Value};

/// The greatest number of characters of a value in evidence.
pub(super) const EVIDENCE: usize = 80;

/// Returns the text of a message at a step.
pub(super) fn fill(message: &Message, eval: &mut Eval<'_>) -> String {
    let mut text = String::new();
    for part in &message.parts {
        match part {
            MessagePart::Literal(literal) => text.push_str(literal),
            MessagePart::Value(node, format) => match eval.cell(*node) {
                Cell::Known(value) => {
                    text.push_str(&formatted(eval.code, &value, format.as_deref()))
                }
                Cell::Unknown => text.push_str("unknown"),
            },
        }
    }
    text
}

/// Returns a value in a format such as `.2` or `.0%`; formats are for numbers.
fn formatted(code: &Code, value: &Value, format: Option<&str>) -> String {
    if let (Value::Number(number), Some(format)) = (value, format) {
        let (format, percent) = match format.strip_suffix('%') {
            Some(format) => (format, true),
            None => (format, false),
        };
        let digits = format
            .strip_prefix('.')
            .and_then(|digits| digits.parse::<usize>().ok());
        let sign = if percent { "%" } else { "" };
        return match digits {
            Some(digits) => {
                let number = number.to_f64() * if percent { 100.0 } else { 1.0 };
                format!("{number:.digits$}{sign}")
            }
            None if percent => {
                let hundred = Number::float(number.to_f64() * 100.0);
                format!(
                    "{}{sign}",
                    hundred.map_or(String::new(), |number| number.to_string())
                )
            }
            None => number.to_string(),
        };
    }
    plain(code, value)
}

/// Renders a value for a sentence: texts without quotes, enum values by name.
fn plain(code: &Code, value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => quoted(code, other),
    }
}

/// Renders a value as in a spec or in JSON.
pub(super) fn quoted(code: &Code, value: &Value) -> String {
    print::value(value, &code.enums)
}

/// Returns a text cut to this many characters.
pub(super) fn cut(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns a text in quotes, cut to about this many characters around a byte offset.
pub(super) fn excerpt(text: &str, around: usize, most: usize) -> String {
    if text.len() <= most {
        return format!("{text:?}");
    }
    let start = around.saturating_sub(most / 2).min(text.len() - most);
    let mut ends = text.char_indices().map(|(at, _)| at);
    let start = ends.find(|at| *at >= start).unwrap_or(text.len());
    let rest = text.get(start..).unwrap_or_default();
    let part: String = rest.chars().take(most).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if start + part.len() < text.len() {
        "…"
    } else {
        ""
    };
    format!("{before}{part:?}{after}")
}
