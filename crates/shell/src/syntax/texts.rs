//! Texts that arithmetic may evaluate: Bash runs the command in `x='a[$(rm -rf d)]'; ((x))`.
//!
//! A line runs a command unseen if one of its texts has this form, if it holds the parts of which such a text can be put together,
//! or if the output of a program that prints any text flows into a variable that arithmetic reads.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::brackets::{has_conversion, is_coded, is_joined, is_open, plants};
use super::checked::{Checks, Use};
use super::cursor::Parser;
use super::one_word::prints_one_word;
use super::pieces::pieces_of;
use super::simple::beginning;
use super::sources::{Sources, prints_dollar};
use super::{Part, Script, Word};
use crate::quoting;
use crate::table::{PASSES_ARGUMENTS, SHELLS};
use crate::variables::{RUN_VARIABLES, holds_text, loads_code, runs_values_of, variable_of};

/// The name under which the parameters of functions and shells are recorded: `$1`, `$@`.
pub(super) const ARGUMENTS: &str = "$";

/// The name under which an expression is recorded that changes the text of a variable: `$((${x,}))`.
const EXPRESSION: &str = "((";

/// The name under which the words of `test` are recorded.
const TEST: &str = "[";

/// Takes the place of an expansion in a text.
pub(super) const EXPANSION: char = '\u{1}';

#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    /// A text would run a command if arithmetic evaluated it.
    pub(crate) planted: bool,
    /// A bracket that is not closed in its text.
    pub(super) opens: bool,
    /// A bracket, closed or not.
    brackets: bool,
    /// An expansion that removes or replaces parts of a text: `${x%y}`.
    pub(super) cuts: bool,
    /// `$(` or a backquote.
    runs: bool,
    /// A dollar sign alone, or at the end of a text behind a bracket that is not closed.
    ends: bool,
    /// An expansion that gives the text of the line itself, with its comments.
    pub(crate) whole: bool,
    /// An escape is read in a text that the line puts together: `${x@E}`, `printf -v x "$format"`.
    pub(super) decodes: bool,
    /// A text holds an escape that may stand for any character, or the beginning of one.
    coded: bool,
    /// Variables that may hold any text: the output of programs, or what is read from an input.
    pub(super) printed: HashSet<String>,
    /// Variables with a text of which a subscript may make a command: `$(…)`.
    pub(super) running: HashSet<String>,
    /// Variables with a text that holds a dollar sign or a backquote.
    pub(super) dollared: HashSet<String>,
    /// Variables that arithmetic reads.
    evaluated: HashSet<String>,
    /// Variables that arithmetic compares: `[[ $x -gt 3 ]]`.
    compared: HashSet<String>,
    /// Variables that name other variables, with subscripts: `${!x}`.
    naming: HashSet<String>,
    /// Variables whose text is a part of that of others: from, into.
    pub(super) flows: HashSet<(String, String)>,
    /// Those whose text is expanded to names of files before that.
    pub(super) expanded: HashSet<(String, String)>,
    /// Variables with a text that has letters, which may be those of a name.
    pub(super) lettered: HashSet<String>,
    /// Variables with a text that is put together, changed or cut.
    pub(super) joined: HashSet<String>,
    /// Variables with a text that is a pattern of file names.
    pub(super) patterns: HashSet<String>,
    /// Those of the printed variables of which the text may be several words.
    pub(super) several: HashSet<String>,
    /// Variables that `test` reads without quotes, so that a text of several words may name another variable: `-v x`.
    tested: HashSet<String>,
    /// Variables that conditions have found to be numbers.
    pub(super) checks: Checks,
    /// Functions of which the output is recorded.
    pub(super) functions: Rc<HashSet<String>>,
    /// Programs whose output was taken for a number.
    pub(super) counters: HashSet<String>,
    /// Whether programs may be others than their names say, or more may run with each: a trap, another `PATH`.
    pub(super) replaces: bool,
    /// Variables that arithmetic assigns if it evaluates a text of the line itself.
    direct: HashSet<String>,
    /// Variables with a text that assigns another one if arithmetic evaluates it: which has it, and which is assigned.
    pub(super) assigning: HashSet<(String, String)>,
    /// Variables that a text would assign if arithmetic evaluated it: `x=1`, `x++`. With an empty name it may be any.
    assigns: HashSet<String>,
}

