//! The search for a short sequence of events on which the specs differ, where the trace of an automaton could not be made
//! into events.
//!
//! First, the events that show another difference are tried. Sequences are made of a pool of events: those of the `test` blocks of both specs; those that the domain search proposes
//! for each value of a condition, for combinations of these, and for each case of a track; and events of tests with a field of another event, without a
//! field, or without a word of a text. Of events that give all conditions and tracks the same values, one is in the pool. Sequences are extended in order of their length;
//! of those that leave automata and tracks in the same state, the first one.

use std::time::Instant;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::witness::Bench;
use crate::domain::{self, Given, Goal, Work};
use crate::eval;
use crate::hir::reads::{reads, visit};
use crate::hir::{Bound, Expr, Formula};
use crate::ids::{ExprId, FormulaId, PropertyId, TrackId};
use crate::replay::{Limits, Replay};
use crate::types::Type;
use crate::value::{self, Object, Value};

/// Events that sequences are made of.
const POOL: usize = 60;
/// Events of which the pool is chosen.
const CANDIDATES: usize = 500;
/// Conditions of which all combinations of values are tried.
const FEW: usize = 4;
/// Words of a text that is shortened.
const WORDS: usize = 8;
/// Conditions that distinguish events.
const CONDITIONS: usize = 96;
/// Sequences that one search judges.
const SEQUENCES: usize = 4_000;
/// The steps of the longest sequence.
const LONGEST: usize = 8;

/// A sequence: for each event its place in the pool, and the time since the event before.
type Sequence = Vec<(usize, i128)>;

/// The specs' view of sequences.
struct Observer {
    replay: Replay,
    /// The number of observed expressions that are remembered from step to step, which come first; the others are conditions.
    n_remembered: usize,
    /// Whether the state of automata and tracks decides what may follow.
    is_complete: bool,
}

