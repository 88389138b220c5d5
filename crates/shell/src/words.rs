//! Words as commands get them: quotes removed, braces expanded, known variables and plain substitutions replaced.

use super::ShellError;
use super::components::{Climb, Components};
pub(super) use super::field::{Field, Hole, Leading, Partial};
use super::option_table::{PRINTS_PATH, PRINTS_WORD};
use super::syntax::{Part, Word, is_plain_value, plants};
use super::variables::SET_BY_SHELL;
use super::walk::{Scope, Walk};

/// The work that a copied [`Atom`] counts as, in bytes of text.
pub(super) const ATOM: usize = 16;

#[derive(Clone, Debug)]
pub(super) enum Atom {
    Char(char, Class),
    /// Quotes around nothing: an empty word.
    Empty,
    /// The boundary between the words of `"$@"`.
    Break,
    Hole {
        written: String,
        determined: String,
        rest: String,
        filled: String,
        quoted: bool,
        environment: bool,
        leading: Leading,
        empty: bool,
        glued: bool,
        climb: Climb,
    },
    Process {
        written: String,
        content: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Bare,
    Quoted,
    /// Text from an unquoted expansion, which is split at blanks.
    Expanded,
}

/// The value of a parameter.
enum Value {
    Known(String),
    /// The text does not assign the parameter.
    Environment,
    Unknown,
}

type Result<T> = std::result::Result<T, ShellError>;

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

impl Walk<'_> {
    pub(super) fn fields(&mut self, word: &Word, scope: &Scope<'_>) -> Result<Vec<Field>> {
        let atoms = self.atoms(word, scope)?;
        let mut fields = Vec::new();
        for atoms in self.braces(atoms, scope)? {
            split(&atoms, &mut fields);
        }
        for field in &mut fields {
            self.charge(field.text.len() + field.rest.len() + field.filled.len() + 1)?;
            if field.tilde && self.is_assigned_tilde(&field.text) {
                field.leading = Leading::Open;
            }
            for text in [field.text.as_str(), field.determined()] {
                self.names_descriptors |= text.starts_with("/dev/std") || text.contains("/fd/");
                self.texts.planted |= plants(text, false);
            }
        }
        Ok(fields)
    }

    /// Returns a word as one text, as in assignments and here-documents; `None` if it is not determined.
    pub(super) fn text_of(&mut self, word: &Word, scope: &Scope<'_>) -> Result<Option<String>> {
        Ok(self.value_of(word, scope)?.ok())
    }

    /// Returns a word as one text, or what is known of it.
    pub(super) fn value_of(
        &mut self,
        word: &Word,
        scope: &Scope<'_>,
    ) -> Result<std::result::Result<String, Partial>> {
        let atoms = self.atoms(word, scope)?;
        let mut text = String::new();
        // with the known parts of variables
        let mut determined = String::new();
        let mut rest = String::new();
        let mut filled = String::new();
        // with what is not determined, as it stands there
        let mut written = String::new();
        let mut known = true;
        let mut leading = Leading::Determined;
        let mut empty = true;
        let (mut glue, mut glued) = (Glue::default(), false);
        let mut components = Components::default();
        for atom in atoms {
            let part = match atom {
                Atom::Char(c, _) => {
                    if empty && !known && begins_option(c) {
                        leading = Leading::Hidden;
                        glued = true;
                    }
                    glued |= glue.char(c);
                    empty = false;
                    components.push(c, true);
                    text.push(c);
                    determined.push(c);
                    rest.push(c);
                    filled.push(c);
                    written.push(c);
                    continue;
                }
                Atom::Empty => continue,
                Atom::Break => " ".to_owned(),
                Atom::Hole {
                    written,
                    determined: of_hole,
                    rest: rest_of_hole,
                    filled: filled_of_hole,
                    leading: begins,
                    empty: is_empty,
                    glued: in_hole,
                    climb,
                    ..
                } => {
                    glued |= glue.part(is_empty || !filled_of_hole.is_empty()) || in_hole;
                    components.push_value(climb);
                    if empty {
                        leading = leading.max(begins);
                    }
                    empty &= is_empty;
                    determined.push_str(&of_hole);
                    rest.push_str(&rest_of_hole);
                    filled.push_str(&filled_of_hole);
                    known = false;
                    written
                }
                Atom::Process { written, .. } => {
                    components.push_value(Climb::Open);
                    (known, empty) = (false, false);
                    written
                }
            };
            text.push_str(if known { &part } else { "" });
            written.push_str(&part);
        }
        self.charge(written.len() + determined.len() + rest.len() + filled.len() + 1)?;
        self.texts.planted |= plants(&text, false);
        Ok(match known {
            true => Ok(text),
            false => Err(Partial {
                written,
                determined,
                rest,
                filled,
                leading,
                empty,
                glued,
                climb: components.end(),
                always: false,
            }),
        })
    }

