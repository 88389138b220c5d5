//! Builds the chain of a model: its reachable states, breadth first.

use std::cell::RefCell;

use super::super::chain::{Chain, ChainBuilder, ChainError, Rewards};
use super::super::scalar::Scalar;
use super::super::text::{TextError, TextPosition};
use super::super::valuation::{Slot, Valuations, Variable};
use super::code::{BoolCode, EvalError, IntCode, RealCode, Test, from_int};
use super::compile::{Definitions, Scope};
use super::initial::{initial_states, variable};
use super::model::{Model, VariableDeclaration};
use super::parser::Parsed;
use super::reads::Kept;
use super::sync::{Sync, syncs};
use super::table::StateTable;

/// Limits on the size of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest number of states.
    pub max_states: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_states: 100_000_000,
        }
    }
}

/// The result of exploring a model.
#[derive(Debug)]
pub struct Explored<V> {
    /// The chain.
    pub chain: Chain<V>,
    /// The names of the model with their meanings, for properties.
    pub scope: Scope,
    /// The number of states that had no transition and got a self-loop.
    pub deadlocks: usize,
    /// Two commands of a module that are enabled in one state, if there are such.
    pub overlap: Option<Overlap>,
}

/// Two commands of one module that are enabled in the same state: each is taken with the same probability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The positions of the commands.
    pub places: [TextPosition; 2],
    /// The first such state.
    pub state: String,
}

/// Builds the chain of a model; `given` holds the values of its constants.
///
/// # Errors
/// Undeclared names, type errors, values outside their ranges, probabilities that do not sum to 1, and more states than
/// the limit. Errors in a state name the state and, if known, the position of the command.
pub fn explore<V: Scalar>(
    model: &Model,
    given: &Definitions,
    limits: &Limits,
) -> Result<Explored<V>, TextError> {
    let mut scope = Scope::default();
    scope.for_numbers_of::<V>();
    scope.add_constants(&model.constants, given)?;
    scope.add_formulas(&model.formulas);
    let declared: Vec<&VariableDeclaration> = model
        .globals
        .iter()
        .chain(model.modules.iter().flat_map(|module| &module.variables))
        .collect();
    let mut variables = Vec::with_capacity(declared.len());
    let mut start = Vec::with_capacity(declared.len());
    for declaration in &declared {
        let (variable, value) = variable(&scope, declaration)?;
        if variables
            .iter()
            .any(|other: &Variable| other.name == variable.name)
        {
            return Err(TextError::new(
                declaration.place,
                format!("variable `{}` is declared twice", variable.name),
            ));
        }
        variables.push(variable);
        start.push(value);
    }
    let mut valuations = Valuations::new(variables);
    scope.add_variables(&valuations);
    let program = Program::<V>::new(model, &scope, &valuations)?;
    let initial = initial_states(model, &scope, &valuations, &start, limits)?;
    let mut table = StateTable::new();
    let mut first = Vec::with_capacity(initial.len());
    for state in &initial {
        first.push(table.number(&mut valuations, state).0);
    }
    let mut builder = ChainBuilder::with_capacity(0, 0);
    let mut earned: Vec<Vec<V>> = vec![Vec::new(); program.rewards.len()];
    let mut step: Vec<Vec<V>> = vec![Vec::new(); program.rewards.len()];
    let mut walk = Walk::default();
    let mut overlap = None;
    let mut source = vec![0; valuations.words()];
    let mut at = 0u32;
    while (at as usize) < valuations.len() {
        source.copy_from_slice(valuations.state(at));
        let in_state = |wrong: TextError, valuations: &Valuations| {
            let message = format!("{} (in state {})", wrong.message, valuations.text(at));
            TextError { message, ..wrong }
        };
        program
            .choices(&source, &mut walk)
            .map_err(|wrong| in_state(wrong, &valuations))?;
        if overlap.is_none()
            && let Some(places) = program.overlap(&walk)
        {
            let state = valuations.text(at);
            overlap = Some(Overlap { places, state });
        }
        let choices = V::from_f64(walk.choices.len() as f64);
        for choice in 0..walk.choices.len() {
            // A rounded number of each command, their product, and the quotient.
            let commands = walk.choices[choice].1.len();
            let operations = 2 * commands - usize::from(walk.choices.len() == 1);
            builder.given_within(operations as f64);
            let found = program.branches(&source, choice, &mut walk);
            found.map_err(|wrong| in_state(wrong, &valuations))?;
            for (target, probability) in walk.targets.chunks(valuations.words()).zip(&walk.weights)
            {
                let (number, _) = table.number(&mut valuations, target);
                let probability = if walk.choices.len() == 1 {
                    probability.clone()
                } else {
                    probability.over(&choices)
                };
                builder.transition(number, probability);
            }
        }
        for (which, rewards) in program.rewards.iter().enumerate() {
            let found = rewards.of(&program, &source, &walk, &choices);
            let (state, transition) = found.map_err(|wrong| in_state(wrong, &valuations))?;
            earned[which].push(state);
            step[which].push(transition);
        }
        builder.end_row().map_err(|wrong| {
            let first = walk
                .chosen
                .first()
                .map(|first| program.commands[*first].place);
            let message = match wrong {
                ChainError::RowSum { sum, .. } => format!(
                    "the probabilities out of state {} sum to {sum} instead of 1",
                    valuations.text(at)
                ),
                other => other.to_string(),
            };
            TextError::new(first.unwrap_or(TextPosition::line(1)), message)
        })?;
        if valuations.len() > limits.max_states {
            return Err(TextError::new(
                TextPosition::line(1),
                format!("the model has more than {} states", limits.max_states),
            )
            .help("raise the limit with --max-states, or choose smaller constants"));
        }
        at += 1;
    }
    let deadlocks = builder.deadlocks().len();
    let chain = builder.finish(first, Some(valuations));
    let mut chain =
        chain.map_err(|wrong| TextError::new(TextPosition::line(1), wrong.to_string()))?;
    for ((declaration, state), step) in model.rewards.iter().zip(earned).zip(step) {
        let or_none = |values: Vec<V>| {
            if values.iter().all(Scalar::is_zero) {
                Vec::new()
            } else {
                values
            }
        };
        chain
            .add_rewards(Rewards {
                name: declaration.name.clone(),
                state: or_none(state),
                step: or_none(step),
            })
            .map_err(|wrong| TextError::new(TextPosition::line(1), wrong.to_string()))?;
    }
    for (name, label) in &model.labels {
        let code = scope.bool_code(label, "a label")?;
        let set = states_where(&chain, &code)
            .map_err(|wrong| TextError::new(label.place, wrong.to_string()))?;
        chain.add_label(name, set);
    }
    Ok(Explored {
        chain,
        scope,
        deadlocks,
        overlap,
    })
}

