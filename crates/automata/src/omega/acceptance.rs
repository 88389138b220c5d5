//! Acceptance conditions on the marks that a run sees infinitely often.

use std::fmt;

use super::marks::Marks;

/// A positive Boolean combination of "infinitely often" and "finitely often" (E. A. Emerson, C.-L. Lei, 1985). Büchi, Rabin,
/// Streett and parity conditions are of this kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Acceptance {
    /// Every run is accepting.
    True,
    /// No run is accepting.
    False,
    /// The mark is seen infinitely often.
    Inf(u32),
    /// The mark is seen finitely often.
    Fin(u32),
    /// All of these.
    And(Vec<Acceptance>),
    /// One of these.
    Or(Vec<Acceptance>),
}

impl Acceptance {
    /// Returns the condition that each of the marks `0..n` is seen infinitely often.
    pub fn generalized_buchi(n: u32) -> Acceptance {
        Acceptance::And((0..n).map(Acceptance::Inf).collect()).folded()
    }

    /// Returns the condition that the least mark of `0..n` seen infinitely often is even; a run that sees none is rejected
    /// if `n` is even or zero, and accepted otherwise, as if it saw `n`.
    pub fn parity_min_even(n: u32) -> Acceptance {
        // From the last mark to the first: `Inf(i) | rest` for an even one, `Fin(i) & rest` for an odd one.
        let beyond = if n.is_multiple_of(2) && n > 0 {
            Acceptance::True
        } else {
            Acceptance::False
        };
        (0..n).rev().fold(beyond, |rest, mark| {
            let whole = match mark % 2 {
                0 => Acceptance::Or(vec![Acceptance::Inf(mark), rest]),
                _ => Acceptance::And(vec![Acceptance::Fin(mark), rest]),
            };
            whole.folded()
        })
    }

    /// Whether a run is accepting that sees exactly these marks infinitely often.
    pub fn accepts(&self, infinitely_often: Marks) -> bool {
        match self {
            Acceptance::True => true,
            Acceptance::False => false,
            Acceptance::Inf(mark) => infinitely_often.contains(*mark),
            Acceptance::Fin(mark) => !infinitely_often.contains(*mark),
            Acceptance::And(parts) => parts.iter().all(|part| part.accepts(infinitely_often)),
            Acceptance::Or(parts) => parts.iter().any(|part| part.accepts(infinitely_often)),
        }
    }

    /// Returns the condition that accepts exactly the other runs.
    #[must_use]
    pub fn negated(&self) -> Acceptance {
        let all = |parts: &[Acceptance]| parts.iter().map(Acceptance::negated).collect();
        match self {
            Acceptance::True => Acceptance::False,
            Acceptance::False => Acceptance::True,
            Acceptance::Inf(mark) => Acceptance::Fin(*mark),
            Acceptance::Fin(mark) => Acceptance::Inf(*mark),
            Acceptance::And(parts) => Acceptance::Or(all(parts)),
            Acceptance::Or(parts) => Acceptance::And(all(parts)),
        }
    }

    /// Returns the same condition on marks that are greater by `n`.
    #[must_use]
    pub fn shifted(&self, n: u32) -> Acceptance {
        let all = |parts: &[Acceptance]| parts.iter().map(|part| part.shifted(n)).collect();
        match self {
            Acceptance::True | Acceptance::False => self.clone(),
            Acceptance::Inf(mark) => Acceptance::Inf(mark + n),
            Acceptance::Fin(mark) => Acceptance::Fin(mark + n),
            Acceptance::And(parts) => Acceptance::And(all(parts)),
            Acceptance::Or(parts) => Acceptance::Or(all(parts)),
        }
    }

    /// Returns the condition as alternatives, each of marks to be seen finitely often and of marks to be seen
    /// infinitely often; alternatives that no run satisfies are left out. `None` if more than `most` arise during the
    /// computation.
    pub(super) fn alternatives(&self, most: usize) -> Option<Vec<(Marks, Marks)>> {
        let one = |fin, inf| Some(vec![(fin, inf)]);
        let mut found = match self {
            Acceptance::True => return one(Marks::NONE, Marks::NONE),
            Acceptance::False => return Some(Vec::new()),
            Acceptance::Inf(mark) => return one(Marks::NONE, Marks::one(*mark)),
            Acceptance::Fin(mark) => return one(Marks::one(*mark), Marks::NONE),
            Acceptance::Or(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(part.alternatives(most)?);
                }
                all
            }
            Acceptance::And(parts) => {
                let mut all = vec![(Marks::NONE, Marks::NONE)];
                for part in parts {
                    let part = part.alternatives(most)?;
                    if all.len().saturating_mul(part.len()) > most {
                        return None;
                    }
                    let joined = |(fin, inf): &(Marks, Marks)| {
                        let (fin, inf) = (*fin, *inf);
                        let with = move |(f, i): &(Marks, Marks)| (fin.union(*f), inf.union(*i));
                        part.iter().map(with).collect::<Vec<_>>()
                    };
                    all = all.iter().flat_map(joined).collect();
                }
                all
            }
        };
        found.retain(|(fin, inf)| fin.intersection(*inf).is_empty());
        // An alternative that requires more than another one is redundant.
        let all = found.clone();
        let more = |(fin, inf): &(Marks, Marks), (f, i): &(Marks, Marks)| {
            (f, i) != (fin, inf) && f.is_subset(*fin) && i.is_subset(*inf)
        };
        found.retain(|one| !all.iter().any(|other| more(one, other)));
        found.sort_unstable();
        found.dedup();
        (found.len() <= most).then_some(found)
    }

    /// Returns the same condition without constants inside and without nesting of one connective in itself.
    #[must_use]
    pub(super) fn folded(self) -> Acceptance {
        let (parts, conjunction) = match self {
            Acceptance::And(parts) => (parts, true),
            Acceptance::Or(parts) => (parts, false),
            other => return other,
        };
        let (unit, zero) = match conjunction {
            true => (Acceptance::True, Acceptance::False),
            false => (Acceptance::False, Acceptance::True),
        };
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part.folded() {
                part if part == unit => {}
                part if part == zero => return zero,
                Acceptance::And(inner) if conjunction => flat.extend(inner),
                Acceptance::Or(inner) if !conjunction => flat.extend(inner),
                part => flat.push(part),
            }
        }
        match (flat.len(), flat.pop()) {
            (_, None) => unit,
            (1, Some(only)) => only,
            (_, Some(last)) => {
                flat.push(last);
                if conjunction {
                    Acceptance::And(flat)
                } else {
                    Acceptance::Or(flat)
                }
            }
        }
    }
}

/// As in the Hanoi format: `t`, `f`, `Inf(0)&Fin(1)`, `Inf(0) | (Fin(1)&Inf(2))`.
impl fmt::Display for Acceptance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, joint) = match self {
            Acceptance::True => return out.write_str("t"),
            Acceptance::False => return out.write_str("f"),
            Acceptance::Inf(mark) => return write!(out, "Inf({mark})"),
            Acceptance::Fin(mark) => return write!(out, "Fin({mark})"),
            Acceptance::And(parts) => (parts, "&"),
            Acceptance::Or(parts) => (parts, " | "),
        };
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                out.write_str(joint)?;
            }
            match part {
                Acceptance::And(_) | Acceptance::Or(_) => write!(out, "({part})")?,
                _ => write!(out, "{part}")?,
            }
        }
        Ok(())
    }
}
