//! Shells: the line, the script or the input that they read, and the files that they run.

use super::checks::{check_setting, is_descriptor};
use super::options::{line_of, script_text, sort, split_value, take};
use super::{Result, Run, base, dialect_of, refuse};
use crate::ShellError;
use crate::feed::Feed;
use crate::foreign::{FLAGS, has_own_words};
use crate::option_table::{PRINTS_SETUP, SETUP_FOLDERS};
use crate::table::{TERMINALS, listed};
use crate::variables::LINE_VARIABLES;
use crate::walk::Walk;
use crate::words::{Field, Hole};
use crate::wrappers::{OTHER_SHELLS, SHELL, Wrapper};

/// Refuses text in which a shell with a history may replace a word by one of an earlier line: `!$`, `^a^b`.
fn check_history(text: &str) -> Result<()> {
    let replaces = |rest: &str| !rest.starts_with([' ', '\t', '\n', '=', '(']) && !rest.is_empty();
    let is_quick = |line: &str| line.starts_with('^');
    if text.split('!').skip(1).any(replaces) || text.lines().any(is_quick) {
        return Err(ShellError::undetermined("a word of the history", text));
    }
    Ok(())
}

/// Refuses text that an interactive shell may read otherwise: words of the history, and comments, which only some shells have there.
fn check_interactive(
    program: &str,
    text: &str,
    interactive: bool,
    has_history: bool,
) -> Result<()> {
    let has_comments = matches!(program, "bash" | "rbash" | "sh" | "dash" | "ash");
    if interactive && !has_comments && text.contains('#') {
        return Err(ShellError::undetermined(
            "a comment for an interactive shell",
            text,
        ));
    }
    match has_history {
        true => check_history(text),
        false => Ok(()),
    }
}

/// Refuses a text that is typed into a terminal, and that the terminal or the shell in it does not read as it is written: keys that edit
/// the line, words of the history, comments, which not all shells have there.
pub(super) fn check_terminal(program: &str, words: &[Field], feed: &Feed) -> Result<()> {
    let Some((_, options)) = TERMINALS.iter().find(|(names, _)| listed(names, program)) else {
        return Ok(());
    };
    let is_given = |word: &Field| match word.text.strip_prefix("--") {
        Some(long) => listed(options, long),
        None => {
            let letters = word.text.strip_prefix('-').unwrap_or_default();
            letters
                .chars()
                .any(|letter| listed(options, &letter.to_string()))
        }
    };
    let Feed::Text(text) = feed else {
        return Ok(());
    };
    if !options.is_empty() && !words.iter().any(is_given) {
        return Ok(());
    }
    let edits = |c: char| c == '#' || c.is_control() && c != '\n';
    if text.contains(edits) {
        return Err(ShellError::undetermined(
            "what is typed into a terminal",
            text,
        ));
    }
    check_history(text)
}

