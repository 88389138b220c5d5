//! The product of all properties without variables, which is stepped as one automaton.
//!
//! A state of the product consists of the states of all automata and is created when a trace reaches it. If the class of an
//! event determines all letters, a step is one table lookup. Otherwise the open letters are evaluated in the order in which the
//! automata would read them, and their values lead through a decision tree that is kept for the state and the class. No letter
//! is evaluated twice, and none that stepping each property alone would not evaluate.
//!
//! A property that an unknown letter leads to several states leaves the product and is stepped alone until it is in one state
//! again. The results are written to the watches of the world, which hold the authoritative state. So the product may be
//! dropped at any time, and it is dropped when it grows beyond [`Limits::joint_bytes`](super::Limits::joint_bytes).
//!
//! Measured over the 5,308 events of tau-bench with the 23 properties of `benches/airline.guard`: 94,429 steps of single
//! properties become 5,308 walks through a product of 644 leaves and 951 tests. No property had to leave the product.
//!
//! # Source
//! States created on demand in bounded memory, abandoned where it does not pay: the lazy automata of A. Gallant's
//! `regex-automata` (`hybrid`), after K. Thompson, *Regular expression search algorithm*, 1968.

use std::sync::atomic::{AtomicU64, Ordering};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::code::NodeId;
use super::compiled::{Compiled, PropertyCode};
use super::monitor::{Automaton, StateSetId, StateSetInterner};
use crate::value::Truth;

/// Automata with more states are stepped alone, because counters would multiply the states of the product.
pub(super) const MOST_STATES: usize = 16;

/// A product that fills its memory after fewer steps than this for each leaf is abandoned.
const LEAST_USE: u64 = 16;

/// The number of products made by this process. Each has a number of its own, so that a world can check whether its state
/// belongs to the current product.
static PRODUCTS: AtomicU64 = AtomicU64::new(0);

/// The state of a world in a product; the stamp identifies the product.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProductState {
    stamp: u64,
    state: u32,
}

impl ProductState {
    /// No state.
    pub(super) const NONE: ProductState = ProductState { stamp: 0, state: 0 };
}

/// The state of a world for one property: a state of its automaton, whether its trigger held, and whether the property is
/// settled, so that no event can change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ComponentState(u32);

impl ComponentState {
    /// The property is not in a single state and is stepped alone.
    const ALONE: ComponentState = ComponentState(u32::MAX);

    fn new(state_set: StateSetId, triggered: bool, gone: bool) -> ComponentState {
        ComponentState(state_set << 2 | u32::from(triggered) << 1 | u32::from(gone))
    }

    fn state_set(self) -> StateSetId {
        self.0 >> 2
    }

    fn triggered(self) -> bool {
        self.0 & 2 != 0
    }

    fn gone(self) -> bool {
        self.0 & 1 != 0
    }
}

/// The target of an edge: unknown, a test, or a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge(u32);

#[derive(Clone, Copy, Debug)]
enum Target {
    NotYet,
    Test(usize),
    Leaf(usize),
}

impl Edge {
    const NOT_YET: Edge = Edge(u32::MAX);

    fn test(at: usize) -> Option<Edge> {
        let at = u32::try_from(at).ok().filter(|at| *at < u32::MAX >> 1)?;
        Some(Edge(at << 1))
    }

    fn leaf(at: usize) -> Option<Edge> {
        let at = u32::try_from(at).ok().filter(|at| *at < u32::MAX >> 1)?;
        Some(Edge(at << 1 | 1))
    }

    #[inline]
    fn target(self) -> Target {
        match self {
            Edge::NOT_YET => Target::NotYet,
            Edge(edge) if edge & 1 == 1 => Target::Leaf((edge >> 1) as usize),
            Edge(edge) => Target::Test((edge >> 1) as usize),
        }
    }
}

/// A letter that is evaluated, and the edges for its truth values.
#[derive(Clone, Copy, Debug)]
struct Test {
    letter: NodeId,
    then: [Edge; 3],
}

fn branch(truth: Truth) -> usize {
    match truth {
        Truth::False => 0,
        Truth::True => 1,
        Truth::Unknown => 2,
    }
}

/// The effect of a step.
#[derive(Clone, Debug)]
struct Leaf {
    next: u32,
    /// Properties whose state changes.
    changes: Box<[(u32, ComponentState)]>,
    /// Those whose verdict may have become final.
    settled: Box<[u32]>,
    /// Properties that are stepped alone.
    alone: Box<[u32]>,
}

/// The part of a product that has been reached.
#[derive(Debug, Default)]
pub(super) struct LazyProductDfa {
    /// Zero before the first state was created.
    stamp: u64,
    /// The component states of each state, followed by 1 if nothing was read yet, otherwise 0.
    states: IndexSet<Box<[ComponentState]>, FxBuildHasher>,
    /// Edges by state and class.
    rows: Vec<Vec<Edge>>,
    tests: Vec<Test>,
    leaves: Vec<Leaf>,
    bytes: usize,
    n_steps: u64,
    /// Whether the product was abandoned because it does not pay.
    given_up: bool,
    /// A buffer for the answers of a step.
    answers: Vec<(usize, Truth)>,
}

