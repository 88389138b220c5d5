//! Parsing of options by the tables.

use super::heredocs::may_end_heredoc;
use super::{Result, Run, base, refuse};
use crate::Construct;
use crate::table::{NAMED_BY_CALL, listed};
use crate::variables::{Given, check_variable, loads_code, runs_values_of};
use crate::words::{Field, Hole};
use crate::wrappers::Wrapper;

/// A command's words, sorted by its table.
pub(super) struct Sorted<'f> {
    /// The words after the options and operands.
    pub(super) rest: &'f [Field],
    /// Operands before that.
    pub(super) operands: &'f [Field],
    pub(super) lines: Vec<Field>,
    pub(super) programs: Vec<Field>,
    /// Options, by their letter or whole name.
    pub(super) seen: Vec<String>,
    pub(super) values: Vec<(String, Field)>,
}

pub(super) fn split_value(option: &str) -> (&str, Option<&str>) {
    match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    }
}

/// Takes the value of an option from the next word.
pub(super) fn take<'f>(rest: &'f [Field], at: &mut usize, option: &Field) -> Result<&'f Field> {
    let Some(value) = rest.get(*at) else {
        return refuse("the value of an option", option);
    };
    if value.may_split() || value.pattern || value.silent {
        return refuse("the value of an option", value);
    }
    *at += 1;
    Ok(value)
}

/// Returns the text that is passed to a shell. Parameters that the line never assigns stay in it, as one word each. Names of files are text
/// that the line does not hold.
pub(super) fn script_text(field: &Field) -> Result<String> {
    let plain = field.environment && (field.hole == Hole::None || !field.silent);
    let is_path = field.pattern || field.tilde && !field.text.starts_with("~/");
    if !plain || is_path || field.process.is_some() {
        return refuse("a script", field);
    }
    check_parameters(std::slice::from_ref(field))?;
    Ok(field.text.clone())
}

/// Refuses words of a text for a shell in which parameters decide how the shell reads others: each of several may be empty or not, a line may
/// be the end of a here-document, and `$'…'` would replace the codes before one.
fn check_parameters(words: &[Field]) -> Result<()> {
    let joined = |of: fn(&Field) -> &str| words.iter().map(of).collect::<Vec<_>>().join(" ");
    let Some(open) = words.iter().find(|word| word.hole != Hole::None) else {
        return Ok(());
    };
    let joins: usize = words.iter().map(|word| word.joins).sum();
    let quotes = words.iter().any(|word| word.quotes);
    let text = joined(|word| &word.text);
    let mut codes = text
        .split("$'")
        .skip(1)
        .filter_map(|code| code.split('\'').next());
    if joins + usize::from(quotes) > 1
        || may_end_heredoc(&text, &joined(Field::rest))
        || codes.any(|code| code.contains('\\') && code.contains('$'))
    {
        return refuse("a script", open);
    }
    Ok(())
}

/// Words that are joined and read as a line.
pub(super) fn line_of(words: &[Field]) -> Result<Run> {
    if words.is_empty() {
        return Ok(Run::Nothing);
    }
    let texts = words.iter().map(script_text);
    let texts = texts.collect::<Result<Vec<_>>>()?;
    check_parameters(words)?;
    Ok(Run::Line(texts.join(" "), None))
}

/// A line that a program gives to a shell, with an input of its own and, if `appends`, with words of its own behind it.
pub(super) fn given_line(word: &Field, appends: bool) -> Result<Run> {
    Ok(Run::Given(script_text(word)?, appends))
}

/// Returns the option of this name, or the one that it abbreviates, and whether it takes a value.
pub(super) fn long_option(wrapper: &Wrapper, name: &str) -> Option<(String, bool)> {
    let names = |list: &'static str| list.split_ascii_whitespace().filter(|one| one.len() > 1);
    let values = || {
        names(wrapper.long_values)
            .chain(names(wrapper.lines))
            .chain(names(wrapper.programs))
    };
    if values().any(|one| one == name) {
        return Some((name.to_owned(), true));
    }
    if names(wrapper.long_flags).any(|one| one == name) {
        return Some((name.to_owned(), false));
    }
    let with_value: Vec<&str> = values().filter(|one| one.starts_with(name)).collect();
    let without: Vec<&str> = names(wrapper.long_flags)
        .filter(|one| one.starts_with(name))
        .collect();
    match (with_value.as_slice(), without.as_slice()) {
        ([one], []) => Some(((*one).to_owned(), true)),
        ([], [one, ..]) => Some(((*one).to_owned(), false)),
        _ => None,
    }
}

