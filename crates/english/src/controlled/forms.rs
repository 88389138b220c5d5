//! The table of the forms that the page shows and that formulas are read back in.
//!
//! A row is a sentence with slots. The parser reads its formula from the sentence, so that the table cannot
//! differ from the parser.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::{Vocabulary, grammar, read_exactly};
use crate::pattern::{Part, filled};
use crate::words::formula::{BACK, always, and, implies, never, not, or, repeated};
use crate::words::{Logic, Speaker, Unary, Window, ahead, back, is_simple, length, times};

/// A form of controlled English.
#[derive(Clone, Debug)]
pub struct Form {
    /// The heading that it stands under.
    pub group: &'static str,
    /// A sentence of the form, over `p`, `q`, `r`, and `a` and `b` of a scope.
    pub words: String,
    /// The formula of that sentence.
    pub logic: Logic,
    /// The names of its situations, by number.
    pub names: Vec<String>,
}

/// The rows: headings, and sentences below them.
///
/// Slots: `{p}` a condition of a step, `{P}` any formula, `{P holds}` the same with its verb, `{P:}` a formula as a phrase, `{after}`,
/// `{here}` and `{back}` a bound after a trigger, from the first step, and looking back, `{len}` a length, `{n}` a number of times.
/// A formula is read back in the first row that it fits.
const TABLE: &str = include_str!("forms.txt");

/// A row of the table, or of the grammar of phrases.
struct Row {
    /// The heading of the table.
    group: &'static str,
    /// Whether what its slot `{P}` stands for must be a phrase without parentheses.
    is_simple: bool,
    words: String,
    /// Its formula; absent if the row has a number of times, as the formula then depends on it.
    pattern: Option<Logic>,
}

/// Returns the formula of a row, whose atoms are the letters of its slots, or `None` if the row is not a sentence of the language; a test
/// finds such a row.
fn pattern(words: &str, count: u32) -> Option<Logic> {
    let read = read_exactly(&example(words, count), &Vocabulary::default()).ok()?;
    let letter = |atom: usize| read.situations[atom].phrase.bytes().next();
    Some(normal(read.logic).renamed(&|atom| letter(atom).map_or(0, usize::from)))
}

/// All rows of the table, parsed once.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let sections = TABLE.trim_start_matches("# ").split("\n# ");
    let sections = sections.filter_map(|section| section.split_once('\n'));
    let rows = sections.flat_map(|(group, lines)| {
        let lines = lines.lines().filter(|line| !line.is_empty());
        lines.map(move |line| Row {
            group,
            is_simple: false,
            words: line.to_owned(),
            pattern: (!line.contains("{n}")).then(|| pattern(line, 1)).flatten(),
        })
    });
    rows.collect()
});

/// The rows of phrases with a formula of their own, those for a short part first. One about a place in time is a row for each place.
static PHRASES: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let mut out = Vec::new();
    let rows = grammar::rule("phrase").iter();
    for row in rows.filter(|row| row.meaning != "p") {
        let is_place = |part: &Part| matches!(part, Part::Slot('t', _));
        let at = row.parts.iter().position(is_place);
        let places = at.map_or(std::slice::from_ref(row), |_| grammar::rule("place"));
        for place in places {
            let mut parts = row.parts.clone();
            if let Some(at) = at {
                parts.splice(at..=at, place.parts.clone());
            }
            out.push(Row {
                group: row.group,
                is_simple: row.flag == "simple",
                words: template(&parts),
                pattern: grammar::pattern(place.meaning),
            });
        }
    }
    out.sort_by_key(|row| !row.is_simple);
    out
});

/// The parts of a row of the grammar as a row of the table: the first of several words, and slots for any formula.
fn template(parts: &[Part]) -> String {
    let mut out = String::new();
    for part in parts {
        let text = match part {
            Part::Words(choices) => choices[0].replace(" ,", ","),
            Part::Slot(letter, rule @ ("part" | "phrase")) => {
                format!("{{{}:{rule}}}", letter.to_uppercase())
            }
            Part::Slot(_, rule) => format!("{{{rule}}}"),
        };
        if !out.is_empty() && !text.starts_with([',', ':']) {
            out.push(' ');
        }
        out.push_str(&text);
    }
    out
}

