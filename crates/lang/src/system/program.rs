//! The compiled commands of a system: from a packed state to its successors.

use std::borrow::Cow;
use std::ops::ControlFlow;

use crate::hir::system::{Command, Next, Reward, SystemKind, Update};
use crate::hir::{Exprs, Spec, fraction, system};
use crate::ids::{ExprId, StateVarId, SystemId};
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use smol_str::SmolStr;

use super::SystemError;
use super::code::{Compiler, Fault, Many, Number, Test};
use super::exact::Exact;
use super::layout::{Layout, Slot};

/// The greatest number of commands that synchronisation may produce.
const MAX_COMMANDS: usize = 100_000;

/// A system compiled for exploration.
pub struct Program {
    /// The layout of packed states.
    pub layout: Layout,
    /// The names of the commands, by number.
    pub commands: Vec<SmolStr>,
    compiled: Vec<Compiled>,
    dispatch: Option<Dispatch>,
    /// The conditions on initial states.
    pub(super) inits: Vec<ExprId>,
    /// The reward structures.
    pub(super) rewards: Vec<Reward>,
    /// Whether commands have probabilities; then exactly one command is enabled in each state.
    pub(super) has_chances: bool,
}

/// One command.
struct Compiled {
    guard: Vec<Test>,
    branches: Vec<Branch>,
    /// The probabilities of the branches, if they are the same in every state.
    chances: Option<Vec<f64>>,
}

/// One branch.
struct Branch {
    /// The factors of its probability: one from each component that takes part.
    chance: Vec<Exact>,
    /// Bits that are cleared and set, by word.
    constant: Vec<(usize, u64, u64)>,
    computed: Vec<(Slot, Number, StateVarId)>,
    chosen: Vec<(Slot, Choices, StateVarId)>,
}

/// The values that a variable may get.
enum Choices {
    /// Positions.
    Known(Vec<u64>),
    /// Every position.
    All(u64),
    Computed(Many),
}

/// The commands to try, for each value of the variable that most guards test.
struct Dispatch {
    slot: Slot,
    commands: Vec<Vec<u32>>,
}

/// A fault in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// A probability of the command has no value.
    Chance(usize, Fault),
    /// A probability of the command is not between 0 and 1.
    NoProbability(usize, String),
    /// The probabilities of the command do not sum to 1.
    Sum(usize, String),
    /// The guard of the command has no value.
    Guard(usize, Fault),
    /// The next value of a variable cannot be evaluated.
    Value(usize, StateVarId, Fault),
    /// The next value is not in the range of the variable.
    Range(usize, StateVarId, i64),
}

/// One combination of branches of a command, before compilation: one branch of each component that takes part.
#[derive(Clone)]
struct Joint<'a> {
    guards: Vec<ExprId>,
    branches: Vec<JointBranch<'a>>,
}

#[derive(Clone, Default)]
struct JointBranch<'a> {
    probability: Vec<ExprId>,
    updates: Vec<&'a Update>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Program");
        shown
            .field("layout", &self.layout)
            .field("commands", &self.commands);
        shown.finish_non_exhaustive()
    }
}

impl Program {
    /// Compiles a system, or a composition in which commands with the same name happen together.
    ///
    /// A component is *open* if there are others: at any step the others may move instead and change those of their variables
    /// that the component or an expression in `about` reads; they may also do so together with shared commands.
    ///
    /// # Errors
    /// [`SystemError`], if synchronisation produces too many commands.
    pub fn new(spec: &Spec, id: SystemId, about: &[ExprId]) -> Result<Program, SystemError> {
        let declared = spec.system(id);
        let parts: Vec<SystemId> = match &declared.kind {
            SystemKind::Composition(parts) => parts.clone(),
            SystemKind::System | SystemKind::Component => vec![id],
        };
        let mut vars: Vec<StateVarId> = parts
            .iter()
            .flat_map(|part| spec.system(*part).vars.clone())
            .collect();
        let own = vars.len();
        if declared.kind == SystemKind::Component {
            let mut roots = declared.roots();
            roots.extend_from_slice(about);
            let read = system::state_vars(&spec.exprs, roots);
            vars.extend(
                read.into_iter()
                    .filter(|var| spec.state_var(*var).owner != id),
            );
        }
        let layout = Layout::new(spec, vars);
        let mut program = Program {
            inits: parts
                .iter()
                .flat_map(|part| spec.system(*part).inits.clone())
                .collect(),
            rewards: parts
                .iter()
                .flat_map(|part| spec.system(*part).rewards.clone())
                .collect(),
            has_chances: parts
                .iter()
                .any(|part| spec.system(*part).is_probabilistic()),
            layout,
            commands: Vec::new(),
            compiled: Vec::new(),
            dispatch: None,
        };
        let environment: Vec<StateVarId> = program.layout.vars()[own..].to_vec();
        let mut names: Vec<SmolStr> = Vec::new();
        for part in &parts {
            for command in &spec.system(*part).commands {
                if !names.contains(&command.name) {
                    names.push(command.name.clone());
                }
            }
        }
        for name in names {
            let shared = !environment.is_empty() && is_shared(spec, id, &name);
            for joint in joint(spec, &parts, &name)? {
                let free = if shared { environment.as_slice() } else { &[] };
                program.add(spec, name.clone(), &joint, free);
                if program.compiled.len() > MAX_COMMANDS {
                    return Err(SystemError::Commands(MAX_COMMANDS));
                }
            }
        }
        // Others may move while this component waits, and may refuse shared commands, whether or not the component
        // reads their variables.
        let others = spec
            .systems
            .iter()
            .filter(|other| other.kind == SystemKind::Component)
            .count();
        if declared.kind == SystemKind::Component && others > 1 {
            let nothing = Joint {
                guards: Vec::new(),
                branches: vec![JointBranch::default()],
            };
            program.add(
                spec,
                SmolStr::new_static("(environment)"),
                &nothing,
                &environment,
            );
        }
        program.dispatch = program.dispatch();
        Ok(program)
    }

