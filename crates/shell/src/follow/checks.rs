//! Checks of the words of builtins and programs: words whose meaning the text does not determine are errors.

use super::options::split_value;
use super::others::{letters_with_values, option_of};
use super::programs::FOUND;
use super::{Result, base, has_mark, joined, refuse, sed, unversioned};
use crate::components::{Climb, Components};
use crate::feed::Feed;
use crate::option_table::{OPTIONED, SETTINGS_FILES};
use crate::syntax::is_noted;
use crate::table::{
    ASSIGNS, OPTION_FILES, OPTION_FOLDERS, OWN_WORDS, SHELL_OPTIONS, SHELLS, listed,
};
use crate::variables::{decides_what_runs, may_run, runs_values_of, variable_of};
use crate::walk::{Folder, Scope, Walk};
use crate::words::{Field, Hole, Leading};
use crate::{Construct, ShellError};

/// Whether a path may refer to an open file descriptor, from whichever folder: `../dev/stdin`, `fd/0`.
pub(crate) fn is_descriptor(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_number = !name.is_empty() && name.chars().all(|c| c.is_ascii_digit());
    let climbs = path.contains("../") && (path.contains("/dev/") || path.contains("/proc/"));
    let starts = path.starts_with("/dev/") || path.starts_with("/proc/");
    name == "stdin" || is_number || climbs || starts || path.contains("/fd/")
}

/// Whether a program may be an open file descriptor, or the shell that reads the line: `/proc/self/exe`.
pub(super) fn may_be_descriptor(path: &str) -> bool {
    let parts = ["/proc/", "proc/self/", "dev/fd/"];
    parts.iter().any(|part| path.contains(part)) || path.starts_with("/dev/")
}

/// Whether a word is a parameter with an option in its place: `${x:--v}`.
fn gives_option(text: &str) -> bool {
    let Some(text) = text.strip_prefix("${") else {
        return false;
    };
    let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let behind = text.trim_start_matches(is_name);
    let behind = behind.strip_prefix(':').unwrap_or(behind);
    behind
        .strip_prefix(['-', '=', '+'])
        .is_some_and(|text| text.trim_start_matches(['"', '\'']).starts_with('-'))
}

/// Whether a name of which the line determines the beginning may be that of a variable through which code runs: `P$y`, `LESS$y`.
fn may_name_run_variable(name: &str) -> bool {
    name.split_once(['$', '`'])
        .is_some_and(|(begin, _)| !begin.is_empty() && may_run(begin))
}

/// Refuses builtins that assign variables whose values a shell runs, and names that refer to other variables.
pub(super) fn check_names(program: &str, words: &[Field]) -> Result<()> {
    let refers = |field: &&Field| field.text.starts_with('-') && field.text.contains('n');
    if matches!(program, "declare" | "typeset" | "local")
        && let Some(field) = words.iter().find(refers)
    {
        return refuse("the variable of a reference", field);
    }
    // the words behind the assignments are a command
    let runs_words = matches!(program, "env" | "sudo" | "doas" | "cross-env");
    // an element, or a variable that holds a whole assignment; those that a program prints are not known
    let open = |field: &&Field| {
        let name = field.text.split('=').next().unwrap_or_default();
        let is_variable = !field.environment && !field.text.starts_with(['`', '-']);
        let is_variable = is_variable && !name.starts_with("$(");
        let is_variable = is_variable && !runs_words;
        // a file in a folder has no name of a variable
        let before = name.split(['*', '?']).next().unwrap_or_default();
        let is_file = field.pattern && name.contains(['*', '?']) && !before.contains('/');
        is_file
            || field.hole == Hole::Start && (name.contains('[') || is_variable)
            || field.hole != Hole::None && !runs_words && may_name_run_variable(name)
    };
    if ASSIGNS.contains(&program)
        && let Some(field) = words.iter().find(open)
    {
        return refuse("the variable that is assigned", field);
    }
    // `printf "$x" PS4`
    if program == "printf"
        && let [first, second, ..] = words
        && first.hole == Hole::Start
        && (first.leading() > Leading::Determined || gives_option(&first.text))
    {
        let name = variable_of(&second.text);
        let evaluates = second.text.contains('[') && second.text.contains(['$', '`']);
        let is_open = gives_option(&first.text) && second.hole != Hole::None;
        if evaluates || is_open || runs_values_of(name) || decides_what_runs(name) {
            return refuse("a variable whose value a shell runs", second);
        }
    }
    // `printf` names one with `-v` only, here or in the next word
    let by_option = |at: usize| words.get(at).is_some_and(|field| field.text == "-v");
    for (at, field) in words.iter().enumerate() {
        let attached = field.text.strip_prefix("-v");
        let name = match program {
            "read" | "mapfile" | "readarray" | "getopts" | "wait" => field.text.as_str(),
            "printf" if at == 1 && by_option(0) => field.text.as_str(),
            "printf" if at == 0 => attached.unwrap_or_default(),
            _ => break,
        };
        // also right behind an option: `read -raPS4`
        let letters = match name.strip_prefix('-') {
            Some(letters) => letters.find(|c: char| !c.is_ascii_lowercase()),
            None => Some(0),
        };
        let name = name.trim_start_matches('-');
        let name = letters.and_then(|at| name.get(at..)).unwrap_or_default();
        let value = at.checked_sub(1).and_then(|before| words.get(before));
        let is_value = value.is_some_and(|option| {
            option.text.starts_with('-') && option.text.ends_with(|c| "pdtnNuisOcC".contains(c))
        });
        let is_named = program != "wait" && field.hole != Hole::None;
        let is_file = field.pattern && (name.contains(['*', '?']) || program == "printf");
        let is_open = is_file || is_named && variable_of(name).contains(['$', '`']);
        if is_open && !is_value || runs_values_of(name) || decides_what_runs(variable_of(name)) {
            return refuse("a variable whose value a shell runs", field);
        }
    }
    Ok(())
}

