//! Texts that arithmetic may evaluate: Bash runs the command in `x='a[$(rm -rf d)]'; ((x))`.
//!
//! A line runs a command unseen if one of its texts has this form, if it holds the parts of which such a text can be put together,
//! or if the output of a program that prints any text flows into a variable that arithmetic reads.

use std::collections::{HashMap, HashSet};

use super::brackets::{has_conversion, is_coded, is_joined, is_open, plants};
use super::cursor::Parser;
use super::numbers::prints_numbers;
use super::simple::beginning;
use super::{Kind, Node, Part, Script, Target, Word, literal};
use crate::quoting;
use crate::table::{PASSES_ARGUMENTS, PRINTS_NOTHING, SHELLS};
use crate::variables::{RUN_VARIABLES, loads_code, runs_values_of, variable_of};

/// The name under which the parameters of functions and shells are recorded: `$1`, `$@`.
const ARGUMENTS: &str = "$";

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
    printed: HashSet<String>,
    /// Variables with a text of which a subscript may make a command: `$(…)`.
    running: HashSet<String>,
    /// Variables with a text that holds a dollar sign or a backquote.
    dollared: HashSet<String>,
    /// Variables that arithmetic reads.
    evaluated: HashSet<String>,
    /// Variables that name other variables, with subscripts: `${!x}`.
    naming: HashSet<String>,
    /// Variables whose text is a part of that of others: from, into.
    flows: HashSet<(String, String)>,
    /// Programs whose output was taken for a number.
    counters: HashSet<String>,
    /// Variables that arithmetic assigns if it evaluates a text of the line itself.
    direct: HashSet<String>,
    /// Variables with a text that assigns another one if arithmetic evaluates it: which has it, and which is assigned.
    assigning: HashSet<(String, String)>,
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
        self.naming.extend(other.naming.iter().cloned());
        self.flows.extend(other.flows.iter().cloned());
        self.counters.extend(other.counters.iter().cloned());
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
            &self.naming,
        ];
        (self.flows.len() + self.assigning.len() + names.iter().map(|one| one.len()).sum::<usize>())
            * 16
    }

    /// Whether a command runs if arithmetic evaluates the texts that it may reach. `is_own` says which programs the line itself
    /// defines.
    pub(crate) fn run_a_command(&self, is_own: impl Fn(&str) -> bool) -> bool {
        let put_together = (self.opens || self.brackets && self.cuts) && (self.runs || self.ends);
        let decoded = self.decodes && self.coded || self.whole;
        if self.planted || put_together || decoded || self.counters.iter().any(|name| is_own(name))
        {
            return true;
        }
        let is_read = |names: &HashSet<String>| self.is_read(names);
        // a text may be split at any character, and joined again without it
        let rejoined = self.brackets && is_read(&self.dollared);
        rejoined || is_read(&self.running) || is_read(&self.printed)
    }

    /// Whether arithmetic reads a text of these variables, also as the name of a variable.
    fn is_read(&self, names: &HashSet<String>) -> bool {
        let reached = self.reached(names);
        meets(&reached, &self.evaluated) || meets(&reached, &self.naming)
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
        self.evaluated.insert(name.to_owned());
    }

    /// Records that the value of a variable names another one.
    pub(super) fn names_variable(&mut self, name: &str) {
        self.naming.insert(name.to_owned());
    }

    /// Records that a variable gets a text from an input.
    pub(super) fn take(&mut self, name: &str) {
        self.printed.insert(name.to_owned());
    }

    /// Records what a script prints, which arithmetic compares.
    pub(super) fn compare_output(&mut self, script: &Script) {
        let mut sources = Sources::default();
        self.planted |= !sources.of_output(script);
        self.counters.extend(sources.counters);
    }

    /// Records the variables that a text names, whose values arithmetic compares.
    pub(super) fn compare(&mut self, text: &str) {
        self.direct.extend(assigned_in(text));
        self.naming.extend(names_in(text));
    }

    /// Records that arithmetic evaluates a text, and with it the values of its variables; `${#x[@]}` is a number and is left out.
    pub(super) fn evaluate(&mut self, text: &str) {
        self.direct.extend(assigned_in(text));
        self.evaluated.extend(names_in(text));
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

    /// Records the parts of a text that becomes a part of a variable, or of the [`ARGUMENTS`].
    fn flow(&mut self, into: &str, word: &[Part], expands: bool) {
        let mut sources = Sources::default();
        let is_file = expands && word.iter().any(is_pattern);
        if !word.iter().all(|part| sources.of_part(part)) || is_file {
            self.printed.insert(into.to_owned());
        }
        let holds_dollar = |part: &Part| match part {
            Part::Bare(text) | Part::Quoted(text) => text.contains(['$', '`']),
            part => prints_dollar(part),
        };
        if word.iter().any(holds_dollar) {
            self.dollared.insert(into.to_owned());
        }
        let may_run = |part: &Part| match part {
            Part::Bare(text) | Part::Quoted(text) => {
                let unescaped = text.replace('\\', "");
                text.contains('`') || unescaped.contains("$(") || text.ends_with('$')
            }
            Part::Substitution { .. } => prints_dollar(part),
            // the elements of an array
            Part::Opaque { written, .. } => written.starts_with('(') && written.contains('$'),
            _ => false,
        };
        if word.iter().any(may_run) {
            self.running.insert(into.to_owned());
        }
        for part in word {
            let assigned: Vec<String> = match part {
                Part::Opaque { written, .. } => assigned_in(written).collect(),
                _ => Vec::new(),
            };
            self.assigning
                .extend(assigned.into_iter().map(|name| (into.to_owned(), name)));
        }
        let assigned = assigned_in(&text_of(word))
            .map(|name| (into.to_owned(), name))
            .collect::<Vec<_>>();
        self.assigning.extend(assigned);
        self.counters.extend(sources.counters);
        let flows = sources.names.into_iter();
        self.flows.extend(flows.map(|from| (from, into.to_owned())));
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
    }

    /// Records text that arithmetic evaluates: the output of a program that may print any text could be a command.
    pub(super) fn evaluate_parts(&mut self, parts: &[Part]) {
        let mut sources = Sources::default();
        self.planted |= !parts.iter().all(|part| sources.of_part(part));
        self.planted |= parts.iter().any(prints_dollar);
        self.counters.extend(sources.counters);
        self.evaluated.extend(sources.names);
    }
}

