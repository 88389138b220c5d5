//! Programs with rules of their own: `find`, `xargs`, `su`, `env`, interpreters.

use super::options::{
    Sorted, after_assignments, behind_dashes, check_name, line_of, long_option, permuted,
    script_text, sort, split_value, take,
};
use super::{Place, Result, Run, base, has_mark, refuse, unversioned};
use crate::components::Climb;
use crate::feed::Feed;
use crate::option_table::{FIND_TWO_VALUES, FIND_VALUES};
use crate::syntax::{self, Dialect};
use crate::table::{SCREEN_QUIET, SHELLS, listed};
use crate::walk::Walk;
use crate::words::{Field, Hole, Leading};
use crate::wrappers::{WATCH, WRAPPERS, XARGS};
use crate::{Construct, ShellError};

impl Walk<'_> {
    /// Follows every `-exec` of `find`. `{}` is a file at or below a starting point, so an absolute starting point is
    /// listed in its place.
    pub(super) fn find(&mut self, words: &[Field]) -> Result<Run> {
        // the last ones are those of BSD, of which `-f` announces a starting point
        let is_letter = |c: char| "HLPEXdsxf".contains(c);
        let is_kind = |word: &Field| match word.text.strip_prefix('-') {
            Some("") | None => false,
            Some(letters) => {
                letters == "-" || letters.starts_with('O') || letters.chars().all(is_letter)
            }
        };
        let is_expression = |word: &Field| match word.text.as_str() {
            "(" | "!" => true,
            text => text.len() > 1 && text.starts_with('-'),
        };
        let mut first = 0;
        while let Some(word) = words.get(first) {
            first += match word.text.as_str() {
                "-D" => 2,
                _ if is_kind(word) => 1,
                _ => break,
            };
        }
        let behind = words.get(first..).unwrap_or_default();
        let starts: Vec<&Field> = behind
            .iter()
            .take_while(|word| !is_expression(word))
            .collect();
        let n_starts = first + starts.len();
        if let Some(list) = words.iter().find(|word| word.text == "-files0-from") {
            return refuse("the starting points of `find`", list);
        }
        let outside: Vec<&Field> = starts
            .iter()
            .copied()
            .filter(|start| is_outside(start))
            .collect();
        let mut runs = Vec::new();
        let mut open = None;
        let mut n_values = 0usize;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            // the end of a command whose beginning comes from a variable
            if let Some(open) = open.filter(|_| word.text == ";" || word.text == "{}") {
                return refuse("an expression of `find`", open);
            }
            if word.hole == Hole::Start && word.splits {
                open = Some(word);
            }
            let is_value = n_values > 0;
            n_values = match is_value {
                true => n_values - 1,
                false if listed(FIND_TWO_VALUES, &word.text) => 2,
                false => usize::from(listed(FIND_VALUES, &word.text)),
            };
            let runs_here = matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
            // for another version it may be the action
            if is_value && runs_here {
                return refuse("an expression of `find`", word);
            }
            if is_value || !runs_here {
                // after `find "$x"` an option would be the name of the program
                let is_start = at <= n_starts;
                let sole = match words.get(at) {
                    Some(next) => next.text.starts_with('-') && next.is_known(),
                    None => true,
                };
                let limit = match is_start && !word.splits && sole {
                    true => Leading::Named,
                    false => Leading::Determined,
                };
                // `-del${x:-ete}`
                let is_part = word.hole != Hole::None || word.pattern;
                if !is_value && is_part && word.determined().starts_with('-') {
                    return refuse("an expression of `find`", word);
                }
                let open = word.leading() > limit;
                let splits = word.may_split() && word.hole == Hole::Start;
                if open && !is_value || splits && word.leading() > Leading::Determined {
                    return refuse("an expression of `find`", word);
                }
                continue;
            }
            let rest = words.get(at..).unwrap_or_default();
            let end = rest.iter().enumerate().position(|(nth, word)| {
                word.text == ";"
                    || word.text == "+"
                        && nth > 0
                        && rest.get(nth - 1).is_some_and(|before| before.text == "{}")
            });
            let command = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            at += command.len();
            let command = &with_found(command);
            // a file that is found
            if let Some(word) = command.first().filter(|word| word.text.contains("{}")) {
                return refuse("the program", word);
            }
            let program = command.first().map(|word| base(&word.text));
            let wraps = |name| WRAPPERS.iter().any(|one| listed(one.names, name));
            // a parameter of a shell may become a program, which is a file that is found, and no starting point
            let passes = command
                .iter()
                .any(|word| SHELLS.contains(&unversioned(base(&word.text))));
            let mut of_this = Vec::new();
            let gives_line =
                |word: &Field| word.text.starts_with('-') && word.text.contains(['c', 'n']);
            // a script that is found is not that of a starting point
            let is_script = program.is_some_and(|program| SHELLS.contains(&program))
                && !command.iter().any(gives_line);
            if outside.is_empty() || is_script || passes || program.is_some_and(wraps) {
                of_this.push(Run::Words(command.to_vec()));
            }
            for start in outside.iter().filter(|_| !is_script) {
                of_this.push(Run::Words(self.found_below(start, command)?));
            }
            // below a folder that is given
            match word.text.ends_with("dir") && !outside.is_empty() {
                true => runs.push(Run::At(Place::Elsewhere, Box::new(Run::All(of_this)))),
                false => runs.extend(of_this),
            }
        }
        Ok(Run::All(runs))
    }

    pub(super) fn xargs(&mut self, words: &[Field], feed: &Feed) -> Result<Run> {
        let sorted = sort(&XARGS, words)?;
        let given = |names: &[&str]| {
            sorted
                .seen
                .iter()
                .any(|option| names.contains(&option.as_str()))
        };
        let odd = given(&[
            "a",
            "arg-file",
            "d",
            "delimiter",
            "0",
            "null",
            "E",
            "eof",
            "e",
        ]);
        // the command may run several times, and each time begin with another item
        let program = sorted.rest.first().map(|first| base(&first.text));
        let runs = |name| {
            WRAPPERS.iter().any(|one| listed(one.names, name))
                || SHELLS.contains(&unversioned(name))
        };
        let several = program.is_some_and(runs)
            && given(&["n", "max-args", "L", "l", "max-lines", "s", "max-chars"]);
        let items = items(feed).filter(|items| !odd && (!several || items.len() < 2));
        if sorted.rest.is_empty() {
            return Ok(Run::Nothing);
        }
        let limits = ["n", "max-args", "L", "l", "max-lines"];
        let limit = sorted
            .values
            .iter()
            .rev()
            .find(|(name, _)| limits.contains(&name.as_str()));
        let is_one = limit
            .is_some_and(|(name, value)| matches!(&**name, "n" | "max-args") && value.text == "1");
        let appended = || {
            let mut words = sorted.rest.to_vec();
            let unseen = Field {
                splits: !is_one,
                ..Field::unseen()
            };
            words.extend(items.clone().unwrap_or_else(|| vec![unseen]));
            Run::Words(words)
        };
        let Some(mark) = mark_of(&sorted)? else {
            return Ok(appended());
        };
        let lines: Vec<Field> = match feed {
            Feed::Text(text) if items.is_some() => text
                .lines()
                .map(|line| Field::known(line.trim_start()))
                .collect(),
            // one line is one word
            _ => vec![Field {
                splits: false,
                silent: false,
                leading: Leading::Printed,
                text: READ_WORDS.to_owned(),
                ..Field::unseen()
            }],
        };
        let mut runs = Vec::new();
        for line in &lines {
            let words = self.replace(sorted.rest, &mark, line)?;
            // GNU replaces in the words of the program only, others in its name as well
            if let Some(first) = sorted.rest.first().filter(|word| word.text.contains(&mark)) {
                let mut kept = words.clone();
                kept.splice(..1, [first.clone()]);
                runs.push(Run::Words(kept));
            }
            runs.push(Run::Words(words));
        }
        // an option for several words or lines cancels the mark, if it is the last one
        let several = |(name, value): &(String, Field)| match name.as_str() {
            "n" | "max-args" => value.text != "1",
            name => matches!(name, "L" | "l" | "max-lines"),
        };
        if sorted.values.iter().any(several) {
            runs.push(appended());
        }
        Ok(Run::All(runs))
    }
}

