//! The instances that an event distinguishes from the others in their class.
//!
//! The values that an event has for some of the names are a *match*: an event with a server and an id has the matches "this
//! server", "this id" and "both". Tuples that agree with a match, and not with one that binds more, are stepped by the same
//! letters. If these lead every class to the same state as the letters of a match that binds less, or of no match, the match
//! makes no difference and touches nothing. For most properties only the match of all names makes a difference: a letter that
//! compares all of them is false for every other tuple, without being evaluated.
//!
//! # Cost
//! For each event: classes × matches that some letter can distinguish, plus the kept tuples with an open verdict that agree
//! with a match that makes a difference. A match that binds one name of two and does make a difference changes all open
//! instances with that name, so their cost is unavoidable.

use super::{Buffers, Instances, ROOT};
use rustc_hash::FxHashMap;

use crate::eval::binding::{self, Key, Places, bound, compatible, join, place};
use crate::eval::code::Reads;
use crate::eval::compiled::{Condition, PropertyCode, QuantifiedCode, Release};
use crate::eval::distinct::Distinct;
use crate::eval::expr::{Eval, Frame};
use crate::eval::monitor::{StateSetId, StateSetInterner};
use crate::value::{Truth, Value};

/// The successors of the root and of each class with an open verdict by the letters of a match, in the order of
/// [`Instances::live`]; `None` if they depend on the values of tracks for the tuple.
type Outcome = Vec<Option<StateSetId>>;

/// A match that makes a difference.
struct Effective {
    key: Key,
    places: Places,
    /// `None` if the classes that it changes are unknown.
    outcome: Option<Outcome>,
}

impl Instances {
    /// Finds every instance, kept or not, that the event distinguishes from its class.
    pub(super) fn find_touched(
        &mut self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &mut StateSetInterner,
        eval: &mut Eval<'_>,
        unknown: Places,
        room: &mut Buffers,
    ) {
        let n_vars = quantified.vars.len();
        // Places without which no condition can distinguish tuples, if all compared terms are known.
        let reading = quantified.conditions.iter().filter(|of| of.reads != 0);
        let needed = reading.fold(Places::MAX, |all, of| all & of.needs & !unknown);
        let all = quantified.release == Release::Never || quantified.ranged != 0;
        let matches = binding::matches(&room.values[..n_vars], if all { 0 } else { needed });
        let nothing: Key = vec![None; n_vars].into();
        let mut touched = std::mem::take(&mut room.touched);
        // The outcome for all tuples that no match touches, unless a letter reads tracks by variable.
        let mut untouched: Option<Outcome> = None;
        if quantified.by_value {
            let outcome = self.outcome(property, state_sets, eval, &nothing);
            if quantified.counted_by_value || outcome.contains(&None) {
                keys_of_tracks(quantified, eval, &nothing, &mut touched);
                touched.extend(self.map.keys().cloned());
            }
            untouched = Some(outcome);
        }
        let depends_on_tracks = !touched.is_empty();
        let mut effective: Vec<Effective> = Vec::new();
        for key in matches {
            self.note_trigger(property, quantified, eval, &key, unknown, room);
            let found = self.effect(
                property,
                quantified,
                state_sets,
                eval,
                &key,
                unknown,
                &room.in_range,
                &effective,
                &mut untouched,
            );
            effective.extend(found);
        }
        let mut found = Vec::new();
        let mut closed = true;
        // For each class with an open verdict, its index in outcomes.
        let mut positions: FxHashMap<u32, usize> = FxHashMap::default();
        if effective.iter().any(|of| of.outcome.is_some()) {
            let classes = [ROOT].iter().chain(&self.live).copied();
            positions.extend(classes.zip(0..));
        }
        for Effective {
            key,
            places,
            outcome,
        } in &effective
        {
            let open = outcome.as_ref().is_some_and(|of| of.contains(&None));
            if open {
                keys_of_tracks(quantified, eval, key, &mut found);
                closed &= found.is_empty();
                touched.extend(found.drain(..).map(|other| join(&other, key)));
            }
            // Of the instances that agree with the match, only those whose class changes.
            let changes = |class: u32| match (outcome, &untouched) {
                (Some(outcome), Some(untouched)) if !open => positions
                    .get(&class)
                    .is_none_or(|at| outcome.get(*at) != untouched.get(*at)),
                _ => true,
            };
            let is_kept = |id: &u32| self.class(*id).members > 0;
            let mut kept = [ROOT].iter().chain(&self.live).filter(|id| is_kept(id));
            let looks = quantified.ranged != 0 || kept.any(|class| changes(*class));
            let wanted = |shape: Places| looks || shape & places != *places;
            self.map.compatible(key, wanted, &mut found);
            eval.eval_cache.work += found.len() as u64;
            let mut settled: Vec<Key> = Vec::new();
            for other in found.drain(..) {
                if bound(&other) & places != *places {
                    touched.push(join(&other, key));
                    continue;
                }
                let class = self.map.get(&other).map_or(ROOT, |class| self.find(*class));
                let is_fixed = self.class(class).state.fixed_at.is_some();
                if quantified.ranged == 0 && is_fixed {
                    if other.iter().all(Option::is_some) {
                        settled.push(other);
                    }
                } else if quantified.ranged != 0 || changes(class) {
                    touched.push(other);
                }
            }
            touched.push(key.clone());
            // The verdict of a complete tuple is final: no event touches it any more.
            for key in settled {
                self.map.remove_from_indexes(&key);
            }
        }
        if depends_on_tracks {
            for Effective { key, .. } in &effective {
                let agrees = |other: &&Key| compatible(other, key);
                let joins = touched.iter().filter(agrees);
                let joins: Vec<Key> = joins.map(|other| join(other, key)).collect();
                touched.extend(joins);
            }
        }
        if depends_on_tracks || !closed {
            binding::close(&mut touched);
        } else {
            binding::in_order(&mut touched);
        }
        room.touched = touched;
    }