/// Sorts the words of a wrapper into options, operands and the rest.
pub(super) fn sort<'f>(wrapper: &Wrapper, words: &'f [Field]) -> Result<Sorted<'f>> {
    let mut sorted = Sorted {
        rest: &[],
        operands: &[],
        lines: Vec::new(),
        programs: Vec::new(),
        seen: Vec::new(),
        values: Vec::new(),
    };
    let mut at = 0;
    let keep = |sorted: &mut Sorted<'f>, name: &str, value: Field| {
        if listed(wrapper.sets, name) {
            check_set(&value)?;
        }
        if listed(wrapper.lines, name) {
            sorted.lines.push(value);
        } else if listed(wrapper.programs, name) {
            sorted.programs.push(value);
        } else {
            sorted.values.push((name.to_owned(), value));
        }
        Ok(())
    };
    while let Some(field) = words.get(at) {
        // whatever else stands there, nothing runs: `command -v "$x"`
        let mut seen = sorted.seen.iter();
        let is_idle = seen.any(|option| listed(wrapper.idle, option));
        if is_idle && (field.hole != Hole::None || field.silent) {
            break;
        }
        if field.hole == Hole::Start || field.silent {
            if field.environment && !field.silent && !field.hides_option() {
                break;
            }
            return refuse(Construct::Option, field);
        }
        let text = field.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        if text == "-" || !text.starts_with('-') || field.process.is_some() {
            break;
        }
        at += 1;
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = split_value(long);
            let Some((name, takes)) = long_option(wrapper, name) else {
                return refuse(Construct::Option, field);
            };
            if takes {
                let value = match value {
                    Some(value) => Field {
                        text: value.to_owned(),
                        ..field.clone()
                    },
                    None => take(words, &mut at, field)?.clone(),
                };
                keep(&mut sorted, &name, value)?;
            } else {
                // `--replace=R`: a value that may be left out
                let value = Field {
                    text: value.unwrap_or_default().to_owned(),
                    ..field.clone()
                };
                keep(&mut sorted, &name, value)?;
            }
            sorted.seen.push(name);
            continue;
        }
        let letters = text.get(1..).unwrap_or_default();
        for (place, letter) in letters.char_indices() {
            let name = letter.to_string();
            let takes = wrapper.values.contains(letter)
                || listed(wrapper.lines, &name)
                || listed(wrapper.programs, &name);
            sorted.seen.push(name.clone());
            if takes {
                let inside = letters.get(place + letter.len_utf8()..).unwrap_or_default();
                let value = if inside.is_empty() {
                    take(words, &mut at, field)?.clone()
                } else {
                    Field {
                        text: inside.to_owned(),
                        ..field.clone()
                    }
                };
                keep(&mut sorted, &name, value)?;
                break;
            }
            if wrapper.attached.contains(letter) {
                let inside = letters.get(place + letter.len_utf8()..);
                let value = Field {
                    text: inside.unwrap_or_default().to_owned(),
                    ..field.clone()
                };
                keep(&mut sorted, &name, value)?;
                break;
            }
            // `nice -$N`
            if letter == '$' && field.environment && wrapper.flags.contains('0') {
                break;
            }
            if !wrapper.flags.contains(letter) {
                return refuse(Construct::Option, field);
            }
        }
        if field.may_split() || field.pattern {
            return refuse(Construct::Option, field);
        }
    }
    let rest = words.get(at..).unwrap_or_default();
    let operands = wrapper.operands.min(rest.len());
    let (operands, rest) = rest.split_at(operands);
    if let Some(open) = operands
        .iter()
        .find(|field| field.may_split() || field.pattern)
    {
        return refuse("an operand", open);
    }
    sorted.operands = operands;
    sorted.rest = rest;
    Ok(sorted)
}

