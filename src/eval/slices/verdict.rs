//! From the situations of all instances to one verdict, and to those that are violated.

use super::{Instance, ROOT, Situation, Slices};
use crate::eval::binding::Key;
use crate::eval::monitor::{Config, Configs, Standing};
use crate::eval::program::{PropertyCode, QuantifiedCode};
use crate::value::{Truth, Value};

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
        self.triggered || (self.root_triggered && (self.any || self.wild != 0))
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
        if self.wild != 0 {
            now = now.and(self.wild_value(quantified, |situation| of(situation).now));
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

    /// Whether the property is violated: of a `forall`, whether some instance is; for good or, where it is watched on, at
    /// the last step. Unknown where that depends on what is not known.
    pub(in crate::eval) fn is_violated(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &Configs,
    ) -> Truth {
        if self.overflow {
            return Truth::Unknown;
        }
        if !quantified.universal {
            let standing = self.standing(property, quantified, configs, false);
            return match standing.now {
                Truth::False => Truth::from(standing.fixed),
                Truth::Unknown => Truth::Unknown,
                Truth::True => Truth::False,
            };
        }
        let of = |id: u32| {
            let situation = &self.class(id).situation;
            let violated = configs.violated(&property.automaton, situation.config);
            violated.and(situation.range.all(quantified.ranged))
        };
        let mut found = Truth::False;
        for id in [ROOT].iter().chain(&self.live).chain(&self.fixed) {
            if self.class(*id).whole > 0 {
                found = found.or(of(*id));
            } else if self.wild != 0 {
                // An unknown key may be any value.
                found = found.or(of(*id).and(Truth::Unknown));
            }
        }
        found
    }

    /// An instance that is violated now; of several, the least.
    pub(in crate::eval) fn violated_now(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &Configs,
    ) -> Option<Key> {
        let is_violated = |class: u32| {
            let situation = &self.class(self.find(class)).situation;
            situation.range.all(quantified.ranged) != Truth::False
                && configs.violated(&property.automaton, situation.config) != Truth::False
        };
        self.whole(is_violated)
            .into_iter()
            .map(|(key, _)| key)
            .min()
            .cloned()
    }

    /// Instances that owe something, least first, and where they are; at most `most`.
    pub(in crate::eval) fn owing(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        configs: &Configs,
        most: usize,
    ) -> Vec<(Key, Config)> {
        let owes = |class: u32| {
            let situation = &self.class(self.find(class)).situation;
            situation.range.all(quantified.ranged) != Truth::False
                && configs.standing(&property.automaton, situation.config).now != Truth::True
        };
        let mut owing = self.whole(owes);
        owing.sort_unstable_by_key(|(key, _)| *key);
        owing.truncate(most);
        let config = |class: u32| self.class(self.find(class)).situation.config;
        owing
            .into_iter()
            .map(|(key, class)| (key.clone(), config(class)))
            .collect()
    }

    /// The whole tuples whose class is wanted.
    fn whole(&self, wanted: impl Fn(u32) -> bool) -> Vec<(&Key, u32)> {
        let whole =
            |(key, class): &(&Key, &u32)| key.iter().all(Option::is_some) && wanted(**class);
        self.map
            .iter()
            .filter(whole)
            .map(|(key, class)| (key, *class))
            .collect()
    }

    /// Whether something is not known: where instances are, or which there are.
    pub(in crate::eval) fn is_doubtful(&self, configs: &Configs) -> bool {
        let classes = [ROOT].iter().chain(&self.live);
        self.overflow
            || self.wild != 0
            || classes.into_iter().any(|id| {
                let Situation { config, range, .. } = &self.class(*id).situation;
                configs.is_doubtful(*config) || range.possible != range.certain
            })
    }

    /// The value over the instances that an unknown key may be, alone or beside any value seen.
    fn wild_value(&self, quantified: &QuantifiedCode, of: impl Fn(&Situation) -> Truth) -> Truth {
        // Beyond this all combinations are taken to be possible.
        const MOST: usize = 100_000;
        let doubt = |situation: &Situation| {
            let out = situation.range.all(quantified.ranged) == Truth::False;
            Truth::from(out).or(of(situation)).or(Truth::Unknown)
        };
        let is_wild = |place: usize| self.wild >> place & 1 == 1;
        let n_places = quantified.vars.len();
        if n_places == 1 {
            return doubt(&self.class(ROOT).situation);
        }
        let n_options = |place: usize| self.seen[place].len() + usize::from(is_wild(place));
        let n_all = (0..n_places)
            .map(n_options)
            .fold(1usize, usize::saturating_mul);
        if n_all > MOST {
            let classes = [ROOT].iter().chain(&self.live).chain(&self.fixed);
            return classes
                .map(|id| doubt(&self.class(*id).situation))
                .fold(Truth::True, Truth::and);
        }
        let mut keys: Vec<Vec<Option<Value>>> = vec![Vec::new()];
        for (place, seen) in self.seen.iter().enumerate() {
            let options = || {
                seen.iter()
                    .cloned()
                    .map(Some)
                    .chain(is_wild(place).then_some(None))
            };
            let longer = |key: Vec<Option<Value>>| {
                options().map(move |option| key.iter().cloned().chain([option]).collect())
            };
            keys = keys.into_iter().flat_map(longer).collect();
        }
        let value = |key: &Vec<Option<Value>>| match self.class_of(key) {
            // Instances that are kept have been counted.
            (_, true) if key.iter().all(Option::is_some) => Truth::True,
            (class, _) => doubt(&self.class(class).situation),
        };
        keys.iter().map(value).fold(Truth::True, Truth::and)
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
        for (key, class) in self.map.iter() {
            let situation = &self.class(self.find(*class)).situation;
            let standing = configs.standing(&property.automaton, situation.config);
            if standing.now != Truth::False
                || key.iter().any(Option::is_none)
                || situation.range.all(quantified.ranged) != Truth::True
            {
                continue;
            }
            match (situation.fixed_at, end) {
                (Some(at), _) => found.push((Some(at), key)),
                (None, Some(last)) => found.push((last, key)),
                // Decided before anything was read.
                (None, None) if standing.fixed => found.push((None, key)),
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