/// The words that `xargs` and `parallel` read, shown as a substitution: rules look for what another command prints.
pub(super) const READ_WORDS: &str = "$(cat)";

/// Returns the text that `xargs` or `parallel` replaces in the words of a command: the value of the last option for it.
pub(super) fn mark_of(sorted: &Sorted<'_>) -> Result<Option<String>> {
    let names = |name: &str| matches!(name, "I" | "J" | "i" | "replace");
    let option = sorted.values.iter().rev().find(|(name, _)| names(name));
    match option {
        None => Ok(None),
        Some((_, value)) if !value.is_known() => refuse("what is replaced in a command", value),
        Some((_, value)) if value.text.is_empty() => Ok(Some("{}".to_owned())),
        Some((_, value)) => Ok(Some(value.text.clone())),
    }
}

/// Whether a starting point may be outside of the folder in which the command runs.
pub(super) fn is_outside(start: &Field) -> bool {
    let climbs = start.climb > Climb::No;
    start.hole != Hole::None || start.tilde || climbs || start.text.starts_with('/')
}

/// Stands for a file that is found.
pub(super) const FOUND: &str = "{}";

/// Returns words in which `{}` stands for a file that is found: in a text for a shell, its name is a part of that text.
pub(super) fn with_found(words: &[Field]) -> Vec<Field> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./{},:=+@%~".contains(c);
    let found = words.iter().map(|word| match has_mark(&word.text) {
        true if !word.text.chars().all(is_plain) => Field {
            hole: word.hole.max(Hole::Within),
            environment: false,
            tail: false,
            ..word.clone()
        },
        _ => word.clone(),
    });
    found.collect()
}

