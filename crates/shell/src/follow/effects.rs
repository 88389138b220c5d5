//! The effects of commands on files, variables and the folder.

use super::Result;
use super::checks::is_descriptor;
use super::options::{Sorted, split_value};
use super::{base, refuse, sed};
use crate::files::only_names;
use crate::syntax::is_noted;
use crate::table::{
    ASSIGNS, CODE_PROGRAMS, EXCLUDING, LINKING, OUTPUT_FILES, WRITERS, Writes, listed,
};
use crate::variables::{RUN_VARIABLE, is_proxy, loads_code, runs_values_of};
use crate::walk::{Folder, Scope, Walk};
use crate::words::{Field, Hole, shown, with_substitutions};
use crate::wrappers::Wrapper;

/// Programs that pass variables by an option: `-e x=1`, `-ex=1`, `--env=x=1`.
const PASSES_BY_OPTION: &str = "tmux flatpak dotenv";

/// Returns the variable that a word gives a value, alone or behind an option, and the value.
fn passed_by_option(word: &str) -> Option<(&str, &str)> {
    let attached = ["--env=", "--var=", "-e", "-v"];
    let option = attached.iter().find_map(|option| word.strip_prefix(option));
    option.unwrap_or(word).split_once('=')
}

impl Walk<'_> {
    /// Records the files that a wrapper writes, and the variables that it sets.
    pub(super) fn record_options(&mut self, wrapper: &Wrapper, sorted: &Sorted<'_>) {
        for (name, value) in &sorted.values {
            if listed(wrapper.writes, name) {
                self.writes_to(value);
            }
            if listed(wrapper.sets, name) {
                let (variable, _) = split_value(&value.text);
                self.assign_by_word(variable);
            }
        }
    }

    /// Records a variable that a word of a command assigns, for what the command runs.
    fn assign_by_word(&mut self, name: &str) {
        let name = name.to_owned();
        self.owners.assign(std::iter::once(&name), "");
        self.assigned.insert(name);
    }

    /// Records the effects of a command on variables, files and the folder.
    pub(super) fn effects(
        &mut self,
        program: &str,
        fields: &[Field],
        scope: &mut Scope<'_>,
    ) -> Result<()> {
        let rest = fields.get(1..).unwrap_or_default();
        self.record_assigned(program, rest, scope)?;
        // also if the copy is that of a link
        let is_input = |field: &Field| {
            is_descriptor(&field.text) && field.text.contains('/') && field.text != "/dev/null"
        };
        self.links_input |= listed(LINKING, program) && rest.iter().any(is_input);
        self.record_named(program, rest, scope);
        self.record_written(program, rest);
        self.record_backups(program, rest);
        self.shows_functions |= shows_functions(program, rest);
        self.record_folder(program, rest, scope);
        Ok(())
    }

    /// Records the variables that the words of a program assign: for other commands of the line, or for what the program runs.
    fn record_assigned(
        &mut self,
        program: &str,
        words: &[Field],
        scope: &mut Scope<'_>,
    ) -> Result<()> {
        let is_builtin = is_noted(program);
        let pairs = words
            .iter()
            .filter_map(|word| Some((word, word.text.split_once('=')?)));
        for (field, (name, value)) in pairs.filter(|_| ASSIGNS.contains(&program)) {
            // for the command alone: the shell keeps its own value
            if scope.level == 0 && !is_builtin && !self.assigned.contains(name) {
                self.passed.insert(name.to_owned());
            }
            match is_builtin && scope.parsed.names.assigned.contains_key(name) {
                true => _ = self.assigned.insert(name.to_owned()),
                false => self.assign_by_word(name),
            }
            self.named_program(name, value)?;
            if loads_code(name) || is_proxy(name) && field.hole != Hole::None {
                self.push(vec![format!("{name}="), with_substitutions(value, scope)])?;
            }
        }
        if listed(PASSES_BY_OPTION, program) {
            for word in words {
                let Some((name, value)) = passed_by_option(&word.text) else {
                    continue;
                };
                if runs_values_of(name) {
                    return refuse(RUN_VARIABLE, word);
                }
                self.assign_by_word(name);
                self.named_program(name, value)?;
                if loads_code(name) {
                    self.push(vec![format!("{name}="), with_substitutions(value, scope)])?;
                }
            }
        }
        let setting = words.iter().skip_while(|word| word.text != "setenv");
        if let Some(name) = setting.skip(1).find(|_| program == "screen") {
            self.assign_by_word(&name.text);
        }
        Ok(())
    }

    /// Records the files that any word of a program may name: what a program leaves out, it does not write.
    fn record_named(&mut self, program: &str, words: &[Field], scope: &Scope<'_>) {
        let values = words.iter().zip(words.iter().skip(1));
        let left_out: Vec<*const Field> = values
            .filter(|(option, _)| listed(EXCLUDING, &option.text))
            .map(|(_, value)| std::ptr::from_ref(value))
            .collect();
        let is_left_out = |word: &&Field| {
            let is_value = left_out.contains(&std::ptr::from_ref(*word));
            is_value || listed(EXCLUDING, split_value(&word.text).0)
        };
        let may_name = program != "git" && !only_names(program);
        let writes = WRITERS.iter().any(|(name, _)| *name == program);
        let is_code = listed(CODE_PROGRAMS, program);
        for field in words.iter().filter(|word| !is_left_out(word)) {
            let shown = shown(field, scope);
            if may_name {
                self.may_write(&shown, is_code);
                if field.hole != Hole::None {
                    self.may_write(field.rest(), is_code);
                }
            }
            if writes {
                self.writes_for_git(&shown);
            }
        }
    }

    /// Records the files that a program writes by its tables and options.
    fn record_written(&mut self, program: &str, words: &[Field]) {
        let operands = || words.iter().filter(|field| !field.text.starts_with('-'));
        let writer = WRITERS.iter().find(|(name, _)| *name == program);
        match writer.map(|(_, writes)| writes) {
            Some(Writes::All) => operands().for_each(|field| self.writes_to(field)),
            Some(Writes::Last) => {
                let words = without_remote_shell(program, words);
                // an option may precede its value, after the file
                let late = words.iter().skip_while(|field| field.text.starts_with('-'));
                let all = late.skip(1).any(|field| field.text.starts_with('-'));
                let operands = words.iter().filter(|field| !field.text.starts_with('-'));
                let first = operands.clone().count().saturating_sub(1);
                for field in operands.skip(if all { 0 } else { first }) {
                    self.writes_to(field);
                }
            }
            Some(Writes::Fetched) => self.record_fetched(program, words),
            None => {}
        }
        for (_, file) in OUTPUT_FILES
            .iter()
            .filter(|(names, _)| listed(names, program))
        {
            self.writes(file);
        }
        match program {
            "git" if words.iter().any(|field| field.text == "mv") => {
                if let Some(file) = operands().next_back() {
                    self.writes_to(file);
                }
            }
            "sed" | "gsed" => {
                for code in sed::code_of(words).texts() {
                    for file in sed::effects_of(&code).files {
                        self.writes(file);
                    }
                }
            }
            "find" | "gfind" => {
                let prints = |option: &str| option.starts_with("-fprint") || option == "-fls";
                let options = words.iter().zip(words.iter().skip(1));
                for (_, path) in options.filter(|(option, _)| prints(&option.text)) {
                    self.writes_to(path);
                }
            }
            "dd" => {
                let paths = words
                    .iter()
                    .filter_map(|field| field.rest().strip_prefix("of="));
                paths.for_each(|path| self.writes(path));
            }
            _ => {}
        }
    }

    /// Records the files to which a program writes what it fetches.
    fn record_fetched(&mut self, program: &str, words: &[Field]) {
        let mut output = false;
        // without an option `curl` prints what it fetches
        let prints = program == "curl" && !words.iter().any(|field| may_name_remote(field.rest()));
        for field in words {
            // `-o 'a#1'` stands for parts of the address
            self.any_file |= output && program == "curl" && field.text.contains('#');
            if output || !prints && field.text.contains("://") {
                let path = field.text.split(['?', '#']).next().unwrap_or_default();
                self.writes(path);
            }
            output = matches!(
                field.text.as_str(),
                "-o" | "-O" | "-out" | "--output" | "--output-document"
            ) || (field.text.starts_with('-')
                && !field.text.starts_with("--")
                && field.text.ends_with(['o', 'O']));
            if let Some((_, path)) = field.text.split_once('=')
                && field.text.starts_with("--output")
            {
                self.writes(path);
            }
            // `-oFILE`, `-fsSoFILE`
            let letters = field.text.strip_prefix('-').unwrap_or_default();
            for (_, path) in letters
                .match_indices(['o', 'O'])
                .filter_map(|(at, _)| letters.split_at_checked(at + 1))
            {
                self.writes(path);
            }
        }
    }

    /// Records the folder in which the next commands run.
    fn record_folder(&mut self, program: &str, words: &[Field], scope: &mut Scope<'_>) {
        let operands = || words.iter().filter(|field| !field.text.starts_with('-'));
        let oddly = self.assigned.contains("CDPATH");
        match program {
            "cd" | "chdir" => {
                let paths = operands().map(|field| field.text.clone());
                self.paths.extend(paths);
                // with two operands some shells replace a part of the path, and `+1` is a place in the stack of zsh
                let is_place = operands().any(|word| word.text.starts_with('+'));
                scope.folder = match operands().count() > 1 || is_place {
                    true => Folder::Unknown,
                    false => moved(&scope.folder, operands().next(), oddly),
                };
            }
            // options, and places in the stack
            "pushd"
                if operands().count() < 2
                    && !words.iter().any(|field| field.text.starts_with(['-', '+'])) =>
            {
                scope.folder = moved(&scope.folder, words.first(), oddly);
            }
            "pushd" | "popd" => scope.folder = Folder::Unknown,
            _ => {}
        }
    }

    /// Records the files that a word of a program may name: `-oFILE`, `of=FILE`, `print > "FILE"`.
    fn may_write(&mut self, word: &str, is_code: bool) {
        self.writes_for_git(word);
        let part = |c: char| "/_.-".contains(c) || c.is_alphanumeric();
        if is_code || !word.contains(' ') {
            let ends = |rest: &str| rest.find(|c| !part(c)).unwrap_or(rest.len());
            let begins = |at: usize, c: char| {
                let before = word.get(..at).and_then(|before| before.chars().next_back());
                part(c) && !before.is_some_and(part)
            };
            for (at, _) in word.char_indices().filter(|&(at, c)| begins(at, c)) {
                let (before, rest) = word.split_at_checked(at).unwrap_or_default();
                let (one, behind) = rest.split_at_checked(ends(rest)).unwrap_or_default();
                // a pattern: `s/\.git$//`
                let is_pattern = before.ends_with('\\') && one.starts_with(".git");
                let is_pattern = is_pattern && !behind.starts_with(['"', '\'']);
                if one.len() < word.len() && !(is_pattern && one.trim_end_matches('/') == ".git") {
                    self.writes_for_git(one);
                }
            }
        }
        let attached = word.strip_prefix('-').filter(|one| !one.starts_with('-'));
        for (at, _) in attached.unwrap_or_default().char_indices().skip(1).take(3) {
            self.writes_for_git(word.get(at + 1..).unwrap_or_default());
        }
    }

    /// Records the names of backups, which are those of files and an ending: `cp -b`, `mv -S .sh`, `sed -i.sh`.
    fn record_backups(&mut self, program: &str, words: &[Field]) {
        let options = || words.iter().filter(|word| word.text.starts_with('-'));
        let hides_option = words.iter().any(Field::hides_option);
        match program {
            "cp" | "mv" | "ln" | "install" | "rsync" | "sed" | "gsed" | "perl" | "ruby"
                if hides_option =>
            {
                self.any_file = true;
            }
            "cp" | "mv" | "ln" | "install" | "rsync" => {
                let letters = if program == "rsync" { "b" } else { "bS" };
                self.any_file |= options().any(|word| match word.text.strip_prefix("--") {
                    Some(long) => long.starts_with("ba") || long.starts_with("su"),
                    None => word.text.contains(|c| letters.contains(c)),
                });
            }
            "sed" | "gsed" | "perl" | "ruby" => {
                let endings: Vec<String> = options()
                    .filter_map(|word| match word.text.strip_prefix("--") {
                        Some(long) => long.strip_prefix("in-place="),
                        None => Some(word.text.split_once('i')?.1),
                    })
                    .filter(|ending| {
                        ending.starts_with(|c: char| !c.is_ascii_alphanumeric())
                            || ending.contains('*')
                    })
                    .map(str::to_owned)
                    .collect();
                self.any_file |= endings.iter().any(|ending| ending.contains('*'));
                self.endings.extend(endings);
            }
            _ => {}
        }
    }
}

