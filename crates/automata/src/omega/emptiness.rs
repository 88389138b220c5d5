//! Emptiness: search for a run that sees every mark infinitely often.
//!
//! [`find_run`] searches any graph that is given by its successors, so a product with an automaton is not built but explored
//! only as far as needed.
//!
//! **Invariant:** `roots` partitions the open vertices into components in the order of entry: a component has the open
//! vertices from its `first` up to the `first` of the next root. `inside` has the marks of all explored edges within it. So a
//! component whose `inside` has every mark contains an accepting cycle (Couvreur 1999), and the search may stop at
//! the edge that completes it.
//!
//! The search stores no labels and no edges of visited vertices. A run is written at most once, and for it the edges of one
//! component are computed again.

use std::hash::Hash;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::buchi::{Buchi, Edge};
use super::guards::Guards;
use super::marks::Marks;
use super::word::Lasso;
use crate::diagram::Cache;
use crate::formula::Atom;
use crate::formula::{Letter, Word};
use crate::limits::{LimitError, Limits, Resource, check};
use crate::states::StateId;

/// The edges that leave a vertex: label, marks, target.
pub type Edges<G> = Vec<(<G as Graph>::Label, Marks, <G as Graph>::Vertex)>;

/// A graph whose edges carry marks and labels.
pub trait Graph {
    /// A vertex.
    type Vertex: Clone + Eq + Hash;
    /// The label of an edge in the run that is found.
    type Label: Clone;
    /// The error that stops the search, such as a limit.
    type Error;

    /// Returns the vertices in which runs begin.
    ///
    /// # Errors
    /// Ends the search.
    fn initial(&mut self) -> Result<Vec<Self::Vertex>, Self::Error>;

    /// Returns the edges that leave a vertex. Called once for each visited vertex, and once more for the vertices on the path
    /// of the run that is found; both calls must return the same edges.
    ///
    /// # Errors
    /// Ends the search.
    fn edges(&mut self, vertex: &Self::Vertex) -> Result<Edges<Self>, Self::Error>
    where
        Self: Sized;
}

/// An infinite run: `stem` once, then `cycle` forever. Each entry is a vertex and the label of the edge that leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run<V, L> {
    /// From an initial vertex to the cycle; may be empty.
    pub stem: Vec<(V, L)>,
    /// From its first vertex back to that; never empty.
    pub cycle: Vec<(V, L)>,
}

/// A run in a graph.
pub type RunOf<G> = Run<<G as Graph>::Vertex, <G as Graph>::Label>;

/// Returns a run that sees each of the marks `0..n_marks` infinitely often, or `None` if there is none.
///
/// The stem is a shortest path to the component that was found first; the cycle takes a shortest path to each mark in turn.
///
/// # Limits
/// One visit of each vertex and edge in the search, and up to `n_marks + 1` of those of one component to write down the run.
/// Memory grows with the number of vertices visited.
///
/// # Source
/// J.-M. Couvreur, "On-the-fly verification of linear temporal logic", 1999: components are merged on a stack with the marks
/// inside them, and the search stops as soon as one has them all.
///
/// # Errors
/// Those of the graph.
pub fn find_run<G: Graph>(graph: &mut G, n_marks: u32) -> Result<Option<RunOf<G>>, G::Error> {
    let every = Marks::first(n_marks);
    let mut search = Search {
        vertices: IndexMap::default(),
        open: Vec::new(),
        roots: Vec::new(),
    };
    let mut stack: Vec<Frame<G::Vertex>> = Vec::new();
    for initial in graph.initial()? {
        if search.vertices.contains_key(&initial) {
            continue;
        }
        stack.push(search.enter(graph, initial, Marks::NONE)?);
        while let Some(frame) = stack.last_mut() {
            let Some((marks, target)) = frame.rest.next() else {
                let vertex = frame.vertex;
                stack.pop();
                search.leave(vertex);
                continue;
            };
            match search.vertices.get_index_of(&target) {
                None => stack.push(search.enter(graph, target, marks)?),
                Some(index) if search.vertices[index] => {
                    if search.merge(index, marks) == every {
                        let first = search.roots.last().map_or(index, |root| root.first);
                        return search.run(graph, first, every).map(Some);
                    }
                }
                Some(_) => {}
            }
        }
    }
    Ok(None)
}

