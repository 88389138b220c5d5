//! Simple commands, redirections and here-documents, and the effects of commands on names.

use super::cursor::{Parser, Result, is_reserved};
use super::numbers::converts_to_numbers;
use super::parts::{End, is_meta, joins};
use super::texts::ARGUMENTS;
use super::{Dialect, Kind, Node, Part, Redirect, Target, Word, literal, parse};
use crate::ShellError;
use crate::table::{EVALUATES_SUBSCRIPTS, MEANINGS};
use crate::variables::variable_of;

/// Builtins that assign the variables that they name.
const ASSIGNING: &[&str] = &[
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "printf",
    "local",
    "declare",
    "typeset",
    "export",
    "readonly",
    "let",
    "unset",
    "wait",
];
/// The builtins in [`ASSIGNING`] that read the values.
pub(super) const TAKING: &[&str] = &["read", "mapfile", "readarray"];
/// The builtins in [`ASSIGNING`] whose words contain the values.
const DECLARING: &[&str] = &["local", "declare", "typeset", "export", "readonly", "unset"];
/// The builtins in [`ASSIGNING`] that name a variable only by an option: `printf -v x`.
const ASSIGNING_BY_OPTION: &[&str] = &["printf", "wait"];
/// Builtins of other shells that assign variables, or make one stand for another.
const ASSIGNING_ELSEWHERE: &[&str] = &[
    "nameref",
    "integer",
    "float",
    "vared",
    "print",
    "getln",
    "zparseopts",
    "zstat",
];
/// Builtins that evaluate text in this shell.
const EVALUATING: &[&str] = &["eval", "source", ".", "trap"];
/// Builtins that change the folder.
const CHANGING_FOLDER: &[&str] = &["cd", "chdir", "pushd", "popd"];
const REDIRECTS: &[&str] = &[
    "&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">",
];

/// Whether the parser records effects on names for commands of this name. If the name comes from an expansion, the
/// parser could not record them.
pub(crate) fn is_noted(name: &str) -> bool {
    let lists = [
        ASSIGNING,
        EVALUATING,
        CHANGING_FOLDER,
        EVALUATES_SUBSCRIPTS,
        MEANINGS,
    ];
    lists.iter().any(|list| list.contains(&name))
}

/// Whether a word before the name of a builtin leaves it the builtin of this shell.
fn is_prefix(word: &str) -> bool {
    matches!(word, "command" | "builtin" | "time" | "-p" | "--")
}

/// Returns the words from the name of a builtin on, behind `command`, `builtin`, `time` and the options of these that run it.
pub(crate) fn behind_prefixes<W>(words: &[W], text: impl Fn(&W) -> Option<String>) -> &[W] {
    let runs = |word: &&W| text(word).is_some_and(|text| is_prefix(&text));
    words
        .get(words.iter().take_while(runs).count()..)
        .unwrap_or_default()
}

/// Whether words are `time` and assignments, which hold in this shell as they do without `time`.
fn is_timed_assignment(words: &[Word]) -> bool {
    let words: Vec<String> = words.iter().map(beginning).collect();
    let is_option = |word: &&String| matches!(word.as_str(), "time" | "-p" | "--");
    let assigns = |word: &String| {
        let name = word.split(['=', '[', '+']).next().unwrap_or_default();
        let is_name = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        word.contains(['=', '[']) && is_name && !name.is_empty()
    };
    let is_element = |word: &String| {
        word.split('=')
            .next()
            .is_some_and(|name| name.contains('['))
    };
    let n_options = words.iter().take_while(is_option).count();
    let rest = words.get(n_options..).unwrap_or_default();
    let n_assigning = rest.iter().take_while(|word| assigns(word)).count();
    let (assigning, others) = rest.split_at(n_assigning);
    words.first().is_some_and(|first| first == "time")
        && n_assigning > 0
        && (others.is_empty() || assigning.iter().any(is_element))
}

/// A here-document that begins after the line.
pub(super) struct Pending {
    slot: usize,
    delimiter: String,
    strip: bool,
    quoted: bool,
}