    fn add(&mut self, spec: &Spec, name: SmolStr, joint: &Joint<'_>, free: &[StateVarId]) {
        let layout = &self.layout;
        let mut compiler = Compiler::new(&spec.exprs, layout);
        let mut guard: Vec<Test> = Vec::new();
        for id in &joint.guards {
            conjuncts(&mut compiler, *id, &mut guard);
        }
        let guard = merged(guard);
        if guard.iter().any(|test| matches!(test, Test::Const(false))) {
            return;
        }
        let branches: Vec<Branch> = joint
            .branches
            .iter()
            .map(|branch| compile_branch(&mut compiler, branch, free))
            .collect();
        self.commands.push(name);
        let chances = Self::known_chances(&branches);
        self.compiled.push(Compiled {
            guard,
            branches,
            chances,
        });
    }

    /// Returns the variable that most guards test, if a dispatch on it is useful.
    fn dispatch(&self) -> Option<Dispatch> {
        const MAX_VALUES: u64 = 4096;
        let asks = |command: &Compiled, slot: &Slot| {
            command.guard.iter().find_map(|test| match test {
                Test::Is(word, mask, bits)
                    if *word == slot.word && mask & slot.mask == slot.mask =>
                {
                    Some((bits & slot.mask) >> slot.shift)
                }
                _ => None,
            })
        };
        let count = |slot: &Slot| {
            self.compiled
                .iter()
                .filter(|command| asks(command, slot).is_some())
                .count()
        };
        let slots = self
            .layout
            .slots()
            .iter()
            .filter(|slot| slot.len <= MAX_VALUES);
        let slot = *slots.max_by_key(|slot| count(slot))?;
        if count(&slot) < 3 {
            return None;
        }
        let mut commands = vec![Vec::new(); slot.len as usize];
        for (number, command) in self.compiled.iter().enumerate() {
            match asks(command, &slot) {
                Some(position) => {
                    if let Some(list) = commands.get_mut(position as usize) {
                        list.push(number as u32);
                    }
                }
                None => commands
                    .iter_mut()
                    .for_each(|list| list.push(number as u32)),
            }
        }
        Some(Dispatch { slot, commands })
    }

    /// Calls `visit` with each command that is enabled in a state, by its number.
    pub(super) fn enabled(
        &self,
        state: &[u64],
        mut visit: impl FnMut(usize) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let mut attempt = |number: usize| {
            for test in &self.compiled[number].guard {
                match test.eval(state) {
                    Ok(true) => {}
                    Ok(false) => return Ok(()),
                    Err(fault) => return Err(Wrong::Guard(number, fault)),
                }
            }
            visit(number)
        };
        match &self.dispatch {
            Some(dispatch) => {
                let position = dispatch.slot.index(state) as usize;
                for number in dispatch.commands.get(position).into_iter().flatten() {
                    attempt(*number as usize)?;
                }
            }
            None => (0..self.compiled.len()).try_for_each(attempt)?,
        }
        Ok(())
    }