impl Texts {
    pub(crate) fn add(&mut self, other: &Texts) {
        self.planted |= other.planted;
        self.opens |= other.opens;
        self.brackets |= other.brackets;
        self.cuts |= other.cuts;
        self.runs |= other.runs;
        self.ends |= other.ends;
        self.whole |= other.whole;
        self.decodes |= other.decodes;
        self.coded |= other.coded;
        self.printed.extend(other.printed.iter().cloned());
        self.running.extend(other.running.iter().cloned());
        self.dollared.extend(other.dollared.iter().cloned());
        self.evaluated.extend(other.evaluated.iter().cloned());
        self.compared.extend(other.compared.iter().cloned());
        self.naming.extend(other.naming.iter().cloned());
        self.flows.extend(other.flows.iter().cloned());
        self.expanded.extend(other.expanded.iter().cloned());
        self.lettered.extend(other.lettered.iter().cloned());
        self.joined.extend(other.joined.iter().cloned());
        self.patterns.extend(other.patterns.iter().cloned());
        self.several.extend(other.several.iter().cloned());
        self.tested.extend(other.tested.iter().cloned());
        self.checks.add(&other.checks);
        self.counters.extend(other.counters.iter().cloned());
        self.replaces |= other.replaces;
        self.direct.extend(other.direct.iter().cloned());
        self.assigning.extend(other.assigning.iter().cloned());
        self.assigns.extend(other.assigns.iter().cloned());
    }

    /// The work of [`Texts::run_a_command`], in bytes of text.
    pub(crate) fn size(&self) -> usize {
        let names = [
            &self.printed,
            &self.running,
            &self.dollared,
            &self.evaluated,
            &self.compared,
            &self.naming,
            &self.lettered,
            &self.joined,
            &self.patterns,
            &self.several,
            &self.tested,
        ];
        let pairs = self.flows.len() + self.expanded.len() + self.assigning.len();
        (pairs + self.checks.held.len() + names.iter().map(|one| one.len()).sum::<usize>()) * 16
    }

    /// Whether a command runs if arithmetic evaluates the texts that it may reach. `is_own` says which programs the line itself
    /// defines.
    pub(crate) fn run_a_command(&self, is_own: impl Fn(&str) -> bool) -> bool {
        let put_together = (self.opens || self.brackets && self.cuts) && (self.runs || self.ends);
        let decoded = self.decodes && self.coded || self.whole;
        let is_replaced = |name: &String| self.replaces || is_own(name);
        if self.planted || put_together || decoded || self.counters.iter().any(is_replaced) {
            return true;
        }
        // a function may assign what a condition has checked before
        let calls = &self.checks.calls;
        if calls.contains("") || calls.iter().any(|name| is_own(name)) {
            let mut unchecked = self.clone();
            unchecked.release(|_| true);
            unchecked.checks.calls.clear();
            return unchecked.run_a_command(is_own);
        }
        let printed = self.any_texts();
        let is_read = |names: &HashSet<String>| self.is_read(names);
        // a text may be split at any character, and joined again without it
        let rejoined = self.brackets && is_read(&self.dollared);
        let is_named = || {
            let mut all = self.reached(&printed).into_iter();
            let holds = all.any(|name| name.starts_with(is_name)) || !self.running.is_empty();
            holds && self.reads_any_name()
        };
        let is_tested = || meets(&self.reached(&self.several_words()), &self.tested);
        rejoined || is_read(&self.running) || is_read(&printed) || is_tested() || is_named()
    }

    /// Returns the variables that may hold any text: also those that the shell sets, and those with names of files.
    fn any_texts(&self) -> HashSet<String> {
        let mut all = self.printed.clone();
        let from = self.flows.iter().map(|(from, _)| from);
        let read = self
            .evaluated
            .iter()
            .chain(&self.compared)
            .chain(&self.naming);
        all.extend(from.chain(read).filter(|name| holds_text(name)).cloned());
        if !self.expanded.is_empty() {
            let patterns = self.reached(&self.patterns);
            let files = self
                .expanded
                .iter()
                .filter(|(from, _)| patterns.contains(from));
            all.extend(files.map(|(_, into)| into.clone()));
        }
        all
    }

    /// Returns the variables that may hold several words, which the line does not contain.
    fn several_words(&self) -> HashSet<String> {
        let mut all = self.any_texts();
        all.retain(|name| self.several.contains(name) || !self.printed.contains(name));
        all
    }

