//! Diagnostics as text: source lines with labels below.

use super::{Diagnostic, Fix, Severity};
use crate::source::{FileId, SourceMap, Span};
use ariadne::{Cache, Color, Config, IndexType, Label, Report, ReportKind, Source};
use std::collections::BTreeMap;
use std::fmt;

/// The options of rendering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether to use terminal colours.
    pub color: bool,
}

/// Renders diagnostics in the order given, each followed by an empty line.
///
/// The same diagnostics give the same bytes.
#[must_use]
pub fn render(diagnostics: &[Diagnostic], sources: &SourceMap, options: RenderOptions) -> String {
    let mut cache = Sources {
        map: sources,
        read: BTreeMap::new(),
    };
    let mut out = Vec::new();
    for diagnostic in diagnostics {
        let labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
        let drawn = labels.clone().all(|label| is_short(label.span, sources))
            && report(diagnostic, sources, options)
                .write(&mut cache, &mut out)
                .is_ok();
        if !drawn {
            out.extend_from_slice(plain(diagnostic, sources).as_bytes());
            for label in labels {
                out.extend_from_slice(excerpt(label, sources).as_bytes());
            }
            for note in &diagnostic.notes {
                out.extend_from_slice(format!("  note: {note}\n").as_bytes());
            }
            for fix in &diagnostic.fixes {
                out.extend_from_slice(format!("  help: {}\n", fix.message).as_bytes());
            }
        }
        out.push(b'\n');
    }
    let text = String::from_utf8_lossy(&out);
    if options.color {
        return text.into_owned();
    }
    // no spaces at the ends of lines, so that snapshots survive editors
    let mut trimmed = String::with_capacity(text.len());
    for line in text.lines() {
        trimmed.push_str(without_colors(line).trim_end());
        trimmed.push('\n');
    }
    trimmed
}

/// Removes colours from a line: Ariadne colours the kind of a report even if colours are off.
fn without_colors(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut pieces = line.split("\u{1b}[");
    out.push_str(pieces.next().unwrap_or(""));
    for piece in pieces {
        out.push_str(piece.split_once('m').map_or("", |(_, rest)| rest));
    }
    out
}

/// Returns one line for each diagnostic: `file:line:column: error G0101: message`.
#[must_use]
pub fn render_short(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    diagnostics
        .iter()
        .map(|diagnostic| plain(diagnostic, sources))
        .collect()
}

fn plain(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let file = sources.get(diagnostic.span().file);
    let at = file.location(diagnostic.span().start);
    format!(
        "{}:{}:{}: {} {}: {}\n",
        file.name(),
        at.line,
        at.column,
        diagnostic.severity.as_str(),
        diagnostic.code,
        diagnostic.message
    )
}

/// The greatest length in bytes of a line that is printed in full.
const LONGEST: u32 = 1_000;

/// Returns the line on which a span begins.
fn line_of(span: Span, sources: &SourceMap) -> Span {
    let file = sources.get(span.file);
    let line = file.lines().line_index(span.start);
    let whole = file.span();
    let start = file.lines().line_start(line).unwrap_or(whole.start);
    let next = file.lines().line_start(line + 1);
    let end = next.map_or(whole.end, |next| next - 1);
    Span::new(span.file, start, end.max(start))
}

/// Whether the lines of a span may be drawn.
fn is_short(span: Span, sources: &SourceMap) -> bool {
    let last = Span::new(
        span.file,
        span.end.max(span.start),
        span.end.max(span.start),
    );
    [span, last].into_iter().all(|span| {
        let line = line_of(span, sources);
        line.end - line.start <= LONGEST
    })
}

/// Returns the lines around a span, with its label below.
fn excerpt(label: &super::Label, sources: &SourceMap) -> String {
    const AROUND: usize = 40;
    let line = line_of(label.span, sources);
    let file = sources.get(line.file);
    let start = label.span.start.clamp(line.start, line.end);
    let end = label.span.end.clamp(start, line.end);
    let slice = |from, to| file.slice(Span::new(line.file, from, to)).chars();
    let before: Vec<char> = slice(line.start, start).rev().take(AROUND).collect();
    let cut = if slice(line.start, start).nth(AROUND).is_some() {
        "… "
    } else {
        ""
    };
    let before: String = cut.chars().chain(before.into_iter().rev()).collect();
    let within: String = slice(start, end).take(AROUND).collect();
    let after: String = slice(end, line.end).take(AROUND).collect();
    let indent = " ".repeat(before.chars().count());
    let marks = "^".repeat(within.chars().count().max(1));
    format!(
        "  {before}{within}{after}\n  {indent}{marks} {}\n",
        label.message
    )
}

type Place = (FileId, std::ops::Range<usize>);