    /// Whether a tilde word stands for what a variable of the line holds, which may be an option.
    fn is_assigned_tilde(&self, text: &str) -> bool {
        let variable = match text.get(1..2) {
            Some("+") => "PWD",
            Some("-") => "OLDPWD",
            _ => "HOME",
        };
        self.assigned.contains(variable)
    }

    /// Whether the line defines a function or an alias of this name.
    pub(super) fn redefines(&self, name: &str) -> bool {
        self.functions.contains(name) || self.aliases.contains(name)
    }

    /// Whether a substitution prints no word that is an option, whatever it is.
    pub(super) fn prints_no_option(&self, written: &str, quoted: bool) -> bool {
        let inner = written
            .strip_prefix("$(")
            .and_then(|one| one.strip_suffix(')'));
        let program = inner.and_then(|one| one.split_ascii_whitespace().next());
        // without quotes a path with blanks is several words
        let is_path = quoted
            || !self.assigned.contains("TMPDIR")
                && (!self.moves || program.is_some_and(|name| name.starts_with("mktemp")));
        let known = |one: &str| {
            PRINTS_WORD.contains(&one.trim())
                || is_path && PRINTS_PATH.iter().any(|path| is_listed(path, one.trim()))
        };
        let is_own = |name: &str| self.redefines(name) || self.assigned.contains("PATH");
        inner.is_some_and(known) && !program.is_some_and(is_own)
    }

    /// Whether a variable holds the path that `mktemp` has printed.
    pub(super) fn is_made(&self, partial: &Partial) -> bool {
        partial.always
            && is_plain_value(&partial.written)
            && self.prints_no_option(&partial.written, false)
    }