    /// Whether arithmetic reads a text that may be the name of any variable, since the line puts it together.
    fn reads_any_name(&self) -> bool {
        let lettered = self.reached(&self.lettered);
        let open = lettered.intersection(&self.joined).cloned().collect();
        let reached = self.reached(&open);
        meets(&reached, &self.evaluated) || meets(&reached, &self.compared)
    }

    /// Records the uses of checked variables as those of any others.
    pub(super) fn release(&mut self, is_open: impl Fn(&str) -> bool) {
        for one in std::mem::take(&mut self.checks.held) {
            match is_open(one.variable()) {
                true => self.record(one),
                false => {
                    self.checks.held.insert(one);
                }
            }
        }
    }

    /// Records what is done with a variable.
    pub(super) fn record(&mut self, one: Use) {
        match self.checks.hold(one) {
            None => {}
            Some(Use::Evaluated(name)) => {
                self.evaluated.insert(name);
            }
            Some(Use::Compared(name)) => {
                self.compared.insert(name);
            }
            Some(Use::Named(name)) => {
                self.naming.insert(name);
            }
            Some(Use::Tested(name)) => {
                self.tested.insert(name);
            }
            Some(Use::Flow(from, into)) => {
                self.flows.insert((from, into));
            }
        }
    }

    /// Whether arithmetic reads a text of these variables, also as the name of a variable.
    fn is_read(&self, names: &HashSet<String>) -> bool {
        let reached = self.reached(names);
        let mut all = [&self.evaluated, &self.compared, &self.naming].into_iter();
        all.any(|read| meets(&reached, read))
    }

    /// Returns the variables of which arithmetic may read a text, also as the name of a variable.
    fn readers(&self) -> HashSet<&str> {
        let mut sources: HashMap<&str, Vec<&str>> = HashMap::new();
        for (from, to) in &self.flows {
            sources.entry(to).or_default().push(from);
        }
        let read = self
            .evaluated
            .iter()
            .chain(&self.compared)
            .chain(&self.naming)
            .map(String::as_str);
        let mut open: Vec<&str> = read.collect();
        // an empty name stands for any variable
        open.extend((!open.is_empty()).then_some(""));
        let mut readers: HashSet<&str> = open.iter().copied().collect();
        while let Some(name) = open.pop() {
            for from in sources.get(name).into_iter().flatten() {
                if readers.insert(from) {
                    open.push(from);
                }
            }
        }
        readers
    }

    /// Returns the variables that may hold the texts of these.
    fn reached(&self, from: &HashSet<String>) -> HashSet<String> {
        let mut reached = from.clone();
        let mut open: Vec<&str> = from.iter().map(String::as_str).collect();
        let mut into: HashMap<&str, Vec<&str>> = HashMap::new();
        for (from, to) in &self.flows {
            into.entry(from).or_default().push(to);
        }
        while let Some(name) = open.pop() {
            for to in into.get(name).into_iter().flatten() {
                if reached.insert((*to).to_owned()) {
                    open.push(to);
                }
            }
        }
        reached
    }

    /// Whether a text assigns the variable if arithmetic evaluates it.
    pub(crate) fn may_assign(&self, name: &str) -> bool {
        self.assigns.contains(name) || self.assigns.contains("")
    }

    /// Whether a text assigns the variable if arithmetic evaluates it, alone or with other texts of the line beside it.
    pub(crate) fn may_assign_together(&self, name: &str) -> bool {
        let is_part = |one: &String| {
            !one.is_empty() && (name.starts_with(one.as_str()) || name.ends_with(one.as_str()))
        };
        self.may_assign(name) || self.assigns.iter().any(is_part)
    }

    /// Returns a variable of which the value decides what runs, among `assigned` and those of the texts, if arithmetic may assign it. The
    /// line may put its name together of any texts.
    pub(crate) fn assigned_run_variable(&self, assigned: &HashSet<String>) -> Option<String> {
        let decides = |name: &String| runs_values_of(name) || loads_code(name) && name != "PATH";
        let own = self.assigns.iter().filter(|name| decides(name));
        let readers = self.readers();
        let of_readers = self
            .assigning
            .iter()
            .filter(|(holder, _)| readers.contains(&**holder));
        let evaluated: HashSet<&String> = of_readers.map(|(_, name)| name).collect();
        let is_evaluated = |name: &String| self.direct.contains(name) || evaluated.contains(name);
        let named = own.filter(|name| is_evaluated(name));
        let any = !self.assigns.is_empty();
        let evaluates = !self.evaluated.is_empty();
        let may_be = |name: &&String| {
            any && runs_values_of(name) || evaluates && RUN_VARIABLES.contains(&name.as_str())
        };
        let others = assigned.iter().filter(may_be);
        named.chain(others).next().cloned()
    }