/// Returns the states in which an expression holds.
pub(super) fn states_where<V: Scalar>(
    chain: &Chain<V>,
    code: &BoolCode,
) -> Result<guard_automata::graph::NodeSet, EvalError> {
    let mut set = chain.graph().none();
    let mut kept = code
        .has_fractions()
        .then(|| Kept::new(|each| code.reads(each)));
    for state in 0..chain.len() {
        let values = chain
            .valuations()
            .map_or(&[][..], |valuations| valuations.state(state as u32));
        let holds = match &mut kept {
            Some(kept) => kept.get(values, || code.eval(values)),
            None => code.eval(values),
        };
        if holds? {
            set.insert(state);
        }
    }
    Ok(set)
}

/// A compiled command.
struct Ready<V> {
    /// The index of its module.
    module: usize,
    guard: BoolCode,
    branches: Vec<Branch<V>>,
    place: TextPosition,
}

/// A probability or a reward: a fraction, rounded once.
enum Number<V> {
    Fixed(V),
    Varying(RealCode, RefCell<Kept<V>>),
}

impl<V: Scalar> Number<V> {
    fn new(code: RealCode) -> Number<V> {
        match code {
            RealCode::Const(value) => Number::Fixed(V::from_rational(&value)),
            RealCode::Int(IntCode::Const(value)) => {
                Number::Fixed(V::from_rational(&from_int(value)))
            }
            code => {
                let kept = Kept::new(|each| code.reads(each));
                Number::Varying(code, kept.into())
            }
        }
    }

    fn eval(&self, state: &[u64]) -> Result<V, EvalError> {
        match self {
            Number::Fixed(value) => Ok(value.clone()),
            Number::Varying(code, kept) => {
                let value = || code.eval(state).map(|value| V::from_rational(&value));
                kept.borrow_mut().get(state, value)
            }
        }
    }
}

struct Branch<V> {
    probability: Number<V>,
    /// The position of the probability.
    place: TextPosition,
    updates: Vec<(usize, IntCode)>,
}

/// The commands of one part of a synchronisation. If most guards require a value of one variable, only the commands
/// that require its current value, or none, are candidates.
struct ModulePart {
    all: Vec<usize>,
    index: Option<(Slot, i64, Vec<Vec<usize>>)>,
}

