//! The view of a step that `enforce` clauses are judged on, before the step is left.

use smol_str::{SmolStr, format_smolstr};

use super::code::NodeId;
use super::compiled::{Depends, WatchedCode};
use super::explain::counted::Counted;
use super::explain::values::deciding;
use super::expr::{Eval, Frame};
use super::monitor::{Automaton, StateSetId};
use super::report::describe;
use super::run::{Run, StepView};
use super::text;
use super::watch::Watch;
use crate::hir::print;
use crate::ids::PropertyId;
use crate::value::{Cell, Truth, Value};
use crate::verdict::{Reason, Verdict};
use guard_automata::{Atom, Path, Traces, eval_partial, why_false, why_pending};

/// The reason why a clause cannot be decided if nothing of the step itself is unknown.
const EARLIER: &str = "data of an earlier step is unknown";

/// The length of the text of a condition in a message, in bytes.
const MOST_TEXT: usize = 80;

/// The status of a clause at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClauseStatus {
    /// For `when`: whether the condition holds. For a property: whether this step violates it; unknown if that depends
    /// on unknown values.
    pub fires: Truth,
    /// Whether the property was violated before and remains violated; unknown if it may have been.
    pub lasts: Truth,
    /// The verdict for the clause. For `G φ` after a violation it is the verdict on `G φ` from the next step on.
    pub verdict: Verdict,
}

/// The reason why it is unknown whether a property is violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It depends on the outcome of the action.
    Outcome,
    /// A value could not be read or evaluated.
    Error(String),
}

/// A pending obligation.
#[derive(Clone, Debug, PartialEq)]
pub struct Obligation {
    /// The property that requires it.
    pub property: PropertyId,
    /// The values of the quantified variables.
    pub instance: Vec<(SmolStr, Value)>,
    /// The number of steps left, if the bound is in steps.
    pub steps: Option<u32>,
    /// The deadline on the clock of the trace (attoseconds), if the bound is in time.
    pub until: Option<i128>,
    /// The letters that would discharge the obligation soonest, as written in the spec.
    pub wants: Vec<SmolStr>,
}

