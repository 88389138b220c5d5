//! Assume-guarantee reasoning: what the components of a composition promise, proved one component at a time.
//!
//! A component is checked with the others as an environment that may do anything with its own variables: do its runs that
//! satisfy its assumptions keep its guarantees? Each assumption is then *discharged*: the guarantees of the others imply it,
//! or another component satisfies it as it is. Where the components rely on one another in no circle, that proves the
//! guarantees, whatever the formulas (Pnueli 1985; Cobleigh, Giannakopoulou, Păsăreanu 2003).
//!
//! In a circle the plain rule is unsound: "I keep my word if you keep yours" holds of two liars. There the guarantees must be
//! safety formulas, each about the variables of its own component only, and each component must keep its guarantee one step
//! longer than the others keep theirs ([`crate::kripke::prefix::keeps_ahead`]); then no first step can break any of them. That every
//! guarantee is about variables of its own makes good prefixes of all of them good prefixes of their conjunction. Any other
//! circle is refused.
//!
//! What this cannot decide is looked at in the composition itself, state by state. What neither decides is trusted, and said
//! to be.

use crate::automata::{Atom, Formulas};
use crate::graph::{Digraph, components};
use crate::hir::system::{Pledge, state_vars};
use crate::hir::{ClaimFormula, Logic, Spec};
use crate::ids::{ExprId, FormulaId, SystemId};
use crate::kripke::prefix::{Prefixes, is_safety, keeps_ahead};
use crate::kripke::{Words, ltl};

use super::code::{Compiler, Test};
use super::layout::Layout;
use super::session::Session;
use super::verify::{Method, Verdict, assume_name, guarantee_name, told, trusted_events};
use super::{Limits, SystemError, VerifyError};

/// How many valuations are tried to see which conditions can hold together.
const MAX_VALUATIONS: u128 = 1 << 20;

/// The most states of a composition that is looked at beside the proof.
const MAX_DIRECT: usize = 1_000_000;

/// The pledges of a composition, under examination.
pub(super) struct Agreement<'a> {
    spec: &'a Spec,
    system: SystemId,
    parts: Vec<SystemId>,
    limits: Limits,
}

/// What an assumption stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Support {
    /// Guarantees of other parts, by part and position.
    Promises(Vec<(usize, usize)>),
    /// Another part satisfies it, under its own assumptions.
    Part(usize),
    /// Nothing that was found.
    None,
}

/// An assumption of a part, with what it stands on.
struct Assumed<'a> {
    part: usize,
    at: usize,
    pledge: &'a Pledge,
    support: Support,
}

/// A guarantee of a part.
struct Promise {
    part: usize,
    at: usize,
    local: Local,
}

/// How an assumption stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Established,
    Trusted,
    Open,
}

/// What is established, by the order of promises and assumptions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Proof {
    promises: Vec<bool>,
    assumptions: Vec<Standing>,
}

impl Proof {
    /// Whether none of a part's assumptions is open.
    fn part_stands(&self, part: usize, assumed: &[Assumed<'_>]) -> bool {
        let own = assumed
            .iter()
            .zip(&self.assumptions)
            .filter(|(assumption, _)| assumption.part == part);
        own.into_iter()
            .all(|(_, standing)| *standing != Standing::Open)
    }
}

/// The composition itself, looked at where the proof does not reach; made when it is first asked.
struct Direct<'b, 'a> {
    agreement: &'b Agreement<'a>,
    /// None: not asked yet. Some(None): too large.
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
        Ok(answer.map(|answer| told(session, answer, Logic::Ltl)))
    }

    fn holds(&mut self, formula: FormulaId) -> Result<Option<bool>, VerifyError> {
        Ok(self.answer(formula)?.and_then(|verdict| verdict.holds))
    }
}