/// Whether a builtin has scripts that the line does not hold see its functions.
fn shows_functions(program: &str, words: &[Field]) -> bool {
    let exports = |word: &Field| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        word.text == "allexport" || letters.contains('a') && !letters.starts_with('-')
    };
    match program {
        "." | "source" | "eval" => true,
        "set" | "shopt" => words.iter().any(exports),
        "declare" | "typeset" => words
            .iter()
            .any(|word| word.text.starts_with('-') && word.text.contains('x')),
        _ => false,
    }
}

/// Returns words without the program by which `rsync` connects, as the value of its option: `-e ssh`.
fn without_remote_shell<'f>(program: &str, words: &'f [Field]) -> Vec<&'f Field> {
    let befores = std::iter::once("").chain(words.iter().map(|word| word.text.as_str()));
    let is_value = |word: &Field, before: &str| {
        let is_short = before.starts_with('-') && before.ends_with('e');
        let line = word.text.split(' ').next().unwrap_or_default();
        program == "rsync" && (before == "--rsh" || is_short) && listed("ssh rsh", base(line))
    };
    let kept = words.iter().zip(befores);
    kept.filter(|(word, before)| !is_value(word, before))
        .map(|(word, _)| word)
        .collect()
}

/// Whether an option may have `curl` name a file as the address does: `-O`, `-J`, `--remote-name`, and settings in a file.
fn may_name_remote(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => ["r", "conf"].iter().any(|begin| long.starts_with(begin)),
        None => option.starts_with('-') && option.contains(['O', 'J', 'K']),
    }
}

/// Returns the folder after `cd` with this operand.
fn moved(from: &Folder, to: Option<&Field>, oddly: bool) -> Folder {
    let known = |field: &&Field| field.is_known() && !field.tilde;
    let Some(to) = to.filter(known).map(|field| field.text.as_str()) else {
        return Folder::Unknown;
    };
    match from {
        _ if to.starts_with('/') => Folder::one(joined("/", to)),
        // the variables of `cd`
        _ if oddly => Folder::Unknown,
        Folder::Here if !to.contains("..") => Folder::Here,
        Folder::Known { all, or_here } if !(*or_here && to.contains("..")) => Folder::Known {
            all: all.iter().map(|from| joined(from, to)).collect(),
            or_here: *or_here,
        },
        _ => Folder::Unknown,
    }
}

/// Returns the path of a name in a folder, without `..`.
pub(super) fn joined(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(name.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
