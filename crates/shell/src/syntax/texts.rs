//! Texts that arithmetic may evaluate: Bash runs the command in `x='a[$(rm -rf d)]'; ((x))`.
//!
//! A line runs a command unseen if one of its texts has this form, if it holds the parts of which such a text can be put together,
//! or if the output of a program that prints any text flows into a variable that arithmetic reads.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::brackets::{has_conversion, is_coded, is_joined, is_open, plants};
use super::checked::{Checks, Use};
use super::cursor::Parser;
use super::mentioned::{assigned_in, is_name, keys_of, names_in};
use super::one_word::prints_one_word;
use super::pieces::pieces_of;
use super::simple::beginning;
use super::sources::{Sources, prints_dollar};
use super::{Part, Script, Word};
use crate::follow::{base, unversioned};
use crate::quoting;
use crate::table::{GIVES_WORDS, PASSES_ARGUMENTS, SHELLS, listed};
use crate::variables::{NAMES_OF_SHELL, RUN_VARIABLES, holds_text, loads_code, runs_values_of};

/// The name under which the parameters of functions and shells are recorded: `$1`, `$@`.
pub(super) const ARGUMENTS: &str = "$";

/// The name under which expressions are recorded that put texts together, or hold the output of programs: `$((${x,}))`, `(($x$y))`.
const EXPRESSION: &str = "((";