    /// Whether a match distinguishes tuples from those that agree with less of it.
    #[allow(
        clippy::too_many_arguments,
        reason = "one event, one property: all of it is needed"
    )]
    fn effect(
        &self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &mut StateSetInterner,
        eval: &mut Eval<'_>,
        key: &Key,
        unknown: Places,
        in_range: &[Distinct],
        effective: &[Effective],
        untouched: &mut Option<Outcome>,
    ) -> Option<Effective> {
        let places = bound(key);
        let below = || {
            effective.iter().filter(|other| {
                other.places & places == other.places && compatible(&other.key, key)
            })
        };
        let all = below().fold(0, |all, other| all | other.places);
        let parent = below().find(|other| other.places == all);
        let made = |outcome| {
            Some(Effective {
                key: key.clone(),
                places,
                outcome,
            })
        };
        let is_new = quantified.release == Release::Never && self.map.get(key).is_none();
        // Several less informative matches have different outcomes.
        let divided = parent.is_none() && all != 0;
        if is_new || divided || self.enters_range(key, places & !all, in_range) {
            return made(None);
        }
        // Letters that compare a name that the match does not bind are false.
        let tells_apart =
            |condition: &Condition| condition.tells_apart(places, places & !all, unknown);
        if !quantified.conditions.iter().any(tells_apart) {
            return None;
        }
        let is_whole = places.count_ones() as usize == key.len();
        if is_whole || !property.frame.is_empty() {
            return made(None);
        }
        let outcome = self.outcome(property, state_sets, eval, key);
        if outcome.contains(&None) {
            return made(Some(outcome));
        }
        let nothing: Key = vec![None; key.len()].into();
        let untouched =
            &*untouched.get_or_insert_with(|| self.outcome(property, state_sets, eval, &nothing));
        let same = match parent {
            None => outcome == *untouched,
            Some(parent) => parent.outcome.as_ref() == Some(&outcome),
        };
        if same { None } else { made(Some(outcome)) }
    }

    /// Whether one of these places of a key enters the range of its variable for the first time.
    fn enters_range(&self, key: &Key, places: Places, in_range: &[Distinct]) -> bool {
        let ranges = in_range.iter().take(key.len()).enumerate();
        ranges.into_iter().any(|(index, range)| {
            let is_asked = places & place(index) != 0 && !range.is_empty();
            is_asked
                && key[index].as_ref().is_some_and(|value| {
                    let mut alone = vec![None; key.len()];
                    alone[index] = Some(value.clone());
                    let (class, _) = self.class_of(&alone);
                    let known = self.class(class).state.range.certain & place(index) != 0;
                    range.contains(value) && !known
                })
        })
    }

    /// Returns the successors of the root and of the classes with an open verdict by the letters of a match.
    fn outcome(
        &self,
        property: &PropertyCode,
        state_sets: &mut StateSetInterner,
        eval: &mut Eval<'_>,
        key: &[Option<Value>],
    ) -> Outcome {
        let clock = eval.clock;
        let is_partial = key.iter().any(Option::is_none);
        let classes = [ROOT].iter().chain(&self.live);
        let step = |class: &u32| {
            let state = &self.class(*class).state;
            if state.fixed_at.is_some() {
                return Some(state.state_set);
            }
            let frame = Frame {
                ids: &property.frame,
                registers: &state.registers,
            };
            let mut eval = eval.instance(key, frame);
            let mut open = false;
            let next = state_sets.step(&property.automaton, state.state_set, &clock, |letter| {
                let letter = &property.letters[letter as usize];
                if !is_partial || !letter.reads.has(Reads::KEYED) {
                    return eval.letter(letter.node);
                }
                let truth = eval.truth_of_all(letter.node);
                open |= truth == Truth::Unknown;
                truth
            });
            (!open).then_some(next)
        };
        classes.map(step).collect()
    }

    /// Records whether the trigger may hold for a tuple that was seen and is not touched otherwise.
    fn note_trigger(
        &mut self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        eval: &mut Eval<'_>,
        key: &Key,
        unknown: Places,
        room: &Buffers,
    ) {
        let Some(trigger) = property.trigger.filter(|_| !self.triggered) else {
            return;
        };
        // If the trigger reads registers of the instance or tracks by variable, it is evaluated for each instance
        // elsewhere.
        let reads = eval.code.info(trigger).reads;
        let is_whole = key.iter().all(Option::is_some);
        if reads.has(Reads::FRAME) || (reads.has(Reads::KEYED) && !is_whole) {
            return;
        }
        // The condition of the trigger follows those of the letters.
        let condition = quantified.conditions.get(property.letters.len());
        let places = bound(key);
        let may_hold = condition.is_none_or(|of| of.needs & !unknown & !places == 0);
        // Some tuple has, in each other place, a value that this event does not have.
        let others = key.iter().zip(&self.seen).zip(&room.values);
        let exists = others
            .into_iter()
            .all(|((value, seen), here)| value.is_some() || seen.len() > here.len());
        let exists = exists || self.is_crowded(quantified);
        if may_hold && exists {
            let mut eval = eval.instance(key, Frame::NONE);
            self.triggered = eval.letter(trigger) != Truth::False;
        }
    }
}

/// Returns the values that agree with a key and for which tracks have their own value. A track may have a value for null, which
/// no variable has.
fn keys_of_tracks(
    quantified: &QuantifiedCode,
    eval: &mut Eval<'_>,
    with: &[Option<Value>],
    into: &mut Vec<Key>,
) {
    let first = into.len();
    eval.keys_of_tracks(&quantified.keyed, with, into);
    let is_instance = |key: &Key| !key.iter().flatten().any(Value::is_null);
    let found = into.split_off(first);
    into.extend(found.into_iter().filter(is_instance));
}