impl Parser<'_> {
    pub(super) fn simple(&mut self) -> Result<Node> {
        let start = self.pos;
        let (mut assigns, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        // whether the words so far have the name of a builtin or program, and whether that assigns variables
        let (mut named, mut declares) = (false, false);
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('&') if !self.sees("&>") => break,
                _ => {}
            }
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if self.peek() == Some('(') {
                let [word] = words.as_slice() else {
                    return self.fail();
                };
                let (Some(name), true, true) =
                    (literal(word), assigns.is_empty(), redirects.is_empty())
                else {
                    return self.fail();
                };
                self.pos += 1;
                self.blanks();
                self.expect(")")?;
                let kind = self.function(name)?;
                return Ok(Node { kind, redirects });
            }
            if words.is_empty()
                && let Some(assign) = self.assignment()?
            {
                assigns.push(assign);
                continue;
            }
            let opens = self.names.texts.opens;
            (self.declares, self.has_braces) = (declares, true);
            let word = self.word()?;
            let name = literal(&word).filter(|_| !named);
            named |= !name.as_deref().is_some_and(is_prefix);
            declares |= name.is_some_and(|name| DECLARING.contains(&&*name));
            if words.is_empty() && matches!(word.as_slice(), [Part::Bare(text)] if text == "[") {
                // the command, which is no text
                self.names.texts.opens = opens;
            }
            // within `$(…)` Bash writes the redirections behind the words, and reads the text again
            let is_bare = || word.iter().all(|part| matches!(part, Part::Bare(_)));
            if words.is_empty()
                && !redirects.is_empty()
                && let Some(reserved) = literal(&word).filter(|text| is_bare() && is_reserved(text))
            {
                let what = "what follows a redirection and";
                return Err(ShellError::undetermined(what, &reserved));
            }
            words.push(word);
        }
        if assigns.is_empty() && words.is_empty() && redirects.is_empty() {
            self.pos = start;
            return self.fail();
        }
        // zsh then runs a program of a variable
        if assigns.is_empty() && words.is_empty() && self.dialect == Dialect::Extended {
            self.of_bash()?;
        }
        if is_timed_assignment(&words) {
            return self.fail();
        }
        self.note(&words);
        self.note_subscripts(&words);
        self.note_read(&words, &redirects);
        self.note_test(&words);
        self.note_names(&words);
        Ok(Node {
            kind: Kind::Simple { assigns, words },
            redirects,
        })
    }

    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>> {
        let start = self.pos;
        let mut descriptor = String::new();
        if self.peek() == Some('{') {
            while let Some(c) = self.peek().filter(|c| !is_meta(*c)) {
                // `{a['x y']}>file`: the subscript continues after the quotes
                if matches!(c, '\'' | '"' | '\\' | '$' | '`') && is_subscripted(&descriptor) {
                    return self.fail();
                }
                descriptor.push(c);
                self.bump();
            }
            // other words with braces are expanded
            if !is_descriptor_name(&descriptor) {
                self.pos = start;
                return Ok(None);
            }
        } else {
            while let Some(c) = self.peek().filter(char::is_ascii_digit) {
                descriptor.push(c);
                self.bump();
            }
        }
        let process = self.sees("<(") || self.sees(">(");
        let operator = REDIRECTS
            .iter()
            .find(|operator| !process && self.eat(operator));
        let Some(operator) = operator.copied() else {
            self.pos = start;
            return Ok(None);
        };
        if matches!(operator, "&>>" | "&>" | "<<<") || descriptor.len() > 1 {
            self.of_bash()?;
        }
        // `{a[x]}>file` evaluates the subscript
        self.names.arithmetic |= descriptor.contains('[');
        if descriptor.starts_with('{') {
            let name = descriptor.trim_matches(['{', '}']);
            if let Some((array, index)) = name.split_once('[') {
                self.names.arrays.insert(array.to_owned());
                self.names.assign_all(index);
                self.names.texts.evaluate(index);
            }
            self.names.assign(variable_of(name));
            self.names.assign_unseen(name);
        }
        if !descriptor.is_empty() && operator.starts_with('&') {
            self.pos = start;
            return Ok(None);
        }
        self.blanks();
        let at = self.pos;
        let closes = matches!(operator, "<&" | ">&") && self.eat("-");
        if closes && self.peek().is_some_and(|c| !is_meta(c)) {
            // Bash begins the next word behind the dash, other shells do not
            self.of_bash()?;
        }
        let word = match closes {
            true => vec![Part::Bare("-".to_owned())],
            false => self.word()?,
        };
        let target = if matches!(operator, "<<" | "<<-") {
            let quoted = word.iter().any(|part| !matches!(part, Part::Bare(_)));
            let mut delimiter = String::new();
            for part in &word {
                match part {
                    Part::Bare(text) | Part::Quoted(text) => delimiter.push_str(text),
                    // Bash takes the text of an expansion as the delimiter; this is rejected, since scripts do not use
                    // it
                    _ => return Err(ShellError::NotShell(at)),
                }
            }
            // Bash strips tabs from the delimiter of `<<-`, and reads `$'…'` where others read a dollar sign
            if self.since(at).contains(['$', '`', '\t', '\n']) {
                return Err(ShellError::NotShell(at));
            }
            let slot = self.heredocs.len();
            self.heredocs.push(Vec::new());
            self.pending.push(Pending {
                slot,
                delimiter,
                strip: operator == "<<-",
                quoted,
            });
            Target::Heredoc(slot)
        } else {
            Target::Word(word)
        };
        Ok(Some(Redirect {
            descriptor: (!descriptor.is_empty()).then_some(descriptor),
            operator,
            target,
        }))
    }

    pub(super) fn heredoc(&mut self, of: &Pending) -> Result<()> {
        let mut body = String::new();
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                break;
            }
            let mut end = rest.find('\n').unwrap_or(rest.len());
            // a backslash at the end joins lines before the delimiter is searched
            while !of.quoted && joins(rest.get(..end).unwrap_or_default()) && end < rest.len() {
                let more = rest.get(end + 1..).unwrap_or_default();
                end += 1 + more.find('\n').unwrap_or(more.len());
            }
            let line = rest.get(..end).unwrap_or_default();
            // Bash compares the joined line with the delimiter; other shells compare each line
            if line.contains('\n') {
                let joined = line.replace("\\\n", "");
                let mut either = line.split('\n').skip(1).chain([joined.as_str()]);
                if either.any(|line| line.trim_start_matches('\t') == of.delimiter) {
                    return self.fail();
                }
            }
            self.pos += (end + 1).min(rest.len());
            let line = if of.strip {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line == of.delimiter {
                break;
            }
            // within `$(…)` Bash also ends it at a line that begins with the delimiter and closes the substitution
            if self.substitutions > 0 && line.starts_with(&of.delimiter) && line.contains(')') {
                return self.fail();
            }
            body.push_str(line);
            body.push('\n');
        }
        let word = if of.quoted {
            vec![Part::Quoted(body)]
        } else {
            self.within(&body, |parser| parser.parts(End::Text))?
        };
        if let Some(slot) = self.heredocs.get_mut(of.slot) {
            *slot = word;
        }
        Ok(())
    }

    /// Whether a command is a trap whose text changes no names.
    fn is_quiet_trap(&self, name: &str, words: &[Word]) -> bool {
        // the walk refuses the text if such a variable is assigned otherwise
        let with_values = |word: &Word| {
            let parts = word.iter().map(|part| match part {
                Part::Bare(text) | Part::Quoted(text) => Some(text.as_str()),
                Part::Param { name, .. } if self.names.made.contains(name) => Some("x"),
                _ => None,
            });
            parts.collect::<Option<String>>()
        };
        let text = words
            .iter()
            .filter_map(with_values)
            .find(|text| text != "--");
        let Some(text) = text.filter(|text| name == "trap" && !text.contains("trap")) else {
            return false;
        };
        let is_plain = |part: &Part| match part {
            Part::Bare(text) => !text.contains(['{', '*', '?', '[', '~']),
            Part::Param { name, quoted, .. } => *quoted && self.names.made.contains(name),
            part => matches!(part, Part::Quoted(_)),
        };
        let all_known = words.iter().flatten().all(is_plain);
        let parsed = parse(&text, self.depth + 1, self.dialect);
        all_known
            && parsed.is_ok_and(|parsed| {
                let names = &parsed.names;
                let defines = !names.functions.is_empty() || !names.aliases.is_empty();
                names.assigned.is_empty()
                    && !names.dynamic
                    && !names.shifts
                    && !defines
                    && names.may_fail == 0
            })
    }

    /// Records the effects of a command on names.
    fn note(&mut self, words: &[Word]) {
        let Some((first, words)) = behind_prefixes(words, literal).split_first() else {
            return;
        };
        let called = literal(first).unwrap_or_default();
        self.names.texts.checks.call(&called);
        // the walk refuses the command if an expansion gives one of the names that are recorded here
        let Some(name) = literal(first) else {
            return self.pass(None, words);
        };
        let name = name.as_str();
        self.pass(Some(name), words);
        let is_element = |word: &Word| name != "[" && beginning(word).contains('[');
        let evaluates = EVALUATES_SUBSCRIPTS.contains(&name) && words.iter().any(is_element);
        let may_fail =
            evaluates || DECLARING.contains(&name) || self.names.functions.contains(name);
        self.names.may_fail += usize::from(may_fail);
        let is_callback = |word: &Word| {
            let text = without_expansions(word);
            text.starts_with('-') && text.contains('C') || is_printed(word)
        };
        let calls_back = matches!(name, "mapfile" | "readarray") && words.iter().any(is_callback);
        if calls_back {
            self.names.texts.take(ARGUMENTS);
        }
        // a text that runs in this shell may assign any variable, and change the parameters
        let runs_text =
            calls_back || EVALUATING.contains(&name) && !self.is_quiet_trap(name, words);
        self.names.dynamic |= runs_text || ASSIGNING_ELSEWHERE.contains(&name);
        let sets = name == "set" && !sets_options_only(words);
        self.names.shifts |= runs_text || sets || name == "shift";
        // a pattern in place of a name
        let is_pattern = |part: &Part| matches!(part, Part::Bare(text) if text.contains(['*', '?']) || text.starts_with('['));
        self.names.dynamic |= ASSIGNING.contains(&name) && words.iter().flatten().any(is_pattern);
        // a trap runs later: it changes the folder only if its text does
        self.names.moves |=
            CHANGING_FOLDER.contains(&name) || EVALUATING.contains(&name) && name != "trap";
        self.names.arithmetic |= EVALUATES_SUBSCRIPTS.contains(&name);
        // the first word is the text; at the end of the shell it has no effect on what was read or printed before
        let is_end = |word: &Word| matches!(literal(word).as_deref(), Some("EXIT" | "0"));
        let mut behind = words.iter().skip_while(|word| beginning(word) == "--");
        let is_inner =
            |word: &Word| matches!(literal(word).as_deref(), Some("DEBUG" | "ERR" | "RETURN"));
        let ends_function =
            name == "unset" && words.iter().any(|word| beginning(word).starts_with("-f"));
        self.names.texts.replaces |= ends_function;
        if name == "trap" && words.iter().any(is_inner) {
            self.names.texts.replaces = true;
            self.names.texts.replace_functions();
        }
        self.names.traps |= name == "trap" && behind.next().is_some() && !behind.all(is_end);
        if CHANGING_FOLDER.contains(&name) {
            self.note_folder(words);
        }
        match name {
            "read" => self.names.assign("REPLY"),
            "mapfile" | "readarray" => {
                self.names.assign("MAPFILE");
                self.names.arrays.insert("MAPFILE".to_owned());
            }
            "getopts" => {
                self.names.assign("OPTARG");
                self.names.texts.flow_variable(ARGUMENTS, "OPTARG");
                for word in words.iter().skip(2) {
                    self.flow_words_into("OPTARG", word);
                }
                self.names.texts.joined.insert("OPTARG".to_owned());
                self.note_option(words);
            }
            "let" => {
                for word in words {
                    let text = without_expansions(word);
                    self.names.assign_all(&text);
                    self.names.texts.evaluate(&text);
                    self.names.texts.evaluate_parts(word);
                    self.names.texts.put_together(word);
                    self.names.texts.evaluate_words(word);
                }
                return;
            }
            "alias" => {
                self.names.texts.replace_functions();
                for word in words {
                    let text = beginning(word);
                    match text.split_once('=') {
                        Some((alias, _)) if is_reserved(alias) => {
                            self.names.run_unseen = Some(alias.to_owned());
                        }
                        Some((alias, _)) if !alias.contains(['{', '*', '?', '[']) => {
                            self.names.aliases.insert(alias.to_owned());
                        }
                        None if literal(word).is_some() && !word.iter().any(is_pattern) => {}
                        // any name
                        _ => {
                            self.names.aliases.insert(String::new());
                        }
                    }
                }
            }
            _ => {}
        }
        if ASSIGNING.contains(&name) {
            self.note_assigned(name, words);
        }
    }

    /// Records the variables that a builtin assigns.
    fn note_assigned(&mut self, builtin: &str, words: &[Word]) {
        // words of these builtins contain the value, which is checked there
        let declaring = DECLARING.contains(&builtin);
        let by_option = ASSIGNING_BY_OPTION.contains(&builtin);
        let mut names_follow = !by_option;
        let has_letter = |letter: char| {
            let mut options = words.iter().map(without_expansions);
            options.any(|one| one.starts_with('-') && one.contains(letter))
        };
        let is_associative = declaring && has_letter('A');
        let makes_array = is_associative
            || has_letter('a') && (declaring || builtin == "read")
            || matches!(builtin, "mapfile" | "readarray");
        let read_only = builtin == "readonly" || declaring && has_letter('r');
        let is_integer = declaring && (has_letter('i') || words.iter().any(is_printed));
        self.names.dynamic |=
            builtin == "printf" && words.iter().any(|word| counts(&beginning(word)));
        if builtin == "printf" {
            // words before the option may be none: `printf $x -v y[1]`
            let elements = words.iter().map(beginning);
            let arrays = elements.filter_map(|text| Some(text.split_once('[')?.0.to_owned()));
            self.names.arrays.extend(arrays);
        }
        for (nth, word) in words.iter().enumerate() {
            let text = beginning(word);
            // `declare -n`: the value is the name of another variable
            self.names.dynamic |= declaring && text.starts_with('-') && text.contains('n');
            let option = text.strip_prefix(['-', '+']);
            let named = match option.and_then(|letters| letters.split_once(['a', 'v', 'p'])) {
                Some((_, "")) => {
                    names_follow = true;
                    // `printf "-v$x"`
                    self.names.dynamic |= literal(word).is_none();
                    continue;
                }
                Some((_, named)) => named,
                None if option.is_some() || !names_follow => {
                    // an expansion may produce an option with a name
                    let open = literal(word).is_none() && (option.is_some() || text.is_empty());
                    self.names.dynamic |= open || expands(word);
                    // `printf $(true)-v x FORMAT …`
                    let may_name = without_expansions(word).starts_with("-v") || is_printed(word);
                    if open && builtin == "printf" && may_name {
                        words.iter().for_each(|word| self.flow_into("", word));
                        self.names.texts.decodes = true;
                    }
                    if by_option && option.is_none() {
                        return;
                    }
                    continue;
                }
                None => text.as_str(),
            };
            names_follow = !by_option;
            let end = named.find(['=', '+', '[']);
            let variable = named.get(..end.unwrap_or(named.len())).unwrap_or_default();
            self.names.assign(variable);
            if named.contains('[') {
                self.names.arrays.insert(variable.to_owned());
            }
            let whole =
                (end.is_some() || literal(word).is_some()) && !variable.contains(['{', ',']);
            self.names.dynamic |= !whole;
            // a name of which a part is an expansion may be any
            let target = if whole { variable } else { "" };
            if declaring && builtin != "unset" {
                self.flow_into(target, word);
            }
            if builtin == "printf" {
                self.note_formatted(target, words, words.get(nth + 1..).unwrap_or_default());
            }
            // `declare -l x=A`
            if declaring && ['l', 'u', 'c'].into_iter().any(has_letter) {
                self.names.texts.joined.insert(variable.to_owned());
            }
            if makes_array {
                self.names.arrays.insert(variable.to_owned());
            }
            if is_associative {
                self.names.associative.insert(variable.to_owned());
            }
            if is_integer && !variable.is_empty() {
                self.names.texts.evaluate_variable(variable);
            }
            if read_only {
                self.names.read_only.insert(variable.to_owned());
            }
            if !declaring {
                self.names.assign_unseen(variable);
            } else if let Some((_, target)) = named.split_once('=') {
                // `declare -n x=PS4`
                self.names.assign_unseen(target);
            }
        }
    }
}