/// Refuses builtins that change what later words mean, or run what the text does not contain.
pub(super) fn check_builtin(program: &str, words: &[Field], defines_functions: bool) -> Result<()> {
    let mut options = words.iter().take_while(|word| word.text != "--");
    let is_hidden = |word: &&Field| match program {
        // words of these that are no option may begin with a variable: `printf "$x-%s"`, `[ "$x-$y" = z ]`
        "printf" | "test" | "[" => word.hides_option() && word.rest().starts_with("-v"),
        _ => word.hides_option() && is_noted(program),
    };
    if let Some(word) = options.find(is_hidden) {
        return refuse(Construct::Option, word);
    }
    let has_letters = |letters: &[char]| {
        words
            .iter()
            .take_while(|word| word.text != "--")
            .any(|word| word.text.starts_with('-') && word.text.contains(letters))
    };
    let options = || words.iter().take_while(|word| word.text.starts_with('-'));
    let is_odd = |word: &Field| !matches!(&*word.text, "-p" | "-v" | "-V" | "--");
    let is_open = |word: &Field| {
        let is_one_of_several = words.len() > 1 && word.hole != Hole::None;
        word.may_split() || is_one_of_several && !word.environment
    };
    let lists = |word: &Field| matches!(&*word.text, "-l" | "-ln" | "-lr" | "-lnr");
    let (what, written) = match program {
        "hash" if has_letters(&['p']) || words.iter().any(is_open) => {
            ("the program of a name after", "hash -p")
        }
        "set" | "shopt" => return check_settings(program, words),
        // builtins that give way to programs
        "enable" if !words.is_empty() => ("what a name means after", "enable"),
        "jobs"
            if words
                .iter()
                .any(|word| !word.is_known() || word.text.contains('x')) =>
        {
            ("what is run by", "jobs -x")
        }
        // other options are written apart: the parser reads the words behind these only
        "command" | "builtin" if options().any(is_odd) => ("the words after", program),
        "bind"
            if has_letters(&['x'])
                || words
                    .iter()
                    .any(|word| !word.is_known() || word.text.contains(':')) =>
        {
            ("what a key runs after", "bind")
        }
        "fc" if !words.first().is_some_and(lists) || has_letters(&['s', 'e']) => {
            ("the commands of", "the history")
        }
        "export" | "declare" | "typeset" if defines_functions && has_letters(&['f']) => {
            ("who calls an exported function", "")
        }
        _ => return Ok(()),
    };
    Err(ShellError::undetermined(what, written))
}

/// Refuses an option of the shell that may change how it reads or runs what follows.
pub(super) fn check_setting(option: &Field) -> Result<()> {
    match option.is_known() && listed(SHELL_OPTIONS, &option.text) {
        true => Ok(()),
        false => refuse("what the shell does with the option", option),
    }
}

