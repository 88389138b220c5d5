//! Files of another language with the same extension.
//!
//! AWS CloudFormation Guard keeps its rules in `.guard` files too. They are recognised by their contents, so that such
//! a file gives one clear message instead of many errors.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{SourceFile, Span};

/// Returns the diagnostic for a file in another language.
pub(crate) fn other_language(source: &SourceFile) -> Option<Diagnostic> {
    let mut first = None;
    let mut offset = 0usize;
    for line in source.text().split_inclusive('\n') {
        let trimmed = line.trim_start_matches('\u{FEFF}').trim();
        if is_ours(trimmed) {
            return None;
        }
        if first.is_none() && is_cloud_formation(trimmed) {
            let start = offset + line.find(trimmed).unwrap_or(0);
            first = Some((start, start + trimmed.len()));
        }
        offset += line.len();
    }
    let (start, end) = first?;
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Some(
        Diagnostic::new(
            Code::G0114,
            Span::new(source.id(), narrow(start), narrow(end)),
            "this file is written for AWS CloudFormation Guard, which is a different language",
        )
        .label("a rule of CloudFormation Guard")
        .note("both use the extension `.guard`; check this file with `cfn-guard`"),
    )
}

/// Whether such a line occurs only in this language.
fn is_ours(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "event {",
        "trace {",
        "predicate ",
        "property ",
        "track ",
        "unsafe ",
        "use std",
        "template ",
        "abstraction ",
        "enforce ",
        "requirement ",
        "system ",
        "component ",
        "compose ",
    ];
    WORDS.iter().any(|word| line.starts_with(word))
        || (line.starts_with("rule ") && line.contains(':') && line.contains(" then "))
}

/// Whether such a line occurs only in CloudFormation Guard.
fn is_cloud_formation(line: &str) -> bool {
    if line.starts_with("AWS::") {
        return true;
    }
    if let Some(rest) = line.strip_prefix("let ") {
        let value = rest.split_once('=').map_or("", |(_, value)| value.trim());
        return value.starts_with("Resources.") || value.starts_with("Resources[");
    }
    if let Some(rest) = line.strip_prefix("rule ") {
        let name = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let after = rest.get(name..).unwrap_or("").trim_start();
        let after = match after.strip_prefix('(').and_then(|a| a.split_once(')')) {
            Some((_, after)) => after.trim_start(),
            None => after,
        };
        return name > 0 && (after.starts_with("when ") || after.starts_with('{'));
    }
    false
}