    /// Records that arithmetic evaluates the value of a variable.
    pub(super) fn evaluate_variable(&mut self, name: &str) {
        self.record(Use::Evaluated(name.to_owned()));
    }

    /// Records that the value of a variable names another one.
    pub(super) fn names_variable(&mut self, name: &str) {
        self.record(Use::Named(name.to_owned()));
    }

    /// Records that arithmetic compares the value of a variable.
    pub(super) fn compare_variable(&mut self, name: &str) {
        self.record(Use::Compared(name.to_owned()));
    }

    /// Records that a variable gets a text from an input.
    pub(super) fn take(&mut self, name: &str) {
        self.printed.insert(name.to_owned());
        self.several.insert(name.to_owned());
    }

    /// Records that `test` reads the value of a variable, which may be several words of it.
    pub(super) fn test_variables(&mut self, written: &str) {
        names_in(written).for_each(|name| self.record(Use::Tested(name)));
    }

    /// Records that `test` reads what a script prints, which may be several words of it.
    pub(super) fn test_output(&mut self, script: &Script) {
        let mut sources = Sources::of(&self.functions);
        let is_number = sources.of_output(script);
        if !is_number {
            self.printed.insert(TEST.to_owned());
            self.tested.insert(TEST.to_owned());
        }
        if !is_number && !prints_one_word(script) {
            self.several.insert(TEST.to_owned());
        }
        for name in self.variables_in(sources) {
            self.record(Use::Tested(name));
        }
    }

    /// Records that texts are split at any characters.
    pub(super) fn split_oddly(&mut self) {
        self.several.extend(self.printed.iter().cloned());
    }

    /// Records what a script prints, which arithmetic compares.
    pub(super) fn compare_output(&mut self, script: &Script) {
        let mut sources = Sources::of(&self.functions);
        let is_number = sources.of_output(script);
        self.planted |= !is_number;
        if sources.prints_names {
            self.compared.insert(String::new());
        }
        for name in self.variables_in(sources) {
            self.record(Use::Compared(name));
        }
    }

    /// Records that what a script prints is the name of a variable.
    pub(super) fn name_by_output(&mut self, script: &Script) {
        let mut sources = Sources::of(&self.functions);
        let is_number = sources.of_output(script);
        self.planted |= !is_number;
        for name in self.variables_in(sources) {
            self.record(Use::Named(name));
        }
    }

    /// Records the programs that were taken for those that print numbers, and returns the variables.
    pub(super) fn variables_in(&mut self, sources: Sources) -> HashSet<String> {
        self.counters.extend(sources.counters);
        sources.names
    }

    /// Records that the values of the variables in an expansion name others.
    pub(super) fn name_variables(&mut self, written: &str) {
        names_in(written).for_each(|name| self.record(Use::Named(name)));
    }

    /// Records that the text of a variable is that of another one, too.
    pub(super) fn flow_variable(&mut self, from: &str, into: &str) {
        self.record(Use::Flow(from.to_owned(), into.to_owned()));
    }

    /// Records the variables that a text names, whose values arithmetic compares.
    pub(super) fn compare(&mut self, text: &str) {
        self.direct.extend(assigned_in(text));
        names_in(text).for_each(|name| self.record(Use::Compared(name)));
    }

    /// Records an expansion that arithmetic evaluates or compares, and that may change the text of its variable to another name.
    pub(super) fn change(&mut self, part: &Part) {
        let changes = matches!(part, Part::Opaque { written, .. } if written.starts_with("${"));
        if changes && pieces_of(std::slice::from_ref(part)).joined {
            self.flow(EXPRESSION, std::slice::from_ref(part), false);
            self.evaluate_variable(EXPRESSION);
        }
    }

    /// Records that arithmetic evaluates a text, and with it the values of its variables; `${#x[@]}` is a number and is left out.
    pub(super) fn evaluate(&mut self, text: &str) {
        self.direct.extend(assigned_in(text));
        names_in(text).for_each(|name| self.record(Use::Evaluated(name)));
    }

