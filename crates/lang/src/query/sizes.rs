//! The sizes of chains for plans: from the declarations of a spec, or from counts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::chain::{Learned, Monitor};
use super::evaluate::asked;
use super::plan::{Size, Sizes};
use crate::eval;
use crate::hir::{Claim, Domain, ModelSource, Spec, Subject as On};
use crate::ids::{ExprId, ModelId, PropertyId};
use crate::learn::{Counts, Model, ModelError, RowLimits, Rows, Subject};
use guard_automata::graph::{Digraph, DigraphBuilder, components};

/// The transitions of abstractions with more states are not explored for a plan; the square of the states is the bound.
const MOST_WALKED: usize = 500;

/// The greatest number of states that are listed for a plan.
const MOST_LISTED: usize = 100_000;

/// The sizes of the models that a spec declares.
#[derive(Debug)]
pub struct DeclaredSizes<'a> {
    spec: &'a Arc<Spec>,
    known: RefCell<FxHashMap<ModelId, Option<Size>>>,
}

impl<'a> DeclaredSizes<'a> {
    /// Returns the sizes for a spec.
    pub fn new(spec: &'a Arc<Spec>) -> Self {
        DeclaredSizes {
            spec,
            known: RefCell::default(),
        }
    }

    fn plain(&self, model: ModelId) -> Option<Size> {
        let abstraction = self.spec.model(model).abstraction()?;
        let components = &self.spec.abstraction(abstraction).components;
        let texts = |domain: &Domain| match domain {
            Domain::Nullable(inner) => **inner == Domain::Text,
            domain => *domain == Domain::Text,
        };
        if components.iter().any(|component| texts(&component.domain)) {
            return None;
        }
        let limits = eval::Limits::default();
        let subject = Subject::new(self.spec, model, abstraction, &[], &limits).ok()?;
        let mut rules = subject.space.rules(&subject.rules);
        let states = rules.states(MOST_LISTED).ok()?;
        // The start and the end are states too, and every state may be followed by the end.
        let n = states.len() as u64 + 2;
        if states.len() > MOST_WALKED {
            return Some(Size {
                states: n,
                transitions: n.saturating_mul(n),
                cyclic: n,
                largest: n,
                counted: false,
            });
        }
        let mut builder = DigraphBuilder::with_capacity(states.len(), 0);
        for state in &states {
            if !rules.is_absorbing(*state) {
                for target in rules.successors(*state, &states) {
                    builder.edge(target);
                }
            }
            builder.end_row();
        }
        let mut size = size_of(&builder.finish().ok()?);
        size.states = n;
        size.transitions += 2 * states.len() as u64 + 1;
        size.counted = false;
        Some(size)
    }
}

impl Sizes for DeclaredSizes<'_> {
    fn chain(&self, model: ModelId, monitors: &[PropertyId]) -> Option<Size> {
        let known = self.known.borrow().get(&model).copied();
        let plain = known.unwrap_or_else(|| {
            let plain = self.plain(model);
            self.known.borrow_mut().insert(model, plain);
            plain
        })?;
        let mut factor = 1u64;
        for property in monitors {
            factor = factor.saturating_mul(self.monitor(*property)?);
        }
        Some(Size {
            states: plain.states.saturating_mul(factor),
            transitions: plain.transitions.saturating_mul(factor),
            cyclic: plain.cyclic.saturating_mul(factor),
            largest: plain.largest.saturating_mul(factor),
            counted: false,
        })
    }

    fn monitor(&self, property: PropertyId) -> Option<u64> {
        let monitor = Monitor::new(self.spec, property, &[]).ok()?;
        Some(monitor.len() as u64)
    }
}

/// The sizes of the chains of one model file, and of the declarations of the other models. If there are several
/// categories, the largest is used.
#[derive(Debug)]
pub struct CountedSizes<'a> {
    declared: DeclaredSizes<'a>,
    model: ModelId,
    subject: Subject,
    counts: BTreeMap<SmolStr, Counts>,
    conditions: Vec<ExprId>,
}

impl<'a> CountedSizes<'a> {
    /// Returns the sizes for a model with its file.
    ///
    /// # Errors
    /// The file cannot be used with the spec.
    pub fn new(spec: &'a Arc<Spec>, model: ModelId, file: &Model) -> Result<Self, ModelError> {
        let abstraction = match spec.model(model).abstraction() {
            Some(abstraction) => abstraction,
            None => file.header.abstraction(spec)?,
        };
        let decided = |property| spec.abstraction(abstraction).monitor_of(property).is_some();
        let claims = spec.claims.iter();
        let claims: Vec<&Claim> = claims
            .filter(|claim| claim.on == On::Model(model))
            .collect();
        let (conditions, _) = asked(spec, claims, &decided);
        let limits = eval::Limits::default();
        let (subject, counts) = Subject::open(spec, model, file, &conditions, &limits)?;
        Ok(CountedSizes {
            declared: DeclaredSizes::new(spec),
            model,
            subject,
            counts,
            conditions,
        })
    }
}

impl Sizes for CountedSizes<'_> {
    fn chain(&self, model: ModelId, monitors: &[PropertyId]) -> Option<Size> {
        if model != self.model
            || matches!(
                self.declared.spec.model(model).source,
                ModelSource::Import(_)
            )
        {
            return self.declared.chain(model, monitors);
        }
        let space = &self.subject.space;
        let smoothing = self.subject.learn.smoothing;
        let limits = RowLimits::default();
        let size = |counts: &Counts| {
            let mut rules = space.rules(&self.subject.rules);
            let rows = Rows::new(space, &mut rules, counts, smoothing > 0.0, limits).ok()?;
            let conditions = &self.conditions;
            let chain = Learned::<f64>::new(
                &self.subject,
                &rows,
                smoothing,
                conditions,
                monitors,
                limits,
            );
            Some(size_of(chain.ok()?.chain.graph()))
        };
        let sizes = self.counts.values().filter_map(size);
        sizes.max_by_key(|size| (size.states, size.transitions))
    }

    fn monitor(&self, property: PropertyId) -> Option<u64> {
        self.declared.monitor(property)
    }
}

fn size_of(graph: &Digraph) -> Size {
    let found = components(graph, None);
    let sizes = (0..found.len()).map(|at| found.members(at).len() as u64);
    let (mut cyclic, mut largest) = (0, 1);
    for size in sizes.filter(|size| *size > 1) {
        cyclic += size;
        largest = largest.max(size);
    }
    Size {
        states: graph.len() as u64,
        transitions: graph.edge_count() as u64,
        cyclic,
        largest,
        counted: true,
    }
}
