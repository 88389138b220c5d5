//! Counts over traces: per property, and over the whole input.

use std::collections::{BTreeMap, BTreeSet};

use guard_markov::interval::confidence::{Z95, wilson};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::PropertyId;
use crate::problem::{Problem, ProblemKind};
use crate::value::JsonKind;
use crate::verdict::{PropertyVerdict, TraceReport, Verdict};

/// The summary of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Traces judged.
    pub traces: u64,
    /// Traces with at least one violated property.
    pub violating: u64,
    /// Steps judged (after `where`).
    pub events: u64,
    /// One per property, in order of declaration.
    pub properties: Vec<Counts>,
    /// Problems by kind.
    pub problems: BTreeMap<ProblemKind, u64>,
    /// The accounting of the input.
    pub input: Input,
    /// Fields that the properties read and no event had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_fields: Vec<AbsentField>,
    /// Names that the properties look for and no event had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen_names: Vec<UnseenName>,
    /// Names that events had in another spelling than the spec's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_spellings: Vec<OtherSpelling>,
    /// Places that the properties compare with constants, with the kinds of both sides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared_kinds: Vec<ComparedKinds>,
}

/// A field that no event had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsentField {
    /// Its name in the spec.
    pub field: SmolStr,
    /// The path at which it was searched.
    pub from: String,
}

/// A member or text that no event had in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnseenName {
    /// The name that was looked for: `args.path`, `tool == "rm"`.
    pub name: String,
    /// A similar one in its place, which was not looked for: `args.paths`. The name may be misspelt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similar: Option<String>,
}

/// A tool that some event had, and that differs from one that the spec looks for in case or other details of spelling alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OtherSpelling {
    /// The name that is looked for: `tool == "delete_file"`.
    pub name: String,
    /// The spelling of an event: `tool == "Delete_File"`.
    pub found: String,
}

/// A place that is compared with constants, and may be of any kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedKinds {
    /// The place as it is written: `args.account`.
    pub name: String,
    /// The kinds of the constants.
    pub expected: BTreeSet<JsonKind>,
    /// The kinds of the values that events had there, without null.
    pub found: BTreeSet<JsonKind>,
}

impl ComparedKinds {
    /// Whether no value that events had there could be equal to a constant.
    pub fn never_met(&self) -> bool {
        !self.found.is_empty() && self.found.is_disjoint(&self.expected)
    }
}

/// The accounting of the input. Every line that is not blank counts once in `lines`, and once in `read`, `left_out`,
/// `refused` or `between`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Files read.
    pub files: u64,
    /// Bytes in them, decompressed.
    pub bytes: u64,
    /// Lines that are not blank.
    pub lines: u64,
    /// Lines that were read.
    pub read: u64,
    /// Lines that were left out on purpose.
    pub left_out: u64,
    /// Lines from which nothing could be read.
    pub refused: u64,
    /// Lines that hold only the brackets and commas of a list of records.
    pub between: u64,
    /// The number of whole records among them.
    pub records: u64,
    /// Events of traces that are spread over lines.
    pub events: u64,
    /// Announced ends of such traces.
    pub ends: u64,
}

/// The numbers of traces by verdict on one property. A trace counts once, even if it violates several instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Satisfied.
    pub satisfied: u64,
    /// Violated.
    pub violated: u64,
    /// Presumably satisfied.
    pub presumably_satisfied: u64,
    /// Presumably violated.
    pub presumably_violated: u64,
    /// Unknown.
    pub unknown: u64,
    /// Satisfied (or presumably so) only because the trigger never happened.
    pub vacuous: u64,
}

impl Summary {
    /// Returns an empty summary, for a spec of this many properties.
    pub fn new(properties: usize) -> Summary {
        Summary {
            properties: vec![Counts::default(); properties],
            ..Summary::default()
        }
    }

    /// Adds a judged trace and the problems with its data.
    pub fn add(&mut self, report: &TraceReport) {
        self.traces += 1;
        self.events += report.events;
        let mut violating = false;
        for (id, verdict, vacuous) in per_property(&report.verdicts) {
            violating |= verdict == Verdict::Violated;
            if let Some(counts) = self.properties.get_mut(id.index()) {
                counts.add(verdict, vacuous);
            }
        }
        self.violating += u64::from(violating);
        for problem in &report.problems {
            self.problem(problem);
        }
    }

    /// Adds a problem that belongs to no judged trace.
    pub fn problem(&mut self, problem: &Problem) {
        *self.problems.entry(problem.kind).or_default() += 1;
    }