/// Whether variables are among those that are read. An empty name stands for any variable.
fn meets(reached: &HashSet<String>, read: &HashSet<String>) -> bool {
    let any =
        |one: &HashSet<String>, other: &HashSet<String>| one.contains("") && !other.is_empty();
    !reached.is_disjoint(read) || any(reached, read) || any(read, reached)
}

/// Returns the text of a word with marks in place of its expansions.
fn text_of(word: &[Part]) -> String {
    let parts = word.iter().map(|part| match part {
        Part::Bare(text) | Part::Quoted(text) => text.clone(),
        _ => EXPANSION.to_string(),
    });
    parts.collect()
}

/// Whether a program that prints numbers may print a dollar sign or a backquote with them, which stands in its words.
fn prints_dollar(part: &Part) -> bool {
    let Part::Substitution { script, .. } = part else {
        return false;
    };
    if !Sources::default().of_output(script) {
        return false;
    }
    let is_dollar = |part: &Part| match part {
        Part::Bare(text) | Part::Quoted(text) => text.contains(['$', '`']),
        part => prints_dollar(part),
    };
    let holds = |word: &Word| word.iter().any(is_dollar);
    let prints = |node: &Node| {
        let targets = node
            .redirects
            .iter()
            .filter_map(|redirect| match &redirect.target {
                Target::Word(word) => Some(word),
                Target::Heredoc(_) => None,
            });
        let pattern = pattern_of(node);
        let words = words_of(node)
            .iter()
            .enumerate()
            .filter(|(nth, _)| Some(*nth) != pattern);
        words.map(|(_, word)| word).chain(targets).any(holds)
    };
    let mut pipelines = script.statements.iter().flat_map(|one| &one.pipelines);
    pipelines.any(|pipeline| match pipeline.split_last() {
        // it prints texts of what it reads
        Some((last, feeding)) if name_of(last) == "bc" => {
            prints(last) || feeding.iter().any(prints)
        }
        Some((last, _)) => prints(last),
        None => false,
    })
}