/// The numbers of times that a formula may be about.
fn counts(logic: &Logic) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    logic.walk(&mut |part| match part {
        Logic::AtMost(count, ..) => found.extend([*count]),
        // A single occurrence is said without a number.
        Logic::And(_) => {
            let counted = repeated(part, BACK).filter(|(_, count)| *count > 1);
            found.extend(counted.map(|(_, count)| count));
        }
        _ => found.extend(
            part.times()
                .into_iter()
                .flat_map(|(_, count)| [count, count - 1]),
        ),
    });
    found.remove(&0);
    found
}

/// The sentence of a row over situations that are called as its slots.
fn example(words: &str, count: u32) -> String {
    filled(words, &mut |slot| match slot {
        "after" | "here" => "within 5 steps".to_owned(),
        "back" => "within the last 5 steps".to_owned(),
        "len" => "5 steps".to_owned(),
        "n" => times(count),
        slot => {
            let verb = slot.find(" holds").map_or("", |at| &slot[at..]);
            format!("`{}`{verb}", slot[..1].to_lowercase())
        }
    })
}

/// All forms, in the order of the page.
pub fn forms() -> Vec<Form> {
    let form = |row: &Row| {
        let words = example(&row.words, 2);
        let read = read_exactly(&words, &Vocabulary::default()).ok()?;
        Some(Form {
            group: row.group,
            words,
            logic: read.logic,
            names: read.situations.into_iter().map(|it| it.name).collect(),
        })
    };
    ROWS.iter().filter_map(form).collect()
}

/// The formula of a sentence in one of the ways of writing it: `!F a` for `G !a`, `G (a -> b)` for `!F (a & !b)`. Formulas with one
/// such form have one sentence.
pub fn normal(logic: Logic) -> Logic {
    if let Some(Logic::Not(bad)) = logic.inside(Unary::Always) {
        return normal(never((**bad).clone()));
    }
    if let Some((a, Logic::Not(bad))) = logic.response()
        && !bad.is_state()
    {
        return normal(never(and([a.clone(), (**bad).clone()])));
    }
    match logic.denied() {
        Some(Logic::Not(good)) => always((**good).clone()),
        Some(Logic::And(parts)) => match parts.split_last() {
            Some((Logic::Not(good), rest)) => {
                normal(always(implies(and(rest.to_vec()), (**good).clone())))
            }
            Some((last, rest)) if parts.iter().all(Logic::is_state) => {
                always(implies(and(rest.to_vec()), not(last.clone())))
            }
            _ => logic,
        },
        _ => logic,
    }
}

/// The slots of bounds.
const BOUNDS: [&str; 4] = ["{after}", "{here}", "{back}", "{len}"];

/// The parts of a formula that the slots of a row stand for.
struct Bound<'l> {
    words: &'l str,
    formulas: Vec<(usize, Logic)>,
    /// The window of the row and that of the formula.
    window: Option<(Window, Window)>,
    count: u32,
}