/// A vertex whose edges are being followed.
struct Frame<V> {
    vertex: usize,
    rest: std::vec::IntoIter<(Marks, V)>,
}

/// The known part of a component.
struct Root {
    /// The vertex of the component that was entered first.
    first: usize,
    /// The marks on the edge that led there.
    before: Marks,
    /// The marks on the edges inside.
    inside: Marks,
}

struct Search<V> {
    /// Every vertex that was entered, and whether its component is still open.
    vertices: IndexMap<V, bool, FxBuildHasher>,
    /// Vertices of open components, in the order of their entry.
    open: Vec<usize>,
    roots: Vec<Root>,
}

impl<V: Clone + Eq + Hash> Search<V> {
    fn enter<G: Graph<Vertex = V>>(
        &mut self,
        graph: &mut G,
        vertex: V,
        before: Marks,
    ) -> Result<Frame<V>, G::Error> {
        let edges = graph.edges(&vertex)?;
        let index = self.vertices.insert_full(vertex, true).0;
        self.open.push(index);
        self.roots.push(Root {
            first: index,
            before,
            inside: Marks::NONE,
        });
        let rest: Vec<(Marks, V)> = edges
            .into_iter()
            .map(|(_, marks, target)| (marks, target))
            .collect();
        Ok(Frame {
            vertex: index,
            rest: rest.into_iter(),
        })
    }

    /// Closes a component after the search leaves its first vertex.
    fn leave(&mut self, vertex: usize) {
        if self.roots.last().is_some_and(|root| root.first == vertex) {
            self.roots.pop();
            while let Some(member) = self.open.pop() {
                self.vertices[member] = false;
                if member == vertex {
                    break;
                }
            }
        }
    }

    /// Merges all components from that of `target` on, because an edge leads back to it; `marks` are added to the
    /// merged component.
    fn merge(&mut self, target: usize, marks: Marks) -> Marks {
        let mut marks = marks;
        while let Some(root) = self.roots.pop_if(|root| root.first > target) {
            marks = marks.union(root.inside).union(root.before);
        }
        match self.roots.last_mut() {
            Some(root) => {
                root.inside = root.inside.union(marks);
                root.inside
            }
            None => marks,
        }
    }

    /// Returns a run into the open component of `first` and around in it over all marks.
    fn run<G: Graph<Vertex = V>>(
        &self,
        graph: &mut G,
        first: usize,
        every: Marks,
    ) -> Result<Run<V, G::Label>, G::Error> {
        let inside = |vertex: &V| {
            let index = self.vertices.get_index_of(vertex);
            index.is_some_and(|index| index >= first && self.vertices[index])
        };
        let visited = |vertex: &V| self.vertices.contains_key(vertex);
        let starts = graph.initial()?;
        let stem = way(graph, &starts, visited, |_, _| false, inside)?;
        let Some((stem, entry)) = stem else {
            return Ok(Run {
                stem: Vec::new(),
                cycle: Vec::new(),
            });
        };
        let (mut cycle, mut at, mut missing) = (Vec::new(), entry.clone(), every);
        while !missing.is_empty() || cycle.is_empty() {
            let useful =
                |marks: Marks| missing.is_empty() || !marks.intersection(missing).is_empty();
            let found = way(
                graph,
                &[at.clone()],
                inside,
                |marks, target| useful(marks) && inside(target),
                |_| false,
            )?;
            let Some((part, end)) = found else { break };
            missing = part
                .iter()
                .fold(missing, |left, (_, _, marks)| left.without(*marks));
            cycle.extend(part);
            at = end;
        }
        if at != entry
            && let Some((part, _)) = way(
                graph,
                &[at],
                inside,
                |_, _| false,
                |vertex| *vertex == entry,
            )?
        {
            cycle.extend(part);
        }
        let bare =
            |part: Vec<(V, G::Label, Marks)>| part.into_iter().map(|(v, l, _)| (v, l)).collect();
        Ok(Run {
            stem: bare(stem),
            cycle: bare(cycle),
        })
    }
}