/// Refuses the options of `set` and `shopt` that may change how the shell reads or runs what follows.
fn check_settings(program: &str, words: &[Field]) -> Result<()> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let letters = match word.text.strip_prefix(['-', '+']) {
            Some("-") if program == "shopt" => continue,
            _ if matches!(&*word.text, "-" | "--") && program == "set" => return Ok(()),
            Some(letters) => letters,
            None if program == "shopt" => {
                check_setting(word)?;
                continue;
            }
            // the parameters
            None if word.hole == Hole::None => return Ok(()),
            None => "",
        };
        let is_off = word.text.starts_with('+');
        let known = match program {
            "shopt" => "opqsu",
            _ if is_off => "abCeEfhHkmnoptTuvx",
            _ => "abBCeEfhmnoptTuvx",
        };
        let is_odd = |letter| !known.contains(letter);
        if word.leading() > Leading::Determined || letters.contains(is_odd) {
            return refuse("what the shell does with the option", word);
        }
        if program == "set"
            && letters.contains('o')
            && let Some(option) = words.next()
        {
            check_setting(option)?;
        }
    }
    Ok(())
}

/// Whether the name of a long option, or a letter that may be another option, is not determined: `--fil$x`, `-u$x`.
fn is_open_option(text: &str, values: &str) -> bool {
    let begin = text.split(['$', '`']).next().unwrap_or_default();
    match begin.strip_prefix("--") {
        Some(name) => !name.contains('='),
        None => begin
            .strip_prefix('-')
            .is_some_and(|letters| !letters.contains(|letter| values.contains(letter))),
    }
}

/// Refuses words that may be options of a program whose options matter.
pub(super) fn check_options(program: &str, words: &[Field]) -> Result<()> {
    let Some(table) = OPTIONED.iter().find(|one| listed(one.names, program)) else {
        return Ok(());
    };
    let limit = match table.printed {
        true => Leading::Determined,
        false => Leading::Printed,
    };
    // `tar xf FILE`, without a dash
    let old = words.first().filter(|_| program.ends_with("tar"));
    let old = old.filter(|word| !word.text.starts_with('-') && word.is_known());
    let values = |text: &str| text.chars().filter(|c| table.values.contains(*c)).count();
    let mut n_values = 0;
    for (nth, word) in words.iter().enumerate() {
        if n_values > 0 {
            n_values -= 1;
            if word.may_split() && word.leading() > Leading::Determined {
                return refuse("the value of an option", word);
            }
            continue;
        }
        if word.leading() > limit {
            return refuse(Construct::Option, word);
        }
        let text = word.text.as_str();
        if text == "--" {
            return Ok(());
        }
        let begins = match word.hole {
            Hole::None => None,
            Hole::Within => Some(text),
            // a default is read in its own place
            Hole::Start if word.environment => None,
            // a variable that holds the beginning of one
            Hole::Start => Some(word.determined()).filter(|text| text.starts_with('-')),
        };
        if begins.is_some_and(|text| is_open_option(text, table.values)) {
            return refuse(Construct::Option, word);
        }
        n_values = match (text.strip_prefix("--"), text.strip_prefix('-')) {
            (Some(long), _) => {
                let (name, value) = split_value(long);
                usize::from(value.is_none() && listed(table.long_values, name))
            }
            (None, Some(letters)) => {
                let last = letters.len().saturating_sub(1);
                let ends = letters.find(|c| table.values.contains(c)) == Some(last);
                usize::from(ends && !letters.is_empty())
            }
            _ if nth == 0 && old.is_some() => values(text),
            _ => 0,
        };
    }
    Ok(())
}

/// Refuses words of a program that deletes which may be an option for folders: `rm -f$x`, `rm --rec*`, and patterns that match a file with
/// such a name, if something outside of the folder is deleted.
fn check_options_of_deletion(words: &[Field], letters: &str) -> Result<()> {
    let options = words.iter().take_while(|word| word.text != "--");
    let is_open = |word: &&Field| {
        word.text.starts_with('-')
            && word.text.len() > 1
            && (word.hole != Hole::None || word.pattern)
    };
    let is_outside = |word: &Field| {
        word.text.starts_with('/') || word.tilde || word.text.split('/').any(|part| part == "..")
    };
    let part = |c: char| c.is_ascii_alphabetic() || "*?[]!^-@+()|".contains(c);
    let outside = words.iter().any(is_outside);
    let matches_option = |word: &&Field| {
        let begins = word.text.starts_with(['*', '?', '[', '@', '+', '!', '-']);
        outside && word.pattern && begins && word.text.chars().all(part)
    };
    let mut options = options.filter(|word| is_open(word) || matches_option(word));
    match options.next() {
        Some(word) if !letters.is_empty() => refuse(Construct::Option, word),
        _ => Ok(()),
    }
}

