//! Problems with data as text on standard error: each kind is printed up to a limit, and all problems are counted.

use std::collections::BTreeMap;
use std::io::{self, Write};

use smol_str::SmolStr;

use super::Paint;
use super::text::{number, plural};
use crate::inert::inert;
use crate::problem::{Problem, ProblemKind};

/// The number of problems of one kind that are printed in full.
const PER_KIND: u64 = 10;

/// The number of problems with the same cause that are printed in full.
const PER_CAUSE: u64 = 3;

/// The number of different causes, and of reasons for omission, that are counted separately.
const DIFFERENT: usize = 50;

/// Prints problems as they occur.
#[derive(Debug)]
pub struct ProblemLog<W> {
    out: W,
    paint: Paint,
    /// The number of data errors that were printed, by kind.
    printed: BTreeMap<ProblemKind, u64>,
    /// The number of problems by their cause, each with the number that was printed.
    causes: BTreeMap<SmolStr, (u64, u64)>,
    /// The omitted data, by reason.
    left_out: BTreeMap<SmolStr, u64>,
}

impl<W: Write> ProblemLog<W> {
    /// Creates a log that prints to `out`.
    pub fn new(out: W, paint: Paint) -> ProblemLog<W> {
        ProblemLog {
            out,
            paint,
            printed: BTreeMap::new(),
            causes: BTreeMap::new(),
            left_out: BTreeMap::new(),
        }
    }

    /// Prints a problem, or only counts it.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&mut self, problem: &Problem) -> io::Result<()> {
        let kind = problem.kind;
        if kind == ProblemKind::LeftOut {
            let (reason, times) = reason(&problem.message);
            *entry(&mut self.left_out, reason) += times;
            return Ok(());
        }
        let is_error = kind.is_error();
        let most = match problem.field.is_some() || !is_error {
            true => PER_CAUSE,
            false => PER_KIND,
        };
        let of_kind = self.printed.entry(kind).or_default();
        let (count, printed) = entry(&mut self.causes, &cause(problem));
        *count += 1;
        if *printed == most || is_error && *of_kind == PER_KIND {
            return Ok(());
        }
        *printed += 1;
        *of_kind += 1;
        let word = match is_error {
            true => self.paint.bad("data error"),
            false => self.paint.open("note"),
        };
        writeln!(self.out, "{word}: {}", inert(&problem.to_string()))
    }

    /// Prints the counts of the problems that were only counted.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(&mut self) -> io::Result<()> {
        for (cause, (count, printed)) in &self.causes {
            if count > printed {
                writeln!(
                    self.out,
                    "… and {} more: {}",
                    number(count - printed),
                    inert(cause)
                )?;
            }
        }
        for (reason, count) in &self.left_out {
            let times = plural(*count, "time", "times");
            writeln!(
                self.out,
                "{}: {} ({times})",
                self.paint.open("left out"),
                inert(reason)
            )?;
        }
        self.out.flush()
    }
}

/// Returns the count of a text; beyond [`DIFFERENT`] texts, all further ones share one count.
fn entry<'m, N: Default>(counts: &'m mut BTreeMap<SmolStr, N>, text: &str) -> &'m mut N {
    let text = if counts.len() < DIFFERENT || counts.contains_key(text) {
        text
    } else {
        "other reasons"
    };
    counts.entry(SmolStr::new(text)).or_default()
}

/// Returns the text that problems of one cause have in common: of a data error its field and message without the value, of a note its
/// message without quoted parts, unless they name the format of a file.
fn cause(problem: &Problem) -> String {
    match (&problem.field, problem.kind) {
        // Of a format there is one note.
        (_, ProblemKind::Odd) if problem.message.starts_with("read as `") => {
            problem.message.clone()
        }
        (_, ProblemKind::Odd) => without_names(&problem.message),
        (Some(field), _) => {
            let said = problem.message.split(" = ").next().unwrap_or_default();
            format!("field `{field}`: {said}")
        }
        (None, kind) => kind_words(kind).to_owned(),
    }
}

/// Returns a message with `…` in place of quoted parts, so that notes of one kind are counted together.
fn without_names(message: &str) -> String {
    let parts = message.split('`').enumerate();
    let parts: Vec<&str> = parts
        .map(|(place, part)| if place % 2 == 1 { "…" } else { part })
        .collect();
    parts.join("`")
}

/// Splits the message of a reader that counts on its own: `skipped: … (3 times)`.
fn reason(message: &str) -> (&str, u64) {
    let Some(counted) = message.strip_prefix("skipped: ") else {
        return (message, 1);
    };
    let split = [" times)", " time)"]
        .into_iter()
        .find_map(|end| counted.strip_suffix(end))
        .and_then(|counted| counted.rsplit_once(" ("));
    split
        .and_then(|(reason, times)| Some((reason, times.parse().ok()?)))
        .unwrap_or((counted, 1))
}

/// Returns the description of a kind of problem.
pub(crate) fn kind_words(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Unreadable => "unreadable",
        ProblemKind::Malformed => "malformed",
        ProblemKind::DuplicateKey => "duplicate key",
        ProblemKind::InvalidUtf8 => "invalid UTF-8",
        ProblemKind::Limit => "beyond a limit",
        ProblemKind::MissingField => "missing field",
        ProblemKind::WrongType => "wrong type",
        ProblemKind::Number => "number out of range",
        ProblemKind::Evaluation => "failed evaluation",
        ProblemKind::LeftOut => "left out",
        ProblemKind::Odd => "odd",
    }
}
