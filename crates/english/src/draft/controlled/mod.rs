//! The English that formulas are read back in, read exactly.
//!
//! [`words`](crate::words) composes sentences from a formula part by part, with names in backquotes and parentheses where
//! parts are nested. Such a sentence is taken apart here by the same rules, so that what is read back is the formula again,
//! however deep. Anything else is none of these sentences, and ordinary English.

mod distance;

use distance::{ahead, back, length, place, times};

use super::condition::Reader;
use super::number::Measure;
use super::reading::{Modality, Reading};
use super::token::tokens;
use crate::words::Window;
use crate::words::formula::{
    Binary, Logic, Unary, always, and, eventually, implies, never, next, not, occurrences, or,
    previously, since, unless, until,
};

/// The reading of a text that is read-back from a formula; none of any other text.
pub(super) fn read(reader: &mut Reader, text: &str) -> Option<Reading> {
    if !text.contains('`') {
        return None;
    }
    let text = text.trim().strip_suffix('.')?;
    let mut parser = Parser {
        reader,
        names: Vec::new(),
    };
    let mut parts = Vec::new();
    for sentence in text.split(". ") {
        let mut chars = sentence.chars();
        let first = chars.next()?.to_lowercase();
        let sentence: String = first.chain(chars).collect();
        parts.push(parser.whole(&sentence)?);
    }
    // Two names that come to one situation would make another formula of it.
    let mut atoms: Vec<usize> = parser.names.iter().map(|(_, atom)| *atom).collect();
    atoms.sort_unstable();
    atoms.dedup();
    let told_apart = atoms.len() == parser.names.len();
    let logic = and(parts);
    let modality = modality(&logic);
    let bound = window(&logic).map(|window| Measure {
        value: window.high,
        unit: window.unit,
    });
    told_apart.then(|| Reading::new(modality, logic).bounded(bound))
}

/// The window of what is asked for, or of what must follow something.
fn window(logic: &Logic) -> Option<Window> {
    match logic {
        Logic::Unary(Unary::Always, None, inner) => match inner.as_ref() {
            Logic::Implies(_, then) => window(then),
            _ => None,
        },
        Logic::Unary(_, window, _) | Logic::Binary(_, window, ..) => *window,
        _ => None,
    }
}

/// The kind of a formula by its form.
fn modality(logic: &Logic) -> Modality {
    match logic {
        Logic::Unary(Unary::Always, None, inner) => match inner.as_ref() {
            Logic::Implies(_, then) => match then.as_ref() {
                Logic::Unary(Unary::Eventually, None, _) => Modality::Liveness,
                Logic::Unary(_, Some(_), _) => Modality::Bounded,
                Logic::Unary(Unary::Once, None, _) => Modality::Precedence,
                Logic::Binary(Binary::Unless | Binary::Until, ..) => Modality::Until,
                _ => Modality::Invariant,
            },
            _ => Modality::Invariant,
        },
        Logic::Unary(Unary::Eventually, None, _) => Modality::Existence,
        Logic::Unary(_, Some(_), _) => Modality::Bounded,
        Logic::Binary(Binary::Unless | Binary::Until, ..) => Modality::Until,
        Logic::Not(inner) => match inner.as_ref() {
            Logic::Unary(Unary::Eventually, None, bad) if bad.is_state() => Modality::Forbid,
            Logic::Unary(Unary::Eventually, None, _) => Modality::AbsenceAfter,
            _ => Modality::Forbid,
        },
        _ => Modality::Invariant,
    }
}

struct Parser<'r> {
    reader: &'r mut Reader,
    /// The names that were met, with their atoms.
    names: Vec<(String, usize)>,
}

/// What was read, and what follows it.
type Read<'t> = Option<(Logic, &'t str)>;

fn unary(op: Unary, window: Option<Window>, inner: Logic) -> Logic {
    Logic::Unary(op, window, Box::new(inner))
}

fn binary(op: Binary, window: Option<Window>, a: Logic, b: Logic) -> Logic {
    Logic::Binary(op, window, Box::new(a), Box::new(b))
}

/// `G (a -> F[w] b | F[cut off] last)` of `G (a -> F[w] b)`.
fn unless_cut_off(asked: Logic) -> Option<Logic> {
    let Logic::Unary(Unary::Always, None, inner) = asked else {
        return None;
    };
    let Logic::Implies(when, then) = *inner else {
        return None;
    };
    let Logic::Unary(Unary::Eventually, Some(window), _) = then.as_ref() else {
        return None;
    };
    let ends = eventually(Some(window.cut_off()?), Logic::Last);
    Some(always(implies(*when, or([*then, ends]))))
}