/// Completes and checks the words of a program that deletes.
pub(super) fn check_deletion(
    fields: &mut Vec<Field>,
    letters: &str,
    long: &str,
    folder: &Folder,
    temporary: impl Fn(&Field) -> bool,
) -> Result<()> {
    let rest = fields.get_mut(1..).unwrap_or_default();
    let is_long = |text: &str| {
        let name = text.strip_prefix("--").unwrap_or_default();
        !name.is_empty() && long.starts_with(name)
    };
    let is_short = |text: &str| {
        text.starts_with('-') && !text.starts_with("--") && text.contains(|c| letters.contains(c))
    };
    let folders = rest
        .iter()
        .any(|field| is_long(&field.text) || is_short(&field.text));
    check_options_of_deletion(rest, letters)?;
    let open = rest
        .iter()
        .filter(|field| {
            // behind its beginning it may go on as other words
            let splits = field.may_split() && field.leading() > Leading::Determined;
            field.hole == Hole::Start || splits || field.process.is_some()
        })
        .filter(|field| !temporary(field));
    let sole = rest
        .iter()
        .filter(|field| !field.text.starts_with('-'))
        .count()
        == 1;
    for field in open {
        // a quoted name is one word; if it is the only operand, it cannot be an option that changes what other operands
        // mean
        if folders || field.splits && !field.environment || !(sole || field.environment) {
            return refuse("what is deleted", field);
        }
    }
    if !folders {
        return Ok(());
    }
    let dashes = rest.iter().position(|field| field.text == "--");
    let end = dashes.unwrap_or(rest.len());
    let options = rest.iter_mut().take(end);
    for field in options.filter(|field| is_long(&field.text)) {
        field.text = format!("--{long}");
    }
    let mut others = Vec::new();
    for (nth, field) in rest.iter_mut().enumerate() {
        if nth <= end && field.text.starts_with('-') {
            continue;
        }
        let may_climb = match field.hole {
            Hole::None => field.climb == Climb::Open,
            Hole::Within => field.climb > Climb::No,
            // what `mktemp` has printed
            Hole::Start => false,
        };
        if field.tilde || may_climb || holds_found_file(&field.text) {
            return refuse("what is deleted", field);
        }
        if field.text.starts_with('/') || field.hole == Hole::Start {
            continue;
        }
        match folder {
            Folder::Here => {}
            Folder::Known { all, or_here } => {
                if *or_here && field.text.split('/').any(|part| part == "..") {
                    others.push(field.clone());
                }
                let mut paths = all.iter().map(|from| joined(from, &field.text));
                let first = paths.next().unwrap_or_default();
                others.extend(paths.map(|text| Field {
                    text,
                    ..field.clone()
                }));
                field.text = first;
            }
            Folder::Unknown => return refuse("the folder in which is deleted", field),
        }
    }
    fields.extend(others);
    Ok(())
}

/// Whether a component of a path is more than the name of a file that is found, as in `{}.` and `{//}`, so that it may become `..`.
fn holds_found_file(path: &str) -> bool {
    let others = path.split('/').filter(|part| *part != FOUND);
    has_mark(&others.collect::<Vec<_>>().join("/"))
}

/// Refuses a line that the code of `sed` runs, also if the code is the input or the text of a process substitution.
fn check_code_of_sed(words: &[Field], feed: &Feed) -> Result<()> {
    let code = sed::code_of(words);
    let mut texts = code.texts();
    for (word, file) in &code.files {
        let is_input = *file == "-" || is_descriptor(file);
        match (&word.process, feed) {
            (Some(Some(text)), _) => texts.push(text.clone()),
            (None, _) if !is_input => {}
            (None, Feed::Text(text)) => texts.push(text.clone()),
            // what somebody types
            (None, Feed::Nothing) if matches!(*file, "-" | "/dev/stdin") => {}
            _ => return refuse("the code of `sed`", word),
        }
    }
    if let Some(word) = code.pattern {
        return refuse("the code of `sed`", word);
    }
    match texts.iter().find(|code| sed::effects_of(code).runs) {
        Some(code) => refuse("a line that `sed` runs", &Field::known(code.as_str())),
        None => Ok(()),
    }
}

