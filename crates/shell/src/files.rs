//! Files that a line writes, and those that it runs.

use super::ShellError;
use super::follow::{base, is_common, known_name, unversioned};
use super::option_table::GIT_FILES;
use super::settings::{CODE_FOLDERS, PROGRAM_FILES};
use super::syntax::{Kind, Node, literal};
use super::table::{
    BUILDS_BY_COPY, COMPILES, COPIES_TEXT, GIT_PLUMBING, LEAVES_TEXTS, MAY_WRITE, READS, RENAMES,
    RUNNER_FILES, SHELLS, STARTUP_FILES, STORES, UNPACK_VARIABLES, UNPACKS, WRITERS,
    WRITES_BY_COMMAND, listed,
};
use super::variables::{LINE_VARIABLES, STARTUP_VARIABLE};
use super::walk::Walk;
use super::words::{ATOM, Field, Hole};
use super::wrappers::WRAPPERS;

type Result<T> = std::result::Result<T, ShellError>;

impl Walk<'_> {
    /// Records the file that a word names as a file that the line writes.
    pub(super) fn writes_to(&mut self, field: &Field) {
        self.reopens |= field.text == "/dev/stdin" || field.text.ends_with("/fd/0");
        // the extension of `$x.log` is known
        let end = field.text.rsplit('.').next().unwrap_or_default();
        let ends = end.len() < field.text.len() && end.chars().all(|c| c.is_ascii_alphanumeric());
        let is_open = field.hole != Hole::None && !field.tail && !ends && !is_of_runner(field);
        if is_open || field.pattern {
            self.any_file = true;
        } else if field.hole != Hole::None && !field.tail {
            self.endings.insert(format!(".{end}"));
        }
        self.writes_names(field);
    }

    /// Records the names that the line gives to a file that it writes.
    pub(super) fn writes_names(&mut self, field: &Field) {
        self.writes(&field.text);
        if field.hole != Hole::None {
            self.writes(field.rest());
            self.writes(field.filled());
        }
    }

    /// Whether a command of the line writes a file of this name, and names the file as its output.
    pub(super) fn writes_file(&self, name: &str) -> bool {
        self.files.contains(name) || self.endings.iter().any(|end| name.ends_with(end))
    }

    pub(super) fn writes_files(&self) -> bool {
        self.any_file || !self.files.is_empty() || !self.endings.is_empty()
    }

    /// Checks the files that were run since `from` against those that are written before or at the same time.
    pub(super) fn check_ran(&mut self, from: usize) -> Result<()> {
        for (path, is_script) in self.ran.get(from..).unwrap_or_default().to_vec() {
            let name = path.rsplit('/').next().unwrap_or(&path);
            let installed = ["/usr/", "/bin/", "/sbin/", "/opt/"];
            // a shell writes its history where a variable says
            let any = (self.any_file || self.assigned.contains("HISTFILE"))
                && (is_script || path.contains('/'))
                && !installed.iter().any(|folder| path.starts_with(folder));
            if any || self.may_have_written(name, is_script)? {
                let what = "the content of a file that the line may write";
                return Err(ShellError::undetermined(what, &path));
            }
        }
        Ok(())
    }

    /// Checks the conditions that depend on the whole line: a reopened descriptor, and files that are run in any order.
    pub(super) fn check_at_end(&mut self) -> Result<()> {
        // `echo x 2<f >/dev/stderr` writes to the file that is open for reading
        if self.reopens && self.names_descriptors {
            let what = "the file of a descriptor";
            return Err(ShellError::undetermined(what, ""));
        }
        let deferred = self.deferred.iter().chain(&self.elsewhere);
        let mut called = deferred.filter(|(name, _)| is_common(name));
        if let Some((_, why)) = called.next().filter(|_| self.shows_functions) {
            return Err(why.clone());
        }
        if self.links_input && self.make_input {
            return Err(ShellError::undetermined("the recipes of `make`", ""));
        }
        if let Some(file) = self.git_file.as_ref().filter(|_| self.git_runs) {
            let what = "what `git` reads or runs of a file that the line writes";
            return Err(ShellError::undetermined(what, file));
        }
        let may_be_hook = self.asks_git_folder && self.any_file || self.leaves_hook();
        if self.git_runs && (self.git_folder && self.writes_files() || may_be_hook) {
            let what = "what `git` runs of a folder of hooks";
            return Err(ShellError::undetermined(what, ""));
        }
        let folder = self
            .assigned
            .iter()
            .find(|name| CODE_FOLDERS.contains(&name.as_str()));
        if let Some(name) = folder.filter(|_| self.writes_files()) {
            let what = "the code in a folder that a variable names";
            return Err(ShellError::undetermined(what, name));
        }
        self.check_program_files()?;
        if let Some(name) = self.later.iter().find(|name| self.files.contains(*name)) {
            let what = "the content of a file that the line writes";
            return Err(ShellError::undetermined(what, name));
        }
        if self.unordered {
            self.check_ran(0)?;
            self.check_started(0)?;
        }
        Ok(())
    }

    /// Whether a command may write a hook of `git` that no word names: an archive that is unpacked in the folder of a repository,
    /// or a script of which a builder makes the hook.
    fn leaves_hook(&self) -> bool {
        let is_inside = self
            .paths
            .iter()
            .any(|path| path.split('/').any(|part| part == ".git"));
        let unpacks = is_inside && self.any_command(|program, words| self.unpacks(program, words));
        let is_hook = |file: &String, ending: &str| {
            file.strip_suffix(ending)
                .is_some_and(|name| listed(GIT_FILES, name))
        };
        let builds = |(programs, ending): &(&str, &str)| {
            self.files.iter().any(|file| is_hook(file, ending)) && self.runs(programs)
        };
        unpacks || BUILDS_BY_COPY.iter().any(builds)
    }

    /// Refuses a program that reads commands from a file that the line writes when it starts.
    fn check_program_files(&mut self) -> Result<()> {
        let bytes: usize = self.paths.iter().map(String::len).sum();
        self.charge(self.found.len() * 16 + bytes)?;
        let runs = |programs: &str| {
            let mut names = self.found.iter().filter_map(|words| words.first());
            names.any(|name| listed(programs, known_name(base(name))))
        };
        // whole parts of a path
        let is_part = |path: &str, file: &str| {
            path.match_indices(file).any(|(at, _)| {
                let before = path.get(..at).unwrap_or_default();
                let after = path.get(at + file.len()..).unwrap_or_default();
                let begins = before.is_empty() || before.ends_with('/');
                begins && (after.is_empty() || after.starts_with('/'))
            })
        };
        let is_written = |file: &str| self.paths.iter().any(|path| is_part(path, file));
        for (programs, files) in PROGRAM_FILES {
            let written = files.split_ascii_whitespace().find(|file| is_written(file));
            if let Some(file) = written.filter(|_| runs(programs)) {
                let what = "what a program reads when it starts";
                return Err(ShellError::undetermined(what, file));
            }
        }
        Ok(())
    }

    /// Checks the programs and shells that were started by the commands since `from`, as if they had been started now.
    pub(super) fn check_started(&mut self, from: usize) -> Result<()> {
        self.charge((self.found.len() - from.min(self.found.len())) * 16)?;
        let commands = self.found.get(from..).unwrap_or_default();
        let names = || {
            commands
                .iter()
                .filter_map(|words| Some(base(words.first()?)))
        };
        if let Some(name) = names().find(|name| self.writes_file(name)) {
            let what = "the content of a file that the line writes";
            return Err(ShellError::undetermined(what, name));
        }
        match names().any(|name| SHELLS.contains(&unversioned(name))) {
            true => self.check_startup_files(),
            false => Ok(()),
        }
    }

    /// Refuses a shell that may read a file that the line writes when it starts or ends.
    pub(super) fn check_startup_files(&mut self) -> Result<()> {
        let what = "what a shell reads when it starts or ends";
        for file in STARTUP_FILES {
            // `profile` is also an option of many programs
            let is_hidden = file.starts_with('.');
            if self.files.contains(*file) || is_hidden && self.may_have_written(file, false)? {
                return Err(ShellError::undetermined(what, file));
            }
        }
        match self.assigned.contains(STARTUP_VARIABLE) && self.writes_files() {
            true => Err(ShellError::undetermined(what, STARTUP_VARIABLE)),
            false => Ok(()),
        }
    }

    /// Records the name of a file that is written: the last part of its path.
    pub(super) fn writes(&mut self, path: &str) {
        self.writes_for_git(path);
        // a file in the folder of the line, and in one to which it changes
        let bare = matches!(path, "config" | "update");
        if bare {
            self.git_file = Some(path.to_owned());
        }
        self.paths.insert(path.trim_end_matches('/').to_owned());
        let name = path
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(path);
        if !name.is_empty() && name != "null" {
            self.files.insert(name.to_owned());
        }
    }

    /// Records a path that is written, if `git` reads it as settings or runs it as a hook.
    pub(super) fn writes_for_git(&mut self, path: &str) {
        let trimmed = path.trim_end_matches('/');
        let name = base(trimmed);
        let is_own = listed(GIT_FILES, name)
            // a subcommand
            || name.starts_with("git-") && !name.contains('.')
            || name == ".git"
            || name == "config" && self.moves
            || matches!(name, "config" | "update") && trimmed.contains('/')
            || path.contains("--git-path")
            || path.contains("hooks/") && name.contains(['$', '`', '*', '?', '{'])
            || [".git/hooks", ".git/config"]
                .iter()
                .any(|part| path.contains(part));
        if is_own {
            self.git_file = Some(path.to_owned());
        }
    }

    /// Whether the line writes a file of this name, or an earlier command that may write files names it. Compilers do not
    /// count, unless they write text. Repositories and archives count only for scripts (`is_script`), or if the files in them
    /// get other names: a program may come from them, as the files of a project may.
    pub(super) fn may_have_written(&mut self, name: &str, is_script: bool) -> Result<bool> {
        let words = self.found.iter().flatten().chain(&self.fed);
        let bytes: usize = words.map(String::len).sum();
        // a program is looked up in long tables: without its own part, 16 KB of `sh a;` took 0.8 s
        self.charge(bytes + 4 * ATOM * self.found.len())?;
        let part = |c: char| c == '_' || c == '.' || c == '-' || c.is_alphanumeric();
        let names_it = |word: &String| {
            word.match_indices(name).any(|(at, _)| {
                let before = word.get(..at).unwrap_or_default();
                let after = word.get(at + name.len()..).unwrap_or_default();
                // `-oNAME`
                let attached = word.starts_with('-') && after.is_empty();
                (attached || !before.ends_with(part)) && !after.starts_with(part)
            })
        };
        let fed = self.fed.iter().any(names_it);
        let mut earlier = self
            .found
            .iter()
            .filter_map(|command| command.split_first());
        let named = earlier.any(|(program, words)| {
            let names = words.iter().any(names_it);
            let program = base(program);
            if !names && !is_script && program != "git" {
                return false;
            }
            let compiles = is_script && listed(COMPILES, unversioned(program));
            let compiles = compiles || is_given(COPIES_TEXT, program, words);
            // `gdb -ex 'set logging file NAME'`
            let is_command = |word: &String| word.contains(' ') && names_it(word);
            let logs = listed(WRITES_BY_COMMAND, program) && words.iter().any(is_command);
            let compiles = compiles || logs;
            let writes = !only_names(program) && (is_script || !listed(STORES, program));
            // a line that another program runs
            let is_line = LINE_VARIABLES.contains(&program.trim_end_matches('='));
            let writes = (writes || compiles || is_line) && !self.functions.contains(program);
            let plumbing = |word: &String| listed(GIT_PLUMBING, word);
            program == "git" && words.iter().any(plumbing)
                || is_script && self.unpacks(program, words)
                || names && writes
        });
        Ok(named || fed || self.writes_file(name) || self.may_have_left(name))
    }

    /// Whether a command writes a file of this name although no word names it: a script that a builder copies, a file with a
    /// text of its words, or one of an archive in which files get other names.
    fn may_have_left(&self, name: &str) -> bool {
        let copied = |(programs, ending): &(&str, &str)| {
            self.writes_file(&format!("{name}{ending}")) && self.runs(programs)
        };
        let left = |(programs, endings): &(&str, &str)| {
            let mut endings = endings.split_ascii_whitespace();
            endings.any(|ending| name.ends_with(ending)) && self.runs(programs)
        };
        BUILDS_BY_COPY.iter().any(copied)
            || LEAVES_TEXTS.iter().any(left)
            || self.any_command(|program, words| is_given(RENAMES, program, words))
                && self.any_command(|program, words| self.unpacks(program, words))
    }

    /// Whether a command is one that fulfils a condition on its program and its words.
    fn any_command(&self, is: impl Fn(&str, &[String]) -> bool) -> bool {
        let mut commands = self.found.iter().filter_map(|words| words.split_first());
        commands.any(|(program, words)| is(base(program), words))
    }

    /// Whether one of these programs is run.
    fn runs(&self, programs: &str) -> bool {
        self.any_command(|program, _| listed(programs, program))
    }

    /// Whether a command writes files that its words do not name.
    fn unpacks(&self, program: &str, words: &[String]) -> bool {
        let plain = known_name(program);
        let Some((_, letters, options)) = UNPACKS.iter().find(|(names, ..)| listed(names, plain))
        else {
            return false;
        };
        // `tar xf` and `ar x` need no dash
        let asks = |(nth, word): (usize, &String)| match word.starts_with("--") {
            true => is_option(options, word),
            false => {
                (nth == 0 || word.starts_with('-')) && word.contains(|c| letters.contains(c))
                    || is_option(options, word)
            }
        };
        let mut variables = UNPACK_VARIABLES.split_ascii_whitespace();
        letters.is_empty() && options.is_empty()
            || words.iter().enumerate().any(asks)
            || !letters.is_empty() && variables.any(|name| self.assigned.contains(name))
    }
}