/// A path as vertices with the label and marks of the edge taken from each, and its last vertex.
type Way<G> = (
    Vec<(<G as Graph>::Vertex, <G as Graph>::Label, Marks)>,
    <G as Graph>::Vertex,
);

/// Returns a shortest path from one of `starts` through vertices `allowed`, which ends after the first edge that is `last`, or
/// at the first vertex that is `wanted`.
fn way<G: Graph>(
    graph: &mut G,
    starts: &[G::Vertex],
    allowed: impl Fn(&G::Vertex) -> bool,
    last: impl Fn(Marks, &G::Vertex) -> bool,
    wanted: impl Fn(&G::Vertex) -> bool,
) -> Result<Option<Way<G>>, G::Error> {
    /// The predecessor of each vertex.
    type From<L> = Option<(usize, L, Marks)>;
    let mut reached: IndexMap<G::Vertex, From<G::Label>, FxBuildHasher> = IndexMap::default();
    for start in starts {
        if wanted(start) {
            return Ok(Some((Vec::new(), start.clone())));
        }
        reached.insert(start.clone(), None);
    }
    let back = |reached: &IndexMap<G::Vertex, From<G::Label>, FxBuildHasher>, mut at: usize| {
        let mut steps = Vec::new();
        while let Some((vertex, Some((before, label, marks)))) = reached.get_index(at) {
            let _ = vertex;
            if let Some((source, _)) = reached.get_index(*before) {
                steps.push((source.clone(), label.clone(), *marks));
            }
            at = *before;
        }
        steps.reverse();
        steps
    };
    let mut next = 0;
    while let Some((vertex, _)) = reached.get_index(next) {
        let vertex = vertex.clone();
        for (label, marks, target) in graph.edges(&vertex)? {
            if last(marks, &target) || wanted(&target) {
                let mut steps = back(&reached, next);
                steps.push((vertex, label, marks));
                return Ok(Some((steps, target)));
            }
            if allowed(&target) && !reached.contains_key(&target) {
                reached.insert(target, Some((next, label, marks)));
            }
        }
        next += 1;
    }
    Ok(None)
}

/// An automaton as a graph, without a system.
struct Alone<'a>(&'a Buchi);

impl Graph for Alone<'_> {
    type Vertex = StateId;
    type Label = Letter;
    type Error = std::convert::Infallible;

    fn initial(&mut self) -> Result<Vec<StateId>, Self::Error> {
        Ok(vec![self.0.initial()])
    }

    fn edges(&mut self, state: &StateId) -> Result<Vec<(Letter, Marks, StateId)>, Self::Error> {
        let label = |edge: &Edge| (self.0.letter(edge.guard), edge.marks, edge.target);
        Ok(self.0.edges(*state).iter().map(label).collect())
    }
}

impl Buchi {
    /// Returns an infinite word that is accepted, as a lasso, or `None` if nothing is. Atoms that do not matter are not
    /// listed.
    pub fn accepted_word(&self) -> Option<Lasso> {
        let Ok(found) = find_run(&mut Alone(self), self.n_marks());
        let run = found?;
        let word = |part: Vec<(StateId, Letter)>| {
            part.into_iter().map(|(_, letter)| letter).collect::<Word>()
        };
        Some(Lasso {
            stem: word(run.stem),
            cycle: word(run.cycle),
        })
    }

    /// Whether no word is accepted.
    pub fn is_empty(&self) -> bool {
        self.accepted_word().is_none()
    }

