//! Breakpoints: the declarations at a line, and the moments at which a session stops.

use std::path::PathBuf;

use super::expression::Expressions;
use super::messages::{Breakpoint, SourceBreakpoint};
use super::recording::{Recording, is_same_file};
use crate::replay::Watch;
use crate::source::{FileId, SourceFile, Span};
use crate::verdict::Verdict;

/// The name of the filter that stops at the start of a violation.
pub(super) const VIOLATED: &str = "violated";

/// The reason for a stop.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    /// The reason in the words of the protocol.
    pub(super) reason: &'static str,
    /// A description for the user.
    pub(super) description: String,
    /// The declaration that caused the stop.
    pub(super) place: Option<Span>,
    /// The breakpoints that were hit.
    pub(super) hit: Vec<i64>,
}

impl Stop {
    pub(super) fn new(reason: &'static str, description: impl Into<String>) -> Stop {
        Stop {
            reason,
            description: description.into(),
            place: None,
            hit: Vec::new(),
        }
    }
}

/// The breakpoints of a session.
#[derive(Debug)]
pub(super) struct Stops {
    placed: Vec<Placed>,
    last_id: i64,
    at_violations: bool,
}

#[derive(Debug)]
struct Placed {
    id: i64,
    file: PathBuf,
    watch: Watch,
    name: String,
    span: Span,
    condition: Option<String>,
}

impl Stops {
    pub(super) fn new() -> Stops {
        Stops {
            placed: Vec::new(),
            last_id: 0,
            at_violations: true,
        }
    }

    pub(super) fn set_filters(&mut self, filters: &[String]) {
        self.at_violations = filters.iter().any(|filter| filter == VIOLATED);
    }

    /// Replaces the breakpoints of a file. Lines count from 1, also in the result.
    pub(super) fn set(
        &mut self,
        recording: &Recording,
        expressions: &mut Expressions,
        path: PathBuf,
        asked: Vec<SourceBreakpoint>,
    ) -> Vec<Breakpoint> {
        self.placed.retain(|placed| placed.file != path);
        let file = file_of(recording, &path);
        let mut answers = Vec::new();
        for asked in asked {
            self.last_id += 1;
            let mut answer = Breakpoint {
                id: self.last_id,
                verified: false,
                message: None,
                line: asked.line,
            };
            let condition = asked.condition.filter(|text| !text.trim().is_empty());
            let checked = condition.as_ref().map_or(Ok(()), |condition| {
                expressions.holds(recording, condition, 0).map(drop)
            });
            let found = file.and_then(|file| at_line(recording, file, asked.line));
            match (file, found, checked) {
                (None, ..) => answer.message = Some("not a file of the spec".to_owned()),
                (_, None, _) => {
                    let what = "nothing here has a value at each step: expected a property, a track, or a predicate or \
                                definition without parameters; of a module, one that the spec uses";
                    answer.message = Some(what.to_owned());
                }
                (.., Err(why)) => answer.message = Some(format!("condition: {why}")),
                (_, Some((watch, name, span)), Ok(())) => {
                    answer.verified = true;
                    answer.line = first_line(recording, span);
                    self.placed.push(Placed {
                        id: answer.id,
                        file: path.clone(),
                        watch,
                        name,
                        span,
                        condition,
                    });
                }
            }
            answers.push(answer);
        }
        answers
    }

    /// Returns the lines in a range, from 1, at which a breakpoint can be.
    pub(super) fn lines(
        recording: &Recording,
        path: &std::path::Path,
        first: i64,
        last: i64,
    ) -> Vec<i64> {
        let Some(file) = file_of(recording, path) else {
            return Vec::new();
        };
        let spans = recording.watches().into_iter().map(|(.., span)| span);
        let lines = spans.filter(|span| span.file == file);
        let mut lines: Vec<i64> = lines.map(|span| first_line(recording, span)).collect();
        lines.retain(|line| (first..=last).contains(line));
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Returns the reason why the session stops at a moment, if it does.
    pub(super) fn at(
        &self,
        recording: &Recording,
        expressions: &mut Expressions,
        at: usize,
    ) -> Option<Stop> {
        let timeline = &recording.timeline;
        let mut hit: Vec<&Placed> = Vec::new();
        for placed in &self.placed {
            let holds = |expressions: &mut Expressions| match &placed.condition {
                // If a condition cannot be evaluated, the session stops.
                Some(condition) => expressions.holds(recording, condition, at).unwrap_or(true),
                None => true,
            };
            if timeline.begins(placed.watch, at) && holds(expressions) {
                hit.push(placed);
            }
        }
        let ids = hit.iter().map(|placed| placed.id).collect();
        if self.at_violations
            && let Some(property) = timeline.violated_at(at).next()
        {
            let property = timeline.spec().property(property);
            return Some(Stop {
                reason: "exception",
                description: format!("{} is violated", property.name),
                place: Some(property.span),
                hit: ids,
            });
        }
        let first = hit.first()?;
        let name = &first.name;
        let description = match first.watch {
            Watch::Property(property) => {
                format!("{name} is {}", words(timeline.verdict(property, at)))
            }
            Watch::Step(_) => name.clone(),
            Watch::Definition(_) | Watch::Track(_) => {
                let cell = timeline.value(first.watch, at);
                let value = cell.map(|cell| timeline.text(cell, 80));
                format!("{name} is {}", value.unwrap_or_default())
            }
        };
        Some(Stop {
            reason: "breakpoint",
            description,
            place: Some(first.span),
            hit: ids,
        })
    }
}

/// Returns a verdict as text.
pub(super) fn words(verdict: Verdict) -> String {
    verdict.as_str().replace('_', " ")
}

fn file_of(recording: &Recording, path: &std::path::Path) -> Option<FileId> {
    let mut files = recording.loaded.sources.iter();
    let found = files.find(|source| {
        let own = std::path::Path::new(source.name());
        // The standard library is not in a file.
        own.is_absolute() && is_same_file(own, path)
    });
    found.map(SourceFile::id)
}

/// Returns the declaration at a line; if several are nested, the innermost.
fn at_line(recording: &Recording, file: FileId, line: i64) -> Option<(Watch, String, Span)> {
    let source = recording.loaded.sources.get(file);
    let is_there = |span: &Span| {
        let last = span.end.saturating_sub(1).max(span.start);
        let lines = source.location(span.start).line..=source.location(last).line;
        span.file == file && u32::try_from(line).is_ok_and(|line| lines.contains(&line))
    };
    let all = recording.watches().into_iter();
    let there = all.filter(|(.., span)| is_there(span));
    let innermost = there.min_by_key(|(.., span)| span.end - span.start);
    innermost.map(|(watch, name, span)| (watch, name.to_string(), span))
}

fn first_line(recording: &Recording, span: Span) -> i64 {
    let file = recording.loaded.sources.get(span.file);
    i64::from(file.location(span.start).line)
}
