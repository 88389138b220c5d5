//! Assume-guarantee reasoning: the guarantees of the components of a composition, proved one component at a time.
//!
//! A component is checked with the others as an environment that may do anything with its own variables: do its runs that
//! satisfy its assumptions keep its guarantees? Each assumption is then *discharged*: the guarantees of the others imply it, or
//! another component satisfies it on its own. If the components do not rely on one another in a circle, that proves the
//! guarantees, for all formulas (Pnueli 1985; Cobleigh, Giannakopoulou, Păsăreanu 2003).
//!
//! In a circle this rule is unsound: two components that both violate their guarantees would satisfy it. There the guarantees
//! must be safety formulas, each about the variables of its own component only, and each component must keep its guarantee one
//! step longer than the others keep theirs ([`guard_automata::kripke::prefix::keeps_ahead`]); then no first step can break any
//! of them. Because every guarantee is about its own variables, a prefix that is good for each of them is good for their
//! conjunction. Any other circle is rejected.
//!
//! If this does not decide an assumption or guarantee, the composition itself is explored. If neither decides it, it is trusted
//! and reported as such.

mod answer;
mod discharge;
mod promise;

use crate::hir::system::Contract;
use crate::hir::{ClaimFormula, Logic, Spec};
use crate::ids::{FormulaId, SystemId};

use super::session::Session;
use super::verify::{Verdict, verdict_of};
use super::{Limits, SystemError, VerifyError};

/// The greatest number of valuations that are tried to find the conditions that can hold together.
const MAX_VALUATIONS: u128 = 1 << 20;

/// The greatest number of states of a composition that is explored in addition to the proof.
const MAX_DIRECT: usize = 1_000_000;

/// The contracts of a composition to be proved.
pub(super) struct Agreement<'a> {
    spec: &'a Spec,
    system: SystemId,
    parts: Vec<SystemId>,
    limits: Limits,
}

/// The support of an assumption: the claims that imply it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Support {
    /// Guarantees of other parts, by part and position.
    Promises(Vec<(usize, usize)>),
    /// Another part satisfies it, under its own assumptions.
    Part(usize),
    /// No support was found.
    None,
}

/// An assumption of a part, with its support.
struct Assumed<'a> {
    part: usize,
    at: usize,
    contract: &'a Contract,
    support: Support,
}

/// A guarantee of a part.
struct Promise {
    part: usize,
    at: usize,
    local: Local,
}

/// The status of an assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AssumptionStatus {
    Established,
    Trusted,
    Open,
}

/// The established promises and assumptions, by their order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Proof {
    promises: Vec<bool>,
    assumptions: Vec<AssumptionStatus>,
}

impl Proof {
    /// Whether none of a part's assumptions is open.
    fn part_stands(&self, part: usize, assumed: &[Assumed<'_>]) -> bool {
        let own = assumed
            .iter()
            .zip(&self.assumptions)
            .filter(|(assumption, _)| assumption.part == part);
        own.into_iter()
            .all(|(_, standing)| *standing != AssumptionStatus::Open)
    }
}

/// The composition itself, explored on demand for claims that the proof does not decide.
struct Direct<'b, 'a> {
    agreement: &'b Agreement<'a>,
    /// `None` if it was not tried yet; `Some(None)` if it is too large.
    session: Option<Option<Session<'a>>>,
}

impl<'a> Direct<'_, 'a> {
    fn session(&mut self) -> Result<Option<&mut Session<'a>>, VerifyError> {
        if self.session.is_none() {
            self.session = Some(self.agreement.product()?);
        }
        Ok(self.session.as_mut().and_then(Option::as_mut))
    }

    fn answer(&mut self, formula: FormulaId) -> Result<Option<Verdict>, VerifyError> {
        let Some(session) = self.session()? else {
            return Ok(None);
        };
        let answer = within(session.path(formula))?;
        Ok(answer.map(|answer| verdict_of(session, answer, Logic::Ltl)))
    }

    fn holds(&mut self, formula: FormulaId) -> Result<Option<bool>, VerifyError> {
        Ok(self.answer(formula)?.and_then(|verdict| verdict.holds))
    }
}

/// The result of checking a part's guarantees.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Local {
    /// Proved on this many states and transitions of the part and its environment.
    Proved {
        circular: bool,
        states: usize,
        transitions: usize,
    },
    Refused(String),
    Fails,
}