impl Parser<'_> {
    /// A sentence as a whole, without its full stop.
    fn whole(&mut self, text: &str) -> Option<Logic> {
        if let Some(rest) = text.strip_suffix(crate::words::UNLESS_CUT_OFF) {
            return unless_cut_off(self.whole(rest)?);
        }
        if let Some(rest) = text.strip_prefix("whenever ") {
            return self.whenever(rest);
        }
        if let Some(rest) = text.strip_prefix("it must never be so that ") {
            return Some(never(self.all(rest)?));
        }
        if let Some(rest) = text.strip_prefix("it must not be so that ") {
            return Some(not(self.all(rest)?));
        }
        if let Some(rest) = text.strip_prefix("at the first step, ") {
            return self.all(rest);
        }
        if let Some(rest) = text.strip_prefix("the run must end with ") {
            let (end, rest) = self.must(rest)?;
            return rest
                .is_empty()
                .then(|| eventually(None, and([end, Logic::Last])));
        }
        if let Some(rest) = text.strip_prefix("after ") {
            let (first, rest) = self.must(rest)?;
            let (bad, rest) = self.must(rest.strip_prefix(" has held, ")?)?;
            if rest == " must never hold" {
                return Some(never(and([first, next(eventually(None, bad))])));
            }
            let (release, rest) = self.must(rest.strip_prefix(" must not hold until ")?)?;
            return (rest == " holds").then(|| never(and([first, next(scoped(bad, release))])));
        }
        if let Some(rest) = text.strip_prefix("from the step where ") {
            let (first, rest) = self.must(rest)?;
            let (release, rest) = self.must(rest.strip_prefix(" holds until ")?)?;
            let (bad, rest) = self.must(rest.strip_prefix(" holds, ")?)?;
            return (rest == " must not hold").then(|| never(and([first, scoped(bad, release)])));
        }
        if let Some(rest) = text.strip_prefix("each ") {
            let (act, rest) = self.must(rest)?;
            let (permit, rest) = self.must(rest.strip_prefix(" needs its own ")?)?;
            let held = previously(since(not(act.clone()), permit));
            return rest.is_empty().then(|| always(implies(act, held)));
        }
        let (what, rest) = self.must(text)?;
        self.of_subject(what, rest)
    }

    /// What a sentence says of the situation that it begins with.
    fn of_subject(&mut self, what: Logic, rest: &str) -> Option<Logic> {
        if let Some(rest) = rest.strip_prefix(" may hold only after ") {
            let (permit, rest) = self.must(rest)?;
            let (revoke, rest) = self.must(rest.strip_prefix(" has held and ")?)?;
            let held = previously(since(not(revoke), permit));
            return (rest == " has not held since").then(|| always(implies(what, held)));
        }
        if let Some(rest) = rest.strip_prefix(" may hold at most ") {
            return Some(not(occurrences(times(rest)?.checked_add(1)?, &what)));
        }
        if let Some(rest) = rest.strip_prefix(" must hold at least ") {
            return Some(occurrences(times(rest)?, &what));
        }
        if let Some(rest) = rest.strip_prefix(" must never be followed by ") {
            let (later, rest) = self.must(rest)?;
            return (rest == ", at the same step or later")
                .then(|| never(and([what, eventually(None, later)])));
        }
        if let Some(rest) = rest.strip_prefix(" must not hold for longer than ") {
            let (high, unit, rest) = length(rest)?;
            let ends = eventually(Some(Window::deadline(high, unit)), not(what.clone()));
            return rest.is_empty().then(|| always(implies(what, ends)));
        }
        for (words, held) in [
            (" must not hold until ", not(what.clone())),
            (" must hold until ", what.clone()),
        ] {
            if let Some(rest) = rest.strip_prefix(words) {
                return self.until(held, rest);
            }
        }
        match rest {
            " must never hold" => Some(never(what)),
            " must always hold" => Some(always(what)),
            " must hold at some point" => Some(eventually(None, what)),
            _ => {
                let (window, rest) = ahead(rest.strip_prefix(" must hold ")?, true)?;
                rest.is_empty().then(|| eventually(Some(window), what))
            }
        }
    }

    /// `until … holds`, with what says whether that must come.
    fn until(&mut self, held: Logic, text: &str) -> Option<Logic> {
        let (end, rest) = self.must(text)?;
        match rest.strip_prefix(" holds")? {
            "" | ", if it ever does" => Some(unless(held, end)),
            rest => {
                let (again, rest) = self.must(rest.strip_prefix(", and ")?)?;
                (again == end && rest == " must hold at some point").then(|| until(held, end))
            }
        }
    }

    /// After `whenever `.
    fn whenever(&mut self, text: &str) -> Option<Logic> {
        let (when, rest) = self.must(text)?;
        let (when, rest) = match rest.strip_prefix(" does not hold, ") {
            Some(rest) => (not(when), rest),
            None => (when, rest.strip_prefix(" holds, ")?),
        };
        let then = self.then(rest)?;
        Some(always(implies(when, then)))
    }

    /// What must be so whenever something else is.
    fn then(&mut self, text: &str) -> Option<Logic> {
        if let Some(rest) = text.strip_prefix("it must be so that ") {
            return self.all(rest);
        }
        if let Some((what, rest)) = self.must(text)
            && let Some(logic) = self.of_consequence(what, rest)
        {
            return Some(logic);
        }
        self.all(text)
    }

    fn of_consequence(&mut self, what: Logic, rest: &str) -> Option<Logic> {
        let (what, rest, refused) = match rest.strip_prefix(" must not ") {
            Some(rest) => (not(what), rest, true),
            None => (what, rest.strip_prefix(" must ")?, false),
        };
        if let Some(rest) = rest.strip_prefix("hold until ") {
            let logic = self.until(what, rest)?;
            // Only what is refused may go without saying whether the end comes.
            return (refused || rest.ends_with(", if it ever does")).then_some(logic);
        }
        match rest {
            "hold at that step" => Some(what),
            "hold at that step or a later one" => Some(eventually(None, what)),
            "hold in the next step" => Some(next(what)),
            "have held in the step before" => Some(previously(what)),
            "have held at that step or an earlier one" => Some(unary(Unary::Once, None, what)),
            _ => {
                if let Some(rest) = rest.strip_prefix("have held ") {
                    let (window, rest) = back(rest)?;
                    return rest
                        .is_empty()
                        .then(|| unary(Unary::Once, Some(window), what));
                }
                let (window, rest) = ahead(rest.strip_prefix("hold ")?, false)?;
                rest.is_empty().then(|| eventually(Some(window), what))
            }
        }
    }

    /// A name, names that `and` or `or` joins, or a phrase in parentheses.
    fn must<'t>(&mut self, text: &'t str) -> Read<'t> {
        let (first, mut rest) = self.part(text)?;
        if text.starts_with('(') {
            return Some((first, rest));
        }
        for (word, all) in [(" and `", true), (" or `", false)] {
            if !rest.starts_with(word) {
                continue;
            }
            let mut parts = vec![first];
            while rest.starts_with(word) {
                let (part, after) = self.part(&rest[word.len() - 1..])?;
                parts.push(part);
                rest = after;
            }
            return Some((if all { and(parts) } else { or(parts) }, rest));
        }
        Some((first, rest))
    }

    /// A phrase that is the whole text.
    fn all(&mut self, text: &str) -> Option<Logic> {
        let (logic, rest) = self.phrase(text)?;
        rest.is_empty().then_some(logic)
    }

    /// What stands beside others: a name, its negation, a constant, or a phrase in parentheses.
    fn part<'t>(&mut self, text: &'t str) -> Read<'t> {
        if let Some(rest) = text.strip_prefix('(') {
            let (logic, rest) = self.phrase(rest)?;
            return Some((logic, rest.strip_prefix(')')?));
        }
        if let Some(rest) = text.strip_prefix('`') {
            let (name, rest) = rest.split_once('`')?;
            return Some((self.name(name)?, rest));
        }
        if let Some(rest) = text.strip_prefix("not ") {
            let (inner, rest) = self.part(rest)?;
            return Some((not(inner), rest));
        }
        let constants = [
            ("true", Logic::True),
            ("false", Logic::False),
            ("the trace ends here", Logic::Last),
            ("the trace begins here", Logic::First),
        ];
        constants
            .into_iter()
            .find_map(|(words, logic)| Some((logic, text.strip_prefix(words)?)))
    }

    fn name(&mut self, name: &str) -> Option<Logic> {
        if let Some((_, atom)) = self.names.iter().find(|(known, _)| known == name) {
            return Some(Logic::Atom(*atom));
        }
        let Logic::Atom(atom) = self.reader.atom(&tokens(&format!("`{name}`")))? else {
            return None;
        };
        self.names.push((name.to_owned(), atom));
        Some(Logic::Atom(atom))
    }

    /// A phrase: as far as it goes.
    fn phrase<'t>(&mut self, text: &'t str) -> Read<'t> {
        if let Some(rest) = text.strip_prefix("it is not so that ") {
            let (inner, rest) = self.part(rest)?;
            return Some((not(inner), rest));
        }
        if let Some(rest) = text.strip_prefix("it never happens that ") {
            let (bad, rest) = self.phrase(rest)?;
            return Some((always(not(bad)), rest));
        }
        if let Some(rest) = text.strip_prefix("if ") {
            let (a, rest) = self.part(rest)?;
            let (b, rest) = self.phrase(rest.strip_prefix(", then ")?)?;
            return Some((implies(a, b), rest));
        }
        if let Some(rest) = text.strip_prefix("whenever ") {
            let (a, rest) = self.phrase(rest)?;
            let (b, rest) = self.phrase(rest.strip_prefix(", ")?)?;
            return Some((always(implies(a, b)), rest));
        }
        if let Some(rest) = text.strip_prefix("no ") {
            let (bad, rest) = self.part(rest)?;
            let (end, rest) = self.part(rest.strip_prefix(" before ")?)?;
            return Some((unless(not(bad), end), rest));
        }
        if let Some((op, window, rest)) = place(text)
            && let Some(rest) = rest.strip_prefix(": ")
        {
            let (inner, rest) = self.phrase(rest)?;
            return Some((unary(op, window, inner), rest));
        }
        let (first, rest) = self.part(text)?;
        self.after_part(first, rest)
    }

    /// What a phrase says of the part that it begins with.
    fn after_part<'t>(&mut self, first: Logic, rest: &'t str) -> Read<'t> {
        for (word, all) in [(" and ", true), (" or ", false)] {
            if !rest.starts_with(word) {
                continue;
            }
            let (mut parts, mut rest) = (vec![first], rest);
            while let Some(more) = rest.strip_prefix(word) {
                let (part, after) = self.part(more)?;
                parts.push(part);
                rest = after;
            }
            return Some((if all { and(parts) } else { or(parts) }, rest));
        }
        if let Some(rest) = rest.strip_prefix(" exactly when ") {
            let (b, rest) = self.part(rest)?;
            return Some((Logic::Iff(Box::new(first), Box::new(b)), rest));
        }
        if let Some(rest) = rest.strip_prefix(" never happens") {
            return Some((always(not(first)), rest));
        }
        if let Some(rest) = rest.strip_prefix(" comes") {
            let (window, rest) = match rest.strip_prefix(' ') {
                Some(rest) => {
                    let (window, rest) = ahead(rest, true)?;
                    (Some(window), rest)
                }
                None => (None, rest),
            };
            let (held, rest) = self.part(rest.strip_prefix(", and until then ")?)?;
            return Some((binary(Binary::Until, window, held, first), rest));
        }
        if let Some(rest) = rest.strip_prefix(" has happened, and ever since ") {
            let (held, rest) = self.part(rest)?;
            return Some((since(held, first), rest));
        }
        if let Some(rest) = rest.strip_prefix(" ever since ") {
            let (begin, rest) = self.part(rest)?;
            let rest = rest.strip_prefix(", or from the start")?;
            return Some((binary(Binary::BackTo, None, first, begin), rest));
        }
        if let Some(rest) = rest.strip_prefix(" until ") {
            let (end, rest) = self.part(rest)?;
            return Some((unless(first, end), rest.strip_prefix(", or for good")?));
        }
        if let Some(rest) = rest.strip_prefix(" up to and including the step where ") {
            let (end, rest) = self.part(rest)?;
            let (op, rest) = match rest.strip_prefix(", which comes") {
                Some(rest) => (Binary::StrongRelease, rest),
                None => (Binary::Release, rest.strip_prefix(", or for good")?),
            };
            return Some((binary(op, None, end, first), rest));
        }
        if let Some((op, window, rest)) = rest.strip_prefix(' ').and_then(place) {
            return Some((unary(op, window, first), rest));
        }
        Some((first, rest))
    }
}

/// `!r U (bad & !r)`
fn scoped(bad: Logic, release: Logic) -> Logic {
    until(not(release.clone()), and([bad, not(release)]))
}