struct Program<V> {
    commands: Vec<Ready<V>>,
    syncs: Vec<(Sync, Vec<ModulePart>)>,
    rewards: Vec<ReadyRewards<V>>,
    slots: Vec<Slot>,
    variables: Vec<Variable>,
}

struct ReadyRewards<V> {
    state: Vec<(BoolCode, Number<V>, TextPosition)>,
    step: Vec<(String, BoolCode, Number<V>, TextPosition)>,
}

/// Working memory for expanding one state.
struct Walk<V> {
    /// The enabled combinations: the synchronisation, and the range of its commands in `chosen`.
    choices: Vec<(usize, std::ops::Range<usize>)>,
    chosen: Vec<usize>,
    enabled: Vec<Vec<usize>>,
    targets: Vec<u64>,
    weights: Vec<V>,
}

impl<V> Default for Walk<V> {
    fn default() -> Self {
        Walk {
            choices: Vec::new(),
            chosen: Vec::new(),
            enabled: Vec::new(),
            targets: Vec::new(),
            weights: Vec::new(),
        }
    }
}

/// The largest number of combinations of commands that may be enabled in one state, and of their branches.
const MAX_CHOICES: usize = 1_000_000;

/// Returns the number of combinations of this many members each, or `None` if it exceeds [`MAX_CHOICES`].
fn product(mut counts: impl Iterator<Item = usize>) -> Option<usize> {
    let within = |count: &usize| *count <= MAX_CHOICES;
    counts.try_fold(1, |all: usize, count| all.checked_mul(count).filter(within))
}

impl<V: Scalar> Program<V> {
    fn new(model: &Model, scope: &Scope, valuations: &Valuations) -> Parsed<Program<V>> {
        let variables = valuations.variables();
        let mut commands = Vec::new();
        let mut first = Vec::new();
        for (number, module) in model.modules.iter().enumerate() {
            first.push(commands.len());
            for command in &module.commands {
                let mut branches = Vec::with_capacity(command.branches.len());
                for (probability, assignments) in &command.branches {
                    let place = probability.as_ref().map_or(command.place, |of| of.place);
                    let probability = match probability {
                        Some(expr) => Number::new(scope.real_code(expr, "a probability")?),
                        None => Number::Fixed(V::one()),
                    };
                    let mut updates = Vec::with_capacity(assignments.len());
                    for assignment in assignments {
                        let known = variables
                            .iter()
                            .position(|variable| variable.name == assignment.variable);
                        let Some(at) = known else {
                            return Err(TextError::new(
                                assignment.place,
                                format!("`{}` is not a variable", assignment.variable),
                            ));
                        };
                        let own = module
                            .variables
                            .iter()
                            .any(|v| v.name == assignment.variable);
                        let global = model.globals.iter().any(|v| v.name == assignment.variable);
                        if !own && !global {
                            return Err(TextError::new(
                                assignment.place,
                                format!(
                                    "module `{}` assigns `{}`, which belongs to another module",
                                    module.name, assignment.variable
                                ),
                            ));
                        }
                        let value = if variables[at].is_bool {
                            let code = scope.bool_code(&assignment.value, "the new value")?;
                            IntCode::If(
                                Box::new(code),
                                Box::new(IntCode::Const(1)),
                                Box::new(IntCode::Const(0)),
                            )
                        } else {
                            scope.int_code(&assignment.value, "the new value")?
                        };
                        updates.push((at, value));
                    }
                    branches.push(Branch {
                        probability,
                        place,
                        updates,
                    });
                }
                commands.push(Ready {
                    module: number,
                    guard: scope.bool_code(&command.guard, "a guard")?,
                    branches,
                    place: command.place,
                });
            }
        }
        let mut rewards = Vec::new();
        for declaration in &model.rewards {
            let mut ready = ReadyRewards {
                state: Vec::new(),
                step: Vec::new(),
            };
            for item in &declaration.items {
                let guard = scope.bool_code(&item.guard, "the condition of a reward")?;
                let value = Number::new(scope.real_code(&item.value, "a reward")?);
                match &item.action {
                    None => ready.state.push((guard, value, item.value.place)),
                    Some(action) => {
                        ready
                            .step
                            .push((action.clone(), guard, value, item.value.place));
                    }
                }
            }
            rewards.push(ready);
        }
        let syncs = syncs(model, &first)?
            .into_iter()
            .map(|sync| {
                let parts = sync
                    .parts
                    .iter()
                    .map(|part| ModulePart::new(part, &commands))
                    .collect();
                (sync, parts)
            })
            .collect();
        Ok(Program {
            commands,
            syncs,
            rewards,
            slots: valuations.slots().to_vec(),
            variables: variables.to_vec(),
        })
    }