/// Whether a word is one of these options, with a value or without: a long one may be abbreviated.
fn is_option(options: &str, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    options.split_ascii_whitespace().any(|option| {
        let is_short_for = word.starts_with("--") && name.len() > 2 && option.starts_with(name);
        is_short_for
            || name == option
            || !option.starts_with("--") && option.starts_with('-') && word.starts_with(option)
    })
}

/// Whether a program is given one of the options that a table has for it.
fn is_given(table: &[(&str, &str)], program: &str, words: &[String]) -> bool {
    let plain = known_name(program);
    let mut rows = table.iter().filter(|(names, _)| listed(names, plain));
    rows.any(|(_, options)| words.iter().any(|word| is_option(options, word)))
}

/// Whether a program writes none of the files that its words name, except those that another table lists. Compilers
/// count: they write programs, not text.
pub(super) fn only_names(program: &str) -> bool {
    let plain = unversioned(program);
    let is_symbol = !program.contains(|c: char| c.is_alphanumeric());
    if MAY_WRITE.contains(&program) || MAY_WRITE.contains(&plain) {
        return false;
    }
    is_symbol && program != "["
        || listed(READS, program)
        || listed(COMPILES, plain)
        || SHELLS.contains(&plain)
        || program.ends_with('=')
        || WRITERS.iter().any(|(name, _)| *name == program)
        || WRAPPERS.iter().any(|one| listed(one.names, program))
}

/// Whether a word is a variable that holds the path of a file for the program that runs the line: `"$GITHUB_ENV"`.
fn is_of_runner(field: &Field) -> bool {
    let name = field.text.strip_prefix('$').unwrap_or_default();
    let braced = name.strip_prefix('{').and_then(|one| one.strip_suffix('}'));
    field.environment && listed(RUNNER_FILES, braced.unwrap_or(name))
}

/// Whether a command is a program of the project: `./x`, `nohup bin/x`.
pub(super) fn is_own(node: &Node) -> bool {
    let Kind::Simple { words, .. } = &node.kind else {
        return false;
    };
    let mut names = words.iter().map_while(literal);
    let program = names.find(|name| !matches!(&**name, "nohup" | "setsid" | "time" | "exec"));
    program.is_some_and(|path| {
        path.contains('/') && !path.starts_with(['/', '~', '-']) && !path.contains("..")
    })
}

/// Whether Bash opens a socket, for reading and writing, in place of a file.
pub(super) fn opens_socket(path: &str) -> bool {
    ["/dev/tcp/", "/dev/udp/"]
        .iter()
        .any(|folder| path.starts_with(folder))
}
