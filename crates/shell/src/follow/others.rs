//! Programs that no table of wrappers lists: options whose value is a line for a shell, and words that are a command.

use super::checks::check_options;
use super::make::{lines_of_cmake, lines_of_make};
use super::options::{given_line, line_of, sort, split_value, take};
use super::programs::{FOUND, is_outside, with_found};
use super::{Place, Result, Run, base, has_mark, refuse};
use crate::Construct;
use crate::components::Components;
use crate::feed::Feed;
use crate::option_table::OPTIONED;
use crate::table::{
    ALSO_SUBCOMMANDS, APT_LINES, COMMAND_MARKS, CONTAINERS, DELETING, DELETING_SUBCOMMANDS,
    EDITORS, FOLDER_OPTIONS, FOLDER_OPTIONS_OF, KEYWORDS, LANGUAGE_OPTIONS, LINE_OPERANDS,
    LINE_OPTIONS, OWN_WORDS, PACKAGE_VERBS, PAGERS, RUNNING_WORDS, SENDING, SHELLS, SSH_LINES,
    SSH_PROGRAMS, STAYS_IN_FOLDER, SUBCOMMANDS, TEXT_OPTIONS, WHOLE_LINES, listed,
};
use crate::variables::runs_at_start;
use crate::walk::Walk;
use crate::words::{Field, Hole};
use crate::wrappers::{SSH, WRAPPERS};

/// Returns what a program runs that is not listed as a wrapper.
pub(super) fn unlisted(
    walk: &mut Walk<'_>,
    program: &str,
    words: &[Field],
    feed: &Feed,
) -> Result<Run> {
    let first = words.first();
    if listed(SUBCOMMANDS, program)
        && let Some(first) = first.filter(|first| is_open_subcommand(first))
    {
        return refuse("a subcommand", first);
    }
    check_container(program, words)?;
    let mut runs = lines_of_options(program, words)?;
    let shell = |word: &Field| matches!(word.text.as_str(), "--" | "==");
    if program == "capsh"
        && let Some(at) = words.iter().position(shell)
    {
        let mut shell = words.get(at..).unwrap_or_default().to_vec();
        shell.splice(..1, [Field::known("bash")]);
        runs.push(Run::Words(shell));
    }
    match program {
        "make" | "gmake" | "configure" => runs.extend(lines_of_make(words)?),
        "cmake" => runs.extend(lines_of_cmake(words)?),
        "prove" => runs.extend(files_of_prove(words)?),
        _ => {}
    }
    let is_run = |word: &&Field| {
        let kind = word.text.to_ascii_lowercase();
        ["system:", "exec:", "shell:"]
            .iter()
            .any(|one| kind.starts_with(one))
    };
    if program == "socat"
        && let Some(address) = words.iter().find(is_run)
    {
        return refuse("the program of an address", address);
    }
    let is_verb = |word: &Field| word.text.starts_with("exec");
    if listed(LINE_OPERANDS, program) && (program != "sops" || first.is_some_and(is_verb)) {
        let is_plain = |c: char| c.is_alphanumeric() || "_-.,:=/@%+#~{}".contains(c);
        let lines = words.iter().filter(|word| {
            let is_own =
                word.text.len() == 1 || word.hole == Hole::Start && !word.text.contains(' ');
            !is_own && !word.text.chars().all(is_plain)
        });
        for line in lines {
            runs.push(line_of(std::slice::from_ref(line))?);
        }
    }
    // what a program has a shell run may run in another folder: that of an option, of a server, of a part of a project
    let mut runs = match runs.is_empty() || listed(STAYS_IN_FOLDER, program) {
        true => runs,
        false => vec![Run::At(Place::Elsewhere, Box::new(Run::All(runs)))],
    };
    let n_given = runs.len();
    for (_, marks, operands) in COMMAND_MARKS
        .iter()
        .filter(|(names, ..)| listed(names, program))
    {
        let mark = words.iter().position(|word| listed(marks, &word.text));
        if let Some(command) = mark.and_then(|mark| words.get(mark + 1 + operands..)) {
            let mut command = with_found(command);
            // `fd -x` appends what it has found
            let finds = listed("fd fdfind", program);
            if finds && !command.iter().any(|word| has_mark(&word.text)) {
                command.push(Field::known(FOUND));
            }
            let starts = words.iter().take_while(|word| !listed(marks, &word.text));
            let outside = starts.filter(|word| finds && is_outside(word));
            for start in outside {
                runs.push(Run::Words(walk.found_below(start, &command)?));
            }
            runs.push(Run::Words(command));
        }
    }
    if !listed(OWN_WORDS, program) {
        runs.extend(among(program, words, feed).map(Run::Words));
        runs.extend(sender_among(words).map(Run::Words));
        runs.extend(within(words).map(Run::Words));
    }
    // `mise -C FOLDER x -- PROGRAM`
    let of_program = FOLDER_OPTIONS_OF
        .iter()
        .find(|(names, _)| listed(names, program));
    let moves = |word: &Field| {
        let option = split_value(&word.text).0;
        let is_own = of_program.is_some_and(|(_, options)| listed(options, option));
        is_own || listed(FOLDER_OPTIONS, option) || of_program.is_some() && option.starts_with("-C")
    };
    if runs.len() > n_given && words.iter().any(moves) {
        return Ok(Run::At(Place::Elsewhere, Box::new(Run::All(runs))));
    }
    Ok(Run::All(runs))
}