    /// Finds the enabled combinations of commands in a state.
    fn choices(&self, state: &[u64], walk: &mut Walk<V>) -> Parsed<()> {
        walk.choices.clear();
        walk.chosen.clear();
        for (which, (_, parts)) in self.syncs.iter().enumerate() {
            walk.enabled
                .resize_with(parts.len().max(walk.enabled.len()), Vec::new);
            let mut blocked = false;
            for (part, enabled) in parts.iter().zip(&mut walk.enabled) {
                enabled.clear();
                for &command in part.candidates(state) {
                    let ready = &self.commands[command];
                    let holds = ready.guard.eval(state);
                    if holds.map_err(|wrong| TextError::new(ready.place, wrong.to_string()))? {
                        enabled.push(command);
                    }
                }
                if enabled.is_empty() {
                    blocked = true;
                    break;
                }
            }
            if blocked {
                continue;
            }
            let enabled = &walk.enabled[..parts.len()];
            let count = product(enabled.iter().map(Vec::len));
            let count = count.filter(|count| walk.choices.len() + count <= MAX_CHOICES);
            let Some(count) = count else {
                return Err(TextError::new(
                    self.commands[enabled[0][0]].place,
                    format!(
                        "more than {MAX_CHOICES} combinations of commands are enabled in a state"
                    ),
                ));
            };
            for mut number in 0..count {
                let begin = walk.chosen.len();
                for part in enabled {
                    walk.chosen.push(part[number % part.len()]);
                    number /= part.len();
                }
                walk.choices.push((which, begin..walk.chosen.len()));
            }
        }
        Ok(())
    }

    /// Returns the positions of two commands of one module that are both enabled.
    fn overlap(&self, walk: &Walk<V>) -> Option<[TextPosition; 2]> {
        if walk.choices.len() < 2 {
            return None;
        }
        let mut chosen: Vec<(usize, usize)> = walk
            .chosen
            .iter()
            .map(|command| (self.commands[*command].module, *command))
            .collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen.windows(2).find_map(|pair| match pair {
            [(one, first), (other, second)] if one == other => {
                Some([*first, *second].map(|command| self.commands[command].place))
            }
            _ => None,
        })
    }

    /// Computes the branches of one enabled combination.
    fn branches(&self, state: &[u64], choice: usize, walk: &mut Walk<V>) -> Parsed<()> {
        let words = state.len();
        let chosen = &walk.chosen[walk.choices[choice].1.clone()];
        if product(chosen.iter().map(|at| self.commands[*at].branches.len())).is_none() {
            return Err(TextError::new(
                self.commands[chosen[0]].place,
                format!("commands that act together have more than {MAX_CHOICES} branches"),
            ));
        }
        walk.targets.clear();
        walk.weights.clear();
        walk.targets.extend_from_slice(state);
        walk.weights.push(V::one());
        for at in walk.choices[choice].1.clone() {
            let command = &self.commands[walk.chosen[at]];
            let failed = |wrong: EvalError| TextError::new(command.place, wrong.to_string());
            let before = walk.weights.len();
            let mut sum = V::zero();
            for (number, branch) in command.branches.iter().enumerate() {
                let probability = branch.probability.eval(state).map_err(failed)?;
                // The form of the condition rejects NaN too.
                let is_sound = probability >= V::zero()
                    && probability.to_f64() <= 1.0 + super::super::chain::ROW_TOLERANCE;
                if !is_sound {
                    let text = probability.text();
                    let message = format!("the probability {text} is not between 0 and 1");
                    return Err(TextError::new(branch.place, message));
                }
                sum = sum.plus(&probability);
                let last = number + 1 == command.branches.len();
                for other in 0..before {
                    // The last branch overwrites the previous entries, so that none of them remains.
                    let slot = if last { other } else { walk.weights.len() };
                    let weight = walk.weights[other].times(&probability);
                    if last {
                        walk.weights[slot] = weight;
                    } else {
                        walk.weights.push(weight);
                        walk.targets
                            .extend_from_within(other * words..(other + 1) * words);
                    }
                    let target = &mut walk.targets[slot * words..(slot + 1) * words];
                    for (variable, value) in &branch.updates {
                        let value = value.eval(state).map_err(failed)?;
                        let range = &self.variables[*variable];
                        if value < range.low || value > range.high {
                            return Err(TextError::new(
                                command.place,
                                format!(
                                    "`{}` would become {value}, outside {}..{}",
                                    range.name, range.low, range.high
                                ),
                            ));
                        }
                        self.slots[*variable].set(target, value);
                    }
                }
            }
            let wrong = (sum.to_f64() - 1.0).abs() > super::super::chain::ROW_TOLERANCE;
            if wrong || sum.to_f64().is_nan() {
                return Err(TextError::new(
                    command.place,
                    format!(
                        "the probabilities of this command sum to {} instead of 1",
                        sum.to_f64()
                    ),
                ));
            }
        }
        Ok(())
    }
}

