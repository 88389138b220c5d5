//! The report on a trace after its end.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::binding::Key;
use super::code::NodeId;
use super::compiled::Compiled;
use super::eval_cache::RawFault;
use super::explain::Wanted;
use super::explain::values::is_remembered;
use super::instances::{Instance, Violated};
use super::monitor::StateSetInterner;
use super::trace::TraceState;
use super::watch::Watch;
use super::world::World;
use crate::hash::SeededMap;
use crate::hir::reads::reads;
use crate::hir::{self, print};
use crate::ids::{ExprId, PropertyId};
use crate::input::deferred::Deferred;
use crate::problem::{Problem, ProblemKind};
use crate::types::Type;
use crate::value::{Instant, Truth, Value};
use crate::verdict::{Limit, PropertyVerdict, TraceReport, Verdict, Why};

/// The start of the year 5138: a later time is probably a number in another unit than seconds.
const FAR: i128 = 100_000_000_000 * Instant::SECOND;

/// Returns the report on a trace. Deferred `texts` of the history are decoded when it is read again.
pub(super) fn report(
    mut state: TraceState<'_>,
    complete: bool,
    wanted: &Wanted,
    texts: Deferred<'_>,
) -> TraceReport {
    let mut verdicts = Vec::with_capacity(state.program.properties.len());
    for property in state.program.property_ids() {
        property_verdicts(&mut state, property, complete, &mut verdicts);
    }
    super::explain::explain(&mut state, &mut verdicts, wanted, texts);
    if state.is_numbered() {
        verdicts
            .iter_mut()
            .for_each(|verdict| in_items(verdict, &state));
    }
    let problems = problems(&mut state);
    TraceReport {
        trace: state.name,
        file: state.source.origin.file,
        line: state.source.origin.line,
        index: state.source.origin.ordinal,
        events: state.run.n_steps,
        verdicts,
        problems,
    }
}

/// Writes the indices in the recording for the positions of steps.
fn in_items(verdict: &mut PropertyVerdict, state: &TraceState<'_>) {
    let Why {
        reasons, overdue, ..
    } = &mut verdict.why;
    let steps = verdict.at.iter_mut().chain(&mut verdict.from);
    let steps = steps.chain(&mut verdict.counterexample);
    let steps = steps.chain(verdict.evidence.iter_mut().map(|shown| &mut shown.step));
    let steps = steps.chain(verdict.undecided_by.iter_mut().map(|open| &mut open.step));
    let steps = steps.chain(
        reasons
            .iter_mut()
            .flat_map(|of| [&mut of.first, &mut of.last]),
    );
    let steps = steps.chain(overdue.iter_mut().flat_map(|of| [&mut of.from, &mut of.at]));
    steps.for_each(|step| *step = state.item(*step));
    verdict.counterexample.dedup();
    let fields = &state.program.spec.schema.fields;
    let place = |name: &SmolStr| fields.iter().position(|field| field.name == *name);
    verdict.undecided_by.dedup_by(|later, first| {
        let same = later.step == first.step;
        if same {
            first.fields.append(&mut later.fields);
            first.fields.sort_by_key(place);
            first.fields.dedup();
        }
        same
    });
}

/// Returns the limit that judging a property exceeds.
fn exceeded(state: &TraceState<'_>, property: usize) -> Option<Limit> {
    let too_many = |world: &World| match &world.watches[property] {
        Watch::Plain { .. } => false,
        Watch::Parametric(instances) => instances.overflow,
    };
    if state.run.overflow {
        Some(Limit::Worlds)
    } else if state.cache.state_sets[property].overflow() {
        Some(Limit::Automata)
    } else {
        let any = state.run.worlds.iter().any(too_many);
        any.then_some(Limit::Instances)
    }
}

fn property_verdicts(
    state: &mut TraceState<'_>,
    property: PropertyId,
    complete: bool,
    into: &mut Vec<PropertyVerdict>,
) {
    let program = state.program;
    let id = property.index();
    let decided = state.run.decided[id];
    let (verdict, at) = match decided {
        Some((verdict, at)) => (verdict, Some(at)),
        None => {
            let verdict = if state.run.overflow {
                Verdict::Unknown
            } else {
                let state_sets = &state.cache.state_sets;
                state
                    .run
                    .status(program, state_sets, id, complete)
                    .verdict(complete)
            };
            (verdict, if complete { state.run.last } else { None })
        }
    };
    let holds = matches!(verdict, Verdict::Satisfied | Verdict::PresumablySatisfied);
    let base = PropertyVerdict {
        property,
        verdict,
        is_final: complete || verdict.is_final(),
        at,
        from: None,
        vacuous: holds
            && program.properties[id].trigger.is_some()
            && !state.run.worlds.iter().any(|world| world.triggered(id)),
        instance: Vec::new(),
        counterexample: Vec::new(),
        message: None,
        undecided_by: Vec::new(),
        exceeded: exceeded(state, id).filter(|_| verdict == Verdict::Unknown),
        evidence: Vec::new(),
        why: Why::default(),
    };
    let instances = if verdict == Verdict::Violated {
        violated(state, id, complete)
    } else {
        Vec::new()
    };
    if instances.is_empty() {
        into.push(base);
        return;
    }
    let names = program.spec.property(property).quantified.as_ref();
    let name = |key: &Key| -> Vec<(SmolStr, Value)> {
        let vars = names.iter().flat_map(|quantified| &quantified.vars);
        vars.zip(key.iter())
            .filter_map(|(var, value)| Some((var.name.clone(), value.clone()?)))
            .collect()
    };
    let one = |instance: &Instance| PropertyVerdict {
        at: instance.at,
        instance: name(&instance.key),
        ..base.clone()
    };
    into.extend(instances.iter().map(one));
}

