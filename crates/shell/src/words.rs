//! Words as commands get them: quotes removed, braces expanded, known variables and plain substitutions replaced.

use super::ShellError;
use super::alternatives::{Choices, expanded};
use super::components::Climb;
pub(super) use super::field::{Field, Hole, Leading, Partial};
use super::gather::{Expansion, joined, split};
use super::option_table::{PRINTS_PATH, PRINTS_WORD};
use super::syntax::{Inner, Part, Word, is_plain_value, plants};
use super::variables::{SET_BY_SHELL, is_set_by_shell};
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
    Hole(Expansion),
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
pub(super) enum Value {
    Known(String),
    /// The text does not assign the parameter.
    Environment,
    Unknown,
}

type Result<T> = std::result::Result<T, ShellError>;

impl Walk<'_> {
    pub(super) fn fields(&mut self, word: &Word, scope: &Scope<'_>) -> Result<Vec<Field>> {
        self.fields_of(word, scope, &mut Choices::none())
    }

    /// Returns the words of a word of the line, with these choices of texts in it.
    pub(super) fn fields_of(
        &mut self,
        word: &Word,
        scope: &Scope<'_>,
        choices: &mut Choices,
    ) -> Result<Vec<Field>> {
        let atoms = self.atoms(word, scope, choices)?;
        let mut fields = Vec::new();
        for atoms in self.braces(atoms, scope)? {
            split(&atoms, &mut fields);
        }
        for field in &mut fields {
            self.charge(field.size())?;
            if field.tilde && self.is_assigned_tilde(&field.text) {
                field.leading = Leading::Open;
            }
            for text in [field.text.as_str(), field.determined()] {
                self.names_descriptors |= text.starts_with("/dev/std") || text.contains("/fd/");
                self.texts.planted |= plants(text, false);
                // an option of the shell, in one of its spellings
                self.nullglob |=
                    text.contains("ullglob") || text.to_ascii_lowercase().contains("null_glob");
            }
            field.nullable = field.pattern && self.nullglob;
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
        let atoms = self.atoms(word, scope, &mut Choices::none())?;
        let value = joined(&atoms);
        let is_known = value.hole == Hole::None && value.process.is_none();
        self.charge(value.size() + value.determined.len())?;
        self.texts.planted |= plants(value.rest(), false);
        if is_known {
            return Ok(Ok(value.text));
        }
        Ok(Err(Partial {
            written: value.text,
            determined: value.determined,
            rest: value.rest,
            filled: value.filled,
            leading: value.leading,
            empty: value.empty,
            glued: value.glued,
            climb: value.climb,
            environment: matches!(atoms.as_slice(), [Atom::Hole(one)] if one.environment),
            always: false,
        }))
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
        let inner = inner.map(|inner| self.with_numbers(inner));
        let inner = inner.as_deref();
        let program = inner.and_then(|one| one.split_ascii_whitespace().next());
        // without quotes a path with blanks is several words
        let is_path = quoted
            || !self.assigned.contains("TMPDIR")
                && (!self.moves || program.is_some_and(|name| name.starts_with("mktemp")));
        let known = |one: &str| {
            is_time(one.trim())
                || PRINTS_WORD.iter().any(|word| is_listed(word, one.trim()))
                || is_path && PRINTS_PATH.iter().any(|path| is_listed(path, one.trim()))
        };
        let is_own = |name: &str| self.redefines(name) || self.assigned.contains("PATH");
        inner.is_some_and(known) && !program.is_some_and(is_own)
    }

    /// Returns a call of `seq` with numbers in place of the parameters that the line does not assign.
    fn with_numbers(&self, command: &str) -> String {
        let number = |word: &str| {
            let name = word.strip_prefix('$')?;
            let braced = name.strip_prefix('{').and_then(|one| one.strip_suffix('}'));
            let name = braced.unwrap_or(name);
            let is_name = name.chars().all(|c| c == '_' || c.is_ascii_alphabetic());
            (is_name && !is_set_by_shell(name) && !self.assigned.contains(name)).then_some("1")
        };
        let words = command.split(' ').map(|word| number(word).unwrap_or(word));
        match command.starts_with("seq ") {
            true => words.collect::<Vec<_>>().join(" "),
            false => command.to_owned(),
        }
    }

    /// Whether a variable holds the path that `mktemp` has printed.
    pub(super) fn is_made(&self, partial: &Partial) -> bool {
        partial.always
            && is_plain_value(&partial.written)
            && self.prints_no_option(&partial.written, false)
    }

    fn atoms(
        &mut self,
        word: &Word,
        scope: &Scope<'_>,
        choices: &mut Choices,
    ) -> Result<Vec<Atom>> {
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
                            let is_plain = is_plain
                                || partial.is_some_and(|one| one.environment)
                                    && !scope.splits_oddly;
                            let is_number = partial.is_none()
                                && !scope.splits_oddly
                                && scope.parsed.names.is_number(name);
                            let environment =
                                matches!(found, Value::Environment) || is_plain || is_number;
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
                            let leading = match partial {
                                Some(partial)
                                    if *quoted
                                        || self.prints_no_option(&partial.written, false)
                                        || is_one_word(&partial.written, scope) =>
                                {
                                    partial.leading
                                }
                                // it may be negative
                                _ if is_number => Leading::Open,
                                _ if environment || is_word => Leading::Determined,
                                _ if *quoted
                                    && is_folder(name)
                                    && !self.assigned.contains(name) =>
                                {
                                    Leading::Determined
                                }
                                _ => Leading::Open,
                            };
                            let text = |of: fn(&Partial) -> &String| {
                                partial
                                    .map(|partial| of(partial).clone())
                                    .unwrap_or_default()
                            };
                            atoms.push(Atom::Hole(Expansion {
                                climb,
                                empty: partial.map_or(!is_never_empty, |partial| partial.empty),
                                glued: partial.is_some_and(|partial| partial.glued),
                                determined: text(|partial| &partial.determined),
                                rest: text(|partial| &partial.rest),
                                filled: text(|partial| &partial.filled),
                                environment,
                                leading,
                                // `"$@"` is any number of words
                                ..Expansion::open(written, *quoted && name != "@")
                            }));
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
                        // they print nothing if they find nothing, and `seq` if it begins with the greater number
                        let may_fail = ["which ", "git ", "seq "]
                            .iter()
                            .any(|one| written.contains(one));
                        atoms.push(Atom::Hole(Expansion {
                            leading,
                            empty: leading > Leading::Determined || may_fail,
                            climb,
                            ..Expansion::open(written, *quoted)
                        }));
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
                    atoms.push(Atom::Hole(Expansion {
                        environment: true,
                        empty: false,
                        climb: Climb::No,
                        ..Expansion::open(written, *quoted)
                    }));
                }
                Part::Opaque {
                    quoted,
                    written,
                    inner,
                    ..
                } => {
                    let text = match inner {
                        Some(Inner::Text(text)) => Some(text),
                        _ => None,
                    };
                    if let Some(alternative) = text
                        && let Some(is_taken) = choices.next(alternative, scope)
                    {
                        if is_taken {
                            let inner =
                                self.atoms(&alternative.word, scope, &mut Choices::none())?;
                            atoms.extend(inner.into_iter().map(expanded));
                        }
                        atoms.extend(quoted.then_some(Atom::Empty));
                        continue;
                    }
                    let expansion = self.opaque(written, *quoted, text, scope)?;
                    atoms.push(Atom::Hole(expansion));
                }
            }
        }
        self.charge(atoms.len() - counted)?;
        Ok(atoms)
    }
}