impl Parser<'_> {
    /// Records the text of `printf -v x FORMAT …` as that of a variable; the format is the first word behind the name.
    fn note_formatted(&mut self, variable: &str, words: &[Word], behind: &[Word]) {
        let format = behind
            .iter()
            .map(literal)
            .find(|word| word.as_deref() != Some("--"));
        let converts = |format: String| format.contains('%') && converts_to_numbers(&format);
        if format.flatten().is_some_and(converts) {
            return;
        }
        for word in words {
            self.flow_words_into(variable, word);
        }
        self.names.texts.joined.insert(variable.to_owned());
        let is_open = |word: &Word| literal(word).is_none_or(|text| text.contains("%b"));
        self.names.texts.decodes |= words.iter().any(is_open);
    }

    /// Records the letter of an option that `getopts` puts in a variable.
    fn note_option(&mut self, words: &[Word]) {
        let mut operands = words.iter().skip_while(|word| beginning(word) == "--");
        let letters = operands.next().and_then(literal);
        let variable = operands.next().and_then(literal).unwrap_or_default();
        let texts = &mut self.names.texts;
        match letters {
            Some(letters) => {
                let letters = letters.chars().filter(char::is_ascii_alphabetic);
                let pairs = letters.map(|letter| (letter.to_string(), variable.clone()));
                texts.flows.extend(pairs);
            }
            None => {
                texts.flows.insert((String::new(), variable.clone()));
            }
        }
        texts.lettered.insert(variable);
    }
}