    fn atoms(&mut self, word: &Word, scope: &Scope<'_>) -> Result<Vec<Atom>> {
        let mut atoms = Vec::new();
        let mut counted = 0;
        for part in word {
            self.charge(atoms.len() - counted)?;
            counted = atoms.len();
            match part {
                Part::Bare(text) => {
                    atoms.extend(text.chars().map(|c| Atom::Char(c, Class::Bare)));
                }
                Part::Quoted(text) => quoted(text, &mut atoms),
                Part::Param {
                    name,
                    quoted,
                    written,
                } => {
                    if matches!(name.as_str(), "@" | "*")
                        && let Some(all) = scope.positional.as_ref()
                    {
                        let words = all.get(1..).unwrap_or_default();
                        let joins = *quoted && name == "*";
                        for (nth, word) in words.iter().enumerate() {
                            match nth > 0 {
                                // between them is the first character of IFS
                                true if joins => {
                                    value(" ", written, !scope.splits_oddly, scope, &mut atoms);
                                }
                                true => atoms.push(Atom::Break),
                                false => {}
                            }
                            self.charge(word.len() * ATOM)?;
                            value(word, written, *quoted, scope, &mut atoms);
                        }
                        continue;
                    }
                    match parameter(name, scope, self) {
                        Value::Known(text) => {
                            self.charge(text.len() * ATOM)?;
                            value(&text, written, *quoted, scope, &mut atoms);
                        }
                        found => {
                            let partial = scope.partial.get(name);
                            self.charge(partial.map_or(0, |partial| 2 * partial.determined.len()))?;
                            // a number, or a path below a folder of the environment
                            let is_plain = partial.is_some_and(|partial| {
                                let is_number = !partial.written.starts_with("$(");
                                is_number && is_plain_value(&partial.written) && !scope.splits_oddly
                                    || self.is_made(partial)
                            });
                            let environment = matches!(found, Value::Environment) || is_plain;
                            // one of several words of the line
                            let is_word = partial.is_none()
                                && !scope.splits_oddly
                                && scope.parsed.names.is_word(name);
                            let climb = match partial {
                                Some(partial) => partial.climb,
                                None if environment || is_word => Climb::No,
                                None => Climb::Open,
                            };
                            let is_never_empty = matches!(name.as_str(), "?" | "#" | "$");
                            atoms.push(Atom::Hole {
                                climb,
                                empty: partial.map_or(!is_never_empty, |partial| partial.empty),
                                glued: partial.is_some_and(|partial| partial.glued),
                                written: written.clone(),
                                determined: partial
                                    .map(|partial| partial.determined.clone())
                                    .unwrap_or_default(),
                                rest: partial
                                    .map(|partial| partial.rest.clone())
                                    .unwrap_or_default(),
                                filled: partial
                                    .map(|partial| partial.filled.clone())
                                    .unwrap_or_default(),
                                // `"$@"` is any number of words
                                quoted: *quoted && name != "@",
                                environment,
                                leading: match partial {
                                    Some(partial)
                                        if *quoted
                                            || self.prints_no_option(&partial.written, false)
                                            || is_one_word(&partial.written, scope) =>
                                    {
                                        partial.leading
                                    }
                                    _ if environment || is_word => Leading::Determined,
                                    _ if *quoted
                                        && is_folder(name)
                                        && !self.assigned.contains(name) =>
                                    {
                                        Leading::Determined
                                    }
                                    _ => Leading::Open,
                                },
                            });
                        }
                    }
                }
                Part::Substitution {
                    script,
                    quoted,
                    written,
                } => match self.output(script, scope, &super::feed::Feed::Nothing)? {
                    Some(text) => {
                        self.charge(text.len() * ATOM)?;
                        let text = text.trim_end_matches('\n');
                        value(text, written, *quoted, scope, &mut atoms);
                    }
                    None => {
                        let (leading, climb) = match self.prints_no_option(written, *quoted) {
                            true => (Leading::Determined, Climb::No),
                            false if *quoted => (Leading::Printed, Climb::Open),
                            false => (Leading::Open, Climb::Open),
                        };
                        // `which` and `git` print nothing if they find nothing
                        let may_fail = ["which ", "git "].iter().any(|one| written.contains(one));
                        atoms.push(Atom::Hole {
                            written: written.clone(),
                            determined: String::new(),
                            rest: String::new(),
                            filled: String::new(),
                            quoted: *quoted,
                            environment: false,
                            leading,
                            empty: leading > Leading::Determined || may_fail,
                            glued: false,
                            climb,
                        });
                    }
                },
                Part::Process { script, written } => atoms.push(Atom::Process {
                    written: written.clone(),
                    content: self.output(script, scope, &super::feed::Feed::Nothing)?,
                }),
                // a number
                Part::Opaque {
                    quoted, written, ..
                } if written.starts_with("$((") && !scope.splits_oddly => {
                    atoms.push(Atom::Hole {
                        written: written.clone(),
                        determined: String::new(),
                        rest: String::new(),
                        filled: String::new(),
                        quoted: *quoted,
                        environment: true,
                        leading: Leading::Open,
                        empty: false,
                        glued: false,
                        climb: Climb::No,
                    });
                }
                Part::Opaque {
                    quoted, written, ..
                } => {
                    let begins = begins_as_environment(written, None, scope, self);
                    let filled = text_in(written);
                    atoms.push(Atom::Hole {
                        written: written.clone(),
                        // `${x:-TEXT}` may be the text, which is not told from the rest
                        determined: written.clone(),
                        rest: String::new(),
                        filled: filled.to_owned(),
                        quoted: *quoted && !written.contains('@'),
                        environment: false,
                        leading: match begins {
                            true if *quoted || is_one_word(written, scope) => Leading::Determined,
                            _ => Leading::Open,
                        },
                        empty: !begins || !is_never_empty(written),
                        glued: !filled.is_empty(),
                        climb: match begins && has_plain_default(written) {
                            true => Climb::No,
                            false => Climb::Open,
                        },
                    });
                }
            }
        }
        self.charge(atoms.len() - counted)?;
        Ok(atoms)
    }
}

/// Whether a command is the listed one, of which a last word `*` is any plain words.
fn is_listed(one: &str, command: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.+".contains(c);
    match one.strip_suffix('*') {
        Some(begin) => command.strip_prefix(begin).is_some_and(|words| {
            words.split(' ').all(|word| {
                word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(is_plain)
            })
        }),
        None => one == command,
    }
}

/// Returns a word as it is listed: variables that hold what a program prints are shown as the substitution.
pub(super) fn shown(field: &Field, scope: &Scope<'_>) -> String {
    match field.hole {
        Hole::None => field.text.clone(),
        Hole::Within | Hole::Start => with_substitutions(&field.text, scope),
    }
}