impl Bench<'_> {
    /// Searches a short sequence of events that is accepted. It is about these properties and conditions. Deterministic, as
    /// long as there is time: each search may take half of what is left, so that none takes it all.
    ///
    /// # Errors
    /// The time is up.
    pub(super) fn search(
        &mut self,
        properties: &[PropertyId],
        roots: &[ExprId],
        accept: impl FnMut(&mut Self, &[domain::Event]) -> bool,
    ) -> Result<Option<Vec<domain::Event>>, String> {
        let begun = Instant::now();
        let until = begun + self.search_left / 2;
        let found = self.search_until(until, properties, roots, accept);
        self.search_left = self.search_left.saturating_sub(begun.elapsed());
        found
    }

    fn search_until(
        &mut self,
        until: Instant,
        properties: &[PropertyId],
        roots: &[ExprId],
        mut accept: impl FnMut(&mut Self, &[domain::Event]) -> bool,
    ) -> Result<Option<Vec<domain::Event>>, String> {
        let is_late = || Instant::now() >= until;
        let tests = self.tests();
        for events in self.shown.clone().iter().chain(&tests) {
            for length in 1..=events.len() {
                let part = &events[..length];
                if accept(self, part) {
                    return Ok(Some(part.to_vec()));
                }
                if is_late() {
                    return Err(late());
                }
            }
        }
        let observer = self.observer(properties, roots);
        let pool = self.pool(roots, &tests, observer.as_ref(), &is_late);
        if is_late() {
            return Err(late());
        }
        if pool.is_empty() {
            return Ok(None);
        }
        let gaps = self.gaps(properties, roots);
        let mut left = SEQUENCES;
        let mut seen = FxHashSet::default();
        let mut waiting: std::collections::VecDeque<Sequence> = [Vec::new()].into();
        let is_complete = observer.as_ref().is_some_and(|of| of.is_complete);
        // If something else than the state decides what may follow, half of the sequences are made without regard to it.
        let kept = if is_complete { 0 } else { SEQUENCES / 2 };
        while let Some(sequence) = waiting.pop_front() {
            for (place, gap) in
                (0..pool.len()).flat_map(|place| gaps.iter().map(move |gap| (place, *gap)))
            {
                if left <= kept {
                    break;
                }
                // Time passes between events.
                if sequence.is_empty() && gap != gaps[0] {
                    continue;
                }
                left -= 1;
                let mut longer = sequence.clone();
                longer.push((place, gap));
                let events = self.sequence(&pool, &longer, &gaps, roots);
                if accept(self, &events) {
                    return Ok(Some(events));
                }
                if is_late() {
                    return Err(late());
                }
                if longer.len() >= LONGEST {
                    continue;
                }
                let state = observer
                    .as_ref()
                    .and_then(|observer| self.state(observer, &events, false));
                if state.is_none_or(|state| seen.insert(state)) {
                    waiting.push_back(longer);
                }
            }
        }
        let mut random = random(&pool, &gaps, left);
        while let Some(sequence) = random() {
            let events = self.sequence(&pool, &sequence, &gaps, roots);
            if accept(self, &events) {
                return Ok(Some(events));
            }
            if is_late() {
                return Err(late());
            }
        }
        Ok(None)
    }

    fn sequence(
        &self,
        pool: &[domain::Event],
        sequence: &[(usize, i128)],
        gaps: &[i128],
        roots: &[ExprId],
    ) -> Vec<domain::Event> {
        let mut events = Vec::with_capacity(sequence.len());
        let mut times = Vec::with_capacity(sequence.len());
        let mut now = 0_i128;
        for (place, gap) in sequence {
            if !times.is_empty() {
                now = now.saturating_add(*gap);
            }
            times.push(now);
            events.push(pool[*place].clone());
        }
        // Times that no bound asks for are left out.
        let times = if gaps.len() > 1 { times } else { Vec::new() };
        self.set_times(&mut events, &times);
        self.complete(&mut events, roots);
        events
    }

    /// Returns the times that pass between events: a second, and those at which the bounds of the formulas, and the windows of
    /// these conditions, end.
    pub(super) fn gaps(&self, properties: &[PropertyId], roots: &[ExprId]) -> Vec<i128> {
        let spec = &self.joint.spec;
        let mut ends: Vec<i128> = Vec::new();
        visit(spec, roots.iter().copied(), |id| {
            if let Expr::Count { window, .. } | Expr::Past(_, window, ..) = spec.exprs.get(id)
                && let Some(Bound::Time(low, high)) = window
            {
                ends.extend([*low, *high]);
            }
        });
        let mut todo: Vec<FormulaId> = properties
            .iter()
            .map(|id| spec.property(*id).formula)
            .collect();
        while let Some(id) = todo.pop() {
            if let Formula::Unary(_, Some(Bound::Time(low, high)), _)
            | Formula::Binary(_, Some(Bound::Time(low, high)), ..) = spec.formulas.get(id)
            {
                ends.extend([*low, *high]);
            }
            todo.extend(spec.formulas.operands(id));
        }
        let after = |end: i128| end.saturating_add(value::Instant::SECOND);
        let gaps = ends.into_iter().flat_map(|end| [end, after(end)]);
        let gaps = gaps.filter(|gap| *gap > 0);
        let mut gaps: Vec<i128> = std::iter::once(value::Instant::SECOND)
            .chain(gaps)
            .collect();
        gaps.sort_unstable();
        gaps.dedup();
        gaps.truncate(8);
        gaps
    }

    /// Returns what observes the joint spec with these properties; `None` if it is beyond the limits.
    fn observer(&self, properties: &[PropertyId], roots: &[ExprId]) -> Option<Observer> {
        let mut spec = self.joint.spec.clone();
        spec.retain_properties(|id, _| properties.contains(&id));
        let plain = |id: &PropertyId| {
            let property = self.joint.spec.property(*id);
            property.quantified.is_none() && !spec.formulas.is_timed(property.formula)
        };
        let all = self.parts(roots);
        let mut is_complete = properties.iter().all(plain);
        // What expressions remember: the state has it beside automata and tracks.
        let mut observed: Vec<ExprId> = Vec::new();
        for id in &all {
            let remembered = match spec.exprs.get(*id) {
                Expr::Before(of) => vec![*of],
                // When what is in a window leaves it is not part of the state.
                Expr::Count { window, .. } => {
                    is_complete &= window.is_none();
                    vec![*id]
                }
                Expr::Past(_, window, of, _) => {
                    is_complete &= window.is_none();
                    vec![*id, *of]
                }
                Expr::Track(_, args) => {
                    is_complete &= args.is_empty();
                    Vec::new()
                }
                _ => Vec::new(),
            };
            for id in remembered {
                let is_fixed = reads(&spec, [id]).vars.is_empty();
                is_complete &= is_fixed;
                if is_fixed && !observed.contains(&id) {
                    observed.push(id);
                }
            }
        }
        let n_remembered = observed.len();
        let conditions = all
            .into_iter()
            .filter(|id| self.is_condition(*id) && reads(&spec, [*id]).vars.is_empty());
        observed.extend(conditions.take(CONDITIONS));
        let replay = Replay::observing(
            &spec,
            &observed,
            &eval::Limits::default(),
            Limits::default(),
        );
        Some(Observer {
            replay: replay.ok()?,
            n_remembered,
            is_complete,
        })
    }

    /// Returns the state after a sequence as text: of automata, tracks and what expressions remember, and of conditions if they
    /// are wanted.
    fn state(
        &self,
        observer: &Observer,
        events: &[domain::Event],
        conditions: bool,
    ) -> Option<String> {
        let steps = observer.replay.steps(&self.joint_record(events)).steps;
        let last = steps.last()?;
        let (values, atoms) = match conditions {
            true => (last.values.as_slice(), last.atoms.as_slice()),
            false => (last.values.get(..observer.n_remembered)?, [].as_slice()),
        };
        Some(format!(
            "{:?} {:?} {:?} {values:?} {atoms:?}",
            last.tracks, last.states, last.verdicts
        ))
    }

    /// Returns the expressions that these conditions are made of, with those of the tracks that they read. Bodies of
    /// quantifiers are left out: their variables have no single value.
    fn parts(&self, roots: &[ExprId]) -> Vec<ExprId> {
        let spec = &self.joint.spec;
        let mut seen = vec![false; spec.exprs.len()];
        let mut parts = Vec::new();
        let mut todo: Vec<ExprId> = roots.iter().rev().copied().collect();
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            parts.push(id);
            match spec.exprs.get(id) {
                Expr::Track(track, args) => {
                    if args.is_empty() {
                        todo.push(spec.track(*track).update);
                    }
                    todo.extend(args.iter().copied());
                }
                Expr::Quantifier { .. } => {}
                _ => todo.extend(spec.exprs.operands(id)),
            }
        }
        parts
    }

    fn is_condition(&self, id: ExprId) -> bool {
        let spec = &self.joint.spec;
        matches!(spec.exprs.ty(id).non_null(), Type::Bool)
            && !matches!(
                spec.exprs.get(id),
                Expr::Const(_) | Expr::Unknown | Expr::Todo(_)
            )
    }

    /// Returns the events that sequences are made of.
    fn pool(
        &self,
        roots: &[ExprId],
        tests: &[Vec<domain::Event>],
        observer: Option<&Observer>,
        is_late: &impl Fn() -> bool,
    ) -> Vec<domain::Event> {
        let proposed = self.proposed(roots);
        let recorded: Vec<&domain::Event> = tests.iter().flatten().collect();
        let mut candidates: Vec<domain::Event> = Vec::new();
        let mut add = |event: domain::Event| {
            if candidates.len() < CANDIDATES && !candidates.contains(&event) {
                candidates.push(event);
            }
        };
        for event in &recorded {
            add((*event).clone());
        }
        for event in &proposed {
            add(event.clone());
        }
        for event in &recorded {
            for (field, value) in &event.fields {
                let mut without = (*event).clone();
                without.fields.remove(field);
                add(without);
                for value in without_a_word(value) {
                    let mut changed = (*event).clone();
                    changed.fields.insert(*field, value);
                    add(changed);
                }
            }
        }
        for event in &recorded {
            let others = recorded.iter().copied().chain(&proposed);
            for (field, value) in others.flat_map(|event| &event.fields) {
                let mut changed = (*event).clone();
                changed.fields.insert(*field, value.clone());
                add(changed);
            }
        }
        let mut seen = FxHashSet::default();
        candidates.retain(|event| {
            if is_late() {
                return false;
            }
            let mut alone = vec![event.clone()];
            self.set_times(&mut alone, &[]);
            self.complete(&mut alone, roots);
            let state = observer.and_then(|observer| self.state(observer, &alone, true));
            state.is_none_or(|state| seen.insert(state))
        });
        candidates.truncate(POOL);
        candidates
    }

    /// Returns events that give conditions each value, and tracks the value of each of their cases.
    fn proposed(&self, roots: &[ExprId]) -> Vec<domain::Event> {
        let spec = &self.joint.spec;
        let parts = self.parts(roots);
        let tracks: Vec<TrackId> = parts
            .iter()
            .filter_map(|id| match spec.exprs.get(*id) {
                Expr::Track(track, _) => Some(*track),
                _ => None,
            })
            .collect();
        let mut all: Vec<Vec<Goal>> = Vec::new();
        let conditions = parts.iter().filter(|id| self.is_condition(**id));
        all.extend(conditions.flat_map(|id| [vec![(*id, true)], vec![(*id, false)]]));
        all.extend(combined(roots));
        for track in tracks {
            self.cases(spec.track(track).update, &mut Vec::new(), &mut all);
        }
        let mut work = Work::new(2_000_000, 20_000);
        let mut given = Given::default();
        let mut events: Vec<domain::Event> = Vec::new();
        for mut goals in all.into_iter().take(CANDIDATES) {
            goals.extend(self.required());
            let Some(event) = domain::event(spec, &goals, &given, &mut work) else {
                continue;
            };
            given.meta.clone_from(&event.meta);
            if !event.vars.is_empty() {
                given.vars.clone_from(&event.vars);
            }
            if !events.contains(&event) {
                events.push(event);
            }
        }
        events
    }

    /// Adds for each case of an expression the conditions that lead to it.
    fn cases(&self, id: ExprId, under: &mut Vec<Goal>, all: &mut Vec<Vec<Goal>>) {
        if all.len() >= CANDIDATES {
            return;
        }
        let spec = &self.joint.spec;
        match spec.exprs.get(id) {
            Expr::If(condition, then, other) => {
                for (truth, case) in [(true, *then), (false, *other)] {
                    under.push((*condition, truth));
                    self.cases(case, under, all);
                    under.pop();
                }
            }
            _ => {
                let before = all.len();
                for operand in spec.exprs.operands(id) {
                    self.cases(operand, under, all);
                }
                if all.len() == before && !under.is_empty() && all.last() != Some(under) {
                    all.push(under.clone());
                }
            }
        }
    }
}

