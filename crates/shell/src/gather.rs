//! Words put together of characters and expansions, with what the text determines of them.

use super::components::{Climb, Components};
use super::field::{Field, Hole, Leading};
use super::words::{Atom, Class};

/// An expansion whose value the text does not determine.
#[derive(Clone, Debug)]
pub(super) struct Expansion {
    pub(super) written: String,
    /// The part of its value that the text determines. An expansion that may be a text of the line stays.
    pub(super) determined: String,
    /// Its value if the parts that are not determined are empty.
    pub(super) rest: String,
    /// The same, with the texts for which they may stand.
    pub(super) filled: String,
    pub(super) quoted: bool,
    /// Whether it is the value of a parameter that the text never assigns, or may be taken for one.
    pub(super) environment: bool,
    pub(super) leading: Leading,
    pub(super) empty: bool,
    pub(super) glued: bool,
    pub(super) climb: Climb,
}

impl Expansion {
    /// Returns an expansion of which nothing is known.
    pub(super) fn open(written: &str, quoted: bool) -> Expansion {
        Expansion {
            written: written.to_owned(),
            determined: String::new(),
            rest: String::new(),
            filled: String::new(),
            quoted,
            environment: false,
            leading: Leading::Open,
            empty: true,
            glued: false,
            climb: Climb::Open,
        }
    }
}

/// Finds parts that may be empty beside letters and digits, in the order of a word.
#[derive(Default)]
struct Glue {
    after_empty: bool,
    after_letter: bool,
}

impl Glue {
    /// Whether a character stands behind a part that may be empty, as a part of the same name.
    fn char(&mut self, c: char) -> bool {
        let is_letter = c == '_' || c == '@' || c.is_ascii_alphanumeric();
        let glued = self.after_empty && is_letter;
        (self.after_empty, self.after_letter) = (false, is_letter);
        glued
    }

    /// Whether a part that may be empty stands behind a character of a name.
    fn part(&mut self, may_be_empty: bool) -> bool {
        let glued = may_be_empty && self.after_letter;
        (self.after_empty, self.after_letter) = (may_be_empty, false);
        glued
    }
}

/// Whether a shell takes two characters together, apart from letters: `<<`, `<(`, ` #`, `2>`.
fn are_joined(before: Option<char>, c: char) -> bool {
    let follows = |all: &str| before.is_some_and(|before| all.contains(before));
    let begins = before.is_none_or(char::is_whitespace);
    match c {
        '#' => begins || follows(";|&()`"),
        '~' => begins || follows(":="),
        '(' => follows("?*+@!=<>("),
        '<' | '>' => follows("<>&|0123456789"),
        '&' | '|' | ';' => follows("<>&|;"),
        '[' => follows("["),
        '-' => follows("<"),
        _ => false,
    }
}

/// Whether a text ends within single quotes.
fn ends_in_single_quotes(text: &str) -> bool {
    let (mut open, mut escaped) = (None, false);
    for c in text.chars() {
        match (open, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '"' | '\'') => open = Some(c),
            (Some(quote), c) if c == quote => open = None,
            _ => {}
        }
    }
    open == Some('\'')
}

/// Whether a text ends with a character that belongs to what follows, in one of its spellings: a backslash, a dollar sign, `\x24`.
fn goes_on(text: &str) -> bool {
    const LONGEST: usize = "U00000024".len();
    let is_code = |code: &str| {
        let is_digit = |c: char| c.is_ascii_hexdigit();
        let digits = code.trim_start_matches(['x', 'u', 'U']);
        code.len() <= LONGEST
            && code.starts_with(|c: char| "xuU".contains(c) || c.is_ascii_digit())
            && digits.chars().all(is_digit)
    };
    text.ends_with(['\\', '$'])
        || text
            .rsplit_once('\\')
            .is_some_and(|(_, code)| is_code(code))
}

/// Whether programs take a word that begins so as an option.
fn begins_option(first: char) -> bool {
    matches!(first, '-' | '+')
}

/// A word of which the parts are added in their order.
struct Gathered {
    field: Field,
    glue: Glue,
    components: Components,
    /// The number of parameters at the end of the text that may be empty, and the place of the first one in the closed text.
    last: Option<(usize, usize)>,
}

impl Gathered {
    fn new() -> Gathered {
        Gathered {
            field: Field::known(""),
            glue: Glue::default(),
            components: Components::default(),
            last: None,
        }
    }

    /// Whether the text so far has parts that it does not determine.
    fn is_open(&self) -> bool {
        self.field.hole != Hole::None || self.field.process.is_some()
    }