/// Whether a command prints the time in a format that has neither blanks nor names: `date +%F-%H%M`.
fn is_time(command: &str) -> bool {
    let format = command
        .strip_prefix("date -u +")
        .or_else(|| command.strip_prefix("date +"));
    format.is_some_and(|format| {
        let mut parts = format.split('%');
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
        let begins = parts.next().is_some_and(|text| !text.starts_with('-'));
        begins
            && format.chars().all(|c| is_plain(c) || c == '%')
            && parts.all(|part| part.starts_with(|c| "FTYymdHMSsjuVUWN".contains(c)))
    })
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

/// Returns the text of a word, with its expansions as they are written.
pub(super) fn raw_text(word: &Word) -> String {
    let parts = word.iter().map(|part| match part {
        Part::Bare(text) | Part::Quoted(text) => text.as_str(),
        Part::Param { written, .. }
        | Part::Substitution { written, .. }
        | Part::Process { written, .. }
        | Part::Opaque { written, .. } => written,
    });
    parts.collect()
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
        atoms.push(Atom::Hole(Expansion {
            determined: text.to_owned(),
            rest: text.to_owned(),
            filled: text.to_owned(),
            ..Expansion::open(written, false)
        }));
    } else {
        atoms.extend(text.chars().map(|c| Atom::Char(c, Class::Expanded)));
    }
}

/// Whether a variable holds the path of a folder, unless the line assigns it.
fn is_folder(name: &str) -> bool {
    matches!(name, "PWD" | "OLDPWD")
}

pub(super) fn parameter(name: &str, scope: &Scope<'_>, walk: &Walk<'_>) -> Value {
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
        _ if scope.parsed.names.dynamic => Value::Unknown,
        // what a command passes on does not change the value in the line itself
        _ if walk.assigned.contains(name) && !(scope.level == 0 && walk.passed.contains(name)) => {
            Value::Unknown
        }
        _ if is_folder(name) && !walk.moved => Value::Environment,
        _ if SET_BY_SHELL.contains(&name) => Value::Unknown,
        _ => Value::Environment,
    }
}

/// Whether an expansion without quotes stays one word, apart from the values of the environment.
pub(super) fn is_one_word(written: &str, scope: &Scope<'_>) -> bool {
    !scope.splits_oddly && !written.contains([' ', '\t', '\n', '`']) && !written.contains("$(")
}