impl Walk<'_> {
    /// A shell: its line, its script, or its standard input.
    pub(super) fn shell(&mut self, program: &str, rest: &[Field], feed: &Feed) -> Result<Run> {
        self.check_startup_files()?;
        if let Some(table) = OTHER_SHELLS.iter().find(|one| listed(one.names, program)) {
            return self.other_shell(table, program, rest, feed);
        }
        let flags = match has_own_words(dialect_of(program)) {
            true => FLAGS,
            false => SHELL.flags,
        };
        let mut line = false;
        let mut input = false;
        let (mut checks, mut interactive, mut has_history) = (false, false, false);
        let mut at = 0;
        while let Some(field) = rest.get(at) {
            at += 1;
            if field.hole == Hole::Start || field.pattern && field.text.starts_with('-') {
                at -= 1;
                break;
            }
            let text = field.text.as_str();
            if text == "--" || text == "-" {
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                let (name, value) = split_value(long);
                if listed(SHELL.long_values, name) {
                    let value = match value {
                        Some(value) => Field::known(value),
                        None => take(rest, &mut at, field)?.clone(),
                    };
                    self.check_startup(&value)?;
                } else if name == "interactive" {
                    (interactive, has_history) = (true, true);
                } else if !listed(SHELL.long_flags, name) {
                    return refuse("an option of a shell", field);
                }
                continue;
            }
            let Some(letters) = text
                .strip_prefix(['-', '+'])
                .filter(|rest| !rest.is_empty())
            else {
                at -= 1;
                break;
            };
            if field.hole != Hole::None {
                return refuse("an option of a shell", field);
            }
            for letter in letters.chars() {
                match letter {
                    'c' if text.starts_with('-') => line = true,
                    's' => input = true,
                    // reads without running
                    'n' => checks = text.starts_with('-'),
                    'i' => (interactive, has_history) = (true, true),
                    'H' => has_history = text.starts_with('-'),
                    'o' | 'O' => {
                        // without a value the shell lists its options, and no word follows
                        if rest.get(at).is_some() {
                            let option = take(rest, &mut at, field)?;
                            checks &= option.text != "noexec";
                            check_setting(option)?;
                        }
                    }
                    // with `-k` any word may be an assignment
                    'k' => return refuse("an option of a shell", field),
                    letter if flags.contains(letter) => {}
                    _ => return refuse("an option of a shell", field),
                }
            }
        }
        let rest = rest.get(at..).unwrap_or_default();
        match rest.split_first() {
            Some((script, args)) if line => {
                let script = script_text(script)?;
                check_interactive(program, &script, interactive, has_history)?;
                // without a word for it `$0` is the name by which the shell was called, which `exec -a` may choose
                let known = args.iter().all(Field::is_known);
                let words = known.then(|| args.iter().map(|field| field.text.clone()).collect());
                Ok(Run::Line(script, words))
            }
            // an interactive shell runs it all the same
            Some(_) if !input && checks && !interactive => Ok(Run::Nothing),
            Some((file, _)) if !input => self.file(file),
            _ => {
                if let Feed::Text(text) = feed {
                    check_interactive(program, text, interactive, has_history)?;
                }
                Ok(Run::Input)
            }
        }
    }

    /// A shell that runs the value of each of its options for a line.
    fn other_shell(
        &mut self,
        table: &Wrapper,
        program: &str,
        words: &[Field],
        feed: &Feed,
    ) -> Result<Run> {
        // csh takes the next word as the line also if letters follow: `-cf LINE`
        let is_cluster = |word: &&Field| {
            let letters = word.text.strip_prefix('-').unwrap_or_default();
            program != "fish" && letters.chars().all(char::is_alphabetic) && letters.contains('c')
        };
        let mut options = words.iter().filter(is_cluster);
        if let Some(option) = options.find(|word| !word.text.ends_with('c')) {
            return refuse("an option of a shell", option);
        }
        let sorted = sort(table, words)?;
        self.record_options(table, &sorted);
        let interactive = sorted
            .seen
            .iter()
            .any(|option| option == "i" || option == "interactive");
        let check = |text: &str| check_interactive(program, text, interactive, interactive);
        let lines = sorted.lines.iter().map(|line| {
            check(&line.text)?;
            line_of(std::slice::from_ref(line))
        });
        let mut runs = lines.collect::<Result<Vec<_>>>()?;
        // the lines that fish runs first come before a script or the input
        let is_script = |option: &String| option == "c" || option == "command";
        if !sorted.seen.iter().any(is_script) {
            runs.push(match (sorted.rest.first(), feed) {
                (Some(file), _) => self.file(file)?,
                (None, Feed::Text(text)) => check(text).map(|()| Run::Input)?,
                (None, _) => Run::Input,
            });
        }
        Ok(Run::All(runs))
    }

    /// Whether words are the output of a program that prints how the shell is to be set up.
    pub(super) fn sets_up(&self, words: &[Field]) -> bool {
        let [word] = words else {
            return false;
        };
        let between = |begin: &str, end: char| word.text.strip_prefix(begin)?.strip_suffix(end);
        let inner = between("$(", ')')
            .or_else(|| between("`", '`'))
            .or_else(|| between("<(", ')'));
        let mut folders = SETUP_FOLDERS.iter();
        let folder = folders.find(|one| inner.is_some_and(|inner| inner.starts_with(**one)));
        let folder = folder.map_or(0, |folder| folder.len());
        let inner = inner.and_then(|inner| inner.get(folder..));
        let program = inner.and_then(|one| one.split_ascii_whitespace().next());
        // what it prints holds the values of its variables
        let prints = |name: &str| {
            let prefix = name.replace('-', "_").to_ascii_uppercase();
            self.assigned.iter().any(|one| one.contains(&prefix))
        };
        let is_own =
            |name: &str| self.redefines(name) || self.assigned.contains("PATH") || prints(name);
        inner.is_some_and(|one| PRINTS_SETUP.contains(&one.trim())) && !program.is_some_and(is_own)
    }

    /// Keeps the program that a variable has others run as a file that runs.
    pub(crate) fn named_program(&mut self, name: &str, value: &str) -> Result<()> {
        if name.starts_with("GIT_TRACE") {
            self.writes(value);
        }
        // the shell that other programs start
        self.foreign |= name == "SHELL" && has_own_words(dialect_of(base(value)));
        if !LINE_VARIABLES.contains(&name) && name != "SHELL" {
            return Ok(());
        }
        let from = self.ran.len();
        let words = value.split_ascii_whitespace();
        let paths = words.filter(|word| word.contains('/'));
        self.ran.extend(paths.map(|path| (path.to_owned(), true)));
        // another program runs it later
        let later = self.ran.get(from..).unwrap_or_default();
        self.later
            .extend(later.iter().map(|(path, _)| base(path).to_owned()));
        self.check_ran(from)
    }

    fn check_startup(&mut self, file: &Field) -> Result<()> {
        let open = file.process.is_some() || file.hole == Hole::Start && !file.environment;
        let null = file.text == "/dev/null";
        if open || is_descriptor(&file.text) && !null || self.writes_file(base(&file.text)) {
            return refuse("the content of a file that a shell reads", file);
        }
        if !null {
            self.push(vec![".".to_owned(), file.text.clone()])?;
        }
        let from = self.ran.len();
        self.ran.push((file.text.clone(), true));
        self.check_ran(from)
    }

    /// A script that a shell reads from a file.
    pub(super) fn file(&mut self, file: &Field) -> Result<Run> {
        let what = "the content of a file that a shell reads";
        if let Some(content) = &file.process {
            return match content {
                Some(text) => Ok(Run::Line(text.clone(), None)),
                None => refuse(what, file),
            };
        }
        if matches!(
            file.text.as_str(),
            "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "-"
        ) {
            return Ok(Run::Input);
        }
        if file.is_known() && file.text == "/dev/null" {
            return Ok(Run::Nothing);
        }
        let determined = file.hole == Hole::None || (file.tail && !file.may_split());
        // a file that `find` found is any file below a folder
        let odd = is_descriptor(&file.text) || file.text.contains("{}");
        if !determined || file.pattern || odd || self.is_open_tilde(file) {
            return refuse(what, file);
        }
        let from = self.ran.len();
        self.ran.push((file.text.clone(), true));
        self.check_ran(from)?;
        Ok(Run::Nothing)
    }
}
