//! The result for each assumption and each guarantee of a composition.

use super::{Agreement, Assumed, AssumptionStatus, Direct, Local, Promise, Proof, Support};
use crate::hir::Logic;
use crate::system::VerifyError;
use crate::system::verify::{Method, Verdict, assume_name, guarantee_name, trusted_events};

impl<'a> Agreement<'a> {
    pub(super) fn assumption(
        &self,
        assumed: &Assumed<'_>,
        standing: AssumptionStatus,
        all: &[Assumed<'_>],
        proof: &Proof,
        direct: &mut Direct<'_, 'a>,
    ) -> Result<Verdict, VerifyError> {
        let mut verdict = match (standing, &assumed.support) {
            (AssumptionStatus::Established, Support::Promises(_) | Support::Part(_)) => {
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
            _ => match direct.answer(assumed.contract.formula)? {
                Some(verdict) => verdict,
                None => {
                    let mut verdict = blank(Method::Trusted, None);
                    verdict.trusted = vec![self.stated(assumed)];
                    verdict
                }
            },
        };
        verdict.property = assume_name(self.spec, self.parts[assumed.part], assumed.at);
        verdict.text = assumed.contract.text.to_string();
        verdict.system = self.spec.system(self.system).name.to_string();
        Ok(verdict)
    }

    pub(super) fn stated(&self, assumed: &Assumed<'_>) -> String {
        let part = &self.spec.system(self.parts[assumed.part]).name;
        format!("{part} assumes {}", assumed.contract.text)
    }

    /// Returns the trusted assumptions on which a part relies, directly or through other parts.
    pub(super) fn trust(&self, part: usize, assumed: &[Assumed<'_>], proof: &Proof) -> Vec<String> {
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
            let on_trust = own.filter(|(_, standing)| **standing == AssumptionStatus::Trusted);
            trusted.extend(on_trust.map(|(assumption, _)| self.stated(assumption)));
            trusted.extend(trusted_events(self.spec, self.parts[*part]));
        }
        trusted
    }

    pub(super) fn named(&self, support: &Support) -> Vec<String> {
        match support {
            Support::Promises(promises) => promises
                .iter()
                .map(|(part, at)| guarantee_name(self.spec, self.parts[*part], *at))
                .collect(),
            Support::Part(part) => vec![self.spec.system(self.parts[*part]).name.to_string()],
            Support::None => Vec::new(),
        }
    }

    pub(super) fn guarantee(
        &self,
        promise: &Promise,
        established: bool,
        assumed: &[Assumed<'_>],
        proof: &Proof,
        direct: &mut Direct<'_, 'a>,
    ) -> Result<Verdict, VerifyError> {
        let id = self.parts[promise.part];
        let contract = &self.spec.system(id).guarantees[promise.at];
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
            _ => match direct.answer(contract.formula)? {
                Some(verdict) => verdict,
                None => blank(Method::Trusted, None),
            },
        };
        if let Local::Refused(reason) = &promise.local {
            verdict.refused.push(reason.clone());
        }
        verdict.property = guarantee_name(self.spec, id, promise.at);
        verdict.text = contract.text.to_string();
        verdict.system = self.spec.system(self.system).name.to_string();
        Ok(verdict)
    }
}

/// Returns a verdict that was found without exploring the composition.
fn blank(method: Method, holds: Option<bool>) -> Verdict {
    Verdict {
        property: String::new(),
        text: String::new(),
        system: String::new(),
        logic: Logic::Ltl,
        holds,
        value: None,
        exact: None,
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