/// Returns the commands of `prove`, which runs each of its files, with a program and words if `-e` gives these.
fn files_of_prove(words: &[Field]) -> Result<Vec<Run>> {
    let mut program = vec![Field::known("perl")];
    let mut files = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let Some((_, inside, _)) = option_of("-e --exec", "ePIj", &word.text) else {
            if !word.text.starts_with('-') {
                files.push(word.clone());
            }
            continue;
        };
        let value = match inside {
            Some(value) => Field::known(value),
            None if at == words.len() => break,
            None => take(words, &mut at, word)?.clone(),
        };
        if !value.is_known() {
            return refuse("the value of an option", &value);
        }
        let split = value.text.split_ascii_whitespace();
        program = split.map(Field::known).collect();
    }
    let runs = files.into_iter().map(|file| {
        let mut words = program.clone();
        words.push(file);
        Run::Words(words)
    });
    Ok(runs.collect())
}

/// Whether the text does not determine a subcommand. A word with a slash is a path: `cmake ../$x`.
pub(super) fn is_open_subcommand(word: &Field) -> bool {
    let is_part = word.hole != Hole::None || word.pattern || has_mark(&word.text);
    // `cargo +$TOOLCHAIN`
    let is_name = !word.text.starts_with(['-', '+']) && !word.text.contains('/');
    word.hole == Hole::Start || word.silent || is_part && is_name
}

/// Returns the first command among the words of a program that no table describes: a shell with its `-c`, a shell that reads
/// the standard input, a wrapper with an option, or a program that deletes. A command that is listed without being run can only cause a denial.
fn among(program: &str, words: &[Field], feed: &Feed) -> Option<Vec<Field>> {
    let mut own = listed(DELETING_SUBCOMMANDS, program);
    let mut added = false;
    let mut before = "";
    for (at, word) in words.iter().enumerate() {
        let command = words.get(at..).unwrap_or_default();
        // after these words a program runs what follows, also if it has a subcommand of that name
        own &= !listed(RUNNING_WORDS, before);
        let reads = !matches!(feed, Feed::Nothing)
            && !listed(LANGUAGE_OPTIONS, before)
            && reads_script(command);
        added |= listed(PACKAGE_VERBS, before);
        if runs_line(command) || reads || !added && wraps(command) {
            return Some(command.to_vec());
        }
        if !own && deletes(command) {
            let mut command = command.to_vec();
            command.splice(..1, [Field::known(base(&word.text))]);
            return Some(command);
        }
        // `--entrypoint=rm`, `-oProgram=rm`
        if let Some((_, value)) = word.text.split_once('=')
            && word.text.starts_with('-')
            && is_deleter(value)
        {
            let mut command = command.to_vec();
            command.splice(..1, [Field::known(base(value))]);
            return Some(command);
        }
        before = &word.text;
    }
    None
}