impl StepView<'_> {
    /// Returns the verdict on a property after this step.
    pub fn verdict(&self, property: PropertyId) -> Verdict {
        let state_sets = &self.cache.state_sets;
        let verdict = self.run.verdict(self.program, state_sets, property).verdict;
        if !self.complete || verdict.is_final() {
            return verdict;
        }
        let status = self
            .run
            .status(self.program, state_sets, property.index(), true);
        status.verdict(true)
    }

    /// Returns the known facts about the record.
    pub fn meta(&self) -> &[Cell] {
        self.meta
    }

    /// Returns the status of a clause.
    pub fn clause_status(&mut self, clause: usize) -> ClauseStatus {
        match self.program.clauses.watched[clause] {
            WatchedCode::When(condition) => {
                let place = self.program.clauses.watched[..clause].iter();
                let place = place
                    .filter(|other| matches!(other, WatchedCode::When(_)))
                    .count();
                let mut fires = if self.complete {
                    Truth::False
                } else {
                    let truth = self.with_eval(&[], |eval| eval.letter(condition));
                    truth.unwrap_or(Truth::Unknown)
                };
                if self
                    .elsewhere
                    .get(place)
                    .is_some_and(|other| *other != fires)
                {
                    fires = Truth::Unknown;
                }
                ClauseStatus {
                    fires,
                    lasts: Truth::False,
                    verdict: Verdict::Unknown,
                }
            }
            WatchedCode::Property(property, again) => self.property_status(clause, property, again),
            WatchedCode::Elsewhere => ClauseStatus {
                fires: Truth::False,
                lasts: Truth::False,
                verdict: Verdict::Unknown,
            },
        }
    }

    fn property_status(
        &self,
        clause: usize,
        property: PropertyId,
        again: Option<usize>,
    ) -> ClauseStatus {
        let state_sets = &self.cache.state_sets;
        let before = self.before.map(|before| before.violated[clause]);
        let before = before.unwrap_or(Truth::False);
        let after = if self.complete {
            match self.verdict(property) {
                Verdict::Violated => Truth::True,
                Verdict::Unknown => Truth::Unknown,
                _ => Truth::False,
            }
        } else {
            self.run
                .violated(self.program, state_sets, property.index())
        };
        let turned = match (before, after) {
            (Truth::True, _) | (_, Truth::False) => Truth::False,
            (_, Truth::True) => Truth::True,
            // It may have been violated before. The step counts if it may violate what was not violated.
            (Truth::Unknown, Truth::Unknown) => {
                let newly = self
                    .before
                    .and_then(|before| before.newly_violated.get(clause));
                match newly {
                    None | Some(Truth::False) => Truth::False,
                    Some(_) => Truth::Unknown,
                }
            }
            (Truth::False, Truth::Unknown) => Truth::Unknown,
        };
        let Some(again) = again else {
            return ClauseStatus {
                fires: turned,
                // What it prohibits is not allowed where it may have been violated.
                lasts: match (before, after) {
                    (Truth::True, _) => Truth::True,
                    (Truth::Unknown, Truth::Unknown) => Truth::Unknown,
                    _ => Truth::False,
                },
                verdict: self.verdict(property),
            };
        };
        let status = self.run.status(self.program, state_sets, again, false);
        let violated = if self.complete {
            // A violation at the last step was reported there.
            match (
                status.now,
                self.run.violated(self.program, state_sets, again),
            ) {
                (Truth::False, Truth::False) => Truth::True,
                (Truth::Unknown, _) => Truth::Unknown,
                _ => Truth::False,
            }
        } else {
            self.run.violated(self.program, state_sets, again)
        };
        let fires = turned.or(violated);
        let verdict = match fires {
            Truth::True => Verdict::Violated,
            _ => status.verdict(self.complete),
        };
        ClauseStatus {
            fires,
            lasts: Truth::False,
            verdict,
        }
    }

    /// Whether an obligation of the property of a clause can be pending: the end of some trace violates it, and a later step may still
    /// satisfy it.
    pub fn may_owe(&self, clause: usize) -> bool {
        let WatchedCode::Property(property, _) = self.program.clauses.watched[clause] else {
            return false;
        };
        let property = &self.program.properties[property.index()];
        let Automaton::Dfa { statuses, .. } = &*property.automaton else {
            return true;
        };
        let is_universal = property.quantified.as_ref().is_none_or(|of| of.universal);
        let mut statuses = statuses.iter();
        !is_universal || statuses.any(|one| one.verdict(false) == Verdict::PresumablyViolated)
    }

    /// Returns the reason why it is unknown whether a clause fires. `awaited` are the positions of fields that exist only
    /// after the action has happened; empty for events that happened.
    pub fn doubt(&mut self, clause: usize, awaited: &[usize]) -> Doubt {
        let depends = &self.program.clauses.depends[clause];
        let why = self.fault(depends).or_else(|| {
            let is_earlier = self.is_doubtful_before(clause, depends);
            match (self.unknown_field(depends, awaited), is_earlier) {
                (Some(field), true) => Some(format!("{field}, here or at an earlier step")),
                (None, true) => Some(EARLIER.to_owned()),
                (field, false) => field,
            }
        });
        let is_awaited = |field: &usize| {
            awaited.contains(field) && self.cells.get(*field) == Some(&Cell::Unknown)
        };
        let reads_outcome = depends.fields.iter().any(is_awaited);
        match why {
            Some(why) => Doubt::Error(why),
            None if reads_outcome => match self.unknown_beside(clause) {
                Some(why) => Doubt::Error(why),
                None => Doubt::Outcome,
            },
            None if depends.todo => Doubt::Error("a `todo` is unknown".to_owned()),
            None => Doubt::Error(EARLIER.to_owned()),
        }
    }

    /// Returns the description of a part of a clause that does not read the outcome of the action and is unknown at this step: a
    /// `todo`, a value that is `unknown`, or a count of steps whose time is not known.
    fn unknown_beside(&mut self, clause: usize) -> Option<String> {
        let (spec, code) = (self.program.spec(), &self.program.code);
        let mut parts = self.program.clauses.depends[clause].beside_outcomes.iter();
        let is_unknown = |eval: &mut Eval<'_>| {
            parts
                .find(|part| eval.cell(**part) == Cell::Unknown)
                .copied()
        };
        let part = self.with_eval(&[], is_unknown).flatten()?;
        let text = print::expr(spec, code.info(part).expr, &[], MOST_TEXT);
        Some(format!("`{text}` is unknown"))
    }

    /// Returns an error met by an expression of the clause at this step.
    fn fault(&self, depends: &Depends) -> Option<String> {
        self.cache.eval_cache.faults.iter().find_map(|fault| {
            let (node, _) = fault.at.as_ref()?;
            let expr = self.program.code.info(*node).expr;
            if !depends.exprs.contains(&expr) {
                return None;
            }
            let (field, message) = describe(self.program, fault, false);
            Some(match field {
                Some(field) => format!("field `{field}`: {message}"),
                None => message,
            })
        })
    }

    /// Returns the description of an unknown field, other than fields that exist only after the action.
    fn unknown_field(&self, depends: &Depends, awaited: &[usize]) -> Option<String> {
        let schema = &self.program.spec.schema;
        let clock = self.program.clock;
        // At an end or a deadline there is no event.
        let is_event = self.cache.eval_cache.step.is_some();
        let fields = depends.fields.iter().chain(&clock);
        let mut fields = fields.filter(|_| is_event);
        let field = fields.find_map(|field| match self.cells.get(*field)? {
            Cell::Unknown => (!awaited.contains(field)).then_some((*field, false)),
            Cell::Known(Value::Null) => (clock == Some(*field)).then_some((*field, true)),
            Cell::Known(_) => None,
        });
        if let Some((field, is_null)) = field
            && let Some(field) = schema.fields.get(field)
        {
            let name = &field.name;
            return Some(match is_null {
                true => format!("field `{name}` is null, so bounds in time cannot be judged"),
                false => format!("field `{name}` is unknown"),
            });
        }
        let mut meta = depends.meta.iter();
        let field = meta.find(|field| self.meta.get(**field) == Some(&Cell::Unknown))?;
        let field = schema.meta.get(*field)?;
        Some(format!("`meta.{}` is unknown", field.name))
    }

    /// Whether the state of the trace was already uncertain before this step.
    fn is_doubtful_before(&self, clause: usize, depends: &Depends) -> bool {
        let Some(run) = self.before.and_then(|before| before.run) else {
            return false;
        };
        let state_sets = &self.cache.state_sets;
        let watched = match self.program.clauses.watched[clause] {
            WatchedCode::When(_) | WatchedCode::Elsewhere => [None, None],
            WatchedCode::Property(property, again) => [Some(property.index()), again],
        };
        let doubtful = |run: &Run| {
            run.overflow
                || run.worlds.len() > 1
                || run.worlds.iter().any(|world| {
                    let watches = || watched.iter().flatten();
                    watches().any(|id| match &world.watches[*id] {
                        Watch::Plain { state_set, .. } => state_sets[*id].is_doubtful(*state_set),
                        Watch::Parametric(instances) => instances.is_doubtful(&state_sets[*id]),
                    }) || watches().any(|id| state_sets[*id].overflow())
                        || depends
                            .tracks
                            .iter()
                            .any(|track| world.tracks.is_doubtful(*track))
                        || (depends.history
                            && world
                                .registers
                                .iter()
                                .any(super::register::Register::is_doubtful))
                })
        };
        doubtful(run)
    }

    /// Returns the values for which the property of a clause is violated at this step; if there are several, the least.
    pub fn instance(&self, clause: usize) -> Vec<Option<Value>> {
        let WatchedCode::Property(property, again) = self.program.clauses.watched[clause] else {
            return Vec::new();
        };
        let found = [again, Some(property.index())].into_iter().flatten();
        let mut found = found.filter_map(|id| {
            let code = &self.program.properties[id];
            let quantified = code.quantified.as_ref()?;
            self.run
                .worlds
                .iter()
                .find_map(|world| match &world.watches[id] {
                    Watch::Parametric(instances) if self.complete => {
                        let owing =
                            instances.owing(code, quantified, &self.cache.state_sets[id], 1);
                        owing.into_iter().next().map(|(key, _)| key)
                    }
                    Watch::Parametric(instances) => {
                        instances.violated_now(code, quantified, &self.cache.state_sets[id])
                    }
                    Watch::Plain { .. } => None,
                })
        });
        found.next().map(|key| key.to_vec()).unwrap_or_default()
    }

    /// Returns the names of the quantified variables of a clause with these values.
    pub fn named(&self, clause: usize, values: &[Option<Value>]) -> Vec<(SmolStr, Value)> {
        match self.program.clauses.watched[clause] {
            WatchedCode::When(_) | WatchedCode::Elsewhere => Vec::new(),
            WatchedCode::Property(property, _) => self.name(property, values),
        }
    }

    fn name(&self, property: PropertyId, values: &[Option<Value>]) -> Vec<(SmolStr, Value)> {
        let quantified = self.program.spec.property(property).quantified.as_ref();
        let vars = quantified
            .into_iter()
            .flat_map(|quantified| &quantified.vars);
        vars.zip(values)
            .filter_map(|(var, value)| Some((var.name.clone(), value.clone()?)))
            .collect()
    }

    /// Returns the conditions at this step that count against a clause for these values, with the values that they
    /// read. Earlier steps are not kept, so their conditions are not included.
    pub fn reasons(
        &mut self,
        clause: usize,
        name: &SmolStr,
        values: &[Option<Value>],
        step: u32,
    ) -> Vec<Reason> {
        let program = self.program;
        let property = match program.clauses.watched[clause] {
            WatchedCode::Property(property, _) => property,
            WatchedCode::When(condition) => return self.reasons_of(condition, name, step),
            WatchedCode::Elsewhere => return Vec::new(),
        };
        let (spec, code) = (program.spec(), &program.properties[property.index()]);
        let of = spec.property(property);
        if of.quantified.is_some() && values.is_empty() {
            return Vec::new();
        }
        let judged = code.judged(spec, of);
        let path = Path {
            times: &[0],
            past_open: true,
            future_open: !self.complete,
        };
        let vars = of.quantified.iter().flat_map(|quantified| &quantified.vars);
        let names: Vec<SmolStr> = vars.map(|var| var.name.clone()).collect();
        let found = self.with_eval(values, |eval| {
            let letters = code.letters.iter();
            let row: Vec<Truth> = letters.map(|letter| eval.letter(letter.node)).collect();
            let formula = judged.each.unwrap_or(judged.whole);
            let letter =
                |_: usize, atom: Atom| row.get(atom.0 as usize).copied().and_then(Truth::known);
            let here = eval_partial(&judged.formulas, formula, path, letter);
            let why = if here == [Some(false)] {
                why_false(&judged.formulas, formula, path, 0, letter)
            } else {
                why_pending(&judged.formulas, formula, path, 0, letter)
            };
            let known = why.reasons.iter().filter(|reason| reason.value.is_some());
            let reason = known.filter_map(|reason| {
                let letter = code.letters.get(reason.atom.0 as usize)?;
                let found = deciding(
                    program,
                    eval,
                    letter.node,
                    &spec.atom(letter.id).text,
                    &names,
                    &Counted::default(),
                );
                Some(Reason {
                    first: step,
                    last: step,
                    atom: Some((letter.id, 0)),
                    condition: spec.atom(letter.id).text.clone(),
                    truth: reason.value.map_or(Truth::Unknown, Truth::from),
                    parts: found.parts,
                    values: found.values,
                })
            });
            reason.collect()
        });
        found.unwrap_or_default()
    }

    /// Returns the values that the condition of an `enforce when` reads at this step.
    fn reasons_of(&mut self, condition: NodeId, name: &SmolStr, step: u32) -> Vec<Reason> {
        let program = self.program;
        let reason = self.with_eval(&[], |eval| {
            let truth = eval.letter(condition);
            let found = deciding(program, eval, condition, name, &[], &Counted::default());
            Reason {
                first: step,
                last: step,
                atom: None,
                condition: name.clone(),
                truth,
                parts: found.parts,
                values: found.values,
            }
        });
        reason.into_iter().collect()
    }

    /// Returns the message of an arm with its values, or `None` if it has no message of its own.
    pub fn message(
        &mut self,
        clause: usize,
        arm: usize,
        values: &[Option<Value>],
    ) -> Option<String> {
        let program = self.program;
        let message = program.clauses.arm_texts[clause][arm].message.as_ref()?;
        self.with_eval(values, |eval| text::fill(message, eval))
    }

    /// Returns the arguments of an arm's `invoke`; unknown ones are null.
    pub fn args(
        &mut self,
        clause: usize,
        arm: usize,
        values: &[Option<Value>],
    ) -> Vec<(Option<SmolStr>, Value)> {
        let program = self.program;
        let args = &program.clauses.arm_texts[clause][arm].args;
        self.with_eval(values, |eval| {
            let value = |cell: Cell| match cell {
                Cell::Known(value) => value,
                Cell::Unknown => Value::Null,
            };
            args.iter()
                .map(|(name, node)| (name.clone(), value(eval.cell(*node))))
                .collect()
        })
        .unwrap_or_default()
    }

    /// Returns the pending obligations of a property after this step; for at most `most` instances.
    pub fn obligations(&self, property: PropertyId, most: usize) -> Vec<Obligation> {
        let id = self.again(property).unwrap_or(property.index());
        let code = &self.program.properties[id];
        let state_sets = &self.cache.state_sets[id];
        let Some(world) = self.run.worlds.first() else {
            return Vec::new();
        };
        let at: Vec<(Vec<Option<Value>>, StateSetId)> = match (&world.watches[id], &code.quantified)
        {
            (Watch::Plain { state_set, .. }, _) => {
                let open = state_sets.status(&code.automaton, *state_set).now != Truth::True;
                open.then_some((Vec::new(), *state_set))
                    .into_iter()
                    .collect()
            }
            (Watch::Parametric(instances), Some(quantified)) => instances
                .owing(code, quantified, state_sets, most)
                .into_iter()
                .map(|(key, state_set)| (key.to_vec(), state_set))
                .collect(),
            (Watch::Parametric(_), None) => Vec::new(),
        };
        // An obligation that was just violated is no longer pending.
        at.into_iter()
            .filter(|(_, state_set)| {
                state_sets.violated(&code.automaton, *state_set) != Truth::True
            })
            .map(|(values, state_set)| Obligation {
                property,
                instance: self.name(property, &values),
                until: state_sets.deadline(state_set, i128::MIN),
                ..self.prospect(property, &code.automaton, state_set)
            })
            .collect()
    }

    /// Returns the index of the property that monitors a property after violations.
    fn again(&self, property: PropertyId) -> Option<usize> {
        self.program
            .clauses
            .watched
            .iter()
            .find_map(|watched| match watched {
                WatchedCode::Property(other, again) if *other == property => *again,
                _ => None,
            })
    }

    /// Returns the deadline of the next obligation, and the letters that discharge it.
    fn prospect(
        &self,
        property: PropertyId,
        automaton: &Automaton,
        state_set: StateSetId,
    ) -> Obligation {
        let mut obligations = Obligation {
            property,
            instance: Vec::new(),
            steps: None,
            until: None,
            wants: Vec::new(),
        };
        let Automaton::Dfa {
            dfa,
            states,
            violated,
            ..
        } = automaton
        else {
            return obligations;
        };
        let Some(state) = states.get(state_set as usize) else {
            return obligations;
        };
        let bad = |state: guard_automata::StateId| violated[state.index()];
        let lost = dfa.shortest_from(*state, Traces::NonEmpty, bad);
        obligations.steps = lost.and_then(|word| u32::try_from(word.len()).ok());
        let met = dfa.shortest_from(*state, Traces::NonEmpty, |state| dfa.accepting(state));
        let letters = &self.program.properties[property.index()].letters;
        let mut wants: Vec<SmolStr> = Vec::new();
        for (atom, holds) in met.into_iter().flatten().flatten() {
            if let Some(letter) = letters.get(atom.0 as usize).filter(|_| holds) {
                let text = &self.program.spec.atom(letter.id).text;
                if !wants.contains(text) {
                    wants.push(text.clone());
                }
            }
        }
        obligations.wants = wants;
        obligations
    }

    /// Evaluates a closure at this step.
    pub(super) fn with_eval<T>(
        &mut self,
        values: &[Option<Value>],
        look: impl FnOnce(&mut Eval<'_>) -> T,
    ) -> Option<T> {
        let world = self.run.worlds.first()?;
        let eval_cache = &mut self.cache.eval_cache;
        let mut eval = world.eval(&self.program.code, self.cells, self.meta, eval_cache);
        Some(look(&mut eval.instance(values, Frame::NONE)))
    }

    /// Returns the evaluation errors of the step.
    pub fn faults(&self) -> Vec<SmolStr> {
        let faults = self.cache.eval_cache.faults.iter();
        faults
            .map(|fault| match describe(self.program, fault, false) {
                (Some(field), message) => format_smolstr!("field `{field}`: {message}"),
                (None, message) => SmolStr::from(message),
            })
            .collect()
    }
}