    /// Adds a character.
    fn char(&mut self, c: char, class: Class) {
        let is_open = self.is_open();
        self.components.push(c, class != Class::Quoted);
        let field = &mut self.field;
        if let Some((count, at)) = self.last.take()
            && are_joined(
                field
                    .closed
                    .get(..at)
                    .and_then(|text| text.chars().next_back()),
                c,
            )
        {
            field.closed.truncate(at);
            field.joins += count;
        }
        if field.empty && field.hole != Hole::None && begins_option(c) {
            field.leading = Leading::Hidden;
            field.glued = true;
        }
        field.glued |= self.glue.char(c);
        field.empty = false;
        if class != Class::Quoted {
            field.tilde |= c == '~' && field.text.is_empty() && class == Class::Bare;
            // an unquoted parenthesis belongs to a pattern such as `@(…)`
            field.pattern |= matches!(c, '*' | '?' | '(') || (c == ']' && field.text.contains('['));
        }
        field.tail |= c == '/';
        field.text.push(c);
        if is_open {
            field.determined.push(c);
            field.rest.push(c);
            field.filled.push(c);
            field.closed.push(c);
        }
    }

    /// Adds a part of a word that is split at the blanks of its expansions, or not.
    fn add(&mut self, atom: &Atom, is_split: bool) {
        match atom {
            Atom::Char(c, class) if is_split => self.char(*c, *class),
            // what a value holds may become a pattern where the variable stands
            Atom::Char(c, _) => self.char(*c, Class::Expanded),
            Atom::Break => self.char(' ', Class::Quoted),
            Atom::Hole(expansion) => self.expansion(expansion, is_split && !expansion.quoted),
            Atom::Process { written, content } => self.process(written, content.as_ref()),
            Atom::Empty => {}
        }
    }

    /// Begins to keep the text without its open parts.
    fn open(&mut self) {
        if !self.is_open() {
            let field = &mut self.field;
            field.determined.clone_from(&field.text);
            field.rest.clone_from(&field.text);
            field.filled.clone_from(&field.text);
            field.closed.clone_from(&field.text);
        }
    }

    /// Adds an expansion to the closed text.
    fn close(&mut self, expansion: &Expansion) {
        let field = &mut self.field;
        let may_join = expansion.empty && expansion.environment;
        if may_join && (goes_on(&field.closed) || field.closed.trim_end().ends_with("<<<")) {
            field.joins += 1;
            return;
        }
        if may_join && ends_in_single_quotes(&field.closed) {
            field.quotes = true;
            return;
        }
        self.last = may_join.then(|| match self.last {
            Some((count, at)) => (count + 1, at),
            None => (1, field.closed.len()),
        });
        field.closed.push_str(&expansion.written);
    }

    /// Adds an expansion, which may be several words if it `splits`.
    fn expansion(&mut self, expansion: &Expansion, splits: bool) {
        self.open();
        self.components.push_value(expansion.climb);
        self.close(expansion);
        let field = &mut self.field;
        if field.hole == Hole::None {
            field.hole = match field.text.is_empty() {
                true => Hole::Start,
                false => Hole::Within,
            };
        }
        // what may be empty is no beginning, and blanks in an expansion begin a word; the environment has none
        if field.empty || splits && !expansion.environment {
            field.leading = field.leading.max(expansion.leading);
        }
        let may_differ = expansion.empty || !expansion.filled.is_empty();
        field.empty &= expansion.empty;
        field.glued |= self.glue.part(may_differ) || expansion.glued;
        field.splits |= splits;
        field.environment &= expansion.environment;
        field.tail = false;
        field.text.push_str(&expansion.written);
        field.determined.push_str(&expansion.determined);
        field.rest.push_str(&expansion.rest);
        field.filled.push_str(&expansion.filled);
    }

    /// Adds the file of a process substitution, and the text in it, if that is known.
    fn process(&mut self, written: &str, content: Option<&String>) {
        self.open();
        self.components.push_value(Climb::Open);
        self.last = None;
        let field = &mut self.field;
        field.process = Some(content.cloned());
        (field.tail, field.empty) = (false, false);
        field.text.push_str(written);
        field.closed.push_str(written);
    }

    /// Ends the word.
    fn end(mut self) -> Field {
        Field {
            climb: self.components.end(),
            ..self.field
        }
    }
}

/// Splits a word at the blanks of its expansions.
pub(super) fn split(atoms: &[Atom], fields: &mut Vec<Field>) {
    let mut word: Option<Gathered> = None;
    for atom in atoms {
        match atom {
            Atom::Char(' ' | '\t' | '\n', Class::Expanded) | Atom::Break => {
                fields.extend(word.take().map(Gathered::end));
            }
            atom => word.get_or_insert_with(Gathered::new).add(atom, true),
        }
    }
    fields.extend(word.map(Gathered::end));
}

/// Returns a word that is not split, as in assignments and here-documents.
pub(super) fn joined(atoms: &[Atom]) -> Field {
    let mut word = Gathered::new();
    atoms.iter().for_each(|atom| word.add(atom, false));
    word.end()
}