/// Refuses recipes in an input.
fn check_makefile(words: &[Field], feed: &Feed) -> Result<()> {
    let is_given = !matches!(feed, Feed::Nothing);
    let is_stdin = |file: &str| matches!(file, "-" | "/dev/stdin" | "/dev/fd/0");
    let is_input = |file: &str| match is_stdin(file) {
        true => is_given,
        false => is_descriptor(file),
    };
    // what another command prints may be the name of the input
    let is_printed = |word: &Field| is_given && word.hole != Hole::None && !word.environment;
    let mut before = "";
    let given = words.iter().find(|word| {
        let follows = matches!(before, "-f" | "--file" | "--makefile");
        before = word.rest();
        let text = word.rest();
        let attached = ["--file=", "--makefile="].iter();
        let letters = text.strip_prefix('-').filter(|one| !one.starts_with('-'));
        let behind = letters.and_then(|letters| Some(letters.split_once('f')?.1));
        let attached = attached.filter_map(|option| text.strip_prefix(option));
        let mut attached = attached.chain(behind);
        let is_open = word.process.is_some() || is_printed(word);
        follows && (is_open || is_input(&word.text))
            || attached.any(|file| is_input(file) || is_printed(word))
    });
    match given {
        Some(file) => refuse("the recipes of `make`", file),
        None => Ok(()),
    }
}

/// Returns the words that name a script of a shell among them, a file of options, or a script of `perl`, which runs another program that
/// the first line of the script names.
fn given_files<'f>(program: &str, words: &'f [Field]) -> Vec<&'f Field> {
    let mut files: Vec<&Field> = Vec::new();
    if unversioned(program) == "perl" {
        let gives_code = |word: &Field| {
            let letters = word.text.strip_prefix('-').unwrap_or_default();
            !letters.starts_with('-') && letters.contains(['e', 'E'])
        };
        let script = words.iter().find(|word| !word.text.starts_with('-'));
        files.extend(script.filter(|_| !words.iter().any(gives_code)));
    }
    if !listed(OWN_WORDS, program) {
        let is_shell = |word: &Field| {
            word.is_known() && SHELLS.contains(&base(&word.text)) && !word.text.contains('=')
        };
        let pairs = words.iter().zip(words.iter().skip(1));
        let scripts = pairs.filter(|(shell, _)| is_shell(shell));
        files.extend(scripts.map(|(_, script)| script));
    }
    let takes_options = listed(OPTION_FILES, program);
    let of_options = words.iter().filter(|word| word.rest().starts_with('@'));
    files.extend(of_options.filter(|_| takes_options));
    files
}