/// Follows `su`, whose operands may precede its options; `None` if the table describes the call completely.
pub(super) fn switch_user(program: &str, words: &[Field]) -> Result<Option<Run>> {
    let Some(wrapper) = WRAPPERS.iter().find(|one| listed(one.names, program)) else {
        return Ok(None);
    };
    let mut rest = words;
    let mut operands = Vec::new();
    let mut user = false;
    let (mut shell, mut lines) = (None, Vec::new());
    loop {
        let sorted = sort(wrapper, rest)?;
        lines.extend(sorted.lines.iter().cloned());
        let is_shell = |(name, _): &&(String, Field)| matches!(name.as_str(), "s" | "shell");
        if let Some((_, program)) = sorted.values.iter().rev().find(is_shell) {
            shell = Some(program.clone());
        }
        user |= sorted
            .seen
            .iter()
            .any(|option| option == "u" || option == "user");
        if user {
            return Ok(Some(Run::Words(permuted(wrapper, rest, &sorted)?)));
        }
        let passed = rest.len() - sorted.rest.len();
        let ended = rest.get(..passed).unwrap_or_default();
        let dashes = ended.last().is_some_and(|field| field.text == "--");
        match sorted.rest.split_first() {
            Some((operand, more)) if !dashes => {
                if operand.text != "-" {
                    operands.push(operand.clone());
                }
                rest = more;
            }
            _ => {
                operands.extend(sorted.rest.iter().cloned());
                break;
            }
        }
    }
    // the words after the user are for the shell, which may be any program
    let args = operands.get(1..).unwrap_or_default();
    let is_other = |program: &Field| !SHELLS.contains(&unversioned(base(&program.text)));
    let program = match shell {
        Some(program) if !program.is_known() => {
            return refuse("the program that runs for a user", &program);
        }
        Some(program) if is_other(&program) => program,
        _ if !lines.is_empty() => {
            let lines = lines.iter().map(|line| line_of(std::slice::from_ref(line)));
            return Ok(Some(Run::All(lines.collect::<Result<_>>()?)));
        }
        _ if args.is_empty() => return Ok(Some(Run::Input)),
        _ => Field::known("sh"),
    };
    let mut run = vec![program];
    for line in lines {
        run.extend([Field::known("-c"), line]);
    }
    run.extend(args.iter().cloned());
    Ok(Some(Run::Words(run)))
}

/// Follows `sg`, which passes the word after the group to a shell, with or without `-c`.
pub(super) fn switch_group(words: &[Field]) -> Result<Run> {
    if let Some(word) = words.iter().find(|word| word.hides_option()) {
        return refuse(Construct::Option, word);
    }
    let dashes = words
        .iter()
        .take_while(|word| word.text.starts_with('-'))
        .count();
    let rest = words.get(dashes + 1..).unwrap_or_default();
    let rest = match rest {
        [option, rest @ ..] if option.text == "-c" => rest,
        rest => rest,
    };
    match rest {
        // it starts a shell, which reads the input
        [] => Ok(Run::Input),
        [line, ..] => line_of(std::slice::from_ref(line)),
    }
}