/// Returns the word of a program that is a pattern, which it does not print.
fn pattern_of(node: &Node) -> Option<usize> {
    let words = words_of(node);
    match &*name_of(node) {
        "grep" | "egrep" | "fgrep" | "zgrep" => {
            let is_pattern = |word: &Word| !beginning(word).starts_with('-');
            Some(1 + words.get(1..)?.iter().position(is_pattern)?)
        }
        "expr" => Some(1 + words.iter().position(|word| beginning(word) == ":")?),
        _ => None,
    }
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

/// The parts of a text: variables, and programs that print numbers.
#[derive(Default)]
struct Sources {
    names: HashSet<String>,
    counters: HashSet<String>,
}

impl Sources {
    /// Whether a part is a number, or a text of the line and of the variables that are recorded.
    fn of_part(&mut self, part: &Part) -> bool {
        match part {
            Part::Bare(text) | Part::Quoted(text) => {
                self.names.extend(names_in(text));
                true
            }
            Part::Param { name, .. } => {
                let is_argument =
                    name.starts_with(|c: char| c.is_ascii_digit() || "@*".contains(c));
                let name = if is_argument { ARGUMENTS } else { name };
                self.names.insert(name.to_owned());
                true
            }
            Part::Substitution { script, .. } => self.of_output(script),
            Part::Process { .. } => true,
            Part::Opaque {
                scripts, written, ..
            } => {
                let is_arithmetic = written.starts_with("$((") || written.starts_with("$[");
                if !is_arithmetic {
                    self.names.extend(names_in(written));
                }
                // a subscript, without text, is evaluated where it stands
                is_arithmetic || written.is_empty() || scripts.is_empty()
            }
        }
    }

    /// Whether a word is a text of the line, and not the names of files.
    fn of_word(&mut self, word: &Word) -> bool {
        !word.iter().any(is_pattern) && word.iter().all(|part| self.of_part(part))
    }

    fn of_words(&mut self, node: &Node) -> bool {
        words_of(node).iter().all(|word| self.of_word(word))
    }

    /// Whether a script prints numbers only.
    fn of_output(&mut self, script: &Script) -> bool {
        let pipelines = script.statements.iter().flat_map(|one| &one.pipelines);
        let pipelines: Vec<&Vec<Node>> = pipelines.collect();
        let Some((last, before)) = pipelines.split_last() else {
            return true;
        };
        let mut is_quiet = |pipeline: &Vec<Node>| match pipeline.as_slice() {
            [node] => {
                let is_plain = words_of(node).iter().flatten().all(|part| match part {
                    Part::Bare(text) | Part::Quoted(text) => !text.contains('\\'),
                    _ => true,
                });
                is_plain && PRINTS_NOTHING.contains(&&*name_of(node)) && self.of_words(node)
            }
            _ => false,
        };
        match before {
            // `grep -c x f || true`
            [counted] if is_quiet(last) => self.of_numbers(counted),
            _ => before.iter().all(|pipeline| is_quiet(pipeline)) && self.of_numbers(last),
        }
    }

    fn of_numbers(&mut self, pipeline: &[Node]) -> bool {
        let last = pipeline.split_last();
        last.is_none_or(|(node, feeding)| self.of_number(node, feeding))
    }

    /// Whether a command prints numbers only, whatever the commands before it in its pipeline print.
    fn of_number(&mut self, node: &Node, feeding: &[Node]) -> bool {
        let name = name_of(node);
        let words: Vec<String> = words_of(node).iter().skip(1).map(beginning).collect();
        let counts = match name.as_str() {
            // they print texts of what they read
            "bc" => {
                let echoes = |node: &Node| {
                    matches!(&*name_of(node), "echo" | "printf") && self.of_words(node)
                };
                feeding.iter().all(echoes)
                    && words.iter().all(|word| word.starts_with('-'))
                    && node
                        .redirects
                        .iter()
                        .all(|redirect| match &redirect.target {
                            Target::Word(word) => redirect.operator != "<" && self.of_word(word),
                            Target::Heredoc(_) => false,
                        })
            }
            name => prints_numbers(name, &words),
        };
        // messages hold texts of what is read: `date -f f 2>&1`
        let has_messages = node
            .redirects
            .iter()
            .any(|redirect| redirect.operator.contains('&'));
        self.counters.insert(name);
        counts && !has_messages && self.of_words(node)
    }
}

/// Whether a part of a word makes it the names of files.
fn is_pattern(part: &Part) -> bool {
    matches!(part, Part::Bare(text) if text.contains(['*', '?', '[']))
}

fn words_of(node: &Node) -> &[Word] {
    match &node.kind {
        Kind::Simple { words, .. } => words,
        _ => &[],
    }
}

/// Returns the name of the program of a simple command, without its folder; it is empty for others.
fn name_of(node: &Node) -> String {
    let name = words_of(node).first().and_then(literal).unwrap_or_default();
    name.rsplit('/').next().unwrap_or_default().to_owned()
}

pub(super) fn is_name(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

/// Returns the variables that a text names if arithmetic evaluates it, and [`ARGUMENTS`] for `$1` and `$@`.
fn names_in(text: &str) -> impl Iterator<Item = String> {
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
fn assigned_in(text: &str) -> impl Iterator<Item = String> {
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