/// Returns the combinations of values of a few conditions, and of each two of many.
fn combined(conditions: &[ExprId]) -> Vec<Vec<Goal>> {
    let mut conditions = conditions.to_vec();
    conditions.sort_unstable();
    conditions.dedup();
    if conditions.len() <= FEW {
        let value = |combination: usize| {
            let places = conditions.iter().enumerate();
            let goal = |(place, id): (usize, &ExprId)| (*id, combination >> place & 1 == 1);
            places.map(goal).collect()
        };
        return (0..1 << conditions.len()).map(value).collect();
    }
    let pairs = conditions.iter().enumerate().flat_map(|(place, first)| {
        let others = conditions[place + 1..].iter();
        others.flat_map(move |second| {
            let values = [(true, true), (true, false), (false, true)];
            values.map(|(one, other)| vec![(*first, one), (*second, other)])
        })
    });
    pairs.take(CANDIDATES).collect()
}

/// Returns the reason why a search ended without an answer.
fn late() -> String {
    "the search for events was stopped (limit: `search_seconds`)".to_owned()
}

/// Returns so many random sequences, one at a time: few different events in each, because tracks and counts depend on
/// repetitions.
fn random<'p>(
    pool: &'p [domain::Event],
    gaps: &'p [i128],
    mut left: usize,
) -> impl FnMut() -> Option<Sequence> + use<'p> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    move || {
        left = left.checked_sub(1)?;
        let length = 2 + random(LONGEST - 1);
        let some: Vec<usize> = (0..3).map(|_| random(pool.len())).collect();
        let one = |_| (some[random(some.len())], gaps[random(gaps.len())]);
        Some((0..length).map(one).collect())
    }
}

/// Returns a value once without each word of each text in it.
fn without_a_word(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => {
            let words: Vec<&str> = text.split_whitespace().collect();
            if !(2..=WORDS).contains(&words.len()) {
                return Vec::new();
            }
            let without = |place: usize| {
                let kept: Vec<&str> = [&words[..place], &words[place + 1..]].concat();
                Value::string(kept.join(" "))
            };
            (0..words.len()).map(without).collect()
        }
        Value::Object(object) => {
            let members: Vec<(SmolStr, Value)> = object
                .iter()
                .map(|(name, member)| (name.clone(), member.clone()))
                .collect();
            let changed = |place: usize| {
                let members = &members;
                without_a_word(&members[place].1)
                    .into_iter()
                    .filter_map(move |value| {
                        let mut members = members.clone();
                        members[place].1 = value;
                        Some(Value::Object(Object::new(members).ok()?))
                    })
            };
            (0..members.len()).flat_map(changed).collect()
        }
        _ => Vec::new(),
    }
}