/// Follows `env`: `-S` splits its value into words, and `-` is an option.
pub(super) fn env(words: &[Field]) -> Result<Run> {
    let Some(wrapper) = WRAPPERS.iter().find(|one| listed(one.names, "env")) else {
        return Ok(Run::Nothing);
    };
    let mut at = 0;
    let mut moves = false;
    let mut values = Vec::new();
    let there = |moves: bool, run: Run| match moves {
        true => Run::At(Place::Elsewhere, Box::new(run)),
        false => run,
    };
    while let Some(field) = words.get(at) {
        let text = field.text.as_str();
        if text == "--" || (!text.starts_with('-') && field.hole != Hole::Start) {
            break;
        }
        let long = text.strip_prefix("--").map(split_value);
        let letters = text.strip_prefix('-').filter(|_| long.is_none());
        let value_first = |letters: &str| {
            letters.find('S').filter(|place| {
                let before = letters.get(..*place).unwrap_or_default();
                !before.contains(['u', 'C', 'a'])
            })
        };
        let mut next = at + 1;
        let string = if let Some((name, value)) = long
            && !name.is_empty()
            && "split-string".starts_with(name)
        {
            Some(match value {
                Some(value) => value.to_owned(),
                None => take(words, &mut next, field)?.text.clone(),
            })
        } else if let Some(letters) = letters
            && let Some(place) = value_first(letters)
        {
            let inside = letters.get(place + 1..).unwrap_or_default();
            Some(if inside.is_empty() {
                take(words, &mut next, field)?.text.clone()
            } else {
                inside.to_owned()
            })
        } else {
            None
        };
        if let Some(string) = string {
            let last = words.get(next - 1).unwrap_or(field);
            if last.hole != Hole::None || field.hole != Hole::None {
                return refuse("the words of `env -S`", last);
            }
            let mut all = vec![Field::known("env")];
            all.extend(split_string(&string)?);
            all.extend(words.get(next..).unwrap_or_default().iter().cloned());
            check_name(&values, &all)?;
            return Ok(there(moves, Run::Words(all)));
        }
        if text == "-" {
            at += 1;
            continue;
        }
        // one option and its value
        let takes = letters.is_some_and(|letters| {
            letters.find(['u', 'C', 'a']) == letters.len().checked_sub(1) && !letters.is_empty()
        }) || long.is_some_and(|(name, value)| {
            value.is_none() && long_option(wrapper, name).is_some_and(|(_, takes)| takes)
        });
        let end = words.len().min(at + 1 + usize::from(takes));
        let one = sort(wrapper, words.get(at..end).unwrap_or_default())?;
        let moving = wrapper.moves.unwrap_or_default();
        moves |= one.seen.iter().any(|option| listed(moving, option));
        values.extend(one.values);
        if !one.rest.is_empty() {
            break;
        }
        at = end;
    }
    let rest = behind_dashes(words.get(at..).unwrap_or_default());
    check_name(&values, rest)?;
    Ok(there(moves, Run::Words(after_assignments(rest)?.to_vec())))
}

/// Splits the words of `env -S`: quotes as in a shell; escapes and variables are not supported.
fn split_string(text: &str) -> Result<Vec<Field>> {
    let undetermined = || ShellError::undetermined("the words of `env -S`", text);
    if text.contains([
        '\\', '$', '`', ';', '&', '|', '<', '>', '(', ')', '#', '{', '*', '?', '[',
    ]) {
        return Err(undetermined());
    }
    let blanks = ['\n', '\r', '\u{b}', '\u{c}'];
    let parsed =
        syntax::parse(&text.replace(blanks, " "), 0, Dialect::Bash).map_err(|_| undetermined())?;
    let mut fields = Vec::new();
    for statement in &parsed.script.statements {
        let Some([node]) = statement.pipelines.first().map(Vec::as_slice) else {
            return Err(undetermined());
        };
        let syntax::Kind::Simple { assigns, words } = &node.kind else {
            return Err(undetermined());
        };
        for assign in assigns {
            let value = syntax::literal(&assign.value).ok_or_else(undetermined)?;
            fields.push(Field::known(format!("{}={value}", assign.name)));
        }
        for word in words {
            fields.push(Field::known(
                syntax::literal(word).ok_or_else(undetermined)?,
            ));
        }
    }
    Ok(fields)
}

pub(super) fn trap(words: &[Field]) -> Result<Run> {
    let words = match words {
        [dashes, rest @ ..] if dashes.text == "--" => rest,
        [option, ..] if option.text.starts_with('-') => return Ok(Run::Nothing),
        words => words,
    };
    match words {
        [line, _, ..] => line_of(std::slice::from_ref(line)),
        [line] if line.may_split() => refuse("a script", line),
        _ => Ok(Run::Nothing),
    }
}