    /// Calls `visit` with each successor by a command, and the branch that leads there, until it returns `Break`.
    pub(super) fn fire(
        &self,
        number: usize,
        state: &[u64],
        scratch: &mut Vec<u64>,
        mut visit: impl FnMut(usize, &[u64]) -> ControlFlow<()>,
    ) -> Result<(), Wrong> {
        for (at, branch) in self.compiled[number].branches.iter().enumerate() {
            scratch.clear();
            scratch.extend_from_slice(state);
            for (word, clear, set) in &branch.constant {
                scratch[*word] = scratch[*word] & !clear | set;
            }
            for (slot, value, var) in &branch.computed {
                let value = value
                    .eval(state)
                    .map_err(|fault| Wrong::Value(number, *var, fault))?;
                let position = slot
                    .position(value)
                    .ok_or(Wrong::Range(number, *var, value))?;
                slot.set(scratch, position);
            }
            let flow = if branch.chosen.is_empty() {
                visit(at, scratch)
            } else {
                let mut lists: Vec<(Slot, Positions<'_>)> = Vec::with_capacity(branch.chosen.len());
                for (slot, choices, var) in &branch.chosen {
                    lists.push((*slot, choices.positions(*slot, state, number, *var)?));
                }
                choose(&lists, scratch, &mut |next| visit(at, next))
            };
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the probability of each branch of a command in a state.
    pub(super) fn chances(
        &self,
        exprs: &Exprs,
        number: usize,
        state: &[u64],
    ) -> Result<Vec<f64>, Wrong> {
        let Compiled { chances, .. } = &self.compiled[number];
        // Constant probabilities were checked when the spec was checked.
        if let Some(chances) = chances {
            return Ok(chances.clone());
        }
        let exact = self.exact_chances(exprs, number, state)?;
        let nearest = |chance: &BigRational| chance.to_f64().unwrap_or(0.0);
        Ok(exact.iter().map(nearest).collect())
    }

    /// Returns the same probabilities as exact fractions.
    pub(super) fn exact_chances(
        &self,
        exprs: &Exprs,
        number: usize,
        state: &[u64],
    ) -> Result<Vec<BigRational>, Wrong> {
        let branches = &self.compiled[number].branches;
        let mut sum: BigRational = Zero::zero();
        let mut chances = Vec::with_capacity(branches.len());
        for branch in branches {
            let mut chance: BigRational = One::one();
            for factor in &branch.chance {
                chance *= factor
                    .eval(exprs, state)
                    .map_err(|fault| Wrong::Chance(number, fault))?;
            }
            if !fraction::is_probability(&chance) {
                return Err(Wrong::NoProbability(number, fraction::show(&chance)));
            }
            sum += &chance;
            chances.push(chance);
        }
        match fraction::is_one(&sum) {
            true => Ok(chances),
            false => Err(Wrong::Sum(number, fraction::show(&sum))),
        }
    }

    /// Returns the probabilities of the branches of a command, if they are the same in every state.
    fn known_chances(branches: &[Branch]) -> Option<Vec<f64>> {
        let chance = |branch: &Branch| {
            let factors: Option<Vec<&BigRational>> =
                branch.chance.iter().map(Exact::constant).collect();
            let product = factors?
                .into_iter()
                .fold(BigRational::one(), |product, factor| product * factor);
            product.to_f64()
        };
        branches.iter().map(chance).collect()
    }
}

impl Choices {
    fn positions(
        &self,
        slot: Slot,
        state: &[u64],
        number: usize,
        var: StateVarId,
    ) -> Result<Positions<'_>, Wrong> {
        let many = match self {
            Choices::Known(positions) => return Ok(Positions::Listed(positions.into())),
            Choices::All(len) => return Ok(Positions::All(*len)),
            Choices::Computed(many) => many,
        };
        let items = many
            .items(state)
            .map_err(|fault| Wrong::Value(number, var, fault))?;
        let mut positions = Vec::with_capacity(items.len());
        for item in items {
            let value = item
                .eval(state)
                .map_err(|fault| Wrong::Value(number, var, fault))?;
            let position = slot
                .position(value)
                .ok_or(Wrong::Range(number, var, value))?;
            if !positions.contains(&position) {
                positions.push(position);
            }
        }
        Ok(Positions::Listed(positions.into()))
    }
}

/// The positions that a variable may get in one state.
enum Positions<'a> {
    Listed(Cow<'a, [u64]>),
    All(u64),
}

/// Returns every combination of the choices, the last one changing fastest.
fn choose(
    lists: &[(Slot, Positions<'_>)],
    state: &mut [u64],
    visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(((slot, positions), rest)) = lists.split_first() else {
        return visit(state);
    };
    match positions {
        Positions::Listed(positions) => {
            for position in positions.iter() {
                slot.set(state, *position);
                choose(rest, state, visit)?;
            }
        }
        Positions::All(len) => {
            for position in 0..*len {
                slot.set(state, position);
                choose(rest, state, visit)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// Whether another component has a command with this name.
fn is_shared(spec: &Spec, id: SystemId, name: &str) -> bool {
    let others = spec
        .systems
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != id.index());
    others
        .filter(|(_, other)| other.kind == SystemKind::Component)
        .any(|(_, other)| other.commands.iter().any(|command| command.name == name))
}

/// Returns the combinations in which the components can fire their commands with the same name.
fn joint<'a>(
    spec: &'a Spec,
    parts: &[SystemId],
    name: &str,
) -> Result<Vec<Joint<'a>>, SystemError> {
    let mut ways = vec![Joint {
        guards: Vec::new(),
        branches: vec![JointBranch::default()],
    }];
    for part in parts {
        let commands: Vec<&Command> = spec
            .system(*part)
            .commands
            .iter()
            .filter(|command| command.name == name)
            .collect();
        if commands.is_empty() {
            continue;
        }
        if ways.len().saturating_mul(commands.len()) > MAX_COMMANDS {
            return Err(SystemError::Commands(MAX_COMMANDS));
        }
        ways = ways
            .iter()
            .flat_map(|way| commands.iter().map(move |command| way.with(command)))
            .collect();
    }
    Ok(ways)
}

impl<'a> Joint<'a> {
    /// Adds a command of one more component.
    fn with(&self, command: &'a Command) -> Joint<'a> {
        let mut guards = self.guards.clone();
        guards.extend(command.guard);
        let branches = self
            .branches
            .iter()
            .flat_map(|branch| {
                command.branches.iter().map(move |other| {
                    let mut joint = branch.clone();
                    joint.probability.extend(other.probability);
                    joint.updates.extend(&other.updates);
                    joint
                })
            })
            .collect();
        Joint { guards, branches }
    }
}

/// Adds the conjuncts of a guard to `into`, cheapest first.
fn conjuncts(compiler: &mut Compiler<'_>, id: ExprId, into: &mut Vec<Test>) {
    if let crate::hir::Expr::And(a, b) = compiler.exprs.get(id) {
        let (a, b) = (*a, *b);
        conjuncts(compiler, a, into);
        conjuncts(compiler, b, into);
    } else {
        into.push(compiler.test(id));
    }
}

/// Masks on one word become one mask; a mask stands before what it guards against faults, so the order else stays.
fn merged(tests: Vec<Test>) -> Vec<Test> {
    let mut merged: Vec<Test> = Vec::new();
    for test in tests {
        match (merged.last_mut(), test) {
            (_, Test::Const(true)) => {}
            (Some(Test::Is(word, mask, bits)), Test::Is(other, more, set))
                if *word == other && *mask & more == 0 =>
            {
                *mask |= more;
                *bits |= set;
            }
            (_, test) => merged.push(test),
        }
    }
    merged
}

fn compile_branch(
    compiler: &mut Compiler<'_>,
    branch: &JointBranch<'_>,
    free: &[StateVarId],
) -> Branch {
    let mut made = Branch {
        chance: branch
            .probability
            .iter()
            .map(|factor| Exact::new(compiler, *factor))
            .collect(),
        constant: Vec::new(),
        computed: Vec::new(),
        chosen: Vec::new(),
    };
    for update in &branch.updates {
        let Some(slot) = compiler.layout.slot(update.var) else {
            continue;
        };
        match update.next {
            Next::Is(id) => match compiler.number(id) {
                Number::Const(value) if slot.position(value).is_some() => {
                    let bits = slot.position(value).unwrap_or(0) << slot.shift;
                    match made
                        .constant
                        .iter_mut()
                        .find(|(word, ..)| *word == slot.word)
                    {
                        Some((_, clear, set)) => {
                            *clear |= slot.mask;
                            *set |= bits;
                        }
                        None => made.constant.push((slot.word, slot.mask, bits)),
                    }
                }
                number => made.computed.push((slot, number, update.var)),
            },
            Next::In(id) => {
                let many = compiler.many(id);
                let choices = match known(slot, &many) {
                    Some(positions) => Choices::Known(positions),
                    None => Choices::Computed(many),
                };
                made.chosen.push((slot, choices, update.var));
            }
        }
    }
    for var in free {
        if let Some(slot) = compiler.layout.slot(*var) {
            made.chosen.push((slot, Choices::All(slot.len), *var));
        }
    }
    made
}

/// Returns the positions of a set of constants.
fn known(slot: Slot, many: &Many) -> Option<Vec<u64>> {
    let Many::Items(items) = many else {
        return None;
    };
    let mut positions = Vec::with_capacity(items.len());
    for item in items {
        let Number::Const(value) = item else {
            return None;
        };
        let position = slot.position(*value)?;
        if !positions.contains(&position) {
            positions.push(position);
        }
    }
    Some(positions)
}