    /// Adds the counts of another part of the input. The order and grouping of parts do not affect the result.
    ///
    /// # Errors
    /// The other summary belongs to a spec with a different number of properties; nothing is added then.
    pub fn merge(&mut self, other: &Summary) -> Result<(), UnequalSummaries> {
        if self.properties.len() != other.properties.len() {
            return Err(UnequalSummaries(
                self.properties.len(),
                other.properties.len(),
            ));
        }
        // In a part without steps, absent fields have no meaning.
        if self.events == 0 {
            self.absent_fields.clone_from(&other.absent_fields);
            self.unseen_names.clone_from(&other.unseen_names);
        } else if other.events > 0 {
            let is_shared = |field: &AbsentField| other.absent_fields.contains(field);
            self.absent_fields.retain(is_shared);
            self.unseen_names
                .retain_mut(|UnseenName { name, similar }| {
                    let shared = other.unseen_names.iter().find(|other| other.name == *name);
                    let found = shared.and_then(|shared| shared.similar.as_ref());
                    // Of two, the first in order, so that the order of parts does not matter.
                    *similar = similar.iter().chain(found).min().cloned();
                    shared.is_some()
                });
        }
        self.other_spellings
            .extend(other.other_spellings.iter().cloned());
        self.other_spellings.sort_unstable();
        self.other_spellings.dedup();
        for kinds in &other.compared_kinds {
            let mut known = self.compared_kinds.iter_mut();
            match known.find(|known| known.name == kinds.name) {
                Some(known) => known.found.extend(&kinds.found),
                None => self.compared_kinds.push(kinds.clone()),
            }
        }
        self.traces += other.traces;
        self.violating += other.violating;
        self.events += other.events;
        for (counts, more) in self.properties.iter_mut().zip(&other.properties) {
            counts.merge(more);
        }
        for (kind, count) in &other.problems {
            *self.problems.entry(*kind).or_default() += count;
        }
        self.input.merge(&other.input);
        Ok(())
    }

    /// Returns the number of problems that made the input unreadable in part.
    pub fn errors(&self) -> u64 {
        self.problems
            .iter()
            .filter(|(kind, _)| kind.is_error())
            .map(|(_, count)| count)
            .sum()
    }
}

/// Two summaries of different specs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a summary of {0} properties, found one of {1}")]
pub struct UnequalSummaries(usize, usize);

impl Input {
    fn merge(&mut self, other: &Input) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.lines += other.lines;
        self.read += other.read;
        self.left_out += other.left_out;
        self.refused += other.refused;
        self.between += other.between;
        self.records += other.records;
        self.events += other.events;
        self.ends += other.ends;
    }
}

impl Counts {
    fn merge(&mut self, other: &Counts) {
        self.satisfied += other.satisfied;
        self.violated += other.violated;
        self.presumably_satisfied += other.presumably_satisfied;
        self.presumably_violated += other.presumably_violated;
        self.unknown += other.unknown;
        self.vacuous += other.vacuous;
    }

    fn add(&mut self, verdict: Verdict, vacuous: bool) {
        match verdict {
            Verdict::Satisfied => self.satisfied += 1,
            Verdict::Violated => self.violated += 1,
            Verdict::PresumablySatisfied => self.presumably_satisfied += 1,
            Verdict::PresumablyViolated => self.presumably_violated += 1,
            Verdict::Unknown => self.unknown += 1,
        }
        self.vacuous += u64::from(vacuous);
    }

    /// Returns the number of traces whose verdict is not unknown.
    pub fn decided(&self) -> u64 {
        self.satisfied + self.violated + self.presumably_satisfied + self.presumably_violated
    }

    /// Returns all traces.
    pub fn all(&self) -> u64 {
        self.decided() + self.unknown
    }

    /// Returns violated among decided; `None` if nothing was decided. Unknown verdicts are left out rather than counted as
    /// safe.
    pub fn rate(&self) -> Option<f64> {
        (self.decided() > 0).then(|| self.violated as f64 / self.decided() as f64)
    }

    /// Returns the 95 % Wilson score interval of [`Counts::rate`].
    pub fn wilson95(&self) -> (f64, f64) {
        wilson(self.violated, self.decided(), Z95)
    }
}

/// Returns the share of satisfied or presumably satisfied properties among the decided ones; `None` if nothing was decided.
pub fn score(verdicts: &[PropertyVerdict]) -> Option<f64> {
    let (mut fine, mut decided) = (0_u32, 0_u32);
    for (_, verdict, _) in per_property(verdicts) {
        fine += u32::from(matches!(
            verdict,
            Verdict::Satisfied | Verdict::PresumablySatisfied
        ));
        decided += u32::from(verdict != Verdict::Unknown);
    }
    (decided > 0).then(|| f64::from(fine) / f64::from(decided))
}

/// Returns one verdict per property: if there are several, the most severe.
pub fn per_property(verdicts: &[PropertyVerdict]) -> Vec<(PropertyId, Verdict, bool)> {
    let mut out: Vec<(PropertyId, Verdict, bool)> = Vec::with_capacity(verdicts.len());
    for verdict in verdicts {
        // Verdicts of one property are adjacent.
        match out.last_mut() {
            Some(last) if last.0 == verdict.property => {
                if verdict.verdict.severity() > last.1.severity() {
                    last.1 = verdict.verdict;
                }
                last.2 &= verdict.vacuous;
            }
            _ => out.push((verdict.property, verdict.verdict, verdict.vacuous)),
        }
    }
    out
}

/// Rounds to four decimals, as reports print rates.
pub(super) fn round4(x: f64) -> f64 {
    (x * 10_000.0).round() / 10_000.0
}
