//! Example texts for questions about texts.

use regex_syntax::hir::{Class, Hir, HirKind};
use smol_str::SmolStr;

use crate::hir::{Expr, Spec};
use crate::ids::ExprId;
use crate::value::Value;

/// The greatest depth of a regular expression.
const DEPTH: usize = 64;

/// Returns a text for which these conditions have the required truth values, or `None` if none is found.
pub(super) fn example(spec: &Spec, asked: &[(ExprId, bool)]) -> Option<SmolStr> {
    let (mut starts, mut middle, mut ends) = (String::new(), String::new(), String::new());
    let mut asked = asked.to_vec();
    asked.sort_unstable();
    for (id, _) in asked.iter().filter(|(_, holds)| *holds) {
        match spec.exprs.get(*id) {
            Expr::StartsWith(_, part) => starts.push_str(constant(spec, *part)?),
            Expr::EndsWith(_, part) => ends.insert_str(0, constant(spec, *part)?),
            Expr::Contains(_, part) => middle.push_str(constant(spec, *part)?),
            Expr::Matches(_, regex) => {
                let parsed = regex_syntax::parse(spec.exprs.regex(*regex).as_str()).ok()?;
                write(&parsed, &mut middle, DEPTH)?;
            }
            _ => {}
        }
    }
    let plain = format!("{starts}{middle}{ends}");
    let candidates = [
        plain.clone(),
        "other".to_owned(),
        String::new(),
        format!("{plain} x"),
    ];
    let fits = |text: &String| {
        asked.iter().all(|(id, holds)| {
            let answer = match spec.exprs.get(*id) {
                Expr::StartsWith(_, part) => {
                    constant(spec, *part).map(|part| text.starts_with(part))
                }
                Expr::EndsWith(_, part) => constant(spec, *part).map(|part| text.ends_with(part)),
                Expr::Contains(_, part) => constant(spec, *part).map(|part| text.contains(part)),
                Expr::Matches(_, regex) => spec.exprs.regex(*regex).is_match(text),
                _ => None,
            };
            answer.is_none_or(|answer| answer == *holds)
        })
    };
    if asked.is_empty() {
        return None;
    }
    candidates.into_iter().find(fits).map(SmolStr::from)
}

fn constant(spec: &Spec, id: ExprId) -> Option<&str> {
    match spec.exprs.get(id) {
        Expr::Const(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Appends a shortest text that a regular expression matches, ignoring anchors.
fn write(hir: &Hir, out: &mut String, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            let plain = |c: char| c.is_ascii_alphanumeric();
            let letter = ranges.iter().find_map(|range| {
                ('a'..='z')
                    .chain('A'..='Z')
                    .chain('0'..='9')
                    .find(|c| plain(*c) && range.start() <= *c && *c <= range.end())
            });
            out.push(letter.or_else(|| ranges.first().map(|range| range.start()))?);
        }
        HirKind::Class(Class::Bytes(class)) => {
            out.push(char::from(class.ranges().first()?.start()));
        }
        HirKind::Repetition(repetition) => {
            for _ in 0..repetition.min.min(64) {
                write(&repetition.sub, out, depth)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, out, depth)?,
        HirKind::Concat(parts) => {
            for part in parts {
                write(part, out, depth)?;
            }
        }
        HirKind::Alternation(parts) => write(parts.first()?, out, depth)?,
    }
    Some(())
}