/// The evaluation that a property needs for its step.
enum Need {
    Letter(NodeId),
    /// The property has to be stepped alone.
    Alone,
}

/// The questions of a step about the event.
pub(super) trait Letters {
    /// Returns the truth of a letter that the class of the event does not determine.
    fn open_letter(&mut self, node: NodeId) -> Truth;

    /// Returns the truth of a letter if the class of the event determines it.
    fn by_class(&mut self, node: NodeId) -> Option<Truth>;

    /// Whether this event is the first one.
    fn is_first(&self) -> bool;
}

impl LazyProductDfa {
    /// Steps the properties that are in the product. `plain` is the state of a property and whether its trigger held, if the
    /// property is in one state. Returns `None` if all properties must be stepped alone.
    pub(super) fn step(
        &mut self,
        program: &Compiled,
        letters: &mut impl Letters,
        class: u32,
        position: &mut ProductState,
        open: &[u32],
        plain: impl Fn(u32) -> Option<(StateSetId, bool)>,
    ) -> Option<Step<'_>> {
        let most = program.limits.joint_bytes;
        if self.given_up || (self.bytes > most && !self.forget()) {
            return None;
        }
        if self.stamp == 0 {
            self.stamp = PRODUCTS.fetch_add(1, Ordering::Relaxed) + 1;
        }
        self.n_steps += 1;
        if position.stamp != self.stamp {
            let state = self.enter(program, open, plain, letters.is_first());
            *position = ProductState {
                stamp: self.stamp,
                state,
            };
        }
        let state = position.state;
        let row = &self.rows[state as usize];
        let mut edge = row.get(class as usize).copied().unwrap_or(Edge::NOT_YET);
        self.answers.clear();
        let leaf = loop {
            match edge.target() {
                Target::Leaf(leaf) => break leaf,
                Target::Test(test) => {
                    let truth = letters.open_letter(self.tests[test].letter);
                    self.answers.push((test, truth));
                    edge = self.tests[test].then[branch(truth)];
                }
                Target::NotYet => match self.find(program, letters, state, class) {
                    Some(found) => edge = found,
                    None => {
                        self.given_up = true;
                        return None;
                    }
                },
            }
        };
        let leaf = &self.leaves[leaf];
        position.state = leaf.next;
        Some(Step(leaf))
    }

    /// Returns the product state of a world.
    fn enter(
        &mut self,
        program: &Compiled,
        open: &[u32],
        plain: impl Fn(u32) -> Option<(StateSetId, bool)>,
        first: bool,
    ) -> u32 {
        let classes = &program.code.classes;
        let mut open = open.iter().peekable();
        let component = |id: &u32| {
            let gone = open.next_if_eq(&id).is_none();
            if gone {
                return ComponentState::new(StateSetInterner::INITIAL, false, true);
            }
            match plain(*id) {
                Some((state_set, triggered)) if state_set < classes.n_states(*id as usize) => {
                    ComponentState::new(state_set, triggered, false)
                }
                _ => ComponentState::ALONE,
            }
        };
        let components = classes.product().iter().map(component);
        let components: Box<[ComponentState]> = components
            .chain([ComponentState(u32::from(first))])
            .collect();
        self.number(components)
    }

    fn number(&mut self, components: Box<[ComponentState]>) -> u32 {
        if let Some(known) = self.states.get_index_of(&components) {
            return known as u32;
        }
        self.bytes += size_of::<ComponentState>() * components.len() + 64;
        self.rows.push(Vec::new());
        self.states.insert_full(components).0 as u32
    }

    /// Drops all states; returns false if the product is abandoned.
    fn forget(&mut self) -> bool {
        let given_up = self.n_steps < LEAST_USE * self.leaves.len() as u64;
        *self = LazyProductDfa {
            given_up,
            ..LazyProductDfa::default()
        };
        !given_up
    }

    /// Finds the leaf for the answers of this step. Returns `None` if there is no room.
    #[cold]
    fn find(
        &mut self,
        program: &Compiled,
        letters: &mut impl Letters,
        state: u32,
        class: u32,
    ) -> Option<Edge> {
        let edge = match self.follow(program, letters, state) {
            Err(letter) => {
                self.bytes += size_of::<Test>();
                self.tests.push(Test {
                    letter,
                    then: [Edge::NOT_YET; 3],
                });
                Edge::test(self.tests.len() - 1)?
            }
            Ok(leaf) => {
                self.bytes += size_of::<Leaf>()
                    + size_of_val(&*leaf.changes)
                    + size_of_val(&*leaf.settled)
                    + size_of_val(&*leaf.alone);
                self.leaves.push(leaf);
                Edge::leaf(self.leaves.len() - 1)?
            }
        };
        match self.answers.last() {
            Some((test, truth)) => self.tests[*test].then[branch(*truth)] = edge,
            None => {
                let row = &mut self.rows[state as usize];
                let class = class as usize;
                if row.len() <= class {
                    self.bytes += size_of::<Edge>() * (class + 1 - row.len());
                    row.resize(class + 1, Edge::NOT_YET);
                }
                row[class] = edge;
            }
        }
        Some(edge)
    }

    /// Steps all properties with the known answers. Returns the first letter that is needed and has no answer yet.
    fn follow(
        &mut self,
        program: &Compiled,
        letters: &mut impl Letters,
        state: u32,
    ) -> Result<Leaf, NodeId> {
        let Some(components) = self.states.get_index(state as usize) else {
            return Ok(Leaf::all_alone(state, program));
        };
        let Some((first, components)) = components.split_last() else {
            return Ok(Leaf::all_alone(state, program));
        };
        let (tests, answers) = (&self.tests, &self.answers);
        let mut truth = |node: NodeId| {
            let answer = answers.iter().find(|(test, _)| tests[*test].letter == node);
            answer
                .map(|(_, truth)| *truth)
                .or_else(|| letters.by_class(node))
        };
        let (mut changes, mut settled, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        let mut next: Vec<ComponentState> = Vec::with_capacity(components.len() + 1);
        for (id, component) in program.code.classes.product().iter().zip(components) {
            let property = &program.properties[*id as usize];
            let (to, is_settled) = match visit(property, *component, first.0 == 1, &mut truth) {
                Ok(to) => to,
                Err(Need::Letter(letter)) => return Err(letter),
                Err(Need::Alone) => (ComponentState::ALONE, false),
            };
            if to == ComponentState::ALONE {
                alone.push(*id);
            } else if to != *component {
                changes.push((*id, to));
            }
            if is_settled {
                settled.push(*id);
            }
            next.push(to);
        }
        next.push(ComponentState(0));
        Ok(Leaf {
            next: self.number(next.into()),
            changes: changes.into(),
            settled: settled.into(),
            alone: alone.into(),
        })
    }
}

