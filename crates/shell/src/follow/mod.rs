//! Commands that run other commands, found by the tables of [`super::table`].

mod checks;
mod effects;
pub(super) mod git;
mod heredocs;
mod interpreters;
mod make;
mod names;
mod options;
mod others;
mod parallel;
mod programs;
mod sed;
mod sed_values;
mod shells;
mod tmux;
mod vanishing;

use super::feed::{Feed, may_read_script, script_is_read};
use super::files::only_names;
use super::foreign::{may_be_folder, may_differ};
use super::option_table::{HARMLESS_OPTIONS, TAKES_NUMBER};
use super::syntax::{Dialect, is_noted};
use super::table::{DELETERS, EVALUATES_SUBSCRIPTS, INTERPRETERS, SHELLS, UNORDERED, listed};
use super::variables::{ARRAYS, Given, check_variable, variable_of};
use super::walk::{Folder, Scope, Walk};
use super::words::{Field, Hole, shown};
use super::wrappers::{PARALLEL, SEM, SSH, SSH_AFTER_HOST, WRAPPERS, Wrapper};
use super::{Construct, ShellError};

pub(super) use checks::is_descriptor;
use checks::{check_builtin, check_deletion, check_names};
use effects::joined;
pub(super) use names::{is_common, known_name};
use options::{Sorted, behind_dashes, check_name, line_of, permuted, sort, wrapped_words};
use others::{is_deleter, lines_of_options, unlisted};
use programs::{callback, check_screen, env, switch_group, switch_user, trap, watch};
use shells::check_terminal;

type Result<T> = std::result::Result<T, ShellError>;

/// The commands that a command runs.
enum Run {
    Nothing,
    Words(Vec<Field>),
    /// A text that a shell reads, and the words that become its parameters.
    Line(String, Option<Vec<String>>),
    /// A text that a program gives to a shell, with an input of its own and maybe with [words of its own](GIVEN_WORDS) behind it.
    Given(String, bool),
    /// The standard input of the command, which a shell reads.
    Input,
    All(Vec<Run>),
    At(Place, Box<Run>),
}

/// The words that a program appends to a line, of which the first is a file that may hold any text.
const GIVEN_WORDS: [&str; 2] = ["./FILE-OF-THE-CALLER", ":"];

/// The place where a command runs. Commands that it runs itself run in the same place or in a later variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// In the shell that reads the line.
    Shell,
    Later,
    /// In another process that starts in the same folder.
    Process,
    /// On another machine.
    Remote,
    Elsewhere,
}

/// Builtins that run commands in the shell itself.
const IN_SHELL: &[&str] = &["command", "builtin", "time", "eval", ".", "source"];

/// Whether a builtin passes text to the shell that runs it.
fn evaluates_here(program: &str) -> bool {
    matches!(
        program,
        "eval" | "." | "source" | "trap" | "mapfile" | "readarray" | "complete" | "compgen"
    )
}

/// Returns the language of the texts that a program reads or passes to a shell: that of `sh` or of the user's shell,
/// unless the program is itself a known shell.
pub(crate) fn dialect_of(program: &str) -> Dialect {
    match unversioned(program) {
        "bash" | "rbash" => Dialect::Bash,
        "csh" | "tcsh" | "fish" | "elvish" | "nu" | "xonsh" | "rc" | "es" | "pwsh" => {
            Dialect::Other
        }
        "zsh" | "rzsh" | "ksh" | "rksh" | "mksh" | "pdksh" | "oksh" | "lksh" | "yash" | "osh"
        | "ysh" => Dialect::Extended,
        _ => Dialect::Posix,
    }
}

/// Whether a word is a path below a variable: `$HOME/bin/x`.
fn begins_with_folder(field: &Field) -> bool {
    let part = |c: char| c == '_' || c == '{' || c == '}' || c.is_ascii_alphanumeric();
    let variable = field
        .text
        .strip_prefix('$')
        .and_then(|text| text.split_once('/'));
    variable.is_some_and(|(name, rest)| name.chars().all(part) && !rest.contains(['$', '`']))
}