impl ModulePart {
    fn new<V>(all: &[usize], commands: &[Ready<V>]) -> ModulePart {
        // The variable whose value most guards require.
        let mut counts: Vec<(Slot, usize, i64, i64)> = Vec::new();
        for &command in all {
            for (slot, value) in tested(&commands[command].guard) {
                match counts.iter_mut().find(|entry| entry.0 == slot) {
                    Some(entry) => {
                        entry.1 += 1;
                        entry.2 = entry.2.min(value);
                        entry.3 = entry.3.max(value);
                    }
                    None => counts.push((slot, 1, value, value)),
                }
            }
        }
        let best = counts.into_iter().max_by_key(|entry| entry.1);
        let index = best
            .filter(|&(_, count, low, high)| count > 3 && high.abs_diff(low) < 10_000)
            .map(|(slot, _, low, high)| {
                // The last list is for all values that no guard requires.
                let mut lists = vec![Vec::new(); high.abs_diff(low) as usize + 2];
                for &command in all {
                    let asked = tested(&commands[command].guard).find(|test| test.0 == slot);
                    match asked {
                        Some((_, value)) => lists[value.abs_diff(low) as usize].push(command),
                        None => lists.iter_mut().for_each(|list| list.push(command)),
                    }
                }
                (slot, low, lists)
            });
        ModulePart {
            all: all.to_vec(),
            index,
        }
    }

    fn candidates(&self, state: &[u64]) -> &[usize] {
        match &self.index {
            None => &self.all,
            Some((slot, low, lists)) => {
                let at = slot.get(state).wrapping_sub(*low);
                let last = lists.len() - 1;
                &lists[usize::try_from(at).map_or(last, |at| at.min(last))]
            }
        }
    }
}

/// Returns the variables that a guard requires to have a certain value, with that value.
fn tested(guard: &BoolCode) -> impl Iterator<Item = (Slot, i64)> {
    let parts = match guard {
        BoolCode::And(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    };
    parts.iter().filter_map(|part| match part {
        BoolCode::Is(slot, Test::Equal, value) => Some((*slot, *value)),
        _ => None,
    })
}

/// Returns the value of a reward.
fn reward<V: Scalar>(value: &Number<V>, state: &[u64], place: TextPosition) -> Parsed<V> {
    let value = value.eval(state);
    let value = value.map_err(|wrong| TextError::new(place, wrong.to_string()))?;
    if value >= V::zero() && value.to_f64() < f64::INFINITY {
        return Ok(value);
    }
    let text = value.text();
    let message = format!("unsupported reward {text}: expected a finite number of at least 0");
    Err(TextError::new(place, message))
}

impl<V: Scalar> ReadyRewards<V> {
    /// Returns the reward of a state and the mean reward of a step out of it.
    fn of(
        &self,
        program: &Program<V>,
        state: &[u64],
        walk: &Walk<V>,
        choices: &V,
    ) -> Parsed<(V, V)> {
        let mut earned = Vec::new();
        let failed =
            |place: TextPosition| move |wrong: EvalError| TextError::new(place, wrong.to_string());
        for (guard, value, place) in &self.state {
            if guard.eval(state).map_err(failed(*place))? {
                earned.push(reward(value, state, *place)?);
            }
        }
        let mut step = Vec::new();
        for (action, guard, value, place) in &self.step {
            let matching = walk
                .choices
                .iter()
                .filter(|choice| program.syncs[choice.0].0.action == *action)
                .count();
            if matching > 0 && guard.eval(state).map_err(failed(*place))? {
                let value = reward(value, state, *place)?;
                let count = V::from_f64(matching as f64);
                step.push(value.times(&count).over(choices));
            }
        }
        Ok((V::sum(&earned), V::sum(&step)))
    }
}