/// `mapfile -C LINE`, `compgen -C LINE`, `compgen -W WORDS`.
pub(super) fn callback(program: &str, words: &[Field]) -> Result<Run> {
    let values = match program {
        "mapfile" | "readarray" => "dnOsuCc",
        _ => "oAGWFCXPS",
    };
    let mut runs = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word.hole == Hole::Start {
            return refuse(Construct::Option, word);
        }
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        let Some(place) = letters.find(|letter| values.contains(letter)) else {
            continue;
        };
        let (option, inside) = letters.split_at(place).1.split_at(1);
        let line = match inside.is_empty() {
            true => words.next().cloned().unwrap_or_else(Field::unseen),
            false => Field {
                text: inside.to_owned(),
                ..word.clone()
            },
        };
        if option == "F" && program == "compgen" {
            return refuse("the words of a function that is called by", &line);
        }
        // the last one counts, and each may be it; words that are not known are appended
        if option == "C" {
            runs.push(Run::Line(script_text(&line)? + " \"$@\"", None));
        }
        // a list of words that is expanded
        if option == "W" && (line.hole != Hole::None || line.text.contains(['$', '`', '<', '>'])) {
            return refuse("the words of", &line);
        }
    }
    Ok(Run::All(runs))
}

/// Splits a standard input into items, as `xargs` does at blanks.
pub(super) fn items(feed: &Feed) -> Option<Vec<Field>> {
    match feed {
        Feed::Text(text) if !text.contains(['\'', '"', '\\']) => {
            Some(text.split_ascii_whitespace().map(Field::known).collect())
        }
        _ => None,
    }
}

impl Walk<'_> {
    /// Counts the work of copying words in which a mark is replaced, before they are copied.
    fn charge_replaced(&mut self, words: &[Field], mark: &str, by: &str) -> Result<()> {
        let sizes = words.iter().map(|word| {
            let n_marks = word.text.matches(mark).count();
            16 + word.text.len() + n_marks.saturating_mul(by.len())
        });
        self.charge(sizes.sum())
    }

    /// Returns words in which a starting point stands for a file that is found. A word with more parts names a file at or below it.
    pub(super) fn found_below(&mut self, start: &Field, words: &[Field]) -> Result<Vec<Field>> {
        self.charge_replaced(words, FOUND, &start.text)?;
        let path = format!("{}/{FOUND}", start.text.trim_end_matches('/'));
        let replaced = words.iter().map(|word| match word.text.as_str() {
            FOUND => start.clone(),
            text if text.contains(FOUND) => {
                let text = text.replace(FOUND, &path);
                let begins = word.text.starts_with(FOUND);
                let hole = if begins { start.hole } else { Hole::None };
                Field {
                    determined: text.clone(),
                    text,
                    hole: hole.max(word.hole).max(Hole::Within),
                    environment: false,
                    tail: false,
                    tilde: word.tilde || begins && start.tilde,
                    climb: word.climb.max(start.climb),
                    ..word.clone()
                }
            }
            _ => word.clone(),
        });
        Ok(replaced.collect())
    }

    /// Replaces a mark in words by another word.
    pub(super) fn replace(
        &mut self,
        words: &[Field],
        mark: &str,
        by: &Field,
    ) -> Result<Vec<Field>> {
        self.charge_replaced(words, mark, &by.text)?;
        Ok(words.iter().map(|word| word.replaced(mark, by)).collect())
    }
}

/// Refuses what `screen -X` types or reads in a session.
pub(super) fn check_screen(words: &[Field]) -> Result<()> {
    let gives = |word: &Field| {
        word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('X')
    };
    let command = words
        .iter()
        .position(gives)
        .and_then(|at| words.get(at + 1));
    match command.filter(|name| !name.is_known() || !listed(SCREEN_QUIET, &name.text)) {
        Some(name) => refuse("a command of `screen`", name),
        None => Ok(()),
    }
}

pub(super) fn watch(words: &[Field]) -> Result<Run> {
    let sorted = sort(&WATCH, words)?;
    if sorted
        .seen
        .iter()
        .any(|option| option == "x" || option == "exec")
    {
        return Ok(Run::Words(sorted.rest.to_vec()));
    }
    line_of(sorted.rest)
}