/// Replaces variables that hold what a program prints by the substitution.
pub(super) fn with_substitutions(written: &str, scope: &Scope<'_>) -> String {
    let mut text = String::with_capacity(written.len());
    let mut rest = written;
    if scope.partial.is_empty() {
        return rest.to_owned();
    }
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let braced = after.starts_with('{');
        let name = after.strip_prefix('{').unwrap_or(after);
        let end = name.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
        let (name, more) = name.split_at(end.unwrap_or(name.len()));
        let more = if braced {
            more.strip_prefix('}')
        } else {
            Some(more)
        };
        match (scope.partial.get(name), more) {
            (Some(partial), Some(more)) => {
                text.push_str(&partial.written);
                rest = more;
            }
            _ => {
                text.push('$');
                rest = after;
            }
        }
    }
    text + rest
}

fn quoted(text: &str, atoms: &mut Vec<Atom>) {
    if text.is_empty() {
        atoms.push(Atom::Empty);
    }
    atoms.extend(text.chars().map(|c| Atom::Char(c, Class::Quoted)));
}

/// Adds the value of an expansion. If it is split at characters that the text does not determine, it stays as it is `written`.
fn value(text: &str, written: &str, is_quoted: bool, scope: &Scope<'_>, atoms: &mut Vec<Atom>) {
    if is_quoted {
        quoted(text, atoms);
    } else if scope.splits_oddly {
        atoms.push(Atom::Hole {
            written: written.to_owned(),
            determined: text.to_owned(),
            rest: text.to_owned(),
            filled: text.to_owned(),
            quoted: false,
            environment: false,
            leading: Leading::Open,
            empty: true,
            glued: false,
            climb: Climb::Open,
        });
    } else {
        atoms.extend(text.chars().map(|c| Atom::Char(c, Class::Expanded)));
    }
}

/// Whether a variable holds the path of a folder, unless the line assigns it.
fn is_folder(name: &str) -> bool {
    matches!(name, "PWD" | "OLDPWD")
}

fn parameter(name: &str, scope: &Scope<'_>, walk: &Walk<'_>) -> Value {
    if let Ok(nth) = name.parse::<usize>() {
        let found = scope.positional.as_ref().map(|all| all.get(nth));
        return match found {
            // the name of the shell, also within a function
            Some(word) if nth == 0 && (word.is_none() || scope.calls > 0) => Value::Unknown,
            Some(word) => Value::Known(word.cloned().unwrap_or_default()),
            None => Value::Unknown,
        };
    }
    if let Some(value) = scope.values.get(name) {
        return Value::Known(value.clone());
    }
    match name {
        "@" | "*" => Value::Unknown,
        "?" | "#" | "$" | "!" | "-" => Value::Environment,
        _ if walk.assigned.contains(name) || scope.parsed.names.dynamic => Value::Unknown,
        _ if is_folder(name) && !walk.moved => Value::Environment,
        _ if SET_BY_SHELL.contains(&name) => Value::Unknown,
        _ => Value::Environment,
    }
}

/// Whether an expansion without quotes stays one word, apart from the values of the environment.
fn is_one_word(written: &str, scope: &Scope<'_>) -> bool {
    !scope.splits_oddly && !written.contains([' ', '\t', '\n', '`']) && !written.contains("$(")
}

/// Returns the parts of an expansion such as `${x:-y}`: the variable, the operator and the text behind it.
fn parts_of(written: &str) -> Option<(&str, &str, &str)> {
    let inner = written.strip_prefix("${")?.strip_suffix('}')?;
    let is_operator = |c: char| c != '_' && !c.is_ascii_alphanumeric();
    let (name, rest) = inner.split_at_checked(inner.find(is_operator)?)?;
    let length = if rest.starts_with(':') { 2 } else { 1 };
    let (operator, other) = rest.split_at_checked(length)?;
    (!name.is_empty()).then_some((name, operator, other))
}

/// Whether an expansion has a value in place of an empty one, or an error: `${x:-y}`, `${x:?}`.
fn is_never_empty(written: &str) -> bool {
    parts_of(written).is_some_and(|(_, operator, _)| operator.starts_with(':'))
}

/// Returns the plain text of the line that an expansion may stand for: `y` of `${x:-y}`, `${x:+y}` and `${x/z/y}`.
fn text_in(written: &str) -> &str {
    let text = match parts_of(written) {
        Some((_, "-" | ":-" | "=" | ":=" | "+" | ":+", other)) => other,
        Some((_, "/", other)) => other.rsplit('/').next().unwrap_or_default(),
        _ => "",
    };
    match text.contains(['$', '`', '\\', '"', '\'']) {
        true => "",
        false => text,
    }
}