    /// Records the texts of a word. A quoted text may be evaluated elsewhere; a text in a subscript is evaluated here.
    /// A declaration such as `PATH=…` is no arithmetic before its value.
    pub(super) fn read(&mut self, word: &[Part], is_subscript: bool, declares: bool) {
        let text = text_of(word);
        let runs = text.contains("$(") || text.contains('`');
        self.planted |= plants(&text, true) || runs && is_subscript;
        if text.contains('\\') {
            // what `read`, `printf` and `echo -e` make of it
            let unescaped = text.replace('\\', "");
            let decoded = quoting::ansi_c(&text);
            let plain = [Some(&unescaped), decoded.as_ref()];
            self.planted |= plain.into_iter().flatten().any(|text| plants(text, true));
            self.coded |= is_coded(&text);
        }
        // `printf 'a[%s]'` fills the brackets
        let opens = is_open(&text) || has_conversion(&text);
        self.opens |= opens;
        self.brackets |= text.contains('[') && text != "[";
        self.runs |= runs;
        self.ends |= text == "$" || text.ends_with('$') && opens;
        let is_declared =
            |(name, _): &(&str, &str)| declares && name.trim_end_matches('+').chars().all(is_name);
        let declared = text.split_once('=').filter(is_declared);
        let evaluated = declared.map_or(text.as_str(), |(_, value)| value);
        self.assigns.extend(assigned_in(evaluated));
        // a default that a parameter gets: `${x:=y=1}`
        let defaults = word.iter().filter_map(|part| match part {
            Part::Opaque { written, .. } if written.starts_with("${") => Some(written),
            _ => None,
        });
        for text in defaults {
            self.direct.extend(assigned_in(text));
        }
    }

    /// Records an expression that arithmetic evaluates. The names in a command of it are no variables of the expression.
    pub(super) fn evaluate_expression(&mut self, parts: &[Part]) {
        let texts = parts.iter().map(|part| match part {
            Part::Bare(text) | Part::Quoted(text) => text.clone(),
            Part::Substitution { .. } => EXPANSION.to_string(),
            Part::Param { written, .. }
            | Part::Process { written, .. }
            | Part::Opaque { written, .. } => written.clone(),
        });
        let text: String = texts.collect();
        if is_joined(&text) {
            self.evaluate_variable("");
        }
        self.evaluate(&text);
        self.evaluate_parts(parts);
        parts.iter().for_each(|part| self.change(part));
    }

    /// Records text that arithmetic evaluates: the output of a program that may print any text could be a command.
    pub(super) fn evaluate_parts(&mut self, parts: &[Part]) {
        let mut sources = Sources::of(&self.functions);
        self.planted |= !parts.iter().all(|part| sources.of_part(part));
        self.planted |= parts.iter().any(prints_dollar);
        self.counters.extend(sources.counters);
        if sources.prints_names {
            self.evaluate_variable("");
        }
        for name in sources.names {
            self.record(Use::Evaluated(name));
        }
    }
}

/// Whether variables are among those that are read. An empty name stands for any variable.
fn meets(reached: &HashSet<String>, read: &HashSet<String>) -> bool {
    let any =
        |one: &HashSet<String>, other: &HashSet<String>| one.contains("") && !other.is_empty();
    !reached.is_disjoint(read) || any(reached, read) || any(read, reached)
}

/// Returns the text of a word with marks in place of its expansions.
pub(super) fn text_of(word: &[Part]) -> String {
    let parts = word.iter().map(|part| match part {
        Part::Bare(text) | Part::Quoted(text) => text.clone(),
        _ => EXPANSION.to_string(),
    });
    parts.collect()
}

impl Parser<'_> {
    /// Records the value of a variable.
    pub(super) fn flow_into(&mut self, name: &str, value: &[Part]) {
        // the elements of an array are words
        let is_array = |part: &Part| matches!(part, Part::Opaque { written, .. } if written.starts_with('(') && written.contains(['*', '?']));
        self.names.texts.flow(name, value, false);
        if matches!(value, [Part::Bare(text) | Part::Quoted(text)] if text == "=") {
            self.names.texts.assigns.insert(String::new());
        }
        if value.iter().any(is_array) {
            self.names.texts.printed.insert(name.to_owned());
        }
    }

    /// Records a word of which the words that it expands to become the values of a variable.
    pub(super) fn flow_words_into(&mut self, name: &str, word: &[Part]) {
        self.names.texts.flow(name, word, true);
    }

    /// Records the words of a command that become the parameters of a function or of another shell.
    pub(super) fn pass(&mut self, program: Option<&str>, words: &[Word]) {
        let passes = program.is_none_or(|name| {
            PASSES_ARGUMENTS.contains(&name)
                || SHELLS.contains(&name)
                || self.names.functions.contains(name)
        });
        // words from an input, or names of files
        let gives = matches!(program, Some("xargs" | "gxargs" | "parallel" | "find"));
        let is_shell = |word: &Word| SHELLS.contains(&beginning(word).as_str());
        if gives && words.iter().any(is_shell) {
            self.names.texts.printed.insert(ARGUMENTS.to_owned());
        }
        for word in words.iter().filter(|_| passes) {
            self.names.texts.flow(ARGUMENTS, word, true);
            if let Some((variable, _)) = beginning(word).split_once('=') {
                self.names.texts.flow(variable, word, false);
            }
        }
    }
}