impl<'a> Agreement<'a> {
    pub(super) fn new(spec: &'a Spec, system: SystemId, limits: Limits) -> Agreement<'a> {
        Agreement {
            spec,
            system,
            parts: spec.system(system).parts().to_vec(),
            limits,
        }
    }

    /// Returns one verdict for each assumption about states, and one for each guarantee.
    pub(super) fn verdicts(&self) -> Result<Vec<Verdict>, VerifyError> {
        let assumed = self.assumptions()?;
        let circles = self.circles(&assumed);
        let mut promises: Vec<Promise> = Vec::new();
        for part in 0..self.parts.len() {
            for at in 0..self.contracts(part).len() {
                let local = self.local(part, at, &assumed, &circles)?;
                promises.push(Promise { part, at, local });
            }
        }
        let mut direct = Direct {
            agreement: self,
            session: None,
        };
        let proof = self.proof(&assumed, &promises, &circles, &mut direct)?;
        let mut verdicts = Vec::new();
        for (assumption, standing) in assumed.iter().zip(&proof.assumptions) {
            verdicts.push(self.assumption(assumption, *standing, &assumed, &proof, &mut direct)?);
        }
        for (promise, established) in promises.iter().zip(&proof.promises) {
            verdicts.push(self.guarantee(promise, *established, &assumed, &proof, &mut direct)?);
        }
        Ok(verdicts)
    }

    /// Returns everything that the proof establishes: claims that depend only on established or trusted ones.
    ///
    /// A greatest fixpoint: promises of a circle are established together, each having been proved one step ahead.
    fn proof(
        &self,
        assumed: &[Assumed<'_>],
        promises: &[Promise],
        circles: &[Vec<usize>],
        direct: &mut Direct<'_, 'a>,
    ) -> Result<Proof, VerifyError> {
        let mut proof = Proof {
            promises: promises
                .iter()
                .map(|promise| matches!(promise.local, Local::Proved { .. }))
                .collect(),
            assumptions: Vec::new(),
        };
        for assumption in assumed {
            proof.assumptions.push(match assumption.support {
                Support::None => match direct.holds(assumption.contract.formula)? {
                    Some(true) => AssumptionStatus::Established,
                    Some(false) => AssumptionStatus::Open,
                    None => AssumptionStatus::Trusted,
                },
                // In a circle no claim may depend on what another part guarantees only under its own assumptions.
                Support::Part(on) if circles[assumption.part].contains(&on) => {
                    AssumptionStatus::Open
                }
                _ => AssumptionStatus::Established,
            });
        }
        loop {
            let before = proof.clone();
            for (at, assumption) in assumed.iter().enumerate() {
                let stands = match &assumption.support {
                    Support::None => true,
                    Support::Promises(on) => on.iter().all(|(part, at)| {
                        let place = promises
                            .iter()
                            .position(|promise| promise.part == *part && promise.at == *at);
                        place.is_some_and(|place| proof.promises[place])
                    }),
                    Support::Part(part) => proof.part_stands(*part, assumed),
                };
                if !stands {
                    proof.assumptions[at] = AssumptionStatus::Open;
                }
            }
            for (at, promise) in promises.iter().enumerate() {
                proof.promises[at] &= proof.part_stands(promise.part, assumed);
            }
            if proof == before {
                return Ok(proof);
            }
        }
    }

    fn contracts(&self, part: usize) -> &'a [Contract] {
        &self.spec.system(self.parts[part]).guarantees
    }

    /// Returns the composition itself, if it is small enough to be explored.
    fn product(&self) -> Result<Option<Session<'a>>, VerifyError> {
        let mut asked = Vec::new();
        for part in &self.parts {
            let part = self.spec.system(*part);
            let contracts = part
                .assumes
                .iter()
                .chain(&part.guarantees)
                .filter(|contract| !contract.of_events);
            asked.extend(contracts.map(|contract| ClaimFormula::Path(contract.formula)));
        }
        let limits = Limits {
            states: self.limits.states.min(MAX_DIRECT),
            ..self.limits
        };
        let Some(mut session) = within(Session::new(self.spec, self.system, &asked, &[], limits))?
        else {
            return Ok(None);
        };
        let explored = within(session.explorer.explore().map_err(VerifyError::System))?;
        Ok(explored.map(|()| session))
    }
}

impl Support {
    fn parts(&self) -> Vec<usize> {
        let mut parts: Vec<usize> = match self {
            Support::Promises(promises) => promises.iter().map(|(part, _)| *part).collect(),
            Support::Part(part) => vec![*part],
            Support::None => Vec::new(),
        };
        parts.dedup();
        parts
    }
}

/// Returns the result of a check, or `None` if it exceeds the limits.
fn within<T>(result: Result<T, VerifyError>) -> Result<Option<T>, VerifyError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(
            VerifyError::System(
                SystemError::States { .. }
                | SystemError::Transitions { .. }
                | SystemError::InitialWork { .. },
            )
            | VerifyError::Product { .. },
        ) => Ok(None),
        Err(error) => Err(error),
    }
}