impl Bound<'_> {
    /// Returns the part that the slot with this letter stands for.
    fn formula(&self, letter: char) -> Option<&Logic> {
        let mut formulas = self.formulas.iter();
        let found = formulas.find(|(known, _)| *known == letter as usize);
        found.map(|(_, logic)| logic)
    }

    /// Returns the words of a bound or a number.
    fn amount(&self, slot: &str) -> Option<String> {
        let window = self.window.map(|(_, window)| window);
        Some(match slot {
            "times" | "n" => times(self.count),
            "after" => ahead(window?, false),
            "here" => ahead(window?, true),
            "back" => back(window?),
            "len" => length(window?.high, window?.unit),
            _ => return None,
        })
    }

    fn fits(&mut self, pattern: &Logic, logic: &Logic) -> bool {
        match (pattern, logic) {
            (Logic::Atom(letter), _) => self.bind(*letter, logic),
            (Logic::Not(a), Logic::Not(b)) => self.fits(a, b),
            (Logic::And(a), Logic::And(b)) => self.all_fit(a, b, and),
            (Logic::Or(a), Logic::Or(b)) => self.all_fit(a, b, or),
            (Logic::Implies(a, b), Logic::Implies(c, d)) | (Logic::Iff(a, b), Logic::Iff(c, d)) => {
                self.fits(a, c) && self.fits(b, d)
            }
            (Logic::Unary(op, w, a), Logic::Unary(other, v, b)) => {
                op == other && self.same(*w, *v) && self.fits(a, b)
            }
            (Logic::Binary(op, w, a, b), Logic::Binary(other, v, c, d)) => {
                op == other && self.same(*w, *v) && self.fits(a, c) && self.fits(b, d)
            }
            (Logic::AtMost(n, w, a), Logic::AtMost(m, v, b)) => {
                self.count = *m;
                let any = self.words.contains("{times}");
                (n == m || any) && self.same(Some(*w), Some(*v)) && self.fits(a, b)
            }
            (pattern, logic) => pattern == logic,
        }
    }

    /// Parts side by side; of more parts than the row has, the first ones are one part.
    fn all_fit(
        &mut self,
        pattern: &[Logic],
        parts: &[Logic],
        join: fn(Vec<Logic>) -> Logic,
    ) -> bool {
        let Some(more) = parts.len().checked_sub(pattern.len()) else {
            return false;
        };
        let first = join(parts[..=more].to_vec());
        self.fits(&pattern[0], &first)
            && pattern[1..]
                .iter()
                .zip(&parts[more + 1..])
                .all(|(pattern, part)| self.fits(pattern, part))
    }

    fn bind(&mut self, letter: usize, logic: &Logic) -> bool {
        if let Some((_, known)) = self.formulas.iter().find(|(known, _)| *known == letter) {
            return known == logic;
        }
        // A capital slot takes any formula.
        let capital = u8::try_from(letter).map(|letter| char::from(letter.to_ascii_uppercase()));
        let mut slots = self.words.split('{').skip(1);
        let takes_any = slots.any(|slot| capital.is_ok_and(|capital| slot.starts_with(capital)));
        if !takes_any && !logic.is_state() {
            return false;
        }
        self.formulas.push((letter, logic.clone()));
        true
    }

    fn same(&mut self, pattern: Option<Window>, window: Option<Window>) -> bool {
        let (Some(pattern), Some(window)) = (pattern, window) else {
            return pattern == window;
        };
        match self.window {
            // A row without a slot for its bound is about that bound only.
            _ if !BOUNDS.iter().any(|slot| self.words.contains(slot)) => pattern == window,
            Some((known, bound)) if known == pattern => bound == window,
            Some((known, bound)) => {
                known.cut_off() == Some(pattern) && bound.cut_off() == Some(window)
            }
            None => {
                self.window = Some((pattern, window));
                let zero = |window: Window| window.low.whole() == Some(0);
                !self.words.contains("{len}")
                    || if zero(pattern) {
                        zero(window)
                    } else {
                        window == Window::deadline(window.high, window.unit)
                    }
            }
        }
    }
}

impl Row {
    /// The words of the row for a formula, if it has the form of the pattern.
    fn say(&self, pattern: &Logic, count: u32, logic: &Logic, to: &Speaker<'_>) -> Option<String> {
        let mut bound = Bound {
            words: &self.words,
            formulas: Vec::new(),
            window: None,
            count,
        };
        let fits = bound.fits(pattern, logic)
            && (!self.is_simple || bound.formula('p').is_some_and(is_simple));
        fits.then(|| filled(&self.words, &mut |slot| said(slot, &bound, to)))
    }
}

/// A formula as one sentence, without its full stop: in the first row that it fits.
pub(crate) fn spoken(logic: &Logic, speaker: &Speaker<'_>) -> Option<String> {
    let logic = normal(logic.clone());
    let counts = counts(&logic);
    let words = ROWS.iter().find_map(|row| match &row.pattern {
        Some(pattern) => row.say(pattern, 1, &logic, speaker),
        None => counts
            .iter()
            .find_map(|count| row.say(&pattern(&row.words, *count)?, *count, &logic, speaker)),
    });
    words.map(|words| words.trim_end_matches('.').to_owned())
}

/// A formula as a phrase: in the first row of the grammar that it fits.
pub(crate) fn phrased(logic: &Logic, speaker: &Speaker<'_>) -> Option<String> {
    let mut rows = PHRASES.iter();
    rows.find_map(|row| row.say(row.pattern.as_ref()?, 1, logic, speaker))
}

/// Returns the words for a slot.
fn said(slot: &str, bound: &Bound<'_>, speaker: &Speaker<'_>) -> String {
    if let Some(words) = bound.amount(slot) {
        return words;
    }
    let letter = slot.to_lowercase().chars().next();
    let Some(logic) = letter.and_then(|letter| bound.formula(letter)) else {
        return String::new();
    };
    match logic {
        Logic::Not(inner) if slot.ends_with(" holds") => {
            format!("{} does not hold", speaker.must(inner))
        }
        _ if slot.ends_with(" holds") => format!("{} holds", speaker.must(logic)),
        _ if slot.ends_with(":part") => speaker.part(logic),
        _ if slot.contains(':') => speaker.phrase(logic),
        _ => speaker.must(logic),
    }
}