impl Walk<'_> {
    /// Refuses a file of settings that run, if the line writes it or the file is an input.
    pub(super) fn check_settings_files(&self, program: &str, words: &[Field]) -> Result<()> {
        let table = SETTINGS_FILES
            .iter()
            .find(|(names, _)| listed(names, program));
        let Some((_, options)) = table else {
            return Ok(());
        };
        for (word, next) in words
            .iter()
            .zip(words.iter().skip(1).map(Some).chain([None]))
        {
            let option = option_of(options, letters_with_values(program), word.rest());
            let Some((_, inside, _)) = option else {
                continue;
            };
            let (text, file) = match (inside, next) {
                (Some(text), _) => (text, word),
                (None, Some(next)) => (next.rest(), next),
                (None, None) => continue,
            };
            let is_input = is_descriptor(text) && text != "/dev/null" || file.process.is_some();
            if is_input || self.any_file || self.writes_file(base(text)) {
                return refuse("the settings in a file that the line writes", file);
            }
        }
        Ok(())
    }

    /// Refuses scripts, files of options and folders of programs that the line writes and gives to a program that takes them as such, and lines
    /// in the code of `sed` and `make`.
    pub(super) fn check_given_files(
        &mut self,
        program: &str,
        words: &[Field],
        feed: &Feed,
    ) -> Result<()> {
        match program {
            "sed" | "gsed" => check_code_of_sed(words, feed)?,
            "make" | "gmake" => {
                self.make_input |= !matches!(feed, Feed::Nothing);
                check_makefile(words, feed)?;
                self.check_values_of_make(words)?;
            }
            "configure" => self.check_values_of_make(words)?,
            _ => {}
        }
        let is_folder = |word: &&Field| {
            let mut options = OPTION_FOLDERS.iter();
            options.any(|option| word.rest().starts_with(option))
        };
        if listed(OPTION_FILES, program)
            && self.writes_files()
            && let Some(folder) = words.iter().find(is_folder)
        {
            return refuse("the programs of a folder", folder);
        }
        let given = given_files(program, words).into_iter();
        let mut files: Vec<(&Field, &str)> = given
            .map(|file| (file, base(file.rest().trim_start_matches('@'))))
            .collect();
        if listed("sed gsed", program) {
            let code = sed::code_of(words).files.into_iter();
            files.extend(code.map(|(word, file)| (word, base(file))));
        }
        for (file, name) in files {
            let name = name.to_owned();
            if self.writes_file(&name) || self.any_file {
                return refuse("the content of a file that the line writes", file);
            }
            // also if it is written behind this command
            self.later.insert(name);
        }
        Ok(())
    }

    /// Refuses a value in which `make` puts that of a variable of the line.
    fn check_values_of_make(&self, words: &[Field]) -> Result<()> {
        let names_own = |text: &str| self.assigned.iter().any(|name| text.contains(&**name));
        let is_own = |text: &str| text.contains('$') && names_own(text);
        match words.iter().find(|word| is_own(word.determined())) {
            Some(word) => refuse("a variable of `make`", word),
            None => Ok(()),
        }
    }

    /// Whether a word begins with a tilde that stands for another folder than the user's, or for what a variable of the line holds:
    /// `~`, `~+`, `~1`.
    pub(super) fn is_open_tilde(&self, field: &Field) -> bool {
        field.tilde && (!field.text.starts_with("~/") || self.assigned.contains("HOME"))
    }

    /// Whether a word is a path below a folder that a known program prints: `$(npm bin)/x`.
    pub(super) fn prints_folder(&self, field: &Field) -> bool {
        let Some((printed, rest)) = field.text.split_once(")/") else {
            return false;
        };
        !rest.contains(['$', '`', '(']) && self.prints_no_option(&format!("{printed})"), false)
    }

    /// Whether a word is the name that `mktemp` has printed, so that only what the line made itself is deleted. Without a name it is
    /// empty.
    pub(super) fn is_temporary(&self, field: &Field, scope: &Scope<'_>) -> bool {
        let name = field.text.strip_prefix('$').unwrap_or_default();
        let name = name
            .strip_prefix('{')
            .and_then(|one| one.strip_suffix('}'))
            .unwrap_or(name);
        let Some(partial) = scope.partial.get(name).filter(|partial| partial.always) else {
            return false;
        };
        matches!(partial.written.as_str(), "$(mktemp)" | "$(mktemp -d)")
            && self.prints_no_option(&partial.written, !field.splits)
    }

    /// Returns a path below the folder in which the line begins, if a variable holds that: `D=$PWD/x; rm -r "$D"`.
    fn held_path(&self, field: &Field, scope: &Scope<'_>) -> Option<String> {
        let (name, rest) = field.text.strip_prefix('$')?.split_once('/').map_or_else(
            || (field.text.get(1..).unwrap_or_default(), String::new()),
            |(name, rest)| (name, format!("/{rest}")),
        );
        let braced = name.strip_prefix('{').and_then(|one| one.strip_suffix('}'));
        let partial = scope.partial.get(braced.unwrap_or(name))?;
        let is_held = partial.always && !self.moves && !field.splits;
        is_held.then(|| format!("{}{rest}", partial.written))
    }

    /// Replaces `$PWD/x` and `"$(pwd)/x"` by `./x`, if the text leaves the variable and the builtin to the shell.
    pub(super) fn relative(&self, field: &mut Field, scope: &Scope<'_>) {
        let held = self.held_path(field, scope);
        let text = held.as_deref().unwrap_or(&field.text);
        let path = ["$PWD/", "${PWD}/"]
            .iter()
            .find_map(|folder| text.strip_prefix(folder))
            .map(|path| format!("./{path}"));
        // a folder with blanks would be several words
        let printed = text.strip_prefix("$(pwd)/").filter(|_| !field.splits);
        let path = path.or_else(|| printed.map(|path| format!("./{path}")));
        let own =
            self.assigned.contains("PWD") || scope.parsed.names.dynamic || self.redefines("pwd");
        if let Some(path) = path.filter(|path| !own && !path.contains(['$', '`'])) {
            field.climb = Components::of(&path, field.pattern);
            field.text = path;
            field.hole = Hole::None;
            field.splits = false;
        }
    }
}
