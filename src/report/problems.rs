//! Problems with data as text on the error output: each told, each kind up to a limit, all of them counted.

use std::collections::BTreeMap;
use std::io::{self, Write};

use smol_str::SmolStr;

use super::Paint;
use super::text::{number, plural, tame};
use crate::problem::{Problem, ProblemKind};

/// How many problems of a kind are told in full.
const PER_KIND: u64 = 10;

/// How many different reasons for leaving something out are told apart.
const REASONS: usize = 20;

/// Tells problems as they come.
#[derive(Debug)]
pub struct ProblemLog<W> {
    out: W,
    paint: Paint,
    counts: BTreeMap<ProblemKind, u64>,
    /// What was left out on purpose, by reason.
    left_out: BTreeMap<SmolStr, u64>,
}

impl<W: Write> ProblemLog<W> {
    /// Tells to `out`.
    pub fn new(out: W, paint: Paint) -> ProblemLog<W> {
        ProblemLog {
            out,
            paint,
            counts: BTreeMap::new(),
            left_out: BTreeMap::new(),
        }
    }

    /// Tells one problem, or counts it.
    ///
    /// # Errors
    /// Where the sink cannot be written.
    pub fn tell(&mut self, problem: &Problem) -> io::Result<()> {
        let count = self.counts.entry(problem.kind).or_default();
        *count += 1;
        if problem.kind == ProblemKind::LeftOut {
            let reason = SmolStr::new(&problem.message);
            if self.left_out.len() < REASONS || self.left_out.contains_key(&reason) {
                *self.left_out.entry(reason).or_default() += 1;
            }
            return Ok(());
        }
        if *count > PER_KIND {
            return Ok(());
        }
        let word = if problem.kind.is_error() {
            self.paint.bad("data error")
        } else {
            self.paint.open("note")
        };
        writeln!(self.out, "{word}: {}", tame(&problem.to_string()))
    }

    /// Tells what was only counted.
    ///
    /// # Errors
    /// Where the sink cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        for (kind, count) in &self.counts {
            if *kind != ProblemKind::LeftOut && *count > PER_KIND {
                writeln!(
                    self.out,
                    "… and {} more: {}",
                    number(count - PER_KIND),
                    kind_words(*kind)
                )?;
            }
        }
        for (reason, count) in &self.left_out {
            let times = plural(*count, "time", "times");
            writeln!(
                self.out,
                "{}: {} ({times})",
                self.paint.open("left out"),
                tame(reason)
            )?;
        }
        let told: u64 = self.left_out.values().sum();
        let all = self.counts.get(&ProblemKind::LeftOut).copied().unwrap_or(0);
        if all > told {
            let times = plural(all - told, "time", "times");
            writeln!(
                self.out,
                "{}: other reasons ({times})",
                self.paint.open("left out")
            )?;
        }
        self.out.flush()
    }
}

/// A kind of problem in words.
pub fn kind_words(kind: ProblemKind) -> &'static str {
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