/// The name under which words are recorded that name variables.
const NAME: &str = "n[";

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
    /// Variables with a text that a program may read as an option.
    pub(super) options: HashSet<String>,
    /// Variables whose text is a word of a program, of which an option would change what it prints: which, and where the output goes.
    asked: HashSet<(String, String)>,
    /// Texts are split at other characters than blanks, so that a part of one may be an option.
    splits: bool,
    /// Those of the printed variables of which the text may be several words.
    pub(super) several: HashSet<String>,
    /// Variables that `test` reads without quotes, so that a text of several words may name another variable: `-v x`.
    tested: HashSet<String>,
    /// Variables that conditions have found to be numbers.
    pub(super) checks: Checks,
    /// Outputs of functions with a command whose own output goes elsewhere.
    pub(super) silenced: HashSet<String>,
    /// A text names a descriptor, or the folder of a process: `/proc/$$/fd/1`.
    descriptors: bool,
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
        self.options.extend(other.options.iter().cloned());
        self.asked.extend(other.asked.iter().cloned());
        self.splits |= other.splits;
        self.several.extend(other.several.iter().cloned());
        self.tested.extend(other.tested.iter().cloned());
        self.checks.add(&other.checks);
        self.counters.extend(other.counters.iter().cloned());
        self.replaces |= other.replaces;
        self.silenced.extend(other.silenced.iter().cloned());
        self.descriptors |= other.descriptors;
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
            &self.options,
            &self.several,
            &self.tested,
        ];
        let pairs =
            self.flows.len() + self.expanded.len() + self.asked.len() + self.assigning.len();
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
        // it may write to the output of the function by its descriptor
        all.extend(self.silenced.iter().filter(|_| self.descriptors).cloned());
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
        if !self.asked.is_empty() {
            let options = self.reached(&self.options);
            let may_be_option = |from: &String| self.splits || options.contains(from);
            let asked = self.asked.iter().filter(|(from, _)| may_be_option(from));
            all.extend(asked.map(|(_, into)| into.clone()));
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
        let mut open: HashSet<String> = lettered.intersection(&self.joined).cloned().collect();
        open.extend(NAMES_OF_SHELL.iter().map(|name| (*name).to_owned()));
        let reached = self.reached(&open);
        meets(&reached, &self.evaluated)
            || meets(&reached, &self.compared)
            || self.brackets && meets(&reached, &self.naming)
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
        for name in self.variables_in(sources, TEST) {
            self.record(Use::Tested(name));
        }
    }

    /// Records that texts are split at any characters.
    pub(super) fn split_oddly(&mut self) {
        self.splits = true;
        self.several.extend(self.printed.iter().cloned());
    }

    /// Records that the keys of arrays are texts that they hold.
    pub(super) fn key(&mut self, arrays: &HashSet<String>) {
        let pairs = arrays.iter().map(|array| (array.clone(), keys_of(array)));
        self.flows.extend(pairs);
    }

    /// Records what a script prints, which arithmetic compares.
    pub(super) fn compare_output(&mut self, script: &Script) {
        let mut sources = Sources::of(&self.functions);
        let is_number = sources.of_output(script);
        self.planted |= !is_number;
        if sources.prints_names {
            self.compared.insert(String::new());
        }
        for name in self.variables_in(sources, EXPRESSION) {
            self.record(Use::Compared(name));
        }
    }

    /// Records that what a script prints is the name of a variable.
    pub(super) fn name_by_output(&mut self, script: &Script) {
        let mut sources = Sources::of(&self.functions);
        let is_number = sources.of_output(script);
        self.planted |= !is_number;
        for name in self.variables_in(sources, EXPRESSION) {
            self.record(Use::Named(name));
        }
    }

    /// Records the programs that were taken for those that print numbers, whose output goes into a text, and returns the variables.
    pub(super) fn variables_in(&mut self, sources: Sources, into: &str) -> HashSet<String> {
        self.counters.extend(sources.counters);
        // nothing else evaluates the text
        if into == EXPRESSION && (sources.joins || !sources.asked.is_empty()) {
            self.evaluated.insert(EXPRESSION.to_owned());
        }
        if sources.joins {
            self.joined.insert(into.to_owned());
            let parts = sources.names.iter().chain(&sources.written);
            self.flows
                .extend(parts.map(|name| (name.clone(), into.to_owned())));
        }
        let pair = |name: String| (name, into.to_owned());
        self.asked.extend(sources.asked.into_iter().map(pair));
        self.expanded.extend(sources.expanded.into_iter().map(pair));
        let mut names = sources.names;
        names.extend(sources.written);
        names
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

    /// Records parts that arithmetic evaluates or compares, and that may put together the name of any variable.
    pub(super) fn put_together(&mut self, parts: &[Part]) {
        if pieces_of(parts).joined {
            self.flow(EXPRESSION, parts, false);
            self.evaluate_variable(EXPRESSION);
        }
    }

    /// Records a word of which the words that it expands to are evaluated.
    pub(super) fn evaluate_words(&mut self, word: &[Part]) {
        self.flow(EXPRESSION, word, true);
        self.evaluate_variable(EXPRESSION);
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
        self.descriptors |= text.contains("/fd") || text.contains("/proc");
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

    /// Records a word of which the words that it expands to are names of variables.
    pub(super) fn name_words(&mut self, word: &[Part]) {
        // `x[0]` is `x0`, which has no subscript
        let may_be_element = |part: &Part| matches!(part, Part::Bare(text) if text.contains(['*', '?', '(']) || text.contains("[["));
        if word.iter().any(may_be_element) {
            self.printed.insert(NAME.to_owned());
        }
        self.flow_files(NAME, word);
        let is_file = |(_, into): &(String, String)| into == NAME;
        if self.printed.contains(NAME) || self.expanded.iter().any(is_file) {
            self.names_variable(NAME);
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
        self.put_together(parts);
    }

    /// Records text that arithmetic evaluates: the output of a program that may print any text could be a command.
    pub(super) fn evaluate_parts(&mut self, parts: &[Part]) {
        let mut sources = Sources::of(&self.functions);
        self.planted |= !sources.of_text(parts);
        self.planted |= parts.iter().any(prints_dollar);
        if sources.prints_names {
            self.evaluate_variable("");
        }
        for name in self.variables_in(sources, EXPRESSION) {
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

    /// Records the words of a command that become the parameters of a function or of another shell, by whatever program that comes to run.
    pub(super) fn pass(&mut self, program: Option<&str>, words: &[Word]) {
        let name = program.map(base);
        let is_shell = |word: &str| SHELLS.contains(&unversioned(base(word)));
        // also in a text: `parallel 'bash -c …'`
        let runs_shell = |word: &Word| beginning(word).split_whitespace().any(is_shell);
        let has_shell = words.iter().any(runs_shell);
        let is_known = |name: &str| PASSES_ARGUMENTS.contains(&name) || is_shell(name);
        let is_function = program.is_some_and(|name| self.names.functions.contains(name));
        if !(has_shell || is_function || name.is_none_or(is_known)) {
            return;
        }
        let begins = words.iter().map(beginning).collect::<Vec<_>>();
        let mut programs = begins.iter().map(|word| base(word)).chain(name);
        // words from an input, or names of files
        let gives = has_shell && programs.any(|name| listed(GIVES_WORDS, name));
        if gives {
            self.names.texts.take(ARGUMENTS);
        }
        for (word, begin) in words.iter().zip(&begins) {
            self.names.texts.flow(ARGUMENTS, word, true);
            if let Some((variable, _)) = begin.split_once('=') {
                self.names.texts.flow(variable, word, false);
                // `xargs -I{} env x={} bash`
                if gives {
                    self.names.texts.take(variable);
                }
            }
        }
    }
}
