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

/// The number of notes with the same text that are printed in full.
const PER_NOTE: u64 = 3;

/// The number of different notes, and of reasons for omission, that are counted separately.
const DIFFERENT: usize = 50;

/// Prints problems as they occur.
#[derive(Debug)]
pub struct ProblemLog<W> {
    out: W,
    paint: Paint,
    errors: BTreeMap<ProblemKind, u64>,
    /// The number of notes by their text, without quoted parts.
    notes: BTreeMap<SmolStr, u64>,
    /// The omitted data, by reason.
    left_out: BTreeMap<SmolStr, u64>,
}

impl<W: Write> ProblemLog<W> {
    /// Creates a log that prints to `out`.
    pub fn new(out: W, paint: Paint) -> ProblemLog<W> {
        let (errors, notes, left_out) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        ProblemLog {
            out,
            paint,
            errors,
            notes,
            left_out,
        }
    }

    /// Prints a problem, or only counts it.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&mut self, problem: &Problem) -> io::Result<()> {
        let (word, count, most) = match problem.kind {
            ProblemKind::LeftOut => {
                let (reason, times) = reason(&problem.message);
                *entry(&mut self.left_out, reason) += times;
                return Ok(());
            }
            ProblemKind::Odd => (
                self.paint.open("note"),
                entry(&mut self.notes, &without_names(&problem.message)),
                PER_NOTE,
            ),
            kind => (
                self.paint.bad("data error"),
                self.errors.entry(kind).or_default(),
                PER_KIND,
            ),
        };
        *count += 1;
        if *count > most {
            return Ok(());
        }
        writeln!(self.out, "{word}: {}", inert(&problem.to_string()))
    }

    /// Prints the counts of the problems that were only counted.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(&mut self) -> io::Result<()> {
        for (kind, count) in &self.errors {
            if *count > PER_KIND {
                writeln!(
                    self.out,
                    "… and {} more: {}",
                    number(count - PER_KIND),
                    kind_words(*kind)
                )?;
            }
        }
        for (note, count) in &self.notes {
            if *count > PER_NOTE {
                writeln!(
                    self.out,
                    "… and {} more: {}",
                    number(count - PER_NOTE),
                    inert(note)
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
fn entry<'m>(counts: &'m mut BTreeMap<SmolStr, u64>, text: &str) -> &'m mut u64 {
    let text = if counts.len() < DIFFERENT || counts.contains_key(text) {
        text
    } else {
        "other reasons"
    };
    counts.entry(SmolStr::new(text)).or_default()
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