/// Returns the first program among the words of another one that sends data, with an option or an address behind it: `torify curl -d
/// @f`. The name of a package to be installed has none.
fn sender_among(words: &[Field]) -> Option<Vec<Field>> {
    let adds = |word: &&Field| listed(PACKAGE_VERBS, &word.text);
    let until = words.iter().position(|word| adds(&word));
    let words = words.get(..until.unwrap_or(words.len()))?;
    let at = words.windows(2).position(|pair| {
        let [program, next] = pair else { return false };
        let is_sent = next.hole != Hole::None
            || next.text.starts_with('-')
            || next.text.contains([':', '@', '/', '.']);
        program.is_known() && listed(SENDING, base(&program.text)) && is_sent
    })?;
    words.get(at..).map(<[Field]>::to_vec)
}

/// Refuses a command in a container whose program the text does not determine: `docker exec c $x`.
fn check_container(program: &str, words: &[Field]) -> Result<()> {
    let Some((_, group, flags, long_flags)) =
        CONTAINERS.iter().find(|(names, ..)| listed(names, program))
    else {
        return Ok(());
    };
    let mut rest = words;
    while let [first, more @ ..] = rest
        && listed(group, &first.text)
    {
        rest = more;
    }
    let [verb, rest @ ..] = rest else {
        return Ok(());
    };
    // the name of an image that comes from a variable may stand behind options that do
    let is_run = verb.text == "run";
    if !is_run && verb.text != "exec" {
        return Ok(());
    }
    let mut operands = Vec::new();
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        at += 1;
        let text = word.text.as_str();
        if !text.starts_with('-') || word.hole == Hole::Start {
            operands.push(word);
            if operands.len() == 2 {
                break;
            }
            continue;
        }
        let takes = match text.strip_prefix("--") {
            Some("") => false,
            Some(long) => !long.contains('=') && !listed(long_flags, long),
            None => !text.chars().skip(1).all(|letter| flags.contains(letter)) && text.len() == 2,
        };
        at += usize::from(takes);
    }
    match operands.as_slice() {
        [image, command]
            if command.hole == Hole::Start && !(is_run && image.hole != Hole::None) =>
        {
            refuse("the program", command)
        }
        _ => Ok(()),
    }
}

/// Separators of the words of a line or of a list: `-wrapper rm,x`.
const BETWEEN: [char; 4] = [' ', '\t', '\n', ','];

/// Returns the commands that delete in words which are texts: `+!rm x`, `alias.y=!rm x`, `EXEC:rm x`. They are found where a shell
/// would find a command, without regard to quotes.
fn within(words: &[Field]) -> impl Iterator<Item = Vec<Field>> {
    let befores = std::iter::once("").chain(words.iter().map(|word| word.text.as_str()));
    let texts = words.iter().zip(befores).filter(|(word, before)| {
        // `git commit -am TEXT`
        let is_message = before.starts_with('-') && before.ends_with('m');
        word.text.contains(BETWEEN) && !listed(TEXT_OPTIONS, before) && !is_message
    });
    texts.filter_map(|(word, _)| {
        let plain = word.text.replace(['\\', '\'', '"'], "");
        let separators = [
            ';', '|', '&', '(', ')', '{', '}', '!', '=', ':', '+', '<', '>', '`', '%', '\n',
        ];
        plain.split(separators).find_map(|part| {
            let split = || part.split(BETWEEN).filter(|word| !word.is_empty());
            let first = base(split().next()?);
            let wraps = SHELLS.contains(&first)
                || listed(KEYWORDS, first)
                || WRAPPERS.iter().any(|one| listed(one.names, first));
            let mut words = split();
            // `env -S` splits its value into a command
            if wraps && split().any(|word| word.starts_with("-S") || word.starts_with("--s")) {
                return Some(split().map(Field::known).collect());
            }
            let program = match wraps {
                true => words.find(|word| is_deleter(word)),
                false => words.next().filter(|word| is_deleter(word)),
            }?;
            let mut command = vec![Field::known(base(program))];
            command.extend(words.map(|word| Field {
                hole: match word.contains('$') {
                    true => Hole::Start,
                    false => Hole::None,
                },
                environment: false,
                climb: Components::of(word, true),
                ..Field::known(word)
            }));
            (command.len() > 1).then_some(command)
        })
    })
}