/// Returns the text of a word up to its first expansion.
pub(super) fn beginning(word: &Word) -> String {
    let texts = word.iter().map_while(|part| match part {
        Part::Bare(text) | Part::Quoted(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Returns the text of a word without its expansions, which may be empty.
pub(super) fn without_expansions(word: &Word) -> String {
    let texts = word.iter().map(|part| match part {
        Part::Bare(text) | Part::Quoted(text) => text.as_str(),
        _ => "",
    });
    texts.collect()
}

/// Whether a word is only what commands print.
pub(super) fn is_printed(word: &Word) -> bool {
    let is_output = |part: &Part| matches!(part, Part::Substitution { .. });
    !word.is_empty() && word.iter().all(is_output)
}

/// Whether a format of `printf` assigns the number of characters to the variable that a word names: `%n`.
fn counts(format: &str) -> bool {
    let is_flag = |c: char| c.is_ascii_digit() || "-+ #.*'lhjztL".contains(c);
    format
        .split('%')
        .skip(1)
        .any(|rest| rest.trim_start_matches(is_flag).starts_with('n'))
}

/// Whether braces may make several words of one.
fn expands(word: &Word) -> bool {
    word.iter()
        .any(|part| matches!(part, Part::Bare(text) if text.contains('{')))
}

/// Whether a word begins with `{x[`.
fn is_subscripted(word: &str) -> bool {
    let name = word.strip_prefix('{').and_then(|word| word.split_once('['));
    let part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    name.is_some_and(|(name, _)| !name.is_empty() && name.chars().all(part))
}

/// Whether a word before a redirection names a variable for the descriptor: `{fd}` and `{fd[1]}`.
fn is_descriptor_name(word: &str) -> bool {
    let inner = word
        .strip_prefix('{')
        .and_then(|word| word.strip_suffix('}'));
    let Some(inner) = inner else { return false };
    let name = match inner.split_once('[') {
        Some((name, rest)) if rest.ends_with(']') => name,
        Some(_) => return false,
        None => inner,
    };
    let part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    !name.is_empty() && name.chars().all(part)
}

/// Whether the words of `set` are options that leave the parameters as they are: `-e`, `-euo pipefail`.
fn sets_options_only(words: &[Word]) -> bool {
    let mut texts = words.iter().map(literal);
    while let Some(text) = texts.next() {
        let text = text.unwrap_or_default();
        let letters = text.strip_prefix(['-', '+']).unwrap_or_default();
        let is_name = |text: String| text.chars().all(|c| c.is_ascii_lowercase());
        let has_name = !letters.ends_with('o') || texts.next().flatten().is_some_and(is_name);
        let is_plain = !letters.is_empty() && letters.chars().all(|c| "euxvfETo".contains(c));
        if !is_plain || !has_name || letters.matches('o').count() > 1 {
            return false;
        }
    }
    !words.is_empty()
}