fn report<'d>(
    diagnostic: &'d Diagnostic,
    sources: &SourceMap,
    options: RenderOptions,
) -> Report<'d, Place> {
    let (word, color) = match diagnostic.severity {
        Severity::Error => ("error", Color::Red),
        Severity::Warning => ("warning", Color::Yellow),
        Severity::Hint => ("hint", Color::Cyan),
    };
    let config = Config::new()
        .with_index_type(IndexType::Byte)
        .with_color(options.color);
    let primary = place(diagnostic.span(), sources);
    let mut builder = Report::build(ReportKind::Custom(word, color), primary.clone())
        .with_config(config)
        .with_code(diagnostic.code)
        .with_message(&diagnostic.message);
    let label = match diagnostic.primary.message.as_str() {
        "" => "here",
        message => message,
    };
    let own = Label::new(primary)
        .with_message(label)
        .with_color(color)
        .with_priority(1);
    let mut labels = vec![(diagnostic.span(), own)];
    labels.extend(diagnostic.secondary.iter().map(|label| {
        let drawn = Label::new(place(label.span, sources))
            .with_message(&label.message)
            .with_color(Color::Blue);
        (label.span, drawn)
    }));
    // Ariadne starts a new section, below the primary label, at each label that is above the previous one.
    let file = diagnostic.span().file;
    labels.sort_by_key(|(span, _)| (span.file != file, span.file, line_of(*span, sources).start));
    builder.add_labels(labels.into_iter().map(|(_, label)| label));
    for note in &diagnostic.notes {
        builder.add_note(note);
    }
    for fix in &diagnostic.fixes {
        builder.add_help(help(fix, sources));
    }
    builder.finish()
}

/// Returns a span that is clamped to its file.
fn place(span: Span, sources: &SourceMap) -> Place {
    let len = sources.get(span.file).text().len();
    let range = span.range();
    (span.file, range.start.min(len)..range.end.min(len))
}

/// Describes a fix, with the line that it produces if that is short.
fn help(fix: &Fix, sources: &SourceMap) -> String {
    match fixed(fix, sources) {
        Some(text) if !text.is_empty() => format!("{}: `{text}`", fix.message),
        _ => fix.message.clone(),
    }
}

/// The greatest width in columns of a fixed text; of a longer one only the edits and their surroundings are printed.
const FIXED: usize = 90;

/// Returns the lines with all edits made, as one line; `None` if an edit has lines of its own.
fn fixed(fix: &Fix, sources: &SourceMap) -> Option<String> {
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|(span, _)| span.start);
    let ((first, _), (last, _)) = (edits.first()?, edits.last()?);
    let file = sources.get(first.file);
    let start = line_of(*first, sources).start;
    let end = line_of(Span::new(last.file, last.end, last.end), sources).end;
    if end.saturating_sub(start) > LONGEST {
        return None;
    }
    let slice = |from: u32, to: u32| words(file.slice(Span::new(first.file, from, to)));
    let mut edited = String::new();
    let mut at = first.start;
    for (span, text) in &edits {
        if span.file != first.file || span.start < at || text.contains('\n') {
            return None;
        }
        edited.push_str(&slice(at, span.start));
        edited.push_str(text);
        at = span.end;
    }
    let (before, after) = (slice(start, first.start), slice(at, end));
    let whole = format!("{before}{edited}{after}");
    let code = whole.split("//").next().unwrap_or("").trim();
    let code = if code.is_empty() { whole.trim() } else { code };
    if code.chars().count() <= FIXED {
        return Some(code.to_owned());
    }
    const BESIDE: usize = 12;
    let from = before.chars().count().saturating_sub(BESIDE);
    let before: String = before.chars().skip(from).collect();
    let n_edited = edited.chars().count();
    let edited: String = if n_edited > FIXED {
        let head = edited.chars().take(FIXED / 2);
        let tail = edited.chars().skip(n_edited - FIXED / 2);
        head.chain(" … ".chars()).chain(tail).collect()
    } else {
        edited
    };
    let rest: String = after.chars().take(BESIDE).collect();
    let more = |cut: bool| if cut { "…" } else { "" };
    Some(format!(
        "{}{before}{edited}{rest}{}",
        more(from > 0),
        more(rest.len() < after.len())
    ))
}

/// Returns a text on one line, with single blanks.
fn words(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            c if !c.is_whitespace() => out.push(c),
            _ if out.ends_with(' ') => {}
            _ => out.push(' '),
        }
    }
    out
}

/// The files of a map in the interface of ariadne.
struct Sources<'m> {
    map: &'m SourceMap,
    read: BTreeMap<FileId, Source<String>>,
}

impl Cache<FileId> for Sources<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &FileId) -> Result<&Source<String>, impl fmt::Debug> {
        let map = self.map;
        let source = self
            .read
            .entry(*id)
            .or_insert_with(|| Source::from(map.get(*id).text().to_owned()));
        Ok::<_, std::convert::Infallible>(source)
    }

    fn display<'a>(&self, id: &'a FileId) -> Option<impl fmt::Display + 'a> {
        Some(self.map.get(*id).name().to_owned())
    }
}