/// Whether programs take a word that begins so as an option.
fn begins_option(first: char) -> bool {
    matches!(first, '-' | '+')
}

/// Whether the value of an expansion such as `${x%y}` and `${x:-y}` begins as that of a variable which the text does not assign, or
/// with the text after the operator.
pub(super) fn begins_as_environment(
    written: &str,
    itself: Option<&str>,
    scope: &Scope<'_>,
    walk: &Walk<'_>,
) -> bool {
    let Some((name, operator, other)) = parts_of(written) else {
        return false;
    };
    // in its own and only assignment it has the value of the environment
    let is_own = itself == Some(name);
    (is_own || matches!(parameter(name, scope, walk), Value::Environment))
        && match operator {
            "%" | "?" | ":?" => true,
            "-" | ":-" => other.starts_with(|c: char| c.is_alphanumeric() || "/._".contains(c)),
            _ => false,
        }
}

/// Whether the text after the operator of `${x:-y}` is no part of the value, or a plain path.
pub(super) fn has_plain_default(written: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    parts_of(written).is_some_and(|(_, operator, other)| {
        !operator.ends_with('-')
            || other.chars().all(is_plain) && !other.starts_with('.') && !other.contains("..")
    })
}

/// Splits a word at the blanks of its expansions.
fn split(atoms: &[Atom], fields: &mut Vec<Field>) {
    let mut field: Option<Field> = None;
    let mut glue = Glue::default();
    let mut components = Components::default();
    let mut end = |components: &mut Components, field: Option<Field>| {
        let climb = components.end();
        fields.extend(field.map(|field| Field { climb, ..field }));
    };
    for atom in atoms {
        match atom {
            Atom::Char(' ' | '\t' | '\n', Class::Expanded) | Atom::Break => {
                glue = Glue::default();
                end(&mut components, field.take());
            }
            Atom::Char(c, class) => {
                components.push(*c, *class != Class::Quoted);
                let field = field.get_or_insert_with(|| Field::known(""));
                if field.empty && field.hole != Hole::None && begins_option(*c) {
                    field.leading = Leading::Hidden;
                    field.glued = true;
                }
                field.glued |= glue.char(*c);
                field.empty = false;
                if *class != Class::Quoted {
                    field.tilde |= *c == '~' && field.text.is_empty() && *class == Class::Bare;
                    // an unquoted parenthesis belongs to a pattern such as `@(…)`
                    field.pattern |=
                        matches!(c, '*' | '?' | '(') || (*c == ']' && field.text.contains('['));
                }
                if *c == '/' {
                    field.tail = true;
                }
                field.text.push(*c);
                if field.hole != Hole::None {
                    field.determined.push(*c);
                    field.rest.push(*c);
                    field.filled.push(*c);
                }
            }
            Atom::Empty => {
                field.get_or_insert_with(|| Field::known(""));
            }
            Atom::Hole {
                written,
                determined,
                rest,
                filled,
                quoted,
                environment,
                leading,
                empty,
                glued,
                climb,
            } => {
                components.push_value(*climb);
                let field = field.get_or_insert_with(|| Field::known(""));
                if field.hole == Hole::None {
                    field.determined.clone_from(&field.text);
                    field.rest.clone_from(&field.text);
                    field.filled.clone_from(&field.text);
                    field.hole = if field.text.is_empty() {
                        Hole::Start
                    } else {
                        Hole::Within
                    };
                }
                // what may be empty is no beginning, and blanks in an expansion begin a word
                if field.hole == Hole::Start || !quoted {
                    field.leading = field.leading.max(*leading);
                }
                field.empty &= empty;
                field.glued |= glue.part(*empty || !filled.is_empty()) || *glued;
                field.filled.push_str(filled);
                field.rest.push_str(rest);
                field.splits |= !quoted;
                field.environment &= environment;
                field.tail = false;
                field.text.push_str(written);
                field.determined.push_str(determined);
            }
            Atom::Process { written, content } => {
                components.push_value(Climb::Open);
                let field = field.get_or_insert_with(|| Field::known(""));
                field.process = Some(content.clone());
                (field.tail, field.empty) = (false, false);
                field.text.push_str(written);
            }
        }
    }
    end(&mut components, field);
}
