//! From the situations of all instances to one verdict, and to those that are violated.

use super::{Instance, ROOT, Situation, Slices};
use crate::eval::monitor::{Configs, Standing};
use crate::eval::program::{PropertyCode, QuantifiedCode};
use crate::value::Truth;

impl Slices {
    /// Whether no event can change anything any more.
    pub(in crate::eval) fn is_idle(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &Configs,
    ) -> bool {
        let root = &self.classes[ROOT as usize].situation;
        let neutral = Truth::from(quantified.universal);
        if self.decisive && !quantified.universal {
            return true;
        }
        let is_neutral = |situation: &Situation| {
            configs.standing(&property.automaton, situation.config).now == neutral
        };
        // A partial binding that is lost is inherited by whole ones that are still to come.
        let heirs = |id: &u32| {
            let class = self.class(*id);
            class.members > class.whole && !is_neutral(&class.situation)
        };
        self.live.is_empty()
            && (self.triggered || property.trigger.is_none())
            && quantified.ranged == 0
            && root.fixed_at.is_some()
            && is_neutral(root)
            && !self.fixed.iter().any(heirs)
    }

    /// Whether the trigger held, or may have held, at some step of some instance.
    pub(in crate::eval) fn triggered(&self) -> bool {
        self.triggered || (self.root_triggered && (self.any || self.wild))
    }

    /// The verdict over all instances.
    pub(in crate::eval) fn standing(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &Configs,
        complete: bool,
    ) -> Standing {
        if self.overflow {
            return Standing {
                now: Truth::Unknown,
                fixed: complete,
            };
        }
        // `exists` is read as `not forall not`.
        let flip = |truth: Truth| if quantified.universal { truth } else { !truth };
        let of = |situation: &Situation| {
            let standing = configs.standing(&property.automaton, situation.config);
            Standing {
                now: flip(standing.now),
                fixed: standing.fixed || complete,
            }
        };
        let root = of(&self.classes[ROOT as usize].situation);
        let mut now = Truth::True;
        let mut lost_for_good = false;
        let mut all_fixed = root.fixed && root.now == Truth::True;
        for id in [ROOT].iter().chain(&self.live).chain(&self.fixed) {
            let class = self.class(*id);
            let standing = of(&class.situation);
            let in_range = class.situation.range.all(quantified.ranged);
            // The root and partial bindings speak for a value that is not known.
            if (*id == ROOT || class.members > class.whole)
                && self.wild
                && standing.now != Truth::True
                && in_range != Truth::False
            {
                now = now.and(Truth::Unknown);
            }
            if class.whole == 0 {
                all_fixed &= class.members == 0 || (standing.fixed && standing.now == Truth::True);
                continue;
            }
            all_fixed &= standing.fixed && standing.now == Truth::True;
            match in_range {
                Truth::True => {
                    now = now.and(standing.now);
                    lost_for_good |= standing.fixed && standing.now == Truth::False;
                }
                Truth::Unknown if standing.now != Truth::True => now = now.and(Truth::Unknown),
                Truth::Unknown | Truth::False => {}
            }
        }
        let fixed = match now {
            Truth::False => lost_for_good,
            Truth::True => all_fixed,
            Truth::Unknown => false,
        };
        Standing {
            now: flip(now),
            fixed: fixed || complete,
        }
    }

    /// The instances that violate a `forall`, earliest first, then by value; at most `most`, and how many there are.
    pub(in crate::eval) fn violated(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &Configs,
        end: Option<Option<u32>>,
        most: usize,
    ) -> (Vec<Instance>, usize) {
        let mut found = Vec::new();
        for (key, class) in &self.map {
            let situation = &self.class(self.find(*class)).situation;
            let standing = configs.standing(&property.automaton, situation.config);
            if standing.now != Truth::False
                || key.iter().any(Option::is_none)
                || situation.range.all(quantified.ranged) != Truth::True
            {
                continue;
            }
            match (situation.fixed_at, end) {
                (Some(at), _) if standing.fixed => found.push((Some(at), key)),
                (_, Some(last)) => found.push((last, key)),
                _ => {}
            }
        }
        let n = found.len();
        // None is the empty trace, where all are.
        found.sort_unstable();
        found.truncate(most);
        (
            found
                .into_iter()
                .map(|(at, key)| Instance {
                    key: key.clone(),
                    at,
                })
                .collect(),
            n,
        )
    }
}
