//! The verdict over all instances, and the instances that are violated.

use super::{InstanceState, Instances, ROOT, Violated};
use crate::eval::binding::Key;
use crate::eval::compiled::{PropertyCode, QuantifiedCode};
use crate::eval::monitor::{StateSetId, StateSetInterner, Status};
use crate::value::{Truth, Value};

impl Instances {
    /// Whether no event can change the property any more.
    pub(in crate::eval) fn is_idle(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &StateSetInterner,
    ) -> bool {
        let root = &self.classes[ROOT as usize].state;
        let neutral = Truth::from(quantified.universal);
        if self.decisive && !quantified.universal {
            return true;
        }
        let is_neutral = |state: &InstanceState| {
            state_sets.status(&property.automaton, state.state_set).now == neutral
        };
        // Complete tuples that are created later inherit a final partial binding.
        let heirs = |id: &u32| {
            let class = self.class(*id);
            class.members > class.whole && !is_neutral(&class.state)
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

    /// Returns the verdict over all instances.
    pub(in crate::eval) fn status(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &StateSetInterner,
        complete: bool,
    ) -> Status {
        if self.overflow {
            return Status {
                now: Truth::Unknown,
                fixed: complete,
            };
        }
        // `exists` is evaluated as `not forall not`.
        let flip = |truth: Truth| if quantified.universal { truth } else { !truth };
        let of = |state: &InstanceState| {
            let status = state_sets.status(&property.automaton, state.state_set);
            Status {
                now: flip(status.now),
                fixed: status.fixed || complete,
            }
        };
        let root = of(&self.classes[ROOT as usize].state);
        let mut now = Truth::True;
        let mut lost_for_good = false;
        let mut all_fixed = root.fixed && root.now == Truth::True;
        for id in [ROOT].iter().chain(&self.live).chain(&self.fixed) {
            let class = self.class(*id);
            let status = of(&class.state);
            let in_range = class.state.range.all(quantified.ranged);
            if class.whole == 0 {
                all_fixed &= class.members == 0 || (status.fixed && status.now == Truth::True);
                continue;
            }
            all_fixed &= status.fixed && status.now == Truth::True;
            match in_range {
                Truth::True => {
                    now = now.and(status.now);
                    lost_for_good |= status.fixed && status.now == Truth::False;
                }
                Truth::Unknown if status.now != Truth::True => now = now.and(Truth::Unknown),
                Truth::Unknown | Truth::False => {}
            }
        }
        if self.wild != 0 {
            now = now.and(self.wild_value(quantified, |state| of(state).now));
        }
        let fixed = match now {
            Truth::False => lost_for_good,
            Truth::True => all_fixed,
            Truth::Unknown => false,
        };
        Status {
            now: flip(now),
            fixed: fixed || complete,
        }
    }

    /// Whether the property is violated (for a `forall`: whether some instance is), for good or, if it is monitored after
    /// violations, at the last step. Unknown if that depends on unknown values.
    pub(in crate::eval) fn is_violated(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &StateSetInterner,
    ) -> Truth {
        if self.overflow {
            return Truth::Unknown;
        }
        if !quantified.universal {
            let status = self.status(property, quantified, state_sets, false);
            // Whether each value, seen or not, may be violated for good.
            let may_be_violated = |id: &u32| {
                let class = self.class(*id);
                (*id != ROOT && class.members == 0)
                    || state_sets.violated(&property.automaton, class.state.state_set)
                        != Truth::False
            };
            let mut classes = [ROOT].iter().chain(&self.live).chain(&self.fixed);
            return match status.now {
                Truth::False if status.fixed => Truth::True,
                Truth::False if classes.all(may_be_violated) => Truth::Unknown,
                Truth::False | Truth::True => Truth::False,
                Truth::Unknown => Truth::Unknown,
            };
        }
        let of = |id: u32| {
            let state = &self.class(id).state;
            let violated = state_sets.violated(&property.automaton, state.state_set);
            violated.and(state.range.all(quantified.ranged))
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

    /// Returns an instance that is violated now; if there are several, the least.
    pub(in crate::eval) fn violated_now(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &StateSetInterner,
    ) -> Option<Key> {
        let is_violated = |class: u32| {
            let state = &self.class(self.find(class)).state;
            state.range.all(quantified.ranged) != Truth::False
                && state_sets.violated(&property.automaton, state.state_set) != Truth::False
        };
        self.whole(is_violated)
            .into_iter()
            .map(|(key, _)| key)
            .min()
            .cloned()
    }

    /// Returns at most `most` instances with pending obligations and their state sets, least first.
    pub(in crate::eval) fn owing(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &StateSetInterner,
        most: usize,
    ) -> Vec<(Key, StateSetId)> {
        let owes = |class: u32| {
            let state = &self.class(self.find(class)).state;
            state.range.all(quantified.ranged) != Truth::False
                && state_sets.status(&property.automaton, state.state_set).now != Truth::True
        };
        let mut owing = self.whole(owes);
        owing.sort_unstable_by_key(|(key, _)| *key);
        owing.truncate(most);
        let state_set = |class: u32| self.class(self.find(class)).state.state_set;
        owing
            .into_iter()
            .map(|(key, class)| (key.clone(), state_set(class)))
            .collect()
    }

    /// Returns the complete tuples whose class is wanted.
    fn whole(&self, wanted: impl Fn(u32) -> bool) -> Vec<(&Key, u32)> {
        let whole =
            |(key, class): &(&Key, &u32)| key.iter().all(Option::is_some) && wanted(**class);
        self.map
            .iter()
            .filter(whole)
            .map(|(key, class)| (key, *class))
            .collect()
    }

    /// Whether something is unknown: the states of instances, or the set of instances.
    pub(in crate::eval) fn is_doubtful(&self, state_sets: &StateSetInterner) -> bool {
        let classes = [ROOT].iter().chain(&self.live).chain(&self.fixed);
        self.overflow
            || self.wild != 0
            || classes.into_iter().any(|id| {
                let InstanceState {
                    state_set, range, ..
                } = &self.class(*id).state;
                state_sets.is_doubtful(*state_set) || range.possible != range.certain
            })
    }

    /// Returns the value over the instances that an unknown key may be, alone or together with any value seen.
    fn wild_value(
        &self,
        quantified: &QuantifiedCode,
        of: impl Fn(&InstanceState) -> Truth,
    ) -> Truth {
        let doubt = |state: &InstanceState| {
            let out = state.range.all(quantified.ranged) == Truth::False;
            Truth::from(out).or(of(state)).or(Truth::Unknown)
        };
        let is_wild = |place: usize| self.wild >> place & 1 == 1;
        let n_places = quantified.vars.len();
        if n_places == 1 {
            return doubt(&self.class(ROOT).state);
        }
        let n_options = |place: usize| self.seen[place].len() + usize::from(is_wild(place));
        let n_all = (0..n_places)
            .map(n_options)
            .fold(1usize, usize::saturating_mul);
        if n_all > quantified.combinations {
            let classes = [ROOT].iter().chain(&self.live).chain(&self.fixed);
            return classes
                .map(|id| doubt(&self.class(*id).state))
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
            // Kept instances have already been counted.
            (_, true) if key.iter().all(Option::is_some) => Truth::True,
            (class, _) => doubt(&self.class(class).state),
        };
        keys.iter().map(value).fold(Truth::True, Truth::and)
    }

    /// Returns the instances that violate a `forall`, in any order.
    pub(in crate::eval) fn violated(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &StateSetInterner,
        end: Option<Option<u32>>,
    ) -> Vec<Violated<'_>> {
        let mut found = Vec::new();
        for (key, class) in self.map.iter() {
            let state = &self.class(self.find(*class)).state;
            let status = state_sets.status(&property.automaton, state.state_set);
            if status.now != Truth::False
                || key.iter().any(Option::is_none)
                || state.range.all(quantified.ranged) != Truth::True
            {
                continue;
            }
            match (state.fixed_at, end) {
                (Some(at), _) => found.push((Some(at), key)),
                (None, Some(last)) => found.push((last, key)),
                // The property was decided before the first event.
                (None, None) if status.fixed => found.push((None, key)),
                _ => {}
            }
        }
        found
    }
}