/// Returns the violated instances of a `forall`, in every way to read the trace.
fn violated(state: &mut TraceState<'_>, id: usize, complete: bool) -> Vec<Instance> {
    let program = state.program;
    let property = &program.properties[id];
    let Some(quantified) = property
        .quantified
        .as_ref()
        .filter(|quantified| quantified.universal)
    else {
        return Vec::new();
    };
    let end = complete.then_some(state.run.last);
    let mut common: Option<Vec<Violated<'_>>> = None;
    for world in &state.run.worlds {
        let Watch::Parametric(instances) = &world.watches[id] else {
            return Vec::new();
        };
        let state_sets = &state.cache.state_sets[id];
        let mut found = instances.violated(property, quantified, state_sets, end);
        if let Some(before) = common {
            let before: SeededMap<&Key, _> =
                before.into_iter().map(|(at, key)| (key, at)).collect();
            found.retain_mut(|(at, key)| match before.get(key) {
                Some(before) => {
                    *at = (*at).max(*before);
                    true
                }
                None => false,
            });
        }
        common = Some(found);
    }
    let mut common = common.unwrap_or_default();
    // A violation before the first event is reported at the first event, even if that is not a step. Constants are
    // already instances.
    if let (true, 0, Some((_, first))) = (
        state.run.worlds.len() > 1,
        quantified.ranged,
        state.run.decided[id],
    ) {
        let before = StateSetInterner::new(&property.automaton);
        let before = before.status(&property.automaton, StateSetInterner::INITIAL);
        let is_constant = |(_, key): &&mut Violated<'_>| {
            let mut places = key.iter().zip(&quantified.vars);
            places.all(|(value, var)| value.as_ref().is_some_and(|v| var.constants.contains(v)))
        };
        if before.fixed && before.now == Truth::False {
            for (at, _) in common.iter_mut().filter(is_constant) {
                *at = Some(first);
            }
        }
    }
    // Earliest first, then by value. `None` is the empty trace and comes first, since all instances exist there.
    common.sort_unstable();
    let (n, most) = (common.len(), program.limits.instances_told);
    common.truncate(most);
    let instance = |(at, key): Violated<'_>| Instance {
        key: key.clone(),
        at,
    };
    let told = common.into_iter().map(instance).collect();
    if n > most {
        let name = &program.spec.properties[id].name;
        let message = format!(
            "`{name}` is violated for {n} values; the first {most} are listed (limit: `instances_told`)"
        );
        let (origin, trace) = (&state.source.origin, &state.name);
        let problem = problem(origin, trace, ProblemKind::LeftOut, message);
        state.problems.push(problem);
    }
    told
}

fn problem(
    origin: &crate::input::record::Origin,
    trace: &SmolStr,
    kind: ProblemKind,
    message: String,
) -> Problem {
    Problem::new(kind, &origin.file, origin.line, message).in_trace(Some(trace.clone()))
}

/// Returns all problems of the data, in order of steps.
pub(super) fn problems(state: &mut TraceState<'_>) -> Vec<Problem> {
    let mut problems = state.take_problems();
    let faults = std::mem::take(&mut state.cache.eval_cache.faults);
    let n_unlisted = state.cache.eval_cache.faults_more;
    let origin = &state.source.origin;
    let mut known = FxHashSet::default();
    for fault in faults {
        // Several expressions that read the same value report the same fault once.
        let item = fault.step.map(|step| state.item(step));
        let error = fault.at.as_ref().map(|(_, error)| error.to_string());
        if !fault.met.is_empty() && !known.insert((item, error, fault.met.clone())) {
            continue;
        }
        let (field, message) = describe(state.program, &fault, true);
        let base = problem(origin, &state.name, ProblemKind::Evaluation, message);
        problems.push(base.at_step(item, field));
    }
    // Problems without a step concern the whole record and come first.
    problems.sort_by_key(|problem| problem.step);
    let mut last = |kind, message| problems.push(problem(origin, &state.name, kind, message));
    if n_unlisted > 0 {
        last(
            ProblemKind::Evaluation,
            format!("{n_unlisted} further evaluation errors were not listed (limit: `problems`)"),
        );
    }
    if let Some(clock) = state.program.clock
        && let Some(field) = state.program.spec.schema.fields.get(clock)
        && field.ty.non_null() == &Type::Time
        && state
            .run
            .worlds
            .iter()
            .any(|world| world.clock.latest > Some(FAR))
    {
        let name = &field.name;
        let message = format!(
            "`{name}` has times after the year 5000: numbers are seconds, unless `in ms`, `in us` or `in ns` stands in its declaration"
        );
        last(ProblemKind::Odd, message);
    }
    if state.run.overflow {
        let message =
            "unknown which events are steps: too many possibilities (limit: `worlds`)".to_owned();
        last(ProblemKind::Limit, message);
    }
    let lost: std::collections::BTreeSet<usize> = state
        .run
        .worlds
        .iter()
        .flat_map(|world| world.tracks.lost())
        .collect();
    for track in lost {
        let name = &state.program.code.tracks[track].name;
        last(
            ProblemKind::Limit,
            format!("track `{name}` exceeds the limit of keys (`instances`)"),
        );
    }
    for (id, property) in state.program.spec.properties.iter().enumerate() {
        if let Some(limit @ (Limit::Automata | Limit::Instances)) = exceeded(state, id) {
            let message = format!("`{}` {}", property.name, limit.reason());
            last(ProblemKind::Limit, message);
        }
    }
    problems
}