/// What is known of a part's guarantees.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Local {
    /// On so many states and transitions of the part and its environment.
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

    /// One verdict for each assumption about states, and one for each guarantee.
    pub(super) fn verdicts(&self) -> Result<Vec<Verdict>, VerifyError> {
        let assumed = self.assumptions()?;
        let circles = self.circles(&assumed);
        let mut promises: Vec<Promise> = Vec::new();
        for part in 0..self.parts.len() {
            for at in 0..self.pledges(part).len() {
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

    /// What the proof establishes: all that rests on nothing but what is established, or trusted.
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
                Support::None => match direct.holds(assumption.pledge.formula)? {
                    Some(true) => Standing::Established,
                    Some(false) => Standing::Open,
                    None => Standing::Trusted,
                },
                // In a circle nobody may rest on what another does only under its own assumptions.
                Support::Part(on) if circles[assumption.part].contains(&on) => Standing::Open,
                _ => Standing::Established,
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
                    proof.assumptions[at] = Standing::Open;
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

    fn pledges(&self, part: usize) -> &'a [Pledge] {
        &self.spec.system(self.parts[part]).guarantees
    }

    /// The assumptions about states, each with the least that it stands on.
    fn assumptions(&self) -> Result<Vec<Assumed<'a>>, VerifyError> {
        let mut found = Vec::new();
        for part in 0..self.parts.len() {
            let assumes = &self.spec.system(self.parts[part]).assumes;
            for (at, pledge) in assumes
                .iter()
                .enumerate()
                .filter(|(_, pledge)| !pledge.of_events)
            {
                let support = self.support(part, pledge)?;
                found.push(Assumed {
                    part,
                    at,
                    pledge,
                    support,
                });
            }
        }
        Ok(found)
    }

    fn support(&self, part: usize, pledge: &Pledge) -> Result<Support, VerifyError> {
        let mut promises: Vec<(usize, usize)> = Vec::new();
        for other in (0..self.parts.len()).filter(|other| *other != part) {
            promises.extend((0..self.pledges(other).len()).map(|at| (other, at)));
        }
        let formula = |(part, at): &(usize, usize)| self.pledges(*part)[*at].formula;
        // One promise, then those of one component, then all.
        let mut attempts: Vec<Vec<(usize, usize)>> =
            promises.iter().map(|promise| vec![*promise]).collect();
        for other in 0..self.parts.len() {
            let own: Vec<(usize, usize)> = promises
                .iter()
                .copied()
                .filter(|(part, _)| *part == other)
                .collect();
            attempts.extend((own.len() > 1).then_some(own));
        }
        attempts.extend((promises.len() > 1).then(|| promises.clone()));
        for attempt in attempts {
            let premises: Vec<FormulaId> = attempt.iter().map(formula).collect();
            if self.implies(&premises, pledge.formula)? {
                return Ok(Support::Promises(attempt));
            }
        }
        for other in (0..self.parts.len()).filter(|other| *other != part) {
            let id = self.parts[other];
            let asked = [ClaimFormula::Path(pledge.formula)];
            let assumes = &self.spec.system(id).assumes;
            let Some(mut session) =
                within(Session::new(self.spec, id, &asked, assumes, self.limits))?
            else {
                continue;
            };
            let answer = within(session.path(pledge.formula))?;
            if answer.is_some_and(|answer| answer.holds) {
                return Ok(Support::Part(other));
            }
        }
        Ok(Support::None)
    }

    /// Whether every word that satisfies the premises satisfies the conclusion, whatever a system does.
    fn implies(&self, premises: &[FormulaId], conclusion: FormulaId) -> Result<bool, VerifyError> {
        let all: Vec<FormulaId> = premises.iter().copied().chain([conclusion]).collect();
        let Some((mut words, atoms)) = self.words(&all) else {
            return Ok(false);
        };
        let mut formulas = Formulas::new();
        let parts: Vec<_> = premises
            .iter()
            .map(|formula| self.over(*formula, &atoms, &mut formulas))
            .collect();
        let premise = formulas.all(parts);
        let conclusion = self.over(conclusion, &atoms, &mut formulas);
        let whole = formulas.implies(premise, conclusion);
        let found = ltl::check(
            &mut words,
            &mut formulas,
            whole,
            &[],
            &ltl::Limits::default(),
        );
        // Beyond a limit nothing is known, and nothing is claimed.
        Ok(found.is_ok_and(|found| found.counterexample.is_none()))
    }

    /// All words over the letters that some valuation of the variables gives; none where these are too many.
    fn words(&self, formulas: &[FormulaId]) -> Option<(Words, Vec<ExprId>)> {
        let mut atoms: Vec<ExprId> = Vec::new();
        for formula in formulas {
            for letter in self.spec.formulas.letters_of(*formula) {
                let expr = self.spec.letter(letter).expr;
                if !atoms.contains(&expr) {
                    atoms.push(expr);
                }
            }
        }
        let layout = Layout::new(
            self.spec,
            state_vars(&self.spec.exprs, atoms.iter().copied()),
        );
        if atoms.len() > 64 || layout.space().is_none_or(|space| space > MAX_VALUATIONS) {
            return None;
        }
        let mut compiler = Compiler::new(&self.spec.exprs, &layout);
        let tests: Vec<Test> = atoms.iter().map(|atom| compiler.test(*atom)).collect();
        let mut letters = Vec::new();
        let mut state = vec![0; layout.words()];
        let mut positions = vec![0u64; layout.slots().len()];
        'valuations: loop {
            let mut letter = 0u64;
            for (at, test) in tests.iter().enumerate() {
                // Where a condition has no value, no run of a component comes by: its check reports that.
                letter |= u64::from(test.eval(&state).unwrap_or(false)) << at;
            }
            letters.push(letter);
            for (slot, position) in layout.slots().iter().zip(&mut positions) {
                *position = if *position + 1 < slot.len {
                    *position + 1
                } else {
                    0
                };
                slot.set(&mut state, *position);
                if *position > 0 {
                    continue 'valuations;
                }
            }
            break;
        }
        Some((Words::new(letters), atoms))
    }

    fn over(
        &self,
        formula: FormulaId,
        atoms: &[ExprId],
        into: &mut Formulas,
    ) -> crate::automata::FormulaId {
        let place = |expr: ExprId| atoms.iter().position(|atom| *atom == expr).unwrap_or(63);
        let atom = |letter| Atom(place(self.spec.letter(letter).expr) as u32);
        crate::translate::translate(&self.spec.formulas, formula, atom, into)
    }

    /// For each part, the parts that it relies on and that rely on it, itself among them; empty where it is in no circle.
    fn circles(&self, assumed: &[Assumed<'_>]) -> Vec<Vec<usize>> {
        let edges: Vec<(u32, u32)> = assumed
            .iter()
            .flat_map(|assumption| {
                assumption
                    .support
                    .parts()
                    .into_iter()
                    .map(move |on| (assumption.part as u32, on as u32))
            })
            .collect();
        let Ok(graph) = Digraph::from_edges(self.parts.len(), &edges) else {
            return vec![Vec::new(); self.parts.len()];
        };
        let found = components(&graph, None);
        (0..self.parts.len() as u32)
            .map(|part| match found.of(part) {
                Some(component) if found.is_cyclic(&graph, component) => {
                    let mut members: Vec<usize> = found
                        .members(component)
                        .iter()
                        .map(|member| *member as usize)
                        .collect();
                    members.sort_unstable();
                    members
                }
                _ => Vec::new(),
            })
            .collect()
    }

    /// Whether a part keeps a guarantee under its assumptions.
    fn local(
        &self,
        part: usize,
        at: usize,
        assumed: &[Assumed<'_>],
        circles: &[Vec<usize>],
    ) -> Result<Local, VerifyError> {
        let id = self.parts[part];
        let pledge = &self.spec.system(id).guarantees[at];
        let circle = &circles[part];
        let inside = |assumption: &Assumed<'_>| {
            let supported = assumption.support.parts();
            supported.iter().any(|on| circle.contains(on)) && circle.contains(&assumption.part)
        };
        if !circle.is_empty()
            && let Some(reason) = self.unsound(
                circle,
                assumed.iter().filter(|assumption| inside(assumption)),
            )?
        {
            return Ok(Local::Refused(reason));
        }
        let own = assumed.iter().filter(|assumption| assumption.part == part);
        let (ahead, plain): (Vec<&Assumed<'_>>, Vec<&Assumed<'_>>) =
            own.partition(|assumption| inside(assumption));
        let assumes: Vec<Pledge> = plain
            .iter()
            .map(|assumption| assumption.pledge.clone())
            .collect();
        let asked: Vec<ClaimFormula> = ahead
            .iter()
            .map(|assumption| assumption.pledge.formula)
            .chain([pledge.formula])
            .map(ClaimFormula::Path)
            .collect();
        if circle.is_empty() {
            let Some(mut session) =
                within(Session::new(self.spec, id, &asked, &assumes, self.limits))?
            else {
                return Ok(Local::Fails);
            };
            let answer = within(session.path(pledge.formula))?;
            return Ok(match answer {
                Some(answer) if answer.holds => proved(&session, false),
                _ => Local::Fails,
            });
        }
        // Assumptions from outside the circle hold of whole runs; leaving them out proves less, never more.
        let Some(mut session) = within(Session::new(self.spec, id, &asked, &[], self.limits))?
        else {
            return Ok(Local::Fails);
        };
        let mut formulas = Formulas::new();
        let parts: Vec<_> = ahead
            .iter()
            .map(|assumption| session.linear(assumption.pledge.formula, &mut formulas))
            .collect();
        let assumption = formulas.all(parts);
        let goal = session.linear(pledge.formula, &mut formulas);
        let limits = session.limits.clone();
        let (Ok(mut assumption), Ok(mut goal)) = (
            Prefixes::new::<SystemError>(&formulas, assumption, &limits),
            Prefixes::new::<SystemError>(&formulas, goal, &limits),
        ) else {
            return Ok(Local::Fails);
        };
        let found = keeps_ahead(&mut session.explorer, &mut assumption, &mut goal, &limits);
        Ok(match found {
            Ok(None) => proved(&session, true),
            _ => Local::Fails,
        })
    }

    /// Why a circle of components proves nothing; none where it does.
    fn unsound<'b>(
        &self,
        circle: &[usize],
        inside: impl Iterator<Item = &'b Assumed<'b>>,
    ) -> Result<Option<String>, VerifyError> {
        let names: Vec<String> = circle
            .iter()
            .map(|part| format!("`{}`", self.spec.system(self.parts[*part]).name))
            .collect();
        let circle_named = format!("{} rely on one another in a circle", names.join(" and "));
        for assumption in inside {
            let name = assume_name(self.spec, self.parts[assumption.part], assumption.at);
            if let Support::Part(on) = assumption.support {
                let on = &self.spec.system(self.parts[on]).name;
                return Ok(Some(format!(
                    "{circle_named}, and `{name}` rests on no guarantee: let `{on}` guarantee `{}`",
                    assumption.pledge.text
                )));
            }
            if !self.is_safety(assumption.pledge.formula)? {
                return Ok(Some(format!(
                    "{circle_named}, and `{name}` (`{}`) is no safety formula: each could wait for the other for ever",
                    assumption.pledge.text
                )));
            }
        }
        for part in circle {
            for (at, pledge) in self.pledges(*part).iter().enumerate() {
                let name = guarantee_name(self.spec, self.parts[*part], at);
                if !self.is_safety(pledge.formula)? {
                    return Ok(Some(format!(
                        "{circle_named}, and `{name}` (`{}`) is no safety formula: each could wait for the other for ever",
                        pledge.text
                    )));
                }
                let letters = self.spec.formulas.letters_of(pledge.formula);
                let exprs = letters
                    .into_iter()
                    .map(|letter| self.spec.letter(letter).expr);
                let read = state_vars(&self.spec.exprs, exprs);
                let foreign = read
                    .into_iter()
                    .find(|var| self.spec.state_var(*var).owner != self.parts[*part]);
                if let Some(var) = foreign {
                    let var = self.spec.state_var(var);
                    let owner = &self.spec.system(var.owner).name;
                    return Ok(Some(format!(
                        "{circle_named}, and `{name}` speaks of `{owner}.{}`, which is not its own to keep",
                        var.name
                    )));
                }
            }
        }
        Ok(None)
    }

    fn is_safety(&self, formula: FormulaId) -> Result<bool, VerifyError> {
        let Some((mut words, atoms)) = self.words(&[formula]) else {
            return Ok(false);
        };
        let mut formulas = Formulas::new();
        let made = self.over(formula, &atoms, &mut formulas);
        // Beyond a limit it is not known to be one.
        Ok(is_safety(&mut words, &mut formulas, made, &ltl::Limits::default()).unwrap_or(false))
    }

    /// The composition itself, where it is small enough to be looked at.
    fn product(&self) -> Result<Option<Session<'a>>, VerifyError> {
        let mut asked = Vec::new();
        for part in &self.parts {
            let part = self.spec.system(*part);
            let pledges = part
                .assumes
                .iter()
                .chain(&part.guarantees)
                .filter(|pledge| !pledge.of_events);
            asked.extend(pledges.map(|pledge| ClaimFormula::Path(pledge.formula)));
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

    fn assumption(
        &self,
        assumed: &Assumed<'_>,
        standing: Standing,
        all: &[Assumed<'_>],
        proof: &Proof,
        direct: &mut Direct<'_, 'a>,
    ) -> Result<Verdict, VerifyError> {
        let mut verdict = match (standing, &assumed.support) {
            (Standing::Established, Support::Promises(_) | Support::Part(_)) => {
                let by = self.named(&assumed.support);
                let mut verdict = blank(
                    Method::Composed {
                        by,
                        circular: false,
                    },
                    Some(true),
                );
                verdict.trusted = self.trust(assumed.part, all, proof);
                verdict
            }
            _ => match direct.answer(assumed.pledge.formula)? {
                Some(verdict) => verdict,
                None => {
                    let mut verdict = blank(Method::Trusted, None);
                    verdict.trusted = vec![self.stated(assumed)];
                    verdict
                }
            },
        };
        verdict.property = assume_name(self.spec, self.parts[assumed.part], assumed.at);
        verdict.text = assumed.pledge.text.to_string();
        verdict.system = self.spec.system(self.system).name.to_string();
        Ok(verdict)
    }

    fn stated(&self, assumed: &Assumed<'_>) -> String {
        let part = &self.spec.system(self.parts[assumed.part]).name;
        format!("{part} assumes {}", assumed.pledge.text)
    }

    /// The assumptions on trust that a part relies on, through the parts that it relies on.
    fn trust(&self, part: usize, assumed: &[Assumed<'_>], proof: &Proof) -> Vec<String> {
        let mut reached = vec![part];
        let mut next = 0;
        while let Some(here) = reached.get(next).copied() {
            for assumption in assumed.iter().filter(|assumption| assumption.part == here) {
                for on in assumption.support.parts() {
                    if !reached.contains(&on) {
                        reached.push(on);
                    }
                }
            }
            next += 1;
        }
        let mut trusted = Vec::new();
        for part in &reached {
            let own = assumed
                .iter()
                .zip(&proof.assumptions)
                .filter(|(assumption, _)| assumption.part == *part);
            let on_trust = own.filter(|(_, standing)| **standing == Standing::Trusted);
            trusted.extend(on_trust.map(|(assumption, _)| self.stated(assumption)));
            trusted.extend(trusted_events(self.spec, self.parts[*part]));
        }
        trusted
    }

    fn named(&self, support: &Support) -> Vec<String> {
        match support {
            Support::Promises(promises) => promises
                .iter()
                .map(|(part, at)| guarantee_name(self.spec, self.parts[*part], *at))
                .collect(),
            Support::Part(part) => vec![self.spec.system(self.parts[*part]).name.to_string()],
            Support::None => Vec::new(),
        }
    }

    fn guarantee(
        &self,
        promise: &Promise,
        established: bool,
        assumed: &[Assumed<'_>],
        proof: &Proof,
        direct: &mut Direct<'_, 'a>,
    ) -> Result<Verdict, VerifyError> {
        let id = self.parts[promise.part];
        let pledge = &self.spec.system(id).guarantees[promise.at];
        let mut verdict = match &promise.local {
            Local::Proved {
                circular,
                states,
                transitions,
            } if established => {
                let own = assumed
                    .iter()
                    .filter(|assumption| assumption.part == promise.part);
                let mut by: Vec<String> = own
                    .flat_map(|assumption| self.named(&assumption.support))
                    .collect();
                by.sort();
                by.dedup();
                let circular = *circular;
                let mut verdict = blank(Method::Composed { by, circular }, Some(true));
                (verdict.states, verdict.transitions) = (*states, *transitions);
                verdict.trusted = self.trust(promise.part, assumed, proof);
                verdict
            }
            _ => match direct.answer(pledge.formula)? {
                Some(verdict) => verdict,
                None => blank(Method::Trusted, None),
            },
        };
        if let Local::Refused(reason) = &promise.local {
            verdict.refused.push(reason.clone());
        }
        verdict.property = guarantee_name(self.spec, id, promise.at);
        verdict.text = pledge.text.to_string();
        verdict.system = self.spec.system(self.system).name.to_string();
        Ok(verdict)
    }
}

fn proved(session: &Session<'_>, circular: bool) -> Local {
    Local::Proved {
        circular,
        states: session.explorer.len(),
        transitions: session.explorer.transitions(),
    }
}

/// A verdict that was found without looking at the composition.
fn blank(method: Method, holds: Option<bool>) -> Verdict {
    Verdict {
        property: String::new(),
        text: String::new(),
        system: String::new(),
        logic: Logic::Ltl,
        holds,
        value: None,
        states: 0,
        transitions: 0,
        complete: false,
        variables: Vec::new(),
        run: None,
        satisfying: None,
        deadlocks: 0,
        deadlock: None,
        method,
        trusted: Vec::new(),
        refused: Vec::new(),
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

/// What a check finds within the limits; none beyond them.
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
