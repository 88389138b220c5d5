//! Whether a component keeps its guarantees under its assumptions, alone or in a circle of components that rely on one another.

use super::{Agreement, Assumed, Local, Support, within};
use crate::hir::ClaimFormula;
use crate::hir::system::{Contract, state_vars};
use crate::ids::FormulaId;
use crate::system::session::Session;
use crate::system::verify::{assume_name, guarantee_name};
use crate::system::{SystemError, VerifyError};
use guard_automata::Formulas;
use guard_automata::graph::{Digraph, components};
use guard_automata::kripke::ltl;
use guard_automata::kripke::prefix::{Prefixes, is_safety, keeps_ahead};

impl Agreement<'_> {
    /// Returns, for each part, the parts that it relies on and that rely on it, including itself; empty if the part is
    /// not in a circle.
    pub(super) fn circles(&self, assumed: &[Assumed<'_>]) -> Vec<Vec<usize>> {
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
    pub(super) fn local(
        &self,
        part: usize,
        at: usize,
        assumed: &[Assumed<'_>],
        circles: &[Vec<usize>],
    ) -> Result<Local, VerifyError> {
        let id = self.parts[part];
        let contract = &self.spec.system(id).guarantees[at];
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
        let assumes: Vec<Contract> = plain
            .iter()
            .map(|assumption| assumption.contract.clone())
            .collect();
        let asked: Vec<ClaimFormula> = ahead
            .iter()
            .map(|assumption| assumption.contract.formula)
            .chain([contract.formula])
            .map(ClaimFormula::Path)
            .collect();
        if circle.is_empty() {
            let Some(mut session) =
                within(Session::new(self.spec, id, &asked, &assumes, self.limits))?
            else {
                return Ok(Local::Fails);
            };
            let answer = within(session.path(contract.formula))?;
            return Ok(match answer {
                Some(answer) if answer.holds => proved(&session, false),
                _ => Local::Fails,
            });
        }
        // Assumptions from outside the circle are about whole runs. Leaving them out is sound: it only proves less.
        let Some(mut session) = within(Session::new(self.spec, id, &asked, &[], self.limits))?
        else {
            return Ok(Local::Fails);
        };
        let mut formulas = Formulas::new();
        let parts: Vec<_> = ahead
            .iter()
            .map(|assumption| session.linear(assumption.contract.formula, &mut formulas))
            .collect();
        let assumption = formulas.all(parts);
        let goal = session.linear(contract.formula, &mut formulas);
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

    /// Returns the reason why a circle of components proves nothing, or `None` if it is sound.
    pub(super) fn unsound<'b>(
        &self,
        circle: &[usize],
        inside: impl Iterator<Item = &'b Assumed<'b>>,
    ) -> Result<Option<String>, VerifyError> {
        let names: Vec<String> = circle
            .iter()
            .map(|part| format!("`{}`", self.spec.system(self.parts[*part]).name))
            .collect();
        let circle_named = format!("{} depend on each other in a cycle", names.join(" and "));
        for assumption in inside {
            let name = assume_name(self.spec, self.parts[assumption.part], assumption.at);
            if let Support::Part(on) = assumption.support {
                let on = &self.spec.system(self.parts[on]).name;
                return Ok(Some(format!(
                    "{circle_named}, but `{name}` is not backed by a guarantee: let `{on}` guarantee `{}`",
                    assumption.contract.text
                )));
            }
            if !self.is_safety(assumption.contract.formula)? {
                return Ok(Some(format!(
                    "{circle_named}, but `{name}` (`{}`) is not a safety formula, so the circular \
                    argument is unsound",
                    assumption.contract.text
                )));
            }
        }
        for part in circle {
            for (at, contract) in self.contracts(*part).iter().enumerate() {
                let name = guarantee_name(self.spec, self.parts[*part], at);
                if !self.is_safety(contract.formula)? {
                    return Ok(Some(format!(
                        "{circle_named}, but `{name}` (`{}`) is not a safety formula, so the circular \
                    argument is unsound",
                        contract.text
                    )));
                }
                let letters = self.spec.formulas.atoms_of(contract.formula);
                let exprs = letters
                    .into_iter()
                    .map(|letter| self.spec.atom(letter).expr);
                let read = state_vars(&self.spec.exprs, exprs);
                let foreign = read
                    .into_iter()
                    .find(|var| self.spec.state_var(*var).owner != self.parts[*part]);
                if let Some(var) = foreign {
                    let var = self.spec.state_var(var);
                    let owner = &self.spec.system(var.owner).name;
                    return Ok(Some(format!(
                        "{circle_named}, but `{name}` reads `{owner}.{}`, which belongs to another component",
                        var.name
                    )));
                }
            }
        }
        Ok(None)
    }

    pub(super) fn is_safety(&self, formula: FormulaId) -> Result<bool, VerifyError> {
        let Some((mut words, atoms)) = self.words(&[formula]) else {
            return Ok(false);
        };
        let mut formulas = Formulas::new();
        let made = self.over(formula, &atoms, &mut formulas);
        // Beyond a limit the formula is not known to be a safety formula.
        Ok(is_safety(&mut words, &mut formulas, made, &ltl::Limits::default()).unwrap_or(false))
    }
}

fn proved(session: &Session<'_>, circular: bool) -> Local {
    Local::Proved {
        circular,
        states: session.explorer.len(),
        transitions: session.explorer.transitions(),
    }
}