pub(super) fn is_deleter(word: &str) -> bool {
    listed(DELETING, base(word))
}

/// Whether words are a program that deletes and an operand.
fn deletes(words: &[Field]) -> bool {
    matches!(words, [program, _, ..] if program.is_known() && is_deleter(&program.text))
}

/// Whether words are a program with an option that runs the command in its words: `perf stat env -S'rm x'`.
fn wraps(words: &[Field]) -> bool {
    let [program, option, ..] = words else {
        return false;
    };
    let name = base(&program.text);
    let is_listed = || {
        matches!(name, "env" | "xargs" | "gxargs" | "find" | "gfind")
            || name.len() > 2
                && !listed(ALSO_SUBCOMMANDS, name)
                && WRAPPERS.iter().any(|one| listed(one.names, name))
    };
    program.is_known() && option.text.starts_with('-') && is_listed()
}

/// Whether words are a shell without a script.
fn reads_script(words: &[Field]) -> bool {
    let Some((shell, rest)) = words.split_first() else {
        return false;
    };
    let name = base(&shell.text);
    shell.is_known()
        && name.ends_with("sh")
        && SHELLS.contains(&name)
        && rest.iter().all(|word| word.text.starts_with('-'))
}

/// Whether words are a shell with its `-c`.
fn runs_line(words: &[Field]) -> bool {
    let Some((shell, rest)) = words.split_first() else {
        return false;
    };
    let mut options = rest
        .iter()
        .take_while(|word| word.text.starts_with(['-', '+']));
    let gives_line = |word: &Field| !word.text.starts_with("--") && word.text.contains('c');
    shell.is_known() && SHELLS.contains(&base(&shell.text)) && options.any(gives_line)
}

/// Returns the values of options that programs give to a shell, or run as a program with words.
pub(super) fn lines_of_options(program: &str, words: &[Field]) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    check_options(program, words)?;
    let options = LINE_OPTIONS
        .iter()
        .find(|(names, _)| listed(names, program));
    let Some((_, options)) = options else {
        return Ok(runs);
    };
    let values = letters_with_values(program);
    if program.ends_with("tar") {
        runs.extend(old_letters(options, values, words)?);
    }
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let option_in = |text| line_option(program, options, values, text);
        let Some((name, inside, is_short)) = option_in(&word.text) else {
            // `$x--strip-program=LINE`
            if word.hole != Hole::None && option_in(word.rest()).is_some() {
                return refuse(Construct::Option, word);
            }
            continue;
        };
        let value = match inside {
            Some(value) => Field {
                text: value.to_owned(),
                rest: option_in(word.rest())
                    .and_then(|(_, inside, _)| inside)
                    .unwrap_or_default()
                    .to_owned(),
                ..word.clone()
            },
            None if at == words.len() => break,
            None if is_short => match words.get(at) {
                Some(next) => next.clone(),
                None => break,
            },
            None => take(words, &mut at, word)?.clone(),
        };
        // a value of which the kind is not known
        let begins = value.text.trim_start_matches([' ', '\t', '=']);
        let is_open = value.silent || begins.starts_with(['$', '`']);
        if value.hole != Hole::None && !value.environment && is_open {
            return refuse("the value of an option", &value);
        }
        let line = match program {
            _ if listed(PAGERS, program)
                && !value.text.contains('!')
                && runs_at_start(&word.text) =>
            {
                return refuse("a command of a pager", word);
            }
            _ if listed(EDITORS, program) || listed(PAGERS, program) => {
                let command = value.text.trim_start_matches([':', ' ']);
                let line = command.find('!').and_then(|mark| command.get(mark + 1..));
                // names of files, and the line before
                if line.is_some_and(|line| line.contains(['%', '#', '!'])) {
                    return refuse("a line of an editor", &value);
                }
                line
            }
            // `--checkpoint-action=ACTION`, of which `exec=LINE` is one
            "tar" | "gtar" if name == "--checkpoint-action" => {
                let (kind, _) = split_value(&value.text);
                if value.hole != Hole::None && kind.contains(['$', '`']) {
                    return refuse("the value of an option", &value);
                }
                value.text.strip_prefix("exec=")
            }
            // a program and its words
            _ if name == "-wrapper" => {
                let words = value.text.split(',').map(Field::known);
                if value.hole != Hole::None {
                    return refuse("the value of an option", &value);
                }
                runs.push(Run::Words(words.collect()));
                None
            }
            // `make` puts the values of variables into the line
            "make" | "gmake" if value.text.contains('$') => {
                return refuse("a variable of `make`", &value);
            }
            _ => {
                let line = line_in_value(program, name, &value.text);
                // `-o ${x}ProxyCommand=LINE`
                if line.is_none() && line_in_value(program, name, value.rest()).is_some() {
                    return refuse("the value of an option", &value);
                }
                line
            }
        };
        if let Some(line) = line {
            let line = Field {
                text: line.to_owned(),
                ..value.clone()
            };
            // what `ssh` connects to is no input that the line holds
            runs.push(match listed(SSH_PROGRAMS, program) {
                true => line_of(&[with_tokens(line, words)?])?,
                false => given_line(&line, !listed(WHOLE_LINES, program))?,
            });
        }
    }
    Ok(runs)
}