/// The greatest number of bytes of an operand's text in a message.
const TERM: usize = 80;

/// The greatest number of properties and tracks that a message names.
const READERS: usize = 3;

/// Returns the field, if there is only one, and the description of the fault; with the values that depend on earlier events only if
/// they are wanted.
pub(super) fn describe(
    program: &Compiled,
    fault: &RawFault,
    remembered: bool,
) -> (Option<SmolStr>, String) {
    let fields = &program.spec.schema.fields;
    match &fault.at {
        None => {
            let clock = program
                .clock
                .and_then(|clock| fields.get(clock))
                .map(|field| field.name.clone());
            (
                clock,
                "the clock runs backwards; the latest time was kept".to_owned(),
            )
        }
        Some((node, error)) => {
            let expr = program.code.info(*node).expr;
            let mut message = error.to_string();
            // Which list an element is of is not known here.
            let is_shown =
                |node: NodeId| remembered || !is_remembered(&program.code, node, |_| true);
            let met = fault.met.iter().filter(|(operand, _)| is_shown(*operand));
            for (place, (operand, value)) in met.enumerate() {
                let operand = program.code.info(*operand).expr;
                let term = print::expr(&program.spec, operand, &[], TERM);
                let join = if place == 0 { ": " } else { ", " };
                message.push_str(&format!("{join}{term} = {value}"));
            }
            let readers = program.readers(expr);
            if !readers.is_empty() {
                message.push_str(&format!(" (read by {readers})"));
            }
            (field_of(&program.spec, expr), message)
        }
    }
}

impl Compiled {
    /// Returns the readers of an expression: the first few properties and tracks, and the conditions on events and records.
    fn readers(&self, expr: ExprId) -> &str {
        let all = self.readers.get_or_init(|| {
            let spec = &*self.spec;
            let mut names: Vec<Vec<String>> = vec![Vec::new(); spec.exprs.len()];
            let mut add = |roots: Vec<ExprId>, name: String| {
                let mut todo = roots;
                let mut seen: FxHashSet<ExprId> = FxHashSet::default();
                while let Some(id) = todo.pop() {
                    if seen.insert(id) {
                        let names = &mut names[id.index()];
                        if !names.contains(&name) {
                            names.push(name.clone());
                        }
                        todo.extend(spec.exprs.operands(id));
                    }
                }
            };
            for property in &spec.properties {
                let letters = spec.formulas.atoms_of(property.formula).into_iter();
                let letters = letters.map(|letter| spec.atom(letter).expr);
                let vars = property
                    .quantified
                    .iter()
                    .flat_map(|quantified| &quantified.vars);
                let terms = vars.flat_map(|var| {
                    var.terms
                        .iter()
                        .chain(&var.element_terms)
                        .chain(&var.range)
                        .copied()
                });
                add(
                    letters.chain(terms).collect(),
                    format!("`{}`", property.name),
                );
            }
            for track in &spec.tracks {
                add(
                    vec![track.update, track.init],
                    format!("track `{}`", track.name),
                );
            }
            let filter = &spec.filter;
            add(filter.step.into_iter().collect(), "`where`".to_owned());
            let record = [filter.record, filter.complete].into_iter().flatten();
            add(record.collect(), "`trace`".to_owned());
            let text = |names: Vec<String>| match names.len() {
                0..=READERS => names.join(", "),
                n => format!("{} and {} more", names[..READERS].join(", "), n - READERS),
            };
            names.into_iter().map(text).collect()
        });
        all.get(expr.index()).map_or("", String::as_str)
    }
}

fn field_of(spec: &hir::Spec, expr: crate::ids::ExprId) -> Option<SmolStr> {
    let fields = reads(spec, [expr]).fields;
    let mut fields = fields.iter();
    match (fields.next(), fields.next()) {
        (Some(only), None) => spec
            .schema
            .fields
            .get(*only)
            .map(|field| field.name.clone()),
        _ => None,
    }
}