/// The effect of a step of the product.
#[derive(Debug)]
pub(super) struct Step<'p>(&'p Leaf);

impl<'p> Step<'p> {
    /// The properties whose state changes: the state, whether the trigger has held, and whether the property is settled.
    pub(super) fn changes(&self) -> impl Iterator<Item = (u32, StateSetId, bool, bool)> + use<'p> {
        let changes = self.0.changes.iter();
        changes.map(|(id, to)| (*id, to.state_set(), to.triggered(), to.gone()))
    }

    /// Properties whose verdict may have become final.
    pub(super) fn settled(&self) -> &[u32] {
        &self.0.settled
    }

    /// Returns the properties that must be stepped alone.
    pub(super) fn alone(&self) -> &[u32] {
        &self.0.alone
    }
}

impl Leaf {
    fn all_alone(state: u32, program: &Compiled) -> Leaf {
        Leaf {
            next: state,
            changes: Box::default(),
            settled: Box::default(),
            alone: program.code.classes.product().into(),
        }
    }
}

/// Computes the effect of an event on one property, and whether its verdict may have become final, exactly as
/// [`World`](super::world::World) steps it alone.
fn visit(
    property: &PropertyCode,
    component: ComponentState,
    first: bool,
    truth: &mut impl FnMut(NodeId) -> Option<Truth>,
) -> Result<(ComponentState, bool), Need> {
    let Automaton::Dfa {
        dfa,
        states,
        statuses,
        ..
    } = &*property.automaton
    else {
        return Err(Need::Alone);
    };
    let state = match states.get(component.state_set() as usize) {
        Some(state) if component != ComponentState::ALONE => *state,
        _ => return Err(Need::Alone),
    };
    if component.gone() {
        return Ok((component, false));
    }
    let mut triggered = component.triggered();
    if let Some(trigger) = property.trigger.filter(|_| !triggered) {
        triggered = truth(trigger).ok_or(Need::Letter(trigger))? != Truth::False;
    }
    let mut need = None;
    let next = dfa.step(state, |atom| {
        if need.is_some() {
            return false;
        }
        let letter = property.letters[atom.0 as usize].node;
        match truth(letter) {
            Some(Truth::True) => true,
            Some(Truth::False) => false,
            Some(Truth::Unknown) => {
                need = Some(Need::Alone);
                false
            }
            None => {
                need = Some(Need::Letter(letter));
                false
            }
        }
    });
    if let Some(need) = need {
        return Err(need);
    }
    let state_set = next.index() as StateSetId;
    if next == state && !first {
        return Ok((ComponentState::new(state_set, triggered, false), false));
    }
    let status = statuses[next.index()];
    let asked = property.trigger.is_some() && !triggered && status.now == Truth::True;
    let gone = status.fixed && !asked;
    Ok((
        ComponentState::new(state_set, triggered, gone),
        status.fixed,
    ))
}