/// Returns the line in the value of an option that may also be another setting, a name or a file.
fn line_in_value<'v>(program: &str, option: &str, value: &'v str) -> Option<&'v str> {
    match program {
        _ if option == "-o" && listed(SSH_PROGRAMS, program) => {
            let (key, line) = setting_of_ssh(value);
            listed(SSH_LINES, &key.to_ascii_lowercase()).then_some(line)
        }
        "apt" | "apt-get" | "apt-cache" | "aptitude" => {
            let (key, line) = split_value(value);
            let key = key.to_ascii_lowercase();
            let mut marks = APT_LINES.split_ascii_whitespace();
            marks
                .any(|mark| key.contains(mark))
                .then(|| line.unwrap_or_default())
        }
        // a file, or a command after `|`
        "strace" | "ltrace" => value.strip_prefix(['|', '!']),
        _ => Some(value),
    }
}

/// Returns a line of `ssh` with parameters for its tokens, which stand for words of the call: `%h`, `%p`.
fn with_tokens(line: Field, words: &[Field]) -> Result<Field> {
    let mut text = String::new();
    let mut chars = line.text.chars();
    let mut has_tokens = false;
    while let Some(c) = chars.next() {
        match (c, chars.as_str().chars().next()) {
            ('%', Some('%')) => text.push('%'),
            ('%', Some(letter)) if letter.is_ascii_alphabetic() => {
                has_tokens = true;
                text.push_str(&format!("${{SSH_TOKEN_{letter}}}"));
            }
            _ => {
                text.push(c);
                continue;
            }
        }
        chars.next();
    }
    let is_odd = |c: char| c.is_whitespace() || ";|&$`()<>'\"\\*?[{".contains(c);
    // the host, the user and the port
    let end = sort(&SSH, words).map_or(words.len(), |sorted| words.len() - sorted.rest.len());
    let befores = std::iter::once("").chain(words.iter().map(|word| word.text.as_str()));
    let mut others = words.iter().take(end).zip(befores);
    let is_value =
        |word: &Field, before: &str| before.ends_with("-o") || word.text.starts_with("-o");
    let host = others.find(|(word, before)| {
        !is_value(word, before) && word.hole == Hole::None && word.text.contains(is_odd)
    });
    match host.filter(|_| has_tokens) {
        Some((host, _)) => refuse("a token of `ssh`", host),
        None => Ok(Field { text, ..line }),
    }
}