    /// Whether the infinite word `stem cycle cycle …` is accepted; `letter(position, atom)` is the value of an atom at each
    /// of the first `stem + cycle` positions.
    pub fn accepts(&self, stem: usize, cycle: usize, letter: impl Fn(usize, Atom) -> bool) -> bool {
        let mut product = WithWord {
            buchi: self,
            stem,
            len: stem + cycle.max(1),
            letter,
        };
        let Ok(found) = find_run(&mut product, self.n_marks());
        found.is_some()
    }

    /// Returns an infinite word that both automata accept, or `None` if there is none.
    ///
    /// # Errors
    /// When the product needs more than the limits allow, or the marks of both are too many.
    pub fn common_word(&self, other: &Buchi, limits: &Limits) -> Result<Option<Lasso>, LimitError> {
        Marks::check(self.n_marks + other.n_marks)?;
        let mut guards = Guards::new(limits);
        let mut table = |buchi: &Buchi| -> Result<Vec<Vec<Edge>>, LimitError> {
            let mut cache = Cache::default();
            let mut made = buchi.edges.clone();
            for edge in made.iter_mut().flatten() {
                edge.guard = guards.copy(&buchi.guards, edge.guard, &mut cache)?;
            }
            Ok(made)
        };
        let sides = [table(self)?, table(other)?];
        let mut product = Both {
            initial: (self.initial, other.initial),
            shift: self.n_marks,
            sides,
            guards,
            n_states: 0,
            limits: limits.clone(),
        };
        let found = find_run(&mut product, self.n_marks + other.n_marks)?;
        let word =
            |part: Vec<(_, Letter)>| part.into_iter().map(|(_, letter)| letter).collect::<Word>();
        Ok(found.map(|run| Lasso {
            stem: word(run.stem),
            cycle: word(run.cycle),
        }))
    }
}

/// An automaton that reads one word.
struct WithWord<'a, L> {
    buchi: &'a Buchi,
    stem: usize,
    len: usize,
    letter: L,
}

impl<L: Fn(usize, Atom) -> bool> Graph for WithWord<'_, L> {
    type Vertex = (StateId, usize);
    type Label = ();
    type Error = std::convert::Infallible;

    fn initial(&mut self) -> Result<Vec<Self::Vertex>, Self::Error> {
        Ok(vec![(self.buchi.initial(), 0)])
    }

    fn edges(
        &mut self,
        &(state, at): &Self::Vertex,
    ) -> Result<Vec<((), Marks, Self::Vertex)>, Self::Error> {
        let next = if at + 1 < self.len { at + 1 } else { self.stem };
        let letter = &self.letter;
        let successors = self.buchi.successors(state, move |atom| letter(at, atom));
        Ok(successors
            .map(|(target, marks)| ((), marks, (target, next)))
            .collect())
    }
}

/// Two automata that read the same word.
struct Both {
    initial: (StateId, StateId),
    sides: [Vec<Vec<Edge>>; 2],
    guards: Guards,
    /// The offset of the marks of the second automaton.
    shift: u32,
    n_states: usize,
    limits: Limits,
}

impl Graph for Both {
    type Vertex = (StateId, StateId);
    type Label = Letter;
    type Error = LimitError;

    fn initial(&mut self) -> Result<Vec<Self::Vertex>, LimitError> {
        Ok(vec![self.initial])
    }

    fn edges(
        &mut self,
        &(left, right): &Self::Vertex,
    ) -> Result<Vec<(Letter, Marks, Self::Vertex)>, LimitError> {
        self.n_states += 1;
        check(Resource::Work, self.limits.work, self.n_states as u64)?;
        let mut edges = Vec::new();
        for one in &self.sides[0][left.index()] {
            for two in &self.sides[1][right.index()] {
                let both = self.guards.and(one.guard, two.guard)?;
                if let Some(letter) = self.guards.letter(both) {
                    let marks = one.marks.union(two.marks.shifted(self.shift));
                    edges.push((letter, marks, (one.target, two.target)));
                }
            }
        }
        Ok(edges)
    }
}
