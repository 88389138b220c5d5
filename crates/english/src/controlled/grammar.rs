//! The rows of the grammar, and the formulas that they mean.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::pattern::{Row, rows};
use crate::words::formula::{Binary, Unary, always, and, implies, never, not, occurrences, or};
use crate::words::{Logic, Ratio, Window};

/// The rows of each rule.
static RULES: LazyLock<HashMap<&'static str, Vec<Row>>> = LazyLock::new(|| {
    let mut rules: HashMap<&'static str, Vec<Row>> = HashMap::new();
    for row in rows(include_str!("grammar.txt")) {
        rules.entry(row.group).or_default().push(row);
    }
    rules
});

/// The rules whose rows are about the situation `p` of the sentence that they stand in.
pub(super) const ABOUT: [&str; 6] = ["time", "past", "only", "allowed", "place", "scope"];
/// The columns of a row about a situation: what must be, what must not be, and what must never be if that differs.
const MUST: usize = 0;
const MUST_NOT: usize = 1;
const NEVER: usize = 3;
/// The expectation where a row has no formula for a duty.
const FITS: &str = "a time that fits the duty";

/// Returns the rows of a rule.
pub(super) fn rule(name: &str) -> &'static [Row] {
    RULES.get(name).map_or(&[], Vec::as_slice)
}

/// Whether the meaning of a row has a word.
pub(super) fn has(meaning: &str, word: &str) -> bool {
    meaning.split(' ').any(|known| known == word)
}

/// A row about the situation of a sentence.
#[derive(Clone, Debug)]
pub(super) struct About {
    /// The row, or `None` if no word of time was found.
    pub(super) row: Option<&'static Row>,
    pub(super) slots: Slots,
    /// Whether the sentence has a condition.
    pub(super) triggered: bool,
}

/// The meaning of a slot.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Words that no formula speaks of.
    Nothing,
    Logic(Logic),
    /// Calls, each of which something is said of.
    Each(Logic),
    /// Situations that must have come first: each of them if they are calls.
    First(Logic),
    Window(Window),
    Number(Ratio),
    Count(u32),
    /// The meaning of a row of verbs, or of the words of a modal force.
    Meaning(&'static str),
    About(About),
}

/// The values of the slots of a row, by letter.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots(Vec<(char, Value)>);

impl Slots {
    /// Adds a value. False if the slot has another one.
    pub(super) fn bind(&mut self, letter: char, value: Value) -> bool {
        match (self.get(letter), &value) {
            (Some(Value::Logic(known)), Value::Logic(logic)) => known == logic,
            (Some(_), _) => false,
            (None, Value::Nothing) => true,
            (None, _) => {
                self.0.push((letter, value));
                true
            }
        }
    }

    pub(super) fn get(&self, letter: char) -> Option<&Value> {
        let found = self.0.iter().find(|(known, _)| *known == letter);
        found.map(|(_, value)| value)
    }

    /// Returns the formula of a slot.
    pub(super) fn logic(&self, letter: char) -> Option<&Logic> {
        match self.get(letter)? {
            Value::Logic(logic) | Value::Each(logic) | Value::First(logic) => Some(logic),
            _ => None,
        }
    }

    pub(super) fn window(&self, letter: char) -> Option<Window> {
        match self.get(letter)? {
            Value::Window(window) => Some(*window),
            _ => None,
        }
    }

    /// A number of times; without one, once.
    fn count(&self) -> u32 {
        match self.get('n') {
            Some(Value::Count(count)) => *count,
            _ => 1,
        }
    }

