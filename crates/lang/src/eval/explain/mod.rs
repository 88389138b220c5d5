//! Explanations of the reported verdicts, by reading the trace again.
//!
//! A first reading gives the letters of each violated instance; from those come `from` and the counterexample ([`cause`]), the
//! conditions that suffice ([`reasons`]), and the steps and fields that would decide an unknown verdict ([`undecided`]). A
//! second reading evaluates messages and the deciding parts of conditions at the steps that the first one found.

mod cause;
pub(super) mod counted;
mod evidence;
mod reasons;
mod replay;
mod undecided;
pub(super) mod values;

use super::compiled::Compiled;
use super::trace::TraceState;
use crate::ids::PropertyId;
use crate::input::deferred::Deferred;
use crate::value::{Truth, Value};
use crate::verdict::{PropertyVerdict, Verdict};

/// The greatest number of letters that are kept at once; further verdicts are explained by `at` alone.
const MOST_LETTERS: usize = 50_000_000;

/// A verdict to be explained.
#[derive(Debug)]
pub(super) struct Request {
    /// The index among the verdicts.
    place: usize,
    property: usize,
    vars: Vec<Option<Value>>,
    at: Option<u32>,
    /// The values of all letters, step after step, up to `at`.
    letters: Vec<Truth>,
}

/// A step that was read again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    /// The index of the step in the record.
    index: u32,
    /// The index of the step in the history.
    place: usize,
    time: Option<i128>,
}

impl Request {
    /// Returns the values of all letters at a step.
    fn row(&self, program: &Compiled, step: usize) -> &[Truth] {
        let n = program.properties[self.property].letters.len();
        self.letters.get(step * n..(step + 1) * n).unwrap_or(&[])
    }
}

/// The verdicts that will be explained; others are reported without a reason, which is much cheaper.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// By property; properties beyond the end are wanted.
    violated: Vec<bool>,
    unknown: Vec<bool>,
    /// Whether the recorded values of steps are left out.
    no_evidence: bool,
}

impl Wanted {
    /// Explains everything.
    pub const ALL: &'static Wanted = &Wanted {
        violated: Vec::new(),
        unknown: Vec::new(),
        no_evidence: false,
    };

    /// Selects the violations and unknown verdicts of `n_properties` properties for which `wants` returns true.
    pub fn new(n_properties: usize, wants: impl Fn(PropertyId, Verdict) -> bool) -> Wanted {
        let of = |verdict| {
            (0..n_properties)
                .map(|id| wants(PropertyId::new(id), verdict))
                .collect()
        };
        Wanted {
            violated: of(Verdict::Violated),
            unknown: of(Verdict::Unknown),
            no_evidence: false,
        }
    }

    /// Returns the same selection without recorded values of steps.
    #[must_use]
    pub fn without_evidence(self) -> Wanted {
        Wanted {
            no_evidence: true,
            ..self
        }
    }

    fn has(&self, verdict: &PropertyVerdict) -> bool {
        let of = match verdict.verdict {
            Verdict::Violated => &self.violated,
            Verdict::Unknown => &self.unknown,
            _ => return false,
        };
        of.get(verdict.property.index()).copied().unwrap_or(true)
    }
}

/// Explains all verdicts that need it.
pub(super) fn explain(
    state: &mut TraceState<'_>,
    verdicts: &mut [PropertyVerdict],
    wanted: &Wanted,
    texts: Deferred<'_>,
) {
    let program = state.program;
    let n_steps = usize::try_from(state.run.n_steps).unwrap_or(usize::MAX);
    let mut budget = MOST_LETTERS;
    let mut requests = Vec::new();
    for (place, verdict) in verdicts.iter_mut().enumerate() {
        if !matches!(verdict.verdict, Verdict::Violated | Verdict::Unknown) {
            continue;
        }
        if verdict.verdict == Verdict::Violated {
            verdict.counterexample.extend(verdict.at);
        }
        if verdict.exceeded.is_some() || !wanted.has(verdict) {
            continue;
        }
        let property = verdict.property.index();
        let cost = (n_steps + 1) * (program.properties[property].letters.len() + 1);
        if cost > budget || state.history.cut {
            continue;
        }
        budget -= cost;
        requests.push(Request {
            place,
            property,
            vars: verdict
                .instance
                .iter()
                .map(|(_, value)| Some(value.clone()))
                .collect(),
            at: verdict.at,
            letters: Vec::new(),
        });
    }
    if requests.is_empty() {
        return;
    }
    // Fields that no explanation reads were not decoded, or only as far as they were read before.
    let read = requests.iter().fold(0, |read, request| {
        read | match verdicts[request.place].verdict {
            Verdict::Unknown => u64::MAX,
            _ => program.explained(request.property).fields,
        }
    });
    for place in texts.places {
        if read >> place.field & 1 == 1
            && let Some(step) = state.history.steps.get_mut(place.step)
        {
            step.cells[place.field] = texts.decode(place);
        }
    }
    let past = requests
        .iter()
        .any(|request| program.explained(request.property).past);
    // An unknown verdict is open at every step.
    let last = requests.iter().try_fold(0, |last, request| {
        let lost = verdicts[request.place].verdict == Verdict::Violated;
        Some(last.max(request.at.filter(|_| lost)?))
    });
    let steps = replay::letters(state, &mut requests, texts, past, last);
    for request in &requests {
        let verdict = &mut verdicts[request.place];
        if verdict.verdict == Verdict::Unknown {
            verdict.undecided_by = undecided::undecided(state, request, &steps);
            continue;
        }
        let found = cause::cause(program, request, &steps);
        verdict.from = found.from;
        verdict.why = reasons::why(program, request, &steps, &found);
        if !found.steps.is_empty() {
            verdict.counterexample = found.steps;
        }
        if !wanted.no_evidence {
            let shown = reasons::shown(verdict);
            verdict.evidence = evidence::evidence(state, request, &steps, &shown);
        }
    }
    replay::texts(state, &requests, verdicts, texts, past, &steps);
}