/// Returns the words of a command without the dashes before it, if the program finds its own options also behind operands.
///
/// # Errors
/// An option among the words of the command, which is one of the program.
pub(super) fn permuted(
    wrapper: &Wrapper,
    words: &[Field],
    sorted: &Sorted<'_>,
) -> Result<Vec<Field>> {
    let before = words.len() - sorted.rest.len() - sorted.operands.len();
    let ended = words.get(..before).and_then(<[Field]>::last);
    let ended = ended.is_some_and(|word| word.text == "--");
    if !wrapper.permutes || ended {
        return Ok(sorted.rest.to_vec());
    }
    let dashes = sorted.rest.iter().position(|word| word.text == "--");
    let (own, behind) = sorted.rest.split_at(dashes.unwrap_or(sorted.rest.len()));
    match own.iter().find(|word| word.text.starts_with('-')) {
        Some(option) => refuse(Construct::Option, option),
        None => Ok([own, behind_dashes(behind)].concat()),
    }
}

/// Refuses another name for a program that runs what its name says: `exec -a git-push git`.
pub(super) fn check_name(values: &[(String, Field)], command: &[Field]) -> Result<()> {
    let renamed = |(name, _): &&(String, Field)| name == "a" || name == "argv0";
    let Some((_, name)) = values.iter().find(renamed) else {
        return Ok(());
    };
    let is_named = |word: &Field| listed(NAMED_BY_CALL, base(&word.text));
    match command.iter().any(is_named) {
        true => refuse("what a program does under the name", name),
        false => Ok(()),
    }
}

/// Skips assignments before a command. Programs accept different names, so an unusual name is refused.
pub(super) fn after_assignments(mut rest: &[Field]) -> Result<&[Field]> {
    while let [field, more @ ..] = rest {
        let Some((name, value)) = field.text.split_once('=') else {
            // the word may contain an `=`
            if field.hole != Hole::None && !field.environment {
                return refuse("an assignment", field);
            }
            break;
        };
        let known = |c: char| c == '_' || c == '%' || c.is_ascii_alphanumeric();
        if field.may_split() || field.hole == Hole::Start || !name.chars().all(known) {
            return refuse("an assignment", field);
        }
        check_variable(name, Given::by(field, value))?;
        rest = more;
    }
    Ok(rest)
}

/// Refuses a variable of an option through which a shell may run code, or which decides what runs.
fn check_set(field: &Field) -> Result<()> {
    let (name, value) = split_value(&field.text);
    let is_name = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    if !is_name || runs_values_of(name) || loads_code(name) {
        return refuse("what runs with a variable of an option", field);
    }
    check_variable(name, Given::by(field, value.unwrap_or_default()))
}

/// Returns the words behind `--`, if it is the first.
pub(super) fn behind_dashes(words: &[Field]) -> &[Field] {
    match words {
        [dashes, rest @ ..] if dashes.text == "--" => rest,
        words => words,
    }
}

/// Returns the command that a wrapper runs, from its sorted words.
pub(super) fn wrapped_words(wrapper: &Wrapper, sorted: &Sorted<'_>) -> Result<Run> {
    let rest = if wrapper.assigns {
        after_assignments(sorted.rest)?
    } else {
        sorted.rest
    };
    if !sorted.lines.is_empty() {
        let lines = sorted
            .lines
            .iter()
            .map(|line| line_of(std::slice::from_ref(line)));
        return Ok(Run::All(lines.collect::<Result<_>>()?));
    }
    if !sorted.programs.is_empty() {
        let rest = sorted.operands.iter().chain(sorted.rest);
        let words = |program: &Field| {
            let mut words = vec![program.clone()];
            words.extend(rest.clone().cloned());
            Run::Words(words)
        };
        return Ok(Run::All(sorted.programs.iter().map(words).collect()));
    }
    // `flock FILE -c LINE`, `sg GROUP -c LINE`
    if let [option, line, ..] = rest
        && !wrapper.lines.is_empty()
        && (option.text == "-c" || option.text == "--command")
    {
        return line_of(std::slice::from_ref(line));
    }
    if rest.is_empty() {
        let reads = match wrapper.shell {
            None => false,
            Some("") => true,
            Some(options) => sorted.seen.iter().any(|option| listed(options, option)),
        };
        return Ok(if reads { Run::Input } else { Run::Nothing });
    }
    Ok(Run::Words(rest.to_vec()))
}