    /// The meaning of the words in a slot; empty without them.
    fn meaning(&self, letter: char) -> &'static str {
        match self.get(letter) {
            Some(Value::Meaning(meaning)) => meaning,
            _ => "",
        }
    }

    /// Whether the row of the time is about several situations at one step.
    fn is_together(&self) -> bool {
        let Some(Value::About(time)) = self.get('t') else {
            return false;
        };
        time.row.is_some_and(|row| has(row.flag, "together"))
    }

    /// Distributes the sentence over several calls if its verb is one of calling.
    pub(super) fn said_of_calls(&mut self) {
        if !has(self.meaning('c'), "call") || self.is_together() {
            return;
        }
        for (letter, value) in &mut self.0 {
            match value {
                // Calls in a given order are not a list of calls.
                Value::Logic(logic) if *letter == 'p' && logic.is_state() => {
                    *value = Value::Each(logic.clone())
                }
                Value::About(about) if *letter == 'o' => {
                    for (_, value) in &mut about.slots.0 {
                        if let Value::First(logic) = value {
                            *value = Value::Each(logic.clone());
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

impl About {
    /// Returns the formula about the situation of a sentence.
    ///
    /// # Errors
    /// The row has no formula for its force: what was expected.
    fn of(&self, sentence: &Slots) -> Result<Logic, &'static str> {
        let what = sentence.logic('p').ok_or(FITS)?.clone();
        let fits = |row: &&Row| {
            let mut flags = row.flag.split_whitespace();
            flags.all(|flag| {
                has(sentence.meaning('c'), flag) || flag == "triggered" && self.triggered
            })
        };
        let unsaid = || rule("unsaid").iter().find(fits);
        let row = self.row.or_else(unsaid).ok_or(FITS)?;
        // A row about the whole run does not fit a duty at each step of a condition.
        let misplaced = self.triggered && has(row.flag, "run");
        let single = has(row.flag, "together") && !matches!(what, Logic::And(_));
        let columns: Vec<&str> = row.meaning.split(" ; ").collect();
        let column = sentence.meaning('f').parse().unwrap_or(MUST);
        let never = columns.get(MUST_NOT).filter(|_| column == NEVER);
        match columns.get(column).or(never).copied() {
            Some(text) if !(text.is_empty() || misplaced || single) => {
                let mut slots = self.slots.clone();
                slots.bind('p', Value::Logic(what));
                formula(text, &slots)
            }
            _ => Err(FITS),
        }
    }
}

/// Returns the formula of a row with its slots filled.
///
/// # Errors
/// The row has no formula: what was expected.
pub(super) fn formula(text: &'static str, slots: &Slots) -> Result<Logic, &'static str> {
    if let Some(expected) = text.strip_prefix("? ") {
        return Err(expected);
    }
    for (at, (_, value)) in slots.0.iter().enumerate() {
        if let Value::Each(Logic::And(parts)) = value {
            let of_each = parts.iter().map(|part| {
                let mut slots = slots.clone();
                slots.0[at].1 = Value::Logic(part.clone());
                formula(text, &slots)
            });
            return of_each.collect::<Result<Vec<_>, _>>().map(and);
        }
    }
    Reader { rest: text, slots }.formula()
}

/// Returns the formula of a row over the letters of its slots as atoms, with a window that stands for any.
pub(super) fn pattern(text: &'static str) -> Option<Logic> {
    let zero = Ratio::new(0, 1);
    let any = Window::from_now(zero, crate::words::Unit::Steps);
    let letters = ('p'..='r').map(|letter| (letter, Value::Logic(Logic::Atom(letter as usize))));
    let slots = Slots(letters.chain([('w', Value::Window(any))]).collect());
    formula(text, &slots).ok()
}

/// Reads a formula of the table.
struct Reader<'s> {
    rest: &'static str,
    slots: &'s Slots,
}

impl Reader<'_> {
    /// Operands and the operators between them, from left to right.
    fn formula(&mut self) -> Result<Logic, &'static str> {
        let mut left = self.operand()?;
        while let Some(rest) = self.rest.strip_prefix(' ') {
            let end = rest.find([' ', '[']).unwrap_or(rest.len());
            let sign = &rest[..end];
            self.rest = &rest[end..];
            let window = self.window()?;
            self.rest = self.rest.trim_start();
            let right = self.operand()?;
            left = match sign {
                "&" => and([left, right]),
                "|" => or([left, right]),
                "->" => implies(left, right),
                "<->" => Logic::Iff(Box::new(left), Box::new(right)),
                "~>" => conditional(left, right),
                letter => {
                    let op = Binary::ALL.iter().find(|op| op.letter() == letter);
                    Logic::Binary(*op.ok_or(FITS)?, window, Box::new(left), Box::new(right))
                }
            };
        }
        Ok(left)
    }

    /// Returns the window that is written as `[w]` or as `[cut]`, or `None` if nothing is.
    fn window(&mut self) -> Result<Option<Window>, &'static str> {
        let written = self.rest.strip_prefix('[');
        let Some((name, rest)) = written.and_then(|rest| rest.split_once(']')) else {
            return Ok(None);
        };
        self.rest = rest;
        let window = self.slots.window('w');
        let cut = |window: Option<Window>| window.and_then(Window::cut_off);
        let window = if name == "cut" { cut(window) } else { window };
        window.ok_or(FITS).map(Some)
    }

    fn operand(&mut self) -> Result<Logic, &'static str> {
        const CONSTANTS: [(&str, Logic); 4] = [
            ("true", Logic::True),
            ("false", Logic::False),
            ("last", Logic::Last),
            ("first", Logic::First),
        ];
        for (word, logic) in CONSTANTS {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(logic);
            }
        }
        let mut chars = self.rest.chars();
        let sign = chars.next().ok_or(FITS)?;
        self.rest = chars.as_str();
        let window = self.window()?;
        if sign.is_ascii_uppercase() {
            self.rest = self.rest.trim_start();
        }
        let count = self.slots.count();
        Ok(match sign {
            '(' => {
                let inner = self.formula()?;
                self.rest = self.rest.strip_prefix(')').ok_or(FITS)?;
                inner
            }
            '!' => not(self.operand()?),
            '#' if count > 0 => occurrences(count, &self.operand()?),
            '+' => occurrences(count.saturating_add(1), &self.operand()?),
            'C' => Logic::AtMost(count, window.ok_or(FITS)?, Box::new(self.operand()?)),
            letter if letter.is_ascii_uppercase() => {
                let op = Unary::ALL.iter().find(|op| op.letter().starts_with(letter));
                Logic::Unary(*op.ok_or(FITS)?, window, Box::new(self.operand()?))
            }
            letter => match self.slots.get(letter) {
                Some(Value::About(about)) => about.of(self.slots)?,
                _ => self.slots.logic(letter).ok_or(FITS)?.clone(),
            },
        })
    }
}

/// Returns the duty at the steps of a condition. A prohibition over later steps denies the condition and those steps together.
fn conditional(condition: Logic, duty: Logic) -> Logic {
    match duty {
        Logic::Not(denied) if !denied.is_state() => never(and([condition, *denied])),
        duty => always(implies(condition, duty)),
    }
}