pub(super) fn is_name(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

/// Returns the name under which the group of a match is recorded with which a text begins: `BASH_REMATCH[1]`.
fn group_of(text: &str) -> String {
    let is_group = |text: &&str| {
        let index = text
            .strip_prefix("BASH_REMATCH[")
            .and_then(|rest| rest.strip_suffix(']'));
        index.is_some_and(|index| ("1"..="9").contains(&index))
    };
    let group = text.get(..15).filter(is_group);
    group.unwrap_or("BASH_REMATCH").to_owned()
}

/// Returns the variables that a text names if arithmetic evaluates it, and [`ARGUMENTS`] for `$1` and `$@`.
pub(super) fn names_in(text: &str) -> impl Iterator<Item = String> {
    let ends = |at: usize| text.get(at..).and_then(|rest| rest.find(|c| !is_name(c)));
    let begins = text.char_indices().filter(move |&(at, c)| {
        is_name(c)
            && !text
                .get(..at)
                .is_some_and(|before| before.ends_with(is_name))
    });
    begins
        .filter_map(move |(at, _)| {
            let name = text.get(at..ends(at).map_or(text.len(), |length| at + length))?;
            let before = text.get(..at)?;
            let is_expansion = before.ends_with('$') || before.ends_with("${");
            match name.starts_with(|c: char| c.is_ascii_digit()) {
                true => is_expansion.then(|| ARGUMENTS.to_owned()),
                false if before.ends_with('#') => None,
                false if name == "BASH_REMATCH" => Some(group_of(text.get(at..)?)),
                false => Some(name.to_owned()),
            }
        })
        .chain(
            ["$@", "$*", "${@", "${*"]
                .iter()
                .any(|all| text.contains(all))
                .then(|| ARGUMENTS.to_owned()),
        )
}

/// Returns the variables that a text assigns if arithmetic evaluates it; an empty name stands for any, also if a part of the name is an
/// expansion.
pub(super) fn assigned_in(text: &str) -> impl Iterator<Item = String> {
    let operators = ['+', '-', '*', '/', '%', '&', '|', '^', '<', '>'];
    let names = move |before: &str| {
        let before = before.trim_end_matches(operators).trim_end();
        let start = before.rfind(|c| !is_name(c) && c != ']').map_or(0, |at| {
            at + before[at..].chars().next().map_or(1, char::len_utf8)
        });
        let ahead = before.get(..start).unwrap_or_default();
        let is_open = before.ends_with(EXPANSION) || ahead.ends_with([EXPANSION, '%']);
        match is_open {
            true => Some(String::new()),
            false => before
                .get(start..)
                .map(|name| variable_of(name).to_owned())
                .filter(|name| !name.is_empty()),
        }
    };
    // no operand begins as the value of `x=/y`
    let is_operand = |rest: &str| {
        !rest
            .trim_start()
            .starts_with(['/', '.', ',', ':', '@', '%', '*'])
    };
    let before_sign = text
        .match_indices('=')
        .filter(move |(at, _)| text.get(at + 1..).is_some_and(is_operand))
        .filter_map(move |(at, _)| match at {
            // the name stands in another text: `x=IFS; x+==1`
            0 if text.len() > 2 => Some(String::new()),
            _ => names(text.get(..at)?),
        });
    let steps = ["++", "--"];
    let beside_steps = steps.into_iter().flat_map(move |step| {
        text.match_indices(step).flat_map(move |(at, _)| {
            let after = text.get(at + step.len()..).unwrap_or_default().trim_start();
            let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
            let following = after
                .get(..end)
                .map(str::to_owned)
                .filter(|name| !name.is_empty());
            [names(text.get(..at).unwrap_or_default()), following]
                .into_iter()
                .flatten()
        })
    });
    before_sign.chain(beside_steps)
}