/// Returns the name and the value of a setting of `ssh`: `Name value`, `Name = value`, `"Name" value`, and `=Name value`, as it reads an
/// empty word before it.
fn setting_of_ssh(text: &str) -> (&str, &str) {
    const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];
    let text = text.trim_start_matches(|c| c == '=' || BLANKS.contains(&c));
    let split = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"'),
        None => {
            let end = text.find(|c| c == '=' || BLANKS.contains(&c));
            end.map(|end| text.split_at(end))
        }
    };
    let (key, line) = split.unwrap_or((text, ""));
    let line = line.trim_start_matches(BLANKS);
    let line = line.strip_prefix('=').unwrap_or(line);
    (key, line.trim_start_matches(BLANKS))
}

/// Returns the option of a table that a text is or holds, as [`option_of`] does; `vim +COMMAND` counts as `-c`.
fn line_option<'w>(
    program: &str,
    options: &'static str,
    values: &str,
    text: &'w str,
) -> Option<(&'static str, Option<&'w str>, bool)> {
    let command = text
        .strip_prefix('+')
        .filter(|_| listed(EDITORS, program) || listed(PAGERS, program));
    match command {
        Some(command) => Some(("-c", Some(command), false)),
        None => option_of(options, values, text),
    }
}

/// Returns the short options of a program that have a value.
pub(super) fn letters_with_values(program: &str) -> &'static str {
    if listed(SSH.names, program) {
        return SSH.values;
    }
    if let Some(table) = OPTIONED.iter().find(|one| listed(one.names, program)) {
        return table.values;
    }
    let wrapper = WRAPPERS.iter().find(|one| listed(one.names, program));
    wrapper.map_or("", |wrapper| wrapper.values)
}

/// Returns the option of a table that a word is or holds, its value in the same word, and whether it is an abbreviation. Options
/// with one dash are letters with the value behind them, or whole words (`-exec`).
pub(super) fn option_of<'w>(
    options: &'static str,
    values: &str,
    word: &'w str,
) -> Option<(&'static str, Option<&'w str>, bool)> {
    let find = |name: &str| options.split_ascii_whitespace().find(|one| *one == name);
    let (whole, value) = split_value(word);
    if whole.len() > 2
        && let Some(option) = find(whole)
    {
        return Some((option, value, false));
    }
    if word.starts_with("--") {
        // `getopt_long` takes an abbreviation; the next word may be its value or not
        let full = |one: &&str| whole.len() > 2 && one.starts_with(whole);
        let option = options.split_ascii_whitespace().find(full)?;
        return (whole != "--checkpoint").then_some((option, value, true));
    }
    let letters = word.strip_prefix('-')?;
    // two letters, also behind others: `zip -qTTLINE`
    let mut pairs = options
        .split_ascii_whitespace()
        .filter(|one| one.len() == 3);
    if let Some((option, at)) = pairs.find_map(|one| Some((one, letters.find(one.get(1..)?)?))) {
        let inside = letters.get(at + 2..).filter(|one| !one.is_empty());
        return Some((option, inside, false));
    }
    for (at, letter) in letters.char_indices() {
        let inside = letters
            .get(at + letter.len_utf8()..)
            .filter(|one| !one.is_empty());
        if let Some(option) = find(&format!("-{letter}")) {
            return Some((option, inside, false));
        }
        if values.contains(letter) || !letter.is_ascii_alphanumeric() {
            return None;
        }
    }
    None
}

/// Returns the lines among the values of letters without a dash, which follow in the order of the letters: `tar cIf LINE FILE`.
fn old_letters(options: &str, values: &str, words: &[Field]) -> Result<Vec<Run>> {
    let Some((letters, rest)) = words.split_first() else {
        return Ok(Vec::new());
    };
    if letters.text.starts_with('-') || !letters.is_known() {
        return Ok(Vec::new());
    }
    let with_value = letters
        .text
        .chars()
        .filter(|letter| values.contains(*letter));
    let lines = with_value
        .zip(rest)
        .filter(|(letter, _)| listed(options, &format!("-{letter}")));
    lines
        .map(|(_, line)| line_of(std::slice::from_ref(line)))
        .collect()
}
