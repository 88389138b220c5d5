//! Probable mistakes in a spec without errors: properties that no trace satisfies or violates, parts that make no difference,
//! properties that contradict or repeat one another, conditions that are always true, unreachable arms; `enforce` clauses that
//! act too late, do too little, ask too often, deny for ever or never act (`G0940` to `G0942`, `G0944`, `G0946`, `G0948`); values of
//! unexpected types that let an action through (`G0924`, `G0928`).
//!
//! Input: a [`Spec`] without errors; output: diagnostics with codes `G0910` to `G0921`, `G0951` and `G0952`, most with an
//! example trace. The findings are about meaning, not about syntax: languages of automata are compared, and conditions are
//! decided over the types of the data that they read ([`domain`](crate::domain)).
//!
//! # Soundness
//! Letters may have any values, as for verdicts, finality and class; letters that exclude one another because of the data that
//! they read are taken into account. Parts that are bounded in time are only treated as far as no clock is needed. So every
//! finding holds for all traces, and undecided cases are not reported.
//!
//! # Limits
//! See [`Limits`]; beyond them a lint reports nothing.
//!
//! # Source
//! I. Beer and others, "Efficient detection of vacuity in temporal model checking", 2001; O. Kupferman, M. Vardi, "Vacuity
//! detection in temporal model checking", 2003; A. Post, J. Hoenicke, A. Podelski, "rt-inconsistency: a new property for
//! real-time requirements", 2011.

mod absent;
mod alone;
mod conditions;
mod enforcement;
mod fails_open;
mod foreign;
mod limits;
mod never_recovers;
mod occurrence;
mod polarity;
mod relation;
mod requirement;
mod shape;
mod subject;
mod theory;
mod together;
mod unused_key;
mod vacuity;

use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Compare, Expr, Spec};
use crate::ids::ExprId;
use crate::source::Span;
use crate::value::Value;
use guard_automata::{Dfa, Traces, Word};
use rustc_hash::FxHashSet;

pub use foreign::{Foreign, compare_automaton};
pub use limits::Limits;
pub use occurrence::occurrences;
pub use relation::{Comparison, Difference, excesses};
pub use relation::{Relation, Semantics, compare, limit_message};
use subject::Subjects;

/// The findings of the linter.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The diagnostics, sorted by position.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of requirements whose sentence was compared with its formula. The sentences of the others could not be
    /// interpreted.
    pub compared_requirements: usize,
}

/// Returns all findings of the linter. Findings that `@allow` turns off are left out, as are conditions whose constant
/// value the checker has already reported (`reported`).
///
/// ```
/// use guard_lang::{check, front, lint, modules::NoFiles};
///
/// let text = "event { a: bool  b: bool }\nproperty p = always (a -> next b)\n";
/// let checked = front("p.guard", text, &NoFiles, check::Limits::default());
/// let spec = checked.spec.ok_or("the spec has errors")?;
/// let found = lint::lint(&spec, &checked.diagnostics, &lint::Limits::default()).diagnostics;
/// assert_eq!(found[0].code.name(), "strong-next");
/// # Ok::<(), &str>(())
/// ```
pub fn lint(spec: &Spec, reported: &[Diagnostic], limits: &Limits) -> Findings {
    let mut budget = limits::Budget::new(limits);
    let mut found = Vec::new();
    let constant = conditions::lint(spec, &mut budget, &mut found);
    let mut subjects = Subjects::new(spec, &constant, &mut budget);
    alone::lint(&subjects, &mut found);
    absent::lint(spec, &mut budget, &mut found);
    unused_key::lint(spec, &mut found);
    let compared_requirements = requirement::lint(spec, &mut found);
    shape::lint(&mut subjects, &mut budget, &mut found);
    together::lint(&subjects, &mut budget, &mut found);
    vacuity::lint(&mut subjects, &mut budget, &mut found);
    enforcement::lint(&subjects, &mut found);
    never_recovers::lint(&mut subjects, &mut found);
    fails_open::lint(spec, &mut found);
    let comparisons: Vec<Span> = reported
        .iter()
        .filter(|diagnostic| diagnostic.code == Code::G0308)
        .map(Diagnostic::span)
        .collect();
    found.retain(|diagnostic| {
        let (code, span) = (diagnostic.code, diagnostic.span());
        let repeats = code == Code::G0919
            && comparisons
                .iter()
                .any(|other| within(*other, span) || within(span, *other));
        !repeats && !is_allowed(spec, code, span)
    });
    crate::diagnostic::sort(&mut found);
    Findings {
        diagnostics: found,
        compared_requirements,
    }
}

/// Adds the findings to the diagnostics of the checker, sorted by position. Returns the number of requirements whose sentence was
/// compared with its formula.
pub fn add(spec: &Spec, diagnostics: &mut Vec<Diagnostic>, limits: &Limits) -> usize {
    let found = lint(spec, diagnostics, limits);
    diagnostics.extend(found.diagnostics);
    crate::diagnostic::sort(diagnostics);
    found.compared_requirements
}

/// Returns a shortest trace of one step or more that the automaton of a formula of the spec accepts and that events can
/// produce, as far as the types of the fields decide; `None` if there is none. Beyond the limits, the trace may contain
/// steps that no event produces.
pub fn example(spec: &Spec, accepts: &Dfa) -> Option<Word> {
    let mut budget = limits::Budget::new(&Limits::default());
    let found = theory::shortest(spec, accepts, Traces::NonEmpty, &mut budget);
    found.unwrap_or_else(|| accepts.shortest_accepted(Traces::NonEmpty))
}

/// Returns a shortest trace of one step or more that one automaton over the letters of the spec accepts and another rejects,
/// and that events can produce, as far as the types of the fields decide. The outer `None` means that the limits do not
/// suffice.
pub fn excess(spec: &Spec, of: &Dfa, over: &Dfa, limits: &Limits) -> Option<Option<Word>> {
    theory::excess(spec, of, over, &mut limits::Budget::new(limits))
}

/// Whether the item that contains a finding turns it off with `@allow`.
pub fn is_allowed(spec: &Spec, code: Code, span: Span) -> bool {
    let mut allowed = spec.outline.allowed_at(span);
    allowed.any(|name| Code::named(name) == Some(code))
}

/// Returns the expressions that some condition of the spec compares with null, so that null is handled.
fn compared_with_null(spec: &Spec) -> FxHashSet<ExprId> {
    let all = (0..spec.exprs.len()).map(ExprId::new);
    all.filter_map(|id| null_test(spec, id)).collect()
}

/// Returns the expression that a condition compares with null, if it does.
fn null_test(spec: &Spec, id: ExprId) -> Option<ExprId> {
    let is_null = |id: &ExprId| matches!(spec.exprs.get(*id), Expr::Const(Value::Null));
    match spec.exprs.get(id) {
        Expr::Compare(Compare::Eq, other, null) | Expr::Compare(Compare::Eq, null, other)
            if is_null(null) =>
        {
            Some(*other)
        }
        _ => None,
    }
}

/// Whether one span is inside another.
fn within(span: Span, outer: Span) -> bool {
    span.file == outer.file && outer.start <= span.start && span.end <= outer.end
}