/// Whether a text holds a mark that `find` or `parallel` replaces: `{}`, `{1}`, `{/.}`, `{= … =}`.
fn has_mark(text: &str) -> bool {
    let is_mark = |rest: &str| {
        let inner = rest.split_once('}').map(|(inner, _)| inner);
        let part = |c: char| c.is_ascii_digit() || "./#%+-".contains(c);
        inner.is_some_and(|inner| inner.chars().all(part))
    };
    // `${x}` is none
    let plain = text.replace("${", "$");
    plain.starts_with("{=") || plain.split('{').skip(1).any(is_mark)
}

pub(super) fn base(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

fn refuse<T>(what: impl Into<Construct>, field: &Field) -> Result<T> {
    Err(ShellError::undetermined(what, &field.text))
}

/// Returns the name of a program without its version: `python3.12`, `bash-5.2`.
pub(super) fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

impl Walk<'_> {
    /// Lists a command and the commands that it runs. The parser has recorded the effects of the builtin `noted`.
    pub(super) fn run<'a>(
        &mut self,
        fields: Vec<Field>,
        noted: Option<&str>,
        scope: &mut Scope<'a>,
        feed: &Feed,
    ) -> Result<()> {
        let mut open = vec![(Run::Words(fields), Place::Shell, Dialect::Bash)];
        while let Some((run, place, dialect)) = open.pop() {
            match run {
                Run::Nothing => {}
                Run::All(all) => {
                    open.extend(all.into_iter().rev().map(|run| (run, place, dialect)));
                }
                Run::At(there, run) => {
                    self.moved |= there == Place::Elsewhere;
                    open.push((*run, place.max(there), dialect));
                }
                Run::Line(line, positional) => {
                    let from = (place, dialect);
                    self.line(&line, positional, scope, feed, from)?;
                }
                Run::Given(line, appends) => {
                    let (mut line, mut words) = (line, None);
                    if appends {
                        line.push_str(" \"$@\"");
                        let [file, other] = GIVEN_WORDS;
                        words = Some(vec!["sh".to_owned(), file.to_owned(), other.to_owned()]);
                        self.writes(file);
                    }
                    self.line(&line, words, scope, &Feed::Unknown, (place, dialect))?;
                }
                Run::Input => match feed {
                    Feed::Nothing => {}
                    // a command that the script runs reads the same standard input
                    Feed::Text(text) => {
                        let from = (place, dialect);
                        // of a script of one line nothing is left to be read
                        let rest = match text.trim_end().contains('\n') {
                            true => Feed::Script,
                            false => Feed::Text(String::new()),
                        };
                        self.line(text, None, scope, &rest, from)?;
                    }
                    Feed::Unknown | Feed::Script => {
                        let what = "what a shell reads from its standard input";
                        return Err(ShellError::undetermined(what, ""));
                    }
                },
                Run::Words(mut fields) => {
                    let Some(first) = fields.first() else {
                        continue;
                    };
                    let mut program = self.program(first, scope)?;
                    if !self.functions.contains(&program) {
                        program = known_name(&program).to_owned();
                    }
                    // the parser cannot record the effects of a builtin whose name it does not see
                    let runs_words = matches!(&*program, "command" | "builtin" | "time");
                    if place == Place::Shell
                        && is_noted(&first.text)
                        && noted != Some(&program)
                        && !runs_words
                    {
                        return refuse("the meaning of later words after", first);
                    }
                    let reader = scope.parsed.dialect;
                    if place == Place::Shell && may_differ(reader, &fields) {
                        return refuse("what another shell does at", first);
                    }
                    let leads = place == Place::Shell && may_be_folder(reader, &first.text);
                    let words = fields.get(1..).unwrap_or_default();
                    // a function is walked, and a program of the project is as open as its code
                    let text = first.text.as_str();
                    let is_own = self.functions.contains(&program)
                        || text.contains('/')
                            && !text.starts_with(['/', '~'])
                            && !text.contains("..");
                    if matches!(feed, Feed::Script) && !is_own && may_read_script(&program, words) {
                        return Err(script_is_read(&program));
                    }
                    if self.moves
                        && self.functions.contains(&program)
                        && !scope.functions.contains_key(program.as_str())
                    {
                        return refuse("the folder of a function", first);
                    }
                    let outer = scope.folder.clone();
                    scope.folder = self.starting(&outer, place);
                    let emptied = self.emptied(&program, &fields)?;
                    self.check_words(&program, &mut fields, scope)?;
                    let words = fields.iter().filter(|field| !field.silent);
                    self.push(words.map(|field| shown(field, scope)).collect())?;
                    self.effects(&program, &fields, scope)?;
                    if leads {
                        (scope.folder, self.moved) = (Folder::Unknown, true);
                    }
                    if let Feed::Text(text) = feed
                        && !only_names(&program)
                    {
                        self.charge(text.len())?;
                        self.fed.push(text.clone());
                    }
                    self.check_without_vanishing(&program, &fields, scope, feed)?;
                    self.unordered |= listed(UNORDERED, &program);
                    self.call(&program, &fields, scope, feed)?;
                    if place != Place::Shell {
                        scope.folder = outer;
                    }
                    let next = self.next(&program, &fields, feed)?;
                    let there = match program.as_str() {
                        "trap" | "mapfile" | "readarray" | "complete" | "compgen" => Place::Later,
                        program if IN_SHELL.contains(&program) => Place::Shell,
                        _ => Place::Process,
                    };
                    let dialect = match evaluates_here(&program) {
                        true => scope.parsed.dialect,
                        false => dialect_of(&program),
                    };
                    for mut emptied in emptied {
                        // a builtin that assigns or moves has one effect, which is that of its words as they stand
                        match is_noted(&program) {
                            true => {
                                self.runs_shifted(&program, &emptied, scope, feed)?;
                                self.check_words(&program, &mut emptied, scope)?;
                            }
                            false => open.push((Run::Words(emptied), place, dialect)),
                        }
                    }
                    open.push((next, place.max(there), dialect));
                    // before it: what it writes, they do not run
                    for run in self.runs_shifted(&program, &fields, scope, feed)? {
                        open.push((run, place.max(there), dialect));
                    }
                }
            }
        }
        Ok(())
    }

    /// Walks a text that a command gives to a shell.
    fn line(
        &mut self,
        line: &str,
        positional: Option<Vec<String>>,
        scope: &mut Scope<'_>,
        feed: &Feed,
        (place, dialect): (Place, Dialect),
    ) -> Result<()> {
        let from = self.starting(&scope.folder, place);
        let moves = self.moves;
        // a trap has the variables of the shell that sets it
        if place == Place::Later && !scope.parsed.names.dynamic {
            self.charge((scope.values.len() + scope.partial.len()) * 16)?;
            self.inherited = Some((scope.values.clone(), scope.partial.clone()));
        }
        self.moves = moves && place != Place::Later;
        let inherited = self.inherited.take();
        let found = self.found.len();
        let mut from = from;
        let mut rounds = 0;
        let to = loop {
            self.inherited.clone_from(&inherited);
            let (level, words) = (scope.level + 1, positional.clone());
            let to = self.text(line, words, feed, level, from.clone(), dialect);
            let end = match &to {
                Ok(to) if place == Place::Later && self.moves => from.clone().or(to.clone()),
                _ => break to,
            };
            if end == from {
                break to;
            }
            // a text that is called back may run again where it ends
            from = if rounds > 0 { Folder::Unknown } else { end };
            rounds += 1;
            self.found.truncate(found);
        };
        let text_moves = self.moves;
        // also if it is an error, which the calls of a function may remove
        self.moves |= moves;
        let to = to?;
        if place == Place::Shell || place == Place::Later && text_moves {
            scope.folder = scope.folder.clone().or(to);
        }
        Ok(())
    }

    /// Returns the folder in which a command begins.
    fn starting(&self, folder: &Folder, place: Place) -> Folder {
        match place {
            Place::Remote => Folder::Here,
            Place::Elsewhere => Folder::Unknown,
            Place::Later if self.moves => Folder::Unknown,
            Place::Shell | Place::Later | Place::Process => folder.clone(),
        }
    }

    /// The name of a program, without its folder.
    fn program(&mut self, first: &Field, scope: &Scope<'_>) -> Result<String> {
        let whole = match first.hole {
            // another reading of a word that a variable of the line decides
            Hole::None => first.environment,
            _ => {
                first.tail
                    && (!first.splits
                        || first.environment && begins_with_folder(first)
                        || self.prints_folder(first))
            }
        };
        if !whole || first.silent || first.pattern && first.text != "[" || first.process.is_some() {
            return refuse("the program", first);
        }
        if self.is_open_tilde(first) {
            return refuse("the program", first);
        }
        let named = first.text.split('/').next_back().unwrap_or_default();
        let in_folder = (self.moves || self.assigned.contains("PATH"))
            && (named == "exe"
                || !named.is_empty() && named.bytes().all(|byte| byte.is_ascii_digit()));
        if checks::may_be_descriptor(&first.text) || in_folder {
            return refuse("the program", first);
        }
        let name = base(&first.text);
        // a file that `find` found, or a word of `parallel`: `{1}`, `{/}`, `{= … =}`
        if has_mark(&first.text) {
            return refuse("the program", first);
        }
        // a program that joins its words to a line
        let joined = first.text.split_once([' ', '\t', '\n']);
        if joined.is_some_and(|(name, _)| is_deleter(name) || SHELLS.contains(&base(name))) {
            return refuse("the program", first);
        }
        // other shells look a name up after `=`, or take a word of the history
        if first.text.starts_with(['=', '!', '^']) && first.text.len() > 1 {
            return refuse("the program", first);
        }
        // a command cannot begin with an option: the words before it were parsed differently from how their program
        // parses them
        if first.text.starts_with('-') && first.text != "-" {
            return refuse("the program", first);
        }
        if self.functions.contains(name) && !scope.functions.contains_key(name) {
            if let Some(why) = self.deferred.get(name) {
                return Err(why.clone());
            }
            if let Some(why) = self.elsewhere.get(name) {
                return Err(why.clone());
            }
            self.called_unseen.insert(name.to_owned());
        }
        if self.aliases.contains(&first.text) || self.aliases.contains("") {
            return refuse("the meaning of an alias", first);
        }
        if self.writes_file(name) {
            return refuse("the content of a file that the line writes", first);
        }
        if first.text.contains('/') || self.assigned.contains("PATH") {
            let from = self.ran.len();
            self.ran.push((first.text.clone(), false));
            if !self.unordered {
                self.check_ran(from)?;
            }
        }
        Ok(name.to_owned())
    }

    /// Refuses words whose meaning the text does not determine, and completes the operands of a deletion.
    fn check_words(
        &mut self,
        program: &str,
        fields: &mut Vec<Field>,
        scope: &Scope<'_>,
    ) -> Result<()> {
        let rest = fields.get(1..).unwrap_or_default();
        let counts = listed(TAKES_NUMBER, program);
        let is_harmless = listed(HARMLESS_OPTIONS, program);
        for field in rest.iter().filter(|_| !is_harmless) {
            let dashes = field.text.trim_start_matches('-');
            let is_number = counts && field.environment && !field.text.starts_with("--");
            let bare_option = field.text.starts_with('-') && dashes.starts_with(['$', '`']);
            if !is_number && field.hole == Hole::Within && bare_option {
                return refuse(Construct::Option, field);
            }
        }
        if EVALUATES_SUBSCRIPTS.contains(&program) || program == "command" || program == "builtin" {
            let declares_arrays = rest
                .iter()
                .any(|f| f.text.starts_with('-') && f.text.contains(['a', 'A']));
            for field in rest {
                let name = field.text.split('=').next().unwrap_or_default();
                if field.text.contains('=') {
                    let value = field.text.get(name.len() + 1..).unwrap_or_default();
                    let known = (field.hole == Hole::None).then_some(value);
                    check_variable(name, Given::by(field, value))?;
                    // `declare -a 'a=($(…))'` and `x='($(…))'; declare -a a="$x"` expand the text between the parentheses
                    let array = value.starts_with('(');
                    let expands = match known {
                        Some(value) => array && value.contains(['$', '`', '<', '>']),
                        None => {
                            let is_array = declares_arrays || self.may_be_array(name);
                            !array && is_array && !field.environment
                        }
                    };
                    if expands {
                        return refuse("the value of an array", field);
                    }
                }
            }
        }
        check_names(program, rest)?;
        check_builtin(program, rest, !scope.parsed.names.functions.is_empty())?;
        self.check_values_in_sed(program, rest, scope)?;
        let Some((_, letters, long)) = DELETERS.iter().find(|(name, ..)| *name == program) else {
            return Ok(());
        };
        self.name_files(fields, scope)?;
        for field in fields.iter_mut().skip(1) {
            self.relative(field, scope);
        }
        // operands become paths in each folder
        if let Folder::Known { all, .. } = &scope.folder {
            let folders: usize = all.iter().map(String::len).sum();
            self.charge(fields.len().saturating_mul(folders))?;
        }
        let temporary = |field: &Field| self.is_temporary(field, scope);
        check_deletion(fields, letters, long, &scope.folder, temporary)
    }

    /// Whether a name may be that of an array, of which the text may determine the beginning only.
    fn may_be_array(&self, name: &str) -> bool {
        let mut arrays = self
            .arrays
            .iter()
            .map(String::as_str)
            .chain(ARRAYS.iter().copied());
        match name.split_once(['$', '`']) {
            Some((begin, _)) => !begin.is_empty() && arrays.any(|array| array.starts_with(begin)),
            None => arrays.any(|array| array == variable_of(name)),
        }
    }

    fn next(&mut self, program: &str, fields: &[Field], feed: &Feed) -> Result<Run> {
        let rest = fields.get(1..).unwrap_or_default();
        let plain = unversioned(program);
        if SHELLS.contains(&program) || SHELLS.contains(&plain) {
            return self.shell(plain, rest, feed);
        }
        check_terminal(program, rest, feed)?;
        self.check_settings_files(program, rest)?;
        self.check_given_files(program, rest, feed)?;
        self.check_interpreter(program, rest, feed)?;
        if INTERPRETERS.contains(&program) || INTERPRETERS.contains(&plain) {
            return Ok(Run::Nothing);
        }
        match program {
            "eval" if self.sets_up(rest) => return Ok(Run::Nothing),
            "eval" => {
                if let Some(open) = rest.iter().find(|field| self.is_open_tilde(field)) {
                    return refuse("the text of a shell", open);
                }
                return line_of(behind_dashes(rest));
            }
            "." | "source" => {
                if self.sets_up(rest) {
                    return Ok(Run::Nothing);
                }
                return match behind_dashes(rest).split_first() {
                    Some((file, _)) => self.file(file),
                    // fish reads the input, other shells nothing
                    None => Ok(Run::Input),
                };
            }
            "envdir" | "s6-envdir" => {
                return Err(ShellError::undetermined(
                    "the variables that it sets after",
                    program,
                ));
            }
            "run-parts"
                if !rest
                    .iter()
                    .any(|field| matches!(field.text.as_str(), "--test" | "--list")) =>
            {
                return Err(ShellError::undetermined(
                    "the programs that it runs after",
                    program,
                ));
            }
            "trap" => return trap(rest),
            "mapfile" | "readarray" | "complete" | "compgen" => return callback(program, rest),
            "find" | "gfind" => return self.find(rest),
            "xargs" | "gxargs" => return self.xargs(rest, feed),
            "parallel" => return self.parallel(&PARALLEL, rest, feed),
            "sem" => return self.parallel(&SEM, rest, feed),
            "niceload" => return self.niceload(rest),
            "watch" => return watch(rest),
            "screen" => check_screen(rest)?,
            "ssh" | "slogin" | "autossh" | "rsh" => {
                let sorted = sort(&SSH, rest)?;
                self.record_options(&SSH, &sorted);
                let command = sort(&SSH_AFTER_HOST, sorted.rest)?.rest;
                let remote = match (sorted.operands, command) {
                    // without a host `ssh` only prints its usage
                    ([], _) => Run::Nothing,
                    (_, []) => Run::Input,
                    (_, command) => line_of(command)?,
                };
                let mut runs = lines_of_options(program, rest)?;
                runs.push(Run::At(Place::Remote, Box::new(remote)));
                return Ok(Run::All(runs));
            }
            "env" => return env(rest),
            "sg" => return switch_group(rest),
            // it starts a shell, which reads the input
            "newgrp" => return Ok(Run::Input),
            "at" | "batch" | "crontab" => return self.later(program, rest),
            // the architecture may be left out
            "setarch"
                if rest
                    .first()
                    .is_some_and(|field| !field.text.starts_with('-')) =>
            {
                return self.next("linux64", rest, feed);
            }
            "su" | "runuser" => {
                let login = |word: &Field| {
                    let letters = word.text.strip_prefix('-').unwrap_or_default();
                    word.text == "-" || letters.starts_with("-l") || letters.contains('l')
                };
                if let Some(run) = switch_user(program, rest)? {
                    return Ok(match rest.iter().any(login) {
                        true => Run::At(Place::Elsewhere, Box::new(run)),
                        false => run,
                    });
                }
            }
            _ => {}
        }
        // `git-core/git-push`
        if let Some(subcommand) = program.strip_prefix("git-").filter(|name| !name.is_empty()) {
            let mut words = vec![Field::known("git"), Field::known(subcommand)];
            words.extend(rest.iter().cloned());
            return Ok(Run::Words(words));
        }
        if program == "tmux" {
            return self.tmux(rest);
        }
        if program == "git" {
            return Ok(Run::All(vec![
                self.git(rest)?,
                unlisted(self, program, rest, feed)?,
            ]));
        }
        let is_loader = program.starts_with("ld-") && program.contains(".so");
        let name = if is_loader { "ld.so" } else { program };
        let Some(wrapper) = WRAPPERS.iter().find(|one| listed(one.names, name)) else {
            return unlisted(self, program, rest, feed);
        };
        let run = self.wrapped(wrapper, program, rest, feed)?;
        // `strace -o '|LINE'`
        Ok(match matches!(program, "strace" | "ltrace") {
            true => {
                let mut runs = lines_of_options(program, rest)?;
                runs.push(run);
                Run::All(runs)
            }
            false => run,
        })
    }

    fn wrapped(
        &mut self,
        wrapper: &Wrapper,
        program: &str,
        words: &[Field],
        feed: &Feed,
    ) -> Result<Run> {
        // an option before the subcommand may name a folder
        let first = words.first().map_or("", |word| word.text.as_str());
        let mut moves = wrapper.subcommand.is_some() && first.starts_with('-');
        let words = match (wrapper.subcommand, words.split_first()) {
            (None, _) => words,
            (Some(names), Some((first, rest))) if listed(names, &first.text) => rest,
            // options of the program itself, of which some have a value
            (Some(names), Some((first, _))) if first.text.starts_with('-') => {
                // the value of an option may also equal a subcommand
                let named =
                    |at: &usize| words.get(*at).is_some_and(|word| listed(names, &word.text));
                let at = (0..words.len()).find(|at| named(at) && !named(&(at + 1)));
                match at.and_then(|at| words.get(at + 1..)) {
                    Some(rest) => rest,
                    None => return unlisted(self, program, words, feed),
                }
            }
            (Some(_), Some((first, _))) if first.hole != Hole::None => {
                return refuse("a subcommand", first);
            }
            (Some(_), _) => return unlisted(self, program, words, feed),
        };
        let sorted = sort(wrapper, words)?;
        self.record_options(wrapper, &sorted);
        let given = |options: &str| sorted.seen.iter().any(|option| listed(options, option));
        if given(wrapper.idle) {
            return Ok(Run::Nothing);
        }
        moves |= wrapper
            .moves
            .is_some_and(|options| options.is_empty() || given(options));
        check_name(&sorted.values, sorted.rest)?;
        let rest = permuted(wrapper, words, &sorted)?;
        let sorted = Sorted {
            rest: &rest,
            ..sorted
        };
        let run = wrapped_words(wrapper, &sorted)?;
        Ok(match moves {
            true => Run::At(Place::Elsewhere, Box::new(run)),
            false => run,
        })
    }

    /// Returns the commands for a shell that runs later, from a file or the standard input. In a `crontab` they follow
    /// the times.
    fn later(&mut self, program: &str, rest: &[Field]) -> Result<Run> {
        if let Some(word) = rest.iter().find(|word| word.hides_option()) {
            return refuse(Construct::Option, word);
        }
        let letters = |field: &&Field| field.text.starts_with('-') && field.text.len() > 1;
        let asks = |field: &Field| field.text.contains(['l', 'r', 'd', 'c', 'V', 'e']);
        if rest.iter().filter(letters).any(asks) {
            return Ok(Run::Nothing);
        }
        let mut words = rest.iter();
        if program == "crontab" {
            let user = words.clone().any(|field| field.text == "-u");
            let operands = words.filter(|field| !letters(field));
            let file = operands.skip(usize::from(user)).last();
            return match file.filter(|file| file.text != "-") {
                Some(file) => self.file(file),
                None => Err(ShellError::undetermined("the commands of", program)),
            };
        }
        match words.find(|field| field.text == "-f").and(words.next()) {
            Some(file) => self.file(file),
            None => Ok(Run::Input),
        }
    }
}
